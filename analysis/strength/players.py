"""The players of the study: `pimc` with notes of what it thought, and variants that ask why.

A name that begins with @ is a variant of this study, any other is a spec as milsim takes it:

- ``@solved=2-3``: `pimc` that solves in tricks 2 to 3 and plays out in the others;
- ``@exact``: `pimc:solving=100` that asks for exact points at the first trick too;
- ``@partners``: `pimc` that as a defender judges its playouts as the solver must: it knows only
  what the declarer gets, and takes the rest to be shared alike by both defenders;
- ``@contract``: `expert` that names its contract as `pimc` does;
- ``@heard=6``: `pimc` that as a defender counts a layout up to 6 times as much as another, the more
  the surer the declarer makes his contract in it: he would not have bid so high on any cards.
"""

from __future__ import annotations

import time

import numpy as np

from milsim.policies.dispatch import CARD_PLY
from milsim.policies.pimc import CHANCE_SCALE, PimcPlayer, mean_of, needed, worth
from milsim.policies.pimc_kernel import CARD, CHOICE_SIZE
from milsim.policies.players import Hands, KernelPlayer, PartsPlayer, Player
from milsim.policies.seen import Seen
from milsim.policies.spec import maker, parse_spec

NOTE = ("seat", "role", "trick", "legal", "thought", "points", "as_expert", "as_solver")
"""A note on a card: thought is the share of layouts in which the contract is made after it, points
the mean declarer points at the end (−1: not asked for), as_expert whether `expert` plays the same,
as_solver whether the solver alone and the playouts alone agree (−1: only one was asked)."""


class Clock:
    """Processor time and number of decisions of one seat."""

    def __init__(self) -> None:
        self.cards = self.card_seconds = 0.0
        self.exchanges = self.exchange_seconds = 0.0
        self.notes: list[tuple[float, ...]] = []


class Noting(PimcPlayer):
    """`pimc`, the same choices; its thoughts are noted, and its time taken."""

    def __init__(self, clock: Clock, solved_in: tuple[int, int] | None = None, **settings) -> None:
        super().__init__(**settings)
        self.clock = clock
        self.solved_in = solved_in

    def weight(self, seen: Seen) -> int:
        """The weight of the solver at this decision, in hundredths."""
        if self.solved_in is None:
            return self.solving
        first, last = self.solved_in
        return 100 if first <= seen.table.trick_number <= last else 0

    def worth_played(self, seen: Seen, every):
        return worth(seen, every[:, :, 0], every)

    def mean(self, seen: Seen, worths, every):  # noqa: ARG002
        return mean_of(worths)

    def card(self, seen: Seen, hands: Hands | None) -> int:
        begin = time.thread_time()
        cards = sorted((c for c in range(24) if seen.legal >> c & 1), key=lambda c: (c % 6, c))
        choices = np.zeros((len(cards), CHOICE_SIZE), np.int64)
        choices[:, CARD] = [1 << card for card in cards]
        ply = CARD_PLY + seen.table.trick_number
        weight = self.weight(seen)
        by_solver = by_playouts = np.zeros(len(cards), np.int64)
        points = None
        if weight > 0:
            points = self.solved(seen, choices, ply)
            by_solver = mean_of(worth(seen, points))
        if weight < 100:
            every = self.played_out(seen, choices, ply, self.playouts)
            by_playouts = self.mean(seen, self.worth_played(seen, every), every)
            points = every[:, :, 0]
        total = weight * by_solver + (100 - weight) * by_playouts
        best = int(np.argmax(total))
        self.clock.card_seconds += time.thread_time() - begin
        self.clock.cards += 1
        table = seen.table
        exact = weight < 100 or seen.hand.bit_count() <= 7
        found = points[:, best]
        same = -1.0
        if 0 < weight < 100:
            same = float(np.argmax(by_solver) == np.argmax(by_playouts))
        self.clock.notes.append(
            (
                seen.seat,
                seen.role,
                table.trick_number,
                len(cards),
                float((found >= needed(seen)).mean()),
                table.points[table.declarer] + float(found.mean()) if exact else -1.0,
                float(KernelPlayer.card(self, seen, hands) == cards[best]),
                same,
            )
        )
        return cards[best]

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        begin = time.thread_time()
        answer = super().gifts(seen, hands)
        self.clock.exchange_seconds += time.thread_time() - begin
        self.clock.exchanges += 1
        return answer

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        begin = time.thread_time()
        answer = super().name_contract(seen, hands)
        self.clock.exchange_seconds += time.thread_time() - begin
        self.clock.exchanges += 1
        return answer


class Exact(Noting):
    """Exact points at every card."""

    def _question(self, seen: Seen, layouts: int, ply: int, exact: int):  # noqa: ARG002
        return super()._question(seen, layouts, ply, 1)


class Partners(Noting):
    """Playouts judged without knowing which defender takes what."""

    def worth_played(self, seen: Seen, every):
        return worth(seen, every[:, :, 0])


class Heard(Noting):
    """Playouts as a defender in which layouts that are good for the declarer count more."""

    def __init__(self, clock: Clock, odds: float) -> None:
        super().__init__(clock)
        self.odds = odds

    def mean(self, seen: Seen, worths, every):
        if seen.role == 0:
            return mean_of(worths)
        beyond = every[:, :, 0].mean(axis=1) - needed(seen)
        weights = 1 + (self.odds - 1) / (1 + np.exp(-beyond / CHANCE_SCALE))
        return (weights[:, None] * worths).sum(axis=0) / weights.sum()


class Contract(Noting):
    """Bids, gifts and cards by `expert`."""

    gifts = KernelPlayer.gifts
    card = KernelPlayer.card


class Timed:
    """Any player, with its time taken at cards and at the exchange."""

    def __init__(self, player: Player, clock: Clock) -> None:
        self.player, self.clock = player, clock
        self.sees_all = player.sees_all
        self.dark, self.bid, self.concedes = player.dark, player.bid, player.concedes
        self.declares = player.declares

    def _exchange(self, ask, seen: Seen, hands: Hands | None):
        begin = time.thread_time()
        answer = ask(seen, hands)
        self.clock.exchange_seconds += time.thread_time() - begin
        self.clock.exchanges += 1
        return answer

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        return self._exchange(self.player.gifts, seen, hands)

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        return self._exchange(self.player.name_contract, seen, hands)

    def card(self, seen: Seen, hands: Hands | None) -> int:
        begin = time.thread_time()
        answer = self.player.card(seen, hands)
        self.clock.card_seconds += time.thread_time() - begin
        self.clock.cards += 1
        return answer


def player_of(name: str, clock: Clock) -> Player:
    """The player of a row; what it thinks and takes goes to the clock."""
    if name == "@partners":
        return Partners(clock)
    if name == "@contract":
        return Contract(clock)
    if name == "@exact":
        return Exact(clock, solving=100)
    if name.startswith("@heard="):
        return Heard(clock, float(name.removeprefix("@heard=")))
    if name.startswith("@solved="):
        first, last = name.removeprefix("@solved=").split("-")
        return Noting(clock, solved_in=(int(first), int(last)))
    spec = parse_spec(name)
    if "pimc" not in (spec.play, spec.exchange):
        return Timed(spec.player(), clock)
    settings = {key: value for key, value in spec.settings if key in maker("pimc").parameters}
    noting = Noting(clock, **settings)
    parts = [
        noting if part == "pimc" else maker(part).make()
        for part in (spec.bid, spec.exchange, spec.play)
    ]
    return noting if set(parts) == {noting} else PartsPlayer(*parts)
