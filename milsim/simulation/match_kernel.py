"""Whole matches by policies in one kernel: deal after deal until somebody wins.

Deal *d* (from 1) of match *m* has the deal index ``m * DEALS_PER_MATCH + d - 1``: its cards and
choices are those of that deal of the seed, so a match is a function of (seed, m) alone. Policies
belong to players, who keep their numbers while the seats go round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.auction import AUCTION_SIZE, is_silent, minimum_of
from milsim.dealing import deal_number_of, space_deal
from milsim.match_scoring import (
    BARREL,
    BOLT_PENALTY,
    CONCEDED,
    DEAL_SCORE,
    DEALER,
    DEALS,
    DUMPED,
    EVENTS,
    FELL,
    JUMPED,
    LOCKED_OUT,
    MATCH_SIZE,
    MAX_PLAYERS,
    MOUNTED,
    NO_PLAYER,
    NOT_ON_BARREL,
    POINTS,
    SCORE,
    TRICKS,
    WINNER,
    is_golden,
    match_start,
    player_at,
    redealt,
    score_deal_of_match,
    sitter_of,
)
from milsim.rights import may_concede
from milsim.rng import policy_key
from milsim.rules import place_of, word_of
from milsim.scoring import multiplier, sitter_score
from milsim.simulation import match_columns, tricks_kernel
from milsim.simulation.deal_kernel import (
    ALL_PASSED,
    AUCTION,
    BIDDING,
    CONCEDERS,
    COUNTS,
    DEAL_SIZE,
    DEALT,
    EARLIER,
    FOREHAND_PLAYS_120,
    GOLDEN,
    IS_CONCEDED,
    IS_DARK,
    IS_MADE,
    MAX_REDEALS,
    MINIMUM_IN_FORCE,
    PLAYER_OF_CONTRACT,
    SCORES,
    SILENT_SEATS,
    SITUATION_SIZE,
    play_dealt,
    write_row,
)
from milsim.simulation.tricks_kernel import WORK_SIZE
from milsim.tricks import play_flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Places in what `play_matches` tells at its end.
MATCHES_DONE = 0
ROWS_DONE = 1
STUCK_INDEX = 2  # index of a deal that was thrown in MAX_REDEALS times, or NOT_STUCK
PROGRESS_SIZE = 3

NOT_STUCK = -1

_BLOCK = 8
# Deals of a match that are dealt at once, as their waits for memory overlap; some are not played.

_PLAYERS = place_of("deal.players")
_MAX_DEALS = place_of("match.max_deals")
_GOLDEN = place_of("match.golden")
_PLAYS_120 = word_of("match.golden", "forehand_plays_120")

# numba freezes module names only when they are plain numbers.
_CARD_POINTS = tricks_kernel.POINTS
_MARRIAGES = tricks_kernel.MARRIAGES
_TRICKS_WON = tricks_kernel.TRICKS
_DEALS_PER_MATCH = match_columns.DEALS_PER_MATCH
_NUMBER = match_columns.NUMBER
_DEALER = match_columns.DEALER
_SCORE_SITTER = match_columns.SCORE_SITTER
_TOTAL_BY_PLAYER = match_columns.TOTAL_BY_PLAYER
_EVENTS_BY_PLAYER = match_columns.EVENTS_BY_PLAYER
_BARREL_BY_PLAYER = match_columns.BARREL_BY_PLAYER
_FIRST_DEALER = match_columns.FIRST_DEALER
_DEALS = match_columns.DEALS
_WINNER = match_columns.WINNER
_FINAL_BY_PLAYER = match_columns.FINAL_BY_PLAYER
_MOUNTS = match_columns.MOUNTS
_FALLS = match_columns.FALLS
_BOLT_PENALTIES = match_columns.BOLT_PENALTIES
_DUMPS = match_columns.DUMPS
_LOCKED_DEALS = match_columns.LOCKED_DEALS
_CONCESSIONS = match_columns.CONCESSIONS
_DARK_DEALS = match_columns.DARK_DEALS
_FROM_BARREL = match_columns.FROM_BARREL
_BY_JUMP = match_columns.BY_JUMP
_REDEALS = match_columns.REDEALS


@kernel
def sit_down(
    situation: NDArray[np.int64],
    seated: NDArray[np.int64],
    match: NDArray[np.int64],
    policies: NDArray[np.int64],
    rules: NDArray[np.int64],
) -> None:
    """What the next deal must know of the match, and the policies of its seats."""
    golden = is_golden(match, rules)
    plays_120 = golden != 0 and rules[_GOLDEN] == _PLAYS_120
    situation[BIDDING] = FOREHAND_PLAYS_120 if plays_120 else AUCTION
    situation[MINIMUM_IN_FORCE] = minimum_of(golden, rules)
    situation[GOLDEN] = golden
    silent = 0
    conceders = 0
    for seat in range(3):
        player = player_at(seat, match[DEALER], rules)
        seated[seat] = policies[player]
        situation[EARLIER + seat] = match[CONCEDED + player]
        on_barrel = 1 if match[BARREL + player] != NOT_ON_BARREL else 0
        if is_silent(match[SCORE + player], rules):
            silent |= 1 << seat
        if may_concede(match[CONCEDED + player], on_barrel, rules):
            conceders |= 1 << seat
    situation[SILENT_SEATS] = silent
    situation[CONCEDERS] = conceders


@kernel
def hand_in(
    match: NDArray[np.int64],
    deal: NDArray[np.int64],
    work: NDArray[np.int64],
    rules: NDArray[np.int64],
) -> int:
    """The numbers of a deal that counts, by player, into the match; the declarer, a player."""
    dealer = match[DEALER]
    declarer = deal[PLAYER_OF_CONTRACT]
    for seat in range(3):
        player = player_at(seat, dealer, rules)
        role = (seat + 3 - declarer) % 3
        match[DEAL_SCORE + player] = deal[SCORES + seat]
        match[TRICKS + player] = work[_TRICKS_WON + role]
        match[POINTS + player] = work[_CARD_POINTS + role] + work[_MARRIAGES + role]
    sitter = sitter_of(dealer, rules)
    if sitter != NO_PLAYER:
        doubled = multiplier(0, 0, is_golden(match, rules), rules)
        match[DEAL_SCORE + sitter] = sitter_score(deal[DEALT + 3], rules) * doubled
        match[TRICKS + sitter] = 0
        match[POINTS + sitter] = 0
    return player_at(declarer, dealer, rules)


@kernel
def note_deal(
    deal_rows: NDArray[np.int32],
    i: int,
    results: NDArray[np.int32],
    m: int,
    match: NDArray[np.int64],
    deal: NDArray[np.int64],
    dealer: int,
) -> None:
    """The row of a deal that was scored, and what it adds to the row of its match."""
    deal_rows[_NUMBER, i] = match[DEALS]
    deal_rows[_DEALER, i] = dealer
    anybody = 0
    for player in range(MAX_PLAYERS):
        events = match[EVENTS + player]
        anybody |= events
        deal_rows[_TOTAL_BY_PLAYER + player, i] = match[SCORE + player]
        deal_rows[_EVENTS_BY_PLAYER + player, i] = events
        deal_rows[_BARREL_BY_PLAYER + player, i] = match[BARREL + player]
        if events & MOUNTED != 0:
            results[_MOUNTS, m] += 1
        if events & FELL != 0:
            results[_FALLS, m] += 1
        if events & BOLT_PENALTY != 0:
            results[_BOLT_PENALTIES, m] += 1
        if events & DUMPED != 0:
            results[_DUMPS, m] += 1
    if anybody & LOCKED_OUT != 0:
        results[_LOCKED_DEALS, m] += 1
    results[_CONCESSIONS, m] += deal[IS_CONCEDED]
    results[_DARK_DEALS, m] += deal[IS_DARK]


@kernel
def play_matches(
    seed: int,
    first: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    space_header: NDArray[np.int64],
    space_hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    deals: NDArray[np.int64],
    out: NDArray[np.int16],
    deal_rows: NDArray[np.int32],
    results: NDArray[np.int32],
    progress: NDArray[np.int64],
) -> None:
    """Play matches of a seed, from the ``first`` on, as many as ``results`` and the rows hold.

    ``policies`` int64[4] by player. The deals that counted go, one match after the other, into
    ``deals`` int64[n] (deal numbers), ``out`` int16[N_COLUMNS, n] and ``deal_rows``
    int32[N_MATCH_DEAL_COLUMNS, n]; the matches into ``results`` int32[N_MATCH_COLUMNS, matches]. A
    match is begun only if its ``max_deals`` deals still fit, so n must be at least that.
    ``progress`` int64[PROGRESS_SIZE] tells how many matches and rows are done, and where it stuck.
    """
    flags = play_flags(rules)
    auction = np.empty(AUCTION_SIZE, np.int64)
    deal = np.empty(DEAL_SIZE, np.int64)
    work = np.empty(WORK_SIZE, np.int64)
    situation = np.zeros(SITUATION_SIZE, np.int64)
    seated = np.empty(3, np.int64)
    match = np.empty(MATCH_SIZE, np.int64)
    block = np.empty((_BLOCK, 4), np.int64)
    players = int(rules[_PLAYERS])
    max_deals = int(rules[_MAX_DEALS])
    progress[MATCHES_DONE] = 0
    progress[ROWS_DONE] = 0
    progress[STUCK_INDEX] = NOT_STUCK
    row = 0
    for m in range(results.shape[1]):
        if len(deals) - row < max_deals:
            break
        # The first deal goes to player m - 1, so that nobody keeps that seat.
        first_dealer = (first + m + players - 1) % players
        match_start(match, first_dealer)
        results[:, m] = 0
        results[_FIRST_DEALER, m] = first_dealer
        while match[WINNER] == NO_PLAYER and match[DEALS] < max_deals:
            index = (first + m) * _DEALS_PER_MATCH + match[DEALS]
            place = match[DEALS] % _BLOCK
            if place == 0:
                for j in range(_BLOCK):
                    block[j, 0], block[j, 1], block[j, 2], block[j, 3] = space_deal(
                        seed, index + j, 0, space_header, space_hands
                    )
            for hand in range(4):
                deal[DEALT + hand] = block[place, hand]
            redeals = 0
            while True:
                sit_down(situation, seated, match, policies, rules)
                key = policy_key(seed, index, redeals)
                outcome = play_dealt(
                    deal, auction, work, situation, parameters, rules, flags, seated, key
                )
                if outcome == COUNTS:
                    break
                redealt(match, 1 if outcome == ALL_PASSED else 0, rules)
                redeals += 1
                if redeals > MAX_REDEALS:
                    progress[STUCK_INDEX] = index
                    return
                deal[DEALT], deal[DEALT + 1], deal[DEALT + 2], deal[DEALT + 3] = space_deal(
                    seed, index, redeals, space_header, space_hands
                )
            dealer = match[DEALER]
            deals[row] = deal_number_of(deal[DEALT], deal[DEALT + 1], deal[DEALT + 2], ranks)
            write_row(out, row, redeals, deal, work)
            declarer = hand_in(match, deal, work, rules)
            sitter = sitter_of(dealer, rules)
            deal_rows[_SCORE_SITTER, row] = 0 if sitter == NO_PLAYER else match[DEAL_SCORE + sitter]
            # Who wins from the barrel was on it until now.
            was_on_barrel = match[BARREL + declarer] != NOT_ON_BARREL
            score_deal_of_match(match, declarer, deal[IS_MADE], deal[IS_CONCEDED], rules)
            note_deal(deal_rows, row, results, m, match, deal, dealer)
            results[_REDEALS, m] += redeals
            winner = match[WINNER]
            if winner == declarer and was_on_barrel:
                results[_FROM_BARREL, m] = 1
            if winner != NO_PLAYER and match[EVENTS + winner] & JUMPED != 0:
                results[_BY_JUMP, m] = 1
            row += 1
        results[_DEALS, m] = match[DEALS]
        results[_WINNER, m] = match[WINNER]
        for player in range(MAX_PLAYERS):
            results[_FINAL_BY_PLAYER + player, m] = match[SCORE + player]
        progress[MATCHES_DONE] = m + 1
        progress[ROWS_DONE] = row
