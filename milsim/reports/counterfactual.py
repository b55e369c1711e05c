"""The paired counterfactual: the same deals once more, with less and less of a marriage.

Each deal in which the declarer holds a marriage in his ten cards is looked at four times, with the
same declarer and contract:

- ``played``: as it was;
- ``unpaid``: the marriage pays nothing, but makes trump;
- ``silent``: nobody can declare it: it pays nothing and makes no trump (the players know it when
  they play; the exchange is that of a hand with a marriage, unless the solver chooses the gifts);
- ``broken``: one of its two cards is another one (:mod:`milsim.simulation.broken_pairs`).

The steps from one to the next are parts of its worth that add up, deal by deal, to the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.cards import ACE, N_RANKS, SUIT_NAMES, SUITS
from milsim.dealing import masks_of_deals
from milsim.errors import PolicyError
from milsim.reports.statistics import Moments
from milsim.rules import Rules
from milsim.simulation.plan import whole_number
from milsim.store.features import with_features
from milsim.store.run import DOUBLE_DUMMY, Run
from milsim.where import suit_set

REPLAYS = 50_000
"""Deals a row is replayed on: a standard error of about a sixth of a point."""

MAX_REPLAYS = 10**9
WINDOW_DEALS = 1 << 19
"""Deals read at once: enough for the replays of most rows, and no more than a run has."""
MOST_SOLVED = {"off": 0, "gifts": 5_000, "exchange": 500}
"""The same for deals that are solved anew, which takes some hundred times longer."""

_REPLAYED = ("index", "deal", "redeals", "declarer", "bid", "contract", "dark")
_COLUMNS = (
    "index", "deal", "redeals", "declarer", "bid", "contract", "dark", "gift_left", "gift_right",
    "declarer_points", *(f"{name}_seat" for name in SUIT_NAMES),
)  # fmt: skip

Points = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Deals whose declarer holds a marriage of some suits (a mask) in his ten cards, replayed.

    ``rows`` are the deals, by index, with the columns of the run; ``held`` the suits of his
    marriages, masks, and ``aces`` the suits of his aces, of the ten cards. The points of the four
    looks at each deal are int64; ``broken`` is None where nobody can say which two cards he would
    give from the other ten: double dummy with the gifts of policies that are not all kernels.
    """

    suits: int
    rows: pl.DataFrame
    held: Points
    aces: Points
    played: Points
    unpaid: Points
    silent: Points
    broken: Points | None

    def paid(self, rules: Rules) -> Points:
        """Points that the run's declarer got for declaring marriages of the mask, by deal."""
        points = np.zeros(self.rows.height, np.int64)
        for suit, value in enumerate(rules.deal.marriage_values.by_suit()):
            if self.suits >> suit & 1:
                points += value * self.declared(suit)
        return points

    def declared(self, suit: int) -> NDArray[np.bool_]:
        """Whether the run's declarer declared the marriage of a suit, by deal."""
        seats = self.rows[f"{SUIT_NAMES[suit]}_seat"]
        return (seats == self.rows["declarer"]).to_numpy()


def without_value(rules: Rules, suits: int) -> Rules:
    """The rules with the marriages of a mask of suits worth nothing (they still make trump).

    >>> from milsim.rules import load
    >>> without_value(load("mil"), 0b1001).deal.marriage_values.by_suit()
    (0, 60, 80, 0)
    """
    worthless = {name: 0 for suit, name in enumerate(SUIT_NAMES) if suits >> suit & 1}
    values = replace(rules.deal.marriage_values, **worthless)
    return replace(rules, deal=replace(rules.deal, marriage_values=values))


