"""Random numbers without a state: Philox2x64-10, where deal *i* of seed *s* is a function of both.

A counter-based generator gives the i-th number directly, so results do not depend on threads,
chunks, shards or order. Words are int64 bit patterns, as everywhere in kernels.

The layout, on which the bits of all runs rest (`RNG_SCHEME` names it; a change makes a new name):

- The key of Philox is the seed; the counter is the pair (index of the deal, stream).
- stream = purpose·2^48 + attempt·2^16 + block. `attempt` counts the redeals of one deal, `block`
  the blocks that an exactly uniform number needs (nearly always only block 0).
- Purposes: `DEAL_STREAM` for the cards, `POLICY_STREAM` for the policies' key,
  `COUNTERFACTUAL_STREAM` for what is changed in a deal to compare it with.
- A policy's choice at (seat, ply) comes from `draw(policy_key(seed, index, attempt), seat, ply)`:
  the finaliser of SplitMix64 at a counter made of seat and ply, some ns instead of a whole block.

Sources: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011
(Philox); Lemire, "Fast random integer generation in an interval", ACM TOMACS 29, 2019; Steele, Lea
and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.bits import (
    add_wrapping,
    less_unsigned,
    multiply_high,
    multiply_low,
    multiply_wide,
    shift_right,
)

RNG_SCHEME = "philox2x64-10/v1"

DEAL_STREAM = 1
POLICY_STREAM = 2
COUNTERFACTUAL_STREAM = 3
MAX_ATTEMPTS = 1 << 32

_PURPOSE_SHIFT = 48
_ATTEMPT_SHIFT = 16
_MAX_INT64 = (1 << 63) - 1


def signed_word(word: int) -> int:
    """The int64 with the bit pattern of a number 0 … 2^64 − 1, as kernels take seeds.

    >>> signed_word(2**64 - 1), signed_word(7)
    (-1, 7)
    """
    return word - (1 << 64) if word >> 63 else word


_PHILOX_MULTIPLIER = signed_word(0xD2B74407B1CE6E93)
_GOLDEN = signed_word(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio; Philox bumps its key by it
_MIX_1 = signed_word(0xBF58476D1CE4E5B9)
_MIX_2 = signed_word(0x94D049BB133111EB)


@kernel(inline=True)
def philox(key: int, counter: int, stream: int) -> tuple[int, int]:
    """One block of Philox2x64-10: two random words, a function of the three words given.

    >>> [hex(word % 2**64) for word in philox(0, 0, 0)]
    ['0xca00a0459843d731', '0x66c24222c9a845b5']
    """
    for _ in range(10):
        high, low = multiply_wide(_PHILOX_MULTIPLIER, counter)
        counter = high ^ key ^ stream
        stream = low
        key = add_wrapping(key, _GOLDEN)
    return counter, stream


@kernel(inline=True)
def stream_of(purpose: int, attempt: int) -> int:
    """The stream word of a purpose and an attempt (0 … 2^32 − 1), with block 0.

    >>> stream_of(DEAL_STREAM, 0) == DEAL_STREAM << 48
    True
    """
    return (purpose << _PURPOSE_SHIFT) + (attempt << _ATTEMPT_SHIFT)


@kernel(inline=True)
def below(word: int, n: int) -> int:
    """A number 0 … n − 1 from a random word: the high half of word·n. 0 < n < 2^63.

    Each number's probability is within 2^-64 of 1/n: the relative bias is below n·2^-64, which is
    under 2^-59 for a choice among up to 24 cards. Where exactness matters use `uniform_below`.

    >>> below(-1, 24), below(0, 24)
    (23, 0)
    """
    return multiply_high(word, n)


@kernel
def _settled(key: int, counter: int, stream: int, n: int, word: int, spare: int) -> int:
    """The rare part of `uniform_below`: words are rejected until one favours no number."""
    # 2^64 mod n without leaving int64: the number of words that are too many.
    excess = 2 * ((_MAX_INT64 % n + 1) % n) % n
    high, low = multiply_wide(word, n)
    has_spare = True
    while less_unsigned(low, excess):
        if has_spare:
            word = spare
        else:
            stream += 1
            word, spare = philox(key, counter, stream)
        has_spare = not has_spare
        high, low = multiply_wide(word, n)
    return high


@kernel(inline=True)
def uniform_below(key: int, counter: int, stream: int, n: int) -> int:
    """An exactly uniform number 0 … n − 1, by Lemire's method. 0 < n ≤ 2^62.

    A word that would favour some numbers is rejected (with probability below n·2^-64); the second
    word of the block, then the blocks of streams + 1, + 2 … replace it.

    >>> uniform_below(1, 0, stream_of(DEAL_STREAM, 0), 6)
    1
    """
    word, spare = philox(key, counter, stream)
    high, low = multiply_wide(word, n)
    if less_unsigned(low, n):
        return _settled(key, counter, stream, n, word, spare)
    return high


@kernel
def policy_key(seed: int, index: int, attempt: int) -> int:
    """The word from which all policies' choices in deal `index` of a seed come.

    >>> policy_key(1, 0, 0) == policy_key(1, 0, 1)
    False
    """
    return philox(seed, index, stream_of(POLICY_STREAM, attempt))[0]


@kernel(inline=True)
def mix(word: int) -> int:
    """The finaliser of SplitMix64: a bijection of words in which each bit changes all others.

    >>> hex(mix(0x9E3779B97F4A7C15 - 2**64) % 2**64)
    '0xe220a8397b1dcdaf'
    """
    word = multiply_low(word ^ shift_right(word, 30), _MIX_1)
    word = multiply_low(word ^ shift_right(word, 27), _MIX_2)
    return word ^ shift_right(word, 31)


@kernel(inline=True)
def draw(key: int, seat: int, ply: int) -> int:
    """64 random bits for the choice of a seat (0 … 2) at a ply (0 … 2^32 − 1) of one deal.

    `key` is the deal's `policy_key`; "ply" is any count of the choices a seat makes in a deal.

    >>> draw(policy_key(1, 0, 0), 0, 0) == draw(policy_key(1, 0, 0), 1, 0)
    False
    """
    return mix(add_wrapping(key, multiply_low(_GOLDEN, (seat << 32) + ply + 1)))


__all__ = [
    "COUNTERFACTUAL_STREAM",
    "DEAL_STREAM",
    "MAX_ATTEMPTS",
    "POLICY_STREAM",
    "RNG_SCHEME",
    "below",
    "draw",
    "mix",
    "philox",
    "policy_key",
    "signed_word",
    "stream_of",
    "uniform_below",
]
