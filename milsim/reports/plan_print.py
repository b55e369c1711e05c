"""What ``milsim simulate PLAN`` prints: a line a task, played or estimated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from milsim.reports.match_summary import match_summary
from milsim.reports.summary import number_in_words, share_in_words, summary
from milsim.simulation.grid import Task
from milsim.store.estimating import Estimate
from milsim.store.listing import aligned
from milsim.store.match_run import MatchRun
from milsim.store.planned import PlayedPlan
from milsim.store.run import Run

MOST_LINES = 200
"""Tasks that are printed: the rows of each must be read for it."""


def played_text(played: PlayedPlan) -> str:
    """A line a task that was played: how many, contracts made, and the mean of declarer points."""
    rows = [("task", "played", "unit", "contract made", "declarer points")]
    names = [task.name for task in played.tasks if task.name in played.runs]
    rows += [_line(name, played.runs[name]) for name in names[:MOST_LINES]]
    lines = [aligned(rows, right={1})]
    if names[MOST_LINES:]:
        lines.append(f"... and {len(names) - MOST_LINES:,} tasks more; milsim runs ls has all")
    return "\n".join(lines)


def _line(name: str, run: Run | MatchRun) -> tuple[str, str, str, str, str]:
    if isinstance(run, MatchRun):
        made = share_in_words(match_summary(run).made) if run.played else ""
        return name, f"{run.played:,}", "matches", made, ""
    if not run.deals:
        return name, "0", "deals", "", ""
    found = summary(run)
    return (
        name,
        f"{run.deals:,}",
        "deals",
        share_in_words(found.made),
        number_in_words(found.mean_points),
    )


def played_dict(played: PlayedPlan) -> dict[str, Any]:
    """The same and more as plain JSON values, of all tasks."""
    return {
        "folder": str(played.folder),
        "complete": played.complete,
        "tasks": [_entry(task, played.runs.get(task.name)) for task in played.tasks],
    }


def _entry(task: Task, run: Run | MatchRun | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"task": task.name, "plan_digest": task.plan.digest()}
    if run is None:
        return {**entry, "complete": False, "summary": None}
    found = match_summary(run) if isinstance(run, MatchRun) else summary(run)
    return {**entry, "complete": run.complete, "summary": found.to_dict()}


def estimates_text(found: Sequence[Estimate], threads: int) -> str:
    """A line a task: how many, how fast one thread played, and what it will take."""
    rows = [("task", "plays", "unit", "a second", "takes", "stores")]
    for each in found[:MOST_LINES]:
        rows.append(
            (
                each.task.name,
                f"{each.count:,}",
                each.task.unit,
                f"{1 / each.rate.play:,.3g}"
                if each.rate.play > 0.1
                else f"{1 / each.rate.play:,.0f}",
                duration(each.seconds),
                size_in_words(each.size),
            )
        )
    seconds, size = sum(each.seconds for each in found), sum(each.size for each in found)
    lines = [aligned(rows, right={1, 3, 4, 5})]
    if found[MOST_LINES:]:
        lines.append(f"... and {len(found) - MOST_LINES:,} tasks more")
    tasks = f"{len(found):,} task{'s' * (len(found) != 1)}"
    at_most = any(getattr(each.task.plan, "stop", None) is not None for each in found)
    lines.append(
        f"{tasks}: about {duration(seconds)} with {threads} thread{'s' * (threads != 1)}, "
        f"{size_in_words(size)}{', at most: a rule may stop runs before' * at_most}"
    )
    lines.append("(an estimate: of each kind of task about a second was played, in one thread)")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """A time for people.

    >>> [duration(seconds) for seconds in (0.04, 7.3, 400, 20_000, 900_000)]
    ['0.04 s', '7.3 s', '6.7 min', '5.6 h', '10 days']
    """
    for unit, many in (("days", 86_400 * 2), ("h", 3600 * 2), ("min", 60 * 2)):
        if seconds >= many:
            return f"{seconds / many * 2:.2g} {unit}"
    return f"{seconds:.2g} s" if seconds < 99.5 else f"{seconds:.0f} s"


def size_in_words(size: float) -> str:
    """A number of bytes for people.

    >>> [size_in_words(size) for size in (900, 12_345, 5.2e6, 7.1e12)]
    ['900 B', '12 kB', '5.2 MB', '7.1 TB']
    """
    for unit, many in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= many:
            return (
                f"{size / many:.2g} {unit}" if size < 99.5 * many else f"{size / many:.0f} {unit}"
            )
    return f"{size:.0f} B"


__all__ = ["duration", "estimates_text", "played_dict", "played_text", "size_in_words"]
