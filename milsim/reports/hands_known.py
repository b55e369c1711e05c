"""What the table of all hands says of bidding, for reports: the right bid of each hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milsim.cards import MARRIAGE_MASKS, N_SUITS, SUITS, cards_of
from milsim.dealing.tables import hand_masks_table
from milsim.errors import RunError
from milsim.reference.auction import highest_bid
from milsim.reports.statistics import Interval, Z
from milsim.rules import Rules, digest, load
from milsim.tables.compact import LEVELS, CompactTable, chances_of, read_compact, shipped_table
from milsim.tables.corrected import corrected_table
from milsim.where import suit_set

PASS = 0
"""The bid of who passes."""


def table_of(
    rules: str | Path | Rules, table: str | Path | None = None, model: str | None = None
) -> CompactTable:
    """The table of these rules: the file ``table``, or the one that comes with milsim.

    By another ``model`` than its policy it is corrected (:mod:`milsim.tables.corrections`).
    Raises :class:`~milsim.errors.RulesError`, :class:`~milsim.errors.RunError` and, for a model
    that is not known of all hands, :class:`~milsim.errors.UsageError`.
    """
    chosen = load(rules)
    known = shipped_table(chosen) if table is None else read_compact(table)
    if known is None:
        raise RunError(
            f"rules {chosen.name}: no table of them comes with milsim; build one with milsim table "
            "build, pack it with milsim table pack, and name it with --table"
        )
    if known.header["rules"] != digest(chosen):
        raise RunError(
            f"table {table}: is of rules {known.header['rules_name']}, not of {chosen.name}"
        )
    return known if model is None else corrected_table(known, chosen, model)


def provenance_of(table: CompactTable, rules: Rules) -> str:
    """The line under a report's title: where its numbers come from."""
    return (
        f"rules {rules.name} ({digest(rules)[:8]}) · {table.play} · all 346,104 hands, "
        f"{table.deals:,} deals each · seed {table.header['seed']} · milsim {version('milsim')}"
    )


def caps_of(hands: NDArray[np.int64], rules: Rules) -> NDArray[np.int64]:
    """The highest bid that the rules allow with each hand.

    >>> from milsim.cards import parse_hand
    >>> hands = np.array([parse_hand("KQ.T9.J9.K"), parse_hand("AT.A9.J9.K")])
    >>> caps_of(hands, load("mil")).tolist()
    [160, 120]
    """
    # The rules look at the marriages only.
    caps = np.array(
        [
            highest_bid(
                cards_of(sum(MARRIAGE_MASKS[suit] for suit in SUITS if held >> suit & 1)), rules
            )
            for held in range(1 << N_SUITS)
        ]
    )
    found: NDArray[np.int64] = caps[suit_set("marriages", hands)]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Bids:
    """The bids of all hands by rank, int64: ``PASS``, or a contract by tens.

    ``right`` is the highest bid allowed whose mean score, if it becomes the contract, is at least
    what passing earns (as ``milsim hand`` says "bid up to"); ``free`` the same without the cap of
    the rules; ``best`` the contract with the highest mean score. ``passes`` is False for hands
    that always ask for a new deal, for which passing is worth nothing known.
    """

    right: NDArray[np.int64]
    free: NDArray[np.int64]
    best: NDArray[np.int64]
    passes: NDArray[np.bool_]


def scores_of(
    table: CompactTable, rules: Rules, noise: NDArray[np.float64] | None = None
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Contracts, the lowest first, with the mean score of each hand as their declarer.

    With ``noise``, a standard normal number a hand, chances are moved by so many of their standard
    errors. Where a made contract scores the points taken, what lies above it counts by whole steps,
    from below.
    """
    step = rules.auction.step if len(table.contracts) < 2 else np.diff(table.contracts)[0]
    levels = chances_of(np.arange(LEVELS + 1, dtype=np.uint8))
    errors = np.sqrt(levels * (1 - levels) / table.deals)
    counts_more = rules.scoring.success != "contract"

    def chances(place: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = levels[table.levels[place]]
        if noise is not None:
            found = np.clip(found + noise * errors[table.levels[place]], 0, 1)
        return found

    places = range(len(table.contracts))
    above = sum(map(chances, places)) if counts_more else None
    for place in places:
        contract = table.contracts[place]
        if above is not None:
            above = above - chances(place)
            yield contract, contract * (2 * chances(place) - 1) + step * above
        elif noise is None:
            yield contract, (contract * (2 * levels - 1))[table.levels[place]]
        else:
            yield contract, contract * (2 * chances(place) - 1)


def right_bids(
    table: CompactTable,
    rules: Rules,
    noise: NDArray[np.float64] | None = None,
    pass_noise: NDArray[np.float64] | None = None,
    *,
    passing: float | None = None,
) -> Bids:
    """The bids of all hands; with ``noise``, in standard errors, those of another such table.

    With ``passing`` a bid is right that scores as much: with 0, one that does not lose.
    """
    hands = hand_masks_table().astype(np.int64)
    earned = np.full(len(hands), passing) if passing is not None else table.passing
    passes = ~np.isnan(earned)
    wanted = np.where(passes, earned, 0).astype(np.float64)
    if pass_noise is not None:
        wanted += pass_noise
    caps = caps_of(hands, rules)
    right, free, best = (np.full(len(hands), PASS, np.int64) for _ in range(3))
    highest = np.full(len(hands), -np.inf)
    for contract, scores in scores_of(table, rules, noise):
        worth = scores >= wanted
        np.putmask(free, worth, contract)
        np.putmask(right, worth & (caps >= contract), contract)
        np.putmask(best, scores > highest, contract)  # of equal ones the lowest, as milsim hand
        np.maximum(highest, scores, out=highest)
    return Bids(right, free, best, passes)


def mean_of_hands(table: CompactTable, chosen: NDArray[np.integer]) -> Interval:
    """The mean declarer points of some hands, all alike, with its interval by sampling."""
    mean, error = table.mean_of(chosen)
    return Interval(mean, mean - Z * error, mean + Z * error)


__all__ = [
    "PASS",
    "Bids",
    "caps_of",
    "mean_of_hands",
    "provenance_of",
    "right_bids",
    "scores_of",
    "table_of",
]
