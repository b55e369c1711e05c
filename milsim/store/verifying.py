"""Read a whole run again: is every file as it was written, and do its deals play out as stored?

Nothing is taken on trust: each part is hashed and decoded, its indices are counted, and a random
sample of its rows is played once more and compared column by column.
"""

from __future__ import annotations

import hashlib
import io
import random
import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from milsim.files import reason_of
from milsim.simulation.match_plan import MatchPlan
from milsim.store.ending import ENDING_NAME
from milsim.store.engines import Making
from milsim.store.folder import PLAN_NAME, is_plan_of, new_manifest
from milsim.store.manifest import MATCHES_FOLDER, Manifest, has_rule, read_identity, stored_manifest
from milsim.store.match_collect import making_of
from milsim.store.match_schema import deal_schema, match_schema
from milsim.store.parts import Part
from milsim.store.pieces import Fault, Piece, gaps, once_more
from milsim.store.prefix import Prefix
from milsim.store.schema import SCHEMA, SCHEMA_WITH_DD

SAMPLE = 500
"""Indices that are played again, spread over the run in short ranges."""
_TOGETHER = 4
_PART = re.compile(r"part-(\d{12,19})\.parquet", re.ASCII)


@dataclass(slots=True)
class Verification:
    """What a run's files are found to be.

    ``rows`` of all parts that are sound; ``replayed`` indices were played again; ``left`` of the
    plan are not stored, which is no fault; ``notes`` say what could not be looked at.
    """

    folder: Path
    pieces: int = 0
    rows: int = 0
    replayed: int = 0
    left: int = 0
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "run": str(self.folder),
            "parts": self.pieces,
            "rows": self.rows,
            "replayed": self.replayed,
            "left": self.left,
            "faults": [
                {"kind": each.kind, "path": str(each.path), "words": each.words}
                for each in self.faults
            ],
            "notes": self.notes,
        }


def verify_run(folder: str | Path, *, sample: int = SAMPLE, seed: int = 1) -> Verification:
    """Read a run of either kind wholly, and play ``sample`` of its deals or matches again.

    All faults are found, not only the first. Raises :class:`~milsim.errors.RunError` only if the
    manifest itself cannot be read.
    """
    path = Path(folder)
    manifest = read_identity(path)
    making = making_of(manifest.plan)
    found = Verification(path)
    told, found.faults = stored_manifest(path, manifest)
    if not is_plan_of(manifest, path):
        kind = "changed" if (path / PLAN_NAME).exists() else "missing"
        words = "is not this run's; the same command writes it again"
        found.faults.append(Fault(kind, path / PLAN_NAME, words))
    pieces = [piece for piece in told.pieces if _is_sound(piece, making, found)]
    _strangers(path, making, making.first + told.until, pieces, found)
    found.pieces = len(pieces)
    found.left = sum(count for _, count in gaps(making.first, told.until, pieces))
    if has_rule(manifest.plan):
        _ending(making, told, pieces, found)
    if sample and pieces:
        _replay(making, manifest, pieces, sample, seed, found)
    return found


def _is_sound(piece: Piece, making: Making[Any], found: Verification) -> bool:
    """Hash and decode the files of a piece, and count their rows and indices."""
    sound = True
    for folder, part, (schema, index) in zip(
        making.folders, piece.parts, _schemas(making), strict=True
    ):
        path = found.folder / folder / part.name
        fault = _fault_of_file(path, part, schema, index, piece)
        if fault is None:
            found.rows += part.rows
        else:
            found.faults.append(fault)
            sound = False
    return sound


def _schemas(making: Making[Any]) -> list[tuple[pl.Schema, str]]:
    """The columns of a file in each folder, and the one that holds the index of the plan."""
    plan = making.plan
    if isinstance(plan, MatchPlan):
        players = plan.rules.deal.players
        return [(deal_schema(players), "match"), (match_schema(players), "match")]
    return [(SCHEMA if plan.dd == "off" else SCHEMA_WITH_DD, "index")]


def _fault_of_file(
    path: Path, part: Part, schema: pl.Schema, index: str, piece: Piece
) -> Fault | None:
    try:
        size = path.stat().st_size
        # A file that is not as long as it was written is not read: it may be without end.
        content = path.read_bytes() if size == part.size else b""
    except OSError as error:
        return Fault("missing", path, reason_of(error))
    if not size:
        return Fault("empty", path, f"no bytes, not {part.size:,}")
    if len(content) != part.size:
        return Fault("torn", path, f"{size:,} bytes, not {part.size:,}")
    if hashlib.sha256(content).hexdigest() != part.sha256:
        return Fault("changed", path, "content differs from its digest")
    try:
        held = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        if held != part.rows or held > part.size:  # what unpacks to much is not unpacked
            return Fault("changed", path, "its rows are not those of this run")
        rows = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        return Fault("torn", path, " ".join(str(error).split())[:100])
    if rows.schema != schema or any(rows.null_count().row(0)):
        return Fault("changed", path, "its columns or rows are not those of this run")
    indices = rows[index].unique(maintain_order=True)
    whole = pl.int_range(piece.start, piece.end, dtype=pl.UInt64, eager=True)
    if not indices.cast(pl.UInt64).equals(whole.alias(index)):
        return Fault("changed", path, f"its column {index} does not go from {piece.start}")
    return None


