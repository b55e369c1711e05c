"""What the talon may bring to a hand of seven: exact chances, and what each card of it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from milsim.cards import ALL_CARDS, MARRIAGE_MASKS, SUITS, cards_of
from milsim.reports.statistics import Interval, Moments, Z
from milsim.tables.playing import Played, kernel_talons


@dataclass(frozen=True, slots=True)
class TalonChances:
    """Exact chances, over the 680 talons that are equally likely.

    ``halves``: the chance that the talon completes the marriage of a suit of which the hand has
    half; ``pairs``: that it brings the whole marriage of a suit of which the hand has none;
    ``any``: that it brings any new marriage.
    """

    halves: dict[int, Fraction]
    pairs: dict[int, Fraction]
    any: Fraction


def talon_chances(hand: int) -> TalonChances:
    """The chances of a hand of seven cards, a mask.

    >>> from milsim.cards import CardSet
    >>> chances = talon_chances(CardSet.parse("AKQ.T9.J.K").mask)
    >>> chances.halves, chances.any
    ({1: Fraction(3, 17)}, Fraction(37, 170))
    """
    unseen = [1 << card for card in cards_of(ALL_CARDS & ~hand)]
    talons = [_deposited(talon, unseen) for talon in kernel_talons().tolist()]

    def share(wanted: list[int]) -> Fraction:
        hits = sum(any(talon & mask == mask for mask in wanted) for talon in talons)
        return Fraction(hits, len(talons))

    missing = {suit: MARRIAGE_MASKS[suit] & ~hand for suit in SUITS}
    halves = {suit: mask for suit, mask in missing.items() if mask.bit_count() == 1}
    pairs = {suit: mask for suit, mask in missing.items() if mask.bit_count() == 2}
    return TalonChances(
        {suit: share([mask]) for suit, mask in halves.items()},
        {suit: share([mask]) for suit, mask in pairs.items()},
        share([*halves.values(), *pairs.values()]),
    )


def _deposited(places: int, unseen: list[int]) -> int:
    return sum(card for place, card in enumerate(unseen) if places >> place & 1)


def talon_gains(hand: int, played: Played) -> dict[int, Interval]:
    """By card: declarer points on average if the talon has it, less those over all talons.

    From the deals of one hand (the first row); the best card first. Other cards of the talon are
    as they fall.
    """
    total, squares = (int(each[0]) for each in played.moments())
    n = int(played.deals[0])
    gains: dict[int, Interval] = {}
    for card in cards_of(ALL_CARDS & ~hand):
        with_it = Moments(
            n * 3 // 17, int(played.by_card[0, 0, card]), int(played.by_card[0, 1, card])
        )
        without = Moments(n - with_it.n, total - with_it.total, squares - with_it.squares)
        # Less the mean of all is 14/17 of less the mean of the others.
        share = without.n / n
        value = share * (with_it.total / with_it.n - without.total / without.n)
        errors = with_it.standard_error, without.standard_error
        half = Z * share * sqrt(sum(error**2 for error in errors if error is not None))
        gains[card] = Interval(value, value - half, value + half)
    return dict(sorted(gains.items(), key=lambda item: (-(item[1].value or 0.0), item[0])))


__all__ = ["TalonChances", "talon_chances", "talon_gains"]
