"""Parts played elsewhere: what a worker of another process does, and the loop that drives many.

A task is some consecutive parts, so many that it takes some seconds, and fewer towards the end, so
that all workers end at about one time. The driver keeps a window of tasks before the workers and
takes what they made in the order of the index. Which workers these are, a `Pool` knows: those of
Dask in :mod:`milsim.store.dask_engine`; here nothing needs Dask.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from milsim.errors import MilsimError, RunError
from milsim.files import reason_of
from milsim.simulation.engine import chunk_ranges
from milsim.store.engines import Failure, Heard, Made, Making, Span, Stored, guarded, made

SECONDS_A_TASK = 3.0
"""What a task is to take; a part takes some seconds itself where play is slow."""
MOST_PARTS = 1024
MOST_BYTES = 32 << 20
"""A task, where its parts are sent to the driver."""
WINDOW = 4
"""Tasks a thread of a worker, begun or waiting."""
SHARE = 2
"""A task is at most one of so many a thread that are left: the last ones end at about one time."""
MOST_AHEAD = 1 << 16
"""Parts that are looked at to see how many are left; they bound a task, too."""
MOST_DEATHS = 3
"""Workers that a task may cost before it is given up."""
TOGETHER = 64
SECONDS_OF_WAITING = 0.1

Code = dict[str, str]


@cache
def _versions() -> Code:
    from milsim._jit import kernel_digest
    from milsim.rng import RNG_SCHEME

    return {
        "milsim": version("milsim"),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "numpy", "polars")},
        "kernels": kernel_digest(),
        "random numbers": RNG_SCHEME,
    }


def code_here(policies: Sequence[str] = ()) -> Code:
    """What the bytes of a part depend on, of this process; with the origins of people's policies.

    >>> sorted(code_here())
    ['kernels', 'milsim', 'numba', 'numpy', 'polars', 'python', 'random numbers']
    """
    from milsim.policies.origins import origins

    return _versions() | {f"policy {name}": text for name, text in origins(policies).items()}


def differing(worker: Code, driver: Code) -> str:
    """What another process runs otherwise than this one, in words; empty if nothing.

    >>> differing({"numba": "1"}, {"numba": "2"})
    'numba 1, not 2'
    """
    return "; ".join(
        f"{name} {worker.get(name, 'none')}, not {driver.get(name, 'none')}"
        for name in sorted({*worker, *driver})
        if worker.get(name) != driver.get(name)
    )


# -- what a worker does --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """Parts to play: ``code`` is what the driver runs.

    With a ``folder`` the worker writes them there, and hands back only what stands beside them.
    """

    making: Making[Any]
    spans: tuple[Span, ...]
    code: Code
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a task: an outcome a span, and the seconds that it took.

    ``refused`` says what is wrong with the worker, if anything; then nothing was played.
    """

    outcomes: tuple[Made | Stored | Failure, ...] = ()
    seconds: float = 0.0
    refused: str = ""


_compiling = threading.Lock()
_ready: dict[tuple[type, str], int] = {}


def _chunk(making: Making[Any]) -> int:
    """Its chunk; the first task compiles alone: concurrent first compiles can crash numba."""
    key = (type(making), making.plan.digest())
    with _compiling:
        if key not in _ready:
            if len(_ready) > 100:  # a worker that lives for ever
                _ready.clear()
            _ready[key] = making.ready()
        return _ready[key]


def play_task(task: Task) -> Answer:
    """Play a task in this process, unless it runs other code than the driver."""
    wrong = differing(code_here(getattr(task.making.plan, "policies", ())), task.code)
    if wrong:
        return Answer(refused=wrong)
    size = _chunk(task.making)
    started = time.monotonic()
    outcomes: list[Made | Stored | Failure] = []
    for start, count in task.spans:
        outcome = _part(task.making, start, count, size)
        kept = isinstance(outcome, Made) and task.folder is not None
        outcomes.append(_written(outcome, task) if kept else outcome)
    return Answer(tuple(outcomes), time.monotonic() - started)


