"""All ways to share out the unseen cards, in order, in parts of any size.

A hand of 7 cards has 2,333,760 completions (7, 7 and 3 of 17 cards), a hand of 10 has 3,432
layouts of the defenders (7 and 7 of 14): few enough to look at all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from milsim._jit import kernel
from milsim.bits import deposit, lowest_bit_index, popcount
from milsim.cards import CardSet, checked_mask
from milsim.dealing.sampling import checked_count, empty_numbers
from milsim.errors import DealError, UsageError, quote

MAX_GROUPS = 3


@kernel
def binomial(n: int, k: int) -> int:
    """C(n, k) for n ≤ 24.

    >>> binomial(17, 7)
    19448
    """
    if k < 0 or k > n:
        return 0
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


@kernel
def nth_subset(n: int, k: int, rank: int) -> int:
    """The set of k of n places with a colexicographic rank, as a mask. For beginnings: no table.

    >>> nth_subset(17, 7, 0), nth_subset(4, 3, 3)
    (127, 14)
    """
    mask = 0
    for place in range(n - 1, -1, -1):
        without = binomial(place, k)
        if k > 0 and rank >= without:
            rank -= without
            mask |= 1 << place
            k -= 1
    return mask


@kernel(inline=True)
def next_subset(mask: int) -> int:
    """The next larger mask with as many bits (Gosper's method). The mask must not be 0.

    >>> next_subset(0b0111), next_subset(0b1011)
    (11, 13)
    """
    ripple = mask + (mask & -mask)
    return ripple | (mask ^ ripple) >> (2 + lowest_bit_index(mask))


@kernel
def fill_completions(
    rest: int,
    first_size: int,
    second_size: int,
    start: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    third: NDArray[np.int64],
) -> None:
    """Ways start, start + 1, … to share out the cards of `rest`, into three arrays of masks.

    `first` gets `first_size` cards, `second` `second_size`, `third` the others. The number of a way
    is rank(first)·C(n − first_size, second_size) + rank(second among the cards left). The arrays
    must not reach beyond the last way.
    """
    n = popcount(rest)
    per_first = binomial(n - first_size, second_size)
    first_pattern = nth_subset(n, first_size, start // per_first)
    second_pattern = nth_subset(n - first_size, second_size, start % per_first)
    left = per_first - start % per_first
    count = first.shape[0]
    at = 0
    while at < count:
        first_mask = deposit(first_pattern, rest)
        unseen = rest ^ first_mask
        for _ in range(min(left, count - at)):
            second_mask = deposit(second_pattern, unseen)
            first[at] = first_mask
            second[at] = second_mask
            third[at] = unseen ^ second_mask
            at += 1
            if second_size > 0:
                second_pattern = next_subset(second_pattern)
        if at < count:
            first_pattern = next_subset(first_pattern)
            second_pattern = (1 << second_size) - 1
            left = per_first


def completion_count(rest: CardSet | SupportsIndex, sizes: Sequence[SupportsIndex]) -> int:
    """How many ways there are to share out the cards of a mask into groups of given sizes.

    Raises as `completions` does.

    >>> completion_count(0x1FFFF, (7, 7, 3)), completion_count(0x3FFF, (7, 7))
    (2333760, 3432)
    """
    mask = checked_mask(rest)
    n = mask.bit_count()
    checked = [checked_count(size, "size of a group", 25) for size in sizes]
    if not 1 <= len(checked) <= MAX_GROUPS:
        raise UsageError(f"cards are shared out into 1 to {MAX_GROUPS} groups, not {len(checked)}")
    if sum(checked) != n:
        raise DealError(f"groups of {' + '.join(map(str, checked))} cards do not make {n} cards")
    return comb(n, checked[0]) * (comb(n - checked[0], checked[1]) if len(checked) > 1 else 1)


def completions(
    rest: CardSet | SupportsIndex,
    sizes: Sequence[SupportsIndex],
    *,
    start: SupportsIndex = 0,
    count: SupportsIndex | None = None,
) -> tuple[NDArray[np.int64], ...]:
    """The ways to share out the cards of a mask: one int64 array of masks for each group.

    The ways are ordered by the first group, then the second, each by colexicographic rank. Without
    `count`, all ways from `start` on; else at most that many, so that parts of any size can be
    taken one after another. The completions of deals of a given forehand come in the order of their
    deal numbers: `start` is then the number less the first of that hand.

    Raises DealError when the sizes do not make the number of cards, UsageError for another number
    of groups than 1 to 3 and for a start beyond the end.

    >>> left, right = completions(0b1011, (1, 2))
    >>> left.tolist(), right.tolist()
    ([1, 2, 8], [10, 9, 3])
    """
    total = completion_count(rest, sizes)
    begin = checked_count(start, "start")
    if begin > total:
        raise UsageError(f"start {quote(begin)} is beyond the {total} ways to share out the cards")
    wanted = total - begin if count is None else min(checked_count(count, "count"), total - begin)
    groups = tuple(empty_numbers(wanted) for _ in range(MAX_GROUPS))
    padded = [int(size) for size in (*sizes, 0, 0)]
    if wanted:
        fill_completions(checked_mask(rest), padded[0], padded[1], begin, *groups)
    return groups[: len(sizes)]


__all__ = [
    "binomial",
    "completion_count",
    "completions",
    "fill_completions",
    "next_subset",
    "nth_subset",
]
