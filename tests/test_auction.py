"""Auction, contract and rights to a new deal against RULES.md: cases of §4 and whole auctions."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from milsim import auction, rights
from milsim._jit import jit_enabled, kernel_signatures
from milsim.auction import BID, DARK, DECLARER, HOLDER, NOBODY, PASSED, TURN
from milsim.cards import parse_hand
from milsim.rules import Rules, load, packed

PLAIN = parse_hand("AT9.J9.T.9")  # no marriage
HEARTS = parse_hand("AT9.KQ.T.9")


def changed(table: str, **fields: Any) -> Rules:
    rules = load("mil")
    return replace(rules, **{table: replace(getattr(rules, table), **fields)})


def started(
    rules: Rules, minimum: int | None = None, silent: int = 0, dark: bool = False
) -> NDArray[np.int64]:
    state = np.empty(auction.AUCTION_SIZE, np.int64)
    lowest = rules.auction.minimum if minimum is None else minimum
    auction.auction_start(state, lowest, silent, packed(rules))
    if dark:
        assert auction.may_bid_dark(state, packed(rules))
        auction.bid_dark(state)
    return state


def after(rules: Rules, *acts: int, **started_as: Any) -> NDArray[np.int64]:
    """The auction after some acts: a bid, or 0 for a pass."""
    state, array = started(rules, **started_as), packed(rules)
    for points in acts:
        assert state[TURN] != NOBODY
        if points:
            auction.bid(state, points, array)
        else:
            auction.pass_turn(state, array)
    return state


def shown(state: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(int(state[place]) for place in (BID, HOLDER, TURN, DECLARER))


# ------------------------------------------------------------------- RULES.md §4, by case number


def test_case_14_four_nines_in_7_cards_and_in_8_are_different_rights() -> None:
    nines = parse_hand("AT9.AT9.9.9")
    assert rights.hand_rights(nines, packed(load("mil"))) == rights.FOUR_NINES
    assert rights.kept_rights(nines, packed(load("mil"))) == 0
    assert rights.hand_rights(nines, packed(load("gamerules"))) == 0
    assert rights.kept_rights(nines, packed(load("gamerules"))) == rights.FOUR_NINES
    assert rights.hand_rights(nines, packed(changed("deal", four_nines="off"))) == 0
    must = rights.hand_rights(nines, packed(changed("deal", four_nines="mandatory")))
    assert must == rights.FOUR_NINES | rights.MUST_REDEAL


def test_case_15_a_bid_stands_though_half_of_the_marriage_is_given_away() -> None:
    ten, kept = parse_hand("AT9.KQ9.T.AT9"), parse_hand("AT9.K9.T.AT")
    array = packed(load("mil"))
    assert auction.contract_range(130, kept, ten, 100, array) == (130, 130)
    assert auction.contract_range(110, kept, ten, 100, array) == (110, 120)
    assert auction.contract_range(130, ten, ten, 100, array) == (130, 220)
    by_ten = packed(changed("talon", cap_basis="hand10"))
    assert auction.contract_range(130, kept, ten, 100, by_ten) == (130, 220)
    never = packed(changed("talon", raise_contract=False))
    assert auction.contract_range(110, ten, ten, 100, never) == (110, 110)


def test_case_17_an_equal_bid_is_refused_and_who_passed_stays_out() -> None:
    state = after(load("mil"), 0)  # middlehand passes
    assert auction.legal_bids(state, PLAIN, packed(load("mil"))) == (110, 120, 10)
    assert shown(after(load("mil"), 0, 110)) == (110, 2, 0, NOBODY)
    assert shown(after(load("mil"), 0, 110, 120)) == (120, 0, 2, NOBODY)  # not middlehand's turn
    assert shown(after(load("mil"), 0, 110, 120, 0)) == (120, 0, NOBODY, 0)


def test_case_18_the_forced_opener_plays_the_minimum() -> None:
    assert shown(started(load("mil"))) == (100, 0, 1, NOBODY)
    assert shown(after(load("mil"), 0, 0)) == (100, 0, NOBODY, 0)
    assert auction.contract_range(100, HEARTS, HEARTS, 100, packed(load("mil"))) == (100, 220)
    raises = changed("auction", passing="final_last_may_raise")
    state = after(raises, 0, 0)
    assert shown(state) == (100, 0, 0, NOBODY)
    assert auction.legal_bids(state, PLAIN, packed(raises)) == (110, 120, 10)
    assert shown(after(raises, 0, 0, 0)) == (100, 0, NOBODY, 0)
    assert shown(after(raises, 0, 0, 120)) == (120, 0, NOBODY, 0)
    assert shown(after(raises, 110, 0, 0)) == (110, 1, NOBODY, 1)


# --------------------------------------------------------------------------- openers, all passing


def test_gamerules_the_dealer_plays_after_two_passes() -> None:
    rules = load("gamerules")
    assert shown(started(rules)) == (0, NOBODY, 0, NOBODY)
    assert auction.legal_bids(started(rules), PLAIN, packed(rules)) == (100, 120, 5)
    assert auction.legal_bids(started(rules), HEARTS, packed(rules)) == (100, 400, 5)
    assert shown(after(rules, 0, 0)) == (100, 2, NOBODY, 2)
    assert shown(after(rules, 0, 105)) == (105, 1, 2, NOBODY)
    assert shown(after(rules, 105, 0, 0)) == (105, 0, NOBODY, 0)


@pytest.mark.parametrize("kind", ["redeal_same", "redeal_next"])
def test_a_new_deal_when_all_pass(kind: str) -> None:
    rules = changed("auction", opener="forehand_may_pass", all_pass=kind)
    state = after(rules, 0, 0)
    assert shown(state) == (0, NOBODY, 2, NOBODY)
    assert auction.legal_bids(state, PLAIN, packed(rules)) == (100, 120, 10)
    assert shown(after(rules, 0, 0, 0)) == (0, NOBODY, NOBODY, NOBODY)
    assert shown(after(rules, 0, 0, 120)) == (120, 2, NOBODY, 2)


def test_the_dealer_holds_the_minimum() -> None:
    rules = changed("auction", opener="dealer_holds")
    assert shown(started(rules)) == (100, 2, 0, NOBODY)
    assert auction.legal_bids(started(rules), PLAIN, packed(rules)) == (110, 120, 10)
    assert shown(after(rules, 0, 0)) == (100, 2, NOBODY, 2)
    assert shown(after(rules, 110, 0)) == (110, 0, 2, NOBODY)
    assert shown(after(rules, 110, 0, 0)) == (110, 0, NOBODY, 0)


def test_steps_and_caps() -> None:
    exact = changed("auction", raise_by="exact_step")
    assert auction.legal_bids(started(exact), HEARTS, packed(exact)) == (110, 110, 10)
    opening = changed("auction", raise_by="exact_step", opener="forehand_may_pass")
    assert auction.legal_bids(started(opening), HEARTS, packed(opening)) == (100, 100, 10)
    lowest, highest, _ = auction.legal_bids(after(exact, 110, 120), PLAIN, packed(exact))
    assert lowest > highest
    for cap, plain, hearts in (
        ("none", 400, 400),
        ("gate", 120, 400),
        ("marriages", 120, 220),
        ("fixed", 120, 120),
    ):
        array = packed(changed("auction", cap=cap))
        assert auction.highest_allowed(PLAIN, 100, array) == plain
        assert auction.highest_allowed(HEARTS, 100, array) == hearts
    odd = replace(
        load("mil"),
        deal=replace(
            load("mil").deal, marriage_values=replace(load("mil").deal.marriage_values, hearts=45)
        ),
    )
    assert auction.highest_allowed(HEARTS, 100, packed(odd)) == 160  # 165 is no multiple of ten


# ------------------------------------------------------------- what a match does to an auction


def test_a_silent_seat_makes_no_bid_but_what_is_compulsory() -> None:
    rules = changed("auction", silence_below=-120)
    assert [auction.is_silent(score, packed(rules)) for score in (-119, -120, -200)] == [
        False,
        True,
        True,
    ]
    assert not auction.is_silent(-5000, packed(load("mil")))
    state = started(rules, silent=0b010)
    lowest, highest, _ = auction.legal_bids(state, HEARTS, packed(rules))
    assert lowest > highest
    assert shown(started(rules, silent=0b001)) == (100, 0, 1, NOBODY)
    # He is overbid, and may not go on.
    lowest, highest, _ = auction.legal_bids(
        after(rules, 110, 0, silent=0b001), HEARTS, packed(rules)
    )
    assert lowest > highest
    dealer_plays = changed("auction", silence_below=-120, opener="forehand_may_pass")
    assert shown(after(dealer_plays, 0, 0, silent=0b100)) == (100, 2, NOBODY, 2)


def test_a_dark_bid_is_120_until_it_is_overbid() -> None:
    rules = changed("auction", dark=True)
    assert shown(started(rules, dark=True)) == (120, 0, 1, NOBODY)
    kept = after(rules, 0, 0, dark=True)
    assert (shown(kept), kept[DARK]) == ((120, 0, NOBODY, 0), 1)
    over = after(rules, 130, 0, 0, dark=True)
    assert (shown(over), over[DARK]) == ((130, 1, NOBODY, 1), 0)
    again = after(rules, 130, 0, 140, 0, dark=True)
    assert (shown(again), again[DARK]) == ((140, 0, NOBODY, 0), 0)
    may_pass = changed("auction", dark=True, opener="forehand_may_pass", raise_by="exact_step")
    assert shown(started(may_pass, dark=True)) == (120, 0, 1, NOBODY)


def test_who_raises_his_own_dark_bid_cancels_it() -> None:
    rules = changed("auction", dark=True, minimum=120, passing="final_last_may_raise")
    asked = after(rules, 0, 0, dark=True)
    assert (shown(asked), asked[DARK]) == ((120, 0, 0, NOBODY), 1)
    raised = after(rules, 0, 0, 130, dark=True)
    assert (shown(raised), raised[DARK]) == ((130, 0, NOBODY, 0), 0)
    stays = after(rules, 0, 0, 0, dark=True)
    assert (shown(stays), stays[DARK]) == ((120, 0, NOBODY, 0), 1)


@pytest.mark.parametrize(
    ("fields", "minimum", "silent", "allowed"),
    [
        ({}, 100, 0b000, True),
        ({}, 120, 0b000, True),
        ({}, 100, 0b001, False),
        ({}, 100, 0b110, True),
        ({"minimum": 130}, 130, 0b000, False),
        ({"opener": "dealer_holds"}, 100, 0b000, True),
        ({"opener": "dealer_holds"}, 120, 0b000, False),
        ({"dark": False}, 100, 0b000, False),
    ],
)
def test_when_forehand_may_bid_in_the_dark(
    fields: dict[str, Any], minimum: int, silent: int, allowed: bool
) -> None:
    rules = changed("auction", **{"dark": True, **fields})
    state = started(rules, minimum, silent)
    assert auction.may_bid_dark(state, packed(rules)) == allowed


def test_golden_deals_begin_at_120() -> None:
    rules = changed("match", golden="minimum_120")
    array = packed(rules)
    assert [auction.minimum_of(golden, array) for golden in (0, 1)] == [100, 120]
    assert auction.minimum_of(1, packed(changed("match", golden="forehand_plays_120"))) == 120
    assert shown(started(rules, 120)) == (120, 0, 1, NOBODY)
    low = packed(changed("auction", cap="fixed", cap_points=110))
    assert [auction.highest_allowed(PLAIN, minimum, low) for minimum in (100, 120)] == [110, 120]
    assert auction.contract_range(120, PLAIN, PLAIN, 120, low) == (120, 120)


# ----------------------------------------------------------------------------- rights to a new deal


def test_low_hand() -> None:
    low, married = parse_hand("J9.J9.J9.9"), parse_hand("KQ9.9.9.J9")
    array = packed(load("mil"))
    assert rights.hand_rights(low, array) == rights.LOW_HAND | rights.FOUR_NINES
    assert rights.hand_rights(married, array) == rights.FOUR_NINES
    any_hand = packed(changed("deal", low_hand_marriage="any_hand"))
    assert rights.hand_rights(married, any_hand) & rights.LOW_HAND
    ten = parse_hand("T9.J9.9.")
    assert rights.hand_rights(ten, array) == 0
    assert rights.hand_rights(ten, packed(changed("deal", low_hand=14))) == rights.LOW_HAND
    assert rights.hand_rights(parse_hand("9.9..9"), packed(changed("deal", low_hand=0))) == 0


def test_low_talon() -> None:
    talon = parse_hand("9.9.J.")
    assert rights.talon_rights(talon, 100, 100, packed(load("mil"))) == 0
    points = packed(changed("deal", low_talon_points=5, low_talon_at="minimum_only"))
    assert rights.talon_rights(talon, 100, 100, points) == rights.LOW_TALON_POINTS
    assert rights.talon_rights(talon, 110, 100, points) == 0
    assert rights.talon_rights(parse_hand("9.9.Q.J"), 100, 100, points) == 0
    nines = packed(changed("deal", low_talon_nines=2))
    assert rights.talon_rights(talon, 130, 100, nines) == rights.LOW_TALON_NINES
    assert rights.talon_rights(parse_hand("9.A.J."), 130, 100, nines) == 0


def test_the_low_talon_right_at_the_minimum_in_force() -> None:
    array = packed(changed("deal", low_talon_points=5, low_talon_at="minimum_only"))
    talon = parse_hand("9.9.J.")
    assert rights.talon_rights(talon, 120, 120, array) == rights.LOW_TALON_POINTS
    assert rights.talon_rights(talon, 120, 100, array) == 0


def test_when_a_deal_may_be_given_up() -> None:
    assert not rights.may_concede(0, 0, packed(load("mil")))
    thrice = packed(changed("talon", concede="before_gifts", concede_limit=3))
    assert [rights.may_concede(n, 0, thrice) for n in range(5)] == [True, True, True, False, False]
    assert not rights.may_concede(0, 1, thrice)
    always = packed(changed("talon", concede="before_first_lead", concede_on_barrel=True))
    assert rights.may_concede(100, 1, always)


# ---------------------------------------------------------------------------------- whole auctions


def test_whole_auctions_end_and_keep_the_rules() -> None:
    chance = random.Random(3)
    kinds = product(
        ("forehand_forced", "forehand_may_pass", "dealer_holds"),
        ("any_multiple", "exact_step"),
        ("final", "final_last_may_raise"),
        ("redeal_same", "dealer_plays"),
        ("none", "marriages", "fixed"),
    )
    for opener, raise_by, passing, all_pass, cap in kinds:
        rules = changed(
            "auction",
            opener=opener,
            raise_by=raise_by,
            passing=passing,
            all_pass=all_pass,
            cap=cap,
        )
        array = packed(rules)
        for _ in range(20):
            state = started(rules)
            willing = chance.random()
            out: set[int] = set()
            while state[TURN] != NOBODY:
                seat, made = int(state[TURN]), int(state[BID])
                assert seat not in out
                lowest, highest, step = auction.legal_bids(state, HEARTS, array)
                if lowest <= highest and chance.random() < willing:
                    points = chance.randrange(lowest, highest + 1, step)
                    assert points > made
                    auction.bid(state, points, array)
                    assert (state[BID], state[HOLDER]) == (points, seat)
                else:
                    auction.pass_turn(state, array)
                    if not state[auction.LAST_RAISE]:
                        out = {one for one in range(3) if state[PASSED] >> one & 1}
                        assert seat in out or state[TURN] == NOBODY
            if state[DECLARER] == NOBODY:
                assert (opener, all_pass, state[BID]) == ("forehand_may_pass", "redeal_same", 0)
            else:
                assert state[DECLARER] == state[HOLDER]
                assert state[BID] >= 100
                assert state[BID] % 10 == 0


def test_no_kernel_uses_anything_but_whole_numbers() -> None:
    after(load("mil"), 0, 110)
    auction.legal_bids(started(load("mil")), PLAIN, packed(load("mil")))
    found = [one for one in kernel_signatures() if one.kernel.startswith("milsim.auction.")]
    assert bool(found) == jit_enabled()
    for one in found:
        words = " ".join((one.result, *one.arguments))
        assert "float" not in words, one
        assert "uint" not in words, one
