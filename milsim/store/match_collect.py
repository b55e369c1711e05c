"""Play whole matches into a run folder: a row a deal, a row a match, in parts of whole matches.

Parts of both kinds end at the same matches (multiples of PART_MATCHES), so their bytes do not
depend on threads or chunks, and whoever needs all deals of a match finds them in one part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
from milsim.simulation.match_engine import MatchChunk, play_match_plan
from milsim.simulation.match_plan import MatchPlan
from milsim.store.collect import Layout, Report, checked_folder, write_run
from milsim.store.match_run import MATCHES_FOLDER, MatchRun
from milsim.store.match_schema import COUNTED, deal_schema, match_schema, players_of
from milsim.store.run import PARTS_FOLDER

PART_MATCHES = 1 << 12
"""Matches a part: some 100,000 deals."""

Columns = dict[str, NDArray[np.integer]]


def collect_matches(
    plan: MatchPlan,
    folder: str | Path,
    *,
    threads: int | None = None,
    progress: Report | None = None,
) -> MatchRun:
    """Play all matches of a plan and store them; returns the run, opened.

    Ctrl-C, and errors, are as in :func:`milsim.store.collect.collect`.
    """
    layout: Layout[MatchChunk] = Layout(
        start=plan.start,
        count=plan.matches,
        part=PART_MATCHES,
        folders=(PARTS_FOLDER, MATCHES_FOLDER),
        span=lambda chunk: (chunk.start, chunk.matches),
        frames=lambda chunks: frames_of(chunks, plan.rules.deal.players),
    )
    path = checked_folder(folder)
    manifest = write_run(
        plan, path, layout, lambda stop: play_match_plan(plan, threads=threads, stop=stop), progress
    )
    return MatchRun(path, manifest)


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
