"""Which policy is stronger: the same deals with all seats exchanged, paired, with a verdict.

**Design.** Every deal is played at several tables (`arena_seats`), so that each competitor holds
each hand of the deal equally often, against the same others. Two competitors, a and b: a b b,
b a b, b b a, and b a a, a b a, a a b; each holds every hand three times. Three: all six orders;
each holds every hand twice. More: every pair by itself. The difference of a deal is what a scored
for each place it held minus what b did: luck of the cards, and of the seat, falls out, and a policy
against itself gets exactly 0. One deal at all its tables is one observation.

**Verdicts.** The difference is in points a deal and seat. a is *better* if all of the interval is
above 0, *worse* if all is below; *equal* if all of it is within the margin; else *undecided*. A
fixed number of deals is judged by its 95 % interval. A contest that stops when it is decided, or
was interrupted, is judged by a confidence sequence (`confidence`), looked at after fixed numbers of
deals only. With several pairs all verdicts hold together with 95 % (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from statistics import NormalDist
from typing import Any, Literal

import polars as pl

from milsim.confidence import Sequence as ConfidenceSequence
from milsim.errors import UsageError, quote
from milsim.policies.origins import origins, told
from milsim.reports.arena_engine import played_deals, played_matches
from milsim.reports.arena_frames import framed, match_rows, pair_rows, policy_rows
from milsim.reports.arena_play import Account, Steps, Tables, play_matches_of
from milsim.reports.arena_seats import SEATS, groups_of, tables_of, widest_difference
from milsim.reports.compare_parts import Report
from milsim.reports.ratios import Products
from milsim.reports.statistics import LEVEL, UNKNOWN, Interval, Moments, Z
from milsim.rules import Rules, digest
from milsim.simulation.interrupt import Interrupts
from milsim.simulation.match_plan import MAX_MATCHES, MatchPlan
from milsim.simulation.plan import MAX_DEALS, Plan, whole_number
from milsim.store.engines import Engine

DEALS = 10_000
MOST_DEALS = 1_000_000
MARGIN = 1.0
FIRST_LOOK = 100
FEWEST_DEALS = 100
"""Fewer deals of a fixed number decide nothing: their intervals are too rough."""
MOST_COMPETITORS = 8

Word = Literal["better", "worse", "equal", "undecided"]
UNDECIDED: Word = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a pair: ``first`` is ``word`` than (or to) ``second``, after ``deals``.

    ``interval`` is the one that was judged, points a deal and seat, first minus second.
    """

    first: str
    second: str
    word: Word
    interval: Interval
    margin: float
    deals: int

    def __str__(self) -> str:
        """The verdict as a sentence."""
        value, low, high = self.interval.value, self.interval.low, self.interval.high
        deals = f"{self.deals:,} deals"
        if value is None or low is None or high is None:
            return f"{self.first} and {self.second}: undecided after {deals}."
        near, far = sorted((abs(low), abs(high)))
        bounds = f"({_number(near)} to {_number(far)}, {deals})"
        if self.word in ("better", "worse"):
            by = f"by {_number(abs(value))} points a deal and seat {bounds}"
            small = ", less than the margin" if far < self.margin else ""
            return f"{self.first} is {self.word} than {self.second} {by}{small}."
        bounds = f"({_number(low)} to {_number(high)} points a deal and seat, {deals})"
        if self.word == "equal":
            within = f"equal within {self.margin:g} point{'s' * (self.margin != 1)}"
            return f"{self.first} and {self.second} are {within} {bounds}."
        why = f": a verdict takes {FEWEST_DEALS} deals" if self.deals < FEWEST_DEALS else ""
        return f"{self.first} and {self.second}: undecided{why} {bounds}."


def judged(interval: Interval, margin: float) -> Word:
    """The word for an interval of a difference.

    >>> [judged(Interval(x, x - 1, x + 1), 3) for x in (2, -2, 0.5, 2.5)]
    ['better', 'worse', 'equal', 'better']
    >>> judged(Interval(0, -2, 2), 1)
    'undecided'
    """
    low, high = interval.low, interval.high
    if low is None or high is None:
        return UNDECIDED
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    return "equal" if -margin < low and high < margin else "undecided"


