"""The columns of a full table, and its rows from what was played."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.cards import N_CARDS, format_card
from milsim.tables.hands_kernel import PASS_DEALS, PASS_SQUARES, PASS_TOTAL
from milsim.tables.plan import TablePlan
from milsim.tables.playing import Played, needs_of

SCHEMA_VERSION = 1
CARD_NAMES = tuple(format_card(card) for card in range(N_CARDS))


def schema_of(contracts: tuple[int, ...]) -> pl.Schema:
    """The columns and their types; all are whole numbers that add up.

    ``hand`` is the colexicographic rank (RULES.md §1); ``deals`` how many it declared in;
    ``points`` and ``points_squared`` the sums of declarer points and of their squares;
    ``makes_100`` … the deals that make a contract; ``talon_AS`` … the sums of declarer points in
    deals whose talon has the card (0 for a card of the hand); ``pass_deals``, ``pass_score``,
    ``pass_score_squared`` the deals in which the hand passed, and its deal scores in them.
    """
    return pl.Schema(
        {
            "hand": pl.UInt32(),
            "deals": pl.UInt32(),
            "points": pl.UInt32(),
            "points_squared": pl.UInt64(),
            **{f"makes_{contract}": pl.UInt32() for contract in contracts},
            **{f"talon_{name}": pl.UInt32() for name in CARD_NAMES},
            "pass_deals": pl.UInt32(),
            "pass_score": pl.Int32(),
            "pass_score_squared": pl.UInt64(),
        }
    )


def rows_of(ranks: NDArray[np.int64], played: Played, plan: TablePlan) -> pl.DataFrame:
    """The rows of the hands with these ranks."""
    points, squares = played.moments()
    made = played.at_least(needs_of(plan.contracts, plan.rules))
    columns = {
        "hand": ranks,
        "deals": played.deals,
        "points": points,
        "points_squared": squares,
        **{f"makes_{each}": made[:, i] for i, each in enumerate(plan.contracts)},
        **{f"talon_{name}": played.by_card[:, 0, i] for i, name in enumerate(CARD_NAMES)},
        "pass_deals": played.passing[:, PASS_DEALS],
        "pass_score": played.passing[:, PASS_TOTAL],
        "pass_score_squared": played.passing[:, PASS_SQUARES],
    }
    return pl.DataFrame(columns).cast(schema_of(plan.contracts))


__all__ = ["CARD_NAMES", "SCHEMA_VERSION", "rows_of", "schema_of"]
