"""What one seat knows of the hidden cards, as one int64 array that each act brings up to date.

A knowledge state is an array of shape (STATE_SIZE,), int64, of one observing seat. Seats are 0–2 in
the order of play; what they are is the caller's (forehand first, or the declarer first). Cards are
masks; a *card* is a mask of one bit. `milsim.knowledge.layouts` counts and draws the layouts that a
state allows, `milsim.knowledge.Knowledge` is the checked twin. Nothing is validated here.

What is kept, besides the own hand and the number of cards in each place, is three facts, and they
are all that the acts of a deal can prove (the auction aside, see `milsim.knowledge`):

1. *A hand may not hold a card*: one mask for each other seat. Every card played gives such a fact
   (`better_cards`), and so do marriages declared, or not declared where that is automatic. That a
   hand does hold a card is the same fact about the other hand.
2. *At most one of these cards is in that hand.* A defender who saw the talon, but not the gift to
   the other defender, knows that each of its cards is with the declarer or is that one gift.
3. *Not all of these cards are in that hand.* An ace was led, four aces would have been declared
   by themselves, and were not.

A fact is about a hand at its time, and hands only lose cards from the first lead on: so it holds
for what is left of that hand, less what has been played since, which everybody saw. Facts 2 and 3
are about several cards, so the state follows these as they are played.

Sources: RULES.md §2, talon and play; the meanings chosen in `milsim.rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
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
    state: NDArray[np.int64],
    seat: int,
    card: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    declared: int,
    flags: int,
) -> None:
    """A seat, the observer or another, plays a card after ``lead`` and ``second``, masks or 0.

    ``trumps`` are those in force for this trick, after a declaration by its lead (for a lead itself
    they do not matter). ``declared``: whether this lead declares a marriage or four aces (1 or 0),
    which everybody hears. ``flags``: `milsim.tricks.play_flags`. A fixed number of steps.

    >>> from milsim.rules import load, packed
    >>> from milsim.tricks import play_flags
    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> observe_play(state, 1, 1 << 7, 0, 0, 0, 1, 0, play_flags(packed(load("mil"))))
    >>> int(state[SIZES + 1]), int(state[HIDDEN] >> 7 & 1)
    (6, 0)
    """
    state[SIZES + seat] -= 1
    if seat == state[SEAT]:
        state[HAND] &= ~card
        return
    state[HIDDEN] &= ~card
    state[MAY] &= ~card
    state[MAY + 1] &= ~card
    state[MAY + 2] &= ~card
    if state[FEW] & card != 0:
        state[FEW] &= ~card
        if seat == state[FEW_SEAT]:  # this was the gift: the others are with the declarer
            state[MAY + seat] &= ~state[FEW]
            state[FEW] = 0
    if state[NOT_ALL] & card != 0:
        # In the hand of the seat: not all of the others. Elsewhere: true, and nothing more to say.
        state[NOT_ALL] = state[NOT_ALL] & ~card if seat == state[NOT_ALL_SEAT] else 0
    if lead == 0:
        _learn_from_lead(state, seat, card, trick_number, declared, flags)
    else:
        state[MAY + seat] &= ~better_cards(card, lead, second, trumps, flags)


@kernel
def _learn_from_lead(
    state: NDArray[np.int64], seat: int, card: int, trick_number: int, declared: int, flags: int
) -> None:
    """Where the other card of a marriage, or the other aces, are not: facts 1 and 3."""
    third = 3 - int(state[SEAT]) - seat
    automatic = flags & OPTIONAL_DECLARATION == 0
    partner = (card & _QUEENS) << 1 | (card & _KINGS) >> 1
    if marriage_leads(card | partner, trick_number, flags) & card != 0:
        # With the partner in hand this lead could declare.
        if declared != 0:
            state[MAY + third] &= ~partner
        elif automatic:
            state[MAY + seat] &= ~partner
    elif ace_leads(_ACES, trick_number, flags) & card != 0:
        aces = _ACES ^ card
        if declared != 0:
            state[MAY + third] &= ~aces
        elif automatic and aces & ~state[HIDDEN] == 0:
            state[NOT_ALL] = aces
            state[NOT_ALL_SEAT] = seat


__all__ = [
    "FEW",
    "FEW_SEAT",
    "HAND",
    "HIDDEN",
    "MAY",
    "NOT_ALL",
    "NOT_ALL_SEAT",
    "SEAT",
    "SIZES",
    "STATE_SIZE",
    "TALON",
    "UNTAKEN",
    "better_cards",
    "observe_gift",
    "observe_play",
    "observe_talon",
    "start",
]
