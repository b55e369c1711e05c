"""The acts of a deal as small frozen records: the log of a game, enough to play it again.

Each record carries the seat that acts (0 forehand, 1 middlehand, 2 rearhand), so that a card read
back from a log never lands at a wrong seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class RedealRequest:
    """A right to a new deal is used; the deal ends without scores."""

    seat: int


@dataclass(frozen=True, slots=True)
class RedealWaiver:
    """A right to a new deal is not used."""

    seat: int


@dataclass(frozen=True, slots=True)
class Bid:
    """A bid in points; a dark bid is one made before looking at the cards."""

    seat: int
    amount: int
    dark: bool = False


@dataclass(frozen=True, slots=True)
class Pass:
    """The seat leaves the auction (or, as its last one left, keeps its bid)."""

    seat: int


@dataclass(frozen=True, slots=True)
class TalonTaken:
    """The declarer takes the three cards of the talon into the hand."""

    seat: int


@dataclass(frozen=True, slots=True)
class Gift:
    """The declarer (seat) gives a card to a defender (receiver)."""

    seat: int
    receiver: int
    card: int


@dataclass(frozen=True, slots=True)
class Contract:
    """The declarer says for how many points the deal is played."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Concession:
    """The declarer gives the deal up before it is played."""

    seat: int


@dataclass(frozen=True, slots=True)
class Play:
    """A card is played; declares says whether leading it declares a marriage (or four aces)."""

    seat: int
    card: int
    declares: bool = False


Operation: TypeAlias = (
    RedealRequest | RedealWaiver | Bid | Pass | TalonTaken | Gift | Contract | Concession | Play
)
