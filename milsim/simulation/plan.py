"""What a simulation is to play: the deals, the rules, the policies. Its digest is its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from milsim.errors import PolicyError, UsageError, nearest, quote
from milsim.policies.spec import canonical
from milsim.rules import Rules, digest, load, to_toml
from milsim.rules.fields import build
from milsim.simulation.stopping import Stopping

Mode = Literal["auction", "declarer"]
MODES: tuple[str, ...] = get_args(Mode)
DoubleDummy = Literal["off", "gifts", "exchange"]
DOUBLE_DUMMY: tuple[str, ...] = get_args(DoubleDummy)
MAX_DEALS = 10**12
MAX_SEED = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Deals ``start … start + deals - 1`` of a seed, and how they are played.

    ``mode`` is ``auction`` (the full deal, redeal rights and bidding) or ``declarer`` (every deal
    is played as dealt and forehand declares at the minimum: what hands are worth). Each deal stands
    alone: where rules look at a match, all scores are 0, no deal is golden and nobody has conceded
    before; in mode ``declarer`` nobody concedes. ``policies`` are the names by seat: forehand,
    middlehand, rearhand. ``where`` is a canonical constraint on forehand's seven cards, or empty.
    ``dd`` adds the double-dummy value of each deal: with the gifts that the policy gave, or with
    the best exchange. ``stop`` is a rule by which the run may end before all deals are played.
    """

    deals: int
    seed: int
    start: int
    mode: Mode
    rules: Rules
    policies: tuple[str, str, str]
    where: str
    dd: DoubleDummy
    stop: Stopping | None = None

    @classmethod
    def make(
        cls,
        *,
        deals: int,
        seed: int = 1,
        start: int = 0,
        mode: str = "auction",
        rules: str | Rules = "mil",
        policy: str | Sequence[str] = "greedy",
        where: str | None = None,
        dd: str = "off",
        ci_width: float | str | None = None,
        decide: str | None = None,
    ) -> Plan:
        """A checked plan; ``policy`` is one spec, or three by seat with commas between.

        A spec is a name, a name with settings, or a TOML file: :mod:`milsim.policies.spec`.
        ``ci_width`` (``"0.5%"``, 0.005) or ``decide`` (``"made>50%"``) may end the run before all
        deals are played: :mod:`milsim.simulation.stopping`.

        Raises :class:`~milsim.errors.UsageError` for a number out of range or an unknown mode,
        :class:`~milsim.errors.RulesError`, :class:`~milsim.errors.PolicyError` and
        :class:`~milsim.errors.NotationError` for rules, policies and constraints.

        >>> Plan.make(deals=10, policy="greedy").policies
        ('greedy', 'greedy', 'greedy')
        """
        from milsim.where import Where

        deals = whole_number("deals", deals, 1, MAX_DEALS)
        seed = whole_number("seed", seed, 0, MAX_SEED)
        start = whole_number("start", start, 0, MAX_DEALS)
        if mode not in MODES:
            raise UsageError(f"mode {quote(mode)}: unknown; {nearest(str(mode), MODES)}")
        if dd not in DOUBLE_DUMMY:
            raise UsageError(f"dd {quote(dd)}: unknown; {nearest(str(dd), DOUBLE_DUMMY)}")
        first, second, third = policies_of(policy, 3, "seat")
        return cls(
            deals=deals,
            seed=seed,
            start=start,
            mode=mode,  # type: ignore[arg-type]
            rules=load(rules),
            policies=(first, second, third),
            where=str(Where.parse(where)) if where is not None else "",
            dd=dd,  # type: ignore[arg-type]
            stop=Stopping.make(ci_width, decide),
        )

    def to_dict(self) -> dict[str, Any]:
        """All that affects the answer, as plain JSON values; rules by their digest."""
        return {
            "deals": self.deals,
            "seed": self.seed,
            "start": self.start,
            "mode": self.mode,
            "rules": digest(self.rules),
            "policies": list(self.policies),
            "where": self.where,
            "dd": self.dd,
            # Only if there is one: the digests of plans without a rule are as they were.
            **({} if self.stop is None else {"stop": self.stop.to_dict()}),
        }

    def digest(self) -> str:
        """SHA-256 in hex of the canonical JSON of :meth:`to_dict`."""
        return digest_of(self.to_dict())

    def to_toml(self) -> str:
        """The plan as TOML, with the whole rule set, for the run's folder."""
        head = [
            f"deals = {self.deals}",
            f"seed = {self.seed}",
            f"start = {self.start}",
            f"mode = {json.dumps(self.mode)}",
            f"policies = {json.dumps(list(self.policies))}",
            f"where = {json.dumps(self.where)}",
            f"dd = {json.dumps(self.dd)}",
            *([] if self.stop is None else self.stop.to_toml()),
        ]
        return "\n".join(head + rules_as_toml(self.rules)) + "\n"


