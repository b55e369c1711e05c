"""Play a plan into a run folder: parts in the order of the index, and only those not there yet.

Parts end at fixed indices, so their bytes do not depend on threads, shards, engine or interruption.
A part is written under a hidden name, synced and renamed; then follows the file beside it, from
which on it counts (:mod:`milsim.store.pieces`). A process killed at any moment leaves a folder that
reads, and that the same command goes on with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from milsim.errors import (
    InterruptedRunError,
    StoppedEarlyError,
)
from milsim.files import refuse_link, write_atomically
from milsim.simulation.engine import chunk_ranges
from milsim.simulation.interrupt import Interrupts
from milsim.store.ending import ENDING_NAME
from milsim.store.engines import Engine, Failure, Made, Making, Span, Threads, interrupting
from milsim.store.folder import (
    PLAN_NAME,
    begin_folder,
    disk_errors,
    is_plan_of,
    known_manifest,
    new_manifest,
)
from milsim.store.lock import Shard, locked, sweep, swept
from milsim.store.manifest import (
    MANIFEST_NAME,
    Manifest,
    has_rule,
    read_identity,
    read_manifest,
    stored_manifest,
)
from milsim.store.parts import HASH_UP_TO_BYTES, fault_of
from milsim.store.pieces import Fault, Known, Piece, beside, gaps, once_more
from milsim.store.prefix import Prefix, settle

MOST_FAILURES = 16
"""Parts that may fail before a run stops: a fault that is everywhere is not played to the end."""
_MANY_PARTS = 100_000  # of more it is only estimated how much is left to play


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a simulation is: deals played of deals to play, and seconds since its start."""

    done: int
    total: int
    seconds: float


Report = Callable[[Progress], None]
R = TypeVar("R", covariant=True)
"""A run of either kind."""


@dataclass(frozen=True, slots=True)
class Collecting:
    """How a plan is played into its folder; all may be left out.

    ``engine`` plays. Of ``shard`` (k, n) only every n-th part is played, from the k-th on.
    ``seconds`` is the most time to play. ``progress`` is told how far it is, ``told`` in words what
    was wrong and is mended: torn parts that are played again. ``failed`` gets ranges that could not
    be played, as they come.
    """

    engine: Engine = field(default_factory=Threads)
    shard: Shard = (1, 1)
    seconds: float | None = None
    progress: Report | None = None
    told: Callable[[str], None] | None = None
    failed: Callable[[Failure], None] | None = None


