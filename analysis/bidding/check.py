"""The fast deals of this study against `milsim.simulate` and a policy as a user would write it.

    python analysis/bidding/check.py

Deal by deal the same scores, declarers, bids and contracts; it stops at the first that differs.
"""

from __future__ import annotations

import sys

import numpy as np
from collect import PLAN, lists_of
from table_play import Bidding, Game

import milsim
from milsim.deals import SEAT_NAMES, combination_rank
from milsim.policies import Policy, legal_bids, register

DEALS = 200
LISTS: dict[tuple[str, str], np.ndarray] = {}


class Listed(Policy):
    """Bids the lowest bid open to it as long as a list allows that for its hand."""

    def __init__(self, name: str = "advice") -> None:
        self.name = name

    def bid(self, view) -> int:
        bids = legal_bids(view)
        up_to = LISTS[view.rules.name, self.name][combination_rank(view.hand.mask)]
        return bids[0] if bids and bids[0] <= up_to else 0


def main() -> None:
    register("listed", Listed)
    for rules in PLAN["rules"]:
        game, up_to = Game(rules), lists_of(rules)["advice"]
        LISTS[rules, "advice"] = up_to
        for seat in range(3):
            policies = ["expert"] * 3
            policies[seat] = "expert:bid=listed"
            run = milsim.simulate(DEALS, policy=",".join(policies), mode="auction", rules=rules,
                                  seed=PLAN["seed"], threads=1)  # fmt: skip
            rows = run.frame().sort("index").collect()
            for index, row in enumerate(rows.iter_rows(named=True)):
                found = Bidding(game, PLAN["seed"], index).outcome(seat, up_to)
                wanted = (*(row[f"score_{name}"] for name in SEAT_NAMES), row["contract"],
                          row["declarer"], row["bid"])  # fmt: skip
                if found != wanted:
                    sys.exit(f"{rules}, deal {index}, {SEAT_NAMES[seat]}: {found}, not {wanted}")
        print(f"{rules}: {3 * DEALS} deals are those of milsim.simulate")


if __name__ == "__main__":
    main()
