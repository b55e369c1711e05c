"""Report ``hands``: exact numbers of hands, and values that are those of the table."""

from __future__ import annotations

import json
import random
from math import comb
from pathlib import Path

import numpy as np
import pytest

from milsim.cards import cards_of, parse_hand
from milsim.dealing import hand_masks_table
from milsim.dealing.tables import N_HANDS
from milsim.errors import UsageError
from milsim.reports.exact import hands_with
from milsim.reports.formats import to_text
from milsim.reports.hand_strength import EXTREMES, SHARES, hands_report
from milsim.reports.hands_known import PASS, right_bids
from milsim.reports.statistics import Z
from milsim.reports.table import Report
from milsim.rules import load
from tests.command_line import Shell
from tests.made_up_tables import DEALS, SPREAD, made_up_table

MIL = load("mil")


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
    return hands_report(table=file)


def hands_by_marriages_and_aces(marriages: int, aces: int) -> int:
    """Counted suit by suit: king and queen both, one or none; the aces; other cards."""
    total = 0
    for halves in range(5 - marriages):
        rest = 7 - 2 * marriages - halves - aces
        if rest >= 0:
            suits = comb(4, marriages) * comb(4 - marriages, halves) * 2**halves
            total += suits * comb(4, aces) * comb(12, rest)
    return total


def test_classes_are_counted_exactly(report: Report) -> None:
    *rows, total = report.frames()["class"].to_dicts()
    found = {(row["marriages"], row["aces"]): row["n"] for row in rows}
    wanted = {
        (marriages, aces): n
        for marriages in range(4)
        for aces in range(5)
        if (n := hands_by_marriages_and_aces(marriages, aces))
    }
    assert found == wanted
    assert sum(found.values()) == total["n"] == N_HANDS
    for marriages in range(4):
        here = sum(n for (held, _), n in found.items() if held == marriages)
        assert here == sum(hands_with(7, marriages, halves) for halves in range(5))
    # NUMBERS.md: 247,536 / 91,872 / 6,624 / 72 hands; no marriage and no ace .134503; a marriage
    # and at least one ace .195317.
    assert round(found[0, 0] / N_HANDS, 6) == 0.134503
    both = sum(n for (held, aces), n in found.items() if held and aces)
    assert round(both / N_HANDS, 6) == 0.195317


def test_means_and_chances_add_up(report: Report) -> None:
    table = made_up_table()
    *rows, total = report.frames()["class"].to_dicts()
    for name, value in (("points", table.means.mean(dtype=np.float64)), ("makes", None)):
        whole = sum(row["n"] * row[name] for row in rows) / N_HANDS
        assert total[name] == pytest.approx(whole)
        assert value is None or whole == pytest.approx(float(value))
        assert all(row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] for row in rows)
    bids = right_bids(table, MIL)
    assert total["bids"] == pytest.approx(float((bids.right[bids.passes] != PASS).mean()))
    assert total["points_high"] - total["points"] == pytest.approx(
        1.96 * SPREAD / (DEALS * N_HANDS) ** 0.5, rel=0.01
    )


def test_the_best_and_worst_are_the_best_and_worst(report: Report) -> None:
    table = made_up_table()
    rows = report.frames()["named"].to_dicts()
    means = np.sort(table.means)
    worst = [row["points"] for row in rows if row["kind"] == "worst"]
    best = [row["points"] for row in rows if row["kind"] == "best"]
    assert worst == means[:EXTREMES].tolist()
    assert best == means[-EXTREMES:].tolist()
    quantiles = [row for row in rows if row["kind"] == "quantile"]
    for row, share in zip(quantiles, SHARES, strict=True):
        below = (table.means < row["points"]).mean()
        assert below < share <= (table.means <= row["points"]).mean()
    assert quantiles[4]["place"] == "median"
    hands = hand_masks_table()
    for row in rows:
        assert int(hands[row["rank"]]) == parse_hand(row["hand"])
        assert table.means[row["rank"]] == row["points"]
        chance = float(table.chances(np.array([row["rank"]]))[0, 0])
        assert row["makes"] == pytest.approx(chance)
        scores = [
            contract * (2 * float(table.chances(np.array([row["rank"]]))[place, 0]) - 1)
            for place, contract in enumerate(table.contracts)
        ]
        assert row["best"] == table.contracts[int(np.argmax(scores))]


