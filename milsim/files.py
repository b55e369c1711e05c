"""Small files, read with a limit and written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_text(path: Path, limit: int) -> str:
    """The text of a regular file of at most ``limit`` bytes, UTF-8 with or without a mark.

    Raises OSError if it cannot be read, and ValueError (one line, lower case) if it is no regular
    file, larger, or not UTF-8. A pipe or device is never opened, so nothing waits.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        raise ValueError("not a regular file")
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"more than {limit} bytes, the most that is read")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None


def no_link(path: str, flags: int) -> int:
    """An opener for files in folders that others may have made: a link is not followed.

    What is written there would be written elsewhere, over any file.
    """
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def refuse_link(path: Path) -> None:
    """Raise OSError for a folder in a run that is a link: nothing is written out of the run."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"{path.name} is a link to another place", str(path))


def is_path(name: object) -> bool:
    """Whether a name can be that of a file.

    >>> is_path("out/run"), is_path(""), is_path("a\\0b"), is_path(3)
    (True, False, False, False)
    """
    if not isinstance(name, str | Path):
        return False
    try:
        content = os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return bool(content) and b"\0" not in content


def write_atomically(path: Path, content: bytes, mark: str = "") -> None:
    """Write to a hidden name, sync, rename: a reader sees all of it or nothing.

    ``mark`` is in the hidden name, where another process may write the same file.
    """
    hidden = path.with_name(f".{path.name}{mark}.tmp")
    try:
        with open(hidden, "wb", opener=no_link) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
    except OSError:
        hidden.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename in a folder survive a power cut, where the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # pragma: no cover - a system whose folders cannot be opened
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def reason_of(error: OSError | ValueError) -> str:
    """Why a file could not be read or written, lower case, without its name."""
    return (getattr(error, "strerror", None) or str(error)).lower()
