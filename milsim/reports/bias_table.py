"""The bias of double dummy as a table, and runs whose double-dummy points are moved by it.

Double dummy sees all cards, so it is not what players get. How far off it is depends on the hand
and on the outcome: a constant would be wrong for nearly all. For each class of the declarer's 7
cards (marriages, aces, guarded tens) the table holds the double-dummy points and the points that a
policy took in the same deals, each in order, in twentieths: the mean of the lowest twentieth of
both, and so on. A double-dummy value is moved to where its rank stands in play (a quantile map), so
that means and make rates of a class come out as the policy's. Classes with few deals are pooled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import RunError, UsageError, nearest, quote
from milsim.files import read_text, reason_of
from milsim.policies import registry
from milsim.reports.bias_points import KEYS, CommonDeals
from milsim.rules import digest
from milsim.store.run import MODELS, Run, _is_made

CORRECTED = "corrected"
PARTS = 20
FEWEST = 500
"""Classes with fewer deals are pooled with the others of as many marriages, then with all."""
MOST_POINTS = 2000
_SIDES = 8  # more than marriages, aces or guarded tens in 7 cards
_MOST_BYTES = 50_000_000
_DRIVEN = ("pimc", "oracle")

Key = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, slots=True)
class BiasTable:
    """How double dummy is moved, and what it was measured on.

    ``knots`` by class (None where classes are pooled): two arrays, double-dummy points rising and
    the points in play that stand for them. ``n`` by class. ``about`` holds the rules' digest, mode,
    where, kind of double dummy, policy and number of deals.
    """

    about: Mapping[str, Any]
    knots: Mapping[Key, tuple[NDArray[np.float64], NDArray[np.float64]]]
    n: Mapping[Key, int]

    @classmethod
    def measured(cls, deals: CommonDeals, place: int = 1) -> BiasTable:
        """The table from double dummy (model 0) to another model of common deals, the next one."""
        base, model = deals.models[0], deals.models[place]
        plan = base.run.plan
        about = {
            "rules": digest(plan.rules),
            "mode": plan.mode,
            "where": plan.where,
            "double_dummy": plan.dd,
            "model": model.name,
            "deals": deals.rows.height,
        }
        rows = deals.rows.select(*KEYS, dd="points_0", played=f"points_{place}")
        knots: dict[Key, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        counts: dict[Key, int] = {}
        for size in (3, 1, 0):
            names = KEYS[:size]
            groups = rows.partition_by(names, as_dict=True) if names else {(): rows}
            for values, group in groups.items():
                if size and group.height < FEWEST:
                    continue
                padded = (*values, None, None, None)
                key = cast("Key", padded[:3])
                knots[key] = quantile_knots(group["dd"].to_numpy(), group["played"].to_numpy())
                counts[key] = group.height
        order = sorted(knots, key=lambda key: tuple(-1 if part is None else part for part in key))
        return cls(about, {key: knots[key] for key in order}, {key: counts[key] for key in order})

    def moved(self, key: tuple[int, int, int], points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Double-dummy points of hands of a class, moved; ends are moved like the last knot."""
        for known in (key, (key[0], None, None), (None, None, None)):
            if known in self.knots:
                break
        dd, played = self.knots[known]
        shifts = np.interp(points, dd, played - dd)
        return np.maximum(np.rint(points + shifts), 0).astype(np.int64)

    def to_rows(self) -> list[dict[str, Any]]:
        """One row a knot, as plain values for JSON."""
        return [
            {**dict(zip(KEYS, key, strict=True)), "n": self.n[key], "dd": a, "played": b}
            for key, (dd, played) in self.knots.items()
            for a, b in zip(dd.tolist(), played.tolist(), strict=True)
        ]

    @classmethod
    def read(cls, path: str | Path) -> BiasTable:
        """From the JSON of ``milsim report bias``; raises RunError for what is none."""
        try:
            content = json.loads(read_text(Path(path), _MOST_BYTES))
            about = dict(content["correction"]["about"])
            knots: dict[Key, tuple[list[float], list[float]]] = {}
            counts: dict[Key, int] = {}
            for row in content["correction"]["knots"]:
                key = cast("Key", tuple(row[name] for name in KEYS))
                dd, played = knots.setdefault(key, ([], []))
                dd.append(float(row["dd"]))
                played.append(float(row["played"]))
                counts[key] = int(row["n"])
            for name in ("rules", "mode", "double_dummy", "model", "deals"):
                about[name]
            arrays = {key: (np.array(a), np.array(b)) for key, (a, b) in knots.items()}
            if (None, None, None) not in arrays:
                raise KeyError("knots")
        except OSError as error:
            raise RunError(f"bias {path}: cannot read, {reason_of(error)}") from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise RunError(
                f"bias {path}: no bias table; write one with milsim report bias RUN --format json "
                "--out FILE, of a run with --dd"
            ) from error
        return cls(about, arrays, counts)


