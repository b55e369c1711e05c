"""`solve`: one position or deal, with the value of each card and one best line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from milsim.cards import ACE, NO_TRUMP, SUIT_LETTERS, CardSet, checked_int, format_card
from milsim.deals import Deal
from milsim.errors import DealError, quote
from milsim.position import Act, Position
from milsim.rules import Rules, packed
from milsim.solver.exchange import best_exchange, checked_declarer, hands_after
from milsim.solver.root import (
    COMING,
    DECLARER,
    LEAD,
    LEADER,
    N_ROWS,
    TRICK,
    TRUMP,
    answer,
)
from milsim.solver.table import NODES, new_workspace
from milsim.tricks import play_flags, play_values, trick_winner

_TABLE_BITS = 18
_GUESS = 60
_ACES = 4


@dataclass(frozen=True, slots=True)
class CardValue:
    """What playing a card now is worth."""

    card: int
    """Card index 0–23."""
    declares: bool
    """Whether it declares a marriage or four aces; a choice where the rules leave it."""
    value: int
    """The declarer's future points after it, with best play by both sides."""

    def __str__(self) -> str:
        """The card, ``!`` if it declares, and the value."""
        return f"{format_card(self.card)}{'!' if self.declares else ''} {self.value}"


@dataclass(frozen=True, slots=True)
class Trick:
    """One trick of a line of play, and what it brought."""

    number: int
    leader: int
    """The seat that led."""
    before: tuple[int, ...]
    """Cards that lay on the table already when the line began (first trick only)."""
    cards: tuple[int, ...]
    """All three cards in the order played."""
    trump: int
    """In force when the trick was won: 0–3, or 4 for none."""
    declared: int
    """Suit 0–3 of a marriage declared with the lead, 4 for four aces, −1 for none."""
    winner: int
    """The seat that won it."""
    points: int
    """What the declarer got by it: cards, declaration, last trick."""
    left: int
    """What he still gets after it."""

    def __str__(self) -> str:
        """One line for people; cards of before the line in brackets."""
        names = [format_card(card) for card in self.cards]
        for place in range(len(self.before)):
            names[place] = f"({names[place]})"
        declared = "" if self.declared < 0 else f" declares {(SUIT_LETTERS + 'A')[self.declared]}"
        trump = "none" if self.trump == NO_TRUMP else SUIT_LETTERS[self.trump]
        return (
            f"{self.number}. seat {self.leader}{declared}: {' '.join(names)}, trump {trump}, "
            f"seat {self.winner} wins, declarer +{self.points}, then {self.left}"
        )


@dataclass(frozen=True, slots=True)
class Solution:
    """The double-dummy solution of a position."""

    position: Position
    declarer: int
    """The declarer's seat in the position."""
    value: int
    """His future points: cards, marriages, four aces, last trick."""
    cards: tuple[CardValue, ...]
    """The value of each way to play now, by card; empty when all is played."""
    line: tuple[Act, ...]
    """One best line: a best act for each turn (of equals that of the lowest card)."""
    tricks: tuple[Trick, ...]
    """The line trick by trick."""
    turns: tuple[tuple[CardValue, ...], ...]
    """The value of each way to play at each turn of the line; the first is `cards`."""
    nodes: int
    """Positions searched."""
    gifts: tuple[int, int] | None = None
    """The cards given to his left and right, if a deal was solved."""

    @property
    def total(self) -> int:
        """His points in the whole deal: what he has in the position, and the value."""
        return self.position.totals[self.declarer] + self.value

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "position": str(self.position),
            "rules": self.position.rules.name,
            "declarer": self.declarer,
            "gifts": None if self.gifts is None else [format_card(card) for card in self.gifts],
            "value": self.value,
            "total": self.total,
            "cards": [
                {"card": format_card(each.card), "declares": each.declares, "value": each.value}
                for each in self.cards
            ],
            "tricks": [
                {
                    "number": each.number,
                    "leader": each.leader,
                    "cards": [format_card(card) for card in each.cards],
                    "declares": None if each.declared < 0 else (SUIT_LETTERS + "A")[each.declared],
                    "winner": each.winner,
                    "points": each.points,
                    "left": each.left,
                }
                for each in self.tricks
            ],
            "nodes": self.nodes,
        }

    def __str__(self) -> str:
        """For people: the value and, if he has points, the total; of each card; the line."""
        found = [f"declarer (seat {self.declarer}) gets {self.value} points double dummy"]
        if self.total != self.value:
            found[0] += f", with the {self.total - self.value} he has {self.total}"
        if self.gifts is not None:
            left, right = map(format_card, self.gifts)
            found.append(f"gifts: {left} to his left, {right} to his right")
        if self.cards:
            found.append(f"seat {self.position.seat} to play: " + ", ".join(map(str, self.cards)))
        return "\n".join(found + [str(trick) for trick in self.tricks])


