"""Report ``seats`` counted once more, slowly, deal by deal; exact chances; four players."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import milsim
from milsim import reports
from milsim.cards import ACE, SUIT_NAMES, cards_of, marriages_of, points_of_mask
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import UsageError
from milsim.reports import seat_exact
from milsim.reports.formats import to_text
from milsim.reports.seat_frames import DEALER, ROLES, TABLES
from milsim.reports.statistics import student, wilson
from milsim.rules import Rules, load
from milsim.store.run import Run
from tests.fuller_runs import fuller_run
from tests.made_up_runs import Row, made_up_run, stored_run

HOLDERS = (0.352471, 0.457228, 0.173752, 0.016549)
"""NUMBERS.md: players who hold at least one marriage in their seven cards."""


@pytest.fixture(scope="module", params=["declarer", "auction", "conceded"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, list[Row]]:
    rules = "russian" if request.param == "conceded" else "mil"
    mode = "declarer" if request.param == "declarer" else "auction"
    run, rows = fuller_run(tmp_path_factory.mktemp("run"), 900, mode=mode, rules=rules)
    for row in rows:
        hands = Deal.from_id(row["deal"]).hand_masks
        row["holds"] = [bool(marriages_of(hand)) for hand in hands]
        row["scores"] = [row[f"score_{name}"] for name in SEAT_NAMES]
        row["declared"] = [
            any(row[f"{suit}_seat"] == seat for suit in SUIT_NAMES) for seat in range(3)
        ]
    return run, rows


def played(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row["conceded"]]


def check_mean(row: Row, name: str, values: Sequence[float]) -> None:
    """A mean and its interval (Student), or null where there is nothing."""
    if not values:
        assert row[name] is None
        return
    assert row[name] == pytest.approx(statistics.fmean(values), abs=1e-9)
    if len(values) > 1:
        half = student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
        assert row[f"{name}_high"] - row[name] == pytest.approx(half, abs=1e-9)
        assert row[name] - row[f"{name}_low"] == pytest.approx(half, abs=1e-9)


def check_share(row: Row, name: str, flags: Sequence[bool]) -> None:
    interval = wilson(sum(flags), len(flags))
    assert [row[f"{name}{end}"] for end in ("", "_low", "_high")] == [
        interval.value,
        interval.low,
        interval.high,
    ]


def test_seats_are_counted(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    *found, total = reports.seats(run).to_dicts()
    assert [row["seat"] for row in found] == list(SEAT_NAMES)
    for seat, row in enumerate(found):
        name = SEAT_NAMES[seat]
        own = [deal for deal in rows if deal["declarer"] == seat]
        assert row["n"] == len(rows)
        assert row["declares"] == len(own) / len(rows)
        if run.plan.mode == "auction":
            check_share(row, "declares", [deal["declarer"] == seat for deal in rows])
        else:  # certain, not sampled
            assert row["declares_low"] == row["declares"] == row["declares_high"] in (0, 1)
        check_share(row, "bids", [deal[f"bid_{name}"] > 0 for deal in rows])
        check_mean(row, "bid_mean", [d[f"bid_{name}"] for d in rows if d[f"bid_{name}"]])
        check_mean(row, "won_bid_mean", [deal["bid"] for deal in own])
        check_mean(row, "contract_mean", [deal["contract"] for deal in own])
        check_share(row, "made", [deal["made"] for deal in own])
        check_mean(row, "points_mean", [deal["declarer_points"] for deal in played(own)])
        check_mean(row, "score_declarer", [deal["scores"][seat] for deal in own])
        defending = [deal["scores"][seat] for deal in rows if deal["declarer"] != seat]
        check_mean(row, "score_defender", defending)
        for column, what in (("tricks", "tricks"), ("card_points", "points"),
                             ("marriages", "marriages")):  # fmt: skip
            check_mean(row, column, [deal[f"{what}_{name}"] for deal in played(rows)])
        check_share(row, "declared", [deal["declared"][seat] for deal in played(rows)])
        check_mean(row, "score", [deal["scores"][seat] for deal in rows])
        off = [deal["scores"][seat] - sum(deal["scores"]) / 3 for deal in rows]
        check_mean(row, "difference", off)
        check_share(row, "held7", [deal["holds"][seat] for deal in rows])
    check_totals(found, total)


def check_totals(found: list[Row], total: Row) -> None:
    """What adds up: shares of declarers, tricks, card points, marriages, scores."""
    for name in ("declares", "tricks", "card_points", "marriages", "score"):
        assert sum(row[name] for row in found) == pytest.approx(total[name])
    assert total["declares"] == 1
    assert total["tricks"] == 8
    assert total["card_points"] == 120
    assert sum(row["difference"] for row in found) == pytest.approx(0, abs=1e-9)


def test_the_row_of_all_is_of_all_deals(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    total = reports.seats(run).row(-1, named=True)
    check_mean(total, "won_bid_mean", [deal["bid"] for deal in rows])
    check_mean(total, "contract_mean", [deal["contract"] for deal in rows])
    check_share(total, "made", [deal["made"] for deal in rows])
    check_mean(total, "points_mean", [deal["declarer_points"] for deal in played(rows)])
    own = [deal["scores"][deal["declarer"]] for deal in rows]
    check_mean(total, "score_declarer", own)
    # Both defenders of a deal belong together: their mean is one observation.
    both = [(sum(deal["scores"]) - mine) / 2 for deal, mine in zip(rows, own, strict=True)]
    check_mean(total, "score_defender", both)
    check_mean(total, "score", [sum(deal["scores"]) for deal in rows])
    check_mean(total, "held7", [sum(deal["holds"]) / 3 for deal in rows])
    check_mean(total, "declared", [sum(deal["declared"]) / 3 for deal in played(rows)])
    bidders = [sum(deal[f"bid_{name}"] > 0 for name in SEAT_NAMES) / 3 for deal in rows]
    check_mean(total, "bids", bidders)
    assert total["bid_mean"] is total["difference"] is None


def test_roles_are_counted(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    *found, total = reports.seats(run, "role").to_dicts()
    assert [row["role"] for row in found] == list(ROLES)
    for role, row in enumerate(found):

        def seat(deal: Row, role: int = role) -> int:
            return int(deal["declarer"] + role) % 3

        for column, what in (("tricks", "tricks"), ("card_points", "points"),
                             ("marriages", "marriages")):  # fmt: skip
            values = [deal[f"{what}_{SEAT_NAMES[seat(deal)]}"] for deal in played(rows)]
            check_mean(row, column, values)
        check_share(row, "declared", [deal["declared"][seat(deal)] for deal in played(rows)])
        check_mean(row, "score", [deal["scores"][seat(deal)] for deal in rows])
        if role:
            others = [deal["scores"][(deal["declarer"] + 3 - role) % 3] for deal in rows]
            ahead = [d["scores"][seat(d)] - other for d, other in zip(rows, others, strict=True)]
            check_mean(row, "difference", ahead)
        else:
            assert row["difference"] is None
    for name in ("tricks", "card_points", "marriages", "score"):
        assert sum(row[name] for row in found) == pytest.approx(total[name])


def test_holders_are_counted(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    *found, total = reports.seats(run, "holders").to_dicts()
    for number, row in enumerate(found):
        some = [deal for deal in rows if sum(deal["holds"]) == number]
        assert (row["holders"], row["n"]) == (number, len(some))
        check_share(row, "share", [sum(deal["holds"]) == number for deal in rows])
        check_mean(row, "points_mean", [deal["declarer_points"] for deal in played(some)])
    assert sum(row["n"] for row in found) == total["n"] == len(rows)
    assert total["share"] == 1


# -- exact ---------------------------------------------------------------------------------------


def test_exact_chances_are_those_of_the_numbers(tmp_path: Path) -> None:
    assert [float(chance) for chance in seat_exact.holders()] == pytest.approx(HOLDERS, abs=5e-7)
    assert sum(seat_exact.holders()) == 1
    run, _ = made_up_run(tmp_path / "declarer", 3000)
    holders = reports.seats(run, "holders")
    assert holders["share_exact"].to_list() == pytest.approx([*HOLDERS, 1], abs=5e-7)
    assert ((holders["share"] - holders["share_exact"]).abs() < 0.04).all()
    seats = reports.seats(run)
    assert seats["held7_exact"].to_list() == pytest.approx([1369 / 4807] * 4)
    assert ((seats["held7"] - seats["held7_exact"]).abs() < 0.04).all()
    # By linearity: the players who hold one, on average, are three times the chance of one.
    mean = sum(number * chance for number, chance in enumerate(seat_exact.holders()))
    assert float(mean) == pytest.approx(3 * 1369 / 4807)
    auction, _ = made_up_run(tmp_path / "auction", 300, mode="auction")
    assert set(reports.seats(auction, "holders")["share_exact"]) == {None}
    assert set(reports.seats(auction)["held7_exact"]) == {None}


# -- four players ----------------------------------------------------------------------------------


def four_players(sitter: str) -> Rules:
    mil = load("mil")
    deal, match = replace(mil.deal, players=4), replace(mil.match, sitter=sitter)  # type: ignore[arg-type]
    return replace(mil, deal=deal, match=match)


def talon_of(row: Row) -> int:
    return Deal.from_id(row["deal"]).talon.mask


def sitter_score(talon: int, rules: Rules) -> int:
    """Slowly: points rounded as defenders' are, or aces and marriages."""
    if rules.match.sitter == "talon_points":
        points = points_of_mask(talon)
        return points // 10 * 10 + (10 if points % 10 > 5 else 0)
    values = rules.deal.marriage_values.by_suit()
    aces = sum(card % 6 == ACE for card in cards_of(talon))
    return rules.match.sitter_ace * aces + sum(values[suit] for suit in marriages_of(talon))


