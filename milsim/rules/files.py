"""Rule sets as TOML: presets and users' own files, read, checked, written and compared."""

from __future__ import annotations

import hashlib
import json
import textwrap
import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from milsim.errors import RulesError, nearest, quote, shown
from milsim.files import read_text, reason_of, write_atomically
from milsim.rules.fields import Value, build, checked, field_kinds, values_of
from milsim.rules.model import TABLES, Rules

MAX_FILE_BYTES = 100_000
MAX_TEXT = 500
"""Characters of a name or source."""

_HEADER_KEYS = ("name", "source", "based_on")


def preset_names() -> tuple[str, ...]:
    """Names of the rule sets that ship with milsim, ``mil`` first.

    >>> preset_names()[0]
    'mil'
    """
    folder = resources.files("milsim.rules") / "presets"
    names = sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(names, key=lambda name: name != "mil"))


def load(rules: str | Path | Rules = "mil") -> Rules:
    """A rule set by preset name, from a TOML file, or as it is.

    A text that ends in ``.toml`` or holds a path separator is a file, anything else a preset. A
    :class:`Rules` is given back when it holds together. Raises :class:`RulesError` for an unknown
    preset, an unreadable file, an unknown key, a wrong type or value, or a contradiction.

    >>> load("mil").auction.minimum
    100
    >>> load("mill")
    Traceback (most recent call last):
    ...
    milsim.errors.RulesError: unknown rules 'mill': did you mean mil?
    """
    if isinstance(rules, Rules):
        try:
            return checked(rules)
        except (TypeError, AttributeError):  # a list, None or the like where a value should be
            raise RulesError(
                "rules: not made of the tables and plain values of milsim.rules"
            ) from None
    if isinstance(rules, Path) or (
        isinstance(rules, str) and (rules.endswith(".toml") or "/" in rules or "\\" in rules)
    ):
        return _load_file(Path(rules))
    if not isinstance(rules, str):
        raise RulesError(
            f"rules: {type(rules).__name__} given; a preset name, a path or a Rules is needed"
        )
    if rules not in preset_names():
        raise RulesError(f"unknown rules {quote(rules)}: {nearest(rules, preset_names())}")
    return _load_preset(rules)


@lru_cache(maxsize=64)
def _load_preset(name: str) -> Rules:
    entry = resources.files("milsim.rules") / "presets" / f"{name}.toml"
    return parse(entry.read_text(encoding="utf-8"), name=name)


def _load_file(path: Path) -> Rules:
    try:
        text = read_text(path, MAX_FILE_BYTES)
    except (OSError, ValueError) as error:
        raise RulesError(f"rules file {path}: {reason_of(error)}") from None
    try:
        return _with_own_name(parse(text, name=path.stem))
    except RulesError as error:
        raise RulesError(f"rules file {path}: {error}") from None


