"""Samples of models and what they correct: deals, bytes, resuming, fits, coverage, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import hypot, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from milsim.answers.hand import hand
from milsim.cards import CardSet, cards_of
from milsim.dealing import deals_of_masks, hand_masks_table
from milsim.dealing.tables import N_HANDS
from milsim.errors import MilsimError, PolicyError, RunError, UsageError
from milsim.rules import digest, load
from milsim.solver import best_exchange_batch
from milsim.tables.compact import CompactTable, shipped_headers, shipped_table
from milsim.tables.correcting import FEWEST_HANDS, corrections_of
from milsim.tables.corrections import (
    FEATURES,
    Corrections,
    Curves,
    ModelCorrection,
    read_corrections,
    shipped_corrections,
)
from milsim.tables.folder import Table
from milsim.tables.models import driven_points, ordered_deals, points_of_model
from milsim.tables.playing import HandPlayer, deals_of_hand, needs_of
from milsim.tables.sample_plan import SamplePlan, models_of
from milsim.tables.sampling import ModelSample, hands_to_play, sample_models
from milsim.tables.strata import sampled_hands, shares, strata, stratum_of_hands
from tests.chi_square import chi_square_limit
from tests.command_line import Shell
from tests.test_bid_table import all_bytes

Floats = NDArray[np.float64]
MIL = load("mil")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def plan_of(hands: int = 70, **models: int) -> SamplePlan:
    return SamplePlan.make(hands=hands, models=models or {"greedy": 3})


# -- which hands ---------------------------------------------------------------------------------


def test_every_hand_is_in_one_class_and_rare_ones_are_pooled_with_their_marriages() -> None:
    place = stratum_of_hands()
    assert np.bincount(place).tolist() == [each.hands for each in strata()]
    assert all(each.hands >= 300 for each in strata())
    for each in strata():
        for member in each.members:
            # A marriage is worth more than an ace or a ten: only three of them go with two.
            assert min(member[0], 2) == each.key[0]


def test_a_sample_has_all_classes_and_a_larger_one_holds_a_smaller() -> None:
    small, large = sampled_hands(600, 9), sampled_hands(900, 9)
    assert len(set(large.tolist())) == 900
    assert set(small.tolist()) < set(large.tolist())
    assert np.bincount(stratum_of_hands()[large]).tolist() == shares(900)
    assert set(small.tolist()) != set(sampled_hands(600, 10).tolist())
    # The beginning of a sample has the classes mixed, too.
    beginning = np.bincount(stratum_of_hands()[large[:300]], minlength=len(strata()))
    expected = np.array(shares(900)) / 3
    assert float(((beginning - expected) ** 2 / expected).sum()) < chi_square_limit(len(strata()))


# -- the folder ----------------------------------------------------------------------------------


def test_a_sample_is_what_each_model_makes_of_the_deals_of_the_table(tmp_path: Path) -> None:
    plan = SamplePlan.make(hands=3, models={"double-dummy": 4, "pimc:playouts=8": 2})
    rows = sample_models(plan, tmp_path / "s", threads=1).frame()
    assert rows["hand"].to_numpy()[::4].tolist() == sampled_hands(3, 1).tolist()
    for rank in rows["hand"].unique().to_list():
        mine = rows.filter(rows["hand"] == rank)
        masks, keys = ordered_deals(rank, 1, 0, 4)
        again, _ = deals_of_hand(rank, np.arange(680), np.zeros(680, np.int64), 1)
        assert {tuple(each) for each in masks.T.tolist()} <= {tuple(e) for e in again.T.tolist()}
        assert mine["points_0"].to_list() == driven_points("expert", MIL)(masks, keys).tolist()
        solved = best_exchange_batch(deals_of_masks(*masks[:3])).points
        assert mine["points_1"].to_list() == solved.tolist()
        pimc = driven_points("pimc:playouts=8", MIL)(masks[:, :2], keys[:2])
        assert mine["points_2"].to_list() == [*pimc.tolist(), None, None]


def test_threads_a_kill_and_a_second_run_give_the_same_bytes(tmp_path: Path) -> None:
    def kill(progress: object) -> None:
        if progress.done > 66:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    plan = plan_of(greedy=3, random=2)
    whole = sample_models(plan, tmp_path / "whole", threads=1)
    assert (whole.complete, whole.hands, len(whole.parts)) == (True, 70, 2)
    with pytest.raises(KeyboardInterrupt):
        sample_models(plan, tmp_path / "killed", threads=1, progress=kill)
    begun = ModelSample.open(tmp_path / "killed")
    assert (begun.hands, begun.complete, hands_to_play(plan, begun.folder)) == (64, False, 6)
    sample_models(plan, tmp_path / "killed", threads=2)
    expected = all_bytes(tmp_path / "whole")
    assert all_bytes(tmp_path / "killed") == expected
    sample_models(plan, tmp_path / "whole", threads=1)
    assert all_bytes(tmp_path / "whole") == expected


def test_folders_that_do_not_fit_are_refused(tmp_path: Path, shell: Shell) -> None:
    sample_models(plan_of(2), tmp_path / "a", threads=1)
    with pytest.raises(RunError, match="another plan"):
        sample_models(plan_of(3), tmp_path / "a", threads=1)
    with pytest.raises(RunError, match="not that of a table"):
        Table.open(tmp_path / "a")
    shown = shell("table", "show", tmp_path / "a")
    assert shown.out.startswith("hands     2, a sample by class; all played\ndeals     greedy 3")
    assert json.loads(shell("table", "show", tmp_path / "a", "--json").out)["played"] == 2
    few = shell("table", "pack", tmp_path / "a", "--out", tmp_path / "x.json")
    assert (few.code, few.err.count("\n")) == (3, 1)
    assert f"play at least {FEWEST_HANDS}" in few.err
    part = next((tmp_path / "a" / "parts").glob("*.parquet"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    assert shell("table", "verify", tmp_path / "a").code == 5
    part.write_bytes(content[:-1])
    assert shell("table", "verify", tmp_path / "a").code == 3


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: SamplePlan.make(policy="pimc"), PolicyError, "not all kernels"),
        (lambda: SamplePlan.make(models={"expert": 2}), UsageError, "twice"),
        (lambda: SamplePlan.make(models={}), UsageError, "none is named"),
        (lambda: SamplePlan.make(models={"greedy": 1}), UsageError, "out of range"),
        (lambda: SamplePlan.make(models={"gredy": 4}), PolicyError, "greedy"),
        (lambda: SamplePlan.make(hands=0), UsageError, "out of range"),
        (lambda: models_of("pimc"), UsageError, "write double-dummy=32"),
        (lambda: models_of("pimc=x"), UsageError, "write double-dummy=32"),
        (lambda: models_of("pimc=2,pimc=3"), UsageError, "twice"),
    ],
    ids=map(str, range(9)),
)
def test_plans_that_are_none(
    make: Callable[[], object], kind: type[MilsimError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        make()


# -- the method, on a model that can be played out ------------------------------------------------


@pytest.fixture(scope="module")
def table() -> CompactTable:
    found = shipped_table(MIL)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, table: CompactTable) -> Corrections:
    """The table of expert corrected to greedy, by 20 deals of 800 hands."""
    folder = tmp_path_factory.mktemp("sample") / "s"
    plan = SamplePlan.make(hands=800, models={"greedy": 20})
    return corrections_of(sample_models(plan, folder, threads=1), table)


def judged(
    correction: ModelCorrection, table: CompactTable, ranks: NDArray[np.int64], points: Floats
) -> tuple[Floats, Floats, Floats]:
    """What deals of hands, (hands, deals), say of the corrected table.

    Standard scores of the means, and of chances between 2 and 98 % by hand; and the errors of the
    means without the correction, and with it.
    """
    deals = points.shape[1]
    means, chances, errors = [], [], []
    needs = needs_of(table.contracts, MIL)
    for rank, own in zip(ranks.tolist(), points, strict=True):
        known = correction.known(Curves.of_table(np.array([rank]), table), MIL)
        mean = own.mean()
        errors.append([mean - table.means[rank], mean - known.mean])
        means.append(errors[-1][1] / hypot(known.error, own.std(ddof=1) / sqrt(deals)))
        for contract, need in zip(table.contracts, needs.tolist(), strict=True):
            p = known.chances[contract]
            if 0.02 < p < 0.98:
                noise = sqrt(p * (1 - p) * (1 / known.weights[contract] + 1 / deals))
                chances.append(((own >= need).mean() - p) / noise)
    return np.array(means), np.array(chances), np.array(errors)


def played(policy: str, ranks: NDArray[np.int64], deals: int) -> Floats:
    """Declarer points of deals that neither table nor sample has, (hands, deals)."""
    points = points_of_model(policy, MIL)
    return np.array([points(*ordered_deals(rank, 77, 0, deals)) for rank in ranks.tolist()], float)


def test_hands_that_were_not_sampled_are_within_their_intervals(
    fitted: Corrections, table: CompactTable
) -> None:
    ranks = np.random.default_rng(3).choice(N_HANDS, 120, replace=False)
    ranks = np.setdiff1d(ranks, sampled_hands(800, 1))
    means, chances, errors = judged(fitted.of("greedy"), table, ranks, played("greedy", ranks, 680))
    before, after = np.sqrt((errors**2).mean(axis=0))
    # Of single hands: 95 % asked for. Cells of a hand go together, so only roughly counted.
    assert before > 6
    assert after < 3.5
    assert np.mean(np.abs(means) < 1.96) > 0.9
    assert 0.9 < np.mean(np.abs(chances) < 1.96) < 0.99
    measured = fitted.header["measured"]["greedy"]["points"]
    assert measured["uncorrected"] > 2 * measured["corrected"]


def test_the_mean_over_all_hands_is_that_of_the_model(
    fitted: Corrections, table: CompactTable
) -> None:
    """Over hands from all ranks, with the error that all share."""
    ranks = np.arange(0, N_HANDS, 173)
    known = fitted.of("greedy").known(Curves.of_table(ranks, table), MIL)
    found = HandPlayer(MIL, "greedy", 5)(ranks, 0, 1)
    truth = found.moments()[0].sum() / found.deals.sum()
    assert abs(known.mean - truth) < 3 * known.error
    assert known.error < 2
    made = found.at_least(needs_of(table.contracts, MIL)).sum(axis=0) / found.deals.sum()
    for contract, share in zip(table.contracts[:8], made.tolist(), strict=False):
        p = known.chances[contract]
        error = sqrt(p * (1 - p) / known.weights[contract])
        assert abs(p - share) < 3 * error
        assert error < 0.025


def test_a_file_is_read_as_it_was_written(fitted: Corrections, tmp_path: Path) -> None:
    content = fitted.to_bytes()
    (tmp_path / "x.json").write_bytes(content)
    again = read_corrections(tmp_path / "x.json")
    assert again.to_bytes() == content
    assert again.header["classes"] == fitted.header["classes"]
    torn = {
        "half": content[: len(content) // 2],
        "empty": b"",
        "other": b'{"format": "x"}',
        "list": b"[1]",
        "features": content.replace(b'"kings"', b'"queens"'),
        "short": content.replace(b'"coefficients":[', b'"coefficients":[1,'),
    }
    for name, bad in torn.items():
        (tmp_path / name).write_bytes(bad)
        with pytest.raises(RunError, match="is torn, or no file of corrections"):
            read_corrections(tmp_path / name)
    (tmp_path / "new").write_bytes(content.replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(RunError, match="format 2"):
        read_corrections(tmp_path / "new")
    with pytest.raises(RunError, match="cannot read"):
        read_corrections(tmp_path / "none")
    with pytest.raises(UsageError, match="not sampled"):
        fitted.of("pimc")


def test_the_classes_say_what_the_sample_has(fitted: Corrections) -> None:
    rows = fitted.header["classes"]
    assert sum(row["hands"] for row in rows) == 800
    assert sum(row["of"] for row in rows) == N_HANDS
    for row in rows:
        policy, model, difference, error = row["models"]["greedy"]["points"]
        assert row["models"]["greedy"]["deals"] == 20 * row["hands"]
        assert model - policy == pytest.approx(difference, abs=0.002)
        assert 0 < error < 25


# -- what comes with milsim ----------------------------------------------------------------------

SHIPPED = [name for name in ("mil", "gamerules") if shipped_corrections(load(name)) is not None]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_corrections_fit_their_table_and_are_small(name: str) -> None:
    found = shipped_corrections(load(name))
    assert found is not None
    header = found.header
    assert header["rules"] == digest(load(name))
    assert header["table_plan"] in {each["plan_digest"] for each in shipped_headers().values()}
    assert set(found.models) == {"double-dummy", "pimc"}
    assert header["features"] == list(FEATURES)
    assert len(found.to_bytes()) < 100_000
    for measured in header["measured"].values():
        for kind in ("points", "chances"):
            assert measured[kind]["corrected"] < measured[kind]["uncorrected"]
            assert 0.9 < measured[kind]["covered"] <= 1


@pytest.mark.parametrize(("model", "hands", "deals"), [("double-dummy", 24, 32), ("pimc", 24, 8)])
def test_hands_solved_anew_are_within_the_intervals_of_the_shipped_table(
    model: str, hands: int, deals: int, table: CompactTable
) -> None:
    """Other hands and other deals than the sample's; the chi-square of hands, one in a million."""
    found = shipped_corrections(MIL)
    assert found is not None
    ranks = np.setdiff1d(np.random.default_rng(8).choice(N_HANDS, hands), sampled_hands(2400, 1))
    means, chances, _ = judged(found.of(model), table, ranks, played(model, ranks, deals))
    assert float((means**2).sum()) < chi_square_limit(len(means))
    assert np.mean(np.abs(chances) < 1.96) > 0.85


