"""Estimates and their intervals, from integer counts: sums first, division last.

All intervals are two-sided with 95 % coverage. What comes in are counts and histograms (a value
and how often it occurred), which merge by addition; so a result does not depend on the order,
chunks or threads in which the deals were played.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from milsim.intervals import LEVEL, UNKNOWN, Interval, Z, wilson


def spread(name: str, interval: Interval) -> dict[str, float | None]:
    """An interval as three columns of a frame.

    >>> spread("p", Interval(0.5, 0.4, 0.6))
    {'p': 0.5, 'p_low': 0.4, 'p_high': 0.6}
    """
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}


def total(histogram: Mapping[int, int]) -> int:
    """How many values a histogram counts.

    >>> total({100: 3, 110: 2})
    5
    """
    return sum(histogram.values())


def student(df: int) -> float:
    """The 97.5 % quantile of Student's t with ``df`` degrees of freedom, to about four digits.

    Exact for 1 and 2; else the expansion of Abramowitz & Stegun, 26.7.5.

    >>> [round(student(df), 2) for df in (1, 2, 5, 30)]
    [12.71, 4.3, 2.57, 2.04]
    """
    p = (1 + LEVEL) / 2
    if df == 1:
        return float(math.tan(math.pi * (p - 0.5)))
    if df == 2:
        return (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    z = Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(df) ** power for power, term in enumerate(terms, start=1))


@dataclass(frozen=True, slots=True)
class Moments:
    """How many values, their sum and the sum of their squares: integers that add up exactly."""

    n: int = 0
    total: int = 0
    squares: int = 0

    @classmethod
    def of(cls, histogram: Iterable[tuple[int, int]]) -> Moments:
        """The moments of a histogram, pairs (value, count).

        >>> Moments.of([(2, 3), (5, 1)])
        Moments(n=4, total=11, squares=37)
        """
        n = total = squares = 0
        for value, count in histogram:
            n += count
            total += value * count
            squares += value * value * count
        return cls(n, total, squares)

    def __add__(self, other: Moments) -> Moments:
        """The moments of both samples together."""
        return Moments(self.n + other.n, self.total + other.total, self.squares + other.squares)

    @property
    def variance(self) -> float | None:
        """The unbiased sample variance; None below two values."""
        if self.n < 2:
            return None
        return (self.n * self.squares - self.total**2) / (self.n * (self.n - 1))

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None below two values."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance / self.n)

    def mean(self) -> Interval:
        """The mean and its interval (Student's t).

        >>> mean = Moments.of([(1, 50), (3, 50)]).mean()
        >>> mean.value, round(mean.low, 3), round(mean.high, 3)
        (2.0, 1.801, 2.199)
        """
        if self.n == 0:
            return UNKNOWN
        value = self.total / self.n
        error = self.standard_error
        if error is None:
            return Interval(value, None, None)
        half = student(self.n - 1) * error
        return Interval(value, value - half, value + half)


def difference(a: Moments, b: Moments) -> Interval:
    """Mean of ``a`` minus mean of ``b`` for two independent samples, with its interval (Welch).

    >>> difference(Moments.of([(1, 50), (3, 50)]), Moments.of([(0, 50), (2, 50)])).value
    1.0
    """
    if a.n == 0 or b.n == 0:
        return UNKNOWN
    # One division of integers: the two means are never rounded on their own.
    value = (a.total * b.n - b.total * a.n) / (a.n * b.n)
    if a.variance is None or b.variance is None:
        return Interval(value, None, None)
    parts = (a.variance / a.n, b.variance / b.n)
    if sum(parts) == 0:
        return Interval(value, value, value)
    df = sum(parts) ** 2 / (parts[0] ** 2 / (a.n - 1) + parts[1] ** 2 / (b.n - 1))
    half = student(max(1, int(df))) * math.sqrt(sum(parts))
    return Interval(value, value - half, value + half)


def quantiles(histogram: Iterable[tuple[int, int]], at: Sequence[float]) -> list[int | None]:
    """Quantiles of a histogram, pairs (value, count), in any order.

    Each is the smallest value that at least this share of the deals does not exceed, so it is a
    value that occurred. None for an empty histogram.

    >>> quantiles([(10, 1), (20, 2), (30, 1)], [0.25, 0.5, 0.9])
    [10, 20, 30]
    """
    ordered = sorted((value, count) for value, count in histogram if count)
    n = sum(count for _, count in ordered)
    found: list[int | None] = []
    for share in at:
        # Shares are given in a few decimals: 0.1 of 10 deals is the first deal, not the second.
        wanted = max(1, math.ceil(round(share * n, 6)))
        below = 0
        for value, count in ordered:
            below += count
            if below >= wanted:
                found.append(value)
                break
        else:
            found.append(None)
    return found


__all__ = [
    "LEVEL",
    "UNKNOWN",
    "Interval",
    "Moments",
    "Z",
    "difference",
    "quantiles",
    "spread",
    "student",
    "total",
    "wilson",
]
