"""Classes of hands to sample from: marriages, aces, guarded tens, with the rare ones pooled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from milsim.dealing.tables import N_HANDS, hand_masks_table
from milsim.tables.passing import class_keys

Key = tuple[int, int, int]

FEWEST_HANDS = 300
"""Classes of fewer hands are pooled with the nearest of more; a marriage counts as three steps."""
LEAST = 12
"""Hands of a class that are sampled first of all."""
_STEPS = (3, 1, 1)
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # SplitMix64
_ORDER_PLY = 1 << 22  # of the draws that order the hands of a class
_PLAY_PLY = 1 << 23  # of those that order the sample


@dataclass(frozen=True, slots=True)
class Stratum:
    """A class that is sampled: its ``key``, the keys of all it takes in, and how many hands."""

    key: Key
    members: tuple[Key, ...]
    hands: int


@cache
def strata() -> tuple[Stratum, ...]:
    """All classes that are sampled, by key; every hand is in one.

    >>> len(strata()), sum(each.hands for each in strata())
    (33, 346104)
    >>> next(each.members for each in strata() if each.key == (2, 2, 0))
    ((2, 2, 0), (2, 3, 0))
    """
    keys, counts = np.unique(_keys(), axis=1, return_counts=True)
    sizes = dict(zip((_key(row) for row in keys.T.tolist()), counts.tolist(), strict=True))
    large = [key for key, n in sizes.items() if n >= FEWEST_HANDS]
    members: dict[Key, list[Key]] = {key: [] for key in large}
    for key in sizes:
        nearest = key if key in members else min(large, key=lambda other: (_far(key, other), other))
        members[nearest].append(key)
    return tuple(
        Stratum(key, tuple(all_of), sum(sizes[each] for each in all_of))
        for key, all_of in sorted(members.items())
    )


def _key(row: list[int]) -> Key:
    marriages, aces, tens = row
    return marriages, aces, tens


def _far(one: Key, other: Key) -> int:
    return sum(step * abs(a - b) for step, a, b in zip(_STEPS, one, other, strict=True))


@cache
def _keys() -> NDArray[np.int64]:
    return class_keys(hand_masks_table().astype(np.int64))


@cache
def stratum_of_hands() -> NDArray[np.int64]:
    """The place in `strata` of each hand, by rank. Never write into it."""
    places = {key: place for place, each in enumerate(strata()) for key in each.members}
    lookup = np.full((8, 8, 8), -1)
    for key, place in places.items():
        lookup[key] = place
    marriages, aces, tens = _keys()
    return np.asarray(lookup[marriages, aces, tens])


def shares(hands: int) -> list[int]:
    """How many hands of each class are in a sample of so many: LEAST, then by square roots.

    The next hand always goes to the class with the largest square root of its size over what it
    has, so that a larger sample holds each smaller one. Rare classes get more than their share:
    their corrections are asked for, too.

    >>> sum(shares(2400)), min(shares(2400)), max(shares(2400))
    (2400, 18, 199)
    """
    sizes = np.array([each.hands for each in strata()])
    given = np.zeros(len(sizes), np.int64)
    for _ in range(min(hands, N_HANDS)):
        wanting = given < np.minimum(sizes, LEAST)
        if wanting.any():
            given[np.flatnonzero(wanting)[np.argmin(given[wanting])]] += 1
        else:
            given[np.argmax(np.where(given < sizes, np.sqrt(sizes) / (given + 1), 0))] += 1
    return [int(each) for each in given]


def sampled_hands(hands: int, seed: int) -> NDArray[np.int64]:
    """Ranks of a stratified sample, in the order in which they are played: all classes mixed.

    >>> small, large = sampled_hands(500, 1), sampled_hands(600, 1)
    >>> len(small), set(small.tolist()) < set(large.tolist())
    (500, True)
    """
    place, keys = stratum_of_hands(), _drawn(seed)
    chosen: list[int] = []
    for number, count in enumerate(shares(hands)):
        ranks = np.flatnonzero(place == number)
        chosen += ranks[np.argsort(keys[ranks], kind="stable")[:count]].tolist()
    order = np.argsort(_draws(seed, np.array(chosen, dtype=np.int64), _PLAY_PLY), kind="stable")
    return np.array(chosen, dtype=np.int64)[order]


@lru_cache(maxsize=2)
def _drawn(seed: int) -> NDArray[np.int64]:
    """A random number a hand, by rank."""
    return _draws(seed, np.arange(N_HANDS), _ORDER_PLY)


def _draws(seed: int, ranks: NDArray[np.int64], ply: int) -> NDArray[np.int64]:
    """:func:`~milsim.rng.draw` of the seed by rank, all at once: hands are many.

    >>> from milsim.rng import draw
    >>> _draws(5, np.array([9]), 3).tolist() == [draw(5, 9, 3)]
    True
    """
    word = (ranks.astype(np.uint64) << np.uint64(32)) + np.uint64(ply + 1)
    word = np.uint64(seed % 2**64) + np.uint64(_GOLDEN) * word
    for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
        word = (word ^ word >> np.uint64(shift)) * np.uint64(factor)
    return (word ^ word >> np.uint64(31)).view(np.int64)


__all__ = [
    "FEWEST_HANDS",
    "LEAST",
    "Key",
    "Stratum",
    "sampled_hands",
    "shares",
    "strata",
    "stratum_of_hands",
]
