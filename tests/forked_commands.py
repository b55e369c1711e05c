"""Command lines in processes of their own that can be killed, hundreds of them, cheaply.

A server imports milsim and warms its kernels once; each command line is a fork of it. It forks
before polars has threads, which would not survive that.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Job:
    """A command line; ``signals`` are (seconds, number), sent to it while it runs.

    ``set`` are values of module attributes, ``"module:name"``; ``prepare`` names a function that is
    called before the command, ``"module:name"``. It begins after ``delay`` seconds.
    ``stdout`` is kept, or a pipe that nobody reads.
    """

    argv: Sequence[str]
    signals: Sequence[tuple[float, int]] = ()
    set: Mapping[str, Any] = field(default_factory=dict)
    prepare: str = ""
    delay: float = 0.0
    stdout: str = "kept"


@dataclass(frozen=True)
class Done:
    """How it ended: ``signal`` is 0 where it exited by itself."""

    pid: int
    code: int
    signal: int
    seconds: float
    out: str
    err: str


class Commands:
    """A server of forks; use it as a context manager."""

    def __enter__(self) -> Commands:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.forked_commands"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(600)
        assert self._server.stdout is not None
        self._server.stdout.close()

    def together(self, *jobs: Job) -> list[Done]:
        """Run jobs at the same time, to the end of all."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([asdict(job) for job in jobs]) + "\n")
        self._server.stdin.flush()
        return [Done(**each) for each in json.loads(self._server.stdout.readline())]

    def __call__(self, *argv: object, **how: Any) -> Done:
        """Run one."""
        return self.together(Job([str(each) for each in argv], **how))[0]


def _named(name: str) -> tuple[Any, str]:
    module, _, attribute = name.partition(":")
    return import_module(module), attribute


def _child(job: dict[str, Any], out: Path, err: Path) -> None:
    """Never returns."""
    from milsim.cli import entry

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT), 2)
    if job["stdout"] == "closed pipe":
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, 1)
    else:
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for name, value in job["set"].items():
            module, attribute = _named(name)
            if not hasattr(module, attribute):
                raise AttributeError(name)
            setattr(module, attribute, value)
        if job["prepare"]:
            module, attribute = _named(job["prepare"])
            getattr(module, attribute)()
        sys.argv = ["milsim", *job["argv"]]
        entry.main()
    finally:
        os._exit(99)  # only if the above went wrong: entry.main does not return


def _run(jobs: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    begun = time.monotonic()
    pids: dict[int, int] = {}
    starts: dict[int, float] = {}
    done: list[dict[str, Any] | None] = [None] * len(jobs)
    due = [[(job["delay"] + at, number) for at, number in sorted(job["signals"])] for job in jobs]
    while not all(done):
        now = time.monotonic() - begun
        for place, job in enumerate(jobs):
            if place not in pids and now >= job["delay"]:
                pid = os.fork()
                if not pid:
                    _child(job, folder / f"{place}.out", folder / f"{place}.err")
                pids[place], starts[place] = pid, now
            if done[place] is None and place in pids:
                pid, status = os.waitpid(pids[place], os.WNOHANG)
                if pid:
                    texts = {
                        name: path.read_text() if path.exists() else ""
                        for name in ("out", "err")
                        for path in [folder / f"{place}.{name}"]
                    }
                    killed = os.WIFSIGNALED(status)
                    done[place] = {
                        "pid": pid,
                        "code": -1 if killed else os.WEXITSTATUS(status),
                        "signal": os.WTERMSIG(status) if killed else 0,
                        "seconds": now - starts[place],
                        **texts,
                    }
                elif due[place] and now >= due[place][0][0]:
                    os.kill(pids[place], due[place].pop(0)[1])
        time.sleep(0.002)
    for path in folder.iterdir():
        path.unlink()
    return [each for each in done if each is not None]


def _serve() -> None:
    import numpy as np
    import typer.main

    import milsim.cli.main
    import milsim.reports.match_summary
    import milsim.reports.summary
    from milsim.policies import Policy, register
    from milsim.simulation.match_plan import MatchPlan
    from milsim.simulation.plan import Plan
    from milsim.store.collect import DealMaking
    from milsim.store.match_collect import MatchMaking
    from milsim.tables.building import TablePlan
    from milsim.tables.playing import HandPlayer

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        sys.argv = ["milsim", "rules", "list"]
        milsim.cli.main.main()
    # Typer makes its commands anew at each call, which takes longer than what they do here.
    milsim.cli.main.app = typer.main.get_command(milsim.cli.main.app)  # type: ignore[assignment]
    DealMaking(Plan.make(deals=10)).ready()
    register("plain", Policy)
    DealMaking(Plan.make(deals=10, policy="plain")).ready()
    MatchMaking(MatchPlan.make(matches=10)).ready()
    HandPlayer.of(TablePlan.make())(np.array([0]), 0, 1)
    with tempfile.TemporaryDirectory() as scratch:
        for line in sys.stdin:
            sys.__stdout__.write(json.dumps(_run(json.loads(line), Path(scratch))) + "\n")  # type: ignore[union-attr]
            sys.__stdout__.flush()  # type: ignore[union-attr]


if __name__ == "__main__":
    _serve()
