"""What the solver's public functions refuse, and how they take what they accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim.cards import CardSet
from milsim.deals import Deal
from milsim.errors import DealError, RulesError, UsageError
from milsim.position import Position
from milsim.solver import best_exchange, best_exchange_batch, solve, solve_batch

A, B, C = 0b001100, 0b010001, 0b100010  # spades: K Q, 10 9, A J


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((A, A, C, 0, 4), "KS|QS is in the hands of declarer and left"),
        ((A, B, B, 0, 4), "9S is in the hands of left and right"),
        ((A, B, 1 << 23, 0, 4), "unequal counts of cards: declarer 2, left 2, right 1"),
        ((A, B, C, 0, 7), "trump must be a suit 0 to 3, or 4 for none, got 7"),
        ((A, B, C, 0, -1), "trump must be a suit 0 to 3, or 4 for none, got -1"),
        ((A, B, C, 3, 4), "leader must be 0 declarer, 1 his left or 2 his right, got 3"),
        ((1 << 24, B, C, 0, 4), "mask 16777216 of declarer has bits outside the 24 cards"),
        ((A, -1, C, 0, 4), "mask -1 of left has bits outside the 24 cards"),
        ((0, 0, 0, 0, 4), "hands have 0 cards, must have 1 to 8"),
        (((1 << 9) - 1, (1 << 9) - 1 << 9, 0, 0, 4), "unequal counts"),
    ],
)
@pytest.mark.parametrize("at_least", [None, 10])
def test_rows_that_are_no_position(row: tuple[int, ...], why: str, at_least: Any) -> None:
    good = (A, B, C, 0, 4)
    columns = np.array([good, good, row, good]).T
    with pytest.raises(DealError, match=f"no position at index 2: .*{why}"):
        solve_batch(*columns, at_least=at_least)


@given(st.tuples(*[st.integers(-(2**63), 2**64 - 1)] * 5))
def test_garbage_is_refused_or_solved(row: tuple[int, ...]) -> None:
    columns = [np.array([number]) for number in row]
    with pytest.raises(DealError):
        solve_batch(*columns)


def test_a_huge_unsigned_number_does_not_wrap() -> None:
    with pytest.raises(DealError, match="bits outside"):
        solve_batch(np.array([2**64 - 1], np.uint64), [B], [C])


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (([A, A], [B], [C]), "differ in length: declarer 2, left 1, right 1"),
        (([0.5], [B], [C]), "declarer must be whole numbers, got float64"),
        (([[A]], [B], [C]), "declarer must be one row of numbers"),
        ((["A"], [B], [C]), "declarer must be whole numbers"),
        (([True], [B], [C]), "declarer must be whole numbers, got bool"),
        (([None], [B], [C]), "declarer must be whole numbers"),
        (([2**80], [B], [C]), "declarer: 1208925819614629174706176 at index 0 is out of range"),
        (([A, -(2**70)], [B], [C]), "declarer: -1180591620717411303424 at index 1 is out of range"),
        (([[A], [1, 2]], [B], [C]), "declarer must be whole numbers in one row, got"),
        ((2**70, B, C), "declarer: 1180591620717411303424 is out of range"),
    ],
)
def test_columns_that_are_none(columns: Any, why: str) -> None:
    with pytest.raises(DealError, match=why):
        solve_batch(*columns)


def test_columns_of_any_integers_and_sets() -> None:
    whole = solve_batch([A], [B], [C])
    for kind in (np.int32, np.uint32, np.int64, np.uint64):
        columns = [np.array([mask], kind) for mask in (A, B, C)]
        assert solve_batch(*columns) == whole
    assert solve_batch([CardSet(A)], [CardSet(B)], [CardSet(C)]) == whole
    assert solve_batch(A, B, C) == whole
    assert solve_batch([A, A], [B, B], [C, C], leader=[0, 1], trump=4).shape == (2,)
    strided = np.array([[A, 0], [A, 0]])[:, 0]
    assert solve_batch(strided, [B, B], [C, C]).tolist() == [whole[0], whole[0]]


def test_nothing_gives_nothing() -> None:
    assert solve_batch([], [], []).shape == (0,)
    assert solve_batch([], [], [], at_least=3).dtype == np.bool_
    assert best_exchange_batch(np.empty(0, np.int64)).points.shape == (0,)


def test_thresholds_by_row_and_trivial_ones() -> None:
    points = int(solve_batch(A, B, C)[0])
    needs = [points, points + 1, 0, -5, 10**9]
    many = solve_batch([A] * 5, [B] * 5, [C] * 5, at_least=needs)
    assert many.tolist() == [True, False, True, True, False]
    with pytest.raises(DealError, match="at_least must be whole numbers"):
        solve_batch(A, B, C, at_least=99.5)
    with pytest.raises(DealError, match=r"at_least: 10{30} is out of range"):
        solve_batch(A, B, C, at_least=10**30)


@pytest.mark.parametrize("threads", [0, -1, 5000, True, 1.5])
def test_threads_out_of_range(threads: Any) -> None:
    with pytest.raises(UsageError, match="threads must be 1 to"):
        solve_batch(A, B, C, threads=threads)


def test_threads_of_any_integer() -> None:
    assert solve_batch(A, B, C, threads=np.int64(2)) == solve_batch(A, B, C)  # type: ignore[call-overload]


def test_gifts_are_plain_numbers() -> None:
    found = solve(688_907_321_587, gifts=np.array([20, 19]))  # type: ignore[arg-type]
    assert found.gifts == (20, 19)
    assert found.gifts is not None
    assert [type(card) for card in found.gifts] == [int, int]


def test_unknown_rules() -> None:
    for ask in (lambda: solve_batch(A, B, C, rules="mill"), lambda: best_exchange(0, rules="mill")):
        with pytest.raises(RulesError, match="did you mean"):
            ask()


def test_threads_give_the_same() -> None:
    random = np.random.default_rng(3)
    cards = np.array([random.permutation(24)[:15] for _ in range(700)])
    hands = [(1 << cards[:, 5 * seat : 5 * seat + 5]).sum(axis=1) for seat in range(3)]
    leader = random.integers(0, 3, 700)
    one = solve_batch(*hands, leader, 4, threads=1)
    np.testing.assert_array_equal(solve_batch(*hands, leader, 4, threads=3), one)
    numbers = random.integers(0, 807_723_671_040, 40)
    few, many = (best_exchange_batch(numbers, threads=threads) for threads in (1, 2))
    for here, there in zip(few, many, strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda: solve(-1), "deal number -1 is out of range"),
        (lambda: solve(10**12), "deal number 1000000000000"),
        (lambda: solve("AS"), "deal, position or deal number must be an integer"),  # type: ignore[arg-type]
        (lambda: solve(0, declarer=3), "declarer must be 0 forehand"),
        (lambda: solve(0, gifts=(0, 0)), "gift 9S is given twice"),
        (lambda: solve(0, gifts=(7, 0)), "gift JC is not among the declarer's cards"),
        (lambda: solve(0, gifts=(99, 0)), "gift 99 is not among the declarer's cards"),
        (lambda: solve(0, gifts=(0,)), "gifts must be two card indices"),  # type: ignore[arg-type]
        (lambda: solve(0, gifts={20, 19}), "gifts must be two card indices, .*got {"),  # type: ignore[arg-type]
        (lambda: solve(0, gifts={20: 1, 19: 2}), "gifts must be two card indices, .*got {20: 1"),  # type: ignore[arg-type]
        (lambda: solve(Position([A, B, C]), gifts=(0, 1)), "gifts belong to a deal"),
        (lambda: solve(Position([A, B, C]), rules="mil"), "rules of a position are its own"),
        (lambda: solve(Position([A, B, C], trump=7)), "trump"),
        (lambda: best_exchange_batch([-1]), "deal number -1 at index 0"),
        (lambda: best_exchange_batch([0.5]), "whole numbers"),
        (lambda: best_exchange_batch(["5"]), "whole numbers, got <U1"),
        (lambda: best_exchange_batch([[1], [1, 2]]), "whole numbers in one row"),  # type: ignore[list-item]
        (lambda: best_exchange_batch([2**70]), "out of range"),
        (lambda: best_exchange_batch([0] * 70_000 + [-1]), "deal number -1 at index 70000"),
        (lambda: best_exchange_batch([0], declarer=-1), "got -1"),
    ],
)
def test_what_solve_and_exchange_refuse(ask: Callable[[], object], why: str) -> None:
    with pytest.raises(DealError, match=why):
        ask()


def test_a_deal_and_its_number_are_the_same() -> None:
    number = 688_907_321_587
    assert best_exchange(Deal.from_id(number)) == best_exchange(np.int64(number))
