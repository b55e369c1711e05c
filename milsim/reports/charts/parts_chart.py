"""Chart ``marriage-parts``: what each marriage is worth step by step, and where it is most."""

from __future__ import annotations

from collections.abc import Mapping
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
from milsim.reports.counterfactual import REPLAYS, Counterfactual, counterfactuals
from milsim.reports.marriage_parts import parts_frame
from milsim.reports.provenance import AnyRun, deals_of, opened, played
from milsim.store.run import PLAYED, Run

_BLUE, _AMBER, _GREEN, _RED, _ = COLOURS
_GREY = "#c8c8c8"
_ROWS = 6.2
"""Rows of a suit: five bars, and room before the next."""
_THICK = 0.36
MIN_DEALS = 30
"""Of fewer deals nothing is drawn: it would say more than is known."""

# The column of each step, what it is called, its colour and what tells it apart without colours.
_PAID = (("paid", "paid", _GREEN, ""), ("other", "other points", _GREY, ""))
_WORTH = (("worth", "paid, or not", _GREEN, ""),)
_REST = (("trump", "trump", _BLUE, "////"), ("cards", "the cards", _AMBER, "\\\\\\\\"))
# The groups of the right panel, and their markers.
_GROUPS = {"with its ace": "o", "without it": "s", "the only one": "^", "beside another": "D"}


def marriage_parts(
    run: AnyRun,
    *,
    replays: int = REPLAYS,
    threads: int | None = None,
    known: Mapping[int, Counterfactual] | None = None,
) -> Figure:
    """What each marriage is worth in parts, and the whole with and without its ace or another.

    ``known``: what :func:`~milsim.reports.marriage_frames.replayed` found before. ``run`` is a run
    or its folder. Raises :class:`~milsim.errors.UsageError` for what is neither, and
    :class:`~milsim.errors.RunError` for a run without deals.
    """
    run = played(opened(run))
    if known is None:
        masks = [1 << suit for suit in range(len(SUIT_NAMES))]
        known = counterfactuals(run, masks, replays=replays, threads=threads)
    frame = parts_frame(run, known)
    rows = {(row["suit"], row["group"]): row for row in frame.to_dicts()}
    values = run.rules.deal.marriage_values.by_suit()
    # The dearest above; of equal values the suits as cards are printed.
    suits = sorted(range(4), key=lambda suit: (-values[suit], -suit))
    with chart_style():
        figure = titled_figure(
            "What is a marriage worth, and what part of it is what?",
            f"Declarer points from king and queen of one suit in the 10 cards of "
            f"{who(run)}{among(run)}",
            [*_help(run), f"{deals_of(run)}, sampled · {run.provenance()}"],
            size=(11, 7.4),
        )
        left, right = figure.subplots(
            1, 2, sharey=True, gridspec_kw={"wspace": 0.78, "width_ratios": (1.35, 1)}
        )
        _steps(left, [rows[SUIT_NAMES[suit], "all"] for suit in suits], run.model == PLAYED)
        _wholes(right, [[rows[SUIT_NAMES[suit], name] for name in _GROUPS] for suit in suits])
        for place, suit in enumerate(suits):
            words = f"{SUIT_SYMBOLS[suit]} {SUIT_NAMES[suit]}"
            pays = f"pays {values[suit]}"
            for line, text in enumerate((words, pays)):
                left.text(
                    -0.7, place * _ROWS + line, text, transform=left.get_yaxis_transform(),
                    ha="left", va="center", fontsize=10 - 1.5 * line,
                    fontweight="normal" if line else "bold", color=FAINT if line else INK,
                )  # fmt: skip
        left.set_ylim(3 * _ROWS + 4.7, -0.8)
        figure.subplots_adjust(left=2.45 / 11, right=1 - 1.3 / 11)
    return figure


def _help(run: Run) -> list[str]:
    paid = (
        "Paid: what it pays, as often as he declares it. Other points: what he gains or loses "
        "elsewhere to get that. "
        if run.model == PLAYED
        else "Paid, or not: the marriage pays nothing (what is paid alone is not known). "
    )
    return [
        f"How to read it: left, each bar begins where the one above it ends. {paid}Trump: that its "
        "suit becomes trump. The cards: king and queen as such, against the same hand with one of "
        "them exchanged for a defender's card that makes no marriage. Each step is the mean "
        "difference between the same deals played twice, so they add up to the whole exactly. "
        "Right: the whole where he holds the ace of the suit or not, and another marriage or not. "
        f"Whiskers: 95 % intervals. Nothing is drawn from fewer than {MIN_DEALS} deals."
    ]


