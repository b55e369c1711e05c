"""The tables of the study: files of tables/, and those between markers in README.md.

    python analysis/bidding/tables.py

What collect.py has played so far is used; a table whose deals are missing says so and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from collect import BASE, CONTRACTS, FIGURES, HERE, PLAN, lists_of, pieces
from intervals import Estimate, Z, mean_of, ratio_of
from lists import COUNTED, MARGINS, best_scores, shifted
from worth import hand_rows, others_of, shares

from milsim.dealing.tables import hand_masks_table
from milsim.deals import SEAT_NAMES
from milsim.files import write_atomically
from milsim.reports import evaluator_report
from milsim.reports.evaluator_bidding import bidding_cuts
from milsim.reports.evaluator_features import LINES
from milsim.reports.evaluator_fit import Fit
from milsim.reports.hand_strength import Strength, class_frame, hands_report
from milsim.reports.hands_known import PASS, right_bids, table_of
from milsim.rules import load
from milsim.tables.corrections import Curves, shipped_corrections
from milsim.where import feature

TABLES = HERE / "tables"
RULES = PLAN["rules"]
BIDDERS = (
    "advice",
    "advice, relative",
    "count less 4 an ace",
    "count against passing",
    "point count",
    "does not lose",
    "opening table",
    "never bids",
)
Cell = str | int | float | Estimate
Lines = Iterator[dict[str, Cell]]
OWN, OTHERS, CONTRACT, DECLARER, BID, MADE = range(len(FIGURES))
SEATS = np.arange(3)[:, None]


# -- whole deals ---------------------------------------------------------------------------------


def gains(deals: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Own score and lead of a bidder over expert's in its place: float64 (seats, deals)."""
    mine, base = deals[name].astype(np.float64), deals[BASE].astype(np.float64)
    own = mine[:, :, OWN] - base[:, :, OWN]
    return own, own - (mine[:, :, OTHERS] - base[:, :, OTHERS]) / 2


def reality() -> Lines:
    """Each bidder over expert in the same place, and how it declares."""
    for rules in RULES:
        deals = pieces("deals", rules)
        for name in (BASE, *BIDDERS):
            mine = deals[name].astype(np.float64)
            own, lead = gains(deals, name)
            declares = mine[:, :, DECLARER] == SEATS
            count = declares.sum(axis=0).astype(float)
            yield {
                "rules": rules,
                "who bids": name,
                "deals": mine.shape[1],
                "own over expert": "" if name == BASE else mean_of(own.mean(axis=0)),
                "lead over expert": "" if name == BASE else mean_of(lead.mean(axis=0)),
                "declares, %": mean_of(100 * declares.mean(axis=0)),
                "his bid": ratio_of((mine[:, :, BID] * declares).sum(axis=0), count),
                "makes, %": ratio_of((100 * mine[:, :, MADE] * declares).sum(axis=0), count),
                "scores then": ratio_of((mine[:, :, OWN] * declares).sum(axis=0), count),
            }


def margins() -> Lines:
    """Bolder and more careful than the advice."""
    for rules in RULES:
        deals = pieces("deals", rules)
        for margin in sorted((*MARGINS, 0)):
            name = shifted(margin) if margin else "advice"
            own, lead = gains(deals, name)
            declares = (deals[name][:, :, DECLARER] == SEATS).mean(axis=0)
            yield {
                "rules": rules,
                "a bid must score": f"{margin:+d}".replace("-", "−") if margin else "0",
                "deals": own.shape[1],
                "own over expert": mean_of(own.mean(axis=0)),
                "lead over expert": mean_of(lead.mean(axis=0)),
                "declares, %": mean_of(100 * declares),
            }


def seats() -> Lines:
    """By seat: own score and lead over expert."""
    for rules in RULES:
        deals = pieces("deals", rules)
        for name in ("advice", "advice, relative"):
            own, lead = gains(deals, name)
            line: dict[str, Cell] = {"rules": rules, "who bids": name}
            for seat, word in enumerate(SEAT_NAMES):
                line[f"{word}, own"] = mean_of(own[seat])
                line[f"{word}, lead"] = mean_of(lead[seat])
            yield line


