"""The policy ``greedy`` before the first card: what a hand is worth, gifts and contract.

One page of habits, not a strong player. A hand promises a constant, so much for each ace, each
guarded ten and each card above three in a suit, and a share of the marriages it holds: the best one
counts most, and all count little without an ace, since a trick must be won before a marriage can be
declared. The weights are least squares on a million deals that this policy played itself as
declarer under ``mil`` (standard error of a promise: 48 points for 7 cards, 23 for 8 kept).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import ACE, DECK_POINTS, KING, QUEEN, TEN
from milsim.rules import place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VALUES = place_of("deal.marriage_values.spades")

# A bid is worth it when it is made clearly more often than not, a raise of the contract only when
# little is risked by it. Of bid margins 0, 15, 30 and raise margins 20, 30, 45 points these gave
# the declarer the best mean score (21.1 a deal, 300,000 deals with auction under mil; 18.0 to 21.0
# with the four others that were tried).
BID_MARGIN = 15
RAISE_MARGIN = 30

# A deal is given up only when the promise of the cards that would be kept is this far below the
# bid. As that promise has a standard error of 23 points, some nine deals of ten are then lost;
# twice that error below it, nearly all are.
CONCEDE_MARGIN = 30
SURELY_LOST = 46

# Weights, in hundredths of a point or of a marriage's value: 7 cards before the talon.
BASE_7, NO_ACE_7, ACE_7, TEN_7, LENGTH_7 = 6200, -1700, 1340, 410, 670
BEST_7, REST_7, BEST_WITHOUT_ACE_7, REST_WITHOUT_ACE_7 = 90, 55, 55, 28
# The 8 cards kept after it.
BASE_8, NO_ACE_8, ACE_8, TEN_8, LENGTH_8 = -330, 150, 2140, 1010, 1200
BEST_8, REST_8, BEST_WITHOUT_ACE_8, REST_WITHOUT_ACE_8 = 112, 69, 7, 2


@kernel
def _features(rules: NDArray[np.int64], hand: int) -> tuple[int, int, int, int, int]:
    """Aces, guarded tens, cards above three in a suit, value of the best marriage, of the rest."""
    aces = 0
    tens = 0
    length = 0
    best = 0
    rest = 0
    for suit in range(4):
        cards = (hand >> 6 * suit) & 0b111111
        count = popcount(cards)
        aces += (cards >> ACE) & 1
        # A ten is guarded by the ace, or by any other card that can be played under it.
        tens += (cards >> TEN) & (1 if count > 1 else 0)
        if count > 3:
            length += count - 3
        if (cards >> KING) & (cards >> QUEEN) & 1:
            value = int(rules[VALUES + suit])
            if value > best:
                rest += best
                best = value
            else:
                rest += value
    return aces, tens, length, best, rest


@kernel
def promise_of_7(rules: NDArray[np.int64], hand: int) -> int:
    """Declarer points that 7 cards promise before the talon."""
    aces, tens, length, best, rest = _features(rules, hand)
    points = BASE_7 + ACE_7 * aces + TEN_7 * tens + LENGTH_7 * length
    if aces == 0:
        return (points + NO_ACE_7 + BEST_WITHOUT_ACE_7 * best + REST_WITHOUT_ACE_7 * rest) // 100
    return (points + BEST_7 * best + REST_7 * rest) // 100


@kernel
def promise_of_8(rules: NDArray[np.int64], hand: int) -> int:
    """Declarer points that the 8 cards kept promise."""
    aces, tens, length, best, rest = _features(rules, hand)
    points = BASE_8 + ACE_8 * aces + TEN_8 * tens + LENGTH_8 * length
    if aces == 0:
        return (points + NO_ACE_8 + BEST_WITHOUT_ACE_8 * best + REST_WITHOUT_ACE_8 * rest) // 100
    return (points + BEST_8 * best + REST_8 * rest) // 100


@kernel
def greedy_bid(
    rules: NDArray[np.int64], hand: int, lowest: int, highest: int, may_pass: int
) -> int:
    """The lowest legal bid while it is no more than the hand promises, else 0 (pass)."""
    promise = promise_of_7(rules, hand) - BID_MARGIN
    if lowest <= highest and (may_pass == 0 or lowest <= promise):
        return lowest
    return 0


@kernel
def greedy_contract(
    rules: NDArray[np.int64], hand8: int, lowest: int, highest: int, step: int
) -> int:
    """The lowest contract, or more where the kept cards promise it."""
    promise = promise_of_8(rules, hand8) - RAISE_MARGIN
    contract = lowest
    while contract + step <= highest and contract + step <= promise:
        contract += step
    return contract


@kernel
def _worth_keeping(rules: NDArray[np.int64], hand10: int, card: int) -> int:
    """How much the declarer wants to keep a card: nines and jacks of short suits go first."""
    suit = card // 6
    rank = card % 6
    cards = (hand10 >> 6 * suit) & 0b111111
    count = popcount(cards)
    marriage = (cards >> KING) & (cards >> QUEEN) & 1
    worth = 3 * count
    if marriage == 1:
        # The suit will be trump: its small cards are worth keeping, its king and queen more so.
        worth += 40
        if rank in (KING, QUEEN):
            return int(worth + 1000 + rules[VALUES + suit])
    if rank == ACE:
        # Without a trick before it no marriage can be declared: the ace is kept before all else.
        return worth + 3000
    if rank == TEN:
        # A bare ten falls to the ace wherever that is; a guarded one takes a trick more often.
        if (cards >> ACE) & 1:
            return worth + 400
        return worth + (120 if count > 1 else 60)
    # Half a marriage given away may complete the other half elsewhere.
    if rank == KING:
        return worth + 32
    if rank == QUEEN:
        return worth + 30
    return worth + 8 * rank


@kernel
def greedy_gifts(rules: NDArray[np.int64], hand10: int) -> int:
    """The two cards least worth keeping, the least to the left; ``left + 32 * right``."""
    left = -1
    right = -1
    least = 1 << 30
    second = 1 << 30
    rest = hand10
    while rest:
        card = lowest_bit_index(rest)
        rest &= rest - 1
        worth = _worth_keeping(rules, hand10, card)
        if worth < least:
            second = least
            right = left
            least = worth
            left = card
        elif worth < second:
            second = worth
            right = card
    return left + 32 * right


@kernel
def greedy_concession(
    rules: NDArray[np.int64], hand10: int, made_bid: int, price: int, gain: int
) -> int:
    """Whether to give the deal up (1): if it is nearly lost, and playing it costs more.

    Playing costs the bid as often as it is lost, less the bid as often as it is made: nothing at a
    promise equal to the bid, all of it at SURELY_LOST below. A defender gets ``gain`` by the
    concession, and by the play half of the card points that the declarer does not promise to take.
    """
    gifts = greedy_gifts(rules, hand10)
    kept = hand10 & ~(1 << (gifts & 31)) & ~(1 << (gifts >> 5))
    promise = promise_of_8(rules, kept)
    shortfall = made_bid - promise
    if shortfall < CONCEDE_MARGIN:
        return 0
    loss = made_bid * min(shortfall, SURELY_LOST) // SURELY_LOST
    taken = (DECK_POINTS - max(0, min(promise, DECK_POINTS))) // 2
    return 1 if price + gain < loss + taken else 0
