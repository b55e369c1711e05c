"""Deals under constraints, without rejection: a numbered space of all deals that fit.

A space holds the deals in which one seat's hand is among some hands, and known cards lie where
they are known to lie. Its deals are numbered 0 … count − 1 by a bijection, so a random one is one
exactly uniform number, as cheap for a rare hand as for any.

The numbering: the constrained seat's hand first (forehand, if no seat is constrained) in the order
of hand ranks, then the other two hands, each over the cards that are left. The deals of the space
without constraints have their deal numbers, hence deal i of a seed is the same one in it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from math import comb
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from milsim._jit import kernel
from milsim.bits import deposit, multiply_high, word_of
from milsim.cards import ALL_CARDS, CardSet, checked_mask, format_card
from milsim.dealing.sampling import (
    BLOCK,
    checked_attempt,
    checked_count,
    checked_range,
    checked_seed,
    deal_number_of,
    empty_numbers,
    masks_of_deals,
    rank_of,
)
from milsim.dealing.tables import N_COMPLETIONS, N_HANDS, kernel_hands, kernel_ranks, subset_masks
from milsim.deals import FOREHAND, HAND_CARDS, N_DEALS, PLACE_CARDS, PLACES, SEAT_NAMES, SEATS
from milsim.errors import DealError, NotationError, UsageError, quote
from milsim.rng import DEAL_STREAM, signed_word, stream_of, uniform_below
from milsim.where import MARRIAGE_VALUES, Where

# The words of a packed space's header.
COUNT = 0  # deals in the space
SEAT = 1  # whose hand comes first
PER_FIRST, PER_FIRST_RECIPROCAL = 2, 3  # deals for each first hand
PER_SECOND, PER_SECOND_RECIPROCAL = 4, 5  # deals for each first and second hand
FREE = 6  # cards not known to lie somewhere
SECOND_KNOWN, SECOND_OFFSET = 7, 8  # known cards; where the patterns of the others begin
THIRD_KNOWN, THIRD_OFFSET = 9, 10
IS_BLOCK = 11  # 1: all completions of each first hand, which is forehand's
HEADER_WORDS = 12

# After the first hand at most 17 cards are left, of which a seat gets at most 7.
_MAX_LEFT = 17


class PackedSpace(NamedTuple):
    """A space as kernels take it: these two arrays."""

    header: NDArray[np.int64]
    """int64[12], the words named above."""
    hands: NDArray[np.int32]
    """The first hands as masks, and behind them the patterns of the others."""


@kernel(inline=True)
def _quotient(number: int, reciprocal: int) -> int:
    """number // d by a multiplication: exact for number < 2^40 and d < 2^22 (see `_reciprocal`)."""
    return multiply_high(number << 1, reciprocal)


