"""The policy `oracle`: it sees all cards. No honest player, but an upper bound for them.

Its cards and its exchange are double dummy: as declarer the most points against two defenders who
see all cards too and play together, as defender the fewest for the declarer. It bids as long as its
cards, with this talon, make the bid double dummy, and names the highest contract that they make.
Of equal cards it plays the cheapest, of equal pairs of gifts it gives the first.
"""

from __future__ import annotations

import threading

import numpy as np

from milsim.policies.players import Hands
from milsim.policies.seen import Seen
from milsim.solver.exchange import COUNT, GIFT_LEFT, GIFT_RIGHT, POINTS, exchange_rows
from milsim.solver.root import (
    COMING,
    DECLARER,
    FOLLOW,
    LAST,
    LEAD,
    LEADER,
    LEFT,
    N_ROWS,
    RIGHT,
    TRICK,
    TRUMP,
    answer,
)
from milsim.solver.table import new_workspace
from milsim.tricks import MARRIAGE, NEXT_TRICK_TRUMP, can_declare, declared_points

_NO_NEEDS = np.empty(0, np.int64)
_ROWS_OF_ROLES = (DECLARER, LEFT, RIGHT)


class _Room(threading.local):
    def __init__(self) -> None:
        self.work = new_workspace()


class OraclePlayer:
    """`oracle` at a driven table."""

    sees_all = True

    def __init__(self) -> None:
        """Without parameters; each thread gets a table for the solver."""
        self._room = _Room()

    # -- auction and exchange --------------------------------------------------------------------

    def _best_exchange(self, seen: Seen, hands: Hands) -> tuple[int, int, int]:
        """Points, the gift to the left, the gift to the right, with the talon in hand."""
        seat, by = seen.seat, seen.table.by
        ten = hands[seat] | hands[3]
        rows = np.array([[ten], [hands[(seat + 1) % 3]], [hands[(seat + 2) % 3]]])
        result = np.empty((COUNT + 1, 1), np.int64)
        nothing = np.empty((0, 0, 0), np.int16)
        exchange_rows(rows, by.flags, by.values, self._room.work, nothing, result)
        return int(result[POINTS, 0]), int(result[GIFT_LEFT, 0]), int(result[GIFT_RIGHT, 0])

    def dark(self, seen: Seen) -> bool:  # noqa: ARG002
        """Never: it sees more than the dark allows."""
        return False

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        """The lowest bid while it is made double dummy, else a pass."""
        if hands is None or seen.lowest > seen.highest:
            return 0
        return seen.lowest if self._best_exchange(seen, hands)[0] >= seen.lowest else 0

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:
        """If the bid is not made double dummy, and giving up costs less than failing."""
        if hands is None or self._best_exchange(seen, hands)[0] >= seen.table.bid:
            return False
        return seen.price < seen.table.bid

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        """The pair after which the declarer gets the most points double dummy."""
        if hands is None:
            raise ValueError("the oracle must see all hands")
        _, left, right = self._best_exchange(seen, hands)
        return left, right

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        """The highest contract that is made double dummy, else the bid."""
        if hands is None:
            raise ValueError("the oracle must see all hands")
        seat = seen.seat
        rows = np.zeros((N_ROWS, 1), np.int64)
        for turn, row in enumerate(_ROWS_OF_ROLES):
            rows[row] = hands[(seat + turn) % 3]
        rows[TRUMP] = rows[COMING] = 4
        rows[TRICK] = 1
        points = self._solve(seen, rows)[0]
        step = seen.table.by.step
        steps = max(0, min(points, seen.highest) - seen.lowest) // step
        return seen.lowest + steps * step

    # -- the play --------------------------------------------------------------------------------

    def _solve(
        self, seen: Seen, rows: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    ) -> list[int]:
        found = np.empty(rows.shape[1], np.int64)
        by, work = seen.table.by, self._room.work
        # A tag of its own for each position: the table may still hold another deal.
        answer(rows, _NO_NEEDS, 1, 1, by.flags, by.values, work, found)
        return [int(points) for points in found]

    def values(self, seen: Seen, hands: Hands) -> dict[int, int]:
        """The declarer's future points after each legal card, double dummy."""
        table, by, role = seen.table, seen.table.by, seen.role
        cards = [card for card in range(24) if seen.legal >> card & 1]
        rows = np.zeros((N_ROWS, len(cards)), np.int64)
        gains = [0] * len(cards)
        for turn, row in enumerate(_ROWS_OF_ROLES):
            rows[row] = hands[(table.declarer + turn) % 3]
        rows[LEADER] = table.role(table.leader)
        rows[TRUMP], rows[COMING] = _suit(table.trumps), _suit(table.coming)
        rows[LEAD], rows[FOLLOW], rows[TRICK] = table.lead, table.second, table.trick_number
        place = LAST if table.second else FOLLOW if table.lead else LEAD
        for j, card in enumerate(cards):
            rows[_ROWS_OF_ROLES[role], j] &= ~(1 << card)
            rows[place, j] = 1 << card
            if place != LEAD:
                continue
            can = int(can_declare(seen.hand, 1 << card, table.trick_number, by.flags))
            if role == 0:
                gains[j] = int(declared_points(can, 1 << card, by.values))
            if can == MARRIAGE:
                rows[COMING, j] = card // 6
                if not by.flags & NEXT_TRICK_TRUMP:
                    rows[TRUMP, j] = card // 6
        points = self._solve(seen, rows)
        return {card: points[j] + gains[j] for j, card in enumerate(cards)}

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """The best card double dummy; of equal ones the cheapest, then the first."""
        if hands is None:
            raise ValueError("the oracle must see all hands")
        values = self.values(seen, hands)
        sign = -1 if seen.role == 0 else 1
        return min(values, key=lambda card: (sign * values[card], card % 6, card))

    def declares(self, seen: Seen, card: int) -> bool:  # noqa: ARG002
        """Always: points and the trump."""
        return True


def _suit(trumps: int) -> int:
    return 4 if trumps == 0 else (trumps.bit_length() - 1) // 6


__all__ = ["OraclePlayer"]
