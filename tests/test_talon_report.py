"""Report ``talon`` against the same counts made slowly, and the exact chances of NUMBERS.md."""

import math
import statistics
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import milsim
from milsim import reports
from milsim.cards import (
    ACE,
    NINE,
    RANK_MASKS,
    TEN,
    half_marriages_of,
    marriages_of,
    parse_card,
    points_of_mask,
)
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import RunError, UsageError
from milsim.reports import talon_exact
from milsim.reports.formats import to_text
from milsim.reports.statistics import student, wilson
from milsim.reports.talon_counts import TalonCounts
from milsim.reports.talon_frames import TABLES, talon_frame
from milsim.store.run import Run
from tests.fuller_runs import fuller_run
from tests.made_up_matches import made_up_matches
from tests.made_up_runs import Row, made_up_run, stored_run

Chosen = list[Row]

# Copied from NUMBERS.md.
WANTED = (0.176471, 0.330882, 0.464706, 0.579412, 0.676471, 0.757353, 0.823529, 0.876471)
NEW_BY_MARRIAGES = {0: 0.356517, 1: 0.237891, 2: 0.127238}
NEW_BY_HALVES = {
    0: (0.08824, 0.23824, 0.36912, 0.48235, 0.57941),
    1: (0.06618, 0.21765, 0.35000, 0.46471),
    2: (0.04412, 0.19706, 0.33088),
}
JOINT = {
    (0, 0): 0.03305, (0, 1): 0.18510, (0, 2): 0.30289, (0, 3): 0.16827, (0, 4): 0.02589,
    (1, 0): 0.05048, (1, 1): 0.12620, (1, 2): 0.07766, (1, 3): 0.01109,
    (2, 0): 0.00971, (2, 1): 0.00832, (2, 2): 0.00111,
}  # fmt: skip
HELD = {0: 0.715207, 1: 0.265446, 2: 0.019139, 3: 0.000208}


def talon_of(row: Row) -> int:
    return talon_of_deal(row["deal"])


@cache
def talon_of_deal(number: int) -> int:
    return Deal.from_id(number).talon.mask


def count_of(rank: int) -> Any:
    return lambda row: (talon_of(row) & RANK_MASKS[rank]).bit_count()


def completed(row: Row) -> int:
    return len(set(marriages_of(row["ten"])) - set(marriages_of(row["hand"])))


KINDS = {
    "marriages completed": completed,
    "a whole marriage": lambda row: len(marriages_of(talon_of(row))),
    "aces": count_of(ACE),
    "tens": count_of(TEN),
    "nines": count_of(NINE),
    "card points": lambda row: points_of_mask(talon_of(row)),
}


