"""What a seat knows, against the reference: every layout that could be, and no other.

The other side of each comparison knows nothing of inferences: it tries all ways to share out the
hidden cards and plays the log of the deal again with each, by the reference's rules.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milsim.cards import ALL_CARDS, CardSet, cards_of, mask_of
from milsim.deals import Deal
from milsim.errors import DealError, UsageError
from milsim.knowledge import Knowledge, View, view
from milsim.knowledge.state import FEW
from milsim.reference import (
    Bid,
    Concession,
    Game,
    Gift,
    Operation,
    Pass,
    Phase,
    Play,
    Position,
    RedealRequest,
    TalonTaken,
    replay,
)
from milsim.rules import Rules, load
from tests.chi_square import assert_classes
from tests.strategies import any_rules, deals

MOST_TRIED = 1000  # ways to share out the hidden cards that are all tried
Masks = tuple[int, int, int]


# ------------------------------------------------------------------------------- playing at random


def random_act(game: Game, random: Random) -> Operation:
    """Mostly to the end of the deal, with many declarations, made and kept back."""
    acts = list(game.legal_acts())
    acts = [act for act in acts if not isinstance(act, RedealRequest | Concession)] or acts
    declaring: list[Operation] = [act for act in acts if isinstance(act, Play) and act.declares]
    calls = [act for act in acts if isinstance(act, Bid | Pass)]
    if calls and random.random() < 0.6:  # long auctions prove nothing here
        return random.choice([act for act in calls if isinstance(act, Pass)] or calls)
    if declaring and random.random() < 0.8:
        act = random.choice(declaring)
        assert isinstance(act, Play)
        silent = replace(act, declares=False)
        return silent if silent in acts and random.random() < 0.4 else act
    return random.choice(acts)


def moments(deal: Deal, rules: Rules, seed: int) -> Iterator[Game]:
    """A random game after each act."""
    random = Random(seed)
    game = Game(deal, rules)
    yield game
    while game.phase is not Phase.OVER:
        game.apply(random_act(game, random))
        yield game


def plays_of(game: Game) -> list[Play]:
    return [act for act in game.operations if isinstance(act, Play)]


def masks_of(game: Game) -> Masks:
    first, second, third = (mask_of(hand) for hand in game.hands)
    return first, second, third


def as_masks(hands: Any) -> set[Masks]:
    return {(a, b, c) for a, b, c in hands.tolist()}


# -------------------------------------------------------------------------------- the other side


def shares(hidden: int, size: int) -> Iterator[int]:
    for cards in combinations(cards_of(hidden), size):
        yield sum(1 << card for card in cards)


def could_be(game: Game, seat: int, hands: Masks) -> bool:
    """Whether the deal could have gone as the seat saw it, with these hands at the end of it.

    Once the talon is taken. The exchange is turned back in every way that the seat may think of,
    then the tricks are played again.
    """
    plays = plays_of(game)
    whole = [set(cards_of(hand)) for hand in hands]
    for act in plays:
        whole[act.seat].add(act.card)
    return could_have_been_given(game, seat, whole) and could_have_been_played(game, whole)


def could_have_been_given(game: Game, seat: int, whole: list[set[int]]) -> bool:
    declarer = game.declarer
    assert declarer is not None
    seen = view(game, seat)
    candidates: list[list[set[int]]] = [[set(hand) for hand in whole]]
    for gift in reversed(seen.gifts):
        before = []
        for hands in candidates:
            # the card that was seen, or any that the receiver holds
            for card in hands[gift.receiver] if gift.card is None else [gift.card]:
                if card in hands[gift.receiver]:
                    earlier = [set(hand) for hand in hands]
                    earlier[gift.receiver].remove(card)
                    earlier[gift.giver].add(card)
                    before.append(earlier)
        candidates = before
    dealt = set(cards_of(seen.dealt.mask))
    for hands in candidates:
        talon = None if seen.talon is None else set(seen.talon)
        if talon is not None and not talon <= hands[declarer]:
            continue
        if seat == declarer:
            if hands[seat] == dealt | (talon or set()):
                return True
        elif hands[seat] == dealt:
            return True
    return False


def could_have_been_played(game: Game, whole: list[set[int]]) -> bool:
    plays = plays_of(game)
    if not plays:
        return True
    assert game.declarer is not None
    position = Position.start(whole, game.declarer, rules=game.rules)
    for act in plays:
        if act not in position.legal_plays():
            return False
        position = position.play(act.card, act.declares)
    return True


def tried(game: Game, seat: int, known: Knowledge) -> set[Masks] | None:
    """All layouts by trying; None if they are too many."""
    hidden = known.hidden.mask
    first, second = (seat + 1) % 3, (seat + 2) % 3
    size = len(game.hands[first])
    if not game.talon <= frozenset().union(*game.hands, {act.card for act in plays_of(game)}):
        return None  # the talon lies untaken
    found = set()
    for count, hand in enumerate(shares(hidden, size)):
        if count >= MOST_TRIED:
            return None
        masks = [0, 0, 0]
        masks[seat], masks[first], masks[second] = mask_of(game.hands[seat]), hand, hidden ^ hand
        layout = (masks[0], masks[1], masks[2])
        if could_be(game, seat, layout):
            found.add(layout)
    return found


# -------------------------------------------------------------------------------- whole games


def assert_view_agrees(seen: View, game: Game) -> None:
    assert (seen.talon is not None) == game.sees_talon(seen.seat)
    if game.position is not None and game.position.trick:
        trick, position = seen.tricks[-1], game.position
        assert (trick.number, trick.leader) == (position.trick_number, position.leader)
        assert (trick.cards, trick.trump) == (position.trick, position.trump)


def test_trump_that_waits_and_a_talon_for_contested_deals_only() -> None:
    mil = load("mil")
    rules = replace(
        mil,
        play=replace(mil.play, trump_effect="next_trick"),
        talon=replace(mil.talon, shown="if_contested"),
    )
    trumps, seen_talons = set(), set()
    for number in range(12):
        for game in moments(Deal.from_id(number * 60_000_000_007), rules, number):
            for seat in range(3):
                seen = view(game, seat)
                assert_view_agrees(seen, game)
                if seen.talon_taken and seat != seen.declarer:
                    seen_talons.add(seen.talon is not None)
                trumps |= {trick.trump for trick in seen.tricks}
    assert len(trumps) >= 3
    assert seen_talons == {True, False}


@settings(max_examples=30)
@given(deal=deals(), rules=any_rules(), seed=st.integers(0, 2**32 - 1))
def test_the_true_layout_is_always_one_of_them(deal: Deal, rules: Rules, seed: int) -> None:
    for game in moments(deal, rules, seed):
        true = masks_of(game)
        for seat in range(3):
            known = Knowledge.of(game, seat)
            assert_view_agrees(known.view, game)
            assert known.count() >= 1
            assert known.allows(true)
            for other in range(3):
                held, possible = known.must_hold(other).mask, known.may_hold(other).mask
                assert held & ~true[other] == 0
                assert true[other] & ~possible == 0
            assert known.explain()


@settings(max_examples=60)
@given(deal=deals(), rules=any_rules(), seed=st.integers(0, 2**32 - 1))
def test_the_layouts_are_those_that_could_be(deal: Deal, rules: Rules, seed: int) -> None:
    random = Random(seed + 1)
    looked_at = {random.randrange(15, 24) for _ in range(3)}  # cards played
    for game in moments(deal, rules, seed):
        if len(plays_of(game)) not in looked_at or game.phase is Phase.OVER:
            continue
        for seat in range(3):
            known = Knowledge.of(game, seat)
            expected = tried(game, seat, known)
            if expected is None:
                continue
            numbered = known.masks()
            assert as_masks(numbered) == expected
            assert len(numbered) == len(expected) == known.count()
            for other in range(3):
                held = [layout[other] for layout in expected]
                assert known.may_hold(other).mask == np.bitwise_or.reduce(held)
                assert known.must_hold(other).mask == np.bitwise_and.reduce(held)


@settings(max_examples=40)
@given(deal=deals(), rules=any_rules(), seed=st.integers(0, 2**32 - 1))
def test_numbers_draws_and_the_test_of_a_layout_agree(deal: Deal, rules: Rules, seed: int) -> None:
    random = Random(seed)
    for game in moments(deal, rules, seed):
        if random.random() < 0.8:
            continue
        for seat in range(3):
            known = Knowledge.of(game, seat)
            begin = random.randrange(known.count())
            hands = np.concatenate([known.masks(begin, 60), known.sample(60, seed)])
            assert all(known.allows(layout) for layout in hands.tolist())
            assert (hands[:, seat] == mask_of(game.hands[seat])).all()
            assert (np.bitwise_count(hands) == [len(hand) for hand in game.hands]).all()
            numbered = as_masks(known.masks(begin, 60))
            assert len(numbered) == min(60, known.count() - begin)
            # a wrong layout is refused: two hidden cards changed places
            a, b = (seat + 1) % 3, (seat + 2) % 3
            if known.count() <= 2000:
                everything = as_masks(known.masks())
                for _ in range(20):
                    layout = list(random.choice(sorted(everything)))
                    if not layout[a] or not layout[b]:
                        break
                    x, y = random.choice(cards_of(layout[a])), random.choice(cards_of(layout[b]))
                    layout[a] ^= 1 << x | 1 << y
                    layout[b] ^= 1 << x | 1 << y
                    assert known.allows(layout) == (tuple(layout) in everything)


# ---------------------------------------------------------- what a seat cannot see changes nothing


def other_deal(
    game: Game, seat: int, layout: Masks, random: Random
) -> tuple[Deal, list[Operation]]:
    """A deal that leads to another layout, and its log: to the seat it is the same deal."""
    whole = [set(cards_of(hand)) for hand in layout]
    for act in plays_of(game):
        whole[act.seat].add(act.card)
    seen = view(game, seat)
    operations = list(game.operations)
    talon = set(game.talon)
    taken = seen.talon_taken
    for index in reversed(range(len(operations))):
        gift_made = operations[index]
        if not isinstance(gift_made, Gift):
            continue
        card = next(gift.card for gift in seen.gifts if gift.receiver == gift_made.receiver)
        if card is None:
            hand = whole[gift_made.receiver]
            shown = hand & talon if seen.talon is not None else set()
            card = random.choice(sorted(shown or hand))
        whole[gift_made.receiver].remove(card)
        whole[gift_made.seat].add(card)
        operations[index] = replace(gift_made, card=card)
    if taken:
        assert game.declarer is not None
        if seen.talon is None:
            talon = set(random.sample(sorted(whole[game.declarer]), 3))
        whole[game.declarer] -= talon
    else:
        talon = set(range(24)) - whole[0] - whole[1] - whole[2]
    forehand, middlehand, rearhand = (mask_of(hand) for hand in whole)
    return Deal(forehand, middlehand, rearhand, mask_of(talon)), operations


@settings(max_examples=30)
@given(deal=deals(), rules=any_rules(), seed=st.integers(0, 2**32 - 1))
def test_hidden_cards_change_nothing(deal: Deal, rules: Rules, seed: int) -> None:
    # Rights and caps would refuse some auctions over other cards: the auction is not looked into.
    rules = replace(
        rules,
        deal=replace(
            rules.deal, four_nines="off", low_hand=0, low_talon_points=0, low_talon_nines=0
        ),
        auction=replace(rules.auction, cap="none"),
    )
    random = Random(seed)
    for game in moments(deal, rules, seed):
        if game.phase is Phase.OVER or random.random() < 0.75:
            continue
        for seat in range(3):
            known = Knowledge.of(game, seat)
            for layout in known.sample(2, seed).tolist():
                other, operations = other_deal(game, seat, tuple(layout), random)
                elsewhere = replay(other, rules, operations)
                assert masks_of(elsewhere) == tuple(layout)
                assert view(elsewhere, seat) == view(game, seat)
                assert pickle.dumps(view(elsewhere, seat)) == pickle.dumps(view(game, seat))
                again = Knowledge.of(elsewhere, seat)
                assert again == known
                assert again.state.tobytes() == known.state.tobytes()
                assert again.explain() == known.explain()
                assert (again.sample(5, seed) == known.sample(5, seed)).all()


def everything_in(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, tuple | list | frozenset | set):
        for each in value:
            yield from everything_in(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from everything_in(getattr(value, field.name))


def test_a_view_holds_plain_values_only() -> None:
    allowed = (int, str, bool, type(None), tuple, Enum)
    for game in moments(Deal.from_id(688_907_321_587), load("mil"), 5):
        for seat in range(3):
            seen = view(game, seat)
            for value in everything_in(seen):
                plain = isinstance(value, allowed) or is_dataclass(value)
                assert plain, type(value)
                assert not isinstance(value, Game | Deal | Position)
            assert pickle.loads(pickle.dumps(seen)) == seen


def test_a_view_has_what_its_seat_sees() -> None:
    game = Game(Deal.from_id(688_907_321_587), scores=(10, 20, 30))
    talon = CardSet.of(game.talon)
    for act in (Bid(0, 100), Pass(1), Pass(2)):
        game.apply(act)
    assert [view(game, seat).talon for seat in range(3)] == [None] * 3
    assert view(game, 0).legal_acts == (TalonTaken(0),)
    assert view(game, 1).legal_acts == ()
    game.take_talon()
    left, right = sorted(game.hands[0])[:2]
    game.give(left)
    game.give(right)
    game.name_contract(100)
    assert [gift.card for gift in view(game, 0).gifts] == [left, right]
    assert [gift.card for gift in view(game, 1).gifts] == [left, None]
    assert [gift.card for gift in view(game, 2).gifts] == [None, right]
    while game.phase is not Phase.OVER:
        # the talon that was seen is not forgotten, whatever the declarer still holds
        assert [view(game, seat).talon for seat in range(3)] == [talon] * 3
        actor = game.actor
        assert actor is not None
        seen = view(game, actor)
        assert seen.legal_acts == game.legal_acts()
        assert game.position is not None
        assert seen.points == game.position.points
        assert seen.trump == game.position.trump
        assert (
            seen.tricks[-1].cards if seen.tricks and seen.tricks[-1].winner is None else ()
        ) == (game.position.trick)
        game.apply(game.legal_acts()[0])
    seen = view(game, 1)
    assert seen.result == game.result
    assert seen.scores == (10, 20, 30)
    assert game.position is not None
    won = [sum(trick.winner == seat for trick in seen.tricks) for seat in range(3)]
    assert tuple(won) == game.position.tricks_won == seen.tricks_won


# -------------------------------------------------------------------------------- uniform samples


def test_samples_are_uniform() -> None:
    """Every layout equally often, with and without the fact about the talon that was shown."""
    kinds = {True: 0, False: 0}
    for number in range(60):
        random = Random(number)
        deal = Deal.from_id(random.randrange(807_723_671_040))
        for game in moments(deal, load("mil"), number):
            for seat in range(3):
                if not 12 <= len(plays_of(game)) <= 20:
                    continue
                known = Knowledge.of(game, seat)
                kind = bool(known.state[FEW])
                if not 4 <= known.count() <= 60 or kinds[kind] >= 5:
                    continue
                kinds[kind] += 1
                _, drawn = np.unique(known.sample(20_000, number), axis=0, return_counts=True)
                assert len(drawn) == known.count()
                assert_classes(drawn, np.full(known.count(), 1 / known.count()), (number, seat))
    assert kinds == {True: 5, False: 5}


def test_samples_before_the_talon_is_taken_are_uniform() -> None:
    known = Knowledge.of(Game(Deal.from_id(5)), 1)
    hands = known.sample(60_000, seed=3)
    talon = ALL_CARDS ^ np.bitwise_or.reduce(hands, axis=1)
    hidden = cards_of(known.hidden.mask)
    for place, size in ((hands[:, 0], 7), (hands[:, 2], 7), (talon, 3)):
        assert (np.bitwise_count(place) == size).all()
        # pairs of cards: C(17, 2) classes, each draw falls into C(size, 2) of them
        first = [int((place >> card & 1).sum()) for card in hidden]
        assert abs(np.array(first) / 60_000 - size / 17).max() < 0.012
    patterns, counts = np.unique(talon, return_counts=True)
    assert len(patterns) == 680
    assert_classes(counts, np.full(680, 1 / 680))


def test_draws_are_a_pure_function_of_their_index() -> None:
    known = Knowledge.of(Game(Deal.from_id(5)), 1)
    whole = known.sample(50, seed=2**64 - 1, start=2**40)
    parts = [known.sample(20, 2**64 - 1, 2**40), known.sample(30, 2**64 - 1, 2**40 + 20)]
    assert (whole == np.concatenate(parts)).all()
    assert (known.sample(50, seed=1) != whole).any()


def test_layouts_iterates_over_all_of_them() -> None:
    game = Game(Deal.from_id(688_907_321_587))
    for act in (Bid(0, 100), Pass(1), Pass(2), TalonTaken(0)):
        game.apply(act)
    known = Knowledge.of(game, 0)
    layouts = [tuple(hand.mask for hand in hands) for hands in known.layouts()]
    assert len(set(layouts)) == len(layouts) == 3432
    assert layouts == [tuple(hands) for hands in known.masks().tolist()]


# ------------------------------------------------------------------------------------- the border


def test_wrong_arguments_are_refused() -> None:
    game = Game(Deal.from_id(5))
    known = Knowledge.of(game, 0)
    for seat in (3, -1, True, None, "forehand", 1.0):
        with pytest.raises(UsageError, match="seat must be 0, 1 or 2"):
            view(game, seat)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="seat must be 0, 1 or 2"):
            known.may_hold(seat)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a view is of"):
        view(game.deal, 0)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="made from a View"):
        Knowledge(game)  # type: ignore[arg-type]
    for hands in ((1, 2), "AKQ", 5):
        with pytest.raises(DealError, match="three hands"):
            known.allows(hands)  # type: ignore[arg-type]
    with pytest.raises(DealError):
        known.allows((1 << 24, 0, 0))
    with pytest.raises(UsageError, match="start"):
        known.masks(known.count() + 1)
    for n in (-1, 1.5, True, 2**63):
        with pytest.raises(UsageError):
            known.sample(n, seed=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="seed"):
        known.sample(1, seed=-1)


def test_a_view_that_no_deal_leads_to_is_refused() -> None:
    *_, game = moments(Deal.from_id(688_907_321_587), load("mil"), 5)
    seen = view(game, 0)
    assert Knowledge(seen).count() == 1
    with pytest.raises(DealError, match="no deal leads"):
        Knowledge(replace(seen, hand=CardSet(1)))
    with pytest.raises(DealError, match="no deal leads"):
        Knowledge(replace(seen, tricks=seen.tricks[:-1]))
    with pytest.raises(DealError, match="nobody is declarer"):
        Knowledge(replace(seen, declarer=None))


def test_knowledge_is_a_value() -> None:
    game = Game(Deal.from_id(5))
    one, two = Knowledge.of(game, 0), Knowledge.of(game, 0)
    assert one == two
    assert hash(one) == hash(two)
    assert one != Knowledge.of(game, 1)
    assert one != 5
    assert repr(one) == "<Knowledge of forehand: 2333760 layouts>"
    assert isinstance(one.view, View)
    one.state[:] = 0
    assert one == two
