"""Report ``contracts``: what each contract would bring, which was best, and which were named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from milsim.errors import UsageError, nearest
from milsim.reports.contract import Contract
from milsim.reports.contract_counts import ContractCounts, cap_of
from milsim.reports.part_counts import moments, summed
from milsim.reports.provenance import KIND, AnyRun, has_exact_chances, model_of, opened
from milsim.reports.statistics import UNKNOWN, Interval, Moments, spread, wilson
from milsim.rules import Rules
from milsim.store.features import MARRIAGE_MASK, hand_features

Table = Literal["contract", "named"]
TABLES: tuple[str, ...] = get_args(Table)

SELDOM = 1000
"""Contracts that fewer than 1 of so many would make are left out, unless one was named or best."""


def contracts(run: AnyRun, table: Table = "contract") -> pl.DataFrame:
    """The contracts of a run, from the minimum by the step, as a sorted frame; the last row is all.

    - ``contract``: as if every declarer had played it; to the last that 1 in 1,000 would make or
      that was named or best. ``p``, the chance that he takes enough points, ``score``, the mean
      deal score, and ``break_even``, the chance at which that would be 0. ``best``: the share of
      hands whose class (marriages, aces, guarded tens; rare ones by marriages) scores most with it,
      among the contracts that the rules allow with every such hand; ``best_n`` of them, which add
      up to ``n``. ``allowed``: the share of hands with which it may be bid, ``allowed_exact`` where
      the chance is known. Of all: each hand in the best contract of its class.
    - ``named``: what was played. ``n`` deals with this contract (``share``), ``bid_n`` with it as
      the final bid. Of those who named it: ``made``, mean ``points``, ``score`` (their deal score;
      null for models whose scores are not known). ``best_n`` and ``best``: deals in which, seen
      from the end, it was the contract to name: the one that scores most with the points taken,
      from the bid to the cap. ``regret``, how much more than the contract named that scores, on
      average; ``too_high`` and ``too_low``: the share named higher and lower than it.

    ``x_low`` and ``x_high`` are the 95 % interval of ``x``; ``kind`` and ``model`` say what
    produced the numbers. Conceded deals are left out.

    Raises :class:`~milsim.errors.UsageError` for what is no run or table, and
    :class:`~milsim.errors.RunError` for a run without deals.
    """
    if table not in TABLES:
        raise UsageError(f"table {table!r:.40}: unknown; {nearest(str(table), TABLES)}")
    return contract_frame(ContractCounts.of(opened(run)), table)


def contract_frame(counts: ContractCounts, table: str) -> pl.DataFrame:
    """The frame of :func:`contracts` from counts made before."""
    rows = list(_each(counts) if table == "contract" else _named(counts))
    whole = ("contract", "n", "best_n", "bid_n")
    schema = {name: pl.Int64 if name in whole else pl.Float64 for name in rows[0]}
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(model_of(counts.run))
    )


def _share(part: int, n: int) -> Interval:
    """A share; that of all is 1 by definition, not by sampling."""
    return Interval(1.0, 1.0, 1.0) if part == n else wilson(part, n)


# -- each contract, played by all ------------------------------------------------------------------


def _each(counts: ContractCounts) -> Iterator[dict[str, Any]]:
    n = counts.deals
    points: dict[int, int] = defaultdict(int)
    best: dict[int, int] = defaultdict(int)
    made_best, scores_best = 0, Moments()
    for marriages, histogram in counts.classes():
        contract, scores = counts.best(histogram, marriages)
        best[contract.value] += scores.n
        made_best += contract.made(histogram)
        scores_best += scores
        for value, deals in histogram.items():
            points[value] += deals
    caps = {mask: cap_of(mask, counts.run.rules) for mask in counts.masks["mask"]}
    highest = max(*best, int(counts.named["contract"].max()))  # type: ignore[arg-type]
    chances = _caps_of_hands(counts.run.rules) if has_exact_chances(counts.run) else None
    for contract in counts.grid():
        value, made = contract.value, contract.made(points)
        if SELDOM * made < n and value > highest:
            break
        scores = contract.score(points, made, n)
        allowed = sum(deals for mask, deals in counts.masks.iter_rows() if caps[mask] >= value)
        yield {
            "contract": value,
            "n": n,
            **spread("p", wilson(made, n)),
            "break_even": break_even(contract, points),
            **spread("score", scores.mean()),
            "best_n": best[value],
            **spread("best", _share(best[value], n)),
            **spread("allowed", _share(allowed, n)),
            "allowed_exact": None
            if chances is None
            else sum(share for cap, share in chances.items() if cap >= value),
        }
    yield {
        "contract": None,
        "n": n,
        **spread("p", wilson(made_best, n)),
        "break_even": None,
        **spread("score", scores_best.mean()),
        "best_n": n,
        **spread("best", Interval(1.0, 1.0, 1.0)),
        **spread("allowed", UNKNOWN),
        "allowed_exact": None,
    }


def break_even(contract: Contract, points: dict[int, int]) -> float:
    """The chance to make a contract at which it scores 0 on average.

    Where a made contract pays the contract it is one half; where it pays the points taken, it
    depends on how many those take who make it. Points → deals.

    >>> from milsim.rules import load
    >>> break_even(Contract.of(120, load("mil")), {90: 1, 130: 1})
    0.5
    """
    won = {value: n for value, n in points.items() if value >= contract.needs and n}
    won = won or {contract.needs: 1}
    n = sum(won.values())
    gain = contract.score(won, n, n).total / n
    loss = -contract.score({0: 1}, 0, 1).total
    return loss / (gain + loss)


def _caps_of_hands(rules: Rules) -> dict[int, float]:
    """The shares of all 346,104 hands by the highest bid that they allow."""
    values = rules.deal.marriage_values.by_suit()
    hands = hand_features(values, [MARRIAGE_MASK])
    shares: dict[int, float] = defaultdict(float)
    for mask, n in hands.group_by(MARRIAGE_MASK).len().sort(MARRIAGE_MASK).iter_rows():
        shares[cap_of(mask, rules)] += n / hands.height
    return dict(shares)


# -- what was named --------------------------------------------------------------------------------


def _named(counts: ContractCounts) -> Iterator[dict[str, Any]]:
    best, regret = _hindsight(counts)
    rows = counts.named.with_columns(
        pl.col("contract", "points", "bid").cast(pl.Int64),
        best=pl.Series(best),
        regret=pl.Series(regret),
    )
    bids, bests = (
        dict(rows.group_by(name).agg(pl.col("n").sum()).iter_rows()) for name in ("bid", "best")
    )
    n = pl.col("n")
    sums = rows.group_by("contract").agg(
        n.sum(),
        *((n * pl.col(name)).sum().alias(name) for name in ("points", "regret", "made")),
        *((n * pl.col(name) ** 2).sum().alias(f"{name}_squares") for name in ("points", "regret")),
        too_high=(n * (pl.col("contract") > pl.col("best"))).sum(),
        too_low=(n * (pl.col("contract") < pl.col("best"))).sum(),
        score=pl.col("score").sum(),
        score_squares=pl.col("score_squares").sum(),
    )
    found = {row.pop("contract"): row for row in sums.to_dicts()}
    nothing = dict.fromkeys(sums.columns[1:], 0)
    for value in sorted({*found, *bids, *bests}):
        times = bids.get(value, 0), bests.get(value, 0)
        yield {"contract": value, **_named_row(counts, found.get(value, nothing), *times)}
    whole = summed(sums.drop("contract"))
    yield {"contract": None, **_named_row(counts, whole, counts.deals, counts.deals)}


def _named_row(
    counts: ContractCounts, sums: Mapping[str, int], bid_n: int, best_n: int
) -> dict[str, Any]:
    n = sums["n"]
    score = moments(sums, "score").mean() if counts.knows_scores else UNKNOWN
    return {
        "n": n,
        **spread("share", _share(n, counts.deals)),
        "bid_n": bid_n,
        **spread("made", wilson(sums["made"], n)),
        **spread("points", moments(sums, "points").mean()),
        **spread("score", score),
        **spread("regret", moments(sums, "regret").mean()),
        **spread("too_high", wilson(sums["too_high"], n)),
        **spread("too_low", wilson(sums["too_low"], n)),
        "best_n": best_n,
        **spread("best", _share(best_n, counts.deals)),
    }


def _hindsight(counts: ContractCounts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each row named: the contract that would have scored most, and how much more it does.

    It is among those that may be named with this bid and these cards. Of equal ones it is the one
    that was named, else the lowest. A dark contract scores double, whichever it is.
    """
    rules = counts.run.rules
    step = rules.auction.step
    rows = counts.named.select(
        pl.col("bid", "contract", "points", "dark").cast(pl.Int64),
        cap=pl.col("basis").cast(pl.Int64).replace_strict(
            {mask: cap_of(mask, rules) for mask in counts.named["basis"].unique().sort()},
            return_dtype=pl.Int64,
        ),
    )  # fmt: skip
    bids, named, points, dark, caps = (column.to_numpy() for column in rows)
    last = np.maximum(bids, caps) if rules.talon.raise_contract else bids
    scores = _scores(counts, int(max(last.max(), named.max())), int(points.max()))
    best = np.empty_like(bids)
    for bid, cap in set(zip(bids.tolist(), last.tolist(), strict=True)):
        here = (bids == bid) & (last == cap)
        choice = scores[bid // step : cap // step + 1, points[here]].argmax(axis=0)
        best[here] = bid + step * choice
    gained, got = scores[best // step, points], scores[named // step, points]
    best = np.where(gained == got, named, best)
    return best, (1 + dark) * (gained - got)


def _scores(counts: ContractCounts, highest: int, most: int) -> NDArray[np.int64]:
    """Deal scores by contract, in steps, and points: int64 (highest // step + 1, most + 1)."""
    rules = counts.run.rules
    step, points = rules.auction.step, np.arange(most + 1)
    scores = np.zeros((highest // step + 1, most + 1), np.int64)
    for place in range(1, len(scores)):
        contract = counts.contract(place * step)
        scores[place] = contract.score({0: 1}, 0, 1).total
        made = points >= contract.needs
        if rules.scoring.success == "contract":
            scores[place, made] = contract.score({contract.needs: 1}, 1, 1).total
        else:
            scores[place, made] = [
                contract.score({p: 1}, 1, 1).total for p in points[made].tolist()
            ]
    return scores


__all__ = ["TABLES", "break_even", "contract_frame", "contracts"]
