"""Reports against the same counts made slowly, row by row; exact columns; all formats."""

import csv
import errno
import io
import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from milsim import reports
from milsim.cards import ACE, RANK_MASKS, SUIT_MASKS, SUIT_NAMES, TEN, marriages_of, points_of_mask
from milsim.errors import RunError, UsageError
from milsim.reference.scoring import deal_scores, is_made
from milsim.reports.cells import cell, plain
from milsim.reports.formats import to_json, to_markdown, to_text
from milsim.reports.marriage_frames import MarriageCounts
from milsim.reports.statistics import wilson
from milsim.reports.summary import summary
from milsim.reports.table import Column, Report, Table
from milsim.rules import Rules, load
from milsim.simulation.plan import Plan
from milsim.store.run import Run
from tests.made_up_runs import Row, made_up_run, with_scoring

Class = tuple[int, int, int]

OF_DEALS = {
    name: entry
    for name, entry in reports.REPORTS.items()
    if isinstance(entry, reports.ReportEntry) and entry.of == ("deals",)
}


def class_of(hand: int) -> Class:
    guarded = sum(
        1 for mask in SUIT_MASKS if hand & mask & RANK_MASKS[TEN] and (hand & mask).bit_count() > 1
    )
    return len(marriages_of(hand)), (hand & RANK_MASKS[ACE]).bit_count(), guarded


def by_class(rows: list[Row]) -> dict[Class, list[int]]:
    found: defaultdict[Class, list[int]] = defaultdict(list)
    for row in rows:
        found[class_of(row["hand"])].append(row["declarer_points"])
    return dict(sorted(found.items()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Row]]:
    return made_up_run(tmp_path_factory.mktemp("run"), 3000)


