"""A race of the 90 pairs of gifts over all 3,432 layouts: exact, and without most of the work.

For each pair and layout there are bounds of the declarer's points, at first what his cards can ever
bring. Sums of bounds over all layouts bound what a pair is worth; a pair leaves the race only when
its upper sum is below what enough others are sure of. So no pair leaves by chance, and whatever is
told of those who stay is exact: their bounds have met.

The layouts come in one fixed, well mixed order, and pairs leave between rounds only: the work done
does not depend on threads, and no result could.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from milsim.auction import contract_range, marriage_points
from milsim.cards import ACE, ALL_CARDS, DECK_POINTS, RANK_MASKS, cards_of
from milsim.rules import Rules, packed
from milsim.scoring import declarer_score, is_made
from milsim.solver.gift_bounds import BARS, EXACT, NEEDS, narrow_bounds
from milsim.solver.table import NODES, new_workspace
from milsim.solver.threads import in_chunks
from milsim.tricks import play_flags, play_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

N_LAYOUTS = 3432
N_CARDS, N_LEFT = 10, 7
_STRIDE = 1427  # a prime that does not divide 3,432
_FIRST_ROUND = 48  # layouts
_MORE = 1  # pairs beyond those asked for that are looked at in all layouts first
_SAMPLE = 24  # layouts in which the values of all are compared at first
_NONE = -(2**60)
_CHUNK = 8  # layouts a chunk


def layouts_of(ten: int) -> NDArray[np.int64]:
    """The seven cards of the declarer's left in each layout, int64[3432], in rising order of cards.

    >>> layouts_of(0b1111111111)[0] == 0b1111111 << 10
    np.True_
    """
    unseen = cards_of(ALL_CARDS & ~ten)
    return np.array([sum(1 << card for card in some) for some in combinations(unseen, N_LEFT)])


class Race:
    """The bounds of all pairs in all layouts, and the ways to narrow them.

    ``pairs`` are 10·left + right by place in the hand, ``lower`` and ``upper`` int16[100, layouts].
    ``places`` may name some layouts only: then all that is told is of these.
    """

    def __init__(
        self,
        ten: int,
        rules: Rules,
        bid: int,
        *,
        threads: int,
        places: NDArray[np.int64] | None = None,
    ) -> None:
        """A race that has not begun; ``bid`` is what made him declarer."""
        self.ten, self.rules, self.bid, self.threads = ten, rules, bid, threads
        self.fields = packed(rules)
        self.flags, self.values = int(play_flags(self.fields)), int(play_values(self.fields))
        self.cards = cards_of(ten)
        self.lefts = layouts_of(ten)
        if places is not None:
            self.lefts = self.lefts[places]
        self.n = len(self.lefts)
        stride = _STRIDE if self.n == N_LAYOUTS else 1
        self.order = np.arange(self.n, dtype=np.int64) * stride % self.n
        self.pairs = np.array([10 * i + j for i in range(10) for j in range(10) if i != j])
        self.lower = np.zeros((100, self.n), np.int16)
        self.upper = np.zeros((100, self.n), np.int16)
        self.highest = np.zeros(100, np.int64)
        """The highest contract that may be named after each pair."""
        minimum = rules.auction.minimum
        play = rules.play
        for pair in self.pairs:
            kept = self.kept(pair)
            most = DECK_POINTS + play.last_trick_bonus + int(marriage_points(kept, self.fields))
            aces = RANK_MASKS[ACE]
            most += play.ace_marriage if kept & aces == aces else 0
            self.upper[pair] = most
            self.highest[pair] = contract_range(bid, kept, ten, minimum, self.fields)[1]
        self.nodes = 0
        """Positions searched so far."""

    def kept(self, pair: int) -> int:
        """The eight cards that he keeps."""
        left, right = self.gifts(pair)
        return self.ten & ~(1 << left | 1 << right)

    def gifts(self, pair: int) -> tuple[int, int]:
        """The two cards of a pair, for the left and for the right."""
        return self.cards[int(pair) // 10], self.cards[int(pair) % 10]

    # -- asking ----------------------------------------------------------------------------------

    def ask(
        self,
        places: NDArray[np.int64],
        pairs: NDArray[np.int64],
        question: int,
        *,
        needs: NDArray[np.int64] | None = None,
        asked: NDArray[np.int8] | None = None,
        bars: NDArray[np.int64] | None = None,
    ) -> None:
        """Narrow the bounds of some pairs in some layouts (`narrow_bounds`)."""
        if len(pairs) == 0 or len(places) == 0:
            return
        nodes: list[int] = []
        none = np.zeros(0, np.int64)
        chosen = np.ascontiguousarray(pairs, dtype=np.int64)

        def some(start: int, end: int, work: NDArray[np.int64]) -> None:
            work[NODES] = 0
            narrow_bounds(
                self.ten,
                self.lefts,
                places[start:end],
                chosen,
                question,
                none if needs is None else needs,
                np.zeros((100, 0), np.int8) if asked is None else asked,
                np.zeros((100, 0), np.int64) if bars is None else bars,
                self.flags,
                self.values,
                work,
                self.lower,
                self.upper,
            )
            nodes.append(int(work[NODES]))

        some(0, 0, new_workspace(1))  # compiles, before any thread starts
        # A thread is worth its start from a few chunks on.
        threads = self.threads if len(places) * len(pairs) > 8 * _CHUNK else 1
        in_chunks(len(places), _CHUNK, threads, some)
        self.nodes += sum(nodes)

    def solve(self, pairs: NDArray[np.int64]) -> None:
        """The exact values of some pairs in all layouts."""
        self.ask(self.order, pairs, EXACT)

    def _rounds(self) -> Iterator[NDArray[np.int64]]:
        """The layouts, few at first and then twice as many each time."""
        start, length = 0, min(_FIRST_ROUND, self.n)
        while start < self.n:
            yield self.order[start : start + length]
            start += length
            length = start

    # -- the race for scores ---------------------------------------------------------------------

    def contracts(self) -> list[int]:
        """All contracts that may be named after some pair."""
        highest = int(self.highest[self.pairs].max())
        return list(range(self.bid, highest + 1, self.rules.auction.step))

    def need_of(self, contract: int) -> int:
        """The fewest points that make a contract.

        They differ from the contract where points are rounded before they are compared.
        """
        points = max(0, contract - 10)
        while not is_made(points, contract, self.fields):
            points += 1
        return points

    def scores(self, bounds: NDArray[np.int16], contract: int) -> NDArray[np.int64]:
        """The declarer's scores over all layouts together, by pair, if the bounds were values."""
        made = (bounds >= self.need_of(contract)).sum(axis=1)
        if self.rules.scoring.success == "contract":
            found: NDArray[np.int64] = contract * (2 * made - self.n)
            return found
        points = np.arange(int(self.upper.max()) + 1)
        table = np.array([int(declarer_score(int(p), contract, self.fields)) for p in points])
        found = table[bounds].sum(axis=1)
        return found

    def _decide(self, contracts: list[int], best: int) -> NDArray[np.int64]:
        """Narrow until it is proved who is among the ``best``, by their best contract of these.

        Others may at most tie with the last of them. Returns the pairs that looked best at first.
        """
        hopeful = np.zeros(0, np.int64)
        needs = np.array([self.need_of(contract) for contract in contracts])
        alive = np.zeros((100, len(contracts)), bool)
        for k, contract in enumerate(contracts):
            alive[self.pairs, k] = self.highest[self.pairs] >= contract

        def ask(places: NDArray[np.int64], pairs: NDArray[np.int64]) -> None:
            self.ask(places, pairs, NEEDS, needs=needs, asked=alive.astype(np.int8))
            if self.rules.scoring.success == "actual":
                self.ask(places, pairs, EXACT)

        def sums(bounds: NDArray[np.int16]) -> NDArray[np.int64]:
            columns = np.array([self.scores(bounds, contract) for contract in contracts])
            found: NDArray[np.int64] = np.where(alive, columns.T, _NONE)
            return found

        for number, places in enumerate(self._rounds()):
            ask(places, np.flatnonzero(alive.any(axis=1)))
            if number == 0:
                hopeful = self._hopeful(places, contracts, alive, best + _MORE)
                ask(self.order, hopeful)
            low, high = sums(self.lower), sums(self.upper)
            sure = np.sort(low.max(axis=1))[-best]
            alive &= (high > sure) | (low == sure)
        return hopeful

    def _hopeful(
        self,
        places: NDArray[np.int64],
        contracts: list[int],
        alive: NDArray[np.bool_],
        count: int,
    ) -> NDArray[np.int64]:
        """The pairs that look best in some layouts: the most scores, and of equal ones points."""
        scores = np.full(100, float(_NONE))
        for k, contract in enumerate(contracts):
            made = (self.lower[:, places] >= self.need_of(contract)).mean(axis=1)
            scores = np.maximum(scores, np.where(alive[:, k], contract * (2 * made - 1), _NONE))
        able = np.flatnonzero(alive.any(axis=1))
        count = min(count, len(able))
        last = np.sort(scores[able])[-count]
        tied = able[scores[able] >= last]
        if len(tied) <= count:
            return np.asarray(tied, np.int64)
        few = places[:_SAMPLE]
        self.ask(few, tied, EXACT)
        points = self.lower[np.ix_(tied, few)].sum(axis=1, dtype=np.int64)
        order = np.lexsort((tied, -points, -scores[tied]))
        return np.asarray(tied[order[:count]], np.int64)

    def best_contract(self) -> int:
        """The contract of the highest expected score with any gifts; of equal ones the lowest."""
        contracts = self.contracts()
        if self.rules.scoring.success == "actual":
            contracts = contracts[:1]  # the same points at less risk
        self._decide(contracts, 1)
        found = [int(self._allowed(self.scores(self.lower, c), c).max()) for c in contracts]
        return contracts[int(np.argmax(found))]

    def _allowed(self, scores: NDArray[np.int64], contract: int) -> NDArray[np.int64]:
        """Scores of pairs after which a contract may be named; of others none to be taken."""
        may = np.zeros(100, bool)
        may[self.pairs] = self.highest[self.pairs] >= contract
        found: NDArray[np.int64] = np.where(may, scores, _NONE)
        return found

    def best_by_score(self, contract: int, count: int) -> NDArray[np.int64]:
        """The pairs of the highest expected scores with a contract, best first.

        No other pair scores more than the last of these, but others may score the same: of such
        ties those that take more points in a first look come here. Among those returned, whose
        values are exact in all layouts, equal scores are in the order of points.
        """
        able = self.pairs[self.highest[self.pairs] >= contract]
        count = min(count, len(able))
        hopeful = self._decide([contract], count)
        low = self._allowed(self.scores(self.lower, contract), contract)
        high = self._allowed(self.scores(self.upper, contract), contract)
        last = np.sort(low)[-count]
        known = low == high
        better = np.flatnonzero((low > last) & known)
        first = hopeful[low[hopeful] == last]
        others = np.setdiff1d(np.flatnonzero((low == last) & known), first)
        missing = max(0, count - len(better) - len(first))
        found = np.concatenate([better, first, others[:missing]])
        self.solve(found)
        total = self.lower[found].sum(axis=1, dtype=np.int64)
        return found[np.lexsort((found, -total, -low[found]))][:count]

    # -- the race for points ---------------------------------------------------------------------

    def best_by_points(self, pairs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """The ``count`` pairs of the most points over all layouts, best first, with exact values.

        Of equal ones that of the lowest cards comes first.
        """
        if len(pairs) <= count:
            self.solve(pairs)
            total = self.lower[pairs].sum(axis=1, dtype=np.int64)
            return pairs[np.lexsort((pairs, -total))]
        sample = self.order[:_SAMPLE]
        self.ask(sample, pairs, EXACT)
        seen = self.lower[np.ix_(pairs, sample)].sum(axis=1, dtype=np.int64)
        leaders = pairs[np.argsort(-seen, kind="stable")[:count]]
        self.solve(leaders)
        totals = self.lower[leaders].sum(axis=1, dtype=np.int64)
        sure = int(totals.min())
        # Half of what a pair falls behind on average is asked of it in each layout: on the whole
        # that is enough to prove it, and easier to prove than more.
        last = leaders[int(np.argmin(totals))]
        behind = np.zeros(100, np.int64)
        behind[pairs] = np.maximum(seen[pairs == last] - seen, 0) // (2 * len(sample))
        bars = np.maximum(self.lower[last].astype(np.int64) - behind[:, None], 0) + 1
        others = np.setdiff1d(pairs, leaders)
        for places in self._rounds():
            self.ask(places, others, BARS, bars=bars)
            others = others[self.upper[others].sum(axis=1, dtype=np.int64) >= sure]
        self.solve(others)
        found = np.concatenate([leaders, others])
        total = self.lower[found].sum(axis=1, dtype=np.int64)
        return found[np.lexsort((found, -total))][:count]


__all__ = ["N_CARDS", "N_LAYOUTS", "Race", "layouts_of"]
