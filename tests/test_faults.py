"""Runs that are killed, run out of room, meet each other or bad policies: nothing is lost or wrong.

Real processes get real signals and real file systems that are full or read-only. Whatever happens,
the same command then ends in the bytes of an undisturbed run. docs/reliability.md lists all faults.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import milsim
from milsim.errors import ExitCode, RunError
from milsim.store.match_run import MatchRun
from milsim.store.verifying import verify_run
from milsim.tables.folder import Table
from tests.faulty_policies import PARTS_BEFORE_DEATH, POLICIES
from tests.folders import bytes_of
from tests.forked_commands import Commands, Done, Job

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

SMALL = {
    "milsim.store.collect:PART_DEALS": 256,
    "milsim.store.collect:PART_DRIVEN": 8,
    "milsim.store.match_collect:PART_MATCHES": 16,
    "milsim.tables.folder:PART_HANDS": 2,
    "milsim.tables.building:CHUNK_HANDS": 1,
}
"""Parts of some hundredths of a second: many of them, so that a kill meets every moment."""

KINDS = {
    "deals": ["simulate", "--deals", "24000", "--seed", "5", "--start", "100"],
    "matches": ["match", "--matches", "600", "--seed", "5"],
    "table": ["table", "build", "--hands", "1000:1120"],
}
TOTALS = {"deals": 24_000, "matches": 600, "table": 120}


@pytest.fixture(autouse=True)
def small_parts_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which hands a part of a table holds, this process asks, too, as it reads one."""
    monkeypatch.setattr("milsim.tables.folder.PART_HANDS", SMALL["milsim.tables.folder:PART_HANDS"])


