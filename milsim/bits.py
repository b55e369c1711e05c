"""Operations on 64-bit words that Python's integers lack: counting, finding and moving bits.

Words are int64 everywhere (one integer type in all kernels: mixtures turn into floats in numba):
a word is the *bit pattern*, so −1 has all 64 bits set. Inside a kernel each function is one or a
few machine instructions; in plain Python it is the obvious loop, with the same result. Where the
CPU lacks pdep and pext, or has them slow, kernels use a portable loop (`milsim._jit`).

Sources: Warren, Hacker's Delight, 2nd ed., 5-1 … 5-4, 7-4, 7-5, 8-2; Intel SDM (PDEP, PEXT).
"""

from __future__ import annotations

import operator
import sys
from typing import SupportsIndex

from milsim._jit import before_compiling, has_fast_deposit, jit_enabled

_ALL = (1 << 64) - 1


def _signed(word: int) -> int:
    """The int64 whose bit pattern is the low 64 bits of an integer."""
    word &= _ALL
    return word - (1 << 64) if word >> 63 else word


# --------------------------------------------------------------- plain Python: the specification


def word_of(value: SupportsIndex) -> int:
    """An integer of another width, as read from an int32 array, as a word: its type is int64.

    (`int` keeps int32 in a kernel, and `np.int64` is no `int` to a type checker.)

    >>> word_of(5)
    5
    """
    return operator.index(value)


def popcount(word: int) -> int:
    """The number of set bits, 0 … 64.

    >>> popcount(0b1011), popcount(-1)
    (3, 64)
    """
    return (int(word) & _ALL).bit_count()


def lowest_bit_index(word: int) -> int:
    """The index of the lowest set bit; 64 if there is none.

    >>> lowest_bit_index(0b1000), lowest_bit_index(0)
    (3, 64)
    """
    word = int(word) & _ALL
    return (word & -word).bit_length() - 1 if word else 64


def highest_bit_index(word: int) -> int:
    """The index of the highest set bit; −1 if there is none.

    >>> highest_bit_index(0b1010), highest_bit_index(0)
    (3, -1)
    """
    return (int(word) & _ALL).bit_length() - 1


def deposit(source: int, mask: int) -> int:
    """Spread the low bits of `source` to the places of the set bits of `mask`, in order (pdep).

    >>> bin(deposit(0b101, 0b11010))
    '0b10010'
    """
    source, mask, result = int(source) & _ALL, int(mask) & _ALL, 0
    while mask:
        lowest = mask & -mask
        if source & 1:
            result |= lowest
        source >>= 1
        mask ^= lowest
    return _signed(result)


def extract(source: int, mask: int) -> int:
    """Gather the bits of `source` at the set bits of `mask`, packed low, in order (pext).

    >>> bin(extract(0b10010, 0b11010))
    '0b101'
    """
    source, mask, result, place = int(source) & _ALL, int(mask) & _ALL, 0, 0
    while mask:
        lowest = mask & -mask
        if source & lowest:
            result |= 1 << place
        place += 1
        mask ^= lowest
    return _signed(result)


def select_bit(mask: int, n: int) -> int:
    """The index of the n-th lowest set bit (n from 0); 64 if there are not so many. 0 ≤ n < 64.

    >>> select_bit(0b11010, 0), select_bit(0b11010, 2), select_bit(0b11010, 3)
    (1, 4, 64)
    """
    return lowest_bit_index(deposit(1 << int(n), mask))


def multiply_high(a: int, b: int) -> int:
    """The high 64 bits of the 128-bit product of two words taken as unsigned.

    >>> multiply_high(1 << 62, 8), multiply_high(-1, -1)
    (2, -2)
    """
    return _signed((int(a) & _ALL) * (int(b) & _ALL) >> 64)


def multiply_low(a: int, b: int) -> int:
    """The low 64 bits of the product of two words (a product that wraps).

    >>> multiply_low(1 << 62, 8), multiply_low(-1, 5)
    (0, -5)
    """
    return _signed(int(a) * int(b))


def multiply_wide(a: int, b: int) -> tuple[int, int]:
    """Both halves, high and low, of the 128-bit product of two words taken as unsigned.

    One multiplication where `multiply_high` and `multiply_low` beside each other are two.

    >>> multiply_wide(1 << 62, 9)
    (2, 4611686018427387904)
    """
    product = (int(a) & _ALL) * (int(b) & _ALL)
    return _signed(product >> 64), _signed(product)


def divide_unsigned(a: int, b: int) -> int:
    """The quotient, rounded down, of two words taken as unsigned; b must not be 0.

    Cheaper than `//` in kernels, which also has to think of negative numbers.

    >>> divide_unsigned(100, 7), divide_unsigned(-1, 2) == 2**63 - 1
    (14, True)
    """
    return _signed((int(a) & _ALL) // (int(b) & _ALL))


def add_wrapping(a: int, b: int) -> int:
    """The low 64 bits of the sum of two words.

    >>> add_wrapping((1 << 63) - 1, 1) == -(1 << 63)
    True
    """
    return _signed(int(a) + int(b))


def shift_right(word: int, n: int) -> int:
    """The word, taken as unsigned, shifted right: zeros come in at the top. 0 ≤ n < 64.

    >>> shift_right(-1, 60)
    15
    """
    return _signed((int(word) & _ALL) >> int(n))


def less_unsigned(a: int, b: int) -> bool:
    """Whether a < b, both words taken as unsigned.

    >>> less_unsigned(1, -1), less_unsigned(-1, 1)
    (True, False)
    """
    return (int(a) & _ALL) < (int(b) & _ALL)


def _install() -> None:
    from milsim._compiling.instructions import install

    install(sys.modules[__name__], fast_deposit=has_fast_deposit())


if jit_enabled():
    before_compiling(_install)

__all__ = [
    "add_wrapping",
    "deposit",
    "divide_unsigned",
    "extract",
    "highest_bit_index",
    "less_unsigned",
    "lowest_bit_index",
    "multiply_high",
    "multiply_low",
    "multiply_wide",
    "popcount",
    "select_bit",
    "shift_right",
    "word_of",
]
