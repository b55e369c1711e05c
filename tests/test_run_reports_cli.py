"""``milsim report talon|contracts|seats`` and ``milsim chart talon`` from the command line."""

import json
from pathlib import Path

import polars as pl
import pytest

import milsim
from tests.command_line import Shell

NAMES = ("talon", "contracts", "seats")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("runs")
    milsim.simulate(600, dd="gifts", mode="declarer", out=where / "solved", threads=1)
    milsim.simulate(300, mode="auction", out=where / "auction", threads=1)
    milsim.play_matches(3, out=where / "matches", threads=1)
    return where


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.mark.parametrize("name", NAMES)
def test_every_model(folder: Path, shell: Shell, tmp_path: Path, name: str) -> None:
    solved, table = folder / "solved", tmp_path / "bias.json"
    assert shell("report", "bias", solved, "--format", "json", "--out", table).code == 0
    first = shell("report", name, solved, "--json")
    assert json.loads(first.out)["model"] == "policy greedy"
    assert shell("report", name, solved, "--json", "--model", "greedy").out == first.out
    rows = milsim.open_run(solved).frame().collect()
    models = {}
    for model, more in (("double-dummy", ()), ("corrected", ("--bias", table))):
        outcome = shell("report", name, solved, "--json", "--model", model, *more)
        assert outcome.code == 0
        models[model] = json.loads(outcome.out)
    assert models["double-dummy"]["model"].startswith("double dummy, ")
    assert models["corrected"]["model"].startswith("double dummy corrected to policy greedy")
    table_name, column = {
        "talon": ("holds", "points_mean"),
        "contracts": ("named", "points"),
        "seats": ("seat", "points_mean"),
    }[name]
    last = {model: answer["tables"][table_name][-1] for model, answer in models.items()}
    assert last["double-dummy"][column] == pytest.approx(rows["dd_points"].mean())
    played = rows["declarer_points"].mean()
    assert last["corrected"][column] == pytest.approx(played, abs=1.5)  # that is what it is for
    assert {row["score"] for row in last.values()} == {None}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("run", ["solved", "auction"])
def test_every_format(folder: Path, shell: Shell, tmp_path: Path, name: str, run: str) -> None:
    frame = None
    for form in ("csv", "parquet"):
        target = tmp_path / f"a.{form}"
        assert shell("report", name, folder / run, "-f", form, "-o", target).code == 0
        read = pl.read_csv if form == "csv" else pl.read_parquet
        found = read(target)
        assert frame is None or (found.columns == frame.columns and found.height == frame.height)
        frame = found
    for form in ("text", "md"):
        text = shell("report", name, folder / run, "-f", form).out
        assert "How to read a row: " in text
        assert ("exact" in text) == (run == "solved")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_is_said_in_a_line(folder: Path, shell: Shell, name: str) -> None:
    for arguments, code, words in (
        ((folder / "matches",), 3, "holds matches, not single deals"),
        ((folder / "auction", "--model", "double-dummy"), 3, "no double-dummy values in it"),
        ((folder / "auction", "--model", "pimc"), 3, "played by greedy, not by pimc"),
        ((folder / "auction", "--model", "plaid"), 2, "unknown; did you mean played?"),
        ((), 2, "needs one RUN"),
        ((folder / "auction", "--match", "1"), 2, "--match: is for sheet"),
    ):
        outcome = shell("report", name, *arguments)
        assert (outcome.code, outcome.out) == (code, "")
        assert words in outcome.err
        assert len(outcome.err.splitlines()) == 1


def test_help_and_misspelt_names(shell: Shell, folder: Path) -> None:
    text = shell("report", "--help").out
    for name in NAMES:
        assert name in text
    assert "did you mean talon?" in shell("report", "tallon", folder / "auction").err
    assert "did you mean seats?" in shell("report", "seat", folder / "auction").err


def test_the_chart(folder: Path, shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "talon.svg"
    assert shell("chart", "talon", folder / "auction", "-o", target).code == 0
    first = target.read_bytes()
    solved = shell("chart", "talon", folder / "solved", "--model", "double-dummy", "-o", target)
    assert solved.code == 0
    assert target.read_bytes() != first
