"""What players count, as far as anybody has written it down, for the same hands as our count.

Sources: "an ace is worth about 25, a guarded ten 15" and the opening table are folklore of players
and forums (as report ``advice`` has them); card points are what beginners count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milsim.cards import CLUBS, DIAMONDS, HEARTS
from milsim.where import feature, suit_set

ACE_POINTS = 25
GUARDED_TEN_POINTS = 15

Values = Sequence[int]
"""What marriages pay, by suit."""


def card_points(hands: NDArray[np.int64], _values: Values) -> NDArray[np.int64]:
    """The card points of hands."""
    return feature("points", hands)


def points_and_marriages(hands: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
    """The card points of hands, and what their marriages pay."""
    return feature("points", hands) + feature("marriage_points", hands, marriage_values=values)


def aces_and_tens(hands: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
    """25 for an ace, 15 for a guarded ten, and what the marriages pay: declarer points, as told.

    >>> from milsim.cards import parse_hand
    >>> aces_and_tens(np.array([parse_hand("AT..KQ9.A9")]), (40, 60, 80, 100)).tolist()
    [145]
    """
    return (
        ACE_POINTS * feature("aces", hands)
        + GUARDED_TEN_POINTS * feature("guarded_tens", hands)
        + feature("marriage_points", hands, marriage_values=values)
    )


def opening_bids(hands: NDArray[np.int64]) -> NDArray[np.int64]:
    """The opening table: 100 with one marriage or two aces, 120 with two marriages, else pass.

    "110 to 120" with a marriage of diamonds or hearts and an ace is read as 110 and 120.

    >>> from milsim.cards import parse_hand
    >>> hands = ["AT..KQ9.A9", "AT.A9.T9.9", "KQ.KQ.A9.9", "T9.A9.T9.J"]
    >>> opening_bids(np.array([parse_hand(hand) for hand in hands])).tolist()
    [110, 100, 120, 0]
    """
    marriages, aces = feature("marriages", hands), feature("aces", hands)
    held = suit_set("marriages", hands)
    assert CLUBS < DIAMONDS < HEARTS
    return np.select(
        [
            (marriages >= 2) | ((held >> HEARTS & 1 == 1) & (aces > 0)),
            (held >> DIAMONDS & 1 == 1) & (aces > 0),
            (marriages == 1) | (aces >= 2),
        ],
        [120, 110, 100],
        0,
    ).astype(np.int64)


@dataclass(frozen=True, slots=True)
class FolkloreCount:
    """A count of players; ``told`` if it claims to be declarer points itself."""

    name: str
    count: Callable[[NDArray[np.int64], Values], NDArray[np.int64]]
    told: bool = False


COUNTS = (
    FolkloreCount("card points", card_points),
    FolkloreCount("card points and marriages", points_and_marriages),
    FolkloreCount("ace 25, guarded ten 15, marriages", aces_and_tens, told=True),
)

__all__ = ["COUNTS", "FolkloreCount", "aces_and_tens", "opening_bids"]
