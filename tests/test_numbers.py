"""The exact figures of the game: each counted by milsim itself, then looked for in what it deals.

`FIGURES` holds every figure as it is printed (the project's NUMBERS page; two computations that
know nothing of milsim agree on it) beside the enumeration that must give it. Three enumerations do
(`tests/counting.py`):

- all sets of 3, 7, 8 or 10 cards, through the conditions of `milsim.where`;
- all deals at once: where the four kings and four queens lie decides everything about marriages,
  and each of these 4^8 layouts stands for a known number of deals;
- the 680 talons that a hand of seven may find.

The sampled part plays runs of a fixed seed. For each statistic the limit is such that a perfect
sampler would exceed it for one seed in 10^6; with some 130 of them a new seed raises a false alarm
about once in 8,000 times.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import milsim
from milsim import reports
from milsim._jit import jit_enabled
from milsim.cards import (
    ALL_CARDS,
    HEARTS,
    KING,
    MARRIAGE_MASKS,
    N_CARDS,
    QUEEN,
    RANK_MASKS,
)
from milsim.dealing import (
    DealMasks,
    completion_count,
    hand_masks_table,
    masks_of_deals,
)
from milsim.deals import N_DEALS
from milsim.reports import exact
from milsim.rights import FOUR_NINES, LOW_HAND, hand_rights
from milsim.rules import load, packed
from milsim.store.features import COUNTED
from milsim.store.run import Run
from milsim.where import feature, suit_set
from tests.chi_square import assert_classes, assert_frequency
from tests.counting import (
    FOREHAND,
    REARHAND,
    TALON,
    Flags,
    Masks,
    SetShare,
    any_of,
    completed,
    counted,
    deals_where,
    fraction,
    hand_of,
    hands_where,
    hands_with_a_right,
    held,
    holders_are,
    holds_a_wanted_card,
    holds_an_absent_pair,
    joint_counts,
    layouts,
    mean,
    sets_of,
    share,
    some_player_has,
    talon_completes,
    talons_of,
)

# -------------------------------------------------------------------------------- the one table


class Figure(NamedTuple):
    """One figure: its name, how it is printed (several ways joined by =), and its enumeration."""

    name: str
    printed: str
    enumeration: Callable[[], Fraction | int]


def joint_text(marriages: int, halves: int) -> str:
    return f"marriages={marriages}, half_marriages={halves}"


JOINT = {
    (0, 0): ".03305", (0, 1): ".18510", (0, 2): ".30289", (0, 3): ".16827", (0, 4): ".02589",
    (1, 0): ".05048", (1, 1): ".12620", (1, 2): ".07766", (1, 3): ".01109",
    (2, 0): ".00971", (2, 1): ".00832", (2, 2): ".00111",
}  # fmt: skip
TALON_COMPLETES = {
    (0, 0): ".08824", (0, 1): ".23824", (0, 2): ".36912", (0, 3): ".48235", (0, 4): ".57941",
    (1, 0): ".06618", (1, 1): ".21765", (1, 2): ".35000", (1, 3): ".46471",
    (2, 0): ".04412", (2, 1): ".19706", (2, 2): ".33088",
}  # fmt: skip
MARRIAGE_VALUE = {
    0: ".71521", 40: ".06636", 60: ".06636", 80: ".06636", 100: ".06955", 120: ".00319",
    140: ".00638", 160: ".00319", 180: ".00324",
}  # fmt: skip
WANTED = (".176471", ".330882", ".464706", ".579412", ".676471", ".757353", ".823529", ".876471")
HOLDERS = (".352471", ".457228", ".173752", ".016549")

FIGURES = [
    Figure("deals", "807,723,671,040", lambda: N_DEALS),
    Figure("deals by layout", "807,723,671,040", lambda: int(layouts()[1].sum())),
    Figure("deals by completion", "807,723,671,040",
           lambda: len(sets_of(7)) * completion_count(ALL_CARDS ^ hand_of(0, 0), (7, 7, 3))),
    Figure("positions 8-8-8", "9,465,511,770", lambda: completion_count(ALL_CARDS, (8, 8, 8))),
    Figure("hands of 7", "346,104", lambda: len(sets_of(7))),
    Figure("hands of 8", "735,471", lambda: len(sets_of(8))),
    Figure("hands of 10", "1,961,256", lambda: len(sets_of(10))),
    # The table: 7 cards, 8 random cards, 10 cards.
    Figure("a given marriage in 7", "7/92 = .076087", share(7, "marriages>=H")),
    Figure("a given marriage in 8", "7/69 = .101449", share(8, "marriages>=C")),
    Figure("a given marriage in 10", "15/92 = .163043", share(10, "marriages>=S")),
    Figure("no marriage in 7", "247,536/346,104 = .715207", share(7, "marriages=0")),
    Figure("no marriage in 8", ".632898", share(8, "marriages=none")),
    Figure("no marriage in 10", ".460223", share(10, "marriages=0")),
    Figure("one marriage in 7", "91,872/346,104 = .265446", share(7, "marriages=1")),
    Figure("two marriages in 7", "6,624/346,104 = .019139", share(7, "marriages=2")),
    Figure("three marriages in 7", "72/346,104 = .000208", share(7, "marriages=3")),
    Figure("one marriage in 8", ".329237", share(8, "marriages=1")),
    Figure("two marriages in 8", ".037037", share(8, "marriages=2")),
    Figure("three marriages in 8", ".000827", share(8, "marriages=3")),
    Figure("one marriage in 10", ".433498", share(10, "marriages=1")),
    Figure("two marriages in 10", ".100221", share(10, "marriages=2")),
    Figure("three marriages in 10", ".005996", share(10, "marriages=3")),
    Figure("four marriages in 10", ".000061", share(10, "marriages=4")),
    Figure("a marriage in 7", "1369/4807 = .284793", share(7, "marriages>=1")),
    Figure("a marriage in 8", ".367102", share(8, "marriages>=1")),
    Figure("a marriage in 10", "4010/7429 = .539777", share(10, "marriages>=1")),
    Figure("half of a given marriage in 7", ".431159", share(7, "half_marriages>=D")),
    Figure("half of a given marriage in 8", ".463768", share(8, "half_marriages>=D")),
    Figure("half of a given marriage in 10", ".507246", share(10, "half_marriages>=D")),
    Figure("four nines in 7", "1,140/346,104 = 5/1518 = .0032938", share(7, "four_nines")),
    Figure("four nines in 8", "5/759", share(8, "four_nines")),
    Figure("four nines in 10", "5/253", share(10, "four_nines")),
    Figure("three nines in 7", ".055995", share(7, "nines=3")),
    Figure("some player has four nines", ".0098814",
           lambda: some_player_has(hands_where("four_nines"))),
    *(
        Figure(f"{number} players hold a marriage", printed, partial(holders_are, number))
        for number, printed in enumerate(HOLDERS)
    ),
    # Values and points.
    Figure("mean marriage value in 7", "21.304", lambda: mean("marriage_points")),
    *(
        Figure(f"marriage value {value} in 7", printed, share(7, f"marriage_points={value}"))
        for value, printed in MARRIAGE_VALUE.items()
    ),
    Figure("mean points of 7", "35", lambda: mean("points")),
    Figure("variance of points of 7", "86.2319",
           lambda: mean("points", power=2) - mean("points") ** 2),
    Figure("fewest points of 7", "6", lambda: int(counted("points").min())),
    Figure("most points of 7", "74", lambda: int(counted("points").max())),
    Figure("below 10 points in 7", "212/346,104", share(7, "points<10")),
    Figure("below 10, no marriage", "196/346,104", share(7, "points<10, marriages=0")),
    Figure("below 14 points in 7", "2,644/346,104", share(7, "points<14")),
    Figure("below 15 points in 7", "3,932/346,104", share(7, "points<15")),
    Figure("below 18 points in 7", "9,044/346,104", share(7, "points<18")),
    Figure("below 20 points in 7", "14,664/346,104", share(7, "points<20")),
    Figure("right to a redeal, as conditions", "1,208/346,104 = .0034903",
           share(7, "four_nines", "points<10, marriages=0")),
    Figure("right to a redeal, as the auction tells", "1,208/346,104 = .0034903",
           lambda: Fraction(len(hands_with_a_right()), len(sets_of(7)))),
    Figure("marriage and ace in 7", ".195317", share(7, "marriages>=1, aces>=1")),
    Figure("ace, king, queen of a suit in 7", ".068858",
           share(7, *(f'has="A{suit} K{suit} Q{suit}"' for suit in "SCDH"))),
    Figure("no marriage and no ace in 7", ".134503", share(7, "marriages=0, aces=0")),
    *(
        Figure(f"{m} marriages and {h} halves in 7", printed, share(7, joint_text(m, h)))
        for (m, h), printed in JOINT.items()
    ),
    # The talon: of the 17 cards that a player does not see; of all 24.
    *(
        Figure(f"the talon holds one of {n} cards", printed, partial(holds_a_wanted_card, n))
        for n, printed in enumerate(WANTED, start=1)
    ),
    Figure("an absent pair lies in the talon", "3/136", holds_an_absent_pair),
    Figure("some marriage lies in the talon", "1/23", share(3, "marriages=1")),
    *(
        Figure(f"the talon completes: {m} marriages, {h} halves", printed,
               partial(talon_completes, m, h))
        for (m, h), printed in TALON_COMPLETES.items()
    ),
    Figure("the talon completes: no marriage", ".356517",
           lambda: deals_where(completed() > 0, held("marriages") == 0)),
    Figure("the talon completes: one marriage", ".237891",
           lambda: deals_where(completed() > 0, held("marriages") == 1)),
    Figure("the talon completes: two marriages", ".127238",
           lambda: deals_where(completed() > 0, held("marriages") == 2)),
    Figure("the talon completes: one marriage or more", ".230310",
           lambda: deals_where(completed() > 0, held("marriages") > 0)),
    Figure("mean points of the talon", "15", lambda: mean("points", 3)),
    Figure("talons", "2,024", lambda: len(sets_of(3))),
    Figure("talon below 4 points", "52/2024", share(3, "points<4")),
    Figure("talon below 5 points", "100/2024", share(3, "points<5")),
    Figure("talon below 6 points", "164/2024", share(3, "points<6")),
    Figure("two nines in the talon", ".059289", share(3, "nines=2")),
    Figure("two nines or more in the talon", ".061265", share(3, "nines>=2")),
    Figure("an ace in the talon", ".436759", share(3, "aces>=1")),
]  # fmt: skip


def is_printed(value: Fraction, text: str) -> bool:
    """Whether the value is this whole number or fraction, or rounds to this decimal."""
    text = text.replace(",", "")
    digits = len(text.partition(".")[2])
    half_of_last_digit = Fraction(1, 2 * 10**digits) if digits else 0
    return abs(value - Fraction(text)) <= half_of_last_digit


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures_are_those_counted(figure: Figure) -> None:
    value = Fraction(figure.enumeration())
    for text in figure.printed.split(" = "):
        assert is_printed(value, text), f"{value} = {float(value)}, not {text}"


def test_printed_digits_count() -> None:
    third = Fraction(1, 3)
    assert is_printed(third, ".333")
    assert is_printed(third, "2/6")
    assert not is_printed(third, ".334")
    assert not is_printed(third, ".33300")
    assert is_printed(Fraction(1234), "1,234")
    assert not is_printed(Fraction(2469, 2), "1,234")


# ------------------------------------------------------------------- enumerations agree exactly


def test_layouts_and_hands_agree() -> None:
    """All deals by layout against all hands: the joint table, and no class is left out."""
    for m, h in product(range(5), repeat=2):
        by_deals = deals_where((held("marriages") == m) & (held("half_marriages") == h))
        assert by_deals == Fraction(joint_counts(7)[m][h], len(sets_of(7)))
        assert (by_deals > 0) == ((m, h) in JOINT or (m, h) in ((3, 0), (3, 1)))
    for place, cards in ((FOREHAND, 7), (REARHAND, 7), (TALON, 3)):
        marriages = feature("marriages", layouts()[0][place])
        for m in range(4):
            assert deals_where(marriages == m) == share(cards, f"marriages={m}")()
    ten = held("marriages") + completed()
    for m in range(5):
        assert deals_where(ten == m) == share(10, f"marriages={m}")()


def test_the_talons_of_any_hand_complete_as_often_as_in_all_deals() -> None:
    """Of a hand nothing matters but its marriages and halves: 680 talons, and the layouts."""
    hands = [*hand_masks_table()[:: 346_104 // 25].tolist(), hand_of(3, 0), hand_of(3, 1)]
    hands += [hand_of(m, h) for m, h in JOINT]
    for hand in hands:
        m, h = (int(feature(name, np.array(hand))) for name in ("marriages", "half_marriages"))
        given = (held("marriages") == m) & (held("half_marriages") == h)
        found = feature("marriages", talons_of(hand) | hand) - m
        assert len(found) == 680
        for new in range(4):
            assert fraction(found == new) == deals_where(completed() == new, given)


def test_the_chances_beside_reports_are_those_counted() -> None:
    for cards in (7, 8, 10):
        assert exact.held(cards) == share(cards, "marriages>=H")()
        joint = joint_counts(cards)
        assert [[exact.hands_with(cards, m, h) for h in range(5)] for m in range(5)] == joint
        for m in range(5):
            assert exact.number_held(cards, m) == Fraction(sum(joint[m]), len(sets_of(cards)))
        assert exact.any_held(cards) == 1 - exact.number_held(cards, 0)
    for m, h in JOINT:
        assert exact.any_completed_given(m, h) == talon_completes(m, h)
    for new in range(5):
        assert exact.number_completed(new) == deals_where(completed() == new)
    assert exact.any_completed() == deals_where(completed() > 0)
    hearts = [suit_set("marriages", masks) >> HEARTS & 1 for masks in
              (layouts()[0].forehand, layouts()[0].forehand | layouts()[0].talon)]  # fmt: skip
    assert exact.completed() == deals_where(hearts[1] > hearts[0])


def test_no_two_players_have_a_right_to_a_new_deal() -> None:
    """So the chance of a redeal is thrice that of one player: 151/14421 = .0104709."""
    hands = hands_with_a_right()
    assert some_player_has(hands) == Fraction(3 * 1208, 346_104) == Fraction(151, 14_421)
    rules = packed(load("mil"))
    rights = [hand_rights(hand, rules) for hand in hands.tolist()]
    low, nines = (np.array([right & kind for right in rights]) > 0
                  for kind in (LOW_HAND, FOUR_NINES))  # fmt: skip
    assert (low.sum(), nines.sum(), (low & nines).sum()) == (196, 1140, 128)


# -------------------------------------------------------------------------------- what is dealt

sampled = pytest.mark.skipif(not jit_enabled(), reason="half a million deals in plain Python")

DEALS = 300_000
SEED = 2024

RULES = "mil"


def simulated(mode: str, folder: pytest.TempPathFactory) -> Run:
    return milsim.simulate(
        DEALS, seed=SEED, mode=mode, rules=RULES, policy="random", out=folder.mktemp("numbers")
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return simulated("declarer", tmp_path_factory)


@pytest.fixture(scope="module")
def rows(run: Run) -> pl.DataFrame:
    return run.frame(features=True).sort("index").collect()


@pytest.fixture(scope="module")
def auction_rows(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    columns = ("index", "deal", "redeals")
    return simulated("auction", tmp_path_factory).frame().select(columns).sort("index").collect()


@pytest.fixture(scope="module")
def dealt(rows: pl.DataFrame) -> DealMasks:
    return masks_of_deals(rows["deal"].to_numpy())


@sampled
@pytest.mark.parametrize(
    "figure",
    [figure for figure in FIGURES if isinstance(figure.enumeration, SetShare)],
    ids=lambda figure: figure.name,
)
def test_shares_are_found_among_the_deals(figure: Figure, dealt: DealMasks) -> None:
    """Hands of 7, talons, and 10 and 8 cards: forehand's with the talon, less two of the 10."""
    counted_share = figure.enumeration
    assert isinstance(counted_share, SetShare)
    masks = {
        3: dealt.talon,
        7: dealt.middlehand,
        8: without_two_cards(dealt.forehand | dealt.talon),
        10: dealt.forehand | dealt.talon,
    }[counted_share.cards]
    successes = int(counted_share.fits(masks).sum())
    assert_frequency(successes, len(masks), counted_share(), figure.name)


