"""The policy `pimc`: what it cannot see is drawn, and each choice is judged in every layout drawn.

At each card it judges every legal card in layouts that its seat holds possible (all of them if
there are few, else a sample), in one way or in both: *solved*, double dummy
(`milsim.policies.pimc_kernel`), and *played out* by the habits of `expert`, each player seeing his
own cards only (`milsim.policies.pimc_playouts`). The first knows the best play, but thinks that
everybody sees all cards (strategy fusion, non-locality: the papers named there); the second makes
neither mistake, and plays worse. The worth of a card is a weighted mean of both.

Measured with one such seat beside two of `expert`, on the same deals with all seats in turn, in
points a deal (analysis/strength, with intervals and the reasons): solving alone, ``solving=100``,
is plain perfect information Monte Carlo (with gifts and contract by playouts) and no better than
`expert`, −0.7 ± 1.4 under mil. Playouts alone, the default, lead `expert` by 6.8 ± 0.9 (mil) and
7.6 ± 1.0 (gamerules); half and half is as good, and takes twice the time.

What a layout is worth to a seat is in points of the deal score:

- The contract is made with a chance that rises from 0 to 1 about the declarer's points minus what
  he needs: a logistic curve, as the points found miss what real play will give by some CHANCE_SCALE
  points. So "nearly made" counts for something, and a sure thing is not risked.
- The declarer wins or loses the contract by it, twice the contract from end to end.
- A defender scores his own points; and as only who is ahead wins a match, half of what the
  declarer wins or loses, and half of what his partner scores, counts against him.
- Points beyond that count little to the declarer, a quarter of a point each.

Of equal choices it takes the card of the lowest rank, then of the first suit.

Gifts: all 90 pairs are played out in a few layouts, the best of these and `expert`'s in all. The
contract: the highest mean score over layouts played out. It bids and concedes as `expert` does.
"""

from __future__ import annotations

import threading
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from milsim.cards import NO_TRUMP
from milsim.errors import PolicyError, quote
from milsim.knowledge.layouts import PLAN_SIZE, kernel_binomials, kernel_subsets
from milsim.policies import pimc_kernel as at
from milsim.policies.dispatch import CARD_PLY, CONTRACT_PLY, GIFTS_PLY
from milsim.policies.pimc_kernel import CARD, CHOICE_SIZE, TO_LEFT, TO_RIGHT, judge
from milsim.policies.pimc_playouts import judge_by_playouts
from milsim.policies.players import Hands, KernelPlayer
from milsim.policies.registry import EXPERT
from milsim.policies.seen import Seen
from milsim.solver.table import new_workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULTS = {"layouts": 32, "playouts": 128, "solving": 0}
_RANGES = {"layouts": (1, 4096), "playouts": (1, 4096), "solving": (0, 100)}

CHANCE_SCALE = 20
"""Points: about what a layout's points miss; the chance goes from 27 % to 73 % within ± that."""
_ONE = 10_000  # the chance of a sure thing
_FAR = 400  # points, beyond all that a deal can hold
_CHANCES = np.array([round(_ONE / (1 + exp(-d / CHANCE_SCALE))) for d in range(-_FAR, _FAR + 1)])

_FIRST_LOOK = 16  # layouts for all pairs of gifts
_SECOND_LOOK = 12  # pairs that are looked at again

# With so many cards in hand or fewer the solver tells points, else only which side of the need
# (and of need and margin) they are: the first trick would take half of the time of a deal.
EXACT_CARDS = 7
MARGIN = 15


class _Room(threading.local):
    """What each thread needs to work in."""

    def __init__(self) -> None:
        self.work = new_workspace()
        self.plan = np.empty(PLAN_SIZE, np.int64)


