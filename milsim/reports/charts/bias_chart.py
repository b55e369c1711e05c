"""Chart ``bias``: how far double dummy is above or below play, by class of hand and by points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from milsim.reports.bias_frames import MIN_DEALS, bias_frame
from milsim.reports.bias_points import CommonDeals, common_deals
from milsim.reports.charts.style import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    among,
    chart_style,
    quiet_axis,
    titled_figure,
    who,
)
from milsim.reports.provenance import AnyRun

_SHAPES = "●■▲◆▼"
"""The marks of MARKERS as letters."""
_APART = 0.17
"""How far marks of several models of one row stand apart, in rows."""


def bias_chart(*runs: AnyRun) -> Figure:
    """How far the first model is above or below the others on the same deals, with intervals.

    ``runs`` is one run with double-dummy values, or several runs of the same deals, as in
    :func:`milsim.reports.bias`, with the same errors. Drawn is the first model (double dummy, if a
    run has it) minus each other.
    """
    deals = common_deals(runs)
    frame, run = bias_frame(deals), deals.runs[0]
    base = deals.models[0]
    others = [model.name for model in deals.models[1:]]
    title = "double dummy" if base.double_dummy else base.name
    marked = zip(_SHAPES, others, strict=False) if len(others) > 1 else [("", others[0])]
    below = ", ".join(f"{shape} {name}".strip() for shape, name in marked)
    with chart_style():
        figure = titled_figure(
            f"How far is {title} from play?",
            f"{base.name[0].upper()}{base.name[1:]} less {below}, on the same deals: points of "
            f"{who(run)} as declarer"
            f"{among(run)}",
            [
                "How to read it: right of 0 the declarer gets more by "
                f"{base.name} than in play, left of it fewer. Left, by the marriages and aces "
                "among his 7 cards (in brackets: deals); right, how many more or fewer of 100 "
                "deals reach so many points. Whiskers: 95 % intervals, on paired differences of "
                f"the same deals. Classes of fewer than {MIN_DEALS} deals are not drawn."
                + (
                    " Double dummy sees all cards and plays all three hands with them."
                    if base.double_dummy
                    else ""
                ),
                _from(deals),
            ],
            size=(11, 6.4),
        )
        classes = _classes(frame)
        if not classes:
            _too_few(figure, deals)
            return figure
        left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.3, "width_ratios": (1.4, 1)})
        _differences(left, frame, classes, others)
        _reached(right, frame, others)
        figure.subplots_adjust(left=2.3 / 11)
    return figure


def _from(deals: CommonDeals) -> str:
    provenance = " · ".join(run.provenance() for run in deals.runs)
    n = deals.rows.height
    common = "1 deal" if n == 1 else f"{n:,} deals"
    return f"{common}, sampled · {provenance}"


def _too_few(figure: Figure, deals: CommonDeals) -> None:
    """The words of a chart without marks."""
    figure.text(
        0.5, 0.55,
        f"Too few deals: a mark needs {MIN_DEALS} deals of its marriages and aces,\n"
        f"there are {deals.rows.height} in all.",
        ha="center", va="center", fontsize=12, color=FAINT, linespacing=1.6,
    )  # fmt: skip


def _classes(frame: pl.DataFrame) -> list[tuple[int, int]]:
    """The classes that are drawn: marriages and aces."""
    rows = frame.filter((pl.col("part") == "class") & (pl.col("n") >= MIN_DEALS))
    return sorted({(row["marriages"], row["aces"]) for row in rows.to_dicts()})


def _class_name(marriages: int, aces: int, n: int) -> str:
    """A class in words.

    >>> _class_name(1, 0, 1234)
    '1 marriage, no ace (1,234)'
    """
    held = "no marriage" if marriages == 0 else f"{marriages} marriage{'s' * (marriages > 1)}"
    has = "no ace" if aces == 0 else f"{aces} ace{'s' * (aces > 1)}"
    return f"{held}, {has} ({n:,})"


def _differences(
    axes: Axes, frame: pl.DataFrame, classes: list[tuple[int, int]], others: Sequence[str]
) -> None:
    """A row a class, all deals below them."""
    quiet_axis(axes, grid="x")
    axes.set_title("Declarer points, by class of hand", pad=8)
    names = []
    for place, key in enumerate([*classes, None]):
        part = frame.filter(part="all") if key is None else frame.filter(
            part="class", marriages=key[0], aces=key[1]
        )  # fmt: skip
        rows = {row["model"]: row for row in part.to_dicts()}
        for which, name in enumerate(others):
            _mark(axes, rows[name], place, which, len(others), scale=1)
        n = next(iter(rows.values()))["n"]
        names.append(f"all ({n:,})" if key is None else _class_name(*key, n))
    axes.axhline(len(classes) - 0.5, color=FAINT, linewidth=0.8)
    _rows(axes, names)
    axes.set_xlabel("points a deal")


def _reached(axes: Axes, frame: pl.DataFrame, others: Sequence[str]) -> None:
    """A row a number of points, the lowest above."""
    quiet_axis(axes, grid="x")
    axes.set_title("Deals that reach so many points", pad=8)
    made = frame.filter(part="made").to_dicts()
    levels = sorted({row["contract"] for row in made})
    for row in made:
        _mark(
            axes, row, levels.index(row["contract"]), others.index(row["model"]), len(others),
            scale=100,
        )  # fmt: skip
    _rows(axes, [str(level) for level in levels])
    axes.set_xlabel("percentage points")


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """The names of rows, the first above, the scale about 0, with room for numbers."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.axvline(0, color=INK, linewidth=1.1, zorder=1.5)
    low, high = axes.get_xlim()
    span = max(high - low, 1.0)
    axes.set_xlim(min(low, 0.0) - 0.06 * span, max(high, 0.0) + 0.2 * span)


def _mark(axes: Axes, row: dict[str, Any], place: int, which: int, of: int, *, scale: int) -> None:
    """The first model minus another, with its interval and, where there is room, its number."""
    value = row["difference"]
    if value is None:
        return
    low, high = row["difference_low"], row["difference_high"]
    value, low, high = -scale * value, -scale * high, -scale * low
    y = place + _APART * (2 * which - of + 1)
    colour = COLOURS[which % len(COLOURS)]
    axes.plot([low, high], [y, y], color=colour, linewidth=1.6, zorder=3)
    axes.plot(
        value, y, MARKERS[which % len(MARKERS)], color=colour, markersize=5.5, zorder=3.1,
    )  # fmt: skip
    if of <= 2:
        axes.annotate(
            f"{value:+.1f}".replace("-", "−"), (high, y), xytext=(4, 0),
            textcoords="offset points", ha="left", va="center", fontsize=8, color=INK, zorder=2,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
        )  # fmt: skip


__all__ = ["bias_chart"]
