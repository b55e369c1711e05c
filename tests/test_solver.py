"""The solver against a plain minimax, against the reference, against known values; its invariances.

Golden files ``dd_*.csv`` and ``exchange_*.csv`` come from another solver (NUMBERS.md, Solver).
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from milsim.cards import NO_TRUMP, mask_of
from milsim.position import Position
from milsim.reference import Position as ReferencePosition
from milsim.rules import Rules, load, packed, preset_names
from milsim.solver import (
    best_exchange,
    best_exchange_batch,
    signature,
    solve,
    solve_batch,
)
from milsim.solver.brute import brute_value
from milsim.solver.dominance import with_equal_above, with_equal_below
from milsim.solver.ranked import ranked, second_cards, suit_of, third_cards, unranked
from milsim.solver.root import answer
from milsim.solver.table import NODES, TABLE_START, new_workspace
from milsim.tricks import (
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    NOTHING,
    OPTIONAL_DECLARATION,
    can_declare,
    declared_points,
    last_trick_points,
    legal_follow,
    legal_second,
    legal_third,
    play_flags,
    play_values,
    points_in,
    suit_mask,
    trump_mask,
    winning_place,
)
from tests.strategies import any_rules, positions, presets, rule_sets

GOLDEN = Path(__file__).parent / "golden"
TRADITIONS = ("mil", "gamerules")
SEATS = st.integers(0, 2)


def golden(name: str) -> NDArray[np.int64]:
    with (GOLDEN / name).open() as file:
        rows = list(csv.reader(file))[1:]
    return np.array(rows, dtype=np.int64)


# ------------------------------------------------------------------------------- three minimaxes


def reference_value(position: ReferencePosition, declarer: int) -> int:
    """Plain minimax by the specification: the declarer's points from here on."""
    if position.is_over:
        return 0
    values = []
    for play in position.legal_plays():
        after = position.play(play.card, play.declares)
        gained = after.points[declarer] - position.points[declarer]
        values.append(gained + reference_value(after, declarer))
    return max(values) if position.actor == declarer else min(values)


def brute(position: ReferencePosition, declarer: int) -> int:
    rules = packed(position.rules)
    seats = [(position.leader + turn) % 3 for turn in range(3)]
    hands = [mask_of(position.hands[seat]) for seat in seats]
    lead, follow = (*(1 << card for card in position.trick), 0, 0)[:2]
    return int(
        brute_value(
            *hands,
            seats.index(declarer),
            lead,
            follow,
            trump_mask(position.trump),
            trump_mask(position.coming_trump),
            position.trick_number,
            play_flags(rules),
            play_values(rules),
        )
    )


class Searched:
    """The kernel that answers questions, on a position of the reference."""

    def __init__(self, position: ReferencePosition, declarer: int, bits: int = 10) -> None:
        rules = packed(position.rules)
        self.flags, self.values = play_flags(rules), play_values(rules)
        self.work = new_workspace(bits)
        hands = [mask_of(position.hands[(declarer + turn) % 3]) for turn in range(3)]
        table = (*(1 << card for card in position.trick), 0, 0, 0)[:3]
        leader = (position.leader - declarer) % 3
        trumps = position.trump, position.coming_trump
        self.rows = np.array([[*hands, leader, *trumps, *table, position.trick_number]]).T.copy()

    def exact(self, guess: int = 60) -> int:
        return self._ask(guess, 1)

    def bound(self, need: int) -> int:
        return self._ask(need, 0)

    def _ask(self, need: int, exact: int) -> int:
        found = np.empty(1, np.int64)
        answer(
            self.rows, np.array([need]), exact, 0, self.flags, self.values, self.work, found
        )  # fmt: skip
        return int(found[0])


