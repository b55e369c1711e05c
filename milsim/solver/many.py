"""Many deals and positions as lines of text: read, solved in blocks, answered in order.

A line is a deal number, a deal or a position in notation (`milsim.deals`, `milsim.position`), a
JSON object, or a row of a CSV file whose first line names its columns:

- CSV: ``deal`` (or ``deal_id``), a number; or ``declarer_mask``, ``left_mask``, ``right_mask`` and
  perhaps ``leader`` (0 declarer, 1 his left, 2 his right) and ``trump`` (0–3, 4 none);
- JSON: the same names; or ``position``, its text; or a deal as `Deal.to_dict` writes it.

Of a deal the best exchange is solved; a position as it stands.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milsim.cards import NO_TRUMP, checked_int, format_hand, parse_hand
from milsim.deals import Deal
from milsim.errors import DealError, MilsimError, NotationError, nearest, quote
from milsim.position import Position
from milsim.rules import Rules
from milsim.solver.batch import solve_batch
from milsim.solver.columns import fault_words
from milsim.solver.exchange import best_exchange_batch, checked_declarer
from milsim.solver.solution import solve

BLOCK = 2048
"""Lines solved together at the most; the first blocks are small, so that answers come at once."""
_LONGEST = 10_000
_MASKS = ("declarer_mask", "left_mask", "right_mask")
_COLUMNS = ("deal", "deal_id", *_MASKS, "leader", "trump")

_NUMBERS = re.compile(r"-?\d+(\s*,\s*-?\d+)+")

Row = tuple[int, int, int, int, int]
Task = Row | int | Position


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one line."""

    line: int
    """Its number, from 1."""
    points: int | None = None
    """The declarer's future points, if they were asked for."""
    reached: bool | None = None
    """Whether they are at least as many as asked."""
    gifts: tuple[int, int] | None = None
    """Of a deal: the best gifts to his left and right."""
    count: int | None = None
    """Of a deal: how many pairs of gifts are as good."""
    error: str | None = None
    """Why the line could not be answered."""


def read_position_or_deal(
    text: str, *, rules: str | Path | Rules = "mil", letters: str = "english"
) -> Deal | Position:
    """What a text describes: a position has fields after ``;``, or three hands not of seven cards.

    Raises NotationError or DealError.

    >>> read_position_or_deal("KQ... | .A.T. | .9.A.")
    Position.parse('KQ... | .A.T. | .9.A.')
    >>> read_position_or_deal("0").id
    0
    """
    if len(text) > _LONGEST:
        raise NotationError(f"text of {len(text)} letters: too long for a deal or position")
    if ";" in text:
        return _position(text, rules, letters)
    try:
        return Deal.parse(text, letters=letters)
    except MilsimError:
        if text.count("|") != 2:
            raise
        position = _position(text, rules, letters)
        if any(len(hand) == 7 for hand in position.hands):
            raise
        return position


def _position(text: str, rules: str | Path | Rules, letters: str) -> Position:
    """A position whose hands are written in these rank letters; its fields are in English."""
    if letters != "english":
        hands, semicolon, fields = text.partition(";")
        read = [format_hand(parse_hand(hand, letters=letters)) for hand in hands.split("|")]
        text = " | ".join(read) + semicolon + fields
    return Position.parse(text, rules=rules)


def _task_of_fields(fields: dict[str, Any], rules: str | Path | Rules) -> Task:
    if "position" in fields:
        return Position.parse(fields["position"], rules=rules)
    if any(name in fields for name in _MASKS):
        numbers = []
        for name in (*_MASKS, "leader", "trump"):
            default = {"leader": 0, "trump": NO_TRUMP}.get(name)
            value = fields.get(name, default)
            if value is None:
                raise NotationError(f"no {name}")
            numbers.append(checked_int(value, name))
        first, second, third, leader, trump = numbers
        return first, second, third, leader, trump
    if "deal_id" in fields:
        fields = {"deal": fields["deal_id"]}
    return Deal.from_dict(fields).id


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise NotationError(f"no row of CSV: {error}") from None


def _whole(text: str, name: str) -> int:
    cleaned = text.strip()
    if len(cleaned) > 30 or not cleaned.lstrip("-").isascii() or not cleaned.lstrip("-").isdigit():
        raise NotationError(f"{name} must be a whole number, got {quote(text)}")
    return int(cleaned)


