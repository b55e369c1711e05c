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
from milsim.solver.bounds import cheapest, sure_winners
from milsim.solver.ordering import dearest, linked, winning_follows, winning_leads
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
    NO_LEAD,
    NODES,
    OPEN,
    SUMS,
    VALUES,
    entry_of,
    key_in,
    key_of,
    lead_in,
    lower_in,
    slot_of,
    upper_in,
)
from milsim.solver.techniques import BOUNDS, DOMINANCE, EQUALS, ORDER, TABLE, TABLE_LEAD
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
    tried_first = 0
    if TABLE and left > 2:
        known = work[slot]
        if key_in(known) == key:
            lower = lower_in(known)
            if lower >= need:
                return lower
            upper = upper_in(known)
            if upper < need:
                return upper
            if TABLE_LEAD and lead_in(known) != NO_LEAD:
                tried_first = 1 << lead_in(known)

    # What is sure.
    open_now = work[OPEN + left]
    open_later = work[LATER + left]
    queens = marriage_queens(first) & open_later
    keep = queens | queens << 4
    if flags & ACES_DECLARE and first & ACES == ACES:
        keep |= ACES
    if BOUNDS:
        live = (marriage_queens(declarer) & open_later) >> _QUEEN_NIBBLE
        rest = points_of(cards) + (values >> _BONUS_SHIFT)
        if flags & ACES_DECLARE and declarer & ACES == ACES and open_later != 0:
            rest += values >> _ACE_SHIFT & 1023
        winners = sure_winners(first & ~keep, second, third, trumps)
        count = popcount(winners)
        taken = points_of(winners) + cheapest(second, count) + cheapest(third, count)
        if count == left:
            taken += values >> _BONUS_SHIFT
        if leader == 0:
            upper = min(upper, rest + work[SUMS + live])
            sure = taken
            if live != 0:
                if work[OPEN + left - count] != 0:
                    sure = taken + work[MOST + live]
                elif open_now != 0:
                    sure = max(sure, work[MOST + live])
            lower = max(lower, sure)
        else:
            leads = left - count - 1  # the declarer's, at most
            extra = work[SUMS + live] if leads > 1 else (work[MOST + live] if leads == 1 else 0)
            upper = min(upper, rest - taken + extra if leads >= 0 else 0)
        if lower >= need:
            return lower
        if upper < need:
            return upper

    declaring = queens & open_now
    declaring |= declaring << 4 & ((flags & QUEEN_DECLARES) - 1 >> 63)
    aces = ACES if flags & ACES_DECLARE and first & ACES == ACES and open_now != 0 else 0
    equal_third = 0
    top_third = third
    bottom_third = third
    if DOMINANCE:
        q = marriage_queens(third) & open_later
        q |= q << 4
        if flags & ACES_DECLARE and third & ACES == ACES:
            q |= ACES
        equal_third = linked(third & ~q, first | second | q)
        bottom_third = third & ~equal_third
        # The card below each linked one: all that are not the top of their run.
        top_third = third
        todo = equal_third
        while todo != 0:
            card = todo & -todo
            todo ^= card
            below = third & ~q & (card - 1) & suit_of(card)
            top_third &= ~dearest(below)

    good = 0
    if ORDER:
        partner = 0 if leader == 0 else (1 if leader == 1 else 2)
        good = winning_leads(
            first, second if partner != 1 else 0, third if partner != 2 else 0, trumps
        )
    best = -HUGE if leader == 0 else HUGE
    best_lead = 0
    leads = first
    silent = 0
    others = second | third | keep
    tried = 0
    while leads != 0:
        # Which lead.
        if silent != 0:
            lead = silent
        elif tried_first & leads != 0:
            lead = tried_first
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
            if EQUALS and tried != 0 and lead & keep == 0:
                near = tried & suit & ~keep
                skip = False
                while near != 0:
                    other = near & -near
                    near ^= other
                    low = min(lead, other)
                    high = max(lead, other)
                    if others & suit & (high - 1) & -(low + low) == 0:
                        apart = points_of(high) - points_of(low)
                        if leader == 0 and best + apart < need:
                            best += apart
                            skip = True
                        elif leader != 0 and best - apart >= need:
                            best -= apart
                            skip = True
                        if skip:
                            near = 0
                if skip:
                    continue
            tried |= lead
        first_left = first ^ lead

        # Second hand.
        follows = second_cards(second, lead, suit, now, flags)
        wanted = winning_follows(follows, third, lead, suit, now, leader) if ORDER else 0
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
                thirds &= (ours & top_third) | (~ours & bottom_third)
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
        if leader == 0:
            if best_second > best:
                best = best_second
                best_lead = lead
            if best >= need:
                break
        else:
            if best_second < best:
                best = best_second
                best_lead = lead
            if best < need:
                break

    if best >= need:
        best = max(best, lower)
        lower = best
    else:
        best = min(best, upper)
        upper = best
    if TABLE and left > 2:
        deciding = NO_LEAD
        if TABLE_LEAD and (best >= need) == (leader == 0) and best_lead != 0:
            deciding = lowest_bit_index(best_lead)
        work[slot] = entry_of(key, lower, upper, deciding)
    return best


__all__ = ["HUGE", "last_trick", "marriage_queens", "search"]
