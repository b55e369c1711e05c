"""The functions behind :func:`milsim.simulate`, :func:`milsim.play_matches` and their runs."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milsim.rules import Rules
from milsim.simulation.grid import grid_of, read_grid
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.store.collect import collect
from milsim.store.engines import Threads
from milsim.store.match_collect import collect_matches
from milsim.store.match_run import MatchRun
from milsim.store.planned import PlayedPlan, play_plan
from milsim.store.run import Run
from milsim.store.writing import (
    Collected,
    Collecting,
    Ended,
    R,
    Report,
)


def simulate(
    deals: int,
    *,
    seed: int = 1,
    start: int = 0,
    mode: str = "auction",
    rules: str | Rules = "mil",
    policy: str | Sequence[str] = "greedy",
    where: str | None = None,
    dd: str = "off",
    ci_width: float | str | None = None,
    decide: str | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    progress: Report | None = None,
) -> Run:
    """Play deals ``start … start + deals - 1`` of a seed and return the run.

    The arguments are those of ``milsim simulate``: ``mode`` is ``"auction"`` or ``"declarer"``,
    ``policy`` one name or three by seat, ``where`` a constraint on forehand's seven cards, ``dd``
    (``"gifts"`` or ``"exchange"``) adds double-dummy values. ``ci_width`` (``"0.5%"``) or
    ``decide`` (``"made>50%"``) may end the run before all deals are played, at an index that the
    rows alone determine: ``run.manifest.ending`` says where. ``out`` is a new or empty folder, or
    one that holds this run or the beginning of it.
    Without ``out`` the run goes to a new temporary folder, which is yours to keep or delete
    (``run.folder``).

    Raises a :class:`~milsim.errors.MilsimError` for a number, name, rule set, constraint or folder
    that cannot be used.

    >>> run = simulate(1000, mode="declarer", seed=7, threads=1)
    >>> run.deals, run.frame().collect().height
    (1000, 1000)
    """
    plan = Plan.make(
        deals=deals,
        seed=seed,
        start=start,
        mode=mode,
        rules=rules,
        policy=policy,
        where=where,
        dd=dd,
        ci_width=ci_width,
        decide=decide,
    )
    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="milsim-run-"))
    return _checked(collect(plan, folder, Collecting(Threads(threads), progress=progress)))


def simulate_plan(
    plan: str | Path | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    threads: int | None = None,
    progress: Report | None = None,
) -> PlayedPlan:
    """Play all tasks of a plan, a file or a dictionary, each into a subfolder of ``out``.

    What a plan is: :mod:`milsim.simulation.grid`; files that a dictionary names are relative to the
    working directory. ``runs`` of the result has the runs by the names of their tasks. ``out`` is a
    new or empty folder, or one of the same plan, which is gone on with; without it the runs go to a
    new temporary folder.

    Raises :class:`~milsim.errors.PlanError`, naming the place, for a plan that cannot be read, and
    what :func:`simulate` raises.

    >>> played = simulate_plan({"deals": 200, "policy": ["greedy", "random"]}, threads=1)
    >>> [(run.deals, run.play) for run in played.runs.values()]
    [(200, 'policy greedy'), (200, 'policy random')]
    """
    grid = grid_of(plan) if isinstance(plan, Mapping) else read_grid(plan)
    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="milsim-plan-"))
    played = play_plan(grid, folder, Collecting(Threads(threads), progress=progress))
    if played.ended == Ended.FAILED:
        played.check()
    return played


def play_matches(
    matches: int,
    *,
    seed: int = 1,
    start: int = 0,
    rules: str | Rules = "mil",
    policy: str | Sequence[str] = "greedy",
    out: str | Path | None = None,
    threads: int | None = None,
    progress: Report | None = None,
) -> MatchRun:
    """Play matches ``start … start + matches - 1`` of a seed to their ends and return the run.

    The arguments are those of ``milsim match``: ``policy`` is one name or one for each player, from
    player 1; the deal goes round, and match *m* begins with player *m* − 1 as dealer, counted round
    the table. ``out`` and what is raised are as in :func:`simulate`.

    >>> run = play_matches(20, policy="greedy,greedy,random", threads=1)
    >>> run.played, run.matches().collect().height
    (20, 20)
    """
    plan = MatchPlan.make(matches=matches, seed=seed, start=start, rules=rules, policy=policy)
    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="milsim-matches-"))
    return _checked(collect_matches(plan, folder, Collecting(Threads(threads), progress=progress)))


def _checked(collected: Collected[R]) -> R:
    """The run; only what could not be played is an error: Ctrl-C leaves a shorter run."""
    if collected.ended == Ended.FAILED:
        collected.check("the rest is saved")
    return collected.run


def open_matches(folder: str | Path) -> MatchRun:
    """A stored run of matches, its parts checked against its manifest.

    Raises :class:`~milsim.errors.RunError` if the folder is no run of matches, is of another
    schema, or a part is missing, torn, empty, changed or foreign.
    """
    return MatchRun.open(folder)


def open_run(folder: str | Path) -> Run:
    """A stored run of single deals, its parts checked against its manifest.

    Raises :class:`~milsim.errors.RunError` if the folder is no such run, is of another schema, or a
    part is missing, torn, empty, changed or foreign.
    """
    return Run.open(folder)
