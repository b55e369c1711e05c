"""What a policy is asked with when it is not a pure kernel: the table, and one seat's side of it.

A `Table` is what lies open to all three: who bid what, the tricks, the points. A `Seen` is one seat
at that table: its own cards, the talon and the gifts if it saw them. It has no way to the hidden
cards, so no decision made from it can depend on them. What is dear (`Seen.knowledge`, `Seen.view`)
is made when it is first asked for.

`milsim.simulation.driver` fills both, as plain integers: cards as masks (bit 6·suit + rank), seats
0–2 from forehand on. Sources: RULES.md §2, talon (who sees what), read as the reference reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from milsim.cards import NO_TRUMP, CardSet
from milsim.knowledge import SeenGift, SeenTrick, View
from milsim.knowledge import state as at
from milsim.policies.expert_parameters import kernel_parameters
from milsim.reference import (
    Bid,
    Concession,
    Contract,
    Declaration,
    Gift,
    Operation,
    Pass,
    Phase,
    Play,
)
from milsim.rules import Rules, packed
from milsim.tricks import (
    OPTIONAL_DECLARATION,
    ace_leads,
    marriage_leads,
    play_flags,
    play_values,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Triple = tuple[int, int, int]

NOBODY = -1


@dataclass(slots=True)
class PlayedCard:
    """A card on the table: who played it, after what, with which trumps; whether it declared."""

    seat: int
    card: int
    lead: int
    second: int
    trumps: int
    trick_number: int
    declares: bool


@dataclass(slots=True)
class TableRules:
    """What a table needs of its rules, made once for all deals."""

    rules: Rules
    fields: NDArray[np.int64]
    parameters: NDArray[np.int16]
    flags: int
    values: int
    step: int

    @classmethod
    def of(cls, rules: Rules) -> TableRules:
        """The rules as the kernels take them."""
        fields = packed(rules)
        return cls(
            rules,
            fields,
            kernel_parameters(rules),
            int(play_flags(fields)),
            int(play_values(fields)),
            rules.auction.step,
        )


@dataclass(slots=True)
class Table:
    """What everybody has seen and heard of a deal so far.

    ``key`` is the deal's policy key (`milsim.rng.policy_key`): not a secret, as it does not depend
    on the cards. ``trumps`` (a mask) are in force in this trick, ``coming`` from the next one on.
    ``points`` are all points taken so far, by seat, declarations with them.
    """

    by: TableRules
    key: int
    minimum: int
    golden: bool = False
    scores: Triple = (0, 0, 0)
    concessions: Triple = (0, 0, 0)
    on_barrel: tuple[bool, bool, bool] = (False, False, False)
    phase: Phase = Phase.AUCTION
    actor: int = NOBODY
    calls: list[Bid | Pass] = field(default_factory=list)
    declarer: int = NOBODY
    bid: int = 0
    dark: bool = False
    talon_taken: bool = False
    contract: int = 0
    leader: int = 0
    trick_number: int = 1
    lead: int = 0
    second: int = 0
    trumps: int = 0
    coming: int = 0
    played: int = 0
    cards: list[PlayedCard] = field(default_factory=list)
    winners: list[int] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    points: list[int] = field(default_factory=lambda: [0, 0, 0])
    tricks_won: list[int] = field(default_factory=lambda: [0, 0, 0])
    _plays: NDArray[np.int64] | None = None
    _entered: int = 0

    def role(self, seat: int) -> int:
        """0 for the declarer, 1 for the defender on his left, 2 for the one on his right."""
        return (seat - self.declarer) % 3

    def plays(self) -> NDArray[np.int64]:
        """What the tricks so far prove, the same for all seats (`milsim.knowledge.state`)."""
        if self._plays is None:
            self._plays = np.zeros(at.PLAYS_SIZE, np.int64)
        for play in self.cards[self._entered :]:
            at.observe_play(
                self._plays,
                play.seat,
                play.card,
                play.lead,
                play.second,
                play.trumps,
                play.trick_number,
                int(play.declares),
                self.by.flags,
            )
        self._entered = len(self.cards)
        return self._plays


@dataclass(slots=True)
class Seen:
    """One seat at a table, at a decision.

    ``hand`` is what it holds now, ``legal`` the cards it may play, ``talon`` the three cards if it
    has seen them, else 0. ``gifts`` are (giver, receiver, card), the card 0 if it lay face down.
    ``lowest``, ``highest`` are the bids or contracts open to it (lowest > highest: none), in steps;
    ``price`` and ``gain`` what a concession would cost it and bring each defender.
    """

    table: Table
    seat: int
    dealt: int
    hand: int
    talon: int = 0
    gifts: list[tuple[int, int, int]] = field(default_factory=list)
    legal: int = 0
    lowest: int = 0
    highest: int = 0
    call: int = 0
    may_concede: bool = False
    price: int = 0
    gain: int = 0
    _state: NDArray[np.int64] | None = None
    _acts: int = 0

    @property
    def role(self) -> int:
        """0 for the declarer, 1 for the defender on his left, 2 for the one on his right."""
        return self.table.role(self.seat)

    def knowledge(self) -> NDArray[np.int64]:
        """What the seat knows of the hidden cards: the state of `milsim.knowledge.state`."""
        table = self.table
        acts = int(table.talon_taken) + len(self.gifts)
        if self._state is None or self._acts != acts:
            self._state, self._acts = np.empty(at.STATE_SIZE, np.int64), acts
            at.start(self._state, self.seat, self.dealt)
            if table.talon_taken:
                at.observe_talon(self._state, table.declarer, self.talon)
            for giver, receiver, card in self.gifts:
                at.observe_gift(self._state, giver, receiver, card)
        if table.cards:
            at.catch_up(self._state, table.plays())
        return self._state

    def view(self) -> View:
        """The same as a plain value, as policies written in Python get it."""
        table = self.table
        sizes = [7, 7, 7]
        if table.cards or len(self.gifts) == 2:
            sizes = [8, 8, 8]
            for play in table.cards:
                sizes[play.seat] -= 1
        elif table.talon_taken:
            sizes[table.declarer] = 10
        begun = table.phase is Phase.PLAY
        return View(
            rules=table.by.rules,
            seat=self.seat,
            phase=table.phase,
            actor=table.actor,
            dealt=CardSet(self.dealt),
            hand=CardSet(self.hand),
            hand_sizes=(sizes[0], sizes[1], sizes[2]),
            calls=tuple(table.calls),
            minimum=table.minimum,
            declarer=None if table.declarer == NOBODY else table.declarer,
            bid=table.bid or None,
            dark=table.dark,
            talon_taken=table.talon_taken,
            talon=CardSet(self.talon) if self.talon else None,
            gifts=tuple(
                SeenGift(giver, receiver, card.bit_length() - 1 if card else None)
                for giver, receiver, card in self.gifts
            ),
            contract=table.contract or None,
            tricks=_tricks(table) if begun else (),
            trump=_suit(table.trumps),
            coming_trump=_suit(table.coming),
            declarations=tuple(table.declarations),
            points=(table.points[0], table.points[1], table.points[2]),
            tricks_won=(table.tricks_won[0], table.tricks_won[1], table.tricks_won[2]),
            legal_acts=self.legal_acts() if table.actor == self.seat else (),
            scores=table.scores,
            concessions=table.concessions,
            on_barrel=table.on_barrel,
            golden=table.golden,
        )

    def legal_acts(self) -> tuple[Operation, ...]:
        """The acts open to the seat, in the order of `milsim.reference.Game.legal_acts`."""
        table, seat = self.table, self.seat
        if table.phase is Phase.AUCTION:
            if self.lowest > self.highest:
                return (Pass(seat),)
            amounts = range(self.lowest, self.highest + 1, table.by.step)
            return (*(Bid(seat, amount) for amount in amounts), Pass(seat))
        if table.phase is Phase.GIFTS:
            left = (seat + 1) % 3
            acts: tuple[Operation, ...] = tuple(Gift(seat, left, c) for c in CardSet(self.hand))
            return (*acts, Concession(seat)) if self.may_concede else acts
        if table.phase is Phase.CONTRACT:
            amounts = range(self.lowest, self.highest + 1, table.by.step)
            return tuple(Contract(seat, amount) for amount in amounts)
        flags = table.by.flags
        declaring = 0
        if table.lead == 0:
            declaring = marriage_leads(self.hand, table.trick_number, flags)
            declaring |= ace_leads(self.hand, table.trick_number, flags)
        plays: list[Operation] = []
        for card in CardSet(self.legal):
            may = bool(declaring >> card & 1)
            if not may or flags & OPTIONAL_DECLARATION:
                plays.append(Play(seat, card, False))
            if may:
                plays.append(Play(seat, card, True))
        return tuple(plays)


def _suit(trumps: int) -> int:
    return NO_TRUMP if trumps == 0 else (trumps.bit_length() - 1) // 6


def _tricks(table: Table) -> tuple[SeenTrick, ...]:
    """All tricks, the last perhaps unfinished; the trump of each after what its lead declared."""
    tricks = []
    for begin in range(0, len(table.cards), 3):
        plays = table.cards[begin : begin + 3]
        number = begin // 3
        tricks.append(
            SeenTrick(
                number + 1,
                plays[0].seat,
                tuple(play.card.bit_length() - 1 for play in plays),
                _suit(plays[0].trumps),
                plays[0].declares,
                table.winners[number] if number < len(table.winners) else None,
            )
        )
    return tuple(tricks)


__all__ = ["NOBODY", "PlayedCard", "Seen", "Table", "TableRules"]
