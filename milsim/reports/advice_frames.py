"""Report ``advice``: what players are told, each measured on deals that are played for it."""

from __future__ import annotations

from importlib.metadata import version

import polars as pl

from milsim.policies.origins import origins, told
from milsim.reports.advice_claims import CLAIMS, Row, Study
from milsim.reports.advice_play import played
from milsim.reports.compare_parts import Report as Progress
from milsim.reports.formats import render
from milsim.reports.provenance import INTERVALS, KIND
from milsim.reports.table import Column, Report, Table
from milsim.rules import Rules, digest
from milsim.simulation.plan import Plan

DEALS = 100_000
FEWER = 100
"""Deals with a changed habit are asked act by act: one for so many others, within bounds."""
LEAST, MOST = 100, 5_000


def advice(
    *,
    deals: int = DEALS,
    seed: int = 1,
    rules: str | Rules = "mil",
    policy: str = "greedy",
    threads: int | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """What players are told, and what deals say to it: one row a number.

    ``deals`` are played by ``policy`` with forehand as declarer, and as many with bidding; a
    hundredth of them with a changed habit, and as matches. Columns: ``claim`` and its ``source``,
    what was ``measured``, ``unit``, ``value`` with its 95 % interval ``value_low`` to
    ``value_high``, ``n``, the ``verdict`` in words, ``rules`` that it holds under, ``model`` and
    ``kind``.

    Raises a :class:`~milsim.errors.MilsimError` for numbers, rules and policies that cannot be
    used.
    """
    study = _study(deals, seed, rules, policy, threads)
    return pl.DataFrame(_rows(study, progress), infer_schema_length=None).with_columns(
        rules=pl.lit(study.plan.rules.name), kind=pl.lit(KIND)
    )


def advice_report(
    *,
    deals: int = DEALS,
    seed: int = 1,
    rules: str | Rules = "mil",
    policy: str = "greedy",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """The report ``advice``; arguments as in :func:`advice`."""
    study = _study(deals, seed, rules, policy, threads)
    frame = advice(
        deals=deals, seed=seed, rules=rules, policy=policy, threads=threads, progress=progress
    )
    return Report(
        name="advice",
        title=f"What players are told, measured under {study.plan.rules.name}",
        kind=KIND,
        model=study.model,
        provenance=(
            f"rules {study.plan.rules.name} ({digest(study.plan.rules)[:8]}) · {study.model} · "
            f"seed {seed}, deals 0–{study.plan.deals - 1}, changed habits 0–{study.few - 1}, "
            f"matches 0–{study.matches - 1} · milsim {version('milsim')}"
            f"{told(origins([study.policy]))}"
        ),
        reading=(
            "How to read a row: under a claim, what was measured, how much it is, and what that "
            "says of the claim. Scores are those of forehand as declarer, whatever his cards."
        ),
        notes=(
            INTERVALS,
            "Claims are those of the tips in the rules' texts and of players and bots; holds: the "
            "interval lies on the claim's side, or the figure in its range (a fifth either way for "
            "about).",
            "DD: double dummy, all cards known to all. What a policy loses by a habit is told for "
            "this policy and these rules; a stronger one may lose less.",
        ),
        tables=_tables(frame),
    )


def render_advice(format: str, *, width: int | None = None, **options: object) -> bytes:  # noqa: A002
    """The report in one of FORMATS; options are those of :func:`advice`."""
    return render(advice_report(**options), format, width=width)  # type: ignore[arg-type]


def _study(deals: int, seed: int, rules: str | Rules, policy: str, threads: int | None) -> Study:
    plan = Plan.make(deals=deals, seed=seed, mode="declarer", rules=rules, policy=[policy])
    few = min(max(plan.deals // FEWER, LEAST), MOST)
    return Study(plan, few, few, threads)


def _rows(study: Study, progress: Progress | None) -> list[Row]:
    deals = played(study.plan, study.threads)
    rows: list[Row] = []
    for done, (name, claims) in enumerate(CLAIMS):
        if progress is not None:
            progress(name, done, len(CLAIMS))
        rows += claims(study, deals)
    return rows


def _tables(frame: pl.DataFrame) -> tuple[Table, ...]:
    """A table a claim; shares are printed in per cent."""
    share = pl.col("unit") == "share"
    numbers = ("value", "value_low", "value_high")
    printed = frame.with_columns(
        pl.when(share).then(100 * pl.col(name)).otherwise(name).alias(name) for name in numbers
    ).with_columns(pl.when(share).then(pl.lit("%")).otherwise("unit").alias("unit"))
    tables = []
    for place, claim in enumerate(frame["claim"].unique(maintain_order=True), start=1):
        mine = printed.filter(claim=claim)
        tables.append(
            Table(
                name=f"claim {place}",
                title=(
                    f"{claim[0].upper()}{claim[1:]} ({mine['source'][0]}; under {mine['rules'][0]})"
                ),
                frame=mine,
                columns=(
                    Column("measured", "measured"),
                    Column("", "value", "points", "value_low", "value_high"),
                    Column("", "unit"),
                    Column("n", "n", "count", rank=1),
                    Column("verdict", "verdict"),
                    Column("model", "model", rank=2),
                ),
            )
        )
    return tuple(tables)


__all__ = ["advice", "advice_report", "render_advice"]
