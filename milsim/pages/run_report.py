"""Runs as one page for a browser: their tables, to be sorted, their charts, and where all is from.

The page is joined from files of ``data/``: a template, a style sheet and a script. It needs no
network and no server, and says the same without its script. Its figures are those of
``milsim report`` and ``milsim chart``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from milsim.errors import UsageError
from milsim.pages.run_report_parts import chart_html, table_html, words
from milsim.reports import CHARTS, REPORTS, ReportEntry
from milsim.reports.bias_frames import bias_report
from milsim.reports.marriage_frames import replayed
from milsim.reports.match_summary import match_summary
from milsim.reports.provenance import played
from milsim.reports.summary import summary
from milsim.reports.table import Report
from milsim.rules import digest, to_toml
from milsim.store.match_run import MatchRun, open_any
from milsim.store.run import DOUBLE_DUMMY, Run

AnyRun = Run | MatchRun | str | Path
"""A run of deals or of matches, or its folder."""

_CHARTS_OF = {
    "bidding": ("bid-strength",),
    "marriages": ("marriages", "marriage-parts"),
    "talon": ("talon",),
}
"""Which charts go with which report."""

_OF_DECLARER = ("bidding", "marriages", "talon", "contracts")
"""Reports of the declarer's points, which double dummy knows too."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the page with its id, what the contents call it, and its HTML below its title."""

    name: str
    title: str
    content: str


Progress = Callable[[str, int, int], None]
"""Is told what is being made, how many of them are, and of how many."""


def run_report(runs: AnyRun | Sequence[AnyRun], *, progress: Progress | None = None) -> str:
    """The page of one or several runs, HTML: the same text for the same runs.

    A run of deals has its summary, the reports bidding, marriages, talon, contracts, seats and (in
    mode ``auction``) auction with their charts; with double-dummy values also those of the
    declarer's points by double dummy, and the report bias. A run of matches has its summary and the
    reports match and auction.

    Raises :class:`~milsim.errors.UsageError` if no run is given, and
    :class:`~milsim.errors.RunError` for what is no run, or one without deals.
    """
    single = isinstance(runs, (Run, MatchRun, str, Path))
    given: Sequence[AnyRun] = [runs] if single else runs  # type: ignore[list-item, assignment]
    if not given:
        raise UsageError(
            "report html: needs a RUN, a folder of milsim simulate or milsim match; none is given"
        )
    # All of them are opened first: a wrong name shows at once.
    opened = [run if isinstance(run, (Run, MatchRun)) else open_any(run) for run in given]
    makers = [(number, run, list(_makers(run))) for number, run in enumerate(opened, start=1)]
    parts, done, total = [], 0, sum(len(each) for *_, each in makers)
    for number, run, each in makers:
        sections = [_summary(run, f"run{number}")]
        for make in each:
            if progress is not None:
                progress("parts of the page", done, total)
            sections.append(make(f"run{number}"))
            done += 1
        parts.append((number, run, sections))
    title = _name(opened[0]) if len(opened) == 1 else f"{len(opened)} runs"
    return Template(_data("run_report.html")).substitute(
        title=words(title),
        style=_data("run_report.css"),
        script=_data("run_report.js"),
        contents="\n".join(_entry(*part) for part in parts),
        parts="\n".join(_part(*part) for part in parts),
        provenance="\n".join(_provenance(number, run) for number, run, _ in parts),
        version=words(version("milsim")),
    )


def _data(name: str) -> str:
    return (files("milsim.pages") / "data" / name).read_text("utf-8")


def _name(run: Run | MatchRun) -> str:
    """What a run is called: its folder, without the way to it, which other machines do not have."""
    return run.folder.resolve().name or str(run.folder)


# -- a run ---------------------------------------------------------------------------------------


def _summary(run: Run | MatchRun, prefix: str) -> _Section:
    facts = match_summary(run).facts() if isinstance(run, MatchRun) else summary(run).facts()
    return _Section(f"{prefix}-summary", "Summary", _facts(facts))


def _makers(run: Run | MatchRun) -> Iterator[Callable[[str], _Section]]:
    """What makes the sections of a run below its summary, from the start of their ids."""
    if isinstance(run, MatchRun):
        names: tuple[str, ...] = ("match", "auction")
    elif run.plan.mode == "auction":
        names = (*_OF_DECLARER, "seats", "auction")
    else:
        names = (*_OF_DECLARER, "seats")
    for name in names:
        yield partial(_section, run, name)
    if isinstance(run, Run) and run.plan.dd != "off":
        solved = run.as_model(DOUBLE_DUMMY)
        for name in _OF_DECLARER:
            yield partial(_section, solved, name)
        yield partial(_bias, run)


