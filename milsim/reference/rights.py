"""Rights to a new deal: which hands and talons give them, by name; most often none.

Sources: seeds 000 and 002, "the rules in this game": with the four nines, or with fewer than 10
points and no marriage, before the auction; seed 001 Y CYFNEWID: with four nines after the exchange;
RULES.md §2 deal.
"""

from __future__ import annotations

from collections.abc import Collection

from milsim.reference.play import card_points, has_four_nines, marriages_in, rank
from milsim.rules import Rules, load


def rights_before_auction(hand: Collection[int], rules: str | Rules = "mil") -> tuple[str, ...]:
    """The rights that 7 cards give: "four nines", "low hand".

    >>> rights_before_auction({0, 6, 12, 18, 1, 7, 13})
    ('four nines', 'low hand')
    >>> rights_before_auction({0, 6, 12, 1, 7, 2, 3})  # jacks and a marriage: 11 points
    ()
    """
    how = load(rules).deal
    rights = []
    if how.four_nines != "off" and how.four_nines_when == "before_auction" and has_four_nines(hand):
        rights.append("four nines")
    if card_points(hand) < how.low_hand and (
        how.low_hand_marriage == "any_hand" or not marriages_in(hand)
    ):
        rights.append("low hand")
    return tuple(rights)


def rights_after_exchange(hand: Collection[int], rules: str | Rules = "mil") -> tuple[str, ...]:
    """The rights that 8 cards give after the gifts: "four nines".

    >>> rights_after_exchange({0, 6, 12, 18, 5}, "gamerules"), rights_after_exchange({0, 6, 12, 18})
    (('four nines',), ())
    """
    how = load(rules).deal
    if how.four_nines != "off" and how.four_nines_when == "after_exchange" and has_four_nines(hand):
        return ("four nines",)
    return ()


def rights_of_declarer(
    talon: Collection[int], bid: int, minimum: int, rules: str | Rules = "mil"
) -> tuple[str, ...]:
    """The right that the talon gives the declarer: "low talon".

    >>> from dataclasses import replace
    >>> mil = load("mil")
    >>> low = replace(mil, deal=replace(mil.deal, low_talon_points=5))
    >>> rights_of_declarer({0, 6, 1}, 100, 100, low), rights_of_declarer({0, 6, 5}, 100, 100, low)
    (('low talon',), ())
    """
    how = load(rules).deal
    if how.low_talon_at == "minimum_only" and bid != minimum:
        return ()
    nines = sum(1 for card in talon if rank(card) == 0)
    enough_nines = how.low_talon_nines > 0 and nines >= how.low_talon_nines
    if enough_nines or card_points(talon) < how.low_talon_points:
        return ("low talon",)
    return ()
