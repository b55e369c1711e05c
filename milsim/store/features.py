"""Features of the declarer's hand, derived from the deal number: they are not stored.

A deal number holds all cards; whose hand it is and what he gave away stand in the row. What a
marriage, a guarded ten and so on are is defined once, in :mod:`milsim.where`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim._jit import kernel
from milsim.dealing.sampling import deal_masks, rank_of
from milsim.dealing.tables import hand_masks_table, kernel_hands, kernel_ranks
from milsim.rules import Rules
from milsim.where import MARRIAGE_VALUES, feature, suit_set

COUNTED = (
    "marriages",
    "half_marriages",
    "marriage_points",
    "points",
    "aces",
    "tens",
    "guarded_tens",
    "longest",
)
"""The features of a hand that a run offers, by their names in :mod:`milsim.where`."""

_INPUTS = ("deal", "declarer", "gift_left", "gift_right")


MARRIAGE_MASK = "marriage_mask"
"""One more, the suits with a marriage: bit 0 spades … bit 3 hearts."""


@cache
def _feature_table(name: str, values: tuple[int, int, int, int]) -> NDArray[Any]:
    """One feature of all 346,104 hands of 7 cards by colexicographic rank, as small integers."""
    hands = hand_masks_table()
    if name == MARRIAGE_MASK:
        return suit_set("marriages", hands).astype(np.uint8)
    kind = np.int16 if name == "marriage_points" else np.uint8
    return feature(name, hands, marriage_values=values).astype(kind)


def hand_features(
    values: tuple[int, int, int, int] = MARRIAGE_VALUES,
    names: Sequence[str] = (*COUNTED, MARRIAGE_MASK),
) -> pl.DataFrame:
    """Features of all 346,104 hands of 7 cards by colexicographic rank, as small integers.

    Columns, all or those asked for by ``names``: those of :data:`COUNTED`, counted as
    :mod:`milsim.where` defines them, and ``marriage_mask``, the suits with a marriage (bit 0 spades
    … bit 3 hearts). ``values`` are what the rules pay for marriages, by suit.

    >>> hand_features()["aces"].mean() == 7 * 4 / 24
    True
    """
    return pl.DataFrame({name: _feature_table(name, values) for name in names})


@kernel(inline=True)
def _marriage_mask(cards: int) -> int:
    """The suits of which king and queen are among the cards: bit i for suit i."""
    pairs = (cards >> 2) & (cards >> 3) & 0b000001_000001_000001_000001
    return (pairs | pairs >> 5 | pairs >> 10 | pairs >> 15) & 0b1111


@kernel
def _fill_features(
    deals: NDArray[np.int64],
    declarer: NDArray[np.int64],
    gift_left: NDArray[np.int64],
    gift_right: NDArray[np.int64],
    hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    rank: NDArray[np.int32],
    held10: NDArray[np.uint8],
    kept: NDArray[np.uint8],
) -> None:
    """The rank of the declarer's 7 cards, and the marriages in his 10 and in the 8 he kept."""
    for i in range(deals.shape[0]):
        forehand, middlehand, rearhand, talon = deal_masks(deals[i], hands)
        hand = forehand
        if declarer[i] == 1:
            hand = middlehand
        elif declarer[i] == 2:
            hand = rearhand
        rank[i] = rank_of(hand, ranks)
        cards = hand | talon
        held10[i] = _marriage_mask(cards)
        gifts = (1 << gift_left[i]) | (1 << gift_right[i])
        kept[i] = _marriage_mask(cards & ~gifts)


def with_features(rows: pl.LazyFrame, rules: Rules) -> pl.LazyFrame:
    """The rows of a run with columns about the declarer's cards added; still lazy, streaming.

    Of the 7 cards before the talon: ``hand_rank`` (the colexicographic rank among the 346,104
    hands), ``hand_marriages`` (how many), ``hand_marriage_mask`` (which: bit 0 spades … bit 3
    hearts), ``hand_half_marriages``, ``hand_aces``, ``hand_tens``, ``hand_guarded_tens``,
    ``hand_points`` (card points), ``hand_longest`` (cards of the longest suit) and
    ``hand_marriage_points`` (what the rules pay for the marriages). ``held10_marriage_mask`` and
    ``kept_marriage_mask`` are the marriages in the 10 cards with the talon and in the 8 kept.
    """
    dtypes = {
        "hand_rank": pl.Int32,
        "held10_marriage_mask": pl.UInt8,
        "kept_marriage_mask": pl.UInt8,
    }
    derived = pl.struct(_INPUTS).map_batches(
        _derive, return_dtype=pl.Struct(dtypes), is_elementwise=True
    )
    ranked = rows.with_columns(features=derived).unnest("features")
    # A column each, not a struct of all: a query that needs few looks up few.
    values = rules.deal.marriage_values.by_suit()
    return ranked.with_columns(
        pl.col("hand_rank")
        .map_batches(
            partial(_look_up, name=name, values=values),
            return_dtype=pl.Int16 if name == "marriage_points" else pl.UInt8,
            is_elementwise=True,
        )
        .alias(f"hand_{name}")
        for name in (*COUNTED, MARRIAGE_MASK)
    )


def _derive(series: pl.Series) -> pl.Series:
    """The columns of `with_features` that follow from the deal itself, as a struct."""
    columns = [series.struct.field(name).to_numpy().astype(np.int64) for name in _INPUTS]
    size = len(series)
    rank = np.empty(size, np.int32)
    held10, kept = np.empty(size, np.uint8), np.empty(size, np.uint8)
    deal, declarer, left, right = columns
    _fill_features(deal, declarer, left, right, kernel_hands(), kernel_ranks(), rank, held10, kept)
    found = {"hand_rank": rank, "held10_marriage_mask": held10, "kept_marriage_mask": kept}
    return pl.DataFrame(found).to_struct("features")


def _look_up(ranks: pl.Series, name: str, values: tuple[int, int, int, int]) -> pl.Series:
    """A feature of the hands with these ranks."""
    return pl.Series(_feature_table(name, values)[ranks.to_numpy()])
