"""The printed report ``bidding``: which columns of its frames are shown, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from milsim.reports.bidding_frames import checked_by, grid_of, wide_frame
from milsim.reports.contract import shown_contracts
from milsim.reports.hands import BYS, By, HandHistogram
from milsim.reports.provenance import (
    INTERVALS,
    KIND,
    AnyRun,
    has_exact_chances,
    model_of,
    opened,
    run_notes,
)
from milsim.reports.table import Column, Joined, Report, Table
from milsim.store.run import Run

MIN_DEALS = 100
"""Classes with fewer deals are not printed one by one; the data formats have them all."""

GUARDED = "A guarded ten has at least one other card of its suit beside it."

READING = (
    "How to read a row: with such a hand in his 7 cards, before the talon, the declarer took so "
    "many points (cards and marriages) on average, and would have made each contract in so many "
    "of 100 deals."
)


def bidding_report(
    run: AnyRun, *, by: By | None = None, contracts: Sequence[int] | None = None
) -> Report:
    """The report ``bidding``: the tables by class and by points, or only one of them."""
    if by is not None:
        checked_by(by)
    run = opened(run)
    hands = HandHistogram.of(run)
    asked = BYS if by is None else (by,)
    return Report(
        name="bidding",
        title="What the declarer's hand is worth",
        kind=KIND,
        model=model_of(run),
        provenance=run.provenance(),
        reading=READING,
        notes=tuple(_notes(run)),
        tables=tuple(_table(hands, each, contracts) for each in asked),
    )


def _notes(run: Run) -> Iterator[str]:
    yield from run_notes(run)
    yield INTERVALS
    yield (
        "up to: the highest contract that does not lose on average, – if even the lowest loses; "
        "best: the contract of the highest mean score, and that score. Both only look at "
        "contracts that the rules allow with every hand of the row."
    )
    yield GUARDED
    if has_exact_chances(run):
        yield "exact: the share among all 346,104 hands, counted."


def _table(hands: HandHistogram, by: str, contracts: Sequence[int] | None) -> Table:
    frame = wide_frame(hands, by, contracts)
    grid = grid_of(hands, contracts)
    if contracts is None:
        shown = shown_contracts(grid, hands.run.rules)
    else:
        shown = [contract.value for contract in grid]
    keys: tuple[Column, ...]
    if by == "class":
        keys = (
            Column("marr-\niages", "marriages", "count", missing="all"),
            Column("aces", "aces", "count", missing=""),
            Column("guard.\ntens", "guarded_tens", "count", missing=""),
        )
        joined = Joined("m a t", " ", "m a t: marriages, aces, guarded tens")
        title = "By marriages, aces and guarded tens in the 7 cards"
    else:
        keys = (
            Column("from", "points_from", "count", missing="all"),
            Column("to", "points_to", "count", missing=""),
        )
        joined = Joined("points", "–", "points: card points of the 7 cards")
        title = "By card points of the 7 cards"
    exact = (
        (Column("exact\n%", "share_exact", "exact", rank=9),)
        if has_exact_chances(hands.run)
        else ()
    )
    return Table(
        name=by,
        title=title,
        frame=frame,
        keys=len(keys),
        joined=joined,
        columns=(
            *keys,
            Column("deals", "n", "count", rank=2),
            Column("share\n%", "share", "percent", "share_low", "share_high", rank=8),
            *exact,
            Column("points\nmean", "points_mean", "points", "points_mean_low", "points_mean_high"),
            Column("points\n25 %", "points_q25", "count", rank=6),
            Column("points\n75 %", "points_q75", "count", rank=6),
            *(
                Column(
                    f"makes\n{value}, %",
                    f"p_{value}",
                    "percent",
                    f"p_{value}_low",
                    f"p_{value}_high",
                    rank=max(1, place + 1),
                )
                for value, place in sorted((value, place) for place, value in enumerate(shown))
            ),
            Column("best", "best_contract", "count", rank=3),
            Column("score", "best_score", "points", "best_score_low", "best_score_high", rank=6),
            Column("up\nto", "break_even", "count", rank=1),
        ),
        break_on="marriages" if by == "class" else None,
        summary=True,
        min_deals=MIN_DEALS,
    )
