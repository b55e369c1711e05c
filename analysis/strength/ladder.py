"""The ladder of policies: points a deal of each, at a table with two others, on common deals.

    .venv/bin/python analysis/strength/ladder.py [deals] [others]

Each policy sits at each of the three seats of the same deals, the two others are always `expert`
(or the policy named). Its score is the mean of its own deal scores; its lead is that less the mean
of the two others'. Intervals are 95 %, over deals: the three seats of a deal are one observation.
Differences between neighbours on the ladder are paired: the same deals, the same seats.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from milsim.simulation.columns import SCORE_BY_SEAT
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan

LADDER = ("random", "greedy", "expert", "pimc:solving=100", "pimc:solving=50", "pimc", "oracle")
RULES = ("mil", "gamerules")


def scores_of(policy: str, others: str, rules: str, deals: int) -> tuple[np.ndarray, np.ndarray]:
    """Own score, and lead over the mean of the others, a deal: means over the three seats."""
    own, lead = np.zeros(deals), np.zeros(deals)
    for seat in range(3):
        policies = [others] * 3
        policies[seat] = policy
        plan = Plan.make(deals=deals, seed=2026, rules=rules, policy=policies)
        chunks = [chunk.values[SCORE_BY_SEAT : SCORE_BY_SEAT + 3] for chunk in play(plan)]
        scores = np.concatenate(chunks, axis=1).astype(float)
        rest = (scores.sum(axis=0) - scores[seat]) / 2
        own += scores[seat] / 3
        lead += (scores[seat] - rest) / 3
    return own, lead


def interval(values: np.ndarray) -> str:
    """Mean and half width of the 95 % interval."""
    return f"{values.mean():7.2f} ±{1.96 * values.std(ddof=1) / len(values) ** 0.5:5.2f}"


def main() -> None:
    """Print the ladder under both rule sets."""
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    others = sys.argv[2] if len(sys.argv) > 2 else "expert"
    for rules in RULES:
        print(f"\n{rules}, {deals} deals of seed 2026, others {others}")
        print("policy            own score         lead              over the one above: own, lead")
        before = None
        for policy in LADDER:
            begin = time.monotonic()
            own, lead = scores_of(policy, others, rules, deals)
            words = f"{policy:<17} {interval(own)}   {interval(lead)}"
            if before is not None:
                words += f"   {interval(own - before[0])}   {interval(lead - before[1])}"
            seconds = time.monotonic() - begin
            print(f"{words}   ({3 * deals / seconds:,.0f} deals/s)", flush=True)
            before = own, lead


if __name__ == "__main__":
    main()
