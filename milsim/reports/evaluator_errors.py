"""How far counts of a hand are off, and how often they find its right bid: one row a count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.cards import N_SUITS
from milsim.reports.evaluator_fit import UNIT, Fit, bids_by, words_of
from milsim.reports.evaluator_folklore import COUNTS, opening_bids
from milsim.reports.hands_known import PASS, right_bids
from milsim.tables.passing import class_keys

NOISE_SEED = 2
_MOST = N_SUITS + 1
_CLASSES = _MOST**3

Row = dict[str, Any]


def error_frame(fit: Fit) -> pl.DataFrame:
    """One row a count.

    ``count``, ``source`` (``card``, ``folklore``, ``bound``), root mean square errors of declarer
    points ``rms_fitted`` on the half that is fitted, ``rms`` on the other, ``rms_all`` on all;
    ``r2`` on the other half: the share of the variance among hands that is explained. Of bids on
    the other half, against the highest contract allowed that does not lose on average: shares
    ``right``, ``within`` one step of the auction, ``high`` and ``low``. ``passed`` is the share of
    right bids where passing counts for what it earns, with cuts of their own.
    """
    return pl.DataFrame(list(_rows(fit)), infer_schema_length=None)


def _rows(fit: Fit) -> Iterator[Row]:
    mean = np.full(len(fit.hands), fit.points[fit.half].mean())
    yield _counted(fit, "card", "this card", UNIT * fit.counts, *_bids(fit, fit.counts))
    exact = fit.unrounded()
    yield _counted(fit, "card", "the same before rounding", exact, *_bids(fit, exact))
    for each in COUNTS:
        counts = each.count(fit.hands, fit.rules.deal.marriage_values.by_suit())
        yield _counted(fit, "folklore", each.name, fit.line_of(counts), *_bids(fit, counts))
        if each.told:
            yield _counted(fit, "folklore", f"{each.name}, as told", counts, *_told(fit, counts))
    openings = opening_bids(fit.hands)
    yield _counted(fit, "folklore", "the opening table", None, openings, openings)
    yield _counted(fit, "bound", "nothing: all hands alike", mean, *_bids(fit, mean))
    classes = _class_means(fit)
    yield _counted(fit, "bound", "marriages × aces × guarded tens", classes, *_bids(fit, classes))
    yield _perfect(fit)


def _bids(fit: Fit, counts: NDArray[Any]) -> list[NDArray[np.int64]]:
    """The bids of a count that has the best cuts it can have: not to lose, and against passing."""
    whole = np.rint(counts).astype(np.int64)
    return [bids_by(whole, fit.cuts_of(whole, bids)) for bids in (fit.even, fit.bids)]


def _told(fit: Fit, points: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Bids of who believes in the points that a count claims, rounded down."""
    step = fit.rules.auction.step
    bids = points - points % step
    return [np.where(bids >= fit.rules.auction.minimum, bids, PASS)] * 2


def _counted(
    fit: Fit,
    source: str,
    name: str,
    points: NDArray[Any] | None,
    bids: NDArray[np.int64],
    over_passing: NDArray[np.int64],
) -> Row:
    row: Row = {"count": name, "source": source, "rms_fitted": None, "rms": None, "rms_all": None}
    row["r2"] = None
    if points is not None:
        squares = (fit.points - points) ** 2
        row["rms_fitted"] = float(squares[fit.half].mean() ** 0.5)
        row["rms"] = float(squares[~fit.half].mean() ** 0.5)
        row["rms_all"] = float(squares.mean() ** 0.5)
        row["r2"] = float(1 - squares[~fit.half].mean() / fit.points[~fit.half].var())
    return row | _shares(fit, np.minimum(bids, fit.caps), np.minimum(over_passing, fit.caps))


def _shares(fit: Fit, bids: NDArray[np.int64], over_passing: NDArray[np.int64]) -> Row:
    """How good bids are on the half that was not fitted."""
    out, known = ~fit.half, ~fit.half & fit.bids.passes
    shares = shares_of(fit, bids[out], fit.even.right[out])
    passed = float((over_passing == fit.bids.right)[known].mean())
    return shares | {"passed": passed}


def shares_of(fit: Fit, bids: NDArray[np.int64], right: NDArray[np.int64]) -> Row:
    """How often bids are right, within a step of it, too high and too low; to pass is a step."""
    how = fit.rules.auction
    below = how.minimum - how.step
    off = np.where(bids == PASS, below, bids) - np.where(right == PASS, below, right)
    return {
        "right": float((off == 0).mean()),
        "within": float((np.abs(off) <= how.step).mean()),
        "high": float((off > 0).mean()),
        "low": float((off < 0).mean()),
    }


def _class_means(fit: Fit) -> NDArray[np.float64]:
    """What the hands of the fitted half with as many marriages, aces and guarded tens take."""
    where = _class_numbers(class_keys(fit.hands))
    n = np.bincount(where[fit.half], minlength=_CLASSES)
    total = np.bincount(where[fit.half], fit.points[fit.half], minlength=_CLASSES)
    means = np.where(n > 0, total / np.maximum(n, 1), fit.points[fit.half].mean())
    found: NDArray[np.float64] = means[where]
    return found


def _perfect(fit: Fit) -> Row:
    """A count without any error: as far off as the table's own deals are."""
    variance = fit.table.mean_variances()
    noise, other = normal_numbers(len(fit.hands), NOISE_SEED)
    again = right_bids(fit.table, fit.rules, noise, other * _pass_errors(fit))
    even = right_bids(fit.table, fit.rules, noise, passing=0)
    return {
        "count": "a perfect count, by sampling",
        "source": "bound",
        "rms_fitted": float(variance[fit.half].mean() ** 0.5),
        "rms": float(variance[~fit.half].mean() ** 0.5),
        "rms_all": float(variance.mean() ** 0.5),
        "r2": float(1 - variance[~fit.half].mean() / fit.points[~fit.half].var()),
        **_shares(fit, even.right, again.right),
    }


def _pass_errors(fit: Fit) -> NDArray[np.float64]:
    """The standard errors of what hands earn by passing."""
    errors = np.zeros(_CLASSES)
    for key, each in fit.table.pass_classes().items():
        errors[_class_numbers(np.array(key))] = each.hand_error
    found: NDArray[np.float64] = errors[_class_numbers(class_keys(fit.hands))]
    return found


def _class_numbers(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Marriages, aces and guarded tens as one number below ``_CLASSES``."""
    marriages, aces, tens = keys
    found: NDArray[np.int64] = (marriages * _MOST + aces) * _MOST + tens
    return found


def normal_numbers(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two standard normal numbers for each index, by Box and Muller.

    >>> [numbers.shape for numbers in normal_numbers(5, 1)]
    [(5,), (5,)]
    """
    indices = np.arange(n)
    first, second = (
        ((words_of(indices, 2 * seed + part) >> np.uint64(11)) + 0.5) / 2.0**53 for part in (0, 1)
    )
    radius = np.sqrt(-2 * np.log(first))
    return radius * np.cos(2 * np.pi * second), radius * np.sin(2 * np.pi * second)


__all__ = ["error_frame", "normal_numbers", "shares_of"]
