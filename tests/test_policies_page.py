"""The examples of docs/policies.md run, and its table of parameters is true."""

from __future__ import annotations

import doctest
import os
from pathlib import Path

from milsim.policies.spec import maker, spec_names

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(os.fspath(PAGE), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_the_page_names_every_policy_and_parameter():
    text = PAGE.read_text(encoding="utf-8")
    for name in ("random", "greedy", "expert", "pimc", "oracle"):
        assert f"| `{name}` |" in text
        assert name in spec_names()
    for parameter, default in maker("pimc").parameters.items():
        assert f"| `{parameter}` |" in text
        assert f"| {default} |" in text
