"""An arena as a report: which columns are printed, and in which words."""

from __future__ import annotations

import io
import json
import textwrap
from typing import Any

import polars as pl

from milsim.reports import check_format
from milsim.reports.arena import Contest
from milsim.reports.formats import to_markdown, to_text
from milsim.reports.provenance import KIND
from milsim.reports.table import Column, Report, Table, spread_column
from milsim.rules import digest

_ENDS = ("", "_low", "_high")
_TITLES = {
    "pair": "Points a deal and seat, first minus second, on the same deals",
    "policy": "What each did at these tables",
    "match pair": "Matches won of those played, first minus second",
    "match policy": "Matches won of those played",
}


def render_contest(
    contest: Contest,
    format: str = "text",  # noqa: A002 (the option's name)
    *,
    width: int | None = None,
) -> bytes:
    """The contest in one of FORMATS, as the bytes of a file (text is UTF-8).

    ``csv`` and ``parquet`` are its frame; ``json`` has its verdicts in words too. Raises
    :class:`~milsim.errors.UsageError` for another format.
    """
    check_format(format)
    if format == "parquet":
        buffer = io.BytesIO()
        about = json.dumps(_about(contest), ensure_ascii=False)
        contest.frame.write_parquet(buffer, metadata={"milsim": about})
        return buffer.getvalue()
    if format == "csv":
        return contest.frame.write_csv().encode()
    if format == "json":
        rows = {
            part: contest.frame.filter(part=part).to_dicts()
            for part in contest.frame["part"].unique(maintain_order=True)
        }
        content = {**_about(contest), "tables": rows}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode()
    report = contest_report(contest)
    if format == "md":
        text = to_markdown(report) + "".join(f"\n**{verdict}**\n" for verdict in contest.verdicts)
    else:
        text = to_text(report, width=width) + "\n"
        page = textwrap.TextWrapper(max(width or 100, 40), break_on_hyphens=False)
        text += "".join(f"{page.fill(str(verdict))}\n" for verdict in contest.verdicts)
    return text.encode()


def contest_report(contest: Contest) -> Report:
    """The contest as tables with their words."""
    parts = contest.frame["part"].unique(maintain_order=True).to_list()
    return Report(
        name="arena",
        title=f"Arena: {', '.join(contest.policies[:-1])} and {contest.policies[-1]}",
        kind=KIND,
        model="policies " + ", ".join(contest.policies),
        provenance=contest.provenance,
        reading=(
            "How to read a row of differences: holding the same cards in the same seats against "
            "the same others, the first scored so many points a deal more than the second; ± is "
            "half of the 95 % interval."
        ),
        notes=contest.notes,
        tables=tuple(_table(contest, part) for part in parts),
    )


def _about(contest: Contest) -> dict[str, Any]:
    rules = contest.rules
    return {
        "report": "arena",
        "kind": KIND,
        "model": "policies " + ", ".join(contest.policies),
        "provenance": contest.provenance,
        "policies": list(contest.policies),
        "rules": {"name": rules.name, "source": rules.source, "digest": digest(rules)},
        "sequential": contest.sequential,
        "interrupted": contest.interrupted,
        "verdicts": [
            {
                "first": verdict.first,
                "second": verdict.second,
                "verdict": verdict.word,
                "difference": verdict.interval.value,
                "low": verdict.interval.low,
                "high": verdict.interval.high,
                "margin": verdict.margin,
                "deals": verdict.deals,
                "text": str(verdict),
            }
            for verdict in contest.verdicts
        ],
        "notes": list(contest.notes),
    }


def _table(contest: Contest, part: str) -> Table:
    rows = contest.frame.filter(part=part)
    wide: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows.to_dicts():
        found = wide.setdefault((row["policy"], row["against"]), {"n": row["n"]})
        found |= {"policy": row["policy"], "against": row["against"]}
        found |= {f"{row['quantity']}{end}": row[f"value{end}"] for end in _ENDS}
        if row["verdict"] is not None:
            found["verdict"] = row["verdict"]
    n = Column("matches" if part.startswith("match") else "deals", "n", "count", rank=4)
    if part == "pair":
        columns: tuple[Column, ...] = (
            Column("", "policy"),
            Column("against", "against"),
            spread_column("difference", "difference", "points"),
            spread_column("as\ndeclarer", "as declarer", "points", rank=5),
            spread_column("as\ndefender", "as defender", "points", rank=5),
            n,
            Column("verdict", "verdict"),
        )
    elif part == "policy":
        several = len(wide) > len(contest.policies)
        columns = (
            Column("", "policy"),
            *((Column("against", "against"),) if several else ()),
            spread_column("points\na deal", "score", "points"),
            spread_column("declares\n%", "declares", rank=2),
            spread_column("as\ndeclarer", "score as declarer", "points"),
            spread_column("makes\n%", "makes", rank=1),
            spread_column("contract", "contract", "points", rank=3),
            spread_column("as\ndefender", "score as defender", "points"),
        )
    else:
        several = len(wide) > len(contest.policies)
        against = (Column("against", "against"),) if several or part == "match pair" else ()
        columns = (Column("", "policy"), *against, spread_column("won, %", "matches won"), n)
    frame = pl.DataFrame(list(wide.values()), infer_schema_length=None)
    missing = [column.value for column in columns if column.value not in frame.columns]
    frame = frame.with_columns(pl.lit(None).alias(name) for name in missing)
    return Table(name=part, title=_TITLES[part], frame=frame, columns=columns)
