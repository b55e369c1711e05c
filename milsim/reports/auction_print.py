"""The printed report ``auction``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator

from milsim.reports.auction_frames import (
    AnyRunOrMatches,
    AuctionCounts,
    auction_frame,
    opened_with_auctions,
)
from milsim.reports.provenance import INTERVALS, KIND
from milsim.reports.table import Column, Report, Style, Table, spread_column
from milsim.store.match_run import MatchRun
from milsim.store.run import Run

MIN_SHARE = 100
"""Contracts and bids of less than 1 in so many deals are not printed one by one, only as data."""

READING = (
    "How to read a row: in so many deals this was the contract; the declarer made it in so many % "
    "of them, and on average it scored so much for him and so much for a defender."
)


def auction_report(run: AnyRunOrMatches) -> Report:
    """The report ``auction``: what was bid, what it brought, what passing earned."""
    run = opened_with_auctions(run)
    counts = AuctionCounts.of(run)
    return Report(
        name="auction",
        title="What was bid, and what it brought",
        kind=KIND,
        model=run.play,
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(run)),
        tables=(
            _by_contract(counts),
            _by_bid(counts),
            _by_seat(counts),
            _by_marriages(counts),
            _passing(counts),
        ),
    )


def _notes(run: Run | MatchRun) -> Iterator[str]:
    if isinstance(run, MatchRun):
        if not run.complete:
            yield f"The run was interrupted: {run.played:,} of {run.plan.matches:,} matches."
        yield (
            "Deals of whole matches: the scores in the match, such as a lock, had their part in "
            "the bidding. Intervals take matches as the unit, for their deals belong together."
        )
    else:
        if run.plan.where:
            yield f"Only deals with a chosen hand of forehand: {run.plan.where}."
        if not run.complete:
            yield f"The run was interrupted: {run.deals:,} of {run.plan.deals:,} deals."
        yield "Single deals, each as the first of a match: no scores had a part in the bidding."
    yield INTERVALS
    yield (
        "score: what the deal brings by itself, before lock, barrel, bolts and the like; of a "
        "defender: the mean of the two."
    )
    if run.rules.talon.concede != "off":
        yield (
            "A conceded deal counts as a contract not made, at the price of the concession; its "
            "contract is the bid."
        )
    yield (
        "Who passed holds other cards than who declared: the two scores beside each other do not "
        "say what he would have got by bidding."
    )


def _outcome(counts: AuctionCounts) -> tuple[Column, ...]:
    concede = counts.run.rules.talon.concede != "off"
    return (
        spread_column("made\n%", "made"),
        *((spread_column("conceded\n%", "conceded", rank=3),) if concede else ()),
        spread_column("score as\ndeclarer", "score", "points"),
    )


def _by_contract(counts: AuctionCounts) -> Table:
    return Table(
        name="contract",
        title="By contract",
        frame=auction_frame(counts, "contract"),
        columns=(
            Column("contract", "contract", "count", missing="all"),
            Column("deals", "n", "count", rank=1),
            spread_column("share\n%", "share", rank=6),
            spread_column("bid\nmean", "bid_mean", "points", rank=4),
            *_outcome(counts),
            spread_column("score as\ndefender", "score_defender", "points", rank=2),
        ),
        summary=True,
        min_deals=max(2, counts.deals // MIN_SHARE),
    )


def _by_bid(counts: AuctionCounts) -> Table:
    return Table(
        name="bid",
        title="By final bid",
        frame=auction_frame(counts, "bid"),
        columns=(
            Column("bid", "bid", "count", missing="all"),
            Column("deals", "n", "count", rank=1),
            spread_column("share\n%", "share", rank=6),
            spread_column("raised\n%", "raised", rank=2),
            spread_column("contract\nmean", "contract_mean", "points", rank=4),
            *_outcome(counts),
        ),
        summary=True,
        min_deals=max(2, counts.deals // MIN_SHARE),
    )


def _by_hand(counts: AuctionCounts, table: str, head: str, title: str) -> Table:
    style: Style = "text" if table == "seat" else "count"
    return Table(
        name=table,
        title=title,
        frame=auction_frame(counts, table),
        columns=(
            Column(head, table, style, missing="all"),
            Column("hands", "n", "count", rank=3),
            spread_column("declares\n%", "declares"),
            spread_column("bid\nmean", "bid_mean", "points", rank=2),
            spread_column("contract\nmean", "contract_mean", "points", rank=4),
            *_outcome(counts),
            spread_column("score as\ndefender", "score_passed", "points", rank=1),
        ),
        summary=True,
    )


def _by_seat(counts: AuctionCounts) -> Table:
    return _by_hand(counts, "seat", "seat", "By seat")


def _by_marriages(counts: AuctionCounts) -> Table:
    return _by_hand(
        counts,
        "marriages",
        "marriages",
        "By marriages in the 7 cards, hands of all three seats",
    )


def _passing(counts: AuctionCounts) -> Table:
    return Table(
        name="passing",
        title="What passing earned: the score of a deal by what the hand did in the auction",
        frame=auction_frame(counts, "passing"),
        columns=(
            Column("hand", "hand"),
            Column("hands", "n", "count", rank=1),
            spread_column("share\n%", "share"),
            spread_column("score", "score", "points"),
        ),
    )
