"""The bidders of the study: for each hand, by rank, how high to bid it (0: not at all).

`advice` is what `milsim hand` and the table of all hands say: up to the highest contract whose mean
score is at least what passing earns. The others change one thing, or are what players are told.
"""

from __future__ import annotations

import numpy as np

from milsim.reports.evaluator_bidding import ACE_OFF, bids_by_count
from milsim.reports.evaluator_fit import Fit, bids_by
from milsim.reports.evaluator_folklore import opening_bids
from milsim.reports.hands_known import PASS, caps_of, right_bids, scores_of, table_of
from milsim.rules import load

MARGINS = (-40, -20, -10, 10, 20, 40)
"""How much more than passing a bid must score, in points; below 0: bolder than the advice."""


def shifted(margin: int) -> str:
    return f"advice {margin:+d}".replace("-", "−")


def bidders(rules: str, others: dict[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
    """Bids by rank, int64, of all bidders.

    ``others``, by rank: the mean score of the two others when the hand declares (``declaring``) and
    when it passes (``passing``); needed for the bidder who counts his score against theirs.
    """
    chosen = load(rules)
    table = table_of(chosen)
    fit = Fit(table, chosen)
    caps = caps_of(fit.hands, chosen)
    bids = right_bids(table, chosen)
    found = {"advice": bids.right}
    for margin in MARGINS:
        more = np.full(len(caps), float(margin))
        found[shifted(margin)] = right_bids(table, chosen, pass_noise=more).right
    if others is not None:
        lead = others["declaring"] - others["passing"]
        found["advice, relative"] = right_bids(table, chosen, pass_noise=lead).right
    found["does not lose"] = right_bids(table, chosen, passing=0).right
    found["point count"] = np.minimum(bids_by(fit.counts, fit.evaluator.bids), caps)
    for name, off in COUNTED.items():
        found[name] = bids_by_count(fit, off)
    found["opening table"] = opening_bids(fit.hands)
    found["never bids"] = np.full(len(caps), PASS)
    return found


COUNTED = {"count against passing": 0, "count less 4 an ace": ACE_OFF}
"""Counts for bidding, and what they take off for each ace: it earns for who passes, too."""


def best_scores(rules: str) -> tuple[np.ndarray, np.ndarray]:
    """By rank: the mean score of the best contract, and what passing earns (NaN: never passes)."""
    chosen = load(rules)
    table = table_of(chosen)
    best = np.full(len(table.means), -np.inf)
    for _, scores in scores_of(table, chosen):
        best = np.maximum(best, scores)
    return best, table.passing.astype(np.float64)


__all__ = ["COUNTED", "MARGINS", "best_scores", "bidders", "shifted"]
