"""Auction, contract and rights to a new deal against RULES.md: cases of §4 and whole auctions."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from milsim import auction
from milsim._jit import jit_enabled, kernel_signatures
from milsim.auction import BID, DECLARER, HOLDER, NOBODY, PASSED, SILENT, TURN
from milsim.cards import parse_hand
from milsim.rules import Rules, load, packed

PLAIN = parse_hand("AT9.J9.T.9")  # no marriage
HEARTS = parse_hand("AT9.KQ.T.9")


def changed(table: str, **fields: Any) -> Rules:
    rules = load("mil")
    return replace(rules, **{table: replace(getattr(rules, table), **fields)})


def started(rules: Rules) -> NDArray[np.int64]:
    state = np.empty(auction.AUCTION_SIZE, np.int64)
    auction.auction_start(state, packed(rules))
    return state


def after(rules: Rules, *acts: int) -> NDArray[np.int64]:
    """The auction after some acts: a bid, or 0 for a pass."""
    state, array = started(rules), packed(rules)
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
    assert auction.hand_rights(nines, packed(load("mil"))) == auction.FOUR_NINES
    assert auction.kept_rights(nines, packed(load("mil"))) == 0
    assert auction.hand_rights(nines, packed(load("gamerules"))) == 0
    assert auction.kept_rights(nines, packed(load("gamerules"))) == auction.FOUR_NINES
    assert auction.hand_rights(nines, packed(changed("deal", four_nines="off"))) == 0
    must = auction.hand_rights(nines, packed(changed("deal", four_nines="mandatory")))
    assert must == auction.FOUR_NINES | auction.MUST_REDEAL


def test_case_15_a_bid_stands_though_half_of_the_marriage_is_given_away() -> None:
    ten, kept = parse_hand("AT9.KQ9.T.AT9"), parse_hand("AT9.K9.T.AT")
    array = packed(load("mil"))
    assert auction.contract_range(130, kept, ten, array) == (130, 130)
    assert auction.contract_range(110, kept, ten, array) == (110, 120)
    assert auction.contract_range(130, ten, ten, array) == (130, 220)
    by_ten = packed(changed("talon", cap_basis="hand10"))
    assert auction.contract_range(130, kept, ten, by_ten) == (130, 220)
    never = packed(changed("talon", raise_contract=False))
    assert auction.contract_range(110, ten, ten, never) == (110, 110)


def test_case_17_an_equal_bid_is_refused_and_who_passed_stays_out() -> None:
    state = after(load("mil"), 0)  # middlehand passes
    assert auction.legal_bids(state, PLAIN, packed(load("mil"))) == (110, 120, 10)
    assert shown(after(load("mil"), 0, 110)) == (110, 2, 0, NOBODY)
    assert shown(after(load("mil"), 0, 110, 120)) == (120, 0, 2, NOBODY)  # not middlehand's turn
    assert shown(after(load("mil"), 0, 110, 120, 0)) == (120, 0, NOBODY, 0)


def test_case_18_the_forced_opener_plays_the_minimum() -> None:
    assert shown(started(load("mil"))) == (100, 0, 1, NOBODY)
    assert shown(after(load("mil"), 0, 0)) == (100, 0, NOBODY, 0)
    assert auction.contract_range(100, HEARTS, HEARTS, packed(load("mil"))) == (100, 220)
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
        assert auction.highest_allowed(PLAIN, array) == plain
        assert auction.highest_allowed(HEARTS, array) == hearts
    odd = replace(
        load("mil"),
        deal=replace(
            load("mil").deal, marriage_values=replace(load("mil").deal.marriage_values, hearts=45)
        ),
    )
    assert auction.highest_allowed(HEARTS, packed(odd)) == 160  # 165 is no multiple of ten


def test_a_silent_seat_can_only_pass() -> None:
    rules = load("mil")
    state = started(rules)
    state[SILENT] = 0b010
    lowest, highest, _ = auction.legal_bids(state, HEARTS, packed(rules))
    assert lowest > highest


# ----------------------------------------------------------------------------- rights to a new deal


def test_low_hand() -> None:
    low, married = parse_hand("J9.J9.J9.9"), parse_hand("KQ9.9.9.J9")
    array = packed(load("mil"))
    assert auction.hand_rights(low, array) == auction.LOW_HAND | auction.FOUR_NINES
    assert auction.hand_rights(married, array) == auction.FOUR_NINES
    any_hand = packed(changed("deal", low_hand_marriage="any_hand"))
    assert auction.hand_rights(married, any_hand) & auction.LOW_HAND
    ten = parse_hand("T9.J9.9.")
    assert auction.hand_rights(ten, array) == 0
    assert auction.hand_rights(ten, packed(changed("deal", low_hand=14))) == auction.LOW_HAND
    assert auction.hand_rights(parse_hand("9.9..9"), packed(changed("deal", low_hand=0))) == 0


def test_low_talon() -> None:
    talon = parse_hand("9.9.J.")
    assert auction.talon_rights(talon, 100, packed(load("mil"))) == 0
    points = packed(changed("deal", low_talon_points=5, low_talon_at="minimum_only"))
    assert auction.talon_rights(talon, 100, points) == auction.LOW_TALON_POINTS
    assert auction.talon_rights(talon, 110, points) == 0
    assert auction.talon_rights(parse_hand("9.9.Q.J"), 100, points) == 0
    nines = packed(changed("deal", low_talon_nines=2))
    assert auction.talon_rights(talon, 130, nines) == auction.LOW_TALON_NINES
    assert auction.talon_rights(parse_hand("9.A.J."), 130, nines) == 0


def test_what_kernels_do_not_play_is_said() -> None:
    assert auction.unsupported_in_kernels(load("gamerules")) == []
    for table, fields in (
        ("auction", {"silence_below": -120}),
        ("auction", {"dark": True}),
        ("talon", {"concede": "before_gifts"}),
        ("match", {"golden": "minimum_120"}),
    ):
        rules = changed(table, **fields)
        assert auction.unsupported_in_kernels(rules) == [f"{table}.{next(iter(fields))}"]


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