def next_look(deals: int) -> int:
    """After how many deals a contest is looked at again: a quarter more, in hundreds.

    >>> looks = [100]
    >>> while looks[-1] < 1000:
    ...     looks.append(next_look(looks[-1]))
    >>> looks
    [100, 200, 300, 400, 500, 600, 700, 800, 1000]
    """
    return max(deals + FIRST_LOOK, deals * 5 // 4 // FIRST_LOOK * FIRST_LOOK)


@dataclass(frozen=True, slots=True)
class Contest:
    """The outcome of an arena.

    ``frame`` has one row a number: ``part`` (``pair``, ``policy``, or the same of matches:
    ``match pair``, ``match policy``), ``policy`` and whom it met, ``against``; ``quantity``,
    ``unit``, ``n`` (deals or matches, each at all its tables), ``value`` with its 95 % interval
    ``value_low`` to ``value_high``, for differences of scores also that of the confidence sequence,
    ``sequence_low`` to ``sequence_high``, and the ``verdict``; ``kind`` and ``model``.
    ``interrupted`` says that Ctrl-C ended it early.
    """

    policies: tuple[str, ...]
    rules: Rules
    frame: pl.DataFrame
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    provenance: str
    sequential: bool
    interrupted: bool

    def __str__(self) -> str:
        """The contest as text for 80 columns."""
        from milsim.reports.arena_print import render_contest

        return render_contest(self, width=80).decode()


def arena(
    *policies: str,
    deals: int = DEALS,
    matches: int = 0,
    until_decided: bool = False,
    margin: float = MARGIN,
    max_deals: int = MOST_DEALS,
    seed: int = 1,
    start: int = 0,
    rules: str | Rules = "mil",
    threads: int | None = None,
    engine: Engine | None = None,
    progress: Report | None = None,
) -> Contest:
    """Let policies play the same deals with all seats exchanged, and judge who is better.

    ``policies`` are two to eight texts as ``simulate --policy`` takes them for one seat; the same
    one twice is a check. Deals ``start … start + deals - 1`` of the seed are played with bidding;
    with ``until_decided`` as many as it takes, up to ``max_deals``. ``matches`` are whole matches
    from that number on, at the same tables. ``margin`` is the difference, in points a deal and
    seat, that does not matter. ``engine`` plays instead of ``threads`` of this process, with the
    same outcome (docs/cluster.md).

    Raises :class:`~milsim.errors.UsageError` for numbers out of range or one policy,
    :class:`~milsim.errors.PolicyError` and :class:`~milsim.errors.RulesError` for policies and
    rules. Ctrl-C ends it early, with what was played. An engine that cannot play a range ends it
    without an outcome (:class:`milsim.reports.arena_engine.NotPlayedError`).

    >>> contest = arena("greedy", "random", deals=200, threads=1)
    >>> contest.verdicts[0].word
    'better'
    """
    if not 2 <= len(policies) <= MOST_COMPETITORS:
        raise UsageError(f"arena: {len(policies)} policies; name 2 to {MOST_COMPETITORS}")
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 <= margin <= 1000:
        raise UsageError(f"margin: {quote(margin)} is out of range; use 0 to 1000 points")
    n_deals = whole_number("deals", max_deals if until_decided else deals, 1, MAX_DEALS)
    n_matches = whole_number("matches", matches, 0, MAX_MATCHES)
    plans = [
        Plan.make(deals=n_deals, seed=seed, start=start, rules=rules, policy=[text])
        for text in policies
    ]
    game = _Arena(
        plans[0],
        tuple(plan.policies[0] for plan in plans),
        float(margin),
        sequential=until_decided,
        threads=threads,
        engine=engine,
        progress=progress,
    )
    with Interrupts() as interrupts:
        game.play_deals(interrupts)
        if n_matches:
            game.play_matches(n_matches, interrupts)
    return game.contest(interrupted=interrupts.seen)


def names_of(policies: Sequence[str]) -> tuple[str, ...]:
    """Names that tell competitors apart, though some may be the same policy.

    >>> names_of(["greedy", "random", "greedy"])
    ('greedy', 'random', 'greedy (2)')
    """
    names = []
    for place, policy in enumerate(policies):
        earlier = policies[:place].count(policy)
        names.append(f"{policy} ({earlier + 1})" if earlier else policy)
    return tuple(names)


class _Arena:
    """A contest while it is played."""

    def __init__(
        self,
        plan: Plan,
        policies: tuple[str, ...],
        margin: float,
        *,
        sequential: bool,
        threads: int | None,
        engine: Engine | None,
        progress: Report | None,
    ) -> None:
        self.engine = engine
        self.plan, self.policies, self.margin = plan, policies, margin
        self.names = names_of(policies)
        self.sequential, self.threads, self.progress = sequential, threads, progress
        self.accounts = [Account.empty(group) for group in groups_of(len(policies))]
        self.pairs = [(account, *pair) for account in self.accounts for pair in account.group.pairs]
        self.alpha = (1 - LEVEL) / len(self.pairs)
        self.sequences = {
            (a, b): ConfidenceSequence(
                1 / account.group.held, widest_difference(account.group, plan.rules), self.alpha
            )
            for account, a, b in self.pairs
        }
        self.seen: dict[tuple[int, int], Interval] = {}
        self.words: dict[tuple[int, int], Word] = {}
        self.judged_after: dict[tuple[int, int], int] = {}
        self.matches: list[tuple[Account, Products]] = []

    # -- playing ---------------------------------------------------------------------------------

    def play_deals(self, interrupts: Interrupts) -> None:
        """All deals; or, if sequential, until each pair is decided."""
        tables = Tables(self.plan, self.policies, self.threads)
        steps = Steps()
        first, done = self.plan.start, 0
        while done < self.plan.deals and not interrupts.asked():
            look = min(next_look(done) if self.sequential else self.plan.deals, self.plan.deals)
            if self.engine is not None:
                self._by_engine(self.engine, first + done, look - done, interrupts)
                done = look
            for start, count in steps.over(first + done, first + look):
                for account in self._open():
                    account.add(tables.played(account.group, start, count))
                self._told("deals", start + count - first, self.plan.deals)
                if interrupts.asked():
                    break
            done = look
            self._look()
            if self.sequential and not self._open():
                break

    def _by_engine(self, engine: Engine, start: int, count: int, interrupts: Interrupts) -> None:
        """A range of deals at the tables of all groups that are open, one after another."""
        plan = replace(self.plan, start=start, deals=count)
        for account in self._open():
            before = account.deals

            def told(_count: int, account: Account = account) -> None:
                self._told("deals", account.deals, self.plan.deals)

            for tables in played_deals(
                engine, plan, account.group, self.policies, stop=interrupts.asked, told=told
            ):
                account.add(tables)
            if account.deals < before + count:
                break  # Ctrl-C

    def play_matches(self, number: int, interrupts: Interrupts) -> None:
        """So many matches at each table."""
        plan = MatchPlan.make(
            matches=number, seed=self.plan.seed, start=self.plan.start, rules=self.plan.rules
        )
        done = 0
        groups = groups_of(len(self.policies), self.plan.rules.deal.players)

        def told(count: int) -> None:
            nonlocal done
            done += count
            self._told("matches", done, number * len(groups))

        for group in groups:
            if self.engine is not None:
                found = played_matches(
                    self.engine,
                    plan,
                    group,
                    self.policies,
                    stop=interrupts.asked,
                    told=told,
                )
            else:
                found = play_matches_of(
                    group,
                    plan,
                    self.policies,
                    threads=self.threads,
                    stop=interrupts.asked,
                    told=told,
                )
            self.matches.append((Account(group, found), found))

    def _told(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    def _open(self) -> list[Account]:
        """Groups with a pair that is not decided yet; all, if the number of deals is fixed."""
        return [
            account
            for account in self.accounts
            if not self.sequential
            or any(self.words.get(pair, UNDECIDED) == UNDECIDED for pair in account.group.pairs)
        ]

    def _look(self) -> None:
        for account, a, b in self.pairs:
            # A verdict stands: what comes after it, for another pair's sake, does not change it.
            if self.words.get((a, b), UNDECIDED) == UNDECIDED:
                self.seen[a, b] = self.sequences[a, b].look(account.differences[a, b])
                self.words[a, b] = self._judged(account, a, b, self.seen[a, b])
                self.judged_after[a, b] = account.deals

    def _judged(self, account: Account, a: int, b: int, interval: Interval) -> Word:
        if self.policies[a] == self.policies[b] and account.deals:
            return "equal"
        return judged(interval, self.margin)

    # -- what comes of it ------------------------------------------------------------------------

    def contest(self, *, interrupted: bool) -> Contest:
        """The outcome so far."""
        anytime = self.sequential or interrupted
        verdicts = []
        rows: list[dict[str, Any]] = []
        for account, a, b in self.pairs:
            same = self.policies[a] == self.policies[b]
            sequence = self.seen.get((a, b), UNKNOWN)
            interval, word, deals = self._difference(account, a, b), UNDECIDED, account.deals
            if same or (not anytime and deals >= FEWEST_DEALS):
                word = self._judged(account, a, b, interval)
            elif anytime:
                # What was judged when it was, not what an ordinary interval says after stopping.
                interval, word = sequence, self.words.get((a, b), UNDECIDED)
                deals = self.judged_after.get((a, b), 0)
            names = self.names[a], self.names[b]
            verdicts.append(Verdict(*names, word, interval, self.margin, deals))
            head = {"policy": names[0], "against": names[1], "n": account.deals}
            rows += pair_rows(account, (a, b), head, interval, sequence, word)
        for account in self.accounts:
            for member in account.group.members:
                rows += policy_rows(account, self.names, member)
        for account, products in self.matches:
            rows += match_rows(account, self.names, products)
        return Contest(
            policies=self.names,
            rules=self.plan.rules,
            frame=framed(rows),
            verdicts=tuple(verdicts),
            notes=tuple(self._notes(interrupted=interrupted)),
            provenance=self._provenance(),
            sequential=anytime,
            interrupted=interrupted,
        )

    def _difference(self, account: Account, a: int, b: int) -> Interval:
        """The mean difference with the interval of a fixed number of deals, for all pairs."""
        found = Moments.of(account.differences[a, b].items())
        mean = found.mean()
        held = account.group.held
        if mean.value is None or mean.half_width is None:
            return mean
        if found.squares * found.n == found.total**2 and self.policies[a] != self.policies[b]:
            return self.seen.get((a, b), UNKNOWN)  # no spread seen is not: no spread
        half = mean.half_width * NormalDist().inv_cdf(1 - self.alpha / 2) / Z
        value = mean.value
        return Interval(value / held, (value - half) / held, (value + half) / held)

    def _notes(self, *, interrupted: bool) -> Iterator[str]:
        held = self.accounts[0].group.held
        yield (
            f"Each deal is played at {len(self.accounts[0].group.tables)} tables, so that each "
            f"holds every hand {_times(held // SEATS)}; a deal at all its tables is one "
            "observation. Points a deal and seat; as declarer and as defender add up to the "
            "difference."
        )
        if self.sequential or interrupted:
            bound = max(sequence.bound for sequence in self.sequences.values())
            yield (
                "Verdicts are those of a 95 % confidence sequence, which may be looked at at any "
                f"time; under these rules a deal's difference is within ±{bound:.0f}. Other "
                "intervals are those of a fixed number of deals."
            )
        if len(self.pairs) > 1:
            yield (
                f"Differences and verdicts of the {len(self.pairs)} pairs hold together with 95 % "
                "(Bonferroni)."
            )
        other = sum(account.other_cards for account in self.accounts)
        if other:
            yield (
                f"{other:,} deals were thrown in at some tables only: other cards were played "
                "there, which widens intervals and biases nothing."
            )
        if self.matches and self.sequential:
            yield (
                "The number of matches is fixed: their intervals are those of that many, and have "
                "no part in the verdicts."
            )
        if self.matches and len(self.matches) > len(self.accounts):
            yield "Four play a match, so three policies meet there in pairs, not in all orders."
        if interrupted:
            yield "Interrupted: what was finished is counted."

    def _provenance(self) -> str:
        plan, rules = self.plan, self.plan.rules
        most = max(account.deals for account in self.accounts)
        last = plan.start + most - 1
        played = f"deals {plan.start}–{last}" if most else "no deals"
        tables = tables_of([account.group for account in self.accounts])
        matches = max((products.n for _, products in self.matches), default=0)
        if matches:
            of_matches = tables_of([account.group for account, _ in self.matches])
            played += f" at {tables} tables each" if of_matches != tables else ""
            played += f", matches {plan.start}–{plan.start + matches - 1}"
            tables = of_matches
        return (
            f"rules {rules.name} ({digest(rules)[:8]}) · policies {', '.join(self.policies)} · "
            f"seed {plan.seed}, {played}{' at' if ' at ' in played else ','} {tables} tables each"
            f" · milsim {version('milsim')}{told(origins(self.policies))}"
        )


def _number(value: float) -> str:
    text = f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


__all__ = ["Contest", "Verdict", "arena", "judged", "names_of", "next_look"]
