"""Which card to try first: a good guess cuts off most of the rest. No guess changes a value.

All in the encoding of `milsim.solver.ranked`: in each set the dearest or the cheapest card is one
instruction away, so an order is a few sets tried one after the other.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.bits import highest_bit_index
from milsim.solver.ranked import at_or_below, suits_in


@kernel(inline=True)
def dearest(cards: int) -> int:
    """The highest card of a set that is not empty: the dearest.

    >>> dearest(0b1011)
    8
    """
    return 1 << highest_bit_index(cards)


@kernel(inline=True)
def winning_leads(hand: int, one: int, other: int, trumps: int) -> int:
    """The leads that neither of two other hands can beat; ``other`` is 0 for a partner."""
    ruffed = 0 if one & trumps == 0 else ~(suits_in(one) | trumps)
    ruffed |= 0 if other & trumps == 0 else ~(suits_in(other) | trumps)
    return hand & ~at_or_below(one | other) & ~ruffed


@kernel(inline=True)
def winning_follows(cards: int, third: int, lead: int, suit: int, trumps: int, leader: int) -> int:
    """Those of the second hand's legal cards by which its side should take the trick.

    ``leader``: 0 the declarer (then second and third hand are partners), 1 his left (then leader
    and second hand are), 2 his right. The third hand is taken to play its best.
    """
    in_suit = third & suit
    ruffs = third & trumps
    top = dearest(in_suit) if in_suit != 0 else 0
    ruff = dearest(ruffs) if in_suit == 0 and ruffs != 0 else 0
    bar = lead if leader == 0 else max(lead, top)
    if leader == 0 and (ruff != 0 or top > lead):
        return cards
    if leader == 1 and ruff == 0 and lead > top:
        return cards
    if leader != 0 and ruff != 0:
        return cards & trumps & ~suit & -(ruff + ruff)
    return (cards & suit & -(bar + bar)) | (cards & trumps & ~suit)


__all__ = ["dearest", "winning_follows", "winning_leads"]
