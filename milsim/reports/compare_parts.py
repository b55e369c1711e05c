"""What two rule sets do to the same deals and matches: played twice, and counted pair by pair.

Everything is played block by block, first under ``a`` and then under ``b``, and only sums are kept:
memory does not grow with the number of deals, and sums do not depend on threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from milsim.cards import N_SUITS, SUIT_NAMES
from milsim.dealing import masks_of_deals, sample_deals
from milsim.reference.scoring import is_made
from milsim.reports.compare_pairs import Pairs, Unit
from milsim.reports.counterfactual import REPLAYS, without_value
from milsim.rules import Rules
from milsim.simulation import columns, match_columns
from milsim.simulation.engine import chunk_ranges, play
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.simulation.replay import replay_declarer_points
from milsim.where import suit_set

BLOCK_DEALS = 1 << 16
BLOCK_MATCHES = 1 << 12
BLOCK_SOLVED = 1 << 6

POINTS_GRID = (100, 120)
"""Declarer points that are asked for, whatever the minimum."""

MARRIAGES: tuple[tuple[str, int], ...] = (
    *((name, 1 << suit) for suit, name in enumerate(SUIT_NAMES)),
    ("any", (1 << N_SUITS) - 1),
)
"""The rows of the marriages: a name, and the mask of suits that are meant (bit i = suit i)."""

_BIDS_BY_SEAT = tuple(columns.BID_BY_SEAT + seat for seat in range(3))

Report = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Both:
    """Two rule sets, and how the same deals are played under each."""

    a: Rules
    b: Rules
    policy: str
    seed: int
    threads: int | None = None
    progress: Report | None = None

    def told(self, what: str, done: int, total: int) -> None:
        """Report progress, if anybody wants to know."""
        if self.progress is not None:
            self.progress(what, done, total)

    @property
    def rules(self) -> tuple[Rules, Rules]:
        """Both rule sets."""
        return self.a, self.b


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive deals under one rule set: deal numbers, and the columns of the simulation."""

    plan: Plan
    deals: NDArray[np.uint64]
    values: NDArray[np.int16]

    def __getitem__(self, column: int) -> NDArray[np.int16]:
        """One column of the deals."""
        values: NDArray[np.int16] = self.values[column]
        return values


@dataclass(frozen=True, slots=True)
class Tally:
    """Pairs by the name of a quantity, its unit, and how many deals are of a certain kind."""

    pairs: dict[str, Pairs] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, unit: Unit, a: NDArray[np.generic], b: NDArray[np.generic]) -> None:
        """Count more pairs of a quantity."""
        self.pairs[name] = self.pairs.get(name, Pairs()) + Pairs.of(a, b)
        self.units[name] = unit


# -- deals ---------------------------------------------------------------------------------------


def declarer_and_marriages(both: Both, deals: int) -> tuple[Tally, Tally]:
    """Every deal with forehand as declarer at the minimum; and what its marriages are worth.

    A marriage is worth what ``report marriages`` says: the declarer points lost when the deal is
    played anew with the marriage worth nothing, over the first REPLAYS deals in which he holds it
    in his ten cards. Here that is asked twice of the same deals.
    """
    points, marriages = Tally(), Tally()
    left = dict.fromkeys((mask for _, mask in MARRIAGES), REPLAYS)
    for a, b in _blocks(both, "declarer", "forehand declares", deals):
        add_points(points, a[columns.DECLARER_POINTS], b[columns.DECLARER_POINTS])
        if not all(map(_asks_hundred, both.rules)):
            points.add("makes the minimum", "share", _makes_minimum(a), _makes_minimum(b))
        dealt = masks_of_deals(a.deals)
        held = suit_set("marriages", dealt.forehand | dealt.talon)
        for name, mask in MARRIAGES:
            rows = np.flatnonzero(held & mask)[: left[mask]]
            left[mask] -= len(rows)
            marriages.add(name, "points", *(_worth(both, side, rows, mask) for side in (a, b)))
    return points, marriages


def auction(both: Both, deals: int) -> Tally:
    """Whole deals with bidding, where the dealt cards are the same under both rule sets.

    The tally also counts deals ``left out`` (thrown in under one of them only), and those in which
    the ``auctions differ`` and ``another declarer`` plays.
    """
    tally = Tally()
    concessions = any(rules.talon.concede != "off" for rules in both.rules)
    for a, b in _blocks(both, "auction", "with bidding", deals):
        same = a.deals == b.deals
        tally.kinds["left out"] += int(np.count_nonzero(~same))
        apart = np.zeros(len(same), np.bool_)
        for column in (columns.DECLARER, columns.BID, columns.DARK, *_BIDS_BY_SEAT):
            apart |= a[column] != b[column]
        tally.kinds["auctions differ"] += int(np.count_nonzero(apart & same))
        tally.kinds["another declarer"] += int(
            np.count_nonzero((a[columns.DECLARER] != b[columns.DECLARER]) & same)
        )
        tally.add("contract made", "share", a[columns.MADE][same], b[columns.MADE][same])
        tally.add("winning bid", "points", a[columns.BID][same], b[columns.BID][same])
        tally.add("contract", "points", a[columns.CONTRACT][same], b[columns.CONTRACT][same])
        tally.add("declarer's score", "points", _own_score(a)[same], _own_score(b)[same])
        if concessions:
            tally.add("conceded", "share", a[columns.CONCEDED][same], b[columns.CONCEDED][same])
    return tally


