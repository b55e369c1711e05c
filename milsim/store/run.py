"""A finished (or interrupted) run, opened for reading."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from milsim.errors import RunError, UsageError, nearest, quote
from milsim.policies.origins import told
from milsim.rules import Rules, digest
from milsim.simulation.plan import Plan
from milsim.store.manifest import PARTS_FOLDER, Manifest, read_manifest
from milsim.store.parts import Part, check_parts, scan
from milsim.store.pieces import spans_of
from milsim.store.schema import NOTES, NOTES_WITH_DD, ColumnNote, schema_of

NO_DEALS = "holds matches, not single deals; give a run of milsim simulate"
PLAYED, DOUBLE_DUMMY = MODELS = ("played", "double-dummy")


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder of single deals: its plan, its provenance, and its rows as a lazy frame."""

    folder: Path
    manifest: Manifest[Plan]
    model: str = PLAYED

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Open a run folder and check its parts against the manifest.

        Raises :class:`~milsim.errors.RunError` if the folder is no run of single deals, is of
        another schema, or a part is missing, torn, empty, changed or foreign.
        """
        path = Path(folder)
        manifest = read_manifest(path)
        if not isinstance(manifest.plan, Plan):
            raise RunError(f"run {path}: {NO_DEALS}")
        run = cls(path, manifest)
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
        """Deals stored: fewer than ``plan.deals`` if the run was interrupted, or is a shard."""
        return self.manifest.stored

    @property
    def complete(self) -> bool:
        """Whether all deals of the plan are stored, or those up to where its rule ended it."""
        return self.manifest.complete

    @property
    def schema(self) -> pl.Schema:
        """The columns of the rows; with ``dd_points`` if the plan asked for double-dummy values."""
        return schema_of(self._notes)

    @property
    def _notes(self) -> tuple[ColumnNote, ...]:
        return NOTES if self.plan.dd == "off" else NOTES_WITH_DD

    def check(self) -> None:
        """Compare the parts on disk with the manifest; raises RunError at the first fault."""
        check_parts(
            self.folder,
            self._parts_folder,
            self.manifest.parts,
            self._notes,
            complete=self.complete,
        )

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
        return self._frame(self.manifest.parts, features=features)

    def by_part(self) -> Iterator[pl.LazyFrame]:
        """The rows part by part, in order, for what needs more memory than a whole run has."""
        for part in self.manifest.parts:
            yield self._frame([part])

    def _frame(self, parts: Sequence[Part], *, features: bool = False) -> pl.LazyFrame:
        rows = scan(self._parts_folder, parts, self._notes)
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
        held = spans_of(self.manifest.pieces)
        stop = f" · to stop by: {plan.stop}" if plan.stop is not None else ""
        return (
            f"rules {self.rules.name} ({digest(self.rules)[:8]}) · {self.play} · "
            f"{plan.mode} mode{where} · seed {plan.seed}, deals {held}{stop} · "
            f"milsim {self.manifest.versions.get('milsim', '?')}{told(self.manifest.origins)}"
        )

    @property
    def _parts_folder(self) -> Path:
        return self.folder / PARTS_FOLDER

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
