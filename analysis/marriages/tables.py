"""The tables of the study from what collect.py counted: TSV files in tables/, and in README.md.

    python analysis/marriages/tables.py

A table stands in the README between ``<!-- name -->`` and ``<!-- end -->``; it is put there anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl
from collect import HERE, PLAN, TABLES, TRICKS, kinds_of

from milsim.cards import SUIT_NAMES, SUIT_SYMBOLS
from milsim.files import write_atomically
from milsim.reports import exact
from milsim.reports.statistics import Interval, Moments, wilson

Lines = Iterator[dict[str, str]]
MODELS = {
    "expert": "expert",
    "double-dummy": "double dummy",
    "best-exchange": "double dummy, best exchange",
    "auction": "expert, won at auction",
}
SIGNS = {name: f"{SUIT_SYMBOLS[suit]} {name}" for suit, name in enumerate(SUIT_NAMES)}
SIGNS["any"] = "any"
DEAREST_FIRST = ("hearts", "diamonds", "clubs", "spades", "any")


@cache
def counted(name: str) -> pl.DataFrame:
    return pl.read_csv(TABLES / f"{name}.csv")


def cell(interval: Interval, *, scale: float = 1, digits: int = 1) -> str:
    """An estimate and half its interval; nothing for what is not known."""
    if interval.value is None or interval.half_width is None:
        return "–"
    half = max(interval.half_width * scale, 10.0**-digits)
    return f"{interval.value * scale:.{digits}f} ± {half:.{digits}f}".replace("-", "−")


def of(row: dict[str, Any], name: str, *, scale: float = 1) -> str:
    return cell(Interval(row[name], row[f"{name}_low"], row[f"{name}_high"]), scale=scale)


def parts_of(row: dict[str, Any]) -> dict[str, str]:
    return {
        "deals": f"{row['n']:,}",
        "declared, %": of(row, "declared", scale=100),
        **{name: of(row, name) for name in ("paid", "other", "worth", "trump", "cards")},
        "**whole**": f"**{of(row, 'whole')}**",
    }


def each_row(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows by suit, the dearest (under mil) first."""
    for name in DEAREST_FIRST:
        yield from rows.filter(suit=name).to_dicts()


# -- the tables ----------------------------------------------------------------------------------


def often() -> Lines:
    """How often they come, exactly: the same under all rules."""
    held7, talon, held10 = exact.held(7), exact.completed(), exact.held(10)
    yield _often("a given one", held7, talon, held10)
    yield _often("at least one", exact.any_held(7), exact.any_completed(), exact.any_held(10))
    for number in range(5):
        words = "none" if not number else f"exactly {number}"
        yield _often(
            words, exact.number_held(7, number), exact.number_completed(number),
            exact.number_held(10, number),
        )  # fmt: skip


def _often(words: str, *chances: Fraction) -> dict[str, str]:
    heads = ("in 7 cards, %", "new with the talon, %", "in 10 cards, %")
    return {"marriages": words, **{
        head: f"{100 * float(chance):.3f}" for head, chance in zip(heads, chances, strict=True)
    }}  # fmt: skip


def parts() -> Lines:
    """The worth in parts, by rules, model and suit."""
    for rules in PLAN["rules"]:
        for kind in kinds_of(rules):
            for row in each_row(counted(f"parts-{rules}-{kind}").filter(group="all")):
                head = {"rules": rules, "model": MODELS[kind], "marriage": SIGNS[row["suit"]]}
                yield {**head, "pays": str(row["value"] or ""), **parts_of(row)}


def groups() -> Lines:
    """The same by its ace and by other marriages, expert."""
    for rules in PLAN["rules"]:
        for row in each_row(counted(f"parts-{rules}-expert").filter(pl.col("group") != "all")):
            words = f"{row['group']} held" if row["suit"] == "any" else row["group"]
            yield {"rules": rules, "marriage": SIGNS[row["suit"]], "where": words, **parts_of(row)}


