"""What a hand is worth: exact chances, the table and live play, the bid, and what is refused."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from milsim.answers.estimates import of_chances, of_histogram
from milsim.answers.hand import HandAnswer, _bid, hand
from milsim.answers.talon import talon_chances
from milsim.cards import CardSet, cards_of
from milsim.dealing import hand_masks_table
from milsim.dealing.tables import N_HANDS
from milsim.deals import combination_rank
from milsim.errors import DealError, MilsimError, RunError, UsageError
from milsim.reports.contract import Contract
from milsim.reports.statistics import Interval
from milsim.rules import digest, load, with_fields
from milsim.tables.compact import CompactTable
from milsim.tables.folder import manifest_of
from milsim.tables.models import driven_points, ordered_deals, points_of_model, talon_order
from milsim.tables.plan import TablePlan
from milsim.tables.playing import HandPlayer, Played
from tests.command_line import Shell
from tests.test_bid_table import made_up_rows

CARDS = "AKQ.T9.J.A"
RANK = combination_rank(CardSet.parse(CARDS).mask)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompactTable]:
    """A packed table of made-up numbers, said to be by greedy."""
    plan = TablePlan.make(policy="greedy")
    packed = CompactTable.of_rows(made_up_rows(plan), plan, manifest_of(plan))
    path = tmp_path_factory.mktemp("table") / "a.hands"
    path.write_bytes(packed.to_bytes())
    return path, packed


def of_table(cards: str, table: tuple[Path, CompactTable]) -> HandAnswer:
    return hand(cards, models=["greedy"], seconds=0, table=table[0])


# -- exact ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "halves", "share"),
    [  # ../shared/NUMBERS.md: the talon gives a new marriage, by marriages and halves held
        ("ATJ.ATJ.9.", 0, 0.08824),
        ("AKJ.ATJ.9.", 1, 0.23824),
        ("AKJ.AKJ.9.", 2, 0.36912),
        ("AKJ.AKJ.K.", 3, 0.48235),
        ("AKJ.AK.K.Q", 4, 0.57941),
        ("KQJ.ATJ.9.", 0, 0.06618),
        ("KQJ.AKJ.9.", 1, 0.21765),
        ("KQ.KA.QAJ.", 2, 0.35000),
        ("KQ.K.QAJ.K", 3, 0.46471),
        ("KQ.KQ.AJ9.", 0, 0.04412),
        ("KQ.KQ.KJ9.", 1, 0.19706),
        ("KQ.KQ.KJ.Q", 2, 0.33088),
    ],
)
def test_the_chance_of_a_new_marriage_in_the_talon(cards: str, halves: int, share: float) -> None:
    found = talon_chances(CardSet.parse(cards).mask)
    assert len(found.halves) == halves
    assert set(found.halves.values()) <= {Fraction(3, 17)}
    assert set(found.pairs.values()) <= {Fraction(3, 136)}
    assert round(float(found.any), 5) == share


# -- live ----------------------------------------------------------------------------------------


def test_live_play_goes_on_from_the_deals_of_the_table() -> None:
    """Repetition 0 is the table's; two and three times are the sums of single repetitions."""
    player = HandPlayer(load("mil"), "greedy", 1)
    ranks = np.array([RANK])
    parts = [player(ranks, first, 1) for first in range(3)]
    answer = hand(CARDS, models=["greedy"], per_talon=3, threads=2)
    histogram = sum(part.histogram[0] for part in parts)
    assert answer.model.deals == 2040
    for contract, chance in answer.model.makes.items():
        assert chance.value == int(histogram[contract:].sum()) / 2040
    once = hand(CARDS, models=["greedy"], per_talon=3, threads=1)
    assert once.to_dict() == answer.to_dict()
    n, total, _ = sum(part.passing[0] for part in parts).tolist()
    assert answer.passing.value == total / n


def test_talon_cards_add_up() -> None:
    """Three of 17 cards are in a talon: weighted by that, their gains are 0."""
    answer = hand(CARDS, models=["greedy"], per_talon=2)
    assert answer.gains is not None
    assert set(answer.gains) == set(cards_of((1 << 24) - 1 & ~answer.cards.mask))
    assert sum(gain.value or 0.0 for gain in answer.gains.values()) == pytest.approx(0, abs=1e-9)
    values = [gain.value or 0.0 for gain in answer.gains.values()]
    assert values == sorted(values, reverse=True)
    # The ace beside ten and nine, in a hand of high spades, beats a jack that is no good.
    hearts_ace = answer.gains[6 * 3 + 5]
    assert hearts_ace.low is not None
    assert hearts_ace.low > 0


