"""Policies: who bids, gives and plays.

Names and specs in `spec`, those that are all kernels in `registry` and `dispatch`; `players` and
`seen` are what others are asked by, and with. For policies of your own: `Policy`, `register`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milsim.policies.spec import register
    from milsim.policies.user import Policy, legal_bids, legal_cards, legal_contracts

_HOMES = {
    "Policy": "milsim.policies.user",
    "legal_bids": "milsim.policies.user",
    "legal_cards": "milsim.policies.user",
    "legal_contracts": "milsim.policies.user",
    "register": "milsim.policies.spec",
}

__all__ = ["Policy", "legal_bids", "legal_cards", "legal_contracts", "register"]


def __getattr__(name: str) -> Any:
    # Loaded when first used: names and help texts import no kernel.
    if name not in _HOMES:
        raise AttributeError(f"module 'milsim.policies' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
