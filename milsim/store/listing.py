"""The runs in some folders, with what their manifests say.

Of the parts only the sizes are looked at: what is missing or torn is not counted as stored.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milsim.errors import RunError
from milsim.files import reason_of
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store.manifest import (
    MANIFEST_NAME,
    MATCHES_FOLDER,
    PARTS_FOLDER,
    Manifest,
    read_manifest,
)
from milsim.store.parts import fault_of

MOST_DEPTH = 6


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a line: ``fault`` says why it cannot be read, else it is empty.

    ``unit`` is deals or matches, ``stored`` of ``planned`` are there; ``size`` in bytes.
    ``complete`` says whether that is all; ``stopped`` why it is, where a rule ended the run before.
    """

    folder: str
    unit: str = ""
    stored: int = 0
    planned: int = 0
    parts: int = 0
    size: int = 0
    rules: str = ""
    policies: tuple[str, ...] = ()
    seed: int = 0
    what: str = ""
    plan_digest: str = ""
    fault: str = ""
    complete: bool = False
    stopped: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**asdict(self), "policies": list(self.policies)}


def found_runs(folders: Sequence[Path]) -> list[ListedRun]:
    """All runs in and below some folders, by name; raises RunError for what is no folder."""
    found = []
    for folder in folders:
        if not _is_folder(folder):
            raise RunError(f"folder {folder}: no such folder; name one that holds runs")
        found += [_listed(each) for each in _below(folder, MOST_DEPTH)]
    return sorted(found, key=lambda each: each.folder)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long
        return False


def _below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        if (folder / MANIFEST_NAME).is_file():
            yield folder
        elif depth:
            for name in names:
                yield from _below(folder / name, depth - 1)
    except OSError as error:
        raise RunError(f"folder {folder}: cannot read, {reason_of(error)}") from None


def _listed(folder: Path) -> ListedRun:
    try:
        manifest = read_manifest(folder)
    except RunError as error:
        return ListedRun(str(folder), fault=str(error).removeprefix(f"run {folder}: "))
    fault = _fault(folder, manifest)
    if fault:
        return ListedRun(str(folder), fault=fault)
    plan = manifest.plan
    what, stopped = "", ""
    if isinstance(plan, Plan):
        what = " ".join(filter(None, (plan.mode, plan.where)))
        stopped = manifest.ending.in_words(plan) if manifest.ending is not None else ""
    return ListedRun(
        folder=str(folder),
        unit="matches" if isinstance(plan, MatchPlan) else "deals",
        stored=manifest.stored,
        planned=manifest.planned,
        parts=len(manifest.pieces),
        size=sum(part.size for piece in manifest.pieces for part in piece.parts),
        rules=plan.rules.name,
        policies=tuple(plan.policies),
        seed=plan.seed,
        what=what,
        plan_digest=plan.digest(),
        complete=manifest.complete,
        stopped=stopped,
    )


def _fault(folder: Path, manifest: Manifest[Any]) -> str:
    """The first part that is not as large as it was written; empty if there is none."""
    for place, parts in ((PARTS_FOLDER, manifest.parts), (MATCHES_FOLDER, manifest.matches)):
        for part in parts:
            fault = fault_of(folder / place / part.name, part, hashed=False)
            if fault is not None:
                return f"part {folder / place / part.name}: {fault}; play the run again"
    return ""


def listing_text(runs: Sequence[ListedRun]) -> str:
    """A line a run, aligned.

    >>> print(listing_text([ListedRun("out/a", "deals", 5, 10, 1, 2048, "mil", ("greedy",) * 3)]))
    run       stored  unit   rules  policy  seed  what
    out/a  5 (50.0%)  deals  mil    greedy     0
    """
    if not runs:
        return "no runs"
    rows = [("run", "stored", "unit", "rules", "policy", "seed", "what")]
    for each in runs:
        if each.fault:
            rows.append((each.folder, "", "", "", "", "", each.fault))
            continue
        share = "" if each.complete else f" ({100 * each.stored / each.planned:.1f}%)"
        policies = each.policies[:1] if len(set(each.policies)) == 1 else each.policies
        rows.append(
            (
                each.folder,
                f"{each.stored:,}{share}",
                each.unit,
                each.rules,
                ",".join(policies),
                str(each.seed),
                "; ".join(filter(None, (each.what, each.stopped))),
            )
        )
    return aligned(rows, right={1, 5})


def aligned(rows: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """Rows of cells as lines, the columns named aligned to the right.

    >>> print(aligned([("a", "n"), ("bb", "10")], right=[1]))
    a    n
    bb  10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if place in right else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


__all__ = ["ListedRun", "aligned", "found_runs", "listing_text"]
