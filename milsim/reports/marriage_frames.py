"""Report ``marriages``: how often each is held and declared, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from milsim.cards import N_SUITS, SUIT_NAMES
from milsim.errors import UsageError, nearest
from milsim.reports import exact
from milsim.reports.counterfactual import (
    REPLAYS,
    Counterfactual,
    counterfactuals,
    half_marriages,
    marriage_worth,
)
from milsim.reports.marriage_parts import halves_frame, parts_frame
from milsim.reports.provenance import (
    KIND,
    AnyRun,
    check_counted,
    has_exact_chances,
    model_of,
    opened,
    played,
)
from milsim.reports.statistics import Interval, Moments, difference, spread, wilson
from milsim.simulation.columns import NO_SEAT
from milsim.store.run import Run

By = Literal["suit", "number", "parts", "halves"]
BYS: tuple[str, ...] = get_args(By)
ANY = "any"
SUIT_ROWS: tuple[tuple[str, int], ...] = (
    *((name, 1 << suit) for suit, name in enumerate(SUIT_NAMES)),
    (ANY, (1 << N_SUITS) - 1),
)
"""The rows of the table by suit: a name, and the mask of suits that are meant (bit i = suit i)."""


@dataclass(frozen=True, slots=True)
class MarriageCounts:
    """A run counted by the masks of marriages held, declarer points, and made or not.

    ``counts`` has the masks held7, held10, kept8 (bit i = suit i), declarer_points, made and ``n``
    deals, sorted: some thousands of rows whatever the size of the run. ``declared`` has, for each
    suit and ``any``, how many deals saw it declared, and the sums of the tricks of that. Conceded
    deals are left out; ``deals`` is how many there are without them.
    """

    run: Run
    counts: pl.DataFrame
    declared: dict[str, int]
    deals: int

    @classmethod
    def of(cls, run: Run) -> MarriageCounts:
        """Count the deals of a run; raises RunError for a run in which none was played."""
        keys = [
            pl.col("hand_marriage_mask").alias("held7"),
            pl.col("held10_marriage_mask").alias("held10"),
            pl.col("kept_marriage_mask").alias("kept8"),
            pl.col("declarer_points"),
            pl.col("made"),
        ]
        counts, declared = pl.collect_all(
            [
                played(run)
                .frame(features=True)
                .filter(~pl.col("conceded"))
                .group_by(keys)
                .agg(pl.len().cast(pl.Int64).alias("n"))
                .sort([key.meta.output_name() for key in keys]),
                run.frame().select(_declarations()),
            ]
        )
        deals = int(counts["n"].sum())
        check_counted(run, deals)
        return cls(run, counts, declared.row(0, named=True), deals)

    def n(self, condition: pl.Expr) -> int:
        """Deals for which a condition on the columns of ``counts`` holds."""
        return int(self.counts.filter(condition)["n"].sum())

    def points(self, condition: pl.Expr) -> Moments:
        """The moments of the declarer points where a condition holds."""
        return Moments.of(self.counts.filter(condition).select("declarer_points", "n").rows())


def _declarations() -> list[pl.Expr]:
    """Sums over a run: by suit and any, deals with a declaration, and tricks of the declarer's."""
    own = {name: pl.col(f"{name}_seat") == pl.col("declarer") for name in SUIT_NAMES}
    some = {name: pl.col(f"{name}_seat") != NO_SEAT for name in SUIT_NAMES}
    number = pl.sum_horizontal([own[name].cast(pl.Int64) for name in SUIT_NAMES])
    # The trick of the declarer's own declaration, else null; the first of them for any.
    trick = {
        name: pl.when(own[name]).then(pl.col(f"{name}_trick").cast(pl.Int64)) for name in SUIT_NAMES
    }
    trick[ANY] = pl.min_horizontal(list(trick.values()))  # type: ignore[assignment]
    own[ANY], some[ANY] = pl.any_horizontal(*own.values()), pl.any_horizontal(*some.values())
    sums = [(number == k).sum().alias(f"number_{k}") for k in range(N_SUITS + 1)]
    for name, _ in SUIT_ROWS:
        sums += [
            own[name].sum().alias(f"own_{name}"),
            some[name].sum().alias(f"some_{name}"),
            trick[name].sum().alias(f"tricks_{name}"),
            (trick[name] * trick[name]).sum().alias(f"trick_squares_{name}"),
        ]
    return [total.cast(pl.Int64) for total in sums]


