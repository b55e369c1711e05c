"""Play the tasks of a plan into a folder: each a run in a subfolder, and what the plan is beside.

``plan.toml`` is the plan as it was read, ``plan.json`` its identity. The same plan goes on in its
folder, whatever was stored and however it is written; another one is refused.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from milsim.errors import (
    InterruptedRunError,
    MilsimError,
    RunError,
    StoppedEarlyError,
    UsageError,
)
from milsim.files import read_text, reason_of, refuse_link, write_atomically
from milsim.simulation.grid import Grid, Task
from milsim.simulation.match_plan import MatchPlan
from milsim.store.collect import collect
from milsim.store.engines import Engine, Failure
from milsim.store.folder import PLAN_NAME, checked_folder, disk_errors
from milsim.store.lock import Shard
from milsim.store.manifest import MANIFEST_NAME
from milsim.store.match_collect import collect_matches
from milsim.store.match_run import MatchRun
from milsim.store.merging import merge_runs
from milsim.store.run import Run
from milsim.store.writing import Collecting, Ended, Progress

IDENTITY_NAME = "plan.json"
_MOST_BYTES = 10_000_000

Heard = Callable[[int, Task], None]
"""Told after each task that was played its place, from 0."""


@dataclass(slots=True)
class PlayedPlan:
    """The runs of a plan by the names of their tasks, as far as they are played.

    ``done`` are played, or of a shard its share of them; ``ended`` says why no further,
    ``failures`` what could not be played, task by task.
    """

    folder: Path
    tasks: tuple[Task, ...]
    runs: dict[str, Run | MatchRun] = field(default_factory=dict)
    done: int = 0
    ended: Ended = Ended.COMPLETE
    failures: dict[str, tuple[Failure, ...]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all tasks are played to their ends."""
        return len(self.runs) == len(self.tasks) and all(run.complete for run in self.runs.values())

    def check(self) -> None:
        """Raise an error with its exit code unless all was played that should be."""
        begun = sum(run.manifest.stored > 0 for run in self.runs.values()) - self.done
        others = (
            ""
            if begun <= 0
            else " and a part of another"
            if begun == 1
            else (f" and parts of {begun} others")
        )
        kept = (
            f"{self.done} of {len(self.tasks)} tasks{others}; they are saved in {self.folder}; the "
            "same command goes on"
        )
        if self.ended == Ended.INTERRUPTED:
            raise InterruptedRunError(f"interrupted after {kept}")
        if self.failures:
            name, (first, *_) = next(iter(self.failures.items()))
            count = sum(map(len, self.failures.values())) - 1
            more = f" and {count} ranges more" if count else ""
            raise StoppedEarlyError(f"could not play {first} of {name}{more}; {kept}")
        if self.ended == Ended.TIME:
            raise StoppedEarlyError(f"time was up after {kept}")


def play_plan(
    grid: Grid,
    folder: str | Path,
    how: Collecting | None = None,
    heard: Heard | None = None,
) -> PlayedPlan:
    """Play what the folder of a plan does not hold yet, task by task.

    A second call changes no byte.

    ``how.seconds`` are for all tasks together. If the workers of ``how.engine`` write the parts
    themselves, each task's go into its own folder. Of a shard (k, n) the parts of a task go to the
    shards in turn, and each task begins with the next shard, so that small tasks are shared, too.
    Raises :class:`~milsim.errors.RunError` if the folder holds anything else.
    """
    how = how or Collecting()
    path = begin_plan(grid, folder)
    ends = None if how.seconds is None else time.monotonic() + how.seconds
    played = PlayedPlan(path, grid.tasks)
    before = 0
    total = sum(task.count for task in grid.tasks)
    started = time.monotonic()
    for place, task in enumerate(grid.tasks):
        left = None if ends is None else ends - time.monotonic()
        if left is not None and left <= 0:
            played.ended = Ended.TIME
            break
        each = replace(
            how,
            engine=_into(how.engine, path / task.name),
            seconds=left,
            shard=shard_for(how.shard, place),
        )
        if how.progress is not None:
            report, done = how.progress, before

            def progress(
                one: Progress,
                report: Callable[[Progress], None] = report,
                done: int = done,
                task: Task = task,
            ) -> None:
                there = task.count - one.total  # stored already, or of other shards
                seconds = time.monotonic() - started
                report(Progress(done + there + one.done, total, seconds))

            each = replace(each, progress=progress)
        with disk_errors(path):
            refuse_link(path / task.name)
        try:
            collected = (
                collect_matches(task.plan, path / task.name, each)
                if isinstance(task.plan, MatchPlan)
                else collect(task.plan, path / task.name, each)
            )
        except MilsimError as error:
            raise type(error)(f"task {task.name}: {error}") from error
        before += task.count
        played.runs[task.name] = collected.run
        played.done += collected.ended == Ended.COMPLETE
        if collected.failures:
            played.failures[task.name] = collected.failures
        if heard is not None:
            heard(place, task)
        if collected.ended in (Ended.INTERRUPTED, Ended.TIME):
            played.ended = collected.ended
            break
    else:
        if played.failures:
            played.ended = Ended.FAILED
    return played


