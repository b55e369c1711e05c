"""The kernel decorator: the digest, the cache, and the environment variables that steer them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import milsim
from milsim import _jit
from milsim._compiling import native

PROBE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import milsim._jit as jit
from test_bits import one_word
assert one_word(12) == (2, 2, 3)
"""
REPORT = "print(jit.kernel_digest(), jit.cache_is_usable(), jit.cache_is_warm())"


@_jit.kernel(signature="int64(int64)")
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, which a test may change and nobody else does."""
    copy = tmp_path / "copy" / "milsim"
    shutil.copytree(Path(milsim.__file__).parent, copy)
    return copy


def run(code: str, package: Path | None = None, **environment: str) -> str:
    """What Python prints, with the package or a copy of it."""
    package = package or Path(milsim.__file__).parent
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": str(package.parent), **environment},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_sources_are_the_kernel_modules_and_what_they_import() -> None:
    package = Path(milsim.__file__).parent
    sources = {path.relative_to(package).as_posix() for path in _jit.kernel_sources()}
    assert {"_jit.py", "bits.py", "rng.py", "cards.py", "deals.py", "rules/model.py"} <= sources
    assert {"dealing/sampling.py", "dealing/tables.py", "tricks.py"} <= sources
    apart = ("cli/", "pages/", "reports/", "__main__")
    assert not [name for name in sources if name.startswith(apart)]
    for path in package.rglob("*.py"):
        if "@kernel" in path.read_text("utf-8"):
            assert path.relative_to(package).as_posix() in sources


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from milsim._jit import kernel", "milsim._jit"),
        ("from milsim import _jit", "milsim._jit"),
        ("    import milsim._jit as jit", "milsim._jit"),
        ("from milsim.dealing import (\n    tables,  # a comment, with a comma\n    _jit as x,\n)",
         "milsim.dealing._jit"),
        ("from . import _jit", "milsim._jit"),
        ("from .dealing.tables import A, B", "milsim.dealing.tables"),
    ],
)  # fmt: skip
def test_imports_are_found(source: str, name: str) -> None:
    file = Path(milsim.__file__).parent / "bits.py"
    assert name in set(_jit._imported_names(source, file))


def test_relative_imports_are_resolved_in_folders() -> None:
    file = Path(milsim.__file__).parent / "dealing" / "sampling.py"
    assert "milsim.dealing.tables" in set(_jit._imported_names("from .tables import A", file))
    assert "milsim._jit" in set(_jit._imported_names("from .._jit import kernel", file))


def test_digest_changes_with_any_kernel_source(package: Path, tmp_path: Path) -> None:
    code = "import milsim._jit as jit; print(jit.kernel_digest())"
    before = run(code, package)
    elsewhere = tmp_path / "elsewhere" / "milsim"
    shutil.copytree(package, elsewhere)
    assert run(code, elsewhere) == before  # the same wherever it is installed
    (package / "added.py").write_text("from milsim._jit import kernel_digest\nX = 1\n")
    assert run(code, package) == before  # no kernel depends on it
    with (package / "bits.py").open("a") as file:
        file.write("from milsim.added import X\n")
    after = run(code, package)
    assert after != before
    (package / "added.py").write_text("X = 2\n")
    changed = run(code, package)
    assert changed not in (before, after)  # a constant frozen into a kernel of another file
    (package / "new.py").write_text("from milsim import _jit\n\n\n@_jit.kernel\ndef f(): ...\n")
    assert run(code, package) not in (before, after, changed)


def test_digest_depends_on_the_choice_of_instructions(package: Path) -> None:
    code = "import milsim._jit as jit; print(jit.kernel_digest(), jit.has_fast_deposit())"
    digest, fast = run(code, package, MILSIM_PORTABLE="0").split()
    portable_digest, portable_fast = run(code, package, MILSIM_PORTABLE="1").split()
    assert portable_fast == "False"
    assert (digest != portable_digest) == (fast == "True")
    assert run(code, package, NUMBA_CPU_NAME="generic").endswith("False")


def test_cache_is_kept_in_the_digest_folder(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = run(PROBE + REPORT, package, NUMBA_CACHE_DIR=str(cache), NUMBA_DISABLE_JIT="0")
    digest = first.split()[0]
    assert first.split()[1:] == ["True", "True"]
    assert [path.name for path in cache.iterdir()] == [f"kernels-{digest}"]
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")}
    assert files
    assert run(PROBE + REPORT, package, NUMBA_CACHE_DIR=str(cache), NUMBA_DISABLE_JIT="0") == first
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")} == files


ADDS = """
import sys
import time
import numpy as np
from numba.core.caching import IndexDataCacheFile
from milsim._jit import kernel

@kernel
def doubled(x):
    return x + x

with_index = IndexDataCacheFile._save_index

