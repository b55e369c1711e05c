"""The table of all hands: its deals one by one, its bytes, its folder, and what packing keeps."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import asdict
from math import asin, pi, sin, sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from milsim.auction import minimum_of
from milsim.cards import ALL_CARDS, cards_of
from milsim.dealing import hand_masks_table
from milsim.dealing.tables import N_HANDS
from milsim.deals import combination_rank, combination_unrank
from milsim.errors import (
    ExitCode,
    PolicyError,
    RunError,
    StoppedEarlyError,
    UsageError,
    VerificationError,
)
from milsim.policies.players import Hands, KernelPlayer, Player
from milsim.policies.registry import GREEDY
from milsim.policies.seen import Seen, TableRules
from milsim.rights import hand_rights
from milsim.rng import philox, stream_of, uniform_below
from milsim.rules import load
from milsim.simulation.deal_kernel import (
    AS_DEALT,
    AUCTION,
    BIDDING,
    CONCEDERS,
    COUNTS,
    MINIMUM_IN_FORCE,
    SCORES,
)
from milsim.simulation.driver import DrivenDeal
from milsim.simulation.plan import Plan
from milsim.simulation.tricks_kernel import MARRIAGES, POINTS
from milsim.store.collect import collect
from milsim.store.engines import Failure, Threads
from milsim.store.lock import locked
from milsim.store.writing import MOST_FAILURES, Collecting, Ended
from milsim.tables import hands_kernel as at
from milsim.tables.building import HandMaking, build_table, collect_table, hands_left
from milsim.tables.columns import rows_of, schema_of
from milsim.tables.compact import (
    CompactTable,
    chances_of,
    levels_of,
    read_compact,
    shipped_headers,
    shipped_table,
)
from milsim.tables.folder import Table, manifest_of
from milsim.tables.passing import class_keys, passing_values
from milsim.tables.plan import TablePlan, hands_of, shard_of
from milsim.tables.playing import HandPlayer, deals_of_hand, needs_of
from milsim.tables.sample_plan import SamplePlan
from milsim.tables.sampling import sample_models
from tests.chi_square import FALSE_ALARMS, binomial_tail, chi_square_limit
from tests.command_line import PATIENCE, Shell, wait_for

SEED = 3


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def plan_of(first: int = 4000, last: int = 4200, **more: object) -> TablePlan:
    """Two hundred hands on both sides of a part's end."""
    return TablePlan.make(policy="greedy", seed=SEED, hands=(first, last), **more)  # type: ignore[arg-type]


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# -- the deals, one by one -----------------------------------------------------------------------


def placed(number: int, n: int, k: int, among: int) -> int:
    """The set of k of some n cards with a number, by the arithmetic of RULES.md §1."""
    cards = cards_of(among)
    assert len(cards) == n
    places = combination_unrank(number, n, k)
    return sum(1 << card for place, card in enumerate(cards) if places >> place & 1)


@pytest.mark.parametrize("rank", [0, 151_515, N_HANDS - 1])
def test_a_hand_is_dealt_every_talon_and_the_rest_at_random(rank: int) -> None:
    places, repetitions = np.arange(680), np.arange(680) % 3
    masks, keys = deals_of_hand(rank, places, repetitions, SEED)
    hand = int(hand_masks_table()[rank])
    for place, repetition, column, key in zip(places, repetitions, masks.T, keys, strict=True):
        talon = placed(int(place), 17, 3, ALL_CARDS ^ hand)
        index = rank * 680 + int(place)
        number = uniform_below(SEED, index, stream_of(16, int(repetition)), 3432)
        left = placed(int(number), 14, 7, ALL_CARDS ^ hand ^ talon)
        assert column.tolist() == [hand, left, ALL_CARDS ^ hand ^ talon ^ left, talon]
        assert int(key) == philox(SEED, index, stream_of(18, int(repetition)))[0]
    assert len(set(keys.tolist())) == 680


class Passer(KernelPlayer):
    """Plays as greedy, but never bids of his own accord."""

    def bid(self, seen: Seen, hands: Hands | None) -> int:
        return 0


