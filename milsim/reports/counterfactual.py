"""The paired counterfactual: the same deals, played anew with a marriage worth nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from milsim.cards import SUIT_NAMES
from milsim.reports.statistics import Moments
from milsim.rules import Rules
from milsim.simulation.plan import whole_number
from milsim.store.features import with_features
from milsim.store.run import Run

REPLAYS = 50_000
"""Deals a row is replayed on: a standard error of about a sixth of a point."""

MAX_REPLAYS = 10**9
WINDOW_DEALS = 1 << 21
_COLUMNS = ("index", "deal", "redeals", "declarer", "declarer_points")


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
    rules; the declarer is the same. Raises UsageError for ``replays`` below 0.
    """
    from milsim.simulation.replay import replay_declarer_points

    whole_number("replays", replays, 0, MAX_REPLAYS)
    found = {}
    for mask, rows in _first_holders(run, masks, replays).items():
        if rows.is_empty():
            found[mask] = Moments()
            continue
        columns = {name: rows[name].to_numpy() for name in _COLUMNS}
        before = columns.pop("declarer_points")
        after = replay_declarer_points(
            run.plan, **columns, rules=without_value(run.rules, mask), threads=threads
        )
        lost, deals = np.unique(before.astype(np.int64) - after, return_counts=True)
        found[mask] = Moments.of(zip(lost.tolist(), deals.tolist(), strict=True))
    return found


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
            .filter(pl.col("held10_marriage_mask") != 0)
            .select(*_COLUMNS, "held10_marriage_mask")
            .sort("index")
            .collect()
        )
        for mask, rows in found.items():
            more = holders.filter(pl.col("held10_marriage_mask") & mask != 0)
            found[mask] = rows.vstack(more.select(_COLUMNS).head(limit - rows.height))
        first = following
    return found
