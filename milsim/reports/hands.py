"""The deals of a run counted by the declarer's hand: what bidding tables and charts start from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from milsim.reports.provenance import check_counted, played
from milsim.store.run import Run

By = Literal["class", "points"]
BYS: tuple[str, ...] = get_args(By)
KEYS: dict[str, tuple[str, ...]] = {
    "class": ("marriages", "aces", "guarded_tens"),
    "points": ("points_from", "points_to"),
}
BAND = 5
"""Card points a band of the table by points is wide."""

Key = tuple[int, ...]
Histogram = dict[int, int]
"""Declarer points → deals."""


def band_of(points: int) -> Key:
    """The band of card points that holds these: first and last.

    >>> band_of(34)
    (30, 34)
    """
    first = points - points % BAND
    return first, first + BAND - 1


@dataclass(frozen=True, slots=True)
class HandHistogram:
    """Deals of a run by class of the declarer's 7 cards, band of points and declarer points.

    Conceded deals are left out, for nobody took points in them: ``deals`` is how many there are
    without them.

    ``counts`` has the integer columns marriages, aces, guarded_tens, band (card points // BAND),
    declarer_points and n, sorted; a few thousand rows whatever the size of the run.
    """

    run: Run
    counts: pl.DataFrame
    deals: int

    @classmethod
    def of(cls, run: Run) -> HandHistogram:
        """Count the deals of a run; raises RunError for a run in which none was played."""
        keys = [
            pl.col("hand_marriages").alias("marriages"),
            pl.col("hand_aces").alias("aces"),
            pl.col("hand_guarded_tens").alias("guarded_tens"),
            (pl.col("hand_points") // BAND).alias("band"),
            pl.col("declarer_points"),
        ]
        counts = (
            played(run)
            .frame(features=True)
            .filter(~pl.col("conceded"))
            .group_by(keys)
            .agg(pl.len().cast(pl.Int64).alias("n"))
            .sort([key.meta.output_name() for key in keys])
            .collect()
        )
        deals = int(counts["n"].sum())
        check_counted(run, deals)
        return cls(run, counts, deals)

    def groups(self, by: str) -> Iterator[tuple[Key | None, Histogram]]:
        """Each class or band, in order, with its histogram of declarer points; None is all."""
        columns = ["band"] if by == "points" else list(KEYS["class"])
        found: defaultdict[Key, Histogram] = defaultdict(lambda: defaultdict(int))
        everything: Histogram = defaultdict(int)
        for *values, points, n in self.counts.select(*columns, "declarer_points", "n").iter_rows():
            key = band_of(BAND * values[0]) if by == "points" else tuple(values)
            found[key][points] += n
            everything[points] += n
        for key in sorted(found):
            yield key, found[key]
        yield None, everything

    @property
    def most_points(self) -> int:
        """The most declarer points in the run."""
        return int(self.counts["declarer_points"].max())  # type: ignore[arg-type]
