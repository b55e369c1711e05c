"""Runs played by Dask workers: the same bytes, whoever dies in the middle; others are refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milsim.errors import ExitCode, RunError, UsageError
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store import collect as collecting
from milsim.store import match_collect, remote
from milsim.store.collect import DealMaking, collect
from milsim.store.engines import Failure, Made, Stored, Threads
from milsim.store.match_collect import collect_matches
from milsim.store.remote import Answer, LostTaskError, Sizing, Task, code_here, drive, play_task
from milsim.store.writing import Collecting, Ended, Progress, part_spans
from tests.clocks import set_clock
from tests.command_line import PATIENCE, Shell
from tests.folders import bytes_of

DEALS, PART = 6_000, 256
PLAN = Plan.make(deals=DEALS, seed=5, start=100)
MATCHES = MatchPlan.make(matches=90, seed=2)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", PART)
    monkeypatch.setattr(match_collect, "PART_MATCHES", 16)
    # A task is a part, so that there are many.
    monkeypatch.setattr(remote, "SECONDS_A_TASK", 1e-9)
    be_patient(monkeypatch)


def be_patient(patch: pytest.MonkeyPatch) -> None:
    """A scheduler of tests answers and has workers, however busy the machine is."""
    patch.setattr("milsim.store.dask_engine.SECONDS_TO_CONNECT", PATIENCE)
    patch.setattr("milsim.store.dask_engine.SECONDS_WITHOUT_WORKERS", PATIENCE)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "PART_DEALS", PART)
        collect(PLAN, folder)
    return folder


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


# -- the loop of the driver, with workers that are none ------------------------------------------


class Here:
    """A pool that plays in this process when it is asked for results, the last task first."""

    def __init__(self, change: Callable[[int, Answer], Any] = lambda number, answer: answer):
        self.change = change
        self.tasks: list[Task] = []
        self.begun: set[int] = set()
        self.given_up: set[int] = set()
        self.played: dict[int, Any] = {}

    def width(self) -> int:
        return 2

    def submit(self, task: Task) -> int:
        self.tasks.append(task)
        return len(self.tasks) - 1

    def done(self, handle: int) -> bool:
        return handle in self.played

    def wait(self, handle: int, seconds: float) -> None:
        for number in reversed(range(len(self.tasks))):
            if number not in self.played and number not in self.given_up:
                self.played[number] = self.change(number, play_task(self.tasks[number]))
                return

    def results(self, handles: Sequence[int]) -> list[Any]:
        found = [self.played[handle] for handle in handles]
        for handle, answer in zip(handles, found, strict=True):
            if answer is None:  # lost, to be played again
                del self.played[handle]
        return found

    def name_of(self, handle: int) -> str:
        return "tcp://worker:1"

    def withdraw(self, handles: Sequence[int]) -> list[bool]:
        gone = [number not in self.played for number in handles]
        self.given_up |= {n for n, is_gone in zip(handles, gone, strict=True) if is_gone}
        return gone

    def drop(self, handles: Sequence[int]) -> None:
        self.given_up |= set(handles)


def driven(pool: Here, stop: Callable[[], bool] = lambda: False) -> list[Any]:
    making = DealMaking(PLAN)
    return list(drive(pool, making, part_spans(making), stop, lambda count: None))


def test_parts_come_in_order_whatever_the_workers_do() -> None:
    pool = Here()
    outcomes = driven(pool)
    assert [(made.piece.start, made.piece.count) for made in outcomes] == list(
        part_spans(DealMaking(PLAN))
    )
    assert len(pool.tasks) == len(outcomes) == 24


def test_no_more_tasks_than_the_window_holds() -> None:
    pool = Here()
    making = DealMaking(PLAN)
    parts = drive(pool, making, part_spans(making), lambda: False, lambda count: None)
    next(parts)
    assert len(pool.tasks) == 2 * remote.WINDOW
    parts.close()
    assert pool.given_up == set(range(1, 8))


def test_a_stop_ends_it_with_what_is_played() -> None:
    pool = Here()
    outcomes = driven(pool, lambda: len(pool.played) >= 11)
    # Eleven were played, not all of those in a row from the first: none of them is lost.
    assert sorted(made.piece.start for made in outcomes) == sorted(
        pool.tasks[number].spans[0][0] for number in pool.played
    )
    assert len(outcomes) == 11


def test_a_lost_task_is_played_again_but_not_for_ever() -> None:
    deaths = []

    def change(number: int, answer: Answer) -> Any:
        if answer.outcomes[0].piece.start == 512 and len(deaths) < most:  # type: ignore[union-attr]
            deaths.append(number)
            return LostTaskError("last on tcp://worker:1")
        return answer

    most = 3
    assert all(isinstance(each, Made) for each in driven(Here(change)))
    assert len(deaths) == most
    deaths.clear()
    most = 10
    failures = [each for each in driven(Here(change)) if isinstance(each, Failure)]
    assert [str(each) for each in failures] == [
        "512–767: the worker died, 4 times; last on tcp://worker:1"
    ]


def test_what_a_worker_raises_is_a_failure_and_its_refusal_an_error() -> None:
    outcomes = driven(Here(lambda number, answer: KeyError("x") if number == 2 else answer))
    assert [str(each) for each in outcomes if isinstance(each, Failure)] == [
        "512–767: KeyError: 'x'"
    ]
    with pytest.raises(RunError, match=r"bad disk"):
        driven(Here(lambda number, answer: RunError("bad disk")))
    other = code_here() | {"kernels": "0" * 16}
    answer = play_task(Task(DealMaking(PLAN), ((100, 9),), other))
    assert answer.outcomes == ()
    with pytest.raises(RunError, match=r"worker tcp://worker:1: kernels \w{16}, not 0{16}"):
        driven(Here(lambda number, found: answer))


def test_tasks_grow_to_some_seconds_or_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SECONDS_A_TASK", 3.0)
    outcome = play_task(Task(DealMaking(PLAN), ((256, 256),), code_here())).outcomes
    size = outcome[0].piece.parts[0].size  # type: ignore[union-attr]
    for seconds, sent, parts in (
        (0.02, False, 150),
        (9.0, False, 1),
        (1e-5, False, remote.MOST_PARTS),
        (1e-5, True, min(remote.MOST_PARTS, remote.MOST_BYTES // size)),
    ):
        sizing = Sizing(sent=sent)
        assert sizing.parts == 1
        sizing.note(Answer(outcome, seconds))
        assert sizing.parts == parts


def test_tasks_shrink_towards_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker plays one great last task while the others have nothing to do."""
    monkeypatch.setattr(remote, "SECONDS_A_TASK", 3.0)
    pool = Here(lambda number, answer: replace(answer, seconds=0.4 * len(answer.outcomes)))
    outcomes = driven(pool)
    # Eight alone, until seven are known to take 3 s; but sixteen are left for two threads.
    assert [len(task.spans) for task in pool.tasks] == [1] * 8 + [4, 3, 2] + [1] * 7
    assert [(each.piece.start, each.piece.count) for each in outcomes] == list(
        part_spans(DealMaking(PLAN))
    )


