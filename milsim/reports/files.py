"""Files that reports and charts are written to: checked early, written whole or not at all.

Nothing heavy is imported here, so that a wrong name is refused at once.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from milsim.errors import RunError, UsageError

SUFFIXES = (".png", ".svg")
"""The suffixes of pictures."""


def check_picture_path(path: str | Path) -> Path:
    """The path of a picture; raises UsageError unless it ends in .png or .svg.

    >>> check_picture_path("a.svg").suffix
    '.svg'
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"out {target}: a name ending in .png or .svg is needed")
    return target


def check_target(path: str | Path) -> Path:
    """The path itself; raises RunError if writing there would damage a stored run."""
    from milsim.store.manifest import MANIFEST_NAME

    target = Path(path)
    try:
        real = target.resolve()
        own = (MANIFEST_NAME, "plan.toml")
        if real.name.lower() in own and (real.parent / MANIFEST_NAME).exists():
            folder = real.parent
        elif (
            real.parent.name in ("parts", "matches") and (real.parents[1] / MANIFEST_NAME).exists()
        ):
            folder = real.parents[1]
        else:
            return target
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links
        raise _unwritable(target, error) from None
    raise RunError(f"out {target}: belongs to the run {folder}; name another file")


def write(content: bytes, path: str | Path) -> Path:
    """Write a rendered report or chart, whole or not at all.

    Raises :class:`~milsim.errors.RunError` if that fails, or would damage a stored run; what stood
    in the file before then stays.
    """
    target = check_target(path)
    try:
        real = target.resolve()
        if real.exists() and not real.is_file():
            real.write_bytes(content)  # a pipe or device; of a folder the system says what it is
            return target
        if real.exists():
            with real.open("ab"):  # a file that may not be written must not be replaced either
                pass
        _replace(real, content)
    except (OSError, RuntimeError, ValueError) as error:
        raise _unwritable(target, error) from None
    return target


def _replace(real: Path, content: bytes) -> None:
    hidden = real.with_name(f".milsim-{os.getpid()}.tmp")
    try:
        hidden.write_bytes(content)
        if real.exists():
            shutil.copymode(real, hidden)
        hidden.replace(real)
    finally:
        hidden.unlink(missing_ok=True)


def _unwritable(target: Path, error: Exception) -> RunError:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return RunError(f"out {target}: cannot write, {reason}; name another file")


__all__ = ["SUFFIXES", "check_picture_path", "check_target", "write"]
