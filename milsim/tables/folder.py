"""A table in a folder: ``plan.toml``, ``manifest.json`` and ``parts/``, each part with its digest.

`PartFolder` is what such folders have in common, `Table` that of all hands. The manifest says what
is played and by which code, never how far it is, so that shards on several machines write the same
one; a part counts once its digest stands beside it, with the plan's, as in a run. Nothing holds a
time or a path: the same command gives the same bytes, whatever the threads, shards, engine or
interruptions.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import MilsimError, RunError, VerificationError, quote
from milsim.files import read_text, reason_of
from milsim.rules import Rules, values_of
from milsim.rules.fields import build
from milsim.store.parts import Part, fault_of, name_of, source_of
from milsim.store.pieces import Piece, beside
from milsim.tables.columns import SCHEMA_VERSION, schema_of
from milsim.tables.plan import TablePlan

KIND = "milsim table"
MANIFEST_NAME = "manifest.json"
PLAN_NAME = "plan.toml"
PARTS_FOLDER = "parts"
PART_HANDS = 4096
_MOST_BYTES = 1_000_000
_GIVE_ONE = "give a folder written by milsim table build"
_AGAIN = "the command that built it, given again, mends it"

P = TypeVar("P", bound="AnyPlan")


class AnyPlan(Protocol):
    """What is played into a folder, whatever it is."""

    @property
    def rules(self) -> Rules:
        """The rules, which the manifest holds whole."""

    def to_dict(self) -> dict[str, Any]:
        """All that affects the answer, as plain JSON values."""

    def digest(self) -> str:
        """Of `to_dict`."""

    def to_toml(self) -> str:
        """For people."""


def manifest_of(plan: AnyPlan, kind: str = KIND, schema: int = SCHEMA_VERSION) -> dict[str, Any]:
    """What the manifest of a plan says when this code plays it."""
    from milsim._jit import kernel_digest
    from milsim.rng import RNG_SCHEME

    names = ("milsim", "numba", "numpy", "polars")
    return {
        "kind": kind,
        "schema": schema,
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


class PartFolder:
    """Parts in a folder, each beside a small file with its digest; which, ``spans`` says."""

    __slots__ = ()
    folder: Path
    plan: Any
    manifest: dict[str, Any]

    def spans(self) -> Iterator[tuple[int, int]]:
        """First index and number of indices of each part, in order."""
        raise NotImplementedError

    def hands_of(self, start: int, count: int) -> NDArray[np.integer]:
        """The column ``hand`` of so many indices, from this one on."""
        raise NotImplementedError

    def rows_of(self, count: int) -> int:
        """How many rows so many indices have."""
        raise NotImplementedError

    @property
    def plan_digest(self) -> str:
        """What the file beside each part says that it belongs to."""
        return str(self.manifest["plan_digest"])

    def part(self, start: int) -> Part | None:
        """The part that begins at this index, or None while it is not there.

        Raises :class:`~milsim.errors.RunError` if it is missing, torn or of another plan.
        """
        path = self.folder / PARTS_FOLDER / beside(start)
        try:
            part = self._told(path, start)
            if part.rows != self.rows_of(dict(self.spans())[start]):
                raise ValueError(path.name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunError(f"part {path}: {reason_of_any(error)}; {_AGAIN}") from None
        fault = fault_of(self.folder / PARTS_FOLDER / part.name, part, hashed=False)
        if fault is not None:
            raise RunError(f"part {self.folder / PARTS_FOLDER / part.name}: {fault}; {_AGAIN}")
        return part

    def _told(self, path: Path, start: int) -> Part:
        """What stands beside a part; raises OSError, or ValueError for what is torn or foreign."""
        try:
            piece = Piece.read(path)
        except ValueError:
            return _earlier(path, start)
        if piece.plan != self.plan_digest or len(piece.parts) != 1:
            raise ForeignError
        if piece.parts[0].rows != self.rows_of(piece.count):
            raise ValueError(str(path))
        return piece.parts[0]

    def missing(self, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of these spans that have to be played: not there, or not as they were written."""
        return [span for span in spans if self._fault(span[0]) is not None]

    def mended(
        self, spans: Iterable[tuple[int, int]], told: Callable[[str], None] | None
    ) -> list[tuple[int, int]]:
        """The same; what is not as it was written is told of, and does not count from now on."""
        found = []
        for start, count in spans:
            words = self._fault(start)
            if words and told is not None:
                told(f"{words}; played again")
            if words:
                # Another shard may be mending the same.
                (self.folder / PARTS_FOLDER / beside(start)).unlink(missing_ok=True)
            if words is not None:
                found.append((start, count))
        return found

    def _fault(self, start: int) -> str | None:
        """What is wrong with the part that begins here: empty if it is not there, None if nothing.

        The whole part is read.
        """
        try:
            part = self.part(start)
        except RunError as error:
            return str(error).removesuffix(f"; {_AGAIN}")
        if part is None:
            return ""
        path = self.folder / PARTS_FOLDER / part.name
        fault = fault_of(path, part, hashed=True)
        return None if fault is None else f"part {path}: {fault}"

    @property
    def parts(self) -> list[Part]:
        """The parts that are there, in order."""
        found = (self.part(start) for start, _ in self.spans())
        return [part for part in found if part is not None]

    def read(self, schema: pl.Schema) -> pl.DataFrame:
        """All rows that are there.

        Raises :class:`~milsim.errors.RunError` for a part that is missing, torn or changed, or does
        not hold the rows of its hands.
        """
        counts = dict(self.spans())
        frames = [self._rows(part, counts[part.start], schema) for part in self.parts]
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)

    def _rows(self, part: Part, count: int, schema: pl.Schema) -> pl.DataFrame:
        path = self.folder / PARTS_FOLDER / part.name
        fault = fault_of(path, part, hashed=True)
        if fault is not None:
            raise RunError(f"part {path}: {fault}; {_AGAIN}")
        hands = pl.Series(self.hands_of(part.start, count)).cast(pl.Int64)
        try:
            # Parquet says how many rows it has before it is unpacked.
            held = pl.scan_parquet(source_of(path), glob=False).select(pl.len()).collect().item()
            if held == len(hands):
                rows = pl.read_parquet(source_of(path), schema=schema, glob=False)
                if rows["hand"].cast(pl.Int64).equals(hands):
                    return rows
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            reason = " ".join(str(error).split())[:100]
            raise RunError(f"part {path}: cannot be read, {reason}; {_AGAIN}") from None
        raise RunError(f"part {path}: does not hold the rows of its hands; {_AGAIN}")

    def verify(self) -> int:
        """Compare every part with its digest, and the plan's text; the number of parts.

        Raises :class:`~milsim.errors.VerificationError` at the first that differs.
        """
        from milsim.store.folder import holds

        if not holds(self.folder / PLAN_NAME, self.plan.to_toml()):
            raise VerificationError(f"{self.folder / PLAN_NAME}: is not this table's; {_AGAIN}")
        parts = self.parts
        for part in parts:
            path = self.folder / PARTS_FOLDER / part.name
            fault = fault_of(path, part, hashed=True)
            if fault is not None:
                raise VerificationError(f"part {path}: {fault}; {_AGAIN}")
        return len(parts)


