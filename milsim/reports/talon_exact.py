"""Exact chances of the talon of random cards, as fractions; more in ``exact``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

from milsim.cards import ACE, N_CARDS, N_SUITS, RANK_MASKS, TEN, mask_of
from milsim.deals import HAND_CARDS, TALON_CARDS
from milsim.reports.exact import UNSEEN, any_completed_given, hands_with

HIGH = RANK_MASKS[ACE] | RANK_MASKS[TEN]
"""Aces and tens: the cards that the table of cards wanted counts."""
N_HIGH = HIGH.bit_count()


@cache
def talons() -> tuple[int, ...]:
    """All 2,024 talons as masks.

    >>> len(talons())
    2024
    """
    return tuple(mask_of(cards) for cards in combinations(range(N_CARDS), TALON_CARDS))


def share_of_talons(condition: Callable[[int], bool]) -> Fraction:
    """The chance of talons (masks) for which a condition holds.

    >>> share_of_talons(lambda talon: talon & 1 == 1)
    Fraction(1, 8)
    """
    fit = sum(1 for talon in talons() if condition(talon))
    return Fraction(fit, len(talons()))


def holds_wanted(wanted: int) -> Fraction:
    """The chance that the talon holds any of so many cards that are not in the seven.

    >>> holds_wanted(1), holds_wanted(8)
    (Fraction(3, 17), Fraction(149, 170))
    """
    return 1 - Fraction(comb(UNSEEN - wanted, TALON_CARDS), comb(UNSEEN, TALON_CARDS))


def holds_absent_pair() -> Fraction:
    """The chance that the talon is dealt a king and queen neither of which is in the seven.

    >>> holds_absent_pair()
    Fraction(3, 136)
    """
    return Fraction(UNSEEN - 2, comb(UNSEEN, TALON_CARDS))


def hands_lacking(lacking: int) -> Fraction:
    """The chance that seven random cards lack so many of the eight aces and tens.

    >>> sum(hands_lacking(lacking) for lacking in range(N_HIGH + 1))
    Fraction(1, 1)
    """
    held = N_HIGH - lacking
    if held > HAND_CARDS:
        return Fraction(0)
    hands = comb(N_HIGH, held) * comb(N_CARDS - N_HIGH, HAND_CARDS - held)
    return Fraction(hands, comb(N_CARDS, HAND_CARDS))


def any_high() -> Fraction:
    """The chance that the talon holds an ace or a ten that the seven cards lack: any at all."""
    return sum(
        (hands_lacking(lacking) * holds_wanted(lacking) for lacking in range(N_HIGH + 1)),
        Fraction(0),
    )


def held_jointly(marriages: int, halves: int) -> Fraction:
    """The chance that seven random cards hold so many marriages and so many half marriages.

    >>> round(float(held_jointly(1, 1)), 5)
    0.1262
    """
    return Fraction(hands_with(HAND_CARDS, marriages, halves), comb(N_CARDS, HAND_CARDS))


def waiting_hands() -> list[tuple[int, int]]:
    """The numbers of marriages and half marriages that seven cards may hold.

    >>> len(waiting_hands())
    14
    """
    return [
        (marriages, halves)
        for marriages in range(N_SUITS + 1)
        for halves in range(N_SUITS - marriages + 1)
        if hands_with(HAND_CARDS, marriages, halves)
    ]


def any_completed_with(marriages: int) -> Fraction:
    """The chance of at least one new marriage from the talon, for hands with so many.

    >>> round(float(any_completed_with(1)), 6)
    0.237891
    """
    found = [pair for pair in waiting_hands() if pair[0] == marriages]
    hands = sum(hands_with(HAND_CARDS, *pair) for pair in found)
    return sum(
        (
            Fraction(hands_with(HAND_CARDS, *pair), hands) * any_completed_given(*pair)
            for pair in found
        ),
        Fraction(0),
    )