class Ended(StrEnum):
    """Why the playing of a plan, or of a shard of it, ended."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    TIME = "time"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Collected(Generic[R]):
    """A run as far as it is stored, why it is no further, and what could not be played."""

    run: R
    ended: Ended
    failures: tuple[Failure, ...] = ()

    def check(self, stored: str) -> None:
        """Raise an error with its exit code unless all was played; ``stored`` says how much was.

        :class:`~milsim.errors.InterruptedRunError` after Ctrl-C,
        :class:`~milsim.errors.StoppedEarlyError` when time was up or something failed.
        """
        kept = f"{stored}; the same command goes on"
        if self.ended == Ended.FAILED:
            count = len(self.failures)
            more = f" and {count - 1} ranges more" if count > 1 else ""
            raise StoppedEarlyError(f"could not play {self.failures[0]}{more}; {kept}")
        if self.ended == Ended.TIME:
            raise StoppedEarlyError(f"time was up after {kept}")
        if self.ended == Ended.INTERRUPTED:
            raise InterruptedRunError(f"interrupted after {kept}")


def part_spans(making: Making[Any], shard: Shard = (1, 1)) -> Iterator[Span]:
    """The spans of all parts of a plan, or of a shard of it.

    >>> from milsim.simulation.plan import Plan
    >>> from milsim.store.collect import DealMaking
    >>> list(part_spans(DealMaking(Plan.make(deals=262149, start=7))))
    [(7, 262137), (262144, 12)]
    """
    k, n = shard
    # Not a list: a plan may have millions of parts.
    return islice(chunk_ranges(making.first, making.count, making.part), k - 1, None, n)


Written = tuple[Manifest[Any], Ended, tuple[Failure, ...]]


def write_run(making: Making[Any], path: Path, how: Collecting) -> Written:
    """Play a plan into a folder, part by part; its manifest, and what a `Collected` says."""
    fresh = new_manifest(making.plan)
    read: Known = {}
    with disk_errors(path):
        for folder in making.folders:
            refuse_link(path / folder)
        there, faults = known_manifest(fresh, path, read)
        if (
            there is not None
            and not faults
            and is_plan_of(fresh, path)
            and _is_all_there(making, there, how.shard)
            and not _faulty(path, making, there)
        ):
            if how.shard[1] == 1:
                swept(path, making.folders)
            return there, Ended.COMPLETE, ()
        # What the plan or the kernels cannot do must show before the folder is touched.
        making.ready()
        path.mkdir(parents=True, exist_ok=True)
        with locked(path, how.shard):
            written = _written(making, path, fresh, how, read)
            if how.shard[1] == 1:
                sweep(path, making.folders)  # of workers that were killed while they wrote
            return written


def _written(
    making: Making[Any], path: Path, fresh: Manifest[Any], how: Collecting, read: Known
) -> Written:
    if how.told is not None and (path / MANIFEST_NAME).exists() and not is_plan_of(fresh, path):
        how.told(f"{path / PLAN_NAME}: is missing or not this run's; written again")
    begin_folder(fresh, path, making.folders)
    manifest = _mended(making, path, how, read)
    prefix = _prefix(making, path, manifest, how.shard)
    if prefix is not None:
        # If it ends the run, then not one deal more, whatever is missing behind.
        manifest = replace(manifest, ending=prefix.look())
        prefix.keep(now=False)
    total = _number_missing(making, manifest, how.shard)
    interrupts = Interrupts()
    started = time.monotonic()
    ends = None if how.seconds is None else started + how.seconds
    done = 0

    def stop() -> bool:
        over = prefix is not None and prefix.ending is not None
        return over or interrupts.asked() or (ends is not None and time.monotonic() >= ends)

    def heard(count: int) -> None:
        nonlocal done
        done += count
        if how.progress is not None:
            how.progress(Progress(done, total, time.monotonic() - started))

    failures: list[Failure] = []
    parts = how.engine.make(making, _missing(making, manifest, how.shard), stop, heard)
    with interrupts, interrupting(parts):
        for outcome in parts:
            if prefix is not None and prefix.ending is not None:
                continue  # what was under way behind the end
            if isinstance(outcome, Failure):
                failures.append(outcome)
                if how.failed is not None:
                    how.failed(outcome)
                # Behind a gap no rule to stop by can be asked.
                if len(failures) >= MOST_FAILURES or prefix is not None:
                    break
                continue
            if isinstance(outcome, Made):
                keep(outcome, path, making.folders)
            # Threads need not play to its end what they have begun; workers might still write it.
            if prefix is not None:
                at_end = prefix.take(outcome.piece) is not None
                prefix.keep(now=False)
                if at_end and isinstance(how.engine, Threads):
                    break
    if prefix is not None and prefix.ending is not None:
        settle(making, path, prefix.ending)
    elif prefix is not None:
        prefix.keep()
    found = cast("Manifest[Any]", read_manifest(path, read))
    ended = Ended.COMPLETE
    if interrupts.asked():
        ended = Ended.INTERRUPTED
    elif failures:
        ended = Ended.FAILED
    elif next(_missing(making, found, how.shard), None) is not None:
        ended = Ended.TIME
    return found, ended, tuple(failures)


def keep(outcome: Made, path: Path, folders: Sequence[str], mark: str = "") -> None:
    """Write a part into a run folder: its files, then the one beside them.

    ``mark`` is in their hidden names, where several processes may write the same part.
    """
    for folder, part, content in zip(folders, outcome.piece.parts, outcome.contents, strict=True):
        write_atomically(path / folder / part.name, content, mark)
    outcome.piece.write(path / folders[0], mark)


def _prefix(
    making: Making[Any], path: Path, manifest: Manifest[Any], shard: Shard
) -> Prefix | None:
    """What a rule to stop by looks at; None without one, and for a shard, which cannot know it."""
    if not has_rule(making.plan) or shard[1] > 1:
        return None
    prefix = Prefix(making, path, manifest.pieces)
    prefix.go_on()
    return prefix


def _is_all_there(making: Making[Any], manifest: Manifest[Any], shard: Shard) -> bool:
    if has_rule(making.plan) and shard[1] == 1:
        return manifest.complete
    return next(_missing(making, manifest, shard), None) is None


def _missing(making: Making[Any], manifest: Manifest[Any], shard: Shard) -> Iterator[Span]:
    """The parts of a shard that are not stored whole; one that was cut short is played anew.

    Behind the end to which a rule put the run nothing is missing.
    """
    end = making.first + manifest.until
    left = list(gaps(making.first, making.count, manifest.pieces))
    at = 0
    for start, count in takewhile(lambda span: span[0] < end, part_spans(making, shard)):
        while at < len(left) and sum(left[at]) <= start:
            at += 1
        if at < len(left) and left[at][0] < start + count:
            yield start, count


def _number_missing(making: Making[Any], manifest: Manifest[Any], shard: Shard) -> int:
    """How many indices are left to play, for the eye only where parts are very many."""
    if making.count // making.part > _MANY_PARTS:
        return max(1, (making.count - manifest.stored) // shard[1])
    return sum(count for _, count in _missing(making, manifest, shard))


def _faulty(path: Path, making: Making[Any], manifest: Manifest[Any]) -> list[tuple[Piece, str]]:
    """The pieces whose files are not what was written, and what is wrong with each."""
    total = sum(part.size for piece in manifest.pieces for part in piece.parts)
    found = []
    for piece in manifest.pieces:
        for folder, part in zip(making.folders, piece.parts, strict=True):
            fault = fault_of(path / folder / part.name, part, hashed=total <= HASH_UP_TO_BYTES)
            if fault is not None:
                found.append((piece, f"part {path / folder / part.name}: {fault}"))
                break
    return found + [
        (piece, f"part {path / making.folders[0] / piece.parts[0].name}: is another once more")
        for piece in once_more(manifest.pieces)
    ]


def _mended(making: Making[Any], path: Path, how: Collecting, read: Known) -> Manifest[Any]:
    """The manifest without pieces that are torn or missing: they are told of, and played again."""
    if how.shard[1] == 1:
        sweep(path, making.folders)
    manifest: Manifest[Any] = read_identity(path)
    manifest, faults = stored_manifest(path, manifest, read)
    pieces = manifest.pieces
    bad = [(fault.path, _in_words(fault)) for fault in faults]
    bad += [
        (path / making.folders[0] / beside(piece.start), f"{words}; played again")
        for piece, words in _faulty(path, making, manifest)
    ]
    for beside_it, words in bad:
        if how.told is not None:
            how.told(words)
        # Another shard may be mending the same.
        beside_it.unlink(missing_ok=True)
        if how.shard[1] == 1 and beside_it.name != ENDING_NAME:
            # Where no part begins nothing is played that would be written over it.
            for folder in making.folders:
                (path / folder / beside_it.with_suffix(".parquet").name).unlink(missing_ok=True)
    gone = {beside_it.name for beside_it, _ in bad}
    return replace(manifest, pieces=tuple(p for p in pieces if beside(p.start) not in gone))


def _in_words(fault: Fault) -> str:
    if fault.path.name == ENDING_NAME:
        return f"{fault.path}: {fault.words}; counted again"
    return f"part {fault.path}: {fault.words}; played again"
