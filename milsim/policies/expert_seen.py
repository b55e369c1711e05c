"""What the policy ``expert`` takes from what it saw: where a hidden card may be.

The tricks prove that some hands lack some cards (`milsim.knowledge.state.better_cards`, and
marriages led): `milsim.simulation.tricks_kernel` keeps that, one mask a role, open to all. To it
comes what one role alone saw: the declarer knows his two gifts, and a defender who saw the talon
takes it that its aces and tens were not given to his partner (likely, not proved).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.cards import ACE, ALL_CARDS, KING, QUEEN, RANK_MASKS, TEN
from milsim.knowledge.state import EXCLUDED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ACES = RANK_MASKS[ACE]
_QUEENS = RANK_MASKS[QUEEN]
_KINGS = RANK_MASKS[KING]
_KEPT = _ACES | RANK_MASKS[TEN]


@kernel(inline=True)
def declared_with(card: int) -> int:
    """The cards that a declaration takes besides the one led: other half or aces, as a mask; or 0.

    >>> declared_with(0b1000) == 0b0100, declared_with(0b0010)
    (True, 0)
    """
    aces = _ACES ^ card if card & _ACES else 0
    return (card & _QUEENS) << 1 | (card & _KINGS) >> 1 | aces


@kernel(inline=True)
def unlikely_next(role: int, right: int, shown: int) -> int:
    """Cards that a role does not expect with the next one.

    ``right`` is the declarer's gift to his right, ``shown`` the talon if the defenders saw it.

    >>> unlikely_next(0, 0b1, 0), unlikely_next(1, 0b1, 0b100001), unlikely_next(2, 0b1, 0b100001)
    (1, 32, 0)
    """
    seen_by_left = shown & _KEPT if role == 1 else 0
    return right if role == 0 else seen_by_left


@kernel(inline=True)
def unlikely_last(role: int, left: int, shown: int) -> int:
    """Cards that a role does not expect with the one after the next; ``left`` is the other gift.

    >>> unlikely_last(0, 0b1, 0), unlikely_last(2, 0b1, 0b100001)
    (1, 32)
    """
    seen_by_right = shown & _KEPT if role == 2 else 0
    return left if role == 0 else seen_by_right


@kernel
def may_hold(
    plays: NDArray[np.int64], seat: int, role: int, left: int, right: int, shown: int
) -> tuple[int, int]:
    """The cards that the next player and the one after him may hold, for `expert_card`.

    ``plays`` is of `milsim.knowledge.state.observe_play`, ``left`` and ``right`` are the gifts of
    the declarer (masks; others need not know them), ``shown`` is the talon if the seat saw it, or
    0.

    >>> import numpy as np
    >>> may_hold(np.zeros(8, np.int64), 0, 0, 1, 2, 0) == (ALL_CARDS ^ 2, ALL_CARDS ^ 1)
    True
    """
    next_may = ALL_CARDS & ~plays[EXCLUDED + (seat + 1) % 3] & ~unlikely_next(role, right, shown)
    last_may = ALL_CARDS & ~plays[EXCLUDED + (seat + 2) % 3] & ~unlikely_last(role, left, shown)
    return next_may, last_may
