"""``milsim arena``: which policy is stronger, on the same deals with all seats exchanged."""

from __future__ import annotations

import shutil
from typing import Annotated

import typer

from milsim.cli.compare import shown_steps
from milsim.cli.engines import EngineOption, SchedulerFileOption, SchedulerOption, engine_of
from milsim.cli.options import (
    JsonOption,
    QuietOption,
    RulesOption,
    SeedOption,
    SetOption,
    ThreadsOption,
    announce_compilation,
    parse_count,
    parse_seed,
    parse_threads,
    refuse_on_terminal,
    rules_of,
    write_to_stdout,
)
from milsim.errors import InterruptedRunError, UsageError, quote

MAX_DEALS = 10**9


def arena(
    context: typer.Context,
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY POLICY...",
            help="Two to eight policies, as simulate takes them for one seat.",
        ),
    ],
    deals: Annotated[
        str,
        typer.Option(
            "--deals", "-n", metavar="N", help="Deals, each at six tables (two or three policies)."
        ),
    ] = "1e4",
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Play until each pair is decided, by a confidence sequence, which may be looked "
            "at on the way; not more than --max-deals.",
        ),
    ] = False,
    margin: Annotated[
        str,
        typer.Option(
            "--margin",
            metavar="POINTS",
            help="Equal is who may be as strong, and surely differs by less than this, in points a "
            "deal and seat.",
        ),
    ] = "1",
    max_deals: Annotated[
        str, typer.Option("--max-deals", metavar="N", help="With --until-decided: the most deals.")
    ] = "1e6",
    matches: Annotated[
        str,
        typer.Option("--matches", metavar="N", help="Also whole matches, each at the same tables."),
    ] = "0",
    rules: RulesOption = "mil",
    changes: SetOption = None,
    seed: SeedOption = "1",
    start: Annotated[
        str, typer.Option("--start", metavar="I", help="Index of the first deal of the seed.")
    ] = "0",
    threads: ThreadsOption = None,
    engine: EngineOption = "threads",
    scheduler: SchedulerOption = None,
    scheduler_file: SchedulerFileOption = None,
    format: Annotated[  # noqa: A002 (the option's name)
        str,
        typer.Option("--format", "-f", metavar="FORMAT", help="text, csv, json, md or parquet."),
    ] = "text",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Which policy is stronger: the same deals, every seat exchanged, paired differences.

    The verdict on each pair is better, worse, equal within --margin, or undecided. Ctrl-C ends it
    with what is decided so far.
    """
    from milsim.reports import check_format

    _check_sizes(context, until_decided=until_decided)
    n_deals, most = (
        parse_count("deals", deals, 1, MAX_DEALS),
        parse_count("max-deals", max_deals, 1, MAX_DEALS),
    )
    n_matches = parse_count("matches", matches, 0, MAX_DEALS)
    seed_number, first = parse_seed(seed), parse_count("start", start, 0, 10**12)
    n_threads, points = parse_threads(threads), _points(margin)
    chosen = "json" if json else check_format(format)
    refuse_on_terminal(chosen, "send it to a file with > FILE")
    silent = quiet or json
    announce_compilation(quiet=silent)
    from milsim.reports.arena import arena as held
    from milsim.reports.arena_print import render_contest

    with (
        engine_of(engine, scheduler, scheduler_file, n_threads, quiet=silent) as playing,
        shown_steps(quiet=silent) as progress,
    ):
        contest = held(
            *policies,
            deals=n_deals,
            until_decided=until_decided,
            margin=points,
            max_deals=most,
            matches=n_matches,
            seed=seed_number,
            start=first,
            rules=rules_of(rules, changes),
            threads=n_threads,
            engine=None if engine == "threads" else playing,
            progress=progress,
        )
    width = shutil.get_terminal_size((100, 24)).columns
    content = render_contest(contest, chosen, width=width)
    write_to_stdout(content)
    if contest.interrupted:
        played = max(verdict.deals for verdict in contest.verdicts)
        raise InterruptedRunError(f"interrupted after {played:,} deals; what is shown counts them")


def _check_sizes(context: typer.Context, *, until_decided: bool) -> None:
    """Raise UsageError for a number of deals that would have no part in what is played."""
    name, instead = ("deals", "max-deals") if until_decided else ("max-deals", "deals")
    source = context.get_parameter_source(name.replace("-", "_"))
    if source is not None and source.name != "DEFAULT":
        how = "with" if until_decided else "without"
        raise UsageError(f"{name}: not {how} --until-decided; use --{instead}")


def _points(text: str) -> float:
    """A margin in points, 0 or more; raises UsageError for anything else.

    >>> _points("0.5")
    0.5
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1000:
        raise UsageError(f"margin: {quote(text)} is no number of points from 0 to 1000")
    return value
