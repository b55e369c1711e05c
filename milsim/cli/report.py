"""``milsim report``: tables from a run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from milsim.cli.compare import shown_steps
from milsim.cli.match import MAX_MATCHES
from milsim.cli.options import (
    announce_compilation,
    parse_count,
    parse_seed,
    parse_threads,
    refuse_on_terminal,
    rules_of,
    say,
    write_to_stdout,
)
from milsim.errors import UsageError

NAME_HELP = (
    "bidding, marriages, talon, contracts or seats (of deals), match or sheet (of matches), "
    "auction (of both), bias (of several runs of the same deals, or of one with --dd), advice (of "
    "no run), evaluator or hands (of the table of all hands), html (a page for the browser of one "
    "or several runs)."
)
OF_TABLE = ("evaluator", "hands")
"""Reports of the table of all hands."""
FORMAT_HELP = "text, csv, json, md or parquet; data formats hold all columns at full precision."


def report(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="A folder of milsim simulate or milsim match; for bias and html one or several.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[  # noqa: A002 (the option's name)
        str, typer.Option("--format", "-f", metavar="FORMAT", help=FORMAT_HELP)
    ] = "text",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="played|double-dummy|corrected|POLICY",
            help="Whose points: of the policies that played, or double dummy (a run with --dd), or "
            "that corrected by --bias; a policy's name asks that the run was played by it. Of "
            "hands and evaluator: expert, double-dummy or pimc (the table, corrected).",
        ),
    ] = "played",
    bias: Annotated[
        Path | None,
        typer.Option(
            "--bias",
            metavar="FILE",
            help="For --model corrected: what milsim report bias --format json --out FILE wrote.",
        ),
    ] = None,
    match: Annotated[
        str | None,
        typer.Option("--match", metavar="M", help="Which match of the run, for sheet; its first."),
    ] = None,
    deals: Annotated[
        str | None,
        typer.Option("--deals", "-n", metavar="N", help="For advice: deals played for it; 1e5."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="POLICY", help="For advice: who plays; greedy."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="N", help="For advice: seed of its deals; 1.")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="NAME|FILE",
            help="For advice, evaluator, hands: rules, a preset or a TOML file; mil.",
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
    threads: Annotated[
        str | None,
        typer.Option("--threads", metavar="N", help="For advice: threads; all cores."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="For evaluator and hands: a table of your own, of milsim table pack.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Turn a run into a table: bidding (what hands are worth), marriages, match, auction, sheet.

    All figures are sampled, with 95 % intervals, except columns called exact. A sheet is the score
    sheet of one match.
    """
    from milsim.reports import STUDIES, check_format, check_target, report_named, write

    if name not in STUDIES:
        report_named(name)
    chosen = "json" if json else check_format(format)
    if out is not None:
        check_target(out)
    else:
        refuse_on_terminal("html" if name == "html" else chosen, "name a file with --out")
    folders = runs or []
    asked: dict[str, Any] = {
        "deals": deals,
        "policy": policy,
        "seed": seed,
        "rules": rules,
        "set": changes or None,
        "threads": threads,
        "table": table,
    }
    if name in OF_TABLE:
        if folders or bias is not None or match is not None:
            raise UsageError(
                f"report {name}: takes --rules, --set, --table, --model, --format and --out only"
            )
        content = _of_table(name, asked, chosen, None if model == "played" else model)
    elif name == "advice":
        if table is not None:
            raise UsageError("--table: is for evaluator and hands, not for advice")
        if folders or model != "played" or bias is not None or match is not None:
            raise UsageError(
                "report advice: takes --deals, --policy, --seed, --rules, --set, --threads, "
                "--format, --out only"
            )
        content = _advice(asked, chosen, quiet=json)
    elif any(value is not None for value in asked.values()):
        given = next(option for option, value in asked.items() if value is not None)
        homes = "evaluator and hands" if given == "table" else "advice"
        raise UsageError(f"--{given}: is for {homes}, not for {name}")
    elif name == "bias":
        if model != "played" or bias is not None or match is not None:
            raise UsageError("report bias: takes runs, --format and --out only")
        announce_compilation(quiet=json)
        from milsim.reports.bias_frames import render_bias

        content = render_bias(folders, chosen, width=_width())
    elif name == "html":
        if json or format != "text" or model != "played" or bias is not None or match is not None:
            raise UsageError("report html: takes runs and --out only")
        content = _page(folders)
    else:
        content = _of_one_run(name, folders, chosen, model, bias, match, quiet=json)
    if out is not None:
        write(content, out)
        say(f"written to {out}")
    else:
        write_to_stdout(content)


def _page(folders: list[Path]) -> bytes:
    """The bytes of report html."""
    announce_compilation()
    from milsim.pages.run_report import run_report
    from milsim.store.planned import runs_in

    with shown_steps(quiet=False) as progress:
        return run_report(runs_in(folders), progress=progress).encode()


def _advice(asked: dict[str, Any], format: str, *, quiet: bool) -> bytes:  # noqa: A002
    """The bytes of report advice, which plays its own deals."""
    options: dict[str, Any] = {}
    if asked["deals"] is not None:
        options["deals"] = parse_count("deals", asked["deals"], 1000, 10**8)
    if asked["seed"] is not None:
        options["seed"] = parse_seed(asked["seed"])
    if asked["policy"] is not None:
        options["policy"] = asked["policy"]
    options["threads"] = parse_threads(asked["threads"])
    if asked["rules"] is not None or asked["set"] is not None:
        options["rules"] = rules_of(
            "mil" if asked["rules"] is None else asked["rules"], asked["set"]
        )
    announce_compilation(quiet=quiet)
    from milsim.reports.advice_frames import render_advice

    with shown_steps(quiet=quiet) as progress:
        return render_advice(format, width=_width(), progress=progress, **options)


def _of_table(
    name: str,
    asked: dict[str, Any],
    format: str,  # noqa: A002
    model: str | None,
) -> bytes:
    """The bytes of a report of the table of all hands."""
    taken = ("rules", "set", "table")
    given = next(
        (each for each, value in asked.items() if value is not None and each not in taken), None
    )
    if given is not None:
        raise UsageError(f"--{given}: is for advice, not for {name}")
    rules = rules_of("mil" if asked["rules"] is None else asked["rules"], asked["set"])
    if name == "hands":
        from milsim.reports.hand_strength import render_hands as rendered
    else:
        from milsim.reports.evaluator import render_evaluator as rendered
    return rendered(format, width=_width(), rules=rules, table=asked["table"], model=model)


def _of_one_run(
    name: str,
    runs: list[Path],
    format: str,  # noqa: A002
    model: str,
    bias: Path | None,
    match: str | None,
    *,
    quiet: bool,
) -> bytes:
    """The bytes of a report of one run."""
    from milsim.reports import report_named
    from milsim.store.match_run import open_any
    from milsim.store.run import MODELS, Run

    if len(runs) != 1:
        given = f"{len(runs)} are given" if runs else "none is given"
        raise UsageError(f"report {name}: needs one RUN, a folder of milsim simulate; {given}")
    options: dict[str, Any] = {}
    if match is not None:
        if name != "sheet":
            raise UsageError(f"--match: is for sheet, not for {name}")
        options["match"] = parse_count("match", match, 0, MAX_MATCHES)
    opened = open_any(runs[0])
    if isinstance(opened, Run) and (model not in MODELS or bias is not None):
        from milsim.reports.bias_table import run_by_model

        opened = run_by_model(opened, model, bias)
    else:
        opened = opened.as_model(model)
    announce_compilation(quiet=quiet)
    return report_named(name).render(opened, format, width=_width(), **options)


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
