"""Run the command line inside the test's process, as a user would from a shell; wait for others."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from milsim.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class Shell:
    """``shell("simulate", "--deals", 10)`` gives exit code, stdout and stderr."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capfd = monkeypatch, capfd

    def __call__(self, *arguments: object) -> Outcome:
        self.capfd.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["milsim", *map(str, arguments)])
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        out, err = self.capfd.readouterr()
        return Outcome(int(code or 0), out, err)  # type: ignore[call-overload]


PATIENCE = 1800
"""Seconds in which even a busy machine compiles all: what takes longer hangs."""


def wait_for(job: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    """Wait until something is seen of a command line that goes on."""
    ends = time.monotonic() + PATIENCE
    while not happened() and time.monotonic() < ends:
        assert job.poll() is None, job.communicate()
        time.sleep(0.05)
