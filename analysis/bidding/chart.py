"""The pictures of the study: bidding.png and .svg from tables/, and those of `milsim chart`.

    python analysis/bidding/chart.py

The same tables give the same bytes.
"""

from __future__ import annotations

import csv

from collect import HERE, PLAN
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from milsim.files import write_atomically
from milsim.reports import chart
from milsim.reports.charts.style import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    chart_style,
    picture,
    quiet_axis,
    titled_figure,
)

ROWS = {
    "advice −40": "bolder by 40 points",
    "advice −20": "bolder by 20",
    "advice −10": "bolder by 10",
    "advice": "the advice of milsim hand",
    "advice +10": "more careful by 10",
    "advice +20": "more careful by 20",
    "advice +40": "more careful by 40 points",
    "advice, relative": "the advice, by the lead",
    "count less 4 an ace": "the count, less 4 an ace",
    "count against passing": "the count, against passing",
    "point count": "the count that does not lose",
    "does not lose": "whatever does not lose",
    "opening table": "the opening table",
    "never bids": "never bids",
}
LOW = -7.0
GROUPS_END = ("advice +40", "advice, relative")


def table(name: str) -> list[dict[str, str]]:
    with (HERE / "tables" / f"{name}.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def figures(rules: str) -> dict[str, dict[str, str]]:
    """By bidder: the line of tables/ that has its gains."""
    found = {}
    for line in table("margins"):
        if line["rules"] == rules and line["a bid must score"] != "0":
            found[f"advice {line['a bid must score']}"] = line
    for line in table("reality"):
        if line["rules"] == rules:
            found[line["who bids"]] = line
    return found


def draw(axes: Axes, rules: str) -> None:
    lines = figures(rules)
    axes.axvline(0, color=INK, linewidth=1.1, zorder=1.2)
    for place, name in enumerate(ROWS):
        for which, what in enumerate(("own", "lead")):
            y = place + (0.16 if which else -0.16)
            mean = float(lines[name][f"{what} over expert"])
            half = float(lines[name][f"{what} over expert ±"])
            if mean < LOW:
                axes.text(
                    LOW, y, f"◀ {mean:+.1f}".replace("-", "−"), color=COLOURS[3 * which],
                    ha="left", va="center", fontsize=7.5,
                )  # fmt: skip
                continue
            axes.errorbar(
                [mean], [y], xerr=[half], color=COLOURS[3 * which], marker=MARKERS[which],
                markersize=5, capsize=2, linewidth=1.4,
                markerfacecolor="white" if which else COLOURS[0],
            )  # fmt: skip
            axes.annotate(
                f"{mean:+.1f}".replace("-", "−"), (mean + half, y), xytext=(4, 0),
                textcoords="offset points", ha="left", va="center", fontsize=7.5, zorder=1.6,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3},
            )  # fmt: skip
    for name in GROUPS_END:
        axes.axhline(list(ROWS).index(name) + 0.5, color=FAINT, linewidth=0.6)
    axes.set_yticks(range(len(ROWS)), list(ROWS.values()))
    axes.set_ylim(len(ROWS) - 0.5, -0.5)
    axes.set_xlim(LOW, 2.5)
    axes.set_xlabel("points a deal more than expert in the same place")
    axes.set_title(rules)
    quiet_axis(axes, grid="x")


def drawn() -> Figure:
    deals = int(table("reality")[0]["deals"])
    with chart_style():
        figure = titled_figure(
            "Does it pay to bid as advised?",
            "One seat bids as it says on the left and plays as expert, beside two of expert. "
            "● own score, □ lead over the two others",
            [
                "How to read it: right of 0 it does better than expert in the same deals and "
                "seats. Bars: 95 % intervals, one deal an observation.",
                f"Sampled, model: policy expert · {deals:,} deals a row and rule set, each at "
                f"three seats · seed {PLAN['seed']} · numbers: analysis/bidding/README.md",
            ],
            size=(11, 6.6),
        )
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.06})
        for axes, rules in zip((left, right), PLAN["rules"], strict=True):
            draw(axes, rules)
        figure.subplots_adjust(left=2.15 / 11)
    return figure


def main() -> None:
    figure = drawn()
    for suffix in (".png", ".svg"):
        write_atomically(HERE / f"bidding{suffix}", picture(figure, suffix))
    for name in ("strength-map", "percentile", "score"):
        for rules in PLAN["rules"]:
            if (name, rules) == ("percentile", "gamerules"):  # nearly the same
                continue
            content = picture(chart(name, rules=rules), ".png")
            write_atomically(HERE / f"{name}-{rules}.png", content)


if __name__ == "__main__":
    main()
