"""The one place that turns functions into compiled kernels, and the cache of compiled code.

A kernel is compiled by numba when it is first called, and its machine code is kept. From then on
each process loads that code by itself (`milsim._compiling.native`), in a millisecond, and imports
no numba, which takes a second.

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
import importlib.util
import os
import platform
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast, overload

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding  # type: ignore[import-untyped]

from milsim._compiling import native

_PACKAGE = Path(__file__).resolve().parent
_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")
_LITERAL = re.compile(r"Literal\[int\]\(-?\d+\)")
_KEPT_FOLDERS = 4
_KEPT_SECONDS = 3600.0
# How a source that makes kernels looks; a search by regular expression would take 0.1 s.
_SIGNS_OF_KERNELS = (b"@kernel", b".kernel(", b".kernel\n", b" kernel(")
_FROM_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(milsim[\w.]*|\.[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n#]*))",
    re.MULTILINE,
)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+(milsim[^\n#]*)", re.MULTILINE)

# AMD before Zen 3 has BMI2, but runs pdep and pext in microcode: up to hundreds of cycles.
_SLOW_DEPOSIT_CPUS = frozenset({"bdver4", "znver1", "znver2"})

_Function = TypeVar("_Function", bound=Callable[..., Any])


# ---------------------------------------------------------------------------------- what to build


def _setting(name: str) -> str | None:
    """A setting of numba: an environment variable or, rarely, a file that only numba can read."""
    if Path(".numba_config.yaml").is_file():
        import numba

        found = getattr(numba.config, name)
        return None if found is None else str(found)
    return os.environ.get(f"NUMBA_{name}")


@functools.cache
def jit_enabled() -> bool:
    """Whether kernels are compiled; not so under `NUMBA_DISABLE_JIT=1`.

    >>> jit_enabled() in (True, False)
    True
    """
    return _setting("DISABLE_JIT") in (None, "", "0")


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
    features = _setting("CPU_FEATURES")
    name = _setting("CPU_NAME")
    if features is not None or (name or "").lower() == "generic":
        return "+bmi2" in (features or "").split(",")
    name = name or llvmlite.binding.get_host_cpu_name()
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
    machinery = {_PACKAGE / "_jit.py", *(_PACKAGE / "_compiling").glob("*.py")}
    always = {*machinery, _PACKAGE / "cards.py", *(_PACKAGE / "rules").rglob("*.py")}
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


def _version_of_numba() -> bytes:
    """The text that tells numba's version, without importing numba."""
    found = importlib.util.find_spec("numba")
    with contextlib.suppress(OSError, AttributeError, TypeError):
        return Path(found.origin).with_name("_version.py").read_bytes()  # type: ignore
    from importlib.metadata import version

    return version("numba").encode()


