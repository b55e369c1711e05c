"""Random numbers: the published vectors, an independent computation, and the layout of streams."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim import rng
from milsim._jit import kernel_signatures

WORDS = st.integers(0, 2**64 - 1)

# Random123 1.14, tests/kat_vectors: philox2x64 with 10 rounds: counter, key, result.
VECTORS = [
    ((0x0000000000000000, 0x0000000000000000), 0x0000000000000000,
     (0xCA00A0459843D731, 0x66C24222C9A845B5)),
    ((0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF), 0xFFFFFFFFFFFFFFFF,
     (0x65B021D60CD8310F, 0x4D02F3222F86DF20)),
    ((0x243F6A8885A308D3, 0x13198A2E03707344), 0xA4093822299F31D0,
     (0x0A5E742C2997341C, 0xB0F883D38000DE5D)),
]  # fmt: skip


def plain_philox(key: int, counter: int, stream: int) -> tuple[int, int]:
    """Philox2x64-10 written from the paper, with Python's integers."""
    for turn in range(10):
        product = counter * 0xD2B74407B1CE6E93
        bumped = (key + turn * 0x9E3779B97F4A7C15) % 2**64
        counter, stream = product // 2**64 ^ bumped ^ stream, product % 2**64
    return counter, stream


def plain_uniform(key: int, counter: int, stream: int, n: int) -> int:
    """Lemire's method, from the paper, on the words in their documented order."""
    for block in range(1000):
        for word in plain_philox(key, counter, stream + block):
            if word * n % 2**64 >= 2**64 % n:
                return word * n // 2**64
    raise AssertionError("a thousand rejections in a row")


def unsigned(words: tuple[int, int]) -> tuple[int, int]:
    return words[0] % 2**64, words[1] % 2**64


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_known_answers(counter: tuple[int, int], key: int, expected: tuple[int, int]) -> None:
    words = [rng.signed_word(word) for word in (key, *counter)]
    assert unsigned(rng.philox(*words)) == expected
    assert plain_philox(key, *counter) == expected


@given(WORDS, WORDS, WORDS)
def test_philox_is_that_of_the_paper(key: int, counter: int, stream: int) -> None:
    words = [rng.signed_word(word) for word in (key, counter, stream)]
    assert unsigned(rng.philox(*words)) == plain_philox(key, counter, stream)


@given(WORDS, WORDS, st.integers(0, 2**20), st.integers(1, 2**62))
def test_uniform_below_is_lemires(seed: int, index: int, attempt: int, n: int) -> None:
    stream = rng.stream_of(rng.DEAL_STREAM, attempt)
    number = rng.uniform_below(rng.signed_word(seed), rng.signed_word(index), stream, n)
    assert number == plain_uniform(seed, index, stream, n)
    assert 0 <= number < n


def test_uniform_below_rejects_and_stays_uniform() -> None:
    """n = 3·2^60 rejects a quarter of all words: the spare word and further blocks are used."""
    n, draws = 3 << 60, 3000
    assert 2**64 % n == 2**60
    numbers = [rng.uniform_below(5, i, rng.stream_of(rng.DEAL_STREAM, 0), n) for i in range(draws)]
    assert numbers == [plain_uniform(5, i, rng.DEAL_STREAM << 48, n) for i in range(draws)]
    first_words = [plain_philox(5, i, rng.DEAL_STREAM << 48)[0] for i in range(draws)]
    redrawn = sum(word * n % 2**64 < 2**60 for word in first_words)
    assert abs(redrawn - draws / 16) < 5 * (draws * 15 / 256) ** 0.5
    thirds = Counter(number >> 60 for number in numbers)
    # Chi-square, 2 degrees of freedom: 27.6 is passed once in 10^6 seeds.
    assert sum((thirds[i] - draws / 3) ** 2 / (draws / 3) for i in range(3)) < 27.6


def test_streams_do_not_meet() -> None:
    blocks = [
        rng.stream_of(purpose, attempt) + block
        for purpose in (rng.DEAL_STREAM, rng.POLICY_STREAM)
        for attempt in (0, 1, 2, rng.MAX_ATTEMPTS - 1)
        for block in (0, 1, 2**16 - 1)
    ]
    assert len(set(blocks)) == len(blocks)
    assert all(0 < block < 2**63 for block in blocks)


def test_splitmix_finaliser_gives_the_published_sequence() -> None:
    """The first outputs of SplitMix64 seeded with 0 (as in the Java library's tests)."""
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    words = [rng.signed_word((i + 1) * 0x9E3779B97F4A7C15 % 2**64) for i in range(3)]
    assert [rng.mix(word) % 2**64 for word in words] == expected
    assert [rng.draw(0, 0, ply) % 2**64 for ply in range(3)] == expected


def test_draws_differ_by_seed_deal_attempt_seat_and_ply() -> None:
    drawn = {
        rng.draw(rng.policy_key(seed, index, attempt), seat, ply)
        for seed in (0, 1, -1)
        for index in (0, 1, 2**40)
        for attempt in (0, 1)
        for seat in range(3)
        for ply in range(24)
    }
    assert len(drawn) == 3 * 3 * 2 * 3 * 24


def test_draws_are_balanced_in_every_bit() -> None:
    """192 bits looked at: |z| < 6.2 fails once in 10^7 seeds, with a true coin in each place."""
    draws = 4000
    keys = [rng.policy_key(24, index, 0) for index in range(draws)]
    for seat in range(3):
        words = [rng.draw(key, seat, 7) for key in keys]
        for place in range(64):
            ones = sum(word >> place & 1 for word in words)
            assert abs(ones - draws / 2) < 6.2 * draws**0.5 / 2


@given(WORDS, st.integers(1, 2**40))
def test_below_is_the_scaled_word(word: int, n: int) -> None:
    assert rng.below(rng.signed_word(word), n) == word * n // 2**64


DUMP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_rng import sample_words
print(sample_words())
"""


def sample_words() -> list[object]:
    generator = random.Random(1000)
    seeds = [generator.getrandbits(64) - 2**63 for _ in range(50)]
    return [
        (
            rng.philox(seed, i, -seed - 1),
            rng.uniform_below(seed, i, 0, (3 << 60) + i),
            rng.draw(rng.policy_key(seed, i, 1), i % 3, i),
        )
        for i, seed in enumerate(seeds)
    ]


@pytest.mark.parametrize("variable", ["MILSIM_PORTABLE", "NUMBA_DISABLE_JIT"])
def test_same_bits_in_every_mode(variable: str) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", DUMP],
        env={**os.environ, variable: "1"},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(sample_words())


def test_signatures_are_int64_only() -> None:
    rng.policy_key(0, 0, 0)
    found = [s for s in kernel_signatures() if s.kernel.startswith("milsim.rng.")]
    for signature in found:
        # Where a caller gives a constant, numba makes a version of its own for it.
        kinds = set(signature.arguments)
        assert kinds == {"int64"}, signature
        assert signature.result in ("int64", "UniTuple(int64, 2)", "UniTuple(int64 x 2)"), signature
