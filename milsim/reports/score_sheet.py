"""Score sheets: one match as players write it down, a line a deal, with the usual marks.

A sheet is made by scoring the deals of the match anew, by the rules as
:func:`milsim.score_match_deal` has them; what is stored must agree with it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import polars as pl

from milsim.cards import NINE, RANK_MASKS
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import MilsimError, VerificationError
from milsim.reference.match_scoring import score_match_deal
from milsim.reference.match_state import Event, MatchState
from milsim.reports import check_format
from milsim.reports.match_frames import AnyMatchRun, opened_matches
from milsim.rules import Rules
from milsim.simulation.match_plan import MatchPlan
from milsim.store.match_run import provenance_of
from milsim.store.match_schema import NOBODY

EVENT_NAMES = {
    Event.LOCKED: "locked out",
    Event.CAPPED: "capped",
    Event.MOUNTED: "mounted",
    Event.FELL: "fell",
    Event.BOLT: "bolt",
    Event.BOLT_PENALTY: "bolt penalty",
    Event.DUMPED: "dumped",
    Event.RESET: "reset",
    Event.JUMPED: "jumped",
    Event.WON: "won",
}
"""The events of docs/match.md as data formats name them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line of a sheet says of one player.

    ``score`` is his deal score, ``total`` his score in the match after it; ``events`` what
    happened to him. ``on_barrel`` and ``in_lock``: where he stands after the deal.
    """

    points: int
    tricks: int
    score: int
    total: int
    events: Event
    on_barrel: bool
    in_lock: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One deal of a match that counted; players are numbered from 1.

    ``points`` are the declarer's, None if he conceded; ``made`` too. ``redeals`` were thrown in
    before it.
    """

    number: int
    redeals: int
    deal: int
    dealer: int
    declarer: int
    bid: int
    contract: int
    points: int | None
    made: bool | None
    dark: bool
    golden: bool
    entries: tuple[Entry, ...]

    @property
    def conceded(self) -> bool:
        """Whether the declarer gave the deal up."""
        return self.made is None

    @property
    def result(self) -> int:
        """The declarer's deal score."""
        return self.entries[self.declarer - 1].score


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """A match from its first deal to its last, line by line.

    ``policies`` are the players' by number, from player 1; ``winner`` is a player's number, None
    if nobody won. ``print`` shows it as a table; :meth:`to_markdown`, :meth:`to_json` and
    :meth:`frame` are for other places.
    """

    match: int
    provenance: str
    rules: Rules
    policies: tuple[str, ...]
    lines: tuple[Line, ...]
    winner: int | None

    @property
    def totals(self) -> tuple[int, ...]:
        """The scores at the end, by player."""
        if not self.lines:
            return (0,) * len(self.policies)
        return tuple(entry.total for entry in self.lines[-1].entries)

    def table(self, width: int = 80) -> str:
        """The sheet as text, with a legend of the marks that occur."""
        from milsim.reports.sheet_print import to_text

        return to_text(self, width)

    def to_markdown(self) -> str:
        """The sheet as a Markdown table with its legend."""
        from milsim.reports.sheet_print import to_markdown

        return to_markdown(self)

    def to_dict(self) -> dict[str, Any]:
        """The sheet as plain JSON values: events in words, lists by player."""
        return {
            "report": "sheet",
            "provenance": self.provenance,
            "match": self.match,
            "target": self.rules.match.target,
            "players": [
                {"player": number, "policy": policy, "total": total}
                for number, (policy, total) in enumerate(
                    zip(self.policies, self.totals, strict=True), start=1
                )
            ],
            "winner": self.winner,
            "deals": [_line_as_dict(line) for line in self.lines],
        }

    def to_json(self) -> str:
        """The sheet as JSON text."""
        import json

        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    def render(self, format: str = "text", *, width: int | None = None) -> bytes:  # noqa: A002
        """The sheet in one of FORMATS, as the bytes of a file; data formats have a row a deal.

        Raises :class:`~milsim.errors.UsageError` for another format.
        """
        check_format(format)
        if format == "parquet":
            buffer = io.BytesIO()
            self.frame().write_parquet(buffer, metadata={"milsim": self.provenance})
            return buffer.getvalue()
        if format == "csv":
            return self.frame().write_csv().encode()
        if format == "json":
            return self.to_json().encode()
        return (self.to_markdown() if format == "md" else self.table(width or 100)).encode()

    def frame(self) -> pl.DataFrame:
        """The sheet as a frame: a row a deal, columns by player ``score_1``, ``total_1``, …"""
        return pl.DataFrame([_line_as_row(self.match, line) for line in self.lines])

    def __str__(self) -> str:
        """The sheet as text for 80 columns."""
        return self.table()


