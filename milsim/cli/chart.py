"""``milsim chart``: pictures from a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milsim.cli.options import QuietOption, announce_compilation, say


def chart(
    name: Annotated[str, typer.Argument(metavar="NAME", help="bid-strength or marriages.")],
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder of milsim simulate.")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="played|double-dummy",
            help="Whose points: of the policies that played, or double dummy (a run with --dd).",
        ),
    ] = "played",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A .png or .svg file; NAME.png if not given."
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Draw a run: bid-strength (chance to make each contract) or marriages."""
    from milsim.reports import chart_named, check_picture_path, check_target

    entry = chart_named(name)
    path = check_target(check_picture_path(out if out is not None else Path(f"{name}.png")))

    from milsim.reports import save
    from milsim.store.run import Run

    opened = Run.open(run).as_model(model)
    announce_compilation(quiet=quiet)
    save(entry.build(opened), path)
    say(f"written to {path}", quiet=quiet)
