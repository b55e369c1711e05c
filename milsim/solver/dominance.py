"""Cards that need not be tried, because a neighbour of the same hand is at least as good.

Two cards of a hand are *equals* if they are of one suit and no other hand has a card of it between
them. Exchange them in all that follows and every rule (who follows, who must beat, who wins) says
the same: only points move. A king or queen of a marriage that may still be declared is no equal of
anything, nor is an ace of four that may be.

So if it is certain which side takes the trick now, one of two equals is at least as good for the
player. Let the dearer be worth d points more. Played on a trick of the declarer, it brings him d
now, and costs him d later at most (if he wins the trick of the other one): he plays the dearer.
Played on a trick of the defenders, it brings him nothing now, and costs him d later if he wins that
trick: he plays the cheaper. The defenders, who want the opposite, play the dearer on their own
tricks and the cheaper on his. In short: the dearer if one's side takes the trick, else the cheaper.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.solver.ranked import at_or_below, suits_in
from milsim.tricks import MUST_TRUMP, SECOND_BEATS, THIRD_BEATS


@kernel(inline=True)
def with_equal_below(hand: int, others: int) -> int:
    """The cards of a hand that have an equal of the same hand right below them.

    Equals: of one suit, and no card of ``others`` between them.

    >>> bin(with_equal_below(0b1_0001_0000_0001, 0b10_0000_0000))
    '0b1000100000000'
    """
    gaps = ~(hand | others)
    # Four gaps between two cards, the most, are passed by steps of one, two and one.
    reach = hand << 4
    reach |= (reach & gaps) << 4
    reach |= (reach & gaps & gaps >> 4) << 8
    reach |= (reach & gaps) << 4
    return reach & hand


@kernel(inline=True)
def with_equal_above(hand: int, others: int) -> int:
    """The cards of a hand that have an equal of the same hand right above them.

    >>> bin(with_equal_above(0b1_0001_0000_0001, 0b10_0000_0000))
    '0b100000001'
    """
    gaps = ~(hand | others)
    reach = hand >> 4
    reach |= (reach & gaps) >> 4
    reach |= (reach & gaps & gaps << 4) >> 8
    reach |= (reach & gaps) >> 4
    return reach & hand


@kernel(inline=True)
def lost_leads(second: int, third: int, leader: int, trumps: int, flags: int) -> int:
    """All cards whose lead the other side cannot but take, where the rules leave it no choice.

    ``second`` and ``third`` are the hands in the order of play, ``leader`` 0 the declarer, 1 his
    left, 2 his right.
    """
    if leader == 0:
        # A defender must beat it in the suit, or must ruff; what else is played does not save it.
        lost = at_or_below(second) if flags & SECOND_BEATS else 0
        lost |= at_or_below(third) if flags & THIRD_BEATS else 0
        if flags & MUST_TRUMP:
            lost |= ~suits_in(second) if second & trumps != 0 else 0
            lost |= ~suits_in(third) if third & trumps != 0 else 0
        return lost
    if leader == 1:
        # The declarer plays last: his top beats the lead and all that the second hand can play,
        # he is bound to beat, and nobody ruffs before him.
        lost = at_or_below(third & ~at_or_below(second)) if flags & THIRD_BEATS else 0
        return lost & suits_in(second) if second & trumps != 0 else lost
    # The declarer plays second, is bound to beat, and the third hand can beat none of the cards
    # that he may beat it with, nor ruff.
    under = at_or_below(third)
    lost = (
        at_or_below(second & ~under) & ~at_or_below(second & under) if flags & SECOND_BEATS else 0
    )
    return lost & suits_in(third) if third & trumps != 0 else lost


__all__ = ["lost_leads", "with_equal_above", "with_equal_below"]
