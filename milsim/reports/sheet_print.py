"""Score sheets as text and Markdown: the marks, and the legend of those that occur."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from milsim.reference.match_state import Event
from milsim.reports.score_sheet import Entry, Line, ScoreSheet

CONCEDED, DARK, GOLDEN, REDEALT = "c", "d", "g", "↻"
MADE, FAILED = "✓", "✗"

MARKS = {
    Event.LOCKED: "×",
    Event.CAPPED: "^",
    Event.FELL: "f",
    Event.BOLT: "•",
    Event.BOLT_PENALTY: "!",
    Event.DUMPED: "t",
    Event.RESET: "r",
    Event.JUMPED: "j",
    Event.WON: "★",
}
"""What is written behind a player's score; who mounts the barrel gets a box."""


def to_text(sheet: ScoreSheet, width: int = 80) -> str:
    """The sheet as text of at most ``width`` columns, where the names of the policies allow it."""
    wide = max(width, 40)
    lines = [_title(sheet), *textwrap.wrap(sheet.provenance, wide)]
    lines += textwrap.wrap(_players(sheet), wide)
    lines += ["", *_rows(sheet, width), "", *textwrap.wrap(_outcome(sheet), wide)]
    for mark, meaning in _legend(sheet):
        lines += textwrap.wrap(
            f"{mark:<6}{meaning}", wide, subsequent_indent=" " * 6, drop_whitespace=True
        )
    return "\n".join(line.rstrip() for line in lines) + "\n"


def to_markdown(sheet: ScoreSheet) -> str:
    """The sheet as Markdown: a table, how the match ended, the legend."""
    heads = [*(head for head, _ in _HEADS), *_names(sheet)]
    rows = [[*_facts(line), *(_total(entry) for entry in line.entries)] for line in sheet.lines]
    lines = [f"## {_title(sheet)}", "", f"*{sheet.provenance}*", ""]
    lines += [f"| {' | '.join(row)} |" for row in (heads, ["--:"] * len(heads), *rows)]
    lines += ["", _outcome(sheet), ""]
    lines += [f"- `{mark.strip()}` {meaning}" for mark, meaning in _legend(sheet)]
    return "\n".join(lines).rstrip() + "\n"


def _title(sheet: ScoreSheet) -> str:
    return f"Score sheet of match {sheet.match}, to {sheet.rules.match.target} points"


def _names(sheet: ScoreSheet) -> list[str]:
    return [f"{number} {policy}" for number, policy in enumerate(sheet.policies, start=1)]


def _players(sheet: ScoreSheet) -> str:
    return f"players: {', '.join(_names(sheet))}"


def _outcome(sheet: ScoreSheet) -> str:
    deals = "1 deal" if len(sheet.lines) == 1 else f"{len(sheet.lines)} deals"
    if sheet.winner is None:
        return f"Nobody won: the match was stopped after {deals} (match.max_deals)."
    name = _names(sheet)[sheet.winner - 1]
    return f"Player {name} won after {deals} with {sheet.totals[sheet.winner - 1]} points."


# -- cells ----------------------------------------------------------------------------------------

_HEADS = (
    ("deal", "deal"),
    ("dealer", "dlr"),
    ("declarer", "decl"),
    ("bid", "bid"),
    ("contract", "contr"),
    ("points", "pts"),
    ("result", "result"),
)
"""The headers of what is said of a deal, and what they are where there is less room."""


def _signed(score: int) -> str:
    return f"{score:+d}".replace("-", "−") if score else "0"


def _facts(line: Line) -> list[str]:
    """What is said of a deal, before the players' totals."""
    again = f" {REDEALT}{line.redeals}" if line.redeals else ""
    marks = DARK * line.dark + GOLDEN * line.golden
    sign = CONCEDED if line.made is None else MADE if line.made else FAILED
    return [
        f"{line.number}{again}",
        str(line.dealer),
        str(line.declarer),
        str(line.bid),
        f"{marks}({line.contract})",
        "–" if line.points is None else str(line.points),
        f"{sign} {_signed(line.result)}",
    ]


def _number(entry: Entry) -> str:
    text = str(entry.total).replace("-", "−")
    if entry.on_barrel:
        return f"[{text}]"
    return f"‹{text}›" if entry.in_lock else f"{text}"


def _marks(entry: Entry) -> str:
    return "".join(mark for event, mark in MARKS.items() if event in entry.events)


def _total(entry: Entry) -> str:
    return f"{_number(entry)}{_marks(entry)}"


