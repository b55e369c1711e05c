"""Whole matches of the specification: random legal acts to the end, in presets and drawn rules.

Seats and players fit each other in every deal, a game knows what the match stands at, what does not
count changes nothing but the dealer, and the history scores again to the same end.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milsim.deals import N_DEALS, Deal
from milsim.errors import DealError, IllegalActError, RulesError
from milsim.reference import (
    Bid,
    Concession,
    Contract,
    Game,
    Match,
    MatchState,
    Operation,
    Pass,
    Phase,
    Play,
    RedealRequest,
    after_game,
    redealt,
    replay,
    talon_score,
)
from milsim.rules import Rules, load, preset_names
from tests.rule_cases import Changes, rules_with
from tests.strategies import WITH_MATCH, rule_sets

PLAIN = Deal.from_id(688_907_321_587)
UNCOUNTED_IN_A_ROW = 20


def any_deal(random: Random) -> Deal:
    return Deal.from_id(random.randrange(N_DEALS))


def choose(random: Random, game: Game) -> Operation:
    """A legal act: mostly low bids, high cards of the declarer's and low ones of the others.

    So contracts are made, and matches end.
    """
    acts = list(game.legal_acts())
    if random.random() < 0.95:
        acts = [act for act in acts if not isinstance(act, RedealRequest | Concession)] or acts
    amounts: list[Operation] = [act for act in acts if isinstance(act, Bid | Contract)]
    if amounts and random.random() < 0.9:
        passes: list[Operation] = [act for act in acts if isinstance(act, Pass)]
        return random.choice([*passes, amounts[0]])
    plays = [act for act in acts if isinstance(act, Play)]
    declaring: list[Operation] = [act for act in plays if act.declares]
    if plays and not declaring and random.random() < 0.8:
        pick = max if game.actor == game.declarer else min
        return pick(plays, key=lambda act: act.card % 6)
    return random.choice(declaring or acts)


def play_out(random: Random, game: Game) -> Game:
    while game.phase is not Phase.OVER:
        game.apply(choose(random, game))
    return game


def play_match(random: Random, rules: str | Rules, most: int, first_dealer: int | None) -> Match:
    """A match to its end, to ``most`` deals, or until nothing counts any more."""
    match = Match(rules, first_dealer)
    uncounted = 0
    while not match.is_over and match.state.deals < most and uncounted < UNCOUNTED_IN_A_ROW:
        game = play_out(random, match.game(any_deal(random)))
        before = match.state
        after = match.finish(game)
        uncounted = 0 if after.deals > before.deals else uncounted + 1
    return match


def assert_match_is_sound(match: Match) -> None:
    rules = match.rules
    state = match.history[0].before
    assert state.deals == 0
    for each in match.history:
        assert each.before == state
        each.after.check(rules)
        assert_deal_is_sound(rules, each.before, each.game, each.after)
        assert after_game(rules, each.before, each.game) == each.after
        assert MatchState.from_dict(each.after.to_dict()) == each.after
        state = each.after
    assert match.state == state


def assert_deal_is_sound(rules: Rules, before: MatchState, game: Game, after: MatchState) -> None:
    result = game.result
    assert result is not None
    assert before.winner is None
    players = before.players
    # the seats: forehand is after the dealer, of four the dealer sits out, of three he is rearhand
    assert before.active == tuple((before.dealer + seat) % players for seat in (1, 2, 3))
    assert game.match_scores == tuple(before.scores[player] for player in before.active)
    assert game.concessions == tuple(before.concessions[player] for player in before.active)
    assert game.on_barrel == tuple(before.on_barrel[player] for player in before.active)
    assert game.golden == (rules.match.golden != "off" and before.deals < players)
    if result.ended in ("redeal", "passed_out"):
        assert after == redealt(rules, before, result.next_dealer)
        assert after.scores == before.scores
        return
    assert result.next_dealer
    assert after.dealer == (before.dealer + 1) % players
    assert after.deals == before.deals + 1
    # who has no event, and did not stand on the barrel, gets what the deal is worth
    worth = dict(zip(before.active, result.scores, strict=True))
    if before.sitter is not None:
        doubled = game.golden and rules.match.golden == "forehand_plays_120"
        worth[before.sitter] = talon_score(game.deal.talon, rules) * (2 if doubled else 1)
    for player in range(players):
        if not after.events[player] & ~512 and not before.on_barrel[player]:
            assert after.scores[player] == before.scores[player] + worth[player]
    assert result.declarer is not None
    conceded = [now - then for now, then in zip(after.concessions, before.concessions, strict=True)]
    assert sum(conceded) == (result.ended == "conceded")
    if result.ended == "conceded":
        assert conceded[before.active[result.declarer]] == 1


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("players", [3, 4])
def test_whole_matches_of_every_preset(preset: str, players: int) -> None:
    random = Random(f"{preset} {players}")
    rules = rules_with(preset, {"deal.players": players, "match.max_deals": 25})
    match = play_match(random, rules, 25, random.randrange(players))
    assert match.is_over
    assert (match.winner is None) == (match.state.deals == 25 and max(match.state.scores) < 1000)
    assert_match_is_sound(match)


@pytest.mark.parametrize("preset", preset_names())
def test_short_matches_of_every_preset_are_won(preset: str) -> None:
    """All distances to the target stay, so that locks and barrels are reached soon."""
    near = load(preset).match
    changes: Changes = {"match.max_deals": 300, "match.dump_truck": "off"}
    for name in ("target", "lock", "defender_cap", "barrel"):
        value = getattr(near, name)
        if value != "off":
            changes[f"match.{name}"] = value - (near.target - 300) // 10 * 10
    match = play_match(Random(preset), rules_with(preset, changes), 300, None)
    assert_match_is_sound(match)
    assert match.winner is not None


@settings(max_examples=40)
@given(rules=rule_sets(WITH_MATCH), seed=st.integers(0, 2**32 - 1))
def test_whole_matches_of_drawn_rules(rules: Rules, seed: int) -> None:
    random = Random(seed)
    match = play_match(random, rules, 8, random.randrange(rules.deal.players))
    assert_match_is_sound(match)


def test_a_match_replays_from_its_history() -> None:
    first = play_match(Random(5), "pagat", 12, None)
    again = Match("pagat")
    for each in first.history:
        state = again.state
        game = replay(
            each.game.deal,
            again.rules,
            each.game.operations,
            scores=state.by_seat(state.scores),
            concessions=state.by_seat(state.concessions),
            on_barrel=state.by_seat(state.on_barrel),
            golden=state.is_golden(again.rules),
        )
        assert game == each.game
        again.finish(game)
    assert again.state == first.state


# -- single points ---------------------------------------------------------------------------------


def test_first_dealer() -> None:
    assert Match("mil").state.forehand == 0
    assert Match("mil", 0).state.forehand == 1
    four = rules_with("mil", {"deal.players": 4})
    assert (Match(four).state.sitter, Match(four).state.active) == (3, (0, 1, 2))
    assert Match(four, 1).state.active == (2, 3, 0)
    with pytest.raises(DealError, match="dealer must be a player 0 to 2, got 3"):
        Match("mil", 3)
    with pytest.raises(RulesError, match="unknown rules"):
        Match("mill")


def test_all_passed_and_the_dealer() -> None:
    for all_pass, dealer in (("redeal_same", 2), ("redeal_next", 0)):
        rules = rules_with(
            "mil", {"auction.opener": "forehand_may_pass", "auction.all_pass": all_pass}
        )
        match = Match(rules)
        game = match.game(PLAIN)
        for _ in range(3):
            game.pass_()
        after = match.finish(game)
        assert (after.dealer, after.deals, after.scores) == (dealer, 0, (0, 0, 0))


def test_a_new_deal_by_a_right_and_the_dealer() -> None:
    for who, dealer in (("same", 2), ("next", 0)):
        rules = rules_with("mil", {"deal.redeal_dealer": who, "deal.low_talon_points": 33})
        match = Match(rules)
        game = match.game(PLAIN)
        game.bid(100)
        game.pass_()
        game.pass_()
        game.take_talon()
        game.request_redeal()
        assert (match.finish(game).dealer, match.state.deals) == (dealer, 0)
        assert match.history[0].game is game


def test_golden_deals_go_round_the_table() -> None:
    rules = rules_with("mil", {"match.golden": "forehand_plays_120", "match.max_deals": 5})
    match = play_match(Random(1), rules, 5, None)
    counted = [each for each in match.history if each.after.deals > each.before.deals]
    declarers = [each.before.active[each.game.declarer or 0] for each in counted[:3]]
    assert [each.game.golden for each in counted] == [True, True, True, False, False]
    assert declarers == [0, 1, 2]


def test_concessions_are_counted_by_player() -> None:
    rules = rules_with("mil", {"talon.concede": "before_gifts", "talon.concede_limit": 1})
    match = Match(rules)
    for number in range(3):
        game = match.game(PLAIN)
        game.bid(100)
        game.pass_()
        game.pass_()
        game.take_talon()
        game.concede()
        assert match.finish(game).concessions == tuple(int(each <= number) for each in range(3))
    assert match.state.scores == (20, 20, 20)
    game = match.game(PLAIN)
    assert game.concessions == (1, 1, 1)
    game.bid(100)
    game.pass_()
    game.pass_()
    game.take_talon()
    with pytest.raises(IllegalActError, match="the limit is 1"):
        game.concede()


def test_finish_refuses() -> None:
    match = Match("mil")
    game = match.game(PLAIN)
    with pytest.raises(IllegalActError, match="finish: the deal is not over, it is in auction"):
        match.finish(game)
    play_out(Random(1), game)
    other = Game(PLAIN, "mil", scores=(10, 0, 0))
    play_out(Random(1), other)
    with pytest.raises(IllegalActError, match="finish: match_scores of the game are not those"):
        match.finish(other)
    with pytest.raises(IllegalActError, match="finish: rules of the game are not those"):
        match.finish(play_out(Random(1), Game(PLAIN, "gamerules")))
    match.finish(game)
    with pytest.raises(IllegalActError, match="finish: match_scores of the game"):
        match.finish(game)


def test_no_deal_after_the_end() -> None:
    match = Match(rules_with("mil", {"match.max_deals": 1}))
    assert match.max_deals == 1
    match.finish(play_out(Random(1), match.game(PLAIN)))
    assert match.is_over
    with pytest.raises(IllegalActError, match="deal: the match is over after 1 deals"):
        match.game(PLAIN)
    short = Match(rules_with("mil", {"match.target": 100, "match.lock": "off",
                                     "match.defender_cap": "off"}))  # fmt: skip
    random = Random(3)
    while not short.is_over:
        short.finish(play_out(random, short.game(any_deal(random))))
    with pytest.raises(IllegalActError, match=f"the match is over, player {short.winner} has won"):
        short.game(PLAIN)


@pytest.mark.parametrize("scores", [(-120, 0, 0), (-121, -500, 0)])
def test_silence_goes_by_the_scores_of_the_match(scores: tuple[int, ...]) -> None:
    match = Match("russian")
    match.state = MatchState.of_scores("russian", scores)
    game = match.game(PLAIN)
    legal: Any = game.legal_acts()
    assert legal == (Bid(0, 100),)  # compulsory; a dark bid is none
    game.bid(100)
    assert (game.legal_bids() == ()) == (scores[1] <= -120)
