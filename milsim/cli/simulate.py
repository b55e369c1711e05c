"""``milsim simulate``: play deals into a run folder."""

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
    WhereOption,
    announce_compilation,
    parse_count,
    parse_seed,
    parse_threads,
    print_json,
    rules_of,
    say,
)
from milsim.cli.plans import (
    DryRunOption,
    PlanArgument,
    ResumeOption,
    check_fresh,
    check_options,
    play,
    show_estimates,
)
from milsim.cli.running import (
    MaxSecondsOption,
    OutOption,
    ShardOption,
    collecting,
    folder_of,
    shown_progress,
)

MAX_DEALS = 10**12


def simulate(
    context: typer.Context,
    plan_file: PlanArgument = None,
    deals: Annotated[
        str, typer.Option("--deals", "-n", metavar="N", help="How many deals: 250000, 1e6, 2M.")
    ] = "1e5",
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="auction|declarer",
            help="auction: the whole deal with bidding; declarer: forehand declares every deal as "
            "dealt (what hands are worth).",
        ),
    ] = "auction",
    rules: RulesOption = "mil",
    changes: SetOption = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="SPEC[,SPEC,SPEC]",
            help="Who plays: random, greedy, expert, pimc, oracle (sees all), name:key=value or a "
            "TOML file (docs/policies.md); one, or three by seat (forehand first).",
        ),
    ] = "greedy",
    seed: SeedOption = "1",
    start: Annotated[
        str, typer.Option("--start", metavar="I", help="Index of the first deal of the seed.")
    ] = "0",
    where: WhereOption = None,
    dd: Annotated[
        str,
        typer.Option(
            "--dd",
            metavar="off|gifts|exchange",
            help="Add the double-dummy value of each deal: with the gifts given (thousands of "
            "deals a second), or with the best exchange (hundreds).",
        ),
    ] = "off",
    ci_width: Annotated[
        str | None,
        typer.Option(
            "--ci-width",
            metavar="W",
            help="Stop when contract made is known to ±W (95 %), such as 0.5%; --deals is the "
            "most. Asked at the ends of parts, so the deals are the same whatever the threads.",
        ),
    ] = None,
    decide: Annotated[
        str | None,
        typer.Option(
            "--decide",
            metavar="QUESTION",
            help="Stop when it is answered: 'made>50%' or 'made<50%', by a confidence sequence, "
            "wrong at most 1 time in 20; --deals is the most.",
        ),
    ] = None,
    threads: ThreadsOption = None,
    engine: EngineOption = "threads",
    scheduler: SchedulerOption = None,
    scheduler_file: SchedulerFileOption = None,
    write_from_workers: WriteFromWorkersOption = False,
    max_seconds: MaxSecondsOption = None,
    shard: ShardOption = "1/1",
    dry_run: DryRunOption = False,
    resume: ResumeOption = True,
    out: OutOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play deals and store them: a row a deal, in Parquet files with a manifest; or a plan of runs.

    Reports and charts are made from the folder: milsim report bidding FOLDER. The same command
    gives the same bytes, whatever the threads. With --ci-width or --decide a shard plays all its
    parts: milsim runs merge, or the same command without --shard in a shared folder, then applies
    the rule and leaves out what lies behind the end.
    """
    n_deals, n_threads = parse_count("deals", deals, 1, MAX_DEALS), parse_threads(threads)
    first, seed_number = parse_count("start", start, 0, MAX_DEALS), parse_seed(seed)
    silent = quiet or json
    engines = partial(engine_of, engine, scheduler, scheduler_file, n_threads, quiet=silent)
    if plan_file is not None:
        check_options(context, plan_file)
        from milsim.simulation.grid import read_grid

        grid = read_grid(plan_file)
        target = folder_of(out, plan_file.stem, policies=(), digest=grid.digest())
        if not resume:
            check_fresh(target)
        if dry_run:
            show_estimates(grid, threads=n_threads, shard=shard, json=json, quiet=quiet)
        else:
            play(
                grid,
                target,
                partial(engines, folder=target if write_from_workers else None),
                shard=shard,
                max_seconds=max_seconds,
                json=json,
                quiet=quiet,
            )
        return
    from milsim.simulation.plan import Plan

    plan = Plan.make(
        deals=n_deals,
        seed=seed_number,
        start=first,
        mode=mode,
        rules=rules_of(rules, changes),
        policy=policy,
        where=where,
        dd=dd,
        ci_width=ci_width,
        decide=decide,
    )
    folder = folder_of(
        out,
        plan.rules.name,
        plan.mode,
        plan.deals,
        policies=plan.policies,
        digest=plan.digest(),
    )
    if not resume:
        check_fresh(folder)
    if dry_run:
        from milsim.simulation.grid import grid_of_plan

        grid = grid_of_plan(plan)
        show_estimates(grid, threads=n_threads, shard=shard, json=json, quiet=quiet)
        return
    announce_compilation(quiet=silent)
    from milsim.reports.summary import summary
    from milsim.store.collect import collect

    how = partial(collecting, shard=shard, max_seconds=max_seconds, quiet=silent)
    written = folder if write_from_workers else None
    with (
        engines(folder=written) as playing,
        shown_progress(plan.deals, "deals", quiet=silent) as progress,
    ):
        collected = collect(plan, folder, how(playing, progress))
    run = collected.run
    outcome = summary(run)
    if json:
        print_json(outcome.to_dict())
    else:
        typer.echo(outcome.text())
        say(f"stored in {folder}; next: milsim report bidding {folder}", quiet=quiet)
    collected.check(f"{run.deals:,} deals; they are saved in {folder}")
