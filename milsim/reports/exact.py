"""Exact chances that stand beside the sampled ones, counted by hand as fractions.

They hold for a hand of random cards: forehand's in declarer mode without a constraint.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from milsim.cards import N_CARDS, N_SUITS
from milsim.deals import HAND_CARDS, TALON_CARDS

UNSEEN = N_CARDS - HAND_CARDS
HELD10 = HAND_CARDS + TALON_CARDS


def held(cards: int) -> Fraction:
    """The chance that so many random cards hold the king and queen of a given suit.

    >>> held(7), held(10)
    (Fraction(7, 92), Fraction(15, 92))
    """
    return Fraction(comb(N_CARDS - 2, cards - 2), comb(N_CARDS, cards))


def hands_with(cards: int, marriages: int, halves: int) -> int:
    """How many hands hold so many marriages and so many half marriages (of other suits).

    >>> sum(hands_with(7, 0, halves) for halves in range(5))
    247536
    """
    rest = cards - 2 * marriages - halves
    if rest < 0 or marriages + halves > N_SUITS:
        return 0
    suits = comb(N_SUITS, marriages) * comb(N_SUITS - marriages, halves)
    return suits * (1 << halves) * comb(N_CARDS - 2 * N_SUITS, rest)


def number_held(cards: int, marriages: int) -> Fraction:
    """The chance that so many random cards hold exactly so many marriages.

    >>> number_held(7, 3)
    Fraction(1, 4807)
    """
    hands = sum(hands_with(cards, marriages, halves) for halves in range(N_SUITS + 1))
    return Fraction(hands, comb(N_CARDS, cards))


def any_held(cards: int) -> Fraction:
    """The chance that so many random cards hold at least one marriage.

    >>> any_held(7)
    Fraction(1369, 4807)
    """
    return 1 - number_held(cards, 0)


def completed() -> Fraction:
    """The chance that the talon completes a given marriage: not in the 7 cards, in the 10.

    >>> completed()
    Fraction(2, 23)
    """
    return held(HELD10) - held(HAND_CARDS)


def any_completed_given(marriages: int, halves: int) -> Fraction:
    """The chance of at least one new marriage from the talon, for a hand of 7 with these.

    >>> any_completed_given(0, 0)
    Fraction(3, 34)
    """
    nothing = _talons_completing(halves, N_SUITS - marriages - halves, 0)
    return 1 - Fraction(nothing, comb(UNSEEN, TALON_CARDS))


def completed_half() -> Fraction:
    """The chance that the talon brings the other half of a given half marriage in 7 cards.

    >>> completed_half()
    Fraction(3, 17)
    """
    return Fraction(TALON_CARDS, UNSEEN)


def any_completed() -> Fraction:
    """The chance that the talon completes at least one marriage, over all hands of 7.

    >>> round(float(any_completed()), 6)
    0.320574
    """
    return 1 - number_completed(0)


def number_completed(new: int) -> Fraction:
    """The chance that the talon completes exactly so many marriages (never more than 3).

    >>> sum(number_completed(new) for new in range(4))
    Fraction(1, 1)
    """
    total = 0
    for marriages in range(N_SUITS):
        for halves in range(N_SUITS - marriages + 1):
            absent = N_SUITS - marriages - halves
            hands = hands_with(HAND_CARDS, marriages, halves)
            total += hands * _talons_completing(halves, absent, new)
    return Fraction(total, comb(N_CARDS, HAND_CARDS) * comb(UNSEEN, TALON_CARDS))


def _talons_completing(halves: int, absent: int, new: int) -> int:
    """Talons that complete `new` marriages: by partners of halves, or by one whole absent pair."""
    neutral = UNSEEN - halves - 2 * absent
    talons = 0
    for pairs in (0, 1):
        partners = new - pairs
        left = TALON_CARDS - 2 * pairs - partners
        if pairs > absent or not 0 <= partners <= halves or left < 0:
            continue
        singles_from = absent - pairs
        talons += (
            comb(absent, pairs)
            * comb(halves, partners)
            * sum(
                comb(singles_from, singles) * (1 << singles) * comb(neutral, left - singles)
                for singles in range(min(singles_from, left) + 1)
            )
        )
    return talons
