"""``milsim match``: play whole matches into a run folder, or show the score sheet of one."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from milsim.cli.engines import (
    EngineOption,
    SchedulerFileOption,
    SchedulerOption,
    WriteFromWorkersOption,
    engine_of,
)
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
    print_json,
    rules_of,
    say,
)
from milsim.cli.running import (
    MaxSecondsOption,
    OutOption,
    ShardOption,
    collecting,
    folder_of,
    shown_progress,
)
from milsim.errors import UsageError

MAX_MATCHES = 10**12


def match(
    matches: Annotated[
        str | None,
        typer.Option(
            "--matches",
            "-n",
            metavar="N",
            help="How many matches: 5000, 1e5, 1M; 1e4 if not given.",
        ),
    ] = None,
    rules: RulesOption = "mil",
    changes: SetOption = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="SPEC[,SPEC,SPEC]",
            help="Who plays: random, greedy, expert, pimc, oracle (sees all), name:key=value or a "
            "TOML file (docs/policies.md); one, or one a player, from player 1. The deal goes "
            "round, so players keep no seat.",
        ),
    ] = "greedy",
    seed: SeedOption = "1",
    start: Annotated[
        str, typer.Option("--start", metavar="M", help="Index of the first match of the seed.")
    ] = "0",
    threads: ThreadsOption = None,
    engine: EngineOption = "threads",
    scheduler: SchedulerOption = None,
    scheduler_file: SchedulerFileOption = None,
    write_from_workers: WriteFromWorkersOption = False,
    max_seconds: MaxSecondsOption = None,
    shard: ShardOption = "1/1",
    out: OutOption = None,
    show: Annotated[
        bool,
        typer.Option("--show", help="Play one match, --start, and print its score sheet."),
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With --show: the sheet as Markdown.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play whole matches and store them: a row a deal and a row a match, in Parquet files.

    Reports are made from the folder: milsim report match FOLDER, report auction, report sheet. The
    same command gives the same bytes, whatever the threads.
    """
    asked = None if matches is None else parse_count("matches", matches, 1, MAX_MATCHES)
    n_threads, first = parse_threads(threads), parse_count("start", start, 0, MAX_MATCHES)
    seed_number = parse_seed(seed)
    _check_together(show=show, markdown=markdown, json=json, matches=asked, out=out)
    if show and engine != "threads":
        raise UsageError("--engine: --show plays one match here; leave it out")
    from milsim.simulation.match_plan import MatchPlan

    plan = MatchPlan.make(
        matches=1 if show else asked or 10_000,
        seed=seed_number,
        start=first,
        rules=rules_of(rules, changes),
        policy=policy,
    )
    silent = quiet or json
    announce_compilation(quiet=silent)
    if show:
        from milsim.reports.score_sheet import played_sheet

        sheet = played_sheet(plan)
        text = sheet.to_json() if json else sheet.to_markdown() if markdown else sheet.table()
        typer.echo(text, nl=False)
        return
    folder = folder_of(
        out,
        plan.rules.name,
        "match",
        plan.matches,
        policies=plan.policies,
        digest=plan.digest(),
    )
    from milsim.reports.match_summary import match_summary
    from milsim.store.match_collect import collect_matches

    how = partial(collecting, shard=shard, max_seconds=max_seconds, quiet=silent)
    written = folder if write_from_workers else None
    with (
        engine_of(
            engine, scheduler, scheduler_file, n_threads, folder=written, quiet=silent
        ) as playing,
        shown_progress(plan.matches, "matches", quiet=silent) as progress,
    ):
        collected = collect_matches(plan, folder, how(playing, progress))
    run = collected.run
    outcome = match_summary(run)
    if json:
        print_json(outcome.to_dict())
    else:
        typer.echo(outcome.text())
        say(f"stored in {folder}; next: milsim report match {folder}", quiet=quiet)
    collected.check(f"{run.played:,} matches; they are saved in {folder}")


def _check_together(
    *, show: bool, markdown: bool, json: bool, matches: int | None, out: str | None
) -> None:
    """Raise UsageError for options that do not go together."""
    if markdown and not show:
        raise UsageError("--markdown: is for --show; reports have --format md")
    if markdown and json:
        raise UsageError("--markdown and --json: use one of them")
    if show and matches not in (None, 1):
        raise UsageError("--matches: --show plays one match; say which with --start")
    if show and out is not None:
        raise UsageError("--out: --show stores nothing; leave one of them out")
