"""The small family of errors that milsim raises, and the exit codes of its command line.

Every message is one line, lower case: what was wrong, where, and what would be right.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum

MOST_LISTED = 12
"""Names that a message lists; of more it says that there are more."""


class ExitCode(IntEnum):
    """Exit codes of the command line (DESIGN, section CLI)."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    BAD_INPUT = 3
    STOPPED_EARLY = 4
    VERIFICATION_FAILED = 5
    INTERRUPTED = 130


class MilsimError(ValueError):
    """The root of all errors that a wrong input or argument can cause.

    What does not show in its message, a line's end in a name from a file, is shown as its escape.

    >>> str(MilsimError("no parameter a\\nb"))
    'no parameter a\\\\nb'
    """

    exit_code: ExitCode = ExitCode.BAD_INPUT

    def __init__(self, *args: object) -> None:
        """The error with its message."""
        super().__init__(*(one_line(each) if isinstance(each, str) else each for each in args))


class NotationError(MilsimError):
    """A card, hand, deal, constraint or other text that cannot be read."""


class DealError(MilsimError):
    """A deal or position whose cards do not add up."""


class RulesError(MilsimError):
    """A rule set that is unknown, misspelt or contradicts itself."""


class IllegalActError(MilsimError):
    """A bid, gift, contract or card that the rules do not allow at this moment."""


class RunError(MilsimError):
    """A run folder that cannot be written, or read, or does not fit its manifest."""


class PlanError(MilsimError):
    """A plan of runs that cannot be read, or asks for what there is not."""


class PolicyError(MilsimError):
    """A policy that is unknown or breaks the rules."""


class VerificationError(MilsimError):
    """Two ways to the same result disagree: what is stored is not what the rules give."""

    exit_code = ExitCode.VERIFICATION_FAILED


class InterruptedRunError(MilsimError):
    """Ctrl-C in the middle of a run; what was finished is saved."""

    exit_code = ExitCode.INTERRUPTED


class StoppedEarlyError(MilsimError):
    """A run that ended before its plan did; what was finished is saved."""

    exit_code = ExitCode.STOPPED_EARLY


class UsageError(MilsimError):
    """An argument outside its range (a number of deals, of threads, a seed)."""

    exit_code = ExitCode.USAGE


def one_line(text: str) -> str:
    """A text in which what is not printable, also a line's end, stands as its escape.

    >>> one_line("a\\x1b[2J")
    'a\\\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def quote(value: object, limit: int = 60) -> str:
    """The value as error messages show it: quoted, on one line, cut when long.

    >>> quote("A\\nB")
    "'A\\\\nB'"
    """
    if isinstance(value, int) and value.bit_length() > 256:
        shown = hex(value)  # Python refuses to write very long integers in decimal
    else:
        shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 4] + "..." + shown[-1]


def shown(name: str, limit: int = 60) -> str:
    """A name from a file as people wrote it, if it can stand on a line; else quoted and cut.

    >>> shown("must_beat"), shown("must\\nbeat")
    ('must_beat', "'must\\\\nbeat'")
    """
    return name if name.isprintable() and 0 < len(name) <= limit else quote(name, limit)


def nearest(wrong: str, right: Iterable[str]) -> str:
    """The end of an error message: the nearest right name, or the first dozen of them.

    >>> nearest("must_bet", ["must_beat", "must_trump"])
    'did you mean must_beat?'
    >>> nearest("x", ["a", "b"])
    'one of: a, b'
    """
    names = list(right)
    close = difflib.get_close_matches(wrong[:100], names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    return "one of: " + ", ".join(names[:MOST_LISTED]) + (", ..." * (len(names) > MOST_LISTED))


__all__ = [
    "DealError",
    "ExitCode",
    "IllegalActError",
    "InterruptedRunError",
    "MilsimError",
    "NotationError",
    "PlanError",
    "PolicyError",
    "RulesError",
    "RunError",
    "StoppedEarlyError",
    "UsageError",
    "VerificationError",
    "nearest",
    "one_line",
    "quote",
    "shown",
]
