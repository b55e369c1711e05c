"""A hand played live: the deals of the table once more, and more of them while there is time.

The fast policy plays whole repetitions, each with all 680 talons, so its sample stays stratified.
Slow models take the deals of the same repetitions in a random order of the talons, one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from milsim.rules import Rules
from milsim.tables.models import DOUBLE_DUMMY, ordered_deals, points_of_model
from milsim.tables.playing import HandPlayer, Played

MAX_REPETITIONS = 100_000


def play_live(
    player: HandPlayer,
    rank: int,
    *,
    seconds: float,
    per_talon: int | None = None,
    in_threads: Callable[[Sequence[tuple[int, int]]], list[Played]],
    stop: Callable[[], bool],
) -> Played:
    """Repetitions 0, 1, … of a hand: ``per_talon`` of them, or as many as the time allows.

    When it is asked to ``stop``, what has been played by then, one repetition at least.
    """
    ranks = np.array([rank])
    played = player(ranks, 0, 1)
    done = 1
    if per_talon is not None:
        return _added(played, in_threads(_shares(1, per_talon - 1)))
    ends = time.monotonic() + seconds
    size = 1
    while not stop() and time.monotonic() < ends and done < MAX_REPETITIONS:
        began = time.monotonic()
        size = min(size, MAX_REPETITIONS - done)
        played = _added(played, in_threads(_shares(done, size)))
        done += size
        # As many as half of what is left has time for: the last ones are small.
        took = max(time.monotonic() - began, 1e-6)
        left = ends - time.monotonic()
        size = max(1, int(size * min(4.0, left / (2 * took))))
    return played


def _shares(first: int, count: int) -> list[tuple[int, int]]:
    """Repetitions in pieces of a thread each: some hundredths of a second."""
    piece = 8
    return [
        (start, min(piece, first + count - start)) for start in range(first, first + count, piece)
    ]


def _added(played: Played, more: list[Played]) -> Played:
    for each in more:
        played = played + each
    return played


def points_live(
    model: str,
    rank: int,
    seed: int,
    rules: Rules,
    *,
    seconds: float,
    deals: int | None,
    stop: Callable[[], bool],
    first: int = 0,
    threads: int | None = 1,
) -> dict[int, int]:
    """Declarer points → deals by a slow model: ``double-dummy``, or a policy such as ``pimc``.

    As many deals as asked, in the order of the hand's talons and from its deal ``first`` on
    (:func:`~milsim.tables.models.ordered_deals`), or as time allows until it is asked to ``stop``,
    one batch at least.
    """
    points = points_of_model(model, rules, threads)
    batch = 32 if model == DOUBLE_DUMMY else 1
    ends = time.monotonic() + seconds
    histogram: dict[int, int] = {}
    done = 0
    while done == 0 or (
        not stop() and (time.monotonic() < ends if deals is None else done < deals)
    ):
        size = batch if deals is None else min(batch, deals - done)
        for each in points(*ordered_deals(rank, seed, first + done, size)).tolist():
            histogram[each] = histogram.get(each, 0) + 1
        done += size
    return histogram


__all__ = ["DOUBLE_DUMMY", "play_live", "points_live"]