def _part(making: Making[Any], start: int, count: int, size: int) -> Made | Failure:
    play = guarded(making.play)
    chunks = []
    for first, many in chunk_ranges(start, count, size):
        _, chunk = play(first, many)
        if isinstance(chunk, Failure):
            return chunk
        chunks.append(chunk)
    return made(making, start, count, chunks)


def _written(outcome: Made | Failure, task: Task) -> Stored:
    from milsim.store.writing import keep

    assert task.folder is not None
    assert isinstance(outcome, Made)
    # A worker that is thought dead may still write the same part: each under its own hidden name.
    mark = f".{platform.node()}-{os.getpid()}-{threading.get_ident()}"
    try:
        keep(outcome, Path(task.folder), task.making.folders, mark)
    except OSError as error:
        raise RunError(
            f"out {task.folder}: cannot write on {platform.node()}, {reason_of(error)}; name "
            "another folder, or leave out --write-from-workers"
        ) from None
    return Stored(outcome.piece)


def warmed(task: Task, token: str) -> str:
    """Make a worker ready for tasks like this one; what is wrong with it, empty if nothing.

    ``token`` is the name of a file that the driver has put into the task's folder.
    """
    wrong = differing(code_here(getattr(task.making.plan, "policies", ())), task.code)
    if wrong:
        return wrong
    if task.folder is not None and not (Path(task.folder) / token).is_file():
        return f"does not see folder {task.folder}, which --write-from-workers needs"
    _chunk(task.making)
    return ""


# -- what the driver does ------------------------------------------------------------------------


class LostTaskError(Exception):
    """A task whose worker died, again and again."""


class Pool(Protocol):
    """Workers that take tasks; a handle stands for a task that was handed over."""

    def width(self) -> int:
        """How many tasks are played at once."""

    def submit(self, task: Task) -> Any:
        """Hand a task over; its handle."""

    def done(self, handle: Any) -> bool:
        """Whether it has ended; raises RunError if nothing will come of it any more."""

    def wait(self, handle: Any, seconds: float) -> None:
        """Wait until a task has ended, but not longer than this; it may return before."""

    def results(self, handles: Sequence[Any]) -> list[Answer | BaseException | None]:
        """What came of tasks that have ended; None if it is lost, and the task is played again."""

    def name_of(self, handle: Any) -> str:
        """Which worker played it, for people."""

    def withdraw(self, handles: Sequence[Any]) -> list[bool]:
        """Take back tasks that are not begun; which of them are."""

    def drop(self, handles: Sequence[Any]) -> None:
        """Give tasks up, begun or not."""


class Sizing:
    """How many parts make a task of SECONDS_A_TASK: one, until it is known how long one takes."""

    def __init__(self, *, sent: bool) -> None:
        """``sent``: parts are sent to the driver, so that their bytes count, too."""
        self.parts = 1
        self._sent = sent
        self._seconds = self._bytes = 0.0

    def note(self, answer: Answer) -> None:
        """Learn from what came of a task."""
        there = [each for each in answer.outcomes if not isinstance(each, Failure)]
        if not there:
            return
        share = 0.3 if self._seconds else 1.0
        self._seconds += share * (answer.seconds / len(there) - self._seconds)
        size = sum(part.size for each in there for part in each.piece.parts) / len(there)
        self._bytes += share * (size - self._bytes)
        parts = SECONDS_A_TASK / max(self._seconds, 1e-6)
        if self._sent:
            parts = min(parts, MOST_BYTES / max(self._bytes, 1.0))
        self.parts = max(1, min(MOST_PARTS, int(parts)))