def random_ending(
    random: Random, rules: Rules, size: int, *, in_a_trick: bool
) -> ReferencePosition:
    """An ending with some taste for marriages and aces, in the middle of a trick if wanted."""
    cards = list(range(24))
    weight = random.choice([0, 0, 4, 8])
    cards.sort(key=lambda card: random.random() * 10 - weight * (card % 6 in (2, 3, 5)))
    cards = cards[: 3 * size]
    random.shuffle(cards)
    position = ReferencePosition.start(
        [cards[size * seat : size * (seat + 1)] for seat in range(3)],
        random.randrange(3),
        trump=random.randrange(5),
        trick_number=random.choice([9 - size, random.randint(1, 9 - size)]),
        rules=rules,
    )
    for _ in range(random.randrange(3) if in_a_trick else 0):
        play = random.choice(position.legal_plays())
        position = position.play(play.card, play.declares)
    return position


def drawn_rules(random: Random) -> Rules:
    """Presets, and play fields at random (faster than hypothesis, for thousands)."""
    if random.random() < 0.3:
        return load(random.choice(preset_names()))
    from milsim.rules.fields import build

    first, last = sorted(random.choices(range(1, 9), k=2))
    if random.random() < 0.6:
        first, last = random.randint(1, 3), 8
    suits = ("spades", "clubs", "diamonds", "hearts")
    values = {
        "play.must_beat": random.choice(["no", "if_can_win", "always", "second_hand_only"]),
        "play.must_trump": random.choice([True, True, False]),
        "play.must_overtrump": random.choice([True, False]),
        "play.cannot_overtrump": random.choice(["any_trump", "anything"]),
        "play.marriage_from_trick": first,
        "play.marriage_until_trick": last,
        "play.marriage_card": random.choice(["king_or_queen", "queen"]),
        "play.marriage_declaration": random.choice(["automatic", "optional"]),
        "play.trump_effect": random.choice(["immediate", "next_trick"]),
        "play.ace_marriage": random.choice([0, 200]),
        "play.last_trick_bonus": random.choice([0, 10, 37]),
        **{f"deal.marriage_values.{s}": random.choice([0, 40, 60, 100, 1000]) for s in suits},
    }
    return build(values, name="drawn", source="a test")


@given(positions(), SEATS)
@settings(max_examples=60)
def test_brute_agrees_with_the_reference(position: ReferencePosition, declarer: int) -> None:
    hands = [sorted(hand)[:3] for hand in position.hands]
    small = ReferencePosition.start(
        hands, position.leader, trump=position.trump, trick_number=min(position.trick_number, 6),
        rules=position.rules,
    )  # fmt: skip
    assert brute(small, declarer) == reference_value(small, declarer)


def test_brute_agrees_with_the_reference_on_endings_rich_in_marriages() -> None:
    random = Random(5)
    for _ in range(150):
        position = random_ending(
            random, drawn_rules(random), random.choice([2, 3]), in_a_trick=True
        )
        declarer = random.randrange(3)
        assert brute(position, declarer) == reference_value(position, declarer), position


@pytest.mark.parametrize("seed", range(4))
def test_the_search_agrees_with_brute_on_thousands_of_endings(seed: int) -> None:
    random = Random(seed)
    for _ in range(1000):
        rules = drawn_rules(random)
        position = random_ending(random, rules, random.choice([1, 2, 3, 3, 4]), in_a_trick=True)
        declarer = random.randrange(3)
        value = brute(position, declarer)
        assert Searched(position, declarer).exact(random.randint(0, 300)) == value, position


@pytest.mark.parametrize("preset", preset_names())
def test_the_search_agrees_with_brute_in_every_preset(preset: str) -> None:
    random = Random(preset)
    for _ in range(400):
        position = random_ending(
            random, load(preset), random.choice([2, 3, 4, 4]), in_a_trick=False
        )
        declarer = random.randrange(3)
        assert Searched(position, declarer).exact() == brute(position, declarer), position


