"""The public interface: names, signatures and types that others rely on."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import milsim
from milsim import reports
from milsim.errors import MilsimError


def test_every_public_name_is_there() -> None:
    for name in milsim.__all__:
        assert getattr(milsim, name) is not None
    assert set(milsim.__all__) <= set(dir(milsim))
    assert milsim.__version__


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="simulat"):
        _ = milsim.simulat


def test_import_is_cheap() -> None:
    code = (
        "import sys, milsim; heavy = {'numba', 'numpy', 'polars', 'matplotlib', 'typer'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"


def test_deal() -> None:
    deal = milsim.Deal.from_id(688907321587)
    assert deal.id == 688907321587
    forehand, middlehand, rearhand = deal.hands
    assert [int(hand) for hand in deal.hands] == [9839136, 16479, 6330752]
    assert int(deal.talon) == 590848
    assert milsim.Deal.parse(str(deal)) == deal
    assert len(forehand) == len(middlehand) == len(rearhand) == 7
    assert "<" in deal._repr_html_()
    assert "<" in forehand._repr_html_()


def test_rules_as_functions() -> None:
    # Ace of spades led with hearts as trump: a void hand must ruff, the nine of hearts wins.
    assert milsim.legal_mask(1 << 18 | 1 << 6, [5], 3) == 1 << 18
    assert milsim.legal_mask(1 << 18 | 1 << 6, [5], 3, rules="gamerules", trick_number=4) == 1 << 18
    assert milsim.trick_winner([5, 18, 4], 3) == 1
    score = milsim.score_deal((138, 24, 18), declarer=0, contract=120)
    assert score.made
    assert score.scores == (120, 20, 20)


def test_sample_deals() -> None:
    deals = milsim.sample_deals(100, seed=3)
    assert deals.dtype == np.uint64
    assert deals.tolist() == milsim.sample_deals(50, seed=3, start=0).tolist() + (
        milsim.sample_deals(50, seed=3, start=50).tolist()
    )
    with_nines = milsim.sample_deals(5, seed=3, where="four_nines")
    assert all(milsim.Deal.from_id(int(n)).hands[0].four_nines for n in with_nines)


def test_policies_in_a_sequence_and_deals_as_people_write_them(tmp_path: object) -> None:
    run = milsim.simulate(1e2, policy=("greedy", "random", "greedy"), out=f"{tmp_path}/run")
    assert run.deals == 100
    assert run.plan.policies == ("greedy", "random", "greedy")


def test_simulate_and_report(tmp_path: object) -> None:
    run = milsim.simulate(2000, mode="declarer", out=f"{tmp_path}/run")
    assert isinstance(run, milsim.Run)
    rows = run.frame()
    assert isinstance(rows, pl.LazyFrame)
    assert "hand_aces" in run.frame(features=True).collect_schema()
    table = milsim.report.bidding(run)
    assert isinstance(table, pl.DataFrame)
    assert table["n"].sum() == 2 * 2000  # the classes, and all
    assert milsim.open_run(f"{tmp_path}/run").deals == 2000


BAD_CALLS = {
    "deal id": lambda: milsim.Deal.from_id(-1),
    "deal text": lambda: milsim.Deal.parse("x"),
    "hand": lambda: milsim.legal_mask(1 << 24, [], 4),
    "trump": lambda: milsim.legal_mask(1, [], 7),
    "card twice": lambda: milsim.trick_winner([1, 1], 4),
    "points": lambda: milsim.score_deal((1, 2, 3), declarer=0, contract=100),
    "n": lambda: milsim.sample_deals(-1, seed=1),
    "seed": lambda: milsim.sample_deals(1, seed=1.5),
    "where of a wrong type": lambda: milsim.sample_deals(1, seed=1, where=5),
    "policies": lambda: milsim.simulate(1, policy=5),
    "two policies": lambda: milsim.simulate(1, policy=["greedy", "random"]),
    "fraction of a deal": lambda: milsim.simulate(1.5),
    "double dummy": lambda: milsim.simulate(1, dd="gift"),
    "out": lambda: milsim.simulate(1, out=5),
    "where": lambda: milsim.sample_deals(1, seed=1, where="aces>"),
    "deals": lambda: milsim.simulate(0),
    "mode": lambda: milsim.simulate(1, mode="x"),
    "rules": lambda: milsim.simulate(1, rules="x"),
    "policy": lambda: milsim.simulate(1, policy="x"),
    "threads": lambda: milsim.simulate(1, threads=0),
    "run": lambda: milsim.open_run("nothing"),
    "conformance": lambda: milsim.check_policy("x"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_calls_raise_the_family_in_one_line(
    name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("none")))
    with pytest.raises(MilsimError) as caught:
        BAD_CALLS[name]()
    message = str(caught.value)
    assert "\n" not in message
    assert message[0].islower() or not message[0].isalpha()


@pytest.mark.parametrize("name", ["legal_mask", "sample_deals", "simulate", "score_deal"])
def test_options_are_by_name_only(name: str) -> None:
    parameters = inspect.signature(getattr(milsim, name)).parameters.values()
    with_default = [p for p in parameters if p.default is not inspect.Parameter.empty]
    assert with_default
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in with_default)


def test_no_public_function_has_the_name_of_a_module_beside_it() -> None:
    """Importing such a module would put it in the function's place."""
    for package in (milsim, reports):
        modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
        functions = {name for name in package._HOMES if callable(getattr(package, name))}
        assert modules.isdisjoint(functions)
