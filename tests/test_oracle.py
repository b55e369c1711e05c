"""The oracle plays double dummy: what it takes is what the solver says."""

from __future__ import annotations

import numpy as np
import pytest

from milsim.rules import preset_names
from milsim.simulation.columns import (
    CONTRACT,
    DECLARER,
    DECLARER_POINTS,
    GIFT_LEFT,
    GIFT_RIGHT,
    MADE,
)
from milsim.simulation.double_dummy import double_dummy_points
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan


def rows_of(plan):
    chunks = list(play(plan, threads=2))
    deals = np.concatenate([chunk.deals for chunk in chunks])
    return deals, np.concatenate([chunk.values for chunk in chunks], axis=1)


@pytest.mark.parametrize("rules", preset_names())
def test_three_oracles_play_the_double_dummy_value(rules):
    plan = Plan.make(deals=24, seed=9, rules=rules, policy="oracle", mode="declarer")
    deals, rows = rows_of(plan)
    columns = deals, rows[DECLARER], rows[GIFT_LEFT], rows[GIFT_RIGHT]
    for best in (False, True):  # with these gifts; and no others would be better
        solved = double_dummy_points(*columns, best=best, rules=plan.rules)
        assert solved.tolist() == rows[DECLARER_POINTS].tolist()


def test_an_oracle_as_declarer_takes_at_least_the_double_dummy_value():
    plan = Plan.make(deals=60, seed=10, policy="oracle,greedy,random", mode="declarer")
    deals, rows = rows_of(plan)
    columns = deals, rows[DECLARER], rows[GIFT_LEFT], rows[GIFT_RIGHT]
    solved = double_dummy_points(*columns, best=True, rules=plan.rules)
    assert (rows[DECLARER_POINTS] >= solved).all()
    assert (rows[DECLARER_POINTS] > solved).any()
    assert rows[MADE][rows[CONTRACT] <= solved].all()
