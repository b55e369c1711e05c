"""What a hand, or a class of hands, scores by contract, by the table of all hands."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from milsim.dealing.tables import hand_masks_table
from milsim.reports.statistics import UNKNOWN, Interval, Z, wilson
from milsim.rules import Rules
from milsim.tables.compact import CompactTable
from milsim.tables.passing import distinct_keys

PACKED = 0.0079
"""How far a chance of a packed table may be off, at one half (:mod:`milsim.tables.compact`)."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The mean deal score by contract of some hands, and what they earn by passing.

    ``best`` is the contract of the highest score, ``up_to`` the highest one up to ``cap`` that
    scores at least what passing earns: the bid of all these hands alike; None to pass.
    """

    hands: int
    by_contract: dict[int, Interval]
    passing: Interval
    cap: int

    @property
    def best(self) -> int:
        """The contract with the highest mean score; of equal ones the lowest."""
        return max(self.by_contract, key=lambda contract: (self.score(contract), -contract))

    @property
    def up_to(self) -> int | None:
        """The highest right bid; None: rather pass, or these hands never pass."""
        if self.passing.value is None:
            return None
        worth = [
            contract
            for contract in self.by_contract
            if contract <= self.cap and self.score(contract) >= self.passing.value
        ]
        return max(worth, default=None)

    def score(self, contract: int) -> float:
        """The mean score of a contract."""
        value = self.by_contract[contract].value
        assert value is not None
        return value


def scores_of_hands(
    table: CompactTable, rules: Rules, chosen: NDArray[np.int64], cap: int
) -> Scores:
    """The scores of hands by rank, all alike, with 95 % intervals; ``cap``: the highest bid.

    Of one hand they are those of ``milsim hand --seconds 0``. Where a made contract scores the
    points taken, what lies above it counts by whole steps, from below.
    """
    levels = table.chances(chosen)
    contracts = table.contracts
    step = contracts[1] - contracts[0] if len(contracts) > 1 else rules.auction.step
    found = {}
    for place, contract in enumerate(contracts):
        chance = _one_chance(levels[place, 0], table) if len(chosen) == 1 else None
        chance = _mean_chance(levels[place], table) if chance is None else chance
        above = 0.0
        if rules.scoring.success != "contract":
            above = step * float(levels[place + 1 :].mean(axis=1).sum())
        found[contract] = Interval(
            *(
                None if p is None else contract * (2 * p - 1) + above
                for p in (chance.value, chance.low, chance.high)
            )
        )
    return Scores(len(chosen), found, passing_of_hands(table, chosen), cap)


def _one_chance(p: float, table: CompactTable) -> Interval:
    """A chance of one hand: as many deals as the table has, and what packing rounds away."""
    sampled = wilson(p * table.deals, table.deals)
    assert sampled.low is not None
    assert sampled.high is not None
    off = 2 * PACKED * sqrt(p * (1 - p))
    return Interval(float(p), max(0.0, sampled.low - off), min(1.0, sampled.high + off))


def _mean_chance(chances: NDArray[np.float64], table: CompactTable) -> Interval:
    """A mean of chances: each hand has its own deals, which makes the error smaller."""
    mean = float(chances.mean())
    half = Z * sqrt(float((chances * (1 - chances)).mean()) / (table.deals * len(chances)))
    return Interval(mean, max(mean - half, 0.0), min(mean + half, 1.0))


def passing_of_hands(table: CompactTable, chosen: NDArray[np.int64]) -> Interval:
    """What hands by rank earn by passing, on average; unknown if none of them ever passes."""
    chosen = chosen[~np.isnan(table.passing[chosen])]
    if len(chosen) == 0:
        return UNKNOWN
    keys, places = distinct_keys(hand_masks_table()[chosen].astype(np.int64))
    counts = np.bincount(places).tolist()
    classes = table.pass_classes()
    found = [classes[key] for key in zip(*keys.tolist(), strict=True)]
    single = sum(n * each.hand_error**2 for n, each in zip(counts, found, strict=True))
    common = sum((n * each.error) ** 2 for n, each in zip(counts, found, strict=True))
    value = float(table.passing[chosen].mean())
    half = Z * sqrt(single + common) / len(chosen)
    return Interval(value, value - half, value + half)


__all__ = ["PACKED", "Scores", "passing_of_hands", "scores_of_hands"]