@pytest.mark.parametrize(("rules", "rank"), [("mil", 200_000), ("gamerules", 77_777)])
def test_a_row_is_what_the_deals_give_played_one_by_one(rules: str, rank: int) -> None:
    """The kernel against the driver, which asks decision by decision, in Python."""
    chosen = load(rules)
    plan = TablePlan.make(
        rules=rules, policy="greedy", seed=SEED, per_talon=2, hands=(rank, rank + 1)
    )
    played = HandPlayer.of(plan)(np.array([rank]), 0, 2)
    row = rows_of(np.array([rank]), played, plan).row(0, named=True)
    by = TableRules.of(chosen)
    driven = DrivenDeal(by, ("greedy",) * 3)
    driven.situation[BIDDING] = AS_DEALT
    driven.situation[MINIMUM_IN_FORCE] = minimum_of(0, by.fields)
    points, talons = [], []
    for repetition in range(2):
        masks, keys = deals_of_hand(rank, np.arange(680), np.full(680, repetition), SEED)
        for column, key in zip(masks.T.tolist(), keys.tolist(), strict=True):
            driven.play(tuple(column), [KernelPlayer(GREEDY.number)] * 3, key)  # type: ignore[arg-type]
            points.append(int(driven.work[POINTS] + driven.work[MARRIAGES]))
            talons.append(column[3])
    assert row["deals"] == 1360
    assert row["points"] == sum(points)
    assert row["points_squared"] == sum(each**2 for each in points)
    for contract in plan.contracts:
        assert row[f"makes_{contract}"] == sum(each >= contract for each in points)
    for card, name in enumerate(("9S", "JS", "QS", "KS", "TS", "AS")):
        wanted = sum(p for p, talon in zip(points, talons, strict=True) if talon >> card & 1)
        assert row[f"talon_{name}"] == wanted, name


@pytest.mark.parametrize("rules", ["mil", "gamerules"])
def test_passing_is_a_whole_auction_in_which_the_hand_never_bids(rules: str) -> None:
    rank = 200_000
    by = TableRules.of(load(rules))
    played = HandPlayer(load(rules), "greedy", SEED)(np.array([rank]), 1, 1)
    hand = int(hand_masks_table()[rank])
    driven = DrivenDeal(by, ("greedy",) * 3)
    driven.situation[BIDDING] = AUCTION
    driven.situation[MINIMUM_IN_FORCE] = minimum_of(0, by.fields)
    driven.situation[CONCEDERS] = 0b111 if rules == "mil" else 0
    scores = []
    for place in range(at.PASSES):
        seat = 1 + place % 2
        players: list[Player] = [KernelPlayer(GREEDY.number) for _ in range(3)]
        players[seat] = Passer(GREEDY.number)
        for attempt in range(1000):
            index, moment = rank * at.PASSES + place, 1024 + attempt
            number = int(uniform_below(SEED, index, stream_of(17, moment), 680 * 3432))
            talon = placed(number // 3432, 17, 3, ALL_CARDS ^ hand)
            left = placed(number % 3432, 14, 7, ALL_CARDS ^ hand ^ talon)
            dealt = [0, 0, 0, talon]
            dealt[seat], dealt[(seat + 1) % 3] = hand, left
            dealt[(seat + 2) % 3] = ALL_CARDS ^ hand ^ talon ^ left
            key = int(philox(SEED, index, stream_of(19, moment))[0])
            if driven.play(tuple(dealt), players, key) == COUNTS:  # type: ignore[arg-type]
                scores.append(int(driven.deal[SCORES + seat]))
                break
    told = played.passing[0].tolist()
    assert told == [at.PASSES, sum(scores), sum(each**2 for each in scores)]


def test_a_hand_with_a_right_to_a_new_deal_never_passes() -> None:
    fields = TableRules.of(load("mil")).fields
    nines = sum(1 << 6 * suit for suit in range(4)) | 0b111000
    assert hand_rights(nines, fields) != 0
    played = HandPlayer(load("mil"), "greedy", SEED)(np.array([combination_rank(nines)]), 0, 1)
    assert played.passing.tolist() == [[0, 0, 0]]
    assert played.deals.tolist() == [680]


def test_hands_agree_with_a_simulation_of_deals_in_which_they_were_dealt(tmp_path: Path) -> None:
    """Two samples of each hand, in bins of points: chi-square, one false alarm in a million."""
    statistic, freedom = 0.0, 0
    player = HandPlayer(load("mil"), "greedy", SEED)
    for rank in np.random.default_rng(5).integers(0, N_HANDS, 6).tolist():
        cards = " ".join(
            f"{'9JQKTA'[card % 6]}{'SCDH'[card // 6]}"
            for card in cards_of(int(hand_masks_table()[rank]))
        )
        where = f'has="{cards}"'
        plan = Plan.make(deals=5440, seed=9, mode="declarer", policy="greedy", where=where)
        direct = collect(plan, tmp_path / str(rank)).run.frame().collect()
        points = direct["declarer_points"].to_numpy()
        edges = [0, 60, 80, 100, 110, 120, 140, 160, 200, 1000]
        histogram = player(np.array([rank]), 0, 8).histogram[0]
        values = np.arange(len(histogram))
        mine = np.histogram(values, edges, weights=histogram)[0]
        theirs = np.histogram(points, edges)[0]
        both = mine + theirs
        bins = both >= 40
        # The rare bins together, so that none is too small to judge.
        mine = np.append(mine[bins], mine[~bins].sum())
        theirs = np.append(theirs[bins], theirs[~bins].sum())
        used = mine + theirs > 0
        statistic += float(((mine - theirs)[used] ** 2 / (mine + theirs)[used]).sum())
        freedom += int(used.sum()) - 1
    assert statistic < chi_square_limit(freedom)


# -- the folder ----------------------------------------------------------------------------------


def test_threads_shards_and_a_second_run_give_the_same_bytes(tmp_path: Path) -> None:
    whole = build_table(plan_of(), tmp_path / "whole", threads=1)
    assert (whole.complete, whole.rows, len(whole.parts)) == (True, 200, 2)
    expected = all_bytes(tmp_path / "whole")
    build_table(plan_of(), tmp_path / "threads", threads=2)
    assert all_bytes(tmp_path / "threads") == expected
    second = build_table(plan_of(), tmp_path / "shards", threads=1, shard=(2, 2))
    assert [part.start for part in second.parts] == [4096]
    assert [hands_left(plan_of(), tmp_path / "shards", (k, 2)) for k in (1, 2)] == [96, 0]
    assert build_table(plan_of(), tmp_path / "shards", threads=1, shard=(1, 2)).complete
    assert all_bytes(tmp_path / "shards") == expected
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "whole").rglob("*")}
    build_table(plan_of(), tmp_path / "whole", threads=1)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "whole").rglob("*")} == times


