"""The manifest of a run: what was played, by which code, and which parts hold the rows.

Everything in it is a function of the plan and of the code, so the same command gives the same
bytes, whatever the threads or interruptions; no times and no paths are kept.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milsim.errors import MilsimError, RunError
from milsim.simulation.plan import Plan, plan_of_manifest
from milsim.store.schema import SCHEMA_VERSION

MANIFEST_NAME = "manifest.json"
MAX_MANIFEST_BYTES = 50_000_000
KIND = "milsim run"


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
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise RunError(f"run {folder}: {MANIFEST_NAME} is larger than any that milsim writes")
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = "no such folder" if not folder.exists() else f"no {MANIFEST_NAME} in it"
        raise RunError(f"run {folder}: {what}; give a folder written by milsim simulate") from None
    except NotADirectoryError:
        raise RunError(f"run {folder}: not a folder; give one written by milsim simulate") from None
    except OSError as error:
        raise RunError(f"run {folder}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(f"run {folder}: {MANIFEST_NAME} is torn or not JSON") from None
    return _parse(folder, content)


def _parse(folder: Path, content: Any) -> Manifest:
    where = f"run {folder}: {MANIFEST_NAME}"
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise RunError(f"{where} is not that of a milsim run")
    schema = content.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise RunError(f"{where}: schema {schema!r:.40} is unknown; {SCHEMA_VERSION} is right")
    if schema > SCHEMA_VERSION:
        raise RunError(
            f"{where}: schema {schema} is newer than this milsim reads ({SCHEMA_VERSION}); "
            "use the milsim that wrote it or a newer one"
        )
    try:
        plan = plan_of_manifest(
            content["plan"], content["rules"], content["rules_name"], content["rules_source"]
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
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{where}: missing or malformed entry {error!s:.60}") from None
    if content.get("plan_digest") != plan.digest():
        raise RunError(f"{where}: plan and plan_digest differ; the file was edited")
    return manifest


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40}")
    return value


def _part(entry: dict[str, Any]) -> Part:
    part = Part(**entry)
    numbers = (part.start, part.rows, part.size)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in numbers):
        raise TypeError("of a part")
    # A name from a file must not lead out of the folder.
    if part.name != Path(_text(part.name)).name or not part.name.endswith(".parquet"):
        raise TypeError(f"{part.name!r:.40}")
    _text(part.sha256)
    return part


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a hidden name, sync, rename: a reader sees all of it or nothing."""
    hidden = path.with_name(f".{path.name}.tmp")
    with hidden.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    hidden.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder survive a power cut, where the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # pragma: no cover - a system whose folders cannot be opened
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
