"""Deals: numbers as RULES.md §1 defines them, faults, and every way to write a deal."""

from __future__ import annotations

import copy
import csv
import itertools
import json
import pickle
import re
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim.cards import ALL_CARDS, LETTERS, CardSet, format_card
from milsim.deals import (
    FOREHAND,
    MIDDLEHAND,
    N_DEALS,
    PLACES,
    REARHAND,
    Deal,
    DealFault,
    combination_rank,
    combination_unrank,
)
from milsim.errors import DealError, MilsimError, NotationError

GOLDEN = Path(__file__).parent / "golden" / "deal_numbers.csv"
numbers = st.integers(0, N_DEALS - 1)
EXAMPLE = Deal.from_id(688_907_321_587)


def all_masks(deal: Deal) -> tuple[int, ...]:
    return (*deal.hand_masks, deal.talon_mask)


# -- numbers -------------------------------------------------------------------------------------


def test_every_public_example_of_a_deal_number() -> None:
    with GOLDEN.open(newline="") as file:
        rows = [[int(cell) for cell in row.values()] for row in csv.DictReader(file)]
    assert len(rows) == 300
    for number, *masks in rows:
        assert all_masks(Deal.from_id(number)) == tuple(masks)
        assert Deal(*masks).id == number


def test_the_number_of_deals() -> None:
    assert N_DEALS == 807_723_671_040 == comb(24, 7) * comb(17, 7) * comb(10, 7)
    assert all_masks(Deal.from_id(0)) == (0x7F, 0x7F << 7, 0x7F << 14, 0b111 << 21)
    assert all_masks(Deal.from_id(N_DEALS - 1)) == (0x7F << 17, 0x7F << 10, 0x7F << 3, 0b111)


@given(numbers)
def test_a_deal_number_and_its_deal(number: int) -> None:
    deal = Deal.from_id(number)
    assert deal.id == number
    assert [mask.bit_count() for mask in all_masks(deal)] == [7, 7, 7, 3]
    assert sum(all_masks(deal)) == ALL_CARDS


def test_rank_and_unrank_are_each_other_for_all_7_of_10() -> None:
    masks = [combination_unrank(rank, 10, 7) for rank in range(comb(10, 7))]
    # Colex order of sets of one size is the numeric order of their masks.
    assert masks == [mask for mask in range(1 << 10) if mask.bit_count() == 7]
    assert [combination_rank(mask) for mask in masks] == list(range(comb(10, 7)))


@given(st.sets(st.integers(0, 23), min_size=7, max_size=7))
def test_rank_is_the_sum_of_binomials_for_7_of_24(positions: set[int]) -> None:
    mask = sum(1 << position for position in positions)
    expected = sum(comb(c, i + 1) for i, c in enumerate(sorted(positions)))
    assert combination_rank(mask) == expected
    assert combination_unrank(expected, 24, 7) == mask


def test_rank_and_unrank_are_each_other_for_a_sample_of_7_of_24() -> None:
    ranks = [*range(0, comb(24, 7), 1009), comb(24, 7) - 1]
    masks = [combination_unrank(rank, 24, 7) for rank in ranks]
    assert masks == sorted(set(masks))
    assert [combination_rank(mask) for mask in masks] == ranks


def test_wrong_combinations() -> None:
    assert combination_unrank(0, 5, 0) == combination_rank(0) == 0
    for rank, n, k in [(-1, 10, 7), (120, 10, 7), (0, 3, 4), (0, 3, -1), (0, -1, 0), (1, 0, 0)]:
        with pytest.raises(DealError):
            combination_unrank(rank, n, k)
    for wrong in (1.0, "1", True, None):
        with pytest.raises(DealError, match="must be an integer"):
            combination_unrank(wrong, 10, 7)  # type: ignore[arg-type]
        with pytest.raises(DealError, match="must be an integer"):
            combination_rank(wrong)  # type: ignore[arg-type]
    with pytest.raises(DealError, match="must be 0 or more"):
        combination_rank(-1)


def test_deal_number_out_of_range() -> None:
    for wrong in (-1, N_DEALS, 10**30, 10**5000):  # the last has no decimal form in Python
        with pytest.raises(DealError, match="is out of range: 0 to 807723671039"):
            Deal.from_id(wrong)


@pytest.mark.parametrize(
    "wrong", [True, False, 0.0, float("nan"), "5", None, b"6", np.float64(1), np.bool_(True)]
)
def test_deal_number_of_a_wrong_kind(wrong: object) -> None:
    with pytest.raises(DealError, match="deal number must be an integer, got"):
        Deal.from_id(wrong)  # type: ignore[arg-type]


def test_numpy_deal_numbers_are_numbers() -> None:
    deal = Deal.from_id(np.uint64(N_DEALS - 1))
    assert deal.id == N_DEALS - 1
    assert all(type(mask) is int for mask in all_masks(deal))


# -- faults --------------------------------------------------------------------------------------


