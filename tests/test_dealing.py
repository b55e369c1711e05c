"""Dealing: numbers, masks and completions, against the plain-Python deals and brute force."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim import dealing, rng
from milsim._jit import jit_enabled, kernel_signatures
from milsim.cards import ALL_CARDS, cards_of
from milsim.dealing.completions import binomial, next_subset, nth_subset
from milsim.deals import N_DEALS, Deal, combination_rank, combination_unrank
from milsim.errors import DealError, UsageError

HANDS, RANKS = dealing.kernel_hands(), dealing.kernel_ranks()


# ---------------------------------------------------------------------------------------- tables


def test_hand_table_is_all_hands_in_rank_order() -> None:
    table = dealing.hand_masks_table()
    assert table.shape == (346_104,)
    assert table.dtype == np.int32
    assert not table.flags.writeable
    assert (np.diff(table) > 0).all()
    assert (np.bitwise_count(table) == 7).all()
    for rank in (0, 1, 119, 120, 19_447, 19_448, 346_103):
        assert table[rank] == combination_unrank(rank, 24, 7)


def test_hands_of_fewer_cards_are_the_beginning_of_the_table() -> None:
    for n in (10, 17):
        assert (dealing.subset_masks(n, 7) == HANDS[: comb(n, 7)]).all()
    assert dealing.subset_masks(5, 0).tolist() == [0]
    assert dealing.subset_masks(3, 3).tolist() == [7]


@given(st.integers(0, ALL_CARDS))
def test_rank_of_any_set_of_cards(mask: int) -> None:
    assert dealing.rank_of(mask, RANKS) == combination_rank(mask)


# ----------------------------------------------------------------------------- numbers and masks


@given(st.integers(0, N_DEALS - 1) | st.sampled_from([0, N_DEALS - 1, 2_333_759, 2_333_760]))
def test_numbers_and_masks_are_those_of_the_plain_deals(number: int) -> None:
    deal = Deal.from_id(number)
    expected = (*deal.hand_masks, deal.talon_mask)
    assert dealing.deal_masks(number, HANDS) == expected
    assert dealing.deal_number_of(*expected[:3], RANKS) == number
    assert tuple(int(place[0]) for place in dealing.masks_of_deals([number])) == expected
    assert dealing.deals_of_masks(*([mask] for mask in expected[:3])).tolist() == [number]


def test_arrays_of_deals_go_both_ways() -> None:
    numbers = dealing.sample_deals(5000, seed=3)
    masks = dealing.masks_of_deals(numbers)
    assert (np.bitwise_or.reduce(np.stack(masks)) == ALL_CARDS).all()
    assert (np.sum(np.stack(masks), axis=0) == ALL_CARDS).all()
    back = dealing.deals_of_masks(*masks[:3])
    assert back.dtype == np.uint64
    assert (back == numbers).all()
    sampled = dealing.sample_deal_masks(5000, seed=3)
    assert all((a == b).all() for a, b in zip(sampled, masks, strict=True))


@pytest.mark.parametrize(
    "numbers", [[-1], [N_DEALS], [1.0], [[1]], ["1"], [True], [2**64 - 1], [0, N_DEALS]]
)
def test_wrong_numbers_are_refused(numbers: list[object]) -> None:
    with pytest.raises(DealError, match="deal number"):
        dealing.masks_of_deals(numbers)  # type: ignore[arg-type]


def test_wrong_masks_are_refused() -> None:
    good = ([127], [16256], [2080768])
    assert dealing.deals_of_masks(*good).tolist() == [0]
    for place in range(3):
        for wrong in (126, 255, -1, 127 | 1 << 24, 126 | 1 << 24):
            masks = [*good]
            masks[place] = [wrong]
            with pytest.raises(DealError):
                dealing.deals_of_masks(*masks)
    with pytest.raises(DealError, match="share"):
        dealing.deals_of_masks([127], [127], [2080768])
    with pytest.raises(DealError, match="length"):
        dealing.deals_of_masks([127, 127], [16256] * 3, [2080768])
    with pytest.raises(DealError, match="whole"):
        dealing.deals_of_masks([127.0], [16256], [2080768])


def test_empty_arrays_are_fine() -> None:
    assert dealing.sample_deals(0, seed=1).shape == (0,)
    assert [place.size for place in dealing.masks_of_deals([])] == [0] * 4
    assert dealing.deals_of_masks([], [], []).dtype == np.uint64


# ---------------------------------------------------------------------------- deals of a seed


def plain_deal_number(seed: int, index: int, attempt: int) -> int:
    """Written from the documentation: Philox on (index, stream), Lemire's method."""
    stream = (1 << 48) + (attempt << 16)
    for block in range(10):
        key, words = seed, [index, stream + block]
        for _ in range(10):
            product = words[0] * 0xD2B74407B1CE6E93
            words = [product >> 64 ^ key ^ words[1], product % 2**64]
            key = (key + 0x9E3779B97F4A7C15) % 2**64
        for word in words:
            if word * N_DEALS % 2**64 >= 2**64 % N_DEALS:
                return word * N_DEALS >> 64
    raise AssertionError


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 9), st.integers(0, 2**32 - 1))
def test_deal_of_a_seed_is_a_pure_function(seed: int, index: int, attempt: int) -> None:
    expected = plain_deal_number(seed, index, attempt)
    assert dealing.deal_number(rng.signed_word(seed), index, attempt) == expected
    space = dealing.DealSpace()
    numbers = space.sample(3, seed=seed, start=index, attempt=attempt)
    assert numbers.dtype == np.uint64
    assert numbers.tolist() == [plain_deal_number(seed, index + i, attempt) for i in range(3)]


