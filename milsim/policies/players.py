"""Who decides at a driven table: `Player`, and the pure kernels as one of them.

A player is made once for a run and asked by several threads at once, so it keeps nothing of a deal
in itself. It gets a `Seen`, all that its seat may see; only `sees_all` policies (the oracle, an
upper bound and no honest player) also get the hands. What a player answers is checked by the
driver, so a mistake of a policy shows as a PolicyError, never as a wrong row.
"""

from __future__ import annotations

from typing import Protocol

from milsim.policies import dispatch
from milsim.policies.expert_seen import may_hold
from milsim.policies.seen import Seen
from milsim.reference import Pass

Hands = tuple[int, int, int, int]
"""The masks of the three seats as they are now, and of the talon until it is taken."""


class Player(Protocol):
    """The decisions of a seat; cards are indices 0–23."""

    sees_all: bool

    def dark(self, seen: Seen) -> bool:
        """Whether to bid 120 in the dark, where forehand may; ``seen`` shows no card."""

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        """A bid from ``seen.lowest`` to ``seen.highest``, or 0 to pass."""

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:
        """Whether to give the deal up before the gifts, for ``seen.price`` and ``seen.gain``."""

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        """Two of the ten cards: for the left, for the right."""

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        """A contract from ``seen.lowest`` to ``seen.highest``; asked only if there is a choice."""

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """One of ``seen.legal``; asked only if there is a choice."""

    def declares(self, seen: Seen, card: int) -> bool:
        """Whether leading the card declares what it may, where the rules leave that open."""


class KernelPlayer:
    """A policy that is all kernels, at a driven table: the same choices as in `play_deals`."""

    sees_all = False

    def __init__(self, number: int) -> None:
        """The policy of a number (`milsim.policies.registry`)."""
        self.number = number

    def dark(self, seen: Seen) -> bool:
        """As `dispatch.choose_dark`."""
        return bool(dispatch.choose_dark(self.number, seen.table.key, seen.seat))

    def bid(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """As `dispatch.choose_bid`."""
        by = seen.table.by
        return int(
            dispatch.choose_bid(
                self.number,
                seen.table.key,
                seen.seat,
                seen.call,
                by.parameters,
                by.fields,
                seen.hand,
                seen.lowest,
                seen.highest,
                by.step,
                1,
                sum(isinstance(call, Pass) for call in seen.table.calls),
            )
        )

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:  # noqa: ARG002
        """As `dispatch.choose_concession`."""
        table = seen.table
        return bool(
            dispatch.choose_concession(
                self.number,
                table.key,
                seen.seat,
                table.by.parameters,
                table.by.fields,
                seen.hand,
                table.bid,
                seen.price,
                seen.gain,
            )
        )

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:  # noqa: ARG002
        """As `dispatch.choose_gifts`."""
        table = seen.table
        both = int(
            dispatch.choose_gifts(
                self.number,
                table.key,
                seen.seat,
                table.by.parameters,
                table.by.fields,
                seen.hand,
            )
        )
        return both & 31, both >> 5

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """As `dispatch.choose_contract`."""
        table = seen.table
        return int(
            dispatch.choose_contract(
                self.number,
                table.key,
                seen.seat,
                table.by.parameters,
                table.by.fields,
                seen.hand,
                seen.lowest,
                seen.highest,
                table.by.step,
            )
        )

    def card(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """As `dispatch.choose_card`."""
        table, seat = seen.table, seen.seat
        left, right = (
            next((card for giver, to, card in seen.gifts if giver == seat and to == by), 0)
            for by in ((seat + 1) % 3, (seat + 2) % 3)
        )
        next_may, last_may = may_hold(table.plays(), seat, seen.role, left, right, seen.talon)
        card = dispatch.choose_card(
            self.number,
            table.key,
            seat,
            table.by.parameters,
            table.by.fields,
            table.by.flags,
            seen.hand,
            seen.legal,
            table.lead,
            table.second,
            table.trumps,
            table.trick_number,
            table.played,
            seen.role,
            table.role(table.leader),
            next_may,
            last_may,
            table.contract - table.points[table.declarer],
        )
        return int(card).bit_length() - 1

    def declares(self, seen: Seen, card: int) -> bool:  # noqa: ARG002
        """As `dispatch.choose_declaration`."""
        table = seen.table
        return bool(
            dispatch.choose_declaration(self.number, table.key, seen.seat, table.trick_number)
        )


class PartsPlayer:
    """Three players in one: who bids, who exchanges, who plays. Each sees what it may see."""

    def __init__(self, bidder: Player, exchanger: Player, at_cards: Player) -> None:
        """The players of the three parts (`milsim.policies.spec`)."""
        self._bidder, self._exchanger, self._at_cards = bidder, exchanger, at_cards
        self.sees_all = bidder.sees_all or exchanger.sees_all or at_cards.sees_all

    def dark(self, seen: Seen) -> bool:
        """The bidder's."""
        return self._bidder.dark(seen)

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        """The bidder's."""
        return self._bidder.bid(seen, hands if self._bidder.sees_all else None)

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:
        """The exchanger's."""
        return self._exchanger.concedes(seen, hands if self._exchanger.sees_all else None)

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        """The exchanger's."""
        return self._exchanger.gifts(seen, hands if self._exchanger.sees_all else None)

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        """The exchanger's."""
        return self._exchanger.name_contract(seen, hands if self._exchanger.sees_all else None)

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """The player's."""
        return self._at_cards.card(seen, hands if self._at_cards.sees_all else None)

    def declares(self, seen: Seen, card: int) -> bool:
        """The player's."""
        return self._at_cards.declares(seen, card)


__all__ = ["Hands", "KernelPlayer", "PartsPlayer", "Player"]
