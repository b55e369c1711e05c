"""Eight tricks by policies: the play of one deal, from hands of eight to points, in one kernel.

Roles, not seats: 0 declarer, 1 the defender on his left, 2 the defender on his right; the play goes
round in that order. What a policy gets here is what its seat may see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import ALL_CARDS
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


@kernel(inline=True)
def _turn(role: int, by: int) -> int:
    """The role ``by`` places (0–2) after another."""
    moved = role + by
    return moved - 3 if moved > 2 else moved


@kernel(inline=True)
def _card_of(
    policies: NDArray[np.int64],
    key: int,
    declarer: int,
    rules: NDArray[np.int64],
    flags: int,
    hand: int,
    legal: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    played: int,
    role: int,
    leader: int,
) -> int:
    """The card that a role plays; where only one is legal no policy is asked."""
    if legal & (legal - 1) == 0:
        return legal
    seat = _turn(declarer, role)
    return choose_card(
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


@kernel
def _declares(
    policies: NDArray[np.int64], key: int, declarer: int, role: int, trick_number: int
) -> bool:
    """Whether the leader declares what he may."""
    seat = _turn(declarer, role)
    return choose_declaration(policies[seat], key, seat, trick_number) == 1


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

    ``work`` is int64[WORK_SIZE]; ``policies`` int64[3] by seat; ``declarer`` his seat. The hands go
    round in local variables, the leader's first: in an array each card would wait for the last.
    """
    for role in range(3):
        work[MARRIAGES + role] = 0
    for suit in range(4):
        work[DECLARED_BY + suit] = -1
        work[DECLARED_IN + suit] = 0
    values = play_values(rules)
    first = int(work[HANDS])
    middle = int(work[HANDS + 1])
    last = int(work[HANDS + 2])
    won = 0  # cards won by roles 0 and 1, in 24 bits each
    trumps = 0
    leader = 0
    played = 0
    for trick_number in range(1, N_TRICKS + 1):
        lead = _card_of(
            policies, key, declarer, rules, flags, first, first, 0, 0, trumps, trick_number,
            played, leader, leader,
        )  # fmt: skip
        coming = trumps
        declared = can_declare(first, lead, trick_number, flags)
        if declared != NOTHING and (
            (flags & OPTIONAL_DECLARATION) == 0
            or _declares(policies, key, declarer, leader, trick_number)
        ):
            work[MARRIAGES + leader] += declared_points(declared, lead, values)
            if declared == MARRIAGE:
                suit = suit_index(lead)
                work[DECLARED_BY + suit] = leader
                work[DECLARED_IN + suit] = trick_number
                coming = suit_mask(lead)
                if flags & NEXT_TRICK_TRUMP == 0:
                    trumps = coming
        first ^= lead
        played |= lead
        legal = legal_second(middle, lead, trumps, flags)
        second = _card_of(
            policies, key, declarer, rules, flags, middle, legal, lead, 0, trumps, trick_number,
            played, _turn(leader, 1), leader,
        )  # fmt: skip
        middle ^= second
        played |= second
        legal = legal_third(last, lead, second, trumps, flags)
        third = _card_of(
            policies, key, declarer, rules, flags, last, legal, lead, second, trumps, trick_number,
            played, _turn(leader, 2), leader,
        )  # fmt: skip
        last ^= third
        played |= third
        place = winning_place(lead, second, third, trumps)
        leader = _turn(leader, place)
        if leader < 2:
            won |= (lead | second | third) << 24 * leader
        # The winner's hand comes first, the others keep their order.
        before = first
        if place == 1:
            first = middle
            middle = last
            last = before
        elif place == 2:
            first = last
            last = middle
            middle = before
        trumps = coming
    declarer_won = won & ALL_CARDS
    left_won = won >> 24
    right_won = ALL_CARDS & ~(declarer_won | left_won)
    work[POINTS] = points_in(declarer_won)
    work[POINTS + 1] = points_in(left_won)
    work[POINTS + 2] = points_in(right_won)
    work[TRICKS] = popcount(declarer_won) // 3
    work[TRICKS + 1] = popcount(left_won) // 3
    work[TRICKS + 2] = popcount(right_won) // 3
    work[POINTS + leader] += last_trick_points(values)
