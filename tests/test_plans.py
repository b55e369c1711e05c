"""Plans of many runs: what they expand to, what they are known by, and how they are played."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import milsim
from milsim.errors import (
    ExitCode,
    InterruptedRunError,
    MilsimError,
    PlanError,
    PolicyError,
    RunError,
    StoppedEarlyError,
    UsageError,
)
from milsim.reports.plan_print import estimates_text, played_text
from milsim.rules import load, with_fields
from milsim.simulation.grid import MOST_TASKS, Grid, grid_of, read_grid
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store import collect as collecting
from milsim.store.collect import collect
from milsim.store.engines import Threads
from milsim.store.estimating import estimates
from milsim.store.planned import merge_plans, play_plan, runs_in
from milsim.store.verifying import verify_run
from milsim.store.writing import Collecting, Ended
from tests.clocks import set_clock
from tests.command_line import Shell
from tests.folders import bytes_of

PART = 128
PLAN = """
# two rule sets, two policies
rules = ["mil", { base = "mil", set = { play.must_beat = "no" }, name = "free" }]
policy = ["greedy", "random"]
mode = "declarer"
deals = 300
seed = 3
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(collecting, "PART_DEALS", PART)
    monkeypatch.setattr("milsim.simulation.engine.CHUNK_DEALS", {"off": 64})
    collecting._player.cache_clear()
    yield
    collecting._player.cache_clear()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return written(tmp_path / "plan.toml", PLAN)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def of(text: str, tmp_path: Path) -> Grid:
    return read_grid(written(tmp_path / "some.toml", text))


# -- from a text to tasks ------------------------------------------------------------------------


def test_every_combination_is_a_task_that_is_an_ordinary_plan(plan: Path) -> None:
    free = with_fields("mil", {"play.must_beat": "no"})
    wanted = [
        Plan.make(deals=300, seed=3, mode="declarer", rules=rules, policy=policy)
        for rules in ("mil", free)
        for policy in ("greedy", "random")
    ]
    tasks = read_grid(plan).tasks
    assert [task.plan.digest() for task in tasks] == [each.digest() for each in wanted]
    assert [task.name[:-9] for task in tasks] == [
        f"{rules}-declarer-300-{policy}-s3"
        for rules in ("mil", "free")
        for policy in ("greedy", "random")
    ]
    assert all(task.name.endswith(f"-{task.plan.digest()[:8]}") for task in tasks)


def test_grids_share_what_stands_above_them(tmp_path: Path) -> None:
    text = (
        'deals = 10\nmode = "declarer"\n'
        '[[grid]]\nseed = [1, 2]\n[[grid]]\nwhere = ["marriages=H", "aces>=2"]\ndeals = 20\n'
        'dd = ["off", "gifts"]\n[[grid]]\nmode = "auction"\nstart = 5\nci_width = ["1%", "2%"]\n'
    )
    plans = [task.plan for task in of(text, tmp_path).tasks]
    assert all(isinstance(each, Plan) for each in plans)
    told = [
        (each.deals, each.seed, each.where, each.mode, each.dd, each.start, str(each.stop))
        for each in plans
        if isinstance(each, Plan)
    ]
    assert told == [
        (10, 1, "", "declarer", "off", 0, "None"),
        (10, 2, "", "declarer", "off", 0, "None"),
        (20, 1, "marriages=H", "declarer", "off", 0, "None"),
        (20, 1, "marriages=H", "declarer", "gifts", 0, "None"),
        (20, 1, "aces>=2", "declarer", "off", 0, "None"),
        (20, 1, "aces>=2", "declarer", "gifts", 0, "None"),
        (10, 1, "", "auction", "off", 5, "contract made ±1%"),
        (10, 1, "", "auction", "off", 5, "contract made ±2%"),
    ]


