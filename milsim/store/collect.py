"""Play a plan into a run folder: chunks in, parts out, in the order of the deal index.

Parts end at fixed deal indices (multiples of PART_DEALS), so their bytes do not depend on threads
or chunks. A part is written under a hidden name, synced and renamed; then the manifest follows. A
process killed at any moment leaves a folder that reads as far as its manifest goes.
"""

from __future__ import annotations

import hashlib
import io
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

from milsim.errors import RunError, UsageError, quote
from milsim.files import reason_of, write_atomically
from milsim.simulation.columns import COLUMNS
from milsim.simulation.engine import Chunk, play
from milsim.simulation.interrupt import Interrupts
from milsim.simulation.plan import Plan
from milsim.store.manifest import Manifest, Part
from milsim.store.run import PARTS_FOLDER, Run
from milsim.store.schema import SCHEMA, SCHEMA_WITH_DD

PART_DEALS = 1 << 18
PLAN_NAME = "plan.toml"


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
    path = Path(folder)
    with _disk_errors(path):
        _check_empty(path)
        interrupts = Interrupts()
        # What the plan or the kernels cannot do must show before the folder is touched.
        played = play(plan, threads=threads, stop=interrupts.asked)
        (path / PARTS_FOLDER).mkdir(parents=True)
        write_atomically(path / PLAN_NAME, plan.to_toml().encode())
        manifest = _new_manifest(plan)
        manifest.write(path)
        started = time.monotonic()
        with interrupts:
            chunks = _reported(played, plan, started, progress)
            for part_start, rows in _by_part(chunks, plan):
                part = _write_part(path, part_start, rows)
                manifest = replace(manifest, parts=(*manifest.parts, part))
                manifest.write(path)
        status = "complete" if manifest.rows == plan.deals else "interrupted"
        manifest = replace(manifest, status=status)
        manifest.write(path)
    return Run(path, manifest)


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


def _new_manifest(plan: Plan) -> Manifest:
    from milsim._jit import kernel_digest
    from milsim.rng import RNG_SCHEME

    return Manifest(
        plan=plan,
        status="running",
        versions={
            "milsim": version("milsim"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numba", "numpy", "polars")},
        },
        rng=RNG_SCHEME,
        kernels=kernel_digest(),
        parts=(),
    )


def _reported(
    chunks: Iterator[Chunk], plan: Plan, started: float, progress: Report | None
) -> Iterator[Chunk]:
    done = 0
    for chunk in chunks:
        done += chunk.rows
        if progress is not None:
            progress(Progress(done, plan.deals, time.monotonic() - started))
        yield chunk


def _by_part(chunks: Iterator[Chunk], plan: Plan) -> Iterator[tuple[int, pl.DataFrame]]:
    """Join chunks into the rows of whole parts; the last part may be shorter."""
    held: list[Chunk] = []
    for chunk in chunks:
        held.append(chunk)
        end = chunk.start + chunk.rows
        if end % PART_DEALS == 0 or end == plan.start + plan.deals:
            yield held[0].start, _frame(held)
            held = []
    if held:
        yield held[0].start, _frame(held)


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


def _write_part(folder: Path, start: int, rows: pl.DataFrame) -> Part:
    name = f"part-{start:012d}.parquet"
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd", compression_level=1, statistics=True)
    content = buffer.getvalue()
    write_atomically(folder / PARTS_FOLDER / name, content)
    return Part(name, start, rows.height, len(content), hashlib.sha256(content).hexdigest())
