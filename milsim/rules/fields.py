"""The declared fields of :mod:`milsim.rules.model` as a flat list: what each may hold.

Checking, printing, comparing and packing all walk this list, so that a new field is written once.
"""

from __future__ import annotations

import types
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from milsim.errors import RulesError, nearest, quote, shown
from milsim.rules.contradictions import check_combination
from milsim.rules.model import TABLES, Range, Rules

Value = bool | int | str


@dataclass(frozen=True, slots=True)
class FieldKind:
    """What a field may hold: a switch, one of some words, a bounded whole number, or a mix."""

    path: str
    meaning: str
    is_switch: bool
    words: tuple[str, ...]
    bounds: Range | None
    numbers: tuple[int, ...] = ()

    @property
    def allowed(self) -> str:
        """What may stand here, for messages and comments.

        >>> field_kinds()["auction.step"].allowed, field_kinds()["match.lock"].allowed
        ('5 or 10', '1 to 10000, or off')
        """
        if self.is_switch:
            return "true or false"
        if self.numbers:
            return " or ".join(map(str, self.numbers))
        if self.bounds is None:
            return " | ".join(self.words)
        numbers = f"{self.bounds.low} to {self.bounds.high}"
        return numbers + "".join(f", or {word}" for word in self.words)

    def check(self, value: object) -> Value:
        """Return the value, or raise :class:`RulesError` that names field, value and what fits."""
        if self.is_switch:
            if isinstance(value, bool):
                return value
        elif isinstance(value, str):
            if value in self.words:
                return value
        elif (
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.bounds is not None
            and self.bounds.low <= value <= self.bounds.high
            and (not self.numbers or value in self.numbers)
        ):
            return value
        shown = repr(value) if isinstance(value, str) else _plain(value)
        raise RulesError(f"{self.path}: {shown!s:.60} is not allowed; {self._right(value)}")

    def _right(self, value: object) -> str:
        if self.is_switch:
            return "true or false"
        parts = []
        if self.numbers:
            parts.append("one of: " + ", ".join(map(str, self.numbers)))
        elif self.bounds is not None:
            parts.append(f"a whole number from {self.bounds.low} to {self.bounds.high}")
        if self.words:
            if isinstance(value, str) and self.bounds is None:
                parts.append(nearest(value, self.words))
            else:
                parts.append("one of: " + ", ".join(self.words))
        return " or ".join(parts)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "a table or list"
    return quote(value) if isinstance(value, int) else str(value)


def nearest_field(path: str) -> str:
    """The end of an error message for an unknown field: the same name elsewhere, else the nearest.

    >>> nearest_field("match.must_beat"), nearest_field("play.must_bet")
    ('did you mean play.must_beat?', 'did you mean play.must_beat?')
    """
    kinds = field_kinds()
    table, _, name = path.rpartition(".")
    for known in kinds:
        if known.rpartition(".")[2] == name:
            return f"did you mean {known}?"
    near = [known for known in kinds if table and known.startswith(table + ".")]
    return nearest(path, near or kinds)


@lru_cache(maxsize=1)
def field_kinds() -> dict[str, FieldKind]:
    """Every field by its dotted path (``play.must_beat``), in the order of declaration.

    >>> list(field_kinds())[0], len(field_kinds()) > 60
    ('deal.players', True)
    """
    found: dict[str, FieldKind] = {}
    for table, declared in TABLES.items():
        _collect(found, table, declared)
    return found


def _collect(found: dict[str, FieldKind], prefix: str, declared: type[Any]) -> None:
    hints = get_type_hints(declared, include_extras=True)
    for one in fields(declared):
        path = f"{prefix}.{one.name}"
        hint = hints[one.name]
        if is_dataclass(hint):
            _collect(found, path, hint)  # type: ignore[arg-type]
            continue
        words: list[str] = []
        numbers: list[int] = []
        bounds: Range | None = None
        is_switch = hint is bool
        options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        for option in options:
            if get_origin(option) is Literal:
                allowed = get_args(option)
                words += [word for word in allowed if isinstance(word, str)]
                numbers += [word for word in allowed if isinstance(word, int)]
                if numbers:
                    bounds = Range(min(numbers), max(numbers))
            elif get_origin(option) is Annotated:
                bounds = next(extra for extra in get_args(option) if isinstance(extra, Range))
        found[path] = FieldKind(
            path, one.metadata["meaning"], is_switch, tuple(words), bounds, tuple(numbers)
        )


def values_of(rules: Rules) -> dict[str, Value]:
    """All field values of a rule set by dotted path, in the order of declaration.

    >>> values_of(Rules())["deal.marriage_values.hearts"]
    100
    """
    flat: dict[str, Value] = {}
    for path in field_kinds():
        value: Any = rules
        for name in path.split("."):
            value = getattr(value, name)
        flat[path] = value
    return flat


def build(values: dict[str, Value], *, name: str, source: str) -> Rules:
    """A rule set from values by dotted path; what is missing keeps its default.

    Raises :class:`RulesError` for an unknown path, a value that is not allowed, or a combination
    that contradicts itself.
    """
    kinds = field_kinds()
    nested: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    for path, value in values.items():
        if path not in kinds:
            raise RulesError(f"{shown(path)}: unknown field; {nearest_field(path)}")
        checked = kinds[path].check(value)
        table, *rest = path.split(".")
        if len(rest) == 2:
            nested[table].setdefault(rest[0], {})[rest[1]] = checked
        else:
            nested[table][rest[0]] = checked
    tables: dict[str, Any] = {}
    for table, declared in TABLES.items():
        hints = _hints(table)
        chosen = {
            key: hints[key](**value) if isinstance(value, dict) else value
            for key, value in nested[table].items()
        }
        tables[table] = declared(**chosen)
    rules = Rules(name=name, source=source, **tables)
    check_combination(rules)
    return rules


@cache
def _hints(table: str) -> dict[str, Any]:
    """The types of a table's fields; to find them takes longer than all else of `build`."""
    return get_type_hints(TABLES[table])


@lru_cache(maxsize=256)
def checked(rules: Rules) -> Rules:
    """The rule set as it is, if each of its values is allowed and no two contradict each other.

    Raises :class:`RulesError`; for rule sets that were put together in Python.
    """
    kinds = field_kinds()
    for path, value in values_of(rules).items():
        kinds[path].check(value)
    check_combination(rules)
    return rules
