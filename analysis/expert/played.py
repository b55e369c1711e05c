"""A deal as one array that can be stopped, copied and played on: what roll-outs are made of.

`collect` plays deals by the tables under fit; at some decisions it plays every legal card out to
the end and keeps what came of it, with the places in the tables that describe each card. `ascend`
then moves the tables so that cards that came out better are chosen more often.
"""

from __future__ import annotations

import numpy as np

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import ALL_CARDS, QUEEN, RANK_MASKS
from milsim.knowledge.state import better_cards
from milsim.policies.expert_play import expert_card, follow_places, lead_places, table_state
from milsim.policies.expert_seen import declared_with, unlikely_last, unlikely_next
from milsim.policies.greedy_play import beaten_by
from milsim.rng import below, draw, policy_key
from milsim.tricks import (
    MARRIAGE,
    NOTHING,
    can_declare,
    declared_points,
    last_trick_points,
    legal_follow,
    marriage_leads,
    play_flags,
    play_values,
    points_in,
    suit_mask,
    winning_place,
)

# Places in a played deal, by role where there are three.
HANDS, POINTS, MAY = 0, 3, 6
TRUMPS, LEADER, PLAYED, TRICK, LEAD, SECOND = 9, 10, 11, 12, 13, 14
CONTRACT, LEFT, RIGHT, SHOWN = 15, 16, 17, 18
SIZE = 19

MOST_PLACES = 9
_QUEENS = RANK_MASKS[QUEEN]


@kernel
def start(deal, hand, left_hand, right_hand, contract, left, right, talon):
    """The hands of eight by role, the contract, the gifts as masks, the talon if it was shown."""
    deal[:] = 0
    deal[HANDS], deal[HANDS + 1], deal[HANDS + 2] = hand, left_hand, right_hand
    deal[MAY : MAY + 3] = ALL_CARDS
    deal[TRICK] = 1
    deal[CONTRACT], deal[LEFT], deal[RIGHT], deal[SHOWN] = contract, left, right, talon


@kernel(inline=True)
def turn(deal):
    """The role to play."""
    place = 0 if deal[LEAD] == 0 else (1 if deal[SECOND] == 0 else 2)
    return (deal[LEADER] + place) % 3


@kernel(inline=True)
def may_hold(deal, role):
    """What the next role and the one after it may hold, as `tricks_kernel` has it."""
    following = deal[MAY + (role + 1) % 3] & ~unlikely_next(role, deal[RIGHT], deal[SHOWN])
    last = deal[MAY + (role + 2) % 3] & ~unlikely_last(role, deal[LEFT], deal[SHOWN])
    return following, last


@kernel
def act(deal, flags, values, role, card):
    """Play a card; marriages are declared by leading them, their trump counts at once."""
    hand, lead = deal[HANDS + role], deal[LEAD]
    if lead == 0:
        declared = can_declare(hand, card, deal[TRICK], flags)
        others = declared_with(card)
        if declared != NOTHING:
            deal[POINTS + role] += declared_points(declared, card, values)
            if declared == MARRIAGE:
                deal[TRUMPS] = suit_mask(card)
            deal[MAY + (role + 1) % 3] &= ~others
            deal[MAY + (role + 2) % 3] &= ~others
        elif marriage_leads(card | others, deal[TRICK], flags) & card != 0:
            deal[MAY + role] &= ~others
        deal[LEAD] = card
    else:
        deal[MAY + role] &= ~better_cards(card, lead, deal[SECOND], deal[TRUMPS], flags)
    deal[HANDS + role] = hand & ~card
    deal[PLAYED] |= card
    if lead == 0:
        return
    if deal[SECOND] == 0:
        deal[SECOND] = card
        return
    winner = (deal[LEADER] + winning_place(lead, deal[SECOND], card, deal[TRUMPS])) % 3
    deal[POINTS + winner] += points_in(lead | deal[SECOND] | card)
    if deal[TRICK] == 8:
        deal[POINTS + winner] += last_trick_points(values)
    deal[LEADER] = winner
    deal[TRICK] += 1
    deal[LEAD] = deal[SECOND] = 0


@kernel
def choice(deal, parameters, rules, flags, role, legal):
    """The card that expert plays."""
    following, last = may_hold(deal, role)
    return expert_card(
        parameters, rules, flags, deal[HANDS + role], legal, deal[LEAD], deal[SECOND],
        deal[TRUMPS], deal[TRICK], deal[PLAYED], role, following, last,
        deal[CONTRACT] - deal[POINTS],
    )  # fmt: skip


@kernel
def play_out(deal, parameters, rules, flags, values):
    """To the end; ``parameters`` int16[3, PARAMETERS_SIZE] by role."""
    while deal[TRICK] <= 8:
        role = turn(deal)
        legal = legal_follow(deal[HANDS + role], deal[LEAD], deal[SECOND], deal[TRUMPS], flags)
        card = choice(deal, parameters[role], rules, flags, role, legal)
        act(deal, flags, values, role, card)


