"""The entry point: as little as possible before Ctrl-C is looked after, and a quick way out."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> None:
    """Import the command line, run it, and leave; Ctrl-C while importing is one line, too."""
    code: object = 0
    try:
        from milsim.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("milsim: interrupted", file=sys.stderr)
        code = 130
    except SystemExit as stop:
        code = stop.code
    # All files are closed by now. The interpreter's own way out takes LLVM apart piece by piece,
    # a third of a second that nobody needs.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 0)