def test_double_dummy_is_the_solver_on_the_same_deals() -> None:
    from milsim.dealing import deals_of_masks
    from milsim.solver import best_exchange_batch
    from milsim.tables.playing import deals_of_hand

    answer = hand(CARDS, models=["double-dummy", "greedy"], per_talon=1, deals=12)
    assert [each.model for each in answer.estimates] == ["double-dummy", "greedy"]
    order = talon_order(RANK, 1)[:12]
    masks, _ = deals_of_hand(RANK, order, np.zeros(12, np.int64), 1)
    points = best_exchange_batch(deals_of_masks(masks[0], masks[1], masks[2])).points
    assert answer.model.points.value == points.mean()
    assert answer.model.deals == 12


def test_a_policy_that_is_asked_decision_by_decision_plays_the_same_deals() -> None:
    """greedy as a user's policy would be: the driver gives what the kernel gives, deal by deal."""
    deals = ordered_deals(RANK, 1, 0, 680)
    driven = driven_points("greedy", load("mil"))(*deals)
    assert driven.tolist() == points_of_model("greedy", load("mil"))(*deals).tolist()
    played = HandPlayer(load("mil"), "greedy", 1)(np.array([RANK]), 0, 1).histogram[0]
    assert np.bincount(driven, minlength=len(played)).tolist() == played.tolist()


def test_corrected_is_double_dummy_moved_by_the_table_of_bias(tmp_path: Path) -> None:
    about = {"rules": digest(load("mil")), "mode": "declarer", "double_dummy": "exchange"}
    about |= {"model": "policy expert", "deals": 1000, "where": ""}
    keys = {"marriages": None, "aces": None, "guarded_tens": None, "n": 1000}
    knots = [{**keys, "dd": dd, "played": dd + 7} for dd in (50.0, 150.0)]
    path = tmp_path / "bias.json"
    path.write_text(json.dumps({"correction": {"about": about, "knots": knots}}))
    models = ["corrected", "double-dummy", "greedy"]
    answer = hand(CARDS, models=models, per_talon=1, deals=6, bias=path)
    corrected, solved, _ = answer.estimates
    assert corrected.points.value == pytest.approx((solved.points.value or 0) + 7)
    about["rules"] = "0" * 64
    path.write_text(json.dumps({"correction": {"about": about, "knots": knots}}))
    with pytest.raises(RunError, match="measured with rules 000000000000"):
        hand(CARDS, models=models, bias=path)


# -- from the table ------------------------------------------------------------------------------


def test_the_answer_is_what_the_table_has(table: tuple[Path, CompactTable]) -> None:
    answer, packed = of_table(CARDS, table), table[1]
    chances = packed.chances(np.array([RANK]))[:, 0]
    for contract, chance in zip(packed.contracts, chances.tolist(), strict=True):
        found = answer.model.makes[contract]
        assert found.value == pytest.approx(chance)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= chance <= found.high
        assert answer.model.scores[contract].value == pytest.approx(contract * (2 * chance - 1))
    assert answer.model.points.value == packed.means[RANK]
    means = packed.means
    below = (means < means[RANK]).sum() + (means == means[RANK]).sum() / 2
    assert answer.percentile == pytest.approx(below / N_HANDS)


def test_fewer_cards_are_averaged_over_all_hands_that_hold_them(
    table: tuple[Path, CompactTable],
) -> None:
    answer, packed = of_table("KQ...", table), table[1]
    held = CardSet.parse("KQ...").mask
    ranks = np.flatnonzero(hand_masks_table() & held == held)
    assert answer.hands == len(ranks) == 26_334  # C(22, 5)
    assert answer.model.points.value == pytest.approx(float(packed.means[ranks].mean()), abs=1e-4)
    assert answer.model.makes[100].value == pytest.approx(float(packed.chances(ranks)[0].mean()))
    assert answer.talon is None
    assert of_table("...", table).hands == N_HANDS
    assert "2 of 7 cards: the average of the 26,334 hands" in str(answer)


