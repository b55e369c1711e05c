"""``milsim bench``: measure the engine beside its goals."""

from __future__ import annotations

from typing import Annotated

import typer

from milsim.cli.options import (
    JsonOption,
    QuietOption,
    announce_compilation,
    parse_count,
    print_json,
)


def bench(
    deals: Annotated[
        str, typer.Option("--deals", "-n", metavar="N", help="Size of the runs.")
    ] = "1e6",
    rounds: Annotated[
        str, typer.Option("--rounds", metavar="N", help="Rounds of each; the best counts.")
    ] = "3",
    everything: Annotated[
        bool, typer.Option("--all", help="Also the first compile of the kernels.")
    ] = False,
    signature: Annotated[
        bool,
        typer.Option(
            "--signature",
            help="Only print the solver's signature: positions searched over fixed deals.",
        ),
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure speed, start times and memory, each beside its goal.

    Ratios say how many times the bar is reached: 1.00 is just enough. Two threads over one is a
    median, with its quartiles. Last come the tails of single solves: median, 99 in a hundred, and
    the longest. Machines are noisy, so compare figures of one run only.
    """
    n = parse_count("deals", deals, 1000, 10**9)
    times = parse_count("rounds", rounds, 1, 100)
    announce_compilation(quiet=quiet or json)
    if signature:
        from milsim.solver import signature as nodes

        print_json({"signature": nodes()}) if json else typer.echo(nodes())
        return
    from milsim.benchmark import measure, tails

    figures = []
    if not json:
        typer.echo(f"{'what':<52}{'measured':>16}{'bar':>12}{'aim':>12}{'ratio':>8}")
    for figure in measure(deals=n, rounds=times, everything=everything):
        figures.append(figure)
        goal = figure.goal
        if not json:
            unit = f" {goal.unit}"
            typer.echo(
                f"{goal.what:<52}{_number(figure.value) + unit:>16}{_number(goal.bar):>12}"
                f"{_number(goal.aim):>12}{figure.ratio:>8.2f}{_between(figure.quartiles)}"
            )
    if not json:
        typer.echo(f"\n{'tail of':<52}{'p50':>12}{'p99':>12}{'max':>12}")
    found = []
    for tail in tails(deals=n, rounds=times):
        found.append(tail)
        if not json:
            times_us = "".join(f"{f'{time:,.0f} us':>12}" for time in tail.microseconds)
            typer.echo(f"{tail.what:<52}{times_us}")
            searched = "".join(f"{each:>12,}" for each in tail.nodes)
            typer.echo(f"{'  positions searched':<52}{searched}")
    if json:
        print_json(
            [
                {
                    "name": figure.goal.name,
                    "what": figure.goal.what,
                    "unit": figure.goal.unit,
                    "value": figure.value,
                    "bar": figure.goal.bar,
                    "aim": figure.goal.aim,
                    "ratio": figure.ratio,
                    "quartiles": figure.quartiles,
                }
                for figure in figures
            ]
            + [
                {
                    "name": tail.name,
                    "what": tail.what,
                    "unit": "us",
                    **dict(zip(("p50", "p99", "max"), tail.microseconds, strict=True)),
                    **dict(zip(("nodes_p50", "nodes_p99", "nodes_max"), tail.nodes, strict=True)),
                }
                for tail in found
            ]
        )


def _between(quartiles: tuple[float, float] | None) -> str:
    return "" if quartiles is None else f"  ({quartiles[0]:.2f} to {quartiles[1]:.2f})"


def _number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.1f} M"
    if value >= 1e4:
        return f"{value / 1e3:.0f} k"
    return f"{value:.3g}"
