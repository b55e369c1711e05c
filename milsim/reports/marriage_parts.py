"""The worth of a marriage in parts, and of half a marriage: frames from paired counterfactuals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.cards import SUIT_NAMES, SUITS
from milsim.reports import exact
from milsim.reports.counterfactual import Counterfactual, HalfMarriage
from milsim.reports.provenance import KIND, has_exact_chances, model_of
from milsim.reports.statistics import UNKNOWN, Moments, spread, wilson
from milsim.store.run import PLAYED, Run

PARTS = ("paid", "other", "trump", "cards")
"""The parts of the whole worth; the first two together are what `marriages` calls ``worth``."""

Group = tuple[str, NDArray[np.bool_]]


def moments_of(values: NDArray[np.int64]) -> Moments:
    """The moments of whole numbers.

    >>> moments_of(np.array([3, -1, 3]))
    Moments(n=3, total=5, squares=19)
    """
    return Moments(len(values), int(values.sum()), int((values * values).sum()))


def worth_of(found: Mapping[int, Counterfactual]) -> dict[int, Moments]:
    """What `milsim.reports.counterfactual.marriage_worth` finds, from the same replays."""
    return {mask: moments_of(each.played - each.unpaid) for mask, each in found.items()}


def parts_frame(run: Run, found: Mapping[int, Counterfactual]) -> pl.DataFrame:
    """What each marriage is worth in parts; the frame of ``marriages(run, "parts")``.

    A row a suit (and ``any``: all marriages that he holds at once) and group of its deals. Groups
    of a suit: ``all``, ``with its ace`` and ``without it`` (in the ten cards), ``the only one`` and
    ``beside another`` marriage. Of ``any``: ``all`` and ``one``, ``two``, ``three or four`` held.

    ``n`` deals; ``declared``: how many of them saw it declared by its holder; then means with
    intervals, of points by deal: ``paid`` for the declaration, ``other`` points gained or lost in
    getting that, ``worth`` (these two together), ``trump``: that the suit becomes trump,
    ``cards``: the two cards as such, against the hand with one of them another card, ``whole``: all
    together. `PARTS` sum to ``whole`` exactly. Double dummy does not say what is declared:
    ``declared``, ``paid`` and ``other`` are null.
    """
    rows = [row for each in found.values() for row in _rows(run, each)]
    return _framed(rows, run)


def _rows(run: Run, each: Counterfactual) -> Iterator[dict[str, Any]]:
    one = each.suits.bit_count() == 1
    suit = each.suits.bit_length() - 1
    name = SUIT_NAMES[suit] if one else "any"
    paid = each.paid(run.rules) if run.model == PLAYED else None
    declared = np.zeros(len(each.played), np.bool_)
    for which in SUITS:
        if each.suits >> which & 1:
            declared |= each.declared(which)
    worth = each.played - each.unpaid
    steps: dict[str, NDArray[np.int64] | None] = {
        "paid": paid,
        "other": None if paid is None else worth - paid,
        "worth": worth,
        "trump": each.unpaid - each.silent,
        "cards": None if each.broken is None else each.silent - each.broken,
        "whole": None if each.broken is None else each.played - each.broken,
    }
    for group, among in _groups(each, suit if one else None):
        n = int(among.sum())
        share = wilson(int((declared & among).sum()), n) if run.model == PLAYED else UNKNOWN
        row: dict[str, Any] = {
            "suit": name,
            "group": group,
            "value": run.rules.deal.marriage_values.by_suit()[suit] if one else None,
            "n": n,
            **spread("declared", share),
        }
        for step, points in steps.items():
            mean = UNKNOWN if points is None else moments_of(points[among]).mean()
            row |= spread(step, mean)
        yield row


def _groups(each: Counterfactual, suit: int | None) -> list[Group]:
    everything = np.ones(len(each.played), np.bool_)
    number = np.bitwise_count(each.held).astype(np.int64)
    if suit is None:
        return [
            ("all", everything),
            ("one", number == 1),
            ("two", number == 2),
            ("three or four", number > 2),
        ]
    ace = (each.aces >> suit & 1).astype(np.bool_)
    return [
        ("all", everything),
        ("with its ace", ace),
        ("without it", ~ace),
        ("the only one", number == 1),
        ("beside another", number > 1),
    ]


def halves_frame(run: Run, found: list[HalfMarriage]) -> pl.DataFrame:
    """What half a marriage in seven cards is worth; the frame of ``marriages(run, "halves")``.

    A row a suit, over ``n`` deals with just one of its king and queen in the declarer's 7 cards:
    how often the talon ``completed`` it, with the chance ``completed_exact`` where it is known; and
    means of points: ``chance``, what he would have less if nobody could declare this marriage, in
    all these deals; ``when_completed`` and ``when_not`` in those in which it was or was not.
    """
    known = has_exact_chances(run)
    rows = []
    for each in found:
        lost = each.played - each.silent
        n, completed = len(lost), int(each.completed.sum())
        rows.append(
            {
                "suit": SUIT_NAMES[each.suit],
                "value": run.rules.deal.marriage_values.by_suit()[each.suit],
                "n": n,
                **spread("completed", wilson(completed, n)),
                "completed_exact": float(exact.completed_half()) if known else None,
                **spread("chance", moments_of(lost).mean()),
                **spread("when_completed", moments_of(lost[each.completed]).mean()),
                **spread("when_not", moments_of(lost[~each.completed]).mean()),
            }
        )
    return _framed(rows, run)


def _framed(rows: list[dict[str, Any]], run: Run) -> pl.DataFrame:
    kinds = {"suit": pl.String, "group": pl.String, "value": pl.Int64, "n": pl.Int64}
    schema = {name: kinds.get(name, pl.Float64) for name in rows[0]}
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(model_of(run))
    )
