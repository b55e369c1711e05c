"""Nothing is written out of a run's folder, whatever is in it and however things are named."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milsim
from milsim.errors import MilsimError, PlanError
from milsim.simulation.grid import grid_of
from milsim.store.listing import found_runs
from milsim.store.merging import compact_run, merge_runs
from milsim.store.planned import merge_plans, play_plan
from milsim.store.verifying import verify_run
from milsim.tables.building import build_table
from milsim.tables.plan import TablePlan
from milsim.tables.sample_plan import SamplePlan
from milsim.tables.sampling import sample_models
from tests.folders import bytes_of
from tests.fuzzing import one_line

GRID = grid_of({"deals": 5})
(TASK,) = GRID.tasks
PRECIOUS = b"precious"
Writer = Callable[[Path], object]


def simulated(out: Path) -> object:
    return milsim.simulate(deals=5, out=out, threads=1)


WRITERS: dict[str, Writer] = {
    "simulate": simulated,
    "match": lambda out: milsim.play_matches(1, out=out),
    "a plan": lambda out: play_plan(GRID, out),
    "a table": lambda out: build_table(TablePlan.make(hands=(0, 1)), out, threads=1),
    "a sample": lambda out: sample_models(
        SamplePlan.make(hands=1, models={"double-dummy": 2}), out, threads=1
    ),
}
PART = "part-000000000000"
LINKS = {
    "simulate": ("parts", ".lock", ".lock-beginning", ".manifest.json.tmp", "manifest.json",
                 f"parts/.{PART}.json.tmp", f"parts/{PART}.parquet", "plan.toml"),
    "match": ("matches", "parts", f"matches/.{PART}.parquet.tmp"),
    "a plan": (TASK.name, f"{TASK.name}/parts", f"{TASK.name}/.lock", ".plan.json.tmp"),
    "a table": ("parts", ".lock", ".lock-beginning", ".manifest.json.tmp", f"parts/{PART}.json"),
    "a sample": ("parts", ".lock", f"parts/.{PART}.parquet.tmp"),
}  # fmt: skip
CASES = [(who, link) for who, links in LINKS.items() for link in links]


def refusal(write: Writer, out: Path) -> str:
    """What it says if it refuses."""
    try:
        write(out)
    except MilsimError as error:
        one_line(error)
        return str(error)
    return ""


@pytest.mark.parametrize(("who", "link"), CASES, ids=[f"{who}: {link}" for who, link in CASES])
def test_a_link_in_a_run_leads_nothing_out_of_it(tmp_path: Path, who: str, link: str) -> None:
    """Refused, or exchanged for what belongs there: what it leads to stays as it was."""
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    (elsewhere / "folder").mkdir(parents=True)
    (elsewhere / "file").write_bytes(PRECIOUS)
    (elsewhere / "folder" / ".x.tmp").write_bytes(PRECIOUS)
    before = bytes_of(elsewhere)
    place = out / link
    place.parent.mkdir(parents=True)
    is_file = "." in place.name and place.name != TASK.name
    place.symlink_to(elsewhere / ("file" if is_file else "folder"))
    for _ in range(2):
        told = refusal(WRITERS[who], out)
        assert not told or str(tmp_path) in told
        assert bytes_of(elsewhere) == before


def test_links_in_what_is_merged_into(tmp_path: Path) -> None:
    simulated(tmp_path / "run")
    play_plan(GRID, tmp_path / "plan")
    (tmp_path / "elsewhere").mkdir()
    for name, write in (
        ("merged", lambda out: merge_runs([tmp_path / "run"], out)),
        ("compact", lambda out: compact_run(tmp_path / "run", out)),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "parts").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(MilsimError, match=r"is a link|not an empty folder"):
            write(tmp_path / name)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "plan.json").write_bytes((tmp_path / "plan" / "plan.json").read_bytes())
    (tmp_path / "tasks" / TASK.name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MilsimError, match="is a link"):
        merge_plans([tmp_path / "plan"], tmp_path / "tasks")
    assert not list((tmp_path / "elsewhere").iterdir())


ODD = ["a\0b", "x" * 300, "/".join(["y" * 200] * 30), "\ud800", "", "\0"]


@pytest.mark.parametrize("name", ODD, ids=["nul", "long", "deep", "surrogate", "empty", "only nul"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    simulated(tmp_path / "run")
    before = bytes_of(tmp_path)
    path: object = f"{tmp_path}/{name}" if name else ""
    verbs: dict[str, Callable[..., object]] = {
        **WRITERS,
        "open": milsim.open_run,
        "verify": verify_run,
        "merge": lambda out: merge_runs([tmp_path / "run"], out),
        "merge it": lambda out: merge_runs([out], tmp_path / "merged"),
        "ls": lambda out: found_runs([Path(out)]),
    }
    for verb, read in verbs.items():
        if not name and verb == "ls":
            continue  # here
        with pytest.raises(MilsimError) as caught:
            read(path)
        assert "\n" not in str(caught.value), verb
    assert bytes_of(tmp_path) == before


@settings(max_examples=80)
@given(
    st.lists(
        st.text(min_size=1, max_size=12)
        | st.sampled_from(["free", "FREE", "Free", "\u00e9", "e\u0301", "..", "/", "a" * 60]),
        min_size=1,
        max_size=5,
        unique=True,
    )
)  # fmt: skip
def test_tasks_have_folders_of_their_own_on_every_disk(names: list[str]) -> None:
    """Also where capital letters and forms of Unicode do not count."""
    try:
        grid = grid_of({"deals": 10, "rules": [{"base": "mil", "name": name} for name in names]})
    except PlanError as error:
        one_line(error)
        return
    called = [task.name for task in grid.tasks]
    assert len(called) == len(names)
    assert len({unicodedata.normalize("NFKD", name).casefold() for name in called}) == len(called)
    for name in called:
        assert name.isascii()
        assert len(name) < 200
        assert Path(name).name == name
        assert name not in (".", "..")
