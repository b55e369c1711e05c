"""The deals of a run counted by declarer: what report ``seats`` starts from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from milsim.cards import MARRIAGE_MASKS, SUIT_NAMES, cards_of
from milsim.dealing import masks_of_deals
from milsim.deals import SEAT_NAMES
from milsim.reference.match_scoring import talon_score
from milsim.reports.part_counts import Grouping, count_by_part, moments, summed
from milsim.reports.provenance import counted, played
from milsim.reports.statistics import Moments
from milsim.reports.talon_exact import talons
from milsim.rules import Rules
from milsim.store.run import PLAYED, Run

SEATS = tuple(range(len(SEAT_NAMES)))
FOUR = 4
"""Players at a table whose dealer sits out."""

_FLAGS = ("bids", "declared", "held")
_BY_SEAT = ("bid", "tricks", "points", "marriages", "score", "off", "ahead")
_OF_DEAL = (
    "won_bid", "contract", "declarer_points", "defenders", "bidders", "declarers", "holders",
    "marriages_all", "points_all", "tricks_all", "three", "score_all", "sitter",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SeatCounts:
    """A run counted by its declarers.

    ``sums`` is by declarer and whether the deal was conceded, with ``n`` and the sums and sums of
    squares of whole numbers. Of each seat (``x_0`` … ``x_2``): ``bid``, his highest, and whether he
    ``bids``; ``tricks``, card ``points``, points of ``marriages`` and whether he ``declared`` one;
    whether he ``held`` one in his seven cards; the deal ``score``, ``off``, three times what it is
    off the mean of the three, and ``ahead``, what it is ahead of the next seat's. Of the deal:
    ``won_bid``, ``contract``, ``made`` and ``declarer_points``, the score of both ``defenders``;
    how many bid (``bidders``), declared (``declarers``) and held a marriage (``holders``); sums
    over the seats; what a ``sitter`` gets, the dealer of four. ``held`` is by the number of holders
    and conceded, with the sums of declarer points.
    """

    run: Run
    deals: int
    sums: pl.DataFrame
    held: pl.DataFrame

    @classmethod
    def of(cls, run: Run) -> SeatCounts:
        """Count the deals of a run; raises RunError for a run without deals."""
        flags, numbers = (
            tuple(f"{name}_{seat}" for name in names for seat in SEATS)
            for names in (_FLAGS, _BY_SEAT)
        )
        found = count_by_part(
            played(run),
            partial(_rows, rules=run.rules),
            {
                "sums": Grouping(
                    ("declarer", "conceded"), (*flags, "made"), (*numbers, *_OF_DEAL), few=True
                ),
                "held": Grouping(("holders", "conceded"), squares=("declarer_points",), few=True),
            },
        )
        return cls(run, counted(run, int(found["sums"]["n"].sum())), **found)

    @property
    def knows_play(self) -> bool:
        """Whether what each seat took is known: of the play that was played only."""
        return self.run.model == PLAYED

    @property
    def has_sitter(self) -> bool:
        """Whether the dealer sits out."""
        return self.run.rules.deal.players == FOUR

    def moments(
        self, name: str, *, declarers: Iterable[int] = SEATS, conceded: bool = True
    ) -> Moments:
        """The moments of a number of the deals of some declarers, with or without conceded ones."""
        which = pl.col("declarer").is_in(list(declarers))
        if not conceded:
            which &= ~pl.col("conceded")
        return moments(summed(self.sums, which), name)

    def role_moments(self, name: str, role: int, *, conceded: bool = True) -> Moments:
        """The moments of a number of seats by role: 0 declarer, 1 on his left, 2 on his right."""
        total = Moments()
        for declarer in SEATS:
            seat = (declarer + role) % len(SEATS)
            total += self.moments(f"{name}_{seat}", declarers=[declarer], conceded=conceded)
        return total


def _rows(rows: pl.LazyFrame, rules: Rules) -> pl.LazyFrame:
    """The deals of a part with what is counted of them."""
    pairs = pl.col("deal").map_batches(
        _holds_marriage,
        return_dtype=pl.Struct({f"held_{seat}": pl.Boolean for seat in SEATS}),
        is_elementwise=True,
    )
    whole = rows.with_columns(pairs=pairs).unnest("pairs")
    if rules.deal.players == FOUR:
        sitter = pl.col("deal").map_batches(
            partial(_sitters, rules=rules), return_dtype=pl.Int64, is_elementwise=True
        )
    else:
        sitter = pl.lit(0, pl.Int64)
    columns: dict[str, pl.Expr] = {}
    for seat, name in enumerate(SEAT_NAMES):
        columns |= {
            f"bid_{seat}": pl.col(f"bid_{name}").cast(pl.Int32),
            f"bids_{seat}": pl.col(f"bid_{name}") > 0,
            f"tricks_{seat}": pl.col(f"tricks_{name}").cast(pl.Int32),
            f"points_{seat}": pl.col(f"points_{name}").cast(pl.Int32),
            f"marriages_{seat}": pl.col(f"marriages_{name}").cast(pl.Int32),
            f"declared_{seat}": pl.any_horizontal(
                pl.col(f"{suit}_seat") == seat for suit in SUIT_NAMES
            ),
            f"held_{seat}": pl.col(f"held_{seat}"),
            f"score_{seat}": pl.col(f"score_{name}").cast(pl.Int32),
        }
    first = whole.select(
        "declarer", "conceded", "made", "contract", "declarer_points",
        won_bid=pl.col("bid"), sitter=sitter, **columns,
    )  # fmt: skip
    return first.with_columns(
        **{f"{name}_all": _over_seats(name) for name in ("marriages", "points", "tricks")},
        three=_over_seats("score"),
        bidders=_over_seats("bids"),
        declarers=_over_seats("declared"),
        holders=_over_seats("held"),
        **{f"ahead_{s}": pl.col(f"score_{s}") - pl.col(f"score_{(s + 1) % 3}") for s in SEATS},
    ).with_columns(
        **{f"off_{s}": len(SEATS) * pl.col(f"score_{s}") - pl.col("three") for s in SEATS},
        score_all=pl.col("three") + pl.col("sitter"),
        defenders=pl.col("three")
        - pl.coalesce(
            pl.when(pl.col("declarer") == seat).then(pl.col(f"score_{seat}")) for seat in SEATS
        ),
    )


def _over_seats(name: str) -> pl.Expr:
    return pl.sum_horizontal(pl.col(f"{name}_{seat}").cast(pl.Int32) for seat in SEATS)


def _holds_marriage(deals: pl.Series) -> pl.Series:
    """Whether each seat holds a marriage in its seven cards."""
    hands = masks_of_deals(deals.to_numpy())[: len(SEATS)]
    found = {}
    for seat, hand in enumerate(hands):
        held = np.zeros(len(deals), np.bool_)
        for pair in MARRIAGE_MASKS:
            held |= (hand & pair) == pair
        found[f"held_{seat}"] = held
    return pl.DataFrame(found).to_struct("pairs")


def _sitters(deals: pl.Series, rules: Rules) -> pl.Series:
    """What the sitting dealer scores from the talons of deals."""
    scores = {mask: talon_score(cards_of(mask), rules) for mask in talons()}
    masks = pl.Series(masks_of_deals(deals.to_numpy()).talon)
    return masks.replace_strict(scores, return_dtype=pl.Int64)


__all__ = ["SEATS", "SeatCounts"]
