"""Play whole matches into a run folder: a row a deal, a row a match, in parts of whole matches.

Parts of both kinds end at the same matches (multiples of PART_MATCHES), so their bytes do not
depend on threads or chunks, and whoever needs all deals of a match finds them in one part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.policies.spec import parse_spec
from milsim.simulation.columns import COLUMNS
from milsim.simulation.match_columns import (
    BARREL_BY_PLAYER,
    DEALER,
    EVENTS_BY_PLAYER,
    FINAL_BY_PLAYER,
    FIRST_DEALER,
    MATCH_COLUMNS,
    NUMBER,
    SCORE_SITTER,
    TOTAL_BY_PLAYER,
    WINNER,
)
from milsim.simulation.match_engine import MatchChunk, MatchPlayer
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store.collect import DealMaking
from milsim.store.engines import Making
from milsim.store.folder import checked_folder
from milsim.store.manifest import MATCHES_FOLDER, PARTS_FOLDER
from milsim.store.match_run import MatchRun
from milsim.store.match_schema import COUNTED, deal_schema, match_schema, players_of
from milsim.store.writing import Collected, Collecting, write_run

PART_MATCHES = 1 << 12
"""Matches a part: some 100,000 deals."""
PART_DRIVEN = 1 << 3
"""The same where some policy is not all kernels: some 150 deals, by `pimc` 3 s of one thread."""

Columns = dict[str, NDArray[np.integer]]


def making_of(plan: Plan | MatchPlan) -> Making[Any]:
    """How the parts of a plan of either kind are made."""
    return MatchMaking(plan) if isinstance(plan, MatchPlan) else DealMaking(plan)


def collect_matches(
    plan: MatchPlan, folder: str | Path, how: Collecting | None = None
) -> Collected[MatchRun]:
    """Play the matches of a plan that its folder does not hold yet.

    Ctrl-C, what may stand in the folder, and errors, are as in
    :func:`milsim.store.collect.collect`.
    """
    path = checked_folder(folder)
    manifest, ended, failures = write_run(MatchMaking(plan), path, how or Collecting())
    return Collected(MatchRun(path, manifest), ended, failures)


@dataclass(frozen=True, slots=True)
class MatchMaking:
    """A plan of matches, and the rows of its parts."""

    plan: MatchPlan

    @property
    def folders(self) -> tuple[str, ...]:
        """Of the deals, and of the matches."""
        return (PARTS_FOLDER, MATCHES_FOLDER)

    @property
    def first(self) -> int:
        """The first match."""
        return self.plan.start

    @property
    def count(self) -> int:
        """How many matches."""
        return self.plan.matches

    @property
    def part(self) -> int:
        """Matches a part."""
        driven = any(parse_spec(text).number is None for text in self.plan.policies)
        return PART_DRIVEN if driven else PART_MATCHES

    def ready(self) -> int:
        """Compile what the plan needs."""
        player = _player(self.plan)
        player.warm_up()
        return player.size

    def play(self, start: int, count: int) -> MatchChunk:
        """The matches of a range."""
        return _player(self.plan)(start, count)

    def frames(self, chunks: Sequence[MatchChunk]) -> tuple[pl.DataFrame, ...]:
        """A row a deal, and a row a match."""
        return frames_of(chunks, self.plan.rules.deal.players)


@lru_cache(maxsize=2)
def _player(plan: MatchPlan) -> MatchPlayer:
    return MatchPlayer(plan)


def frames_of(chunks: Sequence[MatchChunk], players: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of consecutive chunks: of the deals, and of the matches.

    Columns are those of :mod:`milsim.store.match_schema`: players from 1, not from 0 as in kernels.
    """
    deals = pl.DataFrame(_joined(chunks, lambda chunk: _deal_columns(chunk, players)))
    matches = pl.DataFrame(_joined(chunks, lambda chunk: _match_columns(chunk, players)))
    return (
        deals.select(list(deal_schema(players))).cast(deal_schema(players)),
        matches.select(list(match_schema(players))).cast(match_schema(players)),
    )


def _joined(chunks: Sequence[MatchChunk], columns: Callable[[MatchChunk], Columns]) -> Columns:
    found = [columns(chunk) for chunk in chunks]
    return {name: np.concatenate([some[name] for some in found]) for name in found[0]}


def _deal_columns(chunk: MatchChunk, players: int) -> Columns:
    values = chunk.deal_values
    columns: Columns = {
        "match": chunk.match,
        "number": values[NUMBER],
        "dealer": values[DEALER] + 1,
        "index": chunk.index,
        "deal": chunk.deals,
        "score_sitter": values[SCORE_SITTER],
    }
    for place, name in enumerate(COLUMNS):
        columns[name] = chunk.values[place]
    for name, first in (
        ("total", TOTAL_BY_PLAYER),
        ("events", EVENTS_BY_PLAYER),
        ("barrel", BARREL_BY_PLAYER),
    ):
        for number in players_of(players):
            columns[f"{name}_{number}"] = values[first + number - 1]
    return columns


def _match_columns(chunk: MatchChunk, players: int) -> Columns:
    results = chunk.results
    columns: Columns = {
        "match": np.arange(chunk.start, chunk.start + chunk.matches, dtype=np.uint64),
        "first_dealer": results[FIRST_DEALER] + 1,
        "winner": results[WINNER] + 1,  # the kernel's nobody is -1
    }
    for name in ("deals", "from_barrel", "by_jump", *(name for name, _ in COUNTED)):
        columns[name] = results[MATCH_COLUMNS.index(name)]
    for number in players_of(players):
        columns[f"final_{number}"] = results[FINAL_BY_PLAYER + number - 1]
    return columns