@given(positions(), SEATS)
@settings(max_examples=100)
def test_the_search_agrees_with_brute_where_hypothesis_looks(
    position: ReferencePosition, declarer: int
) -> None:
    hands = [sorted(hand)[-4:] for hand in position.hands]
    size = len(hands[0])
    small = ReferencePosition.start(
        hands, position.leader, trump=position.trump,
        trick_number=min(position.trick_number, 9 - size), rules=position.rules,
    )  # fmt: skip
    assert Searched(small, declarer).exact() == brute(small, declarer)


@pytest.mark.slow
def test_the_search_agrees_with_brute_on_endings_of_five_cards() -> None:
    random = Random(55)
    for _ in range(400):
        position = random_ending(random, drawn_rules(random), 5, in_a_trick=True)
        declarer = random.randrange(3)
        assert Searched(position, declarer).exact() == brute(position, declarer), position


# ---------------------------------------------------------------------------------- known values


@pytest.mark.parametrize("rules", TRADITIONS)
@pytest.mark.parametrize("kind", ["full", "endings"])
def test_known_values(kind: str, rules: str) -> None:
    rows = golden(f"dd_{kind}_{rules}.csv")
    points = solve_batch(*rows.T[:5], rules=rules)
    assert points.dtype == np.int16
    np.testing.assert_array_equal(points, rows[:, 5])
    for need in (1, 60, 100, 120):
        reached = solve_batch(*rows.T[:5], rules=rules, at_least=need)
        assert reached.dtype == np.bool_
        np.testing.assert_array_equal(reached, rows[:, 5] >= need)


@pytest.mark.parametrize("rules", TRADITIONS)
def test_known_exchanges(rules: str) -> None:
    rows = golden(f"exchange_{rules}.csv")
    found = best_exchange_batch(rows[:, 0], rules=rules)
    np.testing.assert_array_equal(found.points, rows[:, 5])
    np.testing.assert_array_equal(found.count, rows[:, 6])
    for i, (number, *_, worst) in enumerate(rows[:10].tolist()):
        one = best_exchange(number, rules=rules)
        assert (one.points, one.count) == (found.points[i], found.count[i])
        assert (one.gift_left, one.gift_right) == (found.gift_left[i], found.gift_right[i])
        assert (one.gift_left, one.gift_right) == min(one.best)
        assert len(one.values) == 90
        assert min(one.values.values()) == worst


@given(st.integers(0, 807_723_671_039), SEATS, st.sampled_from(TRADITIONS))
@settings(max_examples=4)
def test_the_exchange_is_the_best_of_ninety_solves(number: int, declarer: int, rules: str) -> None:
    found = best_exchange(number, declarer=declarer, rules=rules)
    hands = list(found.deal.hand_masks)
    ten = hands[declarer] | found.deal.talon_mask
    rows = [
        (
            ten ^ 1 << left ^ 1 << right,
            hands[(declarer + 1) % 3] | 1 << left,
            hands[(declarer + 2) % 3] | 1 << right,
        )
        for left, right in found.values
    ]
    points = solve_batch(*np.array(rows).T, rules=rules)
    np.testing.assert_array_equal(points, list(found.values.values()))
    assert found.points == points.max()
    assert found.count == (points == points.max()).sum()


# ----------------------------------------------------------------------------------- invariances


def some_positions(count: int, size: int, seed: int) -> list[tuple[ReferencePosition, int]]:
    random = Random(seed)
    return [
        (random_ending(random, drawn_rules(random), size, in_a_trick=True), random.randrange(3))
        for _ in range(count)
    ]


@pytest.mark.parametrize("bits", [4, 8, 18])
def test_the_size_of_the_table_changes_nothing(bits: int) -> None:
    for position, declarer in some_positions(100, 6, bits):
        assert (
            Searched(position, declarer, bits).exact() == Searched(position, declarer, 13).exact()
        )


def test_the_guess_changes_nothing_and_a_used_table_neither() -> None:
    for position, declarer in some_positions(50, 6, 1):
        value = Searched(position, declarer).exact()
        searched = Searched(position, declarer)
        for guess in (1, value, value + 1, 500, 0, 20):
            assert searched.exact(guess) == value


