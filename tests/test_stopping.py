"""Runs that end by a rule: at an index that their rows alone determine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import milsim
from milsim.errors import ExitCode, MilsimError, RunError, UsageError
from milsim.intervals import wilson
from milsim.simulation.plan import Plan
from milsim.simulation.stopping import Stopping
from milsim.store import collect as collecting
from milsim.store.collect import DealMaking, collect
from milsim.store.ending import Counted
from milsim.store.engines import Made, Stored, Threads
from milsim.store.listing import found_runs
from milsim.store.merging import compact_run, merge_runs
from milsim.store.prefix import Prefix
from milsim.store.verifying import verify_run
from milsim.store.writing import Collecting, Ended, keep, part_spans
from tests.clocks import set_clock
from tests.command_line import Shell
from tests.folders import bytes_of

DEALS, PART, START = 6_000, 256, 100
RULES: dict[str, dict[str, Any]] = {
    "width": {"ci_width": "1.6%"},
    "decide": {"decide": "made>38%"},
    "at once": {"decide": "made>5%"},
    "never": {"ci_width": "0.1%"},
}


def plan_of(rule: str, **other: Any) -> Plan:
    return Plan.make(deals=DEALS, seed=5, start=START, mode="declarer", **{**RULES[rule], **other})


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", PART)
    monkeypatch.setattr("milsim.simulation.engine.CHUNK_DEALS", {"off": 64})
    collecting._player.cache_clear()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[bool]:
    """Deal by deal, whether the contract was made; the plan without a rule."""
    run = milsim.simulate(
        DEALS, seed=5, start=START, mode="declarer", out=tmp_path_factory.mktemp("all") / "run"
    )
    return run.frame().sort("index").collect()["made"].to_list()


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each rule, played by one thread without a disturbance."""
    folders = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "PART_DEALS", PART)
        for rule in RULES:
            folders[rule] = tmp_path_factory.mktemp("ended") / "run"
            assert collect(plan_of(rule), folders[rule], Collecting(Threads(1))).run.complete
    return folders


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def recounted(rule: Stopping, made: list[bool]) -> tuple[int, bool]:
    """Deals of the run, and whether the rule held: from the rows of the whole plan, naively."""
    for number in range(1, DEALS + 1):
        is_checkpoint = (START + number) % PART == 0 or number == DEALS
        if not is_checkpoint:
            continue
        if rule.ci_width is not None:
            interval = wilson(sum(made[:number]), number)
            assert interval.low is not None
            assert interval.high is not None
            held = (interval.high - interval.low) / 2 <= rule.ci_width
        else:
            held = rule.answer(number, sum(made[:number])) is not None
        if held:
            return number, True
    return DEALS, False


# -- the rule ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_a_run_ends_where_a_recount_of_its_rows_does(
    rule: str, ended: dict[str, Path], made: list[bool]
) -> None:
    run = milsim.open_run(ended[rule])
    ending = run.manifest.ending
    assert run.plan.stop is not None
    assert ending is not None
    assert (run.deals, ending.held) == recounted(run.plan.stop, made)
    assert (ending.deals, ending.end) == (run.deals, START + run.deals)
    rows = run.frame().sort("index").collect()
    assert rows["index"].to_list() == list(range(START, ending.end))
    assert rows["made"].to_list() == made[: run.deals]
    assert ending.made == sum(made[: run.deals])


def test_the_cases_are_those_that_they_are_called(ended: dict[str, Path]) -> None:
    deals = {rule: milsim.open_run(folder).deals for rule, folder in ended.items()}
    assert deals["at once"] == PART - START
    assert deals["never"] == DEALS
    assert PART < deals["decide"] != deals["width"] < DEALS


def test_what_is_no_rule_is_refused() -> None:
    for wrong in ("0", "0%", "50%", "1", "-1%", "nan", "1e-3", "x", "", "1 000", None, [], True):
        if wrong is not None:
            with pytest.raises(UsageError, match=r"^ci-width: .* is no half-width"):
                Stopping.make(ci_width=wrong)
    for wrong in (
        "",
        "made",
        "made>",
        "made>0%",
        "made>100%",
        "points>5",
        "made=50%",
        "made>٥%",
        5,
    ):
        with pytest.raises(UsageError, match=r"^decide: .* is no question"):
            Stopping.make(decide=wrong)
    with pytest.raises(UsageError, match="leave one out"):
        Stopping.make("1%", "made>50%")
    assert Stopping.make() is None
    for stored in ([], {}, {"x": 1}, {"ci_width": None, "decide": "x"}, "made>50%"):
        with pytest.raises(MilsimError):
            Stopping.of_dict(stored)


