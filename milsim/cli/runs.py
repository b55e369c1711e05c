"""``milsim runs``: list, check, merge and compact run folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milsim.cli.options import (
    JsonOption,
    QuietOption,
    announce_compilation,
    parse_count,
    parse_seed,
    print_json,
    say,
)
from milsim.errors import UsageError, VerificationError

if TYPE_CHECKING:
    from milsim.store.verifying import Verification

app = typer.Typer(
    name="runs",
    help="Run folders: list them, read them again, put shards together.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A folder of milsim simulate or milsim match.")
]
OutFolder = Annotated[
    str, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write.")
]
MOST_SHOWN = 20


@app.command("ls")
def ls(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER]...", help="Where to look, at any depth; out/ if none."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List runs: what was played, how much of it, and whether it is complete."""
    from milsim.store.listing import found_runs, listing_text
    from milsim.store.planned import is_of_plan

    # Of FOLDER/* also a plan's own files are given; they are no runs.
    chosen = [each for each in folders or [Path("out")] if not is_of_plan(each)]
    runs = found_runs(chosen)
    if json:
        print_json([each.to_dict() for each in runs])
    else:
        typer.echo(listing_text(runs))


@app.command("verify")
def verify(
    run: RunArgument,
    sample: Annotated[
        str,
        typer.Option("--sample", metavar="N", help="Deals or matches to play again; 0 for none."),
    ] = "500",
    seed: Annotated[
        str, typer.Option("--seed", metavar="N", help="Another seed is another sample.")
    ] = "1",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read every byte of a run again, and play a sample of its deals again; exit code 5 if wrong.

    Reports parts that are torn, empty, missing, changed, duplicated, foreign, wrongly played, or
    unfinished, as a kill may leave them. Of a plan's folder all runs are read.
    """
    count, number = parse_count("sample", sample, 0, 10**9), parse_seed(seed)
    announce_compilation(quiet=quiet or json)
    from milsim.store.planned import is_plan, not_begun, runs_in
    from milsim.store.verifying import verify_run

    of_plan = is_plan(run)
    found = []
    for folder in runs_in([run]) if of_plan else [run]:
        found.append(verify_run(folder, sample=count, seed=number))
        if not json:
            if of_plan:
                typer.echo(f"{folder.name}:")
            _print(found[-1])
    if json:
        print_json([each.to_dict() for each in found] if of_plan else found[0].to_dict())
    elif of_plan and (left := not_begun(run)):
        typer.echo(f"{len(left):,} of {len(left) + len(found):,} tasks are not begun")
    faults = sum(len(each.faults) for each in found)
    if faults:
        raise VerificationError(
            f"run {run}: {faults:,} fault{'s' * (faults > 1)}; the command that played it, given "
            "again, mends what it can"
        )
    if not json:
        looked = any(each.notes for each in found)
        say("nothing is wrong" + " in what was looked at" * looked, quiet=quiet)


def _print(found: Verification) -> None:
    left = f"; {found.left:,} of the plan are not played yet" if found.left else ""
    parts = f"{found.pieces:,} part{'s' * (found.pieces != 1)}"
    typer.echo(f"{parts}, {found.rows:,} rows read; {found.replayed:,} played again{left}")
    for note in found.notes:
        typer.echo(note)
    for fault in found.faults[:MOST_SHOWN]:
        typer.echo(str(fault))
    if found.faults[MOST_SHOWN:]:
        typer.echo(f"... and {len(found.faults) - MOST_SHOWN:,} faults more; --json has all")


@app.command("merge")
def merge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="The folders of the shards.")
    ],
    out: OutFolder,
    quiet: QuietOption = False,
) -> None:
    """Put the shards of a run together, in any order: the folder that one machine would write.

    A rule to stop by (--ci-width, --decide) is applied: what lies behind the end is left out.
    Folders of one plan are merged task by task.
    """
    from milsim.store.merging import merge_runs
    from milsim.store.pieces import spans_of
    from milsim.store.planned import is_plan, merge_plans

    if is_plan(runs[0]):
        merged_runs = merge_plans(runs, out)
        done = sum(each.complete for each in merged_runs)
        say(f"{len(merged_runs):,} tasks in {out}, {done:,} of them complete", quiet=quiet)
        return
    merged = merge_runs(runs, out)
    manifest = merged.manifest
    say(
        f"{manifest.stored:,} of {manifest.planned:,} in {out}: {spans_of(manifest.pieces)}",
        quiet=quiet,
    )


@app.command("compact")
def compact(
    run: RunArgument,
    out: OutFolder,
    rows: Annotated[
        str, typer.Option("--rows", metavar="N", help="The most rows of a part.")
    ] = "4194304",
    quiet: QuietOption = False,
) -> None:
    """Write a run once more with its many small parts joined into few large ones.

    If it was interrupted, the same command goes on.
    """
    count = parse_count("rows", rows, 1, 1 << 30)
    from milsim.store.merging import compact_run
    from milsim.store.planned import is_plan

    if is_plan(run):
        raise UsageError(f"run {run}: holds the runs of a plan; name one of them")
    compacted = compact_run(run, out, rows=count)
    manifest = compacted.manifest
    say(f"{manifest.stored:,} in {len(manifest.pieces):,} parts in {out}", quiet=quiet)
