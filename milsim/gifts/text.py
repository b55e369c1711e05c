"""The answer to "which gifts, which contract?" for people, in 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from milsim.cards import format_card, pretty_hand
from milsim.policies.spec import parse_spec
from milsim.reports.cells import cell, plain
from milsim.reports.statistics import Interval
from milsim.reports.table import Column

if TYPE_CHECKING:
    from milsim.gifts.advice import ExchangeAdvice, GiftPair

WIDTH = 80
_CONTRACTS = 8


def percent(interval: Interval) -> str:
    """A share in per cent, with half of its interval if it has one.

    >>> percent(Interval(0.5, 0.4, 0.6)), percent(Interval(0.256, 0.256, 0.256))
    ('50 ±10', '25.6')
    """
    row = {"p": interval.value, "low": interval.low, "high": interval.high}
    return plain(*cell(Column("", "p", "percent", "low", "high"), row))


def signed(value: float) -> str:
    """A score with its sign.

    >>> signed(4.04), signed(-100.0), signed(0.0)
    ('+4.0', '−100.0', '0.0')
    """
    text = f"{value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _gifts_table(advice: ExchangeAdvice) -> list[str]:
    best = advice.best
    head = ["left", "right", "made in", "%", "score", "behind", "points"]
    rows = [head + [f"{result.policy}, %" for result in advice.honest]]
    for pair in advice.gifts:
        by_points = advice.by == "points"
        behind = pair.mean - best.mean if by_points else pair.score - best.score
        row = [
            format_card(pair.left),
            format_card(pair.right),
            f"{pair.made:,}",
            f"{100 * pair.made / advice.layouts:.1f}",
            signed(pair.score) if pair.highest >= advice.contract else "–",
            "" if pair is best else signed(behind),
            f"{pair.mean:.1f}",
        ]
        for result in advice.honest:
            is_played = pair.gifts in result.points
            row.append(percent(result.chance(pair.gifts)) if is_played else "")
        rows.append(row)
    return _columns(rows)


def _contracts_table(advice: ExchangeAdvice, pair: GiftPair) -> list[str]:
    curve = advice.curve(pair)
    # Those that are made at times, up to the first that never is, and the one named.
    shown = [row for row in curve if row[1] > 0 or row[0] in (advice.bid, advice.contract)]
    at = [contract for contract, _, _ in shown].index(advice.contract) if shown else 0
    start = max(0, min(at - _CONTRACTS // 2, len(shown) - _CONTRACTS))
    shown = shown[start : start + _CONTRACTS]
    rows = [["contract", *(str(contract) for contract, _, _ in shown)]]
    rows.append(["made, %", *(f"{100 * made / advice.layouts:.1f}" for _, made, _ in shown)])
    rows.append(["score", *(signed(score) for _, _, score in shown)])
    names = max(len(row[0]) for row in rows)
    widths = [max(len(row[i]) for row in rows) for i in range(1, len(rows[0]))]
    return [
        row[0].ljust(names)
        + "".join("  " + cell.rjust(w) for cell, w in zip(row[1:], widths, strict=True))
        for row in rows
    ]


def advice_text(advice: ExchangeAdvice) -> str:
    """The whole answer."""
    best = advice.best
    n = advice.layouts
    left, right = format_card(best.left), format_card(best.right)
    lines = [
        f"{pretty_hand(int(advice.hand))}   rules {advice.rules.name}, bid {advice.bid}",
        f"Give {left} to the left and {right} to the right, and play for {advice.contract}.",
        "",
        *_gifts_table(advice),
    ]
    if best.highest >= advice.contract:
        lines += ["", f"With {left} and {right} given:", *_contracts_table(advice, best)]
    notes = []
    what = "score more" if advice.by == "score" else "get more points on average"
    others = "No other pair of the 90 would" if len(advice.gifts) > 1 else "No pair would"
    notes.append(
        f"Exact, double dummy: all {n:,} layouts of the 14 unseen cards, equally likely (the "
        f"auction is left out), all cards known to all. {others} {what} than the last."
    )
    if advice.honest:
        parts = []
        for result in advice.honest:
            how = "all layouts" if result.is_exact else f"{result.layouts:,} layouts, 95 % interval"
            sees = ", who sees all cards" if parse_spec(result.policy).player().sees_all else ""
            parts.append(f"{result.policy} ({how}){sees}")
        notes.append(
            "Honest play, each seeing his own cards, the talon hidden: made in % by "
            + ", ".join(parts)
            + "."
        )
    if advice.nines is not None:
        who = {
            "declarer": "He keeps four nines and may ask for a new deal",
            "defender": "A defender with all four nines may ask for a new deal",
        }[advice.nines]
        notes.append(f"{who}; counted here as played.")
    if advice.concession is not None:
        notes.append(f"To give the deal up costs {advice.concession} (the first time in a match).")
    notes.append(advice.provenance() + ".")
    return "\n".join(lines + [""] + [line for note in notes for line in textwrap.wrap(note, WIDTH)])


__all__ = ["advice_text", "percent", "signed"]
