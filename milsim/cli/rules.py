"""``milsim rules list | show | diff | compare | check | new``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from milsim.cli.compare import compare_rules
from milsim.cli.options import JsonOption, SetOption, print_json, rules_of, say
from milsim.errors import RulesError, UsageError, quote

if TYPE_CHECKING:
    from milsim.rules import Difference
    from milsim.rules.fields import Value

app = typer.Typer(
    help="Rule sets: presets and your own files.",
    rich_markup_mode=None,
    invoke_without_command=True,
)


@app.callback()
def _help(context: typer.Context) -> None:
    """Rule sets: presets and your own files."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


RulesArgument = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A preset's name or a TOML file.")
]


@app.command("list")
def list_rules(json: JsonOption = False) -> None:
    """The rule sets that ship with milsim, and where each comes from."""
    from milsim.rules import digest, load, preset_names

    presets = [load(name) for name in preset_names()]
    if json:
        print_json([{"name": r.name, "source": r.source, "digest": digest(r)} for r in presets])
        return
    width = max(len(rules.name) for rules in presets)
    for rules in presets:
        typer.echo(f"{rules.name:<{width}}  {digest(rules)[:8]}  {rules.source}")


@app.command("show")
def show_rules(
    rules: RulesArgument = "mil",
    changes: SetOption = None,
    plain: Annotated[bool, typer.Option("--plain", help="Without the comments.")] = False,
    json: JsonOption = False,
) -> None:
    """A rule set with every field and its meaning, as TOML that can be edited and loaded."""
    from milsim.rules import digest, to_toml, values_of

    loaded = rules_of(rules, changes)
    if json:
        print_json(
            {
                "name": loaded.name,
                "source": loaded.source,
                "digest": digest(loaded),
                "rules": values_of(loaded),
            }
        )
    else:
        typer.echo(to_toml(loaded, comments=not plain), nl=False)


@app.command("diff")
def diff_rules(
    first: RulesArgument,
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]",
            help="The rules to compare with; the first with what --set changes if not given.",
            show_default=False,
        ),
    ] = None,
    changes: SetOption = None,
    json: JsonOption = False,
) -> None:
    """The fields in which two rule sets differ; nothing if they are the same game.

    --set changes the second.
    """
    from milsim.rules import diff, load

    if second is None:
        if not changes:
            raise UsageError("rules diff: name a second rule set, or change the first with --set")
        second = first
    ours, theirs = load(first), rules_of(second, changes)
    found = diff(ours, theirs)
    if json:
        print_json([{"field": d.path, "first": d.first, "second": d.second} for d in found])
        return
    rows = [("field", ours.name, theirs.name), *(_texts(difference) for difference in found)]
    if not found:
        typer.echo(f"{first} and {second} are the same game", err=True)
        return
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        typer.echo("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip())


def _texts(difference: Difference) -> tuple[str, str, str]:
    return difference.path, _plain(difference.first), _plain(difference.second)


def _plain(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


app.command("compare")(compare_rules)


@app.command("new")
def new_rules(
    base: Annotated[
        str, typer.Option("--from", metavar="NAME|FILE", help="The rules to begin from.")
    ] = "mil",
    changes: SetOption = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The name of the new rules; that of the file, if not given.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a new TOML file.")
    ] = None,
) -> None:
    """A commented rules file to edit: every field, its meaning, and what may stand there."""
    from milsim.rules import parse, preset_names, template

    if name is None:
        stem = out.stem if out is not None else "my-rules"
        name = f"my-{stem}" if stem in preset_names() else stem
    text = template(rules_of(base, changes), name=name)
    parse(text)  # a name that no file may carry is refused here
    if out is None:
        typer.echo(text, nl=False)
        return
    from milsim.files import reason_of, write_atomically

    if out.suffix != ".toml":
        raise UsageError(f"out: {quote(str(out))} is no TOML file; name one that ends in .toml")
    if out.exists():
        raise RulesError(f"rules file {out}: exists already; name another, or remove it first")
    try:
        write_atomically(out, text.encode())
    except OSError as error:
        raise RulesError(f"rules file {out}: cannot write, {reason_of(error)}") from None
    say(f"written to {out}; next: edit it, then milsim rules check {out}")


@app.command("check")
def check_rules(rules: RulesArgument, changes: SetOption = None) -> None:
    """Read a rule set and say whether it holds together; exit 3 with the fault if not."""
    from milsim.rules import digest

    loaded = rules_of(rules, changes)
    typer.echo(f"{rules}: ok, {loaded.name}, digest {digest(loaded)[:16]}")
