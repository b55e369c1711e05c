"""A run of matches counted: one pass over its parts, integers that add up.

All deals of a match are in one part, so parts are read one after the other and memory does not grow
with the run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from milsim.deals import SEAT_NAMES
from milsim.errors import RunError
from milsim.reference.match_scoring import DUMP_TRUCK
from milsim.reference.match_state import Event
from milsim.reports.match_statistics import Clusters, clusters_of, moments_of
from milsim.reports.statistics import Moments
from milsim.rules import Rules
from milsim.store.match_run import MatchRun
from milsim.store.match_schema import NOBODY, players_of

AFTER = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 500, 1000, 2000, 5000)
"""The deals after which scores are looked at; later ones are too few to tell."""

ENDINGS = {
    "barrel": "from the barrel",
    "jump": "by a jump over the barrel",
    "lock": "out of the lock",
    "declarer": "by an own contract, from below",
    "other": "without an own contract",
    "nobody": "nobody: stopped",
}
"""How a match can end, in words; the first that holds is the one."""

BRAKES = {
    "lock": "lock",
    "cap": "cap of defenders",
    "barrel": "barrel",
    "bolts": "bolts",
    "dump_truck": "dump truck (555)",
    "conceded": "conceded deals",
    "dark": "dark contracts",
}
"""Rules that make matches longer or shorter, in words."""

DECLARER_VALUES = ("bid", "contract", "made", "conceded", "score")


@dataclass(slots=True)
class Brake:
    """One rule over all matches: in how many it acted, how often, what it took, what it decided."""

    matches: int = 0
    times: Moments = field(default_factory=Moments)
    points: Moments = field(default_factory=Moments)
    decided: int = 0


@dataclass(slots=True)
class MatchCounts:
    """What the report ``match`` is made of; players are numbered from 1.

    ``lengths``: deals of the matches by how they ended; ``wins``: the winners' points by player and
    by ending; ``finals``: final scores; ``first``: matches won by the seat that the winner had in
    the first deal; ``after``: by number of deals, the scores from the highest to the lowest;
    ``declaring`` and ``other``: by player (None: all), what his deals brought.
    """

    run: MatchRun
    matches: int = 0
    lengths: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    wins: dict[int, Moments] = field(default_factory=lambda: defaultdict(Moments))
    endings: dict[str, Moments] = field(default_factory=lambda: defaultdict(Moments))
    finals: dict[int, Moments] = field(default_factory=lambda: defaultdict(Moments))
    first: Counter[int] = field(default_factory=Counter)
    after: dict[int, list[Moments]] = field(default_factory=dict)
    declaring: dict[int | None, dict[str, Clusters]] = field(default_factory=dict)
    other: dict[int | None, Clusters] = field(default_factory=lambda: defaultdict(Clusters))
    shares: dict[int | None, Clusters] = field(default_factory=lambda: defaultdict(Clusters))
    brakes: dict[str, Brake] = field(default_factory=dict)

    @classmethod
    def of(cls, run: MatchRun) -> MatchCounts:
        """Count the matches of a run; raises RunError for a run without matches."""
        if run.played == 0:
            raise RunError(f"run {run.folder}: no matches in it; play it again, or a longer one")
        found = cls(run, brakes={name: Brake() for name in brakes_of(run.rules)})
        for deals, matches in run.by_part():
            found._add(deals.collect().sort("match", "number"), matches.collect().sort("match"))
        if found.matches != run.played:
            raise RunError(
                f"run {run.folder}: {found.matches:,} matches in its parts, not {run.played:,} as "
                "its manifest says; play it again"
            )
        return found

    @property
    def players(self) -> range:
        """The numbers of the players."""
        return players_of(self.run.players)

    def _add(self, deals: pl.DataFrame, matches: pl.DataFrame) -> None:
        by_player = _by_player(deals, self.run.players)
        ended = _with_endings(matches, deals, self.run.rules)
        self.matches += matches.height
        self._add_matches(ended)
        self._add_scores(deals)
        self._add_deals(by_player)
        self._add_brakes(deals, by_player, ended)

    def _add_matches(self, ended: pl.DataFrame) -> None:
        for ending, length, n in ended.group_by("ending", "deals").len().rows():
            self.lengths[ending][length] += n
        won = ended.filter(pl.col("winner") != NOBODY)
        for player in self.players:
            self.finals[player] += moments_of(ended[f"final_{player}"])
            self.wins[player] += moments_of(won.filter(winner=player)["points"])
        for ending in ENDINGS:
            self.endings[ending] += moments_of(won.filter(ending=ending)["points"])
        for seat, n in won.group_by("first_seat").len().rows():
            self.first[seat] += n

    def _add_scores(self, deals: pl.DataFrame) -> None:
        totals = [f"total_{player}" for player in self.players]
        ranked = pl.concat_list(totals).list.sort(descending=True)
        rows = deals.filter(pl.col("number").is_in(AFTER)).select("number", ranked.alias("ranked"))
        for number in AFTER:
            some = rows.filter(number=number)["ranked"]
            if len(some) == 0:
                continue
            more = [moments_of(some.list.get(place)) for place in range(self.run.players)]
            before = self.after.get(number, [Moments()] * self.run.players)
            self.after[number] = [a + b for a, b in zip(before, more, strict=True)]

    def _add_deals(self, by_player: pl.DataFrame) -> None:
        declarers = by_player.filter("declares")
        for keys in (["player"], []):
            for key, sums in clusters_of(declarers, "match", keys, DECLARER_VALUES).items():
                before = self.declaring.get(key[0] if key else None, {})
                self.declaring[key[0] if key else None] = {
                    name: before.get(name, Clusters()) + more for name, more in sums.items()
                }
            others = by_player.filter(pl.col("active") & ~pl.col("declares"))
            for key, sums in clusters_of(others, "match", keys, ["score"]).items():
                self.other[key[0] if key else None] += sums["score"]
            active = by_player.filter("active")
            for key, sums in clusters_of(active, "match", keys, ["declares"]).items():
                self.shares[key[0] if key else None] += sums["declares"]

    def _add_brakes(
        self, deals: pl.DataFrame, by_player: pl.DataFrame, ended: pl.DataFrame
    ) -> None:
        taken = _taken(by_player, self.run.rules.match.bolts_penalty)
        names = [name for name in self.brakes if name not in ("conceded", "dark")]
        sums = [pl.col(f"{name}:{what}").sum() for name in names for what in ("times", "points")]
        match_player = taken.group_by("match", "player").agg(sums)
        finals = ended.select("match", "winner", *(f"final_{p}" for p in self.players)).unpivot(
            index=["match", "winner"], variable_name="player", value_name="final"
        )
        finals = finals.with_columns(pl.col("player").str.slice(6).cast(pl.Int64))
        joined = finals.join(match_player, on=["match", "player"], how="left")
        target = self.run.rules.match.target
        lost = (pl.col("winner") != NOBODY) & (pl.col("winner") != pl.col("player"))
        would = {
            name: (lost & (pl.col("final") + pl.col(f"{name}:points") >= target)).any()
            for name in names
        }
        per_match = joined.group_by("match").agg(
            *sums, *(expression.alias(f"{name}:decided") for name, expression in would.items())
        )
        for name in names:
            brake, times = self.brakes[name], per_match[f"{name}:times"]
            brake.matches += int((times > 0).sum())
            brake.times += moments_of(times)
            brake.points += moments_of(per_match[f"{name}:points"])
            brake.decided += int(per_match[f"{name}:decided"].sum())
        for name in ("conceded", "dark"):
            if name in self.brakes:
                times = deals.group_by("match").agg(pl.col(name).cast(pl.Int64).sum())[name]
                self.brakes[name].matches += int((times > 0).sum())
                self.brakes[name].times += moments_of(times)


def brakes_of(rules: Rules) -> list[str]:
    """The names of the brakes that a rule set has.

    >>> from milsim.rules import load
    >>> brakes_of(load("mil"))
    ['lock', 'cap']
    """
    how = rules.match
    there = {
        "lock": how.lock != "off",
        "cap": how.defender_cap != "off",
        "barrel": how.barrel != "off",
        "bolts": how.bolts != "off",
        "dump_truck": how.dump_truck != "off",
        "conceded": rules.talon.concede != "off",
        "dark": rules.auction.dark,
    }
    return [name for name, is_there in there.items() if is_there]


def _with_endings(matches: pl.DataFrame, deals: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """The matches with how they ended, the winner's points, and his seat in the first deal."""
    players = rules.deal.players
    last = deals.group_by("match", maintain_order=True).agg(
        pl.col("dealer").last(),
        pl.col("declarer").last(),
        *(
            # The score before the last deal: 0 in a match of one deal.
            pl.col(f"total_{p}").slice(-2, 1).first().alias(f"before_{p}")
            for p in players_of(players)
        ),
    )
    winner = pl.col("winner").cast(pl.Int64)
    lock = rules.match.lock

    def of_winner(name: str) -> pl.Expr:
        return pl.coalesce(
            pl.when(winner == p).then(pl.col(f"{name}_{p}").cast(pl.Int64))
            for p in players_of(players)
        )

    before = pl.when(pl.col("deals") > 1).then(of_winner("before")).otherwise(0)
    declarer = (pl.col("dealer").cast(pl.Int64) + pl.col("declarer")) % players + 1
    first_seat = (winner - pl.col("first_dealer").cast(pl.Int64) - 1) % players
    in_lock = before >= lock if lock != "off" else pl.lit(False)
    ending = (
        pl.when(winner == NOBODY)
        .then(pl.lit("nobody"))
        .when("from_barrel")
        .then(pl.lit("barrel"))
        .when("by_jump")
        .then(pl.lit("jump"))
        .when(in_lock)
        .then(pl.lit("lock"))
        .when(declarer == winner)
        .then(pl.lit("declarer"))
        .otherwise(pl.lit("other"))
    )
    return matches.join(last, on="match", how="left").with_columns(
        ending=ending, points=of_winner("final"), first_seat=first_seat
    )


