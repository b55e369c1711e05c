"""What the packed table says of a hand, or of hands averaged: itself, corrected, refined live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milsim.answers.estimates import Estimate, of_chances, of_known, refined
from milsim.errors import UsageError
from milsim.reports.contract import Contract
from milsim.rules import Rules
from milsim.tables.compact import CONTRACT_STEP, CompactTable
from milsim.tables.corrections import (
    Corrections,
    Curves,
    ModelCorrection,
    read_corrections,
    shipped_corrections,
)


def corrections_for(
    path: str | Path | None, rules: Rules, table: CompactTable | None
) -> Corrections | None:
    """What corrects the table: the file, or what comes with milsim; nothing without a table.

    Raises :class:`~milsim.errors.RunError` for a file that is none or does not fit.
    """
    if path is not None and table is None:
        raise UsageError(f"corrections {path}: correct a table, and there is none of these rules")
    if table is None:
        return None
    if path is None:
        return shipped_corrections(rules, table.policy)
    found = read_corrections(path)
    found.check(table, str(path))
    return found


def table_estimate(
    ranks: NDArray[np.int64], known: CompactTable, contracts: list[Contract]
) -> Estimate:
    """The table's policy, averaged over hands of these ranks."""
    deals = known.deals * len(ranks)
    contracts = by_tens(contracts)
    chances = known.chances(ranks).mean(axis=1)
    mean = float(known.means[ranks].astype(np.float64).mean())
    within = float((known.spreads[ranks].astype(np.float64) ** 2).mean())
    return of_chances(
        known.policy,
        deals,
        mean,
        sqrt(within / deals) + 0.25 / sqrt(3 * len(ranks)),
        dict(zip(known.contracts, chances.tolist(), strict=True)),
        contracts,
    )


def by_tens(contracts: list[Contract]) -> list[Contract]:
    """Those that a table has. Between them it has none; above its last one nobody makes any."""
    return [each for each in contracts if each.value % CONTRACT_STEP == 0]


def corrected_estimates(
    ranks: NDArray[np.int64],
    names: Iterable[str],
    rules: Rules,
    known: CompactTable,
    models: Corrections | None,
    contracts: list[Contract],
) -> dict[str, Estimate]:
    """The models asked for that the table can be corrected to."""
    curves = Curves.of_table(ranks, known)
    return {
        name: of_known(
            name,
            "table, corrected",
            known.deals * len(ranks),
            models.of(name).known(curves, rules),
            by_tens(contracts),
            (models.hands, models.of(name).deals),
        )
        for name in names
        if models is not None and name in models.models
    }


def refined_estimate(
    correction: ModelCorrection,
    sampled: int,
    histogram: Mapping[int, int],
    curves: Curves,
    rules: Rules,
    contracts: list[Contract],
) -> Estimate:
    """A model by the corrected curve of the fast policy, and by deals of its own beside that."""
    contracts = by_tens(contracts)
    before = correction.known(curves, rules)
    return of_known(
        correction.model,
        "table, corrected, and live",
        sum(histogram.values()),
        refined(before, histogram, float(curves.spreads[0]), contracts),
        contracts,
        (sampled, correction.deals),
    )


def curves_of(rank: int, histogram: Mapping[int, int], contracts: list[Contract]) -> Curves:
    """The fast policy's curve of one hand, played live."""
    deals = sum(histogram.values())
    mean = sum(points * n for points, n in histogram.items()) / deals
    squares = sum(points**2 * n for points, n in histogram.items()) / deals
    chosen = by_tens(contracts)
    return Curves(
        np.array([rank]),
        tuple(each.value for each in chosen),
        np.array([mean]),
        np.array([sqrt(max(squares - mean**2, 0.0))]),
        np.array([[each.made(histogram) / deals] for each in chosen]),
        deals,
        is_packed=False,
    )


__all__ = [
    "by_tens",
    "corrected_estimates",
    "corrections_for",
    "curves_of",
    "refined_estimate",
    "table_estimate",
]
