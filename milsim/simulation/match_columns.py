"""The rows of the int32 arrays that the match kernel fills: one name, one place.

Beside the columns of a deal (:mod:`milsim.simulation.columns`, whose scores are those of the deal
alone, doubled where it counts double) a match has one row for each deal that counted, and one row
for the match as a whole. Players are numbered 0–2 (or 3) clockwise for the whole match; where three
play, the columns of player 3 hold 0, and his barrel NOT_ON_BARREL.

The match of a row, its deal index and its deal number are wider than 32 bits and stand beside these
arrays: deal *d* (from 1) of match *m* has the deal index ``m * DEALS_PER_MATCH + d - 1``.
"""

from __future__ import annotations

from milsim.rules.fields import field_kinds

MAX_PLAYERS = 4

DEALS_PER_MATCH = 100_000
"""Deal indices that a match has to itself: as many as the greatest ``match.max_deals``."""

NOT_ON_BARREL = -1
"""Value of a barrel column for a player who is not on it."""

NO_WINNER = -1
"""Value of the winner's column for a match that ended at ``match.max_deals``."""

MATCH_DEAL_COLUMNS = (
    "number",  # of the deal in its match, from 1
    "dealer",  # player
    "score_sitter",  # deal score of the player who sits out; 0 if there is none
    "total_0",  # score in the match after the deal, by player
    "total_1",
    "total_2",
    "total_3",
    "events_0",  # what happened to each player, bits of docs/match.md
    "events_1",
    "events_2",
    "events_3",
    "barrel_0",  # after the deal: deals spent on the barrel, or NOT_ON_BARREL
    "barrel_1",
    "barrel_2",
    "barrel_3",
)

NUMBER = MATCH_DEAL_COLUMNS.index("number")
DEALER = MATCH_DEAL_COLUMNS.index("dealer")
SCORE_SITTER = MATCH_DEAL_COLUMNS.index("score_sitter")
TOTAL_BY_PLAYER = MATCH_DEAL_COLUMNS.index("total_0")
EVENTS_BY_PLAYER = MATCH_DEAL_COLUMNS.index("events_0")
BARREL_BY_PLAYER = MATCH_DEAL_COLUMNS.index("barrel_0")
N_MATCH_DEAL_COLUMNS = len(MATCH_DEAL_COLUMNS)

MATCH_COLUMNS = (
    "first_dealer",  # player who dealt first
    "deals",  # deals that counted
    "winner",  # player, or NO_WINNER
    "final_0",  # final score, by player
    "final_1",
    "final_2",
    "final_3",
    "mounts",  # times that somebody mounted the barrel
    "falls",  # times that somebody fell from it
    "bolt_penalties",  # times that bolts were paid for
    "dumps",  # times that the dump truck set a score to 0
    "locked_deals",  # deals in which a deal score did not count for somebody
    "concessions",  # deals that were conceded
    "dark_deals",  # deals whose contract was dark
    "from_barrel",  # 1: the winner was on the barrel before the last deal
    "by_jump",  # 1: the winner reached the target past the barrel
    "redeals",  # deals thrown in
)

FIRST_DEALER = MATCH_COLUMNS.index("first_dealer")
DEALS = MATCH_COLUMNS.index("deals")
WINNER = MATCH_COLUMNS.index("winner")
FINAL_BY_PLAYER = MATCH_COLUMNS.index("final_0")
MOUNTS = MATCH_COLUMNS.index("mounts")
FALLS = MATCH_COLUMNS.index("falls")
BOLT_PENALTIES = MATCH_COLUMNS.index("bolt_penalties")
DUMPS = MATCH_COLUMNS.index("dumps")
LOCKED_DEALS = MATCH_COLUMNS.index("locked_deals")
CONCESSIONS = MATCH_COLUMNS.index("concessions")
DARK_DEALS = MATCH_COLUMNS.index("dark_deals")
FROM_BARREL = MATCH_COLUMNS.index("from_barrel")
BY_JUMP = MATCH_COLUMNS.index("by_jump")
REDEALS = MATCH_COLUMNS.index("redeals")
N_MATCH_COLUMNS = len(MATCH_COLUMNS)

_GREATEST = field_kinds()["match.max_deals"].bounds
if _GREATEST is None or _GREATEST.high != DEALS_PER_MATCH:  # pragma: no cover - a mistake here
    raise AssertionError("two matches would share deal indices")
