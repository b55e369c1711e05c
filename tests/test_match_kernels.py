"""Matches in kernels against the specification of a match: scoring deal by deal, whole matches.

`milsim.reference` and the kernels were both written from docs/match.md, by different hands.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from milsim import match_scoring as kernels
from milsim import scoring
from milsim._jit import jit_enabled, kernel_signatures
from milsim.cards import mask_of
from milsim.reference import MatchState, redealt, score_match_deal
from milsim.rules import Rules, packed
from tests.strategies import counted_deals, match_rules, match_states

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


def test_no_kernel_uses_anything_but_whole_numbers() -> None:
    found = [one for one in kernel_signatures() if "match" in one.kernel]
    for one in found:
        words = " ".join((one.result, *one.arguments))
        assert "float" not in words, one
        assert "uint" not in words, one
    assert bool(found) == jit_enabled()
