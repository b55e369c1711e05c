"""Matches in kernels against the specification of a match: scoring deal by deal, whole matches.

`milsim.reference` and the kernels were both written from docs/match.md, by different hands.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from milsim import match_scoring as kernels
from milsim import scoring
from milsim._jit import jit_enabled, kernel_signatures
from milsim.cards import SUIT_NAMES, mask_of
from milsim.dealing.sampling import checked_seed, deal_number
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import MilsimError, RulesError
from milsim.policies import registry
from milsim.policies.conformance import PolicyPlayer
from milsim.reference import Event, Match, MatchState, redealt, score_match_deal
from milsim.rng import policy_key
from milsim.rules import Rules, load, packed, preset_names, with_fields
from milsim.rules.fields import values_of
from milsim.simulation.columns import COLUMNS, NO_SEAT
from milsim.simulation.match_columns import (
    DEALS_PER_MATCH,
    MATCH_COLUMNS,
    MATCH_DEAL_COLUMNS,
    NO_WINNER,
    NOT_ON_BARREL,
)
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan, match_plan_of_manifest
from tests.strategies import counted_deals, match_rules, match_states, rule_sets

# ------------------------------------------------------------------------------ scoring by deals


def in_kernel(state: MatchState) -> NDArray[np.int64]:
    """The state of the specification as an array."""
    match = np.empty(kernels.MATCH_SIZE, np.int64)
    kernels.match_start(match, state.dealer)
    for player in range(state.players):
        match[kernels.SCORE + player] = state.scores[player]
        if state.on_barrel[player]:
            match[kernels.BARREL + player] = state.barrel_deals[player]
        match[kernels.FALLS + player] = state.falls[player]
        match[kernels.BOLTS + player] = state.bolts[player]
        match[kernels.CONCEDED + player] = state.concessions[player]
    match[kernels.DEALS] = state.deals
    return match


def from_kernel(match: NDArray[np.int64], players: int) -> MatchState:
    """The array as a state of the specification."""

    def by_player(place: int) -> tuple[int, ...]:
        return tuple(int(value) for value in match[place : place + players])

    barrel = by_player(kernels.BARREL)
    winner = int(match[kernels.WINNER])
    return MatchState(
        scores=by_player(kernels.SCORE),
        on_barrel=tuple(spent != kernels.NOT_ON_BARREL for spent in barrel),
        barrel_deals=tuple(max(spent, 0) for spent in barrel),
        falls=by_player(kernels.FALLS),
        bolts=by_player(kernels.BOLTS),
        concessions=by_player(kernels.CONCEDED),
        events=by_player(kernels.EVENTS),  # type: ignore[arg-type]
        dealer=int(match[kernels.DEALER]),
        deals=int(match[kernels.DEALS]),
        winner=None if winner == kernels.NO_PLAYER else winner,
    )


def score(
    match: NDArray[np.int64], state: MatchState, rules: Rules, deal: dict[str, object]
) -> None:
    """One deal that counts, by kernels: steps 1 and 2 seat by seat, then the match."""
    array = packed(rules)
    golden = int(kernels.is_golden(match, array))
    assert golden == (state.deals < state.players)
    dealer = int(match[kernels.DEALER])
    sitter = int(kernels.sitter_of(dealer, array))
    assert sitter == (-1 if state.sitter is None else state.sitter)
    declarer, conceded = int(deal["declarer"]), int(deal["conceded"])
    contract, dark = int(deal["contract"]), int(deal["dark"])
    points, tricks = deal["points"] or (0,) * 4, deal["tricks"] or (0,) * 4
    players = [int(kernels.player_at(seat, dealer, array)) for seat in range(3)]
    assert tuple(players) == state.active
    seat_of = {player: seat for seat, player in enumerate(players)}
    nines = -1 if deal["four_nines"] is None else seat_of[deal["four_nines"]]
    match[kernels.DEAL_SCORE : kernels.POINTS + 4] = 0
    for seat, player in enumerate(players):
        if conceded:
            earlier = int(match[kernels.CONCEDED + declarer])
            earned = scoring.conceded_score(
                seat, seat_of[declarer], contract, earlier, nines, array
            )
        else:
            earned = scoring.deal_score(
                seat, points[player], seat_of[declarer], contract, nines, array
            )
        doubled = scoring.multiplier(int(player == declarer), dark, golden, array)
        match[kernels.DEAL_SCORE + player] = earned * doubled
        match[kernels.TRICKS + player] = tricks[player]
        match[kernels.POINTS + player] = points[player]
    if sitter >= 0:
        earned = scoring.sitter_score(mask_of(deal["talon"]), array)
        match[kernels.DEAL_SCORE + sitter] = earned * scoring.multiplier(0, 0, golden, array)
    made = not conceded and scoring.is_made(points[declarer], contract, array)
    kernels.score_deal_of_match(match, declarer, int(made), conceded, array)


@settings(max_examples=400)
@given(match_rules(), st.data())
def test_scoring_equals_the_specification(rules: Rules, data: st.DataObject) -> None:
    """From any state on, deal after deal until somebody wins, with new deals between."""
    state = data.draw(match_states(rules))
    match = in_kernel(state)
    for _ in range(data.draw(st.integers(1, 6))):
        if data.draw(st.integers(0, 5)) == 0:
            all_passed = data.draw(st.booleans())
            moves = (
                rules.auction.all_pass == "redeal_next"
                if all_passed
                else rules.deal.redeal_dealer == "next"
            )
            state = redealt(rules, state, moves)
            kernels.redealt(match, int(all_passed), packed(rules))
            assert from_kernel(match, state.players) == state
        deal = data.draw(counted_deals(rules, state))
        score(match, state, rules, deal)
        state = score_match_deal(rules, state, **deal)
        assert from_kernel(match, state.players) == state
        if state.is_over(rules):
            break


BARREL: dict[str, Any] = {"match.lock": "off", "match.defender_cap": "off", "match.barrel": 880}
FREE_AND_PAID: dict[str, Any] = {
    "talon.concede": "before_gifts",
    "talon.concede_cost": "first_free_then_bid",
    "talon.concede_on_barrel": True,
    "deal.four_nines": "off",
    "deal.four_nines_bonus": 50,
}
MADE: dict[str, Any] = {"contract": 100, "points": (118, 2, 0), "tricks": (6, 1, 1)}
UP: dict[str, Any] = {"contract": None, "points": None, "tricks": None, "conceded": True}

# Rules, scores, who is on the barrel and for how many deals, the deal, scores after it.
RARE = {
    "made on the barrel, below the target": (
        BARREL, (880, 0, 0), (0,), 0, MADE, (880, 0, 0),
    ),
    "the sitter has no attempt": (
        {**BARREL, "deal.players": 4}, (0, 0, 0, 880), (3,), 2,
        {**MADE, "points": (118, 2, 0, 0), "tricks": (6, 1, 1, 0)}, (100, 0, 0, 880),
    ),
    "a bonus above a free concession": (
        {**BARREL, **FREE_AND_PAID}, (880, 0, 0), (0,), 0,
        {**UP, "contract": 100, "four_nines": 0}, (880, 60, 60),
    ),
    "555 stays that was there before": (
        {"match.dump_truck": "plus"}, (0, 555, 0), (), 0, MADE, (100, 555, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RARE)
def test_rare_deals(name: str) -> None:
    changes, scores, on, spent, given_deal, expected = RARE[name]
    rules = with_fields(load("mil"), changes)
    state = replace(
        MatchState.start(rules),
        scores=scores,
        on_barrel=tuple(player in on for player in range(len(scores))),
        barrel_deals=tuple(spent if player in on else 0 for player in range(len(scores))),
    )
    match = in_kernel(state)
    usual = {"declarer": 0, "conceded": False, "dark": False, "four_nines": None}
    deal = {**usual, "talon": (1, 7, 13), **given_deal}
    score(match, state, rules, deal)
    after = score_match_deal(rules, state, **deal)
    assert after.scores == expected
    assert from_kernel(match, state.players) == after


# --------------------------------------------------------------------------------- whole matches


def played(plan: MatchPlan, **how: Any) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """The columns of the deals, and those of the matches."""
    chunks = list(play_match_plan(plan, **{"threads": 1, **how}))
    values = np.concatenate([chunk.values for chunk in chunks], axis=1).astype(int)
    more = np.concatenate([chunk.deal_values for chunk in chunks], axis=1).astype(int)
    deals = {
        **dict(zip(COLUMNS, values, strict=True)),
        **dict(zip(MATCH_DEAL_COLUMNS, more, strict=True)),
    }
    for name in ("deals", "match", "index"):
        deals[name] = np.concatenate([getattr(chunk, name) for chunk in chunks])
    results = np.concatenate([chunk.results for chunk in chunks], axis=1).astype(int)
    return deals, dict(zip(MATCH_COLUMNS, results, strict=True))


def rows_of(columns: dict[str, NDArray[Any]]) -> list[dict[str, int]]:
    names = list(columns)
    cells = zip(*(columns[name].tolist() for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def compare_with_reference(plan: MatchPlan, most_redeals: int | None = None) -> None:
    """Every deal, thrown in or not, of every match, played by the specification with policies.

    Hypothesis is told to draw again where more deals are thrown in than ``most_redeals``.
    """
    columns, results = played(plan)
    if most_redeals is not None:
        assume(results["redeals"].sum() <= most_redeals)
    rows = rows_of(columns)
    seed, players = checked_seed(plan.seed), plan.rules.deal.players
    for place, result in enumerate(rows_of(results)):
        number = plan.start + place
        match = Match(plan.rules, (number - 1) % players)
        assert result["first_dealer"] == match.state.dealer
        counts = dict.fromkeys(("mounts", "falls", "bolt_penalties", "dumps"), 0)
        locked = redeals = conceded = dark = 0
        was_on_barrel = match.state.on_barrel
        while not match.is_over:
            row = rows.pop(0)
            attempt, before = 0, match.state
            assert row["match"] == number
            assert row["index"] == number * DEALS_PER_MATCH + match.state.deals
            while match.state.deals == before.deals:
                before = match.state
                found = deal_number(seed, row["index"], attempt)
                game = match.game(Deal.from_id(int(found)))
                policies = tuple(plan.policies[player] for player in before.active)
                key = policy_key(seed, row["index"], attempt)
                match.finish(PolicyPlayer(game, policies, key).play())
                attempt += 1
            assert row["deals"] == found
            assert row["redeals"] == attempt - 1
            compare_deal(row, match)
            events = match.state.events
            counts["mounts"] += sum(Event.MOUNTED in one for one in events)
            counts["falls"] += sum(Event.FELL in one for one in events)
            counts["bolt_penalties"] += sum(Event.BOLT_PENALTY in one for one in events)
            counts["dumps"] += sum(Event.DUMPED in one for one in events)
            locked += any(Event.LOCKED in one for one in events)
            redeals += attempt - 1
            conceded += row["conceded"]
            dark += row["dark"]
            was_on_barrel = before.on_barrel
        winner = match.winner
        assert result["winner"] == (NO_WINNER if winner is None else winner)
        assert result["deals"] == match.state.deals
        finals = tuple(result[f"final_{player}"] for player in range(players))
        assert finals == match.state.scores
        assert {name: result[name] for name in counts} == counts
        assert result["locked_deals"] == locked
        assert result["redeals"] == redeals
        assert (result["concessions"], result["dark_deals"]) == (conceded, dark)
        assert result["from_barrel"] == (winner is not None and was_on_barrel[winner])
        jumped = winner is not None and Event.JUMPED in match.state.events[winner]
        assert result["by_jump"] == jumped
    assert not rows


def compare_deal(row: dict[str, int], match: Match) -> None:
    """A row of a deal that counted with the deal that the specification has just counted."""
    last = match.history[-1]
    game, before, after = last.game, last.before, last.after
    assert game.result is not None
    assert (row["number"], row["dealer"]) == (after.deals, before.dealer)
    scores = tuple(row[f"score_{seat}"] for seat in SEAT_NAMES)
    assert scores == game.result.scores
    assert (row["declarer"], row["bid"]) == (game.declarer, game.bid_won)
    assert (row["conceded"], row["dark"]) == (game.result.ended == "conceded", game.result.dark)
    assert row["made"] == bool(game.result.made)
    if not row["conceded"]:
        assert row["contract"] == game.contract
        assert game.position is not None
        assert tuple(row[f"tricks_{seat}"] for seat in SEAT_NAMES) == game.position.tricks_won
    for player in range(before.players):
        barrel = after.barrel_deals[player] if after.on_barrel[player] else NOT_ON_BARREL
        assert row[f"total_{player}"] == after.scores[player]
        assert row[f"events_{player}"] == after.events[player]
        assert row[f"barrel_{player}"] == barrel
    check_deal(row, match.rules)


def check_deal(row: dict[str, int], rules: Rules) -> None:
    """What holds in each deal: the points of the cards, one score for each marriage."""
    if row["conceded"]:
        return
    taken = sum(row[f"points_{seat}"] for seat in SEAT_NAMES)
    assert taken == 120 + rules.play.last_trick_bonus
    assert sum(row[f"tricks_{seat}"] for seat in SEAT_NAMES) == 8
    declared = sum(
        value
        for suit, value in zip(SUIT_NAMES, rules.deal.marriage_values.by_suit(), strict=True)
        if row[f"{suit}_seat"] != NO_SEAT
    )
    aces = sum(row[f"marriages_{seat}"] for seat in SEAT_NAMES) - declared
    assert aces in (0, rules.play.ace_marriage)


@pytest.mark.parametrize("policy", ["greedy", "random,greedy,random"])
@pytest.mark.parametrize("rules", preset_names())
def test_presets_equal_the_reference(rules: str, policy: str) -> None:
    short = with_fields(load(rules), {"match.max_deals": 40})
    compare_with_reference(MatchPlan.make(matches=4, seed=3, start=5, rules=short, policy=policy))


@pytest.mark.parametrize("sitter", ["nothing", "talon_points", "aces_and_marriages"])
def test_four_players_equal_the_reference(sitter: str) -> None:
    rules = with_fields(load("mil"), {"deal.players": 4, "match.sitter": sitter})
    policy = "greedy,random,greedy,greedy"
    compare_with_reference(MatchPlan.make(matches=3, seed=4, rules=rules, policy=policy))


drawn_matches = given(
    rule_sets("deal auction talon play scoring match"),
    st.integers(0, 2**64 - 1),
    st.integers(0, 10**9),
    st.lists(st.sampled_from(registry.names()), min_size=4, max_size=4),
)


@settings(max_examples=25)
@drawn_matches
def test_drawn_rules_equal_the_reference(
    rules: Rules, seed: int, start: int, policies: list[str]
) -> None:
    drawn_rules_equal_the_reference(rules, seed, start, policies)


@pytest.mark.slow
@settings(max_examples=100)
@drawn_matches
def test_many_drawn_rules_equal_the_reference(
    rules: Rules, seed: int, start: int, policies: list[str]
) -> None:
    drawn_rules_equal_the_reference(rules, seed, start, policies)


def drawn_rules_equal_the_reference(
    rules: Rules, seed: int, start: int, policies: list[str]
) -> None:
    short = with_fields(rules, {"match.max_deals": min(rules.match.max_deals, 12)})
    chosen = policies[: rules.deal.players]
    plan = MatchPlan.make(matches=2, seed=seed, start=start, rules=short, policy=chosen)
    try:
        # Some throw in thousands of hands for one that is played: minutes for the specification.
        compare_with_reference(plan, most_redeals=500)
    except RulesError as error:
        # Some drawn rules throw in every hand there is, or silence all; it says so and stops.
        assert "redeal rights" in str(error)  # noqa: PT017


@pytest.mark.parametrize("rules", ["mil", "russian", "pagat"])
def test_threads_and_chunks_change_nothing(rules: str) -> None:
    plan = MatchPlan.make(matches=300, seed=9, start=40, rules=rules)
    expected = played(plan)
    for how in ({"threads": 2}, {"chunk": 7}, {"threads": 3, "chunk": 64}):
        found = played(plan, **how)
        for columns, same in zip(found, expected, strict=True):
            for name, column in same.items():
                assert np.array_equal(columns[name], column), name


def test_a_part_of_the_matches_is_a_part_of_the_rows() -> None:
    whole, results = played(MatchPlan.make(matches=50, seed=2))
    part, some = played(MatchPlan.make(matches=10, seed=2, start=20))
    for name, column in results.items():
        assert np.array_equal(some[name], column[20:30]), name
    inside = (whole["match"] >= 20) & (whole["match"] < 30)
    for name, column in whole.items():
        assert np.array_equal(part[name], column[inside]), name


def test_the_kernel_goes_on_where_its_room_ran_out() -> None:
    """Random players need all deals that a match may have: far more rows than are guessed."""
    plan = MatchPlan.make(matches=20, rules="russian", policy="random")
    columns, results = played(plan)
    assert results["deals"].tolist() == [200] * 20
    assert columns["number"].tolist() == list(range(1, 201)) * 20
    assert set(results["winner"]) == {NO_WINNER}


def test_the_first_deal_goes_round() -> None:
    _, results = played(MatchPlan.make(matches=7, start=1))
    assert results["first_dealer"].tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_golden_deals_of_120_have_no_auction() -> None:
    golden = with_fields(load("mil"), {"match.golden": "forehand_plays_120"})
    rows = rows_of(played(MatchPlan.make(matches=20, rules=golden, policy="random"))[0])
    first = [row for row in rows if row["number"] <= 3]
    assert {(row["declarer"], row["bid"]) for row in first} == {(0, 120)}
    assert {row["declarer"] for row in rows if row["number"] > 3} == {0, 1, 2}


def test_scores_are_deal_scores_added_up_where_nothing_brakes() -> None:
    free = with_fields(load("mil"), {"match.lock": "off", "match.defender_cap": "off"})
    totals = [0, 0, 0]
    for row in rows_of(played(MatchPlan.make(matches=30, rules=free))[0]):
        if row["number"] == 1:
            totals = [0, 0, 0]
        for seat, name in enumerate(SEAT_NAMES):
            totals[(row["dealer"] + 1 + seat) % 3] += row[f"score_{name}"]
        assert totals == [row[f"total_{player}"] for player in range(3)]


def test_rules_that_throw_in_every_deal_are_refused() -> None:
    never = with_fields(load("mil"), {"deal.low_hand": 75, "deal.low_hand_marriage": "any_hand"})
    with pytest.raises(RulesError, match="match 0, deal 1: the redeal rights"):
        list(play_match_plan(MatchPlan.make(matches=1, rules=never), threads=1))


def test_a_plan_is_known_by_its_digest_and_comes_back_from_its_tables() -> None:
    plan = MatchPlan.make(matches=5, seed=2**64 - 1, policy="random,greedy,random")
    again = match_plan_of_manifest(plan.to_dict(), values_of(plan.rules), "mil", "x")
    assert again.digest() == plan.digest()
    assert MatchPlan.make(matches=6).digest() != MatchPlan.make(matches=5).digest()
    tables = tomllib.loads(plan.to_toml())
    assert (tables["matches"], tables["policies"]) == (5, ["random", "greedy", "random"])
    assert tables["rules"]["match"]["target"] == 1000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"matches": 0}, "matches: 0 is out of range"),
        ({"policy": "greedy,greedy,greedy,greedy"}, "three by player"),
        ({"policy": "gredy"}, "did you mean greedy"),
        ({"rules": with_fields(load("mil"), {"deal.players": 4}), "policy": "random,greedy"},
         "four by player"),
    ],
)  # fmt: skip
def test_plans_that_cannot_be_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(MilsimError, match=message):
        MatchPlan.make(**{"matches": 1, **wrong})


def test_no_kernel_uses_anything_but_whole_numbers() -> None:
    found = [one for one in kernel_signatures() if "match" in one.kernel]
    for one in found:
        words = " ".join((one.result, *one.arguments))
        assert "float" not in words, one
        assert "uint" not in words, one
    assert bool(found) == jit_enabled()
