"""docs/reliability.md names tests that exist, and each fault has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")][1:]


def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_fault_has_a_test_that_exists() -> None:
    assert len(ROWS) >= 25
    for row in ROWS:
        found = re.search(r"\| `(tests/\w+\.py)::(test_\w+)` \| \S", row)
        assert found, row
        assert found[2] in functions_of(found[1]), row


def test_every_test_of_a_fault_is_on_the_page() -> None:
    for file in ("tests/test_faults.py", "tests/test_write_faults.py"):
        for name in functions_of(file):
            if name.startswith("test_") and name != "test_a_folder_that_is_none":
                assert f"`{file}::{name}`" in PAGE


def test_slow_ones_are_said_to_be() -> None:
    """So that nobody looks for them in the quick suite."""
    for file in ("tests/test_faults.py", "tests/test_fuzz.py"):
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            slow = any("slow" in ast.unparse(each) for each in node.decorator_list)
            for row in ROWS:
                if f"::{node.name}`" in row:
                    assert slow == ("(slow)" in row)
