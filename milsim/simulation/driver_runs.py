"""Many driven deals, and driven matches: the twins of `play_deals` and `play_matches` in Python.

The same seeds deal the same cards, the same kernels write the same rows; only who is asked differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from milsim.auction import is_silent, minimum_of
from milsim.dealing import deal_number_of, space_deal
from milsim.match_scoring import (
    BARREL,
    DEAL_SCORE,
    DEALER,
    DEALS,
    EVENTS,
    JUMPED,
    MATCH_SIZE,
    MAX_PLAYERS,
    NO_PLAYER,
    NOT_ON_BARREL,
    SCORE,
    WINNER,
    match_start,
    redealt,
    score_deal_of_match,
    sitter_of,
)
from milsim.policies.players import Player
from milsim.policies.seen import TableRules
from milsim.rights import may_concede
from milsim.rng import policy_key
from milsim.simulation import match_columns as columns
from milsim.simulation.deal_kernel import (
    ALL_DEALS_PLAYED,
    ALL_PASSED,
    AS_DEALT,
    AUCTION,
    BIDDING,
    CONCEDERS,
    COUNTS,
    DEALT,
    IS_CONCEDED,
    IS_MADE,
    MAX_REDEALS,
    MINIMUM_IN_FORCE,
    SILENT_SEATS,
    write_row,
)
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.match_columns import DEALS_PER_MATCH
from milsim.simulation.match_kernel import (
    MATCHES_DONE,
    NOT_STUCK,
    ROWS_DONE,
    STUCK_INDEX,
    hand_in,
    note_deal,
    sit_down,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def drive_deals(
    players: Sequence[Player],
    names: Sequence[str],
    by: TableRules,
    seed: int,
    start: int,
    with_auction: int,
    space_header: NDArray[np.int64],
    space_hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    deals: NDArray[np.int64],
    out: NDArray[np.int16],
) -> int:
    """As `milsim.simulation.deal_kernel.play_deals`, with three players by seat and their names."""
    driven = DrivenDeal(by, names)
    situation, fields = driven.situation, by.fields
    situation[BIDDING] = AS_DEALT if with_auction == 0 else AUCTION
    situation[MINIMUM_IN_FORCE] = minimum_of(0, fields)
    situation[SILENT_SEATS] = 0b111 if is_silent(0, fields) else 0
    situation[CONCEDERS] = 0b111 if may_concede(0, 0, fields) else 0
    for i in range(len(deals)):
        redeals = 0
        driven.where = f"deal {start + i}"
        while True:
            dealt = space_deal(seed, start + i, redeals, space_header, space_hands)
            key = int(policy_key(seed, start + i, redeals))
            if driven.play(_plain(dealt), players, key) == COUNTS:
                break
            redeals += 1
            if redeals > MAX_REDEALS:
                return start + i
        first, second, third = (int(hand) for hand in driven.deal[DEALT : DEALT + 3])
        deals[i] = deal_number_of(first, second, third, ranks)
        write_row(out, i, redeals, driven.deal, driven.work)
    return ALL_DEALS_PLAYED


def drive_matches(
    players: Sequence[Player],
    names: Sequence[str],
    by: TableRules,
    seed: int,
    first: int,
    space_header: NDArray[np.int64],
    space_hands: NDArray[np.int32],
    ranks: NDArray[np.int32],
    deals: NDArray[np.int64],
    out: NDArray[np.int16],
    deal_rows: NDArray[np.int32],
    results: NDArray[np.int32],
    progress: NDArray[np.int64],
) -> None:
    """As `milsim.simulation.match_kernel.play_matches`, with the players of a match, and names."""
    fields = by.fields
    n_players = by.rules.deal.players
    max_deals = by.rules.match.max_deals
    match = np.empty(MATCH_SIZE, np.int64)
    seated = np.empty(3, np.int64)
    numbers = np.arange(MAX_PLAYERS, dtype=np.int64)  # a player stands for his policy
    driven = DrivenDeal(by, names[:3])
    deal, work, situation = driven.deal, driven.work, driven.situation
    progress[MATCHES_DONE] = progress[ROWS_DONE] = 0
    progress[STUCK_INDEX] = NOT_STUCK
    row = 0
    for m in range(results.shape[1]):
        if len(deals) - row < max_deals:
            break
        first_dealer = (first + m + n_players - 1) % n_players
        match_start(match, first_dealer)
        results[:, m] = 0
        results[columns.FIRST_DEALER, m] = first_dealer
        while match[WINNER] == NO_PLAYER and match[DEALS] < max_deals:
            number = int(match[DEALS])
            index = (first + m) * DEALS_PER_MATCH + number
            redeals = 0
            while True:
                sit_down(situation, seated, match, numbers, fields)
                at_table = [int(player) for player in seated]
                driven.names = tuple(names[player] for player in at_table)
                driven.where = f"match {first + m}, deal {number + 1}"
                one, two, three = (int(match[SCORE + player]) for player in at_table)
                driven.scores = one, two, three
                x, y, z = (bool(match[BARREL + player] != NOT_ON_BARREL) for player in at_table)
                driven.on_barrel = x, y, z
                dealt = space_deal(seed, index, redeals, space_header, space_hands)
                key = int(policy_key(seed, index, redeals))
                seats = [players[player] for player in at_table]
                outcome = driven.play(_plain(dealt), seats, key)
                if outcome == COUNTS:
                    break
                redealt(match, int(outcome == ALL_PASSED), fields)
                redeals += 1
                if redeals > MAX_REDEALS:
                    progress[STUCK_INDEX] = index
                    return
            dealer = int(match[DEALER])
            a, b, c = (int(hand) for hand in deal[DEALT : DEALT + 3])
            deals[row] = deal_number_of(a, b, c, ranks)
            write_row(out, row, redeals, deal, work)
            declarer = int(hand_in(match, deal, work, fields))
            sitter = int(sitter_of(dealer, fields))
            deal_rows[columns.SCORE_SITTER, row] = (
                0 if sitter == NO_PLAYER else match[DEAL_SCORE + sitter]
            )
            was_on_barrel = bool(match[BARREL + declarer] != NOT_ON_BARREL)
            success, conceded = int(deal[IS_MADE]), int(deal[IS_CONCEDED])
            score_deal_of_match(match, declarer, success, conceded, fields)
            note_deal(deal_rows, row, results, m, match, deal, dealer)
            results[columns.REDEALS, m] += redeals
            winner = int(match[WINNER])
            results[columns.FROM_BARREL, m] = int(winner == declarer and was_on_barrel)
            if winner != NO_PLAYER:
                results[columns.BY_JUMP, m] = int(int(match[EVENTS + winner]) & JUMPED != 0)
            row += 1
        results[columns.DEALS, m] = match[DEALS]
        results[columns.WINNER, m] = match[WINNER]
        for player in range(MAX_PLAYERS):
            results[columns.FINAL_BY_PLAYER + player, m] = match[SCORE + player]
        progress[MATCHES_DONE] = m + 1
        progress[ROWS_DONE] = row


def _plain(dealt: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Hands and talon as Python's integers, where kernels run as plain Python too."""
    first, second, third, talon = (int(cards) for cards in dealt)
    return first, second, third, talon


__all__ = ["drive_deals", "drive_matches"]