def slowly(file, overloads):
    time.sleep(1)  # between the look at the index and the change of it
    with_index(file, overloads)

if sys.argv[1] != "both":
    sys.stdin.readline()
    IndexDataCacheFile._save_index = slowly
for kind in (np.int32, np.float32) if sys.argv[1] == "both" else (getattr(np, sys.argv[1]),):
    found = doubled.dispatcher(np.array([1.5, 3]).astype(kind))
    print(found.dtype, found.tolist(), sum(doubled.dispatcher.stats.cache_hits.values()))
"""


def test_two_processes_keep_two_versions_of_a_kernel_at_once(tmp_path: Path) -> None:
    """numba alone gives both the same file: one version then answers for the other's types."""
    script = tmp_path / "adds.py"
    script.write_text(ADDS)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(milsim.__file__).parents[1]),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "NUMBA_DISABLE_JIT": "0",
    }

    def begun(kind: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(script), kind]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    both = [begun("int32"), begun("float32")]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [process.communicate()[0] for process in both]
    wanted = ["int32 [2, 6]", "float32 [3.0, 6.0]"]
    assert found == [f"{text} 0\n" for text in wanted]
    assert begun("both").communicate()[0] == f"{wanted[0]} 1\n{wanted[1]} 2\n"


def test_unusable_cache_directory_is_no_fault(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    output = run(PROBE + REPORT, NUMBA_CACHE_DIR=str(blocked / "cache"), NUMBA_DISABLE_JIT="0")
    assert output.split()[1:] == ["False", "False"]


def test_user_cache_directory_follows_the_platform(tmp_path: Path) -> None:
    code = "import milsim._jit as jit; print(jit.cache_directory())"
    home = str(tmp_path)
    folder = Path(run(code, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=home, HOME=home))
    assert tmp_path in folder.parents
    assert "milsim" in folder.parts
    assert not folder.exists()


def test_no_jit_mode_gives_plain_functions(tmp_path: Path) -> None:
    code = PROBE + "print(type(one_word).__name__, jit.jit_enabled())"
    output = run(code, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path / "none"))
    assert output.splitlines()[-1] == "function False"
    assert not (tmp_path / "none").exists()


def test_pruning_keeps_the_newest_and_the_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_jit, "_cache_root", lambda: tmp_path)
    now = time.time()
    for number in range(6):
        folder = tmp_path / f"kernels-{number:016x}"
        folder.mkdir()
        (folder / "code.nbc").touch()
        os.utime(folder, (now - 10_000 * number, now - 10_000 * number))
    (tmp_path / "other").mkdir()
    os.utime(tmp_path / "other", (0, 0))
    removed = _jit.prune_cache(keep=3)
    assert [int(path.name[-1]) for path in removed] == [2, 3, 4, 5]
    assert sorted(path.name[-1] for path in tmp_path.iterdir()) == ["0", "1", "r"]
    assert _jit.prune_cache(keep=0) == [tmp_path / f"kernels-{1:016x}"]  # 0 was used just now
    assert _jit.prune_cache(keep=0, idle_seconds=-60.0) == [tmp_path / f"kernels-{0:016x}"]
    assert _jit.prune_cache() == []


def test_global_setting_of_numba_is_restored() -> None:
    import numba

    settings: Any = numba.config
    before = settings.CACHE_DIR
    assert factorial(5) == 120
    assert before == settings.CACHE_DIR


def test_explicit_signature_compiles_at_once() -> None:
    if not _jit.jit_enabled():
        pytest.skip("without JIT nothing is compiled")
    assert factorial(10) == 3_628_800
    found = [s for s in _jit.kernel_signatures() if s.kernel.endswith("factorial")]
    assert [(s.arguments, s.result) for s in found] == [(("int64",), "int64")]


