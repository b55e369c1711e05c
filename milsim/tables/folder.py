"""A table in a folder: ``plan.toml``, ``manifest.json`` and ``parts/``, each part with its digest.

The manifest says what is played and by which code, never how far it is, so that shards on several
machines write the same one; a part counts once its digest stands beside it. Nothing holds a time or
a path: the same command gives the same bytes, whatever the threads, shards or interruptions.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from milsim.errors import MilsimError, RunError, VerificationError, quote
from milsim.files import read_text, reason_of, write_atomically
from milsim.rules import values_of
from milsim.rules.fields import build
from milsim.store.parts import Part, write_part
from milsim.tables.columns import SCHEMA_VERSION, schema_of
from milsim.tables.plan import TablePlan

KIND = "milsim table"
MANIFEST_NAME = "manifest.json"
PLAN_NAME = "plan.toml"
PARTS_FOLDER = "parts"
PART_HANDS = 4096
_MOST_BYTES = 1_000_000
_GIVE_ONE = "give a folder written by milsim table build"


def manifest_of(plan: TablePlan) -> dict[str, Any]:
    """What the manifest of a plan says when this code plays it."""
    from milsim._jit import kernel_digest
    from milsim.rng import RNG_SCHEME

    names = ("milsim", "numba", "numpy", "polars")
    return {
        "kind": KIND,
        "schema": SCHEMA_VERSION,
        "plan": plan.to_dict(),
        "plan_digest": plan.digest(),
        "rules_name": plan.rules.name,
        "rules_source": plan.rules.source,
        "rules": values_of(plan.rules),
        "rng": RNG_SCHEME,
        "kernels": kernel_digest(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in names},
    }


def text_of(content: dict[str, Any]) -> str:
    """A manifest as JSON, the same text for the same content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def part_spans(plan: TablePlan) -> Iterator[tuple[int, int]]:
    """First hand and number of hands of each part; parts end at multiples of PART_HANDS."""
    start = plan.first
    while start < plan.last:
        end = min(plan.last, (start // PART_HANDS + 1) * PART_HANDS)
        yield start, end - start
        start = end


@dataclass(frozen=True, slots=True)
class Table:
    """A table of hands in a folder, as far as it is built."""

    folder: Path
    plan: TablePlan
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> Table:
        """The table of a folder; raises RunError if there is none, or it is of another schema."""
        path = Path(folder)
        where = f"table {path}"
        try:
            text = read_text(path / MANIFEST_NAME, _MOST_BYTES)
            content = json.loads(text)
        except FileNotFoundError:
            what = "no such folder" if not path.exists() else f"no {MANIFEST_NAME} in it"
            raise RunError(f"{where}: {what}; {_GIVE_ONE}") from None
        except (OSError, ValueError, RecursionError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else "is torn or not JSON"
            raise RunError(f"{where}: {MANIFEST_NAME}: {reason}; {_GIVE_ONE}") from None
        if not isinstance(content, dict) or content.get("kind") != KIND:
            raise RunError(f"{where}: {MANIFEST_NAME} is not that of a table; {_GIVE_ONE}")
        if content.get("schema") != SCHEMA_VERSION:
            raise RunError(
                f"{where}: schema {quote(content.get('schema'))}, but this version reads "
                f"{SCHEMA_VERSION}; build it anew"
            )
        try:
            said = content["plan"]
            first, last = said["hands"]
            plan = TablePlan.make(
                rules=build(
                    content["rules"], name=content["rules_name"], source=content["rules_source"]
                ),
                policy=said["policy"],
                seed=said["seed"],
                per_talon=said["per_talon"],
                hands=(first, last),
            )
        except MilsimError as error:
            raise RunError(f"{where}: {MANIFEST_NAME}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RunError(f"{where}: {MANIFEST_NAME}: an entry is malformed") from None
        if plan.to_dict() != said or content.get("plan_digest") != plan.digest():
            raise RunError(f"{where}: {MANIFEST_NAME} was edited; it is not as milsim writes it")
        return cls(path, plan, content)

    def part(self, start: int) -> Part | None:
        """The part that begins at this hand, or None while it is not built; RunError if torn."""
        path = self.folder / PARTS_FOLDER / f"{_stem(start)}.json"
        try:
            said = json.loads(read_text(path, _MOST_BYTES))
            part = Part(**said)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"part {path}: {reason_of_any(error)}; remove it") from None
        if part.name != f"{_stem(start)}.parquet" or part.start != start:
            raise RunError(f"part {path}: is another part's; remove it")
        return part

    @property
    def parts(self) -> list[Part]:
        """The parts built so far, in order."""
        found = (self.part(start) for start, _ in part_spans(self.plan))
        return [part for part in found if part is not None]

    @property
    def rows(self) -> int:
        """Hands built so far."""
        return sum(part.rows for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether all hands of the plan are there."""
        return self.rows == self.plan.hands

    def frame(self) -> pl.DataFrame:
        """All rows built so far, by rank; raises RunError for a part that is missing or torn."""
        schema = schema_of(self.plan.contracts)
        frames = [
            pl.read_parquet(self._checked(part), schema=schema, glob=False) for part in self.parts
        ]
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)

    def verify(self) -> int:
        """Compare every part with its digest; the number of parts.

        Raises :class:`~milsim.errors.VerificationError` at the first that differs.
        """
        parts = self.parts
        for part in parts:
            path = self._checked(part)
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != part.sha256:
                raise VerificationError(
                    f"part {path}: content differs from its digest; remove it and build again"
                )
        return len(parts)

    def keep(self, start: int, rows: pl.DataFrame) -> None:
        """Write the part that begins at this hand, then its digest: from then on it counts."""
        folder = self.folder / PARTS_FOLDER
        part = write_part(folder, start, rows)
        beside = json.dumps(asdict(part)) + "\n"
        write_atomically(folder / f"{_stem(start)}.json", beside.encode())

    def _checked(self, part: Part) -> Path:
        path = self.folder / PARTS_FOLDER / part.name
        size = path.stat().st_size if path.is_file() else -1
        if size != part.size:
            what = "missing" if size < 0 else f"torn or changed, {size} bytes, not {part.size}"
            beside = f"{part.name.removesuffix('.parquet')}.json"
            raise RunError(f"part {path}: {what}; remove {beside} and build again")
        return path


def _stem(start: int) -> str:
    return f"part-{start:012d}"  # as `write_part` names it


def reason_of_any(error: Exception) -> str:
    """Why a small JSON file could not be read, lower case."""
    return reason_of(error) if isinstance(error, OSError) else "is torn or not as milsim writes it"


__all__ = [
    "MANIFEST_NAME",
    "PARTS_FOLDER",
    "PART_HANDS",
    "PLAN_NAME",
    "Table",
    "manifest_of",
    "part_spans",
    "text_of",
]
