"""``milsim hand``: what seven cards are worth, and how high to bid them."""

from __future__ import annotations

from typing import Annotated

import typer

from milsim.cli.options import (
    JsonOption,
    QuietOption,
    RulesOption,
    SetOption,
    ThreadsOption,
    announce_compilation,
    parse_count,
    parse_threads,
    print_json,
    rules_of,
)
from milsim.errors import InterruptedRunError, UsageError, quote


def hand(
    cards: Annotated[
        str,
        typer.Argument(
            metavar="CARDS",
            help="Seven cards: AKQ.T9.J.A (spades.hearts.diamonds.clubs), or 'AS KS QS TH 9H JD "
            "AC'. With fewer, the average of all hands that hold them.",
        ),
    ],
    rules: RulesOption = "mil",
    changes: SetOption = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME[,NAME]",
            help="Who plays: expert, greedy or random (at most one of them), double-dummy, "
            "corrected, pimc; the first one leads.",
        ),
    ] = "expert,double-dummy",
    seconds: Annotated[
        str,
        typer.Option(
            "--seconds", metavar="S", help="How long to play live; 0: only look at the table."
        ),
    ] = "2",
    per_talon: Annotated[
        str | None,
        typer.Option(
            "--per-talon",
            metavar="N",
            help="Instead of by time: N deals with each talon (the same answer on any machine).",
        ),
    ] = None,
    deals: Annotated[
        str | None,
        typer.Option("--deals", metavar="N", help="The same for double-dummy, corrected and pimc."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="FILE", help="A table of your own: milsim table pack."),
    ] = None,
    corrections: Annotated[
        str | None,
        typer.Option(
            "--corrections",
            metavar="FILE",
            help="What corrects the table to double-dummy and pimc: milsim table sample and pack.",
        ),
    ] = None,
    bias: Annotated[
        str | None,
        typer.Option(
            "--bias", metavar="FILE", help="For corrected: milsim report bias --format json."
        ),
    ] = None,
    letters: Annotated[
        str,
        typer.Option("--letters", metavar="NAME", help="Rank letters: english, polish, russian."),
    ] = "english",
    threads: ThreadsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """What a hand is worth to the declarer before the talon, and how high to bid it.

    Chances and scores by contract, the bid that still beats passing, and what the talon may bring.
    """
    try:
        time = float(seconds)
    except ValueError:
        raise UsageError(f"seconds: {quote(seconds)} is no number; use 0 to 86400") from None
    repetitions = None if per_talon is None else parse_count("per-talon", per_talon, 1, 100_000)
    slow = None if deals is None else parse_count("deals", deals, 1, 1_000_000)
    n_threads = parse_threads(threads)
    from milsim.cards import CardSet

    held = CardSet.parse(cards, letters=letters)
    announce_compilation(quiet=quiet or json)
    from milsim.answers.hand import hand as answer_of

    answer = answer_of(
        held,
        rules=rules_of(rules, changes),
        models=[name.strip() for name in model.split(",")],
        seconds=time,
        per_talon=repetitions,
        deals=slow,
        table=table,
        corrections=corrections,
        bias=bias,
        threads=n_threads,
    )
    if json:
        print_json(answer.to_dict())
    else:
        typer.echo(str(answer))
    if answer.interrupted:
        raise InterruptedRunError("interrupted; what is shown counts the deals played until then")
