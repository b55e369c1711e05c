"""Charts: same bytes each time, nothing global changed, words that do not overlap."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from milsim import reports
from milsim.errors import RunError, UsageError
from milsim.reports.charts.style import chart_style, picture, spread_out
from milsim.rules import load
from milsim.rules.model import MarriageValues
from milsim.store.run import Run
from tests.made_up_runs import made_up_run

Runs = Callable[..., Run]


@pytest.fixture(autouse=True)
def _no_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up points cannot be played again."""

    def replayed(plan: object, *, index: NDArray[np.uint64], **_: object) -> NDArray[np.int16]:
        return (70 + index % 7).astype(np.int16)

    monkeypatch.setattr("milsim.simulation.replay.replay_declarer_points", replayed)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs by what they are made of, each made once."""
    return cache(lambda deals, **how: made_up_run(tmp_path_factory.mktemp("run"), deals, **how)[0])


@pytest.fixture(scope="module")
def run(runs: Runs) -> Run:
    return runs(3000)


OF_A_RUN = sorted(name for name, entry in reports.CHARTS.items() if "deals" in entry.of)


@pytest.fixture(params=OF_A_RUN)
def chart(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def draw(chart: str, run: Run) -> Figure:
    return reports.CHARTS[chart].build(run)


DRAWN: dict[tuple[str, Path], Figure] = {}


def drawn_once(chart: str, run: Run) -> Figure:
    """A chart that a test may have drawn before; nobody changes it."""
    key = chart, run.folder
    if key not in DRAWN:
        DRAWN[key] = draw(chart, run)
    return DRAWN[key]


def test_the_same_run_gives_the_same_bytes(chart: str, run: Run, tmp_path: Path) -> None:
    """Drawn anew under other settings, which stay as they are; well formed, without a date."""
    figure = drawn_once(chart, run)
    png = reports.save(figure, tmp_path / "a.PNG").read_bytes()
    svg = reports.save(figure, str(tmp_path / "a.svg")).read_bytes()
    assert picture(figure) == png
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "svg.hashsalt": "other"}):
        before = dict(matplotlib.rcParams)
        again = draw(chart, run)
        assert picture(again, ".png") == png
        assert picture(again, ".svg") == svg
        assert dict(matplotlib.rcParams) == before
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert b"<dc:date>" not in svg
    assert b"matplotlib.org" not in png


def words(figure: Figure) -> list[Text]:
    """All texts that would be drawn: not the labels of ticks beyond the end of an axis."""
    drawn: list[Text] = []

    def recorded(text: Text, renderer: RendererBase) -> None:
        if text.get_text() and text.get_visible():
            drawn.append(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", recorded)
        FigureCanvasAgg(figure).draw()
    return drawn


@pytest.mark.parametrize("deals", [1, 20, 150, 3000])
def test_words_do_not_overlap_and_stay_on_the_page(chart: str, runs: Runs, deals: int) -> None:
    figure = drawn_once(chart, runs(deals))
    with chart_style():
        boxes = {text: text.get_window_extent() for text in words(figure)}
    assert len(boxes) > 3
    for one, other in combinations(boxes, 2):
        a, b = boxes[one], boxes[other]
        overlap = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(overlap) <= 1, (one.get_text(), other.get_text())
    page = figure.bbox
    for text, box in boxes.items():
        inside = box.x0 >= 0 and box.x1 <= page.x1 and box.y0 >= 0 and box.y1 <= page.y1
        assert inside, text.get_text()


def test_charts_say_what_they_are(chart: str, run: Run, runs: Runs) -> None:
    text = said(drawn_once(chart, run))
    for part in ("How to read it", "95 %", "3,000 deals, sampled", "rules mil", "policy greedy",
                 "declarer mode", "seed 1", "forehand"):  # fmt: skip
        assert part in text
    text = said(draw(chart, runs(300, mode="auction", where="aces>=1")))
    assert "the winner of the auction" in text
    assert "at least 1 ace" in text


def test_few_deals_and_other_rules_are_drawn_too(chart: str, runs: Runs) -> None:
    assert picture(drawn_once(chart, runs(1)))
    assert picture(draw(chart, runs(500, rules="gamerules")))


def said(figure: Figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in words(figure))


def test_few_deals_are_said_not_drawn(chart: str, runs: Runs) -> None:
    figure = drawn_once(chart, runs(1))
    text = said(figure)
    assert "too few deals" in text.lower()
    assert "1 deal, sampled" in text
    assert "1 deals" not in text
    assert "80 of 80" not in text
    assert not any(axes.patches for axes in figure.axes)


def test_words_stay_in_their_panels(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of small bars beside the mark of what a marriage pays, the widest there are."""

    def little(plan: object, *, index: NDArray[np.uint64], **_: object) -> NDArray[np.int16]:
        return rows["declarer_points"].to_numpy()[index.astype(np.int64)] - 17

    rows = run.frame().sort("index").collect()
    monkeypatch.setattr("milsim.simulation.replay.replay_declarer_points", little)
    figure = draw("marriages", run)
    with chart_style():
        drawn = [text for text in words(figure) if text.axes is not None]
        assert "17 of 100" in [text.get_text() for text in drawn]
        for axes in figure.axes:
            labels = [text for text in drawn if text in axes.texts]
            for label in labels:
                box = label.get_window_extent()
                assert axes.bbox.x0 - 1 <= box.x0, label.get_text()
                assert box.x1 <= axes.bbox.x1 + 1, label.get_text()


