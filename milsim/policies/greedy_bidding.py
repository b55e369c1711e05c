"""The policy ``greedy`` before the first card: what a hand is worth, gifts and contract.

One page of habits, not a strong player: a hand is worth a constant, so much for each ace, each
guarded ten and each suit card above a third, and a share of the marriages it holds. The weights
were fitted by least squares on deals that this policy played itself; `analysis/greedy/` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import ACE, KING, QUEEN, TEN
from milsim.rules import place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VALUES = place_of("deal.marriage_values.spades")
STEP = place_of("auction.step")
ACE_MARRIAGE = place_of("play.ace_marriage")
UNTIL_TRICK = place_of("play.marriage_until_trick")

# Tenths of a point, of a 7-card hand before the talon and of the 8 cards kept after it.
BASE_7, ACE_7, TEN_7, LENGTH_7, SHARE_7 = 250, 240, 60, 90, 9
BASE_8, ACE_8, TEN_8, LENGTH_8, SHARE_8 = -140, 290, 80, 130, 9


@kernel
def _estimate(
    rules: NDArray[np.int64], hand: int, base: int, ace: int, ten: int, length: int, share: int
) -> int:
    """Declarer points, in points, that a hand promises by a weighted count."""
    value = base
    for suit in range(4):
        cards = (hand >> 6 * suit) & 0b111111
        count = popcount(cards)
        value += ace * ((cards >> ACE) & 1)
        # A ten is guarded by the ace, or by any other card that can be played under it.
        value += ten * ((cards >> TEN) & 1) * (1 if count > 1 else 0)
        if count > 3:
            value += length * (count - 3)
        if (cards >> KING) & (cards >> QUEEN) & 1:
            value += share * rules[VALUES + suit]
    return value // 10


@kernel
def greedy_bid(
    rules: NDArray[np.int64], hand: int, lowest: int, highest: int, may_pass: int
) -> int:
    """The lowest legal bid while it is no more than the hand promises, else 0 (pass)."""
    promise = _estimate(rules, hand, BASE_7, ACE_7, TEN_7, LENGTH_7, SHARE_7)
    if lowest <= highest and (may_pass == 0 or lowest <= promise):
        return lowest
    return 0


@kernel
def greedy_contract(
    rules: NDArray[np.int64], hand8: int, lowest: int, highest: int, step: int
) -> int:
    """The lowest contract, or more where the kept cards promise it."""
    promise = _estimate(rules, hand8, BASE_8, ACE_8, TEN_8, LENGTH_8, SHARE_8)
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
        return worth + 500
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
