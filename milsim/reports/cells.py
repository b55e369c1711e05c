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


def is_lopsided(value: float, low: float, high: float) -> bool:
    """Whether an interval reaches so much further to one side that ± would be wrong.

    So are intervals of proportions near 0 and 1, roughly with fewer than 15 deals on the rarer
    side.

    >>> is_lopsided(0.5, 0.4, 0.6), is_lopsided(1.0, 0.2, 1.0)
    (False, True)
    """
    below, above = value - low, high - value
    return abs(above - below) > 0.25 * (above + below)


def cell(column: Column, row: Mapping[str, Any]) -> tuple[str, str]:
    """A cell as two texts: the value, and how far its interval reaches (or nothing).

    >>> p = Column("p", "p", "percent", "low", "high")
    >>> cell(p, {"p": 0.5, "low": 0.493, "high": 0.507})
    ('50.0', '±0.7')
    >>> cell(p, {"p": 0.97, "low": 0.92, "high": 0.99})
    ('97', '−5+2')
    >>> cell(p, {"p": 1.0, "low": 0.2065, "high": 1.0})
    ('100', '≥20')
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
        return _fixed(scale * value, 0), "±?"
    half = scale * (high - low) / 2
    digits = decimals(half)
    if half == 0:
        return _fixed(scale * value, digits), ""
    if column.style == "percent" and is_lopsided(value, low, high):
        return _lopsided(100 * value, 100 * low, 100 * high, max(digits - 1, 0))
    # Never ±0: at the last decimal that is printed, the half width is rounded up.
    return _fixed(scale * value, digits), f"±{_fixed(max(half, 10.0**-digits), digits)}"


def _lopsided(value: float, low: float, high: float, digits: int) -> tuple[str, str]:
    """A cell of per cents whose interval reaches further to one side; bounds go outwards."""
    unit: int = 10**digits
    shown = _fixed(value, digits)
    if low <= 0:
        return shown, f"≤{_fixed(math.ceil(round(high * unit, 6)) / unit, digits)}"
    if high >= 100:
        return shown, f"≥{_fixed(math.floor(round(low * unit, 6)) / unit, digits)}"
    below, above = (_fixed(max(side, 1 / unit), digits) for side in (value - low, high - value))
    return shown, f"±{below}" if below == above else f"−{below}+{above}"


def _fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    # No "-0.0": what rounds to nothing has no sign. A minus is as wide as a digit.
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def plain(value: str, interval: str) -> str:
    """A cell on its own, for formats that align by themselves.

    >>> plain("50.0", "±0.7"), plain("–", "")
    ('50.0 ±0.7', '–')
    """
    return f"{value} {interval}" if interval else value


def aligned(column: Column, cells: Sequence[tuple[str, str]]) -> list[str]:
    """The cells of a column as texts of one width.

    >>> aligned(Column("p", "p", "percent"), [("50.0", "±0.7"), ("7", "±3"), ("–", "")])
    ['50.0 ±0.7', ' 7   ±3  ', ' –       ']
    """
    if column.style == "text":
        return justified(column, [value for value, _ in cells])
    values = justified(column, _on_point([value for value, _ in cells]))
    # Halves below each other on their points; bounds begin where halves do.
    halves = [interval if interval.startswith("±") else "" for _, interval in cells]
    ends = justified(column, _on_point(halves))
    ends = [end if half else cell[1] for end, half, cell in zip(ends, halves, cells, strict=True)]
    width = max(map(len, ends), default=0)
    if not any(end.strip() for end in ends):
        return values
    return [f"{value} {end.ljust(width)}" for value, end in zip(values, ends, strict=True)]


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
