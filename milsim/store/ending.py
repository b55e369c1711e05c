"""Where a run with a rule to stop by ended: a small file in its folder, ``ending.json``.

It is written when the rule was found to hold at a checkpoint, or all deals were played without it:
from then on the run counts as finished. What it says follows from the rows before ``end``; the
digest of its own text tells at once if it was changed, and then they are counted anew.

While a run is not finished ``.counted.json`` may stand there: how far it was counted, so that it
need not be again. It holds for the very parts that were counted only.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milsim.files import read_text, reason_of, write_atomically
from milsim.simulation.plan import Plan
from milsim.store.pieces import Fault

ENDING_NAME = "ending.json"
COUNTED_NAME = ".counted.json"
MOST_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Ending:
    """The run has ``deals`` deals, up to but not with index ``end``; ``made`` of their contracts.

    ``held`` says whether the rule held there; if not, they are all deals of the plan. ``plan`` is
    the plan's digest.
    """

    plan: str
    end: int
    deals: int
    made: int
    held: bool

    def to_json(self) -> str:
        """The text of the file, the same for the same content."""
        return _with_digest(asdict(self))

    def write(self, folder: Path) -> None:
        """Write the file into a run folder, whole or not at all."""
        write_atomically(folder / ENDING_NAME, self.to_json().encode())

    def in_words(self, plan: Plan) -> str:
        """Why and where the run ended, for people."""
        rule = plan.stop
        if rule is None or not self.held:
            return f"{rule}: not within {self.deals:,} deals, the most that were allowed"
        answer = rule.answer(self.deals, self.made)
        told = f": {answer}," if answer else ""
        return f"{rule}{told} after {self.deals:,} of at most {plan.deals:,} deals"


def ending_of(folder: Path, plan: Plan) -> tuple[Ending | None, list[Fault]]:
    """What the file in a run folder says, or None if there is none; and what is wrong with it."""
    path = folder / ENDING_NAME
    try:
        text = read_text(path, MOST_BYTES)
    except FileNotFoundError:
        return None, []
    except (OSError, ValueError) as error:
        return None, [Fault("torn", path, reason_of(error))]
    try:
        content = json.loads(text)
        content.pop("digest", None)
        ending = Ending(**content)
        sound = ending.to_json() == text and _is_sound(ending, plan)
    except (ValueError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        return None, [Fault("torn", path, "is torn, or not as milsim writes it")]
    return ending, []


@dataclass(frozen=True, slots=True)
class Counted:
    """Up to but not with index ``end``, ``made`` of contracts were counted, and no rule held.

    ``parts`` is the digest of the parts that were, ``checkpoint`` the deals between checkpoints.
    """

    plan: str
    checkpoint: int
    end: int
    made: int
    parts: str

    def to_json(self) -> str:
        """The text of the file."""
        return _with_digest(asdict(self))

    def write(self, folder: Path) -> None:
        """Write it into a run folder, if there is room: it only saves time."""
        with suppress(OSError):
            write_atomically(folder / COUNTED_NAME, self.to_json().encode())


def counted_of(folder: Path) -> Counted | None:
    """What a run folder says of how far it was counted, if anything that can be used."""
    try:
        text = read_text(folder / COUNTED_NAME, MOST_BYTES)
        content = json.loads(text)
        content.pop("digest", None)
        counted = Counted(**content)
        return counted if counted.to_json() == text else None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _with_digest(content: dict[str, Any]) -> str:
    """The text of a small file that ends in the digest of what it says before.

    >>> _with_digest({"a": 1})[:-60]
    '{"a": 1, "digest": "f9d8602'
    """
    said = json.dumps(content, separators=(", ", ": "))
    digest = hashlib.sha256(said.encode()).hexdigest()
    return json.dumps(content | {"digest": digest}, separators=(", ", ": ")) + "\n"


def _is_sound(ending: Ending, plan: Plan) -> bool:
    numbers = (ending.end, ending.deals, ending.made)
    return (
        all(type(number) is int for number in numbers)
        and ending.plan == plan.digest()
        and 0 <= ending.made <= ending.deals <= plan.deals
        and ending.end == plan.start + ending.deals
        and plan.stop is not None
        and plan.stop.holds(ending.deals, ending.made) is ending.held
        and (ending.held or ending.deals == plan.deals)
    )


__all__ = ["COUNTED_NAME", "ENDING_NAME", "Counted", "Ending", "counted_of", "ending_of"]
