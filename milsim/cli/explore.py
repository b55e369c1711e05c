"""``milsim explore``: the page to click seven cards and see what they are worth."""

from __future__ import annotations

from typing import Annotated

import typer

from milsim.cli.options import QuietOption, RulesOption, SetOption, rules_of, say


def explore(
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")
    ] = "explorer.html",
    rules: RulesOption = "mil",
    changes: SetOption = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="FILE", help="A table of your own: milsim table pack."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a page for the browser: click seven cards, see what they are worth, try a quiz.

    One file that needs no network, about as large as the table of all hands inside. Add
    #hand=AKQ.T9.J.A to its address to link to a hand.
    """
    from milsim.reports.files import check_target, write

    path = check_target(out)
    from milsim.pages.explorer import explorer

    content = explorer(rules=rules_of(rules, changes), table=table).encode()
    write(content, path)
    say(f"{len(content):,} bytes in {out}; open it in a browser", quiet=quiet)
