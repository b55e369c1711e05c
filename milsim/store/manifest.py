"""The manifest of a run: what is played, and by which code; and the pieces that hold the rows.

There are two kinds of run: of single deals (``milsim simulate``) and of matches (``milsim match``).

Everything in it is a function of the plan and of the code, so the same command gives the same
bytes, whatever the threads or interruptions; no times and no paths are kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from milsim.errors import MilsimError, RunError, quote
from milsim.files import read_text, reason_of, write_atomically
from milsim.simulation.match_plan import MatchPlan, match_plan_of_manifest
from milsim.simulation.plan import Plan, plan_of_manifest
from milsim.store.ending import Ending, ending_of
from milsim.store.parts import Part
from milsim.store.pieces import Fault, Known, Piece, beside, find_pieces
from milsim.store.schema import SCHEMA_VERSION

MANIFEST_NAME = "manifest.json"
MAX_MANIFEST_BYTES = 50_000_000
DEALS, MATCHES = KINDS = ("milsim run", "milsim match run")
POLICY = "policy "
"""Versions whose key begins so are origins of people's own policies: `milsim.policies.origins`."""
PARTS_FOLDER, MATCHES_FOLDER = "parts", "matches"

P = TypeVar("P", Plan, MatchPlan)


@dataclass(frozen=True, slots=True)
class Manifest(Generic[P]):
    """What a run folder holds; see the module's text.

    The file says what is played and by which code, never how far it is: that is told by
    ``pieces``, which stand beside their parts. So shards on several machines write the same one.
    ``ending`` is where a rule to stop by ended the run, or that it never did.
    """

    plan: P
    versions: dict[str, str]
    rng: str
    kernels: str
    pieces: tuple[Piece, ...] = ()
    ending: Ending | None = None

    @property
    def origins(self) -> dict[str, str]:
        """By name, where the code of people's own policies came from."""
        return {
            key.removeprefix(POLICY): text
            for key, text in self.versions.items()
            if key.startswith(POLICY)
        }

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of deals, in order."""
        return tuple(piece.parts[0] for piece in self.pieces)

    @property
    def matches(self) -> tuple[Part, ...]:
        """The parts of matches, in order; none in a run of deals."""
        return tuple(piece.parts[1] for piece in self.pieces if len(piece.parts) > 1)

    @property
    def planned(self) -> int:
        """How many deals or matches the plan has."""
        return self.plan.matches if isinstance(self.plan, MatchPlan) else self.plan.deals

    @property
    def stored(self) -> int:
        """How many of them are stored."""
        return sum(piece.count for piece in self.pieces)

    @property
    def until(self) -> int:
        """How many of them the run has: fewer than planned where its rule ended it."""
        return self.planned if self.ending is None else self.ending.deals

    @property
    def complete(self) -> bool:
        """Whether all of them are, and no more; with a rule to stop by, that it was asked."""
        if has_rule(self.plan) and self.ending is None:
            return False
        end = self.plan.start + self.until
        return self.stored == self.until and self.pieces[-1].end == end

    def to_json(self) -> str:
        """The manifest as indented JSON, the same text for the same content."""
        from milsim.rules import digest, values_of

        of_matches = isinstance(self.plan, MatchPlan)
        content = {
            "kind": MATCHES if of_matches else DEALS,
            "schema": SCHEMA_VERSION,
            "plan": self.plan.to_dict(),
            "plan_digest": self.plan.digest(),
            "rules_name": self.plan.rules.name,
            "rules_source": self.plan.rules.source,
            "rules_digest": digest(self.plan.rules),
            "rules": values_of(self.plan.rules),
            "rng": self.rng,
            "kernels": self.kernels,
            "versions": self.versions,
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder, whole or not at all."""
        write_atomically(folder / MANIFEST_NAME, self.to_json().encode())


def has_rule(plan: Plan | MatchPlan) -> bool:
    """Whether a rule may end the run before all of the plan is played."""
    return isinstance(plan, Plan) and plan.stop is not None


def read_identity(folder: Path) -> Manifest[Plan] | Manifest[MatchPlan]:
    """What the file says, of a run of either kind; raises :class:`RunError` naming what is wrong.

    The type of its plan says of which kind the run is. Pieces are not looked for.
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


def read_manifest(folder: Path, known: Known | None = None) -> Manifest[Plan] | Manifest[MatchPlan]:
    """The manifest of a run folder with what the folder holds; raises what both may raise."""
    manifest = read_identity(folder)
    held: Manifest[Plan] | Manifest[MatchPlan]
    held, faults = stored_manifest(folder, manifest, known)
    if faults:
        raise RunError(f"part {faults[0].path}: {faults[0].words}; play the run again")
    return held


def stored_manifest(
    folder: Path, manifest: Manifest[Any], known: Known | None = None
) -> tuple[Manifest[Any], list[Fault]]:
    """A manifest with what its folder holds: pieces, and where a rule ended it; and faults.

    ``known`` are files beside parts that were read already.
    """
    pieces, faults = pieces_of(folder, manifest, known)
    ending = None
    if isinstance(manifest.plan, Plan) and manifest.plan.stop is not None:
        ending, wrong = ending_of(folder, manifest.plan)
        faults += wrong
    return replace(manifest, pieces=pieces, ending=ending), faults


def pieces_of(
    folder: Path, manifest: Manifest[Any], known: Known | None = None
) -> tuple[tuple[Piece, ...], list[Fault]]:
    """The pieces that files in a run folder tell of, in order, and what is wrong with others."""
    plan = manifest.plan
    pieces, faults = find_pieces(
        folder / PARTS_FOLDER, plan.digest(), plan.start, manifest.planned, known
    )
    wanted = 2 if isinstance(plan, MatchPlan) else 1
    sound = []
    for piece in pieces:
        if len(piece.parts) == wanted and piece.parts[-1].rows == piece.count:
            sound.append(piece)
        else:
            path = folder / PARTS_FOLDER / beside(piece.start)
            faults.append(Fault("torn", path, "is torn, or not as milsim writes it"))
    return tuple(sound), faults


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
            "versions": {_text(k): _text(v) for k, v in content["versions"].items()},
            "rng": _text(content["rng"]),
            "kernels": _text(content["kernels"]),
        }
        manifest: Manifest[Plan] | Manifest[MatchPlan]
        if kind == "matches":
            match_plan = match_plan_of_manifest(content["plan"], *rules)
            manifest = Manifest(plan=match_plan, **rest)
        else:
            manifest = Manifest(plan=plan_of_manifest(content["plan"], *rules), **rest)
    except MilsimError as error:
        raise RunError(f"{where}: {error}") from None
    except KeyError as error:
        raise RunError(f"{where}: no entry {quote(error.args[0])}") from None
    except (TypeError, AttributeError):
        raise RunError(f"{where}: an entry is malformed") from None
    if content.get("plan_digest") != manifest.plan.digest():
        raise RunError(f"{where}: plan and plan_digest differ; the file was edited")
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
