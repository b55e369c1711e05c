"""Points that are sure before a trick: bounds that end a search without a card played.

All in the encoding of `milsim.solver.ranked`. Each bound carries the sketch of its proof.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.bits import deposit, popcount
from milsim.solver.ranked import at_or_below, points_of, suits_in


@kernel(inline=True)
def sure_winners(hand: int, one: int, other: int, trumps: int) -> int:
    """Cards that a player on lead can lead one after the other, winning every trick.

    ``one`` and ``other`` are the two other hands (a partner can win too). Proof: a card above all
    other cards of its suit loses only to a ruff. A player can ruff only when void in the suit, and
    in the j-th round of a suit he is not void if he had j cards of it and follows in each; rounds
    of other suits take none of them as long as he follows there too, which is so for the same
    reason. Who has no trump never ruffs. If the top trumps are as many as the trumps of either
    other hand, leading them first leaves nobody a trump.
    """
    tops = hand & ~at_or_below(one | other)
    if (one | other) & trumps == 0:
        return tops
    top_trumps = popcount(tops & trumps)
    if top_trumps >= popcount(one & trumps) and top_trumps >= popcount(other & trumps):
        return tops
    follow_one = suits_in(one) if one & trumps != 0 else -1
    follow_other = suits_in(other) if other & trumps != 0 else -1
    safe = follow_one & follow_other | trumps
    below = at_or_below(tops) >> 4  # below the highest of each suit
    found = tops & safe & (trumps | ~below)
    rest = tops & below & ~trumps & safe
    while rest != 0:
        # The second round: who could ruff needs another card of the suit.
        one &= at_or_below(one) >> 4
        other &= at_or_below(other) >> 4
        follow_one = suits_in(one) if follow_one != -1 else -1
        follow_other = suits_in(other) if follow_other != -1 else -1
        rest &= follow_one & follow_other
        below = at_or_below(rest) >> 4
        found |= rest & ~below
        rest &= below
    return found


@kernel(inline=True)
def cheapest(hand: int, count: int) -> int:
    """The points of the ``count`` cheapest cards of a hand: no ``count`` tricks cost it less.

    >>> cheapest(0b1_0001_0001, 2)
    2
    """
    return points_of(deposit((1 << count) - 1, hand))


__all__ = ["cheapest", "sure_winners"]
