"""The policy ``greedy`` at the table: each legal card gets a number, the highest is played.

It sees its own cards, the table, the trump and which cards are gone, nothing else. On lead it
cashes winners before it declares, declares before it lets the lead go, draws trumps as declarer and
else leads low. Following, it gives points to its partner, wins as cheaply as is safe, and throws
the least when it cannot win. Marriages still in hand are kept together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.cards import ALL_CARDS, KING, QUEEN, RANK_MASKS
from milsim.rules import place_of
from milsim.tricks import (
    NOTHING,
    can_declare,
    points_in,
    suit_index,
    suit_mask,
    winning_place,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VALUES = place_of("deal.marriage_values.spades")
UNTIL_TRICK = place_of("play.marriage_until_trick")

_KINGS_QUEENS = RANK_MASKS[KING] | RANK_MASKS[QUEEN]
DECLARER_ROLE = 0


@kernel
def _is_master(card: int, hidden: int) -> bool:
    """Whether no hidden card of its suit is higher."""
    return (hidden & suit_mask(card) & -(card + card)) == 0


@kernel
def _broken_marriage(rules: NDArray[np.int64], hand: int, card: int, trick_number: int) -> int:
    """The value of the marriage that playing a card would break, 0 if none or too late for it."""
    pair = suit_mask(card) & _KINGS_QUEENS
    if (card & pair) != 0 and (hand & pair) == pair and trick_number <= rules[UNTIL_TRICK]:
        return int(rules[VALUES + suit_index(card)])
    return 0


@kernel
def _lead_worth(
    rules: NDArray[np.int64],
    flags: int,
    hand: int,
    card: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    role: int,
) -> int:
    """How much leading a card appeals."""
    points = points_in(card)
    suit = suit_mask(card)
    safe = trumps == 0 or (hidden & trumps) == 0
    is_trump = (card & trumps) != 0
    if can_declare(hand, card, trick_number, flags) != NOTHING:
        # The queen costs less if the trick is lost; the king wins it if ace and ten are gone.
        value = rules[VALUES + suit_index(card)]
        return int(4000 + 4 * value) + (8 if _is_master(card, hidden) else 0) - points
    broken = _broken_marriage(rules, hand, card, trick_number)
    if broken > 0:
        return -2000 - broken
    if _is_master(card, hidden):
        if safe or is_trump:
            # Sure to win: the ace before the ten, and a trump only to draw what others hold.
            if is_trump and not safe:
                return 3000 + points if role == DECLARER_ROLE else 1200 + points
            return 5000 + points
        return 2500 + points
    # A lead that will lose: few points, from a suit where much is hidden above anyway; tens and
    # halves of marriages are kept.
    length = 0
    rest = hand & suit
    while rest:
        rest &= rest - 1
        length += 1
    return 1000 - 40 * points + 6 * length - (60 if is_trump else 0)


@kernel
def _follow_worth(
    rules: NDArray[np.int64],
    hand: int,
    card: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    partner_wins: bool,
) -> int:
    """How much following with a card appeals."""
    points = points_in(card)
    last = second != 0
    best = second if winning_place(lead, second, 0, trumps) == 1 else lead
    keep = 3 * _broken_marriage(rules, hand, card, trick_number)
    if last:
        wins = winning_place(lead, second, card, trumps) == 2
    else:
        wins = winning_place(lead, card, 0, trumps) == 1
    if partner_wins and (last or _is_master(best, hidden)):
        # The points stay on our side; an ace that will win a trick anyway is kept for it.
        spare = 4 if _is_master(card, hidden) else 0
        return 2000 + 20 * (points - spare) - keep - (400 if wins else 0)
    if wins:
        if last:
            # Sure to win: bring home what could be lost later, rather than a card that is master.
            home = 20 * points - (150 if _is_master(card, hidden) else 0)
            return 3000 + home + 10 * points_in(lead | second) - keep
        if _is_master(card, hidden):
            return 3000 - points - keep
        return 1500 - 30 * points - keep
    return 1000 - 30 * points - keep - (20 if (card & trumps) != 0 else 0)


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
    partner_wins = False
    if lead != 0 and role != DECLARER_ROLE:
        place = winning_place(lead, second, 0, trumps)
        partner_wins = (leader_role + place) % 3 != DECLARER_ROLE
    chosen = 0
    most = -(1 << 30)
    rest = legal
    while rest:
        card = rest & -rest
        rest ^= card
        if lead == 0:
            worth = _lead_worth(rules, flags, hand, card, trumps, trick_number, hidden, role)
        else:
            worth = _follow_worth(
                rules, hand, card, lead, second, trumps, trick_number, hidden, partner_wins
            )
        if worth > most:
            most = worth
            chosen = card
    return chosen
