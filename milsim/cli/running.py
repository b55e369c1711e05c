"""What the verbs share that play into a run folder: its name, and how far they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milsim.cli.options import say
from milsim.errors import UsageError, quote

if TYPE_CHECKING:
    from milsim.store.engines import Engine
    from milsim.store.writing import Collecting, Progress, Report

SECONDS_BETWEEN_LINES = 10.0

OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="Run folder: new, or one that holds the beginning of this run, which is gone on with; "
        "if not given, a name in out/ that tells what was played.",
    ),
]
ShardOption = Annotated[
    str,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Play only every N-th part, from the K-th on: N machines share a run, each in a "
        "folder of its own (milsim runs merge) or all in one.",
    ),
]
MaxSecondsOption = Annotated[
    str | None,
    typer.Option(
        "--max-seconds",
        metavar="S",
        help="Stop after S seconds with what is played (exit code 4); the same command goes on.",
    ),
]


def parse_seconds(text: str | None) -> float | None:
    """A time from 0.1 s to a year, or None; raises UsageError for anything else.

    >>> parse_seconds("90"), parse_seconds(None)
    (90.0, None)
    """
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (text.isascii() and 0.1 <= seconds <= 31_536_000):
        raise UsageError(f"max-seconds: {quote(text)} is no time; use 0.1 to 31536000 seconds")
    return seconds


def collecting(
    engine: Engine,
    progress: Report | None,
    *,
    shard: str = "1/1",
    max_seconds: str | None = None,
    quiet: bool,
) -> Collecting:
    """How a run is played, from the options of a verb."""
    from milsim.store.writing import Collecting
    from milsim.tables.plan import shard_of

    def told(text: str) -> None:
        say(text, quiet=quiet)

    return Collecting(
        engine=engine,
        shard=shard_of(shard),
        seconds=parse_seconds(max_seconds),
        progress=progress,
        told=told,
        failed=lambda failure: told(f"could not play {failure}"),
    )


def folder_of(out: str | None, *words: object, policies: Sequence[str], digest: str) -> Path:
    """The folder of ``--out``, or one in out/ whose name tells what is played.

    Raises :class:`~milsim.errors.UsageError` for an empty name.

    >>> folder_of(None, "mil", "match", 5, policies=["greedy"] * 3, digest="12345678ab").name
    'mil-match-5-greedy-12345678'
    """
    if out == "":
        raise UsageError("out: '' is no folder's name")
    if out is not None:
        return Path(out)
    named = policies[:1] if len(set(policies)) == 1 else policies
    # The colons and equals signs of a spec are not for names of files.
    names = [text.replace(":", "_").replace("=", "") for text in named]
    return Path("out") / "-".join([*map(str, words), *names, digest[:8]])


@contextmanager
def shown_progress(total: int, unit: str, *, quiet: bool) -> Iterator[Report | None]:
    """A bar with rate and time left on a terminal; elsewhere a line now and then."""
    rate = ""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        shown: Any = typer.progressbar(
            length=total,
            label=unit,
            file=sys.stderr,
            show_pos=True,
            show_eta=True,
            item_show_func=lambda _: rate,
        )
        with shown as bar:

            def show(progress: Progress) -> None:
                nonlocal rate
                rate = f"{progress.done / max(progress.seconds, 1e-9):,.0f} {unit}/s"
                bar.length = progress.total  # less than planned where a run is gone on with
                bar.update(progress.done - bar.pos)

            yield show
    else:
        last = 0.0

        def line(progress: Progress) -> None:
            nonlocal last
            if progress.seconds - last < SECONDS_BETWEEN_LINES:
                return
            last = progress.seconds
            speed = progress.done / progress.seconds
            left = (progress.total - progress.done) / speed
            say(
                f"{progress.done:,} of {progress.total:,} {unit}, {speed:,.0f}/s, "
                f"{left:,.0f} s left"
            )

        yield line
