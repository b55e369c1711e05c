"""Cards, masks of cards and `CardSet`: how milsim names, reads and prints cards.

A card is an index `6 * suit + rank` (RULES.md §1); a set of cards is a *mask*, a plain int with
bit *i* set for card *i*. Every query exists twice: as a function from mask to plain values, and as
a property or method of `CardSet`, an immutable set over one mask. Pure Python and quick to import.

Notation (DESIGN.md, "Notation of cards"): a card is a rank and a suit in either order, `AS`, `S10`,
`♥K`; a hand is `spades.hearts.diamonds.clubs` (`AKQ.T9.J.A`, a void empty or `-`), or cards
separated by spaces or commas (`AS KS 10H`), or ranks behind their suit (`♠ A K Q  ♥ 10 9`).
Ranks are English, Polish (`W D K A`) or Russian (`В Д К Т`); suits always `S C D H` or signs.

Two traps. Polish `D` is the queen and also diamonds: of two letters one must be the rank and one
the suit, and no pair can be read both ways as two different cards (`DS` is the queen of spades,
`DK` and `KD` the king of diamonds, `DD` the queen of diamonds); a lone `D` is the queen. In
Russian letters the Cyrillic `Т` (туз) is the ace and the Latin `T` the ten: write `10` when in
doubt. Latin `K` and `B`, which look like `К` and `В`, are read as these.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import SupportsIndex

from milsim.errors import DealError, NotationError, nearest, quote

SUITS = SPADES, CLUBS, DIAMONDS, HEARTS = 0, 1, 2, 3
NO_TRUMP = 4
RANKS = NINE, JACK, QUEEN, KING, TEN, ACE = 0, 1, 2, 3, 4, 5
N_SUITS, N_RANKS, N_CARDS = 4, 6, 24

CARD_POINTS = (0, 2, 3, 4, 10, 11)  # by rank
DECK_POINTS = 120

SUIT_NAMES = ("spades", "clubs", "diamonds", "hearts")
RANK_NAMES = ("nine", "jack", "queen", "king", "ten", "ace")
SUIT_LETTERS = "SCDH"
SUIT_SYMBOLS = "♠♣♦♥"
RANK_LETTERS = "9JQKTA"
PRINTED_SUITS = (SPADES, HEARTS, DIAMONDS, CLUBS)  # the order of PBN, and of all printing

ALL_CARDS = (1 << N_CARDS) - 1
SUIT_MASKS = tuple(0b111111 << N_RANKS * suit for suit in SUITS)
RANK_MASKS = tuple(sum(1 << N_RANKS * suit + rank for suit in SUITS) for rank in RANKS)
MARRIAGE_MASKS = tuple(0b001100 << N_RANKS * suit for suit in SUITS)  # queen and king

LETTERS = ("english", "polish", "russian")  # the alphabets of ranks that can be read

_RANK_SIGNS = {
    "english": {"9": NINE, "J": JACK, "Q": QUEEN, "K": KING, "T": TEN, "A": ACE},
    "polish": {"9": NINE, "W": JACK, "D": QUEEN, "K": KING, "T": TEN, "A": ACE},
    # The Latin look-alikes B and K cannot mean anything else here; T can, so it stays the ten.
    "russian": {
        **{"9": NINE, "В": JACK, "Д": QUEEN, "К": KING, "T": TEN, "Т": ACE},
        **{"B": JACK, "K": KING},
    },
}
_RANKS_LISTED = {"english": "A T K Q J 9", "polish": "A T K D W 9", "russian": "Т 10 К Д В 9"}
_SUIT_SIGNS = {sign: suit for signs in (SUIT_LETTERS, "♠♣♦♥", "♤♧♢♡") for suit, sign in
               enumerate(signs)}  # fmt: skip
for _signs in (*_RANK_SIGNS.values(), _SUIT_SIGNS):
    _signs.update({sign.lower(): value for sign, value in _signs.items()})

_VARIATION_SELECTORS = {0xFE0E: None, 0xFE0F: None}  # ♥ as text or as emoji: one suit
_SEPARATORS = re.compile(r"[\s,]+")
_HAND_FORMS = "write a hand as AKQ.T9.J.A (spades.hearts.diamonds.clubs) or AS KS TH"


def checked_int(value: object, what: str) -> int:
    """The value as an int; raises DealError, naming `what`, for a bool, float, text or other.

    NumPy integers are integers; True is not, and neither is 3.0.

    >>> checked_int(3, "seat")
    3
    """
    if type(value) is int:
        return value
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        try:
            return operator.index(value)
        except TypeError:  # a NumPy float array has __index__ too, and refuses only when asked
            pass
    raise DealError(f"{what} must be an integer, got {quote(value)}")


def _checked(value: object, limit: int, what: str) -> int:
    number = checked_int(value, what)
    if not 0 <= number < limit:
        raise DealError(f"{what} must be 0 to {limit - 1}, got {quote(number)}")
    return number


def checked_mask(cards: CardSet | SupportsIndex) -> int:
    """The mask as an int; raises DealError for a bit outside the 24 cards or for no integer.

    >>> checked_mask(CardSet(5))
    5
    """
    if isinstance(cards, CardSet):
        return cards.mask
    mask = checked_int(cards, "mask of cards")
    if not 0 <= mask <= ALL_CARDS:
        raise DealError(f"mask {quote(mask)} has bits outside the {N_CARDS} cards")
    return mask


# -- one card ------------------------------------------------------------------------------------


def card(suit: int, rank: int) -> int:
    """The index of a card (RULES.md §1); raises DealError for a wrong suit or rank.

    >>> card(HEARTS, KING)
    21
    """
    return N_RANKS * _checked(suit, N_SUITS, "suit") + _checked(rank, N_RANKS, "rank")


def suit_of(card: int) -> int:
    """The suit of a card, 0 to 3; raises DealError for a wrong index.

    >>> suit_of(21) == HEARTS
    True
    """
    return _checked(card, N_CARDS, "card") // N_RANKS


def rank_of(card: int) -> int:
    """The rank of a card, 0 (nine) to 5 (ace); raises DealError for a wrong index.

    >>> rank_of(21) == KING
    True
    """
    return _checked(card, N_CARDS, "card") % N_RANKS


def format_card(card: int) -> str:
    """The canonical name of a card: rank, then suit; raises DealError for a wrong index.

    >>> format_card(21), format_card(4)
    ('KH', 'TS')
    """
    return RANK_LETTERS[rank_of(card)] + SUIT_LETTERS[suit_of(card)]


def parse_card(text: str, *, letters: str = "english") -> int:
    """The index of a card in any notation of this module; raises NotationError.

    >>> parse_card("KH"), parse_card("♥k"), parse_card("S10"), parse_card("DS", letters="polish")
    (21, 21, 4, 2)
    """
    signs = _rank_signs(letters)
    token = checked_text(text, "card").translate(_VARIATION_SELECTORS).strip()
    found = _read_card(token, signs)
    if found is None:
        raise NotationError(_why_no_card(token, quote(text), signs, letters))
    return found


# -- masks ---------------------------------------------------------------------------------------


def mask_of(cards: Iterable[int]) -> int:
    """The mask of some card indices; raises DealError for a wrong index or a card given twice.

    >>> mask_of([0, 2])
    5
    """
    mask = 0
    for index in cards:
        bit = 1 << _checked(index, N_CARDS, "card")
        if mask & bit:
            raise DealError(f"card {format_card(index)} is given twice")
        mask |= bit
    return mask


def cards_of(mask: int) -> tuple[int, ...]:
    """The card indices of a mask, ascending; raises DealError for a wrong mask, as all below do.

    >>> cards_of(5)
    (0, 2)
    """
    mask = checked_mask(mask)
    return tuple(index for index in range(N_CARDS) if mask >> index & 1)


def points_of_mask(mask: int) -> int:
    """The card points of a mask (0 to 120; marriages are not card points).

    >>> points_of_mask(SUIT_MASKS[SPADES]), points_of_mask(ALL_CARDS)
    (30, 120)
    """
    mask = checked_mask(mask)
    return sum(CARD_POINTS[rank] * (mask & RANK_MASKS[rank]).bit_count() for rank in RANKS)


def marriages_of(mask: int) -> tuple[int, ...]:
    """The suits of which both king and queen are in the mask, ascending.

    >>> marriages_of(parse_hand("KQ.KJ.Q.KQ")) == (SPADES, CLUBS)
    True
    """
    mask = checked_mask(mask)
    return tuple(suit for suit in SUITS if not MARRIAGE_MASKS[suit] & ~mask)


def half_marriages_of(mask: int) -> tuple[int, ...]:
    """The suits of which exactly one of king and queen is in the mask, ascending.

    >>> half_marriages_of(parse_hand("KQ.KJ.Q.KQ")) == (DIAMONDS, HEARTS)
    True
    """
    mask = checked_mask(mask)
    return tuple(suit for suit in SUITS if (mask & MARRIAGE_MASKS[suit]).bit_count() == 1)


def four_nines(mask: int) -> bool:
    """Whether all four nines are in the mask.

    >>> four_nines(parse_hand("9A.9.9.9K"))
    True
    """
    return checked_mask(mask) & RANK_MASKS[NINE] == RANK_MASKS[NINE]


def by_suit(mask: int, suit: int) -> int:
    """The cards of one suit in the mask; raises DealError for a wrong suit too.

    >>> cards_of(by_suit(ALL_CARDS, CLUBS))
    (6, 7, 8, 9, 10, 11)
    """
    return checked_mask(mask) & SUIT_MASKS[_checked(suit, N_SUITS, "suit")]


def _ranks_down(mask: int, suit: int) -> list[int]:
    return [rank for rank in reversed(RANKS) if mask >> N_RANKS * suit + rank & 1]


def format_hand(mask: int) -> str:
    """The one canonical text of a hand: suits in PBN order, ranks from the ace down.

    >>> format_hand(mask_of([0, 4, 5, 21])), format_hand(0)
    ('AT9.K..', '...')
    """
    mask = checked_mask(mask)
    return ".".join(
        "".join(RANK_LETTERS[rank] for rank in _ranks_down(mask, suit)) for suit in PRINTED_SUITS
    )


def pretty_hand(mask: int, *, ascii: bool = False) -> str:  # noqa: A002 (what it means)
    """A hand for people to read; `parse_hand` reads it back. With `ascii`, suits are letters.

    >>> pretty_hand(parse_hand("AKQ.T9..A"))
    '♠ A K Q  ♥ 10 9  ♦ -  ♣ A'
    """
    mask = checked_mask(mask)
    groups = []
    for suit in PRINTED_SUITS:
        ranks = ["10" if rank == TEN else RANK_LETTERS[rank] for rank in _ranks_down(mask, suit)]
        groups.append(" ".join([(SUIT_LETTERS if ascii else SUIT_SYMBOLS)[suit], *(ranks or "-")]))
    return "  ".join(groups)


def html_hand(mask: int) -> str:
    """A hand as a small piece of inline HTML: suit signs in two colours, named for screen readers.

    >>> "♥" in html_hand(parse_hand("A.K.."))
    True
    """
    groups = []
    for suit in PRINTED_SUITS:
        colour = "#d22" if suit in (DIAMONDS, HEARTS) else "inherit"  # inherit: dark themes too
        ranks = " ".join(
            "10" if rank == TEN else RANK_LETTERS[rank] for rank in _ranks_down(mask, suit)
        )
        groups.append(
            f'<span style="color:{colour}"><span role="img" aria-label="{SUIT_NAMES[suit]}">'
            f"{SUIT_SYMBOLS[suit]}</span> {escape(ranks or '–')}</span>"
        )
    title = escape(format_hand(mask), quote=True)
    return f'<span style="white-space:nowrap" title="{title}">' + " &ensp;".join(groups) + "</span>"


# -- reading -------------------------------------------------------------------------------------


def parse_hand(text: str, *, letters: str = "english") -> int:
    """The mask of a hand in any notation of this module; `...` is the hand without cards.

    Raises NotationError for a letter that is no rank or suit, a card given twice, a missing suit.

    >>> parse_hand("AKQ.T9.J.A") == parse_hand("AS KS QS, 10H 9H DJ ♣A")
    True
    """
    signs = _rank_signs(letters)
    hand = checked_text(text, "hand").translate(_VARIATION_SELECTORS).strip()
    if not hand:
        raise NotationError(f"empty hand {quote(text)}: {_HAND_FORMS}, or ... for no cards")
    read = _read_suits if "." in hand else _read_list
    mask = 0
    for index in read(hand, signs, letters):
        if mask >> index & 1:
            raise NotationError(f"card {format_card(index)} is given twice in {quote(text)}")
        mask |= 1 << index
    return mask


def checked_text(text: object, what: str) -> str:
    """The text itself; raises NotationError, naming `what`, when it is no text.

    >>> checked_text("AS", "card")
    'AS'
    """
    if not isinstance(text, str):
        raise NotationError(f"{what} must be text, got {quote(text)}")
    return text


def _rank_signs(letters: object) -> dict[str, int]:
    if isinstance(letters, str) and letters in _RANK_SIGNS:
        return _RANK_SIGNS[letters]
    raise NotationError(f"unknown letters {quote(letters)}: {nearest(str(letters), LETTERS)}")


def _read_ranks(text: str, signs: dict[str, int]) -> list[int] | None:
    ranks = [signs.get(sign) for sign in text.replace("10", "T")]
    known = [rank for rank in ranks if rank is not None]
    return known if len(known) == len(ranks) else None


def _read_card(token: str, signs: dict[str, int]) -> int | None:
    """Rank and suit, else suit and rank; no token has two readings that differ (tested)."""
    for rank_text, sign in ((token[:-1], token[-1:]), (token[1:], token[:1])):
        ranks, suit = _read_ranks(rank_text, signs), _SUIT_SIGNS.get(sign)
        if suit is not None and ranks is not None and len(ranks) == 1:
            return N_RANKS * suit + ranks[0]
    return None


def _read_suits(hand: str, signs: dict[str, int], letters: str) -> Iterator[int]:
    suits = hand.split(".")
    if len(suits) != N_SUITS:
        raise NotationError(f"{quote(hand)} has {len(suits)} suits between dots, not 4: "
                            f"{_HAND_FORMS}")  # fmt: skip
    for suit, group in zip(PRINTED_SUITS, suits, strict=True):
        group = "".join(group.split())
        ranks = [] if group == "-" else _read_ranks(group, signs)
        if ranks is None:
            where = f"{quote(group)}, the {SUIT_NAMES[suit]} of {quote(hand)}"
            raise NotationError(_why_no_ranks(group, where, signs, letters))
        yield from (N_RANKS * suit + rank for rank in ranks)


def _read_list(hand: str, signs: dict[str, int], letters: str) -> Iterator[int]:
    suit: int | None = None  # of the group we are in, as in "♠ A K Q"
    waiting = ""  # a suit alone, until its first rank or "-" comes
    for token in filter(None, _SEPARATORS.split(hand)):
        index = _read_card(token, signs)
        is_suit = token in _SUIT_SIGNS and token not in signs
        if waiting and (is_suit or index is not None):
            break
        if is_suit:
            suit, waiting = _SUIT_SIGNS[token], token
            continue
        if index is not None:
            suit = None
            yield index
            continue
        group = token
        if token[0] in _SUIT_SIGNS and len(token) > 1:
            suit, waiting, group = _SUIT_SIGNS[token[0]], token, token[1:]
        ranks = [] if waiting and group == "-" else _read_ranks(group, signs)
        if suit is None or ranks is None:
            where = quote(token) if token == hand else f"{quote(token)} of {quote(hand)}"
            raise NotationError(_why_no_card(token, where, signs, letters))
        waiting = ""
        yield from (N_RANKS * suit + rank for rank in ranks)
    if waiting:
        raise NotationError(f"no rank after {quote(waiting)} in {quote(hand)}: {_HAND_FORMS}")


def _why_no_ranks(text: str, where: str, signs: dict[str, int], letters: str) -> str:
    wrong = next(sign for sign in text.replace("10", "T") if sign not in signs)
    return _unknown_rank(wrong, where, letters)


def _why_no_card(token: str, where: str, signs: dict[str, int], letters: str) -> str:
    wrong = [sign for sign in token.replace("10", "T") if sign not in signs | _SUIT_SIGNS]
    if wrong:
        return _unknown_rank(wrong[0], where, letters) + f"; suits are {' '.join(SUIT_LETTERS)}"
    return f"no single card in {where}: write a rank and a suit, such as AS; {_HAND_FORMS}"


def _unknown_rank(sign: str, where: str, letters: str) -> str:
    message = f"unknown rank {quote(sign)} in {where}: ranks are {_RANKS_LISTED[letters]}"
    for name in LETTERS:
        if sign in _RANK_SIGNS[name]:
            message += f"; it is the {RANK_NAMES[_RANK_SIGNS[name][sign]]} in {name} letters"
            break
    return message


# -- sets ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class CardSet:
    """An immutable set of cards over one mask; iterates over card indices, ascending.

    `|`, `&`, `-`, `^` take another set or a mask; `~` is the rest of the deck; `<=` is "subset of".
    Raises DealError for a mask with bits outside the 24 cards.

    >>> hand = CardSet.parse("AKQ.T9.J.A")
    >>> len(hand), hand.points, hand.marriages, str(hand - SUIT_MASKS[SPADES])
    (7, 41, (0,), '.T9.J.A')
    """

    mask: int = 0

    def __post_init__(self) -> None:
        """Make the mask a plain int, whatever kind of integer came."""
        object.__setattr__(self, "mask", checked_mask(self.mask))

    @classmethod
    def of(cls, cards: Iterable[int]) -> CardSet:
        """The set of some card indices (as `mask_of`)."""
        return cls(mask_of(cards))

    @classmethod
    def parse(cls, text: str, *, letters: str = "english") -> CardSet:
        """The set that a text describes (as `parse_hand`)."""
        return cls(parse_hand(text, letters=letters))

    @property
    def cards(self) -> tuple[int, ...]:
        """Card indices, ascending (as `cards_of`)."""
        return cards_of(self.mask)

    @property
    def points(self) -> int:
        """Card points (as `points_of_mask`)."""
        return points_of_mask(self.mask)

    @property
    def marriages(self) -> tuple[int, ...]:
        """Suits with king and queen (as `marriages_of`)."""
        return marriages_of(self.mask)

    @property
    def half_marriages(self) -> tuple[int, ...]:
        """Suits with exactly one of king and queen (as `half_marriages_of`)."""
        return half_marriages_of(self.mask)

    @property
    def four_nines(self) -> bool:
        """Whether all four nines are here (as the function `four_nines`)."""
        return four_nines(self.mask)

    def by_suit(self, suit: int) -> CardSet:
        """The cards of one suit (as the function `by_suit`)."""
        return CardSet(by_suit(self.mask, suit))

    def pretty(self, *, ascii: bool = False) -> str:  # noqa: A002 (what it means)
        """For people to read (as `pretty_hand`)."""
        return pretty_hand(self.mask, ascii=ascii)

    def __int__(self) -> int:
        """The mask."""
        return self.mask

    def __len__(self) -> int:
        """How many cards."""
        return self.mask.bit_count()

    def __iter__(self) -> Iterator[int]:
        """Card indices, ascending."""
        return iter(cards_of(self.mask))

    def __contains__(self, card: object) -> bool:
        """Whether a card index is in the set."""
        return card in cards_of(self.mask)

    def __or__(self, other: CardSet | int) -> CardSet:
        """Cards of either."""
        return CardSet(self.mask | checked_mask(other))

    def __and__(self, other: CardSet | int) -> CardSet:
        """Cards of both."""
        return CardSet(self.mask & checked_mask(other))

    def __xor__(self, other: CardSet | int) -> CardSet:
        """Cards of exactly one."""
        return CardSet(self.mask ^ checked_mask(other))

    def __sub__(self, other: CardSet | int) -> CardSet:
        """Cards of the first only."""
        return CardSet(self.mask & ~checked_mask(other))

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __rsub__(self, other: int) -> CardSet:
        """Cards of the mask only."""
        return CardSet(checked_mask(other) & ~self.mask)

    def __invert__(self) -> CardSet:
        """The rest of the deck."""
        return CardSet(ALL_CARDS & ~self.mask)

    def __le__(self, other: CardSet) -> bool:
        """Whether a subset."""
        return not self.mask & ~checked_mask(other)

    def __lt__(self, other: CardSet) -> bool:
        """Whether a subset and not equal."""
        return self <= other and self != other

    def __ge__(self, other: CardSet) -> bool:
        """Whether a superset."""
        return not checked_mask(other) & ~self.mask

    def __gt__(self, other: CardSet) -> bool:
        """Whether a superset and not equal."""
        return self >= other and self != other

    def __str__(self) -> str:
        """The canonical text (as `format_hand`)."""
        return format_hand(self.mask)

    def __repr__(self) -> str:
        """An expression that makes the set again."""
        return f"CardSet.parse({format_hand(self.mask)!r})"

    def _repr_html_(self) -> str:
        return html_hand(self.mask)