def rules_as_toml(rules: Rules) -> list[str]:
    """The lines that a plan's TOML ends with: the name of the rules, and every field of them.

    >>> rules_as_toml(load("mil"))[0]
    'rules_name = "mil"'
    """
    head = [
        f"rules_name = {json.dumps(rules.name, ensure_ascii=False)}",
        "",
        "# The rules in force, every field.",
    ]
    body = [
        line.replace("[", "[rules.", 1) if line.startswith("[") else line
        for line in to_toml(rules, comments=False).splitlines()
        if not line.startswith(("name = ", "source = "))
    ]
    return head + body


def digest_of(plan: dict[str, Any]) -> str:
    """SHA-256 in hex of the canonical JSON of what affects the answer.

    >>> digest_of({"deals": 1})[:8]
    '82ed2604'
    """
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def plan_of_manifest(plan: dict[str, Any], rules: dict[str, Any], name: str, source: str) -> Plan:
    """The plan of a stored run, from its manifest's tables; raises what :meth:`Plan.make` does."""
    made = Plan.make(
        deals=plan["deals"],
        seed=plan["seed"],
        start=plan["start"],
        mode=plan["mode"],
        rules=build(rules, name=name, source=source),
        where=plan["where"] or None,
        dd=plan["dd"],
    )
    first, second, third = stored_policies(plan["policies"], 3, "seat")
    stop = Stopping.of_dict(plan.get("stop"))
    return replace(made, policies=(first, second, third), stop=stop)


def stored_policies(policies: object, wanted: int, by: str) -> tuple[str, ...]:
    """The policies of a stored plan as they stand: a run can be read without its policies.

    >>> stored_policies(["mine:depth=3", "greedy", "greedy"], 3, "seat")
    ('mine:depth=3', 'greedy', 'greedy')
    """
    if (
        not isinstance(policies, list)
        or len(policies) != wanted
        or not all(isinstance(text, str) and text for text in policies)
    ):
        raise PolicyError(f"policies {quote(policies)}: {_NUMBERS[wanted]} by {by} are needed")
    return tuple(policies)


_NUMBERS = {3: "three", 4: "four"}


def policies_of(policy: str | Sequence[str], wanted: int, by: str) -> tuple[str, ...]:
    """The policies from one name, ``wanted`` with commas, or as many in a sequence.

    ``by`` says in the message of the :class:`~milsim.errors.PolicyError` what they belong to.

    >>> policies_of("greedy, random,greedy", 3, "seat")
    ('greedy', 'random', 'greedy')
    """
    needed = f"one name or {_NUMBERS[wanted]} by {by} are needed"
    parts = policy.split(",") if isinstance(policy, str) else policy
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise PolicyError(f"policy {quote(policy)}: {needed}")
    names = [canonical(part) for part in parts]
    if len(names) == 1:
        names *= wanted
    if len(names) != wanted:
        raise PolicyError(f"policy {quote(policy)}: {needed}")
    return tuple(names)


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """The value if it is a whole number in range; else :class:`~milsim.errors.UsageError`.

    >>> whole_number("threads", 2, 1, 8)
    2
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # 1e6 is how many people write a million
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name}: {quote(value)} is not a whole number; use {low} to {high}")
    if not low <= value <= high:
        raise UsageError(f"{name}: {quote(value)} is out of range; use {low} to {high}")
    return value