def _section(run: Run | MatchRun, name: str, prefix: str) -> _Section:
    """A report of a run, with the charts that go with it."""
    entry = REPORTS[name]
    assert isinstance(entry, ReportEntry)
    known = {}
    if isinstance(run, Run) and name == "marriages":
        known["known"] = replayed(played(run))  # seconds, once for the report and its charts
    report, where = entry.build(run, **known), f"{prefix}-{name}"
    if isinstance(run, Run) and run.model == DOUBLE_DUMMY:
        where += "-double-dummy"
        report = replace(report, title=f"{report.title}, double dummy")
    charts = [
        chart_html(CHARTS[chart].build(run, **known), f"{where}-chart{place}")
        for place, chart in enumerate(_CHARTS_OF.get(name, ()), start=1)
    ]
    return _Section(where, report.title, _report(report, where, charts))


def _bias(run: Run, prefix: str) -> _Section:
    report, where = bias_report([run]), f"{prefix}-bias"
    chart = chart_html(CHARTS["bias"].build(run), f"{where}-chart")
    return _Section(where, report.title, _report(report, where, [chart]))


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    """Facts as a list of definitions; one without a name goes with the one before."""
    rows = []
    for name, fact in facts:
        head = f"<dt>{words(name)}</dt> " if name else ""
        rows.append(f"{head}<dd>{words(' '.join(fact.split()))}</dd>")
    return '<dl class="facts">\n' + "\n".join(rows) + "\n</dl>"


def _report(report: Report, where: str, charts: Sequence[str]) -> str:
    """A report: the play behind it, its charts, how to read it, its tables, its notes."""
    tables = [
        table_html(table, f"{where}-table{place}")
        for place, table in enumerate(report.tables, start=1)
    ]
    figures = [f'<figure class="scroll" tabindex="0">{chart}</figure>' for chart in charts]
    notes = "\n".join(f"<li>{words(note)}</li>" for note in report.notes)
    return "\n".join(
        [
            f'<p class="model">{words(report.kind)} · {words(report.model)}</p>',
            *figures,
            f'<p class="reading">{words(report.reading)}</p>',
            *tables,
            f'<ul class="notes">\n{notes}\n</ul>',
        ]
    )


# -- the page ------------------------------------------------------------------------------------


def _entry(number: int, run: Run | MatchRun, sections: Sequence[_Section]) -> str:
    """A run in the contents."""
    inner = "\n".join(
        f'<li><a href="#{section.name}">{words(section.title)}</a></li>' for section in sections
    )
    return f'<li><a href="#run{number}">{words(_name(run))}</a>\n<ul>\n{inner}\n</ul></li>'


def _part(number: int, run: Run | MatchRun, sections: Sequence[_Section]) -> str:
    inner = "\n".join(
        f'<section aria-labelledby="{section.name}">\n'
        f'<h3 id="{section.name}">{words(section.title)}</h3>\n{section.content}\n</section>'
        for section in sections
    )
    return (
        f'<section class="run" aria-labelledby="run{number}">\n'
        f'<h2 id="run{number}">{words(_name(run))}</h2>\n'
        f'<p class="model">{words(run.provenance())}</p>\n{inner}\n</section>'
    )


def _provenance(number: int, run: Run | MatchRun) -> str:
    """Where the figures of a run come from, and its rules in full."""
    manifest, plan, rules = run.manifest, run.plan, run.rules
    facts = [("rules", f"{rules.name} ({digest(rules)})"), ("source of the rules", rules.source)]
    if isinstance(run, MatchRun):
        facts += [("policies, from player 1", ", ".join(plan.policies))]
        stored, planned, what = run.played, run.plan.matches, "matches"
    else:
        facts += [
            ("policies, from forehand", ", ".join(plan.policies)),
            ("mode", run.plan.mode),
            ("only hands with", run.plan.where),
            ("double dummy", run.plan.dd),
        ]
        stored, planned, what = run.deals, run.plan.deals, "deals"
    facts += [
        ("seed", str(plan.seed)),
        (what, f"{plan.start} to {plan.start + stored - 1}, {stored:,} of {planned:,}"),
        ("random numbers", manifest.rng),
        ("plan, code", f"{plan.digest()}, {manifest.kernels}"),
        ("versions", ", ".join(f"{name} {text}" for name, text in manifest.versions.items())),
    ]
    known = [(name, fact) for name, fact in facts if fact]
    toml = "\n".join(map(words, to_toml(rules, comments=False).splitlines()))
    return (
        f"<h3>{words(_name(run))}</h3>\n{_facts(known)}\n"
        f"<details><summary>The rules of {words(_name(run))} in full</summary>\n"
        f'<pre id="run{number}-rules">{toml}</pre></details>'
    )


__all__ = ["AnyRun", "run_report"]
