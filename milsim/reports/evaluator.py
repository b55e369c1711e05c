"""Report ``evaluator``: a point count for people, that fits on a card, and how good it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from milsim.cards import SUIT_SYMBOLS, parse_hand
from milsim.reports.evaluator_bidding import ACE_OFF, bidding_table
from milsim.reports.evaluator_errors import error_frame
from milsim.reports.evaluator_features import LINES, features, places
from milsim.reports.evaluator_fit import UNIT, Evaluator, Fit, bids_by
from milsim.reports.formats import render
from milsim.reports.hands_known import PASS, provenance_of, table_of
from milsim.reports.provenance import KIND
from milsim.reports.table import Column, Report, Table
from milsim.rules import Rules, load

EXAMPLES = ("AT..KQ9.A9", "KQ.T9.J9.K")
"""The two hands that are counted as examples: with an ace, and without."""

READING = (
    "How to read the card: add up what your seven cards have before the talon. The count times "
    f"{UNIT} is what the declarer takes with them on average, cards and marriages."
)


def hand_evaluator(
    rules: str | Path | Rules = "mil",
    *,
    table: str | Path | None = None,
    model: str | None = None,
) -> Evaluator:
    """The point count of these rules, fitted to their table (or the packed one in a file).

    With ``model``, ``double-dummy`` or ``pimc``, to the table corrected to it.

    Raises :class:`~milsim.errors.RulesError` for rules that are none, and
    :class:`~milsim.errors.RunError` where there is no table of them.
    """
    return Fit(table_of(rules, table, model), load(rules)).evaluator


def evaluator_report(
    rules: str | Path | Rules = "mil",
    *,
    table: str | Path | None = None,
    model: str | None = None,
) -> Report:
    """The report ``evaluator``; arguments and errors as of :func:`hand_evaluator`."""
    chosen = load(rules)
    known = table_of(chosen, table, model)
    fit = Fit(known, chosen)
    return Report(
        name="evaluator",
        title=f"A point count for a hand of seven cards, under {chosen.name}",
        kind=KIND,
        model=known.play,
        provenance=provenance_of(known, chosen),
        reading=READING,
        notes=tuple(_notes(fit)),
        tables=(_card(fit), _bids(fit), bidding_table(fit), _examples(fit), _errors(fit)),
    )


def render_evaluator(format: str, *, width: int | None = None, **options: Any) -> bytes:  # noqa: A002
    """The report in one of FORMATS; options are those of :func:`evaluator_report`."""
    return render(evaluator_report(**options), format, width=width)


def _card(fit: Fit) -> Table:
    """The card: a row a line."""
    where, rows = places(), []
    for line in LINES:
        columns = where[line.name]
        weights = fit.evaluator.weights[columns].tolist()
        fitted = (UNIT * fit.evaluator.fitted[columns]).tolist()
        row: dict[str, Any] = {"line": line.text, "counts": _shown(weights, line.by_suit)}
        by_suit = dict(zip(("spades", "clubs", "diamonds", "hearts"), weights, strict=False))
        row["each"] = None if line.by_suit else weights[0]
        row |= {
            suit: by_suit.get(suit) if line.by_suit else None
            for suit in ("spades", "clubs", "diamonds", "hearts")
        }
        row["points_fitted"] = _fitted(fitted, line.by_suit)
        row["n"] = fit.having(columns)
        row["share"] = row["n"] / len(fit.hands)
        rows.append(row)
    return Table(
        name="card",
        title=f"The card (a count of 1 is {UNIT} declarer points)",
        frame=pl.DataFrame(rows, infer_schema_length=None),
        columns=(
            Column("in your seven cards", "line"),
            Column("count", "counts"),
            Column("points, fitted", "points_fitted", rank=2),
            Column("hands, %\n(exact)", "share", "exact", rank=3),
        ),
    )


def _shown(weights: list[int], by_suit: bool) -> str:
    if not by_suit:
        return str(weights[0]).replace("-", "−")
    return "  ".join(f"{SUIT_SYMBOLS[suit]} {weights[suit]}" for suit in reversed(range(4)))


def _fitted(points: list[float], by_suit: bool) -> str:
    chosen = reversed(points) if by_suit else points
    return "  ".join(f"{each:.1f}".replace("-", "−") for each in chosen)


def _bids(fit: Fit) -> Table:
    """Up to where to bid by the count, and how many hands that are."""
    bids = bids_by(fit.counts, fit.evaluator.bids)
    right, known = fit.even.free, fit.bids.passes
    rather = fit.bids.right == PASS
    rows = []
    # A contract whose cut is that of a higher one is never the bid of a hand.
    for bid in np.unique(bids).tolist():
        mine = bids == bid
        rows.append(
            {
                "bid": "none" if bid == PASS else str(bid),
                "count_from": fit.evaluator.bids.get(bid),
                "n": int(mine.sum()),
                "share": float(mine.mean()),
                "points": float(fit.points[mine].mean()),
                "right": float((right == bid)[mine].mean()),
                "rather_pass": float(rather[mine & known].mean()) if known[mine].any() else None,
            }
        )
    rows.append(
        {
            "bid": "all",
            "count_from": None,
            "n": len(bids),
            "share": 1.0,
            "points": float(fit.points.mean()),
            "right": float((right == bids).mean()),
            "rather_pass": float(rather[known].mean()),
        }
    )
    return Table(
        name="bids",
        title="The highest contract that does not lose on average (bids are capped by the rules)",
        frame=pl.DataFrame(rows, infer_schema_length=None),
        columns=(
            Column("contract", "bid"),
            Column("count\nfrom", "count_from", "count", missing=""),
            Column("hands\n(exact)", "n", "count"),
            Column("of all, %\n(exact)", "share", "exact", rank=1),
            Column("points\nmean", "points", "points"),
            Column("just that\none, %", "right", "percent", rank=2),
            Column("passing\nearns more, %", "rather_pass", "percent", rank=1),
        ),
        summary=True,
    )


def _examples(fit: Fit) -> Table:
    """Two hands counted line by line."""
    masks = np.array([parse_hand(hand) for hand in EXAMPLES], np.int64)
    ranks = np.searchsorted(fit.hands, masks)
    counted = features(masks)
    rows: list[dict[str, Any]] = []
    for line in LINES:
        columns = places()[line.name]
        parts = counted[:, columns] @ fit.evaluator.weights[columns]
        if counted[:, columns].any():
            rows.append(_both(line.text, parts.tolist(), empty=(counted[:, columns] == 0).all(1)))
    rows.append(_both("the count", fit.counts[ranks].tolist()))
    rows.append(_both("points by the count", fit.evaluator.points(masks).tolist()))
    rows.append(_both("points by the table", np.rint(fit.points[ranks]).astype(int).tolist()))
    rows.append(_both("highest bid, by the count", fit.evaluator.bid(masks).tolist()))
    rows.append(_both("highest bid, by the table", fit.even.right[ranks].tolist()))
    return Table(
        name="examples",
        title="Two hands (♠.♥.♦.♣), counted",
        frame=pl.DataFrame(rows, infer_schema_length=None),
        columns=(
            Column("", "line"),
            Column(EXAMPLES[0], "first", "count", missing=""),
            Column(EXAMPLES[1], "second", "count", missing=""),
        ),
    )


def _both(line: str, values: list[int], empty: Any = (False, False)) -> dict[str, Any]:
    first, second = (None if no else value for value, no in zip(values, empty, strict=True))
    return {"line": line, "first": first, "second": second}


def _errors(fit: Fit) -> Table:
    return Table(
        name="errors",
        title=(
            "How far counts are off (on the half of the hands that was not fitted; points: root "
            "of the mean square error)"
        ),
        frame=error_frame(fit),
        columns=(
            Column("what is counted", "count"),
            Column("points\noff", "rms", "points"),
            Column("on the\nfitted", "rms_fitted", "points", rank=1),
            Column("R², %", "r2", "percent", rank=1),
            Column("right\nbid, %", "right", "percent"),
            Column("within\na step, %", "within", "percent", rank=1),
            Column("too\nhigh, %", "high", "percent", rank=2),
            Column("or pass:\nright, %", "passed", "percent", rank=2),
        ),
        break_on="source",
    )


def _notes(fit: Fit) -> Iterator[str]:
    yield (
        "both: 2: with ace, king and queen of one suit its cards over two count twice; ♥AKQ9 has 4."
    )
    yield (
        "right bid: the highest contract allowed that does not lose on average, by the table; none "
        "counts as a step below the lowest. or pass: the highest that scores at least what passing "
        "earns (in the same play); no count of points tells that well, as strong cards earn as a "
        "defender, too."
    )
    yield (
        f"To bid: aces earn for who passes, too; so take off {ACE_OFF} for each. bid or pass: how "
        "often that is what the table says, to bid if some contract allowed scores at least what "
        "passing earns (of all hands). milsim's analysis/bidding tried such bids at the table."
    )
    yield (
        "Folklore counts are flattered: each has its best straight line to points and its best "
        "cuts between bids, by the same half of the hands as the card; as told, they are taken at "
        "their word. The opening table has no points."
    )
    yield (
        "a perfect count, by sampling: how far the table's own deals are off, and how often a "
        "second such table would give the same bid (about). No count can seem better."
    )
    guard = fit.guard()
    yield (
        f"A guard beside a ten is worth {guard:+.1f} points by the same fit (folklore: a ten "
        "counts if it is guarded)."
    )
    out = int((~fit.bids.passes).sum())
    if out:
        yield f"{out:,} hands always ask for a new deal; what passing earns them is not known."
    yield "What a hand is worth depends on the play behind it: other players, other weights."


__all__ = ["EXAMPLES", "evaluator_report", "hand_evaluator", "render_evaluator"]
