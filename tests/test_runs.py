"""Runs that go on, in shards, merged, compacted, verified: the same bytes whatever happened."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import milsim
from milsim.errors import ExitCode, RunError, StoppedEarlyError, UsageError
from milsim.rules import load
from milsim.simulation.plan import Plan
from milsim.store import collect as collecting
from milsim.store.collect import DealMaking, collect
from milsim.store.engines import Failure, Threads
from milsim.store.listing import found_runs
from milsim.store.lock import locked
from milsim.store.manifest import read_manifest
from milsim.store.match_collect import collect_matches
from milsim.store.merging import compact_run, merge_runs
from milsim.store.pieces import Piece, gaps
from milsim.store.verifying import verify_run
from milsim.store.writing import Collecting, Ended, part_spans
from tests.clocks import set_clock
from tests.command_line import Shell
from tests.folders import bytes_of

DEALS, PART = 2_300, 256
PLAN = Plan.make(deals=DEALS, seed=5, start=100)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", PART)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "PART_DEALS", PART)
        collect(PLAN, folder)
    return folder


@pytest.fixture
def folder(undisturbed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(undisturbed, tmp_path / "copy"))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def part(folder: Path, place: int, suffix: str = ".parquet") -> Path:
    return sorted((folder / "parts").glob(f"*{suffix}"))[place]


# -- going on ------------------------------------------------------------------------------------


def test_a_second_run_changes_no_byte(folder: Path, undisturbed: Path) -> None:
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    again = collect(PLAN, folder)
    assert again.ended == Ended.COMPLETE
    assert again.run.complete
    assert bytes_of(folder) == bytes_of(undisturbed)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times


def truncate(folder: Path) -> None:
    path = part(folder, 3)
    path.write_bytes(path.read_bytes()[:-7])


def flip(folder: Path) -> None:
    path = part(folder, 3)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def swap(folder: Path) -> None:
    one, other = part(folder, 2), part(folder, 3)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def foreign_pair(folder: Path) -> None:
    """A part of another run, with what stands beside it."""
    other = folder.parent / "other"
    collect(Plan.make(deals=DEALS, seed=6, start=100), other)
    for suffix in (".parquet", ".json"):
        shutil.copy(part(other, 3, suffix), part(folder, 3, suffix))


def twice(folder: Path) -> None:
    """One part as another: its file, and what stands beside it, with the name made to fit."""
    piece = Piece.read(part(folder, 2, ".json"))
    shutil.copy(part(folder, 2), part(folder, 3))
    text = piece.to_json().replace(f"{piece.start:012d}", f"{piece.end:012d}")
    part(folder, 3, ".json").write_text(text.replace(f": {piece.start},", f": {piece.end},"))


DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (truncate, "torn"),
    "empty": (lambda folder: part(folder, 3).write_bytes(b""), "empty"),
    "zeroed": (lambda f: part(f, 3).write_bytes(bytes(part(f, 3).stat().st_size)), "changed"),
    "a bit flipped": (flip, "changed"),
    "deleted": (lambda folder: part(folder, 3).unlink(), "missing"),
    "swapped": (swap, "torn|changed"),
    "of another run": (foreign_pair, "foreign"),
    "twice": (twice, "changed|duplicated"),
    "torn beside": (lambda folder: part(folder, 3, ".json").write_text('{"plan"'), "torn"),
    "nothing beside": (lambda folder: part(folder, 3, ".json").unlink(), "unfinished"),
    "a name of its own": (
        lambda folder: shutil.copy(part(folder, 3), folder / "parts" / "part-7.parquet"), "foreign"
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_by_verify_and_mended_by_the_same_command(
    folder: Path, undisturbed: Path, damage: str
) -> None:
    do, kind = DAMAGE[damage]
    do(folder)
    found = verify_run(folder, sample=0)
    assert found.faults
    assert all(fault.kind in (*kind.split("|"), "foreign") for fault in found.faults)
    told: list[str] = []
    mended = collect(PLAN, folder, Collecting(told=told.append))
    if damage == "a name of its own":
        (folder / "parts" / "part-7.parquet").unlink()  # nothing of milsim's: it stays
    assert mended.ended == Ended.COMPLETE
    assert bytes_of(folder) == bytes_of(undisturbed)
    if damage not in ("nothing beside", "a name of its own"):
        assert any("played again" in line for line in told), told
    assert not verify_run(folder, sample=0).faults


def test_a_part_with_nothing_beside_it_is_what_a_kill_left_or_a_strangers(folder: Path) -> None:
    inside = part(folder, 3, ".json")
    inside.unlink()
    for name in ("part-000000000050.parquet", "part-000000000600.parquet", "part-7.parquet"):
        shutil.copy(part(folder, 2), folder / "parts" / name)
    assert {(fault.kind, fault.path.name) for fault in verify_run(folder, sample=0).faults} == {
        ("unfinished", inside.with_suffix(".parquet").name),
        ("foreign", "part-000000000050.parquet"),  # before the first deal of the plan
        ("foreign", "part-000000000600.parquet"),  # inside another part
        ("foreign", "part-7.parquet"),
    }


SAID: dict[str, tuple[str, bool]] = {
    "truncated": ("torn or changed", True),
    "empty": ("empty", True),
    "zeroed": ("differs from its digest", False),
    "a bit flipped": ("differs from its digest", False),
    "deleted": ("missing", True),
    "swapped": ("", False),
    "of another run": ("belongs to another plan", True),
    "twice": ("hold what others hold", False),
    "torn beside": ("is torn", True),
}


@pytest.mark.parametrize("damage", SAID)
def test_no_number_is_told_of_a_damaged_run(folder: Path, shell: Shell, damage: str) -> None:
    """Reports read what they count; the list only looks at sizes, and says what it sees there."""
    DAMAGE[damage][0](folder)
    words, is_seen = SAID[damage]
    outcome = shell("report", "bidding", folder)
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert words in outcome.err
    if is_seen:
        (listed,) = found_runs([folder])
        assert words in listed.fault
        assert (listed.stored, listed.complete) == (0, False)
        line = shell("runs", "ls", folder).out.splitlines()[1]
        assert words in line


def test_a_part_that_does_not_count_is_not_counted(folder: Path, shell: Shell) -> None:
    part(folder, 3, ".json").unlink()
    (listed,) = found_runs([folder])
    assert (listed.fault, listed.complete) == ("", False)
    assert listed.stored == DEALS - PART
    outcome = shell("report", "bidding", folder, "--json")
    assert f"{DEALS - PART:,}" in outcome.out + outcome.err or str(DEALS - PART) in outcome.out


def test_what_a_kill_leaves_is_swept(folder: Path, undisturbed: Path) -> None:
    (folder / "parts" / ".part-000000000256.parquet.tmp").write_bytes(b"half")
    (folder / ".lock").write_text("1 on nowhere")
    part(folder, 0, ".json").unlink()
    collect(PLAN, folder)
    assert bytes_of(folder) == bytes_of(undisturbed)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_part_cut_short_is_kept_and_then_played_whole(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr("milsim.simulation.engine.CHUNK_DEALS", {"off": 64})
    collecting._player.cache_clear()
    with monkeypatch.context() as patch:
        set_clock(patch, [0.0, *[0.1] * 7, *[9.0] * 10_000])
        first = collect(PLAN, tmp_path / "run", Collecting(Threads(threads), seconds=5))
    assert first.ended == Ended.TIME
    assert 0 < first.run.deals < DEALS
    with pytest.raises(StoppedEarlyError, match="time was up"):
        first.check("some deals")
    assert verify_run(tmp_path / "run", sample=40).faults == []
    assert collect(PLAN, tmp_path / "run").run.complete
    collecting._player.cache_clear()
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)


def test_a_folder_of_anything_else_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds a run of another plan"):
        collect(Plan.make(deals=DEALS, seed=6, start=100), folder)
    with pytest.raises(RunError, match="holds a run of another plan"):
        collect_matches(milsim.play_matches(3, out=tmp_path / "m").plan, folder)
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"numba": "', '"numba": "9'))
    with pytest.raises(RunError, match=r"begun by other code \(numba 9.*, now "):
        collect(PLAN, folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    with pytest.raises(RunError, match="folder is not empty"):
        collect(PLAN, tmp_path / "mine")


# -- faults in the middle ------------------------------------------------------------------------


def test_a_chunk_that_raises_costs_only_its_part(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DealMaking.play

    def play(self: DealMaking, start: int, count: int) -> Any:
        if start <= 800 < start + count:
            raise ZeroDivisionError("in a kernel")
        return real(self, start, count)

    failed: list[Failure] = []
    with monkeypatch.context() as patch:
        patch.setattr(DealMaking, "play", play)
        run = collect(PLAN, tmp_path / "run", Collecting(failed=failed.append))
    assert run.ended == Ended.FAILED
    assert [str(each) for each in failed] == ["768–1023: ZeroDivisionError: in a kernel"]
    assert run.run.deals == DEALS - PART
    with pytest.raises(StoppedEarlyError, match="could not play 768–1023: ZeroDivisionError"):
        run.check("the rest")
    assert collect(PLAN, tmp_path / "run").ended == Ended.COMPLETE
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)


def test_a_fault_that_is_everywhere_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(self: DealMaking, start: int, count: int) -> Any:
        raise MemoryError

    monkeypatch.setattr(DealMaking, "play", play)
    monkeypatch.setattr(collecting, "PART_DEALS", 8)
    outcome = collect(PLAN, tmp_path / "run")
    assert outcome.ended == Ended.FAILED
    assert len(outcome.failures) == 16
    assert outcome.run.deals == 0


def _hold(folder: str, ready: Any, go: Any) -> None:
    with locked(Path(folder)):
        ready.set()
        go.wait(600)


def test_two_processes_do_not_write_into_one_folder(folder: Path, undisturbed: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, go = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(str(folder), ready, go), daemon=True)
    holder.start()
    assert ready.wait(600)
    part(folder, 1, ".json").unlink()
    with pytest.raises(RunError, match=f"another process writes into it .process {holder.pid} on"):
        collect(PLAN, folder)
    with pytest.raises(RunError, match="another process"):
        collect(PLAN, folder, Collecting(shard=(2, 2)))
    assert holder.pid is not None
    os.kill(holder.pid, 9)
    holder.join()
    collect(PLAN, folder)  # the lock of a killed process is no lock
    assert bytes_of(folder) == bytes_of(undisturbed)


@pytest.mark.parametrize("place", ["as a part is told of", "as a part is kept"])
def test_ctrl_c_at_any_place_does_not_wait_for_what_never_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The second one: the first only asks to end. Here two parts are played, and one never is."""
    real, go, ended = DealMaking.play, threading.Event(), []

    def play(self: DealMaking, start: int, count: int) -> Any:
        if start >= 512:
            go.wait(20)
            ended.append(start)
        return real(self, start, count)

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DealMaking, "play", play)
    how = Collecting(Threads(1), progress=press)
    if place == "as a part is kept":
        how = Collecting(Threads(1))
        monkeypatch.setattr("milsim.store.writing.keep", press)
    with pytest.raises(KeyboardInterrupt):
        collect(PLAN, tmp_path / "run", how)
    assert not ended
    go.set()


