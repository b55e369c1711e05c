"""The manifest of a run: what was played, by which code, and which parts hold the rows.

Everything in it is a function of the plan and of the code, so the same command gives the same
bytes, whatever the threads or interruptions; no times and no paths are kept.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milsim.errors import MilsimError, RunError, nearest, quote
from milsim.files import read_text, reason_of, write_atomically
from milsim.simulation.plan import Plan, plan_of_manifest
from milsim.store.schema import SCHEMA_VERSION

MANIFEST_NAME = "manifest.json"
MAX_MANIFEST_BYTES = 50_000_000
KIND = "milsim run"
STATUSES = ("running", "complete", "interrupted")


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a run: its name, its first deal index, its rows, size and SHA-256."""

    name: str
    start: int
    rows: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run folder holds; see the module's text."""

    plan: Plan
    status: str
    versions: dict[str, str]
    rng: str
    kernels: str
    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:
        """Deals stored so far."""
        return sum(part.rows for part in self.parts)

    def to_json(self) -> str:
        """The manifest as indented JSON, the same text for the same content."""
        from milsim.rules import digest, values_of

        content = {
            "kind": KIND,
            "schema": SCHEMA_VERSION,
            "status": self.status,
            "plan": self.plan.to_dict(),
            "plan_digest": self.plan.digest(),
            "rules_name": self.plan.rules.name,
            "rules_source": self.plan.rules.source,
            "rules_digest": digest(self.plan.rules),
            "rules": values_of(self.plan.rules),
            "rng": self.rng,
            "kernels": self.kernels,
            "versions": self.versions,
            "rows": self.rows,
            "parts": [asdict(part) for part in self.parts],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder, whole or not at all."""
        write_atomically(folder / MANIFEST_NAME, self.to_json().encode())


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder; raises :class:`RunError` naming what is wrong."""
    path = folder / MANIFEST_NAME
    try:
        text = read_text(path, MAX_MANIFEST_BYTES)
    except FileNotFoundError:
        what = "no such folder" if not folder.exists() else f"no {MANIFEST_NAME} in it"
        raise RunError(f"run {folder}: {what}; give a folder written by milsim simulate") from None
    except NotADirectoryError:
        raise RunError(f"run {folder}: not a folder; give one written by milsim simulate") from None
    except (OSError, ValueError) as error:
        raise RunError(f"run {folder}: {MANIFEST_NAME}: {reason_of(error)}") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise RunError(f"run {folder}: {MANIFEST_NAME} is torn or not JSON") from None
    manifest = _parse(folder, content)
    # What is not understood, or does not fit together, shows here: the same bytes or no run.
    if manifest.to_json() != text:
        raise RunError(f"run {folder}: {MANIFEST_NAME} was edited; it is not as milsim writes it")
    return manifest


def _parse(folder: Path, content: Any) -> Manifest:
    where = f"run {folder}: {MANIFEST_NAME}"
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise RunError(f"{where} is not that of a milsim run")
    schema = content.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise RunError(f"{where}: schema {quote(schema)} is unknown; {SCHEMA_VERSION} is right")
    if schema > SCHEMA_VERSION:
        raise RunError(
            f"{where}: schema {quote(schema)} is newer than this milsim reads ({SCHEMA_VERSION}); "
            "use the milsim that wrote it or a newer one"
        )
    try:
        plan = plan_of_manifest(
            content["plan"],
            content["rules"],
            _text(content["rules_name"]),
            _text(content["rules_source"]),
        )
        parts = tuple(_part(entry) for entry in content["parts"])
        manifest = Manifest(
            plan=plan,
            status=_text(content["status"]),
            versions={_text(k): _text(v) for k, v in content["versions"].items()},
            rng=_text(content["rng"]),
            kernels=_text(content["kernels"]),
            parts=parts,
        )
    except MilsimError as error:
        raise RunError(f"{where}: {error}") from None
    except KeyError as error:
        raise RunError(f"{where}: no entry {quote(error.args[0])}") from None
    except (TypeError, AttributeError):
        raise RunError(f"{where}: an entry is malformed") from None
    if manifest.status not in STATUSES:
        raise RunError(
            f"{where}: status {quote(manifest.status)}; {nearest(manifest.status, STATUSES)}"
        )
    if content.get("plan_digest") != plan.digest():
        raise RunError(f"{where}: plan and plan_digest differ; the file was edited")
    if manifest.rows > plan.deals:
        raise RunError(f"{where}: {quote(manifest.rows)} rows of {plan.deals} deals; it was edited")
    return manifest


def _text(value: object) -> str:
    # Texts of a manifest are printed: nothing in them may steer a terminal.
    if not isinstance(value, str) or not value.isprintable() or len(value) > 500:
        raise TypeError("text")
    return value


def _part(entry: dict[str, Any]) -> Part:
    part = Part(**entry)
    numbers = (part.start, part.rows, part.size)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in numbers):
        raise TypeError("of a part")
    # A name from a file must not lead out of the folder.
    if part.name != Path(_text(part.name)).name or not part.name.endswith(".parquet"):
        raise TypeError("name of a part")
    _text(part.sha256)
    return part
