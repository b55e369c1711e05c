"""The point count for people, fitted: least squares on the table's means, in whole numbers.

All hands are equally likely, so each counts once. Half of them, drawn by a counter-based generator,
are fitted; the other half only says how good the count is. The whole-number weights are those that
leave the least squared error, found one weight at a time from the rounded ones on.

Sums are of whole numbers, so that no order of adding, and no library that shares it out among
threads, changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from milsim.dealing.tables import hand_masks_table
from milsim.reports.evaluator_features import features
from milsim.reports.hands_known import PASS, Bids, caps_of, right_bids
from milsim.rules import Rules
from milsim.tables.compact import CompactTable
from milsim.where import feature

UNIT = 6
"""Declarer points that one of the count stands for: the coarsest that costs next to nothing."""
SPLIT_SEED = 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def words_of(indices: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """64 random bits for each index, a pure function of both: SplitMix64 at that counter.

    >>> hex(words_of(np.array([0]), 0)[0])
    '0xe220a8397b1dcdaf'
    """
    start = np.uint64(seed) << np.uint64(32)
    words: NDArray[np.uint64] = (indices.astype(np.uint64) + start + np.uint64(1)) * _GOLDEN
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def fitted_half(n: int, seed: int = SPLIT_SEED) -> NDArray[np.bool_]:
    """Which of n hands are fitted: about every second one, at random.

    >>> fitted_half(8).tolist() == fitted_half(9).tolist()[:8]
    True
    """
    chosen: NDArray[np.bool_] = words_of(np.arange(n), seed) >> np.uint64(63) == 0
    return chosen


def whole_weights(
    gram: NDArray[np.float64], target: NDArray[np.float64], fitted: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Whole numbers w with a small wᵀ·gram·w − 2·wᵀ·target; ``fitted`` has the smallest of all.

    From the rounded weights on, the one step of one weight that gains most, while any gains.

    >>> whole_weights(np.eye(2), np.array([1.4, 2.6]), np.array([1.4, 2.6])).tolist()
    [1, 3]
    """
    weights: NDArray[np.int64] = np.rint(fitted).astype(np.int64)
    size = np.diag(gram)
    while True:
        slope = 2 * (gram @ weights - target)
        losses = np.stack([size - slope, size + slope])  # by a step down, and by one up
        sign, place = np.unravel_index(int(np.argmin(losses)), losses.shape)
        if losses[sign, place] >= -1e-9 * abs(float(target @ fitted)):
            return weights
        weights[place] += 2 * int(sign) - 1


def cuts(
    counts: NDArray[np.int64], wanted: NDArray[np.int64], contracts: tuple[int, ...]
) -> dict[int, int]:
    """From which count on to bid each contract: contract → count, rising together.

    Each cut makes the fewest errors: hands that should bid so much and lie below it, or should not
    and lie above. Contracts that no cut serves better than none are left out.

    >>> cuts(np.array([1, 2, 3, 4]), np.array([0, 0, 100, 120]), (100, 110, 120, 130))
    {100: 3, 110: 4, 120: 4}
    """
    least = int(counts.min())
    where = counts - least
    hands = np.bincount(where)
    values = np.flatnonzero(hands)
    found: dict[int, int] = {}
    lowest = 0
    for contract in contracts:
        should = np.bincount(where[wanted >= contract], minlength=len(hands))[values]
        below = np.concatenate([[0], np.cumsum(should)])
        should_not = hands[values] - should
        above = np.concatenate([np.cumsum(should_not[::-1])[::-1], [0]])
        # The higher of equal cuts: rather bid too little.
        errors = (below + above)[::-1]
        place = max(len(values) - int(np.argmin(errors)), lowest)
        if place == len(values):
            break
        lowest = place
        found[contract] = least + int(values[place])
    return found


def bids_by(counts: NDArray[np.int64], bids: Mapping[int, int]) -> NDArray[np.int64]:
    """The bids of counts by cuts, before the cap of the rules.

    >>> bids_by(np.array([2, 3, 9]), {100: 3, 120: 4}).tolist()
    [0, 100, 120]
    """
    found = np.full(counts.shape, PASS, np.int64)
    for contract, count in bids.items():
        found[counts >= count] = contract
    return found


