"""What a hand earns that passes: its own few deals, drawn towards the mean of its class.

*Passing* is: the player sits at middlehand or rearhand (half and half), passes whenever he may, the
others bid and play by the policy, and what counts is his own deal score, as the rules give it (the
points of a defender, rounded; what a conceded deal gives him; a compulsory contract if everybody
else passes). Hands that must ask for a new deal are left out.

A table plays each hand that way only 20 times or so, and scores of single deals differ by some 30
points. So a hand's mean is drawn to the mean of the hands with as many marriages, aces and guarded
tens, by as much as sampling makes it noisier than hands of a class differ (empirical Bayes: Efron
and Morris, "Stein's estimation rule and its competitors", JASA 68, 1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.dealing.tables import hand_masks_table
from milsim.where import feature

KEYS = ("marriages", "aces", "guarded_tens")
FEWEST = 200
"""Classes with fewer passing deals are put together with the nearest: one guarded ten less."""


@dataclass(frozen=True, slots=True)
class PassClass:
    """What the hands of a class earn by passing, in points of the deal score.

    ``mean`` over the class, ``error`` its standard error; ``spread`` the standard deviation of
    single hands about it, without sampling noise; ``hand_error`` the standard error of a hand's own
    value, drawn to the mean. ``deals`` is 0 for a class too rare, which has its neighbour's values.
    """

    key: tuple[int, int, int]
    deals: int
    mean: float
    error: float
    spread: float
    hand_error: float

    def to_row(self) -> list[float]:
        """As the header of a packed table keeps it."""
        return [*self.key, self.deals, self.mean, self.error, self.spread, self.hand_error]

    @classmethod
    def of(cls, row: Sequence[float]) -> PassClass:
        """From a row of a header.

        >>> PassClass.of([1, 2, 0, 500, 31.5, 0.4, 2.5, 2.1]).key
        (1, 2, 0)
        """
        marriages, aces, tens, deals, *rest = row
        return cls((int(marriages), int(aces), int(tens)), int(deals), *rest)


def class_keys(hands: NDArray[np.int64]) -> NDArray[np.int64]:
    """Marriages, aces and guarded tens of hands, int64 (3, hands)."""
    return np.stack([feature(name, hands) for name in KEYS])


def distinct_keys(hands: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The classes that hands fall into, int64 (3, classes) in order, and the place of each hand's.

    >>> keys, places = distinct_keys(np.array([0b111111, 0b100001, 0b111111]))
    >>> keys.tolist(), places.tolist()
    ([[0, 1], [1, 1], [0, 1]], [1, 0, 1])
    """
    marriages, aces, tens = class_keys(hands)
    # One number a hand, a digit each: np.unique of columns takes a hundred times longer.
    codes, places = np.unique(100 * marriages + 10 * aces + tens, return_inverse=True)
    return np.stack([codes // 100, codes // 10 % 10, codes % 10]), places


def passing_values(rows: pl.DataFrame) -> tuple[NDArray[np.float64], list[PassClass]]:
    """What each hand of a full table earns by passing (NaN: never passes), and all classes."""
    hands = hand_masks_table()[rows["hand"].to_numpy()].astype(np.int64)
    keys, places = distinct_keys(hands)
    n, totals, squares = (
        rows[name].to_numpy().astype(np.float64)
        for name in ("pass_deals", "pass_score", "pass_score_squared")
    )
    values = np.full(len(hands), np.nan)
    found: dict[tuple[int, int, int], PassClass] = {}
    for place, key in enumerate(zip(*keys.tolist(), strict=True)):
        mine = np.flatnonzero((places == place) & (n > 0))
        if n[mine].sum() >= FEWEST:
            found[key] = _summed(key, n[mine], totals[mine], squares[mine])
    classes = [_nearest(key, found) for key in zip(*keys.tolist(), strict=True)]
    for place, each in enumerate(classes):
        mine = np.flatnonzero((places == place) & (n > 0))
        # How much of what single means differ by is real.
        weight = 1 - (each.hand_error / each.spread) ** 2 if each.spread > 0 else 0.0
        values[mine] = each.mean + weight * (totals[mine] / n[mine] - each.mean)
    return values, classes


def _summed(
    key: tuple[int, int, int],
    n: NDArray[np.float64],
    totals: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> PassClass:
    deals = float(n.sum())
    mean = float(totals.sum()) / deals
    # Between hands: what single means vary more than the deals within a hand explain.
    within = float(np.maximum(squares - totals**2 / n, 0).sum()) / max(deals - len(n), 1)
    noise = within * float(np.mean(1 / n))
    between = max(float(np.var(totals / n, ddof=1)) - noise, 0.0) if len(n) > 1 else 0.0
    error = sqrt(within / deals + between / len(n))
    hand_error = sqrt(between * noise / (between + noise)) if between > 0 else 0.0
    return PassClass(
        key, int(deals), round(mean, 2), round(error, 3), round(sqrt(between), 3),
        round(hand_error, 3),
    )  # fmt: skip


def _nearest(key: tuple[int, int, int], found: dict[tuple[int, int, int], PassClass]) -> PassClass:
    """The class itself, or the nearest that has deals enough, under the name of the first."""
    best = min(
        found, key=lambda other: (sum(abs(a - b) for a, b in zip(key, other, strict=True)), other)
    )
    near = found[best]
    return replace(near, key=key, deals=near.deals if best == key else 0)


__all__ = ["FEWEST", "KEYS", "PassClass", "class_keys", "distinct_keys", "passing_values"]
