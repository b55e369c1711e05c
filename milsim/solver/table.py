"""The workspace of a search: its constants, its counter, and the transposition table, in one array.

An entry is one word. Within one deal the owner of every card is fixed, so a position before a trick
is known by the cards left (24 bits), the leader (2) and the trump (3): 29 bits. With 8 bits that
tell deals apart they are the key; the rest of the word holds bounds.

    bits  0–36  key: cards left, leader, trump, tag
         37–46  lower bound of the declarer's future points
         47–56  upper bound, `NO_BOUND` (1023) for none

Bounds saturate: a lower bound above 1023 is kept as 1023, an upper bound of 1023 or more as none.
Both stay true, so rules with huge marriages only search more. An empty entry (0) is no position,
for a position has cards left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import multiply_low, shift_right
from milsim.tricks import declaring_tricks, undeclarable_queens

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Places in a workspace.
NODES = 0  # positions searched
FLAGS = 1
VALUES = 2
SHIFT = 3  # 64 − log2(entries)
TAG = 4  # of this deal, in place (bits 29–36)
GIFT_A, TAG_A, GIFT_B, TAG_B = (
    5,
    6,
    7,
    8,
)  # a card and the part of the tag that holds while it is left
OPEN = 16  # by cards a hand: if a lead may declare in this trick −1, but for queens that never do
LATER = 32  # the same for this trick or a later one; else 0
SUMS = 48  # by set of suits: the values of their marriages together
MOST = 64  # by set of suits: the greatest of them
TABLE_START = 128

NO_BOUND = 1023
_KEY_BITS = 37
_KEY = (1 << _KEY_BITS) - 1
TAG_SHIFT = 29
_MULTIPLIER = -7046029254386353131  # 2^64 / golden ratio, odd (Knuth, TAOCP 6.4)
DEFAULT_BITS = 14
N_TAGS = 256


@kernel
def prepare(
    work: NDArray[np.int64], flags: int, values: int, cards: int, trick_number: int
) -> None:
    """Write the constants of a search: rules, and ``cards`` a hand at trick ``trick_number``."""
    work[FLAGS] = flags
    work[VALUES] = values
    # The queens of RULES.md §1 whose marriages count nothing, as queens of `milsim.solver.ranked`.
    queens = undeclarable_queens(flags)
    silent = (queens >> 2 | queens >> 7 | queens >> 12 | queens >> 17) & 15
    silent <<= 8
    for left in range(9):
        window = declaring_tricks(trick_number + cards - left, flags) if left > 0 else 0
        window &= ~silent
        work[OPEN + left] = window
        work[LATER + left] = window | (work[LATER + left - 1] if left > 0 else 0)
    for suits in range(16):
        total = 0
        most = 0
        for suit in range(4):
            if suits >> suit & 1:
                value = values >> 10 * suit & 1023
                total += value
                most = max(most, value)
        work[SUMS + suits] = total
        work[MOST + suits] = most


@kernel
def next_deal(work: NDArray[np.int64], number: int) -> None:
    """Make the table one of the ``number``-th deal (from 0): what it holds of others is not found.

    The tags come round, so the table is emptied each time they do.
    """
    tag = number & N_TAGS - 1
    if tag == 0:
        work[TABLE_START:] = 0
    work[TAG] = tag << TAG_SHIFT
    work[GIFT_A] = 0
    work[GIFT_B] = 0


def new_workspace(bits: int = DEFAULT_BITS) -> NDArray[np.int64]:
    """An empty workspace with a table of 2^bits entries (1 ≤ bits ≤ 30), int64.

    >>> new_workspace(4).shape
    (144,)
    """
    work = np.zeros(TABLE_START + (1 << bits), np.int64)
    work[SHIFT] = 64 - bits
    return work


@kernel(inline=True)
def key_of(cards: int, leader: int, trumps: int, work: NDArray[np.int64]) -> int:
    """The key of a position before a trick.

    >>> hex(key_of(0xFFFFFF, 1, 0x444444, new_workspace(4)))
    '0x11ffffff'
    """
    # One of 0, 1, 2, 4, 8 into three bits: 0, 1, 2, 4, 7.
    trump = (trumps & 15) - (trumps >> 3 & 1)
    tag = int(work[TAG])
    tag |= work[TAG_A] if work[GIFT_A] & cards != 0 else 0
    tag |= work[TAG_B] if work[GIFT_B] & cards != 0 else 0
    return cards | leader << 24 | trump << 26 | tag


@kernel(inline=True)
def slot_of(key: int, work: NDArray[np.int64]) -> int:
    """The place of a key in the workspace.

    >>> TABLE_START <= slot_of(12345, new_workspace(4)) < TABLE_START + 16
    True
    """
    return TABLE_START + shift_right(multiply_low(key, _MULTIPLIER), work[SHIFT])


@kernel(inline=True)
def entry_of(key: int, lower: int, upper: int) -> int:
    """The word of an entry.

    >>> word = entry_of(5, 7, 2000)
    >>> key_in(word), lower_in(word), upper_in(word) > 2000
    (5, 7, True)
    """
    lower = min(max(lower, 0), NO_BOUND)
    upper = min(upper, NO_BOUND)
    return key | lower << 37 | upper << 47


@kernel(inline=True)
def key_in(word: int) -> int:
    """The key of an entry."""
    return word & _KEY


@kernel(inline=True)
def lower_in(word: int) -> int:
    """The lower bound in an entry."""
    return word >> 37 & 1023


@kernel(inline=True)
def upper_in(word: int) -> int:
    """The upper bound in an entry; huge for none."""
    upper = word >> 47 & 1023
    return upper if upper != NO_BOUND else 1 << 20


__all__ = [
    "DEFAULT_BITS",
    "FLAGS",
    "GIFT_A",
    "GIFT_B",
    "LATER",
    "MOST",
    "NODES",
    "OPEN",
    "SHIFT",
    "SUMS",
    "TABLE_START",
    "TAG",
    "TAG_A",
    "TAG_B",
    "TAG_SHIFT",
    "VALUES",
    "entry_of",
    "key_in",
    "key_of",
    "lower_in",
    "new_workspace",
    "next_deal",
    "prepare",
    "slot_of",
    "upper_in",
]