class _Left:
    """Parts that are not handed out yet. Some are taken ahead, so that the end is seen coming."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = iter(spans)
        self._ahead: deque[Span] = deque()

    def some(self, parts: int, width: int) -> tuple[Span, ...]:
        """So many parts for a task, or fewer if it would be a great share of all that are left.

        >>> left = _Left((n, 1) for n in range(40))
        >>> [len(left.some(8, width=2)) for _ in range(12)]
        [8, 8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1]
        """
        shares = SHARE * max(1, width)
        enough = min(MOST_AHEAD, shares * parts)
        self._ahead.extend(islice(self._spans, max(0, enough - len(self._ahead))))
        parts = min(parts, max(1, len(self._ahead) // shares))
        return tuple(self._ahead.popleft() for _ in range(min(parts, len(self._ahead))))


@dataclass(frozen=True, slots=True)
class _Under:
    """A task under way."""

    handle: Any
    task: Task
    deaths: int = 0


def drive(
    pool: Pool,
    making: Making[Any],
    spans: Iterable[Span],
    stop: Callable[[], bool],
    heard: Heard,
    folder: str | None = None,
) -> Iterator[Made | Stored | Failure]:
    """The parts of these spans, in order, as an `Engine` makes them, by the workers of a pool."""
    code = code_here(getattr(making.plan, "policies", ()))
    sizing = Sizing(sent=folder is None)
    left = _Left(spans)
    window: deque[_Under] = deque()
    ended = False
    try:
        while True:
            if not ended:
                ended = stop()
                if ended:
                    window = _begun(pool, window)
            width = 0 if ended else pool.width()
            for _ in range(WINDOW * width - len(window)):
                some = left.some(sizing.parts, width)
                if not some:
                    ended = True
                    break
                task = Task(making, some, code, folder)
                window.append(_Under(pool.submit(task), task))
            if not window:
                return
            together = list(islice(_ended(pool, window), _most(sizing)))
            if not together:
                pool.wait(window[0].handle, SECONDS_OF_WAITING)
                if stop():
                    window, ended = _begun(pool, window), True
                continue
            for answer in pool.results([each.handle for each in together]):
                if answer is None:
                    break
                under = window[0]
                if isinstance(answer, LostTaskError) and under.deaths < MOST_DEATHS:
                    again = _Under(pool.submit(under.task), under.task, under.deaths + 1)
                    window[0] = again
                    break
                window.popleft()
                yield from _outcomes(pool, under, answer, sizing, heard)
    except GeneratorExit:
        # Whoever wants no more parts wants none to be written behind his back, either.
        window = _begun(pool, window) if folder is not None else window
        while folder is not None and not all(pool.done(each.handle) for each in window):
            pool.wait(window[-1].handle, SECONDS_OF_WAITING)
        raise
    finally:
        pool.drop([each.handle for each in window])


def _most(sizing: Sizing) -> int:
    """How many answers are taken together: their parts are held in memory."""
    return max(1, TOGETHER // sizing.parts) if sizing.parts > 1 else TOGETHER


def _ended(pool: Pool, window: Iterable[_Under]) -> Iterator[_Under]:
    """Those at the head of the window that have ended."""
    for each in window:
        if not pool.done(each.handle):
            return
        yield each


def _begun(pool: Pool, window: deque[_Under]) -> deque[_Under]:
    """Those that go on when no more is to be begun."""
    gone = pool.withdraw([each.handle for each in window])
    return deque(each for each, is_gone in zip(window, gone, strict=True) if not is_gone)


def _outcomes(
    pool: Pool, under: _Under, answer: Answer | BaseException, sizing: Sizing, heard: Heard
) -> Iterator[Made | Stored | Failure]:
    if isinstance(answer, MilsimError):
        raise answer
    if isinstance(answer, BaseException):
        text = " ".join(str(answer).split())[:200]
        reason = f"{type(answer).__name__}: {text}"
        if isinstance(answer, LostTaskError):
            reason = f"the worker died, {MOST_DEATHS + 1} times; {text}"
        for start, count in under.task.spans:
            heard(count)
            yield Failure(start, count, reason)
        return
    if answer.refused:
        raise RunError(refusal(pool.name_of(under.handle), answer.refused))
    sizing.note(answer)
    for (_, count), outcome in zip(under.task.spans, answer.outcomes, strict=True):
        heard(count)
        yield outcome


def refusal(worker: str, wrong: str) -> str:
    """The message of the error about a worker that cannot take part."""
    return f"worker {worker}: {wrong}; start workers with the driver's environment and code"


__all__ = [
    "Answer",
    "LostTaskError",
    "Pool",
    "Sizing",
    "Task",
    "code_here",
    "differing",
    "drive",
    "play_task",
    "refusal",
    "warmed",
]
