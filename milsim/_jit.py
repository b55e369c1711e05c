"""The one place that turns functions into compiled kernels, and the cache of compiled code.

numba's own cache looks only at the file of the function it compiles: a kernel that calls a kernel
of another file keeps the old code of it when that file changes (numba#1833). So all kernels share
a folder named by a digest of *everything* their machine code can depend on: the sources of all
kernel modules and of the modules these import, the versions of Python, numba and llvmlite, and the
choice of instructions. An edit anywhere starts a fresh folder; old folders are pruned.

Environment: `NUMBA_CACHE_DIR` moves the cache, `NUMBA_DISABLE_JIT=1` runs all kernels as plain
Python (same results, much slower), `MILSIM_PORTABLE=1` avoids instructions that not all CPUs have.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast, overload

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding  # type: ignore[import-untyped]
import numba

from milsim._compiling import on_first_compile

# numba makes these names when it reads its environment: no type checker can know them.
_config: Any = numba.config

_PACKAGE = Path(__file__).resolve().parent
_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")
_LITERAL = re.compile(r"Literal\[int\]\(-?\d+\)")
_KEPT_FOLDERS = 4
_KEPT_SECONDS = 3600.0
# How a source that makes kernels looks; a search by regular expression would take 0.1 s.
_SIGNS_OF_KERNELS = (b"@kernel", b".kernel", b" kernel(")
_FROM_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(milsim[\w.]*|\.[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n#]*))",
    re.MULTILINE,
)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+(milsim[^\n#]*)", re.MULTILINE)

# AMD before Zen 3 has BMI2, but runs pdep and pext in microcode: up to hundreds of cycles.
_SLOW_DEPOSIT_CPUS = frozenset({"bdver4", "znver1", "znver2"})

_Function = TypeVar("_Function", bound=Callable[..., Any])


# ---------------------------------------------------------------------------------- what to build


def jit_enabled() -> bool:
    """Whether kernels are compiled; not so under `NUMBA_DISABLE_JIT=1`.

    >>> jit_enabled() in (True, False)
    True
    """
    return not _config.DISABLE_JIT


@functools.cache
def has_fast_deposit() -> bool:
    """Whether the code may use the BMI2 instructions pdep and pext, and gains by it.

    Not so with `MILSIM_PORTABLE=1`, on other processors than x86-64, on AMD before Zen 3 (slow
    microcode), or when `NUMBA_CPU_FEATURES` or `NUMBA_CPU_NAME` exclude it.

    >>> has_fast_deposit() in (True, False)
    True
    """
    if os.environ.get("MILSIM_PORTABLE", "0") not in ("", "0"):
        return False
    if platform.machine().lower() not in ("x86_64", "amd64") or sys.maxsize < 2**32:
        return False
    features = _config.CPU_FEATURES
    if features is not None:
        return "+bmi2" in features.split(",")
    name = _config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    host = llvmlite.binding.get_host_cpu_features()
    return bool(host.get("bmi2", False)) and name not in _SLOW_DEPOSIT_CPUS


# ------------------------------------------------------------------------------- digest of sources


def _imported_names(source: str, file: Path) -> Iterator[str]:
    """Dotted names that a source imports of the package: modules, and what is taken from them.

    A regular expression instead of `ast`: this runs at each start, and may well take in too much
    (a line of a docstring), but nothing too little.
    """
    for whole in _IMPORT.findall(source):
        for part in whole.split(","):
            yield part.split(" as ")[0].strip()
    for module, inside, line in _FROM_IMPORT.findall(source):
        if module.startswith("."):
            level = len(module) - len(module.lstrip("."))
            parts = ("milsim", *file.relative_to(_PACKAGE).parent.parts)
            base = ".".join(parts[: len(parts) - level + 1])
            module = f"{base}.{module.lstrip('.')}".rstrip(".")
        yield module
        names = re.sub(r"#[^\n]*", "", inside or line)
        for part in names.split(","):
            yield f"{module}.{part.split(' as ')[0].strip()}"


@functools.cache
def _kernel_texts() -> dict[Path, bytes]:
    """The sources that compiled code can depend on, by file."""
    texts = {path: path.read_bytes() for path in _PACKAGE.rglob("*.py")}
    files = {}
    for path in texts:
        parts = path.relative_to(_PACKAGE).with_suffix("").parts
        files[".".join(("milsim", *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    always = {_PACKAGE / "_jit.py", _PACKAGE / "cards.py", *(_PACKAGE / "rules").rglob("*.py")}
    queue = [
        path
        for path, data in texts.items()
        if path in always or any(sign in data for sign in _SIGNS_OF_KERNELS)
    ]
    found: set[Path] = set()
    while queue:
        path = queue.pop()
        if path not in found and path in texts:
            found.add(path)
            names = _imported_names(texts[path].decode(), path)
            queue.extend(files[name] for name in names if name in files and name != "milsim")
    return {path: texts[path] for path in sorted(found)}


def kernel_sources() -> list[Path]:
    """The files that compiled code can depend on, sorted.

    All modules of the package with a kernel, what these import from the package (a constant of
    another module is frozen into the code), the rules and the cards.

    >>> "_jit.py" in [path.name for path in kernel_sources()]
    True
    """
    return list(_kernel_texts())


@functools.cache
def kernel_digest() -> str:
    """The digest, 16 hex digits, of all that the compiled code depends on.

    The same digest on two machines means: the same kernels. It stands in the metadata of runs and
    names the folder of the cache.

    >>> len(kernel_digest())
    16
    """
    digest = hashlib.sha256()
    versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__)
    digest.update(repr((*versions, has_fast_deposit())).encode())
    for path, data in _kernel_texts().items():
        digest.update(f"\n{path.relative_to(_PACKAGE).as_posix()} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()[:16]


# --------------------------------------------------------------------------------------- the cache


def _cache_root() -> Path:
    if _config.CACHE_DIR:
        return Path(_config.CACHE_DIR)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "milsim" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "milsim"
    # The standard says to ignore a relative path here.
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(xdg) if os.path.isabs(xdg) else Path.home() / ".cache") / "milsim"  # noqa: PTH117


@functools.cache
def cache_directory() -> Path:
    """The folder of the compiled code of this very version of the kernels (it may not exist).

    >>> cache_directory().name == "kernels-" + kernel_digest()
    True
    """
    return _cache_root() / f"kernels-{kernel_digest()}"


def cache_is_warm() -> bool:
    """Whether some compiled code of this version of the kernels is in the cache.

    If not, the first run compiles for some seconds: the command line announces it.

    >>> cache_is_warm() in (True, False)
    True
    """
    with contextlib.suppress(OSError):
        return any(cache_directory().glob("*/*.nbc"))
    return False


@functools.cache
def cache_is_usable() -> bool:
    """Whether compiled code can be kept; if not, kernels are compiled anew in each process.

    The first call makes the folder, and prunes those of older versions when it was missing.

    >>> cache_is_usable() in (True, False)
    True
    """
    folder = cache_directory()
    try:
        is_new = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    with contextlib.suppress(OSError):
        os.utime(folder)  # marks it as in use: pruning looks at this time
    if is_new:
        prune_cache()
    return True


def prune_cache(keep: int = _KEPT_FOLDERS, idle_seconds: float = _KEPT_SECONDS) -> list[Path]:
    """Remove the compiled code of older versions; returns the folders removed.

    The newest `keep` folders stay, so do this version's and those used in the last `idle_seconds`.
    Safe beside other processes: a folder removed under a process that still wants it is only
    compiled and made anew, and two prunings at once do not disturb each other.

    >>> prune_cache(keep=1000)
    []
    """
    folders: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        for path in _cache_root().iterdir():
            if _FOLDER.fullmatch(path.name) and path != cache_directory():
                with contextlib.suppress(OSError):
                    folders.append((path.stat().st_mtime, path))
    folders.sort(reverse=True)
    limit = time.time() - idle_seconds
    removed = [path for used, path in folders[max(keep - 1, 0) :] if used < limit]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    return removed


@contextlib.contextmanager
def _cache_scope(folder: Path) -> Iterator[None]:
    """Let numba put its cache into a folder; only while this lasts, as the setting is global."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


