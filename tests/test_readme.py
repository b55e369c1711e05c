"""The README's examples: its commands, run in order, print the lines it shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command_line import Shell

README = Path(__file__).parents[1] / "README.md"
LONG = re.compile(r"1e[56]|rules compare")
"""Commands of a minute or more; what comes after them in a block needs what they wrote."""
ELLIPSIS = "..."


@dataclass(frozen=True)
class Example:
    """A command and the lines of its output that are shown, in order; others may lie between."""

    arguments: tuple[str, ...]
    shown: tuple[str, ...]


def blocks() -> Iterator[tuple[Example, ...]]:
    """The console examples, block by block."""
    for block in re.findall(r"^```console\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S):
        found = []
        for text in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = text.partition("\n")
            program, *arguments = shlex.split(command)
            assert program == "milsim"
            lines = tuple(line for line in output.splitlines() if line != ELLIPSIS)
            found.append(Example(tuple(arguments), lines))
        yield tuple(found)


def cases() -> Iterator[object]:
    for block in blocks():
        name = "-".join(block[0].arguments[:2])
        is_long = any(LONG.search(" ".join(example.arguments)) for example in block)
        yield pytest.param(block, id=name, marks=[pytest.mark.slow] if is_long else [])


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.mark.parametrize("block", list(cases()))
def test_commands_print_what_the_readme_shows(
    block: tuple[Example, ...], shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in block:
        # Reports leave out on a page of 80 columns what they have on a wider one.
        widths = (100, 80) if example.arguments[0] == "report" else (100,)
        outputs = []
        for width in widths:
            monkeypatch.setenv("COLUMNS", str(width))
            done = shell(*example.arguments)
            assert done.code == 0, done.err
            outputs.append(done.out)
        missing = [first_missing(example.shown, output) for output in outputs]
        assert None in missing, f"not printed, or not in this order: {missing}\n{outputs[0]}"


def first_missing(shown: tuple[str, ...], output: str) -> str | None:
    """The first line shown that the output does not have after those before it."""
    printed = iter(output.splitlines())
    return next((line for line in shown if line not in printed), None)


def test_what_is_not_printed_is_found() -> None:
    assert first_missing(("a", "c"), "a\nb\nc\n") is None
    assert first_missing(("c", "a"), "a\nb\nc\n") == "a"
    assert first_missing(("a", "a"), "a\nb\n") == "a"
    assert first_missing(("a b",), "a  b\n") == "a b"


def test_there_are_examples() -> None:
    assert sum(len(block) for block in blocks()) >= 10
    assert sum(len(example.shown) for block in blocks() for example in block) >= 80
