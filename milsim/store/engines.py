"""Engines: who plays what a folder has to hold, and hands it out part by part, in order.

What is played is a `Making`: a plan that knows how to play a range of its indices and how the rows
of a part are made of that. An engine only decides where. The threads of this process play chunks,
which are joined; elsewhere (:mod:`milsim.store.dask_engine`) whole parts are played.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import polars as pl

from milsim.errors import MilsimError
from milsim.simulation.engine import chunk_ranges, in_order
from milsim.store.parts import Part, part_bytes
from milsim.store.pieces import Piece
from milsim.threads import checked_threads

C = TypeVar("C")
"""A chunk: the results of consecutive indices of a plan."""

Span = tuple[int, int]
"""First index, and how many."""


class Making(Protocol[C]):
    """A plan and how its parts are made; it can be pickled, so that other processes play it.

    ``folders`` are the subfolders that each part of it has a file in; parts end at multiples of
    ``part``.
    """

    @property
    def plan(self) -> Any:
        """The plan: its ``digest()`` is its identity."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Subfolders, a file of each part in each."""

    @property
    def first(self) -> int:
        """The first index."""

    @property
    def count(self) -> int:
        """How many indices there are."""

    @property
    def part(self) -> int:
        """Parts end at multiples of it."""

    def ready(self) -> int:
        """Compile, and return how many indices make a good chunk; raises what the plan cannot."""

    def play(self, start: int, count: int) -> C:
        """Play a range."""

    def frames(self, chunks: Sequence[C]) -> tuple[pl.DataFrame, ...]:
        """The rows of consecutive chunks, a frame a folder."""


@dataclass(frozen=True, slots=True)
class Made:
    """A part that was played: its place, and the bytes of its files, in the order of folders."""

    piece: Piece
    contents: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A part that was played and is in its folder already: a worker wrote it there."""

    piece: Piece


@dataclass(frozen=True, slots=True)
class Failure:
    """A range that could not be played, and why: not a wrong input, but a fault in the code."""

    start: int
    count: int
    reason: str

    def __str__(self) -> str:
        """One line for people."""
        last = self.start + self.count - 1
        return f"{self.start}–{last}: {self.reason}"


Heard = Callable[[int], None]
"""Told how many indices more are played."""


class Engine(Protocol):
    """Whoever plays spans of a making."""

    def make(
        self, making: Making[Any], spans: Iterable[Span], stop: Callable[[], bool], heard: Heard
    ) -> Iterator[Made | Stored | Failure]:
        """The parts of these spans, in order; none is begun any more once ``stop`` says so."""


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads of this process; ``None`` are as many as there are processors."""

    number: int | None = None

    def make(
        self, making: Making[C], spans: Iterable[Span], stop: Callable[[], bool], heard: Heard
    ) -> Iterator[Made | Failure]:
        """The parts of these spans, each joined of chunks that the threads play."""
        size = making.ready()
        ends: deque[bool] = deque()

        def ranges() -> Iterator[Span]:
            for start, count in spans:
                for each in chunk_ranges(start, count, size):
                    ends.append(sum(each) == start + count)
                    yield each

        held: list[C] = []
        failed: Failure | None = None
        first = end = 0
        played = in_order(guarded(making.play), ranges(), checked_threads(self.number), stop)
        with interrupting(played):
            for (start, count), chunk in played:
                heard(count)
                first, end = (first if end else start), start + count
                if isinstance(chunk, Failure):
                    failed = failed or chunk
                else:
                    held.append(chunk)
                if ends.popleft():
                    yield failed or made(making, first, end - first, held)
                    held, failed, end = [], None, 0
            # What was played of a part that was cut short is kept, too.
            if end and failed is None:
                yield made(making, first, end - first, held)


@contextmanager
def interrupting(parts: Iterator[Any]) -> Iterator[None]:
    """Let Ctrl-C that meets whoever takes parts also meet who makes them.

    Else he is only told that no more are wanted, and waits for what is under way: of a policy in an
    endless loop, for ever.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        if isinstance(parts, Generator):
            parts.throw(error)
        raise


def made(making: Making[C], start: int, count: int, chunks: Sequence[C]) -> Made:
    """The part of a span, from its chunks."""
    frames = making.frames(chunks)
    contents = tuple(part_bytes(frame) for frame in frames)
    parts = tuple(
        Part.of(start, frame.height, content)
        for frame, content in zip(frames, contents, strict=True)
    )
    return Made(Piece(making.plan.digest(), start, count, parts), contents)


class _Guarded(Generic[C]):
    def __init__(self, play: Callable[[int, int], C]) -> None:
        self.play = play

    def __call__(self, start: int, count: int) -> tuple[Span, C | Failure]:
        try:
            return (start, count), self.play(start, count)
        except MilsimError:
            raise  # wrong rules or a policy that breaks them: the next range would not do better
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
            return (start, count), Failure(start, count, reason)


def guarded(play: Callable[[int, int], C]) -> Callable[[int, int], tuple[Span, C | Failure]]:
    """The same, but an unexpected error becomes a `Failure` of its range.

    >>> guarded(lambda start, count: start // (count - 2))(4, 2)[1].reason
    'ZeroDivisionError: integer division or modulo by zero'
    """
    return _Guarded(play)


__all__ = [
    "Engine",
    "Failure",
    "Heard",
    "Made",
    "Making",
    "Span",
    "Stored",
    "Threads",
    "guarded",
    "interrupting",
    "made",
]