def _by_player(deals: pl.DataFrame, players: int) -> pl.DataFrame:
    """A row a deal and player: what he was in it, what it brought him, what happened to him."""
    frames = []
    for player in players_of(players):
        seat = (player - pl.col("dealer").cast(pl.Int64) - 1) % players
        scores: Any = pl.lit(0) if players == 3 else pl.col("score_sitter").cast(pl.Int64)
        for place, name in enumerate(SEAT_NAMES):
            score = pl.col(f"score_{name}").cast(pl.Int64)
            scores = pl.when(seat == place).then(score).otherwise(scores)
        first = pl.col("number") == 1
        total, barrel = pl.col(f"total_{player}").cast(pl.Int64), pl.col(f"barrel_{player}")
        frames.append(
            deals.select(
                "match",
                "bid",
                "contract",
                "made",
                "conceded",
                player=pl.lit(player, pl.Int64),
                declares=seat == pl.col("declarer"),
                active=seat < len(SEAT_NAMES),
                score=scores,
                change=total - pl.when(first).then(0).otherwise(total.shift(1)),
                was_on_barrel=pl.when(first).then(pl.lit(False)).otherwise(barrel.shift(1) >= 0),
                events=pl.col(f"events_{player}").cast(pl.Int64),
            )
        )
    return pl.concat(frames)


