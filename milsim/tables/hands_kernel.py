"""Every hand played many times: as declarer with each of its 680 talons, and as one who passes.

All deals are a pure function of (seed, hand, place, repetition), whatever the threads or shards:

- *declaring*: place ``t`` is the talon of colexicographic rank t among the 680 of the 17 unseen
  cards; the other 14 are split at random. Every talon comes equally often, so the sample is exact
  over talons and stratified over them. Forehand declares as dealt, as ``simulate --mode declarer``.
- *passing*: the hand sits at middlehand (even places) or rearhand (odd ones), passes whenever it
  may, and all else is random: the other cards, and whatever the policy makes of them in a whole
  auction. A deal that is thrown in, or that all pass, is dealt anew with the same hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.auction import AUCTION_SIZE, is_silent, minimum_of
from milsim.bits import deposit, lowest_bit_index, word_of
from milsim.cards import ALL_CARDS
from milsim.rights import hand_rights, may_concede
from milsim.rng import philox, stream_of, uniform_below
from milsim.simulation.deal_kernel import (
    AS_DEALT,
    AUCTION,
    BIDDING,
    CONCEDERS,
    COUNTS,
    DEAL_SIZE,
    DEALT,
    MINIMUM_IN_FORCE,
    SCORES,
    SILENT_SEATS,
    SITUATION_SIZE,
    play_dealt,
)
from milsim.simulation.tricks_kernel import MARRIAGES, POINTS, WORK_SIZE
from milsim.tricks import play_flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_TALONS = 680
"""C(17, 3): the talons that a hand of seven cards may find."""
N_SPLITS = 3432
"""C(14, 7): the ways to share out what is left."""
PASSES = 20
"""Passing deals of a hand in a repetition, as many at either seat."""

# Purposes of the streams of milsim.rng; 1 to 3 are taken.
_SPLIT = 16
_PASSING = 17
_SPLIT_POLICY = 18
_PASSING_POLICY = 19
_ATTEMPTS = 1 << 10  # new deals of one passing deal, at most

# Places in what is told of passing.
PASS_DEALS = 0
PASS_TOTAL = 1
PASS_SQUARES = 2


@kernel(inline=True)
def table_split(
    seed: int, rank: int, talon: int, repetition: int, unseen: int, hands: NDArray[np.int32]
) -> int:
    """The seven cards of middlehand, of 14 unseen ones; ``hands`` is `kernel_hands()`.

    >>> from milsim.dealing import kernel_hands
    >>> table_split(1, 0, 0, 0, 0x3FFF, kernel_hands()).bit_count()
    7
    """
    index = rank * N_TALONS + talon
    number = uniform_below(seed, index, stream_of(_SPLIT, repetition), N_SPLITS)
    # The sets of 7 of 14 are the beginning of the table of hands.
    return deposit(word_of(hands[number]), unseen)


@kernel(inline=True)
def table_key(seed: int, rank: int, talon: int, repetition: int) -> int:
    """The word from which the policies' choices in a declaring deal come.

    >>> table_key(1, 0, 0, 0) == table_key(1, 0, 0, 1)
    False
    """
    return philox(seed, rank * N_TALONS + talon, stream_of(_SPLIT_POLICY, repetition))[0]


@kernel
def fill_table_deals(
    seed: int,
    rank: int,
    places: NDArray[np.int64],
    repetitions: NDArray[np.int64],
    hands: NDArray[np.int32],
    talons: NDArray[np.int32],
    masks: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> None:
    """Declaring deals of a hand, by the ranks of their talons and repetitions.

    ``masks`` int64[4, n] gets the three hands, forehand first, and the talon; ``keys`` int64[n] the
    policies' words. ``talons`` are the sets of 3 of 17 cards by rank.
    """
    hand = word_of(hands[rank])
    for i in range(len(places)):
        talon = deposit(word_of(talons[places[i]]), ALL_CARDS ^ hand)
        unseen = ALL_CARDS ^ hand ^ talon
        left = table_split(seed, rank, places[i], repetitions[i], unseen, hands)
        masks[0, i] = hand
        masks[1, i] = left
        masks[2, i] = unseen ^ left
        masks[3, i] = talon
        keys[i] = table_key(seed, rank, places[i], repetitions[i])


@kernel(inline=True)
def _lay_out_declaring(
    deal: NDArray[np.int64],
    seed: int,
    rank: int,
    place: int,
    repetition: int,
    hands: NDArray[np.int32],
    talons: NDArray[np.int32],
) -> None:
    """The cards of a declaring deal."""
    hand = word_of(hands[rank])
    talon = deposit(word_of(talons[place]), ALL_CARDS ^ hand)
    unseen = ALL_CARDS ^ hand ^ talon
    left = table_split(seed, rank, place, repetition, unseen, hands)
    deal[DEALT] = hand
    deal[DEALT + 1] = left
    deal[DEALT + 2] = unseen ^ left
    deal[DEALT + 3] = talon


@kernel(inline=True)
def _lay_out_passing(
    deal: NDArray[np.int64],
    seed: int,
    rank: int,
    index: int,
    moment: int,
    seat: int,
    hands: NDArray[np.int32],
    talons: NDArray[np.int32],
) -> None:
    """The cards of a passing deal, with the hand at a seat."""
    hand = word_of(hands[rank])
    number = uniform_below(seed, index, stream_of(_PASSING, moment), N_TALONS * N_SPLITS)
    talon = deposit(word_of(talons[number // N_SPLITS]), ALL_CARDS ^ hand)
    unseen = ALL_CARDS ^ hand ^ talon
    left = deposit(word_of(hands[number % N_SPLITS]), unseen)
    deal[DEALT + seat] = hand
    deal[DEALT + (seat + 1) % 3] = left
    deal[DEALT + (seat + 2) % 3] = unseen ^ left
    deal[DEALT + 3] = talon


@kernel
def play_hands(
    seed: int,
    ranks: NDArray[np.int64],
    first: int,
    repetitions: int,
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    hands: NDArray[np.int32],
    talons: NDArray[np.int32],
    histogram: NDArray[np.int64],
    by_card: NDArray[np.int64],
    passing: NDArray[np.int64],
) -> None:
    """Play hands, by their ranks, in repetitions ``first … first + repetitions - 1``; add it up.

    ``policies`` int64[3] by seat; ``hands`` is `kernel_hands()`, ``talons`` the sets of 3 of 17.
    To these the results are added:

    - ``histogram`` int64[n, most points + 1]: declaring deals by declarer points;
    - ``by_card`` int64[n, 2, 24]: declarer points, and their squares, where the talon has the card;
    - ``passing`` int64[n, 3]: passing deals, the hand's deal scores in them, and their squares.
    """
    flags = play_flags(rules)
    auction = np.empty(AUCTION_SIZE, np.int64)
    deal = np.empty(DEAL_SIZE, np.int64)
    work = np.empty(WORK_SIZE, np.int64)
    situation = np.zeros(SITUATION_SIZE, np.int64)
    situation[MINIMUM_IN_FORCE] = minimum_of(0, rules)
    situation[CONCEDERS] = 0b111 if may_concede(0, 0, rules) else 0
    silent = 0b111 if is_silent(0, rules) else 0
    for i in range(len(ranks)):
        rank = ranks[i]
        # Who must ask for a new deal with his hand never passes with it.
        last = N_TALONS if hand_rights(word_of(hands[rank]), rules) != 0 else N_TALONS + PASSES
        for repetition in range(first, first + repetitions):
            attempt = 0
            number = 0
            # One place where a deal is played: the code of a whole deal is long.
            while number < last:
                place = number - N_TALONS
                seat = 0
                if place < 0:
                    situation[BIDDING] = AS_DEALT
                    _lay_out_declaring(deal, seed, rank, number, repetition, hands, talons)
                    key = table_key(seed, rank, number, repetition)
                else:
                    seat = 1 + (place & 1)
                    index = rank * PASSES + place
                    moment = repetition * _ATTEMPTS + attempt
                    situation[BIDDING] = AUCTION
                    situation[SILENT_SEATS] = silent | 1 << seat
                    _lay_out_passing(deal, seed, rank, index, moment, seat, hands, talons)
                    key = philox(seed, index, stream_of(_PASSING_POLICY, moment))[0]
                outcome = play_dealt(
                    deal, auction, work, situation, parameters, rules, flags, policies, key
                )
                if place < 0:
                    points = work[POINTS] + work[MARRIAGES]
                    histogram[i, points] += 1
                    talon = deal[DEALT + 3]
                    while talon != 0:
                        card = lowest_bit_index(talon)
                        by_card[i, 0, card] += points
                        by_card[i, 1, card] += points * points
                        talon &= talon - 1
                elif outcome == COUNTS:
                    score = deal[SCORES + seat]
                    passing[i, PASS_DEALS] += 1
                    passing[i, PASS_TOTAL] += score
                    passing[i, PASS_SQUARES] += score * score
                elif attempt < _ATTEMPTS - 1:
                    attempt += 1
                    continue
                attempt = 0
                number += 1


__all__ = [
    "N_SPLITS",
    "N_TALONS",
    "PASSES",
    "PASS_DEALS",
    "PASS_SQUARES",
    "PASS_TOTAL",
    "fill_table_deals",
    "play_hands",
    "table_key",
    "table_split",
]
