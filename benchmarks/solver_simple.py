"""The first simple version of the solver: alpha-beta and a table, nothing else. A baseline.

Card by card with the kernels of `milsim.tricks`; a two-word table entry (key, bounds) a position
before a trick; cards in the order of their indices. Kept to measure what the rest is worth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from milsim._jit import kernel
from milsim.bits import multiply_low, shift_right, word_of
from milsim.tricks import (
    MARRIAGE,
    NOTHING,
    can_declare,
    declared_points,
    last_trick_points,
    legal_follow,
    points_in,
    suit_mask,
    winning_place,
)

_LIMIT = 1 << 20
_BITS = 16


@kernel(signature=f"int64({', '.join(['int64'] * 13)}, int64[::1])")
def simple_value(
    first: int,
    second: int,
    third: int,
    declarer: int,
    lead: int,
    follow: int,
    trumps: int,
    coming: int,
    trick: int,
    flags: int,
    values: int,
    alpha: int,
    beta: int,
    table: NDArray[np.int64],
) -> int:
    """As `milsim.solver.brute.brute_value` (marriages automatic and immediate), fail-soft."""
    place = 0 if lead == 0 else (1 if follow == 0 else 2)
    hand = first if place == 0 else (second if place == 1 else third)
    if hand == 0:
        return 0
    none = word_of(0)
    slot = none
    key = none
    low, high = alpha, beta
    if place == 0:
        table[0] += 1
        suits = (trumps | trumps >> 6 | trumps >> 12 | trumps >> 18) & 1
        trump = (
            (trumps & 1) + 2 * (trumps >> 6 & 1) + 3 * (trumps >> 12 & 1) + 4 * (trumps >> 18 & 1)
        )
        key = (first | second | third) | declarer << 24 | trump << 26 | suits << 29 | 1 << 30
        slot = 2 + 3 * shift_right(multiply_low(key, -7046029254386353131), 64 - _BITS)
        if table[slot] == key:
            low, high = table[slot + 1], table[slot + 2]
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
            alpha, beta = max(alpha, low), min(beta, high)
        else:
            low, high = -_LIMIT, _LIMIT
    maximises = place == declarer
    best = -_LIMIT if maximises else _LIMIT
    a, b = alpha, beta
    cards = legal_follow(hand, lead, follow, trumps, flags)
    while cards != 0 and a < b:
        card = cards & -cards
        cards ^= card
        gain = none
        if place == 0:
            now, then = trumps, coming
            kind = can_declare(hand, card, trick, flags)
            if kind != NOTHING:
                gain = declared_points(kind, card, values) if declarer == 0 else 0
                if kind == MARRIAGE:
                    now = suit_mask(card)
                    then = now
            value = gain + simple_value(
                first ^ card, second, third, declarer, card, none, now, then, trick, flags,
                values, a - gain, b - gain, table,
            )  # fmt: skip
        elif place == 1:
            value = simple_value(
                first, second ^ card, third, declarer, lead, card, trumps, coming, trick, flags,
                values, a, b, table,
            )  # fmt: skip
        else:
            rest = third ^ card
            winner = winning_place(lead, follow, card, trumps)
            if winner == declarer:
                gain = points_in(lead | follow | card)
                gain += last_trick_points(values) if first == 0 else 0
            x = first if winner == 0 else (second if winner == 1 else rest)
            y = second if winner == 0 else (rest if winner == 1 else first)
            z = rest if winner == 0 else (first if winner == 1 else second)
            seat = declarer - winner
            seat = seat + 3 if seat < 0 else seat
            value = gain + simple_value(
                x, y, z, seat, none, none, coming, coming, trick + 1, flags, values, a - gain,
                b - gain, table,
            )  # fmt: skip
        if maximises:
            best = max(best, value)
            a = max(a, best)
        else:
            best = min(best, value)
            b = min(b, best)
    if place == 0:
        table[slot] = key
        table[slot + 1] = best if best > alpha else max(low, -_LIMIT)
        table[slot + 2] = best if best < beta else min(high, _LIMIT)
    return best


@kernel
def simple_rows(
    rows: NDArray[np.int64], flags: int, values: int, low: int, high: int,
    table: NDArray[np.int64], result: NDArray[np.int64],
) -> None:  # fmt: skip
    """Values of full deals, the declarer on lead, no trump; ``rows`` int64[3, n]."""
    for i in range(rows.shape[1]):
        table[2:] = 0
        result[i] = simple_value(
            rows[0, i], rows[1, i], rows[2, i], word_of(0), word_of(0), word_of(0), word_of(0),
            word_of(0), word_of(1), flags, values, low, high, table,
        )  # fmt: skip


def new_table() -> NDArray[np.int64]:
    return np.zeros(2 + (3 << _BITS), np.int64)