@dataclass(frozen=True, slots=True)
class Table(PartFolder):
    """A table of hands in a folder, as far as it is built."""

    folder: Path
    plan: TablePlan
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> Table:
        """The table of a folder; raises RunError if there is none, or it is of another schema."""
        path = Path(folder)
        where = f"table {path}"
        content = read_manifest(path, where, KIND, SCHEMA_VERSION, _GIVE_ONE)

        def planned(said: dict[str, Any], rules: Rules) -> TablePlan:
            first, last = said["hands"]
            return TablePlan.make(
                rules=rules,
                policy=said["policy"],
                seed=said["seed"],
                per_talon=said["per_talon"],
                hands=(first, last),
            )

        return cls(path, plan_of(content, where, planned), content)

    def spans(self) -> Iterator[tuple[int, int]]:
        """First hand and number of hands of each part."""
        return part_spans(self.plan)

    def hands_of(self, start: int, count: int) -> NDArray[np.integer]:
        """The hands from one on."""
        return np.arange(start, start + count)

    def rows_of(self, count: int) -> int:
        """A row a hand."""
        return count

    @property
    def rows(self) -> int:
        """Hands built so far; raises RunError for a part that is missing or torn."""
        return sum(part.rows for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether all hands of the plan are there."""
        return self.rows == self.plan.hands

    def frame(self) -> pl.DataFrame:
        """All rows built so far, by rank; raises RunError for a part that is missing or torn."""
        return self.read(schema_of(self.plan.contracts))


def kind_of(folder: str | Path) -> str:
    """What kind of folder it says it is; empty if it says nothing that can be read."""
    try:
        content = json.loads(read_text(Path(folder) / MANIFEST_NAME, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(content.get("kind")) if isinstance(content, dict) else ""


def read_manifest(path: Path, where: str, kind: str, schema: int, give: str) -> dict[str, Any]:
    """The manifest in a folder of this kind; raises RunError, which ends in what to give."""
    try:
        content = json.loads(read_text(path / MANIFEST_NAME, _MOST_BYTES))
    except FileNotFoundError:
        what = "no such folder" if not path.exists() else f"no {MANIFEST_NAME} in it"
        raise RunError(f"{where}: {what}; {give}") from None
    except (OSError, ValueError, RecursionError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "is torn or not JSON"
        raise RunError(f"{where}: {MANIFEST_NAME}: {reason}; {give}") from None
    if not isinstance(content, dict) or content.get("kind") != kind:
        what = f"that of a {kind.removeprefix('milsim ')}"
        raise RunError(f"{where}: {MANIFEST_NAME} is not {what}; {give}")
    if content.get("schema") != schema:
        raise RunError(
            f"{where}: schema {quote(content.get('schema'))}, but this version reads {schema}; "
            "build it anew"
        )
    return content


def plan_of(
    content: dict[str, Any], where: str, planned: Callable[[dict[str, Any], Rules], P]
) -> P:
    """The plan that a manifest tells of, made by ``planned``; raises RunError if it was edited."""
    try:
        said = content["plan"]
        rules = build(content["rules"], name=content["rules_name"], source=content["rules_source"])
        plan = planned(said, rules)
    except MilsimError as error:
        raise RunError(f"{where}: {MANIFEST_NAME}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RunError(f"{where}: {MANIFEST_NAME}: an entry is malformed") from None
    if plan.to_dict() != said or content.get("plan_digest") != plan.digest():
        raise RunError(f"{where}: {MANIFEST_NAME} was edited; it is not as milsim writes it")
    return plan


class ForeignError(ValueError):
    """A part of another plan."""

    def __str__(self) -> str:
        """What is wrong."""
        return "belongs to another plan"


def _earlier(path: Path, start: int) -> Part:
    """What milsim wrote beside a part before it kept the plan's digest there; else ValueError."""
    try:
        said = json.loads(read_text(path, _MOST_BYTES))
        part = Part(**said)
    except (TypeError, RecursionError):
        raise ValueError(str(path)) from None
    numbers = (part.start, part.rows, part.size)
    if not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise ValueError(str(path))
    if part.name != name_of(start) or part.start != start:
        raise ForeignError
    return part


def reason_of_any(error: Exception) -> str:
    """Why a small JSON file could not be read, lower case."""
    if isinstance(error, OSError | ForeignError):
        return reason_of(error)
    return "is torn or not as milsim writes it"


__all__ = [
    "MANIFEST_NAME",
    "PARTS_FOLDER",
    "PART_HANDS",
    "PLAN_NAME",
    "AnyPlan",
    "PartFolder",
    "Table",
    "kind_of",
    "manifest_of",
    "part_spans",
    "plan_of",
    "read_manifest",
    "text_of",
]
