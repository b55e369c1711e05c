"""From a sample of models to corrections of a table: classes, fits, and how well they do.

All differences are between a model and the table's policy in the same deals, averaged hand by hand:
hands are the sampling unit. They are fitted by least squares (chances weighted by about their
variance, all contracts at once, with a covariance by hands: Liang and Zeger, "Longitudinal data
analysis using generalized linear models", Biometrika 73, 1986). How well a fit does is measured on
hands it has not seen, in FOLDS parts of the sample, less what the few deals of a hand account for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import RunError
from milsim.tables.compact import CompactTable
from milsim.tables.corrections import (
    FEATURES,
    FORMAT,
    FORMAT_VERSION,
    Corrections,
    Curves,
    Fit,
    ModelCorrection,
    level_of,
    rounded,
    terms_of,
)
from milsim.tables.playing import needs_of
from milsim.tables.sampling import ModelSample
from milsim.tables.strata import strata, stratum_of_hands

Floats = NDArray[np.float64]

FOLDS = 10
FEWEST_HANDS = 200
_SURE = 0.02  # added to p(1 − p): what a cell near 0 or 1 weighs
_OPEN = 0.02  # chances from there to 1 - there are judged
_SHOWN = 0.005  # contracts of a class are listed up to where the policy makes as many
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Observed:
    """What one model did with the sampled hands beside the policy in the same deals.

    ``points`` (2, hands): means of the policy and of the model; ``difference`` and ``noise``
    (hands,): its mean and the sampling variance of that; ``made`` (2, contracts, hands),
    ``more`` and ``more_noise`` (contracts, hands) the same of chances.
    """

    deals: int
    points: Floats
    difference: Floats
    noise: Floats
    made: Floats
    more: Floats
    more_noise: Floats

    @classmethod
    def of(
        cls, policy: NDArray[np.int64], model: NDArray[np.int64], needs: NDArray[np.int64]
    ) -> Observed:
        """From declarer points, int64 (hands, deals)."""
        deals = policy.shape[1]
        differences = model - policy
        both = np.stack([policy, model])
        made = np.stack([both >= need for need in needs.tolist()], axis=1).astype(np.float64)
        more = made[1] - made[0]
        return cls(
            deals,
            both.mean(axis=2),
            differences.mean(axis=1),
            differences.var(axis=1, ddof=1) / deals,
            made.mean(axis=3),
            more.mean(axis=2),
            more.var(axis=2, ddof=1) / deals,
        )


def corrections_of(sample: ModelSample, table: CompactTable) -> Corrections:
    """Fit all models of a sample, as far as it is played, to a table of the same rules and policy.

    Its hands come in a random order, classes mixed, so the beginning of a sample is one, too.

    Raises :class:`~milsim.errors.RunError` if fewer than FEWEST_HANDS are played, or if it is of
    other rules or another policy than the table.
    """
    plan = sample.plan
    for what, mine in (("rules", plan.to_dict()["rules"]), ("policy", plan.policy)):
        if mine != table.header[what]:
            raise RunError(
                f"sample {sample.folder}: is of {what} {mine:.12}, but the table is of "
                f"{table.header[what]:.12}"
            )
    if sample.hands < FEWEST_HANDS:
        raise RunError(
            f"sample {sample.folder}: has {sample.hands} hands; for corrections play at least "
            f"{FEWEST_HANDS}"
        )
    rows = sample.frame()
    ranks = rows["hand"].to_numpy()[:: plan.deals].astype(np.int64)
    observed = _observed(rows, sample, table)
    curves = Curves.of_table(ranks, table)
    features = curves.features(plan.rules)
    weights = _weights(ranks)
    models, measured = {}, {}
    for name, seen in observed.items():
        points, chance, measured[name] = _fitted(seen, features, curves, weights)
        models[name] = ModelCorrection(name, seen.deals, points, chance)
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "rules_name": plan.rules.name,
        **plan.to_dict(),
        "hands": len(ranks),
        "planned": plan.hands,
        "plan_digest": sample.manifest["plan_digest"],
        "table_plan": table.header["plan_digest"],
        "rng": sample.manifest["rng"],
        "kernels": sample.manifest["kernels"],
        "versions": sample.manifest["versions"],
        "contracts": list(table.contracts),
        "features": list(FEATURES),
        "measured": measured,
        "classes": _classes(ranks, observed, table.contracts),
    }
    del header["models"]  # the deals of each stand beside its fit
    return Corrections(header, models)


def _observed(rows: pl.DataFrame, sample: ModelSample, table: CompactTable) -> dict[str, Observed]:
    plan = sample.plan
    needs = needs_of(table.contracts, plan.rules)
    columns = [
        rows[f"points_{i}"].fill_null(0).to_numpy().astype(np.int64).reshape(-1, plan.deals)
        for i in range(len(plan.models) + 1)
    ]
    return {
        name: Observed.of(columns[0][:, :deals], columns[place][:, :deals], needs)
        for place, (name, deals) in enumerate(plan.models, 1)
    }


def _weights(ranks: NDArray[np.int64]) -> Floats:
    """For how many hands of its class each stands, on average one."""
    place = stratum_of_hands()[ranks]
    sizes = np.array([each.hands for each in strata()], dtype=np.float64)
    count = np.bincount(place, minlength=len(sizes))
    weight = (sizes / np.maximum(count, 1))[place]
    return np.asarray(weight / weight.mean())


# -- fits ----------------------------------------------------------------------------------------


def _solve(terms: Floats, wanted: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted least squares: (k, contracts, hands) to (contracts, hands); covariance by hands."""
    k, _, hands = terms.shape
    weighted = terms * weights
    information = np.einsum("ich,jch->ij", weighted, terms, optimize=True)
    inverse = np.linalg.pinv(information)
    coefficients = inverse @ (weighted * wanted).sum(axis=(1, 2))
    rest = wanted - np.tensordot(coefficients, terms, 1)
    by_hand = (weighted * rest).sum(axis=1)
    covariance = inverse @ (by_hand @ by_hand.T) @ inverse * (hands / max(hands - k, 1))
    return coefficients, covariance


