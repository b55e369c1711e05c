"""Who writes into a folder: one process alone, or several shards side by side.

The locks are the operating system's (flock), so that one that a killed process held is free again
at once; nobody has to remove a file by hand. Readers are never kept out.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from milsim.errors import RunError
from milsim.files import no_link

if sys.platform != "win32":
    import fcntl

LOCK_NAME = ".lock"
BEGINNING_NAME = ".lock-beginning"
Shard = tuple[int, int]
"""``(k, n)``: the k-th of n, from 1."""
_LOOKS_AGAIN = {False: 50, True: 1000}
_SECONDS_BETWEEN_LOOKS = 0.01
# A lock that is held and names nobody is one of three: of a process that has just taken it and will
# sign it in a moment, of the last shard on its way out, or of shards at work. Who wants it alone
# looks again for half a second, so that a refusal has a name; a shard, which other shards never
# keep out, for ten: it must not be refused because another one ends as it begins.


@contextmanager
def locked(folder: Path, shard: Shard = (1, 1)) -> Iterator[None]:
    """Hold a folder for writing: alone, or as one shard of several.

    Raises :class:`~milsim.errors.RunError`, naming the process, if another holds it.
    """
    if sys.platform == "win32":  # pragma: no cover - there is no flock, and no lock
        yield
        return
    shared = shard[1] > 1
    with _held(folder / LOCK_NAME, folder, shared=shared):
        if not shared:
            yield
            return
        with _held(folder / f"{LOCK_NAME}-{shard[0]}-of-{shard[1]}", folder, shared=False):
            yield


@contextmanager
def beginning(folder: Path) -> Iterator[None]:
    """Hold a folder while its first files are written: shards may begin it at the same moment.

    Whoever comes meanwhile waits, and finds them there.
    """
    if sys.platform == "win32":  # pragma: no cover - there is no flock, and no lock
        yield
        return
    path = folder / BEGINNING_NAME
    with open(path, "a", opener=no_link) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Who waits for it now finds the files written, whichever lock he holds.
            path.unlink(missing_ok=True)


def sweep(folder: Path, subfolders: Iterable[str]) -> None:
    """Remove what killed processes left hidden, in a folder that is held by nobody else."""
    for leftover in _hidden(folder, subfolders):
        if leftover.name != LOCK_NAME:
            leftover.unlink(missing_ok=True)


def swept(folder: Path, subfolders: Iterable[str]) -> None:
    """The same for a folder in which nothing is left to play, unless somebody holds it."""
    if _hidden(folder, subfolders):
        # Where nothing can be written, it may stay: hidden files count for nothing.
        with suppress(OSError, RunError), locked(folder):
            sweep(folder, subfolders)


def _hidden(folder: Path, subfolders: Iterable[str]) -> list[Path]:
    found = [path for name in ("", *subfolders) for path in (folder / name).glob(".*.tmp")]
    return found + list(folder.glob(f"{LOCK_NAME}*"))


@contextmanager
def _held(path: Path, folder: Path, *, shared: bool) -> Iterator[None]:
    file = _acquired(path, folder, shared=shared)
    try:
        file.truncate(0)  # of what a killed process signed
        if not shared:
            file.seek(0)
            file.write(f"{os.getpid()} on {platform.node()}\n")
            file.flush()
        yield
    finally:
        with suppress(OSError):
            # The last one out takes the file away; who comes then looks whether it is still there.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
        file.close()


def _acquired(path: Path, folder: Path, *, shared: bool) -> IO[str]:
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    looks = _LOOKS_AGAIN[shared]
    while True:
        file = open(  # noqa: SIM115 (it takes no opener; closed below)
            path, "a+", encoding="utf-8", errors="replace", opener=no_link
        )
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            who = file.read(100).strip()
            file.close()
            if not isinstance(error, BlockingIOError):
                raise
            looks -= 1
            if looks > 0 and not who:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                continue
            told = f" (process {who})" if who.isprintable() and who else ""
            raise RunError(
                f"out {folder}: another process writes into it{told}; wait for it, or name another "
                "folder"
            ) from None
        with suppress(OSError):
            if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                return file
        file.close()  # the one who held it has just taken it away


__all__ = ["BEGINNING_NAME", "LOCK_NAME", "Shard", "beginning", "locked", "sweep", "swept"]
