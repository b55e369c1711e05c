"""What every output says about the run behind it: model, exactness, and whose hands these are."""

from __future__ import annotations

from collections.abc import Iterator

from milsim.errors import RunError
from milsim.store.run import Run

KIND = "sampled"
"""Runs are samples of deals: every number of a report has an interval (DESIGN, kinds of answer)."""


def played(run: Run) -> Run:
    """The run itself; raises RunError if it holds no deals."""
    if run.deals == 0:
        raise RunError(f"run {run.folder}: no deals in it; play it again, or a longer one")
    return run


def model_of(run: Run) -> str:
    """The play that produced the numbers, such as ``policy greedy``."""
    names = run.plan.policies
    if len(set(names)) == 1:
        return f"policy {names[0]}"
    return f"policies {'/'.join(names)}"


def has_exact_chances(run: Run) -> bool:
    """Whether the declarer's cards are random cards, so that exact chances apply to them."""
    return run.plan.mode == "declarer" and not run.plan.where


def run_notes(run: Run) -> Iterator[str]:
    """Whose hands a report is about, and a warning if the run was interrupted."""
    if run.plan.mode == "auction":
        yield (
            "Hands are those that won the auction, and so depend on how the policy bids: this is "
            "not what a hand is worth when dealt (runs of --mode declarer answer that)."
        )
    else:
        yield "Forehand declared every deal, whatever his cards."
    if run.plan.where:
        yield f"Only deals in which forehand was dealt {run.plan.where}."
    if not run.complete:
        yield f"The run was interrupted: {run.deals:,} of {run.plan.deals:,} deals."
