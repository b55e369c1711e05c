"""How positions are written: ``hand | hand | hand; leader 1; trump H; table KS 9C; trick 3``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from milsim.cards import NO_TRUMP, SUIT_LETTERS, SUIT_SYMBOLS, checked_text, format_card
from milsim.errors import NotationError, nearest, quote
from milsim.position.faults import full_count

if TYPE_CHECKING:
    from milsim.position.value import Position

_FORM = "write hand | hand | hand; leader 0; trump H; table KS 9C; trick 3"
_DECLARATION = re.compile(r"([0-2])([SCDHA])([1-8])")
_LONGEST = 1000


def _number(text: str, field: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise NotationError(f"{field} of a position must be a number, got {quote(text)}")
    return int(text)


def _numbers(text: str, field: str) -> list[int]:
    return [_number(part, field) for part in text.split()]


def _trump(text: str, field: str) -> int:
    for suit, signs in enumerate(
        zip(SUIT_LETTERS, SUIT_LETTERS.lower(), SUIT_SYMBOLS, strict=True)
    ):
        if text in signs:
            return suit
    if text in ("none", "-", ""):
        return NO_TRUMP
    raise NotationError(f"{field} of a position must be S, C, D, H or none, got {quote(text)}")


def _cards(text: str, _field: str) -> list[str]:
    return text.split()


def _declarations(text: str, field: str) -> list[tuple[int, int, int]]:
    found = []
    for part in text.split():
        match = _DECLARATION.fullmatch(part)
        if match is None:
            raise NotationError(
                f"{field} of a position must be seat, suit or A, and trick, like 0H2, "
                f"got {quote(part)}"
            )
        found.append((int(match[1]), (SUIT_LETTERS + "A").index(match[2]), int(match[3])))
    return found


_READERS: dict[str, tuple[str, Any]] = {
    "leader": ("leader", _number),
    "trump": ("trump", _trump),
    "table": ("table", _cards),
    "trick": ("trick_number", _number),
    "next_trump": ("next_trump", _trump),
    "points": ("points", _numbers),
    "tricks": ("tricks", _numbers),
    "declared": ("declared", _declarations),
}


def parse_fields(text: str) -> dict[str, Any]:
    """The arguments of `Position` that a text gives; raises NotationError.

    >>> parse_fields("KQ... | .A.T. | .9.A.; leader 1")["leader"]
    1
    """
    checked = checked_text(text, "position")
    if len(checked) > _LONGEST:
        raise NotationError(f"position of {len(checked)} characters: {_FORM}")
    hands, *parts = checked.split(";")
    fields: dict[str, Any] = {"hands": [hand.strip() for hand in re.split(r"[|/]", hands)]}
    if len(fields["hands"]) != 3:
        raise NotationError(f"{quote(hands)} is not three hands: {_FORM}")
    for part in filter(None, map(str.strip, parts)):
        name, _, value = part.partition(" ")
        if name not in _READERS:
            raise NotationError(f"unknown field {quote(name)}: {nearest(name, _READERS)}")
        argument, read = _READERS[name]
        if argument in fields:
            raise NotationError(f"{name} is given twice in {quote(checked)}")
        fields[argument] = read(value.strip(), name)
    return fields


def position_text(position: Position) -> str:
    """The canonical text of a position; fields at their defaults are left out."""
    trumps = (*SUIT_LETTERS, "none")
    masks = [hand.mask for hand in position.hands]
    full = full_count(masks, position.leader, position.table)
    parts = [
        " | ".join(map(str, position.hands)),
        f"leader {position.leader}" if position.leader else "",
        f"trump {trumps[position.trump]}" if position.trump != NO_TRUMP else "",
        f"table {' '.join(map(format_card, position.table))}" if position.table else "",
        f"trick {position.trick_number}" if position.trick_number != 9 - full else "",
        f"next_trump {trumps[position.next_trump]}"
        if position.next_trump != position.trump
        else "",
        f"points {' '.join(map(str, position.points))}" if any(position.points) else "",
        f"tricks {' '.join(map(str, position.tricks))}" if any(position.tricks) else "",
        f"declared {' '.join(map(str, position.declared))}" if position.declared else "",
    ]
    return "; ".join(filter(None, parts))


__all__ = ["parse_fields", "position_text"]
