"""Runs of single deals: how a plan is played into a folder, a row a deal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from milsim.policies.spec import parse_spec
from milsim.simulation.columns import COLUMNS
from milsim.simulation.engine import Chunk, DealPlayer
from milsim.simulation.plan import Plan
from milsim.store.folder import checked_folder
from milsim.store.manifest import PARTS_FOLDER
from milsim.store.run import Run
from milsim.store.schema import SCHEMA, SCHEMA_WITH_DD
from milsim.store.writing import Collected, Collecting, write_run

PART_DEALS = 1 << 18
PART_SOLVED = {"gifts": 1 << 14, "exchange": 1 << 11}
PART_DRIVEN = 1 << 8
"""Fewer deals where a deal takes long: a part is 1 to 10 s of one thread's work. That is the least
that goes to a worker of a cluster at once, and the most that a kill costs a thread. Parts are a
function of the plan alone, so no machine and no measurement decides. One thread, `mil`: `greedy`
0.6 s, `expert` 1.3 s, gifts 2.3 s, exchange 2.9 s, `pimc` 4.4 s (with ``solving=50`` 7 to 10 s),
`oracle` 3.8 s."""


def collect(plan: Plan, folder: str | Path, how: Collecting | None = None) -> Collected[Run]:
    """Play the deals of a plan that its folder does not hold yet.

    A folder that holds the run already, or a part of it, is gone on with: a second call changes no
    byte. On Ctrl-C what is finished is stored; a second Ctrl-C stops at once, with the parts
    written so far. Raises :class:`~milsim.errors.RunError` if the folder holds anything else, or
    cannot be written.
    """
    path = checked_folder(folder)
    manifest, ended, failures = write_run(DealMaking(plan), path, how or Collecting())
    return Collected(Run(path, manifest), ended, failures)


@dataclass(frozen=True, slots=True)
class DealMaking:
    """A plan of deals, and the rows of its parts."""

    plan: Plan

    @property
    def folders(self) -> tuple[str, ...]:
        """One, for the deals."""
        return (PARTS_FOLDER,)

    @property
    def first(self) -> int:
        """The index of the first deal."""
        return self.plan.start

    @property
    def count(self) -> int:
        """How many deals."""
        return self.plan.deals

    @property
    def part(self) -> int:
        """Deals a part."""
        if any(parse_spec(text).number is None for text in self.plan.policies):
            return PART_DRIVEN
        return PART_SOLVED.get(self.plan.dd, PART_DEALS)

    def ready(self) -> int:
        """Compile what the plan needs."""
        player = _player(self.plan)
        player.warm_up()
        return player.size

    def play(self, start: int, count: int) -> Chunk:
        """The deals of a range."""
        return _player(self.plan)(start, count)

    def frames(self, chunks: Sequence[Chunk]) -> tuple[pl.DataFrame, ...]:
        """A row a deal."""
        return (_frame(chunks),)


@lru_cache(maxsize=2)
def _player(plan: Plan) -> DealPlayer:
    return DealPlayer(plan)


def _frame(chunks: Sequence[Chunk]) -> pl.DataFrame:
    start = chunks[0].start
    rows = sum(chunk.rows for chunk in chunks)
    columns: dict[str, np.ndarray[tuple[int], np.dtype[np.integer]]] = {
        "index": np.arange(start, start + rows, dtype=np.uint64),
        "deal": np.concatenate([chunk.deals for chunk in chunks]),
    }
    for place, name in enumerate(COLUMNS):
        columns[name] = np.concatenate([chunk.values[place] for chunk in chunks])
    solved = [chunk.dd for chunk in chunks if chunk.dd is not None]
    if not solved:
        return pl.DataFrame(columns).cast(SCHEMA)
    columns["dd_points"] = np.concatenate(solved)
    return pl.DataFrame(columns).cast(SCHEMA_WITH_DD)
