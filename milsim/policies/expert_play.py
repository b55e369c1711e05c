"""The policy ``expert`` at the table: each legal card gets a worth from fitted tables.

A card is described by a few small facts, each a place in a table of
:mod:`milsim.policies.expert_parameters`: the worth of the card is the sum of the entries, and the
card that is worth most is played. The facts are those a good player looks at: who may still beat
or trump the card, what is left of its suit here and elsewhere, whether a marriage is in the suit,
held or still possible with others, what lies on the table and whose it will be, trumps here and
elsewhere, how far the deal is and how many points the declarer still needs.

It sees its own cards, the table, the trump, the cards played, the contract and the points taken,
and what these prove about the others (``next_may``, ``last_may``), nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import ALL_CARDS, QUEEN, RANK_MASKS
from milsim.policies.greedy_play import beaten_by
from milsim.rules import place_of
from milsim.tricks import (
    marriage_leads,
    points_in,
    suit_mask,
    undeclarable_queens,
    winning_place,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALUES = place_of("deal.marriage_values.spades")

_QUEENS = RANK_MASKS[QUEEN]

# Sizes of the tables, and where each begins within those of its kind of decision.
# A lead: (who may beat it: next, after next) x rank.
LEAD_BEATERS = 0
LEAD_SUIT = LEAD_BEATERS + 5 * 5 * 6  # own length x hidden length x is it my top x trump state
LEAD_TRICK = LEAD_SUIT + 5 * 6 * 2 * 5  # trick x trump state x master x rank
LEAD_MARRIAGE = LEAD_TRICK + 8 * 5 * 2 * 6  # declaring x masters left x master x trump x trick
LEAD_HALVES = LEAD_MARRIAGE + 7 * 5 * 2 * 2 * 4  # K and Q here and hidden x rank x is it trump
LEAD_TRUMPS = LEAD_HALVES + 16 * 6 * 2  # own trumps x hidden trumps x kind x pair in hand
LEAD_NEED = LEAD_TRUMPS + 5 * 5 * 4 * 2  # points needed x rank x kind
LEAD_SIZE = LEAD_NEED + 6 * 6 * 4
# A card that follows.
FOLLOW_OUTCOME = 0  # wins x third hand x rank x is the leader winning
FOLLOW_TABLE = FOLLOW_OUTCOME + 2 * 5 * 6 * 2  # wins x leader winning x points on table x rank
FOLLOW_SUIT = FOLLOW_TABLE + 2 * 2 * 5 * 6  # master x own length x trump state x in suit x wins
FOLLOW_HALVES = FOLLOW_SUIT + 2 * 4 * 5 * 2 * 2  # K and Q here and hidden x rank x wins
FOLLOW_TRICK = FOLLOW_HALVES + 16 * 6 * 2  # trick x rank x wins x leader winning
FOLLOW_PATTERN = FOLLOW_TRICK + 8 * 6 * 2 * 2  # own cards of the suit x rank
FOLLOW_TEMPO = FOLLOW_PATTERN + 64 * 6  # masters left x wins x master x pair in hand x trumps
FOLLOW_NEED = FOLLOW_TEMPO + 5 * 2 * 2 * 2 * 2  # points needed x rank x wins x leader winning
FOLLOW_TRUMPS = FOLLOW_NEED + 6 * 6 * 2 * 2  # own x hidden trumps x is it one x wins
FOLLOW_SIZE = FOLLOW_TRUMPS + 5 * 5 * 2 * 2

# What a hand can do to a card of the suit led, four bits each: void, beats it, may trump.
_THREATS = 0x32_32_11_40

N_LEADS = 3  # by role
N_FOLLOWS = 6  # by role and place
PLAY_SIZE = N_LEADS * LEAD_SIZE + N_FOLLOWS * FOLLOW_SIZE

MOST_PLACES = 9


@kernel(inline=True)
def entry(parameters: NDArray[np.int16], place: int) -> int:
    """A number of the tables.

    The place is made unsigned, as of a signed one numba asks each time whether it is negative and
    counts from the end. In loops that mostly look things up this is a seventh of their time.
    """
    return int(parameters[np.uintp(place)])


@kernel(inline=True)
def _least(a: int, b: int) -> int:
    return a if a < b else b


@kernel(inline=True)
def _threat(card: int, suit: int, may: int, trumps: int) -> int:
    """What a hand, of which ``may`` are the cards it may hold, can do to a card of ``suit``.

    0 nothing, 1 may hold a higher card of the suit, 2 is void and has no trump, 3 is void and may
    trump, 4 cannot beat it in the suit, but trump it if void.
    """
    in_suit = may & suit
    higher = -(card + card)
    is_void = 1 if in_suit == 0 else 0
    if card & suit == 0:
        # A trump on a plain suit: who is not void must follow.
        over = 4 - 3 * is_void
        return over if may & trumps & higher != 0 else 0
    # A table instead of branches, which would be mispredicted.
    beats = 1 if in_suit & higher != 0 else 0
    may_trump = 1 if may & trumps & ~suit != 0 else 0
    return _THREATS >> 4 * (4 * is_void + 2 * beats + may_trump) & 7


@kernel(inline=True)
def _trump_state(suit: int, trumps: int, hidden: int) -> int:
    """0 no trump, 1 it is one and others are out, 2 it is one and none are, 3 plain, 4 plain."""
    out = hidden & trumps != 0
    if trumps == 0:
        return 0
    if suit == trumps:
        return 1 if out else 2
    return 3 if out else 4


@kernel(inline=True)
def _halves(card: int, hand: int, hidden: int, shift: int, single: int) -> int:
    """Queen and king of a suit: two bits for those here, two for those hidden.

    In suits that have no marriage (``single``: their kings and queens) each is one card, as if
    the other half had gone.
    """
    here = hand & ~single | card
    return (here >> shift + 2 & 3) << 2 | (hidden & ~single) >> shift + 2 & 3


@kernel(inline=True)
def _need_state(need: int) -> int:
    """How much the declarer still needs, in six steps."""
    if need <= 0:
        return 0
    if need <= 40:
        return 1 if need <= 15 else 2
    if need <= 65:
        return 3
    return 4 if need <= 90 else 5


@kernel(inline=True)
def _trick_group(trick_number: int) -> int:
    return _least(trick_number - 1, 3) if trick_number < 6 else 3


@kernel(inline=True)
def lead_places(
    card: int,
    rules: NDArray[np.int64],
    hand: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    masters: int,
    declaring: int,
    pairs: int,
    role: int,
    next_may: int,
    last_may: int,
    need: int,
    single: int,
) -> tuple[int, int, int, int, int, int, int]:
    """The seven places in the tables that describe a card to lead."""
    base = role * LEAD_SIZE
    suit = suit_mask(card)
    index = lowest_bit_index(card)
    which = index * 43 >> 8
    shift = 6 * which
    rank = index - shift
    own = hand & suit
    length = _least(popcount(own), 5) - 1
    out = popcount(hidden & suit)
    top = 1 if card + card > own else 0
    state = _trump_state(suit, trumps, hidden)
    master = 1 if card & masters else 0
    next_threat = _threat(card, suit, next_may, trumps)
    last_threat = _threat(card, suit, last_may, trumps)
    has_pair = 1 if pairs else 0
    declares = has_pair
    if card & declaring:
        value = int(rules[VALUES + which])
        declares = 2 + (_least(value - 1, 119) - 20) // 20
        declares = declares if declares > 1 else 2
    masters_left = _least(popcount(masters) - master, 4)
    has_trump = 1 if trumps else 0
    is_trump = 1 if card & trumps else 0
    kind = 2 * is_trump + master
    need_kind = 3 if card & declaring else (2 if is_trump else master)
    own_trumps = _least(popcount(hand & trumps), 4)
    hidden_trumps = _least(popcount(hidden & trumps), 4)
    trick = trick_number - 1
    return (
        base + LEAD_BEATERS + (next_threat * 5 + last_threat) * 6 + rank,
        base + LEAD_SUIT + ((length * 6 + out) * 2 + top) * 5 + state,
        base + LEAD_TRICK + ((trick * 5 + state) * 2 + master) * 6 + rank,
        base
        + LEAD_MARRIAGE
        + (((declares * 5 + masters_left) * 2 + master) * 2 + has_trump) * 4
        + _trick_group(trick_number),
        base + LEAD_HALVES + (_halves(card, hand, hidden, shift, single) * 6 + rank) * 2 + is_trump,
        base + LEAD_TRUMPS + ((own_trumps * 5 + hidden_trumps) * 4 + kind) * 2 + has_pair,
        base + LEAD_NEED + (_need_state(need) * 6 + rank) * 4 + need_kind,
    )


@kernel(inline=True)
def follow_places(
    card: int,
    hand: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    masters: int,
    winners: int,
    best: int,
    leader_wins: int,
    table: int,
    pairs: int,
    role: int,
    next_may: int,
    need: int,
    single: int,
) -> tuple[int, int, int, int, int, int, int, int, int]:
    """The nine places in the tables that describe a card to follow with."""
    last = 1 if second else 0
    base = N_LEADS * LEAD_SIZE + (2 * role + last) * FOLLOW_SIZE
    suit = suit_mask(card)
    led = suit_mask(lead)
    index = lowest_bit_index(card)
    shift = 6 * (index * 43 >> 8)
    rank = index - shift
    own = hand & suit
    length = _least(popcount(own), 4) - 1
    state = _trump_state(suit, trumps, hidden)
    wins = 1 if card & winners else 0
    in_suit = 1 if suit == led else 0
    master = 1 if card & masters else 0
    threat = 0
    if last == 0:
        threat = _threat(card if wins else best, led, next_may, trumps)
    pattern = own >> shift & 63
    masters_left = _least(popcount(masters) - master, 4)
    has_pair = 1 if pairs else 0
    has_trump = 1 if trumps else 0
    is_trump = 1 if card & trumps else 0
    own_trumps = _least(popcount(hand & trumps), 4)
    hidden_trumps = _least(popcount(hidden & trumps), 4)
    both = 2 * wins + leader_wins
    return (
        base + FOLLOW_OUTCOME + (both * 5 + threat) * 6 + rank,
        base + FOLLOW_TABLE + (both * 5 + table) * 6 + rank,
        base + FOLLOW_SUIT + (((master * 4 + length) * 5 + state) * 2 + in_suit) * 2 + wins,
        base + FOLLOW_HALVES + (_halves(card, hand, hidden, shift, single) * 6 + rank) * 2 + wins,
        base + FOLLOW_TRICK + ((trick_number - 1) * 6 + rank) * 4 + both,
        base + FOLLOW_PATTERN + pattern * 6 + rank,
        base
        + FOLLOW_TEMPO
        + (((masters_left * 2 + wins) * 2 + master) * 2 + has_pair) * 2
        + has_trump,
        base + FOLLOW_NEED + (_need_state(need) * 6 + rank) * 4 + both,
        base + FOLLOW_TRUMPS + ((own_trumps * 5 + hidden_trumps) * 2 + is_trump) * 2 + wins,
    )


@kernel(inline=True)
def table_state(lead: int, second: int) -> int:
    """The points on the table, in five steps."""
    points = points_in(lead | second)
    if points < 7:
        return 0 if points < 3 else 1
    if points < 12:
        return 2
    return 3 if points < 16 else 4


@kernel(inline=True)
def _lead(
    parameters: NDArray[np.int16],
    rules: NDArray[np.int64],
    flags: int,
    hand: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    role: int,
    next_may: int,
    last_may: int,
    need: int,
) -> int:
    masters = hand & ~beaten_by(hidden)
    declaring = marriage_leads(hand, trick_number, flags)
    queens = undeclarable_queens(flags)
    single = queens | queens << 1
    pairs = hand & hand >> 1 & _QUEENS & ~queens
    chosen = 0
    most = -(1 << 30)
    rest = hand
    while rest:
        card = rest & -rest
        rest ^= card
        a, b, c, d, e, f, g = lead_places(
            card,
            rules,
            hand,
            trumps,
            trick_number,
            hidden,
            masters,
            declaring,
            pairs,
            role,
            next_may,
            last_may,
            need,
            single,
        )
        worth = (
            entry(parameters, a)
            + entry(parameters, b)
            + entry(parameters, c)
            + entry(parameters, d)
            + entry(parameters, e)
            + entry(parameters, f)
            + entry(parameters, g)
        )
        if worth > most:
            most = worth
            chosen = card
    return chosen


@kernel(inline=True)
def _follow(
    parameters: NDArray[np.int16],
    flags: int,
    hand: int,
    legal: int,
    lead: int,
    second: int,
    trumps: int,
    trick_number: int,
    hidden: int,
    role: int,
    next_may: int,
    need: int,
) -> int:
    place = winning_place(lead, second, 0, trumps)
    best = second if place == 1 else lead
    winners = legal & suit_mask(best) & -(best + best)
    if best & trumps == 0:
        winners |= legal & trumps
    masters = hand & ~beaten_by(hidden)
    queens = undeclarable_queens(flags)
    single = queens | queens << 1
    pairs = hand & hand >> 1 & _QUEENS & ~queens
    table = table_state(lead, second)
    leader_wins = 1 - place
    chosen = 0
    most = -(1 << 30)
    rest = legal
    while rest:
        card = rest & -rest
        rest ^= card
        a, b, c, d, e, f, g, h, i = follow_places(
            card,
            hand,
            lead,
            second,
            trumps,
            trick_number,
            hidden,
            masters,
            winners,
            best,
            leader_wins,
            table,
            pairs,
            role,
            next_may,
            need,
            single,
        )
        worth = (
            entry(parameters, a)
            + entry(parameters, b)
            + entry(parameters, c)
            + entry(parameters, d)
            + entry(parameters, e)
            + entry(parameters, f)
            + entry(parameters, g)
            + entry(parameters, h)
            + entry(parameters, i)
        )
        if worth > most:
            most = worth
            chosen = card
    return chosen


@kernel(inline=True)
def expert_card(
    parameters: NDArray[np.int16],
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
    next_may: int,
    last_may: int,
    need: int,
) -> int:
    """The card to play, as a mask of one bit.

    ``next_may`` and ``last_may`` are the cards that the next player and the one after him may hold
    as far as was seen (cards held or played do no harm in them); ``need`` is what the declarer's
    points still lack to the contract.
    """
    if legal & (legal - 1) == 0:
        return legal
    hidden = ALL_CARDS & ~played & ~hand
    if lead == 0:
        return _lead(
            parameters,
            rules,
            flags,
            hand,
            trumps,
            trick_number,
            hidden,
            role,
            next_may & hidden,
            last_may & hidden,
            need,
        )
    return _follow(
        parameters,
        flags,
        hand,
        legal,
        lead,
        second,
        trumps,
        trick_number,
        hidden,
        role,
        next_may & hidden,
        need,
    )