def test_the_end_is_seen_though_not_all_parts_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "MOST_AHEAD", 50)
    taken: list[int] = []

    def spans() -> Iterator[tuple[int, int]]:
        for number in range(500):
            taken.append(number)
            yield number, 1

    left = remote._Left(spans())
    tasks = [left.some(40, width=4)]
    assert len(taken) == 50
    while tasks[-1]:
        tasks.append(left.some(40, width=4))
    assert [span for task in tasks for span in task] == [(number, 1) for number in range(500)]
    sizes = [len(task) for task in tasks[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-15:]) == (6, [2] + [1] * 14)


def test_a_worker_writes_only_where_it_sees_the_drivers_file(tmp_path: Path) -> None:
    task = Task(DealMaking(PLAN), (), code_here(), str(tmp_path))
    assert "does not see folder" in remote.warmed(task, ".shared")
    (tmp_path / ".shared").touch()
    assert remote.warmed(task, ".shared") == ""
    (tmp_path / "parts").mkdir()
    written = play_task(Task(task.making, ((100, 156),), task.code, task.folder))
    assert isinstance(written.outcomes[0], Stored)
    assert {path.name for path in (tmp_path / "parts").iterdir()} == {
        "part-000000000100.json",
        "part-000000000100.parquet",
    }
    with pytest.raises(RunError, match=r"cannot write on .*, no such file or directory"):
        play_task(Task(task.making, ((100, 156),), task.code, str(tmp_path / "none")))


