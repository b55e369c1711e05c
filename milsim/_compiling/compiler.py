"""All that needs numba to compile kernels.

Also what happens meanwhile: Ctrl-C waits for the end of a compilation, somebody may be told of it.
An exception that a signal raises inside LLVM's callbacks leaves the compiler broken and the process
in doubt. So while the main thread compiles, SIGINT is only noted, and raised when it is done.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock as LOCK  # noqa: N812
from numba.core.runtime import nrtdynmod

from milsim._compiling.native import IMPORTS

if sys.platform != "win32":
    import fcntl

_COMPILE = "numba:compile"

# numba makes these names when it reads its environment: no type checker can know them.
_config: Any = numba.config


class _Watch(event.Listener):
    """Counts nested compilations of the main thread; acts at the outermost ones."""

    def __init__(self) -> None:
        self.depth = 0
        self.interrupted = False
        self.before: Any = None
        self.tell: Callable[[], None] | None = None

    def on_start(self, _event: Any) -> None:
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth += 1
        if self.depth == 1:
            self.interrupted = False
            self.before = signal.signal(signal.SIGINT, self._note)

    def on_end(self, _event: Any) -> None:
        if threading.current_thread() is not threading.main_thread() or self.depth == 0:
            return
        self.depth -= 1
        if self.depth > 0:
            return
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        if self.interrupted:
            self.interrupted = False
            signal.raise_signal(signal.SIGINT)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupted = True


_watch = _Watch()
event.register(_COMPILE, _watch)  # type: ignore[no-untyped-call]


def on_first_compile(tell: Callable[[], None]) -> None:
    """Call ``tell`` when a kernel is about to be compiled (not loaded from the cache), once."""
    _watch.tell = tell


@contextlib.contextmanager
def _cache_scope(folder: Path) -> Iterator[None]:
    """Let numba put its cache into a folder; only while this lasts, as the setting is global."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time; where there are no locks, on some network folders, all at once."""
    with (folder / ".lock").open("a") as file:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _SharedCache(FunctionCache):
    """numba's cache of one kernel, for processes that compile side by side.

    numba gives each version of a kernel a file with the first number that its index has not given
    yet, and locks nothing. Two processes that keep versions of a kernel at the same moment take the
    same number: from then on one version's code would answer for the other's types.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        with _cache_scope(folder):
            super().__init__(function)  # type: ignore[no-untyped-call]
        self._folder = folder

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with contextlib.suppress(OSError), _alone(self._folder):
            super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]


def dispatcher_of(function: Callable[..., Any], folder: Path | None, *, inline: bool) -> Any:
    """What numba makes of a function; its code is kept in a folder, if there is one."""
    made: Any = numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function)
    if folder is not None:
        made._cache = _SharedCache(function, folder)  # as `cache=True` would, but with a lock
    return made


def compile_only(dispatcher: Any, signature: str) -> None:
    """Compile one version of a kernel, which may call itself, and let there be no other."""
    dispatcher.compile(signature)
    dispatcher.disable_compile()


# Arrays that a kernel makes for itself: what numba's runtime gives them, without numba. An owner
# of memory begins with its count of references, a word; the address of the data is its fourth.
_OWNER = "{i64, i8*, i8*, i8*, i64}"
_RUNTIME = """
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %align_word = zext i32 %align to i64
  %head = add i64 %align_word, 48
  %total = add i64 %head, %size
  %owner = call ptr @PyMem_RawMalloc(i64 %total)
  %failed = icmp eq ptr %owner, null
  br i1 %failed, label %end, label %fill
fill:
  %start = ptrtoint ptr %owner to i64
  %after = add i64 %start, %head
  %mask = sub i64 0, %align_word
  %data = and i64 %after, %mask
  %place = getelementptr i8, ptr %owner, i64 24
  store i64 1, ptr %owner
  store i64 %data, ptr %place
  br label %end
end:
  ret ptr %owner
}

define void @NRT_MemInfo_call_dtor(ptr %owner) {
  call void @PyMem_RawFree(ptr %owner)
  ret void
}
"""


def object_code(dispatcher: Any, arguments: tuple[Any, ...]) -> tuple[dict[str, Any], bytes] | None:
    """The machine code that answers a call with such arguments, alone; None if it cannot be alone.

    numba's code of a kernel holds all that it calls, and beside it an entry for Python; this is
    taken away, with all that only it needs. What is left may need nothing of numba's runtime but
    memory. Returns what a caller must know (``symbol``, types of ``arguments`` and ``result``,
    ``imports``), and the code.
    """
    with LOCK:
        types = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
        compiled = dispatcher.overloads.get(types)
        if compiled is None or compiled.library.has_dynamic_globals or sys.maxsize < 2**32:
            return None
        module = compiled.library._get_module_for_linking().clone()
        machine = compiled.library.codegen._tm
        symbol = compiled.fndesc.llvm_func_name
        if str(nrtdynmod._meminfo_struct_type) == _OWNER:
            module.link_in(llvm.parse_assembly(_RUNTIME))
        for each in (*module.functions, *module.global_variables):
            if not each.is_declaration:
                each.linkage = "external" if each.name == symbol else "internal"
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        passes = llvm.create_new_module_pass_manager()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(module, builder)
        imports = {
            each.name
            for each in (*module.functions, *module.global_variables)
            if each.is_declaration and not each.name.startswith("llvm.")
        }
        if not imports <= IMPORTS:
            return None
        facts = {
            "symbol": symbol,
            "arguments": [str(each) for each in types],
            "result": str(compiled.signature.return_type),
            "imports": sorted(imports),
        }
        return facts, machine.emit_object(module)
