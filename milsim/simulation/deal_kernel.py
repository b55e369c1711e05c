"""A whole deal by policies in one kernel: redeal rights, auction, exchange, contract, play, score.

Optional rights to a new deal are always used, as the preset's default policies do (RULES.md §2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.auction import (
    AUCTION_SIZE,
    BID,
    DECLARER,
    NOBODY,
    TURN,
    auction_start,
    bid,
    contract_range,
    hand_rights,
    kept_rights,
    legal_bids,
    pass_turn,
    talon_rights,
)
from milsim.cards import NINE, RANK_MASKS
from milsim.dealing import deal_number_of, space_deal
from milsim.policies.dispatch import choose_bid, choose_contract, choose_gifts
from milsim.rng import policy_key
from milsim.rules import place_of
from milsim.scoring import deal_score, is_made
from milsim.simulation import columns
from milsim.simulation.tricks_kernel import (
    DECLARED_BY,
    DECLARED_IN,
    HANDS,
    MARRIAGES,
    POINTS,
    TRICKS,
    WORK_SIZE,
    play_tricks,
)
from milsim.tricks import play_flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_REDEALS = 30_000
"""A deal that is thrown in so often in a row would be thrown in for ever."""

ALL_DEALS_PLAYED = -1

_STEP = place_of("auction.step")
_MINIMUM = place_of("auction.minimum")
_NINES = RANK_MASKS[NINE]

# numba freezes module names only when they are plain numbers.
_NO_SEAT = columns.NO_SEAT
_REDEALS = columns.REDEALS
_DECLARER = columns.DECLARER
_BID = columns.BID
_CONTRACT = columns.CONTRACT
_BID_BY_SEAT = columns.BID_BY_SEAT
_GIFT_LEFT = columns.GIFT_LEFT
_GIFT_RIGHT = columns.GIFT_RIGHT
_POINTS_BY_SEAT = columns.POINTS_BY_SEAT
_MARRIAGES_BY_SEAT = columns.MARRIAGES_BY_SEAT
_TRICKS_BY_SEAT = columns.TRICKS_BY_SEAT
_DECLARED_SEAT = columns.DECLARED_SEAT
_DECLARED_TRICK = columns.DECLARED_TRICK
_DECLARER_POINTS = columns.DECLARER_POINTS
_MADE = columns.MADE
_CONCEDED = columns.CONCEDED
_DARK = columns.DARK
_SCORE_BY_SEAT = columns.SCORE_BY_SEAT


@kernel
def exchange(
    work: NDArray[np.int64],
    dealt: NDArray[np.int64],
    declarer: int,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    key: int,
) -> int:
    """The declarer takes the talon and gives two cards; the hands of eight go to ``work`` by role.

    ``dealt`` is int64[4]: the hands by seat and the talon. Returns the gifts, ``left + 32 * right``
    (card indices).
    """
    hand10 = dealt[declarer] | dealt[3]
    gifts = choose_gifts(policies[declarer], key, declarer, rules, hand10)
    to_left = 1 << (gifts & 31)
    to_right = 1 << (gifts >> 5)
    work[HANDS] = hand10 & ~to_left & ~to_right
    work[HANDS + 1] = dealt[(declarer + 1) % 3] | to_left
    work[HANDS + 2] = dealt[(declarer + 2) % 3] | to_right
    return gifts


@kernel
def _hold_auction(
    auction: NDArray[np.int64],
    best: NDArray[np.int64],
    dealt: NDArray[np.int64],
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    key: int,
) -> None:
    """Bid to the end; ``best`` int64[3] gets the highest bid of each seat, 0 for none."""
    auction_start(auction, rules)
    best[:] = 0
    if auction[BID] > 0:
        best[auction[1]] = auction[BID]
    call = 0
    while auction[TURN] != NOBODY:
        seat = auction[TURN]
        lowest, highest, step = legal_bids(auction, dealt[seat], rules)
        points = choose_bid(
            policies[seat], key, seat, call, rules, dealt[seat], lowest, highest, step, 1
        )
        call += 1
        if points == 0:
            pass_turn(auction, rules)
        else:
            best[seat] = points
            bid(auction, points, rules)
    if auction[DECLARER] != NOBODY:
        # The compulsory minimum of a dealer who was left alone is his bid too.
        best[auction[DECLARER]] = auction[BID]


@kernel
def _deal_once(
    auction: NDArray[np.int64],
    best: NDArray[np.int64],
    dealt: NDArray[np.int64],
    work: NDArray[np.int64],
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    key: int,
) -> int:
    """Everything before the contract; the gifts as ``exchange`` gives them, or −1: a new deal."""
    for seat in range(3):
        if hand_rights(dealt[seat], rules) != 0:
            return -1
    _hold_auction(auction, best, dealt, rules, policies, key)
    if auction[DECLARER] == NOBODY or talon_rights(dealt[3], auction[BID], rules) != 0:
        return -1
    gifts = exchange(work, dealt, auction[DECLARER], rules, policies, key)
    for role in range(3):
        if kept_rights(work[HANDS + role], rules) != 0:
            return -1
    return gifts


@kernel
def play_deals(
    seed: int,
    start: int,
    with_auction: int,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    space_header: NDArray[np.int64],
    space_hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    deals: NDArray[np.int64],
    out: NDArray[np.int16],
) -> int:
    """Play deals ``start … start + len(deals) - 1`` of a seed in a space of deals.

    ``policies`` int64[3] by seat; ``with_auction`` 0: forehand declares every deal as dealt, at the
    minimum. ``deals`` int64[n] gets the deal numbers, ``out`` int16[N_COLUMNS, n] the rows of
    :mod:`milsim.simulation.columns`. Returns ALL_DEALS_PLAYED, or the index of a deal that was
    thrown in MAX_REDEALS times.
    """
    flags = play_flags(rules)
    auction = np.empty(AUCTION_SIZE, np.int64)
    best = np.empty(3, np.int64)
    dealt = np.empty(4, np.int64)
    work = np.empty(WORK_SIZE, np.int64)
    for i in range(len(deals)):
        redeals = 0
        while True:
            dealt[0], dealt[1], dealt[2], dealt[3] = space_deal(
                seed, start + i, redeals, space_header, space_hands
            )
            key = policy_key(seed, start + i, redeals)
            if with_auction == 0:
                auction[DECLARER] = 0
                auction[BID] = rules[_MINIMUM]
                best[:] = 0
                best[0] = rules[_MINIMUM]
                gifts = exchange(work, dealt, 0, rules, policies, key)
            else:
                gifts = _deal_once(auction, best, dealt, work, rules, policies, key)
            if gifts >= 0:
                break
            redeals += 1
            if redeals > MAX_REDEALS:
                return start + i
        declarer = auction[DECLARER]
        kept = work[HANDS]
        lowest, highest = contract_range(auction[BID], kept, dealt[declarer] | dealt[3], rules)
        contract = choose_contract(
            policies[declarer], key, declarer, rules, kept, lowest, highest, rules[_STEP]
        )
        play_tricks(work, rules, flags, policies, key, declarer)

        deals[i] = deal_number_of(dealt[0], dealt[1], dealt[2], ranks)
        out[_REDEALS, i] = redeals
        out[_DECLARER, i] = declarer
        out[_BID, i] = auction[BID]
        out[_CONTRACT, i] = contract
        out[_GIFT_LEFT, i] = gifts & 31
        out[_GIFT_RIGHT, i] = gifts >> 5
        four_nines = -1
        for seat in range(3):
            if dealt[seat] & _NINES == _NINES:
                four_nines = seat
        for seat in range(3):
            role = (seat + 3 - declarer) % 3
            points = work[POINTS + role] + work[MARRIAGES + role]
            out[_BID_BY_SEAT + seat, i] = best[seat]
            out[_POINTS_BY_SEAT + seat, i] = work[POINTS + role]
            out[_MARRIAGES_BY_SEAT + seat, i] = work[MARRIAGES + role]
            out[_TRICKS_BY_SEAT + seat, i] = work[TRICKS + role]
            out[_SCORE_BY_SEAT + seat, i] = deal_score(
                seat, points, declarer, contract, four_nines, rules
            )
        for suit in range(4):
            role = work[DECLARED_BY + suit]
            out[_DECLARED_SEAT + suit, i] = _NO_SEAT if role < 0 else (role + declarer) % 3
            out[_DECLARED_TRICK + suit, i] = work[DECLARED_IN + suit]
        points = work[POINTS] + work[MARRIAGES]
        out[_DECLARER_POINTS, i] = points
        out[_MADE, i] = 1 if is_made(points, contract, rules) else 0
        out[_CONCEDED, i] = 0
        out[_DARK, i] = 0
    return ALL_DEALS_PLAYED