def changes() -> Lines:
    """Where the advice and expert part, and what comes of it."""
    for rules in RULES:
        deals = pieces("deals", rules)
        base = deals[BASE]
        for name in ("advice", "advice, relative"):
            mine = deals[name]
            own, lead = gains(deals, name)
            is_mine, was_mine = mine[:, :, DECLARER] == SEATS, base[:, :, DECLARER] == SEATS
            other = (mine[:, :, DECLARER : BID + 1] != base[:, :, DECLARER : BID + 1]).any(axis=2)
            for words, chosen in (
                ("declares, expert would not", is_mine & ~was_mine),
                ("passes, expert would declare", ~is_mine & was_mine),
                ("another declares, or for another bid", ~is_mine & ~was_mine & other),
                ("the same", ~other),
            ):
                count = chosen.sum(axis=0).astype(float)
                line: dict[str, Cell] = {"rules": rules, "who bids": name, "what he does": words}
                line["deals, %"] = mean_of(100 * chosen.mean(axis=0))
                for what, values in (("own", own), ("lead", lead)):
                    some = count.sum() > 0 and words != "the same"
                    line[f"{what} over expert then"] = (
                        ratio_of((values * chosen).sum(axis=0), count) if some else ""
                    )
                yield line


# -- hands ---------------------------------------------------------------------------------------


def objective() -> Lines:
    """What passing and declaring earn, for oneself and for the others, on random hands."""
    for rules in RULES:
        rows = hand_rows(pieces("hands", rules), CONTRACTS)
        worse = shares(rows)
        yield {
            "rules": rules,
            "hands": len(rows["pass own"]),
            "pass: own": mean_of(rows["pass own"]),
            "pass: others": mean_of(rows["pass others"]),
            "100: own": mean_of(rows["play 100 own"]),
            "best: own": mean_of(rows["play best own"]),
            "declare: others": mean_of(rows["play others"]),
            "rather pass by own, %": worse["own"],
            "by the lead, %": worse["lead"],
            "more, %": worse["lead less own"],
        }


def against_table() -> Lines:
    """The hands played here against the table of all hands: are they the same numbers?"""
    for rules in RULES:
        hands = pieces("hands", rules)
        rows, table = hand_rows(hands, CONTRACTS), table_of(rules)
        rank = hands["rank"]
        others = others_of(rules, rank, rows["play others"], rows["pass others"])
        yield {
            "rules": rules,
            "points less the table's": mean_of(hands["points"] - table.means[rank]),
            "passing less the table's": mean_of(rows["pass own"] - table.passing[rank]),
            "others, declaring: R², %": f"{100 * others.r2['declaring']:.0f}",
            "off": f"{others.off['declaring']:.1f}",
            "others, passing: R², %": f"{100 * others.r2['passing']:.0f}",
            "off ": f"{others.off['passing']:.1f}",
        }


def right() -> Lines:
    """Of all hands: how high to bid; the numbers of hands are exact, their bids sampled."""
    found = {}
    for rules in RULES:
        chosen = load(rules)
        bids = right_bids(table_of(chosen), chosen)
        lists = lists_of(rules)
        passes = bids.passes
        found[f"{rules}, own"] = lists["advice"][passes]
        found[f"{rules}, lead"] = lists["advice, relative"][passes]
        found[f"{rules}, does not lose"] = lists["does not lose"][passes]
    edges = (100, 120, 140, 160, 180, 200, 1000)
    yield {"bid up to": "pass"} | {key: share(bids == PASS) for key, bids in found.items()}
    for low, high in pairwise(edges):
        words = f"{low}–{high - 10}" if high < 1000 else f"{low} and more"
        yield {"bid up to": words} | {
            key: share((bids >= low) & (bids < high)) for key, bids in found.items()
        }


def share(chosen: np.ndarray) -> str:
    part = 100 * float(chosen.mean())
    return f"{part:.1f}" if part >= 0.05 or part == 0 else f"{part:.2f}"


