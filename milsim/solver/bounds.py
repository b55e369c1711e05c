"""Points that are sure before a trick: bounds that end a search without a card played.

All in the encoding of `milsim.solver.ranked`. Each bound carries the sketch of its proof. Marriages
are the caller's: hands come here without the kings and queens that would declare when led, and
where a marriage could change the trump, the caller does not ask.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.bits import deposit, popcount
from milsim.solver.ranked import at_or_below, points_of, suit_of, suits_in


@kernel
def sure_winners(hand: int, one: int, other: int, trumps: int, leads: int) -> int:
    """Cards that a player can lead one after the other, winning every trick.

    ``one`` and ``other`` are the two other hands (a partner can win too). Proof: a card above all
    other cards of its suit loses only to a ruff. A player can ruff only when void in the suit, and
    in the j-th round of a suit he is not void if he had j cards of it and follows in each; rounds
    of other suits take none of them as long as he follows there too, which is so for the same
    reason. Who has no trump never ruffs. If ``leads`` (he is on lead now) and his top trumps are as
    many as the trumps of either other hand, leading them first leaves nobody a trump.

    >>> from milsim.solver.ranked import SUIT
    >>> hex(sure_winners(0x300000, 0x010000, 0x001002, 0, 1))
    '0x300000'
    >>> hex(sure_winners(0x300000, 0x010000, 0x001004, SUIT << 2, 1))
    '0x100000'
    """
    tops = hand & ~at_or_below(one | other)
    if tops == 0 or (one | other) & trumps == 0:
        return tops
    if leads != 0:
        top_trumps = popcount(tops & trumps)
        if top_trumps >= popcount(one & trumps) and top_trumps >= popcount(other & trumps):
            return tops
    rest = tops & ~trumps
    found = tops & trumps
    one = one if one & trumps != 0 else -1
    other = other if other & trumps != 0 else -1
    while rest != 0:
        # One round of each suit: the highest of those who must follow, and of the leader.
        if one != -1:
            rest &= suits_in(one)
            one &= at_or_below(one) >> 4
        if other != -1:
            rest &= suits_in(other)
            other &= at_or_below(other) >> 4
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


@kernel
def worth(winners: int, one: int, other: int, left: int, bonus: int) -> int:
    """The least that winning with these cards brings: they, and the cheapest cards of the others.

    Each wins a trick of its own. All the tricks that are ``left``: the ``bonus`` of the last too.
    """
    count = popcount(winners)
    taken = points_of(winners) + cheapest(one, count) + cheapest(other, count)
    return taken + bonus if count == left else taken


@kernel
def declarer_off_lead(
    hand: int,
    loud: int,
    first: int,
    partner: int,
    trumps: int,
    calm: int,
    left: int,
    bonus: int,
) -> int:
    """Points that are sure for the declarer while a defender, with cards ``first``, leads.

    ``hand``: the declarer's, with ``loud`` the cards of its live marriages. ``calm``: no marriage
    of a defender can come; the leader must have none to declare now in any case.

    Proof. Let W be the declarer's `sure_winners`. (1) If every suit of the leader has a card of W,
    that card takes the trick that he leads there (no other card of the suit is above it, nobody can
    ruff the first round), and what is left of W are sure winners still, now on lead. (2) If no
    defender has a trump, W are his top cards and stay so whatever is played. The defenders can
    lead other suits in at most u tricks before they must lead one of W: in each round of a suit
    every one who has a card of it plays one, so u is no more than the sum of the longer holdings.
    Till then he plays other cards, and if he has u of them, W is whole when he comes on lead; with
    trumps of his own, suits in which he is void are as good as stopped: he ruffs. (3) A top trump
    wins its trick whenever it is played; he leads them when he may, and is not made to play one
    that does not win.
    """
    winners = sure_winners(hand & ~loud, first, partner, trumps, 0)
    if winners == 0:
        return 0
    both = first | partner
    stopped = suits_in(winners)
    if both & trumps == 0 and hand & trumps != 0:
        stopped |= ~suits_in(hand)
    if first & ~stopped == 0:
        return worth(winners, first, partner, left, bonus)
    if calm == 0:
        return 0
    if both & trumps == 0:
        loose = both & ~stopped
        rounds = 0
        while loose != 0:
            suit = suit_of(loose & -loose)
            loose &= ~suit
            rounds += max(popcount(first & suit), popcount(partner & suit))
        return (
            worth(winners, first, partner, left, bonus) if left - rounds >= popcount(winners) else 0
        )
    return worth(winners & trumps, first, partner, left, bonus)


@kernel
def defenders_off_lead(
    own: int, one: int, other: int, loud: int, trumps: int, left: int, bonus: int
) -> int:
    """Points that are sure for the defenders while the declarer, with cards ``own``, leads.

    He must have no marriage to come; ``loud`` are the cards of the defenders' own live marriages,
    which they lead only if they want to. Proof as in `declarer_off_lead`: if each of his suits is
    stopped by a sure winner of one defender or of the other, that one comes on lead at once and
    takes all of his; else the top trumps of either win their tricks, by their owner or his partner.
    """
    winners = sure_winners(one & ~loud, own, other, trumps, 0)
    others = sure_winners(other & ~loud, own, one, trumps, 0)
    if winners | others == 0:
        return 0
    by_one = own & suits_in(winners)
    by_other = own & suits_in(others)
    if own & ~(by_one | by_other) != 0:
        winners &= trumps
        others &= trumps
        taken = worth(winners, own, other, left, bonus)
        return max(taken, worth(others, own, one, left, bonus))
    taken = worth(winners, own, other, left, bonus)
    taken_too = worth(others, own, one, left, bonus)
    if by_one == 0:
        return taken_too
    return taken if by_other == 0 else min(taken, taken_too)


__all__ = ["cheapest", "declarer_off_lead", "defenders_off_lead", "sure_winners", "worth"]
