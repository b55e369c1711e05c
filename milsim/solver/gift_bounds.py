"""Bounds of what gifts are worth in many layouts: the questions of a race between pairs of gifts.

The same ten cards in many layouts of the 14 others; in each layout the pairs of gifts share one
table, as in `milsim.solver.exchange`. What was found before is kept and asked no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import word_of
from milsim.cards import ALL_CARDS
from milsim.solver.ranked import ranked
from milsim.solver.search import search
from milsim.solver.table import (
    GIFT_A,
    GIFT_B,
    TAG_A,
    TAG_B,
    TAG_SHIFT,
    next_deal,
    prepare,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is asked of each pair in each layout.
NEEDS = 0  # whether it reaches each of some points that are asked of the pair
EXACT = 1  # its value
BARS = 2  # an upper bound: less than its bar in the layout, if that is so
_CLOSE = 16  # bounds so close are halved at once


@kernel
def narrow_bounds(
    ten: int,
    lefts: NDArray[np.int64],
    places: NDArray[np.int64],
    pairs: NDArray[np.int64],
    question: int,
    needs: NDArray[np.int64],
    asked: NDArray[np.int8],
    bars: NDArray[np.int64],
    flags: int,
    values: int,
    work: NDArray[np.int64],
    lower: NDArray[np.int16],
    upper: NDArray[np.int16],
) -> None:
    """Narrow the bounds of some pairs of gifts in some layouts until a question is answered.

    ``ten``: the declarer's cards, a mask of RULES.md §1; ``lefts`` int64[layouts]: the seven cards
    of his left in each layout; ``places``: which layouts; ``pairs``: which pairs, 10·left + right
    by place in the hand (lowest index first). ``needs`` int64[k], rising, of which ``asked``
    int8[100, k] says which are asked of each pair; ``bars`` int64[100, layouts], of
    which the question BARS wants to know that they are not reached. ``lower`` and ``upper``
    int16[100, layouts] hold true bounds of the declarer's points, by pair and layout, and get
    closer ones; where they are equal the value is known.
    """
    prepare(work, flags, values, word_of(8), word_of(1))
    cards = np.empty(10, np.int64)
    rest = ten
    for i in range(10):
        cards[i] = ranked(rest & -rest)
        rest &= rest - 1
    own = ranked(ten)
    for at in range(places.shape[0]):
        place = places[at]
        next_deal(work, word_of(0))
        left = ranked(lefts[place])
        right = ranked(ALL_CARDS & ~(ten | lefts[place]))
        guess = 0
        for each in range(pairs.shape[0]):
            pair = pairs[each]
            i = pair // 10
            j = pair - 10 * i
            one = cards[i]
            other = cards[j]
            low = word_of(lower[pair, place])
            high = word_of(upper[pair, place])
            step = 4
            questions = 0
            went_up = False
            while low < high:
                need = 0
                if question == BARS:
                    # Up from the bar until one is not reached.
                    if high < bars[pair, place] or (questions > 0 and not went_up):
                        break
                    need = bars[pair, place] if low < bars[pair, place] else low + step
                    step *= 2
                    need = max(low + 1, min(need, high))
                elif question == EXACT:
                    if high - low <= _CLOSE:
                        need = (low + high + 1) // 2
                    elif questions == 0:
                        need = guess
                    else:
                        need = low + step if went_up else high - step + 1
                        step *= 2
                    need = max(low + 1, min(need, high))
                else:
                    # The lowest open one above the guess, else the highest open one.
                    for k in range(needs.shape[0]):
                        if asked[pair, k] != 0 and low < needs[k] <= high and need <= guess:
                            need = needs[k]
                if need == 0:
                    break
                if questions == 0:
                    # The eight bits of the tag: 1 to 10 for a gift that is left, on each side.
                    work[GIFT_A] = one
                    work[TAG_A] = i + 1 << TAG_SHIFT
                    work[GIFT_B] = other
                    work[TAG_B] = j + 1 << TAG_SHIFT + 4
                questions += 1
                value = search(own ^ one ^ other, left | one, right | other, 0, 0, need, work)
                went_up = value >= need
                if went_up:
                    low = max(low, value)
                else:
                    high = min(high, value)
                guess = low if question == NEEDS else guess
            guess = low
            lower[pair, place] = low
            upper[pair, place] = high


__all__ = ["BARS", "EXACT", "NEEDS", "narrow_bounds"]
