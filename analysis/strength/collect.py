"""Play what plan.toml asks for, piece by piece, into out/strength/; what is there is not redone.

    python analysis/strength/collect.py [first [last]]

first, last: which parts of the plan, from 1; all if not given. A piece is a file of some deals of
one row, with the row at each of the three seats in turn; Ctrl-C loses the piece being played. One
thread, so that times are those of one processor.
"""

from __future__ import annotations

import io
import sys
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from players import NOTE, Clock, player_of

from milsim.dealing import DealSpace, kernel_ranks
from milsim.files import write_atomically
from milsim.policies.players import Player
from milsim.policies.seen import TableRules
from milsim.policies.spec import parse_spec
from milsim.rules import load
from milsim.simulation.columns import DECLARER, N_COLUMNS
from milsim.simulation.driver_runs import drive_deals
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan

HERE = Path(__file__).parent
PLAN = tomllib.loads((HERE / "plan.toml").read_text())
WORK = HERE.parents[1] / "out" / "strength"


@dataclass(frozen=True)
class Row:
    """One policy beside two others, under some rules; ``seats``: all, declarer or defenders."""

    rules: str
    name: str
    others: str = "expert"
    seats: str = "all"

    @property
    def folder(self) -> Path:
        words = self.name
        if self.seats != "all":
            words += f"_{self.seats}"
        if self.others != "expert":
            words += "_beside_" + self.others
        return WORK / self.rules / words.replace(":", ".")


def kernels_only(row: Row) -> bool:
    return not row.name.startswith("@") and all(
        parse_spec(name).number is not None for name in (row.name, row.others)
    )


@cache
def by_kernels(rules: str, name: str, others: str, seat: int, start: int, deals: int):
    policies = [others] * 3
    policies[seat] = name
    plan = Plan.make(deals=deals, seed=PLAN["seed"], start=start, rules=rules, policy=policies)
    return np.concatenate([chunk.values for chunk in play(plan, threads=1)], axis=1)


class Table:
    """Deals driven one by one, with a note of which deal each thought belongs to."""

    def __init__(self, row: Row) -> None:
        rules = load(row.rules)
        self.by = TableRules.of(rules)
        space = DealSpace(marriage_values=rules.deal.marriage_values.by_suit()).packed()
        self.space = space.header, space.hands
        self.ranks = kernel_ranks()
        self.clock = Clock()
        self.mine = player_of(row.name, self.clock)
        self.theirs: Player = parse_spec(row.others).player()

    def deal(self, index: int, seat: int):
        players = [self.theirs] * 3
        players[seat] = self.mine
        deals, out = np.empty(1, np.int64), np.empty((N_COLUMNS, 1), np.int16)
        drive_deals(players, ["strength"] * 3, self.by, PLAN["seed"], index, 1, *self.space,
                    self.ranks, deals, out)  # fmt: skip
        return out[:, 0]


def piece(row: Row, start: int, deals: int) -> dict[str, np.ndarray]:
    """Rows of some deals by seat, int16 (3, columns, deals), which were played, times, thoughts."""
    values = np.zeros((3, N_COLUMNS, deals), np.int16)
    played = np.ones((3, deals), np.bool_)
    if kernels_only(row):
        for seat in range(3):
            values[seat] = by_kernels(row.rules, row.name, row.others, seat, start, deals)
        return {"values": values, "played": played}
    if row.seats != "all":
        declarer = by_kernels(row.rules, "expert", "expert", 0, start, deals)[DECLARER]
        is_declarer = declarer == np.arange(3)[:, None]
        played = is_declarer if row.seats == "declarer" else ~is_declarer
    table = Table(row)
    notes = []
    for seat in range(3):
        for i in np.flatnonzero(played[seat]):
            table.clock.notes.clear()
            values[seat, :, i] = table.deal(start + int(i), seat)
            notes += [(start + int(i), *note) for note in table.clock.notes]
    clock = table.clock
    times = [clock.cards, clock.card_seconds, clock.exchanges, clock.exchange_seconds]
    return {
        "values": values,
        "played": played,
        "times": np.array(times),
        "notes": np.array(notes, np.float32).reshape(-1, 1 + len(NOTE)),
    }


def rows_of(plan: dict, first: int, last: int) -> list[tuple[Row, int]]:
    """What is to be played, in order, with how many deals."""
    found = []
    for part in plan["play"][first - 1 : last]:
        for rules in part["rules"]:
            for name in part["rows"]:
                row = Row(rules, name, part.get("others", "expert"), part.get("seats", "all"))
                found.append((row, part["deals"]))
    return found


def main() -> None:
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    last = int(sys.argv[2]) if len(sys.argv) > 2 else len(PLAN["play"])
    for row, deals in rows_of(PLAN, first, last):
        size = 5000 if kernels_only(row) else PLAN["piece"]
        begin, done = time.monotonic(), 0
        for start in range(0, deals, size):
            path = row.folder / f"{start:06}.npz"
            if path.exists():
                continue
            buffer = io.BytesIO()
            np.savez_compressed(buffer, **piece(row, start, min(size, deals - start)))
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, buffer.getvalue())
            done += size
        if done:
            seconds = time.monotonic() - begin
            print(f"{row.rules} {row.folder.name}: {done} deals, {seconds:.0f} s", file=sys.stderr,
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