def test_a_table_must_be_of_the_rules(table: tuple[Path, CompactTable]) -> None:
    with pytest.raises(RunError, match="is of rules mil, not of gamerules"):
        hand(CARDS, rules="gamerules", models=["greedy"], seconds=0, table=table[0])


def test_a_table_must_be_by_who_is_asked(table: tuple[Path, CompactTable]) -> None:
    with pytest.raises(RunError, match="is by greedy, not by expert; ask with --model greedy"):
        hand(CARDS, seconds=0, table=table[0])


def interval(value: float | None, low: float | None, high: float | None) -> Interval:
    return Interval(value, low, high)


def test_a_bid_that_more_deals_may_change_is_said_to_be_close() -> None:
    """Where 0 lies within the interval of bidding minus passing, at the bid or at the next."""
    answer = hand(CARDS, models=["greedy"], per_talon=1)
    scores = {100: interval(60, 55, 65), 110: interval(50, 44, 56), 120: interval(10, 2, 18)}
    model = replace(answer.model, scores={**answer.model.scores, **scores})
    answer = replace(answer, estimates=(model,), bid_up_to=110, highest_allowed=160)

    def is_close(passing: Interval, bid: int | None = 110) -> bool:
        text = str(replace(answer, passing=passing, bid_up_to=bid))
        return "That is close: with more deals" in " ".join(text.split())

    assert not is_close(interval(30, 28, 32))
    assert is_close(interval(43, 39, 47))  # 7 ± 7.2
    assert is_close(interval(19, 12, 26))  # 120 is 9 ± 10.6 behind
    assert not is_close(interval(70, 66, 74), None)
    assert is_close(interval(65, 60, 70), None)
    assert is_close(interval(65, None, None), None)
    better = {100: interval(60, 55, 65), 110: interval(68, 66, 70)}
    answer = replace(answer, estimates=(replace(model, scores={**model.scores, **better}),))
    assert is_close(interval(70, 66, 74), None)  # beside the best that may be bid
    assert "and 68 ±2 by playing 110" in str(replace(answer, bid_up_to=None))
    # An interval that reaches further up than down.
    one = {100: interval(-100, -100, 60)}
    answer = replace(answer, estimates=(replace(model, scores={**model.scores, **one}),))
    assert is_close(interval(50, 45, 55), None)
    assert not is_close(interval(80, 75, 85), None)


def test_the_leading_model_is_not_said_to_be_ranked_by_another(
    table: tuple[Path, CompactTable],
) -> None:
    models = ["double-dummy", "greedy"]
    text = str(hand(CARDS, models=models, table=table[0], per_talon=1, deals=2))
    assert "By greedy the hand is stronger than" in " ".join(text.split())


def test_without_a_table_it_is_played_live_and_said_so() -> None:
    rules = with_fields(load("mil"), {"match.target": 1001})
    answer = hand(CARDS, rules=rules, models=["greedy"], seconds=0, per_talon=1)
    assert (answer.model.source, answer.percentile) == ("live", None)
    assert "no table of rules mil-changed by greedy comes" in " ".join(str(answer).split())
    with pytest.raises(DealError, match="2 of 7 cards, which are averaged from a table"):
        hand("KQ...", rules=rules, models=["greedy"])


# -- the bid -------------------------------------------------------------------------------------


def test_the_bid_is_the_highest_allowed_that_still_beats_passing() -> None:
    rules = load("mil")
    contracts = [Contract.of(value, rules) for value in range(100, 150, 10)]
    chances = {100: 0.9, 110: 0.8, 120: 0.7, 130: 0.6, 140: 0.2}
    estimate = of_chances("x", 680, 110.0, 1.0, chances, contracts)
    # Scores 80, 66, 48, 26, −84.
    passing = {47.9: 120, 25.9: 130, 79.9: 100, 80.1: None, -90.0: 140}
    for earns, bid in passing.items():
        assert _bid(estimate, Interval(earns, None, None), 400) == bid
    assert _bid(estimate, Interval(0.0, None, None), 120) == 120
    assert _bid(estimate, Interval(None, None, None), 400) is None
    assert estimate.best == 100


