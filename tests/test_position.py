"""Positions: the state kernels, perft, playouts and the value `Position`; cases of RULES.md §4."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from milsim._jit import jit_enabled, kernel_signatures
from milsim.cards import CARD_POINTS, NO_TRUMP, CardSet, cards_of, mask_of
from milsim.dealing.tables import kernel_hands
from milsim.errors import DealError, IllegalActError, MilsimError, NotationError
from milsim.position import Declaration, Position, PositionFault, playout
from milsim.position import state as kernels
from milsim.position.text import parse_fields
from milsim.rules import PlayRules, Rules, load, packed, preset_names
from milsim.tricks import play_flags, play_values

SPADES, CLUBS, DIAMONDS, HEARTS = range(4)


def with_play(**fields: Any) -> Rules:
    return replace(Rules(), play=replace(PlayRules(), **fields))


def random_rules(chance: random.Random) -> Rules:
    first = chance.randint(1, 8)
    return with_play(
        must_beat=chance.choice(["no", "if_can_win", "always", "second_hand_only"]),
        must_trump=chance.random() < 0.7,
        must_overtrump=chance.random() < 0.7,
        cannot_overtrump=chance.choice(["any_trump", "anything"]),
        marriage_from_trick=min(first, chance.randint(1, 8)),
        marriage_until_trick=chance.randint(first, 8),
        marriage_card=chance.choice(["king_or_queen", "queen"]),
        marriage_declaration=chance.choice(["automatic", "optional"]),
        trump_effect=chance.choice(["immediate", "next_trick"]),
        ace_marriage=chance.choice([0, 200]),
        last_trick_bonus=chance.choice([0, 10]),
    )


def random_position(chance: random.Random, rules: Rules, size: int | None = None) -> Position:
    size = size or chance.randint(1, 8)
    cards = chance.sample(range(24), 3 * size)
    hands = [mask_of(cards[seat * size : seat * size + size]) for seat in range(3)]
    return Position(hands, chance.randrange(3), chance.randrange(5), rules=rules)


def walk(position: Position, chance: random.Random) -> Iterator[Position]:
    yield position
    while not position.is_over:
        act = chance.choice(position.legal_acts)
        position = position.play(act.card, act.declares)
        yield position


# ------------------------------------------------------------------- RULES.md §4, by case number


def test_case_05_a_second_marriage_changes_trump_at_once() -> None:
    position = Position(["..KQ.", "A.K..", ".Q..9"], trump=HEARTS, trick_number=3)
    after = position.play("QD")
    assert (after.trump, after.marriages) == (DIAMONDS, (80, 0, 0))
    waits = replace(position.rules.play, trump_effect="next_trick")
    slow = Position(
        position.hands, trump=HEARTS, trick_number=3, rules=replace(Rules(), play=waits)
    ).play("QD")
    assert (slow.trump, slow.next_trump) == (HEARTS, DIAMONDS)
    assert str(slow.legal_cards) == ".K.."  # the old trump still ruffs
    assert str(after.legal_cards) == "A.K.."
    done = slow.play("KH").play("QH")
    assert (done.leader, done.trump, done.points) == (1, DIAMONDS, (0, 10, 0))


def test_case_06_king_and_queen_are_not_interchangeable() -> None:
    position = Position(["KQ...", "A9...", "T.A.."], trump=NO_TRUMP)
    assert position.play("KS").play("AS").play("TS").points == (0, 25, 0)
    assert position.play("QS").play("AS").play("TS").points == (0, 24, 0)


def test_case_07_a_marriage_in_the_first_trick_counts_nothing() -> None:
    position = Position(["KQ...", "A9...", "T.A.."], trick_number=1)
    after = position.play("KS")
    assert (after.trump, after.marriages, after.declared) == (NO_TRUMP, (0, 0, 0), ())
    assert not position.can_declare("KS")


def test_case_08_half_a_marriage_is_none() -> None:
    position = Position(["K9...", "Q.9..", "T.A.."], trick_number=3)
    assert position.play("KS").declared == ()


def test_case_16_a_trick_of_three_nines_is_a_trick() -> None:
    over = Position(["9...", ".9..", "..9."], trick_number=8).play("9S").play("9H").play("9D")
    assert (over.tricks, over.points, over.is_over) == ((1, 0, 0), (0, 0, 0), True)
    assert over == eval(repr(over))


@pytest.mark.parametrize("name", preset_names())
def test_case_20_points_add_up_and_marriages_count_once(name: str) -> None:
    chance = random.Random(20)
    for _ in range(20):
        *_, last = walk(random_position(chance, load(name), 8), chance)
        assert sum(last.points) == 120 + last.rules.play.last_trick_bonus
        assert sum(last.tricks) == 8
        assert len({found.suit for found in last.declared}) == len(last.declared) <= 4


# ----------------------------------------------------------------------- one rule after another


def test_optional_declaration_gives_two_acts() -> None:
    rules = with_play(marriage_declaration="optional")
    position = Position([".KQ..", ".9.A.", "9..T."], trick_number=4, rules=rules)
    assert [tuple(act) for act in position.legal_acts] == [
        (20, False),
        (20, True),
        (21, False),
        (21, True),
    ]
    assert position.perft(1) == 4
    assert position.play("QH", declare=True).marriages == (100, 0, 0)
    assert position.play("QH", declare=True).trump == HEARTS
    assert position.play("QH") == position.play("QH", declare=False)
    silent = position.play("QH", declare=False)
    assert (silent.trump, silent.marriages) == (NO_TRUMP, (0, 0, 0))


def test_four_aces_count_and_leave_trump() -> None:
    rules = with_play(ace_marriage=200)
    position = Position(["A.A.A.A", "9.9.9.9", "J.J.J.J"], trump=CLUBS, trick_number=2, rules=rules)
    after = position.play("AH")
    assert (after.trump, after.marriages) == (CLUBS, (200, 0, 0))
    assert after.declared == (Declaration(0, 4, 2),)
    assert position.play("AH").play("9H").play("JH").play("AS").marriages == (200, 0, 0)


def test_last_trick_bonus_goes_to_its_winner() -> None:
    rules = with_play(last_trick_bonus=10)
    position = Position(["A9...", "T.9..", "K.J.."], rules=rules)
    over = position.play("AS").play("TS").play("KS").play("9S").play("9H").play("JH")
    assert over.points == (25 + 2 + 10, 0, 0)


def test_trick_number_and_window() -> None:
    position = Position([".KQ..", ".9.A.", "9..T."])
    assert position.trick_number == 7
    assert position.play("KH").declared == (Declaration(0, HEARTS, 7),)
    early = with_play(marriage_until_trick=6)
    assert Position([".KQ..", ".9.A.", "9..T."], rules=early).play("KH").declared == ()


# ------------------------------------------------------------------------------ perft, playouts


def plain_perft(position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(
        plain_perft(position.play(act.card, act.declares), depth - 1) for act in position.legal_acts
    )


def test_perft_counts_what_is_played_out() -> None:
    chance = random.Random(5)
    for _ in range(12):
        position = random_position(chance, random_rules(chance), chance.randint(1, 3))
        for depth in range(5):
            assert position.perft(depth) == plain_perft(position, depth)
    assert Position(["9...", ".9..", "..9."]).perft(4) == 0


def slow_playout(hands: list[int], word: int, rules: Rules) -> tuple[int, ...]:
    """The playout of the kernel, on states, with every choice looked up in a list."""
    position = Position(hands, rules=rules)
    word %= 2**64
    while not position.is_over:
        cards = cards_of(position.legal_mask)
        last = position.trick_number == 8
        choice, word = (0, word) if last else divmod(word * len(cards), 2**64)
        card = cards[choice]
        position = position.play(card, position.can_declare(card))
    return position.totals


def test_playout_follows_the_rules() -> None:
    chance = random.Random(6)
    for _ in range(60):
        rules = random_rules(chance)
        array = packed(rules)
        hands = [hand.mask for hand in random_position(chance, rules, 8).hands]
        word = chance.randrange(-(2**63), 2**63)
        first, second, third = hands
        found = playout.playout_of(
            first, second, third, word, play_flags(array), play_values(array)
        )
        assert found == slow_playout(hands, word, rules), (rules, hands, word)


def test_playouts_are_sums_over_deals() -> None:
    array, table = packed(load("mil")), kernel_hands()
    whole = np.array(playout.random_playouts(3, 0, 301, table, array))
    parts = [playout.random_playouts(3, at, 7, table, array) for at in range(0, 301, 7)]
    assert (np.array(parts).sum(axis=0) == whole).all()
    assert whole.sum() >= 301 * 120


def test_no_kernel_uses_anything_but_whole_numbers() -> None:
    Position(["KQ...", "A9...", "T.A.."]).play("KS").perft(2)
    found = [one for one in kernel_signatures() if one.kernel.startswith("milsim.position.")]
    assert bool(found) == jit_enabled()
    for one in found:
        assert "float" not in " ".join((one.result, *one.arguments)), one
        assert "uint" not in " ".join((one.result, *one.arguments)), one


def test_the_same_without_compiling() -> None:
    code = (
        "from milsim.position import Position\n"
        "p = Position(['AK9...', 'Q.TJ..', 'T.9.A.'], rules='gamerules')\n"
        "print(p.perft(9), p.play('KS').play('QS').play('TS'))\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for off in ("1", "0")
    ]
    assert found[0] == found[1] != ""


# -------------------------------------------------------------------------------- at the border


def test_state_and_text_round_trip() -> None:
    chance = random.Random(7)
    for _ in range(15):
        rules = random_rules(chance)
        for position in walk(random_position(chance, rules), chance):
            assert Position.from_state(position.to_state(), rules) == position
            assert Position.parse(str(position), rules=rules) == position
            assert hash(Position.parse(str(position), rules=rules)) == hash(position)
    for name in preset_names():
        for position in walk(random_position(chance, load(name)), chance):
            assert eval(repr(position)) == position


def test_custom_rules_stand_in_the_repr() -> None:
    position = Position(["9...", ".9..", "..9."], rules=with_play(must_trump=False))
    names = {"Position": Position, "Rules": Rules}
    names |= {type(table).__name__: type(table) for table in vars_of(position.rules)}
    names["MarriageValues"] = type(position.rules.deal.marriage_values)
    assert eval(repr(position), names) == position


def vars_of(rules: Rules) -> list[Any]:
    return [rules.deal, rules.auction, rules.talon, rules.play, rules.scoring, rules.match]


def test_many_ways_to_give_cards() -> None:
    first = Position(["KQ...", ".A.T.", ".9.A."], table=())
    assert first == Position([0b1100, CardSet.parse(".A.T."), ".9.A."])
    assert first == Position.parse(" ♠KQ | HA DT / AD,9H ; leader 0; trump none;")
    assert Position(["Q...", ".A.T.", ".9.A."], table=["KS"]).seat == 1
    assert (
        Position(["Q...", ".A..", ".9.A."], table=[3, "TD"]).legal_mask == 0b100000 << 12 | 1 << 18
    )


BAD: list[tuple[tuple[Any, ...], PositionFault, str]] = [
    (([1, 1, 2],), PositionFault.DUPLICATE_CARD, "9S in hands 0 and 1"),
    (([1, 2, 4 | 8],), PositionFault.UNEQUAL_COUNTS, "hands have 1, 1, 2 cards, not 2, 2, 2"),
    (([1, 2, 1 << 24],), PositionFault.UNKNOWN_CARD, "hand 2 has bits outside the 24 cards"),
    (([1, 2, -4],), PositionFault.UNKNOWN_CARD, "hand 2 has bits outside"),
    (([1, 2, 4], 3), PositionFault.BAD_LEADER, "leader is 3, not a seat 0 to 2"),
    (([1, 2, 4], 0, 7), PositionFault.BAD_TRUMP, "trump is 7, not a suit 0 to 3, or 4 for none"),
    (([1, 2, 4], 0, 4, [3, 5, 6]), PositionFault.BAD_TABLE, "3 cards on the table, not 0 to 2"),
    (([1, 2, 4], 0, 4, [3]), PositionFault.UNEQUAL_COUNTS, "hands have 1, 1, 1 cards, not 1, 2, 2"),
    (([1, 6, 24], 0, 4, [1]), PositionFault.DUPLICATE_CARD, "JS in hand 1 and on the table"),
    (([1, 2, 12], 0, 4, [5, 5]), PositionFault.DUPLICATE_CARD, "AS in the table twice"),
    (([1, 6, 24], 0, 4, [24]), PositionFault.UNKNOWN_CARD, "card 24 on the table is not 0 to 23"),
    (([1, 2, 4], 0, 4, [], 9), PositionFault.BAD_TRICK_NUMBER, "trick 9 with 1 cards a hand"),
    (([0, 0, 0], 0, 4, [], 10), PositionFault.BAD_TRICK_NUMBER, "trick 10 with 0 cards a hand"),
    (
        ([0x1FF, 0, 0],),
        PositionFault.TOO_MANY_CARDS,
        "9 cards a hand, not up to 8",
    ),
]


@pytest.mark.parametrize(("arguments", "fault", "words"), BAD)
def test_bad_positions_say_why(arguments: Any, fault: PositionFault, words: str) -> None:
    with pytest.raises(DealError, match=f"no position: .*{words}") as caught:
        Position(*arguments)
    assert "\n" not in str(caught.value)
    assert fault in Position.faults_of(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("KQ...", 0),
        ([1, 2], 0),
        (None, 0),
        ([1.0, 2, 4], 0),
        ([True, 2, 4], 0),
        ([1, 2, 4], None),
        ([1, 2, 4], "0"),
        ([1, 2, 4], 0, False),
        ([1, 2, 4], 0, float("nan")),
        ([1, 6, 24], 0, 4, "KS"),
        ([1, 6, 24], 0, 4, {5}),
        ([1, 6, 24], 0, 4, [5.0]),
        ([1, 2, 4], 0, 4, [], True),
        (["K.Q", "x", ""], 0),
    ],
)
def test_other_bad_input(arguments: Any) -> None:
    with pytest.raises((DealError, NotationError)):
        Position(*arguments)


def test_bad_history_is_refused() -> None:
    for bad in (
        {"points": (1, 2)},
        {"points": (1, 2, -3)},
        {"points": "abc"},
        {"tricks": (9, 0, 0)},
        {"next_trump": 7},
        {"declared": [(0, 5, 1)]},
    ):
        with pytest.raises(DealError):
            Position([1, 2, 4], **bad)


@pytest.mark.parametrize(
    ("fields", "fault", "why"),
    [
        ("declared 0S1", "BAD_DECLARATION", "0S1: these rules let declare in tricks 2 to 8"),
        ("declared 0S2", "BAD_DECLARATION", "0S2: no QS or KS has gone: one was led to declare"),
        ("declared 0H3 1H4", "BAD_DECLARATION", "1H4: 0H3 has declared the same"),
        ("declared 0H3 1C3", "BAD_DECLARATION", "0H3: 1C3 is of the same trick"),
        ("declared 0H7", "BAD_DECLARATION", "0H7: trick 7 has not begun"),
        ("declared 0H8", "BAD_DECLARATION", "0H8: trick 8 has not begun"),
        ("declared 0A3", "BAD_DECLARATION", "0A3: these rules know no four aces"),
        ("next_trump H", "BAD_NEXT_TRUMP", "next_trump H is not trump none"),
        ("declared 0H3", "BAD_TRUMP", "trump is none, but 0H3 made it H"),
        ("trump H; declared 0H3 1C4", "BAD_TRUMP", "trump is H, but 1C4 made it C"),
    ],
)
def test_what_cannot_have_been_declared(fields: str, fault: str, why: str) -> None:
    with pytest.raises(DealError, match=f"no position: .*{why}") as caught:
        Position.parse(f"KQ... | .A.T. | .9.A.; {fields}")
    assert "\n" not in str(caught.value)
    given = parse_fields(f"KQ... | .A.T. | .9.A.; {fields}")
    assert Position.faults_of(trick_number=7, **given) == PositionFault[fault]


def test_a_declaration_is_of_the_seat_that_led_it() -> None:
    fine = Position(["KQ...", ".A.T.", ".9.A."]).play("QS")
    assert Position.parse(str(fine)) == fine
    for old, new, why in (
        ("declared 0S7", "declared 1S7", "seat 0 led QS to trick 7"),
        ("declared 0S7", "declared 0H7", "seat 0 led QS to trick 7, not QH or KH"),
        ("declared 0S7", "declared 1S5", "1S5: KS is seat 0's|1S5: QS is seat 0's|has gone"),
        ("trump S; ", "", "next_trump is none, but 0S7 made it S"),
        ("trump S; ", "next_trump S; ", "S is trump at once"),
        ("K...", "T...", "seat 0 had no KS"),
    ):
        with pytest.raises(DealError, match=why):
            Position.parse(str(fine).replace(old, new))


@pytest.mark.parametrize(
    "bad",
    [
        {"hands": {1, 2, 4}},
        {"declared": 5},
        {"declared": [3]},
        {"declared": [(0, 1)]},
        {"leader": 10**5000},
        {"points": (10**5000, 0, 0)},
        {"points": {1, 2, 3}},
        {"next_trump": 10**5000},
    ],
)
def test_strange_arguments_are_deal_errors(bad: dict[str, Any]) -> None:
    with pytest.raises(DealError) as caught:
        Position(**{"hands": [1, 2, 4], **bad})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "KQ...",
        "KQ... | .A.T.",
        "KQ... | .A.T. | .9.A.; leder 1",
        "KQ... | .A.T. | .9.A.; leader x",
        "KQ... | .A.T. | .9.A.; leader 1; leader 2",
        "KQ... | .A.T. | .9.A.; trump X",
        "KQ... | .A.T. | .9.A.; declared 9H1",
        "KQ... | .A.T. | .9.A.; table KX",
        "KQ... | .A.T. | .9.A.;" + " " * 2000,
        None,
    ],
)
def test_bad_text_is_refused(text: Any) -> None:
    with pytest.raises(NotationError) as caught:
        Position.parse(text)
    assert "\n" not in str(caught.value)


def test_illegal_acts_say_what_is_legal() -> None:
    position = Position(["KQ...", "A9...", "T.A.."])
    with pytest.raises(IllegalActError, match="seat 0 may not play AS: legal is QS or KS"):
        position.play("AS")
    with pytest.raises(IllegalActError, match="leading KS declares: these rules leave no choice"):
        position.play("KS", declare=False)
    with pytest.raises(IllegalActError, match="seat 1 has nothing to declare with AS"):
        position.play("KS").play("AS", declare=True)
    bad: tuple[Any, ...] = (24, -1, "XX", True, None, 1.0)
    for card in bad:
        with pytest.raises(MilsimError):
            position.play(card)
    for depth in (-1, 25, True, 1.0):
        with pytest.raises(DealError):
            position.perft(depth)  # type: ignore[arg-type]
    over = Position(["...", "...", "..."])
    with pytest.raises(IllegalActError, match="nothing: all over"):
        over.play(0)


def test_a_position_does_not_change() -> None:
    position = Position(["KQ...", "A9...", "T.A.."])
    before = str(position)
    position.play("KS").play("AS")
    assert str(position) == before
    with pytest.raises(AttributeError):
        position.leader = 1  # type: ignore[misc]


def test_states_step_like_positions() -> None:
    """The array after each act is that of the position: nothing is lost between the twins."""
    chance = random.Random(9)
    for _ in range(10):
        rules = random_rules(chance)
        flags, values = play_flags(packed(rules)), play_values(packed(rules))
        position = random_position(chance, rules)
        state = position.to_state()
        won = [0, 0, 0]
        while not position.is_over:
            act = chance.choice(position.legal_acts)
            number = act.card + (kernels.DECLARE if act.declares else 0)
            table = [*position.table, act.card]
            position = position.play(*act)
            winner = kernels.play_card(state, number, flags, values)
            assert winner == (position.leader if len(table) == 3 else -1)
            if winner >= 0:
                won[winner] |= mask_of(table)
            assert Position.from_state(state, rules) == position
            assert list(state[kernels.WON : kernels.WON + 3]) == won
        points = [sum(CARD_POINTS[card % 6] for card in cards_of(mask)) for mask in won]
        points[position.leader] += rules.play.last_trick_bonus
        assert tuple(points) == position.points
        assert kernels.total(state, 0) == position.totals[0]
