"""A rule set as a flat array of integers, for kernels.

Kernels read ``rules[MUST_BEAT]`` and the like: a rule set is data, never a code path. The layout is
the order of :func:`milsim.rules.fields.field_kinds`; a word is packed as its place among the
allowed words, a switch as 0 or 1, ``"off"`` beside a number as :data:`OFF`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from milsim.rules.fields import field_kinds, values_of
from milsim.rules.model import Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OFF = -(1 << 20)
"""Packed value of a word (``"off"``, ``"half_bid"``) in a field that otherwise holds a number."""

_PLACES = {path: place for place, path in enumerate(field_kinds())}


def place_of(path: str) -> int:
    """Index of a field in the packed array.

    >>> place_of("deal.players")
    0
    """
    return _PLACES[path]


def word_of(path: str, word: str) -> int:
    """Packed value of a word of a field, for a named constant beside a kernel.

    >>> word_of("play.must_beat", "if_can_win")
    1
    """
    return field_kinds()[path].words.index(word)


def packed(rules: Rules) -> NDArray[np.int64]:
    """The rule set as a read-only int64 array of shape (number of fields,).

    >>> int(packed(Rules())[place_of("auction.minimum")])
    100
    """
    return _packed(rules)


@lru_cache(maxsize=256)
def _packed(rules: Rules) -> NDArray[np.int64]:
    import numpy as np

    values = values_of(rules)
    array = np.empty(len(values), dtype=np.int64)
    for path, kind in field_kinds().items():
        value = values[path]
        if isinstance(value, str):
            array[place_of(path)] = OFF if kind.bounds is not None else kind.words.index(value)
        else:
            array[place_of(path)] = int(value)
    array.flags.writeable = False
    return array
