"""The page of runs: the figures of the reports, no markup from outside, and a real browser."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import milsim
from milsim.errors import RunError, UsageError
from milsim.pages.run_report import _Section, _section, run_report
from milsim.pages.run_report_parts import words
from milsim.reports import REPORTS, ReportEntry
from milsim.reports.formats import to_markdown
from milsim.reports.match_summary import match_summary
from milsim.reports.summary import summary
from milsim.rules import load
from milsim.store.match_run import MatchRun
from milsim.store.run import Run
from tests.browser import Browser, needs_browser
from tests.command_line import Shell
from tests.made_up_matches import made_up_matches
from tests.made_up_runs import made_up_run

EVIL = "<script>alert('1')</script>&amp;\"x"
OF_DECLARER = ("bidding", "marriages", "talon", "contracts")
VOID = {"br", "link", "meta"}
"""The elements of the page that HTML closes by itself."""


@pytest.fixture(scope="module", autouse=True)
def _no_replays() -> Iterator[None]:
    """Made-up points cannot be played again."""

    def replayed(plan: object, *, index: NDArray[np.uint64], **_: object) -> NDArray[np.int16]:
        return (70 + index % 7).astype(np.int16)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("milsim.simulation.replay.replay_declarer_points", replayed)
        yield


@pytest.fixture(scope="module", autouse=True)
def _sections_once() -> Iterator[None]:
    """The same run in the same place of another page has the same section; opened anew, it is."""
    made: dict[tuple[int, str, str], tuple[object, _Section]] = {}

    def kept(run: Run | MatchRun, name: str, prefix: str) -> _Section:
        key = id(run), name, prefix
        if key not in made:
            made[key] = run, _section(run, name, prefix)
        return made[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("milsim.pages.run_report._section", kept)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def declared(folder: Path) -> Run:
    run, _ = made_up_run(folder / "declared", 3000, part_rows=1000)
    run.manifest.write(run.folder)
    return run


@pytest.fixture(scope="module")
def auctioned(folder: Path) -> Run:
    rules = replace(load("mil"), name=EVIL, source=f"{EVIL}<b>")
    return made_up_run(folder / EVIL.replace("/", "|"), 400, mode="auction", rules=rules)[0]


@pytest.fixture(scope="module")
def matches(folder: Path) -> MatchRun:
    return made_up_matches(folder / "matches", 20)[0]


@pytest.fixture(scope="module")
def page(declared: Run, auctioned: Run, matches: MatchRun) -> str:
    return run_report([declared, auctioned, matches])


@pytest.fixture(scope="module")
def alone(declared: Run) -> str:
    return run_report(declared)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@dataclass
class Reader(HTMLParser):
    """Elements in order, tables as texts, and faults: what is not closed, closed twice, astray."""

    starts: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    text: str = ""
    _open: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    @classmethod
    @cache
    def of(cls, page: str) -> Reader:
        """What a page says; read once, nobody changes it."""
        reader = cls()
        reader.feed(page)
        reader.close()
        reader.faults += [f"not closed: {tag}" for tag in reader._open]
        return reader

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if len(attributes) < len(attrs):
            self.faults.append(f"an attribute twice: {attrs}")
        self.starts.append((tag, attributes))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._rows = self.tables.setdefault(attributes["aria-labelledby"], [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1] += [""] * int(attributes.get("colspan", "1"))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"closed, but not open: {tag} at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if "script" not in self._open and "style" not in self._open:
            self.text += data
        if "tr" in self._open:
            row = self._rows[-1]
            # What spans several columns begins in the first of them.
            place = next((i for i, cell in enumerate(row) if i == len(row) - 1 or not cell), 0)
            row[place if "tfoot" in self._open and not any(row) else -1] += data


def count(page: str, tag: str) -> int:
    return sum(start == tag for start, _ in Reader.of(page).starts)


# -- what it says --------------------------------------------------------------------------------


def markdown_tables(text: str) -> list[list[list[str]]]:
    """The tables of a report in Markdown, without their lines of dashes."""
    tables: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]
        cells = [[cell.strip().replace("\\|", "|") for cell in row] for row in rows]
        tables.append([cells[0], *cells[2:]])
    return tables


def test_tables_have_every_figure_of_the_printed_reports(
    declared: Run, auctioned: Run, matches: MatchRun, page: str
) -> None:
    found, checked = dict(Reader.of(page).tables), 0
    for number, (run, names) in enumerate(
        [
            (declared, [*OF_DECLARER, "seats"]),
            (auctioned, [*OF_DECLARER, "seats", "auction"]),
            (matches, ["match", "auction"]),
        ],
        start=1,
    ):
        for name in names:
            entry = REPORTS[name]
            assert isinstance(entry, ReportEntry)
            report = entry.build(run)
            wanted = markdown_tables(to_markdown(report))
            assert len(wanted) == len(report.tables)
            for place, table in enumerate(wanted, start=1):
                shown = found.pop(f"run{number}-{name}-table{place}")
                heads = [
                    column.header.replace("\n", "") for column in report.tables[place - 1].columns
                ]
                assert shown[0] == heads
                assert [[cell.strip() for cell in row] for row in shown[1:]] == table[1:]
                checked += len(table)
    assert not found
    assert checked > 350


def test_the_summary_the_help_and_the_notes_are_there(
    declared: Run, matches: MatchRun, page: str
) -> None:
    text = " ".join(Reader.of(page).text.split())
    for facts in (summary(declared).facts(), match_summary(matches).facts()):
        for name, fact in facts:
            assert f"{name} {' '.join(fact.split())}".strip() in text
    for run, name in ((declared, "bidding"), (matches, "match")):
        entry = REPORTS[name]
        assert isinstance(entry, ReportEntry)
        report = entry.build(run)
        for words_of_it in (report.reading, *report.notes, f"{report.kind} · {report.model}"):
            assert words_of_it in text


def test_provenance_is_in_the_foot(declared: Run, page: str) -> None:
    foot = page[page.index("<footer>") :]
    for fact in (declared.plan.digest(), "deals", "0 to 2999, 3,000 of 3,000", "none: made up"):
        assert fact in foot
    assert re.search(r"must_beat = \S", foot)
    assert milsim.__version__ in foot


def test_a_run_with_double_dummy_values_has_both_models_and_the_bias(tmp_path: Path) -> None:
    run = milsim.simulate(deals=40, dd="gifts", mode="declarer", out=tmp_path / "run", threads=1)
    page = Reader.of(run_report(run))
    titles = {attributes["id"] for tag, attributes in page.starts if tag == "h3" and attributes}
    assert titles == {
        f"run1-{name}"
        for name in (
            "summary", "seats", "bias", *OF_DECLARER, *(f"{n}-double-dummy" for n in OF_DECLARER),
        )
    }  # fmt: skip
    assert sum(tag == "svg" for tag, _ in page.starts) == 9  # with that of the bias
    assert not page.faults


# -- how it is made ------------------------------------------------------------------------------


def test_all_tags_are_closed_and_all_ids_are_unique_and_lead_somewhere(
    declared: Run, page: str
) -> None:
    for text in (page, run_report([declared, str(declared.folder)])):
        reader = Reader.of(text)
        assert reader.faults == []
        ids = Counter(attributes["id"] for _, attributes in reader.starts if "id" in attributes)
        assert [name for name, times in ids.items() if times > 1] == []
        used = [
            attributes[name].removeprefix("#")
            for _, attributes in reader.starts
            for name in ("href", "aria-labelledby")
            if name in attributes and not attributes[name].startswith("data:")
        ]
        used += re.findall(r"url\(#([^)]*)\)", text)
        assert any("-chart2-h" in name for name in used)  # hatchings
        assert set(used) <= set(ids)
        assert sum(tag == "svg" for tag, _ in reader.starts) == 8
        assert sum("-chart" in name and "-p" in name for name in ids) >= 8  # clips of panels


def test_nothing_comes_from_a_network(page: str) -> None:
    reader = Reader.of(page)
    for tag, attributes in reader.starts:
        assert tag not in ("iframe", "object", "embed", "img", "image", "base")
        assert not {"src", "srcset", "action", "data"} & set(attributes)
        link = attributes.get("href", "#")
        assert link.startswith("#") or link == "data:,"
        assert not any(name.startswith("on") for name in attributes)
    assert "//" not in re.sub(r"^//.*$|/\*.*?\*/|^\s*// .*$", "", page, flags=re.MULTILINE)
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_what_users_name_is_no_markup(auctioned: Run, page: str) -> None:
    assert count(page, "script") == 1
    assert count(page, "b") == 0
    text = Reader.of(page).text
    assert EVIL in text
    assert f"{EVIL}<b>" in text
    assert EVIL.replace("/", "|") in text
    svg = page[page.index('id="run2-bidding"') :]
    label = next(a["aria-label"] for tag, a in Reader.of(svg).starts if tag == "svg")
    assert EVIL in label


@pytest.mark.parametrize("text", ["\x1b[31m", "\u202e", "\udcff", "\0"])
def test_what_does_not_show_is_replaced(text: str) -> None:
    assert words(f"a{text[0]}b").encode() == "a�b".encode()


def test_the_page_is_small(alone: str, page: str) -> None:
    assert 100_000 < len(alone.encode()) < 900_000
    assert len(page.encode()) < 1_600_000


def test_runs_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="needs a RUN, a folder of milsim simulate or milsim match"
    ):
        run_report([])
    with pytest.raises(RunError, match="no such folder"):
        run_report(tmp_path / "none")


def test_parts_are_told_as_they_are_made(matches: MatchRun) -> None:
    told: list[tuple[str, int, int]] = []
    run_report([matches, matches], progress=lambda *step: told.append(step))
    assert told == [("parts of the page", done, 4) for done in range(4)]


# -- the verb ------------------------------------------------------------------------------------


def test_the_verb_writes_the_same_page_wherever_the_run_is(
    declared: Run, alone: str, matches: MatchRun, shell: Shell, tmp_path: Path
) -> None:
    copy = shutil.copytree(declared.folder, tmp_path / "elsewhere" / declared.folder.name)
    assert str(declared.folder.parent) not in alone
    out = tmp_path / "report.html"
    done = shell("report", "html", copy, "-o", out)
    assert (done.code, done.out) == (0, "")
    assert out.read_bytes() == alone.encode()
    assert f"written to {out}" in done.err
    assert shell("report", "html", matches.folder).out == run_report(matches)


def test_the_verb_refuses_in_a_line(
    declared: Run,
    matches: MatchRun,
    shell: Shell,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = declared.folder
    for arguments, code, words_of_it in (
        ((), 2, "needs a RUN"),
        ((run, "--json"), 2, "report html: takes runs and --out only"),
        ((run, "--format", "md"), 2, "report html: takes runs and --out only"),
        ((run, "--model", "double-dummy"), 2, "report html: takes runs and --out only"),
        ((run, "--match", "1"), 2, "report html: takes runs and --out only"),
        ((run, "--deals", "10"), 2, "--deals: is for advice, not for html"),
        ((tmp_path / "none",), 3, "no such folder"),
        ((run, "-o", run / "manifest.json"), 3, "belongs to the run"),
        ((matches.folder, "-o", tmp_path / "none" / "a.html"), 3, "cannot write"),
    ):
        refused = shell("report", "html", *arguments)
        assert (refused.code, refused.out) == (code, "")
        assert words_of_it in refused.err
        assert "Traceback" not in refused.err
    before = (run / "manifest.json").read_bytes()
    assert b'"kind": "milsim run"' in before
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    refused = shell("report", "html", run)
    assert refused.code == 2
    assert "format html: not for a terminal; name a file with --out" in refused.err


# -- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(page: str, alone: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The page of all runs, and that of one."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_text(page, "utf-8")
    (folder / "alone.html").write_text(alone, "utf-8")
    return folder / "report.html", folder / "alone.html"


@pytest.fixture
def shown(files: tuple[Path, Path], browser: Browser) -> Browser:
    """The browser with the page of all runs."""
    return turned_to(files[0], browser)


@pytest.fixture
def one_shown(files: tuple[Path, Path], browser: Browser) -> Browser:
    """With that of one, which it lays out sooner after each click."""
    return turned_to(files[1], browser)


def turned_to(path: Path, browser: Browser) -> Browser:
    if browser.value("location.href.split('#')[0]") != path.as_uri():
        browser.requests.clear()
        browser.open(path)
    return browser


TABLE = 'table[aria-labelledby="run1-bidding-table1"]'


def head(place: int) -> str:
    return f"{TABLE} thead th:nth-child({place}) button"


def column(browser: Browser, place: int, part: str = "tbody") -> list[str]:
    rows = f"[...document.querySelectorAll('{TABLE} {part} tr')]"
    cells = f"{rows}.map(r => r.cells[{place - 1}].innerText)"
    return [str(text) for text in browser.value(cells)]


def order(browser: Browser, place: int) -> object:
    return browser.value(
        f"document.querySelector('{TABLE} thead th:nth-child({place})').getAttribute('aria-sort')"
    )


@pytest.mark.browser
@needs_browser
def test_a_click_sorts_numbers_as_numbers_without_their_intervals(one_shown: Browser) -> None:
    shown = one_shown
    columns = shown.value(f"document.querySelectorAll('{TABLE} thead th').length")
    as_printed = {place: column(shown, place) for place in range(1, columns + 1)}
    foot = column(shown, 4, "tfoot")
    unlike_texts = 0
    for place, printed in as_printed.items():
        for direction, wanted in (
            ("ascending", sorted(map(number, printed), key=last_of_all(1))),
            ("descending", sorted(map(number, printed), key=last_of_all(-1))),
            (None, [number(text) for text in printed]),
        ):
            shown.click(head(place))
            assert order(shown, place) == direction
            now = column(shown, place)
            assert sorted(now) == sorted(printed)
            assert [number(text) for text in now] == wanted
            unlike_texts += direction == "ascending" and now != sorted(now)
    assert unlike_texts > 3
    assert {place: column(shown, place) for place in as_printed} == as_printed
    assert column(shown, 4, "tfoot") == foot
    shown.click(head(4))
    shown.click(head(7))
    assert (order(shown, 4), order(shown, 7)) == (None, "ascending")
    for _ in range(2):
        shown.click(head(7))


def number(text: str) -> float | None:
    """What a cell says, without its interval; None for a dash."""
    first = text.split()[0].replace("−", "-").replace(",", "")
    return None if first == "–" else float(first)


def last_of_all(sign: int) -> Callable[[float | None], tuple[bool, float]]:
    return lambda value: (value is None, sign * (value or 0.0))


@pytest.mark.browser
@needs_browser
def test_keys_sort_and_names_are_said_whole(one_shown: Browser) -> None:
    shown = one_shown
    shown.value(f"document.querySelector('{head(2)}').focus()")
    shown.press("Enter")
    assert order(shown, 2) == "ascending"
    shown.press(" ")
    assert order(shown, 2) == "descending"
    assert column(shown, 2) == sorted(column(shown, 2), reverse=True)
    shown.press("Enter")
    assert order(shown, 2) is None
    name = shown.value(f"document.querySelector('{head(1)}').getAttribute('aria-label')")
    assert name == "marriages"


@pytest.mark.browser
@needs_browser
def test_it_loads_nothing_and_nothing_fails(shown: Browser) -> None:
    assert {url.partition(":")[0] for url in shown.requests} <= {"file", "about", "data"}
    assert sum(url.startswith("file:") for url in shown.requests) == 1
    assert shown.faults == []


@pytest.mark.browser
@needs_browser
def test_a_phone_scrolls_tables_and_charts_but_not_the_page(shown: Browser) -> None:
    try:
        for width in (320, 390, 1200):
            shown.resize(width, 844, phone=width < 1000)
            page_width, inner = shown.value("[document.documentElement.scrollWidth, innerWidth]")
            assert page_width <= inner == width
        shown.resize(390, 844, phone=True)
        wider = shown.value(
            "[...document.querySelectorAll('.scroll')]"
            ".filter(e => e.scrollWidth > e.clientWidth).length"
        )
        assert wider > 4
        # Fingers need room.
        height = shown.value(f"document.querySelector('{head(1)}').offsetHeight")
        assert height >= 40
    finally:
        shown.resize(1200, 900)


@pytest.mark.browser
@needs_browser
def test_on_paper_all_columns_are_within_the_page(shown: Browser) -> None:
    try:
        shown.send("Emulation.setEmulatedMedia", media="print")
        shown.resize(1046, 717)  # A4, landscape, without its margins
        widths = shown.value(
            "[...document.querySelectorAll('table, svg.chart')]"
            ".map(e => e.getBoundingClientRect().right)"
        )
        assert 500 < max(widths) <= 1046
        assert shown.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    finally:
        shown.send("Emulation.setEmulatedMedia", media="")
        shown.resize(1200, 900)


@pytest.mark.browser
@needs_browser
def test_without_scripts_it_reads_the_same(page: str, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page, "utf-8")
    try:
        browser.send("Emulation.setScriptExecutionDisabled", value=True)
        browser.send("Page.navigate", url=path.as_uri())
        browser.wait_for("document.readyState === 'complete' && !!document.querySelector('footer')")
        assert browser.value("document.documentElement.dataset.ready") is None
        assert browser.value("document.querySelectorAll('button').length") == 0
        assert "points mean" in browser.text(f"{TABLE} thead")
        assert "Click" not in browser.text("header")
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
