"""The files ``tests/golden/perft/*.perft``: positions and how many sequences of acts follow them.

A file is text: blocks between empty lines, lines that begin with ``#`` are comments. A block::

    position ruff-or-follow
    rules mil
    set play.must_beat = "no"
    hands AKQ.T9.J.A / ... / ...
    leader 0
    trump hearts
    trick 3
    depth 5
    perft 1 7
    ...

``rules`` is a preset, each ``set`` line one field set otherwise, in TOML. ``hands`` are forehand,
middlehand, rearhand in PBN order; the leader is a seat; ``trump`` is in force as the trick begins
(a suit or ``none``), ``trick`` the number of the trick that begins. ``perft d n``: n different
sequences of d acts; playing a card with and without declaring are two acts. A position is added by
writing a block without ``perft`` lines; ``pytest --update-golden tests/test_perft.py`` counts all
blocks up to their ``depth`` with the reference and writes the lines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milsim.cards import NO_TRUMP, SUIT_NAMES, cards_of, parse_hand
from milsim.reference import Position
from milsim.rules import Rules
from milsim.rules.fields import Value
from tests.rule_cases import rules_with

FOLDER = Path(__file__).parent / "golden" / "perft"
TRUMPS = (*SUIT_NAMES, "none")
KEYS = ("position", "rules", "hands", "leader", "trump", "trick", "depth")


@dataclass(frozen=True)
class PerftCase:
    """One block: hands as masks, trump 0 to 3 or 4 for none, counts by depth from 1 on."""

    name: str
    preset: str
    hands: tuple[int, int, int]
    leader: int
    trump: int
    trick_number: int
    depth: int
    counts: tuple[int, ...] = ()
    changes: dict[str, Value] = field(default_factory=dict)

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return rules_with(self.preset, self.changes)

    def position(self) -> Position:
        """The position, for the reference."""
        return Position.start(
            [cards_of(hand) for hand in self.hands],
            self.leader,
            trump=self.trump,
            trick_number=self.trick_number,
            rules=self.rules,
        )


def perft_files() -> list[Path]:
    """All files, by name."""
    return sorted(FOLDER.glob("*.perft"))


def perft_cases() -> list[PerftCase]:
    """All blocks of all files."""
    return [case for path in perft_files() for case in read_perft(path.read_text("utf-8"))]


def blocks(text: str) -> Iterator[list[str]]:
    """The blocks of a file, each as its lines, comments among them."""
    for block in text.split("\n\n"):
        if block.strip():
            yield block.strip("\n").split("\n")


def read_perft(text: str) -> list[PerftCase]:
    """The cases of a file; raises ValueError for a block that is none."""
    return [
        read_block(lines)
        for lines in blocks(text)
        if any(not line.startswith("#") for line in lines)
    ]


def read_block(lines: list[str]) -> PerftCase:
    """One block; raises ValueError naming what is missing or unknown."""
    found: dict[str, str] = {}
    changes: dict[str, Value] = {}
    counts: dict[int, int] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        key, _, value = line.partition(" ")
        if key == "set":
            changes |= flat(tomllib.loads(value))
        elif key == "perft":
            depth, count = value.split()
            counts[int(depth)] = int(count)
        elif key in KEYS and key not in found:
            found[key] = value.strip()
        else:
            raise ValueError(f"perft block: line {line!r} is not known here")
    missing = [key for key in KEYS if key not in found]
    if missing:
        raise ValueError(f"perft block {found.get('position')}: no {', '.join(missing)}")
    if list(counts) != list(range(1, len(counts) + 1)):
        raise ValueError(f"perft block {found['position']}: depths are not 1, 2, 3, …")
    first, second, third = (parse_hand(hand) for hand in found["hands"].split(" / "))
    return PerftCase(
        name=found["position"],
        preset=found["rules"],
        hands=(first, second, third),
        leader=int(found["leader"]),
        trump=TRUMPS.index(found["trump"]),
        trick_number=int(found["trick"]),
        depth=int(found["depth"]),
        counts=tuple(counts.values()),
        changes=changes,
    )


def flat(table: dict[str, Any], prefix: str = "") -> dict[str, Value]:
    """A TOML table as values by dotted path."""
    values: dict[str, Value] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            values |= flat(value, f"{prefix}{key}.")
        else:
            values[prefix + key] = value
    return values


def with_counts(text: str, counts: dict[str, tuple[int, ...]]) -> str:
    """The text of a file with the counts of every position (by name) written anew."""
    written = []
    for lines in blocks(text):
        kept = [line for line in lines if not line.startswith("perft ")]
        if any(not line.startswith("#") for line in lines):
            now = counts[read_block(lines).name]
            kept += [f"perft {depth} {count}" for depth, count in enumerate(now, 1)]
        written.append("\n".join(kept))
    return "\n\n".join(written) + "\n"


assert TRUMPS.index("none") == NO_TRUMP
