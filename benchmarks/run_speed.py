"""How fast run folders are gone on with and verified, and whether memory stays flat.

Run: python benchmarks/run_speed.py [resume|verify|memory] [--parts N] [--rows N]
                                    [--seconds S] [--part-deals N]

``resume``: a folder of so many small parts is made; then the same plan is collected again, which
finds all there. ``verify``: a run of --rows deals is verified without playing any again.
``memory``: a run is played for --seconds while the resident memory is read; the slope is over the
second half. What a run keeps in memory it keeps for each part, so parts of --part-deals that are
smaller than those of a real run show in minutes what the parts of hours would.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from milsim.simulation.plan import Plan
from milsim.store import collect as collecting
from milsim.store.collect import collect
from milsim.store.engines import Threads
from milsim.store.verifying import verify_run
from milsim.store.writing import Collecting, Progress


def resume(folder: Path, parts: int) -> None:
    whole = collecting.PART_DEALS
    collecting.PART_DEALS = 8
    plain = Plan.make(deals=8 * parts)
    played_again(plain, folder / "plain", f"resume of {parts:,} parts")
    ruled = Plan.make(deals=8 * (parts + 1), ci_width="0.01%")  # never that narrow
    what = f"resume of {parts:,} parts, unfinished, with a rule to stop by"
    played_again(ruled, folder / "ruled", what, seconds=0.0)
    collecting.PART_DEALS = whole


def played_again(plan: Plan, folder: Path, what: str, seconds: float | None = None) -> None:
    """A run is made, all of it or without its last part; then it is gone on with, and timed."""
    sync, os.fsync = os.fsync, lambda _: None  # only while it is made
    collect(plan, folder, Collecting(Threads(1)))
    os.fsync = sync
    if seconds is not None:
        (folder / "ending.json").unlink()
        max((folder / "parts").glob("*.json")).unlink()
    for note in (" (nothing kept of its counting)" * (seconds is not None), "", "", ""):
        started, used = time.perf_counter(), time.process_time()
        run = collect(plan, folder, Collecting(Threads(1), seconds=seconds)).run
        cpu = time.process_time() - used
        assert run.complete == (seconds is None)
        print(f"{what}{note}: {time.perf_counter() - started:.2f} s, {cpu:.2f} s of CPU")


def verify(folder: Path, rows: int) -> None:
    collect(Plan.make(deals=rows), folder, Collecting(Threads(1)))
    for _ in range(3):
        started, used = time.perf_counter(), time.process_time()
        found = verify_run(folder, sample=0)
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        assert not found.faults
        print(
            f"verify of {found.rows:,} rows: {found.rows / seconds / 1e6:.1f} M rows/s, "
            f"{found.rows / cpu / 1e6:.1f} M a second of CPU"
        )


def memory(folder: Path, seconds: float, part_deals: int) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    read: list[tuple[float, float, int]] = []

    def note(progress: Progress) -> None:
        if read and progress.seconds < read[-1][0] + 0.5:
            return
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        read.append((progress.seconds, pages * page / 2**20, progress.done))

    whole = collecting.PART_DEALS
    collecting.PART_DEALS = part_deals
    collect(Plan.make(deals=10**10), folder, Collecting(Threads(1), seconds=seconds, progress=note))
    collecting.PART_DEALS = whole
    times, sizes, done = np.array(read).T
    for number, when in enumerate(
        np.array_split(np.arange(len(times)), min(6, len(times))), start=1
    ):
        print(
            f"  sixth {number}: {sizes[when].min():.0f} to {sizes[when].max():.0f} MiB, "
            f"median {np.median(sizes[when]):.0f}"
        )
    late = times > times[-1] / 2
    slope, _ = np.polyfit(times[late], sizes[late], 1)
    print(
        f"memory over {times[-1]:.0f} s, {done[-1] / 1e6:.1f} M deals in "
        f"{done[-1] / part_deals:,.0f} parts: slope {slope * 60:+.2f} MiB a minute, "
        f"{slope * times[-1] / (done[-1] / part_deals) * 1000:+.2f} MiB for 1,000 parts"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("resume", "verify", "memory"))
    parser.add_argument("--parts", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--part-deals", type=int, default=collecting.PART_DEALS)
    chosen = parser.parse_args()
    what = chosen.what or ("resume", "verify", "memory")
    with tempfile.TemporaryDirectory() as folder:
        if "resume" in what:
            resume(Path(folder) / "parts", chosen.parts)
        if "verify" in what:
            verify(Path(folder) / "rows", chosen.rows)
        if "memory" in what:
            memory(Path(folder) / "long", chosen.seconds, chosen.part_deals)


if __name__ == "__main__":
    main()
