"""The policy ``greedy`` at the table: each legal card gets a number, the highest is played.

It sees its own cards, the table, the trump and which cards are gone, nothing else. On lead it
cashes winners before it declares, declares before it lets the lead go, draws trumps as declarer and
else leads low. Following, it gives points to its partner, wins as cheaply as is safe, and throws
the least when it cannot win. Marriages still in hand are kept together.

What holds for many cards at once (which are winners, masters, halves of a marriage) is found once,
as masks; the loop over the cards then only looks bits up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import ALL_CARDS, N_RANKS, QUEEN, RANK_MASKS
from milsim.rules import place_of
from milsim.tricks import (
    ace_leads,
    marriage_leads,
    points_in,
    suit_index,
    suit_mask,
    undeclarable_queens,
    winning_place,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VALUES = place_of("deal.marriage_values.spades")
UNTIL_TRICK = place_of("play.marriage_until_trick")

DECLARER_ROLE = 0

_QUEENS = RANK_MASKS[QUEEN]
# Bits that stay inside their suit when everything is moved down by one, two or four ranks.
_DOWN_1 = sum(RANK_MASKS[:5])
_DOWN_2 = sum(RANK_MASKS[:4])
_DOWN_4 = sum(RANK_MASKS[:2])
# Card points by rank, four bits each.
_POINTS_BY_RANK = 0xBA4320


@kernel(inline=True)
def _points_of(card: int) -> int:
    """Card points of one card, a mask of one bit."""
    return _POINTS_BY_RANK >> 4 * (lowest_bit_index(card) % N_RANKS) & 15


@kernel(inline=True)
def beaten_by(hidden: int) -> int:
    """All cards that some hidden card of their suit beats, and the hidden cards themselves.

    >>> beaten_by(0b010000) == 0b011111
    True
    """
    cards = hidden | hidden >> 1 & _DOWN_1
    cards |= cards >> 2 & _DOWN_2
    return cards | cards >> 4 & _DOWN_4


@kernel(inline=True)
def _whole_marriages(hand: int, trick_number: int, rules: NDArray[np.int64], flags: int) -> int:
    """Kings and queens held as pairs, while a marriage can still be declared."""
    queens = hand & hand >> 1 & _QUEENS & ~undeclarable_queens(flags)
    late = trick_number > rules[UNTIL_TRICK]
    return 0 if late else queens | queens << 1


@kernel
def _lead(
    rules: NDArray[np.int64],
    flags: int,
    hand: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    role: int,
) -> int:
    """The card to lead."""
    safe = hidden & trumps == 0
    masters = hand & ~beaten_by(hidden)
    declaring = marriage_leads(hand, trick_number, flags)
    aces = ace_leads(hand, trick_number, flags)
    whole = _whole_marriages(hand, trick_number, rules, flags)
    chosen = 0
    most = -(1 << 30)
    rest = hand
    while rest:
        card = rest & -rest
        rest ^= card
        points = _points_of(card)
        is_trump = card & trumps != 0
        if card & (declaring | aces):
            # The queen costs less if the trick is lost; the king wins it if ace and ten are gone.
            value = int(rules[VALUES + suit_index(card)])
            worth = 4000 + 4 * value - points + (8 if card & masters else 0)
        elif card & whole:
            worth = -2000 - int(rules[VALUES + suit_index(card)])
        elif card & masters:
            # Sure to win: the ace before the ten, and a trump only to draw what others hold.
            if is_trump and not safe:
                worth = points + (3000 if role == DECLARER_ROLE else 1200)
            else:
                worth = points + (5000 if safe else 2500)
        else:
            # It will lose: few points, from a long suit, and no trump.
            length = popcount(hand & suit_mask(card))
            worth = 1000 - 40 * points + 6 * length - (60 if is_trump else 0)
        if worth > most:
            most = worth
            chosen = card
    return chosen


@kernel
def _follow(
    rules: NDArray[np.int64],
    flags: int,
    hand: int,
    legal: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    role: int,
    leader_role: int,
) -> int:
    """The card to follow with."""
    last = second != 0
    place = winning_place(lead, second, 0, trumps)
    best = second if place == 1 else lead
    # Winners beat the best card so far: higher in its suit, or any trump over a plain card.
    winners = legal & suit_mask(best) & -(best + best)
    if best & trumps == 0:
        winners |= legal & trumps
    beaten = beaten_by(hidden)
    whole = _whole_marriages(hand, trick_number, rules, flags)
    partner_wins = role != DECLARER_ROLE and (leader_role + place) % 3 != DECLARER_ROLE
    smears = partner_wins and (last or best & beaten == 0)
    on_table = points_in(lead | second)
    chosen = 0
    most = -(1 << 30)
    rest = legal
    while rest:
        card = rest & -rest
        rest ^= card
        points = _points_of(card)
        is_master = card & beaten == 0
        wins = card & winners != 0
        if smears:
            # The points stay on our side; an ace that will win a trick anyway is kept for it.
            spare = 4 if is_master else 0
            worth = 2000 + 20 * (points - spare) - (400 if wins else 0)
        elif wins and last:
            # Sure to win: bring home what could be lost later, rather than a card that is master.
            worth = 3000 + 20 * points - (150 if is_master else 0) + 10 * on_table
        elif wins:
            worth = 3000 - points if is_master else 1500 - 30 * points
        else:
            worth = 1000 - 30 * points - (20 if card & trumps else 0)
        if card & whole:
            worth -= 3 * int(rules[VALUES + suit_index(card)])
        if worth > most:
            most = worth
            chosen = card
    return chosen


@kernel
def greedy_card(
    rules: NDArray[np.int64],
    flags: int,
    hand: int,
    legal: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    played: int,
    role: int,
    leader_role: int,
) -> int:
    """The card to play, as a mask of one bit.

    ``lead`` and ``second`` are the cards on the table (0 = none), ``played`` all cards seen so far
    with those, roles are 0 declarer, 1 the defender on his left, 2 on his right.
    """
    if legal & (legal - 1) == 0:
        return legal
    hidden = ALL_CARDS & ~played & ~hand
    if lead == 0:
        return _lead(rules, flags, hand, trumps, trick_number, hidden, role)
    return _follow(
        rules, flags, hand, legal, lead, second, trumps, trick_number, hidden, role, leader_role
    )