def test_the_rule_is_part_of_the_identity_only_where_it_is() -> None:
    plain = Plan.make(deals=10)
    assert "stop" not in plain.to_dict()
    assert "ci_width" not in plain.to_toml()
    spellings = [Plan.make(deals=10, ci_width=text) for text in ("0.5%", "0.005", 0.005, ".50 %")]
    assert len({plan.digest() for plan in spellings}) == 1
    digests = {plan.digest() for plan in (plain, *spellings, Plan.make(deals=10, decide="made>1%"))}
    assert len(digests) == 3
    assert "\nci_width = 0.005\n" in spellings[0].to_toml()
    assert '\ndecide = "made<2.5%"\n' in Plan.make(deals=10, decide="MADE <= .025").to_toml()


def test_decisions_are_wrong_as_seldom_as_promised() -> None:
    """At the border itself: the question has no answer, and seldom gets one."""
    import numpy as np

    rule = Stopping.make(decide="made>40%")
    assert rule is not None
    draw = np.random.default_rng(3)
    answered = 0
    for _ in range(150):
        made = np.cumsum(draw.binomial(64, 0.4, size=60))
        answered += any(rule.answer(64 * (n + 1), int(made[n])) for n in range(60))
    assert answered <= 150 * 0.05
    assert rule.answer(1000, 500) == "yes"
    assert rule.answer(1000, 300) == "no"


# -- the same whatever happens -------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("threads", [2, 5])
def test_the_threads_do_not_matter(
    rule: str, threads: int, ended: dict[str, Path], tmp_path: Path
) -> None:
    collected = collect(plan_of(rule), tmp_path / "run", Collecting(Threads(threads)))
    assert collected.ended == Ended.COMPLETE
    assert bytes_of(tmp_path / "run") == bytes_of(ended[rule])


@pytest.mark.parametrize("rule", RULES)
def test_shards_are_cut_by_merge_or_by_the_command_without_shard(
    rule: str, ended: dict[str, Path], tmp_path: Path
) -> None:
    plan = plan_of(rule)
    for k in (3, 1, 2):
        alone = collect(plan, tmp_path / str(k), Collecting(shard=(k, 3)))
        shared = collect(plan, tmp_path / "shared", Collecting(shard=(k, 3)))
        assert alone.ended == shared.ended == Ended.COMPLETE
        assert not alone.run.complete
        assert not shared.run.complete
    spans = list(part_spans(DealMaking(plan), (2, 3)))
    assert alone.run.deals == sum(count for _, count in spans)  # wholly, up to the plan's end
    first = merge_runs([tmp_path / "3", tmp_path / "1"], tmp_path / "merged")
    assert first.complete == (rule == "at once")
    if rule != "at once":
        assert merge_runs([tmp_path / "2"], tmp_path / "merged").complete
    assert bytes_of(tmp_path / "merged") == bytes_of(ended[rule])
    assert verify_run(tmp_path / "shared", sample=0).notes
    with pytest.raises(RunError, match="was not applied yet"):
        compact_run(tmp_path / "shared", tmp_path / "compact")
    assert collect(plan, tmp_path / "shared").run.complete
    assert bytes_of(tmp_path / "shared") == bytes_of(ended[rule])
    # And then a shard has nothing to add.
    collect(plan, tmp_path / "shared", Collecting(shard=(2, 3)))
    assert bytes_of(tmp_path / "shared") == bytes_of(ended[rule])


@pytest.mark.parametrize("rule", RULES)
def test_a_second_run_changes_nothing(rule: str, ended: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ended[rule], tmp_path / "run"))
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert collect(plan_of(rule), folder).ended == Ended.COMPLETE
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times


