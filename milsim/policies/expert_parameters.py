"""The parameters of the policy ``expert``: from its files to the one array kernels read.

There are two, ``expert.toml`` and ``expert_free.toml``: where nobody must beat, cards are worth
something else. A file holds the tables of :mod:`milsim.policies.expert_play` and
:mod:`milsim.policies.expert_bidding` in their order, as whole numbers, and says how they were
fitted. Kernels get all of them as one int16 array, so that they fit the
nearest memory of a processor; where a table begins stands beside the kernel
that reads it.
"""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from milsim.errors import PolicyError
from milsim.policies import expert_bidding as bidding
from milsim.policies import expert_play as play
from milsim.policies.registry import EXPERT
from milsim.rules import Rules, packed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

FILE = "expert.toml"
FREE_FILE = "expert_free.toml"
"""Fitted under `mil`, and under `gamerules` for rules that let followers play low."""

MOST = 32_767
"""No entry is larger, whatever its sign."""

LEADERS = ("declarer", "left_defender", "right_defender")
FOLLOWERS = (
    "declarer_second",
    "declarer_third",
    "left_defender_second",
    "left_defender_third",
    "right_defender_second",
    "right_defender_third",
)
_LEAD_TABLES = {
    "beaters": (play.LEAD_BEATERS, play.LEAD_SUIT),
    "suit": (play.LEAD_SUIT, play.LEAD_TRICK),
    "trick": (play.LEAD_TRICK, play.LEAD_MARRIAGE),
    "marriage": (play.LEAD_MARRIAGE, play.LEAD_HALVES),
    "halves": (play.LEAD_HALVES, play.LEAD_TRUMPS),
    "trumps": (play.LEAD_TRUMPS, play.LEAD_NEED),
    "need": (play.LEAD_NEED, play.LEAD_SIZE),
}
_FOLLOW_TABLES = {
    "outcome": (play.FOLLOW_OUTCOME, play.FOLLOW_TABLE),
    "table": (play.FOLLOW_TABLE, play.FOLLOW_SUIT),
    "suit": (play.FOLLOW_SUIT, play.FOLLOW_HALVES),
    "halves": (play.FOLLOW_HALVES, play.FOLLOW_TRICK),
    "trick": (play.FOLLOW_TRICK, play.FOLLOW_PATTERN),
    "pattern": (play.FOLLOW_PATTERN, play.FOLLOW_TEMPO),
    "tempo": (play.FOLLOW_TEMPO, play.FOLLOW_NEED),
    "need": (play.FOLLOW_NEED, play.FOLLOW_TRUMPS),
    "trumps": (play.FOLLOW_TRUMPS, play.FOLLOW_SIZE),
}
_MODEL_TABLES = {
    "pattern": (bidding.PATTERN, bidding.BEST_PATTERN),
    "best_pattern": (bidding.BEST_PATTERN, bidding.HALF),
    "half": (bidding.HALF, bidding.BEST),
    "best": (bidding.BEST, bidding.REST),
    "rest": (bidding.REST, bidding.TOPS),
    "tops": (bidding.TOPS, bidding.MODEL_SIZE),
}
_GIFT_TABLES = {
    "given": (bidding.GIVEN, bidding.GIVEN_HALF),
    "given_half": (bidding.GIVEN_HALF, bidding.MODEL_8_SIZE),
}


@cache
def places() -> dict[str, tuple[int, int]]:
    """Where each table of the file lies in the array, first and end, by its dotted name.

    >>> places()["play.lead.declarer.beaters"]
    (0, 150)
    """
    found: dict[str, tuple[int, int]] = {}

    def put(name: str, base: int, tables: dict[str, tuple[int, int]]) -> None:
        for table, (first, end) in tables.items():
            found[f"{name}.{table}"] = base + first, base + end

    for role, name in enumerate(LEADERS):
        put(f"play.lead.{name}", role * play.LEAD_SIZE, _LEAD_TABLES)
    base = play.N_LEADS * play.LEAD_SIZE
    for number, name in enumerate(FOLLOWERS):
        put(f"play.follow.{name}", base + number * play.FOLLOW_SIZE, _FOLLOW_TABLES)
    put("exchange", bidding.AT_MODEL_8, _MODEL_TABLES | _GIFT_TABLES)
    put("bid", bidding.AT_MODEL_7, _MODEL_TABLES)
    put("contract", bidding.AT_CHANCES, {"chances": (0, bidding.CHANCES_SIZE)})
    put("bid", bidding.AT_ADVANTAGE, {"advantage": (0, bidding.ADVANTAGE_SIZE)})
    return found


