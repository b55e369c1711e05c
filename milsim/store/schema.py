"""The columns of a run: one row a deal (DESIGN, "A run").

A row holds what happened, not what the cards were: those follow from the deal number. Points are
card points, scores are match points, cards are card indices, seats are 0 forehand, 1 middlehand,
2 rearhand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from milsim.cards import SUIT_NAMES
from milsim.deals import N_DEALS, SEAT_NAMES
from milsim.simulation.columns import COLUMNS, NO_CARD, NO_SEAT

SCHEMA_VERSION = 3
"""Version of the columns and of the manifest; a reader refuses a newer one."""


@dataclass(frozen=True, slots=True)
class ColumnNote:
    """A column's type on disk, its meaning, and what its values lie between.

    Kernels take values as they stand: one that no run can hold must not get there
    (:func:`milsim.store.parts.scan`). None is no bound but the type's.
    """

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
    least: int | None = None
    most: int | None = None


_SMALL = pl.UInt8
_POINTS = pl.Int16
_MOST_POINTS = 9_999
"""More than any rules can give: `milsim.rules.contradictions.most_points_of_a_deal`."""
_LAST_SEAT = len(SEAT_NAMES) - 1
_TRICKS = 8

NOTES: tuple[ColumnNote, ...] = (
    ColumnNote("index", pl.UInt64, "deal index i: the deal is a pure function of (seed, i)"),
    ColumnNote(
        "deal",
        pl.UInt64,
        "deal number (RULES.md §1) of the deal that was played",
        0,
        N_DEALS - 1,
    ),
    ColumnNote("redeals", pl.UInt16, "deals thrown in before this one by a redeal right"),
    ColumnNote("declarer", _SMALL, "seat of the declarer", 0, _LAST_SEAT),
    ColumnNote("bid", _POINTS, "the last bid, which made the declarer", 0, _MOST_POINTS),
    ColumnNote(
        "contract",
        _POINTS,
        "the contract named after the talon; the bid if conceded",
        0,
        _MOST_POINTS,
    ),
    *(
        ColumnNote(f"bid_{seat}", _POINTS, f"highest bid of {seat}, 0 = none", 0, _MOST_POINTS)
        for seat in SEAT_NAMES
    ),
    ColumnNote(
        "gift_left", _SMALL, "card given to the defender on the declarer's left", 0, NO_CARD
    ),
    ColumnNote(
        "gift_right", _SMALL, "card given to the defender on the declarer's right", 0, NO_CARD
    ),
    *(
        ColumnNote(
            f"points_{seat}",
            _POINTS,
            f"card points taken by {seat}, with a last-trick bonus",
            0,
            _MOST_POINTS,
        )
        for seat in SEAT_NAMES
    ),
    *(
        ColumnNote(
            f"marriages_{seat}", _POINTS, f"marriage points declared by {seat}", 0, _MOST_POINTS
        )
        for seat in SEAT_NAMES
    ),
    *(
        ColumnNote(f"tricks_{seat}", _SMALL, f"tricks taken by {seat}", 0, _TRICKS)
        for seat in SEAT_NAMES
    ),
    *(
        ColumnNote(
            f"{suit}_seat",
            _SMALL,
            f"who declared the marriage of {suit}; {NO_SEAT} = nobody",
            0,
            NO_SEAT,
        )
        for suit in SUIT_NAMES
    ),
    *(
        ColumnNote(
            f"{suit}_trick",
            _SMALL,
            f"trick in which it was declared; 0 = not declared ({suit})",
            0,
            _TRICKS,
        )
        for suit in SUIT_NAMES
    ),
    ColumnNote(
        "declarer_points", _POINTS, "card points + marriages of the declarer", 0, _MOST_POINTS
    ),
    ColumnNote("made", pl.Boolean, "declarer points reached the contract, as the rules test it"),
    ColumnNote(
        "conceded", pl.Boolean, "the declarer gave the deal up: no gifts, nothing was played"
    ),
    ColumnNote(
        "dark", pl.Boolean, "the contract was bid in the dark: the declarer's score is double"
    ),
    *(ColumnNote(f"score_{seat}", _POINTS, f"deal score of {seat}") for seat in SEAT_NAMES),
)

DD_NOTE = ColumnNote(
    "dd_points",
    _POINTS,
    "double-dummy declarer points: with the gifts given, or with the best exchange (plan, dd)",
    0,
    _MOST_POINTS,
)
NOTES_WITH_DD = (*NOTES, DD_NOTE)


def schema_of(notes: Iterable[ColumnNote]) -> pl.Schema:
    """The columns with their types."""
    return pl.Schema({note.name: note.dtype for note in notes})


SCHEMA = schema_of(NOTES)
SCHEMA_WITH_DD = schema_of(NOTES_WITH_DD)

if tuple(SCHEMA) != ("index", "deal", *COLUMNS):  # pragma: no cover - a mistake in this file
    raise AssertionError("the columns of the kernel and of the store differ")
