"""How much of the declarer's points the talon decides: their variance in three parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.reports.statistics import UNKNOWN, Interval, Moments, Z, spread
from milsim.reports.talon_counts import HAND, TalonCounts

TALON = ("new", "talon_aces")
"""The class of a talon: the marriages that it completes, and its aces."""
PARTS = ("the seven cards", "the talon", "everything else", "all")
QUANTILES = (5, 25, 50, 75, 95)

RARE = 3
"""Classes of so many deals or fewer are like those of one deal."""
MOST_SINGLE = 0.2
"""Of more deals that are alone in their class no share is known."""

Numbers = NDArray[np.float64]


def gain_rows(counts: TalonCounts) -> list[dict[str, Any]]:
    """A row each of PARTS; see :func:`milsim.reports.talon_frames.talon`."""
    cells = counts.cells
    n = cells["n"].to_numpy().astype(np.float64)
    points = cells["points"].to_numpy().astype(np.float64)
    deals = counts.deals
    mean = math.fsum(n * points) / deals
    by_hand, by_talon = _means(cells, HAND), _means(cells, (*HAND, *TALON))
    off = points - mean, points - by_hand, points - by_talon
    parts = (by_hand - mean, by_talon - by_hand, points - by_talon, points - mean)
    squares = (off[0] ** 2 - off[1] ** 2, off[1] ** 2 - off[2] ** 2, off[2] ** 2)
    shares: list[Interval] = [UNKNOWN] * 3
    variance = Moments.of(cells.select("points", "n").iter_rows()).variance
    within = [_within(cells, keys) for keys in (HAND, (*HAND, *TALON))]
    if variance and None not in within:
        left = [1.0, *(each / variance for each in within if each is not None)]
        values = (left[0] - left[1], left[1] - left[2], left[2])
        shares = [
            _ratio(value, n, square, off[0] ** 2)
            for value, square in zip(values, squares, strict=True)
        ]
    shares.append(Interval(1.0, 1.0, 1.0))
    rows = []
    for name, share, part in zip(PARTS, shares, parts, strict=True):
        known = share.value is not None and variance is not None
        deviation = math.sqrt(max(share.value or 0.0, 0.0) * (variance or 0.0)) if known else None
        rows.append(
            {
                "part": name,
                "n": deals,
                **spread("share", share),
                "deviation": deviation,
                **{
                    f"q{at}": value
                    for at, value in zip(QUANTILES, _quantiles(part, n, QUANTILES), strict=True)
                },
            }
        )
    return rows


def _means(cells: pl.DataFrame, keys: Sequence[str]) -> Numbers:
    """For each row the mean points of its class: whole numbers are added, then divided once."""
    total = (pl.col("n") * pl.col("points").cast(pl.Int64)).sum().over(keys)
    return cells.select(total / pl.col("n").sum().over(keys)).to_series().to_numpy()


def _within(cells: pl.DataFrame, keys: Sequence[str]) -> float | None:
    """The mean over deals of the variance within their class, without bias by few deals a class.

    A class of one deal says nothing of its variance; it is given the mean one of the classes of two
    or three, which are as rare. None where too many are such.
    """
    points = pl.col("points").cast(pl.Int64)
    sums = cells.group_by(keys).agg(
        pl.col("n").sum(),
        total=(pl.col("n") * points).sum(),
        squares=(pl.col("n") * points * points).sum(),
    )
    added, rare, single = [], [], 0
    for n, total, squares in sums.select("n", "total", "squares").iter_rows():
        variance = Moments(n, total, squares).variance
        if variance is None:
            single += n
        else:
            added.append(n * variance)
            if n <= RARE:
                rare.append((n, n * variance))
    deals = int(sums["n"].sum())
    if single > MOST_SINGLE * deals or (single and not rare):
        return None
    if single:
        added.append(single * math.fsum(each for _, each in rare) / sum(n for n, _ in rare))
    return math.fsum(added) / deals


def _ratio(value: float, n: Numbers, part: Numbers, whole: Numbers) -> Interval:
    """A share with the interval of the ratio of two means over deals (by linearisation)."""
    deals, mean = math.fsum(n), math.fsum(n * whole)
    half = (
        Z
        * math.sqrt(math.fsum(n * (part - value * whole) ** 2))
        * math.sqrt(deals / max(deals - 1, 1))
        / mean
    )
    return Interval(value, value - half, value + half)


def _quantiles(values: Numbers, n: Numbers, at: Sequence[int]) -> list[float]:
    """Quantiles in per cent over deals: the smallest value that so many do not exceed."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(n[order])
    wanted = np.maximum(np.ceil(np.round(np.array(at) / 100 * below[-1], 6)), 1)
    places = np.searchsorted(below, wanted)
    return [float(value) for value in values[order][places]]


__all__ = ["PARTS", "QUANTILES", "gain_rows"]
