"""The small language of conditions on a hand: `marriages=H, aces>=2, not four_nines`.

Terms are joined by commas, spaces or `and`; all must hold. A term is

- a count compared with a whole number: `aces>=2`, `points<20`, `marriages=1`, `hearts!=0`. Counts
  are the features listed in `FEATURES`; comparisons are `=` `!=` `<` `<=` `>` `>=`;
- a set of suits compared with suits (letters S C D H or ♠♣♦♥, or `none`): `marriages=HD` is exactly
  these two, `marriages>=H` hearts and perhaps others, `half_marriages<=SC` none but these;
- cards held or not: `has=AS`, `has="AS TH"` (both), `lacks=9C`, `lacks="9C 9D"` (neither);
- a bare flag: `four_nines`, `not four_nines`.

A condition has one canonical text, which `str` gives and `Where.parse` reads back. Nothing is ever
evaluated as Python; matching is vectorised over arrays of masks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from milsim.cards import (
    ACE,
    CARD_POINTS,
    JACK,
    KING,
    MARRIAGE_MASKS,
    NINE,
    PRINTED_SUITS,
    QUEEN,
    RANK_MASKS,
    RANKS,
    SUIT_LETTERS,
    SUIT_MASKS,
    SUIT_SYMBOLS,
    SUITS,
    TEN,
    cards_of,
    checked_text,
    format_card,
    parse_card,
    parse_hand,
)
from milsim.errors import NotationError, nearest, quote

Masks: TypeAlias = NDArray[np.signedinteger[Any]]
"""Hands as masks of cards, int32 or int64, any shape."""

MARRIAGE_VALUES: Final = (40, 60, 80, 100)  # the rule set `mil`: spades, clubs, diamonds, hearts

FEATURES: Final = {
    "marriages": "suits with king and queen: a number or suits",
    "half_marriages": "suits with exactly one of king and queen: a number or suits",
    "marriage_points": "value of the marriages held",
    "points": "card points of the hand",
    "aces": "aces held",
    "tens": "tens held",
    "guarded_tens": "tens with at least one other card of their suit",
    "kings": "kings held",
    "queens": "queens held",
    "jacks": "jacks held",
    "nines": "nines held",
    "spades": "cards of the suit",
    "clubs": "cards of the suit",
    "diamonds": "cards of the suit",
    "hearts": "cards of the suit",
    "longest": "cards of the longest suit",
    "voids": "suits without a card",
    "four_nines": "all four nines held (a bare flag)",
    "has": "holds all these cards",
    "lacks": "holds none of these cards",
}
"""What a condition can speak of, with a word of help each, in canonical order."""

_SUIT_SETS = ("marriages", "half_marriages")
_FLAGS = ("four_nines",)
_CARDS = ("has", "lacks")
_RANK_FEATURES = {
    "aces": ACE, "tens": TEN, "kings": KING, "queens": QUEEN, "jacks": JACK, "nines": NINE
}  # fmt: skip
_SUIT_FEATURES = ("spades", "clubs", "diamonds", "hearts")

_OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
_OTHER_SIGNS = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">="}
_SEPARATOR = re.compile(r"[\s,]+")
_TERM = re.compile(
    r"(?P<name>[^\s,\"'<>=!≠≤≥]+)"
    r"(?:\s*(?P<operator>[<>=!≠≤≥]+)\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s,\"'<>=!≠≤≥]*))?"
)
_SUIT_SIGNS = {
    sign: suit
    for signs in (SUIT_LETTERS, SUIT_LETTERS.lower(), SUIT_SYMBOLS)
    for suit, sign in enumerate(signs)
}
_MAX_DIGITS = 6


# ---------------------------------------------------------------------------------- the features


def feature(
    name: str, masks: Masks, *, marriage_values: Sequence[int] = MARRIAGE_VALUES
) -> NDArray[np.int64]:
    """A counted feature of each hand, as int64 of the masks' shape; points in card points.

    `marriage_values` are those of the rules, by suit. Raises NotationError for an unknown name.

    >>> feature("aces", np.array([0b100000, 0b100000100000])).tolist()
    [1, 2]
    """
    if name in _RANK_FEATURES:
        return _count(masks & RANK_MASKS[_RANK_FEATURES[name]])
    if name in _SUIT_FEATURES:
        return _count(masks & SUIT_MASKS[_SUIT_FEATURES.index(name)])
    if name in _SUIT_SETS:
        return _count(suit_set(name, masks))
    if name == "points":
        terms = (CARD_POINTS[rank] * _count(masks & RANK_MASKS[rank]) for rank in RANKS)
        return _sum(terms, masks)
    if name == "marriage_points":
        held = suit_set("marriages", masks)
        return _sum((marriage_values[suit] * (held >> suit & 1) for suit in SUITS), masks)
    lengths = [_count(masks & SUIT_MASKS[suit]) for suit in SUITS]
    if name == "guarded_tens":
        tens = (masks & SUIT_MASKS[suit] & RANK_MASKS[TEN] for suit in SUITS)
        pairs = zip(tens, lengths, strict=True)
        return _sum(((ten != 0) & (length > 1) for ten, length in pairs), masks)
    if name == "longest":
        longest = lengths[0]
        for length in lengths[1:]:
            longest = np.maximum(longest, length)
        return longest
    if name == "voids":
        return _sum((length == 0 for length in lengths), masks)
    if name == "four_nines":
        return _sum(iter([masks & RANK_MASKS[NINE] == RANK_MASKS[NINE]]), masks)
    raise NotationError(f"unknown feature {quote(name)}: {nearest(name, FEATURES)}")


def suit_set(name: str, masks: Masks) -> NDArray[np.int64]:
    """The suits with a marriage (`marriages`) or half of one (`half_marriages`), as bits 0 … 3.

    >>> suit_set("marriages", np.array([0b001100, 0b001000])).tolist()
    [1, 0]
    """
    wanted = 2 if name == "marriages" else 1
    held = (
        (_count(masks & MARRIAGE_MASKS[suit]) == wanted).astype(np.int64) << suit for suit in SUITS
    )
    return _sum(held, masks)


def _count(masks: Masks) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.bitwise_count(masks).astype(np.int64)
    return counts


def _sum(terms: Iterator[NDArray[Any]], masks: Masks) -> NDArray[np.int64]:
    total = np.zeros(masks.shape, np.int64)
    for term in terms:
        total += term
    return total


# ------------------------------------------------------------------------------------- the terms


class Term(NamedTuple):
    """One comparison: a feature, one of the six signs, and what it is compared with."""

    feature: str
    operator: str
    value: int
    """A count; suits as bits 0 … 3 if `is_set`; a mask of cards; 1 or 0 for a flag."""
    is_set: bool = False

    def matches(
        self, masks: Masks, *, marriage_values: Sequence[int] = MARRIAGE_VALUES
    ) -> NDArray[np.bool_]:
        """Which hands fit this term: bool of the masks' shape.

        >>> Term("aces", ">=", 1).matches(np.array([0, 0b100000])).tolist()
        [False, True]
        """
        value = self.value
        fits: NDArray[np.bool_]
        if self.feature == "has":
            fits = masks & value == value
        elif self.feature == "lacks":
            fits = masks & value == 0
        elif not self.is_set:
            counts = feature(self.feature, masks, marriage_values=marriage_values)
            fits = _COMPARISONS[self.operator](counts, value)
        else:
            held = suit_set(self.feature, masks)
            fits = held == value
            if self.operator == "!=":
                fits = ~fits
            elif self.operator != "=":  # as with Python's sets: <= is "subset of"
                smaller = held & value == (value if self.operator.startswith(">") else held)
                fits = smaller if self.operator.endswith("=") else smaller & ~fits
        return fits

    def __str__(self) -> str:
        """The term in canonical notation."""
        if self.feature in _FLAGS:
            return self.feature if self.value else f"not {self.feature}"
        if self.feature in _CARDS:
            down = sorted(cards_of(self.value), key=lambda c: (PRINTED_SUITS.index(c // 6), -c))
            cards = " ".join(map(format_card, down))
            return f'{self.feature}="{cards}"' if " " in cards else f"{self.feature}={cards}"
        value = str(self.value)
        if self.is_set:
            letters = (SUIT_LETTERS[suit] for suit in reversed(SUITS) if self.value >> suit & 1)
            value = "".join(letters) or "none"
        return f"{self.feature}{self.operator}{value}"


_COMPARISONS: Final[dict[str, Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on a hand: terms that must all hold; none at all holds for every hand.

    >>> where = Where.parse("aces >= 2 and marriages=H")
    >>> str(where), Where.parse(str(where)) == where
    ('marriages=H, aces>=2', True)
    """

    terms: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        """Put the terms in canonical order, each once: equal conditions have equal texts."""
        order = list(FEATURES)
        unique = set(self.terms)
        ordered = sorted(unique, key=lambda term: (order.index(term.feature), *term[1:]))
        object.__setattr__(self, "terms", tuple(ordered))

    @classmethod
    def parse(cls, text: str) -> Where:
        """Read a condition; raises NotationError that names the term and what is wrong with it.

        >>> Where.parse("acs>=2")
        Traceback (most recent call last):
        milsim.errors.NotationError: unknown feature 'acs' in 'acs>=2': did you mean aces?
        """
        return cls(tuple(_read_terms(checked_text(text, "condition"))))

    def matches(
        self, masks: Masks, *, marriage_values: Sequence[int] = MARRIAGE_VALUES
    ) -> NDArray[np.bool_]:
        """Which hands fit: bool of the masks' shape.

        >>> Where.parse("aces=1, points>11").matches(np.array([0b100000, 0b110000])).tolist()
        [False, True]
        """
        fits = np.ones(masks.shape, np.bool_)
        for term in self.terms:
            fits &= term.matches(masks, marriage_values=marriage_values)
        return fits

    def __str__(self) -> str:
        """The one canonical text."""
        return ", ".join(map(str, self.terms))


