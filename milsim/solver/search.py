"""The search: can the declarer still take so many points? A zero window over positions.

`search` answers one question, "at least ``need`` points?", and its answer carries more: a result of
``need`` or more is a lower bound of the value, a smaller one an upper bound. The three cards of a
trick are three loops in one kernel, so that a node is a whole trick. The coalition of the defenders
minimises, so each loop keeps a best for its side, and stops at the first card that decides.

One kernel calls itself with one explicit signature, hands as scalars, one array (STYLE, numba).
Encoding: `milsim.solver.ranked`. Seats: 0 the declarer, 1 his left, 2 his right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.solver.bounds import (
    declarer_off_lead,
    defenders_off_lead,
    sure_winners,
    worth,
)
from milsim.solver.dominance import lost_leads, with_equal_above, with_equal_below
from milsim.solver.ordering import dearest, winning_follows, winning_leads
from milsim.solver.ranked import (
    ACES,
    QUEENS,
    points_of,
    second_cards,
    suit_of,
    third_cards,
)
from milsim.solver.table import (
    FLAGS,
    LATER,
    MOST,
    NODES,
    OPEN,
    SUMS,
    VALUES,
    entry_of,
    key_in,
    key_of,
    lower_in,
    slot_of,
    upper_in,
)
from milsim.solver.techniques import BOUNDS, DOMINANCE, OFF_LEAD, ORDER, TABLE
from milsim.tricks import ACES_DECLARE, NEXT_TRICK_TRUMP, OPTIONAL_DECLARATION, QUEEN_DECLARES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HUGE = 1 << 20  # more than any value
_ACE_SHIFT, _BONUS_SHIFT, _QUEEN_NIBBLE = 40, 50, 8


@kernel(inline=True)
def marriage_queens(hand: int) -> int:
    """The queens of a hand whose kings it holds too."""
    return hand & hand >> 4 & QUEENS


@kernel(inline=True)
def last_trick(lead: int, second: int, third: int, leader: int, trumps: int, values: int) -> int:
    """The declarer's points in the last trick, where nobody chooses."""
    cards = lead | second | third
    ruffs = cards & trumps
    able = ruffs if ruffs != 0 else cards & suit_of(lead)
    own = lead if leader == 0 else (third if leader == 1 else second)
    return points_of(cards) + (values >> _BONUS_SHIFT) if (own & able) << 1 > able else 0