class KilledError(Exception):
    pass


def test_what_a_kill_leaves_is_kept_and_the_rest_is_built(tmp_path: Path) -> None:
    def kill(progress: object) -> None:
        if progress.done > 96:  # type: ignore[attr-defined]
            raise KilledError

    with pytest.raises(KilledError):
        build_table(plan_of(), tmp_path / "killed", threads=1, progress=kill)
    begun = Table.open(tmp_path / "killed")
    assert (begun.rows, begun.complete) == (96, False)
    # A part whose digest was not written yet does not count.
    (tmp_path / "killed" / "parts" / "part-000000004096.parquet").write_bytes(b"PAR1")
    build_table(plan_of(), tmp_path / "killed", threads=1)
    build_table(plan_of(), tmp_path / "whole", threads=1)
    assert all_bytes(tmp_path / "killed") == all_bytes(tmp_path / "whole")


def damage_pair(folder: Path) -> None:
    """A part of another plan's table, with what stands beside it."""
    build_table(TablePlan.make(policy="greedy", seed=9, hands=(10, 13)), folder.parent / "o")
    for path in (folder.parent / "o" / "parts").iterdir():
        shutil.copy(path, folder / "parts" / path.name)


def damage_count(folder: Path) -> None:
    beside = next((folder / "parts").glob("*.json"))
    beside.write_text(beside.read_text().replace('"rows": 3', '"rows": 2'))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda f: next((f / "parts").glob("*.parquet")).unlink(), "parquet: missing"),
    "empty": (lambda f: next((f / "parts").glob("*.parquet")).write_bytes(b""), "empty, 0 bytes"),
    "torn": (lambda f: next((f / "parts").glob("*.parquet")).write_bytes(b"P"), "torn or changed"),
    "torn beside": (lambda f: next((f / "parts").glob("*.json")).write_bytes(b"{"), "is torn"),
    "other count": (damage_count, "is torn or not as milsim writes it"),
    "foreign": (damage_pair, "belongs to another plan"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_told_and_built_again_by_the_same_command(
    damage: str, tmp_path: Path, shell: Shell
) -> None:
    folder = tmp_path / "t"
    call = ("table", "build", "--policy", "greedy", "--hands", "10:13", "--out", folder)
    assert shell(*call).code == 0
    expected = all_bytes(folder)
    do, words = DAMAGE[damage]
    do(folder)
    for verb in (("show",), ("verify",), ("pack", "--out", tmp_path / "x")):
        outcome = shell("table", verb[0], folder, *verb[1:])
        assert outcome.code in (3, 5)
        assert outcome.out == ""
        assert outcome.err.count("\n") == 1
        assert words in outcome.err
        assert outcome.err.endswith("the command that built it, given again, mends it\n")
    outcome = shell(*call)
    assert outcome.code == 0
    assert words in outcome.err
    assert "; played again" in outcome.err
    assert "all built" in outcome.out
    assert all_bytes(folder) == expected


def test_a_table_written_before_parts_named_their_plan_is_read(
    tmp_path: Path, shell: Shell
) -> None:
    table = build_table(plan_of(0, 3), tmp_path / "a", threads=1)
    beside = next((table.folder / "parts").glob("*.json"))
    beside.write_text(json.dumps(asdict(table.parts[0])) + "\n")
    before = all_bytes(table.folder)
    assert Table.open(table.folder).frame().height == 3
    assert build_table(plan_of(0, 3), table.folder).complete
    assert all_bytes(table.folder) == before


def test_two_processes_on_one_table(tmp_path: Path) -> None:
    build_table(plan_of(0, 3), tmp_path / "a", threads=1)
    next((tmp_path / "a" / "parts").glob("*.json")).unlink()
    with (
        locked(tmp_path / "a"),
        pytest.raises(RunError, match=r"another process writes into it \(process \d+ on "),
    ):
        build_table(plan_of(0, 3), tmp_path / "a", threads=1)


def test_another_plan_or_a_strange_folder_is_refused(tmp_path: Path) -> None:
    small = plan_of(0, 2)
    build_table(small, tmp_path / "a", threads=1)
    with pytest.raises(RunError, match="another plan"):
        build_table(plan_of(0, 3), tmp_path / "a", threads=1)
    manifest = tmp_path / "a" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"kernels": "', '"kernels": "0'))
    with pytest.raises(RunError, match="other code"):
        build_table(small, tmp_path / "a", threads=1)
    manifest.write_text(manifest.read_text().replace('"seed": 3', '"seed": 4'))
    with pytest.raises(RunError, match="was edited"):
        Table.open(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("x")
    with pytest.raises(RunError, match="not empty"):
        build_table(small, tmp_path / "b", threads=1)
    with pytest.raises(RunError, match="no such folder"):
        Table.open(tmp_path / "c")


def test_a_plan_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    small, folder = plan_of(0, 2), tmp_path / "a"
    folder.mkdir()
    for mine in ("mine\n", plan_of(0, 3).to_toml(), ""):
        (folder / "plan.toml").write_text(mine)
        for begun in (
            lambda: build_table(small, folder, threads=1),
            lambda: sample_models(SamplePlan.make(hands=1), folder, threads=1),
        ):
            with pytest.raises(RunError, match="folder is not empty; name a new or empty one"):
                begun()
            assert all_bytes(folder) == {"plan.toml": mine.encode()}
    # What a killed command of ours left: its plan, or half of it under a hidden name.
    (folder / "plan.toml").write_text(small.to_toml())
    (folder / ".plan.toml.tmp").write_text("policy = ")
    assert build_table(small, folder, threads=1).complete
    build_table(small, tmp_path / "b", threads=1)
    assert all_bytes(folder) == all_bytes(tmp_path / "b")


@pytest.mark.parametrize("text", [None, "policy = 1\n"])
def test_a_plan_that_is_gone_or_changed_is_written_again(tmp_path: Path, text: str | None) -> None:
    small, folder = plan_of(0, 2), tmp_path / "a"
    table = build_table(small, folder, threads=1)
    before = all_bytes(folder)
    (folder / "plan.toml").unlink()
    if text is not None:
        (folder / "plan.toml").write_text(text)
    with pytest.raises(VerificationError, match=r"plan.toml: is not this table's"):
        table.verify()
    build_table(small, folder, threads=1)
    assert all_bytes(folder) == before


def test_verify_tells_a_changed_part_from_a_torn_one(tmp_path: Path, shell: Shell) -> None:
    table = build_table(plan_of(0, 3), tmp_path / "a", threads=1)
    assert table.verify() == 1
    part = tmp_path / "a" / "parts" / table.parts[0].name
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with pytest.raises(VerificationError, match="differs from its digest"):
        table.verify()
    outcome = shell("table", "verify", tmp_path / "a")
    assert (outcome.code, outcome.err.count("\n")) == (5, 1)
    part.write_bytes(content[:-1])
    with pytest.raises(RunError, match="torn"):
        table.frame()


def test_the_command_line_builds_shows_and_refuses(tmp_path: Path, shell: Shell) -> None:
    folder = tmp_path / "t"
    call = ("table", "build", "--policy", "greedy", "--hands", "10:12", "--out", folder, "-q")
    assert shell(*call).code == 0
    before = all_bytes(folder)
    again = shell(*call, "--threads", 1)
    assert again.out.startswith("hands     2, ranks 10:12; all built\ndeals     680 a hand")
    assert all_bytes(folder) == before
    shown = json.loads(shell("table", "show", folder, "--json").out)
    assert (shown["built"], shown["complete"], shown["policy"]) == (2, True, "greedy")
    other = shell(*call, "--seed", 2)
    assert (other.code, other.err.count("\n")) == (3, 1)
    refused = shell("table", "pack", folder, "--out", tmp_path / "x.hands")
    assert refused.code == 3
    assert "has 2 of 346,104 hands" in refused.err


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_keeps_finished_parts_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """The first part has six hands, the next four thousand each: more than are played meanwhile."""
    folder = tmp_path / "t"
    call = [sys.executable, "-m", "milsim", "table", "build", "--policy", "greedy", "--quiet"]
    call += ["--threads", "1", "--out", str(folder), "--hands"]
    process = subprocess.Popen([*call, "4090:346104"], stderr=subprocess.PIPE, text=True)
    parts = folder / "parts"
    wait_for(process, (parts / "part-000000004090.json").exists)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130
    # The test may have stood still while the command went on.
    later = len(list(parts.glob("*.json"))) - 1
    hands = 6 + 4096 * later
    assert error == (
        f"milsim: interrupted after {hands:,} hands; they are saved in {folder}; "
        "the same command goes on\n"
    )
    table = Table.open(folder)
    assert (table.rows, table.complete, table.verify()) == (hands, False, 1 + later)
    assert sorted(path.name for path in parts.iterdir()) == [
        f"part-{start:012d}.{kind}"
        for start in (4090, *range(4096, 4096 * (1 + later), 4096))
        for kind in ("json", "parquet")
    ]


BROKEN = 1005
SMALL = ("table", "build", "--policy", "greedy", "--hands", "1000:1024", "--threads", 2, "--out")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve parts of two hands."""
    monkeypatch.setattr("milsim.tables.folder.PART_HANDS", 2)
    monkeypatch.setattr("milsim.tables.building.CHUNK_HANDS", 1)


def break_hands(monkeypatch: pytest.MonkeyPatch, broken: Callable[[int], bool]) -> None:
    whole = HandMaking.play

    def play(making: HandMaking, start: int, count: int) -> pl.DataFrame:
        if any(map(broken, range(start, start + count))):
            raise RuntimeError(f"hand {start} is broken")
        return whole(making, start, count)

    monkeypatch.setattr(HandMaking, "play", play)


@pytest.mark.usefixtures("small_parts")
def test_hands_that_cannot_be_played_are_told_and_the_others_built(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        break_hands(patched, lambda hand: hand == BROKEN)
        outcome = shell(*SMALL, tmp_path / "a")
        reason = f"could not play {BROKEN}–{BROKEN}: RuntimeError: hand {BROKEN} is broken"
        assert outcome.code == ExitCode.STOPPED_EARLY, outcome
        assert outcome.out.startswith("hands     24, ranks 1000:1024; 22 built\n")
        assert outcome.err.splitlines()[-2:] == [
            reason,
            f"milsim: {reason}; 22 hands; they are saved in {tmp_path / 'a'}; "
            "the same command goes on",
        ]
        with pytest.raises(StoppedEarlyError, match=f"could not play {BROKEN}–{BROKEN}: "):
            build_table(TablePlan.make(policy="greedy", hands=(1000, 1024)), tmp_path / "a")
    kept = all_bytes(tmp_path / "a")
    assert len(kept) == 2 + 2 * 11
    assert "parts/part-000000001004.parquet" not in kept
    assert shell(*SMALL, tmp_path / "a", "--quiet").code == 0
    assert shell(*SMALL, tmp_path / "whole", "--quiet").code == 0
    assert all_bytes(tmp_path / "a") == all_bytes(tmp_path / "whole")


@pytest.mark.usefixtures("small_parts")
def test_where_all_hands_are_broken_only_so_many_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_hands(monkeypatch, lambda hand: hand >= 1002)
    told: list[Failure] = []
    plan = TablePlan.make(policy="greedy", hands=(1000, 1100))
    collected = collect_table(plan, tmp_path / "a", Collecting(Threads(1), failed=told.append))
    assert (collected.ended, collected.run.rows) == (Ended.FAILED, 2)
    assert list(collected.failures) == told
    assert [each.start for each in told] == [1002 + 2 * n for n in range(MOST_FAILURES)]
    with pytest.raises(StoppedEarlyError, match="and 15 ranges more; 2 hands; they are saved"):
        build_table(plan, tmp_path / "a", threads=1)


@pytest.mark.usefixtures("small_parts")
def test_time_that_is_up_ends_it_and_the_same_command_goes_on(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:

        class Clock:
            """Time is up once some hands are played, however fast."""

            @staticmethod
            def monotonic() -> float:
                return 0.0 if len(list((tmp_path / "a" / "parts").glob("*.json"))) < 3 else 9.0

        patched.setattr("milsim.tables.building.time", Clock)
        outcome = shell(*SMALL, tmp_path / "a", "--quiet", "--max-seconds", "9")
    rows = Table.open(tmp_path / "a").rows
    assert outcome.code == ExitCode.STOPPED_EARLY, outcome
    assert outcome.err == (
        f"milsim: time was up after {rows} hands; they are saved in {tmp_path / 'a'}; "
        "the same command goes on\n"
    )
    assert 6 <= rows < 24
    assert shell(*SMALL, tmp_path / "a", "--quiet", "--max-seconds", "1e6").code == 0
    assert shell(*SMALL, tmp_path / "whole", "--quiet").code == 0
    assert all_bytes(tmp_path / "a") == all_bytes(tmp_path / "whole")
    assert shell(*SMALL, tmp_path / "a", "--max-seconds", "soon").code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("read", "text"),
    [(hands_of, text) for text in ("", "5", "7:5", "0:346105", "a:b", "-1:5", "1:2:3")]
    + [(shard_of, text) for text in ("", "0/3", "4/3", "1", "x/2", "1/0", "1/5000")],
)
def test_ranges_and_shards_that_are_none(read: object, text: str) -> None:
    with pytest.raises(UsageError):
        read(text)  # type: ignore[operator]


def test_a_policy_that_is_too_slow_for_a_table_is_refused() -> None:
    with pytest.raises(PolicyError, match="not all kernels"):
        TablePlan.make(policy="pimc")


# -- packed --------------------------------------------------------------------------------------


def made_up_rows(plan: TablePlan) -> pl.DataFrame:
    """Rows of all hands that hang together as real ones do, of no deals at all."""
    rng = np.random.default_rng(8)
    points = rng.normal(100, 25, N_HANDS)
    columns: dict[str, np.ndarray] = {name: np.zeros(N_HANDS) for name in schema_of(plan.contracts)}
    columns["hand"] = np.arange(N_HANDS)
    columns["deals"] = np.full(N_HANDS, 680)
    columns["points"] = np.rint(680 * np.clip(points, 5, 350))
    columns["points_squared"] = np.rint(columns["points"] ** 2 / 680 + 680 * rng.uniform(0, 2000))
    made = np.full(N_HANDS, 680)
    for contract in plan.contracts:
        chance = 1 / (1 + np.exp((contract - points) / 15))
        made = np.minimum(made, rng.binomial(680, chance)) if contract < 300 else 0 * made
        columns[f"makes_{contract}"] = made
    columns["pass_deals"] = np.full(N_HANDS, 20)
    columns["pass_score"] = np.rint(20 * rng.normal(35, 10, N_HANDS))
    columns["pass_score_squared"] = np.rint(columns["pass_score"] ** 2 / 20 + 20 * 400)
    return pl.DataFrame(columns).cast(schema_of(plan.contracts))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made_up() -> tuple[TablePlan, pl.DataFrame, CompactTable]:
    plan = TablePlan.make()
    rows = made_up_rows(plan)
    return plan, rows, CompactTable.of_rows(rows, plan, manifest_of(plan))


@pytest.fixture(scope="module")
def made_up_file(made_up: tuple[TablePlan, pl.DataFrame, CompactTable]) -> bytes:
    """As it is packed, which takes seconds: what is made up has no order to be pressed."""
    return made_up[2].to_bytes()


def test_packing_rounds_no_more_than_it_says(
    made_up: tuple[TablePlan, pl.DataFrame, CompactTable], made_up_file: bytes, tmp_path: Path
) -> None:
    _, rows, packed = made_up
    (tmp_path / "a.hands").write_bytes(made_up_file)
    read = read_compact(tmp_path / "a.hands")
    assert dict(read.header) == dict(packed.header)
    assert read.contracts[0] == 100
    assert read.contracts[-1] < 300
    for name in ("means", "spreads", "levels"):
        assert (getattr(read, name) == getattr(packed, name)).all()
    assert np.array_equal(read.passing, packed.passing, equal_nan=True)
    assert np.abs(read.means - rows["points"].to_numpy() / 680).max() <= 0.2501
    chances = read.chances(np.arange(N_HANDS))
    for i, contract in enumerate(read.contracts):
        exact = rows[f"makes_{contract}"].to_numpy() / 680
        assert np.abs(chances[i] - exact).max() <= 0.00791
        assert (chances[i][exact == 0] == 0).all()
        assert (chances[i][exact > 0] > 0).all()


def test_a_packed_file_is_read_as_its_text_says(
    made_up: tuple[TablePlan, pl.DataFrame, CompactTable], made_up_file: bytes
) -> None:
    """By a reader that shares no line with ours, as a page in a browser would do it."""
    _, _, packed = made_up
    line, _, stream = made_up_file.partition(b"\n")
    header, planes = json.loads(line), zlib.decompress(stream)
    assert len(planes) == (4 + len(header["contracts"])) * N_HANDS
    for rank in (0, 7, 200_000, N_HANDS - 1):
        at_plane = [planes[plane * N_HANDS + rank] for plane in range(4 + len(header["contracts"]))]
        assert (at_plane[0] + 256 * at_plane[1]) / 2 == packed.means[rank]
        assert at_plane[2] == packed.spreads[rank]
        assert at_plane[3] - 64 == packed.passing[rank]
        level = 0
        for i in range(len(header["contracts"])):
            level = (level + at_plane[4 + i]) % 256
            assert sin(pi / 2 * level / 100) ** 2 == pytest.approx(
                float(packed.chances(np.array([rank]))[i, 0]), abs=1e-12
            )


def test_passing_is_drawn_to_the_class_by_as_much_as_is_noise() -> None:
    """Hands of one class whose true values are known: the drawn values miss them by less."""
    rng = np.random.default_rng(4)
    ranks = np.flatnonzero(
        (class_keys(hand_masks_table().astype(np.int64)) == [[1], [1], [1]]).all(axis=0)
    )
    truth = rng.normal(40, 10, len(ranks))
    scores = np.rint(rng.normal(truth[:, None], 30, (len(ranks), 20))).astype(np.int64)
    never = np.arange(len(ranks)) % 100 == 0
    rows = pl.DataFrame(
        {
            "hand": ranks,
            "pass_deals": np.where(never, 0, 20),
            "pass_score": np.where(never, 0, scores.sum(axis=1)),
            "pass_score_squared": np.where(never, 0, (scores**2).sum(axis=1)),
        }
    )
    values, classes = passing_values(rows)
    assert (np.isnan(values) == never).all()
    (only,) = classes
    assert only.key == (1, 1, 1)
    assert only.deals == 20 * int((~never).sum())
    assert only.mean == pytest.approx(40, abs=4 * only.error)
    assert only.spread == pytest.approx(10, rel=0.1)
    missed = float(np.sqrt(np.nanmean((values - truth) ** 2)))
    assert only.hand_error == pytest.approx(missed, rel=0.05)
    assert missed == pytest.approx(10 / sqrt(1 + 100 / 45), rel=0.05)  # 5.6, of 6.7 without


def test_levels_are_the_nearest_to_every_proportion() -> None:
    made = np.arange(681)
    levels = levels_of(made, np.full(681, 680))
    assert levels.tolist() == [round(2 / pi * 100 * asin(sqrt(k / 680))) for k in range(681)]
    assert np.abs(chances_of(levels) - made / 680).max() < 0.00791


@pytest.mark.parametrize("content", [b"", b"{}\n", b"x\ny", b'{"format":"milsim hand table"}\n'])
def test_a_file_that_is_no_packed_table(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.hands").write_bytes(content)
    with pytest.raises(RunError, match="no packed table"):
        read_compact(tmp_path / "a.hands")


def test_a_torn_packed_table(made_up_file: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.hands").write_bytes(made_up_file[:-100])
    with pytest.raises(RunError, match="torn"):
        read_compact(tmp_path / "a.hands")
    with pytest.raises(RunError, match="cannot read"):
        read_compact(tmp_path / "b.hands")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"[100,110,", b"[100,118,"),
        (b'"policy":"expert"', b'"policy":"export"'),
        (b'"contracts"', b'"contrasts"'),
        (b'"digest":"', b'"digast":"'),
        (b'"deals":680', b'"deals":688'),
        (None, b"x"),
    ],
)
def test_a_packed_table_with_any_byte_changed(
    made_up_file: bytes, old: bytes | None, new: bytes
) -> None:
    """In the header as in the planes, or with more behind them: no number of it is given."""
    content = made_up_file
    changed = content + new if old is None else content.replace(old, new, 1)
    assert changed != content
    with pytest.raises(RunError, match="torn or changed"):
        CompactTable.from_bytes(changed, "a.hands")


@pytest.mark.parametrize("name", shipped_headers())
def test_a_shipped_table_is_what_this_code_plays(name: str) -> None:
    """Some hands played anew give the very levels. If not: milsim table build and pack, again."""
    header = shipped_headers()[name]
    table = next(
        table
        for rules in ("mil", "gamerules")
        if (table := shipped_table(load(rules))) is not None and table.header == header
    )
    plan = TablePlan.make(
        rules=header["rules_name"],
        policy=header["policy"],
        seed=header["seed"],
        per_talon=header["per_talon"],
    )
    assert plan.digest() == header["plan_digest"]
    ranks = np.random.default_rng(1).integers(0, N_HANDS, 12)
    rows = rows_of(ranks, HandPlayer.of(plan)(ranks, 0, plan.per_talon), plan)
    deals = rows["deals"].to_numpy().astype(np.int64)
    for i, contract in enumerate(table.contracts):
        made = rows[f"makes_{contract}"].to_numpy().astype(np.int64)
        assert table.levels[i, ranks].tolist() == levels_of(made, deals).tolist()
    assert np.abs(table.means[ranks] - rows["points"].to_numpy() / deals).max() <= 0.2501


@pytest.mark.parametrize("name", sorted(shipped_headers()))
def test_a_shipped_table_is_within_its_errors_of_deals_of_another_seed(name: str) -> None:
    """Random hands against a direct simulation: means and chances by their standard errors."""
    header = shipped_headers()[name]
    rules = load(header["rules_name"])
    packed = shipped_table(rules)
    assert packed is not None
    ranks = np.random.default_rng(11).choice(N_HANDS, 60, replace=False)
    played = HandPlayer(rules, header["policy"], 77)(ranks, 0, 2)
    deals = played.deals
    means = played.moments()[0] / deals
    spreads = packed.spreads[ranks].astype(float)
    errors = spreads * np.sqrt(1 / packed.deals + 1 / deals) + 0.25
    assert float((((means - packed.means[ranks]) / errors) ** 2).sum()) < chi_square_limit(60)
    made = played.at_least(needs_of(packed.contracts, rules)).T / deals
    p = packed.chances(ranks)
    is_open = (p > 0.05) & (p < 0.95)
    noise = 1 / packed.deals + 1 / int(deals[0]) + 0.0157**2 / 12  # and what packing rounds
    scores = ((made - p) / np.sqrt(np.maximum(p * (1 - p), 0.01) * noise))[is_open]
    assert len(scores) > 200
    assert np.mean(np.abs(scores) < 1.96) > 0.9


def test_shares_are_within_their_intervals() -> None:
    """680 deals of a table against 6,800 others: no contract is off by more than chance allows."""
    player = HandPlayer(load("mil"), "greedy", SEED)
    ranks = np.array([100_000, 250_000])
    few, many = player(ranks, 0, 1), player(ranks, 1, 10)
    needs = np.array([100, 120, 140])
    for made, n, chance in zip(
        few.at_least(needs).ravel(),
        np.repeat(few.deals, 3),
        (many.at_least(needs) / many.deals[:, None]).ravel(),
        strict=True,
    ):
        assert binomial_tail(int(made), int(n), float(np.clip(chance, 0.001, 0.999))) > FALSE_ALARMS
