"""The arena: who sits where, what is counted, and verdicts that are wrong as seldom as they say."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest

import milsim
from milsim.confidence import Sequence, covering, log_capital
from milsim.errors import ExitCode, MilsimError, UsageError
from milsim.reports import arena_engine
from milsim.reports.arena import Contest, arena, judged, next_look
from milsim.reports.arena_engine import MatchTablesMaking, TablesMaking, played_matches
from milsim.reports.arena_play import Account
from milsim.reports.arena_print import render_contest
from milsim.reports.arena_seats import groups_of, widest_difference, widest_score
from milsim.reports.ratios import Products
from milsim.reports.statistics import Moments
from milsim.rules import load, preset_names, with_fields
from milsim.simulation import columns
from milsim.simulation.engine import play
from milsim.simulation.match_columns import WINNER
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store.engines import Failure, Made, Making, Threads
from tests.command_line import Shell

SEED = 11
DEALS = 300


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def duel() -> Contest:
    return arena("greedy", "random", deals=DEALS, matches=6, seed=SEED)


def row_of(contest: Contest, part: str, quantity: str, policy: str = "greedy") -> dict[str, object]:
    (row,) = contest.frame.filter(part=part, quantity=quantity, policy=policy).to_dicts()
    return row


# -- who sits where ------------------------------------------------------------------------------


@pytest.mark.parametrize(("competitors", "seats"), [(2, 3), (3, 3), (5, 3), (2, 4), (4, 4)])
def test_every_member_holds_every_seat_equally_often(competitors: int, seats: int) -> None:
    groups = groups_of(competitors, seats)
    met = Counter(pair for group in groups for pair in group.pairs)
    assert set(met.values()) == {1}
    assert len(met) == competitors * (competitors - 1) // 2
    for group in groups:
        for seat in range(seats):
            held = Counter(table[seat] for table in group.tables)
            assert set(held) == set(group.members)
            assert set(held.values()) == {group.held // seats}


# -- what is counted -----------------------------------------------------------------------------


def test_numbers_are_those_of_a_plain_recount(duel: Contest) -> None:
    names = ("greedy", "random")
    differences = []
    declared, made, contracts, scores = (Counter[str]() for _ in range(4))
    for i in range(DEALS):
        points = Counter[str]()
        for table in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
            policy = [names[place] for place in table]
            plan = Plan.make(deals=1, seed=SEED, start=i, policy=policy)
            (chunk,) = play(plan, threads=1)
            for seat, name in enumerate(policy):
                score = int(chunk.values[columns.SCORE_BY_SEAT + seat, 0])
                points[name] += score
                if chunk.values[columns.DECLARER, 0] == seat:
                    declared[name] += 1
                    scores[name] += score
                    made[name] += int(chunk.values[columns.MADE, 0])
                    contracts[name] += int(chunk.values[columns.CONTRACT, 0])
        differences.append((points["greedy"] - points["random"]) / 9)
    row = row_of(duel, "pair", "difference")
    assert row["value"] == pytest.approx(fmean(differences))
    half = Moments.of([(round(9 * value), 1) for value in differences]).mean().half_width
    assert half is not None
    assert row["value_high"] == pytest.approx(fmean(differences) + half / 9)
    for name in names:
        assert row_of(duel, "policy", "declares", name)["value"] == pytest.approx(
            declared[name] / (9 * DEALS)
        )
        for quantity, counted in (
            ("score as declarer", scores),
            ("makes", made),
            ("contract", contracts),
        ):
            value = row_of(duel, "policy", quantity, name)["value"]
            assert value == pytest.approx(counted[name] / declared[name])
    parts = duel.frame.filter(pl.col("quantity").is_in(["as declarer", "as defender"]))
    assert parts["value"].sum() == pytest.approx(row["value"])


def test_matches_won_are_those_of_a_plain_recount(duel: Contest) -> None:
    won = 0
    for table in groups_of(2)[0].tables:
        policy = [("greedy", "random")[place] for place in table]
        plan = MatchPlan.make(matches=6, seed=SEED, policy=policy)
        for chunk in play_match_plan(plan, threads=1):
            won += sum(policy[winner] == "greedy" for winner in chunk.results[WINNER].tolist())
    assert row_of(duel, "match policy", "matches won")["value"] == pytest.approx(won / 54)


def test_ratios_are_those_of_their_residuals() -> None:
    draw = np.random.default_rng(3)
    top, bottom = draw.integers(-100, 200, 500), draw.integers(0, 4, 500)
    deals = Products.of(np.array([top[:200], bottom[:200]])) + Products.of(
        np.array([top[200:], bottom[200:]])
    )
    found = deals.ratio(np.array([0, 1, 0]), np.array([0, 0, 1]))
    ratio = top.sum() / bottom.sum()
    error = np.std(top - ratio * bottom, ddof=1) / bottom.mean() / np.sqrt(500)
    assert found.value == pytest.approx(ratio)
    assert found.half_width == pytest.approx(1.9647 * error, rel=1e-3)
    constant = deals.ratio(np.array([0, 1, 0]), np.array([1, 0, 0]))
    assert constant.high == pytest.approx(Moments.of((int(x), 1) for x in top).mean().high)


def test_swapped_policies_give_the_opposite(duel: Contest) -> None:
    other = arena("random", "greedy", deals=DEALS, seed=SEED)
    row, opposite = (
        row_of(duel, "pair", "difference"),
        row_of(other, "pair", "difference", "random"),
    )
    assert row["value"] == pytest.approx(-opposite["value"])  # type: ignore[operator]
    assert (duel.verdicts[0].word, other.verdicts[0].word) == ("better", "worse")


@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_a_policy_equals_itself_exactly(policy: str) -> None:
    contest = arena(policy, policy, deals=60)
    (verdict,) = contest.verdicts
    assert verdict.word == "equal"
    assert (verdict.interval.low, verdict.interval.value, verdict.interval.high) == (0, 0, 0)
    assert contest.policies == (policy, f"{policy} (2)")


def test_three_play_all_orders_and_four_in_pairs() -> None:
    three = arena("greedy", "random", "greedy", deals=120)
    assert [verdict.word for verdict in three.verdicts] == ["better", "equal", "worse"]
    four = arena("greedy", "random", "greedy", "random", deals=100)
    words = [verdict.word for verdict in four.verdicts]
    assert words == ["better", "equal", "better", "worse", "equal", "better"]
    first = four.frame.filter(part="pair", quantity="difference").row(0, named=True)
    alone = arena("greedy", "random", deals=100).frame.row(0, named=True)
    assert first["value"] == alone["value"]
    assert first["value_low"] < alone["value_low"]  # six pairs hold together


# -- verdicts ------------------------------------------------------------------------------------


def test_deal_differences_are_within_their_bound() -> None:
    group = groups_of(2)[0]
    for name in preset_names():
        rules = load(name)
        account = Account.empty(group)
        policies = ("random", "greedy")
        tables = []
        for table in group.tables:
            policy = [policies[member] for member in table]
            plan = Plan.make(deals=400, rules=rules, policy=policy)
            chunks = list(play(plan, threads=1))
            values = np.concatenate([chunk.values for chunk in chunks], axis=1)
            tables.append((np.concatenate([chunk.deals for chunk in chunks]), values))
            scores = values[columns.SCORE_BY_SEAT : columns.SCORE_BY_SEAT + 3].astype(int)
            for seat in range(3):
                apart = np.abs(2 * scores[seat] - scores.sum(axis=0))
                assert apart.max() <= widest_score(rules)
        account.add(tables)
        most = max(map(abs, account.differences[0, 1])) / group.held
        assert most <= widest_difference(group, rules)


def test_bounds_follow_the_rules() -> None:
    free = with_fields("mil", {"auction.cap": "none"})
    dark = with_fields("mil", {"auction.dark": True})
    assert widest_score(load("mil")) < widest_score(free) < 900
    assert widest_score(dark) == widest_score(load("mil")) + 400


NULL = {  # values with mean 0, and their chances
    "skewed": ([-10, 0, 90], [0.9, 0.0, 0.1]),
    "rare": ([-1, 0, 99], [0.99, 0.0, 0.01]),
    "wide": ([-100, 0, 100], [0.2, 0.6, 0.2]),
}


@pytest.mark.parametrize("kind", NULL)
def test_a_confidence_sequence_seldom_misses_however_often_one_looks(kind: str) -> None:
    """In at most 5 % of contests without a difference does any of some 30 looks decide wrongly."""
    draw = np.random.default_rng(5)
    values, chances = (np.array(column) for column in NULL[kind])
    assert abs(values @ chances) < 1e-9
    scaled = (values + 100) / 200
    contests, wrong = 300, 0
    for _ in range(contests):
        counts, done = np.zeros(3, np.int64), 0
        while done < 20_000:
            look = next_look(done)
            counts += draw.multinomial(look - done, chances)
            done = look
            sides = log_capital(scaled, counts, 0.5), log_capital(1 - scaled, counts, 0.5)
            if max(sides) >= np.log(2 / 0.05):
                wrong += 1
                break
    assert wrong <= 0.05 * contests
    histogram = dict(zip(values.tolist(), counts.tolist(), strict=True))
    interval = covering(histogram, 1.0, 100.0, 0.05)
    decided = judged(interval, margin=0.0) in ("better", "worse")
    assert decided == (max(sides) >= np.log(2 / 0.05))


def test_a_sequence_never_gets_wider() -> None:
    draw = np.random.default_rng(8)
    sequence, up, done, before = Sequence(unit=1.0, bound=1.0), 0, 0, 2.0
    while done < 5000:
        look = next_look(done)
        up += int(draw.binomial(look - done, 0.6))
        done = look
        interval = sequence.look({1: up, -1: done - up})
        assert interval.half_width is not None
        assert interval.half_width <= before
        before = interval.half_width
    assert judged(interval, 1.0) == "better"


def test_looking_again_and_again_with_ordinary_intervals_would_mislead() -> None:
    """What the sequence is for: the same null data, judged by ordinary intervals at each look."""
    draw = np.random.default_rng(6)
    false = 0
    for _ in range(200):
        moments, done = Moments(), 0
        while done < 20_000:
            look = next_look(done)
            up = int(draw.binomial(look - done, 0.5))
            moments += Moments.of([(1, up), (-1, look - done - up)])
            done = look
            if judged(moments.mean(), margin=0.0) in ("better", "worse"):
                false += 1
                break
    assert false > 30


def test_a_confidence_sequence_narrows() -> None:
    widths = []
    for n in (100, 10_000, 1_000_000):
        found = covering({-30: n // 2, 30: n // 2}, 1.0, 350.0, 0.05)
        assert found.half_width is not None
        widths.append(found.half_width)
        assert found.low == pytest.approx(-found.high)  # type: ignore[operator]
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] < 2.2 * 1.96 * 30 / 1000  # about twice an ordinary interval
    assert covering({}, 1.0, 5.0, 0.05).low == -5


def test_until_decided_stops_early_and_the_same_for_any_threads() -> None:
    one = arena("greedy", "random", until_decided=True, threads=1, seed=3)
    two = arena("greedy", "random", until_decided=True, threads=2, seed=3)
    assert one.frame.equals(two.frame)
    (verdict,) = one.verdicts
    assert (verdict.word, verdict.deals) == ("better", 100)
    row = one.frame.row(0, named=True)
    assert row["value_low"] == row["sequence_low"] == verdict.interval.low
    fixed = arena("greedy", "random", deals=100, seed=3).frame.row(0, named=True)
    assert fixed["value_low"] > row["value_low"]  # stopping has its price


def test_max_deals_leaves_it_undecided() -> None:
    contest = arena("greedy", "random", until_decided=True, max_deals=5)
    assert contest.verdicts[0].word == "undecided"
    assert contest.verdicts[0].deals == 5
    assert "undecided" in str(contest.verdicts[0])
    assert arena("greedy", "random", deals=99).verdicts[0].word == "undecided"  # too few


def test_verdicts_are_sentences(duel: Contest) -> None:
    text = str(duel.verdicts[0])
    assert text.startswith("greedy is better than random by ")
    assert text.endswith(f"{DEALS} deals).")
    small = replace(duel.verdicts[0], margin=1000.0)
    assert str(small).endswith("less than the margin.")
    assert judged(duel.verdicts[0].interval, 1.0) == "better"


# -- interrupted ---------------------------------------------------------------------------------


def test_ctrl_c_ends_it_with_what_is_known() -> None:
    def press(_what: str, done: int, _total: int) -> None:
        if done >= 40:
            signal.raise_signal(signal.SIGINT)

    contest = arena("greedy", "random", deals=10**6, progress=press)
    assert contest.interrupted
    deals = contest.verdicts[0].deals
    assert 40 <= deals < 10**5
    same = arena("greedy", "random", deals=deals)
    assert contest.frame.row(0, named=True)["value"] == same.frame.row(0, named=True)["value"]
    assert contest.frame["sequence_low"].equals(same.frame["sequence_low"])


def test_ctrl_c_exits_with_130(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Account.add

    def add(self: Account, tables: object) -> None:
        real(self, tables)  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Account, "add", add)
    outcome = shell("arena", "greedy", "random", "--deals", "1e6", "--quiet")
    assert outcome.code == 130
    assert "Interrupted" in outcome.out
    assert outcome.err == "milsim: interrupted after 16 deals; what is shown counts them\n"


# -- by an engine --------------------------------------------------------------------------------


class Counting:
    """An engine that notes what it is given to play; ``plays`` says whether it plays it, too."""

    def __init__(self, *, plays: bool = True) -> None:
        self.plays = plays
        self.given: list[list[tuple[int, int]]] = []

    def make(
        self,
        making: Making[Any],
        spans: Iterable[tuple[int, int]],
        stop: Callable[[], bool],
        heard: Callable[[int], None],
    ) -> Iterator[Made | Failure]:
        self.given.append(list(spans))
        return Threads(1).make(making, self.given[-1], stop, heard) if self.plays else iter(())


def test_an_engine_is_given_all_parts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that all workers have something to play, and are made ready once."""
    monkeypatch.setattr(arena_engine, "PART_DEALS", 64)
    monkeypatch.setattr(arena_engine, "PART_MATCHES", 8)
    engine = Counting()
    steps: list[tuple[str, int, int]] = []
    options: dict[str, Any] = {"deals": 200, "matches": 20, "seed": 3, "start": 6}
    by_engine = arena(
        "greedy", "random", engine=engine, progress=lambda *at: steps.append(at), **options
    )
    assert engine.given == [
        [(6, 58), (64, 64), (128, 64), (192, 14)],
        [(6, 2), (8, 8), (16, 8), (24, 2)],
    ]
    assert steps[-1] == ("matches", 20, 20)
    assert by_engine.frame.equals(arena("greedy", "random", threads=1, **options).frame)


