"""Does a policy keep the rules, and answer by what it sees alone? The check, for any policy.

Those that are all kernels play the reference game (`milsim.policies.conformance`). All play driven
deals, where each answer is checked, and asked for twice; then the reference plays the acts again
and must come to the same scores. Some decisions of each deal are asked again with other cards where
the seat cannot see them (`milsim.simulation.honesty`); a policy that openly sees all does not pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from milsim.auction import is_silent, minimum_of
from milsim.dealing import sample_deals
from milsim.dealing.sampling import checked_seed
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import IllegalActError, PolicyError
from milsim.policies import conformance
from milsim.policies.players import Player
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
from milsim.simulation.honesty import Ask, Between, Kept, decided_honestly, is_same, said


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
    not allow, an exception, an answer of a wrong type, for a policy that answers the same question
    in two ways, and for one that answers otherwise if only cards change place that its seat cannot
    see, naming deal, seat and decision; also for one that openly sees all, as ``oracle``, when all
    else was found right, and for one that changes the rules it is shown.

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
    acts, kernels_alone = 0, False
    if isinstance(policy, str):
        spec = parse_spec(policy)
        name, player = str(spec), spec.player()
        if spec.number is not None:
            kernels_alone = True
            acts = conformance.check_policy(name, rules=rules, deals=deals, seed=seed)
    else:
        name, player = _made(policy)
    chosen = load(rules)
    before = deepcopy(chosen)
    driven = DrivenDeal(TableRules.of(chosen), (name, name, name))
    fields, situation = driven.by.fields, driven.situation
    situation[MINIMUM_IN_FORCE] = minimum_of(0, fields)
    situation[SILENT_SEATS] = 0b111 if is_silent(0, fields) else 0
    situation[MAY_CONCEDE] = 0b111 if may_concede(0, 0, fields) else 0

    def twice(seen: Seen, decision: str, ask: Ask) -> Any:
        one, other = ask(), ask()
        if not is_same(one, other):
            raise PolicyError(
                f"policy {name}: {driven.where}, {SEAT_NAMES[seen.seat]}, {decision}: answers "
                f"{said(decision, one)}, then {said(decision, other)} to the same question; "
                "an answer must depend on the view alone"
            )
        return one

    for index, number in enumerate(sample_deals(deals, seed=seed)):
        deal = Deal.from_id(int(number))
        driven.where = f"deal {index} of seed {seed}"
        first, second, third = deal.hand_masks
        dealt = first, second, third, deal.talon_mask
        key = int(policy_key(checked_seed(seed), index, 0))
        kept = [Kept(Between(player, twice)) for _ in range(3)]
        if driven.play(dealt, kept, key) != COUNTS:
            continue
        if chosen != before:
            raise PolicyError(f"policy {name}: {driven.where}: changes the rules it is shown")
        if not kernels_alone:
            acts += _replayed(driven, Game(deal, chosen), name)
        if not player.sees_all:
            decided_honestly(driven, kept, player, key, turn=index)
    if player.sees_all:
        raise PolicyError(f"policy {name}: sees all cards; in {acts} acts nothing else was wrong")
    return acts


def _made(policy: object) -> tuple[str, Player]:
    """The name of a class or object like `Policy`, and its player."""
    if not isinstance(policy, type):
        return type(policy).__name__, UserPlayer(policy)
    name = policy.__name__
    try:
        return name, UserPlayer(policy())
    except PolicyError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PolicyError(f"policy {name}: cannot be made: {reason}") from error


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
