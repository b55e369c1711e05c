"""When a run may end before all deals of its plan are played: a rule over the contracts made.

A rule is asked at fixed deal indices only, the ends of parts from the first deal on
(:mod:`milsim.store.ending`), and of all deals up to there. So where a run ends is a function of its
rows, whatever the threads, shards or interruptions.

There are two. ``ci_width`` ends a run when the 95 % Wilson interval of "contract made" has this
half-width at most; its intervals keep their coverage. ``decide`` ends it when a question such as
``made>50%`` is answered, by a confidence sequence (:mod:`milsim.confidence`): the answer is wrong
in at most one run in twenty, however often one looks.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from milsim.confidence import log_capital
from milsim.errors import UsageError, quote
from milsim.intervals import LEVEL, wilson

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?|\.\d{1,6})\s*(%?)", re.ASCII)
_QUESTION = re.compile(r"made\s*([<>])=?\s*(.*)", re.ASCII | re.IGNORECASE)
_NARROWEST = Decimal("0.000001")

Answer = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Stopping:
    """A rule: a half-width as a fraction, or a question in its canonical text; one of the two."""

    ci_width: float | None = None
    decide: str | None = None

    @classmethod
    def make(cls, ci_width: object = None, decide: object = None) -> Stopping | None:
        """A checked rule, or None if neither is given.

        ``ci_width`` is a fraction or a text such as ``0.5%``. Raises
        :class:`~milsim.errors.UsageError` for what is no half-width or question, and for both.

        >>> Stopping.make("0.5%"), Stopping.make(decide="made >= 50 %").decide
        (Stopping(ci_width=0.005, decide=None), 'made>50%')
        >>> Stopping.make(decide="luck>50%")
        Traceback (most recent call last):
        ...
        milsim.errors.UsageError: decide: 'luck>50%' is no question; write made>50% or made<50%
        """
        if ci_width is not None and decide is not None:
            raise UsageError("ci-width and decide: a run ends by one of them; leave one out")
        if ci_width is not None:
            return cls(ci_width=_half_width(ci_width))
        if decide is not None:
            return cls(decide=_question(decide))
        return None

    @classmethod
    def of_dict(cls, stored: object) -> Stopping | None:
        """The rule of a stored plan; None if it has none."""
        if stored is None:
            return None
        if not isinstance(stored, dict) or not stored or set(stored) - {"ci_width", "decide"}:
            raise UsageError(f"stop: {quote(stored)} is no rule to stop by")
        return cls.make(stored.get("ci_width"), stored.get("decide"))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values, the same for the same rule."""
        if self.ci_width is not None:
            return {"ci_width": self.ci_width}
        return {"decide": self.decide}

    def to_toml(self) -> list[str]:
        """The line of a plan."""
        if self.ci_width is not None:
            return [f"ci_width = {self.ci_width!r}"]
        return [f'decide = "{self.decide}"']

    def __str__(self) -> str:
        """The rule in words.

        >>> str(Stopping(ci_width=0.005)), str(Stopping(decide="made>50%"))
        ('contract made ±0.5%', 'made>50%')
        """
        if self.ci_width is not None:
            return f"contract made ±{_plain(Decimal(repr(self.ci_width)) * 100)}%"
        return str(self.decide)

    def holds(self, deals: int, made: int) -> bool:
        """Whether a run may end that made so many contracts in so many deals.

        >>> rule = Stopping.make("1%")
        >>> rule.holds(9_000, 4_500), rule.holds(10_000, 5_000)
        (False, True)
        """
        if deals == 0:
            return False
        if self.ci_width is not None:
            half = wilson(made, deals).half_width
            return half is not None and half <= self.ci_width
        return self.answer(deals, made) is not None

    def answer(self, deals: int, made: int) -> Answer | None:
        """The answer to the question of ``decide``; None if it is open, or there is no question.

        >>> rule = Stopping.make(decide="made<50%")
        >>> rule.answer(1000, 400), rule.answer(1000, 600), rule.answer(1000, 490)
        ('yes', 'no', None)
        """
        if self.decide is None:
            return None
        sign, border = self.decide[4], float(self.decide[5:-1]) / 100
        counts = np.array([deals - made, made], dtype=np.int64)
        values = np.array([0.0, 1.0])
        enough = math.log(2 / (1 - LEVEL))
        if log_capital(values, counts, border) >= enough:
            return "yes" if sign == ">" else "no"
        if log_capital(values, counts[::-1], 1 - border) >= enough:
            return "no" if sign == ">" else "yes"
        return None


def _half_width(value: object) -> float:
    fraction = None
    if isinstance(value, str):
        fraction = _fraction(value)
    elif isinstance(value, float | int) and not isinstance(value, bool) and abs(value) < 1:
        fraction = Decimal(repr(value))
    if fraction is None or not _NARROWEST <= fraction < Decimal("0.5"):
        raise UsageError(
            f"ci-width: {quote(value)} is no half-width; write it such as 0.5% or 0.005, below 50%"
        )
    return float(fraction)


def _question(value: object) -> str:
    found = _QUESTION.fullmatch(value.strip()) if isinstance(value, str) else None
    fraction = None if found is None else _fraction(found[2])
    if found is None or fraction is None or not 0 < fraction < 1:
        raise UsageError(f"decide: {quote(value)} is no question; write made>50% or made<50%")
    return f"made{found[1]}{_plain(fraction * 100)}%"


def _fraction(text: str) -> Decimal | None:
    """A fraction, or a number of per cents with their sign."""
    found = _PERCENT.fullmatch(text.strip())
    if found is None:
        return None
    return Decimal(found[1]) / (100 if found[2] else 1)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


__all__ = ["Answer", "Stopping"]
