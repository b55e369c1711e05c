"""Legal cards, winners and declarations against RULES.md: cases of §4 and obvious definitions."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from milsim import tricks
from milsim._jit import jit_enabled, kernel_signatures
from milsim.cards import (
    ACE,
    CARD_POINTS,
    JACK,
    KING,
    NINE,
    NO_TRUMP,
    QUEEN,
    TEN,
    CardSet,
    cards_of,
    format_card,
    mask_of,
    parse_card,
    parse_hand,
)
from milsim.errors import DealError, RulesError
from milsim.rules import PlayRules, Rules, packed, preset_names
from milsim.tricks import legal_mask, trick_winner

SPADES, CLUBS, DIAMONDS, HEARTS = range(4)
TRUMPS = (SPADES, CLUBS, DIAMONDS, HEARTS, NO_TRUMP)


def with_play(**fields: Any) -> Rules:
    return replace(Rules(), play=replace(PlayRules(), **fields))


ALL_FOLLOWING_RULES = [
    with_play(must_beat=beat, must_trump=trump, must_overtrump=over, cannot_overtrump=cannot)
    for beat in ("no", "if_can_win", "always", "second_hand_only")
    for trump in (True, False)
    for over in (True, False)
    for cannot in ("any_trump", "anything")
]


def legal(hand: str, trick: str, trump: int, rules: Any = "mil") -> set[str]:
    on_table = [parse_card(card) for card in trick.split()]
    mask = legal_mask(parse_hand(hand), on_table, trump, rules=rules)
    return {format_card(card) for card in cards_of(mask)}


def winner(trick: str, trump: int) -> int:
    return trick_winner([parse_card(card) for card in trick.split()], trump)


# ------------------------------------------------------------------- RULES.md §4, by case number


def test_case_01_the_trump_nine_beats_a_led_ace() -> None:
    assert winner("AS 9C TS", CLUBS) == 1
    assert winner("AS TS 9C", CLUBS) == 2


def test_case_02_off_suit_without_trump_never_wins() -> None:
    assert winner("9S AC AH", NO_TRUMP) == 0
    assert winner("9S AC AH", DIAMONDS) == 0


def test_case_03_third_hand_after_a_ruff_plays_any_height() -> None:
    assert legal("A9.K..", "JS 9C", CLUBS) == {"AS", "9S"}
    assert legal("A9.K..", "JS 9C", NO_TRUMP) == {"AS"}
    assert legal("A9.K..", "JS 9C", CLUBS, with_play(must_beat="always")) == {"AS"}
    assert legal("A9.K..", "JS QS", NO_TRUMP, with_play(must_beat="second_hand_only")) == {
        "AS",
        "9S",
    }
    assert legal("A9.K..", "JS", NO_TRUMP, with_play(must_beat="second_hand_only")) == {"AS"}


def test_case_03_a_trump_led_is_no_ruff() -> None:
    assert legal("...AQ9", "JC KC", CLUBS) == {"AC"}


def test_case_04_void_with_lower_trumps_only_still_a_trump() -> None:
    assert legal(".AK..J9", "AS QC", CLUBS) == {"JC", "9C"}
    assert legal(".AK..J9", "AS QC", CLUBS, with_play(cannot_overtrump="anything")) == {
        "AH",
        "KH",
        "JC",
        "9C",
    }
    assert legal(".AK..T9", "AS QC", CLUBS) == {"TC"}
    assert legal(".AK..T9", "AS QC", CLUBS, with_play(must_overtrump=False)) == {"TC", "9C"}
    assert len(legal(".AK..T9", "AS QC", CLUBS, with_play(must_trump=False))) == 4


def test_case_05_a_void_follower_ruffs_with_the_new_trump() -> None:
    # Hearts were trump; the queen of diamonds declares: diamonds are.
    assert legal("A.K..T", "QD", DIAMONDS) == {"AS", "KH", "TC"}
    assert legal("A.K.9.T", "QC", DIAMONDS) == {"TC"}
    assert legal("A.K.9.", "QC", DIAMONDS) == {"9D"}


def test_case_06_king_and_queen_are_not_interchangeable() -> None:
    assert legal("KQ...", "JS", NO_TRUMP) == {"KS", "QS"}
    assert winner("QS KS", NO_TRUMP) == 1
    assert int(tricks.points_in(mask_of([QUEEN]))) == 3
    assert int(tricks.points_in(mask_of([KING]))) == 4


def declared(hand: str, card: str, trick_number: int, rules: Rules) -> tuple[int, int]:
    array = packed(rules)
    bit = 1 << parse_card(card)
    kind = tricks.can_declare(parse_hand(hand), bit, trick_number, tricks.play_flags(array))
    return int(kind), int(tricks.declared_points(kind, bit, tricks.play_values(array)))


def test_case_07_a_marriage_in_the_first_trick_counts_nothing() -> None:
    assert declared(".KQ..", "QH", 1, Rules()) == (tricks.NOTHING, 0)
    assert declared(".KQ..", "QH", 2, Rules()) == (tricks.MARRIAGE, 100)
    assert declared(".KQ..", "KH", 8, Rules()) == (tricks.MARRIAGE, 100)
    assert declared(".KQ..", "KH", 1, with_play(marriage_from_trick=1))[1] == 100
    assert declared(".KQ..", "KH", 7, with_play(marriage_until_trick=6))[1] == 0


def test_case_08_half_a_marriage_is_none() -> None:
    assert declared("KQ.K.Q.", "KH", 3, Rules())[1] == 0
    assert declared("KQ.K.Q.", "QD", 3, Rules())[1] == 0
    assert declared("KQ.K.Q.", "QS", 3, Rules())[1] == 40


def test_only_the_queen_declares_where_the_rules_say_so() -> None:
    rules = with_play(marriage_card="queen")
    assert declared("..KQ.", "KD", 3, rules)[1] == 0
    assert declared("..KQ.", "QD", 3, rules)[1] == 80


def test_four_aces_declare_where_the_rules_say_so() -> None:
    rules = with_play(ace_marriage=200)
    assert declared("A.A.A.A", "AD", 3, rules) == (tricks.FOUR_ACES, 200)
    assert declared("A.A.A.A", "AD", 1, rules)[1] == 0
    assert declared("A.A.A.", "AD", 3, rules)[1] == 0
    assert declared("A.A.A.AK", "KC", 3, rules)[1] == 0
    assert declared("A.A.A.A", "AD", 3, Rules())[1] == 0


# -------------------------------------------------------------------------- obvious definitions


def beats(second: int, first: int, lead_suit: int, trump: int) -> bool:
    """Whether a card played later takes over from the card that was winning."""
    if second // 6 == first // 6:
        return second % 6 > first % 6
    if second // 6 == trump:
        return True
    return first // 6 not in (lead_suit, trump) and second // 6 == lead_suit


@pytest.mark.parametrize("trump", TRUMPS)
def test_all_pairs_of_cards(trump: int) -> None:
    for first, second in itertools.permutations(range(24), 2):
        expected = int(beats(second, first, first // 6, trump))
        assert trick_winner([first, second], trump) == expected, (first, second)


@pytest.mark.parametrize("trump", TRUMPS)
def test_all_tricks(trump: int) -> None:
    trumps = tricks.trump_mask(trump)
    for cards in itertools.permutations(range(24), 3):
        place = 0
        for later in (1, 2):
            if beats(cards[later], cards[place], cards[0] // 6, trump):
                place = later
        lead, second, third = (1 << card for card in cards)
        assert tricks.winning_place(lead, second, third, trumps) == place, cards


def obvious_legal(hand: int, trick: list[int], trump: int, play: PlayRules) -> set[int]:
    """RULES.md §2, play, word by word."""
    cards = set(cards_of(hand))
    if not trick:
        return cards
    suit = trick[0] // 6
    ruff = [card for card in trick[1:] if card // 6 == trump != suit]
    follow = {card for card in cards if card // 6 == suit}
    trumps = {card for card in cards if card // 6 == trump}
    if follow:
        highest = max(card for card in trick if card // 6 == suit)
        higher = {card for card in follow if card > highest}
        bound = {
            "no": False,
            "if_can_win": not ruff,
            "always": True,
            "second_hand_only": len(trick) == 1,
        }[play.must_beat]
        return higher if bound and higher else follow
    if not play.must_trump or not trumps:
        return cards
    if ruff and play.must_overtrump:
        higher = {card for card in trumps if card > ruff[0]}
        return higher or (trumps if play.cannot_overtrump == "any_trump" else cards)
    return trumps


def test_legal_cards_in_all_following_rules() -> None:
    chance = random.Random(1)
    for rules in ALL_FOLLOWING_RULES:
        array = packed(rules)
        for _ in range(3000):
            deck = chance.sample(range(24), 24)
            count = chance.randrange(3)
            trick = deck[:count]
            hand = mask_of(deck[count : count + chance.randint(1, 8)])
            trump = chance.choice(TRUMPS)
            c0, c1 = (*trick, 0, 0)[:2]
            found = tricks.legal_cards(hand, c0, c1, count, trump, array)
            expected = mask_of(obvious_legal(hand, trick, trump, rules.play))
            assert found == expected, (rules.play, hand, trick, trump)


def test_small_kernels() -> None:
    for card in range(24):
        assert tricks.suit_mask(1 << card) == 63 << 6 * (card // 6)
        assert tricks.suit_index(1 << card) == card // 6
        assert tricks.points_in(1 << card) == CARD_POINTS[card % 6]
    assert tricks.points_in((1 << 24) - 1) == 120


def test_no_kernel_uses_anything_but_whole_numbers() -> None:
    array = packed(Rules())
    tricks.legal_cards(1, 0, 0, 0, 4, array)
    tricks.winning_place(1, 2, 4, 0)
    kind = tricks.can_declare(1, 1, 2, tricks.play_flags(array))
    tricks.declared_points(kind, 1, tricks.play_values(array))
    found = [one for one in kernel_signatures() if one.kernel.startswith("milsim.tricks.")]
    assert bool(found) == jit_enabled()
    for one in found:
        assert one.result == "int64", one
        assert all(kind == "int64" or "array(int64, 1d, C)" in kind for kind in one.arguments), one


# -------------------------------------------------------------------------------- at the border


def test_every_preset_can_be_named() -> None:
    for name in preset_names():
        assert legal_mask(0b111, [3], NO_TRUMP, rules=name, trick_number=8) == 0b111


def test_a_card_set_and_numpy_integers_are_welcome() -> None:
    hand: Any = CardSet.parse("AK...")
    trick: Any = np.array([TEN])
    trump: Any = np.int64(NO_TRUMP)
    assert legal_mask(hand, trick, trump) == 1 << ACE
    assert type(legal_mask(hand, trick, trump)) is int
    assert legal_mask(0, [NINE], NO_TRUMP) == 0


@pytest.mark.parametrize(
    ("hand", "trick", "trump", "words"),
    [
        (1 << 24, [], 4, "bits outside"),
        (-1, [], 4, "bits outside"),
        (True, [], 4, "mask of cards must be an integer"),
        (1.0, [], 4, "mask of cards must be an integer"),
        ("AS", [], 4, "mask of cards must be an integer"),
        (2, [JACK], 4, "JS is both on the table and in the hand J"),
        (1, [2, 2], 4, "QS is twice in the trick"),
        (1, [2, 3, 4], 4, "trick has 3 cards, must have 0 to 2"),
        (1, [24], 4, "must be 0 to 23, got 24"),
        (1, [-1], 4, "must be 0 to 23, got -1"),
        (1, [True], 4, "card of the trick must be an integer, got True"),
        (1, [2.0], 4, "card of the trick must be an integer, got 2.0"),
        (1, "KS", 4, "sequence of card indices"),
        (1, {2}, 4, "sequence of card indices"),
        (1, 2, 4, "sequence of card indices"),
        (1, None, 4, "sequence of card indices"),
        (1, [2], 7, "trump must be a suit 0 to 3, or 4 for none, got 7"),
        (1, [2], -1, "trump must be"),
        (1, [2], False, "trump must be an integer"),
        (1, [2], None, "trump must be an integer"),
        (1, [2], float("nan"), "trump must be an integer"),
    ],
)
def test_bad_input_is_named(hand: Any, trick: Any, trump: Any, words: str) -> None:
    with pytest.raises(DealError, match=words) as caught:
        legal_mask(hand, trick, trump)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [0, 9, True, 1.0, "2"])
def test_a_bad_trick_number_is_named(number: Any) -> None:
    with pytest.raises(DealError, match="trick_number"):
        legal_mask(1, [], 4, trick_number=number)


def test_unknown_rules_are_named() -> None:
    with pytest.raises(RulesError, match="did you mean mil"):
        legal_mask(1, [], 4, rules="mill")


@pytest.mark.parametrize("trick", [[], [0, 1, 2, 3], [0, 0], "AS", [0.5], [False]])
def test_winner_refuses_no_trick(trick: Any) -> None:
    with pytest.raises(DealError):
        trick_winner(trick, 4)