def _reciprocal(divisor: int) -> int:
    # R = ⌊2^63 / d⌋ + 1 exceeds 2^63 / d by at most 1, so number·R / 2^63 exceeds number / d by
    # less than 2^40 / 2^63 < 1/d: never enough to reach the next whole number.
    return signed_word((1 << 63) // divisor + 1)


@kernel(inline=True)
def space_masks(
    k: int, header: NDArray[np.int64], hands: NDArray[np.int32]
) -> tuple[int, int, int, int]:
    """The k-th deal of a packed space: masks of forehand, middlehand, rearhand and talon.

    >>> space_masks(0, *DealSpace().packed())
    (127, 16256, 2080768, 14680064)
    """
    at = _quotient(k, header[PER_FIRST_RECIPROCAL])
    rest = k - at * header[PER_FIRST]
    first = word_of(hands[at])
    left = header[FREE] & ~first
    at = _quotient(rest, header[PER_SECOND_RECIPROCAL])
    rest -= at * header[PER_SECOND]
    second = deposit(word_of(hands[header[SECOND_OFFSET] + at]), left)
    left ^= second
    third = deposit(word_of(hands[header[THIRD_OFFSET] + rest]), left)
    second |= header[SECOND_KNOWN]
    third |= header[THIRD_KNOWN]
    talon = ALL_CARDS ^ first ^ second ^ third
    if header[SEAT] == 0:
        return first, second, third, talon
    if header[SEAT] == 1:
        return second, first, third, talon
    return second, third, first, talon


@kernel
def space_deal(
    seed: int, index: int, attempt: int, header: NDArray[np.int64], hands: NDArray[np.int32]
) -> tuple[int, int, int, int]:
    """Deal `index` of a seed (a signed word) in a packed space, at its redeal `attempt`: 4 masks.

    For kernels that play deals: one call, constrained or not. The masks are forehand's,
    middlehand's, rearhand's and the talon's.

    >>> space = DealSpace(where="aces=4")
    >>> forehand = space_deal(1, 0, 0, *space.packed())[0]
    >>> CardSet(forehand).points >= 44
    True
    """
    k = uniform_below(seed, index, stream_of(DEAL_STREAM, attempt), header[COUNT])
    return space_masks(k, header, hands)


@kernel(inline=True)
def _number(
    k: int, header: NDArray[np.int64], hands: NDArray[np.int32], ranks: NDArray[np.int32]
) -> int:
    if header[IS_BLOCK]:
        at = _quotient(k, header[PER_FIRST_RECIPROCAL])
        return rank_of(word_of(hands[at]), ranks) * N_COMPLETIONS + k - at * N_COMPLETIONS
    forehand, middlehand, rearhand, _ = space_masks(k, header, hands)
    return deal_number_of(forehand, middlehand, rearhand, ranks)


@kernel
def fill_space_sample(
    seed: int,
    start: int,
    attempt: int,
    header: NDArray[np.int64],
    hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    numbers: NDArray[np.int64],
) -> None:
    """Deals start, start + 1, … of a seed in a packed space, into an array of deal numbers."""
    stream = stream_of(DEAL_STREAM, attempt)
    count = header[COUNT]
    for begin in range(0, numbers.shape[0], BLOCK):
        end = min(begin + BLOCK, numbers.shape[0])
        for i in range(begin, end):
            numbers[i] = uniform_below(seed, start + i, stream, count)
        if count != N_DEALS:
            for i in range(begin, end):
                numbers[i] = _number(numbers[i], header, hands, ranks)


@kernel
def fill_space_masks(
    seed: int,
    start: int,
    attempt: int,
    header: NDArray[np.int64],
    hands: NDArray[np.int32],
    forehand: NDArray[np.int64],
    middlehand: NDArray[np.int64],
    rearhand: NDArray[np.int64],
    talon: NDArray[np.int64],
) -> None:
    """Deals start, start + 1, … of a seed in a packed space, into four arrays of masks.

    Cheaper than as many calls of `space_deal`, which each wait for the memory of the hands.
    """
    stream = stream_of(DEAL_STREAM, attempt)
    numbers = np.empty(BLOCK, np.int64)
    for begin in range(0, forehand.shape[0], BLOCK):
        count = min(BLOCK, forehand.shape[0] - begin)
        for i in range(count):
            numbers[i] = uniform_below(seed, start + begin + i, stream, header[COUNT])
        for i in range(count):
            deal = space_masks(numbers[i], header, hands)
            at = begin + i
            forehand[at], middlehand[at], rearhand[at], talon[at] = deal


@kernel
def fill_space_numbers(
    start: int,
    header: NDArray[np.int64],
    hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    numbers: NDArray[np.int64],
) -> None:
    """Deals start, start + 1, … of the space itself, into an array of deal numbers."""
    for i in range(numbers.shape[0]):
        numbers[i] = _number(start + i, header, hands, ranks)


# ------------------------------------------------------------------------------------ the border


class DealSpace:
    """All deals that fit some constraints, numbered 0 … count − 1, each equally likely.

    `where` (text or Where) and `ranks` (colexicographic ranks of hands, whole numbers in any order)
    constrain the 7 cards of `seat` (0 forehand, 1 middlehand, 2 rearhand); both may be given.
    `forehand`, `middlehand`, `rearhand` and `talon` are cards (CardSet or mask) known to lie there.
    `marriage_values`, by suit, are those of the rules: what `marriage_points` in `where` means.

    Raises NotationError for a `where` that cannot be read; DealError when no deal fits, a known
    card is given to two places or too many to one; UsageError for a wrong seat.

    >>> space = DealSpace(where="marriages=H, aces>=2")
    >>> space.count
    12196229760
    >>> space.sample(2, seed=1).dtype
    dtype('uint64')
    >>> DealSpace(talon=CardSet.parse("AS AC AD")).count == 116280 * 3432
    True
    """

    def __init__(
        self,
        *,
        where: Where | str | None = None,
        ranks: ArrayLike | None = None,
        seat: SupportsIndex = FOREHAND,
        forehand: CardSet | SupportsIndex = 0,
        middlehand: CardSet | SupportsIndex = 0,
        rearhand: CardSet | SupportsIndex = 0,
        talon: CardSet | SupportsIndex = 0,
        marriage_values: Sequence[int] = MARRIAGE_VALUES,
    ) -> None:
        """Find the hands that fit, and pack the space."""
        if not isinstance(where, str | Where | None):
            raise NotationError(f"where: {quote(where)} is neither a text nor a Where")
        self.where = Where.parse(where) if isinstance(where, str) else where
        self.seat = checked_count(seat, "seat", len(SEATS))
        self.known = _checked_known(forehand, middlehand, rearhand, talon)
        self._packed = self._pack(self._first_hands(ranks, marriage_values))
        self.count = int(self._packed.header[COUNT])
        """How many deals fit."""

    def _first_hands(
        self, ranks: ArrayLike | None, marriage_values: Sequence[int]
    ) -> NDArray[np.int32]:
        """The masks of the constrained seat's possible hands, by rank."""
        hands = kernel_hands()
        if ranks is not None:
            hands = hands[_checked_ranks(ranks)]
        if self.where is not None:
            hands = hands[self.where.matches(hands, marriage_values=marriage_values)]
        if not len(hands):
            which = f"{str(self.where)!r}" if ranks is None else "the given ranks"
            raise DealError(f"no hand of {HAND_CARDS} cards fits {which}")
        own = self.known[self.seat]
        elsewhere = sum(self.known) - own
        if own or elsewhere:
            hands = hands[(hands & np.int32(own | elsewhere)) == own]
            if not len(hands):
                raise DealError(
                    f"no hand of {SEAT_NAMES[self.seat]} fits both the condition and the known "
                    f"cards {CardSet(own | elsewhere)}"
                )
        return hands

    def _pack(self, first_hands: NDArray[np.int32]) -> PackedSpace:
        others = [seat for seat in SEATS if seat != self.seat]
        known = [self.known[seat] for seat in others]
        sizes = [HAND_CARDS - mask.bit_count() for mask in known]
        talon_size = PLACE_CARDS[-1] - self.known[-1].bit_count()
        per_second = comb(sizes[1] + talon_size, sizes[1])
        per_first = comb(sum(sizes) + talon_size, sizes[0]) * per_second
        # Sets of few cards among fewer are the beginning of those among 17.
        second = subset_masks(_MAX_LEFT, sizes[0])[: per_first // per_second]
        third = subset_masks(_MAX_LEFT, sizes[1])[:per_second]
        header = np.zeros(HEADER_WORDS, np.int64)
        header[COUNT] = len(first_hands) * per_first
        header[SEAT] = self.seat
        header[PER_FIRST], header[PER_FIRST_RECIPROCAL] = per_first, _reciprocal(per_first)
        header[PER_SECOND], header[PER_SECOND_RECIPROCAL] = per_second, _reciprocal(per_second)
        header[FREE] = ALL_CARDS & ~sum(self.known)
        header[SECOND_KNOWN], header[SECOND_OFFSET] = known[0], len(first_hands)
        header[THIRD_KNOWN], header[THIRD_OFFSET] = known[1], len(first_hands) + len(second)
        header[IS_BLOCK] = self.seat == FOREHAND and per_first == N_COMPLETIONS
        return PackedSpace(header, np.concatenate([first_hands, second, third]))

    def packed(self) -> PackedSpace:
        """The two arrays (int64, int32) that `space_deal` and `space_masks` take. Not to change.

        >>> [array.dtype.name for array in DealSpace(where="aces=4").packed()]
        ['int64', 'int32']
        """
        return self._packed

    def number(self, k: SupportsIndex) -> int:
        """The deal number of the k-th deal of the space; raises UsageError unless 0 ≤ k < count.

        >>> DealSpace().number(1000)
        1000
        """
        place = checked_count(k, "k")
        if place >= self.count:
            raise UsageError(f"k must be below the space's count {self.count}, got {quote(place)}")
        return int(self.numbers(place, place + 1)[0])

    def numbers(self, start: SupportsIndex, stop: SupportsIndex) -> NDArray[np.uint64]:
        """The deal numbers of the deals start … stop − 1 of the space, as uint64.

        Raises UsageError unless 0 ≤ start ≤ stop ≤ count.

        >>> DealSpace().numbers(5, 8)
        array([5, 6, 7], dtype=uint64)
        """
        begin, end = checked_count(start, "start"), checked_count(stop, "stop")
        if not begin <= end <= self.count:
            raise UsageError(
                f"start and stop must be in order and at most {self.count}, got {begin} and {end}"
            )
        numbers = empty_numbers(end - begin)
        fill_space_numbers(begin, *self._packed, kernel_ranks(), numbers)
        return numbers.view(np.uint64)

    def enumerate(self, chunk: SupportsIndex = 1 << 16) -> Iterator[NDArray[np.uint64]]:
        """All deals of the space, as arrays of at most `chunk` deal numbers.

        >>> next(DealSpace().enumerate(chunk=3))
        array([0, 1, 2], dtype=uint64)
        """
        size = checked_count(chunk, "chunk")
        if not size:
            raise UsageError("chunk must be 1 or more")
        for start in range(0, self.count, size):
            yield self.numbers(start, min(start + size, self.count))

    def sample(
        self,
        n: SupportsIndex,
        *,
        seed: SupportsIndex,
        start: SupportsIndex = 0,
        attempt: SupportsIndex = 0,
    ) -> NDArray[np.uint64]:
        """Deals start … start + n − 1 of a seed: uint64 deal numbers, with replacement.

        Each is a pure function of (space, seed, index, attempt), `attempt` counting its redeals.
        Raises UsageError for a number out of its range (seed 0 … 2^64 − 1).

        >>> space = DealSpace(where="four_nines")
        >>> bool((space.sample(5, seed=7, start=2)[1:] == space.sample(4, seed=7, start=3)).all())
        True
        """
        count, begin = checked_range(n, start)
        numbers = empty_numbers(count)
        packed = (*self._packed, kernel_ranks())
        fill_space_sample(checked_seed(seed), begin, checked_attempt(attempt), *packed, numbers)
        return numbers.view(np.uint64)

    def __contains__(self, number: object) -> bool:
        """Whether the deal with this number fits."""
        if isinstance(number, bool) or not isinstance(number, SupportsIndex):
            return False
        index = operator.index(number)
        if not 0 <= index < N_DEALS:
            return False
        masks = [int(place[0]) for place in masks_of_deals([index])]
        if any(known & ~mask for known, mask in zip(self.known, masks, strict=True)):
            return False
        first_hands = self._packed.hands[: self._packed.header[SECOND_OFFSET]]
        at = np.searchsorted(first_hands, masks[self.seat])
        return bool(at < len(first_hands) and first_hands[at] == masks[self.seat])

    def __repr__(self) -> str:
        """What constrains the deals, and how many fit."""
        parts = [f"{self.count} deals"]
        if self.where is not None:
            parts.append(f"{SEAT_NAMES[self.seat]}: {self.where}")
        parts += [
            f"{CardSet(mask)} with {place}"
            for place, mask in zip(PLACES, self.known, strict=True)
            if mask
        ]
        return f"<DealSpace {'; '.join(parts)}>"


def _checked_known(*places: CardSet | SupportsIndex) -> tuple[int, int, int, int]:
    masks = [checked_mask(place) for place in places]
    seen = 0
    for place, mask, cards in zip(PLACES, masks, PLACE_CARDS, strict=True):
        if mask & seen:
            card = (mask & seen).bit_length() - 1
            holder = next(p for p, m in zip(PLACES, masks, strict=True) if m >> card & 1)
            raise DealError(f"card {format_card(card)} is given to {holder} and to {place}")
        if mask.bit_count() > cards:
            raise DealError(f"{place} is given {mask.bit_count()} cards, it has only {cards}")
        seen |= mask
    return masks[0], masks[1], masks[2], masks[3]


def _checked_ranks(ranks: ArrayLike) -> NDArray[np.int64]:
    given = np.atleast_1d(np.asarray(ranks))
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise DealError("ranks of hands must be whole numbers in one row")
    if given.size and not (given.min() >= 0 and given.max() < N_HANDS):
        raise DealError(f"ranks of hands are 0 to {N_HANDS - 1}")
    return np.unique(given).astype(np.int64)


def sample_deals(
    n: SupportsIndex,
    *,
    seed: SupportsIndex,
    start: SupportsIndex = 0,
    where: Where | str | None = None,
) -> NDArray[np.uint64]:
    """Deals start … start + n − 1 of a seed as deal numbers: uint64 of length n.

    `where` (text as `milsim.where` reads it, or a Where) constrains forehand's 7 cards. Each deal
    is a pure function of (seed, where, index): parts joined are the same as the whole.

    Raises UsageError when n, start or seed (0 … 2^64 − 1) is no whole number in its range;
    NotationError for a `where` that cannot be read, DealError for one that no hand fits.

    >>> sample_deals(3, seed=1)
    array([219398604230, 225947704578, 247070888599], dtype=uint64)
    """
    return DealSpace(where=where).sample(n, seed=seed, start=start)


__all__ = [
    "DealSpace",
    "PackedSpace",
    "fill_space_masks",
    "fill_space_numbers",
    "fill_space_sample",
    "sample_deals",
    "space_deal",
    "space_masks",
]
