"""Deal scores against RULES.md: cases of §4 and obvious definitions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from milsim import scoring
from milsim._jit import jit_enabled, kernel_signatures
from milsim.errors import DealError, RulesError
from milsim.rules import DealRules, PlayRules, Rules, ScoringRules, word_of
from milsim.scoring import DealScore, score_deal


def with_scoring(**fields: Any) -> Rules:
    return replace(Rules(), scoring=replace(ScoringRules(), **fields))


# ------------------------------------------------------------------- RULES.md §4, by case number


def test_case_09_contract_120_and_118_points_is_lost() -> None:
    assert score_deal((118, 2, 0), declarer=0, contract=120) == DealScore(False, (-120, 0, 0))
    assert score_deal((118, 2, 0), declarer=0, contract=110).made
    rounded_first = with_scoring(made_test="rounded")
    assert score_deal((118, 2, 0), declarer=0, contract=120, rules=rounded_first).made
    assert not score_deal((115, 5, 0), declarer=0, contract=120, rules=rounded_first).made


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("none", 45),
        ("nearest_5", 45),
        ("down_5", 45),
        ("nearest_10_half_down", 40),
        ("nearest_10_half_up", 50),
        ("down_10", 40),
    ],
)
def test_case_10_45_points(rounding: str, expected: int) -> None:
    rules = with_scoring(defender_rounding=rounding)
    assert score_deal((75, 45, 0), declarer=0, contract=100, rules=rules).scores[1] == expected


def test_case_19_the_example_of_the_seed() -> None:
    points = (78 + 60, 24, 18)
    assert score_deal(points, declarer=0, contract=120) == DealScore(True, (120, 20, 20))
    turned = score_deal((18, 138, 24), declarer=1, contract=120)
    assert turned == DealScore(True, (20, 120, 20))


@pytest.mark.parametrize(
    ("points", "five", "down"),
    [(22, 20, 20), (23, 25, 20), (24, 25, 20), (25, 25, 25), (27, 25, 25), (28, 30, 25)],
)
def test_rounding_to_five(points: int, five: int, down: int) -> None:
    for rounding, expected in (("nearest_5", five), ("down_5", down)):
        word = word_of("scoring.defender_rounding", rounding)
        assert scoring.rounded(points, word) == expected


# -------------------------------------------------------------------------- obvious definitions


def obvious(points: int, rounding: str) -> int:
    half = Fraction(1, 2)
    return {
        "none": points,
        "nearest_5": 5 * floor(Fraction(points, 5) + half),
        "down_5": points - points % 5,
        "nearest_10_half_down": 10 * ceil(Fraction(points, 10) - half),
        "nearest_10_half_up": 10 * floor(Fraction(points, 10) + half),
        "down_10": points - points % 10,
    }[rounding]


ROUNDINGS = (
    "none",
    "nearest_5",
    "down_5",
    "nearest_10_half_down",
    "nearest_10_half_up",
    "down_10",
)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_all_roundings_of_all_points(rounding: str) -> None:
    word = word_of("scoring.defender_rounding", rounding)
    for points in range(700):
        assert scoring.rounded(points, word) == obvious(points, rounding)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("made_test", ["raw", "rounded"])
@pytest.mark.parametrize("success", ["contract", "actual"])
def test_all_ways_to_score(rounding: str, made_test: str, success: str) -> None:
    rules = with_scoring(defender_rounding=rounding, made_test=made_test, success=success)
    for points in range(60, 121):
        found = score_deal((0, points, 120 - points), declarer=1, contract=100, rules=rules)
        tested = points if made_test == "raw" else obvious(points, rounding)
        gain = 100 if success == "contract" else obvious(points, rounding)
        assert found.made == (tested >= 100)
        assert found.scores == (0, gain if found.made else -100, obvious(120 - points, rounding))


def test_four_nines_bonus() -> None:
    rules = replace(Rules(), deal=replace(DealRules(), four_nines="off", four_nines_bonus=100))
    play: dict[str, Any] = {"declarer": 0, "contract": 100, "rules": rules}
    assert score_deal((95, 25, 0), **play, four_nines=2).scores == (-100, 20, 100)
    assert score_deal((95, 25, 0), **play, four_nines=0).scores == (0, 20, 0)
    assert score_deal((95, 25, 0), **play).scores == (-100, 20, 0)
    assert score_deal((95, 25, 0), declarer=0, contract=100, four_nines=2).scores[2] == 0


def test_no_kernel_uses_anything_but_whole_numbers() -> None:
    score_deal((138, 24, 18), declarer=0, contract=120)
    found = [one for one in kernel_signatures() if one.kernel.startswith("milsim.scoring.")]
    assert bool(found) == jit_enabled()
    for one in found:
        assert one.result in ("int64", "bool"), one
        assert all(kind == "int64" or "array(int64, 1d, C)" in kind for kind in one.arguments), one


# -------------------------------------------------------------------------------- at the border


def test_numpy_points_and_every_sum_of_marriages() -> None:
    points: Any = np.array([138, 24, 18])
    found = score_deal(points, declarer=0, contract=120)
    assert found == DealScore(True, (120, 20, 20))
    assert [type(value) for value in (found.made, *found.scores)] == [bool, int, int, int]
    assert max(scoring.possible_totals(Rules())) == 400
    more = replace(Rules(), play=replace(PlayRules(), ace_marriage=200, last_trick_bonus=10))
    assert max(scoring.possible_totals(more)) == 610
    assert min(scoring.possible_totals(more)) == 130


@pytest.mark.parametrize(
    ("points", "declarer", "contract", "words"),
    [
        ((138, 24, 17), 0, 120, "sum to 179, not 120 and marriages: try 160 or 180"),
        ((0, 0, 0), 0, 120, "sum to 0.* try 120"),
        ((1000, 0, 0), 0, 120, "sum to 1000.* try 400"),
        ((121, -1, 0), 0, 120, "points of a seat must be 0 or more"),
        ((120, 0), 0, 120, "three numbers by seat"),
        ("120", 0, 120, "three numbers by seat"),
        (120, 0, 120, "three numbers by seat, got 120"),
        ((120.0, 0, 0), 0, 120, "points of a seat must be an integer, got 120.0"),
        ((True, 119, 0), 0, 120, "points of a seat must be an integer, got True"),
        ((float("nan"), 0, 0), 0, 120, "points of a seat must be an integer, got nan"),
        ((120, 0, 0), 3, 120, "declarer must be a seat 0 to 2, got 3"),
        ((120, 0, 0), True, 120, "declarer must be an integer"),
        ((120, 0, 0), 0, 0, "contract must be a multiple of 10 from 100 to 400, got 0"),
        ((138, 24, 18), 0, 410, "contract must be a multiple of 10 from 100 to 400, got 410"),
        ((120, 0, 0), 0, 105, "contract must be a multiple of 10"),
        ((120, 0, 0), 0, 90, "contract must be"),
        ((120, 0, 0), 0, 10**9, "contract must be"),
        ((120, 0, 0), 0, "120", "contract must be an integer, got '120'"),
        ((120, 0, 0), 0, float("nan"), "contract must be an integer, got nan"),
    ],
)
def test_case_22_bad_input_is_named(points: Any, declarer: Any, contract: Any, words: str) -> None:
    with pytest.raises(DealError, match=words) as caught:
        score_deal(points, declarer=declarer, contract=contract)
    assert "\n" not in str(caught.value)


def test_bad_holders_and_rules_are_named() -> None:
    with pytest.raises(DealError, match="four_nines must be a seat"):
        score_deal((120, 0, 0), declarer=0, contract=120, four_nines=3)
    with pytest.raises(RulesError):
        score_deal((120, 0, 0), declarer=0, contract=120, rules="mill")
