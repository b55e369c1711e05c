"""Eight tricks by policies: the play of one deal, from hands of eight to points, in one kernel.

Roles, not seats: 0 declarer, 1 the defender on his left, 2 the defender on his right; the play goes
round in that order. What a policy gets here is what its seat may see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import ALL_CARDS
from milsim.knowledge.state import better_cards
from milsim.policies.dispatch import choose_card, choose_declaration
from milsim.policies.expert_seen import declared_with, unlikely_last, unlikely_next
from milsim.policies.registry import EXPERT
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
    marriage_leads,
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
CONTRACT = 20  # given: what the declarer plays for,
GIVEN = 21  # his gifts, left and right, as masks,
SHOWN = 23  # and the talon if the defenders saw it, else 0
WORK_SIZE = 24

_EXPERT = EXPERT.number


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
    parameters: NDArray[np.int16] | None,
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
    next_may: int,
    last_may: int,
    work: NDArray[np.int64],
    won: int,
) -> int:
    """The card that a role plays; where only one is legal no policy is asked."""
    if legal & (legal - 1) == 0:
        return legal
    seat = _turn(declarer, role)
    need = 0
    if parameters is not None and policies[seat] == _EXPERT:
        next_may &= ~unlikely_next(role, work[GIVEN + 1], work[SHOWN])
        last_may &= ~unlikely_last(role, work[GIVEN], work[SHOWN])
        need = work[CONTRACT] - work[MARRIAGES] - points_in(won & ALL_CARDS)
    return choose_card(
        policies[seat],
        key,
        seat,
        parameters,
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
        next_may,
        last_may,
        need,
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
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    flags: int,
    policies: NDArray[np.int64],
    key: int,
    declarer: int,
) -> None:
    """Play the hands in ``work[HANDS…]`` to the end and leave the account in ``work``.

    ``work`` is int64[WORK_SIZE], with the hands, the contract, the gifts and the shown talon given;
    ``parameters`` and ``policies`` int64[3] by seat; ``declarer`` his seat. The hands go
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
    # What each may hold as far as the tricks prove it: kept only where a policy looks at it.
    may_first = ALL_CARDS
    may_middle = ALL_CARDS
    may_last = ALL_CARDS
    trumps = 0
    leader = 0
    played = 0
    for trick_number in range(1, N_TRICKS + 1):
        lead = _card_of(
            policies, key, declarer, parameters, rules, flags, first, first, 0, 0, trumps,
            trick_number, played, leader, leader, may_middle, may_last, work, won,
        )  # fmt: skip
        coming = trumps
        is_declared = False
        declared = can_declare(first, lead, trick_number, flags)
        if declared != NOTHING and (
            (flags & OPTIONAL_DECLARATION) == 0
            or _declares(policies, key, declarer, leader, trick_number)
        ):
            is_declared = True
            work[MARRIAGES + leader] += declared_points(declared, lead, values)
            if declared == MARRIAGE:
                suit = suit_index(lead)
                work[DECLARED_BY + suit] = leader
                work[DECLARED_IN + suit] = trick_number
                coming = suit_mask(lead)
                if flags & NEXT_TRICK_TRUMP == 0:
                    trumps = coming
        if parameters is not None:
            # The same as `milsim.knowledge.state.observe_play` proves.
            others = declared_with(lead)
            if is_declared:
                may_middle &= ~others
                may_last &= ~others
            elif (
                flags & OPTIONAL_DECLARATION == 0
                and marriage_leads(lead | others, trick_number, flags) & lead != 0
            ):
                may_first &= ~others
        first ^= lead
        played |= lead
        legal = legal_second(middle, lead, trumps, flags)
        second = _card_of(
            policies, key, declarer, parameters, rules, flags, middle, legal, lead, 0, trumps,
            trick_number, played, _turn(leader, 1), leader, may_last, may_first, work, won,
        )  # fmt: skip
        if parameters is not None:
            may_middle &= ~better_cards(second, lead, 0, trumps, flags)
        middle ^= second
        played |= second
        legal = legal_third(last, lead, second, trumps, flags)
        third = _card_of(
            policies, key, declarer, parameters, rules, flags, last, legal, lead, second, trumps,
            trick_number, played, _turn(leader, 2), leader, may_first, may_middle, work, won,
        )  # fmt: skip
        if parameters is not None:
            may_last &= ~better_cards(third, lead, second, trumps, flags)
        last ^= third
        played |= third
        place = winning_place(lead, second, third, trumps)
        leader = _turn(leader, place)
        if leader < 2:
            won |= (lead | second | third) << 24 * leader
        # The winner's hand comes first, the others keep their order.
        before = first
        may_before = may_first
        if place == 1:
            first = middle
            middle = last
            last = before
            may_first = may_middle
            may_middle = may_last
            may_last = may_before
        elif place == 2:
            first = last
            last = middle
            middle = before
            may_first = may_last
            may_last = may_middle
            may_middle = may_before
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
