"""The table of all hands as another model would have it: for reports by ``--model``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milsim.errors import RunError, UsageError, nearest, quote
from milsim.rules import Rules
from milsim.tables.compact import LEVELS, CompactTable, chances_of
from milsim.tables.corrections import (
    Corrections,
    Curves,
    ModelCorrection,
    level_of,
    shipped_corrections,
)

_HANDS = 1 << 15  # at once: an array of all chances is large


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedTable(CompactTable):
    """A table whose means and chances are those of a stronger model, by a fitted correction.

    ``base`` is the table of the fast policy, ``by`` the correction, ``sampled`` on how many hands
    it was measured. What passing earns stays that of ``base``.
    """

    base: CompactTable
    by: ModelCorrection
    rules: Rules
    sampled: int

    @property
    def play(self) -> str:
        """Whose points, for people."""
        return f"{self.by.model} by the table of {self.base.policy}, corrected"

    @property
    def how_known(self) -> str:
        """What the numbers rest on, for people."""
        return (
            f"{self.base.deals:,} deals a hand by {self.base.policy}, corrected by "
            f"{self.sampled:,} hands that {self.by.model} played, {self.by.deals} deals each"
        )

    def mean_variances(self) -> NDArray[np.float64]:
        """The variance of each hand's mean: by sampling, and between hands that look alike."""
        differ = self.by.points.spread**2 * level_of(self.base.means.astype(np.float64))
        return self.base.mean_variances() + differ

    def mean_of(self, ranks: NDArray[np.integer]) -> tuple[float, float]:
        """The mean declarer points of some hands, and its standard error."""
        curves = Curves.of_table(ranks, self.base)
        error = self.by.mean_error(curves, curves.features(self.rules))
        return float(self.means[ranks].astype(np.float64).mean()), error

    def worth(self, ranks: NDArray[np.integer], place: int) -> float:
        """How many deals would tell the mean chance of a contract, by its place, as precisely."""
        curves = Curves.of_table(ranks, self.base)
        q = chances_of(self.levels[place, ranks])
        return self.by.worth(curves.chances[place], q, curves.features(self.rules), curves.noise)


def corrected_table(
    base: CompactTable, rules: Rules, model: str, corrections: Corrections | None = None
) -> CompactTable:
    """All hands by a model: the table itself for its own policy, else one corrected to it.

    Without ``corrections`` those that come with milsim are taken. Raises
    :class:`~milsim.errors.UsageError` for a model that is not known of, and
    :class:`~milsim.errors.RunError` where no corrections of these rules come with milsim.

    >>> from milsim.rules import load
    >>> from milsim.tables.compact import shipped_table
    >>> mil = load("mil")
    >>> table = corrected_table(shipped_table(mil), mil, "pimc")
    >>> table.policy, len(table.means)
    ('pimc', 346104)
    """
    if model == base.policy:
        return base
    known = corrections or shipped_corrections(rules, base.policy)
    if known is None:
        raise RunError(
            f"model {quote(model)}: only {base.policy} is known of all hands under {rules.name}; "
            "no corrections to other models come with milsim"
        )
    if model not in known.models:
        names = [base.policy, *known.models]
        raise UsageError(f"model {quote(model)}: not known of all hands; {nearest(model, names)}")
    by = known.of(model)
    size = len(base.means)
    means = np.empty(size, np.float32)
    levels = np.empty_like(base.levels)
    for first in range(0, size, _HANDS):
        ranks = np.arange(first, min(first + _HANDS, size))
        curves = Curves.of_table(ranks, base)
        features = curves.features(rules)
        means[ranks] = curves.means + by.points.coefficients @ features
        chances = by.moved(curves.chances, features)
        levels[:, ranks] = np.rint(np.arcsin(np.sqrt(chances)) * (2 * LEVELS / np.pi))
    header = {**base.header, "policy": model}
    return CorrectedTable(
        header, means, base.spreads, base.passing, levels, base, by, rules, known.hands
    )


__all__ = ["CorrectedTable", "corrected_table"]
