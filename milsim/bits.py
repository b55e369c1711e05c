"""Operations on 64-bit words that Python's integers lack: counting, finding and moving bits.

Words are int64 everywhere (one integer type in all kernels: mixtures turn into floats in numba):
a word is the *bit pattern*, so −1 has all 64 bits set. Inside a kernel each function is one or a
few machine instructions; in plain Python it is the obvious loop, with the same result. Where the
CPU lacks pdep and pext, or has them slow, kernels use a portable loop (`milsim._jit`).

Sources: Warren, Hacker's Delight, 2nd ed., 5-1 … 5-4, 7-4, 7-5, 8-2; Intel SDM (PDEP, PEXT).
"""

# ruff: noqa: PLW0108 (numba compiles a lambda here, and cannot take an intrinsic in its place)

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, SupportsIndex, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numba.extending import overload as numba_overload

from milsim._jit import has_fast_deposit, jit_enabled

_ALL = (1 << 64) - 1
_LOW_HALF = 0xFFFFFFFF
_PAIR = cast(Any, types).UniTuple(types.int64, 2)


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


# ------------------------------------------------------------------ kernels: machine instructions


def _instruction(
    name: str, arguments: int, build: Callable[[Any, Any], Any], result: Any = types.int64
) -> Any:
    """An intrinsic of one or two int64 whose code `build(builder, arguments)` makes."""

    def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        built = build(builder, values)
        return context.make_tuple(builder, result, built) if type(built) is tuple else built

    # numba reads the names of the arguments from the function: no *args.
    def one(_typing: Any, _a: Any) -> Any:
        return result(types.int64), codegen

    def two(_typing: Any, _a: Any, _b: Any) -> Any:
        return result(types.int64, types.int64), codegen

    function = one if arguments == 1 else two
    function.__name__ = function.__qualname__ = name
    return intrinsic(function)


def _call(name: str) -> Callable[[Any, Any], Any]:
    """Code that calls a function of two words that LLVM turns into one instruction."""
    word = ir.IntType(64)

    def build(builder: Any, values: Any) -> Any:
        function_type = ir.FunctionType(word, [word, word])
        return builder.call(builder.module.declare_intrinsic(name, (), function_type), values)

    return build


def _build_multiply_wide(builder: Any, values: Any) -> tuple[Any, Any]:
    word, wide = ir.IntType(64), ir.IntType(128)
    product = builder.mul(builder.zext(values[0], wide), builder.zext(values[1], wide))
    high = builder.lshr(product, ir.Constant(wide, 64))
    return builder.trunc(high, word), builder.trunc(product, word)


_zero_is_defined = ir.Constant(ir.IntType(1), 0)
_ctpop = _instruction("_ctpop", 1, lambda builder, v: builder.ctpop(v[0]))
_cttz = _instruction("_cttz", 1, lambda builder, v: builder.cttz(v[0], _zero_is_defined))
_ctlz = _instruction("_ctlz", 1, lambda builder, v: builder.ctlz(v[0], _zero_is_defined))
_pdep = _instruction("_pdep", 2, _call("llvm.x86.bmi.pdep.64"))
_pext = _instruction("_pext", 2, _call("llvm.x86.bmi.pext.64"))
_mul = _instruction("_mul", 2, lambda builder, v: builder.mul(v[0], v[1]))
_add = _instruction("_add", 2, lambda builder, v: builder.add(v[0], v[1]))
_udiv = _instruction("_udiv", 2, lambda builder, v: builder.udiv(v[0], v[1]))
_mulhi = _instruction("_mulhi", 2, lambda builder, v: _build_multiply_wide(builder, v)[0])
_mulwide = _instruction("_mulwide", 2, _build_multiply_wide, _PAIR)
_lshr = _instruction("_lshr", 2, lambda builder, v: builder.lshr(v[0], v[1]))
_ult = _instruction("_ult", 2, lambda builder, v: builder.icmp_unsigned("<", *v), types.boolean)


def _portable_deposit(source: int, mask: int) -> int:
    result = 0
    while mask:
        lowest = mask & -mask
        result |= lowest & -(source & 1)
        source >>= 1
        mask ^= lowest
    return result


def _portable_extract(source: int, mask: int) -> int:
    result = 0
    place = 1
    while mask:
        lowest = mask & -mask
        if source & lowest:
            result |= place
        place <<= 1
        mask ^= lowest
    return result


def _portable_select(mask: int, n: int) -> int:
    for _ in range(n):
        mask &= mask - 1
    return int(_cttz(mask))


def _portable_multiply_high(a: int, b: int) -> int:
    a_low = a & _LOW_HALF
    a_high = _lshr(a, 32)
    b_low = b & _LOW_HALF
    b_high = _lshr(b, 32)
    # Each sum below stays under 2^64: (2^32 − 1)² + 2·(2^32 − 1) = 2^64 − 1.
    middle = a_high * b_low + _lshr(a_low * b_low, 32)
    other = a_low * b_high + (middle & _LOW_HALF)
    return int(a_high * b_high + _lshr(middle, 32) + _lshr(other, 32))


def _portable_multiply_wide(a: int, b: int) -> tuple[int, int]:
    return multiply_high(a, b), int(_mul(a, b))


def _give_code(public: Callable[..., Any], code: Callable[..., Any]) -> None:
    """Tell numba what a kernel runs where it calls the public function."""
    argument_count = code.__code__.co_argcount

    def one(a: Any) -> Any:
        return code if isinstance(a, types.Integer | types.Boolean) else None

    def two(a: Any, b: Any) -> Any:
        return code if isinstance(a, types.Integer) and isinstance(b, types.Integer) else None

    numba_overload(public, strict=False)(one if argument_count == 1 else two)


def _install() -> None:
    _give_code(word_of, lambda value: types.int64(value))
    _give_code(popcount, lambda word: _ctpop(word))
    _give_code(lowest_bit_index, lambda word: _cttz(word))
    _give_code(highest_bit_index, lambda word: 63 - _ctlz(word))
    _give_code(multiply_low, lambda a, b: _mul(a, b))
    _give_code(divide_unsigned, lambda a, b: _udiv(a, b))
    _give_code(add_wrapping, lambda a, b: _add(a, b))
    _give_code(shift_right, lambda word, n: _lshr(word, n))
    _give_code(less_unsigned, lambda a, b: _ult(a, b))
    if has_fast_deposit():
        _give_code(deposit, lambda source, mask: _pdep(source, mask))
        _give_code(extract, lambda source, mask: _pext(source, mask))
        _give_code(select_bit, lambda mask, n: _cttz(_pdep(1 << n, mask)))
        _give_code(multiply_high, lambda a, b: _mulhi(a, b))
        _give_code(multiply_wide, lambda a, b: _mulwide(a, b))
    else:
        _give_code(deposit, _portable_deposit)
        _give_code(extract, _portable_extract)
        _give_code(select_bit, _portable_select)
        _give_code(multiply_high, _portable_multiply_high)
        _give_code(multiply_wide, _portable_multiply_wide)


if jit_enabled():
    _install()

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
