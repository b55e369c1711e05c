"""Two policies on the same deals, seats rotated: who scores more, and how each declares.

    python analysis/expert/ladder.py --deals 100000 --rules mil gamerules

Each policy sits once alone in each seat against two of the other. The difference of a deal is the
score of the one, less the mean of the other two, averaged over the three seats.
"""

from __future__ import annotations

import argparse

import numpy as np

from milsim.simulation import columns
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan


def rows(policy: str, deals: int, seed: int, rules: str) -> np.ndarray:
    plan = Plan.make(deals=deals, seed=seed, rules=rules, policy=policy)
    return np.concatenate([chunk.values for chunk in play(plan)], axis=1)


def alone(one: str, others: str, deals: int, seed: int, rules: str) -> str:
    """``one`` against two others, as a line."""
    gained = np.zeros(deals)
    declared = []
    for seat in range(3):
        policies = [others] * 3
        policies[seat] = one
        values = rows(",".join(policies), deals, seed, rules)
        scores = values[columns.SCORE_BY_SEAT : columns.SCORE_BY_SEAT + 3].astype(float)
        gained += (1.5 * scores[seat] - 0.5 * scores.sum(axis=0)) / 3
        own = values[:, values[columns.DECLARER] == seat]
        declared.append(
            [own.shape[1] / deals]
            + [own[place].mean() for place in (columns.BID, columns.CONTRACT, columns.MADE)]
        )
    share, bid, contract, made = np.mean(declared, axis=0)
    error = 1.96 * gained.std() / np.sqrt(deals)
    return (
        f"{rules}: {one} against two {others}: {gained.mean():+.2f} ± {error:.2f} a deal; declares "
        f"{share:.1%} at {bid:.1f}, plays for {contract:.1f}, makes {made:.1%}"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rules", nargs="+", default=["mil"])
    options.add_argument("--policies", nargs=2, default=["expert", "greedy"])
    options.add_argument("--deals", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=5)
    given = options.parse_args()
    one, other = given.policies
    for rules in given.rules:
        print(alone(one, other, given.deals, given.seed, rules), flush=True)
        print(alone(other, one, given.deals, given.seed, rules), flush=True)


if __name__ == "__main__":
    main()
