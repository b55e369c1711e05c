"""Limits for sampled frequencies, computed exactly, with one stated rate of false alarms.

A statistic that these functions judge would exceed its limit for one seed in 10^6 if the sampler
were perfect. Tests fix their seeds, so they pass or fail for good.
"""

from __future__ import annotations

from fractions import Fraction
from math import erfc, exp, lgamma, log, log1p
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FALSE_ALARMS = 1e-6

LEAST_EXPECTED = 20
"""Rarer classes are put together: chi-square is the limit for many cases in each class."""


def chi_square_tail(x: float, freedom: int) -> float:
    """P(chi-square > x), by Q(n) = Q(n − 2) + (x/2)^(n/2 − 1)·e^(−x/2) / Γ(n/2)."""
    if x <= 0:
        return 1.0
    tail = erfc((x / 2) ** 0.5) if freedom % 2 else 0.0
    for n in range(1 if freedom % 2 else 0, freedom, 2):
        tail += exp(n / 2 * log(x / 2) - x / 2 - lgamma(n / 2 + 1))
    return tail


def chi_square_limit(freedom: int) -> float:
    low, high = 0.0, 100.0 * freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if chi_square_tail(middle, freedom) > FALSE_ALARMS else (low, middle)
        )
    return high


def chi_square(observed: NDArray[Any], expected: NDArray[Any]) -> float:
    return float(((observed - expected) ** 2 / expected).sum())


def assert_classes(observed: ArrayLike, chances: ArrayLike, what: object = "") -> None:
    """Counts of classes that exclude one another, all of them, against their chances."""
    counts, weights = np.asarray(observed, float), np.asarray(chances, float)
    assert abs(weights.sum() - 1) < 1e-12, f"{what}: chances add up to {weights.sum()}"
    assert not counts[weights == 0].any(), f"{what}: something impossible happened"
    order = np.argsort(weights)
    order = order[weights[order] > 0]
    counts, expected = counts[order], counts.sum() * weights[order]
    # The rarest classes together, just enough of them to be expected often enough.
    together = int((np.cumsum(expected) < LEAST_EXPECTED).sum())
    starts = [0, *range(together + 1, len(order))]
    counts, expected = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
    assert len(starts) > 1, f"{what}: too few deals to tell anything"
    statistic, limit = chi_square(counts, expected), chi_square_limit(len(starts) - 1)
    assert statistic < limit, f"{what}: chi-square {statistic:.1f} is over {limit:.1f}"


def binomial_tail(successes: int, n: int, chance: Fraction | float) -> float:
    """P(at most) or P(at least so many successes), whichever is the smaller; also if rare."""
    p = float(chance)
    if p in (0, 1):
        return float(successes == n * p)
    step = 1 if successes >= n * p else -1
    tail, k = 0.0, successes
    while 0 <= k <= n:
        choices = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        term = exp(choices + k * log(p) + (n - k) * log1p(-p))
        tail += term
        if term <= tail * 1e-12:
            break
        k += step
    return tail


def assert_frequency(successes: int, n: int, chance: Fraction | float, what: object = "") -> None:
    """A count of n independent cases against the chance of one, both tails of the binomial."""
    tail = binomial_tail(successes, n, chance)
    assert tail > FALSE_ALARMS / 2, f"{what}: {successes} of {n}, chance {float(chance)}: {tail}"
