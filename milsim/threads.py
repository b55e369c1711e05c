"""How many threads to use. Kernels release the GIL, so plain threads fill the cores."""

from __future__ import annotations

import os

from milsim.errors import UsageError, quote

MAX_THREADS = 1024


def default_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """The number of threads asked for, or all cores for None; UsageError if out of range.

    >>> checked_threads(3)
    3
    """
    if threads is None:
        return default_threads()
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise UsageError(f"threads must be 1 to {MAX_THREADS}, got {quote(threads)}")
    return threads
