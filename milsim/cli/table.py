"""``milsim table``: build the value of every hand, look at it, check it, pack it."""

from __future__ import annotations

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
    announce_compilation,
    parse_count,
    parse_seed,
    parse_threads,
    print_json,
    rules_of,
    say,
)
from milsim.cli.running import shown_progress
from milsim.errors import InterruptedRunError, RunError

if TYPE_CHECKING:
    from milsim.tables.folder import Table

app = typer.Typer(
    name="table",
    help="The value of every hand: all 346,104 hands of seven cards, played by a fast policy.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

FolderArgument = Annotated[
    str, typer.Argument(metavar="FOLDER", help="A folder written by milsim table build.")
]


@app.command("build")
def build(
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FOLDER", help="New, empty, or one to go on with."),
    ],
    rules: RulesOption = "mil",
    changes: SetOption = None,
    policy: Annotated[
        str,
        typer.Option("--policy", metavar="NAME", help="Who plays: expert, greedy or random."),
    ] = "expert",
    per_talon: Annotated[
        str,
        typer.Option(
            "--per-talon", metavar="N", help="Deals of each hand with each of its 680 talons."
        ),
    ] = "1",
    seed: SeedOption = "1",
    hands: Annotated[
        str | None,
        typer.Option("--hands", metavar="A:B", help="Only hands of ranks A to B - 1; all else."),
    ] = None,
    shard: Annotated[
        str,
        typer.Option(
            "--shard",
            metavar="K/N",
            help="Only every n-th part, from the k-th on; shards may share the folder.",
        ),
    ] = "1/1",
    threads: ThreadsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play every hand as declarer with each of its talons, and as one who passes.

    What is in the folder already is kept: the same command goes on where it stopped, and a second
    one changes nothing. The same plan gives the same bytes, whatever the threads and shards.
    """
    n_threads, seed_number = parse_threads(threads), parse_seed(seed)
    from milsim.tables.plan import MAX_PER_TALON, TablePlan, hands_of, shard_of

    plan = TablePlan.make(
        rules=rules_of(rules, changes),
        policy=policy,
        seed=seed_number,
        per_talon=parse_count("per-talon", per_talon, 1, MAX_PER_TALON),
        hands=None if hands is None else hands_of(hands),
    )
    which = shard_of(shard)
    silent = quiet or json
    announce_compilation(quiet=silent)
    from milsim.tables.building import build_table, hands_left

    with shown_progress(hands_left(plan, out, which), "hands", quiet=silent) as progress:
        table = build_table(plan, out, threads=n_threads, shard=which, progress=progress)
    _print(table, json)
    if hands_left(plan, out, which):
        raise InterruptedRunError(
            f"interrupted; {table.rows:,} hands are saved in {out}, and the same command goes on"
        )
    if not quiet and not json and table.complete and plan.is_whole:
        say(f"next: milsim table pack {out} --out FILE.hands")


@app.command("show")
def show(folder: FolderArgument, json: JsonOption = False) -> None:
    """What a table holds, and how far it is built."""
    from milsim.tables.folder import Table

    _print(Table.open(folder), json)


@app.command("verify")
def verify(folder: FolderArgument, json: JsonOption = False) -> None:
    """Compare every part of a table with its digest; exit code 5 if one differs."""
    from milsim.tables.folder import Table

    table = Table.open(folder)
    parts = table.verify()
    if json:
        print_json({"parts": parts, "hands": table.rows, "complete": table.complete})
    else:
        typer.echo(f"{parts} parts of {table.rows:,} hands are as they were written")


@app.command("pack")
def pack(
    folder: FolderArgument,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
) -> None:
    """Make the compact table of a full one: some bytes a hand, as milsim hand reads it."""
    from milsim.files import reason_of, write_atomically
    from milsim.tables.compact import CompactTable
    from milsim.tables.folder import Table

    content = CompactTable.packed(Table.open(folder)).to_bytes()
    try:
        write_atomically(Path(out), content)
    except (OSError, ValueError) as error:
        raise RunError(f"out {out}: cannot write, {reason_of(error)}") from error
    say(f"{len(content):,} bytes in {out}")


def _print(table: Table, json: bool) -> None:
    plan = table.plan
    if json:
        data: dict[str, Any] = {
            **plan.to_dict(),
            "rules_name": plan.rules.name,
            "built": table.rows,
            "complete": table.complete,
            "kernels": table.manifest["kernels"],
            "versions": table.manifest["versions"],
        }
        print_json(data)
        return
    built = "all built" if table.complete else f"{table.rows:,} built"
    ranks = "" if plan.is_whole else f", ranks {plan.first}:{plan.last}"
    typer.echo(f"hands     {plan.hands:,}{ranks}; {built}")
    typer.echo(
        f"deals     {680 * plan.per_talon:,} a hand, {plan.per_talon} with each of 680 talons"
    )
    typer.echo(f"rules     {plan.rules.name} ({plan.to_dict()['rules'][:8]})")
    typer.echo(f"policy    {plan.policy}, seed {plan.seed}")