# -- the command line ----------------------------------------------------------------------------


def test_without_the_extra_one_line_says_what_to_install(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    out = ["--out", str(tmp_path / "run"), "--quiet"]
    outcome = shell("simulate", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9", *out)
    assert outcome.code == ExitCode.USAGE
    assert "needs the extra milsim[dask]: pip install 'milsim[dask]'" in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    for wrong in (
        ["--scheduler", "tcp://127.0.0.1:9"],
        ["--scheduler-file", "x.json"],
        ["--write-from-workers"],
        ["--engine", "dusk"],
        ["--engine", "dask", "--threads", "2"],
    ):
        assert shell("match", *wrong, *out).code == ExitCode.USAGE


def test_nothing_of_dask_is_imported_where_threads_play(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['milsim', 'simulate', '-n', '50', '-q', '--out', {str(tmp_path / 'run')!r}]\n"
        "from milsim.cli.entry import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end\n"
        "assert not {'dask', 'distributed'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


# -- real workers --------------------------------------------------------------------------------


class Cluster:
    """A scheduler and workers of one thread, started as docs/cluster.md shows."""

    def __init__(self, folder: Path, workers: int):
        pytest.importorskip("distributed", reason="needs the extra milsim[dask]")
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.begin("scheduler", "--host", "127.0.0.1", "--port", "0")
        try:
            self.address: str = json.loads(self.told())["address"]
            # Not before: a worker that finds an empty file ends.
            self.workers += [
                self.begin("worker", *("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1"))
                for _ in range(workers)
            ]
            self.wait_for_workers()
        except BaseException:
            self.end()
            raise

    def told(self) -> str:
        """What the scheduler's file says, which is there before its text is."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends and self.scheduler.poll() is None:
            text = self.file.read_text() if self.file.exists() else ""
            if text.endswith("}"):
                return text
            time.sleep(0.1)
        raise RuntimeError("no scheduler")

    def wait_for_workers(self) -> None:
        """Until all are there: who is killed, refused or named by a test was one of them."""
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(len(self.workers), timeout=PATIENCE)

    def begin(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, "--scheduler-file", str(self.file)]
        return subprocess.Popen(
            [*command, "--no-dashboard", *options],
            cwd=self.file.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield found
    found.end()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster to be killed."""
    (tmp_path / "cluster").mkdir()
    found = Cluster(tmp_path / "cluster", workers=2)
    yield found
    found.end()


def dask(*args: Any, **more: Any) -> Any:
    from milsim.store.dask_engine import Dask

    return Dask(*args, **more)


def test_the_same_bytes_as_by_threads(cluster: Cluster, tmp_path: Path, undisturbed: Path) -> None:
    collect_matches(MATCHES, tmp_path / "threads")
    with dask(cluster.address) as engine:
        run = collect(PLAN, tmp_path / "run", Collecting(engine))
        matches = collect_matches(MATCHES, tmp_path / "matches", Collecting(engine))
        again = collect(PLAN, tmp_path / "run", Collecting(engine))
    assert run.ended == matches.ended == again.ended == Ended.COMPLETE
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)
    assert bytes_of(tmp_path / "matches") == bytes_of(tmp_path / "threads")


def test_a_table_too(cluster: Cluster, tmp_path: Path, shell: Shell) -> None:
    what = ["table", "build", "--policy", "greedy", "--hands", "4060:4130", "--quiet"]
    outcome = shell(*what, "--out", tmp_path / "threads")
    assert outcome.code == 0, outcome
    options = ["--engine", "dask", "--scheduler-file", cluster.file]
    outcome = shell(*what, "--out", tmp_path / "dask", *options)
    assert outcome.code == 0, outcome
    assert len(list((tmp_path / "dask" / "parts").glob("*.parquet"))) == 2
    assert bytes_of(tmp_path / "dask") == bytes_of(tmp_path / "threads")


def test_workers_write_the_same_bytes(
    cluster: Cluster, tmp_path: Path, undisturbed: Path, shell: Shell
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("milsim.store.writing.keep", None)  # the driver writes no part
        with dask(cluster.address, folder=tmp_path / "run") as engine:
            collect(PLAN, tmp_path / "run", Collecting(engine))
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)
    outcome = shell(
        *("simulate", "--deals", str(DEALS), "--seed", "5", "--start", "100", "--engine", "dask"),
        *("--scheduler", cluster.address, "--write-from-workers"),
        *("--out", str(tmp_path / "shell")),
    )
    assert outcome.code == 0, outcome
    assert bytes_of(tmp_path / "shell") == bytes_of(undisturbed)


def test_a_worker_of_other_kernels_is_refused_by_name(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = remote._versions()
    monkeypatch.setattr(remote, "_versions", lambda: ours | {"kernels": "0" * 16})
    with (
        dask(cluster.address) as engine,
        pytest.raises(RunError, match=r"worker tcp://127\S+ and 1 more: kernels \w{16}, not 0{16}"),
    ):
        collect(PLAN, tmp_path / "run", Collecting(engine))


def test_a_worker_killed_in_the_middle_costs_nothing(
    mortal: Cluster, tmp_path: Path, undisturbed: Path
) -> None:
    at: list[Progress] = []

    def progress(each: Progress) -> None:
        at.append(each)
        if len(at) == 2:
            mortal.workers[0].kill()

    with dask(mortal.address) as engine:
        run = collect(PLAN, tmp_path / "run", Collecting(engine, progress=progress))
    assert run.ended == Ended.COMPLETE
    assert mortal.workers[0].wait() == -9
    assert mortal.workers[1].poll() is None
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)


def test_a_result_that_died_with_its_worker_is_played_again(mortal: Cluster) -> None:
    from distributed import Client

    from milsim.store.dask_engine import _Workers

    task = Task(DealMaking(PLAN), ((256, 256),), code_here())
    with Client(mortal.address, set_as_default=False) as client:
        pool = _Workers(client, mortal.address, writing=False)
        handles: list[Any] = []
        names: set[str] = set()
        while len(names) < 2:  # the scheduler gives tasks to workers in turn
            handles += [pool.submit(task) for _ in range(6)]
            while not all(pool.done(each) for each in handles):
                pool.wait(handles[-1], 1.0)
            names = {pool.name_of(each) for each in handles}
        mortal.workers[0].kill()
        found: list[Any] = [None]
        while None in found:
            assert not any(isinstance(each, BaseException) for each in found)
            if all(pool.done(each) for each in handles):
                found = pool.results(handles)
        assert [len(each.outcomes) for each in found] == [1] * len(handles)


def test_that_no_worker_is_there_is_told_once() -> None:
    pytest.importorskip("distributed", reason="needs the extra milsim[dask]")
    from milsim.store.dask_engine import _Workers

    class Client:
        status = "running"
        threads: Iterator[int] = iter([0, 0, 2])

        def nthreads(self) -> dict[str, int]:
            return {"worker": next(self.threads)}

    pool = _Workers(Client(), "tcp://127.0.0.1:9", writing=False)
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("milsim.store.dask_engine._SECONDS_BETWEEN_LOOKS", 0)
        assert pool.found(lambda: False, said.append)
    assert said == ["waiting for workers of tcp://127.0.0.1:9: dask worker tcp://127.0.0.1:9 ..."]


def test_futures_that_are_lost_or_forgotten_say_so() -> None:
    pytest.importorskip("distributed", reason="needs the extra milsim[dask]")
    from milsim.store.dask_engine import _Workers

    class Future:
        key = "a"

        def __init__(self, status: str) -> None:
            self.status = status

        def done(self) -> bool:
            return self.status in ("finished", "error", "cancelled")

    class Client:
        status = "running"

        def gather(self, futures: Any) -> Any:
            if isinstance(futures, list):
                return [self.gather(future) for future in futures]
            futures.status = "lost"
            raise OSError("lost it")

    client = Client()
    pool = _Workers(client, "tcp://127.0.0.1:9", writing=False)
    assert not pool.done(Future("lost"))
    assert pool.results([Future("lost"), Future("pending")]) == [None, None]
    assert pool.results([Future("finished")]) == [None]
    assert isinstance(pool.results([Future("cancelled")])[0], LostTaskError)
    client.status = "connecting"
    with pytest.raises(RunError, match="is gone"):
        pool.done(Future("cancelled"))


def test_what_is_lost_is_waited_for() -> None:
    lost = iter([True, True, False] * 100)
    outcomes = driven(Here(lambda number, answer: None if next(lost) else answer))
    assert [made.piece.start for made in outcomes] == [
        start for start, _ in part_spans(DealMaking(PLAN))
    ]


def test_time_that_is_up_ends_it_and_the_same_command_goes_on(
    cluster: Cluster, tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Progress] = []

    with dask(cluster.address) as engine, monkeypatch.context() as patch:
        set_clock(patch, lambda: 2e9 if played else 0.0)
        run = collect(
            PLAN, tmp_path / "run", Collecting(engine, seconds=1e9, progress=played.append)
        )
    assert run.ended == Ended.TIME
    assert 0 < run.run.deals < DEALS
    collect(PLAN, tmp_path / "run")
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)


def test_a_scheduler_killed_in_the_middle_is_one_line_and_threads_go_on(
    mortal: Cluster, tmp_path: Path, undisturbed: Path
) -> None:
    with (
        dask(scheduler_file=mortal.file) as engine,
        pytest.raises(RunError, match=r"scheduler tcp://\S+: is gone; what is written stays"),
    ):
        collect(
            PLAN, tmp_path / "run", Collecting(engine, progress=lambda at: mortal.scheduler.kill())
        )
    run = collect(PLAN, tmp_path / "run", Collecting(Threads(1)))
    assert run.ended == Ended.COMPLETE
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)


