"""What a report is: tables with their meaning, before they become text (see ``formats``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

Style = Literal["text", "count", "points", "percent", "exact"]


@dataclass(frozen=True, slots=True)
class Column:
    """How one column of a printed table is made from the columns of its frame.

    ``style`` is ``text``; ``count`` (a whole number with thousands separated); ``points`` (a
    number); ``percent`` (a proportion, printed in per cent); ``exact`` (a proportion that is known
    exactly). With ``low`` and ``high`` the cell shows ± half the interval, and no more digits than
    that allows. ``rank`` says what to drop first where the page is narrow: the highest; 0 stays.
    A header may have two lines.
    """

    header: str
    value: str
    style: Style = "text"
    low: str | None = None
    high: str | None = None
    rank: int = 0
    missing: str = "–"


def spread_column(header: str, name: str, style: Style = "percent", *, rank: int = 0) -> Column:
    """The column of a number with its interval, ``name_low`` to ``name_high``.

    >>> spread_column("made", "made").low
    'made_low'
    """
    return Column(header, name, style, f"{name}_low", f"{name}_high", rank)


@dataclass(frozen=True, slots=True)
class Joined:
    """The key columns as one, for a narrow page: its header, what joins them, what to say of it."""

    header: str
    joiner: str
    note: str


@dataclass(frozen=True, slots=True)
class Table:
    """A frame and how to print it.

    ``break_on`` names a column: a blank line goes where it changes. With ``summary`` the last row
    sums up the others, and a line goes before it. Rows with ``n`` below ``min_deals`` are left out
    of printed tables, never of data; a line says how many they are, so that totals still add up.
    The first ``keys`` columns say what a row is; ``joined`` makes one of them where that is needed.
    Tables of one name are views of one frame, which is in the data once.
    """

    name: str
    title: str
    frame: pl.DataFrame
    columns: tuple[Column, ...]
    break_on: str | None = None
    summary: bool = False
    min_deals: int = 0
    keys: int = 1
    joined: Joined | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Tables with all that a reader needs to trust them.

    ``kind`` is what kind of answer it is (``sampled``: with 95 % intervals), ``model`` which play
    produced it, ``provenance`` the run it comes from, ``reading`` one line on how to read a row,
    ``notes`` what else to know.
    """

    name: str
    title: str
    kind: str
    model: str
    provenance: str
    reading: str
    notes: tuple[str, ...]
    tables: tuple[Table, ...]

    def frame(self) -> pl.DataFrame:
        """All tables below each other; the first column, ``table``, tells them apart.

        Columns that a table does not have are null in its rows.
        """
        frames = [
            frame.select(pl.lit(name).alias("table"), pl.all())
            for name, frame in self.frames().items()
        ]
        return pl.concat(frames, how="diagonal")

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by the names of their tables."""
        return {table.name: table.frame for table in self.tables}

    def __str__(self) -> str:
        """The report as text for 80 columns."""
        from milsim.reports.formats import to_text

        return to_text(self, width=80)
