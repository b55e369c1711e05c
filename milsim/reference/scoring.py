"""The scores of one deal: steps 1 and 2 of "Order at the end of a deal" (RULES.md §2).

Step 1: what declarer and defenders earn; step 2: doubling. Locks, barrels, bolts and caps belong to
the match and come after: they take these scores as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from milsim.reference.play import SEATS
from milsim.rules import Rules, load

Scores = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DealResult:
    """What a finished deal was and what it scores, all by seat.

    ``ended``: played to the end, conceded by the declarer, a new deal asked for by a right, or all
    passed. Without a contract played, ``made`` is None. ``next_dealer``: whether another player
    deals the next deal: after a redeal the rules say, else always.
    """

    ended: Literal["played", "conceded", "redeal", "passed_out"]
    declarer: int | None = None
    bid: int | None = None
    contract: int | None = None
    points: Scores = (0, 0, 0)
    made: bool | None = None
    dark: bool = False
    scores: Scores = (0, 0, 0)
    next_dealer: bool = True


def rounded(points: int, kind: str) -> int:
    """A total of a deal rounded by a kind of ``scoring.defender_rounding``.

    Seeds 000 and 002 step 9: to the ten, 5 down; seed 001 Y SGORIO: to the nearest multiple of 5.

    >>> [rounded(25, kind) for kind in ("nearest_10_half_down", "nearest_10_half_up", "down_10")]
    [20, 30, 20]
    >>> rounded(22, "nearest_5"), rounded(23, "nearest_5"), rounded(24, "down_5")
    (20, 25, 20)
    """
    if kind == "none":
        return points
    unit = 10 if "10" in kind else 5
    below = points - points % unit
    over = points - below
    if kind.startswith("down"):
        return below
    if kind == "nearest_10_half_down":
        return below + 10 if over > 5 else below
    if kind == "nearest_10_half_up":
        return below + 10 if over >= 5 else below
    if kind == "nearest_5":
        return below + 5 if over >= 3 else below
    raise ValueError(f"unknown rounding {kind!r}")


def is_made(points: int, contract: int, rules: str | Rules = "mil") -> bool:
    """Whether declarer points make a contract (seeds 000/002 step 9; ``scoring.made_test``).

    >>> is_made(118, 120), is_made(120, 120)
    (False, True)
    """
    how = load(rules).scoring
    tested = rounded(points, how.defender_rounding) if how.made_test == "rounded" else points
    return tested >= contract


def deal_scores(
    points: Sequence[int],
    declarer: int,
    contract: int,
    rules: str | Rules = "mil",
    *,
    four_nines: int | None = None,
    dark: bool = False,
    golden: bool = False,
) -> Scores:
    """What a played deal scores, by seat, before anything the match does to it.

    Points are card points, declarations and bonus of the last trick, by seat. ``four_nines`` is the
    seat that was dealt four nines. A dark contract doubles the declarer's score, a golden deal
    (``match.golden = forehand_plays_120``) everybody's.

    >>> deal_scores((138, 24, 18), 0, 120)  # the example of seeds 000 and 002, step 9
    (120, 20, 20)
    >>> deal_scores((118, 2, 0), 0, 120)
    (-120, 0, 0)
    """
    rules = load(rules)
    how = rules.scoring
    earned = []
    for seat in SEATS:
        if seat != declarer:  # step 9: "the others get their points rounded"
            earned.append(rounded(points[seat], how.defender_rounding))
        elif not is_made(points[seat], contract, rules):  # "if less, he loses as much"
            earned.append(-contract)
        elif how.success == "contract":  # "he gets exactly that number"
            earned.append(contract)
        else:
            earned.append(rounded(points[seat], how.defender_rounding))
    return _bonus_and_doubling(earned, declarer, rules, four_nines, dark, golden)


def half_bid(bid: int, step: int) -> int:
    """Half the bid rounded to the nearest multiple of the step, halves of a step down.

    >>> half_bid(120, 10), half_bid(110, 10), half_bid(105, 5), half_bid(115, 5)
    (60, 50, 50, 55)
    """
    below = bid // 2 - bid // 2 % step
    return below + step if bid - 2 * below > step else below


def concession_scores(
    declarer: int,
    bid: int,
    rules: str | Rules = "mil",
    *,
    earlier: int = 0,
    four_nines: int | None = None,
    dark: bool = False,
    golden: bool = False,
) -> Scores:
    """What a conceded deal scores; ``earlier``: how often this player has conceded in the match.

    >>> from dataclasses import replace
    >>> mil = load("mil")
    >>> often = replace(mil, talon=replace(mil.talon, concede_cost="every_third_120"))
    >>> [concession_scores(0, 140, often, earlier=n)[0] for n in range(4)]
    [0, 0, -120, 0]
    """
    rules = load(rules)
    how = rules.talon
    if how.concede_cost == "every_third_120":
        cost = 120 if earlier % 3 == 2 else 0
    elif how.concede_cost == "first_free_then_bid":
        cost = bid if earlier > 0 else 0
    elif how.concede_cost == "bid":
        cost = bid
    else:  # always_120
        cost = 120
    if how.concede_gain == "half_bid":
        gain = half_bid(bid, rules.auction.step)
    else:
        gain = how.concede_gain
    earned = [-cost if seat == declarer else gain for seat in SEATS]
    return _bonus_and_doubling(earned, declarer, rules, four_nines, dark, golden)


def _bonus_and_doubling(
    earned: Sequence[int],
    declarer: int,
    rules: Rules,
    four_nines: int | None,
    dark: bool,
    golden: bool,
) -> Scores:
    """The bonus for four nines is part of step 1, so doubling (step 2) doubles it too."""
    doubled = golden and rules.match.golden == "forehand_plays_120"
    scores = []
    for seat in SEATS:
        score = earned[seat]
        if seat == four_nines:
            score += rules.deal.four_nines_bonus
        if doubled or (dark and seat == declarer):
            score *= 2
        scores.append(score)
    first, second, third = scores
    return (first, second, third)
