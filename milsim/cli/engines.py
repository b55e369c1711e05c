"""Options that say who plays: the threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milsim.cli.options import say
from milsim.errors import UsageError, nearest, quote

if TYPE_CHECKING:
    from milsim.store.engines import Engine

ENGINES = ("threads", "dask")

EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="threads|dask",
        help="Who plays: the threads of this process, or the workers of a Dask cluster "
        "(docs/cluster.md); the same bytes.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="With --engine dask: as tcp://host:8786."),
]
SchedulerFileOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler-file",
        metavar="FILE",
        help="With --engine dask: the file that dask scheduler --scheduler-file writes.",
    ),
]
WriteFromWorkersOption = Annotated[
    bool,
    typer.Option(
        "--write-from-workers",
        help="With --engine dask: workers write the parts; all must see the folder of --out.",
    ),
]


def engine_of(
    engine: str,
    scheduler: str | None,
    scheduler_file: str | None,
    threads: int | None,
    *,
    folder: Path | None = None,
    quiet: bool = False,
) -> AbstractContextManager[Engine]:
    """The engine of these options, connected, for a ``with``; into ``folder`` workers write.

    Unless ``quiet`` it says what it waits for.

    Raises :class:`~milsim.errors.UsageError` for options that do not go together.

    >>> engine_of("threads", None, None, 2).__enter__()
    Threads(number=2)
    """
    if engine not in ENGINES:
        raise UsageError(f"engine {quote(engine)}: unknown; {nearest(engine, ENGINES)}")
    if engine == "dask":
        if threads is not None:
            raise UsageError("--threads: is for --engine threads; dask worker has --nthreads")
        from milsim.store.dask_engine import Dask

        return Dask(
            scheduler,
            scheduler_file=scheduler_file,
            folder=folder,
            told=partial(say, quiet=quiet),
        )
    for name, value in (
        ("--scheduler", scheduler),
        ("--scheduler-file", scheduler_file),
        ("--write-from-workers", folder),
    ):
        if value is not None:
            raise UsageError(f"{name}: is for --engine dask")
    from milsim.store.engines import Threads

    return nullcontext(Threads(threads))