def double_dummy(both: Both, deals: int) -> Tally:
    """The double-dummy value of the first deals, forehand declaring with the best exchange."""
    from milsim.solver import best_exchange_batch

    tally, done = Tally(), 0
    for start, count in chunk_ranges(0, deals, BLOCK_SOLVED):
        numbers = sample_deals(count, seed=both.seed, start=start)
        add_points(
            tally,
            *(
                best_exchange_batch(numbers, rules=rules, threads=both.threads).points
                for rules in both.rules
            ),
        )
        done += count
        both.told("double dummy", done, deals)
    return tally


def add_points(tally: Tally, a: NDArray[np.int16], b: NDArray[np.int16]) -> None:
    """Count declarer points, and how often they reach each of POINTS_GRID."""
    tally.add("declarer points", "points", a, b)
    for points in POINTS_GRID:
        tally.add(f"at least {points}", "share", a >= points, b >= points)


# -- matches -------------------------------------------------------------------------------------


def matches(both: Both, number: int, policy: str) -> Tally:
    """Match *m* of the seed under both rule sets: its length, whether anybody won, and how high.

    ``policy`` is one name, or one for each player with commas between.
    """
    tally, done = Tally(), 0
    plans = [
        MatchPlan.make(matches=number, seed=both.seed, rules=rules, policy=policy)
        for rules in both.rules
    ]
    for start, count in chunk_ranges(0, number, BLOCK_MATCHES):
        a, b = (
            np.concatenate(
                [
                    chunk.results
                    for chunk in play_match_plan(
                        replace(plan, start=start, matches=count), threads=both.threads
                    )
                ],
                axis=1,
            )
            for plan in plans
        )
        tally.add("deals in a match", "deals", a[match_columns.DEALS], b[match_columns.DEALS])
        won = [side[match_columns.WINNER] != match_columns.NO_WINNER for side in (a, b)]
        tally.add("ended without a winner", "share", ~won[0], ~won[1])
        decided = won[0] & won[1]
        tally.add(
            "winner's score", "points", *(_winners_score(side[:, decided]) for side in (a, b))
        )
        done += count
        both.told("matches", done, number)
    return tally


def _winners_score(results: NDArray[np.int32]) -> NDArray[np.int32]:
    winner = results[match_columns.WINNER] + match_columns.FINAL_BY_PLAYER
    scores: NDArray[np.int32] = np.take_along_axis(results, winner[np.newaxis], axis=0)[0]
    return scores


# -- playing -------------------------------------------------------------------------------------


def _plan(both: Both, rules: Rules, mode: str, deals: int) -> Plan:
    return Plan.make(deals=deals, seed=both.seed, mode=mode, rules=rules, policy=both.policy)


def _blocks(both: Both, mode: str, what: str, deals: int) -> Iterator[tuple[Rows, Rows]]:
    """The same deals under both rule sets, a block at a time."""
    plans = [_plan(both, rules, mode, deals) for rules in both.rules]
    done = 0
    for start, count in chunk_ranges(0, deals, BLOCK_DEALS):
        a, b = (_played(replace(plan, start=start, deals=count), both.threads) for plan in plans)
        yield a, b
        done += count
        both.told(what, done, deals)


def _played(plan: Plan, threads: int | None) -> Rows:
    chunks = list(play(plan, threads=threads))
    return Rows(
        plan,
        np.concatenate([chunk.deals for chunk in chunks]),
        np.concatenate([chunk.values for chunk in chunks], axis=1),
    )


def _worth(both: Both, played: Rows, rows: NDArray[np.intp], mask: int) -> NDArray[np.int64]:
    """Declarer points lost in these rows when the marriages of a mask are worth nothing."""
    before = played[columns.DECLARER_POINTS][rows].astype(np.int64)
    after = replay_declarer_points(
        played.plan,
        rows.astype(np.uint64) + np.uint64(played.plan.start),
        played.deals[rows],
        played[columns.REDEALS][rows].astype(np.uint16),
        played[columns.DECLARER][rows].astype(np.uint8),
        bid=played[columns.BID][rows].astype(np.uint16),
        contract=played[columns.CONTRACT][rows].astype(np.uint16),
        dark=played[columns.DARK][rows].astype(np.bool_),
        rules=without_value(played.plan.rules, mask),
        threads=both.threads,
    )
    return before - after


def _own_score(rows: Rows) -> NDArray[np.int16]:
    """The deal score of the declarer, whatever his seat."""
    seats = rows.values[columns.SCORE_BY_SEAT : columns.SCORE_BY_SEAT + 3]
    declarer = rows[columns.DECLARER].astype(np.intp)
    scores: NDArray[np.int16] = np.take_along_axis(seats, declarer[np.newaxis], axis=0)[0]
    return scores


def _asks_hundred(rules: Rules) -> bool:
    """Whether the minimum is made with 100 points, which are asked for anyway."""
    return rules.auction.minimum == POINTS_GRID[0] and rules.scoring.made_test == "raw"


def _makes_minimum(rows: Rows) -> NDArray[np.bool_]:
    """Whether the points of each deal would make the minimum of their own rules."""
    rules = rows.plan.rules
    points, place = np.unique(rows[columns.DECLARER_POINTS], return_inverse=True)
    made = [is_made(value, rules.auction.minimum, rules) for value in points.tolist()]
    return np.array(made, dtype=np.bool_)[place]
