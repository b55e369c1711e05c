"""Reports of matches and auctions against the same counts made slowly, row by row."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import milsim
from milsim import reports
from milsim.cards import marriages_of
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import RunError, UsageError
from milsim.reference.match_state import Event
from milsim.reports.auction_frames import AuctionCounts
from milsim.reports.formats import to_json, to_markdown, to_text
from milsim.reports.match_counts import MatchCounts
from milsim.reports.match_frames import TABLES
from milsim.reports.match_statistics import Clusters
from milsim.reports.statistics import Moments, student, wilson
from milsim.reports.summary import summary
from milsim.reports.table import Report
from milsim.rules import Rules, load, parse
from milsim.store.match_run import MatchRun
from milsim.store.run import Run
from tests.made_up_matches import Row, made_up_matches
from tests.made_up_runs import made_up_run

FOUR = """
based_on = "pagat"
name = "four"
[deal]
players = 4
[match]
sitter = "talon_points"
defender_cap = 870
dump_truck = "plus_and_minus"
barrel_falls = 2
max_deals = 60
"""
RULES = ("mil", "russian", "pagat", "four")

MadeUp = tuple[MatchRun, list[Row], list[Row]]


def rules_named(name: str) -> Rules:
    return parse(FOUR) if name == "four" else load(name)


@pytest.fixture(scope="module", params=RULES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    rules = rules_named(request.param)
    policy = "greedy,random,greedy" + ",random" * (rules.deal.players - 3)
    folder = tmp_path_factory.mktemp("run") / request.param
    return made_up_matches(folder, 60, rules=rules, policy=policy, start=5, seed=3, part_matches=25)


@pytest.fixture(scope="module", autouse=True)
def _counted_once() -> Iterator[None]:
    """The tables of a run are made of the same counts, as those of its report are."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (MatchCounts, AuctionCounts):
            patch.setattr(kind, "of", kept(kind.of))
        yield


def kept(count: Callable[[Any], Any]) -> Callable[[Any], Any]:
    found: dict[Path, Any] = {}

    def counted(run: Run | MatchRun) -> Any:
        if run.folder not in found:
            found[run.folder] = count(run)
        return found[run.folder]

    return counted


def player_of(run: MatchRun, row: Row, seat: int) -> int:
    return int((row["dealer"] + seat) % run.players + 1)


