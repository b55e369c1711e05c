"""Exact chances of the game, counted: what tests/test_numbers.py proves the figures by.

All sets of so many cards; all deals, by where their kings and queens lie; the talons of one hand;
the hands with a right to a new deal. Everything is a Fraction of whole numbers of cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from milsim.cards import ALL_CARDS, HEARTS, MARRIAGE_MASKS, N_CARDS, cards_of
from milsim.dealing import DealMasks, completions, hand_masks_table, subset_masks
from milsim.deals import PLACE_CARDS
from milsim.rights import hand_rights
from milsim.rules import load, packed
from milsim.where import Where, feature

Masks: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

# ------------------------------------------------------------------- sets of cards, all of a size


@cache
def sets_of(cards: int) -> NDArray[np.int32]:
    return hand_masks_table() if cards == 7 else subset_masks(N_CARDS, cards)


@cache
def counted(name: str, cards: int = 7) -> NDArray[np.int64]:
    return feature(name, sets_of(cards))


@cache
def joint_counts(cards: int) -> list[list[int]]:
    """How many sets hold so many marriages (first place) and halves (second)."""
    classes = 5 * counted("marriages", cards) + counted("half_marriages", cards)
    return np.bincount(classes, minlength=25).reshape(5, 5).tolist()


def any_of(flags: Sequence[Flags]) -> Flags:
    found = np.zeros(flags[0].shape, np.bool_)
    for each in flags:
        found |= each
    return found


def fraction(flags: Flags) -> Fraction:
    return Fraction(int(flags.sum()), flags.size)


@dataclass(frozen=True)
class SetShare:
    """The share of the sets of so many cards that fit any one of some conditions."""

    cards: int
    conditions: tuple[str, ...]

    def fits(self, masks: Masks | NDArray[np.int32]) -> Flags:
        return any_of([Where.parse(text).matches(masks) for text in self.conditions])

    def __call__(self) -> Fraction:
        return fraction(self.fits(sets_of(self.cards)))


def share(cards: int, *conditions: str) -> SetShare:
    return SetShare(cards, conditions)


def mean(name: str, cards: int = 7, power: int = 1) -> Fraction:
    return Fraction(int((counted(name, cards) ** power).sum()), comb(N_CARDS, cards))


# --------------------------------------------------- all deals, by where kings and queens lie

FOREHAND, MIDDLEHAND, REARHAND, TALON = range(4)


@cache
def layouts() -> tuple[DealMasks, NDArray[np.int64]]:
    """The kings and queens at each place, and how many deals have them there: 4^8 rows."""
    royals = [card for mask in MARRIAGE_MASKS for card in cards_of(mask)]
    places = np.indices((4,) * len(royals)).reshape(len(royals), -1)
    masks = DealMasks(
        *(
            np.sum(
                [(places[i] == place).astype(np.int64) << card for i, card in enumerate(royals)],
                axis=0,
            )
            for place in range(4)
        )
    )
    others = N_CARDS - len(royals)
    ways = np.full(masks.talon.shape, factorial(others))
    factorials = np.array([factorial(n) for n in range(max(PLACE_CARDS) + 1)])
    for mask, cards in zip(masks, PLACE_CARDS, strict=True):
        room = cards - np.bitwise_count(mask).astype(np.int64)
        ways = np.where(room < 0, 0, ways // factorials[np.maximum(room, 0)])
    return masks, ways


def deals_where(flags: Flags, given: Flags | None = None) -> Fraction:
    """The share of the deals, or of those given, by flags of their layouts."""
    ways = layouts()[1] if given is None else layouts()[1] * given
    return Fraction(int(ways[flags].sum()), int(ways.sum()))


@cache
def held(name: str) -> NDArray[np.int64]:
    """Marriages or half marriages of forehand's seven, by layout."""
    return feature(name, layouts()[0].forehand)


@cache
def completed() -> NDArray[np.int64]:
    """How many marriages forehand gets by the talon, by layout."""
    masks = layouts()[0]
    marriages = feature("marriages", masks.forehand | masks.talon)
    return marriages - held("marriages")


@cache
def holders() -> NDArray[np.int64]:
    """How many of the three players hold a marriage, by layout."""
    number = np.zeros(layouts()[1].shape, np.int64)
    for hand in layouts()[0][:3]:
        number += feature("marriages", hand) > 0
    return number


def holders_are(number: int) -> Fraction:
    return deals_where(holders() == number)


# ------------------------------------------------------------------- the 680 talons of one hand


@cache
def hand_of(marriages: int, halves: int) -> int:
    """Some hand of seven with so many marriages and halves."""
    fits = (counted("marriages") == marriages) & (counted("half_marriages") == halves)
    return int(hand_masks_table()[fits][0])


@cache
def talons_of(hand: int) -> Masks:
    return completions(ALL_CARDS ^ hand, (3, 14))[0]


def holds_a_wanted_card(wanted: int) -> Fraction:
    hand = hand_of(0, 0)
    cards = sum(1 << card for card in list(cards_of(ALL_CARDS ^ hand))[:wanted])
    return fraction(talons_of(hand) & cards != 0)


def holds_an_absent_pair() -> Fraction:
    hand, pair = hand_of(0, 0), MARRIAGE_MASKS[HEARTS]
    return fraction(talons_of(hand) & pair == pair)


def talon_completes(marriages: int, halves: int) -> Fraction:
    hand = hand_of(marriages, halves)
    return fraction(feature("marriages", talons_of(hand) | hand) > marriages)


# ------------------------------------------------------------------------- rights to a new deal


@cache
def hands_with_a_right() -> Masks:
    """The hands that may ask for a new deal under `mil`, as the kernel of the auction tells."""
    rules = packed(load("mil"))
    hands = hand_masks_table().astype(np.int64)
    return hands[[hand_rights(hand, rules) != 0 for hand in hands.tolist()]]


def some_player_has(hands: Masks) -> Fraction:
    """The chance that one of the three holds one of these hands, no two of which fit in a deal."""
    assert (hands[:, None] & hands).all(), "two hands without a common card: a deal may hold both"
    return 3 * Fraction(len(hands), comb(N_CARDS, 7))


def hands_where(condition: str) -> Masks:
    hands = hand_masks_table().astype(np.int64)
    return hands[Where.parse(condition).matches(hands)]
