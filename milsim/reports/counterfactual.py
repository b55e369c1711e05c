"""The paired counterfactual: the same deals, played anew with a marriage worth nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.cards import SUIT_NAMES
from milsim.reports.statistics import Moments
from milsim.rules import Rules
from milsim.simulation.plan import whole_number
from milsim.store.features import with_features
from milsim.store.run import DOUBLE_DUMMY, Run

REPLAYS = 50_000
"""Deals a row is replayed on: a standard error of about a sixth of a point."""

MAX_REPLAYS = 10**9
WINDOW_DEALS = 1 << 19
"""Deals read at once: enough for the replays of most rows, and no more than a run has."""
MOST_SOLVED = {"off": 0, "gifts": 5_000, "exchange": 500}
"""The same for deals that are solved anew, which takes some hundred times longer."""

_REPLAYED = ("index", "deal", "redeals", "declarer", "bid", "contract", "dark")
_COLUMNS = (
    "index", "deal", "redeals", "declarer", "bid", "contract", "dark", "gift_left", "gift_right",
    "declarer_points",
)  # fmt: skip


def without_value(rules: Rules, suits: int) -> Rules:
    """The rules with the marriages of a mask of suits worth nothing (they still make trump).

    >>> from milsim.rules import load
    >>> without_value(load("mil"), 0b1001).deal.marriage_values.by_suit()
    (0, 60, 80, 0)
    """
    worthless = {name: 0 for suit, name in enumerate(SUIT_NAMES) if suits >> suit & 1}
    values = replace(rules.deal.marriage_values, **worthless)
    return replace(rules, deal=replace(rules.deal, marriage_values=values))


def marriage_worth(
    run: Run, masks: Sequence[int], *, replays: int = REPLAYS, threads: int | None = None
) -> dict[int, Moments]:
    """For each mask of suits: the moments of declarer points lost when these are worth nothing.

    Taken over the first ``replays`` deals of the run, by index, in which the declarer holds one of
    these marriages in his 10 cards. The run's policy gives and plays anew under the other
    rules; the declarer is the same. Under the model double-dummy the deals are solved anew: fewer
    of them, MOST_SOLVED. Raises UsageError for ``replays`` below 0.
    """
    whole_number("replays", replays, 0, MAX_REPLAYS)
    if run.model == DOUBLE_DUMMY:
        replays = min(replays, MOST_SOLVED[run.plan.dd])
    found = {}
    for mask, rows in _first_holders(run, masks, replays).items():
        if rows.is_empty():
            found[mask] = Moments()
            continue
        after = _points_under(run, rows, without_value(run.rules, mask), threads)
        before = rows["declarer_points"].to_numpy().astype(np.int64)
        lost, deals = np.unique(before - after, return_counts=True)
        found[mask] = Moments.of(zip(lost.tolist(), deals.tolist(), strict=True))
    return found


def _points_under(
    run: Run, rows: pl.DataFrame, rules: Rules, threads: int | None
) -> NDArray[np.int16]:
    """Declarer points of these rows, played or solved anew under other rules."""
    if run.model == DOUBLE_DUMMY:
        from milsim.simulation.double_dummy import double_dummy_points

        return double_dummy_points(
            *(rows[name].to_numpy() for name in ("deal", "declarer", "gift_left", "gift_right")),
            best=run.plan.dd == "exchange",
            rules=rules,
            threads=threads,
        )
    from milsim.simulation.replay import replay_declarer_points

    return replay_declarer_points(
        run.plan,
        **{name: rows[name].to_numpy() for name in _REPLAYED},
        rules=rules,
        threads=threads,
    )


def _first_holders(run: Run, masks: Sequence[int], limit: int) -> dict[int, pl.DataFrame]:
    """The rows of the first deals, by index, whose declarer holds a marriage of each mask.

    Windows of the run are read one by one, so memory is bounded and reading stops early.
    """
    nothing = run.frame().select(_COLUMNS).clear().collect()
    found = dict.fromkeys(masks, nothing)
    first, end = run.plan.start, run.plan.start + run.deals
    while first < end and any(rows.height < limit for rows in found.values()):
        following = min(first + WINDOW_DEALS, end)
        window = run.frame().filter(pl.col("index").is_between(first, following, closed="left"))
        holders = (
            with_features(window, run.rules)
            .filter((pl.col("held10_marriage_mask") != 0) & ~pl.col("conceded"))
            .select(*_COLUMNS, "held10_marriage_mask")
            .sort("index")
            .collect()
        )
        for mask, rows in found.items():
            more = holders.filter(pl.col("held10_marriage_mask") & mask != 0)
            found[mask] = rows.vstack(more.select(_COLUMNS).head(limit - rows.height))
        first = following
    return found
