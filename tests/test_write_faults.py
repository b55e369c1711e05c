"""Each single write of a run fails or is its last; parts of matches are damaged in every way.

Here it is this process whose files fail: `tests.test_faults` has real disks and real kills.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import milsim
from milsim.errors import ExitCode, RunError
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store import collect as collecting
from milsim.store import match_collect
from milsim.store.collect import collect
from milsim.store.lock import locked
from milsim.store.match_collect import collect_matches
from milsim.store.match_run import MatchRun
from milsim.store.verifying import verify_run
from milsim.store.writing import Collecting, Ended
from milsim.tables import building
from milsim.tables import folder as table_folder
from milsim.tables.building import build_table
from milsim.tables.folder import Table
from milsim.tables.plan import TablePlan
from tests.command_line import Shell
from tests.folders import bytes_of

DEALS = Plan.make(deals=150, seed=5)
MATCHES = MatchPlan.make(matches=10, seed=5)
HANDS = TablePlan.make(hands=(1000, 1008))

WRITERS: dict[str, Callable[[Path], Any]] = {
    "deals": lambda folder: collect(DEALS, folder),
    "matches": lambda folder: collect_matches(MATCHES, folder),
    "table": lambda folder: build_table(HANDS, folder, threads=1),
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", 64)
    monkeypatch.setattr(match_collect, "PART_MATCHES", 4)
    monkeypatch.setattr(table_folder, "PART_HANDS", 4)
    monkeypatch.setattr(building, "CHUNK_HANDS", 4)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        small_parts.__wrapped__(patch)  # type: ignore[attr-defined]
        for kind, write in WRITERS.items():
            found[kind] = tmp_path_factory.mktemp("whole") / kind
            write(found[kind])
    return found


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


KINDS_OF_CALLS = ("open", "write", "fsync", "replace", "mkdir", "unlink")
FINDS_NO_END = 1000


class Killed(BaseException):
    """No code looks after it: with all calls after it in vain, as good as SIGKILL."""


class _Watched:
    """A file that asks half way through each of its writes."""

    def __init__(self, file: IO[Any], ask: Callable[[str], None]) -> None:
        self.file, self.ask = file, ask

    def __enter__(self) -> _Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, content: Any) -> int:
        half = len(content) // 2
        self.file.write(content[:half])
        self.file.flush()
        self.ask("write")
        return half + self.file.write(content[half:])


class Calls:
    """Counts what writes into a folder; the call with the number ``at`` fails, or is a kill.

    After a kill every other call is one, too: of what would clean up nothing is done any more.
    """

    def __init__(self, folder: Path, at: int, *, kills: bool = False) -> None:
        self.folder, self.at, self.kills = folder, at, kills
        self.number = 0
        self.met = ""
        """Which kind of call was met."""
        self.files: list[IO[Any]] = []

    def ask(self, kind: str) -> None:
        self.number += 1
        if self.number == self.at:
            self.met = kind
            if not self.kills:
                raise OSError(errno.EIO, "Input/output error")
        if self.kills and self.number >= self.at:
            raise Killed

    def is_inside(self, path: object) -> bool:
        return isinstance(path, str | Path) and Path(path).is_relative_to(self.folder)

    @contextmanager
    def injected(self) -> Iterator[None]:
        # Where all ways to open and to rename end, so that it does not matter which one is taken.
        real_open = builtins.open

        def opened(path: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            if mode in ("r", "rb") or not self.is_inside(path):
                return real_open(path, mode, *more, **named)
            self.ask("open")
            file = real_open(path, mode, *more, **named)
            self.files.append(file)
            return _Watched(file, self.ask)

        def before(real: Callable[..., Any], kind: str) -> Callable[..., Any]:
            def call(path: Any, *more: Any, **named: Any) -> Any:
                if isinstance(path, int) or self.is_inside(path):
                    self.ask(kind)
                return real(path, *more, **named)

            return call

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(builtins, "open", opened)
            patch.setattr(io, "open", opened)
            for name in ("fsync", "mkdir", "unlink", "replace", "rename"):
                kind = "replace" if name == "rename" else name
                patch.setattr(os, name, before(getattr(os, name), kind))
            yield
        for file in self.files:
            file.close()  # as the end of a process does; it frees the locks, too


def read(folder: Path, kind: str) -> None:
    """As a user would; raises if anything that is told of is not as it was written."""
    if not (folder / "manifest.json").exists():
        return
    if kind == "table":
        table = Table.open(folder)
        assert table.frame().height == table.rows
        table.verify()
    else:
        assert {fault.kind for fault in verify_run(folder, sample=0).faults} <= {"unfinished"}
        (MatchRun if kind == "matches" else milsim.store.run.Run).open(folder)  # type: ignore[attr-defined]


def nothing_is_half_written(folder: Path, wanted: dict[str, bytes]) -> None:
    """What has its final name is whole, and what stands beside a part comes after all of it."""
    found = {
        name: content
        for name, content in (bytes_of(folder) if folder.exists() else {}).items()
        if not Path(name).name.startswith(".")
    }
    for name, content in found.items():
        assert content == wanted[name], name
    for name in found:
        if name.startswith("parts/") and name.endswith(".json"):
            of_it = {each for each in wanted if Path(each).stem == Path(name).stem}
            assert of_it <= found.keys(), name
    assert "manifest.json" not in found or "plan.toml" in found


@pytest.mark.parametrize("kind", WRITERS)
def test_each_write_fails_in_turn(undisturbed: dict[str, Path], tmp_path: Path, kind: str) -> None:
    wanted = bytes_of(undisturbed[kind])
    failed: list[str] = []
    for number in range(1, FINDS_NO_END):
        folder = tmp_path / str(number)
        calls = Calls(folder, number)
        error = None
        with calls.injected():
            try:
                WRITERS[kind](folder)
            except RunError as raised:
                error = raised
        if error is None:
            # Only at the very end may a failure be none: the file of the lock stays for now.
            assert len(failed) + 3 >= calls.number
        else:
            assert "cannot write, input/output error; name another folder" in str(error)
            assert "\n" not in str(error)
            failed.append(calls.met)
        read(folder, kind)
        nothing_is_half_written(folder, wanted)
        WRITERS[kind](folder)
        assert bytes_of(folder) == wanted
        shutil.rmtree(folder)
        if calls.number < number:
            break
    assert calls.number < number
    assert set(failed) == set(KINDS_OF_CALLS)  # else this test has lost sight of how it is written


@pytest.mark.parametrize("kind", WRITERS)
def test_killed_at_each_write_in_turn(
    undisturbed: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    """Half way through a write, before a rename, between two files: each is met, none by chance."""
    wanted = bytes_of(undisturbed[kind])
    met: list[str] = []
    hidden = 0
    for number in range(1, FINDS_NO_END):
        folder = tmp_path / str(number)
        calls = Calls(folder, number, kills=True)
        with calls.injected():
            try:
                WRITERS[kind](folder)
            except Killed:
                met.append(calls.met)
        read(folder, kind)
        nothing_is_half_written(folder, wanted)
        hidden += any(folder.rglob(".*.tmp"))
        WRITERS[kind](folder)
        assert bytes_of(folder) == wanted
        shutil.rmtree(folder)
        if not calls.met:
            break
    assert not calls.met
    assert set(met) == set(KINDS_OF_CALLS)
    # Of each file: in the middle of writing, before the sync and before the rename.
    assert hidden >= 3 * len(wanted)


@pytest.mark.parametrize("kind", WRITERS)
def test_what_kills_left_hidden_goes_though_nothing_is_left_to_play(
    undisturbed: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    wanted = bytes_of(undisturbed[kind])
    folder = tmp_path / "run"
    shutil.copytree(undisturbed[kind], folder)
    for name in (".lock", ".lock-2-of-3", ".lock-beginning", "parts/.part-000000000000.json.tmp"):
        (folder / name).touch()
    with locked(folder, (1, 2)):
        WRITERS[kind](folder)  # somebody is there: it may be his
        assert len(bytes_of(folder)) > len(wanted) + 3
    WRITERS[kind](folder)
    assert bytes_of(folder) == wanted


# -- parts of matches ----------------------------------------------------------------------------


def part(folder: Path, place: int, where: str = "matches") -> Path:
    return sorted((folder / where).glob("*.parquet"))[place]


def truncate(folder: Path, where: str) -> None:
    path = part(folder, 1, where)
    path.write_bytes(path.read_bytes()[:-7])


def flip(folder: Path, where: str) -> None:
    path = part(folder, 1, where)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def swap(folder: Path, where: str) -> None:
    one, other = part(folder, 1, where), part(folder, 2, where)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def foreign(folder: Path, where: str) -> None:
    """The whole part of another run: the file of the other folder, and what stands beside it."""
    other = folder.parent / "other"
    collect_matches(MatchPlan.make(matches=10, seed=6), other)
    shutil.copy(part(other, 1, where), part(folder, 1, where))
    beside = part(folder, 1, "parts").with_suffix(".json")
    shutil.copy(part(other, 1, "parts").with_suffix(".json"), beside)


def foreign_rows(folder: Path, where: str) -> None:
    """Only the rows of another run."""
    other = folder.parent / "other"
    collect_matches(MatchPlan.make(matches=10, seed=6), other)
    shutil.copy(part(other, 1, where), part(folder, 1, where))


DAMAGE: dict[str, Callable[[Path, str], Any]] = {
    "truncated": truncate,
    "empty": lambda folder, where: part(folder, 1, where).write_bytes(b""),
    "zeroed": lambda folder, where: part(folder, 1, where).write_bytes(
        bytes(part(folder, 1, where).stat().st_size)
    ),
    "a bit flipped": flip,
    "deleted": lambda folder, where: part(folder, 1, where).unlink(),
    "swapped": swap,
    "of another run": foreign,
    "rows of another run": foreign_rows,
}


@pytest.mark.parametrize("where", ["parts", "matches"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_matches_are_refused_found_and_mended(
    shell: Shell, undisturbed: dict[str, Path], tmp_path: Path, damage: str, where: str
) -> None:
    folder = Path(shutil.copytree(undisturbed["matches"], tmp_path / "run"))
    DAMAGE[damage](folder, where)
    outcome = shell("report", "match", folder)
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    outcome = shell("runs", "verify", folder, "--sample", "0")
    assert outcome.code == ExitCode.VERIFICATION_FAILED
    assert outcome.err.count("\n") == 1
    told: list[str] = []
    mended = collect_matches(MATCHES, folder, Collecting(told=told.append))
    assert mended.ended == Ended.COMPLETE
    assert all("played again" in line for line in told)
    assert told
    assert bytes_of(folder) == bytes_of(undisturbed["matches"])
    assert shell("report", "match", folder).code == 0
