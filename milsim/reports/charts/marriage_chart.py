"""Chart ``marriages``: how often each marriage comes, what it pays, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

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
from milsim.reports.counterfactual import REPLAYS, Counterfactual
from milsim.reports.marriage_frames import MarriageCounts, suit_frame
from milsim.reports.marriage_parts import worth_of
from milsim.reports.provenance import AnyRun, deals_of, opened

_BLUE, _AMBER, _GREEN, _RED, _ = COLOURS
_LIGHT_BLUE = "#8fc1e3"
_HALF = 0.22
_ABOVE = 0.2
_LEGEND = 3.58
MIN_DEALS = 30
"""Of fewer deals no bar or mark is drawn: it would say more than is known."""


def marriages(
    run: AnyRun,
    *,
    replays: int = REPLAYS,
    threads: int | None = None,
    known: Mapping[int, Counterfactual] | None = None,
) -> Figure:
    """How often the declarer gets each marriage, what it is worth, and his points with it.

    ``known``: what :func:`~milsim.reports.marriage_frames.replayed` found before. ``run`` is a run
    or its folder. Raises :class:`~milsim.errors.UsageError` for what is neither, and
    :class:`~milsim.errors.RunError` for a run without deals.
    """
    run = opened(run)
    worth = None if known is None else worth_of(known)
    frame = suit_frame(MarriageCounts.of(run), replays=replays, threads=threads, worth=worth)
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
                f"(the first deals of each suit, {replayed:,} at most). Right: his mean points in "
                "deals with and without the pair; they differ by more or less than its worth, "
                "since the other cards differ too. Whiskers: 95 % intervals. Nothing is drawn "
                f"from fewer than {MIN_DEALS} deals.",
                f"{deals_of(run)}, sampled · {run.provenance()}",
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
        left.set_ylim(-0.6, 3.85)
        for tick in left.get_yticklabels():
            tick.set_fontsize(10)
        figure.subplots_adjust(left=1.15 / 11)
    return figure


def _often(axes: Axes, rows: list[dict[str, Any]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("How often", pad=8)
    axes.set_xlabel("% of deals")
    if rows[0]["n"] < MIN_DEALS:
        _nothing(axes, "too few deals")
        return
    most = 100 * max([0.01, *(row["held10"] for row in rows)])
    for place, row in enumerate(rows):
        in7, in10, declared = (100 * row[name] for name in ("held7", "held10", "declared"))
        axes.barh(place, in7, 2 * _HALF, color=_BLUE)
        axes.barh(place, in10 - in7, 2 * _HALF, left=in7, color=_LIGHT_BLUE)
        axes.plot([declared] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=2.2)
        if in7 > 0.13 * most:
            clear = abs(declared - in7 / 2) > 0.08 * most  # else beside the line, not on it
            at = in7 / 2 if clear else declared + 0.02 * most
            side = "center" if clear else "left"
            _label(axes, at, place, f"{in7:.1f}", "white", ha=side, va="center")
        _label(axes, in10 + 0.02 * most, place, f"{in10:.1f}", INK, ha="left", va="center")
    _legend(axes, (0.0, "■ in 7 cards", _BLUE), (0.34, "■ from talon", "#3f7fae"),
            (0.7, "❙ declared", INK))  # fmt: skip
    axes.set_xlim(0, 1.2 * most)
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= min(100, 1.2 * most)])


def _worth(axes: Axes, rows: list[dict[str, Any]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("What it is worth, if in the 10 cards", pad=8)
    axes.set_xlabel("declarer points")
    if not any(row["value"] for row in rows):
        _nothing(axes, "these rules pay nothing\nfor a marriage")
        return
    known = [row["worth"] for row in rows if row["worth_n"] >= MIN_DEALS]
    most = max([1.0, *(row["value"] for row in rows), *known])
    least = min([0.0, *known])
    for place, row in enumerate(rows):
        pays, worth = row["value"], row["worth"]
        axes.plot([pays] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=2.2)
        beside = max(pays, 0.0) + 0.03 * most
        if row["worth_n"] < MIN_DEALS:
            _label(axes, beside, place, "too few deals", FAINT, ha="left", va="center")
            continue
        axes.barh(place, worth, 2 * _HALF, color=_GREEN)
        _whisker(axes, row["worth_low"], row["worth_high"], place)
        text = f"{worth:.0f} of {pays}"
        if worth >= 0.25 * most:
            _label(axes, worth / 2, place, text, "white", va="center")
        else:
            beside = max(beside, row["worth_high"] + 0.03 * most)
            _label(axes, beside, place, text, INK, ha="left", va="center")
    _legend(axes, (0.0, "■ worth", "#007355"), (0.27, "❙ pays when declared", INK))
    inside = all(row["worth_n"] >= MIN_DEALS and row["worth"] >= 0.25 * most for row in rows)
    axes.set_xlim(1.1 * least, (1.1 if inside else 1.45) * most)


def _points(axes: Axes, rows: list[dict[str, Any]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("Mean points without and with it", pad=8)
    axes.set_xlabel("declarer points")
    known = [[name for name in _SIDES if _deals(row, name) >= MIN_DEALS] for row in rows]
    marks = [
        row[f"points_{name}{end}"]
        for row, names in zip(rows, known, strict=True)
        for name in names
        for end in ("", "_low", "_high")
    ]
    if not marks:
        _nothing(axes, "too few deals")
        return
    span = max(max(marks) - min(marks), 5.0)
    axes.set_xlim(min(marks) - 0.18 * span, max(marks) + 0.18 * span)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    for place, (row, names) in enumerate(zip(rows, known, strict=True)):
        without, with_it = row["points_without"], row["points_with"]
        sides = dict.fromkeys(_SIDES, "center")
        if len(names) == len(_SIDES):
            axes.plot([without, with_it], [place, place], color=FAINT, linewidth=1.5, zorder=1.5)
            if abs(with_it - without) < 0.25 * span:  # labels side by side, not on each other
                ends = ("right", "left") if without < with_it else ("left", "right")
                sides = dict(zip(_SIDES, ends, strict=True))
        else:
            which = "" if not names else " with it" if names == ["without"] else " without it"
            _label(axes, 0.5, place - _ABOVE, f"too few deals{which}", FAINT, va="top", across=True)
        for name in names:
            at, colour = row[f"points_{name}"], _SIDES[name]
            marker = "o" if name == "with" else "s"
            _whisker(axes, row[f"points_{name}_low"], row[f"points_{name}_high"], place)
            axes.plot(at, place, marker=marker, markersize=8, color=colour)
            _label(axes, at, place + _ABOVE, f"{at:.0f}", INK, ha=sides[name])
    _legend(axes, (0.0, "■ without", "#8a6100"), (0.3, "● with", _RED))


_SIDES = {"without": _AMBER, "with": _RED}


def _deals(row: dict[str, Any], name: str) -> int:
    """Deals with or without the pair in the 10 cards."""
    with_it: int = round(row["held10"] * row["n"])
    return with_it if name == "with" else int(row["n"]) - with_it


def _nothing(axes: Axes, words: str) -> None:
    """An empty panel that says why."""
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=FAINT)


def _legend(axes: Axes, *entries: tuple[float, str, str]) -> None:
    """Words above the bars, each at a share of the panel's width, whatever the data."""
    for at, words, colour in entries:
        _label(axes, at + 0.015, _LEGEND, words, colour, ha="left", va="center", across=True)


def _label(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    colour: str,
    *,
    ha: str = "center",
    va: str = "bottom",
    across: bool = False,
) -> None:
    """A small text; with ``across``, x is a share of the panel's width."""
    transform = axes.get_yaxis_transform() if across else axes.transData
    axes.text(x, y, text, ha=ha, va=va, fontsize=8.5, color=colour, transform=transform)


def _whisker(axes: Axes, low: float, high: float, place: int) -> None:
    axes.plot([low, high], [place, place], color=INK, linewidth=1.4, zorder=3)
    axes.plot([low, high], [place, place], "|", color=INK, markersize=7, zorder=3)
