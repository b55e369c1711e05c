"""Features of the declarer's hand against their plain definitions on masks of cards."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from milsim.cards import (
    ACE,
    RANK_MASKS,
    SUIT_MASKS,
    TEN,
    half_marriages_of,
    marriages_of,
    points_of_mask,
)
from milsim.dealing import hand_masks_table
from milsim.deals import combination_rank
from milsim.rules import MarriageValues, Rules, load
from milsim.store.features import COUNTED, hand_features, with_features
from milsim.store.schema import SCHEMA
from milsim.where import feature, suit_set
from tests.made_up_runs import made_up_run


def suits_as_bits(mask: int) -> int:
    return sum(1 << suit for suit in marriages_of(mask))


def plain_features(hand: int, ten: int, kept: int, values: tuple[int, ...]) -> dict[str, int]:
    suits = [hand & mask for mask in SUIT_MASKS]
    return {
        "hand_rank": combination_rank(hand),
        "hand_marriages": len(marriages_of(hand)),
        "hand_marriage_mask": suits_as_bits(hand),
        "hand_half_marriages": len(half_marriages_of(hand)),
        "hand_marriage_points": sum(values[suit] for suit in marriages_of(hand)),
        "hand_points": points_of_mask(hand),
        "hand_aces": (hand & RANK_MASKS[ACE]).bit_count(),
        "hand_tens": (hand & RANK_MASKS[TEN]).bit_count(),
        "hand_guarded_tens": sum(
            1 for suit in suits if suit & RANK_MASKS[TEN] and suit.bit_count() > 1
        ),
        "hand_longest": max(suit.bit_count() for suit in suits),
        "held10_marriage_mask": suits_as_bits(ten),
        "kept_marriage_mask": suits_as_bits(kept),
    }


def other_values(rules: Rules) -> Rules:
    values = MarriageValues(spades=80, clubs=100, diamonds=40, hearts=60)
    return replace(rules, deal=replace(rules.deal, marriage_values=values))


@pytest.mark.parametrize("mode", ["declarer", "auction"])
@pytest.mark.parametrize("rules", [load("mil"), other_values(load("mil"))])
def test_features_are_those_of_the_declarers_cards(tmp_path: Path, mode: str, rules: Rules) -> None:
    run, rows = made_up_run(tmp_path, 1000, mode=mode, rules=rules)
    frame = run.frame(features=True).sort("index").collect()
    assert frame.columns[: len(SCHEMA)] == list(SCHEMA)
    values = rules.deal.marriage_values.by_suit()
    found = frame.drop(list(SCHEMA)).to_dicts()
    wanted = [plain_features(row["hand"], row["ten"], row["kept"], values) for row in rows]
    assert found == [{name: row[name] for name in found[0]} for row in wanted]


def test_features_stay_lazy_and_can_be_filtered_and_chosen(tmp_path: Path) -> None:
    run, rows = made_up_run(tmp_path, 400)
    lazy = run.frame(features=True)
    assert isinstance(lazy, pl.LazyFrame)
    aces = [(row["hand"] & RANK_MASKS[ACE]).bit_count() for row in rows]
    chosen = lazy.filter(pl.col("hand_aces") == 2).select("index").collect()
    assert sorted(chosen["index"]) == [i for i, count in enumerate(aces) if count == 2]
    assert lazy.filter(pl.col("index") < 3).select("hand_aces").collect().height == 3
    assert lazy.collect_schema() == lazy.collect().schema


def test_features_of_no_rows() -> None:
    empty = with_features(pl.LazyFrame(schema=SCHEMA), load("mil")).collect()
    assert empty.height == 0
    assert {f"hand_{name}" for name in COUNTED} <= set(empty.columns)


def test_features_of_all_hands_lie_in_their_small_integers() -> None:
    """The counts of `milsim.where`, which test_numbers.py proves: nothing is cut off."""
    values = (255, 40, 100, 160)
    hands = hand_features(values)
    assert hands.height == 346_104
    table = hand_masks_table()
    for name in COUNTED:
        counts = feature(name, table, marriage_values=values)
        assert (hands[name].to_numpy() == counts).all(), name
    assert (hands["marriage_mask"].to_numpy() == suit_set("marriages", table)).all()
