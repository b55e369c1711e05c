"""Charts of the table of all hands, and of bias: what is drawn is what the frames say."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import milsim
from milsim import reports
from milsim.cards import parse_hand
from milsim.deals import combination_rank
from milsim.errors import MilsimError, RunError, UsageError
from milsim.reports.bias_frames import MIN_DEALS, bias
from milsim.reports.charts.percentile_chart import bid_cuts, even_cut
from milsim.reports.charts.score_chart import class_scores
from milsim.reports.charts.style import chart_style, picture
from milsim.reports.hand_strength import Strength, class_frame
from milsim.reports.hands_known import PASS, caps_of, right_bids, scores_of, table_of
from milsim.reports.hands_scores import scores_of_hands
from milsim.rules import load
from milsim.store.run import Run
from tests.command_line import Shell
from tests.made_up_runs import with_scoring
from tests.made_up_tables import made_up_table
from tests.test_charts import said, words

MIL = load("mil")
HAND = "AT..KQ9.A9"
NEVER_PASSES = "ATKQJ9...9"
"""In the made-up table."""
OF_TABLE = sorted(name for name, entry in reports.CHARTS.items() if entry.of_table)
DRAWN = [(name, None) for name in OF_TABLE] + [("score", HAND), ("score", NEVER_PASSES)]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "made_up.hands"
    path.write_bytes(made_up_table().to_bytes(effort=1))
    return path


@pytest.fixture(scope="module")
def strength(file: Path) -> Strength:
    return Strength(table_of(MIL, file), MIL)


@pytest.fixture(params=DRAWN, ids=lambda drawn: "-".join(filter(None, drawn)))
def drawn(request: pytest.FixtureRequest, file: Path) -> Figure:
    return drawn_once(*request.param, file)


@cache
def drawn_once(name: str, hand: str | None, file: Path) -> Figure:
    return draw(name, hand, file)


def draw(name: str, hand: str | None, file: Path, rules: str = "mil") -> Figure:
    options = {} if hand is None else {"hand": hand}
    return reports.chart(name, rules=rules, table=file, **options)


def test_these_are_the_charts_of_the_table() -> None:
    assert OF_TABLE == ["percentile", "score", "strength-map"]


@pytest.mark.parametrize("chart", DRAWN[:4], ids=str)
def test_the_same_table_gives_the_same_bytes(chart: tuple[str, str | None], file: Path) -> None:
    before = dict(matplotlib.rcParams)
    figure = drawn_once(*chart, file)
    png, svg = picture(figure, ".png"), picture(figure, ".svg")
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "svg.hashsalt": "other"}):
        again = draw(*chart, file)
        assert picture(again, ".png") == png
        assert picture(again, ".svg") == svg
    assert b"How to read it" in svg  # outlines have their text beside them
    assert b"<image" not in svg
    assert b"<dc:date>" not in svg


def test_words_do_not_overlap_and_stay_on_the_page(drawn: Figure) -> None:
    with chart_style():
        boxes = {text: text.get_window_extent() for text in words(drawn)}
    assert len(boxes) > 10
    for one, other in combinations(boxes, 2):
        a, b = boxes[one], boxes[other]
        overlap = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(overlap) <= 1, (one.get_text(), other.get_text())
    for text, box in boxes.items():
        inside = box.x0 >= 0 and box.x1 <= drawn.bbox.x1 and box.y0 >= 0
        assert inside, text.get_text()
        assert box.y1 <= drawn.bbox.y1, text.get_text()


def test_charts_say_what_they_are(drawn: Figure) -> None:
    text = said(drawn)
    for part in ("How to read it", "95 %", "sampled", "under mil", "policy expert", "seed 1",
                 "680 deals each"):  # fmt: skip
        assert part in text


# -- strength-map --------------------------------------------------------------------------------


def fields(axes: Axes) -> dict[tuple[int, int], tuple[str, float]]:
    """By marriages and aces: the number in the field, and how dark it is."""
    found = {}
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        x, y = round(patch.get_x() + 0.5), round(patch.get_y() + 0.5)
        inside = [
            text.get_text()
            for text in axes.texts
            if abs(text.get_position()[0] - x) < 0.5 and -0.2 < text.get_position()[1] - y < 0.5
        ]
        (number,) = inside
        red, green, blue = to_rgb(patch.get_facecolor())
        found[x, y] = number, 1 - (0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return found


def test_the_map_has_the_numbers_of_the_frame(file: Path, strength: Strength) -> None:
    figure = drawn_once("strength-map", None, file)
    rows = {(row["marriages"], row["aces"]): row for row in class_frame(strength).to_dicts()[:-1]}
    assert len(rows) == 16
    for axes, name in zip(figure.axes, ("points", "makes", "bids"), strict=True):
        shown = fields(axes)
        assert set(shown) == set(rows)
        for key, (number, _) in shown.items():
            value = rows[key][name]
            if number == "none":
                assert value is None
            elif number[0] in "<>":
                assert 0 < value < 0.001 or 0.9995 < value < 1
            else:
                scale = 1 if name == "points" else 100
                half = 0.05 if "." in number else 0.5
                assert abs(float(number) - scale * value) <= half + 1e-9
        # A darker field is a higher number, in black and white too.
        known = sorted((rows[key][name] or 0.0, dark) for key, (_, dark) in shown.items())
        assert all(b[1] >= a[1] - 1e-6 for a, b in pairwise(known))
        assert known[-1][1] - known[0][1] > 0.3
    counts = [text.get_text() for text in figure.axes[0].texts]
    for row in rows.values():
        assert f"{row['n']:,}" in counts


# -- percentile ----------------------------------------------------------------------------------


def test_the_curve_is_the_share_of_hands_below(file: Path, strength: Strength) -> None:
    figure = drawn_once("percentile", None, file)
    (curve,) = [line for line in figure.axes[0].lines if line.get_gid() == "curve"]
    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert x[0] == strength.points.min()
    assert y[0] == 0
    for place in range(0, len(x), 37):
        assert y[place] == pytest.approx(100 * (strength.points < x[place]).mean())
    median = float(np.sort(strength.points)[strength.points.size // 2 - 1])
    assert f"half take less than {median:.0f}:" in said(figure)


def test_cuts_are_where_fewest_hands_lie_on_the_wrong_side(strength: Strength) -> None:
    found = bid_cuts(strength)
    assert [each.contract for each in found] == [100, 120, 150]
    passes, right = strength.bids.passes, strength.bids.right

    def wrong(points: float, contract: int) -> float:
        return float(((strength.points >= points) != (right >= contract))[passes].mean())

    for each in found:
        assert each.wrong == wrong(each.points, each.contract)
        assert each.above == (strength.points >= each.points).mean()
        for points in np.arange(60, 260, 0.5):
            assert wrong(points, each.contract) >= each.wrong
    even = even_cut(strength)
    assert even is not None
    # The made-up chances are one half at 95 points.
    assert even.points == pytest.approx(95, abs=3)
    assert even.points < found[0].points


# -- score ---------------------------------------------------------------------------------------


def test_the_score_of_a_hand_is_that_of_the_table(file: Path, strength: Strength) -> None:
    rank = combination_rank(parse_hand(HAND))
    figure = drawn_once("score", HAND, file)
    (line,) = [line for line in figure.axes[0].lines if line.get_gid() == "scores"]
    wanted = {c: scores[rank] for c, scores in scores_of(strength.table, MIL)}
    shown = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))  # type: ignore[arg-type]
    assert len(shown) > 10
    for contract, score in shown.items():
        assert score == pytest.approx(wanted[contract])
    (passing,) = [line for line in figure.axes[0].lines if line.get_gid() == "passing"]
    assert list(passing.get_ydata()) == [30.0, 30.0]  # type: ignore[arg-type]
    text = said(figure)
    assert f"bid up to {strength.bids.right[rank]}" in text
    assert f"{strength.bids.best[rank]}: " in text
    assert "no bids above 200" in text
    assert "always a new deal" in said(drawn_once("score", NEVER_PASSES, file))


def test_it_says_what_milsim_hand_says() -> None:
    table = table_of(MIL)
    for hand in (HAND, "KQ.T9.J9.K", ".AKQ.ATKQ."):
        answer = milsim.hand(hand, seconds=0)
        mask = parse_hand(hand)
        cap = int(caps_of(np.array([mask]), MIL)[0])
        scores = scores_of_hands(table, MIL, np.array([combination_rank(mask)]), cap)
        assert scores.up_to == answer.bid_up_to
        assert scores.best == answer.model.best
        assert scores.passing == answer.passing
        for contract, interval in scores.by_contract.items():
            theirs = answer.model.scores[contract]
            assert interval.value == pytest.approx(theirs.value)
            assert interval.low == pytest.approx(theirs.low)
            assert interval.high == pytest.approx(theirs.high)


def test_classes_are_means_of_hands(strength: Strength) -> None:
    classes = class_scores(strength)
    assert sum(scores.hands for scores in classes.values()) == len(strength.hands)
    marriages, aces = milsim_features(strength)
    mine = np.flatnonzero((marriages == 1) & (aces == 2))
    for contract, scores in scores_of(strength.table, MIL):
        interval = classes[1, 2].by_contract[contract]
        assert interval.value == pytest.approx(scores[mine].mean())
        assert interval.low is not None
        assert interval.high is not None
        assert interval.high - interval.low < 1
    assert classes[0, 0].up_to is None
    assert classes[1, 2].up_to is not None
    assert classes[1, 2].score(classes[1, 2].up_to) >= 30 > classes[0, 0].score(100)


def milsim_features(strength: Strength) -> tuple[np.ndarray, np.ndarray]:
    from milsim.where import feature

    return feature("marriages", strength.hands), feature("aces", strength.hands)


def test_points_taken_count_where_the_rules_say_so(strength: Strength) -> None:
    rules = with_scoring(MIL, success="points")
    ranks = np.array([combination_rank(parse_hand(HAND))])
    found = scores_of_hands(strength.table, rules, ranks, 200)
    for contract, scores in scores_of(strength.table, rules):
        assert found.score(contract) == pytest.approx(scores[ranks[0]])
    bids = right_bids(strength.table, rules)
    assert bids.right[ranks[0]] == (found.up_to or PASS)


# -- bias ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("bias") / "solved"
    return milsim.simulate(400, mode="declarer", seed=3, dd="gifts", out=folder)


def test_bias_is_drawn_as_it_was_measured(solved: Run, tmp_path: Path) -> None:
    figure = reports.chart("bias", solved)
    frame = bias(solved)
    wanted = [
        row["difference"] for row in frame.to_dicts()
        if row["part"] == "class" and row["n"] >= MIN_DEALS
    ]  # fmt: skip
    wanted += frame.filter(part="all")["difference"].to_list()
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in marks] == [-each for each in wanted]  # type: ignore[index]
    made = frame.filter(part="made")["difference"].to_list()
    marks = [line for line in figure.axes[1].lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in marks] == [-100 * each for each in made]  # type: ignore[index]
    text = said(figure)
    assert "double dummy" in text
    assert "400 deals, sampled" in text
    assert "no marriage, 1 ace (" in text
    other = milsim.simulate(400, mode="declarer", seed=3, policy="random", out=tmp_path / "r")
    both = reports.chart("bias", solved, other)
    assert "● policy greedy, ■ policy random" in said(both)
    for each in (figure, both):
        for suffix in (".png", ".svg"):
            assert picture(each, suffix) == picture(each, suffix)
    assert picture(reports.chart("bias", solved), ".svg") == picture(figure, ".svg")


def test_bias_of_few_deals_is_said_not_drawn(tmp_path: Path) -> None:
    run = milsim.simulate(20, mode="declarer", dd="gifts", out=tmp_path / "few")
    figure = reports.chart("bias", run)
    assert "Too few deals" in said(figure)
    assert not figure.axes


# -- what is refused -----------------------------------------------------------------------------


def test_runs_and_tables_are_not_mixed_up(solved: Run, file: Path) -> None:
    for name in OF_TABLE:
        with pytest.raises(UsageError, match=f"chart {name}: is of the table of all hands"):
            reports.chart(name, solved)
    with pytest.raises(UsageError, match="chart bid-strength: needs one RUN"):
        reports.chart("bid-strength")
    with pytest.raises(UsageError, match="2 are given"):
        reports.chart("marriages", solved, solved)
    with pytest.raises(UsageError, match="chart bias: needs a RUN of milsim simulate --dd"):
        reports.chart("bias")
    with pytest.raises(UsageError, match="did you mean percentile"):
        reports.chart("percentil")
    with pytest.raises(RunError, match="is of rules mil, not of gamerules"):
        draw("percentile", None, file, rules="gamerules")
    with pytest.raises(MilsimError, match="twice"):
        draw("score", "AKQ.T9.J.AA", file)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["score", "RUN"], 2, "takes no run; one is given"),
        (["bid-strength"], 2, "needs one RUN"),
        (["bias"], 2, "or several RUNs of the same deals"),
        (["bid-strength", "RUN", "--rules", "mil"], 2, "not for bid-strength"),
        (["percentile", "--hand", HAND], 2, "--hand: is for chart score, not for percentile"),
        (["score", "--model", "double-dummy"], 2, "--model: is for charts of one run"),
        (["strenth-map"], 2, "did you mean strength-map?"),
        (["score", "--hand", "AKQ"], 3, "AKQ.T9.J.A"),
        (["score", "--rules", "polish"], 3, "no table of them comes with milsim"),
        (["score", "--out", "a.bmp"], 2, ".png or .svg"),
    ],
)
def test_wrong_commands_are_answered_in_one_line(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int,
    words: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    outcome = shell("chart", *arguments)
    assert outcome.code == code
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_draws_the_same(shell: Shell, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert shell("chart", "score", "--hand", HAND, "--table", file, "-o", path).code == 0
    assert path.read_bytes() == picture(drawn_once("score", HAND, file), ".svg")


def test_other_rules_are_drawn_too(tmp_path: Path) -> None:
    path = tmp_path / "gamerules.hands"
    path.write_bytes(made_up_table(rules="gamerules").to_bytes(effort=1))
    for name, hand in DRAWN[:4]:
        assert "under gamerules" in said(draw(name, hand, path, rules="gamerules"))