def classes() -> Lines:
    """By marriages and aces: what declaring and passing bring."""
    for rules in RULES:
        chosen = load(rules)
        strength = Strength(table_of(chosen), chosen)
        best, passing = best_scores(rules)
        relative = lists_of(rules)["advice, relative"]
        marriages, aces = feature("marriages", strength.hands), feature("aces", strength.hands)
        for row in class_frame(strength).to_dicts():
            mine = np.ones(len(best), np.bool_)
            if row["marriages"] is not None:
                mine = (marriages == row["marriages"]) & (aces == row["aces"])
            known = mine & ~np.isnan(passing)
            yield {
                "rules": rules,
                "marriages": "all" if row["marriages"] is None else str(row["marriages"]),
                "aces": "" if row["aces"] is None else str(row["aces"]),
                "hands, %": f"{100 * row['share']:.2f}",
                "points": f"{row['points']:.0f}",
                "makes 100, %": f"{100 * row['makes']:.0f}",
                "best contract scores": f"{best[known].mean():.0f}".replace("-", "−"),
                "passing earns": f"{passing[known].mean():.0f}",
                "worth a bid, %": f"{100 * row['bids']:.1f}",
                "by the lead, %": f"{100 * (relative[known] > 0).mean():.1f}",
            }


# -- counting and folklore -----------------------------------------------------------------------


def card() -> Lines:
    """The point count of both rule sets."""
    cards = [
        {row["line"]: row["counts"] for row in evaluator_report(rules).frames()["card"].to_dicts()}
        for rules in RULES
    ]
    for line in LINES:
        yield {"in your seven cards": line.text} | {
            rules: found[line.text] for rules, found in zip(RULES, cards, strict=True)
        }


def counts() -> Lines:
    """How far counts are off."""
    for rules in RULES:
        for row in evaluator_report(rules).frames()["errors"].to_dicts():
            yield {
                "rules": rules,
                "what is counted": row["count"],
                "points off": "" if row["rms"] is None else f"{row['rms']:.1f}",
                "right bid, %": f"{100 * row['right']:.0f}",
                "within a step, %": f"{100 * row['within']:.0f}",
                "too high, %": f"{100 * row['high']:.0f}",
            }


def bid_counts() -> Lines:
    """From which count on to bid, and how often that is right."""
    for rules in RULES:
        chosen = load(rules)
        table = table_of(chosen)
        fit = Fit(table, chosen)
        known, right = fit.bids.passes, fit.bids.right
        lists = lists_of(rules)
        for name in ("point count", *COUNTED):
            off = COUNTED.get(name)
            cut = fit.evaluator.bids if off is None else bidding_cuts(fit, off)
            bids = lists[name][known]
            line: dict[str, Cell] = {"rules": rules, "who bids": name}
            for contract in (100, 120, 140, 160, 180, 200):
                line[f"{contract} from"] = str(cut[contract])
            line["bid or pass right, %"] = f"{100 * ((bids > 0) == (right[known] > 0)).mean():.1f}"
            line["right bid, %"] = f"{100 * (bids == right[known]).mean():.1f}"
            yield line
        always = 100 * (right[known] == PASS).mean()
        yield {
            "rules": rules,
            "who bids": "never bids",
            "bid or pass right, %": f"{always:.1f}",
            "right bid, %": f"{always:.1f}",
        }


def misjudged() -> Lines:
    """The hands that folklore misjudges most."""
    for rules in RULES:
        for row in hands_report(rules).frames()["misjudged"].to_dicts():
            half = (row["points_high"] - row["points_low"]) / 2
            yield {
                "rules": rules,
                "": row["kind"],
                "hand": row["hand"],
                "folklore says": f"{row['folklore']:.0f}",
                "points": f"{row['points']:.0f} ± {half:.0f}",
                "bid up to": row["up_to"],
            }


def openings() -> Lines:
    """The opening table of folklore."""
    for rules in RULES:
        for row in hands_report(rules).frames()["opening"].to_dicts():
            yield {
                "rules": rules,
                "it says": row["says"],
                "hands, %": f"{100 * row['share']:.1f}",
                "points": f"{row['points']:.0f}",
                "right, %": f"{100 * row['right']:.0f}",
                "too high, %": f"{100 * row['high']:.0f}",
                "too low, %": f"{100 * row['low']:.0f}",
            }


