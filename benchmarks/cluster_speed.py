"""How fast the driver of a cluster is, and what two local Dask workers do over one.

Run: python benchmarks/cluster_speed.py fake [--workers N] [--seconds S] [--task-seconds T]
     python benchmarks/cluster_speed.py dask [--rounds N] [--deals N]
     python benchmarks/cluster_speed.py sleep [--parts N]

``fake``: the real loop (window, order, sizes of tasks, writing of parts and what stands beside
them) against workers that only hand back ready bytes when their time is up; prints parts a second,
and how much of the workers' time was used. ``dask``: a plan played by one and by two processes of
one thread, in turns, into new folders; prints the ratio of the times, and the driver's share.
``sleep``: parts that sleep for a second, by real Dask workers: what they do not work is overhead,
whatever else the machine does.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from milsim.simulation.plan import Plan
from milsim.store import collect as collecting
from milsim.store.collect import DealMaking, collect
from milsim.store.engines import Made, Span, made
from milsim.store.remote import Answer, Task, drive
from milsim.store.writing import begin_folder, keep, new_manifest, part_spans


class Fake:
    """Workers that take ``seconds`` a part and then have the bytes that somebody made before."""

    def __init__(self, workers: int, seconds: float, model: Made) -> None:
        self.workers, self.seconds, self.model = workers, seconds, model
        self.free = [0.0] * workers
        self.busy = 0.0

    def width(self) -> int:
        return self.workers

    def submit(self, task: Task) -> tuple[float, Task]:
        now = time.monotonic()
        began = max(now, heapq.heappop(self.free))
        takes = self.seconds * len(task.spans)
        heapq.heappush(self.free, began + takes)
        self.busy += takes
        return began + takes, task

    def done(self, handle: tuple[float, Task]) -> bool:
        return time.monotonic() >= handle[0]

    def wait(self, handle: tuple[float, Task], seconds: float) -> None:
        time.sleep(max(0.0, min(seconds, handle[0] - time.monotonic())))

    def results(self, handles: Sequence[tuple[float, Task]]) -> list[Any]:
        return [self._answer(task) for _, task in handles]

    def _answer(self, task: Task) -> Answer:
        outcomes = []
        for start, count in task.spans:
            part = replace(
                self.model.piece.parts[0], start=start, name=f"part-{start:012d}.parquet"
            )
            piece = replace(self.model.piece, start=start, count=count, parts=(part,))
            outcomes.append(Made(piece, self.model.contents))
        return Answer(tuple(outcomes), self.seconds * len(task.spans))

    def name_of(self, _: Any) -> str:
        return "fake"

    def withdraw(self, handles: Sequence[Any]) -> list[bool]:
        return [True] * len(handles)

    def drop(self, handles: Sequence[Any]) -> None:
        pass


def fake(workers: int, seconds: float, task_seconds: float, deals: int) -> None:
    making = DealMaking(Plan.make(deals=10**12))
    model = made(making, 0, deals, [making.play(0, deals)])
    size = len(model.contents[0])
    for written in (False, True):
        pool = Fake(workers, task_seconds, model)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            begin_folder(new_manifest(making.plan), path, making.folders)
            started, used = time.monotonic(), time.process_time()
            parts = 0
            for outcome in drive(
                pool,
                making,
                part_spans(making),
                lambda: time.monotonic() > started + seconds,  # noqa: B023
                lambda count: None,  # noqa: ARG005
            ):
                assert isinstance(outcome, Made)
                parts += 1
                if written:
                    keep(outcome, path, making.folders)
            took, cpu = time.monotonic() - started, time.process_time() - used
        what = "written and synced" if written else "not written"
        print(
            f"{workers:,} workers, {task_seconds:g} s a part of {size / 1e3:,.0f} kB, {what}: "
            f"{parts / took:,.0f} parts/s of {workers / task_seconds:,.0f}, "
            f"{1e6 * cpu / max(1, parts):,.0f} µs of CPU a part"
        )


def dask(rounds: int, deals: int) -> None:
    from distributed import LocalCluster

    from milsim.store.dask_engine import Dask
    from milsim.store.writing import Collecting

    collecting.PART_SOLVED["gifts"] = 1 << 12  # about a second
    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(n_workers=1, **options) as one,
        LocalCluster(n_workers=2, **options) as two,
        tempfile.TemporaryDirectory() as folder,
    ):
        ratios = []
        for number in range(-1, rounds):
            took = []
            for name, cluster in (("one", one), ("two", two)):
                plan = Plan.make(deals=deals, dd="gifts", seed=number + 2)
                with Dask(cluster.scheduler_address) as engine:
                    started, used = time.monotonic(), time.process_time()
                    collect(plan, Path(folder) / f"{name}{number}", Collecting(engine))
                    took.append(time.monotonic() - started)
                    cpu = time.process_time() - used
            if number < 0:
                continue  # warms workers up
            ratios.append(took[0] / took[1])
            print(
                f"round {number + 1}: one worker {took[0]:.1f} s, two {took[1]:.1f} s, "
                f"ratio {ratios[-1]:.2f}; the driver's own CPU {cpu:.2f} s, with two workers "
                f"{100 * cpu / (2 * took[1]):.1f} % of theirs"
            )


class Sleeping(DealMaking):
    """Deals that take a second of sleep a chunk: what is lost is lost by the driver."""

    def play(self, start: int, count: int) -> Any:
        time.sleep(1.0)
        return DealMaking.play(self, start, count)


def sleep(parts: int) -> None:
    from distributed import LocalCluster

    from milsim.store import remote
    from milsim.store.dask_engine import Dask

    remote.SECONDS_A_TASK = 1e-9  # a part each
    worked: list[float] = []
    note = remote.Sizing.note

    def noted(self: remote.Sizing, answer: Answer) -> None:
        worked.append(answer.seconds)
        note(self, answer)

    remote.Sizing.note = noted  # type: ignore[method-assign]
    size = 1 << 12
    for workers in (1, 2):
        options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
        making = Sleeping(Plan.make(deals=size * parts))
        with (
            LocalCluster(n_workers=workers, **options) as cluster,
            Dask(cluster.scheduler_address) as engine,
        ):
            for count in (1, parts):
                worked.clear()
                begun: list[float] = []  # when the workers are checked and warm

                def spans(count: int = count, begun: list[float] = begun) -> Iterator[Span]:
                    begun.append(time.monotonic())
                    yield from ((n * size, size) for n in range(count))

                made_parts = list(engine.make(making, spans(), lambda: False, lambda _: None))
                took = time.monotonic() - begun[0]
            assert len(made_parts) == parts
            print(
                f"{workers} workers, {parts} parts of a second: {took:.2f} s, "
                f"{100 * (1 - sum(worked) / workers / took):.2f} % not worked"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fake", "dask", "sleep"))
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--task-seconds", type=float, default=1.0)
    parser.add_argument("--part-deals", type=int, default=1 << 12)
    parser.add_argument("--parts", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--deals", type=int, default=1 << 18)
    chosen = parser.parse_args()
    if chosen.what == "sleep":
        sleep(chosen.parts)
    elif chosen.what == "fake":
        fake(chosen.workers, chosen.seconds, chosen.task_seconds, chosen.part_deals)
    else:
        dask(chosen.rounds, chosen.deals)


if __name__ == "__main__":
    main()
