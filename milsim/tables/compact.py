"""The compact table: what all 346,104 hands are worth in some bytes a hand, with its provenance.

A file is one line of JSON, the header, and then one zlib stream. Unpacked it holds planes, each of
one byte a hand in the order of the hands' ranks (RULES.md §1: colexicographic, that is, by their
masks as numbers):

1. ``mean``: declarer points on average, in half points, modulo 256; ``mean_high``: that divided
   by 256;
2. ``spread``: the standard deviation of declarer points, in whole points;
3. ``passing``: what a hand earns that passes (:mod:`milsim.tables.passing`), in whole points plus
   64; 255 for one that never passes, as it must ask for a new deal;
4. for each of the header's ``contracts``, which go by tens, one of *levels* 0 … 100, stored as
   the difference (modulo 256) from the contract before it; before the first there is 0. A level q
   stands for the chance sin²(π/2 · q/100) of making the contract.

The arc sine gives all chances the same sampling error: with 680 deals, 1.9 % at one half, or 1.2
levels. Rounding to whole levels, at most ±0.79 % at one half and less towards 0 and 1, makes that
error larger by a thirtieth. Level 0 is "never in these deals", level 100 "always". Means are off by
at most a quarter of a point, where their sampling error is 1 to 2 points.

The header also has ``passing``, the classes of hands with their standard errors: rows of
:class:`~milsim.tables.passing.PassClass`; and ``digest``, the SHA-256 of the rest of the header and
the planes, so that no damaged file ever gives a number.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.dealing.tables import N_HANDS
from milsim.errors import RunError, quote
from milsim.files import reason_of
from milsim.rules import Rules, digest
from milsim.tables.folder import Table
from milsim.tables.passing import PassClass, passing_values
from milsim.tables.plan import TablePlan, contracts_of

FORMAT = "milsim hand table"
FORMAT_VERSION = 1
LEVELS = 100
CONTRACT_STEP = 10
HALVES = 2  # a mean is stored in half points
MOST_BYTES = 20_000_000
ENDING = ".hands"
_HEAD_PLANES = 4
_MOST_PLANES = 256
_PASS_ZERO = 64
_NEVER_PASSES = 255
_LONGEST = 500
_PASS_ROW = 8  # numbers: see PassClass.to_row


def levels_of(made: NDArray[np.int64], deals: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The levels of proportions ``made / deals``, of one shape.

    >>> levels_of(np.array([0, 1, 340, 680]), np.array([680] * 4)).tolist()
    [0, 2, 50, 100]
    """
    angles = np.arcsin(np.sqrt(made / deals))
    return np.rint(angles * (2 * LEVELS / np.pi)).astype(np.uint8)


