"""Cards, masks and `CardSet`: every notation of every card, and no error but our own."""

from __future__ import annotations

import copy
import html
import itertools
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim import cards
from milsim.cards import ALL_CARDS, CardSet, format_card, parse_card, parse_hand, pretty_hand
from milsim.errors import DealError, NotationError

masks = st.integers(0, ALL_CARDS)
ALL_INDICES = range(cards.N_CARDS)

RANKS_BY_LETTERS = {
    "english": [["9"], ["J", "j"], ["Q", "q"], ["K", "k"], ["T", "t", "10"], ["A", "a"]],
    "polish": [["9"], ["W", "w"], ["D", "d"], ["K", "k"], ["T", "t", "10"], ["A", "a"]],
    "russian": [["9"], ["В", "в"], ["Д", "д"], ["К", "к"], ["T", "t", "10"], ["Т", "т"]],
}
SUITS_WRITTEN = [
    ["S", "s", "♠", "♠\ufe0f", "♤"],
    ["C", "c", "♣", "♣\ufe0f", "♧"],
    ["D", "d", "♦", "♦\ufe0e", "♢"],
    ["H", "h", "♥", "♥\ufe0f", "♡"],
]


def test_constants_are_those_of_rules_1() -> None:
    assert [cards.card(suit, rank) for suit in cards.SUITS for rank in cards.RANKS] == list(
        ALL_INDICES
    )
    assert [cards.suit_of(index) for index in ALL_INDICES] == [i // 6 for i in ALL_INDICES]
    assert [cards.rank_of(index) for index in ALL_INDICES] == [i % 6 for i in ALL_INDICES]
    assert sum(cards.SUIT_MASKS) == sum(cards.RANK_MASKS) == ALL_CARDS == 0xFFFFFF
    assert all(cards.points_of_mask(mask) == 30 for mask in cards.SUIT_MASKS)
    assert cards.points_of_mask(ALL_CARDS) == cards.DECK_POINTS == 120
    assert [cards.points_of_mask(mask) // 4 for mask in cards.RANK_MASKS] == [0, 2, 3, 4, 10, 11]
    assert cards.NO_TRUMP == 4
    assert [format_card(i) for i in (0, 4, 6, 17, 23)] == ["9S", "TS", "9C", "AD", "AH"]


@pytest.mark.parametrize("letters", cards.LETTERS)
@pytest.mark.parametrize("index", ALL_INDICES)
def test_every_card_in_every_notation(index: int, letters: str) -> None:
    ranks = RANKS_BY_LETTERS[letters][index % 6]
    for rank, suit in itertools.product(ranks, SUITS_WRITTEN[index // 6]):
        for text in (rank + suit, suit + rank, f" {rank}{suit}\n"):
            assert parse_card(text, letters=letters) == index
            assert parse_hand(text, letters=letters) == 1 << index


@pytest.mark.parametrize("letters", cards.LETTERS)
def test_no_card_can_be_read_in_two_ways(letters: str) -> None:
    ranks = {sign: rank for rank, signs in enumerate(RANKS_BY_LETTERS[letters]) for sign in signs}
    suits = {sign: suit for suit, signs in enumerate(SUITS_WRITTEN) for sign in signs}
    readings: dict[str, set[int]] = {}
    for (rank_sign, rank), (suit_sign, suit) in itertools.product(ranks.items(), suits.items()):
        readings.setdefault(rank_sign + suit_sign, set()).add(6 * suit + rank)
        readings.setdefault(suit_sign + rank_sign, set()).add(6 * suit + rank)
    assert all(len(meanings) == 1 for meanings in readings.values())


def test_polish_d_is_queen_and_diamonds() -> None:
    for text, card in [("DD", "QD"), ("DK", "KD"), ("KD", "KD"), ("DS", "QS"), ("SD", "QS")]:
        assert format_card(parse_card(text, letters="polish")) == card
    assert str(CardSet.parse("♠ D K", letters="polish")) == "KQ..."
    assert str(CardSet.parse("DW.D.AD.D9", letters="polish")) == "QJ.Q.AQ.Q9"


def test_russian_te_is_the_ace_and_latin_t_the_ten() -> None:
    assert str(CardSet.parse("ТTКДВ9...", letters="russian")) == "ATKQJ9..."
    assert str(CardSet.parse("т10KB...", letters="russian")) == "ATKJ..."


@pytest.mark.parametrize(
    "text",
    [
        "AKQ.T9.J.A",
        "qka.910.j.a",
        " AKQ . 10 9 . J . A ",
        "AS KS QS TH 9H JD AC",
        "SA,SK, SQ,H10 ,9h,jd,♣A",
        "♠️ A K Q  ♥️ 10 9  ♦️ J  ♣️ A",
        "S A K Q H T 9 D J C A",
        "♠AKQ ♥109 ♦J ♣A",
    ],
)
def test_every_way_to_write_a_hand(text: str) -> None:
    assert str(CardSet.parse(text)) == "AKQ.T9.J.A"


@pytest.mark.parametrize(
    ("text", "letters", "message"),
    [
        ("AXQ.T9.J.A", "english", "unknown rank 'X' in 'AXQ', the spades of 'AXQ.T9.J.A': ranks"),
        ("AW.T9.J.A", "english", "ranks are A T K Q J 9; it is the jack in polish letters"),
        ("ТS", "english", "it is the ace in russian letters"),
        ("QS", "polish", "ranks are A T K D W 9; it is the queen in english letters"),
        ("AS 1H", "english", "unknown rank '1' in '1H' of 'AS 1H'"),
        ("1S0", "english", "unknown rank '1'"),
        ("AS AK", "english", "no single card in 'AK' of 'AS AK': write a rank and a suit"),
        ("A", "english", "no single card in 'A'"),
        ("AS KS AS", "english", "card AS is given twice in 'AS KS AS'"),
        ("A1010...", "english", "card TS is given twice"),
        ("AKQ.T9.J", "english", "'AKQ.T9.J' has 3 suits between dots, not 4"),
        ("A-.K..", "english", "unknown rank '-'"),
        ("-", "english", "unknown rank '-'"),
        ("♠ A - K", "english", "unknown rank '-' in '-' of '♠ A - K'"),
        ("S", "english", "no rank after 'S' in 'S': write a hand as"),
        ("♠ ♥ A", "english", "no rank after '♠' in '♠ ♥ A'"),
        ("♠ KH", "english", "no rank after '♠' in '♠ KH'"),
        ("", "english", "empty hand '': write a hand as AKQ.T9.J.A"),
        ("AS", "polsh", "unknown letters 'polsh': did you mean polish?"),
    ],
)
def test_wrong_text_says_what_and_where_and_the_right_thing(
    text: str, letters: str, message: str
) -> None:
    with pytest.raises(NotationError, match=re.escape(message)) as caught:
        parse_hand(text, letters=letters)
    assert "\n" not in str(caught.value)
    assert str(caught.value)[0].islower() or str(caught.value)[0] == "'"


def test_wrong_card_text() -> None:
    for text in ("", "A", "S", "SS", "AS KS", "AKS", "AS.", "0S", "\ufe0f"):
        with pytest.raises(NotationError):
            parse_card(text)
    for value in (None, 5, b"AS", ["AS"]):
        with pytest.raises(NotationError, match="must be text, got"):
            parse_hand(value)  # type: ignore[arg-type]
        with pytest.raises(NotationError, match="must be text, got"):
            parse_card(value)  # type: ignore[arg-type]


signs = st.text(alphabet="9JQKTA10WDВДКТSCDHscdh♠♥♦♣\ufe0f.-, |/*#\n", max_size=30)


@given(text=st.text() | signs, letters=st.sampled_from(cards.LETTERS))
def test_garbage_raises_only_notation_errors(text: str, letters: str) -> None:
    for parse in (parse_hand, parse_card):
        message = "one line"
        try:
            assert 0 <= parse(text, letters=letters) <= ALL_CARDS
        except NotationError as error:
            message = str(error)
        assert len(message.splitlines()) == 1


@given(masks)
def test_every_printed_form_is_read_back(mask: int) -> None:
    hand = CardSet(mask)
    assert int(CardSet.parse(str(hand))) == mask
    assert eval(repr(hand)) == hand
    assert pickle.loads(pickle.dumps(hand)) == copy.deepcopy(hand) == hand
    assert parse_hand(pretty_hand(mask)) == mask
    assert parse_hand(pretty_hand(mask, ascii=True)) == mask
    assert hand.pretty(ascii=True).isascii()
    if mask:
        assert parse_hand(" ".join(format_card(index) for index in hand)) == mask
    assert CardSet.of(hand.cards) == CardSet.of(reversed(hand.cards)) == hand


@given(masks, masks)
def test_a_card_set_is_a_set(one: int, other: int) -> None:
    a, b = CardSet(one), CardSet(other)
    x, y = set(a), set(b)
    assert (len(a), list(a), bool(a)) == (len(x), sorted(x), bool(x))
    for result, expected in [
        (a | b, x | y), (a & b, x & y), (a ^ b, x ^ y), (a - b, x - y), (~a, set(ALL_INDICES) - x),
        (a | other, x | y), (one | b, x | y), (one & b, x & y), (one ^ b, x ^ y), (one - b, x - y),
    ]:  # fmt: skip
        assert isinstance(result, CardSet)
        assert set(result) == expected
    assert (a <= b, a < b, a >= b, a > b, a == b) == (x <= y, x < y, x >= y, x > y, x == y)
    assert (hash(a) == hash(b)) or a != b
    assert all((index in a) == (index in x) for index in range(-1, 26))
    assert a != one  # type: ignore[comparison-overlap]
    assert "AS" not in a


@given(masks)
def test_the_twins_agree(mask: int) -> None:
    hand = CardSet(mask)
    assert hand.cards == cards.cards_of(mask) == tuple(hand)
    assert hand.points == cards.points_of_mask(mask)
    assert hand.points == sum(cards.CARD_POINTS[index % 6] for index in hand)
    assert hand.marriages == cards.marriages_of(mask)
    assert hand.half_marriages == cards.half_marriages_of(mask)
    held = [(6 * suit + 2 in hand) + (6 * suit + 3 in hand) for suit in cards.SUITS]
    assert hand.marriages == tuple(suit for suit in cards.SUITS if held[suit] == 2)
    assert hand.half_marriages == tuple(suit for suit in cards.SUITS if held[suit] == 1)
    assert hand.four_nines == cards.four_nines(mask) == ({0, 6, 12, 18} <= set(hand))
    for suit in cards.SUITS:
        assert int(hand.by_suit(suit)) == cards.by_suit(mask, suit)
        assert list(hand.by_suit(suit)) == [index for index in hand if index // 6 == suit]


@given(masks)
def test_html_can_be_read_as_text(mask: int) -> None:
    markup = CardSet(mask)._repr_html_()
    assert 'aria-label="hearts"' in markup
    text = html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("–", "-")
    assert parse_hand(text) == mask
    assert str(CardSet(mask)) in markup


def test_wrong_numbers_are_deal_errors() -> None:
    for wrong in (-1, 1 << 24, 10**5000, True, 1.0, float("nan"), "5", None, np.float64(5)):
        with pytest.raises(DealError):
            CardSet(wrong)  # type: ignore[arg-type]
        with pytest.raises(DealError):
            cards.points_of_mask(wrong)  # type: ignore[arg-type]
        with pytest.raises(DealError):
            cards.format_card(wrong)  # type: ignore[arg-type]
    for suit, rank in [(4, 0), (0, 6), (-1, 0), (0, -1), (0.0, 1)]:
        with pytest.raises(DealError, match="must be"):
            cards.card(suit, rank)  # type: ignore[arg-type]
    with pytest.raises(DealError, match="card 9C is given twice"):
        cards.mask_of([6, 6])
    with pytest.raises(DealError, match="card must be 0 to 23, got 24"):
        cards.mask_of([24])
    with pytest.raises(DealError, match="suit must be 0 to 3, got 4"):
        cards.by_suit(1, cards.NO_TRUMP)
    with pytest.raises(DealError, match="mask of cards must be an integer"):
        CardSet(np.zeros(2))  # type: ignore[arg-type]


def test_numpy_integers_are_integers() -> None:
    hand = CardSet(np.uint64(5))  # type: ignore[arg-type]
    assert type(hand.mask) is int
    assert hand == CardSet(5)


def test_a_card_set_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        CardSet(5).mask = 6  # type: ignore[misc]


def test_cards_and_deals_import_nothing_heavy() -> None:
    code = (
        "import sys, milsim.cards, milsim.deals;"
        "print(sorted({'numpy', 'numba', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
