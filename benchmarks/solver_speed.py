"""The solver beside its goals and its baselines, on one core and on two.

    python benchmarks/solver_speed.py [DEALS]

Deals are random 8-8-8 hands, the declarer on lead, no trump; exchanges are random deals. One round
measures everything; the best of several counts (`process_time` on one thread, wall time on two).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from solver_simple import new_table, simple_rows
from solver_techniques import deals

from milsim.rules import load, packed
from milsim.solver import best_exchange_batch, signature, solve_batch
from milsim.solver.batch import rows_of
from milsim.solver.root import answer
from milsim.solver.table import NODES, new_workspace
from milsim.tricks import play_flags, play_values

ROUNDS = 5
GOALS = {"exact": (3000, 5000), "threshold": (50_000, 90_000), "exchange": (250, 600)}


def best(work: Callable[[], object], clock: Callable[[], float], rounds: int = ROUNDS) -> float:
    work()
    seconds = []
    for _ in range(rounds):
        started = clock()
        work()
        seconds.append(clock() - started)
    return min(seconds)


def tail(hands: np.ndarray, preset: str) -> str:
    """Nodes and microseconds of single solves: the median, the 99th of a hundred, the worst."""
    rules = packed(load(preset))
    flags, values = play_flags(rules), play_values(rules)
    work, found = new_workspace(), np.empty(1, np.int64)
    words = np.zeros((5, hands.shape[1]), np.int64)
    words[:3], words[4] = hands, 4
    rows = rows_of(words)
    nodes, micros = [], []
    for i in range(rows.shape[1]):
        one = np.ascontiguousarray(rows[:, i : i + 1])
        work[NODES] = 0
        started = time.perf_counter()
        answer(one, found[:0], 1, 1, flags, values, work, found)
        micros.append((time.perf_counter() - started) * 1e6)
        nodes.append(int(work[NODES]))
    cuts = (50, 99, 100)
    return (
        "nodes p50 {:,.0f} p99 {:,.0f} max {:,.0f}, µs p50 {:,.0f} p99 {:,.0f} max {:,.0f}".format(
            *np.percentile(nodes, cuts), *np.percentile(micros, cuts)
        )
    )


def against_simple(hands: np.ndarray, preset: str) -> None:
    """The figures of the first simple version, on a few of the deals."""
    rules, table = packed(load(preset)), new_table()
    found = np.empty(hands.shape[1], np.int64)
    flags, values = play_flags(rules), play_values(rules)
    for name, low, high in (("exact", 0, 1 << 20), ("threshold", 99, 100)):
        ask = partial(simple_rows, hands, flags, values, low, high, table, found)
        speed = hands.shape[1] / best(ask, time.process_time, 1)
        print(f"{preset:<10} {name:<10} {speed:>10,.0f}/s  first simple version")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    hands = deals(count)
    numbers = np.random.default_rng(7).integers(0, 807_723_671_040, count // 20)
    print(f"signature {signature()}")
    for preset in ("mil", "gamerules"):
        scale = 1 if preset == "mil" else 2
        asks = {
            "exact": (count, partial(solve_batch, *hands, rules=preset)),
            "threshold": (count, partial(solve_batch, *hands, rules=preset, at_least=100)),
            "exchange": (len(numbers), partial(best_exchange_batch, numbers, rules=preset)),
        }
        for name, (size, ask) in asks.items():
            one = size / best(partial(ask, threads=1), time.process_time)
            wall = best(partial(ask, threads=1), time.perf_counter)
            two = wall / best(partial(ask, threads=2), time.perf_counter)
            bar, aim = (goal / scale for goal in GOALS[name])
            print(
                f"{preset:<10} {name:<10} {one:>10,.0f}/s  bar {bar:,.0f} ({one / bar:.2f} x)  "
                f"aim {aim:,.0f} ({one / aim:.2f} x)  two threads {two:.2f} x"
            )
        print(f"{preset:<10} tail       {tail(hands, preset)}")
        against_simple(hands[:, :40].copy(), preset)


if __name__ == "__main__":
    main()
