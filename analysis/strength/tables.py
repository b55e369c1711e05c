"""The tables of the study from what collect.py played: TSV files in tables/, and in README.md.

    python analysis/strength/tables.py

A table stands in the README between ``<!-- name -->`` and ``<!-- end -->``; it is put there anew.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from functools import cache

import bias
import numpy as np
from collect import HERE, Row
from intervals import Estimate, mean_of, ratio_of
from players import NOTE

from milsim.files import write_atomically
from milsim.simulation.columns import BID, CONTRACT, DECLARER, MADE, SCORE_BY_SEAT

TABLES = HERE / "tables"
LADDER = ("random", "greedy", "expert", "pimc:solving=100", "pimc:solving=50", "pimc", "oracle")
STEPS = {
    "greedy": "random",
    "expert": "greedy",
    "pimc:solving=100": "expert",
    "pimc:solving=50": "expert",
    "pimc": "expert",
    "oracle": "pimc",
}
RULES = ("mil", "gamerules")
SIGHTED = "oracle:bid=expert:exchange=expert"
SEATS = np.arange(3)


class Played:
    """What was played of a row: ``values`` (3 seats, columns, deals), times, thoughts."""

    def __init__(self, row: Row) -> None:
        files = sorted(row.folder.glob("*.npz"))
        if not files:
            raise SystemExit(f"{row.folder}: nothing played yet; run collect.py")
        pieces = [np.load(file) for file in files]
        at = [int(file.stem) for file in files]
        sizes = [piece["values"].shape[2] for piece in pieces]
        # Only from the first deal on without a gap.
        whole = next((i for i in range(len(at)) if at[i] != sum(sizes[:i])), len(at))
        pieces = pieces[:whole]
        self.values = np.concatenate([piece["values"] for piece in pieces], axis=2)
        self.times = sum(piece["times"] for piece in pieces) if "times" in pieces[0] else None
        if self.times is not None:
            self.notes = np.concatenate([piece["notes"] for piece in pieces])
        self.deals = self.values.shape[2]

    def scores(self) -> np.ndarray:
        """Deal scores, (3 seats of the row, 3 seats of the table, deals)."""
        return self.values[:, SCORE_BY_SEAT : SCORE_BY_SEAT + 3].astype(float)

    def own_and_lead(self) -> tuple[np.ndarray, np.ndarray]:
        """By seat of the row and deal: its score, and that less the mean of the two others."""
        scores = self.scores()
        own = scores[SEATS, SEATS]
        return own, own - (scores.sum(axis=1) - own) / 2


def is_there(row: Row) -> bool:
    """Whether some of it has been played."""
    return any(row.folder.glob("*.npz"))


@cache
def played(rules: str, name: str, others: str = "expert", seats: str = "all") -> Played:
    return Played(Row(rules, name, others, seats))


def over(a: Played, b: Played) -> tuple[Estimate, Estimate]:
    """Own points and lead of one row less those of another, the same deals and seats."""
    n = min(a.deals, b.deals)
    mine, theirs = a.own_and_lead(), b.own_and_lead()
    own, lead = ((x[:, :n] - y[:, :n]).mean(axis=0) for x, y in zip(mine, theirs, strict=True))
    return mean_of(own), mean_of(lead)


def by_role(a: Played, b: Played, base: Played) -> dict[str, Estimate]:
    """The same by the role of the row's seat, which is that in ``base`` (bids are the same)."""
    n = min(a.deals, b.deals, base.deals)
    declares = base.values[:, DECLARER, :n] == SEATS[:, None]
    found = {}
    for what, x, y in zip(("own", "lead"), a.own_and_lead(), b.own_and_lead(), strict=True):
        gain = x[:, :n] - y[:, :n]
        found[f"{what} as declarer"] = mean_of((gain * declares).sum(axis=0))
        found[f"{what} as defender"] = mean_of((gain * ~declares).sum(axis=0) / 2)
    change = (a.scores()[:, :, :n] - b.scores()[:, :, :n]) * ~declares[:, None]
    of_declarer = np.einsum("std,std->d", change, _one_hot(base, n)[None].repeat(3, axis=0)) / 2
    own = change[SEATS, SEATS].sum(axis=0) / 2
    found["the declarer then"] = mean_of(of_declarer)
    found["the partner then"] = mean_of(change.sum(axis=(0, 1)) / 2 - own - of_declarer)
    return found


