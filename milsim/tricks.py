"""Which cards may be played, who wins a trick, what a lead declares: the innermost kernels.

Kernels take and give int64. A *card* is a mask with one bit, *cards* a mask (bit 6·suit + rank,
RULES.md §1), ``trumps`` the mask of the trump suit (0: no trump), ``flags`` the play fields of a
rule set in one word, from :func:`play_flags`, and ``values`` its points in another, both made once
outside the loop. Nothing is validated in kernels; :func:`legal_mask` and :func:`trick_winner` are
the checked twins at the border. Choices are written so that they compile to conditional moves: a
mispredicted branch costs more than a whole legal mask.

Sources: RULES.md §1, §2 (play) and §4; the meanings chosen in `milsim.rules.model`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import (
    ACE,
    ALL_CARDS,
    JACK,
    KING,
    N_CARDS,
    NO_TRUMP,
    QUEEN,
    RANK_MASKS,
    TEN,
    checked_int,
    checked_mask,
    format_card,
    format_hand,
)
from milsim.errors import DealError, quote
from milsim.rules import Rules, load, packed, place_of, word_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Places and words of the packed rules; numba freezes these numbers.
_MUST_BEAT = place_of("play.must_beat")
_MUST_TRUMP = place_of("play.must_trump")
_MUST_OVERTRUMP = place_of("play.must_overtrump")
_CANNOT_OVERTRUMP = place_of("play.cannot_overtrump")
_FROM_TRICK = place_of("play.marriage_from_trick")
_UNTIL_TRICK = place_of("play.marriage_until_trick")
_MARRIAGE_CARD = place_of("play.marriage_card")
_DECLARATION = place_of("play.marriage_declaration")
_TRUMP_EFFECT = place_of("play.trump_effect")
_ACE_MARRIAGE = place_of("play.ace_marriage")
_LAST_TRICK_BONUS = place_of("play.last_trick_bonus")
_MARRIAGE_VALUES = place_of("deal.marriage_values.spades")
_BEAT_NO = word_of("play.must_beat", "no")
_BEAT_IF_CAN_WIN = word_of("play.must_beat", "if_can_win")
_BEAT_ALWAYS = word_of("play.must_beat", "always")
_ANYTHING = word_of("play.cannot_overtrump", "anything")
_QUEEN_ONLY = word_of("play.marriage_card", "queen")
_OPTIONAL = word_of("play.marriage_declaration", "optional")
_NEXT_TRICK = word_of("play.trump_effect", "next_trick")

# Bits of the word of flags.
SECOND_BEATS = 1 << 0  # the second hand must play higher in the suit led
THIRD_BEATS = 1 << 1  # so must the third hand, in a trick that is not trumped
THIRD_BEATS_TRUMPED = 1 << 2  # and even in a trumped one
MUST_TRUMP = 1 << 3  # void: a trump
MUST_OVERTRUMP = 1 << 4  # void in a trumped trick: a higher trump
ELSE_ANYTHING = 1 << 5  # if none is higher: any card, not any trump
OPTIONAL_DECLARATION = 1 << 6  # the leader says whether he declares
NEXT_TRICK_TRUMP = 1 << 7  # a new trump waits for the next trick
QUEEN_DECLARES = 1 << 8  # only the queen does
ACES_DECLARE = 1 << 9  # four aces count like a marriage
_MUST_TRUMP_PLACE, _QUEEN_PLACE, _ACES_PLACE = 3, 8, 9
_FROM_SHIFT, _UNTIL_SHIFT, _TRICK_BITS = 10, 14, 15
# From here on, a bit for each queen whose marriage cannot be declared: of no rules, but what a
# counterfactual asks for (`without_marriages`).
_UNDECLARABLE = 24

# What a lead can declare.
NOTHING, MARRIAGE, FOUR_ACES = 0, 1, 2

_QUEENS = RANK_MASKS[QUEEN]
_ACES = RANK_MASKS[ACE]
_TOPS = RANK_MASKS[ACE]  # the highest bit of each suit
_BELOW_TOPS = ALL_CARDS & ~_TOPS
# Card points 0 2 3 4 10 11 by binary place: the ranks that have the 1, the 2, the 4, the 8.
_ONES = RANK_MASKS[QUEEN] | RANK_MASKS[ACE]
_TWOS = RANK_MASKS[JACK] | RANK_MASKS[QUEEN] | RANK_MASKS[TEN] | RANK_MASKS[ACE]
_FOURS = RANK_MASKS[KING]
_EIGHTS = RANK_MASKS[TEN] | RANK_MASKS[ACE]


@kernel
def play_flags(rules: NDArray[np.int64]) -> int:
    """The play fields of packed rules, int64[fields], in one word for the kernels below.

    Without ``must_trump`` nobody is bound to overtrump, so ``must_overtrump`` is dropped then; and
    so is ``cannot_overtrump`` without ``must_overtrump`` (RULES.md §2, play).

    >>> play_flags(packed(load("mil"))) & (SECOND_BEATS | THIRD_BEATS | THIRD_BEATS_TRUMPED)
    3
    """
    flags = 0
    beat = int(rules[_MUST_BEAT])
    if beat != _BEAT_NO:
        flags |= SECOND_BEATS
    if beat in (_BEAT_IF_CAN_WIN, _BEAT_ALWAYS):
        flags |= THIRD_BEATS
    if beat == _BEAT_ALWAYS:
        flags |= THIRD_BEATS_TRUMPED
    if rules[_MUST_TRUMP] != 0:
        flags |= MUST_TRUMP
        if rules[_MUST_OVERTRUMP] != 0:
            flags |= MUST_OVERTRUMP
            if rules[_CANNOT_OVERTRUMP] == _ANYTHING:
                flags |= ELSE_ANYTHING
    if rules[_DECLARATION] == _OPTIONAL:
        flags |= OPTIONAL_DECLARATION
    if rules[_TRUMP_EFFECT] == _NEXT_TRICK:
        flags |= NEXT_TRICK_TRUMP
    if rules[_MARRIAGE_CARD] == _QUEEN_ONLY:
        flags |= QUEEN_DECLARES
    if rules[_ACE_MARRIAGE] > 0:
        flags |= ACES_DECLARE
    flags |= int(rules[_FROM_TRICK]) << _FROM_SHIFT
    flags |= int(rules[_UNTIL_TRICK]) << _UNTIL_SHIFT
    return flags


@kernel(inline=True)
def undeclarable_queens(flags: int) -> int:
    """The queens of the suits whose marriages nobody can declare: none in the game as it is.

    >>> undeclarable_queens(play_flags(packed(load("mil"))))
    0
    """
    return flags >> _UNDECLARABLE


def without_marriages(flags: int, suits: int) -> int:
    """Flags of the same game, but king and queen of a mask of suits are cards like any other.

    Nobody can declare them, and nobody thinks he could: for the question what a marriage is worth
    beside its points. No rule set says so, as no published rules do.

    >>> flags = without_marriages(play_flags(packed(load("mil"))), 0b0001)
    >>> marriage_leads(0b001100_001100, 2, flags) == 0b001100_000000
    True
    """
    queens = sum(1 << 6 * suit + QUEEN for suit in range(4) if suits >> suit & 1)
    return int(flags) | queens << _UNDECLARABLE


@kernel
def play_values(rules: NDArray[np.int64]) -> int:
    """The points of declarations and of the last trick, from packed rules, in one word.

    Ten bits for each marriage in suit order, ten for four aces, seven for the last trick. A word,
    because an array among the arguments of a kernel costs 5 ns a call (counted references).

    >>> play_values(packed(load("mil"))) & 1023
    40
    """
    values = int(rules[_ACE_MARRIAGE]) << 40 | int(rules[_LAST_TRICK_BONUS]) << 50
    for suit in range(4):
        values |= int(rules[_MARRIAGE_VALUES + suit]) << 10 * suit
    return values


@kernel(inline=True)
def trump_mask(trump: int) -> int:
    """The cards of trump suit 0–3; 0 for 4, no trump.

    >>> trump_mask(NO_TRUMP), trump_mask(1) == 63 << 6
    (0, True)
    """
    return (63 << 6 * trump) & ALL_CARDS


@kernel(inline=True)
def suit_mask(card: int) -> int:
    """The six cards of the suit of one card (a mask of one bit).

    >>> suit_mask(1 << 21) == 63 << 18
    True
    """
    # One bit of 1 … 32 plus 31 carries to the top bit of its own six, and no further.
    top = (card + _BELOW_TOPS) & _TOPS
    return (top << 1) - (top >> 5)


@kernel(inline=True)
def suit_index(cards: int) -> int:
    """The suit, 0–3, of the lowest of some cards; 10 for none.

    >>> suit_index(1 << 21)
    3
    """
    return lowest_bit_index(cards) * 43 >> 8  # a sixth, exactly, up to 127


@kernel(inline=True)
def points_in(cards: int) -> int:
    """Card points, 0–120, of some cards (RULES.md §1); bits above the 24 cards do not count.

    >>> points_in(63), points_in(ALL_CARDS)
    (30, 120)
    """
    return (
        popcount(cards & _ONES)
        + 2 * popcount(cards & _TWOS)
        + 4 * popcount(cards & _FOURS)
        + 8 * popcount(cards & _EIGHTS)
    )


@kernel(inline=True)
def legal_second(hand: int, lead: int, trumps: int, flags: int) -> int:
    """The legal cards of the second hand, after one card (RULES.md §2, play).

    >>> legal_second(0b101001, 0b000100, 0, SECOND_BEATS) == 0b101000
    True
    """
    follow = hand & suit_mask(lead)
    higher = follow & -(lead + lead) & -(flags & SECOND_BEATS)
    in_suit = higher if higher != 0 else follow
    ruffs = hand & trumps & -(flags >> _MUST_TRUMP_PLACE & 1)
    void = ruffs if ruffs != 0 else hand
    return in_suit if follow != 0 else void


@kernel(inline=True)
def legal_third(hand: int, lead: int, second: int, trumps: int, flags: int) -> int:
    """The legal cards of the third hand, after two cards (RULES.md §2, play; §4, 3 and 4).

    >>> legal_third(0b101001, 0b000100, 0b010000, 0, THIRD_BEATS) == 0b100000
    True
    """
    suit = suit_mask(lead)
    follow = hand & suit
    ruff = second & trumps & ~suit  # a trump on a plain suit
    plain = (ruff - 1) >> 63  # all ones if there is none
    best = max(lead, second & suit)  # of the suit led
    beats = (-(flags >> 1 & 1) & plain) | (-(flags >> 2 & 1) & ~plain)
    higher = follow & -(best + best) & beats
    in_suit = higher if higher != 0 else follow
    ruffs = hand & trumps & -(flags >> _MUST_TRUMP_PLACE & 1)
    over = ruffs & -(ruff + ruff) & -(flags >> 4 & 1)
    under = ruffs & (plain | (flags >> 5 & 1) - 1)
    must = over if over != 0 else under
    void = must if must != 0 else hand
    return in_suit if follow != 0 else void


@kernel
def legal_follow(hand: int, lead: int, second: int, trumps: int, flags: int) -> int:
    """The legal cards of whoever is to play: ``lead`` is 0 for the leader, else ``second`` may be.

    >>> legal_follow(0b11, 0, 0, 0, 0)
    3
    """
    if lead == 0:
        return hand
    if second == 0:
        return legal_second(hand, lead, trumps, flags)
    return legal_third(hand, lead, second, trumps, flags)


@kernel(inline=True)
def able_cards(cards: int, suit: int, trumps: int) -> int:
    """The cards of a trick that can win: the trumps, or those of ``suit`` (led) without any.

    The highest bit among them is the winning card.

    >>> able_cards(0b1_100001, 63, 63 << 6) == 1 << 6
    True
    """
    ruffs = cards & trumps
    return ruffs if ruffs != 0 else cards & suit


@kernel(inline=True)
def winning_place(lead: int, second: int, third: int, trumps: int) -> int:
    """The place, 0–2, of the winning card of a trick; a card not yet played is 0 (RULES.md §1).

    >>> winning_place(1 << 5, 1 << 6, 1 << 4, 63 << 6)
    1
    """
    able = able_cards(lead | second | third, suit_mask(lead), trumps)
    # A card is the highest of some if its double is more than all of them together.
    place = 1 if (second & able) << 1 > able else 0
    return 2 if (third & able) << 1 > able else place


@kernel(inline=True)
def declaring_tricks(trick_number: int, flags: int) -> int:
    """All ones if the rules let marriages be declared in this trick (1–8), else 0.

    >>> declaring_tricks(1, play_flags(packed(load("mil"))))
    0
    """
    before = trick_number - (flags >> _FROM_SHIFT & _TRICK_BITS)
    after = (flags >> _UNTIL_SHIFT & _TRICK_BITS) - trick_number
    return ~((before | after) >> 63)


@kernel(inline=True)
def marriage_leads(hand: int, trick_number: int, flags: int) -> int:
    """The cards of ``hand`` that declare a marriage when led to this trick (1–8), as a mask.

    King and queen in one hand, or the queen alone where the rules say so, within the window of
    tricks (RULES.md §2, play; §4, 7 and 8).

    >>> marriage_leads(0b001100, 2, play_flags(packed(load("mil")))) == 0b001100
    True
    """
    queens = hand & hand >> 1 & _QUEENS & ~undeclarable_queens(flags)
    kings = queens << 1 & (flags >> _QUEEN_PLACE & 1) - 1
    return (queens | kings) & declaring_tricks(trick_number, flags)


@kernel(inline=True)
def ace_leads(hand: int, trick_number: int, flags: int) -> int:
    """The cards that declare four aces when led to this trick (1–8): all aces, or none.

    >>> ace_leads(ALL_CARDS, 2, play_flags(packed(load("mil"))))
    0
    """
    has_all = _ACES if hand & _ACES == _ACES else 0
    return has_all & -(flags >> _ACES_PLACE & 1) & declaring_tricks(trick_number, flags)


@kernel
def can_declare(hand: int, card: int, trick_number: int, flags: int) -> int:
    """What leading ``card`` from ``hand`` (which still holds it) can declare in this trick (1–8).

    NOTHING, MARRIAGE or FOUR_ACES. Automatic or optional: look at OPTIONAL_DECLARATION.

    >>> can_declare(0b001100, 0b000100, 2, play_flags(packed(load("mil")))) == MARRIAGE
    True
    """
    if card & marriage_leads(hand, trick_number, flags) != 0:
        return MARRIAGE
    return FOUR_ACES if card & ace_leads(hand, trick_number, flags) != 0 else NOTHING


@kernel(inline=True)
def declared_points(declared: int, card: int, values: int) -> int:
    """What a declaration (of :func:`can_declare`) made by leading ``card`` is worth, in points.

    >>> declared_points(MARRIAGE, 1 << 20, play_values(packed(load("mil"))))
    100
    """
    place = suit_index(card) if declared == MARRIAGE else 4
    return 0 if declared == NOTHING else values >> 10 * place & 1023


@kernel(inline=True)
def last_trick_points(values: int) -> int:
    """What the last trick is worth on top of its cards.

    >>> last_trick_points(play_values(packed(load("mil"))))
    0
    """
    return values >> 50


@kernel
def legal_cards(
    hand: int, c0: int, c1: int, count: int, trump: int, rules: NDArray[np.int64]
) -> int:
    """The legal cards when ``count`` (0–2) cards lie on the table: indices ``c0``, ``c1``.

    ``trump`` is 0–3 or 4. The form for occasional use; loops call :func:`legal_second` and
    :func:`legal_third` with flags made once.

    >>> legal_cards(0b101001, 2, 0, 1, NO_TRUMP, packed(load("mil"))) == 0b101000
    True
    """
    lead = 1 << c0 if count > 0 else 0
    second = 1 << c1 if count > 1 else 0
    return legal_follow(hand, lead, second, trump_mask(trump), play_flags(rules))


# ---------------------------------------------------------------------------------- at the border


def checked_trump(trump: object) -> int:
    """A trump 0–3, or 4 for none; raises DealError for anything else.

    >>> checked_trump(4)
    4
    """
    number = checked_int(trump, "trump")
    if not 0 <= number <= NO_TRUMP:
        raise DealError(f"trump must be a suit 0 to 3, or 4 for none, got {quote(number)}")
    return number


def checked_trick_number(trick_number: object) -> int:
    """A trick number 1–8; raises DealError for anything else.

    >>> checked_trick_number(8)
    8
    """
    number = checked_int(trick_number, "trick_number")
    if not 1 <= number <= 8:
        raise DealError(f"trick_number must be 1 to 8, got {quote(number)}")
    return number


def checked_trick(trick: Any, fewest: int, most: int) -> tuple[int, ...]:
    """The card indices on the table, in the order played; raises DealError.

    >>> checked_trick([5, 0], 0, 2)
    (5, 0)
    """
    if isinstance(trick, str | bytes | set | frozenset | dict) or not hasattr(trick, "__len__"):
        raise DealError(f"trick must be a sequence of card indices, got {quote(trick)}")
    if not fewest <= len(trick) <= most:
        raise DealError(f"trick has {len(trick)} cards, must have {fewest} to {most}")
    cards: list[int] = []
    for given in trick:
        card = checked_int(given, "card of the trick")
        if not 0 <= card < N_CARDS:
            raise DealError(f"card of the trick must be 0 to {N_CARDS - 1}, got {quote(card)}")
        if card in cards:
            raise DealError(f"card {format_card(card)} is twice in the trick")
        cards.append(card)
    return tuple(cards)


def legal_mask(
    hand: int,
    trick: Sequence[int],
    trump: int,
    *,
    rules: str | Path | Rules = "mil",
    trick_number: int | None = None,
) -> int:
    """The cards of ``hand`` that may be played on ``trick``, as a mask (0 for an empty hand).

    ``hand`` is a mask of 24 bits or a `CardSet`, ``trick`` the indices (0–23) of the 0–2 cards
    played so far, ``trump`` the suit 0–3 in force for this trick (a marriage led has changed it
    already), or 4 for none. ``trick_number`` (1–8) is checked, but no rule of today needs it.

    Raises DealError for a card, mask, trump or trick number outside its range or of another type,
    for more than two cards, and for a card that is both in the hand and on the table; RulesError
    for unknown rules. Source: RULES.md §2, play.

    >>> from milsim.cards import format_hand, parse_card, parse_hand
    >>> format_hand(legal_mask(parse_hand("AT9.K.."), [parse_card("KS")], NO_TRUMP))
    'AT...'
    >>> legal_mask(1, [1], 7)
    Traceback (most recent call last):
    ...
    milsim.errors.DealError: trump must be a suit 0 to 3, or 4 for none, got 7
    """
    mask = checked_mask(hand)
    cards = checked_trick(trick, 0, 2)
    trumps = trump_mask(checked_trump(trump))
    if trick_number is not None:
        checked_trick_number(trick_number)
    for card in cards:
        if mask >> card & 1:
            raise DealError(
                f"card {format_card(card)} is both on the table and in the hand {format_hand(mask)}"
            )
    lead, second = (*(1 << card for card in cards), 0, 0)[:2]
    return int(legal_follow(mask, lead, second, trumps, play_flags(packed(load(rules)))))


def trick_winner(trick: Sequence[int], trump: int) -> int:
    """The place (0, 1 or 2) of the winning card among the 1–3 cards of a trick.

    ``trick`` holds card indices 0–23 in the order played, ``trump`` is the suit 0–3 in force, or 4
    for none. Raises DealError for anything else, or a card given twice. Source: RULES.md §1.

    >>> from milsim.cards import parse_card
    >>> trick_winner([parse_card("AS"), parse_card("9C"), parse_card("TS")], trump=1)
    1
    """
    cards = checked_trick(trick, 1, 3)
    lead, second, third = (*(1 << card for card in cards), 0, 0)[:3]
    return int(winning_place(lead, second, third, trump_mask(checked_trump(trump))))


__all__ = [
    "ACES_DECLARE",
    "ELSE_ANYTHING",
    "FOUR_ACES",
    "MARRIAGE",
    "MUST_OVERTRUMP",
    "MUST_TRUMP",
    "NEXT_TRICK_TRUMP",
    "NOTHING",
    "OPTIONAL_DECLARATION",
    "QUEEN_DECLARES",
    "SECOND_BEATS",
    "THIRD_BEATS",
    "THIRD_BEATS_TRUMPED",
    "able_cards",
    "ace_leads",
    "can_declare",
    "checked_trick",
    "checked_trick_number",
    "checked_trump",
    "declared_points",
    "declaring_tricks",
    "last_trick_points",
    "legal_cards",
    "legal_follow",
    "legal_mask",
    "legal_second",
    "legal_third",
    "marriage_leads",
    "play_flags",
    "play_values",
    "points_in",
    "suit_index",
    "suit_mask",
    "trick_winner",
    "trump_mask",
    "winning_place",
]