def _ending(
    making: Making[Any], told: Manifest[Any], pieces: list[Piece], found: Verification
) -> None:
    """Count from the first deal on, checkpoint by checkpoint: does the run end where it says?"""
    path = found.folder / ENDING_NAME
    ending = Prefix(making, found.folder, pieces).look()
    if told.ending is None:
        if ending is not None:
            found.notes.append(
                f"the rule {making.plan.stop} is not applied yet: runs merge, or the command that "
                "played it without --shard, does it"
            )
        return
    if ending is not None and ending != told.ending:
        found.faults.append(
            Fault(
                "wrong",
                path,
                f"counted anew, the run ends before deal {ending.end}, with "
                f"{ending.made:,} contracts made; remove it, and the same command mends it",
            )
        )
    for piece in pieces:
        if piece.end > told.ending.end:
            where = found.folder / making.folders[0] / piece.parts[0].name
            found.faults.append(Fault("foreign", where, "lies behind the end of the run"))


def _strangers(
    path: Path, making: Making[Any], end: int, pieces: list[Piece], found: Verification
) -> None:
    """Files that nothing tells of, and the same content twice."""
    held = [range(piece.start, piece.end) for piece in pieces]

    def told(each: Path) -> Fault:
        name = _PART.fullmatch(each.name)
        start = int(name[1]) if name else -1
        place = bisect_right(held, start, key=lambda some: some.start) - 1
        if making.first <= start < end and (place < 0 or start not in held[place]):
            words = "nothing stands beside it, as a kill may leave it; the same command plays it"
            return Fault("unfinished", each, words)
        return Fault("foreign", each, "is none of the run's parts; remove it")

    accused = {fault.path for fault in found.faults}
    if not has_rule(making.plan) and (path / ENDING_NAME).exists():
        words = "the run has no rule to stop by; remove it"
        found.faults.append(Fault("foreign", path / ENDING_NAME, words))
    for each in (path / folder for folder in making.folders):
        if each.is_symlink() or (each.exists() and not each.is_dir()):
            found.faults.append(Fault("foreign", each, "is no folder; remove it"))
    if MATCHES_FOLDER not in making.folders and (path / MATCHES_FOLDER).exists():
        words = "is of no run of deals; remove it"
        found.faults.append(Fault("foreign", path / MATCHES_FOLDER, words))
    for place, folder in enumerate(making.folders):
        known = {piece.parts[place].name for piece in pieces}
        for each in sorted((path / folder).glob("*")):
            beside = (path / making.folders[0] / each.name).with_suffix(".json")
            is_part = each.suffix == ".parquet" and each.name not in known
            if is_part and each not in accused and beside not in accused:
                found.faults.append(told(each))
    for piece in once_more(pieces):
        path_of = path / making.folders[0] / piece.parts[0].name
        found.faults.append(Fault("duplicated", path_of, "holds what another part holds, too"))


def _replay(
    making: Making[Any],
    manifest: Manifest[Any],
    pieces: list[Piece],
    sample: int,
    seed: int,
    found: Verification,
) -> None:
    """Play some indices again and compare all columns."""
    fresh = new_manifest(making.plan)
    if replace(manifest, versions={}) != replace(fresh, versions={}):
        found.notes.append(
            "no row was played again: the run was made by other kernels than this milsim has"
        )
        return
    draw = random.Random(f"{making.plan.digest()}/{seed}")
    making.ready()
    weights = [piece.count for piece in pieces]
    chosen: dict[Piece, set[int]] = {}
    for piece in draw.choices(pieces, weights, k=max(1, sample // _TOGETHER)):
        # Ranges begin at every fourth index, so that none is played twice.
        place = draw.randrange(piece.count) // _TOGETHER * _TOGETHER
        chosen.setdefault(piece, set()).add(piece.start + place)
    for piece, starts in sorted(chosen.items(), key=lambda item: item[0].start):
        stored = _stored(found.folder, making, piece)
        for start in sorted(starts):
            count = min(_TOGETHER, piece.end - start)
            played = making.frames([making.play(start, count)])
            for frame, rows, (_, index) in zip(played, stored, _schemas(making), strict=True):
                some = rows.filter(pl.col(index).is_between(start, start + count, closed="left"))
                if not some.equals(frame):
                    path = found.folder / making.folders[0] / piece.parts[0].name
                    words = f"played again, {index} {start} to {start + count - 1} differ"
                    found.faults.append(Fault("wrong", path, words))
                    break
            found.replayed += count


def _stored(path: Path, making: Making[Any], piece: Piece) -> list[pl.DataFrame]:
    return [
        pl.read_parquet((path / folder / part.name).resolve(), glob=False)
        for folder, part in zip(making.folders, piece.parts, strict=True)
    ]


__all__ = ["SAMPLE", "Verification", "verify_run"]
