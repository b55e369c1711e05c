"""What a deal earns: rounding, the contract test and the deal score, as kernels and checked twins.

Points are whole numbers by seat 0–2: card points (with those for the last trick) plus declared
points of one deal. These are the parts of steps 1 and 2 of docs/match.md, "After a deal that
counts": what a match does to the scores (locks, barrels, bolts) comes after them.

Sources: RULES.md §2 (scoring of a deal, concession, sitter) and §4, cases 9, 10 and 19;
docs/match.md; `milsim.rules.model`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import ACE, DECK_POINTS, RANK_MASKS, checked_int
from milsim.errors import DealError, quote
from milsim.rules import OFF, Rules, load, packed, place_of, word_of
from milsim.tricks import points_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Triple = tuple[int, int, int]

_MADE_TEST = place_of("scoring.made_test")
_SUCCESS = place_of("scoring.success")
_ROUNDING = place_of("scoring.defender_rounding")
_FOUR_NINES_BONUS = place_of("deal.four_nines_bonus")
_STEP = place_of("auction.step")
_CONCEDE_COST = place_of("talon.concede_cost")
_CONCEDE_GAIN = place_of("talon.concede_gain")
_GOLDEN = place_of("match.golden")
_SITTER = place_of("match.sitter")
_SITTER_ACE = place_of("match.sitter_ace")
_MARRIAGE_VALUES = place_of("deal.marriage_values.spades")
_ROUNDED = word_of("scoring.made_test", "rounded")
_ACTUAL = word_of("scoring.success", "actual")
_NEAREST_5 = word_of("scoring.defender_rounding", "nearest_5")
_DOWN_5 = word_of("scoring.defender_rounding", "down_5")
_NEAREST_10_HALF_DOWN = word_of("scoring.defender_rounding", "nearest_10_half_down")
_NEAREST_10_HALF_UP = word_of("scoring.defender_rounding", "nearest_10_half_up")
_DOWN_10 = word_of("scoring.defender_rounding", "down_10")
_EVERY_THIRD_120 = word_of("talon.concede_cost", "every_third_120")
_FIRST_FREE = word_of("talon.concede_cost", "first_free_then_bid")
_COSTS_BID = word_of("talon.concede_cost", "bid")
_PLAYS_120 = word_of("match.golden", "forehand_plays_120")
_TALON_POINTS = word_of("match.sitter", "talon_points")
_ACES_AND_MARRIAGES = word_of("match.sitter", "aces_and_marriages")

CONCESSION_POINTS = 120
"""What conceding costs where it does not cost the bid (``talon.concede_cost``)."""

_ACES = RANK_MASKS[ACE]


@kernel(inline=True)
def rounded(points: int, rounding: int) -> int:
    """Points ≥ 0 of a whole deal, rounded by the packed word of ``scoring.defender_rounding``.

    >>> rounded(25, _NEAREST_10_HALF_DOWN), rounded(25, _NEAREST_10_HALF_UP), rounded(22, _DOWN_5)
    (20, 30, 20)
    """
    if rounding == _NEAREST_10_HALF_DOWN:
        return (points + 4) // 10 * 10
    if rounding == _NEAREST_10_HALF_UP:
        return (points + 5) // 10 * 10
    if rounding == _NEAREST_5:
        return (points + 2) // 5 * 5
    if rounding == _DOWN_5:
        return points // 5 * 5
    if rounding == _DOWN_10:
        return points // 10 * 10
    return points


@kernel(inline=True)
def is_made(points: int, contract: int, rules: NDArray[np.int64]) -> bool:
    """Whether the declarer's points make the contract: as taken, or rounded first by some rules.

    >>> is_made(118, 120, packed(load("mil")))
    False
    """
    tested = rounded(points, int(rules[_ROUNDING])) if rules[_MADE_TEST] == _ROUNDED else points
    return tested >= contract


@kernel(inline=True)
def declarer_score(points: int, contract: int, rules: NDArray[np.int64]) -> int:
    """What the declarer scores for his points: the contract (or his points, rounded), or −contract.

    >>> declarer_score(138, 120, packed(load("mil"))), declarer_score(118, 120, packed(load("mil")))
    (120, -120)
    """
    if not is_made(points, contract, rules):
        return -contract
    return rounded(points, int(rules[_ROUNDING])) if rules[_SUCCESS] == _ACTUAL else contract


@kernel(inline=True)
def defender_score(points: int, rules: NDArray[np.int64]) -> int:
    """What a defender scores for his points.

    >>> defender_score(24, packed(load("mil"))), defender_score(18, packed(load("mil")))
    (20, 20)
    """
    return rounded(points, int(rules[_ROUNDING]))


@kernel
def deal_score(
    seat: int, points: int, declarer: int, contract: int, four_nines: int, rules: NDArray[np.int64]
) -> int:
    """What ``seat`` scores in a deal for his ``points``; ``four_nines``: who was dealt them, or −1.

    >>> [deal_score(s, p, 0, 120, -1, packed(load("mil"))) for s, p in enumerate((138, 24, 18))]
    [120, 20, 20]
    """
    bonus = int(rules[_FOUR_NINES_BONUS]) if seat == four_nines else 0
    if seat == declarer:
        return declarer_score(points, contract, rules) + bonus
    return defender_score(points, rules) + bonus


@kernel
def concession_price(bid: int, earlier: int, rules: NDArray[np.int64]) -> int:
    """What giving a deal up costs its declarer, before any doubling.

    ``bid`` made him declarer; ``earlier`` is how often he has conceded in this match.

    >>> concession_price(140, 0, packed(load("mil")))
    140
    """
    cost = rules[_CONCEDE_COST]
    if cost == _COSTS_BID:
        return bid
    if cost == _FIRST_FREE:
        return bid if earlier > 0 else 0
    if cost == _EVERY_THIRD_120:
        return CONCESSION_POINTS if earlier % 3 == 2 else 0
    return CONCESSION_POINTS


@kernel
def concession_gain(bid: int, rules: NDArray[np.int64]) -> int:
    """What each defender gets for a conceded deal: a number, or half the bid.

    Half the bid is rounded to the nearest step, half a step down.

    >>> concession_gain(140, packed(load("mil")))
    60
    """
    gain = int(rules[_CONCEDE_GAIN])
    if gain != OFF:
        return gain
    step = int(rules[_STEP])
    return (bid + step - 1) // (2 * step) * step


@kernel
def conceded_score(
    seat: int, declarer: int, bid: int, earlier: int, four_nines: int, rules: NDArray[np.int64]
) -> int:
    """What ``seat`` scores in a deal that the declarer gives up; arguments as in `deal_score`.

    >>> [conceded_score(seat, 1, 110, 0, -1, packed(load("mil"))) for seat in range(3)]
    [60, -110, 60]
    """
    bonus = int(rules[_FOUR_NINES_BONUS]) if seat == four_nines else 0
    if seat == declarer:
        return bonus - concession_price(bid, earlier, rules)
    return bonus + concession_gain(bid, rules)


@kernel
def sitter_score(talon: int, rules: NDArray[np.int64]) -> int:
    """What the dealer who sits out scores for the three cards of the talon, a mask.

    >>> sitter_score(0b101100, packed(load("mil")))
    0
    """
    kind = rules[_SITTER]
    if kind == _TALON_POINTS:
        return rounded(points_in(talon), int(rules[_ROUNDING]))
    points = 0
    if kind == _ACES_AND_MARRIAGES:
        points = int(rules[_SITTER_ACE]) * popcount(talon & _ACES)
        for suit in range(4):
            # Queen and king of the suit.
            if talon >> 6 * suit & 0b001100 == 0b001100:
                points += int(rules[_MARRIAGE_VALUES + suit])
    return points


@kernel(inline=True)
def multiplier(is_declarer: int, dark: int, golden: int, rules: NDArray[np.int64]) -> int:
    """By how much a deal score counts: 2 in a golden deal of 120, and for a dark declarer.

    ``golden`` is 1 in the first deals of a match, one a player. There is no dark contract in such a
    golden deal, so that nothing is doubled twice.

    >>> multiplier(1, 1, 0, packed(load("mil"))), multiplier(0, 1, 1, packed(load("mil")))
    (2, 1)
    """
    doubled = golden != 0 and rules[_GOLDEN] == _PLAYS_120
    return 2 if doubled or (dark != 0 and is_declarer != 0) else 1


# ---------------------------------------------------------------------------------- at the border


class DealScore(NamedTuple):
    """What a finished deal earns: whether the contract was made, and the score of each seat."""

    made: bool
    scores: Triple


def score_deal(
    points: Sequence[int],
    *,
    declarer: int,
    contract: int,
    rules: str | Path | Rules = "mil",
    four_nines: int | None = None,
) -> DealScore:
    """Score a finished deal from the points taken by each seat.

    ``points``: card points, with those for the last trick, and declared marriages, by seat 0–2;
    ``declarer``: his seat; ``contract``: a multiple of the step, at least the minimum;
    ``four_nines``: the seat that was dealt four nines, for rules that pay for them.

    Raises DealError if a number is of another type or out of its range, or if the points do not add
    up: 120, the last trick and some of the marriages, each at most once (RULES.md §4, case 20);
    RulesError for unknown rules. Source: RULES.md §2, scoring of a deal.

    >>> score_deal((138, 24, 18), declarer=0, contract=120)
    DealScore(made=True, scores=(120, 20, 20))
    >>> score_deal((138, 24, 17), declarer=0, contract=120)
    Traceback (most recent call last):
    ...
    milsim.errors.DealError: points 138, 24, 17 sum to 179, not 120 and marriages: try 160 or 180
    """
    chosen = load(rules)
    taken = _checked_points(points, chosen)
    seat = _checked_seat(declarer, "declarer")
    nines = -1 if four_nines is None else _checked_seat(four_nines, "four_nines")
    bid = checked_int(contract, "contract")
    lowest, step = chosen.auction.minimum, chosen.auction.step
    highest = highest_contract(chosen)
    if not lowest <= bid <= highest or bid % step:
        raise DealError(
            f"contract must be a multiple of {step} from {lowest} to {highest}, got {quote(bid)}"
        )
    array = packed(chosen)
    first, second, third = (
        int(deal_score(one, taken[one], seat, bid, nines, array)) for one in range(3)
    )
    return DealScore(bool(is_made(taken[seat], bid, array)), (first, second, third))


def _checked_seat(value: object, what: str) -> int:
    seat = checked_int(value, what)
    if not 0 <= seat < 3:
        raise DealError(f"{what} must be a seat 0 to 2, got {quote(seat)}")
    return seat


def _checked_points(points: Any, rules: Rules) -> Triple:
    if isinstance(points, str) or not hasattr(points, "__len__") or len(points) != 3:
        raise DealError(f"points must be three numbers by seat, got {quote(points)}")
    first, second, third = (checked_int(value, "points of a seat") for value in points)
    if min(first, second, third) < 0:
        raise DealError(f"points of a seat must be 0 or more, got {first}, {second}, {third}")
    total = first + second + third
    possible = possible_totals(rules)
    if total not in possible:
        near = [max((t for t in possible if t < total), default=None)]
        near += [min((t for t in possible if t > total), default=None)]
        hint = " or ".join(str(t) for t in near if t is not None)
        raise DealError(
            f"points {first}, {second}, {third} sum to {total}, "
            f"not {DECK_POINTS} and marriages: try {hint}"
        )
    return first, second, third


def possible_totals(rules: Rules) -> frozenset[int]:
    """All sums that the three seats' points of a finished deal can have.

    >>> sorted(possible_totals(load("mil")))[:4]
    [120, 160, 180, 200]
    """
    base = DECK_POINTS + rules.play.last_trick_bonus
    worth = (*rules.deal.marriage_values.by_suit(), rules.play.ace_marriage)
    subsets = chain.from_iterable(combinations(worth, size) for size in range(len(worth) + 1))
    return frozenset(base + sum(some) for some in subsets)


def highest_contract(rules: Rules) -> int:
    """The highest contract that any hand can be played for under these rules.

    >>> highest_contract(load("mil"))
    400
    """
    auction = rules.auction
    if auction.cap in ("none", "gate"):
        highest = max(auction.cap_points, *possible_totals(rules))
    elif auction.cap == "marriages":
        highest = auction.cap_points + sum(rules.deal.marriage_values.by_suit())
    else:
        highest = auction.cap_points
    return max(auction.minimum, highest // auction.step * auction.step)


__all__ = [
    "CONCESSION_POINTS",
    "DealScore",
    "conceded_score",
    "concession_gain",
    "concession_price",
    "deal_score",
    "declarer_score",
    "defender_score",
    "highest_contract",
    "is_made",
    "multiplier",
    "possible_totals",
    "rounded",
    "score_deal",
    "sitter_score",
]