@pytest.fixture(scope="module")
def milsim_command() -> Iterator[Commands]:
    with Commands() as commands:
        yield commands


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: its files, and how long it took."""

    files: dict[str, bytes]
    seconds: float


@pytest.fixture(scope="module")
def whole(milsim_command: Commands, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    found = {}
    for kind, argv in KINDS.items():
        folder = tmp_path_factory.mktemp("whole") / kind
        done = milsim_command(*argv, "--quiet", "--threads", 1, "--out", folder, set=SMALL)
        assert done.code == 0, done
        found[kind] = Whole(bytes_of(folder), done.seconds)
        assert len(found[kind].files) > 50
    return found


def stored(folder: Path, kind: str) -> int:
    """How much a folder holds, read as a user would; it must read, whatever happened to it."""
    if not (folder / "manifest.json").exists():
        return 0
    if kind == "table":
        table = Table.open(folder)
        assert table.frame().height == table.rows
        assert table.verify() == len(table.parts)
        return table.rows
    found = verify_run(folder, sample=0)
    # A part whose file beside it was not written yet is swept by whoever goes on.
    assert {fault.kind for fault in found.faults} <= {"unfinished"}
    if kind == "matches":
        return MatchRun.open(folder).played
    return milsim.open_run(folder).deals


def one_line(done: Done, code: int, words: str) -> None:
    """It failed as it should: an exit code, one line, no traceback."""
    assert done.code == code, done
    last = done.err.strip().splitlines()[-1]
    assert last.startswith("milsim: "), done
    assert words in last, done
    assert "Traceback" not in done.err


# -- SIGKILL -------------------------------------------------------------------------------------


def killed(
    command: Commands,
    kind: str,
    folder: Path,
    undisturbed: Whole,
    kills: int,
    *more: str,
    in_a_row: bool = False,
) -> None:
    """Kill a run at random moments, so many times; then complete it.

    A run that has all before its last kill begins anew: how late a kill comes, the machine says.
    Only ``in_a_row`` all kills are one run's.
    """
    argv = [*KINDS[kind], "--quiet", "--out", str(folder), *more]
    draw = random.Random(f"{kind}/{kills}")
    longest = undisturbed.seconds / 4
    left, before, locks = kills, 0, 0
    while left:
        done = command(*argv, set=SMALL, signals=[(draw.uniform(0, longest), signal.SIGKILL)])
        now = stored(folder, kind)
        assert now >= before
        if not done.signal or now == TOTALS[kind]:
            if not done.signal:
                assert bytes_of(folder) == undisturbed.files
            shutil.rmtree(folder)
            left = kills if in_a_row else left
            before, longest = 0, longest / 2
            continue
        assert done.signal == signal.SIGKILL
        # Long enough for parts between most kills, short enough for all kills before the end.
        far = now > before + (TOTALS[kind] - now) / (2 * left)
        longest *= 0.6 if far else 1.1 if now else 1.3
        left, before = left - 1, now
        locks += (folder / ".lock").exists()
    assert before < TOTALS[kind]
    assert before or not in_a_row
    if kills >= 30:  # of a few kills all may come before the folder is held
        # Whether one came in the middle of a file is chance; tests.test_write_faults leaves none.
        assert locks
    done = command(*argv, set=SMALL)
    assert done.code == 0, done
    assert bytes_of(folder) == undisturbed.files


def test_thirty_kills_in_a_row(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    killed(
        milsim_command,
        "deals",
        tmp_path / "run",
        whole["deals"],
        30,
        "--threads",
        "1",
        in_a_row=True,
    )


@pytest.mark.parametrize("kind", ["matches", "table"])
def test_some_kills_of_other_runs(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path, kind: str
) -> None:
    killed(milsim_command, kind, tmp_path / "run", whole[kind], 6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_kills_in_a_row(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path, kind: str
) -> None:
    killed(milsim_command, kind, tmp_path / "run", whole[kind], 40)


@pytest.mark.slow
def test_kills_of_real_command_lines(tmp_path: Path) -> None:
    """Nothing small, nothing warm: `python -m milsim` from its first import on."""
    argv = [sys.executable, "-m", "milsim", "simulate", "--deals", "3000000", "--quiet", "--out"]
    subprocess.run([*argv, str(tmp_path / "whole")], check=True, stdout=subprocess.DEVNULL)
    draw = random.Random(1)
    kills = 0
    for _ in range(5):
        process = subprocess.Popen([*argv, str(tmp_path / "run")], stdout=subprocess.DEVNULL)
        try:
            process.wait(draw.uniform(0.5, 4))
        except subprocess.TimeoutExpired:
            process.kill()
            kills += process.wait() == -signal.SIGKILL
    assert kills
    subprocess.run([*argv, str(tmp_path / "run")], check=True, stdout=subprocess.DEVNULL)
    assert bytes_of(tmp_path / "run") == bytes_of(tmp_path / "whole")


# -- disks ---------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own in a folder; skipped where this process may not mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if shutil.which("mount") is None:
        pytest.skip("there is no mount")
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path, kind: str
) -> None:
    blocks = sum(-(-len(content) // 4096) for content in whole[kind].files.values())
    with small_disk(tmp_path / "disk", f"{blocks * 2}k") as disk:  # half of what it needs
        argv = [*KINDS[kind], "--quiet", "--threads", "1", "--out", str(disk / "run")]
        done = milsim_command(*argv, set=SMALL)
        one_line(done, ExitCode.BAD_INPUT, "cannot write, no space left on device; make room")
        held = stored(disk / "run", kind)
        assert held
        # Nothing but whole parts is left to take up room.
        assert not [path for path in (disk / "run").rglob(".*") if path.name != ".lock"]
        one_line(milsim_command(*argv, set=SMALL), ExitCode.BAD_INPUT, "no space left on device")
        assert stored(disk / "run", kind) >= held
        remount(disk, "size=64m")
        assert milsim_command(*argv, set=SMALL).code == 0
        assert bytes_of(disk / "run") == whole[kind].files


@pytest.mark.parametrize("kind", KINDS)
def test_a_read_only_disk(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path, kind: str
) -> None:
    with small_disk(tmp_path / "disk", "64m") as disk:
        argv = [*KINDS[kind], "--quiet", "--out", str(disk / "run")]
        remount(disk, "ro")
        one_line(milsim_command(*argv, set=SMALL), ExitCode.BAD_INPUT, "read-only file system")
        assert not (disk / "run").exists()
        remount(disk, "rw")
        assert milsim_command(*argv, set=SMALL).code == 0
        min((disk / "run" / "parts").glob("*.json")).unlink()
        held = stored(disk / "run", kind)
        assert held < TOTALS[kind]
        remount(disk, "ro")
        one_line(milsim_command(*argv, set=SMALL), ExitCode.BAD_INPUT, "read-only file system")
        assert stored(disk / "run", kind) == held  # reading needs no writing
        remount(disk, "rw")
        assert milsim_command(*argv, set=SMALL).code == 0
        remount(disk, "ro")
        done = milsim_command(*argv, set=SMALL)  # a complete run is only read
        assert done.code == 0, done
        assert bytes_of(disk / "run") == whole[kind].files


@pytest.mark.skipif(sys.platform != "linux", reason="takes the rights of root by capabilities")
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_may_not_be_written(
    milsim_command: Commands, tmp_path: Path, kind: str
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    for out in (closed, closed / "run"):
        done = milsim_command(
            *KINDS[kind],
            *("--quiet", "--threads", 1, "--out", out),
            set=SMALL,
            prepare="tests.faulty_policies:be_like_any_user",
        )
        one_line(done, ExitCode.BAD_INPUT, f"out {out}: cannot write, permission denied; ")
        assert done.err.count("\n") == 1
        assert not list(closed.iterdir())


# -- several processes ---------------------------------------------------------------------------


def test_two_processes_on_one_folder(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    argv = [*KINDS["deals"], "--quiet", "--threads", "1", "--out", str(tmp_path / "run")]
    first, second = milsim_command.together(
        Job(argv, set=SMALL, prepare="tests.faulty_policies:register_them"),
        Job(argv, set=SMALL, delay=0.6),
    )
    for done, other in ((first, second), (second, first)):
        if done.code:
            words = f"another process writes into it (process {other.pid} on "
            one_line(done, ExitCode.BAD_INPUT, words)
    assert 0 in (first.code, second.code)
    assert bytes_of(tmp_path / "run") == whole["deals"].files


def test_a_lock_of_a_killed_process_is_no_lock(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    argv = [*KINDS["deals"], "--quiet", "--threads", "1", "--out", str(folder)]
    done = milsim_command(*argv, set=SMALL, prepare="tests.faulty_policies:die_in_the_middle")
    assert done.signal == signal.SIGKILL
    assert str(done.pid) in (folder / ".lock").read_text()
    assert len(list((folder / "parts").glob("*.json"))) == PARTS_BEFORE_DEATH
    assert milsim_command(*argv, set=SMALL).code == 0
    assert bytes_of(folder) == whole["deals"].files


@pytest.mark.parametrize("kind", KINDS)
def test_shards_at_once_in_one_folder(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path, kind: str
) -> None:
    argv = [*KINDS[kind], "--quiet", "--threads", "1", "--out", str(tmp_path / "run")]
    jobs = [
        Job(
            [*argv, "--shard", f"{k}/3"],
            set=SMALL,
            prepare="tests.faulty_policies:die_in_the_middle" if k == 2 else "",
        )
        for k in (1, 2, 3)
    ]
    first = milsim_command.together(*jobs)
    assert [done.code for done in first][::2] == [0, 0], first
    assert first[1].signal == signal.SIGKILL
    second = milsim_command(*argv, "--shard", "2/3", set=SMALL)
    assert second.code == 0, second
    # A shard that was killed may leave a hidden file that only the whole run sweeps.
    assert milsim_command(*argv, set=SMALL).code == 0
    assert bytes_of(tmp_path / "run") == whole[kind].files


# -- people --------------------------------------------------------------------------------------


def test_ctrl_c(milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path) -> None:
    argv = [*KINDS["deals"], "--quiet", "--threads", "1", "--out", str(tmp_path / "run")]
    done = milsim_command(*argv, set=SMALL, prepare="tests.faulty_policies:press_ctrl_c")
    one_line(done, ExitCode.INTERRUPTED, "interrupted after ")
    # What was under way as it came, deals 512 to 767, is finished and kept.
    assert 768 - 100 <= stored(tmp_path / "run", "deals") < TOTALS["deals"]
    assert milsim_command(*argv, set=SMALL).code == 0
    assert bytes_of(tmp_path / "run") == whole["deals"].files


def test_ctrl_c_twice_stops_what_never_ends(milsim_command: Commands, tmp_path: Path) -> None:
    """The first waits for what is under way, which a policy in an endless loop never lets end."""
    argv = ["simulate", "--deals", "200", "--policy", "endless", "--out", str(tmp_path / "run")]
    done = milsim_command(
        *argv,
        set=SMALL,
        prepare="tests.faulty_policies:press_ctrl_c_twice",
        signals=[(600.0, signal.SIGKILL)],  # rather than hang
    )
    one_line(done, ExitCode.INTERRUPTED, "interrupted")
    stored(tmp_path / "run", "deals")


def test_nobody_reads_stdout(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    done = milsim_command(
        *KINDS["deals"], "--out", tmp_path / "run", set=SMALL, stdout="closed pipe"
    )
    assert done.code == 0, done
    assert "Error" not in done.err
    assert bytes_of(tmp_path / "run") == whole["deals"].files


def test_a_clock_that_goes_backwards(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    """By the clock of the wall the time would never be up."""
    argv = [*KINDS["deals"], "--quiet", "--threads", "1", "--out", str(tmp_path / "run")]
    done = milsim_command(
        *argv,
        *("--max-seconds", 0.1),
        set=SMALL,
        prepare="tests.faulty_policies:turn_the_clock_back",
    )
    one_line(done, ExitCode.STOPPED_EARLY, "time was up after ")
    assert stored(tmp_path / "run", "deals") < TOTALS["deals"]
    done = milsim_command(*argv, set=SMALL, prepare="tests.faulty_policies:turn_the_clock_back")
    assert done.code == 0, done
    assert bytes_of(tmp_path / "run") == whole["deals"].files


def test_a_clock_that_leaps_ahead(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    """By the clock of the wall the time would be up at once."""
    done = milsim_command(
        *KINDS["deals"],
        *("--max-seconds", 600, "--out", tmp_path / "run"),
        set=SMALL,
        prepare="tests.faulty_policies:let_the_clock_leap",
    )
    assert done.code == 0, done
    assert bytes_of(tmp_path / "run") == whole["deals"].files


# -- code ----------------------------------------------------------------------------------------


def test_a_kernel_that_raises(
    milsim_command: Commands, whole: dict[str, Whole], tmp_path: Path
) -> None:
    argv = [*KINDS["deals"], "--out", str(tmp_path / "run")]
    done = milsim_command(*argv, set=SMALL, prepare="tests.faulty_policies:break_a_range")
    words = "could not play 512–767: FloatingPointError: in a kernel; 23,744 deals; they are saved"
    one_line(done, ExitCode.STOPPED_EARLY, words)
    assert "23,744" in done.out
    assert stored(tmp_path / "run", "deals") == 24_000 - 256
    assert milsim_command(*argv, set=SMALL).code == 0
    assert bytes_of(tmp_path / "run") == whole["deals"].files


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "endless"])
def test_a_bad_policy(milsim_command: Commands, tmp_path: Path, name: str) -> None:
    argv = ["simulate", "--deals", "200", "--threads", "1", "--quiet", "--policy", name]
    done = milsim_command(
        *argv,
        *("--out", tmp_path / "run"),
        set=SMALL,
        prepare="tests.faulty_policies:register_them",
    )
    one_line(done, ExitCode.BAD_INPUT, f"policy {name}: ")
    held = milsim.open_run(tmp_path / "run")
    assert 0 < held.deals < 200  # what was finished is kept
    assert held.deals % 8 == 0


def test_a_folder_that_is_none(milsim_command: Commands, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for argv in KINDS.values():
        for wrong in (tmp_path / "file", tmp_path / "file" / "run", "/dev/null", "/proc/run"):
            done = milsim_command(*argv, "--out", wrong)
            one_line(done, ExitCode.BAD_INPUT, f"out {wrong}: ")
    with pytest.raises(RunError):
        milsim.open_run(tmp_path / "file")
