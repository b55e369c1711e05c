"""How many layouts a knowledge state allows, which is the n-th, and one drawn at random.

A *layout* says who holds each hidden card now; what lies in the talon not yet taken is the rest.
How the cards got there (which of his cards was a gift) is no part of it. Layouts are numbered
0 … count − 1 in a fixed order, and `nth_layout` goes from number to layout: all of them are the
numbers in turn, and a uniform one is that of a uniform number, exactly and without rejection.

Counting is short because only two hands are unknown. Say x of the hidden cards must be the first
hand's (the seat after the observer), as the second may not hold them by fact 1 of
`milsim.knowledge.state`; f are *free*, either's. Then any k − x of the free ones fill the k places
of the first hand, and what is left fills the second: C(f, k − x) layouts. The free cards of facts 2
and 3 are put first, in every *way* that agrees with the facts, and the sum is over the ways: one
where there is no such fact, four where a talon was shown, 28 at most (at most one of three cards of
the talon, not all of three aces). Before the talon is taken nothing is known: C(17, 3)·C(14, 7).

The ways are worked out once a state, into a *plan* (int64[PLAN_SIZE], the caller's); a layout is
then the way of its number and one look into a table of all sets of up to 8 of 17 places.
"""

from __future__ import annotations

import functools
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import deposit, popcount, word_of
from milsim.dealing.tables import subset_masks
from milsim.knowledge.state import (
    FEW,
    FEW_SEAT,
    HAND,
    HIDDEN,
    MAY,
    NOT_ALL,
    NOT_ALL_SEAT,
    SEAT,
    SIZES,
    UNTAKEN,
)
from milsim.rng import stream_of, uniform_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAYOUT_STREAM = 3
"""The purpose of random numbers (`milsim.rng`) that draw layouts."""

_MOST_HIDDEN = 17
_MOST_TAKEN = 8  # sets of more places are the complements of smaller ones
_SHIFT = 4
_STARTS = (_MOST_HIDDEN + 1) << _SHIFT

# Places in a plan.
_COUNT = 0
_HIDDEN = 1  # the cards of a layout
_FREE = 2  # those that a set out of the table shares out
_INNER = 3  # layouts for each talon; 0 once it is taken
_N_WAYS = 4
_WAYS = 5  # four numbers each:
_BEGIN = 0  # the number of its first layout
_HAND = 1  # the cards that the first hand has in it besides its share of the free ones
_ROW = 2  # where the sets of that size begin in the table
_FLIP = 3  # all free places, if the table has the complements; else 0
_WAY_SIZE = 4
_MOST_WAYS = 28
PLAN_SIZE = _WAYS + _MOST_WAYS * _WAY_SIZE


@functools.cache
def kernel_binomials() -> NDArray[np.int64]:
    """C(n, k) for n 0–17 and k 0–15 at 16·n + k; then where size k begins in `kernel_subsets()`.

    For kernels: never write into it.

    >>> int(kernel_binomials()[16 * 17 + 7]), int(kernel_binomials()[16 * 18 + 2])
    (19448, 18)
    """
    binomials = [comb(n, k) for n in range(_MOST_HIDDEN + 1) for k in range(16)]
    starts = [sum(comb(_MOST_HIDDEN, j) for j in range(k)) for k in range(_MOST_TAKEN + 1)]
    return np.array(binomials + starts, np.int64)


@functools.cache
def kernel_subsets() -> NDArray[np.int32]:
    """All sets of 0, then 1, … then 8 of 17 places as masks, each size ascending; int32[65536].

    Sets of the first n places are the beginning of their size: one table serves every n. Of 256 kB,
    but one state reads only its own C(n, k) entries, 13 kB at most with the talon taken. For
    kernels: never write into it.

    >>> kernel_subsets()[:3].tolist(), len(kernel_subsets())
    ([0, 1, 2], 65536)
    """
    return np.concatenate([subset_masks(_MOST_HIDDEN, k) for k in range(_MOST_TAKEN + 1)])


