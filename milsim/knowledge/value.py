"""`Knowledge`: the checked, friendly side of the kernels of `milsim.knowledge`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from milsim.cards import (
    N_CARDS,
    SUIT_NAMES,
    SUITS,
    CardSet,
    by_suit,
    checked_mask,
    format_card,
)
from milsim.dealing.sampling import checked_count, checked_range, checked_seed, empty_numbers
from milsim.deals import SEAT_NAMES
from milsim.errors import DealError, UsageError, quote
from milsim.knowledge import layouts as kernels
from milsim.knowledge import state as at
from milsim.knowledge.view import SeenTrick, View, checked_seat, view
from milsim.reference import Game
from milsim.rules import packed
from milsim.tricks import play_flags, trump_mask

Hands = tuple[CardSet, CardSet, CardSet]

_BLOCK = 1024  # layouts made at a time by `Knowledge.layouts`


class Knowledge:
    """What a seat knows of the hidden cards: every layout that its view allows, and no other.

    Made from a `View`, or by `Knowledge.of` from a game and a seat; it holds nothing else. Layouts
    are the hands of all three seats *now* (the seat's own always the same), numbered 0 … count − 1;
    before the talon is taken, the cards in no hand are the talon. `milsim.knowledge` says which
    inferences are made. Two views of one moment that differ in nothing the seat sees make equal
    `Knowledge`.

    Raises UsageError for what is no view, DealError for a view that no deal leads to.

    >>> from milsim.deals import Deal
    >>> from milsim.reference import Bid, Pass, TalonTaken
    >>> game = Game(Deal.from_id(688_907_321_587))
    >>> Knowledge.of(game, 1).count()
    2333760
    >>> for act in (Bid(0, 100), Pass(1), Pass(2), TalonTaken(0)):
    ...     _ = game.apply(act)
    >>> known = Knowledge.of(game, 1)
    >>> known.count(), known.must_hold(0), len(known.may_hold(2))
    (3432, CardSet.parse('.J.T.T'), 14)
    >>> known.allows(game.deal.hand_masks)  # the talon is forehand's now
    False
    """

    __slots__ = ("_binomials", "_count", "_plan", "_state", "_subsets", "seat", "view")

    seat: int
    view: View

    def __init__(self, view: View) -> None:
        """Go through the view once."""
        if not isinstance(view, View):
            raise UsageError(f"knowledge is made from a View, got {quote(view)}")
        self.view = view
        self.seat = checked_seat(view.seat)
        self._binomials = kernels.kernel_binomials()
        self._subsets = kernels.kernel_subsets()
        self._plan = np.empty(kernels.PLAN_SIZE, np.int64)
        self._state = _state_of(view)
        self._count = int(kernels.plan_layouts(self._state, self._binomials, self._plan))
        sizes = tuple(int(size) for size in self._state[at.SIZES : at.SIZES + 3])
        if self._count == 0 or sizes != view.hand_sizes or self._state[at.HAND] != view.hand.mask:
            raise DealError(f"no deal leads to this view of {SEAT_NAMES[self.seat]}")

    @classmethod
    def of(cls, game: Game, seat: int) -> Knowledge:
        """What a seat of a game knows now; raises UsageError for another game or seat."""
        return cls(view(game, seat))

    def __eq__(self, other: object) -> bool:
        """Whether both allow the same layouts for the same reasons to the same seat."""
        return isinstance(other, Knowledge) and bool((self._state == other._state).all())

    def __hash__(self) -> int:
        """Equal knowledge has equal hashes."""
        return hash(self._state.tobytes())

    def __repr__(self) -> str:
        """Whose knowledge, and how many layouts it allows."""
        return f"<Knowledge of {SEAT_NAMES[self.seat]}: {self._count} layouts>"

    # -- what is known ---------------------------------------------------------------------------

    @property
    def state(self) -> NDArray[np.int64]:
        """A copy of the state for the kernels, int64[STATE_SIZE]: `milsim.knowledge.state`."""
        return self._state.copy()

    @property
    def hidden(self) -> CardSet:
        """The cards that the seat does not hold and nobody has played."""
        return CardSet(int(self._state[at.HIDDEN]))

    def may_hold(self, seat: int) -> CardSet:
        """The cards that a seat holds in some layout; raises UsageError for no seat."""
        if checked_seat(seat) == self.seat:
            return self.view.hand
        workspace = np.empty(kernels.PLAN_SIZE, np.int64)
        state = self._state.copy()
        return CardSet(int(kernels.possible_cards(state, seat, self._binomials, workspace)))

    def must_hold(self, seat: int) -> CardSet:
        """The cards that a seat holds in every layout; raises UsageError for no seat."""
        if checked_seat(seat) == self.seat:
            return self.view.hand
        if self._state[at.UNTAKEN] > 0:
            return CardSet(0)
        return self.hidden - self.may_hold(3 - self.seat - seat)

    def allows(self, hands: Sequence[CardSet | SupportsIndex]) -> bool:
        """Whether three hands by seat are one of the layouts; raises DealError for no hands."""
        if isinstance(hands, str | bytes) or not hasattr(hands, "__len__") or len(hands) != 3:
            raise DealError(f"a layout is three hands by seat, got {quote(hands)}")
        masks = [checked_mask(hand) for hand in hands]
        if masks[self.seat] != self.view.hand.mask:
            return False
        first, second = masks[(self.seat + 1) % 3], masks[(self.seat + 2) % 3]
        return bool(kernels.allows(self._state, first, second))

    # -- the layouts -----------------------------------------------------------------------------

    def count(self) -> int:
        """The number of layouts; at least one: the true one."""
        return self._count

    def masks(
        self, start: SupportsIndex = 0, count: SupportsIndex | None = None
    ) -> NDArray[np.int64]:
        """Layouts start, start + 1, … as masks by seat, int64[n, 3]; all, or at most ``count``.

        Raises UsageError for a start beyond the end, and for numbers that are none.
        """
        begin = checked_count(start, "start")
        if begin > self._count:
            raise UsageError(f"start {quote(begin)} is beyond the {self._count} layouts")
        left = self._count - begin
        hands = _empty_hands(left if count is None else min(left, checked_count(count, "count")))
        tables = (self._binomials, self._subsets, self._plan)
        kernels.fill_layouts(self._state, begin, *tables, hands)
        return hands

    def layouts(self) -> Iterator[Hands]:
        """All layouts in order, hands by seat: few in the last tricks, millions at the beginning.

        >>> from milsim.deals import Deal
        >>> known = Knowledge.of(Game(Deal.from_id(0)), 0)
        >>> [len(hand) for hand in next(known.layouts())]
        [7, 7, 7]
        """
        for start in range(0, self._count, _BLOCK):
            for first, second, third in self.masks(start, _BLOCK).tolist():
                yield CardSet(first), CardSet(second), CardSet(third)

    def sample(
        self, n: SupportsIndex, seed: SupportsIndex, start: SupportsIndex = 0
    ) -> NDArray[np.int64]:
        """Draws start … start + n − 1 of a seed as masks by seat, int64[n, 3].

        Each is exactly uniform among the layouts, independent of the others and a pure function of
        the knowledge, the seed and its index. Raises UsageError for numbers out of range.

        >>> from milsim.deals import Deal
        >>> hands = Knowledge.of(Game(Deal.from_id(0)), 0).sample(2, seed=1)
        >>> hands.shape, [int(mask) for mask in hands[:, 0]]
        ((2, 3), [127, 127])
        """
        number, begin = checked_range(n, start)
        hands = _empty_hands(number)
        tables = (self._binomials, self._subsets, self._plan)
        kernels.fill_sample(self._state, checked_seed(seed), begin, *tables, hands)
        return hands

    # -- in words --------------------------------------------------------------------------------

    def explain(self) -> str:
        """What is known of the other seats, in plain words, a line each; then how many layouts.

        >>> from milsim.deals import Deal
        >>> from milsim.reference import Bid, Pass, TalonTaken
        >>> game = Game(Deal.from_id(688_907_321_587))
        >>> for act in (Bid(0, 100), Pass(1), Pass(2), TalonTaken(0)):
        ...     _ = game.apply(act)
        >>> print(Knowledge.of(game, 1).explain())
        rearhand, 7 cards: not TC TD JH
        forehand, 10 cards: holds TC TD JH
        3432 layouts
        """
        lines = [self._about((self.seat + step) % 3) for step in (1, 2)]
        layouts = "1 layout" if self._count == 1 else f"{self._count} layouts"
        return "\n".join([*lines, layouts])

    def _about(self, seat: int) -> str:
        size = int(self._state[at.SIZES + seat])
        held, possible = self.must_hold(seat), self.may_hold(seat)
        words = []
        if held:
            words.append(f"holds {_names(held)}")
        if len(held) < size:  # else what is not held is no news
            words += _absent(self.hidden, possible)
        few = int(self._state[at.FEW])
        if few and self._state[at.FEW_SEAT] == seat and len(possible & few) > 1:
            words.append(f"at most one of {_names(possible & few)}, as a gift")
        aces = CardSet(int(self._state[at.NOT_ALL]))
        if aces and self._state[at.NOT_ALL_SEAT] == seat and not aces - possible:
            words.append(f"not all of {_names(aces)}")
        cards = "1 card" if size == 1 else f"{size} cards"
        return f"{SEAT_NAMES[seat]}, {cards}: {', '.join(words) or 'nothing known'}"


def _empty_hands(n: int) -> NDArray[np.int64]:
    return empty_numbers(3 * n).reshape(n, 3)


def _names(cards: CardSet) -> str:
    return " ".join(format_card(card) for card in cards)


def _absent(hidden: CardSet, possible: CardSet) -> list[str]:
    """The hidden cards that a hand has not: single ones, then whole suits."""
    absent = hidden - possible
    voids = [
        suit for suit in SUITS if by_suit(absent.mask, suit) and not by_suit(possible.mask, suit)
    ]
    single = [card for card in absent if card // 6 not in voids]
    words = [f"not {_names(CardSet.of(single))}"] if single else []
    return words + [f"no {SUIT_NAMES[suit]}" for suit in voids]


# -- from the view to the state ------------------------------------------------------------------


def _state_of(seen: View) -> NDArray[np.int64]:
    """The acts of a view, one after another, through the kernels."""
    state = np.empty(at.STATE_SIZE, np.int64)
    at.start(state, seen.seat, seen.dealt.mask)
    if seen.talon_taken:
        if seen.declarer is None:
            raise DealError("the talon is taken, but nobody is declarer")
        talon = 0 if seen.talon is None else seen.talon.mask
        at.observe_talon(state, checked_seat(seen.declarer), talon)
    for gift in seen.gifts:
        card = 0 if gift.card is None else _bit(gift.card)
        at.observe_gift(state, checked_seat(gift.giver), checked_seat(gift.receiver), card)
    flags = int(play_flags(packed(seen.rules)))
    plays = np.zeros(at.PLAYS_SIZE, np.int64)
    for trick in seen.tricks:
        _observe_trick(plays, trick, flags)
    at.catch_up(state, plays)
    return state


def _observe_trick(plays: NDArray[np.int64], trick: SeenTrick, flags: int) -> None:
    bits = [_bit(card) for card in trick.cards]
    trumps = int(trump_mask(trick.trump))
    for place, card in enumerate(bits):
        lead, second = (*bits[:place], 0, 0)[:2]
        seat = (trick.leader + place) % 3
        declared = int(trick.declares and place == 0)
        at.observe_play(plays, seat, card, lead, second, trumps, trick.number, declared, flags)


def _bit(card: object) -> int:
    if isinstance(card, bool) or not isinstance(card, int) or not 0 <= card < N_CARDS:
        raise DealError(f"a card is an index from 0 to {N_CARDS - 1}, got {quote(card)}")
    return 1 << card


__all__ = ["Hands", "Knowledge"]
