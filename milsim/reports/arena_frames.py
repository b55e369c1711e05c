"""The numbers of an arena as rows of one tidy frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from milsim.reports.arena_play import MATCH_NUMBERS, Account
from milsim.reports.provenance import KIND
from milsim.reports.ratios import Products, Weights
from milsim.reports.statistics import Interval, spread

Row = dict[str, Any]


def pair_rows(
    account: Account,
    pair: tuple[int, int],
    head: Row,
    interval: Interval,
    sequence: Interval,
    word: str,
) -> Iterator[Row]:
    """The difference of a pair, and its two parts, which add up to it."""
    a, b = pair
    w, held = account.weights, account.group.held
    head = {"part": "pair", **head}
    yield {
        **head,
        "quantity": "difference",
        "unit": "points",
        **spread("value", interval),
        "sequence_low": sequence.low,
        "sequence_high": sequence.high,
        "verdict": word,
    }
    as_declarer = w(a, declarer_score=1) - w(b, declarer_score=1)
    as_defender = w(a, score=1) - w(b, score=1) - as_declarer
    for quantity, top in (("as declarer", as_declarer), ("as defender", as_defender)):
        found = account.products.ratio(top, w(a, one=held))
        yield {**head, "quantity": quantity, "unit": "points", **spread("value", found)}


def policy_rows(account: Account, names: Sequence[str], member: int) -> Iterator[Row]:
    """What one competitor did: scores, how often it declared, what became of its contracts."""
    w, held = account.weights, account.group.held
    declared = w(member, declared=1)
    places = w(member, one=held)
    as_declarer = w(member, declarer_score=1)
    for quantity, unit, top, bottom in (
        ("score", "points", w(member, score=1), places),
        ("declares", "share", declared, places),
        ("score as declarer", "points", as_declarer, declared),
        ("makes", "share", w(member, made=1), declared),
        ("contract", "points", w(member, contract=1), declared),
        ("points as declarer", "points", w(member, declarer_points=1), declared),
        ("score as defender", "points", w(member, score=1) - as_declarer, places - declared),
    ):
        found = account.products.ratio(top, bottom)
        yield {
            "part": "policy",
            **_member(account, names, member),
            "n": account.deals,
            "quantity": quantity,
            "unit": unit,
            **spread("value", _clipped(found) if unit == "share" else found),
        }


def match_rows(account: Account, names: Sequence[str], products: Products) -> Iterator[Row]:
    """Matches won of those played by each member of a group, and the differences of its pairs."""
    members = account.group.members
    width = len(products.sums)
    quantity = {"n": products.n, "quantity": "matches won", "unit": "share"}

    def won(member: int) -> Weights:
        return _unit(width, 1 + len(MATCH_NUMBERS) * members.index(member))

    places = account.group.held * _unit(width, 0)
    for a, b in account.group.pairs:
        found = products.ratio(won(a) - won(b), places)
        head = {"part": "match pair", "policy": names[a], "against": names[b]}
        yield {**head, **quantity, **spread("value", found)}
    for member in members:
        found = _clipped(products.ratio(won(member), places))
        head = {"part": "match policy", **_member(account, names, member)}
        yield {**head, **quantity, **spread("value", found)}


def framed(rows: Sequence[Row]) -> pl.DataFrame:
    """Rows as a frame, with types that do not depend on what is null."""
    texts = ("part", "policy", "against", "quantity", "unit")
    numbers = ("value", "value_low", "value_high", "sequence_low", "sequence_high")
    schema = {
        **dict.fromkeys(texts, pl.String),
        "n": pl.Int64,
        **dict.fromkeys(numbers, pl.Float64),
        "verdict": pl.String,
    }
    complete = [{name: row.get(name) for name in schema} for row in rows]
    return pl.DataFrame(complete, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.format("policy {}", "policy")
    )


def _member(account: Account, names: Sequence[str], member: int) -> dict[str, str]:
    others = [names[other] for other in account.group.members if other != member]
    return {"policy": names[member], "against": ", ".join(others)}


def _unit(width: int, place: int) -> Weights:
    weights = np.zeros(width, dtype=np.int64)
    weights[place] = 1
    return weights


def _clipped(found: Interval) -> Interval:
    """The interval of a share, which is between 0 and 1."""
    if found.low is None or found.high is None:
        return found
    return Interval(found.value, max(found.low, 0.0), min(found.high, 1.0))


__all__ = ["framed", "match_rows", "pair_rows", "policy_rows"]
