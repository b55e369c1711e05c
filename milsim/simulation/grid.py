"""Plans of many runs: a TOML file whose keys may be lists, and every combination is a task.

The keys are those of ``milsim simulate``::

    rules = ["mil", "gamerules", { base = "mil", set = { play.must_beat = "no" }, name = "free" }]
    policy = ["greedy", ["expert", "greedy", "greedy"]]  # one policy, or one by seat
    where = ["", "marriages=H"]
    seed = [1, 2]
    mode = "declarer"
    deals = 100_000

also ``start``, ``dd``, ``ci_width`` and ``decide``. ``kind = "matches"`` plays whole matches, with
the key ``matches`` for ``deals``. Several tables ``[[grid]]`` are several grids; what stands above
them holds for all. A task is an ordinary run. Its name tells what it plays and is a plain name of a
folder, whatever stands in the plan. The digest of a plan is that of its tasks, in any order: how it
is written does not count, but how its rules are called does, as folders have their names.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from milsim.errors import MilsimError, PlanError, nearest, quote
from milsim.files import read_text, reason_of
from milsim.rules import Rules, digest, load, preset_names, with_fields
from milsim.rules.model import TABLES
from milsim.simulation.match_plan import MAX_MATCHES, MatchPlan
from milsim.simulation.plan import (
    DOUBLE_DUMMY,
    MAX_DEALS,
    MAX_SEED,
    MODES,
    Plan,
    policies_of,
    whole_number,
)
from milsim.simulation.stopping import Stopping
from milsim.where import Where

MOST_TASKS = 10_000
MOST_BYTES = 1_000_000
KINDS = ("deals", "matches")
OF_DEALS = (
    "rules",
    "policy",
    "where",
    "mode",
    "seed",
    "deals",
    "start",
    "dd",
    "ci_width",
    "decide",
)
OF_MATCHES = ("rules", "policy", "seed", "matches", "start")
_LONGEST_WORD = 40
_NAME = 60


@dataclass(frozen=True, slots=True)
class Task:
    """A run of a plan: the name of its folder, and what it plays."""

    name: str
    plan: Plan | MatchPlan

    @property
    def unit(self) -> str:
        """What it plays: deals or matches."""
        return "matches" if isinstance(self.plan, MatchPlan) else "deals"

    @property
    def count(self) -> int:
        """How many of them, at most."""
        return self.plan.matches if isinstance(self.plan, MatchPlan) else self.plan.deals


@dataclass(frozen=True, slots=True)
class Grid:
    """All tasks of a plan in their order, and its text as it was read, if it was a file."""

    tasks: tuple[Task, ...]
    text: str | None = None

    def digest(self) -> str:
        """SHA-256 in hex of the names and digests of its tasks, sorted: the plan's identity.

        >>> one = grid_of({"deals": 10, "seed": [1, 2]})
        >>> one.digest() == grid_of({"seed": [2, 1.0], "deals": 10.0, "rules": "mil"}).digest()
        True
        """
        texts = sorted(f"{task.name} {task.plan.digest()}" for task in self.tasks)
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    def to_json(self) -> str:
        """The plan's identity as a file: the same text for the same tasks."""
        content = {
            "kind": "milsim plan",
            "digest": self.digest(),
            "tasks": {task.name: task.plan.digest() for task in self.tasks},
        }
        return json.dumps(content, indent=1, sort_keys=True) + "\n"