@kernel(inline=True)
def _seats(state: NDArray[np.int64]) -> tuple[int, int]:
    """The two other seats in the order of play."""
    first = int(state[SEAT]) + 1
    first = 0 if first == 3 else first
    return first, 3 - int(state[SEAT]) - first


@kernel(inline=True)
def _contradicts(state: NDArray[np.int64], first: int, first_hand: int, second_hand: int) -> bool:
    """Whether two hands (all cards of facts 2 and 3 put) are against fact 2 or fact 3."""
    few = int(state[FEW]) & (first_hand if state[FEW_SEAT] == first else second_hand)
    not_all = int(state[NOT_ALL])
    missing = not_all & ~(first_hand if state[NOT_ALL_SEAT] == first else second_hand)
    return few & (few - 1) != 0 or (not_all != 0 and missing == 0)


@kernel(inline=True)
def _add_way(
    plan: NDArray[np.int64], first_hand: int, wanted: int, binomials: NDArray[np.int64]
) -> None:
    """A way in which the first hand gets ``wanted`` of the free cards, if it can."""
    n = popcount(plan[_FREE])
    if wanted < 0 or wanted > n:
        return
    at = _WAYS + int(plan[_N_WAYS]) * _WAY_SIZE
    plan[_N_WAYS] += 1
    plan[at + _BEGIN] = plan[_COUNT]
    plan[at + _HAND] = first_hand
    plan[at + _FLIP] = (1 << n) - 1 if wanted > _MOST_TAKEN else 0
    plan[at + _ROW] = binomials[_STARTS + (n - wanted if wanted > _MOST_TAKEN else wanted)]
    plan[_COUNT] += binomials[(n << _SHIFT) + wanted]


@kernel
def plan_layouts(
    state: NDArray[np.int64], binomials: NDArray[np.int64], plan: NDArray[np.int64]
) -> int:
    """Work out the layouts of a state into ``plan``, int64[PLAN_SIZE]; returns how many there are.

    0 only for a state that no deal leads to. ``binomials`` is `kernel_binomials()`.

    >>> from milsim.knowledge.state import STATE_SIZE, observe_talon, start
    >>> state, plan = np.empty(STATE_SIZE, np.int64), np.empty(PLAN_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> plan_layouts(state, kernel_binomials(), plan)
    2333760
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> plan_layouts(state, kernel_binomials(), plan)
    3432
    """
    first, second = _seats(state)
    hidden = int(state[HIDDEN])
    size = int(state[SIZES + first])
    untaken = int(state[UNTAKEN])
    plan[_COUNT] = 0
    plan[_HIDDEN] = hidden
    plan[_INNER] = 0
    plan[_N_WAYS] = 0
    if untaken > 0:
        n = popcount(hidden)
        plan[_INNER] = binomials[(n - untaken << _SHIFT) + size]
        plan[_COUNT] = plan[_INNER] * binomials[(n << _SHIFT) + untaken]
        return int(plan[_COUNT])
    may_first = int(state[MAY + first])
    may_second = int(state[MAY + second])
    if hidden & ~(may_first | may_second) != 0:
        return 0
    free = may_first & may_second
    sure_first = may_first ^ free
    sure_second = may_second ^ free
    special = free & int(state[FEW] | state[NOT_ALL])
    plan[_FREE] = free ^ special
    put = 0
    while True:
        first_hand = sure_first | put
        if not _contradicts(state, first, first_hand, sure_second | (special ^ put)):
            _add_way(plan, first_hand, size - popcount(first_hand), binomials)
        put = (put - special) & special  # the next larger part of the special cards, at last none
        if put == 0:
            return int(plan[_COUNT])


