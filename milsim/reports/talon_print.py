"""The printed report ``talon``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator

from milsim.reports.provenance import (
    INTERVALS,
    KIND,
    AnyRun,
    has_exact_chances,
    model_of,
    opened,
    run_notes,
)
from milsim.reports.table import Column, Joined, Report, Table, spread_column
from milsim.reports.talon_counts import TalonCounts
from milsim.reports.talon_frames import talon_frame

MOST_CONTRACTS = 3
"""Contracts that a printed table has room for; the data formats have them all."""

READING = (
    "How to read a row: in so many % of the deals the talon was of this kind; the declarer then "
    "took so many points on average, so many more or fewer (−) than with any talon, and would have "
    "made each contract in so many of 100 deals."
)


def talon_report(run: AnyRun) -> Report:
    """The report ``talon``: by what it holds, by card, what it decides, what hands wait for."""
    run = opened(run)
    counts = TalonCounts.of(run)
    return Report(
        name="talon",
        title="What the talon brings the declarer",
        kind=KIND,
        model=model_of(run),
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(counts)),
        tables=(
            _holds(counts),
            _by_card(counts),
            _gain(counts),
            _waiting(counts, "marriages"),
            _waiting(counts, "hand"),
            _wanted(counts),
        ),
    )


def _notes(counts: TalonCounts) -> Iterator[str]:
    run = counts.run
    yield from run_notes(run)
    yield INTERVALS
    yield (
        "more: the mean points with such a talon less the mean of all deals; each talon is among "
        "these too, and the interval is of this difference."
    )
    yield (
        "Marriages completed are those in the 10 cards but not in the 7, whole ones from the talon "
        "among them. By card each deal is counted three times, once for each card of its talon."
    )
    yield (
        "The points of a deal, less the mean of all deals, are three parts that add up: what a "
        "hand of his class takes on average (marriages, aces, guarded tens); the gain of the "
        "talon, what that class takes more or less with a talon that completes these marriages "
        "and holds so many aces; and everything else: other cards, gifts, defenders, play. "
        "share: of the variance."
    )
    yield (
        "worth compares hands of a row whose marriages were completed with those whose were not; "
        "over all hands these are not the same hands."
    )
    if counts.knows_scores:
        yield "score: the declarer's own score of the deal, in the contract he named."
    if has_exact_chances(run):
        yield "exact: the chance for random cards, counted."


def _share(
    counts: TalonCounts, header: str = "share\n%", name: str = "share", *, rank: int = 2
) -> tuple[Column, ...]:
    """A column of proportions and, where the chances are known, the exact one beside it."""
    known = has_exact_chances(counts.run)
    beside = (Column("exact\n%", f"{name}_exact", "exact", rank=max(rank, 6)),) if known else ()
    return (spread_column(header, name, rank=rank), *beside)


def _outcome(counts: TalonCounts, *, share: bool = True) -> tuple[Column, ...]:
    """How often, and how the declarers fared; without ``share`` that is the first to be dropped."""
    shown = [contract.value for contract in counts.contracts]
    minimum = counts.run.rules.auction.minimum
    wanted = [value for value in (minimum, minimum + 20, minimum + 40) if value in shown]
    score = (spread_column("score", "score", "points", rank=4),) if counts.knows_scores else ()
    return (
        Column("deals", "n", "count", rank=8),
        *_share(counts, rank=2 if share else 9),
        spread_column("points\nmean", "points_mean", "points"),
        spread_column("more", "gain", "points", rank=1),
        *(
            spread_column(f"makes\n{value}, %", f"p_{value}", rank=3 + 2 * place)
            for place, value in enumerate(wanted[:MOST_CONTRACTS])
        ),
        *score,
    )


def _holds(counts: TalonCounts) -> Table:
    return Table(
        name="holds",
        title="By what the talon holds",
        frame=talon_frame(counts, "holds"),
        keys=2,
        joined=Joined("talon", ": ", "talon: what it holds, and how many or much"),
        columns=(Column("talon", "holds"), Column("", "value"), *_outcome(counts)),
        break_on="holds",
        summary=True,
    )


def _by_card(counts: TalonCounts) -> Table:
    return Table(
        name="card",
        title="By card: talons that hold it",
        frame=talon_frame(counts, "card"),
        columns=(Column("card", "card"), *_outcome(counts, share=False)),
        break_on="rank",
        summary=True,
    )


def _gain(counts: TalonCounts) -> Table:
    return Table(
        name="gain",
        title="What decides the points: more or less than the mean of all deals, by its causes",
        frame=talon_frame(counts, "gain"),
        columns=(
            Column("cause", "part"),
            spread_column("share\n%", "share"),
            Column("standard\ndeviation", "deviation", "points", rank=1),
            *(
                Column(f"{at} % of deals\nat most", f"q{at}", "points", rank=rank)
                for at, rank in ((5, 3), (25, 4), (50, 2), (75, 4), (95, 3))
            ),
        ),
        summary=True,
    )


def _waiting(counts: TalonCounts, name: str) -> Table:
    halves = name == "hand"
    keys = [Column("marr-\niages", "marriages", "count", missing="all")]
    if halves:
        keys.append(Column("half\nmarr.", "half_marriages", "count", missing=""))
    title = "By marriages and half marriages" if halves else "By marriages"
    return Table(
        name=name,
        title=f"{title} in the 7 cards: whether the talon completes another",
        frame=talon_frame(counts, name),
        keys=len(keys),
        joined=Joined("m h", " ", "m h: marriages, half marriages") if halves else None,
        columns=(
            *keys,
            Column("deals", "n", "count", rank=6),
            *_share(counts),
            *_share(counts, "completes\n%", "completes", rank=0),
            spread_column("points\nmean", "points_mean", "points", rank=4),
            spread_column("points if\ncompleted", "points_with", "points", rank=3),
            spread_column("points\nif not", "points_without", "points", rank=3),
            spread_column("worth", "worth", "points", rank=1),
        ),
        break_on="marriages" if halves else None,
        summary=True,
    )


def _wanted(counts: TalonCounts) -> Table:
    return Table(
        name="wanted",
        title="By how many aces and tens the 7 cards lack, of eight: whether the talon brings any "
        "(as for any so many cards wanted)",
        frame=talon_frame(counts, "wanted"),
        columns=(
            Column("lack", "lacking", "count", missing="all"),
            Column("deals", "n", "count", rank=3),
            *_share(counts),
            *_share(counts, "brings\n%", "brings", rank=0),
        ),
        summary=True,
    )