def read_grid(path: str | Path) -> Grid:
    """The tasks of a plan file; files that it names are looked for beside it.

    Raises :class:`~milsim.errors.PlanError`, one line that names the place, for anything wrong.
    """
    path = Path(path)
    where = f"plan {path}"
    try:
        text = read_text(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise PlanError(f"{where}: {reason_of(error)}") from None
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        reason = " ".join(reason.split())[:200]
        raise PlanError(f"{where}: not valid toml: {reason[:1].lower()}{reason[1:]}") from None
    try:
        return replace(grid_of(document, folder=path.parent), text=text)
    except PlanError as error:
        raise PlanError(f"{where}: {error}") from None


def grid_of(document: Mapping[str, Any], *, folder: Path | None = None) -> Grid:
    """The tasks of a plan that is a dictionary; files in it are relative to ``folder``.

    >>> [task.name[:-8] for task in grid_of({"deals": 10, "policy": ["greedy", "random"]}).tasks]
    ['mil-auction-10-greedy-s1-', 'mil-auction-10-random-s1-']
    >>> grid_of({"deal": 10})
    Traceback (most recent call last):
    ...
    milsim.errors.PlanError: deal: unknown key; did you mean deals?
    """
    if not isinstance(document, Mapping) or not all(isinstance(key, str) for key in document):
        raise PlanError("a plan is a table of keys and values")
    shared = dict(document)
    if "rules_name" in shared:
        shared = _of_run(shared)
    grids = shared.pop("grid", None)
    if grids is None:
        tables = [("", shared)]
    else:
        if not isinstance(grids, list) or not grids or not all(isinstance(g, dict) for g in grids):
            raise PlanError("grid: one or more tables [[grid]] are needed")
        tables = [(f"grid[{place}].", {**shared, **each}) for place, each in enumerate(grids)]
    readers = [_Reader(prefix, table, folder or Path()) for prefix, table in tables]
    number = sum(reader.number for reader in readers)
    if number > MOST_TASKS:
        raise PlanError(f"{number:,} tasks, more than {MOST_TASKS:,}; split the plan")
    plans = [plan for reader in readers for plan in reader.plans()]
    digests: dict[str, int] = {}
    tasks = []
    for place, plan in enumerate(plans):
        text = plan.digest()
        if text in digests:
            raise PlanError(
                f"tasks {digests[text] + 1} and {place + 1} are the same ({_words(plan)}); leave "
                "one out"
            )
        digests[text] = place
        tasks.append(Task(f"{_words(plan)}-{text[:8]}", plan))
    if len({task.name.lower() for task in tasks}) < len(tasks):
        tasks = [Task(f"{_words(task.plan)}-{task.plan.digest()}", task.plan) for task in tasks]
    return Grid(tuple(tasks))


def grid_of_plan(plan: Plan | MatchPlan) -> Grid:
    """One run as a plan of one task."""
    return Grid((Task(f"{_words(plan)}-{plan.digest()[:8]}", plan),))


class _Reader:
    """One grid: its axes, each value of them checked, with its place for messages."""

    def __init__(self, prefix: str, table: dict[str, Any], folder: Path) -> None:
        self.prefix, self.table, self.folder = prefix, table, folder
        kind = table.get("kind", "deals")
        if kind not in KINDS:
            hint = nearest(str(kind), KINDS)
            raise PlanError(f"{prefix}kind: {quote(kind)} is unknown; {hint}")
        self.matches = kind == "matches"
        keys = OF_MATCHES if self.matches else OF_DEALS
        for key in table:
            if key not in (*keys, "kind"):
                shown = key if key.isprintable() and 0 < len(key) <= _NAME else quote(key)
                raise PlanError(
                    f"{prefix}{shown}: unknown key; {nearest(key, (*keys, 'kind', 'grid'))}"
                )
        count = "matches" if self.matches else "deals"
        if count not in table:
            raise PlanError(f"{prefix}{count}: missing; say how many {count} a task plays")
        self.axes = {key: self._axis(key) for key in keys}
        self.number = math.prod(len(axis) for axis in self.axes.values())

    def _axis(self, key: str) -> list[Any]:
        """The values of a key, checked and canonical: those of its list, or the one that it is."""
        place = f"{self.prefix}{key}"
        if key not in self.table:
            return [self._checked(key, _DEFAULTS[key])]
        given = self.table[key]
        if isinstance(given, list):
            if not given:
                raise PlanError(f"{place}: an empty list; give a value, or leave the key out")
            if len(given) > MOST_TASKS:
                raise PlanError(f"{place}: {len(given):,} values, more than {MOST_TASKS:,}")
            values = [(f"{place}[{number}]", value) for number, value in enumerate(given)]
        else:
            values = [(place, given)]
        found: dict[Any, str] = {}
        read = []
        for where, value in values:
            try:
                checked = self._checked(key, value)
            except MilsimError as error:
                text = re.sub(rf"^{key}:? |^ci-width: ", "", str(error))
                raise PlanError(f"{where}: {text}") from None
            identity = digest(checked) if isinstance(checked, Rules) else checked
            if identity in found:
                raise PlanError(f"{where}: the same as {found[identity]}; leave one out")
            found[identity] = where
            read.append(checked)
        return read

    def _checked(self, key: str, value: Any) -> Any:
        if key == "rules":
            return self._rules(value)
        if key == "policy":
            return self._policy(value)
        if key in _NUMBERS:
            return whole_number(key, value, *_NUMBERS[key])
        if key in ("ci_width", "decide"):
            return Stopping.make(**{key: value})
        if not isinstance(value, str):
            raise PlanError(f"{quote(value)} is no text")
        if key == "where":
            return str(Where.parse(value)) if value.strip() else ""
        words = MODES if key == "mode" else DOUBLE_DUMMY
        if value not in words:
            raise PlanError(f"{quote(value)} is unknown; {nearest(value, words)}")
        return value

    def _rules(self, value: Any) -> Rules:
        if isinstance(value, str):
            return load(self._located(value))
        if isinstance(value, Rules):
            return load(value)
        if not isinstance(value, dict):
            raise PlanError(
                f"{quote(value)} are no rules; give a name, a file, or a table with base and set"
            )
        given = dict(value)
        base, name = given.pop("base", "mil"), given.pop("name", None)
        fields = given.pop("set", {})
        for key in given:
            if key not in TABLES:
                hint = nearest(key, ("base", "set", "name", *TABLES))
                raise PlanError(f"{quote(key)} is an unknown key; {hint}")
        if not isinstance(base, str) or not isinstance(fields, dict):
            raise PlanError("base is a name or a file, and set a table of fields")
        chosen = load(self._located(base))
        changed = with_fields(chosen, {**_flat(given), **_flat(fields)})
        if name is None:
            return changed
        if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= _NAME):
            raise PlanError(f"name: a text of 1 to {_NAME} printable characters is needed")
        if name in preset_names() and digest(changed) != digest(load(name)):
            raise PlanError(f"name: {quote(name)} is that of other rules; name them otherwise")
        return replace(changed, name=name)

    def _policy(self, value: Any) -> tuple[str, ...]:
        texts = value.split(",") if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            raise PlanError(f"{quote(value)} is no policy; give a text, or a list of one by seat")
        located = [self._located(text.strip(), separators=False) for text in texts]
        if not self.matches:
            return policies_of(located, 3, "seat")
        # How many players there are, the rules say.
        return policies_of(located, 4 if len(located) == 4 else 3, "player")[: len(located)]

    def _located(self, text: str, *, separators: bool = True) -> str:
        """A file that a plan names lies beside it."""
        is_file = text.endswith(".toml") or (separators and ("/" in text or "\\" in text))
        return str(self.folder / text) if is_file else text

    def plans(self) -> Iterator[Plan | MatchPlan]:
        """The plan of each combination, the last key changing first."""
        for values in itertools.product(*self.axes.values()):
            of = dict(zip(self.axes, values, strict=True))
            if self.matches:
                try:
                    yield MatchPlan.make(**of)
                except MilsimError as error:
                    raise PlanError(f"{self.prefix}{error}") from None
                continue
            width, decide = of.pop("ci_width"), of.pop("decide")
            if width is not None and decide is not None:
                raise PlanError(f"{self.prefix}ci_width and decide: leave one out")
            yield Plan(policies=of.pop("policy"), stop=width or decide, **of)


