"""`Position`: a moment in the play as a checked, immutable value; the twin of the state kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from milsim.cards import (
    NO_TRUMP,
    SUIT_LETTERS,
    CardSet,
    cards_of,
    checked_int,
    format_card,
    parse_card,
)
from milsim.errors import DealError, IllegalActError, quote
from milsim.position import state as kernels
from milsim.position.declared import FOUR_ACES_DECLARED, history_faults
from milsim.position.faults import PositionFault, as_mask, fault_words, faults_of, full_count
from milsim.position.text import parse_fields, position_text
from milsim.rules import Rules, load, packed, preset_names
from milsim.tricks import can_declare, play_flags, play_values

Triple = tuple[int, int, int]


class Act(NamedTuple):
    """One way to play: a card index, and whether it declares a marriage or four aces."""

    card: int
    declares: bool


class Declaration(NamedTuple):
    """Who declared what, when: seat 0–2, suit 0–3 (4: four aces), trick number 1–8."""

    seat: int
    suit: int
    trick_number: int

    def __str__(self) -> str:
        """The text form: seat, suit letter (A for four aces), trick number, as in ``0H2``."""
        return f"{self.seat}{(SUIT_LETTERS + 'A')[self.suit]}{self.trick_number}"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Position:
    """A moment in the play of a deal: three hands, who led, trump, cards on the table.

    Hands are masks, `CardSet` or text, by seat 0–2 in the order of play; ``leader`` is the seat
    that leads or led the trick on the table, ``table`` the 0–2 cards on it in order (indices or
    names), ``trump`` 0–3 or 4 for none, in force for this trick. ``trick_number`` is 1–8; left out,
    it is that of the last tricks of a deal (9 less the cards of the leader before the trick). What
    was won before may be given: ``points`` and ``tricks`` by seat, ``declared``, ``next_trump``.
    A position without cards is the end of a deal.

    Raises DealError naming every fault if these make no position, NotationError for unreadable
    text, RulesError for unknown rules. Source: RULES.md §1 and §2, play.

    >>> position = Position(["KQ...", ".A.T.", ".9.A."], trick_number=7)
    >>> position.legal_cards, position.seat
    (CardSet.parse('KQ...'), 0)
    >>> position.play("QS")
    Position.parse('K... | .A.T. | .9.A.; trump S; table QS; declared 0S7')
    >>> Position(["KQ...", "KA...", "..."])
    Traceback (most recent call last):
    ...
    milsim.errors.DealError: no position: KS in hands 0 and 1; hands have 2, 2, 0 cards, not 2, 2, 2
    """

    hands: tuple[CardSet, CardSet, CardSet]
    leader: int
    trump: int
    table: tuple[int, ...]
    trick_number: int
    next_trump: int
    points: Triple
    tricks: Triple
    declared: tuple[Declaration, ...]
    rules: Rules

    def __init__(
        self,
        hands: Sequence[CardSet | SupportsIndex | str],
        leader: int = 0,
        trump: int = NO_TRUMP,
        table: Sequence[int | str] = (),
        trick_number: int | None = None,
        *,
        rules: str | Path | Rules = "mil",
        next_trump: int | None = None,
        points: Sequence[int] = (0, 0, 0),
        tricks: Sequence[int] = (0, 0, 0),
        declared: Sequence[Declaration] = (),
    ) -> None:
        """Check everything and keep it."""
        if not _is_row(hands) or len(hands) != 3:
            raise DealError(f"a position needs a sequence of three hands, got {quote(hands)}")
        masks = [as_mask(hand, f"hand {seat}") for seat, hand in enumerate(hands)]
        cards = _card_indices(table)
        leader = checked_int(leader, "leader")
        trump = checked_int(trump, "trump")
        number = (
            9 - full_count(masks, leader, cards)
            if trick_number is None
            else checked_int(trick_number, "trick_number")
        )
        if faults_of(masks, leader, trump, cards, number):
            words = fault_words(masks, leader, trump, cards, number)
            raise DealError("no position: " + "; ".join(words))
        following = trump if next_trump is None else checked_int(next_trump, "next_trump")
        if not 0 <= following <= NO_TRUMP:
            raise DealError(
                f"next_trump must be a suit 0 to 3, or 4 for none, got {quote(following)}"
            )
        known = load(rules)
        made = _declarations(declared)
        faults = [
            words
            for _, words in history_faults(
                masks, leader, trump, cards, number, following, made, known.play
            )
        ]
        if faults:
            raise DealError("no position: " + "; ".join(faults))
        for name, value in (
            ("hands", tuple(CardSet(mask) for mask in masks)),
            ("leader", leader),
            ("trump", trump),
            ("table", cards),
            ("trick_number", number),
            ("next_trump", following),
            ("points", _triple(points, "points", 1000)),
            ("tricks", _triple(tricks, "tricks", 8)),
            ("declared", made),
            ("rules", known),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def faults_of(
        hands: Sequence[CardSet | SupportsIndex | str],
        leader: int = 0,
        trump: int = NO_TRUMP,
        table: Sequence[int] = (),
        trick_number: int = 1,
        *,
        rules: str | Path | Rules = "mil",
        next_trump: int | None = None,
        declared: Sequence[Declaration] = (),
    ) -> PositionFault:
        """All faults of these as a position, none if they are one.

        Those of what was declared are looked for where there are no others.

        >>> Position.faults_of([1, 1, 2], trump=7)
        <PositionFault.DUPLICATE_CARD|BAD_TRUMP: 34>
        """
        masks = [as_mask(hand, f"hand {seat}") for seat, hand in enumerate(hands)]
        cards = _card_indices(table)
        faults = faults_of(masks, leader, trump, cards, trick_number)
        following = trump if next_trump is None else checked_int(next_trump, "next_trump")
        if not 0 <= following <= NO_TRUMP and following != trump:
            faults |= PositionFault.BAD_NEXT_TRUMP
        made = _declarations(declared)
        if not faults:
            for fault, _ in history_faults(
                masks, leader, trump, cards, trick_number, following, made, load(rules).play
            ):
                faults |= fault
        return faults

    @classmethod
    def parse(cls, text: str, *, rules: str | Path | Rules = "mil") -> Position:
        """The position of a text as `str` prints it: ``hand | hand | hand; field value; …``.

        Fields that are left out have their defaults. Raises NotationError and DealError.

        >>> Position.parse("KQ... | .A.T. | .9.A.; leader 1; trump H").trump
        3
        """
        fields = parse_fields(text)
        fields["declared"] = [Declaration(*found) for found in fields.get("declared", ())]
        return cls(**fields, rules=rules)

    @classmethod
    def from_state(cls, state: NDArray[np.int64], rules: str | Path | Rules = "mil") -> Position:
        """The position that a state of the kernels (`milsim.position.state`) holds."""
        values = [int(value) for value in state]
        at = kernels
        return cls(
            values[at.HANDS : at.HANDS + 3],
            values[at.LEADER],
            values[at.TRUMP],
            [bit.bit_length() - 1 for bit in (values[at.LEAD], values[at.SECOND]) if bit],
            values[at.TRICK],
            rules=rules,
            next_trump=values[at.NEXT_TRUMP],
            points=values[at.POINTS : at.POINTS + 3],
            tricks=values[at.TRICKS : at.TRICKS + 3],
            declared=[
                Declaration(code >> 4, suit, code & 15)
                for suit, code in enumerate(values[at.DECLARED : at.DECLARED + 5])
                if code
            ],
        )

    def to_state(self) -> NDArray[np.int64]:
        """A new state for the kernels, int64[STATE_SIZE]. Which cards were won is not known."""
        at = kernels
        state = np.zeros(at.STATE_SIZE, np.int64)
        first, second, third = (hand.mask for hand in self.hands)
        at.start(state, first, second, third, self.leader, self.trump, self.trick_number)
        state[at.NEXT_TRUMP] = self.next_trump
        state[at.COUNT] = len(self.table)
        for place, card in zip((at.LEAD, at.SECOND), self.table, strict=False):
            state[place] = 1 << card
        state[at.POINTS : at.POINTS + 3] = self.points
        state[at.MARRIAGES : at.MARRIAGES + 3] = self.marriages
        state[at.TRICKS : at.TRICKS + 3] = self.tricks
        for seat, suit, trick_number in self.declared:
            state[at.DECLARED + suit] = trick_number + 16 * seat
        return state

    # -- what can be seen ------------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """The seat 0–2 whose turn it is."""
        return (self.leader + len(self.table)) % 3

    @property
    def is_over(self) -> bool:
        """Whether all cards are played."""
        return not any(hand.mask for hand in self.hands)

    @property
    def marriages(self) -> Triple:
        """Points declared by seat (marriages and four aces)."""
        worth = (*self.rules.deal.marriage_values.by_suit(), self.rules.play.ace_marriage)
        first, second, third = (
            sum(worth[suit] for who, suit, _ in self.declared if who == seat) for seat in range(3)
        )
        return first, second, third

    @property
    def totals(self) -> Triple:
        """Card points and declared points by seat: what the deal is scored by."""
        first, second, third = (
            won + declared for won, declared in zip(self.points, self.marriages, strict=True)
        )
        return first, second, third

    @property
    def legal_mask(self) -> int:
        """The cards that may be played now, as a mask; 0 at the end."""
        return self._legal_acts() & 0xFFFFFF

    @property
    def legal_cards(self) -> CardSet:
        """The cards that may be played now."""
        return CardSet(self.legal_mask)

    @property
    def legal_acts(self) -> tuple[Act, ...]:
        """All ways to play now: where declaring is optional, a card can stand twice."""
        chosen = self._legal_acts() >> kernels.DECLARE
        automatic = self.rules.play.marriage_declaration == "automatic"
        acts: list[Act] = []
        for card in cards_of(self.legal_mask):
            if automatic:
                acts.append(Act(card, self.can_declare(card)))
            else:
                acts += [Act(card, False)] + [Act(card, True)] * (chosen >> card & 1)
        return tuple(acts)

    def can_declare(self, card: int | str) -> bool:
        """Whether playing this card now can declare a marriage or four aces."""
        index = _card_index(card)
        hand = self.hands[self.seat].mask
        if self.table or not hand >> index & 1:
            return False
        flags = play_flags(packed(self.rules))
        return bool(can_declare(hand, 1 << index, self.trick_number, flags))

    # -- what can be done ------------------------------------------------------------------------

    def play(self, card: int | str, declare: bool | None = None) -> Position:
        """The position after a card (index or name).

        ``declare`` None is as the rules have it: where declaring is automatic the card declares
        what it can, where it is optional it declares only with ``declare=True``. Raises
        IllegalActError if the rules do not allow the card, or not the wish.

        >>> Position(["KQ...", ".A.T.", ".9.A."], trick_number=7).play("KS").play("AC")
        Traceback (most recent call last):
        ...
        milsim.errors.IllegalActError: seat 1 may not play AC: legal is TD or AH
        """
        index = _card_index(card)
        if not self.legal_mask >> index & 1:
            names = " or ".join(map(format_card, cards_of(self.legal_mask))) or "nothing: all over"
            raise IllegalActError(
                f"seat {self.seat} may not play {format_card(index)}: legal is {names}"
            )
        able = self.can_declare(index)
        automatic = self.rules.play.marriage_declaration == "automatic"
        name = format_card(index)
        if declare and not able:
            raise IllegalActError(f"seat {self.seat} has nothing to declare with {name}")
        if declare is False and able and automatic:
            raise IllegalActError(f"leading {name} declares: these rules leave no choice")
        act = index + (kernels.DECLARE if able and (declare or automatic) else 0)
        state = self.to_state()
        array = packed(self.rules)
        kernels.play_card(state, act, play_flags(array), play_values(array))
        return Position.from_state(state, self.rules)

    def perft(self, depth: int) -> int:
        """The number of different sequences of ``depth`` acts from here; 0 beyond the last card.

        >>> Position(["KQ...", ".A.T.", ".9.A."], trick_number=7).perft(6)
        8
        """
        number = checked_int(depth, "depth")
        if not 0 <= number <= 24:
            raise DealError(f"depth must be 0 to 24, got {quote(number)}")
        return int(kernels.perft(self.to_state(), number, packed(self.rules)))

    def _legal_acts(self) -> int:
        return int(kernels.legal_acts(self.to_state(), play_flags(packed(self.rules))))

    def __str__(self) -> str:
        """The text that `parse` reads; fields at their defaults are left out."""
        return position_text(self)

    def __repr__(self) -> str:
        """An expression that makes the position again."""
        rules = self.rules
        is_preset = rules.name in preset_names() and load(rules.name) == rules
        shown = rules.name if is_preset else rules
        extra = "" if shown == "mil" else f", rules={shown!r}"
        return f"Position.parse({str(self)!r}{extra})"


def _card_index(card: object) -> int:
    index = parse_card(card) if isinstance(card, str) else checked_int(card, "card")
    format_card(index)  # raises for an index that is no card
    return index


def _is_row(values: Any) -> bool:
    """Whether these are some values in an order."""
    if isinstance(values, str | bytes | set | frozenset | dict | CardSet):
        return False
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) == 1


def _card_indices(table: Any) -> tuple[int, ...]:
    if not _is_row(table):
        raise DealError(f"table must be a sequence of cards, got {quote(table)}")
    return tuple(
        parse_card(card) if isinstance(card, str) else checked_int(card, "card on the table")
        for card in table
    )


def _triple(values: Any, what: str, most: int) -> Triple:
    if not _is_row(values) or len(values) != 3:
        raise DealError(f"{what} must be three numbers by seat, got {quote(values)}")
    first, second, third = (checked_int(value, f"{what} of a seat") for value in values)
    if min(first, second, third) < 0 or max(first, second, third) > most:
        got = ", ".join(map(quote, (first, second, third)))
        raise DealError(f"{what} of a seat must be 0 to {most}, got {got}")
    return first, second, third


def _declarations(declared: Any) -> tuple[Declaration, ...]:
    if not _is_row(declared):
        raise DealError(f"declared must be a sequence of declarations, got {quote(declared)}")
    return tuple(sorted(map(_checked_declaration, declared), key=_by_time))


def _checked_declaration(found: Any) -> Declaration:
    if not _is_row(found) or len(found) != 3:
        raise DealError(f"a declaration is a seat, a suit and a trick, got {quote(found)}")
    seat, suit, trick = (checked_int(value, "part of a declaration") for value in found)
    if not (0 <= seat < 3 and 0 <= suit <= FOUR_ACES_DECLARED and 1 <= trick <= 8):
        got = f"seat {quote(seat)}, suit {quote(suit)}, trick {quote(trick)}"
        raise DealError(f"no declaration: {got}")
    return Declaration(seat, suit, trick)


def _by_time(found: Declaration) -> tuple[int, int]:
    return found.trick_number, found.suit


__all__ = ["Act", "Declaration", "Position"]
