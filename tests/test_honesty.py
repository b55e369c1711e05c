"""No policy sees what its seat may not: hidden cards that change places change no decision.

The check is tested too: policies that cheat at one kind of decision only are caught at it.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings

import milsim
from milsim.auction import is_silent, minimum_of
from milsim.dealing import sample_deals
from milsim.deals import Deal
from milsim.errors import PolicyError
from milsim.policies import Policy, legal_bids, legal_cards, legal_contracts
from milsim.policies.players import KernelPlayer
from milsim.policies.seen import TableRules
from milsim.policies.spec import parse_spec, spec_names
from milsim.policies.user import UserPlayer
from milsim.rights import may_concede
from milsim.rng import policy_key
from milsim.rules import load, preset_names, with_fields
from milsim.simulation.deal_kernel import (
    AS_DEALT,
    BIDDING,
    CONCEDERS,
    COUNTS,
    GOLDEN,
    MINIMUM_IN_FORCE,
    SILENT_SEATS,
)
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.honesty import Kept, decided_honestly
from tests.strategies import rule_sets

# Rules under which everything is asked for: dark bids, concessions, declarations, contracts.
RICH = {
    "auction.dark": True,
    "talon.concede": "before_gifts",
    "talon.shown": "if_contested",
    "play.marriage_declaration": "optional",
}
EXEMPT = {"oracle"}
HONEST = (
    "random",
    "greedy",
    "expert",
    "pimc:layouts=2:playouts=4:solving=50",
    "expert:bid=random:exchange=greedy",
    "random:play=expert",
    "greedy:play=pimc:layouts=2:playouts=4",
)


def rich(name="mil"):
    return with_fields(load(name), RICH)


def compared(player, rules, deals=3, *, seed=1, bidding=None, golden=False):
    """Decisions compared, all those of some deals, by kind; PolicyError for one that cheats."""
    by = TableRules.of(rules)
    driven = DrivenDeal(by, ("it", "it", "it"))
    situation = driven.situation
    situation[MINIMUM_IN_FORCE] = minimum_of(0, by.fields)
    situation[SILENT_SEATS] = 0b111 if is_silent(0, by.fields) else 0
    situation[CONCEDERS] = 0b111 if may_concede(0, 0, by.fields) else 0
    situation[GOLDEN] = golden
    if bidding is not None:
        situation[BIDDING] = bidding
    kinds, found = Counter(), 0
    for index, number in enumerate(sample_deals(deals, seed=seed)):
        deal = Deal.from_id(int(number))
        driven.where = f"deal {index}"
        key = int(policy_key(seed, index, 0))
        kept = [Kept(player) for _ in range(3)]
        if driven.play((*deal.hand_masks, deal.talon_mask), kept, key) != COUNTS:
            continue
        found += decided_honestly(driven, kept, player, key, turn=index, every=True)
        kinds.update(one.name.split()[0] for each in kept for one in each.decisions)
    return found, kinds


def test_every_policy_is_tested_or_openly_sees_all():
    specs = [parse_spec(text) for text in HONEST]
    named = {name for spec in specs for name in (spec.bid, spec.exchange, spec.play)}
    for name in ("random", "greedy", "expert", "pimc", "oracle"):
        assert (name in named) != (name in EXEMPT)
        assert parse_spec(name).player().sees_all == (name in EXEMPT)
    assert set(spec_names()) >= named


@pytest.mark.parametrize("policy", HONEST)
@pytest.mark.parametrize("rules", preset_names())
def test_hidden_cards_change_no_decision(rules, policy):
    player = parse_spec(policy).player()
    found, kinds = compared(player, load(rules), 2)
    assert found > sum(kinds.values()) * 0.6
    found, _ = compared(player, load(rules), 1, seed=3, bidding=AS_DEALT)
    assert found > 8


@pytest.mark.parametrize("policy", HONEST[:3])
def test_hidden_cards_change_no_decision_where_all_is_asked(policy):
    player = parse_spec(policy).player()
    found, kinds = compared(player, rich(), 20, golden=True)
    assert found > sum(kinds.values()) * 0.6
    assert set(kinds) >= {"bid", "call", "concession", "gifts", "card", "declaration", "contract"}


@given(rule_sets())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_hidden_cards_change_no_decision_in_drawn_rules(rules):
    for name in ("random", "greedy", "expert"):
        compared(parse_spec(name).player(), rules, 2)


# -- the check can fail --------------------------------------------------------------------------


def hidden_cards(seat):
    """All cards but the seat's own, out of the driver's own memory: what no policy may do."""
    frame = sys._getframe(1)
    while not isinstance(frame.f_locals.get("self"), DrivenDeal):
        frame = frame.f_back
    hands = frame.f_locals["self"].hands
    return hands[(seat + 1) % 3] + 3 * hands[(seat + 2) % 3]


class Cheat(Policy):
    """Looks at hidden cards for one kind of decision."""

    def __init__(self, kind):
        self.kind = kind

    def peeks(self, kind, view):
        return self.kind == kind and hidden_cards(view.seat) % 5 < 2

    def dark(self, view):
        return self.peeks("bid", view)

    def bid(self, view):
        bids = legal_bids(view)
        return bids[0] if bids and self.peeks("call", view) else 0

    def concede(self, view):
        return self.peeks("concession", view)

    def gifts(self, view):
        cards = list(view.hand)
        return (cards[0], cards[1]) if self.peeks("gifts", view) else (cards[2], cards[3])

    def contract(self, view):
        return legal_contracts(view)[-1 if self.peeks("contract", view) else 0]

    def card(self, view):
        return legal_cards(view)[-1 if self.peeks("card", view) else 0]

    def declares(self, view, card):
        return self.peeks("declaration", view)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("bid", "forehand, bid in the dark: answers (True|False), but (True|False)"),
        ("call", r"call \d: answers \d+, but \d+"),
        ("concession", "concession: answers (True|False), but"),
        ("gifts", "gifts: answers .. .., but .. .. with other cards where it cannot see them"),
        ("contract", r"contract: answers \d+, but \d+"),
        ("card", "card of trick [1-8]: answers .., but .. with other cards"),
        ("declaration", "declaration in trick [1-8]: answers"),
    ],
)
def test_a_cheat_is_caught_at_the_decision_it_cheats_at(kind, words):
    compared(UserPlayer(Cheat("nothing")), rich(), 10)
    with pytest.raises(PolicyError, match=f"policy it: deal [0-9]+, .*{words}") as caught:
        compared(UserPlayer(Cheat(kind)), rich(), 60)
    assert "\n" not in str(caught.value)


class PeekingKernel(KernelPlayer):
    """A policy of kernels whose arguments have a hidden hand in them."""

    def card(self, seen, hands):
        seen.legal = seen.legal if hidden_cards(seen.seat) % 5 < 2 else seen.legal & -seen.legal
        return super().card(seen, hands)


def test_a_kernel_with_a_hidden_hand_is_caught():
    with pytest.raises(PolicyError, match="card of trick"):
        compared(PeekingKernel(1), load("mil"), 20)


def test_the_oracle_would_be_caught():
    with pytest.raises(PolicyError, match="with other cards where it cannot see them"):
        compared(parse_spec("oracle").player(), load("mil"), 3)
    with pytest.raises(PolicyError, match="with other cards where it cannot see them"):
        compared(parse_spec("greedy:play=oracle").player(), load("mil"), 3)


# -- milsim.check_policy -------------------------------------------------------------------------


class Peeping(Policy):
    def card(self, view):
        cards = legal_cards(view)
        return cards[hidden_cards(view.seat) % len(cards)]


class Telling(Policy):
    """Each seat writes down what it holds, where its partner reads it."""

    wall: ClassVar[dict[int, int]] = {}

    def card(self, view):
        self.wall[view.seat] = view.hand.mask
        cards = legal_cards(view)
        told = self.wall.get((view.seat + 1) % 3, 0)
        return cards[told % 7 % len(cards)]


class Remembering(Policy):
    """Answers alike twice, and otherwise when it is asked for the third time."""

    def __init__(self):
        self.asked = Counter()

    def gifts(self, view):
        self.asked[view.hand] += 1
        cards = list(view.hand)
        return (cards[0], cards[1]) if self.asked[view.hand] > 2 else (cards[2], cards[3])


class Dicing(Policy):
    def card(self, view):
        return random.choice(legal_cards(view))


class Clockwork(Policy):
    def card(self, view):
        return legal_cards(view)[time.perf_counter_ns() % 2]


class Leaving(Policy):
    def bid(self, view):
        sys.exit("enough")


class Shouting(Policy):
    def bid(self, view):
        raise RuntimeError("no\nidea")


class Wordy(Policy):
    def card(self, view):
        return "AS"


class Listing(Policy):
    def bid(self, view):
        return [100]


class Yes(Policy):
    def declares(self, view, card):
        return 1


class Needy(Policy):
    def __init__(self, depth):
        self.depth = depth


class Broken(Policy):
    def __init__(self):
        raise OSError("no table of openings")


class Changing(Policy):
    """Tries to change what it is given."""

    def card(self, view):
        view.hand = 0
        return 0


ALIKE = "an answer must depend on the view alone"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Peeping, f"with other cards where it cannot see them; {ALIKE}"),
        (Telling, f"with other cards where it cannot see them; {ALIKE}"),
        (Remembering, f"to the same view when the deal is played again; {ALIKE}"),
        (Dicing, f"to the same question; {ALIKE}"),
        (Clockwork, ALIKE),
        (Leaving, "deal 0 of seed 1, middlehand, call 1: SystemExit: enough"),
        (Shouting, "deal 0 of seed 1, middlehand, call 1: RuntimeError: no idea"),
        (Wordy, "card of trick 1: 'AS' is no whole number"),
        (Listing, "call 1: [100] is no whole number"),
        (Yes, "forehand, declaration in trick 5: 1 is not True or False"),
        (Needy, "cannot be made: TypeError: "),
        (Broken, "cannot be made: OSError: no table of openings"),
        (Changing, "card of trick 1: FrozenInstanceError: cannot assign to field 'hand'"),
        (7, "policy 7: a name, a class or an object like milsim.policies.Policy is needed"),
        (None, "policy None: a name, a class or an object"),
    ],
)
def test_check_policy_says_what_is_wrong_and_where(policy, words):
    with pytest.raises(PolicyError) as caught:
        milsim.check_policy(policy, rules=rich(), deals=25)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    name = policy.__name__ if isinstance(policy, type) else repr(policy)
    assert message.startswith(f"policy {name}: ")


@pytest.mark.parametrize("policy", ["oracle", "greedy:play=oracle"])
def test_check_policy_says_who_sees_all(policy):
    with pytest.raises(PolicyError, match=r"sees all cards; in [0-9]+ acts nothing else was wrong"):
        milsim.check_policy(policy, deals=2)


def test_check_policy_says_who_changes_the_rules():
    class Lawgiver(Policy):
        def card(self, view):
            object.__setattr__(view.rules.play, "must_trump", False)
            return legal_cards(view)[0]

    rules = with_fields("mil", {"play.must_overtrump": False})
    with pytest.raises(PolicyError, match=r"changes the rules it is shown|is not legal"):
        milsim.check_policy(Lawgiver, rules=rules, deals=1)
