"""Report ``bidding``: what declarers' hands were worth, by class of hand and by card points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl

from milsim.errors import UsageError, nearest
from milsim.reports.contract import Contract, checked_contracts, contract_grid, safe_cap
from milsim.reports.hands import BYS, KEYS, By, HandHistogram, Histogram, Key, band_of
from milsim.reports.provenance import KIND, AnyRun, has_exact_chances, model_of, opened
from milsim.reports.statistics import UNKNOWN, Interval, Moments, quantiles, spread, total, wilson
from milsim.store.features import hand_features
from milsim.store.run import Run

QUANTILES = (10, 25, 50, 75, 90)


def bidding(
    run: AnyRun,
    by: By = "class",
    contracts: Sequence[int] | None = None,
    *,
    tidy: bool = False,
) -> pl.DataFrame:
    """What the declarers' hands of a run were worth, as a sorted frame.

    One row a class of the declarer's 7 cards (``by="class"``: marriages, aces, guarded tens) or a
    band of their card points (``by="points"``: points_from, points_to, both inclusive); the last
    row, with null keys, is all hands. Columns: ``n`` deals; ``share`` of all deals and, where it
    is known, ``share_exact``; ``points_mean`` of declarer points and ``points_q10`` … ``_q90``;
    for each contract c ``p_c`` = P(declarer points ≥ c) and ``score_c``, the expected deal score;
    ``cap``, the highest contract that the rules allow with every hand of the row; among contracts
    up to it ``best_contract``, of the largest expected score, ``best_score``, and ``break_even``,
    the highest of expected score 0 or more (null: pass). ``x_low`` and ``x_high`` are the 95 %
    interval of ``x``; ``kind`` and ``model`` say what produced the numbers.

    With ``tidy``, one row a class and contract: keys, contract, n, made, and p and score with
    their intervals.

    Hands are those that declared: in auction mode those that won the auction.

    ``run`` is a run or its folder. Raises :class:`~milsim.errors.UsageError` for what is neither,
    an unknown ``by`` or a contract out of range, and :class:`~milsim.errors.RunError` for a run
    without deals.
    """
    checked_by(by)
    hands = HandHistogram.of(opened(run))
    return (tidy_frame if tidy else wide_frame)(hands, by, contracts)


def checked_by(by: object) -> None:
    """Raise UsageError unless ``by`` is one of BYS."""
    if by not in BYS:
        raise UsageError(f"by {by!r:.40}: unknown; {nearest(str(by), BYS)}")


def wide_frame(hands: HandHistogram, by: str, contracts: Sequence[int] | None) -> pl.DataFrame:
    """The frame of :func:`bidding`, one row a class, from counts made before."""
    grid = grid_of(hands, contracts)
    exact = _exact_shares(by, hands.run) if has_exact_chances(hands.run) else {}
    rows = []
    for key, histogram in hands.groups(by):
        pairs = list(histogram.items())
        moments = Moments.of(pairs)
        marks = quantiles(pairs, [at / 100 for at in QUANTILES])
        rows.append(
            {
                **_key_columns(by, key),
                "n": moments.n,
                **spread("share", _share(moments.n, hands.deals)),
                "share_exact": exact.get(key),
                **spread("points_mean", moments.mean()),
                **{f"points_q{at}": mark for at, mark in zip(QUANTILES, marks, strict=True)},
                **_contract_columns(
                    hands.run, key[0] if key and by == "class" else 0, histogram, grid
                ),
            }
        )
    return _framed(rows, hands.run)


def tidy_frame(hands: HandHistogram, by: str, contracts: Sequence[int] | None) -> pl.DataFrame:
    """The long frame of :func:`bidding`, one row a class and contract."""
    rows = []
    for key, histogram in hands.groups(by):
        for contract in grid_of(hands, contracts):
            n, made = total(histogram), contract.made(histogram)
            score = contract.score(histogram, made, n)
            rows.append(
                {
                    **_key_columns(by, key),
                    "contract": contract.value,
                    "n": n,
                    "made": made,
                    **spread("p", wilson(made, n)),
                    **spread("score", score.mean()),
                }
            )
    return _framed(rows, hands.run)


def grid_of(hands: HandHistogram, contracts: Sequence[int] | None) -> list[Contract]:
    """The contracts asked for, else all from the minimum to the most points of the run."""
    rules = hands.run.rules
    if contracts is None:
        return contract_grid(rules, hands.most_points)
    return checked_contracts(contracts, rules)


def _share(n: int, deals: int) -> Interval:
    """The share of a class; that of all hands is 1 by definition, not by sampling."""
    return Interval(1.0, 1.0, 1.0) if n == deals else wilson(n, deals)


def _key_columns(by: str, key: Key | None) -> dict[str, int | None]:
    names = KEYS[by]
    return dict.fromkeys(names) if key is None else dict(zip(names, key, strict=True))


def _contract_columns(
    run: Run, marriages: int, histogram: Histogram, grid: list[Contract]
) -> dict[str, Any]:
    """Columns of each contract, then of the best one and the last that does not lose."""
    row: dict[str, Any] = {}
    cap, n = safe_cap(run.rules, marriages), total(histogram)
    allowed: list[tuple[float, int, Interval]] = []
    for contract in grid:
        made = contract.made(histogram)
        score = contract.score(histogram, made, n).mean()
        row |= spread(f"p_{contract.value}", wilson(made, n))
        row[f"score_{contract.value}"] = score.value
        if contract.value <= cap and score.value is not None:
            allowed.append((score.value, -contract.value, score))
    best = max(allowed, key=lambda entry: entry[:2], default=(None, None, UNKNOWN))
    row["cap"] = cap
    row["best_contract"] = None if best[1] is None else -best[1]
    row |= spread("best_score", best[2])
    row["break_even"] = max((-value for score, value, _ in allowed if score >= 0), default=None)
    return row


def _exact_shares(by: str, run: Run) -> dict[Key | None, float]:
    """The chance of each class or band, counted over all hands of 7 cards."""
    keys = ["points"] if by == "points" else list(KEYS["class"])
    # The values of marriages play no part; with those of the run, its features are made once.
    hands = hand_features(run.rules.deal.marriage_values.by_suit(), keys)
    counted = hands.group_by(keys).agg(pl.len().alias("n"))
    shares: defaultdict[Key | None, int] = defaultdict(int)
    for *key, n in counted.select(*keys, "n").rows():
        shares[band_of(key[0]) if by == "points" else tuple(key)] += n
    return {key: n / hands.height for key, n in shares.items()} | {None: 1.0}


def _framed(rows: list[dict[str, Any]], run: Run) -> pl.DataFrame:
    """Rows as a frame whose types do not depend on what happens to be null."""
    whole = (*KEYS["class"], *KEYS["points"], "n", "made", "contract", "cap", "best_contract",
             "break_even", *(f"points_q{at}" for at in QUANTILES))  # fmt: skip
    schema = {name: pl.Int64 if name in whole else pl.Float64 for name in rows[0]}
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(model_of(run))
    )
