"""The command line: one verb a file, and one place where errors become lines and exit codes.

Nothing heavy is imported here: `milsim --help` loads neither numba nor polars nor matplotlib.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from milsim.cli import (
    arena,
    bench,
    chart,
    deal,
    doctor,
    exchange,
    explore,
    hand,
    match,
    report,
    rules,
    runs,
    simulate,
    solve,
    table,
)
from milsim.errors import ExitCode, MilsimError, one_line

app = typer.Typer(
    name="milsim",
    help="Simulation and analytics for the card game of Thousand (Mil, Tysiąc, Тысяча).",
    epilog="Data goes to stdout, words to stderr. Exit codes: 0 ok, 1 internal error, 2 usage, "
    "3 bad input, 4 stopped early with results saved, 5 a verification failed, 130 interrupted "
    "with results saved.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("hand")(hand.hand)
app.command("simulate")(simulate.simulate)
app.command("match")(match.match)
app.command("arena")(arena.arena)
app.command("report")(report.report)
app.command("chart")(chart.chart)
app.command("solve")(solve.solve)
app.command("exchange")(exchange.exchange)
app.command("explore")(explore.explore)
app.command("deal")(deal.deal)
app.add_typer(rules.app, name="rules")
app.add_typer(table.app, name="table")
app.add_typer(runs.app, name="runs")
app.command("bench")(bench.bench)
app.command("doctor")(doctor.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"milsim {version('milsim')}")
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    debug: Annotated[  # noqa: ARG001 (main takes it before)
        bool, typer.Option("--debug", help="On an error, show the whole traceback.")
    ] = False,
    version: Annotated[  # noqa: ARG001 (its callback acts)
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """What all verbs share; main() has already taken --debug out of the arguments."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def _verbs() -> Any:
    """All verbs with their options, which Typer takes a tenth of a second to put together."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line and exit; see :mod:`milsim.cli.entry`."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    if sys.stderr is None:  # 2>&-: nobody listens to the words
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (open to the end)
    if sys.stdout is None:
        _fail("stdout is closed; give it a file or a terminal", ExitCode.BAD_INPUT)
    try:
        code = _verbs()(arguments, prog_name="milsim", standalone_mode=False)
        sys.stdout.flush()
        if code == ExitCode.INTERRUPTED:  # Typer's answer to Ctrl-C
            raise KeyboardInterrupt
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", ExitCode.INTERRUPTED)
    except (BrokenPipeError, SystemExit) as stop:
        # The reader of a pipe has gone (`| head`): nothing is wrong, and nobody listens. Typer
        # turns the error into an exit.
        if isinstance(stop, SystemExit) and not isinstance(stop.__context__, BrokenPipeError):
            raise
        _drop_stdout()
        code = ExitCode.OK
    except Exception as error:
        if debug:
            raise
        _fail(*_as_line(error))
    except BaseException as error:
        if debug or type(error).__name__ != "PanicException":
            raise
        # How polars' Rust ends when it meets Parquet that contradicts itself.
        line = "a part cannot be read, its Parquet contradicts itself; milsim runs verify names it"
        _fail(line, ExitCode.BAD_INPUT)
    sys.exit(code if isinstance(code, int) else ExitCode.OK)


def _as_line(error: Exception) -> tuple[str, int]:
    """An error as one line and an exit code."""
    if isinstance(error, MilsimError):
        return str(error), error.exit_code
    explain = getattr(error, "format_message", None)
    if explain is not None:  # the parser of the arguments: an unknown option, a missing value
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "milsim"
        message = explain().rstrip(".")
        return f"{message[:1].lower()}{message[1:]}; see {command} --help", ExitCode.USAGE
    if isinstance(error, OSError) and error.filename is None:
        _drop_stdout()
        return f"stdout: cannot write, {(error.strerror or str(error)).lower()}", ExitCode.BAD_INPUT
    reason = " ".join(str(error).split())[:300]
    if type(error).__module__.startswith("polars") and reason.startswith("parquet: "):
        return (
            f"a part cannot be read, {reason[:120]}; milsim runs verify names it",
            ExitCode.BAD_INPUT,
        )
    line = f"internal error: {type(error).__name__}: {reason} (--debug shows where)"
    return line, ExitCode.INTERNAL


def _drop_stdout() -> None:
    """Send what is still to come, also at the interpreter's exit, nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    # A name in the message may hold line ends or escapes: one line it is, and harmless.
    print(f"milsim: {one_line(message)}", file=sys.stderr)
    sys.exit(code)
