"""``milsim exchange``: which two of ten cards to give away, and which contract to name."""

from __future__ import annotations

from typing import Annotated

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
)
from milsim.errors import UsageError


def exchange(
    hand: Annotated[
        str,
        typer.Argument(
            metavar="CARDS",
            help="The declarer's ten cards, the talon among them: 'AKQ.AT.AK9.K9' or 'AS KS QS …'.",
        ),
    ],
    bid: Annotated[
        str | None,
        typer.Option(
            "--bid", metavar="B", help="What made him declarer; the minimum if not given."
        ),
    ] = None,
    contract: Annotated[
        str | None,
        typer.Option(
            "--contract",
            metavar="C",
            help="Rank the gifts by this contract, not by the one that scores most.",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option("--by", metavar="score|points", help="What the best gifts are best in."),
    ] = "score",
    top: Annotated[
        str, typer.Option("--top", metavar="N", help="How many pairs of gifts to show, 1 to 20.")
    ] = "5",
    policy: Annotated[
        str, typer.Option("--policy", metavar="SPEC", help="Who plays the best gifts honestly.")
    ] = "pimc",
    seconds: Annotated[
        str,
        typer.Option(
            "--seconds", metavar="S", help="Time for honest play, 0 for none; the rest is exact."
        ),
    ] = "3",
    rules: RulesOption = "mil",
    changes: SetOption = None,
    letters: Annotated[
        str,
        typer.Option("--letters", metavar="english|polish|russian", help="Rank letters to read."),
    ] = "english",
    seed: SeedOption = "1",
    threads: ThreadsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say which two cards to give, to whom, and which contract to name, from ten cards.

    Exact over all 3,432 layouts of the other cards with double-dummy play; then the best gifts are
    played by policies that see their own cards only.
    """
    try:
        time = float(seconds)
    except ValueError:
        raise UsageError(f"seconds: {seconds[:40]!r} is not a number, such as 3 or 0.5") from None
    wanted = parse_count("top", top, 1, 20)
    made_bid = None if bid is None else parse_count("bid", bid, 0, 10_000)
    aim = None if contract is None else parse_count("contract", contract, 0, 10_000)
    chosen_seed, n_threads = parse_seed(seed), parse_threads(threads)
    chosen = rules_of(rules, changes)
    announce_compilation(quiet=quiet or json)
    from milsim.gifts import exchange as exchange_of

    found = exchange_of(
        hand,
        rules=chosen,
        bid=made_bid,
        contract=aim,
        by=by,
        top=wanted,
        policy=policy,
        seconds=time,
        seed=chosen_seed,
        threads=n_threads,
        letters=letters,
    )
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))


__all__ = ["exchange"]
