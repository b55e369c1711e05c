"""The entry point: as little as possible before Ctrl-C is looked after, and a quick way out."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import Any, cast


class _Words:
    """Stderr, on which nothing depends: where it cannot be written, nobody listens."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


def main() -> None:
    """Import the command line, run it, and leave; Ctrl-C while importing is one line, too."""
    # Imports make a hundred thousand objects that stay: looking for garbage among them over and
    # over takes a tenth of the start. Cycles are rare here, and still collected, only later.
    gc.set_threshold(100_000, 20, 20)
    code: object = 0
    words: Any = sys.stderr  # None after 2>&-
    if words is not None:
        sys.stderr = cast("Any", _Words(words))
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
