"""Chart ``score``: what a contract scores on average, and what passing earns instead."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from milsim.cards import parse_hand, pretty_hand
from milsim.deals import combination_rank
from milsim.reports.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    chart_style,
    of_table,
    quiet_axis,
    titled_figure,
)
from milsim.reports.contract import safe_cap
from milsim.reports.hand_strength import Strength
from milsim.reports.hands_known import caps_of, provenance_of, table_of
from milsim.reports.hands_scores import Scores, scores_of_hands
from milsim.rules import Rules, load
from milsim.where import feature

_LARGE = 1000
SPAN = 120
"""The contracts of classes are drawn up to so many points above the lowest."""
_MARRIAGES = ("no marriage", "1 marriage", "2–3 marriages")
_ACES = ("no ace", "1 ace", "2 aces", "3–4 aces")
_LOW, _HIGH = -130, 205
"""Scores below and above leave a small panel."""
_BLUE, _AMBER, _, _RED, _ = COLOURS


def score_by_contract(
    *,
    hand: str | None = None,
    rules: str | Path | Rules = "mil",
    table: str | Path | None = None,
) -> Figure:
    """The mean score of each contract, of a hand of seven cards or of classes of hands.

    ``hand`` as :func:`milsim.cards.parse_hand` reads it, else a panel for each number of marriages
    and aces. ``rules`` and ``table`` as in :func:`milsim.reports.hands_report`, with the same
    errors; :class:`~milsim.errors.MilsimError` for cards that are no hand.
    """
    chosen = load(rules)
    rank = None if hand is None else combination_rank(parse_hand(hand))
    strength = Strength(table_of(chosen, table), chosen)
    with chart_style():
        return _of_classes(strength) if rank is None else _of_hand(strength, rank)


def class_scores(strength: Strength) -> dict[tuple[int, int], Scores]:
    """Scores by marriages (2: two or three) and aces (3: three or four)."""
    marriages = np.minimum(feature("marriages", strength.hands), 2)
    aces = np.minimum(feature("aces", strength.hands), 3)
    found = {}
    for held in range(len(_MARRIAGES)):
        for has in range(len(_ACES)):
            mine = np.flatnonzero((marriages == held) & (aces == has))
            cap = safe_cap(strength.rules, held)
            found[held, has] = scores_of_hands(strength.table, strength.rules, mine, cap)
    return found


def _of_classes(strength: Strength) -> Figure:
    rules, lowest = strength.rules, strength.lowest
    classes = class_scores(strength)
    figure = titled_figure(
        "What does a contract score, and what does passing earn?",
        f"Mean deal score of the declarer by contract, before the talon, under {rules.name}: "
        "marriages across, aces down",
        [
            "How to read it: find the panel with your marriages and aces. The line is what the "
            "declarer scores on average who plays just this contract with such hands; dashed: "
            "what they earn by passing (at once, at middle- or rearhand). ● The contract with "
            "the highest mean score. ▲ The highest bid that scores at least what passing earns "
            "(allowed with the cheapest of so many marriages); where there is none: pass. "
            "Deal scores are your own. 95 % intervals: "
            f"{_known(classes.values(), strength.lowest)}.",
            of_table(provenance_of(strength.table, rules)),
        ],
        size=(11, 9.6),
    )
    grid = figure.subplots(
        len(_ACES), len(_MARRIAGES), sharex=True, sharey=True,
        gridspec_kw={"wspace": 0.06, "hspace": 0.3},
    )  # fmt: skip
    for (held, has), scores in classes.items():
        axes = grid[has, held]
        axes.set_title(f"{_MARRIAGES[held]}, {_ACES[has]}  ({scores.hands:,} hands)", fontsize=8.5)
        _line(axes, scores, lowest, lowest + SPAN, small=True)
        axes.set_ylim(_LOW, _HIGH)
        axes.set_yticks(range(-100, 101, 100), ["−100", "0", "100"])
    grid[len(_ACES) - 1, 1].set_xlabel("contract (points)", labelpad=8)
    figure.text(
        0.25 / 11, 0.55, "mean deal score", rotation=90, ha="center", va="center", fontsize=9
    )
    return figure


def _known(classes: Iterable[Scores], lowest: int) -> str:
    """How well the scores of classes are known at most and at least, in words."""
    large = [scores for scores in classes if scores.hands >= _LARGE]
    score = max(scores.by_contract[lowest].half_width or 0.0 for scores in large)
    passing = max(scores.passing.half_width or 0.0 for scores in large)
    return (
        f"of {lowest} ±{score:.1f} or less, of passing ±{passing:.1f} or less, but wider in "
        f"classes of fewer than {_LARGE:,} hands"
    )


def _of_hand(strength: Strength, rank: int) -> Figure:
    rules, mask = strength.rules, int(strength.hands[rank])
    cap = int(caps_of(strength.hands[rank : rank + 1], rules)[0])
    scores = scores_of_hands(strength.table, rules, np.array([rank]), cap)
    points = float(strength.points[rank])
    stronger = strength.table.percentile(points)
    figure = titled_figure(
        f"What does {pretty_hand(mask)} score?",
        f"Mean deal score of the declarer by contract, before the talon, under {rules.name}. "
        f"{points:.0f} points on average: stronger than {_percent(stronger)} of all hands",
        [
            "How to read it: the line is what you score on average if you play just this "
            "contract as declarer. Dashed: what you earn by passing (at once, at middle- or "
            "rearhand). ● The contract with the highest mean score. ▲ The highest bid allowed "
            "that scores at least what passing earns. Deal scores are your own. Shaded: 95 % "
            "intervals.",
            of_table(provenance_of(strength.table, rules)),
        ],
        size=(9, 6.0),
    )
    axes = figure.subplots()
    last = max(
        strength.lowest + SPAN,
        max((c for c in scores.by_contract if scores.score(c) > -c / 2), default=0),
    )
    _line(axes, scores, strength.lowest, last, small=False)
    axes.set_xlabel("contract (points)")
    axes.set_ylabel("mean deal score")
    return figure


def _percent(share: float) -> str:
    """A percentile in words: never 0 or 100 unless it is.

    >>> [_percent(share) for share in (0.0004, 0.123, 0.9996)]
    ['less than 1%', '12%', 'more than 99%']
    """
    if share < 0.01:
        return "less than 1%"
    return "more than 99%" if share > 0.99 else f"{share:.0%}"


def _line(axes: Axes, scores: Scores, first: int, last: int, *, small: bool) -> None:
    """The line of scores, that of passing, and the two contracts that matter."""
    quiet_axis(axes, grid="y")
    contracts = [each for each in scores.by_contract if first <= each <= last]
    values = [scores.by_contract[each] for each in contracts]
    means = [scores.score(each) for each in contracts]
    axes.axhline(0, color=INK, linewidth=0.8, zorder=1.4)
    axes.plot(contracts, means, color=_BLUE, linewidth=2, gid="scores")
    if not small:
        axes.fill_between(
            contracts, [each.low or 0.0 for each in values],
            [each.high or 0.0 for each in values], color=_BLUE, alpha=0.25, linewidth=0,
        )  # fmt: skip
    room = 0.04 if small else 0.20
    axes.set_xlim(first - 0.04 * (last - first), last + room * (last - first))
    every = next(step for step in (10, 20, 50, 100, 200, 500) if (last - first) / step <= 7)
    axes.set_xticks(range(first, last + 1, every))
    _passing(axes, scores, small=small)
    best = scores.best
    if small:
        _in_one_line(axes, scores)
        return
    _mark(axes, best, scores.score(best), "o", f"{best}: {_signed(scores.score(best))}")
    if scores.up_to is not None:
        score = scores.score(scores.up_to)
        above = scores.up_to != best
        words = f"bid up to {scores.up_to}" + (f": {_signed(score)}" if above else "")
        _mark(axes, scores.up_to, score, "^", words, below=not above)
    if first < scores.cap < last:
        axes.axvline(scores.cap, color=FAINT, linewidth=1, linestyle=DASHES[2], zorder=1.2)
        axes.annotate(
            f"no bids above {scores.cap}", (scores.cap, 0), xycoords=("data", "axes fraction"),
            xytext=(4, 4), textcoords="offset points", fontsize=8, color=FAINT,
        )  # fmt: skip


def _in_one_line(axes: Axes, scores: Scores) -> None:
    """The marks of a small panel, and what they say along its top."""
    best, up_to = scores.best, scores.up_to
    axes.plot(best, scores.score(best), "o", color=INK, markersize=6, zorder=4)
    if up_to is not None:
        axes.plot(
            up_to, scores.score(up_to), "^", color=INK, markersize=6, markerfacecolor="white",
            zorder=3.9,
        )  # fmt: skip
    words = [f"● {best}: {_signed(scores.score(best))}"]
    if up_to is not None:
        words.append(f"▲ bid up to {up_to}: {_signed(scores.score(up_to))}")
    if scores.passing.value is None:
        words.append("always a new deal")
    else:
        passing = "rather pass" if up_to is None else "passing"
        words.append(f"{passing}: {_signed(scores.passing.value)}")
    axes.text(0.01, 0.99, "   ".join(words), transform=axes.transAxes, va="top", fontsize=7.8)


def _passing(axes: Axes, scores: Scores, *, small: bool) -> None:
    earned = scores.passing
    if earned.value is None or earned.low is None or earned.high is None:
        if not small:
            axes.text(
                0.98, 0.95, "always a new deal", transform=axes.transAxes, ha="right", va="top",
                fontsize=9, color=FAINT,
            )  # fmt: skip
        return
    axes.axhline(earned.value, color=_RED, linewidth=1.5, linestyle=DASHES[1], gid="passing")
    if small:
        return
    axes.axhspan(earned.low, earned.high, color=_RED, alpha=0.15, linewidth=0)
    axes.annotate(
        f"pass: {_signed(earned.value)}", (1, earned.value),
        xycoords=("axes fraction", "data"), xytext=(-1, 3), textcoords="offset points",
        ha="right", va="bottom", fontsize=9, color=INK,
    )  # fmt: skip


def _mark(axes: Axes, x: int, y: float, marker: str, words: str, *, below: bool = False) -> None:
    """A mark on the line, and its words above it, or below."""
    inside = "white" if marker == "^" else INK
    axes.plot(x, y, marker, color=INK, markersize=7, markerfacecolor=inside, zorder=4)
    axes.annotate(
        words, (x, y), xytext=(3, -13 if below else 6), textcoords="offset points", ha="left",
        va="bottom", fontsize=9, zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8},
    )  # fmt: skip


def _signed(value: float) -> str:
    """A score with its sign.

    >>> [_signed(value) for value in (31.6, -0.2, -12.5)]
    ['+32', '0', '−12']
    """
    rounded = round(value)
    return f"{rounded:+d}".replace("-", "−") if rounded else "0"


__all__ = ["SPAN", "class_scores", "score_by_contract"]