# ---------------------------------------------------------------------------------- the reading


def _read_terms(text: str) -> Iterator[Term]:
    place = 0
    is_negated = False
    while place < len(text):
        gap = _SEPARATOR.match(text, place)
        if gap:
            place = gap.end()
            continue
        found = _TERM.match(text, place)
        if found is None:
            raise NotationError(
                f"a feature is missing before {quote(text[place:])} in {quote(text)}"
            )
        place = found.end()
        name = found["name"].lower()
        if found["operator"] is None and name in ("and", "not"):
            if is_negated:
                raise NotationError(f"not before {name} in {quote(text)}: not goes before a flag")
            is_negated = name == "not"
            continue
        value = found["value"]
        if name in _CARDS and value and value[0] not in "\"'":
            # A shell takes the quotes of has="AS TH" away: cards that follow belong to it.
            while (more := _SEPARATOR.match(text, place)) and (
                word := _TERM.match(text, more.end())
            ):
                if word["operator"] is not None or not _is_card(word["name"]):
                    break
                value, place = f"{value} {word['name']}", word.end()
        yield _read_term(name, found["operator"], value, found[0].strip(), is_negated)
        is_negated = False
    if is_negated:
        raise NotationError(f"a flag is missing after not in {quote(text)}")


def _is_card(word: str) -> bool:
    try:
        parse_card(word)
    except NotationError:
        return False
    return True


