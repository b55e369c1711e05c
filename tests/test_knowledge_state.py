"""The kernels of what a seat knows: each inference by itself, against the reference and by hand."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from milsim import reference
from milsim._jit import jit_enabled, kernel_signatures
from milsim.cards import ALL_CARDS, MARRIAGE_MASKS, cards_of, mask_of, parse_card, parse_hand
from milsim.knowledge import layouts as kernels
from milsim.knowledge import state as at
from milsim.rules import Rules, load, packed
from milsim.tricks import play_flags, trump_mask
from tests.chi_square import assert_classes

BINOMIALS, SUBSETS = kernels.kernel_binomials(), kernels.kernel_subsets()
PLAN = np.empty(kernels.PLAN_SIZE, np.int64)
ACES = parse_hand("A.A.A.A")
FOLLOWING_RULES = [
    {"must_beat": beat, "must_trump": trump, "must_overtrump": over, "cannot_overtrump": cannot}
    for beat in ("no", "if_can_win", "always", "second_hand_only")
    for trump in (True, False)
    for over in (True, False)
    for cannot in ("any_trump", "anything")
]


def with_play(**fields: Any) -> Rules:
    mil = load("mil")
    return replace(mil, play=replace(mil.play, **fields))


def flags_of(rules: Rules) -> int:
    return int(play_flags(packed(rules)))


def card(name: str) -> int:
    return 1 << parse_card(name)


def cards(names: str) -> int:
    return mask_of(parse_card(name) for name in names.split())


# --------------------------------------------------------------------------------- a card played


@pytest.mark.parametrize(
    "fields", FOLLOWING_RULES, ids=lambda fields: "-".join(map(str, fields.values()))
)
def test_a_card_is_legal_if_and_only_if_no_better_card_is_held(fields: dict[str, Any]) -> None:
    """Spades led, each trick of one or two cards, each trump, random hands of 1 to 6 cards."""
    rules = with_play(**fields)
    flags = flags_of(rules)
    chance = random.Random(str(fields))
    for lead in range(6):
        for second in (None, *(other for other in range(24) if other != lead)):
            trick = [lead] if second is None else [lead, second]
            rest = [each for each in range(24) if each not in trick]
            for trump in (0, 1, 2, 4):
                hand = chance.sample(rest, chance.randint(1, 6))
                mask = mask_of(hand)
                second_bit = 0 if second is None else 1 << second
                found = {
                    each
                    for each in hand
                    if mask
                    & at.better_cards(1 << each, 1 << lead, second_bit, trump_mask(trump), flags)
                    == 0
                }
                assert found == reference.legal_cards(hand, trick, trump, rules), (hand, trick)


def test_all_pairs_of_cards_in_all_tricks() -> None:
    """What a card excludes are the cards beside which it is not legal: ``mil``, by pairs."""
    flags = flags_of(load("mil"))
    for lead, second, trump in (
        (4, None, 1),
        (4, 6, 1),
        (0, 5, 0),
        (2, 3, 4),
        (1, 8, 1),
        (3, 9, 2),
    ):
        trick = [lead] if second is None else [lead, second]
        second_bit = 0 if second is None else 1 << second
        for played in set(range(24)) - set(trick):
            better = at.better_cards(1 << played, 1 << lead, second_bit, trump_mask(trump), flags)
            for other in set(range(24)) - set(trick) - {played}:
                legal = played in reference.legal_cards({played, other}, trick, trump, "mil")
                assert legal == (not better >> other & 1)


# ------------------------------------------------------------------------------ states made by hand


def dealt(seat: int, hand: int, declarer: int, talon: int) -> NDArray[np.int64]:
    state = np.empty(at.STATE_SIZE + at.PLAYS_SIZE, np.int64)
    at.start(state, seat, hand)
    at.observe_talon(state, declarer, talon)
    return state


def observe_play(state: NDArray[np.int64], *act: int) -> None:
    """In these tests the plays stand behind the state in one array, and it is always up to date."""
    plays = state[at.STATE_SIZE :]
    at.observe_play(plays, *act)
    at.catch_up(state, plays)
    once = state.copy()
    at.catch_up(state, plays)
    assert (state == once).all()


def count(state: NDArray[np.int64]) -> int:
    return int(kernels.plan_layouts(state, BINOMIALS, PLAN))


def every_layout(state: NDArray[np.int64]) -> set[tuple[int, ...]]:
    hands = np.empty((count(state), 3), np.int64)
    kernels.fill_layouts(state, 0, BINOMIALS, SUBSETS, PLAN, hands)
    found = {tuple(row) for row in hands.tolist()}
    assert len(found) == len(hands)
    return found


OWN, TALON = parse_hand("9JQ.9J.9J."), parse_hand("..A.9J")


def test_a_talon_that_was_shown_leaves_one_gift_open() -> None:
    state = dealt(1, OWN, 0, TALON)
    assert count(state) == comb(14, 7)
    at.observe_gift(state, 0, 1, card("AD"))
    at.observe_gift(state, 0, 2, 0)
    # declarer 8 and the other defender 8 of 16, of which two are left of the talon
    two = count(state)
    assert two == comb(14, 8) + 2 * comb(14, 7)
    layouts = every_layout(state)
    left = TALON & ~int(state[at.HAND])
    assert all((hands[2] & left).bit_count() <= 1 for hands in layouts)
    # the other defender plays one of them: the rest is the declarer's
    one = 1 << cards_of(left)[0]
    observe_play(state, 2, one, 0, 0, 0, 1, 0, flags_of(load("mil")))
    assert int(state[at.FEW]) == 0
    assert count(state) == comb(14, 7)
    assert all(hands[0] & left for hands in every_layout(state))


def test_a_talon_that_was_not_shown_says_nothing() -> None:
    state = dealt(1, OWN, 0, 0)
    assert count(state) == comb(17, 7)
    at.observe_gift(state, 0, 1, card("AD"))
    at.observe_gift(state, 0, 2, 0)
    assert count(state) == comb(16, 8)


def test_gifts_that_lie_face_up_are_where_they_are() -> None:
    for gift, talon_left in ((card("AH"), 3), (card("AD"), 2)):
        state = dealt(1, OWN, 2, TALON)
        at.observe_gift(state, 2, 0, gift)
        assert count(state) == comb(16 - talon_left, 7)
        assert all(hands[0] & gift for hands in every_layout(state))
        assert all(hands[2] & TALON == TALON & ~gift for hands in every_layout(state))


def test_the_declarer_knows_where_his_gifts_lie() -> None:
    state = dealt(0, OWN, 0, TALON)
    at.observe_gift(state, 0, 1, card("AD"))
    at.observe_gift(state, 0, 2, card("9S"))
    assert count(state) == comb(14, 7)
    assert all(hands[1] & card("AD") and hands[2] & card("9S") for hands in every_layout(state))
    observe_play(state, 1, card("AD"), 0, 0, 0, 1, 0, flags_of(load("mil")))
    assert count(state) == comb(14, 7)


def in_play(seat: int, hand: int) -> NDArray[np.int64]:
    """Seat 0 declared; nothing is known but the own hand of eight."""
    state = dealt(seat, hand & (hand - 1), 0, 0)
    at.observe_gift(state, 0, 1, hand & -hand if seat == 1 else 0)
    at.observe_gift(state, 0, 2, hand & -hand if seat == 2 else 0)
    return state


EIGHT = parse_hand("9JT.9J.9J.9")


@pytest.mark.parametrize("suit", range(4))
@pytest.mark.parametrize("lead", ["queen", "king"])
@pytest.mark.parametrize("marriage_card", ["king_or_queen", "queen"])
@pytest.mark.parametrize("declaration", ["automatic", "optional"])
@pytest.mark.parametrize("trick_number", [1, 2, 6, 7])
def test_marriages_declared_and_not_declared(
    suit: int, lead: str, marriage_card: str, declaration: str, trick_number: int
) -> None:
    rules = with_play(
        marriage_card=marriage_card, marriage_declaration=declaration, marriage_until_trick=6
    )
    both = MARRIAGE_MASKS[suit]
    led = both & -both if lead == "queen" else both & (both - 1)
    partner = both ^ led
    counts = (lead == "queen" or marriage_card == "king_or_queen") and 2 <= trick_number <= 6
    for declared in (0, 1) if counts else (0,):
        state = in_play(1, EIGHT)
        observe_play(state, 0, led, 0, 0, 0, trick_number, declared, flags_of(rules))
        holds = int(state[at.MAY]) & partner != 0
        elsewhere = int(state[at.MAY + 2]) & partner != 0
        if declared:
            assert (holds, elsewhere) == (True, False)
        elif counts and declaration == "automatic":
            assert (holds, elsewhere) == (False, True)
        else:
            assert (holds, elsewhere) == (True, True)
        assert count(state) == comb(15 - (holds != elsewhere), 7 - (declared and 1))


def aces_led(declared: int, declaration: str = "automatic", number: int = 2) -> NDArray[np.int64]:
    rules = with_play(ace_marriage=200, marriage_declaration=declaration)
    state = in_play(1, EIGHT)
    observe_play(state, 0, card("AS"), 0, 0, 0, number, declared, flags_of(rules))
    return state


def test_four_aces_declared_are_all_there() -> None:
    assert count(aces_led(1)) == comb(12, 4)
    assert all(hands[0] & ACES == ACES ^ card("AS") for hands in every_layout(aces_led(1)))


def test_four_aces_not_declared_are_not_all_there() -> None:
    state = aces_led(0)
    assert count(state) == comb(15, 7) - comb(12, 4)
    assert not any(hands[0] & ACES == ACES ^ card("AS") for hands in every_layout(state))
    assert count(aces_led(0, "optional")) == comb(15, 7)
    assert count(aces_led(0, number=1)) == comb(15, 7)


def test_an_ace_played_later_is_followed() -> None:
    flags = flags_of(with_play(ace_marriage=200))
    state = aces_led(0)
    observe_play(state, 0, card("AC"), 0, 0, 0, 3, 0, flags)
    assert count(state) == comb(14, 6) - comb(12, 4)  # not both others
    observe_play(state, 0, card("AD"), 0, 0, 0, 4, 0, flags)
    assert count(state) == comb(12, 5)  # not the last: the other defender's
    state = aces_led(0)
    observe_play(state, 2, card("AC"), card("9C"), 0, 0, 3, 0, flags)
    assert count(state) == comb(14, 7)  # somebody else's: all said


def test_an_ace_in_the_own_hand_answers_the_question() -> None:
    rules = with_play(ace_marriage=200)
    state = in_play(1, parse_hand("9JT.9J.9J.A"))
    observe_play(state, 0, card("AS"), 0, 0, 0, 2, 0, flags_of(rules))
    assert int(state[at.NOT_ALL]) == 0
    assert count(state) == comb(15, 7)


def test_an_own_lead_says_nothing_about_others() -> None:
    rules = with_play(ace_marriage=200)
    state = in_play(1, parse_hand("9JT.9J.9J.A"))
    observe_play(state, 1, card("AC"), 0, 0, 0, 2, 0, flags_of(rules))
    assert count(state) == comb(16, 8)
    state = in_play(1, parse_hand("9JT.9J.9J.K"))
    observe_play(state, 1, card("KC"), 0, 0, 0, 2, 0, flags_of(rules))
    assert count(state) == comb(16, 8)


def test_facts_about_the_talon_and_about_aces_together() -> None:
    """Every way the cards of both facts can be shared, also those of both."""
    flags = flags_of(with_play(ace_marriage=200))
    for talon in (parse_hand("..A.KQ"), parse_hand("..AQ.A"), parse_hand("K.AQ..")):
        for leader in (0, 2):
            state = dealt(1, EIGHT & (EIGHT - 1), 0, talon)
            at.observe_gift(state, 0, 1, EIGHT & -EIGHT)
            at.observe_gift(state, 0, 2, 0)
            observe_play(state, leader, card("AS"), 0, 0, 0, 2, 0, flags)
            hidden = int(state[at.HIDDEN])
            missing = ACES ^ card("AS")
            expected = set()
            for chosen in combinations(cards_of(hidden), int(state[at.SIZES])):
                first = mask_of(chosen)
                hands = (first, int(state[at.HAND]), hidden ^ first)
                if (hands[2] & talon).bit_count() <= 1 and missing & ~hands[leader]:
                    expected.add(hands)
            assert every_layout(state) == expected
            for seat in (0, 2):
                held = int(np.bitwise_or.reduce([hands[seat] for hands in expected]))
                before = state.copy()
                assert kernels.possible_cards(state, seat, BINOMIALS, PLAN) == held
                assert (state == before).all()


def test_samples_with_both_facts_are_uniform() -> None:
    flags = flags_of(with_play(ace_marriage=200))
    state = dealt(1, EIGHT & (EIGHT - 1), 0, parse_hand("..AQ.A"))
    at.observe_gift(state, 0, 1, EIGHT & -EIGHT)
    at.observe_gift(state, 0, 2, 0)
    observe_play(state, 2, card("AS"), 0, 0, 0, 2, 0, flags)
    layouts = sorted(every_layout(state))
    hands = np.empty((40 * len(layouts), 3), np.int64)
    kernels.fill_sample(state, 7, 0, BINOMIALS, SUBSETS, PLAN, hands)
    found, times = np.unique(hands, axis=0, return_counts=True)
    assert [tuple(row) for row in found.tolist()] == layouts
    assert_classes(times, np.full(len(layouts), 1 / len(layouts)))


# ------------------------------------------------------------------------------ numbers and tables


def test_tables() -> None:
    assert SUBSETS.dtype == np.int32
    for n in (0, 1, 5, 17):
        for k in range(9):
            size = int(BINOMIALS[16 * n + k])
            assert size == comb(n, k)
            begin = int(BINOMIALS[16 * 18 + k])
            row = SUBSETS[begin : begin + size]
            assert (np.bitwise_count(row) == k).all()
            assert (np.diff(row) > 0).all()
            assert not len(row) or row.max() < 1 << n


@pytest.mark.parametrize("declarer", [0, 2])
@pytest.mark.parametrize("gifts", [0, 1])
def test_hands_of_more_than_eight_free_cards(declarer: int, gifts: int) -> None:
    """A declarer of ten or nine cards, the talon not shown: sets taken as complements."""
    state = dealt(1, OWN, declarer, 0)
    other = 2 - declarer
    if gifts:
        at.observe_gift(state, declarer, other, 0)
    size = 10 - gifts
    layouts = every_layout(state)
    assert len(layouts) == comb(17, size)
    assert all(hands[declarer].bit_count() == size for hands in layouts)
    assert all(hands[0] | hands[2] == ALL_CARDS ^ OWN for hands in layouts)


def test_before_the_talon_is_taken_numbers_go_to_different_layouts() -> None:
    state = np.empty(at.STATE_SIZE + at.PLAYS_SIZE, np.int64)
    at.start(state, 2, OWN)
    total = count(state)
    assert total == comb(17, 3) * comb(14, 7)
    chosen = sorted({0, 1, 3431, 3432, total - 1, *random.Random(1).sample(range(total), 3000)})
    layouts = []
    for number in chosen:
        layouts.append(kernels.nth_layout(PLAN, number, BINOMIALS, SUBSETS))
        assert kernels.allows(state, *layouts[-1])
    assert len(set(layouts)) == len(chosen)


# ---------------------------------------------------------------------------- modes and signatures

DUMP = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parent.parent)!r}]
from test_knowledge_state import sample_of_all
print(sample_of_all())
"""


