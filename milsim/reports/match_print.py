"""The printed report ``match``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator

from milsim.deals import SEAT_NAMES
from milsim.reports.match_counts import MatchCounts
from milsim.reports.match_frames import FRAMES, PLACES, AnyMatchRun, opened_matches
from milsim.reports.provenance import INTERVALS, KIND
from milsim.reports.table import Column, Report, Table, spread_column
from milsim.store.match_run import MatchRun

READING = (
    "How to read a row of the ranking: with so many of the players at the table, the policy won "
    "so many of the matches, in % of all; a won match counts with the winner's points."
)


def match_report(run: AnyMatchRun) -> Report:
    """The report ``match``: who wins, how long it takes, and what decides."""
    run = opened_matches(run)
    counts = MatchCounts.of(run)
    makers = (
        _ranking, _players, _first_deal, _length, _scores, _declarers, _endings, _rules
    )  # fmt: skip
    return Report(
        name="match",
        title=f"How matches to {run.rules.match.target} points go",
        kind=KIND,
        model=run.play,
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(run, counts)),
        tables=tuple(maker(counts) for maker in makers),
    )


def _notes(run: MatchRun, counts: MatchCounts) -> Iterator[str]:
    if not run.complete:
        yield f"The run was interrupted: {run.played:,} of {run.plan.matches:,} matches."
    yield INTERVALS
    yield "Deals of one match are no independent sample; their intervals take matches as the unit."
    stopped = sum(counts.lengths["nobody"].values())
    if stopped:
        yield (
            f"{stopped:,} of {counts.matches:,} matches were stopped after "
            f"{run.rules.match.max_deals} deals (match.max_deals); nobody won them."
        )
    else:
        yield f"No match was stopped: all were won within {run.rules.match.max_deals} deals."
    yield (
        "The first deal of match m is given by player m − 1, counted round the table, so nobody "
        "keeps a seat."
    )
    yield (
        "score: what a deal brings by itself, before lock, barrel, bolts and the like. A conceded "
        "deal is a contract not made, at the price of the concession."
    )
    if counts.brakes:
        yield (
            "acts in: matches in which the rule took or stopped something (barrel: somebody "
            "mounted it; bolts: a penalty was paid). points: what it took from all players, a "
            "match. decides: a loser would have reached the target as well, had this rule left "
            "him what it took from him, all else as played."
        )
    missing = [
        name
        for name, value in (
            ("lock", run.rules.match.lock),
            ("barrel", run.rules.match.barrel),
            ("bolts", run.rules.match.bolts),
            ("dump truck", run.rules.match.dump_truck),
        )
        if value == "off"
    ]
    if missing:
        yield f"These rules have no {_listed(missing)}."


def _listed(names: list[str]) -> str:
    """Names with commas and an "and no".

    >>> _listed(["barrel"]), _listed(["barrel", "bolts", "dump truck"])
    ('barrel', 'barrel, no bolts and no dump truck')
    """
    if len(names) == 1:
        return names[0]
    return ", no ".join(names[:-1]) + f" and no {names[-1]}"


def _ranking(counts: MatchCounts) -> Table:
    return Table(
        name="ranking",
        title="Ranking: matches won and the points they were won with, by policy",
        frame=FRAMES["ranking"](counts),
        columns=(
            Column("policy", "policy"),
            Column("players", "players", "count", rank=4),
            Column("matches", "n", "count", rank=2),
            Column("won", "won", "count", rank=1),
            spread_column("won\n%", "won_share"),
            Column("points\nwon", "points", "count"),
            spread_column("points\na win", "points_a_win", "points", rank=3),
            spread_column("points\na match", "points_a_match", "points", rank=3),
        ),
    )


def _players(counts: MatchCounts) -> Table:
    return Table(
        name="players",
        title="By player, numbered clockwise round the table",
        frame=FRAMES["players"](counts),
        keys=2,
        columns=(
            Column("player", "player", "count"),
            Column("policy", "policy"),
            Column("matches", "n", "count", rank=2),
            Column("won", "won", "count", rank=2),
            spread_column("won\n%", "won_share"),
            spread_column("points\na win", "points_a_win", "points", rank=3),
            spread_column("final\nscore", "final_mean", "points"),
        ),
    )


def _first_deal(counts: MatchCounts) -> Table:
    dealer = "rearhand deals" if counts.run.players == len(SEAT_NAMES) else "the dealer sits out"
    return Table(
        name="first_deal",
        title=f"By the winner's seat in the first deal ({dealer})",
        frame=FRAMES["first_deal"](counts),
        columns=(
            Column("seat", "seat"),
            Column("matches", "n", "count", rank=2),
            Column("won", "won", "count", rank=1),
            spread_column("won\n%", "won_share"),
        ),
    )


def _length(counts: MatchCounts) -> Table:
    marks = ((10, 6), (25, 4), (50, 2), (75, 4), (90, 6))
    return Table(
        name="length",
        title="Length in deals (quantiles: so many % of the matches had so many deals or fewer)",
        frame=FRAMES["length"](counts),
        columns=(
            Column("matches", "matches"),
            Column("n", "n", "count"),
            spread_column("share\n%", "share", rank=3),
            spread_column("deals\nmean", "deals_mean", "points"),
            Column("least", "deals_least", "count", rank=7),
            *(Column(f"{at} %", f"deals_q{at}", "count", rank=rank) for at, rank in marks),
            Column("most", "deals_most", "count", rank=7),
        ),
    )


def _scores(counts: MatchCounts) -> Table:
    places = [*PLACES[: counts.run.players - 1], PLACES[-1]]
    return Table(
        name="scores",
        title="Scores over time: mean score of the leader and the others after so many deals",
        frame=FRAMES["scores"](counts),
        columns=(
            Column("deals", "deals", "count"),
            Column("matches", "n", "count"),
            *(spread_column(place, f"{place}_mean", "points") for place in places),
            spread_column("over by\nthen, %", "over_share", rank=2),
        ),
        min_deals=MIN_MATCHES if counts.matches >= 10 * MIN_MATCHES else 0,
    )


MIN_MATCHES = 30
"""Scores after so many deals are printed for at least so many matches; data formats have all."""


def _declarers(counts: MatchCounts) -> Table:
    concede = counts.run.rules.talon.concede != "off"
    return Table(
        name="declarers",
        title="Deals by declarer: how often, bids, contracts made, and scores",
        frame=FRAMES["declarers"](counts),
        keys=2,
        columns=(
            Column("player", "player", "count", missing="all"),
            Column("policy", "policy", missing=""),
            Column("declared", "n", "count", rank=4),
            spread_column("declares\n%", "declares", rank=2),
            spread_column("bid\nmean", "bid_mean", "points"),
            spread_column("contract\nmean", "contract_mean", "points", rank=3),
            spread_column("made\n%", "made"),
            *((spread_column("conceded\n%", "conceded", rank=5),) if concede else ()),
            spread_column("score as\ndeclarer", "score_declarer", "points", rank=1),
            spread_column("score as\ndefender", "score_other", "points", rank=1),
        ),
        summary=True,
    )


def _endings(counts: MatchCounts) -> Table:
    return Table(
        name="endings",
        title="How matches are won",
        frame=FRAMES["endings"](counts),
        columns=(
            Column("won", "ending"),
            Column("matches", "n", "count"),
            spread_column("share\n%", "share"),
            spread_column("deals\nmean", "deals_mean", "points", rank=1),
            spread_column("winner's\npoints", "points_mean", "points", rank=2),
        ),
        summary=True,
    )


def _rules(counts: MatchCounts) -> Table:
    return Table(
        name="rules",
        title="What lock, barrel, bolts and the like do, in % of the matches",
        frame=FRAMES["rules"](counts),
        columns=(
            Column("rule", "rule"),
            Column("matches", "n", "count", rank=5),
            spread_column("acts in\n%", "acted_share"),
            spread_column("times\na match", "times_mean", "points", rank=2),
            spread_column("points\na match", "points_mean", "points", rank=1),
            spread_column("decides\n%", "decided_share"),
        ),
    )
