"""Which matches a simulation is to play: the rules, the policies. Its digest is its identity."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from milsim.rules import Rules, digest, load
from milsim.rules.fields import build
from milsim.simulation.plan import (
    MAX_SEED,
    digest_of,
    policies_of,
    rules_as_toml,
    stored_policies,
    whole_number,
)

MAX_MATCHES = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchPlan:
    """Matches ``start … start + matches - 1`` of a seed, and how they are played.

    ``policies`` are canonical texts (:mod:`milsim.policies.spec`) by player, three or four: players
    keep their numbers for a whole match, while the deal goes round.
    """

    matches: int
    seed: int
    start: int
    rules: Rules
    policies: tuple[str, ...]

    @classmethod
    def make(
        cls,
        *,
        matches: int,
        seed: int = 1,
        start: int = 0,
        rules: str | Rules = "mil",
        policy: str | Sequence[str] = "greedy",
    ) -> MatchPlan:
        """A checked plan; ``policy`` is one name, or one for each player with commas between.

        Raises :class:`~milsim.errors.UsageError` for a number out of range,
        :class:`~milsim.errors.RulesError` and :class:`~milsim.errors.PolicyError` for rules and
        policies.

        >>> MatchPlan.make(matches=10, policy="greedy,random,random").policies
        ('greedy', 'random', 'random')
        """
        chosen = load(rules)
        return cls(
            matches=whole_number("matches", matches, 1, MAX_MATCHES),
            seed=whole_number("seed", seed, 0, MAX_SEED),
            start=whole_number("start", start, 0, MAX_MATCHES),
            rules=chosen,
            policies=policies_of(policy, chosen.deal.players, "player"),
        )

    def to_dict(self) -> dict[str, Any]:
        """All that affects the answer, as plain JSON values; rules by their digest."""
        return {
            "matches": self.matches,
            "seed": self.seed,
            "start": self.start,
            "rules": digest(self.rules),
            "policies": list(self.policies),
        }

    def digest(self) -> str:
        """SHA-256 in hex of the canonical JSON of :meth:`to_dict`."""
        return digest_of(self.to_dict())

    def to_toml(self) -> str:
        """The plan as TOML, with the whole rule set, for the run's folder."""
        head = [
            f"matches = {self.matches}",
            f"seed = {self.seed}",
            f"start = {self.start}",
            f"policies = {json.dumps(list(self.policies))}",
        ]
        return "\n".join(head + rules_as_toml(self.rules)) + "\n"


def match_plan_of_manifest(
    plan: dict[str, Any], rules: dict[str, Any], name: str, source: str
) -> MatchPlan:
    """The plan of a stored run of matches, from its manifest's tables; raises what `make` does."""
    made = MatchPlan.make(
        matches=plan["matches"],
        seed=plan["seed"],
        start=plan["start"],
        rules=build(rules, name=name, source=source),
    )
    policies = stored_policies(plan["policies"], made.rules.deal.players, "player")
    return replace(made, policies=policies)
