"""What happens around the compilation of kernels: Ctrl-C waits for its end, somebody may be told.

An exception that a signal raises inside LLVM's callbacks leaves the compiler broken and the process
in doubt. So while the main thread compiles, SIGINT is only noted, and raised when it is done.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from numba.core import event

_COMPILE = "numba:compile"


class _Watch(event.Listener):
    """Counts nested compilations of the main thread; acts at the outermost ones."""

    def __init__(self) -> None:
        self.depth = 0
        self.interrupted = False
        self.before: Any = None
        self.tell: Callable[[], None] | None = None

    def on_start(self, _event: Any) -> None:
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth += 1
        if self.depth == 1:
            self.interrupted = False
            self.before = signal.signal(signal.SIGINT, self._note)

    def on_end(self, _event: Any) -> None:
        if threading.current_thread() is not threading.main_thread() or self.depth == 0:
            return
        self.depth -= 1
        if self.depth > 0:
            return
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        if self.interrupted:
            self.interrupted = False
            signal.raise_signal(signal.SIGINT)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupted = True


_watch = _Watch()
event.register(_COMPILE, _watch)  # type: ignore[no-untyped-call]


def on_first_compile(tell: Callable[[], None]) -> None:
    """Call ``tell`` when a kernel is about to be compiled (not loaded from the cache), once."""
    _watch.tell = tell
