"""The rows of the int16 array that the deal kernel fills: one name, one place.

The kernel writes ``out[BID, i]``; the store names the columns on disk. Deal index and deal number
are wider than 16 bits and stand beside this array.

A conceded deal was not played: no gifts, no tricks, points or marriages; its contract is the bid.
"""

from __future__ import annotations

NO_SEAT = 3
"""Value of a seat column where no seat is meant."""
NO_CARD = 24
"""Value of a gift column where no card was given: the deal was conceded."""

COLUMNS = (
    "redeals",
    "declarer",
    "bid",
    "contract",
    "bid_forehand",
    "bid_middlehand",
    "bid_rearhand",
    "gift_left",
    "gift_right",
    "points_forehand",
    "points_middlehand",
    "points_rearhand",
    "marriages_forehand",
    "marriages_middlehand",
    "marriages_rearhand",
    "tricks_forehand",
    "tricks_middlehand",
    "tricks_rearhand",
    "spades_seat",
    "clubs_seat",
    "diamonds_seat",
    "hearts_seat",
    "spades_trick",
    "clubs_trick",
    "diamonds_trick",
    "hearts_trick",
    "declarer_points",
    "made",
    "conceded",
    "dark",
    "score_forehand",
    "score_middlehand",
    "score_rearhand",
)

REDEALS = COLUMNS.index("redeals")
DECLARER = COLUMNS.index("declarer")
BID = COLUMNS.index("bid")
CONTRACT = COLUMNS.index("contract")
BID_BY_SEAT = COLUMNS.index("bid_forehand")
GIFT_LEFT = COLUMNS.index("gift_left")
GIFT_RIGHT = COLUMNS.index("gift_right")
POINTS_BY_SEAT = COLUMNS.index("points_forehand")
MARRIAGES_BY_SEAT = COLUMNS.index("marriages_forehand")
TRICKS_BY_SEAT = COLUMNS.index("tricks_forehand")
DECLARED_SEAT = COLUMNS.index("spades_seat")
DECLARED_TRICK = COLUMNS.index("spades_trick")
DECLARER_POINTS = COLUMNS.index("declarer_points")
MADE = COLUMNS.index("made")
CONCEDED = COLUMNS.index("conceded")
DARK = COLUMNS.index("dark")
SCORE_BY_SEAT = COLUMNS.index("score_forehand")
N_COLUMNS = len(COLUMNS)