def _taken(by_player: pl.DataFrame, penalty: int) -> pl.DataFrame:
    """How often each brake acted on a player in a deal, and the points that it took from him.

    Together they took the deal score less the change of the total. ``penalty`` is that of bolts.
    """

    def has(*events: Event) -> pl.Expr:
        return pl.any_horizontal((pl.col("events") & int(event)) != 0 for event in events)

    on_barrel, score = pl.col("was_on_barrel"), pl.col("score")
    locked = pl.when(has(Event.LOCKED)).then(score).otherwise(0)
    bolts = pl.when(has(Event.BOLT_PENALTY)).then(penalty).otherwise(0)
    rest = score - pl.col("change") - locked - bolts
    dumped = pl.when(rest > 0).then(DUMP_TRUCK).otherwise(-DUMP_TRUCK)
    dumped = pl.when(has(Event.DUMPED)).then(dumped).otherwise(0)
    left = rest - dumped
    at_barrel = on_barrel | has(Event.MOUNTED, Event.FELL, Event.RESET)
    is_cap = has(Event.CAPPED) & ~at_barrel
    columns = {
        "lock:times": has(Event.LOCKED) & ~on_barrel,
        "lock:points": pl.when(on_barrel).then(0).otherwise(locked),
        "cap:times": has(Event.CAPPED),
        "cap:points": pl.when(is_cap).then(left).otherwise(0),
        "barrel:times": has(Event.MOUNTED),
        "barrel:points": pl.when(is_cap).then(0).otherwise(left)
        + pl.when(on_barrel).then(locked).otherwise(0),
        "bolts:times": has(Event.BOLT_PENALTY),
        "bolts:points": bolts,
        "dump_truck:times": has(Event.DUMPED),
        "dump_truck:points": dumped,
    }
    return by_player.select(
        "match", "player", **{name: column.cast(pl.Int64) for name, column in columns.items()}
    )