def stronger() -> Lines:
    """How far `expert` is from stronger models, where samples of them come with milsim."""
    found = {rules: shipped_corrections(load(rules)) for rules in RULES}
    if not any(found.values()):
        raise SystemExit("no samples of stronger models come with milsim")
    for rules, corrections in found.items():
        if corrections is None:
            continue
        chosen = load(rules)
        table = table_of(chosen)
        hands = hand_masks_table().astype(np.int64)
        marriages, aces = feature("marriages", hands), feature("aces", hands)
        for words, mine in (
            ("all", marriages >= 0),
            ("no marriage, no or one ace", (marriages == 0) & (aces < 2)),
            ("no marriage, two aces or more", (marriages == 0) & (aces >= 2)),
            ("a marriage, no ace", (marriages > 0) & (aces == 0)),
            ("a marriage and an ace", (marriages > 0) & (aces > 0)),
        ):
            ranks = np.flatnonzero(mine)
            line: dict[str, Cell] = {
                "rules": rules,
                "hands": words,
                "expert": f"{table.means[ranks].mean(dtype=np.float64):.1f}",
                "makes 100, %": f"{100 * table.chances(ranks)[0].mean():.1f}",
            }
            for name, model in corrections.models.items():
                known = model.known(Curves.of_table(ranks, table), chosen)
                line[name] = Estimate(known.mean, Z * known.error, corrections.hands)
                line[f"{name} makes, %"] = f"{100 * known.chances[table.contracts[0]]:.1f}"
            yield line


ALL = (reality, margins, seats, changes, objective, against_table, right, classes, card, counts,
       bid_counts,
       misjudged, openings, stronger)  # fmt: skip
BRIEF = ("classes", "misjudged", "openings", "counts")
"""Of these the README has mil only."""


# -- writing -------------------------------------------------------------------------------------


def as_tsv(lines: Sequence[dict[str, Cell]]) -> str:
    """All columns, an estimate as two: its mean, and the half of its interval."""
    columns = list(dict.fromkeys(key for line in lines for key in line))
    split = {key for key in columns if any(isinstance(line.get(key), Estimate) for line in lines)}
    rows = [
        "\t".join(w for key in columns for w in ((key, f"{key} ±") if key in split else (key,)))
    ]
    for line in lines:
        words: list[str] = []
        for key in columns:
            cell = line.get(key, "")
            if isinstance(cell, Estimate):
                words += [f"{cell.mean:.4f}", f"{cell.half:.4f}"]
            else:
                words += [str(cell), ""] if key in split else [str(cell)]
        rows.append("\t".join(words))
    return "\n".join(rows) + "\n"


def as_markdown(lines: Sequence[dict[str, Cell]], drop: Sequence[str] = ()) -> str:
    columns = [key for key in dict.fromkeys(k for line in lines for k in line) if key not in drop]

    def is_number(cell: Cell) -> bool:
        return not isinstance(cell, str) or re.fullmatch(r"[−\d.,]*", cell) is not None

    right = [key for key in columns if all(is_number(line.get(key, "")) for line in lines)]
    rows = ["| " + " | ".join(columns) + " |",
            "|" + "|".join("---:" if key in right else "---" for key in columns) + "|"]  # fmt: skip
    for line in lines:
        cells = [line.get(key, "") for key in columns]
        rows.append(
            "| " + " | ".join(f"{c:,}" if isinstance(c, int) else str(c) for c in cells) + " |"
        )
    return "\n".join(rows)


def main() -> None:
    TABLES.mkdir(exist_ok=True)
    readme = HERE / "README.md"
    text = readme.read_text() if readme.exists() else ""
    for table in ALL:
        name = table.__name__
        try:
            lines = list(table())
        except SystemExit as missing:
            print(f"{name}: {missing}")
            continue
        write_atomically(TABLES / f"{name}.tsv", as_tsv(lines).encode())
        brief = name in BRIEF
        shown = [line for line in lines if not brief or line["rules"] == "mil"]
        new = as_markdown(shown, ("rules",) if brief else ())
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = block.sub(lambda found, new=new: f"{found[1]}\n{new}\n\n{found[2]}", text)
        print(f"\n{name}\n{new}")
    if text:
        write_atomically(readme, text.encode())


if __name__ == "__main__":
    main()
