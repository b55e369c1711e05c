"""Play the deals of a plan in threads, chunk by chunk, and hand the chunks out in order.

A chunk is a range of deal indices that ends at a multiple of its size. Kernels release the GIL,
so plain threads fill the cores; a sliding window keeps the memory bounded and the order fixed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from milsim.dealing import DealSpace, kernel_ranks
from milsim.dealing.sampling import checked_seed
from milsim.errors import PolicyError
from milsim.policies.expert_parameters import parameters_for
from milsim.policies.players import Player
from milsim.policies.seen import TableRules
from milsim.policies.spec import parse_spec
from milsim.rules import packed
from milsim.simulation.check import thrown_in_for_ever
from milsim.simulation.columns import DECLARER, GIFT_LEFT, GIFT_RIGHT, N_COLUMNS
from milsim.simulation.deal_kernel import ALL_DEALS_PLAYED, play_deals
from milsim.simulation.plan import Plan
from milsim.threads import checked_threads

CHUNK_DEALS = {"off": 1 << 14, "gifts": 1 << 8, "exchange": 1 << 5}
"""Deals a chunk, by what is solved beside the play: solving takes long, some deals very long."""
CHUNK_DRIVEN = 1 << 4
"""Deals a chunk where some policy is not all kernels: a deal may take a tenth of a second."""
WINDOW_PER_THREAD = 4

_SPARE = 32
# Room that no deal fills. Columns that lie a power of two apart would share their places in the
# processor's caches, and each write of a row would push out the line of another column.

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of consecutive deals: numbers uint64 (rows,), values int16 (columns, rows).

    ``dd`` are the double-dummy values, int16 (rows,), if the plan asks for them.
    """

    start: int
    deals: NDArray[np.uint64]
    values: NDArray[np.int16]
    dd: NDArray[np.int16] | None

    @property
    def rows(self) -> int:
        """Deals in the chunk."""
        return len(self.deals)


def policy_numbers(plan: Plan) -> NDArray[np.int64]:
    """The policies of a plan as kernels know them, int64[3] by seat.

    Raises :class:`~milsim.errors.PolicyError` for a policy that is not all kernels.
    """
    numbers = []
    for text in plan.policies:
        number = parse_spec(text).number
        if number is None:
            raise PolicyError(f"policy {text}: is not all kernels, which is needed here")
        numbers.append(number)
    return np.array(numbers, dtype=np.int64)


def seats_of(policies: Sequence[str]) -> tuple[list[int] | None, list[Player]]:
    """Who plays by kernels alone: their numbers; or, if one does not, a player for each.

    >>> seats_of(("greedy", "random", "greedy"))
    ([1, 0, 1], [])
    """
    specs = [parse_spec(text) for text in policies]
    numbers = [spec.number for spec in specs]
    if None not in numbers:
        return [number for number in numbers if number is not None], []
    made = {str(spec): spec for spec in specs}
    players = {text: spec.player() for text, spec in made.items()}
    return None, [players[str(spec)] for spec in specs]


class DealPlayer:
    """A plan made ready for the kernel; called with a range of deals, it plays them.

    ``size`` is how many deals go well together: some hundredths of a second.
    """

    def __init__(self, plan: Plan) -> None:
        """Pack rules, constraint and parameters; raises PolicyError and RulesError."""
        self.seed = checked_seed(plan.seed)
        self.auction = int(plan.mode == "auction")
        self.rules = packed(plan.rules)
        self.numbers, self.players = seats_of(plan.policies)
        self.policies = np.array(self.numbers or (), dtype=np.int64)
        self.parameters = parameters_for(plan.rules, self.numbers or ())
        self.by = TableRules.of(plan.rules)
        self.space = DealSpace(
            where=plan.where or None, marriage_values=plan.rules.deal.marriage_values.by_suit()
        ).packed()
        self.ranks = kernel_ranks()
        self.plan = plan
        size = CHUNK_DEALS[plan.dd]
        self.size = size if self.numbers is not None else min(size, CHUNK_DRIVEN)

    def __call__(self, start: int, count: int) -> Chunk:
        """The deals of a range."""
        deals = np.empty(count, dtype=np.int64)
        values = np.empty((N_COLUMNS, count + _SPARE), dtype=np.int16)
        tables = (self.space.header, self.space.hands, self.ranks, deals, values)
        if self.numbers is not None:
            outcome = play_deals(
                self.seed,
                start,
                self.auction,
                self.parameters,
                self.rules,
                self.policies,
                *tables,
            )
        else:
            # Only here: its kernels are many, and seldom needed.
            from milsim.simulation.driver_runs import drive_deals

            names = self.plan.policies
            outcome = drive_deals(
                self.players, names, self.by, self.seed, start, self.auction, *tables
            )
        if outcome != ALL_DEALS_PLAYED:
            raise thrown_in_for_ever(self.plan, int(outcome))
        values = values[:, :count]
        numbers = deals.view(np.uint64)
        dd = None
        if self.plan.dd != "off":
            # Only here: the solver takes half a second to load.
            from milsim.simulation.double_dummy import double_dummy_points

            dd = double_dummy_points(
                numbers,
                values[DECLARER],
                values[GIFT_LEFT],
                values[GIFT_RIGHT],
                best=self.plan.dd == "exchange",
                rules=self.plan.rules,
            )
        return Chunk(start, numbers, values, dd)

    def warm_up(self) -> None:
        """Compile before the threads start: concurrent first compiles can crash numba."""
        self(self.plan.start, 1)


def play(
    plan: Plan, *, threads: int | None = None, stop: Callable[[], bool] = lambda: False
) -> Iterator[Chunk]:
    """The chunks of a plan in the order of the deal index; they are played as they are taken.

    The kernels are compiled before this returns. ``stop`` is asked before each new chunk is handed
    to a thread; chunks under way are finished and handed out. Raises
    :class:`~milsim.errors.RulesError` for rules whose redeal rights leave no deal to play.

    There is no match: all scores are 0, no deal is golden and nobody has conceded before. In mode
    ``declarer`` there is no auction, and nobody concedes.
    """
    n_threads = checked_threads(threads)
    player = DealPlayer(plan)
    player.warm_up()
    ranges = chunk_ranges(plan.start, plan.deals, player.size)
    return in_order(player, ranges, n_threads, stop)


def in_order(
    player: Callable[[int, int], T],
    ranges: Iterable[tuple[int, int]],
    n_threads: int,
    stop: Callable[[], bool],
) -> Iterator[T]:
    """What ``player`` makes of each (start, count), in threads, handed out in the order of ranges.

    >>> list(in_order(lambda start, count: start + count, [(0, 2), (2, 3)], 2, lambda: False))
    [2, 5]
    """
    window: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="milsim")
    waits = True
    try:
        for start, count in ranges:
            if stop():
                break
            window.append(pool.submit(player, start, count))
            if len(window) >= WINDOW_PER_THREAD * n_threads:
                yield window.popleft().result()
        while window:
            yield window.popleft().result()
    except KeyboardInterrupt:
        waits = False  # what is under way may take for ever: a policy in an endless loop
        raise
    finally:
        pool.shutdown(waits, cancel_futures=True)


def chunk_ranges(start: int, count: int, size: int) -> Iterator[tuple[int, int]]:
    """Ranges (start, count) of all that is to be played; each but the last ends at a multiple.

    >>> list(chunk_ranges(5, 9, 4))
    [(5, 3), (8, 4), (12, 2)]
    """
    end = start + count
    while start < end:
        following = min(end, (start // size + 1) * size)
        yield start, following - start
        start = following