def quantile_knots(
    dd: NDArray[np.generic], played: NDArray[np.generic]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of both columns in order, cut into twentieths; equal double-dummy means are one knot.

    >>> dd, played = quantile_knots(np.arange(100), np.arange(100) + 5)
    >>> bool(np.allclose(played - dd, 5)), len(dd)
    (True, 20)
    """
    a, b = np.sort(dd.astype(np.float64)), np.sort(played.astype(np.float64))
    parts = min(PARTS, len(a))
    means = [(float(x.mean()), float(y.mean()), len(x)) for x, y in zip(
        np.array_split(a, parts), np.array_split(b, parts), strict=True
    )]  # fmt: skip
    merged: list[list[float]] = []
    for x, y, n in means:
        if merged and x <= merged[-1][0]:
            last = merged[-1]
            last[1], last[2] = (last[1] * last[2] + y * n) / (last[2] + n), last[2] + n
        else:
            merged.append([x, y, n])
    return (
        np.array([round(knot[0], 2) for knot in merged]),
        np.array([round(knot[1], 2) for knot in merged]),
    )


@dataclass(frozen=True, slots=True)
class CorrectedRun(Run):
    """A run whose points are its double-dummy values, moved by a bias table."""

    table: BiasTable | None = None

    @property
    def play(self) -> str:
        """What the points are."""
        assert self.table is not None
        about = self.table.about
        return f"double dummy corrected to {about['model']} (bias of {about['deals']:,} deals)"

    def _frame(self, parts: Any, *, features: bool = False) -> pl.LazyFrame:
        names = [f"hand_{key}" for key in KEYS]
        rows = Run._frame(self, parts, features=True)
        given = rows.collect_schema().names() if features else list(self.schema)
        table = _lookup(self.table)

        def move(columns: pl.Series) -> pl.Series:
            a, b, c, dd = (
                columns.struct.field(name).to_numpy().astype(np.int64)
                for name in (*names, "dd_points")
            )
            return pl.Series(table[(a * _SIDES + b) * _SIDES + c, dd])

        points = pl.struct(*names, "dd_points").map_batches(
            move, return_dtype=pl.Int16, is_elementwise=True
        )
        moved = rows.with_columns(declarer_points=points)
        return moved.with_columns(made=_is_made(self.rules, pl.col("declarer_points"))).select(
            given
        )


def _lookup(table: BiasTable | None) -> NDArray[np.int16]:
    """Moved points by class and double-dummy points: int16 (classes, MOST_POINTS)."""
    assert table is not None
    points = np.arange(MOST_POINTS)
    found = np.zeros((_SIDES**3, MOST_POINTS), np.int16)
    pooled: dict[int, NDArray[np.int64]] = {}
    for number in range(_SIDES**3):
        key = (number // _SIDES**2, number // _SIDES % _SIDES, number % _SIDES)
        if key in table.knots:
            found[number] = table.moved(key, points)
        else:
            if key[0] not in pooled:
                pooled[key[0]] = table.moved(key, points)
            found[number] = pooled[key[0]]
    return found


def run_by_model(run: Run, model: str, bias: str | Path | None = None) -> Run:
    """The run with the points of a model: ``played``, ``double-dummy``, ``corrected``, or a policy.

    A policy's name only asks that the run was played by it. Raises
    :class:`~milsim.errors.UsageError` for an unknown model or a missing table, and
    :class:`~milsim.errors.RunError` for a run or a table that does not fit.
    """
    if model != CORRECTED and bias is not None:
        raise UsageError("--bias: is for --model corrected")
    if model in MODELS:
        return run.as_model(model)
    if model != CORRECTED:
        return _played_by(run, model)
    if bias is None:
        raise UsageError(
            "--model corrected: needs --bias FILE, of milsim report bias RUN --format json --out "
            "FILE"
        )
    solved = run.as_model("double-dummy")
    table = BiasTable.read(bias)
    plan = run.plan
    mine = {"rules": digest(plan.rules), "mode": plan.mode, "double_dummy": plan.dd}
    for what, value in mine.items():
        if table.about[what] != value:
            raise RunError(
                f"bias {bias}: measured with {what.replace('_', ' ')} {table.about[what]!s:.12}, "
                f"but the run {run.folder} has {value!s:.12}"
            )
    return CorrectedRun(solved.folder, solved.manifest, solved.model, table)


def _played_by(run: Run, model: str) -> Run:
    policies = set(run.plan.policies)
    if policies == {model}:
        return run.as_model("played")
    known = [*MODELS, CORRECTED, *registry.names(), *_DRIVEN]
    kinds = {policy.partition(":")[0] for policy in policies}
    if model.partition(":")[0] in {*registry.names(), *kinds, *_DRIVEN}:
        if kinds == {model}:  # the kind, whatever its parameters
            return run.as_model("played")
        by = "/".join(sorted(policies))
        raise RunError(
            f"run {run.folder}: played by {by}, not by {model}; simulate with --policy {model}"
        )
    raise UsageError(f"model {quote(model)}: unknown; {nearest(model, known)}")


__all__ = ["CORRECTED", "BiasTable", "CorrectedRun", "quantile_knots", "run_by_model"]
