"""``milsim doctor``: is this installation sound?"""

from __future__ import annotations

import typer

from milsim.cli.options import JsonOption, announce_compilation, print_json
from milsim.errors import ExitCode


def doctor(json: JsonOption = False) -> None:
    """Versions, processor, kernel cache, and a self-test against the reference game.

    Exit 5 if the self-test finds a fault.
    """
    announce_compilation(quiet=json)
    from milsim.health import facts, self_test

    known = facts()
    checks = self_test()
    if json:
        print_json(
            {
                "facts": known,
                "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in checks],
            }
        )
    else:
        width = max(len(name) for name in known)
        for name, value in known.items():
            typer.echo(f"{name:<{width}}  {value}")
        typer.echo("")
        for check in checks:
            typer.echo(f"{'ok' if check.ok else 'FAULT':<6} {check.name}: {check.detail}")
    if not all(check.ok for check in checks):
        raise typer.Exit(ExitCode.VERIFICATION_FAILED)