@pytest.fixture(scope="module", params=["declarer", "auction", "russian"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, list[Row]]:
    rules = "russian" if request.param == "russian" else "mil"
    mode = "declarer" if request.param == "declarer" else "auction"
    return fuller_run(tmp_path_factory.mktemp("run"), 1500, mode=mode, rules=rules)


def played(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row["conceded"]]


def check_outcome(found: Row, some: Chosen, everything: Chosen) -> None:
    """All that any group of talons has, from the rows themselves."""
    n, deals = len(some), len(everything)
    assert found["n"] == n
    assert found["share"] == n / deals
    points = [row["declarer_points"] for row in some]
    rest = [row["declarer_points"] for row in everything if row not in some]
    if not some:
        for name in ("points_mean", "gain", "made", "p_100", "score"):
            assert (found[name], found[f"{name}_low"], found[f"{name}_high"]) == (None, None, None)
        return
    mean = statistics.fmean(row["declarer_points"] for row in everything)
    assert found["points_mean"] == pytest.approx(statistics.fmean(points))
    assert found["gain"] == pytest.approx(statistics.fmean(points) - mean, abs=1e-9)
    if n > 1 and len(rest) > 1:
        # Complementary groups: mean of some − mean of all = share of the rest · their difference.
        errors = statistics.variance(points) / n, statistics.variance(rest) / len(rest)
        df = sum(errors) ** 2 / (errors[0] ** 2 / (n - 1) + errors[1] ** 2 / (len(rest) - 1))
        half = len(rest) / deals * student(max(1, int(df))) * math.sqrt(sum(errors))
        assert found["gain_high"] - found["gain"] == pytest.approx(half)
        assert found["gain"] - found["gain_low"] == pytest.approx(half)
    assert found["made"] == sum(row["made"] for row in some) / n
    for contract in (100, 110, 120, 140, 160, 180, 200):
        interval = wilson(sum(value >= contract for value in points), n)
        names = (f"p_{contract}", f"p_{contract}_low", f"p_{contract}_high")
        assert [found[name] for name in names] == [interval.value, interval.low, interval.high]
    scores = [row[f"score_{SEAT_NAMES[row['declarer']]}"] for row in some]
    assert found["score"] == pytest.approx(statistics.fmean(scores))
    if n > 1:
        half = student(n - 1) * statistics.stdev(scores) / math.sqrt(n)
        assert found["score_high"] - found["score"] == pytest.approx(half)


def test_what_the_talon_holds_is_counted(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    everything = played(rows)
    assert (len(everything) < len(rows)) == (run.rules.talon.concede != "off")
    *found, total = reports.talon(run).to_dicts()
    for row in found:
        kind, first, last = row["holds"], row["value_from"], row["value_to"]
        some = [deal for deal in everything if first <= KINDS[kind](deal) <= last]
        check_outcome(row, some, everything)
    for kind in KINDS:
        parts = [row for row in found if row["holds"] == kind]
        assert sum(row["n"] for row in parts) == total["n"] == len(everything)
        moved = sum(row["n"] * row["gain"] for row in parts if row["n"])
        assert moved == pytest.approx(0, abs=1e-6)
    assert total["holds"] == "all"
    assert (total["share"], total["share_low"], total["share_high"]) == (1, 1, 1)
    assert (total["gain"], total["gain_low"], total["gain_high"]) == (0, 0, 0)


def test_cards_of_the_talon_are_counted(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    everything = played(rows)
    *found, total = reports.talon(run, "card").to_dicts()
    cards = [parse_card(row["card"]) for row in found]
    assert sorted(cards) == list(range(24))
    for card, row in zip(cards, found, strict=True):
        check_outcome(row, [d for d in everything if talon_of(d) >> card & 1], everything)
    assert sum(row["n"] for row in found) == 3 * total["n"]
    assert sum(row["n"] * row["gain"] for row in found) == pytest.approx(0, abs=1e-6)
    assert [row["rank"] for row in found[::4]] == ["ace", "ten", "king", "queen", "jack", "nine"]


@pytest.mark.parametrize("table", ["marriages", "hand"])
def test_what_hands_wait_for_is_counted(made: tuple[Run, list[Row]], table: str) -> None:
    run, rows = made
    everything = played(rows)
    *found, total = talon_frame(TalonCounts.of(run), table).to_dicts()
    assert sum(row["n"] for row in found) == total["n"] == len(everything)
    for row in [*found, total]:
        some = [
            deal
            for deal in everything
            if row["marriages"] in (None, len(marriages_of(deal["hand"])))
            and row.get("half_marriages") in (None, len(half_marriages_of(deal["hand"])))
        ]
        assert row["n"] == len(some)
        if not some:
            assert row["completes"] is None
            continue
        sides: dict[bool, list[int]] = {True: [], False: []}
        for deal in some:
            sides[completed(deal) > 0].append(deal["declarer_points"])
        assert row["completes"] == len(sides[True]) / len(some)
        assert row["points_mean"] == pytest.approx(statistics.fmean(sides[True] + sides[False]))
        for name, points in (("with", sides[True]), ("without", sides[False])):
            value = statistics.fmean(points) if points else None
            assert row[f"points_{name}"] == pytest.approx(value)
        if sides[True] and sides[False]:
            worth = statistics.fmean(sides[True]) - statistics.fmean(sides[False])
            assert row["worth"] == pytest.approx(worth)


def test_cards_wanted_are_counted(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    high = RANK_MASKS[ACE] | RANK_MASKS[TEN]
    *found, total = reports.talon(run, "wanted").to_dicts()
    assert [row["lacking"] for row in found] == list(range(1, 9))
    for row in [*found, total]:
        some = [
            deal
            for deal in played(rows)
            if row["lacking"] in (None, 8 - (deal["hand"] & high).bit_count())
        ]
        assert row["n"] == len(some)
        brought = sum(talon_of(deal) & high != 0 for deal in some)
        assert row["brings"] == (brought / len(some) if some else None)
    assert sum(row["n"] for row in found) == total["n"]


def within_classes(groups: list[list[int]]) -> float:
    """The mean variance within classes; one of a single deal has that of those of two or three."""
    rare = [group for group in groups if 2 <= len(group) <= 3]
    usual = sum(len(group) * statistics.variance(group) for group in rare)
    usual /= sum(len(group) for group in rare)
    each = [len(g) * (statistics.variance(g) if len(g) > 1 else usual) for g in groups]
    return sum(each) / sum(len(group) for group in groups)


def test_the_parts_of_the_points_add_up(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    everything = played(rows)
    hands: defaultdict[Any, list[int]] = defaultdict(list)
    cells: defaultdict[Any, list[int]] = defaultdict(list)
    for row in everything:
        hand, talon = row["hand"], talon_of(row)
        tens = [card for card in range(24) if hand >> card & 1 and card % 6 == TEN]
        guarded = sum(1 for t in tens if (hand >> t // 6 * 6 & 0b111111).bit_count() > 1)
        hand_class = (len(marriages_of(hand)), (hand & RANK_MASKS[ACE]).bit_count(), guarded)
        new = tuple(sorted(set(marriages_of(row["ten"])) - set(marriages_of(hand))))
        talon_class = (*hand_class, new, (talon & RANK_MASKS[ACE]).bit_count())
        hands[hand_class].append(row["declarer_points"])
        cells[talon_class].append(row["declarer_points"])
    points = [row["declarer_points"] for row in everything]
    n = len(points)
    within = [within_classes(list(groups.values())) for groups in (hands, cells)]
    within = [each / statistics.variance(points) for each in within]
    found = reports.talon(run, "gain")
    assert found["part"].to_list() == ["the seven cards", "the talon", "everything else", "all"]
    shares = found["share"].to_list()
    assert shares == pytest.approx([1 - within[0], within[0] - within[1], within[1], 1])
    assert sum(shares[:3]) == pytest.approx(1)
    squared = [value**2 for value in found["deviation"]]
    assert sum(squared[:3]) == pytest.approx(squared[3])
    assert squared[3] == pytest.approx(statistics.variance(points))
    for row in found.to_dicts()[:3]:
        assert row["share_low"] < row["share"] < row["share_high"]
    mean = statistics.fmean(points)
    off = sorted(value - mean for value in points)
    for at in (5, 25, 50, 75, 95):
        assert found[f"q{at}"][3] == pytest.approx(off[math.ceil(at / 100 * n) - 1])
    means = [(statistics.fmean(group) - mean, len(group)) for group in hands.values()]
    spread_out = sorted(value for value, times in means for _ in range(times))
    assert found["q25"][0] == pytest.approx(spread_out[math.ceil(n / 4) - 1])


def test_the_interval_of_a_share_covers_what_large_runs_say(tmp_path: Path) -> None:
    """Ten runs of other deals of the same policy: their shares lie about as wide as is said."""
    runs = [
        milsim.simulate(6000, mode="declarer", seed=7, start=start, out=tmp_path / f"{start}")
        for start in range(0, 60_000, 6000)
    ]
    whole = milsim.simulate(60_000, mode="declarer", seed=7, out=tmp_path / "whole")
    truth = reports.talon(whole, "gain")["share"].to_list()
    halves: list[list[float]] = [[], [], []]
    errors: list[list[float]] = [[], [], []]
    for run in runs:
        for place, row in enumerate(reports.talon(run, "gain").to_dicts()[:3]):
            halves[place].append((row["share_high"] - row["share_low"]) / 2)
            errors[place].append(row["share"] - truth[place])
    for half, error in zip(halves, errors, strict=True):
        ratio = math.sqrt(statistics.fmean(e**2 for e in error)) / (statistics.fmean(half) / 1.96)
        assert 0.4 < ratio < 1.8
        assert abs(statistics.fmean(error)) < statistics.fmean(half)  # no bias by size


# -- exact ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def random_cards(tmp_path_factory: pytest.TempPathFactory) -> TalonCounts:
    return TalonCounts.of(made_up_run(tmp_path_factory.mktemp("run"), 3000)[0])


def test_exact_chances_are_those_of_the_numbers(random_cards: TalonCounts) -> None:
    holds = talon_frame(random_cards, "holds")

    def chance(kind: str, *values: int) -> float:
        which = (pl.col("holds") == kind) & pl.col("value_from").is_in(values)
        return float(holds.filter(which)["share_exact"].sum())

    assert chance("aces", 1, 2, 3) == pytest.approx(0.436759, abs=5e-7)
    assert chance("nines", 2) == pytest.approx(0.059289, abs=5e-7)
    assert chance("nines", 2, 3) == pytest.approx(0.061265, abs=5e-7)
    assert chance("a whole marriage", 1) == pytest.approx(1 / 23)
    assert chance("card points", 0) == pytest.approx(100 / 2024)  # fewer than 5
    assert chance("marriages completed", 1, 2, 3) == pytest.approx(
        0.715207 * 0.356517 + 0.265446 * 0.237891 + 0.019139 * 0.127238 + 0.000208 * 0.0392,
        abs=2e-6,
    )
    for kind in KINDS:
        assert chance(kind, *range(31)) == pytest.approx(1)
    assert talon_exact.share_of_talons(lambda mask: points_of_mask(mask) < 4) == pytest.approx(
        52 / 2024
    )
    assert set(talon_frame(random_cards, "card")["share_exact"]) == {0.125, 1.0}
    assert float(talon_exact.holds_absent_pair()) == pytest.approx(3 / 136)
    assert 4 * float(talon_exact.holds_absent_pair()) == pytest.approx(
        NEW_BY_HALVES[0][0], abs=5e-6
    )


def test_exact_chances_of_hands_are_those_of_the_numbers(random_cards: TalonCounts) -> None:
    wanted = talon_frame(random_cards, "wanted")
    assert wanted["brings_exact"].to_list()[:8] == pytest.approx(WANTED, abs=5e-7)
    assert wanted["share_exact"].to_list()[:8] == pytest.approx(
        [math.comb(8, 8 - k) * math.comb(16, k - 1) / 346_104 for k in range(1, 9)]
    )
    assert wanted["brings_exact"][8] == pytest.approx(
        1 - math.comb(16, 3) / 2024
    )  # the talon of all hands is three random cards
    hand = talon_frame(random_cards, "hand").drop_nulls("marriages")
    for row in hand.to_dicts():
        marriages, halves = row["marriages"], row["half_marriages"]
        if marriages in NEW_BY_HALVES:
            known = NEW_BY_HALVES[marriages][halves]
            assert row["completes_exact"] == pytest.approx(known, abs=5e-6)
            joint = JOINT[marriages, halves]
            assert row["share_exact"] == pytest.approx(joint, abs=5e-6)
    assert hand["share_exact"].sum() == pytest.approx(1)
    by_marriages = talon_frame(random_cards, "marriages")
    *rows, total = by_marriages.to_dicts()
    for row in rows:
        assert row["share_exact"] == pytest.approx(HELD[row["marriages"]], abs=5e-7)
        if row["marriages"] in NEW_BY_MARRIAGES:
            known = NEW_BY_MARRIAGES[row["marriages"]]
            assert row["completes_exact"] == pytest.approx(known, abs=5e-7)
    some = sum(row["share_exact"] * row["completes_exact"] for row in rows[1:])
    assert some / sum(row["share_exact"] for row in rows[1:]) == pytest.approx(0.230310, abs=5e-7)
    every = sum(row["share_exact"] * row["completes_exact"] for row in rows)
    assert total["completes_exact"] == pytest.approx(every)


def test_sampled_shares_are_near_the_exact_ones(tmp_path: Path) -> None:
    run = milsim.simulate(20_000, seed=5, mode="declarer", out=tmp_path / "run")
    counts = TalonCounts.of(run)
    for table, name in (("holds", "share"), ("card", "share"), ("hand", "completes"),
                        ("wanted", "brings")):  # fmt: skip
        for row in talon_frame(counts, table).to_dicts():
            exact = row[f"{name}_exact"]
            n = row["n"] if name != "share" else run.deals
            if row[name] is None or exact in (0, 1) or n < 100:
                continue
            error = (row[name] - exact) / math.sqrt(exact * (1 - exact) / n)
            assert abs(error) < 4.5  # about 80 rows: one false alarm in 2,000 seeds


def test_exact_chances_stand_only_where_they_hold(tmp_path: Path) -> None:
    auction, _ = made_up_run(tmp_path / "auction", 300, mode="auction")
    chosen, _ = made_up_run(tmp_path / "where", 300, where="aces>=1")
    for run in (auction, chosen):
        for table in TABLES:
            frame = reports.talon(run, table)  # type: ignore[arg-type]
            for name in frame.columns:
                if name.endswith("_exact"):
                    assert frame[name].null_count() == frame.height


# -- models and edges ------------------------------------------------------------------------------


def test_double_dummy_has_other_points_and_no_scores(tmp_path: Path) -> None:
    run = milsim.simulate(60, dd="gifts", mode="declarer", out=tmp_path / "run", threads=1)
    solved = run.as_model("double-dummy")
    rows = run.frame().collect()
    for table in ("holds", "card"):
        played_frame = reports.talon(run, table)
        frame = reports.talon(solved, table)
        assert frame["score"].null_count() == frame.height
        assert played_frame["score"][-1] is not None
        assert frame["points_mean"][-1] == pytest.approx(rows["dd_points"].mean())
        assert frame["share"].equals(played_frame["share"])
    text = str(reports.talon_report(solved))
    assert "double dummy" in text
    assert "score" not in text


def test_one_deal_has_no_spread_but_a_report(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path, 1)
    gain = reports.talon(run, "gain")
    assert gain["share"].to_list() == [None, None, None, 1]
    assert gain["q50"].to_list() == [0, 0, 0, 0]
    assert reports.talon(run)["n"].sum() == len(KINDS) + 1
    assert "How to read a row" in to_text(reports.talon_report(run), width=40)


def test_equal_points_have_no_shares(tmp_path: Path) -> None:
    run, rows = made_up_run(tmp_path / "a", 400)
    for row in rows:
        row["declarer_points"] = 90
    gain = reports.talon(stored_run(tmp_path / "b", run.plan, rows), "gain")
    assert gain["share"].to_list() == [None, None, None, 1]


def test_frames_do_not_depend_on_the_parts(tmp_path: Path) -> None:
    one, _ = made_up_run(tmp_path / "one", 900, part_rows=900)
    many, _ = made_up_run(tmp_path / "many", 900, part_rows=100)
    for table in TABLES:
        assert reports.talon(one, table).equals(reports.talon(many, table))  # type: ignore[arg-type]


def test_what_is_no_run_or_table_is_refused(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path / "run", 20)
    with pytest.raises(UsageError, match="table 'cards': unknown; did you mean card"):
        reports.talon(run, "cards")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="give a run or the path of its folder"):
        reports.talon(5)  # type: ignore[arg-type]
    matches = made_up_matches(tmp_path / "matches", 3)[0]
    for maker in (reports.talon, reports.contracts, reports.seats):
        with pytest.raises(RunError, match="holds matches, not single deals"):
            maker(matches)  # type: ignore[arg-type]
    piece = replace(run.manifest.pieces[0], count=15)
    wrong = replace(run, manifest=replace(run.manifest, pieces=(piece,)))
    for maker in (reports.talon, reports.contracts, reports.seats):
        with pytest.raises(RunError, match="20 deals in its parts, not 15"):
            maker(wrong)


# -- the chart ---------------------------------------------------------------------------------


def test_the_chart_draws_the_frame(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path, 1500)
    figure = reports.CHARTS["talon"].build(run)
    left, right = figure.axes
    for axes, table in ((left, "card"), (right, "holds")):
        rows = reports.talon(run, table).to_dicts()  # type: ignore[arg-type]
        drawn = [
            row
            for row in rows
            if row["n"] >= 30
            and (
                table == "card" or row["holds"] in ("aces", "tens", "nines", "marriages completed")
            )
            and "all" not in (row.get("card"), row.get("holds"))
        ]
        labels = [text.get_text() for text in axes.texts]
        numbers = [f"{row['gain']:+.1f}".replace("-", "−") for row in drawn]
        assert [text for text in labels if text[0] in "+−"] == numbers
        ends = [line.get_xdata() for line in axes.lines if line.get_marker() == "|"]
        assert [list(map(float, both)) for both in ends] == [  # type: ignore[arg-type]
            [row["gain_low"], row["gain_high"]] for row in drawn
        ]
    ticks = [label.get_text() for label in left.get_yticklabels()]
    assert ticks == list("♠♥♦♣") * 6
    assert "too few deals" in [text.get_text() for text in right.texts]  # three aces: 3 deals
    share = reports.talon(run, "gain").row(1, named=True)["share"]
    said = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert f"the talon decides {100 * share:.0f} ±" in said