_DEFAULTS: dict[str, Any] = {
    "rules": "mil",
    "policy": "greedy",
    "where": "",
    "mode": "auction",
    "seed": 1,
    "start": 0,
    "dd": "off",
    "ci_width": None,
    "decide": None,
}
_NUMBERS = {
    "seed": (0, MAX_SEED),
    "start": (0, MAX_DEALS),
    "deals": (1, MAX_DEALS),
    "matches": (1, MAX_MATCHES),
}


def _of_run(document: dict[str, Any]) -> dict[str, Any]:
    """The plan of a single run, as it lies in its folder, as a plan of one task."""
    found = dict(document)
    name, rules = found.pop("rules_name"), found.pop("rules", {})
    if not isinstance(rules, dict):
        raise PlanError("rules: with rules_name the tables [rules.…] are needed")
    found["rules"] = {**rules, "name": name}
    if "policies" in found:
        found["policy"] = [found.pop("policies")]
    if "matches" in found:
        found["kind"] = "matches"
    return found


def _flat(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted names.

    >>> _flat({"play": {"must_beat": "no"}, "match.target": 500})
    {'play.must_beat': 'no', 'match.target': 500}
    """
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, Mapping) and prefix.count(".") < 3:
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _words(plan: Plan | MatchPlan) -> str:
    """What a plan plays, as part of a folder's name: letters, digits, and - . _ alone."""
    named = plan.policies[:1] if len(set(plan.policies)) == 1 else plan.policies
    words = [plan.rules.name]
    if isinstance(plan, MatchPlan):
        words += ["match", str(plan.matches), *named]
    else:
        words += [plan.mode, str(plan.deals), *named, plan.where]
        words.append("" if plan.dd == "off" else plan.dd)
        words.append("" if plan.stop is None else str(plan.stop).replace("contract made ±", "ci"))
    words += [f"s{plan.seed}", f"from{plan.start}" if plan.start else ""]
    return "-".join(filter(None, map(_plain, words)))


_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.]+")


def _plain(text: str) -> str:
    """A text as part of a folder's name.

    >>> _plain("../../etc/passwd"), _plain("pimc:layouts=64"), _plain("…")
    ('etc_passwd', 'pimc_layouts_64', '')
    """
    word = _NOT_PLAIN.sub("_", text)[:_LONGEST_WORD]
    return re.sub(r"\.\.+", ".", word).strip("._")


__all__ = [
    "MOST_TASKS",
    "Grid",
    "Task",
    "grid_of",
    "grid_of_plan",
    "read_grid",
]
