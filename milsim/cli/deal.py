"""``milsim deal``: show deals by number, notation, seed or constraint."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from milsim.cli.options import (
    JsonOption,
    SeedOption,
    WhereOption,
    announce_compilation,
    parse_count,
    parse_seed,
    print_json,
)

MAX_SHOWN = 1_000_000


def deal(
    deals: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DEAL]...",
            help="Deal numbers, or deals as four hands 'AKQ.T9.J.A | … | … | talon'. If none is "
            "given, deals are drawn.",
        ),
    ] = None,
    count: Annotated[
        str, typer.Option("--count", "-n", metavar="N", help="How many deals to draw.")
    ] = "1",
    seed: SeedOption = "1",
    start: Annotated[
        str, typer.Option("--start", metavar="I", help="Index of the first deal of the seed.")
    ] = "0",
    where: WhereOption = None,
    letters: Annotated[
        str,
        typer.Option("--letters", metavar="english|polish|russian", help="Rank letters to read."),
    ] = "english",
    numbers: Annotated[bool, typer.Option("--numbers", help="Print the numbers only.")] = False,
    json: JsonOption = False,
) -> None:
    """Show deals: by their numbers, as text, or drawn from a seed.

    Every deal has a number, which gives it back on any machine: milsim deal 688907321587
    """
    from milsim.deals import Deal

    if deals:
        shown = [Deal.parse(text, letters=letters) for text in deals]
    else:
        n = parse_count("count", count, 0, MAX_SHOWN)
        first = parse_count("start", start, 0, 10**12)
        announce_compilation(quiet=json)
        from milsim.dealing import sample_deals

        drawn = sample_deals(n, seed=parse_seed(seed), start=first, where=where)
        shown = [Deal.from_id(int(number)) for number in drawn]
    if json:
        print_json([_as_dict(one) for one in shown])
    elif numbers:
        typer.echo("\n".join(str(one.id) for one in shown))
    else:
        typer.echo("\n\n".join(one.pretty() for one in shown))


def _as_dict(deal: Any) -> dict[str, Any]:
    return dict(deal.to_dict())