@pytest.fixture(autouse=True)
def _no_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up points cannot be played again: a marriage costs what it pays, and one point."""

    def replayed(
        plan: Plan,
        index: NDArray[np.uint64],
        deal: NDArray[np.uint64],
        redeals: NDArray[np.uint16],
        declarer: NDArray[np.uint8],
        *,
        bid: NDArray[np.uint16],
        contract: NDArray[np.uint16],
        dark: NDArray[np.bool_],
        rules: Rules,
        undeclarable: int = 0,
        threads: int | None = None,
    ) -> NDArray[np.int16]:
        return np.zeros(len(index), np.int16)

    monkeypatch.setattr("milsim.simulation.replay.replay_declarer_points", replayed)


# -- bidding -------------------------------------------------------------------------------------


def test_bidding_by_class_counts_what_is_there(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    frame = reports.bidding(run)
    classes = by_class(rows)
    *found, total = frame.to_dicts()
    keys = [(row["marriages"], row["aces"], row["guarded_tens"]) for row in found]
    assert keys == list(classes)
    assert (total["marriages"], total["aces"], total["guarded_tens"]) == (None, None, None)
    assert sum(row["n"] for row in found) == total["n"] == len(rows)
    assert sum(row["share"] for row in found) == pytest.approx(1)
    everything = [row["declarer_points"] for row in rows]
    for row, points in zip(frame.to_dicts(), [*classes.values(), everything], strict=True):
        n = len(points)
        assert row["n"] == n
        assert row["points_mean"] == pytest.approx(sum(points) / n)
        assert row["points_q50"] == sorted(points)[(n + 1) // 2 - 1]
        for contract in (100, 120, 150):
            made_it = sum(value >= contract for value in points)
            interval = wilson(made_it, n)
            assert row[f"p_{contract}"] == interval.value
            assert row[f"p_{contract}_low"] == interval.low
            assert row[f"p_{contract}_high"] == interval.high
            score = contract * (2 * made_it - n) / n
            assert row[f"score_{contract}"] == pytest.approx(score)


def test_best_and_break_even_contracts_are_those_of_the_scores(
    made: tuple[Run, list[Row]],
) -> None:
    run, rows = made
    most = max(row["declarer_points"] for row in rows)
    grid = range(100, most + 1, 10)
    caps = {0: 120, 1: 160, 2: 220, 3: 300}
    for row in reports.bidding(run).to_dicts():
        assert row["cap"] == caps[row["marriages"] or 0]
        scores = {c: row[f"score_{c}"] for c in grid if c <= row["cap"]}
        best = max(scores.values())
        assert row["best_score"] == best
        assert row["best_contract"] == min(c for c in scores if scores[c] == best)
        assert row["best_score_low"] is None or row["best_score_low"] <= best
        even = [c for c in scores if scores[c] >= 0]
        assert row["break_even"] == (max(even) if even else None)


def test_bidding_by_points_has_bands_that_add_up(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    *found, total = reports.bidding(run, by="points").to_dicts()
    for row in found:
        first, last = row["points_from"], row["points_to"]
        assert (first % 5, last) == (0, first + 4)
        points = [
            other["declarer_points"]
            for other in rows
            if first <= points_of_mask(other["hand"]) <= last
        ]
        assert row["n"] == len(points)
        assert row["points_mean"] == pytest.approx(sum(points) / len(points))
    assert sum(row["n"] for row in found) == total["n"]
    assert sum(row["share_exact"] for row in found) <= 1


def test_exact_shares_are_those_of_all_hands(made: tuple[Run, list[Row]]) -> None:
    frame = reports.bidding(made[0]).drop_nulls("marriages")
    none = frame.filter(pl.col("marriages") == 0)
    assert none["share_exact"].sum() == pytest.approx(247_536 / 346_104, abs=2e-3)  # rare: unseen
    low, high = frame["share_low"], frame["share_high"]
    inside = ((low <= frame["share_exact"]) & (frame["share_exact"] <= high)).sum()
    assert inside >= 0.8 * frame.height  # 95 % each; the run is fixed
    points = reports.bidding(made[0], by="points")
    band = points.filter(pl.col("points_from") == 15)["share_exact"].item()
    assert band == pytest.approx((14_664 - 3_932) / 346_104)


def test_exact_chances_are_shown_only_where_they_hold(tmp_path: Path) -> None:
    auction, _ = made_up_run(tmp_path / "auction", 300, mode="auction")
    chosen, _ = made_up_run(tmp_path / "where", 300, where="aces>=1")
    for run in (auction, chosen):
        assert reports.bidding(run)["share_exact"].null_count() > 0
        assert reports.marriages(run, replays=0)["held7_exact"].null_count() == 5
        assert reports.marriages(run, "number")["held7_exact"].null_count() == 6
        for entry in OF_DEALS.values():
            text = str(entry.build(run))
            assert "exact" not in text
    assert "won the auction" in str(reports.bidding_report(auction))
    assert "aces>=1" in str(reports.bidding_report(chosen))


def test_the_tidy_frame_says_the_same(made: tuple[Run, list[Row]]) -> None:
    run, _ = made
    wide, tidy = reports.bidding(run), reports.bidding(run, tidy=True)
    keys = ["marriages", "aces", "guarded_tens"]
    assert tidy.columns == [*keys, "contract", "n", "made", "p", "p_low", "p_high",
                            "score", "score_low", "score_high", "kind", "model"]  # fmt: skip
    for contract in (100, 130):
        part = tidy.filter(pl.col("contract") == contract)
        assert part.select(keys).equals(wide.select(keys))
        assert part["p"].equals(wide[f"p_{contract}"].alias("p"))
        assert part["score"].equals(wide[f"score_{contract}"].alias("score"))
        assert (part["made"] / part["n"]).equals(part["p"].alias("made"))


def test_frames_do_not_depend_on_the_parts(tmp_path: Path) -> None:
    one, _ = made_up_run(tmp_path / "one", 900, part_rows=900)
    many, _ = made_up_run(tmp_path / "many", 900, part_rows=100)
    for make in (reports.bidding, reports.marriages):
        first = make(one)  # type: ignore[operator]
        assert first.equals(make(many))  # type: ignore[operator]
        assert set(first["kind"]) == {"sampled"}
        assert set(first["model"]) == {"policy greedy"}


def test_contracts_can_be_chosen(made: tuple[Run, list[Row]]) -> None:
    frame = reports.bidding(made[0], contracts=[150, 95, 95])
    assert [name for name in frame.columns if name[:2] == "p_" and name[-1].isdigit()] == [
        "p_95",
        "p_150",
    ]
    tidy = reports.bidding(made[0], contracts=[400], tidy=True)
    assert set(tidy["made"]) == {0}


@pytest.mark.parametrize("contracts", [[], [0], [1001], [True], [100.0], ["100"]])
def test_what_is_no_contract_is_refused(made: tuple[Run, list[Row]], contracts: list[Any]) -> None:
    with pytest.raises(UsageError, match="contracts: "):
        reports.bidding(made[0], contracts=contracts)


def test_wrong_arguments_are_named(made: tuple[Run, list[Row]]) -> None:
    with pytest.raises(UsageError, match="by 'clas': unknown; did you mean class"):
        reports.bidding(made[0], by="clas")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="by 'x': unknown; one of: class, points"):
        reports.bidding_report(made[0], by="x")
    with pytest.raises(UsageError, match="by 'suits': unknown; did you mean suit"):
        reports.marriages(made[0], by="suits")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="replays: -1 is out of range"):
        reports.marriages(made[0], replays=-1)
    with pytest.raises(UsageError, match="unknown report 'biding': did you mean bidding"):
        reports.report_named("biding")
    with pytest.raises(UsageError, match="unknown chart 'x': one of: bid-strength, marriages"):
        reports.chart_named("x")


@pytest.mark.parametrize(
    "rules",
    [
        load("gamerules"),
        with_scoring(load("mil"), made_test="rounded"),
        with_scoring(load("mil"), success="actual"),
        with_scoring(load("mil"), made_test="rounded", defender_rounding="down_10"),
    ],
)
def test_contracts_are_made_and_scored_as_the_rules_say(tmp_path: Path, rules: Rules) -> None:
    run, rows = made_up_run(tmp_path, 300, rules=rules)
    points = [row["declarer_points"] for row in rows]
    for row in reports.bidding(run, tidy=True).drop("kind", "model").to_dicts():
        if row["marriages"] is None:
            contract = row["contract"]
            assert contract % rules.auction.step == 0
            assert row["made"] == sum(is_made(value, contract, rules) for value in points)
            scores = [deal_scores((value, 0, 0), 0, contract, rules)[0] for value in points]
            assert row["score"] == pytest.approx(sum(scores) / len(scores))


# -- marriages -----------------------------------------------------------------------------------


def test_marriages_by_suit_count_what_is_there(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    frame = reports.marriages(run, replays=0)
    assert frame["suit"].to_list() == [*SUIT_NAMES, "any"]
    assert frame["value"].to_list() == [40, 60, 80, 100, None]
    n = len(rows)
    for suit, found in enumerate(frame.to_dicts()):
        suits = {suit} if suit < 4 else set(range(4))

        def holders(place: str, suits: set[int] = suits) -> list[Row]:
            return [row for row in rows if suits & set(marriages_of(row[place]))]

        new = [
            row
            for row in rows
            if suits & (set(marriages_of(row["ten"])) - set(marriages_of(row["hand"])))
        ]
        own = [
            [
                row[f"{SUIT_NAMES[s]}_trick"]
                for s in suits
                if row[f"{SUIT_NAMES[s]}_seat"] == row["declarer"]
            ]
            for row in rows
        ]
        first = [min(tricks) for tricks in own if tricks]
        anyone = [row for row in rows if any(row[f"{SUIT_NAMES[s]}_trick"] for s in suits)]
        with_it = holders("ten")
        without = [row for row in rows if row not in with_it]
        assert found["n"] == n
        assert found["held7"] == len(holders("hand")) / n
        assert found["completed"] == len(new) / n
        assert found["held10"] == len(with_it) / n
        assert found["kept8"] == len(holders("kept")) / n
        assert found["declared"] == len(first) / n
        assert found["by_anyone"] == len(anyone) / n
        assert found["trick_mean"] == pytest.approx(sum(first) / len(first))
        for name, some in (("with", with_it), ("without", without)):
            mean = sum(row["declarer_points"] for row in some) / len(some)
            assert found[f"points_{name}"] == pytest.approx(mean)
            assert found[f"made_{name}"] == sum(row["made"] for row in some) / len(some)
        gain = found["points_with"] - found["points_without"]
        assert found["points_gain"] == pytest.approx(gain)
        assert found["worth_n"] == 0
        assert found["worth"] is None


def test_marriages_by_number_add_up(made: tuple[Run, list[Row]]) -> None:
    run, rows = made
    *found, total = reports.marriages(run, "number").to_dicts()
    assert [row["marriages"] for row in found] == [0, 1, 2, 3, 4]
    for name in ("held7", "completed", "held10", "kept8", "declared"):
        assert sum(row[name] for row in found) == pytest.approx(1)
        assert (total[name], total[f"{name}_low"], total[f"{name}_high"]) == (1, 1, 1)
    for name in ("held7_exact", "completed_exact", "held10_exact"):
        assert sum(row[name] for row in found) == pytest.approx(1)
    assert sum(row["n"] for row in found) == total["n"] == len(rows)
    two = [row for row in rows if len(marriages_of(row["kept"])) == 2]
    assert found[2]["kept8"] == len(two) / len(rows)
    mean = sum(row["declarer_points"] for row in rows) / len(rows)
    assert total["points_mean"] == pytest.approx(mean)
    assert total["made"] == sum(row["made"] for row in rows) / len(rows)


def test_the_counterfactual_replays_the_first_deals_with_the_marriage(
    made: tuple[Run, list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, rows = made
    calls = []

    def replayed(
        plan: Plan, *, index: Any, deal: Any, rules: Rules, threads: Any, **others: Any
    ) -> NDArray[np.int16]:
        assert plan is run.plan
        assert threads == 3
        assert set(others) == {"redeals", "declarer", "bid", "contract", "dark", "undeclarable"}
        assert others["undeclarable"] == 0  # it still makes trump
        calls.append((index.tolist(), deal.tolist(), rules.deal.marriage_values.by_suit()))
        return np.array([rows[i]["declarer_points"] - 10 + i % 2 for i in index.tolist()], np.int16)

    monkeypatch.setattr("milsim.simulation.replay.replay_declarer_points", replayed)
    frame = reports.marriages(run, replays=100, threads=3)
    values = (40, 60, 80, 100)
    assert len(calls) == 5
    for suit, (index, deals, paid) in enumerate(calls):
        suits = {suit} if suit < 4 else set(range(4))
        holders = [row for row in rows if suits & set(marriages_of(row["ten"]))][:100]
        assert index == [row["index"] for row in holders]
        assert deals == [row["deal"] for row in holders]
        assert paid == tuple(0 if s in suits else values[s] for s in range(4))
        found = frame.row(suit, named=True)
        lost = [10 - i % 2 for i in index]
        assert found["worth_n"] == 100
        assert found["worth"] == pytest.approx(sum(lost) / 100)
        assert found["worth_low"] < found["worth"] < found["worth_high"]
        assert found["worth_high"] - found["worth_low"] < 0.25  # paired: no noise of the cards


def test_the_counterfactual_of_few_deals(tmp_path: Path) -> None:
    run, rows = made_up_run(tmp_path, 40, start=1000)
    for found in reports.marriages(run).to_dicts():
        assert found["worth_n"] == round(40 * found["held10"])
    assert MarriageCounts.of(run).counts["n"].sum() == len(rows)


# -- all reports ---------------------------------------------------------------------------------


@pytest.fixture(params=sorted(OF_DEALS))
def report(request: pytest.FixtureRequest, made: tuple[Run, list[Row]]) -> Report:
    return OF_DEALS[request.param].build(made[0])


def test_text_fits_the_page_and_names_what_it_is(report: Report) -> None:
    for width in (40, 60, 80, 100, 200):
        lines = to_text(report, width=width).splitlines()
        assert [line for line in lines if len(line) > width] == []
        assert not any(line != line.rstrip() for line in lines)
    text = str(report)
    assert text == to_text(report, width=80)
    assert "sampled · rules mil" in text
    assert "policy greedy" in text
    assert "seed 1" in text
    assert "\x1b" not in text
    assert "left out for want of width" in text
    assert "left out for want of width" not in to_text(report)
    assert "How to read a row" in text


def test_csv_and_parquet_hold_everything_at_full_precision(report: Report) -> None:
    frame = report.frame()
    lines = list(csv.DictReader(io.StringIO(reports.render(report, "csv").decode())))
    assert len(lines) == frame.height
    assert list(lines[0]) == frame.columns
    for line, row in zip(lines, frame.to_dicts(), strict=True):
        for name, value in row.items():
            if isinstance(value, float):
                assert float(line[name]) == value
            else:
                assert line[name] == ("" if value is None else str(value))
    content = io.BytesIO(reports.render(report, "parquet"))
    assert pl.read_parquet(content).equals(frame)
    about = json.loads(pl.read_parquet_metadata(content)["milsim"])
    assert about["provenance"] == report.provenance
    assert {"table", "kind", "model"} <= set(frame.columns)


def test_json_says_where_it_comes_from(report: Report) -> None:
    content = json.loads(to_json(report))
    assert reports.render(report, "json").decode() == to_json(report)
    assert content["report"] == report.name
    assert content["kind"] == "sampled"
    assert content["model"] == "policy greedy"
    assert content["provenance"] == report.provenance
    frames = report.frames()
    assert list(content["tables"]) == list(frames)
    for name, rows in content["tables"].items():
        assert rows == frames[name].to_dicts()


def test_markdown_tables_are_well_formed(report: Report) -> None:
    text = to_markdown(report)
    assert reports.render(report, "md").decode() == text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == len(report.tables)
    for lines, table in zip(tables, report.tables, strict=True):
        cells = [line.strip("|").split("|") for line in lines]
        assert {len(row) for row in cells} == {len(table.columns)}
        assert all(set(side.strip()) <= {":", "-"} for side in cells[1])


def test_printed_deals_add_up_to_the_total(made: tuple[Run, list[Row]]) -> None:
    report = reports.bidding_report(made[0], by="class")
    lines = to_markdown(report).splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    place = rows[0].index("deals")
    deals = [int(row[place].replace(",", "")) for row in rows[2:]]
    assert deals[-1] == sum(deals[:-1]) == 3000
    assert "rarer" in rows[-2][0]
    share = rows[0].index("share %")
    shares = [float(row[share].split()[0]) for row in rows[2:]]
    assert sum(shares[:-1]) == pytest.approx(100, abs=0.05 * len(shares))
    assert shares[-1] == 100


def test_an_unknown_format_is_refused(report: Report) -> None:
    with pytest.raises(UsageError, match="format 'cvs': unknown; did you mean csv"):
        reports.render(report, "cvs")


def test_a_run_without_deals_has_no_report(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path / "run", 0)
    for entry in OF_DEALS.values():
        with pytest.raises(RunError, match="no deals in it"):
            entry.build(run)


def test_one_deal_is_enough_and_an_interrupted_run_says_so(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path / "run", 1, planned=50, mode="auction")
    for entry in OF_DEALS.values():
        report = entry.build(run)
        assert "interrupted: 1 of 50 deals" in str(report)
        for form in reports.FORMATS:
            assert reports.render(report, form)


def test_files_are_written_or_refused_in_one_line(report: Report, tmp_path: Path) -> None:
    content = reports.render(report, "csv")
    assert reports.write(content, tmp_path / "a.csv").read_bytes() == content
    with pytest.raises(RunError, match="cannot write, no such file or directory"):
        reports.write(content, tmp_path / "none" / "a.csv")
    with pytest.raises(RunError, match="cannot write, is a directory"):
        reports.write(content, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.csv"
    target.write_bytes(b"old")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RunError, match="cannot write, no space left on device"):
        reports.write(b"new", target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_pipes_links_and_modes_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "a.csv", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    reports.write(b"new", link)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert reports.write(b"new", "/dev/null") == Path("/dev/null")
    assert Path("/dev/null").is_char_device()


def test_no_file_of_a_run_is_written_over(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path / "run", 5)
    run.manifest.write(run.folder)
    (tmp_path / "link").symlink_to(run.folder)
    part = next((run.folder / "parts").iterdir()).name
    names = ("manifest.json", "plan.toml", f"parts/{part}", "parts/new.csv", "parts/../plan.toml")
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    for name in names:
        for folder in (run.folder, tmp_path / "link"):
            with pytest.raises(RunError, match=r"belongs to the run .*; name another file"):
                reports.write(b"x", folder / name)
    assert {p: p.read_bytes() for p in run.folder.rglob("*") if p.is_file()} == before
    assert reports.write(b"x", run.folder / "bidding.csv").read_bytes() == b"x"


def test_runs_are_given_as_runs_or_folders(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path / "run", 200)
    run.manifest.write(run.folder)
    for make in (reports.bidding, reports.marriages):
        expected = make(run)
        assert make(run.folder).equals(expected)
        assert make(str(run.folder)).equals(expected)
    charts = [entry for entry in reports.CHARTS.values() if entry.of == ("deals",)]
    for entry in (*OF_DEALS.values(), *charts):
        assert entry.build(str(run.folder))
    assert summary(run.folder).text() == summary(run).text()
    makers = [entry.build for entry in (*OF_DEALS.values(), *charts)]
    for maker in (reports.bidding, reports.marriages, summary, *makers):
        for wrong in (None, 5, [run], run.frame()):
            with pytest.raises(UsageError, match="give a run or the path of its folder"):
                maker(wrong)  # type: ignore[operator]


def test_more_or_fewer_rows_than_the_manifest_says_are_a_fault_of_the_run(tmp_path: Path) -> None:
    run, _ = made_up_run(tmp_path, 200)
    for rows in (150, 250):
        piece = replace(run.manifest.pieces[0], count=rows)
        wrong = replace(run, manifest=replace(run.manifest, pieces=(piece,)))
        for make in (reports.bidding, reports.marriages, summary):
            with pytest.raises(RunError, match=f"200 deals in its parts, not {rows}"):
                make(wrong)  # type: ignore[operator]


def test_intervals_at_the_edge_are_not_halved(tmp_path: Path) -> None:
    """One deal made: ± half of a one-sided interval would be wrong on both sides."""
    run, rows = made_up_run(tmp_path / "one", 1)
    text = summary(run).text()
    made = "100% (20% to 100%)" if rows[0]["made"] else "0% (0% to 80%)"
    assert f"contract made          {made}" in text
    assert "dealt anew             0% (0% to 80%)" in text


@pytest.mark.parametrize(
    ("part", "n", "cell_text"),
    [
        (1, 1, "100 ≥20"),
        (0, 1, "0 ≤80"),
        (0, 10**6, "0.00 ≤0.01"),
        (155, 157, "99 −3+1"),
        (5, 10, "50 ±26"),
        (99_000, 100_000, "99.0 ±0.1"),
    ],
)
def test_cells_of_proportions(part: int, n: int, cell_text: str) -> None:
    interval = wilson(part, n)
    row = {"p": interval.value, "low": interval.low, "high": interval.high}
    assert plain(*cell(Column("p", "p", "percent", "low", "high"), row)) == cell_text


def test_keys_are_joined_before_what_matters_is_left_out(made: tuple[Run, list[Row]]) -> None:
    report = reports.bidding_report(made[0])
    narrow = to_text(report, width=40)
    assert "m a t" in narrow
    assert "(m a t: marriages, aces, guarded tens)" in narrow
    assert re.search(r"^1 1 1 +\d+ ", narrow, re.MULTILINE)
    assert re.search(r"^30–34 +\d+ ", narrow, re.MULTILINE)
    assert "m a t" not in to_text(report, width=100)


def test_words_are_broken_where_nothing_more_can_be_left_out() -> None:
    frame = pl.DataFrame({"what": ["a half marriage, of any suit", "aces"], "n": [1234, 5]})
    frame = frame.with_columns(verdict=pl.Series(["holds: it gains a lot", "no"]))
    columns = (Column("what is said", "what"), Column("n", "n", "count"), Column("so", "verdict"))
    table = Table(name="t", title="T", frame=frame, columns=columns)
    report = Report("r", "A title, " * 9, "sampled", "m", "p", "How to read.", (), (table,))
    lines = to_text(report, width=40).splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[-8:-2] == [
        "-" * 40,
        "a half      1,234  holds: it gains a lot",
        " marriage,",
        " of any",
        " suit",
        "aces            5  no",
    ]
    wide = to_text(report, width=80)
    assert "a half marriage, of any suit  1,234  holds: it gains a lot\n" in wide


def test_pipes_and_missing_values_in_tables() -> None:
    frame = pl.DataFrame({"name": ["a|b", None], "p": [None, 0.25], "n": [1, 2]})
    table = Table("t", "T", frame, (Column("name", "name"), Column("p", "p", "percent")))
    report = Report("r", "R", "exact", "none", "counted", "Read.", (), (table,))
    assert "| a\\|b | – |" in to_markdown(report)
    assert "25.0" in to_text(report)
    empty = replace(report, tables=(replace(table, frame=frame.clear()),))
    assert to_text(empty).count("\n") > 3
    assert json.loads(to_json(empty))["tables"] == {"t": []}


def test_importing_reports_loads_nothing_heavy() -> None:
    code = (
        "import sys, milsim.reports as r; assert r.REPORTS and r.CHARTS; r.FORMATS; dir(r);"
        "heavy = {'polars', 'numpy', 'numba', 'matplotlib'} & set(sys.modules);"
        "assert not heavy, heavy; r.bidding; r.bidding_report; r.render;"
        "assert 'matplotlib' not in sys.modules; r.save; assert 'matplotlib' in sys.modules;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'biding'"):
        _ = reports.biding