def _steps(axes: Axes, rows: list[dict[str, Any]], is_played: bool) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("In parts", pad=8)
    axes.set_xlabel("declarer points")
    axes.axvline(0, color=FAINT, linewidth=1)
    steps = (*(_PAID if is_played else _WORTH), *_REST)
    ticks = []
    for place, row in enumerate(rows):
        top = place * _ROWS
        if row["n"] < MIN_DEALS:
            _label(axes, 0.5, top + 2, "too few deals", centre=True)
            continue
        reached = 0.0
        for line, (name, words, colour, hatch) in enumerate(steps):
            if name == "paid":
                words = f"paid in {100 * row['declared']:.0f} %"
            ticks.append((top + line, words))
            if row[name] is None:
                _label(axes, 1.02, top + line, "not known")
                continue
            axes.barh(
                top + line, row[name], 2 * _THICK, left=reached, color=colour, hatch=hatch,
                edgecolor=INK, linewidth=0.6,
            )  # fmt: skip
            reached += row[name]
            _whisker(axes, row, name, reached, top + line)
            axes.plot([reached] * 2, [top + line, top + line + 1], color=FAINT, linewidth=0.8)
            _label(axes, 1.02, top + line, _number(row, name, signed=True))
        ticks.append((top + len(steps), "the whole"))
        if row["whole"] is None:
            _label(axes, 1.02, top + len(steps), "not known")
            continue
        axes.barh(top + len(steps), row["whole"], 2 * _THICK, color=INK)
        axes.plot(
            [row["whole_low"], row["whole_high"]], [top + len(steps)] * 2, color=_RED, linewidth=2
        )
        _label(axes, 1.02, top + len(steps), _number(row, "whole"), bold=True)
    axes.set_yticks([place for place, _ in ticks], [words for _, words in ticks], fontsize=8.5)
    axes.margins(x=0.04)
    if not ticks:
        axes.set_xticks([])


def _wholes(axes: Axes, suits: list[list[dict[str, Any]]]) -> None:
    quiet_axis(axes, grid="x")
    axes.set_title("The whole, where he holds it", pad=8)
    axes.set_xlabel("declarer points")
    axes.axvline(0, color=FAINT, linewidth=1)
    axes.tick_params(labelleft=False)
    drawn = False
    for place, rows in enumerate(suits):
        for line, (row, (words, marker)) in enumerate(zip(rows, _GROUPS.items(), strict=True)):
            y = place * _ROWS + line + 0.5
            _label(axes, -0.02, y, words, right=True)
            if row["n"] < MIN_DEALS or row["whole"] is None:
                _label(axes, 1.02, y, "not known" if row["n"] >= MIN_DEALS else "too few deals")
                continue
            drawn = True
            axes.plot([0, row["whole"]], [y, y], color=_GREY, linewidth=1.5, zorder=1.5)
            _whisker(axes, row, "whole", row["whole"], y)
            face = INK if marker in "o^" else "white"
            axes.plot(
                row["whole"], y, marker, markersize=6, markerfacecolor=face, markeredgecolor=INK,
                zorder=4,
            )  # fmt: skip
            _label(axes, 1.02, y, _number(row, "whole"))
    axes.margins(x=0.08)
    if not drawn:
        axes.set_xticks([])


def _number(row: dict[str, Any], name: str, *, signed: bool = False) -> str:
    half = (row[f"{name}_high"] - row[f"{name}_low"]) / 2
    digits = 1 if half < 1.95 else 0
    value = f"{row[name]:{'+' if signed else ''}.{digits}f}".replace("-", "−")
    return f"{value} ±{max(half, 0.1 if digits else 1):.{digits}f}"


def _whisker(axes: Axes, row: dict[str, Any], name: str, at: float, y: float) -> None:
    """The interval of a number, drawn where its bar ends."""
    ends = [at + row[f"{name}_{end}"] - row[name] for end in ("low", "high")]
    axes.plot(ends, [y, y], color=INK, linewidth=1.4, zorder=3)
    axes.plot(ends, [y, y], "|", color=INK, markersize=6, zorder=3)


def _label(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    centre: bool = False,
    right: bool = False,
    bold: bool = False,
) -> None:
    """A small text at a share of the panel's width."""
    side = "center" if centre else "right" if right else "left"
    axes.text(
        x, y, text, transform=axes.get_yaxis_transform(), ha=side, va="center", fontsize=8.5,
        color=FAINT if text.startswith(("too few", "not known")) else INK,
        fontweight="bold" if bold else "normal",
    )  # fmt: skip