def chances_of(levels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The proportions that levels stand for.

    >>> chances_of(np.array([0, 50, 100], np.uint8)).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    found: NDArray[np.float64] = _CHANCES[levels]
    return found


_CHANCES = np.sin(np.arange(256) * (np.pi / (2 * LEVELS))) ** 2  # a file may hold any byte


@dataclass(frozen=True, slots=True, eq=False)
class CompactTable:
    """All hands of a rule set by one policy; arrays by rank.

    ``means`` float32 and ``spreads`` uint8 in declarer points; ``passing`` float32 in points of the
    deal score, NaN for hands that never pass; ``levels`` uint8 (contracts, hands).
    ``header`` is the provenance: the rules' digest, policy, seed, deals a talon, kernels, versions.
    """

    header: Mapping[str, Any]
    means: NDArray[np.float32]
    spreads: NDArray[np.uint8]
    passing: NDArray[np.float32]
    levels: NDArray[np.uint8]

    @property
    def contracts(self) -> tuple[int, ...]:
        """The contracts whose chances the table has; no hand ever made a higher one."""
        return tuple(self.header["contracts"])

    @property
    def deals(self) -> int:
        """How many deals each hand was declarer in."""
        return int(self.header["deals"])

    @property
    def policy(self) -> str:
        """Who played."""
        return str(self.header["policy"])

    @property
    def play(self) -> str:
        """Whose points, for people."""
        return f"policy {self.policy}"

    @property
    def how_known(self) -> str:
        """What the numbers rest on, for people."""
        return f"{self.deals:,} deals a hand, evenly over its talons"

    def chances(self, ranks: NDArray[np.integer]) -> NDArray[np.float64]:
        """P(make) of hands by contract: float64 (contracts, hands)."""
        return chances_of(self.levels[:, ranks])

    def mean_variances(self) -> NDArray[np.float64]:
        """The variance of each hand's mean by sampling, float64 (hands,)."""
        found: NDArray[np.float64] = self.spreads.astype(np.float64) ** 2 / self.deals
        return found

    def mean_of(self, ranks: NDArray[np.integer]) -> tuple[float, float]:
        """The mean declarer points of some hands, and its standard error by sampling."""
        mean = float(self.means[ranks].astype(np.float64).mean())
        within = float((self.spreads[ranks].astype(np.float64) ** 2).mean())
        return mean, (within / (self.deals * len(ranks))) ** 0.5

    def worth(self, ranks: NDArray[np.integer], place: int) -> float:  # noqa: ARG002
        """How many deals tell the mean chance of a contract, by its place, for some hands."""
        return float(self.deals * len(ranks))

    def percentile(self, mean: float) -> float:
        """The share of all hands that are worth less, with half of those worth the same."""
        below = int((self.means < mean).sum())
        same = int((self.means == mean).sum())
        return (below + same / 2) / len(self.means)

    def pass_classes(self) -> dict[tuple[int, int, int], PassClass]:
        """The classes of hands by marriages, aces and guarded tens, with what passing earns."""
        found = (PassClass.of(row) for row in self.header["passing"])
        return {each.key: each for each in found}

    def to_bytes(self, effort: int = 9) -> bytes:
        """The file; with an ``effort`` of 1 (zlib's) at once, and larger by a tenth."""
        halves = np.rint(self.means * HALVES).astype(np.int64)
        passing = np.clip(np.rint(self.passing) + _PASS_ZERO, 0, _NEVER_PASSES - 1)
        passing = np.where(np.isnan(self.passing), _NEVER_PASSES, passing)
        head = np.stack([halves % 256, halves // 256, self.spreads, passing]).astype(np.uint8)
        steps = np.diff(self.levels, axis=0, prepend=np.zeros((1, self.levels.shape[1]), np.uint8))
        planes = np.concatenate([head, steps]).tobytes()
        header = dict(self.header)
        line = _line({**header, "digest": _digest(header, planes)})
        return line + b"\n" + zlib.compress(planes, effort)

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> CompactTable:
        """The table of a file's bytes; raises RunError, naming ``where``, for what is none."""
        line, _, packed = content.partition(b"\n")
        header = _header(line, where)
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(packed, _MOST_PLANES * N_HANDS)
        except zlib.error:
            content = b""
        if (
            not stream.eof
            or stream.unused_data
            or header.pop("digest", "") != _digest(header, content)
        ):
            raise RunError(f"table {where}: is torn or changed; pack it anew")
        planes = np.frombuffer(content, np.uint8)
        if len(planes) != (_HEAD_PLANES + len(header["contracts"])) * N_HANDS:
            raise RunError(f"table {where}: is torn or changed; pack it anew")
        planes = planes.reshape(-1, N_HANDS)
        halves = planes[0].astype(np.float32) + 256 * planes[1].astype(np.float32)
        levels = planes[_HEAD_PLANES:].copy()
        for before, plane in pairwise(levels):  # np.cumsum down the columns takes ten times longer
            plane += before
        passing = planes[3].astype(np.float32) - _PASS_ZERO
        passing[planes[3] == _NEVER_PASSES] = np.nan
        return cls(header, halves / HALVES, planes[2], passing, levels)

    @classmethod
    def packed(cls, table: Table) -> CompactTable:
        """From a full table; raises RunError unless it has all hands, each as it was written."""
        plan = table.plan
        if not plan.is_whole or not table.complete:
            raise RunError(
                f"table {table.folder}: has {table.rows:,} of {N_HANDS:,} hands; build all of them"
            )
        table.verify()
        return cls.of_rows(table.frame(), plan, table.manifest)

    @classmethod
    def of_rows(
        cls, rows: pl.DataFrame, plan: TablePlan, manifest: Mapping[str, Any]
    ) -> CompactTable:
        """From the rows of all hands, in order, and the manifest of the code that played them."""
        deals = rows["deals"].to_numpy().astype(np.int64)
        means = rows["points"].to_numpy() / deals
        variance = rows["points_squared"].to_numpy() / deals - means**2
        halves = np.rint(means * HALVES)
        contracts = [
            each
            for each in contracts_of(plan.rules, plan.rules.auction.minimum)
            if each % CONTRACT_STEP == 0 and _sum(rows, f"makes_{each}")
        ]
        made = np.stack([rows[f"makes_{each}"].to_numpy().astype(np.int64) for each in contracts])
        passing, classes = passing_values(rows)
        header = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "rules_name": plan.rules.name,
            **plan.to_dict(),
            "plan_digest": plan.digest(),
            "deals": int(deals[0]),
            "rng": manifest["rng"],
            "kernels": manifest["kernels"],
            "versions": manifest["versions"],
            "contracts": contracts,
            "levels": LEVELS,
            "passing": [each.to_row() for each in classes],
        }
        return cls(
            header,
            (halves / HALVES).astype(np.float32),
            np.clip(np.rint(np.sqrt(np.maximum(variance, 0))), 0, 255).astype(np.uint8),
            np.rint(passing).astype(np.float32),
            levels_of(made, deals),
        )


def _sum(rows: pl.DataFrame, name: str) -> int:
    return int(rows[name].sum())


def _line(header: dict[str, Any]) -> bytes:
    return json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()


def _digest(header: dict[str, Any], planes: bytes) -> str:
    return hashlib.sha256(_line(header) + b"\n" + planes).hexdigest()


def _header(line: bytes, where: str) -> dict[str, Any]:
    try:
        header = json.loads(line)
        right = header["format"] == FORMAT
        version = header["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        right, version, header = False, None, {}
    if not right:
        raise RunError(f"table {where}: is no packed table; write one with milsim table pack")
    if version != FORMAT_VERSION:
        raise RunError(
            f"table {where}: format {quote(version)}, but this version reads {FORMAT_VERSION}; "
            "pack it anew"
        )
    try:
        _check_header(header)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
        raise RunError(f"table {where}: is torn or changed; pack it anew") from None
    return dict(header)


def _check_header(header: dict[str, Any]) -> None:
    """Raise ValueError, TypeError, AttributeError or LookupError for what nobody could use."""
    for name in ("rules", "rules_name", "policy", "plan_digest", "rng", "kernels"):
        printable(header[name])
    for name in ("deals", "per_talon"):
        whole(header[name])
    for name, version in header["versions"].items():
        printable(name)
        printable(version)
    contracts = header["contracts"]
    if not contracts or sorted({whole(each) for each in contracts}) != contracts:
        raise ValueError
    if type(header["seed"]) is not int:
        raise ValueError
    for row in header["passing"]:
        if len(row) != _PASS_ROW or not all(
            type(each) in (int, float) and isfinite(each) for each in row
        ):
            raise ValueError


def printable(value: object) -> str:
    """A text of a file that is shown; ValueError for another, or what would not show."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST:
        raise ValueError
    return value


def whole(value: object) -> int:
    """A positive whole number of a file; ValueError for anything else."""
    if type(value) is not int or not 0 < value < 1 << 53:
        raise ValueError
    return value


def read_compact(path: str | Path) -> CompactTable:
    """The packed table in a file; raises RunError for what cannot be read or is none."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES)
    except OSError as error:
        raise RunError(f"table {path}: cannot read, {reason_of(error)}") from None
    return _unpacked(content, str(path))


@lru_cache(maxsize=2)
def _unpacked(content: bytes, where: str) -> CompactTable:
    """By the file's bytes: who asks for hand after hand unpacks a table once, not a changed one."""
    return CompactTable.from_bytes(content, where)


def shipped_headers() -> dict[str, dict[str, Any]]:
    """The headers of the tables that come with milsim, by file name; quick.

    >>> all(header["hands"] == [0, 346104] for header in shipped_headers().values())
    True
    """
    found = {}
    for path in sorted((files("milsim.tables") / "data").iterdir(), key=lambda path: path.name):
        if path.name.endswith(ENDING):
            with path.open("rb") as file:
                header = _header(file.readline(MOST_BYTES), path.name)
            found[path.name] = {key: header[key] for key in header if key != "digest"}
    return found


def shipped_table(rules: Rules) -> CompactTable | None:
    """The table of these rules that comes with milsim; None if there is none."""
    wanted = digest(rules)
    for name, header in shipped_headers().items():
        if header["rules"] == wanted:
            return _shipped(name)
    return None


@lru_cache(maxsize=4)
def _shipped(name: str) -> CompactTable:
    content = (files("milsim.tables") / "data" / name).read_bytes()
    return CompactTable.from_bytes(content, name)


__all__ = [
    "ENDING",
    "LEVELS",
    "CompactTable",
    "chances_of",
    "levels_of",
    "printable",
    "read_compact",
    "shipped_headers",
    "shipped_table",
    "whole",
]
