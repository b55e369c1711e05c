"""Report ``bias``: what double dummy and policies make of the same deals, in pairs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from milsim.reports import check_format
from milsim.reports.bias_points import CommonDeals, common_deals
from milsim.reports.bias_table import BiasTable
from milsim.reports.compare_pairs import Pairs
from milsim.reports.formats import render, to_json
from milsim.reports.provenance import INTERVALS, KIND, AnyRun
from milsim.reports.statistics import Interval, spread
from milsim.reports.table import Column, Report, Style, Table, spread_column

LEVELS = (100, 120, 140, 160, 180, 200)
"""Declarer points that are asked for in the tables of made and made."""
MIN_DEALS = 50


def bias(runs: AnyRun | Sequence[AnyRun]) -> pl.DataFrame:
    """Declarer points by several models on the same deals, in pairs, with 95 % intervals.

    ``runs`` is one run simulated with double-dummy values, or several runs of the same deals in
    mode ``declarer`` by different policies. Each model is compared with the first: double dummy, if
    a run has it, else the first run's policy.

    One row a comparison and group; ``part`` is ``all``, ``class`` (marriages and aces in the
    declarer's 7 cards), ``contract`` (as named in the first run) or ``made``. Columns: ``model``
    and ``base``; the keys ``marriages``, ``aces``, ``contract``; ``n`` deals; the means
    ``base_mean`` and ``model_mean`` (in ``made`` the shares that reach ``contract`` points) and
    ``difference``, model − base, with ``x_low`` and ``x_high``; in ``made`` also how many deals
    reach it under ``both``, ``only_base``, ``only_model`` and ``neither``.

    Raises :class:`~milsim.errors.RunError` if the runs do not hold the same deals, and
    :class:`~milsim.errors.UsageError` if there is nothing to compare.
    """
    single = not isinstance(runs, Sequence) or isinstance(runs, str)
    chosen: Sequence[AnyRun] = [runs] if single else runs  # type: ignore[list-item, assignment]
    return bias_frame(common_deals(chosen))


def bias_frame(deals: CommonDeals) -> pl.DataFrame:
    """The frame of :func:`bias`, from deals joined before."""
    rows = [row for place in range(1, len(deals.models)) for row in _rows(deals, place)]
    texts = ("part", "model", "base", "kind")
    whole = ("marriages", "aces", "contract", "n", "both", "only_base", "only_model", "neither")
    numbers = ("base_mean", "model_mean", "difference")
    schema: dict[str, Any] = dict.fromkeys(texts[:3], pl.String)
    schema |= dict.fromkeys(whole[:4], pl.Int64)
    for name in numbers:
        schema |= {name: pl.Float64, f"{name}_low": pl.Float64, f"{name}_high": pl.Float64}
    schema |= dict.fromkeys(whole[4:], pl.Int64)
    complete = [{name: row.get(name) for name in schema} for row in rows]
    return pl.DataFrame(complete, schema=schema).with_columns(kind=pl.lit(KIND))


def _rows(deals: CommonDeals, place: int) -> Iterator[dict[str, Any]]:
    model, base, name = deals.models[place].name, deals.models[0].name, f"points_{place}"
    head = {"model": model, "base": base}
    rows = deals.rows
    for part, keys in (
        ("all", []),
        ("class", ["marriages", "aces"]),
        ("contract", ["contract"]),
    ):
        groups = rows.sort("index").partition_by(keys, as_dict=True) if keys else {(): rows}
        for values in sorted(groups):
            group = groups[values]
            pairs = Pairs.of(group["points_0"].to_numpy(), group[name].to_numpy())
            yield {
                **head,
                "part": part,
                **dict(zip(keys, values, strict=True)),
                "n": pairs.n,
                **_means(pairs.intervals("points")),
            }
    for level in LEVELS:
        first = (rows["points_0"] >= level).to_numpy()
        second = (rows[name] >= level).to_numpy()
        pairs = Pairs.of(first, second)
        both = int((first & second).sum())
        yield {
            **head,
            "part": "made",
            "contract": level,
            "n": pairs.n,
            **_means(pairs.intervals("share")),
            "both": both,
            "only_base": pairs.a.total - both,
            "only_model": pairs.b.total - both,
            "neither": pairs.n - pairs.a.total - pairs.b.total + both,
        }


def _means(found: tuple[Interval, Interval, Interval]) -> dict[str, float | None]:
    base, model, difference = found
    return (
        spread("base_mean", base) | spread("model_mean", model) | spread("difference", difference)
    )


# -- printed -------------------------------------------------------------------------------------


def bias_report(runs: Sequence[AnyRun]) -> Report:
    """The report ``bias`` with its tables, a few for each comparison."""
    return _report(common_deals(runs))


def render_bias(
    runs: Sequence[AnyRun],
    format: str,  # noqa: A002 (the option's name)
    *,
    width: int | None = None,
) -> bytes:
    """The report in one of FORMATS; JSON also holds the table that ``--model corrected`` reads."""
    check_format(format)
    deals = common_deals(runs)
    report = _report(deals)
    if format in ("csv", "parquet"):
        frame, buffer = bias_frame(deals), io.BytesIO()
        if format == "csv":
            return frame.write_csv().encode()
        frame.write_parquet(buffer)
        return buffer.getvalue()
    if format != "json":
        return render(report, format, width=width)
    content = json.loads(to_json(report))
    if deals.models[0].double_dummy:
        table = BiasTable.measured(deals)
        content["correction"] = {"about": dict(table.about), "knots": table.to_rows()}
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _report(deals: CommonDeals) -> Report:
    frame, base = bias_frame(deals), deals.models[0]
    tables = []
    for place in range(1, len(deals.models)):
        name = deals.models[place].name
        mine = frame.filter(model=name)
        suffix = "" if len(deals.models) == 2 else f" {place}"
        for part in ("class", "contract", "made"):
            tables.append(_table(mine, part, f"{part}{suffix}", base.name, name))
    provenance = " · ".join(run.provenance() for run in deals.runs)
    return Report(
        name="bias",
        title="What double dummy and policies make of the same deals",
        kind=KIND,
        model=", ".join(model.name for model in deals.models),
        provenance=f"{deals.rows.height:,} common deals · {provenance}",
        reading=(
            "How to read a row: with such a hand the declarer took so many points under the first "
            "model and under the second in the same deals, and the second minus the first."
        ),
        notes=tuple(_notes(deals)),
        tables=tuple(tables),
    )


def _notes(deals: CommonDeals) -> Iterator[str]:
    yield INTERVALS
    if deals.models[0].double_dummy:
        yield (
            "Double dummy sees all cards and plays all three hands with them: the defenders as one "
            "side, which nobody can who sees only his own."
        )
        yield (
            "To move double dummy by this table, by class of hand: --format json --out FILE, then "
            "milsim report bidding RUN --model corrected --bias FILE."
        )
    if deals.runs[0].plan.mode == "auction":
        yield "Hands are those that won the auction: they are stronger than hands as dealt."


def _table(frame: pl.DataFrame, part: str, name: str, base: str, model: str) -> Table:
    rows = frame.filter(part=part)
    value: Style = "percent" if part == "made" else "points"
    means = (
        spread_column(_head(base), "base_mean", value),
        spread_column(_head(model), "model_mean", value),
    )
    titles = {
        "class": f"Declarer points by marriages and aces in the 7 cards: {base}, and {model}",
        "contract": f"Declarer points by the contract named: {base}, and {model}",
        "made": f"Deals that reach so many points: {base}, and {model}",
    }
    if part == "made":
        return Table(
            name=name,
            title=titles[part],
            frame=rows.with_columns(
                pl.col("difference", "difference_low", "difference_high") * 100
            ),
            columns=(
                Column("points", "contract", "count"),
                *means,
                spread_column("difference\n%", "difference", "points"),
                Column("both", "both", "count", rank=2),
                Column("only the\nfirst", "only_base", "count", rank=2),
                Column("only the\nsecond", "only_model", "count", rank=2),
                Column("neither", "neither", "count", rank=2),
            ),
        )
    keys = (
        (Column("contract", "contract", "count", missing="all"),)
        if part == "contract"
        else (
            Column("marr-\niages", "marriages", "count", missing="all"),
            Column("aces", "aces", "count", missing=""),
        )
    )
    return Table(
        name=name,
        title=titles[part],
        frame=pl.concat([rows, frame.filter(part="all")]),
        columns=(
            *keys,
            Column("deals", "n", "count", rank=2),
            *means,
            spread_column("difference", "difference", "points"),
        ),
        summary=True,
        min_deals=MIN_DEALS,
        keys=len(keys),
    )


def _head(name: str) -> str:
    """A model's name in two lines at most.

    >>> _head("double dummy, gifts as played")
    'double dummy,\\ngifts as played'
    """
    if len(name) <= 14 or " " not in name:
        return name
    cut = min((i for i, c in enumerate(name) if c == " "), key=lambda i: abs(i - len(name) // 2))
    return f"{name[:cut]}\n{name[cut + 1 :]}"


__all__ = ["bias", "bias_frame", "bias_report", "render_bias"]
