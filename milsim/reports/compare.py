"""What a rule changes: the same deals and matches under two rule sets, paired, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from milsim.errors import PolicyError, RulesError, UsageError, quote
from milsim.reports import compare_parts
from milsim.reports.compare_parts import Both, Report, Tally
from milsim.reports.counterfactual import REPLAYS
from milsim.reports.provenance import KIND
from milsim.reports.statistics import spread
from milsim.rules import Rules, diff, digest, load, with_fields
from milsim.rules.fields import Value
from milsim.simulation.match_plan import MAX_MATCHES
from milsim.simulation.plan import MAX_DEALS, MAX_SEED, policies_of, whole_number

DEALS = 100_000
MATCHES = 10_000
SOLVED = "double dummy, best exchange"

PARTS = {
    "declarer": "Forehand declares every deal as dealt, at the minimum",
    "auction": "Whole deals with bidding",
    "marriages": "What a marriage is worth to forehand as declarer, if it is in his 10 cards",
    "matches": "Whole matches",
    "double-dummy": "Forehand declares, all cards known to all",
}
"""The parts of a comparison and what is played in them, in their order."""

_QUESTIONS = (
    ("declarer", "declarer points", "forehand as declarer takes", "points"),
    (
        "double-dummy",
        "declarer points",
        "with all cards known to all, forehand as declarer takes",
        "points",
    ),
    ("auction", "declarer's score", "with bidding, the declarer scores", "points"),
    ("matches", "deals in a match", "a match takes", "deals"),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two rule sets compared: the numbers, what they say, and where they come from.

    ``frame`` has one row a quantity (see :func:`compare_rules`), ``fields`` the fields in which
    the rules differ. ``answers`` are sentences made from the numbers, ``refused`` says which parts
    cannot be compared and why, ``notes`` what else to know.
    """

    a: Rules
    b: Rules
    frame: pl.DataFrame
    fields: pl.DataFrame
    answers: tuple[str, ...]
    refused: tuple[str, ...]
    notes: tuple[str, ...]
    model: str
    provenance: str


def compare_rules(
    a: str | Path | Rules = "mil",
    b: str | Path | Rules | None = None,
    *,
    changes: Mapping[str, Value] | None = None,
    deals: int = DEALS,
    matches: int = MATCHES,
    dd: int = 0,
    policy: str | Sequence[str] = "greedy",
    seed: int = 1,
    threads: int | None = None,
    progress: Report | None = None,
) -> pl.DataFrame:
    """What changes between two rule sets, on the same deals and draws: one row a quantity.

    ``b`` is ``a`` with the fields of ``changes`` if it is not given; else ``changes`` apply to it.
    Deals 0 … ``deals`` − 1 of the seed are played under both with forehand as declarer, and with
    bidding; so are ``matches`` matches; the first ``dd`` deals are also solved double dummy with
    the best exchange. 0 leaves a part out. ``policy`` is one name, or three by seat and by player.

    Columns: ``part`` and ``quantity``; ``unit`` (points, share, deals); ``n`` pairs compared,
    ``left_out`` pairs whose cards are not the same under both, ``differ`` pairs that are not equal;
    the means ``a`` and ``b``, and ``difference``, b − a, each with its 95 % interval in ``x_low``
    and ``x_high``; ``kind`` and ``model``; ``rules_a`` and ``rules_b``, names and digests.

    Raises :class:`~milsim.errors.UsageError` for two rule sets that are the same game and for
    numbers out of range, :class:`~milsim.errors.RulesError` and
    :class:`~milsim.errors.PolicyError` for rules and policies that cannot be used.

    >>> found = compare_rules(
    ...     "mil", changes={"play.must_beat": "no"}, deals=2000, matches=0, threads=1
    ... )
    >>> found.filter(part="declarer", quantity="declarer points").select("n", "left_out").row(0)
    (2000, 0)
    """
    return comparison(
        a,
        b,
        changes=changes,
        deals=deals,
        matches=matches,
        dd=dd,
        policy=policy,
        seed=seed,
        threads=threads,
        progress=progress,
    ).frame


