"""A comparison of two rule sets as a report: which columns are printed, and in which words."""

from __future__ import annotations

import io
import json
import textwrap
from typing import Any

import polars as pl

from milsim.reports import check_format
from milsim.reports.compare import PARTS, Comparison, labels
from milsim.reports.formats import to_markdown, to_text
from milsim.reports.provenance import KIND
from milsim.reports.table import Column, Report, Table
from milsim.rules import Rules, digest

TITLE = "What the rules change"


def render_comparison(
    comparison: Comparison,
    format: str = "text",  # noqa: A002 (the option's name)
    *,
    width: int | None = None,
) -> bytes:
    """The comparison in one of FORMATS, as the bytes of a file (text is UTF-8).

    ``csv`` and ``parquet`` are its frame; ``json`` also has both rule sets with their digests, the
    fields that differ, and the answers in words. Raises :class:`~milsim.errors.UsageError` for
    another format.
    """
    check_format(format)
    if format == "parquet":
        buffer = io.BytesIO()
        about = json.dumps(_about(comparison), ensure_ascii=False)
        comparison.frame.write_parquet(buffer, metadata={"milsim": about})
        return buffer.getvalue()
    if format == "csv":
        return comparison.frame.write_csv().encode()
    if format == "json":
        content = {
            **_about(comparison),
            "tables": {part: frame.to_dicts() for part, frame in _by_part(comparison).items()},
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode()
    report = comparison_report(comparison)
    last = [*comparison.answers, *map(_sentence, comparison.refused)]
    if format == "md":
        text = to_markdown(report) + "".join(f"\n**{answer}**\n" for answer in last)
    else:
        text = to_text(report, width=width) + "\n"
        page = textwrap.TextWrapper(max(width or 100, 40), break_on_hyphens=False)  # whole names
        text += "".join(f"{page.fill(answer)}\n" for answer in last)
    return text.encode()


def comparison_report(comparison: Comparison) -> Report:
    """The comparison as tables with their words; proportions are printed in per cent."""
    names = labels(comparison.a, comparison.b)
    return Report(
        name="compare",
        title=f"{TITLE}: {names[0]} and {names[1]}",
        kind=KIND,
        model=comparison.model,
        provenance=comparison.provenance,
        reading=(
            f"How to read a row: the mean under {names[0]} and under {names[1]}, and the second "
            "minus the first, of the same deals; ± is half of the 95 % interval."
        ),
        notes=comparison.notes,
        tables=(
            _fields(comparison, names),
            *(_quantities(part, frame, names) for part, frame in _by_part(comparison).items()),
        ),
    )


def _about(comparison: Comparison) -> dict[str, Any]:
    return {
        "report": "compare",
        "title": TITLE,
        "kind": KIND,
        "model": comparison.model,
        "provenance": comparison.provenance,
        "a": _rules(comparison.a),
        "b": _rules(comparison.b),
        "fields": comparison.fields.to_dicts(),
        "answers": list(comparison.answers),
        "refused": list(comparison.refused),
        "notes": list(comparison.notes),
    }


def _rules(rules: Rules) -> dict[str, str]:
    return {"name": rules.name, "source": rules.source, "digest": digest(rules)}


def _by_part(comparison: Comparison) -> dict[str, pl.DataFrame]:
    found = {part: comparison.frame.filter(part=part) for part in PARTS}
    return {part: frame for part, frame in found.items() if frame.height}


def _fields(comparison: Comparison, names: tuple[str, str]) -> Table:
    return Table(
        name="fields",
        title="The fields that differ",
        frame=comparison.fields,
        columns=(
            Column("field", "field"),
            Column(names[0], "under_a"),
            Column(names[1], "under_b"),
        ),
    )


def _quantities(part: str, frame: pl.DataFrame, names: tuple[str, str]) -> Table:
    share = pl.col("unit") == "share"
    numbers = [name for name, dtype in frame.schema.items() if dtype == pl.Float64]
    printed = frame.with_columns(
        pl.when(share).then(pl.format("{}, %", "quantity")).otherwise("quantity").alias("quantity"),
        *(pl.when(share).then(100 * pl.col(name)).otherwise(name).alias(name) for name in numbers),
    )
    return Table(
        name=part,
        title=PARTS[part],
        frame=printed,
        columns=(
            Column("", "quantity"),
            Column(names[0], "a", "points", "a_low", "a_high"),
            Column(names[1], "b", "points", "b_low", "b_high"),
            Column("difference", "difference", "points", "difference_low", "difference_high"),
            Column("n", "n", "count", rank=1),
            Column("differ", "differ", "count", rank=2),
            Column("model", "model"),
        ),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
