"""``milsim simulate``: play deals into a run folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from milsim.errors import InterruptedRunError, UsageError

if TYPE_CHECKING:
    from milsim.simulation.plan import Plan
    from milsim.store.collect import Progress, Report

SECONDS_BETWEEN_LINES = 10.0
MAX_DEALS = 10**12


def simulate(
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
            metavar="NAME[,NAME,NAME]",
            help="Who plays: random or greedy; one name, or three by seat (forehand first).",
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
    threads: ThreadsOption = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Run folder, new or empty; if not "
            "given, a name in out/ that tells what was played.",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play deals and store them: a row a deal, in Parquet files with a manifest.

    Reports and charts are made from the folder: milsim report bidding FOLDER. The same command
    gives the same bytes, whatever the threads.
    """
    n_deals, n_threads = parse_count("deals", deals, 1, MAX_DEALS), parse_threads(threads)
    first, seed_number = parse_count("start", start, 0, MAX_DEALS), parse_seed(seed)
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
    )
    folder = Path(out) if out else default_folder(plan)
    if out == "":
        raise UsageError("out: '' is no folder's name")
    silent = quiet or json
    announce_compilation(quiet=silent)
    from milsim.reports.summary import summary
    from milsim.store.collect import collect

    with _progress(plan, quiet=silent) as progress:
        run = collect(plan, folder, threads=n_threads, progress=progress)
    outcome = summary(run)
    if json:
        print_json(outcome.to_dict())
    else:
        typer.echo(outcome.text())
        say(f"stored in {folder}; next: milsim report bidding {folder}", quiet=quiet)
    if not run.complete:
        raise InterruptedRunError(
            f"interrupted after {run.deals:,} deals; they are saved in {folder}"
        )


def default_folder(plan: Plan) -> Path:
    """A folder name that tells what was played, and differs where the plan differs."""
    policies = plan.policies[0] if len(set(plan.policies)) == 1 else "-".join(plan.policies)
    return Path("out") / (
        f"{plan.rules.name}-{plan.mode}-{policies}-{plan.deals}-{plan.digest()[:8]}"
    )


@contextmanager
def _progress(plan: Plan, *, quiet: bool) -> Iterator[Report | None]:
    """A bar with rate and time left on a terminal; elsewhere a line now and then."""
    rate = ""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        shown: Any = typer.progressbar(
            length=plan.deals,
            label="deals",
            file=sys.stderr,
            show_pos=True,
            show_eta=True,
            item_show_func=lambda _: rate,
        )
        with shown as bar:

            def show(progress: Progress) -> None:
                nonlocal rate
                rate = f"{progress.done / max(progress.seconds, 1e-9):,.0f} deals/s"
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
                f"{progress.done:,} of {progress.total:,} deals, {speed:,.0f}/s, {left:,.0f} s left"
            )

        yield line