def without_two_cards(masks: Masks) -> Masks:
    """Each set less two cards, chosen anew for each row by its number and not by its cards."""
    left = masks
    for size in (10, 9):
        wanted = np.arange(len(masks)) // (1 if size == 10 else 10) % size
        passed = np.zeros(len(masks), np.int64)
        gone = np.zeros(len(masks), np.int64)
        for card in range(N_CARDS):
            has = left >> card & 1
            gone |= (has & (passed == wanted)) << card
            passed += has
        left = left ^ gone
    return left


@sampled
@pytest.mark.parametrize("name", COUNTED)
def test_features_of_a_run_have_the_distributions_of_all_hands(
    name: str, rows: pl.DataFrame
) -> None:
    values = counted(name)
    exact_share = np.bincount(values) / len(values)
    observed = np.bincount(rows[f"hand_{name}"].to_numpy(), minlength=len(exact_share))
    assert_classes(observed, exact_share, name)


@sampled
def test_marriages_and_halves_come_together_as_they_should(rows: pl.DataFrame) -> None:
    chances = np.ravel(joint_counts(7)) / len(sets_of(7))
    found = 5 * rows["hand_marriages"].cast(pl.Int64) + rows["hand_half_marriages"]
    observed = np.bincount(found.to_numpy(), minlength=25)
    assert_classes(observed, chances)


