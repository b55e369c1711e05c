"""The command line: one verb a file, and one place where errors become lines and exit codes.

Nothing heavy is imported here: `milsim --help` loads neither numba nor polars nor matplotlib.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from milsim.cli import bench, chart, deal, doctor, report, rules, simulate
from milsim.errors import ExitCode, MilsimError

app = typer.Typer(
    name="milsim",
    help="Simulation and analytics for the card game of Thousand (Mil, Tysiąc, Тысяча).",
    epilog="Data goes to stdout, words to stderr. Exit codes: 0 ok, 1 internal error, 2 usage, "
    "3 bad input, 4 stopped early with results saved, 5 a verification failed, 130 interrupted "
    "with results saved.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("simulate")(simulate.simulate)
app.command("report")(report.report)
app.command("chart")(chart.chart)
app.command("deal")(deal.deal)
app.add_typer(rules.app, name="rules")
app.command("bench")(bench.bench)
app.command("doctor")(doctor.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"milsim {version('milsim')}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[
        bool, typer.Option("--debug", help="On an error, show the whole traceback.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """What all verbs share; main() has already taken --debug out of the arguments."""


def main() -> None:
    """Run the command line and exit; the entry point of the package."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        app(arguments, prog_name="milsim")
    except MilsimError as error:
        if debug:
            raise
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe has gone (`| head`): nothing is wrong, and nobody listens.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.OK)
    except Exception as error:
        if debug:
            raise
        reason = " ".join(str(error).split())[:300]
        _fail(
            f"internal error: {type(error).__name__}: {reason} (--debug shows where)",
            ExitCode.INTERNAL,
        )


def _fail(message: str, code: int) -> None:
    typer.echo(f"milsim: {message}", err=True)
    sys.exit(code)
