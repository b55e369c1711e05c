"""Parts: the Parquet files of a run, written whole, checked against what stands beside them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from milsim.errors import RunError
from milsim.files import write_atomically
from milsim.store.schema import ColumnNote, schema_of

HASH_UP_TO_BYTES = 2_000_000_000
"""Parts are hashed on opening up to this total; beyond, only their sizes are compared."""
_NO_INDEX = (1 << 63) - 1
_READ_AT_ONCE = 1 << 20  # several times as quick for the small parts of long runs


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

    @classmethod
    def of(cls, start: int, rows: int, content: bytes) -> Part:
        """The part that begins at an index, of the bytes of its file."""
        return cls(name_of(start), start, rows, len(content), hashlib.sha256(content).hexdigest())


def part_bytes(rows: pl.DataFrame) -> bytes:
    """The bytes of a part with these rows."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd", compression_level=1, statistics=True)
    return buffer.getvalue()


def write_part(folder: Path, start: int, rows: pl.DataFrame) -> Part:
    """Write rows as the part that begins at this index: all of it or nothing."""
    content = part_bytes(rows)
    part = Part.of(start, rows.height, content)
    write_atomically(folder / part.name, content)
    return part


def name_of(start: int) -> str:
    """The name of the part that begins at an index.

    >>> name_of(5)
    'part-000000000005.parquet'
    """
    return f"part-{start:012d}.parquet"


class RowsError(RunError):
    """Rows that no run can hold; polars adds where it asked for them, which nobody needs."""

    def __init__(self, message: str) -> None:
        """The error with the first line of a message."""
        super().__init__(message.partition("\n")[0])


def scan(folder: Path, parts: Sequence[Part], notes: Sequence[ColumnNote]) -> pl.LazyFrame:
    """The rows of parts as a LazyFrame, in no promised order.

    Columns that are asked for are looked at as they are read: a value that is missing, or not
    between the bounds of its note, raises :class:`~milsim.errors.RunError`.
    """
    if not parts:
        return pl.LazyFrame(schema=schema_of(notes))
    return _scanned(folder, parts, notes).with_columns(
        pl.col(note.name).map_batches(
            partial(_looked_at, note=note, folder=folder),
            return_dtype=note.dtype,
            is_elementwise=True,
        )
        for note in notes
    )


def _scanned(folder: Path, parts: Sequence[Part], notes: Sequence[ColumnNote]) -> pl.LazyFrame:
    # Absolute and no patterns: a folder may be called "a*", "[x" or "~".
    sources = [source_of((folder / part.name).resolve()) for part in parts]
    return pl.scan_parquet(sources, schema=schema_of(notes), glob=False)  # type: ignore[arg-type]


def _looked_at(values: pl.Series, note: ColumnNote, folder: Path) -> pl.Series:
    """The values, if a run can hold them."""
    least, most = (values.min(), values.max()) if len(values) else (None, None)
    wrong = (
        values.null_count() > 0
        or (note.least is not None and isinstance(least, int) and least < note.least)
        or (note.most is not None and isinstance(most, int) and most > note.most)
    )
    if wrong:
        raise RowsError(
            f"parts {folder}: column {note.name} holds what no run can hold; milsim runs verify "
            "looks at all of them"
        )
    return values


def source_of(path: Path) -> Path | bytes:
    """A file as polars takes it: by its name, or read if that is no UTF-8, which polars needs."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return path


def check_parts(
    run: Path, folder: Path, parts: Sequence[Part], notes: Sequence[ColumnNote], *, complete: bool
) -> None:
    """Compare the parts in a folder of a run with what was written beside them.

    In a run that is not ``complete`` a file that nothing tells of may be what a killed process
    left, or another is writing: it does not count. Raises :class:`~milsim.errors.RunError` at the
    first part that is missing, torn, empty, changed or foreign, if there are more or fewer rows
    than are told of, and if they have other columns.
    """
    total = sum(part.size for part in parts)
    for part in parts:
        fault = fault_of(folder / part.name, part, hashed=total <= HASH_UP_TO_BYTES)
        if fault is not None:
            raise RunError(f"part {folder / part.name}: {fault}; play the run again")
    if total <= HASH_UP_TO_BYTES and parts:
        _check_columns(run, folder, parts, notes)
    twice = len(parts) - len({part.sha256 for part in parts})
    if twice:
        raise RunError(f"run {run}: {twice} of its parts hold what others hold; play the run again")
    if complete:
        known = {part.name for part in parts}
        foreign = sorted({path.name for path in folder.glob("*.parquet")} - known)
        if foreign:
            raise RunError(f"run {run}: {foreign[0]} is none of its parts; remove it")


def _check_columns(
    run: Path, folder: Path, parts: Sequence[Part], notes: Sequence[ColumnNote]
) -> None:
    """Compare the columns and the number of the rows; what is in them is not looked at."""
    rows = _scanned(folder, parts, notes)
    try:
        found = rows.select(pl.len()).collect().item()
        # That no row is asked for shows in what Parquet says of itself: only the columns are read.
        rows.filter(pl.col(notes[0].name) > _NO_INDEX).collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = " ".join(str(error).partition("\n")[0].split())[:120]
        raise RunError(f"run {run}: its parts are not as milsim writes them: {reason}") from None
    told = sum(part.rows for part in parts)
    if found != told:
        raise RunError(f"run {run}: {found} rows on disk, not {told}")


def fault_of(path: Path, part: Part, *, hashed: bool) -> str | None:
    """What is wrong with the file of a part, or None; its content is read only if ``hashed``."""
    if part.rows > part.size:
        # Cards alone take four bytes: who reads it would need far more memory than it has bytes.
        return f"{part.rows:,} rows in {part.size:,} bytes, more than any part has"
    try:
        size = path.stat().st_size
        if size != part.size:
            kind = "empty" if size == 0 else "torn or changed"
            return f"{kind}, {size} bytes, not {part.size}"
        if hashed:
            if size <= _READ_AT_ONCE:
                digest = hashlib.sha256(path.read_bytes())
            else:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256")
            if digest.hexdigest() != part.sha256:
                return "content differs from its digest"
    except OSError:
        return "missing"
    return None
