"""Deals played for report ``advice``: as a policy plays them, and with one habit of it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from milsim.cards import CARD_POINTS, JACK, KING, N_RANKS, NINE, QUEEN, SUIT_MASKS, cards_of
from milsim.dealing import DealSpace, kernel_ranks, masks_of_deals
from milsim.dealing.sampling import checked_seed
from milsim.policies.players import Hands, Player
from milsim.policies.random import random_gifts
from milsim.policies.seen import Seen, TableRules
from milsim.policies.spec import parse_spec
from milsim.rules import Rules
from milsim.simulation.columns import N_COLUMNS
from milsim.simulation.driver_runs import drive_deals
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan
from milsim.tricks import winning_place

GIFTS_PLY = 64


@dataclass(frozen=True, slots=True)
class Played:
    """Deals 0 … n − 1 of a seed: masks of the hands by seat and the talon, and their columns."""

    rules: Rules
    hands: tuple[NDArray[np.int64], ...]
    talon: NDArray[np.int64]
    values: NDArray[np.int16]

    def __getitem__(self, column: int) -> NDArray[np.int64]:
        """One column, as whole numbers of any size."""
        found: NDArray[np.int64] = self.values[column].astype(np.int64)
        return found


def played(plan: Plan, threads: int | None) -> Played:
    """The deals of a plan as its policies play them."""
    chunks = list(play(plan, threads=threads))
    dealt = masks_of_deals(np.concatenate([chunk.deals for chunk in chunks]))
    values = np.concatenate([chunk.values for chunk in chunks], axis=1)
    hands = dealt.forehand, dealt.middlehand, dealt.rearhand
    return Played(plan.rules, hands, dealt.talon, values)


def driven(plan: Plan, players: Sequence[Player]) -> NDArray[np.int16]:
    """The columns of the same deals with these players by seat, int16 (columns, deals)."""
    deals = np.empty(plan.deals, dtype=np.int64)
    values = np.empty((N_COLUMNS, plan.deals), dtype=np.int16)
    space = DealSpace().packed()
    drive_deals(
        players,
        plan.policies,
        TableRules.of(plan.rules),
        checked_seed(plan.seed),
        plan.start,
        int(plan.mode == "auction"),
        space.header,
        space.hands,
        kernel_ranks(),
        deals,
        values,
    )
    return values


class Habit:
    """A policy as it is; those below change one habit of it."""

    sees_all = False

    def __init__(self, policy: str) -> None:
        """The policy of a text, as ``simulate --policy`` takes it."""
        self.inner: Player = parse_spec(policy).player()

    def dark(self, seen: Seen) -> bool:
        """As the policy."""
        return self.inner.dark(seen)

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        """As the policy."""
        return self.inner.bid(seen, self._for_inner(hands))

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:
        """As the policy."""
        return self.inner.concedes(seen, self._for_inner(hands))

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        """As the policy."""
        return self.inner.gifts(seen, self._for_inner(hands))

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        """As the policy."""
        return self.inner.name_contract(seen, self._for_inner(hands))

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """As the policy."""
        return self.inner.card(seen, self._for_inner(hands))

    def declares(self, seen: Seen, card: int) -> bool:
        """As the policy."""
        return self.inner.declares(seen, card)

    def _for_inner(self, hands: Hands | None) -> Hands | None:
        return hands if self.inner.sees_all else None


# -- gifts ---------------------------------------------------------------------------------------


def tip_gifts(hand10: int) -> tuple[int, int]:
    """The pair that the tip means: nines and jacks from the suits he holds fewest of.

    The nine before the jack of a suit; with fewer than two of them, the cards of fewest points, but
    no king or queen of a marriage. The first goes to the left.

    >>> from milsim.cards import CardSet, format_card
    >>> [format_card(card) for card in tip_gifts(int(CardSet.parse("AKQJ9.A9.AJ.K")))]
    ['9H', 'JD']
    """
    lengths = [(hand10 & mask).bit_count() for mask in SUIT_MASKS]

    def order(card: int) -> tuple[int, ...]:
        suit, rank = divmod(card, N_RANKS)
        if rank in (NINE, JACK):
            return (0, lengths[suit], rank, card)
        pair = (1 << KING | 1 << QUEEN) << N_RANKS * suit
        married = rank in (KING, QUEEN) and hand10 & pair == pair
        return (1, int(married), CARD_POINTS[rank], lengths[suit], card)

    first, second = sorted(cards_of(hand10), key=order)[:2]
    return first, second


class TipGifts(Habit):
    """Gives what the tip says."""

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:  # noqa: ARG002
        """Two cards, left and right."""
        return tip_gifts(seen.hand)


class RandomGifts(Habit):
    """Gives any two cards."""

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:  # noqa: ARG002
        """Two cards, left and right."""
        packed = int(random_gifts(seen.table.key, seen.seat, GIFTS_PLY, seen.hand))
        return packed & 31, packed >> 5


# -- smearing ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Smears:
    """Last hand's choices under a trick of the other defender: between a ten or ace, and less.

    ``hands`` by role before his card, ``table`` the two cards that lie, by role of who played;
    ``rich`` and ``poor`` are the dearest and the cheapest card that he may play.
    """

    hands: list[tuple[int, int, int]] = field(default_factory=list)
    rich: list[int] = field(default_factory=list)
    poor: list[int] = field(default_factory=list)
    role: list[int] = field(default_factory=list)
    leader: list[int] = field(default_factory=list)
    lead: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    trumps: list[int] = field(default_factory=list)
    coming: list[int] = field(default_factory=list)


def smear_choice(seen: Seen) -> tuple[int, int] | None:
    """The dearest and the cheapest legal card, if last hand may smear under his partner's trick.

    None if he is not last, is the declarer, the trick is the declarer's, or he has no choice
    between a ten or ace and a card of fewer points.
    """
    table = seen.table
    if not table.second or seen.role == 0:
        return None
    place = int(winning_place(table.lead, table.second, 0, table.trumps))
    if table.role((table.leader + place) % 3) == 0:
        return None
    legal = sorted(cards_of(seen.legal), key=lambda card: (CARD_POINTS[card % N_RANKS], card))
    if CARD_POINTS[legal[-1] % N_RANKS] < 10 or CARD_POINTS[legal[0] % N_RANKS] >= 10:
        return None
    rich = legal[-1]
    if CARD_POINTS[legal[-1] % N_RANKS] == 11:  # a ten, if there is one: the ace is kept
        rich = next((card for card in legal if CARD_POINTS[card % N_RANKS] == 10), rich)
    return rich, legal[0]


class NeverSmears(Habit):
    """Throws the cheapest card under his partner's trick."""

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """One of the legal cards."""
        choice = smear_choice(seen)
        return super().card(seen, hands) if choice is None else choice[1]


class AlwaysSmears(Habit):
    """Throws a ten, or else an ace, under his partner's trick; notes the choice, if asked to."""

    sees_all = True

    def __init__(self, policy: str, notes: Smears | None = None) -> None:
        """Noting each choice, with all hands, for the solver."""
        super().__init__(policy)
        self.notes = notes

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """One of the legal cards."""
        choice = smear_choice(seen)
        if choice is None:
            return super().card(seen, hands)
        if self.notes is not None and hands is not None:
            table, notes = seen.table, self.notes
            by_role = [hands[(table.declarer + role) % 3] for role in range(3)]
            notes.hands.append((by_role[0], by_role[1], by_role[2]))
            notes.rich.append(choice[0])
            notes.poor.append(choice[1])
            notes.role.append(seen.role)
            notes.leader.append(table.role(table.leader))
            notes.lead.append(table.lead)
            notes.second.append(table.second)
            notes.trumps.append(table.trumps)
            notes.coming.append(table.coming)
        return choice[0]


__all__ = [
    "AlwaysSmears",
    "Habit",
    "NeverSmears",
    "Played",
    "RandomGifts",
    "Smears",
    "TipGifts",
    "driven",
    "played",
    "smear_choice",
    "tip_gifts",
]