def _unseen(terms: Floats, wanted: Floats, weights: Floats) -> Floats:
    """What a fit leaves of hands it has not seen, (contracts, hands)."""
    rest = np.empty_like(wanted)
    fold = np.arange(wanted.shape[1]) % FOLDS
    for each in range(FOLDS):
        seen, kept = fold != each, fold == each
        found, _ = _solve(terms[:, :, seen], wanted[:, seen], weights[:, seen])
        rest[:, kept] = wanted[:, kept] - np.tensordot(found, terms[:, :, kept], 1)
    return rest


def _spread(excess: Floats, scale: Floats) -> float:
    """The standard deviation between hands, to be safe with the variance a standard error more.

    ``excess`` by hand: squares of what a fit leaves, less the noise; ``scale``: what one unit of
    variance would add to it.
    """
    variance = float(excess.sum() / scale.sum())
    error = float(np.std(excess - variance * scale)) * sqrt(len(excess)) / float(scale.sum())
    return sqrt(max(variance, 0.0) + error)


def _fitted(
    seen: Observed, features: Floats, curves: Curves, weights: Floats
) -> tuple[Fit, Fit, dict[str, Any]]:
    """The fits of points and chances, and how well they do on hands not seen."""
    measured: dict[str, Any] = {}
    p, level = curves.chances, level_of(curves.means)
    # Points: one "contract".
    terms, wanted, equal = features[:, None, :], seen.difference[None], np.ones((1, p.shape[1]))
    a, covariance = _solve(terms, wanted, equal)
    common = np.einsum("ih,ij,jh->h", features, covariance, features)
    rest = _unseen(terms, wanted, equal)[0]
    spread = _spread(rest**2 - seen.noise - common, level)
    points = Fit(a, covariance, spread)
    error = np.sqrt(seen.noise + common + spread**2 * level)
    measured["points"] = _judged(seen.difference[None], rest[None], seen.noise[None], weights) | {
        "covered": rounded(float(np.mean(np.abs(rest) <= _Z * error)))
    }
    # Chances: all contracts at once.
    terms, weight = terms_of(p, features), 1 / (p * (1 - p) + _SURE)
    b, covariance = _solve(terms, seen.more, weight)
    common = np.einsum("ich,ij,jch->ch", terms, covariance, terms, optimize=True)
    left = _unseen(terms, seen.more, weight)
    is_open = (p > _OPEN) & (p < 1 - _OPEN)
    excess = np.where(is_open, left**2 - seen.more_noise - common, 0).sum(axis=0)
    spread = _spread(excess, np.where(is_open, p**2 * (1 - p), 0).sum(axis=0))
    chances = Fit(b, covariance, spread)
    # The noise of a few deals is often 0 by chance: from all cells, by what it goes with.
    usual = float(seen.more_noise[is_open].sum()) / float((p * (1 - p))[is_open].sum())
    error = np.sqrt((usual + spread**2 * p) * p * (1 - p) + common)
    inside = np.abs(left) <= _Z * error
    measured["chances"] = _judged(
        np.where(is_open, seen.more, 0),
        np.where(is_open, left, 0),
        np.where(is_open, seen.more_noise, 0),
        weights * is_open,
    ) | {"covered": rounded(float(inside[is_open].mean()))}
    return points, chances, measured


def _judged(before: Floats, after: Floats, noise: Floats, weights: Floats) -> dict[str, Any]:
    """Errors over all hands as root mean squares, of the uncorrected table and of the corrected."""
    scale = float(np.broadcast_to(weights, before.shape).sum())

    def rms(rest: Floats) -> float:
        return rounded(sqrt(max(float(((rest**2 - noise) * weights).sum()) / scale, 0.0)))

    return {"uncorrected": rms(before), "corrected": rms(after)}


# -- classes -------------------------------------------------------------------------------------


def _classes(
    ranks: NDArray[np.int64], observed: dict[str, Observed], contracts: tuple[int, ...]
) -> list[dict[str, Any]]:
    """What the sample says of each class: policy, model, difference and its standard error."""
    place = stratum_of_hands()[ranks]
    found = []
    for number, stratum in enumerate(strata()):
        mine = place == number
        if int(mine.sum()) < 2:
            continue
        models = {}
        for name, seen in observed.items():
            made = [
                [contract, *_row(seen.made[:, i, mine], seen.more[i, mine], 5)]
                for i, contract in enumerate(contracts)
                if seen.made[0, i, mine].mean() >= _SHOWN
            ]
            models[name] = {
                "deals": int(mine.sum()) * seen.deals,
                "points": _row(seen.points[:, mine], seen.difference[mine], 3),
                "makes": made,
            }
        found.append(
            {
                "key": list(stratum.key),
                "members": [list(each) for each in stratum.members],
                "of": stratum.hands,
                "hands": int(mine.sum()),
                "models": models,
            }
        )
    return found


def _row(both: Floats, difference: Floats, digits: int) -> list[float]:
    error = float(difference.std(ddof=1)) / sqrt(len(difference))
    policy, model = both.mean(axis=1).tolist()
    return [round(each, digits) for each in (policy, model, float(difference.mean()), error)]


__all__ = ["FOLDS", "Observed", "corrections_of"]
