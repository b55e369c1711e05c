"""``milsim report``: tables from a run."""

from __future__ import annotations

import errno
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from milsim.cli.match import MAX_MATCHES
from milsim.cli.options import announce_compilation, parse_count, say
from milsim.errors import UsageError

NAME_HELP = "bidding or marriages (of deals), match or sheet (of matches), auction (of both)."
FORMAT_HELP = "text, csv, json, md or parquet; data formats hold all columns at full precision."


def report(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder of milsim simulate or milsim match.")
    ],
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
    match: Annotated[
        str | None,
        typer.Option("--match", metavar="M", help="Which match of the run, for sheet; its first."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Turn a run into a table: bidding (what hands are worth), marriages, match, auction, sheet.

    All figures are sampled, with 95 % intervals, except columns called exact. A sheet is the score
    sheet of one match.
    """
    from milsim.reports import check_format, check_target, report_named

    entry = report_named(name)
    chosen = "json" if json else check_format(format)
    if out is not None:
        check_target(out)
    elif chosen == "parquet" and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("format parquet: not for a terminal; name a file with --out")

    options: dict[str, Any] = {}
    if match is not None:
        if name != "sheet":
            raise UsageError(f"--match: is for sheet, not for {name}")
        options["match"] = parse_count("match", match, 0, MAX_MATCHES)

    from milsim.reports import write
    from milsim.store.match_run import open_any

    opened = open_any(run).as_model(model)
    announce_compilation(quiet=json)
    width = shutil.get_terminal_size((100, 24)).columns
    content = entry.render(opened, chosen, width=width, **options)
    if out is not None:
        write(content, out)
        say(f"written to {out}")
    elif sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
