"""``milsim chart``: pictures from runs, and from the table of all hands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from milsim.cli.options import QuietOption, announce_compilation, rules_of, say
from milsim.errors import UsageError

NAME_HELP = (
    "Of a run: bid-strength, marriages, marriage-parts or talon; of one with --dd, or several of "
    "the same deals: bias; of the table of all hands, no run: strength-map, percentile or score."
)


def chart(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="A folder of milsim simulate; for bias one or several.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="played|double-dummy",
            help="Whose points: of the policies that played, or double dummy (a run with --dd).",
        ),
    ] = "played",
    hand: Annotated[
        str | None,
        typer.Option(
            "--hand",
            metavar="CARDS",
            help="For score: seven cards, as AKQ.T9.J.A; all hands by class if not given.",
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="NAME|FILE",
            help="For charts of the table: rules, a preset or a TOML file; mil.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="For the same: set one field of the rules otherwise; may be repeated.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="For the same: a table of your own, of milsim table pack.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A .png or .svg file; NAME.png if not given."
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Draw a run, or the table of all hands: chances, scores, strength, marriages, bias."""
    from milsim.reports import CHARTS, chart_named, check_picture_path, check_target

    entry, folders = chart_named(name), runs or []
    entry.check(len(folders))
    asked: dict[str, Any] = {"hand": hand, "rules": rules, "set": changes or None, "table": table}
    given = next((option for option, value in asked.items() if value is not None), None)
    if given is not None and not entry.of_table:
        homes = [each.name for each in CHARTS.values() if each.of_table]
        homes = ["score"] if given == "hand" else homes
        raise UsageError(f"--{given}: is for chart {', '.join(homes)}, not for {name}")
    if hand is not None and name != "score":
        raise UsageError(f"--hand: is for chart score, not for {name}")
    if model != "played" and "deals" not in entry.of:
        raise UsageError(f"--model: is for charts of one run, not for {name}")
    path = check_target(check_picture_path(out if out is not None else Path(f"{name}.png")))

    from milsim.reports import save
    from milsim.store.run import Run

    if entry.of_table:
        options: dict[str, Any] = {"rules": rules_of(rules or "mil", changes), "table": table}
        if hand is not None:
            options["hand"] = hand
        save(entry.build(**options), path)
    else:
        opened = [Run.open(run).as_model(model) for run in folders]
        announce_compilation(quiet=quiet)
        save(entry.build(*opened), path)
    say(f"written to {path}", quiet=quiet)
