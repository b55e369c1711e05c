"""Play what plan.toml asks for, piece by piece, into out/bidding/; what is there is not redone.

    python analysis/bidding/collect.py [hands|deals]

`hands`: random hands, each declared at the minimum with every talon, and each at middlehand and
rearhand with its holder passing whenever he may; own scores and those of the two others.
`deals`: whole deals with auction, in which one seat bids by a list (lists.py) beside two of
`expert`. All of them play `expert`. The second needs the first for one of its lists.
"""

from __future__ import annotations

import io
import sys
import time
import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from lists import bidders
from table_play import Bidding, Game
from worth import hand_rows, others_of

from milsim.dealing.tables import hand_masks_table
from milsim.files import write_atomically

HERE = Path(__file__).parent
PLAN = tomllib.loads((HERE / "plan.toml").read_text())
WORK = HERE.parents[1] / "out" / "bidding"
TALONS = np.array(list(combinations(range(17), 3)))
RESTS = np.array([np.setdiff1d(np.arange(17), talon) for talon in TALONS])
CONTRACTS = np.arange(100, 400, 10)
BASE = "expert"
FIGURES = ("own", "others", "contract", "declarer", "bid", "made")
"""Of a deal: own score, those of both others together, who declares what, after which bid."""


# -- hands ---------------------------------------------------------------------------------------


def chosen_hands(game: Game) -> np.ndarray:
    """Ranks of random hands, all different, of those that never ask for a new deal."""
    draw = np.random.Generator(np.random.Philox(key=[PLAN["seed"], 0]))
    masks = hand_masks_table()
    ranks = draw.permutation(len(masks))[: PLAN["hands"]["count"] * 2]
    fits = [rank for rank in ranks.tolist() if game.plays_on(int(masks[rank]))]
    return np.array(fits[: PLAN["hands"]["count"]])


def masks_of(cards: np.ndarray) -> list[int]:
    """The masks of rows of cards."""
    found: list[int] = (1 << cards.astype(np.int64)).sum(axis=1).tolist()
    return found


def played_hand(game: Game, rank: int) -> dict[str, object]:
    """One hand: contracts made, the others' scores, and own and others' scores when it passes."""
    draw = np.random.Generator(np.random.Philox(key=[PLAN["seed"], 1 + rank]))
    hand = int(hand_masks_table()[rank])
    unseen = np.array([card for card in range(24) if not hand >> card & 1])
    talons = np.repeat(TALONS, PLAN["hands"]["rounds"], axis=0)
    mixed = unseen[draw.permuted(np.repeat(RESTS, PLAN["hands"]["rounds"], axis=0), axis=1)]
    points, others = [], []
    for dealt in zip(masks_of(mixed[:, :7]), masks_of(mixed[:, 7:]), masks_of(unseen[talons]),
                     strict=True):  # fmt: skip
        points.append(game.as_dealt((hand, *dealt)))
        others.append(sum(game.scores()[1:]) / 2)
    passed = []
    while len(passed) < PLAN["hands"]["passes"]:
        seat = 1 + len(passed) % 2
        mixed = draw.permutation(unseen)
        left, right, talon = masks_of(mixed[:14].reshape(2, 7)) + masks_of(mixed[None, 14:])
        dealt = (right, hand, left) if seat == 1 else (left, right, hand)
        if game.passing((*dealt, talon), seat):
            own = game.scores()[seat]
            passed.append((own, (sum(game.scores()) - own) / 2))
    made = (np.array(points)[:, None] >= CONTRACTS).sum(axis=0)
    return {
        "points": np.mean(points),
        "made": made,
        "declaring": len(points),
        "others": np.mean(others),
        "passed": np.array(passed, np.float32),
    }


def piece_of_hands(game: Game, start: int) -> dict[str, np.ndarray]:
    ranks = chosen_hands(game)[start : start + PLAN["hands"]["piece"]]
    rows = [played_hand(game, rank) for rank in ranks.tolist()]
    return {"rank": ranks, **{key: np.array([row[key] for row in rows]) for key in rows[0]}}


# -- whole deals ---------------------------------------------------------------------------------


@cache
def lists_of(rules: str) -> dict[str, np.ndarray]:
    """All bidders; what the others score comes from the hands played before."""
    hands = pieces("hands", rules)
    rows = hand_rows(hands, CONTRACTS)
    others = others_of(rules, hands["rank"], rows["play others"], rows["pass others"])
    return bidders(rules, {"declaring": others.declaring, "passing": others.passing})


def piece_of_deals(game: Game, start: int) -> dict[str, np.ndarray]:
    """By bidder (the first is expert itself): int16 (seats, deals, FIGURES)."""
    lists = lists_of(game.rules.name)
    count = min(PLAN["deals"]["piece"], PLAN["deals"]["count"] - start)
    found = {name: np.zeros((3, count, len(FIGURES)), np.int16) for name in (BASE, *lists)}
    for i in range(count):
        deal = Bidding(game, PLAN["seed"], start + i)
        for name, up_to in ((BASE, None), *lists.items()):
            for seat in range(3):
                *scores, contract, declarer, made = deal.outcome(seat, up_to)
                others, won = sum(scores) - scores[seat], scores[declarer] > 0
                found[name][seat, i] = scores[seat], others, contract, declarer, made, won
    return found


def pieces(what: str, rules: str) -> dict[str, np.ndarray]:
    """All that was collected, joined."""
    paths = sorted((WORK / rules / what).glob("*.npz"))
    if not paths:
        raise SystemExit(f"{what} of {rules}: nothing played yet; run collect.py first")
    parts = [dict(np.load(path)) for path in paths]
    axis = 1 if what == "deals" else 0
    return {key: np.concatenate([part[key] for part in parts], axis=axis) for key in parts[0]}


def main() -> None:
    wanted = sys.argv[1:] or ["hands", "deals"]
    for rules in PLAN["rules"]:
        game = Game(rules)
        for what, one in (("hands", piece_of_hands), ("deals", piece_of_deals)):
            if what not in wanted:
                continue
            begin, done = time.monotonic(), 0
            for start in range(0, PLAN[what]["count"], PLAN[what]["piece"]):
                path = WORK / rules / what / f"{start:06}.npz"
                if path.exists():
                    continue
                buffer = io.BytesIO()
                np.savez_compressed(buffer, **one(game, start))
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, buffer.getvalue())
                done += PLAN[what]["piece"]
            if done:
                seconds = time.monotonic() - begin
                print(f"{rules}: {done} {what}, {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
