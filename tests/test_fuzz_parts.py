"""Bodies of parts that are Parquet, but not those that were written: never a wrong number unseen.

A body that is changed differs from the digest beside it, and is refused. One that is forged with
its digest is refused for its columns, rows or values, or its figures are those of its rows: no
kernel gets what a run cannot hold, nothing hangs, and nothing takes much memory.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl
import pytest

import milsim
from milsim.errors import ExitCode, MilsimError, RunError
from milsim.reports import REPORTS, ReportEntry
from milsim.simulation.plan import Plan
from milsim.store.match_run import MatchRun, open_any
from milsim.store.merging import compact_run, merge_runs
from milsim.store.parts import Part
from milsim.store.pieces import Piece
from milsim.store.run import Run
from milsim.store.verifying import verify_run
from milsim.store.writing import begin_folder, new_manifest
from milsim.tables.building import build_table
from milsim.tables.folder import PartFolder, Table
from milsim.tables.plan import TablePlan
from milsim.tables.sample_plan import SamplePlan
from milsim.tables.sampling import ModelSample, sample_models
from tests.command_line import PATIENCE, Shell
from tests.folders import bytes_of
from tests.fuzzing import one_line
from tests.test_fuzz import bounded

Rows = pl.DataFrame
KINDS = {"deals": "parts", "matches": "parts", "results": "matches"}
"""What is spoiled, and the folder that it is in."""
REPORT_NAMES = {
    "deals": ("bidding", "marriages", "seats", "contracts"),
    "matches": ("match", "auction"),
    "results": ("match",),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    milsim.simulate(deals=40, out=folder / "deals", mode="declarer", threads=1)
    milsim.play_matches(2, out=folder / "matches")
    shutil.copytree(folder / "matches", folder / "results")
    return folder


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def parquet(rows: Rows, compression: Literal["zstd", "lz4"] = "zstd") -> bytes:
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression=compression)
    return buffer.getvalue()


def body_of(folder: Path, kind: str) -> Path:
    return next((folder / KINDS[kind]).glob("*.parquet"))


def forge(folder: Path, kind: str, content: bytes, rows: int | None = None) -> None:
    """Exchange the body of the first part, and what stands beside it says that it is right."""
    beside = next((folder / "parts").glob("*.json"))
    piece = Piece.read(beside)
    parts = list(piece.parts)
    place = KINDS[kind] == "matches"
    old = parts[place]
    parts[place] = Part.of(old.start, old.rows if rows is None else rows, content)
    (folder / KINDS[kind] / old.name).write_bytes(content)
    replace(piece, parts=tuple(parts)).write(folder / "parts")


def some(rows: Rows) -> str:
    """A column of small numbers that all reports ask for."""
    return "declarer" if "declarer" in rows.columns else "winner"


def with_values(value: object) -> Callable[[Rows], Rows]:
    """Each whole number but the index is exchanged, if the column can hold it."""

    def change(rows: Rows) -> Rows:
        columns = []
        for name in rows.columns:
            dtype = rows.schema[name]
            held = pl.Series(name, [value] * rows.height).cast(dtype, strict=False)
            wanted = dtype.is_integer() and name not in ("index", "match")
            columns.append(held if wanted or value is None else rows[name])
        return pl.DataFrame(columns)

    return change


FORGED: dict[str, Callable[[Rows], Rows]] = {
    "a column less": lambda rows: rows.drop(some(rows)),
    "a column more": lambda rows: rows.with_columns(more=pl.lit(1)),
    "another name": lambda rows: rows.rename({some(rows): "x"}),
    "texts": lambda rows: rows.with_columns(pl.col(some(rows)).cast(pl.String)),
    "fractions": lambda rows: rows.with_columns(pl.col(some(rows)).cast(pl.Float64)),
    "wider numbers": lambda rows: rows.with_columns(pl.col(some(rows)).cast(pl.Int64)),
    "lists": lambda rows: rows.with_columns(pl.concat_list(some(rows)).alias(some(rows))),
    "structs": lambda rows: rows.with_columns(pl.struct(some(rows)).alias(some(rows))),
    "no columns": lambda rows: pl.DataFrame(),
    "no rows": lambda rows: rows.clear(),
    "fewer rows": lambda rows: rows.head(1),
    "more rows": lambda rows: pl.concat([rows, rows]),
    "nothing in a row": lambda rows: rows.with_columns(
        pl.when(pl.int_range(pl.len()) > 0).then(pl.col(name)).alias(name) for name in rows.columns
    ),
    "nothing": with_values(None),
    "255": with_values(255),
    "the most": lambda rows: rows.with_columns(
        dtype.max().alias(name)  # type: ignore[attr-defined]
        for name, dtype in rows.schema.items()
        if dtype.is_integer()
    ),
    "the least": lambda rows: rows.with_columns(
        dtype.min().alias(name)  # type: ignore[attr-defined]
        for name, dtype in rows.schema.items()
        if dtype.is_integer()
    ),
}


def reports_of(run: Run | MatchRun, kind: str) -> list[object]:
    found: list[object] = []
    for name in REPORT_NAMES[kind]:
        entry = REPORTS[name]
        assert isinstance(entry, ReportEntry)
        found.append(entry.build(run))
    return found


def refused(read: Callable[..., object], *given: object) -> bool:
    try:
        read(*given)
    except MilsimError as error:
        one_line(error)
        return True
    return False


def opened(folder: Path, kind: str) -> list[object]:
    return reports_of(open_any(folder), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_forged_bodies_are_refused(whole: Path, tmp_path: Path, kind: str) -> None:
    rows = pl.read_parquet(body_of(whole / kind, kind))
    with bounded(300):
        for what, change in FORGED.items():
            folder = Path(shutil.copytree(whole / kind, tmp_path / what))
            forge(folder, kind, parquet(change(rows)))
            assert refused(opened, folder, kind), what
            # Whether or not it is opened first: a run that goes on is not.
            assert verify_run(folder, sample=40).faults, what


@pytest.mark.parametrize("kind", KINDS)
def test_changed_bodies_are_found_by_their_digests_and_mended(
    whole: Path, tmp_path: Path, kind: str
) -> None:
    undisturbed = bytes_of(whole / kind)
    folder = Path(shutil.copytree(whole / kind, tmp_path / "run"))
    body = body_of(folder, kind)
    rows = pl.read_parquet(body)
    column = "declarer_points" if kind != "results" else "final_1"
    contents = [
        parquet(rows, "lz4"),  # the same rows, otherwise written
        parquet(rows.with_columns(pl.col(column) + 1)),
        parquet(rows.reverse()),
        body.read_bytes() + b"\\0",
    ]
    for content in contents:
        body.write_bytes(content)
        assert refused(open_any, folder)
        assert refused(merge_runs, [folder], tmp_path / "merged")
        shutil.rmtree(tmp_path / "merged")
        assert refused(compact_run, folder, tmp_path / "compact")
        assert verify_run(folder, sample=0).faults
        if kind == "deals":
            milsim.simulate(deals=40, out=folder, mode="declarer", threads=1)
        else:
            milsim.play_matches(2, out=folder)
        assert bytes_of(folder) == undisturbed


def test_a_run_that_goes_on_gives_kernels_nothing_forged(whole: Path, tmp_path: Path) -> None:
    """Its parts are hashed, not opened: their rows are looked at when they are asked for."""
    for what in ("255", "nothing", "the most"):
        folder = Path(shutil.copytree(whole / "deals", tmp_path / what))
        rows = pl.read_parquet(body_of(folder, "deals"))
        forge(folder, "deals", parquet(FORGED[what](rows)))
        with pytest.raises(RunError, match="holds what no run can hold"):
            milsim.simulate(deals=40, out=folder, mode="declarer", threads=1).frame(
                features=True
            ).collect()


BOMB_ROWS = 3_000_000
"""More than 100 MB in memory, and some kilobytes of Parquet, as each column has one value."""
MOST_MORE_MEMORY = 60_000_000
PEAKS = """
import json, re, sys
from pathlib import Path
from milsim.cli.main import main

