"""Questions about positions, also in the middle of a trick: the kernel that starts the search.

All in one kernel, on purpose: numba optimises the whole search anew in every kernel that calls it,
directly or not, and each takes a second or two of the first compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import NO_TRUMP
from milsim.solver.ranked import (
    ACES,
    SUIT,
    at_or_below,
    points_of,
    ranked,
    second_cards,
    suit_of,
    third_cards,
)
from milsim.solver.search import HUGE, last_trick, marriage_queens, search
from milsim.solver.table import SUMS, next_deal, prepare

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Rows of a table of positions, one column each. Hands are masks of RULES.md §1, without the cards
# on the table; seats 0 declarer, 1 his left, 2 his right; trumps 0–4.
DECLARER, LEFT, RIGHT, LEADER, TRUMP, COMING, LEAD, FOLLOW, LAST, TRICK, N_ROWS = range(11)


@kernel(inline=True)
def first_guess(own: int, one: int, other: int, work: NDArray[np.int64]) -> int:
    """About what the declarer will get, from a regression over random deals; misses by 17 or so."""
    tops = popcount(own & ~at_or_below(one | other))
    marriages = int(work[SUMS + (marriage_queens(own) >> 8)])
    return 12 * tops + 18 * popcount(own & ACES) + marriages * 4 // 5 - 15


@kernel
def answer(
    rows: NDArray[np.int64],
    needs: NDArray[np.int64],
    exact: int,
    anew: int,
    flags: int,
    values: int,
    work: NDArray[np.int64],
    result: NDArray[np.int64],
) -> None:
    """The declarer's future points in positions, int64[n]; or, if not ``exact``, a bound of them.

    ``rows``, int64[N_ROWS, n], see above: COMING is the trump from the next trick on; the points of
    the cards on the table count, what was declared with the lead does not. ``needs``, int64[n]: the
    question "at least so many?", answered as by `search`; for exact values where to begin, and may
    be empty then. ``anew``: the positions are of different deals.

    An exact value is found by questions: steps that double until it is bracketed, then halves. A
    search says more than yes or no, and the table makes all but the first question cheap.
    """
    cards_before = -1
    trick_before = -1
    for i in range(rows.shape[1]):
        own = ranked(rows[DECLARER, i])
        one = ranked(rows[LEFT, i])
        other = ranked(rows[RIGHT, i])
        lead = ranked(rows[LEAD, i])
        follow = ranked(rows[FOLLOW, i])
        last = ranked(rows[LAST, i])
        leader = rows[LEADER, i]
        trumps = SUIT << rows[TRUMP, i] if rows[TRUMP, i] != NO_TRUMP else 0
        coming = SUIT << rows[COMING, i] if rows[COMING, i] != NO_TRUMP else 0
        first = own if leader == 0 else (one if leader == 1 else other)
        second = one if leader == 0 else (other if leader == 1 else own)
        third = other if leader == 0 else (own if leader == 1 else one)
        cards = popcount(first | lead)
        trick = rows[TRICK, i]
        if cards != cards_before or trick != trick_before:
            prepare(work, flags, values, cards, trick)
            cards_before = cards
            trick_before = trick
        if anew != 0:
            next_deal(work, i)
        lower = 0
        upper = HUGE
        step = 8
        need = needs[i] if needs.shape[0] != 0 else first_guess(own, one, other, work)
        need = max(need, 1) if exact != 0 else need
        while True:
            # The best completion of the trick on the table; without one, a single round of it.
            suit = suit_of(lead) if lead != 0 else 0
            best_second = -HUGE if leader == 2 else HUGE
            follows = follow
            if lead != 0 and follow == 0:
                follows = second_cards(second, lead, suit, trumps, flags)
            while True:
                follow_now = follows & -follows
                follows ^= follow_now
                best_third = -HUGE if leader == 1 else HUGE
                thirds = last
                if lead != 0 and last == 0:
                    thirds = third_cards(third, lead, follow_now, suit, trumps, flags)
                while True:
                    last_now = thirds & -thirds
                    thirds ^= last_now
                    b = second & ~follow_now
                    c = third & ~last_now
                    on_table = lead | follow_now | last_now
                    able = on_table & trumps
                    able = able if able != 0 else on_table & suit
                    place = 1 if (follow_now & able) << 1 > able else 0
                    place = 2 if (last_now & able) << 1 > able else place
                    seat = leader + place
                    seat = seat - 3 if seat > 2 else seat
                    value = points_of(on_table) if seat == 0 else 0
                    x = first if place == 0 else (b if place == 1 else c)
                    y = b if place == 0 else (c if place == 1 else first)
                    z = c if place == 0 else (first if place == 1 else b)
                    if x == 0:
                        value += values >> 50 if seat == 0 and lead != 0 else 0
                    elif x & (x - 1) == 0:
                        value += last_trick(x, y, z, seat, coming, values)
                    else:
                        value += search(x, y, z, seat, coming, need - value, work)
                    best_third = max(best_third, value) if leader == 1 else min(best_third, value)
                    if thirds == 0 or (best_third >= need) == (leader == 1):
                        break
                best_second = (
                    max(best_second, best_third) if leader == 2 else min(best_second, best_third)
                )
                if follows == 0 or (best_second >= need) == (leader == 2):
                    break
            value = best_second
            if exact == 0:
                result[i] = value
                break
            if value >= need:
                lower = value
            else:
                upper = value
            if lower >= upper:
                result[i] = lower
                break
            if upper == HUGE:
                need = lower + step
                step *= 2
            elif lower == 0:
                need = upper - step + 1
                step *= 2
            else:
                need = (lower + upper + 1) // 2
            need = max(lower + 1, min(need, upper))


__all__ = [
    "COMING",
    "DECLARER",
    "FOLLOW",
    "LAST",
    "LEAD",
    "LEADER",
    "LEFT",
    "N_ROWS",
    "RIGHT",
    "TRICK",
    "TRUMP",
    "answer",
]
