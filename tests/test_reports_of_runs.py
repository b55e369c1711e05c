"""Reports of runs that were really played: what must hold whatever the policy does."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import milsim
from milsim import reports
from milsim.reports.counterfactual import marriage_worth, without_value
from milsim.store.run import Run

DEALS = 4000


@pytest.fixture(scope="module", params=["declarer", "auction"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run") / request.param
    return milsim.simulate(DEALS, seed=11, mode=request.param, out=folder)


def test_what_is_declared_was_held_and_pays(run: Run) -> None:
    frame = reports.marriages(run)
    for row in frame.to_dicts():
        assert row["held7"] + row["completed"] >= row["held10"] >= row["kept8"] >= row["declared"]
        assert row["by_anyone"] >= row["declared"]
        assert row["trick_mean"] >= 2  # the rules: from the second trick on
        if row["suit"] != "any":
            assert row["held7"] + row["completed"] == pytest.approx(row["held10"])
            assert row["worth_n"] == round(row["held10"] * DEALS)
            assert 0.3 * row["value"] < row["worth"] < 1.3 * row["value"]
    rows = run.frame(features=True).collect()
    for suit, name in enumerate(("spades", "clubs", "diamonds", "hearts")):
        own = rows.filter(pl.col(f"{name}_seat") == pl.col("declarer"))
        assert (own["kept_marriage_mask"] & (1 << suit)).min() == 1 << suit


def test_worth_is_bounded_by_what_is_paid(run: Run) -> None:
    everything = marriage_worth(run, [15, 8], replays=500)
    assert everything[15].n == everything[8].n == 500
    assert everything[15].total > 0
    paid = without_value(run.rules, 15).deal.marriage_values.by_suit()
    assert paid == (0, 0, 0, 0)
    assert marriage_worth(run, [8], replays=500, threads=1)[8] == everything[8]


def test_reports_agree_with_the_rows(run: Run) -> None:
    rows = run.frame().collect()
    points = rows["declarer_points"].to_numpy().astype(np.int64)
    total = reports.bidding(run).row(-1, named=True)
    assert total["n"] == DEALS
    assert total["points_mean"] == points.sum() / DEALS
    for contract in (100, 120, 150):
        assert total[f"p_{contract}"] == (points >= contract).mean()
    made = reports.marriages(run, "number").row(-1, named=True)["made"]
    assert made == rows["made"].mean()


def test_sampled_frequencies_are_near_the_exact_ones(tmp_path: Path) -> None:
    run = milsim.simulate(20_000, seed=5, mode="declarer", out=tmp_path / "run")
    frame = reports.bidding(run).drop_nulls("marriages").filter(pl.col("n") > 100)
    errors = (frame["share"] - frame["share_exact"]) / (
        frame["share_exact"] * (1 - frame["share_exact"]) / run.deals
    ).sqrt()
    assert errors.abs().max() < 4.5  # about 35 classes: one false alarm in 4,000 seeds


def test_every_format_of_a_real_run(run: Run) -> None:
    for entry in reports.REPORTS.values():
        if not isinstance(entry, reports.ReportEntry) or "deals" not in entry.of:
            continue
        if entry.name == "auction" and run.plan.mode != "auction":
            continue
        report = entry.build(run)
        for form in reports.FORMATS:
            assert reports.render(report, form, width=80)
    for chart in reports.CHARTS.values():
        if "deals" in chart.of:
            assert chart.build(run)