def parse(text: str, *, name: str = "custom") -> Rules:
    """A rule set from TOML text: optional ``name``, ``source``, ``based_on``, then the tables.

    Fields that are not given are those of the preset ``based_on``, which is ``mil`` if not given.

    >>> parse("[play]\\nmust_trump = false").play.must_trump
    False
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number too long for int() is a ValueError
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        reason = " ".join(reason.split())
        raise RulesError(f"not valid toml: {reason[:1].lower() + reason[1:200]}") from None
    header = {key: document.pop(key) for key in _HEADER_KEYS if key in document}
    for key, value in header.items():
        if not (isinstance(value, str) and value.isprintable() and 0 < len(value) <= MAX_TEXT):
            raise RulesError(f"{key}: a text of 1 to {MAX_TEXT} printable characters is needed")
    base = header.get("based_on")
    if base is None:  # only mil, the base of all, stands on the defaults themselves
        values: dict[str, Value] = values_of(Rules())
    elif base in preset_names():
        values = values_of(_load_preset(base))
    else:
        raise RulesError(f"based_on: {quote(base)} is no preset; {nearest(base, preset_names())}")
    for table, content in document.items():
        if table not in TABLES:
            hint = nearest(table, (*TABLES, *_HEADER_KEYS))
            raise RulesError(f"{shown(table)}: unknown table or key; {hint}")
        if not isinstance(content, dict):
            raise RulesError(f"{table}: a table [{table}] is needed, not a value")
        values.update(_flatten(table, content))
    return build(values, name=header.get("name", name), source=header.get("source", ""))


def _with_own_name(rules: Rules) -> Rules:
    """A user's rules may not carry a preset's name unless they are that very game."""
    if rules.name in preset_names() and digest(rules) != digest(_load_preset(rules.name)):
        return replace(rules, name=f"{rules.name}-changed")
    return rules


def _flatten(prefix: str, content: dict[str, Any]) -> dict[str, Any]:
    kinds = field_kinds()
    flat: dict[str, Any] = {}
    for key, value in content.items():
        path = f"{prefix}.{key}"
        if any(known.startswith(path + ".") for known in kinds):
            if not isinstance(value, dict):
                raise RulesError(f"{path}: a table [{path}] is needed, not a value")
            flat.update(_flatten(path, value))
        elif path not in kinds:
            siblings = {
                known.removeprefix(prefix + ".").split(".")[0]
                for known in kinds
                if known.startswith(prefix + ".")
            }
            raise RulesError(f"{shown(path)}: unknown field; {nearest(key, sorted(siblings))}")
        else:
            flat[path] = value
    return flat


def canonical_json(rules: Rules) -> str:
    """All fields that shape the game as JSON with sorted keys and no spaces.

    >>> canonical_json(load("mil"))[:27]
    '{"auction.all_pass":"dealer'
    """
    return json.dumps(values_of(rules), sort_keys=True, separators=(",", ":"))


def digest(rules: Rules) -> str:
    """SHA-256 of :func:`canonical_json`, in hex: the identity of a rule set.

    >>> digest(load("mil")) == digest(Rules(name="another name"))
    True
    """
    return hashlib.sha256(canonical_json(rules).encode()).hexdigest()


def to_toml(rules: Rules, *, comments: bool = True) -> str:
    """The rule set as TOML with every field, each with its meaning as a comment.

    >>> parse(to_toml(load("gamerules"))) == load("gamerules")
    True
    """
    lines = [f"name = {_quoted(rules.name)}"]
    if rules.source:
        lines.append(f"source = {_quoted(rules.source)}")
    return "\n".join(lines + _tables(rules, comments=comments)) + "\n"


def template(base: str | Path | Rules = "mil", *, name: str = "my-rules") -> str:
    """A rules file to edit: commented TOML, every field as in ``base``, under a name of its own.

    It loads as it is; a line that is taken out stays as in ``base``, if that is a preset, or as in
    ``mil``.

    >>> parse(template("gamerules", name="home")).name
    'home'
    >>> digest(parse(template("gamerules"))) == digest(load("gamerules"))
    True
    """
    rules = load(base)
    begun = rules.name.removesuffix("-changed")
    preset = begun if begun in preset_names() else "mil"
    words = (
        f"A rule set of your own, begun from {rules.name}. Change what your table plays otherwise; "
        f"a line that you take out stays as in {preset}. Then: milsim rules check FILE, milsim "
        f"rules diff {preset} FILE, and FILE wherever --rules takes a name."
    )
    lines = [
        *textwrap.wrap(words, 98, initial_indent="# ", subsequent_indent="# "),
        f"name = {_quoted(name)}",
        f"source = {_quoted(f'{name}, begun from {rules.name}'[:MAX_TEXT])}",
        f"based_on = {_quoted(preset)}",
    ]
    return "\n".join(lines + _tables(rules, comments=True)) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _tables(rules: Rules, *, comments: bool) -> list[str]:
    lines = []
    kinds = field_kinds()
    table = ""
    for path, value in values_of(rules).items():
        head, _, name = path.rpartition(".")
        # A dotted key keeps the marriage values inside their table, in one place.
        inner = head.split(".")[1:]
        if head.split(".")[0] != table:
            table = head.split(".")[0]
            lines += ["", f"[{table}]"]
        if comments:
            note = f"{kinds[path].meaning} ({kinds[path].allowed})"
            lines += textwrap.wrap(note, 98, initial_indent="# ", subsequent_indent="#   ")
        lines.append(f"{'.'.join([*inner, name])} = {json.dumps(value)}")
    return lines


def save(rules: Rules, path: str | Path) -> None:
    """Write the rule set as commented TOML; raises :class:`RulesError` if it cannot be written."""
    try:
        write_atomically(Path(path), to_toml(rules).encode())
    except OSError as error:
        raise RulesError(f"rules file {path}: cannot write, {reason_of(error)}") from None


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which two rule sets differ."""

    path: str
    first: Value
    second: Value


def diff(first: Rules, second: Rules) -> list[Difference]:
    """The fields in which two rule sets differ, in the order of declaration.

    >>> [d.path for d in diff(load("mil"), load("mil-500"))]
    ['match.target', 'match.lock', 'match.defender_cap']
    """
    ours, theirs = values_of(first), values_of(second)
    return [Difference(p, ours[p], theirs[p]) for p in ours if ours[p] != theirs[p]]
