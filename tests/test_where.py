"""The language of conditions: reading, writing, and counts of hands against exact figures."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim.cards import CardSet, cards_of, parse_hand
from milsim.dealing import hand_masks_table
from milsim.errors import MilsimError, NotationError
from milsim.where import FEATURES, Term, Where, feature

TABLE = hand_masks_table()


def count(text: str) -> int:
    return int(Where.parse(text).matches(TABLE).sum())


@pytest.mark.parametrize(
    ("text", "hands"),
    [  # beyond the figures of test_numbers.py
        ("", comb(24, 7)),
        ("marriages=none", 247_536),
        ("marriages>=H", comb(22, 5)),
        ("marriages>=C", comb(22, 5)),
        ("nines=4", comb(20, 3)),
        ("not four_nines", comb(24, 7) - comb(20, 3)),
        ("points<6", 0),
        ("points=6", 4),
        ("points>=74", 4),
        ("points>74", 0),
        ("has=AS", comb(23, 6)),
        ('has="AS TH"', comb(22, 5)),
        ("lacks=9C", comb(23, 7)),
        ('lacks="9C 9D"', comb(22, 7)),
        ("spades=6", 18),
        ("hearts=0", comb(18, 7)),
        ("aces=2", comb(4, 2) * comb(20, 5)),
        ("kings=4", comb(20, 3)),
        ("queens=0", comb(20, 7)),
        ("jacks!=0", comb(24, 7) - comb(20, 7)),
        ("tens<=1", comb(20, 7) + 4 * comb(20, 6)),
        ("voids=2", 6 * comb(12, 7)),
    ],
)
def test_counts_of_hands(text: str, hands: int) -> None:
    assert count(text) == hands


def slow_features(hand: int) -> dict[str, int]:
    """All counted features, card by card."""
    cards = [divmod(card, 6) for card in cards_of(hand)]
    suits = [[rank for suit, rank in cards if suit == s] for s in range(4)]
    ranks = [sum(rank == r for _, rank in cards) for r in range(6)]
    married = [2 in suit and 3 in suit for suit in suits]
    return {
        "marriages": sum(married),
        "half_marriages": sum((2 in suit) != (3 in suit) for suit in suits),
        "marriage_points": sum((40, 60, 80, 100)[s] for s in range(4) if married[s]),
        "points": sum((0, 2, 3, 4, 10, 11)[rank] for _, rank in cards),
        "aces": ranks[5],
        "tens": ranks[4],
        "guarded_tens": sum(4 in suit and len(suit) > 1 for suit in suits),
        "kings": ranks[3],
        "queens": ranks[2],
        "jacks": ranks[1],
        "nines": ranks[0],
        **dict(zip(("spades", "clubs", "diamonds", "hearts"), map(len, suits), strict=True)),
        "longest": max(map(len, suits)),
        "voids": sum(not suit for suit in suits),
        "four_nines": int(ranks[0] == 4),
    }


@given(st.integers(0, 346_103))
def test_features_are_what_they_say(rank: int) -> None:
    hand = int(TABLE[rank])
    expected = slow_features(hand)
    assert list(expected) == [name for name in FEATURES if name not in ("has", "lacks")]
    for name, value in expected.items():
        assert feature(name, TABLE[rank : rank + 1]).tolist() == [value], name


@st.composite
def terms(draw: st.DrawFn) -> Term:
    name = draw(st.sampled_from(list(FEATURES)))
    sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    if name in ("has", "lacks"):
        return Term(name, "=", draw(st.integers(1, 2**24 - 1)))
    if name == "four_nines":
        return Term(name, "=", draw(st.integers(0, 1)))
    if name in ("marriages", "half_marriages") and draw(st.booleans()):
        return Term(name, sign, draw(st.integers(0, 15)), True)
    return Term(name, sign, draw(st.integers(0, 120)))


@given(st.lists(terms(), max_size=5), st.sampled_from([" ", ", ", " and ", ",", "\n"]))
def test_text_and_condition_go_both_ways(found: list[Term], joint: str) -> None:
    where = Where(tuple(found))
    assert Where.parse(str(where)) == where
    assert Where.parse(joint.join(map(str, found))) == where
    assert str(Where.parse(str(where))) == str(where)


@given(terms())
def test_terms_are_pythons_comparisons(term: Term) -> None:
    hands = TABLE[:: 346_104 // 200]
    signs = {"=": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__",
             ">=": "__ge__"}  # fmt: skip
    found = Where((term,)).matches(hands)
    for hand, fits in zip(hands.tolist(), found.tolist(), strict=True):
        held = CardSet(hand)
        if term.feature in ("has", "lacks"):
            common = hand & term.value
            expected = common == (term.value if term.feature == "has" else 0)
        elif term.is_set:
            suits = held.marriages if term.feature == "marriages" else held.half_marriages
            wanted = {suit for suit in range(4) if term.value >> suit & 1}
            expected = getattr(set(suits), signs[term.operator])(wanted)
        else:
            expected = getattr(slow_features(hand)[term.feature], signs[term.operator])(term.value)
        assert fits == expected


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("aces>=2", "aces>=2"),
        ("  ACES  >=  2 ,, ", "aces>=2"),
        ("aces ≥ 2 and kings≠0", "aces>=2, kings!=0"),
        ("points<20 marriages==DH", "marriages=HD, points<20"),
        ("marriages=♥♦", "marriages=HD"),
        ("marriages=none", "marriages=none"),
        ("marriages=♥️", "marriages=H"),
        ("has=AS", "has=AS"),
        ("has='TH as'", 'has="AS TH"'),
        ("has=AS TH aces=1", 'aces=1, has="AS TH"'),
        ("lacks=9C 9D,not four_nines", 'not four_nines, lacks="9D 9C"'),
        ('has="A.K.."', 'has="AS KH"'),
        ("aces=1, aces=1", "aces=1"),
        ("four_nines", "four_nines"),
        ("", ""),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(Where.parse(text)) == canonical
    assert Where.parse(canonical) == Where.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("acs>=2", "unknown feature 'acs' in 'acs>=2': did you mean aces?"),
        ("marriage=H", "unknown feature 'marriage' in 'marriage=H': did you mean marriages?"),
        ("aces", "aces in 'aces' needs a comparison, such as aces>=1"),
        ("aces=>2", "unknown comparison '=>' in 'aces=>2': one of = != < <= > >="),
        ("aces>=", "nothing is compared in 'aces>=': write aces>=1, say"),
        ("aces=two", "'two' in 'aces=two' is no whole number, as aces needs"),
        ("aces=-1", "'-1' in 'aces=-1' is no whole number, as aces needs"),
        ("aces=1.5", "'1.5' in 'aces=1.5' is no whole number, as aces needs"),
        ("aces=²", "'²' in 'aces=²' is no whole number, as aces needs"),
        ("points<" + "9" * 5000, "too large for a hand"),
        ("marriages=X", "'X' in 'marriages=X' is no number and no set of suits: letters S C D H"),
        ("marriages=HH", "a suit is given twice in 'marriages=HH'"),
        ("has>=AS", "has in 'has>=AS' is followed by = and cards, such as has=AS"),
        ("has=XS", "unknown rank 'X' in 'XS'"),
        ("has=", "nothing is compared in 'has=': write has=AS, say"),
        ("four_nines=1", "four_nines in 'four_nines=1' stands alone"),
        ("not aces=1", "not goes before a flag only (not four_nines), not 'aces=1'"),
        ("not", "a flag is missing after not in 'not'"),
        ("not not four_nines", "not before not"),
        ("aces=1 or kings=1", "or is not known in a condition: all terms must hold together"),
        (">=2", "a feature is missing before '>=2' in '>=2'"),
        ("aces=1 =2", "a feature is missing before '=2'"),
        ("__import__('os')", "unknown feature"),
        ('has="AS', "nothing is compared"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(NotationError) as error:
        Where.parse(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("text", [None, 5, b"aces=1", ["aces=1"]])
def test_only_text_is_read(text: object) -> None:
    with pytest.raises(NotationError, match="condition must be text"):
        Where.parse(text)  # type: ignore[arg-type]


@given(st.text() | st.text(alphabet="acestn o<>=!\"'HD129,. "))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        where = Where.parse(text)
    except MilsimError as error:
        message = str(error)
        assert message.isprintable(), message
    else:
        assert Where.parse(str(where)) == where


def test_conditions_are_values() -> None:
    assert Where.parse("aces=1 kings=2") == Where.parse("kings=2 aces=1")
    assert len({Where.parse("aces=1"), Where.parse("aces = 1")}) == 1


def test_masks_of_any_shape_and_width() -> None:
    hand = parse_hand("AKQ.T9.J.A")
    wide = np.array([[hand, 127]], np.int64)
    for hands in (wide, wide.astype(np.int32)):
        assert Where.parse("marriages>=S").matches(hands).tolist() == [[True, True]]
        assert feature("guarded_tens", hands).tolist() == [[1, 1]]