@pytest.mark.parametrize(("second", "parts"), [("random", 18), ("pimc", 4500)])
def test_parts_of_matches_are_small_enough_for_many_workers(second: str, parts: int) -> None:
    engine = Counting(plays=False)
    found = played_matches(
        engine,
        MatchPlan.make(matches=9000),
        groups_of(2)[0],
        ("greedy", second),
        stop=lambda: False,
        told=lambda count: None,
    )
    assert found.n == 0
    (spans,) = engine.given
    assert (len(spans), sum(count for _, count in spans)) == (parts, 9000)


@pytest.mark.parametrize("what", ["deals", "matches"])
def test_what_an_engine_cannot_play_is_one_line_and_no_outcome(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """It is a fault of the code, as in threads, where it is told in the same way."""

    def play(making: object, start: int, count: int) -> object:
        raise RuntimeError("broken")

    making = TablesMaking if what == "deals" else MatchTablesMaking
    monkeypatch.setattr(making, "ready", lambda making: 5)
    monkeypatch.setattr(making, "play", play)
    monkeypatch.setattr("milsim.cli.arena.engine_of", lambda *_, **more: nullcontext(Threads(1)))
    command = ["arena", "greedy", "random", "--deals", 100, "--matches", 8, "--engine", "dask"]
    outcome = shell(*command, "--quiet")
    assert outcome.code == ExitCode.INTERNAL, outcome
    assert outcome.out == ""
    assert outcome.err == (
        f"milsim: arena: could not play {what} 0–4: RuntimeError: broken; no verdict without them\n"
    )


# -- output --------------------------------------------------------------------------------------


def test_text_names_rules_deals_and_verdict(shell: Shell) -> None:
    outcome = shell("arena", "greedy", "random", "--deals", 150, "--matches", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "Arena: greedy and random"
    assert "deals 0–149, matches 0–1, 6 tables each" in " ".join(lines[1:3])
    assert "greedy is better than random" in " ".join(lines[-2:])
    assert max(map(len, lines)) <= 100
    assert "compiling" in outcome.err or outcome.err == ""


def test_json_is_the_only_output_and_holds_everything(shell: Shell) -> None:
    outcome = shell("arena", "greedy", "random", "--until-decided", "--margin", 2, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = json.loads(outcome.out)
    assert document["sequential"] is True
    (verdict,) = document["verdicts"]
    assert (verdict["verdict"], verdict["margin"]) == ("better", 2.0)
    assert list(document["tables"]) == ["pair", "policy"]
    row = document["tables"]["pair"][0]
    assert (row["kind"], row["model"], row["against"]) == ("sampled", "policy greedy", "random")


def test_every_format(duel: Contest, tmp_path: Path) -> None:
    assert "**greedy is better" in render_contest(duel, "md").decode()
    assert pl.read_csv(render_contest(duel, "csv")).height == duel.frame.height
    path = tmp_path / "found.parquet"
    path.write_bytes(render_contest(duel, "parquet"))
    assert pl.read_parquet(path).equals(duel.frame)
    assert "Matches won" in str(duel)
    with pytest.raises(UsageError, match="format"):
        render_contest(duel, "xlsx")


def test_deals_thrown_in_at_some_tables_are_said() -> None:
    rules = with_fields(
        "mil", {"auction.opener": "forehand_may_pass", "auction.all_pass": "redeal_same"}
    )
    contest = arena("greedy", "random", deals=200, rules=rules)
    assert any("thrown in at some tables only" in note for note in contest.notes)


def test_three_policies_meet_in_pairs_in_matches_of_four() -> None:
    rules = with_fields(load("mil"), {"deal.players": 4, "match.max_deals": 30})
    policies = ("greedy", "random", "greedy:bid=random")
    contest = arena(*policies, deals=100, matches=2, rules=rules, threads=1)
    met = contest.frame.filter(part="match pair").select("policy", "against").rows()
    assert met == [(policies[0], policies[1]), (policies[0], policies[2]), policies[1:]]
    assert "deals 0–99 at 6 tables each, matches 0–1 at 24 tables each" in contest.provenance
    assert any("meet there in pairs" in note for note in contest.notes)
    text = str(contest)
    won = text[text.index("Matches won of those played\n") :]
    assert won.splitlines()[1].split()[0] == "against"
    two = arena(*policies[:2], deals=100, matches=2, rules=rules, until_decided=True, max_deals=200)
    assert "matches 0–1 at 8 tables each" in two.provenance
    assert any("The number of matches is fixed" in note for note in two.notes)


BAD: dict[str, tuple[list[object], int, str]] = {
    "one": (["greedy"], 2, "2 to 8"),
    "none": ([], 2, "POLICY"),
    "unknown": (["greedy", "gredy"], 3, "did you mean greedy?"),
    "deals": (["greedy", "random", "--deals", "0"], 2, "deals"),
    "margin": (["greedy", "random", "--margin", "-1"], 2, "margin"),
    "no number": (["greedy", "random", "--margin", "nan"], 2, "margin"),
    "rules": (["greedy", "random", "--rules", "mill"], 3, "did you mean mil?"),
    "format": (["greedy", "random", "--format", "xlsx"], 2, "format"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(shell: Shell, name: str) -> None:
    arguments, code, words = BAD[name]
    outcome = shell("arena", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    lines = [line for line in outcome.err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert words in lines[0]
    with pytest.raises(MilsimError):
        milsim.arena("greedy")
