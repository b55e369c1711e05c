"""Contracts: when a rule set counts one as made, what it scores, and which ones a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from milsim.cards import KING, N_RANKS, QUEEN, SUITS
from milsim.errors import UsageError
from milsim.reference.auction import highest_bid, most_points
from milsim.reference.scoring import deal_scores, is_made
from milsim.reports.statistics import Moments
from milsim.rules import Rules

HIGHEST = 1000
"""No contract beyond this is looked at: no rule set has so many points."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract under a rule set: made from ``needs`` declarer points on."""

    value: int
    needs: int
    rules: Rules
    scores: dict[int, int] = field(default_factory=dict, compare=False, repr=False)
    """Deal scores worked out before, by declarer points: tables ask for the same ones."""

    @classmethod
    def of(cls, value: int, rules: Rules) -> Contract:
        """The contract of so many points.

        >>> from milsim.rules import load
        >>> Contract.of(120, load("mil")).needs
        120
        """
        needs = next(
            points
            for points in range(max(0, value - 10), value + 11)  # no rounding moves further
            if is_made(points, value, rules)
        )
        return cls(value, needs, rules)

    def made(self, histogram: Mapping[int, int]) -> int:
        """The deals that make the contract; ``histogram``: declarer points → deals."""
        return sum([n for points, n in histogram.items() if points >= self.needs])

    def score(self, histogram: Mapping[int, int], made: int, n: int) -> Moments:
        """The deal scores of a declarer who plays this contract and makes so many of n deals.

        >>> from milsim.rules import load
        >>> Contract.of(100, load("mil")).score({90: 1, 130: 3}, made=3, n=4).mean().value
        50.0
        """
        scores = {self._score(self.needs): made}
        if self.rules.scoring.success != "contract":
            scores = {}
            for points, count in histogram.items():
                if points >= self.needs:
                    score = self._score(points)
                    scores[score] = scores.get(score, 0) + count
        return Moments.of(scores.items()) + Moments.of([(self._score(0), n - made)])

    def _score(self, points: int) -> int:
        if points not in self.scores:
            self.scores[points] = deal_scores((points, 0, 0), 0, self.value, self.rules)[0]
        return self.scores[points]


def contract_grid(rules: Rules, most: int) -> list[Contract]:
    """The contracts from the minimum up, by the step of the rules, to the most points seen."""
    how = rules.auction
    last = max(how.minimum, min(most, HIGHEST))
    return [Contract.of(value, rules) for value in range(how.minimum, last + 1, how.step)]


def checked_contracts(values: Sequence[int], rules: Rules) -> list[Contract]:
    """The contracts a caller asks for, sorted; raises UsageError for what is no contract."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= HIGHEST:
            raise UsageError(
                f"contracts: {value!r:.40} is no contract; use whole numbers from 1 to {HIGHEST}"
            )
    if not values:
        raise UsageError("contracts: none given; name at least one, such as 100")
    return [Contract.of(value, rules) for value in sorted(set(values))]


def safe_cap(rules: Rules, marriages: int) -> int:
    """The highest bid that the rules allow with *any* hand of so many marriages.

    That is the cap of a hand with the cheapest of them.

    >>> from milsim.rules import load
    >>> [safe_cap(load("mil"), marriages) for marriages in range(3)]
    [120, 160, 220]
    """
    values = rules.deal.marriage_values.by_suit()
    cheapest = sorted(SUITS, key=lambda suit: values[suit])[:marriages]
    cards = {N_RANKS * suit + rank for suit in cheapest for rank in (QUEEN, KING)}
    return min(highest_bid(cards, rules), most_points(rules))


def shown_contracts(grid: Sequence[Contract], rules: Rules) -> list[int]:
    """The few contracts of a grid that a printed table has room for, most interesting first."""
    wanted = [rules.auction.minimum + more for more in (0, 20, 40, 10, 60, 80, 100)]
    values = {contract.value for contract in grid}
    return [value for value in wanted if value in values]
