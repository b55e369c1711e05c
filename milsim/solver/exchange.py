"""The best exchange: which two of his ten cards the declarer gives away, all cards known.

There are 90 ways: a card for his left, another for his right. Their positions differ in who holds
two cards only, so all share one table: once a gift is played it does not matter who held it, and
the key of a position names the gifts that are left and nothing else (`milsim.solver.table`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from milsim._jit import kernel
from milsim.bits import lowest_bit_index
from milsim.cards import checked_int, format_card, quote
from milsim.dealing import masks_of_deals
from milsim.deals import SEAT_NAMES, SEATS, Deal
from milsim.errors import DealError
from milsim.rules import Rules, load, packed
from milsim.solver.ranked import points_of, ranked, unranked
from milsim.solver.search import marriage_queens, search
from milsim.solver.table import (
    GIFT_A,
    GIFT_B,
    TAG_A,
    TAG_B,
    TAG_SHIFT,
    new_workspace,
    next_deal,
    prepare,
)
from milsim.solver.threads import checked_threads, in_chunks
from milsim.tricks import play_flags, play_values

if TYPE_CHECKING:
    pass

N_GIFTS = 90
_CHUNK = 16  # deals a chunk: 1 to 4 ms each
# Places in a result: points, gifts (card indices of RULES.md §1), how many pairs, worst points.
POINTS, GIFT_LEFT, GIFT_RIGHT, COUNT, WORST = range(5)
_HUGE = 1 << 20


class Exchanges(NamedTuple):
    """The best exchanges of many deals: four arrays of one length."""

    points: NDArray[np.int16]
    """The declarer's points with the best gifts and best play."""
    gift_left: NDArray[np.int8]
    """The card for his left, an index 0–23."""
    gift_right: NDArray[np.int8]
    """The card for his right."""
    count: NDArray[np.int8]  # type: ignore[assignment]  # hides tuple.count
    """How many of the 90 pairs reach these points."""


@kernel
def _gift_cost(card: int, ten: int) -> int:
    """A guess of what giving a card away costs: its points, and much for half of a marriage."""
    queens = marriage_queens(ten)
    cost = points_of(card) * 4
    if card & (queens | queens << 4) != 0:
        cost += 200
    return cost


@kernel
def _value_after_gifts(
    own: int, left: int, right: int, one: int, other: int, need: int, exact: int,
    codes: int, other_code: int, work: NDArray[np.int64],
) -> int:  # fmt: skip
    """A bound, as of `search` (``exact`` 0), or the value (1), after two gifts."""
    work[GIFT_A] = one
    work[TAG_A] = codes
    work[GIFT_B] = other
    work[TAG_B] = other_code
    own ^= one | other
    left |= one
    right |= other
    value = search(own, left, right, 0, 0, need, work)
    if exact == 0:
        return value
    lower = value if value >= need else 0
    upper = _HUGE if value >= need else value
    while lower < upper:
        at = lower + 1 if value >= need else upper
        need = at
        value = search(own, left, right, 0, 0, need, work)
        if value >= need:
            lower = value
        else:
            upper = value
    return lower


