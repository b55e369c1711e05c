"""Play and replay what plan.toml asks for: runs in out/marriages/, counts in tables/*.csv.

    python analysis/marriages/collect.py

A run that is there is not played again; all counts are made anew. One thread.
"""

from __future__ import annotations

import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import polars as pl

import milsim
from milsim.cards import ACE, SUIT_NAMES
from milsim.dealing import masks_of_deals
from milsim.files import write_atomically
from milsim.store.run import DOUBLE_DUMMY, Run
from milsim.where import suit_set

HERE = Path(__file__).parent
PLAN = tomllib.loads((HERE / "plan.toml").read_text())
WORK = HERE.parents[1] / "out" / "marriages"
TABLES = HERE / "tables"
KINDS = ("expert", "double-dummy", "best-exchange", "auction")
TRICKS = range(1, 8)  # in the last one nobody has two cards


def kinds_of(rules: str) -> list[str]:
    """The tables of the plan that some rules are played by."""
    return [kind for kind in KINDS if rules in PLAN[kind].get("only", PLAN["rules"])]


def run_of(rules: str, kind: str) -> Run:
    """The run of a table of the plan, played if it is not there."""
    folder = WORK / f"{rules}-{kind}"
    if not (folder / "manifest.json").exists():
        ours = ("replays", "only")
        asked = {name: value for name, value in PLAN[kind].items() if name not in ours}
        milsim.simulate(rules=rules, seed=PLAN["seed"], threads=1, out=folder, **asked)
    run = Run.open(folder)
    return run.as_model(DOUBLE_DUMMY) if "dd" in PLAN[kind] else run


def held(run: Run) -> pl.DataFrame:
    """A row a deal: by suit, the trick in which the declarer declared (0: not), if he could.

    For each suit its marriage in the ten cards, its ace there, and ``number`` of marriages.
    """
    columns = [f"{name}_{what}" for name in SUIT_NAMES for what in ("seat", "trick")]
    deals = run.frame().select("index", "deal", "declarer", *columns).sort("index").collect()
    dealt = masks_of_deals(deals["deal"].to_numpy())
    hands = np.stack([dealt.forehand, dealt.middlehand, dealt.rearhand])
    declarer = deals["declarer"].to_numpy().astype(np.int64)
    ten = hands[declarer, np.arange(len(declarer))] | dealt.talon
    marriages = suit_set("marriages", ten)
    found: dict[str, np.ndarray] = {"number": np.bitwise_count(marriages).astype(np.int64)}
    for suit, name in enumerate(SUIT_NAMES):
        own = deals[f"{name}_seat"].to_numpy() == declarer
        found[f"{name}_held"] = (marriages >> suit & 1).astype(np.bool_)
        found[f"{name}_ace"] = (ten >> 6 * suit + ACE & 1).astype(np.bool_)
        found[f"{name}_trick"] = np.where(own, deals[f"{name}_trick"].to_numpy(), 0)
    return pl.DataFrame(found)


def tricks_of(deals: pl.DataFrame) -> pl.DataFrame:
    """How many deals with a marriage saw it declared in each trick, with its ace and without."""
    rows = []
    for name in SUIT_NAMES:
        mine = deals.filter(pl.col(f"{name}_held"))
        for ace in (True, False):
            some = mine.filter(pl.col(f"{name}_ace") == ace)[f"{name}_trick"]
            counts = {f"trick_{trick}": int((some == trick).sum()) for trick in TRICKS}
            rows.append({"suit": name, "ace": ace, "n": len(some), **counts})
    return pl.DataFrame(rows)


def second_of(deals: pl.DataFrame) -> pl.DataFrame:
    """Of deals with so many marriages: how many are declared, and when the first and second."""
    names = [f"{name}_trick" for name in SUIT_NAMES]
    tricks = np.sort(np.where(deals.select(names).to_numpy() == 0, 99, deals.select(names)), axis=1)
    number = deals["number"].to_numpy()
    declared = (tricks < 99).sum(axis=1)
    rows = []
    for many in (1, 2, 3):
        mine = number == many
        row = {"number": many, "n": int(mine.sum())}
        for count in range(4):
            row[f"declared_{count}"] = int((mine & (declared == count)).sum())
        for place in range(2):
            some = tricks[mine & (declared > place), place].astype(np.int64)
            row[f"trick_{place + 1}_n"] = len(some)
            row[f"trick_{place + 1}_sum"] = int(some.sum())
            row[f"trick_{place + 1}_squares"] = int((some * some).sum())
        rows.append(row)
    return pl.DataFrame(rows)


def write(frame: pl.DataFrame, name: str) -> None:
    """A table of the study as a file."""
    TABLES.mkdir(exist_ok=True)
    write_atomically(TABLES / f"{name}.csv", frame.write_csv().encode())


def main() -> None:
    for rules in PLAN["rules"]:
        for kind in kinds_of(rules):
            begin = time.monotonic()
            run, replays = run_of(rules, kind), PLAN[kind]["replays"]
            name = f"{rules}-{kind}"
            for by in ("parts", "halves"):
                frame = milsim.report.marriages(run, by, replays=replays, threads=1)
                write(frame, f"{by}-{name}")
            for by in ("suit", "number"):
                write(milsim.report.marriages(run, by, replays=0), f"{by}-{name}")
            if "dd" not in PLAN[kind]:
                deals = held(run)
                write(tricks_of(deals), f"tricks-{name}")
                write(second_of(deals), f"second-{name}")
            write(pl.DataFrame({"provenance": [run.provenance()]}), f"run-{name}")
            print(f"{name}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
