"""Hypothesis strategies that all tests share: deals, rule sets, positions, matches."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from milsim.cards import NO_TRUMP, SUIT_NAMES, mask_of
from milsim.deals import N_DEALS, Deal
from milsim.reference import Event, MatchState, Position, highest_bid
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
    "match.target": (100, 300, 500, 1000, 1001, 1005),
    "match.lock": (),
    "match.defender_cap": (),
    "match.barrel": (),
    "match.barrel_deals": (1, 2, 3),
    "match.barrel_penalty": (0, 60, 120, 1000),
    "match.barrel_falls": (0, 1, 2, 3),
    "match.bolts_limit": (1, 2, 3),
    "match.bolts_penalty": (0, 100, 120),
    "match.sitter_ace": (0, 40, 50),
    "match.max_deals": (1, 5, 30),
}


@st.composite
def rule_sets(draw: st.DrawFn, tables: str = "deal auction talon play scoring") -> Rules:
    """Valid rule sets with every field of these tables drawn; the others are those of ``mil``.

    With the table ``match`` 4 players are drawn too.
    """
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
        silent = values["auction.silence_below"] != "off"
        if silent and values["auction.opener"] == "forehand_may_pass":
            values["auction.all_pass"] = "dealer_plays"  # else all may pass for ever
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
    if "match" in wanted:
        draw_match(draw, values)
    return build(values, name="drawn", source="drawn by hypothesis")


def draw_match(draw: st.DrawFn, values: dict[str, Value]) -> None:
    """Make the drawn match fields fit each other and the other tables: see ``contradictions``."""
    target = int(values["match.target"])
    below = st.sampled_from([target // 2, target * 4 // 5, target - 10])
    brake = draw(st.sampled_from(["none", "lock", "barrel", "barrel"]))
    values["match.lock"] = draw(below) if brake == "lock" else "off"
    # no hand is ever worth less than the 120 that may be bid for it
    height = draw(st.sampled_from([10, 45, 95, 120 if target > 120 else 90]))
    values["match.barrel"] = target - height if brake == "barrel" else "off"
    values["match.defender_cap"] = draw(below) if draw(st.booleans()) else "off"
    values["deal.players"] = draw(st.sampled_from([3, 3, 4]))
    if values["deal.players"] == 3:
        values["match.sitter"] = "nothing"
    if target <= 555 or values["match.barrel"] == 555:
        values["match.dump_truck"] = "off"
    if int(values.get("auction.minimum", 100)) > 120:
        values["match.golden"] = "off"


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


WITH_MATCH = "deal auction talon play scoring match"


def match_rules() -> st.SearchStrategy[Rules]:
    """Presets, and drawn rule sets with every field of the match drawn too."""
    return st.one_of(presets(), rule_sets(WITH_MATCH), rule_sets(WITH_MATCH))


@st.composite
def match_states(draw: st.DrawFn, rules: Rules) -> MatchState:
    """States that a match under these rules may stand at, most of them near a lock or a barrel."""
    how, players = rules.match, rules.deal.players
    top = how.target - 1 if how.barrel == "off" else how.barrel - 1
    edges = [0, -120, 555, -555, 675, 535, 455, 435, -455, -435]
    edges += [top, top - 9, top - 20, top - 50, top - 100, top - 130]
    edges += [edge + some for edge in (how.lock, how.defender_cap) if edge != "off"
              for some in (-60, -20, -1, 0, 5)]  # fmt: skip
    near = st.sampled_from([min(edge, top) for edge in edges])
    scores = [draw(st.one_of(near, st.integers(-700, top))) for _ in range(players)]
    on_barrel = [how.barrel != "off" and draw(st.booleans()) for _ in range(players)]
    may_tie = how.barrel == "off" or how.jump_over == "wins"
    if may_tie and draw(st.integers(0, 9)) == 0:  # two equally high: played on
        order = draw(st.permutations(range(players)))
        for player in order[:2]:
            scores[player] = how.target + draw(st.shared(st.sampled_from([0, 10, 300]), key="tie"))
            on_barrel[player] = False
    counts = [
        (how.barrel != "off", how.barrel_falls - 1 if how.barrel_falls else 4),
        (how.bolts != "off", how.bolts_limit - 1),
        (rules.talon.concede != "off", rules.talon.concede_limit or 4),
    ]
    falls, bolts, concessions = (
        tuple(draw(st.integers(0, most)) if is_on else 0 for _ in range(players))
        for is_on, most in counts
    )
    return MatchState(
        scores=tuple(
            int(how.barrel) if stands else score
            for score, stands in zip(scores, on_barrel, strict=True)
        ),
        on_barrel=tuple(on_barrel),
        barrel_deals=tuple(
            draw(st.integers(0, how.barrel_deals - 1)) if stands else 0 for stands in on_barrel
        ),
        falls=falls,
        bolts=bolts,
        concessions=concessions,
        events=(Event(0),) * players,
        dealer=draw(st.integers(0, players - 1)),
        deals=draw(st.sampled_from([0, 1, 4, 100])) % how.max_deals,
    )


@st.composite
def counted_deals(draw: st.DrawFn, rules: Rules, state: MatchState) -> dict[str, Any]:
    """A deal that may count next: the arguments of ``score_match_deal`` by name."""
    random = Random(draw(st.integers(0, 2**32 - 1)))
    golden_120 = state.is_golden(rules) and rules.match.golden == "forehand_plays_120"
    silence = rules.auction.silence_below
    silent = silence != "off" and state.scores[state.forehand] <= silence
    dark = rules.auction.dark and not golden_120 and not silent and random.random() < 0.3
    declarer = state.forehand if dark or golden_120 else random.choice(state.active)
    limit = rules.talon.concede_limit
    conceded = (
        rules.talon.concede != "off"
        and not (limit and state.concessions[declarer] >= limit)
        and (rules.talon.concede_on_barrel or not state.on_barrel[declarer])
        and random.random() < 0.3
    )
    cards = list(range(24))
    random.shuffle(cards)
    if random.random() < 0.3:  # a trick of three nines
        cards.sort(key=lambda card: card % 6 != 0)
    winners = random.choices(state.active, k=random.randint(1, 3))
    points, tricks = [0] * state.players, [0] * state.players
    for number in range(8):
        winner = random.choice(winners)
        tricks[winner] += 1
        trick = cards[3 * number : 3 * number + 3]
        points[winner] += sum((0, 2, 3, 4, 10, 11)[card % 6] for card in trick)
    points[winner] += rules.play.last_trick_bonus
    for value in (*rules.deal.marriage_values.by_suit(), rules.play.ace_marriage):
        if random.random() < 0.3:
            points[random.choice([each for each in winners if tricks[each]])] += value
    step, lowest = rules.auction.step, max(rules.auction.minimum, rules.auction.step)
    if dark or golden_120 or (state.is_golden(rules) and lowest < 120):
        lowest = 120
    fixed = (dark or golden_120) and (conceded or not rules.talon.raise_contract)
    highest = lowest if fixed else max(lowest, highest_bid(range(24), rules))
    made = min(highest, max(lowest, points[declarer] // step * step))
    contract = random.choice([lowest, made, made, random.randrange(lowest, highest + 1, step)])
    return {
        "declarer": declarer,
        "contract": contract,
        "points": None if conceded else tuple(points),
        "tricks": None if conceded else tuple(tricks),
        "conceded": conceded,
        "dark": dark,
        "four_nines": random.choice([None, None, *state.active]),
        "talon": tuple(random.sample([card for card in range(24) if card % 6], 3)),
    }
