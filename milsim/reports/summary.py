"""What `milsim simulate` says at its end: the run in a few lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from milsim.cards import SUIT_NAMES
from milsim.deals import SEAT_NAMES
from milsim.reports.cells import is_lopsided
from milsim.reports.provenance import AnyRun, counted, opened
from milsim.reports.statistics import Interval, Moments, wilson
from milsim.store.run import Run


@dataclass(frozen=True, slots=True)
class Summary:
    """The main figures of a run, sampled, with 95 % intervals.

    Points are declarer points, of deals that were played; a conceded one is a contract not made.
    """

    provenance: str
    deals: int
    mean_points: Interval
    made: Interval
    mean_bid: float | None
    mean_contract: float | None
    declared: Interval
    redealt: Interval
    by_seat: tuple[float, ...]
    conceded: Interval
    double_dummy: Interval | None = None
    stopped: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain JSON values."""
        return {
            "provenance": self.provenance,
            "kind": "sampled",
            "deals": self.deals,
            "declarer_points": as_plain(self.mean_points),
            "made": as_plain(self.made),
            "conceded": as_plain(self.conceded),
            "mean_bid": self.mean_bid,
            "mean_contract": self.mean_contract,
            "declarer_declared_a_marriage": as_plain(self.declared),
            "redealt": as_plain(self.redealt),
            "declarer_by_seat": dict(zip(SEAT_NAMES, self.by_seat, strict=True)),
            **({} if self.double_dummy is None else {"double_dummy": as_plain(self.double_dummy)}),
            **({"stopped": self.stopped} if self.stopped else {}),
        }

    def facts(self) -> list[tuple[str, str]]:
        """The figures in words, each with what it is; none of a run without deals."""
        if self.deals == 0:
            return []
        seats = ", ".join(
            f"{name} {share:.1%}" for name, share in zip(SEAT_NAMES, self.by_seat, strict=True)
        )
        facts = [
            ("deals", f"{self.deals:,}   (sampled; intervals are 95 %)"),
            ("declarer points", f"mean {number_in_words(self.mean_points)}"),
        ]
        if self.double_dummy is not None:
            facts.append(("double dummy", f"mean {number_in_words(self.double_dummy)}"))
        facts.append(("contract made", share_in_words(self.made)))
        if self.conceded.value:
            facts.append(("conceded", share_in_words(self.conceded)))
        return [
            *facts,
            ("mean bid and contract", f"{self.mean_bid:.1f} and {self.mean_contract:.1f}"),
            ("a marriage declared", share_in_words(self.declared)),
            ("declarer", seats),
            ("dealt anew", share_in_words(self.redealt)),
            *([("stopped", self.stopped)] if self.stopped else []),
        ]

    def text(self) -> str:
        """The figures for people, a line each."""
        if self.deals == 0:
            return f"no deals ({self.provenance})"
        return "\n".join([*(f"{name:<23}{fact}" for name, fact in self.facts()), self.provenance])


def summary(run: AnyRun) -> Summary:
    """The main figures of a run; raises RunError if its rows are not as many as it says."""
    run = opened(run)
    by_declarer = pl.any_horizontal(
        pl.col(f"{suit}_seat") == pl.col("declarer") for suit in SUIT_NAMES
    )
    points = pl.col("declarer_points").cast(pl.Int64)
    solved = run.plan.dd != "off"
    best = pl.lit(0)
    if solved:
        best = pl.when("conceded").then(0).otherwise(pl.col("dd_points").cast(pl.Int64))
    totals = (
        run.frame()
        .select(
            n=pl.len(),
            total=points.sum(),
            squares=(points * points).sum(),
            dd_total=best.sum(),
            dd_squares=(best * best).sum(),
            made=pl.col("made").sum(),
            conceded=pl.col("conceded").sum(),
            bids=pl.col("bid").cast(pl.Int64).sum(),
            contracts=pl.col("contract").cast(pl.Int64).sum(),
            declared=by_declarer.sum(),
            redealt=(pl.col("redeals") > 0).sum(),
            **{name: (pl.col("declarer") == seat).sum() for seat, name in enumerate(SEAT_NAMES)},
        )
        .collect()
        .row(0, named=True)
    )
    n = counted(run, int(totals["n"]))
    conceded = int(totals["conceded"] or 0)
    # Nobody took points in a conceded deal: its row has 0.
    moments = Moments(n - conceded, int(totals["total"] or 0), int(totals["squares"] or 0))
    # Of conceded deals only the best exchange has a value; they stay out of both means.
    double_dummy = Moments(
        n - conceded, int(totals["dd_total"] or 0), int(totals["dd_squares"] or 0)
    )
    return Summary(
        provenance=run.provenance(),
        deals=n,
        mean_points=moments.mean(),
        made=wilson(int(totals["made"] or 0), n),
        mean_bid=totals["bids"] / n if n else None,
        mean_contract=totals["contracts"] / n if n else None,
        declared=wilson(int(totals["declared"] or 0), n),
        redealt=wilson(int(totals["redealt"] or 0), n),
        conceded=wilson(conceded, n),
        by_seat=tuple(int(totals[name] or 0) / n if n else 0.0 for name in SEAT_NAMES),
        double_dummy=double_dummy.mean() if solved else None,
        stopped=_stopped(run),
    )


def _stopped(run: Run) -> str:
    """Why the run has the deals it has, if its plan has a rule to stop by."""
    if run.plan.stop is None:
        return ""
    if run.manifest.ending is None:
        return f"{run.plan.stop}: not known yet, deals are missing"
    return run.manifest.ending.in_words(run.plan)


def as_plain(interval: Interval) -> dict[str, float | None]:
    """An interval as plain JSON values."""
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def number_in_words(interval: Interval) -> str:
    """A number with ± half its interval."""
    if interval.value is None:
        return "?"
    half = interval.half_width
    if half is None:
        return f"{interval.value:.0f}"
    digits = _digits(half)
    return f"{interval.value:.{digits}f} ± {half:.{digits}f}"


def share_in_words(interval: Interval) -> str:
    """A proportion in per cent: with ± where that is right, else with its bounds."""
    if interval.value is None or interval.low is None or interval.high is None:
        return "?"
    value, low, high = 100 * interval.value, 100 * interval.low, 100 * interval.high
    if is_lopsided(value, low, high):
        first, last = _bounds(low, high)
        digits = max(len(bound.partition(".")[2]) for bound in (first, last))
        shown = f"{value:.0f}" if value in (0, 100) else f"{value:.{digits}f}"
        return f"{shown}% ({first}% to {last}%)"
    half = (high - low) / 2
    digits = _digits(half)
    return f"{value:.{digits}f}% ± {half:.{digits}f}%"


def _bounds(low: float, high: float) -> tuple[str, str]:
    """The bounds of an interval of per cents, rounded outwards to what tells them apart.

    >>> _bounds(20.65, 100.0), _bounds(0.0, 1.26), _bounds(0.0, 0.00038)
    (('20', '100'), ('0', '1.3'), ('0', '0.0004'))
    """
    digits = 0 if high - low >= 2 else max(1, math.ceil(-math.log10(high - low)))
    unit: int = 10**digits
    down, up = math.floor(round(low * unit, 6)) / unit, math.ceil(round(high * unit, 6)) / unit
    return ("0" if low <= 0 else f"{down:.{digits}f}", "100" if high >= 100 else f"{up:.{digits}f}")


def _digits(half: float) -> int:
    """Decimals that show two digits of the half width, two at most."""
    return 0 if half >= 10 else 1 if half >= 1 else 2
