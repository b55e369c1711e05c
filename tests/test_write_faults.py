"""Each single write of a run fails in turn; parts of matches are damaged in every way.

Here it is this process whose files fail: `tests.test_faults` has real disks and real kills.
"""

from __future__ import annotations

import errno
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

DEALS = Plan.make(deals=600, seed=5)
MATCHES = MatchPlan.make(matches=60, seed=5)
HANDS = TablePlan.make(hands=(1000, 1008))

WRITERS: dict[str, Callable[[Path], Any]] = {
    "deals": lambda folder: collect(DEALS, folder),
    "matches": lambda folder: collect_matches(MATCHES, folder),
    "table": lambda folder: build_table(HANDS, folder, threads=1),
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", 256)
    monkeypatch.setattr(match_collect, "PART_MATCHES", 16)
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


class _Failing:
    """A file whose writes fail half way."""

    def __init__(self, file: IO[bytes], ask: Callable[[], None]) -> None:
        self.file, self.ask = file, ask

    def __enter__(self) -> _Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, content: bytes) -> int:
        self.file.write(content[: len(content) // 2])
        self.ask()
        self.file.seek(0)
        return self.file.write(content)


class Calls:
    """Counts what writes: open, write, fsync, rename, mkdir, unlink; one of them fails."""

    def __init__(self, fails: int) -> None:
        self.fails, self.number = fails, 0

    def ask(self) -> None:
        self.number += 1
        if self.number == self.fails:
            raise OSError(errno.EIO, "Input/output error")

    @contextmanager
    def failing(self) -> Iterator[Calls]:
        with pytest.MonkeyPatch.context() as patch:
            real_open, ask = Path.open, self.ask

            def opened(path: Path, mode: str = "r", *more: Any, **named: Any) -> Any:
                if mode == "r" or mode == "rb":
                    return real_open(path, mode, *more, **named)
                ask()
                file = real_open(path, mode, *more, **named)
                return _Failing(file, ask) if mode == "wb" else file

            def before(real: Callable[..., Any]) -> Callable[..., Any]:
                def call(*given: Any, **named: Any) -> Any:
                    ask()
                    return real(*given, **named)

                return call

            patch.setattr(Path, "open", opened)
            patch.setattr(os, "fsync", before(os.fsync))
            for name in ("replace", "mkdir", "unlink"):
                patch.setattr(Path, name, before(getattr(Path, name)))
            yield self


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


@pytest.mark.parametrize("kind", WRITERS)
def test_each_write_fails_in_turn(undisturbed: dict[str, Path], tmp_path: Path, kind: str) -> None:
    wanted = bytes_of(undisturbed[kind])
    failed = 0
    for number in range(1, 1000):
        folder = tmp_path / str(number)
        calls = Calls(number)
        error = None
        with calls.failing():
            try:
                WRITERS[kind](folder)
            except RunError as raised:
                error = raised
        if error is None:
            # Only at the very end may a failure be none: the file of the lock stays for now.
            assert failed + 3 >= calls.number
        else:
            assert "cannot write, input/output error; name another folder" in str(error)
            assert "\n" not in str(error)
            failed += 1
        read(folder, kind)
        WRITERS[kind](folder)
        assert bytes_of(folder) == wanted
        shutil.rmtree(folder)
        if calls.number < number:
            break
    assert failed > 20


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
    collect_matches(MatchPlan.make(matches=60, seed=6), other)
    shutil.copy(part(other, 1, where), part(folder, 1, where))
    beside = part(folder, 1, "parts").with_suffix(".json")
    shutil.copy(part(other, 1, "parts").with_suffix(".json"), beside)


def foreign_rows(folder: Path, where: str) -> None:
    """Only the rows of another run."""
    other = folder.parent / "other"
    collect_matches(MatchPlan.make(matches=60, seed=6), other)
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