@pytest.mark.parametrize("rule", ["width", "never"])
def test_stopped_by_time_at_any_moment_and_resumed(
    rule: str, ended: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    for moments in (7, 1, 40, 13, 3):
        with pytest.MonkeyPatch.context() as patch:
            set_clock(patch, [0.0, *[0.1] * moments, *[9.0] * 100_000])
            collect(plan_of(rule), folder, Collecting(Threads(3), seconds=5))
    assert collect(plan_of(rule), folder).run.complete
    assert bytes_of(folder) == bytes_of(ended[rule])


KILLED = """
import os, sys
from milsim.store import collect, writing, prefix
collect.PART_DEALS = {part}
real, left = writing.write_atomically, [{writes}]
def write(*arguments):
    if not left[0]:
        os.kill(os.getpid(), 9)
    left[0] -= 1
    real(*arguments)
import milsim.files
for module in list(sys.modules.values()):
    if module.__name__.startswith("milsim") and getattr(module, "write_atomically", None) is real:
        module.write_atomically = write
from tests.test_stopping import plan_of
collect.collect(plan_of("decide"), {folder!r})
"""


@pytest.mark.parametrize("writes", [1, 6, 9, "last"])
def test_killed_and_resumed(writes: int | str, ended: dict[str, Path], tmp_path: Path) -> None:
    if writes == "last":  # all parts are there, but not where the run ends
        writes = len(bytes_of(ended["decide"])) - 1
    folder = tmp_path / "run"
    script = KILLED.format(part=PART, writes=writes, folder=str(folder))
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.returncode == -9
    assert not (folder / "ending.json").exists()
    assert collect(plan_of("decide"), folder).run.complete
    assert bytes_of(folder) == bytes_of(ended["decide"])


@pytest.mark.parametrize("at_once", [1, 3, 256])
def test_parts_are_counted_the_same_alone_and_together(
    at_once: int, ended: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milsim.store.prefix._AT_ONCE", at_once)
    compact_run(ended["never"], tmp_path / "few", rows=1000)
    for folder in (ended["never"], tmp_path / "few"):
        manifest = milsim.open_run(folder).manifest
        found = Prefix(DealMaking(manifest.plan), folder, manifest.pieces)
        assert found.look() == manifest.ending
        torn = Path(shutil.copytree(folder, tmp_path / f"torn-{folder.name}"))
        path = sorted((torn / "parts").glob("*.parquet"))[2]
        path.write_bytes(b"PAR1")
        found = Prefix(DealMaking(manifest.plan), torn, manifest.pieces)
        with pytest.raises(RunError, match=rf"^part .*{path.name}: cannot be read"):
            found.look()
        assert found.deals == manifest.pieces[2].start - START


def test_killed_while_it_was_cut(ended: dict[str, Path], tmp_path: Path) -> None:
    """Shards in one folder; of the parts behind the end some are gone, or half of one is."""
    plan = plan_of("decide")
    for k in (1, 2):
        collect(plan, tmp_path / "run", Collecting(shard=(k, 2)))
    parts = sorted((tmp_path / "run" / "parts").glob("*.json"))
    for path in parts[-5:-2]:
        path.unlink()
    parts[-4].with_suffix(".parquet").unlink()
    assert collect(plan, tmp_path / "run").run.complete
    assert bytes_of(tmp_path / "run") == bytes_of(ended["decide"])


def test_a_gap_before_the_end_is_played_and_nothing_else(
    ended: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(ended["decide"], tmp_path / "run"))
    for suffix in (".json", ".parquet"):
        sorted((folder / "parts").glob(f"*{suffix}"))[1].unlink()
    with pytest.raises(AssertionError):
        assert milsim.open_run(folder).complete
    heard: list[int] = []
    collect(
        plan_of("decide"), folder, Collecting(Threads(1), progress=lambda p: heard.append(p.done))
    )
    assert bytes_of(folder) == bytes_of(ended["decide"])
    # A part, and what one thread had begun when the rule was asked.
    assert heard[-1] <= PART + 64 * 5


def test_a_part_that_cannot_be_played_ends_the_run_before_it(
    ended: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DealMaking.play

    def play(self: DealMaking, start: int, count: int) -> Any:
        if start <= 600 < start + count:
            raise ZeroDivisionError
        return real(self, start, count)

    with monkeypatch.context() as patch:
        patch.setattr(DealMaking, "play", play)
        outcome = collect(plan_of("decide"), tmp_path / "run", Collecting(Threads(1)))
    assert outcome.ended == Ended.FAILED
    assert not outcome.run.complete
    assert collect(plan_of("decide"), tmp_path / "run").ended == Ended.COMPLETE
    assert bytes_of(tmp_path / "run") == bytes_of(ended["decide"])


class WorkersElsewhere:
    """An engine whose workers write by themselves, two parts ahead of what is handed out."""

    def __init__(self) -> None:
        self.written = 0

    def make(self, making: Any, spans: Any, stop: Any, heard: Any) -> Iterator[Any]:
        ahead: deque[Any] = deque()
        for outcome in Threads(1).make(making, spans, lambda: False, heard):
            assert isinstance(outcome, Made)
            keep(outcome, FOLDERS[-1], making.folders)
            self.written += 1
            ahead.append(Stored(outcome.piece))
            if stop():
                break
            if len(ahead) > 2:
                yield ahead.popleft()
        yield from ahead


FOLDERS: list[Path] = []


@pytest.mark.parametrize("rule", ["decide", "at once", "never"])
def test_what_workers_wrote_behind_the_end_is_not_kept(
    rule: str, ended: dict[str, Path], tmp_path: Path
) -> None:
    FOLDERS.append(tmp_path / "run")
    engine = WorkersElsewhere()
    outcome = collect(plan_of(rule), FOLDERS[-1], Collecting(engine))
    assert outcome.ended == Ended.COMPLETE
    assert engine.written > len(list((ended[rule] / "parts").glob("*.json"))) or rule == "never"
    assert bytes_of(FOLDERS[-1]) == bytes_of(ended[rule])


# -- what is said of it --------------------------------------------------------------------------


def test_verify_counts_the_rows_again(ended: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ended["decide"], tmp_path / "run"))
    found = verify_run(folder, sample=20)
    assert (found.faults, found.left, found.notes) == ([], 0, [])
    path = folder / "ending.json"
    text = path.read_text()
    ending = milsim.open_run(folder).manifest.ending
    assert ending is not None
    replace(ending, made=ending.made + 1).write(folder)  # with its digest
    (fault,) = verify_run(folder, sample=0).faults
    assert (fault.kind, fault.path) == ("wrong", path)
    assert fault.words.endswith("remove it, and the same command mends it")
    path.unlink()
    collect(plan_of("decide"), folder)
    assert bytes_of(folder) == bytes_of(ended["decide"])
    path.write_text(text[:-9])
    assert [fault.kind for fault in verify_run(folder, sample=0).faults] == ["torn"]
    with pytest.raises(RunError, match=r"ending.json: is torn"):
        milsim.open_run(folder)
    collect(plan_of("decide"), folder)
    assert bytes_of(folder) == bytes_of(ended["decide"])


@pytest.mark.parametrize("rule", RULES)
def test_an_ending_that_was_edited_is_counted_again_by_the_same_command(
    rule: str, ended: dict[str, Path], tmp_path: Path
) -> None:
    """To another end that might be one: its own digest tells."""
    folder = Path(shutil.copytree(ended[rule], tmp_path / "run"))
    path = folder / "ending.json"
    text = path.read_text()
    made = json.loads(text)["made"]
    path.write_text(text.replace(f'"made": {made}', f'"made": {made + 1}'))
    assert [fault.kind for fault in verify_run(folder, sample=0).faults] == ["torn"]
    with pytest.raises(RunError, match=r"ending.json: is torn"):
        milsim.open_run(folder)
    told: list[str] = []
    collect(plan_of(rule), folder, Collecting(told=told.append))
    assert told == [f"{path}: is torn, or not as milsim writes it; counted again"]
    assert bytes_of(folder) == bytes_of(ended[rule])


def stopped(folder: Path, rule: str = "never", moments: int = 60) -> Path:
    """A run that was stopped by time in its middle: the path of what it keeps of its counting."""
    with pytest.MonkeyPatch.context() as patch:
        set_clock(patch, [0.0, *[0.1] * moments, *[9.0] * 100_000])
        outcome = collect(plan_of(rule), folder, Collecting(Threads(1), seconds=5))
    assert outcome.ended == Ended.TIME
    return folder / ".counted.json"


@pytest.mark.parametrize("change", ["", "made", "digest", "torn", "part", "checkpoint"])
def test_what_was_counted_is_not_counted_again_unless_it_changed(
    change: str, ended: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "run")
    said = json.loads(path.read_text())
    until = (said["end"] - START) // PART + 1  # parts: the first is a short one
    assert until > 5
    if change == "made":
        path.write_text(path.read_text().replace(f"{said['made']}", f"{said['made'] + 1}"))
    elif change == "digest":
        path.write_text(path.read_text().replace(said["parts"][:3], "xyz"))
    elif change == "torn":
        path.write_text(path.read_text()[:50])
    elif change == "part":
        sorted((path.parent / "parts").glob("*.parquet"))[3].write_bytes(b"")
    elif change == "checkpoint":
        said.pop("digest")
        Counted(**{**said, "checkpoint": PART // 2}).write(path.parent)
    counted: list[int] = []
    real = Prefix._made

    def count(self: Prefix, start: int, number: int) -> int | None:
        found = real(self, start, number)
        if found is not None:
            counted.append(start)
        return found

    monkeypatch.setattr(Prefix, "_made", count)
    assert collect(plan_of("never"), path.parent).run.complete
    parts = len(list((path.parent / "parts").glob("*.json")))
    assert len(counted) == parts - (0 if change else until)
    assert bytes_of(path.parent) == bytes_of(ended["never"])


def test_verify_and_merge_take_no_counting_on_trust(ended: dict[str, Path], tmp_path: Path) -> None:
    path = stopped(tmp_path / "run")
    said = json.loads(path.read_text())
    said.pop("digest")
    Counted(**{**said, "made": said["made"] + 1}).write(path.parent)  # with its digest
    run = collect(plan_of("never"), path.parent).run
    assert [fault.kind for fault in verify_run(run.folder, sample=0).faults] == ["wrong"]
    (run.folder / "ending.json").unlink()
    merge_runs([run.folder], tmp_path / "merged")
    assert bytes_of(tmp_path / "merged") == bytes_of(ended["never"])


@pytest.mark.parametrize(
    "content", ["", "[]", "null", '{"plan": 1}', "{", "[" * 5000, '{"end": 1e999}', "\0"]
)
def test_an_ending_that_is_none(content: str, ended: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ended["at once"], tmp_path / "run"))
    (folder / "ending.json").write_text(content)
    assert [fault.kind for fault in verify_run(folder, sample=0).faults] == ["torn"]
    assert "ending.json" in found_runs([tmp_path])[0].fault
    collect(plan_of("at once"), folder)
    assert bytes_of(folder) == bytes_of(ended["at once"])


def test_compacting_keeps_the_end(ended: dict[str, Path], tmp_path: Path) -> None:
    run = compact_run(ended["decide"], tmp_path / "out", rows=1000)
    assert run.complete
    assert verify_run(tmp_path / "out", sample=8).faults == []
    assert (
        collect(plan_of("decide"), tmp_path / "out").run.deals
        == milsim.open_run(ended["decide"]).deals
    )


def test_the_list_says_why_a_run_is_complete(ended: dict[str, Path]) -> None:
    listed = {rule: found_runs([folder])[0] for rule, folder in ended.items()}
    assert all(each.complete for each in listed.values())
    assert listed["at once"].stopped == "made>5%: yes, after 156 of at most 6,000 deals"
    assert listed["never"].stopped == (
        "contract made ±0.1%: not within 6,000 deals, the most that were allowed"
    )


def test_on_the_command_line(shell: Shell, tmp_path: Path, ended: dict[str, Path]) -> None:
    what = ["simulate", "--deals", DEALS, "--seed", 5, "--start", START, "--mode", "declarer"]
    outcome = shell(*what, "--ci-width", "1.6%", "--out", tmp_path / "run")
    assert outcome.code == 0, outcome
    assert "stopped                contract made ±1.6% after" in outcome.out
    assert "to stop by: contract made ±1.6%" in outcome.out
    assert bytes_of(tmp_path / "run") == bytes_of(ended["width"])
    outcome = shell(*what, "--decide", "made<5 %", "--json", "--out", tmp_path / "two")
    assert json.loads(outcome.out)["stopped"] == "made<5%: no, after 156 of at most 6,000 deals"
    outcome = shell(*what, "--decide", "made>5%", "--shard", "2/2", "--out", tmp_path / "shard")
    assert outcome.code == 0
    assert "not known yet" in outcome.out
    for wrong in (["--ci-width", "60%"], ["--decide", "x"], ["--ci-width", 1, "--decide", "x"]):
        outcome = shell(*what, *wrong, "--out", tmp_path / "no")
        assert outcome.code == ExitCode.USAGE
        assert outcome.err.count("\n") == 1
    outcome = shell("report", "bidding", tmp_path / "run")
    assert outcome.code == 0
    assert "interrupted" not in outcome.out + outcome.err
