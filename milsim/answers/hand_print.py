"""The answer about a hand as text: at most some 30 lines of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim.cards import N_RANKS, RANK_LETTERS, SUIT_SYMBOLS
from milsim.reports.cells import aligned, cell, plain
from milsim.reports.statistics import Interval
from milsim.reports.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from milsim.answers.estimates import Estimate
    from milsim.answers.hand import HandAnswer

MOST_ROWS = 10
BEST_CARDS = 4
WORST_CARDS = 2


def hand_text(answer: HandAnswer) -> str:
    """The answer for people."""
    return "\n".join(_lines(answer)).rstrip()


def _lines(answer: HandAnswer) -> Iterator[str]:
    model = answer.model
    rules = answer.rules.name
    yield f"{answer.cards.pretty()}   ({answer.cards.points} card points, rules {rules})"
    if answer.hands > 1:
        yield f"{len(answer.cards)} cards: the average of {answer.hands:,} hands that hold them"
    yield ""
    mean = _shown(model.points)
    if answer.percentile is None:
        yield f"{mean} points as declarer on average; how that compares with other"
        yield f"hands is not known: no table of rules {rules} comes with milsim"
    else:
        yield (
            f"Stronger than {_percentile(answer.percentile)} of all hands: {mean} points as "
            "declarer on average."
        )
    yield ""
    yield from _table(answer)
    yield ""
    yield from _advice(answer)
    if answer.talon is not None:
        yield ""
        yield from _talon(answer)
    yield ""
    yield from _sources(answer)


def _percentile(share: float) -> str:
    percent = 100 * share
    return f"{percent:.1f} %" if percent < 1 or percent > 99 else f"{percent:.0f} %"


def _shown(interval: Interval, style: str = "points") -> str:
    column = Column("", "value", style, "low", "high")  # type: ignore[arg-type]
    row = {"value": interval.value, "low": interval.low, "high": interval.high}
    return plain(*cell(column, row))


def _cells(style: str, intervals: list[Interval]) -> list[str]:
    column = Column("", "value", style, "low", "high")  # type: ignore[arg-type]
    rows = [{"value": each.value, "low": each.low, "high": each.high} for each in intervals]
    return aligned(column, [cell(column, row) for row in rows])


def _shown_contracts(answer: HandAnswer) -> list[int]:
    """Contracts worth a line: every ten points, up to where the leading model hardly makes any."""
    step = max(10, answer.rules.auction.step)
    model = answer.model
    lowest = next(iter(model.makes))
    wanted = {c for c in model.makes if (c - lowest) % step == 0}
    wanted = set(sorted(wanted)[:1]) | {c for c in wanted if (model.makes[c].value or 0) >= 0.02}
    rows = sorted(wanted)
    while len(rows) > MOST_ROWS:
        # Strong hands: the high contracts are the question.
        sure = [c for c in rows[:-MOST_ROWS] if (model.makes[c].value or 0) > 0.97]
        rows = rows[1:] if sure else rows[:MOST_ROWS]
    more = {answer.bid_up_to} if answer.bid_up_to is not None else set()
    return sorted({*rows, *more})


def _table(answer: HandAnswer) -> Iterator[str]:
    contracts = _shown_contracts(answer)
    columns = [_cells("percent", [each.makes[c] for c in contracts]) for each in answer.estimates]
    names = [f"{each.model} %" for each in answer.estimates]
    columns.append(_cells("points", [answer.model.scores[c] for c in contracts]))
    names.append("score")
    widths = [
        max(len(name), *(len(text) for text in column))
        for name, column in zip(names, columns, strict=True)
    ]
    marks = ["<- bid up to" if c == answer.bid_up_to else "" for c in contracts]
    head = "  ".join(name.rjust(width) for name, width in zip(names, widths, strict=True))
    yield f"contract  {head}"
    yield "-" * (10 + sum(widths) + 2 * (len(widths) - 1))
    for i, contract in enumerate(contracts):
        cells = "  ".join(
            column[i].rjust(width) for column, width in zip(columns, widths, strict=True)
        )
        yield f"{contract:>8}  {cells}  {marks[i]}".rstrip()
    names_of = " and ".join(each.model for each in answer.estimates)
    yield f"% is how often {names_of} make it; score what {answer.model.model} gets for it"


def _advice(answer: HandAnswer) -> Iterator[str]:
    model = answer.model
    passing = answer.passing
    if passing.value is None:
        yield "Who has this hand must ask for a new deal: what passing earns is not known."
        return
    earns = _shown(passing)
    who = "hands like it earn" if answer.passing_source == "class" else "it earns"
    if answer.bid_up_to is None:
        lowest = next(iter(model.scores))
        score = _shown(model.scores[lowest])
        yield f"Pass: {who} {earns} by passing, and {score} by playing {lowest}."
    else:
        bid = answer.bid_up_to
        line = f"Bid up to {bid}: that scores {_shown(model.scores[bid])}; passing, {who} {earns}."
        if bid == answer.highest_allowed:
            line += " (The rules allow no higher bid.)"
        yield line
    yield f"(Passing: at once, at middle- or rearhand; {answer.passing_model} does all the"
    yield " rest; what counts is your own score of the deal, on average.)"


def _talon(answer: HandAnswer) -> Iterator[str]:
    talon = answer.talon
    assert talon is not None
    halves = [f"{SUIT_SYMBOLS[suit]} {_percent(each)}" for suit, each in talon.halves.items()]
    pairs = [f"{SUIT_SYMBOLS[suit]} {_percent(each)}" for suit, each in talon.pairs.items()]
    if halves:
        yield f"The talon completes half marriages: {', '.join(halves)} (exact)."
    if pairs:
        yield f"It brings whole ones: {', '.join(pairs)}. Any new marriage: {_percent(talon.any)}."
    elif halves:
        yield f"Any new marriage: {_percent(talon.any)}."
    if answer.gains is None:
        return
    gains = list(answer.gains.items())
    best = ", ".join(f"{_card(card)} {_signed(gain)}" for card, gain in gains[:BEST_CARDS])
    worst = ", ".join(f"{_card(card)} {_signed(gain)}" for card, gain in gains[-WORST_CARDS:])
    yield "Its best cards, by the points they add to the average, and its worst:"
    yield f"  {best}; {worst}"


def _percent(share: object) -> str:
    return f"{100 * float(share):.1f} %"  # type: ignore[arg-type]


def _card(card: int) -> str:
    rank = RANK_LETTERS[card % N_RANKS].replace("T", "10")
    return f"{SUIT_SYMBOLS[card // N_RANKS]}{rank}"


def _signed(gain: Interval) -> str:
    text = _shown(gain)
    return text if text.startswith("−") else f"+{text}"


def _sources(answer: HandAnswer) -> Iterator[str]:
    def words(each: Estimate) -> str:
        how = "from the table" if each.source == "table" else "played live"
        if each.model in ("double-dummy", "corrected"):
            how = "solved live"
        return f"{each.model} {each.deals:,} deals {how}"

    yield "sampled, 95 % intervals: " + "; ".join(words(each) for each in answer.estimates) + ";"
    yield f"seed {answer.seed}, each talon equally often"


__all__ = ["hand_text"]
