"""Runs counted part by part: several small frames of whole numbers from one reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from milsim.reports.statistics import Moments
from milsim.store.run import Run

Rows = Callable[[pl.LazyFrame], pl.LazyFrame]
"""The rows of a part with the columns that are counted."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """What to count: rows with the same ``keys``, and the sums of other columns over them.

    ``squares`` are summed too, and the squares of their values as ``x_squares``. ``few`` says
    that the keys have a handful of values, and is quicker for them.
    """

    keys: tuple[str, ...]
    sums: tuple[str, ...] = ()
    squares: tuple[str, ...] = ()
    few: bool = False

    @property
    def sum_names(self) -> tuple[str, ...]:
        """The columns of sums in the frame, after the keys and ``n``."""
        return (*self.sums, *self.squares, *(f"{name}_squares" for name in self.squares))

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows counted: the keys, ``n`` and the sums, int64, in no order."""
        values = {name: pl.col(name).cast(pl.Int64) for name in (*self.sums, *self.squares)}
        wanted = [
            pl.len().cast(pl.Int64).alias("n"),
            *(value.sum() for value in values.values()),
            *(
                (values[name] * values[name]).sum().alias(f"{name}_squares")
                for name in self.squares
            ),
        ]
        if not self.few:
            return rows.group_by(self.keys).agg(wanted)
        return pl.concat(
            group.select(pl.col(self.keys).first(), *wanted)
            for group in rows.partition_by(self.keys)
        )

    def merged(self, counts: list[pl.DataFrame]) -> pl.DataFrame:
        """Counts of several parts as one frame, sorted by its keys."""
        return (
            pl.concat(counts)
            .group_by(self.keys)
            .agg(pl.col("n", *self.sum_names).sum())
            .sort(self.keys)
        )


def count_by_part(
    run: Run, rows: Rows, groupings: Mapping[str, Grouping]
) -> dict[str, pl.DataFrame]:
    """A frame for each grouping, of all rows of a run; memory is that of one part."""
    found: dict[str, pl.DataFrame] = {}
    for part in run.by_part():
        counted = rows(part).collect()
        for name, grouping in groupings.items():
            earlier = [found[name]] if name in found else []
            found[name] = grouping.merged([*earlier, grouping.of(counted)])
    return found


def moments(sums: Mapping[str, int], name: str) -> Moments:
    """The moments of a column, from a row of its sums; what has no squares is a flag, 0 or 1.

    >>> moments({"n": 2, "points": 210, "points_squares": 22_100}, "points").mean().value
    105.0
    """
    return Moments(sums["n"], sums[name], sums.get(f"{name}_squares", sums[name]))


def summed(frame: pl.DataFrame, condition: pl.Expr | None = None) -> dict[str, int]:
    """The sums of a frame of counts, of all rows or those of a condition; of numbers, not flags."""
    chosen = frame if condition is None else frame.filter(condition)
    sums = chosen.select(pl.all().exclude(pl.Boolean).sum()).row(0, named=True)
    return {name: int(value) for name, value in sums.items()}


__all__ = ["Grouping", "Rows", "count_by_part", "moments", "summed"]
