"""Report ``contracts`` against the same counts made slowly, deal by deal, with the reference."""

import statistics
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

import milsim
from milsim import reports
from milsim.cards import ACE, RANK_MASKS, TEN, cards_of, marriages_of
from milsim.deals import SEAT_NAMES
from milsim.errors import UsageError
from milsim.reference.auction import highest_bid
from milsim.reference.scoring import deal_scores, is_made
from milsim.reports.contract import Contract, safe_cap
from milsim.reports.contract_counts import FEWEST, ContractCounts
from milsim.reports.contract_frames import TABLES, _hindsight, break_even
from milsim.reports.formats import to_text
from milsim.reports.statistics import wilson
from milsim.rules import Rules, load
from milsim.store.run import Run
from tests.fuller_runs import cap_after_talon, fuller_run
from tests.made_up_runs import Row, made_up_run, with_scoring

DEALS = 1200


def with_talon(rules: Rules, **fields: object) -> Rules:
    return replace(rules, talon=replace(rules.talon, **fields))  # type: ignore[arg-type]


CASES = {
    "mil, declarer": ("declarer", load("mil")),
    "mil, auction": ("auction", load("mil")),
    "steps of five": ("auction", load("gamerules")),
    "dark, conceded": ("auction", load("russian")),
    "points taken": ("declarer", with_scoring(load("mil"), success="actual")),
    "rounded": (
        "auction",
        with_scoring(load("mil"), made_test="rounded", defender_rounding="down_10"),
    ),
    "no raise": ("auction", with_talon(load("mil"), raise_contract=False)),
    "cap by ten": ("auction", with_talon(load("mil"), cap_basis="hand10")),
}


@pytest.fixture(scope="module", params=sorted(CASES))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, list[Row]]:
    mode, rules = CASES[request.param]
    return fuller_run(tmp_path_factory.mktemp("run"), DEALS, mode=mode, rules=rules)


def played(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row["conceded"]]


def score(points: int, contract: int, rules: Rules) -> int:
    return deal_scores((points, 0, 0), 0, contract, rules)[0]