def marriage_worth(
    run: Run, masks: Sequence[int], *, replays: int = REPLAYS, threads: int | None = None
) -> dict[int, Moments]:
    """For each mask of suits: the moments of declarer points lost when these are worth nothing.

    Taken over the first ``replays`` deals of the run, by index, in which the declarer holds one of
    these marriages in his 10 cards. The run's policy gives and plays anew under the other
    rules; the declarer is the same. Under the model double-dummy the deals are solved anew: fewer
    of them, MOST_SOLVED. Raises UsageError for ``replays`` below 0.
    """
    whole_number("replays", replays, 0, MAX_REPLAYS)
    if run.model == DOUBLE_DUMMY:
        replays = min(replays, MOST_SOLVED[run.plan.dd])
    found = {}
    for mask, rows in _first_holders(run, masks, replays).items():
        if rows.is_empty():
            found[mask] = Moments()
            continue
        after = _points_under(run, rows, without_value(run.rules, mask), threads)
        before = rows["declarer_points"].to_numpy().astype(np.int64)
        lost, deals = np.unique(before - after, return_counts=True)
        found[mask] = Moments.of(zip(lost.tolist(), deals.tolist(), strict=True))
    return found


def counterfactuals(
    run: Run, masks: Sequence[int], *, replays: int = REPLAYS, threads: int | None = None
) -> dict[int, Counterfactual]:
    """For each mask of suits, the deals of `marriage_worth`, looked at four times."""
    whole_number("replays", replays, 0, MAX_REPLAYS)
    if run.model == DOUBLE_DUMMY:
        replays = min(replays, MOST_SOLVED[run.plan.dd])
    return {
        mask: _replayed(run, mask, rows, threads)
        for mask, rows in _first_holders(run, masks, replays).items()
    }


def _replayed(run: Run, suits: int, rows: pl.DataFrame, threads: int | None) -> Counterfactual:
    dealt = masks_of_deals(rows["deal"].to_numpy())
    hands = np.stack([dealt.forehand, dealt.middlehand, dealt.rearhand])
    his = rows["declarer"].to_numpy().astype(np.int64)
    ten = hands[his, np.arange(rows.height)] | dealt.talon
    aces = np.zeros(rows.height, np.int64)
    for suit in SUITS:
        aces |= (ten >> N_RANKS * suit + ACE & 1) << suit
    unpaid = without_value(run.rules, suits)
    changed = _broken(run, rows, suits)
    looks = [
        _points_under(run, rows, unpaid, threads),
        _points_under(run, rows, unpaid, threads, undeclarable=suits),
        None if changed is None else _points_under(run, changed, run.rules, threads),
    ]
    played, unpaid_points, silent, broken = (
        None if points is None else points.astype(np.int64)
        for points in (rows["declarer_points"].to_numpy(), *looks)
    )
    assert played is not None
    assert unpaid_points is not None
    assert silent is not None
    return Counterfactual(
        suits, rows, suit_set("marriages", ten), aces, played, unpaid_points, silent, broken
    )


def _broken(run: Run, rows: pl.DataFrame, suits: int) -> pl.DataFrame | None:
    """The rows with the marriages broken, and the gifts that their policy gives then."""
    from milsim.simulation.broken_pairs import broken_deals
    from milsim.simulation.replay import replay_gifts

    index, deal, redeals, declarer = (
        rows[name].to_numpy() for name in ("index", "deal", "redeals", "declarer")
    )
    broken = broken_deals(run.plan.seed, index, deal, redeals, declarer, suits)
    changed = rows.with_columns(deal=pl.Series(broken, dtype=rows.schema["deal"]))
    if run.model != DOUBLE_DUMMY or run.plan.dd == "exchange":
        return changed
    try:
        left, right = replay_gifts(run.plan, index, broken, redeals, declarer)
    except PolicyError:
        return None
    return changed.with_columns(
        gift_left=pl.Series(left, dtype=rows.schema["gift_left"]),
        gift_right=pl.Series(right, dtype=rows.schema["gift_right"]),
    )


@dataclass(frozen=True, slots=True)
class HalfMarriage:
    """Deals whose declarer has one of king and queen of a suit in his seven cards, replayed.

    ``completed``: whether the talon brought the other; ``played`` his points as it was, ``silent``
    those when nobody can declare this marriage; arrays, one entry a deal.
    """

    suit: int
    completed: NDArray[np.bool_]
    played: Points
    silent: Points


