"""The sampler against exact frequencies. Seeds are fixed: these tests pass or fail for good.

Each statistic would exceed its limit for one seed in 10^6 if the sampler were perfect: that is the
stated rate of false alarms, and with it the limits are computed (exactly for chi-square;
Bonferroni's division for the largest of many).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from statistics import NormalDist

import numpy as np
import pytest

from milsim import dealing
from milsim._jit import jit_enabled
from milsim.dealing import DealMasks, DealSpace
from milsim.deals import N_DEALS
from milsim.where import feature, suit_set
from tests.chi_square import (
    FALSE_ALARMS,
    binomial_tail,
    chi_square,
    chi_square_limit,
    chi_square_tail,
)

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="millions of deals in plain Python")

DEALS = 400_000


def test_limits_are_those_of_printed_tables() -> None:
    """Abramowitz and Stegun, table 26.8: upper 0.05, 0.001 and 0.0001 points."""
    for x, freedom, tail in ((3.84146, 1, 0.05), (16.2662, 3, 0.001), (18.4207, 2, 1e-4),
                             (23.5127, 4, 1e-4), (124.342, 100, 0.05)):  # fmt: skip
        assert chi_square_tail(x, freedom) == pytest.approx(tail, rel=1e-3)
    assert chi_square_limit(3) == pytest.approx(30.66, rel=1e-3)


def test_binomial_tails_are_sums_of_binomial_chances() -> None:
    def chance_of(k: int) -> Fraction:
        return comb(30, k) * Fraction(1, 10) ** k * Fraction(9, 10) ** (30 - k)

    for k in range(31):
        tail = sum(map(chance_of, range(k + 1) if k < 3 else range(k, 31)))
        assert binomial_tail(k, 30, Fraction(1, 10)) == pytest.approx(float(tail), rel=1e-9)
    assert binomial_tail(5, 5, 1.0) == binomial_tail(0, 5, 0.0) == 1
    assert binomial_tail(4, 5, 1.0) == binomial_tail(1, 5, 0.0) == 0


@pytest.fixture(scope="module", params=["seed 0", "other numbering", "second attempt"])
def sample(request: pytest.FixtureRequest) -> DealMasks:
    """Three ways to the same distribution: kernels into masks, a space by hand, a redeal."""
    if request.param == "seed 0":
        return dealing.sample_deal_masks(DEALS, seed=0)
    if request.param == "second attempt":
        return dealing.sample_deal_masks(DEALS, seed=2**64 - 1, start=2**50, attempt=1)
    # The space that starts from rearhand's hand: another numbering, the same deals.
    return dealing.masks_of_deals(DealSpace(seat=2).sample(DEALS, seed=17))


def test_every_card_is_at_every_place_equally(sample: DealMasks) -> None:
    observed = np.array(
        [[int((mask >> card & 1).sum()) for mask in sample] for card in range(24)], float
    )
    expected = np.outer(np.ones(24), [DEALS * cards / 24 for cards in (7, 7, 7, 3)])
    # Places hold fixed numbers of cards in each deal, hence 23/24 and (24 − 1)(4 − 1) freedoms.
    assert chi_square(observed, expected) * 23 / 24 < chi_square_limit(69)


def test_every_pair_of_cards_is_together_equally(sample: DealMasks) -> None:
    limit = NormalDist().inv_cdf(1 - FALSE_ALARMS / 2 / (comb(24, 2) * 4))
    bits = [np.array([mask >> card & 1 for card in range(24)], np.float32) for mask in sample]
    for place, cards in zip(bits, (7, 7, 7, 3), strict=True):
        together = (place @ place.T)[np.triu_indices(24, 1)]
        chance = comb(cards, 2) / comb(24, 2)
        z = (together - DEALS * chance) / (DEALS * chance * (1 - chance)) ** 0.5
        assert float(np.abs(z).max()) < limit


def test_marriages_come_as_often_as_they_should(sample: DealMasks) -> None:
    exact = np.array([247_536, 91_872, 6_624, 72]) / 346_104
    for hand in sample[:3]:
        observed = np.bincount(feature("marriages", hand), minlength=4).astype(float)
        assert chi_square(observed, DEALS * exact) < chi_square_limit(3)
        by_suit = np.array([int((suit_set("marriages", hand) >> s & 1).sum()) for s in range(4)])
        z = (by_suit - DEALS * 7 / 92) / (DEALS * 7 / 92 * 85 / 92) ** 0.5
        assert float(np.abs(z).max()) < NormalDist().inv_cdf(1 - FALSE_ALARMS / 8)
    holders = sum((feature("marriages", hand) > 0).astype(np.int64) for hand in sample[:3])
    observed = np.bincount(np.asarray(holders), minlength=4).astype(float)
    exact = np.array([0.352471, 0.457228, 0.173752, 0.016549])  # NUMBERS.md
    assert chi_square(observed, DEALS * exact) < chi_square_limit(3)


def test_points_of_a_hand_have_their_mean_and_spread(sample: DealMasks) -> None:
    for hand in sample[:3]:
        points = feature("points", hand)
        z = (float(points.mean()) - 35) / (86.2319 / DEALS) ** 0.5
        assert abs(z) < NormalDist().inv_cdf(1 - FALSE_ALARMS / 2)
        assert abs(float(points.var()) / 86.2319 - 1) < 5 * (2 / DEALS) ** 0.5


def test_deals_next_to_each_other_are_independent() -> None:
    """In 16 × 16 classes by number: deal i and i + 1 of a seed, deal i of seeds s and s + 1."""
    numbers = dealing.sample_deals(DEALS, seed=100)
    other_seed = dealing.sample_deals(DEALS, seed=101)
    other_attempt = DealSpace().sample(DEALS, seed=100, attempt=1)
    for left, right in (
        (numbers[:-1:2], numbers[1::2]),
        (numbers, other_seed),
        (numbers, other_attempt),
    ):
        for part in (N_DEALS // 16, 1):  # the highest and the lowest four "bits"
            classes = [(row // np.uint64(part) % np.uint64(16)).astype(np.int64)
                       for row in (left, right)]  # fmt: skip
            observed = np.bincount(classes[0] * 16 + classes[1], minlength=256).astype(float)
            expected = np.full(256, len(left) / 256)
            assert chi_square(observed, expected) < chi_square_limit(255)


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_constrained_deals_are_uniform_too(seat: int) -> None:
    """The hands that fit, each equally often, and what lies elsewhere as it should."""
    space = DealSpace(where="points<10, marriages=none", seat=seat)
    assert space.count == 196 * 2_333_760
    masks = dealing.masks_of_deals(space.sample(DEALS, seed=5))
    hands, observed = np.unique(masks[seat], return_counts=True)
    assert len(hands) == 196
    assert chi_square(observed.astype(float), np.full(196, DEALS / 196)) < chi_square_limit(195)
    for place in range(4):
        if place != seat:
            aces = np.bitwise_count(masks[place] & 0o40404040).mean()  # all four: 17 cards
            cards = 3 if place == 3 else 7
            spread = cards / 17 * 4 * (13 / 17) * ((17 - cards) / 16)
            z = (float(aces) - 4 * cards / 17) / (spread / DEALS) ** 0.5
            assert abs(z) < NormalDist().inv_cdf(1 - FALSE_ALARMS / 2)


def test_known_cards_leave_the_rest_uniform() -> None:
    space = DealSpace(middlehand=0b11, talon=0b100, rearhand=0b111000)
    masks = dealing.masks_of_deals(space.sample(DEALS, seed=6))
    sizes = (7, 5, 4, 2)
    observed = np.array(
        [[int((mask >> card & 1).sum()) for mask in masks] for card in range(6, 24)], float
    )
    expected = np.outer(np.ones(18), [DEALS * size / 18 for size in sizes])
    assert chi_square(observed, expected) * 17 / 18 < chi_square_limit(17 * 3)
