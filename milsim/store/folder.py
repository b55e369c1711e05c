"""A run folder before its parts: whose it is, what it begins with, and what the disk refuses."""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from milsim.errors import RunError, UsageError, quote
from milsim.files import is_path, read_text, reason_of, refuse_link, write_atomically
from milsim.store.lock import beginning
from milsim.store.manifest import (
    MANIFEST_NAME,
    MATCHES_FOLDER,
    PARTS_FOLDER,
    POLICY,
    Manifest,
    P,
    read_identity,
    stored_manifest,
)
from milsim.store.pieces import Fault, Known

PLAN_NAME = "plan.toml"


def checked_folder(folder: object) -> Path:
    """The path of a run folder to be; raises UsageError for what is no folder's name."""
    if not is_path(folder):
        raise UsageError(f"out: {quote(folder)} is no folder's name")
    return Path(cast("str | Path", folder))


def known_manifest(
    fresh: Manifest[P], path: Path, read: Known | None = None
) -> tuple[Manifest[P] | None, list[Fault]]:
    """What a folder holds of a plan already, or None if it is new or empty; and torn files."""
    if path.exists() and not path.is_dir():
        raise RunError(f"out {path}: is a file; name a new or empty folder, or one to go on with")
    # One look: another shard may be writing these files just now, the manifest last.
    names = {each.name for each in path.iterdir()} if path.is_dir() else set()
    if MANIFEST_NAME not in names:
        own = {PARTS_FOLDER, MATCHES_FOLDER}
        if is_plan_of(fresh, path):  # somebody else's plan.toml is not ours to write over
            own.add(PLAN_NAME)
        if any(name not in own and not name.startswith(".") for name in names):
            raise RunError(f"out {path}: folder is not empty; name a new or empty one")
        return None, []
    there: Manifest[Any] = read_identity(path)
    if there.plan.digest() != fresh.plan.digest() or type(there.plan) is not type(fresh.plan):
        raise RunError(f"out {path}: holds a run of another plan; name another folder")
    held, wanted = there.plan.rules.name, fresh.plan.rules.name
    if held != wanted:
        raise RunError(
            f"out {path}: holds this run by rules called {held}, not {wanted}; name another one"
        )
    if replace(there, pieces=()).to_json() != fresh.to_json():
        raise RunError(
            f"out {path}: was begun by other code ({_differing(there, fresh)}); play it anew in "
            "another folder"
        )
    return stored_manifest(path, there, read)


def _differing(there: Manifest[Any], fresh: Manifest[Any]) -> str:
    """What two manifests of a plan differ in, in words."""
    found = [
        f"{name} {there.versions.get(name, 'none')}, now {fresh.versions.get(name, 'none')}"
        for name in sorted({*there.versions, *fresh.versions})
        if there.versions.get(name) != fresh.versions.get(name)
    ]
    if there.kernels != fresh.kernels:
        found.append(f"kernels {there.kernels}, now {fresh.kernels}")
    if there.rng != fresh.rng:
        found.append(f"random numbers {there.rng}, now {fresh.rng}")
    return "; ".join(found[:2]) or "the text of its manifest"


def is_plan_of(fresh: Manifest[Any], path: Path) -> bool:
    """Whether the plan.toml of a folder is the one that this run writes."""
    return holds(path / PLAN_NAME, fresh.plan.to_toml())


def holds(path: Path, text: str) -> bool:
    """Whether a file has this text, and nothing else."""
    try:
        return read_text(path, len(text.encode()) + 1) == text
    except (OSError, ValueError):
        return False


def begin_folder(fresh: Manifest[Any], path: Path, folders: Sequence[str]) -> None:
    """Write what a run folder begins with, unless it is there."""
    for folder in folders:
        refuse_link(path / folder)
        (path / folder).mkdir(parents=True, exist_ok=True)
    if (path / MANIFEST_NAME).exists() and is_plan_of(fresh, path):
        return
    with beginning(path):
        if not is_plan_of(fresh, path):
            write_atomically(path / PLAN_NAME, fresh.plan.to_toml().encode())
        if not (path / MANIFEST_NAME).exists():
            write_atomically(path / MANIFEST_NAME, fresh.to_json().encode())


def refusal(error: OSError) -> str:
    """Why a folder cannot be written, and what to do.

    >>> refusal(OSError(errno.ENOSPC, "No space left on device"))
    'no space left on device; make room, and the same command goes on'
    """
    full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    then = "make room, and the same command goes on" if full else "name another folder"
    return f"{reason_of(error)}; {then}"


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what the disk refuses into a RunError."""
    try:
        yield
    except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
        # Of these it matters which of the folder's files it is.
        place = error.filename2 or error.filename
        raise RunError(f"out {path}: cannot write {place}, {reason_of(error)}") from error
    except OSError as error:
        raise RunError(f"out {path}: cannot write, {refusal(error)}") from error


def new_manifest(plan: P) -> Manifest[P]:
    """The manifest of a plan when this code plays it, without pieces."""
    from milsim._jit import kernel_digest
    from milsim.policies.origins import origins
    from milsim.rng import RNG_SCHEME

    return Manifest(
        plan=plan,
        versions={
            "milsim": version("milsim"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numba", "numpy", "polars")},
            **{f"{POLICY}{name}": text for name, text in origins(plan.policies).items()},
        },
        rng=RNG_SCHEME,
        kernels=kernel_digest(),
    )


__all__ = [
    "PLAN_NAME",
    "begin_folder",
    "checked_folder",
    "disk_errors",
    "holds",
    "is_plan_of",
    "known_manifest",
    "new_manifest",
    "refusal",
]
