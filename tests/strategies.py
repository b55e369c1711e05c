"""Hypothesis strategies that all tests share: deals, rule sets, positions in the play."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from milsim.cards import NO_TRUMP, SUIT_NAMES, mask_of
from milsim.deals import N_DEALS, Deal
from milsim.reference import Position
from milsim.rules import Rules, field_kinds, load, preset_names
from milsim.rules.fields import Value, build

PLACES = (7, 7, 7, 3)

# Numbers worth drawing for fields of whole numbers: the usual ones, and the ends. What is not named
# here is drawn between its bounds.
USUAL: dict[str, tuple[int, ...]] = {
    "deal.players": (3,),
    "deal.marriage_values.spades": (0, 40, 60, 80, 100),
    "deal.marriage_values.clubs": (40, 60, 80, 100),
    "deal.marriage_values.diamonds": (40, 45, 60, 80, 100),
    "deal.marriage_values.hearts": (40, 60, 80, 100, 1000),
    "deal.low_hand": (0, 10, 14, 30, 75),
    "deal.low_talon_points": (0, 4, 5, 15, 33),
    "deal.low_talon_nines": (0, 1, 2, 3),
    "deal.four_nines_bonus": (0, 100),
    "auction.silence_below": (-120, 0, -5000),
    "talon.concede_gain": (0, 60, 400),
    "talon.concede_limit": (0, 1, 3),
    "play.ace_marriage": (0, 200),
    "play.last_trick_bonus": (0, 10, 37),
}


@st.composite
def rule_sets(draw: st.DrawFn, tables: str = "deal auction talon play scoring") -> Rules:
    """Valid rule sets with every field of these tables drawn; the match is that of ``mil``."""
    wanted = set(tables.split())
    values: dict[str, Value] = {}
    for path, kind in field_kinds().items():
        if path.split(".")[0] not in wanted:
            continue
        choices: list[Value] = [True, False] if kind.is_switch else list(kind.words)
        if path in USUAL:
            choices += USUAL[path]
        elif kind.bounds is not None:
            if path == "auction.step":
                choices += [5, 10]
            elif not path.startswith("auction."):
                choices += range(kind.bounds.low, kind.bounds.high + 1)
        if choices:
            values[path] = draw(st.sampled_from(choices))
    if "auction" in wanted:
        step = int(values["auction.step"])
        dark = values["auction.dark"]
        usual_minimum = [40, 60, 100, 120] if dark else [10, 40, 60, 100, 120, 200, 400]
        values["auction.minimum"] = draw(st.sampled_from(usual_minimum))
        base = draw(st.sampled_from([0, 0, 2, 20]))
        silent = values["auction.silence_below"] == 0
        if silent and values["auction.opener"] == "forehand_may_pass":
            values["auction.all_pass"] = "dealer_plays"  # else all pass in the first deal for ever
        usual_cap = max(120, int(values["auction.minimum"])) + base * step
        values["auction.cap_points"] = min(usual_cap, 600)
    if "play" in wanted:
        first, last = (int(values[f"play.marriage_{end}_trick"]) for end in ("from", "until"))
        values["play.marriage_from_trick"] = min(first, last)
        values["play.marriage_until_trick"] = max(first, last)
    if {"deal", "auction", "play"} <= wanted:
        most = 120 + int(values["play.ace_marriage"]) + int(values["play.last_trick_bonus"])
        most += sum(int(values[f"deal.marriage_values.{suit}"]) for suit in SUIT_NAMES)
        if int(values["auction.minimum"]) > most:  # nobody could ever make it
            values["auction.minimum"] = 120
    if values.get("deal.four_nines_bonus"):
        values["deal.four_nines"] = "off"
    return build(values, name="drawn", source="drawn by hypothesis")


def presets() -> st.SearchStrategy[Rules]:
    """One of the presets that ship with milsim."""
    return st.sampled_from([load(name) for name in preset_names()])


def any_rules() -> st.SearchStrategy[Rules]:
    """Presets and drawn rule sets."""
    return st.one_of(presets(), rule_sets())


@st.composite
def deals(draw: st.DrawFn) -> Deal:
    """Deals: any number, and deals with rare things in them (four nines, low cards, marriages)."""
    kind = draw(st.sampled_from(["number", "number", "nines", "low", "marriages", "aces"]))
    if kind == "number":
        return Deal.from_id(draw(st.integers(0, N_DEALS - 1)))
    random = Random(draw(st.integers(0, 2**32 - 1)))
    ranks = {"nines": (0,), "low": (0, 1), "marriages": (2, 3), "aces": (5,)}[kind]
    first = [card for card in range(24) if card % 6 in ranks]
    rest = [card for card in range(24) if card % 6 not in ranks]
    random.shuffle(first)
    random.shuffle(rest)
    cards = first + rest
    places: list[list[int]] = []
    for size in PLACES:
        places.append([cards.pop(0) for _ in range(size)])
    talon = places.pop()
    turn = random.randrange(3)
    hands = places[turn:] + places[:turn]
    if random.random() < 0.5:  # one card of the talon for one of a hand
        hand = random.choice(hands)
        hand[0], talon[0] = talon[0], hand[0]
    forehand, middlehand, rearhand = (mask_of(hand) for hand in hands)
    return Deal(forehand, middlehand, rearhand, mask_of(talon))


@st.composite
def positions(draw: st.DrawFn, rules: st.SearchStrategy[Rules] | None = None) -> Position:
    """Beginnings of tricks: 1 to 8 cards a hand, any leader, trump and possible trick number."""
    size = draw(st.integers(1, 8))
    cards = list(range(24))
    Random(draw(st.integers(0, 2**32 - 1))).shuffle(cards)
    hands = [cards[size * seat : size * (seat + 1)] for seat in range(3)]
    return Position.start(
        hands,
        draw(st.integers(0, 2)),
        trump=draw(st.integers(0, NO_TRUMP)),
        trick_number=draw(st.integers(1, 9 - size)),
        rules=draw(any_rules() if rules is None else rules),
    )
