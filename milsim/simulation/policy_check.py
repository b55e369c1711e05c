"""Does a policy keep the rules, and answer by what it sees alone? The check, for any policy.

Those that are all kernels play the reference game (`milsim.policies.conformance`). The others play
driven deals, where each answer is checked, and asked for twice; then the reference plays the acts
again and must come to the same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from milsim.auction import is_silent, minimum_of
from milsim.dealing import sample_deals
from milsim.dealing.sampling import checked_seed
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import IllegalActError, PolicyError, quote
from milsim.policies import conformance
from milsim.policies.players import Hands, Player
from milsim.policies.seen import Seen, TableRules
from milsim.policies.spec import parse_spec
from milsim.policies.user import UserPlayer
from milsim.reference import Concession, Contract, Game, Gift, Operation, Play, TalonTaken
from milsim.rights import may_concede
from milsim.rng import policy_key
from milsim.rules import Rules, load
from milsim.simulation.deal_kernel import CONCEDERS as MAY_CONCEDE
from milsim.simulation.deal_kernel import (
    COUNTS,
    IS_CONCEDED,
    MINIMUM_IN_FORCE,
    SCORES,
    SILENT_SEATS,
)
from milsim.simulation.driver import DrivenDeal


class _AskedTwice:
    """A player whose every answer must be the same when it is asked again."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.sees_all = player.sees_all

    def _same(self, seat: int, decision: str, ask: Callable[..., Any], *arguments: Any) -> Any:
        one, other = ask(*arguments), ask(*arguments)
        if one != other:
            raise ValueError(
                f"{SEAT_NAMES[seat]} answers {quote(one)}, then {quote(other)} to the same "
                f"question ({decision}); an answer must depend on the view alone"
            )
        return one

    def dark(self, seen: Seen) -> bool:
        answer: bool = self._same(seen.seat, "dark", self._player.dark, seen)
        return answer

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        answer: int = self._same(seen.seat, "bid", self._player.bid, seen, hands)
        return answer

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:
        answer: bool = self._same(seen.seat, "concession", self._player.concedes, seen, hands)
        return answer

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        answer: tuple[int, int] = self._same(seen.seat, "gifts", self._player.gifts, seen, hands)
        return answer

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        answer: int = self._same(seen.seat, "contract", self._player.name_contract, seen, hands)
        return answer

    def card(self, seen: Seen, hands: Hands | None) -> int:
        answer: int = self._same(seen.seat, "card", self._player.card, seen, hands)
        return answer

    def declares(self, seen: Seen, card: int) -> bool:
        answer: bool = self._same(seen.seat, "declares", self._player.declares, seen, card)
        return answer


def acts_of(driven: DrivenDeal) -> Iterator[Operation]:
    """The acts of a driven deal that counts, as the reference takes them."""
    table = driven.table
    yield from table.calls
    declarer = table.declarer
    yield TalonTaken(declarer)
    if driven.deal[IS_CONCEDED]:
        yield Concession(declarer)
        return
    for _, receiver, card in driven.seats[declarer].gifts:
        yield Gift(declarer, receiver, card.bit_length() - 1)
    yield Contract(declarer, table.contract)
    for play in table.cards:
        yield Play(play.seat, play.card.bit_length() - 1, play.declares)


def check_policy(
    policy: str | object, *, rules: str | Rules = "mil", deals: int = 100, seed: int = 1
) -> int:
    """Let a policy play whole deals against itself; returns the acts that were checked.

    ``policy`` is a name, a spec, or a class or object like `milsim.policies.Policy`. Raises
    :class:`~milsim.errors.PolicyError` for an unknown policy, for the first act that the rules do
    not allow, an exception, an answer of a wrong type, and for a policy that answers the same
    question in two ways, naming deal and decision.

    >>> check_policy("greedy", deals=3) > 72
    True
    >>> from milsim.policies import Policy
    >>> class Miser(Policy):
    ...     def card(self, view):
    ...         return 24
    >>> check_policy(Miser, deals=1)
    Traceback (most recent call last):
    ...
    milsim.errors.PolicyError: policy Miser: deal 0 of seed 1, forehand, card of trick 1: 24 is \
not legal; legal are KS TS AS KC QD KD AD QH
    """
    if isinstance(policy, str):
        spec = parse_spec(policy)
        if spec.number is not None:
            return conformance.check_policy(str(spec), rules=rules, deals=deals, seed=seed)
        name, player = str(spec), spec.player()
    else:
        made = policy() if isinstance(policy, type) else policy
        name, player = type(made).__name__, UserPlayer(made)
    chosen = load(rules)
    driven = DrivenDeal(TableRules.of(chosen), (name, name, name))
    fields, situation = driven.by.fields, driven.situation
    situation[MINIMUM_IN_FORCE] = minimum_of(0, fields)
    situation[SILENT_SEATS] = 0b111 if is_silent(0, fields) else 0
    situation[MAY_CONCEDE] = 0b111 if may_concede(0, 0, fields) else 0
    twice = _AskedTwice(player)
    acts = 0
    for index, number in enumerate(sample_deals(deals, seed=seed)):
        deal = Deal.from_id(int(number))
        driven.where = f"deal {index} of seed {seed}"
        first, second, third = deal.hand_masks
        dealt = first, second, third, deal.talon_mask
        key = int(policy_key(checked_seed(seed), index, 0))
        if driven.play(dealt, (twice, twice, twice), key) != COUNTS:
            continue
        acts += _replayed(driven, Game(deal, chosen), name)
    return acts


def _replayed(driven: DrivenDeal, game: Game, name: str) -> int:
    """The acts of a driven deal in the reference; how many they are."""
    try:
        for act in acts_of(driven):
            game.apply(act)
    except IllegalActError as error:
        raise PolicyError(f"policy {name}: breaks the rules in {driven.where}: {error}") from error
    scores = tuple(int(score) for score in np.asarray(driven.deal[SCORES : SCORES + 3]))
    if game.result is None or game.result.scores != scores:
        raise PolicyError(f"policy {name}: {driven.where}: the reference scores it otherwise")
    return len(game.operations)


__all__ = ["acts_of", "check_policy"]
