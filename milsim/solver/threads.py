"""Chunks of solves in threads. Kernels release the GIL, so plain threads fill the cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from milsim.solver.table import new_workspace

# Solve times have a long tail (the worst of a thousand takes tens of times the mean), so chunks are
# small: a thread that meets it delays the end by one chunk at most.
CHUNK = 128
WINDOW = 4  # chunks under way, per thread


def in_chunks(
    size: int,
    chunk: int,
    threads: int,
    work_on: Callable[[int, int, NDArray[np.int64]], None],
) -> None:
    """Call ``work_on(start, end, workspace)`` for all chunks of a range, in threads.

    Each thread has its own workspace. Only some chunks are under way at a time, so a stop (an
    error, an interrupt) does not wait for the rest.
    """
    spaces = deque(new_workspace() for _ in range(min(threads, -(-size // chunk))))

    def one(start: int) -> None:
        space = spaces.pop()
        try:
            work_on(start, min(start + chunk, size), space)
        finally:
            spaces.append(space)

    starts: Iterator[int] = iter(range(0, size, chunk))
    if len(spaces) < 2:
        for start in starts:
            one(start)
        return
    window: deque[Future[None]] = deque()
    with ThreadPoolExecutor(len(spaces), thread_name_prefix="milsim-solve") as pool:
        try:
            for start in starts:
                window.append(pool.submit(one, start))
                if len(window) >= WINDOW * len(spaces):
                    window.popleft().result()
            while window:
                window.popleft().result()
        finally:
            for future in window:
                future.cancel()


__all__ = ["CHUNK", "in_chunks"]