def marriages(
    run: AnyRun, by: By = "suit", *, replays: int = REPLAYS, threads: int | None = None
) -> pl.DataFrame:
    """What marriages did in a run, one row a suit (and ``any``), or one a number of marriages.

    Proportions of all deals but conceded ones: ``held7`` in the declarer's 7 cards, ``completed``
    by the talon (in the 10 cards, not in the 7), ``held10`` in the 10 cards, ``kept8`` in the 8
    after the gifts, ``declared`` by the declarer, ``by_anyone``; with ``_exact`` beside them where
    a chance is known exactly. ``trick_mean``: the trick of the declarer's declaration (of the
    first, for ``any``). ``points_with``, ``points_without``: mean declarer points with and without
    the marriage in the 10 cards, ``points_gain`` their difference; ``made_with``,
    ``made_without``: how often the contract was made. ``worth``: the paired counterfactual, the
    mean loss of declarer points when the first ``worth_n`` deals (``replays`` at most) with the
    marriage in the 10 cards are played anew with it worth nothing. ``value`` is what the rules pay.
    ``x_low`` and ``x_high`` are the 95 % interval of ``x``.

    ``by="number"`` has a row for each number of marriages, 0 to 4, then all: the proportions
    (``completed``: so many at once), mean points and makes by the number held in the 10 cards.

    ``by="parts"``: the worth of each marriage in parts that add up, from the same deals
    (:func:`milsim.reports.marriage_parts.parts_frame`); ``by="halves"``: what half a marriage in
    the 7 cards is worth (:func:`milsim.reports.marriage_parts.halves_frame`).

    ``run`` is a run or its folder. Raises :class:`~milsim.errors.UsageError` for what is neither,
    an unknown ``by`` or a negative ``replays``, and :class:`~milsim.errors.RunError` for a run
    without deals.
    """
    if by not in BYS:
        raise UsageError(f"by {by!r:.40}: unknown; {nearest(str(by), BYS)}")
    run = played(opened(run))
    if by == "parts":
        return parts_frame(run, replayed(run, replays=replays, threads=threads))
    if by == "halves":
        return halves_frame(run, half_marriages(run, replays=replays, threads=threads))
    counts = MarriageCounts.of(run)
    if by == "number":
        return number_frame(counts)
    return suit_frame(counts, replays=replays, threads=threads)


def replayed(
    run: Run, *, replays: int = REPLAYS, threads: int | None = None
) -> dict[int, Counterfactual]:
    """The counterfactuals of all rows: the report and both charts of marriages come from them."""
    return counterfactuals(run, [mask for _, mask in SUIT_ROWS], replays=replays, threads=threads)


def suit_frame(
    counts: MarriageCounts,
    *,
    replays: int = REPLAYS,
    threads: int | None = None,
    worth: Mapping[int, Moments] | None = None,
) -> pl.DataFrame:
    """The frame of :func:`marriages` by suit, from counts made before, and the worth if known."""
    if worth is None:
        worth = marriage_worth(
            counts.run, [mask for _, mask in SUIT_ROWS], replays=replays, threads=threads
        )
    return _framed(
        [
            {**_suit_row(counts, name, mask), **_worth_columns(worth[mask])}
            for name, mask in SUIT_ROWS
        ],
        counts.run,
    )


def number_frame(counts: MarriageCounts) -> pl.DataFrame:
    """The frame of :func:`marriages` by number, from counts made before."""
    return _framed(list(_number_rows(counts)), counts.run)


# -- rows ----------------------------------------------------------------------------------------