def _into(engine: Engine, folder: Path) -> Engine:
    """The engine for a task: if its workers write, then into the folder of the task."""
    if getattr(engine, "folder", None) is None:
        return engine
    found: Any = copy(engine)  # on the same connection
    found.folder = str(folder.resolve())
    return cast("Engine", found)


def shard_for(shard: Shard, place: int) -> Shard:
    """Which shard of a task is that of the plan, by the task's place.

    >>> [shard_for((2, 3), place) for place in range(4)]
    [(2, 3), (1, 3), (3, 3), (2, 3)]
    """
    k, n = shard
    return (k - 1 - place) % n + 1, n


def begin_plan(grid: Grid, folder: str | Path) -> Path:
    """The folder of a plan, after a look at what it holds; what the plan is is written into it."""
    path = checked_folder(folder)
    identity = grid.to_json()
    mark = f".{platform.node()}-{os.getpid()}"  # shards may begin at once
    with disk_errors(path):
        if path.exists() and not path.is_dir():
            raise RunError(f"out {path}: is a file; name a new or empty folder")
        # One look: another shard may be writing these files just now, the identity last.
        names = {each.name for each in path.iterdir()} if path.is_dir() else set()
        if MANIFEST_NAME in names:
            raise RunError(f"out {path}: holds a single run, not a plan; name another folder")
        if IDENTITY_NAME in names:
            if _identity(path) != identity:
                raise RunError(f"out {path}: holds runs of another plan; name another folder")
            return path
        if any(name != PLAN_NAME and not name.startswith(".") for name in names):
            raise RunError(f"out {path}: folder is not empty; name a new or empty one")
        path.mkdir(parents=True, exist_ok=True)
        if grid.text is not None:
            write_atomically(path / PLAN_NAME, grid.text.encode(), mark)
        write_atomically(path / IDENTITY_NAME, identity.encode(), mark)
    return path


def _identity(path: Path) -> str:
    try:
        text = read_text(path / IDENTITY_NAME, _MOST_BYTES)
        content = json.loads(text)
        if content["kind"] == "milsim plan" and isinstance(content["tasks"], dict):
            return text
    except OSError as error:
        raise RunError(f"out {path}: {IDENTITY_NAME}: {reason_of(error)}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise RunError(
        f"folder {path}: {IDENTITY_NAME} is torn, or not as milsim writes it; name another folder"
    )


def is_plan(folder: Path) -> bool:
    """Whether a folder holds the runs of a plan."""
    return (folder / IDENTITY_NAME).is_file() and not (folder / MANIFEST_NAME).exists()


def is_of_plan(path: Path) -> bool:
    """Whether a path is one of the files that say what a plan is."""
    return path.name in (PLAN_NAME, IDENTITY_NAME) and path.is_file()


def runs_in(paths: Sequence[Path]) -> list[Path]:
    """The folders of runs among paths: a plan's folder stands for its runs, its own files for none.

    So ``OUT`` and ``OUT/*`` are all runs of a plan.
    """
    found: list[Path] = []
    for path in paths:
        if is_of_plan(path):
            continue
        if is_plan(path):
            names = json.loads(_identity(path))["tasks"]
            found += [each for each in sorted(path.iterdir()) if each.name in names]
        else:
            found.append(path)
    return found


def not_begun(path: Path) -> list[str]:
    """The tasks of a plan's folder that have no folder of their own yet."""
    return [name for name in json.loads(_identity(path))["tasks"] if not (path / name).is_dir()]


def merge_plans(folders: Sequence[Path], out: str | Path) -> list[Run | MatchRun]:
    """Put shards of one plan together, task by task, as :func:`milsim.store.merging.merge_runs`."""
    path = checked_folder(out)
    identity = _identity(folders[0])
    for folder in folders:
        if not is_plan(folder):
            raise RunError(f"run {folder}: is no folder of a plan, as {folders[0]} is")
        if _identity(folder) != identity:
            raise RunError(f"run {folder}: is of another plan than {folders[0]}")
        if folder.resolve() == path.resolve():
            raise UsageError(f"out {path}: is one of the runs; name another folder")
    with disk_errors(path):
        if path.exists() and not is_plan(path) and any(path.iterdir()):
            raise RunError(f"out {path}: is not an empty folder; name a new one")
        if is_plan(path) and _identity(path) != identity:
            raise RunError(f"out {path}: holds runs of another plan; name another folder")
        path.mkdir(parents=True, exist_ok=True)
        text = folders[0] / PLAN_NAME
        if text.is_file() and not (path / PLAN_NAME).exists():
            write_atomically(path / PLAN_NAME, text.read_bytes())
        write_atomically(path / IDENTITY_NAME, identity.encode())
    merged = []
    for name in json.loads(identity)["tasks"]:
        # Names are those of folders that are there: nothing in the file leads out of them.
        there = [each for folder in folders for each in folder.iterdir() if each.name == name]
        if there:
            with disk_errors(path):
                refuse_link(path / there[0].name)
            merged.append(merge_runs(there, path / there[0].name))
    return merged


__all__ = [
    "IDENTITY_NAME",
    "PlayedPlan",
    "begin_plan",
    "is_of_plan",
    "is_plan",
    "merge_plans",
    "not_begun",
    "play_plan",
    "runs_in",
    "shard_for",
]