def from_toml(text: str, name: str) -> NDArray[np.int16]:
    """The array of a file's text, int16[PARAMETERS_SIZE], what depends on rules still 0.

    ``name`` is the file's, for the :class:`~milsim.errors.PolicyError` of a table that is missing,
    has another number of entries, or some beyond MOST.

    >>> from_toml("", "mine")
    Traceback (most recent call last):
    ...
    milsim.errors.PolicyError: mine: play.lead.declarer.beaters is missing
    """
    import numpy as np

    file = tomllib.loads(text)
    array = np.zeros(bidding.PARAMETERS_SIZE, np.int16)
    for dotted, (first, end) in places().items():
        table: Any = file
        for part in dotted.split("."):
            if part not in table:
                raise PolicyError(f"{name}: {dotted} is missing")
            table = table[part]
        if len(table) != end - first:
            raise PolicyError(f"{name}: {dotted} has {len(table)} numbers, not {end - first}")
        if min(table) < -MOST or max(table) > MOST:
            raise PolicyError(f"{name}: {dotted} has numbers beyond {MOST}, the most there may be")
        array[first:end] = table
    return array


@cache
def _fitted(name: str) -> NDArray[np.int16]:
    return from_toml(files("milsim.policies").joinpath(name).read_text(encoding="utf-8"), name)


@lru_cache(maxsize=256)
def kernel_parameters(rules: Rules) -> NDArray[np.int16]:
    """All parameters, int16[PARAMETERS_SIZE], read-only, for the kernels of `dispatch`.

    >>> from milsim.rules import load
    >>> len(kernel_parameters(load("mil"))) == bidding.PARAMETERS_SIZE
    True
    """
    array = _fitted(FREE_FILE if rules.play.must_beat == "no" else FILE).copy()
    fields = packed(rules)
    bidding.suit_tables(array, bidding.AT_MODEL_7, bidding.AT_SUITS_7, fields)
    bidding.suit_tables(array, bidding.AT_MODEL_8, bidding.AT_SUITS_8, fields)
    bidding.gift_tables(array, fields)
    array.flags.writeable = False
    return array


def whole(entries: NDArray[np.float64]) -> NDArray[np.int16]:
    """Fitted entries as tables hold them: the nearest whole numbers within MOST.

    >>> import numpy as np
    >>> whole(np.array([1.6, -1e6])).tolist()
    [2, -32767]
    """
    import numpy as np

    return np.rint(np.clip(entries, -MOST, MOST)).astype(np.int16)


def parameters_for(rules: Rules, policies: Iterable[int]) -> NDArray[np.int16] | None:
    """The parameters, or None if none of some policies, by number, is ``expert``.

    >>> from milsim.policies.registry import GREEDY
    >>> from milsim.rules import load
    >>> parameters_for(load("mil"), (GREEDY.number,)) is None
    True
    """
    return kernel_parameters(rules) if EXPERT.number in policies else None


def to_toml(array: NDArray[np.int16], head: str) -> str:
    """The array as the text of the file; ``head`` are the comments it begins with.

    >>> from milsim.rules import load
    >>> to_toml(kernel_parameters(load("mil")), "# x").splitlines()[0]
    '# x'
    """
    lines = [head.rstrip()]
    last = ""
    for dotted, (first, end) in sorted(places().items(), key=lambda item: item[0]):
        table, _, key = dotted.rpartition(".")
        if table != last:
            lines += ["", f"[{table}]"]
            last = table
        numbers = ", ".join(str(value) for value in array[first:end].tolist())
        lines.append(f"{key} = [{numbers}]")
    return "\n".join(lines) + "\n"
