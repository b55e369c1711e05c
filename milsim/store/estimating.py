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
from milsim.store.collect import DealMaking
from milsim.store.engines import Making
from milsim.store.match_collect import MatchMaking
from milsim.store.parts import part_bytes

SECONDS = 1.0
"""To play of each kind; of very many kinds less, a minute or two altogether."""
_SECONDS_OF_ALL = 100.0
_MOST_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Rate:
    """Measured in one thread: seconds to play and to store one, bytes of one and of an empty part.

    ``played`` is how many were played for it.
    """

    play: float
    store: float
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


def making_of(task: Task) -> Making[Any]:
    """How the parts of a task are made."""
    return MatchMaking(task.plan) if isinstance(task.plan, MatchPlan) else DealMaking(task.plan)


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
    rates: dict[Hashable, Rate] = {}
    for task, kind in zip(grid.tasks, kinds, strict=True):
        making = making_of(task)
        if kind not in rates:
            try:
                rates[kind] = calibrated(making, seconds)
            except MilsimError as error:
                raise type(error)(f"task {task.name}: {error}") from error
        rate = rates[kind]
        count = math.ceil(task.count / shards)
        # Threads play; rows are made and written by one.
        time_taken = count * max(rate.play / threads + rate.store / threads, rate.store)
        size = count * rate.size + math.ceil(count / making.part) * rate.part
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
    started = time.perf_counter()
    size = _size(making, chunks)
    store = (time.perf_counter() - started) / kept
    part = _size(making, chunks[:1])
    if kept > 1:
        each = (size - part) / (kept - 1)
        part -= each
    else:
        each = part
    return Rate(spent / played, store, max(each, 0.0), max(part, 0.0), played)


def _size(making: Making[Any], chunks: list[Any]) -> float:
    return float(sum(len(part_bytes(frame)) for frame in making.frames(chunks)))


__all__ = ["Estimate", "Rate", "calibrated", "estimates", "kind_of", "making_of"]