def _one_hot(base: Played, n: int) -> np.ndarray:
    return (base.values[0, DECLARER, :n] == SEATS[:, None]).astype(float)


# -- the tables ----------------------------------------------------------------------------------

Cell = str | int | float | Estimate
Lines = Iterator[dict[str, Cell]]


def ladder() -> Lines:
    """Each row beside two of expert; differences to the row named, on the same deals."""
    for rules in RULES:
        for name in LADDER:
            if not is_there(Row(rules, name)):
                continue
            row = played(rules, name)
            own, lead = row.own_and_lead()
            line: dict[str, Cell] = {
                "rules": rules,
                "policy": name,
                "deals": row.deals,
                "own": mean_of(own.mean(axis=0)),
                "lead": mean_of(lead.mean(axis=0)) if name != "expert" else 0,
                "over": STEPS.get(name, ""),
            }
            if name in STEPS:
                more = over(row, played(rules, STEPS[name]))
                line |= {"own over it": more[0], "lead over it": more[1]}
            yield line


def declaring() -> Lines:
    """How each row bids and declares, beside two of expert."""
    for rules in RULES:
        for name in LADDER:
            if not is_there(Row(rules, name)):
                continue
            row = played(rules, name)
            values = row.values.astype(float)
            mine = values[:, DECLARER] == SEATS[:, None]
            count = mine.sum(axis=0)
            line: dict[str, Cell] = {"rules": rules, "policy": name, "deals": row.deals}
            line["declares, %"] = mean_of(100 * mine.mean(axis=0))
            for what, column, scale in (("winning bid", BID, 1), ("contract", CONTRACT, 1),
                                        ("makes, %", MADE, 100)):  # fmt: skip
                line[what] = ratio_of((scale * values[:, column] * mine).sum(axis=0), count)
            own = row.scores()[SEATS, SEATS]
            line["score as declarer"] = ratio_of((own * mine).sum(axis=0), count)
            line["as defender"] = ratio_of((own * ~mine).sum(axis=0), 3 - count)
            yield line


def layouts() -> Lines:
    """Strength and time against the number of layouts, mil."""
    default = played("mil", "pimc")
    for playouts in (4, 8, 16, 32, 64, 128):
        name = "pimc" if playouts == 128 else f"pimc:playouts={playouts}"
        row = played("mil", name)
        yield {"layouts": playouts, **_strength_and_time(row, default)}


def solver_layouts() -> Lines:
    """The same of plain PIMC."""
    base = played("mil", "pimc:solving=100")
    for words, name in (
        ("8", "pimc:layouts=8:solving=100"),
        ("32", "pimc:solving=100"),
        ("32, exact at trick 1", "@exact"),
        ("128", "pimc:layouts=128:solving=100"),
    ):
        if is_there(Row("mil", name)):
            yield {"layouts": words, **_strength_and_time(played("mil", name), base)}


def _strength_and_time(row: Played, base: Played) -> dict[str, Cell]:
    own, lead = over(row, played("mil", "expert"))
    cards, card_seconds, exchanges, exchange_seconds = row.times
    line: dict[str, Cell] = {"deals": row.deals, "own over expert": own, "lead over expert": lead}
    line["lead over the default"] = over(row, base)[1] if row is not base else ""
    line["ms a card"] = round(1000 * card_seconds / cards, 2)
    line["ms an exchange"] = round(1000 * exchange_seconds / exchanges, 2)
    decisions = cards + exchanges
    line["ms a decision"] = round(1000 * (card_seconds + exchange_seconds) / decisions, 2)
    line["decisions"] = int(decisions)
    return line


def roles() -> Lines:
    """What each PIMC gains over expert as declarer and as defender, and from whom."""
    for rules in RULES:
        base = played(rules, "expert")
        for name in ("pimc:solving=100", "pimc:solving=50", "pimc"):
            rows = {name: played(rules, name)} if is_there(Row(rules, name)) else {}
            parts = name.split(":")
            other = ":".join([parts[0], "exchange=expert", *parts[1:]])
            if is_there(Row(rules, other, seats="declarer")):
                rows[other] = _joined(played(rules, other, seats="declarer"), rows[name], base)
            for words, row in rows.items():
                own, lead = over(row, base)
                head = {"rules": rules, "policy": words, "deals": row.deals}
                yield {**head, "own": own, "lead": lead, **by_role(row, base, base)}


