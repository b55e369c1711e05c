"""The double-dummy value of played deals: the declarer's points when all cards are known to all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milsim.cards import NO_TRUMP
from milsim.dealing import masks_of_deals
from milsim.simulation.columns import NO_CARD
from milsim.solver import best_exchange_batch, solve_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from milsim.rules import Rules

DECLARER_LEADS = 0


def double_dummy_points(
    deals: NDArray[np.uint64],
    declarer: NDArray[np.integer],
    gift_left: NDArray[np.integer],
    gift_right: NDArray[np.integer],
    *,
    best: bool,
    rules: Rules,
    undeclarable: int = 0,
    threads: int | None = 1,
) -> NDArray[np.int16]:
    """Declarer points, int16, with best play of all three when all cards are known.

    The arrays are columns of a run, one entry a deal. With ``best`` the declarer also chooses the
    best of the 90 exchanges; else the two gifts (card indices) are those that were given, and a
    conceded deal, in which nothing was given, has 0. ``undeclarable`` is a mask of suits whose
    marriages nobody can declare.
    """
    if best:
        points = np.empty(len(deals), dtype=np.int16)
        for seat in range(3):
            mine = declarer == seat
            if mine.any():
                solved = best_exchange_batch(
                    deals[mine],
                    declarer=seat,
                    rules=rules,
                    undeclarable=undeclarable,
                    threads=threads,
                )
                points[mine] = solved.points
        return points
    given = gift_left != NO_CARD
    if not given.all():
        points = np.zeros(len(deals), dtype=np.int16)
        if given.any():
            points[given] = double_dummy_points(
                deals[given],
                declarer[given],
                gift_left[given],
                gift_right[given],
                best=False,
                rules=rules,
                undeclarable=undeclarable,
                threads=threads,
            )
        return points
    dealt = masks_of_deals(deals)
    hands = np.stack([dealt.forehand, dealt.middlehand, dealt.rearhand])
    rows, his = np.arange(len(deals)), declarer.astype(np.int64)
    to_left = np.left_shift(1, gift_left.astype(np.int64))
    to_right = np.left_shift(1, gift_right.astype(np.int64))
    kept = (hands[his, rows] | dealt.talon) & ~to_left & ~to_right
    left, right = hands[(his + 1) % 3, rows] | to_left, hands[(his + 2) % 3, rows] | to_right
    return solve_batch(
        kept,
        left,
        right,
        DECLARER_LEADS,
        NO_TRUMP,
        rules=rules,
        undeclarable=undeclarable,
        threads=threads,
    )
