"""Report bias: common deals only, paired numbers, and a correction that does what it measured."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import numpy as np
import polars as pl
import pytest

import milsim
from milsim.errors import RunError, UsageError
from milsim.reports.bias_frames import bias, bias_report
from milsim.reports.bias_points import common_deals
from milsim.reports.bias_table import BiasTable, quantile_knots, run_by_model
from milsim.store.run import Run
from tests.command_line import Shell

DEALS = 400


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bias")


@pytest.fixture(scope="module")
def solved(folder: Path) -> Run:
    return milsim.simulate(DEALS, mode="declarer", seed=3, dd="exchange", out=folder / "solved")


@pytest.fixture(scope="module")
def other(folder: Path) -> Run:
    return milsim.simulate(
        2 * DEALS, mode="declarer", seed=3, policy="random", out=folder / "random"
    )


def test_one_run_compares_double_dummy_with_its_policy(solved: Run) -> None:
    found = bias(solved)
    assert set(found["base"]) == {"double dummy"}
    assert set(found["model"]) == {"policy greedy"}
    rows = solved.frame(features=True).collect()
    (row,) = found.filter(part="all").to_dicts()
    assert row["n"] == DEALS
    assert row["base_mean"] == fmean(rows["dd_points"].to_list())
    apart = (rows["declarer_points"] - rows["dd_points"]).cast(pl.Int64)
    assert row["difference"] == pytest.approx(apart.mean())
    error = apart.std() / DEALS**0.5
    assert row["difference_high"] - row["difference"] == pytest.approx(1.966 * error, rel=2e-3)
    (aces,) = found.filter(part="class", marriages=0, aces=1).to_dicts()
    mine = rows.filter(hand_marriages=0, hand_aces=1)
    assert aces["n"] == mine.height
    assert aces["model_mean"] == fmean(mine["declarer_points"].to_list())
    assert sum(found.filter(part="class")["n"]) == sum(found.filter(part="contract")["n"]) == DEALS


def test_made_and_made_is_a_table_of_two_by_two(solved: Run) -> None:
    rows = solved.frame().collect()
    (row,) = bias(solved).filter(part="made", contract=120).to_dicts()
    first, second = rows["dd_points"] >= 120, rows["declarer_points"] >= 120
    assert row["both"] == (first & second).sum()
    assert row["only_base"] == (first & ~second).sum()
    assert row["only_model"] == (~first & second).sum()
    assert row["neither"] == (~first & ~second).sum()
    assert row["difference"] == pytest.approx((row["only_model"] - row["only_base"]) / DEALS)


def test_runs_of_the_same_deals_are_joined(solved: Run, other: Run) -> None:
    found = bias([solved, other])
    assert found["model"].unique(maintain_order=True).to_list() == [
        "policy greedy",
        "policy random",
    ]
    (row,) = found.filter(part="all", model="policy random").to_dicts()
    points = other.frame().sort("index").collect()["declarer_points"].head(DEALS)
    assert (row["n"], row["model_mean"]) == (DEALS, fmean(points.to_list()))
    text = str(bias_report([solved, other]))
    assert "policy random" in text
    assert f"{DEALS} common deals" in text


def test_what_is_not_common_is_refused(solved: Run, other: Run, folder: Path) -> None:
    seed = milsim.simulate(50, mode="declarer", seed=4, out=folder / "seed")
    later = milsim.simulate(50, mode="declarer", seed=3, start=10**6, out=folder / "later")
    bidding = milsim.simulate(50, seed=3, out=folder / "bidding")
    where = milsim.simulate(50, mode="declarer", seed=3, where="aces=2", out=folder / "where")
    rules = milsim.simulate(50, mode="declarer", seed=3, rules="pagat", out=folder / "rules")
    for run, words in (
        (seed, "seed 4, but 3"),
        (later, "no deal in common"),
        (bidding, "auction mode"),
        (where, "where aces=2"),
        (rules, "rules pagat"),
    ):
        with pytest.raises(RunError, match=words):
            bias([other, run])
    with pytest.raises(UsageError, match="one model"):
        bias(other)
    with pytest.raises(UsageError, match="given twice"):
        bias([solved, solved])


def test_quantiles_keep_the_mean_and_the_order() -> None:
    draw = np.random.default_rng(2)
    dd, played = draw.integers(0, 200, 1000), draw.integers(0, 150, 1000)
    a, b = quantile_knots(dd, played)
    assert (np.diff(a) > 0).all()
    assert (np.diff(b) >= 0).all()
    assert np.interp(np.sort(dd), a, b).mean() == pytest.approx(played.mean(), abs=0.5)
    same, _ = quantile_knots(np.zeros(50), np.arange(50))
    assert len(same) == 1


def test_corrected_points_are_those_of_play_on_average(solved: Run, folder: Path) -> None:
    path = folder / "bias.json"
    from milsim.reports.bias_frames import render_bias

    path.write_bytes(render_bias([solved], "json"))
    table = BiasTable.read(path)
    measured = BiasTable.measured(common_deals([solved]))
    assert table.to_rows() == measured.to_rows()
    corrected = run_by_model(solved, "corrected", path)
    rows = corrected.frame().collect()
    assert rows.columns == solved.frame().collect().columns
    played = solved.frame().collect()
    mean = fmean(played["declarer_points"].to_list())
    assert fmean(rows["declarer_points"].to_list()) == pytest.approx(mean, abs=1.0)
    moved = rows.select(shift=pl.col("declarer_points") - pl.col("dd_points"))["shift"]
    assert moved.n_unique() > 5  # never a constant
    assert rows["made"].to_list() == (rows["declarer_points"] >= rows["contract"]).to_list()
    assert "corrected to policy greedy" in corrected.play
    assert "hand_aces" in corrected.frame(features=True).collect_schema()
    assert milsim.report.bidding(corrected)["n"][-1] == DEALS


def test_command_line(shell: Shell, solved: Run, other: Run, folder: Path) -> None:
    path = folder / "written.json"
    outcome = shell("report", "bias", solved.folder, "--format", "json", "--out", path)
    assert outcome.code == 0
    document = json.loads(path.read_text())
    assert document["correction"]["about"]["double_dummy"] == "exchange"
    assert set(document["tables"]) == {"class", "contract", "made"}
    outcome = shell("report", "bidding", solved.folder, "--model", "corrected", "--bias", path)
    assert outcome.code == 0
    assert "double dummy corrected to policy greedy" in outcome.out
    outcome = shell("report", "bias", solved.folder, other.folder)
    assert max(map(len, outcome.out.splitlines())) <= 100
    assert shell("report", "bidding", solved.folder, "--model", "greedy").code == 0
    assert shell("report", "bias", solved.folder, "--format", "csv").out.startswith("part,")


BAD: dict[str, tuple[list[str], int, str]] = {
    "no run": (["bias"], 2, "no run given"),
    "another policy": (["bidding", "SOLVED", "--model", "random"], 3, "played by greedy"),
    "no such model": (["bidding", "SOLVED", "--model", "best"], 2, "unknown"),
    "no table": (["bidding", "SOLVED", "--model", "corrected"], 2, "--bias"),
    "no file": (["bidding", "SOLVED", "--model", "corrected", "--bias", "none.json"], 3, "none"),
    "no dd": (["bidding", "OTHER", "--model", "corrected", "--bias", "x"], 3, "double-dummy"),
    "table alone": (["bidding", "SOLVED", "--bias", "x"], 2, "corrected"),
    "two runs": (["bidding", "SOLVED", "OTHER"], 2, "needs one RUN"),
    "none": (["bidding"], 2, "none is given"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(shell: Shell, solved: Run, other: Run, name: str) -> None:
    arguments, code, words = BAD[name]
    folders = {"SOLVED": solved.folder, "OTHER": other.folder}
    outcome = shell("report", *(folders.get(text, text) for text in arguments))
    assert (outcome.code, outcome.out) == (code, "")
    lines = [line for line in outcome.err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert words in lines[0]


def test_a_table_of_other_rules_is_refused(solved: Run, folder: Path) -> None:
    run = milsim.simulate(40, mode="declarer", rules="pagat", dd="gifts", out=folder / "pagat")
    from milsim.reports.bias_frames import render_bias

    path = folder / "pagat.json"
    path.write_bytes(render_bias([run], "json"))
    with pytest.raises(RunError, match="measured with rules"):
        run_by_model(solved, "corrected", path)
    (folder / "empty.json").write_text("{}")
    with pytest.raises(RunError, match="no bias table"):
        run_by_model(solved, "corrected", folder / "empty.json")