class _Reader:
    """Turns lines into tasks; remembers the columns of a CSV file."""

    def __init__(self, rules: str | Path | Rules, letters: str) -> None:
        self.rules, self.letters = rules, letters
        self.columns: list[str] | None = None
        self.is_first = True

    def task(self, text: str) -> Task | None:
        """The task of a line that is not blank; None for the names of columns."""
        was_first, self.is_first = self.is_first, False
        if text.startswith("{"):
            try:
                fields = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise NotationError(f"no JSON: {error}") from None
            return _task_of_fields(fields, self.rules)
        if self.columns is not None:
            cells = _cells(text)
            if len(cells) != len(self.columns):
                raise NotationError(f"{len(cells)} cells under {len(self.columns)} columns")
            pairs = zip(self.columns, cells, strict=True)
            return _task_of_fields(
                {name: _whole(cell, name) for name, cell in pairs if name in _COLUMNS}, self.rules
            )
        if was_first and text[:1].isalpha() and ("," in text or text in _COLUMNS):
            names = [name.strip() for name in _cells(text)]
            twice = [name for name in names if name and names.count(name) > 1]
            if twice:
                raise NotationError(f"column {quote(twice[0])} is named twice")
            if {"deal", "deal_id"} & set(names) and set(_MASKS) & set(names):
                raise NotationError("columns of deals and of hands: name one of the two")
            if not {"deal", "deal_id", *_MASKS} & set(names):
                raise NotationError(
                    f"columns {quote(text)}: none says what to solve; "
                    f"{nearest(names[0], ('deal', *_MASKS))}"
                )
            self.columns = names
            return None
        if _NUMBERS.fullmatch(text):
            raise NotationError(
                "a row of numbers: the first line must name the columns, deal or "
                + ", ".join((*_MASKS, "leader", "trump"))
            )
        found = read_position_or_deal(text, rules=self.rules, letters=self.letters)
        return found if isinstance(found, Position) else found.id


def _as_row(position: Position, declarer: int) -> Row | None:
    """A position as a row for `solve_batch`, if it can be one."""
    hands = [position.hands[(declarer + turn) % 3].mask for turn in range(3)]
    usual = 9 - len(position.hands[0]) == position.trick_number
    if position.table or position.next_trump != position.trump or not usual or not hands[0]:
        return None
    return hands[0], hands[1], hands[2], (position.leader - declarer) % 3, position.trump


def solve_lines(
    lines: Iterable[str],
    *,
    declarer: int = 0,
    rules: str | Path | Rules = "mil",
    at_least: int | None = None,
    strict: bool = False,
    letters: str = "english",
    threads: int | None = None,
) -> Iterator[Answer]:
    """Answer line after line, in order: the declarer's points double dummy, or whether so many.

    ``declarer`` is the seat that declares, in deals and in positions in notation. Blank lines have
    no answer. A line that cannot be read or solved is answered with its error; if ``strict``, it
    ends all by a MilsimError that names the line. Memory does not grow with the number of lines.

    >>> for answer in solve_lines(["688907321587", "x", "KQ... | .A.T. | .9.A."]):
    ...     print(answer.line, answer.points, answer.error)
    1 85 None
    2 None no deal in 'x': write a deal number, or forehand, middlehand, rearhand and talon as \
AKQ.T9.J.A hands between spaces, or any hands between |
    3 79 None
    """
    seat = checked_declarer(declarer)
    reader = _Reader(rules, letters)
    block = 1
    tasks: dict[int, Task] = {}
    answers: dict[int, Answer] = {}

    def finish() -> Iterator[Answer]:
        _solve_block(tasks, answers, seat, rules, at_least, threads)
        for number in sorted(answers):
            yield answers[number]
        tasks.clear()
        answers.clear()

    for number, line in enumerate(lines, 1):
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        try:
            if len(text) > _LONGEST:
                raise NotationError(
                    f"more than {_LONGEST} letters: too long for a deal or position"
                )
            task = reader.task(text)
            if isinstance(task, Position):
                task = _as_row(task, seat) or task
            elif isinstance(task, tuple):
                why = fault_words(task)
                if why:
                    raise DealError(f"no position: {why}")
        except MilsimError as error:
            if strict:
                yield from finish()
                raise type(error)(f"line {number}: {error}") from None
            answers[number] = Answer(number, error=str(error))
        else:
            if task is not None:
                tasks[number] = task
        if len(tasks) + len(answers) >= block:
            yield from finish()
            block = min(2 * block, BLOCK)
    yield from finish()


def _solve_block(
    tasks: dict[int, Task],
    answers: dict[int, Answer],
    declarer: int,
    rules: str | Path | Rules,
    at_least: int | None,
    threads: int | None,
) -> None:
    rows = {number: task for number, task in tasks.items() if isinstance(task, tuple)}
    deals = {number: task for number, task in tasks.items() if isinstance(task, int)}
    if rows:
        columns = list(zip(*rows.values(), strict=True))
        first, second, third, leader, trump = columns
        found = solve_batch(
            first, second, third, leader, trump, rules=rules, at_least=at_least, threads=threads
        ).tolist()
        for number, value in zip(rows, found, strict=True):
            is_points = at_least is None
            answers[number] = Answer(number, *((value, None) if is_points else (None, value)))
    if deals:
        best = best_exchange_batch(
            list(deals.values()), declarer=declarer, rules=rules, threads=threads
        )
        for number, points, left, right, count in zip(
            deals, *(column.tolist() for column in best), strict=True
        ):
            reached = None if at_least is None else points >= at_least
            answers[number] = Answer(number, points, reached, (left, right), count)
    for number, task in tasks.items():
        if isinstance(task, Position):
            value = solve(task, declarer=declarer).value
            reached = None if at_least is None else value >= at_least
            answers[number] = Answer(number, value, reached)


__all__ = ["Answer", "read_position_or_deal", "solve_lines"]
