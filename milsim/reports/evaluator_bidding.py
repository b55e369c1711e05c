"""The point count for bidding: less for aces, which earn as much for who passes.

The count says what a hand takes as declarer. Whether to bid also depends on what it earns by
passing, and that is aces above all. So some of the count is taken off for each of them; then from
so much on a contract mostly scores at least what passing earns. `analysis/bidding` has tried such
bids at the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.reports.evaluator_fit import Fit, bids_by, cuts
from milsim.reports.hands_known import PASS
from milsim.reports.table import Column, Table
from milsim.where import feature

ACE_OFF = 4
"""What is taken off for each ace: the whole number that serves ``mil`` and ``gamerules`` best."""


def bidding_counts(fit: Fit, ace_off: int = ACE_OFF) -> NDArray[np.int64]:
    """The counts of all hands for bidding, by rank."""
    found: NDArray[np.int64] = fit.counts - ace_off * feature("aces", fit.hands)
    return found


def bidding_cuts(fit: Fit, ace_off: int = ACE_OFF) -> dict[int, int]:
    """From which count for bidding on to bid each contract: the fewest errors of all hands.

    Hands that never pass say nothing.
    """
    known = fit.bids.passes
    counts = bidding_counts(fit, ace_off)
    return cuts(counts[known], fit.bids.right[known], fit.table.contracts)


def bids_by_count(fit: Fit, ace_off: int = ACE_OFF) -> NDArray[np.int64]:
    """How high to bid all hands, by rank, by their counts for bidding; 0 to pass."""
    bids = bids_by(bidding_counts(fit, ace_off), bidding_cuts(fit, ace_off))
    return np.minimum(bids, fit.caps)


def bidding_table(fit: Fit) -> Table:
    """Up to where to bid by the count for bidding, how many hands that are, and how right it is."""
    first = bidding_cuts(fit)
    bids, right, known = bids_by_count(fit), fit.bids.right, fit.bids.passes
    agrees = (bids == PASS) == (right == PASS)
    rows: list[dict[str, Any]] = []
    for bid in (*np.unique(bids).tolist(), None):
        mine = np.ones(len(bids), np.bool_) if bid is None else bids == bid
        judged = mine & known
        rows.append(
            {
                "bid": "all" if bid is None else "pass" if bid == PASS else str(bid),
                "count_from": None if bid is None else first.get(bid),
                "n": int(mine.sum()),
                "share": float(mine.mean()),
                "agrees": float(agrees[judged].mean()) if judged.any() else None,
                "right": float((bids == right)[judged].mean()) if judged.any() else None,
            }
        )
    return Table(
        name="bidding",
        title=f"To bid rather than pass: the count, less {ACE_OFF} for each ace",
        frame=pl.DataFrame(rows, infer_schema_length=None),
        columns=(
            Column("bid\nup to", "bid"),
            Column("count less\naces from", "count_from", "count", missing=""),
            Column("hands\n(exact)", "n", "count"),
            Column("of all, %\n(exact)", "share", "exact", rank=1),
            Column("bid or pass:\nright, %", "agrees", "percent"),
            Column("just that\none, %", "right", "percent", rank=2),
        ),
        summary=True,
    )


__all__ = ["ACE_OFF", "bidding_counts", "bidding_cuts", "bidding_table", "bids_by_count"]
