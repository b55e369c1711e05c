"""Kernels against the specification: two readings of the rules, made apart, must agree.

`milsim.reference` was written from the rule texts, the kernels from RULES.md alone. Whole random
games, in the presets and in drawn rule sets, are played through both, and compared after every act.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from milsim import auction, reference, rights, scoring, tricks
from milsim._jit import jit_enabled
from milsim.cards import NO_TRUMP, cards_of, mask_of, parse_hand
from milsim.deals import Deal
from milsim.position import Position
from milsim.position import state as kernels
from milsim.rules import Rules, packed
from tests import rule_cases as cases
from tests.perft_files import PerftCase, perft_cases
from tests.strategies import any_rules, deals, positions, rule_sets

RANDOMS = st.integers(0, 2**32 - 1).map(Random)
MANY = settings(max_examples=150)
DEEP = 3_000_000 if jit_enabled() else 3_000  # leaves of a perft that a test may count


# --------------------------------------------------------------------------------------- the play


def state_of(position: reference.Position) -> NDArray[np.int64]:
    """A kernel state at the beginning of a trick."""
    state = np.empty(kernels.STATE_SIZE, np.int64)
    first, second, third = (mask_of(hand) for hand in position.hands)
    trick_number = position.trick_number
    kernels.start(state, first, second, third, position.leader, position.trump, trick_number)
    return state


def acts_mask(position: reference.Position, rules: Rules) -> int:
    automatic = rules.play.marriage_declaration == "automatic"
    acts = (
        play.card + (kernels.DECLARE if play.declares and not automatic else 0)
        for play in position.legal_plays()
    )
    return sum(1 << act for act in set(acts))


def assert_same(state: NDArray[np.int64], position: reference.Position) -> None:
    """Everything that both know of a position."""
    at = kernels
    hands = [mask_of(hand) for hand in position.hands]
    assert list(state[at.HANDS : at.HANDS + 3]) == hands
    assert state[at.COUNT] == len(position.trick)
    table = [bit.bit_length() - 1 for bit in map(int, state[[at.LEAD, at.SECOND]]) if bit]
    assert tuple(table) == position.trick
    assert state[at.LEADER] == position.leader
    assert bool(kernels.is_over(state)) == position.is_over
    if not position.is_over:
        assert kernels.seat_to_play(state) == position.actor
        assert state[at.TRUMP] == position.trump
        assert state[at.NEXT_TRUMP] == position.coming_trump
        assert state[at.TRICK] == position.trick_number
    taken = [
        won + bonus
        for won, bonus in zip(position.card_points, position.last_trick_bonus, strict=True)
    ]
    assert list(state[at.POINTS : at.POINTS + 3]) == taken
    assert tuple(state[at.MARRIAGES : at.MARRIAGES + 3]) == position.marriage_points
    assert tuple(kernels.total(state, seat) for seat in range(3)) == position.points
    assert tuple(state[at.TRICKS : at.TRICKS + 3]) == position.tricks_won
    declared = [0] * 5
    for one in position.declarations:
        declared[4 if one.suit is None else one.suit] = one.trick_number + 16 * one.seat
    assert list(state[at.DECLARED : at.DECLARED + 5]) == declared


def play_both(position: reference.Position, rules: Rules, chance: Random) -> None:
    """Random acts to the end, everything compared after each."""
    array = packed(rules)
    flags, values = tricks.play_flags(array), tricks.play_values(array)
    state = state_of(position)
    assert_same(state, position)
    value = Position.from_state(state, rules)
    while not position.is_over:
        assert kernels.legal_acts(state, flags) == acts_mask(position, rules)
        seat = position.actor
        assert seat is not None
        hand, table = position.hands[seat], position.trick
        legal = tricks.legal_mask(mask_of(hand), table, position.trump, rules=rules)
        assert legal == mask_of(position.legal_cards())
        play = chance.choice(position.legal_plays())
        act = play.card + (kernels.DECLARE if play.declares else 0)
        cards, trump = (*table, play.card), position.trump
        leader = position.leader
        position = position.play(play.card, play.declares)
        winner = kernels.play_card(state, act, flags, values)
        value = value.play(play.card, play.declares)
        assert winner == (position.leader if len(cards) == 3 else -1)
        if len(cards) == 3:
            assert (leader + tricks.trick_winner(cards, trump)) % 3 == winner
            assert reference.trick_winner(cards, trump) == tricks.trick_winner(cards, trump)
        assert_same(state, position)
        assert value == Position.from_state(state, rules)
        assert value.totals == position.points
    assert kernels.legal_acts(state, flags) == 0


@MANY
@given(deals(), any_rules(), RANDOMS)
def test_whole_deals(deal: Deal, rules: Rules, chance: Random) -> None:
    """Eight tricks from trick 1, after random gifts, whoever is declarer."""
    hands = [set(cards_of(hand)) for hand in deal.hand_masks]
    declarer = chance.randrange(3)
    hands[declarer] |= set(cards_of(deal.talon_mask))
    for receiver in (declarer + 1, declarer + 2):
        card = chance.choice(sorted(hands[declarer]))
        hands[declarer].remove(card)
        hands[receiver % 3].add(card)
    play_both(reference.Position.start(hands, declarer, rules=rules), rules, chance)


@MANY
@given(positions(), RANDOMS)
def test_endings(position: reference.Position, chance: Random) -> None:
    play_both(position, position.rules, chance)


@MANY
@given(positions(rule_sets("play")), RANDOMS)
def test_endings_with_the_usual_values(position: reference.Position, chance: Random) -> None:
    play_both(position, position.rules, chance)


@settings(max_examples=40)
@given(positions(rule_sets("play")), st.integers(0, 4))
def test_perft_of_endings(position: reference.Position, depth: int) -> None:
    found = kernels.perft(state_of(position), depth, packed(position.rules))
    assert found == reference.perft(position, depth)


@pytest.mark.parametrize("case", perft_cases(), ids=lambda case: case.name)
def test_perft_files(case: PerftCase) -> None:
    state, array = state_of(case.position()), packed(case.rules)
    for depth, count in enumerate(case.counts, 1):
        if count <= DEEP:
            assert kernels.perft(state, depth, array) == count


# ------------------------------------------------------------------------------------- the auction


def legal_range(state: NDArray[np.int64], hand: int, array: NDArray[np.int64]) -> tuple[int, ...]:
    lowest, highest, step = auction.legal_bids(state, hand, array)
    return tuple(range(lowest, highest + 1, step))


def assert_same_auction(state: NDArray[np.int64], other: reference.Auction) -> None:
    turn = int(state[auction.TURN])
    assert (turn == auction.NOBODY) == other.is_over
    assert state[auction.BID] == other.highest
    assert state[auction.DARK] == other.is_dark
    if other.is_over:
        declarer = int(state[auction.DECLARER])
        assert other.declarer == (None if declarer == auction.NOBODY else declarer)
        return
    assert turn == other.actor
    holder = int(state[auction.HOLDER])
    assert other.holder == (None if holder == auction.NOBODY else holder)
    hand = mask_of(other.hands[turn])
    assert legal_range(state, hand, packed(other.rules)) == other.legal_bids()
    assert other.can_pass()


def call_both(
    state: NDArray[np.int64], other: reference.Auction, points: int, *, dark: bool = False
) -> None:
    """One call, 0 for a pass, in both auctions."""
    array = packed(other.rules)
    if dark:
        other.bid(points, dark=True)
        auction.bid_dark(state)
    elif points:
        other.bid(points)
        auction.bid(state, points, array)
    else:
        other.pass_()
        auction.pass_turn(state, array)


@MANY
@given(deals(), any_rules(), st.integers(0, 7), st.booleans(), RANDOMS)
def test_auctions(deal: Deal, rules: Rules, silent: int, golden: bool, chance: Random) -> None:
    """In the light and in the dark, some seats silent, golden deals with another minimum."""
    array = packed(rules)
    first, second, third = (frozenset(cards_of(hand)) for hand in deal.hand_masks)
    threshold = rules.auction.silence_below
    low = -5000 if threshold == "off" else int(threshold)
    one, two, three = (low if silent >> seat & 1 else low + 1 for seat in range(3))
    minimum = auction.minimum_of(int(golden), array)
    expected = 120 if golden and rules.match.golden == "minimum_120" else rules.auction.minimum
    assert minimum == expected
    other = reference.Auction(rules, (first, second, third), (one, two, three), minimum)
    mask = sum(1 << seat for seat in range(3) if auction.is_silent((one, two, three)[seat], array))
    assert mask == (0 if threshold == "off" else silent)
    state = np.empty(auction.AUCTION_SIZE, np.int64)
    auction.auction_start(state, minimum, mask, array)
    may_bid_dark = other.can_bid(auction.DARK_BID, dark=True)
    assert bool(auction.may_bid_dark(state, array)) == may_bid_dark
    if may_bid_dark and chance.random() < 0.5:
        call_both(state, other, auction.DARK_BID, dark=True)
    elif other.is_forced_opening:
        assert other.legal_bids() == (minimum,)
        assert not other.can_pass()
        other.bid(minimum)  # auction_start has made it
    willing = chance.choice([0.2, 0.5, 0.9])
    assert_same_auction(state, other)
    while not other.is_over:
        bids = other.legal_bids()
        if bids and chance.random() < willing:
            call_both(state, other, chance.choice(bids[:3] if chance.random() < 0.5 else bids))
        else:
            call_both(state, other, 0)
        assert_same_auction(state, other)


RIGHTS = {
    rights.FOUR_NINES: "four nines",
    rights.LOW_HAND: "low hand",
    rights.LOW_TALON_POINTS: "low talon",
    rights.LOW_TALON_NINES: "low talon",
}


def names_of(rights: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for bit, name in RIGHTS.items() if rights & bit))


@MANY
@given(deals(), any_rules(), RANDOMS)
def test_rights_and_contracts(deal: Deal, rules: Rules, chance: Random) -> None:
    array = packed(rules)
    for hand in deal.hand_masks:
        found = rights.hand_rights(hand, array)
        cards = cards_of(hand)
        assert names_of(found) == reference.rights_before_auction(cards, rules)
        ten = hand | deal.talon_mask
        kept = ten
        for card in chance.sample(cards_of(ten), 2):
            kept ^= 1 << card
        after = rights.kept_rights(kept, array)
        assert names_of(after) == reference.rights_after_exchange(cards_of(kept), rules)
        must = bool((found | after) & rights.MUST_REDEAL)
        nines = bool((found | after) & rights.FOUR_NINES)
        assert must == (nines and rules.deal.four_nines == "mandatory")
        minimum = chance.choice([rules.auction.minimum, max(120, rules.auction.minimum)])
        allowed = auction.highest_allowed(hand, minimum, array)
        assert allowed == reference.highest_bid(cards, rules, minimum)
        bid = chance.randrange(rules.auction.minimum, 200 + rules.auction.minimum)
        bid -= bid % rules.auction.step
        bid = max(bid, rules.auction.minimum)
        lowest, highest = auction.contract_range(bid, kept, ten, minimum, array)
        basis = kept if rules.talon.cap_basis == "kept8" else ten
        cap = reference.highest_bid(cards_of(basis), rules, minimum)
        assert lowest == bid
        assert highest == (max(bid, cap) if rules.talon.raise_contract else bid)
        talon = cards_of(deal.talon_mask)
        for made in (rules.auction.minimum, minimum, bid):
            names = names_of(rights.talon_rights(deal.talon_mask, made, minimum, array))
            assert names == reference.rights_of_declarer(talon, made, minimum, rules)
    assert auction.most_points(array) == reference.most_points(rules)


# --------------------------------------------------------------------------------------- the count


@MANY
@given(any_rules(), st.data())
def test_deal_scores(rules: Rules, data: st.DataObject) -> None:
    total = data.draw(st.sampled_from(sorted(scoring.possible_totals(rules))))
    first = data.draw(st.integers(0, total))
    second = data.draw(st.integers(0, total - first))
    points = (first, second, total - first - second)
    declarer = data.draw(st.integers(0, 2))
    near = points[declarer] // rules.auction.step + data.draw(st.integers(-2, 2))
    contract = max(rules.auction.minimum, near * rules.auction.step)
    contract = min(contract, scoring.highest_contract(rules))
    four_nines = data.draw(st.sampled_from([None, 0, 1, 2]))
    found = scoring.score_deal(
        points, declarer=declarer, contract=contract, rules=rules, four_nines=four_nines
    )
    expected = reference.deal_scores(points, declarer, contract, rules, four_nines=four_nines)
    assert found.scores == expected
    assert found.made == reference.is_made(points[declarer], contract, rules)


# ----------------------------------------------------------------------------------- whole games


@MANY
@given(deals(), any_rules(), RANDOMS)
def test_whole_games(deal: Deal, rules: Rules, chance: Random) -> None:
    """From the cards to the scores, rights waived, with what a match may bring into a deal."""
    array = packed(rules)
    scores = (chance.choice([-120, 0]), chance.choice([-5000, 500]), chance.choice([-119, 0]))
    earlier = (0, chance.randrange(5), 2)
    on_barrel = (chance.random() < 0.3, chance.random() < 0.3, False)
    golden = chance.random() < 0.5
    game = reference.Game(
        deal, rules, scores=scores, concessions=earlier, on_barrel=on_barrel, golden=golden
    )
    without_auction = golden and rules.match.golden == "forehand_plays_120"
    minimum = auction.minimum_of(int(golden), array)
    silent = sum(1 << seat for seat in range(3) if auction.is_silent(scores[seat], array))
    hands = list(deal.hand_masks)
    state = np.empty(auction.AUCTION_SIZE, np.int64)
    auction.auction_start(state, minimum, silent, array)
    flags, values = tricks.play_flags(array), tricks.play_values(array)
    table = np.empty(kernels.STATE_SIZE, np.int64)
    declarer, gifts, contract = auction.NOBODY, 0, 0
    while game.actor is not None:
        acts = game.legal_acts()
        if isinstance(acts[0], reference.Gift) and not game.gifts:
            conceding = any(isinstance(act, reference.Concession) for act in acts)
            seat = acts[0].seat
            may = rights.may_concede(earlier[seat], int(on_barrel[seat]), array)
            assert conceding == bool(may)
        waivers = [act for act in acts if isinstance(act, reference.RedealWaiver)]
        act = waivers[0] if waivers else chance.choice(acts)
        opening = isinstance(act, reference.Bid) and game.auction.is_forced_opening
        if isinstance(act, reference.Bid) and act.dark:
            assert auction.may_bid_dark(state, array)
            auction.bid_dark(state)
        elif isinstance(act, reference.Bid) and not opening:
            assert state[auction.TURN] == act.seat
            auction.bid(state, act.amount, array)
        elif isinstance(act, reference.Pass):
            assert state[auction.TURN] == act.seat
            auction.pass_turn(state, array)
        elif isinstance(act, reference.TalonTaken):
            if without_auction:
                state[auction.DECLARER], state[auction.BID] = 0, auction.DARK_BID
            declarer = int(state[auction.DECLARER])
            assert declarer == act.seat
            hands[declarer] |= deal.talon_mask
            ten = hands[declarer]
        elif isinstance(act, reference.Gift):
            gifts += 1
            hands[declarer] ^= 1 << act.card
            hands[(declarer + gifts) % 3] |= 1 << act.card
        elif isinstance(act, reference.Contract):
            contract = act.amount
            made = int(state[auction.BID])
            lowest, highest = auction.contract_range(made, hands[declarer], ten, minimum, array)
            step = rules.auction.step
            assert game.legal_contracts() == tuple(range(lowest, highest + 1, step))
            first, second, third = hands
            kernels.start(table, first, second, third, declarer, NO_TRUMP, 1)
        elif isinstance(act, reference.Play):
            number = act.card + (kernels.DECLARE if act.declares else 0)
            kernels.play_card(table, number, flags, values)
        game.apply(act)
    result = game.result
    assert result is not None
    if result.ended == "passed_out":
        assert (state[auction.TURN], state[auction.DECLARER]) == (auction.NOBODY, auction.NOBODY)
    if result.ended not in ("played", "conceded"):
        return
    nines = game.dealt_four_nines
    holder = auction.NOBODY if nines is None else nines
    dark = int(state[auction.DARK])
    assert dark == result.dark
    made = int(state[auction.BID])
    points = tuple(int(kernels.total(table, seat)) for seat in range(3))
    expected = tuple(
        (
            scoring.deal_score(seat, points[seat], declarer, contract, holder, array)
            if result.ended == "played"
            else scoring.conceded_score(seat, declarer, made, earlier[declarer], holder, array)
        )
        * scoring.multiplier(int(seat == declarer), dark, int(golden), array)
        for seat in range(3)
    )
    assert expected == result.scores
    if result.ended == "played":
        assert (result.points, result.contract) == (points, contract)
        assert bool(scoring.is_made(points[declarer], contract, array)) == result.made


# ------------------------------------------------------------------- the cases of the rule texts


def in_presets(some: Any) -> list[Any]:
    return [pytest.param(case, rules, id=name) for name, case, rules in cases.by_preset(some)]


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.WINNERS))
def test_winner_cases(case: cases.WinnerCase, rules: Rules) -> None:
    assert tricks.trick_winner(cases.read_cards(case.trick), case.trump) == case.winner


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.LEGAL))
def test_legal_cases(case: cases.LegalCase, rules: Rules) -> None:
    trick = cases.read_cards(case.trick)
    c0, c1 = (*trick, 0, 0)[:2]
    hand = parse_hand(case.hand)
    found = tricks.legal_cards(hand, c0, c1, len(trick), case.trump, packed(rules))
    assert found == parse_hand(case.legal)


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.PLAYS))
def test_play_cases(case: cases.PlayCase, rules: Rules) -> None:
    number = case.trick_number
    position = Position(case.hands, case.leader, case.trump, (), number, rules=rules)
    for word in case.plays.split():
        position = position.play(word.rstrip("!"), True if word.endswith("!") else None)
    if case.after_trump is not None:
        assert position.trump == case.after_trump
    if case.points is not None:
        assert position.totals == case.points
    if case.tricks is not None:
        assert position.tricks == case.tricks
    if case.actor is not None:
        assert position.seat == case.actor
    if case.legal is not None:
        assert position.legal_mask == parse_hand(case.legal)


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.RIGHTS))
def test_rights_cases(case: cases.RightsCase, rules: Rules) -> None:
    cards, array = parse_hand(case.cards), packed(rules)
    found = {
        "before_auction": lambda: rights.hand_rights(cards, array),
        "after_exchange": lambda: rights.kept_rights(cards, array),
        "talon": lambda: rights.talon_rights(cards, case.bid, rules.auction.minimum, array),
    }[case.moment]()
    assert names_of(found) == case.rights


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.CONTRACTS))
def test_contract_cases(case: cases.ContractCase, rules: Rules) -> None:
    kept = parse_hand(case.kept)
    ten = kept | mask_of(cases.read_cards(case.given))
    minimum = rules.auction.minimum
    lowest, highest = auction.contract_range(case.bid, kept, ten, minimum, packed(rules))
    assert tuple(range(lowest, highest + 1, rules.auction.step)) == case.contracts


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.SCORES))
def test_score_cases(case: cases.ScoreCase, rules: Rules) -> None:
    array = packed(rules)
    holder = auction.NOBODY if case.four_nines is None else case.four_nines
    scores = tuple(
        scoring.deal_score(seat, case.points[seat], case.declarer, case.contract, holder, array)
        * scoring.multiplier(int(seat == case.declarer), int(case.dark), int(case.golden), array)
        for seat in range(3)
    )
    assert scores == case.scores
    made = scoring.is_made(case.points[case.declarer], case.contract, array)
    assert bool(made) == case.made


@pytest.mark.parametrize(("case", "rules"), in_presets(cases.AUCTIONS))
def test_auction_cases(case: cases.AuctionCase, rules: Rules) -> None:
    array = packed(rules)
    state = np.empty(auction.AUCTION_SIZE, np.int64)
    silent = [seat for seat, score in enumerate(case.scores) if auction.is_silent(score, array)]
    mask = sum(1 << seat for seat in silent)
    auction.auction_start(state, rules.auction.minimum, mask, array)
    calls = list(case.calls)
    if "dark" in calls:
        assert auction.may_bid_dark(state, array)
        assert calls.pop(0) == "dark"
        auction.bid_dark(state)
    elif rules.auction.opener == "forehand_forced":
        if not calls:
            return  # the opening that auction_start makes
        assert calls.pop(0) == rules.auction.minimum
    for call in calls:
        if call == "pass":
            auction.pass_turn(state, array)
        else:
            auction.bid(state, int(call), array)
    assert state[auction.BID] == case.highest or not case.highest
    turn = int(state[auction.TURN])
    assert turn == (auction.NOBODY if case.actor is None else case.actor)
    if case.actor is not None:
        hand = parse_hand(case.hands[case.actor])
        assert legal_range(state, hand, array) == case.bids
    else:
        declarer = int(state[auction.DECLARER])
        assert declarer == (auction.NOBODY if case.declarer is None else case.declarer)