def test_parts_make_the_whole() -> None:
    whole = dealing.sample_deals(2000, seed=24, where="marriages>=1")
    parts = [
        dealing.sample_deals(count, seed=24, start=start, where="marriages>=1")
        for start, count in ((0, 1), (1, 255), (256, 1000), (1256, 744))
    ]
    assert (np.concatenate(parts) == whole).all()


def test_the_first_deals_of_seed_1_never_change() -> None:
    """A change here breaks every seed anybody ever wrote down: give `RNG_SCHEME` a new name."""
    assert rng.RNG_SCHEME == "philox2x64-10/v1"
    numbers = dealing.sample_deals(3, seed=1).tolist()
    assert numbers == [219_398_604_230, 225_947_704_578, 247_070_888_599]


@pytest.mark.parametrize("n", [-1, True, 1.5, 1e6, "5", None, float("nan"), 2**63, 10**30, 2**62])
def test_wrong_n_is_refused(n: object) -> None:
    with pytest.raises(UsageError):
        dealing.sample_deals(n, seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.0, "1", None])
def test_wrong_seed_is_refused(seed: object) -> None:
    with pytest.raises(UsageError, match=r"seed must be a whole number from 0 to 2\^64 - 1"):
        dealing.sample_deals(1, seed=seed)  # type: ignore[arg-type]


def test_wrong_start_is_refused() -> None:
    for start in (-1, True, 0.5, 2**63):
        with pytest.raises(UsageError, match="start"):
            dealing.sample_deals(1, seed=1, start=start)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="start"):
        dealing.sample_deals(2, seed=1, start=2**63 - 1)
    assert len(dealing.sample_deals(np.int64(2), seed=np.uint64(2**64 - 1), start=2**63 - 2)) == 2


# ------------------------------------------------------------------------------ completions