@pytest.mark.parametrize("sitter", ["nothing", "talon_points", "aces_and_marriages"])
def test_the_dealer_of_four_sits_out_and_scores_for_the_talon(tmp_path: Path, sitter: str) -> None:
    rules = four_players(sitter)
    assert rules.scoring.defender_rounding == "nearest_10_half_down"
    run, rows = fuller_run(tmp_path, 400, rules=rules)
    *found, dealer, total = reports.seats(run).to_dicts()
    assert dealer["seat"] == DEALER
    scores = [0 if sitter == "nothing" else sitter_score(talon_of(row), rules) for row in rows]
    check_mean(dealer, "score", scores)
    assert dealer["declares"] is dealer["tricks"] is dealer["difference"] is None
    assert sum(row["score"] for row in [*found, dealer]) == pytest.approx(total["score"])
    assert sum(row["difference"] for row in found) == pytest.approx(0, abs=1e-9)
    everything = [sum(1 << card for card in cards) for cards in combinations(range(24), 3)]
    mean = statistics.fmean(
        0 if sitter == "nothing" else sitter_score(talon, rules) for talon in everything
    )
    assert dealer["score_exact"] == pytest.approx(mean)
    if sitter == "aces_and_marriages":  # 3/24 for each ace, 22/2024 for each marriage
        assert mean == pytest.approx(4 * 50 / 8 + 280 * 22 / 2024)
    text = to_text(reports.seats_report(run))
    assert "dealer, sitting out" in text
    assert "The dealer sits out" in text