def test_scores_follow_the_rules() -> None:
    histogram = {90: 1, 130: 3}
    by_contract = of_histogram("x", histogram, [Contract.of(100, load("mil"))])
    assert by_contract.scores[100].value == 50
    actual = with_fields(load("mil"), {"scoring.success": "actual"})
    by_points = of_histogram("x", histogram, [Contract.of(100, actual)])
    assert by_points.scores[100].value == (3 * 130 - 100) / 4


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cards",
    ["AKQ.T9.J.AT", "AKQ.T9.J.AA", "AKQ.T9.J", "rubbish", "AS AS", "", "AKQ.T9.J.A.9", "X.X.X.X"],
)
def test_cards_that_are_no_hand_are_one_line_and_exit_3(cards: str, shell: Shell) -> None:
    outcome = shell("hand", cards, "--seconds", "0")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (3, "", 1)
    assert outcome.err.startswith("milsim: ")


@pytest.mark.parametrize(
    "options",
    [
        ("--seconds", "-1"),
        ("--seconds", "nan"),
        ("--seconds", "soon"),
        ("--model", "greedy,expert"),
        ("--model", "greedy,greedy"),
        ("--model", "corrected"),
        ("--bias", "x.json"),
        ("--per-talon", "0"),
        ("--deals", "0"),
    ],
)
def test_options_that_are_wrong_are_one_line_and_exit_2(
    options: tuple[str, ...], shell: Shell
) -> None:
    outcome = shell("hand", CARDS, *options)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)


def test_what_is_wrong_in_python() -> None:
    for wrong in (1 << 24, -1, 3.5):
        with pytest.raises(MilsimError):
            hand(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        hand(CARDS, models=[])
    with pytest.raises(UsageError):
        hand(CARDS, seconds="2")  # type: ignore[arg-type]


# -- interrupted ---------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{"seconds": 3600}, {"per_talon": 10**5, "deals": 10**6}])
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_answers_with_what_was_played(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, int], threads: int
) -> None:
    """The same as if just so many deals had been asked for."""
    real, calls = HandPlayer.__call__, iter(range(10**6))

    def play(self: HandPlayer, ranks: np.ndarray, first: int, count: int) -> Played:
        if next(calls) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return real(self, ranks, first, count)

    monkeypatch.setattr(HandPlayer, "__call__", play)
    answer = hand(CARDS, models=["greedy", "double-dummy"], threads=threads, **asked)  # type: ignore[arg-type]
    assert answer.interrupted
    fast, solved = answer.estimates
    assert 680 <= fast.deals < 680 * 10**4
    assert solved.deals == 32  # the fewest that are solved at once
    monkeypatch.undo()
    same = hand(
        CARDS, models=["greedy", "double-dummy"], per_talon=fast.deals // 680, deals=solved.deals
    )
    assert same == replace(answer, interrupted=False)


def test_ctrl_c_exits_with_130_and_the_answer(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = HandPlayer.__call__

    def play(self: HandPlayer, ranks: np.ndarray, first: int, count: int) -> Played:
        signal.raise_signal(signal.SIGINT) if first == 1 else None
        return real(self, ranks, first, count)

    monkeypatch.setattr(HandPlayer, "__call__", play)
    outcome = shell("hand", CARDS, "--model", "greedy", "--seconds", 3600, "--threads", 1)
    assert outcome.code == 130
    assert outcome.out.startswith(CardSet.parse(CARDS).pretty())
    assert outcome.err == "milsim: interrupted; what is shown counts the deals played until then\n"


# -- printed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cards", [CARDS, "KQ.KQ.KQ.A", "9.9.9.9AKQ", "A.KJ.AT9.9", "J9.J9.J9.J"])
def test_the_answer_fits_the_page(
    cards: str, table: tuple[Path, CompactTable], shell: Shell
) -> None:
    call = ("hand", cards, "--model", "greedy", "--table", table[0])
    for options in (("--seconds", 0), ("--per-talon", 20)):
        outcome = shell(*call, *options)
        assert outcome.code == 0
        lines = outcome.out.splitlines()
        assert len(lines) <= 32
        assert max(map(len, lines)) <= 80, max(lines, key=len)
        assert lines[0].startswith(CardSet.parse(cards).pretty())
        assert " ".join(lines).endswith(of_table(cards, table).provenance)
        assert not any(line != line.rstrip() for line in lines)
    data = json.loads(shell(*call, "--seconds", 0, "--json").out)
    assert data == of_table(cards, table).to_dict()