def _suit_row(counts: MarriageCounts, name: str, mask: int) -> dict[str, Any]:
    """How often, when and how well, for one suit or any."""
    values = counts.run.rules.deal.marriage_values
    held7, held10, kept8 = (pl.col(column) & mask != 0 for column in ("held7", "held10", "kept8"))
    completed = pl.col("held10") & ~pl.col("held7") & mask != 0
    n = counts.deals
    chances: dict[str, Any] = {"held7": None, "completed": None, "held10": None}
    if has_exact_chances(counts.run):
        one = (exact.held(7), exact.completed(), exact.held(10))
        some = (exact.any_held(7), exact.any_completed(), exact.any_held(10))
        chances = dict(zip(chances, map(float, some if name == ANY else one), strict=True))
    with_it, without = counts.points(held10), counts.points(~held10)
    tricks = Moments(
        counts.declared[f"own_{name}"],
        counts.declared[f"tricks_{name}"],
        counts.declared[f"trick_squares_{name}"],
    )
    return {
        "suit": name,
        "value": None if name == ANY else getattr(values, name),
        "n": n,
        **_share("held7", counts.n(held7), n),
        "held7_exact": chances["held7"],
        **_share("completed", counts.n(completed), n),
        "completed_exact": chances["completed"],
        **_share("held10", counts.n(held10), n),
        "held10_exact": chances["held10"],
        **_share("kept8", counts.n(kept8), n),
        **_share("declared", counts.declared[f"own_{name}"], n),
        **_share("by_anyone", counts.declared[f"some_{name}"], n),
        **spread("trick_mean", tricks.mean()),
        **spread("points_with", with_it.mean()),
        **spread("points_without", without.mean()),
        **spread("points_gain", difference(with_it, without)),
        **_share("made_with", counts.n(held10 & pl.col("made")), with_it.n),
        **_share("made_without", counts.n(~held10 & pl.col("made")), without.n),
    }


def _worth_columns(differences: Moments) -> dict[str, Any]:
    return {"worth_n": differences.n, **spread("worth", differences.mean())}


def _number_rows(counts: MarriageCounts) -> Iterator[dict[str, Any]]:
    n = counts.deals
    is_exact = has_exact_chances(counts.run)
    masks = {
        "held7": pl.col("held7"),
        "completed": pl.col("held10") & ~pl.col("held7"),
        "held10": pl.col("held10"),
        "kept8": pl.col("kept8"),
    }
    for number in range(N_SUITS + 1):
        held = {name: mask.bitwise_count_ones() == number for name, mask in masks.items()}
        points = counts.points(held["held10"])
        made = counts.n(held["held10"] & pl.col("made"))
        chances = {
            "held7_exact": float(exact.number_held(7, number)),
            "completed_exact": float(exact.number_completed(number)),
            "held10_exact": float(exact.number_held(10, number)),
        }
        row: dict[str, Any] = {"marriages": number, "n": points.n}
        for name in masks:
            row |= _share(name, counts.n(held[name]), n)
            if f"{name}_exact" in chances:
                row[f"{name}_exact"] = chances[f"{name}_exact"] if is_exact else None
        row |= _share("declared", counts.declared[f"number_{number}"], n)
        yield row | _points_columns(points, made)
    row = {"marriages": None, "n": n}
    for name in masks:
        row |= _all(name)
        if name != "kept8":
            row[f"{name}_exact"] = 1.0 if is_exact else None
    yield (
        row
        | _all("declared")
        | _points_columns(counts.points(pl.lit(True)), counts.n(pl.col("made")))
    )


def _points_columns(points: Moments, made: int) -> dict[str, Any]:
    return {**spread("points_mean", points.mean()), **_share("made", made, points.n)}


def _share(name: str, part: int, n: int) -> dict[str, float | None]:
    return spread(name, wilson(part, n))


def _all(name: str) -> dict[str, float | None]:
    """The share of all deals: 1 by definition, not by sampling."""
    return spread(name, Interval(1.0, 1.0, 1.0))


def _framed(rows: list[dict[str, Any]], run: Run) -> pl.DataFrame:
    whole = {"suit": pl.String, **dict.fromkeys(("value", "marriages", "n", "worth_n"), pl.Int64)}
    schema = {name: whole.get(name, pl.Float64) for name in rows[0]}
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(model_of(run))
    )
