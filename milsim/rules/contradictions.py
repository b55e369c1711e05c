"""Which fields cannot stand beside each other: found when rules are loaded, not when reached.

Only what no table could play is refused: a match that nobody can win, a right that excludes the
other, a number that the next one never reaches. A field that merely has nothing to do (the price of
the barrel where there is none) is harmless and stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from milsim.errors import RulesError
from milsim.rules.model import Rules

DARK_BID = 120
GOLDEN_BID = 120
DUMPED = 555
"""The score that the dump truck sets to 0."""


def check_combination(rules: Rules) -> None:
    """Raise :class:`RulesError` for the first contradiction.

    >>> from dataclasses import replace
    >>> mil = Rules()
    >>> check_combination(mil)
    >>> check_combination(replace(mil, match=replace(mil.match, lock=1000)))
    Traceback (most recent call last):
    ...
    milsim.errors.RulesError: match.lock: 1000 is not below match.target 1000; use 800 or "off"
    """
    for found in (_of_deal, _of_auction, _of_play, _of_scores, _of_barrel):
        for message in found(rules):
            raise RulesError(message)


def most_points_of_a_deal(rules: Rules) -> int:
    """The most points that one player can take: 120, all marriages, four aces, the last trick."""
    marriages = sum(rules.deal.marriage_values.by_suit())
    return 120 + marriages + rules.play.ace_marriage + rules.play.last_trick_bonus


def _of_deal(rules: Rules) -> Iterator[str]:
    deal, match = rules.deal, rules.match
    if deal.four_nines_bonus > 0 and deal.four_nines != "off":
        yield (
            f"deal.four_nines_bonus: {deal.four_nines_bonus} is paid instead of a new deal, but "
            f'deal.four_nines is {deal.four_nines}; set deal.four_nines = "off"'
        )
    if match.sitter != "nothing" and deal.players == 3:
        yield (
            f"match.sitter: {match.sitter} needs a sitting dealer, but deal.players is 3; set "
            'deal.players = 4 or match.sitter = "nothing"'
        )


def _of_auction(rules: Rules) -> Iterator[str]:
    auction, most = rules.auction, most_points_of_a_deal(rules)
    minimum, step, cap_points = auction.minimum, auction.step, auction.cap_points
    if minimum % step:
        yield (
            f"auction.minimum: {minimum} is not a multiple of auction.step {step}; use "
            f"{minimum // step * step or step}"
        )
    if cap_points % step:
        yield (
            f"auction.cap_points: {cap_points} is not a multiple of auction.step {step}; use "
            f"{cap_points // step * step}"
        )
    if auction.cap != "none" and cap_points < minimum:
        yield (
            f"auction.cap_points: {cap_points} is below auction.minimum {minimum}; nobody could "
            f"bid, use {minimum} or more"
        )
    if minimum > most:
        yield (
            f"auction.minimum: {minimum} is more than a deal can hold, {most} with these marriage "
            f"values; use {most // step * step} or less"
        )
    if auction.dark and minimum > DARK_BID:
        yield (
            f"auction.dark: a dark bid is {DARK_BID}, below auction.minimum {minimum}; set "
            "auction.dark = false"
        )
    if auction.dark and auction.cap != "none" and cap_points < DARK_BID:
        yield (
            f"auction.dark: a dark bid is {DARK_BID}, above auction.cap_points {cap_points}; set "
            "auction.dark = false"
        )
    if (
        auction.silence_below != "off"
        and auction.opener == "forehand_may_pass"
        and auction.all_pass != "dealer_plays"
    ):
        yield (
            f"auction.silence_below: once all three are at {auction.silence_below} or below, all "
            'pass for ever; set auction.all_pass = "dealer_plays" or auction.silence_below = "off"'
        )
    if rules.match.golden != "off" and minimum > GOLDEN_BID:
        yield (
            f"match.golden: {rules.match.golden} needs auction.minimum of {GOLDEN_BID} or less, "
            f'not {minimum}; set match.golden = "off"'
        )


def _of_play(rules: Rules) -> Iterator[str]:
    first, last = rules.play.marriage_from_trick, rules.play.marriage_until_trick
    if first > last:
        yield (
            f"play.marriage_from_trick: {first} is after play.marriage_until_trick {last}; use "
            f"{last} or less"
        )


def _of_scores(rules: Rules) -> Iterator[str]:
    match = rules.match
    target = match.target
    if match.lock != "off" and match.lock >= target:
        yield (
            f"match.lock: {match.lock} is not below match.target {target}; use "
            f'{target * 4 // 5} or "off"'
        )
    if match.defender_cap != "off" and match.defender_cap >= target:
        yield (
            f"match.defender_cap: {match.defender_cap} is not below match.target {target}; use "
            f'{target - 10} or "off"'
        )
    if match.dump_truck != "off" and target <= DUMPED:
        yield (
            f"match.dump_truck: {DUMPED} is not below match.target {target}, which is won there; "
            'set match.dump_truck = "off"'
        )


def _of_barrel(rules: Rules) -> Iterator[str]:
    match, target = rules.match, rules.match.target
    if match.barrel == "off":
        return
    if match.barrel >= target:
        yield (
            f"match.barrel: {match.barrel} is not below match.target {target}; use "
            f'{target * 22 // 25} or "off"'
        )
    if match.lock != "off":
        yield (
            f"match.lock: {match.lock} beside match.barrel {match.barrel}; a match has one of them,"
            ' set match.lock = "off" or match.barrel = "off"'
        )
    if match.dump_truck != "off" and match.barrel == DUMPED:
        yield (
            f"match.barrel: who mounts at {DUMPED} is set to 0 by match.dump_truck; use another "
            'number or set match.dump_truck = "off"'
        )
    best = _best_deal_score(rules)
    if target - match.barrel > best:
        yield (
            f"match.barrel: {match.barrel} is {target - match.barrel} below match.target {target},"
            f" and no contract brings more than {best}; use {target - best} or more"
        )


def _best_deal_score(rules: Rules) -> int:
    """No declarer scores more than this in one deal."""
    auction, best = rules.auction, most_points_of_a_deal(rules)
    if rules.scoring.success == "contract" and auction.cap == "fixed":
        best = min(best, auction.cap_points)
    doubled = auction.dark or rules.match.golden == "forehand_plays_120"
    return (best + rules.deal.four_nines_bonus) * (2 if doubled else 1)
