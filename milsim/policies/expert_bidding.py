"""The policy ``expert`` before the first card: what a hand is worth, bids, gifts, contract.

A hand is worth a sum of fitted table entries: one for the cards of each suit as a pattern of six
bits, then what its marriages, half marriages, aces and top cards add. From the worth of seven
cards, their marriages and the price comes the advantage of a bid over a pass; from the worth of the
eight cards kept the chance of each contract. All tables are fitted on simulated deals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import highest_bit_index, lowest_bit_index, popcount
from milsim.cards import ACE, DECK_POINTS, KING, N_CARDS, NINE, QUEEN, RANK_MASKS
from milsim.policies.expert_play import PLAY_SIZE, entry
from milsim.rules import place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VALUES = place_of("deal.marriage_values.spades")

# Tables of a hand's worth, in hundredths of a point; 7 cards, then the same for 8.
PATTERN = 0  # by the cards of a suit
BEST_PATTERN = 64  # by the cards of the suit of the best marriage
HALF = 128  # value of a marriage half held x is its ace held
BEST = HALF + 12  # value of the best marriage x aces
REST = BEST + 24  # value of the second best x aces
TOPS = REST + 24  # top cards x marriages
MODEL_SIZE = TOPS + 8 * 3
# Then, for 8 cards only, what the gifts cost.
GIVEN = MODEL_SIZE  # side x rank x own cards left in the suit
GIVEN_HALF = GIVEN + 2 * 6 * 4  # side x value of the marriage it may complete
MODEL_8_SIZE = GIVEN_HALF + 2 * 6

# Chance (in 1/10,000) of a contract: marriages x worth x how much it is above the worth.
N_GROUPS = 10
GROUP_POINTS = 24
N_OFFSETS = 28
OFFSET_POINTS = 10
FIRST_OFFSET = -140
CHANCES_SIZE = 3 * N_GROUPS * N_OFFSETS

# Advantage of the lowest bid over a pass, in hundredths of a point:
# state of the auction x kind of hand x worth x price.
N_STATES = 3
N_KINDS = 5
N_WORTHS = 28
WORTH_POINTS = 8
FIRST_WORTH = 24
N_PRICES = 12
ADVANTAGE_SIZE = N_STATES * N_KINDS * N_WORTHS * N_PRICES

# Tables made for the marriage values of a rule set, for each model: patterns of each suit, then
PAIRS = 4 * 64  # suits with a marriage (four bits) x aces
BEST_SHIFTS = PAIRS + 16 * 4  # six times the suit of the best marriage, by those four bits
SUITS_SIZE = BEST_SHIFTS + 16

AT_MODEL_7 = PLAY_SIZE
AT_MODEL_8 = AT_MODEL_7 + MODEL_SIZE
AT_CHANCES = AT_MODEL_8 + MODEL_8_SIZE
AT_ADVANTAGE = AT_CHANCES + CHANCES_SIZE
FITTED_SIZE = AT_ADVANTAGE + ADVANTAGE_SIZE
# After all that is fitted, what is made of it for a rule set.
AT_SUITS_7 = FITTED_SIZE
AT_SUITS_8 = AT_SUITS_7 + SUITS_SIZE
# Side x card x own cards left in the suit x is its other half in the ten.
AT_GIFTS = AT_SUITS_8 + SUITS_SIZE
PARAMETERS_SIZE = AT_GIFTS + 2 * N_CARDS * 4 * 2

_NINES = RANK_MASKS[NINE]
_QUEENS = RANK_MASKS[QUEEN]

MOST_MODEL_PLACES = 16


@kernel(inline=True)
def value_bucket(value: int) -> int:
    """A marriage's value as a step: 0 up to 20 points, then one for each 20, at most 5."""
    step = (value + 19) // 20 - 1
    if step < 0:
        return 0
    return step if step < 5 else 5


