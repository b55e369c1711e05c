"""Estimates from deals that belong together: the deals of one match are no independent sample.

A cluster is what is independent of the others: a match, or a deal with the several hands that it
has. What comes in are sums over clusters, integers that merge by addition; see ``statistics``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from milsim.reports.statistics import UNKNOWN, Interval, Moments, student, wilson


@dataclass(frozen=True, slots=True)
class Clusters:
    """Sums over clusters of their counts x and totals y: of each, and of their squares.

    The mean of y over x, such as the mean bid of all deals (y the bids, x the deals of a match),
    has the interval of a ratio of two sums over independent clusters.
    """

    clusters: int = 0
    x: int = 0
    y: int = 0
    xx: int = 0
    xy: int = 0
    yy: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Clusters:
        """The sums of pairs (x, y), one a cluster.

        >>> Clusters.of([(2, 200), (1, 120)]).mean().value
        106.66666666666667
        """
        found = cls()
        for x, y in pairs:
            found += cls(1, x, y, x * x, x * y, y * y)
        return found

    def __add__(self, other: Clusters) -> Clusters:
        """The sums of both samples together."""
        return Clusters(
            self.clusters + other.clusters,
            self.x + other.x,
            self.y + other.y,
            self.xx + other.xx,
            self.xy + other.xy,
            self.yy + other.yy,
        )

    @property
    def n(self) -> int:
        """How many values there are, such as deals."""
        return self.x

    @property
    def variance(self) -> float | None:
        """The variance of y / x by linearisation; None below two clusters."""
        if self.clusters < 2 or self.x == 0:
            return None
        # Integers up to the division: nothing cancels.
        spread = self.yy * self.x**2 - 2 * self.x * self.y * self.xy + self.y**2 * self.xx
        return self.clusters / (self.clusters - 1) * (spread / self.x**4)

    def mean(self) -> Interval:
        """The mean y / x and its interval (Student's t); unknown of nothing.

        With clusters of one value each it is that of :class:`Moments`.

        >>> mean = Clusters.of([(1, 1), (1, 3)] * 50).mean()
        >>> mean.value, round(mean.low, 3), round(mean.high, 3)
        (2.0, 1.801, 2.199)
        """
        if self.x == 0:
            return UNKNOWN
        value, variance = self.y / self.x, self.variance
        if variance is None:
            return Interval(value, None, None)
        half = student(self.clusters - 1) * math.sqrt(variance)
        return Interval(value, value - half, value + half)

    def share(self) -> Interval:
        """The proportion y of x with a Wilson interval of as many values as it is worth.

        Values that go together in a cluster are worth less than independent ones: as many as give
        the variance that the clusters show, never more than there are.

        >>> Clusters.of([(1, 0), (1, 1)] * 10).share() == wilson(10, 20)
        True
        >>> half = Clusters.of([(10, 0), (10, 10)] * 10).share().half_width
        >>> half > 3 * wilson(100, 200).half_width
        True
        """
        if self.x == 0:
            return UNKNOWN
        if self.x == self.clusters:
            return wilson(self.y, self.x)
        p, variance = self.y / self.x, self.variance
        if variance is None:
            return Interval(p, None, None)
        if self.y in (0, self.x):
            # How values go together does not show where all are alike: a cluster counts once.
            return wilson(p * self.clusters, self.clusters)
        worth = min(float(self.x), p * (1 - p) / variance if variance > 0 else math.inf)
        return wilson(p * worth, worth, student(self.clusters - 1))


def clusters_of(
    rows: pl.DataFrame,
    cluster: str,
    keys: Sequence[str],
    values: Sequence[str],
    weight: str | None = None,
) -> dict[tuple[Any, ...], dict[str, Clusters]]:
    """For each combination of ``keys``, and each of ``values``, the sums over clusters.

    With ``weight``, a column, a cluster stands for as many that are alike.

    >>> rows = pl.DataFrame({"match": [1, 1, 2], "seat": [0, 0, 0], "bid": [100, 110, 120]})
    >>> clusters_of(rows, "match", ["seat"], ["bid"])[(0,)]["bid"].mean().value
    110.0
    """
    inner = rows.group_by([cluster, *keys]).agg(
        pl.len().cast(pl.Int64).alias("x"),
        *(pl.col(name).cast(pl.Int64).sum().alias(f"{name}:y") for name in values),
        _weight(weight),
    )
    x, w = pl.col("x"), pl.col("w")
    sums = [w.sum().alias("clusters"), (w * x).sum().alias("sum"), (w * x * x).sum().alias("xx")]
    for name in values:
        y = pl.col(f"{name}:y")
        sums += [
            (w * y).sum().alias(f"{name}:y"),
            (w * x * y).sum().alias(f"{name}:xy"),
            (w * y * y).sum().alias(f"{name}:yy"),
        ]
    # Without keys there is one group: a column that never changes stands for them.
    by: list[pl.Expr] = [pl.col(key) for key in keys] or [pl.lit(0).alias("all")]
    outer = inner.group_by(by).agg(sums)
    found = {}
    for row in outer.to_dicts():
        found[tuple(row[key] for key in keys)] = {
            name: Clusters(
                row["clusters"],
                row["sum"],
                row[f"{name}:y"],
                row["xx"],
                row[f"{name}:xy"],
                row[f"{name}:yy"],
            )
            for name in values
        }
    return found


def _weight(weight: str | None) -> pl.Expr:
    """For how many clusters each stands, as the column w."""
    counted = pl.lit(1) if weight is None else pl.col(weight).first()
    return counted.cast(pl.Int64).alias("w")


def shares_of(
    rows: pl.DataFrame, cluster: str, key: str, weight: str | None = None
) -> dict[Any, Clusters]:
    """How many rows of each cluster have each value of ``key``, to be a share of all rows.

    The sums of a value have the y only; those of all rows stand once, at None. So both add up over
    parts of which some lack a value, and their sum has the :meth:`Clusters.share`.

    >>> rows = pl.DataFrame({"match": [1, 1, 2], "bid": [100, 110, 100]})
    >>> found = shares_of(rows, "match", "bid")
    >>> found[None] + found[110]
    Clusters(clusters=2, x=3, y=1, xx=5, xy=2, yy=1)
    """
    count = pl.len().cast(pl.Int64)
    sizes = rows.group_by(cluster).agg(count.alias("x"), _weight(weight))
    x, y, w = pl.col("x"), pl.col("y"), pl.col("w")
    clusters, total, squares = sizes.select(
        w.sum(), (w * x).sum().alias("x"), (w * x * x).sum().alias("xx")
    ).row(0)
    sums = (
        rows.group_by(cluster, key)
        .agg(count.alias("y"))
        .join(sizes, on=cluster)
        .group_by(key)
        .agg(
            (w * y).sum().alias("y"),
            (w * x * y).sum().alias("xy"),
            (w * y * y).sum().alias("yy"),
        )
    )
    found: dict[Any, Clusters] = {None: Clusters(clusters, total, 0, squares)}
    for row in sums.to_dicts():
        found[row[key]] = Clusters(0, 0, row["y"], 0, row["xy"], row["yy"])
    return found


def moments_of(values: pl.Series) -> Moments:
    """The moments of a column of whole numbers.

    >>> moments_of(pl.Series([2, 2, 5]))
    Moments(n=3, total=9, squares=33)
    """
    wide = values.cast(pl.Int64)
    return Moments(len(wide), int(wide.sum()), int((wide * wide).sum()))
