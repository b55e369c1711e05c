"""From a policy's number to its kernels. A new policy adds one branch to each function here.

A decision gets only what its seat may see, so no policy in this package can cheat. ``key`` is the
deal's policy key of :mod:`milsim.rng`. ``parameters`` are `expert_parameters.kernel_parameters` of
the rules, which only ``expert`` reads: where nobody plays it they may be None, and what is compiled
for None has no trace of ``expert``, so that the others do not pay for what they never ask. ``ply``
numbers the decisions of a deal so that no two share a draw: auction calls from 0, exchange from 64,
contract 66, a bid in the dark 67, concession 68, declarations from 96, cards from 128.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.policies.expert_bidding import (
    expert_bid,
    expert_concession,
    expert_contract,
    expert_gifts,
)
from milsim.policies.expert_play import expert_card
from milsim.policies.greedy_bidding import (
    greedy_bid,
    greedy_concession,
    greedy_contract,
    greedy_gifts,
)
from milsim.policies.greedy_play import greedy_card
from milsim.policies.random import (
    random_bid,
    random_card,
    random_chance,
    random_contract,
    random_gifts,
)
from milsim.policies.registry import EXPERT, RANDOM
from milsim.rng import below, draw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RANDOM = RANDOM.number
_EXPERT = EXPERT.number

GIFTS_PLY = 64
CONTRACT_PLY = 66
DARK_PLY = 67
CONCESSION_PLY = 68
DECLARATION_PLY = 96
CARD_PLY = 128


@kernel
def choose_dark(policy: int, key: int, seat: int) -> int:
    """Whether forehand bids in the dark (1), where he may; no policy sees a card here."""
    if policy == _RANDOM:
        return random_chance(key, seat, DARK_PLY)
    return 0


@kernel(inline=True)
def choose_bid(
    policy: int,
    key: int,
    seat: int,
    ply: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    hand: int,
    lowest: int,
    highest: int,
    step: int,
    may_pass: int,
    passed: int,
) -> int:
    """A legal bid, or 0 to pass; ``lowest > highest`` means that only a pass is legal.

    ``passed`` is how many of the others have passed.
    """
    if parameters is not None and policy == _EXPERT:
        return expert_bid(parameters, hand, lowest, highest, may_pass, passed)
    if policy == _RANDOM:
        return random_bid(key, seat, ply, lowest, highest, step, may_pass)
    return greedy_bid(rules, hand, lowest, highest, may_pass)


@kernel
def choose_concession(
    policy: int,
    key: int,
    seat: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    hand10: int,
    made_bid: int,
    price: int,
    gain: int,
) -> int:
    """Whether the declarer gives the deal up (1) before his gifts, where he may.

    It costs him ``price`` and gives ``gain`` to each defender, in points before any doubling.
    """
    if policy == _RANDOM:
        return random_chance(key, seat, CONCESSION_PLY)
    if parameters is not None and policy == _EXPERT:
        return expert_concession(parameters, hand10, made_bid, price, gain)
    return greedy_concession(rules, hand10, made_bid, price, gain)


@kernel
def choose_gifts(
    policy: int,
    key: int,
    seat: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    hand10: int,
) -> int:
    """Two cards of the ten, packed as ``left + 32 * right``."""
    if policy == _RANDOM:
        return random_gifts(key, seat, GIFTS_PLY, hand10)
    if parameters is not None and policy == _EXPERT:
        return expert_gifts(parameters, hand10)
    return greedy_gifts(rules, hand10)


@kernel
def choose_contract(
    policy: int,
    key: int,
    seat: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    hand8: int,
    lowest: int,
    highest: int,
    step: int,
) -> int:
    """A contract from ``lowest`` (the bid) to ``highest``."""
    if highest <= lowest:
        return lowest
    if policy == _RANDOM:
        return random_contract(key, seat, CONTRACT_PLY, lowest, highest, step)
    if parameters is not None and policy == _EXPERT:
        return expert_contract(parameters, hand8, lowest, highest, step)
    return greedy_contract(rules, hand8, lowest, highest, step)


@kernel
def choose_declaration(policy: int, key: int, seat: int, trick_number: int) -> int:
    """Whether to declare (1) what the card led allows, where the rules leave that open."""
    if policy == _RANDOM:
        return below(draw(key, seat, DECLARATION_PLY + trick_number), 2)
    return 1


@kernel(inline=True)
def choose_card(
    policy: int,
    key: int,
    seat: int,
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
    leader_role: int,
    next_may: int,
    last_may: int,
    need: int,
) -> int:
    """A legal card, as a mask of one bit; arguments as of ``greedy_card`` and ``expert_card``."""
    if parameters is not None and policy == _EXPERT:
        return expert_card(
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
            next_may,
            last_may,
            need,
        )
    if policy == _RANDOM:
        return random_card(key, seat, CARD_PLY + trick_number, legal)
    return greedy_card(
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
        leader_role,
    )
