"""The deals of a run counted by their talons: what report and chart ``talon`` start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from milsim.cards import ACE, RANK_MASKS
from milsim.dealing import masks_of_deals
from milsim.deals import SEAT_NAMES
from milsim.reports.contract import Contract, contract_grid, shown_contracts
from milsim.reports.part_counts import Grouping, count_by_part, summed
from milsim.reports.provenance import check_counted, played
from milsim.reports.talon_exact import HIGH, N_HIGH
from milsim.store.features import with_features
from milsim.store.run import PLAYED, Run

MOST_SHOWN = 100
"""Contracts up to so much above the minimum are counted."""

_ACES = RANK_MASKS[ACE]

HAND = ("marriages", "aces", "guarded_tens")
"""The class of the hand of seven, as report bidding has it."""


@dataclass(frozen=True, slots=True)
class TalonCounts:
    """A run counted by its talons; conceded deals are left out.

    All frames have whole numbers only: their keys, ``n`` deals and sums. ``talons`` by the mask of
    the talon and ``completed`` by the marriages that it completes (``new``, bit i = suit i; held in
    the 10 cards, not in the 7) have sums of declarer points, contracts made, the declarer's deal
    score and, as ``at_c``, of the deals with enough points for the contract c. ``waiting`` is by
    the marriages and half marriages of the seven cards and whether the talon completes any
    (``any_new``), ``wanted`` by how many of the aces and tens they lack and whether it brings any
    (``brings``). ``cells`` is by the class of the hand, the marriages completed, the aces in the
    talon, and declarer points.
    """

    run: Run
    deals: int
    contracts: tuple[Contract, ...]
    talons: pl.DataFrame
    completed: pl.DataFrame
    waiting: pl.DataFrame
    wanted: pl.DataFrame
    cells: pl.DataFrame

    @classmethod
    def of(cls, run: Run) -> TalonCounts:
        """Count the deals of a run; raises RunError for a run in which none was played."""
        rules = played(run).rules
        grid = contract_grid(rules, rules.auction.minimum + MOST_SHOWN)
        shown = set(shown_contracts(grid, rules))
        contracts = tuple(contract for contract in grid if contract.value in shown)
        at = tuple(f"at_{contract.value}" for contract in contracts)
        whole = ("made", *at), ("points", "score")
        found = count_by_part(
            run,
            lambda rows: _rows(rows, run, contracts),
            {
                "talons": Grouping(("talon",), *whole),
                "completed": Grouping(("new",), *whole),
                "waiting": Grouping(("marriages", "halves", "any_new"), squares=("points",)),
                "wanted": Grouping(("lacking", "brings")),
                "cells": Grouping((*HAND, "new", "talon_aces", "points")),
            },
        )
        deals = int(found["talons"]["n"].sum())
        check_counted(run, deals)
        return cls(run, deals, contracts, **found)

    @property
    def knows_scores(self) -> bool:
        """Whether deal scores go with the points: those of the play that was played only."""
        return self.run.model == PLAYED

    def everything(self) -> Mapping[str, int]:
        """The sums over all deals."""
        return summed(self.talons)


def _rows(rows: pl.LazyFrame, run: Run, contracts: tuple[Contract, ...]) -> pl.LazyFrame:
    """The played deals of a part with what is counted of them."""
    points = pl.col("declarer_points")
    new = pl.col("held10_marriage_mask") & ~pl.col("hand_marriage_mask")
    talon = pl.col("deal").map_batches(_talons, return_dtype=pl.Int32, is_elementwise=True)
    featured = with_features(rows.filter(~pl.col("conceded")), run.rules)
    return featured.select(
        talon=talon,
        new=new,
        any_new=new != 0,
        marriages=pl.col("hand_marriages"),
        halves=pl.col("hand_half_marriages"),
        aces=pl.col("hand_aces"),
        guarded_tens=pl.col("hand_guarded_tens"),
        lacking=N_HIGH - pl.col("hand_aces") - pl.col("hand_tens"),
        points=points,
        made=pl.col("made"),
        score=pl.coalesce(
            pl.when(pl.col("declarer") == seat).then(pl.col(f"score_{name}"))
            for seat, name in enumerate(SEAT_NAMES)
        ),
        **{f"at_{contract.value}": points >= contract.needs for contract in contracts},
    ).with_columns(
        brings=(pl.col("talon") & HIGH) != 0,
        talon_aces=(pl.col("talon") & _ACES).bitwise_count_ones(),
    )


def _talons(deals: pl.Series) -> pl.Series:
    """The talons of deals as masks."""
    return pl.Series(masks_of_deals(deals.to_numpy()).talon.astype(np.int32))