@sampled
def test_the_talon_completes_marriages_as_often_as_it_should(rows: pl.DataFrame) -> None:
    new = rows["held10_marriage_mask"] & ~rows["hand_marriage_mask"]
    found = rows.select("hand_marriages", "hand_half_marriages", new=new)
    number = found["new"].bitwise_count_ones().to_numpy()
    chances = [float(deals_where(completed() == n)) for n in range(4)]
    assert_classes(np.bincount(number, minlength=4), chances, "all hands")
    for m, h in JOINT:
        fits = ((found["hand_marriages"] == m) & (found["hand_half_marriages"] == h)).to_numpy()
        successes = int((number[fits] > 0).sum())
        assert_frequency(successes, int(fits.sum()), talon_completes(m, h), (m, h))
    pairs = rows["hand_marriage_mask"].to_numpy()
    for suit, mask in enumerate(MARRIAGE_MASKS):
        held7, by_talon = pairs >> suit & 1, found["new"].to_numpy() >> suit & 1
        assert_frequency(int(held7.sum()), DEALS, Fraction(7, 92), suit)
        assert_frequency(int(by_talon.sum()), DEALS, Fraction(2, 23), suit)
        hands = hand_masks_table()[rows["hand_rank"].to_numpy()]
        absent = hands & mask == 0
        successes = int((by_talon & absent).sum())
        assert_frequency(successes, int(absent.sum()), Fraction(3, 136), suit)


