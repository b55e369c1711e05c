"""What the point count for people looks at: the lines of its card, counted for any hands.

The lines were chosen on deals of ``expert`` under ``mil``, by what each takes off the squared
error. That aces make a marriage worth more, and length worth something in the ace's own suit, are
the two things that no count of players has; a guard beside a ten hardly matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milsim.cards import ACE as ACE_RANK
from milsim.cards import N_RANKS, N_SUITS, SUIT_MASKS, SUITS
from milsim.cards import TEN as TEN_RANK
from milsim.where import feature, suit_set


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the card: what is counted, in words; ``by_suit``: with a weight for each suit."""

    name: str
    text: str
    by_suit: bool = False

    @property
    def width(self) -> int:
        """How many weights it has."""
        return N_SUITS if self.by_suit else 1


LINES = (
    Line("start", "every hand, to begin with"),
    Line("first_ace", "the first ace"),
    Line("more_aces", "each further ace"),
    Line("tens", "each ten"),
    Line("ace_ten", "each ten beside its ace, once more"),
    Line("length", "each card over two in a suit with A or KQ (both: 2)"),
    Line("half", "a half marriage (K or Q without the other)", by_suit=True),
    Line("marriage_bare", "a marriage, if you hold no ace", by_suit=True),
    Line("marriage", "a marriage, if you hold an ace", by_suit=True),
    Line("more_marriages", "each marriage after the first, on top"),
)
"""The lines of the card, in its order."""

N_WEIGHTS = sum(line.width for line in LINES)


def places() -> dict[str, slice]:
    """Which columns of :func:`features` belong to each line.

    >>> places()["half"]
    slice(6, 10, None)
    """
    found, first = {}, 0
    for line in LINES:
        found[line.name] = slice(first, first + line.width)
        first += line.width
    return found


def features(hands: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the lines count in hands, which are masks of cards: int64 (hands, N_WEIGHTS).

    Lines by suit have a column a suit, in the order of suits: spades, clubs, diamonds, hearts.

    >>> from milsim.cards import parse_hand
    >>> features(np.array([parse_hand("AT..KQ9.A9")]))[0].tolist()
    [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    """
    lengths = [np.bitwise_count(hands & SUIT_MASKS[suit]).astype(np.int64) for suit in SUITS]
    held = suit_set("marriages", hands)
    halves = suit_set("half_marriages", hands)
    aces = feature("aces", hands)
    has_ace = [hands >> (N_RANKS * suit + ACE_RANK) & 1 for suit in SUITS]
    has_ten = [hands >> (N_RANKS * suit + TEN_RANK) & 1 for suit in SUITS]
    married = [held >> suit & 1 for suit in SUITS]
    some_ace = np.minimum(aces, 1)
    columns = [
        np.ones_like(aces),
        some_ace,
        aces - some_ace,
        feature("tens", hands),
        sum(has_ace[suit] & has_ten[suit] for suit in SUITS),
        # A suit with both counts twice: king and queen are the two cards beside which it is long.
        sum((has_ace[suit] + married[suit]) * np.maximum(lengths[suit] - 2, 0) for suit in SUITS),
        *(halves >> suit & 1 for suit in SUITS),
        *(married[suit] * (1 - some_ace) for suit in SUITS),
        *(married[suit] * some_ace for suit in SUITS),
        np.maximum(sum(married) - 1, 0),
    ]
    return np.stack(columns, axis=1).astype(np.int64)


__all__ = ["LINES", "N_WEIGHTS", "Line", "features", "places"]
