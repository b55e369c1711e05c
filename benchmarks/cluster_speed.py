"""How fast the driver of a cluster is, and what two local Dask workers do over one.

Run: python benchmarks/cluster_speed.py fake [--workers N] [--seconds S] [--task-seconds T]
     python benchmarks/cluster_speed.py dask [--rounds N] [--deals N] [--dask-defaults]
     python benchmarks/cluster_speed.py sleep [--parts N] [--part-seconds S] [--sized]

``fake``: the real loop (window, order, sizes of tasks, writing of parts and what stands beside
them) against workers that only hand back ready bytes when their time is up; prints parts a second,
and how much of the workers' time was used. ``dask``: a plan solved by one and by two workers of one
thread, and by one and two plain processes that share its parts without Dask, which is what this
machine can do; in turns, into new folders. ``sleep``: parts that sleep, by real Dask workers: what
they do not work is overhead, whatever else the machine does; a task each, or with ``--sized`` as
many in a task as in earnest.

Scheduler and workers are processes of their own, begun as docs/cluster.md shows; "worked" is the
share of the workers' time that they spent on parts.
"""

from __future__ import annotations

import argparse
import heapq
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from milsim.simulation.plan import Plan
from milsim.store import remote
from milsim.store.collect import DealMaking, collect
from milsim.store.engines import Made, Span, made
from milsim.store.folder import begin_folder, new_manifest
from milsim.store.remote import Answer, Task, code_here, drive, play_task
from milsim.store.writing import keep, part_spans


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


QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
}
"""What docs/cluster.md sets: else each process of Dask takes 2 to 5 % of a core for itself."""


class Cluster:
    """A scheduler and workers of one thread, as processes, begun as docs/cluster.md shows."""

    def __init__(self, workers: int, *, defaults: bool = False) -> None:
        self.workers, self.environment = workers, os.environ | ({} if defaults else QUIET)

    def __enter__(self) -> Cluster:
        from distributed import Client

        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "scheduler.json"
        local = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
        several = ("--nworkers", str(self.workers), "--nthreads", "1")
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-m", "dask", *command, *local],
                env=self.environment,
                cwd=self.folder.name,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for command in (("scheduler", "--port", "0"), ("worker", *several))
        ]
        while not file.exists():
            time.sleep(0.1)
        self.address = str(json.loads(file.read_text())["address"])
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(self.workers, timeout=300)
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
        self.folder.cleanup()

    def cpu(self) -> tuple[float, float]:
        """CPU seconds so far: of the scheduler; of the workers, with those that watch them."""
        scheduler, watcher = (psutil.Process(process.pid) for process in self.processes)
        workers = (watcher, *watcher.children(recursive=True))
        return _cpu(scheduler), sum(_cpu(process) for process in workers)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def worked() -> Iterator[list[float]]:
    """The seconds that workers say each task took."""
    seconds: list[float] = []
    note = remote.Sizing.note

    def noted(self: remote.Sizing, answer: Answer) -> None:
        seconds.append(answer.seconds)
        note(self, answer)

    remote.Sizing.note = noted  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        remote.Sizing.note = note  # type: ignore[method-assign]


def plainly(plan: Plan, span: Span) -> float:
    """Play a part in this process, without Dask; CPU seconds."""
    used = time.process_time()
    play_task(Task(DealMaking(plan), (span,), code_here()))
    return time.process_time() - used