def test_thresholds_are_monotone_and_consistent_with_the_value() -> None:
    for position, declarer in some_positions(60, 5, 2):
        value = Searched(position, declarer).exact()
        warm = Searched(position, declarer)
        for need in (1, 20, value - 1, value, value + 1, value + 2, 90, 150):
            for searched in (warm, Searched(position, declarer)):
                bound = searched.bound(need)
                assert (bound >= need) == (value >= need)
                assert bound <= value if bound >= need else bound >= value


def test_the_table_holds_true_bounds() -> None:
    """Each entry, decoded, is solved anew: a bound was kept as what it is."""
    from milsim.solver import table

    checked = 0
    for position, declarer in some_positions(30, 7, 3):
        if position.trick:
            continue
        searched = Searched(position, declarer)
        searched.bound(70)
        searched.bound(40)
        hands = [ranked(mask_of(position.hands[(declarer + turn) % 3])) for turn in range(3)]
        for word in searched.work[TABLE_START:].tolist():
            if word == 0:
                continue
            key = table.key_in(word)
            cards, leader, code = key & 0xFFFFFF, key >> 24 & 3, key >> 26 & 7
            trump = {0: 4, 1: 0, 2: 1, 4: 2, 7: 3}[code]
            left = [unranked(hand & cards) for hand in hands]
            fresh = Searched(position, declarer)
            tricks_gone = len(position.hands[0]) - left[0].bit_count()
            number = position.trick_number + tricks_gone
            fresh.rows[:, 0] = [*left, leader, trump, trump, 0, 0, 0, number]
            value = fresh.exact()
            assert table.lower_in(word) <= value <= table.upper_in(word)
            checked += 1
    assert checked > 100


@given(positions(), SEATS)
@settings(max_examples=60)
def test_turning_the_seats_turns_the_answer(position: ReferencePosition, declarer: int) -> None:
    """The same cards one seat further, declarer and leader with them: the same value."""
    turned = ReferencePosition.start(
        (position.hands[2], position.hands[0], position.hands[1]),
        (position.leader + 1) % 3,
        trump=position.trump,
        trick_number=position.trick_number,
        rules=position.rules,
    )
    value = Searched(position, declarer, 14).exact()
    assert Searched(turned, (declarer + 1) % 3, 14).exact() == value


def minimax(
    hands: Sequence[int],
    leader: int,
    step: int,
    table: tuple[int, ...],
    trumps: tuple[int, int],
    trick: int,
    rules: tuple[int, int],
) -> int:
    """Plain minimax in which seat 0 declares and play goes round by ``step``, 1 or 2 seats.

    ``hands`` by seat, ``trumps`` now and from the next trick on, ``rules`` flags and values.
    """
    flags, values = rules
    seat = (leader + step * len(table)) % 3
    if not hands[seat]:
        return 0
    now, coming = trumps
    lead, follow = (*table, 0, 0)[:2]
    found = []
    legal = legal_follow(hands[seat], lead, follow, now, flags)
    for card in [1 << i for i in range(24) if legal >> i & 1]:
        rest = [hand & ~card for hand in hands]
        kind = can_declare(hands[seat], card, trick, flags) if not table else NOTHING
        ways = [False] if kind == NOTHING or flags & OPTIONAL_DECLARATION else []
        for declares in ways if kind == NOTHING else [*ways, True]:
            gain = declared_points(kind, card, values) if declares and seat == 0 else 0
            after = coming if not declares or kind != MARRIAGE else suit_mask(card)
            here = after if declares and not flags & NEXT_TRICK_TRUMP else now
            played = (*table, card)
            if len(played) < 3:
                value = minimax(rest, leader, step, played, (here, after), trick, rules)
            else:
                winner = (leader + step * winning_place(*played, now)) % 3
                last = last_trick_points(values) if not any(rest) else 0
                value = points_in(sum(played)) + last if winner == 0 else 0
                value += minimax(rest, winner, step, (), (coming, coming), trick + 1, rules)
            found.append(gain + value)
    return max(found) if seat == 0 else min(found)


