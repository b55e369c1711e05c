"""Reports as text, Markdown, CSV, JSON and Parquet.

Text and Markdown are for people: rounded to what is known, totals below. CSV, JSON and Parquet are
data: all columns at full precision. Nothing here writes escape sequences, so pipes are safe.
"""

from __future__ import annotations

import io
import json
import re
import textwrap
from dataclasses import dataclass
from typing import Any

import polars as pl

from milsim.reports import check_format
from milsim.reports.cells import aligned, cell, justified, plain
from milsim.reports.table import Column, Joined, Report, Table

GAP = "  "
ESSENTIAL = 2
"""Before a column of this rank or a lower one is left out, keys are joined and gaps narrowed."""
LEAST_WORDS = 10
"""A column of words is broken into lines, but made no narrower than this."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def render(report: Report, format: str = "text", *, width: int | None = None) -> bytes:  # noqa: A002
    """The report in one of FORMATS, as the bytes of a file (text is UTF-8).

    ``width`` is for ``text`` only: columns that do not fit are left out, and named. Raises
    :class:`~milsim.errors.UsageError` for another format.
    """
    check_format(format)
    if format == "parquet":
        buffer = io.BytesIO()
        report.frame().write_parquet(buffer, metadata={"milsim": json.dumps(_about(report))})
        return buffer.getvalue()
    if format == "csv":
        text = report.frame().write_csv()
    elif format == "json":
        text = to_json(report)
    elif format == "md":
        text = to_markdown(report)
    else:
        text = to_text(report, width=width)
    return text.encode()


# -- data ----------------------------------------------------------------------------------------


def _about(report: Report) -> dict[str, Any]:
    return {
        "report": report.name,
        "title": report.title,
        "kind": report.kind,
        "model": report.model,
        "provenance": report.provenance,
        "reading": report.reading,
        "notes": list(report.notes),
    }


def to_json(report: Report) -> str:
    """The report as JSON: what it is and where it comes from, then ``tables``: name → rows."""
    tables = {name: frame.to_dicts() for name, frame in report.frames().items()}
    content = {**_about(report), "tables": tables}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# -- for people ----------------------------------------------------------------------------------


def to_text(report: Report, *, width: int | None = None) -> str:
    """The report as plain text, no wider than ``width`` characters where that is possible."""
    lines = [
        *_wrapped(report.title, width),
        *_wrapped(f"{report.kind} · {report.provenance}", width),
    ]
    for table in report.tables:
        lines += ["", *_table_lines(table, width)]
    lines += ["", *_wrapped(report.reading, width)]
    for note in report.notes:
        lines += _wrapped(f"· {note}", width, indent="  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def to_markdown(report: Report) -> str:
    """The report as Markdown, with all columns that the text has on a wide page."""
    lines = [
        f"## {_plain(report.title)}",
        "",
        f"*{_plain(f'{report.kind} · {report.provenance}')}*",
    ]
    for table in report.tables:
        body = PrintedRows.of(table)
        cells = [[_escaped(plain(*row[i])) for i in range(len(table.columns))] for row in body.rows]
        if body.rest:
            cells.insert(body.before_total, [_escaped(text) for text in body.rest])
        sides = [":--" if column.style == "text" else "--:" for column in table.columns]
        heads = [_escaped(column.header.replace("\n", " ")) for column in table.columns]
        lines += ["", f"### {_plain(table.title)}", ""]
        lines += [f"| {' | '.join(row)} |" for row in (heads, sides, *cells)]
    lines += ["", _plain(report.reading), "", *(f"- {_plain(note)}" for note in report.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _escaped(text: str) -> str:
    """Text in a cell of Markdown: on its line, and no HTML.

    >>> print(_escaped("a|b\\n<i>1 < 2"))
    a\\|b \\<i>1 < 2
    """
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    return _TAG.sub(r"\\<", " ".join(text.splitlines()))


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    return textwrap.wrap(text, max(width or 100, 40), subsequent_indent=indent) or [""]


@dataclass(frozen=True, slots=True)
class PrintedRows:
    """The cells of the rows that are printed; ``rest`` stands for those that are not.

    The rest goes before the total, row ``before_total`` (of a table with a summary the last one).
    """

    frame: pl.DataFrame
    rows: list[list[tuple[str, str]]]
    rest: list[str]
    before_total: int

    @classmethod
    def of(cls, table: Table) -> PrintedRows:
        """The rows of a table, as text and pages show them."""
        frame = table.frame
        totals = 1 if table.summary and frame.height else 0
        body, total = frame.head(frame.height - totals), frame.tail(totals)
        rest: list[str] = []
        if table.min_deals:
            rare = body.filter(pl.col("n") < table.min_deals)
            if rare.height:
                body = body.filter(pl.col("n") >= table.min_deals)
                rest = _rest_cells(table, rare)
        shown = pl.concat([body, total])
        rows = [[cell(column, row) for column in table.columns] for row in shown.to_dicts()]
        return cls(shown, rows, rest, body.height)


def _rest_cells(table: Table, rare: pl.DataFrame) -> list[str]:
    """The line for rows left out: what adds up is added, the first cell says what it is."""
    sums = {name: rare[name].sum() for name in ("n", "share", "share_exact") if name in rare}
    texts = []
    for place, column in enumerate(table.columns):
        if place == 0:
            texts.append(f"{rare.height} rarer")
        elif sums.get(column.value) is not None:
            known = Column(column.header, column.value, column.style)
            texts.append(plain(*cell(known, sums)))
        else:
            texts.append("")
    return texts


def _table_lines(table: Table, width: int | None) -> list[str]:
    body = PrintedRows.of(table)
    columns, texts = list(table.columns), _texts(table, body)
    kept, dropped = _fitting(columns, texts, width, GAP)
    joined = table.joined if any(column.rank <= ESSENTIAL for column in dropped) else None
    gap = GAP
    if joined is not None:
        columns, texts = _with_joined_keys(table, joined, texts)
        kept, dropped = _fitting(columns, texts, width, GAP)
    if width is not None and any(column.rank <= ESSENTIAL for column in dropped):
        gap = " "
        kept, dropped = _fitting(columns, texts, width, gap)
    rows = _rows([columns[place] for place in kept], [texts[place] for place in kept], width, gap)
    rule = "-" * len(rows[0][0])
    heads = [line for row in rows[:2] for line in row if line.strip()]
    lines = [*_wrapped(table.title, width), *heads, rule]
    keys = _break_keys(table, body)
    for index, row in enumerate(rows[2:]):
        if table.summary and index == body.before_total + bool(body.rest):
            lines.append(rule)
        elif index and keys[index] != keys[index - 1]:
            lines.append("")
        lines += row
    if joined is not None:
        lines += _wrapped(f"({joined.note})", width)
    if dropped:
        names = ", ".join(column.header.replace("\n", " ") for column in dropped)
        lines += _wrapped(f"(left out for want of width: {names})", width)
    return lines


def _rows(
    columns: list[Column], texts: list[list[str]], width: int | None, gap: str
) -> list[list[str]]:
    """Each row as its lines: one, unless words must be broken to fit the page."""
    widths = [len(column[0]) for column in texts]
    spare = 0 if width is None else sum(widths) + len(gap) * (len(widths) - 1) - width
    broken: dict[int, textwrap.TextWrapper] = {}
    for place in sorted(range(len(columns)), key=lambda i: -widths[i]):
        narrower = max(LEAST_WORDS, widths[place] - spare)
        if columns[place].style == "text" and spare > 0 and narrower < widths[place]:
            spare -= widths[place] - narrower
            widths[place] = narrower
            broken[place] = textwrap.TextWrapper(narrower, subsequent_indent=" ")
    rows = []
    for row in zip(*texts, strict=True):
        cells = [
            (broken[i].wrap(text.strip()) or [""]) if i in broken else [text]
            for i, text in enumerate(row)
        ]
        rows.append(
            [
                gap.join(
                    (cell[line] if line < len(cell) else "").ljust(widths[i])
                    for i, cell in enumerate(cells)
                )
                for line in range(max(map(len, cells)))
            ]
        )
    return rows


def _texts(table: Table, body: PrintedRows) -> list[list[str]]:
    """The columns as texts of one width each, two lines of header first."""
    texts = []
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in body.rows]
        if body.rest:
            cells.insert(body.before_total, (body.rest[place], ""))
        head = ["", "", *column.header.split("\n")][-2:]
        texts.append(justified(column, [*head, *aligned(column, cells)]))
    return texts


def _with_joined_keys(
    table: Table, joined: Joined, texts: list[list[str]]
) -> tuple[list[Column], list[list[str]]]:
    """The columns and their texts with the keys as one column."""
    rows = list(zip(*texts[: table.keys], strict=True))
    cells = [joined.joiner.join(text for cell in row if (text := cell.strip())) for row in rows]
    column = Column(joined.header, table.columns[0].value, "text")
    keys = justified(column, ["", joined.header, *cells[2:]])
    return [column, *table.columns[table.keys :]], [keys, *texts[table.keys :]]


def _break_keys(table: Table, body: PrintedRows) -> list[object]:
    if table.break_on is None:
        return [None] * (len(body.rows) + bool(body.rest))
    keys: list[object] = body.frame[table.break_on].to_list()
    if body.rest:
        keys.insert(body.before_total, "rest")
    return keys


def _fitting(
    columns: list[Column], texts: list[list[str]], width: int | None, gap: str
) -> tuple[list[int], list[Column]]:
    """The places of the columns that fit, and the columns that do not."""
    widths = [len(column[0]) for column in texts]
    kept = list(range(len(columns)))
    while width is not None and sum(widths[i] + len(gap) for i in kept) - len(gap) > width:
        worst = max(kept, key=lambda i: (columns[i].rank, i))
        if columns[worst].rank == 0:
            break
        kept.remove(worst)
    return kept, [columns[i] for i in range(len(columns)) if i not in kept]
