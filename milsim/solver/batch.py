"""Values of many positions before a trick, given as arrays of masks: `solve_batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from milsim._jit import kernel
from milsim.bits import popcount
from milsim.cards import NO_TRUMP
from milsim.errors import DealError
from milsim.rules import Rules, load, packed
from milsim.solver.columns import as_words, columns_of, fault_text, first_fault
from milsim.solver.ranked import SUIT, ranked
from milsim.solver.root import exact_value, in_trick
from milsim.solver.table import new_workspace, next_deal, prepare
from milsim.solver.threads import CHUNK, checked_threads, in_chunks
from milsim.tricks import play_flags, play_values

_GUESS = 60  # points: near the middle of what a declarer gets


@kernel
def solve_rows(
    rows: NDArray[np.int64],
    needs: NDArray[np.int64],
    flags: int,
    values: int,
    work: NDArray[np.int64],
    result: NDArray[np.int16],
) -> None:
    """The declarer's points in each position; or, if ``needs`` is not empty, 1 for so many, else 0.

    ``rows``, int64[5, n]: the hands of the declarer, his left, his right; leader; trump.
    Before a trick of the last tricks of a deal: trick 9 less the cards a hand.
    """
    before = 0
    for i in range(rows.shape[1]):
        own = ranked(rows[0, i])
        one = ranked(rows[1, i])
        other = ranked(rows[2, i])
        cards = popcount(own)
        if cards != before:
            prepare(work, flags, values, cards, 9 - cards)
            before = cards
        next_deal(work, i)
        seat = rows[3, i]
        trumps = SUIT << rows[4, i] if rows[4, i] != NO_TRUMP else 0
        a = own if seat == 0 else (one if seat == 1 else other)
        b = one if seat == 0 else (other if seat == 1 else own)
        c = other if seat == 0 else (own if seat == 1 else one)
        if needs.shape[0] == 0:
            result[i] = exact_value(a, b, c, seat, 0, 0, 0, trumps, trumps, _GUESS, work)
        else:
            need = needs[i]
            found = (
                need <= 0 or in_trick(a, b, c, seat, 0, 0, 0, trumps, trumps, need, work) >= need
            )
            result[i] = 1 if found else 0


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
    several times cheaper. ``threads``: how many, all cores if not given.

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
    flags, values = play_flags(array), play_values(array)
    n_threads = checked_threads(threads)
    size = len(columns[0])
    for start in range(0, size, 1 << 16):
        words = as_words([column[start : start + (1 << 16)] for column in columns[:5]])
        index = first_fault(words)
        if index >= 0:
            row = [int(column[start + index]) for column in columns[:5]]
            raise DealError(fault_text(start + index, row))
    result = np.empty(size, np.int16)
    nothing = np.empty(0, np.int64)

    def some(start: int, end: int, work: NDArray[np.int64]) -> None:
        words = as_words([column[start:end] for column in columns])
        needs = words[5] if at_least is not None else nothing
        solve_rows(words[:5], needs, flags, values, work, result[start:end])

    some(0, 0, new_workspace(1))  # compiles, before any thread starts
    in_chunks(size, CHUNK, n_threads, some)
    return result if at_least is None else result != 0


__all__ = ["solve_batch", "solve_rows"]
