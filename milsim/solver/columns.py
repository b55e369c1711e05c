"""Positions before a trick as columns of numbers: read, made equally long, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import ALL_CARDS, NO_TRUMP, CardSet, format_card
from milsim.dealing.sampling import whole_numbers
from milsim.errors import DealError, quote

_SEATS = ("declarer", "left", "right")
FIT, UNKNOWN, SHARED, UNEQUAL, EMPTY, LEADER, TRUMP = range(7)


@kernel
def position_fault(declarer: int, left: int, right: int, leader: int, trump: int) -> int:
    """What is wrong with a position before a trick: FIT (0), or one of the other codes."""
    if (declarer | left | right) & ~ALL_CARDS != 0:
        return UNKNOWN
    if declarer & left | (declarer | left) & right != 0:
        return SHARED
    count = popcount(declarer)
    if popcount(left) != count or popcount(right) != count:
        return UNEQUAL
    if count == 0 or count > 8:
        return EMPTY
    if leader < 0 or leader > 2:
        return LEADER
    return TRUMP if trump < 0 or trump > NO_TRUMP else FIT


@kernel
def first_fault(
    rows: NDArray[np.int64],
) -> int:
    """The index of the first column of int64[5, n] that is no position, or −1.

    Its rows: the hands of the declarer, his left, his right; leader; trump.
    """
    for i in range(rows.shape[1]):
        fault = position_fault(rows[0, i], rows[1, i], rows[2, i], rows[3, i], rows[4, i])
        if fault != FIT:
            return i
    return -1


def _without_sets(values: Any) -> Any:
    """The masks of card sets; all else as it is."""
    if isinstance(values, CardSet):
        return values.mask
    if isinstance(values, np.ndarray) and (values.dtype != object or values.ndim == 0):
        return values
    if isinstance(values, list | tuple | np.ndarray) and any(
        isinstance(each, CardSet) for each in values
    ):
        return [each.mask if isinstance(each, CardSet) else each for each in values]
    return values


def columns_of(
    given: Sequence[tuple[str, Any]],
) -> list[NDArray[Any]]:
    """Integer arrays of one dimension and length; single numbers are repeated (without memory)."""
    arrays = []
    for name, values in given:
        array = whole_numbers(_without_sets(values), name)
        if array.ndim > 1:
            raise DealError(f"{name} must be one row of numbers, got shape {array.shape}")
        arrays.append(array)
    lengths = {len(array) for array in arrays if array.ndim}
    if len(lengths) > 1:
        told = ", ".join(
            f"{name} {len(array)}"
            for (name, _), array in zip(given, arrays, strict=True)
            if array.ndim
        )
        raise DealError(f"the arrays differ in length: {told}")
    size = lengths.pop() if lengths else 1
    return [np.broadcast_to(array, (size,)) for array in arrays]


def as_words(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Columns as int64[columns, n]; numbers beyond stay wrong, not wrapped."""
    words = np.empty((len(columns), len(columns[0])), np.int64)
    for row, column in zip(words, columns, strict=True):
        row[:] = np.minimum(column, 2**63 - 1) if column.dtype == np.uint64 else column
    return words


def fault_words(row: Sequence[int]) -> str:
    """Why a row (hands of declarer, left, right; leader; trump) is no position; empty if it is."""
    declarer, left, right, leader, trump = row
    hands = dict(zip(_SEATS, (declarer, left, right), strict=True))
    # Numbers beyond a word are as wrong as the greatest word.
    a, b, c, d, e = (max(min(number, 2**63 - 1), -(2**63)) for number in row)
    fault = position_fault(a, b, c, d, e)
    if fault == FIT:
        return ""
    if fault == UNKNOWN:
        name, mask = next((n, m) for n, m in hands.items() if m & ~ALL_CARDS)
        why = f"mask {quote(mask)} of {name} has bits outside the 24 cards"
    elif fault == SHARED:
        shared = declarer & left | (declarer | left) & right
        holders = [name for name, mask in hands.items() if mask & shared & -shared]
        card = format_card((shared & -shared).bit_length() - 1)
        why = f"{card} is in the hands of {' and '.join(holders)}"
    elif fault == UNEQUAL:
        counts = ", ".join(f"{name} {mask.bit_count()}" for name, mask in hands.items())
        why = f"hands have unequal counts of cards: {counts}"
    elif fault == EMPTY:
        why = f"hands have {declarer.bit_count()} cards, must have 1 to 8"
    elif fault == LEADER:
        why = f"leader must be 0 declarer, 1 his left or 2 his right, got {leader}"
    else:
        why = f"trump must be a suit 0 to 3, or 4 for none, got {quote(trump)}"
    return why


__all__ = ["as_words", "columns_of", "fault_words", "first_fault", "position_fault"]