class PimcPlayer(KernelPlayer):
    """`pimc` at a driven table."""

    sees_all = False

    def __init__(
        self,
        layouts: int = DEFAULTS["layouts"],
        playouts: int = DEFAULTS["playouts"],
        solving: int = DEFAULTS["solving"],
    ) -> None:
        """Layouts that are solved, and played out; the weight of the first in hundredths.

        Raises PolicyError for a number out of range.
        """
        super().__init__(EXPERT.number)
        for name, value in (("layouts", layouts), ("playouts", playouts), ("solving", solving)):
            low, high = _RANGES[name]
            if not low <= value <= high:
                raise PolicyError(
                    f"policy pimc: {name}: {quote(value)} is out of range; use {low} to {high}"
                )
        self.layouts, self.playouts, self.solving = layouts, playouts, solving
        self._room = _Room()
        self._tables = kernel_binomials(), kernel_subsets()

    # -- asking the kernels ----------------------------------------------------------------------

    def _question(self, seen: Seen, layouts: int, ply: int, exact: int) -> NDArray[np.int64]:
        table = seen.table
        question = np.empty(at.QUESTION_SIZE, np.int64)
        question[at.KEY] = table.key
        question[at.PLY] = ply
        question[at.LAYOUTS] = layouts
        question[at.ROLE] = seen.role
        question[at.LEADER_ROLE] = table.role(table.leader) if table.contract else 0
        question[at.ON_LEAD] = table.lead
        question[at.ON_SECOND] = table.second
        question[at.TRUMP_NOW] = _suit(table.trumps)
        question[at.TRUMP_NEXT] = _suit(table.coming)
        question[at.TRICK_NUMBER] = table.trick_number
        question[at.NEED] = needed(seen)
        question[at.MARGIN] = MARGIN
        question[at.EXACT] = exact
        return question

    def solved(self, seen: Seen, choices: NDArray[np.int64], ply: int) -> NDArray[np.int64]:
        """The declarer's future points by layout and choice: exactly, or about the need."""
        by, room = seen.table.by, self._room
        points = np.empty((self.layouts, len(choices)), np.int64)
        exact = int(seen.hand.bit_count() <= EXACT_CARDS)
        question = self._question(seen, self.layouts, ply, exact)
        n = judge(
            seen.knowledge(),
            question,
            choices,
            by.flags,
            by.values,
            *self._tables,
            room.plan,
            room.work,
            points,
        )
        return points[:n]

    def played_out(
        self, seen: Seen, choices: NDArray[np.int64], ply: int, layouts: int
    ) -> NDArray[np.int64]:
        """The future points of all roles by layout, choice and role."""
        by = seen.table.by
        points = np.empty((layouts, len(choices), 3), np.int64)
        n = judge_by_playouts(
            seen.knowledge(),
            self._question(seen, layouts, ply, 1),
            choices,
            by.parameters,
            by.fields,
            by.flags,
            by.values,
            *self._tables,
            self._room.plan,
            points,
        )
        return points[:n]

    # -- deciding --------------------------------------------------------------------------------

    def card(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """The card of the greatest worth."""
        cards = sorted((c for c in range(24) if seen.legal >> c & 1), key=lambda c: (c % 6, c))
        choices = np.zeros((len(cards), CHOICE_SIZE), np.int64)
        choices[:, CARD] = [1 << card for card in cards]
        ply = CARD_PLY + seen.table.trick_number
        total = np.zeros(len(cards), np.int64)
        if self.solving > 0:
            points = self.solved(seen, choices, ply)
            total += self.solving * mean_of(worth(seen, points))
        if self.solving < 100:
            every = self.played_out(seen, choices, ply, self.playouts)
            total += (100 - self.solving) * mean_of(worth(seen, every[:, :, 0], every))
        return cards[int(np.argmax(total))]

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        """The pair after which the declarer does best, left and right."""
        cards = [card for card in range(24) if seen.hand >> card & 1]
        pairs = [(one, other) for one in cards for other in cards if one != other]
        worths = self._worth_of_gifts(seen, pairs, min(_FIRST_LOOK, self.playouts))
        best = [pairs[i] for i in np.argsort(-worths, kind="stable")[:_SECOND_LOOK]]
        habit = super().gifts(seen, hands)
        again = best if habit in best else [*best, habit]
        left, right = again[int(np.argmax(self._worth_of_gifts(seen, again, self.playouts)))]
        return left, right

    def _worth_of_gifts(
        self, seen: Seen, pairs: list[tuple[int, int]], layouts: int
    ) -> NDArray[np.int64]:
        choices = np.zeros((len(pairs), CHOICE_SIZE), np.int64)
        choices[:, TO_LEFT] = [1 << left for left, _ in pairs]
        choices[:, TO_RIGHT] = [1 << right for _, right in pairs]
        return mean_of(worth(seen, self.played_out(seen, choices, GIFTS_PLY, layouts)[:, :, 0]))

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """The contract of the highest mean score; of equal ones the lowest."""
        nothing = np.zeros((1, CHOICE_SIZE), np.int64)
        points = self.played_out(seen, nothing, CONTRACT_PLY, self.playouts)[:, 0, 0]
        contracts = list(range(seen.lowest, seen.highest + 1, seen.table.by.step))
        scores = [amount * int(2 * (points >= amount).sum() - len(points)) for amount in contracts]
        return contracts[int(np.argmax(scores))]


def needed(seen: Seen) -> int:
    """The points that the declarer still needs for his contract, or before it for his bid."""
    table = seen.table
    return (table.contract or table.bid) - table.points[table.declarer]


def worth(
    seen: Seen, points: NDArray[np.int64], every: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """What the declarer's future ``points`` are worth to the seat, in 1/40,000 points.

    ``every``: the points of all roles too, the last axis, where they are known; else the defenders
    are taken to share alike what the declarer does not get.
    """
    table, role = seen.table, seen.role
    contract = table.contract or table.bid
    chance = _CHANCES[np.clip(points - needed(seen), -_FAR, _FAR) + _FAR]
    if role == 0:
        return 8 * contract * chance + _ONE * points
    if every is None:
        return -4 * contract * chance - _ONE * points
    mine, partner = every[:, :, role], every[:, :, 3 - role]
    return -4 * contract * chance + 4 * _ONE * mine - 2 * _ONE * partner


def mean_of(worths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The means over the layouts, whole numbers: no rounding may differ from machine to machine."""
    means: NDArray[np.int64] = worths.sum(axis=0) // len(worths)
    return means


def _suit(trumps: int) -> int:
    return NO_TRUMP if trumps == 0 else (trumps.bit_length() - 1) // 6


__all__ = ["DEFAULTS", "PimcPlayer", "mean_of", "needed", "worth"]
