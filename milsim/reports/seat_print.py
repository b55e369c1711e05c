"""The printed report ``seats``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator

from milsim.reports.provenance import (
    INTERVALS,
    KIND,
    AnyRun,
    has_exact_chances,
    in_words,
    model_of,
    opened,
)
from milsim.reports.seat_counts import SeatCounts
from milsim.reports.seat_frames import seat_frame
from milsim.reports.table import Column, Report, Table, spread_column

READING = (
    "How to read a row: this seat declared so often; as declarer it made its contract in so many "
    "of 100 deals and scored so much on average, as defender so much, and over all deals so much "
    "more or less than the mean of the three."
)


def seats_report(run: AnyRun) -> Report:
    """The report ``seats``: by seat, by role, and how many hold a marriage."""
    run = opened(run)
    counts = SeatCounts.of(run)
    play = (_taken(counts), _roles(counts)) if counts.knows_play else ()
    return Report(
        name="seats",
        title="What the seats do and get",
        kind=KIND,
        model=model_of(run),
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(counts)),
        tables=(_declaring(counts), *play, _holders(counts)),
    )


def _notes(counts: SeatCounts) -> Iterator[str]:
    run = counts.run
    if run.plan.mode == "auction":
        yield (
            "Who declared won the auction, so seats that declare seldom do so with better hands: "
            "columns of declarers compare hands as well as seats, the mean score of all deals only "
            "seats."
        )
    else:
        yield "Forehand declared every deal, whatever his cards."
    if len(set(run.plan.policies)) > 1:
        names = ", ".join(run.plan.policies)
        yield f"The seats were played by different policies: {names}."
    if run.plan.where:
        yield f"Only deals in which forehand was dealt: {in_words(run.plan.where)}."
    if not run.complete:
        yield f"The run was interrupted: {run.deals:,} of {run.plan.deals:,} deals."
    yield INTERVALS
    if not counts.knows_play:
        yield (
            "Double dummy knows the declarer's points only: scores, tricks and what the defenders "
            "take are left out. Bids and contracts are those that were named."
        )
    else:
        yield (
            "The last row adds up the seats for declares, tricks, card points, marriages and "
            "scores; its other columns are of all seats together. more: than the mean of the "
            "three, or than the other defender, in the same deals. Scores are those of the deal "
            "itself, before what a match does to them."
        )
    if run.rules.talon.concede != "off":
        yield (
            "Conceded deals are contracts not made; they are left out of points, tricks and "
            "marriages, for nothing was played."
        )
    if counts.has_sitter:
        yield "The dealer sits out; the rules give him the score for what is in the talon."
    if has_exact_chances(run):
        yield "exact: the chance for random cards, counted."


def _declaring(counts: SeatCounts) -> Table:
    known = counts.knows_play
    scores = (
        spread_column("score as\ndeclarer", "score_declarer", "points", rank=2),
        spread_column("score as\ndefender", "score_defender", "points", rank=3),
        spread_column("score\nmean", "score", "points"),
        spread_column("more", "difference", "points", rank=1),
    )
    exact = (Column("exact", "score_exact", "points", rank=2, missing=""),)
    with_exact = counts.has_sitter and has_exact_chances(counts.run)
    return Table(
        name="seat",
        title="By seat: who declares, and how it goes",
        frame=seat_frame(counts, "seat"),
        columns=(
            Column("seat", "seat"),
            spread_column("declares\n%", "declares"),
            spread_column("bids\n%", "bids", rank=7),
            spread_column("highest\nbid", "bid_mean", "points", rank=8),
            spread_column("final\nbid", "won_bid_mean", "points", rank=5),
            spread_column("contract\nmean", "contract_mean", "points", rank=6),
            spread_column("made\n%", "made", rank=2),
            spread_column("declarer\npoints", "points_mean", "points", rank=4),
            *(scores if known else ()),
            *(exact if known and with_exact else ()),
        ),
        summary=True,
    )


def _taken(counts: SeatCounts) -> Table:
    known = has_exact_chances(counts.run)
    beside = (Column("exact\n%", "held7_exact", "exact", rank=5),) if known else ()
    return Table(
        name="seat",
        title="By seat: what it takes, on average over all deals",
        frame=seat_frame(counts, "seat"),
        columns=(
            Column("seat", "seat"),
            spread_column("tricks", "tricks", "points", rank=2),
            spread_column("card\npoints", "card_points", "points", rank=1),
            spread_column("marriages\npoints", "marriages", "points", rank=2),
            spread_column("declares\none, %", "declared", rank=3),
            spread_column("has one in\n7 cards, %", "held7", rank=4),
            *beside,
            spread_column("score", "score", "points"),
        ),
        summary=True,
    )


def _roles(counts: SeatCounts) -> Table:
    return Table(
        name="role",
        title="By role, on average over all deals",
        frame=seat_frame(counts, "role"),
        columns=(
            Column("role", "role"),
            spread_column("tricks", "tricks", "points", rank=2),
            spread_column("card\npoints", "card_points", "points", rank=1),
            spread_column("marriages\npoints", "marriages", "points", rank=2),
            spread_column("declares\none, %", "declared", rank=3),
            spread_column("score", "score", "points"),
            spread_column("more", "difference", "points", rank=1),
        ),
        summary=True,
    )


def _holders(counts: SeatCounts) -> Table:
    known = has_exact_chances(counts.run)
    beside = (Column("exact\n%", "share_exact", "exact", rank=1),) if known else ()
    return Table(
        name="holders",
        title="By how many of the players hold a marriage in their 7 cards",
        frame=seat_frame(counts, "holders"),
        columns=(
            Column("players", "holders", "count", missing="all"),
            Column("deals", "n", "count", rank=2),
            spread_column("share\n%", "share"),
            *beside,
            spread_column("declarer\npoints", "points_mean", "points"),
        ),
        summary=True,
    )
