"""A position as one int64 array that kernels step card by card, and perft over it.

A state is an array of shape (STATE_SIZE,), int64, read and written by the named places below. Cards
are one-bit masks, seats 0–2 in the order of play (what they are is the caller's: forehand first, or
the declarer first). An *act* is a card index 0–23, plus DECLARE for a declaration that the rules
leave to the player. Nothing is validated here; `milsim.position.Position` is the checked twin.

Sources: RULES.md §1, §2 (play); the meanings chosen in `milsim.rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.tricks import (
    FOUR_ACES,
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    NOTHING,
    OPTIONAL_DECLARATION,
    ace_leads,
    can_declare,
    declared_points,
    last_trick_points,
    legal_second,
    legal_third,
    marriage_leads,
    play_flags,
    play_values,
    points_in,
    suit_index,
    trump_mask,
    winning_place,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

DECLARE = 32
"""Added to a card index: the act of leading it and declaring."""

# Places in a state; places of three are by seat.
HANDS = 0
LEADER = 3  # seat that leads, or led, the trick on the table
COUNT = 4  # cards on the table, 0–2
LEAD = 5  # the first of them, a mask of one bit, or 0
SECOND = 6
TRUMP = 7  # 0–3, or 4: in force for the trick on the table
NEXT_TRUMP = 8  # in force from the next trick; differs only while a marriage waits
TRICK = 9  # number of the trick on the table, 1–8; 9 when all is played
POINTS = 10  # card points won, with those for the last trick
MARRIAGES = 13  # points declared
TRICKS = 16  # tricks won
WON = 19  # cards won, masks
DECLARED = 22  # by suit, then four aces: 0, or trick number + 16·seat of the declaration
STATE_SIZE = 27


@kernel
def start(
    state: NDArray[np.int64],
    first: int,
    second: int,
    third: int,
    leader: int,
    trump: int,
    trick_number: int,
) -> None:
    """Make ``state`` a position before a trick, with nothing won: hands by seat 0–2, as masks.

    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 0b001100, 0b010001, 0b100010, 0, 4, 7)
    >>> seat_to_play(state), legal_acts(state, 0)
    (0, 12)
    """
    for place in range(STATE_SIZE):
        state[place] = 0
    state[HANDS] = first
    state[HANDS + 1] = second
    state[HANDS + 2] = third
    state[LEADER] = leader
    state[TRUMP] = trump
    state[NEXT_TRUMP] = trump
    state[TRICK] = trick_number


@kernel
def seat_to_play(state: NDArray[np.int64]) -> int:
    """The seat 0–2 whose turn it is.

    >>> state = np.zeros(STATE_SIZE, np.int64)
    >>> state[LEADER], state[COUNT] = 1, 2
    >>> seat_to_play(state)
    0
    """
    seat = int(state[LEADER] + state[COUNT])
    return seat - 3 if seat > 2 else seat


@kernel
def is_over(state: NDArray[np.int64]) -> bool:
    """Whether all cards are played.

    >>> is_over(np.zeros(STATE_SIZE, np.int64))
    True
    """
    return bool(state[HANDS] | state[HANDS + 1] | state[HANDS + 2] | state[COUNT] == 0)


@kernel
def legal_acts(state: NDArray[np.int64], flags: int) -> int:
    """The legal acts of the seat to play, as a mask: bit i for act i.

    Bits 0–23 are cards; bits 32–55, only where declaring is optional, cards led with a declaration.
    0 when all is played. ``flags``: `milsim.tricks.play_flags`.

    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 0b001100, 0b010001, 0b100010, 0, 4, 7)
    >>> bin(legal_acts(state, OPTIONAL_DECLARATION | 1 << 10 | 8 << 14) >> DECLARE)
    '0b1100'
    """
    hand = int(state[HANDS + seat_to_play(state)])
    count = int(state[COUNT])
    trumps = trump_mask(int(state[TRUMP]))
    if count == 0:
        if flags & OPTIONAL_DECLARATION == 0:
            return hand
        trick = int(state[TRICK])
        leads = marriage_leads(hand, trick, flags) | ace_leads(hand, trick, flags)
        return hand | leads << DECLARE
    if count == 1:
        return legal_second(hand, int(state[LEAD]), trumps, flags)
    return legal_third(hand, int(state[LEAD]), int(state[SECOND]), trumps, flags)


@kernel
def play_card(state: NDArray[np.int64], act: int, flags: int, values: int) -> int:
    """Play a legal act (see `legal_acts`); returns the seat that won the trick, or −1 in a trick.

    A declaration counts at once, and its trump holds in this trick, or in the next where the rules
    say so. ``values``: `milsim.tricks.play_values`.

    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 0b001100, 0b010001, 0b100010, 0, 4, 7)
    >>> [play_card(state, act, 1 << 10 | 8 << 14, 40) for act in (2, 4, 1)]
    [-1, -1, 1]
    >>> [int(number) for number in state[[LEADER, TRUMP, TRICK, POINTS + 1, MARRIAGES]]]
    [1, 0, 8, 15, 40]
    """
    card = 1 << (act & 31)
    leader = int(state[LEADER])
    count = int(state[COUNT])
    seat = seat_to_play(state)
    hand = int(state[HANDS + seat])
    state[HANDS + seat] = hand ^ card
    if count == 0:
        state[LEAD] = card
        state[COUNT] = 1
        kind = can_declare(hand, card, int(state[TRICK]), flags)
        chosen = flags & OPTIONAL_DECLARATION == 0 or act & DECLARE != 0
        if kind != NOTHING and chosen:
            suit = suit_index(card)
            state[MARRIAGES + seat] += declared_points(kind, card, values)
            place = 4 if kind == FOUR_ACES else suit
            state[DECLARED + place] = state[TRICK] + 16 * seat
            if kind == MARRIAGE:
                state[NEXT_TRUMP] = suit
                if flags & NEXT_TRICK_TRUMP == 0:
                    state[TRUMP] = suit
        return -1
    if count == 1:
        state[SECOND] = card
        state[COUNT] = 2
        return -1
    lead = int(state[LEAD])
    second = int(state[SECOND])
    winner = leader + winning_place(lead, second, card, trump_mask(int(state[TRUMP])))
    winner = winner - 3 if winner > 2 else winner
    cards = lead | second | card
    state[POINTS + winner] += points_in(cards)
    state[TRICKS + winner] += 1
    state[WON + winner] |= cards
    state[LEADER] = winner
    state[COUNT] = 0
    state[LEAD] = 0
    state[SECOND] = 0
    state[TRUMP] = state[NEXT_TRUMP]
    state[TRICK] += 1
    if is_over(state):
        state[POINTS + winner] += last_trick_points(values)
    return winner


@kernel
def total(state: NDArray[np.int64], seat: int) -> int:
    """Card points and declared points of a seat so far.

    >>> total(np.zeros(STATE_SIZE, np.int64), 2)
    0
    """
    return int(state[POINTS + seat] + state[MARRIAGES + seat])


@kernel
def perft(state: NDArray[np.int64], depth: int, rules: NDArray[np.int64]) -> int:
    """The number of different sequences of ``depth`` legal acts from a state, which stays as it is.

    0 if the cards end before. ``rules`` are packed rules. With an explicit stack; the last act is
    counted, not played.

    >>> from milsim.rules import load, packed
    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 0b001100, 0b000011, 0b110000, 0, 4, 7)
    >>> perft(state, 6, packed(load("mil")))
    8
    """
    if depth <= 0:
        return 1
    flags = play_flags(rules)
    values = play_values(rules)
    states = np.empty((depth, STATE_SIZE), np.int64)
    left = np.empty(depth, np.int64)  # acts still to try
    states[0] = state
    left[0] = legal_acts(states[0], flags)
    found = 0
    level = 0
    while level >= 0:
        acts = int(left[level])
        if level == depth - 1:
            found += popcount(acts)
            level -= 1
        elif acts == 0:
            level -= 1
        else:
            left[level] = acts & (acts - 1)
            states[level + 1] = states[level]
            level += 1
            play_card(states[level], lowest_bit_index(acts), flags, values)
            left[level] = legal_acts(states[level], flags)
    return found


__all__ = [
    "COUNT",
    "DECLARE",
    "DECLARED",
    "HANDS",
    "LEAD",
    "LEADER",
    "MARRIAGES",
    "NEXT_TRUMP",
    "POINTS",
    "SECOND",
    "STATE_SIZE",
    "TRICK",
    "TRICKS",
    "TRUMP",
    "WON",
    "is_over",
    "legal_acts",
    "perft",
    "play_card",
    "seat_to_play",
    "start",
    "total",
]
