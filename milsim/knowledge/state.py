"""What one seat knows of the hidden cards, as int64 arrays that acts bring up to date.

There are two kinds. The *state* of an observing seat, int64[STATE_SIZE], follows the deal and the
exchange, where each seat sees something else. The *plays*, int64[PLAYS_SIZE], are what the tricks
have proved, the same to everybody: one array for all seats, one step for each card. `catch_up` puts
the plays into a state whenever its seat has to think, as often as one likes.

Seats are 0–2 in the order of play; what they are is the caller's (forehand first, or the declarer
first). Cards are masks; a *card* is a mask of one bit. `milsim.knowledge.layouts` counts and draws
the layouts that a state allows, `milsim.knowledge.Knowledge` is the checked twin. Nothing is
validated here.

What is kept, besides the own hand and the number of cards in each place, is three kinds of fact,
and they are all that the acts can prove (the auction aside, see `milsim.knowledge`):

1. *A hand may not hold a card*: one mask for each seat. Every card played gives such a fact
   (`better_cards`), and so do marriages declared, or not declared where that is automatic. That a
   hand does hold a card is the same fact about the other hands.
2. *At most one of these cards is in that hand.* A defender who saw the talon, but not the gift to
   the other defender, knows that each of its cards is with the declarer or is that one gift.
3. *Not all of these cards are in that hand.* An ace was led, four aces would have been declared
   by themselves, and were not.

A fact is about a hand at its time, and hands only lose cards from the first lead on: so it holds
for what is left of that hand, less what has been played since, which everybody saw. Facts 2 and 3
are about several cards, so these are followed as they are played.

Sources: RULES.md §2, talon and play; the meanings chosen in `milsim.rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import ACE, ALL_CARDS, KING, QUEEN, RANK_MASKS
from milsim.tricks import OPTIONAL_DECLARATION, ace_leads, legal_follow, marriage_leads

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Places in a state; places of three are by seat.
SEAT = 0  # who observes
HAND = 1  # the observer's cards
HIDDEN = 2  # the cards that the observer does not hold and nobody has played
MAY = 3  # the hidden cards that a hand may hold, as far as fact 1 goes; 0 for the observer
SIZES = 6  # cards in each hand
UNTAKEN = 9  # cards of the talon not yet taken: 3 or 0
TALON = 10  # the talon as the observer saw it taken by another seat; 0 before, or if not shown
FEW = 11  # fact 2: at most one of these hidden cards …
FEW_SEAT = 12  # … is in the hand of this seat
NOT_ALL = 13  # fact 3: not all of these hidden cards …
NOT_ALL_SEAT = 14  # … are in the hand of this seat
STATE_SIZE = 15

# Places in the plays; places of three are by seat.
PLAYED = 0  # the cards that a seat has played
EXCLUDED = 3  # the cards that its hand cannot hold, as far as fact 1 goes
ACES_LEFT = 6  # fact 3: not all of these cards, none of them played …
ACES_SEAT = 7  # … are in the hand of this seat
PLAYS_SIZE = 8

_HAND_CARDS = 7
_TALON_CARDS = 3
_QUEENS = RANK_MASKS[QUEEN]
_KINGS = RANK_MASKS[KING]
_ACES = RANK_MASKS[ACE]


@kernel
def start(state: NDArray[np.int64], seat: int, hand: int) -> None:
    """Make ``state`` what a seat knows when the cards are dealt: its own seven.

    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 1, 0b1111111)
    >>> state[SIZES : SIZES + 4].tolist(), int(state[HIDDEN]) == ALL_CARDS ^ 127
    ([7, 7, 7, 3], True)
    """
    state[:] = 0
    state[SEAT] = seat
    state[HAND] = hand
    state[HIDDEN] = ALL_CARDS ^ hand
    for other in range(3):
        state[SIZES + other] = _HAND_CARDS
        state[MAY + other] = 0 if other == seat else ALL_CARDS ^ hand
    state[UNTAKEN] = _TALON_CARDS


@kernel
def observe_talon(state: NDArray[np.int64], declarer: int, talon: int) -> None:
    """The declarer takes the talon: its three cards, or 0 if the observer does not see them.

    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 1, 0b1111111)
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> state[SIZES : SIZES + 4].tolist(), int(state[MAY + 2] & 0b111 << 7)
    ([10, 7, 7, 0], 0)
    """
    observer = int(state[SEAT])
    state[SIZES + declarer] += _TALON_CARDS
    state[UNTAKEN] = 0
    if declarer == observer:
        state[HAND] |= talon
        _no_longer_hidden(state, talon)
    else:
        state[TALON] = talon
        state[MAY + 3 - observer - declarer] &= ~talon


@kernel
def observe_gift(state: NDArray[np.int64], giver: int, receiver: int, card: int) -> None:
    """The declarer gives a card, or 0 for one that the observer does not see.

    Before the gifts, fact 1 knows one thing only: the talon is with the declarer. So an unseen gift
    may be any card of his, and all that is left to say of a talon that was shown is fact 2. Each
    defender gets one gift: fact 2 is there once at most.

    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 1, 0b1111111)
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> observe_gift(state, 0, 1, 1 << 8)  # to the observer
    >>> observe_gift(state, 0, 2, 0)  # to the other defender
    >>> bin(state[FEW] >> 7), int(state[FEW_SEAT]), bin(state[MAY + 2] >> 7 & 0b111)
    ('0b101', 2, '0b101')
    """
    observer = int(state[SEAT])
    state[SIZES + giver] -= 1
    state[SIZES + receiver] += 1
    if receiver == observer:
        state[HAND] |= card
        _no_longer_hidden(state, card)
    elif giver == observer:
        state[HAND] ^= card
        state[HIDDEN] |= card
        state[MAY + receiver] |= card  # and the third seat may not hold it, as before
    elif card != 0:
        state[MAY + giver] &= ~card
        state[MAY + receiver] |= card
    else:
        state[MAY + receiver] |= state[MAY + giver]
        state[FEW] = state[TALON] & state[HIDDEN]
        state[FEW_SEAT] = receiver


@kernel(inline=True)
def _no_longer_hidden(state: NDArray[np.int64], cards: int) -> None:
    """The observer gets cards: every fact about them has done its work."""
    state[HIDDEN] &= ~cards
    for other in range(3):
        state[MAY + other] &= ~cards
    state[FEW] &= ~cards


@kernel
def better_cards(card: int, lead: int, second: int, trumps: int, flags: int) -> int:
    """All cards that a hand cannot hold which plays ``card`` after ``lead`` and ``second`` (or 0).

    *Exact*: a hand with the card may play it if and only if it holds none of these. Proof. For one
    trick so far and one rule set, give each card its class, the first of these it belongs to:

    1. higher in the suit led than the highest there, where that must be beaten (``must_beat``);
    2. of the suit led;
    3. a trump above the one in the trick, where trumping (``must_trump``) is overtrumping
       (``must_overtrump``) and the trick is trumped;
    4. a trump, where one must be played; but not in the case of class 3 if who cannot overtrump
       may play anything (``cannot_overtrump``): there lower trumps are in class 5;
    5. any card.

    The legal cards of a hand are those of its best class: what `milsim.tricks.legal_second` and
    `legal_third` say line by line, and RULES.md §2. So a card is legal if and only if the hand has
    no card of a better class: a condition on each other card alone, which is why single cards are
    excluded and never combinations. The classes need not be written again, either: the legal cards
    of the whole deck are its best class, those of the rest the next one, and so on until the class
    of ``card``. What came before is the answer; at most four rounds, most often one.

    >>> from milsim.rules import load, packed
    >>> from milsim.tricks import play_flags
    >>> flags = play_flags(packed(load("mil")))
    >>> from milsim.cards import format_hand, parse_card
    >>> nine, ten, other = (1 << parse_card(name) for name in ("9S", "TS", "9H"))
    >>> format_hand(better_cards(nine, ten, 0, 63 << 6, flags))  # did not beat the ten
    'A...'
    >>> format_hand(better_cards(other, ten, 0, 63 << 6, flags))  # clubs are trump
    'ATKQJ9...ATKQJ9'
    """
    left = ALL_CARDS
    while True:
        best = legal_follow(left, lead, second, trumps, flags)
        if best & card != 0:
            return ALL_CARDS ^ left
        left ^= best


@kernel
def observe_play(
    plays: NDArray[np.int64],
    seat: int,
    card: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    declared: int,
    flags: int,
) -> None:
    """A seat plays a card after ``lead`` and ``second`` (masks, or 0), into the plays of a deal.

    ``plays`` int64[PLAYS_SIZE] is all zeros before the first lead. ``trumps`` are those in force
    for this trick, after a declaration by its lead (for a lead itself they do not matter).
    ``declared``: whether this lead declares a marriage or four aces (1 or 0), which everybody
    hears. ``flags``: `milsim.tricks.play_flags`. A fixed number of steps.

    >>> from milsim.rules import load, packed
    >>> from milsim.tricks import play_flags
    >>> plays = np.zeros(PLAYS_SIZE, np.int64)
    >>> observe_play(plays, 1, 1 << 3, 0, 0, 0, 2, 0, play_flags(packed(load("mil"))))
    >>> plays[:6].tolist()  # the king led and nothing declared: no queen
    [0, 8, 0, 0, 4, 0]
    """
    plays[PLAYED + seat] |= card
    if plays[ACES_LEFT] & card != 0:
        # In the hand of the seat: not all of the others. Elsewhere: true, and nothing more to say.
        plays[ACES_LEFT] = plays[ACES_LEFT] & ~card if seat == plays[ACES_SEAT] else 0
    if lead == 0:
        _learn_from_lead(plays, seat, card, trick_number, declared, flags)
    else:
        plays[EXCLUDED + seat] |= better_cards(card, lead, second, trumps, flags)


@kernel(inline=True)
def _learn_from_lead(
    plays: NDArray[np.int64], seat: int, card: int, trick_number: int, declared: int, flags: int
) -> None:
    """Where the other card of a marriage, or the other aces, are not: facts 1 and 3."""
    automatic = flags & OPTIONAL_DECLARATION == 0
    others = (card & _QUEENS) << 1 | (card & _KINGS) >> 1
    could = marriage_leads(card | others, trick_number, flags)
    if card & _ACES != 0:
        others = _ACES ^ card
        could = ace_leads(_ACES, trick_number, flags)
    if could & card == 0:  # not even with the others in hand
        return
    if declared != 0:
        for other in range(3):
            if other != seat:
                plays[EXCLUDED + other] |= others
    elif automatic and card & _ACES == 0:
        plays[EXCLUDED + seat] |= others
    elif automatic and others & (plays[PLAYED] | plays[PLAYED + 1] | plays[PLAYED + 2]) == 0:
        plays[ACES_LEFT] = others
        plays[ACES_SEAT] = seat


@kernel
def catch_up(state: NDArray[np.int64], plays: NDArray[np.int64]) -> None:
    """Bring a state up to date with the plays so far; again, when there are more of them.

    >>> state, plays = np.empty(STATE_SIZE, np.int64), np.zeros(PLAYS_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> plays[PLAYED + 1], plays[EXCLUDED + 1] = 1 << 7, 1 << 8
    >>> catch_up(state, plays)
    >>> catch_up(state, plays)
    >>> state[SIZES : SIZES + 3].tolist(), bin(state[MAY + 1] >> 7 & 0b111)
    ([7, 6, 7], '0b100')
    """
    known = int(state[HAND] | state[HIDDEN])  # so a card counts as played once only
    played = int(plays[PLAYED] | plays[PLAYED + 1] | plays[PLAYED + 2])
    for seat in range(3):
        state[SIZES + seat] -= popcount(plays[PLAYED + seat] & known)
        state[MAY + seat] &= ~(played | plays[EXCLUDED + seat])
    state[HAND] &= ~played
    state[HIDDEN] &= ~played
    few = int(state[FEW])
    if few & played != 0:
        if few & plays[PLAYED + state[FEW_SEAT]] != 0:
            # This was the gift: the others are with the declarer.
            state[MAY + state[FEW_SEAT]] &= ~few
            few = 0
        state[FEW] = few & ~played
    # An ace in the own hand answers the question, and so does an own lead.
    aces = int(plays[ACES_LEFT])
    is_open = aces & ~state[HIDDEN] == 0 and plays[ACES_SEAT] != state[SEAT]
    state[NOT_ALL] = aces if is_open else 0
    state[NOT_ALL_SEAT] = plays[ACES_SEAT]


__all__ = [
    "ACES_LEFT",
    "ACES_SEAT",
    "EXCLUDED",
    "FEW",
    "FEW_SEAT",
    "HAND",
    "HIDDEN",
    "MAY",
    "NOT_ALL",
    "NOT_ALL_SEAT",
    "PLAYED",
    "PLAYS_SIZE",
    "SEAT",
    "SIZES",
    "STATE_SIZE",
    "TALON",
    "UNTAKEN",
    "better_cards",
    "catch_up",
    "observe_gift",
    "observe_play",
    "observe_talon",
    "start",
]
