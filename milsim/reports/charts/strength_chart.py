"""Chart ``bid-strength``: how often each contract is made, by marriages and aces in hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from milsim.reports.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    MARKERS,
    among,
    chart_style,
    compact,
    quiet_axis,
    spread_out,
    titled_figure,
    who,
)
from milsim.reports.contract import Contract, contract_grid, safe_cap
from milsim.reports.hands import HandHistogram, Histogram
from milsim.reports.provenance import AnyRun, deals_of, opened
from milsim.reports.statistics import total, wilson
from milsim.store.run import Run

MIN_DEALS = 100
"""A class with fewer deals is not drawn: its band would fill the picture."""

SHOWN_FROM = 0.04
LEAST_SPAN = 60
"""Contracts that no class makes this often are not drawn, but those up to minimum + LEAST_SPAN."""

_PANELS = ("No marriage", "One marriage", "Two or more")
_ACES = ("no ace", "1 ace", "2 aces", "3–4 aces")
_BEYOND = 0.35
"""How strong a curve is where the contract may not be bid on these cards."""

_LABELS = 46.0
"""Room for labels left of the curves, in points of contract for each 100 points of the axis."""


@dataclass(frozen=True, slots=True)
class _Curve:
    aces: int
    n: int
    p: list[float]
    low: list[float]
    high: list[float]


def bid_strength(run: AnyRun) -> Figure:
    """P(contract is made) against the contract, one panel a number of marriages, a line by aces.

    ``run`` is a run or its folder. Raises :class:`~milsim.errors.UsageError` for what is neither,
    and :class:`~milsim.errors.RunError` for a run without deals.
    """
    run = opened(run)
    hands = HandHistogram.of(run)
    classes = _classes(hands)
    least = run.rules.auction.minimum + LEAST_SPAN
    grid = [
        contract
        for contract in contract_grid(run.rules, max(hands.most_points, least))
        if contract.value <= least or _is_shown(classes, contract)
    ]
    with chart_style():
        figure = titled_figure(
            "How high can you bid?",
            f"Chance that {who(run)} makes a contract, by the marriages and aces among his 7 "
            f"cards before the talon{among(run)}",
            [
                "How to read it: find the panel with your marriages and the line with your aces; "
                "its height above a contract is the chance to make it."
                + (" Above 50 % it wins on average, below it loses." if _is_even(run) else "")
                + " In brackets: deals played. Shaded: 95 % intervals.",
                f"{deals_of(run)}, sampled · {run.provenance()}",
            ],
            size=(11, 6.2),
        )
        if not any(total(histogram) >= MIN_DEALS for histogram in classes.values()):
            _too_few(figure, run)
            return figure
        panels = figure.subplots(1, 3, sharey=True, gridspec_kw={"wspace": 0.06})
        for marriages, axes in enumerate(panels):
            curves = [
                _curve(aces, classes[marriages, aces], grid)
                for aces in range(len(_ACES))
                if total(classes[marriages, aces]) >= MIN_DEALS
            ]
            _panel(axes, marriages, curves, grid, run)
        panels[0].set_ylabel("contract made, % of deals")
        panels[1].set_xlabel("contract (points)", labelpad=8)
    return figure


def _too_few(figure: Figure, run: Run) -> None:
    """The words of a chart without curves."""
    figure.text(
        0.5, 0.55,
        f"Too few deals: a line needs {MIN_DEALS} deals of its marriages and aces,\n"
        f"this run has {deals_of(run)} in all.",
        ha="center", va="center", fontsize=12, color=FAINT, linespacing=1.6,
    )  # fmt: skip


def _is_even(run: Run) -> bool:
    """Whether a contract pays as much as it costs, so that a chance of one half breaks even."""
    return run.rules.scoring.success == "contract"


def _classes(hands: HandHistogram) -> dict[tuple[int, int], Histogram]:
    """Declarer points by marriages (2: two or more) and aces (3: three or four)."""
    classes: defaultdict[tuple[int, int], Histogram] = defaultdict(lambda: defaultdict(int))
    for key, histogram in hands.groups("class"):
        if key is not None:
            marriages, aces = min(key[0], 2), min(key[1], 3)
            for points, n in histogram.items():
                classes[marriages, aces][points] += n
    return classes


def _is_shown(classes: dict[tuple[int, int], Histogram], contract: Contract) -> bool:
    return any(
        contract.made(histogram) >= SHOWN_FROM * total(histogram)
        for histogram in classes.values()
        if total(histogram) >= MIN_DEALS
    )


def _curve(aces: int, histogram: Histogram, grid: list[Contract]) -> _Curve:
    n = total(histogram)
    intervals = [wilson(contract.made(histogram), n) for contract in grid]
    return _Curve(
        aces,
        n,
        [100 * (interval.value or 0.0) for interval in intervals],
        [100 * (interval.low or 0.0) for interval in intervals],
        [100 * (interval.high or 0.0) for interval in intervals],
    )


def _panel(
    axes: Axes, marriages: int, curves: list[_Curve], grid: list[Contract], run: Run
) -> None:
    values = np.array([contract.value for contract in grid])
    first, last = int(values[0]), int(values[-1])
    room = _LABELS * (last - first) / 100
    quiet_axis(axes, grid="y")
    axes.set_title(_PANELS[marriages], pad=8)
    axes.set_xlim(first - room, last + 0.04 * (last - first))
    axes.set_ylim(0, 101.5)
    axes.yaxis.set_major_locator(MultipleLocator(10))
    every = next(step for step in (10, 20, 50, 100, 200, 500) if (last - first) / step <= 5)
    axes.set_xticks(range(first, last + 1, every))
    if _is_even(run):
        axes.axhline(50, color=INK, linewidth=1.2, zorder=1.5)
    if marriages == 0 and _is_even(run):
        axes.text(last, 51, "wins on average", ha="right", va="bottom", fontsize=8, color=FAINT)
        axes.text(last, 49, "loses on average", ha="right", va="top", fontsize=8, color=FAINT)
    cap = _cap(run, marriages, first, last)
    if cap is not None and curves:
        _cap_line(axes, run, cap, last - first)
    bid = int(np.searchsorted(values, cap, side="right")) if cap is not None else len(values)
    for curve in curves:
        colour = COLOURS[curve.aces]
        # What may be bid, then fainter what only a talon can make possible; they share a point.
        for part, strength in ((slice(bid), 1.0), (slice(bid - 1, None), _BEYOND)):
            axes.fill_between(
                values[part], curve.low[part], curve.high[part], color=colour,
                alpha=0.25 * strength, linewidth=0,
            )  # fmt: skip
            axes.plot(
                values[part],
                curve.p[part],
                color=colour,
                alpha=strength,
                linestyle=DASHES[curve.aces],
                marker=MARKERS[curve.aces] if strength == 1.0 else "",
                markevery=max(1, len(grid) // 12),
            )
            if bid == len(values):
                break
    starts = [curve.p[0] for curve in curves]
    for curve, start, at in zip(curves, starts, spread_out(starts, 4.2, 2, 98), strict=True):
        axes.annotate(
            f"{_ACES[curve.aces]} ({compact(curve.n)})",
            (first, start),
            (first - 0.05 * room, at),
            ha="right",
            va="center",
            fontsize=8.5,
            color=INK,
        )
    if not curves:
        axes.text(
            0.5, 0.75, f"fewer than {MIN_DEALS} deals\nwith any number of aces",
            transform=axes.transAxes, ha="center", va="center", color=FAINT,
        )  # fmt: skip


def _cap(run: Run, marriages: int, first: int, last: int) -> int | None:
    """Where bidding ends on such a hand, whichever marriages it has, if within the axis."""
    how = run.rules.auction.cap
    if how != "fixed" and (how == "none" or marriages > 0):
        return None
    cap = safe_cap(run.rules, marriages)
    return cap if first < cap < last else None


def _cap_line(axes: Axes, run: Run, cap: int, span: int) -> None:
    """A line where bidding ends, and why the curves go on."""
    words = f"no bids above {cap}"
    pays = any(run.rules.deal.marriage_values.by_suit())
    if run.rules.auction.cap == "gate" or (run.rules.auction.cap == "marriages" and pays):
        words += "\nwithout a marriage; higher\ncontracts only if the talon\ncompletes a marriage"
    axes.axvline(cap, color=FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=1.2)
    axes.text(
        cap + 0.015 * span, 98, words, ha="left", va="top", fontsize=8, color=FAINT,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0}, zorder=1.3,
    )  # fmt: skip
