"""Declaring deals of a hand by one model at a time: the fast policy, the solver, driven policies.

All of them get the deals of `deals_of_hand`, in one order of a hand's talons, so that what a table,
a sample of models and a live answer play are the same deals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from milsim.auction import AUCTION_SIZE, minimum_of
from milsim.dealing import deals_of_masks
from milsim.policies.expert_parameters import parameters_for
from milsim.policies.seen import TableRules
from milsim.policies.spec import parse_spec
from milsim.rng import draw
from milsim.rules import Rules, packed
from milsim.simulation.deal_kernel import (
    AS_DEALT,
    BIDDING,
    DEAL_SIZE,
    DEALT,
    MINIMUM_IN_FORCE,
    SITUATION_SIZE,
    play_dealt,
)
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.tricks_kernel import MARRIAGES, POINTS, WORK_SIZE
from milsim.tables.playing import N_TALONS, deals_of_hand
from milsim.tricks import play_flags

DOUBLE_DUMMY = "double-dummy"
_ORDER_PLY = 1 << 20  # of the draws that order the talons

Points = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Masks of deals, int64 (4, n), and the policies' words, int64 (n,) → declarer points, (n,)."""


@lru_cache(maxsize=64)
def talon_order(rank: int, seed: int) -> NDArray[np.int64]:
    """The 680 talons in a random order of their own for each hand. Never write into it.

    >>> sorted(talon_order(5, 1).tolist()) == list(range(680))
    True
    """
    signed = seed - (1 << 64) if seed >> 63 else seed
    keys = [int(draw(signed, 0, _ORDER_PLY + rank * N_TALONS + each)) for each in range(N_TALONS)]
    return np.argsort(np.array(keys), kind="stable")


def ordered_deals(
    rank: int, seed: int, first: int, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Deals ``first … first + count - 1`` of a hand in the order of its talons, as `deals_of_hand`.

    Deal number n has the talon in place n mod 680, and is of repetition n div 680.
    """
    numbers = np.arange(first, first + count)
    order = talon_order(rank, seed)
    return deals_of_hand(rank, order[numbers % N_TALONS], numbers // N_TALONS, seed)


def points_of_model(model: str, rules: Rules, threads: int | None = 1) -> Points:
    """What plays or solves deals by a model: ``double-dummy`` (best exchange), or a policy's spec.

    >>> from milsim.rules import load
    >>> deals = ordered_deals(7, 1, 0, 3)
    >>> fast = points_of_model("greedy", load("mil"))(*deals)
    >>> fast.tolist() == driven_points("greedy", load("mil"))(*deals).tolist()
    True
    """
    if model == DOUBLE_DUMMY:
        return solved_points(rules, threads)
    if parse_spec(model).number is not None:
        return fast_points(model, rules)
    return driven_points(model, rules)


def solved_points(rules: Rules, threads: int | None = 1) -> Points:
    """Double dummy with the best exchange."""
    from milsim.solver import best_exchange_batch

    def points(masks: NDArray[np.int64], _keys: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers = deals_of_masks(masks[0], masks[1], masks[2])
        return best_exchange_batch(numbers, rules=rules, threads=threads).points.astype(np.int64)

    return points


def fast_points(policy: str, rules: Rules) -> Points:
    """A policy that is all kernels, deal by deal."""
    number = parse_spec(policy).number
    assert number is not None  # the caller has checked it
    fields = packed(rules)
    flags, parameters = play_flags(fields), parameters_for(rules, (number,))
    policies = np.full(3, number, dtype=np.int64)
    situation = np.zeros(SITUATION_SIZE, np.int64)
    situation[BIDDING] = AS_DEALT
    situation[MINIMUM_IN_FORCE] = minimum_of(0, fields)

    def points(masks: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        auction = np.empty(AUCTION_SIZE, np.int64)
        deal, work = np.empty(DEAL_SIZE, np.int64), np.empty(WORK_SIZE, np.int64)
        found = np.empty(len(keys), np.int64)
        for place, key in enumerate(keys.tolist()):
            deal[DEALT : DEALT + 4] = masks[:, place]
            play_dealt(deal, auction, work, situation, parameters, fields, flags, policies, key)
            found[place] = work[POINTS] + work[MARRIAGES]
        return found

    return points


def driven_points(policy: str, rules: Rules) -> Points:
    """A policy that is asked decision by decision, such as ``pimc``."""
    by = TableRules.of(rules)
    player = parse_spec(policy).player()

    def points(masks: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        driven = DrivenDeal(by, (policy,) * 3)
        driven.situation[BIDDING] = AS_DEALT
        driven.situation[MINIMUM_IN_FORCE] = minimum_of(0, by.fields)
        found = np.empty(len(keys), np.int64)
        for place, key in enumerate(keys.tolist()):
            first, second, third, talon = (int(mask) for mask in masks[:, place])
            driven.where = f"deal {first:#x} {second:#x} {third:#x}"
            driven.play((first, second, third, talon), (player,) * 3, key)
            found[place] = driven.work[POINTS] + driven.work[MARRIAGES]
        return found

    return points


__all__ = [
    "DOUBLE_DUMMY",
    "Points",
    "driven_points",
    "fast_points",
    "ordered_deals",
    "points_of_model",
    "solved_points",
    "talon_order",
]
