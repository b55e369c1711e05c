"""Questions about a position, also in the middle of a trick: kernels that start the search.

Encoding: `milsim.solver.ranked`; seats: 0 the declarer, 1 his left, 2 his right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.solver.ranked import points_of, second_cards, suit_of, third_cards
from milsim.solver.search import HUGE, last_trick, search
from milsim.solver.table import FLAGS, VALUES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def before_trick(
    first: int,
    second: int,
    third: int,
    leader: int,
    trumps: int,
    need: int,
    work: NDArray[np.int64],
) -> int:
    """As `search`, for any number of cards, none too."""
    if first & (first - 1) != 0:
        return search(first, second, third, leader, trumps, need, work)
    if first == 0:
        return 0
    return last_trick(first, second, third, leader, trumps, work[VALUES])


@kernel
def after_trick(
    first: int,
    second: int,
    third: int,
    leader: int,
    lead: int,
    follow: int,
    last: int,
    trumps: int,
    coming: int,
    need: int,
    work: NDArray[np.int64],
) -> int:
    """A bound, as of `search`, of a full trick's points for the declarer and all that follows.

    Hands without the three cards on the table, in the order they were played.
    """
    cards = lead | follow | last
    ruffs = cards & trumps
    able = ruffs if ruffs != 0 else cards & suit_of(lead)
    winner = 1 if (follow & able) << 1 > able else 0
    winner = 2 if (last & able) << 1 > able else winner
    seat = leader + winner
    seat = seat - 3 if seat > 2 else seat
    value = points_of(cards) if seat == 0 else 0
    if seat == 0 and first == 0:
        value += work[VALUES] >> 50
    a = first if winner == 0 else (second if winner == 1 else third)
    b = second if winner == 0 else (third if winner == 1 else first)
    c = third if winner == 0 else (first if winner == 1 else second)
    return value + before_trick(a, b, c, seat, coming, need - value, work)


@kernel
def in_trick(
    first: int,
    second: int,
    third: int,
    leader: int,
    lead: int,
    follow: int,
    last: int,
    trumps: int,
    coming: int,
    need: int,
    work: NDArray[np.int64],
) -> int:
    """As `search`, with 0–3 cards on the table (``lead``, ``follow``, ``last``, or 0).

    Hands without these, in the order of play; ``trumps`` hold for this trick, ``coming`` after it.
    The points of the cards on the table count, those declared with the lead do not.
    """
    if lead == 0:
        return before_trick(first, second, third, leader, trumps, need, work)
    if last != 0:
        return after_trick(
            first, second, third, leader, lead, follow, last, trumps, coming, need, work
        )
    flags = work[FLAGS]
    suit = suit_of(lead)
    follows = follow if follow != 0 else second_cards(second, lead, suit, trumps, flags)
    best = -HUGE if leader == 2 else HUGE
    while follows != 0:
        card = follows & -follows
        follows ^= card
        thirds = third_cards(third, lead, card, suit, trumps, flags)
        best_third = -HUGE if leader == 1 else HUGE
        while thirds != 0:
            played = thirds & -thirds
            thirds ^= played
            value = after_trick(
                first, second & ~card, third ^ played, leader, lead, card, played, trumps, coming,
                need, work,
            )  # fmt: skip
            best_third = max(best_third, value) if leader == 1 else min(best_third, value)
            if (best_third >= need) == (leader == 1):
                break
        best = max(best, best_third) if leader == 2 else min(best, best_third)
        if (best >= need) == (leader == 2):
            break
    return best


@kernel
def exact_value(
    first: int,
    second: int,
    third: int,
    leader: int,
    lead: int,
    follow: int,
    last: int,
    trumps: int,
    coming: int,
    guess: int,
    work: NDArray[np.int64],
) -> int:
    """The declarer's future points; any ``guess`` will do, a good one is quick.

    A row of zero windows, each at the bound that the last one gave, until both bounds meet
    (Plaat et al., MTD(f), 1996); the table makes each but the first cheap.
    """
    lower = 0
    upper = HUGE
    need = max(guess, 1)
    while lower < upper:
        value = in_trick(
            first, second, third, leader, lead, follow, last, trumps, coming, need, work
        )
        if value >= need:
            lower = value
        else:
            upper = value
        need = lower + 1 if value >= need else upper
    return lower


__all__ = ["after_trick", "before_trick", "exact_value", "in_trick"]
