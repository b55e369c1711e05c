"""Chart ``talon``: what each card of the talon is worth to the declarer, and what it brings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from milsim.cards import SUIT_NAMES, SUIT_SYMBOLS
from milsim.reports.cells import decimals
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
from milsim.reports.provenance import AnyRun, deals_of, opened
from milsim.reports.talon_counts import TalonCounts
from milsim.reports.talon_frames import COMPLETED, RANK_ROWS, talon_frame

_MORE, _FEWER = COLOURS[0], COLOURS[3]
MIN_DEALS = 30
"""Of fewer deals no mark is drawn: it would say more than is known."""

_GAP = 0.7
"""Room between groups, in rows."""
_NUMBERS = ("none", "one", "two", "three")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A row of a panel: its label, its deals, and how much more or fewer points there are."""

    label: str
    n: int
    gain: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, label: str, row: dict[str, Any]) -> _Mark:
        return cls(label, row["n"], row["gain"], row["gain_low"], row["gain_high"])

    @property
    def is_drawn(self) -> bool:
        return self.n >= MIN_DEALS and self.low is not None


Group = tuple[str, list[_Mark]]
"""Rows that belong together, and what they are called."""


def talon(run: AnyRun) -> Figure:
    """Declarer points more or fewer than with an average talon, by card and by what it holds.

    ``run`` is a run or its folder. Raises :class:`~milsim.errors.UsageError` for what is neither,
    and :class:`~milsim.errors.RunError` for a run without deals.
    """
    run = opened(run)
    counts = TalonCounts.of(run)
    with chart_style():
        figure = titled_figure(
            "What does the talon bring?",
            f"Points that {who(run)} takes as declarer, more or fewer than with an average "
            f"talon{among(run)}",
            [
                "How to read it: left, a talon that holds the card, whatever the other two are; "
                "right, by what the three cards are together, with the share of such talons. "
                "Completed: king and queen are in the 10 cards, but were not in the 7."
                f"{_decides(counts)} Whiskers: 95 % intervals. Nothing is drawn from fewer than "
                f"{MIN_DEALS} deals.",
                f"{deals_of(run)}, sampled · {run.provenance()}",
            ],
            size=(11, 6.8),
        )
        left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.42})
        _panel(left, "A talon with this card", list(_by_card(counts)))
        _panel(right, "A talon with so many of them", list(_by_holding(counts)))
        figure.subplots_adjust(left=0.95 / 11)
    return figure


def _decides(counts: TalonCounts) -> str:
    """How much the talon decides, as a sentence; nothing if too little is known."""
    row = talon_frame(counts, "gain").row(1, named=True)
    if row["share"] is None or counts.deals < MIN_DEALS:
        return ""
    half = 50 * (row["share_high"] - row["share_low"])
    share, around = (f"{value:.{decimals(half)}f}" for value in (100 * row["share"], half))
    return f" Of the variance of declarer points the talon decides {share} ±{around} %."


def _by_card(counts: TalonCounts) -> Iterator[Group]:
    """The cards, a group a rank."""
    groups: dict[str, list[_Mark]] = {}
    for row in talon_frame(counts, "card").to_dicts():
        if row["rank"] is not None:
            symbol = SUIT_SYMBOLS[SUIT_NAMES.index(row["suit"])]
            groups.setdefault(row["rank"], []).append(_Mark.of(symbol, row))
    yield from groups.items()


def _by_holding(counts: TalonCounts) -> Iterator[Group]:
    rows = talon_frame(counts, "holds").to_dicts()
    heads = {COMPLETED: "marriages\ncompleted"} | {name: name for name, _ in RANK_ROWS}
    for holds, head in heads.items():
        marks = []
        for row in rows:
            if row["holds"] == holds and (holds != COMPLETED or row["value_from"] <= 2):
                share = f" · {100 * row['share']:.1f} %" if counts.deals >= MIN_DEALS else ""
                marks.append(_Mark.of(_NUMBERS[row["value_from"]] + share, row))
        yield head, marks


def _panel(axes: Axes, title: str, groups: Sequence[Group]) -> None:
    """A row a mark: a line from the average to it, its interval, and its number."""
    axes.set_title(title, pad=8)
    axes.set_xlabel("declarer points more or fewer than on average")
    quiet_axis(axes, grid="x")
    drawn = [mark for _, marks in groups for mark in marks if mark.is_drawn]
    if not drawn:
        axes.grid(visible=False)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.text(
            0.5, 0.5, "too few deals", transform=axes.transAxes, ha="center", va="center",
            color=FAINT,
        )  # fmt: skip
        return
    ends = [end for mark in drawn for end in (mark.low, mark.high, 0.0) if end is not None]
    span = max(max(ends) - min(ends), 2.0)
    axes.set_xlim(min(ends) - 0.17 * span, max(ends) + 0.17 * span)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.axvline(0, color=FAINT, linewidth=1.0)
    places, labels, at = [], [], 0.0
    for head, marks in groups:
        middle = at - (len(marks) - 1) / 2
        axes.annotate(
            head, (0, middle), xycoords=axes.get_yaxis_transform(), xytext=(-_room(groups), 0),
            textcoords="offset points", ha="right", va="center", fontsize=9, linespacing=1.3,
        )  # fmt: skip
        for mark in marks:
            places.append(at)
            labels.append(mark.label)
            at -= 1
        at -= _GAP
    marks = [mark for _, some in groups for mark in some]
    _draw(axes, list(zip(places, marks, strict=True)), 0.02 * span)
    axes.set_yticks(places, labels)
    axes.set_ylim(at + _GAP + 0.2, 0.8)
    for label in axes.get_yticklabels():
        label.set_fontsize(8)


def _room(groups: Sequence[Group]) -> float:
    """How far left of the axis the heads of groups end, in points: the labels are between."""
    return 12 + 5 * max(len(mark.label) for _, marks in groups for mark in marks)


def _draw(axes: Axes, marks: Sequence[tuple[float, _Mark]], beside: float) -> None:
    """The marks at their places; as few shapes as possible, so that a page of charts is small."""
    drawn = [(at, mark) for at, mark in marks if mark.is_drawn]
    for colour, marker, some in (
        (_MORE, "o", [(at, mark.gain) for at, mark in drawn if _is_more(mark)]),
        (_FEWER, "s", [(at, mark.gain) for at, mark in drawn if not _is_more(mark)]),
    ):
        places, gains = [at for at, _ in some], [gain or 0.0 for _, gain in some]
        axes.hlines(places, 0, gains, color=colour, linewidth=1.8, zorder=2)
        axes.plot(gains, places, marker, color=colour, markersize=5, zorder=3)
    for at, mark in drawn:
        low, high = mark.low or 0.0, mark.high or 0.0
        axes.plot([low, high], [at, at], "|-", color=INK, linewidth=1.1, markersize=5, zorder=4)
        end = max(high, 0) + beside if _is_more(mark) else min(low, 0) - beside
        text = f"{mark.gain:+.1f}".replace("-", "−")
        side = "left" if _is_more(mark) else "right"
        axes.text(end, at, text, ha=side, va="center", fontsize=7.5, color=INK)
    for at, mark in marks:
        if not mark.is_drawn:
            axes.text(
                beside, at, "too few deals", ha="left", va="center", fontsize=7.5, color=FAINT
            )


def _is_more(mark: _Mark) -> bool:
    return mark.gain is not None and mark.gain >= 0
