"""Run folders: what is written, what is refused on reading, and that nothing depends on luck."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from milsim.api import open_run, simulate
from milsim.errors import RunError, UsageError
from milsim.simulation.plan import Plan
from milsim.store.collect import PART_DEALS, collect
from milsim.store.engines import Threads
from milsim.store.manifest import read_manifest
from milsim.store.schema import NOTES, SCHEMA, SCHEMA_VERSION
from milsim.store.writing import Collecting, Progress

DEALS = 4000


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "stored"
    simulate(DEALS, seed=9, out=folder)
    return folder


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored, tmp_path / "copy"))


def test_a_run_reads_back_as_it_was_planned(stored: Path) -> None:
    run = open_run(stored)
    assert run.complete
    assert run.deals == DEALS
    assert run.plan == Plan.make(deals=DEALS, seed=9)
    rows = run.frame().collect().sort("index")
    assert rows.schema == SCHEMA
    assert rows["index"].to_list() == list(range(DEALS))
    assert rows.null_count().sum_horizontal().item() == 0
    assert (stored / "plan.toml").read_text() == run.plan.to_toml()


def test_a_folder_may_have_any_name(stored: Path, tmp_path: Path) -> None:
    """One that is no UTF-8, which polars opens no file by."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff*[x"))
    shutil.copytree(stored, odd)
    assert open_run(odd).frame().collect().equals(open_run(stored).frame().collect())


def test_every_column_says_what_it_means() -> None:
    assert [note.name for note in NOTES] == list(SCHEMA)
    assert all(len(note.meaning) > 10 for note in NOTES)


def test_rows_add_up(stored: Path) -> None:
    rows = open_run(stored).frame().collect()
    seats = ("forehand", "middlehand", "rearhand")
    assert rows.select(pl.sum_horizontal(f"points_{s}" for s in seats).eq(120).all()).item()
    assert rows.select(pl.sum_horizontal(f"tricks_{s}" for s in seats).eq(8).all()).item()
    by_declarer = pl.coalesce(
        pl.when(pl.col("declarer") == seat).then(
            pl.col(f"points_{name}") + pl.col(f"marriages_{name}")
        )
        for seat, name in enumerate(seats)
    )
    assert rows.select(by_declarer.eq(pl.col("declarer_points")).all()).item()
    made = pl.col("declarer_points") >= pl.col("contract")
    assert rows.select(made.eq(pl.col("made")).all()).item()


def test_parts_end_at_fixed_deals(tmp_path: Path) -> None:
    start = PART_DEALS - 100
    run = collect(Plan.make(deals=300, start=start), tmp_path / "run").run
    assert [(part.start, part.rows) for part in run.manifest.parts] == [
        (start, 100),
        (PART_DEALS, 200),
    ]
    assert open_run(tmp_path / "run").frame().collect().height == 300


def test_progress_ends_at_the_plan(tmp_path: Path) -> None:
    seen: list[Progress] = []
    how = Collecting(Threads(2), progress=seen.append)
    collect(Plan.make(deals=40_000), tmp_path / "run", how)
    assert [step.done for step in seen] == [16384, 32768, 40000]
    assert all(step.total == 40_000 and step.seconds >= 0 for step in seen)


# -- tampering -----------------------------------------------------------------------------------


def part_of(folder: Path) -> Path:
    return next((folder / "parts").glob("*.parquet"))


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def truncate(folder: Path) -> None:
    part = part_of(folder)
    part.write_bytes(part.read_bytes()[:-10])


def empty(folder: Path) -> None:
    part_of(folder).write_bytes(b"")


def zero(folder: Path) -> None:
    part = part_of(folder)
    part.write_bytes(bytes(part.stat().st_size))


def flip(folder: Path) -> None:
    part = part_of(folder)
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)


def foreign(folder: Path) -> None:
    shutil.copy(part_of(folder), folder / "parts" / "part-9.parquet")


def edit(key: str, value: Any) -> Callable[[Path], None]:
    return lambda folder: rewrite(folder, lambda content: content.__setitem__(key, value))


def edit_piece(**changes: Any) -> Callable[[Path], None]:
    """As by a careful hand: the file beside the part is written as milsim writes it."""

    def edit(folder: Path) -> None:
        piece = read_manifest(folder).pieces[0]
        of_part = {key: value for key, value in changes.items() if not hasattr(piece, key)}
        of_piece = {key: value for key, value in changes.items() if hasattr(piece, key)}
        part = dataclasses.replace(piece.parts[0], **of_part)
        changed = dataclasses.replace(piece, parts=(part,), **of_piece)
        (folder / "parts" / "part-000000000000.json").write_text(changed.to_json())

    return edit


def folder_for_part(folder: Path) -> None:
    part = part_of(folder)
    part.unlink()
    part.mkdir()


def pipe_for_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")


