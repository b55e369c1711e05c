"""The deals of a run counted by hand, bid and contract: what report ``contracts`` starts from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from milsim.cards import MARRIAGE_MASKS, SUITS, cards_of
from milsim.deals import SEAT_NAMES
from milsim.reference.auction import highest_bid
from milsim.reports.contract import HIGHEST, Contract, safe_cap
from milsim.reports.part_counts import Grouping, count_by_part
from milsim.reports.provenance import check_counted, played
from milsim.reports.statistics import Moments
from milsim.rules import Rules
from milsim.store.features import with_features
from milsim.store.run import PLAYED, Run

CLASS = ("marriages", "aces", "guarded_tens")
FEWEST = 100
"""Classes of hands with fewer deals are taken together."""
_BASIS = {"kept8": "kept_marriage_mask", "hand10": "held10_marriage_mask"}
"""The cards whose marriages set the cap of the contract, by ``talon.cap_basis``."""


def cap_of(marriages: int, rules: Rules) -> int:
    """The highest bid or contract that cards with these marriages allow (bit i = suit i).

    >>> from milsim.rules import load
    >>> [cap_of(mask, load("mil")) for mask in (0b0000, 0b0001, 0b1001)]
    [120, 160, 260]
    """
    cards = {card for s in SUITS if marriages >> s & 1 for card in cards_of(MARRIAGE_MASKS[s])}
    return highest_bid(cards, rules)


@dataclass(frozen=True, slots=True)
class ContractCounts:
    """A run counted by hands, bids and contracts; conceded deals are left out.

    All frames have whole numbers only, their keys and ``n``. ``hands`` is by the class of the seven
    cards and declarer points, ``masks`` by the marriages among them (bit i = suit i), ``named`` by
    bid, contract, the marriages that set the cap of the contract (``basis``), declarer points, made
    and dark, with the sums of the declarer's deal score.
    """

    run: Run
    deals: int
    hands: pl.DataFrame
    masks: pl.DataFrame
    named: pl.DataFrame
    contracts: dict[int, Contract] = field(default_factory=dict, compare=False, repr=False)
    """Contracts worked out before, by value."""

    @classmethod
    def of(cls, run: Run) -> ContractCounts:
        """Count the deals of a run; raises RunError for a run in which none was played."""
        found = count_by_part(
            played(run),
            partial(_rows, rules=run.rules),
            {
                "hands": Grouping((*CLASS, "points")),
                "masks": Grouping(("mask",)),
                "named": Grouping(
                    ("bid", "contract", "basis", "points", "made", "dark"), squares=("score",)
                ),
            },
        )
        deals = int(found["hands"]["n"].sum())
        check_counted(run, deals)
        return cls(run, deals, found["hands"], found["masks"], found["named"])

    @property
    def knows_scores(self) -> bool:
        """Whether deal scores go with the points: those of the play that was played only."""
        return self.run.model == PLAYED

    @property
    def most_points(self) -> int:
        """The most declarer points in the run."""
        return int(self.hands["points"].max())  # type: ignore[arg-type]

    def contract(self, value: int) -> Contract:
        """The contract of so many points under the rules of the run."""
        if value not in self.contracts:
            self.contracts[value] = Contract.of(value, self.run.rules)
        return self.contracts[value]

    def classes(self) -> list[tuple[int, dict[int, int]]]:
        """Marriages in the hand, and declarer points → deals, for each class of hand.

        Classes with fewer than FEWEST deals are one class with the others of as many marriages:
        what is best for so few would be luck.
        """
        found: defaultdict[tuple[int, ...], defaultdict[int, int]]
        found = defaultdict(lambda: defaultdict(int))
        rare = pl.col("n").sum().over(CLASS) < FEWEST
        rows = self.hands.select(*CLASS, "points", "n", rare=rare)
        for *key, points, n, pooled in rows.iter_rows():
            found[tuple(key[:1] if pooled else key)][points] += n
        return [(key[0], histogram) for key, histogram in sorted(found.items())]

    def grid(self) -> list[Contract]:
        """The contracts from the minimum up by the step, to the most points taken or named."""
        how = self.run.rules.auction
        named = int(self.named["contract"].max())  # type: ignore[arg-type]
        last = min(max(how.minimum, self.most_points, named), HIGHEST)
        return [self.contract(value) for value in range(how.minimum, last + 1, how.step)]

    def best(self, histogram: Mapping[int, int], marriages: int) -> tuple[Contract, Moments]:
        """The contract of the highest mean score for a class of hand, and its scores.

        Among those that the rules allow with every such hand; of equal ones the lowest.
        """
        n = sum(histogram.values())
        cap = max(safe_cap(self.run.rules, marriages), self.run.rules.auction.minimum)
        found: tuple[Contract, Moments] | None = None
        for contract in self.grid():
            if contract.value > cap:
                break
            scores = contract.score(histogram, contract.made(histogram), n)
            if found is None or scores.total > found[1].total:
                found = contract, scores
        assert found is not None  # the minimum is always among them
        return found


def _rows(rows: pl.LazyFrame, rules: Rules) -> pl.LazyFrame:
    """The played deals of a part with what is counted of them."""
    featured = with_features(rows.filter(~pl.col("conceded")), rules)
    return featured.select(
        marriages=pl.col("hand_marriages"),
        aces=pl.col("hand_aces"),
        guarded_tens=pl.col("hand_guarded_tens"),
        mask=pl.col("hand_marriage_mask"),
        basis=pl.col(_BASIS[rules.talon.cap_basis]),
        bid=pl.col("bid"),
        contract=pl.col("contract"),
        points=pl.col("declarer_points"),
        made=pl.col("made"),
        dark=pl.col("dark"),
        score=pl.coalesce(
            pl.when(pl.col("declarer") == seat).then(pl.col(f"score_{name}"))
            for seat, name in enumerate(SEAT_NAMES)
        ),
    )


__all__ = ["CLASS", "ContractCounts", "cap_of"]
