"""Chunks of solves in threads. Kernels release the GIL, so plain threads fill the cores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from milsim.solver.table import new_workspace

CHUNK = 128
"""Exact solves in a chunk: about 10 ms."""
_SMALLEST = 16  # parts of a chunk


def chunks_of(size: int, chunk: int, threads: int) -> Iterator[tuple[int, int]]:
    """Split a range into chunks that become smaller towards its end, as (start, end).

    Solve times have a long tail (the worst of a thousand takes tens of times the mean), and while
    the last chunk is solved all other threads are idle: so the last ones are short.

    >>> list(chunks_of(100, 32, 2))
    [(0, 25), (25, 43), (43, 57), (57, 67), (67, 75), (75, 81), (81, 85), (85, 88), (88, 91), \
(91, 93), (93, 95), (95, 97), (97, 99), (99, 100)]
    >>> list(chunks_of(100, 64, 1))
    [(0, 64), (64, 100)]
    """
    smallest = chunk if threads == 1 else max(1, chunk // _SMALLEST)
    start = 0
    while start < size:
        length = min(max(smallest, min(chunk, (size - start) // (2 * threads))), size - start)
        yield start, start + length
        start += length


def in_chunks(
    size: int,
    chunk: int,
    threads: int,
    work_on: Callable[[int, int, NDArray[np.int64]], None],
) -> None:
    """Call ``work_on(start, end, workspace)`` for all chunks of a range, in threads.

    Each thread has its own workspace and takes the next chunk when it is done with one, without
    anybody between. A stop (an error, an interrupt) waits for the chunks under way only.
    """
    threads = min(threads, -(-size * _SMALLEST // chunk))
    if threads < 2:
        space = new_workspace()
        for start, end in chunks_of(size, chunk, 1):
            work_on(start, end, space)
        return
    chunks, taking, stop = chunks_of(size, chunk, threads), threading.Lock(), threading.Event()

    def take() -> tuple[int, int] | None:
        with taking:
            return None if stop.is_set() else next(chunks, None)

    def solve() -> None:
        space = new_workspace()
        try:
            while (found := take()) is not None:
                work_on(*found, space)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(threads, thread_name_prefix="milsim-solve") as pool:
        try:
            for future in [pool.submit(solve) for _ in range(threads)]:
                future.result()
        finally:
            stop.set()


__all__ = ["CHUNK", "chunks_of", "in_chunks"]
