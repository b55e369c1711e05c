"""An arena played by an engine, such as the workers of a cluster: the same sums as in threads.

All tables of a deal are played together, as one `milsim.store.engines.Making`: its rows hold, table
beside table, the few columns that an arena counts.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import StoppedEarlyError
from milsim.reports.arena_play import MATCH_NUMBERS
from milsim.reports.arena_seats import Group
from milsim.reports.ratios import Products
from milsim.simulation import columns
from milsim.simulation.engine import Chunk, DealPlayer, chunk_ranges
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan, digest_of
from milsim.store.engines import Engine, Failure, Made, Making, Span
from milsim.store.match_collect import MatchMaking
from milsim.store.match_schema import players_of

PART_DEALS, PART_DRIVEN = 1 << 12, 1 << 5
"""Deals a part, at all tables; fewer where some policy is not all kernels."""
PART_MATCHES = 1 << 12
COLUMNS = (
    columns.DECLARER,
    columns.CONTRACT,
    columns.DECLARER_POINTS,
    columns.MADE,
    *(columns.SCORE_BY_SEAT + seat for seat in range(3)),
)
"""What an arena counts of a deal (`milsim.simulation.columns`)."""

Tables = list[tuple[NDArray[np.uint64], NDArray[np.int16]]]


@dataclass(frozen=True, slots=True)
class TablesPlan:
    """Deals of a plan at several tables: ``seatings`` are the policies of each by seat."""

    plan: Plan
    seatings: tuple[tuple[str, str, str], ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """All that sit somewhere."""
        return tuple(sorted({name for seating in self.seatings for name in seating}))

    def tables(self) -> list[Plan]:
        """The plan of each table."""
        return [replace(self.plan, policies=seating) for seating in self.seatings]

    def digest(self) -> str:
        """The identity, as of a plan."""
        seatings = [list(seating) for seating in self.seatings]
        return digest_of({"plan": self.plan.to_dict(), "tables": seatings})


@dataclass(frozen=True, slots=True)
class TablesMaking:
    """All tables of an arena's deals, as an engine plays them."""

    plan: TablesPlan

    @property
    def folders(self) -> tuple[str, ...]:
        """One; nothing is written into it."""
        return ("tables",)

    @property
    def first(self) -> int:
        """The first deal."""
        return self.plan.plan.start

    @property
    def count(self) -> int:
        """How many deals."""
        return self.plan.plan.deals

    @property
    def part(self) -> int:
        """Deals a part."""
        is_driven = any(player.numbers is None for player in _players(self.plan))
        return PART_DRIVEN if is_driven else PART_DEALS

    def ready(self) -> int:
        """Compile what all tables need."""
        players = _players(self.plan)
        for player in players:
            player.warm_up()
        return min(player.size for player in players)

    def play(self, start: int, count: int) -> list[Chunk]:
        """The deals of a range, table by table."""
        return [player(start, count) for player in _players(self.plan)]

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
def _players(plan: TablesPlan) -> tuple[DealPlayer, ...]:
    return tuple(DealPlayer(table) for table in plan.tables())


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

    Raises :class:`~milsim.errors.StoppedEarlyError` for a range that could not be played.
    """
    seatings = tuple(_by_seat(table, policies) for table in group.tables)
    making = TablesMaking(TablesPlan(plan, seatings))
    spans = chunk_ranges(plan.start, plan.deals, making.part)
    for (frame,) in _frames(engine, making, spans, stop, told):
        tables = []
        for table in range(len(seatings)):
            values = np.zeros((columns.N_COLUMNS, frame.height), dtype=np.int16)
            for column in COLUMNS:
                values[column] = frame[f"{column}_{table}"].to_numpy()
            tables.append((frame[f"deal_{table}"].to_numpy(), values))
        yield tables


def _by_seat(table: Sequence[int], policies: Sequence[str]) -> tuple[str, str, str]:
    forehand, middlehand, rearhand = (policies[member] for member in table)
    return forehand, middlehand, rearhand


def played_matches(
    engine: Engine,
    plan: MatchPlan,
    group: Group,
    policies: Sequence[str],
    *,
    stop: Callable[[], bool],
    told: Callable[[int], None],
) -> Products:
    """The MATCH_NUMBERS of each member in the matches of a plan, played at every table."""
    found = Products.none(len(MATCH_NUMBERS) * len(group.members))
    for start, count in chunk_ranges(plan.start, plan.matches, PART_MATCHES):
        if stop():
            break
        numbers = np.zeros((len(group.members), len(MATCH_NUMBERS), count), dtype=np.int64)
        for table in group.tables:
            seated = replace(
                plan,
                start=start,
                matches=count,
                policies=tuple(policies[member] for member in table),
            )
            making = MatchMaking(seated)
            spans = chunk_ranges(start, count, making.part)
            parts = [both[1] for both in _frames(engine, making, spans, lambda: False, _nobody)]
            rows = pl.concat(parts).sort("match")
            winner = rows["winner"].to_numpy()
            for player, member in zip(players_of(len(table)), table, strict=True):
                place = group.members.index(member)
                numbers[place, 0] += winner == player
                numbers[place, 1] += rows[f"final_{player}"].to_numpy()
        found += Products.of(numbers.reshape(-1, count))
        told(count)
    return found


def _nobody(_count: int) -> None:
    """Hears, and tells nobody."""


def _frames(
    engine: Engine,
    making: Making[Any],
    spans: Iterator[Span],
    stop: Callable[[], bool],
    told: Callable[[int], None],
) -> Iterator[tuple[pl.DataFrame, ...]]:
    for outcome in engine.make(making, spans, stop, told):
        if isinstance(outcome, Failure):
            raise StoppedEarlyError(f"arena: could not play deals {outcome}")
        assert isinstance(outcome, Made)  # no worker writes: there is no folder
        yield tuple(pl.read_parquet(io.BytesIO(content)) for content in outcome.contents)


__all__ = ["TablesMaking", "TablesPlan", "played_deals", "played_matches"]
