"""A whole deal by policies in one kernel: redeal rights, auction, exchange, contract, play, score.

`play_dealt` plays one deal whose cards are dealt, alone or in a match: what it needs to know of a
match is an array, the situation. Optional rights to a new deal are always used, as the preset's
default policies do (RULES.md §2). Whether to give a deal up is asked once, before the gifts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.auction import (
    AUCTION_SIZE,
    BID,
    DARK,
    DARK_BID,
    DECLARER,
    HOLDER,
    NOBODY,
    PASSED,
    TURN,
    auction_start,
    bid,
    bid_dark,
    contract_range,
    is_silent,
    legal_bids,
    may_bid_dark,
    minimum_of,
    pass_turn,
)
from milsim.bits import popcount
from milsim.cards import NINE, RANK_MASKS
from milsim.dealing import deal_number_of, space_deal
from milsim.policies.dispatch import (
    choose_bid,
    choose_concession,
    choose_contract,
    choose_dark,
    choose_gifts,
)
from milsim.rights import hand_rights, kept_rights, may_concede, talon_rights
from milsim.rng import policy_key
from milsim.rules import place_of, word_of
from milsim.scoring import (
    conceded_score,
    concession_gain,
    concession_price,
    deal_score,
    is_made,
    multiplier,
)
from milsim.simulation import columns
from milsim.simulation.tricks_kernel import CONTRACT as AIM
from milsim.simulation.tricks_kernel import (
    DECLARED_BY,
    DECLARED_IN,
    GIVEN,
    HANDS,
    MARRIAGES,
    POINTS,
    SHOWN,
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

# Places in a situation: what a deal must know of the match it belongs to.
BIDDING = 0  # one of the three ways below
MINIMUM_IN_FORCE = 1  # the lowest bid
SILENT_SEATS = 2  # a mask
CONCEDERS = 3  # seats that may concede as declarer, a mask
EARLIER = 4  # by seat: how often this player has conceded
GOLDEN = 7  # 1 in the first deals of a match, one a player
SITUATION_SIZE = 8

# Ways to find a declarer.
AUCTION = 0
FOREHAND_PLAYS_120 = 1  # without an auction, with all rights to a new deal
AS_DEALT = 2  # forehand plays the minimum: no auction, no rights, no concession

# Places in a deal.
DEALT = 0  # the hands by seat, and the talon
BEST_BIDS = 4  # by seat, 0 for none
SCORES = 7  # deal scores by seat, doubled where they count double
PLAYER_OF_CONTRACT = 10  # the declarer's seat
MADE_BID = 11  # what made him declarer
CONTRACT = 12  # the bid, if he concedes
IS_MADE = 13
IS_CONCEDED = 14
IS_DARK = 15
GIFTS = 16  # left + 32 * right, card indices
DEAL_SIZE = 17

# What comes of a deal.
COUNTS = 0  # it is played, or conceded
THROWN_IN = 1  # a new deal by a right
ALL_PASSED = 2  # a new deal because nobody bid

_STEP = place_of("auction.step")
_SHOWN = place_of("talon.shown")
_ALWAYS = word_of("talon.shown", "always")
_IF_CONTESTED = word_of("talon.shown", "if_contested")
_FOUR_NINES_BONUS = place_of("deal.four_nines_bonus")
_BLOCK = 64
_NINES = RANK_MASKS[NINE]

# numba freezes module names only when they are plain numbers.
_NO_SEAT = columns.NO_SEAT
_NO_GIFTS = columns.NO_CARD + 32 * columns.NO_CARD
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


@kernel(inline=True)
def _role_of(seat: int, declarer: int) -> int:
    """The role of a seat: 0 the declarer, 1 the defender on his left, 2 the one on his right."""
    role = seat - declarer
    return role + 3 if role < 0 else role


@kernel
def exchange(
    work: NDArray[np.int64],
    dealt: NDArray[np.int64],
    declarer: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    key: int,
) -> int:
    """The declarer takes the talon and gives two cards; the hands of eight go to ``work`` by role.

    ``dealt`` is int64 and begins with the three hands by seat and the talon. Returns the gifts,
    ``left + 32 * right`` (card indices).
    """
    hand10 = dealt[declarer] | dealt[3]
    gifts = choose_gifts(policies[declarer], key, declarer, parameters, rules, hand10)
    to_left = 1 << (gifts & 31)
    to_right = 1 << (gifts >> 5)
    work[GIVEN] = to_left
    work[GIVEN + 1] = to_right
    work[HANDS] = hand10 & ~to_left & ~to_right
    work[HANDS + 1] = dealt[(declarer + 1) % 3] | to_left
    work[HANDS + 2] = dealt[(declarer + 2) % 3] | to_right
    return gifts


@kernel(inline=True)
def shown_talon(
    talon: int, declarer: int, made_bid: int, minimum: int, dark: int, rules: NDArray[np.int64]
) -> int:
    """The talon as the defenders saw it, or 0; ``minimum`` is the lowest bid of this deal.

    >>> from milsim.rules import load, packed
    >>> shown_talon(0b111, 0, 100, 100, 0, packed(load("mil")))
    7
    """
    is_contested = declarer != 0 or made_bid != minimum
    is_shown = rules[_SHOWN] == _ALWAYS or (is_contested and rules[_SHOWN] == _IF_CONTESTED)
    return talon if is_shown and dark == 0 else 0


@kernel
def _hold_auction(
    auction: NDArray[np.int64],
    deal: NDArray[np.int64],
    situation: NDArray[np.int64],
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    key: int,
) -> None:
    """Bid to the end; the highest bid of each seat goes to the deal."""
    auction_start(auction, situation[MINIMUM_IN_FORCE], situation[SILENT_SEATS], rules)
    if may_bid_dark(auction, rules) and choose_dark(policies[0], key, 0) != 0:
        bid_dark(auction)
    if auction[BID] > 0:
        deal[BEST_BIDS + auction[HOLDER]] = auction[BID]
    call = 0
    while auction[TURN] != NOBODY:
        seat = auction[TURN]
        hand = deal[DEALT + seat]
        lowest, highest, step = legal_bids(auction, hand, rules)
        points = choose_bid(
            policies[seat], key, seat, call, parameters, rules, hand, lowest, highest, step, 1,
            popcount(auction[PASSED]),
        )  # fmt: skip
        call += 1
        if points == 0:
            pass_turn(auction, rules)
        else:
            deal[BEST_BIDS + seat] = points
            bid(auction, points, rules)
    if auction[DECLARER] != NOBODY:
        # The compulsory minimum of a dealer who was left alone is his bid too.
        deal[BEST_BIDS + auction[DECLARER]] = auction[BID]


@kernel
def settle(
    deal: NDArray[np.int64],
    points: NDArray[np.int64],
    earlier: int,
    golden: int,
    rules: NDArray[np.int64],
) -> None:
    """Deal scores by seat; ``points`` int64 by role, ``earlier`` concessions of the declarer."""
    declarer = deal[PLAYER_OF_CONTRACT]
    four_nines = -1
    if rules[_FOUR_NINES_BONUS] != 0:
        for seat in range(3):
            if deal[DEALT + seat] & _NINES == _NINES:
                four_nines = seat
    for seat in range(3):
        if deal[IS_CONCEDED] != 0:
            score = conceded_score(seat, declarer, deal[MADE_BID], earlier, four_nines, rules)
        else:
            role = _role_of(seat, declarer)
            total = points[POINTS + role] + points[MARRIAGES + role]
            score = deal_score(seat, total, declarer, deal[CONTRACT], four_nines, rules)
        is_declarer = 1 if seat == declarer else 0
        deal[SCORES + seat] = score * multiplier(is_declarer, deal[IS_DARK], golden, rules)


@kernel
def play_dealt(
    deal: NDArray[np.int64],
    auction: NDArray[np.int64],
    work: NDArray[np.int64],
    situation: NDArray[np.int64],
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    flags: int,
    policies: NDArray[np.int64],
    key: int,
) -> int:
    """Play a deal whose cards lie in ``deal[DEALT…]``, from the redeal rights to the deal scores.

    ``deal`` int64[DEAL_SIZE] and ``work`` int64[WORK_SIZE] (by role, see
    :mod:`milsim.simulation.tricks_kernel`) get what happened, ``auction`` int64[AUCTION_SIZE] is
    room to work in, ``situation`` int64[SITUATION_SIZE] is given; ``flags`` are those of
    `play_flags`, ``parameters`` of `kernel_parameters`, ``policies`` int64[3] by seat, ``key`` the
    deal's `policy_key`. Returns COUNTS, THROWN_IN or ALL_PASSED.
    """
    bidding = situation[BIDDING]
    if bidding != AS_DEALT:
        for seat in range(3):
            if hand_rights(deal[DEALT + seat], rules) != 0:
                return THROWN_IN
    for seat in range(3):
        deal[BEST_BIDS + seat] = 0
    deal[IS_DARK] = 0
    deal[IS_CONCEDED] = 0
    if bidding == AUCTION:
        _hold_auction(auction, deal, situation, parameters, rules, policies, key)
        if auction[DECLARER] == NOBODY:
            return ALL_PASSED
        declarer = auction[DECLARER]
        made_bid = auction[BID]
        deal[IS_DARK] = auction[DARK]
    else:
        declarer = 0
        made_bid = DARK_BID if bidding == FOREHAND_PLAYS_120 else situation[MINIMUM_IN_FORCE]
        deal[BEST_BIDS] = made_bid
    deal[PLAYER_OF_CONTRACT] = declarer
    deal[MADE_BID] = made_bid
    minimum = situation[MINIMUM_IN_FORCE]
    earlier = situation[EARLIER + declarer]
    if bidding != AS_DEALT:
        if talon_rights(deal[DEALT + 3], made_bid, minimum, rules) != 0:
            return THROWN_IN
        if situation[CONCEDERS] >> declarer & 1 != 0:
            deal[IS_CONCEDED] = choose_concession(
                policies[declarer],
                key,
                declarer,
                parameters,
                rules,
                deal[DEALT + declarer] | deal[DEALT + 3],
                made_bid,
                concession_price(made_bid, earlier, rules),
                concession_gain(made_bid, rules),
            )
            if deal[IS_CONCEDED] != 0:
                for place in range(POINTS, DECLARED_BY):
                    work[place] = 0
                for suit in range(4):
                    work[DECLARED_BY + suit] = -1
                    work[DECLARED_IN + suit] = 0
                deal[CONTRACT] = made_bid
                deal[GIFTS] = _NO_GIFTS
                deal[IS_MADE] = 0
                settle(deal, work, earlier, situation[GOLDEN], rules)
                return COUNTS
    deal[GIFTS] = exchange(work, deal, declarer, parameters, rules, policies, key)
    if bidding != AS_DEALT:
        for role in range(3):
            if kept_rights(work[HANDS + role], rules) != 0:
                return THROWN_IN
    kept = work[HANDS]
    ten = deal[DEALT + declarer] | deal[DEALT + 3]
    lowest, highest = contract_range(made_bid, kept, ten, minimum, rules)
    contract = choose_contract(
        policies[declarer], key, declarer, parameters, rules, kept, lowest, highest, rules[_STEP]
    )
    deal[CONTRACT] = contract
    work[AIM] = contract
    work[SHOWN] = shown_talon(deal[DEALT + 3], declarer, made_bid, minimum, deal[IS_DARK], rules)
    play_tricks(work, parameters, rules, flags, policies, key, declarer)
    deal[IS_MADE] = 1 if is_made(work[POINTS] + work[MARRIAGES], contract, rules) else 0
    settle(deal, work, earlier, situation[GOLDEN], rules)
    return COUNTS


@kernel
def write_row(
    out: NDArray[np.int16],
    i: int,
    redeals: int,
    deal: NDArray[np.int64],
    work: NDArray[np.int64],
) -> None:
    """The row of a deal that counts, as column ``i`` of int16[N_COLUMNS, n]."""
    declarer = deal[PLAYER_OF_CONTRACT]
    out[_REDEALS, i] = redeals
    out[_DECLARER, i] = declarer
    out[_BID, i] = deal[MADE_BID]
    out[_CONTRACT, i] = deal[CONTRACT]
    out[_GIFT_LEFT, i] = deal[GIFTS] & 31
    out[_GIFT_RIGHT, i] = deal[GIFTS] >> 5
    for seat in range(3):
        role = _role_of(seat, declarer)
        out[_BID_BY_SEAT + seat, i] = deal[BEST_BIDS + seat]
        out[_POINTS_BY_SEAT + seat, i] = work[POINTS + role]
        out[_MARRIAGES_BY_SEAT + seat, i] = work[MARRIAGES + role]
        out[_TRICKS_BY_SEAT + seat, i] = work[TRICKS + role]
        out[_SCORE_BY_SEAT + seat, i] = deal[SCORES + seat]
    for suit in range(4):
        role = work[DECLARED_BY + suit]
        out[_DECLARED_SEAT + suit, i] = _NO_SEAT if role < 0 else (role + declarer) % 3
        out[_DECLARED_TRICK + suit, i] = work[DECLARED_IN + suit]
    out[_DECLARER_POINTS, i] = work[POINTS] + work[MARRIAGES]
    out[_MADE, i] = deal[IS_MADE]
    out[_CONCEDED, i] = deal[IS_CONCEDED]
    out[_DARK, i] = deal[IS_DARK]


@kernel
def play_deals(
    seed: int,
    start: int,
    with_auction: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    space_header: NDArray[np.int64],
    space_hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    deals: NDArray[np.int64],
    out: NDArray[np.int16],
) -> int:
    """Play deals ``start … start + len(deals) - 1`` of a seed in a space of deals.

    There is no match: the scores are 0, no deal is golden, nobody has conceded before. ``policies``
    int64[3] by seat; ``with_auction`` 0: forehand declares every deal as dealt, at the minimum.
    ``deals`` int64[n] gets the deal numbers, ``out`` int16[N_COLUMNS, n or more] the rows of
    :mod:`milsim.simulation.columns`. Returns ALL_DEALS_PLAYED, or the index of a deal that was
    thrown in MAX_REDEALS times.

    The first cards of each deal are dealt by blocks, where the waits for memory overlap.
    """
    flags = play_flags(rules)
    auction = np.empty(AUCTION_SIZE, np.int64)
    deal = np.empty(DEAL_SIZE, np.int64)
    work = np.empty(WORK_SIZE, np.int64)
    situation = np.zeros(SITUATION_SIZE, np.int64)
    situation[BIDDING] = AS_DEALT if with_auction == 0 else AUCTION
    situation[MINIMUM_IN_FORCE] = minimum_of(0, rules)
    situation[SILENT_SEATS] = 0b111 if is_silent(0, rules) else 0
    situation[CONCEDERS] = 0b111 if may_concede(0, 0, rules) else 0
    block = np.empty((_BLOCK, 4), np.int64)
    for i in range(len(deals)):
        place = i % _BLOCK
        if place == 0:
            for j in range(min(_BLOCK, len(deals) - i)):
                block[j, 0], block[j, 1], block[j, 2], block[j, 3] = space_deal(
                    seed, start + i + j, 0, space_header, space_hands
                )
        for hand in range(4):
            deal[DEALT + hand] = block[place, hand]
        redeals = 0
        while True:
            key = policy_key(seed, start + i, redeals)
            if (
                play_dealt(deal, auction, work, situation, parameters, rules, flags, policies, key)
                == COUNTS
            ):
                break
            redeals += 1
            if redeals > MAX_REDEALS:
                return start + i
            deal[DEALT], deal[DEALT + 1], deal[DEALT + 2], deal[DEALT + 3] = space_deal(
                seed, start + i, redeals, space_header, space_hands
            )
        deals[i] = deal_number_of(deal[DEALT], deal[DEALT + 1], deal[DEALT + 2], ranks)
        write_row(out, i, redeals, deal, work)
    return ALL_DEALS_PLAYED
