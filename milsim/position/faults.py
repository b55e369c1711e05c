"""All that can be wrong with three hands, a leader, a trump and some cards on the table."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import SupportsIndex

from milsim.cards import ALL_CARDS, N_CARDS, NO_TRUMP, CardSet, checked_int, format_card, parse_hand
from milsim.errors import NotationError, quote

MOST_CARDS = 8


class PositionFault(IntFlag):
    """What can be wrong with a position; `PositionFault(0)` is a right one."""

    UNKNOWN_CARD = 1
    DUPLICATE_CARD = 2
    UNEQUAL_COUNTS = 4
    TOO_MANY_CARDS = 8
    BAD_LEADER = 16
    BAD_TRUMP = 32
    BAD_TABLE = 64
    BAD_TRICK_NUMBER = 128
    BAD_DECLARATION = 256
    BAD_NEXT_TRUMP = 512


def as_mask(hand: CardSet | SupportsIndex | str, what: str) -> int:
    """The mask of a hand given as mask, `CardSet` or text, its bits not yet checked.

    Raises DealError for what is no integer, NotationError for text that cannot be read.

    >>> as_mask("9...", "hand 0")
    1
    """
    if isinstance(hand, CardSet):
        return hand.mask
    if isinstance(hand, str):
        try:
            return parse_hand(hand)
        except NotationError as error:
            raise NotationError(f"{what}: {error}") from None
    return checked_int(hand, f"mask of {what}")


def _has_played(seat: int, leader: int, table: Sequence[int]) -> bool:
    return (seat - leader) % 3 < len(table)


def full_count(masks: Sequence[int], leader: int, table: Sequence[int]) -> int:
    """How many cards a hand had before the trick on the table.

    >>> full_count([1, 2, 4], 0, [5])
    2
    """
    return max(
        mask.bit_count() + _has_played(seat, leader, table) for seat, mask in enumerate(masks)
    )


def _found(
    masks: Sequence[int], leader: int, trump: int, table: Sequence[int], trick_number: int
) -> dict[PositionFault, list[str]]:
    found: dict[PositionFault, list[str]] = {}

    def note(fault: PositionFault, words: str) -> None:
        found.setdefault(fault, []).append(words)

    for seat, mask in enumerate(masks):
        if mask & ~ALL_CARDS:
            note(PositionFault.UNKNOWN_CARD, f"hand {seat} has bits outside the 24 cards")
    for card in table:
        if not 0 <= card < N_CARDS:
            note(PositionFault.UNKNOWN_CARD, f"card {quote(card)} on the table is not 0 to 23")
    for card in range(N_CARDS):
        hands = [str(seat) for seat, mask in enumerate(masks) if mask >> card & 1]
        places = ["hands " + " and ".join(hands)] if len(hands) > 1 else []
        if card in table and hands:
            places.append(f"hand {hands[0]} and on the table")
        if table.count(card) > 1:
            places.append("the table twice")
        for place in places:
            note(PositionFault.DUPLICATE_CARD, f"{format_card(card)} in {place}")
    if not 0 <= trump <= NO_TRUMP:
        note(PositionFault.BAD_TRUMP, f"trump is {quote(trump)}, not a suit 0 to 3, or 4 for none")
    if len(table) > 2:
        note(PositionFault.BAD_TABLE, f"{len(table)} cards on the table, not 0 to 2")
    if not 0 <= leader < 3:
        note(PositionFault.BAD_LEADER, f"leader is {quote(leader)}, not a seat 0 to 2")
    if found.keys() & {PositionFault.BAD_LEADER, PositionFault.BAD_TABLE}:
        return found
    counts = [(mask & ALL_CARDS).bit_count() for mask in masks]
    full = full_count([mask & ALL_CARDS for mask in masks], leader, table)
    fitting = [full - _has_played(seat, leader, table) for seat in range(3)]
    if counts != fitting:
        have, need = (", ".join(map(str, some)) for some in (counts, fitting))
        note(PositionFault.UNEQUAL_COUNTS, f"hands have {have} cards, not {need}")
    if full > MOST_CARDS:
        note(PositionFault.TOO_MANY_CARDS, f"{full} cards a hand, not up to {MOST_CARDS}")
    elif not 1 <= trick_number <= 9 - full:
        note(
            PositionFault.BAD_TRICK_NUMBER,
            f"trick {quote(trick_number)} with {full} cards a hand, not 1 to {9 - full}",
        )
    return found


def faults_of(
    masks: Sequence[int], leader: int, trump: int, table: Sequence[int], trick_number: int
) -> PositionFault:
    """All faults, none for a position. Nothing is raised: the arguments are any integers.

    >>> faults_of([1, 2, 4], 0, 4, [], 8)
    <PositionFault: 0>
    """
    faults = PositionFault(0)
    for fault in _found(masks, leader, trump, table, trick_number):
        faults |= fault
    return faults


def fault_words(
    masks: Sequence[int], leader: int, trump: int, table: Sequence[int], trick_number: int
) -> list[str]:
    """The faults in words, for a message.

    >>> fault_words([1, 2, 4], 3, 4, [], 8)
    ['leader is 3, not a seat 0 to 2']
    """
    found = _found(masks, leader, trump, table, trick_number)
    return [words for some in found.values() for words in some]


__all__ = ["PositionFault", "as_mask", "fault_words", "faults_of", "full_count"]
