"""Constrained deals: the numbering is a bijection onto exactly the deals that fit."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from milsim import dealing, rng
from milsim.cards import ALL_CARDS, CardSet, cards_of, format_card, parse_hand
from milsim.dealing import DealSpace
from milsim.deals import N_DEALS, PLACE_CARDS
from milsim.errors import DealError, NotationError, UsageError

HANDS = dealing.kernel_hands()


def plain_count(space: DealSpace) -> int:
    """Count the deals that fit hand by hand, with other arithmetic than the space's."""
    total = 0
    hands = HANDS if space.where is None else HANDS[space.where.matches(HANDS)]
    own = space.known[space.seat]
    others = [mask for place, mask in enumerate(space.known) if place != space.seat]
    needed = [
        cards - space.known[place].bit_count()
        for place, cards in enumerate(PLACE_CARDS)
        if place != space.seat
    ]
    for hand in hands.tolist():
        if hand & own == own and not any(hand & mask for mask in others):
            ways, left = 1, sum(needed)
            for size in needed:
                ways *= comb(left, size)
                left -= size
            total += ways
    return total


def fits(space: DealSpace, numbers: NDArray[Any]) -> bool:
    masks = dealing.masks_of_deals(numbers)
    known = all(
        bool((mask & known == known).all()) for mask, known in zip(masks, space.known, strict=True)
    )
    return known and (space.where is None or bool(space.where.matches(masks[space.seat]).all()))


@st.composite
def spaces(draw: st.DrawFn, most_known: int = 12) -> DealSpace:
    cards = draw(st.permutations(range(24)))
    masks, given = [], 0
    for cards_there in PLACE_CARDS:
        size = min(draw(st.integers(0, cards_there)), most_known - given)
        masks.append(sum(1 << card for card in cards[given : given + size]))
        given += size
    where = draw(st.sampled_from([None, "aces>=1", "marriages>=1", "points<40", "longest<=3"]))
    seat = draw(st.integers(0, 2))
    try:
        return DealSpace(
            where=where,
            seat=seat,
            forehand=masks[0],
            middlehand=masks[1],
            rearhand=masks[2],
            talon=masks[3],
        )
    except DealError:
        return DealSpace(seat=seat)


@settings(max_examples=40)
@given(spaces(), st.data())
def test_random_spaces(space: DealSpace, data: st.DataObject) -> None:
    assert space.count == plain_count(space)
    ks = {0, space.count - 1} | data.draw(st.sets(st.integers(0, space.count - 1), max_size=5))
    numbers = [space.number(k) for k in ks]
    assert len(set(numbers)) == len(ks)
    assert all(number in space for number in numbers)
    assert fits(space, np.array(numbers))
    assert fits(space, space.sample(50, seed=len(ks)))
    for number in dealing.sample_deals(50, seed=5).tolist():
        assert (number in space) == fits(space, np.array([number]))


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_all_deals_of_a_space_come_once(seat: int) -> None:
    """All deals that fit, found among all deals of the free cards, are the space's, each once."""
    forehand, rearhand, talon = 0b11111 << 2, 0b111110 << 10, 0b11 << 20
    free = ALL_CARDS & ~(forehand | rearhand | talon)
    deals = []
    middle, other = dealing.completions(free, (7, free.bit_count() - 7))
    for m, left in zip(middle.tolist(), other.tolist(), strict=True):
        shares = (group.tolist() for group in dealing.completions(left, (2, 2, 1)))
        for f, r, t in zip(*shares, strict=True):
            deals.append((f | forehand, m, r | rearhand, t | talon))
    place = np.array(deals)
    space = DealSpace(
        where="jacks>=1, points>15", seat=seat, forehand=forehand, rearhand=rearhand, talon=talon
    )
    assert space.where is not None
    place = place[space.where.matches(place[:, seat])]
    expected = dealing.deals_of_masks(place[:, 0], place[:, 1], place[:, 2])
    found = np.concatenate(list(space.enumerate(chunk=1000)))
    assert found.dtype == np.uint64
    assert len(found) == space.count == len(expected)
    assert (np.sort(found) == np.sort(expected)).all()


def test_whole_deal_known() -> None:
    space = DealSpace(forehand=127, middlehand=16256, rearhand=2080768)
    assert space.count == 1
    assert space.numbers(0, 1).tolist() == [0]
    assert space.sample(3, seed=1).tolist() == [0, 0, 0]


