"""Report advice: its shape, where it comes from, and plain recounts of some of its lines."""

from __future__ import annotations

import json
from statistics import fmean

import numpy as np
import polars as pl
import pytest

import milsim
from milsim.cards import CardSet
from milsim.reports.advice_claims import smear_gains, sure_winners
from milsim.reports.advice_frames import advice
from milsim.reports.advice_play import AlwaysSmears, Habit, Smears, driven, tip_gifts
from milsim.simulation import columns
from milsim.simulation.engine import play
from milsim.simulation.plan import Plan
from tests.command_line import Shell

DEALS = 2000


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def found() -> pl.DataFrame:
    return advice(deals=DEALS, seed=5)


def test_every_claim_has_numbers_and_a_verdict(found: pl.DataFrame) -> None:
    claims = found["claim"].unique(maintain_order=True).to_list()
    assert len(claims) == 11
    tips = found.filter(source="seeds 000, 002, tips")["claim"].n_unique()
    assert tips == 4
    assert set(found["kind"]) == {"sampled"}
    assert set(found["rules"]) == {"mil"}
    assert set(found["model"]) == {"policy greedy", "double dummy"}
    for row in found.to_dicts():
        assert row["verdict"]
        assert row["n"] > 0
        assert row["value_low"] <= row["value"] <= row["value_high"]


def test_a_line_of_the_first_tip_is_a_plain_recount(found: pl.DataFrame) -> None:
    run = milsim.simulate(DEALS, mode="declarer", seed=5)
    rows = run.frame(features=True).collect()
    high = pl.col("hand_aces").cast(pl.Int64) + pl.col("hand_tens")
    mine = rows.filter((pl.col("hand_marriages") == 0) & (high >= 3))
    scores = [110 if points >= 110 else -110 for points in mine["declarer_points"]]
    (row,) = found.filter(
        measured="mean score at 110, no marriage, 3 or more aces and tens"
    ).to_dicts()
    assert (row["n"], row["value"]) == (mine.height, fmean(scores))
    without = rows.filter(hand_marriages=1)
    (row,) = found.filter(measured="mean score at 100, one marriage").to_dicts()
    assert row["n"] == without.height


def test_auctions_are_those_of_a_run(found: pl.DataFrame) -> None:
    rows = milsim.simulate(DEALS, seed=5).frame().collect()
    (row,) = found.filter(measured="mean winning bid").to_dicts()
    assert row["value"] == fmean(rows["bid"].to_list())
    (row,) = found.filter(measured="contracts made").to_dicts()
    assert row["value"] == pytest.approx(rows["made"].mean())


def test_an_unchanged_habit_changes_nothing() -> None:
    plan = Plan.make(deals=60, seed=2**64 - 2, mode="declarer")
    values = driven(plan, [Habit("greedy") for _ in range(3)])
    (chunk,) = play(plan)
    assert np.array_equal(values, chunk.values)


def test_the_pair_of_the_tip() -> None:
    hand = int(CardSet.parse("AKQJ9.A9.AJ.K"))
    names = {str(CardSet(1 << card)) for card in tip_gifts(hand)}
    assert len(names) == 2
    only = int(CardSet.parse("AKQ.AKQ.AT.KQ"))  # no nine, no jack: whole marriages are kept
    for card in tip_gifts(only):
        assert card % 6 >= 4


def test_smears_are_choices_of_last_hand_and_solved_both_ways() -> None:
    plan, notes = Plan.make(deals=80, seed=2, mode="declarer"), Smears()
    values = driven(plan, [Habit("greedy"), *(AlwaysSmears("greedy", notes) for _ in range(2))])
    assert values.shape == (columns.N_COLUMNS, 80)
    gains, sure = smear_gains(notes, plan, None), sure_winners(notes)
    assert len(gains) == len(sure) == len(notes.rich) > 20
    for i in range(0, len(gains), 5):
        hands = notes.hands[i]
        sizes = sorted(hand.bit_count() for hand in hands)
        assert sizes[0] == sizes[1] == sizes[2] - 1
        assert hands[notes.role[i]].bit_count() == sizes[2]
        assert notes.role[i] == (notes.leader[i] + 2) % 3 != 0
        assert hands[notes.role[i]] >> notes.rich[i] & hands[notes.role[i]] >> notes.poor[i] & 1
    assert smear_gains(Smears(), plan, None).size == 0


def test_command_line(shell: Shell) -> None:
    outcome = shell("report", "advice", "--deals", 1000, "--seed", 3, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = json.loads(outcome.out)
    assert document["report"] == "advice"
    assert "seed 3, deals 0–999" in document["provenance"]
    assert len(document["tables"]) == 11


def test_verdicts_name_their_rules_and_are_those_of_any_threads(shell: Shell) -> None:
    options = ("--deals", 1000, "--rules", "mil-500", "--set", "play.must_beat=no")
    one, two = (shell("report", "advice", *options, "--threads", n).out for n in (1, 2))
    assert one == two
    assert max(map(len, one.splitlines())) <= 100
    assert one.splitlines()[0] == "What players are told, measured under mil-500-changed"
    assert "rules mil-500-changed (" in one
    unwrapped = " ".join(one.split())
    assert unwrapped.count("; under mil-500-changed)") == 11
    rows = shell("report", "advice", *options, "--format", "csv").out.splitlines()
    place = rows[0].split(",").index("rules")
    assert "mil-500-changed" in rows[1].split(",")[place:]


BAD: dict[str, tuple[list[object], int, str]] = {
    "a run": (["advice", "somewhere"], 2, "takes --deals"),
    "too few": (["advice", "--deals", "10"], 2, "out of range"),
    "policy": (["advice", "--policy", "gredy"], 3, "did you mean greedy?"),
    "not for others": (["bias", "--deals", "10"], 2, "is for advice"),
    "seed": (["advice", "--seed", "x"], 2, "seed"),
    "rules": (["advice", "--rules", "mill"], 3, "did you mean mil"),
    "a field": (["advice", "--set", "play.mustbeat=no"], 3, "did you mean"),
    "threads": (["advice", "--threads", "0"], 2, "threads: '0' is out of range"),
    "rules of a run": (["bidding", "run", "--rules", "mil"], 2, "--rules: is for advice"),
    "threads of a run": (["bidding", "run", "--threads", "2"], 2, "--threads: is for advice"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(shell: Shell, name: str) -> None:
    arguments, code, words = BAD[name]
    outcome = shell("report", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    lines = [line for line in outcome.err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert words in lines[0]
