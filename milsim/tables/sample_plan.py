"""What a sample of models is made of: rules, models, seed, how many hands and deals of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milsim.dealing.tables import N_HANDS
from milsim.errors import PolicyError, UsageError, quote
from milsim.policies.spec import canonical, parse_spec
from milsim.rules import Rules, digest, load
from milsim.simulation.plan import MAX_SEED, digest_of, rules_as_toml, whole_number
from milsim.tables.models import DOUBLE_DUMMY
from milsim.tables.plan import SAMPLING

STRATA = "marriages-aces-guarded-tens/v1"
"""How the hands are chosen (:mod:`milsim.tables.strata`)."""
DEFAULT_MODELS = {DOUBLE_DUMMY: 32, "pimc": 10}
"""Deals of a hand. Hands differ less than deals: many hands with few deals tell most."""
DEFAULT_HANDS = 2400
MAX_DEALS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """A stratified sample of ``hands``, in the deals of the table of the same seed and policy.

    ``models`` has how many deals of a hand each plays or solves, the first ones of the hand's order
    (`ordered_deals`); ``policy`` plays all of them, so that all differences are within deals.
    """

    rules: Rules
    policy: str
    seed: int
    hands: int
    models: tuple[tuple[str, int], ...]

    @classmethod
    def make(
        cls,
        *,
        rules: str | Rules = "mil",
        policy: str = "expert",
        seed: int = 1,
        hands: int = DEFAULT_HANDS,
        models: Mapping[str, int] | None = None,
    ) -> SamplePlan:
        """A checked plan.

        Raises :class:`~milsim.errors.UsageError` for a number out of range or a model twice,
        :class:`~milsim.errors.RulesError` and :class:`~milsim.errors.PolicyError`.

        >>> SamplePlan.make(hands=300, models={"double-dummy": 4}).deals
        4
        """
        name = canonical(policy)
        if parse_spec(name).number is None:
            raise PolicyError(
                f"policy {quote(name)}: is not all kernels, and no table is by it; use expert, "
                "greedy or random"
            )
        chosen: list[tuple[str, int]] = []
        for model, deals in (DEFAULT_MODELS if models is None else models).items():
            known = model if model == DOUBLE_DUMMY else canonical(model)
            if known == name or known in dict(chosen):
                raise UsageError(f"model {quote(known)}: is there twice; name each once")
            chosen.append((known, whole_number("deals", deals, 2, MAX_DEALS)))
        if not chosen:
            raise UsageError("model: none is named; use double-dummy, pimc or other policies")
        return cls(
            rules=load(rules),
            policy=name,
            seed=whole_number("seed", seed, 0, MAX_SEED),
            hands=whole_number("hands", hands, 1, N_HANDS),
            models=tuple(chosen),
        )

    @property
    def deals(self) -> int:
        """How many deals of a hand are played by the fast policy: the most of any model."""
        return max(deals for _, deals in self.models)

    def to_dict(self) -> dict[str, Any]:
        """All that affects the answer, as plain JSON values; rules by their digest."""
        return {
            "rules": digest(self.rules),
            "policy": self.policy,
            "seed": self.seed,
            "hands": self.hands,
            "models": dict(self.models),
            "sampling": SAMPLING,
            "strata": STRATA,
        }

    def digest(self) -> str:
        """SHA-256 in hex of the canonical JSON of :meth:`to_dict`."""
        return digest_of(self.to_dict() | {"models": list(self.models)})

    def to_toml(self) -> str:
        """The plan as TOML, with the whole rule set, for the folder."""
        head = [
            f"policy = {json.dumps(self.policy)}",
            f"seed = {self.seed}",
            f"hands = {self.hands}",
            *(
                f"models.{json.dumps(name, ensure_ascii=False)} = {deals}"
                for name, deals in self.models
            ),
        ]
        return "\n".join(head + rules_as_toml(self.rules)) + "\n"


def models_of(text: str) -> dict[str, int]:
    """Models with their deals as ``double-dummy=32,pimc=10``; raises UsageError for anything else.

    >>> models_of("double-dummy=32, pimc:layouts=64=10")
    {'double-dummy': 32, 'pimc:layouts=64': 10}
    """
    found: dict[str, int] = {}
    for word in text.split(","):
        name, equals, deals = word.strip().rpartition("=")
        if not equals or not name or not (deals.isascii() and deals.isdigit()) or len(deals) > 9:
            raise UsageError(f"models: {quote(word)} is none; write double-dummy=32,pimc=10")
        if name in found:
            raise UsageError(f"model {quote(name)}: is there twice; name each once")
        found[name] = int(deals)
    return found


__all__ = ["DEFAULT_HANDS", "DEFAULT_MODELS", "STRATA", "SamplePlan", "models_of"]
