"""The exchange of ten cards: equal to brute force, and the same by any number of threads."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milsim.cards import ALL_CARDS, CardSet, cards_of, format_card, parse_card
from milsim.deals import Deal
from milsim.errors import DealError, NotationError, PolicyError, UsageError
from milsim.gifts import exchange
from milsim.gifts.advice import advice_of
from milsim.gifts.honest import play_honestly
from milsim.gifts.race import N_LAYOUTS, Race, layouts_of
from milsim.gifts.text import advice_text
from milsim.policies.spec import parse_spec
from milsim.rules import load, with_fields
from milsim.scoring import declarer_score
from milsim.solver import best_exchange, solve_batch
from tests.command_line import Shell

HAND = "AKQ.AT.AK9.K9"


@pytest.fixture
def shell(monkeypatch, capfd):
    return Shell(monkeypatch, capfd)


def drawn(number: int) -> int:
    cards = random.Random(number).sample(range(24), 10)
    return sum(1 << card for card in cards)


def some_places(number: int, count: int) -> np.ndarray:
    return np.array(sorted(random.Random(number).sample(range(N_LAYOUTS), count)))


def race_of(ten: int, places, *, rules="mil", bid=100, threads=1) -> Race:
    return Race(ten, load(rules), bid, threads=threads, places=places)


def every_value(race: Race) -> np.ndarray:
    """The values of all pairs by brute force: the plain solver, one position after the other."""
    found = np.full((100, race.n), -1)
    right = ALL_CARDS & ~(race.ten | race.lefts)
    for pair in race.pairs:
        to_left, to_right = (1 << card for card in race.gifts(pair))
        kept = np.full(race.n, race.kept(pair))
        hands = kept, race.lefts | to_left, right | to_right
        found[pair] = solve_batch(*hands, 0, 4, rules=race.rules, threads=1)
    return found


def best_scores(race: Race, values: np.ndarray) -> dict[int, dict[int, int]]:
    """By contract and pair that may name it: the scores of all layouts together."""
    found: dict[int, dict[int, int]] = {}
    for contract in race.contracts():
        for pair in race.pairs:
            if race.highest[pair] >= contract:
                scores = (int(declarer_score(int(p), contract, race.fields)) for p in values[pair])
                found.setdefault(contract, {})[int(pair)] = sum(scores)
    return found


def check_against_brute_force(race: Race, count: int = 4) -> None:
    values = every_value(race)
    scores = best_scores(race, values)
    contract = race.best_contract()
    most = max(max(by_pair.values()) for by_pair in scores.values())
    assert max(scores[contract].values()) == most
    assert all(max(scores[lower].values()) < most for lower in scores if lower < contract)
    found = race.best_by_score(contract, count)
    by_pair = scores[contract]
    assert [by_pair[int(pair)] for pair in found] == sorted(by_pair.values())[::-1][:count]
    assert (race.lower[found] == values[found]).all()
    points = race.best_by_points(race.pairs, count)
    totals = values[race.pairs].sum(axis=1)
    assert values[points].sum(axis=1).tolist() == sorted(totals.tolist())[::-1][:count]
    # What was not asked to the end is bounded by the truth on both sides.
    assert (race.lower[race.pairs] <= values[race.pairs]).all()
    assert (race.upper[race.pairs] >= values[race.pairs]).all()


@pytest.mark.parametrize(
    ("rules", "number"),
    [("mil", 1), ("mil", 2), ("gamerules", 1), ("gamerules", 3), ("russian", 2), ("russian", 3)],
)
def test_a_race_equals_brute_force(rules, number):
    check_against_brute_force(race_of(drawn(number), some_places(number, 24), rules=rules))


@pytest.mark.parametrize(
    "fields",
    [
        {"scoring.success": "actual"},
        {"scoring.made_test": "rounded", "auction.cap": "none"},
        {"talon.raise_contract": False},
        {"play.last_trick_bonus": 10, "play.ace_marriage": 200, "talon.cap_basis": "hand10"},
    ],
)
def test_a_race_equals_brute_force_under_other_rules(fields):
    rules = with_fields("mil", fields)
    for ten in (drawn(4), CardSet.parse("AKQ.AT.AK9.AK").mask):
        check_against_brute_force(Race(ten, rules, 100, threads=1, places=some_places(4, 16)))


@settings(max_examples=8)
@given(st.sets(st.integers(0, 23), min_size=10, max_size=10), st.integers(0, 1000))
def test_a_race_of_any_ten_cards_equals_brute_force(cards, number):
    ten = sum(1 << card for card in cards)
    check_against_brute_force(race_of(ten, some_places(number, 6)), count=2)


def test_no_pair_is_better_in_a_layout_than_the_best_exchange_of_its_deal():
    race = race_of(drawn(6), some_places(6, 12))
    race.solve(race.pairs)
    for place, left in enumerate(int(left) for left in race.lefts):
        cards = cards_of(race.ten)
        talon = sum(1 << card for card in cards[:3])
        deal = Deal(race.ten & ~talon, left, ALL_CARDS & ~(race.ten | left), talon)
        found = best_exchange(deal)
        values = {race.gifts(pair): int(race.lower[pair, place]) for pair in race.pairs}
        assert values == found.values
        assert max(values.values()) == found.points


def test_threads_change_neither_the_result_nor_the_work():
    one, two = (
        race_of(drawn(7), some_places(7, 150), rules="gamerules", threads=threads)
        for threads in (1, 2)
    )
    for race in (one, two):
        race.best_by_score(race.best_contract(), 3)
    assert (one.lower == two.lower).all()
    assert (one.upper == two.upper).all()
    assert one.nodes == two.nodes > 0


def test_fewer_pairs_are_asked_than_there_are():
    race = race_of(CardSet.parse(HAND).mask, some_places(8, 300))
    race.best_by_score(race.best_contract(), 1)
    before = race.nodes
    race.solve(race.pairs)
    assert before < race.nodes / 4


def test_layouts_are_all_of_them_once():
    ten = drawn(9)
    lefts = layouts_of(ten)
    assert len(set(lefts.tolist())) == N_LAYOUTS
    assert all(int(left).bit_count() == 7 and not int(left) & ten for left in lefts)
    order = Race(ten, load("mil"), 100, threads=1).order
    assert sorted(order.tolist()) == list(range(N_LAYOUTS))


def test_suits_that_are_worth_the_same_can_be_exchanged():
    same = {f"deal.marriage_values.{suit}": 60 for suit in ("spades", "hearts")}
    rules = with_fields("mil", same)
    ten = CardSet.parse("AKQ.T9.J9.A9K").mask  # spades, hearts, diamonds, clubs
    turned = ten & 0b111111_111111 << 6 | (ten & 63) << 18 | ten >> 18 & 63
    places = np.arange(N_LAYOUTS)[::120]
    race = Race(ten, rules, 100, threads=1, places=places)
    twin = Race(turned, rules, 100, threads=1)
    swap = {int(mask): place for place, mask in enumerate(twin.lefts.tolist())}
    where = [
        swap[int(m) & 0b111111_111111 << 6 | (int(m) & 63) << 18 | int(m) >> 18 & 63]
        for m in race.lefts
    ]
    twin = Race(turned, rules, 100, threads=1, places=np.array(where))
    race.solve(race.pairs)
    twin.solve(twin.pairs)
    other = {twin.gifts(pair): twin.lower[pair].tolist() for pair in twin.pairs}
    for pair in race.pairs:
        gifts = tuple(
            card + 18 if card < 6 else card - 18 if card >= 18 else card
            for card in race.gifts(pair)
        )
        assert race.lower[pair].tolist() == other[gifts]


# ------------------------------------------------------------------------------------ honest play


def honest(policy: str, *, threads: int = 1, count: int = 6, **changes):
    race = race_of(CardSet.parse(HAND).mask, None)
    pairs = [(parse_card("9C"), parse_card("9D")), (parse_card("KD"), parse_card("9C"))]
    given_ = {
        "ten": race.ten,
        "lefts": race.lefts,
        "order": race.order[:count],
        "bid": 100,
        "contract": 100,
        "need": 100,
        "rules": race.rules,
        "seed": 3,
        "seconds": None,
        "threads": threads,
    }
    return play_honestly(policy, pairs, **{**given_, **changes})


def test_kernels_and_driven_players_play_alike(monkeypatch):
    by_kernel = honest("expert", count=40)
    monkeypatch.setattr(type(parse_spec("expert")), "number", None)  # so it is driven
    assert honest("expert", count=40).points == by_kernel.points


def test_the_largest_seed_is_one():
    assert honest("random", count=20, seed=2**64 - 1).points != honest("random", count=20).points


def test_honest_play_does_not_depend_on_threads_and_stops_in_time():
    assert honest("pimc:playouts=4").points == honest("pimc:playouts=4", threads=2).points
    stopped = honest("pimc:playouts=4", count=N_LAYOUTS, seconds=0)
    assert stopped.layouts == 1
    first = honest("pimc:playouts=4", count=1)
    assert stopped.points == first.points


def test_all_layouts_by_one_who_draws_no_lots_are_exact():
    found = honest("expert", count=N_LAYOUTS)
    gifts = next(iter(found.points))
    assert found.is_exact
    assert found.chance(gifts).half_width == 0
    assert found.chance(gifts).value == sum(p >= 100 for p in found.points[gifts]) / N_LAYOUTS
    some = honest("expert", count=50)
    assert not some.is_exact
    assert some.chance(gifts).half_width > 0


# ------------------------------------------------------------------------------------- the border


def advice_for(hand: str, rules="mil", **options):
    race = Race(CardSet.parse(hand).mask, load(rules), 100, threads=1, places=some_places(1, 60))
    contract = race.best_contract()
    pairs = race.best_by_score(contract, 3)
    return advice_of(race, CardSet.parse(hand), pairs, contract, False, "score", **options)


def test_advice_tells_the_same_numbers_in_all_forms():
    found = advice_for(HAND)
    data = json.loads(json.dumps(found.to_dict()))
    best = data["gifts"][0]
    assert data["contract"] == found.contract
    assert best["made"] == found.best.made == found.best.reach(found.contract)
    assert sum(best["points"].values()) == found.layouts == 60
    by_contract = {row["contract"]: row for row in best["contracts"]}
    assert by_contract[found.contract]["made"] == best["made"]
    assert by_contract[found.contract]["score"] == pytest.approx(best["score"])
    assert best["score"] == found.contract * (2 * best["made"] - 60) / 60
    text = advice_text(found)
    assert f"{100 * best['made'] / 60:.1f}" in text
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 25


def test_who_sees_all_cards_is_not_said_to_play_honestly():
    advice = advice_for(HAND)
    played = (honest("expert", count=2), honest("oracle", count=2))
    text = " ".join(str(replace(advice, honest=played)).split())
    assert "by expert (2 layouts, 95 % interval), oracle (2 layouts" in text
    assert "interval), who sees all cards." in text
    assert "who sees" not in " ".join(str(replace(advice, honest=played[:1])).split())


def test_four_nines_after_the_gifts_are_told():
    kept = advice_for("9.9.A9.AKQT9J", "gamerules")
    gifts = {kept.best.left, kept.best.right}
    nines = {card for card in range(24) if card % 6 == 0}
    assert (kept.nines == "declarer") == (not gifts & nines)
    assert advice_for(HAND).nines is None  # mil looks at the hands as dealt
    none = advice_for("AKQ.AT.AK.KTJ", "gamerules")
    assert none.nines == "defender"
    assert "four nines" in advice_text(none).replace("all four", "four")


@pytest.mark.parametrize(
    ("hand", "options", "error", "words"),
    [
        ("AKQ.T9.J.A", {}, DealError, "milsim hand"),
        ("AKQ.AT.AK9.K", {}, DealError, "9 cards, not the 10"),
        ("AKQJT9.AKQJT9.AKQJT9.AKQJT9", {}, DealError, "24 cards"),
        ("AKQ.AT.AK9.KK", {}, NotationError, "twice"),
        ("rubbish", {}, NotationError, "rubbish"),
        (HAND, {"bid": 105}, DealError, "bid must be a multiple of 10"),
        (HAND, {"bid": 90}, DealError, "bid must be"),
        (HAND, {"contract": 400}, DealError, "contract must be"),
        (HAND, {"bid": 120, "contract": 110}, DealError, "from 120"),
        (HAND, {"by": "luck"}, UsageError, "score or points"),
        (HAND, {"top": 0}, UsageError, "top"),
        (HAND, {"seconds": float("nan")}, UsageError, "seconds"),
        (HAND, {"policy": "grredy"}, PolicyError, "greedy"),
        (1 << 24, {}, DealError, ""),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(hand, options, error, words):
    with pytest.raises(error) as caught:
        exchange(hand, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["AKQ.T9.J.A"], 3),
        (["AKQ.AT.AK9.KK"], 3),
        (["?"], 3),
        ([HAND, "--seconds", "soon"], 2),
        ([HAND, "--top", "99"], 2),
        ([HAND, "--bid", "101"], 3),
        ([HAND, "--rules", "no-such"], 3),
        ([HAND, "--set", "play.must_beat=perhaps"], 3),
        ([HAND, "--policy", "nobody"], 3),
    ],
)
def test_mistakes_are_one_line_and_an_exit_code(shell, arguments, code):
    found = shell("exchange", *arguments)
    assert (found.code, found.out, found.err.count("\n")) == (code, "", 1)


def test_the_command_prints_json_and_nothing_else(shell):
    found = shell(
        "exchange", "AS KS QS, AH 10H, AD KD 9D, KC 9C", "--top", 1, "--contract", 100, "--seconds",
        0, "--json",
    )  # fmt: skip
    assert (found.code, found.err) == (0, "")
    data = json.loads(found.out)
    assert (data["hand"], data["contract"], len(data["gifts"])) == (HAND, 100, 1)
    assert data["gifts"][0]["made"] == 3380


GOLDEN = [
    (HAND, "mil", 100, [("9C", "9D", 3380, 388939), ("9D", "9C", 3370, 389052)]),
    (HAND, "gamerules", 100, [("9D", "9C", 3356, 388820), ("9C", "9D", 3352, 388695)]),
    ("AKJ.AT9.AQ.A9", "mil", 100, [("QD", "9C", 1927, 347872), ("9C", "QD", 1927, 347388)]),
    ("AT9.KQ.A9.AT9", "mil", 170, [("9S", "9D", 3432, 636121), ("9C", "9D", 3432, 636121)]),
]


@pytest.mark.parametrize(("hand", "rules", "contract", "gifts"), GOLDEN)
def test_golden_counts(hand, rules, contract, gifts):
    found = exchange(hand, rules=rules, top=len(gifts))
    assert found.contract == contract
    assert [
        (
            format_card(pair.left),
            format_card(pair.right),
            pair.made,
            sum(points * n for points, n in pair.points.items()),
        )
        for pair in found.gifts
    ] == gifts
