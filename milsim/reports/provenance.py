"""What every output says about the run behind it: model, exactness, and whose hands these are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from milsim.cards import N_RANKS, RANK_LETTERS, SUIT_SYMBOLS, SUITS, cards_of
from milsim.errors import RunError, UsageError
from milsim.store.match_run import MatchRun
from milsim.store.run import NO_DEALS, Run

if TYPE_CHECKING:
    from milsim.where import Term

AnyRun = Run | str | Path
"""A run, or its folder."""

KIND = "sampled"
"""Runs are samples of deals: every number of a report has an interval (DESIGN, kinds of answer)."""


INTERVALS = (
    "± is half of the 95 % interval (Wilson for percentages); −5+2: it reaches further down than "
    "up; ≥ or ≤ is its other bound where all or none did."
)
"""How printed intervals are to be read."""

_SIGNS = {
    "=": "exactly", "!=": "not", "<": "fewer than", "<=": "at most", ">": "more than",
    ">=": "at least",
}  # fmt: skip
_NOUNS = {"points": "card points", "longest": "cards in one suit"}


def opened(run: AnyRun | MatchRun) -> Run:
    """The run itself, or opened from its folder; raises UsageError for what is neither."""
    if isinstance(run, Run):
        return run
    if isinstance(run, (str, Path)):
        return Run.open(run)
    if isinstance(run, MatchRun):
        raise RunError(f"run {run.folder}: {NO_DEALS}")
    raise UsageError(f"run {run!r:.40}: give a run or the path of its folder")


def counted(run: Run, rows: int) -> int:
    """The number of rows; raises RunError if that is not what the manifest says."""
    if rows != run.deals:
        raise RunError(
            f"run {run.folder}: {rows:,} deals in its parts, not {run.deals:,} as its manifest "
            "says; play it again"
        )
    return rows


def conceded_deals(run: Run) -> int:
    """How many deals of a run were conceded: none where the rules have no concession."""
    if run.rules.talon.concede == "off":
        return 0
    return int(run.frame().select(pl.col("conceded").sum()).collect().item())


def check_counted(run: Run, rows: int) -> None:
    """As :func:`counted`, of rows without the conceded deals; raises RunError if there are none."""
    counted(run, rows + conceded_deals(run))
    if rows == 0:
        raise RunError(f"run {run.folder}: all its deals were conceded, nothing was played")


def played(run: Run) -> Run:
    """The run itself; raises RunError if it holds no deals."""
    if run.deals == 0:
        raise RunError(f"run {run.folder}: no deals in it; play it again, or a longer one")
    return run


def model_of(run: Run) -> str:
    """The play that produced the numbers, such as ``policy greedy``, or double dummy."""
    return run.play


def has_exact_chances(run: Run) -> bool:
    """Whether the declarer's cards are random cards, so that exact chances apply to them."""
    return run.plan.mode == "declarer" and not run.plan.where


def deals_of(run: Run) -> str:
    """How many deals a run has, in words."""
    return "1 deal" if run.deals == 1 else f"{run.deals:,} deals"


def in_words(where: str) -> str:
    """A constraint on a hand as people say it.

    >>> in_words("marriages>=H, aces=1, points<20, four_nines, has=AS")
    'marriages: at least ♥, fewer than 20 card points, exactly 1 ace, all four nines, ♠A'
    """
    from milsim.where import Where

    return ", ".join(map(_term_in_words, Where.parse(where).terms))


def _term_in_words(term: Term) -> str:
    noun = _NOUNS.get(term.feature, term.feature.replace("_", " "))
    if term.feature == "four_nines":
        return "all four nines" if term.value else "not all four nines"
    if term.feature in ("has", "lacks"):
        cards = " ".join(
            SUIT_SYMBOLS[card // N_RANKS] + RANK_LETTERS[card % N_RANKS]
            for card in cards_of(term.value)
        )
        return cards if term.feature == "has" else f"without {cards}"
    if term.is_set:
        suits = "".join(SUIT_SYMBOLS[suit] for suit in SUITS if term.value >> suit & 1)
        return f"{noun}: {_SIGNS[term.operator]} {suits or 'none'}"
    if term.value == 1:
        noun = noun.replace("cards ", "card ") if " in " in noun else noun.removesuffix("s")
    return f"{_SIGNS[term.operator]} {term.value} {noun}"


def run_notes(run: Run) -> Iterator[str]:
    """Whose hands a report is about, and a warning if the run was interrupted."""
    if run.plan.mode == "auction":
        yield (
            "Hands are those that won the auction, and so depend on how the policy bids: this is "
            "not what a hand is worth when dealt (runs of --mode declarer answer that)."
        )
    else:
        yield "Forehand declared every deal, whatever his cards."
    conceded = conceded_deals(run)
    if conceded:
        yield (
            f"{conceded:,} conceded deals are left out ({conceded / run.deals:.1%} of all): nobody "
            "took points in them. milsim report auction counts them, as contracts not made."
        )
    if run.plan.where:
        yield f"Only deals in which forehand was dealt: {in_words(run.plan.where)}."
    if not run.complete:
        yield f"The run was interrupted: {run.deals:,} of {run.plan.deals:,} deals."
