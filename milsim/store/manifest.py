"""The manifest of a run: what was played, by which code, and which parts hold the rows.

There are two kinds of run: of single deals (``milsim simulate``) and of matches (``milsim match``).

Everything in it is a function of the plan and of the code, so the same command gives the same
bytes, whatever the threads or interruptions; no times and no paths are kept.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from milsim.errors import MilsimError, RunError, nearest, quote
from milsim.files import read_text, reason_of, write_atomically
from milsim.simulation.match_plan import MatchPlan, match_plan_of_manifest
from milsim.simulation.plan import Plan, plan_of_manifest
from milsim.store.parts import Part
from milsim.store.schema import SCHEMA_VERSION

MANIFEST_NAME = "manifest.json"
MAX_MANIFEST_BYTES = 50_000_000
DEALS, MATCHES = KINDS = ("milsim run", "milsim match run")
POLICY = "policy "
"""Versions whose key begins so are origins of people's own policies: `milsim.policies.origins`."""
STATUSES = ("running", "complete", "interrupted")

P = TypeVar("P", Plan, MatchPlan)


@dataclass(frozen=True, slots=True)
class Manifest(Generic[P]):
    """What a run folder holds; see the module's text.

    ``parts`` hold the deals. A run of matches has as many parts ``matches``, a row a match, and its
    parts of both kinds begin at the same matches.
    """

    plan: P
    status: str
    versions: dict[str, str]
    rng: str
    kernels: str
    parts: tuple[Part, ...]
    matches: tuple[Part, ...] = ()

    @property
    def origins(self) -> dict[str, str]:
        """By name, where the code of people's own policies came from; empty in older runs."""
        return {
            key.removeprefix(POLICY): text
            for key, text in self.versions.items()
            if key.startswith(POLICY)
        }

    @property
    def rows(self) -> int:
        """Deals stored so far."""
        return sum(part.rows for part in self.parts)

    @property
    def match_rows(self) -> int:
        """Matches stored so far."""
        return sum(part.rows for part in self.matches)

    @property
    def unfinished(self) -> int | None:
        """Where the next part begins, while the run is playing or if it was killed; else None."""
        if self.status != "running":
            return None
        return self.plan.start + (self.match_rows if self.matches else self.rows)

    @property
    def left(self) -> int:
        """How many deals or matches of the plan are not stored."""
        if isinstance(self.plan, MatchPlan):
            return self.plan.matches - self.match_rows
        return self.plan.deals - self.rows

    def with_parts(self, deals: Part, matches: Part | None = None) -> Manifest[P]:
        """The manifest with one part more: of deals, and of matches where there are any."""
        if matches is None:
            return replace(self, parts=(*self.parts, deals))
        return replace(self, parts=(*self.parts, deals), matches=(*self.matches, matches))

    def to_json(self) -> str:
        """The manifest as indented JSON, the same text for the same content."""
        from milsim.rules import digest, values_of

        of_matches = isinstance(self.plan, MatchPlan)
        content = {
            "kind": MATCHES if of_matches else DEALS,
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
        if of_matches:
            content["match_rows"] = self.match_rows
            content["matches"] = [asdict(part) for part in self.matches]
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder, whole or not at all."""
        write_atomically(folder / MANIFEST_NAME, self.to_json().encode())


def read_manifest(folder: Path) -> Manifest[Plan] | Manifest[MatchPlan]:
    """The manifest of a run folder of either kind; raises :class:`RunError` naming what is wrong.

    The type of its plan says of which kind the run is.
    """
    path = folder / MANIFEST_NAME
    try:
        text = read_text(path, MAX_MANIFEST_BYTES)
    except FileNotFoundError:
        what = "no such folder" if not folder.exists() else f"no {MANIFEST_NAME} in it"
        raise RunError(f"run {folder}: {what}; {_GIVE_A_RUN}") from None
    except NotADirectoryError:
        raise RunError(f"run {folder}: not a folder; {_GIVE_A_RUN}") from None
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


_GIVE_A_RUN = "give a folder written by milsim simulate or milsim match"


def _parse(folder: Path, content: Any) -> Manifest[Plan] | Manifest[MatchPlan]:
    where = f"run {folder}: {MANIFEST_NAME}"
    if not isinstance(content, dict) or content.get("kind") not in KINDS:
        raise RunError(f"{where} is not that of a milsim run")
    _check_schema(where, content.get("schema"))
    kind: Literal["deals", "matches"] = "matches" if content["kind"] == MATCHES else "deals"
    try:
        rules = (content["rules"], _text(content["rules_name"]), _text(content["rules_source"]))
        rest: dict[str, Any] = {
            "status": _text(content["status"]),
            "versions": {_text(k): _text(v) for k, v in content["versions"].items()},
            "rng": _text(content["rng"]),
            "kernels": _text(content["kernels"]),
            "parts": tuple(_part(entry) for entry in content["parts"]),
        }
        manifest: Manifest[Plan] | Manifest[MatchPlan]
        if kind == "matches":
            match_plan = match_plan_of_manifest(content["plan"], *rules)
            matches = tuple(_part(entry) for entry in content["matches"])
            manifest = Manifest(plan=match_plan, matches=matches, **rest)
        else:
            manifest = Manifest(plan=plan_of_manifest(content["plan"], *rules), **rest)
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
    if content.get("plan_digest") != manifest.plan.digest():
        raise RunError(f"{where}: plan and plan_digest differ; the file was edited")
    if manifest.left < 0:
        stored = manifest.match_rows if kind == "matches" else manifest.rows
        raise RunError(
            f"{where}: {quote(stored)} rows of {stored + manifest.left} {kind}; it was edited"
        )
    return manifest


def _check_schema(where: str, schema: object) -> None:
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise RunError(f"{where}: schema {quote(schema)} is unknown; {SCHEMA_VERSION} is right")
    if schema > SCHEMA_VERSION:
        raise RunError(
            f"{where}: schema {quote(schema)} is newer than this milsim reads ({SCHEMA_VERSION}); "
            "use the milsim that wrote it or a newer one"
        )
    if schema < SCHEMA_VERSION:
        raise RunError(
            f"{where}: schema {schema} is older than this milsim reads ({SCHEMA_VERSION}); "
            "play the run again, its plan.toml says how"
        )


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
