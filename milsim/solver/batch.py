"""Values of many positions before a trick, given as arrays of masks: `solve_batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from milsim.cards import NO_TRUMP
from milsim.errors import DealError
from milsim.rules import Rules, load, packed
from milsim.solver.columns import as_words, columns_of, fault_words, first_fault
from milsim.solver.root import (
    COMING,
    DECLARER,
    LEADER,
    LEFT,
    N_ROWS,
    RIGHT,
    TRICK,
    TRUMP,
    answer,
)
from milsim.solver.table import new_workspace
from milsim.solver.threads import CHUNK, in_chunks
from milsim.threads import checked_threads
from milsim.tricks import play_flags, play_values, without_marriages

_LIMIT = 1 << 16  # points: more than any rules give


def rows_of(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows for `answer` of positions before a trick: declarer, left, right, leader, trump."""
    rows = np.zeros((N_ROWS, words.shape[1]), np.int64)
    rows[[DECLARER, LEFT, RIGHT, LEADER, TRUMP]] = words[:5]
    rows[COMING] = rows[TRUMP]
    rows[TRICK] = 9 - np.bitwise_count(rows[DECLARER])
    return rows


@overload
def solve_batch(
    declarer: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    leader: ArrayLike = 0,
    trump: ArrayLike = NO_TRUMP,
    *,
    rules: str | Path | Rules = "mil",
    at_least: Literal[None] = None,
    undeclarable: int = 0,
    threads: int | None = None,
) -> NDArray[np.int16]: ...
@overload
def solve_batch(
    declarer: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    leader: ArrayLike = 0,
    trump: ArrayLike = NO_TRUMP,
    *,
    rules: str | Path | Rules = "mil",
    at_least: ArrayLike,
    undeclarable: int = 0,
    threads: int | None = None,
) -> NDArray[np.bool_]: ...
def solve_batch(
    declarer: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    leader: ArrayLike = 0,
    trump: ArrayLike = NO_TRUMP,
    *,
    rules: str | Path | Rules = "mil",
    at_least: ArrayLike | None = None,
    undeclarable: int = 0,
    threads: int | None = None,
) -> NDArray[np.int16] | NDArray[np.bool_]:
    """Double-dummy values of many positions: exact points, or whether they reach ``at_least``.

    ``declarer``, ``left`` and ``right`` are integer arrays of shape (n,) of masks of the hands of
    the declarer, his left and his right (1 to 8 cards each, equally many), ``leader`` 0, 1 or 2
    says which of these leads, ``trump`` is 0–3 or 4 for none; single numbers hold for all rows.
    The trick is that of the last tricks of a deal: its number is 9 less the cards a hand.

    Returns int16[n]: the declarer's future points (cards, marriages, four aces, last trick) when
    all cards are known to all, he plays his best and *both defenders together* play to keep them
    low. With ``at_least`` (a number, or one a row) returns bool[n]: whether he gets that many,
    several times cheaper. ``undeclarable`` is a mask of suits (bit i = suit i) whose marriages
    nobody can declare, for counterfactuals. ``threads``: how many, all cores if not given.

    Raises DealError, naming the first row, for hands that overlap, are of unequal counts, or any
    number out of range; RulesError for unknown rules; UsageError for threads out of range.

    >>> solve_batch([0b001100], [0b010001], [0b100010])  # K Q against 10 9 and A J
    array([46], dtype=int16)
    >>> solve_batch([0b001100], [0b010001], [0b100010], at_least=47)
    array([False])
    """
    given = [("declarer", declarer), ("left", left), ("right", right)]
    given += [("leader", leader), ("trump", trump)]
    if at_least is not None:
        given.append(("at_least", at_least))
    columns = columns_of(given)
    array = packed(load(rules))
    flags, values = without_marriages(play_flags(array), undeclarable), play_values(array)
    n_threads = checked_threads(threads)
    size = len(columns[0])
    for start in range(0, size, 1 << 16):
        words = as_words([column[start : start + (1 << 16)] for column in columns[:5]])
        index = first_fault(words)
        if index >= 0:
            row = [int(column[start + index]) for column in columns[:5]]
            raise DealError(f"no position at index {start + index}: {fault_words(row)}")
    result: NDArray[Any] = np.empty(size, np.int16 if at_least is None else np.bool_)

    def some(start: int, end: int, work: NDArray[np.int64]) -> None:
        words = as_words([column[start:end] for column in columns])
        found = np.empty(end - start, np.int64)
        # Nothing is less than no points, and nothing as much as the limit: need not wrap.
        needs = np.clip(words[5], 0, _LIMIT) if at_least is not None else words[0, :0]
        exact = 1 if at_least is None else 0
        answer(rows_of(words), needs, exact, 1, flags, values, work, found)
        result[start:end] = found if at_least is None else found >= needs

    some(0, 0, new_workspace(1))  # compiles, before any thread starts
    in_chunks(size, CHUNK if at_least is None else 32 * CHUNK, n_threads, some)
    return result


__all__ = ["rows_of", "solve_batch"]
