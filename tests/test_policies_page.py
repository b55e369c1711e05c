"""The examples of docs/policies.md run, and its table of parameters is true."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
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


def run(folder, *command):
    """A command of a user with nothing but milsim, in a folder of his own."""
    root = os.fspath(PAGE.parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((os.fspath(folder), root))}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ten_lines_pit_a_bot_against_ours(tmp_path):
    (script,) = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in script.splitlines() if line.strip()]) <= 10
    (tmp_path / "bot.py").write_text(script, encoding="utf-8")
    told = run(tmp_path, "bot.py")
    assert re.match(r"\d{4} acts are legal and honest\nArena: cheapest and greedy\n", told)
    by = re.search(
        r"cheapest is worse than greedy by ([0-9.]+) points a deal and seat", " ".join(told.split())
    )
    assert by is not None
    assert 30 < float(by[1]) < 55  # "about 40", says the page
    assert " · cheapest: __main__:Cheapest, sha256 " in " ".join(told.split())


def test_a_folder_with_an_entry_point_is_enough(tmp_path):
    bot = "from milsim.policies import Policy\n\nclass Cautious(Policy):\n    pass\n"
    (tmp_path / "my_bots.py").write_text(bot)
    about = tmp_path / "my_bots-1.0.dist-info"
    about.mkdir()
    (about / "entry_points.txt").write_text("[milsim.policies]\ncautious = my_bots:Cautious\n")
    (about / "METADATA").write_text("Name: my-bots\nVersion: 1.0\n")
    told = run(tmp_path, "-m", "milsim", "arena", "cautious", "greedy", "--deals", "100")
    assert " · cautious: my-bots 1.0, my_bots:Cautious, sha256 " in " ".join(told.split())
