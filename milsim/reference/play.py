"""The eight tricks: which cards may be played, who wins a trick, and what a marriage does.

Everything here works on plain card indices (``6 * suit + rank``), sets and tuples. A trick is the
tuple of its cards in the order played; its first card is the lead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from milsim.cards import (
    ACE,
    CARD_POINTS,
    CLUBS,
    DIAMONDS,
    HEARTS,
    KING,
    NINE,
    NO_TRUMP,
    QUEEN,
    SPADES,
    SUIT_NAMES,
    format_card,
    format_hand,
    mask_of,
)
from milsim.deals import SEAT_NAMES
from milsim.errors import DealError, IllegalActError, quote
from milsim.reference.operations import Play
from milsim.rules import Rules, load

SEATS = (0, 1, 2)
TRICKS = 8
SUITS = (SPADES, CLUBS, DIAMONDS, HEARTS)


# -- cards ---------------------------------------------------------------------------------------


def suit(card: int) -> int:
    """The suit of a card: 0 spades, 1 clubs, 2 diamonds, 3 hearts.

    >>> suit(21)
    3
    """
    return card // 6


def rank(card: int) -> int:
    """The rank of a card: 9 0, J 1, Q 2, K 3, 10 4, A 5 (seeds 000 and 002 step 3, seed 001).

    >>> rank(22) > rank(21)  # the ten of hearts is above the king
    True
    """
    return card % 6


def card_points(cards: Iterable[int]) -> int:
    """Card points: A 11, 10 10, K 4, Q 3, J 2, 9 0 (seeds 000, 002 step 3; seed 001 Y CARDIAU).

    >>> card_points(range(24))
    120
    """
    return sum(CARD_POINTS[rank(card)] for card in cards)


def marriages_in(cards: Collection[int]) -> tuple[int, ...]:
    """The suits of which king and queen are both among the cards (seeds 000, 002 step 8).

    >>> marriages_in({2, 3, 21})
    (0,)
    """
    return tuple(each for each in SUITS if 6 * each + KING in cards and 6 * each + QUEEN in cards)


def has_four_nines(cards: Collection[int]) -> bool:
    """Whether all four nines are among the cards.

    >>> has_four_nines({0, 6, 12, 18, 23})
    True
    """
    return all(6 * each + NINE in cards for each in SUITS)


def has_four_aces(cards: Collection[int]) -> bool:
    """Whether all four aces are among the cards.

    >>> has_four_aces({5, 11, 17})
    False
    """
    return all(6 * each + ACE in cards for each in SUITS)


def verify_card(card: object, what: str) -> None:
    """Raise IllegalActError unless this is the index of a card.

    >>> verify_card("KH", "play")
    Traceback (most recent call last):
    ...
    milsim.errors.IllegalActError: play 'KH': a card is an index from 0 to 23
    """
    if isinstance(card, bool) or not isinstance(card, int) or card not in range(24):
        raise IllegalActError(f"{what} {quote(card)}: a card is an index from 0 to 23")


def accepts(verify: Callable[..., None], *arguments: object, **named: object) -> bool:
    """Whether a ``verify_x`` accepts the arguments: the body of every ``can_x``.

    >>> accepts(verify_card, 23, "play"), accepts(verify_card, 24, "play")
    (True, False)
    """
    try:
        verify(*arguments, **named)
    except IllegalActError:
        return False
    return True


# -- tricks --------------------------------------------------------------------------------------


def trick_winner(trick: Sequence[int], trump: int) -> int:
    """The place in the trick (0 the lead, 1, 2) of the card that wins it, or wins it so far.

    The highest trump, and without trumps the highest card of the suit led; other cards never win
    (seeds 000, 002 steps 2, 3, 8; seed 001 Y CHWARAE). The trump is the one in force in this trick,
    4 for none. Raises DealError for an empty trick.

    >>> trick_winner((5, 6, 4), 1)  # ace of spades, nine of clubs, ten of spades; clubs are trump
    1
    """
    if not trick:
        raise DealError("trick without cards: a trick has 1 to 3 cards")
    trumps = [card for card in trick if suit(card) == trump]
    if trumps:
        return trick.index(max(trumps, key=rank))
    of_suit_led = [card for card in trick if suit(card) == suit(trick[0])]
    return trick.index(max(of_suit_led, key=rank))


def legal_cards(
    hand: Collection[int], trick: Sequence[int], trump: int, rules: str | Rules = "mil"
) -> set[int]:
    """The cards of the hand that may be played now, to a trick of 0, 1 or 2 cards.

    The trump is the one in force in this trick, 4 for none. Sources: seeds 000 and 002 step 7 and
    "rhaid curo" / "hai que montar"; seed 001 Y CHWARAE; RULES.md §2 play.

    >>> legal_cards({0, 5, 21}, (4,), 3)  # over the ten of spades: the ace, which beats it
    {5}
    >>> legal_cards({0, 5, 21}, (4,), 3, "gamerules")
    {0, 5}
    """
    how = load(rules).play
    if not trick:
        return set(hand)

    suit_led = suit(trick[0])
    same_suit = {card for card in hand if suit(card) == suit_led}
    trumps_in_trick = [card for card in trick if suit(card) == trump]
    # seeds 000/002 step 7: "a card of the suit led, …" - seed 001: follow the suit if possible
    if same_suit:
        trumped = suit_led != trump and bool(trumps_in_trick)
        if how.must_beat == "no":
            must_beat = False
        elif how.must_beat == "always":
            must_beat = True
        elif how.must_beat == "if_can_win":
            must_beat = not trumped
        else:  # second_hand_only
            must_beat = not trumped and len(trick) == 1
        # "… and one higher than the highest that is there already, if you have one"
        highest = max(rank(card) for card in trick if suit(card) == suit_led)
        higher = {card for card in same_suit if rank(card) > highest}
        return higher if must_beat and higher else same_suit

    # seeds 000/002 step 7: "if you do not have that suit, you must play a trump if you have one"
    trumps = {card for card in hand if suit(card) == trump}
    if not how.must_trump or not trumps:
        return set(hand)
    # "without the suit, a trump higher than a trump that is there already, if you have one"
    if how.must_overtrump and trumps_in_trick:
        highest = max(rank(card) for card in trumps_in_trick)
        higher = {card for card in trumps if rank(card) > highest}
        if higher:
            return higher
        return trumps if how.cannot_overtrump == "any_trump" else set(hand)
    return trumps


# -- a moment in the play ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration:
    """A marriage (suit 0 to 3) or four aces (suit None) declared: by whom, when, for what."""

    seat: int
    suit: int | None
    points: int
    trick_number: int


@dataclass(frozen=True)
class Position:
    """A moment in the play; immutable: `play` returns the next one.

    ``trump`` is in force in the trick being played, ``coming_trump`` from the next trick on; they
    differ only in the trick of a marriage under ``trump_effect = next_trick``. Points and tricks
    are by seat. Make the start of one by `Position.start`.
    """

    rules: Rules
    hands: tuple[frozenset[int], frozenset[int], frozenset[int]]
    leader: int
    trump: int = NO_TRUMP
    trick_number: int = 1
    trick: tuple[int, ...] = ()
    coming_trump: int = NO_TRUMP
    card_points: tuple[int, int, int] = (0, 0, 0)
    tricks_won: tuple[int, int, int] = (0, 0, 0)
    last_trick_bonus: tuple[int, int, int] = (0, 0, 0)
    declarations: tuple[Declaration, ...] = ()

    @classmethod
    def start(
        cls,
        hands: Sequence[Collection[int]],
        leader: int,
        *,
        trump: int = NO_TRUMP,
        trick_number: int = 1,
        rules: str | Rules = "mil",
    ) -> Position:
        """The beginning of a trick: three hands of equally many cards (1 to 8), seat 0 first.

        The last trick is the one that empties the hands, whatever its number. Raises DealError when
        the cards, the leader, the trump or the number of the trick do not fit.

        >>> Position.start([{5}, {4}, {3}], 0, trick_number=8).legal_plays()
        (Play(seat=0, card=5, declares=False),)
        """
        if len(hands) != len(SEATS):
            raise DealError(f"{len(hands)} hands given; three play")
        all_cards = sorted(card for hand in hands for card in hand)
        if any(card not in range(24) for card in all_cards):
            raise DealError(f"cards {quote(all_cards)}: a card is an index from 0 to 23")
        if len(set(all_cards)) < len(all_cards):
            raise DealError("a card is in two hands; every card is held once")
        sizes = {len(set(hand)) for hand in hands}
        if len(sizes) != 1 or not sizes <= set(range(1, TRICKS + 1)):
            raise DealError(f"hands of {sorted(sizes)} cards; all hold equally many, 1 to 8")
        if leader not in SEATS:
            raise DealError(f"leader {leader!r}: a seat is 0, 1 or 2")
        if trump not in (*SUITS, NO_TRUMP):
            raise DealError(f"trump {trump!r}: 0 to 3, or 4 for none")
        if not 1 <= trick_number <= TRICKS + 1 - max(sizes):
            raise DealError(
                f"trick {trick_number} with {max(sizes)} cards in hand: "
                f"1 to {TRICKS + 1 - max(sizes)} is possible"
            )
        first, second, third = (frozenset(hand) for hand in hands)
        return cls(load(rules), (first, second, third), leader, trump, trick_number, (), trump)

    # -- what is true now ------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether all cards are played."""
        return not self.trick and not any(self.hands)

    @property
    def actor(self) -> int | None:
        """The seat that plays next; play goes to the left: 0, 1, 2, 0 (RULES.md §1)."""
        return None if self.is_over else (self.leader + len(self.trick)) % 3

    @property
    def marriage_points(self) -> tuple[int, int, int]:
        """Points of the marriages and aces declared, by seat: theirs even if the trick is lost."""
        first, second, third = (
            sum(each.points for each in self.declarations if each.seat == seat) for seat in SEATS
        )
        return (first, second, third)

    @property
    def points(self) -> tuple[int, int, int]:
        """All points taken by seat: card points, declarations, bonus of the last trick."""
        first, second, third = (
            self.card_points[seat] + self.marriage_points[seat] + self.last_trick_bonus[seat]
            for seat in SEATS
        )
        return (first, second, third)

    @cached_property
    def _legal(self) -> set[int]:
        """The legal cards of who plays next; none when all is over."""
        if self.actor is None:
            return set()
        return legal_cards(self.hands[self.actor], self.trick, self.trump, self.rules)

    def legal_cards(self) -> set[int]:
        """The cards that may be played now; empty when all are played."""
        return set(self._legal)

    def why_not_declared(self, card: int) -> str | None:
        """Why playing the card now cannot declare anything; None if it can.

        A marriage is declared by leading its king or queen while both are in hand, in the tricks
        allowed (seeds 000/002 step 8: not in the first trick; seed 001 Y CHWARAE: after winning a
        trick, which for the leader is the same). Four aces: the same by leading an ace.
        """
        if self.actor is None:
            return "the play is over"
        how, hand = self.rules.play, self.hands[self.actor]
        if self.trick:
            return "only the leader of a trick declares"
        if rank(card) == ACE and how.ace_marriage > 0:
            if not has_four_aces(hand):
                return "the hand does not hold four aces"
        elif rank(card) == QUEEN or (rank(card) == KING and how.marriage_card == "king_or_queen"):
            if suit(card) not in marriages_in(hand):
                return f"the hand does not hold both king and queen of {SUIT_NAMES[suit(card)]}"
        elif rank(card) == KING:
            return "a marriage is declared by leading its queen"
        else:
            return "a marriage is declared by leading its king or queen"
        if self.trick_number < how.marriage_from_trick:
            return (
                f"trick {self.trick_number}: declaring is allowed from "
                f"trick {how.marriage_from_trick}"
            )
        if self.trick_number > how.marriage_until_trick:
            return (
                f"trick {self.trick_number}: declaring is allowed until "
                f"trick {how.marriage_until_trick}"
            )
        return None

    def legal_plays(self) -> tuple[Play, ...]:
        """All acts possible now, by card; under optional declaration a card may stand twice.

        >>> start = Position.start([{2, 3}, {0, 1}, {4, 5}], 0, trick_number=7)
        >>> [(each.card, each.declares) for each in start.legal_plays()]
        [(2, True), (3, True)]
        """
        seat = self.actor
        if seat is None:
            return ()
        found = []
        for card in sorted(self._legal):
            can_declare = self.why_not_declared(card) is None
            if not can_declare or self.rules.play.marriage_declaration == "optional":
                found.append(Play(seat, card, declares=False))
            if can_declare:
                found.append(Play(seat, card, declares=True))
        return tuple(found)

    # -- the act ---------------------------------------------------------------------------------

    def verify_play(self, card: int, declare: bool | None = None) -> None:
        """Raise IllegalActError, naming the rule, unless the card may be played so.

        ``declare`` None means: declares if declaring is automatic and possible, else does not.
        """
        seat = self.actor
        if seat is None:
            raise IllegalActError("play: all cards are played; the deal is over")
        verify_card(card, "play")
        name, hand = format_card(card), self.hands[seat]
        if card not in hand:
            raise IllegalActError(
                f"play {name}: not in the hand of {SEAT_NAMES[seat]} {format_hand(mask_of(hand))}"
            )
        if card not in self._legal:
            raise IllegalActError(f"play {name}: {self._why_illegal()}")
        why_not = self.why_not_declared(card)
        if declare and why_not is not None:
            raise IllegalActError(f"play {name}: no declaration: {why_not}")
        automatic = self.rules.play.marriage_declaration == "automatic"
        if declare is False and why_not is None and automatic:
            raise IllegalActError(
                f"play {name}: leading it declares (play.marriage_declaration is automatic)"
            )

    def _why_illegal(self) -> str:
        assert self.actor is not None
        suit_led, hand = suit(self.trick[0]), self.hands[self.actor]
        right = " ".join(format_card(card) for card in sorted(self._legal))
        if any(suit(card) == suit_led for card in hand):
            if any(suit(card) == suit_led and card not in self._legal for card in hand):
                rule = f"{SUIT_NAMES[suit_led]} are led; follow suit, higher than the highest there"
            else:
                rule = f"{SUIT_NAMES[suit_led]} are led; follow suit"
        elif any(suit(card) == self.trump and card not in self._legal for card in hand):
            rule = f"void in {SUIT_NAMES[suit_led]}; trump higher than the trump there"
        else:
            rule = f"void in {SUIT_NAMES[suit_led]}; play a trump ({SUIT_NAMES[self.trump]})"
        return f"{rule}: {right}"

    def can_play(self, card: int, declare: bool | None = None) -> bool:
        """Whether the card may be played so."""
        return accepts(self.verify_play, card, declare)

    def as_play(self, card: int, declare: bool | None = None) -> Play:
        """The record of playing the card; raises IllegalActError as `verify_play`."""
        self.verify_play(card, declare)
        assert self.actor is not None
        if declare is None:
            automatic = self.rules.play.marriage_declaration == "automatic"
            declare = automatic and self.why_not_declared(card) is None
        return Play(self.actor, card, bool(declare))

    def play(self, card: int, declare: bool | None = None) -> Position:
        """The position after the card; raises IllegalActError as `verify_play`.

        >>> start = Position.start([{2, 3}, {0, 1}, {4, 5}], 0, trick_number=7)
        >>> after = start.play(3)
        >>> after.trump, after.points  # spades are trump at once, 40 for their marriage
        (0, (40, 0, 0))
        """
        act = self.as_play(card, declare)
        seat = act.seat
        first, second, third = (
            hand - {card} if each == seat else hand for each, hand in enumerate(self.hands)
        )
        now = replace(self, hands=(first, second, third), trick=(*self.trick, card))
        if act.declares:
            now = now._declared(seat, card)
        return now._trick_taken() if len(now.trick) == 3 else now

    def _declared(self, seat: int, card: int) -> Position:
        """The declaration noted; a marriage makes its suit trump (seeds 000/002 step 8)."""
        if rank(card) == ACE:  # four aces change no trump
            aces = Declaration(seat, None, self.rules.play.ace_marriage, self.trick_number)
            return replace(self, declarations=(*self.declarations, aces))
        value = self.rules.deal.marriage_values.by_suit()[suit(card)]
        marriage = Declaration(seat, suit(card), value, self.trick_number)
        # seeds 000/002 step 8: "from then on that suit is the trump … the next marriage changes it"
        at_once = self.rules.play.trump_effect == "immediate"
        return replace(
            self,
            trump=suit(card) if at_once else self.trump,
            coming_trump=suit(card),
            declarations=(*self.declarations, marriage),
        )

    def _trick_taken(self) -> Position:
        """The next trick: its leader is the winner of this one (seeds 000/002 step 2)."""
        winner = (self.leader + trick_winner(self.trick, self.trump)) % 3
        is_last = not any(self.hands)
        bonus = self.rules.play.last_trick_bonus if is_last else 0
        return replace(
            self,
            leader=winner,
            trump=self.coming_trump,
            trick_number=self.trick_number + 1,
            trick=(),
            card_points=_added(self.card_points, winner, card_points(self.trick)),
            tricks_won=_added(self.tricks_won, winner, 1),
            last_trick_bonus=_added(self.last_trick_bonus, winner, bonus),
        )


def _added(by_seat: tuple[int, int, int], seat: int, amount: int) -> tuple[int, int, int]:
    first, second, third = (
        value + amount if each == seat else value for each, value in enumerate(by_seat)
    )
    return (first, second, third)


def perft(position: Position, depth: int) -> int:
    """How many different sequences of `depth` acts can follow the position, by trying them all.

    Declaring and not declaring with the same card are two acts, where the rules leave the choice.

    >>> perft(Position.start([{2, 3}, {0, 1}, {4, 5}], 0, trick_number=7), 6)
    8
    """
    if depth == 0:
        return 1
    plays = position.legal_plays()
    if depth == 1:
        return len(plays)
    return sum(perft(position.play(each.card, each.declares), depth - 1) for each in plays)