def test_matches_too(tmp_path: Path) -> None:
    text = (
        'kind = "matches"\nmatches = 5\nrules = ["mil", "russian"]\npolicy = "greedy,random,random"'
    )
    wanted = [
        MatchPlan.make(matches=5, rules=rules, policy="greedy,random,random").digest()
        for rules in ("mil", "russian")
    ]
    assert [task.plan.digest() for task in of(text, tmp_path).tasks] == wanted


def test_files_lie_beside_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my plans").mkdir()
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "my plans" / "home.toml", '[play]\nmust_beat = "no"\n')
    written(tmp_path / "my plans" / "bot.toml", 'policy = "greedy"\nplay = "random"\n')
    text = 'deals = 10\nrules = ["home.toml", {base = "home.toml", set = {match.target = 1200}}]\n'
    path = written(tmp_path / "my plans" / "p.toml", text + 'policy = "bot.toml,greedy,bot.toml"')
    first, second = (task.plan for task in read_grid(path).tasks)
    assert first.rules.play.must_beat == second.rules.play.must_beat == "no"
    assert (first.rules.name, second.rules.match.target) == ("home", 1200)
    bot = "random:bid=greedy:exchange=greedy"
    assert first.policies == (bot, "greedy", bot)


@pytest.mark.parametrize(
    "plan",
    [
        Plan.make(
            deals=20, seed=4, mode="declarer", where="aces>=1", policy="greedy,random,greedy",
            rules=with_fields("gamerules", {"match.target": 777}), decide="made>50%",
        ),
        MatchPlan.make(matches=3, seed=2, rules="russian", policy="greedy,random,random"),
    ],
    ids=["deals", "matches"],
)  # fmt: skip
def test_the_plan_of_a_single_run_is_a_plan(plan: Plan | MatchPlan, tmp_path: Path) -> None:
    (task,) = of(plan.to_toml(), tmp_path).tasks
    assert task.plan.digest() == plan.digest()
    assert task.plan.rules.name == plan.rules.name


def test_the_identity_is_that_of_the_tasks_however_they_are_written(
    plan: Path, tmp_path: Path
) -> None:
    same = (
        'seed = 3.0\ndeals = 3e2\nmode = "declarer"\n'
        'policy = ["random", ["greedy", "greedy", "greedy"]]\n'
        'rules = [{play = {must_beat = "no"}, name = "free"}, {base = "mil"}]\n'
        'where = " "\ndd = "off"\nkind = "deals"\n'
    )
    assert of(same, tmp_path).digest() == read_grid(plan).digest()
    for old, new in (("300", "301"), ('"random"', '"expert"'), ("seed = 3", "seed = 4")):
        assert of(PLAN.replace(old, new), tmp_path).digest() != read_grid(plan).digest()
    # Folders of tasks are named by their rules.
    renamed = of(PLAN.replace('"free"', '"unforced"'), tmp_path)
    assert renamed.digest() != read_grid(plan).digest()
    assert [t.plan.digest() for t in renamed.tasks] == [
        t.plan.digest() for t in read_grid(plan).tasks
    ]
    one, two = ('where = "aces>=2, marriages=H"', 'where = "marriages = H and aces >= 2"')
    assert of(PLAN + one, tmp_path).digest() == of(PLAN + two, tmp_path).digest()


def test_ten_thousand_tasks_are_the_most() -> None:
    grid = grid_of({"deals": 10, "seed": list(range(MOST_TASKS))})
    assert len({task.name for task in grid.tasks}) == MOST_TASKS
    with pytest.raises(PlanError, match="20,000 tasks, more than 10,000"):
        grid_of({"deals": [10, 20], "seed": list(range(MOST_TASKS))})
    with pytest.raises(PlanError, match=r"^seed: 10,001 values"):
        grid_of({"deals": 10, "seed": list(range(MOST_TASKS + 1))})


NASTY = ["../../x", "/etc/x", "a/b", "..", ".", "a\\b", "~", "$(x)", "é*?", "x" * 60, "C:x", "-rf"]


