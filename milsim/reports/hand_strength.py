"""Report ``hands``: how strong hands are, the best and the worst, and which folklore misjudges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.cards import format_hand
from milsim.dealing.tables import hand_masks_table
from milsim.reports.contract import Contract
from milsim.reports.evaluator_fit import best_line
from milsim.reports.evaluator_folklore import aces_and_tens, opening_bids
from milsim.reports.formats import render
from milsim.reports.hands_known import (
    PASS,
    Bids,
    mean_of_hands,
    provenance_of,
    right_bids,
    scores_of,
    table_of,
)
from milsim.reports.provenance import INTERVALS, KIND
from milsim.reports.statistics import Interval, Z, spread, wilson
from milsim.reports.table import Column, Report, Table, spread_column
from milsim.rules import Rules, load
from milsim.tables.compact import CompactTable
from milsim.tables.corrected import CorrectedTable
from milsim.where import feature

EXTREMES = 5
"""How many of the best, the worst and the most misjudged hands are named."""
SHARES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
"""The quantiles shown: shares of hands that are worth less."""

READING = (
    "How to read a row: with such seven cards, before the talon, the declarer takes so many points "
    "(cards and marriages) on average and makes the lowest contract in so many of 100 deals; best "
    "is the contract of the highest mean score."
)


def hands_report(
    rules: str | Path | Rules = "mil",
    *,
    table: str | Path | None = None,
    model: str | None = None,
) -> Report:
    """The report ``hands``, from the table of the rules (or the packed one in a file).

    With ``model``, ``double-dummy`` or ``pimc``, from the table corrected to it. Raises
    :class:`~milsim.errors.RulesError` for rules that are none,
    :class:`~milsim.errors.RunError` where there is no table of them, and
    :class:`~milsim.errors.UsageError` for a model that is not known of all hands.
    """
    chosen = load(rules)
    known = table_of(chosen, table, model)
    strength = Strength(known, chosen)
    return Report(
        name="hands",
        title=f"What all hands of seven cards are worth, under {chosen.name}",
        kind=KIND,
        model=known.play,
        provenance=provenance_of(known, chosen),
        reading=READING,
        notes=tuple(_notes(strength)),
        tables=(
            _named(strength),
            _classes(strength),
            _misjudged(strength),
            _openings(strength),
        ),
    )


def render_hands(format: str, *, width: int | None = None, **options: Any) -> bytes:  # noqa: A002
    """The report in one of FORMATS; options are those of :func:`hands_report`."""
    return render(hands_report(**options), format, width=width)


class Strength:
    """All hands of a table by rank, with what the report's tables, and charts, are made of."""

    def __init__(self, table: CompactTable, rules: Rules) -> None:
        """Of a table and the rules that it is of."""
        self.table, self.rules = table, rules
        self.hands: NDArray[np.int64] = hand_masks_table().astype(np.int64)
        self.points: NDArray[np.float64] = table.means.astype(np.float64)
        self.lowest: int = table.contracts[0]

    @cached_property
    def bids(self) -> Bids:
        """The right bids of all hands."""
        return right_bids(self.table, self.rules)

    @cached_property
    def even(self) -> Bids:
        """The bids that do not lose."""
        return right_bids(self.table, self.rules, passing=0)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Hands by what they are worth; of those worth the same the lower rank comes first."""
        return np.argsort(self.points, kind="stable")

    def row(self, rank: int) -> dict[str, Any]:
        """What one hand is worth."""
        chance = float(self.table.chances(np.array([rank]))[0, 0])
        worth = self.table.worth(np.array([rank]), 0)
        return {
            "hand": format_hand(int(self.hands[rank])),
            "rank": int(rank),
            **spread("points", mean_of_hands(self.table, np.array([rank]))),
            **spread("makes", wilson(chance * worth, worth)),
            "best": int(self.bids.best[rank]),
            "up_to": _bid(self.bids.right[rank], bool(self.bids.passes[rank])),
        }


def _bid(bid: int, passes: bool = True) -> str:
    if not passes:
        return "new deal"
    return "pass" if bid == PASS else str(bid)


_VALUES = (
    spread_column("points\nmean", "points", "points"),
    spread_column("makes the\nlowest, %", "makes", rank=1),
    Column("best", "best", "count", rank=2),
    Column("bid\nup to", "up_to"),
)


# -- hands by name -------------------------------------------------------------------------------


def named_frame(strength: Strength) -> pl.DataFrame:
    """The worst and best hands, and those at some quantiles (``share``: hands worth less)."""
    order, n = strength.order, len(strength.order)
    rows = [
        {
            "place": f"worst {place + 1}",
            "kind": "worst",
            "share": None,
            **strength.row(order[place]),
        }
        for place in range(EXTREMES)
    ]
    for share in SHARES:
        # The smallest value that at least this share of the hands does not exceed.
        rank = order[max(int(np.ceil(round(share * n, 6))) - 1, 0)]
        name = "median" if share == 0.5 else f"{share:.0%} below"
        rows.append({"place": name, "kind": "quantile", "share": share, **strength.row(rank)})
    rows += [
        {
            "place": f"best {place + 1}",
            "kind": "best",
            "share": None,
            **strength.row(order[-1 - place]),
        }
        for place in reversed(range(EXTREMES))
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _named(strength: Strength) -> Table:
    return Table(
        name="named",
        title="The worst, the best, and hands between (♠.♥.♦.♣)",
        frame=named_frame(strength).drop("share"),
        columns=(Column("", "place"), Column("hand", "hand"), *_VALUES),
        break_on="kind",
    )


# -- by class ------------------------------------------------------------------------------------


def class_frame(strength: Strength) -> pl.DataFrame:
    """Strength by marriages and aces: exact numbers of hands, sampled values; the last row all."""
    marriages, aces = feature("marriages", strength.hands), feature("aces", strength.hands)
    keys = 10 * marriages + aces
    groups: list[tuple[int | None, int | None, NDArray[np.int64]]] = [
        (int(key) // 10, int(key) % 10, np.flatnonzero(keys == key)) for key in np.unique(keys)
    ]
    groups.append((None, None, np.arange(len(keys))))
    bests = _best_of_groups(strength, [chosen for *_, chosen in groups])
    rows = []
    for (held, has, chosen), best in zip(groups, bests, strict=True):
        rows.append(
            {
                "marriages": held,
                "aces": has,
                "n": len(chosen),
                "share": len(chosen) / len(keys),
                **spread("points", mean_of_hands(strength.table, chosen)),
                **spread("makes", _chance(strength, chosen)),
                "best": best,
                **_bid_shares(strength, chosen),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _classes(strength: Strength) -> Table:
    return Table(
        name="class",
        title="By marriages and aces",
        frame=class_frame(strength),
        columns=(
            Column("marr-\niages", "marriages", "count", missing="all"),
            Column("aces", "aces", "count", missing=""),
            Column("hands\n(exact)", "n", "count", rank=1),
            Column("of all, %\n(exact)", "share", "exact", rank=2),
            spread_column("points\nmean", "points", "points"),
            spread_column("makes the\nlowest, %", "makes"),
            Column("best", "best", "count", rank=1),
            Column("bid,\n%", "bids", "percent", rank=1),
            Column("over the\nlowest, %", "bids_higher", "percent", rank=2),
        ),
        break_on="marriages",
        summary=True,
        keys=2,
    )


def _best_of_groups(strength: Strength, groups: list[NDArray[np.int64]]) -> list[int]:
    """The contract of the highest mean score for each group as a whole."""
    best = [(-np.inf, 0)] * len(groups)
    for contract, scores in scores_of(strength.table, strength.rules):
        for place, chosen in enumerate(groups):
            mean = float(scores[chosen].mean())
            if mean > best[place][0]:
                best[place] = (mean, contract)
    return [contract for _, contract in best]


def _chance(strength: Strength, chosen: NDArray[np.int64]) -> Interval:
    """How often a group makes the lowest contract; each hand has its own deals."""
    chances = strength.table.chances(chosen)[0]
    mean = float(chances.mean())
    n = strength.table.worth(chosen, 0)
    # Hands differ, and the deals are split evenly among them: that makes the error smaller.
    half = Z * (float((chances * (1 - chances)).mean()) / n) ** 0.5
    return Interval(mean, max(mean - half, 0.0), min(mean + half, 1.0))


def _bid_shares(strength: Strength, chosen: NDArray[np.int64]) -> dict[str, float | None]:
    """How many hands of a group are worth a bid, and one above the lowest."""
    mine = chosen[strength.bids.passes[chosen]]
    right = strength.bids.right[mine]
    if not len(mine):
        return {"bids": None, "bids_higher": None}
    return {
        "bids": float((right != PASS).mean()),
        "bids_higher": float((right > strength.lowest).mean()),
    }


# -- folklore ------------------------------------------------------------------------------------


def _misjudged(strength: Strength) -> Table:
    """The hands about which 25 an ace, 15 a guarded ten and the marriages are most wrong."""
    values = strength.rules.deal.marriage_values.by_suit()
    told = aces_and_tens(strength.hands, values)
    line = best_line(told, strength.points, np.ones(len(told), np.bool_))
    order = np.argsort(line - strength.points, kind="stable")
    rows = []
    for kind, ranks in (
        ("overrated", order[: -EXTREMES - 1 : -1]),
        ("underrated", order[:EXTREMES]),
    ):
        for rank in ranks.tolist():
            rows.append(
                {
                    "kind": kind,
                    "told": int(told[rank]),
                    "folklore": float(line[rank]),
                    **strength.row(rank),
                    "off": float(line[rank] - strength.points[rank]),
                }
            )
    return Table(
        name="misjudged",
        title=(
            "The hands that folklore misjudges most: 25 an ace, 15 a guarded ten and what the "
            "marriages pay, on its best straight line to points"
        ),
        frame=pl.DataFrame(rows),
        columns=(
            Column("", "kind"),
            Column("hand", "hand"),
            Column("folklore\ncounts", "told", "count", rank=2),
            Column("that is\npoints", "folklore", "points", rank=1),
            spread_column("points\nmean", "points", "points", rank=1),
            Column("off by", "off", "points"),
            Column("bid\nup to", "up_to"),
        ),
        break_on="kind",
    )


def _openings(strength: Strength) -> Table:
    """What the opening table of folklore says, and whether that is right."""
    told = opening_bids(strength.hands)
    rows: list[dict[str, Any]] = []
    for bid in (*np.unique(told).tolist(), None):
        mine = np.ones(len(told), np.bool_) if bid is None else told == bid
        right, said = strength.even.right[mine], told[mine]
        rows.append(
            {
                "says": "all" if bid is None else _bid(bid),
                "n": int(mine.sum()),
                "share": float(mine.mean()),
                **spread("points", mean_of_hands(strength.table, np.flatnonzero(mine))),
                "right": float((said == right).mean()),
                "high": float((said > right).mean()),
                "low": float((said < right).mean()),
            }
        )
    return Table(
        name="opening",
        title="The opening table of folklore against the highest contract that does not lose",
        frame=pl.DataFrame(rows),
        columns=(
            Column("it says", "says"),
            Column("hands\n(exact)", "n", "count", rank=1),
            Column("of all, %\n(exact)", "share", "exact", rank=2),
            spread_column("points\nmean", "points", "points", rank=1),
            Column("right, %", "right", "percent"),
            Column("too\nhigh, %", "high", "percent"),
            Column("too\nlow, %", "low", "percent"),
        ),
        summary=True,
    )


def _notes(strength: Strength) -> Iterator[str]:
    lowest = Contract.of(strength.lowest, strength.rules)
    yield (
        f"The lowest contract is {lowest.value}. Numbers of hands are exact: all are counted. The "
        f"rest is sampled, {strength.table.how_known}; the intervals are rather too wide than too "
        "narrow. Of so many hands, the best and worst seem a little more so than they are."
    )
    if isinstance(strength.table, CorrectedTable):
        yield f"What passing earns is that of {strength.table.base.policy}."
    yield INTERVALS
    yield (
        "bid up to: the highest bid allowed that scores, as the contract, at least what passing "
        "earns. bid and over the lowest: shares of the class's hands that have such a bid, and one "
        "above the lowest."
    )
    yield (
        "The opening table: 100 with one marriage or two aces, 110 or 120 with that of ♦ or ♥ and "
        "an ace, 120 with two marriages. It is held against the highest contract allowed that does "
        "not lose on average. As it speaks of the first bid, too low may be mended later, too high "
        "not."
    )
    out = int((~strength.bids.passes).sum())
    if out:
        yield f"{out:,} hands always ask for a new deal: they have no right bid."


__all__ = [
    "EXTREMES",
    "SHARES",
    "Strength",
    "class_frame",
    "hands_report",
    "named_frame",
    "render_hands",
]
