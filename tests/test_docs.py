"""docs/rules.md is what its generator makes of the presets; each clause has tests that exist."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from milsim.rules import field_kinds, preset_names

ROOT = Path(__file__).parents[1]


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE_RULES = _module()
CLAUSES: list[dict[str, Any]] = [
    clause for text in MAKE_RULES.clauses().values() for clause in text["clause"]
]


def test_the_page_of_rules_is_as_its_generator_makes_it(update_golden: bool) -> None:
    made = MAKE_RULES.page()
    if update_golden:
        MAKE_RULES.PAGE.write_text(made, encoding="utf-8")
    assert MAKE_RULES.PAGE.read_text(encoding="utf-8") == made, "make docs writes it anew"


def test_the_page_has_every_preset_and_field() -> None:
    page = MAKE_RULES.PAGE.read_text(encoding="utf-8")
    for name in preset_names():
        assert f"**{name}**" in page
    for path in field_kinds():
        assert f"| `{path.partition('.')[2]}` " in page


def test_tables_line_up() -> None:
    lines = MAKE_RULES.PAGE.read_text(encoding="utf-8").splitlines()
    for line, following in pairwise(lines):
        if line.startswith("|") and following.startswith("|"):
            assert len(line) == len(following)
            assert line.replace("\\|", "").count("|") == following.replace("\\|", "").count("|")


def test_every_clause_has_a_test_and_fields_that_exist() -> None:
    assert set(MAKE_RULES.clauses()) <= set(preset_names())
    for clause in CLAUSES:
        assert set(clause) <= {"where", "says", "preset", "fields", "tests"}
        assert clause.get("preset", "mil") in preset_names()
        assert clause["where"]
        assert clause["says"]
        assert clause["tests"], clause["says"]
        assert set(clause.get("fields", ())) <= set(field_kinds()), clause["says"]


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """Names of all tests in the files that clauses name, with and without their parameters."""
    files = sorted({name.partition("::")[0] for clause in CLAUSES for name in clause["tests"]})
    asked = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*asked, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {line for line in done.stdout.splitlines() if "::test_" in line}
    return found | {name.partition("[")[0] for name in found}


def test_every_named_test_exists(collected: set[str]) -> None:
    named = {name for clause in CLAUSES for name in clause["tests"]}
    assert len(named) > 80
    assert not named - collected
