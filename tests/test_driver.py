"""The driver plays the very deals of the kernels, whoever is asked; what it asks with is honest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from milsim.dealing import DealSpace, kernel_ranks, sample_deals
from milsim.deals import Deal
from milsim.errors import PolicyError
from milsim.knowledge import Knowledge, view
from milsim.policies.expert_parameters import kernel_parameters, parameters_for
from milsim.policies.players import KernelPlayer
from milsim.policies.seen import TableRules
from milsim.reference import (
    Bid,
    Concession,
    Contract,
    Game,
    Gift,
    Pass,
    Phase,
    Play,
    TalonTaken,
)
from milsim.rng import policy_key
from milsim.rules import load, packed, preset_names, with_fields
from milsim.simulation.columns import N_COLUMNS
from milsim.simulation.deal_kernel import COUNTS, MINIMUM_IN_FORCE, SCORES, play_deals
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.driver_runs import drive_deals, drive_matches
from milsim.simulation.match_columns import N_MATCH_COLUMNS, N_MATCH_DEAL_COLUMNS
from milsim.simulation.match_kernel import PROGRESS_SIZE, play_matches

PRESETS = preset_names()


def deals_both_ways(rules, policies, auction, n=60, seed=7, start=3, parameters=None):
    space, ranks = DealSpace().packed(), kernel_ranks()
    found = []
    for driven in (False, True):
        deals = np.zeros(n, np.int64)
        out = np.zeros((N_COLUMNS, n), np.int16)
        tail = (seed, start, auction)
        if driven:
            players = [KernelPlayer(number) for number in policies]
            by = TableRules.of(load(rules))
            args = (players, ("a", "b", "c"), by, *tail)
            outcome = drive_deals(*args, space.header, space.hands, ranks, deals, out)
        else:
            chosen = load(rules)
            numbers = np.array(policies, np.int64)
            given = parameters_for(chosen, policies) if parameters is None else parameters
            args = (*tail, given, packed(chosen), numbers)
            outcome = play_deals(*args, space.header, space.hands, ranks, deals, out)
        found.append((int(outcome), deals, out))
    return found


@pytest.mark.parametrize("policies", [(1, 1, 1), (0, 0, 0), (0, 1, 0)])
@pytest.mark.parametrize("auction", [0, 1])
@pytest.mark.parametrize("rules", PRESETS)
def test_rows_of_the_driver_are_those_of_the_kernel(rules, auction, policies):
    kernel, driven = deals_both_ways(rules, policies, auction)
    assert kernel[0] == driven[0]
    assert (kernel[1] == driven[1]).all()
    assert (kernel[2] == driven[2]).all()


@pytest.mark.parametrize("auction", [0, 1])
def test_code_without_expert_plays_as_the_code_with_it(auction):
    without, _ = deals_both_ways("mil", (1, 0, 1), auction)
    given = kernel_parameters(load("mil"))
    having, _ = deals_both_ways("mil", (1, 0, 1), auction, parameters=given)
    assert (without[1] == having[1]).all()
    assert (without[2] == having[2]).all()


@pytest.mark.parametrize("auction", [0, 1])
@pytest.mark.parametrize("shown", ["if_contested", "never"])
def test_rows_of_the_driver_where_the_talon_is_not_always_shown(shown, auction):
    rules = with_fields(load("mil"), {"talon.shown": shown, "auction.dark": True})
    kernel, driven = deals_both_ways(rules, (2, 2, 2), auction, n=150)
    assert (kernel[2] == driven[2]).all()


@pytest.mark.parametrize("rules", PRESETS)
def test_matches_of_the_driver_are_those_of_the_kernel(rules):
    chosen = load(rules)
    n, room = 2, 2 * chosen.match.max_deals
    space, ranks = DealSpace().packed(), kernel_ranks()
    policies = np.array([1, 0, 1, 1], np.int64)
    found = []
    for driven in (False, True):
        deals = np.zeros(room, np.int64)
        out = np.zeros((N_COLUMNS, room), np.int16)
        rows = np.zeros((N_MATCH_DEAL_COLUMNS, room), np.int32)
        results = np.zeros((N_MATCH_COLUMNS, n), np.int32)
        progress = np.zeros(PROGRESS_SIZE, np.int64)
        tables = (space.header, space.hands, ranks, deals, out, rows, results, progress)
        if driven:
            players = [KernelPlayer(int(number)) for number in policies]
            by = TableRules.of(chosen)
            drive_matches(players, ("a", "b", "c", "d"), by, 5, 11, *tables)
        else:
            play_matches(5, 11, kernel_parameters(chosen), packed(chosen), policies, *tables)
        found.append(tables[3:])
    for mine, theirs in zip(*found, strict=True):
        assert (mine == theirs).all()


class Recorder(KernelPlayer):
    """Keeps what it was asked with: the view and the knowledge, by phase and number of acts."""

    def __init__(self, number):
        super().__init__(number)
        self.seen = {}

    def note(self, seen):
        table = seen.table
        at = (table.phase, len(table.calls), len(table.cards))
        assert at not in self.seen or self.seen[at][0] == seen.view()
        self.seen[at] = (seen.view(), seen.knowledge().copy())

    def bid(self, seen, hands):
        assert hands is None
        self.note(seen)
        return super().bid(seen, hands)

    def gifts(self, seen, hands):
        self.note(seen)
        return super().gifts(seen, hands)

    def name_contract(self, seen, hands):
        self.note(seen)
        return super().name_contract(seen, hands)

    def card(self, seen, hands):
        assert hands is None
        self.note(seen)
        return super().card(seen, hands)


def acts_of(driven):
    table = driven.table
    yield from table.calls
    declarer = table.declarer
    yield TalonTaken(declarer)
    for _, receiver, card in driven.seats[declarer].gifts:
        yield Gift(declarer, receiver, card.bit_length() - 1)
    yield Contract(declarer, table.contract)
    for play in table.cards:
        yield Play(play.seat, play.card.bit_length() - 1, play.declares)


@pytest.mark.parametrize("rules", PRESETS)
def test_what_a_seat_sees_is_what_the_reference_lets_it_see(rules):
    chosen = load(rules)
    by = TableRules.of(chosen)
    driven = DrivenDeal(by, ("a", "b", "c"))
    driven.situation[MINIMUM_IN_FORCE] = chosen.auction.minimum
    checked = 0
    for index, deal in enumerate(sample_deals(12, seed=3)):
        deal = Deal.from_id(int(deal))
        players = [Recorder(1) for _ in range(3)]
        dealt = (*deal.hand_masks, deal.talon_mask)
        if driven.play(dealt, players, policy_key(3, index, 0)) != COUNTS:
            continue
        game = Game(deal, chosen)
        calls = cards = 0
        for act in acts_of(driven):
            if game.actor is None or game.phase not in (
                Phase.AUCTION,
                Phase.GIFTS,
                Phase.CONTRACT,
                Phase.PLAY,
            ):
                game.apply(act)
                continue
            recorded = players[game.actor].seen.get((game.phase, calls, cards))
            if recorded is not None and not (game.phase is Phase.GIFTS and game.gifts):
                seen = view(game, game.actor)
                mine, state = recorded
                offered = tuple(
                    one
                    for one in seen.legal_acts
                    if not isinstance(one, Concession) and not (isinstance(one, Bid) and one.dark)
                )
                assert mine.legal_acts == offered
                assert mine == replace(seen, legal_acts=offered)
                assert (Knowledge(seen).state == state).all()
                checked += 1
            calls += isinstance(act, Bid | Pass)
            cards += isinstance(act, Play)
            game.apply(act)
        assert game.result.scores == tuple(driven.deal[SCORES : SCORES + 3])
    assert checked > 50


def test_a_mistake_of_a_policy_names_policy_deal_and_decision():
    class Bad(KernelPlayer):
        def card(self, seen, hands):
            raise ZeroDivisionError("division\nby zero")

    class Revoking(KernelPlayer):
        def card(self, seen, hands):
            return 24

    space, ranks = DealSpace().packed(), kernel_ranks()
    by = TableRules.of(load("mil"))
    for player, words in (
        (Bad(1), "policy bad: deal 5, forehand, card of trick 1: ZeroDivisionError: division by"),
        (Revoking(1), "policy bad: deal 5, forehand, card of trick 1: 24 is not legal; legal are"),
    ):
        with pytest.raises(PolicyError, match=words):
            drive_deals(
                [player] * 3,
                ["bad"] * 3,
                by,
                1,
                5,
                0,
                space.header,
                space.hands,
                ranks,
                np.zeros(1, np.int64),
                np.zeros((N_COLUMNS, 1), np.int16),
            )