@pytest.mark.parametrize("ends", ["a shard on its way out", "a process that begins"])
def test_a_lock_that_names_nobody_yet_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    lock = tmp_path / ".lock"
    held = lock.open("a")
    fcntl.flock(held, fcntl.LOCK_EX)

    def meanwhile(_seconds: float) -> None:
        if ends == "a shard on its way out":
            lock.unlink()
            held.close()
        else:
            held.write("77 on a machine")
            held.flush()

    monkeypatch.setattr("milsim.store.lock.time", SimpleNamespace(sleep=meanwhile))
    if ends == "a shard on its way out":
        with locked(tmp_path, (2, 3)):
            assert lock.exists()
        assert not list(tmp_path.iterdir())
    else:
        with pytest.raises(RunError, match="process 77 on a machine"), locked(tmp_path):
            pass
    held.close()


def test_a_shard_names_nobody_who_was_killed(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("77 on a machine")
    with (
        locked(tmp_path, (1, 2)),
        pytest.raises(RunError, match="another process writes into it; wait for it"),
        locked(tmp_path),
    ):
        pass


def test_shards_share_a_folder_but_no_shard_is_played_twice(folder: Path) -> None:
    with locked(folder, (1, 3)), locked(folder, (2, 3)):
        with pytest.raises(RunError, match="another process"), locked(folder, (2, 3)):
            pass
        with pytest.raises(RunError, match="another process"), locked(folder):
            pass
    with locked(folder):
        pass
    assert not list(folder.glob(".lock*"))


# -- shards --------------------------------------------------------------------------------------


def test_shards_in_one_folder_or_merged_are_the_run(tmp_path: Path, undisturbed: Path) -> None:
    for k in (3, 1, 2):
        shard = collect(PLAN, tmp_path / "shared", Collecting(shard=(k, 3)))
        assert shard.ended == Ended.COMPLETE
        collect(PLAN, tmp_path / f"of-{k}", Collecting(shard=(k, 3)))
    assert bytes_of(tmp_path / "shared") == bytes_of(undisturbed)
    for place, order in enumerate(((1, 2, 3), (2, 3, 1))):
        merged = merge_runs([tmp_path / f"of-{k}" for k in order], tmp_path / str(place))
        assert merged.complete
        assert bytes_of(tmp_path / str(place)) == bytes_of(undisturbed)


def test_every_index_is_in_just_one_shard() -> None:
    making = DealMaking(PLAN)
    for n in (1, 2, 3, 7, 50):
        spans = sorted(span for k in range(1, n + 1) for span in part_spans(making, (k, n)))
        assert spans == list(part_spans(making))
        assert not list(gaps(100, DEALS, [Piece("", *span, ()) for span in spans]))


def test_merge_refuses_overlaps_other_plans_and_torn_parts(
    tmp_path: Path, undisturbed: Path
) -> None:
    for k in (1, 2):
        collect(PLAN, tmp_path / f"of-{k}", Collecting(shard=(k, 2)))
    one, two = tmp_path / "of-1", tmp_path / "of-2"
    with pytest.raises(RunError, match="both hold 100–255"):
        merge_runs([one, undisturbed], tmp_path / "out")
    with pytest.raises(RunError, match="both hold"):
        merge_runs([one, one], tmp_path / "out")
    other = collect(Plan.make(deals=DEALS, seed=6, start=100), tmp_path / "other").run
    with pytest.raises(RunError, match="is of another plan"):
        merge_runs([one, other.folder], tmp_path / "out")
    with pytest.raises(UsageError, match="is one of the runs"):
        merge_runs([one, two], one)
    with pytest.raises(UsageError, match="none given"):
        merge_runs([], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    part(two, 1).write_bytes(b"x")
    with pytest.raises(RunError, match="torn or changed"):
        merge_runs([one, two], tmp_path / "out")
    # What was whole is there, and the rest can be added.
    collect(PLAN, two, Collecting(shard=(2, 2)))
    assert merge_runs([one, two], tmp_path / "out").complete
    assert bytes_of(tmp_path / "out") == bytes_of(undisturbed)
    manifest = read_manifest(one)
    (one / "manifest.json").write_text(manifest.to_json().replace('"python": "', '"python": "9'))
    with pytest.raises(RunError, match="played by other code"):
        merge_runs([two, one], tmp_path / "out2")


def test_compacting_keeps_the_rows(tmp_path: Path, undisturbed: Path) -> None:
    compacted = compact_run(undisturbed, tmp_path / "out", rows=1000)
    assert [part.rows for part in compacted.manifest.parts] == [924, 768, 608]
    before = milsim.open_run(undisturbed).frame().collect().sort("index")
    assert milsim.open_run(tmp_path / "out").frame().collect().sort("index").equals(before)
    assert verify_run(tmp_path / "out", sample=20).faults == []
    assert collect(PLAN, tmp_path / "out").run.complete
    for rows in (1000, 4000):
        if rows == 4000:
            with pytest.raises(RunError, match="parts of other sizes"):
                compact_run(undisturbed, tmp_path / "out", rows=rows)
        else:
            assert compact_run(undisturbed, tmp_path / "out", rows=rows).complete
    with pytest.raises(RunError, match="parts of other sizes"):
        compact_run(undisturbed, undisturbed)


class Killed(BaseException):
    """What nobody catches, as nobody catches SIGKILL."""


@pytest.mark.parametrize("what", ["merge", "compact"])
def test_a_killed_merge_or_compact_goes_on(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Killed before each of its renames in turn; the same call then ends in the same bytes."""
    for k in (1, 2):
        collect(PLAN, tmp_path / f"of-{k}", Collecting(shard=(k, 2)))

    def called(out: Path) -> None:
        if what == "merge":
            merge_runs([tmp_path / "of-2", tmp_path / "of-1"], out)
        else:
            compact_run(undisturbed, out, rows=600)

    called(tmp_path / "whole")
    wanted = bytes_of(tmp_path / "whole")
    replace = Path.replace
    left = 0

    def dying(self: Path, target: Path) -> Path:
        nonlocal left
        if not left:
            raise Killed
        left -= 1
        return replace(self, target)

    for writes in range(len(wanted)):
        out = tmp_path / str(writes)
        left = writes
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", dying)
            with pytest.raises(Killed):
                called(out)
        if (out / "manifest.json").exists():
            kinds = {fault.kind for fault in verify_run(out, sample=0).faults}
            assert kinds <= {"unfinished"}
        called(out)
        assert bytes_of(out) == wanted


def test_merging_once_more_changes_no_byte_and_mends(tmp_path: Path, undisturbed: Path) -> None:
    shards = [tmp_path / f"of-{k}" for k in (1, 2)]
    for k, folder in enumerate(shards, start=1):
        collect(PLAN, folder, Collecting(shard=(k, 2)))
    out = tmp_path / "out"
    merge_runs(shards, out)
    before = {path: path.stat().st_mtime_ns for path in sorted(out.rglob("*"))}
    merge_runs(shards[::-1], out)
    merge_runs(shards[:1], out)
    assert {path: path.stat().st_mtime_ns for path in sorted(out.rglob("*"))} == before
    part(out, 2).write_bytes(b"x")
    merge_runs(shards, out)
    assert bytes_of(out) == bytes_of(undisturbed)


def test_the_same_game_by_another_name_is_another_run(folder: Path, undisturbed: Path) -> None:
    other = replace(load("mil"), name="ours")
    with pytest.raises(RunError, match="holds this run by rules called mil, not ours"):
        collect(Plan.make(deals=DEALS, seed=PLAN.seed, start=PLAN.start, rules=other), folder)
    assert bytes_of(folder) == bytes_of(undisturbed)


def test_a_part_under_a_name_where_no_part_begins_goes(folder: Path, undisturbed: Path) -> None:
    for suffix in (".json", ".parquet"):
        beside = part(folder, 1, suffix)
        shutil.copy(beside, beside.with_name(f"part-000000000999{suffix}"))
    assert verify_run(folder, sample=0).faults
    collect(PLAN, folder)
    assert bytes_of(folder) == bytes_of(undisturbed)


@pytest.mark.parametrize("name", ["ending.json", "matches/x", "parts", "link"])
def test_verify_names_what_is_not_of_the_run(folder: Path, tmp_path: Path, name: str) -> None:
    path = folder / ("parts" if name == "link" else name.split("/")[0])
    if name in ("parts", "link"):
        (folder / "parts").rename(tmp_path / "away")
    if name == "link":
        path.symlink_to(tmp_path / "away")
    else:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    faults = verify_run(folder, sample=0).faults
    assert [(fault.kind, fault.path) for fault in faults] == [("foreign", path)]


@pytest.mark.parametrize("name", [".lock", "parts/part-000000000256.parquet", "plan.toml"])
def test_a_folder_where_a_file_should_be_is_named(folder: Path, name: str) -> None:
    for suffix in (".parquet", ".json"):
        part(folder, 1, suffix).unlink()
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    with pytest.raises(RunError, match=f"cannot write .*{name}, is a directory"):
        collect(PLAN, folder)


@pytest.mark.parametrize("spoilt", ["missing", "changed"])
def test_a_plan_beside_the_manifest_is_the_runs_own(
    tmp_path: Path, folder: Path, undisturbed: Path, spoilt: str
) -> None:
    path = folder / "plan.toml"
    path.unlink()
    if spoilt == "changed":
        path.write_text("deals = 7\n")
    faults = verify_run(folder, sample=0).faults
    assert [(fault.kind, fault.path) for fault in faults] == [(spoilt, path)]
    said: list[str] = []
    collect(PLAN, folder, Collecting(told=said.append))
    assert said == [f"{path}: is missing or not this run's; written again"]
    assert bytes_of(folder) == bytes_of(undisturbed)
    # Where there is no run, it is somebody else's.
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "plan.toml").write_text("deals = 7\n")
    with pytest.raises(RunError, match="not empty"):
        collect(PLAN, tmp_path / "own")
    assert (tmp_path / "own" / "plan.toml").read_text() == "deals = 7\n"


def test_runs_of_matches_too(tmp_path: Path) -> None:
    whole = milsim.play_matches(120, out=tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("milsim.store.match_collect.PART_MATCHES", 32)
        for k in (1, 2):
            collect_matches(whole.plan, tmp_path / f"of-{k}", Collecting(shard=(k, 2)))
    merge_runs([tmp_path / "of-2", tmp_path / "of-1"], tmp_path / "merged")
    merged = compact_run(tmp_path / "merged", tmp_path / "compact")
    assert verify_run(tmp_path / "merged", sample=12).faults == []
    assert bytes_of(merged.folder) == bytes_of(tmp_path / "whole")


# -- verify --------------------------------------------------------------------------------------


def test_verify_counts_what_it_read(undisturbed: Path) -> None:
    found = verify_run(undisturbed, sample=100)
    assert (found.pieces, found.rows, found.left, found.faults) == (10, DEALS, 0, [])
    assert 80 <= found.replayed <= 100


def test_verify_plays_rows_again(folder: Path) -> None:
    """Rows that were never played so, in a part that is otherwise in order."""
    import polars as pl

    from milsim.store.parts import write_part

    piece = Piece.read(part(folder, 3, ".json"))
    rows = pl.read_parquet(part(folder, 3)).with_columns(bid=pl.col("bid") + 10)
    changed = write_part(folder / "parts", piece.start, rows)
    Piece(piece.plan, piece.start, piece.count, (changed,)).write(folder / "parts")
    assert verify_run(folder, sample=0).faults == []
    faults = verify_run(folder, sample=400).faults
    assert {fault.kind for fault in faults} == {"wrong"}
    assert all(fault.path == part(folder, 3) for fault in faults)


def test_verify_does_not_play_what_other_kernels_played(folder: Path) -> None:
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    kernels = json.loads(text)["kernels"]
    manifest.write_text(text.replace(kernels, "0" * len(kernels)))
    found = verify_run(folder)
    assert found.replayed == 0
    assert "other kernels" in found.notes[0]


def test_the_verbs(shell: Shell, folder: Path, tmp_path: Path) -> None:
    outcome = shell("runs", "verify", str(folder), "--sample", "20")
    assert outcome.code == 0, outcome
    assert "10 parts, 2,300 rows read; 20 played again" in outcome.out
    outcome = shell("runs", "ls", str(tmp_path))
    assert outcome.code == 0
    assert "2,300  deals  mil" in outcome.out
    truncate(folder)
    outcome = shell("runs", "verify", str(folder), "--json", "--sample", "0")
    assert outcome.code == ExitCode.VERIFICATION_FAILED
    assert json.loads(outcome.out)["faults"][0]["kind"] == "torn"
    outcome = shell("runs", "ls", str(tmp_path))
    assert outcome.code == 0
    assert "2,300" not in outcome.out
    assert f"{part(folder, 3)}: torn or changed" in outcome.out
    assert shell("runs", "ls", str(tmp_path / "none")).code == ExitCode.BAD_INPUT
    outcome = shell("runs", "merge", str(folder), "--out", str(tmp_path / "out"))
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.err.count("\n") == 1


def test_the_list_of_runs(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "no" / "run").mkdir(parents=True)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "manifest.json").write_text("{")
    listed = {Path(each.folder).name: each for each in found_runs([tmp_path])}
    assert set(listed) == {"copy", "torn"}
    assert listed["copy"].complete
    assert listed["copy"].parts == 10
    assert "torn or not JSON" in listed["torn"].fault


def test_shards_and_times_on_the_command_line(
    shell: Shell, tmp_path: Path, undisturbed: Path
) -> None:
    what = ["simulate", "--deals", str(DEALS), "--seed", "5", "--start", "100"]
    for k in ("1/2", "2/2"):
        outcome = shell(*what, "--shard", k, "--out", str(tmp_path / "run"))
        assert outcome.code == 0, outcome
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)
    for wrong in ("0/2", "3/2", "x", "1"):
        assert shell(*what, "--shard", wrong).code == ExitCode.USAGE
    for wrong in ("0", "-1", "nan", "inf", "x", ""):
        assert shell(*what, "--max-seconds", wrong).code == ExitCode.USAGE
    outcome = shell(
        "simulate", "--deals", "1e10", "--max-seconds", "0.5", "--out", str(tmp_path / "short")
    )
    assert outcome.code == ExitCode.STOPPED_EARLY
    assert "time was up after" in outcome.err
    assert verify_run(tmp_path / "short", sample=8).faults == []
