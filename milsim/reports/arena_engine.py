"""An arena played by an engine, such as the workers of a cluster: the same sums as in threads.

All tables of a deal, or of a match, are played together, as one `milsim.store.engines.Making`: its
rows hold, table beside table, the few columns that an arena counts. So all deals of a group go to
the engine at once, and so do all matches.

A range that cannot be played ends the contest without a verdict: where the fault hangs on the cards
or on who plays them, what is left without them would not be fair.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import ExitCode, MilsimError
from milsim.reports.arena_play import MATCH_NUMBERS
from milsim.reports.arena_seats import Group
from milsim.reports.ratios import Products
from milsim.simulation import columns, match_columns
from milsim.simulation.engine import Chunk, DealPlayer
from milsim.simulation.match_engine import MatchChunk, MatchPlayer
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan, digest_of
from milsim.store.engines import Engine, Failure, Made, Making
from milsim.store.writing import part_spans

PART_DEALS, PART_DRIVEN = 1 << 12, 1 << 5
"""Deals a part, at all tables; fewer where some policy is not all kernels."""
PART_MATCHES, PART_DRIVEN_MATCHES = 1 << 9, 1 << 1
"""The same of matches."""
COLUMNS = (
    columns.DECLARER,
    columns.CONTRACT,
    columns.DECLARER_POINTS,
    columns.MADE,
    *(columns.SCORE_BY_SEAT + seat for seat in range(3)),
)
"""What an arena counts of a deal (`milsim.simulation.columns`)."""

Tables = list[tuple[NDArray[np.uint64], NDArray[np.int16]]]
P = TypeVar("P", Plan, MatchPlan)


class NotPlayedError(MilsimError):
    """A range that could not be played: a fault of the code or of who plays, not of the input."""

    exit_code = ExitCode.INTERNAL


@dataclass(frozen=True, slots=True)
class TablesPlan(Generic[P]):
    """Deals or matches of a plan at several tables: ``seatings`` are the policies of each."""

    plan: P
    seatings: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, plan: P, group: Group, policies: Sequence[str]) -> TablesPlan[P]:
        """The tables of a group; ``policies`` by number of competitor."""
        return cls(plan, tuple(tuple(policies[m] for m in table) for table in group.tables))

    @property
    def policies(self) -> tuple[str, ...]:
        """All that sit somewhere."""
        return tuple(sorted({name for seating in self.seatings for name in seating}))

    def digest(self) -> str:
        """The identity, as of a plan."""
        seatings = [list(seating) for seating in self.seatings]
        return digest_of({"plan": self.plan.to_dict(), "tables": seatings})


class _AtTables:
    """What deals and matches at all tables of an arena have in common, as an engine plays them."""

    __slots__ = ()
    plan: TablesPlan[Any]

    @property
    def players(self) -> tuple[Any, ...]:
        """Who plays a range at each table."""
        raise NotImplementedError

    @property
    def folders(self) -> tuple[str, ...]:
        """One; nothing is written into it."""
        return ("tables",)

    @property
    def first(self) -> int:
        """The first index."""
        first: int = self.plan.plan.start
        return first

    @property
    def is_driven(self) -> bool:
        """Whether some policy is not all kernels."""
        return any(player.numbers is None for player in self.players)

    def ready(self) -> int:
        """Compile what all tables need."""
        for player in self.players:
            player.warm_up()
        sizes: list[int] = [player.size for player in self.players]
        return min(sizes)

    def play(self, start: int, count: int) -> list[Any]:
        """A range, table by table."""
        return [player(start, count) for player in self.players]


@dataclass(frozen=True, slots=True)
class TablesMaking(_AtTables):
    """All tables of an arena's deals, as an engine plays them."""

    plan: TablesPlan[Plan]

    @property
    def players(self) -> tuple[DealPlayer, ...]:
        """Who plays at each table."""
        return _players(self.plan)

    @property
    def count(self) -> int:
        """How many deals."""
        return self.plan.plan.deals

    @property
    def part(self) -> int:
        """Deals a part."""
        return PART_DRIVEN if self.is_driven else PART_DEALS

    def frames(self, chunks: Sequence[list[Chunk]]) -> tuple[pl.DataFrame, ...]:
        """A row a deal, with all its tables beside each other."""
        found: dict[str, NDArray[Any]] = {}
        for table in range(len(self.plan.seatings)):
            mine = [chunk[table] for chunk in chunks]
            found[f"deal_{table}"] = np.concatenate([chunk.deals for chunk in mine])
            for column in COLUMNS:
                values = [chunk.values[column] for chunk in mine]
                found[f"{column}_{table}"] = np.concatenate(values)
        return (pl.DataFrame(found),)


