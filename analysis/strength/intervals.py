"""Means and differences with 95 % intervals, where one deal is one observation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Z = 1.959964


@dataclass(frozen=True)
class Estimate:
    """A mean, half the width of its 95 % interval, and the deals behind it."""

    mean: float
    half: float
    deals: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.half:.1f}".replace("-", "−")

    @property
    def excludes_zero(self) -> bool:
        return abs(self.mean) > self.half


def mean_of(values: np.ndarray) -> Estimate:
    """Of one value a deal."""
    half = Z * values.std(ddof=1) / len(values) ** 0.5
    return Estimate(float(values.mean()), float(half), len(values))


def ratio_of(sums: np.ndarray, counts: np.ndarray) -> Estimate:
    """The mean over all cases, where a deal has some of them: sums and counts by deal."""
    mean = sums.sum() / counts.sum()
    left = sums - mean * counts
    n = len(sums)
    half = Z * (n / (n - 1) * (left**2).sum()) ** 0.5 / counts.sum()
    return Estimate(float(mean), float(half), n)