def comparison(
    a: str | Path | Rules = "mil",
    b: str | Path | Rules | None = None,
    *,
    changes: Mapping[str, Value] | None = None,
    deals: int = DEALS,
    matches: int = MATCHES,
    dd: int = 0,
    policy: str | Sequence[str] = "greedy",
    seed: int = 1,
    threads: int | None = None,
    progress: Report | None = None,
) -> Comparison:
    """Like :func:`compare_rules`, with the words that go with the numbers."""
    first, second = _two_games(a, b, changes)
    deals = whole_number("deals", deals, 0, MAX_DEALS)
    matches = whole_number("matches", matches, 0, MAX_MATCHES)
    dd = whole_number("dd", dd, 0, MAX_DEALS)
    if deals == matches == dd == 0:
        raise UsageError("deals, matches and dd are all 0: nothing to play; give one of them")
    policies = policies_of(policy, 3, "seat")
    both = Both(
        first,
        second,
        ",".join(policies),
        whole_number("seed", seed, 0, MAX_SEED),
        threads,
        progress,
    )
    refused = _refused(both, policies, matches)
    if refused:
        if deals == dd == 0:
            raise RulesError(refused[0])
        matches = 0
    tallies, faults = _played(both, deals, matches, dd)
    names = sorted(set(policies), key=policies.index)
    model = f"policy {names[0]}" if len(names) == 1 else f"policies {'/'.join(policies)}"
    frame = _framed(both, tallies, model)
    return Comparison(
        a=first,
        b=second,
        frame=frame,
        fields=pl.DataFrame(
            [(d.path, _plain(d.first), _plain(d.second)) for d in diff(first, second)],
            schema=["field", "under_a", "under_b"],
            orient="row",
        ),
        answers=tuple(_answers(frame, *labels(first, second))),
        refused=(*refused, *faults),
        notes=tuple(_notes(tallies, deals)),
        model=model,
        provenance=_provenance(both, model, deals, matches, dd),
    )


def labels(a: Rules, b: Rules) -> tuple[str, str]:
    """Short names of two rule sets, with a part of the digest where the names are the same.

    >>> labels(load("mil"), load("mil-500"))
    ('mil', 'mil-500')
    """
    if a.name != b.name:
        return _short(a.name), _short(b.name)
    return f"{_short(a.name)} {digest(a)[:8]}", f"{_short(b.name)} {digest(b)[:8]}"


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


# -- what is asked -------------------------------------------------------------------------------


def _two_games(
    a: str | Path | Rules, b: str | Path | Rules | None, changes: Mapping[str, Value] | None
) -> tuple[Rules, Rules]:
    first = load(a)
    if b is None and not changes:
        raise UsageError("rules compare: name a second rule set, or change the first with --set")
    second = first if b is None else load(b)
    if changes:
        second = with_fields(second, changes)
    if digest(first) == digest(second):
        names = first.name if first.name == second.name else f"{first.name} and {second.name}"
        raise UsageError(
            f"rules compare: {names}, the same game twice; change a field with --set FIELD=VALUE"
        )
    return first, second


def _refused(both: Both, policies: tuple[str, ...], matches: int) -> tuple[str, ...]:
    """Why matches cannot be compared, if they cannot."""
    seats = [rules.deal.players for rules in both.rules]
    if matches == 0:
        return ()
    if seats[0] != seats[1]:
        return (
            f"matches: {seats[0]} players under {both.a.name}, {seats[1]} under {both.b.name}; "
            "they cannot be paired, so only deals are compared",
        )
    if seats[0] == 4 and len(set(policies)) > 1:
        raise PolicyError(
            f"policy {quote(','.join(policies))}: three seats, but four players in a match; give "
            "one name, or --matches 0"
        )
    return ()


def _played(
    both: Both, deals: int, matches: int, dd: int
) -> tuple[dict[str, Tally], tuple[str, ...]]:
    """The tallies by part; and why parts are missing, under whose rules no deal can be played."""
    tallies: dict[str, Tally] = {}
    faults = []
    if deals:
        tallies["declarer"], marriages = compare_parts.declarer_and_marriages(both, deals)
        try:
            tallies["auction"] = compare_parts.auction(both, deals)
        except RulesError as error:
            faults.append(f"with bidding: not played, {error}")
        tallies["marriages"] = marriages
    if matches:
        one = both.policy.split(",")[0] if both.a.deal.players == 4 else both.policy
        try:
            tallies["matches"] = compare_parts.matches(both, matches, one)
        except RulesError as error:
            faults.append(f"matches: not played, {error}")
    if dd:
        tallies["double-dummy"] = compare_parts.double_dummy(both, dd)
    if not tallies:
        raise RulesError(faults[0])
    return tallies, tuple(faults)


# -- what is found -------------------------------------------------------------------------------


