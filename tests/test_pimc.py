"""pimc: endings against plain Python, honesty by permuted hidden cards, strength on fixed deals."""

from __future__ import annotations

import numpy as np
import pytest

from milsim.dealing import sample_deals
from milsim.deals import Deal
from milsim.errors import PolicyError
from milsim.knowledge import Knowledge
from milsim.policies.pimc import DEFAULTS, PimcPlayer, mean_of, worth
from milsim.policies.players import KernelPlayer
from milsim.policies.seen import TableRules
from milsim.policies.spec import maker, parse_spec
from milsim.policies.user import Policy, UserPlayer
from milsim.reference import Position
from milsim.rng import policy_key
from milsim.rules import load, preset_names
from milsim.simulation.columns import SCORE_BY_SEAT
from milsim.simulation.deal_kernel import AS_DEALT, BIDDING, COUNTS, MINIMUM_IN_FORCE
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan
from milsim.simulation.policy_check import check_policy

SMALL = {"layouts": 8, "playouts": 16, "solving": 50}


def driven_under(rules):
    driven = DrivenDeal(TableRules.of(load(rules)), ("a", "b", "c"))
    driven.situation[BIDDING] = AS_DEALT
    driven.situation[MINIMUM_IN_FORCE] = driven.by.rules.auction.minimum
    return driven


def minimax(position, declarer):
    """The declarer's points at the end if all cards are known: plain and slow."""
    plays = position.legal_plays()
    if not plays:
        return position.points[declarer]
    found = [minimax(position.play(one.card, one.declares), declarer) for one in plays]
    return max(found) if position.actor == declarer else min(found)


class NaivelyChecked(PimcPlayer):
    """In endings, what the kernel finds in each layout is what plain Python finds."""

    def __init__(self):
        super().__init__(layouts=4096, playouts=1, solving=100)
        self.checked = 0

    def card(self, seen, hands):
        chosen = super().card(seen, hands)
        table = seen.table
        if table.trick_number < 6 or (table.trick_number == 6 and table.lead == 0):
            return chosen
        view = seen.view()
        trick = view.tricks[-1].cards if table.lead else ()
        cards = sorted((c for c in range(24) if seen.legal >> c & 1), key=lambda c: (c % 6, c))
        values = []
        for layout in Knowledge(view).layouts():
            position = Position(
                rules=view.rules,
                hands=tuple(frozenset(hand) for hand in layout),
                leader=table.leader,
                trump=view.trump,
                coming_trump=view.coming_trump,
                trick_number=table.trick_number,
                trick=tuple(trick),
            )
            row = []
            for card in cards:
                plays = [one for one in position.legal_plays() if one.card == card]
                declaring = max(plays, key=lambda one: one.declares)  # pimc always declares
                after = position.play(card, declaring.declares)
                row.append(minimax(after, table.declarer))
            values.append(row)
        points = np.array(values)
        choices = np.zeros((len(cards), 3), np.int64)
        choices[:, 0] = [1 << card for card in cards]
        found = self.solved(seen, choices, 0)
        assert sorted(map(tuple, points.tolist())) == sorted(map(tuple, found.tolist()))
        assert chosen == cards[int(np.argmax(mean_of(worth(seen, points))))]
        self.checked += 1
        return chosen


@pytest.mark.parametrize("rules", ["mil", "gamerules", "polish-900"])
def test_endings_are_those_of_plain_python(rules):
    driven = driven_under(rules)
    player = NaivelyChecked()
    others = KernelPlayer(1)
    for index, number in enumerate(sample_deals(6, seed=3)):
        deal = Deal.from_id(int(number))

        class Late(KernelPlayer):
            """Greedy until the sixth trick, then the one that is checked."""

            def card(self, seen, hands):
                late = seen.table.trick_number >= 6
                return (player if late else others).card(seen, hands)

        late = Late(1)
        dealt = (*deal.hand_masks, deal.talon_mask)
        assert driven.play(dealt, (late, late, late), policy_key(1, index, 0)) == COUNTS
    assert player.checked > 20


# -- honesty -------------------------------------------------------------------------------------


class Noting:
    """Keeps the answers of a player, and at one of them what it saw."""

    sees_all = False

    def __init__(self, player, scripted=None):
        self.player, self.scripted = player, scripted
        self.answers, self.seen = [], []

    def _note(self, answer, seen):
        self.answers.append(answer)
        self.seen.append((seen.view(), seen.table.trick_number, seen.table.lead == 0))
        return answer

    def gifts(self, seen, hands):
        return self._note(self.player.gifts(seen, hands), seen)

    def name_contract(self, seen, hands):
        return self._note(self.player.name_contract(seen, hands), seen)

    def card(self, seen, hands):
        assert hands is None
        return self._note(self.player.card(seen, hands), seen)

    def declares(self, seen, card):
        return self.player.declares(seen, card)


class Scripted:
    """Plays what was played before, as long as that is legal."""

    sees_all = False

    def __init__(self, seat, gifts, contract, cards, declared):
        self.seat, self.given, self.contract, self.cards = seat, gifts, contract, cards
        self.declared = declared

    def gifts(self, seen, hands):
        return self.given

    def name_contract(self, seen, hands):
        return self.contract if seen.lowest <= self.contract <= seen.highest else seen.lowest

    def card(self, seen, hands):
        card = self.cards[seen.table.trick_number - 1]
        return card if seen.legal >> card & 1 else (seen.legal & -seen.legal).bit_length() - 1

    def declares(self, seen, card):
        return self.declared[seen.table.trick_number - 1]