def mixed(numbers: NDArray[np.int64], small: NDArray[np.int16], n: int) -> tuple[int, int]:
    made = np.zeros((n, 2), np.int64)  # memory of the kernel's own
    for i in range(n):
        made[i, 0] = numbers[i // 2, i % 2] * factorial(3)
        made[i, 1] = small[i]
        numbers[i // 2, i % 2] = -i
    return int(made[:, 0].sum()), int(made[:, 1].sum())


def fill(numbers: NDArray[np.int64], value: int) -> None:
    numbers[:] = value


def refuse(n: int) -> int:
    if n < 0:
        raise ValueError("no such number")
    return n + 1


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where the code of this file's functions is kept as if they were the package's."""
    if not _jit.jit_enabled():
        pytest.skip("without JIT nothing is compiled")
    monkeypatch.setattr(_jit, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(_jit.Kernel, "_is_of_the_package", lambda self: True)
    return tmp_path


def kernel_of(function: Callable[..., Any]) -> _jit.Kernel:
    return cast(_jit.Kernel, _jit.kernel(function))


def test_kept_code_answers_as_numba_does(kept: Path) -> None:
    def numbers() -> NDArray[np.int64]:
        return np.arange(8, dtype=np.int64).reshape(4, 2)

    small = np.arange(30, dtype=np.int16)[::3]
    locked = np.arange(10, dtype=np.int16)
    locked.flags.writeable = False
    compiled, loaded = kernel_of(mixed), kernel_of(mixed)
    for cut, shorts in (
        (numbers(), small),
        (numbers(), locked),
        (np.asfortranarray(numbers()), small),
        (numbers()[::2], small),
    ):
        one, other = cut.copy(order="A"), cut.copy(order="A")
        answer = compiled(one, shorts, 4)
        assert loaded(other, shorts, np.int64(4)) == answer
        assert (one == other).all()
        assert loaded(other, shorts, 4) == compiled(one, shorts, 4)
    assert compiled.is_made
    assert not loaded.is_made
    assert {found.result for found in loaded.loaded} == {"UniTuple(int64 x 2)"}

    compiled, loaded = kernel_of(fill), kernel_of(fill)
    for each in compiled, loaded:
        array = np.zeros(5, np.int64)
        assert each(array[1:4], -(2**63)) is None
        assert array.tolist() == [0, *[-(2**63)] * 3, 0]
    assert not loaded.is_made


def test_kept_code_that_raises_is_left_to_numba(kept: Path) -> None:
    assert kernel_of(refuse)(1) == 2
    loaded = kernel_of(refuse)
    assert loaded(2) == 3
    assert not loaded.is_made
    with pytest.raises(ValueError, match="no such number"):
        loaded(-1)
    assert loaded(2) == 3


def test_what_kept_code_does_not_know_goes_to_numba(kept: Path) -> None:
    each = kernel_of(refuse)
    assert each(1.5) == 2.5
    assert each(n=1) == 2
    assert each(True) == 2
    assert not list(kept.rglob("*.code"))
    assert each(1) == 2
    assert len(list(kept.rglob("*.code"))) == 1


@pytest.mark.parametrize("damage", ["torn", "changed", "empty", "foreign", "missing"])
def test_damaged_code_is_compiled_anew(kept: Path, damage: str) -> None:
    assert kernel_of(refuse)(1) == 2
    (file,) = kept.rglob("*.code")
    data = file.read_bytes()
    if damage == "torn":
        file.write_bytes(data[:-100])
    elif damage == "changed":
        file.write_bytes(data[:-50] + b"x" + data[-49:])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "missing":
        file.unlink()
    else:
        facts, code = cast(tuple[dict[str, Any], bytes], native.read(file))
        native.keep(file, {**facts, "imports": ["system"]}, code)
    loaded = kernel_of(refuse)
    assert loaded(1) == 2
    assert loaded.is_made
    again = kernel_of(refuse)
    assert again(1) == 2
    assert not again.is_made


def test_code_of_another_symbol_is_not_linked(kept: Path) -> None:
    assert kernel_of(refuse)(1) == 2
    (file,) = kept.rglob("*.code")
    facts, code = cast(tuple[dict[str, Any], bytes], native.read(file))
    native.keep(file, {**facts, "symbol": "another"}, code)
    assert native.load(file, ("i",)) is None


def test_settings_of_numba_have_code_of_their_own(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from milsim._compiling import native;"
        "print(native.path_of(Path('x'), 'k', ('i',)))"
    )
    paths = {run(code), run(code, NUMBA_OPT="1"), run(code, NUMBA_CPU_NAME="generic")}
    assert len(paths) == 3
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) in paths


def test_kernels_have_one_integer_type_and_no_floats() -> None:
    """Numba turns uint64 beside int64 into float64, silently: not in any kernel compiled so far.

    `tests/test_dealing.py` looks again after it has compiled the kernels of dealing.
    """
    assert_clean_signatures()


def assert_clean_signatures(prefix: str = "milsim.") -> None:
    for found in _jit.kernel_signatures():
        if found.kernel.startswith(prefix):
            assert "float" not in " ".join((*found.arguments, found.result)), found
            assert "uint" not in found.result, found
            assert "int32" not in found.result, found


def test_warm_commands_import_no_numba(tmp_path: Path) -> None:
    code = (
        "import sys, milsim\n"
        "values = milsim.solve(688907321587).value\n"
        "run = milsim.simulate(100, out=sys.argv[1])\n"
        "points = run.frame().collect()['declarer_points'].sum()\n"
        "print(values, points, 'numba' in sys.modules)"
    )
    if not _jit.jit_enabled():
        pytest.skip("without JIT nothing is compiled")
    first, second = (
        run(code.replace("sys.argv[1]", repr(str(tmp_path / name)))).split() for name in "ab"
    )
    assert first[:2] == second[:2]
    assert second[2] == "False"
