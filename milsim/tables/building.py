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

from milsim.errors import RunError
from milsim.files import refuse_link, write_atomically
from milsim.simulation.interrupt import Interrupts
from milsim.store import lock as locks
from milsim.store.engines import Engine, Failure, Made, Making, Span, Threads, interrupting
from milsim.store.folder import checked_folder, disk_errors, holds
from milsim.store.lock import BEGINNING_NAME, beginning, locked
from milsim.store.writing import (
    MOST_FAILURES,
    Collected,
    Collecting,
    Ended,
    Progress,
    Report,
    keep,
    part_spans,
)
from milsim.tables import folder as tables
from milsim.tables.columns import rows_of
from milsim.tables.folder import (
    MANIFEST_NAME,
    PARTS_FOLDER,
    PLAN_NAME,
    PartFolder,
    Table,
    manifest_of,
    text_of,
)
from milsim.tables.plan import TablePlan
from milsim.tables.playing import HandPlayer
from milsim.threads import checked_threads

CHUNK_HANDS = 32  # about an eighth of a second


def collect_table(
    plan: TablePlan, folder: str | Path, how: Collecting | None = None
) -> Collected[Table]:
    """Play the hands of a plan that the folder does not hold yet.

    Of a shard k of n only every n-th part is played, from the k-th on; shards may write to one
    folder at the same time, or their ``parts`` be copied together. What is there is never played
    again, so a second call changes no byte; what is torn is, and told of in words. Finished parts
    stay, whatever ends it.

    Raises :class:`~milsim.errors.RunError` if the folder holds something else, another plan, or
    was begun by other code, if it cannot be written, or another process writes into it.
    """
    path, how = checked_folder(folder), how or Collecting()
    alone = how.shard[1] == 1
    with disk_errors(path):
        begin(path, manifest_of(plan), plan.to_toml())
        table = Table.open(path)
        go_on_with(path, table.manifest, manifest_of(plan), plan.to_toml())
        mine = shard_spans(plan, how.shard)
        if not table.missing(mine):
            if alone:
                locks.swept(path, (PARTS_FOLDER,))
            return Collected(table, Ended.COMPLETE)
        with locked(path, how.shard):
            if alone:
                sweep(path)
            ended, failures = play_parts(table, HandMaking(plan), table.mended(mine, how.told), how)
            if alone:
                sweep(path)  # of workers that were killed while they wrote
    return Collected(table, ended, failures)


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
    """The table of a plan, played as `collect_table` does; after Ctrl-C it is not ``complete``.

    The ``engine`` plays, or else so many ``threads``. Raises what `collect_table` does, and
    :class:`~milsim.errors.StoppedEarlyError` if some hands could not be played.
    """
    player = engine or Threads(checked_threads(threads))
    how = Collecting(player, shard=shard, progress=progress, told=told)
    collected = collect_table(plan, folder, how)
    if collected.ended == Ended.FAILED:
        collected.check(stored_in(collected.run))
    return collected.run


def stored_in(table: Table) -> str:
    """How much of a table there is, for `Collected.check`."""
    return f"{table.rows:,} hands; they are saved in {table.folder}"


def shard_spans(plan: TablePlan, shard: tuple[int, int] = (1, 1)) -> list[tuple[int, int]]:
    """The spans of the parts of a shard.

    >>> shard_spans(TablePlan.make(hands=(4090, 12289)), (2, 2))
    [(4096, 4096), (12288, 1)]
    """
    return list(part_spans(HandMaking(plan), shard))


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
        return tables.PART_HANDS

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


def play_parts(
    table: PartFolder, making: Making[Any], missing: Sequence[Span], how: Collecting
) -> tuple[Ended, tuple[Failure, ...]]:
    """Play the missing parts, and keep each that is whole: why it ended, and what failed."""
    whole = dict(missing)
    total, done, stored = sum(whole.values()), 0, 0
    interrupts = Interrupts()
    started = time.monotonic()
    ends = None if how.seconds is None else started + how.seconds

    def stop() -> bool:
        return interrupts.asked() or (ends is not None and time.monotonic() >= ends)

    def heard(count: int) -> None:
        nonlocal done
        done += count
        if how.progress is not None:
            how.progress(Progress(done, total, time.monotonic() - started))

    failures: list[Failure] = []
    parts = how.engine.make(making, missing, stop, heard)
    with interrupts, interrupting(parts):
        for outcome in parts:
            if isinstance(outcome, Failure):
                failures.append(outcome)
                if how.failed is not None:
                    how.failed(outcome)
                if len(failures) >= MOST_FAILURES:
                    break
            # Of a part that was cut short nothing is kept.
            elif outcome.piece.count == whole[outcome.piece.start]:
                stored += 1
                if isinstance(outcome, Made):
                    keep(outcome, table.folder, making.folders)
    ended = Ended.COMPLETE
    if interrupts.asked():
        ended = Ended.INTERRUPTED
    elif failures:
        ended = Ended.FAILED
    elif stored < len(whole):
        ended = Ended.TIME
    return ended, tuple(failures)


def hands_left(plan: TablePlan, folder: str | Path, shard: tuple[int, int] = (1, 1)) -> int:
    """How many hands of a shard the folder does not hold yet: what `build_table` will play."""
    path, mine = Path(folder), shard_spans(plan, shard)
    if (path / MANIFEST_NAME).is_file():
        mine = Table.open(path).missing(mine)
    return sum(count for _, count in mine)


def begin(path: Path, content: dict[str, Any], plan: str) -> None:
    """Make a folder that is new or empty one with this manifest; raises RunError for a strange one.

    A folder with a manifest stays as it is.
    """
    refuse_link(path / PARTS_FOLDER)
    if path.exists() and not path.is_dir():
        raise RunError(f"out {path}: is a file; name a new or empty folder, or one to go on with")
    # One look: another shard may be writing these files just now, the manifest last.
    names = {each.name for each in path.iterdir()} if path.is_dir() else set()
    if MANIFEST_NAME not in names:
        own = {PARTS_FOLDER, f".{MANIFEST_NAME}.tmp", f".{PLAN_NAME}.tmp", BEGINNING_NAME}
        if holds(path / PLAN_NAME, plan):  # somebody else's is not ours to write over
            own.add(PLAN_NAME)
        if names - own:
            raise RunError(f"out {path}: folder is not empty; name a new or empty one")
        (path / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
        with beginning(path):
            if not (path / MANIFEST_NAME).exists():
                write_atomically(path / PLAN_NAME, plan.encode())
                write_atomically(path / MANIFEST_NAME, text_of(content).encode())
    elif (path / BEGINNING_NAME).exists():
        (path / BEGINNING_NAME).unlink(missing_ok=True)


def go_on_with(path: Path, found: dict[str, Any], content: dict[str, Any], plan: str) -> None:
    """Raise RunError if a folder's manifest is not the one that would be written now.

    A plan beside it that is gone or changed is written again.
    """
    differing = [name for name in content if found.get(name) != content[name]]
    if "plan" in differing:
        raise RunError(f"out {path}: holds a table of another plan; name another folder")
    if differing:
        raise RunError(
            f"out {path}: was begun by other code ({', '.join(differing)} differ); build it "
            "anew in another folder"
        )
    if not holds(path / PLAN_NAME, plan):
        write_atomically(path / PLAN_NAME, plan.encode())


__all__ = [
    "CHUNK_HANDS",
    "HandMaking",
    "begin",
    "build_table",
    "collect_table",
    "go_on_with",
    "hands_left",
    "play_parts",
    "shard_spans",
    "stored_in",
    "sweep",
]
