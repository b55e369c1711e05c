"""Deals: who holds what before the auction, the number of a deal, and how deals are written.

A deal is 7 cards each for forehand, middlehand and rearhand, and 3 in the talon. Each of the
807,723,671,040 deals has one number, shareable like the number of a FreeCell game (RULES.md §1).
Pure Python and quick to import; `milsim.dealing` makes deals by the million.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from html import escape
from math import comb
from typing import SupportsIndex, TypedDict

from milsim.cards import (
    ALL_CARDS,
    CardSet,
    cards_of,
    checked_int,
    checked_text,
    format_card,
    parse_hand,
)
from milsim.errors import DealError, NotationError, nearest, quote

SEATS = FOREHAND, MIDDLEHAND, REARHAND = 0, 1, 2
SEAT_NAMES = ("forehand", "middlehand", "rearhand")
PLACES = (*SEAT_NAMES, "talon")  # where a card can be; also the order of writing a deal

HAND_CARDS = 7
TALON_CARDS = 3
PLACE_CARDS = (HAND_CARDS, HAND_CARDS, HAND_CARDS, TALON_CARDS)

_N_FOREHANDS = comb(24, 7)
_N_MIDDLEHANDS = comb(17, 7)
_N_REARHANDS = comb(10, 7)
N_DEALS = _N_FOREHANDS * _N_MIDDLEHANDS * _N_REARHANDS  # 807,723,671,040

_NUMBER = re.compile(r"#?\s*([+-]?[0-9]+)")
_REST = "*"
_DEAL_FORM = (
    "write a deal number, or forehand, middlehand, rearhand and talon as "
    "AKQ.T9.J.A hands between spaces, or any hands between |"
)


class DealFault(IntFlag):
    """All that can be wrong with four masks as a deal; `DealFault(0)` is a right deal."""

    UNKNOWN_CARD = 1
    DUPLICATE_CARD = 2
    MISSING_CARD = 4
    FOREHAND_COUNT = 8
    MIDDLEHAND_COUNT = 16
    REARHAND_COUNT = 32
    TALON_COUNT = 64


_COUNT_FAULTS = (
    DealFault.FOREHAND_COUNT,
    DealFault.MIDDLEHAND_COUNT,
    DealFault.REARHAND_COUNT,
    DealFault.TALON_COUNT,
)


class DealDict(TypedDict):
    """A deal as JSON: its number and its four places in canonical notation."""

    deal: int
    forehand: str
    middlehand: str
    rearhand: str
    talon: str


# -- combinations --------------------------------------------------------------------------------


def combination_rank(mask: int) -> int:
    """The colexicographic rank of a set of positions among all sets of its size (RULES.md §1).

    With positions c0 < c1 < …, it is C(c0, 1) + C(c1, 2) + …: sets are ordered by their highest
    position, then the next highest. Raises DealError for a negative mask.

    >>> [combination_rank(mask) for mask in (0b011, 0b101, 0b110, 0b1001)]
    [0, 1, 2, 3]
    """
    mask = checked_int(mask, "mask of positions")
    if mask < 0:
        raise DealError(f"mask of positions must be 0 or more, got {quote(mask)}")
    rank = size = 0
    while mask:
        size += 1
        rank += comb((mask & -mask).bit_length() - 1, size)
        mask &= mask - 1
    return rank


def combination_unrank(rank: int, n: int, k: int) -> int:
    """The mask of k of n positions with this colexicographic rank (RULES.md §1).

    Raises DealError unless 0 ≤ k ≤ n and 0 ≤ rank < C(n, k).

    >>> bin(combination_unrank(3, 4, 2))
    '0b1001'
    """
    rank, n, k = checked_int(rank, "rank"), checked_int(n, "n"), checked_int(k, "k")
    if not 0 <= k <= n:
        raise DealError(f"cannot choose k = {quote(k)} of n = {quote(n)}: k must be 0 to n")
    if not 0 <= rank < comb(n, k):
        raise DealError(
            f"rank {quote(rank)} of {k} of {n} positions: must be 0 to {comb(n, k) - 1}"
        )
    mask = 0
    position = n
    while k:
        position -= 1
        below = comb(position, k)  # how many sets have all their k positions below this one
        if rank >= below:
            rank -= below
            mask |= 1 << position
            k -= 1
    return mask


def _renumbered(mask: int, among: Sequence[int]) -> int:
    """The mask over places in `among` (ascending cards) instead of over the cards themselves."""
    return sum(1 << place for place, card in enumerate(among) if mask >> card & 1)


def _card_mask(places: int, among: Sequence[int]) -> int:
    """The opposite of `_renumbered`."""
    return sum(1 << card for place, card in enumerate(among) if places >> place & 1)


# -- deals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Deal:
    """A deal: `forehand`, `middlehand`, `rearhand` and `talon`, each a `CardSet`.

    Made of masks or sets, or by `Deal.from_id`, `Deal.parse`, `Deal.from_dict`. Raises DealError
    naming every fault when the cards do not make a deal.

    >>> deal = Deal.from_id(688_907_321_587)
    >>> print(deal)
    A.AQ9.AJ.K | TKQJ9..Q.9 | .TK.K9.AQJ | .J.T.T
    >>> deal.hands[FOREHAND].points, deal.talon.points
    (42, 22)
    """

    forehand: CardSet
    middlehand: CardSet
    rearhand: CardSet
    talon: CardSet

    def __init__(
        self,
        forehand: CardSet | SupportsIndex,
        middlehand: CardSet | SupportsIndex,
        rearhand: CardSet | SupportsIndex,
        talon: CardSet | SupportsIndex,
    ) -> None:
        """Check the four masks or sets, and keep them."""
        masks = _masks(forehand, middlehand, rearhand, talon)
        if self.faults_of(*masks):
            raise DealError("no deal: " + "; ".join(_fault_words(masks)))
        for place, mask in zip(PLACES, masks, strict=True):
            object.__setattr__(self, place, CardSet(mask))

    @staticmethod
    def faults_of(
        forehand: CardSet | SupportsIndex,
        middlehand: CardSet | SupportsIndex,
        rearhand: CardSet | SupportsIndex,
        talon: CardSet | SupportsIndex,
    ) -> DealFault:
        """All faults of four masks as a deal, none if they are one.

        Cards that do not exist (bits outside the 24) are UNKNOWN_CARD and count in no hand. Raises
        DealError only for what is no integer.

        >>> Deal.faults_of(0x7F, 0x7F << 7, 0x7F << 14, 0b111 << 21) == DealFault(0)
        True
        >>> Deal.faults_of(0x7F, 0x7F << 7, 0x7F << 14, 0b111 << 20)
        <DealFault.DUPLICATE_CARD|MISSING_CARD: 6>
        """
        masks = _masks(forehand, middlehand, rearhand, talon)
        faults = DealFault(0)
        seen = 0
        for mask, count, fault in zip(masks, PLACE_CARDS, _COUNT_FAULTS, strict=True):
            known = mask & ALL_CARDS
            if known != mask:
                faults |= DealFault.UNKNOWN_CARD
            if known & seen:
                faults |= DealFault.DUPLICATE_CARD
            if known.bit_count() != count:
                faults |= fault
            seen |= known
        return faults if seen == ALL_CARDS else faults | DealFault.MISSING_CARD

    @classmethod
    def from_id(cls, number: SupportsIndex) -> Deal:
        """The deal with this number (RULES.md §1); raises DealError outside 0 to N_DEALS - 1.

        >>> Deal.from_id(0).talon
        CardSet.parse('.ATK..')
        """
        number = checked_int(number, "deal number")
        if not 0 <= number < N_DEALS:
            raise DealError(f"deal number {quote(number)} is out of range: 0 to {N_DEALS - 1}")
        rest, rearhand_rank = divmod(number, _N_REARHANDS)
        forehand_rank, middlehand_rank = divmod(rest, _N_MIDDLEHANDS)
        left = ALL_CARDS
        hands = []
        for rank in (forehand_rank, middlehand_rank, rearhand_rank):
            among = cards_of(left)
            hands.append(_card_mask(combination_unrank(rank, len(among), HAND_CARDS), among))
            left &= ~hands[-1]
        forehand, middlehand, rearhand = hands
        return cls(forehand, middlehand, rearhand, left)

    @property
    def id(self) -> int:
        """The number of the deal, 0 to N_DEALS - 1 (RULES.md §1)."""
        number = 0
        left = ALL_CARDS
        for hand in self.hand_masks:
            among = cards_of(left)
            number *= comb(len(among), HAND_CARDS)
            number += combination_rank(_renumbered(hand, among))
            left &= ~hand
        return number

    @property
    def hands(self) -> tuple[CardSet, CardSet, CardSet]:
        """The hands of forehand, middlehand and rearhand."""
        return self.forehand, self.middlehand, self.rearhand

    @property
    def hand_masks(self) -> tuple[int, int, int]:
        """The masks of `hands`."""
        return self.forehand.mask, self.middlehand.mask, self.rearhand.mask

    @property
    def talon_mask(self) -> int:
        """The mask of `talon`."""
        return self.talon.mask

    def hand(self, seat: int) -> CardSet:
        """The hand of a seat: FOREHAND 0, MIDDLEHAND 1, REARHAND 2; else raises DealError.

        >>> Deal.from_id(0).hand(REARHAND)
        CardSet.parse('.QJ9.ATKQ.')
        """
        seat = checked_int(seat, "seat")
        if seat not in SEATS:
            raise DealError(f"seat {quote(seat)} is out of range: 0 forehand to 2 rearhand")
        return self.hands[seat]

    def hand_mask(self, seat: int) -> int:
        """The mask of `hand(seat)`."""
        return self.hand(seat).mask

    @classmethod
    def parse(cls, text: str, *, letters: str = "english") -> Deal:
        """The deal that a text describes.

        Either a deal number (`688907321587`, `#688907321587`), or forehand, middlehand, rearhand,
        talon: in the notation of `milsim.cards` between `|`, `/` or line ends, or in dotted
        notation between spaces. One of the four may be `*`, or the talon left out: it is the
        rest of the deck. What `pretty` prints is read too. Raises NotationError for what cannot be
        read, DealError for a number out of range or cards that are no deal.

        >>> Deal.parse("A.AQ9.AJ.K TKQJ9..Q.9 .TK.K9.AQJ *").talon
        CardSet.parse('.J.T.T')
        """
        text = checked_text(text, "deal").strip()
        number = _NUMBER.fullmatch(text)
        if number:
            digits = number[1].lstrip("+0") or "0"
            if len(digits) > len(str(N_DEALS)):  # too long for int() to be safe, or right
                raise DealError(f"deal number {quote(text)} is out of range: 0 to {N_DEALS - 1}")
            return cls.from_id(int(digits))
        masks = [
            None if part == _REST else _parse_place(part, place, letters)
            for part, place in zip(_parts(text), PLACES, strict=True)
        ]
        known = 0
        for mask in masks:
            known |= mask or 0
        return cls(*(ALL_CARDS & ~known if mask is None else mask for mask in masks))

    def to_dict(self) -> DealDict:
        """The deal as a JSON object: `deal` (its number) and the four places, canonical.

        >>> Deal.from_id(0).to_dict()["talon"]
        '.ATK..'
        """
        return {
            "deal": self.id,
            "forehand": str(self.forehand),
            "middlehand": str(self.middlehand),
            "rearhand": str(self.rearhand),
            "talon": str(self.talon),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Deal:
        """The deal of a JSON object: by `deal`, by hands (the talon may be missing), or by both.

        Raises NotationError for an unknown or missing key or unreadable hand, DealError for cards
        that are no deal or hands that are not those of the number.

        >>> Deal.from_dict({"deal": 0}) == Deal.from_id(0)
        True
        """
        if not isinstance(data, Mapping):
            raise NotationError(f"deal must be an object with keys, got {quote(data)}")
        for key in data:
            if key != "deal" and key not in PLACES:
                hint = nearest(str(key), ("deal", *PLACES))
                raise NotationError(f"unknown key {quote(key)} in a deal: {hint}")
        by_number = cls.from_id(data["deal"]) if "deal" in data else None  # type: ignore[arg-type]
        places = [place for place in PLACES if place in data]
        hands = {place: _parse_place(data[place], place, "english") for place in places}
        if by_number is not None:
            for place, mask in hands.items():
                if mask != getattr(by_number, place).mask:
                    raise DealError(
                        f"{place} {quote(data[place])} is not that of deal {by_number.id}"
                    )
            return by_number
        for seat in SEAT_NAMES:
            if seat not in hands:
                raise NotationError(f"no {seat} in a deal: give deal (its number) or all hands")
        rest = ALL_CARDS & ~(hands["forehand"] | hands["middlehand"] | hands["rearhand"])
        talon = hands.get("talon", rest)
        return cls(hands["forehand"], hands["middlehand"], hands["rearhand"], talon)

    def pretty(self, *, ascii: bool = False) -> str:  # noqa: A002 (what it means)
        """The deal for people to read, one line a place; `Deal.parse` reads it too.

        >>> print(Deal.from_id(0).pretty().splitlines()[0])
        forehand    ♠ A 10 K Q J 9  ♥ -  ♦ -  ♣ 9
        """
        return "\n".join(
            f"{place:<10}  {cards.pretty(ascii=ascii)}" for place, cards in self._places()
        )

    def _places(self) -> list[tuple[str, CardSet]]:
        return list(zip(PLACES, (*self.hands, self.talon), strict=True))

    def __str__(self) -> str:
        """The canonical text: the four places in canonical notation between `|`."""
        return " | ".join(str(cards) for _, cards in self._places())

    def __repr__(self) -> str:
        """An expression that makes the deal again."""
        return f"Deal.from_id({self.id})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(place)}</th>'
            f'<td style="text-align:left">{cards._repr_html_()}</td></tr>'
            for place, cards in self._places()
        )
        return f"<table><caption>deal {self.id}</caption><tbody>{rows}</tbody></table>"


def _masks(*places: CardSet | SupportsIndex) -> list[int]:
    return [
        cards.mask if isinstance(cards, CardSet) else checked_int(cards, f"mask of {place}")
        for cards, place in zip(places, PLACES, strict=True)
    ]


def _fault_words(masks: Sequence[int]) -> list[str]:
    words = []
    for mask, place, count in zip(masks, PLACES, PLACE_CARDS, strict=True):
        if mask & ~ALL_CARDS:
            words.append(f"mask {quote(mask)} of {place} has bits outside the 24 cards")
        if (mask & ALL_CARDS).bit_count() != count:
            words.append(f"{place} has {(mask & ALL_CARDS).bit_count()} cards, not {count}")
    cards_by_holders: dict[str, list[str]] = {}
    for card in cards_of(ALL_CARDS):
        holders = [place for mask, place in zip(masks, PLACES, strict=True) if mask >> card & 1]
        if len(holders) != 1:
            where = " and ".join(holders) or "no hand"
            cards_by_holders.setdefault(where, []).append(format_card(card))
    return words + [f"{' '.join(cards)} in {where}" for where, cards in cards_by_holders.items()]


def _parts(text: str) -> list[str]:
    """The texts of the four places, `*` for the one that is the rest of the deck."""
    if re.search(r"[|/\n\r]", text):
        # First one blank or line end for each stretch of them, so that no pattern backtracks.
        short = re.sub(r"\s+", lambda blank: "\n" if set(blank[0]) & {"\n", "\r"} else " ", text)
        parts = [part.strip() for part in re.split(r"\s?[|/]\s?|\n", short)]
    else:
        parts = text.split()
        if not parts or any("." not in part and part != _REST for part in parts):
            raise NotationError(f"no deal in {quote(text)}: {_DEAL_FORM}")
    if len(parts) == len(PLACES) - 1:
        parts.append(_REST)
    # What `pretty` prints before each hand may be read back with it.
    parts = [
        part[len(place) :].lstrip(" :") if part.casefold().startswith(place) else part
        for part, place in zip(parts, (*PLACES, *[""] * len(parts)), strict=False)
    ]
    parts = [part or _REST for part in parts]
    if len(parts) != len(PLACES):
        raise NotationError(f"{quote(text)} is not 3 or 4 hands: {_DEAL_FORM}")
    if parts.count(_REST) > 1:
        raise NotationError(f"{quote(text)} leaves {parts.count(_REST)} hands open, not at most 1")
    return parts


def _parse_place(text: object, place: str, letters: str) -> int:
    try:
        return parse_hand(checked_text(text, "hand"), letters=letters)
    except NotationError as error:
        raise NotationError(f"{place}: {error}") from None