found = []
for folder in sys.argv[1:]:
    report = "match" if "matches" in folder else "bidding"
    for words in (f"report {report}", "runs verify --sample 0", "runs ls"):
        sys.argv = ["milsim", *words.split(), folder]
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
        found.append([folder, words.split()[1], code or 0, int(peak) * 1024])
print("\\n" + json.dumps(found))
"""
"""A process of its own: the most memory that it had, after each command."""


def bomb(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    pl.LazyFrame().select(
        pl.repeat(rows[name][0], BOMB_ROWS, dtype=dtype).alias(name)
        for name, dtype in rows.schema.items()
    ).sink_parquet(buffer, row_group_size=BOMB_ROWS, statistics=False)
    return buffer.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak of its memory")
def test_bodies_that_unpack_to_much(whole: Path, tmp_path: Path) -> None:
    """Three million rows in some kilobytes, told of or not."""
    deals = bomb(pl.read_parquet(body_of(whole / "deals", "deals")))
    matches = bomb(pl.read_parquet(body_of(whole / "matches", "matches")))
    assert len(deals) + len(matches) < 200_000
    folders = [tmp_path / name for name in ("deals untold", "deals told", "matches told")]
    for folder in folders:
        shutil.copytree(whole / folder.name.split()[0], folder)
    forge(folders[0], "deals", deals, 40)
    forge(folders[2], "matches", matches, BOMB_ROWS)
    # A run of deals has as many rows as deals: only a greater plan can have so many.
    shutil.rmtree(folders[1])
    plan = Plan.make(deals=BOMB_ROWS, mode="declarer")
    begin_folder(new_manifest(plan), folders[1], ("parts",))
    part = Part.of(0, BOMB_ROWS, deals)
    (folders[1] / "parts" / part.name).write_bytes(deals)
    Piece(plan.digest(), 0, BOMB_ROWS, (part,)).write(folders[1] / "parts")

    first = [whole / "deals", whole / "matches"]
    done = subprocess.run(
        [sys.executable, "-c", PEAKS, *map(str, [*first, *folders])],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 3 * 5
    for folder, verb, code, _ in found[:6]:
        assert code == ExitCode.OK, (folder, verb)
    # Of runs that are sound. Linux sums up what threads counted when it likes: a later look may
    # tell of some pages less.
    usual = max(peak for *_, peak in found[:6])
    refused = {"verify": ExitCode.VERIFICATION_FAILED, "ls": ExitCode.OK}
    for folder, verb, code, peak in found[6:]:
        assert code == refused.get(verb, ExitCode.BAD_INPUT), (folder, verb)
        assert peak < usual + MOST_MORE_MEMORY, (folder, verb)


@pytest.mark.slow
def test_spoiled_bodies_with_right_digests(whole: Path, tmp_path: Path, shell: Shell) -> None:
    """Bytes of Parquet changed at random: read as they are, or refused in a line."""
    draw = random.Random(20261130)
    cases = 0
    with bounded(300):
        for kind in KINDS:
            folder = Path(shutil.copytree(whole / kind, tmp_path / kind))
            body = body_of(folder, kind).read_bytes()
            for _ in range(25):
                content = bytearray(body)
                for _ in range(draw.choice((1, 1, 2, 8))):
                    # As often in what Parquet says of itself, at the end, as in the pages.
                    first = draw.choice((0, len(content) * 3 // 4))
                    content[draw.randrange(first, len(content))] = draw.randrange(256)
                forge(folder, kind, bytes(content))
                for words in (("report", REPORT_NAMES[kind][0]), ("runs", "verify", "--sample=0")):
                    outcome = shell(*words, folder)
                    assert "internal error" not in outcome.err, outcome.err
                    assert outcome.code in (0, 3, 5), outcome
                cases += 1
    assert cases == 75


# -- tables and samples --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PartFolder]:
    folder = tmp_path_factory.mktemp("tables")
    sample = SamplePlan.make(hands=3, models={"double-dummy": 2})
    return {
        "a table": build_table(TablePlan.make(hands=(4094, 4098)), folder / "table", threads=1),
        "a sample": sample_models(sample, folder / "sample", threads=1),
    }


def rows_in(what: str, folder: Path) -> pl.DataFrame:
    opened = Table.open(folder) if what == "a table" else ModelSample.open(folder)
    assert opened.parts
    return opened.frame()


@pytest.mark.parametrize("what", ["a table", "a sample"])
def test_forged_and_changed_parts_of_tables_are_refused(
    tables: dict[str, PartFolder], tmp_path: Path, what: str
) -> None:
    rows = rows_in(what, tables[what].folder)
    changes: dict[str, Callable[[Rows], Rows]] = {
        **{name: FORGED[name] for name in ("a column more", "no columns", "no rows", "nothing")},
        "other hands": lambda rows: rows.with_columns(pl.col("hand") + 1),
        "no hand there is": lambda rows: rows.with_columns(hand=pl.lit(2**32 - 1, pl.UInt32)),
        "fewer rows": lambda rows: rows.head(1),
        "texts": lambda rows: rows.with_columns(pl.col("hand").cast(pl.String)),
        "another order": lambda rows: rows.reverse(),
    }
    for name, change in changes.items():
        for forged in (False, True):
            folder = tmp_path / f"{name} {forged}"
            shutil.copytree(tables[what].folder, folder)
            beside = min((folder / "parts").glob("*.json"))
            piece = Piece.read(beside)
            first = rows.head(piece.parts[0].rows)
            content = parquet(change(first))
            (folder / "parts" / piece.parts[0].name).write_bytes(content)
            if forged:
                part = Part.of(piece.start, first.height, content)
                replace(piece, parts=(part,)).write(folder / "parts")
            assert refused(rows_in, what, folder), (name, forged)
        # How many rows there are is told by what stands beside them.
        part = replace(piece.parts[0], rows=piece.parts[0].rows - 1)
        replace(piece, parts=(part,)).write(folder / "parts")
        assert refused(rows_in, what, folder)
