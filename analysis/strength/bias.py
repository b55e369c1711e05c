"""The tables of bias for the README, from what bias.sh had `milsim report bias` write."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from collect import HERE
from intervals import Estimate

FEWEST = 50  # deals of a row, as in the report itself
DOUBLE_DUMMY, EXPERT, PIMC = "double dummy", "policy expert", "policy pimc"
RULES = ("mil", "gamerules")

Line = dict[str, str | int | float | Estimate]


def rows(name: str, model: str, part: str) -> list[dict[str, str]]:
    with (HERE / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if (row["model"], row["part"]) == (model, part)]


def difference(row: dict[str, str], scale: float = 1) -> Estimate:
    """The paired difference of a row; the wider half where the interval is not symmetric."""
    mean, low, high = (float(row[f"difference{end}"]) for end in ("", "_low", "_high"))
    return Estimate(scale * mean, scale * max(mean - low, high - mean), int(row["n"]))


def _compared(part: str, keys: tuple[str, ...]) -> Iterator[Line]:
    for rules in RULES:
        common = {
            (model, *(row[key] for key in keys)): row
            for model in (EXPERT, PIMC)
            for row in rows(f"bias-{rules}", model, part)
        }
        pairs = {
            tuple(row[key] for key in keys): row for row in rows(f"bias-{rules}-pimc", PIMC, part)
        }
        many = {
            tuple(row[key] for key in keys): row
            for row in rows(f"bias-{rules}-expert", EXPERT, part)
        }
        for row in rows(f"bias-{rules}", EXPERT, part):
            at = tuple(row[key] for key in keys)
            if int(row["n"]) < FEWEST:
                continue
            line: Line = {"rules": rules}
            line |= {key: row[key] for key in keys}
            line |= {
                "deals": int(row["n"]),
                "double dummy": round(float(row["base_mean"]), 1),
                "pimc less it": difference(common[PIMC, *at]),
                "expert less it": difference(row),
                "pimc less expert": difference(pairs[at]),
            }
            if at in many:
                line["expert less it, 20,000 deals"] = difference(many[at])
            yield line


def bias_all() -> Iterator[Line]:
    """Declarer points over all deals."""
    yield from _compared("all", ())


def bias_contract() -> Iterator[Line]:
    """By the contract that expert named."""
    yield from _compared("contract", ("contract",))


def bias_class() -> Iterator[Line]:
    """By marriages and aces in the declarer's seven cards."""
    yield from _compared("class", ("marriages", "aces"))


def bias_made() -> Iterator[Line]:
    """The 2x2 tables: who reaches so many points in how many of the deals."""
    for rules in RULES:
        for name, model, base, words in (
            (f"bias-{rules}", PIMC, DOUBLE_DUMMY, "double dummy, pimc"),
            (f"bias-{rules}", EXPERT, DOUBLE_DUMMY, "double dummy, expert"),
            (f"bias-{rules}-pimc", PIMC, EXPERT, "expert, pimc"),
        ):
            for row in rows(name, model, "made"):
                if row["base"] != base or row["contract"] not in ("100", "120", "140"):
                    continue
                yield {
                    "rules": rules,
                    "first, second": words,
                    "points": row["contract"],
                    "first, %": round(100 * float(row["base_mean"]), 1),
                    "second, %": round(100 * float(row["model_mean"]), 1),
                    "second less first": difference(row, 100),
                    "both": int(row["both"]),
                    "only first": int(row["only_base"]),
                    "only second": int(row["only_model"]),
                    "neither": int(row["neither"]),
                }


ALL = (bias_all, bias_contract, bias_class, bias_made)
