"""Hands played by rank, in as many repetitions as asked: what tables and live answers count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from milsim.dealing import kernel_hands, subset_masks
from milsim.dealing.sampling import checked_seed
from milsim.policies.expert_parameters import parameters_for
from milsim.policies.spec import parse_spec
from milsim.rules import Rules, packed
from milsim.scoring import is_made, possible_totals
from milsim.tables.hands_kernel import N_TALONS, fill_table_deals, play_hands
from milsim.tables.plan import TablePlan

TALON_PLACES = 17


@cache
def kernel_talons() -> NDArray[np.int32]:
    """The 680 sets of 3 of the 17 unseen cards by colexicographic rank. Never write into it.

    >>> kernel_talons().shape
    (680,)
    """
    return subset_masks(TALON_PLACES, 3)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of some hands, a row each; every array is int64 and adds up by repetition.

    ``histogram`` (hands, points): declaring deals by declarer points; ``by_card`` (hands, 2, 24):
    declarer points, and their squares, of the deals in which the talon has a card; ``passing``
    (hands, 3): passing deals, the hand's deal scores in them, and their squares.
    """

    histogram: NDArray[np.int64]
    by_card: NDArray[np.int64]
    passing: NDArray[np.int64]

    def __add__(self, other: Played) -> Played:
        """The same hands in both samples together."""
        return Played(
            self.histogram + other.histogram,
            self.by_card + other.by_card,
            self.passing + other.passing,
        )

    @property
    def deals(self) -> NDArray[np.int64]:
        """Declaring deals, by hand."""
        return np.asarray(self.histogram.sum(axis=1))

    def moments(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sums of declarer points and of their squares, by hand."""
        points = np.arange(self.histogram.shape[1], dtype=np.int64)
        return self.histogram @ points, self.histogram @ points**2

    def at_least(self, needs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Deals with so many declarer points or more: int64 (hands, needs)."""
        above = np.cumsum(self.histogram[:, ::-1], axis=1)[:, ::-1]
        inside = np.minimum(needs, self.histogram.shape[1] - 1)
        return np.asarray(np.where(needs < self.histogram.shape[1], above[:, inside], 0))


class HandPlayer:
    """A rule set and a policy made ready for the kernel; called with ranks, it plays them."""

    def __init__(self, rules: Rules, policy: str, seed: int) -> None:
        """Pack the rules and the policy's parameters; the policy must be all kernels."""
        number = parse_spec(policy).number
        assert number is not None  # a plan has checked it
        self.seed = checked_seed(seed)
        self.rules = packed(rules)
        self.policies = np.full(3, number, dtype=np.int64)
        self.parameters = parameters_for(rules, (number,))
        self.points = max(possible_totals(rules)) + 1

    @classmethod
    def of(cls, plan: TablePlan) -> HandPlayer:
        """For the hands of a plan."""
        return cls(plan.rules, plan.policy, plan.seed)

    def __call__(self, ranks: NDArray[np.int64], first: int, repetitions: int) -> Played:
        """Hands of these ranks in repetitions ``first … first + repetitions - 1``.

            >>> from milsim.rules import load
        >>> player = HandPlayer(load("mil"), "greedy", 1)
            >>> player(np.array([7]), 0, 1).deals.tolist()
            [680]
        """
        size = len(ranks)
        made = Played(
            np.zeros((size, self.points), np.int64),
            np.zeros((size, 2, 24), np.int64),
            np.zeros((size, 3), np.int64),
        )
        play_hands(
            self.seed,
            np.ascontiguousarray(ranks, dtype=np.int64),
            first,
            repetitions,
            self.parameters,
            self.rules,
            self.policies,
            kernel_hands(),
            kernel_talons(),
            made.histogram,
            made.by_card,
            made.passing,
        )
        return made


def needs_of(contracts: tuple[int, ...], rules: Rules) -> NDArray[np.int64]:
    """The fewest declarer points that make each contract under the rules, int64.

    >>> from milsim.rules import load
    >>> needs_of((100, 110), load("mil")).tolist()
    [100, 110]
    """
    fields = packed(rules)
    return np.array(
        [
            next(p for p in range(max(0, value - 10), value + 11) if is_made(p, value, fields))
            for value in contracts
        ],
        dtype=np.int64,
    )


def deals_of_hand(
    rank: int, places: NDArray[np.int64], repetitions: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The declaring deals of a hand at places (ranks of talons) and repetitions.

    Masks int64 (4, n), forehand first and the talon last, and the policies' words, int64 (n,): the
    very deals that tables and live answers play.

    >>> masks, _ = deals_of_hand(0, np.arange(680), np.zeros(680, np.int64), 1)
    >>> len(set(masks[3].tolist())), bool((np.bitwise_or.reduce(masks) == 2**24 - 1).all())
    (680, True)
    """
    size = len(places)
    masks, keys = np.empty((4, size), np.int64), np.empty(size, np.int64)
    fill_table_deals(
        checked_seed(seed), rank, places, repetitions, kernel_hands(), kernel_talons(), masks, keys
    )
    return masks, keys


__all__ = [
    "N_TALONS",
    "HandPlayer",
    "Played",
    "deals_of_hand",
    "kernel_talons",
    "needs_of",
]
