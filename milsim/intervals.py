"""An estimate with its interval, and Wilson's interval for proportions.

Here and not with the reports, because runs are stopped by them, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""The exact 97.5 % quantile of the normal distribution, 1.9599…"""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval, in the estimate's own unit.

    What cannot be known (a proportion of nothing, the spread of a single deal) is ``None``.
    """

    value: float | None
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2


UNKNOWN = Interval(None, None, None)


def wilson(successes: float, n: float, z: float = Z) -> Interval:
    """The proportion ``successes / n`` with its Wilson score interval; unknown if n is 0.

    Neither need be whole: values that are not independent are worth fewer than they are.

    >>> interval = wilson(10, 20)
    >>> interval.value, round(interval.low, 4), round(interval.high, 4)
    (0.5, 0.2993, 0.7007)
    >>> wilson(0, 0) == UNKNOWN
    True
    """
    if n == 0:
        return UNKNOWN
    p = successes / n
    shrink = 1 + z * z / n
    centre = (p + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At 0 and n the bound is exact; rounding must not put the estimate outside of its interval.
    low = 0.0 if successes == 0 else min(max(centre - half, 0.0), p)
    high = 1.0 if successes == n else max(min(centre + half, 1.0), p)
    return Interval(p, low, high)


__all__ = ["LEVEL", "UNKNOWN", "Interval", "Z", "wilson"]
