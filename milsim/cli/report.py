"""``milsim report``: tables from a run."""

from __future__ import annotations

import errno
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from milsim.cli.options import announce_compilation, say
from milsim.errors import UsageError

FORMAT_HELP = "text, csv, json, md or parquet; data formats hold all columns at full precision."


def report(
    name: Annotated[str, typer.Argument(metavar="NAME", help="bidding or marriages.")],
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder of milsim simulate.")],
    format: Annotated[  # noqa: A002 (the option's name)
        str, typer.Option("--format", "-f", metavar="FORMAT", help=FORMAT_HELP)
    ] = "text",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="played|double-dummy",
            help="Whose points: of the policies that played, or double dummy (a run with --dd).",
        ),
    ] = "played",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Turn a run into a table: bidding (what hands are worth) or marriages.

    All figures are sampled, with 95 % intervals, except columns called exact.
    """
    from milsim.reports import check_format, check_target, report_named

    entry = report_named(name)
    chosen = "json" if json else check_format(format)
    if out is not None:
        check_target(out)
    elif chosen == "parquet" and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("format parquet: not for a terminal; name a file with --out")

    from milsim.reports import render, write
    from milsim.store.run import Run

    opened = Run.open(run).as_model(model)
    announce_compilation(quiet=json)
    width = shutil.get_terminal_size((100, 24)).columns
    content = render(entry.build(opened), chosen, width=width)
    if out is not None:
        write(content, out)
        say(f"written to {out}")
    elif sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
