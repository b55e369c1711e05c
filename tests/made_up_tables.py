"""A table of all hands that nobody played: means that follow known weights, and some noise."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milsim.dealing import hand_masks_table
from milsim.reports.evaluator_features import N_WEIGHTS, features
from milsim.rules import digest, load
from milsim.tables.compact import FORMAT, FORMAT_VERSION, LEVELS, CompactTable, levels_of
from milsim.tables.passing import PassClass, class_keys

WEIGHTS = (5, 4, 3, 1, 2, 1, 1, 2, 2, 3, 4, 6, 8, 10, 6, 9, 12, 16, -2)
"""Counts of 6 points, by the columns of `features`."""
NOISE = 4.0
SPREAD = 45
DEALS = 680


def made_up_means(noise: float = NOISE) -> NDArray[np.float64]:
    """The mean declarer points of all hands."""
    assert len(WEIGHTS) == N_WEIGHTS
    hands = hand_masks_table().astype(np.int64)
    exact = 6.0 * (features(hands) @ np.array(WEIGHTS))
    means: NDArray[np.float64] = exact + noise * np.random.default_rng(5).standard_normal(
        len(hands)
    )
    return means


def made_up_table(noise: float = NOISE, rules: str = "mil") -> CompactTable:
    """The table: points of a deal spread about the mean as the logistic distribution has it."""
    return _made_up(noise, rules)


@cache
def _made_up(noise: float, rules: str) -> CompactTable:
    means = made_up_means(noise)
    contracts = list(range(100, 310, 10))
    scale = SPREAD * 3**0.5 / np.pi
    chances = np.stack([1 / (1 + np.exp((each - 5 - means) / scale)) for each in contracts])
    made = np.rint(DEALS * chances).astype(np.int64)
    contracts = contracts[: int((made.sum(axis=1) > 0).sum())]
    keys = np.unique(class_keys(hand_masks_table().astype(np.int64)), axis=1)
    classes = [
        PassClass((a, b, c), 1000, 30.0, 0.5, 3.0, 2.0)
        for a, b, c in zip(*keys.tolist(), strict=True)
    ]
    passing = np.full(len(means), 30.0, np.float32)
    passing[:1000] = np.nan  # some hands never pass
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "rules_name": rules,
        "rules": digest(load(rules)),
        "plan_digest": "made up",
        "rng": "made up",
        "kernels": "made up",
        "versions": {"milsim": "0"},
        "policy": "expert",
        "seed": 1,
        "per_talon": 1,
        "hands": [0, len(means)],
        "deals": DEALS,
        "contracts": contracts,
        "levels": LEVELS,
        "passing": [each.to_row() for each in classes],
    }
    return CompactTable(
        header,
        (np.rint(2 * means) / 2).astype(np.float32),
        np.full(len(means), SPREAD, np.uint8),
        passing,
        levels_of(made[: len(contracts)], np.full((len(contracts), len(means)), DEALS)),
    )
