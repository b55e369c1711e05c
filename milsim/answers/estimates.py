"""What a hand is worth by one model: points, chances and scores, from a table or played live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from milsim.reports.contract import Contract
from milsim.reports.statistics import Interval, Moments, Z, wilson
from milsim.tables.corrections import Known

QUANTISED = 0.0079
"""How far a chance of a packed table may be off, at one half (:mod:`milsim.tables.compact`)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One model's view of a hand; every number with its 95 % interval.

    ``source`` is ``table``, ``live``, ``table, corrected`` (:mod:`milsim.tables.corrections`) or,
    where this is refined live, ``table, corrected, and live``; ``deals`` how many are behind it,
    of the table or live; ``correction`` the hands that were sampled for it, and deals of each.
    ``points`` are declarer points on average; ``makes`` and ``scores`` by contract: the chance to
    make it, and the deal score on average of a declarer who plays just this contract.
    """

    model: str
    source: str
    deals: int
    points: Interval
    makes: Mapping[int, Interval]
    scores: Mapping[int, Interval]
    correction: tuple[int, int] | None = None

    @property
    def best(self) -> int:
        """The contract with the highest mean score."""
        return max(
            self.scores, key=lambda contract: (self.scores[contract].value or 0.0, -contract)
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "model": self.model,
            "source": self.source,
            "deals": self.deals,
            **({} if self.correction is None else {"correction": list(self.correction)}),
            "points": as_plain(self.points),
            "contracts": [
                {
                    "contract": contract,
                    "makes": as_plain(self.makes[contract]),
                    "score": as_plain(self.scores[contract]),
                }
                for contract in self.makes
            ],
            "best_contract": self.best,
        }


def as_plain(interval: Interval) -> dict[str, float | None]:
    """An interval as JSON values.

    >>> as_plain(Interval(0.5, 0.4, 0.6))
    {'value': 0.5, 'low': 0.4, 'high': 0.6}
    """
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def of_histogram(
    model: str, histogram: Mapping[int, int], contracts: Sequence[Contract]
) -> Estimate:
    """From deals that were played or solved: declarer points → deals.

    The intervals are those of a simple random sample. The deals are stratified over the talons, so
    the truth is nearer than they say.
    """
    points = Moments.of(histogram.items())
    makes: dict[int, Interval] = {}
    scores: dict[int, Interval] = {}
    for contract in contracts:
        made = contract.made(histogram)
        makes[contract.value] = wilson(made, points.n)
        scores[contract.value] = _score(contract, histogram, made, makes[contract.value], points.n)
    return Estimate(model, "live", points.n, points.mean(), makes, scores)


def _score(
    contract: Contract, histogram: Mapping[int, int], made: int, chance: Interval, n: int
) -> Interval:
    """The mean score: by the chance where a made contract scores itself, else by the points."""
    if contract.rules.scoring.success == "contract":
        return scaled(chance, contract.value)
    return contract.score(histogram, made, n).mean()


def scaled(chance: Interval, contract: int) -> Interval:
    """The mean score of who wins the contract with a chance, and loses it otherwise.

    >>> scaled(Interval(0.75, 0.7, 0.8), 100).value
    50.0
    """
    value, low, high = (
        None if p is None else contract * (2 * p - 1)
        for p in (chance.value, chance.low, chance.high)
    )
    return Interval(value, low, high)


def of_chances(
    model: str,
    deals: int,
    mean: float,
    error: float,
    chances: Mapping[int, float],
    contracts: Sequence[Contract],
) -> Estimate:
    """From a packed table: chances by contract, and the mean of points with its standard error.

    ``contracts`` are all that are asked for; beyond those of the table the chance is 0. The
    intervals take in what packing rounds away. Where a made contract scores the points taken
    instead of itself, what lies above it counts by whole steps, from below.
    """

    def chance(contract: int) -> Interval:
        p = chances.get(contract, 0.0)
        sampled = wilson(p * deals, deals)
        off = 2 * QUANTISED * sqrt(p * (1 - p))
        assert sampled.low is not None
        assert sampled.high is not None
        return Interval(p, max(0.0, sampled.low - off), min(1.0, sampled.high + off))

    makes = {contract.value: chance(contract.value) for contract in contracts}
    half = Z * error
    points = Interval(mean, mean - half, mean + half)
    return Estimate(model, "table", deals, points, makes, _scores(makes, chances, contracts))


def of_known(
    model: str,
    source: str,
    deals: int,
    known: Known,
    contracts: Sequence[Contract],
    correction: tuple[int, int],
) -> Estimate:
    """From a corrected table, alone or refined live; the rest as `of_chances`."""
    least = min(known.weights.values())

    def chance(contract: int) -> Interval:
        n = known.weights.get(contract, least)
        return wilson(known.chances.get(contract, 0.0) * n, n)

    makes = {contract.value: chance(contract.value) for contract in contracts}
    half = Z * known.error
    points = Interval(known.mean, known.mean - half, known.mean + half)
    scores = _scores(makes, known.chances, contracts)
    return Estimate(model, source, deals, points, makes, scores, correction)


def refined(
    known: Known, histogram: Mapping[int, int], spread: float, contracts: Sequence[Contract]
) -> Known:
    """What is known, with independent deals of the hand beside it, each by its precision.

    ``spread`` is the standard deviation of declarer points in single deals.

    >>> known = Known(100.0, 4.0, {}, {})
    >>> refined(known, {110: 100}, 40.0, []).mean
    105.0
    """
    n = sum(histogram.values())
    points = sum(each * count for each, count in histogram.items()) / n
    prior, live = 1 / known.error**2, n / max(spread, 1.0) ** 2
    chances, weights = dict(known.chances), dict(known.weights)
    for contract in contracts:
        weight = known.weights.get(contract.value)
        if weight is not None:
            made = contract.made(histogram)
            chances[contract.value] = (known.chances[contract.value] * weight + made) / (weight + n)
            weights[contract.value] = weight + n
    mean = (prior * known.mean + live * points) / (prior + live)
    return Known(mean, sqrt(1 / (prior + live)), chances, weights)


def _scores(
    makes: Mapping[int, Interval], chances: Mapping[int, float], contracts: Sequence[Contract]
) -> dict[int, Interval]:
    scores: dict[int, Interval] = {}
    step = contracts[1].value - contracts[0].value
    for contract in contracts:
        scores[contract.value] = scaled(makes[contract.value], contract.value)
        if contract.rules.scoring.success != "contract":
            more = step * sum(q for value, q in chances.items() if value > contract.value)
            scores[contract.value] = Interval(
                *(
                    None if bound is None else bound + more
                    for bound in vars_of(scores[contract.value])
                )
            )
    return scores


def vars_of(interval: Interval) -> tuple[float | None, float | None, float | None]:
    """The three numbers of an interval."""
    return interval.value, interval.low, interval.high


__all__ = ["Estimate", "as_plain", "of_chances", "of_histogram", "of_known", "refined", "scaled"]