@functools.cache
def kernel_digest() -> str:
    """The digest, 16 hex digits, of all that the compiled code depends on.

    The same digest on two machines means: the same kernels. It stands in the metadata of runs and
    names the folder of the cache.

    >>> len(kernel_digest())
    16
    """
    digest = hashlib.sha256()
    versions = (sys.implementation.cache_tag, _version_of_numba(), llvmlite.__version__)
    digest.update(repr((*versions, has_fast_deposit())).encode())
    for path, data in _kernel_texts().items():
        digest.update(f"\n{path.relative_to(_PACKAGE).as_posix()} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()[:16]


# --------------------------------------------------------------------------------------- the cache


def _cache_root() -> Path:
    chosen = _setting("CACHE_DIR")
    if chosen:
        return Path(chosen)
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


# ----------------------------------------------------------------------------------- the decorator


class KernelSignature(NamedTuple):
    """The types that one compiled version of a kernel takes and gives."""

    kernel: str
    arguments: tuple[str, ...]
    result: str


class _Compiler:
    """numba, imported when the first kernel has to be compiled."""

    def __init__(self) -> None:
        self.module: Any = None
        self.tell: Callable[[], None] | None = None
        self.preparations: list[Callable[[], None]] = []
        self.lock = threading.Lock()

    def get(self) -> Any:
        """The module `milsim._compiling.compiler`."""
        with self.lock:
            if self.module is None:
                from milsim._compiling import compiler

                while self.preparations:
                    self.preparations.pop()()
                self.module = compiler
            if self.tell is not None:
                self.module.on_first_compile(self.tell)
                self.tell = None
        return self.module


_compiler = _Compiler()
_loading = threading.Lock()


def before_compiling(prepare: Callable[[], None]) -> None:
    """Call ``prepare`` before anything is compiled, if ever; at once if numba is there already."""
    if _compiler.module is None:
        _compiler.preparations.append(prepare)
    else:
        prepare()


def on_first_compile(tell: Callable[[], None]) -> None:
    """Call ``tell`` when a kernel is about to be compiled (not loaded from the cache), once."""
    _compiler.tell = tell
    if _compiler.module is not None:
        _compiler.get()


class Kernel:
    """A function as a kernel: loaded or compiled when it is first called."""

    def __init__(self, function: Callable[..., Any], inline: bool, signature: str | None) -> None:
        functools.update_wrapper(self, function)
        self._function, self._inline, self._signature = function, inline, signature
        self._made: Any = None
        self._making: Any = None
        self._codes: dict[native.Key, native.Code] = {}
        self.loaded: list[KernelSignature] = []
        """What was loaded without numba."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        key = native.key_of(arguments) if not named else None
        if key is None:
            return self.dispatcher(*arguments, **named)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = self._code_for(key)
        try:
            return code(*arguments)
        except native.CodeRaisedError:
            return self.dispatcher(*arguments)

    def _code_for(self, key: native.Key) -> native.Code:
        """What answers calls with such arguments: kept code, or numba, whose code is then kept."""
        if not self._is_of_the_package():
            return cast(native.Code, self.dispatcher)
        with _loading:
            path = native.path_of(cache_directory(), self._name, key)
            found = native.load(path, key)
            if found is not None:
                facts, code = found
                self.loaded.append(
                    KernelSignature(self._name, tuple(facts["arguments"]), facts["result"])
                )
                return code
        return functools.partial(self._compiled, path)

    def _compiled(self, path: Path, *arguments: Any) -> Any:
        """Let numba answer, for the rest of this process, and keep its code for the next."""
        result = self.dispatcher(*arguments)
        self._codes[cast(native.Key, native.key_of(arguments))] = self.dispatcher
        # numba's insides may be others than those of the versions that were tried.
        with contextlib.suppress(Exception):
            found = _compiler.get().object_code(self.dispatcher, arguments)
            if found is not None and cache_is_usable():
                native.keep(path, *found)
        return result

    def _is_of_the_package(self) -> bool:
        """Whether the name and the digest of the sources tell all about the function."""
        code = self._function.__code__
        return not code.co_freevars and _PACKAGE in Path(code.co_filename).resolve().parents

    @property
    def _name(self) -> str:
        return f"{self._function.__module__}.{self._function.__qualname__}"

    @property
    def is_made(self) -> bool:
        """Whether numba has been asked for it in this process."""
        return self._made is not None

    @property
    def dispatcher(self) -> Any:
        """What numba makes of the function."""
        if self._made is not None:
            return self._made
        compiler = _compiler.get()
        # numba's own lock, not ours: whoever compiles a kernel asks for those that it calls.
        with compiler.LOCK:
            if self._made is None and self._making is None:
                # numba keeps no code of functions that have no file (a doctest, a prompt).
                is_kept = Path(self._function.__code__.co_filename).is_file()
                folder = cache_directory() if is_kept and cache_is_usable() else None
                made = compiler.dispatcher_of(self._function, folder, inline=self._inline)
                if self._signature is not None:
                    self._making = made  # for the kernel's own calls of itself
                    try:
                        compiler.compile_only(made, self._signature)
                    finally:
                        self._making = None
                self._made = made
            return self._making if self._made is None else self._made

    @property
    def _numba_type_(self) -> Any:
        """How numba sees a kernel that another one calls."""
        return self.dispatcher._numba_type_


_kernels: dict[str, Kernel] = {}


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
    made = Kernel(function, inline, signature)
    _kernels[f"{function.__module__}.{function.__qualname__}"] = made
    return cast(_Function, made)


def kernel_signatures() -> list[KernelSignature]:
    """The types of all kernels compiled or loaded so far in this process, for tests.

    A constant in a call (``Literal[int](0)`` to numba) is shown by its type, int64.

    >>> isinstance(kernel_signatures(), list)
    True
    """
    found: dict[KernelSignature, None] = {}
    for name, each in sorted(_kernels.items()):
        found |= dict.fromkeys(each.loaded)
        for arguments, result in each.dispatcher.overloads.items() if each.is_made else ():
            kinds = tuple(_LITERAL.sub("int64", str(argument)) for argument in arguments)
            found[KernelSignature(name, kinds, str(result.signature.return_type))] = None
    return list(found)


__all__ = [
    "Kernel",
    "KernelSignature",
    "before_compiling",
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
