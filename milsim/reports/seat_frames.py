"""Report ``seats``: who declares, what seats and roles take and score, from the same deals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import polars as pl

from milsim.cards import cards_of
from milsim.deals import SEAT_NAMES
from milsim.errors import UsageError, nearest
from milsim.reference.match_scoring import talon_score
from milsim.reports import exact, seat_exact
from milsim.reports.part_counts import moments, summed
from milsim.reports.provenance import KIND, AnyRun, has_exact_chances, model_of, opened
from milsim.reports.seat_counts import SEATS, SeatCounts
from milsim.reports.statistics import UNKNOWN, Interval, Moments, spread, wilson
from milsim.reports.talon_exact import talons

Table = Literal["seat", "role", "holders"]
TABLES: tuple[str, ...] = get_args(Table)

ROLES = ("declarer", "defender on his left", "defender on his right")
DEALER = "dealer, sitting out"
ALL = "all"


def seats(run: AnyRun, table: Table = "seat") -> pl.DataFrame:
    """What the seats of a run did and got, as a frame; the last row is all.

    - ``seat``: forehand, middlehand, rearhand. ``declares``: how often; ``bids``: how often he made
      a bid, ``bid_mean`` his highest; as declarer ``won_bid_mean``, ``contract_mean``, ``made``,
      ``points_mean`` (declarer points) and ``score_declarer``, else ``score_defender``. Over all
      deals ``tricks``, ``card_points``, ``marriages`` (points of declared ones), ``declared`` (how
      often he declared one), ``score``, and ``difference``, how far that is from the mean of the
      three in the same deals. ``held7``: a marriage in his seven cards, ``held7_exact`` where the
      chance is known. With four players a row for the dealer, who sits out: ``score`` is what the
      rules give him for the talon, ``score_exact`` over all talons.
    - ``role``: the declarer, the defenders on his left and on his right: ``tricks``,
      ``card_points``, ``marriages``, ``declared`` and ``score``; ``difference`` to the other
      defender in the same deals.
    - ``holders``: by how many of the players hold a marriage in their seven cards: ``share``,
      ``share_exact`` where it is known, and ``points_mean`` of the declarer.

    The row ``all`` adds up the seats for ``declares``, ``tricks``, ``card_points``, ``marriages``
    and ``score``; the others are of all seats together. Scores are those of the deal, before what a
    match does to them. Conceded deals are left out of ``tricks``, ``card_points``, ``marriages``,
    ``declared`` and ``points_mean``, for nothing was played in them, and are contracts not made.
    What a model does not know is null: of double dummy all that is not the declarer's points.

    ``x_low`` and ``x_high`` are the 95 % interval of ``x``, with the deal as the unit; ``kind`` and
    ``model`` say what produced the numbers.

    Raises :class:`~milsim.errors.UsageError` for what is no run or table, and
    :class:`~milsim.errors.RunError` for a run without deals.
    """
    if table not in TABLES:
        raise UsageError(f"table {table!r:.40}: unknown; {nearest(str(table), TABLES)}")
    return seat_frame(SeatCounts.of(opened(run)), table)


def seat_frame(counts: SeatCounts, table: str) -> pl.DataFrame:
    """The frame of :func:`seats` from counts made before."""
    makers: dict[str, Callable[[SeatCounts], Iterator[dict[str, Any]]]] = {
        "seat": _seats, "role": _roles, "holders": _holders,
    }  # fmt: skip
    rows = list(makers[table](counts))
    schema: dict[str, Any] = {
        name: pl.String if name in ("seat", "role") else pl.Int64 if name in _WHOLE else pl.Float64
        for name in rows[0]
    }
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(model_of(counts.run))
    )


_WHOLE = ("n", "holders")
_CERTAIN = Interval(1.0, 1.0, 1.0)


def _scaled(interval: Interval, by: int) -> Interval:
    """An interval in another unit."""
    parts = (interval.value, interval.low, interval.high)
    return Interval(*(None if part is None else part / by for part in parts))


def _share(found: Moments) -> Interval:
    """The share of deals of which a flag was counted."""
    return wilson(found.total, found.n)


def _declares(counts: SeatCounts, n: int) -> Interval:
    """How often a seat declares; in declarer mode that is certain, not sampled."""
    if counts.run.plan.mode == "declarer":
        share = n / counts.deals
        return Interval(share, share, share)
    return wilson(n, counts.deals)


# -- by seat ---------------------------------------------------------------------------------------


def _seats(counts: SeatCounts) -> Iterator[dict[str, Any]]:
    chance = float(exact.any_held(7)) if has_exact_chances(counts.run) else None
    for seat, name in enumerate(SEAT_NAMES):
        others = [other for other in SEATS if other != seat]
        bids = counts.moments(f"bids_{seat}")
        bid = counts.moments(f"bid_{seat}")
        declares = counts.moments("made", declarers=[seat]).n
        yield _seat_row(
            counts,
            name,
            declares=_declares(counts, declares),
            bids=_share(bids),
            bid_mean=Moments(bids.total, bid.total, bid.squares).mean(),
            declarers=[seat],
            score_defender=counts.moments(f"score_{seat}", declarers=others).mean(),
            play={
                what: counts.moments(f"{column}_{seat}", conceded=False)
                for what, column in _PLAY.items()
            },
            declared=_share(counts.moments(f"declared_{seat}", conceded=False)),
            score=counts.moments(f"score_{seat}").mean(),
            difference=_scaled(counts.moments(f"off_{seat}").mean(), len(SEATS)),
            held7=_share(counts.moments(f"held_{seat}")),
            held7_exact=chance,
        )
    if counts.has_sitter:
        yield _dealer_row(counts)
    yield _seat_row(
        counts,
        ALL,
        declares=_CERTAIN,
        bids=_scaled(counts.moments("bidders").mean(), len(SEATS)),
        bid_mean=UNKNOWN,
        declarers=SEATS,
        score_defender=_scaled(counts.moments("defenders").mean(), len(SEATS) - 1),
        play={what: counts.moments(f"{name}_all", conceded=False) for what, name in _PLAY.items()},
        declared=_scaled(counts.moments("declarers", conceded=False).mean(), len(SEATS)),
        score=counts.moments("score_all").mean(),
        difference=UNKNOWN,
        held7=_scaled(counts.moments("holders").mean(), len(SEATS)),
        held7_exact=chance,
    )


_PLAY = {"tricks": "tricks", "card_points": "points", "marriages": "marriages"}
"""What a seat takes, and the names of its sums."""


def _seat_row(
    counts: SeatCounts,
    name: str,
    *,
    declares: Interval,
    bids: Interval,
    bid_mean: Interval,
    declarers: Any,
    score_defender: Interval,
    play: dict[str, Moments],
    declared: Interval,
    score: Interval,
    difference: Interval,
    held7: Interval,
    held7_exact: float | None,
) -> dict[str, Any]:
    """A row of the table by seat: as declarer, as defender, in all deals."""

    def known(interval: Interval) -> Interval:
        return interval if counts.knows_play else UNKNOWN

    own = Moments()
    for seat in declarers:
        own += counts.moments(f"score_{seat}", declarers=[seat])
    return {
        "seat": name,
        "n": counts.deals,
        **spread("declares", declares),
        **spread("bids", bids),
        **spread("bid_mean", bid_mean),
        **spread("won_bid_mean", counts.moments("won_bid", declarers=declarers).mean()),
        **spread("contract_mean", counts.moments("contract", declarers=declarers).mean()),
        **spread("made", _share(counts.moments("made", declarers=declarers))),
        **spread(
            "points_mean",
            counts.moments("declarer_points", declarers=declarers, conceded=False).mean(),
        ),
        **spread("score_declarer", known(own.mean())),
        **spread("score_defender", known(score_defender)),
        **{
            key: value
            for what, found in play.items()
            for key, value in spread(what, known(found.mean())).items()
        },
        **spread("declared", known(declared)),
        **spread("score", known(score)),
        "score_exact": None,
        **spread("difference", known(difference)),
        **spread("held7", held7),
        "held7_exact": held7_exact,
    }


def _dealer_row(counts: SeatCounts) -> dict[str, Any]:
    """The row of the dealer who sits out: nothing but what he gets for the talon."""
    row: dict[str, Any] = {"seat": DEALER, "n": counts.deals}
    row |= spread("score", counts.moments("sitter").mean() if counts.knows_play else UNKNOWN)
    if has_exact_chances(counts.run) and counts.knows_play:
        scores = [talon_score(cards_of(mask), counts.run.rules) for mask in talons()]
        row["score_exact"] = sum(scores) / len(scores)
    return row


# -- by role and by holders ------------------------------------------------------------------------


def _roles(counts: SeatCounts) -> Iterator[dict[str, Any]]:
    for role, name in enumerate(ROLES):
        ahead = UNKNOWN
        if role:
            between = counts.role_moments("ahead", 1)  # the left one's score less the right one's
            sign = 1 if role == 1 else -1
            ahead = Moments(between.n, sign * between.total, between.squares).mean()
        play = {
            what: counts.role_moments(column, role, conceded=False)
            for what, column in _PLAY.items()
        }
        declared = _share(counts.role_moments("declared", role, conceded=False))
        score = counts.role_moments("score", role).mean()
        yield _role_row(counts, name, play, declared, score, ahead)
    play = {what: counts.moments(f"{name}_all", conceded=False) for what, name in _PLAY.items()}
    declared = _scaled(counts.moments("declarers", conceded=False).mean(), len(SEATS))
    yield _role_row(counts, ALL, play, declared, counts.moments("three").mean(), UNKNOWN)


def _role_row(
    counts: SeatCounts,
    name: str,
    play: dict[str, Moments],
    declared: Interval,
    score: Interval,
    difference: Interval,
) -> dict[str, Any]:
    row: dict[str, Any] = {"role": name, "n": counts.deals}
    values = {what: found.mean() for what, found in play.items()}
    values |= {"declared": declared, "score": score, "difference": difference}
    for what, interval in values.items():
        row |= spread(what, interval if counts.knows_play else UNKNOWN)
    return row


def _holders(counts: SeatCounts) -> Iterator[dict[str, Any]]:
    known = has_exact_chances(counts.run)
    for number, chance in enumerate(seat_exact.holders()):
        found = summed(counts.held, pl.col("holders") == number)
        points = counts.held.filter((pl.col("holders") == number) & ~pl.col("conceded"))
        yield {
            "holders": number,
            "n": found["n"],
            **spread("share", wilson(found["n"], counts.deals)),
            "share_exact": float(chance) if known else None,
            **spread("points_mean", moments(summed(points), "declarer_points").mean()),
        }
    yield {
        "holders": None,
        "n": counts.deals,
        **spread("share", _CERTAIN),
        "share_exact": 1.0 if known else None,
        **spread("points_mean", counts.moments("declarer_points", conceded=False).mean()),
    }


__all__ = ["DEALER", "ROLES", "TABLES", "seat_frame", "seats"]