def test_swapping_the_defenders_with_the_order_of_play_changes_nothing() -> None:
    """Mirrored: each defender's cards at the other's place, and play goes round the other way."""
    random = Random(31)
    moved = 0
    for _ in range(200):
        rules = drawn_rules(random)
        position = random_ending(random, rules, 3, in_a_trick=False)
        own, left, right = (mask_of(hand) for hand in position.hands)
        array = packed(rules)
        how = play_flags(array), play_values(array)
        trump = trump_mask(position.trump)
        common = (), (trump, trump), position.trick_number, how
        mirrored = -position.leader % 3
        value = Searched(position, 0).exact()
        assert minimax((own, left, right), position.leader, 1, *common) == value
        assert minimax((own, right, left), mirrored, 2, *common) == value
        moved += minimax((own, right, left), mirrored, 1, *common) != value
    assert moved > 0  # it is not that the order never matters


def test_suits_of_equal_worth_change_places() -> None:
    """With equal marriage values a change of suits changes no value."""
    from milsim.rules.fields import build

    suits = ("spades", "clubs", "diamonds", "hearts")
    rules = build(
        {f"deal.marriage_values.{suit}": 60 for suit in suits}, name="equal", source="a test"
    )
    random = Random(9)
    for _ in range(40):
        position = random_ending(random, rules, 6, in_a_trick=False)
        order = random.sample(range(4), 4)

        def moved(cards: frozenset[int], order: list[int] = order) -> set[int]:
            return {6 * order[card // 6] + card % 6 for card in cards}

        other = ReferencePosition.start(
            [moved(hand) for hand in position.hands], position.leader,
            trump=NO_TRUMP if position.trump == NO_TRUMP else order[position.trump],
            trick_number=position.trick_number, rules=rules,
        )  # fmt: skip
        assert Searched(position, 1).exact() == Searched(other, 1).exact()


# -------------------------------------------------------------------------------------- encoding


@given(st.integers(0, 2**24 - 1))
def test_cards_by_rank_and_back(mask: int) -> None:
    assert unranked(ranked(mask)) == mask
    assert ranked(mask).bit_count() == mask.bit_count()


@given(st.permutations(range(24)), st.integers(1, 8), st.integers(0, 4), any_rules())
def test_legal_cards_by_rank(cards: list[int], size: int, trump: int, rules: Rules) -> None:
    hand, lead, second = mask_of(cards[2 : 2 + size]), 1 << cards[0], 1 << cards[1]
    flags, trumps = play_flags(packed(rules)), trump_mask(trump)
    at = ranked(lead)
    found = second_cards(ranked(hand), at, suit_of(at), ranked(trumps), flags)
    assert unranked(found) == legal_second(hand, lead, trumps, flags)
    found = third_cards(ranked(hand), at, ranked(second), suit_of(at), ranked(trumps), flags)
    assert unranked(found) == legal_third(hand, lead, second, trumps, flags)


@given(st.integers(0, 2**24 - 1), st.integers(0, 2**24 - 1))
def test_equal_neighbours(hand: int, others: int) -> None:
    others &= ~hand
    below, above = 0, 0
    for card in range(24):
        lower = [each for each in range(card - 4, -1, -4) if (hand | others) >> each & 1]
        if hand >> card & 1 and lower and hand >> lower[0] & 1:
            below |= 1 << card
            above |= 1 << lower[0]
    assert with_equal_below(hand, others) == below
    assert with_equal_above(hand, others) == above


# ----------------------------------------------------------------------------------- the solution


@given(positions(rules=st.one_of(presets(), rule_sets())), SEATS, st.integers(0, 2))
@settings(max_examples=30)
@example(ReferencePosition.start([{2, 3}, {0, 1}, {4, 5}], 0, trick_number=7), 0, 1)
def test_a_line_keeps_its_value_and_no_other_card_is_better(
    drawn: ReferencePosition, declarer: int, on_table: int
) -> None:
    position = Position(
        [mask_of(sorted(hand)[:5]) for hand in drawn.hands], drawn.leader, drawn.trump,
        trick_number=drawn.trick_number if len(drawn.hands[0]) < 6 else min(drawn.trick_number, 4),
        rules=drawn.rules,
    )  # fmt: skip
    for _ in range(on_table):
        position = position.play(*position.legal_acts[-1])
    solution = solve(position, declarer=declarer)
    now, left = position, solution.value
    for act in solution.line:
        here = solve(now, declarer=declarer)
        assert here.value == left
        assert [(each.card, each.declares) for each in here.cards] == list(now.legal_acts)
        values = [each.value for each in here.cards]
        assert left == (max(values) if now.seat == declarer else min(values))
        after = now.play(*act)
        left -= after.totals[declarer] - now.totals[declarer]
        now = after
    assert now.is_over
    assert left == 0
    assert sum(trick.points for trick in solution.tricks) == solution.value
    assert solution.total == now.totals[declarer]
    assert [trick.left for trick in solution.tricks][-1:] == [0]


def test_a_solution_of_a_deal_gives_the_best_gifts() -> None:
    number = 688_907_321_587
    solution = solve(number)
    assert solution.gifts is not None
    assert solution.value == 85
    assert len(solution.cards) == 8
    assert len(solution.line) == 24
    assert solution.to_dict()["value"] == 85
    assert "8. seat" in str(solution)
    other = solve(number, gifts=(17, 16))
    assert other.value == best_exchange(number).values[17, 16]
    assert solve(solution.position).value == 85


def test_an_ended_deal_has_nothing_left() -> None:
    position = Position([1, 2, 4], trick_number=8)
    while not position.is_over:
        position = position.play(*position.legal_acts[0])
    solution = solve(position)
    assert (solution.value, solution.cards, solution.line) == (0, (), ())


def test_a_waiting_trump_waits() -> None:
    """Under next_trick the trump of a marriage led holds from the next trick on."""
    from dataclasses import replace

    rules = load("mil")
    rules = replace(rules, name="waits", play=replace(rules.play, trump_effect="next_trick"))
    position = Position(["KQ...", "9.9..", "A..9."], 0, 2, trick_number=7, rules=rules).play("QS")
    assert (position.trump, position.next_trump) == (2, 0)
    assert solve(position).value == solve(position.play("9S").play("AS")).value


# ------------------------------------------------------------------------------------ the search


def test_the_signature_is_the_same_twice() -> None:
    assert signature() == signature() > 0


def test_the_signature_is_the_one_on_record(update_golden: bool) -> None:
    """A change of it is a change of the search: the commit says ``Bench: N`` (--update-golden)."""
    golden = Path(__file__).parent / "golden" / "solver_signature.txt"
    if update_golden:
        golden.write_text(f"{signature()}\n")
    assert signature() == int(golden.read_text())


def test_nodes_are_counted() -> None:
    position, declarer = some_positions(1, 6, 11)[0]
    searched = Searched(position, declarer)
    searched.exact()
    assert searched.work[NODES] > 0


@pytest.mark.slow
def test_a_second_run_loads_the_recursive_kernels_from_the_cache(tmp_path: Path) -> None:
    """numba#6061: a recursion of varying types aborts the process that loads it."""
    code = (
        "from milsim.solver.brute import brute_value; from milsim.solver import solve_batch;"
        "print(brute_value(32, 16, 8, 0, 0, 0, 0, 0, 8, 0, 0), solve_batch(12, 17, 34)[0])"
    )
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        )  # fmt: skip
        assert run.stdout.split() == ["25", "46"], run.stderr