def dask(rounds: int, deals: int, *, defaults: bool) -> None:
    from milsim.store.dask_engine import Dask
    from milsim.store.writing import Collecting

    ratios: dict[str, list[float]] = {"Dask": [], "plain": [], "CPU": [], "worked": []}
    spawn = multiprocessing.get_context("spawn")
    with (
        Cluster(1, defaults=defaults) as one,
        Cluster(2, defaults=defaults) as two,
        spawn.Pool(1) as alone,
        spawn.Pool(2) as both,
        tempfile.TemporaryDirectory() as folder,
        worked() as seconds,
    ):
        for number in range(-1, rounds):
            took: dict[tuple[str, int], float] = {}
            cpu, share = [0.0, 0.0], [0.0, 0.0]
            count = deals if number >= 0 else 1 << 10  # the first round warms up
            plan = Plan.make(deals=count, dd="gifts", seed=number + 2)
            for cluster, pool in ((one, alone), (two, both)):
                n = cluster.workers
                seconds.clear()
                with Dask(cluster.address) as engine:
                    before = cluster.cpu()
                    started, used = time.monotonic(), time.process_time()
                    collect(plan, Path(folder) / f"{n} {number}", Collecting(engine))
                    took["Dask", n] = time.monotonic() - started
                    driver = time.process_time() - used
                scheduler, cpu[n - 1] = (
                    now - then for now, then in zip(cluster.cpu(), before, strict=True)
                )
                share[n - 1] = sum(seconds) / n / took["Dask", n]
                started = time.monotonic()
                spans = list(part_spans(DealMaking(plan)))
                own = sum(pool.map(partial(plainly, plan), spans, chunksize=1))
                took["plain", n] = time.monotonic() - started
                if number >= 0:
                    print(
                        f"round {number + 1}, {n} workers: {took['Dask', n]:.1f} s, plain "
                        f"processes {took['plain', n]:.1f} s; worked {100 * share[n - 1]:.1f} %; "
                        f"CPU: workers {cpu[n - 1]:.2f} s, plain processes {own:.2f} s, "
                        f"scheduler {scheduler:.2f} s, driver {driver:.2f} s"
                    )
            if number >= 0:
                for what in ("Dask", "plain"):
                    ratios[what].append(took[what, 1] / took[what, 2])
                ratios["CPU"].append(cpu[1] / cpu[0])
                ratios["worked"].append(2 * share[1] / share[0])
    print(
        f"two over one, median of {rounds}: {median(ratios['Dask']):.2f}; plain processes "
        f"{median(ratios['plain']):.2f}; by the time worked alone {median(ratios['worked']):.2f}; "
        f"CPU of two workers over that of one {median(ratios['CPU']):.2f}"
    )


@dataclass(frozen=True)
class Sleeping(DealMaking):
    """Deals that take a while of sleep a chunk: what is lost is lost by the driver."""

    seconds: float = 1.0

    def play(self, start: int, count: int) -> Any:
        time.sleep(self.seconds)
        return DealMaking.play(self, start, count)


def sleep(parts: int, part_seconds: float, *, sized: bool, defaults: bool) -> None:
    from milsim.store.dask_engine import Dask

    if not sized:
        remote.SECONDS_A_TASK = 1e-9  # a part each
    size = 1 << 12
    took = []
    for workers in (1, 2):
        making = Sleeping(Plan.make(deals=size * parts), part_seconds)
        with (
            Cluster(workers, defaults=defaults) as cluster,
            Dask(cluster.address) as engine,
            worked() as seconds,
        ):
            for count in (1, parts):
                seconds.clear()
                begun: list[float] = []  # when the workers are checked and warm

                def spans(count: int = count, begun: list[float] = begun) -> Iterator[Span]:
                    begun.append(time.monotonic())
                    yield from ((n * size, size) for n in range(count))

                used, before = time.process_time(), cluster.cpu()
                made_parts = list(engine.make(making, spans(), lambda: False, lambda _: None))
                driver = time.process_time() - used
                after = cluster.cpu()
                all_took = time.monotonic() - begun[0]
            assert len(made_parts) == parts
            took.append(all_took)
            print(
                f"{workers} workers, {parts} parts of {part_seconds:g} s in {len(seconds)} tasks: "
                f"{all_took:.2f} s, {100 * (1 - sum(seconds) / workers / all_took):.2f} % not "
                f"worked; CPU: driver {driver:.2f} s, scheduler {after[0] - before[0]:.2f} s, "
                f"workers {after[1] - before[1]:.2f} s"
            )
    print(f"two over one: {took[0] / took[1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fake", "dask", "sleep"))
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--task-seconds", type=float, default=1.0)
    parser.add_argument("--part-deals", type=int, default=1 << 12)
    parser.add_argument("--parts", type=int, default=40)
    parser.add_argument("--part-seconds", type=float, default=1.0)
    parser.add_argument("--sized", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--deals", type=int, default=1 << 18)
    parser.add_argument("--dask-defaults", action="store_true")
    chosen = parser.parse_args()
    defaults = chosen.dask_defaults
    if chosen.what == "sleep":
        sleep(chosen.parts, chosen.part_seconds, sized=chosen.sized, defaults=defaults)
    elif chosen.what == "fake":
        fake(chosen.workers, chosen.seconds, chosen.task_seconds, chosen.part_deals)
    else:
        dask(chosen.rounds, chosen.deals, defaults=defaults)


if __name__ == "__main__":
    main()