TAMPERED: dict[str, tuple[Callable[[Path], None], str]] = {
    "part truncated": (truncate, "torn or changed"),
    "part empty": (empty, "empty"),
    "part zeroed": (zero, "differs from its digest"),
    "part with a flipped bit": (flip, "differs from its digest"),
    "part deleted": (lambda folder: part_of(folder).unlink(), "missing"),
    "foreign part": (foreign, "is none of its parts"),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), r"no manifest\.json"),
    "torn manifest": (lambda folder: (folder / "manifest.json").write_text('{"kind'), "torn"),
    "manifest of something else": (lambda f: (f / "manifest.json").write_text("[]"), "not that of"),
    "newer schema": (edit("schema", SCHEMA_VERSION + 1), "is newer than this milsim reads"),
    "schema of a wrong type": (edit("schema", "one"), "schema 'one' is unknown"),
    "other rules": (edit("rules", {"auction.minimum": 60}), "were edited|was edited"),
    "rules that are none": (edit("rules", {"auction.minimum": 0}), r"auction\.minimum"),
    "no plan": (edit("plan", {}), "no entry 'deals'"),
    "plan of a wrong type": (edit("plan", [5]), "malformed"),
    "rng": (edit("rng", 5), "malformed"),
    "rules digest": (edit("rules_digest", "0"), "was edited"),
    "kernels added to": (edit("more", 1), "was edited"),
    "terminal escapes": (edit("rules_name", "\x1b[31mred"), "malformed"),
    "more rows than deals": (edit_piece(rows=10**9, count=10**9), "outside the plan"),
    "rows beyond all numbers": (edit_piece(rows=10**25), "not as milsim writes it"),
    "rows and count differ": (edit_piece(count=5), "not as milsim writes it"),
    "part of another plan": (edit_piece(plan="0" * 64), "belongs to another plan"),
    "beside a part is no JSON": (
        lambda folder: (folder / "parts" / "part-000000000000.json").write_text("{"), "is torn"
    ),
    "beside a part is another order": (
        lambda folder: (folder / "parts" / "part-000000000000.json").write_text(
            json.dumps(json.loads((folder / "parts" / "part-000000000000.json").read_text()),
                       indent=1)
        ),
        "not as milsim writes it",
    ),
    "two of the same deals": (
        lambda folder: (folder / "parts" / "part-000000000005.json").write_text(
            (folder / "parts" / "part-000000000000.json").read_text()
        ),
        "not as milsim writes it",
    ),
    "plan digest": (edit("plan_digest", "0"), "was edited"),
    "way out of the folder": (edit_piece(name="../../x.parquet"), "not as milsim writes it"),
    "part size": (edit_piece(size=-1), "not as milsim writes it"),
    "part rows": (edit_piece(rows=True), "not as milsim writes it"),
    "part rows, one less": (
        edit_piece(rows=DEALS - 1, count=DEALS - 1), "4000 rows on disk, not 3999"
    ),
    "part that is a folder": (folder_for_part, "missing|torn or changed"),
    "manifest that is a pipe": (pipe_for_manifest, "not a regular file"),
    "part start": (edit_piece(start=5), "not as milsim writes it"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_what_is_wrong_with_a_folder_is_said(folder: Path, name: str) -> None:
    tamper, words = TAMPERED[name]
    tamper(folder)
    with pytest.raises(RunError, match=words) as caught:
        open_run(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("name", ["a*", "[x", "~", "a?b", "$HOME", "{a,b}", "ü ♥"])
def test_folders_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    simulate(100, out=name)
    simulate(50, out="ab")
    run = open_run(name)
    assert run.frame().collect().height == run.deals == 100


def test_out_must_be_a_name() -> None:
    for out in ("", 5):
        with pytest.raises(UsageError, match="out"):
            simulate(10, out=out)  # type: ignore[arg-type]


def test_a_file_and_a_missing_folder_are_no_runs(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such folder"):
        open_run(tmp_path / "nothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="not a folder"):
        open_run(tmp_path / "file")


def test_run_in_a_notebook(stored: Path) -> None:
    run = open_run(stored)
    assert "4,000 deals" in run._repr_html_()
    assert repr(run).startswith("Run(")
    assert "rules mil" in run.provenance()


# -- double dummy --------------------------------------------------------------------------------


@pytest.mark.parametrize("dd", ["gifts", "exchange"])
def test_double_dummy_values_are_those_of_the_solver(tmp_path: Path, dd: str) -> None:
    import milsim

    for threads in (1, 3):
        simulate(60, seed=4, dd=dd, threads=threads, out=tmp_path / f"run-{threads}")
    names = [path.relative_to(tmp_path / "run-1") for path in (tmp_path / "run-1").rglob("*.*")]
    for name in names:
        assert (tmp_path / "run-1" / name).read_bytes() == (tmp_path / "run-3" / name).read_bytes()
    run = open_run(tmp_path / "run-1")
    rows = run.frame().collect().sort("index")
    for row in rows.head(12).iter_rows(named=True):
        deal = milsim.Deal.from_id(row["deal"])
        if dd == "exchange":
            value = milsim.best_exchange(deal, declarer=row["declarer"]).points
        else:
            gifts = (row["gift_left"], row["gift_right"])
            value = milsim.solve(deal, declarer=row["declarer"], gifts=gifts).value
        assert row["dd_points"] == value
    solved = run.as_model("double-dummy").frame().collect().sort("index")
    assert solved["declarer_points"].to_list() == rows["dd_points"].to_list()
    assert solved["made"].to_list() == (rows["dd_points"] >= rows["contract"]).to_list()
    assert "double dummy" in run.as_model("double-dummy").provenance()


def test_models_that_a_run_does_not_have(stored: Path) -> None:
    run = open_run(stored)
    assert run.as_model("played") == run
    with pytest.raises(RunError, match="--dd gifts"):
        run.as_model("double-dummy")
    with pytest.raises(UsageError, match="did you mean double-dummy"):
        run.as_model("doubledummy")
