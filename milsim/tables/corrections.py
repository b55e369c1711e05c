"""The table corrected to stronger models: what double dummy or ``pimc`` would make of any hand.

A table is by a fast policy. On a stratified sample of hands the stronger models played the same
deals (:mod:`milsim.tables.sampling`); how far they differ from the policy is fitted to what is
known of every hand (:data:`FEATURES`: its own level and spread in the table, marriages, aces, tens,
kings; :mod:`milsim.tables.correcting`). So a hand's curve is moved by

- points: ``x·a``, for the features ``x`` of the hand;
- each chance p: ``p(1 − p)·(x·b + (1 − 2p)·x·c + (1 − 2p)²·d)``, where d is linear in the spread
  of the hand; that leaves 0 and 1 where they are. A higher contract is never likelier than a lower.

Standard errors have three parts: the table's own sampling; the coefficients' (a matrix by hands as
units, common to all hands); and what hands differ by that are alike in all features, measured on
hands that the fit had not seen. As measured, strong hands differ more: the variance is taken as
``(spread·mean/100)²`` of points, and ``spread²·p²(1 − p)`` of a chance. Where hands are averaged,
a part of it (:data:`SHARED`) is taken to be common to all of them, as no fit is right everywhere.

``milsim/pages/data/models.js`` does the same arithmetic.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milsim.dealing.tables import hand_masks_table
from milsim.errors import RunError, UsageError, nearest, quote
from milsim.files import read_text, reason_of
from milsim.rules import Rules, digest
from milsim.tables.compact import CompactTable, printable, whole
from milsim.where import feature

FORMAT = "milsim model corrections"
FORMAT_VERSION = 1
ENDING = ".models.json"
FEATURES = (
    "one",
    "level",
    "level_squared",
    "spread",
    "marriage_points",
    "half_marriages",
    "aces",
    "no_ace",
    "guarded_tens",
    "kings",
    "any_marriage",
    "marriage_no_ace",
    "spread_squared",
    "level_spread",
)
"""What is known of a hand: :meth:`Curves.features`."""
SHARED = 0.15
"""The part of what hands differ by that is taken to be common to all that are averaged: what the
fit misses. Between the classes of mil's sample it is 16 % for double dummy, and none for pimc."""
QUANTISED_MEAN = 0.5 / sqrt(12)
"""Standard deviation of what packing rounds off a mean, in points."""
QUANTISED_CHANCE = 0.0157 / sqrt(12)
"""And off a chance, in units of the square root of p(1 − p): half a level either way."""
_MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """What the fast policy made of some hands, a column each: of a table, or played live.

    ``ranks`` int64 (n,), ``means`` and ``spreads`` (standard deviations) of declarer points
    (n,), ``chances`` (contracts, n) of making ``contracts``, and in how many ``deals`` each.
    ``is_packed`` if a packed table has rounded them.
    """

    ranks: NDArray[np.integer]
    contracts: tuple[int, ...]
    means: NDArray[np.float64]
    spreads: NDArray[np.float64]
    chances: NDArray[np.float64]
    deals: int
    is_packed: bool

    @classmethod
    def of_table(cls, ranks: NDArray[np.integer], table: CompactTable) -> Curves:
        """As a packed table has them."""
        return cls(
            ranks,
            table.contracts,
            table.means[ranks].astype(np.float64),
            table.spreads[ranks].astype(np.float64),
            table.chances(ranks),
            table.deals,
            is_packed=True,
        )

    @property
    def noise(self) -> float:
        """The variance of a chance p, in units of p(1 − p): by sampling, and by packing."""
        return 1 / self.deals + (QUANTISED_CHANCE**2 if self.is_packed else 0.0)

    def features(self, rules: Rules) -> NDArray[np.float64]:
        """The `FEATURES` of the hands: float64 (features, n), all about of size one."""
        hands = hand_masks_table()[self.ranks].astype(np.int64)
        level, spread = (self.means - 100) / 40, (self.spreads - 35) / 10
        values = rules.deal.marriage_values.by_suit()
        aces = feature("aces", hands)
        married = feature("marriages", hands) > 0
        return np.stack(
            [
                np.ones(len(hands)),
                level,
                level**2,
                spread,
                feature("marriage_points", hands, marriage_values=values) / 100,
                feature("half_marriages", hands).astype(np.float64),
                aces.astype(np.float64),
                (aces == 0).astype(np.float64),
                feature("guarded_tens", hands).astype(np.float64),
                feature("kings", hands).astype(np.float64),
                married.astype(np.float64),
                (married & (aces == 0)).astype(np.float64),
                spread**2,
                level * spread,
            ]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A linear correction: coefficients float64 (k,), their covariance (k, k), and the spread."""

    coefficients: NDArray[np.float64]
    covariance: NDArray[np.float64]
    spread: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON: the lower half of the covariance, row by row."""
        rows = np.tril_indices(len(self.coefficients))
        return {
            "coefficients": [rounded(each) for each in self.coefficients.tolist()],
            "covariance": [rounded(each) for each in self.covariance[rows].tolist()],
            "spread": rounded(self.spread),
        }

    @classmethod
    def of(cls, said: Mapping[str, Any], size: int) -> Fit:
        """From JSON; raises ValueError, KeyError or TypeError if it is not of this size."""
        coefficients = np.array([float(each) for each in said["coefficients"]])
        if len(coefficients) != size:
            raise ValueError
        half = np.zeros((size, size))
        half[np.tril_indices(size)] = [float(each) for each in said["covariance"]]
        covariance = half + half.T - np.diag(np.diag(half))
        spread = float(said["spread"])
        if not (np.isfinite(coefficients).all() and np.isfinite(covariance).all()):
            raise ValueError
        if not isfinite(spread):
            raise ValueError
        return cls(coefficients, covariance, spread)


def rounded(value: float) -> float:
    """A number with the six digits that files keep."""
    return float(f"{value:.6g}")


def level_of(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the variance between hands goes with: declarer points squared, in hundreds.

    >>> level_of(np.array([0.0, 150.0])).tolist()
    [0.0, 2.25]
    """
    return (means / 100) ** 2


def shared_by(hands: int) -> float:
    """What is left of the variance between hands when so many are averaged.

    >>> shared_by(1), shared_by(10**6) > SHARED
    (1.0, True)
    """
    return SHARED + (1 - SHARED) / hands


def terms_of(p: NDArray[np.float64], features: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a chance is moved by: (CHANCE_TERMS, contracts, hands) of chances (contracts, hands)."""
    first = features[:, None, :] * (p * (1 - p))
    odd = 1 - 2 * p
    constant_and_spread = first[[0, FEATURES.index("spread")]]
    return np.concatenate([first, first * odd, constant_and_spread * odd**2])


CHANCE_TERMS = 2 * len(FEATURES) + 2


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a hand, or of several averaged, by one model.

    ``mean`` of declarer points and its standard ``error``; ``chances`` by contract, and
    ``weights``: how many deals would tell a chance as precisely.
    """

    mean: float
    error: float
    chances: Mapping[int, float]
    weights: Mapping[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class ModelCorrection:
    """From the table's policy to a model; ``deals`` of each sampled hand were behind it."""

    model: str
    deals: int
    points: Fit
    chances: Fit

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "model": self.model,
            "deals": self.deals,
            "points": self.points.to_dict(),
            "chances": self.chances.to_dict(),
        }

    def known(self, curves: Curves, rules: Rules) -> Known:
        """What the model would make of some hands, averaged."""
        features = curves.features(rules)
        means = curves.means + self.points.coefficients @ features
        moved = self.moved(curves.chances, features)
        chances = moved.mean(axis=1).tolist()
        weights = [
            self.worth(p, q, features, curves.noise)
            for p, q in zip(curves.chances, moved, strict=True)
        ]
        return Known(
            float(means.mean()),
            self.mean_error(curves, features),
            dict(zip(curves.contracts, chances, strict=True)),
            dict(zip(curves.contracts, weights, strict=True)),
        )

    def mean_error(self, curves: Curves, features: NDArray[np.float64]) -> float:
        """The standard error of the mean of some hands' points."""
        n = len(curves.ranks)
        average = features.mean(axis=1)
        sampled = float((curves.spreads**2).mean()) / curves.deals
        sampled += QUANTISED_MEAN**2 if curves.is_packed else 0.0
        differ = self.points.spread**2 * float(level_of(curves.means).mean())
        common = float(average @ self.points.covariance @ average)
        return sqrt(sampled / n + differ * shared_by(n) + common)

    def worth(
        self,
        p: NDArray[np.float64],
        q: NDArray[np.float64],
        features: NDArray[np.float64],
        noise: float,
    ) -> float:
        """How many deals would tell the mean chance of some hands as precisely, by a contract.

        ``p`` are the table's chances of the hands and ``q`` the corrected ones; ``noise`` is that
        of :attr:`Curves.noise`.
        """
        n, chance = len(p), float(q.mean())
        terms = terms_of(p[None], features)[:, 0].mean(axis=1)
        common = float(terms @ self.chances.covariance @ terms)
        alone = float((q * (1 - q)).mean()) * noise / n
        differ = self.chances.spread**2 * float((q**2 * (1 - q)).mean())
        # For a sure thing: as many deals as the table has.
        inside = chance * (1 - chance)
        return inside / (alone + differ * shared_by(n) + common) if inside > 0 else n / noise

    def moved(self, p: NDArray[np.float64], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances (contracts, hands) of the table, moved."""
        # As the coefficients times terms_of, which would be thirty arrays of all chances.
        size = len(FEATURES)
        b, c, d = np.split(self.chances.coefficients, [size, 2 * size])
        odd = 1 - 2 * p
        of_odd = c @ features + odd * (d @ features[[0, FEATURES.index("spread")]])
        found = np.clip(p + p * (1 - p) * (b @ features + odd * of_odd), 0, 1)
        return np.minimum.accumulate(found, axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Corrections:
    """All models that a table can be corrected to, and where that is from (``header``).

    ``header["classes"]`` has what the sample itself says, class by class
    (:mod:`milsim.tables.correcting`).
    """

    header: Mapping[str, Any]
    models: Mapping[str, ModelCorrection]

    @property
    def hands(self) -> int:
        """How many hands were sampled."""
        return int(self.header["hands"])

    def of(self, model: str) -> ModelCorrection:
        """The correction to a model; UsageError for one that was not sampled."""
        if model not in self.models:
            raise UsageError(f"model {quote(model)}: not sampled; {nearest(model, self.models)}")
        return self.models[model]

    def for_page(self) -> dict[str, Any]:
        """What a page needs to do the same."""
        return {
            "hands": self.hands,
            "features": list(FEATURES),
            "models": [each.to_dict() for each in self.models.values()],
        }

    def to_bytes(self) -> bytes:
        """The file: JSON, one line a model and class."""
        head = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in self.header.items()
                if k != "classes"]  # fmt: skip
        models = [each.to_dict() for each in self.models.values()]
        for name, rows in (("models", models), ("classes", self.header["classes"])):
            lines = ",\n".join(f"  {json.dumps(row, separators=(',', ':'))}" for row in rows)
            head.append(f" {json.dumps(name)}: [\n{lines}\n ]")
        return ("{\n" + ",\n".join(head) + "\n}\n").encode()

    @classmethod
    def from_text(cls, text: str, where: str) -> Corrections:
        """From a file's text; raises RunError, naming ``where``, for what is none."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError
            if content["version"] != FORMAT_VERSION:
                raise RunError(
                    f"models {where}: format {quote(content['version'])}, but this version reads "
                    f"{FORMAT_VERSION}; pack it anew"
                )
            if content["features"] != list(FEATURES):
                raise ValueError
            size = len(FEATURES)
            models = {
                printable(row["model"]): ModelCorrection(
                    row["model"],
                    whole(row["deals"]),
                    Fit.of(row["points"], size),
                    Fit.of(row["chances"], CHANCE_TERMS),
                )
                for row in content.pop("models")
            }
            for name in ("rules", "rules_name", "policy", "plan_digest", "kernels"):
                printable(content[name])
            whole(content["hands"])
            for name in ("classes", "measured"):
                content[name]
        except RunError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
            raise RunError(
                f"models {where}: is torn, or no file of corrections; write one with milsim table "
                "pack SAMPLE"
            ) from None
        return cls(content, models)

    def check(self, table: CompactTable, where: str) -> None:
        """Raise RunError if they are of other rules or another policy than the table."""
        for what in ("rules", "policy"):
            if self.header[what] != table.header[what]:
                raise RunError(
                    f"models {where}: are of {what} {self.header[what]:.12}, but the table is of "
                    f"{table.header[what]:.12}"
                )


def read_corrections(path: str | Path) -> Corrections:
    """The corrections in a file; raises RunError for what cannot be read or is none."""
    try:
        text = read_text(Path(path), _MOST_BYTES)
    except OSError as error:
        raise RunError(f"models {path}: cannot read, {reason_of(error)}") from None
    except ValueError:
        raise RunError(f"models {path}: is no text") from None
    return Corrections.from_text(text, str(path))


@lru_cache(maxsize=4)
def _shipped(name: str) -> Corrections:
    return Corrections.from_text((files("milsim.tables") / "data" / name).read_text(), name)


def shipped_corrections(rules: Rules, policy: str = "expert") -> Corrections | None:
    """Those of the table of these rules that come with milsim; None if there are none."""
    wanted = digest(rules), policy
    for path in sorted((files("milsim.tables") / "data").iterdir(), key=lambda path: path.name):
        if path.name.endswith(ENDING):
            found = _shipped(path.name)
            if (found.header["rules"], found.header["policy"]) == wanted:
                return found
    return None


__all__ = [
    "CHANCE_TERMS",
    "ENDING",
    "FEATURES",
    "Corrections",
    "Curves",
    "Fit",
    "Known",
    "ModelCorrection",
    "level_of",
    "read_corrections",
    "rounded",
    "shared_by",
    "shipped_corrections",
    "terms_of",
]
