"""The same deals by several models: what each got for the declarer, deal by deal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from milsim.errors import RunError, UsageError
from milsim.reports.provenance import AnyRun, opened, played
from milsim.rules import digest
from milsim.store.run import DOUBLE_DUMMY, Run

KEYS = ("marriages", "aces", "guarded_tens")
_ROW = ("index", "deal", "declarer", "contract", "made", "declarer_points")


@dataclass(frozen=True, slots=True)
class Model:
    """Whose points: its name, the run they come from, and whether they are double dummy."""

    name: str
    run: Run
    double_dummy: bool


@dataclass(frozen=True, slots=True)
class CommonDeals:
    """Deals that all models have, one row each, sorted by index.

    ``rows`` has index, the class of the declarer's 7 cards (KEYS), the contract named in the first
    run, and declarer points by model, ``points_0`` (the base), ``points_1`` …
    """

    models: tuple[Model, ...]
    rows: pl.DataFrame

    @property
    def runs(self) -> list[Run]:
        """The runs behind the models, each once."""
        found: list[Run] = []
        for model in self.models:
            if all(model.run.folder != run.folder for run in found):
                found.append(model.run)
        return found


def common_deals(runs: Sequence[AnyRun]) -> CommonDeals:
    """What all runs have in common: double dummy, if a run has it, then the policy of each run.

    Raises :class:`~milsim.errors.RunError` if the runs do not hold the same deals under the same
    rules with the same declarer, :class:`~milsim.errors.UsageError` if there is nothing to compare.
    """
    chosen = [played(opened(run)) for run in runs]
    if not chosen:
        raise UsageError("report bias: no run given; name one of milsim simulate --dd, or several")
    for run in chosen[1:]:
        _check_common(chosen[0], run)
    models = [Model(run.play, run, False) for run in chosen]
    solved = [run for run in chosen if run.plan.dd != "off"]
    if solved:
        best = [run for run in solved if run.plan.dd == "exchange"] or solved
        name = "double dummy" if best[0].plan.dd == "exchange" else "double dummy, gifts as played"
        models.insert(0, Model(name, best[0], True))
    names = [model.name for model in models]
    if len(models) < 2:
        raise UsageError(
            f"report bias: {chosen[0].folder} holds one model, {names[0]}; simulate with --dd "
            "exchange, or give runs of the same deals by other policies"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"report bias: {twice} is given twice; give runs of different policies")
    rows: pl.DataFrame | None = None
    for place, model in enumerate(models):
        mine = _points_of(model, f"points_{place}")
        if rows is not None:
            mine = rows.join(mine.drop(*KEYS, "contract"), on=["index", "deal"])
        rows = mine
    assert rows is not None
    # The contract of the first run as it was played, not as it was solved.
    contracts = chosen[0].frame().select("index", "contract").collect()
    rows = rows.drop("contract").join(contracts, on="index").sort("index")
    if rows.height == 0:
        raise RunError(
            f"run {chosen[1].folder}: no deal in common with {chosen[0].folder}; simulate both "
            "with the same --seed, --start and --deals"
        )
    return CommonDeals(tuple(models), rows)


def _points_of(model: Model, name: str) -> pl.DataFrame:
    run = model.run.as_model(DOUBLE_DUMMY) if model.double_dummy else model.run
    return (
        run.frame(features=True)
        .filter(~pl.col("conceded"))
        .select(
            "index",
            "deal",
            *(pl.col(f"hand_{key}").alias(key) for key in KEYS),
            "contract",
            pl.col("declarer_points").alias(name),
        )
        .collect()
    )


def _check_common(first: Run, other: Run) -> None:
    """Raise RunError if two runs do not play the same deals with the same declarer."""
    for run in (first, other):
        if run.plan.mode != "declarer":
            raise RunError(
                f"run {run.folder}: auction mode, in which another policy plays other hands; "
                "several runs are compared in --mode declarer"
            )
    told = {
        "rules": (first.rules.name, other.rules.name),
        "seed": (first.plan.seed, other.plan.seed),
        "where": (first.plan.where or "none", other.plan.where or "none"),
    }
    same = {
        "rules": digest(first.rules) == digest(other.rules),
        "seed": first.plan.seed == other.plan.seed,
        "where": first.plan.where == other.plan.where,
    }
    for what, alike in same.items():
        if not alike:
            a, b = told[what]
            raise RunError(
                f"run {other.folder}: {what} {b}, but {a} in {first.folder}; the deals are not the "
                "same"
            )


__all__ = ["KEYS", "CommonDeals", "Model", "common_deals"]