def test_no_constraint_is_no_constraint() -> None:
    space = DealSpace(where="")
    assert space.count == N_DEALS
    assert [space.number(k) for k in (0, 1, N_DEALS - 1)] == [0, 1, N_DEALS - 1]
    assert (space.sample(100, seed=8) == dealing.sample_deals(100, seed=8)).all()
    for seat in (1, 2):
        assert DealSpace(seat=seat).count == N_DEALS


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_kernels_of_a_space_agree(seat: int) -> None:
    space = DealSpace(where="marriages=1", seat=seat, talon=1)
    numbers = space.sample(600, seed=11, start=5, attempt=2)
    masks = dealing.DealMasks(*(np.zeros(600, np.int64) for _ in range(4)))
    dealing.fill_space_masks(11, 5, 2, *space.packed(), *masks)
    assert (dealing.deals_of_masks(*masks[:3]) == numbers).all()
    for i in (0, 1, 255, 256, 599):
        single = dealing.space_deal(11, 5 + i, 2, *space.packed())
        assert single == tuple(int(place[i]) for place in masks)
    count = space.count
    k = rng.uniform_below(11, 5, rng.stream_of(rng.DEAL_STREAM, 2), count)
    assert space.number(k) == numbers[0]


def test_given_ranks() -> None:
    ranks = np.array([5, 3, 5, 346_103])
    space = DealSpace(ranks=ranks)
    assert space.count == 3 * 2_333_760
    assert space.number(2_333_760) == 5 * 2_333_760
    assert (np.diff(space.numbers(0, 5000).astype(np.int64)) == 1).all()
    both = DealSpace(ranks=np.arange(346_104), where="four_nines")
    assert both.count == DealSpace(where="four_nines").count == 1140 * 2_333_760
    for wrong in ([-1], [346_104], [0.5], [[1]], ["a"]):
        with pytest.raises(DealError, match="ranks of hands"):
            DealSpace(ranks=wrong)
    with pytest.raises(DealError, match="given ranks"):
        DealSpace(ranks=[])


def test_rare_hands_cost_no_more() -> None:
    """One hand in 346,104: rejection would need that many deals for each."""
    hand = parse_hand("AK9.Q.T.9J")
    space = DealSpace(where=f'has="{" ".join(_names(hand))}"')
    assert space.count == 2_333_760
    assert len(np.unique(space.sample(1000, seed=1))) > 990


def _names(mask: int) -> list[str]:
    return [format_card(card) for card in cards_of(mask)]


def test_empty_spaces_are_refused() -> None:
    with pytest.raises(DealError, match="no hand of 7 cards fits 'aces>=5'"):
        DealSpace(where="aces>=5")
    with pytest.raises(DealError, match="no hand of 7 cards fits"):
        DealSpace(where="has=AS lacks=AS")
    with pytest.raises(DealError, match="no hand of rearhand fits both"):
        DealSpace(where="aces=4", seat=2, talon=CardSet.parse("AS"))


def test_wrong_known_cards_are_refused() -> None:
    with pytest.raises(DealError, match="card AS is given to middlehand and to talon"):
        DealSpace(middlehand=CardSet.parse("AS KS"), talon=CardSet.parse("AS"))
    with pytest.raises(DealError, match="forehand is given 8 cards, it has only 7"):
        DealSpace(forehand=255)
    with pytest.raises(DealError, match="talon is given 4 cards, it has only 3"):
        DealSpace(talon=15)
    with pytest.raises(DealError, match="bits outside"):
        DealSpace(talon=1 << 24)
    with pytest.raises(NotationError, match="did you mean aces"):
        DealSpace(where="ace>1")
    with pytest.raises(UsageError, match="seat"):
        DealSpace(seat=3)


def test_wrong_places_in_a_space_are_refused() -> None:
    space = DealSpace(where="aces=4", talon=7)
    for k in (-1, space.count, 1.0, True):
        with pytest.raises(UsageError):
            space.number(k)  # type: ignore[arg-type]
    for start, stop in ((5, 4), (0, space.count + 1), (-1, 3)):
        with pytest.raises(UsageError):
            space.numbers(start, stop)
    with pytest.raises(UsageError, match="chunk"):
        next(space.enumerate(chunk=0))
    assert "x" not in space
    assert True not in space
    assert -1 not in space
    assert N_DEALS not in space


def test_repr_says_what_is_known() -> None:
    space = DealSpace(where="aces=2", seat=1, talon=CardSet.parse("AS"))
    assert repr(space) == f"<DealSpace {space.count} deals; middlehand: aces=2; A... with talon>"


def test_marriage_values_of_other_rules() -> None:
    mil = DealSpace(where="marriage_points=100")
    other = DealSpace(where="marriage_points=100", marriage_values=(80, 100, 40, 60))
    assert mil.count == other.count
    assert mil.number(0) != other.number(0)