# -- answers -------------------------------------------------------------------------------------

CARDS = "AT..KQ9.A9"
ALL = ["expert", "double-dummy", "pimc"]


def test_a_hand_is_answered_for_all_models_from_the_table_alone(table: CompactTable) -> None:
    answer = hand(CARDS, models=ALL, seconds=0)
    expert, solved, pimc = answer.estimates
    assert [each.model for each in answer.estimates] == ALL
    assert [each.source for each in answer.estimates] == ["table"] + 2 * ["table, corrected"]
    assert solved.correction is not None
    assert pimc.correction == (solved.correction[0], 10)
    assert solved.correction[1] == 32
    assert solved.points.half_width > expert.points.half_width  # type: ignore[operator]
    found = shipped_corrections(MIL)
    assert found is not None
    rank = np.flatnonzero(hand_masks_table() == int(CardSet.parse(CARDS)))
    known = found.of("pimc").known(Curves.of_table(rank, table), MIL)
    assert pimc.points.value == known.mean
    for contract in table.contracts:
        assert pimc.makes[contract].value == pytest.approx(known.chances[contract])
        made = pimc.makes[contract].value
        assert pimc.scores[contract].value == pytest.approx(contract * (2 * made - 1))  # type: ignore[operator]
    text = str(answer)
    assert "pimc the table corrected by a sample" in " ".join(text.split())


