"""The policy ``random``: every legal act with the same chance. A floor for all others.

Only bids in the dark and concessions, which are rare, come once in eight chances.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.auction import steps_in
from milsim.bits import deposit, popcount, select_bit
from milsim.rng import below, draw

ONE_IN = 8
"""One chance in so many to bid in the dark or to concede is taken.

If it were one in two, most deals would be given up before they are played.
"""


@kernel
def random_chance(key: int, seat: int, ply: int) -> int:
    """1 once in ONE_IN times, else 0: whether to take a rare chance."""
    return 1 if below(draw(key, seat, ply), ONE_IN) == 0 else 0


@kernel(inline=True)
def random_bid(
    key: int, seat: int, ply: int, lowest: int, highest: int, step: int, may_pass: int
) -> int:
    """A pass (0) or one of the bids ``lowest, lowest + step … highest``, equally likely."""
    choices = may_pass
    if highest >= lowest:
        choices += steps_in(highest - lowest, step) + 1
    choice = below(draw(key, seat, ply), choices)
    if may_pass == 1 and choice == 0:
        return 0
    return lowest + (choice - may_pass) * step


@kernel
def random_gifts(key: int, seat: int, ply: int, hand10: int) -> int:
    """Two different cards of the hand, packed as ``left + 32 * right``."""
    count = popcount(hand10)
    left = select_bit(hand10, below(draw(key, seat, ply), count))
    rest = hand10 & ~(1 << left)
    right = select_bit(rest, below(draw(key, seat, ply + 1), count - 1))
    return left + 32 * right


@kernel
def random_contract(key: int, seat: int, ply: int, lowest: int, highest: int, step: int) -> int:
    """One of the contracts ``lowest, lowest + step … highest``, equally likely."""
    return lowest + step * below(draw(key, seat, ply), steps_in(highest - lowest, step) + 1)


@kernel(inline=True)
def random_card(key: int, seat: int, ply: int, legal: int) -> int:
    """One of the legal cards, equally likely, as a mask of one bit."""
    return deposit(1 << below(draw(key, seat, ply), popcount(legal)), legal)
