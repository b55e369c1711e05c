"""A deal played again from its log of operations."""

from __future__ import annotations

from collections.abc import Iterable

from milsim.deals import Deal
from milsim.reference.game import Game
from milsim.reference.operations import Operation
from milsim.reference.scoring import Scores
from milsim.rules import Rules


def replay(
    deal: Deal,
    rules: str | Rules,
    operations: Iterable[Operation],
    *,
    scores: Scores = (0, 0, 0),
    concessions: tuple[int, int, int] = (0, 0, 0),
    on_barrel: tuple[bool, bool, bool] = (False, False, False),
    golden: bool = False,
) -> Game:
    """The game after these acts, in the same state; raises IllegalActError at the first wrong one.

    >>> from milsim.reference import Bid, Pass
    >>> deal = Deal.from_id(688_907_321_587)
    >>> replay(deal, "mil", [Bid(0, 100), Pass(1), Pass(2)]).phase.value
    'talon'
    >>> replay(deal, "mil", [Bid(0, 100), Pass(2)])
    Traceback (most recent call last):
    ...
    milsim.errors.IllegalActError: pass: rearhand is not to act, middlehand is
    """
    game = Game(
        deal, rules, scores=scores, concessions=concessions, on_barrel=on_barrel, golden=golden
    )
    for act in operations:
        game.apply(act)
    return game
