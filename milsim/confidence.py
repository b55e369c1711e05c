"""Confidence sequences: intervals for a mean that hold at every look, so that one may stop.

An interval that is looked at again and again until it excludes 0 misleads far more often than one
time in twenty. A confidence sequence covers the mean at *all* numbers of deals at once with 95 %,
so whoever stops when it decides is wrong in at most 5 % of contests, however long they last.

**Method**: betting against a candidate mean *m* (Waudby-Smith & Ramdas 2024, "Estimating means of
bounded random variables by betting", J. R. Stat. Soc. B 86), with a mixture of constant stakes
(after Cover 1991; Orabona & Jun 2024, IEEE Trans. Inf. Theory 70). Values lie in [−R, R]. If the
mean is at most *m*, the capital

    W(m) = 1/J Σ_j Π_i (1 + s_j (x_i − m) / (R + m)),    0 < s_j < 1,

starts at 1, never gets negative and does not grow on average, whatever deals came before; by
Ville's inequality it ever reaches 2/α with probability at most α/2. The lower bound is the greatest
*m* with W(m) ≥ 2/α (W falls as m grows), the upper bound is the same of −x. Stakes are 0.9 and
2⁻¹ … 2⁻¹²: one of them is near the best for whatever spread and number of deals there are. The
capital depends on how often each value occurred, not on their order: a histogram is enough, so
nothing depends on threads.

Deal scores are bounded because contracts are capped and the deck holds so many points: see
`milsim.reports.arena_seats.widest_score`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milsim.intervals import LEVEL, Interval

STAKES = np.array([0.9, *(0.5**power for power in range(1, 13))])
_HALVINGS = 40


def log_capital(values: NDArray[np.float64], counts: NDArray[np.int64], mean: float) -> float:
    """The logarithm of the capital of who bet that values in [0, 1] have more than this mean.

    ``counts`` is how often each of ``values`` occurred, ``mean`` is above 0.

    >>> round(log_capital(np.array([0.0, 1.0]), np.array([5, 15]), 0.5), 2)
    0.96
    """
    gains = STAKES[:, np.newaxis] * ((values - mean) / mean)
    capital = np.log1p(gains) @ counts
    most = float(capital.max())
    return most + math.log(float(np.exp(capital - most).sum()) / len(STAKES))


def mean_at_least(values: NDArray[np.float64], counts: NDArray[np.int64], alpha: float) -> float:
    """A lower bound for the mean of values in [0, 1], wrong at any time with probability alpha.

    ``counts`` is how often each of ``values`` occurred.

    >>> half = np.array([0.0, 1.0]), np.array([500, 500])
    >>> 0.4 < mean_at_least(*half, alpha=0.025) < 0.5
    True
    """
    low, high = 0.0, float(values @ counts / counts.sum())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle <= 0.0:
            break
        if log_capital(values, counts, middle) >= -math.log(alpha):
            low = middle
        else:
            high = middle
    return low


def covering(histogram: Mapping[int, int], unit: float, bound: float, alpha: float) -> Interval:
    """The interval for the mean of ``unit`` · value, at this moment of a confidence sequence.

    ``histogram`` says how often each whole value occurred, ``bound`` is R: no ``unit`` · value is
    further from 0. ``alpha`` is the chance that the sequence ever misses the mean.

    >>> found = covering({-1: 5000, 1: 5000}, 1.0, 1.0, 0.05)
    >>> found.value, round(found.high, 3), round(found.low, 3)
    (0.0, 0.035, -0.035)
    """
    if not histogram:
        return Interval(None, -bound, bound)
    numbers = sorted(histogram)
    values = unit * np.array(numbers, dtype=np.float64)
    counts = np.array([histogram[number] for number in numbers], dtype=np.int64)
    if np.abs(values).max() > bound * (1 + 1e-9):
        raise AssertionError(f"a value beyond ±{bound}: {values[np.abs(values).argmax()]}")
    scaled = np.clip((values + bound) / (2 * bound), 0.0, 1.0)
    low = 2 * bound * mean_at_least(scaled, counts, alpha / 2) - bound
    high = bound - 2 * bound * mean_at_least(1 - scaled, counts, alpha / 2)
    total = sum(number * count for number, count in histogram.items())
    return Interval(unit * total / int(counts.sum()), low, high)


@dataclass(slots=True)
class Sequence:
    """The confidence sequence of a mean: narrower or as before at each look, never wider."""

    unit: float
    bound: float
    alpha: float = 1 - LEVEL
    low: float = -math.inf
    high: float = math.inf

    def look(self, histogram: Mapping[int, int]) -> Interval:
        """Look at all values so far (whole numbers of ``unit``): what all looks together allow.

        >>> sequence = Sequence(unit=1.0, bound=1.0)
        >>> first = sequence.look({1: 100})
        >>> sequence.look({-1: 40, 1: 100}).low >= first.low
        True
        """
        now = covering(histogram, self.unit, self.bound, self.alpha)
        assert now.low is not None
        assert now.high is not None
        low, high = max(self.low, now.low), min(self.high, now.high)
        if low <= high:  # else the mean was missed before, at most once in 1/alpha times
            self.low, self.high = low, high
        return Interval(now.value, self.low, self.high)


__all__ = ["STAKES", "Sequence", "covering", "log_capital", "mean_at_least"]
