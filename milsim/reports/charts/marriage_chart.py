"""Chart ``marriages``: how often each marriage comes, what it pays, and what it is worth."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from milsim.cards import SUIT_NAMES, SUIT_SYMBOLS
from milsim.reports.charts.style import (
    COLOURS,
    FAINT,
    INK,
    among,
    chart_style,
    quiet_axis,
    titled_figure,
    who,
)
from milsim.reports.counterfactual import REPLAYS
from milsim.reports.marriage_frames import MarriageCounts, suit_frame
from milsim.store.run import Run

_BLUE, _AMBER, _GREEN, _RED, _ = COLOURS
_LIGHT_BLUE = "#8fc1e3"
_HALF = 0.22
_ABOVE = 0.2


def marriages(run: Run, *, replays: int = REPLAYS, threads: int | None = None) -> Figure:
    """How often the declarer gets each marriage, what it is worth, and his points with it.

    Raises :class:`~milsim.errors.RunError` for a run without deals.
    """
    frame = suit_frame(MarriageCounts.of(run), replays=replays, threads=threads)
    rows = {row["suit"]: row for row in frame.to_dicts()}
    # The dearest above; of equal values the suits as cards are printed.
    suits = sorted(range(4), key=lambda suit: (rows[SUIT_NAMES[suit]]["value"], suit))
    ordered = [rows[SUIT_NAMES[suit]] for suit in suits]
    replayed = max(row["worth_n"] for row in ordered)
    with chart_style():
        figure = titled_figure(
            "What is a marriage worth?",
            f"King and queen of one suit, held by {who(run)} as declarer{among(run)}",
            [
                "How to read it: left, how often he holds the pair, in his 7 cards or only with "
                "the talon's 3, and how often he declares it. Middle: the points that he loses "
                "when deals in which he holds it are played again with the pair paying nothing "
                f"(the first {replayed:,} deals a suit, or all). Right: his mean points in deals "
                "with and without the pair; they differ by more or less than its worth, since "
                "the other cards differ too. Whiskers: 95 % intervals, mostly smaller than the "
                "marks.",
                f"{run.deals:,} deals, sampled · {run.provenance()}",
            ],
            size=(11, 5.6),
        )
        left, middle, right = figure.subplots(
            1, 3, sharey=True, gridspec_kw={"wspace": 0.12, "width_ratios": (1, 1.05, 1.15)}
        )
        _often(left, ordered)
        _worth(middle, ordered)
        _points(right, ordered)
        left.set_yticks(range(4), [f"{SUIT_SYMBOLS[s]} {SUIT_NAMES[s]}" for s in suits])
        left.set_ylim(-0.6, 3.75)
        for tick in left.get_yticklabels():
            tick.set_fontsize(10)
        figure.subplots_adjust(left=1.15 / 11)
    return figure


def _often(axes: Axes, rows: list[dict[str, Any]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("How often", pad=8)
    axes.set_xlabel("% of deals")
    most = 100 * max([0.01, *(row["held10"] for row in rows)])
    for place, row in enumerate(rows):
        in7, in10, declared = (100 * row[name] for name in ("held7", "held10", "declared"))
        axes.barh(place, in7, 2 * _HALF, color=_BLUE)
        axes.barh(place, in10 - in7, 2 * _HALF, left=in7, color=_LIGHT_BLUE)
        axes.plot([declared] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=2.2)
        _label(axes, in7 / 2, place, f"{in7:.1f}", "white", va="center")
        _label(axes, in10 + 0.02 * most, place, f"{in10:.1f}", INK, ha="left", va="center")
    top = len(rows) - 1
    in7, in10 = 100 * rows[top]["held7"], 100 * rows[top]["held10"]
    _label(axes, in7 / 2, top + _HALF + 0.13, "in 7 cards", _BLUE)
    _label(axes, (in7 + in10) / 2, top + _HALF + 0.13, "from talon", "#3f7fae")
    declared = 100 * rows[0]["declared"]
    _label(axes, declared, -0.36, "declared", INK, va="top")
    axes.set_xlim(0, 1.2 * most)


def _worth(axes: Axes, rows: list[dict[str, Any]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("What it is worth, if in the 10 cards", pad=8)
    axes.set_xlabel("declarer points")
    most = max([1.0] + [max(row["value"], row["worth"] or 0.0) for row in rows])
    for place, row in enumerate(rows):
        pays, worth = row["value"], row["worth"]
        axes.plot([pays] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=2.2)
        if worth is None:
            _label(axes, pays / 2, place, "too few deals", FAINT, va="center")
            continue
        axes.barh(place, worth, 2 * _HALF, color=_GREEN)
        if row["worth_low"] is not None:
            _whisker(axes, row["worth_low"], row["worth_high"], place)
        text = f"{worth:.0f} of {pays}"
        if worth >= 0.25 * most:
            _label(axes, worth / 2, place, text, "white", va="center")
        else:
            _label(axes, max(worth, pays) + 0.02 * most, place, text, INK, ha="left", va="center")
    top = rows[-1]
    if top["worth"] is not None:
        _label(axes, top["worth"] / 2, len(rows) - 1 + _HALF + 0.13, "worth", "#007355")
    _label(axes, rows[0]["value"], -0.36, "pays when declared", INK, va="top")
    least = min([0.0] + [row["worth"] or 0.0 for row in rows])
    axes.set_xlim(1.1 * least, 1.15 * most)


def _points(axes: Axes, rows: list[dict[str, Any]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("Mean points without and with it", pad=8)
    axes.set_xlabel("declarer points")
    names = ("points_without", "points_with")
    marks = [row[f"{n}{end}"] for row in rows for n in names for end in ("", "_low", "_high")]
    known = [mark for mark in marks if mark is not None]
    span = max(known) - min(known) + 1
    axes.set_xlim(min(known) - 0.18 * span, max(known) + 0.18 * span)
    for place, row in enumerate(rows):
        without, with_it = (row[name] for name in names)
        sides = ("center", "center")
        if without is not None and with_it is not None:
            axes.plot([without, with_it], [place, place], color=FAINT, linewidth=1.5, zorder=1.5)
            if abs(with_it - without) < 0.25 * span:  # labels side by side, not on each other
                sides = ("right", "left") if without < with_it else ("left", "right")
        for name, words, colour, ink, marker, side in (
            ("points_without", "without", _AMBER, "#8a6100", "s", sides[0]),
            ("points_with", "with", _RED, _RED, "o", sides[1]),
        ):
            if row[name] is None:
                continue
            if row[f"{name}_low"] is not None:
                _whisker(axes, row[f"{name}_low"], row[f"{name}_high"], place)
            axes.plot(row[name], place, marker=marker, markersize=8, color=colour)
            _label(axes, row[name], place + _ABOVE, f"{row[name]:.0f}", INK, ha=side)
            if place == len(rows) - 1:
                _label(axes, row[name], place - _ABOVE, words, ink, ha=side, va="top")


def _label(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    colour: str,
    *,
    ha: str = "center",
    va: str = "bottom",
) -> None:
    axes.text(x, y, text, ha=ha, va=va, fontsize=8.5, color=colour)


def _whisker(axes: Axes, low: float, high: float, place: int) -> None:
    axes.plot([low, high], [place, place], color=INK, linewidth=1.4, zorder=3)
    axes.plot([low, high], [place, place], "|", color=INK, markersize=7, zorder=3)
