"""Report ``match``: who wins, how long it takes, how scores rise, and which rules decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from milsim.deals import SEAT_NAMES
from milsim.errors import RunError, UsageError, nearest
from milsim.reports.match_counts import BRAKES, ENDINGS, Brake, MatchCounts
from milsim.reports.match_statistics import Clusters
from milsim.reports.provenance import KIND
from milsim.reports.statistics import Moments, quantiles, spread, wilson
from milsim.store.match_run import NO_MATCHES, MatchRun
from milsim.store.run import Run

Table = Literal[
    "ranking", "players", "first_deal", "length", "scores", "declarers", "endings", "rules"
]
TABLES: tuple[str, ...] = get_args(Table)
QUANTILES = (10, 25, 50, 75, 90)
PLACES = ("highest", "second", "third", "lowest")

AnyMatchRun = MatchRun | str | Path
"""A run of matches, or its folder."""


def match(run: AnyMatchRun, table: Table = "ranking") -> pl.DataFrame:
    """How the matches of a run went, as a sorted frame; ``table`` says which.

    - ``ranking``: by policy, matches ``won`` and ``points``, the sum of the points that they were
      won with (a won match counts with the winner's points); a policy's ``players`` count together.
    - ``players``: the same by player, with the mean final score.
    - ``first_deal``: matches won by the seat that the winner had in the first deal.
    - ``length``: deals a match: mean and quantiles, of all, of those won and of those stopped.
    - ``scores``: after so many deals, how many matches were still played, and the mean score of
      the first, second, third (and fourth) player then.
    - ``declarers``: by player, how often he declares, bids, contracts, how many he makes, and his
      mean deal score as declarer and otherwise; the last row is all.
    - ``endings``: how matches are won, or that nobody won within ``match.max_deals``.
    - ``rules``: lock, barrel, bolts and others: in how many matches they act, the points that they
      take, and how many matches they decide: in these a loser would have reached the target, too,
      had the rule left him what it took.

    ``x_low`` and ``x_high`` are the 95 % interval of ``x``; deals of one match are taken together
    in them. ``kind`` and ``model`` say what produced the numbers. Raises
    :class:`~milsim.errors.UsageError` for what is no run or table, and
    :class:`~milsim.errors.RunError` for a run of single deals, or without matches.
    """
    if table not in TABLES:
        raise UsageError(f"table {table!r:.40}: unknown; {nearest(str(table), TABLES)}")
    return FRAMES[table](MatchCounts.of(opened_matches(run)))


def opened_matches(run: AnyMatchRun | Run) -> MatchRun:
    """The run itself, or opened from its folder; raises UsageError for what is neither."""
    if isinstance(run, MatchRun):
        return run
    if isinstance(run, (str, Path)):
        return MatchRun.open(run)
    if isinstance(run, Run):
        raise RunError(f"run {run.folder}: {NO_MATCHES}")
    raise UsageError(f"run {run!r:.40}: give a run of matches or the path of its folder")


def ranking_frame(counts: MatchCounts) -> pl.DataFrame:
    """Policies by the points of the matches that they won."""
    policies = counts.run.plan.policies
    rows = []
    for policy in set(policies):
        players = [number for number in counts.players if policies[number - 1] == policy]
        wins = sum((counts.wins[player] for player in players), Moments())
        rows.append({"policy": policy, "players": len(players), **_won(counts, wins)})
    rows.sort(key=lambda row: (-row["points"], row["policy"]))
    return _framed(rows, counts)


def players_frame(counts: MatchCounts) -> pl.DataFrame:
    """Players by number; the last row is nobody, if matches ended so."""
    rows: list[dict[str, Any]] = []
    for player, policy in zip(counts.players, counts.run.plan.policies, strict=True):
        rows.append(
            {
                "player": player,
                "policy": policy,
                **_won(counts, counts.wins[player]),
                **spread("final_mean", counts.finals[player].mean()),
            }
        )
    return _framed(rows, counts)


def _won(counts: MatchCounts, wins: Moments) -> dict[str, Any]:
    """What was won: in matches, and in points, by win and by match played."""
    played = Moments(counts.matches, wins.total, wins.squares)
    return {
        "n": counts.matches,
        "won": wins.n,
        **spread("won_share", wilson(wins.n, counts.matches)),
        "points": wins.total,
        **spread("points_a_win", wins.mean()),
        **spread("points_a_match", played.mean()),
    }


def first_deal_frame(counts: MatchCounts) -> pl.DataFrame:
    """Matches won by the winner's seat in the first deal."""
    names = [*SEAT_NAMES, "sitting out"][: counts.run.players]
    rows = [
        {
            "seat": name,
            "n": counts.matches,
            "won": counts.first[seat],
            **spread("won_share", wilson(counts.first[seat], counts.matches)),
        }
        for seat, name in enumerate(names)
    ]
    return _framed(rows, counts)


def length_frame(counts: MatchCounts) -> pl.DataFrame:
    """Deals a match: of all matches, of those that were won, of those that were stopped."""
    groups = {
        "all": list(ENDINGS),
        "won": [ending for ending in ENDINGS if ending != "nobody"],
        "stopped": ["nobody"],
    }
    rows = []
    for name, endings in groups.items():
        pairs = [pair for ending in endings for pair in counts.lengths[ending].items()]
        lengths = Moments.of(pairs)
        marks = quantiles(pairs, [at / 100 for at in QUANTILES])
        rows.append(
            {
                "matches": name,
                "n": lengths.n,
                **spread("share", wilson(lengths.n, counts.matches)),
                **spread("deals_mean", lengths.mean()),
                "deals_least": min((length for length, n in pairs if n), default=None),
                **{f"deals_q{at}": mark for at, mark in zip(QUANTILES, marks, strict=True)},
                "deals_most": max((length for length, n in pairs if n), default=None),
            }
        )
    return _framed([row for row in rows if row["n"]], counts)


def scores_frame(counts: MatchCounts) -> pl.DataFrame:
    """Scores after so many deals, of the matches that had as many."""
    lengths = [pair for counter in counts.lengths.values() for pair in counter.items()]
    places = [*PLACES[: counts.run.players - 1], PLACES[-1]]
    rows = []
    for number, moments in sorted(counts.after.items()):
        over = sum(n for length, n in lengths if length <= number)
        rows.append(
            {
                "deals": number,
                "n": moments[0].n,
                **spread("over_share", wilson(over, counts.matches)),
                **{
                    name: value
                    for place, scores in zip(places, moments, strict=True)
                    for name, value in spread(f"{place}_mean", scores.mean()).items()
                },
            }
        )
    return _framed(rows, counts)


def declarers_frame(counts: MatchCounts) -> pl.DataFrame:
    """Players as declarers; the last row, without a player, is all of them."""
    rows = []
    policies = dict(zip(counts.players, counts.run.plan.policies, strict=True))
    for player in (*counts.players, None):
        declared = counts.declaring.get(player, {})

        def sums(name: str, declared: dict[str, Clusters] = declared) -> Clusters:
            return declared.get(name, Clusters())

        rows.append(
            {
                "player": player,
                "policy": None if player is None else policies[player],
                "n": sums("bid").n,
                **spread("declares", counts.shares[player].share()),
                **spread("bid_mean", sums("bid").mean()),
                **spread("contract_mean", sums("contract").mean()),
                **spread("made", sums("made").share()),
                **spread("conceded", sums("conceded").share()),
                **spread("score_declarer", sums("score").mean()),
                **spread("score_other", counts.other[player].mean()),
            }
        )
    return _framed(rows, counts)


def endings_frame(counts: MatchCounts) -> pl.DataFrame:
    """How matches end: each ending that occurs, the last row all."""
    rows = []
    for ending, words in ENDINGS.items():
        lengths = Moments.of(counts.lengths[ending].items())
        if lengths.n:
            rows.append({"ending": words, **_ending(counts, lengths, counts.endings[ending])})
    lengths = sum((Moments.of(c.items()) for c in counts.lengths.values()), Moments())
    won = sum(counts.endings.values(), Moments())
    rows.append({"ending": "all", **_ending(counts, lengths, won)})
    return _framed(rows, counts)


def _ending(counts: MatchCounts, lengths: Moments, won: Moments) -> dict[str, Any]:
    return {
        "n": lengths.n,
        **spread("share", wilson(lengths.n, counts.matches)),
        **spread("deals_mean", lengths.mean()),
        **spread("points_mean", won.mean()),
    }


def rules_frame(counts: MatchCounts) -> pl.DataFrame:
    """The rules that brake, of those in force: how often they act and decide."""
    rows = [
        {"rule": BRAKES[name], **_brake(counts, brake)} for name, brake in counts.brakes.items()
    ]
    if not rows:
        rows = [{"rule": "none", **_brake(counts, Brake())}]
    return _framed(rows, counts)


def _brake(counts: MatchCounts, brake: Brake) -> dict[str, Any]:
    decides = brake.points.n > 0
    return {
        "n": counts.matches,
        "acted": brake.matches,
        **spread("acted_share", wilson(brake.matches, counts.matches)),
        **spread("times_mean", brake.times.mean()),
        **spread("points_mean", brake.points.mean()),
        "decided": brake.decided if decides else None,
        **spread("decided_share", wilson(brake.decided, counts.matches if decides else 0)),
    }


FRAMES: dict[str, Callable[[MatchCounts], pl.DataFrame]] = {
    "ranking": ranking_frame,
    "players": players_frame,
    "first_deal": first_deal_frame,
    "length": length_frame,
    "scores": scores_frame,
    "declarers": declarers_frame,
    "endings": endings_frame,
    "rules": rules_frame,
}
"""Each table's maker."""

_TEXTS = ("policy", "seat", "matches", "ending", "rule")
_WHOLE = ("player", "players", "n", "won", "points", "deals", "acted", "decided", "deals_least",
          "deals_most", *(f"deals_q{at}" for at in QUANTILES))  # fmt: skip


def _framed(rows: list[dict[str, Any]], counts: MatchCounts) -> pl.DataFrame:
    """Rows as a frame whose types do not depend on what happens to be null."""
    schema: dict[str, Any] = {
        name: pl.String if name in _TEXTS else pl.Int64 if name in _WHOLE else pl.Float64
        for name in rows[0]
    }
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(counts.run.play)
    )
