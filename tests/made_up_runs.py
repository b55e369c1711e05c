"""Runs with made-up results, for tests of what reads runs: right cards, any points.

The deals, seats and gifts are right; who declared what and the points are drawn at random. So a
test can count everything once more, slowly and plainly, from the same rows.
"""

from __future__ import annotations

import io
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from milsim.cards import SUIT_NAMES, cards_of, marriages_of
from milsim.deals import N_DEALS, SEAT_NAMES, Deal
from milsim.rules import Rules
from milsim.simulation.columns import NO_SEAT
from milsim.simulation.plan import Plan
from milsim.store.manifest import Manifest
from milsim.store.parts import Part
from milsim.store.pieces import Piece
from milsim.store.run import Run
from milsim.store.schema import SCHEMA

Row = dict[str, Any]


def made_up_run(
    folder: Path,
    deals: int,
    *,
    mode: str = "declarer",
    rules: str | Rules = "mil",
    where: str | None = None,
    seed: int = 1,
    start: int = 0,
    planned: int | None = None,
    part_rows: int = 300,
) -> tuple[Run, list[Row]]:
    """A run in a folder, in several parts, and its rows as plain dictionaries."""
    plan = Plan.make(
        deals=planned or max(deals, 1), seed=seed, start=start, mode=mode, rules=rules, where=where
    )
    draw = random.Random(seed)
    rows = [_row(plan, index, draw) for index in range(start, start + deals)]
    return stored_run(folder, plan, rows, part_rows), rows


def stored_run(folder: Path, plan: Plan, rows: list[Row], part_rows: int = 300) -> Run:
    """Rows as a run in a folder, in several parts."""
    (folder / "parts").mkdir(parents=True)
    pieces = []
    for place in range(0, len(rows), part_rows):
        some = rows[place : place + part_rows]
        buffer = io.BytesIO()
        pl.DataFrame([_stored(row) for row in some], schema=SCHEMA).write_parquet(buffer)
        content = buffer.getvalue()
        part = Part.of(plan.start + place, len(some), content)
        (folder / "parts" / part.name).write_bytes(content)
        pieces.append(Piece(plan.digest(), plan.start + place, len(some), (part,)))
        pieces[-1].write(folder / "parts")
    manifest = Manifest(
        plan=plan,
        versions={"milsim": "0"},
        rng="none: made up",
        kernels="none",
        pieces=tuple(pieces),
    )
    return Run(folder, manifest)


def _row(plan: Plan, index: int, draw: random.Random) -> Row:
    """One deal; ``hand``, ``ten`` and ``kept`` are masks of the declarer's cards."""
    number = draw.randrange(N_DEALS)
    deal = Deal.from_id(number)
    declarer = 0 if plan.mode == "declarer" else draw.randrange(3)
    hand = deal.hand_masks[declarer]
    ten = hand | deal.talon.mask
    gifts = draw.sample(cards_of(ten), 2)
    kept = ten & ~(1 << gifts[0]) & ~(1 << gifts[1])
    values = plan.rules.deal.marriage_values.by_suit()
    row: Row = dict.fromkeys(SCHEMA, 0)
    marriages = [0, 0, 0]
    for suit, name in enumerate(SUIT_NAMES):
        holders = [declarer] if suit in marriages_of(kept) else []
        holders += [
            s for s in range(3) if s != declarer and suit in marriages_of(deal.hand_masks[s])
        ]
        row[f"{name}_seat"], row[f"{name}_trick"] = NO_SEAT, 0
        if holders and draw.random() < 0.8:
            row[f"{name}_seat"] = holders[0]
            row[f"{name}_trick"] = draw.randint(2, 8)
            marriages[holders[0]] += values[suit]
    points = min(120, max(0, round(draw.gauss(50 + 12 * len(marriages_of(kept)), 20))))
    contract = draw.choice((100, 100, 120))
    row |= {
        "index": index,
        "deal": number,
        "declarer": declarer,
        "bid": 100,
        "contract": contract,
        "gift_left": gifts[0],
        "gift_right": gifts[1],
        f"points_{SEAT_NAMES[declarer]}": points,
        "declarer_points": points + marriages[declarer],
        "made": points + marriages[declarer] >= contract,
        "hand": hand,
        "ten": ten,
        "kept": kept,
    }
    for seat, name in enumerate(SEAT_NAMES):
        row[f"marriages_{name}"] = marriages[seat]
    return row


def _stored(row: Row) -> Row:
    return {name: row[name] for name in SCHEMA}


def with_scoring(rules: Rules, **fields: Any) -> Rules:
    """The rules with other fields in the table scoring."""
    return replace(rules, scoring=replace(rules.scoring, **fields))
