"""Ctrl-C as a question that a loop asks between two chunks, so that nothing finished is lost."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """While entered, the first SIGINT only sets :attr:`seen`; the second acts as usual.

    Outside the main thread, where signals cannot be handled, it changes nothing.
    """

    def __init__(self) -> None:
        """Nothing is seen yet."""
        self.seen = False
        self._before: Any = None

    def asked(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self.seen

    def __enter__(self) -> Interrupts:
        """Take over SIGINT."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give SIGINT back."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.seen = True
        # The next one is for who cannot wait.
        signal.signal(signal.SIGINT, signal.default_int_handler)
