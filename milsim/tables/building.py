"""Build a table into a folder: hands by an engine, parts in order, and only those not there yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from milsim.errors import RunError, StoppedEarlyError
from milsim.files import refuse_link, write_atomically
from milsim.simulation.engine import chunk_ranges, in_order
from milsim.simulation.interrupt import Interrupts
from milsim.store import lock as locks
from milsim.store.engines import Engine, Failure, Made, Threads
from milsim.store.lock import BEGINNING_NAME, beginning, locked
from milsim.store.writing import Progress, Report, checked_folder, keep, refusal
from milsim.tables.columns import rows_of
from milsim.tables.folder import (
    MANIFEST_NAME,
    PART_HANDS,
    PARTS_FOLDER,
    PLAN_NAME,
    PartFolder,
    Table,
    manifest_of,
    part_spans,
    text_of,
)
from milsim.tables.plan import TablePlan
from milsim.tables.playing import HandPlayer
from milsim.threads import checked_threads

CHUNK_HANDS = 32  # about an eighth of a second


def build_table(
    plan: TablePlan,
    folder: str | Path,
    *,
    threads: int | None = None,
    shard: tuple[int, int] = (1, 1),
    progress: Report | None = None,
    engine: Engine | None = None,
    told: Callable[[str], None] | None = None,
) -> Table:
    """Play the hands of a plan that the folder does not hold yet, and return the table.

    Of ``shard`` k of n only every n-th part is played, from the k-th on; shards may write to one
    folder at the same time, or their ``parts`` be copied together. What is there is never played
    again, so a second call changes no byte; what is torn is, and ``told`` of in words. On Ctrl-C
    finished parts stay, and the table returned is not ``complete``. The ``engine`` plays, or else
    so many ``threads``.

    Raises :class:`~milsim.errors.RunError` if the folder holds something else, another plan, or
    was begun by other code, if it cannot be written, or another process writes into it, and
    :class:`~milsim.errors.StoppedEarlyError` if some hands cannot be played.
    """
    path = checked_folder(folder)
    player = engine or Threads(checked_threads(threads))
    try:
        begin(path, manifest_of(plan), plan.to_toml())
        table = Table.open(path)
        refuse_another(path, table.manifest, manifest_of(plan))
        mine = shard_spans(plan, shard)
        if not table.missing(mine):
            if shard[1] == 1:
                locks.swept(path, (PARTS_FOLDER,))
            return table
        with locked(path, shard):
            if shard[1] == 1:
                sweep(path)
            missing = table.mended(mine, told)
            if missing:
                _play_hands(table, missing, player, progress)
            if shard[1] == 1:
                sweep(path)  # of workers that were killed while they wrote
    except OSError as error:
        raise RunError(f"out {path}: cannot write, {refusal(error)}") from error
    return table


def shard_spans(plan: TablePlan, shard: tuple[int, int] = (1, 1)) -> list[tuple[int, int]]:
    """The spans of the parts of a shard.

    >>> shard_spans(TablePlan.make(hands=(4090, 12289)), (2, 2))
    [(4096, 4096), (12288, 1)]
    """
    k, n = shard
    return [span for i, span in enumerate(part_spans(plan)) if i % n == k - 1]


def sweep(path: Path) -> None:
    """Remove the hidden files that a killed process left, in a folder that is locked."""
    locks.sweep(path, (PARTS_FOLDER,))


@dataclass(frozen=True, slots=True)
class HandMaking:
    """A table's hands, and the rows of its parts: for engines."""

    plan: TablePlan

    @property
    def folders(self) -> tuple[str, ...]:
        """One, for the hands."""
        return (PARTS_FOLDER,)

    @property
    def first(self) -> int:
        """The first hand."""
        return self.plan.first

    @property
    def count(self) -> int:
        """How many hands."""
        return self.plan.hands

    @property
    def part(self) -> int:
        """Hands a part."""
        return PART_HANDS

    def ready(self) -> int:
        """Compile what the plan needs."""
        _player(self.plan)(np.array([self.plan.first]), 0, 1)
        return CHUNK_HANDS

    def play(self, start: int, count: int) -> pl.DataFrame:
        """The rows of a range of hands."""
        ranks = np.arange(start, start + count)
        return rows_of(ranks, _player(self.plan)(ranks, 0, self.plan.per_talon), self.plan)

    def frames(self, chunks: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, ...]:
        """A row a hand."""
        return (pl.concat(chunks),)