@kernel
def hand_places(rules: NDArray[np.int64], hand: int, places: NDArray[np.int64]) -> int:
    """The entries of the tables that a hand's worth is the sum of, for fitting; returns how many.

    Their sum is `hand_worth`.
    """
    count = 0
    aces = 0
    tops = 0
    marriages = 0
    best = 0
    rest = 0
    best_pattern = 0
    for suit in range(4):
        pattern = hand >> 6 * suit & 63
        places[count] = PATTERN + pattern
        count += 1
        aces += pattern >> ACE
        tops += 5 - highest_bit_index(~pattern & 63)
        both = pattern >> QUEEN & 3
        if both == 3:
            marriages += 1
            value = value_bucket(int(rules[VALUES + suit])) + 1
            if value > best:
                rest = best
                best = value
                best_pattern = pattern
            elif value > rest:
                rest = value
        elif both != 0:
            places[count] = HALF + 2 * value_bucket(int(rules[VALUES + suit])) + (pattern >> ACE)
            count += 1
    aces = aces if aces < 3 else 3
    if best > 0:
        places[count] = BEST_PATTERN + best_pattern
        places[count + 1] = BEST + (best - 1) * 4 + aces
        count += 2
    if rest > 0:
        places[count] = REST + (rest - 1) * 4 + aces
        count += 1
    tops = tops if tops < 7 else 7
    marriages = marriages if marriages < 2 else 2
    places[count] = TOPS + tops * 3 + marriages
    return count + 1


@kernel(inline=True)
def hand_worth(parameters: NDArray[np.int16], model: int, suits: int, hand: int) -> int:
    """The worth of a hand, in hundredths of a declarer point: the sum over `hand_places`.

    ``model`` and ``suits`` are where its tables and its `suit_tables` begin. There is no branch,
    as what a hand holds cannot be predicted: cards are counted on all suits at once.
    """
    # Ace, ace and ten, ace to king …: one bit each, moved to different places of the suit.
    ace = hand >> 5 & _NINES
    ten = ace & hand >> 4
    king = ten & hand >> 3
    queen = king & hand >> 2
    jack = queen & hand >> 1
    nine = jack & hand
    tops = popcount(ace | ten << 1 | king << 2 | queen << 3 | jack << 4 | nine << 5)
    tops = tops if tops < 7 else 7
    aces = popcount(ace)
    aces = aces if aces < 3 else 3
    pairs = (hand & hand >> 1 & _QUEENS) >> QUEEN
    marriages = popcount(pairs)
    marriages = marriages if marriages < 2 else 2
    which = (pairs | pairs >> 5 | pairs >> 10 | pairs >> 15) & 15  # a bit a suit
    best = hand >> entry(parameters, suits + BEST_SHIFTS + which) & 63
    return (
        entry(parameters, suits + (hand & 63))
        + entry(parameters, suits + 64 + (hand >> 6 & 63))
        + entry(parameters, suits + 128 + (hand >> 12 & 63))
        + entry(parameters, suits + 192 + (hand >> 18))
        + entry(parameters, suits + PAIRS + which * 4 + aces)
        + entry(parameters, model + BEST_PATTERN + best)
        + entry(parameters, model + TOPS + tops * 3 + marriages)
    )


@kernel(inline=True)
def marriages_and_halves(hand: int) -> tuple[int, int]:
    """How many suits have king and queen in a hand (2: two or more), and how many just one of them.

    >>> marriages_and_halves(0b001000_001100)
    (1, 1)
    """
    marriages = popcount(hand & hand >> 1 & _QUEENS)
    return (marriages if marriages < 2 else 2), popcount((hand ^ hand >> 1) & _QUEENS)


@kernel
def suit_tables(
    parameters: NDArray[np.int16], model: int, suits: int, rules: NDArray[np.int64]
) -> None:
    """Fill the tables from ``suits`` on, for the values of marriages in a rule set.

    They are: for each suit and pattern, pattern and half marriage in one; for each set of suits
    with a marriage, and aces, what the best and the second best add; and where the best suit is.
    """
    for suit in range(4):
        bucket = value_bucket(int(rules[VALUES + suit]))
        for pattern in range(64):
            worth = int(parameters[model + PATTERN + pattern])
            if pattern >> QUEEN & 3 in (1, 2):
                worth += int(parameters[model + HALF + 2 * bucket + (pattern >> ACE)])
            parameters[suits + 64 * suit + pattern] = worth
    for which in range(16):
        best = 0
        rest = 0
        shift = 24  # past all suits: the pattern of no cards
        for suit in range(4):
            if which >> suit & 1 != 0:
                value = value_bucket(int(rules[VALUES + suit])) + 1
                if value > best:
                    rest = best
                    best = value
                    shift = 6 * suit
                elif value > rest:
                    rest = value
        parameters[suits + BEST_SHIFTS + which] = shift
        for aces in range(4):
            worth = 0
            if best > 0:
                worth += int(parameters[model + BEST + (best - 1) * 4 + aces])
            if rest > 0:
                worth += int(parameters[model + REST + (rest - 1) * 4 + aces])
            parameters[suits + PAIRS + which * 4 + aces] = worth


