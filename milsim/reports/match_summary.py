"""What `milsim match` says at its end: the run in a few lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import polars as pl

from milsim.reports.match_frames import AnyMatchRun, opened_matches
from milsim.reports.match_statistics import Clusters, clusters_of
from milsim.reports.statistics import Interval, Moments, quantiles, wilson
from milsim.reports.summary import as_plain, number_in_words, share_in_words
from milsim.store.match_schema import NOBODY


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """The main figures of a run of matches, sampled, with 95 % intervals."""

    provenance: str
    matches: int
    deals: int
    max_deals: int
    policies: tuple[str, ...]
    won: tuple[Interval, ...]
    nobody: Interval
    stopped: int
    length: Interval
    median: int | None
    made: Interval
    bid: Interval

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain JSON values."""
        return {
            "provenance": self.provenance,
            "kind": "sampled",
            "matches": self.matches,
            "deals": self.deals,
            "won_by_player": [
                {"player": number, "policy": policy, **as_plain(won)}
                for number, (policy, won) in enumerate(
                    zip(self.policies, self.won, strict=True), start=1
                )
            ],
            "won_by_nobody": {"matches": self.stopped, **as_plain(self.nobody)},
            "max_deals": self.max_deals,
            "deals_a_match": as_plain(self.length),
            "deals_a_match_median": self.median,
            "made": as_plain(self.made),
            "bid": as_plain(self.bid),
        }

    def facts(self) -> list[tuple[str, str]]:
        """The figures in words, each with what it is (or nothing: as above); none of no matches."""
        if self.matches == 0:
            return []
        nobody = f"{share_in_words(self.nobody)}, stopped after {self.max_deals} deals"
        length = f"mean {number_in_words(self.length)}, half of them {self.median} or fewer"
        return [
            ("matches", f"{self.matches:,}   (sampled; intervals are 95 %)"),
            *(
                ("won by player" if number == 1 else "", f"{number} {policy:<10} {won}")
                for number, policy, won in self._winners()
            ),
            ("won by nobody", nobody if self.stopped else "none"),
            ("deals a match", length),
            ("contract made", share_in_words(self.made)),
            ("final bid", f"mean {number_in_words(self.bid)}"),
        ]

    def _winners(self) -> list[tuple[int, str, str]]:
        pairs = zip(self.policies, self.won, strict=True)
        return [(n, policy, share_in_words(won)) for n, (policy, won) in enumerate(pairs, start=1)]

    def text(self) -> str:
        """The figures for people, a line each."""
        if self.matches == 0:
            return f"no matches ({self.provenance})"
        return "\n".join([*(f"{name:<23}{fact}" for name, fact in self.facts()), self.provenance])


def match_summary(run: AnyMatchRun) -> MatchSummary:
    """The main figures of a run of matches, counted part by part."""
    run = opened_matches(run)
    lengths: Counter[int] = Counter()
    winners: Counter[int] = Counter()
    made, bids = Clusters(), Clusters()
    for deals, matches in run.by_part():
        for length, winner, n in (
            matches.group_by("deals", "winner").agg(pl.len()).collect().iter_rows()
        ):
            lengths[length] += n
            winners[winner] += n
        rows = deals.select("match", "made", "bid").collect()
        sums = clusters_of(rows, "match", [], ["made", "bid"])[()]
        made, bids = made + sums["made"], bids + sums["bid"]
    n = sum(winners.values())
    policies = run.plan.policies
    return MatchSummary(
        provenance=run.provenance(),
        matches=n,
        deals=made.n,
        max_deals=run.rules.match.max_deals,
        policies=policies,
        won=tuple(wilson(winners[player], n) for player in range(1, len(policies) + 1)),
        nobody=wilson(winners[NOBODY], n),
        stopped=winners[NOBODY],
        length=Moments.of(lengths.items()).mean(),
        median=quantiles(lengths.items(), [0.5])[0],
        made=made.share(),
        bid=bids.mean(),
    )
