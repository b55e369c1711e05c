"""The printed report ``marriages``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from milsim.reports.counterfactual import REPLAYS, Counterfactual, half_marriages
from milsim.reports.marriage_frames import MarriageCounts, number_frame, replayed, suit_frame
from milsim.reports.marriage_parts import halves_frame, parts_frame, worth_of
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
from milsim.store.run import PLAYED, Run

READING = (
    "How to read a row: so often, in % of the deals, the declarer held the king and queen of the "
    "suit in his 7 cards, got them complete from the talon, held them in 10 cards, kept them in 8 "
    "and declared them; so many points it was worth to him."
)


def marriages_report(
    run: AnyRun,
    *,
    replays: int = REPLAYS,
    threads: int | None = None,
    known: Mapping[int, Counterfactual] | None = None,
) -> Report:
    """The report ``marriages``: how often, what for, and by how many.

    ``known``: what :func:`~milsim.reports.marriage_frames.replayed` found before.
    """
    run = opened(run)
    counts = MarriageCounts.of(run)
    found = replayed(run, replays=replays, threads=threads) if known is None else known
    suits = suit_frame(counts, worth=worth_of(found))
    halves = halves_frame(run, half_marriages(run, replays=replays, threads=threads))
    numbers = number_frame(counts)
    exact = has_exact_chances(run)
    return Report(
        name="marriages",
        title="What a marriage is worth",
        kind=KIND,
        model=model_of(run),
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(run, suits)),
        tables=(
            _often(suits, exact),
            _worth(suits),
            _parts(parts_frame(run, found), run.model == PLAYED),
            _halves(halves, exact),
            _by_number(numbers, exact),
        ),
    )


def _notes(run: Run, suits: pl.DataFrame) -> Iterator[str]:
    yield from run_notes(run)
    yield INTERVALS
    most = max(suits["worth_n"])
    if most:
        again = "played again by the same policy" if run.model == PLAYED else "solved again"
        yield (
            f"worth: the first deals with the marriage in the 10 cards ({most:,} at most), {again} "
            "with the same declarer and contract, but the marriage counting nothing (it still "
            "makes trump); the mean loss of his points, deal by deal."
        )
        yield from _of_parts(run)
    yield (
        "with and without compare different deals: who holds a king and queen also holds other "
        "cards than who does not, so their difference is not what the marriage is worth."
    )
    yield (
        "any: at least one marriage; its trick is that of the first one declared, its worth what "
        "is lost when no marriage counts."
    )
    if has_exact_chances(run):
        yield "exact: the chance for random cards, counted."


def _of_parts(run: Run) -> Iterator[str]:
    if run.model == PLAYED:
        yield (
            "parts: paid for the declaration (what it pays, as often as it is declared) and other "
            "points gained or lost to get that, together the worth; trump: that the suit becomes "
            "trump; the cards: king and queen as such. They add up to the whole, deal by deal."
        )
        yield (
            "trump: the same deals again, but nobody can declare it; the exchange stays. "
            "the cards: then with its king or queen, by a fair draw, exchanged for a defender's "
            "card that makes no marriage. So the whole is what the other half brings if it comes, "
            "rather than another card."
        )
    else:
        yield (
            "parts: worth, paid or not; trump: that the suit becomes trump; the cards: king and "
            "queen as such, against the same hand with one of them exchanged for a defender's card "
            "that makes no marriage. What is paid alone is not known double dummy."
        )
    yield (
        "half: in deals with just one of the two in his 7 cards, what he would have less if "
        "nobody could declare this marriage."
    )


def _sampled(header: str, name: str, exact: bool, rank: int = 0) -> tuple[Column, ...]:
    """A column of proportions and, where the chances are known, the exact one beside it."""
    column = spread_column(header, name, rank=rank)
    counted = Column("exact", f"{name}_exact", "exact", rank=max(rank, 3))
    return (column, counted) if exact else (column,)


def _often(frame: pl.DataFrame, exact: bool) -> Table:
    return Table(
        name="suit",
        title="How often, in % of the deals",
        frame=frame,
        columns=(
            Column("marriage", "suit"),
            *_sampled("in 7\ncards", "held7", exact),
            *_sampled("from the\ntalon", "completed", exact, rank=1),
            *_sampled("in 10\ncards", "held10", exact, rank=2),
            spread_column("kept\nin 8", "kept8", rank=4),
            spread_column("declared", "declared", rank=1),
            spread_column("declared\nby anyone", "by_anyone", rank=5),
        ),
        summary=True,
    )


def _worth(frame: pl.DataFrame) -> Table:
    return Table(
        name="suit",
        title="What it is worth to the declarer, in points, if it is in his 10 cards",
        frame=frame,
        columns=(
            Column("marriage", "suit"),
            Column("pays", "value", "count", missing=""),
            spread_column("worth", "worth", "points"),
            spread_column("points\nwith it", "points_with", "points", rank=1),
            spread_column("points\nwithout", "points_without", "points", rank=2),
            spread_column("contract made\nwith it, %", "made_with", rank=1),
            spread_column("made\nwithout, %", "made_without", rank=3),
            spread_column("declared\nin trick", "trick_mean", "points", rank=4),
        ),
        summary=True,
    )


def _parts(frame: pl.DataFrame, is_played: bool) -> Table:
    paid = (
        spread_column("declared\nin %", "declared", rank=4),
        spread_column("\npaid", "paid", "points", rank=1),
        spread_column("other\npoints", "other", "points", rank=5),
    )
    return Table(
        name="parts",
        title="The same in parts, in points, if it is in his 10 cards",
        frame=frame,
        columns=(
            Column("marriage", "suit"),
            Column("deals", "group"),
            Column("\nn", "n", "count", rank=6),
            *(paid if is_played else (spread_column("\nworth", "worth", "points", rank=1),)),
            spread_column("\ntrump", "trump", "points", rank=2),
            spread_column("the\ncards", "cards", "points", rank=3),
            spread_column("the\nwhole", "whole", "points"),
        ),
        break_on="suit",
        keys=2,
    )


def _halves(frame: pl.DataFrame, exact: bool) -> Table:
    return Table(
        name="halves",
        title="What half a marriage in his 7 cards is worth, in points",
        frame=frame,
        columns=(
            Column("half of", "suit"),
            Column("deals", "n", "count", rank=3),
            *_sampled("completed\nin %", "completed", exact, rank=1),
            spread_column("worth of\nthe chance", "chance", "points"),
            spread_column("when it is\ncompleted", "when_completed", "points", rank=2),
            spread_column("when it\nis not", "when_not", "points", rank=2),
        ),
    )


def _by_number(frame: pl.DataFrame, exact: bool) -> Table:
    return Table(
        name="number",
        title="By how many (in % of the deals; points and contracts by the number in 10 cards)",
        frame=frame,
        columns=(
            Column("marriages", "marriages", "count", missing="all"),
            *_sampled("in 7\ncards", "held7", exact),
            *_sampled("from the\ntalon", "completed", exact, rank=4),
            *_sampled("in 10\ncards", "held10", exact, rank=2),
            spread_column("kept\nin 8", "kept8", rank=5),
            spread_column("declared", "declared", rank=2),
            spread_column("points\nmean", "points_mean", "points", rank=1),
            spread_column("contract\nmade, %", "made", rank=2),
        ),
        summary=True,
    )