@lru_cache(maxsize=2)
def _player(plan: TablePlan) -> HandPlayer:
    return HandPlayer.of(plan)


def _play_hands(
    table: Table, missing: list[tuple[int, int]], engine: Engine, progress: Report | None
) -> None:
    """Play the missing parts, and keep each that is whole; until Ctrl-C."""
    started = time.monotonic()
    total, done = sum(count for _, count in missing), 0

    def heard(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(Progress(done, total, time.monotonic() - started))

    whole = dict(missing)
    interrupts = Interrupts()
    with interrupts:
        for outcome in engine.make(HandMaking(table.plan), missing, interrupts.asked, heard):
            if isinstance(outcome, Failure):
                raise StoppedEarlyError(
                    f"could not play hands {outcome}; {table.rows:,} are saved in {table.folder}"
                )
            # Of a part that was cut short nothing is kept.
            if isinstance(outcome, Made) and outcome.piece.count == whole[outcome.piece.start]:
                keep(outcome, table.folder, (PARTS_FOLDER,))


def hands_left(plan: TablePlan, folder: str | Path, shard: tuple[int, int] = (1, 1)) -> int:
    """How many hands of a shard the folder does not hold yet: what `build_table` will play."""
    path, mine = Path(folder), shard_spans(plan, shard)
    if (path / MANIFEST_NAME).is_file():
        mine = Table.open(path).missing(mine)
    return sum(count for _, count in mine)


def play_parts(
    table: PartFolder,
    missing: list[tuple[int, int]],
    size: int,
    rows: Callable[[int, int], tuple[int, pl.DataFrame]],
    n_threads: int,
    progress: Report | None,
) -> None:
    """Play the missing parts in chunks of a size, and keep each when it is whole; until Ctrl-C.

    ``rows`` makes those of the indices ``start … start + count - 1``, beside ``start``.
    """
    started = time.monotonic()
    total = sum(count for _, count in missing)
    ends = {start + count: start for start, count in missing}
    held: list[pl.DataFrame] = []
    done = 0
    chunks = [each for start, count in missing for each in chunk_ranges(start, count, size)]
    counts = dict(chunks)
    interrupts = Interrupts()
    with interrupts:
        for start, frame in in_order(rows, chunks, n_threads, interrupts.asked):
            held.append(frame)
            done += counts[start]
            if progress is not None:
                progress(Progress(done, total, time.monotonic() - started))
            end = start + counts[start]
            if end in ends:
                table.keep(ends[end], end - ends[end], pl.concat(held))
                held = []


def begin(path: Path, content: dict[str, Any], plan: str) -> None:
    """Make a folder that is new or empty one with this manifest; raises RunError for a strange one.

    A folder with a manifest stays as it is.
    """
    refuse_link(path / PARTS_FOLDER)
    if path.exists() and not path.is_dir():
        raise RunError(f"out {path}: is a file; name a new or empty folder, or one to go on with")
    if not (path / MANIFEST_NAME).exists():
        strange = [each.name for each in path.iterdir()] if path.is_dir() else []
        own = {PLAN_NAME, PARTS_FOLDER, f".{MANIFEST_NAME}.tmp", f".{PLAN_NAME}.tmp"}
        if set(strange) - own - {BEGINNING_NAME}:
            raise RunError(f"out {path}: folder is not empty; name a new or empty one")
        (path / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
        with beginning(path):
            if not (path / MANIFEST_NAME).exists():
                write_atomically(path / PLAN_NAME, plan.encode())
                write_atomically(path / MANIFEST_NAME, text_of(content).encode())
    elif (path / BEGINNING_NAME).exists():
        (path / BEGINNING_NAME).unlink(missing_ok=True)


def refuse_another(path: Path, found: dict[str, Any], content: dict[str, Any]) -> None:
    """Raise RunError if a folder's manifest is not the one that would be written now."""
    differing = [name for name in content if found.get(name) != content[name]]
    if "plan" in differing:
        raise RunError(f"out {path}: holds a table of another plan; name another folder")
    if differing:
        raise RunError(
            f"out {path}: was begun by other code ({', '.join(differing)} differ); build it "
            "anew in another folder"
        )


__all__ = [
    "CHUNK_HANDS",
    "HandMaking",
    "begin",
    "build_table",
    "hands_left",
    "play_parts",
    "refuse_another",
    "shard_spans",
    "sweep",
]
