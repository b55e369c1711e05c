"""What a plan cannot play is found out while it is played, and said with its remedy."""

from __future__ import annotations

from milsim.errors import RulesError
from milsim.simulation.match_columns import DEALS_PER_MATCH
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan


def thrown_in_for_ever(plan: Plan, index: int) -> RulesError:
    """The error for a deal that a redeal right throws in again and again."""
    where = f" and where {plan.where}" if plan.where else ""
    return RulesError(
        f"deal {index}: the redeal rights of rules {plan.rules.name}{where} leave (nearly) no deal "
        "to play; use --mode declarer, or weaker rights"
    )


def match_thrown_in_for_ever(plan: MatchPlan, index: int) -> RulesError:
    """The error for a deal of a match that is thrown in again and again."""
    match, deal = divmod(index, DEALS_PER_MATCH)
    return RulesError(
        f"match {match}, deal {deal + 1}: the redeal rights of rules {plan.rules.name}, or players "
        "who all pass, leave (nearly) no deal to play; use weaker rights, or another opener"
    )
