"""``milsim table``: build the value of every hand, sample stronger models, look, check, pack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from milsim.cli.running import MaxSecondsOption, collecting, shown_progress
from milsim.errors import RunError, UsageError

if TYPE_CHECKING:
    from milsim.tables.folder import Table
    from milsim.tables.sampling import ModelSample

app = typer.Typer(
    name="table",
    help="The value of every hand: all 346,104 hands of seven cards, played by a fast policy.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

FolderArgument = Annotated[
    str,
    typer.Argument(metavar="FOLDER", help="A folder written by milsim table build or sample."),
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
    max_seconds: MaxSecondsOption = None,
    threads: ThreadsOption = None,
    engine: EngineOption = "threads",
    scheduler: SchedulerOption = None,
    scheduler_file: SchedulerFileOption = None,
    write_from_workers: WriteFromWorkersOption = False,
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
    which, silent = shard_of(shard), quiet or json
    announce_compilation(quiet=silent)
    from milsim.tables.building import collect_table, hands_left, stored_in

    written = Path(out) if write_from_workers else None
    with (
        engine_of(
            engine, scheduler, scheduler_file, n_threads, folder=written, quiet=silent
        ) as playing,
        shown_progress(hands_left(plan, out, which), "hands", quiet=silent) as progress,
    ):
        how = collecting(playing, progress, shard=shard, max_seconds=max_seconds, quiet=silent)
        collected = collect_table(plan, out, how)
    table = collected.run
    _print(table, json)
    collected.check(stored_in(table))
    if not silent and table.complete and plan.is_whole:
        say(f"next: milsim table pack {out} --out FILE.hands")


@app.command("sample")
def sample(
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FOLDER", help="New, empty, or one to go on with."),
    ],
    rules: RulesOption = "mil",
    changes: SetOption = None,
    policy: Annotated[
        str, typer.Option("--policy", metavar="NAME", help="Whose table it is to correct.")
    ] = "expert",
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            metavar="NAME=N[,NAME=N]",
            help="Who plays or solves, and how many deals of each hand: double-dummy=32,pimc=10.",
        ),
    ] = None,
    hands: Annotated[
        str | None,
        typer.Option("--hands", metavar="N", help="How many hands, of all classes; 2400."),
    ] = None,
    seed: SeedOption = "1",
    max_seconds: MaxSecondsOption = None,
    threads: ThreadsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play a sample of the hands by stronger models, in the table's deals: to correct a table.

    Hands of all classes (marriages, aces, guarded tens), the rare ones more often than they come.
    It goes on where it stopped, and gives the same bytes whatever the threads.
    """
    n_threads, seed_number = parse_threads(threads), parse_seed(seed)
    from milsim.dealing.tables import N_HANDS
    from milsim.tables.sample_plan import DEFAULT_HANDS, SamplePlan, models_of

    plan = SamplePlan.make(
        rules=rules_of(rules, changes),
        policy=policy,
        seed=seed_number,
        hands=DEFAULT_HANDS if hands is None else parse_count("hands", hands, 1, N_HANDS),
        models=None if models is None else models_of(models),
    )
    silent = quiet or json
    announce_compilation(quiet=silent)
    from milsim.store.engines import Threads
    from milsim.tables.sampling import collect_sample, hands_to_play, stored_in

    with shown_progress(hands_to_play(plan, out), "hands", quiet=silent) as progress:
        how = collecting(Threads(n_threads), progress, max_seconds=max_seconds, quiet=silent)
        collected = collect_sample(plan, out, how)
    _print_sample(collected.run, json)
    collected.check(stored_in(collected.run))
    if not silent:
        say(f"next: milsim table pack {out} --out FILE.models.json")


@app.command("show")
def show(folder: FolderArgument, json: JsonOption = False) -> None:
    """What a table or a sample of models holds, and how far it is."""
    from milsim.tables.folder import Table

    found = _opened(folder)
    if isinstance(found, Table):
        _print(found, json)
    else:
        _print_sample(found, json)


@app.command("verify")
def verify(folder: FolderArgument, json: JsonOption = False) -> None:
    """Compare every part of a table or a sample with its digest; exit code 5 if one differs."""
    from milsim.tables.folder import Table

    found = _opened(folder)
    parts = found.verify()
    hands = found.rows if isinstance(found, Table) else found.hands
    if json:
        print_json({"parts": parts, "hands": hands, "complete": found.complete})
    else:
        typer.echo(f"{parts} parts of {hands:,} hands are as they were written")


@app.command("pack")
def pack(
    folder: FolderArgument,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="Of a sample: the packed table to correct; the one that comes with milsim.",
        ),
    ] = None,
) -> None:
    """Make the compact table of a full one, or what corrects a table of a sample of models.

    Some bytes a hand, or some kilobytes: the files that milsim hand reads.
    """
    from milsim.files import reason_of, write_atomically

    content = _packed(_opened(folder), table)
    try:
        write_atomically(Path(out), content)
    except (OSError, ValueError) as error:
        raise RunError(f"out {out}: cannot write, {reason_of(error)}") from error
    say(f"{len(content):,} bytes in {out}")


def _opened(folder: str) -> Table | ModelSample:
    """What a folder holds, by its manifest."""
    from milsim.tables.folder import Table, kind_of
    from milsim.tables.sampling import KIND, ModelSample

    return ModelSample.open(folder) if kind_of(folder) == KIND else Table.open(folder)


def _packed(found: Table | ModelSample, table: str | None) -> bytes:
    from milsim.tables.compact import CompactTable, read_compact, shipped_table
    from milsim.tables.correcting import corrections_of
    from milsim.tables.folder import Table

    if isinstance(found, Table):
        if table is not None:
            raise UsageError("--table: is for a sample of models; the folder is a table itself")
        return CompactTable.packed(found).to_bytes()
    rules = found.plan.rules
    known = shipped_table(rules) if table is None else read_compact(table)
    if known is None:
        raise RunError(
            f"sample {found.folder}: no table of rules {rules.name} comes with milsim; give "
            "--table FILE of milsim table pack"
        )
    if not found.complete:
        say(
            f"{found.hands:,} of {found.plan.hands:,} hands are played; milsim table sample goes on"
        )
    return corrections_of(found, known).to_bytes()


def _print_sample(sample: ModelSample, json: bool) -> None:
    plan = sample.plan
    if json:
        data: dict[str, Any] = {
            **plan.to_dict(),
            "rules_name": plan.rules.name,
            "played": sample.hands,
            "complete": sample.complete,
            "kernels": sample.manifest["kernels"],
            "versions": sample.manifest["versions"],
        }
        print_json(data)
        return
    played = "all played" if sample.complete else f"{sample.hands:,} played"
    typer.echo(f"hands     {plan.hands:,}, a sample by class; {played}")
    models = ", ".join(f"{name} {deals}" for name, deals in plan.models)
    typer.echo(f"deals     {models} a hand, and {plan.policy} in the same deals")
    typer.echo(f"rules     {plan.rules.name} ({plan.to_dict()['rules'][:8]})")
    typer.echo(f"seed      {plan.seed}")


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
