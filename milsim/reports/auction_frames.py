"""Report ``auction``: what was bid and contracted, what it brought, and what passing earned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from milsim.deals import SEAT_NAMES
from milsim.errors import RunError, UsageError, nearest
from milsim.reports.match_statistics import Clusters, clusters_of, shares_of
from milsim.reports.provenance import KIND
from milsim.reports.statistics import Interval, spread
from milsim.store.features import with_features
from milsim.store.match_run import MatchRun, open_any
from milsim.store.run import Run

Table = Literal["contract", "bid", "seat", "marriages", "passing"]
TABLES: tuple[str, ...] = get_args(Table)

AnyRunOrMatches = Run | MatchRun | str | Path
"""A run of either kind, or its folder."""

ROLES = ("declared", "bid, and was outbid", "passed without a bid")
"""What a hand did in the auction."""

_VALUES = ("bid", "contract", "made", "conceded", "raised", "score", "defenders")


def auction(run: AnyRunOrMatches, table: Table = "contract") -> pl.DataFrame:
    """What bidding brought in a run of matches, or of deals with an auction, as a sorted frame.

    - ``contract``: by contract, how often, the mean bid before it, in how many it was made, and
      the mean deal scores of the declarer and of a defender.
    - ``bid``: by final bid, how often, how often the contract was raised, and the same.
    - ``seat``: by seat, how often it declares, and the mean score when it does and when not.
    - ``marriages``: by the marriages in 7 cards, the same for hands of all three seats.
    - ``passing``: hands that declared, that bid and were outbid, that passed without a bid.

    In each but ``passing`` the last row, with a null key, is all. Scores are those of the deal
    itself, before what a match does to them; a conceded deal counts as a contract not made, at the
    price of the concession. ``x_low`` and ``x_high`` are the 95 % interval of ``x``; deals of one
    match, and the hands of one deal, are taken together in them.

    Raises :class:`~milsim.errors.UsageError` for what is no run or table, and
    :class:`~milsim.errors.RunError` for a run without deals or without auctions.
    """
    if table not in TABLES:
        raise UsageError(f"table {table!r:.40}: unknown; {nearest(str(table), TABLES)}")
    counts = AuctionCounts.of(opened_with_auctions(run))
    return auction_frame(counts, table)


def opened_with_auctions(run: AnyRunOrMatches) -> Run | MatchRun:
    """The run itself, or opened from its folder; raises RunError if nobody bid in it."""
    if isinstance(run, (str, Path)):
        run = open_any(run)
    if not isinstance(run, Run | MatchRun):
        raise UsageError(f"run {run!r:.40}: give a run or the path of its folder")
    if isinstance(run, Run) and run.plan.mode != "auction":
        raise RunError(
            f"run {run.folder}: nobody bid in it (mode {run.plan.mode}); give a run of "
            "--mode auction or of milsim match"
        )
    return run


Sums = dict[Any, Clusters]
ALL = "all"


@dataclass(slots=True)
class AuctionCounts:
    """The auctions of a run, counted; sums by table and key, None for all.

    ``shares`` are those of all deals, of all hands for ``passing`` (see
    :func:`~milsim.reports.match_statistics.shares_of`). ``declaring`` is about deals and their
    declarers, ``hands`` about the hands of all three seats: by table and key, then all (``any``)
    or those that ``passed``. The table ALL has the sums of all, at None, with those by role.
    """

    run: Run | MatchRun
    deals: int = 0
    shares: dict[str, Sums] = field(default_factory=dict)
    declaring: dict[str, dict[Any, Sums]] = field(default_factory=dict)
    hands: dict[str, dict[Any, dict[str, Sums]]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run | MatchRun) -> AuctionCounts:
        """Count a run part by part; raises RunError for a run without deals."""
        found = cls(run)
        for deals in _parts(run):
            rows = _declarers(deals).collect()
            found.deals += int(rows["alike"].sum())
            for table in ("contract", "bid", "seat", "marriages", ALL):
                found._add_deals(table, rows)
            for table in ("contract", "bid"):
                _merge(
                    found.shares.setdefault(table, {}), shares_of(rows, "cluster", table, "alike")
                )
            hands = _hands(rows)
            _merge(
                found.shares.setdefault("passing", {}), shares_of(hands, "cluster", "role", "alike")
            )
            for table in ("seat", "marriages", ALL):
                found._add_hands(table, hands)
        if found.deals == 0:
            raise RunError(f"run {run.folder}: no deals in it; play it again, or a longer one")
        return found

    def _add_deals(self, table: str, rows: pl.DataFrame) -> None:
        into = self.declaring.setdefault(table, {})
        keys = [] if table == ALL else [table]
        for key, sums in clusters_of(rows, "cluster", keys, _VALUES, "alike").items():
            _merge(into.setdefault(key[0] if keys else None, {}), sums)

    def _add_hands(self, table: str, hands: pl.DataFrame) -> None:
        into = self.hands.setdefault(table, {})
        keys = [] if table == ALL else [table]
        groups = [("any", hands, keys, "declares")]
        groups.append(("passed", hands.filter(~pl.col("declares")), keys, "score"))
        if table == ALL:
            groups.append(("", hands, ["role"], "score"))
        for name, rows, by, value in groups:
            for key, sums in clusters_of(rows, "cluster", by, [value], "alike").items():
                row = into.setdefault(key[0] if keys else None, {})
                _merge(row.setdefault(name or key[0], {}), sums)


def _merge(into: dict[Any, Clusters], more: dict[Any, Clusters]) -> None:
    for name, sums in more.items():
        into[name] = into.get(name, Clusters()) + sums


def _parts(run: Run | MatchRun) -> Iterator[pl.LazyFrame]:
    """The deals part by part, with the column ``cluster``: what is independent of the rest.

    Of single deals those that are alike in all that is counted are one cluster, ``alike`` of them:
    some tens of thousands of a million.
    """
    if isinstance(run, MatchRun):
        for deals, _ in run.by_part():
            rows = _with_marriages(deals, run, ["match"])
            yield rows.with_columns(cluster=pl.col("match"), alike=pl.lit(1, pl.Int64))
    else:
        for deals in run.by_part():
            rows = _with_marriages(deals, run, []).drop("deal")
            names = rows.collect_schema().names()
            counted = rows.group_by(names).agg(pl.len().cast(pl.Int64).alias("alike"))
            yield counted.with_row_index("cluster")


def _with_marriages(deals: pl.LazyFrame, run: Run | MatchRun, names: list[str]) -> pl.LazyFrame:
    """The deals with ``marriages_in_0`` … ``_2``: how many each seat was dealt."""
    names = [*names, "deal", "declarer", "bid", "contract", "made", "conceded"]
    names += [f"{what}_{seat}" for what in ("bid", "score") for seat in SEAT_NAMES]
    rows = deals.select(*names)
    for seat in range(len(SEAT_NAMES)):
        # The hand of a seat is what its features would be if it declared.
        asked = rows.with_columns(
            true_declarer=pl.col("declarer"),
            declarer=pl.lit(seat, pl.UInt8),
            gift_left=pl.lit(0, pl.UInt8),
            gift_right=pl.lit(1, pl.UInt8),
        )
        found = with_features(asked, run.rules).with_columns(
            pl.col("true_declarer").alias("declarer"),
            pl.col("hand_marriages").alias(f"marriages_in_{seat}"),
        )
        names.append(f"marriages_in_{seat}")
        rows = found.select(*names)
    return rows


def _of_declarer(columns: list[str]) -> pl.Expr:
    return pl.coalesce(
        pl.when(pl.col("declarer") == seat).then(pl.col(name).cast(pl.Int64))
        for seat, name in enumerate(columns)
    )


def _declarers(deals: pl.LazyFrame) -> pl.LazyFrame:
    """The deals with what the declarer got, and what both defenders got on average, doubled."""
    scores = [f"score_{seat}" for seat in SEAT_NAMES]
    score = _of_declarer(scores)
    total = pl.sum_horizontal(pl.col(name).cast(pl.Int64) for name in scores)
    return deals.with_columns(
        score=score,
        defenders=total - score,
        raised=pl.col("contract") > pl.col("bid"),
        seat=pl.col("declarer").cast(pl.Int64),
        marriages=_of_declarer([f"marriages_in_{seat}" for seat in range(len(SEAT_NAMES))]),
    )


def _hands(rows: pl.DataFrame) -> pl.DataFrame:
    """A row a deal and seat: what the hand did in the auction, and what the deal brought it."""
    frames = []
    for seat, name in enumerate(SEAT_NAMES):
        declares = pl.col("declarer") == seat
        role = (
            pl.when(declares)
            .then(pl.lit(ROLES[0]))
            .when(pl.col(f"bid_{name}") > 0)
            .then(pl.lit(ROLES[1]))
            .otherwise(pl.lit(ROLES[2]))
        )
        frames.append(
            rows.select(
                "cluster",
                "alike",
                seat=pl.lit(seat, pl.Int64),
                marriages=pl.col(f"marriages_in_{seat}").cast(pl.Int64),
                declares=declares,
                role=role,
                score=pl.col(f"score_{name}").cast(pl.Int64),
            )
        )
    return pl.concat(frames)


# -- frames ---------------------------------------------------------------------------------------


def auction_frame(counts: AuctionCounts, table: str) -> pl.DataFrame:
    """The frame of :func:`auction` from counts made before."""
    if table == "passing":
        rows = _passing(counts)
    elif table in ("contract", "bid"):
        rows = _by_value(counts, table)
    else:
        rows = _by_hand(counts, table)
    return _framed(rows, counts)


def _rows(found: dict[str, dict[Any, Any]], table: str) -> dict[Any, Any]:
    """What was counted for a table by key, in order, and for all at None."""
    return dict(sorted(found[table].items())) | found[ALL]


def _share(counts: AuctionCounts, table: str, key: Any) -> dict[str, float | None]:
    """The share of all deals or hands; that of all is 1 by definition, not by sampling."""
    if key is None:
        return spread("share", Interval(1.0, 1.0, 1.0))
    shares = counts.shares[table]
    return spread("share", (shares[None] + shares[key]).share())


def _by_value(counts: AuctionCounts, table: str) -> list[dict[str, Any]]:
    rows = []
    for key, sums in _rows(counts.declaring, table).items():
        rows.append(
            {
                table: key,
                "n": sums["score"].n,
                **_share(counts, table, key),
                **(
                    spread("bid_mean", sums["bid"].mean())
                    if table == "contract"
                    else spread("raised", sums["raised"].share())
                    | spread("contract_mean", sums["contract"].mean())
                ),
                **_outcome(sums),
            }
        )
    return rows


def _outcome(sums: Sums) -> dict[str, float | None]:
    """What contracts became: made or conceded, and the scores of declarer and defenders."""
    return {
        **spread("made", sums["made"].share()),
        **spread("conceded", sums["conceded"].share()),
        **spread("score", sums["score"].mean()),
        **{
            name: None if value is None else value / 2  # the two of them
            for name, value in spread("score_defender", sums["defenders"].mean()).items()
        },
    }


def _by_hand(counts: AuctionCounts, table: str) -> list[dict[str, Any]]:
    rows = []
    declaring = _rows(counts.declaring, table)
    for key, hands in _rows(counts.hands, table).items():
        sums = declaring.get(key, dict.fromkeys(_VALUES, Clusters()))
        rows.append(
            {
                table: SEAT_NAMES[key] if table == "seat" and key is not None else key,
                "n": hands["any"]["declares"].n,
                **spread("declares", hands["any"]["declares"].share()),
                **spread("bid_mean", sums["bid"].mean()),
                **spread("contract_mean", sums["contract"].mean()),
                **_outcome(sums),
                **spread("score_passed", hands.get("passed", _NOTHING)["score"].mean()),
            }
        )
    return rows


_NOTHING: Sums = {"score": Clusters()}


def _passing(counts: AuctionCounts) -> list[dict[str, Any]]:
    hands = counts.hands[ALL][None]
    rows = []
    for role in ROLES:
        if role not in hands:
            continue
        sums = hands[role]["score"]
        rows.append(
            {
                "hand": role,
                "n": sums.n,
                **_share(counts, "passing", role),
                **spread("score", sums.mean()),
            }
        )
    return rows


_TEXTS = ("seat", "hand")
_WHOLE = ("contract", "bid", "marriages", "n")


def _framed(rows: list[dict[str, Any]], counts: AuctionCounts) -> pl.DataFrame:
    """Rows as a frame whose types do not depend on what happens to be null."""
    schema: dict[str, Any] = {
        name: pl.String if name in _TEXTS else pl.Int64 if name in _WHOLE else pl.Float64
        for name in rows[0]
    }
    return pl.DataFrame(rows, schema=schema).with_columns(
        kind=pl.lit(KIND), model=pl.lit(counts.run.play)
    )
