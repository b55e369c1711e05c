"""Rights to a new deal, and the right to give a deal up, as kernels.

Rights to a new deal are bits of a word, 0 for none. Hands and talons are masks. Nothing is
validated here.

Sources: RULES.md §2 (deal, talon and contract) and §4, case 14; docs/match.md, "Before the cards";
`rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.auction import queens_with_king
from milsim.bits import popcount
from milsim.cards import NINE, RANK_MASKS
from milsim.rules import place_of, word_of
from milsim.tricks import points_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOUR_NINES = 1
MUST_REDEAL = 2  # not a right: a new deal
LOW_HAND = 4
LOW_TALON_POINTS = 8
LOW_TALON_NINES = 16

_FOUR_NINES = place_of("deal.four_nines")
_FOUR_NINES_WHEN = place_of("deal.four_nines_when")
_LOW_HAND = place_of("deal.low_hand")
_LOW_HAND_MARRIAGE = place_of("deal.low_hand_marriage")
_LOW_TALON_POINTS = place_of("deal.low_talon_points")
_LOW_TALON_NINES = place_of("deal.low_talon_nines")
_LOW_TALON_AT = place_of("deal.low_talon_at")
_CONCEDE = place_of("talon.concede")
_CONCEDE_LIMIT = place_of("talon.concede_limit")
_CONCEDE_ON_BARREL = place_of("talon.concede_on_barrel")

_NINES_OFF = word_of("deal.four_nines", "off")
_NINES_MANDATORY = word_of("deal.four_nines", "mandatory")
_BEFORE_AUCTION = word_of("deal.four_nines_when", "before_auction")
_AFTER_EXCHANGE = word_of("deal.four_nines_when", "after_exchange")
_ONLY_WITHOUT_MARRIAGE = word_of("deal.low_hand_marriage", "only_without_marriage")
_MINIMUM_ONLY = word_of("deal.low_talon_at", "minimum_only")
_CONCEDE_OFF = word_of("talon.concede", "off")

_NINES = RANK_MASKS[NINE]


@kernel(inline=True)
def _four_nines_rights(hand: int, when: int, rules: NDArray[np.int64]) -> int:
    # Rare cards first: most hands are through after one look.
    kind = int(rules[_FOUR_NINES])
    if hand & _NINES != _NINES or kind == _NINES_OFF or rules[_FOUR_NINES_WHEN] != when:
        return 0
    return FOUR_NINES | MUST_REDEAL if kind == _NINES_MANDATORY else FOUR_NINES


@kernel(inline=True)
def hand_rights(hand: int, rules: NDArray[np.int64]) -> int:
    """The rights to a new deal of seven cards before the auction: FOUR_NINES, LOW_HAND, bits.

    With MUST_REDEAL there is a new deal whether it is wanted or not. Ask the seats in order from
    forehand. Source: RULES.md §2, deal; §4, case 14.

    >>> from milsim.rules import load, packed
    >>> hand_rights(0b000001_000001_000001_001111, packed(load("mil"))) == FOUR_NINES
    True
    """
    rights = _four_nines_rights(hand, _BEFORE_AUCTION, rules)
    if points_in(hand) < rules[_LOW_HAND] and (
        rules[_LOW_HAND_MARRIAGE] != _ONLY_WITHOUT_MARRIAGE or queens_with_king(hand) == 0
    ):
        rights |= LOW_HAND
    return rights


@kernel(inline=True)
def kept_rights(hand: int, rules: NDArray[np.int64]) -> int:
    """The rights to a new deal of eight cards after the gifts: FOUR_NINES, MUST_REDEAL, bits.

    >>> from milsim.rules import load, packed
    >>> kept_rights(0b000001_000001_000001_011111, packed(load("gamerules"))) == FOUR_NINES
    True
    """
    return _four_nines_rights(hand, _AFTER_EXCHANGE, rules)


@kernel
def talon_rights(talon: int, made_bid: int, minimum: int, rules: NDArray[np.int64]) -> int:
    """The declarer's rights to a new deal over the talon: LOW_TALON_POINTS, LOW_TALON_NINES, bits.

    >>> from milsim.rules import load, packed
    >>> talon_rights(0b000001_000001_000001, 100, 100, packed(load("mil")))
    0
    """
    if rules[_LOW_TALON_AT] == _MINIMUM_ONLY and made_bid != minimum:
        return 0
    rights = 0
    if points_in(talon) < rules[_LOW_TALON_POINTS]:
        rights |= LOW_TALON_POINTS
    nines = int(rules[_LOW_TALON_NINES])
    if nines > 0 and popcount(talon & _NINES) >= nines:
        rights |= LOW_TALON_NINES
    return rights


@kernel
def may_concede(earlier: int, on_barrel: int, rules: NDArray[np.int64]) -> bool:
    """Whether a declarer may give up a deal before his gifts.

    ``earlier`` is how often he has conceded in this match, ``on_barrel`` 1 if he is on the barrel.
    Rules that let him concede until the first lead let him do it before the gifts, too.

    >>> from milsim.rules import load, packed
    >>> may_concede(0, 0, packed(load("mil")))
    False
    """
    if rules[_CONCEDE] == _CONCEDE_OFF or (on_barrel != 0 and rules[_CONCEDE_ON_BARREL] == 0):
        return False
    limit = int(rules[_CONCEDE_LIMIT])
    return limit == 0 or earlier < limit


__all__ = [
    "FOUR_NINES",
    "LOW_HAND",
    "LOW_TALON_NINES",
    "LOW_TALON_POINTS",
    "MUST_REDEAL",
    "hand_rights",
    "kept_rights",
    "may_concede",
    "talon_rights",
]
