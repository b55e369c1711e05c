"""Bad policies, broken kernels and clocks, for command lines: see `tests.forked_commands.Job`."""

from __future__ import annotations

import ctypes
import datetime
import os
import signal
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

from milsim.knowledge import View
from milsim.policies import Policy, register
from milsim.store.collect import DealMaking
from milsim.store.pieces import Piece

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
    real = DealMaking.play

    def play(self: DealMaking, start: int, count: int) -> Any:
        if start <= 710 and start + count > 700:
            raise FloatingPointError("in a\nkernel")
        return real(self, start, count)

    DealMaking.play = play  # type: ignore[method-assign]


def press_ctrl_c() -> None:
    """Ctrl-C while the deals 700 to 710 are played, and a while before they are."""
    real = DealMaking.play

    def play(self: DealMaking, start: int, count: int) -> Any:
        if start <= 710 and start + count > 700:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return real(self, start, count)

    DealMaking.play = play  # type: ignore[method-assign]


def press_ctrl_c_twice() -> None:
    """Ctrl-C as the policy `endless` ends to answer, and once more when the first was heard."""
    register_them()
    pressed = threading.Lock()

    def fault(self: Endless, view: View) -> int:
        if pressed.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
            while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                time.sleep(0.01)  # what hears the first leaves the second to Python
            os.kill(os.getpid(), signal.SIGINT)
        while True:
            time.sleep(0.01)

    Endless.fault = fault  # type: ignore[method-assign]


PARTS_BEFORE_DEATH = 4


def die_in_the_middle() -> None:
    """SIGKILL as the fifth part has its rows, and nothing beside them yet."""
    real, parts = Piece.write, count()

    def write(self: Piece, folder: Path, mark: str = "") -> None:
        if next(parts) == PARTS_BEFORE_DEATH:
            os.kill(os.getpid(), signal.SIGKILL)
        real(self, folder, mark)

    Piece.write = write  # type: ignore[method-assign]


def turn_the_clock_back() -> None:
    """Each look at the clock of the wall is an hour before the last; a part takes a while."""
    _clock_by(-3600)
    _play_slowly()


def let_the_clock_leap() -> None:
    """Each look at the clock of the wall is a day after the last."""
    _clock_by(24 * 3600)


def _clock_by(seconds: int) -> None:
    looks = count(int(time.time()), seconds)
    time.time = lambda: float(next(looks))
    time.time_ns = lambda: next(looks) * 10**9

    class Wall(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Wall:
            return cls.fromtimestamp(next(looks), tz)

    datetime.datetime = Wall  # type: ignore[misc]


def _play_slowly() -> None:
    real = DealMaking.play

    def play(self: DealMaking, start: int, count: int) -> Any:
        time.sleep(0.02)
        return real(self, start, count)

    DealMaking.play = play  # type: ignore[method-assign]


def be_like_any_user() -> None:
    """What is not to be written is not written by root either: it gives up its right to."""
    if sys.platform != "linux" or os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this thread
    # Effective, permitted, inheritable of the first 32 capabilities, then of the others.
    held = (ctypes.c_uint32 * 6)()
    if libc.capget(header, held):
        raise OSError(ctypes.get_errno(), "capget")
    for place in range(3):
        held[place] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if libc.capset(header, held):
        raise OSError(ctypes.get_errno(), "capset")
