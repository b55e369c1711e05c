"""The policies by name. No kernel is imported here, so that names and help texts stay cheap."""

from __future__ import annotations

from dataclasses import dataclass

from milsim.errors import PolicyError, nearest, quote


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """A policy: its name, the number kernels know it by, and what it does in one line."""

    name: str
    number: int
    summary: str


RANDOM = PolicyInfo("random", 0, "any legal act, all equally likely")
GREEDY = PolicyInfo(
    "greedy", 1, "one page of good habits: bids what it holds, cashes aces, declares, smears"
)

EXPERT = PolicyInfo(
    "expert", 2, "fitted on simulated deals: hand values, chances of contracts, worths of cards"
)

_POLICIES = {policy.name: policy for policy in (RANDOM, GREEDY, EXPERT)}


def names() -> tuple[str, ...]:
    """The registered names.

    >>> names()
    ('random', 'greedy', 'expert')
    """
    return tuple(_POLICIES)


def get(name: str) -> PolicyInfo:
    """A policy by name; raises :class:`~milsim.errors.PolicyError` with the nearest right name.

    >>> get("greedy").number
    1
    >>> get("gredy")
    Traceback (most recent call last):
    ...
    milsim.errors.PolicyError: unknown policy 'gredy': did you mean greedy?
    """
    if name not in _POLICIES:
        raise PolicyError(f"unknown policy {quote(name)}: {nearest(name, _POLICIES)}")
    return _POLICIES[name]
