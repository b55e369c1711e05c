"""Chart ``strength-map``: what hands are worth, by their marriages and aces, as maps of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from milsim.reports.charts.style import FAINT, INK, chart_style, of_table, quiet_axis, titled_figure
from milsim.reports.hand_strength import Strength, class_frame
from milsim.reports.hands_known import provenance_of, table_of
from milsim.rules import Rules, load

_LIGHTEST, _DARKEST = 0.03, 0.85
_WHITE_FROM = 0.68
"""Where on the scale the numbers are white: from there on the field is dark."""


def strength_map(*, rules: str | Path | Rules = "mil", table: str | Path | None = None) -> Figure:
    """Three maps, marriages across and aces up: mean points, chance of the lowest contract, bids.

    Each field has its number; the shade only repeats it. ``rules`` and ``table`` as in
    :func:`milsim.reports.hands_report`, with the same errors.
    """
    chosen = load(rules)
    known = table_of(chosen, table)
    strength = Strength(known, chosen)
    rows = class_frame(strength).head(-1).to_dicts()
    lowest = strength.lowest
    with chart_style():
        figure = titled_figure(
            "What are seven cards worth?",
            f"By marriages and aces among them, before the talon, under {chosen.name}",
            [
                "How to read it: find the column of your marriages and the row of your aces. Left: "
                "the points (cards and marriages) that the declarer takes on average, and below "
                "in how many of the 346,104 hands there are so many marriages and aces. Middle: "
                f"how often he makes {lowest}. Right: of how many of these hands a bid scores at "
                "least what passing earns; the others should pass. A darker field only repeats a "
                "higher number. Mean points and chances are known to within "
                f"{_within(rows)}; in fields of fewer than 100 hands less well.",
                of_table(provenance_of(known, chosen)),
            ],
            size=(11, 6.0),
        )
        panels = figure.subplots(1, 3, sharey=True, gridspec_kw={"wspace": 0.06})
        top = max(row["points"] for row in rows)
        _map(panels[0], rows, "points", "Declarer points, mean", (0.0, top), "hands")
        _map(panels[1], rows, "makes", f"Makes {lowest}, % of deals", (0.0, 1.0))
        _map(panels[2], rows, "bids", "Worth a bid, % of the hands", (0.0, 1.0))
        panels[0].set_ylabel("aces")
        panels[1].set_xlabel("marriages")
    return figure


def _within(rows: Sequence[dict[str, Any]]) -> str:
    """How well the numbers of the larger fields are known, in words."""
    large = [row for row in rows if row["n"] >= 100]
    points = max(row["points_high"] - row["points"] for row in large)
    makes = max(row["makes_high"] - row["makes"] for row in large)
    return f"±{points:.1f} points and ±{100 * makes:.1f} % (95 % intervals)"


def _map(
    axes: Axes,
    rows: Sequence[dict[str, Any]],
    name: str,
    title: str,
    scale: tuple[float, float],
    counted: str = "",
) -> None:
    """A field for each class that there is; classes that no seven cards can be stay empty."""
    quiet_axis(axes, grid="both")
    axes.grid(visible=False)
    axes.set_title(title, pad=8)
    colours = colormaps["Blues"]
    low, high = scale
    for row in rows:
        x, y, value = row["marriages"], row["aces"], row[name]
        share = 0.0 if value is None else (value - low) / (high - low)
        shade = to_hex(colours(_LIGHTEST + (_DARKEST - _LIGHTEST) * share))
        axes.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, edgecolor="white", linewidth=1.5)
        )
        ink = "white" if share > _WHITE_FROM else INK
        text = "none" if value is None else _number(value, percent=name != "points")
        lift = 0.08 if counted else 0.0
        axes.text(x, y + lift, text, ha="center", va="center", fontsize=11, color=ink)
        if counted:
            axes.text(
                x, y - 0.27, f"{row['n']:,}", ha="center", va="center", fontsize=7.5, color=ink
            )  # fmt: skip
    marriages = max(row["marriages"] for row in rows)
    aces = max(row["aces"] for row in rows)
    for x in range(marriages + 1):
        for y in range(aces + 1):
            if not any(row["marriages"] == x and row["aces"] == y for row in rows):
                axes.text(x, y, "–", ha="center", va="center", fontsize=9, color=FAINT)
    axes.set_xticks(np.arange(marriages + 1))
    axes.set_yticks(np.arange(aces + 1))
    axes.set_xlim(-0.5, marriages + 0.5)
    axes.set_ylim(-0.5, aces + 0.5)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _number(value: float, *, percent: bool) -> str:
    """A value as its field shows it; a share that is not all is never shown as all.

    >>> [_number(value, percent=True) for value in (0.0, 0.0004, 0.4614, 0.9979, 1.0)]
    ['0', '<0.1', '46', '99.8', '100']
    >>> _number(147.99, percent=False)
    '148'
    """
    if not percent:
        return f"{value:.0f}"
    share = 100 * value
    if 0 < share < 0.1:
        return "<0.1"
    if share < 1 or 99 < share < 100:
        return f"{share:.1f}".replace(".0", "") if share < 99.95 else ">99.9"
    return f"{share:.0f}"


__all__ = ["strength_map"]