@kernel
def _with_talon(
    plan: NDArray[np.int64],
    number: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
) -> tuple[int, int]:
    """A layout while the talon lies untaken: its 3 cards, then 7 of the others."""
    inner = int(plan[_INNER])
    hidden = int(plan[_HIDDEN])
    talon = number // inner
    hidden ^= deposit(word_of(subsets[binomials[_STARTS + 3] + talon]), hidden)
    hand = deposit(word_of(subsets[binomials[_STARTS + 7] + number - talon * inner]), hidden)
    return hand, hidden ^ hand


@kernel(inline=True)
def nth_layout(
    plan: NDArray[np.int64],
    number: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
) -> tuple[int, int]:
    """The layout of a number 0 … count − 1: the hands of the two other seats, next seat first.

    ``plan`` is of `plan_layouts`, ``subsets`` is `kernel_subsets()`. The order: by the talon not
    yet taken, then by the cards of facts 2 and 3 that the first hand gets, then by its other free
    cards; each as masks ascend (descend, where the first hand gets more than 8 free cards).

    >>> from milsim.knowledge.state import STATE_SIZE, observe_talon, start
    >>> state, plan = np.empty(STATE_SIZE, np.int64), np.empty(PLAN_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> _ = plan_layouts(state, kernel_binomials(), plan)
    >>> nth_layout(plan, 0, kernel_binomials(), kernel_subsets()) == (127 << 10, 127 << 17)
    True
    """
    if plan[_INNER] != 0:
        return _with_talon(plan, number, binomials, subsets)
    last = _WAYS + (int(plan[_N_WAYS]) - 1) * _WAY_SIZE
    at = _WAYS
    while at < last and number >= plan[at + _WAY_SIZE + _BEGIN]:
        at += _WAY_SIZE
    share = word_of(subsets[plan[at + _ROW] + number - plan[at + _BEGIN]])
    hand = int(plan[at + _HAND]) | deposit(share ^ int(plan[at + _FLIP]), int(plan[_FREE]))
    return hand, int(plan[_HIDDEN]) ^ hand


@kernel(inline=True)
def random_layout(
    plan: NDArray[np.int64],
    key: int,
    counter: int,
    stream: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
) -> tuple[int, int]:
    """A uniform layout, a pure function of plan, key, counter and stream; as `nth_layout` gives it.

    The stream is made by `milsim.rng.stream_of` with LAYOUT_STREAM, or a purpose of the caller's.

    >>> from milsim.knowledge.state import STATE_SIZE, start
    >>> state, plan = np.empty(STATE_SIZE, np.int64), np.empty(PLAN_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> _ = plan_layouts(state, kernel_binomials(), plan)
    >>> hands = random_layout(plan, 1, 0, 3 << 48, kernel_binomials(), kernel_subsets())
    >>> hands[0] & hands[1], hands[0].bit_count(), hands[1].bit_count()
    (0, 7, 7)
    """
    number = uniform_below(key, counter, stream, int(plan[_COUNT]))
    return nth_layout(plan, number, binomials, subsets)


@kernel
def allows(state: NDArray[np.int64], first_hand: int, second_hand: int) -> bool:
    """Whether the hands of the two other seats, next seat first, are a layout of the state.

    >>> from milsim.knowledge.state import STATE_SIZE, observe_talon, start
    >>> state = np.empty(STATE_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> allows(state, 127 << 10, 127 << 17), allows(state, 127 << 9, 127 << 17)
    (True, False)
    """
    first, second = _seats(state)
    hidden = int(state[HIDDEN])
    both = first_hand | second_hand
    if first_hand & second_hand != 0 or both & ~hidden != 0:
        return False
    # The sizes of three places out of the total: the third, the untaken talon, is right then too.
    if popcount(first_hand) != state[SIZES + first]:
        return False
    if popcount(second_hand) != state[SIZES + second]:
        return False
    if first_hand & ~int(state[MAY + first]) != 0 or second_hand & ~int(state[MAY + second]) != 0:
        return False
    return not _contradicts(state, first, first_hand, second_hand)


