"""Deals for fitting: forehand declares, or an auction of three experts; hands and what they made.

Gifts are mostly those that the tables under fit choose, and partly others, so that the fit sees
what they would have cost. Calls are answered in both ways and played out.
"""

from __future__ import annotations

import numpy as np
from played import SIZE, play_out, start

from milsim._jit import kernel
from milsim.auction import (
    AUCTION_SIZE,
    BID,
    DECLARER,
    MINIMUM,
    NOBODY,
    PASSED,
    TURN,
    auction_start,
    bid,
    contract_range,
    legal_bids,
    pass_turn,
)
from milsim.bits import popcount, select_bit
from milsim.cards import ACE
from milsim.dealing import space_deal
from milsim.policies.expert_bidding import (
    AT_MODEL_7,
    AT_MODEL_8,
    AT_SUITS_7,
    AT_SUITS_8,
    advantage_place,
    expert_bid,
    expert_contract,
    expert_gifts,
    given_half_place,
    given_place,
    hand_places,
    hand_worth,
    marriages_and_halves,
)
from milsim.rights import hand_rights
from milsim.rng import below, draw, policy_key
from milsim.rules import place_of
from milsim.scoring import rounded
from milsim.tricks import play_flags, play_values

_STEP = place_of("auction.step")
_MINIMUM = place_of("auction.minimum")
_ROUNDING = place_of("scoring.defender_rounding")


@kernel
def deal_hands(seed, index, rules, header, table, hands):
    """The hands by seat into ``hands`` int64[3], redeal rights used; returns the talon."""
    attempt = 0
    while True:
        hands[0], hands[1], hands[2], talon = space_deal(seed, index, attempt, header, table)
        attempt += 1
        rights = 0
        for seat in range(3):
            rights |= hand_rights(hands[seat], rules)
        if rights == 0:
            return talon


@kernel
def gifts_tried(parameters, ten, key, is_tried):
    """The gifts of the tables; if tried, in two of three deals others, seldom an ace."""
    gifts = expert_gifts(parameters, ten)
    left, right = gifts & 31, gifts >> 5
    luck = below(draw(key, 3, 1), 100)
    if is_tried == 0 or luck < 35:
        return gifts
    if luck < 50:
        return right + 32 * left
    changed = 0
    for attempt in range(20):
        card = select_bit(ten, below(draw(key, 3, 2 + attempt), 10))
        if card in (left, right) or (card % 6 == ACE and luck < 96):
            continue
        if (luck + changed) % 2 == 0:
            left = card
        else:
            right = card
        changed += 1
        if changed == (1 if luck < 80 else 2):
            break
    return left + 32 * right


@kernel
def declared_deals(seed, parameters, rules, header, table, is_tried, places8, places7, made, facts):
    """Forehand declares, with the talon and the contract that the tables choose.

    ``places8`` int16[n, 20] and ``places7`` int16[n, 16] get the entries that the hands are the sum
    of, ``made`` the declarer points, ``facts`` int64[n, 2] the worth of the eight, its marriages.
    """
    flags, values = play_flags(rules), play_values(rules)
    deal, places, hands = np.empty(SIZE, np.int64), np.empty(24, np.int64), np.empty(3, np.int64)
    everybody = np.empty((3, len(parameters)), np.int64)
    everybody[:] = parameters
    for i in range(len(made)):
        hands[0], hands[1], hands[2], talon = space_deal(seed, i, 0, header, table)
        ten = hands[0] | talon
        gifts = gifts_tried(parameters, ten, policy_key(seed, i, 0), is_tried)
        left, right = 1 << (gifts & 31), 1 << (gifts >> 5)
        kept = ten & ~left & ~right
        count = hand_places(rules, kept, places)
        for side in range(2):
            card = gifts & 31 if side == 0 else gifts >> 5
            places[count] = given_place(kept, card, side)
            count += 1
            half = given_half_place(rules, ten, card, side)
            if half != 0:
                places[count] = half
                count += 1
        places8[i] = -1
        for j in range(count):
            places8[i, j] = places[j]
        places7[i] = -1
        for j in range(hand_places(rules, hands[0], places)):
            places7[i, j] = places[j]
        minimum = rules[_MINIMUM]
        lowest, highest = contract_range(minimum, kept, ten, minimum, rules)
        contract = expert_contract(parameters, kept, lowest, highest, rules[_STEP])
        start(deal, kept, hands[1] | left, hands[2] | right, contract, left, right, talon)
        play_out(deal, everybody, rules, flags, values)
        made[i] = deal[3]
        facts[i, 0] = hand_worth(parameters, AT_MODEL_8, AT_SUITS_8, kept)
        facts[i, 1] = marriages_and_halves(kept)[0]


@kernel
def bid_on(auction, hands, parameters, rules):
    """To the end of the auction; ``parameters`` by seat."""
    while auction[TURN] != NOBODY:
        seat = auction[TURN]
        lowest, highest, _ = legal_bids(auction, hands[seat], rules)
        passed = popcount(auction[PASSED])
        points = expert_bid(parameters[seat], hands[seat], lowest, highest, 1, passed)
        if points == 0:
            pass_turn(auction, rules)
        else:
            bid(auction, points, rules)


