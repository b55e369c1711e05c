"""Made-up runs in which everything differs from deal to deal: bids, tricks, scores, concessions.

For tests that count a run once more, slowly and plainly, from the same rows. Scores are what the
reference makes of the points.
"""

from __future__ import annotations

import random
from pathlib import Path

from milsim.cards import SUIT_NAMES, cards_of
from milsim.deals import SEAT_NAMES
from milsim.reference.auction import highest_bid
from milsim.reference.scoring import concession_scores, deal_scores, is_made
from milsim.rules import Rules
from milsim.simulation.columns import NO_CARD, NO_SEAT
from milsim.store.run import Run
from tests.made_up_runs import Row, made_up_run, stored_run


def fuller_run(
    folder: Path, deals: int, *, mode: str = "declarer", rules: str | Rules = "mil", seed: int = 1
) -> tuple[Run, list[Row]]:
    """A run in a folder, in several parts, and its rows as plain dictionaries."""
    run, rows = made_up_run(folder / "first", deals, mode=mode, rules=rules, seed=seed)
    draw = random.Random(seed + 1)
    for row in rows:
        _bid(row, run.rules, draw, mode)
        _play(row, run.rules, draw)
    return stored_run(folder / "run", run.plan, rows), rows


def cap_after_talon(row: Row, rules: Rules) -> int:
    """The highest contract that may be named: by the cards kept or by all ten, as the rules say."""
    cards = row["ten"] if rules.talon.cap_basis == "hand10" else row["kept"]
    return max(highest_bid(cards_of(cards), rules), int(row["bid"]))


def _bid(row: Row, rules: Rules, draw: random.Random, mode: str) -> None:
    how = rules.auction
    row["bid"] = how.minimum
    if mode == "auction":
        top = highest_bid(cards_of(row["hand"]), rules)
        row["bid"] = draw.choice(range(how.minimum, min(top, how.minimum + 60) + 1, how.step))
    for seat, name in enumerate(SEAT_NAMES):
        beaten = draw.choice((0, 0, how.minimum)) if mode == "auction" else 0
        row[f"bid_{name}"] = row["bid"] if seat == row["declarer"] else beaten
    last = cap_after_talon(row, rules) if rules.talon.raise_contract else row["bid"]
    row["contract"] = draw.choice(range(row["bid"], min(last, row["bid"] + 40) + 1, how.step))
    row["dark"] = how.dark and draw.random() < 0.2
    row["conceded"] = rules.talon.concede != "off" and draw.random() < 0.1


def _play(row: Row, rules: Rules, draw: random.Random) -> None:
    own = row["declarer"]
    if row["conceded"]:
        row |= {"contract": row["bid"], "gift_left": NO_CARD, "gift_right": NO_CARD, "made": False}
        row |= dict.fromkeys([f"points_{name}" for name in SEAT_NAMES], 0)
        row |= dict.fromkeys([f"marriages_{name}" for name in SEAT_NAMES], 0)
        row |= {f"{suit}_seat": NO_SEAT for suit in SUIT_NAMES}
        row |= {f"{suit}_trick": 0 for suit in SUIT_NAMES} | {"declarer_points": 0}
        scores = concession_scores(own, row["bid"], rules, dark=row["dark"])
    else:
        points = [0, 0, 0]
        points[own] = row[f"points_{SEAT_NAMES[own]}"]
        points[(own + 1) % 3] = draw.randint(0, 120 - points[own])
        points[(own + 2) % 3] = 120 - sum(points)
        cuts = sorted(draw.choices(range(9), k=2))
        row |= dict(zip([f"points_{name}" for name in SEAT_NAMES], points, strict=True))
        for seat, tricks in enumerate((cuts[0], cuts[1] - cuts[0], 8 - cuts[1])):
            row[f"tricks_{SEAT_NAMES[seat]}"] = tricks
        sums = [points[s] + row[f"marriages_{name}"] for s, name in enumerate(SEAT_NAMES)]
        row["made"] = is_made(sums[own], row["contract"], rules)
        scores = deal_scores(sums, own, row["contract"], rules, dark=row["dark"])
    row |= dict(zip([f"score_{name}" for name in SEAT_NAMES], scores, strict=True))
