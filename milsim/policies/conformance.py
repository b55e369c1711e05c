"""Does a policy keep the rules? It plays the reference game, act by act, and must never be refused.

The reference is asked what is legal, the policy's kernels decide, the reference checks the act.
"""

from __future__ import annotations

import numpy as np

from milsim.auction import DARK_BID
from milsim.cards import mask_of
from milsim.dealing import sample_deals
from milsim.dealing.sampling import checked_seed
from milsim.deals import Deal
from milsim.errors import IllegalActError, PolicyError
from milsim.knowledge.state import PLAYS_SIZE, observe_play
from milsim.policies import dispatch, registry
from milsim.policies.expert_parameters import kernel_parameters
from milsim.policies.expert_seen import may_hold
from milsim.reference import Game, Phase
from milsim.rng import policy_key
from milsim.rules import Rules, load, packed
from milsim.scoring import concession_gain, concession_price
from milsim.tricks import play_flags, trump_mask


class PolicyPlayer:
    """Plays one deal of the reference game by policies, three names by seat.

    ``key`` is the deal's policy key (:func:`milsim.rng.policy_key`). Optional rights to a new deal
    are used; the game then is over without a result. Forehand is asked once, before his first call,
    whether he bids in the dark; the declarer once, before his gifts, whether he concedes.
    """

    def __init__(self, game: Game, policies: tuple[str, str, str], key: int) -> None:
        """Ready to play a fresh game."""
        self.game = game
        self.policies = tuple(registry.get(name).number for name in policies)
        self.key = key
        self.parameters = kernel_parameters(game.rules)
        self.rules = packed(game.rules)
        self.flags = play_flags(self.rules)
        self.step = game.rules.auction.step
        self.asked_for_dark = False
        self.calls = 0
        self.played = 0
        self.given = 0, 0
        self.plays = np.zeros(PLAYS_SIZE, np.int64)

    def play(self) -> Game:
        """Play to the end; IllegalActError if a policy does what the rules do not allow."""
        phases = {
            Phase.REDEAL: self._ask_for_redeal,
            Phase.AUCTION: self._call,
            Phase.TALON: self._take_talon,
            Phase.LOW_TALON: self._ask_for_redeal,
            Phase.GIFTS: self._give,
            Phase.NINES: self._ask_for_redeal,
            Phase.CONTRACT: self._name_contract,
            Phase.PLAY: self._play_card,
        }
        while self.game.phase != Phase.OVER:
            phases[self.game.phase]()
        return self.game

    def _seat(self) -> int:
        seat = self.game.actor
        if seat is None:
            raise PolicyError(f"nobody is to act in the phase of {self.game.phase.value}")
        return seat

    def _ask_for_redeal(self) -> None:
        self.game.request_redeal()

    def _call(self) -> None:
        game, seat = self.game, self._seat()
        if game.can_bid(DARK_BID, dark=True) and not self.asked_for_dark:
            self.asked_for_dark = True
            if dispatch.choose_dark(self.policies[seat], self.key, seat):
                game.bid(DARK_BID, dark=True)
                return
        bids = game.legal_bids()
        if not game.can_pass():  # a forced opening is no decision
            game.bid(bids[0])
            return
        hand = mask_of(game.hands[seat])
        lowest, highest = (bids[0], bids[-1]) if bids else (1, 0)
        bid = dispatch.choose_bid(
            self.policies[seat],
            self.key,
            seat,
            self.calls,
            self.parameters,
            self.rules,
            hand,
            lowest,
            highest,
            self.step,
            1,
            len(game.auction.passed),
        )
        self.calls += 1
        if bid:
            game.bid(int(bid))
        else:
            game.pass_()

    def _take_talon(self) -> None:
        self.game.take_talon()

    def _concedes(self, seat: int, hand: int) -> bool:
        made = self.game.bid_won or 0
        earlier = self.game.concessions[seat]
        return self.game.can_concede() and bool(
            dispatch.choose_concession(
                self.policies[seat],
                self.key,
                seat,
                self.parameters,
                self.rules,
                hand,
                made,
                concession_price(made, earlier, self.rules),
                concession_gain(made, self.rules),
            )
        )

    def _give(self) -> None:
        game, seat = self.game, self._seat()
        hand = mask_of(game.hands[seat])
        if self._concedes(seat, hand):
            game.concede()
            return
        gifts = int(
            dispatch.choose_gifts(
                self.policies[seat], self.key, seat, self.parameters, self.rules, hand
            )
        )
        self.given = 1 << (gifts & 31), 1 << (gifts >> 5)
        game.give(gifts & 31)
        game.give(gifts >> 5)

    def _name_contract(self) -> None:
        game, seat = self.game, self._seat()
        contracts = game.legal_contracts()
        contract = dispatch.choose_contract(
            self.policies[seat],
            self.key,
            seat,
            self.parameters,
            self.rules,
            mask_of(game.hands[seat]),
            contracts[0],
            contracts[-1],
            self.step,
        )
        game.name_contract(int(contract))

    def _play_card(self) -> None:
        game, seat = self.game, self._seat()
        position, declarer = game.position, game.declarer
        if position is None or declarer is None:
            raise PolicyError("a card is to be played before there is a declarer")
        lead, second = (*(1 << card for card in position.trick), 0, 0)[:2]
        role = (seat - declarer) % 3
        shown = mask_of(game.talon) if game.sees_talon(seat) else 0
        next_may, last_may = may_hold(self.plays, seat, role, *self.given, shown)
        need = int(game.contract or 0) - position.points[declarer]
        chosen = dispatch.choose_card(
            self.policies[seat],
            self.key,
            seat,
            self.parameters,
            self.rules,
            self.flags,
            mask_of(position.hands[seat]),
            mask_of(game.legal_cards()),
            lead,
            second,
            trump_mask(position.trump),
            position.trick_number,
            self.played,
            role,
            (position.leader - declarer) % 3,
            next_may,
            last_may,
            need,
        )
        card = int(chosen).bit_length() - 1
        self.played |= 1 << card
        declare = None
        if game.rules.play.marriage_declaration == "optional":
            declare = position.can_play(card, True) and bool(
                dispatch.choose_declaration(
                    self.policies[seat], self.key, seat, position.trick_number
                )
            )
        before = len(position.declarations)
        game.play(card, declare)
        declared = len(game.position.declarations) > before if game.position else False
        trumps = trump_mask((game.position or position).trump if lead == 0 else position.trump)
        observe_play(
            self.plays,
            seat,
            1 << card,
            lead,
            second,
            trumps,
            position.trick_number,
            int(declared),
            self.flags,
        )


def check_policy(name: str, *, rules: str | Rules = "mil", deals: int = 100, seed: int = 1) -> int:
    """Let a policy play whole deals against itself; returns the acts that were checked.

    Raises :class:`~milsim.errors.PolicyError` for an unknown policy and for the first act that the
    rules do not allow, naming the deal and the rule.

    >>> check_policy("greedy", deals=3) > 72
    True
    """
    registry.get(name)
    chosen = load(rules)
    acts = 0
    for index, number in enumerate(sample_deals(deals, seed=seed)):
        game = Game(Deal.from_id(int(number)), chosen)
        key = policy_key(checked_seed(seed), index, 0)
        try:
            PolicyPlayer(game, (name, name, name), key).play()
        except IllegalActError as error:
            raise PolicyError(
                f"policy {name}: breaks rules {chosen.name} in deal {number}: {error}"
            ) from error
        acts += len(game.operations)
    return acts


__all__ = ["PolicyPlayer", "check_policy"]
