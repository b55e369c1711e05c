"""One number that tells whether the search still searches as it did: nodes over fixed deals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from milsim._jit import kernel
from milsim.cards import NO_TRUMP
from milsim.dealing import kernel_hands
from milsim.dealing.sampling import deal_masks, deal_number
from milsim.rules import load, packed
from milsim.solver.batch import rows_of
from milsim.solver.exchange import exchange_rows
from milsim.solver.root import answer
from milsim.solver.table import NODES, new_workspace
from milsim.tricks import play_flags, play_values

_SEED = 2024
_DEALS = 100
_EXCHANGES = 10
_PRESETS = ("mil", "gamerules")


@kernel
def _deals(seed: int, hands: NDArray[np.int32], masks: NDArray[np.int64]) -> None:
    for i in range(masks.shape[1]):
        masks[0, i], masks[1, i], masks[2, i], masks[3, i] = deal_masks(
            deal_number(seed, i, 0), hands
        )


def signature() -> int:
    """The number of positions searched over a fixed set of questions: exact, thresholds, exchanges.

    The same on every machine. A change of it means that the search does other work than before (a
    commit says so: ``Bench: N``); it says nothing of the values, which may never change.
    """
    masks = np.empty((4, _DEALS), np.int64)
    _deals(_SEED, kernel_hands(), masks)
    # Hands of eight: the talon goes round.
    rows = np.empty((5, _DEALS), np.int64)
    rows[3] = np.arange(_DEALS) % 3
    rows[4] = NO_TRUMP
    for seat in range(3):
        rest = masks[3].copy()
        for _ in range(seat):
            rest &= rest - 1
        rows[seat] = masks[seat] | rest & -rest
    nodes = 0
    for preset in _PRESETS:
        rules = packed(load(preset))
        flags, values = play_flags(rules), play_values(rules)
        work = new_workspace()
        found = np.empty(_DEALS, np.int64)
        positions = rows_of(rows)
        needs = np.full(_DEALS, 100, np.int64)
        answer(positions, needs[:0], 1, 1, flags, values, work, found)
        answer(positions, needs, 0, 1, flags, values, work, found)
        some = masks[:3, :_EXCHANGES].copy()
        some[0] |= masks[3, :_EXCHANGES]
        every = np.empty((0, 0, 0), np.int16)
        exchange_rows(some, flags, values, work, every, np.empty((4, _EXCHANGES), np.int64))
        nodes += int(work[NODES])
    return nodes


__all__ = ["signature"]
