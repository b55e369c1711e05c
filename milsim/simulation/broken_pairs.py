"""Deals in which the declarer's marriages are broken: one of the two cards for another.

What a marriage is worth is a comparison, and this is what it is compared with: the same deal, but
instead of the king or of the queen the declarer has a card that a defender held, who has the king
or queen for it. Which of the two goes is a fair draw. The card that comes is drawn from the
defenders' 14 as the talon is, each alike, except those that would complete a marriage with his
other nine: the hand has one marriage less, not another one. Nine of his ten cards stay, so this is
the question that a player has before the talon: the other half, or just any card?
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.bits import deposit, popcount
from milsim.cards import ALL_CARDS, KING, QUEEN, RANK_MASKS
from milsim.dealing import deal_masks, deal_number_of, kernel_hands, kernel_ranks
from milsim.dealing.sampling import checked_seed
from milsim.rng import COUNTERFACTUAL_STREAM, below, draw, philox, stream_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUEENS = RANK_MASKS[QUEEN]
_KINGS = RANK_MASKS[KING]
_WHICH_PLY, _CARD_PLY = 0, 1


@kernel
def break_pairs(dealt: NDArray[np.int64], declarer: int, suits: int, key: int) -> None:
    """Break the declarer's marriages of a mask of suits, in order; others stay as they are.

    ``dealt`` int64[4]: the hands by seat and the talon, which together with his hand makes his ten
    cards; ``key`` is the word from which the draws come.

    >>> dealt = np.array([0b001100_000000_000011, 0, 0, 0], np.int64)
    >>> break_pairs(dealt, 0, 0b0111, 12345)
    >>> int(dealt[0]).bit_count(), int(dealt[0]) >> 14 & 3 in (1, 2)
    (4, True)
    """
    for suit in range(4):
        queen = 1 << 6 * suit + QUEEN
        ten = dealt[declarer] | dealt[3]
        if suits >> suit & 1 == 0 or ten & queen == 0 or ten & queen << 1 == 0:
            continue
        goes = queen << below(draw(key, suit, _WHICH_PLY), 2)
        stays = ten ^ goes
        halves = (stays & _QUEENS) << 1 | (stays & _KINGS) >> 1
        able = ALL_CARDS & ~ten & ~halves
        comes = deposit(1 << below(draw(key, suit, _CARD_PLY), popcount(able)), able)
        for place in range(4):
            # Who has one of the two gets the other.
            if dealt[place] & (goes | comes) != 0:
                dealt[place] ^= goes | comes


@kernel
def _fill_broken(
    seed: int,
    index: NDArray[np.int64],
    deal: NDArray[np.int64],
    redeals: NDArray[np.int64],
    declarer: NDArray[np.int64],
    suits: int,
    hands_table: NDArray[np.int32],
    ranks_table: NDArray[np.int32],
    broken: NDArray[np.int64],
) -> None:
    dealt = np.empty(4, np.int64)
    for i in range(len(index)):
        dealt[0], dealt[1], dealt[2], dealt[3] = deal_masks(deal[i], hands_table)
        key, _ = philox(seed, index[i], stream_of(COUNTERFACTUAL_STREAM, redeals[i]))
        break_pairs(dealt, declarer[i], suits, key)
        broken[i] = deal_number_of(dealt[0], dealt[1], dealt[2], ranks_table)


def broken_deals(
    seed: int,
    index: NDArray[np.uint64],
    deal: NDArray[np.uint64],
    redeals: NDArray[np.uint16],
    declarer: NDArray[np.uint8],
    suits: int,
) -> NDArray[np.uint64]:
    """The numbers, uint64[n], of deals with the declarer's marriages of a mask of suits broken.

    ``index``, ``deal``, ``redeals`` and ``declarer`` are columns of a run of ``seed``. A pure
    function of these: the draws for a deal depend on the seed, its index and its redeals.
    """
    broken = np.empty(len(index), np.int64)
    indices, deals, attempts, declarers = (
        np.ascontiguousarray(column, np.int64) for column in (index, deal, redeals, declarer)
    )
    _fill_broken(
        checked_seed(seed),
        indices,
        deals,
        attempts,
        declarers,
        suits,
        kernel_hands(),
        kernel_ranks(),
        broken,
    )
    return broken.astype(np.uint64)


__all__ = ["break_pairs", "broken_deals"]
