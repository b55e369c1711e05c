"""A clock of a test's own for one module, and no other.

``time.monotonic`` belongs to the whole process: pools, Dask's loop and pytest look at it, too, and
would see time leap, or take moments that were meant for somebody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


class Clock:
    """Stands for the module ``time`` in modules that only ask for ``monotonic``."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.monotonic = monotonic


def set_clock(
    patch: pytest.MonkeyPatch, moments: Iterable[float] | Callable[[], float], *modules: str
) -> None:
    """Let modules see these moments, one a look; without names, who writes runs."""
    look = moments if callable(moments) else iter(moments).__next__
    for module in modules or ("milsim.store.writing",):
        patch.setattr(f"{module}.time", Clock(look))