def events_in_words(events: Event) -> list[str]:
    """The names of the events in a sum of bits.

    >>> events_in_words(Event(20))
    ['mounted', 'bolt']
    """
    return [name for event, name in EVENT_NAMES.items() if event in events]


def _line_as_dict(line: Line) -> dict[str, Any]:
    return {
        "number": line.number,
        "deal": line.deal,
        "redeals": line.redeals,
        "dealer": line.dealer,
        "declarer": line.declarer,
        "bid": line.bid,
        "contract": line.contract,
        "declarer_points": line.points,
        "made": line.made,
        "conceded": line.conceded,
        "dark": line.dark,
        "golden": line.golden,
        "players": [
            {
                "player": number,
                "points": None if line.conceded else entry.points,
                "tricks": None if line.conceded else entry.tricks,
                "score": entry.score,
                "total": entry.total,
                "on_barrel": entry.on_barrel,
                "in_lock": entry.in_lock,
                "events": events_in_words(entry.events),
            }
            for number, entry in enumerate(line.entries, start=1)
        ],
    }


def _line_as_row(match: int, line: Line) -> dict[str, Any]:
    row = {"match": match, **_line_as_dict(line)}
    del row["players"]
    by_player = list(enumerate(line.entries, start=1))
    row |= {f"score_{number}": entry.score for number, entry in by_player}
    row |= {f"total_{number}": entry.total for number, entry in by_player}
    return row | {
        f"events_{number}": ", ".join(events_in_words(entry.events)) for number, entry in by_player
    }


# -- from rows ------------------------------------------------------------------------------------


def sheet(run: AnyMatchRun, match: int | None = None) -> ScoreSheet:
    """The score sheet of a match of a run of matches; without ``match`` of its first.

    Raises :class:`~milsim.errors.UsageError` for a match that the run does not hold,
    :class:`~milsim.errors.RunError` for a folder that is no run of matches, and
    :class:`~milsim.errors.VerificationError` if the stored scores are not those of the rules.
    """
    run = opened_matches(run)
    index = run.plan.start if match is None else match
    deals, row = run.match(index)
    return sheet_of_rows(
        deals.to_dicts(), row.row(0, named=True), run.rules, run.plan.policies, run.provenance()
    )


def sheet_of_rows(
    deals: Sequence[Mapping[str, Any]],
    match: Mapping[str, Any],
    rules: Rules,
    policies: tuple[str, ...],
    provenance: str,
) -> ScoreSheet:
    """The score sheet of a match's rows (columns: :mod:`milsim.store.match_schema`).

    Raises :class:`~milsim.errors.VerificationError` at the first deal whose stored scores are not
    those of the rules.
    """
    players = len(policies)
    state = MatchState.start(rules, match["first_dealer"] - 1)
    lines = []
    for place, row in enumerate(deals, start=1):
        where = f"match {match['match']}, deal {place}"
        if row["number"] != place:
            raise VerificationError(f"{where}: its row has number {row['number']}; {_AGAIN}")
        if row["dealer"] - 1 != state.dealer and not row["redeals"]:
            raise VerificationError(
                f"{where}: player {row['dealer']} deals, not {state.dealer + 1} as the rules have "
                f"it; {_AGAIN}"
            )
        before = replace(state, dealer=row["dealer"] - 1)
        try:
            state = _scored(rules, before, row)
        except MilsimError as error:
            raise VerificationError(f"{where}: {error}; {_AGAIN}") from None
        _check_deal(where, row, state)
        lines.append(_line(rules, before, row, state))
    where = f"match {match['match']}"
    winner = NOBODY if state.winner is None else state.winner + 1
    for name, stored, found in (
        ("deals", match["deals"], len(lines)),
        ("winner", match["winner"], winner),
        *(
            (f"the final score of player {i + 1}", match[f"final_{i + 1}"], state.scores[i])
            for i in range(players)
        ),
    ):
        if stored != found:
            raise VerificationError(
                f"{where}: {name} is {stored} in the run, {found} by the rules; {_AGAIN}"
            )
    if not state.is_over(rules):
        raise VerificationError(f"{where}: is not over after its {len(lines)} deals; {_AGAIN}")
    return ScoreSheet(
        match=match["match"],
        provenance=provenance,
        rules=rules,
        policies=policies,
        lines=tuple(lines),
        winner=winner or None,
    )