def test_live_deals_refine_the_corrected_table_and_counted_ones_stand_alone() -> None:
    still = hand(CARDS, models=ALL, seconds=0).estimates[1]
    live = hand(CARDS, models=["expert", "double-dummy"], seconds=0, per_talon=1).estimates[1]
    alone = hand(CARDS, models=["expert", "double-dummy"], per_talon=1, deals=32).estimates[1]
    assert (live.source, live.deals, alone.source) == ("table, corrected, and live", 32, "live")
    for contract in (140, 150, 160):
        assert live.makes[contract].half_width < still.makes[contract].half_width  # type: ignore[operator]
        assert live.makes[contract].half_width < alone.makes[contract].half_width  # type: ignore[operator]
    assert live.points.half_width < still.points.half_width  # type: ignore[operator]


def test_fewer_cards_are_averaged_for_all_models() -> None:
    answer = hand("AT..KQ9.A", models=ALL, seconds=0)
    assert [each.model for each in answer.estimates] == ALL
    whole = [
        hand(answer.cards | CardSet(1 << card), models=ALL, seconds=0)
        for card in cards_of(~int(answer.cards) & (1 << 24) - 1)
    ]
    assert answer.hands == len(whole) == 18
    for place in range(3):
        mean = float(np.mean([each.estimates[place].points.value for each in whole]))
        assert answer.estimates[place].points.value == pytest.approx(mean)
        chances = [each.estimates[place].makes[120].value for each in whole]
        assert answer.estimates[place].makes[120].value == pytest.approx(np.mean(chances))  # type: ignore[arg-type]