def test_three_players_have_no_sitting_dealer(made: tuple[Run, list[Row]]) -> None:
    assert DEALER not in str(reports.seats_report(made[0]))
    assert reports.seats(made[0]).height == 4


# -- models and edges ------------------------------------------------------------------------------


def test_double_dummy_knows_no_scores(tmp_path: Path) -> None:
    run = milsim.simulate(60, dd="gifts", seed=2, out=tmp_path / "run", threads=1)
    solved = run.as_model("double-dummy")
    rows = run.frame().collect()
    frame, before = reports.seats(solved), reports.seats(run)
    unknown = ("score", "score_declarer", "score_defender", "tricks", "card_points", "marriages",
               "declared", "difference")  # fmt: skip
    for name in unknown:
        assert frame[name].null_count() == frame.height
        assert before[name].null_count() < before.height
    for name in ("declares", "bids", "bid_mean", "won_bid_mean", "contract_mean", "held7"):
        assert frame[name].equals(before[name])
    assert frame["points_mean"][-1] == pytest.approx(rows["dd_points"].mean())
    assert frame["made"][-1] == (rows["dd_points"] >= rows["contract"]).mean()
    roles = reports.seats(solved, "role")
    assert all(roles[name].null_count() == 4 for name in ("tricks", "score", "difference"))
    text = str(reports.seats_report(solved))
    assert "Double dummy knows the declarer's points only" in text
    assert "By role" not in text


def test_scores_are_those_of_real_play(tmp_path: Path) -> None:
    """Played deals: all tricks and card points are somebody's, and who declares is sampled."""
    for mode in ("declarer", "auction"):
        run = milsim.simulate(2000, mode=mode, seed=4, out=tmp_path / mode, threads=1)
        *found, total = reports.seats(run).to_dicts()
        check_totals(found, total)
        assert total["marriages"] == pytest.approx(sum(row["marriages"] for row in found))


def test_policies_of_seats_are_said(tmp_path: Path) -> None:
    run = milsim.simulate(
        200, policy=["greedy", "random", "greedy"], out=tmp_path / "run", threads=1
    )
    text = str(reports.seats_report(run))
    assert "different policies: greedy, random, greedy" in " ".join(text.split())


def test_a_deal_and_narrow_pages(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path, 1)
    found = reports.seats(run).to_dicts()
    assert (found[0]["declares"], found[1]["made"], found[1]["points_mean"]) == (1, None, None)
    text = to_text(reports.seats_report(run), width=40)
    assert max(map(len, text.splitlines())) <= 40


def test_frames_do_not_depend_on_the_parts(tmp_path: Path) -> None:
    one, _ = made_up_run(tmp_path / "one", 900, part_rows=900, mode="auction")
    many, _ = made_up_run(tmp_path / "many", 900, part_rows=100, mode="auction")
    for table in TABLES:
        asked: Any = table
        assert reports.seats(one, asked).equals(reports.seats(many, asked))
    with pytest.raises(UsageError, match="table 'roles': unknown; did you mean role"):
        reports.seats(one, "roles")  # type: ignore[arg-type]


def test_a_run_in_which_all_was_conceded_still_has_seats(tmp_path: Path) -> None:
    run, rows = fuller_run(tmp_path / "a", 300, mode="auction", rules="russian")
    conceded = [row for row in rows if row["conceded"]]
    for index, row in enumerate(conceded):
        row["index"] = index
    some = stored_run(tmp_path / "b", replace(run.plan, deals=len(conceded)), conceded)
    total = reports.seats(some).row(-1, named=True)
    assert (total["made"], total["tricks"], total["points_mean"]) == (0, None, None)
    assert total["score"] == pytest.approx(
        statistics.fmean(sum(row[f"score_{name}"] for name in SEAT_NAMES) for row in conceded)
    )
    assert "Conceded deals are contracts not made" in " ".join(
        str(reports.seats_report(some)).split()
    )