def test_hands_by_seat() -> None:
    deal = EXAMPLE
    assert deal.hands == (deal.forehand, deal.middlehand, deal.rearhand)
    assert deal.hand_masks == tuple(int(hand) for hand in deal.hands)
    for seat, hand in zip((FOREHAND, MIDDLEHAND, REARHAND), deal.hands, strict=True):
        assert deal.hand(seat) == hand
        assert deal.hand_mask(seat) == int(hand)
    for wrong in (-1, 3, True, "forehand", 0.0):
        with pytest.raises(DealError, match="seat"):
            deal.hand(wrong)  # type: ignore[arg-type]


def test_each_fault_and_all_at_once() -> None:
    f, m, r, t = all_masks(EXAMPLE)
    low, high = f & -f, 1 << 24
    no_faults = DealFault(0)
    assert Deal.faults_of(f, m, r, t) == no_faults
    assert Deal.faults_of(CardSet(f), m, CardSet(r), t) == no_faults
    assert Deal.faults_of(f, m, r, t | high) == DealFault.UNKNOWN_CARD
    lost = DealFault.MISSING_CARD
    assert Deal.faults_of(f ^ low, m, r, t) == DealFault.FOREHAND_COUNT | lost
    assert Deal.faults_of(f, m & m - 1, r, t) == DealFault.MIDDLEHAND_COUNT | lost
    assert Deal.faults_of(f, m, r & r - 1, t) == DealFault.REARHAND_COUNT | lost
    assert Deal.faults_of(f, m, r, t & t - 1) == DealFault.TALON_COUNT | lost
    twice = DealFault.DUPLICATE_CARD
    assert Deal.faults_of(f, m, r, t | low) == DealFault.TALON_COUNT | twice
    assert Deal.faults_of(f, f, r, t) == twice | lost
    every = ~no_faults
    assert Deal.faults_of(high | 1, high | 1, 0, 0) == every
    assert Deal.faults_of(-1, -1, 0, 0) & DealFault.UNKNOWN_CARD


def test_a_wrong_deal_names_its_faults() -> None:
    f, m, r, t = all_masks(EXAMPLE)
    ace = format_card(5)
    for masks, words in [
        ((f, m, r, t | 1 << 5), ["talon has 4 cards, not 3", f"{ace} in forehand and talon"]),
        ((f ^ 1 << 5, m, r, t), ["forehand has 6 cards, not 7", f"{ace} in no hand"]),
        ((f, m, r, t | 1 << 30), ["of talon has bits outside the 24 cards"]),
        ((-1, 0, 10**5000, 0), ["mask -1 of forehand has bits outside", "24 cards, not 7"]),
    ]:
        with pytest.raises(DealError) as caught:
            Deal(*masks)
        assert str(caught.value).startswith("no deal: ")
        assert len(str(caught.value).splitlines()) == 1
        for word in words:
            assert word in str(caught.value)
    for wrong in (True, 1.5, "AS", None):
        with pytest.raises(DealError, match="mask of middlehand must be an integer"):
            Deal(f, wrong, r, t)  # type: ignore[arg-type]
        with pytest.raises(DealError, match="mask of talon must be an integer"):
            Deal.faults_of(f, m, r, wrong)  # type: ignore[arg-type]


@given(st.lists(st.integers(-(1 << 25), 1 << 26), min_size=4, max_size=4))
def test_a_deal_is_made_exactly_when_it_has_no_fault(masks: list[int]) -> None:
    faults = Deal.faults_of(*masks)
    try:
        deal = Deal(*masks)
    except DealError:
        assert faults
    else:
        assert not faults
        assert all_masks(deal) == tuple(masks)


def test_a_deal_cannot_be_changed_and_is_a_value() -> None:
    with pytest.raises(AttributeError):
        EXAMPLE.talon = CardSet(0)  # type: ignore[misc]
    assert len({EXAMPLE, Deal.from_id(EXAMPLE.id), Deal.from_id(0)}) == 2


# -- text ----------------------------------------------------------------------------------------


@given(numbers)
def test_every_printed_form_is_read_back(number: int) -> None:
    deal = Deal.from_id(number)
    assert Deal.parse(str(deal)) == eval(repr(deal)) == deal
    assert pickle.loads(pickle.dumps(deal)) == copy.deepcopy(deal) == deal
    for text in (str(number), f"#{number}", f" # {number:015}\n"):
        assert Deal.parse(text) == deal
    hands = [str(hand) for hand in (*deal.hands, deal.talon)]
    lists = [" ".join(map(format_card, hand)) for hand in (*deal.hands, deal.talon)]
    for separator in (" ", " | ", "|", "/", " / ", "\n", "\r\n", " |\n", "\n\n"):
        assert Deal.parse(separator.join(hands)) == deal
        assert Deal.parse(separator.join(hands[:3])) == deal
        for place in range(4):
            some = [*hands[:place], "*", *hands[place + 1 :]]
            assert Deal.parse(separator.join(some)) == deal
        if separator != " ":
            assert Deal.parse(separator.join(lists)) == deal
    assert Deal.parse(" | ".join(lists[:3]) + " |") == deal
    assert Deal.from_dict(json.loads(json.dumps(deal.to_dict()))) == deal


