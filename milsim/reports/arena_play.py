"""The deals and matches of an arena, played at all tables, and what is kept of them: sums.

A deal is one observation, whatever the number of tables: what its tables share (the cards, the
draws of the policies) is not independent. Deals are played in steps whose size follows the clock,
so that Ctrl-C is answered soon; only sums are kept, so results depend on neither steps nor threads.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from milsim.reports.arena_seats import SEATS, Group
from milsim.reports.ratios import Products, Weights
from milsim.simulation import columns, match_columns
from milsim.simulation.engine import play
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.threads import checked_threads

FIRST_STEP = 16
LAST_STEP = 1 << 14
STEP_SECONDS = 0.5

NUMBERS = ("score", "declared", "declarer_score", "made", "contract", "declarer_points")
"""What is counted of each member in a deal, over all its places at all tables."""

Stop = Callable[[], bool]


@dataclass(slots=True)
class Account:
    """All deals of a group so far.

    ``products`` of the NUMBERS of each member, member by member; ``differences`` by pair: how often
    the first member had so many points more than the second, over all tables; ``other_cards``
    counts deals that were thrown in at some tables only, so that other cards were played there.
    """

    group: Group
    products: Products
    differences: dict[tuple[int, int], Counter[int]] = field(default_factory=dict)
    other_cards: int = 0

    @classmethod
    def empty(cls, group: Group) -> Account:
        """No deals yet."""
        products = Products.none(len(NUMBERS) * len(group.members))
        return cls(group, products, {pair: Counter() for pair in group.pairs})

    @property
    def deals(self) -> int:
        """How many deals are in it."""
        return self.products.n

    def add(self, tables: list[tuple[NDArray[np.uint64], NDArray[np.int16]]]) -> None:
        """Count deals that were played at every table of the group: their numbers and values."""
        numbers = np.zeros(
            (len(self.group.members), len(NUMBERS), len(tables[0][0])), dtype=np.int64
        )
        for seating, (_, values) in zip(self.group.tables, tables, strict=True):
            for seat, member in enumerate(seating):
                _note(numbers[self.group.members.index(member)], values, seat)
        places = {member: place for place, member in enumerate(self.group.members)}
        for a, b in self.group.pairs:
            apart = numbers[places[a], 0] - numbers[places[b], 0]
            found, counts = np.unique(apart, return_counts=True)
            self.differences[a, b].update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        dealt = np.array([deals for deals, _ in tables])
        self.other_cards += int(np.count_nonzero((dealt != dealt[0]).any(axis=0)))
        self.products += Products.of(numbers.reshape(-1, numbers.shape[2]))

    def weights(self, member: int, **amounts: int) -> Weights:
        """Weights of a member's NUMBERS by name; ``one`` is that of 1."""
        weights = np.zeros(len(self.products.sums), dtype=np.int64)
        start = 1 + len(NUMBERS) * self.group.members.index(member)
        for name, amount in amounts.items():
            weights[0 if name == "one" else start + NUMBERS.index(name)] += amount
        return weights


def _note(numbers: NDArray[np.int64], values: NDArray[np.int16], seat: int) -> None:
    """Add what the holder of a seat did to his NUMBERS, (numbers, deals)."""
    score = values[columns.SCORE_BY_SEAT + seat].astype(np.int64)
    declares = values[columns.DECLARER] == seat
    numbers[0] += score
    numbers[1] += declares
    for place, column in enumerate(
        (score, values[columns.MADE], values[columns.CONTRACT], values[columns.DECLARER_POINTS]), 2
    ):
        numbers[place] += np.where(declares, column, 0)


# -- deals ---------------------------------------------------------------------------------------


class Tables:
    """Plays ranges of deals at all tables of a group, table beside table in threads."""

    def __init__(self, plan: Plan, policies: tuple[str, ...], threads: int | None) -> None:
        """Ready for ranges of deals of the plan's seed; ``policies`` by number of competitor."""
        self.plan, self.policies = plan, policies
        self.threads = checked_threads(threads)
        self._ready: set[Group] = set()

    def played(
        self, group: Group, start: int, count: int
    ) -> list[tuple[NDArray[np.uint64], NDArray[np.int16]]]:
        """Deal numbers and values of these deals, table by table."""
        plans = []
        for table in group.tables:
            forehand, middlehand, rearhand = (self.policies[member] for member in table)
            by_seat = forehand, middlehand, rearhand
            plans.append(replace(self.plan, start=start, deals=count, policies=by_seat))
        if group not in self._ready:  # compile before the threads start, as engines do
            for plan in plans:
                _rows(replace(plan, deals=1))
            self._ready.add(group)
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(_rows, plans))


def _rows(plan: Plan) -> tuple[NDArray[np.uint64], NDArray[np.int16]]:
    chunks = list(play(plan, threads=1))
    return (
        np.concatenate([chunk.deals for chunk in chunks]),
        np.concatenate([chunk.values for chunk in chunks], axis=1),
    )


class Steps:
    """Cuts ranges into steps that take about STEP_SECONDS each."""

    def __init__(self) -> None:
        """Begin with small steps."""
        self.size = FIRST_STEP

    def over(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges (start, count) from start to end; the next one is asked for when one is done."""
        while start < end:
            count = min(self.size, end - start)
            began = time.monotonic()
            yield start, count
            seconds = time.monotonic() - began
            if seconds > 2 * STEP_SECONDS:
                self.size = max(1, self.size // 2)
            elif seconds < STEP_SECONDS and count == self.size:
                self.size = min(2 * self.size, LAST_STEP)
            start += count


# -- matches -------------------------------------------------------------------------------------

MATCH_NUMBERS = ("won", "final")
"""What is counted of each member in a match, over all its places at all tables."""


def play_matches_of(
    group: Group,
    plan: MatchPlan,
    policies: tuple[str, ...],
    *,
    threads: int | None,
    stop: Stop,
    told: Callable[[int], None],
) -> Products:
    """The MATCH_NUMBERS of each member in the matches of a plan, played at every table."""
    found = Products.none(len(MATCH_NUMBERS) * len(group.members))
    for start, count in Steps().over(plan.start, plan.start + plan.matches):
        if stop():
            break
        numbers = np.zeros((len(group.members), len(MATCH_NUMBERS), count), dtype=np.int64)
        for table in group.tables:
            seated = replace(
                plan,
                start=start,
                matches=count,
                policies=tuple(policies[member] for member in table),
            )
            chunks = play_match_plan(seated, threads=threads)
            results = np.concatenate([chunk.results for chunk in chunks], axis=1)
            for player, member in enumerate(table):
                place = group.members.index(member)
                numbers[place, 0] += results[match_columns.WINNER] == player
                numbers[place, 1] += results[match_columns.FINAL_BY_PLAYER + player]
        found += Products.of(numbers.reshape(-1, count))
        told(count)
    return found


__all__ = [
    "MATCH_NUMBERS",
    "NUMBERS",
    "SEATS",
    "Account",
    "Steps",
    "Tables",
    "play_matches_of",
]
