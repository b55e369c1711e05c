"""Pages, Markdown and CSV: what users name is text there, whatever letters are in it."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milsim import rules
from milsim.errors import RulesError
from milsim.pages import explorer, run_report
from milsim.pages.run_report_parts import table_html, words
from milsim.reports import REPORTS, ReportEntry
from milsim.reports.formats import render, to_markdown
from milsim.reports.table import Column, Report, Table
from milsim.rules import Rules
from milsim.store.match_run import MatchRun
from milsim.tables.compact import CompactTable, shipped_headers
from milsim.tables.corrections import shipped_corrections
from tests.made_up_matches import made_up_matches

PIECES = (
    "<", ">", "&", '"', "'", "`", "=", "/", "\\", "|", "*", "_", "#", "$", "${title}", "$style",
    "</script>", "<script>alert(1)</script>", "<!--", "-->", "]]>", "<img src=x onerror=a>",
    "&lt;", "&#60;", "&amp;lt;", "</title>", "</pre>", "</style>", "' onload='", '" onload="',
    "javascript:", "\u2028", "\u2029", "\u202e", "\u200f", "\ufeff", "\x00", "\x1b[31m", "\x7f",
    "\n", "\r\n", "\t", "\udcff", "é", "♠", "x", " ",
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
PLAIN = "plain"


class Outline(HTMLParser):
    """Elements with the names of their attributes, in order; and their texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.outline: list[tuple[str, ...]] = []
        self.text = ""
        self.scripts: dict[str, str] = {}
        self._script = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outline.append((tag, *(name for name, _ in attrs)))
        found = dict(attrs)
        assert not any(name.startswith("on") for name in found)
        href = found.get("href") or "#"
        assert href.startswith(("#", "data:,"))
        self._script = (found.get("id") or "") if tag == "script" else ""

    def handle_endtag(self, tag: str) -> None:
        self.outline.append((f"/{tag}",))
        self._script = ""

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        self.text += data


@settings(max_examples=150)
@given(HOSTILE | st.text())
def test_words_are_text_in_elements_and_attributes(text: str) -> None:
    shown = words(text)
    shown.encode()
    page = Outline(f'<p title="{shown}" lang="en">{shown}</p>')
    assert page.outline == [("p", "title", "lang"), ("/p",)]
    assert len(page.text) == len(text)
    assert not {unicodedata.category(letter) for letter in shown} & {"Cc", "Cf", "Cs"}


@settings(max_examples=15)
@given(HOSTILE, HOSTILE)
def test_tables_of_any_words(title: str, cell: str) -> None:
    """On a page, as Markdown and as CSV: as many cells as there are."""

    def made(title: str, cell: str) -> Table:
        frame = pl.DataFrame({"name": [cell, "x"], "n": [1, 2]})
        head = " ".join(title.split()) or "x"  # a header may have lines
        columns = (Column(head, "name", "text"), Column("deals", "n", "count"))
        return Table("t", title, frame, columns)

    table = made(_writable(title), _writable(cell))
    one, plain = Outline(table_html(table, "t")), Outline(table_html(made("a", "b"), "t"))
    assert one.outline == plain.outline
    about = ("x", "title", "kind", "model", "from somewhere", "read it so")
    report = Report(*about, (), (table,))
    lines = [line for line in to_markdown(report).splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert {line.replace("\\|", "").count("|") for line in lines} == {3}
    assert not re.search(r"(?<!\\)<[a-z/!]", "".join(lines))
    text = io.StringIO(render(report, "csv").decode(), newline="")
    assert list(csv.reader(text))[1:] == [["t", _writable(cell), "1"], ["t", "x", "2"]]


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


# -- whole pages ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> MatchRun:
    return made_up_matches(tmp_path_factory.mktemp("runs") / PLAIN, 5)[0]


def named(run: MatchRun, text: str) -> MatchRun:
    """The run as if everything that can be named were named so."""
    chosen = replace(run.rules, name=text, source=text)
    manifest = replace(
        run.manifest,
        plan=replace(run.plan, rules=chosen),
        versions={"milsim": text, text: text, "policy mine": text},
        rng=text,
        kernels=text,
    )
    return replace(run, manifest=manifest, folder=run.folder)


class NamedFolder(type(Path())):  # type: ignore[misc]
    """A folder whose name the file system would not take."""

    called = PLAIN

    def resolve(self, strict: bool = False) -> Path:
        return NamedFolder(self)

    @property
    def name(self) -> str:
        return self.called


@settings(max_examples=6)
@given(HOSTILE)
def test_the_page_of_runs_has_the_same_elements_whatever_is_named(
    matches: MatchRun, text: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_report, "_makers", lambda run: iter(()))
        patch.setattr(NamedFolder, "called", text)
        folder = NamedFolder(matches.folder)
        page = run_report.run_report(replace(named(matches, text), folder=folder))
        plain = run_report.run_report(named(matches, PLAIN))
    page.encode()
    assert Outline(page).outline == Outline(plain).outline
    assert Outline(page).text.count(_shown(text).strip()) >= 5


def _shown(text: str) -> str:
    return Outline(f"<p>{words(text)}</p>").text


def test_reports_say_hostile_names_as_text(matches: MatchRun) -> None:
    text = "".join(piece for piece in PIECES if piece.isprintable())
    entry = REPORTS["match"]
    assert isinstance(entry, ReportEntry)
    page = run_report._report(entry.build(named(matches, text)), "x", "")
    plain = run_report._report(entry.build(named(matches, PLAIN)), "x", "")
    assert Outline(page).outline == Outline(plain).outline
    markdown = to_markdown(entry.build(named(matches, text)))
    assert len(markdown.splitlines()) == len(
        to_markdown(entry.build(named(matches, PLAIN))).splitlines()
    )


@pytest.fixture(scope="module")
def small() -> CompactTable:
    """A table with its header only: a page holds the packed file as it is."""
    header = shipped_headers()["mil-expert.hands"]
    nothing = np.zeros((0, 0))
    return CompactTable(header, *[nothing] * 4)  # type: ignore[arg-type]


def explored(table: CompactTable, chosen: Rules, text: str) -> str:
    header = {
        **table.header,
        **dict.fromkeys(("rules_name", "rules", "policy", "rng", "kernels", "plan_digest"), text),
        "versions": {text: text},
    }
    models = shipped_corrections(chosen)
    assert models is not None
    several = {text: replace(next(iter(models.models.values())), model=text)}
    models = replace(models, models=several, header={**models.header, "kernels": text})
    return explorer._page(b"", replace(table, header=header), replace(chosen, name=text), models)


@settings(max_examples=15)
@given(HOSTILE)
def test_the_explorer_has_the_same_elements_whatever_is_named(
    small: CompactTable, text: str
) -> None:
    chosen = rules.load("mil")
    page, plain = (Outline(explored(small, chosen, each)) for each in (_writable(text), PLAIN))
    assert page.outline == plain.outline
    for name in ("settings", "words", "corrections"):
        assert type(json.loads(page.scripts[name])) is type(json.loads(plain.scripts[name]))
    assert json.loads(page.scripts["settings"])["rules"] == _writable(text)


@settings(max_examples=60)
@given(HOSTILE)
def test_names_of_rules_show_on_a_line(text: str) -> None:
    """What would not show is refused where names are read."""
    document = rules.to_toml(rules.load("mil"), comments=False)
    _, _, rest = document.partition("\n")
    named = f"name = {json.dumps(text, ensure_ascii=True)}\n{rest}"
    try:
        found = rules.parse(named)
    except RulesError:
        return
    assert found.name == text
    assert text.isprintable()
