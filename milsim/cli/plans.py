"""``milsim simulate PLAN``: all tasks of a plan file, each into a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milsim.cli.options import announce_compilation, print_json, say
from milsim.cli.running import collecting, shown_progress
from milsim.errors import UsageError

if TYPE_CHECKING:
    from milsim.simulation.grid import Grid, Task
    from milsim.store.engines import Engine

PlanArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="PLAN",
        help="A plan (TOML) whose keys are these options and may be lists: every combination is "
        "played, each into a folder of its own (docs/plans.md).",
        show_default=False,
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Play nothing; list the tasks, and what they will cost by a short calibration.",
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume/--no-resume",
        help="Go on with what the folder holds of the same plan, or refuse a folder that holds "
        "anything.",
    ),
]
SAID_BY_PLAN = (
    "deals", "mode", "rules", "changes", "policy", "seed", "start", "where", "dd", "ci_width",
    "decide",
)  # fmt: skip


def check_options(context: typer.Context, plan: Path) -> None:
    """Raise :class:`~milsim.errors.UsageError` for an option that the plan decides."""
    for name in SAID_BY_PLAN:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = {"changes": "set"}.get(name, name).replace("_", "-")
            raise UsageError(
                f"--{option}: {plan} says that; leave the option out, or edit the plan"
            )


def check_fresh(folder: Path) -> None:
    """Raise :class:`~milsim.errors.UsageError` if a folder holds anything: for --no-resume."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"out {folder}: holds something; leave --no-resume out to go on with it")


def show_estimates(grid: Grid, *, threads: int | None, shard: str, json: bool, quiet: bool) -> None:
    """Print what the tasks will cost."""
    announce_compilation(quiet=quiet or json)
    from milsim.reports.plan_print import estimates_text
    from milsim.store.estimating import estimates
    from milsim.tables.plan import shard_of
    from milsim.threads import checked_threads

    number, (_, shards) = checked_threads(threads), shard_of(shard)
    found = list(estimates(grid, threads=number, shards=shards))
    if json:
        print_json(
            {
                "threads": number,
                "seconds": round(sum(each.seconds for each in found), 3),
                "bytes": round(sum(each.size for each in found)),
                "tasks": [each.to_dict() for each in found],
            }
        )
    else:
        typer.echo(estimates_text(found, number))


def play(
    grid: Grid,
    folder: Path,
    playing: Callable[[], AbstractContextManager[Engine]],
    *,
    shard: str,
    max_seconds: str | None,
    json: bool,
    quiet: bool,
) -> None:
    """Play a plan and print a line a task; raises what did not end well."""
    silent = quiet or json
    announce_compilation(quiet=silent)
    from milsim.reports.plan_print import played_dict, played_text
    from milsim.store.planned import play_plan

    def heard(place: int, task: Task) -> None:
        say(f"{place + 1} of {len(grid.tasks)}: {task.name}", quiet=silent)

    how = partial(collecting, shard=shard, max_seconds=max_seconds, quiet=silent)
    total = sum(task.count for task in grid.tasks)
    units = {task.unit for task in grid.tasks}
    unit = units.pop() if len(units) == 1 else "deals and matches"
    with playing() as engine, shown_progress(total, unit, quiet=silent) as progress:
        played = play_plan(grid, folder, how(engine, progress), heard)
    if json:
        print_json(played_dict(played))
    else:
        typer.echo(played_text(played))
        say(f"stored in {folder}; next: milsim runs ls {folder}", quiet=quiet)
    played.check()
