"""Parts: the Parquet files of a run, written whole, checked against what the manifest says."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from milsim.errors import RunError
from milsim.files import write_atomically

HASH_UP_TO_BYTES = 2_000_000_000
"""Parts are hashed on opening up to this total; beyond, only their sizes are compared."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a run: its name, its first index, its rows, size and SHA-256.

    The index is that of the plan: a deal of a run of deals, a match of a run of matches.
    """

    name: str
    start: int
    rows: int
    size: int
    sha256: str


def write_part(folder: Path, start: int, rows: pl.DataFrame) -> Part:
    """Write rows as the part that begins at this index: all of it or nothing."""
    name = _name_of(start)
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd", compression_level=1, statistics=True)
    content = buffer.getvalue()
    write_atomically(folder / name, content)
    return Part(name, start, rows.height, len(content), hashlib.sha256(content).hexdigest())


def _name_of(start: int) -> str:
    return f"part-{start:012d}.parquet"


def scan(folder: Path, parts: Sequence[Part], schema: pl.Schema) -> pl.LazyFrame:
    """The rows of parts as a LazyFrame, in no promised order."""
    if not parts:
        return pl.LazyFrame(schema=schema)
    # Absolute and no patterns: a folder may be called "a*", "[x" or "~".
    sources = [source_of((folder / part.name).resolve()) for part in parts]
    return pl.scan_parquet(sources, schema=schema, glob=False)  # type: ignore[arg-type]


def source_of(path: Path) -> Path | bytes:
    """A file as polars takes it: by its name, or read if that is no UTF-8, which polars needs."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return path


def check_parts(
    run: Path, folder: Path, parts: Sequence[Part], schema: pl.Schema, *, unfinished: int | None
) -> None:
    """Compare the parts in a folder of a run with its manifest.

    ``unfinished`` is where the next part of a run begins that was killed, or is still playing: its
    part may be there before the manifest says so, and does not count. Raises
    :class:`~milsim.errors.RunError` at the first part that is missing, torn, empty, changed or
    foreign, and if there are more or fewer rows than the manifest says.
    """
    total = sum(part.size for part in parts)
    for part in parts:
        _check_part(folder / part.name, part, hashed=total <= HASH_UP_TO_BYTES)
    if total <= HASH_UP_TO_BYTES and parts:
        found = scan(folder, parts, schema).select(pl.len()).collect().item()
        told = sum(part.rows for part in parts)
        if found != told:
            raise RunError(f"run {run}: {found} rows on disk, not {told}")
    known = {part.name for part in parts}
    if unfinished is not None:
        known.add(_name_of(unfinished))
    on_disk = folder.iterdir() if folder.is_dir() else ()
    foreign = sorted(
        path.name for path in on_disk if path.suffix == ".parquet" and path.name not in known
    )
    if foreign:
        raise RunError(f"run {run}: {foreign[0]} is not in the manifest; remove it")


def _check_part(path: Path, part: Part, *, hashed: bool) -> None:
    try:
        size = path.stat().st_size
    except OSError:
        raise RunError(f"part {path}: missing; play the run again") from None
    if size != part.size:
        kind = "empty" if size == 0 else "torn or changed"
        raise RunError(f"part {path}: {kind}, {size} bytes, not {part.size}; play the run again")
    if hashed:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != part.sha256:
            raise RunError(f"part {path}: content differs from the manifest; play the run again")


def check_starts(
    run: Path, parts: Sequence[Part], lengths: Sequence[int], start: int, unit: str
) -> None:
    """Raise RunError unless each part begins where the one before ends; lengths in units."""
    following = start
    for part, length in zip(parts, lengths, strict=True):
        if part.start != following:
            raise RunError(f"run {run}: {part.name} starts at {unit} {part.start}, not {following}")
        following += length
