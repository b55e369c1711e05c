"""Clauses of the seeds that no other test says by itself; docs/rules.md names the test of each.

A name ends in the place of the clause: ``cam_4`` is step 4 of seed 000 (``paso_4`` of seed 002),
``y_cynnig`` a heading of seed 001.
"""

from __future__ import annotations

import pytest

from milsim.cards import format_card, parse_card
from milsim.deals import Deal
from milsim.errors import RulesError
from milsim.reference import Game, MatchState, Position
from milsim.reference.game import Phase
from milsim.rules import load, with_fields

BOTH = pytest.mark.parametrize("preset", ["mil", "mil-500", "gamerules"])
# Middlehand holds three nines and the marriage of hearts.
THREE_NINES = Deal.parse("A9.A.AT.AT / J.KQ9.9.9J / KQ.TJ.KQ.K / *")  # talon: TS JD QC


def auctioned(deal: Deal, preset: str) -> Game:
    """Forehand has won the auction at 100 and taken the talon."""
    game = Game(deal, preset)
    while game.phase is Phase.REDEAL:
        game.waive_redeal()
    game.bid(100)
    game.pass_()
    game.pass_()
    game.take_talon()
    return game


def exchanged(deal: Deal, preset: str, left: str, right: str) -> Game:
    """And has given these cards."""
    game = auctioned(deal, preset)
    game.give(parse_card(left))
    game.give(parse_card(right))
    return game


@BOTH
def test_auction_then_talon_gifts_contract_and_play__cam_4_to_7(preset: str) -> None:
    game = Game(THREE_NINES, preset)
    phases = [game.phase]
    while game.actor is not None:
        game.apply(game.legal_acts()[-1] if game.phase is Phase.AUCTION else game.legal_acts()[0])
        if game.phase is not phases[-1]:
            phases.append(game.phase)
    assert phases == [
        Phase.AUCTION, Phase.TALON, Phase.GIFTS, Phase.CONTRACT, Phase.PLAY, Phase.OVER
    ]  # fmt: skip


def test_a_bid_may_rise_by_several_tens__cam_4() -> None:
    game = Game(THREE_NINES, "mil")
    game.bid(100)
    game.bid(150)
    assert game.actor == 2
    assert not game.can_bid(150)
    game.pass_()
    assert game.actor == 0


@BOTH
def test_only_cards_in_tricks_and_marriages_count__cam_3(preset: str) -> None:
    game = exchanged(THREE_NINES, preset, "TS", "TD")
    game.name_contract(100)
    held = sum(card % 6 == 5 for card in game.hands[0])
    assert held == 4
    assert game.position is not None
    assert game.position.points == (0, 0, 0)  # held is not taken
    game.play(parse_card("AC"))
    assert game.position.points == (0, 0, 0)  # nor is played
    game.play(parse_card("JC"))
    game.play(parse_card("KC"))
    assert game.position.points == (17, 0, 0)


@BOTH
@pytest.mark.parametrize(
    ("suit", "trump", "points"), [("H", 3, 100), ("D", 2, 80), ("C", 1, 60), ("S", 0, 40)]
)
def test_what_the_four_marriages_give__cam_8(
    preset: str, suit: str, trump: int, points: int
) -> None:
    hands = [[parse_card(rank + suit) for rank in "KQ"], [parse_card(rank + suit) for rank in "J9"]]
    other = "S" if suit == "H" else "H"
    position = Position.start(
        [*hands, [parse_card(rank + other) for rank in "J9"]], 0, trick_number=7, rules=preset
    )
    position = position.play(parse_card("K" + suit))
    assert (position.trump, position.marriage_points) == (trump, (points, 0, 0))


@BOTH
def test_every_trick_is_led_by_who_won_the_one_before__y_chwarae(preset: str) -> None:
    game = exchanged(THREE_NINES, preset, "TS", "TD")
    game.name_contract(100)
    leaders, winners = [], []
    while game.actor is not None:
        assert game.position is not None
        before = game.position.tricks_won
        leaders.append(game.actor)
        for _ in range(3):
            game.play(min(game.legal_cards()))
        after = game.position.tricks_won
        winners.append(next(seat for seat in range(3) if after[seat] > before[seat]))
    assert leaders == [0, *winners[:-1]]
    assert len(set(winners)) > 1


@BOTH
def test_no_trump_until_a_marriage__y_chwarae(preset: str) -> None:
    game = exchanged(THREE_NINES, preset, "TS", "TD")
    game.name_contract(100)
    assert game.position is not None
    assert game.position.trump == 4
    for card in ("AH", "9H", "TH", "AC", "JC", "KC"):
        game.play(parse_card(card))
        assert game.position.trump == 4


def test_four_nines_after_the_exchange_in_any_hand_score_nothing__y_cyfnewid() -> None:
    game = exchanged(THREE_NINES, "gamerules", "9S", "TD")
    assert (game.phase, game.actor) == (Phase.NINES, 1)
    playing_on = game.copy()
    playing_on.waive_redeal()
    assert playing_on.phase is Phase.CONTRACT
    game.request_redeal()
    assert game.result is not None
    assert (game.result.ended, game.result.scores) == ("redeal", (0, 0, 0))
    assert not game.result.next_dealer  # dealt again by the same dealer


def test_raised_by_fives_or_left_as_it_is__y_cyfnewid() -> None:
    assert exchanged(THREE_NINES, "gamerules", "TS", "TD").legal_contracts() == tuple(
        range(100, 121, 5)
    )


def test_three_or_four_play__nifer_y_chwaraewyr() -> None:
    assert load("gamerules").deal.players == 3
    assert with_fields("gamerules", {"deal.players": 4}).deal.players == 4
    for players in (2, 5):  # the game of two has other hands and talons: not yet
        with pytest.raises(RulesError, match=rf"deal\.players: {players} .* from 3 to 4"):
            with_fields("gamerules", {"deal.players": players})


def test_of_four_each_sits_out_in_turn__nifer_y_chwaraewyr() -> None:
    rules = with_fields("gamerules", {"deal.players": 4})
    sitters = {MatchState.start(rules, dealer).sitter for dealer in range(4)}
    assert sitters == {0, 1, 2, 3}


@BOTH
def test_the_first_dealer_may_be_anybody__y_fargen(preset: str) -> None:
    for dealer in range(3):
        state = MatchState.start(preset, dealer)
        assert (state.dealer, state.active[0]) == (dealer, (dealer + 1) % 3)


def test_a_pack_of_24__safon_cardiau() -> None:
    pack = {format_card(card) for card in range(24)}
    assert pack == {rank + suit for suit in "SCDH" for rank in "AT" + "KQJ9"}
