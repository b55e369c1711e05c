"""A finished (or interrupted) run, opened for reading."""

from __future__ import annotations

import hashlib
import html
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from milsim.errors import RunError, UsageError, nearest, quote
from milsim.rules import Rules, digest
from milsim.simulation.plan import Plan
from milsim.store.manifest import Manifest, Part, read_manifest
from milsim.store.schema import SCHEMA, SCHEMA_WITH_DD

PARTS_FOLDER = "parts"
PLAYED, DOUBLE_DUMMY = MODELS = ("played", "double-dummy")
HASH_UP_TO_BYTES = 2_000_000_000
"""Parts are hashed on opening up to this total; beyond, only their sizes are compared."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder: its plan, its provenance, and its rows as a lazy Polars frame."""

    folder: Path
    manifest: Manifest
    model: str = PLAYED

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Open a run folder and check its parts against the manifest.

        Raises :class:`~milsim.errors.RunError` if the folder is no run, is of a newer schema, or a
        part is missing, torn, empty, changed or foreign.
        """
        path = Path(folder)
        run = cls(path, read_manifest(path))
        run.check()
        return run

    @property
    def plan(self) -> Plan:
        """What was to be played."""
        return self.manifest.plan

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.manifest.plan.rules

    @property
    def deals(self) -> int:
        """Deals stored: fewer than ``plan.deals`` if the run was interrupted."""
        return self.manifest.rows

    @property
    def complete(self) -> bool:
        """Whether all deals of the plan are stored."""
        return self.deals == self.plan.deals

    @property
    def schema(self) -> pl.Schema:
        """The columns of the rows; with ``dd_points`` if the plan asked for double-dummy values."""
        return SCHEMA if self.plan.dd == "off" else SCHEMA_WITH_DD

    def check(self) -> None:
        """Compare the parts on disk with the manifest; raises RunError at the first fault."""
        parts = self.manifest.parts
        total = sum(part.size for part in parts)
        following = self.plan.start
        for part in parts:
            if part.start != following:
                raise RunError(
                    f"run {self.folder}: {part.name} starts at deal {part.start}, not {following}"
                )
            following += part.rows
            _check_part(self._path(part), part, hashed=total <= HASH_UP_TO_BYTES)
        if total <= HASH_UP_TO_BYTES and parts:
            found = self.frame().select(pl.len()).collect().item()
            if found != self.deals:
                raise RunError(f"run {self.folder}: {found} rows on disk, not {self.deals}")
        known = {part.name for part in parts}
        folder = self.folder / PARTS_FOLDER
        on_disk = folder.iterdir() if folder.is_dir() else ()
        foreign = sorted(
            path.name for path in on_disk if path.suffix == ".parquet" and path.name not in known
        )
        if foreign:
            raise RunError(f"run {self.folder}: {foreign[0]} is not in the manifest; remove it")

    def as_model(self, model: str) -> Run:
        """The same run with the points of another model.

        ``played`` are those of its policies. ``double-dummy`` puts the column ``dd_points`` in the
        place of ``declarer_points`` and tests the contract by it; the run must have been simulated
        with double-dummy values. Raises :class:`~milsim.errors.UsageError` for another model, and
        :class:`~milsim.errors.RunError` for a run without them.
        """
        if model not in MODELS:
            raise UsageError(f"model {quote(model)}: unknown; {nearest(str(model), MODELS)}")
        if model == DOUBLE_DUMMY and self.plan.dd == "off":
            raise RunError(
                f"run {self.folder}: no double-dummy values in it; simulate with --dd gifts or "
                "--dd exchange"
            )
        return replace(self, model=model)

    def frame(self, *, features: bool = False) -> pl.LazyFrame:
        """The rows as a LazyFrame (columns: :mod:`milsim.store.schema`), in no promised order.

        With ``features`` the columns of :mod:`milsim.store.features` about the declarer's hand
        are added: marriages, aces, guarded tens, points and others, before and after the talon.
        """
        parts = self.manifest.parts
        if not parts:
            rows = pl.LazyFrame(schema=self.schema)
        else:
            # Absolute and no patterns: a folder may be called "a*", "[x" or "~".
            paths = [self._path(part).resolve() for part in parts]
            rows = pl.scan_parquet(paths, schema=self.schema, glob=False)
        if self.model == DOUBLE_DUMMY:
            rows = rows.with_columns(
                declarer_points=pl.col("dd_points"), made=_is_made(self.rules, pl.col("dd_points"))
            )
        if features:
            from milsim.store.features import with_features

            rows = with_features(rows, self.rules)
        return rows

    @property
    def play(self) -> str:
        """Which play produced the points: ``policy greedy``, or how double dummy was asked for."""
        names = self.plan.policies
        if len(set(names)) == 1:
            policy = f"policy {names[0]}"
        else:
            policy = f"policies {'/'.join(names)}"
        if self.model == PLAYED:
            return policy
        if self.plan.dd == "exchange":
            return f"double dummy, best exchange, bids of {policy}"
        return f"double dummy, bids and gifts of {policy}"

    def provenance(self) -> str:
        """One line that says where the numbers come from: rules, policies, mode, seed, deals."""
        plan = self.plan
        where = f" · where {plan.where}" if plan.where else ""
        first, last = plan.start, plan.start + self.deals - 1
        return (
            f"rules {self.rules.name} ({digest(self.rules)[:8]}) · {self.play} · "
            f"{plan.mode} mode{where} · seed {plan.seed}, deals {first}–{last} · "
            f"milsim {self.manifest.versions.get('milsim', '?')}"
        )

    def _path(self, part: Part) -> Path:
        return self.folder / PARTS_FOLDER / part.name

    def __repr__(self) -> str:
        """A short text: folder, deals, provenance."""
        return f"Run({str(self.folder)!r}, {self.deals:,} deals: {self.provenance()})"

    def _repr_html_(self) -> str:
        return f"<b>{self.deals:,} deals</b> · {html.escape(self.provenance())}"


def _is_made(rules: Rules, points: pl.Expr) -> pl.Expr:
    """Whether points make the contract of their row, as the rules test it."""
    if rules.scoring.made_test == "raw":
        return points >= pl.col("contract")
    add, unit = {
        "none": (0, 1),
        "nearest_5": (2, 5),
        "down_5": (0, 5),
        "nearest_10_half_down": (4, 10),
        "nearest_10_half_up": (5, 10),
        "down_10": (0, 10),
    }[rules.scoring.defender_rounding]
    return (points + add) // unit * unit >= pl.col("contract")


def _check_part(path: Path, part: Part, *, hashed: bool) -> None:
    try:
        size = path.stat().st_size
    except OSError:
        raise RunError(f"part {path}: missing; play the run again") from None
    if size != part.size:
        kind = "empty" if size == 0 else "torn or changed"
        raise RunError(f"part {path}: {kind}, {size} bytes, not {part.size}; play the run again")
    if hashed:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != part.sha256:
            raise RunError(f"part {path}: content differs from the manifest; play the run again")
