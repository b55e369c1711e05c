"""Tables of card combinations: all hands in the order of their ranks, and ranks by half a mask.

The colexicographic rank of a set of cards (RULES.md §1) orders sets of one size as their masks
order as numbers. So the table of all sets of 7 among 24 cards is simply all such masks, ascending;
and those among the first 17 or 10 cards are its beginning: one table serves all three hands.

Built by NumPy at first use in some 10 ms, and given to kernels as arguments: a global array would
be frozen into the code of each kernel, and into its cache.
"""

from __future__ import annotations

import functools
import itertools
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from milsim.cards import N_CARDS
from milsim.deals import HAND_CARDS

N_HANDS: Final = comb(24, 7)  # 346,104
N_COMPLETIONS: Final = comb(17, 7) * comb(10, 7)  # 2,333,760: deals with a given forehand
N_REARHANDS: Final = comb(10, 7)  # 120: deals with given forehand and middlehand

HALF_BITS: Final = 12
HALF_MASK: Final = (1 << HALF_BITS) - 1


def subset_masks(n: int, k: int) -> NDArray[np.int32]:
    """All sets of k of the first n cards as masks, ascending: int32 of length C(n, k). n ≤ 24.

    >>> subset_masks(4, 3).tolist()
    [7, 11, 13, 14]
    """
    # rows[j]: the sets of j of the cards so far. Those with the newest card follow all others.
    rows = [np.zeros(1, np.int32)] + [np.zeros(0, np.int32)] * k
    for card in range(n):
        rows[1:] = [
            np.concatenate([without, fewer | np.int32(1 << card)])
            for fewer, without in itertools.pairwise(rows)
        ]
    return rows[k]


@functools.cache
def kernel_hands() -> NDArray[np.int32]:
    """The masks of all 346,104 hands by rank, as kernels take it. Never write into it.

    (A read-only array is another type to numba: kernels would be compiled once more.)

    >>> kernel_hands()[:2].tolist()
    [127, 191]
    """
    return subset_masks(N_CARDS, HAND_CARDS)


def hand_masks_table() -> NDArray[np.int32]:
    """The masks of all 346,104 hands of 7 cards by colexicographic rank, read-only.

    >>> table = hand_masks_table()
    >>> table.shape, table.dtype, int(table[-1])
    ((346104,), dtype('int32'), 16646144)
    """
    view = kernel_hands().view()
    view.flags.writeable = False
    return view


@functools.cache
def kernel_ranks() -> NDArray[np.int32]:
    """What half a mask adds to the rank of a set of cards; int32 of length 14 · 4096.

    The first 4096 entries are for the lower 12 cards; of the next 13 blocks of 4096, block j is for
    the upper 12 cards above j lower ones. `milsim.dealing.sampling.rank_of` reads it.

    >>> int(kernel_ranks()[0b111]), int(kernel_ranks()[0b1011])
    (0, 1)
    """
    blocks = []
    for offset, below in [(0, 0), *((HALF_BITS, lower) for lower in range(HALF_BITS + 1))]:
        block = np.zeros(1, np.int32)
        sizes = np.zeros(1, np.int64)
        for place in range(HALF_BITS):
            binomials = np.array([comb(offset + place, size) for size in range(2 * HALF_BITS + 1)])
            added = binomials[below + sizes + 1].astype(np.int32)
            block = np.concatenate([block, block + added])
            sizes = np.concatenate([sizes, sizes + 1])
        blocks.append(block)
    return np.concatenate(blocks)


__all__ = [
    "HALF_BITS",
    "HALF_MASK",
    "N_COMPLETIONS",
    "N_HANDS",
    "N_REARHANDS",
    "hand_masks_table",
    "kernel_hands",
    "kernel_ranks",
    "subset_masks",
]