@kernel
def score_of(deal, role, ramp, slope, others):
    """What a finished deal is worth to a role.

    The declarer's score is the contract, made or lost, with a ramp of ``ramp`` points to either
    side of it, for a score of two values would say nothing of most decisions; ``slope`` for each
    point besides. ``others`` is the weight of what the other two score.
    """
    contract = float(deal[CONTRACT])
    over = min(1.0, max(-1.0, (deal[POINTS] - contract + 0.5) / ramp))
    declarer = contract * over + slope * deal[POINTS]
    if role == 0:
        return declarer - others * (deal[POINTS + 1] + deal[POINTS + 2])
    return deal[POINTS + role] - others * (deal[POINTS + 3 - role] + declarer)


@kernel
def _describe(deal, rules, flags, role, legal, card, row):
    """The places of a card in the tables, into ``row``."""
    hand, lead, second, trumps = deal[HANDS + role], deal[LEAD], deal[SECOND], deal[TRUMPS]
    hidden = ALL_CARDS & ~deal[PLAYED] & ~hand
    following, last = may_hold(deal, role)
    masters = hand & ~beaten_by(hidden)
    pairs = hand & hand >> 1 & _QUEENS
    need = deal[CONTRACT] - deal[POINTS]
    row[:] = -1
    if lead == 0:
        a, b, c, d, e, f, g = lead_places(
            card, rules, hand, trumps, deal[TRICK], hidden, masters,
            marriage_leads(hand, deal[TRICK], flags), pairs, role, following & hidden,
            last & hidden, need, 0,
        )  # fmt: skip
    else:
        place = winning_place(lead, second, 0, trumps)
        best = second if place == 1 else lead
        winners = legal & suit_mask(best) & -(best + best)
        if best & trumps == 0:
            winners |= legal & trumps
        a, b, c, d, e, f, g, row[7], row[8] = follow_places(
            card, hand, lead, second, trumps, deal[TRICK], hidden, masters, winners, best,
            1 - place, table_state(lead, second), pairs, role, following & hidden, need, 0,
        )  # fmt: skip
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = a, b, c, d, e, f, g


@kernel
def collect(deals, parameters, rules, score, seed, places, worth, first):
    """Play deals; at 7 decisions of 10 play every card out. Returns the number of decisions.

    ``deals`` int64[n, SIZE]; ``score`` are the numbers of `score_of`; ``places`` int16[cards, 9],
    ``worth`` float32[cards], ``first`` int32[decisions + 1]: where the cards of each begin.
    """
    flags, values = play_flags(rules), play_values(rules)
    deal, ahead = np.empty(SIZE, np.int64), np.empty(SIZE, np.int64)
    decisions = cards = 0
    for i in range(len(deals)):
        deal[:] = deals[i]
        key = policy_key(seed, i, 0)
        ply = 0
        while deal[TRICK] <= 8:
            role = turn(deal)
            legal = legal_follow(deal[HANDS + role], deal[LEAD], deal[SECOND], deal[TRUMPS], flags)
            card = choice(deal, parameters[role], rules, flags, role, legal)
            ply += 1
            if legal & (legal - 1) != 0:
                if below(draw(key, 0, ply), 10) < 7:
                    if cards + 8 > len(worth) or decisions + 2 > len(first):
                        return decisions
                    first[decisions] = cards
                    rest = legal
                    while rest:
                        one = rest & -rest
                        rest ^= one
                        _describe(deal, rules, flags, role, legal, one, places[cards])
                        ahead[:] = deal
                        act(ahead, flags, values, role, one)
                        play_out(ahead, parameters, rules, flags, values)
                        worth[cards] = score_of(ahead, role, score[0], score[1], score[2])
                        cards += 1
                    decisions += 1
                    first[decisions] = cards
                # Now and then another card, so that other positions are seen too.
                if below(draw(key, 1, ply), 1000) < 60:
                    rest = legal
                    for _ in range(below(draw(key, 2, ply), popcount(legal))):
                        rest &= rest - 1
                    card = rest & -rest
            act(deal, flags, values, role, card)
    return decisions


@kernel
def ascend(places, worth, first, order, weights, rate, temperature):
    """One pass of stochastic gradient ascent of the mean worth; returns that mean, in points.

    A card is drawn with a chance proportional to exp(weight / temperature); ``weights`` are
    float64, in points; ``order`` are the decisions in a random order.
    """
    chance = np.empty(8)
    total = 0.0
    for decision in order:
        begin, end = first[decision], first[decision + 1]
        most = -1e30
        for card in range(begin, end):
            weight = 0.0
            for j in range(MOST_PLACES):
                if places[card, j] >= 0:
                    weight += weights[places[card, j]]
            chance[card - begin] = weight
            most = max(most, weight)
        whole = mean = 0.0
        for card in range(begin, end):
            chance[card - begin] = np.exp((chance[card - begin] - most) / temperature)
            whole += chance[card - begin]
        for card in range(begin, end):
            chance[card - begin] /= whole
            mean += chance[card - begin] * worth[card]
        total += mean
        for card in range(begin, end):
            step = rate * chance[card - begin] * (worth[card] - mean)
            for j in range(MOST_PLACES):
                if places[card, j] >= 0:
                    weights[places[card, j]] += step
    return total / len(order)
