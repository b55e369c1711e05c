"""Paired differences: the same deals or matches under two rule sets, a and b.

What happened under ``a`` is taken from what happened under ``b``, pair by pair, before anything is
averaged: chance that both share (the cards, the draws of the policies) falls out of the difference,
so its interval is narrower than those of the two means let one think.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from milsim.reports.statistics import UNKNOWN, Interval, Moments, Z, wilson

NOTHING = Moments()
Unit = Literal["points", "share", "deals"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """One quantity in pairs: its moments under ``a`` and ``b``, and those of b − a; integers only.

    ``differ`` is the number of pairs in which the two are not equal. Pairs add up exactly.
    """

    a: Moments = NOTHING
    b: Moments = NOTHING
    difference: Moments = NOTHING
    differ: int = 0

    @classmethod
    def of(cls, a: NDArray[np.generic], b: NDArray[np.generic]) -> Pairs:
        """The pairs of two columns of one length; truths count as 1 and 0.

        >>> Pairs.of(np.array([100, 90]), np.array([100, 95])).difference
        Moments(n=2, total=5, squares=25)
        """
        first, second = a.astype(np.int64), b.astype(np.int64)
        apart = second - first
        return cls(_moments(first), _moments(second), _moments(apart), int(np.count_nonzero(apart)))

    def __add__(self, other: Pairs) -> Pairs:
        """The pairs of both samples together."""
        return Pairs(
            self.a + other.a,
            self.b + other.b,
            self.difference + other.difference,
            self.differ + other.differ,
        )

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self.difference.n

    def intervals(self, unit: Unit) -> tuple[Interval, Interval, Interval]:
        """The means under a and b, and of b − a, with their intervals; of proportions for a share.

        >>> both = Pairs.of(np.array([1, 0, 1, 1]), np.array([1, 1, 1, 1]))
        >>> [interval.value for interval in both.intervals("share")]
        [0.75, 1.0, 0.25]
        """
        if unit == "share":
            return (
                wilson(self.a.total, self.a.n),
                wilson(self.b.total, self.b.n),
                paired_share(self.difference),
            )
        return self.a.mean(), self.b.mean(), self.difference.mean()


def paired_share(difference: Moments, z: float = Z) -> Interval:
    """The difference of two proportions of the same pairs, from the moments of −1, 0 and 1.

    The interval is Tango's (1998), of the score test, as Wilson's is for one proportion: right also
    where few pairs differ, or none. Unknown without pairs.

    >>> some = paired_share(Moments(n=1000, total=20, squares=60))
    >>> some.value, round(some.low, 4), round(some.high, 4)
    (0.02, 0.005, 0.036)
    >>> none = paired_share(Moments(n=1000, total=0, squares=0))
    >>> none.value, round(none.high, 4)
    (0.0, 0.0038)
    """
    if difference.n == 0:
        return UNKNOWN
    n, total = difference.n, difference.total
    gained, lost = (difference.squares + total) // 2, (difference.squares - total) // 2
    value = total / n
    high = _bound(gained, lost, n, z)
    return Interval(value, -_bound(lost, gained, n, z), high)


def _bound(gained: int, lost: int, n: int, z: float) -> float:
    """The greatest difference that the score test does not reject, by halving."""
    low, high = (gained - lost) / n, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        linear = (2 * n - gained + lost) * middle - gained - lost
        root = math.sqrt(linear**2 + 8 * n * lost * middle * (1 - middle))
        # The share of pairs that lost, most likely if the difference is middle. The two forms are
        # the same; each is free of cancellation where it is used.
        if linear > 0:
            likely = 2 * lost * middle * (1 - middle) / (root + linear)
        else:
            likely = (root - linear) / (4 * n)
        variance = n * (2 * likely + middle * (1 - middle))
        if (n * middle - gained + lost) ** 2 > z * z * variance:
            high = middle
        else:
            low = middle
    return high


def _moments(values: NDArray[np.int64]) -> Moments:
    return Moments(len(values), int(values.sum()), int((values * values).sum()))
