"""Play a plan into a run folder: chunks in, parts out, in the order of the deal index.

Parts end at fixed deal indices (multiples of PART_DEALS), so their bytes do not depend on threads
or chunks. A part is written under a hidden name, synced and renamed; then the manifest follows. A
process killed at any moment leaves a folder that reads as far as its manifest goes.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import polars as pl

from milsim.errors import RunError, UsageError, quote
from milsim.files import reason_of, write_atomically
from milsim.simulation.columns import COLUMNS
from milsim.simulation.engine import Chunk, play
from milsim.simulation.interrupt import Interrupts
from milsim.simulation.plan import Plan
from milsim.store.manifest import POLICY, Manifest, P
from milsim.store.parts import write_part
from milsim.store.run import PARTS_FOLDER, Run
from milsim.store.schema import SCHEMA, SCHEMA_WITH_DD

PART_DEALS = 1 << 18
PLAN_NAME = "plan.toml"

C = TypeVar("C")
"""A chunk: the results of consecutive indices of a plan, as an engine hands them out."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a simulation is: deals played of deals planned, and seconds since its start."""

    done: int
    total: int
    seconds: float


Report = Callable[[Progress], None]


def collect(
    plan: Plan, folder: str | Path, *, threads: int | None = None, progress: Report | None = None
) -> Run:
    """Play all deals of a plan and store them; returns the run, opened.

    On Ctrl-C what is finished is stored; the returned run then is not ``complete``. A second
    Ctrl-C stops at once, with the parts written so far. Raises
    :class:`~milsim.errors.RunError` if the folder is not empty or cannot be written.
    """
    if not isinstance(folder, str | Path) or not str(folder):
        raise UsageError(f"out: {quote(folder)} is no folder's name")
    layout: Layout[Chunk] = Layout(
        start=plan.start,
        count=plan.deals,
        part=PART_DEALS,
        folders=(PARTS_FOLDER,),
        span=lambda chunk: (chunk.start, chunk.rows),
        frames=lambda chunks: (_frame(chunks),),
    )
    path = checked_folder(folder)
    manifest = write_run(
        plan, path, layout, lambda stop: play(plan, threads=threads, stop=stop), progress
    )
    return Run(path, manifest)


# -- for runs of any kind ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout(Generic[C]):
    """How the chunks of a run become parts.

    Indices ``start … start + count - 1`` are played; parts end at multiples of ``part``. ``span``
    is the first index of a chunk and how many it holds; ``frames`` makes the rows of one part of
    its chunks, in the order of ``folders``, which they go into.
    """

    start: int
    count: int
    part: int
    folders: tuple[str, ...]
    span: Callable[[C], tuple[int, int]]
    frames: Callable[[list[C]], tuple[pl.DataFrame, ...]]


def checked_folder(folder: object) -> Path:
    """The path of a run folder to be; raises UsageError for what is no folder's name."""
    if not isinstance(folder, str | Path) or not str(folder):
        raise UsageError(f"out: {quote(folder)} is no folder's name")
    return Path(folder)


def write_run(
    plan: P,
    path: Path,
    layout: Layout[C],
    begin: Callable[[Callable[[], bool]], Iterator[C]],
    progress: Report | None,
) -> Manifest[P]:
    """Play a plan into a folder, part by part, and return its manifest.

    ``begin`` checks the plan, makes ready and returns the chunks; it is given the question whether
    Ctrl-C was pressed. Raises RunError if the folder is not empty or cannot be written.
    """
    with _disk_errors(path):
        _check_empty(path)
        interrupts = Interrupts()
        # What the plan or the kernels cannot do must show before the folder is touched.
        played = begin(interrupts.asked)
        for folder in layout.folders:
            (path / folder).mkdir(parents=True)
        write_atomically(path / PLAN_NAME, plan.to_toml().encode())
        manifest: Manifest[P] = _new_manifest(plan)
        manifest.write(path)
        started = time.monotonic()
        with interrupts:
            chunks = _reported(played, layout, started, progress)
            for start, frames in _by_part(chunks, layout):
                parts = [
                    write_part(path / folder, start, rows)
                    for folder, rows in zip(layout.folders, frames, strict=True)
                ]
                manifest = manifest.with_parts(*parts)
                manifest.write(path)
        manifest = replace(manifest, status="complete" if manifest.left == 0 else "interrupted")
        manifest.write(path)
    return manifest


def _check_empty(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise RunError(f"out {path}: is a file; name a new or empty folder")
    if path.exists() and any(path.iterdir()):
        raise RunError(f"out {path}: folder is not empty; name a new or empty one")


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = reason_of(error)
        raise RunError(f"out {path}: cannot write, {reason}; name another folder") from error


def _new_manifest(plan: P) -> Manifest[P]:
    from milsim._jit import kernel_digest
    from milsim.policies.origins import origins
    from milsim.rng import RNG_SCHEME

    return Manifest(
        plan=plan,
        status="running",
        versions={
            "milsim": version("milsim"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numba", "numpy", "polars")},
            **{f"{POLICY}{name}": text for name, text in origins(plan.policies).items()},
        },
        rng=RNG_SCHEME,
        kernels=kernel_digest(),
        parts=(),
    )


def _reported(
    chunks: Iterator[C], layout: Layout[C], started: float, progress: Report | None
) -> Iterator[C]:
    done = 0
    for chunk in chunks:
        done += layout.span(chunk)[1]
        if progress is not None:
            progress(Progress(done, layout.count, time.monotonic() - started))
        yield chunk


def _by_part(
    chunks: Iterator[C], layout: Layout[C]
) -> Iterator[tuple[int, tuple[pl.DataFrame, ...]]]:
    """Join chunks into the rows of whole parts; the last part may be shorter."""
    held: list[C] = []
    for chunk in chunks:
        held.append(chunk)
        start, count = layout.span(chunk)
        end = start + count
        if end % layout.part == 0 or end == layout.start + layout.count:
            yield layout.span(held[0])[0], layout.frames(held)
            held = []
    if held:
        yield layout.span(held[0])[0], layout.frames(held)


def _frame(chunks: list[Chunk]) -> pl.DataFrame:
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