def test_no_hand_is_misjudged_more(report: Report) -> None:
    """By a slow count of many hands: 25 an ace, 15 a guarded ten, and the marriages."""
    table = made_up_table()
    some = np.arange(0, N_HANDS, 47)
    told = np.array([slow_count(int(mask)) for mask in hand_masks_table()[some]])
    rows = report.frames()["misjudged"].to_dicts()
    over = [row for row in rows if row["kind"] == "overrated"]
    under = [row for row in rows if row["kind"] == "underrated"]
    assert len(over) == len(under) == EXTREMES
    assert [row["off"] for row in over] == sorted((row["off"] for row in over), reverse=True)
    assert [row["off"] for row in under] == sorted(row["off"] for row in under)
    # The line that turns counts into points, from two of the rows.
    first = over[0]
    second = next(row for row in rows if row["told"] != first["told"])
    slope = (first["folklore"] - second["folklore"]) / (first["told"] - second["told"])
    off = first["folklore"] + slope * (told - first["told"]) - table.means[some]
    assert off.max() <= over[0]["off"]
    assert off.min() >= under[0]["off"]
    # It is the best line: no trend is left.
    assert abs(float(off.mean())) < 1
    assert abs(float(np.corrcoef(off, told)[0, 1])) < 0.03
    for row in rows:
        assert row["told"] == slow_count(parse_hand(row["hand"]))
        assert row["off"] == pytest.approx(row["folklore"] - row["points"])


def slow_count(mask: int) -> int:
    """25 an ace, 15 a guarded ten, 40 to 100 a marriage; card by card."""
    held = [divmod(card, 6) for card in cards_of(mask)]
    total = 0
    for suit, rank in held:
        if rank == 5:
            total += 25
        if rank == 4 and sum(other == suit for other, _ in held) > 1:
            total += 15
        if rank == 3 and (suit, 2) in held:
            total += (40, 60, 80, 100)[suit]
    return total


def test_the_opening_table_adds_up(report: Report) -> None:
    *rows, total = report.frames()["opening"].to_dicts()
    assert [row["says"] for row in rows] == ["pass", "100", "110", "120"]
    assert sum(row["n"] for row in rows) == total["n"] == N_HANDS
    # No marriage and at most one ace.
    classes = {
        (row["marriages"], row["aces"]): row["n"] for row in report.frames()["class"].to_dicts()
    }
    assert rows[0]["n"] == classes[0, 0] + classes[0, 1]
    for row in (*rows, total):
        assert row["right"] + row["high"] + row["low"] == pytest.approx(1)


def test_the_report_is_printed(shell: Shell, file: Path, report: Report) -> None:
    assert max(map(len, to_text(report, width=80).splitlines())) <= 80
    data = json.loads(shell("report", "hands", "--table", str(file), "--json").out)
    assert set(data["tables"]) == {"named", "class", "misjudged", "opening"}
    assert data["tables"]["class"][-1]["n"] == N_HANDS
    assert "policy expert" in data["provenance"]


# -- by another model ----------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["double-dummy", "pimc"])
@pytest.mark.parametrize("rules", ["mil", "gamerules"])
def test_a_corrected_table_is_what_milsim_hand_says(rules: str, model: str) -> None:
    """For random hands, as by the same model and the shipped table: points and chances."""
    import milsim
    from milsim.reports.hands_known import table_of

    table = table_of(rules, model=model)
    assert table.policy == model
    draw = random.Random(f"{rules}/{model}")
    for rank in draw.sample(range(len(table.means)), 6):
        cards = int(hand_masks_table()[rank])
        answer = milsim.hand(cards, rules=rules, models=[model], seconds=0).model
        mean, error = table.mean_of(np.array([rank]))
        assert answer.points.value is not None
        assert mean == pytest.approx(answer.points.value, abs=1e-4)
        assert answer.points.high == pytest.approx(mean + Z * error, abs=1e-3)
        chances = table.chances(np.array([rank]))[:, 0].tolist()
        for contract, chance in zip(table.contracts, chances, strict=True):
            said = answer.makes[contract].value
            assert said is not None
            assert abs(chance - said) <= 0.0079  # a table keeps whole levels


def test_reports_by_a_model() -> None:
    own, other = hands_report(), hands_report(model="pimc")
    assert other.model == "pimc by the table of expert, corrected"
    assert "pimc" in other.provenance
    assert any("passing earns is that of expert" in note for note in other.notes)
    mine, theirs = (each.frames()["class"] for each in (own, other))
    assert mine["n"].to_list() == theirs["n"].to_list()
    assert hands_report(model="expert").frames()["class"].equals(mine)
    wider = theirs["points_high"] - theirs["points_low"] > mine["points_high"] - mine["points_low"]
    assert wider.all()
    with pytest.raises(UsageError, match=r"'oracle': not known of all hands; one of: expert, "):
        hands_report(model="oracle")