def _joined(declaring: Played, defending: Played, base: Played) -> Played:
    """Of two rows that differ in the exchange only: a defender has none, and bids are the same."""
    joined = copy.copy(defending)
    joined.deals = n = min(declaring.deals, defending.deals)
    declares = base.values[:, None, DECLARER, :n] == SEATS[:, None, None]
    joined.values = np.where(declares, declaring.values[:, :, :n], defending.values[:, :, :n])
    return joined


VARIANTS = (
    ("plain PIMC, cards and all", "pimc:solving=100", "all", "pimc"),
    ("exchange by expert, cards solved", "pimc:exchange=expert:solving=100", "declarer", "expert"),
    ("exchange by expert, cards played out", "pimc:exchange=expert", "declarer", "expert"),
    (
        "the former over the latter",
        "pimc:exchange=expert:solving=100",
        "declarer",
        "pimc:exchange=expert",
    ),
    ("exchange by playouts, cards by expert", "expert:exchange=pimc", "declarer", "expert"),
    ("only the contract by playouts, the rest by expert", "@contract", "declarer", "expert"),
    ("trick 1 solved", "@solved=1-1", "all", "pimc"),
    ("tricks 2 and 3 solved", "@solved=2-3", "all", "pimc"),
    ("tricks 4 and 5 solved", "@solved=4-5", "all", "pimc"),
    ("tricks 6 to 8 solved", "@solved=6-8", "all", "pimc"),
    ("playouts blind to who of the defenders takes what", "@partners", "defenders", "pimc"),
    ("the same, over plain PIMC", "@partners", "defenders", "pimc:solving=100"),
    ("layouts that explain the bid count up to 6 times", "@heard=6", "defenders", "pimc"),
)


def variants() -> Lines:
    """Variants of pimc over another row, by role, mil."""
    base = played("mil", "expert")
    for words, name, seats, against in VARIANTS:
        if not is_there(Row("mil", name, "expert", seats)):
            continue
        row = played("mil", name, "expert", seats)
        theirs = played("mil", against, seats="declarer" if "exchange" in against else "all")
        found = by_role(row, theirs, base)
        line: dict[str, Cell] = {"variant": words, "over": against, "deals": row.deals}
        for role in ("declarer", "defender"):
            shown = seats in ("all", f"{role}s", role)
            for what in ("own", "lead"):
                line[f"{what} as {role}"] = found[f"{what} as {role}"] if shown else ""
        yield line


def sighted() -> Lines:
    """Over expert beside two players who see all cards while they play, and bid as expert, mil."""
    base = played("mil", "expert", SIGHTED)
    roles_of = played("mil", "expert")
    rows = {name: played("mil", name, SIGHTED) for name in ("pimc:solving=100", "pimc")}
    against = {"expert": base} | rows
    for name, over_what in (
        ("pimc:solving=100", "expert"),
        ("pimc", "expert"),
        ("pimc:solving=100", "pimc"),
    ):
        row, other = rows[name], against[over_what]
        own, lead = over(row, other)
        yield {
            "policy": name,
            "over": over_what,
            "deals": row.deals,
            "own": own,
            "lead": lead,
            **by_role(row, other, roles_of),
        }


def fear() -> Lines:
    """Plain PIMC less pimc as declarers, beside expert and beside two who see all cards, mil."""
    gains: dict[str, tuple[np.ndarray, ...]] = {}
    base = played("mil", "expert")
    n = min(played("mil", name, SIGHTED, "declarer").deals for name in ("pimc", "pimc:solving=100"))
    declares = base.values[:, DECLARER, :n] == SEATS[:, None]
    for words, others, seats in (
        ("two who see all cards", SIGHTED, "declarer"),
        ("two of expert", "expert", "all"),
    ):
        rows = [
            played("mil", name, others, seats).own_and_lead()
            for name in ("pimc:solving=100", "pimc")
        ]
        gains[words] = tuple(
            ((a[:, :n] - b[:, :n]) * declares).sum(axis=0) for a, b in zip(*rows, strict=True)
        )
    one, other = gains.values()
    gains["the first less the second"] = tuple(a - b for a, b in zip(one, other, strict=True))
    for words, (own, lead) in gains.items():
        yield {"beside": words, "deals": n, "own": mean_of(own), "lead": mean_of(lead)}


