"""Runs as tables and charts: ``bidding``, ``marriages``, ``talon``, ``contracts``, ``seats``, …

The functions that give frames are here by name: ``milsim.reports.bidding(run)``. Reports (tables
with their words, for people) and charts are found in :data:`REPORTS` and :data:`CHARTS`. Nothing
heavy is imported until it is used; matplotlib only when a chart is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from milsim.errors import UsageError, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from milsim.reports.advice_frames import advice
    from milsim.reports.auction_frames import auction
    from milsim.reports.auction_print import auction_report
    from milsim.reports.bias_frames import bias
    from milsim.reports.bidding_frames import bidding
    from milsim.reports.bidding_print import bidding_report
    from milsim.reports.charts.style import save
    from milsim.reports.compare import compare_rules, comparison
    from milsim.reports.contract_frames import contracts
    from milsim.reports.contract_print import contracts_report
    from milsim.reports.evaluator import evaluator_report, hand_evaluator
    from milsim.reports.files import check_picture_path, check_target, write
    from milsim.reports.formats import render
    from milsim.reports.hand_strength import hands_report
    from milsim.reports.marriage_frames import marriages
    from milsim.reports.marriage_print import marriages_report
    from milsim.reports.match_frames import match
    from milsim.reports.match_print import match_report
    from milsim.reports.score_sheet import ScoreSheet, sheet
    from milsim.reports.seat_frames import seats
    from milsim.reports.seat_print import seats_report
    from milsim.reports.table import Report
    from milsim.reports.talon_frames import talon
    from milsim.reports.talon_print import talon_report
    from milsim.store.match_run import MatchRun
    from milsim.store.run import Run

FORMATS = ("text", "csv", "json", "md", "parquet")
"""The formats of :func:`milsim.reports.render`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A report or chart by name, with a line on what it shows and where its maker is.

    ``of`` is what it is made of: a run of ``deals`` or of ``matches`` (makers refuse others),
    ``models`` (one run with double-dummy values, or several of the same deals), or the ``table`` of
    all hands, of no run.
    """

    name: str
    summary: str
    module: str
    function: str
    of: tuple[str, ...] = ("deals",)

    def _maker(self) -> Callable[..., Any]:
        maker: Callable[..., Any] = getattr(import_module(self.module), self.function)
        return maker


class ReportEntry(Entry):
    """A report by name."""

    def build(self, run: Run | MatchRun, **options: Any) -> Report:
        """Make the report of a run; ``options`` are those of its function."""
        report: Report = self._maker()(run, **options)
        return report

    def render(
        self,
        run: Run | MatchRun,
        format: str,  # noqa: A002
        *,
        width: int | None = None,
        **options: Any,
    ) -> bytes:
        """The report of a run in one of FORMATS, as the bytes of a file."""
        from milsim.reports.formats import render

        return render(self.build(run, **options), format, width=width)


class SheetEntry(Entry):
    """The score sheet of a match by name: no table of figures, but made of a run all the same."""

    def render(
        self,
        run: Run | MatchRun,
        format: str,  # noqa: A002
        *,
        width: int | None = None,
        **options: Any,
    ) -> bytes:
        """The sheet of a match of a run in one of FORMATS, as the bytes of a file."""
        sheet: ScoreSheet = self._maker()(run, **options)
        return sheet.render(format, width=width)


class ChartEntry(Entry):
    """A chart by name."""

    @property
    def of_table(self) -> bool:
        """Whether it is made of the table of all hands, not of runs."""
        return "table" in self.of

    def build(self, *runs: Run | MatchRun | str | Path, **options: Any) -> Figure:
        """Draw the chart of its run or runs, if any; ``options`` are those of its function.

        Raises :class:`~milsim.errors.UsageError` for more or fewer runs than it is made of.
        """
        self.check(len(runs))
        figure: Figure = self._maker()(*runs, **options)
        return figure

    def check(self, runs: int) -> None:
        """Raise UsageError unless the chart is made of so many runs."""
        given = f"{runs} are given" if runs > 1 else f"{'one' if runs else 'none'} is given"
        if self.of_table and runs:
            raise UsageError(
                f"chart {self.name}: is of the table of all hands (of --rules, or --table FILE) "
                f"and takes no run; {given}"
            )
        if "models" in self.of:
            if not runs:
                raise UsageError(
                    f"chart {self.name}: needs a RUN of milsim simulate --dd, or several RUNs of "
                    "the same deals; none is given"
                )
        elif not self.of_table and runs != 1:
            raise UsageError(
                f"chart {self.name}: needs one RUN, a folder of milsim simulate; {given}"
            )


REPORTS: dict[str, ReportEntry | SheetEntry] = {
    entry.name: entry
    for entry in (
        ReportEntry(
            "bidding",
            "what the declarer's hand is worth, by class of hand and by card points",
            "milsim.reports.bidding_print",
            "bidding_report",
        ),
        ReportEntry(
            "marriages",
            "how often marriages are held and declared, and what they are worth",
            "milsim.reports.marriage_print",
            "marriages_report",
        ),
        ReportEntry(
            "talon",
            "what the talon brings, by what it holds and by card, and how much it decides",
            "milsim.reports.talon_print",
            "talon_report",
        ),
        ReportEntry(
            "contracts",
            "what each contract would bring, which is best, and which were named",
            "milsim.reports.contract_print",
            "contracts_report",
        ),
        ReportEntry(
            "seats",
            "who declares, and what seats and roles take and score",
            "milsim.reports.seat_print",
            "seats_report",
        ),
        ReportEntry(
            "match",
            "who wins, how long matches are, how scores rise, and what decides",
            "milsim.reports.match_print",
            "match_report",
            of=("matches",),
        ),
        ReportEntry(
            "auction",
            "bids and contracts, what they brought, and what passing earned",
            "milsim.reports.auction_print",
            "auction_report",
            of=("matches", "deals"),
        ),
        SheetEntry(
            "sheet",
            "the score sheet of one match, as players keep it",
            "milsim.reports.score_sheet",
            "sheet",
            of=("matches",),
        ),
    )
}
CHARTS: dict[str, ChartEntry] = {
    entry.name: entry
    for entry in (
        ChartEntry(
            "bid-strength",
            "chance to make each contract, by marriages and aces in hand",
            "milsim.reports.charts.strength_chart",
            "bid_strength",
        ),
        ChartEntry(
            "marriages",
            "how often each marriage comes and what it is worth",
            "milsim.reports.charts.marriage_chart",
            "marriages",
        ),
        ChartEntry(
            "marriage-parts",
            "what each marriage is worth in parts: paid, trump, cards",
            "milsim.reports.charts.parts_chart",
            "marriage_parts",
        ),
        ChartEntry(
            "talon",
            "what each card of the talon is worth to the declarer, and what it completes",
            "milsim.reports.charts.talon_chart",
            "talon",
        ),
        ChartEntry(
            "bias",
            "how far double dummy is above or below play, by class of hand",
            "milsim.reports.charts.bias_chart",
            "bias_chart",
            of=("models",),
        ),
        ChartEntry(
            "strength-map",
            "what hands are worth, by marriages and aces",
            "milsim.reports.charts.map_chart",
            "strength_map",
            of=("table",),
        ),
        ChartEntry(
            "percentile",
            "how strong hands are among all hands, and from where on to bid",
            "milsim.reports.charts.percentile_chart",
            "strength_percentile",
            of=("table",),
        ),
        ChartEntry(
            "score",
            "what each contract scores and passing earns, of a hand or by class",
            "milsim.reports.charts.score_chart",
            "score_by_contract",
            of=("table",),
        ),
    )
}


STUDIES = ("bias", "advice", "evaluator", "hands", "html")
"""Reports that are not of one run: of several, of deals they play, of the table of all hands."""


def report_named(name: str) -> ReportEntry | SheetEntry:
    """The report of this name; raises UsageError with the nearest right name.

    >>> report_named("bidding").name
    'bidding'
    """
    if name not in REPORTS:
        known = [*REPORTS, *STUDIES]
        raise UsageError(f"unknown report {name!r:.40}: {nearest(str(name), known)}")
    return REPORTS[name]


def chart_named(name: str) -> ChartEntry:
    """The chart of this name; raises UsageError with the nearest right name.

    >>> chart_named("bid-strength").name
    'bid-strength'
    """
    if name not in CHARTS:
        raise UsageError(f"unknown chart {name!r:.40}: {nearest(str(name), CHARTS)}")
    return CHARTS[name]


def chart(name: str, *runs: Run | MatchRun | str | Path, **options: Any) -> Figure:
    """Draw a chart by its name, of its run or runs or of none: a matplotlib ``Figure``.

    Options are those of the chart: ``rules`` and ``table`` (a packed table's file) of those of the
    table of all hands, ``hand`` of ``score``. Raises :class:`~milsim.errors.UsageError` for an
    unknown name and for runs given to a chart of the table, or missing.

    >>> chart("score", "some-run")
    Traceback (most recent call last):
    ...
    milsim.errors.UsageError: chart score: is of the table of all hands (of --rules, or --table \
FILE) and takes no run; one is given
    """
    return chart_named(name).build(*runs, **options)


def check_format(format: str) -> str:  # noqa: A002
    """The format itself; raises UsageError if it is none of FORMATS.

    >>> check_format("csv")
    'csv'
    """
    if format not in FORMATS:
        raise UsageError(f"format {format!r:.40}: unknown; {nearest(str(format), FORMATS)}")
    return format


_HOMES = {
    "Report": "milsim.reports.table",
    "ScoreSheet": "milsim.reports.score_sheet",
    "advice": "milsim.reports.advice_frames",
    "auction": "milsim.reports.auction_frames",
    "auction_report": "milsim.reports.auction_print",
    "bias": "milsim.reports.bias_frames",
    "bidding": "milsim.reports.bidding_frames",
    "bidding_report": "milsim.reports.bidding_print",
    "compare_rules": "milsim.reports.compare",
    "comparison": "milsim.reports.compare",
    "contracts": "milsim.reports.contract_frames",
    "contracts_report": "milsim.reports.contract_print",
    "evaluator_report": "milsim.reports.evaluator",
    "hand_evaluator": "milsim.reports.evaluator",
    "hands_report": "milsim.reports.hand_strength",
    "marriages": "milsim.reports.marriage_frames",
    "marriages_report": "milsim.reports.marriage_print",
    "match": "milsim.reports.match_frames",
    "match_report": "milsim.reports.match_print",
    "render": "milsim.reports.formats",
    "check_picture_path": "milsim.reports.files",
    "check_target": "milsim.reports.files",
    "save": "milsim.reports.charts.style",
    "seats": "milsim.reports.seat_frames",
    "seats_report": "milsim.reports.seat_print",
    "sheet": "milsim.reports.score_sheet",
    "talon": "milsim.reports.talon_frames",
    "talon_report": "milsim.reports.talon_print",
    "write": "milsim.reports.files",
}

__all__ = [
    "CHARTS",
    "FORMATS",
    "REPORTS",
    "STUDIES",
    "ChartEntry",
    "Report",
    "ReportEntry",
    "ScoreSheet",
    "SheetEntry",
    "advice",
    "auction",
    "auction_report",
    "bias",
    "bidding",
    "bidding_report",
    "chart",
    "chart_named",
    "check_format",
    "check_picture_path",
    "check_target",
    "compare_rules",
    "comparison",
    "contracts",
    "contracts_report",
    "evaluator_report",
    "hand_evaluator",
    "hands_report",
    "marriages",
    "marriages_report",
    "match",
    "match_report",
    "render",
    "report_named",
    "save",
    "seats",
    "seats_report",
    "sheet",
    "talon",
    "talon_report",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, imported or not."""
    return sorted(__all__)
