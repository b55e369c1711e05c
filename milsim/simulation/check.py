"""What a plan may not ask for: rules that kernels do not play yet are refused, never ignored."""

from __future__ import annotations

from milsim.auction import unsupported_in_kernels
from milsim.errors import RulesError
from milsim.simulation.plan import Plan


def refuse_what_cannot_be_played(plan: Plan) -> None:
    """Raise :class:`~milsim.errors.RulesError` naming the fields that deals cannot be played by.

    Where nobody bids, the fields of the auction cannot act and so need not be played.
    """
    fields = [
        path
        for path in unsupported_in_kernels(plan.rules)
        if plan.mode == "auction" or not path.startswith("auction.")
    ]
    if fields:
        raise RulesError(
            f"rules {plan.rules.name}: simulate does not play {', '.join(fields)} yet in mode "
            f'{plan.mode}; set {fields[0]} to "off" or false'
        )


def thrown_in_for_ever(plan: Plan, index: int) -> RulesError:
    """The error for a deal that a redeal right throws in again and again."""
    where = f" and where {plan.where}" if plan.where else ""
    return RulesError(
        f"deal {index}: the redeal rights of rules {plan.rules.name}{where} leave (nearly) no deal "
        "to play; use --mode declarer, or weaker rights"
    )
