"""Cells of printed tables: numbers rounded to what is known, aligned on their decimal points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from milsim.reports.table import Column

MAX_DECIMALS = 3


def decimals(half_width: float) -> int:
    """How many decimals of a number are worth printing, given half its interval's length.

    So many that the half width shows one digit, two between 1 and 2.

    >>> [decimals(half) for half in (14, 3, 1.4, 0.3, 0.06, 0.04, 0.004)]
    [0, 0, 1, 1, 1, 2, 3]
    """
    if half_width >= 2:
        return 0
    if half_width >= 0.05 or half_width <= 0:
        return 1
    return min(-math.floor(math.log10(2 * half_width)), MAX_DECIMALS)


def cell(column: Column, row: Mapping[str, Any]) -> tuple[str, str]:
    """A cell as two texts: the value, and ± half its interval (or nothing).

    >>> cell(Column("p", "p", "percent", "low", "high"), {"p": 0.5, "low": 0.493, "high": 0.507})
    ('50.0', '0.7')
    """
    value = row[column.value]
    if value is None:
        return column.missing, ""
    if column.style == "text":
        return str(value), ""
    if column.style == "count":
        return f"{value:,}", ""
    scale = 1 if column.style == "points" else 100
    if column.low is None or column.high is None:
        return _fixed(scale * value, 2 if column.style == "exact" else 1), ""
    low, high = row[column.low], row[column.high]
    if low is None or high is None:
        return _fixed(scale * value, 0), "?"
    half = scale * (high - low) / 2
    digits = decimals(half)
    if half == 0:
        return _fixed(scale * value, digits), ""
    # Never ±0: at the last decimal that is printed, the half width is rounded up.
    return _fixed(scale * value, digits), _fixed(max(half, 10.0**-digits), digits)


def _fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    # No "-0.0": what rounds to nothing has no sign. A minus is as wide as a digit.
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def plain(value: str, half: str) -> str:
    """A cell on its own, for formats that align by themselves.

    >>> plain("50.0", "0.7"), plain("–", "")
    ('50.0 ±0.7', '–')
    """
    return f"{value} ±{half}" if half else value


def aligned(column: Column, cells: Sequence[tuple[str, str]]) -> list[str]:
    """The cells of a column as texts of one width.

    >>> aligned(Column("p", "p", "percent"), [("50.0", "0.7"), ("7", "3"), ("–", "")])
    ['50.0 ±0.7', ' 7   ±3  ', ' –       ']
    """
    if column.style == "text":
        return justified(column, [value for value, _ in cells])
    values = justified(column, _on_point([value for value, _ in cells]))
    halves = justified(column, _on_point([f"±{half}" if half else "" for _, half in cells]))
    if not any(half.strip() for half in halves):
        return values
    return [f"{value} {half}" for value, half in zip(values, halves, strict=True)]


def _on_point(texts: Sequence[str]) -> list[str]:
    """Pad behind, so that decimal points of numbers set to the right are below each other."""
    behind = [len(text) - text.find(".") if "." in text else 0 for text in texts]
    most = max(behind, default=0)
    return [text + " " * (most - length) for text, length in zip(texts, behind, strict=True)]


def justified(column: Column, texts: Sequence[str], width: int = 0) -> list[str]:
    """Texts padded to one width: words to the left, numbers to the right.

    >>> justified(Column("n", "n", "count"), ["7", "10"], 3)
    ['  7', ' 10']
    """
    width = max([width, *(len(text) for text in texts)])
    return [text.ljust(width) if column.style == "text" else text.rjust(width) for text in texts]
