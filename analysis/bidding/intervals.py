"""Means and ratios with 95 % intervals, where one deal, or one hand, is one observation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Z = 1.959964


@dataclass(frozen=True)
class Estimate:
    """A mean, half the width of its 95 % interval, and the observations behind it."""

    mean: float
    half: float
    n: int

    def __str__(self) -> str:
        """The mean and the half, to as many places as the half has to tell."""
        places = 2 if self.half < 0.095 else 1
        mean = round(self.mean, places) + 0.0  # no minus before a zero
        return f"{mean:.{places}f} ± {self.half:.{places}f}".replace("-", "−")


def mean_of(values: np.ndarray) -> Estimate:
    """Of one value an observation."""
    half = Z * values.std(ddof=1) / len(values) ** 0.5
    return Estimate(float(values.mean()), float(half), len(values))


def ratio_of(sums: np.ndarray, counts: np.ndarray) -> Estimate:
    """The mean over all cases, where an observation has some of them: sums and counts."""
    mean = sums.sum() / counts.sum()
    left = sums - mean * counts
    n = len(sums)
    half = Z * (n / (n - 1) * (left**2).sum()) ** 0.5 / counts.sum()
    return Estimate(float(mean), float(half), n)