def _framed(both: Both, tallies: Mapping[str, Tally], model: str) -> pl.DataFrame:
    names = [f"{rules.name} ({digest(rules)[:8]})" for rules in both.rules]
    rows: list[dict[str, Any]] = []
    for part, tally in tallies.items():
        for quantity, pairs in tally.pairs.items():
            unit = tally.units[quantity]
            a, b, difference = pairs.intervals(unit)
            rows.append(
                {
                    "part": part,
                    "quantity": quantity,
                    "unit": unit,
                    "n": pairs.n,
                    "left_out": tally.kinds["left out"],
                    "differ": pairs.differ,
                    **spread("a", a),
                    **spread("b", b),
                    **spread("difference", difference),
                    "kind": KIND,
                    "model": SOLVED if part == "double-dummy" else model,
                    "rules_a": names[0],
                    "rules_b": names[1],
                }
            )
    texts = ("part", "quantity", "unit", "kind", "model", "rules_a", "rules_b")
    whole = ("n", "left_out", "differ")
    schema = {
        name: pl.String if name in texts else pl.Int64 if name in whole else pl.Float64
        for name in rows[0]
    }
    return pl.DataFrame(rows, schema=schema)


def _answers(frame: pl.DataFrame, a: str, b: str) -> Iterator[str]:
    """Sentences on the main questions; those in which nothing differs come last."""
    found = []
    for part, quantity, subject, unit in _QUESTIONS:
        for row in frame.filter(part=part, quantity=quantity).to_dicts():
            if row["difference_low"] is not None:
                found.append((row["differ"] == 0, _answer(row, subject, unit, a, b)))
    yield from (text for _, text in sorted(found, key=lambda answer: answer[0]))


def _answer(row: Mapping[str, Any], subject: str, unit: str, a: str, b: str) -> str:
    pairs = "matches" if row["part"] == "matches" else "deals"
    subject = subject[0].upper() + subject[1:]
    source = f"({row['model']}, {row['n']:,} {pairs})"
    value, low, high = row["difference"], row["difference_low"], row["difference_high"]
    if row["differ"] == 0:
        return f"{subject} the same under {a} and {b}: no difference in any of them {source}."
    digits = shown_decimals((high - low) / 2)
    if low <= 0 <= high:
        return (
            f"{subject} much the same under {a} and {b}: no difference seen, it is within "
            f"{_fixed(low, digits)} to {_fixed(high, digits)} {unit} {source}."
        )
    more = "more" if value > 0 else "fewer"
    near, far = sorted((abs(low), abs(high)))
    return (
        f"{subject} {abs(value):.{digits}f} {unit} {more} ({near:.{digits}f} to {far:.{digits}f}) "
        f"under {b} than under {a} {source}."
    )


def shown_decimals(half: float) -> int:
    """How many decimals a sentence shows, given half the interval: it is 3 to 30 of the last one.

    >>> [shown_decimals(half) for half in (40.0, 1.5, 0.14, 0.04, 0.0)]
    [0, 1, 2, 2, 0]
    """
    return min(max(math.ceil(-math.log10(half / 3)), 0), 4) if half > 0 else 0


def _fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def _notes(tallies: Mapping[str, Tally], deals: int) -> Iterator[str]:
    if "auction" in tallies:
        kinds = tallies["auction"].kinds
        n, out = deals - kinds["left out"], kinds["left out"]
        alike = (
            "the same cards under both"
            if out == 0
            else f"in {out:,} a right to a new deal was used under one rule set only, so that "
            "other cards were played"
        )
        yield (
            f"With bidding {n:,} of {deals:,} deals are compared: {alike}. The auctions differ in "
            f"{kinds['auctions differ']:,} of them, with another declarer in "
            f"{kinds['another declarer']:,}."
        )
    if "marriages" in tallies:
        yield (
            "Worth of a marriage: the declarer points lost when the same deal is played again "
            f"with the marriage counting nothing (it still makes trump), over the first "
            f"{REPLAYS:,} deals at most with it in the 10 cards; any: at least one, and none "
            "counts."
        )
    if "matches" in tallies:
        yield (
            "Matches are paired by number, so both begin with the same cards. Winner's score: of "
            "the matches that have a winner under both."
        )
    yield (
        "differ: pairs in which the two are not equal. 0: the rule does not act there, or who "
        "plays never uses what it allows. Where it is small, the interval of a mean is rough."
    )
    yield (
        "Every interval is a 95 % interval by itself, not adjusted for their number: one in twenty "
        "misses on average."
    )


def _provenance(both: Both, model: str, deals: int, matches: int, dd: int) -> str:
    a, b = both.rules
    ranges = {"deals": deals, "matches": matches, "solved deals": dd}
    played = ", ".join(f"{what} 0–{n - 1}" for what, n in ranges.items() if n)
    return (
        f"rules {a.name} ({digest(a)[:8]}) and {b.name} ({digest(b)[:8]}) · {model} · "
        f"seed {both.seed}, {played} · milsim {version('milsim')}"
    )


def _plain(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
