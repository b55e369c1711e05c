"""What the two others score while a hand is declared or passes: measured, then for all hands.

`collect.py hands` has played some random hands. What the others score depends on the hand much as
its own points do, so it is fitted, by least squares, to what the point count for people looks at
and to the table's own means, and then known for every hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from intervals import Estimate, mean_of

from milsim.dealing.tables import hand_masks_table
from milsim.reports.evaluator_features import features
from milsim.reports.hands_known import table_of


@dataclass(frozen=True)
class Others:
    """The others' mean score by rank, and how well the fit explains the hands it was fitted to."""

    declaring: np.ndarray
    passing: np.ndarray
    r2: dict[str, float]
    off: dict[str, float]
    """Root of the mean square error, points, with the sampling noise of the hands in it."""


def looked_at(rules: str) -> np.ndarray:
    """What is fitted to, float64 (hands, columns)."""
    hands = hand_masks_table().astype(np.int64)
    table = table_of(rules)
    passing = np.where(np.isnan(table.passing), 0.0, table.passing)
    means = table.means.astype(np.float64)
    return np.column_stack([features(hands), means, means**2 / 100, passing])


def others_of(rules: str, rank: np.ndarray, declaring: np.ndarray, passing: np.ndarray) -> Others:
    """Fitted to hands by rank with the others' mean scores in their deals."""
    seen = looked_at(rules)
    found, r2, off = {}, {}, {}
    for name, values in (("declaring", declaring), ("passing", passing)):
        weights = np.linalg.lstsq(seen[rank], values, rcond=None)[0]
        found[name] = seen @ weights
        left = values - found[name][rank]
        r2[name] = float(1 - left.var() / values.var())
        off[name] = float(left.std())
    return Others(found["declaring"], found["passing"], r2, off)


def hand_rows(hands: dict[str, np.ndarray], contracts: np.ndarray) -> dict[str, np.ndarray]:
    """By hand: what is earned by passing and declaring, for oneself and for the others."""
    chance = hands["made"] / hands["declaring"][:, None]
    scores = contracts * (2 * chance - 1)
    return {
        "pass own": hands["passed"][:, :, 0].mean(axis=1).astype(np.float64),
        "pass others": hands["passed"][:, :, 1].mean(axis=1).astype(np.float64),
        "play 100 own": scores[:, 0],
        "play best own": scores.max(axis=1),
        "play others": hands["others"],
    }


def shares(rows: dict[str, np.ndarray]) -> dict[str, Estimate]:
    """Of how many hands passing is better than the best contract, by own score and lead, %."""
    own = rows["play best own"] < rows["pass own"]
    lead = rows["play best own"] - rows["play others"] < rows["pass own"] - rows["pass others"]
    return {
        "own": mean_of(100.0 * own),
        "lead": mean_of(100.0 * lead),
        "lead less own": mean_of(100.0 * lead - 100.0 * own),
    }


__all__ = ["Others", "hand_rows", "others_of", "shares"]