def kinds_of(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different rows of a matrix of small whole numbers, and which of them each row is.

    >>> kinds_of(np.array([[0, 2], [1, 0], [0, 2]]))[1].tolist()
    [0, 1, 0]
    """
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * (int(column.max()) + 1) + column
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], kind


def best_line(
    counts: NDArray[np.int64], points: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """What all counts foretell by the straight line that is best for the chosen ones.

    >>> best_line(np.array([0, 1, 9]), np.array([5.0, 7.0, 0.0]), np.array([True, True, False]))
    array([ 5.,  7., 23.])
    """
    x, y = counts[chosen] - counts[chosen].mean(), points[chosen]
    found: NDArray[np.float64] = y.mean() + (x * y).sum() / (x * x).sum() * (
        counts - counts[chosen].mean()
    )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Evaluator:
    """A point count for hands before the talon.

    ``weights`` by the columns of :func:`~milsim.reports.evaluator_features.features`, whole;
    ``fitted`` the same before rounding. :data:`UNIT` declarer points are one. ``bids``: from which
    count on each contract does not lose on average.
    """

    rules: Rules
    weights: NDArray[np.int64]
    fitted: NDArray[np.float64]
    bids: Mapping[int, int]

    def counts(self, hands: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of hands, which are masks of cards."""
        found: NDArray[np.int64] = features(hands) @ self.weights
        return found

    def points(self, hands: NDArray[np.int64]) -> NDArray[np.int64]:
        """The declarer points that hands will take on average, by the count."""
        return UNIT * self.counts(hands)

    def bid(self, hands: NDArray[np.int64]) -> NDArray[np.int64]:
        """The highest bid allowed that does not lose, by the count; 0 where all do."""
        return np.minimum(bids_by(self.counts(hands), self.bids), caps_of(hands, self.rules))


class Fit:
    """The count of a table, with all that its report compares it with; by rank of the hands."""

    def __init__(self, table: CompactTable, rules: Rules) -> None:
        """Fit it; a second or less."""
        self.table = table
        self.rules = rules
        self.hands: NDArray[np.int64] = hand_masks_table().astype(np.int64)
        self.points: NDArray[np.float64] = table.means.astype(np.float64)
        self.half = fitted_half(len(self.hands))
        self.bids = right_bids(table, rules)
        self.even = right_bids(table, rules, passing=0)
        rows = np.column_stack([features(self.hands), feature("guarded_tens", self.hands)])
        # Hands that count alike in every line are one kind: a few thousand, added up exactly.
        self.kinds, self.kind = kinds_of(rows)
        n = np.bincount(self.kind[self.half], minlength=len(self.kinds))
        doubled = np.rint(2 * self.points[self.half])
        total = np.bincount(self.kind[self.half], doubled, minlength=len(self.kinds))
        self.gram = self.kinds.T @ (n[:, None] * self.kinds)
        self.target = self.kinds.T @ total.astype(np.int64) / (2 * UNIT)
        gram, target = self.gram[:-1, :-1].astype(np.float64), self.target[:-1]
        fitted = np.linalg.lstsq(gram, target, rcond=None)[0].astype(np.float64)
        weights = whole_weights(gram, target, fitted)
        self.counts: NDArray[np.int64] = (self.kinds[:, :-1] @ weights)[self.kind]
        self.evaluator = Evaluator(rules, weights, fitted, self.cuts_of(self.counts, self.even))

    def unrounded(self) -> NDArray[np.float64]:
        """The points that the weights foretell before rounding."""
        points = (self.kinds[:, :-1] * (UNIT * self.evaluator.fitted)).sum(axis=1)
        found: NDArray[np.float64] = points[self.kind]
        return found

    def guard(self) -> float:
        """The points that a guard adds to a ten: one more weight in the same fit."""
        weights = np.linalg.lstsq(self.gram.astype(np.float64), self.target, rcond=None)[0]
        return UNIT * float(weights[-1])

    def having(self, columns: slice) -> int:
        """How many of all hands have anything in some columns of the features."""
        some = (self.kinds[:, columns] > 0).any(axis=1)
        return int(np.bincount(self.kind)[some].sum())

    def cuts_of(self, counts: NDArray[np.int64], bids: Bids) -> dict[int, int]:
        """The cuts of a count by the fitted half; hands that never pass say nothing."""
        known = self.half & bids.passes
        return cuts(counts[known], bids.free[known], self.table.contracts)

    def line_of(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The points that a count foretells, by its best straight line on the fitted half."""
        return best_line(counts, self.points, self.half)

    @cached_property
    def caps(self) -> NDArray[np.int64]:
        """What the rules allow each hand to bid."""
        return caps_of(self.hands, self.rules)


__all__ = [
    "UNIT",
    "Evaluator",
    "Fit",
    "best_line",
    "bids_by",
    "cuts",
    "fitted_half",
    "kinds_of",
    "whole_weights",
    "words_of",
]
