"""What a marriage is worth in parts: each replay against another way to get it, and the sums."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milsim
from milsim import reference, reports
from milsim.cards import MARRIAGE_MASKS, SUIT_NAMES, cards_of, marriages_of, mask_of
from milsim.dealing import masks_of_deals, sample_deals
from milsim.dealing.sampling import checked_seed
from milsim.deals import Deal
from milsim.errors import UsageError
from milsim.policies.conformance import PolicyPlayer
from milsim.position import state as kernels
from milsim.reference import Game
from milsim.reports import marriage_parts
from milsim.reports.counterfactual import Counterfactual, counterfactuals, half_marriages
from milsim.rng import COUNTERFACTUAL_STREAM, draw, philox, policy_key, signed_word, stream_of
from milsim.rules import Rules, load, packed, preset_names, with_fields
from milsim.rules.model import MarriageValues
from milsim.simulation.broken_pairs import broken_deals
from milsim.simulation.replay import replay_declarer_points, replay_gifts
from milsim.solver import best_exchange_batch, solve_batch
from milsim.store.run import Run
from milsim.tricks import marriage_leads, play_flags, play_values, without_marriages
from tests.strategies import any_rules, positions
from tests.test_kernels_against_reference import acts_mask, assert_same, state_of
from tests.test_solver import Searched, drawn_rules, reference_value

SUIT_MASKS = st.integers(0, 15)
ALL = 0b1111


def without(patch: pytest.MonkeyPatch, suits: int) -> None:
    """Let the reference game know no marriages of some suits when a card is led."""
    patch.setattr(
        "milsim.reference.play.marriages_in",
        lambda cards: tuple(suit for suit in marriages_of(mask_of(cards)) if not suits >> suit & 1),
    )


# -- a marriage that nobody can declare ----------------------------------------------------------


@settings(max_examples=150)
@given(positions(), SUIT_MASKS, st.integers(0, 2**32 - 1))
def test_kernels_play_as_a_reference_without_these_marriages(
    position: reference.Position, suits: int, seed: int
) -> None:
    chance, array = Random(seed), packed(position.rules)
    flags, values = without_marriages(play_flags(array), suits), play_values(array)
    with pytest.MonkeyPatch.context() as patch:
        without(patch, suits)
        state = state_of(position)
        while not position.is_over:
            assert kernels.legal_acts(state, flags) == acts_mask(position, position.rules)
            play = chance.choice(position.legal_plays())
            act = play.card + (kernels.DECLARE if play.declares else 0)
            position = position.play(play.card, play.declares)
            kernels.play_card(state, act, flags, values)
            assert_same(state, position)
    assert not any(suits >> suit & 1 and state[kernels.DECLARED + suit] for suit in range(4))


@given(any_rules())
def test_no_rules_know_of_it(rules: Rules) -> None:
    flags = play_flags(packed(rules))
    assert without_marriages(flags, 0) == flags == flags & (1 << 24) - 1
    assert not marriage_leads(0xFFFFFF, 2, without_marriages(flags, ALL))


def ending_with_marriages(random: Random, rules: Rules) -> reference.Position:
    """Three cards a hand; who leads has a marriage, and so perhaps has another."""
    suits = random.sample(range(4), 4)
    pairs = [[6 * suit + 2, 6 * suit + 3] for suit in suits[:2]]
    rest = [card for card in range(24) if card not in pairs[0] + pairs[1]]
    random.shuffle(rest)
    other = pairs[1] if random.random() < 0.6 else rest[:2]
    hands = [[*pairs[0], rest[2]], [*other, rest[3]], rest[4:7]]
    return reference.Position.start(
        hands, 0, trump=random.randrange(5), trick_number=6, rules=rules
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_solver_searches_as_the_reference_plays_without_them(seed: int) -> None:
    random, differ = Random(seed), 0
    for _ in range(80):
        position = ending_with_marriages(random, drawn_rules(random))
        declarer, suits = random.randrange(3), random.choice([1, 2, 4, 8, 15, 6])
        whole = Searched(position, declarer).exact()
        searched = Searched(position, declarer)
        searched.flags = without_marriages(searched.flags, suits)
        with pytest.MonkeyPatch.context() as patch:
            without(patch, suits)
            value = reference_value(position, declarer)
        assert searched.exact(random.randint(0, 300)) == value, (position, suits)
        differ += value != whole
    assert differ > 8


def test_positions_and_exchanges_are_solved_without_them() -> None:
    assert solve_batch([0b001100], [0b010001], [0b100010])[0] == 46
    without_spades = solve_batch([0b001100], [0b010001], [0b100010], undeclarable=0b0001)
    assert without_spades[0] == 6  # the queen draws ten and ace, the king takes nine and jack
    assert not solve_batch([12], [17], [34], at_least=7, undeclarable=1)[0]
    deals = sample_deals(6, seed=3)
    free = best_exchange_batch(deals)
    bound = best_exchange_batch(deals, undeclarable=ALL)
    assert (bound.points <= 120).all()
    assert (free.points != bound.points).any()
    held = [bool(marriages_of(int(m.forehand[0] | m.talon[0]))) for m in map(masks_of, deals)]
    for index, holds in enumerate(held):
        if not holds:  # the defenders' marriages matter too, so not the same, but playable
            assert bound.count[index] >= 1


def masks_of(deal: int) -> Any:
    return masks_of_deals([deal])


@cache
def run_of(policy: str, rules: str, mode: str, deals: int = 300) -> Run:
    return milsim.simulate(deals, seed=31, rules=rules, policy=policy, mode=mode)


def columns_of(rows: pl.DataFrame) -> dict[str, Any]:
    names = ("index", "deal", "redeals", "declarer", "bid", "contract", "dark")
    return {name: rows[name].to_numpy() for name in names}


# The mixed table has each policy under all rules.
@pytest.mark.parametrize(
    ("rules", "policy"),
    [(rules, "random,greedy,expert") for rules in preset_names()]
    + [
        (rules, policy) for rules in ("mil", "russian") for policy in ("random", "greedy", "expert")
    ],
)
def test_replays_without_them_equal_the_reference(rules: str, policy: str) -> None:
    """The same policies, decision by decision, at a table that knows no such marriages."""
    run = run_of(policy, rules, "auction", 60)
    suits = 0b1010
    rows = run.frame().filter(~pl.col("conceded")).sort("index").collect()
    points = replay_declarer_points(
        run.plan, **columns_of(rows), rules=run.rules, undeclarable=suits
    )
    with pytest.MonkeyPatch.context() as patch:
        without(patch, suits)
        for row, found in zip(rows.to_dicts(), points.tolist(), strict=True):
            key = policy_key(checked_seed(run.plan.seed), row["index"], row["redeals"])
            game = Game(Deal.from_id(row["deal"]), run.rules)
            player = PolicyPlayer(game, run.plan.policies, key)
            player.flags = without_marriages(player.flags, suits)
            played = player.play()
            assert [gift.card for gift in played.gifts] == [row["gift_left"], row["gift_right"]]
            assert played.position.points[played.declarer] == found
            assert not any(
                each.suit is not None and suits >> each.suit & 1
                for each in played.position.declarations
            )


# -- a broken pair -------------------------------------------------------------------------------


def naive_broken(hands: list[set[int]], declarer: int, suits: int, key: int) -> list[set[int]]:
    """``hands`` by seat and the talon; the definition, card by card."""
    hands = [set(hand) for hand in hands]
    for suit in range(4):
        pair = [6 * suit + 2, 6 * suit + 3]
        ten = hands[declarer] | hands[3]
        if not suits >> suit & 1 or not ten.issuperset(pair):
            continue
        word = draw(key, suit, 0) % 2**64
        goes = pair[word * 2 >> 64]
        able = [
            card
            for card in range(24)
            if card not in ten
            and not set(marriages_of(mask_of(ten - {goes} | {card})))
            - set(marriages_of(mask_of(ten - {goes})))
        ]
        comes = able[(draw(key, suit, 1) % 2**64) * len(able) >> 64]
        for hand in hands:
            if hand & {goes, comes}:
                hand ^= {goes, comes}
    return hands


@pytest.mark.parametrize("suits", [1, 4, 8, 15])
@pytest.mark.parametrize("seed", [5, 2**64 - 3])
def test_pairs_are_broken_as_defined(suits: int, seed: int) -> None:
    n = 400
    deals = sample_deals(n, seed=9)
    index = np.arange(n, dtype=np.uint64) + 7
    declarer = (np.arange(n) % 3).astype(np.uint8)
    redeals = (np.arange(n) % 2).astype(np.uint16)
    broken = broken_deals(seed, index, deals, redeals, declarer, suits)
    changed = 0
    for i in range(n):
        before, after = Deal.from_id(int(deals[i])), Deal.from_id(int(broken[i]))
        hands = [set(cards_of(m)) for m in (*before.hand_masks, before.talon_mask)]
        now = [set(cards_of(m)) for m in (*after.hand_masks, after.talon_mask)]
        key, _ = philox(signed_word(seed), int(index[i]), stream_of(COUNTERFACTUAL_STREAM, i % 2))
        assert naive_broken(hands, i % 3, suits, key) == now
        ten, ten_now = hands[i % 3] | hands[3], now[i % 3] | now[3]
        had, has = (set(marriages_of(mask_of(cards))) for cards in (ten, ten_now))
        assert has == had - {suit for suit in range(4) if suits >> suit & 1}
        assert len(ten - ten_now) == len(had - has)
        changed += hands != now
    assert 40 < changed < n


def test_king_and_queen_go_alike_and_any_card_comes() -> None:
    """Counts of a hundred thousand, within five standard errors of a fair draw."""
    deals = sample_deals(100_000, seed=2, where="marriages=H")
    n = len(deals)
    zeros = np.zeros(n, np.uint16)
    index = np.arange(n, dtype=np.uint64)
    broken = broken_deals(1, index, deals, zeros, zeros.astype(np.uint8), 8)
    a, b = masks_of_deals(deals), masks_of_deals(broken)
    gone = (a.forehand | a.talon) & ~(b.forehand | b.talon)
    come = (b.forehand | b.talon) & ~(a.forehand | a.talon)
    kings = int((gone == 1 << 21).sum())
    assert int((gone == 1 << 20).sum()) + kings == n
    assert abs(kings - n / 2) < 5 * (n / 4) ** 0.5
    # Aces, tens, jacks and nines of the three other suits are alike; kings and queens come less
    # often, by those that would complete a marriage.
    counts = {card: int((come == 1 << card).sum()) for card in range(24)}
    plain = [counts[6 * suit + rank] for suit in range(3) for rank in (0, 1, 4, 5)]
    mean = sum(plain) / len(plain)
    assert max(abs(count - mean) for count in plain) < 5 * mean**0.5
    halves = [counts[6 * suit + rank] for suit in range(3) for rank in (2, 3)]
    assert max(halves) < mean - 5 * mean**0.5
    assert abs(max(halves) - min(halves)) < 8 * mean**0.5
    assert counts[20] == counts[21] == 0
    assert sum(counts.values()) == n


def test_a_broken_deal_is_replayed_as_if_it_had_been_dealt() -> None:
    """With players who draw their cards, the gifts and points are those of the other deal."""
    run = run_of("random,greedy,expert", "mil", "declarer")
    rows = run.frame().sort("index").collect()
    columns = columns_of(rows)
    few = {name: columns[name] for name in ("index", "deal", "redeals", "declarer")}
    left, right = replay_gifts(run.plan, **few)
    assert left.tolist() == rows["gift_left"].to_list()
    assert right.tolist() == rows["gift_right"].to_list()
    few["deal"] = np.roll(columns["deal"], 1)
    left, right = replay_gifts(run.plan, **few)
    for deal, one, other in zip(few["deal"].tolist(), left.tolist(), right.tolist(), strict=True):
        held = Deal.from_id(deal)
        assert {one, other} <= set(cards_of(held.hand_masks[0] | held.talon_mask))


# -- the frames ----------------------------------------------------------------------------------


def naive_parts(run: Run, each: Counterfactual, among: list[bool]) -> dict[str, list[int]]:
    values = run.rules.deal.marriage_values.by_suit()
    found: dict[str, list[int]] = {
        name: [] for name in ("paid", "other", "trump", "cards", "whole")
    }
    assert each.broken is not None
    for i, row in enumerate(each.rows.to_dicts()):
        if not among[i]:
            continue
        paid = sum(
            values[suit]
            for suit in range(4)
            if each.suits >> suit & 1 and row[f"{SUIT_NAMES[suit]}_seat"] == row["declarer"]
        )
        a, b, c, d = (int(x[i]) for x in (each.played, each.unpaid, each.silent, each.broken))
        assert a == row["declarer_points"]
        for name, value in zip(found, (paid, a - b - paid, b - c, c - d, a - d), strict=True):
            found[name].append(value)
    return found


@pytest.mark.parametrize(
    ("policy", "rules", "mode"),
    [
        ("expert", "mil", "declarer"),
        ("greedy", "gamerules", "auction"),
        ("random", "polish-900", "declarer"),  # declared from the first trick on
        ("expert,greedy,random", "russian", "auction"),
    ],
)
def test_parts_are_those_of_the_deals_and_add_up(policy: str, rules: str, mode: str) -> None:
    run = run_of(policy, rules, mode)
    masks = [1, 2, 4, 8, 15]
    found = counterfactuals(run, masks)
    frame = marriage_parts.parts_frame(run, found)
    assert frame.equals(reports.marriages(run, "parts", threads=1))
    rows = {(row["suit"], row["group"]): row for row in frame.to_dicts()}
    for mask, name in zip(masks, (*SUIT_NAMES, "any"), strict=True):
        each = found[mask]
        tens = []
        for row in each.rows.to_dicts():
            deal = Deal.from_id(row["deal"])
            tens.append(deal.hand_masks[row["declarer"]] | deal.talon_mask)
        number = [len(marriages_of(ten)) for ten in tens]
        suit = mask.bit_length() - 1
        groups = {
            "all": [True] * len(tens),
            **(
                {"one": [k == 1 for k in number], "two": [k == 2 for k in number],
                 "three or four": [k > 2 for k in number]}
                if name == "any"
                else {
                    "with its ace": [bool(ten >> 6 * suit + 5 & 1) for ten in tens],
                    "without it": [not ten >> 6 * suit + 5 & 1 for ten in tens],
                    "the only one": [k == 1 for k in number],
                    "beside another": [k > 1 for k in number],
                }
            ),
        }  # fmt: skip
        assert set(groups) == {group for each_name, group in rows if each_name == name}
        for group, among in groups.items():
            row = rows[name, group]
            assert row["n"] == sum(among)
            for part, values in naive_parts(run, each, among).items():
                if values:
                    assert row[part] == pytest.approx(sum(values) / len(values))
                else:
                    assert row[part] is None
            if row["n"]:
                parts = sum(row[part] for part in marriage_parts.PARTS)
                assert parts == pytest.approx(row["whole"], abs=1e-9)
                assert row["paid"] + row["other"] == pytest.approx(row["worth"], abs=1e-9)
                if name != "any":
                    assert row["paid"] == pytest.approx(row["declared"] * row["value"])
        whole = rows[name, "all"]
        pairs = [("with its ace", "without it"), ("the only one", "beside another")]
        for split in [("one", "two", "three or four")] if name == "any" else pairs:
            assert sum(rows[name, group]["n"] for group in split) == whole["n"]
            for part in (*marriage_parts.PARTS, "whole", "declared"):
                sums = [
                    (rows[name, group]["n"] * (rows[name, group][part] or 0)) for group in split
                ]
                assert sum(sums) == pytest.approx(whole["n"] * whole[part])


def test_the_report_and_the_frames_say_the_same_worth() -> None:
    run = run_of("greedy", "mil", "declarer")
    suits = reports.marriages(run)
    report = reports.marriages_report(run)
    assert report.frames()["suit"].equals(suits)
    parts = report.frames()["parts"].filter(group="all")
    assert parts["worth"].to_list() == suits["worth"].to_list()
    assert parts["n"].to_list() == suits["worth_n"].to_list()
    assert report.frames()["parts"].equals(reports.marriages(run, "parts"))
    assert report.frames()["halves"].equals(reports.marriages(run, "halves"))


def test_halves_are_those_of_the_seven_cards() -> None:
    run = run_of("expert", "mil", "declarer", 500)
    frame = reports.marriages(run, "halves")
    rows = run.frame().sort("index").collect()
    for suit, row in enumerate(frame.to_dicts()):
        pair = MARRIAGE_MASKS[suit]
        seven = [Deal.from_id(deal).hand_masks[0] for deal in rows["deal"]]
        talon = [Deal.from_id(deal).talon_mask for deal in rows["deal"]]
        half = [(hand & pair).bit_count() == 1 for hand in seven]
        done = [
            is_half and (hand | rest) & pair == pair
            for hand, rest, is_half in zip(seven, talon, half, strict=True)
        ]
        silent = replay_declarer_points(
            run.plan, **columns_of(rows), rules=run.rules, undeclarable=1 << suit
        )
        lost = rows["declarer_points"].to_numpy().astype(int) - silent
        assert row["n"] == sum(half)
        assert row["completed"] == sum(done) / sum(half)
        assert row["completed_exact"] == 3 / 17
        assert row["chance"] == pytest.approx(lost[half].mean())
        assert row["when_completed"] == pytest.approx(lost[done].mean())
        rest = [a and not b for a, b in zip(half, done, strict=True)]
        assert row["when_not"] == pytest.approx(lost[rest].mean())
        share = row["completed"]
        both = share * row["when_completed"] + (1 - share) * row["when_not"]
        assert row["chance"] == pytest.approx(both)
    few = half_marriages(run, replays=10)
    assert [len(each.played) for each in few] == [10] * 4
    assert (
        reports.marriages(run_of("greedy", "mil", "auction"), "halves")["completed_exact"]
        .is_null()
        .all()
    )


def test_rules_that_pay_nothing_already() -> None:
    mil = load("mil")
    nothing = MarriageValues(spades=0, clubs=0, diamonds=0, hearts=0)
    rules = replace(mil, deal=replace(mil.deal, marriage_values=nothing))
    run = milsim.simulate(200, seed=4, rules=rules, policy="greedy", mode="declarer")
    for row in reports.marriages(run, "parts").filter(pl.col("n") > 0).to_dicts():
        assert row["paid"] == row["other"] == row["worth"] == 0
        assert row["trump"] + row["cards"] == pytest.approx(row["whole"])


@pytest.mark.parametrize(
    "fields",
    [
        {"play.ace_marriage": 200},
        {"play.marriage_declaration": "optional", "play.marriage_card": "queen"},
        {"play.trump_effect": "next_trick", "play.last_trick_bonus": 10},
    ],
)
def test_other_marriages_and_other_ways_to_declare(fields: dict[str, Any]) -> None:
    rules = with_fields(load("mil"), fields)
    run = milsim.simulate(300, seed=6, rules=rules, policy="greedy", mode="declarer")
    for row in reports.marriages(run, "parts").filter(group="all").to_dicts():
        parts = sum(row[part] for part in marriage_parts.PARTS)
        assert parts == pytest.approx(row["whole"], abs=1e-9)
        assert row["whole"] > 0.2 * (row["value"] or 40)


@pytest.mark.parametrize("dd", ["gifts", "exchange"])
def test_double_dummy_solves_each_of_the_four(dd: str) -> None:
    plan: dict[str, Any] = {"seed": 8, "policy": "greedy", "mode": "declarer", "dd": dd}
    run = milsim.simulate(24, **plan).as_model("double-dummy")
    found = counterfactuals(run, [8])[8]
    assert found.broken is not None
    assert (found.played >= found.unpaid).all()  # the same choices at other prices
    for i, row in enumerate(found.rows.to_dicts()):
        deal = [row["deal"]]
        if dd == "exchange":
            assert best_exchange_batch(deal).points[0] == found.played[i]
            free = best_exchange_batch(deal, undeclarable=8)
            assert free.points[0] == found.silent[i]
    frame = reports.marriages(run, "parts")
    for row in frame.filter(pl.col("n") > 0).to_dicts():
        assert row["paid"] is row["other"] is row["declared"] is None
        parts = row["worth"] + row["trump"] + row["cards"]
        assert parts == pytest.approx(row["whole"], abs=1e-9)
    assert "What is paid alone is not known" in str(reports.marriages_report(run))


def test_gifts_of_a_policy_that_cannot_be_asked_again_leave_the_cards_open() -> None:
    run = milsim.simulate(8, seed=8, policy="pimc:playouts=2", mode="declarer", dd="gifts")
    run = run.as_model("double-dummy")
    frame = reports.marriages(run, "parts").filter(pl.col("n") > 0)
    assert frame.height
    assert frame["cards"].is_null().all()
    assert frame["whole"].is_null().all()
    assert frame["trump"].is_not_null().all()
    assert str(reports.marriages_report(run))


def test_a_run_without_the_marriage_and_none_to_replay() -> None:
    run = milsim.simulate(1, seed=1, where="marriages=none", mode="declarer", policy="greedy")
    frame = reports.marriages(run, "parts")
    assert frame.filter(suit="hearts", group="all").row(0, named=True)["whole"] is None
    assert "The same in parts" in str(reports.marriages_report(run))
    none = reports.marriages(run_of("greedy", "mil", "declarer"), "parts", replays=0)
    assert none["n"].sum() == 0
    assert none["declared"].is_null().all()
    with pytest.raises(UsageError, match="replays"):
        reports.marriages(run, "halves", replays=-1)


@pytest.mark.parametrize("format", ["text", "csv", "json", "md", "parquet"])
def test_every_format_has_them(format: str, tmp_path: Path) -> None:  # noqa: A002
    run = run_of("greedy", "mil", "declarer")
    report = reports.marriages_report(run)
    content = reports.render(report, format)
    if format == "parquet":
        frame = pl.read_parquet(content)
        assert frame.filter(table="parts").height == 24
        assert frame.filter(table="halves").height == 4
    else:
        text = content if isinstance(content, str) else content.decode()
        for words in ("with its ace", "beside another"):
            assert words in text


def test_threads_do_not_change_a_number() -> None:
    run = run_of("expert", "mil", "declarer")
    assert reports.marriages(run, "parts", threads=1).equals(
        reports.marriages(run, "parts", threads=2)
    )


# -- the chart -----------------------------------------------------------------------------------


def said(run: Run, replays: int = 50_000) -> list[str]:
    figure = reports.CHARTS["marriage-parts"].build(run, replays=replays)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    labels = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    return texts + labels


def test_the_chart_says_the_numbers_of_the_frame() -> None:
    run = run_of("expert", "mil", "declarer", 500)
    texts = said(run)
    for row in reports.marriages(run, "parts").to_dicts():
        if row["group"] != "all" or row["suit"] == "any":
            continue
        for part in marriage_parts.PARTS:
            half = (row[f"{part}_high"] - row[f"{part}_low"]) / 2
            digits = 1 if half < 1.95 else 0
            assert any(
                text.startswith(f"{row[part]:+.{digits}f} ".replace("-", "−")) for text in texts
            ), (row["suit"], part)
        assert f"paid in {100 * row['declared']:.0f} %" in texts
        assert f"pays {row['value']}" in texts


def test_bars_end_where_the_next_begins() -> None:
    run = run_of("expert", "mil", "declarer", 500)
    figure = reports.CHARTS["marriage-parts"].build(run)
    bars = [patch.get_bbox() for patch in figure.axes[0].patches]
    assert len(bars) == 20
    for first in range(0, 20, 5):
        ends = [bars[first].x1]  # paid begins at nothing
        for bar in bars[first + 1 : first + 4]:
            assert min(abs(bar.x0 - ends[-1]), abs(bar.x1 - ends[-1])) < 1e-9
            ends.append(bar.x1 if abs(bar.x0 - ends[-1]) < 1e-9 else bar.x0)
        assert bars[first + 4].x0 == pytest.approx(0)
        assert bars[first + 4].x1 == pytest.approx(ends[-1])


def test_the_chart_of_what_is_not_known() -> None:
    plan: dict[str, Any] = {"seed": 8, "policy": "pimc:playouts=1", "mode": "declarer"}
    run = milsim.simulate(260, **plan, dd="gifts").as_model("double-dummy")
    texts = said(run)
    assert "paid, or not" in texts
    assert "not known" in texts
    assert not any("paid in" in text for text in texts)
    assert said(run, replays=5).count("too few deals") == 4 + 16