def test_a_scheduler_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra milsim[dask]")
    monkeypatch.setattr("milsim.store.dask_engine.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(RunError, match=r"scheduler tcp://127.0.0.1:9: does not answer; start it"):
        dask("tcp://127.0.0.1:9")
    with pytest.raises(RunError, match=r"scheduler nowhere://x: is no address"):
        dask("nowhere://x")
    with pytest.raises(UsageError, match="give one of --scheduler and --scheduler-file"):
        dask()
    for text in ("", "[]", "{}", '{"address": 7}', '{"address": "\\u001b[2J"}', "[" * 100_000):
        (tmp_path / "file.json").write_text(text)
        with pytest.raises(RunError, match="scheduler-file"):
            dask(scheduler_file=tmp_path / "file.json")
    with pytest.raises(RunError, match="no such file or directory"):
        dask(scheduler_file=tmp_path / "none.json")


# -- an arena ------------------------------------------------------------------------------------


def contests_alike(one: Any, other: Any) -> None:
    assert one.frame.equals(other.frame)
    assert one.verdicts == other.verdicts
    assert one.notes == other.notes


@pytest.mark.parametrize("more", [{}, {"matches": 20}, {"until_decided": True}])
def test_an_arena_by_an_engine_is_the_arena(more: dict[str, Any]) -> None:
    """Without a cluster: the same sums by whatever plays."""
    import milsim

    names = ("greedy", "random", "expert") if not more else ("greedy", "random")
    size = {} if "until_decided" in more else {"deals": 300}
    options: dict[str, Any] = {"seed": 3, "start": 50, **size, **more}
    contests_alike(
        milsim.arena(*names, threads=1, **options),
        milsim.arena(*names, engine=Threads(2), **options),
    )


def test_an_arena_of_pairs_by_an_engine() -> None:
    import milsim

    names = ("greedy", "random", "greedy", "expert")
    contests_alike(
        milsim.arena(*names, deals=120, threads=1),
        milsim.arena(*names, deals=120, engine=Threads(1)),
    )


def test_an_arena_by_workers(cluster: Cluster, shell: Shell) -> None:
    command = ["arena", "greedy", "random", "--deals", "300", "--matches", "6", "-f", "csv"]
    by_dask = shell(*command, "--engine", "dask", "--scheduler", cluster.address)
    assert by_dask.code == 0, by_dask
    assert by_dask.out == shell(*command).out
