"""The entry point: as little as possible before Ctrl-C is looked after."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the command line and run it; Ctrl-C while that is under way is one line, too."""
    try:
        from milsim.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("milsim: interrupted", file=sys.stderr)
        sys.exit(130)