@sampled
def test_the_report_on_marriages_has_its_exact_columns(run: Run) -> None:
    """By number and by suit: the sampled columns against the exact ones beside them."""
    numbers = reports.marriages(run, "number").drop_nulls("marriages")
    suits = reports.marriages(run, "suit", replays=0)
    assert suits.height == 5
    for name in ("held7", "completed", "held10"):
        observed = (numbers[name] * DEALS).round()
        assert_classes(observed.to_numpy(), numbers[f"{name}_exact"].to_numpy(), name)
        for suit, sampled_share, chance in suits.select("suit", name, f"{name}_exact").rows():
            assert_frequency(round(sampled_share * DEALS), DEALS, chance, (name, suit))


@sampled
def test_players_hold_marriages_as_often_as_they_should(dealt: DealMasks) -> None:
    number = np.sum([feature("marriages", hand) > 0 for hand in dealt[:3]], axis=0)
    chances = [float(holders_are(n)) for n in range(4)]
    assert_classes(np.bincount(number, minlength=4), chances)
    nines = np.sum([feature("four_nines", hand) for hand in dealt[:3]], axis=0)
    chance = some_player_has(hands_where("four_nines"))
    assert_frequency(int(nines.sum()), DEALS, chance, "four nines")
    royals = RANK_MASKS[KING] | RANK_MASKS[QUEEN]
    in_talon = np.bincount(np.bitwise_count(dealt.talon & royals), minlength=4)
    assert_classes(in_talon, [comb(8, n) * comb(16, 3 - n) / comb(24, 3) for n in range(4)])


