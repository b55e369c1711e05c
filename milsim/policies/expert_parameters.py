"""The parameters of the policy ``expert``: from ``expert.toml`` to the one array kernels read.

The file holds the tables of :mod:`milsim.policies.expert_play` and
:mod:`milsim.policies.expert_bidding` in their order, as whole numbers, and says how they were
fitted. Kernels get all of them as one int64 array; where a table begins stands beside the kernel
that reads it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from milsim.errors import PolicyError
from milsim.policies import expert_bidding as bidding
from milsim.policies import expert_play as play
from milsim.rules import Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


@cache
def _parameters(name: str) -> NDArray[np.int64]:
    import numpy as np

    text = files("milsim.policies").joinpath(name).read_text(encoding="utf-8")
    file = tomllib.loads(text)
    array = np.empty(bidding.PARAMETERS_SIZE, np.int64)
    for dotted, (first, end) in places().items():
        table = file
        *tables, last = dotted.split(".")
        for part in tables:
            table = table[part]
        if len(table[last]) != end - first:
            raise PolicyError(f"{name}: {dotted} has {len(table[last])} numbers, not {end - first}")
        array[first:end] = table[last]
    array.flags.writeable = False
    return array


def kernel_parameters(rules: Rules) -> NDArray[np.int64]:  # noqa: ARG001
    """All parameters, int64[PARAMETERS_SIZE], read-only, for the kernels of `dispatch`.

    >>> from milsim.rules import load
    >>> len(kernel_parameters(load("mil"))) == bidding.PARAMETERS_SIZE
    True
    """
    return _parameters("expert.toml")


def to_toml(array: NDArray[np.int64], head: str) -> str:
    """The array as the text of the file; ``head`` are the comments it begins with.

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