def by_match(deals: list[Row]) -> dict[int, list[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for row in deals:
        found[row["match"]].append(row)
    return found


def scores_of(run: MatchRun, row: Row) -> dict[int, int]:
    """Deal scores by player; the sitter's too."""
    found = {player_of(run, row, seat): row[f"score_{s}"] for seat, s in enumerate(SEAT_NAMES)}
    if run.players == 4:
        found[row["dealer"]] = row["score_sitter"]
    return found


# -- match ---------------------------------------------------------------------------------------


def test_ranking_and_players(made: MadeUp) -> None:
    run, _, matches = made
    policies = run.plan.policies
    points: defaultdict[str, list[int]] = defaultdict(list)
    for row in matches:
        if row["winner"]:
            points[policies[row["winner"] - 1]].append(row[f"final_{row['winner']}"])
    frame = reports.match(run).to_dicts()
    assert [row["policy"] for row in frame] == sorted(set(policies), key=lambda p: -sum(points[p]))
    for row in frame:
        won = points[row["policy"]]
        assert row["players"] == policies.count(row["policy"])
        assert (row["n"], row["won"], row["points"]) == (60, len(won), sum(won))
        interval = wilson(len(won), 60)
        assert (row["won_share"], row["won_share_low"]) == (interval.value, interval.low)
        assert row["points_a_win"] == pytest.approx(sum(won) / len(won))
        assert row["points_a_match"] == pytest.approx(sum(won) / 60)
    for row in reports.match(run, "players").to_dicts():
        player = row["player"]
        assert row["policy"] == policies[player - 1]
        assert row["won"] == sum(m["winner"] == player for m in matches)
        finals = [m[f"final_{player}"] for m in matches]
        mean = Moments.of((value, 1) for value in finals).mean()
        assert row["final_mean"] == mean.value
        assert row["final_mean_high"] == mean.high


def test_first_deal(made: MadeUp) -> None:
    run, _, matches = made
    names = [*SEAT_NAMES, "sitting out"]
    found = {row["seat"]: row["won"] for row in reports.match(run, "first_deal").to_dicts()}
    for seat, name in enumerate(names[: run.players]):
        players = [player_of(run, {"dealer": m["first_dealer"]}, seat) for m in matches]
        won = [m for m, p in zip(matches, players, strict=True) if m["winner"] == p]
        assert found[name] == len(won)


def test_length_and_scores_over_time(made: MadeUp) -> None:
    run, deals, matches = made
    frame = reports.match(run, "length")
    lengths = sorted(m["deals"] for m in matches)
    row = frame.row(0, named=True)
    assert row["n"] == 60
    assert row["deals_mean"] == pytest.approx(sum(lengths) / 60)
    assert (row["deals_least"], row["deals_most"]) == (lengths[0], lengths[-1])
    assert row["deals_q50"] == lengths[29]
    assert row["deals_q90"] == lengths[53]
    stopped = sum(not m["winner"] for m in matches)
    assert frame.filter(matches="won")["n"].item() == 60 - stopped
    if stopped:
        assert frame.filter(matches="stopped")["n"].item() == stopped
    for row in reports.match(run, "scores").to_dicts():
        there = [d for d in deals if d["number"] == row["deals"]]
        assert row["n"] == len(there)
        ranked = [
            sorted((d[f"total_{p}"] for p in range(1, run.players + 1)), reverse=True)
            for d in there
        ]
        for place, name in ((0, "highest"), (1, "second"), (-1, "lowest")):
            expected = sum(r[place] for r in ranked) / len(ranked)
            assert row[f"{name}_mean"] == pytest.approx(expected)
        assert row["over_share"] == sum(m["deals"] <= row["deals"] for m in matches) / 60


def clustered(values: dict[int, list[int]]) -> tuple[float, float | None]:
    """Mean over all and its standard error, matches as the unit, written out."""
    n = sum(map(len, values.values()))
    mean = sum(map(sum, values.values())) / n
    k = len(values)
    if k < 2:
        return mean, None
    residuals = [sum(value - mean for value in some) for some in values.values()]
    return mean, math.sqrt(k / (k - 1) * sum(r * r for r in residuals)) / n


def test_declarers(made: MadeUp) -> None:
    run, deals, _ = made
    frame = reports.match(run, "declarers")
    for row in frame.to_dicts():
        own: dict[str, defaultdict[int, list[int]]] = {
            name: defaultdict(list) for name in ("bid", "contract", "made", "score", "other")
        }
        active = 0
        for deal in deals:
            for seat in range(3):
                if row["player"] not in (None, player_of(run, deal, seat)):
                    continue
                active += 1
                score = deal[f"score_{SEAT_NAMES[seat]}"]
                if deal["declarer"] == seat:
                    own["score"][deal["match"]].append(score)
                    for name in ("bid", "contract", "made"):
                        own[name][deal["match"]].append(int(deal[name]))
                else:
                    own["other"][deal["match"]].append(score)
        n = sum(map(len, own["bid"].values()))
        assert row["n"] == n
        assert row["declares"] == pytest.approx(n / active)
        for column, name in (
            ("bid_mean", "bid"),
            ("contract_mean", "contract"),
            ("score_declarer", "score"),
            ("score_other", "other"),
        ):
            mean, error = clustered(own[name])
            assert row[column] == pytest.approx(mean)
            assert error is not None
            half = (row[f"{column}_high"] - row[f"{column}_low"]) / 2
            assert half == pytest.approx(student(len(own[name]) - 1) * error)
        share = Clusters.of((len(v), sum(v)) for v in own["made"].values()).share()
        assert (row["made"], row["made_low"], row["made_high"]) == (
            share.value, share.low, share.high
        )  # fmt: skip
    assert frame["n"][-1] == len(deals)


def ending_of(run: MatchRun, match: Row, deals: list[Row]) -> str:
    winner, lock = match["winner"], run.rules.match.lock
    if not winner:
        return "nobody: stopped"
    before = deals[-2][f"total_{winner}"] if len(deals) > 1 else 0
    if len(deals) > 1 and deals[-2][f"barrel_{winner}"] >= 0:
        return "from the barrel"
    if deals[-1][f"events_{winner}"] & Event.JUMPED:
        return "by a jump over the barrel"
    if lock != "off" and before >= lock:
        return "out of the lock"
    if player_of(run, deals[-1], deals[-1]["declarer"]) == winner:
        return "by an own contract, from below"
    return "without an own contract"


def test_endings(made: MadeUp) -> None:
    run, deals, matches = made
    rows = by_match(deals)
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for match in matches:
        found[ending_of(run, match, rows[match["match"]])].append(match)
    *frame, every = reports.match(run, "endings").to_dicts()
    assert {row["ending"]: row["n"] for row in frame} == {e: len(m) for e, m in found.items()}
    for row in frame:
        some = found[row["ending"]]
        assert row["deals_mean"] == pytest.approx(sum(m["deals"] for m in some) / len(some))
        if row["ending"] != "nobody: stopped":
            points = [m[f"final_{m['winner']}"] for m in some]
            assert row["points_mean"] == pytest.approx(sum(points) / len(points))
    assert every["n"] == 60


def taken_by_rules(run: MatchRun, rows: list[Row]) -> dict[tuple[str, int], list[int]]:
    """By rule and player of one match: how often it acted, and the points that it took."""
    how = run.rules.match
    found: dict[tuple[str, int], list[int]] = {}
    for player in range(1, run.players + 1):
        for name in ("lock", "cap", "barrel", "bolts", "dump truck (555)"):
            found[name, player] = [0, 0]
        total, on_barrel = 0, False
        for row in rows:
            events, score = Event(row[f"events_{player}"]), scores_of(run, row)[player]
            left = score - (row[f"total_{player}"] - total)
            if Event.LOCKED in events:
                name = "barrel" if on_barrel else "lock"
                found[name, player][0] += not on_barrel
                found[name, player][1] += score
                left -= score
            if Event.BOLT_PENALTY in events:
                found["bolts", player][0] += 1
                found["bolts", player][1] += how.bolts_penalty
                left -= how.bolts_penalty
            if Event.DUMPED in events:
                points = 555 if left > 0 else -555
                found["dump truck (555)", player][0] += 1
                found["dump truck (555)", player][1] += points
                left -= points
            found["cap", player][0] += Event.CAPPED in events
            found["barrel", player][0] += Event.MOUNTED in events
            at_barrel = on_barrel or events & (Event.MOUNTED | Event.FELL | Event.RESET)
            name = "cap" if Event.CAPPED in events and not at_barrel else "barrel"
            found[name, player][1] += left
            if not left:
                pass
            elif name == "barrel":
                assert at_barrel
            total, on_barrel = row[f"total_{player}"], row[f"barrel_{player}"] >= 0
        scored = sum(scores_of(run, row)[player] for row in rows)
        taken = sum(points for (_, who), (_, points) in found.items() if who == player)
        assert scored - taken == total
    return found


def test_rules_that_brake(made: MadeUp) -> None:
    run, deals, matches = made
    names = {"cap": "cap of defenders"}
    acted: defaultdict[str, int] = defaultdict(int)
    times: defaultdict[str, int] = defaultdict(int)
    points: defaultdict[str, int] = defaultdict(int)
    decided: defaultdict[str, int] = defaultdict(int)
    rows = by_match(deals)
    for match in matches:
        found = taken_by_rules(run, rows[match["match"]])
        for rule in {name for name, _ in found}:
            players = range(1, run.players + 1)
            name = names.get(rule, rule)
            acted[name] += any(found[rule, p][0] for p in players)
            times[name] += sum(found[rule, p][0] for p in players)
            points[name] += sum(found[rule, p][1] for p in players)
            decided[name] += match["winner"] > 0 and any(
                p != match["winner"]
                and match[f"final_{p}"] + found[rule, p][1] >= run.rules.match.target
                for p in players
            )
        acted["conceded deals"] += match["concessions"] > 0
        times["conceded deals"] += match["concessions"]
        acted["dark contracts"] += match["dark_deals"] > 0
        times["dark contracts"] += match["dark_deals"]
    frame = reports.match(run, "rules")
    for row in frame.to_dicts():
        rule = row["rule"]
        assert (row["acted"], row["n"]) == (acted[rule], 60)
        assert row["times_mean"] == pytest.approx(times[rule] / 60)
        if rule not in ("conceded deals", "dark contracts"):
            assert row["points_mean"] == pytest.approx(points[rule] / 60)
            assert row["decided"] == decided[rule]
            assert row["decided_share"] == decided[rule] / 60
    shown = set(frame["rule"])
    assert all(not times[rule] for rule in times if rule not in shown)
    assert sum(m["mounts"] for m in matches) == times["barrel"]
    assert sum(m["bolt_penalties"] for m in matches) == times["bolts"]
    assert sum(m["dumps"] for m in matches) == times["dump truck (555)"]


# -- auction -------------------------------------------------------------------------------------


def test_auction_by_contract_and_bid(made: MadeUp) -> None:
    run, deals, _ = made
    for table in ("contract", "bid"):
        *frame, every = reports.auction(run, table).to_dicts()  # type: ignore[arg-type]
        groups: defaultdict[int, list[Row]] = defaultdict(list)
        for deal in deals:
            groups[deal[table]].append(deal)
        assert [row[table] for row in frame] == sorted(groups)
        assert every["n"] == len(deals)
        for row, some in [*((row, groups[row[table]]) for row in frame), (every, deals)]:
            scores = [d[f"score_{SEAT_NAMES[d['declarer']]}"] for d in some]
            total = [sum(d[f"score_{s}"] for s in SEAT_NAMES) for d in some]
            assert row["n"] == len(some)
            assert row["share"] == pytest.approx(len(some) / len(deals))
            assert row["made"] == pytest.approx(sum(d["made"] for d in some) / len(some))
            assert row["conceded"] == pytest.approx(sum(d["conceded"] for d in some) / len(some))
            assert row["score"] == pytest.approx(sum(scores) / len(some))
            others = (sum(total) - sum(scores)) / 2 / len(some)
            assert row["score_defender"] == pytest.approx(others)
            if table == "bid":
                raised = sum(d["contract"] > d["bid"] for d in some)
                assert row["raised"] == pytest.approx(raised / len(some))
            values: defaultdict[int, list[int]] = defaultdict(list)
            for deal, score in zip(some, scores, strict=True):
                values[deal["match"]].append(score)
            _, error = clustered(values)
            if error is not None:
                half = (row["score_high"] - row["score_low"]) / 2
                assert half == pytest.approx(student(len(values) - 1) * error)


def role_of(deal: Row, seat: int) -> str:
    if deal["declarer"] == seat:
        return "declared"
    return "bid, and was outbid" if deal[f"bid_{SEAT_NAMES[seat]}"] else "passed without a bid"


def recount_hands(rows: list[Row], frames: dict[str, pl.DataFrame]) -> None:
    """The tables by seat, marriages and what passing earned, counted again."""
    hands: list[tuple[str, int, str, int, Row]] = []
    for deal in rows:
        cards = Deal.from_id(deal["deal"]).hand_masks
        for seat, name in enumerate(SEAT_NAMES):
            marriages = len(marriages_of(cards[seat]))
            hands.append((name, marriages, role_of(deal, seat), deal[f"score_{name}"], deal))
    for place, table in ((0, "seat"), (1, "marriages")):
        frame = frames[table]
        assert set(frame[table].drop_nulls()) == {hand[place] for hand in hands}
        for row in frame.to_dicts():
            some = [h for h in hands if row[table] in (None, h[place])]
            own = [h for h in some if h[2] == "declared"]
            passed = [h[3] for h in some if h[2] != "declared"]
            assert row["n"] == len(some)
            assert row["declares"] == pytest.approx(len(own) / len(some))
            if own:
                assert row["bid_mean"] == pytest.approx(sum(h[4]["bid"] for h in own) / len(own))
                assert row["made"] == pytest.approx(sum(h[4]["made"] for h in own) / len(own))
                assert row["score"] == pytest.approx(sum(h[3] for h in own) / len(own))
            if passed:
                assert row["score_passed"] == pytest.approx(sum(passed) / len(passed))
    for row in frames["passing"].to_dicts():
        scores = [h[3] for h in hands if h[2] == row["hand"]]
        assert row["n"] == len(scores)
        assert row["share"] == pytest.approx(len(scores) / len(hands))
        assert row["score"] == pytest.approx(sum(scores) / len(scores))


def test_auction_by_hand(made: MadeUp) -> None:
    run, deals, _ = made
    tables = ("seat", "marriages", "passing")
    recount_hands(deals, {table: reports.auction(run, table) for table in tables})  # type: ignore[arg-type]


def test_auction_of_single_deals(tmp_path: Path) -> None:
    run, rows = made_up_run(tmp_path / "run", 900, mode="auction")
    tables = ("seat", "marriages", "passing")
    recount_hands(rows, {table: reports.auction(run, table) for table in tables})  # type: ignore[arg-type]
    for row in reports.auction(run).to_dicts():
        some = [r for r in rows if row["contract"] in (None, r["contract"])]
        interval = wilson(sum(r["made"] for r in some), len(some))
        assert (row["made"], row["made_low"]) == (interval.value, interval.low)


def test_frames_do_not_depend_on_the_parts(tmp_path: Path) -> None:
    one = made_up_matches(tmp_path / "one", 30, rules="russian", part_matches=30)[0]
    many = made_up_matches(tmp_path / "many", 30, rules="russian", part_matches=11)[0]
    for table in TABLES:
        assert reports.match(one, table).equals(reports.match(many, table))  # type: ignore[arg-type]
    for table in ("contract", "bid", "seat", "marriages", "passing"):
        assert reports.auction(one, table).equals(reports.auction(many, table))  # type: ignore[arg-type]


# -- what is printed -----------------------------------------------------------------------------


def texts(run: MatchRun) -> list[Report]:
    return [reports.match_report(run), reports.auction_report(run)]


def test_every_format(made: MadeUp) -> None:
    run, _, matches = made
    for report in texts(run):
        text = to_text(report, width=80)
        assert all(len(line) <= 80 for line in text.splitlines())
        assert run.provenance() in to_markdown(report)
        assert run.provenance() in to_text(report, width=200)
        document = json.loads(to_json(report))
        assert document["provenance"] == run.provenance()
        assert document["kind"] == "sampled"
        assert set(document["tables"]) == set(report.frames())
        for form in reports.FORMATS:
            assert reports.render(report, form)
    text = str(reports.match_report(run))
    stopped = sum(not m["winner"] for m in matches)
    assert (f"{stopped} of 60 matches were stopped" in text) == bool(stopped)


def test_every_number_has_its_interval(made: MadeUp) -> None:
    """Means and shares come with both bounds around them; counts and quantiles are counts."""
    run, _, _ = made
    for report in texts(run):
        for frame in report.frames().values():
            for name, dtype in frame.schema.items():
                if dtype != pl.Float64 or name.endswith(("_low", "_high")):
                    continue
                low, high = frame[f"{name}_low"], frame[f"{name}_high"]
                assert ((low <= frame[name]) & (frame[name] <= high)).drop_nulls().all(), name
                assert (low.is_null() == high.is_null()).all()


def test_wrong_kinds_and_names_are_said(tmp_path: Path) -> None:
    matches = made_up_matches(tmp_path / "matches", 3)[0]
    deals, _ = made_up_run(tmp_path / "deals", 50)
    deals.manifest.write(deals.folder)
    wrong: list[tuple[Any, tuple[Any, ...], type[Exception], str]] = [
        (reports.bidding, (matches,), RunError, "holds matches, not single deals"),
        (reports.bidding, (matches.folder,), RunError, "holds matches, not single deals"),
        (reports.match, (deals,), RunError, "give a run of milsim match"),
        (reports.match, (deals.folder,), RunError, "give a run of milsim match"),
        (reports.auction, (deals,), RunError, "nobody bid in it"),
        (reports.auction, (5,), UsageError, "give a run"),
        (reports.match, (matches, "rankings"), UsageError, "did you mean ranking"),
        (reports.auction, (matches, "seats"), UsageError, "did you mean seat"),
        (reports.sheet, (deals,), RunError, "give a run of milsim match"),
        (matches.as_model, ("double-dummy",), RunError, "no model double-dummy"),
        (matches.as_model, ("doubledummy",), UsageError, "did you mean double-dummy"),
    ]
    for function, arguments, kind, words in wrong:
        with pytest.raises(kind, match=words) as caught:
            function(*arguments)
        assert "\n" not in str(caught.value)
    for name, run in (("bidding", matches), ("match", deals), ("sheet", deals)):
        with pytest.raises(RunError, match="holds"):
            reports.REPORTS[name].render(run, "text")


def test_runs_that_are_empty_or_were_interrupted(tmp_path: Path) -> None:
    run = made_up_matches(tmp_path / "some", 5, planned=50)[0]
    assert "5 of 50 matches" in str(reports.match_report(run))
    assert "5 of 50 matches" in str(reports.auction_report(run))
    none = made_up_matches(tmp_path / "none", 0, planned=50)[0]
    for function in (reports.match, reports.auction):
        with pytest.raises(RunError, match="in it; play it again"):
            function(none)  # type: ignore[operator]


# -- conceded deals in reports of points ----------------------------------------------------------


@pytest.mark.parametrize("dd", ["off", "gifts"])
def test_conceded_deals_have_no_points(tmp_path: Path, dd: str) -> None:
    run = milsim.simulate(400, rules="pagat", dd=dd, out=tmp_path / "run")
    rows = run.frame().collect()
    played = rows.filter(~pl.col("conceded"))
    assert 20 < played.height < 400
    models = ["played", "double-dummy"] if dd == "gifts" else ["played"]
    for model in models:
        points = played["declarer_points" if model == "played" else "dd_points"]
        total = reports.bidding(run.as_model(model)).row(-1, named=True)
        assert (total["n"], total["share"]) == (played.height, 1)
        assert total["points_mean"] == pytest.approx(points.mean())
        number = reports.marriages(run.as_model(model), "number")
        assert number["n"][-1] == sum(number["n"][:-1]) == played.height
        assert number["points_mean"][-1] == pytest.approx(points.mean())
        for report in (reports.bidding_report, reports.marriages_report):
            text = " ".join(str(report(run.as_model(model))).split())
            assert f"{400 - played.height} conceded deals are left out" in text
    outcome = summary(run)
    assert outcome.mean_points.value == pytest.approx(played["declarer_points"].mean())
    assert outcome.made.value == pytest.approx(rows["made"].mean())
    assert outcome.conceded.value == pytest.approx(rows["conceded"].mean())
    assert "\nconceded " in outcome.text()
    if dd == "gifts":
        assert outcome.double_dummy is not None
        assert outcome.double_dummy.value == pytest.approx(played["dd_points"].mean())
        assert set(rows.filter("conceded")["dd_points"]) == {0}


# -- really played -------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["mil", "russian"])
def test_reports_of_matches_that_were_played(tmp_path: Path, rules: str) -> None:
    run = milsim.play_matches(300, rules=rules, policy="greedy,greedy,random", out=tmp_path / "run")
    deals = run.deals().collect().to_dicts()
    matches = run.matches().collect().to_dicts()
    rows = by_match(deals)
    for match in matches[:50]:
        taken_by_rules(run, sorted(rows[match["match"]], key=lambda row: row["number"]))
    recount_hands(
        deals,
        {table: reports.auction(run, table) for table in ("seat", "marriages", "passing")},  # type: ignore[arg-type]
    )
    frame = reports.match(run, "players")
    assert frame["won"].sum() == sum(m["winner"] > 0 for m in matches)
    assert isinstance(milsim.open_matches(tmp_path / "run"), MatchRun)
    assert not isinstance(run, Run)
