"""What a plan will cost, from playing a little of each kind of its tasks: no promise.

Tasks are of one kind if they differ in seed, start, number or the rule to stop by only. Of each
kind about a second is played, in one thread, and the rows are made into a part, whose bytes count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from milsim.errors import MilsimError
from milsim.rules import digest
from milsim.simulation.grid import Grid, Task
from milsim.simulation.match_plan import MatchPlan
from milsim.store.engines import Making
from milsim.store.match_collect import making_of
from milsim.store.parts import part_bytes

SECONDS = 1.0
"""To play of each kind; of very many kinds less, a minute or two altogether."""
_SECONDS_OF_ALL = 100.0
_MOST_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Rate:
    """Measured in one thread: seconds to play one, to store one, and for a part besides; bytes
    of one and of an empty part.

    ``played`` is how many were played for it.
    """

    play: float
    store: float
    begin: float
    size: float
    part: float
    played: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a task costs at most, or this shard of it: seconds with these threads, and bytes."""

    task: Task
    count: int
    rate: Rate
    seconds: float
    size: float

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "task": self.task.name,
            "plan_digest": self.task.plan.digest(),
            "unit": self.task.unit,
            "count": self.count,
            "seconds": round(self.seconds, 3),
            "bytes": round(self.size),
            "per_second_and_thread": 1 / self.rate.play,
            "calibrated_on": self.rate.played,
        }


def kind_of(task: Task) -> Hashable:
    """Tasks of one kind cost the same, one by one."""
    plan = task.plan
    if isinstance(plan, MatchPlan):
        return "matches", digest(plan.rules), plan.policies
    return plan.mode, digest(plan.rules), plan.policies, plan.dd, plan.where


def estimates(grid: Grid, *, threads: int, shards: int = 1) -> Iterator[Estimate]:
    """The cost of each task, kind by kind as they are calibrated; raises what playing may raise."""
    kinds = [kind_of(task) for task in grid.tasks]
    seconds = min(SECONDS, _SECONDS_OF_ALL / len(set(kinds)))
    largest: dict[Hashable, Task] = {}
    for task, kind in zip(grid.tasks, kinds, strict=True):
        if kind not in largest or task.count > largest[kind].count:
            largest[kind] = task
    rates: dict[Hashable, Rate] = {}
    for task, kind in zip(grid.tasks, kinds, strict=True):
        if kind not in rates:
            try:
                rates[kind] = calibrated(making_of(largest[kind].plan), seconds)
            except MilsimError as error:
                raise type(error)(f"task {largest[kind].name}: {error}") from error
        rate = rates[kind]
        count = math.ceil(task.count / shards)
        parts = math.ceil(count / making_of(task.plan).part)
        # Threads play; rows are made and written by one.
        store = count * rate.store + parts * rate.begin
        time_taken = max((count * rate.play + store) / threads, store)
        size = count * rate.size + parts * rate.part
        yield Estimate(task, count, rate, time_taken, size)


def calibrated(making: Making[Any], seconds: float) -> Rate:
    """Play from the first on for so long, at least one, and measure."""
    largest = making.ready()
    chunks: list[Any] = []
    kept = played = 0
    number = 1
    started = time.perf_counter()
    while True:
        number = min(number, making.count - played, largest)
        chunk = making.play(making.first + played, number)
        if kept < _MOST_ROWS:
            chunks.append(chunk)
            kept += number
        played += number
        spent = time.perf_counter() - started
        if spent >= seconds or played == making.count:
            break
        number *= 2
    _stored(making, chunks[:1])
    begin, part = _stored(making, chunks[:1])  # one index: what a part costs besides its rows
    store, size = _stored(making, chunks)
    more = max(kept - 1, 1)
    return Rate(
        play=spent / played,
        store=max(store - begin, 0.0) / more,
        begin=begin,
        size=max(size - part, 0.0) / more,
        part=part,
        played=played,
    )


def _stored(making: Making[Any], chunks: list[Any]) -> tuple[float, float]:
    """Seconds to make the files of a part, and their bytes."""
    started = time.perf_counter()
    size = float(sum(len(part_bytes(frame)) for frame in making.frames(chunks)))
    return time.perf_counter() - started, size


__all__ = ["Estimate", "Rate", "calibrated", "estimates", "kind_of"]
