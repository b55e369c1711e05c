"""``milsim rules compare``: what a rule changes, on the same deals."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from milsim.cli.options import (
    JsonOption,
    QuietOption,
    SeedOption,
    SetOption,
    ThreadsOption,
    announce_compilation,
    parse_count,
    parse_seed,
    parse_threads,
    refuse_on_terminal,
    say,
    write_to_stdout,
)

if TYPE_CHECKING:
    from milsim.reports.compare_parts import Report

SECONDS_BETWEEN_LINES = 10.0
MAX_DEALS = 10**12


def compare_rules(
    first: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A preset's name or a TOML file.")
    ],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]",
            help="The rules to compare with; the first with what --set changes if not given.",
            show_default=False,
        ),
    ] = None,
    changes: SetOption = None,
    deals: Annotated[
        str,
        typer.Option(
            "--deals", "-n", metavar="N", help="Deals played under both rule sets; 0 for none."
        ),
    ] = "1e5",
    matches: Annotated[
        str,
        typer.Option("--matches", metavar="N", help="Matches played under both; 0 for none."),
    ] = "1e4",
    dd: Annotated[
        str,
        typer.Option(
            "--dd",
            metavar="N",
            help="Also solve the first N deals double dummy under both, forehand declaring with "
            "the best exchange (hundreds a second): an answer that depends on no policy.",
        ),
    ] = "0",
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="SPEC[,SPEC,SPEC]",
            help="Who plays, as simulate takes it: random, greedy, expert, pimc, oracle, a policy "
            "of your own, a spec such as pimc:playouts=64 or a TOML file; one, or three by seat "
            "(by player in matches).",
        ),
    ] = "greedy",
    seed: SeedOption = "1",
    threads: ThreadsOption = None,
    format: Annotated[  # noqa: A002 (the option's name)
        str,
        typer.Option("--format", "-f", metavar="FORMAT", help="text, csv, json, md or parquet."),
    ] = "text",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """What a rule changes: the same deals under two rule sets, paired, with 95 % intervals.

    Declarer points, make rates, the worth of marriages, the length of matches. --set changes the
    second: milsim rules compare mil --set play.must_beat=no.
    """
    from milsim.reports import check_format

    n_deals = parse_count("deals", deals, 0, MAX_DEALS)
    n_matches = parse_count("matches", matches, 0, MAX_DEALS)
    n_solved = parse_count("dd", dd, 0, MAX_DEALS)
    seed_number, n_threads = parse_seed(seed), parse_threads(threads)
    chosen = "json" if json else check_format(format)
    refuse_on_terminal(chosen, "send it to a file with > FILE")
    silent = quiet or json
    announce_compilation(quiet=silent)
    from milsim.reports.compare import comparison
    from milsim.reports.compare_print import render_comparison
    from milsim.rules import read_settings

    with shown_steps(quiet=silent) as progress:
        found = comparison(
            first,
            second,
            changes=read_settings(changes) if changes else None,
            deals=n_deals,
            matches=n_matches,
            dd=n_solved,
            policy=policy,
            seed=seed_number,
            threads=n_threads,
            progress=progress,
        )
    width = shutil.get_terminal_size((100, 24)).columns
    content = render_comparison(found, chosen, width=width)
    write_to_stdout(content)


@contextmanager
def shown_steps(*, quiet: bool) -> Iterator[Report | None]:
    """What is being played and how far: rewritten in place on a terminal, else now and then."""
    if quiet:
        yield None
        return
    terminal = sys.stderr.isatty()
    last = time.monotonic()

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        line = f"{what}: {done:,} of {total:,}"
        if terminal:
            typer.echo(f"\r\x1b[K{line}", err=True, nl=False)
        elif time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(line)

    try:
        yield show
    finally:
        if terminal:
            typer.echo("\r\x1b[K", err=True, nl=False)
