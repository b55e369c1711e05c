"""Random play of whole deals, as fast as it goes: the measure of the kernels, and a test of them.

A playout deals, gives two random gifts of the ten cards of forehand, who is declarer, and plays
eight tricks: each card uniformly among the legal ones, every marriage declared that its lead can
declare. One 64-bit word serves all choices of a playout: a choice among n takes the high half of
word·n and leaves the low half for the next. The product of all n is below 2^46, so each choice is
uniform up to 2^-18.

What made it fast, measured under ``mil`` in ns a playout without the dealing: 243 with branches and
an array argument (see `milsim.tricks`), 143 with neither, all copied into one loop, and the last
trick, where nobody chooses, apart; 107 with two deals side by side, whose waiting times overlap.
With the dealing 175, and 150 since deals are made by blocks, where their memory waits overlap too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import deposit, multiply_wide, popcount
from milsim.cards import ALL_CARDS, DECK_POINTS
from milsim.dealing.sampling import deal_masks, deal_number
from milsim.rng import POLICY_STREAM, philox, stream_of
from milsim.tricks import (
    ACES_DECLARE,
    FOUR_ACES,
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    able_cards,
    ace_leads,
    declared_points,
    last_trick_points,
    legal_second,
    legal_third,
    marriage_leads,
    play_flags,
    play_values,
    points_in,
    suit_mask,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What goes from trick to trick: the hands from the leader on; the trumps of this trick and of the
# next; 24 times the leader's seat; cards won by seats 0 and 1, points declared by all three, each
# in 24 bits from 24·seat on; the random word.
_Run = tuple[int, int, int, int, int, int, int, int, int]
_Hands = tuple[int, int, int, int]

_BLOCK = 256  # deals: at home in the first cache


@kernel(inline=True)
def random_card(cards: int, count: int, word: int) -> tuple[int, int]:
    """One of ``count`` cards, as a mask of one bit, and the word for the next choice.

    >>> random_card(0b1011, 3, -1)
    (8, -3)
    """
    place, rest = multiply_wide(word, count)
    return deposit(1 << place, cards), rest


@kernel(inline=True)
def _random_trick(run: _Run, trick: int, flags: int, values: int) -> _Run:
    first, second, third, trumps, coming, shift, won, declared, word = run
    marriages = marriage_leads(first, trick, flags)
    lead, word = random_card(first, 9 - trick, word)
    suit = suit_mask(lead)
    if marriages & lead != 0:
        declared += declared_points(MARRIAGE, lead, values) << shift
        coming = suit
        trumps = trumps if flags & NEXT_TRICK_TRUMP else suit
    if flags & ACES_DECLARE and lead & ace_leads(first, trick, flags) != 0:
        declared += declared_points(FOUR_ACES, lead, values) << shift
    first ^= lead
    legal = legal_second(second, lead, trumps, flags)
    follow, word = random_card(legal, popcount(legal), word)
    second ^= follow
    legal = legal_third(third, lead, follow, trumps, flags)
    last, word = random_card(legal, popcount(legal), word)
    third ^= last
    cards = lead | follow | last
    able = able_cards(cards, suit, trumps)
    second_wins = (follow & able) << 1 > able
    third_wins = (last & able) << 1 > able
    shift += 48 if third_wins else (24 if second_wins else 0)
    shift = shift - 72 if shift > 48 else shift
    won |= cards << shift
    return (
        third if third_wins else (second if second_wins else first),
        first if third_wins else (third if second_wins else second),
        second if third_wins else (first if second_wins else third),
        coming,
        coming,
        shift,
        won,
        declared,
        word,
    )


@kernel(inline=True)
def _last_trick(run: _Run, values: int) -> tuple[int, int, int]:
    """The forced trick, then the points of the three seats."""
    lead, follow, last, trumps, _, shift, won, declared, _ = run
    cards = lead | follow | last
    able = able_cards(cards, suit_mask(lead), trumps)
    shift += 48 if (last & able) << 1 > able else (24 if (follow & able) << 1 > able else 0)
    shift = shift - 72 if shift > 48 else shift
    won |= cards << shift
    declared += last_trick_points(values) << shift
    first = points_in(won & ALL_CARDS)
    second = points_in(won >> 24 & ALL_CARDS)
    return (
        first + (declared & ALL_CARDS),
        second + (declared >> 24 & ALL_CARDS),
        DECK_POINTS - first - second + (declared >> 48),
    )


@kernel(inline=True)
def _dealt(seed: int, number: int, index: int, hands: NDArray[np.int32]) -> _Hands:
    """The deal of a number after two random gifts of forehand, who leads; and the random word."""
    forehand, middlehand, rearhand, talon = deal_masks(number, hands)
    word, spare = philox(seed, index, stream_of(POLICY_STREAM, 0))
    ten = forehand | talon
    left, spare = random_card(ten, 10, spare)
    right, spare = random_card(ten ^ left, 9, spare)
    return ten ^ left ^ right, middlehand | left, rearhand | right, word


@kernel(inline=True)
def _run_of(dealt: NDArray[np.int64], i: int) -> _Run:
    first, second, third, word = dealt[i, 0], dealt[i, 1], dealt[i, 2], dealt[i, 3]
    return int(first), int(second), int(third), 0, 0, 0, 0, 0, int(word)


@kernel
def playout_of(
    first: int, second: int, third: int, word: int, flags: int, values: int
) -> tuple[int, int, int]:
    """Points by seat of one random playout of three hands of eight; the first leads.

    ``word``: 64 random bits; ``flags`` and ``values`` from `milsim.tricks`.

    >>> from milsim.rules import load, packed
    >>> rules = packed(load("mil"))
    >>> points = playout_of(0xFF, 0xFF00, 0xFF0000, 12345, play_flags(rules), play_values(rules))
    >>> sum(points) % 20
    0
    """
    run = (first, second, third, 0, 0, 0, 0, 0, word)
    for trick in range(1, 8):
        run = _random_trick(run, trick, flags, values)
    return _last_trick(run, values)


@kernel
def random_playouts(
    seed: int, start: int, count: int, hands: NDArray[np.int32], rules: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Points by seat, summed over random playouts of deals ``start … start + count − 1`` of a seed.

    Forehand (seat 0) declares. ``hands`` is `milsim.dealing.tables.kernel_hands()`, ``rules`` are
    packed rules. An odd last deal is played twice and counted once.

    >>> from milsim.dealing.tables import kernel_hands
    >>> from milsim.rules import load, packed
    >>> sum(random_playouts(1, 0, 3, kernel_hands(), packed(load("mil")))) >= 360
    True
    """
    flags = play_flags(rules)
    values = play_values(rules)
    numbers = np.empty(_BLOCK, np.int64)
    dealt = np.empty((_BLOCK, 4), np.int64)
    first = 0
    second = 0
    third = 0
    for begin in range(start, start + count, _BLOCK):
        size = min(_BLOCK, start + count - begin)
        for i in range(size):
            numbers[i] = deal_number(seed, begin + i, 0)
        for i in range(size):
            a = _dealt(seed, numbers[i], begin + i, hands)
            dealt[i, 0], dealt[i, 1], dealt[i, 2], dealt[i, 3] = a
        for i in range(0, size, 2):
            both = i + 1 < size
            run_a = _run_of(dealt, i)
            run_b = _run_of(dealt, i + 1 if both else i)
            for trick in range(1, 8):
                run_a = _random_trick(run_a, trick, flags, values)
                run_b = _random_trick(run_b, trick, flags, values)
            points_a = _last_trick(run_a, values)
            points_b = _last_trick(run_b, values)
            first += points_a[0] + (points_b[0] if both else 0)
            second += points_a[1] + (points_b[1] if both else 0)
            third += points_a[2] + (points_b[2] if both else 0)
    return first, second, third


__all__ = ["playout_of", "random_card", "random_playouts"]
