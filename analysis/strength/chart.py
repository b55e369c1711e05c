"""The chart of the study, strength.png and strength.svg, from the tables in tables/.

    python analysis/strength/chart.py

The same tables give the same bytes.
"""

from __future__ import annotations

import csv

from collect import HERE
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from milsim.files import write_atomically
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

ROWS = ("oracle", "pimc", "pimc:solving=50", "pimc:solving=100", "expert", "greedy", "random")
WORDS = {
    "oracle": "oracle\nsees all cards",
    "pimc": "pimc\nplays layouts out",
    "pimc:solving=50": "pimc:solving=50\nhalf and half",
    "pimc:solving=100": "pimc:solving=100\nsolves layouts",
    "expert": "expert\nfitted tables",
    "greedy": "greedy\ngood habits",
    "random": "random\nany legal card",
}
RULES = ("mil", "gamerules")
LOW, HIGH = -24, 52


def table(name: str) -> list[dict[str, str]]:
    with (HERE / "tables" / f"{name}.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def signed(mean: float, half: float) -> str:
    return f"{mean:+.1f} ± {half:.1f}".replace("-", "−")


def draw_ladder(axes: Axes) -> None:
    lines = {(line["rules"], line["policy"]): line for line in table("ladder")}
    axes.axvline(0, color=FAINT, linewidth=1)
    for place, name in enumerate(ROWS):
        for which, rules in enumerate(RULES):
            y = place + (0.17 if which else -0.17)
            if (rules, name) not in lines:  # not played yet
                continue
            line = lines[rules, name]
            mean, half = float(line["lead"]), float(line["lead ±"] or 0)
            if name == "expert":
                half = 0.0
            if mean < LOW:
                axes.annotate(
                    f"{signed(mean, half)}, far to the left",
                    xy=(LOW, y), xytext=(LOW + 6, y), va="center", fontsize=8, color=INK,
                    arrowprops={"arrowstyle": "->", "color": COLOURS[which], "linewidth": 1.6},
                )  # fmt: skip
                continue
            axes.errorbar(
                [mean], [y], xerr=[half], color=COLOURS[which], marker=MARKERS[which], markersize=5,
                capsize=2.5, linewidth=1.4, markerfacecolor="white" if which else COLOURS[which],
                label=rules if place == 0 else None,
            )  # fmt: skip
            if name != "expert":
                axes.text(mean + half + 1, y, signed(mean, half), va="center", fontsize=8)
            elif which == 0:
                axes.text(1, place, "0: the two others are expert", va="center", fontsize=8)
    axes.set_yticks(range(len(ROWS)), [WORDS[name] for name in ROWS])
    axes.set_ylim(len(ROWS) - 0.5, -0.6)
    axes.set_xlim(LOW, HIGH)
    axes.set_xlabel("points a deal more than the two others, who play expert")
    axes.set_title("The ladder")
    axes.legend(loc="center right", frameon=False, title="rules", alignment="left")
    quiet_axis(axes, grid="x")


def draw_layouts(axes: Axes) -> None:
    for which, (name, words) in enumerate(
        (("layouts", "played out: pimc"), ("solver_layouts", "solved: pimc:solving=100"))
    ):
        lines = [line for line in table(name) if line["layouts"].isdigit()]
        x = [int(line["layouts"]) * (1.09 if which else 1) for line in lines]
        y = [float(line["lead over expert"]) for line in lines]
        half = [float(line["lead over expert ±"]) for line in lines]
        axes.errorbar(
            x, y, yerr=half, color=COLOURS[2 + which], marker=MARKERS[2 + which], markersize=5,
            capsize=2.5, linewidth=1.6, linestyle="--" if which else "-", label=words,
            markerfacecolor="white" if which else COLOURS[2],
        )  # fmt: skip
        for line, at, top, bottom in zip(lines, x, [a + b for a, b in zip(y, half, strict=True)],
                                         [a - b for a, b in zip(y, half, strict=True)],
                                         strict=True):  # fmt: skip
            axes.annotate(
                f"{float(line['ms a card']):.1f}", (at, bottom if which else top),
                textcoords="offset points", xytext=(0, -10 if which else 4), ha="center",
                fontsize=7.5, color=INK,
            )  # fmt: skip
    axes.axhline(0, color=FAINT, linewidth=1)
    axes.set_xscale("log", base=2)
    ticks = [4, 8, 16, 32, 64, 128]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(3.3, 170)
    axes.set_xlabel("layouts of the hidden cards at each decision")
    axes.set_ylabel("points a deal more than the two others")
    axes.text(3.4, 0.2, "expert", va="bottom", fontsize=8)
    axes.set_title("More layouts, more strength (mil)")
    axes.set_yticks(range(-10, 11, 5), ["−10", "−5", "0", "+5", "+10"])
    axes.set_ylim(-14, 10.5)
    axes.legend(loc="lower right", frameon=False, title="layouts are", alignment="left")
    quiet_axis(axes, grid="y")


def drawn() -> Figure:
    with chart_style():
        figure = titled_figure(
            "How strong are the policies?",
            "Each sat at each of the three seats of the same deals, beside two of expert. "
            "Bars: 95 % intervals. Small numbers on the right: milliseconds a card.",
            ["Sampled, model: policies as named. Deals of seed 2026; how many, and differences on "
             "the same deals: analysis/strength/README.md."],
            size=(10, 5.6),
        )  # fmt: skip
        of = figure.subplotpars
        grid = figure.add_gridspec(1, 2, left=0.145, right=of.right, top=of.top + 0.02,
                                   bottom=of.bottom + 0.02, wspace=0.28,
                                   width_ratios=(1.25, 1))  # fmt: skip
        draw_ladder(figure.add_subplot(grid[0]))
        draw_layouts(figure.add_subplot(grid[1]))
    return figure


def main() -> None:
    figure = drawn()
    for suffix in (".png", ".svg"):
        write_atomically(HERE / f"strength{suffix}", picture(figure, suffix))


if __name__ == "__main__":
    main()