def test_other_letters_and_pretty_hands() -> None:
    polish = str(EXAMPLE).replace("Q", "D").replace("J", "W")
    assert Deal.parse(polish, letters="polish") == EXAMPLE
    pretty = [line.split(maxsplit=1) for line in EXAMPLE.pretty().splitlines()]
    assert [place for place, _ in pretty] == list(PLACES)
    assert Deal.parse("\n".join(hand for _, hand in pretty)) == EXAMPLE
    assert EXAMPLE.pretty(ascii=True).isascii()


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("807723671040", DealError, "is out of range: 0 to 807723671039"),
        ("9" * 6000, DealError, "is out of range: 0 to 807723671039"),
        ("-1", DealError, "deal number -1 is out of range"),
        ("", NotationError, "no deal in '': write a deal number"),
        ("nan", NotationError, "no deal in 'nan'"),
        ("1e9", NotationError, "no deal in '1e9'"),
        ("AS KS QS", NotationError, "any hands between |"),
        ("A.K.Q.J A.K.Q.J", NotationError, "is not 3 or 4 hands"),
        ("1|2|3|4|5", NotationError, "is not 3 or 4 hands"),
        ("* * ... ...", NotationError, "leaves 2 hands open, not at most 1"),
        ("...|AX...|...|...", NotationError, "middlehand: unknown rank 'X' in 'AX'"),
        ("...|AA...|...|...", NotationError, "middlehand: card AS is given twice in 'AA...'"),
        ("A...|A...|...|...", DealError, "AS in forehand and middlehand"),
        ("A.K.Q.J", NotationError, "is not 3 or 4 hands"),
    ],
)
def test_wrong_text_says_what_and_where(text: str, kind: type[MilsimError], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)) as caught:
        Deal.parse(text)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 400


def test_wrong_kinds_of_text() -> None:
    for wrong in (None, 5, b"5", [5]):
        with pytest.raises(NotationError, match="deal must be text, got"):
            Deal.parse(wrong)  # type: ignore[arg-type]
    with pytest.raises(NotationError, match="unknown letters 'greek'"):
        Deal.parse(str(EXAMPLE), letters="greek")


signs = st.text(alphabet="0123456789JQKTAWDSCDHscdh♠♥♦♣.-, |/*#\n\r\x0b", max_size=60)


@given(numbers)
def test_what_pretty_prints_is_read_back(number: int) -> None:
    deal = Deal.from_id(number)
    assert Deal.parse(deal.pretty()) == deal
    assert Deal.parse(deal.pretty(ascii=True)) == deal


@given(text=st.text() | signs, letters=st.sampled_from(LETTERS))
def test_garbage_raises_only_our_errors(text: str, letters: str) -> None:
    message = "one line"
    try:
        deal = Deal.parse(text, letters=letters)
        assert Deal.parse(str(deal)) == deal
    except (NotationError, DealError) as error:
        message = str(error)
    assert len(message.splitlines()) == 1


@given(number=numbers, data=st.data())
def test_a_spoilt_deal_raises_only_our_errors(number: int, data: st.DataObject) -> None:
    text = str(Deal.from_id(number))
    place = data.draw(st.integers(0, len(text) - 1))
    spoilt = text[:place] + data.draw(signs) + text[place + 1 :]
    message = "one line"
    try:
        Deal.parse(spoilt)
    except (NotationError, DealError) as error:
        message = str(error)
    assert len(message.splitlines()) == 1


# -- JSON and HTML -------------------------------------------------------------------------------


def test_from_dict_takes_a_number_or_hands() -> None:
    full = EXAMPLE.to_dict()
    assert list(full) == ["deal", *PLACES]
    assert Deal.from_dict({"deal": EXAMPLE.id}) == EXAMPLE
    for n in (3, 4):
        assert Deal.from_dict(dict(itertools.islice(full.items(), 1, n + 1))) == EXAMPLE


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        ({"dael": 5}, NotationError, "unknown key 'dael' in a deal: did you mean deal?"),
        ({1: 5}, NotationError, "unknown key 1 in a deal"),
        ({}, NotationError, "no forehand in a deal"),
        ({"deal": "5"}, DealError, "deal number must be an integer, got '5'"),
        ({"deal": 5, "talon": "..."}, DealError, "talon '...' is not that of deal 5"),
        ({"forehand": 5}, NotationError, "forehand: hand must be text, got 5"),
        ([1], NotationError, "deal must be an object with keys, got [1]"),
        (None, NotationError, "deal must be an object with keys"),
        (dict.fromkeys(PLACES, "..."), DealError, "forehand has 0 cards, not 7"),
    ],
)
def test_wrong_dicts(data: object, kind: type[MilsimError], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        Deal.from_dict(data)  # type: ignore[arg-type]


def test_html_names_the_deal_and_its_places() -> None:
    markup = EXAMPLE._repr_html_()
    assert f"deal {EXAMPLE.id}" in markup
    for place, hand in zip(PLACES, (*EXAMPLE.hands, EXAMPLE.talon), strict=True):
        assert place in markup
        assert str(hand) in markup
