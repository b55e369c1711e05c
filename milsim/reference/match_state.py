"""What is remembered from deal to deal of a match: scores, barrels, bolts, who deals.

Sources: seeds 000 and 002 step 10, seed 001 Y SGORIO; RULES.md §2 match; docs/match.md, which fixes
what the rule texts leave open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntFlag
from pathlib import Path
from typing import Any, TypeVar

from milsim.cards import checked_int
from milsim.errors import DealError, NotationError, nearest, quote
from milsim.rules import Rules, load

T = TypeVar("T")


class Event(IntFlag):
    """What happened to a player in the last deal, as bits that may be added (docs/match.md)."""

    LOCKED = 1
    """A deal score other than 0 did not count (step 3)."""
    CAPPED = 2
    """Set back by ``defender_cap``."""
    MOUNTED = 4
    """Mounted the barrel."""
    FELL = 8
    """Left the barrel other than by winning."""
    BOLT = 16
    """Got a bolt, with or without its penalty."""
    BOLT_PENALTY = 32
    """Paid ``bolts_penalty``."""
    DUMPED = 64
    """The dump truck set the score to 0."""
    RESET = 128
    """The last of ``barrel_falls`` set the score to 0."""
    JUMPED = 256
    """Stands at the target or above without the barrel, by ``jump_over = wins``."""
    WON = 512
    """The winner of the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchState:
    """Where a match stands between two deals.

    All tuples are by player; players are numbered clockwise round the table and keep their numbers.
    ``scores`` in points; ``on_barrel`` and for how many ``barrel_deals`` that counted; ``falls``,
    ``bolts`` and ``concessions``: how many so far (falls and bolts since they last started again);
    ``events``: what the last deal did to each. ``dealer`` deals the next deal; ``deals`` is how
    many counted; ``winner`` is a player, None while nobody has won.

    Raises DealError naming the field when a value is of another type or out of its range; what
    depends on a rule set is looked at by `check`.

    >>> state = MatchState.start("mil")
    >>> state.dealer, state.forehand, state.active, state.sitter
    (2, 0, (0, 1, 2), None)
    """

    scores: tuple[int, ...]
    on_barrel: tuple[bool, ...]
    barrel_deals: tuple[int, ...]
    falls: tuple[int, ...]
    bolts: tuple[int, ...]
    concessions: tuple[int, ...]
    events: tuple[Event, ...]
    dealer: int
    deals: int = 0
    winner: int | None = None

    def __post_init__(self) -> None:
        """Check what can be checked without rules; make tuples of plain integers."""
        size = len(listed(self.scores, "scores"))
        if size not in (3, 4):
            raise DealError(f"scores must be of 3 or 4 players, got {size}")

        def tidy(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        tidy("scores", by_player(self.scores, "scores", size, None))
        for name in ("barrel_deals", "falls", "bolts", "concessions"):
            tidy(name, by_player(getattr(self, name), name, size))
        events = by_player(self.events, "events", size)
        for number in events:
            if number >= 2 * Event.WON:
                raise DealError(f"events must be sums of the bits 1 to 512, got {quote(number)}")
        tidy("events", tuple(Event(number) for number in events))
        flags = listed(self.on_barrel, "on_barrel")
        if len(flags) != size or any(not isinstance(flag, bool) for flag in flags):
            raise DealError(
                f"on_barrel must be {size} times true or false, got {quote(self.on_barrel)}"
            )
        tidy("on_barrel", tuple(flags))
        tidy("dealer", checked_player(self.dealer, "dealer", size))
        tidy("deals", checked_int(self.deals, "deals"))
        if self.deals < 0:
            raise DealError(f"deals must be 0 or more, got {quote(self.deals)}")
        if self.winner is not None:
            tidy("winner", checked_player(self.winner, "winner", size))

    @classmethod
    def start(cls, rules: str | Path | Rules = "mil", dealer: int | None = None) -> MatchState:
        """The start of a match; without ``dealer`` the last player deals, player 0 is forehand.

        >>> MatchState.start("mil").scores
        (0, 0, 0)
        """
        return cls.of_scores(rules, (0,) * load(rules).deal.players, dealer)

    @classmethod
    def of_scores(
        cls, rules: str | Path | Rules, scores: Sequence[int], dealer: int | None = None
    ) -> MatchState:
        """These scores and nothing else remembered: no deal counted, no bolts, no falls.

        Who stands at exactly the barrel has just mounted it. Raises DealError for scores that no
        match under these rules can stand at.

        >>> MatchState.of_scores("mil", (790, 20, -120)).scores
        (790, 20, -120)
        """
        chosen = load(rules)
        size = chosen.deal.players
        points = by_player(scores, "scores", size, None)
        none = (0,) * size
        state = cls(
            scores=points,
            on_barrel=tuple(score == chosen.match.barrel for score in points),
            barrel_deals=none,
            falls=none,
            bolts=none,
            concessions=none,
            events=(Event(0),) * size,
            dealer=size - 1 if dealer is None else dealer,
        )
        state.check(chosen)
        return state

    # -- who sits where --------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """How many players there are, 3 or 4."""
        return len(self.scores)

    @property
    def active(self) -> tuple[int, int, int]:
        """The players of the next deal by seat: forehand, middlehand, rearhand."""
        return self.player_at(0), self.player_at(1), self.player_at(2)

    @property
    def forehand(self) -> int:
        """The player after the dealer."""
        return self.player_at(0)

    @property
    def sitter(self) -> int | None:
        """Of four players the dealer, who sits out; of three nobody."""
        return self.dealer if self.players == 4 else None

    def player_at(self, seat: int) -> int:
        """The player at a seat of the next deal; raises DealError unless it is 0 to 2.

        >>> MatchState.start("mil", dealer=0).player_at(2)
        0
        """
        number = checked_int(seat, "seat")
        if not 0 <= number < 3:
            raise DealError(f"seat must be 0 to 2, got {quote(seat)}")
        return (self.dealer + 1 + number) % self.players

    def seat_of(self, player: int) -> int | None:
        """The seat of a player in the next deal, None for who sits out; raises DealError.

        >>> MatchState.start("mil", dealer=0).seat_of(1)
        0
        """
        number = checked_player(player, "player", self.players)
        return None if number == self.sitter else (number - self.dealer - 1) % self.players

    def by_seat(self, values: Sequence[T]) -> tuple[T, T, T]:
        """Values by player as values by seat of the next deal; the sitter's is left out.

        >>> MatchState.start("mil", dealer=0).by_seat("abc")
        ('b', 'c', 'a')
        """
        first, second, third = self.active
        return values[first], values[second], values[third]

    def is_golden(self, rules: str | Path | Rules = "mil") -> bool:
        """Whether the next deal is golden: one of the first, one a player (``match.golden``).

        >>> MatchState.start("mil").is_golden("mil")
        False
        """
        return load(rules).match.golden != "off" and self.deals < self.players

    def is_over(self, rules: str | Path | Rules = "mil") -> bool:
        """Whether somebody has won or ``match.max_deals`` deals have counted.

        >>> MatchState.start("mil").is_over("mil")
        False
        """
        return self.winner is not None or self.deals >= load(rules).match.max_deals

    # -- what fits a rule set --------------------------------------------------------------------

    def check(self, rules: str | Path | Rules = "mil") -> None:
        """Raise DealError, naming field and player, when no match under these rules stands so.

        >>> MatchState.of_scores("mil", (1000, 0, 0))
        Traceback (most recent call last):
        ...
        milsim.errors.DealError: scores: player 0 has 1000 and so has won at 1000; give the winner
        """
        chosen = load(rules)
        how, talon, players = chosen.match, chosen.talon, chosen.deal.players
        if self.players != players:
            raise DealError(
                f"scores must be of {players} players (deal.players), got {self.scores}"
            )
        for player in range(players):
            self._check_barrel(player, chosen)
            most = 0 if how.bolts == "off" else how.bolts_limit - 1
            if self.bolts[player] > most:
                raise DealError(
                    f"bolts: player {player} has {self.bolts[player]}, at most {most} are possible"
                )
            most = 0 if talon.concede == "off" else talon.concede_limit
            is_limited = talon.concede == "off" or talon.concede_limit > 0
            if is_limited and self.concessions[player] > most:
                raise DealError(
                    f"concessions: player {player} has {self.concessions[player]}, "
                    f"at most {most} are possible"
                )
        self._check_winner(how.target)

    def _check_barrel(self, player: int, rules: Rules) -> None:
        how, score = rules.match, self.scores[player]
        on_barrel, deals, falls = (
            self.on_barrel[player],
            self.barrel_deals[player],
            self.falls[player],
        )
        if how.barrel == "off":
            if on_barrel or deals or falls:
                raise DealError(
                    f"on_barrel: player {player} is or was on it, but match.barrel is off"
                )
            return
        if on_barrel and score != how.barrel:
            raise DealError(
                f"on_barrel: player {player} is on the barrel with {score}, not {how.barrel} points"
            )
        has_jumped = how.jump_over == "wins" and score >= how.target
        if score > how.barrel and not has_jumped and player != self.winner:
            raise DealError(
                f"scores: player {player} has {score}, above the barrel; set to {how.barrel}"
            )
        most = how.barrel_deals - 1 if on_barrel else 0
        if deals > most:
            raise DealError(
                f"barrel_deals: player {player} has {deals}, at most {most} are possible"
            )
        if how.barrel_falls and falls >= how.barrel_falls:
            raise DealError(
                f"falls: player {player} has {falls}; at {how.barrel_falls} they start again"
            )

    def _check_winner(self, target: int) -> None:
        if self.winner is not None:
            if self.scores[self.winner] < target:
                raise DealError(
                    f"winner: player {self.winner} has {self.scores[self.winner]}, "
                    f"{target} are needed"
                )
            return
        highest = max(self.scores)
        if highest >= target and self.scores.count(highest) == 1:
            raise DealError(
                f"scores: player {self.scores.index(highest)} has {highest} and so has won at "
                f"{target}; give the winner"
            )

    # -- as JSON ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The state as a JSON object: lists by player, events as numbers.

        >>> MatchState.start("mil").to_dict()["scores"]
        [0, 0, 0]
        """
        found: dict[str, Any] = {}
        for name in _NAMES:
            value = getattr(self, name)
            found[name] = list(value) if isinstance(value, tuple) else value
        found["events"] = [int(event) for event in self.events]
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MatchState:
        """The state of a JSON object made by `to_dict`.

        Raises NotationError for a missing or unknown key, DealError for a value that cannot be.

        >>> MatchState.from_dict(MatchState.start("mil").to_dict()) == MatchState.start("mil")
        True
        """
        if not isinstance(data, Mapping):
            raise NotationError(f"match state must be an object with keys, got {quote(data)}")
        for key in data:
            if key not in _NAMES:
                hint = nearest(str(key), _NAMES)
                raise NotationError(f"unknown key {quote(key)} in a match state: {hint}")
        for name in _NAMES:
            if name not in data:
                raise NotationError(f"no {name} in a match state: needed are {', '.join(_NAMES)}")
        return cls(**data)


_NAMES = tuple(one.name for one in fields(MatchState))


# -- checked values ------------------------------------------------------------------------------


def listed(value: object, what: str) -> list[Any]:
    """The values of a list, tuple or array; raises DealError, naming `what`, for other things.

    >>> listed((1, 2), "scores")
    [1, 2]
    """
    if isinstance(value, str | bytes | Mapping | set) or not isinstance(value, Iterable):
        raise DealError(f"{what} must be a list by player, got {quote(value)}")
    return list(value)


def by_player(value: object, what: str, players: int, lowest: int | None = 0) -> tuple[int, ...]:
    """Whole numbers by player, none below ``lowest``; raises DealError, naming `what`.

    >>> by_player((1, 2, -1), "tricks", 3)
    Traceback (most recent call last):
    ...
    milsim.errors.DealError: tricks of player 2 must be 0 or more, got -1
    """
    values = listed(value, what)
    if len(values) != players:
        raise DealError(f"{what} must be {players} numbers by player, got {quote(value)}")
    numbers = tuple(
        checked_int(number, f"{what} of player {player}") for player, number in enumerate(values)
    )
    for player, number in enumerate(numbers):
        if lowest is not None and number < lowest:
            raise DealError(
                f"{what} of player {player} must be {lowest} or more, got {quote(number)}"
            )
    return numbers


def checked_player(value: object, what: str, players: int) -> int:
    """The number of a player; raises DealError, naming `what`, unless it is 0 to players − 1.

    >>> checked_player(3, "declarer", 4)
    3
    """
    number = checked_int(value, what)
    if not 0 <= number < players:
        raise DealError(f"{what} must be a player 0 to {players - 1}, got {quote(number)}")
    return number
