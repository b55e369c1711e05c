"""How many threads to use. Kernels release the GIL, so plain threads fill the cores."""

from __future__ import annotations

import operator
import os
from typing import SupportsIndex

from milsim.errors import UsageError, quote

MAX_THREADS = 1024


def default_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def checked_threads(threads: SupportsIndex | None) -> int:
    """The number of threads asked for, or all cores for None; UsageError if out of range.

    >>> checked_threads(3)
    3
    """
    if threads is None:
        return default_threads()
    try:
        number = 0 if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        number = 0
    if not 1 <= number <= MAX_THREADS:
        raise UsageError(f"threads must be 1 to {MAX_THREADS}, got {quote(threads)}")
    return number
