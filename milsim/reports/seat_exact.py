"""Exact chances of the three hands of random cards together."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, prod

from milsim.cards import N_CARDS, N_SUITS
from milsim.deals import PLACE_CARDS

N_PLACES = len(PLACE_CARDS)
"""Three hands and the talon."""


@cache
def holders() -> tuple[Fraction, ...]:
    """The chances that 0, 1, 2 and 3 of the players hold a marriage in their seven cards.

    >>> [round(float(chance), 6) for chance in holders()]
    [0.352471, 0.457228, 0.173752, 0.016549]
    """
    # Kings and queens suit by suit: how many of them each place has, and who holds a marriage.
    ways: Counter[tuple[tuple[int, ...], int]] = Counter({((0,) * N_PLACES, 0): 1})
    for _ in range(N_SUITS):
        following: Counter[tuple[tuple[int, ...], int]] = Counter()
        for (royals, who), number in ways.items():
            for king, queen in product(range(N_PLACES), repeat=2):
                more = list(royals)
                more[king] += 1
                more[queen] += 1
                married = king == queen and king < N_PLACES - 1
                following[tuple(more), who | (married << king)] += number
        ways = following
    deals = [0] * N_PLACES
    for (royals, who), number in ways.items():
        room = [size - held for size, held in zip(PLACE_CARDS, royals, strict=True)]
        if min(room) >= 0:
            deals[who.bit_count()] += number * _ways_to_fill(room)
    return tuple(Fraction(number, sum(deals)) for number in deals)


def _ways_to_fill(room: list[int]) -> int:
    """How many ways there are to deal the other 16 cards to places with so much room."""
    left = N_CARDS - 2 * N_SUITS
    return prod(comb(left - sum(room[:place]), size) for place, size in enumerate(room))
