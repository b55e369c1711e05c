"""Bad policies and broken kernels, for command lines of tests: see `tests.forked_commands.Job`."""

from __future__ import annotations

import threading
import time
from typing import Any

from milsim.knowledge import View
from milsim.policies import Policy, register

ASKED = 800
"""Bad policies answer well so often, so that parts are finished before they do not."""


class _LateFault(Policy):
    # State of the process, not of a deal: which deal meets the fault depends on nothing else as
    # long as one thread plays.
    asked = 0
    lock = threading.Lock()

    def card(self, view: View) -> int:
        with self.lock:
            type(self).asked += 1
        return self.fault(view) if type(self).asked > ASKED else super().card(view)

    def fault(self, view: View) -> int:
        raise NotImplementedError


class Raises(_LateFault):
    """Fails as Python code does."""

    def fault(self, view: View) -> int:
        raise ZeroDivisionError("of my own")


class Illegal(_LateFault):
    """Plays a card that is not in its hand."""

    def fault(self, view: View) -> int:
        return next(card for card in range(24) if not view.hand.mask >> card & 1)


class Absurd(_LateFault):
    """Answers with no card at all."""

    def fault(self, view: View) -> Any:
        return "the ace, please\n"


class Endless(_LateFault):
    """Never answers."""

    def fault(self, view: View) -> int:
        while True:
            time.sleep(0.01)


POLICIES = {"raises": Raises, "illegal": Illegal, "absurd": Absurd, "endless": Endless}


def register_them() -> None:
    for name, policy in POLICIES.items():
        register(name, policy)


def break_a_range() -> None:
    """Deals 700 to 710 cannot be played, whoever asks."""
    from milsim.store.collect import DealMaking

    real = DealMaking.play

    def play(self: DealMaking, start: int, count: int) -> Any:
        if start <= 710 and start + count > 700:
            raise FloatingPointError("in a\nkernel")
        return real(self, start, count)

    DealMaking.play = play  # type: ignore[method-assign]


def turn_the_clock_back() -> None:
    """Each look at the clock of the wall is an hour before the last."""
    hours = iter(range(10**9, 0, -1))
    time.time = lambda: 3600.0 * next(hours)
    time.time_ns = lambda: 3600 * 10**9 * next(hours)
