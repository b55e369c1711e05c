"""Fit the parameters of the policy expert, from those in force: see README.md beside this file.

python analysis/expert/fit.py --rules mil --out expert.toml
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import hands
import numpy as np
import played

from milsim.dealing import DealSpace
from milsim.policies import expert_bidding as at
from milsim.policies.expert_parameters import kernel_parameters, to_toml, whole
from milsim.policies.expert_play import PLAY_SIZE
from milsim.rules import load, packed

SCORE = np.array([25.0, 0.25, 0.5])  # ramp, slope, weight of the others: see played.score_of
PLAY_PASSES = ((0.03, 4.0, 2), (0.015, 3.0, 3), (0.006, 2.0, 2))  # rate, temperature, passes
HAND_PASSES = ((0.01, 2), (0.004, 2), (0.0015, 2))
FEW_CALLS = 300.0  # as many calls (by weight) settle an entry; fewer are smoothed more widely
MOST_ADVANTAGE = 320.0  # points; the tables are int16, in hundredths
WIDTHS = (0.35, 0.8, 1.6, 3.2, 8.0)


class Fit:
    """The parameters on their way, and the rules they are for."""

    def __init__(self, rules: str, seed: int) -> None:
        self.fields = packed(load(rules))
        self.parameters = kernel_parameters(load(rules)).copy()
        self.space = DealSpace().packed()
        self.seed = seed
        self.random = np.random.default_rng(seed)

    def _everybody(self) -> np.ndarray:
        return np.stack([self.parameters] * 3)

    def play(self, n: int, cards: int) -> None:
        """Worths of cards, in tenths of a point."""
        self.seed += 1
        deals = np.empty((n, played.SIZE), np.int64)
        hands.auctioned_deals(
            self.seed, self.parameters, self.fields, self.space.header, self.space.hands, deals
        )
        places = np.empty((cards, played.MOST_PLACES), np.int16)
        worth = np.empty(cards, np.float32)
        first = np.empty(cards // 2, np.int32)
        decisions = played.collect(
            deals, self._everybody(), self.fields, SCORE, self.seed, places, worth, first
        )
        weights = self.parameters[:PLAY_SIZE] / 10.0
        for rate, temperature, passes in PLAY_PASSES:
            for _ in range(passes):
                order = self.random.permutation(decisions)
                mean = played.ascend(places, worth, first, order, weights, rate, temperature)
            say(f"play: {decisions} decisions, mean worth {mean:.3f} at temperature {temperature}")
        self.parameters[:PLAY_SIZE] = whole(10 * weights)

    def worths(self, n: int) -> None:
        """Worths of hands and gifts, and the chances of contracts."""
        for is_tried, places, begin, end in (
            (1, 0, at.AT_MODEL_8, at.AT_CHANCES),
            (0, 1, at.AT_MODEL_7, at.AT_MODEL_8),
        ):
            *both, made, facts = self._declared(n, is_tried)
            weights = self.parameters[begin:end] / 100.0
            for rate, passes in HAND_PASSES:
                for _ in range(passes):
                    order = self.random.permutation(n)
                    error = hands.least_squares(both[places], made, weights, rate, order)
            self.parameters[begin:end] = whole(100 * weights)
            self._settle()
            say(f"worth of {8 - places} cards: standard error of a prediction {error:.1f} points")
        *_, made, facts = self._declared(n, 0)
        self._chances(made.astype(int), facts)

    def _settle(self) -> None:
        for model, suits in ((at.AT_MODEL_7, at.AT_SUITS_7), (at.AT_MODEL_8, at.AT_SUITS_8)):
            at.suit_tables(self.parameters, model, suits, self.fields)

    def _declared(self, n: int, is_tried: int) -> tuple[np.ndarray, ...]:
        self.seed += 1
        places8, places7 = np.empty((n, 20), np.int16), np.empty((n, 16), np.int16)
        made, facts = np.empty(n, np.float32), np.empty((n, 2), np.int64)
        space = self.space
        hands.declared_deals(
            self.seed, self.parameters, self.fields, space.header, space.hands, is_tried,
            places8, places7, made, facts,
        )  # fmt: skip
        return places8, places7, made, facts

    def _chances(self, made: np.ndarray, facts: np.ndarray) -> None:
        worth, marriages = facts[:, 0] // 100, facts[:, 1]
        group = np.clip(worth // at.GROUP_POINTS, 0, at.N_GROUPS - 1)
        shape = (3, at.N_GROUPS, at.N_OFFSETS)
        reached, asked = np.zeros(shape), np.zeros(shape)
        for contract in range(60, 400, 10):
            offset = (contract - worth - at.FIRST_OFFSET) // at.OFFSET_POINTS
            ok = (offset >= 0) & (offset < at.N_OFFSETS)
            entry = marriages[ok], group[ok], offset[ok]
            np.add.at(reached, entry, made[ok] >= contract)
            np.add.at(asked, entry, 1)
        of_all = reached.sum(axis=1) / np.maximum(asked.sum(axis=1), 1)
        chances = (reached + 20 * of_all[:, np.newaxis]) / (asked + 20)
        chances = np.minimum.accumulate(chances, axis=2)  # a higher contract is no likelier
        table = self.parameters[at.AT_CHANCES : at.AT_ADVANTAGE]
        table[:] = whole(10_000 * chances).ravel()

    def bids(self, n: int) -> None:
        """Advantages of bids over passes."""
        self.seed += 1
        place, advantage = np.empty(4 * n, np.int32), np.empty(4 * n, np.float32)
        space = self.space
        calls = hands.both_answers(
            self.seed, n, self.parameters, self.fields, space.header, space.hands, place, advantage
        )
        shape = (at.N_STATES, at.N_KINDS, at.N_WORTHS, at.N_PRICES)
        size = at.ADVANTAGE_SIZE
        asked = np.bincount(place[:calls], minlength=size).reshape(shape).astype(float)
        earned = np.bincount(place[:calls], advantage[:calls], size).reshape(shape)
        mean, settled = np.zeros(shape), np.zeros(shape)
        for width in WIDTHS:
            near, total = smooth(asked, width), smooth(earned, width)
            share = np.clip(near / FEW_CALLS, 0, 1) * (1 - settled)
            mean += share * total / np.maximum(near, 1e-9)
            settled += share
        # What nobody ever saw is passed.
        mean = np.where(settled > 0.05, mean / np.maximum(settled, 1e-9), -MOST_ADVANTAGE)
        table = self.parameters[at.AT_ADVANTAGE : at.FITTED_SIZE]
        table[:] = whole(100 * np.clip(mean, -MOST_ADVANTAGE, MOST_ADVANTAGE)).ravel()
        say(f"bids: {calls} calls answered in both ways")


def smooth(table: np.ndarray, width: float) -> np.ndarray:
    """Gaussian sums over neighbouring worths, and somewhat narrower over prices."""
    for axis, wide in ((2, width), (3, 0.8 * width)):
        weights = np.exp(-0.5 * (np.arange(-6, 7) / wide) ** 2)
        weights /= weights.sum()
        table = np.apply_along_axis(
            lambda row, by: np.convolve(np.pad(row, 6), by, "valid"), axis, table, weights
        )
    return table


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rules", default="mil")
    options.add_argument("--rounds", type=int, default=2, help="of play, then of bids")
    options.add_argument("--deals", type=int, default=200_000, help="whose decisions are tried")
    options.add_argument("--seed", type=int, default=1000)
    options.add_argument("--out", type=Path, default=Path("expert.toml"))
    given = options.parse_args()
    fit = Fit(given.rules, given.seed)
    for _ in range(given.rounds):
        fit.play(given.deals, 35 * given.deals)
    fit.worths(7 * given.deals // 2)
    for _ in range(given.rounds):
        fit.bids(3 * given.deals // 4)
    head = f"# Fitted by analysis/expert/fit.py {' '.join(sys.argv[1:])}"
    given.out.write_text(to_toml(fit.parameters, head), encoding="utf-8")


if __name__ == "__main__":
    main()
