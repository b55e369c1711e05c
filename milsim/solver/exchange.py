"""The best exchange: which two of his ten cards the declarer gives away, all cards known.

There are 90 ways: a card for his left, another for his right. Their positions differ in who holds
two cards only, so all share one table: once a gift is played it does not matter who held it, and
the key of a position names the gifts that are left and nothing else (`milsim.solver.table`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount, word_of
from milsim.cards import checked_int, format_card
from milsim.dealing import masks_of_deals
from milsim.dealing.sampling import numbers_of_deals
from milsim.deals import SEAT_NAMES, SEATS, Deal
from milsim.errors import DealError, quote
from milsim.rules import Rules, load, packed
from milsim.solver.ranked import points_of, ranked, suit_of, unranked
from milsim.solver.root import first_guess
from milsim.solver.search import HUGE, search
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
from milsim.solver.threads import in_chunks
from milsim.threads import checked_threads
from milsim.tricks import play_flags, play_values, without_marriages

N_GIFTS = 90
_CHUNK = 16  # deals a chunk: 1 to 4 ms each
# Rows of a result.
POINTS, GIFT_LEFT, GIFT_RIGHT, COUNT = range(4)


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
def _order(
    own: int, left: int, right: int, cards: NDArray[np.int64], pairs: NDArray[np.int64],
    work: NDArray[np.int64],
) -> None:  # fmt: skip
    """All 90 pairs, 10·left + right by place in ``cards``, the most promising first.

    By a guess of the value after them, less what the cards are worth, less for long suits: a void
    is worth having. A good order finds the best value early; all the rest only fail to reach it.
    """
    ranks = np.empty(N_GIFTS, np.int64)
    filled = 0
    for i in range(10):
        for j in range(10):
            if i == j:
                continue
            one = word_of(cards[i])
            other = word_of(cards[j])
            lengths = popcount(own & suit_of(one)) + popcount(own & suit_of(other))
            guess = first_guess(own ^ one ^ other, left | one, right | other, work)
            rank = 2 * guess - 4 * points_of(one | other) - 6 * lengths
            at = filled
            while at > 0 and ranks[at - 1] < rank:
                ranks[at] = ranks[at - 1]
                pairs[at] = pairs[at - 1]
                at -= 1
            ranks[at] = rank
            pairs[at] = 10 * i + j
            filled += 1


@kernel
def exchange_rows(
    rows: NDArray[np.int64],
    flags: int,
    values: int,
    work: NDArray[np.int64],
    every: NDArray[np.int16],
    result: NDArray[np.int64],
) -> None:
    """The best of the 90 exchanges of deals.

    ``rows``, int64[3, n]: the declarer's ten cards and the seven of his left and right, as masks of
    RULES.md §1. Fills ``result``, int64[4, n]: points, the two gifts (card indices, the lowest of
    equally good pairs), how many pairs reach the points. If ``every``, int16[n, 10, 10], has rows,
    it gets the exact value of each pair by place in the hand (lowest index first), left before
    right; else a pair is left as soon as it cannot reach the best so far.
    """
    prepare(work, flags, values, word_of(8), word_of(1))  # words: one compiled version of each
    cards = np.empty(10, np.int64)
    pairs = np.empty(N_GIFTS, np.int64)
    for row in range(rows.shape[1]):
        next_deal(work, word_of(0))
        own = ranked(rows[0, row])
        rest = rows[0, row]
        for i in range(10):
            cards[i] = ranked(rest & -rest)
            rest &= rest - 1
        _order(own, ranked(rows[1, row]), ranked(rows[2, row]), cards, pairs, work)
        best = -1
        count = 0
        chosen = N_GIFTS + 10
        for each in range(N_GIFTS):
            pair = word_of(pairs[each])
            i = pair // 10
            j = pair - 10 * i
            one = word_of(cards[i])
            other = word_of(cards[j])
            # The eight bits of the tag: 1 to 10 for a gift that is left, on each side.
            work[GIFT_A] = one
            work[TAG_A] = i + 1 << TAG_SHIFT
            work[GIFT_B] = other
            work[TAG_B] = j + 1 << TAG_SHIFT + 4
            hand = own ^ one ^ other
            left = ranked(rows[1, row]) | one
            right = ranked(rows[2, row]) | other
            lower = 0
            upper = HUGE
            need = best if best >= 0 else first_guess(hand, left, right, work)
            need = max(need, 1)
            step = 4
            while lower < upper and (upper >= best or every.shape[0] != 0):
                value = search(hand, left, right, 0, 0, need, work)
                if value >= need:
                    lower = value
                else:
                    upper = value
                if upper == HUGE:
                    # Most pairs that reach the best so far do just that.
                    need = lower + 1 if lower == best else lower + step
                    step *= 2
                elif lower == 0:
                    need = upper - step + 1
                    step *= 2
                else:
                    need = (lower + upper + 1) // 2
                need = max(lower + 1, min(need, upper))
            if every.shape[0] != 0:
                every[row, i, j] = lower
            if lower < upper:
                continue
            if lower > best:
                best = lower
                count = 0
                chosen = pair
            if lower == best:
                count += 1
                chosen = min(chosen, pair)
        result[POINTS, row] = best
        result[GIFT_LEFT, row] = lowest_bit_index(unranked(cards[chosen // 10]))
        result[GIFT_RIGHT, row] = lowest_bit_index(unranked(cards[chosen % 10]))
        result[COUNT, row] = count


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
    undeclarable: int = 0,
    threads: int | None = None,
) -> Exchanges:
    """The best double-dummy exchange of many deals, given by their numbers (RULES.md §1).

    The seat ``declarer`` (0 forehand, 1 middlehand, 2 rearhand) takes the talon, gives one of his
    ten cards to his left and another to his right, and leads to the first trick. Each of the 90
    ways is valued with best play when all cards are known: he maximises his points (cards and
    marriages), both defenders together minimise them. ``undeclarable`` is a mask of suits (bit i =
    suit i) whose marriages nobody can declare, for counterfactuals.

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
    flags, values = without_marriages(play_flags(array), undeclarable), play_values(array)
    n_threads = checked_threads(threads)
    numbers = numbers_of_deals(deal_ids)  # all are deals, before the work begins
    size = len(numbers)
    found = Exchanges(np.empty(size, np.int16), *(np.empty(size, np.int8) for _ in range(3)))
    nothing = np.empty((0, 0, 0), np.int16)

    def some(start: int, end: int, work: NDArray[np.int64]) -> None:
        masks = masks_of_deals(numbers[start:end])
        rows = np.array([masks[(seat + turn) % 3] for turn in range(3)])
        rows[0] |= masks.talon
        result = np.empty((4, end - start), np.int64)
        exchange_rows(rows, flags, values, work, nothing, result)
        found.points[start:end] = result[POINTS]
        found.gift_left[start:end] = result[GIFT_LEFT]
        found.gift_right[start:end] = result[GIFT_RIGHT]
        found.count[start:end] = result[COUNT]

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
    gifts = checked_int(left, "gift"), checked_int(right, "gift")
    for turn, index in enumerate(gifts, 1):
        if turn == 2 and index == gifts[0]:
            raise DealError(f"gift {format_card(index)} is given twice: gifts are two cards")
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
    hands = known.hand_masks
    ten = hands[seat] | known.talon_mask
    rows = np.array([[ten], [hands[(seat + 1) % 3]], [hands[(seat + 2) % 3]]])
    every = np.zeros((1, 10, 10), np.int16)
    result = np.empty((4, 1), np.int64)
    exchange_rows(rows, play_flags(array), play_values(array), work, every, result)
    cards = [card for card in range(24) if ten >> card & 1]
    values = {
        (one, other): int(every[0, i, j])
        for i, one in enumerate(cards)
        for j, other in enumerate(cards)
        if i != j
    }
    points, gift_left, gift_right, count = (int(each) for each in result[:, 0])
    return Exchange(known, seat, points, gift_left, gift_right, count, values)


__all__ = [
    "Exchange",
    "Exchanges",
    "best_exchange",
    "best_exchange_batch",
    "checked_declarer",
    "exchange_rows",
    "hands_after",
]
