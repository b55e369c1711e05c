"""Does a policy cheat? Its decisions are asked again, with other cards where it cannot see them.

A deal is played and every decision is kept, with the view it was made from. Then cards that a seat
cannot see at one of its decisions change places: the hands of the others, the talon, a gift that
lay face down. The others do what they did before, so the seat sees the very same; if they may not,
with these cards, other ones are drawn. What the seat decides on its way there must be what it
decided before. The others are asked too, though what they answer is not done: a policy that tells
its partner what it holds is found out.

The check assumes nothing of how a policy is made, nor of what `Seen` holds: views are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from milsim.cards import ALL_CARDS, cards_of, format_card
from milsim.deals import SEAT_NAMES
from milsim.errors import PolicyError, quote
from milsim.knowledge import Knowledge, View
from milsim.policies.players import Hands, Player
from milsim.policies.seen import Seen
from milsim.reference import Bid
from milsim.simulation.deal_kernel import IS_CONCEDED
from milsim.simulation.driver import DrivenDeal

Ask = Callable[[], Any]
Masks = tuple[int, int, int, int]
"""The three hands as dealt, and the talon."""

DRAWS = 8
"""So many layouts are tried for one decision; others could not have led to its view."""


class Between:
    """A player with ``how`` between him and the driver, which has the question and the answer."""

    def __init__(self, player: Player, how: Callable[[Seen, str, Ask], Any]) -> None:
        """``how`` gets what the seat sees, the decision's name, and the question to ask."""
        self._player, self._how = player, how
        self.sees_all = player.sees_all

    def dark(self, seen: Seen) -> bool:
        """The player's answer, as ``how`` has it."""
        answer: bool = self._how(seen, "bid in the dark", lambda: self._player.dark(seen))
        return answer

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        """The player's answer, as ``how`` has it."""
        name = f"call {seen.call + 1}"
        answer: int = self._how(seen, name, lambda: self._player.bid(seen, hands))
        return answer

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:
        """The player's answer, as ``how`` has it."""
        answer: bool = self._how(seen, "concession", lambda: self._player.concedes(seen, hands))
        return answer

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:
        """The player's answer, as ``how`` has it."""
        answer: tuple[int, int] = self._how(seen, "gifts", lambda: self._player.gifts(seen, hands))
        return answer

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:
        """The player's answer, as ``how`` has it."""
        answer: int = self._how(seen, "contract", lambda: self._player.name_contract(seen, hands))
        return answer

    def card(self, seen: Seen, hands: Hands | None) -> int:
        """The player's answer, as ``how`` has it."""
        name = f"card of trick {seen.table.trick_number}"
        answer: int = self._how(seen, name, lambda: self._player.card(seen, hands))
        return answer

    def declares(self, seen: Seen, card: int) -> bool:
        """The player's answer, as ``how`` has it."""
        name = f"declaration in trick {seen.table.trick_number}"
        answer: bool = self._how(seen, name, lambda: self._player.declares(seen, card))
        return answer


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of a seat as it was made: its name, the view, the answer."""

    name: str
    view: View
    answer: Any


class Kept(Between):
    """A player whose decisions are kept, in order."""

    def __init__(self, player: Player) -> None:
        """Ready for one deal."""
        super().__init__(player, self._keep)
        self.decisions: list[Decision] = []

    def _keep(self, seen: Seen, name: str, ask: Ask) -> Any:
        view, answer = seen.view(), ask()
        self.decisions.append(Decision(name, view, answer))
        return answer


def decided_honestly(
    first: DrivenDeal,
    kept: Sequence[Kept],
    player: Player,
    key: int,
    *,
    turn: int = 0,
    every: bool = False,
) -> int:
    """Ask again for decisions of a deal that was just played, with other hidden cards.

    ``first`` is the deal, played to its end with the players ``kept`` by seat, all of them
    ``player`` behind; ``key`` its policy key. One decision a seat is asked for, which by ``turn``,
    or with ``every`` each of them. Returns how many decisions were compared with other hidden
    cards; raises PolicyError for one that differs, naming the policy, the deal and the decision.
    """
    again = _Again(first, player, key)
    compared = 0
    for seat in range(3):
        decisions = kept[seat].decisions
        if not decisions:
            continue
        places = range(len(decisions)) if every else [(turn + 2 * seat) % len(decisions)]
        for place in places:
            for other, gifts in _others(first, seat, decisions[place], turn):
                found = again.compare(other, gifts, seat, decisions[: place + 1])
                if found is not None:
                    raise PolicyError(again.told(seat, decisions, found))
                if again.reached:
                    compared += 1
                    break
    return compared


# -- the same again ------------------------------------------------------------------------------


class _Stop(BaseException):
    """Ends a deal that has shown what it can; no ``except Exception`` of a policy stops it."""


class _Again:
    """The deal again, with other cards, up to one decision of a seat."""

    def __init__(self, first: DrivenDeal, player: Player, key: int) -> None:
        self._first, self._player, self._key = first, player, key
        self._second = DrivenDeal(first.by, first.names)
        self._second.situation[:] = first.situation
        self._second.scores, self._second.on_barrel = first.scores, first.on_barrel
        self.reached = False

    def compare(
        self, dealt: Masks, gifts: tuple[int, int] | None, seat: int, decisions: list[Decision]
    ) -> tuple[Decision, str] | None:
        """The first of these decisions that now differs, and how it is made now; else None.

        ``reached`` then says whether the last of them was asked for, from the very same view.
        """
        self.reached = False
        place = 0
        found: tuple[Decision, str] | None = None

        def mine(seen: Seen, name: str, ask: Ask) -> Any:
            nonlocal place, found
            before = decisions[place]
            if name != before.name or seen.view() != before.view:
                raise _Stop
            place += 1
            try:
                answer = ask()
            except Exception as error:  # whatever a policy may raise is another answer
                found = before, f"{type(error).__name__}: {' '.join(str(error).split())}"
                raise _Stop from None
            if not is_same(answer, before.answer):
                found = before, said(name, answer)
                raise _Stop
            if place == len(decisions):
                self.reached = True
                raise _Stop
            return answer

        def others(seen: Seen, name: str, ask: Ask) -> Any:
            with suppress(Exception):
                ask()
            return self._done_before(seen, name, gifts)

        players = [Between(self._player, mine if each == seat else others) for each in range(3)]
        with suppress(_Stop, PolicyError):  # an act of the others may be illegal with these cards
            self._second.play(dealt, players, self._key)
        return found

    def _done_before(self, seen: Seen, name: str, gifts: tuple[int, int] | None) -> Any:
        """What the seat did at this decision in the first deal."""
        then, now = self._first.table, seen.table
        kind = name.split()[0]
        if kind == "bid":
            return isinstance(then.calls[0], Bid) and then.calls[0].dark
        if kind == "call":
            call = then.calls[len(now.calls)] if len(now.calls) < len(then.calls) else None
            if call is None or call.seat != seen.seat:
                raise _Stop
            return call.amount if isinstance(call, Bid) else 0
        if kind == "concession":
            return bool(self._first.deal[IS_CONCEDED])
        if kind == "gifts":
            if gifts is None:
                raise _Stop
            return gifts
        if kind == "contract":
            return then.contract
        if len(now.cards) >= len(then.cards):
            raise _Stop
        play = then.cards[len(now.cards)]
        return play.card.bit_length() - 1 if kind == "card" else play.declares

    def told(self, seat: int, decisions: list[Decision], found: tuple[Decision, str]) -> str:
        """The mistake in words: a policy that cheats, or one that does not always answer alike."""
        before, now = found
        first = self._first
        dealt, gifts = _dealt(first), _gifts(first)
        same = self.compare(dealt, gifts, seat, decisions[: decisions.index(before) + 1])
        what = f"answers {said(before.name, before.answer)}"
        if same is not None:
            why = f"then {same[1]} to the same view when the deal is played again"
        else:
            why = f"but {now} with other cards where it cannot see them"
        return (
            f"policy {first.names[seat]}: {first.where}, {SEAT_NAMES[seat]}, {before.name}: "
            f"{what}, {why}; an answer must depend on the view alone"
        )


def is_same(one: object, other: object) -> bool:
    """Whether two answers are the same; what cannot be compared is not."""
    try:
        return bool(one == other)
    except Exception:
        return False


def said(name: str, answer: object) -> str:
    """An answer in words: cards by their names."""
    try:
        if name.startswith("card"):
            return format_card(answer)  # type: ignore[arg-type]
        if name == "gifts":
            return " ".join(format_card(card) for card in answer)  # type: ignore[attr-defined]
    except Exception:
        return quote(answer)
    return quote(answer)


# -- other cards ---------------------------------------------------------------------------------


def _dealt(first: DrivenDeal) -> Masks:
    """The cards as they were dealt."""
    one, two, three, talon = (int(cards) for cards in first.deal[:4])
    return one, two, three, talon


def _gifts(first: DrivenDeal) -> tuple[int, int] | None:
    """The cards given, to the left and to the right; None if the deal was conceded."""
    given = first.seats[first.table.declarer].gifts
    if len(given) < 2:
        return None
    return given[0][2].bit_length() - 1, given[1][2].bit_length() - 1


def _others(
    first: DrivenDeal, seat: int, decision: Decision, turn: int
) -> Iterator[tuple[Masks, tuple[int, int] | None]]:
    """Deals, and gifts, that the seat cannot tell from the true one at a decision."""
    view, true = decision.view, _dealt(first)
    if not view.dealt:  # a bid in the dark: no card is seen
        one, two, three, talon = true
        yield (two, three, one, talon), _gifts(first)
        yield (three, one, two, talon), _gifts(first)
        return
    draws = Knowledge(view).sample(DRAWS, seed=turn, start=DRAWS * len(view.tricks)).tolist()
    for number, layout in enumerate(draws):
        found = _as_dealt(first, view, seat, layout, turn + number)
        if found is not None and found[0] != true:
            yield found


def _as_dealt(
    first: DrivenDeal, view: View, seat: int, layout: Sequence[int], number: int
) -> tuple[Masks, tuple[int, int] | None] | None:
    """How a layout of the hands now may have been dealt; what nobody told the seat is chosen."""
    if not view.talon_taken:
        one, two, three = layout
        return (one, two, three, ALL_CARDS & ~(one | two | three)), _gifts(first)
    declarer = first.table.declarer
    if not view.gifts:  # the declarer with his ten cards
        hands = [view.dealt.mask if each == seat else layout[each] for each in range(3)]
        return (hands[0], hands[1], hands[2], _dealt(first)[3]), _gifts(first)
    eight = list(layout)
    for trick in view.tricks:
        for place, card in enumerate(trick.cards):
            eight[(trick.leader + place) % 3] |= 1 << card
    shown = 0 if view.talon is None else view.talon.mask
    given = []
    for gift in view.gifts:
        cards = eight[gift.receiver]
        choice = cards_of(cards & shown or cards)
        given.append(choice[number % len(choice)] if gift.card is None else gift.card)
    ten = eight[declarer] | 1 << given[0] | 1 << given[1]
    if not shown:
        cards_of_ten = list(cards_of(ten))
        shown = sum(1 << cards_of_ten[(number + step) % 10] for step in (0, 3, 7))
    if shown & ~ten:
        return None
    for gift, card in zip(view.gifts, given, strict=True):
        eight[gift.receiver] &= ~(1 << card)
    eight[declarer] = ten & ~shown
    return (eight[0], eight[1], eight[2], shown), (given[0], given[1])


__all__ = ["Ask", "Between", "Decision", "Kept", "decided_honestly", "is_same", "said"]