_AGAIN = "play the run again"


def _scored(rules: Rules, state: MatchState, row: Mapping[str, Any]) -> MatchState:
    """The match after the deal of a row, by the rules."""
    deal = Deal.from_id(row["deal"])
    nines = [seat for seat, hand in enumerate(deal.hand_masks) if not _NINES & ~hand]
    conceded = bool(row["conceded"])
    return score_match_deal(
        rules,
        state,
        declarer=state.player_at(row["declarer"]),
        contract=row["contract"],
        points=None if conceded else _by_player(state, _points_by_seat(row)),
        tricks=None if conceded else _by_player(state, [row[f"tricks_{s}"] for s in SEAT_NAMES]),
        conceded=conceded,
        dark=bool(row["dark"]),
        four_nines=state.player_at(nines[0]) if nines else None,
        talon=deal.talon,
    )


_NINES = RANK_MASKS[NINE]


def _points_by_seat(row: Mapping[str, Any]) -> list[int]:
    return [row[f"points_{seat}"] + row[f"marriages_{seat}"] for seat in SEAT_NAMES]


def _by_player(state: MatchState, by_seat: Sequence[int]) -> list[int]:
    """Values by seat of the deal to come as values by player; 0 for who sits out."""
    found = [0] * state.players
    for seat, value in enumerate(by_seat):
        found[state.player_at(seat)] = value
    return found


def _check_deal(where: str, row: Mapping[str, Any], state: MatchState) -> None:
    """Raise VerificationError unless a row says of each player what the state says."""
    for player in range(state.players):
        number = player + 1
        barrel = state.barrel_deals[player] if state.on_barrel[player] else -1
        for name, stored, found in (
            ("score", row[f"total_{number}"], state.scores[player]),
            ("events", row[f"events_{number}"], int(state.events[player])),
            ("deals on the barrel", row[f"barrel_{number}"], barrel),
        ):
            if stored != found:
                raise VerificationError(
                    f"{where}: {name} of player {number}: {stored} in the run, {found} by the "
                    f"rules; {_AGAIN}"
                )


def _line(rules: Rules, before: MatchState, row: Mapping[str, Any], after: MatchState) -> Line:
    points = _by_player(before, _points_by_seat(row))
    tricks = _by_player(before, [row[f"tricks_{seat}"] for seat in SEAT_NAMES])
    scores = _by_player(before, [row[f"score_{seat}"] for seat in SEAT_NAMES])
    if before.sitter is not None:
        scores[before.sitter] = row["score_sitter"]
    lock = rules.match.lock
    declarer = before.player_at(row["declarer"])
    return Line(
        number=row["number"],
        redeals=row["redeals"],
        deal=row["deal"],
        dealer=before.dealer + 1,
        declarer=declarer + 1,
        bid=row["bid"],
        contract=row["contract"],
        points=None if row["conceded"] else points[declarer],
        made=None if row["conceded"] else bool(row["made"]),
        dark=bool(row["dark"]),
        golden=before.is_golden(rules),
        entries=tuple(
            Entry(
                points=points[player],
                tricks=tricks[player],
                score=scores[player],
                total=after.scores[player],
                events=after.events[player],
                on_barrel=after.on_barrel[player],
                in_lock=lock != "off" and after.scores[player] >= lock and after.winner != player,
            )
            for player in range(after.players)
        ),
    )


def played_sheet(plan: MatchPlan) -> ScoreSheet:
    """The score sheet of the first match of a plan, played now; nothing is stored.

    Raises what playing raises, and :class:`~milsim.errors.VerificationError` if kernels and rules
    disagree.
    """
    from milsim.simulation.match_engine import play_match_plan
    from milsim.store.match_collect import frames_of

    chunks = list(play_match_plan(replace(plan, matches=1), threads=1))
    deals, matches = frames_of(chunks, plan.rules.deal.players)
    return sheet_of_rows(
        deals.sort("number").to_dicts(),
        matches.row(0, named=True),
        plan.rules,
        plan.policies,
        provenance_of(plan, str(plan.start), version("milsim")),
    )
