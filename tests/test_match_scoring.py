"""How a match is scored: each clause of the rule texts, each field of the table ``match``.

Test names end in the clause they were read from: ``test_seed_000_cam_10_…`` is step 10 of seed 000
(seed 002 says the same in its ``paso`` 10), ``case_11`` a number of RULES.md §4, the others are
docs/match.md. `play` scores one deal; states are written by `standing`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import milsim
from milsim.cards import CardSet, parse_card
from milsim.errors import DealError, IllegalActError, MilsimError, NotationError, RulesError
from milsim.reference import (
    Event,
    MatchState,
    concession_scores,
    deal_scores,
    is_made,
    redealt,
    score_match_deal,
    talon_score,
)
from milsim.rules import Rules, load, parse, preset_names, save
from tests.rule_cases import Changes, rules_with
from tests.strategies import counted_deals, match_rules, match_states

NOTHING = Event(0)
FREE: Changes = {"match.lock": "off", "match.defender_cap": "off"}
BARREL: Changes = {**FREE, "match.barrel": 880}
BOLTS: Changes = {**FREE, "match.bolts": "zero_tricks"}
CONCEDE: Changes = {"talon.concede": "before_gifts"}
FOUR: Changes = {"deal.players": 4}


def mil(*changes: Changes, **match: Any) -> Rules:
    """The game of the seeds with changes; by name those of the table ``match``."""
    merged: Changes = {}
    for each in changes:
        merged |= each
    return rules_with("mil", merged | {f"match.{name}": value for name, value in match.items()})


def standing(
    rules: Rules | str, *scores: int, on: Sequence[int] = (), deals: int = 9, **given: Any
) -> MatchState:
    """A state after some deals; ``on``: the players on the barrel."""
    state = MatchState.start(rules)
    on_barrel = tuple(player in on for player in range(state.players))
    return replace(state, scores=scores, on_barrel=on_barrel, deals=deals, **given)


def play(
    rules: Rules | str,
    state: MatchState | Sequence[int],
    points: Sequence[int],
    declarer: int = 0,
    contract: int = 100,
    *,
    tricks: Sequence[int] | None = None,
    **more: Any,
) -> MatchState:
    """The match after a played deal; by default who has points has tricks, the declarer most."""
    if tricks is None:
        took = [int(each > 0) for each in points]
        took[max(range(len(points)), key=lambda player: points[player])] += 8 - sum(took)
        tricks = took
    return score_match_deal(
        rules, state, declarer=declarer, contract=contract, points=points, tricks=tricks, **more
    )


def concede(
    rules: Rules | str, state: MatchState | Sequence[int], declarer: int = 0, bid: int = 100
) -> MatchState:
    return score_match_deal(rules, state, declarer=declarer, contract=bid, conceded=True)


# -- the clauses of the seeds ----------------------------------------------------------------------


def test_seed_000_cam_9_the_example() -> None:
    after = play("mil", (0, 100, -50), (138, 24, 18), contract=120)
    assert after.scores == (120, 120, -30)
    assert after.events == (NOTHING,) * 3
    assert (after.deals, after.winner) == (1, None)


def test_seed_000_cam_9_a_failed_contract_is_lost() -> None:
    assert play("mil", (50, 0, 0), (118, 2, 0), contract=120).scores == (-70, 0, 0)


def test_seed_000_cam_10_the_first_to_1000_wins() -> None:
    after = play("mil", (880, 500, 0), (120, 0, 0), contract=120)
    assert (after.scores, after.winner, after.events[0]) == ((1000, 500, 0), 0, Event.WON)
    after = play("mil", (880, 500, 0), (120, 0, 0), contract=110)
    assert (after.scores, after.winner) == ((990, 500, 0), None)


def test_seed_000_cam_10_from_800_only_the_declarer_scores() -> None:
    after = play("mil", (0, 800, 799), (100, 24, 36))
    assert after.scores == (100, 800, 839)
    assert after.events == (NOTHING, Event.LOCKED, NOTHING)
    after = play("mil", (0, 800, 799), (30, 120, 10), declarer=1)
    assert after.scores == (30, 900, 809)
    after = play("mil", (0, 800, 799), (50, 60, 10), declarer=1)  # and loses as declarer
    assert after.scores == (50, 700, 809)


def test_seed_002_paso_10_locked_and_without_points_nothing_was_lost() -> None:
    assert play("mil", (0, 800, 0), (100, 0, 20)).events == (NOTHING,) * 3


def test_seed_002_paso_10_who_comes_to_800_in_this_deal_scores() -> None:
    after = play("mil", (0, 790, 0), (100, 40, 20))
    assert (after.scores[1], after.events[1]) == (830, NOTHING)


@pytest.mark.parametrize("preset", ["mil", "mil-500"])
def test_seed_000_cam_10_never_past_990_unless_declarer(preset: str) -> None:
    rules = load(preset)
    start, cap = rules.match.target - 210, rules.match.target - 10
    rules = mil(target=rules.match.target, lock=start + 1, defender_cap=cap)
    after = play(rules, (0, start, start), (0, 240, 60))
    assert after.scores == (-100, cap, start + 60)
    assert after.events == (NOTHING, Event.CAPPED, NOTHING)
    after = play(rules, (0, start, start), (0, 240, 60), declarer=1, contract=210)
    assert (after.scores, after.winner) == ((0, rules.match.target, start + 60), 1)


def test_seed_000_cam_10_the_short_game() -> None:
    after = play("mil-500", (0, 400, 390), (0, 60, 240))
    assert after.scores == (-100, 400, 490)
    after = play("mil-500", (400, 0, 0), (100, 20, 0))
    assert (after.scores, after.winner) == ((500, 20, 0), 0)


def test_seed_001_y_sgorio_totals_in_fives() -> None:
    assert play("gamerules", (0, 0, 0), (138, 24, 18), contract=120).scores == (120, 25, 20)


def test_seed_001_y_sgorio_the_bid_is_added_or_taken_away() -> None:
    assert play("gamerules", (5, 0, 0), (105, 15, 0), contract=105).scores == (110, 15, 0)
    assert play("gamerules", (5, 0, 0), (104, 16, 0), contract=105).scores == (-100, 15, 0)


def test_seed_001_y_sgorio_no_lock_and_the_first_to_1000() -> None:
    after = play("gamerules", (0, 960, 985), (100, 43, 17))
    assert (after.scores, after.winner) == ((100, 1005, 1000), 1)
    assert after.events == (NOTHING, Event.WON, NOTHING)


def test_seed_001_y_sgorio_nobody_wins_below_1000() -> None:
    after = play("gamerules", (895, 950, 940), (100, 45, 55))
    assert (after.scores, after.winner) == ((995, 995, 995), None)
    assert after.events == (NOTHING,) * 3


def test_seed_001_y_sgorio_everybody_starts_with_no_points() -> None:
    assert MatchState.start("gamerules").scores == (0, 0, 0)
    assert play("gamerules", MatchState.start("gamerules"), (120, 0, 0)) == score_match_deal(
        "gamerules", None, declarer=0, contract=100, points=(120, 0, 0), tricks=(8, 0, 0)
    )


def test_seed_001_y_fargen_the_deal_goes_round() -> None:
    state = MatchState.start("gamerules")
    dealers = [state.dealer]
    for _ in range(4):
        state = play("gamerules", state, (120, 0, 0))
        dealers.append(state.dealer)
    assert dealers == [2, 0, 1, 2, 0]


def test_seed_001_y_chwaraewyr_of_four_one_sits_out() -> None:
    rules = rules_with("gamerules", FOUR)
    state = MatchState.start(rules)
    assert (state.dealer, state.active, state.sitter) == (3, (0, 1, 2), 3)
    state = play(rules, state, (100, 20, 0, 0))
    assert (state.dealer, state.active, state.sitter) == (0, (1, 2, 3), 0)
    assert play(rules, state, (0, 20, 0, 100), declarer=3).scores == (100, 40, 0, 100)
    with pytest.raises(DealError, match=r"declarer must be one of the active players \(1, 2, 3\)"):
        play(rules, state, (100, 20, 0, 0))


def test_seed_001_y_chwaraewyr_of_four_the_dealer_goes_round() -> None:
    rules = rules_with("gamerules", FOUR)
    state = MatchState.start(rules)
    tables = []
    for _ in range(4):
        tables.append((state.sitter, state.active))
        points = [0] * 4
        points[state.active[0]], points[state.active[1]] = 100, 20
        state = play(rules, state, points, declarer=state.active[0])
    assert tables == [(3, (0, 1, 2)), (0, (1, 2, 3)), (1, (2, 3, 0)), (2, (3, 0, 1))]
    assert (state.scores, state.sitter) == ((120,) * 4, 3)


# -- RULES.md §4 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "after", "winner"),
    [
        ("mil", 990, None),
        ("mil-500", 490, None),
        ("gamerules", 1030, 1),
        ("polish", 1030, 1),
        ("polish-900", 1030, 1),
        ("pagat", 1030, 1),
        ("russian", 880, None),
        ("clubs-100", 1030, 1),
    ],
)
def test_case_11_a_defender_at_790_takes_240(preset: str, after: int, winner: int | None) -> None:
    start = 390 if preset == "mil-500" else 790
    state = play(preset, (0, start, 0), (20, 240, 0))
    assert (state.scores[1], state.winner) == (after, winner)


@pytest.mark.parametrize("preset", ["mil", "mil-500", "polish", "polish-900"])
def test_case_12_a_defender_in_the_lock_scores_nothing(preset: str) -> None:
    start = 485 if preset == "mil-500" else 985
    state = play(preset, (0, start, 0), (100, 60, 0))
    assert (state.scores[1], state.events[1]) == (start, Event.LOCKED)


@pytest.mark.parametrize(
    ("preset", "after", "event", "winner"),
    [
        ("mil", 1000, Event.WON, 0),
        ("gamerules", 1000, Event.WON, 0),
        ("polish", 1000, Event.WON, 0),
        ("polish-900", 1000, Event.WON, 0),
        ("pagat", 1000, Event.WON | Event.JUMPED, 0),
        ("clubs-100", 1000, Event.WON | Event.JUMPED, 0),
        ("russian", 880, Event.MOUNTED, None),
    ],
)
def test_case_13_860_and_140(preset: str, after: int, event: Event, winner: int | None) -> None:
    state = play(preset, (860, 0, 0), (160, 0, 0), contract=140)
    assert (state.scores[0], state.events[0], state.winner) == (after, event, winner)


def test_case_16_a_zero_in_pagat_is_a_deal_without_points() -> None:
    assert play("pagat", (0, 0, 0), (100, 20, 0), tricks=(6, 1, 1)).bolts == (0, 0, 1)
    assert play("russian", (0, 0, 0), (100, 20, 0), tricks=(6, 1, 1)).bolts == (0, 0, 0)


@pytest.mark.parametrize("preset", ["pagat", "russian", "mil"])
@pytest.mark.parametrize(("kind", "bolts"), [("zero_tricks", 0), ("zero_points", 1)])
def test_case_16_a_trick_of_three_nines(preset: str, kind: str, bolts: int) -> None:
    rules = rules_with(preset, {"match.bolts": kind})
    state = play(rules, (0, 0, 0), (100, 20, 0), tricks=(6, 1, 1))
    assert state.bolts == (0, 0, bolts)
    assert state.events[2] == (Event.BOLT if bolts else NOTHING)
    state = play(rules, (0, 0, 0), (100, 20, 0), tricks=(7, 1, 0))
    assert state.bolts == (0, 0, 1)


def test_case_21_exactly_555_after_the_penalty_and_not_before_it() -> None:
    state = standing("russian", 0, 675, 535, bolts=(0, 2, 0))
    after = play("russian", state, (100, 0, 20))
    assert after.scores == (100, 0, 0)
    assert after.events[1:] == (Event.BOLT | Event.BOLT_PENALTY | Event.DUMPED, Event.DUMPED)
    rules = mil(BOLTS, bolts="zero_points", dump_truck="plus", sitter="nothing")
    state = standing(rules, 455, 0, 555, bolts=(2, 0, 2))
    after = play(rules, state, (100, 20, 0))  # 555 for a moment only, on the way to 435
    assert after.scores == (0, 20, 435)
    rules = mil(BOLTS, bolts_spare_declarer=False, dump_truck="plus")
    state = standing(rules, 655, 0, 0, bolts=(2, 0, 0))
    assert play(rules, state, (0, 100, 20)).scores == (435, 100, 20)  # 655 − 100 = 555, − 120


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("contract", 0, "contract must be a multiple of 10 from 100 to 400, got 0"),
        ("contract", -100, "contract must be a multiple"),
        ("contract", 105, "contract must be a multiple of 10"),
        ("contract", 90, "from 100 to 400"),
        ("contract", 410, "from 100 to 400"),
        ("contract", float("nan"), "contract must be an integer, got nan"),
        ("contract", "100", "contract must be an integer, got '100'"),
        ("contract", True, "contract must be an integer"),
        ("contract", None, "contract must be an integer"),
        ("contract", 10**30, "contract must be a multiple"),
        ("declarer", 3, "declarer must be a player 0 to 2, got 3"),
        ("declarer", -1, "declarer must be a player 0 to 2"),
        ("declarer", 0.0, "declarer must be an integer"),
        ("four_nines", 3, "four_nines must be a player 0 to 2"),
        ("four_nines", "no", "four_nines must be an integer"),
        ("points", (138, 24, 17), r"points \(138, 24, 17\) sum to 179.* try 160 or 180"),
        ("points", (0, 0, 0), "sum to 0, not 120 and marriages: try 120$"),
        ("points", (500, 0, 0), "try 400$"),
        ("points", (140, -20, 0), "points of player 1 must be 0 or more"),
        ("points", (138, 24.0, 18), "points of player 1 must be an integer"),
        ("points", (138, 42), "points must be 3 numbers by player"),
        ("points", (138, 24, 18, 0), "points must be 3 numbers by player"),
        ("points", "abc", "points must be a list by player, got 'abc'"),
        ("points", 180, "points must be a list by player"),
        ("points", None, "points must be a list by player, got None"),
        ("tricks", (6, 1, 0), r"tricks must sum to 8, got \(6, 1, 0\)"),
        ("tricks", (9, -1, 0), "tricks of player 1 must be 0 or more"),
        ("tricks", (8, 0, 0), "points of player 1 must be 0 without a trick, got 24"),
        ("tricks", None, "tricks must be a list by player"),
        ("tricks", (6, 1, True), "tricks of player 2 must be an integer"),
        ("conceded", 1, "conceded must be true or false, got 1"),
        ("dark", None, "dark must be true or false"),
        ("conceded", True, "conceded: these rules have no concession"),
        ("dark", True, "dark: these rules have no dark bid"),
        ("talon", (0, 1), "talon must be three cards, got 2"),
        ("talon", 15, "talon must be three cards, got 4"),
        ("talon", (0, 0, 1), "card 9S is given twice"),
        ("talon", (0, 1, 24), "card must be 0 to 23"),
        ("talon", "AS KS QS", "talon must be a list"),
        ("talon", 1.5, "mask of cards must be an integer"),
        ("state", (0, 0), "scores must be 3 numbers by player"),
        ("state", (0, 0, 0.5), "scores of player 2 must be an integer"),
        ("state", "000", "scores must be a list by player"),
        ("state", (0, 0, float("nan")), "scores of player 2 must be an integer, got nan"),
        ("state", (1000, 0, 0), "player 0 has 1000 and so has won at 1000"),
        ("state", {}, "scores must be a list by player"),
    ],
)
def test_case_22_refused_with_the_name_of_the_argument(name: str, value: Any, words: str) -> None:
    arguments: dict[str, Any] = {
        "state": None,
        "declarer": 0,
        "contract": 120,
        "points": (138, 24, 18),
        "tricks": (6, 1, 1),
    }
    assert score_match_deal("mil", **arguments).scores == (120, 20, 20)
    with pytest.raises(MilsimError, match=words) as caught:
        score_match_deal("mil", **(arguments | {name: value}))
    assert isinstance(caught.value, DealError | IllegalActError)
    assert "\n" not in str(caught.value)


def test_case_22_unknown_rules() -> None:
    with pytest.raises(RulesError, match="unknown rules 'mill'"):
        play("mill", (0, 0, 0), (120, 0, 0))


# -- target, lock, defender_cap, ties --------------------------------------------------------------


@pytest.mark.parametrize("target", [100, 500, 1000, 1001, 1005])
def test_target(target: int) -> None:
    rules = mil(FREE, target=target)
    after = play(rules, (target - 100, 0, 0), (120, 0, 0))
    assert (after.scores[0], after.winner) == (target, 0)
    assert play(rules, (target - 101, 0, 0), (120, 0, 0)).winner is None


@pytest.mark.parametrize("lock", [400, 800, 900])
def test_lock(lock: int) -> None:
    rules = mil(lock=lock, defender_cap="off")
    after = play(rules, (0, lock, lock - 1), (100, 10, 10))
    assert after.scores == (100, lock, lock + 9)


def test_no_lock() -> None:
    assert play(mil(lock="off"), (0, 900, 0), (100, 20, 0)).scores == (100, 920, 0)


def test_nothing_but_the_deal_score_is_locked_out() -> None:
    rules = mil({"match.bolts": "zero_tricks"})
    after = play(rules, standing(rules, 0, 850, 0, bolts=(0, 2, 0)), (100, 0, 20))
    assert after.scores == (100, 730, 20)


def test_defender_cap_sets_back_to_where_he_started() -> None:
    rules = mil(lock="off", defender_cap=500)
    after = play(rules, (0, 600, 495), (100, 10, 10))
    assert after.scores == (100, 600, 500)
    assert after.events == (NOTHING, Event.CAPPED, Event.CAPPED)


def test_defender_cap_sets_nobody_up() -> None:
    rules = mil(BOLTS, defender_cap=500)
    after = play(rules, standing(rules, 0, 700, 0, bolts=(0, 2, 0)), (100, 0, 20))
    assert (after.scores[1], after.events[1]) == (580, Event.BOLT | Event.BOLT_PENALTY)


def test_no_defender_cap() -> None:
    after = play(mil(FREE), (0, 990, 0), (100, 20, 0))
    assert (after.scores, after.winner) == ((100, 1010, 0), 1)


def test_ties_the_successful_declarer_first() -> None:
    after = play(mil(FREE), (900, 980, 0), (100, 60, 0))
    assert (after.scores, after.winner) == ((1000, 1040, 0), 0)


def test_ties_a_failed_declarer_is_one_of_them() -> None:
    after = play(mil(FREE), (900, 980, 970), (20, 40, 60), declarer=0)
    assert (after.scores, after.winner) == ((800, 1020, 1030), 2)


def test_ties_equally_high_play_on() -> None:
    rules = mil(FREE)
    after = play(rules, (0, 980, 980), (100, 30, 30))
    assert (after.scores, after.winner) == ((100, 1010, 1010), None)
    assert after.events == (NOTHING,) * 3
    assert play(rules, after, (100, 20, 0)).winner == 1
    third = play(rules, replace(after, scores=(920, 1010, 1010)), (100, 0, 20))
    assert (third.scores, third.winner) == ((1020, 1010, 1030), 0)


def test_ties_a_declarer_below_the_target_does_not_win() -> None:
    after = play(mil(FREE), (800, 980, 0), (100, 20, 0))
    assert (after.scores, after.winner) == ((900, 1000, 0), 1)


def test_max_deals() -> None:
    rules = mil(max_deals=10)
    state = standing(rules, 0, 0, 0, deals=9)
    assert not state.is_over(rules)
    after = play(rules, state, (100, 20, 0))
    assert (after.deals, after.winner, after.is_over(rules)) == (10, None, True)
    with pytest.raises(DealError, match=r"state: the match is over after 10 deals"):
        play(rules, after, (100, 20, 0))
    with pytest.raises(DealError, match="the match is over"):
        redealt(rules, after, True)


def test_a_match_that_is_won_is_over() -> None:
    after = play("mil", (900, 0, 0), (100, 20, 0))
    assert after.is_over("mil")
    with pytest.raises(DealError, match="state: the match is over, player 0 has won"):
        play("mil", after, (100, 20, 0))


# -- the barrel: mounting --------------------------------------------------------------------------


@pytest.mark.parametrize("barrel", [880, 900])
def test_barrel_is_mounted_and_the_score_set_to_it(barrel: int) -> None:
    rules = mil(FREE, barrel=barrel)
    after = play(rules, (0, barrel - 20, barrel - 10), (60, 40, 20), declarer=2)
    assert after.scores == (60, barrel, barrel - 110)
    assert after.on_barrel == (False, True, False)
    assert after.events == (NOTHING, Event.MOUNTED, NOTHING)
    assert after.barrel_deals == (0, 0, 0)
    just = play(rules, (0, barrel - 40, 0), (120, 40, 0))
    assert just.on_barrel == (False, True, False)


def test_barrel_off() -> None:
    after = play(mil(FREE), (0, 860, 0), (100, 60, 0))
    assert (after.scores, after.on_barrel) == ((100, 920, 0), (False,) * 3)


def test_jump_over_wins_for_a_declarer() -> None:
    rules = mil(BARREL)
    after = play(rules, (870, 0, 0), (160, 0, 0), contract=130)
    assert (after.scores[0], after.winner) == (1000, 0)
    assert after.events[0] == Event.JUMPED | Event.WON
    short = play(rules, (860, 0, 0), (160, 0, 0), contract=130)  # 990: mounts
    assert (short.scores[0], short.events[0]) == (880, Event.MOUNTED)


def test_jump_over_wins_for_a_defender_too() -> None:
    """PAGAT: "if your score is 845 and you score 155 points or more, you win"."""
    after = play("pagat", (0, 845, 0), (5, 155, 0))
    assert (after.scores, after.winner) == ((-100, 1000, 0), 1)
    assert after.events[1] == Event.JUMPED | Event.WON
    short = play("pagat", (0, 845, 0), (10, 150, 0))
    assert (short.scores[1], short.events[1], short.winner) == (880, Event.MOUNTED, None)
    mounts = play(mil(BARREL, jump_over="mounts"), (0, 870, 0), (0, 160, 0))
    assert (mounts.scores[1], mounts.events[1], mounts.winner) == (880, Event.MOUNTED, None)


def test_jump_over_wins_knocks_nobody_off() -> None:
    rules = mil(BARREL)
    after = play(rules, standing(rules, 0, 870, 880, on=[2]), (0, 160, 0))
    assert (after.scores, after.winner) == ((-100, 1030, 880), 1)
    assert after.on_barrel == (False, False, True)


def test_jump_over_wins_the_successful_declarer_before_a_higher_defender() -> None:
    after = play(mil(BARREL), (870, 860, 0), (140, 160, 0), contract=130)
    assert (after.scores, after.winner) == ((1000, 1020, 0), 0)
    assert after.events[:2] == (Event.JUMPED | Event.WON, Event.JUMPED)


def test_jump_over_wins_tied_above_the_barrel_and_played_on() -> None:
    rules = mil(BARREL)
    tie = play(rules, standing(rules, 0, 870, 870), (0, 130, 130))
    assert (tie.scores, tie.on_barrel, tie.winner) == ((-100, 1000, 1000), (False,) * 3, None)
    assert tie.events[1:] == (Event.JUMPED, Event.JUMPED)
    ahead = play(rules, tie, (100, 20, 0))  # like everybody: a defender scores, and is ahead
    assert (ahead.scores, ahead.winner) == ((0, 1020, 1000), 1)
    assert ahead.events[1:] == (Event.JUMPED | Event.WON, Event.JUMPED)
    failed = play(rules, tie, (0, 100, 20), declarer=1, contract=110)  # 890: he mounts
    assert (failed.scores, failed.winner) == ((-100, 880, 1020), 2)
    assert failed.events[1:] == (Event.MOUNTED, Event.JUMPED | Event.WON)
    again = play(rules, tie, (120, 0, 0))
    assert (again.scores, again.on_barrel, again.winner) == ((0, 1000, 1000), (False,) * 3, None)


def test_jump_over_mounts() -> None:
    after = play(mil(BARREL, jump_over="mounts"), (870, 0, 0), (160, 0, 0), contract=150)
    assert (after.scores[0], after.winner, after.events[0]) == (880, None, Event.MOUNTED)


def test_barrel_after_the_cap() -> None:
    rules = mil(BARREL, defender_cap=870)
    after = play(rules, (0, 860, 0), (100, 60, 0))
    assert (after.scores[1], after.on_barrel[1], after.events[1]) == (870, False, Event.CAPPED)


# -- the barrel: standing on it --------------------------------------------------------------------


def test_on_the_barrel_only_the_declarer_scores() -> None:
    rules = mil(BARREL)
    after = play(rules, standing(rules, 0, 880, 0, on=[1]), (100, 40, 20))
    assert after.scores == (100, 880, 20)
    assert after.events[1] == Event.LOCKED
    assert after.barrel_deals == (0, 1, 0)


def test_on_the_barrel_an_own_contract_wins() -> None:
    rules = mil(BARREL)
    after = play(rules, standing(rules, 880, 0, 0, on=[0]), (120, 0, 0), contract=120)
    assert (after.scores, after.winner) == ((1000, 0, 0), 0)
    assert (after.on_barrel[0], after.barrel_deals[0], after.events[0]) == (False, 0, Event.WON)


def test_on_the_barrel_a_contract_that_does_not_reach_the_target_leaves_the_score() -> None:
    rules = mil(BARREL)
    after = play(rules, standing(rules, 880, 0, 0, on=[0]), (120, 0, 0), contract=110)
    assert (after.scores[0], after.on_barrel[0], after.barrel_deals[0]) == (880, True, 1)
    assert after.events[0] == Event.LOCKED


def test_barrel_failed_leaves() -> None:
    rules = mil(BARREL, barrel_failed="leaves")
    after = play(rules, standing(rules, 880, 0, 0, on=[0]), (100, 20, 0), contract=120)
    assert (after.scores[0], after.on_barrel[0], after.falls[0]) == (760, False, 1)
    assert after.events[0] == Event.FELL  # without the penalty of running out


def test_barrel_failed_is_an_attempt() -> None:
    rules = mil(BARREL, barrel_failed="attempt")
    state = standing(rules, 880, 0, 0, on=[0])
    after = play(rules, state, (100, 20, 0), contract=120)
    assert (after.scores[0], after.on_barrel[0], after.barrel_deals[0]) == (880, True, 1)
    assert (after.falls[0], after.events[0]) == (0, Event.LOCKED)
    last = play(rules, replace(state, barrel_deals=(2, 0, 0)), (100, 20, 0), contract=120)
    assert (last.scores[0], last.events[0]) == (760, Event.LOCKED | Event.FELL)


@pytest.mark.parametrize("deals", [1, 2, 3, 5])
@pytest.mark.parametrize("penalty", [0, 60, 120])
def test_barrel_deals_and_penalty(deals: int, penalty: int) -> None:
    rules = mil(BARREL, barrel_deals=deals, barrel_penalty=penalty)
    state = standing(rules, 0, 880, 0, on=[1])
    for number in range(1, deals):
        state = play(rules, state, (30, 60, 30), declarer=2)
        assert (state.scores[1], state.barrel_deals[1]) == (880, number)
    state = play(rules, state, (30, 60, 30), declarer=2)
    assert (state.scores[1], state.on_barrel[1]) == (880 - penalty, False)
    assert (state.barrel_deals[1], state.falls[1]) == (0, 1)
    assert state.events[1] == Event.LOCKED | Event.FELL


def test_the_last_deal_on_the_barrel_may_win() -> None:
    rules = mil(BARREL)
    state = standing(rules, 880, 0, 0, on=[0], barrel_deals=(2, 0, 0))
    assert play(rules, state, (120, 0, 0), contract=120).winner == 0


def test_barrel_counts_own_contracts() -> None:
    rules = mil(BARREL, barrel_counts="own_contracts")
    state = standing(rules, 0, 880, 0, on=[1])
    assert play(rules, state, (100, 20, 0)).barrel_deals == (0, 0, 0)
    assert play(rules, state, (0, 120, 0), declarer=1).barrel_deals == (0, 1, 0)


def test_barrel_deals_of_a_sitter_do_not_count() -> None:
    rules = mil(BARREL, FOUR)
    state = standing(rules, 0, 0, 0, 880, on=[3], barrel_deals=(0, 0, 0, 2))
    assert state.sitter == 3
    after = play(rules, state, (100, 20, 0, 0))
    assert (after.scores[3], after.on_barrel[3], after.barrel_deals[3]) == (880, True, 2)


def test_barrel_deals_count_in_a_conceded_deal() -> None:
    rules = mil(BARREL, CONCEDE)
    after = concede(rules, standing(rules, 0, 880, 0, on=[1]))
    assert (after.scores, after.barrel_deals) == ((-100, 880, 60), (0, 1, 0))


def test_a_bolt_knocks_off_the_barrel() -> None:
    rules = mil(BARREL, bolts="zero_tricks", bolts_spare_barrel=False)
    state = standing(rules, 0, 880, 0, on=[1], bolts=(0, 2, 0))
    after = play(rules, state, (100, 0, 20))
    assert (after.scores[1], after.on_barrel[1], after.falls[1]) == (760, False, 1)
    assert after.events[1] == Event.FELL | Event.BOLT | Event.BOLT_PENALTY


def test_a_bonus_above_a_failed_contract_changes_nothing_on_the_barrel() -> None:
    rules = mil(BARREL, {"deal.four_nines": "off", "deal.four_nines_bonus": 300})
    state = standing(rules, 880, 0, 0, on=[0])
    after = play(rules, state, (50, 70, 0), four_nines=0)
    assert (after.scores[0], after.on_barrel[0], after.winner) == (880, True, None)
    assert after.barrel_deals[0] == 1


def test_a_bonus_may_bring_a_made_contract_to_the_target() -> None:
    rules = mil(BARREL, {"deal.four_nines": "off", "deal.four_nines_bonus": 100})
    after = play(rules, standing(rules, 880, 0, 0, on=[0]), (120, 0, 0), four_nines=0)
    assert (after.scores[0], after.winner) == (1080, 0)


def test_a_bonus_is_nothing_to_a_defender_on_the_barrel_or_locked() -> None:
    bonus: Changes = {"deal.four_nines": "off", "deal.four_nines_bonus": 100}
    rules = mil(BARREL, bonus)
    after = play(rules, standing(rules, 0, 880, 0, on=[1]), (120, 0, 0), four_nines=1)
    assert (after.scores[1], after.events[1]) == (880, Event.LOCKED)
    after = play(mil(bonus), (0, 800, 0), (120, 0, 0), four_nines=1)
    assert (after.scores[1], after.events[1]) == (800, Event.LOCKED)
    assert play(mil(bonus), (0, 790, 0), (120, 0, 0), four_nines=1).scores[1] == 890


# -- the barrel: company and falls -----------------------------------------------------------------


def test_newcomer_knocks_off_the_earlier_one() -> None:
    rules = mil(BARREL, barrel_newcomer="knocks_off")
    state = standing(rules, 860, 880, 0, on=[1], barrel_deals=(0, 1, 0))
    after = play(rules, state, (100, 20, 0))
    assert after.scores == (880, 760, 0)
    assert after.on_barrel == (True, False, False)
    assert after.falls == (0, 1, 0)
    assert after.events == (Event.MOUNTED, Event.LOCKED | Event.FELL, NOTHING)


def test_newcomers_of_the_same_deal_stay_side_by_side() -> None:
    rules = mil(BARREL, barrel_newcomer="knocks_off")
    state = standing(rules, 860, 870, 880, on=[2])
    after = play(rules, state, (100, 20, 0))
    assert after.scores == (880, 880, 760)
    assert after.on_barrel == (True, True, False)
    later = play(rules, replace(after, scores=(880, 880, 860)), (0, 0, 120), declarer=2)
    assert later.scores == (760, 760, 880)


def test_knocked_off_in_the_last_deal_the_penalty_is_paid_once() -> None:
    rules = mil(BARREL, barrel_newcomer="knocks_off")
    state = standing(rules, 860, 880, 0, on=[1], barrel_deals=(0, 2, 0))
    after = play(rules, state, (100, 20, 0))
    assert (after.scores, after.falls) == ((880, 760, 0), (0, 1, 0))


def test_newcomer_knocks_off_a_sitter_too() -> None:
    rules = mil(BARREL, FOUR, barrel_newcomer="knocks_off")
    state = standing(rules, 860, 0, 0, 880, on=[3])
    assert play(rules, state, (100, 20, 0, 0)).scores == (880, 20, 0, 760)


def test_who_has_just_won_is_not_knocked_off() -> None:
    rules = mil(BARREL, barrel_newcomer="knocks_off")
    after = play(rules, standing(rules, 880, 860, 0, on=[0]), (120, 40, 0), contract=120)
    assert (after.scores, after.winner) == ((1000, 880, 0), 0)


def test_newcomer_coexists() -> None:
    rules = mil(BARREL, barrel_newcomer="coexists")
    after = play(rules, standing(rules, 860, 880, 0, on=[1]), (100, 20, 0))
    assert (after.scores, after.on_barrel) == ((880, 880, 0), (True, True, False))
    assert after.barrel_deals == (0, 1, 0)


def test_newcomer_and_all_fall() -> None:
    rules = mil(BARREL, barrel_newcomer="all_fall", barrel_penalty=100)
    after = play(rules, standing(rules, 860, 880, 0, on=[1]), (100, 20, 0))
    assert (after.scores, after.on_barrel) == ((780, 780, 0), (False,) * 3)
    assert after.falls == (1, 1, 0)
    assert after.events[0] == Event.MOUNTED | Event.FELL
    together = play(rules, (860, 870, 0), (100, 20, 0))
    assert (together.scores, together.falls) == ((780, 780, 0), (1, 1, 0))
    alone = play(rules, (860, 0, 0), (100, 20, 0))
    assert (alone.scores, alone.falls) == ((880, 20, 0), (0, 0, 0))


def test_all_fall_only_when_somebody_mounts() -> None:
    rules = mil(BARREL, barrel_newcomer="all_fall")
    state = standing(rules, 0, 880, 880, on=[1, 2])
    assert play(rules, state, (100, 20, 0)).on_barrel == (False, True, True)


def test_who_runs_out_is_no_company_for_who_mounts() -> None:
    rules = mil(BARREL, barrel_newcomer="all_fall")
    state = standing(rules, 860, 880, 0, on=[1], barrel_deals=(0, 2, 0))
    after = play(rules, state, (100, 20, 0))
    assert (after.scores, after.on_barrel) == ((880, 760, 0), (True, False, False))


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_barrel_falls_set_the_score_to_0(limit: int) -> None:
    rules = mil(BARREL, barrel_falls=limit)
    state = standing(rules, 880, 0, 0, on=[0], falls=(limit - 1, 0, 0))
    after = play(rules, state, (100, 20, 0), contract=120)
    assert (after.scores[0], after.falls[0]) == (0, 0)
    assert after.events[0] == Event.FELL | Event.RESET


def test_barrel_falls_before_the_last_are_remembered() -> None:
    rules = mil(BARREL, barrel_falls=3)
    state = standing(rules, 880, 0, 0, on=[0], falls=(1, 0, 0))
    after = play(rules, state, (100, 20, 0), contract=120)
    assert (after.scores[0], after.falls[0], after.events[0]) == (760, 2, Event.FELL)


def test_without_barrel_falls_they_are_counted_all_the_same() -> None:
    rules = mil(BARREL)
    state = standing(rules, 880, 0, 0, on=[0], falls=(7, 0, 0))
    assert play(rules, state, (100, 20, 0), contract=120).falls == (8, 0, 0)


def test_a_fall_by_no_penalty_mounts_again_in_the_next_deal() -> None:
    rules = mil(BARREL, barrel_penalty=0, barrel_deals=1)
    after = play(rules, standing(rules, 0, 880, 0, on=[1]), (100, 20, 0))
    assert (after.scores[1], after.on_barrel[1], after.falls[1]) == (880, False, 1)
    again = play(rules, after, (100, 20, 0))
    assert (again.scores[1], again.on_barrel[1], again.events[1]) == (880, True, Event.MOUNTED)


# -- bolts -----------------------------------------------------------------------------------------


def test_bolts_off() -> None:
    after = play(mil(FREE), (0, 0, 0), (120, 0, 0))
    assert (after.bolts, after.events) == ((0, 0, 0), (NOTHING,) * 3)


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@pytest.mark.parametrize("penalty", [0, 100, 120])
def test_bolts_limit_and_penalty(limit: int, penalty: int) -> None:
    rules = mil(BOLTS, bolts_limit=limit, bolts_penalty=penalty)
    state = standing(rules, 0, 0, 0)
    for number in range(1, limit):
        state = play(rules, state, (100, 0, 20))
        assert (state.scores[1], state.bolts[1], state.events[1]) == (0, number, Event.BOLT)
    state = play(rules, state, (100, 0, 20))
    assert (state.scores[1], state.bolts[1]) == (-penalty, 0)
    assert state.events[1] == Event.BOLT | Event.BOLT_PENALTY


def test_bolts_cumulative_and_in_a_row() -> None:
    for counted, left in (("cumulative", 2), ("in_a_row", 0)):
        rules = mil(BOLTS, bolts_counted=counted)
        state = standing(rules, 0, 0, 0, bolts=(0, 2, 0))
        assert play(rules, state, (100, 20, 0)).bolts == (0, left, 1)


def test_bolts_in_a_row_being_spared_or_sitting_out_changes_nothing() -> None:
    rules = mil(BOLTS, FOUR, CONCEDE, bolts_counted="in_a_row")
    state = standing(rules, 0, 0, 0, 0, bolts=(2, 1, 1, 2))
    assert play(rules, state, (100, 20, 0, 0)).bolts == (2, 0, 2, 2)
    assert concede(rules, state).bolts == (2, 1, 1, 2)


def test_bolts_spare_declarer() -> None:
    for spare, bolts in ((True, 0), (False, 1)):
        rules = mil(BOLTS, bolts_spare_declarer=spare)
        assert play(rules, (0, 0, 0), (0, 100, 20)).bolts == (bolts, 0, 0)


def test_bolts_spare_barrel() -> None:
    for spare, bolts in ((True, 0), (False, 1)):
        rules = mil(BARREL, bolts="zero_tricks", bolts_spare_barrel=spare)
        state = standing(rules, 0, 880, 0, on=[1])
        assert play(rules, state, (100, 0, 20)).bolts == (0, bolts, 0)


def test_bolts_spare_who_stood_on_the_barrel_not_who_mounts_it() -> None:
    rules = mil(
        BARREL, {"deal.four_nines": "off", "deal.four_nines_bonus": 100}, bolts="zero_tricks"
    )
    after = play(rules, (0, 800, 0), (100, 0, 20), four_nines=1)
    assert (after.scores[1], after.bolts[1]) == (880, 1)
    assert after.events[1] == Event.MOUNTED | Event.BOLT


def test_bolts_spare_conceded() -> None:
    for spare, bolts in ((True, (0, 0, 0)), (False, (0, 1, 1))):
        rules = mil(BOLTS, CONCEDE, bolts_spare_conceded=spare)
        assert concede(rules, (0, 0, 0)).bolts == bolts
    rules = mil(BOLTS, CONCEDE, bolts_spare_conceded=False, bolts_spare_declarer=False)
    assert concede(rules, (0, 0, 0)).bolts == (1, 1, 1)


def test_bolts_zero_points_counts_the_bonus_of_the_last_trick() -> None:
    rules = mil(BOLTS, {"play.last_trick_bonus": 10}, bolts="zero_points")
    after = play(rules, (0, 0, 0), (110, 10, 10), tricks=(6, 1, 1))
    assert after.bolts == (0, 0, 0)


def test_a_declarer_who_makes_his_contract_without_a_trick() -> None:
    rules = mil(BOLTS, {"play.marriage_from_trick": 1}, bolts_spare_declarer=False, bolts_limit=1)
    after = play(rules, (0, 0, 0), (100, 80, 40), tricks=(0, 6, 2))
    assert (after.scores[0], after.events[0]) == (-20, Event.BOLT | Event.BOLT_PENALTY)
    rules = mil(BARREL, {"play.marriage_from_trick": 1}, bolts="zero_tricks",
                bolts_spare_declarer=False, bolts_spare_barrel=False)  # fmt: skip
    state = standing(rules, 880, 0, 0, on=[0], bolts=(2, 0, 0))
    after = play(rules, state, (100, 80, 40), tricks=(0, 6, 2))  # 880, no bolt makes it less
    assert (after.scores[0], after.falls[0]) == (760, 1)


# -- dump truck ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "scores"),
    [
        ("off", (555, -555, 20)),
        ("plus", (0, -555, 20)),
        ("plus_and_minus", (0, 0, 20)),
    ],
)
def test_dump_truck(kind: str, scores: tuple[int, int, int]) -> None:
    rules = mil(dump_truck=kind)
    after = play(rules, (455, -555 - 20, 0), (100, 20, 20 + 20))
    assert after.scores == (scores[0], scores[1], 40)
    dumped = [Event.DUMPED if score == 0 else NOTHING for score in scores[:2]]
    assert after.events == (*dumped, NOTHING)


def test_dump_truck_leaves_a_score_that_stood_there_already() -> None:
    after = play(mil(dump_truck="plus"), (0, 555, 0), (100, 0, 20))
    assert (after.scores[1], after.events[1]) == (555, NOTHING)


def test_dump_truck_after_a_fall() -> None:
    rules = mil(FREE, dump_truck="plus", barrel=880, barrel_penalty=325)
    state = standing(rules, 0, 880, 0, on=[1], barrel_deals=(0, 2, 0))
    after = play(rules, state, (100, 20, 0))
    assert (after.scores[1], after.events[1]) == (0, Event.LOCKED | Event.FELL | Event.DUMPED)


# -- golden deals and the dark ---------------------------------------------------------------------


GOLDEN: Changes = {"match.golden": "forehand_plays_120"}
DARK: Changes = {"auction.dark": True}


def test_golden_deals_count_double_for_all_one_a_player() -> None:
    rules = mil(FREE, GOLDEN)
    state = MatchState.start(rules)
    expected = [(240, 40, 40), (280, 280, 80), (320, 320, 320), (440, 340, 340)]
    for number, scores in enumerate(expected):
        assert state.is_golden(rules) == (number < 3)
        points = [24 - 4, 24 - 4, 24 - 4]
        points[number % 3] = 138 + 2
        state = play(rules, state, points, declarer=number % 3, contract=120)
        assert state.scores == scores


def test_golden_deals_of_four_are_four_and_double_the_sitter() -> None:
    rules = mil(FREE, GOLDEN, FOUR, sitter="talon_points")
    state = MatchState.start(rules)
    talon = [parse_card(card) for card in ("AS", "TS", "9S")]
    after = play(rules, state, (120, 20, 20, 0), contract=120, talon=talon)
    assert after.scores == (240, 40, 40, 40)
    assert replace(state, deals=3).is_golden(rules)
    assert not replace(state, deals=4).is_golden(rules)


def test_golden_deal_forehand_plays_at_least_120() -> None:
    rules = mil(GOLDEN, CONCEDE)
    with pytest.raises(DealError, match=r"declarer must be forehand, player 0, in this golden"):
        play(rules, (0, 0, 0), (0, 120, 0), declarer=1, contract=120)
    with pytest.raises(DealError, match="contract must be a multiple of 10 from 120"):
        play(rules, (0, 0, 0), (120, 0, 0), contract=110)
    with pytest.raises(
        DealError, match=r"contract \(the bid\) must be .* from 120 to 120, got 130"
    ):
        concede(rules, (0, 0, 0), bid=130)
    assert concede(rules, (0, 0, 0), bid=120).scores == (-240, 120, 120)


def test_a_new_deal_does_not_use_up_a_golden_one() -> None:
    rules = mil(GOLDEN)
    state = redealt(rules, MatchState.start(rules), True)
    assert (state.deals, state.is_golden(rules), state.forehand) == (0, True, 1)


def test_golden_minimum_120_doubles_nothing() -> None:
    rules = mil(golden="minimum_120")
    assert play(rules, (0, 0, 0), (20, 140, 0), declarer=1, contract=120).scores == (20, 120, 0)
    with pytest.raises(DealError, match="from 120 to"):
        play(rules, (0, 0, 0), (120, 0, 0), contract=100)
    assert play(rules, standing(rules, 0, 0, 0, deals=3), (120, 0, 0)).scores == (100, 0, 0)


def test_dark_counts_double_for_the_declarer() -> None:
    rules = mil(DARK, CONCEDE)
    made = play(rules, (0, 0, 0), (138, 24, 18), contract=120, dark=True)
    assert made.scores == (240, 20, 20)
    failed = play(rules, (0, 0, 0), (118, 2, 0), contract=120, dark=True)
    assert failed.scores == (-240, 0, 0)
    given_up = score_match_deal(
        rules, (0, 0, 0), declarer=0, contract=120, conceded=True, dark=True
    )
    assert given_up.scores == (-240, 60, 60)


def test_dark_from_the_barrel() -> None:
    rules = mil(BARREL, DARK)
    after = play(rules, standing(rules, 880, 0, 0, on=[0]), (120, 0, 0), contract=120, dark=True)
    assert (after.scores[0], after.winner) == (1120, 0)


@pytest.mark.parametrize(
    ("changes", "state", "declarer", "contract", "words"),
    [
        (DARK, (0, 0, 0), 1, 120, "dark: only forehand, player 0, may bid so, not player 1"),
        (DARK, (0, 0, 0), 0, 100, "contract must be a multiple of 10 from 120"),
        ({**DARK, "talon.raise_contract": False}, (0, 0, 0), 0, 130, "from 120 to 120, got 130"),
        ({**DARK, **GOLDEN}, (0, 0, 0), 0, 120, "dark: a golden deal without auction"),
        ({**DARK, "auction.silence_below": -100}, (-100, 0, 0), 0, 120, "dark: player 0 has -100"),
    ],
)
def test_dark_refused(
    changes: Changes, state: tuple[int, ...], declarer: int, contract: int, words: str
) -> None:
    points = [0, 0, 0]
    points[declarer] = 120
    with pytest.raises(MilsimError, match=words):
        play(mil(changes), state, points, declarer, contract, dark=True)


# -- the sitter ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "talon", "score"),
    [
        ({"match.sitter": "nothing"}, "AS AH AD", 0),
        ({"match.sitter": "talon_points"}, "AS TS KH", 20),
        ({"match.sitter": "talon_points"}, "AS TS QS", 20),
        ({"match.sitter": "talon_points"}, "AS AH KH", 30),
        ({"match.sitter": "talon_points", "scoring.defender_rounding": "none"}, "AS TS KH", 25),
        ({"match.sitter": "aces_and_marriages"}, "AS TS KH", 50),
        ({"match.sitter": "aces_and_marriages"}, "AS AC AH", 150),
        ({"match.sitter": "aces_and_marriages"}, "KH QH 9S", 100),
        ({"match.sitter": "aces_and_marriages", "match.sitter_ace": 40}, "KS QS AS", 80),
        ({"match.sitter": "aces_and_marriages", "match.sitter_ace": 0}, "AS AC AD", 0),
        ({"match.sitter": "aces_and_marriages"}, "KS QC 9S", 0),
    ],
)
def test_sitter(changes: Changes, talon: str, score: int) -> None:
    rules = mil(FOUR, changes)
    cards = [parse_card(word) for word in talon.split()]
    mask = CardSet.of(cards)
    assert talon_score(cards, rules) == score
    for given_as in (cards, mask, int(mask), tuple(reversed(cards)), np.array(cards)):
        after = play(rules, (0, 0, 0, 100), (100, 20, 0, 0), talon=given_as)
        assert after.scores == (100, 20, 0, 100 + score)


def test_sitter_of_another_deal() -> None:
    rules = mil(FOUR, sitter="aces_and_marriages")
    state = replace(MatchState.start(rules), dealer=1)
    after = play(rules, state, (20, 0, 0, 100), declarer=3, talon=CardSet.parse("AKQ..."))
    assert (after.scores, after.dealer) == ((20, 90, 0, 100), 2)


def test_sitter_is_locked_capped_and_mounts_like_others() -> None:
    talon = CardSet.parse("A.A.A.")
    rules = mil(FOUR, sitter="aces_and_marriages")
    assert play(rules, (0, 0, 0, 800), (120, 0, 0, 0), talon=talon).scores[3] == 800
    rules = mil(FOUR, sitter="aces_and_marriages", lock="off")
    after = play(rules, (0, 0, 0, 900), (120, 0, 0, 0), talon=talon)
    assert (after.scores[3], after.events[3]) == (990, Event.CAPPED)
    rules = mil(FOUR, BARREL, sitter="aces_and_marriages")
    after = play(rules, (0, 0, 0, 800), (120, 0, 0, 0), talon=talon)
    assert (after.scores[3], after.events[3]) == (880, Event.MOUNTED)


def test_sitter_scores_in_a_conceded_deal() -> None:
    rules = mil(FOUR, CONCEDE, sitter="talon_points")
    after = score_match_deal(
        rules, None, declarer=0, contract=100, conceded=True, talon=CardSet.parse("AT9...")
    )
    assert after.scores == (-100, 60, 60, 20)


def test_sitter_gets_no_bolt() -> None:
    rules = mil(FOUR, BOLTS)
    assert play(rules, (0, 0, 0, 0), (100, 20, 0, 0)).bolts == (0, 0, 1, 0)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "talon: its three cards are needed, the sitter scores talon_points"),
        ({"talon": 7, "points": (100, 0, 0, 20)}, "points of the sitter, player 3, must be 0"),
        ({"talon": 7, "tricks": (7, 0, 0, 1)}, "tricks of the sitter, player 3, must be 0"),
        ({"talon": 7, "declarer": 3}, "declarer must be one of the active players .* sitter 3"),
        ({"talon": 7, "four_nines": 3}, "four_nines must be one of the active players"),
        ({"talon": 7, "four_nines": 1}, "player 1 cannot have them, a nine is in the talon"),
        ({"talon": 7, "points": (100, 20, 0)}, "points must be 4 numbers by player"),
        ({"talon": 7, "state": (0, 0, 0)}, "scores must be 4 numbers by player"),
        ({"talon": 7, "state": MatchState.start("mil")}, r"scores must be of 4 players"),
    ],
)
def test_sitter_refused(more: dict[str, Any], words: str) -> None:
    rules = mil(FOUR, sitter="talon_points")
    arguments: dict[str, Any] = {
        "state": None,
        "declarer": 0,
        "contract": 100,
        "points": (100, 20, 0, 0),
        "tricks": (7, 1, 0, 0),
    }
    with pytest.raises(DealError, match=words):
        score_match_deal(rules, **(arguments | more))


# -- concessions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "bid", "prices"),
    [
        ("bid", 110, (110, 110, 110, 110)),
        ("always_120", 150, (120, 120, 120, 120)),
        ("first_free_then_bid", 150, (0, 150, 150, 150)),
        ("every_third_120", 150, (0, 0, 120, 0)),
    ],
)
def test_concede_cost(cost: str, bid: int, prices: tuple[int, ...]) -> None:
    rules = mil(CONCEDE, {"talon.concede_cost": cost})
    state = MatchState.start(rules)
    lost = 0
    for number, price in enumerate(prices, start=1):
        other = concede(rules, state, declarer=1, bid=bid)  # others do not count for him
        assert other.concessions[1] == 1
        state = concede(rules, state, bid=bid)
        lost += price
        assert state.scores == (-lost, 60 * number, 60 * number)
        assert state.concessions == (number, 0, 0)


@pytest.mark.parametrize(
    ("gain", "bid", "each"), [(0, 100, 0), (40, 100, 40), ("half_bid", 130, 60)]
)
def test_concede_gain(gain: int | str, bid: int, each: int) -> None:
    rules = mil(CONCEDE, {"talon.concede_gain": gain})
    assert concede(rules, (0, 0, 0), declarer=1, bid=bid).scores == (each, -bid, each)


def test_concede_gain_is_locked_out_and_capped() -> None:
    rules = mil(CONCEDE)
    after = concede(rules, (0, 800, 790))
    assert (after.scores, after.events[1]) == ((-100, 800, 850), Event.LOCKED)
    rules = mil(CONCEDE, {"talon.concede_gain": 400})
    assert concede(rules, (0, 790, 0)).scores == (-100, 990, 400)


def test_a_conceded_deal_pays_for_four_nines() -> None:
    rules = mil(CONCEDE, {"deal.four_nines": "off", "deal.four_nines_bonus": 100})
    after = score_match_deal(rules, None, declarer=0, contract=100, conceded=True, four_nines=2)
    assert after.scores == (-100, 60, 160)


def test_concede_limit() -> None:
    rules = mil(CONCEDE, {"talon.concede_limit": 2})
    state = concede(rules, concede(rules, (0, 0, 0)))
    with pytest.raises(IllegalActError, match="player 0 has conceded 2 times, the limit is 2"):
        concede(rules, state)
    assert concede(rules, state, declarer=1).concessions == (2, 1, 0)


def test_concede_on_barrel() -> None:
    rules = mil(CONCEDE, BARREL)
    with pytest.raises(IllegalActError, match="player 0 is on the barrel and may not concede"):
        concede(rules, standing(rules, 880, 0, 0, on=[0]))
    rules = mil(CONCEDE, BARREL, {"talon.concede_on_barrel": True})
    state = standing(rules, 880, 0, 0, on=[0])
    after = concede(rules, state)
    assert (after.scores[0], after.events[0], after.falls[0]) == (780, Event.FELL, 1)
    rules = mil(
        CONCEDE,
        BARREL,
        {"talon.concede_on_barrel": True, "talon.concede_cost": "first_free_then_bid"},
    )
    after = concede(rules, state)  # free: nobody falls, but the deal counts
    assert (after.scores[0], after.on_barrel[0], after.barrel_deals[0]) == (880, True, 1)
    rules = mil(
        CONCEDE, BARREL, {"talon.concede_on_barrel": True, "match.barrel_failed": "attempt"}
    )
    after = concede(rules, state)
    assert (after.scores[0], after.on_barrel[0], after.events[0]) == (880, True, Event.LOCKED)


def test_points_and_tricks_of_a_conceded_deal_are_none_or_0() -> None:
    rules = mil(CONCEDE)
    for nothing in (None, (0, 0, 0), [0, 0, 0], np.zeros(3, np.int64)):
        after = score_match_deal(
            rules, None, declarer=0, contract=100, conceded=True, points=nothing, tricks=nothing
        )
        assert after.scores == (-100, 60, 60)
    for name in ("points", "tricks"):
        with pytest.raises(DealError, match=f"{name} must be 0 in a conceded deal"):
            score_match_deal(
                rules, None, declarer=0, contract=100, conceded=True, **{name: (1, 0, 0)}
            )


# -- points that add up ----------------------------------------------------------------------------


def test_points_hold_the_bonus_of_the_last_trick_and_four_aces() -> None:
    rules = mil({"play.last_trick_bonus": 10, "play.ace_marriage": 200})
    assert play(rules, (0, 0, 0), (330, 0, 0), contract=300).scores == (300, 0, 0)
    with pytest.raises(DealError, match="sum to 120, not 120 and marriages: try 130"):
        play(rules, (0, 0, 0), (120, 0, 0))


def test_without_a_trick_a_marriage_of_the_first_lead_at_most() -> None:
    rules = mil({"play.marriage_from_trick": 1})
    assert play(rules, (0, 0, 0), (100, 120, 0), tricks=(0, 8, 0)).scores == (100, 120, 0)
    with pytest.raises(DealError, match="player 0 must be a marriage or 0 without a trick"):
        play(rules, (0, 0, 0), (90, 130, 0), tricks=(0, 8, 0))
    with pytest.raises(DealError, match="player 2 must be 0 without a trick, got 40"):
        play(rules, (0, 0, 0), (0, 120, 40), tricks=(0, 8, 0))
    with pytest.raises(DealError, match="player 0 must be 0 without a trick, got 100"):
        play("mil", (0, 0, 0), (100, 120, 0), tricks=(0, 8, 0))


# -- deals that do not count -----------------------------------------------------------------------


def test_redealt_changes_the_dealer_at_most() -> None:
    rules = mil(BARREL, BOLTS, CONCEDE)
    state = standing(
        rules, 880, 120, -50, on=[0], barrel_deals=(2, 0, 0), bolts=(0, 2, 1), falls=(1, 0, 0),
        concessions=(0, 3, 0), events=(Event.MOUNTED, Event.BOLT, Event(0)),
    )  # fmt: skip
    calm = replace(state, events=(NOTHING,) * 3)
    assert redealt(rules, state, False) == calm
    assert redealt(rules, state, True) == replace(calm, dealer=0)
    with pytest.raises(DealError, match="next_dealer must be true or false"):
        redealt(rules, state, 1)  # type: ignore[arg-type]


# -- the state -------------------------------------------------------------------------------------


def test_seats_and_players_of_four() -> None:
    state = MatchState.start(mil(FOUR), dealer=1)
    assert (state.forehand, state.active, state.sitter) == (2, (2, 3, 0), 1)
    assert [state.seat_of(player) for player in range(4)] == [2, None, 0, 1]
    assert [state.player_at(seat) for seat in range(3)] == [2, 3, 0]
    assert state.by_seat("abcd") == ("c", "d", "a")
    with pytest.raises(DealError, match="seat must be 0 to 2, got 3"):
        state.player_at(3)
    with pytest.raises(DealError, match="player must be a player 0 to 3, got 4"):
        state.seat_of(4)


def test_plain_scores_at_the_barrel_have_just_mounted_it() -> None:
    state = MatchState.of_scores(mil(BARREL), (880, 870, 0))
    assert (state.on_barrel, state.barrel_deals) == ((True, False, False), (0, 0, 0))
    assert MatchState.of_scores("mil", np.array([880, 870, 0])).on_barrel == (False,) * 3


@pytest.mark.parametrize(
    ("changes", "given", "words"),
    [
        ({}, {"on_barrel": (True, False, False)}, "on_barrel: player 0 .* match.barrel is off"),
        ({}, {"falls": (0, 1, 0)}, "player 1 is or was on it, but match.barrel is off"),
        ({}, {"bolts": (0, 1, 0)}, "bolts: player 1 has 1, at most 0 are possible"),
        ({}, {"concessions": (0, 0, 1)}, "concessions: player 2 has 1, at most 0 are possible"),
        ({}, {"scores": (0, 1010, 0)}, "scores: player 1 has 1010 and so has won at 1000"),
        ({}, {"scores": (0, 0, 0, 0)}, "barrel_deals must be 4 numbers by player"),
        ({}, {"winner": 1}, "winner: player 1 has 0, 1000 are needed"),
        (BOLTS, {"bolts": (3, 0, 0)}, "bolts: player 0 has 3, at most 2"),
        (CONCEDE | {"talon.concede_limit": 2}, {"concessions": (3, 0, 0)}, "has 3, at most 2"),
        (BARREL, {"on_barrel": (True, False, False)}, "player 0 is on the barrel with 0, not 880"),
        (BARREL, {"scores": (890, 0, 0)}, "player 0 has 890, above the barrel; set to 880"),
        (BARREL, {"barrel_deals": (1, 0, 0)}, "barrel_deals: player 0 has 1, at most 0"),
        (
            BARREL,
            {"scores": (880, 0, 0), "on_barrel": (True, False, False), "barrel_deals": (3, 0, 0)},
            "barrel_deals: player 0 has 3, at most 2",
        ),
        (BARREL | {"match.barrel_falls": 3}, {"falls": (3, 0, 0)}, "falls: player 0 has 3; at 3"),
    ],
)
def test_states_that_no_match_stands_at(
    changes: Changes, given: dict[str, Any], words: str
) -> None:
    rules = mil(changes)
    with pytest.raises(DealError, match=words):
        play(rules, replace(MatchState.start(rules), **given), (120, 0, 0))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"scores": "123"}, DealError, "scores must be a list by player"),
        ({"scores": [0, 0]}, DealError, "scores must be of 3 or 4 players, got 2"),
        ({"scores": [0, 0, 1.5]}, DealError, "scores of player 2 must be an integer, got 1.5"),
        ({"bolts": [0, 0, -1]}, DealError, "bolts of player 2 must be 0 or more"),
        ({"on_barrel": [0, 0, 1]}, DealError, "on_barrel must be 3 times true or false"),
        ({"on_barrel": [True]}, DealError, "on_barrel must be 3 times true or false"),
        ({"events": [0, 0, 1024]}, DealError, "sums of the bits 1 to 512, got 1024"),
        ({"dealer": 3}, DealError, "dealer must be a player 0 to 2, got 3"),
        ({"dealer": None}, DealError, "dealer must be an integer"),
        ({"deals": -1}, DealError, "deals must be 0 or more"),
        ({"winner": 5}, DealError, "winner must be a player 0 to 2"),
        ({"score": 5}, NotationError, "unknown key 'score' in a match state: did you mean scores"),
    ],
)
def test_from_dict_refuses(given: dict[str, Any], error: type[MilsimError], words: str) -> None:
    data = MatchState.start("mil").to_dict()
    with pytest.raises(error, match=words):
        MatchState.from_dict(data | given)


def test_from_dict_needs_every_key() -> None:
    data = MatchState.start("mil").to_dict()
    del data["falls"]
    with pytest.raises(NotationError, match="no falls in a match state"):
        MatchState.from_dict(data)
    with pytest.raises(NotationError, match="must be an object with keys"):
        MatchState.from_dict([1])  # type: ignore[arg-type]


def test_rules_by_name_path_or_as_they_are(tmp_path: Any) -> None:
    save(load("pagat"), tmp_path / "own.toml")
    for rules in ("pagat", str(tmp_path / "own.toml"), tmp_path / "own.toml", load("pagat")):
        after = score_match_deal(
            rules, (870, 0, 0), declarer=0, contract=100, points=(120, 0, 0), tricks=(8, 0, 0)
        )
        assert after.scores == (880, 0, 0)


def test_milsim_exports_the_specification() -> None:
    assert milsim.score_match_deal is score_match_deal
    assert milsim.MatchState is MatchState


def test_events_are_the_bits_of_the_page() -> None:
    assert [event.value for event in Event] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


# -- what is always true ---------------------------------------------------------------------------


@given(st.data())
def test_always(data: st.DataObject) -> None:
    rules = data.draw(match_rules())
    state = data.draw(match_states(rules))
    state.check(rules)
    deal = data.draw(counted_deals(rules, state))
    after = score_match_deal(rules, state, **deal)
    assert after == score_match_deal(rules, state, **deal)
    after.check(rules)
    assert MatchState.from_dict(json.loads(json.dumps(after.to_dict()))) == after
    assert after.deals == state.deals + 1
    assert after.dealer == (state.dealer + 1) % state.players
    assert_scores_follow_the_rules(rules, state, after, deal)
    if not after.is_over(rules):
        score_match_deal(rules, after, **data.draw(counted_deals(rules, after)))


def deal_scores_by_player(rules: Rules, state: MatchState, deal: dict[str, Any]) -> list[int]:
    """What the deal is worth before the match looks at it: steps 1 and 2."""
    nines = deal["four_nines"]
    common: dict[str, Any] = {
        "four_nines": None if nines is None else state.seat_of(nines),
        "dark": deal["dark"],
        "golden": state.is_golden(rules),
    }
    seat = state.seat_of(deal["declarer"])
    assert seat is not None
    if deal["conceded"]:
        earlier = state.concessions[deal["declarer"]]
        by_seat = concession_scores(seat, deal["contract"], rules, earlier=earlier, **common)
    else:
        by_seat = deal_scores(
            state.by_seat(deal["points"]), seat, deal["contract"], rules, **common
        )
    scores = [0] * state.players
    for player, score in zip(state.active, by_seat, strict=True):
        scores[player] = score
    if state.sitter is not None:
        doubled = common["golden"] and rules.match.golden == "forehand_plays_120"
        scores[state.sitter] = talon_score(deal["talon"], rules) * (2 if doubled else 1)
    return scores


def assert_scores_follow_the_rules(
    rules: Rules, state: MatchState, after: MatchState, deal: dict[str, Any]
) -> None:
    how, declarer = rules.match, deal["declarer"]
    made = not deal["conceded"] and is_made(deal["points"][declarer], deal["contract"], rules)
    worth = deal_scores_by_player(rules, state, deal)
    for player in range(state.players):
        events, start, score = after.events[player], state.scores[player], after.scores[player]
        stood = state.on_barrel[player]
        if not events & ~Event.WON and not stood:
            assert score == start + worth[player]
        if player != declarer:
            locked = stood or (how.lock != "off" and start >= how.lock)
            assert bool(events & Event.LOCKED) == (locked and worth[player] != 0)
            if locked:
                assert score <= start or events & Event.RESET or events & Event.DUMPED
            if how.defender_cap != "off":
                assert score <= max(how.defender_cap, start, 0)
            assert after.concessions[player] == state.concessions[player]
        if events == Event.CAPPED:
            assert score == max(how.defender_cap, start)
        if events & Event.MOUNTED:
            assert not stood
            assert after.on_barrel[player] or events & Event.FELL
        if events & Event.FELL:
            assert stood or events & Event.MOUNTED
            assert not after.on_barrel[player]
            assert events & Event.RESET or after.falls[player] == state.falls[player] + 1
        elif stood:
            assert after.on_barrel[player] or (events & Event.WON and made and player == declarer)
        if after.on_barrel[player]:
            assert score == how.barrel
            assert stood or after.barrel_deals[player] == 0
        if events & Event.BOLT:
            assert player in state.active
            assert how.bolts != "off"
        else:
            assert not events & Event.BOLT_PENALTY
            assert after.bolts[player] in (0, state.bolts[player])
        if events & (Event.RESET | Event.DUMPED):
            assert score == 0
        if events & Event.JUMPED:
            assert not stood
            assert score >= how.target
            assert how.barrel != "off"
            assert how.jump_over == "wins"
        elif score >= how.target and how.barrel != "off":
            assert stood or how.jump_over == "mounts"
        assert bool(events & Event.WON) == (after.winner == player)
    assert after.concessions[declarer] == state.concessions[declarer] + deal["conceded"]
    if after.winner is None:
        assert max(after.scores) < how.target or after.scores.count(max(after.scores)) > 1
    else:
        assert after.scores[after.winner] >= how.target
        assert after.winner == declarer or not (made and after.scores[declarer] >= how.target)


def turned(values: Sequence[Any], by: int) -> tuple[Any, ...]:
    """Values by player after everybody has moved `by` places on."""
    return tuple(values[(player - by) % len(values)] for player in range(len(values)))


@given(st.data())
def test_the_numbers_of_the_players_do_not_matter(data: st.DataObject) -> None:
    rules = data.draw(match_rules())
    state = data.draw(match_states(rules))
    deal = data.draw(counted_deals(rules, state))
    by, players = data.draw(st.integers(1, state.players - 1)), state.players

    def moved(before: MatchState) -> MatchState:
        tuples = {
            name: turned(value, by)
            for name, value in before.to_dict().items()
            if isinstance(value, list)
        }
        winner = None if before.winner is None else (before.winner + by) % players
        return replace(before, dealer=(before.dealer + by) % players, winner=winner, **tuples)

    other = deal | {
        name: turned(deal[name], by) for name in ("points", "tricks") if deal[name] is not None
    }
    for name in ("declarer", "four_nines"):
        if deal[name] is not None:
            other[name] = (deal[name] + by) % players
    assert score_match_deal(rules, moved(state), **other) == moved(
        score_match_deal(rules, state, **deal)
    )


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_scores_its_first_deal(preset: str) -> None:
    after = play(preset, MatchState.start(preset), (120, 0, 0), contract=120)
    assert after.scores == (120, 0, 0)
    assert parse("", name=preset).match.target == 1000