@kernel
def begin_play(auction, hands, talon, parameters, rules, key, is_tried, deal):
    """The exchange and the contract after an auction; returns the declarer, or NOBODY."""
    declarer = auction[DECLARER]
    if declarer == NOBODY:
        return declarer
    ten = hands[declarer] | talon
    gifts = gifts_tried(parameters[declarer], ten, key, is_tried)
    left, right = 1 << (gifts & 31), 1 << (gifts >> 5)
    kept = ten & ~left & ~right
    lowest, highest = contract_range(auction[BID], kept, ten, auction[MINIMUM], rules)
    contract = expert_contract(parameters[declarer], kept, lowest, highest, rules[_STEP])
    first, second = hands[(declarer + 1) % 3] | left, hands[(declarer + 2) % 3] | right
    start(deal, kept, first, second, contract, left, right, talon)
    return declarer


@kernel
def auctioned_deals(seed, parameters, rules, header, table, deals):
    """Deals before the first lead, int64[n, SIZE]; in some of them other gifts are tried."""
    hands, auction = np.empty(3, np.int64), np.empty(AUCTION_SIZE, np.int64)
    everybody = np.empty((3, len(parameters)), np.int64)
    everybody[:] = parameters
    for i in range(len(deals)):
        talon = deal_hands(seed, i, rules, header, table, hands)
        key = policy_key(seed, i, 0)
        auction_start(auction, rules[_MINIMUM], 0, rules)
        # A quarter of the deals is declared by forehand whatever he holds.
        if below(draw(key, 8, 0), 4) == 0:
            auction[BID], auction[DECLARER] = rules[_MINIMUM], 0
        else:
            bid_on(auction, hands, everybody, rules)
            if auction[DECLARER] == NOBODY:
                auction[BID], auction[DECLARER] = rules[_MINIMUM], 0
        is_tried = 1 if below(draw(key, 9, 0), 3) == 0 else 0
        begin_play(auction, hands, talon, everybody, rules, key, is_tried, deals[i])


@kernel
def _scores(auction, hands, talon, parameters, rules, flags, values, deal, by_role, scores):
    """Play a deal on from a state of its auction; the scores by seat into ``scores``."""
    bid_on(auction, hands, parameters, rules)
    declarer = begin_play(auction, hands, talon, parameters, rules, 0, 0, deal)
    scores[:] = 0
    if declarer == NOBODY:
        return
    for role in range(3):
        by_role[role] = parameters[(declarer + role) % 3]
    play_out(deal, by_role, rules, flags, values)
    scores[declarer] = deal[15] if deal[3] >= deal[15] else -deal[15]
    for role in range(1, 3):
        scores[(declarer + role) % 3] = rounded(deal[3 + role], rules[_ROUNDING])


@kernel
def both_answers(seed, n, parameters, rules, header, table, place, advantage):
    """At each call, what the lowest bid earns more than a pass; returns the number of calls.

    Earned is the own score less half of the others'. ``place`` int32[calls] in the table.
    """
    flags, values = play_flags(rules), play_values(rules)
    hands, deal = np.empty(3, np.int64), np.empty(SIZE, np.int64)
    auction, ahead = np.empty(AUCTION_SIZE, np.int64), np.empty(AUCTION_SIZE, np.int64)
    scores, everybody = np.empty(3, np.int64), np.empty((3, len(parameters)), np.int64)
    by_role = np.empty_like(everybody)
    everybody[:] = parameters
    calls = 0
    for i in range(n):
        talon = deal_hands(seed, i, rules, header, table, hands)
        key = policy_key(seed, i, 0)
        auction_start(auction, rules[_MINIMUM], 0, rules)
        ply = 0
        while auction[TURN] != NOBODY:
            seat, passed = auction[TURN], popcount(auction[PASSED])
            hand = hands[seat]
            lowest, highest, _ = legal_bids(auction, hand, rules)
            points = 0
            if lowest <= highest:
                if calls == len(place):
                    return calls
                worth = hand_worth(parameters, AT_MODEL_7, AT_SUITS_7, hand)
                marriages, halves = marriages_and_halves(hand)
                place[calls] = advantage_place(worth, marriages, halves, lowest, passed)
                advantage[calls] = 0.0
                for answer in range(2):
                    ahead[:] = auction
                    if answer == 1:
                        bid(ahead, lowest, rules)
                    else:
                        pass_turn(ahead, rules)
                    _scores(
                        ahead, hands, talon, everybody, rules, flags, values, deal, by_role, scores
                    )
                    earned = 1.5 * scores[seat] - 0.5 * scores.sum()
                    advantage[calls] += earned if answer == 1 else -earned
                calls += 1
                points = expert_bid(parameters, hand, lowest, highest, 1, passed)
                # Now and then the other answer, so that other auctions are seen too.
                if below(draw(key, 4, ply), 100) < 25:
                    points = 0 if points else lowest
            ply += 1
            if points == 0:
                pass_turn(auction, rules)
            else:
                bid(auction, points, rules)
    return calls


@kernel
def least_squares(places, target, weights, rate, order):
    """One pass of stochastic gradient descent; returns the standard error of a prediction."""
    total = 0.0
    for i in order:
        error = target[i]
        for j in range(places.shape[1]):
            if places[i, j] >= 0:
                error -= weights[places[i, j]]
        total += error * error
        for j in range(places.shape[1]):
            if places[i, j] >= 0:
                weights[places[i, j]] += rate * error
    return np.sqrt(total / len(order))
