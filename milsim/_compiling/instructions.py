"""What the functions of `milsim.bits` are inside a kernel: one or a few machine instructions.

Installed before the first kernel is compiled.
"""

# ruff: noqa: PLW0108 (numba compiles a lambda here, and cannot take an intrinsic in its place)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numba.extending import overload as numba_overload

_LOW_HALF = 0xFFFFFFFF
_PAIR = cast(Any, types).UniTuple(types.int64, 2)


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


def _give_code(public: Callable[..., Any], code: Callable[..., Any]) -> None:
    """Tell numba what a kernel runs where it calls the public function."""
    argument_count = code.__code__.co_argcount

    def one(a: Any) -> Any:
        return code if isinstance(a, types.Integer | types.Boolean) else None

    def two(a: Any, b: Any) -> Any:
        return code if isinstance(a, types.Integer) and isinstance(b, types.Integer) else None

    numba_overload(public, strict=False)(one if argument_count == 1 else two)


def install(bits: Any, *, fast_deposit: bool) -> None:
    """Tell numba what stands in kernels for each function of the module ``milsim.bits``.

    ``fast_deposit``: whether the processor has BMI2 and is quick at it.
    """
    _give_code(bits.word_of, lambda value: types.int64(value))
    _give_code(bits.popcount, lambda word: _ctpop(word))
    _give_code(bits.lowest_bit_index, lambda word: _cttz(word))
    _give_code(bits.highest_bit_index, lambda word: 63 - _ctlz(word))
    _give_code(bits.multiply_low, lambda a, b: _mul(a, b))
    _give_code(bits.divide_unsigned, lambda a, b: _udiv(a, b))
    _give_code(bits.add_wrapping, lambda a, b: _add(a, b))
    _give_code(bits.shift_right, lambda word, n: _lshr(word, n))
    _give_code(bits.less_unsigned, lambda a, b: _ult(a, b))
    if fast_deposit:
        _give_code(bits.deposit, lambda source, mask: _pdep(source, mask))
        _give_code(bits.extract, lambda source, mask: _pext(source, mask))
        _give_code(bits.select_bit, lambda mask, n: _cttz(_pdep(1 << n, mask)))
        _give_code(bits.multiply_high, lambda a, b: _mulhi(a, b))
        _give_code(bits.multiply_wide, lambda a, b: _mulwide(a, b))
    else:
        _give_code(bits.deposit, _portable_deposit)
        _give_code(bits.extract, _portable_extract)
        _give_code(bits.select_bit, _portable_select)
        _give_code(bits.multiply_high, _portable_multiply_high)
        _give_code(bits.multiply_wide, lambda a, b: (bits.multiply_high(a, b), _mul(a, b)))


__all__ = ["install"]
