"""What `milsim bench` measures: each figure beside its goal from `benchmarks/goals.toml`.

A figure is the best of several rounds, since on a noisy machine the fastest round is the one least
disturbed; what counts is the ratio to a goal or a peer in the same run. No test asserts any of it.
"""

from __future__ import annotations

import os
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

from milsim.errors import RunError

LESS_IS_BETTER = ("s", "MB")


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

    @property
    def ratio(self) -> float:
        """How many times the bar is reached: 1 is just enough, more is better."""
        if self.goal.unit in LESS_IS_BETTER:
            return self.goal.bar / max(self.value, 1e-12)
        return self.value / self.goal.bar


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
            measured: Callable[[], float] = getattr(bench, name)
            yield Figure(goal, measured())


class _Bench:
    """The measurements, one method a goal; some leave a run behind that later ones read."""

    def __init__(self, scratch: Path, deals: int, rounds: int) -> None:
        self.scratch, self.deals, self.rounds = scratch, deals, rounds
        self.solves = max(10, min(2000, deals // 500))
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

    def _solve(self, rules: str, at_least: int | None) -> float:
        from milsim.dealing import sample_deal_masks
        from milsim.solver import solve_batch

        n = self.solves * (10 if at_least is not None else 1)
        dealt = sample_deal_masks(n, seed=1)
        hands = [np.asarray(hand) for hand in dealt[:3]]
        rest = dealt.talon
        for hand in hands:  # the talon goes round: three random hands of eight
            hand |= rest & -rest
            rest = rest & (rest - 1)
        declarer, left, right = hands
        if at_least is None:
            return n / self.best(lambda: solve_batch(declarer, left, right, rules=rules, threads=1))
        return n / self.best(
            lambda: solve_batch(declarer, left, right, rules=rules, at_least=at_least, threads=1)
        )

    def _exchange(self, rules: str) -> float:
        from milsim.dealing import sample_deals
        from milsim.solver import best_exchange_batch

        n = max(1, self.solves // 10)
        deals = sample_deals(n, seed=1)
        return n / self.best(lambda: best_exchange_batch(deals, rules=rules, threads=1))

    def exact_solves(self) -> float:
        return self._solve("mil", None)

    def threshold_solves(self) -> float:
        return self._solve("mil", 100)

    def exchanges(self) -> float:
        return self._exchange("mil")

    def gamerules_solves(self) -> float:
        return self._solve("gamerules", None)

    def gamerules_thresholds(self) -> float:
        return self._solve("gamerules", 100)

    def gamerules_exchanges(self) -> float:
        return self._exchange("gamerules")

    def solve_command(self) -> float:
        return self.best(self._command("solve", "688907321587"))

    def _play(self, mode: str, threads: int) -> None:
        from milsim.simulation.engine import play
        from milsim.simulation.plan import Plan

        for _ in play(Plan.make(deals=self.deals, mode=mode), threads=threads):
            pass

    def declarer_mode(self) -> float:
        return self.deals / self.best(lambda: self._play("declarer", 1))

    def auction_mode(self) -> float:
        return self.deals / self.best(lambda: self._play("auction", 1))

    def two_threads(self) -> float:
        if (os.cpu_count() or 1) < 2:
            return 1.0
        one = self.best(lambda: self._play("auction", 1))
        return one / self.best(lambda: self._play("auction", 2))

    def _simulate(self) -> None:
        from milsim.api import simulate

        self._runs += 1
        simulate(self.deals, out=self.scratch / f"run-{self._runs}")

    def million(self) -> float:
        # Scaled to a million, so that a smaller bench still speaks of the same goal.
        return self.best(self._simulate) * 1_000_000 / self.deals

    def _command(self, *arguments: str) -> Callable[[], None]:
        def run() -> None:
            command = [sys.executable, "-m", "milsim", *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

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
