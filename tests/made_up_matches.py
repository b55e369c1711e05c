"""Runs of matches with made-up deals, scored by the reference: for tests of what reads such runs.

The cards are right; who declares, what is bid and who takes how many points are drawn at random,
within what the rules can score. So a test can count everything once more from the same rows, and
sheets of every preset show what its rules do.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from milsim.cards import NINE, RANK_MASKS, SUIT_NAMES, cards_of
from milsim.deals import N_DEALS, SEAT_NAMES, Deal
from milsim.errors import MilsimError
from milsim.reference.auction import highest_bid
from milsim.reference.match_scoring import redealt, score_match_deal
from milsim.reference.match_state import Event, MatchState
from milsim.rules import Rules, load
from milsim.simulation.columns import NO_CARD, NO_SEAT
from milsim.simulation.match_columns import DEALS_PER_MATCH, NOT_ON_BARREL
from milsim.simulation.match_plan import MatchPlan
from milsim.store.manifest import MATCHES_FOLDER, PARTS_FOLDER, Manifest
from milsim.store.match_run import MatchRun
from milsim.store.match_schema import deal_schema, match_schema
from milsim.store.parts import write_part
from milsim.store.pieces import Piece

Row = dict[str, Any]


def made_up_matches(
    folder: Path,
    matches: int,
    *,
    rules: str | Rules = "mil",
    policy: str = "greedy",
    seed: int = 1,
    start: int = 0,
    planned: int | None = None,
    part_matches: int = 7,
    skill: float = 0.75,
) -> tuple[MatchRun, list[Row], list[Row]]:
    """A run in a folder, in several parts, and its rows of deals and of matches."""
    plan = MatchPlan.make(
        matches=planned or matches, seed=seed, start=start, rules=rules, policy=policy
    )
    deals: list[Row] = []
    rows: list[Row] = []
    for match in range(start, start + matches):
        played, row = _match(plan, match, random.Random(f"{seed}/{match}"), skill)
        deals += played
        rows.append(row)
    manifest: Manifest[MatchPlan] = Manifest(
        plan=plan,
        versions={"milsim": "0"},
        rng="none: made up",
        kernels="none",
    )
    players = plan.rules.deal.players
    for name in (PARTS_FOLDER, MATCHES_FOLDER):
        (folder / name).mkdir(parents=True)
    for place in range(0, matches, part_matches):
        some = rows[place : place + part_matches]
        known = {row["match"] for row in some}
        inside = [row for row in deals if row["match"] in known]
        parts = (
            write_part(
                folder / PARTS_FOLDER,
                start + place,
                pl.DataFrame(inside, schema=deal_schema(players)),
            ),
            write_part(
                folder / MATCHES_FOLDER,
                start + place,
                pl.DataFrame(some, schema=match_schema(players)),
            ),
        )
        piece = Piece(plan.digest(), start + place, len(some), parts)
        piece.write(folder / PARTS_FOLDER)
        manifest = replace(manifest, pieces=(*manifest.pieces, piece))
    manifest.write(folder)
    return MatchRun(folder, manifest), deals, rows


def _match(plan: MatchPlan, match: int, draw: random.Random, skill: float) -> tuple[list[Row], Row]:
    rules, players = plan.rules, plan.rules.deal.players
    state = MatchState.start(rules, (match - 1) % players)
    deals: list[Row] = []
    row: Row = dict.fromkeys(match_schema(players), 0)
    row |= {"match": match, "first_dealer": state.dealer + 1}
    while not state.is_over(rules):
        redeals = draw.choice((0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2))
        for _ in range(redeals):
            state = redealt(rules, state, rules.deal.redeal_dealer == "next")
        deal, after = _deal(rules, state, draw, skill)
        on_barrel = state.on_barrel
        deal |= {
            "match": match,
            "number": after.deals,
            "index": match * DEALS_PER_MATCH + after.deals - 1,
            "dealer": state.dealer + 1,
            "redeals": redeals,
        }
        for player in range(players):
            barrel = after.barrel_deals[player] if after.on_barrel[player] else NOT_ON_BARREL
            deal |= {
                f"total_{player + 1}": after.scores[player],
                f"events_{player + 1}": int(after.events[player]),
                f"barrel_{player + 1}": barrel,
            }
        for name, event in (
            ("mounts", Event.MOUNTED),
            ("falls", Event.FELL),
            ("bolt_penalties", Event.BOLT_PENALTY),
            ("dumps", Event.DUMPED),
        ):
            row[name] += sum(event in events for events in after.events)
        row["locked_deals"] += any(Event.LOCKED in events for events in after.events)
        row["concessions"] += deal["conceded"]
        row["dark_deals"] += deal["dark"]
        row["redeals"] += redeals
        deals.append(deal)
        state = after
        if state.winner is not None:
            row["from_barrel"] = on_barrel[state.winner]
            row["by_jump"] = Event.JUMPED in state.events[state.winner]
    row |= {
        "deals": state.deals,
        "winner": 0 if state.winner is None else state.winner + 1,
        "from_barrel": bool(row["from_barrel"]),
        "by_jump": bool(row["by_jump"]),
    }
    row |= {f"final_{player + 1}": state.scores[player] for player in range(players)}
    return deals, row


def _deal(
    rules: Rules, state: MatchState, draw: random.Random, skill: float
) -> tuple[Row, MatchState]:
    """A deal that these rules can score in this state: drawn again until it is one."""
    while True:
        row = _drawn(rules, state, draw, skill)
        deal = Deal.from_id(row["deal"])
        nines = [seat for seat, hand in enumerate(deal.hand_masks) if not _NINES & ~hand]
        conceded = row["conceded"]
        points = [row[f"points_{seat}"] + row[f"marriages_{seat}"] for seat in SEAT_NAMES]
        tricks = [row[f"tricks_{seat}"] for seat in SEAT_NAMES]
        try:
            after = score_match_deal(
                rules,
                state,
                declarer=state.player_at(row["declarer"]),
                contract=row["contract"],
                points=None if conceded else _by_player(state, points),
                tricks=None if conceded else _by_player(state, tricks),
                conceded=conceded,
                dark=row["dark"],
                four_nines=state.player_at(nines[0]) if nines else None,
                talon=deal.talon,
            )
        except MilsimError:
            continue
        row |= _scores(rules, state, row, deal, nines)
        return row, after


_NINES = RANK_MASKS[NINE]


def _by_player(state: MatchState, by_seat: list[int]) -> list[int]:
    found = [0] * state.players
    for seat, value in enumerate(by_seat):
        found[state.player_at(seat)] = value
    return found


def _scores(rules: Rules, state: MatchState, row: Row, deal: Deal, nines: list[int]) -> Row:
    """The deal scores, by seat, doubled where they count double."""
    from milsim.reference.match_scoring import talon_score
    from milsim.reference.scoring import concession_scores, deal_scores

    how: dict[str, Any] = {
        "four_nines": nines[0] if nines else None,
        "dark": row["dark"],
        "golden": state.is_golden(rules),
    }
    if row["conceded"]:
        earlier = state.concessions[state.player_at(row["declarer"])]
        scores = concession_scores(row["declarer"], row["bid"], rules, earlier=earlier, **how)
    else:
        points = [row[f"points_{seat}"] + row[f"marriages_{seat}"] for seat in SEAT_NAMES]
        scores = deal_scores(points, row["declarer"], row["contract"], rules, **how)
    found = {f"score_{seat}": scores[place] for place, seat in enumerate(SEAT_NAMES)}
    if state.sitter is not None:
        double = 2 if how["golden"] and rules.match.golden == "forehand_plays_120" else 1
        found["score_sitter"] = double * talon_score(deal.talon, rules)
    return found


def _drawn(rules: Rules, state: MatchState, draw: random.Random, skill: float) -> Row:
    number = draw.randrange(N_DEALS)
    deal = Deal.from_id(number)
    row: Row = dict.fromkeys(deal_schema(state.players), 0)
    step = rules.auction.step
    lowest = max(rules.auction.minimum, 120 if state.is_golden(rules) else 0)
    if state.is_golden(rules) and rules.match.golden == "forehand_plays_120":
        declarer, bid = 0, 120
    else:
        declarer = draw.randrange(3)
        bid = min(lowest + step * int(draw.expovariate(0.5)), highest_bid(range(24), rules))
    dark = rules.auction.dark and declarer == 0 and draw.random() < 0.3
    if dark:
        bid = 120
    conceded = rules.talon.concede != "off" and draw.random() < 0.1
    ten = deal.hand_masks[declarer] | deal.talon.mask
    gifts = [NO_CARD, NO_CARD] if conceded else draw.sample(cards_of(ten), 2)
    contract = bid if conceded else bid + step * draw.choice((0, 0, 0, 1, 2))
    row |= {
        "deal": number,
        "declarer": declarer,
        "bid": bid,
        "contract": contract,
        "gift_left": gifts[0],
        "gift_right": gifts[1],
        "conceded": conceded,
        "dark": dark,
        "made": False,
    }
    # Who did not declare: overbid by the declarer, or passed without a bid.
    for seat, name in enumerate(SEAT_NAMES):
        lower = draw.choice((0, 0, max(rules.auction.minimum, bid - step)))
        row[f"bid_{name}"] = bid if seat == declarer else min(lower, bid)
        row[f"points_{name}"] = row[f"marriages_{name}"] = row[f"tricks_{name}"] = 0
    for name in SUIT_NAMES:
        row[f"{name}_seat"], row[f"{name}_trick"] = NO_SEAT, 0
    if conceded:
        return row
    wins = draw.random() < skill
    shares = [5.0 if wins else 1.5 if seat == declarer else 1.0 for seat in range(3)]
    shares = [shares[seat] if seat == declarer else 1.0 for seat in range(3)]
    tricks = [0, 0, 0]
    for _ in range(8):
        tricks[draw.choices(range(3), shares)[0]] += 1
    takers = [seat for seat in range(3) if tricks[seat]]
    points = [0, 0, 0]
    for value in [11, 10, 4, 3, 2] * 4:
        points[draw.choices(takers, [shares[seat] for seat in takers])[0]] += value
    values = rules.deal.marriage_values.by_suit()
    marriages = [0, 0, 0]
    for suit, name in enumerate(SUIT_NAMES):
        if draw.random() < (0.35 if wins else 0.1):
            seat = declarer if declarer in takers and draw.random() < 0.8 else draw.choice(takers)
            marriages[seat] += values[suit]
            row[f"{name}_seat"], row[f"{name}_trick"] = seat, draw.randint(2, 8)
    for seat, name in enumerate(SEAT_NAMES):
        row[f"points_{name}"] = points[seat]
        row[f"marriages_{name}"] = marriages[seat]
        row[f"tricks_{name}"] = tricks[seat]
    row["declarer_points"] = points[declarer] + marriages[declarer]
    from milsim.reference.scoring import is_made

    row["made"] = is_made(row["declarer_points"], contract, rules)
    return row


def with_match(rules: str, **fields: Any) -> Rules:
    """A preset with other fields in the table match."""
    chosen = load(rules)
    return replace(chosen, match=replace(chosen.match, **fields))
