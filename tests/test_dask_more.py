"""Workers that write the parts of plans and tables themselves: the same bytes as by threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from milsim.errors import ExitCode, RunError
from milsim.store import collect as collecting
from milsim.store import match_collect, remote
from milsim.tables.building import build_table
from milsim.tables.folder import Table
from milsim.tables.plan import TablePlan
from tests.command_line import Shell
from tests.folders import bytes_of
from tests.test_dask import Cluster, be_patient, dask

PLAN = """
[[grid]]
deals = 700
policy = ["greedy", "random"]

[[grid]]
deals = 2000
decide = "made>5%"
mode = "declarer"

[[grid]]
kind = "matches"
matches = 20
"""
TABLE = TablePlan.make(policy="greedy", hands=(4093, 4099))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", 128)
    monkeypatch.setattr(match_collect, "PART_MATCHES", 8)
    monkeypatch.setattr(remote, "SECONDS_A_TASK", 1e-9)
    be_patient(monkeypatch)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield found
    found.end()


def test_workers_write_the_runs_of_a_plan(
    cluster: Cluster, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    assert shell("simulate", plan, "--quiet", "--out", tmp_path / "threads").code == 0
    monkeypatch.setattr("milsim.store.writing.keep", None)  # the driver writes no part
    what = ["simulate", plan, "--quiet", "--out", tmp_path / "dask", "--write-from-workers"]
    outcome = shell(*what, "--engine", "dask", "--scheduler", cluster.address)
    assert outcome.code == 0, outcome
    assert "2 of 2" not in outcome.err
    files = bytes_of(tmp_path / "dask")
    assert len(files) > 40
    assert files == bytes_of(tmp_path / "threads")
    # Without workers nobody can.
    assert shell(*what).code == ExitCode.USAGE


def test_workers_write_a_table_and_go_on_with_what_is_torn(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    build_table(TABLE, tmp_path / "threads", threads=1)
    monkeypatch.setattr("milsim.tables.building.keep", None)  # the driver writes no part
    what = ["table", "build", "--policy", "greedy", "--hands", "4093:4099"]
    what += ["--out", str(tmp_path / "dask"), "--write-from-workers"]
    engine = ["--engine", "dask", "--scheduler-file", cluster.file]
    outcome = shell(*what, *engine, "--quiet")
    assert outcome.code == 0, outcome
    assert bytes_of(tmp_path / "dask") == bytes_of(tmp_path / "threads")
    part = tmp_path / "dask" / "parts" / "part-000000004096.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    # What a driver that was killed left of a worker's.
    (part.parent / ".part-000000004096.parquet.host-1-2.tmp").write_bytes(b"PAR1")
    outcome = shell(*what, *engine)
    assert outcome.code == 0, outcome
    assert "part-000000004096.parquet: torn or changed, " in outcome.err
    assert bytes_of(tmp_path / "dask") == bytes_of(tmp_path / "threads")
    assert shell(*what).code == ExitCode.USAGE


def test_workers_that_do_not_see_the_folder_of_a_table_are_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milsim.store.dask_engine._token_in", _nowhere)
    with (
        dask(cluster.address, folder=tmp_path / "table") as engine,
        pytest.raises(RunError, match=r"worker tcp://\S+: does not see folder .*table, which"),
    ):
        build_table(TABLE, tmp_path / "table", engine=engine)
    assert Table.open(tmp_path / "table").rows == 0


class _nowhere:  # noqa: N801 - stands for a context manager that is a function
    def __init__(self, folder: str | None) -> None:
        assert folder is not None

    def __enter__(self) -> str:
        return ".shared-that-is-not-there.tmp"

    def __exit__(self, *error: object) -> None:
        return None
