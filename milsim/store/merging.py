"""Shards put together, and many small parts made few large ones."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from milsim.errors import RunError, UsageError
from milsim.files import reason_of, write_atomically
from milsim.simulation.plan import Plan, whole_number
from milsim.store.folder import begin_folder, checked_folder, disk_errors, known_manifest
from milsim.store.lock import locked, sweep
from milsim.store.manifest import (
    Manifest,
    has_rule,
    read_manifest,
)
from milsim.store.match_collect import making_of
from milsim.store.match_run import MatchRun, open_any
from milsim.store.parts import Part, fault_of, part_bytes
from milsim.store.pieces import Piece
from milsim.store.prefix import apply_rule
from milsim.store.run import Run

COMPACT_ROWS = 1 << 22


def merge_runs(runs: Sequence[str | Path], out: str | Path) -> Run | MatchRun:
    """Put shards of one run together in a folder; the order in which they are given does not count.

    The folder is new, or holds some of the run already, as after a merge that was killed: the same
    call goes on. Its files are those that one process would have written: a rule to stop by is
    applied, and what lies behind the end is left out. Raises :class:`~milsim.errors.RunError` if a
    run is of another plan or was played by other code, if two hold the same deals, or a file is not
    what was written.
    """
    if not runs:
        raise UsageError("runs: none given; name the folders of the shards")
    path = checked_folder(out)
    shards = [(Path(folder), read_manifest(Path(folder))) for folder in runs]
    first_path, first = shards[0]
    identity: Manifest[Any] = replace(first, pieces=())
    for each, manifest in shards:
        if each.resolve() == path.resolve():
            raise UsageError(f"out {path}: is one of the runs; name another folder")
        if manifest.plan.digest() != first.plan.digest():
            raise RunError(f"run {each}: is of another plan than {first_path}")
        if replace(manifest, pieces=()).to_json() != identity.to_json():
            raise RunError(f"run {each}: was played by other code than {first_path}")
    with disk_errors(path):
        there, _ = known_manifest(identity, path)
    held = [(each, piece) for each, manifest in shards for piece in manifest.pieces]
    # What a merge before this one brought is looked at again, and left as it is.
    known = set(there.pieces) if there is not None else set()
    held += [(path, piece) for piece in known.difference(piece for _, piece in held)]
    held.sort(key=lambda item: item[1].start)
    for (one, before), (other, piece) in itertools.pairwise(held):
        if piece.start < before.end:
            both = f"{piece.start}–{min(piece.end, before.end) - 1}"
            raise RunError(f"runs {one} and {other}: both hold {both}; leave one of them out")
    making = making_of(first.plan)
    folders = making.folders
    with disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        with locked(path):
            sweep(path, folders)
            begin_folder(identity, path, folders)
            for source, piece in held:
                if source != path:
                    _copy(source, path, folders, piece)
                    if piece not in known:
                        piece.write(path / folders[0])
            if isinstance(first.plan, Plan) and first.plan.stop is not None:
                apply_rule(making, path, [piece for _, piece in held])
    return open_any(path)


def _copy(source: Path, path: Path, folders: Sequence[str], piece: Piece) -> None:
    for folder, part in zip(folders, piece.parts, strict=True):
        origin = source / folder / part.name
        if fault_of(path / folder / part.name, part, hashed=True) is None:
            continue
        try:
            # One of another size may be without end: it is not read.
            whole = origin.stat().st_size == part.size
            content = origin.read_bytes() if whole else b""
        except OSError as error:
            raise RunError(f"part {origin}: {reason_of(error)}") from None
        if hashlib.sha256(content).hexdigest() != part.sha256:
            raise RunError(f"part {origin}: is torn or changed; play that shard again")
        write_atomically(path / folder / part.name, content)


def compact_run(run: str | Path, out: str | Path, *, rows: int = COMPACT_ROWS) -> Run | MatchRun:
    """Write a run once more with neighbouring parts joined, up to so many rows in each.

    The rows are the same, in fewer and larger files. The folder is new, or was begun by the same
    call, which goes on. Raises :class:`~milsim.errors.RunError` for a run that is not as it was
    written, and for a folder that holds anything else.
    """
    whole_number("rows", rows, 1, 1 << 30)
    source, path = Path(run), checked_folder(out)
    opened = open_any(source)
    manifest: Manifest[Any] = opened.manifest
    folders = making_of(manifest.plan).folders
    if has_rule(manifest.plan) and not manifest.complete:
        raise RunError(
            f"run {source}: its rule to stop by was not applied yet; play it to its end, or merge "
            "its shards first"
        )
    identity: Manifest[Any] = replace(manifest, pieces=(), ending=None)
    groups = list(_groups(manifest.pieces, rows))
    wanted = {(group[0].start, sum(piece.count for piece in group)) for group in groups}
    with disk_errors(path):
        there, _ = known_manifest(identity, path)
        known = {(piece.start, piece.count): piece for piece in (there.pieces if there else ())}
        if path.resolve() == source.resolve() or not wanted.issuperset(known):
            raise RunError(f"out {path}: holds parts of other sizes; name a new or empty folder")
        path.mkdir(parents=True, exist_ok=True)
        with locked(path):
            sweep(path, folders)
            begin_folder(identity, path, folders)
            for group in groups:
                piece = known.get((group[0].start, sum(each.count for each in group)))
                if piece is None or not _is_whole(path, folders, piece):
                    _join(source, path, folders, group)
            if manifest.ending is not None:
                manifest.ending.write(path)
    return open_any(path)


def _is_whole(path: Path, folders: Sequence[str], piece: Piece) -> bool:
    parts = zip(folders, piece.parts, strict=True)
    return all(fault_of(path / name / part.name, part, hashed=True) is None for name, part in parts)


def _groups(pieces: Sequence[Piece], rows: int) -> Iterator[list[Piece]]:
    held: list[Piece] = []
    size = 0
    for piece in pieces:
        larger = size + piece.parts[0].rows
        if held and (held[-1].end != piece.start or larger > rows):
            yield held
            held, larger = [], piece.parts[0].rows
        held.append(piece)
        size = larger
    if held:
        yield held


def _join(source: Path, path: Path, folders: Sequence[str], group: list[Piece]) -> None:
    start, count = group[0].start, sum(piece.count for piece in group)
    parts = []
    for place, folder in enumerate(folders):
        files = [(source / folder / piece.parts[place].name).resolve() for piece in group]
        frame = pl.concat([pl.read_parquet(file, glob=False) for file in files])
        content = part_bytes(frame)
        part = Part.of(start, frame.height, content)
        write_atomically(path / folder / part.name, content)
        parts.append(part)
    Piece(group[0].plan, start, count, tuple(parts)).write(path / folders[0])


__all__ = ["COMPACT_ROWS", "compact_run", "merge_runs"]
