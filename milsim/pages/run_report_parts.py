"""What pages of runs are made of: words that cannot become markup, tables, charts as inline SVG."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from milsim.reports.formats import PrintedRows
from milsim.reports.table import Column, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNSEEN = {"Cc", "Cf", "Cs"}
"""Categories of characters that show nothing, turn text round, or cannot be written as UTF-8."""

_ROOM = 12
"""The style sheet has classes for intervals of 2 to so many characters."""


def words(text: object) -> str:
    """Text as HTML, whatever it holds; what would not show is shown as �.

    >>> words('<script>"&\\x1b')
    '&lt;script&gt;&quot;&amp;�'
    """
    return escape(_seen(text))


def _seen(text: object) -> str:
    return "".join(
        "�" if unicodedata.category(character) in _UNSEEN else character
        for character in str(text).replace("\n", " ")
    )


def table_html(table: Table, name: str) -> str:
    """A table with the rows and figures of the printed report, all its columns, and its title.

    ``name`` is the id of its title on the page. The line of what is left out and the total are the
    table's foot, so that they stay below when it is sorted.
    """
    body = PrintedRows.of(table)
    shapes = [_Shape.of([row[place] for row in body.rows]) for place in range(len(table.columns))]
    columns = [_cells(table, body, place, shape) for place, shape in enumerate(shapes)]
    rows = ["".join(cells) for cells in zip(*columns, strict=True)]
    keys = [None] * len(rows)
    if table.break_on is not None:
        keys = body.frame[table.break_on].to_list()
    inner = [
        _row(cells, "break" if place and keys[place] != keys[place - 1] else "")
        for place, cells in enumerate(rows[: body.before_total])
    ]
    foot = [_row(cells, "total") for cells in rows[body.before_total :]]
    if body.rest:
        foot.insert(0, _row(_rest(table, body.rest, shapes), "rest"))
    head = "".join(map(_head, table.columns))
    parts = [f"<thead><tr>{head}</tr></thead>", "<tbody>", *inner, "</tbody>"]
    if foot:
        parts += ["<tfoot>", *foot, "</tfoot>"]
    kind = ' class="one-key"' if table.keys == 1 else ""
    return "\n".join(
        [
            f'<h4 id="{name}">{words(table.title)}</h4>',
            f'<div class="scroll" role="region" aria-labelledby="{name}" tabindex="0">',
            f'<table{kind} aria-labelledby="{name}">',
            *parts,
            "</table>",
            "</div>",
        ]
    )


def _head(column: Column) -> str:
    """A header: in lines as printed, and in one for who hears it, without the hyphen of the end."""
    name = column.header.replace("-\n", "").replace("\n", " ")
    kind = "words" if column.style == "text" else "number"
    lines = "<br>".join(map(words, column.header.split("\n")))
    return f'<th scope="col" class="{kind}" data-name="{words(name)}">{lines}</th>'


def _row(cells: str, kind: str) -> str:
    return f'<tr class="{kind}">{cells}</tr>' if kind else f"<tr>{cells}</tr>"


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the numbers of a column have at most: decimals, and characters of an interval."""

    decimals: int
    room: int

    @classmethod
    def of(cls, cells: Sequence[tuple[str, str]]) -> _Shape:
        return cls(
            max((_decimals(value) for value, _ in cells), default=0),
            max((len(interval) for _, interval in cells), default=0),
        )

    def content(self, value: str, interval: str = "") -> str:
        """What is in a cell: class ``g`` makes room for decimals, ``p`` also for the point."""
        if not self.room:
            return words(value)
        gap, digits = "", _decimals(value)
        if digits < self.decimals:
            gap = f" g{self.decimals - digits}" if digits else f" p{self.decimals}"
        width = min(max(self.room, 2), _ROOM)
        return f'{words(value)} <i class="w{width}{gap}">{words(interval)}</i>'


def _decimals(value: str) -> int:
    return len(value.partition(".")[2])


def _cells(table: Table, body: PrintedRows, place: int, shape: _Shape) -> list[str]:
    """The cells of a column; keys are headers of their rows."""
    column = table.columns[place]
    opening, tag = ('th scope="row"', "th") if place < table.keys else ("td", "td")
    if column.style == "text":
        cells = [words(row[place][0]) for row in body.rows]
        opening += ' class="words"'
    else:
        cells = [shape.content(*row[place]) for row in body.rows]
    return [f"<{opening}>{cell}</{tag}>" for cell in cells]


def _rest(table: Table, cells: Sequence[str], shapes: Sequence[_Shape]) -> str:
    """The line of the rows left out; what it says of itself spans the keys."""
    span = f' colspan="{table.keys}"' if table.keys > 1 else ""
    others = "".join(
        f"<td>{shape.content(cell) if cell else ''}</td>"
        for cell, shape in list(zip(cells, shapes, strict=True))[table.keys :]
    )
    return f'<th scope="row"{span}>{words(cells[0])}</th>{others}'


# -- charts --------------------------------------------------------------------------------------

_XLINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
"""To a clip or a hatching, whole or inside of a style."""
_LEFT_OUT = {"metadata", "style"}
"""Elements of a chart that a page has no use for; its style is in the page's style sheet."""


def chart_html(figure: Figure, name: str) -> str:
    """A chart as SVG inside a page: what it says in its words, and ids that begin with ``name``.

    The same figure gives the same text.
    """
    from milsim.reports.charts.style import picture

    root = ElementTree.fromstring(picture(figure, ".svg"))
    used = {
        found
        for element in root.iter()
        for key, value in element.attrib.items()
        for found in ([value.removeprefix("#")] if key == _XLINK else _REFERENCE.findall(value))
    }
    _strip(root, name, used)
    said = _seen(" ".join(text.get_text() for text in figure.texts))
    root.attrib = {
        "class": "chart",
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": " ".join(said.split()),
    }
    return ElementTree.tostring(root, encoding="unicode")


def _strip(element: ElementTree.Element, name: str, used: set[str]) -> None:
    """Without namespaces, comments, and ids nobody refers to, so that it stands in HTML."""
    element.tag = _local(element.tag)
    element.text = element.tail = None  # letters are outlines: there is no text in a chart
    attributes = {}
    for key, value in element.attrib.items():
        if key == "id":
            if value in used:
                attributes["id"] = f"{name}-{value}"
        elif key == _XLINK:
            attributes["href"] = f"#{name}-{value.removeprefix('#')}"
        else:
            attributes[key] = _REFERENCE.sub(rf"url(#{name}-\1)", " ".join(value.split()))
    element.attrib = attributes
    for child in list(element):
        if _local(child.tag) in _LEFT_OUT:
            element.remove(child)
        else:
            _strip(child, name, used)


def _local(tag: str) -> str:
    """The name of an element without its namespace.

    >>> _local("{http://www.w3.org/2000/svg}path")
    'path'
    """
    return tag.rpartition("}")[2]


__all__ = ["chart_html", "table_html", "words"]
