"""Features of the declarer's hand, derived from the deal number: they are not stored.

A deal number holds all cards; whose hand it is and what he gave away stand in the row. What a
marriage, a guarded ten and so on are is defined once, in :mod:`milsim.where`.
"""

from __future__ import annotations

from functools import cache

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


@cache
def hand_features(values: tuple[int, int, int, int] = MARRIAGE_VALUES) -> pl.DataFrame:
    """The features of all 346,104 hands of 7 cards by colexicographic rank, as small integers.

    Columns: those of :data:`COUNTED`, counted as :mod:`milsim.where` defines them, and
    ``marriage_mask``, the suits with a marriage (bit 0 spades … bit 3 hearts). ``values`` are what
    the rules pay for marriages, by suit.

    >>> hand_features()["aces"].mean() == 7 * 4 / 24
    True
    """
    hands = hand_masks_table()
    columns = {name: feature(name, hands, marriage_values=values) for name in COUNTED}
    columns["marriage_mask"] = suit_set("marriages", hands)
    return pl.DataFrame(columns).cast(
        {name: pl.Int16 if name == "marriage_points" else pl.UInt8 for name in columns}
    )


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
    table = hand_features(rules.deal.marriage_values.by_suit()).rename(lambda name: f"hand_{name}")
    others = {
        "hand_rank": pl.Int32,
        "held10_marriage_mask": pl.UInt8,
        "kept_marriage_mask": pl.UInt8,
    }
    dtype = pl.Struct({**table.schema, **others})

    def derive(series: pl.Series) -> pl.Series:
        columns = [series.struct.field(name).to_numpy().astype(np.int64) for name in _INPUTS]
        rank = np.empty(len(series), np.int32)
        held10, kept = np.empty(len(series), np.uint8), np.empty(len(series), np.uint8)
        deal, declarer, left, right = columns
        _fill_features(
            deal, declarer, left, right, kernel_hands(), kernel_ranks(), rank, held10, kept
        )
        found = table[rank].with_columns(
            hand_rank=rank, held10_marriage_mask=held10, kept_marriage_mask=kept
        )
        return found.to_struct("features")

    derived = pl.struct(_INPUTS).map_batches(derive, return_dtype=dtype, is_elementwise=True)
    return rows.with_columns(features=derived).unnest("features")
