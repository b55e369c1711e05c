"""What a hand earns that passes, by its class: the mean over all hands of as many marriages, aces…

*Passing* is: the player sits at middlehand or rearhand (half and half), passes whenever he may, the
others bid and play by the policy, and what counts is his own deal score, as the rules give it (the
points of a defender, rounded; what a conceded deal gives him; a compulsory contract if everybody
else passes). Hands that must ask for a new deal are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import polars as pl

from milsim.dealing.tables import hand_masks_table
from milsim.where import feature

KEYS = ("marriages", "aces", "guarded_tens")
FEWEST = 200
"""Classes with fewer passing deals are put together with the nearest: one guarded ten less."""


@dataclass(frozen=True, slots=True)
class PassClass:
    """What the hands of a class earn by passing, in points of the deal score.

    ``mean`` over the class, ``error`` its standard error; ``spread`` the standard deviation of
    single hands about it (without sampling noise): how far one hand may be off.
    """

    key: tuple[int, int, int]
    deals: int
    mean: float
    error: float
    spread: float

    def to_row(self) -> list[float]:
        """As the header of a packed table keeps it."""
        return [*self.key, self.deals, self.mean, self.error, self.spread]

    @classmethod
    def of(cls, row: Sequence[float]) -> PassClass:
        """From a row of a header.

        >>> PassClass.of([1, 2, 0, 500, 31.5, 0.4, 2.5]).key
        (1, 2, 0)
        """
        marriages, aces, tens, deals, mean, error, spread = row
        return cls((int(marriages), int(aces), int(tens)), int(deals), mean, error, spread)


def pass_classes(rows: pl.DataFrame) -> list[PassClass]:
    """The classes of a full table of all hands, every class that a hand can be of, sorted."""
    hands = hand_masks_table()[rows["hand"].to_numpy()]
    names = {name: feature(name, hands) for name in KEYS}
    counted = pl.DataFrame(names).with_columns(
        rows["pass_deals"].cast(pl.Int64).alias("n"),
        rows["pass_score"].cast(pl.Int64).alias("total"),
        rows["pass_score_squared"].cast(pl.Int64).alias("squares"),
    )
    found: dict[tuple[int, int, int], PassClass] = {}
    groups = counted.sort(KEYS).partition_by(KEYS, as_dict=True, maintain_order=True)
    for values, group in groups.items():
        key = (int(values[0]), int(values[1]), int(values[2]))
        n = int(group["n"].sum())
        if n < FEWEST:
            continue
        found[key] = _summed(key, group.filter(pl.col("n") > 0))
    keys = [(int(key[0]), int(key[1]), int(key[2])) for key in groups]
    return [_nearest(key, found) for key in keys]


def _summed(key: tuple[int, int, int], group: pl.DataFrame) -> PassClass:
    n = group["n"].to_numpy().astype(float)
    totals, squares = (group[name].to_numpy().astype(float) for name in ("total", "squares"))
    deals = n.sum()
    mean = totals.sum() / deals
    # Between hands: what single means vary more than the deals within a hand explain.
    within = np.maximum(squares - totals**2 / n, 0).sum() / max(deals - len(n), 1)
    between = 0.0
    if len(n) > 1:
        single = totals / n
        between = max(float(np.var(single, ddof=1)) - within * float(np.mean(1 / n)), 0.0)
    error = sqrt(within / deals + between / len(n))
    return PassClass(key, int(deals), round(mean, 2), round(error, 3), round(sqrt(between), 2))


def _nearest(key: tuple[int, int, int], found: dict[tuple[int, int, int], PassClass]) -> PassClass:
    """The class itself, or the nearest that has deals enough, under the name of the first."""
    best = min(
        found, key=lambda other: (sum(abs(a - b) for a, b in zip(key, other, strict=True)), other)
    )
    near = found[best]
    return PassClass(key, near.deals if best == key else 0, near.mean, near.error, near.spread)


__all__ = ["FEWEST", "KEYS", "PassClass", "pass_classes"]
