"""Cards by rank: the encoding inside the solver, and the rules of a trick in it.

Bit 4·rank + suit instead of 6·suit + rank (RULES.md §1). So the lowest bit of any set of cards is
its cheapest card and the highest its dearest; shifting by four moves all suits one rank at once,
and "above", "top of its suit" and "equal neighbours" cost the same for one suit as for four.

Like `milsim.tricks`: int64 only, a *card* is a mask of one bit, ``trumps`` the mask of the trump
suit or 0, ``flags`` from `milsim.tricks.play_flags`; nothing is validated.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.bits import deposit, extract, lowest_bit_index, popcount

SUIT = 0x111111  # spades; shifted by 1 to 3, the other suits
NINES, JACKS, QUEENS, KINGS, TENS, ACES = (0xF << 4 * rank for rank in range(6))
# Card points 0 2 3 4 10 11 by binary place: the ranks that have the 1, the 2, the 4, the 8.
_ONES = QUEENS | ACES
_TWOS = JACKS | QUEENS | TENS | ACES
_EIGHTS = TENS | ACES


@kernel
def ranked(cards: int) -> int:
    """The cards of a mask of RULES.md §1 (bit 6·suit + rank) in this encoding.

    >>> hex(ranked(0b111111 << 6)), ranked(1 << 23) == 1 << 23
    ('0x222222', True)
    """
    return (
        deposit(cards & 63, SUIT)
        | deposit(cards >> 6 & 63, SUIT << 1)
        | deposit(cards >> 12 & 63, SUIT << 2)
        | deposit(cards >> 18 & 63, SUIT << 3)
    )


@kernel
def unranked(cards: int) -> int:
    """The opposite of :func:`ranked`.

    >>> unranked(ranked(0xABCDEF)) == 0xABCDEF
    True
    """
    return (
        extract(cards, SUIT)
        | extract(cards, SUIT << 1) << 6
        | extract(cards, SUIT << 2) << 12
        | extract(cards, SUIT << 3) << 18
    )


@kernel(inline=True)
def points_of(cards: int) -> int:
    """Card points of some cards.

    >>> points_of(ranked(63))
    30
    """
    return (
        popcount(cards & _ONES)
        + 2 * popcount(cards & _TWOS)
        + 4 * popcount(cards & KINGS)
        + 8 * popcount(cards & _EIGHTS)
    )


@kernel(inline=True)
def suit_of(card: int) -> int:
    """The six cards of the suit of one card.

    >>> hex(suit_of(1 << 22))
    '0x444444'
    """
    return SUIT << (lowest_bit_index(card) & 3)


@kernel(inline=True)
def at_or_below(cards: int) -> int:
    """All cards that are in some suit no higher than the highest of ``cards`` in that suit.

    >>> hex(at_or_below(1 << 8))
    '0x111'
    """
    cards |= cards >> 4
    cards |= cards >> 8
    return cards | cards >> 16


@kernel(inline=True)
def suits_in(cards: int) -> int:
    """The suits of some cards: all cards of each suit that has one among them.

    >>> hex(suits_in(1 << 8))
    '0x111111'
    """
    cards |= cards >> 12
    cards |= cards >> 4 | cards >> 8
    return (cards & 0xF) * SUIT


@kernel(inline=True)
def second_cards(hand: int, lead: int, suit: int, trumps: int, flags: int) -> int:
    """The legal cards of the second hand (as `milsim.tricks.legal_second`); ``suit`` is led.

    >>> hex(second_cards(0x100011, 0x000100, SUIT, 0, 1))
    '0x100000'
    """
    follow = hand & suit
    higher = follow & -(lead + lead) & -(flags & 1)
    in_suit = higher if higher != 0 else follow
    ruffs = hand & trumps & -(flags >> 3 & 1)
    void = ruffs if ruffs != 0 else hand
    return in_suit if follow != 0 else void


@kernel(inline=True)
def third_cards(hand: int, lead: int, second: int, suit: int, trumps: int, flags: int) -> int:
    """The legal cards of the third hand (as `milsim.tricks.legal_third`); ``suit`` is led.

    >>> hex(third_cards(0x100011, 0x000100, 0x010000, SUIT, 0, 2))
    '0x100000'
    """
    follow = hand & suit
    ruff = second & trumps & ~suit
    plain = (ruff - 1) >> 63  # all ones if the trick is not ruffed
    best = max(lead, second & suit)
    beats = (-(flags >> 1 & 1) & plain) | (-(flags >> 2 & 1) & ~plain)
    higher = follow & -(best + best) & beats
    in_suit = higher if higher != 0 else follow
    ruffs = hand & trumps & -(flags >> 3 & 1)
    over = ruffs & -(ruff + ruff) & -(flags >> 4 & 1)
    under = ruffs & (plain | (flags >> 5 & 1) - 1)
    must = over if over != 0 else under
    void = must if must != 0 else hand
    return in_suit if follow != 0 else void


__all__ = [
    "ACES",
    "JACKS",
    "KINGS",
    "NINES",
    "QUEENS",
    "SUIT",
    "TENS",
    "at_or_below",
    "points_of",
    "ranked",
    "second_cards",
    "suit_of",
    "suits_in",
    "third_cards",
    "unranked",
]
