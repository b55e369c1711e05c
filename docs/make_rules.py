"""Makes docs/rules.md: every field in every preset, and every clause of the seeds with its proof.

``make docs`` writes the page; ``tests/test_docs.py`` compares it. The presets are those that ship
with milsim, the clauses stand in ``clauses.toml`` beside this file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from milsim.rules import field_kinds, load, preset_names, values_of
from milsim.rules.fields import Value

FOLDER = Path(__file__).parent
PAGE = FOLDER / "rules.md"
CLAUSES = FOLDER / "clauses.toml"

INTRODUCTION = """\
# The rules of Thousand, and where each is proven

Thousand is played differently in every home, so in milsim a rule set is data: a list of fields.
Below is every field with its value in every preset, and then every clause of the rule texts that
milsim was written from, with the fields that carry it and the tests that prove it.

Your own rules: `milsim rules new --out home.toml` makes a file to edit, `--set play.must_beat=no`
changes a single field of any command, `milsim rules diff mil pagat` compares two. How a match is
scored, in which order, is told in [match.md](match.md)."""

FIRST = ("mil", "mil-500", "gamerules")
"""The presets of the seeds stand before the others."""

TITLES = {
    "deal": "The deal",
    "auction": "The auction",
    "talon": "The talon and the contract",
    "play": "The play",
    "scoring": "The score of a deal",
    "match": "The match",
}


def page() -> str:
    """The whole page as Markdown."""
    parts = [INTRODUCTION, _presets(), _fields(), *_clauses()]
    return "\n\n".join(parts) + "\n\n*Made by docs/make_rules.py from the presets; do not edit.*\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up in the source, too.

    >>> print(table(["a", "b"], [["one", "x|y"]]))
    | a   | b    |
    |-----|------|
    | one | x\\|y |
    """
    cells = [[cell.replace("|", "\\|") for cell in row] for row in [head, *rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def presets() -> list[str]:
    """Names of all presets in the order of the page.

    >>> presets()[:2]
    ['mil', 'mil-500']
    """
    return [*FIRST, *(name for name in preset_names() if name not in FIRST)]


def _presets() -> str:
    """The presets, their sources, and the notes at the head of their files."""
    lines = ["## The presets", ""]
    for name in presets():
        lines.append(f"- **{name}**: {load(name).source}.")
        lines += [f"  {line}" for line in _notes(name)]
    return "\n".join(lines)


def _notes(name: str) -> list[str]:
    text = (resources.files("milsim.rules") / "presets" / f"{name}.toml").read_text("utf-8")
    notes = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        notes.append(line.removeprefix("#").strip())
    return notes


def _fields() -> str:
    names = presets()
    values = {name: values_of(load(name)) for name in names}
    parts = [
        "## Every field in every preset",
        "**Bold** is what differs from `mil`. `milsim rules show mil` prints what else each field "
        "may hold.",
    ]
    for group, title in TITLES.items():
        rows = []
        for path, kind in field_kinds().items():
            if path.partition(".")[0] != group:
                continue
            row = [f"`{path.partition('.')[2]}`"]
            for name in names:
                shown = _plain(values[name][path])
                differs = values[name][path] != values["mil"][path]
                row.append(f"**{shown}**" if differs else shown)
            rows.append([*row, kind.meaning])
        parts.append(f"### {title}: `[{group}]`")
        parts.append(table(["field", *names, "meaning"], rows))
    return "\n\n".join(parts)


def _clauses() -> list[str]:
    parts = [
        "## Every clause, its fields and its proof",
        "Advice to players, and what the seeds say of windows and buttons, are no rules and have "
        "no row. Where no field is named, the clause is so in every rule set. A test is run by its "
        'name, in quotes: `pytest "tests/test_x.py::test_name[case]"`; the same cases are run '
        "against the compiled kernels by `tests/test_kernels_against_reference.py`.",
    ]
    for preset, text in clauses().items():
        rows = [
            [
                clause["where"],
                clause["says"],
                "<br>".join(_fields_of(clause, preset)),
                "<br>".join(f"`{name}`" for name in clause["tests"]),
            ]
            for clause in text["clause"]
        ]
        parts.append(f"### {text['title']}: `{preset}`")
        parts.append(text["text"])
        parts.append(table([text["column"], "what it says", "fields", "proven by"], rows))
    return parts


def clauses() -> dict[str, Any]:
    """The texts with their clauses, by the preset that carries them."""
    return tomllib.loads(CLAUSES.read_text(encoding="utf-8"))


def _fields_of(clause: dict[str, Any], preset: str) -> list[str]:
    """The fields of a clause with their values in its preset: that of the text, or its own."""
    values = values_of(load(clause.get("preset", preset)))
    return [f"`{path} = {_plain(values[path])}`" for path in clause.get("fields", ())]


def _plain(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