def sample_of_all() -> list[list[int]]:
    flags = flags_of(with_play(ace_marriage=200))
    state = np.empty(at.STATE_SIZE + at.PLAYS_SIZE, np.int64)
    rows = []
    hands = np.empty((50, 3), np.int64)

    def note() -> None:
        kernels.fill_sample(state, -5, 1 << 40, BINOMIALS, SUBSETS, PLAN, hands)
        first = int(kernels.possible_cards(state, 0, BINOMIALS, PLAN))
        rows.extend([state.tolist(), hands[:, 0].tolist(), [first, count(state)]])
        kernels.fill_layouts(state, 2, BINOMIALS, SUBSETS, PLAN, hands)
        rows.append(hands[:, 2].tolist())
        rows.append([int(kernels.allows(state, int(hands[0, 2]), int(hands[0, 0])))])

    at.start(state, 1, EIGHT & (EIGHT - 1))
    note()
    at.observe_talon(state, 0, parse_hand("..AQ.A"))
    note()
    at.observe_gift(state, 0, 1, EIGHT & -EIGHT)
    at.observe_gift(state, 0, 2, 0)
    note()
    observe_play(state, 0, card("AS"), 0, 0, 0, 2, 0, flags)
    observe_play(state, 1, EIGHT & -EIGHT, card("AS"), 0, 0, 2, 0, flags)
    observe_play(state, 2, card("KC"), card("AS"), EIGHT & -EIGHT, 0, 2, 0, flags)
    note()
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
    sample_of_all()
    found = [one for one in kernel_signatures() if one.kernel.startswith("milsim.knowledge.")]
    assert bool(found) == jit_enabled()
    for one in found:
        text = " ".join((*one.arguments, one.result))
        assert "float" not in text, one
        assert "uint" not in text, one
        assert "int32" not in one.result, one
