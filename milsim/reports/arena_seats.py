"""Who sits where in an arena: the tables at which every deal is played, and what scores allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from milsim.cards import N_CARDS
from milsim.reference.auction import highest_bid, most_points
from milsim.rules import Rules

SEATS = 3
DARK_CONTRACT = 120
DECK = 120
_MOST_ROUNDED_UP = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Competitors who meet at the same tables; every deal is played at each of them.

    ``members`` are numbers of competitors; ``tables`` say by seat (by player, in matches) who sits
    there. Each member sits equally often in every seat: ``held`` times in all.
    """

    members: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]

    @property
    def held(self) -> int:
        """How many places a member has, over all tables."""
        return sum(table.count(self.members[0]) for table in self.tables)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs that this group compares."""
        return tuple(combinations(self.members, 2))


def groups_of(competitors: int, seats: int = SEATS) -> tuple[Group, ...]:
    """The tables of an arena of so many competitors.

    Two: one of the first among the second in each seat, and the other way round. Three, where three
    play: all six orders. Else every pair as two.

    >>> groups_of(2)[0].tables
    ((0, 1, 1), (1, 0, 0), (1, 0, 1), (0, 1, 0), (1, 1, 0), (0, 0, 1))
    >>> [len(groups_of(n)) for n in (2, 3, 4)]
    [1, 1, 6]
    """
    if competitors == SEATS == seats:
        return (Group((0, 1, 2), tuple(permutations(range(3)))),)
    return tuple(
        Group(pair, tuple(_duel(*pair, seats))) for pair in combinations(range(competitors), 2)
    )


def _duel(a: int, b: int, seats: int) -> list[tuple[int, ...]]:
    tables = []
    for seat in range(seats):
        for alone, other in ((a, b), (b, a)):
            tables.append(tuple(alone if place == seat else other for place in range(seats)))
    return tables


def widest_score(rules: Rules) -> int:
    """The most by which one side of a table can score more than the rest of it, in one deal.

    A declarer scores between −C and C, his contract, if nothing is doubled; the defenders score
    what they take, together Q at most. Neither side can be further apart than C + Q. C is capped,
    and Q is what the deck holds; where the cap is that of the marriages held
    (``auction.cap = marriages``), those of the declarer are not the defenders', so C + Q is at most
    the cap's base, the deck and each marriage once. On top come rounding, bonuses, concessions, and
    once more C where a dark contract doubles.

    >>> from milsim.rules import load
    >>> widest_score(load("mil"))
    530
    """
    how = rules.auction
    most = most_points(rules)
    doubled = 2 if how.dark else 1
    contract = max(highest_bid(range(N_CARDS), rules), highest_bid((), rules), DARK_CONTRACT)
    together = contract + most
    if how.cap == "marriages" and how.minimum <= how.cap_points:
        marriages = most - DECK  # with the last trick and four aces, where they pay
        together = max(how.cap_points, DARK_CONTRACT) + DECK + marriages
    gain = rules.talon.concede_gain
    gained = gain if isinstance(gain, int) else contract
    return max(
        together + (doubled - 1) * contract + 2 * _MOST_ROUNDED_UP,
        doubled * (most + _MOST_ROUNDED_UP),
        (doubled * contract + 2 * gained) if rules.talon.concede != "off" else 0,
    ) + int(rules.deal.four_nines_bonus)


def widest_difference(group: Group, rules: Rules) -> float:
    """The most by which two members of a group can differ in one deal, points a seat they hold.

    >>> from milsim.rules import load
    >>> round(widest_difference(groups_of(2)[0], load("mil")), 1)
    353.3
    """
    return len(group.tables) * widest_score(rules) / group.held


def tables_of(groups: Sequence[Group]) -> int:
    """How often each deal is played.

    >>> tables_of(groups_of(4))
    36
    """
    return sum(len(group.tables) for group in groups)
