"""What a table of hands is made of: rules, policy, seed, and how often each hand is played."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from milsim.dealing.tables import N_HANDS
from milsim.errors import PolicyError, UsageError, quote
from milsim.policies.spec import canonical, parse_spec
from milsim.rules import Rules, digest, load
from milsim.scoring import highest_contract
from milsim.simulation.plan import MAX_SEED, digest_of, rules_as_toml, whole_number

SAMPLING = "talons/v1"
"""How the deals of a hand come from the seed (:mod:`milsim.tables.hands_kernel`)."""
MAX_PER_TALON = 10_000
LOWEST_CONTRACT = 60
"""Contracts below the minimum are in the full table, too: what a forced bid is worth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """Hands ``first … last - 1`` by rank, each played ``per_talon`` times with each of 680 talons.

    ``policy`` plays all three seats; it must be all kernels (``expert``, ``greedy``, ``random``).
    A hand is played in the same deals whatever the range.
    """

    rules: Rules
    policy: str
    seed: int
    per_talon: int
    first: int
    last: int

    @classmethod
    def make(
        cls,
        *,
        rules: str | Rules = "mil",
        policy: str = "expert",
        seed: int = 1,
        per_talon: int = 1,
        hands: tuple[int, int] | None = None,
    ) -> TablePlan:
        """A checked plan of all hands, or of those with ranks ``hands[0] … hands[1] - 1``.

        Raises :class:`~milsim.errors.UsageError` for a number out of range,
        :class:`~milsim.errors.RulesError` and :class:`~milsim.errors.PolicyError`.

        >>> TablePlan.make(hands=(0, 10)).hands
        10
        """
        first, last = (0, N_HANDS) if hands is None else hands
        first = whole_number("hands", first, 0, N_HANDS - 1)
        last = whole_number("hands", last, first + 1, N_HANDS)
        name = canonical(policy)
        if parse_spec(name).number is None:
            raise PolicyError(
                f"policy {quote(name)}: is not all kernels, and far too slow for a table of all "
                "hands; use expert, greedy or random"
            )
        return cls(
            rules=load(rules),
            policy=name,
            seed=whole_number("seed", seed, 0, MAX_SEED),
            per_talon=whole_number("per-talon", per_talon, 1, MAX_PER_TALON),
            first=first,
            last=last,
        )

    @property
    def hands(self) -> int:
        """How many hands are played."""
        return self.last - self.first

    @property
    def is_whole(self) -> bool:
        """Whether all 346,104 hands are."""
        return self.hands == N_HANDS

    @property
    def contracts(self) -> tuple[int, ...]:
        """The contracts that the full table counts, by the step of the rules."""
        return contracts_of(self.rules, min(LOWEST_CONTRACT, self.rules.auction.minimum))

    def to_dict(self) -> dict[str, Any]:
        """All that affects the answer, as plain JSON values; rules by their digest."""
        return {
            "rules": digest(self.rules),
            "policy": self.policy,
            "seed": self.seed,
            "per_talon": self.per_talon,
            "hands": [self.first, self.last],
            "sampling": SAMPLING,
        }

    def digest(self) -> str:
        """SHA-256 in hex of the canonical JSON of :meth:`to_dict`."""
        return digest_of(self.to_dict())

    def to_toml(self) -> str:
        """The plan as TOML, with the whole rule set, for the folder."""
        head = [
            f"policy = {json.dumps(self.policy)}",
            f"seed = {self.seed}",
            f"per_talon = {self.per_talon}",
            f"hands = [{self.first}, {self.last}]",
        ]
        return "\n".join(head + rules_as_toml(self.rules)) + "\n"


def contracts_of(rules: Rules, lowest: int) -> tuple[int, ...]:
    """The contracts from ``lowest`` up to the highest that any hand can play, by the step.

    >>> contracts_of(load("mil"), 100)[:3], contracts_of(load("mil"), 60)[-1]
    ((100, 110, 120), 400)
    """
    step = rules.auction.step
    return tuple(range(-(-lowest // step) * step, highest_contract(rules) + 1, step))


def hands_of(text: str) -> tuple[int, int]:
    """A range of ranks as ``0:2000``; raises UsageError for anything else.

    >>> hands_of("0:2000")
    (0, 2000)
    """
    first, colon, last = text.strip().partition(":")
    digits = first + last
    if not colon or not first or not last or not (digits.isascii() and digits.isdigit()):
        raise UsageError(f"hands: {quote(text)} is no range of ranks; write 0:2000")
    if len(digits) > 20 or not 0 <= int(first) < int(last) <= N_HANDS:
        raise UsageError(f"hands: {quote(text)} is out of range; use ranks from 0:1 to 0:{N_HANDS}")
    return int(first), int(last)


def shard_of(text: str) -> tuple[int, int]:
    """A shard as ``k/n``, 1 ≤ k ≤ n ≤ 1000; raises UsageError for anything else.

    >>> shard_of("2/3")
    (2, 3)
    """
    which, slash, of = text.strip().partition("/")
    digits = which + of
    if slash and which and of and digits.isascii() and digits.isdigit() and len(digits) <= 8:
        k, n = int(which), int(of)
        if 1 <= k <= n <= 1000:
            return k, n
    raise UsageError(f"shard: {quote(text)} is no shard; write k/n, such as 1/4 to 4/4")


__all__ = [
    "LOWEST_CONTRACT",
    "MAX_PER_TALON",
    "SAMPLING",
    "TablePlan",
    "contracts_of",
    "hands_of",
    "shard_of",
]