@kernel
def possible_cards(
    state: NDArray[np.int64], seat: int, binomials: NDArray[np.int64], plan: NDArray[np.int64]
) -> int:
    """The hidden cards that another seat holds in some layout, exactly: facts and sizes together.

    A free card is the seat's in some layout if there are any when the third seat may not hold it.
    Needs ``plan`` as a workspace, and leaves the state as it was.

    >>> from milsim.knowledge.state import STATE_SIZE, observe_talon, start
    >>> state, plan = np.empty(STATE_SIZE, np.int64), np.empty(PLAN_SIZE, np.int64)
    >>> start(state, 1, 0b1111111)
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> possible_cards(state, 2, kernel_binomials(), plan) == 0b11111111111111 << 10
    True
    """
    if state[UNTAKEN] > 0:
        return int(state[HIDDEN])
    third = 3 - int(state[SEAT]) - seat
    elsewhere = int(state[MAY + third])
    left = int(state[MAY + seat])
    possible = left & ~elsewhere
    left &= elsewhere
    while left != 0:
        card = left & -left
        left ^= card
        state[MAY + third] = elsewhere ^ card
        if plan_layouts(state, binomials, plan) > 0:
            possible |= card
    state[MAY + third] = elsewhere
    return possible


@kernel
def fill_layouts(
    state: NDArray[np.int64],
    begin: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
    plan: NDArray[np.int64],
    hands: NDArray[np.int64],
) -> None:
    """Layouts begin, begin + 1, … into hands, int64[n, 3] by seat; the observer's column is his.

    >>> from milsim.knowledge.state import STATE_SIZE, observe_talon, start
    >>> state, plan = np.empty(STATE_SIZE, np.int64), np.empty(PLAN_SIZE, np.int64)
    >>> start(state, 0, 0b1111111)
    >>> observe_talon(state, 0, 0b111 << 7)
    >>> hands = np.empty((2, 3), np.int64)
    >>> fill_layouts(state, 0, kernel_binomials(), kernel_subsets(), plan, hands)
    >>> (hands >> 10).tolist()
    [[0, 127, 16256], [0, 191, 16192]]
    """
    first, second = _seats(state)
    plan_layouts(state, binomials, plan)
    for i in range(hands.shape[0]):
        hands[i, first], hands[i, second] = nth_layout(plan, begin + i, binomials, subsets)
        hands[i, state[SEAT]] = state[HAND]


@kernel
def fill_sample(
    state: NDArray[np.int64],
    seed: int,
    begin: int,
    binomials: NDArray[np.int64],
    subsets: NDArray[np.int32],
    plan: NDArray[np.int64],
    hands: NDArray[np.int64],
) -> None:
    """Draws begin, begin + 1, … of a seed into hands, int64[n, 3] by seat, as `fill_layouts`.

    >>> from milsim.knowledge.state import STATE_SIZE, start
    >>> state, plan = np.empty(STATE_SIZE, np.int64), np.empty(PLAN_SIZE, np.int64)
    >>> start(state, 2, 0b1111111)
    >>> hands = np.empty((2, 3), np.int64)
    >>> fill_sample(state, 1, 0, kernel_binomials(), kernel_subsets(), plan, hands)
    >>> np.bitwise_count(hands).tolist(), int(hands[1, 2])
    ([[7, 7, 7], [7, 7, 7]], 127)
    """
    first, second = _seats(state)
    plan_layouts(state, binomials, plan)
    stream = stream_of(LAYOUT_STREAM, 0)
    for i in range(hands.shape[0]):
        hands[i, first], hands[i, second] = random_layout(
            plan, seed, begin + i, stream, binomials, subsets
        )
        hands[i, state[SEAT]] = state[HAND]


__all__ = [
    "LAYOUT_STREAM",
    "PLAN_SIZE",
    "allows",
    "fill_layouts",
    "fill_sample",
    "kernel_binomials",
    "kernel_subsets",
    "nth_layout",
    "plan_layouts",
    "possible_cards",
    "random_layout",
]
