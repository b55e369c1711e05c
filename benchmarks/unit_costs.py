"""What a unit of work costs, in CPU time of one thread, and what the great runs would cost by it.

Run: python benchmarks/unit_costs.py [--price DOLLARS] [--hands N]

The best of three rounds for each unit, kernels compiled; for `exchange` the mean over hands. Prints
the tables that docs/scale.md holds.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import numpy as np

from milsim.dealing.tables import N_HANDS
from milsim.gifts import exchange
from milsim.simulation.engine import DealPlayer
from milsim.simulation.plan import Plan
from milsim.tables.plan import TablePlan
from milsim.tables.playing import HandPlayer

TEN_CARDS = 1_961_256
ROUNDS = 3


def best(work: Callable[[int], object], count: int) -> float:
    """CPU seconds a unit: ``work`` does as many units as it is told, from its first on."""
    work(1)
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work(count)
        seconds.append(time.process_time() - started)
    return min(seconds) / count


def of_deals(policy: str, count: int, dd: str = "off") -> float:
    player = DealPlayer(Plan.make(deals=count, policy=policy, mode="declarer", dd=dd))
    return best(lambda n: player(0, n), count)


def of_exchange(hands: int) -> float:
    drawn = [sum(1 << c for c in random.Random(i).sample(range(24), 10)) for i in range(hands)]
    exchange(drawn[0], top=1, threads=1)
    started = time.process_time()
    for hand in drawn:
        exchange(hand, threads=1)
    return (time.process_time() - started) / hands


def shown(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--price", type=float, default=0.04, help="dollars a core-hour")
    parser.add_argument("--hands", type=int, default=6)
    chosen = parser.parse_args()
    greedy = of_deals("greedy", 1 << 14)
    ranks = np.arange(100_000, 100_008)
    hand_player = HandPlayer.of(TablePlan.make(policy="expert"))
    units = {
        "a deal by greedy": greedy,
        "a deal by expert": of_deals("expert", 1 << 13),
        "a deal by pimc": of_deals("pimc", 48),
        "an exact solve, gifts given": of_deals("greedy", 1 << 11, "gifts") - greedy,
        "the best exchange of a deal": of_deals("greedy", 1 << 7, "exchange") - greedy,
        "a hand of the table (expert)": best(lambda n: hand_player(ranks[:n], 0, 1), len(ranks)),
        "milsim exchange of ten cards": of_exchange(chosen.hands),
    }
    print("| unit | CPU time |\n|---|---:|")
    for name, seconds in units.items():
        print(f"| {name} | {shown(seconds)} |")
    solve, gifts = units["an exact solve, gifts given"], units["the best exchange of a deal"]
    runs = {
        "bid table, double dummy, 346,104 hands × 1,000 best exchanges": gifts * N_HANDS * 1000,
        "the same, gifts by a policy, 1,000 exact solves": solve * N_HANDS * 1000,
        "table of all hands, expert, one with each talon": N_HANDS
        * units["a hand of the table (expert)"],
        "exact exchange, 1,961,256 hands of ten cards": TEN_CARDS
        * units["milsim exchange of ten cards"],
        "10^12 deals by greedy": 1e12 * greedy,
        "10^12 deals by expert": 1e12 * units["a deal by expert"],
        "10^12 deals by pimc": 1e12 * units["a deal by pimc"],
    }
    print("\n| run | core-hours | days on 1,000 cores | dollars |\n|---|---:|---:|---:|")
    for name, seconds in runs.items():
        hours = seconds / 3600
        print(f"| {name} | {hours:,.3g} | {hours / 24_000:.2g} | {hours * chosen.price:,.3g} |")


if __name__ == "__main__":
    main()