def test_corrections_of_other_rules_are_refused(fitted: Corrections, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(fitted.to_bytes().replace(digest(MIL).encode(), b"0" * 64))
    with pytest.raises(RunError, match="are of rules 000000000000, but the table is of"):
        hand(CARDS, seconds=0, corrections=path)
    with pytest.raises(UsageError, match="there is none of these rules"):
        hand(CARDS, rules="russian", seconds=0, corrections=path)
    path.write_bytes(fitted.to_bytes())


def test_the_command_line_corrects_with_a_file_of_its_own(
    fitted: Corrections, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "x.json").write_bytes(fitted.to_bytes())
    call = ("hand", CARDS, "--seconds", 0, "--corrections", tmp_path / "x.json", "--json")
    told = json.loads(shell(*call, "--model", "expert,double-dummy").out)
    # The file knows greedy only, so double dummy is not answered from it.
    assert [each["model"] for each in told["models"]] == ["expert"]
    told = json.loads(shell("hand", CARDS, "--seconds", 0, "--model", "pimc", "--json").out)
    assert [each["source"] for each in told["models"]] == ["table, corrected", "table"]
    assert told["models"][0]["correction"][1] == 10
    (tmp_path / "bad").write_text("{}")
    bad = shell("hand", CARDS, "--corrections", tmp_path / "bad")
    assert (bad.code, bad.err.count("\n")) == (3, 1)
