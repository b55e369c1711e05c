"""Machine code of kernels, kept in files and called without numba.

Importing numba and letting it load its cache takes a second; LLVM alone links a file of machine
code in half a millisecond. So what numba has compiled for a call from Python is also kept as a file
of its own, one for each kernel, kinds of arguments, and processor. A call goes straight to it: an
array is seven words and more (numba's layout: owner, parent, size, size of an item, data, shape,
strides), a number is one, and so is None, whose word says nothing.

Nothing depends on these files: what is missing, torn, foreign or of a kind not known here is left
to numba, with the same results.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np

Key = tuple[str, ...]
Code = Callable[..., Any]

_MAGIC = b"milsim native code 1\n"
_INT_TUPLE = re.compile(r"UniTuple\(int64 x (\d+)\)|Tuple\(int64(?:, int64)*\)")
_RETURNED = (0, -2)  # outcomes of a call: a value, None; all else is an exception
_NUMBER = "i"
_NOTHING = "n"
_numbers = itertools.count()
# What the code may need of others; memory that any thread may ask for, with the GIL or without.
IMPORTS = frozenset({"PyMem_RawMalloc", "PyMem_RawFree"})


class CodeRaisedError(Exception):
    """The code ended by an exception, which only numba can tell."""


def key_of(arguments: tuple[Any, ...]) -> Key | None:
    """The kinds of some arguments, as they distinguish machine code; None if one is of no kind.

    >>> key_of((5, None, np.zeros((2, 3), np.int16))), key_of((1.5,)), key_of((2**63,))
    (('i', 'n', 'i2_2_C'), None, None)
    """
    kinds = []
    for value in arguments:
        kind = type(value)
        if kind is int:
            if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
                return None
            kinds.append(_NUMBER)
        elif kind is np.ndarray:
            dtype, flags = value.dtype, value.flags
            if dtype.kind not in "iubf" or not dtype.isnative or not flags.aligned:
                return None
            order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
            lock = "" if flags.writeable else "r"
            kinds.append(f"{dtype.kind}{dtype.itemsize}_{value.ndim}_{order}{lock}")
        elif kind is np.int64:
            kinds.append(_NUMBER)
        elif value is None:
            kinds.append(_NOTHING)
        else:
            return None
    return tuple(kinds)


@functools.cache
def _machine() -> str:
    """A digest of the processor, and of all settings of numba that may change the code."""
    settings = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name not in ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
    }
    features = llvm.get_host_cpu_features()
    facts = [
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        *sorted(name for name, there in features.items() if there),
        *sorted(settings.items()),
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def path_of(folder: Path, name: str, key: Key) -> Path:
    """The file of the code of a kernel for some kinds of arguments."""
    kinds = hashlib.sha256("-".join(key).encode()).hexdigest()[:8]
    return folder / f"native-{_machine()}" / f"{name}-{kinds}.code"


def keep(path: Path, facts: dict[str, Any], code: bytes) -> None:
    """Write a file of code, whole or not at all; raises OSError."""
    body = json.dumps(facts).encode() + b"\n" + code
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """What `keep` wrote; None if the file is missing, torn or changed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + 32
    body = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(body).digest():
        return None
    head, _, code = body.partition(b"\n")
    return json.loads(head), code


@functools.cache
def _linker() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler()


def load(path: Path, key: Key) -> tuple[dict[str, Any], Code] | None:
    """The facts of a file of code, and a function that calls it; None if there is no such."""
    found = read(path)
    if found is None:
        return None
    facts, code = found
    n_results = _words_of(facts["result"])
    if n_results is None or not IMPORTS.issuperset(facts["imports"]):
        return None
    builder = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(facts["symbol"])
    for name in facts["imports"]:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        builder.import_symbol(name, address)
    try:
        # A name may be used once only, and a kernel may be made anew.
        library = builder.link(_linker(), f"{path.stem}-{next(_numbers)}")
    except RuntimeError:
        return None
    n_words = sum(5 + 2 * int(kind.split("_")[1]) if "_" in kind else 1 for kind in key)
    prototype = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * n_words
    )
    return facts, _caller(prototype(library[facts["symbol"]]), key, n_results, library)


def _words_of(name: str) -> int | None:
    """How many words a result has: −1 for a number, 0 for None; None if it is not known here."""
    if name == "none":
        return 0
    if name == "int64":
        return -1
    match = _INT_TUPLE.fullmatch(name)
    if match is None:
        return None
    return int(match[1]) if match[1] else name.count("int64")


def _caller(function: Any, key: Key, n_results: int, library: Any) -> Code:
    """A function that takes the arguments of a kernel and calls its code, without the GIL."""
    is_array = ["_" in kind for kind in key]
    results = ctypes.c_int64 * max(abs(n_results), 1)

    def call(*arguments: Any, _library: Any = library) -> Any:
        # The library is unloaded when nobody holds it.
        words: list[int] = []
        for value, array in zip(arguments, is_array, strict=True):
            if array:
                data = value.__array_interface__["data"][0]
                words += (0, 0, value.size, value.itemsize, data, *value.shape, *value.strides)
            else:
                words.append(0 if value is None else int(value))
        result = results()
        raised = ctypes.c_void_p()
        if function(ctypes.byref(result), ctypes.byref(raised), *words) not in _RETURNED:
            raise CodeRaisedError
        if n_results < 0:
            return result[0]
        return tuple(result) if n_results else None

    return call