@pytest.mark.parametrize("name", NASTY)
def test_names_of_tasks_are_plain_names_of_folders(name: str, tmp_path: Path) -> None:
    (task,) = grid_of({"deals": 10, "rules": {"name": name, "set": {"match.target": 1200}}}).tasks
    assert task.plan.rules.name == name
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{8,200}", task.name)
    assert ".." not in task.name
    played = play_plan(Grid((task,)), tmp_path / "out")
    assert played.complete
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {task.name, "plan.json"}


BAD: dict[str, tuple[str, str]] = {
    "nothing": ("", r"deals: missing"),
    "no toml": ("deals = ", r"not valid toml: invalid value .at end of document."),
    "twice": ("deals = 1\ndeals = 2", r"not valid toml"),
    "deep": ("deals = " + "[" * 5000, r"not valid toml"),
    "unknown key": (
        "deals = 1\npolicys = 'greedy'",
        r"policys: unknown key; did you mean policy\?",
    ),
    "key of matches": ("deals = 1\nmatches = 5", r"matches: unknown key"),
    "key of deals": ("kind = 'matches'\nmatches = 1\nwhere = ''", r"where: unknown key"),
    "no matches": ("kind = 'matches'", r"matches: missing"),
    "kind": ("kind = 'match'\ndeals = 1", r"kind: 'match' is unknown; did you mean matches\?"),
    "kind of a list": ("kind = ['deals']\ndeals = 1", r"kind: \['deals'\] is unknown"),
    "an escape in a key": ('deals = 1\n"\\u001b[31m" = 1', r"'\\x1b\[31m': unknown key"),
    "no number": ("deals = 'ten'", r"deals: 'ten' is not a whole number"),
    "a half": ("deals = 1.5", r"deals: 1.5 is not a whole number"),
    "none": ("deals = 0", r"deals: 0 is out of range"),
    "nan": ("deals = nan", r"deals: nan is not a whole number"),
    "a date": ("deals = 2020-01-01", r"deals: datetime.*is not a whole number"),
    "a switch": ("deals = true", r"deals: True is not a whole number"),
    "place in a list": ("deals = [1, 2, -3]", r"deals\[2\]: -3 is out of range"),
    "seed": ("deals = 1\nseed = 18446744073709551616", r"seed: .*out of range"),
    "a huge number": ("deals = 1" + "0" * 5000, r"not valid toml|out of range"),
    "empty list": ("deals = 1\nwhere = []", r"where: an empty list"),
    "same numbers": ("deals = [1, 2, 1.0]", r"deals\[2\]: the same as deals\[0\]"),
    "same policies": (
        "deals = 1\npolicy = ['greedy', 'greedy,greedy,greedy']",
        r"policy\[1\]: the same as policy\[0\]",
    ),
    "same rules": (
        "deals = 1\nrules = ['mil', {set = {match.target = 1000}, name = 'my'}]",
        r"rules\[1\]: the same as rules\[0\]",
    ),
    "same tasks": (
        "deals = 1\n[[grid]]\nseed = [1, 2]\n[[grid]]\nseed = [3, 2]",
        r"tasks 2 and 4 are the same \(mil-auction-1-greedy-s2\)",
    ),
    "policy": (
        "deals = 1\npolicy = 'gredy'",
        r"policy: unknown policy 'gredy': did you mean greedy\?",
    ),
    "two policies": ("deals = 1\npolicy = 'greedy,random'", r"policy: .* three by seat are needed"),
    "policies of numbers": ("deals = 1\npolicy = [[1, 2, 3]]", r"policy\[0\]: .* is no policy"),
    "policy file": ("deals = 1\npolicy = 'no.toml'", r"policy: file .*no.toml.*no such file"),
    "rules": ("deals = 1\nrules = ['mil', 'mill']", r"rules\[1\]: .*did you mean mil\?"),
    "rules file": ("deals = 1\nrules = 'no.toml'", r"rules: file .*no.toml: no such file"),
    "rules of a number": ("deals = 1\nrules = 5", r"rules: 5 are no rules"),
    "field": (
        "deals = 1\nrules = {set = {play.must_bet = 'no'}}",
        r"rules: play.must_bet: unknown field; did you mean play.must_beat\?",
    ),
    "value of a field": (
        "deals = 1\nrules = {play = {must_beat = 5}}",
        r"rules: play.must_beat: 5",
    ),
    "key of rules": (
        "deals = 1\nrules = {bas = 'mil'}",
        r"rules: 'bas' is an unknown key; did you",
    ),
    "base": ("deals = 1\nrules = {base = 5}", r"rules: base is a name"),
    "set": ("deals = 1\nrules = {set = []}", r"rules: base is a name or a file, and set a table"),
    "name": ("deals = 1\nrules = {name = ''}", r"rules: name: a text of 1 to 60"),
    "name of a preset": (
        "deals = 1\nrules = {name = 'mil', set = {match.target = 1200}}",
        r"rules: name: 'mil' is that of other rules",
    ),
    "where": ("deals = 1\nwhere = 'acs>=2'", r"where: .*did you mean aces\?"),
    "where of a number": ("deals = 1\nwhere = 5", r"where: 5 is no text"),
    "mode": ("deals = 1\nmode = 'auktion'", r"mode: 'auktion' is unknown; did you mean auction\?"),
    "dd": ("deals = 1\ndd = ['off', 'gift']", r"dd\[1\]: 'gift' is unknown; did you mean gifts\?"),
    "width": ("deals = 1\nci_width = '60%'", r"ci_width: '60%' is no half-width"),
    "question": ("deals = 1\ndecide = 'made'", r"decide: 'made' is no question"),
    "both rules": ("deals = 1\nci_width = 0.1\ndecide = 'made>5%'", r"ci_width and decide: leave"),
    "grid": ("deals = 1\ngrid = 5", r"grid: one or more tables"),
    "grids": ("deals = 1\ngrid = []", r"grid: one or more tables"),
    "place in a grid": (
        "deals = 1\n[[grid]]\n[[grid]]\nseed = [1, 'x']",
        r"grid\[1\]\.seed\[1\]: 'x' is not a whole number",
    ),
    "grid in a grid": ("deals = 1\n[[grid]]\n[[grid.grid]]", r"grid\[0\]\.grid: unknown key"),
    "players": (
        "kind = 'matches'\nmatches = 1\npolicy = 'greedy,greedy,greedy,greedy'",
        r"policy .*three by player are needed",
    ),
    "a run's, edited": ("deals = 1\nrules_name = 'x'\nrules = 5", r"rules: with rules_name"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_plan_is_one_line_that_names_the_place(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    with pytest.raises(PlanError) as caught:
        of(text, tmp_path)
    told = str(caught.value)
    assert re.match(rf"plan {re.escape(str(tmp_path))}/some.toml: ({message})", told), told
    assert "\n" not in told
    assert len(told) < 600


def test_files_that_are_no_plans(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none.toml", "no such file"),
        (tmp_path, "is a directory"),
        (written(tmp_path / "big.toml", "#" * 1_000_001), "more than 1000000 bytes"),
    ):
        with pytest.raises(PlanError, match=message):
            read_grid(path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(PlanError, match="not utf-8"):
        read_grid(tmp_path / "latin.toml")
    with pytest.raises(PlanError):
        grid_of([])  # type: ignore[arg-type]
    with pytest.raises(PlanError):
        grid_of({1: 2})  # type: ignore[dict-item]


KEYS = ("rules", "policy", "where", "mode", "seed", "deals", "start", "dd", "ci_width", "decide",
        "kind", "matches", "grid", "rules_name", "policies", "set", "base", "name",
        "play")  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["mil", "greedy", "1%", "made>50%", "auction", "off", "aces>=1", "matches"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), VALUES, max_size=6))
def test_whatever_stands_in_a_plan_it_is_tasks_or_one_line(document: dict[str, Any]) -> None:
    assert one_line_or_tasks(lambda: grid_of(document))


@given(st.text(max_size=60) | st.text(alphabet="deals=1[]{}\"'\n. grid#,", max_size=60))
def test_whatever_text_a_plan_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert one_line_or_tasks(lambda: read_grid(path))


def one_line_or_tasks(read: Callable[[], Grid]) -> bool:
    try:
        return bool(read().tasks)
    except PlanError as error:
        return "\n" not in str(error)


def test_the_examples_of_the_page_are_plans() -> None:
    pages = [Path(__file__).parents[1] / name for name in ("docs/plans.md", "README.md")]
    found = [
        re.findall(r"^```toml\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S) for page in pages
    ]
    assert [len(examples) for examples in found] == [1, 1]
    assert all(len(grid_of(tomllib.loads(text)).tasks) == 8 for (text,) in found)


# -- playing -------------------------------------------------------------------------------------


def test_tasks_are_the_runs_that_they_would_be_alone(plan: Path, tmp_path: Path) -> None:
    grid = read_grid(plan)
    played = play_plan(grid, tmp_path / "out")
    assert played.complete
    assert played.ended == Ended.COMPLETE
    assert (tmp_path / "out" / "plan.toml").read_text() == PLAN
    for task in grid.tasks:
        assert isinstance(task.plan, Plan)
        collect(task.plan, tmp_path / "alone" / task.name)
        assert bytes_of(tmp_path / "out" / task.name) == bytes_of(tmp_path / "alone" / task.name)
        assert verify_run(tmp_path / "out" / task.name, sample=8).faults == []
    lines = played_text(played).splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        [task.name, "300", "deals"] for task in grid.tasks
    ]


def test_a_second_run_changes_no_byte_also_of_the_plan_written_otherwise(
    plan: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    play_plan(read_grid(plan), out)
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert play_plan(read_grid(plan), out).complete
    assert play_plan(of(PLAN + "# a word\nstart = 0\n", tmp_path), out).complete
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == times


def test_a_folder_of_anything_else_is_refused(plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grid = read_grid(plan)
    play_plan(grid, out)
    with pytest.raises(RunError, match="holds runs of another plan"):
        play_plan(of(PLAN + "start = 1", tmp_path), out)
    with pytest.raises(RunError, match="folder is not empty"):
        collect(grid.tasks[0].plan, out)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="holds a single run, not a plan"):
        play_plan(grid, out / grid.tasks[0].name)
    for content in ("", "{", "[]", "5", '{"kind": "milsim plan"}', "[" * 5000):
        (out / "plan.json").write_text(content)
        with pytest.raises(RunError, match="is torn"):
            play_plan(grid, out)
    (tmp_path / "mine").mkdir()
    written(tmp_path / "mine" / "thesis.txt", "")
    for folder, message in (("mine", "not empty"), ("mine/thesis.txt", "is a file")):
        with pytest.raises(RunError, match=message):
            play_plan(grid, tmp_path / folder)
    with pytest.raises(UsageError):
        play_plan(grid, "")


def test_a_task_of_another_code_is_named(plan: Path, tmp_path: Path) -> None:
    grid = read_grid(plan)
    play_plan(grid, tmp_path / "out")
    manifest = tmp_path / "out" / grid.tasks[2].name / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"numba": "', '"numba": "9'))
    with pytest.raises(RunError, match=f"^task {grid.tasks[2].name}: out .* begun by other code"):
        play_plan(grid, tmp_path / "out")


def test_shards_share_small_tasks_and_merge_to_the_whole(plan: Path, tmp_path: Path) -> None:
    grid = of(PLAN.replace("300", "100"), tmp_path)  # a part each
    whole = play_plan(grid, tmp_path / "whole")
    folders = []
    for k in (2, 1):
        folders.append(tmp_path / f"of-{k}")
        alone = play_plan(grid, folders[-1], Collecting(shard=(k, 2)))
        play_plan(grid, tmp_path / "shared", Collecting(shard=(k, 2)))
        assert [run.manifest.stored for run in alone.runs.values()] == (
            [100, 0, 100, 0] if k == 1 else [0, 100, 0, 100]
        )
        assert not alone.complete
    assert bytes_of(tmp_path / "shared") == bytes_of(whole.folder)
    assert all(run.complete for run in merge_plans(folders, tmp_path / "merged"))
    assert bytes_of(tmp_path / "merged") == bytes_of(whole.folder)
    other = play_plan(of(PLAN, tmp_path), tmp_path / "other").folder
    with pytest.raises(RunError, match="is of another plan"):
        merge_plans([folders[0], other], tmp_path / "out")
    with pytest.raises(RunError, match="is no folder of a plan"):
        merge_plans([folders[0], tmp_path], tmp_path / "out")
    with pytest.raises(RunError, match="holds runs of another plan"):
        merge_plans(folders, other)
    with pytest.raises(UsageError, match="is one of the runs"):
        merge_plans(folders, folders[1])


@pytest.mark.parametrize("moments", [11, 14, 16])
def test_time_is_for_all_tasks_together(moments: int, plan: Path, tmp_path: Path) -> None:
    whole = play_plan(read_grid(plan), tmp_path / "whole").folder
    seconds = [*[0.1] * moments, *[9.0] * 100_000]
    with pytest.MonkeyPatch.context() as patch:
        set_clock(patch, seconds, "milsim.store.writing", "milsim.store.planned")
        played = play_plan(
            read_grid(plan), tmp_path / "out", Collecting(Threads(1), seconds=5, told=print)
        )
    assert played.ended == Ended.TIME
    assert 1 <= len(played.runs) < 4
    stored = [run.manifest.stored for run in played.runs.values()]
    begun = " and a part of another" if 0 < stored[-1] < 300 else ""
    with pytest.raises(StoppedEarlyError) as raised:
        played.check()
    assert str(raised.value) == (
        f"time was up after {stored.count(300)} of 4 tasks{begun}; they are saved in "
        f"{played.folder}; the same command goes on"
    )
    again = play_plan(read_grid(plan), tmp_path / "out")
    again.check()
    assert bytes_of(tmp_path / "out") == bytes_of(whole)


def test_ctrl_c_ends_the_plan(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("milsim.store.writing.Interrupts.asked", lambda self: True)
        played = play_plan(read_grid(plan), tmp_path / "out")
    assert len(played.runs) == 1
    with pytest.raises(InterruptedRunError, match="interrupted after 0 of 4 tasks; they"):
        played.check()


def test_a_shard_that_has_its_share_is_done(plan: Path, tmp_path: Path) -> None:
    played = play_plan(read_grid(plan), tmp_path / "out", Collecting(shard=(2, 3)))
    assert (played.done, played.complete) == (4, False)
    played.check()


def test_a_chunk_that_raises_costs_only_its_part(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = collecting.DealMaking.play

    def fails(self: collecting.DealMaking, start: int, count: int) -> Any:
        if self.plan.policies[0] == "random" and start == 128:
            raise ZeroDivisionError
        return real(self, start, count)

    with monkeypatch.context() as patch:
        patch.setattr(collecting.DealMaking, "play", fails)
        played = play_plan(read_grid(plan), tmp_path / "out")
    assert [run.manifest.stored for run in played.runs.values()] == [300, 172, 300, 172]
    with pytest.raises(StoppedEarlyError, match=r"could not play 128–191: .* and 1 ranges more"):
        played.check()
    assert play_plan(read_grid(plan), tmp_path / "out").complete


def test_a_rule_to_stop_by_and_matches(tmp_path: Path) -> None:
    text = 'deals = 3000\n[[grid]]\nmode = "declarer"\ndecide = ["made>5%", "made<90%"]\n'
    played = play_plan(of(text, tmp_path), tmp_path / "out")
    assert played.complete
    assert [run.manifest.stored for run in played.runs.values()] == [128, 128]
    played = play_plan(of('kind = "matches"\nmatches = 12', tmp_path), tmp_path / "games")
    assert played.complete
    assert " 12  matches" in played_text(played)


def test_from_python(plan: Path, tmp_path: Path) -> None:
    played = milsim.simulate_plan(plan, out=tmp_path / "out", threads=1)
    again = milsim.simulate_plan(
        {
            "deals": 300,
            "seed": 3,
            "mode": "declarer",
            "policy": ("greedy", "greedy", "greedy"),
            "rules": [load("mil"), with_fields("mil", {"play.must_beat": "no"})],
        }
    )
    digests = {run.plan.digest() for run in played.runs.values()}
    assert {run.plan.digest() for run in again.runs.values()} < digests
    assert again.complete
    assert not (again.folder / "plan.toml").exists()
    with pytest.raises(PlanError, match=r"^deals: missing"):
        milsim.simulate_plan({})


# -- what it will cost ---------------------------------------------------------------------------


def test_estimates_scale_and_each_kind_is_played_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milsim.store.estimating.SECONDS", 0.02)
    text = 'deals = [100, 1_000_000]\npolicy = ["greedy", "random"]\nseed = [1, 2]\n[[grid]]\n'
    grid = of(
        text + '[[grid]]\ndeals = 100\nci_width = "2%"\npolicy = "random"\nseed = 5', tmp_path
    )
    found = list(estimates(grid, threads=1))
    assert len({id(each.rate) for each in found}) == 2
    by = {(each.task.count, each.rate): each for each in found}
    for rate in {each.rate for each in found}:
        small, large = by[100, rate], by[1_000_000, rate]
        parts = -(-1_000_000 // PART)
        assert large.size == pytest.approx(1_000_000 * rate.size + parts * rate.part)
        assert small.size == pytest.approx(100 * rate.size + rate.part)
        assert large.seconds == pytest.approx(
            1_000_000 * (rate.play + rate.store) + parts * rate.begin
        )
        assert rate.played > 100  # calibrated on the larger one
    half = list(estimates(grid, threads=1, shards=2))
    assert [each.count for each in half] == [(each.task.count + 1) // 2 for each in found]
    shown = estimates_text(found, 1)
    assert "10 tasks" not in shown.splitlines()[0]
    assert "at most: a rule may stop" in shown
    assert len(shown.splitlines()) == 1 + len(found) + 2


def test_the_bytes_of_an_estimate_are_those_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # parts of their usual size
    grid = grid_of({"deals": 20_000})
    (found,) = estimates(grid, threads=1)
    play_plan(grid, tmp_path / "out")
    size = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.parquet"))
    assert 0.8 * size < found.size < 1.25 * size


# -- on the command line -------------------------------------------------------------------------


def test_the_verb(
    shell: Shell, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milsim.store.estimating.SECONDS", 0.02)
    out = tmp_path / "out"
    outcome = shell("simulate", plan, "--dry-run", "--out", out)
    assert outcome.code == 0, outcome
    assert not out.exists()
    assert "4 tasks: about " in outcome.out
    told = json.loads(shell("simulate", plan, "--dry-run", "--json").out)
    assert [task["count"] for task in told["tasks"]] == [300] * 4
    outcome = shell("simulate", plan, "--out", out, "--threads", 1)
    assert outcome.code == 0, outcome
    assert outcome.err.count(" of 4: ") == 4
    before = bytes_of(out)
    told = json.loads(shell("simulate", plan, "--out", out, "--json", "--resume").out)
    assert told["complete"]
    assert bytes_of(out) == before
    assert shell("simulate", plan, "--out", out, "--no-resume").code == ExitCode.USAGE
    assert bytes_of(out) == before
    listed = json.loads(shell("runs", "ls", out, "--json").out)
    assert [run["complete"] for run in listed] == [True] * 4
    assert json.loads(shell("runs", "ls", *sorted(out.iterdir()), "--json").out) == listed
    assert runs_in(sorted(out.iterdir())) == runs_in([out]) == [Path(r["folder"]) for r in listed]


def test_shards_and_merge_on_the_command_line(shell: Shell, plan: Path, tmp_path: Path) -> None:
    for k in "12":
        assert shell("simulate", plan, "--shard", f"{k}/2", "--out", tmp_path / k, "-q").code == 0
    outcome = shell("runs", "merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "all")
    assert outcome.code == 0, outcome
    assert "4 tasks in" in outcome.err
    whole = play_plan(read_grid(plan), tmp_path / "whole").folder
    assert bytes_of(tmp_path / "all") == bytes_of(whole)


def test_all_runs_of_a_plan_are_verified(shell: Shell, tmp_path: Path) -> None:
    grid = of('deals = 60\nseed = [1, 2, 3]\npolicy = "random"\nmode = "declarer"\n', tmp_path)
    out = tmp_path / "out"
    play_plan(grid, out)
    outcome = shell("runs", "verify", out, "--quiet")
    assert outcome.code == 0, outcome
    assert outcome.out.count("1 part, 60 rows read; 60 played again") == 3, outcome  # none twice
    first, second, third = (out / task.name for task in grid.tasks)
    (first / "parts" / "part-000000000000.parquet").write_bytes(b"")
    shutil.rmtree(third)
    outcome = shell("runs", "verify", out, "--quiet")
    assert outcome.code == ExitCode.VERIFICATION_FAILED
    assert f"{second.name}:\n1 part, 60 rows" in outcome.out
    assert f"empty: {first}" in outcome.out
    assert "1 of 3 tasks are not begun" in outcome.out
    assert "1 fault; the command" in outcome.err
    kinds = [[fault["kind"] for fault in run["faults"]] for run in outcome_of(shell, out)]
    assert kinds == [["empty"], []]
    outcome = shell("runs", "compact", out, "--out", tmp_path / "compact")
    assert outcome.code == ExitCode.USAGE
    assert "holds the runs of a plan" in outcome.err


def outcome_of(shell: Shell, out: Path) -> Any:
    return json.loads(shell("runs", "verify", out, "--json").out)


@pytest.mark.parametrize(
    "option",
    [
        ("--deals", "1e5"), ("--mode", "auction"), ("--rules", "mil"), ("--set", "match.lock=off"),
        ("--policy", "greedy"), ("--seed", "1"), ("--start", "0"), ("--where", "aces>=1"),
        ("--dd", "off"), ("--ci-width", "1%"), ("--decide", "made>50%"),
    ],
)  # fmt: skip
def test_options_that_the_plan_decides_are_refused(
    option: tuple[str, str], shell: Shell, plan: Path, tmp_path: Path
) -> None:
    outcome = shell("simulate", plan, *option, "--out", tmp_path / "out")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err.startswith(f"milsim: {option[0]}: {plan} says that")
    assert not (tmp_path / "out").exists()


def test_mistakes_on_the_command_line(shell: Shell, plan: Path, tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.toml", "deals = 5\nsed = 1")
    outcome = shell("simulate", bad)
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.err == f"milsim: plan {bad}: sed: unknown key; did you mean seed?\n"
    assert shell("simulate", tmp_path / "none.toml").code == ExitCode.BAD_INPUT
    assert shell("simulate", plan, "--out", "").code == ExitCode.USAGE
    assert shell("simulate", plan, "--write-from-workers").code == ExitCode.USAGE
    assert shell("simulate", plan, plan).code == ExitCode.USAGE
    outcome = shell("simulate", "--deals", 1000, "--dry-run", "--out", tmp_path / "one")
    assert outcome.code == 0
    assert "1 task: about" in outcome.out
    assert not (tmp_path / "one").exists()


def test_errors_keep_their_kind() -> None:
    assert issubclass(PlanError, MilsimError)
    assert PlanError.exit_code == ExitCode.BAD_INPUT == PolicyError.exit_code