class _Search:
    """The kernels, for one deal: values of acts in positions that follow from one position."""

    def __init__(self, position: Position, declarer: int) -> None:
        array = packed(position.rules)
        self.declarer = declarer
        self.flags, self.values = play_flags(array), play_values(array)
        self.work: NDArray[np.int64] = new_workspace(_TABLE_BITS)

    def value_of(self, position: Position, act: Act, guess: int) -> int:
        """The declarer's future points after an act."""
        card = 1 << act.card
        rows = np.zeros((N_ROWS, 1), np.int64)
        for turn in range(3):
            rows[DECLARER + turn] = position.hands[(self.declarer + turn) % 3].mask
        rows[DECLARER + (position.seat - self.declarer) % 3] ^= card
        for place, each in enumerate((*position.table, act.card)):
            rows[LEAD + place] = 1 << each
        trump, coming, gain = position.trump, position.next_trump, 0
        if act.declares:
            is_marriage = act.card % 6 != ACE
            kind = act.card // 6 if is_marriage else _ACES
            if is_marriage:
                coming = kind
                if position.rules.play.trump_effect == "immediate":
                    trump = kind
            if position.seat == self.declarer:
                gain = self.values >> 10 * kind & 1023
        rows[LEADER] = (position.leader - self.declarer) % 3
        rows[TRUMP], rows[COMING], rows[TRICK] = trump, coming, position.trick_number
        found = np.empty(1, np.int64)
        needs = np.array([guess - gain])
        answer(rows, needs, 1, 0, self.flags, self.values, self.work, found)
        return gain + int(found[0])

    def acts(self, position: Position, guess: int) -> list[CardValue]:
        """The value of each legal act."""
        found = []
        for act in position.legal_acts:
            guess = self.value_of(position, act, guess)
            found.append(CardValue(act.card, act.declares, guess))
        return found


def _best(acts: list[CardValue], maximises: bool) -> CardValue:
    best = acts[0]
    for each in acts[1:]:
        if each.value > best.value if maximises else each.value < best.value:
            best = each
    return best


def _gained(before: Position, after: Position, declarer: int) -> int:
    return after.totals[declarer] - before.totals[declarer]


def solve(
    position_or_deal: Position | Deal | SupportsIndex,
    *,
    declarer: int = 0,
    gifts: tuple[int, int] | None = None,
    rules: str | Path | Rules | None = None,
) -> Solution:
    """The exact double-dummy solution of one position or deal.

    All cards are known to all; the seat ``declarer`` (0–2) plays to get the most points, the two
    others *together* to give him the fewest. Of a `Position` the play goes on from where it is,
    in the middle of a trick too, under its rules. Of a `Deal` (or its number) the declarer takes
    the talon, gives ``gifts`` (card indices: to his left, to his right; the best pair if not given)
    and leads, under ``rules`` (``"mil"`` if not given).

    Returns a `Solution`: the value (future points), the value of each legal card, one best line
    trick by trick, and the number of positions searched. Raises DealError for what is no position,
    deal, seat or gift, RulesError for unknown rules.

    >>> solution = solve(Position(["KQ...", ".A.T.", ".9.A."], trick_number=7))
    >>> solution.value, [str(each) for each in solution.cards]
    (79, ['QS! 79', 'KS! 79'])
    >>> print(solution.tricks[0])
    7. seat 0 declares S: QS TD AD, trump S, seat 0 wins, declarer +64, then 15
    """
    seat = checked_declarer(declarer)
    if isinstance(position_or_deal, Position):
        if gifts is not None:
            raise DealError("gifts belong to a deal; a position is after the exchange")
        if rules is not None:
            raise DealError("rules of a position are its own; make the position under other rules")
        return _solve(position_or_deal, seat, None)
    if isinstance(position_or_deal, Deal):
        deal = position_or_deal
    else:
        deal = Deal.from_id(checked_int(position_or_deal, "deal, position or deal number"))
    how = "mil" if rules is None else rules
    if gifts is None:
        found = best_exchange(deal, declarer=seat, rules=how)
        gifts = found.gift_left, found.gift_right
    else:
        gifts = _checked_gifts(gifts)
    hands = hands_after(deal, seat, *gifts)
    return _solve(Position(hands, leader=seat, trick_number=1, rules=how), seat, gifts)


def _checked_gifts(gifts: Any) -> tuple[int, int]:
    """Two integers in an order; whether they are cards is not yet checked."""
    unordered = isinstance(gifts, str | bytes | set | frozenset | dict | CardSet)
    if unordered or getattr(gifts, "ndim", 1) != 1 or not hasattr(gifts, "__len__"):
        left, right = None, None
    else:
        left, right = gifts if len(gifts) == 2 else (None, None)
    if left is None or right is None:
        raise DealError(
            "gifts must be two card indices, to the declarer's left and to his right, "
            f"got {quote(gifts)}"
        )
    return checked_int(left, "gift"), checked_int(right, "gift")


def _solve(position: Position, declarer: int, gifts: tuple[int, int] | None) -> Solution:
    search = _Search(position, declarer)
    now, value = position, _GUESS
    turns: list[tuple[CardValue, ...]] = []
    line: list[Act] = []
    tricks: list[Trick] = []
    began, cards, declared = position, list(position.table), -1
    while not now.is_over:
        acts = search.acts(now, value)
        best = _best(acts, now.seat == declarer)
        turns.append(tuple(acts))
        line.append(Act(best.card, best.declares))
        cards.append(best.card)
        if best.declares:
            declared = _ACES if best.card % 6 == ACE else best.card // 6
        after = now.play(best.card, best.declares)
        value = best.value - _gained(now, after, declarer)
        if len(cards) == 3:
            tricks.append(
                Trick(
                    number=now.trick_number,
                    leader=now.leader,
                    before=began.table,
                    cards=tuple(cards),
                    trump=now.trump,
                    declared=declared,
                    winner=(now.leader + trick_winner(cards, now.trump)) % 3,
                    points=_gained(began, after, declarer),
                    left=value,
                )
            )
            began, cards, declared = after, [], -1
        now = after
    return Solution(
        position=position,
        declarer=declarer,
        value=_gained(position, now, declarer),
        cards=turns[0] if turns else (),
        line=tuple(line),
        tricks=tuple(tricks),
        turns=tuple(turns),
        nodes=int(search.work[NODES]),
        gifts=gifts,
    )


__all__ = ["CardValue", "Solution", "Trick", "solve"]