def thoughts() -> Lines:
    """What PIMC thought of its contracts, and what came: in the layouts, and at the table, mil."""
    for name in ("pimc:solving=100", "pimc"):
        row = played("mil", name)
        notes = row.notes
        index, seat = notes[:, 0].astype(int), notes[:, 1 + NOTE.index("seat")].astype(int)
        made = row.values[seat, MADE, index].astype(float)
        column = {word: notes[:, 1 + i].astype(float) for i, word in enumerate(NOTE)}
        for role in ("declarer", "defender"):
            for first, last in ((1, 1), (2, 3), (4, 5), (6, 7)):
                of = (column["role"] > 0) == (role == "defender")
                of &= (column["trick"] >= first) & (column["trick"] <= last)
                count = np.bincount(index[of], minlength=row.deals).astype(float)
                means = {
                    key: ratio_of(100 * np.bincount(index[of], values[of], row.deals), count)
                    for key, values in (
                        ("thought made, %", column["thought"]),
                        ("made, %", made),
                        ("thought too much", column["thought"] - made),
                        ("as expert, %", column["as_expert"]),
                    )
                }
                yield {
                    "policy": name,
                    "role": role,
                    "tricks": f"{first}" if first == last else f"{first}–{last}",
                    "decisions": int(of.sum()),
                    **means,
                }


def agreement() -> Lines:
    """How often the solver and the playouts want the same card, in pimc:solving=50, mil."""
    row = played("mil", "pimc:solving=50")
    column = {word: row.notes[:, 1 + i] for i, word in enumerate(NOTE)}
    for trick in range(1, 8):
        line: dict[str, Cell] = {"trick": trick}
        for role, of in (("declarer", column["role"] == 0), ("defender", column["role"] > 0)):
            line[f"{role}, %"] = round(100 * float(column["as_solver"][of & (column["trick"] == trick)].mean()), 1)  # fmt: skip  # noqa: E501
        yield line


BRIEF = ("bias_contract", "bias_class")
"""Of these the README has mil only."""
PLAYED = (
    ladder,
    declaring,
    layouts,
    roles,
    variants,
    solver_layouts,
    sighted,
    fear,
    thoughts,
    agreement,
)


# -- writing -------------------------------------------------------------------------------------


def as_tsv(lines: Sequence[dict[str, Cell]]) -> str:
    """All columns, an estimate as two: its mean, and the half of its interval."""
    columns = list(dict.fromkeys(key for line in lines for key in line))
    split = {key for key in columns if any(isinstance(line.get(key), Estimate) for line in lines)}
    head = [word for key in columns for word in ((key, f"{key} ±") if key in split else (key,))]
    rows = ["\t".join(head)]
    for line in lines:
        words = []
        for key in columns:
            cell = line.get(key, "")
            if isinstance(cell, Estimate):
                words += [f"{cell.mean:.4f}", f"{cell.half:.4f}"]
            else:
                words += [str(cell), ""] if key in split else [str(cell)]
        rows.append("\t".join(words))
    return "\n".join(rows) + "\n"


def as_markdown(lines: Sequence[dict[str, Cell]]) -> str:
    columns = list(dict.fromkeys(key for line in lines for key in line))
    words = [key for key in columns if all(isinstance(line.get(key, ""), str) for line in lines)
             and any(not isinstance(line.get(key, ""), Estimate) for line in lines)]  # fmt: skip
    rows = ["| " + " | ".join(columns) + " |",
            "|" + "|".join("---" if key in words else "---:" for key in columns) + "|"]  # fmt: skip
    for line in lines:
        cells = []
        for key in columns:
            cell = line.get(key, "")
            text = f"{cell:,}" if isinstance(cell, int) else str(cell)
            named = key in ("policy", "over") and text
            cells.append(f"`{text}`" if named else text)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> None:
    TABLES.mkdir(exist_ok=True)
    readme = HERE / "README.md"
    text = readme.read_text()
    for table in (*PLAYED, *bias.ALL):
        try:
            lines = list(table())
        except (SystemExit, FileNotFoundError) as missing:
            print(f"{table.__name__}: {missing}")
            continue
        write_atomically(TABLES / f"{table.__name__}.tsv", as_tsv(lines).encode())
        block = re.compile(rf"(<!-- {table.__name__} -->\n).*?(<!-- end -->)", re.DOTALL)
        shown = [line for line in lines if table.__name__ not in BRIEF or line["rules"] == "mil"]
        new = as_markdown(shown)
        text = block.sub(lambda found, new=new: f"{found[1]}\n{new}\n\n{found[2]}", text)
        print(f"\n{table.__name__}\n{new}")
    write_atomically(readme, text.encode())


if __name__ == "__main__":
    main()
