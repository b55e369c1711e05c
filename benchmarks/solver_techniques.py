"""What each technique of the solver is worth: nodes and time with it and without, as a table.

    python benchmarks/solver_techniques.py [DEALS]

Each row is a fresh process with its own kernels (half a minute of compiling each), because the
switches of `milsim.solver.techniques` are frozen into the code. Nodes are exact; times are the best
of several rounds of CPU time.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
SWITCHES = ("BOUNDS", "OFF_LEAD", "ORDER", "DOMINANCE", "TABLE")
ROUNDS = 5


def deals(count: int, seed: int = 7) -> NDArray[np.int64]:
    """Random 8-8-8 hands, int64[3, count]."""
    cards = np.argsort(np.random.default_rng(seed).random((count, 24)), axis=1)
    return np.array([(1 << cards[:, 8 * seat : 8 * seat + 8]).sum(axis=1) for seat in range(3)])


def without(switch: str) -> None:
    """Load the switches before the package does, with one of them off."""
    name = "milsim.solver.techniques"
    spec = importlib.util.spec_from_file_location(name, ROOT / "milsim/solver/techniques.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if switch != "-":
        setattr(module, switch, False)
    sys.modules[name] = module


def measure(switch: str, count: int) -> list[float]:
    """Nodes and microseconds a deal: exact, threshold, under mil and gamerules."""
    without(switch)
    from milsim.cards import NO_TRUMP
    from milsim.rules import load, packed
    from milsim.solver.batch import rows_of
    from milsim.solver.root import answer
    from milsim.solver.table import NODES, new_workspace
    from milsim.tricks import play_flags, play_values

    words = np.zeros((5, count), np.int64)
    words[:3], words[4] = deals(count), NO_TRUMP
    rows, found, figures = rows_of(words), np.empty(count, np.int64), []
    needs = np.full(count, 100, np.int64)
    for preset in ("mil", "gamerules"):
        rules = packed(load(preset))
        flags, values = play_flags(rules), play_values(rules)
        work = new_workspace()
        for asked, exact in ((needs[:0], 1), (needs, 0)):
            seconds = []
            for _ in range(ROUNDS):
                work[NODES] = 0
                started = time.process_time()
                answer(rows, asked, exact, 1, flags, values, work, found)
                seconds.append(time.process_time() - started)
            figures += [float(work[NODES]) / count, min(seconds[1:]) / count * 1e6]
    return figures


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[2], count)))
        return
    print("| without | mil exact: nodes | µs | ≥ 100: nodes | µs |", end="")
    print(" gamerules exact: nodes | µs | ≥ 100: nodes | µs |")
    print("|---|" + "---:|" * 8)
    for switch in ("-", *SWITCHES):
        with tempfile.TemporaryDirectory() as cache:
            run = subprocess.run(
                [sys.executable, __file__, str(count), switch],
                capture_output=True, text=True, check=True,
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
            )  # fmt: skip
        figures = json.loads(run.stdout)
        shown = " | ".join(f"{each:,.0f}" if each >= 100 else f"{each:.1f}" for each in figures)
        print(f"| {switch} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