def class_of(hand: int) -> tuple[int, int, int]:
    tens = [card for card in cards_of(hand) if card % 6 == TEN]
    guarded = sum(1 for card in tens if (hand >> card // 6 * 6 & 0b111111).bit_count() > 1)
    return len(marriages_of(hand)), (hand & RANK_MASKS[ACE]).bit_count(), guarded


def test_each_contract_is_scored_as_if_all_played_it(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    some, rules = played(rows), run.rules
    points = [row["declarer_points"] for row in some]
    *found, total = reports.contracts(run).to_dicts()
    grid = [row["contract"] for row in found]
    how = rules.auction
    assert grid == list(range(how.minimum, grid[-1] + 1, how.step))
    for row in found:
        contract = row["contract"]
        made_it = [value for value in points if is_made(value, contract, rules)]
        interval = wilson(len(made_it), len(some))
        assert (row["p"], row["p_low"], row["p_high"]) == (
            interval.value,
            interval.low,
            interval.high,
        )
        scores = [score(value, contract, rules) for value in points]
        assert row["score"] == pytest.approx(statistics.fmean(scores))
        assert row["n"] == total["n"] == len(some)
        allowed = sum(highest_bid(cards_of(d["hand"]), rules) >= contract for d in some)
        assert row["allowed"] == allowed / len(some)
        if rules.scoring.success == "contract":
            assert row["break_even"] == 0.5
        elif made_it:
            won = statistics.fmean(score(value, contract, rules) for value in made_it)
            even = row["break_even"]
            assert even * won - (1 - even) * contract == pytest.approx(0, abs=1e-9)
    named = max(row["contract"] for row in some)
    assert grid[-1] >= named
    often = [c for c in range(how.minimum, max(points) + 1, how.step)
             if sum(is_made(p, c, rules) for p in points) * 1000 >= len(some)]  # fmt: skip
    assert grid[-1] == max(often[-1], named)


def test_the_best_contract_is_that_of_the_class(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    rules, how = run.rules, run.rules.auction
    classes: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in played(rows):
        classes[class_of(row["hand"])].append(row["declarer_points"])
    pooled: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for key, points in classes.items():
        pooled[key if len(points) >= FEWEST else key[:1]] += points
    assert any(len(key) == 1 for key in pooled)
    assert any(len(key) == 3 for key in pooled)
    best: defaultdict[int, int] = defaultdict(int)
    scores, made_it = 0, 0
    for key, points in pooled.items():
        last = max(how.minimum, safe_cap(rules, key[0]))
        options = {
            c: sum(score(value, c, rules) for value in points)
            for c in range(how.minimum, last + 1, how.step)
        }
        choice = max(options, key=lambda c: (options[c], -c))
        best[choice] += len(points)
        scores += options[choice]
        made_it += sum(is_made(value, choice, rules) for value in points)
    *found, total = reports.contracts(run).to_dicts()
    assert {row["contract"]: row["best_n"] for row in found if row["best_n"]} == dict(best)
    assert sum(row["best_n"] for row in found) == total["best_n"] == total["n"]
    assert sum(row["best"] for row in found) == pytest.approx(total["best"])
    assert total["score"] == pytest.approx(scores / total["n"])
    assert total["p"] == made_it / total["n"]
    assert total["score"] >= max(row["score"] for row in found if row["contract"] == how.minimum)


def test_what_was_named_is_counted_and_compared_afterwards(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    rules, some = run.rules, played(rows)
    step = rules.auction.step
    for row in some:
        last = cap_after_talon(row, rules) if rules.talon.raise_contract else row["bid"]
        times = 2 if row["dark"] else 1
        options = {
            c: times * score(row["declarer_points"], c, rules)
            for c in range(row["bid"], last + 1, step)
        }
        assert row["contract"] in options
        top = max(options.values())
        row["regret"] = top - options[row["contract"]]
        row["best"] = row["contract"] if row["regret"] == 0 else min(
            c for c, value in options.items() if value == top
        )  # fmt: skip
    *found, total = reports.contracts(run, "named").to_dicts()
    values = [row["contract"] for row in found]
    assert values == sorted({row[name] for row in some for name in ("bid", "contract", "best")})
    for row in [*found, total]:
        here = [deal for deal in some if row["contract"] in (None, deal["contract"])]
        assert row["n"] == len(here)
        assert row["share"] == len(here) / len(some)
        for name, other in (("bid_n", "bid"), ("best_n", "best")):
            assert row[name] == sum(row["contract"] in (None, deal[other]) for deal in some)
        if not here:
            assert row["made"] is row["regret"] is row["score"] is None
            continue
        assert row["made"] == sum(deal["made"] for deal in here) / len(here)
        means = {
            "points": [deal["declarer_points"] for deal in here],
            "score": [deal[f"score_{SEAT_NAMES[deal['declarer']]}"] for deal in here],
            "regret": [deal["regret"] for deal in here],
        }
        for name, each in means.items():
            assert row[name] == pytest.approx(statistics.fmean(each))
        assert row["too_high"] == sum(d["contract"] > d["best"] for d in here) / len(here)
        assert row["too_low"] == sum(d["contract"] < d["best"] for d in here) / len(here)
    for name in ("n", "bid_n", "best_n"):
        assert sum(row[name] for row in found) == total[name] == len(some)
    assert sum(row["share"] for row in found) == pytest.approx(total["share"])
    if not rules.talon.raise_contract:
        assert total["regret"] == total["regret_high"] == 0


def test_the_policy_never_names_what_it_may_not(tmp_path: Path) -> None:
    """Played deals: no regret below 0, and none without a raise."""
    for rules in (load("mil"), load("gamerules"), with_talon(load("mil"), raise_contract=False)):
        run = milsim.simulate(3000, rules=rules, seed=3, threads=1)
        counts = ContractCounts.of(run)
        best, regret = _hindsight(counts)
        assert regret.min() == 0
        assert (best >= counts.named["bid"].to_numpy()).all()
        assert (regret.max() > 0) == rules.talon.raise_contract


# -- exact ---------------------------------------------------------------------------------------


def test_hands_that_may_bid_are_those_of_the_numbers(tmp_path: Path) -> None:
    """NUMBERS.md: the value of the marriages in 7 cards; `mil` allows 120 and that value."""
    value = {0: 0.71521, 40: 0.06636, 60: 0.06636, 80: 0.06636, 100: 0.06955, 120: 0.00319,
             140: 0.00638, 160: 0.00319, 180: 0.00324}  # fmt: skip
    run, _ = made_up_run(tmp_path, 3000)
    frame = reports.contracts(run).drop_nulls("contract")
    assert frame["contract"].max() >= 240  # type: ignore[operator]
    for row in frame.to_dicts():
        expected = 1 - sum(p for worth, p in value.items() if 120 + worth < row["contract"])
        assert row["allowed_exact"] == pytest.approx(expected, abs=5e-5)
        if 120 < row["contract"] <= 160:
            assert row["allowed_exact"] == pytest.approx(0.284793, abs=5e-7)
        assert abs(row["allowed"] - row["allowed_exact"]) < 0.04
    auction, _ = made_up_run(tmp_path / "auction", 300, mode="auction")
    assert set(reports.contracts(auction)["allowed_exact"]) == {None}


def test_break_even_where_points_are_paid() -> None:
    rules = with_scoring(load("mil"), success="actual")
    contract = Contract.of(100, rules)
    assert break_even(contract, {150: 1, 90: 5}) == pytest.approx(100 / 250)
    assert break_even(contract, {90: 5}) == pytest.approx(0.5)  # nobody made it: as if by a hair


# -- models and edges ------------------------------------------------------------------------------


def test_double_dummy_has_other_points_and_no_scores(tmp_path: Path) -> None:
    run = milsim.simulate(80, dd="gifts", mode="declarer", out=tmp_path / "run", threads=1)
    solved = run.as_model("double-dummy")
    points = run.frame().collect()["dd_points"].to_list()
    frame = reports.contracts(solved)
    for row in frame.drop_nulls("contract").to_dicts():
        assert row["p"] == sum(value >= row["contract"] for value in points) / 80
    named = reports.contracts(solved, "named")
    assert named["score"].null_count() == named.height
    assert named["points"][-1] == pytest.approx(statistics.fmean(points))
    assert named["regret"][-1] >= 0
    assert named["n"][-1] == named["bid_n"][-1] == 80
    assert "score, below" not in str(reports.contracts_report(solved))


def test_a_deal_at_a_time_and_narrow_pages(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path, 1)
    named = reports.contracts(run, "named")
    assert named["n"].sum() == 2
    text = to_text(reports.contracts_report(run), width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert "left out for want of width" in text


def test_frames_do_not_depend_on_the_parts(tmp_path: Path) -> None:
    one, _ = made_up_run(tmp_path / "one", 900, part_rows=900)
    many, _ = made_up_run(tmp_path / "many", 900, part_rows=100)
    for table in TABLES:
        assert reports.contracts(one, table).equals(reports.contracts(many, table))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="table 'name': unknown; did you mean named"):
        reports.contracts(one, "name")  # type: ignore[arg-type]


def test_the_module_of_the_class_does_not_hide_the_report() -> None:
    import milsim.reports.contract

    assert callable(milsim.report.contracts)
    assert callable(milsim.reports.contracts)