# ----------------------------------------------------------------------------------- the decorator


class KernelSignature(NamedTuple):
    """The types that one compiled version of a kernel takes and gives."""

    kernel: str
    arguments: tuple[str, ...]
    result: str


_kernels: dict[str, Any] = {}


@overload
def kernel(function: _Function, /) -> _Function: ...
@overload
def kernel(
    *, inline: bool = False, signature: str | None = None
) -> Callable[[_Function], _Function]: ...
def kernel(
    function: _Function | None = None, /, *, inline: bool = False, signature: str | None = None
) -> _Function | Callable[[_Function], _Function]:
    """Make a kernel of a function: compiled at its first call, without the GIL, cached.

    Kernels take and give plain int64 and arrays, and validate nothing. A division by zero is
    undefined (numpy's error model: no check in the loop). `inline` copies the code into its
    callers: for small kernels in hot loops, as a call costs about 3 ns and hides constants from
    the compiler. `signature`, in numba's words, compiles at once: only for a kernel that calls
    itself, where guessing the types goes wrong (numba#6061).

    >>> @kernel
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> double(21)
    42
    """
    if function is None:
        return functools.partial(_compile, inline=inline, signature=signature)
    return _compile(function, inline, signature)


def _compile(function: _Function, inline: bool, signature: str | None) -> _Function:
    if not jit_enabled():
        return function
    # numba keeps no code of functions that have no file (a doctest, a prompt).
    cached = Path(function.__code__.co_filename).is_file() and cache_is_usable()
    with _cache_scope(cache_directory()) if cached else contextlib.nullcontext():
        compiled = numba.njit(
            signature, nogil=True, cache=cached, error_model="numpy", forceinline=inline
        )(function)
    _kernels[f"{function.__module__}.{function.__qualname__}"] = compiled
    return cast(_Function, compiled)


def kernel_signatures() -> list[KernelSignature]:
    """The types of all kernels compiled so far in this process, for tests.

    A constant in a call (``Literal[int](0)`` to numba) is shown by its type, int64.

    >>> isinstance(kernel_signatures(), list)
    True
    """
    return [
        KernelSignature(
            name,
            tuple(_LITERAL.sub("int64", str(argument)) for argument in arguments),
            str(result.signature.return_type),
        )
        for name, compiled in sorted(_kernels.items())
        for arguments, result in compiled.overloads.items()
    ]


__all__ = [
    "KernelSignature",
    "cache_directory",
    "cache_is_usable",
    "cache_is_warm",
    "has_fast_deposit",
    "jit_enabled",
    "kernel",
    "kernel_digest",
    "kernel_signatures",
    "kernel_sources",
    "on_first_compile",
    "prune_cache",
]
