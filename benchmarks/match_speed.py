"""How fast whole matches and single deals are played, by preset and policy, on this machine.

Run: python benchmarks/match_speed.py [--matches N] [--deals N] [--rounds N] [--against CHECKOUT]

Speeds are deals a second of CPU time of one thread, the best of several rounds; the time for
100,000 matches is that of the clock, with all cores. With --against, the deals of this checkout and
of another are played in turns, and the median of the ratios of their speeds is printed: what a
change costs where it should cost nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# Runs in either checkout, so it uses only what both have.
WORKER = """
import sys, time
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan

for line in sys.stdin:
    rules, policy, deals = line.split()
    plan = Plan.make(deals=int(deals), rules=rules, policy=policy)
    chunks = play(plan, threads=1)
    started = time.process_time()
    for _ in chunks:
        pass
    print(int(deals) / (time.process_time() - started), flush=True)
"""


class Worker:
    """A process that plays deals with the milsim of a checkout."""

    def __init__(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def speed(self, rules: str, policy: str, deals: int) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(rules, policy, deals, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(other: Path, deals: int, rounds: int) -> None:
    here, there = Worker(Path(__file__).parents[1]), Worker(other.resolve())
    print(f"{'rules':12} {'policy':8} {'here/s':>12} {'there/s':>12} {'here/there':>11}")
    for rules in ("mil", "gamerules"):
        for policy in ("greedy", "random"):
            for worker in (here, there):
                worker.speed(rules, policy, 1000)  # compiles
            pairs = []
            for turn in range(rounds):
                order = (here, there) if turn % 2 else (there, here)
                speeds = {worker: worker.speed(rules, policy, deals) for worker in order}
                pairs.append((speeds[here], speeds[there]))
            ratio = statistics.median(mine / others for mine, others in pairs)
            best = [max(pair[side] for pair in pairs) for side in (0, 1)]
            print(f"{rules:12} {policy:8} {best[0]:12,.0f} {best[1]:12,.0f} {ratio:11.3f}")
    here.close()
    there.close()


def measure(matches: int, deals: int, rounds: int) -> None:
    from milsim.rules import preset_names
    from milsim.simulation.engine import play
    from milsim.simulation.match_columns import DEALS, WINNER
    from milsim.simulation.match_engine import play_match_plan
    from milsim.simulation.match_plan import MatchPlan
    from milsim.simulation.plan import Plan

    head = ("rules", "policy", "deals/s", "of matches", "deals a match", "won")
    print("{:12} {:8} {:>12} {:>12} {:>14} {:>7}".format(*head))
    for rules in preset_names():
        for policy in ("expert", "greedy", "random"):
            alone, in_matches = [], []
            for _ in range(rounds):
                chunks = play(Plan.make(deals=deals, rules=rules, policy=policy), threads=1)
                started = time.process_time()
                for _ in chunks:
                    pass
                alone.append(deals / (time.process_time() - started))
                plan = MatchPlan.make(matches=matches, rules=rules, policy=policy)
                found = play_match_plan(plan, threads=1)
                started = time.process_time()
                played = list(found)
                rows = sum(chunk.rows for chunk in played)
                in_matches.append(rows / (time.process_time() - started))
            won = sum(int((chunk.results[WINNER] >= 0).sum()) for chunk in played)
            counted = sum(int(chunk.results[DEALS].sum()) for chunk in played)
            print(
                f"{rules:12} {policy:8} {max(alone):12,.0f} {max(in_matches):12,.0f} "
                f"{counted / matches:14.1f} {won / matches:7.1%}"
            )
    hundred = MatchPlan.make(matches=100_000)
    chunks = play_match_plan(hundred)
    started = time.perf_counter()
    rows = sum(chunk.rows for chunk in chunks)
    seconds = time.perf_counter() - started
    print(f"100,000 greedy matches of mil: {seconds:.1f} s, {rows:,} deals, all cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--deals", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    if given.against is not None:
        compare(given.against, given.deals, given.rounds)
    else:
        measure(given.matches, given.deals, given.rounds)


if __name__ == "__main__":
    main()
