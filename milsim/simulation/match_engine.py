"""Play the matches of a plan in threads, chunk by chunk, and hand the chunks out in order.

Results depend on the plan alone: neither on the threads nor on the size of the chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milsim.dealing import DealSpace, kernel_ranks
from milsim.dealing.sampling import checked_seed
from milsim.policies.expert_parameters import parameters_for
from milsim.policies.seen import TableRules
from milsim.rules import packed
from milsim.simulation.check import match_thrown_in_for_ever
from milsim.simulation.columns import N_COLUMNS
from milsim.simulation.engine import chunk_ranges, in_order, seats_of
from milsim.simulation.match_columns import (
    DEALS,
    DEALS_PER_MATCH,
    MAX_PLAYERS,
    N_MATCH_COLUMNS,
    N_MATCH_DEAL_COLUMNS,
    NUMBER,
)
from milsim.simulation.match_kernel import (
    MATCHES_DONE,
    NOT_STUCK,
    PROGRESS_SIZE,
    ROWS_DONE,
    STUCK_INDEX,
    play_matches,
)
from milsim.simulation.match_plan import MatchPlan
from milsim.threads import checked_threads

CHUNK_MATCHES = 1 << 9
"""Matches a chunk: some 10,000 deals."""
CHUNK_DRIVEN = 1
"""Where some policy is not all kernels."""

_ROWS_PER_MATCH = 24
# Room for the rows of a chunk: a guess, as matches end when they end; the kernel goes on from where
# it ran out.


@dataclass(frozen=True, slots=True)
class MatchChunk:
    """Consecutive matches, and the deals that counted in them, in their order.

    ``results`` int32 (N_MATCH_COLUMNS, matches); by deal: ``deals`` uint64 (rows,), deal numbers,
    ``values`` int16 (N_COLUMNS, rows) and ``deal_values`` int32 (N_MATCH_DEAL_COLUMNS, rows).
    """

    start: int
    results: NDArray[np.int32]
    deals: NDArray[np.uint64]
    values: NDArray[np.int16]
    deal_values: NDArray[np.int32]

    @property
    def matches(self) -> int:
        """Matches in the chunk."""
        return int(self.results.shape[1])

    @property
    def rows(self) -> int:
        """Deals in the chunk."""
        return len(self.deals)

    @property
    def match(self) -> NDArray[np.uint64]:
        """The match, from 0, of each deal: uint64 (rows,)."""
        numbers = np.arange(self.start, self.start + self.matches, dtype=np.uint64)
        return np.repeat(numbers, self.results[DEALS])

    @property
    def index(self) -> NDArray[np.uint64]:
        """The deal index of each deal: uint64 (rows,)."""
        number = self.deal_values[NUMBER].astype(np.uint64)
        indices: NDArray[np.uint64] = self.match * np.uint64(DEALS_PER_MATCH) + number
        return indices - np.uint64(1)


class MatchPlayer:
    """A plan made ready for the kernel; called with a range of matches, it plays them.

    ``size`` is how many matches go well together.
    """

    def __init__(self, plan: MatchPlan) -> None:
        """Pack rules and parameters; raises PolicyError and RulesError."""
        self.plan = plan
        self.seed = checked_seed(plan.seed)
        self.rules = packed(plan.rules)
        self.numbers, self.players = seats_of(plan.policies)
        numbers = self.numbers or []
        numbers = numbers + [0] * (MAX_PLAYERS - len(numbers))
        self.policies = np.array(numbers, dtype=np.int64)
        self.parameters = parameters_for(plan.rules, numbers)
        self.by = TableRules.of(plan.rules)
        self.space = DealSpace().packed()
        self.ranks = kernel_ranks()
        self.size = CHUNK_MATCHES if self.numbers is not None else CHUNK_DRIVEN

    def __call__(self, start: int, count: int) -> MatchChunk:
        """The matches of a range."""
        max_deals = self.plan.rules.match.max_deals
        room = min(count * max_deals, count * _ROWS_PER_MATCH + max_deals)
        results: list[NDArray[np.int32]] = []
        deals: list[NDArray[np.int64]] = []
        values: list[NDArray[np.int16]] = []
        deal_values: list[NDArray[np.int32]] = []
        done = 0
        while done < count:
            # Fresh arrays, not slices: another layout would compile another kernel.
            matches = np.empty((N_MATCH_COLUMNS, count - done), dtype=np.int32)
            numbers = np.empty(room, dtype=np.int64)
            out = np.empty((N_COLUMNS, room), dtype=np.int16)
            rows = np.empty((N_MATCH_DEAL_COLUMNS, room), dtype=np.int32)
            progress = np.empty(PROGRESS_SIZE, dtype=np.int64)
            space, seed, first = self.space, self.seed, start + done
            if self.numbers is not None:
                play_matches(
                    seed,
                    first,
                    self.parameters,
                    self.rules,
                    self.policies,
                    space.header,
                    space.hands,
                    self.ranks,
                    numbers,
                    out,
                    rows,
                    matches,
                    progress,
                )
            else:
                # Only here: its kernels are many, and seldom needed.
                from milsim.simulation.driver_runs import drive_matches

                drive_matches(
                    self.players,
                    self.plan.policies,
                    self.by,
                    seed,
                    first,
                    space.header,
                    space.hands,
                    self.ranks,
                    numbers,
                    out,
                    rows,
                    matches,
                    progress,
                )
            if progress[STUCK_INDEX] != NOT_STUCK:
                raise match_thrown_in_for_ever(self.plan, int(progress[STUCK_INDEX]))
            filled, ended = int(progress[ROWS_DONE]), int(progress[MATCHES_DONE])
            results.append(matches[:, :ended])
            deals.append(numbers[:filled])
            values.append(out[:, :filled])
            deal_values.append(rows[:, :filled])
            done += ended
        # One copy of each, so that the room that was not needed is given back.
        return MatchChunk(
            start,
            np.concatenate(results, axis=1),
            np.concatenate(deals).view(np.uint64),
            np.concatenate(values, axis=1),
            np.concatenate(deal_values, axis=1),
        )

    def warm_up(self) -> None:
        """Compile before the threads start: concurrent first compiles can crash numba."""
        self(self.plan.start, 1)


def play_match_plan(
    plan: MatchPlan,
    *,
    threads: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    chunk: int = CHUNK_MATCHES,
) -> Iterator[MatchChunk]:
    """The chunks of a plan in the order of the matches; they are played as they are taken.

    The kernels are compiled before this returns. ``stop`` is asked before each new chunk is handed
    to a thread; chunks under way are finished and handed out. ``chunk`` is how many matches go
    together. Raises :class:`~milsim.errors.RulesError` for rules whose redeal rights leave no deal
    to play.
    """
    n_threads = checked_threads(threads)
    player = MatchPlayer(plan)
    player.warm_up()
    chunk = min(chunk, player.size)
    return in_order(player, chunk_ranges(plan.start, plan.matches, chunk), n_threads, stop)