@lru_cache(maxsize=8)
def _players(plan: TablesPlan[Plan]) -> tuple[DealPlayer, ...]:
    found = []
    for forehand, middlehand, rearhand in plan.seatings:
        by_seat = forehand, middlehand, rearhand
        found.append(DealPlayer(replace(plan.plan, policies=by_seat)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MatchTablesMaking(_AtTables):
    """All tables of an arena's matches, as an engine plays them."""

    plan: TablesPlan[MatchPlan]

    @property
    def players(self) -> tuple[MatchPlayer, ...]:
        """Who plays at each table."""
        return _match_players(self.plan)

    @property
    def count(self) -> int:
        """How many matches."""
        return self.plan.plan.matches

    @property
    def part(self) -> int:
        """Matches a part."""
        return PART_DRIVEN_MATCHES if self.is_driven else PART_MATCHES

    def frames(self, chunks: Sequence[list[MatchChunk]]) -> tuple[pl.DataFrame, ...]:
        """A row a match, with all its tables beside each other; winners as kernels count them."""
        found: dict[str, NDArray[Any]] = {}
        for table, seating in enumerate(self.plan.seatings):
            results = np.concatenate([chunk[table].results for chunk in chunks], axis=1)
            found[f"winner_{table}"] = results[match_columns.WINNER]
            for player in range(len(seating)):
                final = results[match_columns.FINAL_BY_PLAYER + player]
                found[f"final_{player}_{table}"] = final
        return (pl.DataFrame(found),)


@lru_cache(maxsize=8)
def _match_players(plan: TablesPlan[MatchPlan]) -> tuple[MatchPlayer, ...]:
    return tuple(MatchPlayer(replace(plan.plan, policies=seating)) for seating in plan.seatings)


def played_deals(
    engine: Engine,
    plan: Plan,
    group: Group,
    policies: Sequence[str],
    *,
    stop: Callable[[], bool],
    told: Callable[[int], None],
) -> Iterator[Tables]:
    """The deals of a plan at the tables of a group: numbers and values, part by part, in order.

    Raises `NotPlayedError` for a range that could not be played.
    """
    making = TablesMaking(TablesPlan.of(plan, group, policies))
    for frame in _frames(engine, making, stop, told, "deals"):
        tables = []
        for table in range(len(group.tables)):
            values = np.zeros((columns.N_COLUMNS, frame.height), dtype=np.int16)
            for column in COLUMNS:
                values[column] = frame[f"{column}_{table}"].to_numpy()
            tables.append((frame[f"deal_{table}"].to_numpy(), values))
        yield tables


def played_matches(
    engine: Engine,
    plan: MatchPlan,
    group: Group,
    policies: Sequence[str],
    *,
    stop: Callable[[], bool],
    told: Callable[[int], None],
) -> Products:
    """The MATCH_NUMBERS of each member in the matches of a plan, played at every table.

    Raises `NotPlayedError` for a range that could not be played.
    """
    found = Products.none(len(MATCH_NUMBERS) * len(group.members))
    making = MatchTablesMaking(TablesPlan.of(plan, group, policies))
    for frame in _frames(engine, making, stop, told, "matches"):
        shape = (len(group.members), len(MATCH_NUMBERS), frame.height)
        numbers = np.zeros(shape, dtype=np.int64)
        for table, seated in enumerate(group.tables):
            winner = frame[f"winner_{table}"].to_numpy()
            for player, member in enumerate(seated):
                place = group.members.index(member)
                numbers[place, 0] += winner == player
                numbers[place, 1] += frame[f"final_{player}_{table}"].to_numpy()
        found += Products.of(numbers.reshape(-1, frame.height))
    return found


def _frames(
    engine: Engine,
    making: Making[Any],
    stop: Callable[[], bool],
    told: Callable[[int], None],
    what: str,
) -> Iterator[pl.DataFrame]:
    for outcome in engine.make(making, part_spans(making), stop, told):
        if isinstance(outcome, Failure):
            raise NotPlayedError(f"arena: could not play {what} {outcome}; no verdict without them")
        assert isinstance(outcome, Made)  # no worker writes: there is no folder
        (content,) = outcome.contents
        yield pl.read_parquet(io.BytesIO(content))


__all__ = [
    "MatchTablesMaking",
    "NotPlayedError",
    "TablesMaking",
    "TablesPlan",
    "played_deals",
    "played_matches",
]
