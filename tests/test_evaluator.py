"""The point count for people: what it counts, how it is fitted, and the errors it states."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from milsim.answers.hand import hand
from milsim.cards import format_hand, parse_hand
from milsim.dealing import hand_masks_table
from milsim.dealing.tables import N_HANDS
from milsim.errors import RunError
from milsim.reports.evaluator import EXAMPLES, evaluator_report, hand_evaluator
from milsim.reports.evaluator_bidding import ACE_OFF, bidding_cuts, bids_by_count
from milsim.reports.evaluator_errors import normal_numbers
from milsim.reports.evaluator_features import LINES, N_WEIGHTS, features, places
from milsim.reports.evaluator_fit import (
    UNIT,
    Fit,
    bids_by,
    cuts,
    fitted_half,
    whole_weights,
    words_of,
)
from milsim.reports.evaluator_folklore import COUNTS, aces_and_tens, opening_bids
from milsim.reports.formats import render, to_text
from milsim.reports.hands_known import PASS, caps_of, right_bids
from milsim.reports.table import Report
from milsim.rng import mix, signed_word
from milsim.rules import load
from milsim.tables.compact import CompactTable, shipped_table
from tests.command_line import Shell
from tests.made_up_tables import NOISE, WEIGHTS, made_up_table

Numbers = NDArray[np.float64]
MIL = load("mil")
PAY = {"S": 40, "C": 60, "D": 80, "H": 100}


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "made_up.hands"
    path.write_bytes(made_up_table().to_bytes(effort=1))
    return path


@pytest.fixture(scope="module")
def report(file: Path) -> Report:
    return evaluator_report(table=file)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return Fit(made_up_table(), MIL)


def random_hands(n: int, seed: int) -> list[str]:
    """Hands as texts, many of them with marriages and long suits."""
    draw = random.Random(seed)
    masks = hand_masks_table()
    found = [format_hand(int(masks[draw.randrange(N_HANDS)])) for _ in range(n)]
    return [*found, "AKQT.KQ.K.", "ATKQJ9...A", ".AKQ.KQ.KQ", "9.9.9.ATJ9", *EXAMPLES]


def suits_of(text: str) -> dict[str, str]:
    return dict(zip("SHDC", text.split("."), strict=True))


def counted_slowly(text: str) -> dict[str, int | Counter[str]]:
    """What each line of the card counts, by reading the hand as a person does."""
    suits = suits_of(text)
    aces = sum("A" in cards for cards in suits.values())
    found: dict[str, int | Counter[str]] = {
        "start": 1,
        "first_ace": 1 if aces else 0,
        "more_aces": aces - 1 if aces > 1 else 0,
        "tens": sum("T" in cards for cards in suits.values()),
        "ace_ten": sum("A" in cards and "T" in cards for cards in suits.values()),
    }
    length = beside = 0
    half: Counter[str] = Counter()
    bare: Counter[str] = Counter()
    full: Counter[str] = Counter()
    for suit, cards in suits.items():
        if "A" in cards and len(cards) > 2:
            length += len(cards) - 2
        if "K" in cards and "Q" in cards:
            (full if aces else bare)[suit] += 1
            beside += len(cards.replace("K", "").replace("Q", ""))
        elif "K" in cards or "Q" in cards:
            half[suit] += 1
    return found | {
        "length": length + beside,
        "half": half,
        "marriage_bare": bare,
        "marriage": full,
        "more_marriages": max(len(bare) + len(full) - 1, 0),
    }


def test_features_are_what_a_person_counts() -> None:
    texts = random_hands(400, 11)
    rows = features(np.array([parse_hand(text) for text in texts], np.int64))
    assert rows.shape == (len(texts), N_WEIGHTS)
    seen = np.zeros(N_WEIGHTS, np.int64)
    for text, row in zip(texts, rows, strict=True):
        slow = counted_slowly(text)
        for line in LINES:
            wanted = slow[line.name]
            values = [wanted[suit] for suit in "SCDH"] if isinstance(wanted, Counter) else [wanted]
            assert row[places()[line.name]].tolist() == values, (text, line.name)
        seen += row != 0
    assert (seen > 0).all()  # every line was put to the test


def test_how_many_hands_have_each_line_is_exact() -> None:
    """Counts by combinatorics, not by the tables of the package."""
    rows = features(hand_masks_table().astype(np.int64))
    where = places()
    # Some ace: all hands but C(20, 7). A marriage: 98,568 hands (tests of NUMBERS.md: 1369/4807).
    assert int(rows[:, where["first_ace"]].sum()) == 346_104 - 77_520
    married = rows[:, where["marriage"]] + rows[:, where["marriage_bare"]]
    assert int(married.any(axis=1).sum()) == 346_104 - 247_536
    assert married.sum(axis=0).tolist() == [26_334] * 4  # 7/92 of all hands
    assert np.bincount(married.sum(axis=1)).tolist() == [247_536, 91_872, 6_624, 72]
    # Marriage and at least one ace: .195317; an ace with its ten: C(22, 5) hands a suit.
    assert round(float((rows[:, where["marriage"]].any(axis=1)).mean()), 6) == 0.195317
    assert int(rows[:, where["ace_ten"]].sum()) == 4 * 26_334
    assert rows[:, where["half"]].mean(axis=0).round(6).tolist() == [0.431159] * 4


def test_the_split_is_counter_based() -> None:
    words = words_of(np.arange(50), 7)
    golden = 0x9E3779B97F4A7C15
    for index, word in enumerate(words.tolist()):
        counter = ((7 << 32) + index + 1) * golden % 2**64
        assert word == mix(signed_word(counter)) % 2**64
    half = fitted_half(N_HANDS)
    assert abs(int(half.sum()) - N_HANDS / 2) < 4 * (N_HANDS / 4) ** 0.5
    assert fitted_half(1000).tolist() == half[:1000].tolist()
    first, second = normal_numbers(N_HANDS, 2)
    for numbers in (first, second):
        assert abs(numbers.mean()) < 5 / N_HANDS**0.5
        assert abs(numbers.var() - 1) < 5 * (2 / N_HANDS) ** 0.5
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / N_HANDS**0.5


def loss(x: Numbers, y: Numbers, weights: NDArray[Any]) -> float:
    return float(((x @ weights - y) ** 2).sum())


def test_whole_weights_beat_rounding_and_every_single_step() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        x = draw.standard_normal((40, 5)) @ draw.standard_normal((5, 5))
        y = x @ draw.uniform(-4, 4, 5)
        gram, target = x.T @ x, x.T @ y
        fitted = np.linalg.solve(gram, target).astype(np.float64)

        whole = whole_weights(gram, target, fitted)
        assert loss(x, y, whole) <= loss(x, y, np.rint(fitted)) + 1e-9
        for place in range(5):
            for step in (-1, 1):
                other = whole.copy()
                other[place] += step
                assert loss(x, y, other) >= loss(x, y, whole) - 1e-6


def test_cuts_make_the_fewest_errors() -> None:
    draw = np.random.default_rng(4)
    contracts = (100, 110, 120, 130)
    for _ in range(10):
        counts = draw.integers(-3, 12, 300)
        wanted = (100 + 10 * ((counts + draw.integers(-3, 4, 300)) // 3 - 1)).clip(90, 130)
        wanted[wanted < 100] = PASS
        found = cuts(counts, wanted, contracts)
        for contract, cut in found.items():
            errors = [int(((counts >= at) != (wanted >= contract)).sum()) for at in range(-4, 14)]
            assert int(((counts >= cut) != (wanted >= contract)).sum()) == min(errors)
        assert sorted(found.values()) == list(found.values())
        bids = bids_by(counts, found)
        for count, bid in zip(counts.tolist(), bids.tolist(), strict=True):
            assert bid == max((each for each, cut in found.items() if count >= cut), default=PASS)


def test_known_weights_are_found_again(fit: Fit) -> None:
    assert fit.evaluator.weights.tolist() == list(WEIGHTS)
    # Sampling error of the weights: far below one of the count.
    assert np.abs(fit.evaluator.fitted - np.array(WEIGHTS)).max() < 0.1


def test_stated_errors_are_those_of_all_hands(fit: Fit, report: Report) -> None:
    """Recomputed from the card alone: slowly for some hands, then directly for all."""
    frames = report.frames()
    card = {row["line"]: row for row in frames["card"].to_dicts()}
    texts = {line.name: line.text for line in LINES}
    hands = hand_masks_table().astype(np.int64)
    some = np.arange(0, N_HANDS, 997)
    for rank in some.tolist():
        total = 0
        for name, amount in counted_slowly(format_hand(int(hands[rank]))).items():
            row = card[texts[name]]
            if isinstance(amount, Counter):
                suits = {"S": "spades", "C": "clubs", "D": "diamonds", "H": "hearts"}
                total += sum(row[suits[suit]] * n for suit, n in amount.items())
            else:
                total += row["each"] * amount
        assert total == fit.counts[rank]
    errors = {row["count"]: row for row in frames["errors"].to_dicts()}
    mine = errors["this card"]
    off = made_up_table().means - UNIT * fit.evaluator.counts(hands)
    assert mine["rms_all"] == pytest.approx(float(np.sqrt(np.mean(np.square(off)))))
    assert mine["rms_all"] == pytest.approx(NOISE, rel=0.02)
    n, fitted = N_HANDS, int(fit.half.sum())
    whole = (fitted * mine["rms_fitted"] ** 2 + (n - fitted) * mine["rms"] ** 2) / n
    assert whole == pytest.approx(mine["rms_all"] ** 2)
    assert errors["the same before rounding"]["rms_fitted"] <= mine["rms_fitted"]
    others = [row["rms"] for row in errors.values() if row["source"] == "folklore" and row["rms"]]
    assert min(others) > mine["rms"]
    assert errors["a perfect count, by sampling"]["rms"] == pytest.approx(45 / 680**0.5)
    assert errors["nothing: all hands alike"]["r2"] == pytest.approx(0, abs=1e-3)
    assert errors["the opening table"]["rms"] is None
    for row in errors.values():
        assert row["high"] + row["low"] + row["right"] == pytest.approx(1)
        assert row["right"] <= row["within"] <= 1
    bids = fit.evaluator.bid(hands)
    assert mine["right"] == pytest.approx(float((bids == fit.even.right)[~fit.half].mean()))


def test_bids_add_up(fit: Fit, report: Report) -> None:
    frame = report.frames()["bids"]
    *rows, total = frame.to_dicts()
    assert sum(row["n"] for row in rows) == total["n"] == N_HANDS
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert sum(row["n"] * row["points"] for row in rows if row["n"]) == pytest.approx(
        float(fit.points.sum())
    )
    starts = [row["count_from"] for row in rows[1:]]
    assert starts == sorted(set(starts))
    assert rows[0]["bid"] == "none"


def test_bids_by_the_count_less_aces_are_counted_and_judged(fit: Fit, report: Report) -> None:
    *rows, total = report.frames()["bidding"].to_dicts()
    assert sum(row["n"] for row in rows) == total["n"] == N_HANDS
    assert rows[0]["bid"] == "pass"
    first = {int(row["bid"]): row["count_from"] for row in rows[1:] if row["count_from"]}
    assert list(first.values()) == sorted(set(first.values()))
    # One hand after the other, plainly.
    draw = random.Random(3)
    bids, cuts_found = bids_by_count(fit), bidding_cuts(fit)
    for rank in [draw.randrange(N_HANDS) for _ in range(200)]:
        mask = int(fit.hands[rank])
        aces = sum(mask >> card & 1 for card in (5, 11, 17, 23))
        count = int(fit.counts[rank]) - ACE_OFF * aces
        highest = max((c for c, cut in cuts_found.items() if count >= cut), default=PASS)
        assert bids[rank] == min(highest, fit.caps[rank])
    known = fit.bids.passes
    agrees = (bids == PASS) == (fit.bids.right == PASS)
    assert total["agrees"] == pytest.approx(agrees[known].mean())
    assert total["right"] == pytest.approx((bids == fit.bids.right)[known].mean())
    assert f"less {ACE_OFF} for each ace" in to_text(report)


def test_taking_off_for_aces_tells_bid_from_pass_better() -> None:
    """On the tables that come with milsim, as analysis/bidding says of whole deals."""
    for rules, figures in (("mil", (0.919, 0.945)), ("gamerules", (0.908, 0.932))):
        chosen = load(rules)
        table = shipped_table(chosen)
        assert table is not None
        fit = Fit(table, chosen)
        known, passes = fit.bids.passes, fit.bids.right == PASS
        found = [
            ((bids_by_count(fit, off) == PASS) == passes)[known].mean() for off in (0, ACE_OFF)
        ]
        assert found == pytest.approx(figures, abs=0.0006)
        assert bidding_cuts(fit)[100] == 17


@pytest.mark.parametrize("rules", ["mil", "gamerules"])
def test_the_right_bid_is_what_milsim_hand_says(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made_up_table(rules=rules)
    monkeypatch.setattr("milsim.answers.hand.read_compact", lambda _: table)
    chosen = load(rules)
    bids = right_bids(table, chosen)
    hands = hand_masks_table()
    draw = random.Random(8)
    strong = np.flatnonzero(bids.free > 150).tolist()
    for rank in [draw.randrange(N_HANDS) for _ in range(8)] + draw.sample(strong, 8) + [7]:
        answer = hand(int(hands[rank]), rules=chosen, models=["expert"], seconds=0, table="made up")
        assert (answer.bid_up_to or PASS) == (bids.right[rank] if bids.passes[rank] else PASS)
        assert answer.model.best == bids.best[rank]
        assert answer.highest_allowed == caps_of(hands[rank : rank + 1].astype(np.int64), chosen)[0]


def test_folklore_is_counted_as_it_is_told() -> None:
    pay = MIL.deal.marriage_values.by_suit()
    texts = random_hands(300, 12)
    masks = np.array([parse_hand(text) for text in texts], np.int64)
    card_values = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0}
    told, openings = aces_and_tens(masks, pay), opening_bids(masks)
    plain, married = (each.count(masks, pay) for each in COUNTS[:2])
    for place, text in enumerate(texts):
        suits = suits_of(text)
        aces = text.count("A")
        guarded = sum("T" in cards and len(cards) > 1 for cards in suits.values())
        held = [suit for suit, cards in suits.items() if "K" in cards and "Q" in cards]
        worth = sum(PAY[suit] for suit in held)
        assert told[place] == 25 * aces + 15 * guarded + worth
        points = sum(card_values[sign] for sign in text if sign != ".")
        assert (plain[place], married[place]) == (points, points + worth)
        if len(held) > 1 or (held == ["H"] and aces):
            assert openings[place] == 120
        elif held == ["D"] and aces:
            assert openings[place] == 110
        else:
            assert openings[place] == (100 if held or aces > 1 else PASS)


def test_the_command_prints_the_card(shell: Shell, file: Path, report: Report) -> None:
    result = shell("report", "evaluator", "--table", str(file))
    assert result.code == 0
    assert "a marriage, if you hold an ace" in result.out
    assert "policy expert" in result.out
    assert "How to read" in result.out
    target = file.with_suffix(".json")
    asked = ("--table", str(file), "--json", "--out", str(target))
    assert shell("report", "evaluator", *asked).code == 0
    data = json.loads(target.read_text("utf-8"))
    assert set(data["tables"]) == {"card", "bids", "bidding", "examples", "errors"}
    assert [row["each"] for row in data["tables"]["card"][:6]] == list(WEIGHTS[:6])
    first = data["tables"]["examples"]
    totals = {row["line"]: row["first"] for row in first}
    parts = [row["first"] or 0 for row in first[: list(totals).index("the count")]]
    assert sum(parts) == totals["the count"]
    for other in ("csv", "parquet"):
        assert len(render(report, other)) > 500


def test_bad_requests_are_one_line(shell: Shell, file: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.hands"
    odd.write_bytes(b"{}\n")
    cases = (
        (("evaluator", "run"), 2, "takes --rules"),
        (("hands", "--deals", "5"), 2, "--deals: is for advice, not for hands"),
        (("bidding", "--table", str(file)), 2, "--table: is for evaluator and hands"),
        (("advice", "--table", str(file)), 2, "--table: is for evaluator and hands"),
        (("evaluator", "--rules", "gamerules", "--table", str(file)), 3, "is of rules mil"),
        (("evaluator", "--table", str(odd)), 3, "is no packed table"),
        (("hands", "--table", str(tmp_path / "none")), 3, "cannot read"),
        (("hands", "--set", "auction.cap_points=130"), 3, "no table of them"),
        (("evaluater",), 2, "did you mean evaluator"),
    )
    for asked, code, words in cases:
        result = shell("report", *asked)
        assert result.code == code, asked
        assert words in result.err
        assert result.err.count("\n") == 1 or "Usage" in result.err
    with pytest.raises(RunError, match="no table of them"):
        hand_evaluator("russian")


def test_the_shipped_table_gives_a_card_that_fits(shell: Shell) -> None:
    """Of the real table, as far as it is there: better than folklore, and near to unrounded."""
    table: CompactTable | None = shipped_table(MIL)
    if table is None:
        pytest.skip("no table of mil is shipped")
    report = evaluator_report()
    errors = {row["count"]: row for row in report.frames()["errors"].to_dicts()}
    mine = errors["this card"]
    assert mine["rms"] < 6
    assert mine["r2"] > 0.97
    assert mine["rms"] < errors["the same before rounding"]["rms"] + 1
    assert abs(mine["rms"] - mine["rms_fitted"]) < 0.1
    for name, row in errors.items():
        if row["source"] == "folklore":
            assert mine["right"] > row["right"], name
            assert mine["passed"] > row["passed"], name
            assert row["rms"] is None or row["rms"] > 2 * mine["rms"], name
    # The README shows the card as it is printed.
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    lines = to_text(report, width=80).splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(LINES[0].text))
    assert "\n".join(lines[first : first + len(LINES)]) in readme
    weights = hand_evaluator().weights
    assert np.abs(weights).max() <= 20
    assert len(report.frames()["card"]) <= 10
