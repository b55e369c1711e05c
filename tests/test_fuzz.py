"""Bad input in bulk: no traceback, no hang, no huge allocation, whatever is read.

``MILSIM_FUZZ_CASES=5000 pytest tests/test_fuzz.py`` runs as many cases a target.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milsim
from milsim.errors import ExitCode, MilsimError, RunError
from milsim.tables.compact import CompactTable, read_compact
from tests import fuzzing
from tests.command_line import Shell
from tests.fuzzing import Target, one_line, targets

CASES = int(os.environ.get("MILSIM_FUZZ_CASES", "100"))
LONG = 1500
MOST_MEGABYTES = 300


@pytest.fixture(scope="module")
def parsers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return targets(tmp_path_factory.mktemp("fuzz"))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@contextmanager
def bounded(seconds: int) -> Iterator[None]:
    """Far more time than is needed, and a bound on memory: a hang fails, and does not hang CI."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    usual = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / unit
    assert grown < MOST_MEGABYTES


def check(parsers: dict[str, Target], first: int, cases: int) -> None:
    faults: list[str] = []
    with bounded(60 + cases):
        for name, target in parsers.items():
            count = max(1, int(cases * target.share))
            faults += fuzzing.run(name, target, first, count)
    assert not faults, "\n".join(faults[:20])


def test_examples_are_valid(parsers: dict[str, Target]) -> None:
    """Else their mutants would only test the first check of each parser."""
    for target in parsers.values():
        for example in target.examples:
            target.read(example)


def test_spoiled_input(parsers: dict[str, Target]) -> None:
    check(parsers, 0, CASES)


@pytest.mark.slow
def test_spoiled_input_in_bulk(parsers: dict[str, Target]) -> None:
    check(parsers, 1_000_000, LONG)


@settings(max_examples=60)
@given(st.text() | st.text("AKQJT9.|;=<>:[]{}\"' \n0123456789SCDH", max_size=80), st.data())
def test_any_text(parsers: dict[str, Target], text: str, data: st.DataObject) -> None:
    """What hypothesis thinks of, and shrinks."""
    name = data.draw(st.sampled_from(sorted(parsers)))
    try:
        parsers[name].read(text)
    except MilsimError as error:
        one_line(error)


# -- sizes ---------------------------------------------------------------------------------------


def test_packed_tables_that_unpack_to_much(tmp_path: Path) -> None:
    shipped = next(fuzzing.DATA.glob("mil*.hands")).read_bytes()
    line, _, packed = shipped.partition(b"\n")
    bomb = zlib.compressobj(1)
    zeros = b"".join(bomb.compress(bytes(1 << 20)) for _ in range(100)) + bomb.flush()
    assert len(zeros) < 1_000_000  # a tenth of a gigabyte, more than any table has
    header = json.loads(line)
    many = json.dumps({**header, "contracts": [100] * 100_000}).encode()
    contents = [
        line + b"\n" + zeros, many + b"\n" + packed, line, b"\n" + packed, line + b"\n", packed,
        shipped[:-1], shipped + b"\0", shipped[:5000] + b"\0" + shipped[5001:],
        line.replace(b"[0,346104]", b"[0,99999999999999]") + b"\n" + packed,
        b"[" * 100_000, b'{"a":' * 100_000,
        b'{"format":"milsim hand table","version":1}\n' + packed,
    ]  # fmt: skip
    with bounded(120):
        for content in contents:
            with pytest.raises(RunError) as caught:
                CompactTable.from_bytes(content, "x.hands")
            one_line(caught.value)
        sparse = tmp_path / "sparse.hands"
        with sparse.open("wb") as file:
            file.truncate(1 << 36)
        with pytest.raises(RunError):
            read_compact(sparse)


ENDLESS = {
    "rules": ("rules", "check", "FILE.toml"),
    "rules of a verb": ("deal", "--rules", "FILE.toml"),
    "a plan": ("simulate", "FILE.toml"),
    "a policy": ("simulate", "--deals", "1", "--policy", "FILE.toml"),
    "a packed table": ("hand", "AKQ.T9.J.A", "--table", "FILE.hands"),
    "lines to solve": ("solve", "FILE.csv"),
    "a run": ("report", "bidding", "FOLDER"),
    "a run to verify": ("runs", "verify", "FOLDER"),
    "a table": ("table", "show", "FOLDER"),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_files_without_end(shell: Shell, tmp_path: Path, what: str) -> None:
    """64 GB in one line, which take no room on the disk; and a device that never ends."""
    argv = []
    for word in ENDLESS[what]:
        if word == "FOLDER":
            word = str(tmp_path)
            endless = tmp_path / "manifest.json"
        elif word.startswith("FILE"):
            endless = tmp_path / word
            word = str(endless)
        else:
            argv.append(word)
            continue
        size = 1 << 28 if what == "lines to solve" else 1 << 36  # lines are read to the end
        with endless.open("wb") as file:
            file.truncate(size)
        argv.append(word)
    with bounded(120):
        outcome = shell(*argv)
    assert outcome.code in (ExitCode.BAD_INPUT, ExitCode.USAGE), outcome
    assert "Traceback" not in outcome.err
    assert len(outcome.err) < 2000


# -- nothing that is read is run -----------------------------------------------------------------

RUNS_CODE = re.compile(
    r"\b(?:pickle|cPickle|marshal|shelve|dill|joblib|yaml)\b\.?(?:load|safe_load|Unpickler)?|"
    r"\beval\(|\bexec\(|allow_pickle|\bnp\.load\(|\bos\.system\(|shell=True"
)
ALLOWED = {
    "_jit.py": ".numba_config.yaml",  # whether the file is there
}


def test_no_file_is_unpickled_or_evaluated() -> None:
    package = Path(milsim.__file__).parent
    sources = sorted(package.rglob("*.py"))
    assert len(sources) > 100
    for source in sources:
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            found = RUNS_CODE.search(line.partition("#")[0])
            allowed = ALLOWED.get(source.name)
            assert not found or (allowed and allowed in line), f"{source}:{number}: {line}"