@kernel
def exchange_of(
    own: int,
    left: int,
    right: int,
    every: NDArray[np.int16],
    work: NDArray[np.int64],
    result: NDArray[np.int64],
) -> None:
    """The best of the 90 exchanges of ranked hands: the declarer's ten, seven on each side.

    Fills ``result``, int64[4]: points, the two gifts, how many pairs reach the points. The gifts
    are those of the lowest card indices that do. If ``every``, int16[10, 10], has rows, it gets
    the value of each pair by place in the hand from the lowest index, left first.
    ``work`` is prepared, and its table made empty of other deals.
    """
    next_deal(work, 0)
    cards = np.empty(10, np.int64)
    costs = np.empty(10, np.int64)
    names = np.empty(10, np.int64)
    rest = unranked(own)
    for i in range(10):
        names[i] = lowest_bit_index(rest)
        cards[i] = ranked(rest & -rest)
        rest &= rest - 1
        costs[i] = _gift_cost(cards[i], own)
    # All pairs, the cheapest first.
    pairs = np.empty(90, np.int64)
    order = np.empty(90, np.int64)
    filled = 0
    for i in range(10):
        for j in range(10):
            if i == j:
                continue
            cost = costs[i] + costs[j]
            at = filled
            while at > 0 and order[at - 1] > cost:
                order[at] = order[at - 1]
                pairs[at] = pairs[at - 1]
                at -= 1
            order[at] = cost
            pairs[at] = 10 * i + j
            filled += 1
    best = -1
    count = 0
    chosen = 99
    for each in range(90):
        pair = pairs[each]
        i = pair // 10
        j = pair - 10 * i
        # The tag's eight bits: the code 1–10 of a gift that is left, for each side.
        code_left = i + 1 << TAG_SHIFT
        code_right = j + 1 << TAG_SHIFT + 4
        if every.shape[0] != 0:
            guess = max(best, 1)
            value = _value_after_gifts(
                own, left, right, cards[i], cards[j], guess, 1, code_left, code_right, work
            )
            every[i, j] = value
        else:
            need = max(best, 0)
            value = _value_after_gifts(
                own, left, right, cards[i], cards[j], need, 0, code_left, code_right, work
            )
            if value < best:
                continue
            value = _value_after_gifts(
                own, left, right, cards[i], cards[j], need + 1, 0, code_left, code_right, work
            )
            if value > need:
                value = _value_after_gifts(
                    own, left, right, cards[i], cards[j], value + 1, 1, code_left, code_right, work
                )
            else:
                value = need
        if value > best:
            best = value
            count = 0
            chosen = pair
        if value == best:
            count += 1
            chosen = min(chosen, pair)
    result[POINTS] = best
    result[GIFT_LEFT] = names[chosen // 10]
    result[GIFT_RIGHT] = names[chosen % 10]
    result[COUNT] = count


@kernel
def exchange_rows(
    own: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    flags: int,
    values: int,
    work: NDArray[np.int64],
    points: NDArray[np.int16],
    gift_left: NDArray[np.int8],
    gift_right: NDArray[np.int8],
    count: NDArray[np.int8],
) -> None:
    """`exchange_of` for rows of hands as masks of RULES.md §1."""
    prepare(work, flags, values, 8, 1)
    nothing = np.empty((0, 0), np.int16)
    result = np.empty(4, np.int64)
    for i in range(own.shape[0]):
        exchange_of(ranked(own[i]), ranked(left[i]), ranked(right[i]), nothing, work, result)
        points[i] = result[POINTS]
        gift_left[i] = result[GIFT_LEFT]
        gift_right[i] = result[GIFT_RIGHT]
        count[i] = result[COUNT]


def checked_declarer(declarer: SupportsIndex) -> int:
    """A seat 0–2; raises DealError for anything else."""
    seat = checked_int(declarer, "declarer")
    if seat not in SEATS:
        raise DealError(
            f"declarer must be 0 forehand, 1 middlehand or 2 rearhand, got {quote(seat)}"
        )
    return seat


def best_exchange_batch(
    deal_ids: ArrayLike,
    *,
    declarer: int = 0,
    rules: str | Path | Rules = "mil",
    threads: int | None = None,
) -> Exchanges:
    """The best double-dummy exchange of many deals, given by their numbers (RULES.md §1).

    The seat ``declarer`` (0 forehand, 1 middlehand, 2 rearhand) takes the talon, gives one of his
    ten cards to his left and another to his right, and leads to the first trick. Each of the 90
    ways is valued with best play when all cards are known: he maximises his points (cards and
    marriages), both defenders together minimise them.

    Returns `Exchanges`: ``points`` int16[n], ``gift_left`` and ``gift_right`` int8[n] (card
    indices; of equally good pairs the one of the lowest indices, left first), ``count`` int8[n]
    (how many of the 90 reach the points). Raises DealError for what is no deal number or seat,
    RulesError for unknown rules, UsageError for threads out of range.

    >>> best_exchange_batch([688907321587])
    Exchanges(points=array([85], dtype=int16), gift_left=array([20], dtype=int8), \
gift_right=array([19], dtype=int8), count=array([1], dtype=int8))
    """
    seat = checked_declarer(declarer)
    array = packed(load(rules))
    flags, values = play_flags(array), play_values(array)
    n_threads = checked_threads(threads)
    numbers = np.atleast_1d(np.asarray(deal_ids))
    masks_of_deals(numbers[:0])
    for start in range(0, len(numbers), 1 << 16):  # all are deals, before the work begins
        masks_of_deals(numbers[start : start + (1 << 16)])
    size = len(numbers)
    found = Exchanges(np.empty(size, np.int16), *(np.empty(size, np.int8) for _ in range(3)))

    def some(start: int, end: int, work: NDArray[np.int64]) -> None:
        masks = masks_of_deals(numbers[start:end])
        own, left, right = (masks[(seat + turn) % 3] for turn in range(3))
        exchange_rows(
            own | masks.talon, left, right, flags, values, work,
            found.points[start:end], found.gift_left[start:end], found.gift_right[start:end],
            found.count[start:end],
        )  # fmt: skip

    some(0, 0, new_workspace(1))  # compiles, before any thread starts
    in_chunks(size, _CHUNK, n_threads, some)
    return found


@dataclass(frozen=True, slots=True)
class Exchange:
    """The best exchange of one deal, and the value of all 90."""

    deal: Deal
    declarer: int
    points: int
    """The declarer's points with the best gifts and best play."""
    gift_left: int
    """The card for his left, an index 0–23; of equally good pairs that of the lowest indices."""
    gift_right: int
    count: int
    """How many of the 90 pairs reach these points."""
    values: dict[tuple[int, int], int]
    """The points of every pair (card for his left, card for his right)."""

    @property
    def hands(self) -> tuple[int, int, int]:
        """The masks by seat (forehand first) after the best gifts, 8 cards each."""
        return hands_after(self.deal, self.declarer, self.gift_left, self.gift_right)

    @property
    def best(self) -> tuple[tuple[int, int], ...]:
        """All pairs that reach the points."""
        return tuple(pair for pair, value in self.values.items() if value == self.points)

    def __str__(self) -> str:
        """One line for people."""
        left, right = format_card(self.gift_left), format_card(self.gift_right)
        return (
            f"{SEAT_NAMES[self.declarer]} gives {left} to his left and {right} to his right: "
            f"{self.points} points double dummy ({self.count} of {N_GIFTS} pairs)"
        )


def hands_after(deal: Deal, declarer: int, left: int, right: int) -> tuple[int, int, int]:
    """The masks by seat after the declarer took the talon and gave two cards; raises DealError.

    >>> [mask.bit_count() for mask in hands_after(Deal.from_id(0), 0, 21, 22)]
    [8, 8, 8]
    """
    seat = checked_declarer(declarer)
    hands = list(deal.hand_masks)
    hands[seat] |= deal.talon_mask
    for turn, card in ((1, left), (2, right)):
        index = checked_int(card, "gift")
        if not 0 <= index < 24 or not hands[seat] >> index & 1:
            name = format_card(index) if 0 <= index < 24 else quote(index)
            raise DealError(f"gift {name} is not among the declarer's cards")
        hands[seat] ^= 1 << index
        hands[(seat + turn) % 3] |= 1 << index
    first, second, third = hands
    return first, second, third


def best_exchange(
    deal: Deal | SupportsIndex, *, declarer: int = 0, rules: str | Path | Rules = "mil"
) -> Exchange:
    """The best double-dummy exchange of one deal, with the exact value of all 90 pairs.

    ``deal`` is a `Deal` or its number; ``declarer`` the seat that takes the talon, gives one
    card to each side and leads. Double dummy: all cards known to all, both defenders together
    against him. Raises DealError for what is no deal or seat, RulesError for unknown rules.

    >>> print(best_exchange(Deal.from_id(688907321587)))
    forehand gives QH to his left and JH to his right: 85 points double dummy (1 of 90 pairs)
    """
    seat = checked_declarer(declarer)
    known = deal if isinstance(deal, Deal) else Deal.from_id(deal)
    array = packed(load(rules))
    work = new_workspace()
    prepare(work, play_flags(array), play_values(array), 8, 1)
    hands = known.hand_masks
    ten = hands[seat] | known.talon_mask
    left, right = hands[(seat + 1) % 3], hands[(seat + 2) % 3]
    every = np.full((10, 10), -1, np.int16)
    result = np.empty(4, np.int64)
    exchange_of(ranked(ten), ranked(left), ranked(right), every, work, result)
    cards = [card for card in range(24) if ten >> card & 1]
    values = {
        (one, other): int(every[i, j])
        for i, one in enumerate(cards)
        for j, other in enumerate(cards)
        if i != j
    }
    points, gift_left, gift_right, count = (int(each) for each in result)
    return Exchange(known, seat, points, gift_left, gift_right, count, values)


__all__ = [
    "Exchange",
    "Exchanges",
    "best_exchange",
    "best_exchange_batch",
    "checked_declarer",
    "exchange_of",
    "exchange_rows",
    "hands_after",
]
