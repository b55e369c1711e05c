"""A finished (or interrupted) run of matches, opened for reading."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from milsim.errors import RunError, UsageError, nearest, quote
from milsim.policies.origins import told
from milsim.rules import Rules, digest
from milsim.simulation.match_plan import MatchPlan
from milsim.store.manifest import MATCHES_FOLDER, PARTS_FOLDER, Manifest, read_manifest
from milsim.store.match_schema import deal_notes, match_notes
from milsim.store.parts import check_parts, scan
from milsim.store.pieces import spans_of
from milsim.store.run import MODELS, PLAYED, Run

NO_MATCHES = "holds single deals, not matches; give a run of milsim match"


@dataclass(frozen=True, slots=True)
class MatchRun:
    """A run folder of whole matches: a row a deal in ``parts/``, a row a match in ``matches/``."""

    folder: Path
    manifest: Manifest[MatchPlan]

    @classmethod
    def open(cls, folder: str | Path) -> MatchRun:
        """Open a run folder of matches and check its parts against the manifest.

        Raises :class:`~milsim.errors.RunError` if the folder is no run of matches, is of another
        schema, or a part is missing, torn, empty, changed or foreign.
        """
        path = Path(folder)
        manifest = read_manifest(path)
        if not isinstance(manifest.plan, MatchPlan):
            raise RunError(f"run {path}: {NO_MATCHES}")
        run = cls(path, manifest)
        run.check()
        return run

    @property
    def plan(self) -> MatchPlan:
        """What was to be played."""
        return self.manifest.plan

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.plan.rules

    @property
    def players(self) -> int:
        """How many players are at the table."""
        return self.rules.deal.players

    @property
    def played(self) -> int:
        """Matches stored: fewer than ``plan.matches`` if it was interrupted, or is a shard."""
        return self.manifest.stored

    @property
    def complete(self) -> bool:
        """Whether all matches of the plan are stored."""
        return self.manifest.complete

    def as_model(self, model: str) -> MatchRun:
        """The same run: a match has one model, that of its policies, ``played``.

        Raises :class:`~milsim.errors.UsageError` for an unknown model, and
        :class:`~milsim.errors.RunError` for another.
        """
        if model not in MODELS:
            raise UsageError(f"model {quote(model)}: unknown; {nearest(str(model), MODELS)}")
        if model != PLAYED:
            raise RunError(f"run {self.folder}: matches have no model {model}, only {PLAYED}")
        return self

    def check(self) -> None:
        """Compare the parts on disk with the manifest; raises RunError at the first fault."""
        for folder, parts, schema in (
            (self._matches_folder, self.manifest.matches, match_notes(self.players)),
            (self._deals_folder, self.manifest.parts, deal_notes(self.players)),
        ):
            check_parts(self.folder, folder, parts, schema, complete=self.complete)

    def deals(self) -> pl.LazyFrame:
        """A row a deal (columns: :func:`milsim.store.match_schema.deal_notes`), in no order."""
        return scan(self._deals_folder, self.manifest.parts, deal_notes(self.players))

    def matches(self) -> pl.LazyFrame:
        """A row a match (columns: :func:`milsim.store.match_schema.match_notes`), in no order."""
        return scan(self._matches_folder, self.manifest.matches, match_notes(self.players))

    def by_part(self) -> Iterator[tuple[pl.LazyFrame, pl.LazyFrame]]:
        """Deals and matches part by part, in order: all deals of a match are in one part."""
        both = zip(self.manifest.parts, self.manifest.matches, strict=True)
        for deals, matches in both:
            yield (
                scan(self._deals_folder, [deals], deal_notes(self.players)),
                scan(self._matches_folder, [matches], match_notes(self.players)),
            )

    def match(self, index: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The deals of one match, in order, and its row.

        Raises :class:`~milsim.errors.UsageError` if the run does not hold this match.
        """
        pieces = self.manifest.pieces
        is_number = isinstance(index, int) and not isinstance(index, bool)
        held = [each for each in pieces if is_number and each.start <= index < each.end]
        if not held:
            raise UsageError(f"match: {quote(index)} is not in the run; use {spans_of(pieces)}")
        deals, matches = held[0].parts
        found = (
            scan(self._deals_folder, [deals], deal_notes(self.players)),
            scan(self._matches_folder, [matches], match_notes(self.players)),
        )
        rows, row = (frame.filter(pl.col("match") == index).collect() for frame in found)
        return rows.sort("number"), row

    @property
    def play(self) -> str:
        """Who played: ``policy greedy``, or the policies by player, from player 1."""
        return play_of(self.plan)

    def provenance(self) -> str:
        """One line that says where the numbers come from: rules, policies, seed, matches."""
        version = self.manifest.versions.get("milsim", "?")
        return provenance_of(self.plan, spans_of(self.manifest.pieces), version) + told(
            self.manifest.origins
        )

    @property
    def _deals_folder(self) -> Path:
        return self.folder / PARTS_FOLDER

    @property
    def _matches_folder(self) -> Path:
        return self.folder / MATCHES_FOLDER

    def __repr__(self) -> str:
        """A short text: folder, matches, provenance."""
        return f"MatchRun({str(self.folder)!r}, {self.played:,} matches: {self.provenance()})"

    def _repr_html_(self) -> str:
        return f"<b>{self.played:,} matches</b> · {html.escape(self.provenance())}"


def play_of(plan: MatchPlan) -> str:
    """Who plays: ``policy greedy``, or the policies by player, from player 1.

    >>> play_of(MatchPlan.make(matches=1, policy="greedy,random,greedy"))
    'policies greedy/random/greedy'
    """
    names = plan.policies
    return f"policy {names[0]}" if len(set(names)) == 1 else f"policies {'/'.join(names)}"


def provenance_of(plan: MatchPlan, played: str, version: str) -> str:
    """One line: rules, policies, seed, the matches that were played of a plan, version."""
    matches = f"match{'' if played.isdigit() else 'es'} {played}"
    return (
        f"rules {plan.rules.name} ({digest(plan.rules)[:8]}) · {play_of(plan)} · "
        f"seed {plan.seed}, {matches} · milsim {version}"
    )


def open_any(folder: str | Path) -> Run | MatchRun:
    """A run folder of either kind, opened; raises RunError as :meth:`Run.open` does."""
    path = Path(folder)
    if isinstance(read_manifest(path).plan, MatchPlan):
        return MatchRun.open(path)
    return Run.open(path)
