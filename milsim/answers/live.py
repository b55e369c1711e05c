"""A hand played live: the deals of the table once more, and more of them while there is time.

The fast policy plays whole repetitions, each with all 680 talons, so its sample stays stratified.
Slow models take the deals of the same repetitions in a random order of the talons, one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from milsim.dealing import deals_of_masks
from milsim.policies.spec import parse_spec
from milsim.rng import draw
from milsim.rules import Rules
from milsim.tables.playing import N_TALONS, HandPlayer, Played, deals_of_hand

DOUBLE_DUMMY = "double-dummy"
MAX_REPETITIONS = 100_000
_ORDER_PLY = 1 << 20  # of the draws that order the talons


def play_live(
    player: HandPlayer,
    rank: int,
    *,
    seconds: float,
    per_talon: int | None = None,
    in_threads: Callable[[Sequence[tuple[int, int]]], list[Played]],
) -> Played:
    """Repetitions 0, 1, … of a hand: ``per_talon`` of them, or as many as the time allows."""
    ranks = np.array([rank])
    played = player(ranks, 0, 1)
    done = 1
    if per_talon is not None:
        return _added(played, in_threads(_shares(1, per_talon - 1)))
    ends = time.monotonic() + seconds
    size = 1
    while time.monotonic() < ends and done < MAX_REPETITIONS:
        began = time.monotonic()
        size = min(size, MAX_REPETITIONS - done)
        played = _added(played, in_threads(_shares(done, size)))
        done += size
        # As many as half of what is left has time for: the last ones are small.
        took = max(time.monotonic() - began, 1e-6)
        left = ends - time.monotonic()
        size = max(1, int(size * min(4.0, left / (2 * took))))
    return played


def _shares(first: int, count: int) -> list[tuple[int, int]]:
    """Repetitions in pieces of a thread each: some hundredths of a second."""
    piece = 8
    return [
        (start, min(piece, first + count - start)) for start in range(first, first + count, piece)
    ]


def _added(played: Played, more: list[Played]) -> Played:
    for each in more:
        played = played + each
    return played


def talon_order(rank: int, seed: int) -> NDArray[np.int64]:
    """The 680 talons in a random order of their own for each hand.

    >>> sorted(talon_order(5, 1).tolist()) == list(range(680))
    True
    """
    signed = seed - (1 << 64) if seed >> 63 else seed
    keys = [int(draw(signed, 0, _ORDER_PLY + rank * N_TALONS + each)) for each in range(N_TALONS)]
    return np.argsort(np.array(keys), kind="stable")


def solve_live(
    rank: int, seed: int, rules: Rules, *, seconds: float, deals: int | None, threads: int | None
) -> dict[int, int]:
    """Double-dummy points with the best exchange → deals, as many as asked or time allows."""
    from milsim.solver import best_exchange_batch

    def points(masks: NDArray[np.int64], _keys: NDArray[np.int64]) -> list[int]:
        numbers = deals_of_masks(masks[0], masks[1], masks[2])
        solved = best_exchange_batch(numbers, rules=rules, threads=threads)
        return [int(value) for value in solved.points]

    return _sampled(rank, seed, points, 32, seconds, deals)


def drive_live(
    policy: str, rank: int, seed: int, rules: Rules, *, seconds: float, deals: int | None
) -> dict[int, int]:
    """Declarer points → deals by a policy that is asked decision by decision, such as ``pimc``."""
    from milsim.auction import minimum_of
    from milsim.policies.seen import TableRules
    from milsim.simulation.deal_kernel import AS_DEALT, BIDDING, MINIMUM_IN_FORCE
    from milsim.simulation.driver import DrivenDeal
    from milsim.simulation.tricks_kernel import MARRIAGES, POINTS

    by = TableRules.of(rules)
    player = parse_spec(policy).player()
    driven = DrivenDeal(by, (policy,) * 3)
    driven.situation[BIDDING] = AS_DEALT
    driven.situation[MINIMUM_IN_FORCE] = minimum_of(0, by.fields)

    def points(masks: NDArray[np.int64], keys: NDArray[np.int64]) -> list[int]:
        found = []
        for place, key in enumerate(keys.tolist()):
            first, second, third, talon = (int(mask) for mask in masks[:, place])
            driven.where = f"hand {rank}"
            driven.play((first, second, third, talon), (player,) * 3, key)
            found.append(int(driven.work[POINTS] + driven.work[MARRIAGES]))
        return found

    return _sampled(rank, seed, points, 1, seconds, deals)


def _sampled(
    rank: int,
    seed: int,
    points: Callable[[NDArray[np.int64], NDArray[np.int64]], list[int]],
    batch: int,
    seconds: float,
    deals: int | None,
) -> dict[int, int]:
    """Histogram of what ``points`` makes of the deals of a hand; one batch at least."""
    order = talon_order(rank, seed)
    ends = time.monotonic() + seconds
    histogram: dict[int, int] = {}
    done = 0
    while done == 0 or (time.monotonic() < ends if deals is None else done < deals):
        size = batch if deals is None else min(batch, deals - done)
        numbers = np.arange(done, done + size)
        masks, keys = deals_of_hand(rank, order[numbers % N_TALONS], numbers // N_TALONS, seed)
        for each in points(masks, keys):
            histogram[each] = histogram.get(each, 0) + 1
        done += size
    return histogram


__all__ = ["DOUBLE_DUMMY", "drive_live", "play_live", "solve_live", "talon_order"]