@kernel(signature="int64(int64, int64, int64, int64, int64, int64, int64[::1])")
def search(
    first: int,
    second: int,
    third: int,
    leader: int,
    trumps: int,
    need: int,
    work: NDArray[np.int64],
) -> int:
    """A bound of the declarer's future points: lower if it is ``need`` or more, else upper.

    Before a trick with two cards a hand or more. Hands in the order of play, ``leader`` the seat of
    the first, ``trumps`` a mask, ``work`` a prepared workspace.
    """
    work[NODES] += 1
    cards = first | second | third
    left = popcount(first)
    trumps = trumps if cards & trumps != 0 else 0
    flags = work[FLAGS]
    values = work[VALUES]
    declarer = first if leader == 0 else (third if leader == 1 else second)
    own_place = 0 if leader == 0 else 3 - leader

    # What the table knows.
    key = key_of(cards, leader, trumps, work)
    slot = slot_of(key, work)
    known = 0
    lower = 0
    upper = HUGE
    if TABLE and left > 2:
        known = work[slot]
        if key_in(known) == key:
            lower = lower_in(known)
            if lower >= need:
                return lower
            upper = upper_in(known)
            if upper < need:
                return upper

    # What is sure.
    open_now = work[OPEN + left]
    open_later = work[LATER + left]
    queens = marriage_queens(first) & open_later
    keep = queens | queens << 4
    if flags & ACES_DECLARE and first & ACES == ACES:
        keep |= ACES
    if BOUNDS:
        live = (marriage_queens(declarer) & open_later) >> _QUEEN_NIBBLE
        bonus = values >> _BONUS_SHIFT
        rest = points_of(cards) + bonus
        has_aces = flags & ACES_DECLARE != 0 and declarer & ACES == ACES and open_later != 0
        rest += values >> _ACE_SHIFT & 1023 if has_aces else 0
        winners = sure_winners(first & ~keep, second, third, trumps, 1)
        count = popcount(winners)
        taken = worth(winners, second, third, left, bonus)
        if leader == 0:
            # He takes what is sure, then leads a marriage; or leads the marriage now.
            if live != 0:
                if work[OPEN + left - count] != 0:
                    taken += work[MOST + live]
                elif open_now != 0:
                    taken = max(taken, work[MOST + live])
            lower = max(lower, taken)
            upper = min(upper, rest + work[SUMS + live])
            if OFF_LEAD and live == 0 and not has_aces and lower < need and upper >= need:
                loud = (marriage_queens(second) | marriage_queens(third)) & open_later
                loud |= loud << 4
                lost = defenders_off_lead(first, second, third, loud, trumps, left, bonus)
                upper = min(upper, rest - lost)
        else:
            # After the defenders' tricks he comes on lead, if at all, after one trick more.
            leads = left - count - 1
            extra = work[SUMS + live] if leads > 1 else (work[MOST + live] if leads == 1 else 0)
            upper = min(upper, rest - taken + extra if leads >= 0 else 0)
            if OFF_LEAD and upper >= need and lower < need and queens & open_now == 0:
                partner = second if leader == 1 else third
                calm = 1 if (queens | marriage_queens(partner) & open_later) == 0 else 0
                loud = (live | live << 4) << _QUEEN_NIBBLE
                sure = declarer_off_lead(declarer, loud, first, partner, trumps, calm, left, bonus)
                lower = max(lower, sure)
        if lower >= need:
            return lower
        if upper < need:
            return upper

    declaring = queens & open_now
    declaring |= declaring << 4 & ((flags & QUEEN_DECLARES) - 1 >> 63)
    aces = ACES if flags & ACES_DECLARE and first & ACES == ACES and open_now != 0 else 0
    # Cards of each hand that a dearer or a cheaper equal stands for (milsim.solver.dominance).
    others = second | third | keep
    above_first = with_equal_above(first & ~keep, others) if DOMINANCE else 0
    below_first = with_equal_below(first & ~keep, others) if DOMINANCE else 0
    above_second = 0
    below_second = 0
    above_third = 0
    below_third = 0
    if DOMINANCE:
        loud = marriage_queens(second) & open_later
        loud |= loud << 4
        loud |= ACES if flags & ACES_DECLARE and second & ACES == ACES else 0
        above_second = with_equal_above(second & ~loud, first | third | loud)
        below_second = with_equal_below(second & ~loud, first | third | loud)
        loud = marriage_queens(third) & open_later
        loud |= loud << 4
        loud |= ACES if flags & ACES_DECLARE and third & ACES == ACES else 0
        above_third = with_equal_above(third & ~loud, first | second | loud)
        below_third = with_equal_below(third & ~loud, first | second | loud)

    good = 0
    if ORDER:
        partner = 0 if leader == 0 else (1 if leader == 1 else 2)
        good = winning_leads(
            first, second if partner != 1 else 0, third if partner != 2 else 0, trumps
        )
    best = -HUGE if leader == 0 else HUGE
    leads = first
    if DOMINANCE:
        leads &= ~(good & above_first)
        leads &= ~(lost_leads(second, third, leader, trumps, flags) & below_first)
    silent = 0
    while leads != 0:
        # Which lead.
        if silent != 0:
            lead = silent
        elif good & leads != 0:
            lead = dearest(good & leads)
        elif declaring & leads != 0:
            lead = dearest(declaring & leads)
        else:
            lead = leads & -leads
        suit = suit_of(lead)
        gain = 0
        now = trumps
        coming = trumps
        may_declare = (declaring | aces) & lead
        if may_declare != 0 and silent == 0:
            if declaring & lead != 0:
                coming = suit
                now = trumps if flags & NEXT_TRICK_TRUMP else suit
                if leader == 0:
                    gain = values >> 10 * (lowest_bit_index(lead) & 3) & 1023
            elif leader == 0:
                gain = values >> _ACE_SHIFT & 1023
        if may_declare != 0 and silent == 0 and flags & OPTIONAL_DECLARATION:
            silent = lead
        else:
            silent = 0
            leads ^= lead
        first_left = first ^ lead

        # Second hand.
        follows = second_cards(second, lead, suit, now, flags)
        wanted = winning_follows(follows, third, lead, suit, now, leader) if ORDER else 0
        if DOMINANCE and ORDER:
            beating = (follows & suit & -(lead + lead)) | (follows & now & ~suit)
            ours = beating if leader == 0 else wanted
            # What does not beat the lead is lost for sure, unless a partner may save the trick.
            lost = follows & ~beating
            if leader == 1 or (leader == 0 and wanted == follows):
                lost = 0
            follows &= ~((ours & above_second) | (lost & below_second))
        best_second = -HUGE if leader == 2 else HUGE
        while follows != 0:
            if wanted & follows != 0:
                follow = dearest(wanted & follows)
            else:
                follow = follows & -follows
            follows ^= follow
            second_left = second ^ follow
            second_wins = follow & now & ~suit != 0 or follow & suit > lead

            # Third hand.
            thirds = third_cards(third, lead, follow, suit, now, flags)
            ruff = (lead | follow) & now
            bar = dearest(ruff) if ruff != 0 else (follow if second_wins else lead)
            beats = thirds & -(bar + bar) & (now if ruff != 0 else suit)
            beats |= thirds & now if ruff == 0 else 0
            place = 1 if second_wins else 0
            if leader == 1 or own_place == place:
                ours = beats
            else:
                ours = thirds
            if DOMINANCE:
                thirds &= ~((ours & above_third) | (~ours & below_third))
            best_third = -HUGE if leader == 1 else HUGE
            while thirds != 0:
                if ORDER and ours & thirds != 0:
                    last = dearest(ours & thirds)
                else:
                    last = thirds & -thirds
                thirds ^= last
                third_left = third ^ last
                value = gain
                winner = 2 if beats & last != 0 else place
                if winner == own_place:
                    value += points_of(lead | follow | last)
                seat = leader + winner
                seat = seat - 3 if seat > 2 else seat
                a = first_left if winner == 0 else (second_left if winner == 1 else third_left)
                b = second_left if winner == 0 else (third_left if winner == 1 else first_left)
                c = third_left if winner == 0 else (first_left if winner == 1 else second_left)
                if left == 2:
                    value += last_trick(a, b, c, seat, coming, values)
                else:
                    value += search(a, b, c, seat, coming, need - value, work)
                if leader == 1:
                    best_third = max(best_third, value)
                    if best_third >= need:
                        break
                else:
                    best_third = min(best_third, value)
                    if best_third < need:
                        break
            if leader == 2:
                best_second = max(best_second, best_third)
                if best_second >= need:
                    break
            else:
                best_second = min(best_second, best_third)
                if best_second < need:
                    break
        best = max(best, best_second) if leader == 0 else min(best, best_second)
        if (best >= need) == (leader == 0):
            break

    if best >= need:
        best = max(best, lower)
        lower = best
    else:
        best = min(best, upper)
        upper = best
    if TABLE and left > 2:
        work[slot] = entry_of(key, lower, upper)
    return best


__all__ = ["HUGE", "last_trick", "marriage_queens", "search"]
