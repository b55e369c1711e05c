"""What the verbs share that play into a run folder: its name, and how far they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milsim.cli.options import say
from milsim.errors import UsageError

if TYPE_CHECKING:
    from milsim.store.collect import Progress, Report

SECONDS_BETWEEN_LINES = 10.0

OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="Run folder, new or empty; if not given, a name in out/ that tells what was played.",
    ),
]


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
