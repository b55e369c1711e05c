"""The printed report ``contracts``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator

from milsim.reports.contract_counts import ContractCounts
from milsim.reports.contract_frames import contract_frame
from milsim.reports.provenance import (
    INTERVALS,
    KIND,
    AnyRun,
    has_exact_chances,
    model_of,
    opened,
    run_notes,
)
from milsim.reports.table import Column, Report, Table, spread_column

READING = (
    "How to read a row: if every declarer played this contract, so many of 100 would make it, and "
    "it would score so much on average; it is the best contract for so many % of the hands. Below, "
    "in so many deals it was named, and so much more the best contract would have scored."
)


def contracts_report(run: AnyRun) -> Report:
    """The report ``contracts``: each contract for all hands, and what was named."""
    run = opened(run)
    counts = ContractCounts.of(run)
    return Report(
        name="contracts",
        title="What the contracts bring",
        kind=KIND,
        model=model_of(run),
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(counts)),
        tables=(_each(counts), _named(counts)),
    )


def _notes(counts: ContractCounts) -> Iterator[str]:
    run = counts.run
    yield from run_notes(run)
    yield INTERVALS
    yield (
        "even: the chance at which the contract scores 0 on average. best: of the highest mean "
        "score for such hands (by marriages, aces and guarded tens), among the contracts that the "
        "rules allow with each of them; all: each hand in its best contract. allowed: hands of 7 "
        "cards with which so much may be bid."
    )
    raised = "to the cap of his cards" if run.rules.talon.raise_contract else "and no other"
    yield (
        "Afterwards: with the points that he took, one contract would have scored most, of those "
        f"that he could name: his bid {raised}. regret: how much more it scores than the contract "
        "named; too high, too low: how often that was above it or below it. Nobody knows the "
        "points before, so no way to name contracts has a regret of 0."
    )
    if counts.knows_scores:
        yield "score, below: the declarer's own score of the deal."
    if has_exact_chances(run):
        yield "exact: the share among all 346,104 hands, counted."


def _each(counts: ContractCounts) -> Table:
    known = has_exact_chances(counts.run)
    beside = (Column("exact\n%", "allowed_exact", "exact", rank=5),) if known else ()
    return Table(
        name="contract",
        title="Each contract, as if all declarers played it",
        frame=contract_frame(counts, "contract"),
        columns=(
            Column("contract", "contract", "count", missing="all"),
            spread_column("makes\nit, %", "p"),
            Column("even\n%", "break_even", "percent", rank=4),
            spread_column("score", "score", "points", rank=1),
            Column("best for\ndeals", "best_n", "count", rank=6),
            spread_column("best for\n%", "best", rank=2),
            spread_column("allowed\n%", "allowed", rank=3),
            *beside,
        ),
        summary=True,
    )


def _named(counts: ContractCounts) -> Table:
    scores = (spread_column("score", "score", "points", rank=2),) if counts.knows_scores else ()
    return Table(
        name="named",
        title="What was bid and named, and what would have been best afterwards",
        frame=contract_frame(counts, "named"),
        columns=(
            Column("contract", "contract", "count", missing="all"),
            Column("final\nbids", "bid_n", "count", rank=4),
            Column("named", "n", "count"),
            spread_column("share\n%", "share", rank=7),
            spread_column("made\n%", "made", rank=1),
            spread_column("points\nmean", "points", "points", rank=5),
            *scores,
            spread_column("regret", "regret", "points"),
            spread_column("too\nhigh, %", "too_high", rank=3),
            spread_column("too\nlow, %", "too_low", rank=3),
            Column("best in\ndeals", "best_n", "count", rank=5),
        ),
        summary=True,
    )