def test_rules_that_pay_nothing_for_a_marriage(tmp_path: Path) -> None:
    mil = load("mil")
    nothing = MarriageValues(spades=0, clubs=0, diamonds=0, hearts=0)
    rules = replace(mil, deal=replace(mil.deal, marriage_values=nothing))
    text = said(draw("marriages", made_up_run(tmp_path, 300, rules=rules)[0]))
    assert "these rules pay nothing for a marriage" in text
    assert "0 of 0" not in text


def test_constraints_are_said_in_words(chart: str, runs: Runs) -> None:
    run = runs(300, where="four_nines, aces>=2")
    assert "(forehand's hands: at least 2 aces, all four nines)" in said(draw(chart, run))


def test_curves_fade_where_bidding_ends(run: Run) -> None:
    figure = drawn_once("bid-strength", run)
    assert "no bids above 120" in said(figure)
    solid = [line for line in figure.axes[0].lines if line.get_marker() in list("os^D")]
    assert solid
    for line in solid:
        assert max(line.get_xdata()) == 120  # type: ignore[arg-type]
    faint = [line for line in figure.axes[0].lines if line.get_alpha() not in (None, 1.0)]
    assert len(faint) == len(solid)


def test_wrong_names_and_paths_fail_before_matplotlib_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys, milsim.reports as r\n"
        "for wrong in (lambda: r.chart_named('x'), lambda: r.check_picture_path('x')):\n"
        "    try: wrong()\n"
        "    except ValueError: pass\n"
        "    else: raise SystemExit(1)\n"
        "sys.exit(bool({'matplotlib', 'polars', 'numba'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_without_deals_has_no_chart(chart: str, runs: Runs) -> None:
    with pytest.raises(RunError, match="no deals in it"):
        draw(chart, runs(0))


def test_what_cannot_be_saved_is_refused_in_one_line(tmp_path: Path) -> None:
    figure = Figure()
    for name in ("a.pdf", "a", "a.png.txt"):
        with pytest.raises(UsageError, match=r"out .*: a name ending in \.png or \.svg is needed"):
            reports.save(figure, tmp_path / name)
    with pytest.raises(UsageError, match=r"use \.png or \.svg"):
        picture(figure, ".jpg")
    with pytest.raises(RunError, match="cannot write, no such file or directory"):
        reports.save(figure, tmp_path / "none" / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_labels_are_spread_out_within_bounds() -> None:
    places = [0.5, 0.51, 0.52, 0.99, 0.0]
    found = spread_out(places, 0.1, 0.0, 1.0)
    assert found == pytest.approx([0.41, 0.51, 0.61, 0.99, 0.0])
    crowded = sorted(spread_out([0.97, 0.98, 0.99], 0.1, 0.0, 1.0))
    assert crowded == pytest.approx([0.8, 0.9, 1.0])
    assert spread_out([], 0.1, 0.0, 1.0) == []
