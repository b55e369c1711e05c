"""Run folders of matches, and the verb that makes them: written whole, refused when torn."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import milsim
from milsim.errors import ExitCode, RunError, UsageError
from milsim.reports.match_summary import match_summary
from milsim.simulation.match_plan import MatchPlan
from milsim.store import match_collect, writing
from milsim.store.manifest import read_manifest
from milsim.store.match_run import MatchRun, open_any
from milsim.store.match_schema import deal_notes, deal_schema, match_notes, match_schema
from milsim.store.run import Run
from milsim.store.writing import Progress
from tests.command_line import PATIENCE, Shell, wait_for
from tests.folders import bytes_of
from tests.made_up_runs import made_up_run

MATCHES = 300
FOUR = 'based_on = "mil"\nname = "four"\n[deal]\nplayers = 4\n[match]\nsitter = "talon_points"'


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "stored"
    milsim.play_matches(MATCHES, seed=9, start=7, out=folder)
    return folder


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored, tmp_path / "copy"))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


# -- what is stored ------------------------------------------------------------------------------


def test_a_run_reads_back_as_it_was_planned(stored: Path) -> None:
    run = milsim.open_matches(stored)
    assert run.complete
    assert run.played == MATCHES
    assert run.plan == MatchPlan.make(matches=MATCHES, seed=9, start=7)
    assert (stored / "plan.toml").read_text() == run.plan.to_toml()
    deals, matches = run.deals().collect(), run.matches().collect()
    assert (deals.schema, matches.schema) == (deal_schema(3), match_schema(3))
    assert deals.null_count().sum_horizontal().item() == 0
    assert sorted(matches["match"]) == list(range(7, 7 + MATCHES))
    assert isinstance(open_any(stored), MatchRun)
    assert "300 matches" in repr(run)
    assert "300 matches" in run._repr_html_()
    assert "seed 9, matches 7–306" in run.provenance()


def test_every_column_says_what_it_means() -> None:
    for players in (3, 4):
        for notes in (deal_notes(players), match_notes(players)):
            assert len({note.name for note in notes}) == len(notes)
            assert all(len(note.meaning) > 10 for note in notes)
    assert set(deal_schema(4)) - set(deal_schema(3)) == {
        "score_sitter", "total_4", "events_4", "barrel_4"
    }  # fmt: skip


@pytest.mark.parametrize("players", [3, 4])
def test_rows_of_matches_follow_from_rows_of_deals(
    stored: Path, tmp_path: Path, players: int
) -> None:
    run = milsim.open_matches(stored)
    if players == 4:
        rules = milsim.rules.parse(FOUR)
        run = milsim.play_matches(60, rules=rules, policy="greedy", out=tmp_path / "four")
    deals = run.deals().collect().sort("match", "number")
    for match in run.matches().collect().iter_rows(named=True):
        rows = deals.filter(match=match["match"]).to_dicts()
        assert [row["number"] for row in rows] == list(range(1, match["deals"] + 1))
        assert [row["index"] for row in rows] == [
            match["match"] * 100_000 + place for place in range(match["deals"])
        ]
        assert match["first_dealer"] == (match["match"] - 1) % players + 1
        for player in range(1, players + 1):
            assert match[f"final_{player}"] == rows[-1][f"total_{player}"]
        winner = match["winner"]
        if winner:
            assert match[f"final_{winner}"] >= run.rules.match.target
        assert match["redeals"] == sum(row["redeals"] for row in rows)
        assert match["concessions"] == sum(row["conceded"] for row in rows)


def test_parts_end_at_fixed_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_collect, "PART_MATCHES", 512)
    run = milsim.play_matches(700, start=400, out=tmp_path / "run")
    spans = [(part.start, part.rows) for part in run.manifest.matches]
    assert spans == [(400, 112), (512, 512), (1024, 76)]
    assert [part.start for part in run.manifest.parts] == [400, 512, 1024]
    opened = milsim.open_matches(tmp_path / "run")
    for deals, matches in opened.by_part():
        assert set(deals.collect()["match"]) == set(matches.collect()["match"])
    rows, row = opened.match(1024)
    assert rows.height == row["deals"].item()


def test_same_bytes_for_any_threads(tmp_path: Path) -> None:
    for threads in (1, 3):
        milsim.play_matches(1200, threads=threads, out=tmp_path / str(threads), rules="russian")
    names = sorted(p.relative_to(tmp_path / "1") for p in (tmp_path / "1").rglob("*.*"))
    assert [str(name) for name in names] == [
        "manifest.json", "matches/part-000000000000.parquet", "parts/part-000000000000.json",
        "parts/part-000000000000.parquet", "plan.toml",
    ]  # fmt: skip
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()


def test_progress_ends_at_the_plan(tmp_path: Path) -> None:
    seen: list[Progress] = []
    milsim.play_matches(1100, out=tmp_path / "run", progress=seen.append)
    assert [step.done for step in seen] == [512, 1024, 1100]
    assert all(step.total == 1100 for step in seen)


def test_summary_of_a_run(stored: Path) -> None:
    run = milsim.open_matches(stored)
    matches, deals = run.matches().collect(), run.deals().collect()
    outcome = match_summary(stored)
    assert outcome.matches == MATCHES
    assert outcome.deals == deals.height
    assert outcome.length.value == matches["deals"].mean()
    assert outcome.made.value == pytest.approx(deals["made"].mean())
    assert outcome.bid.value == pytest.approx(deals["bid"].mean())
    for player in (1, 2, 3):
        assert outcome.won[player - 1].value == (matches["winner"] == player).mean()
    assert json.loads(json.dumps(outcome.to_dict()))["matches"] == MATCHES


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parts", "matches"])
@pytest.mark.parametrize("fault", ["truncated", "empty", "deleted", "foreign", "flipped"])
def test_parts_that_are_not_what_was_written(folder: Path, kind: str, fault: str) -> None:
    part = next((folder / kind).glob("*.parquet"))
    words = {
        "truncated": "torn or changed",
        "empty": "empty",
        "deleted": "missing",
        "foreign": "is none of its parts",
        "flipped": "differs from its digest",
    }[fault]
    content = part.read_bytes()
    if fault == "truncated":
        part.write_bytes(content[:-10])
    elif fault == "empty":
        part.write_bytes(b"")
    elif fault == "deleted":
        part.unlink()
    elif fault == "foreign":
        shutil.copy(part, part.with_name("part-9.parquet"))
    else:
        part.write_bytes(content[:99] + bytes([content[99] ^ 1]) + content[100:])
    with pytest.raises(RunError, match=words) as caught:
        milsim.open_matches(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_manifests_that_are_not_what_was_written(folder: Path) -> None:
    path = folder / "manifest.json"
    good = json.loads(path.read_text())
    changes = {
        "newer than this milsim reads": ("schema", 99),
        "older than this milsim reads": ("schema", 1),
        "not that of a milsim run": ("kind", "milsim"),
        "no entry 'policies'": ("plan", {"matches": 5, "seed": 1, "start": 0}),
        "was edited": ("more", 5),
        "malformed": ("versions", [5]),
        "no entry 'deals'": ("kind", "milsim run"),
    }
    for words, (key, value) in changes.items():
        path.write_text(json.dumps({**good, key: value}, indent=1, ensure_ascii=False) + "\n")
        with pytest.raises(RunError, match=words) as caught:
            milsim.open_matches(folder)
        assert "\n" not in str(caught.value)


def test_a_run_killed_while_writing_reads_as_far_as_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_collect, "PART_MATCHES", 512)
    milsim.play_matches(1536, out=tmp_path / "whole")
    for written in (0, 1, 2, 3, 4, 5):
        out = tmp_path / str(written)
        left = written

        def write(
            path: Path, content: bytes, mark: str = "", real: object = writing.write_atomically
        ) -> None:
            nonlocal left
            if left == 0 and path.suffix == ".parquet":
                raise SystemExit("killed")
            left -= path.suffix == ".parquet"
            real(path, content, mark)  # type: ignore[operator]

        with monkeypatch.context() as patch:
            patch.setattr(writing, "write_atomically", write)
            with pytest.raises(SystemExit):
                milsim.play_matches(1536, out=out)
        run = milsim.open_matches(out)
        assert run.played == 512 * (written // 2)
        assert not run.complete
        assert run.matches().select(pl.len()).collect().item() == run.played
        # The same command goes on, to the same bytes.
        milsim.play_matches(1536, out=out)
        assert bytes_of(out) == bytes_of(tmp_path / "whole")


def test_a_killed_run_of_deals_reads_too(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path / "run", 600, planned=900)
    run.manifest.write(run.folder)
    (run.folder / "parts" / "part-000000000300.json").unlink()
    opened = milsim.open_run(run.folder)
    assert opened.deals == 300


def test_kinds_of_runs_are_not_mixed_up(stored: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds matches, not single deals"):
        milsim.open_run(stored)
    run, _ = made_up_run(tmp_path / "deals", 5)
    run.manifest.write(run.folder)
    assert isinstance(open_any(run.folder), Run)
    with pytest.raises(RunError, match="holds single deals, not matches"):
        milsim.open_matches(run.folder)
    with pytest.raises(UsageError, match="use 7–306"):
        milsim.open_matches(stored).match(5)
    assert read_manifest(stored).complete


# -- milsim match --------------------------------------------------------------------------------


BAD = {
    "no matches": (["--matches", "0"], 2, "out of range"),
    "too many": (["--matches", "1e99"], 2, "1e99"),
    "no number": (["--matches", "nan"], 2, "nan"),
    "half a match": (["--matches", "0.5"], 2, "0.5"),
    "start": (["--start", "-1"], 2, "start"),
    "seed": (["--seed", "x"], 2, "seed"),
    "threads": (["--threads", "0"], 2, "threads"),
    "policy": (["--policy", "gredy"], 3, "did you mean greedy?"),
    "two policies": (["--policy", "greedy,random"], 3, "one name or three by player"),
    "four of three": (["--policy", "greedy,random,greedy,random"], 3, "three by player"),
    "three of four": (
        ["--set", "deal.players=4", "--policy", "greedy,random,greedy"], 3, "four by player"
    ),
    "rules": (["--rules", "mill"], 3, "did you mean mil?"),
    "empty out": (["--out", ""], 2, "no folder's name"),
    "markdown of a run": (["--markdown"], 2, "--show"),
    "both formats": (["--show", "--markdown", "--json"], 2, "one of them"),
    "many shown": (["--show", "--matches", "5"], 2, "one match"),
    "shown and stored": (["--show", "--out", "x"], 2, "stores nothing"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_writes_nothing(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    arguments, code, words = BAD[name]
    monkeypatch.chdir(tmp_path)
    outcome = shell("match", *arguments)
    assert outcome.code == code, outcome
    lines = [line for line in outcome.err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert lines[0].startswith("milsim: ")
    assert words in lines[0]
    assert outcome.out == ""
    assert list(tmp_path.iterdir()) == []


def test_match_stores_what_it_says(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = shell("match", "-n", "40", "--policy", "greedy,random,random", "--quiet")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out.startswith("matches                40   (sampled")
    assert "1 greedy" in outcome.out
    found = next((tmp_path / "out").iterdir())
    assert found.name.startswith("mil-match-40-greedy-random-random-")
    report = shell("report", "match", found)
    assert report.code == 0
    assert milsim.open_matches(found).provenance() in " ".join(report.out.split())
    document = json.loads(shell("report", "auction", found, "--json").out)
    assert document["provenance"] == milsim.open_matches(found).provenance()
    for name, words in (("bidding", "holds matches"), ("nonsense", "unknown report")):
        outcome = shell("report", name, found)
        assert outcome.code in (2, 3)
        assert words in outcome.err
    outcome = shell("report", "match", found, "--model", "double-dummy")
    assert (outcome.code, "no model double-dummy" in outcome.err) == (3, True)
    target = found / "matches" / "part-000000000000.parquet"
    outcome = shell("report", "match", found, "-o", target)
    assert (outcome.code, "belongs to the run" in outcome.err) == (3, True)


def test_json_is_the_only_output(shell: Shell, tmp_path: Path) -> None:
    outcome = shell("match", "-n", 30, "--json", "--out", tmp_path / "run", "--start", "5")
    assert outcome.err == ""
    document = json.loads(outcome.out)
    assert document["matches"] == 30
    assert "matches 5–34" in document["provenance"]
    assert sum(row["value"] for row in document["won_by_player"]) == pytest.approx(1)


def test_match_that_ends_at_max_deals(shell: Shell, tmp_path: Path) -> None:
    outcome = shell(
        "match", "-n", 20, "--policy", "random", "--set", "match.max_deals=5", "--out",
        tmp_path / "run",
    )  # fmt: skip
    assert "stopped after 5 deals" in outcome.out
    assert "20 of 20 matches were stopped after 5 deals" in (
        shell("report", "match", tmp_path / "run").out
    )


def test_a_closed_pipe_is_no_error(stored: Path) -> None:
    for command in (
        f"report match {stored} -f csv",
        f"report sheet {stored}",
        "match --show",
    ):
        line = f"{sys.executable} -m milsim {command} | head -1; exit ${{PIPESTATUS[0]}}"
        outcome = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr
        assert outcome.stderr == ""


def test_ctrl_c_saves_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "milsim", "match", "--matches", "1e8", "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        wait_for(job, lambda: any(out.glob("matches/*.parquet")))
        os.kill(job.pid, signal.SIGINT)
        _, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == ExitCode.INTERRUPTED
    assert "they are saved in" in err
    run = milsim.open_matches(out)
    assert not run.complete
    assert run.matches().select(pl.len()).collect().item() == run.played > 0
