"""The policy ``expert``: legal everywhere, sane, calibrated, and clearly better than ``greedy``."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milsim.auction import highest_allowed
from milsim.cards import ALL_CARDS, parse_hand
from milsim.dealing import hand_masks_table
from milsim.errors import PolicyError
from milsim.policies import expert_bidding as bidding
from milsim.policies import expert_parameters, expert_play
from milsim.policies.conformance import check_policy
from milsim.policies.expert_bidding import (
    expert_bid,
    expert_concession,
    expert_contract,
    expert_gifts,
    hand_places,
    hand_worth,
)
from milsim.policies.expert_parameters import kernel_parameters
from milsim.policies.expert_play import expert_card
from milsim.rules import Rules, load, packed, preset_names
from milsim.simulation import columns
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan
from milsim.tricks import play_flags
from tests.strategies import rule_sets

MIL = load("mil")
FIELDS = packed(MIL)
PARAMETERS = kernel_parameters(MIL)


def bid_of(cards: str, lowest: int, *, passed: int = 0, rules: Rules = MIL) -> int:
    hand, fields = parse_hand(cards), packed(rules)
    highest = int(highest_allowed(hand, 100, fields))
    return int(expert_bid(kernel_parameters(rules), hand, lowest, highest, 1, passed))


def played(policy: str, deals: int, seed: int, rules: str = "mil", **how: str) -> np.ndarray:
    plan = Plan.make(deals=deals, seed=seed, rules=rules, policy=policy, **how)  # type: ignore[arg-type]
    return np.concatenate([chunk.values for chunk in play(plan, threads=1)], axis=1)


# -- the rules -----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(rules=rule_sets(), seed=st.integers(0, 2**32))
def test_no_drawn_rules_are_broken(rules: Rules, seed: int) -> None:
    check_policy("expert", rules=rules, deals=2, seed=seed)


@pytest.mark.parametrize("rules", preset_names())
def test_bids_and_contracts_stay_in_their_range(rules: str) -> None:
    chosen = load(rules)
    fields, parameters, step = packed(chosen), kernel_parameters(chosen), chosen.auction.step
    for hand in hand_masks_table()[::9973].tolist():
        highest = int(highest_allowed(hand, 100, fields))
        for lowest in (100, 120, highest, highest + step):
            bid = int(expert_bid(parameters, hand, lowest, highest, 1, 0))
            assert bid in (0, lowest)
            assert bid <= highest
        assert expert_bid(parameters, hand, 100, highest, 0, 0) == 100
        contract = int(expert_contract(parameters, hand, 100, highest, step))
        assert 100 <= contract <= highest
        assert contract % step == 0


# -- sanity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "lowest"),
    [
        ("A.AKQ.9.A9", 110),  # ♥ with three aces
        ("A9.AKQ..A9", 120),
        ("9.KQJ.A.AT", 110),  # ♥ with two aces
    ],
)
def test_hands_that_are_bid(cards: str, lowest: int) -> None:
    assert bid_of(cards, lowest) == lowest


def test_the_hundred_of_clubs_is_bid_where_clubs_pay_it() -> None:
    """LESSONS.md: an engine passed ♣ K-Q worth 100 because of a safety factor."""
    rules = load("clubs-100")
    assert bid_of("A9.9.A9.KQ", 100, rules=rules) == 100


def test_hands_that_are_passed() -> None:
    assert bid_of("J9.J9.J9.9", 100) == 0
    assert bid_of("J9.J9.Q9.9", 110, passed=1) == 0
    assert bid_of("T9.T9.T9.J", 140) == 0


def test_no_bid_is_above_what_the_hand_may_make() -> None:
    hand = parse_hand("AKQ.AT.A.A")
    assert expert_bid(PARAMETERS, hand, 170, 160, 1, 0) == 0


def test_a_marriage_and_its_ace_are_kept() -> None:
    hand = parse_hand("AKQ9.J9.J9.AJ")
    gifts = int(expert_gifts(PARAMETERS, hand))
    given = 1 << (gifts & 31) | 1 << (gifts >> 5)
    assert given.bit_count() == 2
    assert given & hand == given
    assert given & parse_hand("AKQ...A") == 0


def test_a_sure_contract_is_raised_and_a_doubtful_one_is_not() -> None:
    sure = parse_hand("A.AKQT.AKQ.")
    assert expert_contract(PARAMETERS, sure, 100, 300, 10) >= 180
    weak = parse_hand("T9.T9.AJ.Q9")
    assert expert_contract(PARAMETERS, weak, 100, 120, 10) == 100


def test_only_lost_deals_are_given_up() -> None:
    good = parse_hand("A9.AKQJ.A.AT9")
    bad = parse_hand("J9.QJ9.QJ9.J9")
    assert expert_concession(PARAMETERS, good, 100, 100, 60) == 0
    assert expert_concession(PARAMETERS, bad, 140, 0, 60) == 1
    assert expert_concession(PARAMETERS, bad, 100, 400, 60) == 0


# -- what a hand is worth ------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["mil", "clubs-100"])
def test_the_worth_is_the_sum_of_its_places(rules: str) -> None:
    chosen = load(rules)
    fields, parameters = packed(chosen), kernel_parameters(chosen)
    places = np.empty(bidding.MOST_MODEL_PLACES, np.int64)
    model = bidding.AT_MODEL_7
    for hand in hand_masks_table()[::4999].tolist():
        count = int(hand_places(fields, hand, places))
        worth = int(hand_worth(parameters, model, bidding.AT_SUITS_7, hand))
        assert worth == parameters[model + places[:count]].sum()


def test_worths_are_calibrated() -> None:
    """Predicted and played declarer points of forehand's seven cards, by class of prediction."""
    plan = Plan.make(deals=40_000, seed=97, policy="expert", mode="declarer")
    points: dict[int, list[int]] = {}
    from milsim.dealing import masks_of_deals

    for chunk in play(plan, threads=1):
        hands = masks_of_deals(chunk.deals).forehand.tolist()
        taken = chunk.values[columns.DECLARER_POINTS].tolist()
        for hand, got in zip(hands, taken, strict=True):
            worth = hand_worth(PARAMETERS, bidding.AT_MODEL_7, bidding.AT_SUITS_7, hand)
            points.setdefault(int(worth) // 2500, []).append(100 * got - int(worth))
    for group in points.values():
        if len(group) > 1000:
            error = np.std(group) / np.sqrt(len(group))
            assert abs(np.mean(group)) < 4 * error + 400


# -- the play ------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), role=st.integers(0, 2))
def test_the_card_depends_on_what_is_seen_alone(seed: int, role: int) -> None:
    """No argument holds a hidden card: the same view twice gives the same legal card."""
    random = np.random.default_rng(seed)
    order = random.permutation(24)
    hand = sum(1 << int(card) for card in order[:5])
    seen = sum(1 << int(card) for card in order[5:14])
    view = (PARAMETERS, FIELDS, play_flags(FIELDS), hand, hand, 0, 0, 0, 4, seen, role)
    first = int(expert_card(*view, ALL_CARDS, ALL_CARDS, 60))
    # What is held or played may stand in the masks of the others or not.
    again = int(expert_card(*view, ALL_CARDS & ~hand, ALL_CARDS & ~seen, 60))
    assert first == again
    assert first & hand == first
    assert first.bit_count() == 1


@pytest.mark.parametrize("rules", ["mil", "gamerules"])
def test_it_beats_greedy_on_the_same_deals(rules: str) -> None:
    """20,000 deals, one expert among two greedy in each seat: score against the others' mean."""
    gained = np.zeros(20_000)
    for seat in range(3):
        policies = ["greedy"] * 3
        policies[seat] = "expert"
        values = played(",".join(policies), 20_000, 20, rules)
        scores = values[columns.SCORE_BY_SEAT : columns.SCORE_BY_SEAT + 3].astype(float)
        gained += (1.5 * scores[seat] - scores.sum(axis=0) / 2) / 3
    error = gained.std() / np.sqrt(len(gained))
    assert gained.mean() - 3 * error > 8


# -- the file ------------------------------------------------------------------------------------


def test_the_file_is_what_its_writer_writes() -> None:
    array = kernel_parameters(MIL)
    text = expert_parameters.to_toml(array, "# head")
    again = expert_parameters.from_toml(text, "again")
    assert (again[: bidding.FITTED_SIZE] == array[: bidding.FITTED_SIZE]).all()


def test_a_table_of_a_wrong_size_is_refused() -> None:
    text = expert_parameters.to_toml(kernel_parameters(MIL), "# head")
    with pytest.raises(PolicyError, match=r"x: bid.half has 13 numbers, not 12"):
        expert_parameters.from_toml(text.replace("\nhalf = [", "\nhalf = [1, ", 1), "x")


def test_a_number_beyond_the_tables_is_refused() -> None:
    text = expert_parameters.to_toml(kernel_parameters(MIL), "# head")
    with pytest.raises(PolicyError, match=r"x: bid.half has numbers beyond 32767"):
        expert_parameters.from_toml(
            re.sub(r"\nhalf = \[-?\d+", "\nhalf = [32768", text, count=1), "x"
        )


def test_the_tables_fill_the_array() -> None:
    places = sorted(expert_parameters.places().values())
    assert places[0][0] == 0
    assert all(end == first for (_, end), (first, _) in pairwise(places))
    assert places[-1][1] == bidding.FITTED_SIZE
    assert expert_play.PLAY_SIZE == bidding.AT_MODEL_7
