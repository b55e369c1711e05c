"""The kernel of `pimc`: layouts that are possible, each solved for each choice, in one call.

Perfect information Monte Carlo: what the seat cannot see is drawn (or gone through) from all that
it could be, each layout is solved double dummy for every choice, and the choice that is best on
average is taken. Known limits, both because each layout is played as if it were known: *strategy
fusion* (a later choice may differ from layout to layout, though the player will not know which it
is) and *non-locality* (the opponents are taken to know it as well).

A choice is a row of three masks: a card to play; a gift to the left; a gift to the right. Roles are
0 declarer, 1 his left, 2 his right, as in the solver.

Sources: Levy, "The million pound bridge program", 1989; Ginsberg, "GIB: imperfect information in a
computationally challenging game", JAIR 14, 2001; Frank and Basin, "Search in games with incomplete
information", Artificial Intelligence 100, 1998; Long, Sturtevant, Buro and Furtak, "Understanding
the success of perfect information Monte Carlo sampling in game tree search", AAAI 2010.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import add_wrapping, multiply_low
from milsim.knowledge.layouts import nth_layout, plan_layouts
from milsim.knowledge.state import HAND, SEAT
from milsim.rng import below, draw, mix
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
from milsim.solver.table import next_deal
from milsim.tricks import MARRIAGE, NEXT_TRICK_TRUMP, can_declare, declared_points, suit_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Places in a question.
KEY = 0  # the deal's policy key
PLY = 1  # of the decision: no two decisions of a seat share a draw
LAYOUTS = 2  # how many layouts at most
ROLE = 3  # of the seat that decides
LEADER_ROLE = 4
ON_LEAD = 5  # the cards on the table, masks or 0
ON_SECOND = 6
TRUMP_NOW = 7  # 0–3, or 4
TRUMP_NEXT = 8
TRICK_NUMBER = 9
NEED = 10  # the points that the declarer still needs
MARGIN = 11  # points by which made or lost are told from narrowly made or lost
EXACT = 12  # 1: the points of each layout; 0: only whether they reach the need, and the margins
QUESTION_SIZE = 13

CARD, TO_LEFT, TO_RIGHT, CHOICE_SIZE = range(4)

_LEFT_ROLE, _RIGHT_ROLE = 1, 2
_STEP = -7046029254386353131  # an odd number; see `milsim.rng.draw`


@kernel
def fill_rows(
    rows: NDArray[np.int64],
    gains: NDArray[np.int64],
    choices: NDArray[np.int64],
    begin: int,
    question: NDArray[np.int64],
    hands: NDArray[np.int64],
    flags: int,
    values: int,
) -> None:
    """The positions after choices in one layout, and what their declarations pay at once."""
    role = question[ROLE]
    for j in range(rows.shape[1]):
        card = choices[begin + j, CARD]
        left = choices[begin + j, TO_LEFT]
        right = choices[begin + j, TO_RIGHT]
        own = hands[role] & ~(card | left | right)
        rows[DECLARER, j] = own if role == 0 else hands[0]
        rows[LEFT, j] = (own if role == _LEFT_ROLE else hands[1]) | left
        rows[RIGHT, j] = (own if role == _RIGHT_ROLE else hands[2]) | right
        rows[LEADER, j] = question[LEADER_ROLE]
        rows[TRUMP, j] = question[TRUMP_NOW]
        rows[COMING, j] = question[TRUMP_NEXT]
        rows[LEAD, j] = question[ON_LEAD]
        rows[FOLLOW, j] = question[ON_SECOND]
        rows[LAST, j] = 0
        rows[TRICK, j] = question[TRICK_NUMBER]
        gains[j] = 0
        if card == 0:
            continue
        if question[ON_LEAD] == 0:
            rows[LEAD, j] = card
            declared = can_declare(hands[role], card, question[TRICK_NUMBER], flags)
            gains[j] = declared_points(declared, card, values)
            if declared == MARRIAGE:
                rows[COMING, j] = suit_index(card)
                if flags & NEXT_TRICK_TRUMP == 0:
                    rows[TRUMP, j] = suit_index(card)
        elif question[ON_SECOND] == 0:
            rows[FOLLOW, j] = card
        else:
            rows[LAST, j] = card


@kernel
def layout_of(
    plan: NDArray[np.int64],
    i: int,
    layouts: int,
    count: int,
    word: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
) -> tuple[int, int]:
    """The i-th of so many layouts out of ``count``: the two other hands, next seat first.

    All layouts if there are no more. Else their numbers are cut into equal parts, and one is drawn
    of each by the random ``word``: uniform, without repetition, and as neighbours in number hold
    similar cards, with less chance in the mean than independent draws.
    """
    number = i
    if layouts < count:
        begin = i * count // layouts
        end = (i + 1) * count // layouts
        number = begin + below(mix(add_wrapping(word, multiply_low(_STEP, i + 1))), end - begin)
    return nth_layout(plan, number, binomials, subsets)


@kernel
def judge(
    state: NDArray[np.int64],
    question: NDArray[np.int64],
    choices: NDArray[np.int64],
    flags: int,
    values: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
    plan: NDArray[np.int64],
    work: NDArray[np.int64],
    points: NDArray[np.int64],
) -> int:
    """The declarer's future points after each choice in each layout; how many layouts there were.

    ``state`` is what the seat knows (`milsim.knowledge.state`), seats in it are roles turned by any
    number; ``question`` int64[QUESTION_SIZE], ``choices`` int64[n, CHOICE_SIZE]; ``work`` a
    workspace of the solver. Fills ``points`` int64[layouts or more, n], rows as many as there are
    layouts. If the question is EXACT these are points; else one of NEED − MARGIN − 1 (surely lost),
    NEED − MARGIN (narrowly lost), NEED (narrowly made), NEED + MARGIN (surely made).
    """
    n = choices.shape[0]
    count = plan_layouts(state, binomials, plan)
    layouts = min(question[LAYOUTS], count)
    # The choices of a layout share what the table holds, but gifts change the owners.
    together = 1 if choices[0, TO_LEFT] != 0 else n
    rows = np.empty((N_ROWS, together), np.int64)
    gains = np.empty(together, np.int64)
    needs = np.empty(together, np.int64)
    found = np.empty(together, np.int64)
    guess = np.empty(0, np.int64)
    hands = np.empty(3, np.int64)
    role = question[ROLE]
    need = question[NEED]
    margin = question[MARGIN]
    word = draw(question[KEY], state[SEAT], question[PLY])
    tag = 0
    for i in range(layouts):
        first, second = layout_of(plan, i, layouts, count, word, binomials, subsets)
        hands[role] = state[HAND]
        hands[(role + 1) % 3] = first
        hands[(role + 2) % 3] = second
        for j in range(0, n, together):
            fill_rows(rows, gains, choices, j, question, hands, flags, values)
            if role != 0:
                gains[:] = 0  # a defender's
            next_deal(work, tag)
            tag += 1
            if question[EXACT] != 0:
                answer(rows, guess, 1, 0, flags, values, work, found)
                for k in range(together):
                    points[i, j + k] = found[k] + gains[k]
                continue
            for k in range(together):
                needs[k] = need - gains[k]
            answer(rows, needs, 0, 0, flags, values, work, found)
            for k in range(together):
                made = found[k] >= needs[k]
                points[i, j + k] = need if made else need - margin
                needs[k] += margin if made else -margin
            if margin > 0:
                answer(rows, needs, 0, 0, flags, values, work, found)
                for k in range(together):
                    if points[i, j + k] == need:
                        points[i, j + k] += margin if found[k] >= needs[k] else 0
                    else:
                        points[i, j + k] -= 1 if found[k] < needs[k] else 0
    return int(layouts)


__all__ = [
    "CARD",
    "CHOICE_SIZE",
    "EXACT",
    "KEY",
    "LAYOUTS",
    "LEADER_ROLE",
    "MARGIN",
    "NEED",
    "ON_LEAD",
    "ON_SECOND",
    "PLY",
    "QUESTION_SIZE",
    "ROLE",
    "TO_LEFT",
    "TO_RIGHT",
    "TRICK_NUMBER",
    "TRUMP_NEXT",
    "TRUMP_NOW",
    "fill_rows",
    "judge",
]
