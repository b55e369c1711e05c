"""Whole random games of the specification, in presets and in drawn rule sets.

Number 20 of the cases of RULES.md §4: the points of a deal add up and every marriage is scored at
most once; and what is listed as legal is what is accepted, and a log replays to the same state.
"""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from milsim.deals import Deal
from milsim.reference import (
    Bid,
    Concession,
    Contract,
    Game,
    Gift,
    Operation,
    Pass,
    Phase,
    Play,
    Position,
    RedealRequest,
    RedealWaiver,
    TalonTaken,
    replay,
)
from milsim.rules import Rules, preset_names
from tests.strategies import any_rules, deals, positions


def every_act() -> list[Operation]:
    """Every act that could be thought of, possible or not."""
    acts: list[Operation] = []
    for seat in range(3):
        acts += [RedealRequest(seat), RedealWaiver(seat), TalonTaken(seat), Pass(seat)]
        acts += [Concession(seat)]
        for amount in range(0, 430, 5):
            acts += [Bid(seat, amount), Bid(seat, amount, dark=True), Contract(seat, amount)]
        for card in range(24):
            acts += [Play(seat, card, False), Play(seat, card, True)]
            acts += [Gift(seat, receiver, card) for receiver in range(3)]
    return acts


EVERY_ACT = every_act()


def assert_lists_what_is_accepted(game: Game) -> None:
    listed = set(game.legal_acts())
    assert len(listed) == len(game.legal_acts())
    assert listed
    accepted = {act for act in EVERY_ACT if game.can(act)}
    in_range = {act for act in listed if not isinstance(act, Bid | Contract) or act.amount < 430}
    assert accepted == in_range


NINES = {0, 6, 12, 18}


@settings(max_examples=60)
@given(
    deal=deals(),
    rules=any_rules(),
    seed=st.integers(0, 2**32 - 1),
    golden=st.booleans(),
    scores=st.sampled_from([(0, 0, 0), (-120, 300, -500)]),
)
def test_case_20_whole_games(
    deal: Deal, rules: Rules, seed: int, golden: bool, scores: tuple[int, int, int]
) -> None:
    random = Random(seed)
    match = {
        "scores": scores,
        "golden": golden,
        "concessions": (0, 1, 2),
        "on_barrel": (False, False, True),
    }
    game = Game(deal, rules, **match)  # type: ignore[arg-type]
    looked_at = {random.randrange(40) for _ in range(4)}
    # mostly play on, so that most games come to the tricks
    patient = random.random() < 0.8
    while game.phase is not Phase.OVER:
        if len(game.operations) in looked_at:
            assert_lists_what_is_accepted(game)
        acts = list(game.legal_acts())
        if patient:
            acts = [act for act in acts if not isinstance(act, RedealRequest | Concession)] or acts
        declaring: list[Operation] = [act for act in acts if isinstance(act, Play) and act.declares]
        if declaring and random.random() < 0.7:  # chance alone seldom declares
            acts = declaring
        act = random.choice(acts)
        before = game.copy()
        assert game.apply(act) == act
        assert game.operations == (*before.operations, act)
        assert game != before
        held = [card for each in game.hands for card in each]
        assert len(held) == len(set(held))
    assert game.legal_acts() == ()
    assert not any(game.can(act) for act in EVERY_ACT)
    assert replay(deal, rules, game.operations, **match) == game  # type: ignore[arg-type]
    assert_result_is_sound(game)


def assert_result_is_sound(game: Game) -> None:
    result = game.result
    assert result is not None
    if result.ended != "played":
        assert game.position is None or game.position.trick_number == 1
        if result.ended in ("redeal", "passed_out"):
            assert result.scores == (0, 0, 0)
        return
    position = game.position
    assert position is not None
    assert result.contract is not None
    assert result.bid is not None
    assert result.contract >= result.bid >= game.minimum
    assert result.contract % game.rules.auction.step == 0
    assert sum(position.card_points) == 120
    assert sum(position.tricks_won) == 8
    assert sum(position.last_trick_bonus) == game.rules.play.last_trick_bonus
    suits = [each.suit for each in position.declarations]
    assert len(suits) == len(set(suits))
    values = game.rules.deal.marriage_values.by_suit()
    how = game.rules.play
    for each in position.declarations:
        assert how.marriage_from_trick <= each.trick_number <= how.marriage_until_trick
        assert each.points == (how.ace_marriage if each.suit is None else values[each.suit])
    assert sum(result.points) == 120 + how.last_trick_bonus + sum(position.marriage_points)


@settings(max_examples=60)
@given(deal=deals(), preset=st.sampled_from(preset_names()), seed=st.integers(0, 2**32 - 1))
def test_case_20_points_of_every_preset_add_up(deal: Deal, preset: str, seed: int) -> None:
    random = Random(seed)
    game = Game(deal, preset)
    while game.phase is not Phase.OVER:
        acts = list(game.legal_acts())
        acts = [act for act in acts if not isinstance(act, RedealRequest | Concession)] or acts
        game.apply(random.choice(acts))
    if game.result is not None and game.result.ended == "redeal":  # the rules leave no choice
        assert game.rules.deal.four_nines == "mandatory"
        return
    assert_result_is_sound(game)
    assert game.result is not None
    scores = game.result.scores
    declarer, contract = game.result.declarer, game.result.contract
    assert declarer is not None
    assert contract is not None
    bonus = game.rules.deal.four_nines_bonus if set(deal.hands[declarer]) >= NINES else 0
    times = 2 if game.result.dark else 1
    assert scores[declarer] == times * ((contract if game.result.made else -contract) + bonus)
    rounding = game.rules.scoring.defender_rounding
    unit = 10 if "10" in rounding else 5 if "5" in rounding else 1
    assert all(score % unit == 0 for seat, score in enumerate(scores) if seat != declarer)
    assert scores[declarer] % game.rules.auction.step == 0


@given(start=positions(), seed=st.integers(0, 2**32 - 1))
def test_legal_cards_are_held_and_never_none(start: Position, seed: int) -> None:
    random = Random(seed)
    now = start
    while not now.is_over:
        assert now.actor is not None
        legal = now.legal_cards()
        assert legal
        assert legal <= now.hands[now.actor]
        assert {each.card for each in now.legal_plays()} == legal
        act = random.choice(now.legal_plays())
        now = now.play(act.card, act.declares)
    assert sum(now.tricks_won) == len(start.hands[0])
