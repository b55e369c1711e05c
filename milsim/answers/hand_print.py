"""The answer about a hand as text: at most some 30 lines of 80 columns."""

from __future__ import annotations

import textwrap
from math import hypot
from typing import TYPE_CHECKING

from milsim.cards import N_RANKS, RANK_LETTERS, SUIT_SYMBOLS
from milsim.reports.cells import aligned, cell, plain
from milsim.reports.statistics import UNKNOWN, Interval
from milsim.reports.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from milsim.answers.estimates import Estimate
    from milsim.answers.hand import HandAnswer

MOST_ROWS = 10
BEST_CARDS = WORST_CARDS = 4
WIDTH = 80


def hand_text(answer: HandAnswer) -> str:
    """The answer for people."""
    return "\n".join(_lines(answer)).rstrip()


def _lines(answer: HandAnswer) -> Iterator[str]:
    model = answer.model
    rules = answer.rules.name
    yield f"{answer.cards.pretty()}   ({answer.cards.points} card points, rules {rules})"
    if answer.hands > 1:
        held = f"the {answer.hands:,} hands that hold them"
        yield from _wrapped(
            f"{len(answer.cards)} of 7 cards: the average of {held}, as the table has them."
        )
    yield ""
    mean = _shown(model.points)
    if answer.percentile is None:
        yield from _wrapped(
            f"{mean} points as declarer on average. How that compares with other hands is not "
            f"known: no table of rules {rules} by {answer.passing_model} comes with milsim."
        )
    elif model.model != answer.passing_model:
        yield from _wrapped(
            f"{mean} points as declarer on average. By {answer.passing_model} the hand is stronger "
            f"than {_percentile(answer.percentile)} of all hands."
        )
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
    return f"{percent:.1f}%" if percent < 1 or percent > 99 else f"{percent:.0f}%"


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
    columns = [
        _cells("percent", [each.makes.get(c, UNKNOWN) for c in contracts])
        for each in answer.estimates
    ]
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
    *others, last = (each.model for each in answer.estimates)
    names_of = f"{', '.join(others)} and {last}" if others else last
    make = "make" if others else "makes"
    yield from _wrapped(
        f"%: how often {names_of} {make} it; score: of {answer.model.model}, on average"
    )


def _advice(answer: HandAnswer) -> Iterator[str]:
    model, passing, bid = answer.model, answer.passing, answer.bid_up_to
    if passing.value is None:
        score = _shown(model.scores[model.best])
        yield from _wrapped(
            "This hand may ask for a new deal, as milsim's players always do: what passing would "
            f"earn is not known. Best is to play {model.best}, for {score}."
        )
        return
    earns = _shown(passing)
    if bid is None:
        best = _best_allowed(answer)
        score = _shown(model.scores[best])
        yield from _wrapped(
            f"Pass: it earns {earns} by passing, and {score} by playing {best}.{_doubt(answer)}"
        )
    else:
        limit = " (the rules allow no higher bid)" if bid == answer.highest_allowed else ""
        score = _shown(model.scores[bid])
        yield from _wrapped(
            f"Bid up to {bid}{limit}: it scores {score}; by passing it earns {earns}."
            f"{_doubt(answer)}"
        )
    yield from _wrapped(
        f"(Passing: at once, at middle- or rearhand; {answer.passing_model} does all the rest. "
        "What counts is your own score of the deal, on average.)"
    )


def _best_allowed(answer: HandAnswer) -> int:
    """The contract that scores most of those that may be bid; the lowest if none may."""
    scores = answer.model.scores
    allowed = [each for each in scores if each <= answer.highest_allowed]
    return max(allowed or list(scores)[:1], key=lambda each: scores[each].value or 0.0)


def _doubt(answer: HandAnswer) -> str:
    """A sentence where the deals played are too few to tell this bid from a neighbour."""
    scores = answer.model.scores
    allowed = [each for each in scores if each <= answer.highest_allowed] or list(scores)[:1]
    bid = answer.bid_up_to
    at = allowed.index(_best_allowed(answer) if bid is None else bid)
    beside = [scores[each] for each in allowed[at : at + 1 + (bid is not None)]]
    if not any(_overlap(score, answer.passing) for score in beside):
        return ""
    return " That is close: with more deals it may be another bid."


def _overlap(one: Interval, other: Interval) -> bool:
    """Whether a difference of independent numbers has 0 in its interval, or is not known."""
    lower, higher = sorted((one, other), key=lambda each: each.value or 0.0)
    if lower.value is None or higher.value is None or lower.high is None or higher.low is None:
        return True
    error = hypot(lower.high - lower.value, higher.value - higher.low)
    return higher.value - lower.value <= error


def _talon(answer: HandAnswer) -> Iterator[str]:
    talon = answer.talon
    assert talon is not None
    words = []
    if talon.halves:
        words.append(f"completes {_suits(talon.halves)}")
    if talon.pairs:
        words.append(f"brings both of {_suits(talon.pairs)}")
    if words:
        yield from _wrapped(
            f"Marriages, exact: the talon {' and '.join(words)}; any new one {_percent(talon.any)}."
        )
    if answer.gains is None:
        return
    gains = list(answer.gains.items())
    yield "What its cards are worth, in points more or less than the average talon:"
    for name, some in (("best ", gains[:BEST_CARDS]), ("worst", gains[-WORST_CARDS:])):
        yield f"  {name}  " + ",  ".join(f"{_card(card)} {_signed(gain)}" for card, gain in some)


def _suits(chances: Mapping[int, Fraction]) -> str:
    """Suits and their chance, which is the same for all of them."""
    suits = " ".join(SUIT_SYMBOLS[suit] for suit in chances)
    each = " each" if len(chances) > 1 else ""
    return f"{suits} in {_percent(next(iter(chances.values())))}{each}"


def _percent(share: Fraction) -> str:
    return f"{100 * float(share):.1f}%"


def _card(card: int) -> str:
    rank = RANK_LETTERS[card % N_RANKS].replace("T", "10")
    return f"{SUIT_SYMBOLS[card // N_RANKS]}{rank}"


def _signed(gain: Interval) -> str:
    text = _shown(gain)
    return text if text.startswith("−") else f"+{text}"


def _sources(answer: HandAnswer) -> Iterator[str]:
    def words(each: Estimate) -> str:
        live = "solved live" if each.model in ("double-dummy", "corrected") else "played live"
        if each.correction is None:
            how = "from the table" if each.source == "table" else live
            return f"{each.model} {each.deals:,} deal{'s' * (each.deals != 1)} {how}"
        hands, deals = each.correction
        table = f"the table corrected by a sample ({hands:,} hands, {deals} deals each)"
        if each.source.endswith("live"):
            return f"{each.model} {each.deals:,} deals {live}, and {table}"
        return f"{each.model} {table}"

    yield from _wrapped(
        f"sampled, 95% intervals: {'; '.join(map(words, answer.estimates))}; each talon equally "
        f"often; {answer.provenance}"
    )


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)


__all__ = ["hand_text"]
