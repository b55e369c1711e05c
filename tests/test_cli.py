"""The command line: answers, errors in one line, exit codes, and nothing lost or half written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from milsim.deals import Deal
from tests.command_line import PATIENCE, Shell, wait_for


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from milsim.api import simulate

    folder = tmp_path_factory.mktemp("runs") / "run"
    simulate(3000, mode="declarer", out=folder)
    return folder


def is_one_line_error(text: str) -> bool:
    lines = [line for line in text.splitlines() if not line.startswith("compiling")]
    return len(lines) == 1 and lines[0].startswith("milsim: ") and "Traceback" not in text


# -- start ---------------------------------------------------------------------------------------


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nsys.argv = ['milsim', '--help']\n"
        "from milsim.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numba', 'llvmlite', 'polars', 'matplotlib', 'numpy', 'rich'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "heavy: []" in printed
    assert "simulate" in printed


@pytest.mark.parametrize(
    "verb", ["simulate", "report", "chart", "deal", "rules", "bench", "doctor", "rules show"]
)
def test_each_verb_has_help(shell: Shell, verb: str) -> None:
    outcome = shell(*verb.split(), "--help")
    assert outcome.code == 0
    assert "Usage: milsim" in outcome.out
    assert all(len(line) <= 100 for line in outcome.out.splitlines())


def test_version(shell: Shell) -> None:
    assert shell("--version").out.startswith("milsim ")


# -- simulate ------------------------------------------------------------------------------------


def test_simulate_stores_what_it_says(shell: Shell, tmp_path: Path) -> None:
    outcome = shell("simulate", "--deals", "2k", "--out", tmp_path / "run")
    assert outcome.code == 0
    assert outcome.out.startswith("deals                  2,000")
    rows = pl.read_parquet(tmp_path / "run" / "parts" / "*.parquet")
    assert rows.height == 2000
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["plan"]["policies"] == ["greedy"] * 3


def test_json_is_the_only_output(shell: Shell, tmp_path: Path) -> None:
    outcome = shell("simulate", "--deals", 500, "--json", "--out", tmp_path / "run")
    assert json.loads(outcome.out)["deals"] == 500
    assert outcome.err == ""


def test_same_bytes_for_any_threads(shell: Shell, tmp_path: Path) -> None:
    for threads in (1, 2, 5):
        out = tmp_path / f"threads-{threads}"
        assert shell("simulate", "--deals", "50k", "--threads", threads, "--out", out).code == 0
    names = sorted(
        p.relative_to(tmp_path / "threads-1")
        for p in (tmp_path / "threads-1").rglob("*")
        if p.is_file()
    )
    assert len(names) == 4
    for name in names:
        first = (tmp_path / "threads-1" / name).read_bytes()
        assert (tmp_path / "threads-2" / name).read_bytes() == first
        assert (tmp_path / "threads-5" / name).read_bytes() == first


def test_where_constrains_forehand(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shell(
        "simulate",
        "--deals",
        300,
        "--mode",
        "declarer",
        "--where",
        "marriages=H aces>=2",
        "--out",
        out,
    )
    for number in pl.read_parquet(out / "parts" / "*.parquet")["deal"]:
        forehand = Deal.from_id(number).forehand
        assert forehand.marriages == (3,)
        assert sum(card % 6 == 5 for card in forehand) >= 2


BAD = {
    "negative deals": (["simulate", "--deals", "-5"], 2, "'-5' is out of range; use 1 to"),
    "too many deals": (["simulate", "--deals", "1e99"], 2, "1e99"),
    "nan deals": (["simulate", "--deals", "nan"], 2, "nan"),
    "half a deal": (["simulate", "--deals", "1.5"], 2, "1.5"),
    "no deals": (["simulate", "--deals", "0"], 2, "out of range"),
    "words for deals": (["simulate", "--deals", "many"], 2, "1e6"),
    "seed": (["simulate", "--seed", "-1"], 2, "seed"),
    "huge seed": (["simulate", "--seed", str(2**64)], 2, "2^64"),
    "threads": (["simulate", "--threads", "0"], 2, "threads"),
    "mode": (["simulate", "--mode", "auktion"], 2, "did you mean auction?"),
    "rules": (["simulate", "--rules", "mill"], 3, "did you mean mil?"),
    "rules file": (["simulate", "--rules", "no/such.toml"], 3, "no such file"),
    "policy": (["simulate", "--policy", "gredy"], 3, "did you mean greedy?"),
    "two policies": (["simulate", "--policy", "greedy,random"], 3, "three by seat"),
    "empty out": (["simulate", "--out", ""], 2, "no folder's name"),
    "huge exponent": (["simulate", "--deals", "1e400"], 2, "out of range"),
    "unknown option": (["simulate", "--dealz", "5"], 2, "--dealz"),
    "option without value": (["simulate", "--deals"], 2, "requires an argument"),
    "unknown verb": (["simulat"], 2, "simulat"),
    "missing argument": (["report", "bidding"], 2, "RUN"),
    "one argument too many": (["rules", "check", "mil", "mil"], 2, "mil"),
    "line end in a name": (["rules", "check", "a\nb.toml"], 3, "a\\nb.toml"),
    "escape in a name": (["report", "bidding", "\x1b[31m"], 3, "\\x1b[31m"),
    "device for rules": (["rules", "check", "/dev/zero"], 3, ""),
    "device file for rules": (["simulate", "--rules", "/dev/stdin"], 3, ""),
    "where": (["simulate", "--where", "acs>=2"], 3, "did you mean aces?"),
    "where without hands": (["simulate", "--where", "aces>=5"], 3, "aces"),
    "report name": (["report", "bidings", "x"], 2, "did you mean bidding?"),
    "no run": (["report", "bidding", "no-such-run"], 3, "no such folder"),
    "chart name": (["chart", "bid-strenth", "x"], 2, "did you mean bid-strength?"),
    "deal number": (["deal", "807723671040"], 3, "807723671039"),
    "deal text": (["deal", "AKQ.T9.J.A"], 3, ""),
    "count of deals": (["deal", "--count", "1e9"], 2, "1000000"),
    "solve nothing there": (["solve", "nofile.csv"], 3, "no such file"),
    "solve a folder": (["solve", "/tmp"], 3, "folder"),
    "solve garbage": (["solve", "x"], 3, "no deal"),
    "solve in strange letters": (["solve", "KQ... | .A.T. | .9.A.", "--letters", "x"], 3, "x"),
    "threshold": (["solve", "5", "--at-least", "-1"], 2, "use 0 to 10000"),
    "too many wishes": (["solve", "5", "--exchange", "--all-cards"], 2, "--exchange"),
    "hands overlap": (["solve", "KQ... | K.A.. | .9.A."], 3, "KS"),
    "no double-dummy values": (["simulate", "--dd", "gift"], 2, "did you mean gifts?"),
    "rules to show": (["rules", "show", "gamerule"], 3, "did you mean gamerules?"),
    "bench size": (["bench", "--deals", "10"], 2, "deals"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_writes_nothing(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    arguments, code, words = BAD[name]
    monkeypatch.chdir(tmp_path)
    outcome = shell(*arguments)
    assert outcome.code == code, outcome
    assert is_one_line_error(outcome.err), outcome.err
    assert words in outcome.err
    assert outcome.out == ""
    assert list(tmp_path.iterdir()) == []


def test_no_verb_shows_the_help(shell: Shell) -> None:
    for arguments in ([], ["rules"]):
        outcome = shell(*arguments)
        assert outcome.code == 0
        assert "Usage: milsim" in outcome.out


def test_folder_that_is_not_empty_is_left_alone(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    outcome = shell("simulate", "--deals", 10, "--out", tmp_path)
    assert outcome.code == 3
    assert "not empty" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_out_that_is_a_file(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("mine")
    outcome = shell("simulate", "--deals", 10, "--out", target)
    assert outcome.code == 3
    assert is_one_line_error(outcome.err)
    assert target.read_text() == "mine"


def test_out_that_cannot_be_written(shell: Shell) -> None:
    outcome = shell("simulate", "--deals", 10, "--out", "/proc/milsim-run")
    assert outcome.code == 3
    assert is_one_line_error(outcome.err)
    assert "/proc/milsim-run" in outcome.err


# -- reading runs --------------------------------------------------------------------------------


def test_reports_and_charts_of_a_run(shell: Shell, run_folder: Path, tmp_path: Path) -> None:
    table = shell("report", "bidding", run_folder)
    assert table.code == 0
    assert "rules mil" in table.out
    document = json.loads(shell("report", "marriages", run_folder, "--json").out)
    assert document
    assert shell("report", "bidding", run_folder, "-f", "csv", "-o", tmp_path / "b.csv").code == 0
    assert pl.read_csv(tmp_path / "b.csv", infer_schema_length=None).height > 10
    for suffix in ("png", "svg"):
        path = tmp_path / f"chart.{suffix}"
        assert shell("chart", "bid-strength", run_folder, "--out", path).code == 0
        assert path.stat().st_size > 5000


def test_unknown_format_and_suffix(shell: Shell, run_folder: Path, tmp_path: Path) -> None:
    outcome = shell("report", "bidding", run_folder, "--format", "xlsx")
    assert outcome.code == 2
    assert is_one_line_error(outcome.err)
    outcome = shell("chart", "bid-strength", run_folder, "--out", tmp_path / "chart.bmp")
    assert outcome.code in (2, 3)
    assert is_one_line_error(outcome.err)
    assert list(tmp_path.iterdir()) == []


# -- deals and rules -----------------------------------------------------------------------------


def test_deal_by_number_and_back(shell: Shell) -> None:
    shown = shell("deal", 688907321587)
    assert shown.out.splitlines()[0] == "forehand    ♠ A  ♥ A Q 9  ♦ A J  ♣ K"
    found = json.loads(shell("deal", 688907321587, "--json").out)
    assert found[0]["deal"] == 688907321587


def test_drawn_deals_are_those_of_the_api(shell: Shell) -> None:
    from milsim.dealing import sample_deals

    outcome = shell("deal", "--seed", 5, "--count", 4, "--numbers", "--where", "points<20")
    wanted = sample_deals(4, seed=5, where="points<20")
    assert [int(line) for line in outcome.out.split()] == wanted.tolist()


def test_rules_list_show_diff_check(shell: Shell, tmp_path: Path) -> None:
    listed = shell("rules", "list")
    assert next(iter(listed.out.split())) == "mil"
    mine = tmp_path / "mine.toml"
    mine.write_text(
        shell("rules", "show", "mil").out.replace("must_trump = true", "must_trump = false")
    )
    assert shell("rules", "check", mine).code == 0
    difference = shell("rules", "diff", "mil", mine)
    assert "play.must_trump" in difference.out
    mine.write_text("[play]\nmust_bet = 'no'")
    outcome = shell("rules", "check", mine)
    assert outcome.code == 3
    assert "did you mean must_beat?" in outcome.err
    assert is_one_line_error(outcome.err)


def test_doctor_finds_this_machine_sound(shell: Shell) -> None:
    outcome = shell("doctor")
    assert outcome.code == 0, outcome.out
    assert "FAULT" not in outcome.out


# -- interrupts and pipes ------------------------------------------------------------------------


def test_ctrl_c_saves_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "milsim", "simulate", "--deals", "1e9", "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        wait_for(job, lambda: any(out.glob("parts/*.parquet")))
        os.kill(job.pid, signal.SIGINT)
        _, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == 130
    assert "saved" in err
    from milsim.api import open_run

    run = open_run(out)
    assert not run.complete
    assert run.frame().select(pl.len()).collect().item() == run.deals > 0


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_stdout_that_cannot_be_written(run_folder: Path, redirection: str) -> None:
    command = f"{sys.executable} -m milsim report bidding {run_folder} -f csv {redirection}"
    outcome = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert outcome.returncode == 3
    assert is_one_line_error(outcome.stderr), outcome.stderr
    assert "stdout" in outcome.stderr


def test_closed_stderr_is_no_error(run_folder: Path) -> None:
    """Neither for what is done in steps, nor for a mistake."""
    arguments = f"report html {run_folder} -o {run_folder.parent / 'page.html'}"
    for words, code in ((arguments, 0), ("report nothing", 2)):
        command = f"{sys.executable} -m milsim {words} 2>&-"
        outcome = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
        assert (outcome.returncode, outcome.stdout) == (code, b"")


def test_a_full_stderr_is_no_error(run_folder: Path) -> None:
    for words, code in ((f"runs verify {run_folder} --sample 0", 0), ("report nothing", 2)):
        command = f"{sys.executable} -m milsim {words} 2>/dev/full"
        outcome = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
        assert outcome.returncode == code


PRESSED = """
import os, signal, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Watch())
from milsim.cli.entry import main
main()
"""


@pytest.mark.parametrize("module", ["milsim.cli.main", "typer", "polars", "numba.core"])
def test_ctrl_c_while_importing(tmp_path: Path, module: str) -> None:
    """From the first import of the command line on: one line, exit 130, nothing written."""
    code = PRESSED.replace("MODULE", repr(module))
    command = [sys.executable, "-c", code, "simulate", "--deals", "1e9"]
    command += ["--out", str(tmp_path / "run")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (130, ""), done
    assert is_one_line_error(done.stderr), done
    assert "interrupted" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kernels", [0, 1, pytest.param(3, marks=pytest.mark.slow)])
def test_ctrl_c_before_the_first_deal(tmp_path: Path, kernels: int) -> None:
    """In the middle of a first compile: one line, exit 130, nothing broken."""
    command = [sys.executable, "-m", "milsim", "simulate", "--deals", "1e9"]
    command += ["--out", str(tmp_path / "run")]
    cache = tmp_path / "kernels"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as job:
        # Its folder is made when the first kernel is wanted.
        wait_for(job, lambda: cache.is_dir() and len(list(cache.rglob("*.nbc"))) >= kernels)
        os.kill(job.pid, signal.SIGINT)
        out, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == 130, err
    assert is_one_line_error(err), err
    assert "interrupted" in err
    assert out == "" or "saved" in err


def test_closed_pipe_is_no_error(run_folder: Path) -> None:
    command = f"{sys.executable} -m milsim report bidding {run_folder} -f json | head -1; "
    command += "exit ${PIPESTATUS[0]}"
    outcome = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""


# -- many deals ----------------------------------------------------------------------------------


def many(lines: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "milsim", "solve", "-", *options]
    return subprocess.run(command, input=lines, capture_output=True, check=False)


def test_wrong_lines_are_numbered_and_skipped() -> None:
    long = b"5," + b"a" * 200_000
    outcome = many(b"deal,note\n688907321587,a\n" + long + b"\nx,b\n5,\xe9\n\n7,c\n")
    assert outcome.returncode == 0
    rows = [line.split(",") for line in outcome.stdout.decode().splitlines()]
    assert [row[0] for row in rows] == ["line", "2", "5", "7"]
    assert rows[1][1] == "85"
    words = outcome.stderr.decode()
    assert "letters: too long for a deal or position" in words.splitlines()[0]
    assert words.startswith("line 3: more than ")
    assert "line 4: deal must be a whole number" in words
    assert "2 lines skipped" in words


def test_nothing_solved_is_bad_input() -> None:
    outcome = many(b"1,2,3\n4,5,6\n")
    assert outcome.returncode == 3
    assert b"the first line must name the columns" in outcome.stderr
    assert many(b"deal,deal\n5,5\n").returncode == 3
    assert many(b"5\nx\n", "--strict").returncode == 3


def test_a_pipe_is_a_file_and_letters_are_for_positions_too() -> None:
    command = f"{sys.executable} -m milsim solve <(printf '5\\n6\\n')"
    outcome = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert len(outcome.stdout.splitlines()) == 3
    assert many(b"KD... | .A.T. | .9.A.\n", "--letters", "polish").stdout.splitlines()[1] == (
        b"1,79,,,"
    )