def half_marriages(
    run: Run, *, replays: int = REPLAYS, threads: int | None = None
) -> list[HalfMarriage]:
    """By suit, the first ``replays`` deals with half its marriage in the declarer's seven cards.

    Raises as `marriage_worth`.
    """
    whole_number("replays", replays, 0, MAX_REPLAYS)
    if run.model == DOUBLE_DUMMY:
        replays = min(replays, MOST_SOLVED[run.plan.dd])
    nothing = run.frame().select(_COLUMNS).clear().collect()
    found = [nothing.with_columns(completed=pl.lit(value=False)) for _ in SUITS]
    for window in _windows(run):
        if all(rows.height >= replays for rows in found):
            break
        deals = window.filter(~pl.col("conceded")).select(_COLUMNS).sort("index").collect()
        dealt = masks_of_deals(deals["deal"].to_numpy())
        hands = np.stack([dealt.forehand, dealt.middlehand, dealt.rearhand])
        seven = hands[deals["declarer"].to_numpy().astype(np.int64), np.arange(deals.height)]
        halves = suit_set("half_marriages", seven)
        whole = suit_set("marriages", seven | dealt.talon)
        for suit, rows in enumerate(found):
            more = deals.with_columns(completed=pl.Series((whole >> suit & 1).astype(np.bool_)))
            more = more.filter(pl.Series((halves >> suit & 1).astype(np.bool_)))
            found[suit] = rows.vstack(more.head(replays - rows.height))
    return [_half_replayed(run, suit, rows, threads) for suit, rows in enumerate(found)]


def _half_replayed(run: Run, suit: int, rows: pl.DataFrame, threads: int | None) -> HalfMarriage:
    silent = _points_under(
        run, rows, without_value(run.rules, 1 << suit), threads, undeclarable=1 << suit
    )
    return HalfMarriage(
        suit,
        rows["completed"].to_numpy(),
        rows["declarer_points"].to_numpy().astype(np.int64),
        silent.astype(np.int64),
    )


def _points_under(
    run: Run, rows: pl.DataFrame, rules: Rules, threads: int | None, *, undeclarable: int = 0
) -> NDArray[np.int16]:
    """Declarer points of these rows, played or solved anew under other rules."""
    if rows.is_empty():
        return np.zeros(0, np.int16)
    if run.model == DOUBLE_DUMMY:
        from milsim.simulation.double_dummy import double_dummy_points

        return double_dummy_points(
            *(rows[name].to_numpy() for name in ("deal", "declarer", "gift_left", "gift_right")),
            best=run.plan.dd == "exchange",
            rules=rules,
            threads=threads,
            undeclarable=undeclarable,
        )
    from milsim.simulation.replay import replay_declarer_points

    return replay_declarer_points(
        run.plan,
        **{name: rows[name].to_numpy() for name in _REPLAYED},
        rules=rules,
        threads=threads,
        undeclarable=undeclarable,
    )


def _windows(run: Run) -> Iterator[pl.LazyFrame]:
    """The rows of a run in order, some at a time: memory is bounded, and reading may stop early."""
    first, end = run.plan.start, run.plan.start + run.deals
    while first < end:
        following = min(first + WINDOW_DEALS, end)
        yield run.frame().filter(pl.col("index").is_between(first, following, closed="left"))
        first = following


def _first_holders(run: Run, masks: Sequence[int], limit: int) -> dict[int, pl.DataFrame]:
    """The rows of the first deals, by index, whose declarer holds a marriage of each mask."""
    nothing = run.frame().select(_COLUMNS).clear().collect()
    found = dict.fromkeys(masks, nothing)
    for window in _windows(run):
        if all(rows.height >= limit for rows in found.values()):
            break
        holders = (
            with_features(window, run.rules)
            .filter((pl.col("held10_marriage_mask") != 0) & ~pl.col("conceded"))
            .select(*_COLUMNS, "held10_marriage_mask")
            .sort("index")
            .collect()
        )
        for mask, rows in found.items():
            more = holders.filter(pl.col("held10_marriage_mask") & mask != 0)
            found[mask] = rows.vstack(more.select(_COLUMNS).head(limit - rows.height))
    return found
