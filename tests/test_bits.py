"""Bits: compiled code, portable code and plain Python give the same words."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim import bits
from milsim._jit import kernel


@kernel
def one_word(word: int) -> tuple[int, int, int]:
    return bits.popcount(word), bits.lowest_bit_index(word), bits.highest_bit_index(word)


@kernel
def two_words(a: int, b: int) -> tuple[int, int, int, int, tuple[int, int], int, int, bool]:
    return (
        bits.deposit(a, b),
        bits.extract(a, b),
        bits.multiply_high(a, b),
        bits.multiply_low(a, b),
        bits.multiply_wide(a, b),
        bits.divide_unsigned(a, b | 1),
        bits.add_wrapping(a, b),
        bits.less_unsigned(a, b),
    )


@kernel
def word_and_place(word: int, n: int) -> tuple[int, int]:
    return bits.select_bit(word, n), bits.shift_right(word, n)


WORDS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2**24 - 1) | st.sampled_from(
    [0, 1, -1, 2**63 - 1, -(2**63), 2**32, -(2**32), 2**24 - 1]
)  # fmt: skip
PLACES = st.integers(0, 63)


def slow_deposit(source: int, mask: int) -> int:
    """By strings, sharing nothing with the code tested."""
    source_bits = iter(f"{source % 2**64:064b}"[::-1])
    result = "".join(next(source_bits) if m == "1" else "0" for m in f"{mask % 2**64:064b}"[::-1])
    value = int(result[::-1], 2)
    return value - 2**64 if value >= 2**63 else value


def slow_extract(source: int, mask: int) -> int:
    pairs = zip(f"{source % 2**64:064b}", f"{mask % 2**64:064b}", strict=True)
    value = int("0" + "".join(s for s, m in pairs if m == "1"), 2)
    return value - 2**64 if value >= 2**63 else value


@given(WORDS)
def test_counting_and_finding(word: int) -> None:
    places = [i for i in range(64) if word >> i & 1]
    expected = (len(places), places[0] if places else 64, places[-1] if places else -1)
    python = bits.popcount(word), bits.lowest_bit_index(word), bits.highest_bit_index(word)
    assert python == one_word(word) == expected


@given(WORDS, WORDS)
def test_two_words(a: int, b: int) -> None:
    def signed(x: int) -> int:
        return (x + 2**63) % 2**64 - 2**63

    expected = (
        slow_deposit(a, b),
        slow_extract(a, b),
        signed((a % 2**64) * (b % 2**64) >> 64),
        signed(a * b),
        (signed((a % 2**64) * (b % 2**64) >> 64), signed(a * b)),
        signed((a % 2**64) // ((b | 1) % 2**64)),
        signed(a + b),
        a % 2**64 < b % 2**64,
    )
    python = (
        bits.deposit(a, b),
        bits.extract(a, b),
        bits.multiply_high(a, b),
        bits.multiply_low(a, b),
        bits.multiply_wide(a, b),
        bits.divide_unsigned(a, b | 1),
        bits.add_wrapping(a, b),
        bits.less_unsigned(a, b),
    )
    assert python == two_words(a, b) == expected


@given(WORDS, PLACES)
def test_word_and_place(word: int, n: int) -> None:
    places = [i for i in range(64) if word >> i & 1]
    shifted = (word % 2**64) >> n
    expected = (places[n] if n < len(places) else 64, shifted - 2**64 * (shifted >> 63))
    assert (bits.select_bit(word, n), bits.shift_right(word, n)) == expected
    assert word_and_place(word, n) == expected


DUMP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_bits import one_word, sample_words, two_words, word_and_place
import milsim._jit as jit
print(jit.jit_enabled() and jit.has_fast_deposit())
for a, b, n in sample_words():
    print(one_word(a), two_words(a, b), word_and_place(a, n))
"""


def sample_words() -> list[tuple[int, int, int]]:
    generator = random.Random(24)
    words = [0, 1, -1, 2**63 - 1, -(2**63)]
    words += [generator.getrandbits(64) - 2**63 for _ in range(60)]
    words += [generator.getrandbits(24) for _ in range(60)]
    return [(a, b, generator.randrange(64)) for a in words for b in words[::7]]


@pytest.mark.parametrize(
    "environment",
    [
        {"MILSIM_PORTABLE": "1", "NUMBA_DISABLE_JIT": "0"},
        {"MILSIM_PORTABLE": "0", "NUMBA_DISABLE_JIT": "1"},
        {"MILSIM_PORTABLE": "0", "NUMBA_DISABLE_JIT": "0", "NUMBA_CPU_NAME": "generic"},
    ],
    ids=["portable", "no-jit", "generic-cpu"],
)
def test_same_bits_in_every_mode(environment: dict[str, str]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", DUMP],
        env={**os.environ, **environment},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "False"
    expected = [
        f"{one_word(a)} {two_words(a, b)} {word_and_place(a, n)}" for a, b, n in sample_words()
    ]
    assert lines[1:] == expected
