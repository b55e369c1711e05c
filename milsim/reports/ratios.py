"""Means and shares whose denominators vary from deal to deal, from sums of products.

A policy declares in some deals at some tables only, so "points as declarer" is a ratio of two sums.
One deal at all its tables is one observation (a cluster): the interval is that of a ratio estimator
(Cochran 1977, Sampling Techniques, 6.3), from the sums of all products of a deal's numbers. These
are whole numbers and add up exactly, in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milsim.reports.statistics import UNKNOWN, Interval, student

Weights = NDArray[np.int64]
"""What to add up: a whole weight for each number of a deal; number 0 is always 1."""


@dataclass(frozen=True, slots=True)
class Products:
    """Sums of the products of every two numbers of a deal, int64 (numbers, numbers)."""

    sums: NDArray[np.int64]

    @classmethod
    def none(cls, numbers: int) -> Products:
        """Of no deals; each deal has so many numbers, and a 1 before them."""
        return cls(np.zeros((numbers + 1, numbers + 1), dtype=np.int64))

    @classmethod
    def of(cls, numbers: NDArray[np.int64]) -> Products:
        """Of some deals: int64 (numbers, deals).

        >>> Products.of(np.array([[2, 3], [1, 1]])).sums.tolist()
        [[2, 5, 2], [5, 13, 5], [2, 5, 2]]
        """
        rows = np.vstack([np.ones((1, numbers.shape[1]), dtype=np.int64), numbers])
        return cls(rows @ rows.T)

    def __add__(self, other: Products) -> Products:
        """Of both samples together."""
        return Products(self.sums + other.sums)

    @property
    def n(self) -> int:
        """How many deals there are."""
        return int(self.sums[0, 0])

    def total(self, weights: Weights) -> int:
        """The weighted sum of the numbers over all deals."""
        return int(self.sums[0] @ weights)

    def ratio(self, top: Weights, bottom: Weights, unit: float = 1.0) -> Interval:
        """The sum of ``top`` over that of ``bottom``, times ``unit``, with its 95 % interval.

        >>> deals = Products.of(np.array([[100, 0, 120, -100], [1, 0, 1, 1]]))
        >>> found = deals.ratio(np.array([0, 1, 0]), np.array([0, 0, 1]))
        >>> found.value, round(found.half_width)
        (40.0, 210)
        """
        above, below = self.total(top), self.total(bottom)
        if self.n == 0 or below == 0:
            return UNKNOWN
        value = unit * above / below
        if self.n < 2:
            return Interval(value, None, None)
        # Residuals top − (above / below) · bottom, times below: whole numbers, however large.
        weights = [int(t) * below - above * int(b) for t, b in zip(top, bottom, strict=True)]
        cells = [[int(cell) for cell in row] for row in self.sums]
        used = [place for place, weight in enumerate(weights) if weight]
        squares = sum(weights[i] * weights[j] * cells[i][j] for i in used for j in used)
        variance = squares * self.n / (self.n - 1)
        half = abs(unit) * student(self.n - 1) * math.sqrt(max(variance, 0)) / below**2
        return Interval(value, value - half, value + half)


__all__ = ["Products", "Weights"]
