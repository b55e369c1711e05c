"""The same gifts played by policies that see their own cards only: a check on double dummy.

The three hold what the exchange left them, in one layout after the other. Which of the ten cards
were the talon is not known here, so the defenders are taken not to have seen it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from milsim.cards import ALL_CARDS
from milsim.dealing.sampling import checked_seed
from milsim.policies.players import Hands, PartsPlayer, Player
from milsim.policies.seen import Seen, TableRules
from milsim.policies.spec import parse_spec
from milsim.reports.statistics import Interval, Moments, wilson
from milsim.rng import policy_key
from milsim.rules import Rules
from milsim.simulation.deal_kernel import AS_DEALT, BIDDING, MINIMUM_IN_FORCE
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.tricks_kernel import (
    CONTRACT,
    GIVEN,
    HANDS,
    MARRIAGES,
    POINTS,
    SHOWN,
    WORK_SIZE,
    play_tricks,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TALON_CARDS = 3
Gifts = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HonestResult:
    """What a policy made of some pairs of gifts, in the same layouts for each."""

    policy: str
    layouts: int
    is_exact: bool
    """All layouts, by a policy that draws no lots: then there is no interval."""
    need: int
    """The fewest points that make the contract."""
    points: dict[Gifts, tuple[int, ...]]
    """The declarer's points by layout."""

    def chance(self, gifts: Gifts) -> Interval:
        """How often the contract was made, with its 95 % interval."""
        made = sum(points >= self.need for points in self.points[gifts])
        if self.is_exact:
            share = made / self.layouts
            return Interval(share, share, share)
        return wilson(made, self.layouts)

    def mean(self, gifts: Gifts) -> Interval:
        """The declarer's mean points, with their 95 % interval."""
        mean = Moments.of((points, 1) for points in self.points[gifts]).mean()
        return Interval(mean.value, mean.value, mean.value) if self.is_exact else mean


class _Given:
    """The declarer's exchange, given beforehand; he is asked for nothing else."""

    sees_all = False

    def __init__(self, gifts: Gifts, contract: int) -> None:
        self._gifts, self._contract = gifts, contract

    def dark(self, seen: Seen) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def bid(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """A pass."""
        return 0

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def gifts(self, seen: Seen, hands: Hands | None) -> Gifts:  # noqa: ARG002
        """The gifts."""
        return self._gifts

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """The contract."""
        return self._contract

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """Not asked: another plays."""
        raise NotImplementedError

    def declares(self, seen: Seen, card: int) -> bool:
        """Not asked: another plays."""
        raise NotImplementedError


class _HiddenTalon(DrivenDeal):
    """A deal whose talon the defenders have not seen."""

    def _take_talon(self, declarer: int) -> None:
        super()._take_talon(declarer)
        for seen in self.seats:
            if seen.seat != declarer:
                seen.talon = 0


class _Plays:
    """Plays gifts in layouts; one a thread."""

    def __init__(
        self, policy: str, rules: Rules, ten: int, bid: int, contract: int, seed: int
    ) -> None:
        self.spec = parse_spec(policy)
        self.by = TableRules.of(rules)
        self.ten, self.bid, self.contract, self.seed = ten, bid, contract, checked_seed(seed)
        self.number = self.spec.number
        self.player: Player | None = None if self.number is not None else self.spec.player()
        self.driven = _HiddenTalon(self.by, [policy] * 3)
        self.driven.situation[BIDDING] = AS_DEALT
        self.driven.situation[MINIMUM_IN_FORCE] = bid
        self.work = np.zeros(WORK_SIZE, np.int64)

    def points(self, place: int, left: int, gifts: Gifts) -> int:
        """The declarer's points in one layout, where ``left`` is what his left was dealt."""
        right = ALL_CARDS & ~(self.ten | left)
        key = int(policy_key(self.seed, place, 0))
        work = self.work
        if self.player is not None:
            talon = 0
            for _ in range(_TALON_CARDS):
                rest = self.ten & ~talon
                talon |= rest & -rest
            at_table = PartsPlayer(self.player, _Given(gifts, self.contract), self.player)
            self.driven.where = f"layout {place}"
            self.driven.play(
                (self.ten & ~talon, left, right, talon), (at_table, self.player, self.player), key
            )
            work = self.driven.work
        else:
            to_left, to_right = 1 << gifts[0], 1 << gifts[1]
            work[HANDS] = self.ten & ~(to_left | to_right)
            work[HANDS + 1], work[HANDS + 2] = left | to_left, right | to_right
            work[CONTRACT], work[SHOWN] = self.contract, 0
            work[GIVEN], work[GIVEN + 1] = to_left, to_right
            policies = np.full(3, self.number, np.int64)
            by = self.by
            play_tricks(work, by.parameters, by.fields, by.flags, policies, key, 0)
        return int(work[POINTS] + work[MARRIAGES])


def play_honestly(
    policy: str,
    pairs: Sequence[Gifts],
    *,
    ten: int,
    lefts: NDArray[np.int64],
    order: NDArray[np.int64],
    bid: int,
    contract: int,
    need: int,
    rules: Rules,
    seed: int,
    seconds: float | None,
    threads: int,
) -> HonestResult:
    """Play pairs of gifts in the layouts ``order``, or as many of its first as the time allows.

    ``lefts`` are the seven cards of the left by layout. The first layout is played before the time
    begins to run. What is played in a layout depends on ``seed`` and the layout only.
    """
    first = _Plays(policy, rules, ten, bid, contract, seed)
    found: dict[int, list[int]] = {}
    taking = threading.Lock()
    waiting = iter([int(place) for place in order])

    def play_one(plays: _Plays, place: int) -> None:
        found[place] = [plays.points(place, int(lefts[place]), gifts) for gifts in pairs]

    play_one(first, next(waiting))
    end = None if seconds is None else time.monotonic() + seconds

    def take() -> int | None:
        with taking:
            return None if end is not None and time.monotonic() >= end else next(waiting, None)

    def work(plays: _Plays) -> None:
        while (place := take()) is not None:
            play_one(plays, place)

    if threads == 1 or first.number is not None:
        work(first)
    else:
        with ThreadPoolExecutor(threads, thread_name_prefix="milsim-exchange") as pool:
            others = [_Plays(policy, rules, ten, bid, contract, seed) for _ in range(threads - 1)]
            for future in [pool.submit(work, plays) for plays in (first, *others)]:
                future.result()
    rows = [found[int(place)] for place in order if int(place) in found]
    return HonestResult(
        policy=str(first.spec),
        layouts=len(rows),
        is_exact=len(rows) == len(lefts) and first.number is not None and policy != "random",
        need=need,
        points={gifts: tuple(row[i] for row in rows) for i, gifts in enumerate(pairs)},
    )


__all__ = ["HonestResult", "play_honestly"]