@given(st.integers(0, 24), st.data())
def test_subsets_in_order(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    assert binomial(n, k) == comb(n, k)
    rank = data.draw(st.integers(0, comb(n, k) - 1))
    mask = combination_unrank(rank, n, k)
    assert nth_subset(n, k, rank) == mask
    if rank + 1 < comb(n, k):
        assert next_subset(mask) == combination_unrank(rank + 1, n, k)


def subsets(mask: int, size: int) -> list[int]:
    return [sum(1 << card for card in chosen) for chosen in combinations(cards_of(mask), size)]


@given(st.sets(st.integers(0, 23), max_size=9), st.data())
def test_completions_are_all_ways_once(cards: set[int], data: st.DataObject) -> None:
    rest = sum(1 << card for card in cards)
    first = data.draw(st.integers(0, len(cards)))
    second = data.draw(st.integers(0, len(cards) - first))
    sizes = (first, second, len(cards) - first - second)
    groups = dealing.completions(rest, sizes)
    ways = list(zip(*(group.tolist() for group in groups), strict=True))
    expected = {
        (a, b, rest ^ a ^ b)
        for a in (sum(1 << c for c in chosen) for chosen in combinations(sorted(cards), first))
        for b in (
            sum(1 << c for c in chosen) for chosen in combinations(cards_of(rest ^ a), second)
        )
    }
    assert len(ways) == len(expected) == dealing.completion_count(rest, sizes)
    assert set(ways) == expected
    assert ways == sorted(ways)
    start = data.draw(st.integers(0, len(ways)))
    count = data.draw(st.integers(0, len(ways) + 3))
    part = dealing.completions(rest, sizes, start=start, count=count)
    expected_part = ways[start : start + count]
    assert list(zip(*(group.tolist() for group in part), strict=True)) == expected_part


@pytest.mark.skipif(not jit_enabled(), reason="millions of deals in plain Python")
def test_completions_of_a_hand_are_the_deals_of_its_numbers() -> None:
    hand = 200_000
    forehand = int(HANDS[hand])
    others = dealing.completions(ALL_CARDS ^ forehand, (7, 7, 3))
    assert others[0].size == 2_333_760
    masks = np.full(others[0].size, forehand)
    numbers = dealing.deals_of_masks(masks, others[0], others[1])
    assert (numbers == np.arange(2_333_760, dtype=np.uint64) + hand * 2_333_760).all()


def test_layouts_of_two_defenders() -> None:
    left, right = dealing.completions(0b11111111111111 << 5, (7, 7))
    assert left.size == 3432
    assert (left | right == 0b11111111111111 << 5).all()
    assert dealing.completions(0b101, (2,))[0].tolist() == [0b101]


def test_wrong_completions_are_refused() -> None:
    with pytest.raises(DealError, match="do not make 3 cards"):
        dealing.completions(7, (1, 1))
    with pytest.raises(UsageError, match="1 to 3 groups"):
        dealing.completions(15, (1, 1, 1, 1))
    with pytest.raises(UsageError, match="beyond"):
        dealing.completions(7, (1, 2), start=4)
    with pytest.raises(UsageError):
        dealing.completions(7, (-1, 4))
    with pytest.raises(DealError):
        dealing.completions(1 << 24, (1,))


# ------------------------------------------------------------------------ modes and signatures

DUMP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_dealing import sample_of_all
print(sample_of_all())
"""


def sample_of_all() -> list[list[int]]:
    generator = random.Random(7)
    known = generator.sample(range(24), 4)
    spaces = [
        dealing.DealSpace(),
        dealing.DealSpace(where="marriages=H, guarded_tens>=1"),
        dealing.DealSpace(where="aces=2", seat=1, talon=1 << known[0], rearhand=1 << known[1]),
        dealing.DealSpace(seat=2, forehand=1 << known[2], talon=1 << known[3]),
    ]
    rows = [space.sample(40, seed=2**63 + 5, start=2**40).tolist() for space in spaces]
    rows += [space.numbers(100, 120).tolist() for space in spaces]
    rows += [place.tolist() for place in dealing.sample_deal_masks(300, seed=9)]
    rows += [g.tolist() for g in dealing.completions(0b1101101, (2, 2, 1), start=3)]
    return rows


@pytest.mark.parametrize("variable", ["MILSIM_PORTABLE", "NUMBA_DISABLE_JIT"])
def test_same_bits_in_every_mode(variable: str) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", DUMP],
        env={**os.environ, variable: "1"},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(sample_of_all())


def test_signatures_have_one_integer_type_and_no_floats() -> None:
    """Numba turns uint64 beside int64 into float64, silently; int32 are only the tables read."""
    sample_of_all()
    for found in kernel_signatures():
        if found.kernel.startswith("milsim.dealing"):
            text = " ".join((*found.arguments, found.result))
            assert "float" not in text, found
            assert "uint" not in text, found
            assert "int32" not in found.result, found
