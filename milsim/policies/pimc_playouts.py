"""Layouts judged by playouts: how a deal goes on if all three play by habits, seeing their cards.

The other way to value a choice in a layout. A solver knows all cards and so do the opponents that
it imagines; who plays out a layout by a policy that sees one hand only lets nobody profit from
what nobody knows. What is lost is the best play. A playout takes some microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.cards import ALL_CARDS
from milsim.knowledge.layouts import plan_layouts
from milsim.knowledge.state import HAND, SEAT
from milsim.policies.expert_play import expert_card
from milsim.policies.pimc_kernel import KEY, LAYOUTS, NEED, PLY, ROLE, fill_rows, layout_of
from milsim.rng import draw
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
)
from milsim.tricks import (
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    NOTHING,
    can_declare,
    declared_points,
    last_trick_points,
    legal_second,
    legal_third,
    points_in,
    suit_mask,
    trump_mask,
    winning_place,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel(inline=True)
def _chosen(
    parameters: NDArray[np.int16],
    rules: NDArray[np.int64],
    flags: int,
    hands: NDArray[np.int64],
    legal: int,
    lead: int,
    second: int,
    trumps: int,
    trick: int,
    role: int,
    need: int,
) -> int:
    """The card of a role, taken out of its hand."""
    card = legal
    if legal & (legal - 1) != 0:
        played = ALL_CARDS & ~(hands[0] | hands[1] | hands[2])
        card = expert_card(
            parameters,
            rules,
            flags,
            hands[role],
            legal,
            lead,
            second,
            trumps,
            trick,
            played,
            role,
            ALL_CARDS,
            ALL_CARDS,
            need,
        )
    hands[role] ^= card
    return card


@kernel
def play_out(
    rows: NDArray[np.int64],
    j: int,
    need: int,
    parameters: NDArray[np.int16],
    rules: NDArray[np.int64],
    flags: int,
    values: int,
    hands: NDArray[np.int64],
    won: NDArray[np.int64],
) -> None:
    """Play position ``j`` of some rows (`milsim.solver.root`) to the end by the policy `expert`.

    ``need`` are the points that the declarer still needs. What the tricks prove of the others'
    hands the three do not look at. ``won`` int64[3] gets the points of each role from here on,
    ``hands`` int64[3] is room.
    """
    hands[0] = rows[DECLARER, j]
    hands[1] = rows[LEFT, j]
    hands[2] = rows[RIGHT, j]
    won[:] = 0
    leader = rows[LEADER, j]
    lead = rows[LEAD, j]
    second = rows[FOLLOW, j]
    third = rows[LAST, j]
    trumps = trump_mask(rows[TRUMP, j])
    coming = trump_mask(rows[COMING, j])
    trick = rows[TRICK, j]
    while lead != 0 or hands[leader] != 0:
        if lead == 0:
            hand = hands[leader]
            lead = _chosen(
                parameters, rules, flags, hands, hand, 0, 0, trumps, trick, leader, need - won[0]
            )
            declared = can_declare(hand, lead, trick, flags)
            if declared != NOTHING:
                won[leader] += declared_points(declared, lead, values)
                if declared == MARRIAGE:
                    coming = suit_mask(lead)
                    trumps = trumps if flags & NEXT_TRICK_TRUMP else coming
        if second == 0:
            role = (leader + 1) % 3
            legal = legal_second(hands[role], lead, trumps, flags)
            second = _chosen(
                parameters, rules, flags, hands, legal, lead, 0, trumps, trick, role, need - won[0]
            )
        if third == 0:
            role = (leader + 2) % 3
            legal = legal_third(hands[role], lead, second, trumps, flags)
            third = _chosen(
                parameters,
                rules,
                flags,
                hands,
                legal,
                lead,
                second,
                trumps,
                trick,
                role,
                need - won[0],
            )
        leader = (leader + winning_place(lead, second, third, trumps)) % 3
        won[leader] += points_in(lead | second | third)
        lead = 0
        second = 0
        third = 0
        trumps = coming
        trick += 1
    won[leader] += last_trick_points(values)


@kernel
def judge_by_playouts(
    state: NDArray[np.int64],
    question: NDArray[np.int64],
    choices: NDArray[np.int64],
    parameters: NDArray[np.int16],
    rules: NDArray[np.int64],
    flags: int,
    values: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
    plan: NDArray[np.int64],
    points: NDArray[np.int64],
) -> int:
    """The future points of all roles after each choice in each layout; how many layouts there were.

    As `milsim.policies.pimc_kernel.judge`; fills ``points`` int64[layouts or more, n, 3].
    """
    n = choices.shape[0]
    count = plan_layouts(state, binomials, plan)
    layouts = min(question[LAYOUTS], count)
    rows = np.empty((N_ROWS, n), np.int64)
    gains = np.empty(n, np.int64)
    hands = np.empty(3, np.int64)
    room = np.empty(3, np.int64)
    won = np.empty(3, np.int64)
    role = question[ROLE]
    word = draw(question[KEY], state[SEAT], question[PLY])
    for i in range(layouts):
        first, second = layout_of(plan, i, layouts, count, word, binomials, subsets)
        hands[role] = state[HAND]
        hands[(role + 1) % 3] = first
        hands[(role + 2) % 3] = second
        fill_rows(rows, gains, choices, 0, question, hands, flags, values)
        for j in range(n):
            need = question[NEED] - (gains[j] if role == 0 else 0)
            play_out(rows, j, need, parameters, rules, flags, values, room, won)
            won[role] += gains[j]
            for each in range(3):
                points[i, j, each] = won[each]
    return int(layouts)


__all__ = ["judge_by_playouts", "play_out"]
