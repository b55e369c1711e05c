"""Whole deals of `expert`, fast enough for a study: kernels called deal by deal from Python.

A deal of an auction is one call of milsim's own kernel, `play_dealt`. A *bidder* is somebody whose
bids follow a list: for each hand, how high to bid it; he bids the lowest bid open to him as long as
it is no higher, else he passes, and plays as `expert`. His auctions are held here, act by act, by
milsim's kernels; the play after it depends only on who declares and for how much, so a deal whose
auction ends as another's did is not played again. `check.py` holds all this against
`milsim.simulate` with such a policy written as docs/policies.md has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from milsim.auction import (
    AUCTION_SIZE,
    BID,
    DECLARER,
    NOBODY,
    PASSED,
    TURN,
    auction_start,
    bid,
    legal_bids,
    minimum_of,
    pass_turn,
)
from milsim.dealing import DealSpace, space_deal
from milsim.deals import combination_rank
from milsim.policies.dispatch import choose_bid
from milsim.policies.expert_parameters import kernel_parameters
from milsim.policies.registry import EXPERT
from milsim.rights import hand_rights, kept_rights
from milsim.rng import policy_key
from milsim.rules import load, packed
from milsim.simulation.deal_kernel import (
    AS_DEALT,
    AUCTION,
    BIDDING,
    CONTRACT,
    COUNTS,
    DEAL_SIZE,
    DEALT,
    GIFTS,
    MINIMUM_IN_FORCE,
    SCORES,
    SILENT_SEATS,
    SITUATION_SIZE,
    play_dealt,
)
from milsim.simulation.tricks_kernel import MARRIAGES, POINTS, WORK_SIZE
from milsim.tricks import play_flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

AS_EXPERT = -1
Hands = tuple[int, int, int, int]


class Game:
    """Deals under some rules, all seats played by `expert`; one at a time."""

    def __init__(self, rules: str) -> None:
        self.rules = load(rules)
        self.fields = packed(self.rules)
        assert self.rules.talon.concede == "off"
        assert self.rules.deal.low_talon_points == 0
        self.parameters = kernel_parameters(self.rules)
        self.flags = int(play_flags(self.fields))
        self.policies = np.full(3, EXPERT.number, np.int64)
        self.deal = np.zeros(DEAL_SIZE, np.int64)
        self.auction = np.zeros(AUCTION_SIZE, np.int64)
        self.work = np.zeros(WORK_SIZE, np.int64)
        self.situation = np.zeros(SITUATION_SIZE, np.int64)
        self.minimum = int(minimum_of(0, self.fields))
        space = DealSpace(marriage_values=self.rules.deal.marriage_values.by_suit()).packed()
        self.space = space.header, space.hands

    # -- one deal --------------------------------------------------------------------------------

    def _play(self, dealt: Hands, bidding: int, minimum: int, silent: int, key: int) -> int:
        self.deal[DEALT : DEALT + 4] = dealt
        self.situation[BIDDING], self.situation[MINIMUM_IN_FORCE] = bidding, minimum
        self.situation[SILENT_SEATS] = silent
        return int(play_dealt(self.deal, self.auction, self.work, self.situation, self.parameters,
                              self.fields, self.flags, self.policies, key))  # fmt: skip

    def scores(self) -> tuple[int, int, int]:
        """The deal scores by seat."""
        a, b, c = self.deal[SCORES : SCORES + 3].tolist()
        return a, b, c

    def as_dealt(self, dealt: Hands, key: int = 0, minimum: int | None = None) -> int:
        """Forehand declares at the minimum; his points."""
        self._play(dealt, AS_DEALT, self.minimum if minimum is None else minimum, 0, key)
        return int(self.work[POINTS] + self.work[MARRIAGES])

    def passing(self, dealt: Hands, seat: int, key: int = 0) -> bool:
        """An auction in which a seat passes whenever it may; False if the deal is thrown in."""
        return self._play(dealt, AUCTION, self.minimum, 1 << seat, key) == COUNTS

    def declared(self, dealt: Hands, declarer: int, made_bid: int, key: int) -> bool:
        """The deal after an auction that ended so; False if it is thrown in after the exchange."""
        turned = (*(dealt[(declarer + turn) % 3] for turn in range(3)), dealt[3])
        self.as_dealt(turned, key, made_bid)  # type: ignore[arg-type]
        scores, deal = self.scores(), self.deal
        left, right = 1 << int(deal[GIFTS] & 31), 1 << int(deal[GIFTS] >> 5)
        kept = (turned[0] | turned[3]) & ~(left | right), turned[1] | left, turned[2] | right
        if any(kept_rights(hand, self.fields) for hand in kept):
            return False
        for turn in range(3):
            deal[SCORES + (declarer + turn) % 3] = scores[turn]
        return True

    def held(self, dealt: Hands, seat: int, up_to: int, key: int) -> tuple[int, int]:
        """Who declares and for how much, if the seat bids up to that and the others as expert."""
        auction, fields = self.auction, self.fields
        auction_start(auction, self.minimum, 0, fields)
        call = passes = 0
        while auction[TURN] != NOBODY:
            turn = int(auction[TURN])
            lowest, highest, step = legal_bids(auction, dealt[turn], fields)
            if turn == seat:
                points = lowest if lowest <= highest and lowest <= up_to else 0
            else:
                points = choose_bid(EXPERT.number, key, turn, call, self.parameters, fields,
                                    dealt[turn], lowest, highest, step, 1, passes)  # fmt: skip
            call += 1
            if points == 0:
                pass_turn(auction, fields)
                passes = int(auction[PASSED]).bit_count()
            else:
                bid(auction, points, fields)
        return int(auction[DECLARER]), int(auction[BID])

    # -- deals of a seed -------------------------------------------------------------------------

    def dealt(self, seed: int, index: int, redeals: int) -> tuple[Hands, int]:
        """The cards of a deal of milsim's, and its key."""
        a, b, c, d = space_deal(seed, index, redeals, *self.space)
        return (int(a), int(b), int(c), int(d)), int(policy_key(seed, index, redeals))

    def plays_on(self, hand: int) -> bool:
        """Whether a deal may be played at all with this hand: it never asks for a new one."""
        return not hand_rights(hand, self.fields) and not kept_rights(hand, self.fields)

    def thrown_in(self, hands: Sequence[int]) -> bool:
        """Whether one of the hands asks for a new deal before the auction."""
        return any(hand_rights(hand, self.fields) for hand in hands)