@sampled
def test_points_of_the_talon_have_their_distribution(dealt: DealMasks) -> None:
    points = counted("points", 3)
    observed = np.bincount(feature("points", dealt.talon), minlength=int(points.max()) + 1)
    assert_classes(observed, np.bincount(points) / len(points))


@sampled
def test_wanted_cards_lie_in_the_talon_as_often_as_they_should(dealt: DealMasks) -> None:
    """The lowest cards that forehand does not see."""
    left = ALL_CARDS ^ dealt.forehand
    wanted = np.zeros(DEALS, np.int64)
    for number in range(1, 9):
        lowest = left & -left
        wanted |= lowest
        left ^= lowest
        assert_frequency(
            int((dealt.talon & wanted != 0).sum()), DEALS, holds_a_wanted_card(number), number
        )


@sampled
def test_redeals_are_those_of_the_rights_and_as_many_as_they_should_be(
    auction_rows: pl.DataFrame,
) -> None:
    """Deals thrown in: just where somebody has the right, and k in a row with chance p^k."""
    rights = np.zeros(1 << N_CARDS, np.bool_)
    rights[hands_with_a_right()] = True

    def has_right(deals: NDArray[np.uint64]) -> Flags:
        hands = masks_of_deals(deals)[:3]
        return any_of([rights[hand] for hand in hands])

    first = milsim.sample_deals(DEALS, seed=SEED)
    redeals = auction_rows["redeals"].to_numpy()
    played = auction_rows["deal"].to_numpy()
    assert (has_right(first) == (redeals > 0)).all()
    assert not has_right(played).any()
    assert (played == first)[redeals == 0].all()
    chance = float(some_player_has(hands_with_a_right()))
    assert_frequency(int((redeals > 0).sum()), DEALS, chance)
    most = 5
    chances = [chance**k * (1 - chance) for k in range(most)]
    observed = np.bincount(np.minimum(redeals, most), minlength=most + 1)
    assert_classes(observed, [*chances, 1 - sum(chances)])