def _rows(sheet: ScoreSheet, width: int) -> list[str]:
    """Header, rule and a row a deal; short headers where the long ones do not fit."""
    totals = []
    for place, name in enumerate(_names(sheet)):
        entries = [line.entries[place] for line in sheet.lines]
        # A closing bracket stands where a mark may stand, so digits are below each other.
        closed = [(_number(entry).rstrip("]›"), _number(entry), _marks(entry)) for entry in entries]
        digits = max([5, *(len(bare) for bare, _, _ in closed)])
        tail = max([1, *(len(full) - len(bare) + len(marks) for bare, full, marks in closed)])
        cells = [
            bare.rjust(digits) + (full[len(bare) :] + marks).ljust(tail)
            for bare, full, marks in closed
        ]
        totals.append((name, digits, cells))
    for heads, gap, most in ((0, "  ", 12), (0, " ", 10), (1, " ", 8)):
        columns = []
        for place, names in enumerate(_HEADS):
            texts = [names[heads], *(_facts(line)[place] for line in sheet.lines)]
            long = max(map(len, texts))
            columns.append(_aligned(texts) if place == 0 else [text.rjust(long) for text in texts])
        for name, digits, cells in totals:
            head = (name if len(name) <= most else name[: most - 1] + "…").rjust(digits)
            long = max(len(head), *map(len, cells)) if cells else len(head)
            over = long - len(cells[0]) if cells else 0
            columns.append([head.ljust(long), *(" " * min(over, 99) + cell for cell in cells)])
        rows = [gap.join(cells) for cells in zip(*columns, strict=True)]
        if len(rows[0]) <= width:
            break
    return [rows[0], "-" * len(rows[0]), *rows[1:]]


def _aligned(texts: list[str]) -> list[str]:
    """The column of deals: numbers below each other, marks behind.

    >>> _aligned(["deal", "9", "10 ↻1"])
    ['deal   ', '   9   ', '  10 ↻1']
    """
    split = [text.partition(" ") for text in texts]
    front = max(len(number) for number, _, _ in split)
    behind = max(len(gap + mark) for _, gap, mark in split)
    return [number.rjust(front) + (gap + mark).ljust(behind) for number, gap, mark in split]


def _legend(sheet: ScoreSheet) -> Iterator[tuple[str, str]]:
    """The marks that occur, and what they mean."""
    how, lines = sheet.rules.match, sheet.lines
    entries = [entry for line in lines for entry in line.entries]
    seen = Event(0)
    for entry in entries:
        seen |= entry.events
    if len(sheet.policies) == 4:
        scores = "" if how.sitter == "nothing" else "; he scores for the cards of the talon"
        yield "dlr", f"the dealer, who sits out{scores}"
    yield "( )", "the contract, ringed"
    if any(line.made for line in lines):
        yield MADE, "made"
    if any(line.made is False for line in lines):
        yield FAILED, "failed"
    if any(line.conceded for line in lines):
        yield CONCEDED, "conceded: not played"
    if any(line.dark for line in lines):
        yield DARK, "bid in the dark: the declarer's result counts double"
    if any(line.golden for line in lines):
        plays_120 = "forehand plays 120 without an auction, everything counts double"
        begins = "the bidding begins at 120"
        what = plays_120 if how.golden == "forehand_plays_120" else begins
        yield GOLDEN, f"golden deal: {what}"
    if any(line.redeals for line in lines):
        yield f"{REDEALT}2", "dealt anew so often before: a right to a new deal, or all passed"
    if any(entry.in_lock for entry in entries):
        yield "‹ ›", f"in the lock, from {how.lock} points: scores only as declarer"
    if any(entry.on_barrel for entry in entries):
        counted = "deals" if how.barrel_counts == "every_deal" else "own contracts"
        counted = counted if how.barrel_deals > 1 else counted.removesuffix("s")
        must = "must win" if "own" in counted else "must win by an own contract"
        yield "[ ]", f"on the barrel: {must} within {how.barrel_deals} {counted}"
    meanings = {
        Event.LOCKED: "what he scored in this deal did not count for him",
        Event.CAPPED: f"not the declarer, so set back to {how.defender_cap}",
        Event.FELL: "fell from the barrel",
        Event.BOLT: f"a bolt: no {'trick' if how.bolts == 'zero_tricks' else 'point'} in this deal",
        Event.BOLT_PENALTY: f"the bolt that costs {how.bolts_penalty} points",
        Event.DUMPED: "exactly 555: the dump truck, back to 0",
        Event.RESET: f"fall {how.barrel_falls} from the barrel: back to 0",
        Event.JUMPED: "jumped over the barrel",
        Event.WON: "won the match",
    }
    for event, mark in MARKS.items():
        if event in seen:
            yield mark, meanings[event]
