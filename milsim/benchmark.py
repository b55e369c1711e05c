"""What `milsim bench` measures: each figure beside its goal from `benchmarks/goals.toml`.

A figure is the best of several rounds, since on a noisy machine the fastest round is the one least
disturbed; what counts is the ratio to a goal or a peer in the same run. Two threads over one is the
median over short pieces of work, done by one thread and by two in turn. No test asserts any of it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milsim.errors import RunError

_Solve = Callable[[NDArray[np.int64], NDArray[np.int64]], None]
"""Answers a question with a workspace."""

LESS_IS_BETTER = ("s", "MB")
PAIRS = 9
"""How often a piece of work is done by one thread, then by two, in each round."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is measured, its unit, the bar that must be reached and the aim beyond it."""

    name: str
    what: str
    unit: str
    bar: float
    aim: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value beside its goal."""

    goal: Goal
    value: float
    quartiles: tuple[float, float] | None = None
    """Of a median: half of what was measured lies between these."""

    @property
    def ratio(self) -> float:
        """How many times the bar is reached: 1 is just enough, more is better."""
        if self.goal.unit in LESS_IS_BETTER:
            return self.goal.bar / max(self.value, 1e-12)
        return self.value / self.goal.bar


@dataclass(frozen=True, slots=True)
class Tail:
    """How long single solves take: most are quick, a few take a hundred times as long."""

    name: str
    what: str
    microseconds: tuple[float, float, float]
    """Of the median, of 99 in a hundred, and of the longest."""
    nodes: tuple[int, int, int]
    """Positions searched, likewise."""


def goals() -> dict[str, Goal]:
    """The goals by name; they lie in the package if it was installed, else in the checkout."""
    packaged = resources.files("milsim") / "goals.toml"
    path = Path(__file__).parents[1] / "benchmarks" / "goals.toml"
    if packaged.is_file():
        text = packaged.read_text(encoding="utf-8")
    elif path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        raise RunError("goals.toml: not found; install milsim from its wheel or its checkout")
    return {
        name: Goal(name, entry["what"], entry["unit"], float(entry["bar"]), float(entry["aim"]))
        for name, entry in tomllib.loads(text).items()
    }


def measure(
    *, deals: int = 1_000_000, rounds: int = 3, everything: bool = False
) -> Iterator[Figure]:
    """Measure one figure after the other, in the order of the goals.

    ``deals`` scales the runs, ``rounds`` is how often each is repeated; ``everything`` adds the
    first compile, which takes the longest.
    """
    known = goals()
    with tempfile.TemporaryDirectory(prefix="milsim-bench-") as scratch:
        bench = _Bench(Path(scratch), deals, rounds)
        for name, goal in known.items():
            if name == "compile" and not everything:
                continue
            measured: Callable[[], float | list[float]] = getattr(bench, name)
            found = measured()
            if isinstance(found, list):
                low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
                yield Figure(goal, middle, (low, high))
            else:
                yield Figure(goal, found)


def tails(*, deals: int = 1_000_000, rounds: int = 3) -> Iterator[Tail]:
    """The tails of exact solves and of exchanges over random deals: each on its own, best time."""
    from milsim.rules import load, packed
    from milsim.solver.batch import rows_of
    from milsim.solver.exchange import exchange_rows
    from milsim.solver.root import answer
    from milsim.tricks import play_flags, play_values

    count = _solves(deals)
    hands = np.array([*_hands_of_eight(count), np.zeros(count, int), np.full(count, 4)])
    positions = [rows_of(hands[:, i : i + 1]) for i in range(count)]
    guess, one = np.empty(0, np.int64), np.empty(1, np.int64)
    ten = [np.ascontiguousarray(rows) for rows in _hands_of_ten(max(1, count // 10))]
    every, four = np.empty((0, 0, 0), np.int16), np.empty((4, 1), np.int64)

    def exact(flags: int, values: int) -> _Solve:
        return lambda rows, work: answer(rows, guess, 1, 0, flags, values, work, one)

    def exchange(flags: int, values: int) -> _Solve:
        return lambda rows, work: exchange_rows(rows, flags, values, work, every, four)

    for preset in ("mil", "gamerules"):
        rules = packed(load(preset))
        how = play_flags(rules), play_values(rules)
        what = f"one exact solve, {preset}"
        yield _tail(f"{preset}_exact_tail", what, exact(*how), positions, rounds)
        what = f"best of 90 exchanges of one deal, {preset}"
        yield _tail(f"{preset}_exchange_tail", what, exchange(*how), ten, rounds)


def _tail(
    name: str, what: str, solve: _Solve, questions: list[NDArray[np.int64]], rounds: int
) -> Tail:
    from milsim.solver.table import NODES, new_workspace, next_deal

    work = new_workspace()
    solve(questions[0], work)  # compiles
    seconds = np.full(len(questions), np.inf)
    nodes = np.zeros(len(questions), np.int64)
    for _ in range(rounds):
        for number, question in enumerate(questions):
            next_deal(work, number)
            # Of this thread alone: one break that others make would be the longest solve.
            before, started = int(work[NODES]), time.thread_time()
            solve(question, work)
            seconds[number] = min(seconds[number], time.thread_time() - started)
            nodes[number] = int(work[NODES]) - before
    marks = (50, 99, 100)
    middle, most, longest = (np.percentile(seconds, marks) * 1e6).tolist()
    found = np.percentile(nodes, marks, method="lower").tolist()
    return Tail(name, what, (middle, most, longest), (found[0], found[1], found[2]))


def _solves(deals: int) -> int:
    """How many exact solves belong to runs of so many deals."""
    return max(10, min(2000, deals // 500))


def _hands_of_eight(count: int) -> list[NDArray[np.int64]]:
    """Random hands of eight cards: the talon goes round."""
    from milsim.dealing import sample_deal_masks

    dealt = sample_deal_masks(count, seed=1)
    hands = [np.asarray(hand) for hand in dealt[:3]]
    rest = dealt.talon
    for hand in hands:
        hand |= rest & -rest
        rest = rest & (rest - 1)
    return hands


def _hands_of_ten(count: int) -> list[NDArray[np.int64]]:
    """Random deals as questions for the best exchange: forehand has taken the talon."""
    from milsim.dealing import sample_deal_masks

    first, second, third, talon = sample_deal_masks(count, seed=1)
    return [np.array(hands)[:, None] for hands in zip(first | talon, second, third, strict=True)]


class _Bench:
    """The measurements, one method a goal; some leave a run behind that later ones read."""

    def __init__(self, scratch: Path, deals: int, rounds: int) -> None:
        self.scratch, self.deals, self.rounds = scratch, deals, rounds
        self.solves = _solves(deals)
        self._runs = 0

    def best(self, work: Callable[[], object]) -> float:
        work()  # compiles, and warms the caches
        seconds = []
        for _ in range(self.rounds):
            started = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - started)
        return min(seconds)

    def deals_sampled(self) -> float:
        from milsim.dealing import sample_deals

        n = 10 * self.deals
        return n / self.best(lambda: sample_deals(n, seed=1))

    def deals_dealt(self) -> float:
        from milsim.dealing import fill_deal_masks, kernel_hands

        out = [np.empty(self.deals, dtype=np.int64) for _ in range(4)]
        return self.deals / self.best(lambda: fill_deal_masks(1, 0, 0, kernel_hands(), *out))

    def playouts(self) -> float:
        from milsim.dealing import kernel_hands
        from milsim.position.playout import random_playouts
        from milsim.rules import load, packed

        hands, rules = kernel_hands(), packed(load("mil"))
        return self.deals / self.best(lambda: random_playouts(1, 0, self.deals, hands, rules))

    def _solve(self, rules: str, at_least: int | None) -> Callable[[int], object]:
        """Solve some deals with so many threads."""
        from milsim.solver import solve_batch

        hands = _hands_of_eight(self.solves * (10 if at_least is not None else 1))
        if at_least is None:
            return lambda threads: solve_batch(*hands, rules=rules, threads=threads)
        return lambda threads: solve_batch(*hands, rules=rules, at_least=at_least, threads=threads)

    def _solves_a_second(self, rules: str, at_least: int | None) -> float:
        solve = self._solve(rules, at_least)
        n = self.solves * (10 if at_least is not None else 1)
        return n / self.best(lambda: solve(1))

    def _exchange(self, rules: str) -> float:
        from milsim.dealing import sample_deals
        from milsim.solver import best_exchange_batch

        n = max(1, self.solves // 10)
        deals = sample_deals(n, seed=1)
        return n / self.best(lambda: best_exchange_batch(deals, rules=rules, threads=1))

    def exact_solves(self) -> float:
        return self._solves_a_second("mil", None)

    def threshold_solves(self) -> float:
        return self._solves_a_second("mil", 100)

    def exchanges(self) -> float:
        return self._exchange("mil")

    def gamerules_solves(self) -> float:
        return self._solves_a_second("gamerules", None)

    def gamerules_thresholds(self) -> float:
        return self._solves_a_second("gamerules", 100)

    def gamerules_exchanges(self) -> float:
        return self._exchange("gamerules")

    def solve_command(self) -> float:
        return self.best(self._command("solve", "688907321587"))

    def _play(self, mode: str, threads: int, policy: str = "greedy", share: int = 1) -> None:
        from milsim.simulation.engine import play
        from milsim.simulation.plan import Plan

        plan = Plan.make(deals=max(1, self.deals // share), mode=mode, policy=policy)
        for _ in play(plan, threads=threads):
            pass

    def declarer_mode(self) -> float:
        return self.deals / self.best(lambda: self._play("declarer", 1))

    def auction_mode(self) -> float:
        return self.deals / self.best(lambda: self._play("auction", 1))

    def random_deals(self) -> float:
        return self.deals / self.best(lambda: self._play("auction", 1, "random"))

    def expert_deals(self) -> float:
        share = 4
        played = max(1, self.deals // share)
        return played / self.best(lambda: self._play("auction", 1, "expert", share))

    def pimc_deals(self) -> float:
        share = 10_000
        played = max(1, self.deals // share)
        policy = "pimc:playouts=32"
        return played / self.best(lambda: self._play("auction", 1, policy, share))

    def pairs(self, work: Callable[[int], object]) -> list[float]:
        """How many times as fast work is with two threads, over pairs of short pieces."""
        if (os.cpu_count() or 1) < 2:
            return [1.0, 1.0]
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for threads in (1, 2):
            work(threads)
        for _ in range(self.rounds * PAIRS):
            for threads in (1, 2):
                started = time.perf_counter()
                work(threads)
                seconds[threads].append(time.perf_counter() - started)
        return [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]

    def two_threads(self) -> list[float]:
        return self.pairs(lambda threads: self._play("auction", threads))

    def exact_two_threads(self) -> list[float]:
        return self.pairs(self._solve("mil", None))

    def thresholds_two_threads(self) -> list[float]:
        return self.pairs(self._solve("mil", 100))

    def exchanges_two_threads(self) -> list[float]:
        from milsim.dealing import sample_deals
        from milsim.solver import best_exchange_batch

        deals = sample_deals(max(1, self.solves // 10), seed=1)
        return self.pairs(lambda threads: best_exchange_batch(deals, threads=threads))

    def _simulate(self) -> None:
        from milsim.api import simulate

        self._runs += 1
        simulate(self.deals, out=self.scratch / f"run-{self._runs}")

    def million(self) -> float:
        # Scaled to a million, so that a smaller bench still speaks of the same goal.
        return self.best(self._simulate) * 1_000_000 / self.deals

    def _command(self, *arguments: str) -> Callable[[], None]:
        # As installed: the first call, which is not timed, leaves the modules as bytecode.
        bytecode = {"PYTHONPYCACHEPREFIX": str(self.scratch / "bytecode")}
        environment = {**os.environ, **bytecode, "PYTHONDONTWRITEBYTECODE": ""}

        def run() -> None:
            command = [sys.executable, "-m", "milsim", *arguments]
            subprocess.run(
                command,
                check=True,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

        return run

    def report(self) -> float:
        folder = str(self.scratch / f"run-{self._runs}")
        bidding = self.best(self._command("report", "bidding", folder))
        return bidding + self.best(self._command("report", "marriages", folder))

    def charts(self) -> float:
        folder, picture = str(self.scratch / f"run-{self._runs}"), str(self.scratch / "chart.png")
        strength = self.best(self._command("chart", "bid-strength", folder, "--out", picture))
        return strength + self.best(self._command("chart", "marriages", folder, "--out", picture))

    def rows_read(self) -> float:
        from milsim.api import open_run

        run = open_run(self.scratch / f"run-{self._runs}")
        classes = ["hand_marriages", "hand_aces"]
        return self.deals / self.best(
            lambda: run.frame(features=True).group_by(classes).len().collect()
        )

    def help(self) -> float:
        return self.best(self._command("--help"))

    def memory(self) -> float:
        code = (
            "import resource, sys, milsim\n"
            f"milsim.simulate({self.deals}, out=sys.argv[1])\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        command = [sys.executable, "-c", code, str(self.scratch / "memory-run")]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        scale = 1024**2 if sys.platform == "darwin" else 1024
        return int(printed) / scale

    def compile(self) -> float:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(self.scratch / "fresh-kernels")}
        command = [sys.executable, "-m", "milsim", "simulate", "--deals", "100", "--quiet"]
        command += ["--out", str(self.scratch / "compile-run")]
        started = time.perf_counter()
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started
