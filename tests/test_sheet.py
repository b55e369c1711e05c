"""Score sheets: scored anew from the rows, the same for every preset, readable on 80 columns."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milsim
from milsim.errors import UsageError, VerificationError
from milsim.reports.score_sheet import ScoreSheet, played_sheet, sheet, sheet_of_rows
from milsim.rules import Rules, load, parse, preset_names, with_fields
from milsim.simulation.match_plan import MatchPlan
from tests.command_line import Shell
from tests.made_up_matches import Row, made_up_matches

GOLDEN = Path(__file__).parent / "golden" / "sheets"
FOUR = """
based_on = "russian"
name = "four"
[deal]
players = 4
[match]
target = 1005
sitter = "aces_and_marriages"
barrel_falls = 1
golden = "forehand_plays_120"
dump_truck = "plus_and_minus"
"""


def four() -> Rules:
    return parse(FOUR)


# -- golden sheets -------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", preset_names())
def test_golden_sheet_of_a_preset(preset: str, update_golden: bool) -> None:
    """One match a preset as greedy plays it; ``--update-golden`` writes the texts anew."""
    found = played_sheet(MatchPlan.make(matches=1, seed=1, start=3, rules=preset)).table()
    check_golden(GOLDEN / f"{preset}.txt", found, update_golden)


@pytest.mark.parametrize("name", ["made-up-four", "made-up-pagat"])
def test_golden_sheet_with_all_that_can_happen(
    name: str, tmp_path: Path, update_golden: bool
) -> None:
    """Made-up deals: these sheets change with the rules of a match only, not with any policy."""
    rules = four() if name == "made-up-four" else load("pagat")
    run, _, _ = made_up_matches(tmp_path / "run", 2, rules=rules, seed=4)
    check_golden(GOLDEN / f"{name}.txt", sheet(run, 1).table(), update_golden)


def check_golden(path: Path, found: str, update: bool) -> None:
    # The version of milsim is not what these texts are about.
    found = re.sub(r"milsim [0-9][0-9.]*[0-9]*", "milsim", found)
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), "see --update-golden"


@pytest.mark.parametrize(
    ("changes", "legend"),
    [
        ({"golden": "minimum_120"}, "golden deal: the bidding begins at 120"),
        ({"golden": "forehand_plays_120"}, "golden deal: forehand plays 120 without an auction,"),
        ({"barrel_counts": "every_deal"}, "must win by an own contract within 3 deals"),
        ({"barrel_counts": "own_contracts"}, "on the barrel: must win within 3 own contracts"),
    ],
)
def test_the_legend_tells_the_rules(changes: Row, legend: str, tmp_path: Path) -> None:
    rules = with_fields("pagat", {f"match.{name}": value for name, value in changes.items()})
    run, _, _ = made_up_matches(tmp_path / "run", 2, rules=rules, seed=4)
    lines = sheet(run, 1).table(120).splitlines()
    assert any(legend in line for line in lines), lines


# -- any match -----------------------------------------------------------------------------------


def parsed_totals(text: str) -> list[list[int]]:
    """The players' totals of a printed sheet, line by line, without the marks."""
    lines = text.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    found = []
    for line in lines[rule + 1 :]:
        if not line:
            break
        behind = re.split(r"[✓✗c] (?:[+−]?\d+)", line, maxsplit=1)[1]
        found.append([int(n.replace("−", "-")) for n in re.findall(r"−?\d+", behind)])
    return found


@pytest.mark.parametrize("preset", [*preset_names(), "four"])
def test_sheets_say_what_the_rows_say(preset: str, tmp_path: Path) -> None:
    rules = four() if preset == "four" else load(preset)
    run, deals, matches = made_up_matches(tmp_path / "run", 6, rules=rules, start=2)
    players = range(1, run.players + 1)
    for match in matches:
        found = sheet(run, match["match"])
        rows = [row for row in deals if row["match"] == match["match"]]
        assert found.winner == (match["winner"] or None)
        assert found.totals == tuple(match[f"final_{p}"] for p in players)
        assert len(found.lines) == match["deals"]
        text = found.table(80)
        assert str(found) == text
        assert all(len(line) <= 80 for line in text.splitlines()), text
        assert parsed_totals(text) == [[row[f"total_{p}"] for p in players] for row in rows]
        for line, row in zip(found.lines, rows, strict=True):
            seats = {(row["dealer"] + seat) % run.players + 1: seat for seat in range(3)}
            assert seats[line.declarer] == row["declarer"]
            assert line.points == (None if row["conceded"] else row["declarer_points"])
            for player, entry in zip(players, line.entries, strict=True):
                assert entry.events == row[f"events_{player}"]
                assert entry.on_barrel == (row[f"barrel_{player}"] >= 0)
        document = json.loads(found.to_json())
        assert document["provenance"] == run.provenance()
        assert [deal["players"][0]["total"] for deal in document["deals"]] == [
            row["total_1"] for row in rows
        ]
        markdown = found.to_markdown().splitlines()
        assert sum(line.startswith("| ") for line in markdown) == len(rows) + 2
        frame = found.frame()
        assert frame["total_1"].to_list() == [row["total_1"] for row in rows]
        assert pl.read_parquet(io.BytesIO(found.render("parquet"))).equals(frame)
        assert found.render("csv").decode().count("\n") == len(rows) + 1