def _read_term(name: str, sign: str | None, value: str | None, text: str, negated: bool) -> Term:
    where = f"in {quote(text)}"
    if name not in FEATURES:
        if name in ("or", "|", "||"):
            raise NotationError("or is not known in a condition: all terms must hold together")
        raise NotationError(f"unknown feature {quote(name)} {where}: {nearest(name, FEATURES)}")
    if name in _FLAGS:
        if sign is not None:
            raise NotationError(f"{name} {where} stands alone: {name}, or not {name}")
        return Term(name, "=", int(not negated))
    if negated:
        raise NotationError(f"not goes before a flag only (not four_nines), not {quote(text)}")
    example = f"{name}=AS" if name in _CARDS else f"{name}>=1"
    if sign is None:
        raise NotationError(f"{name} {where} needs a comparison, such as {example}")
    operator = _OTHER_SIGNS.get(sign, sign)
    if operator not in _OPERATORS:
        raise NotationError(
            f"unknown comparison {quote(sign)} {where}: one of {' '.join(_OPERATORS)}"
        )
    bare = (value or "").strip("\"'").strip()
    if not bare:
        raise NotationError(f"nothing is compared {where}: write {example}, say")
    if name in _CARDS:
        if operator != "=":
            raise NotationError(f"{name} {where} is followed by = and cards, such as {example}")
        return Term(name, "=", _read_cards(bare, where))
    if bare.isascii() and bare.isdecimal():
        if len(bare) > _MAX_DIGITS:
            raise NotationError(f"the number {where} is too large for a hand")
        return Term(name, operator, int(bare))
    if name in _SUIT_SETS:
        return Term(name, operator, _read_suits(bare, where), True)
    raise NotationError(f"{quote(bare)} {where} is no whole number, as {name} needs")


def _read_cards(text: str, where: str) -> int:
    try:
        return parse_hand(text)
    except NotationError as error:
        raise NotationError(f"{error} {where}") from None


def _read_suits(text: str, where: str) -> int:
    if text.lower() == "none":
        return 0
    suits = 0
    for sign in text.replace("\ufe0e", "").replace("\ufe0f", ""):
        if sign not in _SUIT_SIGNS:
            letters = " ".join(SUIT_LETTERS)
            raise NotationError(
                f"{quote(text)} {where} is no number and no set of suits: letters {letters}, none"
            )
        if suits >> _SUIT_SIGNS[sign] & 1:
            raise NotationError(f"a suit is given twice {where}")
        suits |= 1 << _SUIT_SIGNS[sign]
    return suits


__all__ = ["FEATURES", "MARRIAGE_VALUES", "Term", "Where", "feature", "suit_set"]
