"""Two rule sets on the same deals: every number against a plain recount, and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

import numpy as np
import polars as pl
import pytest

import milsim
from milsim.errors import MilsimError, PolicyError, UsageError
from milsim.reports.compare import comparison
from milsim.reports.compare_pairs import Pairs, paired_share
from milsim.reports.compare_print import render_comparison
from milsim.reports.statistics import Moments, wilson
from milsim.rules import Rules, digest, load, with_fields
from milsim.simulation import match_columns
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan
from tests.command_line import Shell

DEALS, MATCHES, SEED = 3000, 60, 5
Z = NormalDist().inv_cdf(0.975)
FREE = {
    "play.must_beat": "no",
    "deal.low_talon_points": 5,
    "auction.minimum": 110,
    "match.target": 850,
    "match.defender_cap": 840,
}
"""Fields of each phase: the play, the rights to a new deal, the auction, the match."""


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def found() -> pl.DataFrame:
    return milsim.report.compare_rules(
        "mil", changes=FREE, deals=DEALS, matches=MATCHES, dd=40, seed=SEED
    )


def row_of(frame: pl.DataFrame, part: str, quantity: str) -> dict[str, Any]:
    return frame.filter(part=part, quantity=quantity).row(0, named=True)


def joined(rules: Sequence[str | Rules], mode: str, folder: Path) -> pl.DataFrame:
    """Both runs, a row an index; the columns of the second end in ``_right``."""
    a, b = (
        milsim.simulate(DEALS, seed=SEED, mode=mode, rules=chosen, out=folder / f"{mode}-{i}")
        .frame()
        .collect()
        for i, chosen in enumerate(rules)
    )
    return a.join(b, on="index", suffix="_right").sort("index")


def agrees(row: dict[str, Any], a: Sequence[int], b: Sequence[int]) -> None:
    """A row against lists of whole numbers, or of truths: means, difference and intervals."""
    n = len(a)
    apart = [second - first for first, second in zip(a, b, strict=True)]
    assert row["n"] == n
    assert row["differ"] == sum(value != 0 for value in apart)
    assert row["a"] == pytest.approx(fmean(a))
    assert row["b"] == pytest.approx(fmean(b))
    assert row["difference"] == pytest.approx(fmean(apart), abs=1e-12)
    half = (row["difference_high"] - row["difference_low"]) / 2
    if row["unit"] == "share":
        assert (row["a_low"], row["a_high"]) == (wilson(sum(a), n).low, wilson(sum(a), n).high)
    # For n in the thousands Student and Tango are Wald, give or take a pair.
    assert half == pytest.approx(Z * stdev(apart) / math.sqrt(n), rel=0.05, abs=4 / n)


# -- numbers -------------------------------------------------------------------------------------


def test_forehand_declares_is_the_two_runs_joined(found: pl.DataFrame, tmp_path: Path) -> None:
    rows = joined(["mil", with_fields("mil", FREE)], "declarer", tmp_path)
    assert rows["deal"].equals(rows["deal_right"].alias("deal"))
    a, b = rows["declarer_points"].to_list(), rows["declarer_points_right"].to_list()
    agrees(row_of(found, "declarer", "declarer points"), a, b)
    for points in (100, 120):
        row = row_of(found, "declarer", f"at least {points}")
        agrees(row, [p >= points for p in a], [p >= points for p in b])
    minimum = row_of(found, "declarer", "makes the minimum")
    agrees(minimum, [p >= 100 for p in a], [p >= 110 for p in b])
    assert set(found.filter(part="declarer")["left_out"]) == {0}


def test_with_bidding_only_the_same_cards_are_paired(found: pl.DataFrame, tmp_path: Path) -> None:
    everything = joined(["mil", with_fields("mil", FREE)], "auction", tmp_path)
    rows = everything.filter(pl.col("deal") == pl.col("deal_right"))
    out = everything.height - rows.height
    assert 0 < out < DEALS // 2  # mil has no right of a low talon
    assert set(found.filter(part="auction")["left_out"]) == {out}
    for quantity, column in (
        ("contract made", "made"),
        ("winning bid", "bid"),
        ("contract", "contract"),
    ):
        row = row_of(found, "auction", quantity)
        agrees(row, *(rows[name].cast(pl.Int64).to_list() for name in (column, f"{column}_right")))
    scores = [
        [
            row[f"score_{('forehand', 'middlehand', 'rearhand')[row[f'declarer{end}']]}{end}"]
            for row in rows.to_dicts()
        ]
        for end in ("", "_right")
    ]
    agrees(row_of(found, "auction", "declarer's score"), *scores)


def test_marriages_are_worth_what_their_report_says(found: pl.DataFrame, tmp_path: Path) -> None:
    for side, rules in (("a", load("mil")), ("b", with_fields("mil", FREE))):
        run = milsim.simulate(DEALS, seed=SEED, mode="declarer", rules=rules, out=tmp_path / side)
        for told in milsim.report.marriages(run).to_dicts():
            row = row_of(found, "marriages", told["suit"])
            assert row["n"] == told["worth_n"]
            assert row[side] == pytest.approx(told["worth"])
            assert row[f"{side}_low"] == pytest.approx(told["worth_low"])


def test_matches_are_paired_by_number(found: pl.DataFrame) -> None:
    sides = [
        np.concatenate(
            [
                chunk.results
                for chunk in play_match_plan(
                    MatchPlan.make(matches=MATCHES, seed=SEED, rules=rules)
                )
            ],
            axis=1,
        )
        for rules in ("mil", with_fields("mil", FREE))
    ]
    row = row_of(found, "matches", "deals in a match")
    agrees(row, *(side[match_columns.DEALS].tolist() for side in sides))
    winners = [side[match_columns.WINNER] for side in sides]
    scores = [
        [int(side[match_columns.FINAL_BY_PLAYER + winners[i][m], m]) for m in range(MATCHES)]
        for i, side in enumerate(sides)
    ]
    assert (np.array(winners) >= 0).all()
    agrees(row_of(found, "matches", "winner's score"), *scores)
    assert row["difference_high"] < 0  # to 850 is shorter than to 1000
    assert row_of(found, "matches", "ended without a winner")["a"] == 0


def test_double_dummy_solves_both(found: pl.DataFrame) -> None:
    numbers = milsim.sample_deals(40, seed=SEED)
    a, b = (
        milsim.best_exchange_batch(numbers, rules=rules).points.tolist()
        for rules in ("mil", with_fields("mil", FREE))
    )
    row = row_of(found, "double-dummy", "declarer points")
    assert (row["n"], row["a"], row["b"]) == (40, fmean(a), fmean(b))
    assert row["difference"] == pytest.approx(fmean(b) - fmean(a))
    assert row["model"] == "double dummy, best exchange"


def test_a_field_that_cannot_act_changes_nothing_at_all() -> None:
    found = milsim.report.compare_rules("mil", "mil-500", deals=2000, matches=200)
    still = found.filter(pl.col("part") != "matches")
    assert set(still["differ"]) == {0}
    assert set(still["difference"]) == {0.0}
    points = still.filter(pl.col("unit") == "points")
    assert set(points["difference_low"]) == set(points["difference_high"]) == {0.0}
    assert row_of(found, "matches", "deals in a match")["differ"] > 150


def test_marriages_that_pay_more_give_the_declarer_more() -> None:
    more = {"deal.marriage_values.spades": 50}
    found = milsim.report.compare_rules("mil", changes=more, deals=5000, matches=0)
    spades, clubs = (row_of(found, "marriages", suit) for suit in ("spades", "clubs"))
    assert 0 < spades["difference_low"] < spades["difference"] <= 10
    assert spades["difference"] > 5  # it is declared in most deals that hold it
    assert -1 < clubs["difference"] < 1  # only where it waits for that of spades
    points = row_of(found, "declarer", "declarer points")
    assert 0 < points["difference_low"] < points["difference_high"] < 10


def test_swapped_rules_give_the_opposite() -> None:
    one = milsim.report.compare_rules("mil", "pagat", deals=1000, matches=20)
    other = milsim.report.compare_rules("pagat", "mil", deals=1000, matches=20)
    assert one["difference"].to_list() == pytest.approx([-x for x in other["difference"]])
    assert one["a_low"].to_list() == other["b_low"].to_list()
    assert one["differ"].equals(other["differ"])


def test_results_depend_on_neither_threads_nor_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(threads: int) -> pl.DataFrame:
        return milsim.report.compare_rules(
            "mil", "russian", deals=3000, matches=100, dd=20, policy="random", threads=threads
        )

    one = compare(1)
    assert one.equals(compare(2))
    for name, size in (("DEALS", 700), ("MATCHES", 13), ("SOLVED", 6)):
        monkeypatch.setattr(f"milsim.reports.compare_parts.BLOCK_{name}", size)
    assert one.equals(compare(2))


# -- statistics ----------------------------------------------------------------------------------


def test_pairs_add_up() -> None:
    draw = np.random.default_rng(1)
    a, b = draw.integers(-100, 300, (2, 1000), dtype=np.int16)
    whole = Pairs.of(a, b)
    assert whole == Pairs.of(a[:300], b[:300]) + Pairs.of(a[300:], b[300:])
    assert whole.n == 1000
    assert whole.difference.total == sum(int(y) - int(x) for x, y in zip(a, b, strict=True))


def test_intervals_of_shares_cover_what_they_should() -> None:
    draw = np.random.default_rng(7)
    for lost, won, n in ((0.002, 0.004, 1500), (0.1, 0.05, 100), (0.0, 0.01, 200)):
        gains, losses = draw.binomial(n, won, 2000), draw.binomial(n, lost, 2000)
        hits = 0
        for up, down in zip(gains.tolist(), losses.tolist(), strict=True):
            interval = paired_share(Moments(n, up - down, up + down))
            assert interval.low is not None
            assert interval.value is not None
            assert interval.high is not None
            assert interval.low <= interval.value <= interval.high
            hits += interval.low <= won - lost <= interval.high
        assert hits > 0.93 * 2000
    everything = paired_share(Moments(50, 50, 50))
    assert (everything.value, everything.high) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(12, 2, 50), (0, 3, 40), (1, 0, 500), (60, 41, 300)]
)
def test_bounds_of_shares_are_those_of_the_score_test(gained: int, lost: int, n: int) -> None:
    """At a bound the score test is at z, its nuisance parameter the most likely one on a grid."""
    interval = paired_share(Moments(n, gained - lost, gained + lost))
    for bound in (interval.low, interval.high):
        assert bound is not None
        grid = np.linspace(max(0, -bound), (1 - bound) / 2, 400_001)[1:-1]  # of pairs that lost
        likelihood = (n - gained - lost) * np.log(1 - 2 * grid - bound)
        likelihood += gained * np.log(grid + bound) + lost * np.log(grid)
        likely = grid[np.argmax(likelihood)]
        variance = n * (2 * likely + bound * (1 - bound))
        assert (gained - lost - n * bound) ** 2 / variance == pytest.approx(Z**2, rel=1e-3)


# -- words ---------------------------------------------------------------------------------------


def test_answers_are_made_from_the_numbers() -> None:
    found = comparison("mil", changes={"play.must_beat": "no"}, deals=40_000, matches=50)
    row = row_of(found.frame, "declarer", "declarer points")
    value, low, high = (
        f"{abs(row[name]):.2f}" for name in ("difference", "difference_high", "difference_low")
    )
    assert row["difference_high"] < 0
    assert found.answers[0] == (
        f"Forehand as declarer takes {value} points fewer ({low} to {high}) under mil-changed than "
        "under mil (policy greedy, 40,000 deals)."
    )
    assert (
        "A match takes much the same under mil and mil-changed: no difference seen, it is "
        in (found.answers[2])
    )
    only_matches = comparison("mil", "mil-500", deals=500, matches=100)
    assert only_matches.answers[0].startswith("A match takes 1")
    assert "the same under mil and mil-500: no difference in any of them" in only_matches.answers[1]


def test_text_says_model_digests_and_fields(shell: Shell, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\n[play]\nmust_trump = false\n')
    outcome = shell("rules", "compare", "mil", mine, "--deals", "2k", "--matches", 20)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "What the rules change: mil and mine"
    assert any(line.split() == ["play.must_trump", "yes", "no"] for line in lines)
    head = " ".join(lines[1:3])
    for rules in (load("mil"), load(mine)):
        assert f"{rules.name} ({digest(rules)[:8]})" in head
    numbers = [line for line in lines if "±" in line and "  " in line]
    assert len(numbers) == 15
    assert all(line.endswith("policy greedy") for line in numbers)
    assert max(map(len, lines)) <= 100
    assert lines[-1].endswith(".")
    assert "95 % interval by itself" in outcome.out


def test_json_is_the_only_output_and_holds_everything(shell: Shell) -> None:
    outcome = shell(
        "rules", "compare", "mil", "--set", "play.must_beat=no", "--set", "match.lock=off",
        "--deals", 500, "--matches", 10, "--dd", 4, "--json",
    )  # fmt: skip
    assert outcome.err == ""
    document = json.loads(outcome.out)
    assert [entry["field"] for entry in document["fields"]] == ["play.must_beat", "match.lock"]
    assert document["a"]["digest"] == digest(load("mil"))
    assert document["b"]["name"] == "mil-changed"
    assert list(document["tables"]) == [
        "declarer", "auction", "marriages", "matches", "double-dummy",
    ]  # fmt: skip
    assert len(document["answers"]) == 4


def test_every_format(tmp_path: Path) -> None:
    found = comparison("mil", "gamerules", deals=500, matches=10)
    assert "| declarer points |" in render_comparison(found, "md").decode()
    assert pl.read_csv(render_comparison(found, "csv")).height == found.frame.height
    path = tmp_path / "found.parquet"
    path.write_bytes(render_comparison(found, "parquet"))
    assert pl.read_parquet(path).equals(found.frame)
    with pytest.raises(UsageError, match="format"):
        render_comparison(found, "xlsx")


def test_equal_names_are_told_apart() -> None:
    one = with_fields("mil", {"play.must_beat": "no"})
    other = with_fields("mil", {"play.must_trump": False})
    found = comparison(one, other, deals=200, matches=0)
    assert f"mil-changed {digest(other)[:8]}" in found.answers[0]


# -- refused -------------------------------------------------------------------------------------


def test_matches_of_three_and_four_players_are_not_paired(shell: Shell) -> None:
    four = ("rules", "compare", "mil", "--set", "deal.players=4")
    outcome = shell(*four, "--deals", 300)
    assert outcome.code == 0
    assert "Matches: 3 players under mil, 4 under mil-changed" in outcome.out
    assert "Whole matches" not in outcome.out
    outcome = shell(*four, "--deals", 0)
    assert outcome.code == 3
    assert outcome.err.count("\n") == 1
    both = [with_fields(name, {"deal.players": 4}) for name in ("mil", "mil-500")]
    assert comparison(*both, deals=0, matches=10).refused == ()
    with pytest.raises(PolicyError, match="four players"):
        comparison(*both, deals=100, matches=10, policy="greedy,random,greedy")


def test_a_part_that_cannot_be_played_is_said_and_left_out() -> None:
    never = {"auction.opener": "forehand_may_pass", "auction.all_pass": "redeal_same",
             "auction.minimum": 400, "auction.cap": "none", "auction.cap_points": 600}  # fmt: skip
    found = comparison("mil", changes=never, deals=50, matches=2)
    assert [text.partition(":")[0] for text in found.refused] == ["with bidding", "matches"]
    assert set(found.frame["part"]) == {"declarer", "marriages"}


BAD: dict[str, tuple[list[object], int, str]] = {
    "the same game": (["mil", "mil"], 2, "the same game twice"),
    "nothing changed": (["mil", "--set", "match.target=1000"], 2, "the same game twice"),
    "one rule set": (["mil"], 2, "--set"),
    "none": ([], 2, "NAME|FILE"),
    "unknown rules": (["mil", "mill"], 3, "did you mean mil?"),
    "unknown field": (["mil", "--set", "play.must_bet=no"], 3, "did you mean play.must_beat?"),
    "deals": (["mil", "pagat", "--deals", "-1"], 2, "deals"),
    "nothing to play": (["mil", "pagat", "--deals", "0", "--matches", "0"], 2, "nothing to play"),
    "matches": (["mil", "pagat", "--matches", "some"], 2, "matches"),
    "dd": (["mil", "pagat", "--dd", "exchange"], 2, "dd"),
    "policy": (["mil", "pagat", "--policy", "gredy"], 3, "did you mean greedy?"),
    "two policies": (["mil", "pagat", "--policy", "greedy,random"], 3, "three by seat"),
    "seed": (["mil", "pagat", "--seed", "x"], 2, "seed"),
    "threads": (["mil", "pagat", "--threads", "0"], 2, "threads"),
    "format": (["mil", "pagat", "--format", "xlsx"], 2, "format"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(shell: Shell, name: str) -> None:
    arguments, code, words = BAD[name]
    outcome = shell("rules", "compare", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert words in outcome.err
    lines = [line for line in outcome.err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert lines[0].startswith("milsim: ")


CALLS: dict[str, Callable[[], object]] = {
    "one rule set": lambda: milsim.report.compare_rules("mil"),
    "half a deal": lambda: milsim.report.compare_rules("mil", "pagat", deals=1.5),  # type: ignore[arg-type]
    "seed": lambda: milsim.report.compare_rules("mil", "pagat", seed=-1),
    "no rules": lambda: milsim.report.compare_rules("mil", 5),  # type: ignore[arg-type]
    "unknown field": lambda: milsim.report.compare_rules("mil", changes={"lock": 900}),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_milsim_errors(name: str) -> None:
    with pytest.raises(MilsimError):
        CALLS[name]()


def test_help(shell: Shell) -> None:
    outcome = shell("rules", "compare", "--help")
    assert outcome.code == 0
    assert all(len(line) <= 100 for line in outcome.out.splitlines())
