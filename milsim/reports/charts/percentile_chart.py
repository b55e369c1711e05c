"""Chart ``percentile``: how strong hands are among all hands, and from where on to bid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from milsim.cards import parse_hand, pretty_hand
from milsim.reports.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    chart_style,
    of_table,
    quiet_axis,
    spread_out,
    titled_figure,
)
from milsim.reports.evaluator_fit import cuts
from milsim.reports.hand_strength import Strength, named_frame
from milsim.reports.hands_known import provenance_of, table_of
from milsim.rules import Rules, load

ABOVE = (0, 20, 50)
"""The contracts whose lines are drawn, in points above the lowest."""
_COLUMN = 0.655
"""Where the hands' names stand, right of where the curve is steep, as a share of the width."""
_HALVES = 2  # the table has means in half points
_BLUE, _, _, _RED, _ = COLOURS


@dataclass(frozen=True, slots=True)
class Cut:
    """From which mean points on a contract is right, for how many hands, and how sharply so.

    ``points``: the line that separates best the hands whose right bid is ``contract`` or more from
    the others; ``above`` the share of all hands there, ``wrong`` the share on the wrong side.
    """

    contract: int
    points: float
    above: float
    wrong: float


def bid_cuts(strength: Strength) -> list[Cut]:
    """The cuts of the contracts of ABOVE, against passing; those that no line serves are left out.

    Hands that always ask for a new deal are not looked at for where to cut.
    """
    halves = np.rint(_HALVES * strength.points).astype(np.int64)
    passes, right = strength.bids.passes, strength.bids.right
    wanted = [
        each
        for each in (strength.lowest + more for more in ABOVE)
        if each in strength.table.contracts
    ]
    found = cuts(halves[passes], right[passes], tuple(wanted))
    return [
        Cut(
            contract,
            place / _HALVES,
            float((halves >= place).mean()),
            float(((halves >= place) != (right >= contract))[passes].mean()),
        )
        for contract, place in found.items()
    ]


def even_cut(strength: Strength) -> Cut | None:
    """From where on the lowest contract does not lose, as a declarer who had no choice sees it."""
    halves = np.rint(_HALVES * strength.points).astype(np.int64)
    wins = strength.even.free
    found = cuts(halves, wins, (strength.lowest,))
    if strength.lowest not in found:
        return None
    place = found[strength.lowest]
    wrong = float(((halves >= place) != (wins >= strength.lowest)).mean())
    return Cut(strength.lowest, place / _HALVES, float((halves >= place).mean()), wrong)


def strength_percentile(
    *, rules: str | Path | Rules = "mil", table: str | Path | None = None
) -> Figure:
    """The share of all hands that take fewer points than so many, with named hands and bids.

    ``rules`` and ``table`` as in :func:`milsim.reports.hands_report`, with the same errors.
    """
    chosen = load(rules)
    known = table_of(chosen, table)
    strength = Strength(known, chosen)
    lines = bid_cuts(strength)
    even = even_cut(strength)
    wrong = max((each.wrong for each in lines), default=0.0)
    with chart_style():
        figure = titled_figure(
            "How strong is your hand among all hands?",
            f"All 346,104 hands of seven cards by the points that they take as declarer on "
            f"average, before the talon, under {chosen.name}",
            [
                "How to read it: the curve is at so many per cent where so many of 100 hands take "
                "fewer points on average. ● A hand at that place of the order; its whisker is "
                "the 95 % interval of its mean"
                + (
                    ". ┊ From this line on a bid of so much mostly scores, as the contract, at "
                    "least what passing earns; it separates hands as well as one number can: "
                    f"{100 * wrong:.1f} % of all or fewer lie on the wrong side"
                    if lines
                    else ""
                )
                + (
                    f". Dotted: from here on {even.contract} does not lose, for a declarer who "
                    "has no choice."
                    if even is not None
                    else "."
                ),
                of_table(provenance_of(known, chosen)),
            ],
            size=(11, 6.6),
        )
        axes = figure.subplots()
        _curve(axes, strength)
        _bids(axes, lines, even)
        _hands(axes, strength)
    return figure


def _curve(axes: Axes, strength: Strength) -> None:
    quiet_axis(axes, grid="y")
    points = np.sort(strength.points)
    values, counts = np.unique(points, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)[:-1]]) / len(points)
    axes.plot(values, 100 * below, color=_BLUE, linewidth=2.4, gid="curve")
    span = float(values[-1] - values[0])
    axes.set_xlim(values[0] - 0.03 * span, values[-1] + 0.05 * span)
    axes.set_ylim(-2, 112)
    axes.set_yticks(range(0, 101, 10))
    axes.xaxis.set_major_locator(MultipleLocator(20))
    axes.set_xlabel("declarer points on average (cards and marriages)")
    axes.set_ylabel("hands that take fewer, %")


def _bids(axes: Axes, lines: list[Cut], even: Cut | None) -> None:
    """A vertical line a contract, with its words above the curve."""
    left, right = axes.get_xlim()
    shown = [
        (each, f"bid {each.contract}: {100 * each.above:.0f} %\nof all hands") for each in lines
    ]
    if even is not None:
        shown.insert(
            0, (even, f"{even.contract} does not lose:\n{100 * even.above:.0f} % of all hands")
        )
    gap = 0.105 * (right - left)
    places = spread_out([each.points for each, _ in shown], gap, left + gap / 2, right - gap / 2)
    for (cut, words), place in zip(shown, places, strict=True):
        is_even = cut is even
        axes.plot(
            [cut.points, cut.points], [-2, 103],
            color=FAINT if is_even else _RED,
            linestyle=DASHES[2] if is_even else DASHES[1], linewidth=1.3, zorder=1.5,
        )  # fmt: skip
        axes.text(
            place, 105, words, ha="center", va="bottom", fontsize=8,
            color=INK, linespacing=1.3,
        )  # fmt: skip


def _hands(axes: Axes, strength: Strength) -> None:
    """Hands by name, on the curve at the quantiles, their words in a column at the right."""
    rows = named_frame(strength).filter(kind="quantile").to_dicts()
    heights = [100 * row["share"] for row in rows]
    left, right = axes.get_xlim()
    column = left + _COLUMN * (right - left)
    for row, height, at in zip(rows, heights, spread_out(heights, 5.0, 2, 93), strict=True):
        axes.plot(
            [row["points_low"], row["points_high"]], [height, height], color=INK, linewidth=1.3
        )
        axes.plot(row["points"], height, "o", color=INK, markersize=5)
        axes.plot(
            [row["points_high"], column], [height, at],
            color=FAINT, linewidth=0.6, zorder=1.2,
        )  # fmt: skip
        many = "half" if row["share"] == 0.5 else f"{100 * row['share']:.0f} %"
        axes.text(
            column + 0.005 * (right - left), at,
            f"{many} take less than {row['points']:.0f}:  {pretty_hand(parse_hand(row['hand']))}",
            ha="left", va="center", fontsize=8,
        )  # fmt: skip


__all__ = ["ABOVE", "Cut", "bid_cuts", "even_cut", "strength_percentile"]
