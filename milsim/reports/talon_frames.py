"""Report ``talon``: what the three cards bring the declarer, by what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, get_args

import polars as pl

from milsim.cards import (
    ACE,
    CARD_POINTS,
    N_RANKS,
    NINE,
    PRINTED_SUITS,
    RANK_MASKS,
    RANK_NAMES,
    RANKS,
    SUIT_NAMES,
    TEN,
    card,
    format_card,
    marriages_of,
    points_of_mask,
)
from milsim.deals import TALON_CARDS
from milsim.errors import UsageError, nearest
from milsim.reports import exact, talon_exact
from milsim.reports.part_counts import moments, summed
from milsim.reports.provenance import KIND, AnyRun, has_exact_chances, model_of, opened
from milsim.reports.statistics import (
    UNKNOWN,
    Interval,
    Moments,
    difference,
    spread,
    wilson,
)
from milsim.reports.talon_counts import TalonCounts
from milsim.reports.talon_gain import gain_rows

Table = Literal["holds", "card", "gain", "marriages", "hand", "wanted"]
TABLES: tuple[str, ...] = get_args(Table)

COMPLETED = "marriages completed"
PAIRS = "a whole marriage"
POINTS = "card points"
BAND = 5
"""Card points a band of talons is wide."""

RANK_ROWS = (("aces", ACE), ("tens", TEN), ("nines", NINE))
ALL = "all"


def talon(run: AnyRun, table: Table = "holds") -> pl.DataFrame:
    """What the talon brought the declarers of a run, as a sorted frame.

    - ``holds``: by what the talon holds (``holds``, ``value``): how many marriages it completes, in
      the 10 cards but not in the 7; whether it holds a whole marriage by itself; how many aces,
      tens and nines; its card points. The rows of each kind add up to the last row, ``all``.
    - ``card``: one row a card of the 24, then all. A talon has three cards, so each deal is counted
      in three rows.
    - ``gain``: the declarer's points of a deal less their mean, in three parts that add up:
      ``the seven cards`` (the mean of his class of hand: marriages, aces, guarded tens), ``the
      talon`` (how much more or less that class takes with a talon that completes these marriages
      and has so many aces: the gain of the talon) and ``everything else``. ``share`` of the
      variance of points, not biased by rare classes; ``deviation``, the standard deviation in
      points; ``q5`` … ``q95`` quantiles over deals, in points.
    - ``marriages``, ``hand``: by the marriages, and also the half marriages, of the seven cards:
      ``completes``, how often the talon completes another; mean points when it does and when not,
      and their difference ``worth``.
    - ``wanted``: by how many of the eight aces and tens the seven cards lack: how often the talon
      brings at least one (``brings``), as for any so many cards that are wanted.

    ``n`` deals, ``share`` of all. ``points_mean`` of declarer points; ``gain``, how far that is
    from the mean over all deals, with the interval of two groups that make up the whole; ``made``,
    the contracts named that were made; ``p_c`` = P(declarer points ≥ c); ``score``, the mean deal
    score of the declarer in the contract he named, null for models whose scores are not known.
    ``x_exact`` beside ``x`` where the chance is known; ``x_low`` and ``x_high`` are its 95 %
    interval; ``kind`` and ``model`` say what produced the numbers. Conceded deals are left out.

    Declarers are those of the run: in auction mode who won the auction, whose talon is no random
    one. Raises :class:`~milsim.errors.UsageError` for what is no run or table, and
    :class:`~milsim.errors.RunError` for a run without deals.
    """
    if table not in TABLES:
        raise UsageError(f"table {table!r:.40}: unknown; {nearest(str(table), TABLES)}")
    return talon_frame(TalonCounts.of(opened(run)), table)


def talon_frame(counts: TalonCounts, table: str) -> pl.DataFrame:
    """The frame of :func:`talon` from counts made before."""
    if table == "gain":
        rows = gain_rows(counts)
    else:
        makers: dict[str, Callable[[TalonCounts], Iterator[dict[str, Any]]]] = {
            "holds": _holds, "card": _cards, "wanted": _wanted,
            "marriages": _by_marriages, "hand": _by_halves,
        }  # fmt: skip
        rows = list(makers[table](counts))
    if not has_exact_chances(counts.run):
        for row in rows:
            row.update({name: None for name in row if name.endswith("_exact")})
    return _framed(rows, counts)


_TEXTS = ("holds", "value", "card", "suit", "rank", "part")
_WHOLE = ("value_from", "value_to", "n", "marriages", "half_marriages", "lacking")


def _framed(rows: list[dict[str, Any]], counts: TalonCounts) -> pl.DataFrame:
    """Rows as a frame whose types do not depend on what happens to be null."""
    schema: dict[str, Any] = {
        name: pl.String if name in _TEXTS else pl.Int64 if name in _WHOLE else pl.Float64
        for name in rows[0]
    }
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(model_of(counts.run))
    )


# -- what any group of talons has ------------------------------------------------------------------


def _outcome(counts: TalonCounts, sums: Mapping[str, int], chance: float | None) -> dict[str, Any]:
    """How often such talons came, and how the declarers fared with them."""
    n, points = sums["n"], moments(sums, "points")
    row: dict[str, Any] = {
        "n": n,
        **spread("share", share_of(n, counts.deals)),
        "share_exact": chance,
        **spread("points_mean", points.mean()),
        **spread("gain", gain_of(points, moments(counts.everything(), "points"))),
        **spread("made", wilson(sums["made"], n)),
    }
    for contract in counts.contracts:
        row |= spread(f"p_{contract.value}", wilson(sums[f"at_{contract.value}"], n))
    score = moments(sums, "score").mean() if counts.knows_scores else UNKNOWN
    return row | spread("score", score)


def share_of(n: int, deals: int) -> Interval:
    """The share of a group; that of all deals is 1 by definition, not by sampling."""
    return Interval(1.0, 1.0, 1.0) if n == deals else wilson(n, deals)


def gain_of(group: Moments, everything: Moments) -> Interval:
    """How far the mean of a group is from that of all, which the group is a part of.

    The mean of all is made of the group and the rest, so the difference is that of these two, which
    are independent, times the share of the rest.

    >>> some, rest = Moments.of([(90, 1), (110, 1)]), Moments.of([(60, 1), (80, 1)])
    >>> gain_of(some, some + rest).value
    15.0
    """
    rest = Moments(
        everything.n - group.n, everything.total - group.total, everything.squares - group.squares
    )
    if rest.n == 0:
        return Interval(0.0, 0.0, 0.0)
    apart = difference(group, rest)
    if apart.value is None:
        return UNKNOWN
    part = rest.n / everything.n
    low, high = (None if end is None else part * end for end in (apart.low, apart.high))
    return Interval(part * apart.value, low, high)


# -- by what the talon holds -----------------------------------------------------------------------


def _holds(counts: TalonCounts) -> Iterator[dict[str, Any]]:
    for number in range(TALON_CARDS + 1):
        found = summed(counts.completed, pl.col("new").bitwise_count_ones() == number)
        chance = float(exact.number_completed(number))
        yield _holds_row(counts, COMPLETED, (number, number), found, chance)
    talons = talon_exact.talons()
    values = [len(marriages_of(mask)) for mask in talons]
    for pairs in (0, 1):
        yield _of_talons(counts, PAIRS, (pairs, pairs), values)
    for name, rank in RANK_ROWS:
        values = [(mask & RANK_MASKS[rank]).bit_count() for mask in talons]
        for number in range(TALON_CARDS + 1):
            yield _of_talons(counts, name, (number, number), values)
    values = [points_of_mask(mask) for mask in talons]
    for first in range(0, max(values) + 1, BAND):
        yield _of_talons(counts, POINTS, (first, first + BAND - 1), values)
    whole = _outcome(counts, counts.everything(), 1.0)
    yield {"holds": ALL, "value": "", "value_from": None, "value_to": None, **whole}


def _of_talons(
    counts: TalonCounts, holds: str, band: tuple[int, int], values: list[int]
) -> dict[str, Any]:
    """The row of all talons whose value, in their order, is in a band."""
    talons = zip(talon_exact.talons(), values, strict=True)
    fit = [mask for mask, value in talons if band[0] <= value <= band[1]]
    found = summed(counts.talons, pl.col("talon").is_in(fit))
    return _holds_row(counts, holds, band, found, len(fit) / len(values))


def _holds_row(
    counts: TalonCounts, holds: str, band: tuple[int, int], sums: dict[str, int], chance: float
) -> dict[str, Any]:
    first, last = band
    if holds == PAIRS:
        value = "yes" if first else "no"
    else:
        value = str(first) if first == last else f"{first}–{last}"
    return {
        "holds": holds,
        "value": value,
        "value_from": first,
        "value_to": last,
        **_outcome(counts, sums, chance),
    }


# -- by card ---------------------------------------------------------------------------------------


def _cards(counts: TalonCounts) -> Iterator[dict[str, Any]]:
    """The cards by rank, the dearest first, and within a rank as suits are printed."""
    chance = TALON_CARDS / (N_RANKS * len(SUIT_NAMES))
    for rank in sorted(RANKS, key=lambda rank: -CARD_POINTS[rank]):
        for suit in PRINTED_SUITS:
            one = card(suit, rank)
            found = summed(counts.talons, pl.col("talon") & (1 << one) != 0)
            yield {
                "card": format_card(one),
                "suit": SUIT_NAMES[suit],
                "rank": RANK_NAMES[rank],
                **_outcome(counts, found, chance),
            }
    yield {"card": ALL, "suit": None, "rank": None, **_outcome(counts, counts.everything(), 1.0)}


# -- by what the hand waits for --------------------------------------------------------------------


def _by_marriages(counts: TalonCounts) -> Iterator[dict[str, Any]]:
    numbers = sorted({marriages for marriages, _ in talon_exact.waiting_hands()})
    for number in numbers:
        chances = (
            float(exact.number_held(7, number)),
            float(talon_exact.any_completed_with(number)),
        )
        rows = counts.waiting.filter(pl.col("marriages") == number)
        yield {"marriages": number, **_waiting(counts, rows, *chances)}
    yield {"marriages": None, **_waiting(counts, counts.waiting, 1.0, float(exact.any_completed()))}


def _by_halves(counts: TalonCounts) -> Iterator[dict[str, Any]]:
    for marriages, halves in talon_exact.waiting_hands():
        chances = (
            float(talon_exact.held_jointly(marriages, halves)),
            float(exact.any_completed_given(marriages, halves)),
        )
        which = (pl.col("marriages") == marriages) & (pl.col("halves") == halves)
        row = _waiting(counts, counts.waiting.filter(which), *chances)
        yield {"marriages": marriages, "half_marriages": halves, **row}
    row = _waiting(counts, counts.waiting, 1.0, float(exact.any_completed()))
    yield {"marriages": None, "half_marriages": None, **row}


def _waiting(
    counts: TalonCounts, rows: pl.DataFrame, share: float, completes: float
) -> dict[str, Any]:
    """How often the talon completes a marriage for such hands, and what comes of it."""
    with_it, without = (
        moments(summed(rows, pl.col("any_new") == flag), "points") for flag in (True, False)
    )
    n = with_it.n + without.n
    return {
        "n": n,
        **spread("share", share_of(n, counts.deals)),
        "share_exact": share,
        **spread("completes", wilson(with_it.n, n)),
        "completes_exact": completes,
        **spread("points_mean", (with_it + without).mean()),
        **spread("points_with", with_it.mean()),
        **spread("points_without", without.mean()),
        **spread("worth", difference(with_it, without)),
    }


def _wanted(counts: TalonCounts) -> Iterator[dict[str, Any]]:
    for lacking in range(1, talon_exact.N_HIGH + 1):  # seven cards cannot hold all eight
        which = pl.col("lacking") == lacking
        chances = (
            float(talon_exact.hands_lacking(lacking)),
            float(talon_exact.holds_wanted(lacking)),
        )
        yield {"lacking": lacking, **_brings(counts, which, *chances)}
    yield {
        "lacking": None,
        **_brings(counts, pl.lit(True), 1.0, float(talon_exact.any_high())),
    }


def _brings(counts: TalonCounts, which: pl.Expr, share: float, brings: float) -> dict[str, Any]:
    n = summed(counts.wanted, which)["n"]
    return {
        "n": n,
        **spread("share", share_of(n, counts.deals)),
        "share_exact": share,
        **spread("brings", wilson(summed(counts.wanted, which & pl.col("brings"))["n"], n)),
        "brings_exact": brings,
    }


__all__ = ["TABLES", "gain_of", "talon", "talon_frame"]