def tricks() -> Lines:
    """In which trick it is declared, if it is in the ten cards, expert."""
    for rules in PLAN["rules"]:
        for row in each_row(counted(f"tricks-{rules}-expert")):
            found = [row[f"trick_{trick}"] for trick in TRICKS]
            yield {
                "rules": rules,
                "marriage": SIGNS[row["suit"]],
                "its ace": "yes" if row["ace"] else "no",
                "deals": f"{row['n']:,}",
                **{
                    f"trick {trick}, %": f"{100 * found[trick - 1] / row['n']:.1f}"
                    for trick in TRICKS
                    if trick > 1
                },
                "never, %": cell(wilson(row["n"] - sum(found), row["n"]), scale=100),
            }


def second() -> Lines:
    """How many of one, two and three marriages are declared, and when."""
    for rules in PLAN["rules"]:
        for kind in ("expert", "auction"):
            for row in counted(f"second-{rules}-{kind}").to_dicts():
                line = {"rules": rules, "model": MODELS[kind], "in 10 cards": str(row["number"])}
                line["deals"] = f"{row['n']:,}"
                for count in range(4):
                    words = "none" if not count else str(count)
                    share = cell(wilson(row[f"declared_{count}"], row["n"]), scale=100)
                    line[f"declares {words}, %"] = share if count <= row["number"] else ""
                for place, words in enumerate(("first", "second"), 1):
                    names = [f"trick_{place}_{what}" for what in ("n", "sum", "squares")]
                    line[f"{words} in trick"] = cell(
                        Moments(*(row[name] for name in names)).mean(), digits=2
                    )
                yield line


def halves() -> Lines:
    """What half a marriage in seven cards is worth."""
    for rules in PLAN["rules"]:
        for kind in ("expert", "double-dummy"):
            for row in each_row(counted(f"halves-{rules}-{kind}")):
                yield {
                    "rules": rules,
                    "model": MODELS[kind],
                    "half of": SIGNS[row["suit"]],
                    "pays": str(row["value"]),
                    "deals": f"{row['n']:,}",
                    "completed, exact %": f"{100 * row['completed_exact']:.2f}",
                    "**the chance**": f"**{of(row, 'chance')}**",
                    "when completed": of(row, "when_completed"),
                    "when not": of(row, "when_not"),
                }


def runs() -> Lines:
    """Where it all comes from."""
    for rules in PLAN["rules"]:
        for kind in kinds_of(rules):
            yield {"run": f"{rules}-{kind}", "provenance": counted(f"run-{rules}-{kind}").item()}


ALL: tuple[Callable[[], Lines], ...] = (often, parts, groups, tricks, second, halves, runs)
BRIEF = ("groups", "tricks")  # under mil only in the README; all in tables/
WORDS = ("rules", "model", "marriage", "marriages", "half of", "where", "its ace", "run",
         "provenance")  # fmt: skip


def as_tsv(lines: Sequence[dict[str, str]]) -> str:
    rows = [list(lines[0]), *(list(line.values()) for line in lines)]
    return "".join("\t".join(each.replace("**", "") for each in row) + "\n" for row in rows)


def as_markdown(lines: Sequence[dict[str, str]]) -> str:
    heads = list(lines[0])
    rule = ["---" if head in WORDS else "---:" for head in heads]
    rows = [heads, rule, *(list(line.values()) for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    readme = HERE / "README.md"
    text = readme.read_text()
    for table in ALL:
        name = table.__name__
        lines = list(table())
        write_atomically(TABLES / f"{name}.tsv", as_tsv(lines).encode())
        shown = [line for line in lines if name not in BRIEF or line["rules"] == "mil"]
        new = as_markdown(shown)
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not block.search(text):
            raise SystemExit(f"README.md: no place for the table {name}")
        text = block.sub(lambda found, new=new: f"{found[1]}\n{new}\n\n{found[2]}", text)
    write_atomically(readme, text.encode())


if __name__ == "__main__":
    main()