def test_legends_explain_the_marks_that_occur(tmp_path: Path) -> None:
    run, _, _ = made_up_matches(tmp_path / "run", 12, rules=four())
    for match in range(12):
        table, _, legend = sheet(run, match).table().partition("won after")
        if not legend:
            table, _, legend = sheet(run, match).table().partition("was stopped")
        body = table.split("---\n", 1)[1].split("\n\n")[0]
        explained = {
            line[0]
            for line in legend.splitlines()[1:]
            if line[:1].strip() and not line.startswith("dlr")
        }
        for mark in "✓✗cdg×^f•!trj★[‹":
            assert (mark in body) == (mark in explained), mark
        assert ("↻" in body) == ("↻" in legend)


@settings(max_examples=25)
@given(data=st.data())
def test_any_row_that_was_changed_is_found(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    preset = data.draw(st.sampled_from(["mil", "russian", "pagat"]))
    folder = tmp_path_factory.mktemp("run") / "run"
    run, deals, matches = made_up_matches(
        folder, 1, rules=preset, seed=data.draw(st.integers(1, 9))
    )
    place = data.draw(st.integers(0, len(deals) - 1))
    player = data.draw(st.integers(1, 3))
    change: Callable[[Row], Any] = data.draw(
        st.sampled_from([
            lambda row: row.__setitem__(f"total_{player}", row[f"total_{player}"] + 5),
            lambda row: row.__setitem__(f"events_{player}", row[f"events_{player}"] ^ 16),
            lambda row: row.__setitem__(f"barrel_{player}", row[f"barrel_{player}"] + 1),
            lambda row: row.__setitem__("number", row["number"] + 1),
            lambda row: row.__setitem__("contract", row["contract"] + 1),
        ])
    )  # fmt: skip
    changed = [dict(row) for row in deals]
    change(changed[place])
    with pytest.raises(VerificationError, match=f"match 0, deal {place + 1}") as caught:
        sheet_of_rows(changed, matches[0], run.rules, run.plan.policies, "")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 5


def test_rows_of_a_match_that_were_changed_are_found(tmp_path: Path) -> None:
    run, deals, matches = made_up_matches(tmp_path / "run", 1)
    arguments = (run.rules, run.plan.policies, "")
    for name, words in (
        ("winner", "winner is"),
        ("deals", "deals is"),
        ("final_2", "final score of player 2"),
    ):
        wrong = {**matches[0], name: matches[0][name] + 1}
        with pytest.raises(VerificationError, match=words):
            sheet_of_rows(deals, wrong, *arguments)
    short = {**matches[0], "deals": len(deals) - 1, "winner": 0}
    short |= {f"final_{p}": deals[-2][f"total_{p}"] for p in (1, 2, 3)}
    with pytest.raises(VerificationError, match="is not over"):
        sheet_of_rows(deals[:-1], short, *arguments)


# -- really played -------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", preset_names())
def test_matches_of_the_kernels_are_scored_as_the_rules_have_it(
    preset: str, tmp_path: Path
) -> None:
    run = milsim.play_matches(25, rules=preset, policy="greedy,greedy,random", out=tmp_path / "run")
    for match in range(25):
        found = sheet(run, match)
        assert isinstance(found, ScoreSheet)
        assert all(len(line) <= 80 for line in found.table().splitlines())
    assert sheet(run).match == 0
    again = played_sheet(MatchPlan.make(matches=1, start=7, rules=preset,
                                        policy="greedy,greedy,random"))  # fmt: skip
    assert again.lines == sheet(run, 7).lines
    with pytest.raises(UsageError, match="use 0–24"):
        sheet(run, 25)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def test_sheets_on_the_command_line(shell: Shell, tmp_path: Path) -> None:
    shown = shell("match", "--show", "--start", 4, "--policy", "greedy,random,greedy")
    assert shown.code == 0
    assert shown.out.startswith("Score sheet of match 4, to 1000 points")
    run = tmp_path / "run"
    shell("match", "-n", 6, "--policy", "greedy,random,greedy", "--out", run, "-q")
    stored = shell("report", "sheet", run, "--match", 4)
    assert parsed_totals(stored.out) == parsed_totals(shown.out)
    document = json.loads(shell("match", "--show", "--start", 4, "--json").out)
    assert document["match"] == 4
    assert json.loads(shell("report", "sheet", run, "--json").out)["match"] == 0
    markdown = shell("match", "--show", "--markdown").out
    assert markdown.startswith("## Score sheet of match 0")
    assert shell("report", "sheet", run, "-f", "md").out.startswith("## Score sheet")
    assert shell("report", "sheet", run, "-f", "csv").out.startswith("match,number,")
    for arguments, code, words in (
        (("report", "sheet", run, "--match", 9), 2, "use 0–5"),
        (("report", "sheet", run, "--match", "x"), 2, "match"),
        (("report", "match", run, "--match", 1), 2, "--match: is for sheet"),
        (("report", "sheet", tmp_path), 3, "no manifest.json"),
    ):
        outcome = shell(*arguments)
        assert outcome.code == code
        assert words in outcome.err
