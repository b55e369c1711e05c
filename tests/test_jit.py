"""The kernel decorator: the digest, the cache, and the environment variables that steer them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import milsim
from milsim import _jit

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


def run(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_sources_are_the_kernel_modules_and_what_they_import() -> None:
    names = [path.name for path in _jit.kernel_sources()]
    assert {"_jit.py", "bits.py"} <= set(names)
    package = Path(milsim.__file__).parent
    sources = set(_jit.kernel_sources())
    for path in package.rglob("*.py"):
        if "@kernel" in path.read_text("utf-8") and path.name != "_jit.py":
            assert path in sources
    assert set((package / "rules").rglob("*.py")) <= sources
    assert package / "errors.py" not in sources or any(
        "milsim.errors" in path.read_text("utf-8") for path in sources
    )


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


def test_digest_changes_with_any_kernel_source(tmp_path: Path) -> None:
    code = "import milsim._jit as jit; print(jit.kernel_digest(), len(jit.kernel_sources()))"
    package = Path(milsim.__file__).parent
    copy = tmp_path / "milsim"
    for path in package.rglob("*.py"):
        target = copy / path.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())

    def digest() -> str:
        inside = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"
        return run(inside)

    before = digest()
    assert before == digest() == run(code)  # the same wherever it is installed
    (copy / "added.py").write_text("X = 1\n")
    assert digest() == before  # no kernel depends on it
    with (copy / "bits.py").open("a") as file:
        file.write("from milsim.added import X\n")
    after = digest()
    assert after != before
    (copy / "added.py").write_text("X = 2\n")
    assert digest() not in (before, after)  # a constant frozen into a kernel of another file


def test_digest_depends_on_the_choice_of_instructions() -> None:
    code = "import milsim._jit as jit; print(jit.kernel_digest(), jit.has_fast_deposit())"
    digest, fast = run(code, MILSIM_PORTABLE="0").split()
    portable_digest, portable_fast = run(code, MILSIM_PORTABLE="1").split()
    assert portable_fast == "False"
    assert (digest != portable_digest) == (fast == "True")
    assert run(code, NUMBA_CPU_NAME="generic").endswith("False")


def test_cache_is_kept_in_the_digest_folder(tmp_path: Path) -> None:
    first = run(PROBE + REPORT, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0")
    digest = first.split()[0]
    assert first.split()[1:] == ["True", "True"]
    assert [path.name for path in tmp_path.iterdir()] == [f"kernels-{digest}"]
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert files
    assert run(PROBE + REPORT, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0") == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == files


def test_unusable_cache_directory_is_no_fault(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    output = run(PROBE + REPORT, NUMBA_CACHE_DIR=str(blocked / "cache"), NUMBA_DISABLE_JIT="0")
    assert output.split()[1:] == ["False", "False"]


def test_user_cache_directory_follows_the_platform(tmp_path: Path) -> None:
    code = "import milsim._jit as jit; print(jit.cache_directory())"
    environment = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    folder = Path(run(code, **environment))
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
    before = _jit._config.CACHE_DIR
    _jit.kernel(test_global_setting_of_numba_is_restored)
    assert before == _jit._config.CACHE_DIR


def test_explicit_signature_compiles_at_once() -> None:
    if not _jit.jit_enabled():
        pytest.skip("without JIT nothing is compiled")
    assert factorial(10) == 3_628_800
    found = [s for s in _jit.kernel_signatures() if s.kernel.endswith("factorial")]
    assert [(s.arguments, s.result) for s in found] == [(("int64",), "int64")]


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
