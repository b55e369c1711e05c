"""How all charts look, and how they are saved: no global state, the same bytes each time."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from milsim.errors import UsageError
from milsim.reports.files import SUFFIXES, check_picture_path, write
from milsim.reports.provenance import in_words
from milsim.store.run import Run

DPI = 150

INK = "#1a1a1a"
FAINT = "#6b6b6b"
GRID = "#dddddd"
# Okabe and Ito: told apart with any colour vision; the styles do so in black and white too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7")
DASHES: tuple[tuple[int, tuple[float, ...]], ...] = (
    (0, ()),
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 3)),
)
MARKERS = ("o", "s", "^", "D", "v")

_STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.0,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Letters as outlines: an SVG prints the same without our font.
    "svg.fonttype": "path",
    "svg.hashsalt": "milsim",
    "path.simplify": False,
}
# What a user's own matplotlibrc sets must not change the picture; the backend is not used.
_DEFAULTS = {
    key: value
    for key, value in matplotlib.rcParamsDefault.items()
    if not key.startswith(("backend", "interactive", "toolbar", "webagg", "tk.", "docstring"))
}


@contextmanager
def chart_style() -> Iterator[None]:
    """Matplotlib's settings for our charts, while this lasts."""
    with matplotlib.rc_context():
        settings: Any = matplotlib.rcParams
        settings.update(_DEFAULTS)
        settings.update(_STYLE)
        yield


def titled_figure(
    title: str, subtitle: str, footer: Sequence[str], *, size: tuple[float, float]
) -> Figure:
    """A figure with its words around an empty middle; ``size`` in inches.

    The middle is for a layout that keeps inside ``figure.subplotpars``.
    """
    figure = Figure(figsize=size, dpi=DPI)
    width, height = size
    characters = int(width * 17)
    lines = [line for text in footer for line in textwrap.wrap(text, characters)]
    margin = 0.3 / width
    figure.text(margin, 1 - 0.3 / height, title, fontsize=14, fontweight="bold", va="top")
    above = textwrap.wrap(subtitle, int(width * 12.5))
    figure.text(
        margin, 1 - 0.6 / height, "\n".join(above), fontsize=10, va="top", color=INK,
        linespacing=1.3,
    )  # fmt: skip
    figure.text(
        margin, 0.15 / height, "\n".join(lines), fontsize=7.5, va="bottom", color=FAINT,
        linespacing=1.4,
    )  # fmt: skip
    figure.subplots_adjust(
        left=0.75 / width,
        right=1 - 0.3 / width,
        top=1 - (1.2 + 0.18 * (len(above) - 1)) / height,
        bottom=(0.75 + 0.155 * len(lines)) / height,
    )
    return figure


def spread_out(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places for labels as near as possible to those wanted, at least a gap apart, within bounds.

    >>> spread_out([0.5, 0.52, 0.9], 0.1, 0.0, 1.0)
    [0.46, 0.56, 0.9]
    """
    order = sorted(range(len(places)), key=lambda i: (places[i], i))
    # Groups of labels that touch: [members, centre]; neighbours merge until none overlap.
    groups: list[tuple[list[int], float]] = []
    for index in order:
        groups.append(([index], places[index]))
        while True:
            members, centre = groups[-1]
            half = gap * (len(members) - 1) / 2
            centre = min(max(centre, low + half), high - half)
            groups[-1] = (members, centre)
            if len(groups) == 1:
                break
            before, their = groups[-2]
            if centre - half >= their + gap * (len(before) - 1) / 2 + gap - 1e-12:
                break
            joined = before + members
            middle = (their * len(before) + centre * len(members)) / len(joined)
            groups[-2:] = [(joined, middle)]
    found = [0.0] * len(places)
    for members, centre in groups:
        for place, index in enumerate(members):
            found[index] = round(centre + gap * (place - (len(members) - 1) / 2), 9)
    return found


def quiet_axis(axes: Axes, *, grid: str) -> None:
    """A grid in one direction, and no tick marks across it."""
    axes.grid(True, axis=grid)  # type: ignore[arg-type]
    axes.tick_params(length=0, pad=4)


def who(run: Run) -> str:
    """Who declares in the deals of a run, in words."""
    return "forehand" if run.plan.mode == "declarer" else "the winner of the auction"


def among(run: Run) -> str:
    """The constraint on the hands of a run, in words to go at the end of a sentence."""
    return f" (forehand's hands: {in_words(run.plan.where)})" if run.plan.where else ""


def of_table(provenance: str) -> str:
    """The last line under a chart of the table of all hands.

    >>> of_table("rules mil")
    'Numbers of hands are exact, the rest is sampled · rules mil'
    """
    return f"Numbers of hands are exact, the rest is sampled · {provenance}"


def compact(n: int) -> str:
    """A number of deals in few characters.

    >>> [compact(n) for n in (950, 1_426, 14_600, 265_000, 2_660_000)]
    ['950', '1.4k', '15k', '265k', '2.7M']
    """
    if n < 1000:
        return str(n)
    scaled, unit = (n / 1e3, "k") if n < 999_500 else (n / 1e6, "M")
    return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:,.0f}{unit}"


def picture(figure: Figure, suffix: str = ".png") -> bytes:
    """The bytes of a figure as a PNG or SVG file; the same figure gives the same bytes.

    Raises :class:`~milsim.errors.UsageError` for another suffix.
    """
    if suffix not in SUFFIXES:
        raise UsageError(f"chart {suffix!r:.40}: cannot write such a file; use .png or .svg")
    buffer = io.BytesIO()
    with chart_style():
        # No date and no version: they would change the bytes.
        if suffix == ".png":
            figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": "milsim"})
        else:
            metadata = {"Date": None, "Creator": "milsim"}
            figure.savefig(buffer, format="svg", metadata=metadata)
    return buffer.getvalue()


def save(figure: Figure, path: str | Path) -> Path:
    """Save a chart as PNG or SVG, by the suffix of the path.

    Raises :class:`~milsim.errors.UsageError` for another suffix and
    :class:`~milsim.errors.RunError` for a path that cannot be written; nothing is left behind.
    """
    target = check_picture_path(path)
    return write(picture(figure, target.suffix.lower()), target)
