"""Play a sample of models into a folder, part by part: the same deals by the table's policy too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import RunError
from milsim.rules import Rules
from milsim.simulation.engine import chunk_ranges
from milsim.store.engines import Threads
from milsim.store.folder import checked_folder, disk_errors
from milsim.store.lock import locked
from milsim.store.writing import Collected, Collecting, Ended, Report
from milsim.tables.building import begin, go_on_with, play_parts, sweep
from milsim.tables.folder import PARTS_FOLDER, PartFolder, manifest_of, plan_of, read_manifest
from milsim.tables.models import ordered_deals, points_of_model
from milsim.tables.sample_plan import SamplePlan
from milsim.tables.strata import sampled_hands
from milsim.threads import checked_threads

KIND = "milsim sample of models"
SCHEMA_VERSION = 1
PART_HANDS = 64
CHUNK_HANDS = 4  # about a second
_GIVE_ONE = "give a folder written by milsim table sample"


def schema_of(plan: SamplePlan) -> pl.Schema:
    """A row a deal: ``hand`` (its rank), ``number`` (in the hand's order), and declarer points.

    ``points_0`` by the fast policy, ``points_1`` … by the models as the plan has them; null where a
    model plays fewer deals.
    """
    models = {f"points_{i}": pl.Int16() for i in range(len(plan.models) + 1)}
    return pl.Schema({"hand": pl.UInt32(), "number": pl.UInt16(), **models})


@dataclass(frozen=True, slots=True)
class ModelSample(PartFolder):
    """A sample of models in a folder, as far as it is played."""

    folder: Path
    plan: SamplePlan
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> ModelSample:
        """The sample of a folder; raises RunError if there is none, or it is of another schema."""
        path = Path(folder)
        where = f"sample {path}"
        content = read_manifest(path, where, KIND, SCHEMA_VERSION, _GIVE_ONE)

        def planned(said: dict[str, Any], rules: Rules) -> SamplePlan:
            return SamplePlan.make(
                rules=rules,
                policy=said["policy"],
                seed=said["seed"],
                hands=said["hands"],
                models=said["models"],
            )

        return cls(path, plan_of(content, where, planned), content)

    def spans(self) -> Iterator[tuple[int, int]]:
        """First place in the sample and number of hands of each part."""
        return chunk_ranges(0, self.plan.hands, PART_HANDS)

    def hands_of(self, start: int, count: int) -> NDArray[np.integer]:
        """The hands of so many places in the sample: a row for each of their deals."""
        ranks = sampled_hands(self.plan.hands, self.plan.seed)[start : start + count]
        return np.repeat(ranks, self.plan.deals)

    def rows_of(self, count: int) -> int:
        """A row a deal."""
        return count * self.plan.deals

    @property
    def hands(self) -> int:
        """Hands played so far; raises RunError for a part that is missing or torn."""
        return sum(part.rows for part in self.parts) // self.plan.deals

    @property
    def complete(self) -> bool:
        """Whether all hands of the plan are there."""
        return self.hands == self.plan.hands

    def frame(self) -> pl.DataFrame:
        """All deals so far, hand by hand; raises RunError for a part that is missing or torn."""
        return self.read(schema_of(self.plan))


def collect_sample(
    plan: SamplePlan, folder: str | Path, how: Collecting | None = None
) -> Collected[ModelSample]:
    """Play the hands of a plan that the folder does not hold yet.

    What is there is never played again, so a second call changes no byte; what is torn is, and
    told of in words. Finished parts stay, whatever ends it.

    Raises :class:`~milsim.errors.RunError` if the folder holds something else, another plan, or
    was begun by other code, and if it cannot be written.
    """
    path, how = checked_folder(folder), how or Collecting()
    content = manifest_of(plan, KIND, SCHEMA_VERSION)
    with disk_errors(path):
        begin(path, content, plan.to_toml())
        sample = ModelSample.open(path)
        go_on_with(path, sample.manifest, content, plan.to_toml())
        if not sample.missing(sample.spans()):
            return Collected(sample, Ended.COMPLETE)
        with locked(path):
            sweep(path)
            missing = sample.mended(sample.spans(), how.told)
            ended, failures = play_parts(sample, SampleMaking(plan), missing, how)
    return Collected(sample, ended, failures)


def sample_models(
    plan: SamplePlan,
    folder: str | Path,
    *,
    threads: int | None = None,
    progress: Report | None = None,
    told: Callable[[str], None] | None = None,
) -> ModelSample:
    """The sample of a plan, played as `collect_sample` does; after Ctrl-C it is not ``complete``.

    Raises what `collect_sample` does, and :class:`~milsim.errors.StoppedEarlyError` if some hands
    could not be played.
    """
    how = Collecting(Threads(checked_threads(threads)), progress=progress, told=told)
    collected = collect_sample(plan, folder, how)
    if collected.ended == Ended.FAILED:
        collected.check(stored_in(collected.run))
    return collected.run


def stored_in(sample: ModelSample) -> str:
    """How much of a sample there is, for `Collected.check`."""
    return f"{sample.hands:,} hands; they are saved in {sample.folder}"


def hands_to_play(plan: SamplePlan, folder: str | Path) -> int:
    """How many hands the folder does not hold yet: what `sample_models` will play."""
    try:
        sample = ModelSample.open(folder)
    except RunError:
        return plan.hands  # or `sample_models` says why not
    return sum(count for _, count in sample.missing(sample.spans()))


@dataclass(frozen=True, slots=True)
class SampleMaking:
    """A sample's hands by their places in it, and the rows of its parts: for engines."""

    plan: SamplePlan

    @property
    def folders(self) -> tuple[str, ...]:
        """One, for the deals."""
        return (PARTS_FOLDER,)

    @property
    def first(self) -> int:
        """The first place."""
        return 0

    @property
    def count(self) -> int:
        """How many hands."""
        return self.plan.hands

    @property
    def part(self) -> int:
        """Hands a part."""
        return PART_HANDS

    def ready(self) -> int:
        """Compile what the plan needs."""
        rows = _rows(self.plan)  # concurrent first compiles can crash numba
        rows.of_hand(int(rows.ranks[0]), deals=2)
        return CHUNK_HANDS

    def play(self, start: int, count: int) -> pl.DataFrame:
        """The rows of the hands at a range of places."""
        rows = _rows(self.plan)
        ranks = rows.ranks[start : start + count].tolist()
        return pl.concat([rows.of_hand(rank, self.plan.deals) for rank in ranks])

    def frames(self, chunks: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, ...]:
        """A row a deal."""
        return (pl.concat(chunks),)


class _Rows:
    """Makes the rows of hands."""

    def __init__(self, plan: SamplePlan) -> None:
        self.plan = plan
        self.ranks = sampled_hands(plan.hands, plan.seed)
        names = [(plan.policy, plan.deals), *plan.models]
        self.models = [(points_of_model(name, plan.rules), deals) for name, deals in names]

    def of_hand(self, rank: int, deals: int) -> pl.DataFrame:
        masks, keys = ordered_deals(rank, self.plan.seed, 0, deals)
        columns: dict[str, Any] = {"hand": np.full(deals, rank), "number": np.arange(deals)}
        for place, (points, most) in enumerate(self.models):
            n = min(most, deals)
            found = points(masks[:, :n], keys[:n]).tolist()
            columns[f"points_{place}"] = found + [None] * (deals - n)
        return pl.DataFrame(columns, schema=schema_of(self.plan), strict=False)


@lru_cache(maxsize=2)
def _rows(plan: SamplePlan) -> _Rows:
    return _Rows(plan)


__all__ = [
    "KIND",
    "ModelSample",
    "SampleMaking",
    "collect_sample",
    "hands_to_play",
    "sample_models",
    "schema_of",
    "stored_in",
]