def other_deal(driven, dealt, view, seat, layout):
    """A deal, and the gifts, in which the seat sees the same and others hold the layout."""
    played = [0, 0, 0]
    for trick in view.tricks:
        for place, card in enumerate(trick.cards):
            played[(trick.leader + place) % 3] |= 1 << card
    eight = [layout[each].mask | played[each] for each in range(3)]
    talon = dealt[3]
    gifts = []
    for receiver in (1, 2):
        true = next(g.card for g in driven.seats[0].view().gifts if g.receiver == receiver)
        known = next(g.card for g in view.gifts if g.receiver == receiver)
        if known is not None:
            gifts.append(known)
        elif eight[receiver] & talon:
            gifts.append((eight[receiver] & talon).bit_length() - 1)
        elif eight[receiver] >> true & 1:
            gifts.append(true)
        else:
            gifts.append(eight[receiver].bit_length() - 1)
    ten = eight[0] | 1 << gifts[0] | 1 << gifts[1]
    if talon & ~ten:
        return None
    hands = (ten & ~talon, eight[1] & ~(1 << gifts[0]), eight[2] & ~(1 << gifts[1]))
    return (*hands, talon), tuple(gifts)


HONEST = {
    "greedy": lambda: KernelPlayer(1),
    "expert": lambda: KernelPlayer(2),
    "pimc": lambda: PimcPlayer(**SMALL),
    "user": lambda: UserPlayer(Policy()),
}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("rules", ["mil", "gamerules", "polish-900"])
def test_hidden_cards_that_are_permuted_change_no_decision(rules, name):
    player = HONEST[name]()
    checked = 0
    for index, number in enumerate(sample_deals(4, seed=17)):
        deal = Deal.from_id(int(number))
        dealt = (*deal.hand_masks, deal.talon_mask)
        key = policy_key(5, index, 0)
        first = driven_under(rules)
        noting = [Noting(player) for _ in range(3)]
        assert first.play(dealt, noting, key) == COUNTS
        cards = [[0] * 8 for _ in range(3)]
        declared = [False] * 8
        for one in first.table.cards:
            cards[one.seat][one.trick_number - 1] = one.card.bit_length() - 1
            declared[one.trick_number - 1] |= one.declares
        for seat in range(3):
            for place, (view, trick, _) in enumerate(noting[seat].seen):
                if not view.gifts or trick % 3 != index % 3:
                    continue
                known = Knowledge(view)
                for draw in known.sample(2, seed=index):
                    layout = [type(view.hand)(int(mask)) for mask in draw]
                    found = other_deal(first, dealt, view, seat, layout)
                    if found is None:
                        continue
                    other, gifts = found
                    again = Noting(player)
                    players = [
                        again
                        if each == seat
                        else Scripted(each, gifts, first.table.contract, cards[each], declared)
                        for each in range(3)
                    ]
                    second = driven_under(rules)
                    assert second.play(other, players, key) == COUNTS
                    mine = noting[seat].answers[: place + 1]
                    assert again.answers[: place + 1] == mine
                    assert again.seen[place][0] == view
                    checked += other != dealt
    assert checked > 20


@pytest.mark.parametrize("name", HONEST)
def test_bids_and_gifts_depend_on_the_own_hand_alone(name):
    player = HONEST[name]()
    driven = driven_under("mil")
    for number in sample_deals(6, seed=23):
        deal = Deal.from_id(int(number))
        forehand, middlehand, rearhand = deal.hand_masks
        answers = []
        for one, other in ((middlehand, rearhand), (rearhand, middlehand)):
            noting = Noting(player)
            others = Noting(KernelPlayer(1))
            dealt = (forehand, one, other, deal.talon_mask)
            driven.play(dealt, (noting, others, others), 77)
            answers.append(noting.answers[:2])
        assert answers[0] == answers[1]


# -- strength, and the rest ----------------------------------------------------------------------


def test_pimc_keeps_the_rules_everywhere():
    for rules in preset_names():
        assert check_policy("pimc:layouts=4:playouts=8:solving=50", rules=rules, deals=4) > 0


def test_one_pimc_among_greedy_players_scores_more():
    deals = 80
    totals = {}
    for name in ("greedy", "pimc:playouts=32"):
        scores = 0
        for seat in range(3):
            policies = ["greedy"] * 3
            policies[seat] = name
            plan = Plan.make(deals=deals, seed=31, policy=policies)
            scores += sum(
                int(chunk.values[SCORE_BY_SEAT + seat].sum()) for chunk in play(plan, threads=2)
            )
        totals[name] = scores
    assert totals["pimc:playouts=32"] > totals["greedy"] + 5 * 3 * deals


def test_results_do_not_depend_on_threads():
    plan = Plan.make(deals=40, seed=6, policy="pimc:layouts=4:playouts=8:solving=50,greedy,expert")
    one, two = (
        np.concatenate([chunk.values for chunk in play(plan, threads=n)], axis=1) for n in (1, 2)
    )
    assert (one == two).all()


def test_parameters():
    assert maker("pimc").parameters == DEFAULTS
    for text in ("pimc:layouts=0", "pimc:solving=101", "pimc:playouts=9999"):
        with pytest.raises(PolicyError, match="is out of range; use"):
            parse_spec(text).player()
