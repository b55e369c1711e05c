"""Eight tricks by policies: the play of one deal, from hands of eight to points, in one kernel.

Roles, not seats: 0 declarer, 1 the defender on his left, 2 the defender on his right; the play goes
round in that order. What a policy gets here is what its seat may see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.policies.dispatch import choose_card, choose_declaration
from milsim.tricks import (
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    NOTHING,
    OPTIONAL_DECLARATION,
    can_declare,
    declared_points,
    last_trick_points,
    legal_second,
    legal_third,
    play_values,
    points_in,
    suit_index,
    suit_mask,
    winning_place,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_TRICKS = 8

# Places in the workspace of one deal, int64.
HANDS = 0  # by role
POINTS = 3  # card points and last-trick bonus, by role
MARRIAGES = 6  # declared points, by role
TRICKS = 9  # by role
DECLARED_BY = 12  # role that declared the marriage of a suit, or -1
DECLARED_IN = 16  # trick of that declaration, or 0
WORK_SIZE = 20


@kernel
def play_tricks(
    work: NDArray[np.int64],
    rules: NDArray[np.int64],
    flags: int,
    policies: NDArray[np.int64],
    key: int,
    declarer: int,
) -> None:
    """Play the hands in ``work[HANDS…]`` to the end and leave the account in ``work``.

    ``work`` is int64[WORK_SIZE]; ``policies`` int64[3] by seat; ``declarer`` his seat.
    """
    for place in range(POINTS, DECLARED_BY):
        work[place] = 0
    for suit in range(4):
        work[DECLARED_BY + suit] = -1
        work[DECLARED_IN + suit] = 0
    values = play_values(rules)
    trumps = 0
    waiting = 0
    leader = 0
    played = 0
    for trick_number in range(1, N_TRICKS + 1):
        lead = 0
        second = 0
        third = 0
        for place in range(3):
            role = (leader + place) % 3
            seat = (declarer + role) % 3
            hand = work[HANDS + role]
            if place == 0:
                legal = hand
            elif place == 1:
                legal = legal_second(hand, lead, trumps, flags)
            else:
                legal = legal_third(hand, lead, second, trumps, flags)
            card = choose_card(
                policies[seat],
                key,
                seat,
                rules,
                flags,
                hand,
                legal,
                lead,
                second,
                trumps,
                trick_number,
                played,
                role,
                leader,
            )
            if place == 0:
                lead = card
                declared = can_declare(hand, card, trick_number, flags)
                if declared != NOTHING and (
                    (flags & OPTIONAL_DECLARATION) == 0
                    or choose_declaration(policies[seat], key, seat, trick_number) == 1
                ):
                    work[MARRIAGES + role] += declared_points(declared, card, values)
                    if declared == MARRIAGE:
                        suit = suit_index(card)
                        work[DECLARED_BY + suit] = role
                        work[DECLARED_IN + suit] = trick_number
                        if flags & NEXT_TRICK_TRUMP:
                            waiting = suit_mask(card)
                        else:
                            trumps = suit_mask(card)
            elif place == 1:
                second = card
            else:
                third = card
            work[HANDS + role] = hand & ~card
            played |= card
        leader = (leader + winning_place(lead, second, third, trumps)) % 3
        work[POINTS + leader] += points_in(lead | second | third)
        work[TRICKS + leader] += 1
        if waiting != 0:
            trumps = waiting
            waiting = 0
    work[POINTS + leader] += last_trick_points(values)