class Bidding:
    """One deal of a seed with many bidders at each seat: outcomes are kept, not played twice."""

    def __init__(self, game: Game, seed: int, index: int) -> None:
        self.game, self.seed, self.index = game, seed, index
        self.found: dict[tuple[int, int, int], tuple[int, int, int, int] | None] = {}
        self.cards: dict[int, tuple[Hands, int] | None] = {}
        self.held: dict[tuple[int, int, int], tuple[int, int]] = {}

    def _cards(self, redeals: int) -> tuple[Hands, int] | None:
        if redeals not in self.cards:
            dealt, key = self.game.dealt(self.seed, self.index, redeals)
            self.cards[redeals] = None if self.game.thrown_in(dealt[:3]) else (dealt, key)
        return self.cards[redeals]

    def _auction(
        self, redeals: int, dealt: Hands, key: int, seat: int, up_to: NDArray[np.int64] | None
    ) -> tuple[int, int]:
        mine = AS_EXPERT if up_to is None else int(up_to[combination_rank(dealt[seat])])
        known = redeals, NOBODY if up_to is None else seat, mine
        if known not in self.held:
            if up_to is None:
                self.game.passing(dealt, 3, key)  # no seat is silent
                auction = self.game.auction
                self.held[known] = int(auction[DECLARER]), int(auction[BID])
            else:
                self.held[known] = self.game.held(dealt, seat, mine, key)
        return self.held[known]

    def outcome(
        self, seat: int, up_to: NDArray[np.int64] | None
    ) -> tuple[int, int, int, int, int, int]:
        """Scores by seat, contract, declarer and bid; ``up_to`` None: the seat is expert, too."""
        redeals = 0
        while True:
            cards = self._cards(redeals)
            if cards is not None:
                dealt, key = cards
                declarer, made = self._auction(redeals, dealt, key, seat, up_to)
                known = redeals, declarer, made
                if known not in self.found:
                    counts = self.game.declared(dealt, declarer, made, key)
                    first, second, third = self.game.scores()
                    scores = first, second, third, int(self.game.deal[CONTRACT])
                    self.found[known] = scores if counts else None
                found = self.found[known]
                if found is not None:
                    return *found, declarer, made
            redeals += 1


__all__ = ["Bidding", "Game", "Hands"]
