"""Single fields set otherwise: ``--set play.must_beat=no`` and its twin for Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from milsim.errors import RulesError, UsageError, quote
from milsim.rules.fields import FieldKind, Value, build, field_kinds, nearest_field, values_of
from milsim.rules.files import MAX_TEXT, digest, load
from milsim.rules.model import Rules

_WHOLE_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_SWITCHES = {"true": True, "yes": True, "false": False, "no": False}


def with_fields(rules: str | Path | Rules, fields: Mapping[str, Value]) -> Rules:
    """A rule set with some fields set otherwise, by dotted path; it is checked as a whole.

    The result is called ``NAME-changed``, and its source says what was changed, unless it is the
    same game still. Raises :class:`~milsim.errors.RulesError` for an unknown field, a value that is
    not allowed, or a contradiction.

    >>> free = with_fields("mil", {"play.must_beat": "no", "match.target": 1001})
    >>> free.name, free.play.must_beat, free.match.target
    ('mil-changed', 'no', 1001)
    >>> free.source[-49:]
    'changed: play.must_beat = no, match.target = 1001'
    >>> with_fields("mil", {"play.must_beat": "if_can_win"}) == load("mil")
    True
    >>> with_fields("mil", {"play.must_bet": "no"})
    Traceback (most recent call last):
    ...
    milsim.errors.RulesError: play.must_bet: unknown field; did you mean play.must_beat?
    """
    base = load(rules)
    for path in fields:
        _kind_of(path)
    changed = build({**values_of(base), **fields}, name=base.name, source=base.source)
    if digest(changed) == digest(base):
        return base
    name = base.name if base.name.endswith("-changed") else f"{base.name}-changed"
    before, now = values_of(base), values_of(changed)
    words = [f"{path} = {_plain(now[path])}" for path in now if now[path] != before[path]]
    source = "; ".join([base.source] * bool(base.source) + ["changed: " + ", ".join(words)])
    if len(source) > MAX_TEXT:
        source = source[: MAX_TEXT - 4] + " ..."
    return replace(changed, name=name, source=source)


def read_settings(texts: Iterable[str]) -> dict[str, Value]:
    """Fields and values from texts ``FIELD=VALUE``; the last one for a field counts.

    A switch is ``true`` or ``false`` (or ``yes``, ``no``). Raises
    :class:`~milsim.errors.UsageError` where there is no ``=``, and
    :class:`~milsim.errors.RulesError` for an unknown field or a value that is not allowed.

    >>> read_settings(["play.must_beat=no", "play.must_trump=no", "match.lock=off"])
    {'play.must_beat': 'no', 'play.must_trump': False, 'match.lock': 'off'}
    >>> read_settings(["lock=900"])
    Traceback (most recent call last):
    ...
    milsim.errors.RulesError: lock: unknown field; did you mean match.lock?
    """
    fields: dict[str, Value] = {}
    for text in texts:
        path, found, value = (part.strip() for part in text.partition("="))
        if not found:
            raise UsageError(
                f"set: {quote(text)} is not FIELD=VALUE; write for example play.must_beat=no"
            )
        fields[path] = _value_of(_kind_of(path), value)
    return fields


def _value_of(kind: FieldKind, text: str) -> Value:
    value: Any = text
    if kind.is_switch:
        value = _SWITCHES.get(text.lower(), text)
    elif kind.bounds is not None and _WHOLE_NUMBER.fullmatch(text):
        value = int(text)
    return kind.check(value)


def _kind_of(path: str) -> FieldKind:
    kinds = field_kinds()
    if isinstance(path, str) and path in kinds:
        return kinds[path]
    shown = path if isinstance(path, str) and path.isprintable() and path else repr(path)
    raise RulesError(f"{shown:.60}: unknown field; {nearest_field(str(path))}")


def _plain(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