@kernel(inline=True)
def given_place(kept: int, card: int, side: int) -> int:
    """The table entry of a gift, ``card`` an index, ``side`` 0 left or 1 right."""
    suit = card // 6
    left = popcount(kept >> 6 * suit & 63)
    left = left if left < 3 else 3
    return GIVEN + (side * 6 + card - 6 * suit) * 4 + left


@kernel(inline=True)
def given_half_place(rules: NDArray[np.int64], hand10: int, card: int, side: int) -> int:
    """The entry of a king or queen given whose other half is with the defenders; else 0."""
    suit = card // 6
    both = hand10 >> 6 * suit + QUEEN & 3
    if card - 6 * suit != QUEEN and card - 6 * suit != KING:
        return 0
    if both == 3:
        return 0
    return GIVEN_HALF + side * 6 + value_bucket(int(rules[VALUES + suit]))


@kernel
def gift_tables(parameters: NDArray[np.int16], rules: NDArray[np.int64]) -> None:
    """Fill the table of gifts: its entries are the sums of `given_place` and `given_half_place`."""
    for card in range(N_CARDS):
        lowest = 6 * (card // 6)
        pair = (1 << QUEEN | 1 << KING) << lowest
        for left in range(4):
            kept = (1 << left) - 1 << lowest
            for has_other in range(2):
                hand10 = pair if has_other else pair & 1 << card
                for side in range(2):
                    worth = int(parameters[AT_MODEL_8 + given_place(kept, card, side)])
                    half = given_half_place(rules, hand10, card, side)
                    if half != 0:
                        worth += int(parameters[AT_MODEL_8 + half])
                    place = AT_GIFTS + ((side * N_CARDS + card) * 4 + left) * 2 + has_other
                    parameters[place] = worth


@kernel(inline=True)
def gift_worths(
    parameters: NDArray[np.int16], hand10: int, kept: int, card: int
) -> tuple[int, int]:
    """What a gift, to the left or to the right, adds to the worth of the cards kept: it costs."""
    lowest = 6 * (card * 43 >> 8)
    left = popcount(kept >> lowest & 63)
    left = left if left < 3 else 3
    has_other = 1 if hand10 >> lowest + QUEEN & 3 == 3 else 0
    place = AT_GIFTS + (card * 4 + left) * 2 + has_other
    return entry(parameters, place), entry(parameters, place + N_CARDS * 8)


@kernel(inline=True)
def _least_missed(parameters: NDArray[np.int16], hand10: int) -> int:
    """The six cards of ten that are least missed, by what the other nine are worth, as a mask."""
    a = b = c = d = e = f = -(1 << 40)
    rest = hand10
    while rest:
        card = rest & -rest
        rest ^= card
        worth = hand_worth(parameters, AT_MODEL_8, AT_SUITS_8, hand10 ^ card)
        # The key goes down a row of six, each place keeping the larger: no branch to mispredict.
        key = worth << 5 | lowest_bit_index(card)
        a, key = max(a, key), min(a, key)
        b, key = max(b, key), min(b, key)
        c, key = max(c, key), min(c, key)
        d, key = max(d, key), min(d, key)
        e, key = max(e, key), min(e, key)
        f = max(f, key)
    return (
        1 << (a & 31)
        | 1 << (b & 31)
        | 1 << (c & 31)
        | 1 << (d & 31)
        | 1 << (e & 31)
        | 1 << (f & 31)
    )


@kernel
def expert_gifts(parameters: NDArray[np.int16], hand10: int) -> int:
    """The best two gifts among the cards least missed, packed as ``left + 32 * right``."""
    chosen = _least_missed(parameters, hand10)
    gifts = 0
    most = -(1 << 40)
    firsts = chosen
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        a = lowest_bit_index(first)
        seconds = firsts
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            b = lowest_bit_index(second)
            kept = hand10 ^ first ^ second
            worth = hand_worth(parameters, AT_MODEL_8, AT_SUITS_8, kept)
            a_left, a_right = gift_worths(parameters, hand10, kept, a)
            b_left, b_right = gift_worths(parameters, hand10, kept, b)
            one = a_left + b_right
            other = b_left + a_right
            if worth + one > most:
                most = worth + one
                gifts = a + 32 * b
            if worth + other > most:
                most = worth + other
                gifts = b + 32 * a
    return gifts


@kernel
def chance_of(parameters: NDArray[np.int16], worth: int, marriages: int, contract: int) -> int:
    """The chance, in 1/10,000, that eight cards of this worth (hundredths) make a contract."""
    points = worth // 100
    group = points // GROUP_POINTS
    group = 0 if group < 0 else (group if group < N_GROUPS else N_GROUPS - 1)
    offset = (contract - points - FIRST_OFFSET) // OFFSET_POINTS
    if offset < 0:
        return 10_000
    if offset >= N_OFFSETS:
        return 0
    place = AT_CHANCES + (marriages * N_GROUPS + group) * N_OFFSETS + offset
    return int(parameters[place])


@kernel
def expert_contract(
    parameters: NDArray[np.int16],
    hand8: int,
    lowest: int,
    highest: int,
    step: int,
) -> int:
    """The contract with the best mean score."""
    worth = hand_worth(parameters, AT_MODEL_8, AT_SUITS_8, hand8)
    marriages, _halves = marriages_and_halves(hand8)
    chosen = lowest
    most = -(1 << 40)
    contract = lowest
    while contract <= highest and contract <= lowest + 200:
        chance = chance_of(parameters, worth, marriages, contract)
        score = contract * (2 * chance - 10_000)
        if score > most:
            most = score
            chosen = contract
        if score < 0:
            break  # a higher one is no likelier, and costs more
        contract += step
    return chosen


@kernel(inline=True)
def advantage_place(worth: int, marriages: int, halves: int, price: int, state: int) -> int:
    """The place of a bid's advantage over a pass; ``worth`` in hundredths."""
    kind = 2 + marriages
    if marriages == 0:
        kind = 0 if halves < 2 else (1 if halves == 2 else 2)
    step = (worth // 100 - FIRST_WORTH) // WORTH_POINTS
    step = 0 if step < 0 else (step if step < N_WORTHS else N_WORTHS - 1)
    # A price between two of the table counts as the higher one.
    cost = (price - 91) // 10
    cost = 0 if cost < 0 else (cost if cost < N_PRICES else N_PRICES - 1)
    return ((state * N_KINDS + kind) * N_WORTHS + step) * N_PRICES + cost


@kernel
def expert_bid(
    parameters: NDArray[np.int16],
    hand: int,
    lowest: int,
    highest: int,
    may_pass: int,
    state: int,
) -> int:
    """The lowest legal bid if that is better than a pass, else 0."""
    if lowest > highest:
        return 0
    if may_pass == 0:
        return lowest
    worth = hand_worth(parameters, AT_MODEL_7, AT_SUITS_7, hand)
    marriages, halves = marriages_and_halves(hand)
    place = AT_ADVANTAGE + advantage_place(worth, marriages, halves, lowest, state)
    return lowest if parameters[place] > 0 else 0


@kernel
def expert_concession(
    parameters: NDArray[np.int16],
    hand10: int,
    made_bid: int,
    price: int,
    gain: int,
) -> int:
    """Whether to give the deal up (1): if playing it costs more.

    A score counts against the mean of the two others'. Playing earns the bid as often as it is
    made and costs it else; the others then share what the declarer does not take.
    """
    gifts = expert_gifts(parameters, hand10)
    kept = hand10 & ~(1 << (gifts & 31)) & ~(1 << (gifts >> 5))
    worth = hand_worth(parameters, AT_MODEL_8, AT_SUITS_8, kept)
    marriages, _halves = marriages_and_halves(kept)
    chance = chance_of(parameters, worth, marriages, made_bid)
    score = made_bid * (2 * chance - 10_000) // 10_000
    taken = DECK_POINTS - max(0, min(worth // 100, DECK_POINTS))
    return 1 if -price - gain > score - taken // 2 else 0
