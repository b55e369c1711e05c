"""Reports of the model double-dummy beside those of what was played."""

from __future__ import annotations

import polars as pl
import pytest

from milsim.api import open_run, simulate
from milsim.reports import bidding, bidding_report, marriages, marriages_report, render
from milsim.reports.summary import summary
from milsim.store.run import Run


@pytest.fixture(scope="module", params=["gifts", "exchange"])
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "run"
    simulate(150, mode="declarer", dd=request.param, out=folder)
    return open_run(folder)


def test_bidding_by_double_dummy_points(solved: Run) -> None:
    table = bidding(solved.as_model("double-dummy"))
    rows = solved.frame().collect()
    total = table.tail(1)
    assert total["points_mean"].item() == pytest.approx(rows["dd_points"].mean())
    assert total["p_100"].item() == pytest.approx((rows["dd_points"] >= 100).mean())
    assert table["model"].unique().to_list() == [solved.as_model("double-dummy").play]
    assert bidding(solved)["model"].unique().to_list() == ["policy greedy"]


def test_a_worthless_marriage_is_solved_again(solved: Run) -> None:
    table = marriages(solved.as_model("double-dummy"))
    worth = table.filter(pl.col("worth_n") > 0)
    assert worth.height == 5
    # With all cards known, taking points away never gains any.
    assert worth["worth"].min() >= 0
    assert (worth.filter(pl.col("value") > 0)["worth"] <= worth["value"].max()).all()


def test_the_summary_has_both_means(solved: Run) -> None:
    figures = summary(solved)
    rows = solved.frame().collect()
    assert figures.double_dummy is not None
    assert figures.double_dummy.value == pytest.approx(rows["dd_points"].mean())
    assert "double dummy" in figures.text()
    assert figures.to_dict()["double_dummy"]["value"] == figures.double_dummy.value


def test_the_model_is_named_in_the_text(solved: Run) -> None:
    for report in (bidding_report, marriages_report):
        text = render(report(solved.as_model("double-dummy")), width=100).decode()
        assert "double dummy" in text
