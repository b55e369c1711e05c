"""The columns of a run of matches: a row a deal, and a row a match.

Players are numbered from 1, clockwise round the table, and keep their numbers for the whole match;
0 is nobody. Seats are those of the deal, as in :mod:`milsim.store.schema`. How a match is scored,
and what the bits of an event mean, is said in docs/match.md.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from milsim.simulation.match_columns import DEALS_PER_MATCH, NOT_ON_BARREL
from milsim.store.schema import NOTES, ColumnNote, schema_of

NOBODY = 0
"""Value of a player's column where no player is meant."""

_SMALL = pl.UInt8
_SCORE = pl.Int32
_COUNT = pl.UInt32

COUNTED = (
    ("mounts", "times that somebody mounted the barrel"),
    ("falls", "times that somebody fell from the barrel"),
    ("bolt_penalties", "times that bolts were paid for"),
    ("dumps", "times that the dump truck set a score to 0"),
    ("locked_deals", "deals in which a deal score did not count for somebody"),
    ("concessions", "deals that were conceded"),
    ("dark_deals", "deals whose contract was bid in the dark"),
    ("redeals", "deals thrown in, by a right or because all passed"),
)
"""What is counted over a match, as the kernel counts it."""


def players_of(players: int) -> range:
    """The numbers of the players at a table: 1 … players.

    >>> list(players_of(3))
    [1, 2, 3]
    """
    return range(1, players + 1)


@cache
def deal_notes(players: int) -> tuple[ColumnNote, ...]:
    """The columns of the deals: place in the match, the columns of a deal, then by player."""
    numbers = players_of(players)
    sitter = ColumnNote("score_sitter", pl.Int16, "deal score of the dealer, who sits out")
    return (
        ColumnNote("match", pl.UInt64, "match index m: the match is a pure function of (seed, m)"),
        ColumnNote("number", _COUNT, "which deal of its match, from 1; new deals do not count", 1),
        ColumnNote(
            "dealer", _SMALL, "player who deals; forehand is the player after him", 1, players
        ),
        *NOTES,
        *([sitter] if players == 4 else []),
        *(ColumnNote(f"total_{i}", _SCORE, f"score of player {i} after the deal") for i in numbers),
        *(
            ColumnNote(f"events_{i}", pl.UInt16, f"what happened to player {i}, bits to be added")
            for i in numbers
        ),
        *(
            ColumnNote(
                f"barrel_{i}",
                pl.Int8,
                f"deals that player {i} has spent on the barrel, {NOT_ON_BARREL}: not on it",
            )
            for i in numbers
        ),
    )


@cache
def match_notes(players: int) -> tuple[ColumnNote, ...]:
    """The columns of the matches: who won, the final scores, and what was counted on the way."""
    return (
        ColumnNote("match", pl.UInt64, "match index m: the match is a pure function of (seed, m)"),
        ColumnNote("first_dealer", _SMALL, "player who dealt first", 1, players),
        ColumnNote("deals", _COUNT, "deals that counted", 1, DEALS_PER_MATCH),
        ColumnNote(
            "winner",
            _SMALL,
            f"player who won; {NOBODY} = nobody after match.max_deals deals",
            NOBODY,
            players,
        ),
        *(
            ColumnNote(f"final_{i}", _SCORE, f"final score of player {i}")
            for i in players_of(players)
        ),
        *(ColumnNote(name, _COUNT, meaning) for name, meaning in COUNTED),
        ColumnNote("from_barrel", pl.Boolean, "the winner was on the barrel before the last deal"),
        ColumnNote("by_jump", pl.Boolean, "the winner reached the target past the barrel"),
    )


@cache
def deal_schema(players: int) -> pl.Schema:
    """The columns of the deals of matches between so many players, with their types."""
    return schema_of(deal_notes(players))


@cache
def match_schema(players: int) -> pl.Schema:
    """The columns of the matches between so many players, with their types.

    >>> [name for name in match_schema(3) if name.startswith("final")]
    ['final_1', 'final_2', 'final_3']
    """
    return schema_of(match_notes(players))
