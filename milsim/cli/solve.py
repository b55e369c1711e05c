"""``milsim solve``: double-dummy values of deals and positions."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from milsim.cli.options import (
    JsonOption,
    QuietOption,
    RulesOption,
    SetOption,
    ThreadsOption,
    announce_compilation,
    parse_count,
    parse_threads,
    print_json,
    rules_of,
    say,
)
from milsim.errors import MilsimError, UsageError

if TYPE_CHECKING:
    from milsim.rules import Rules
    from milsim.solver import Exchange, Solution
    from milsim.solver.many import Answer

SECONDS_BETWEEN_LINES = 5.0
SHOWN_PAIRS = 10
CLEAR_LINE = "\r\x1b[K"
LONGEST_LINE = 100_000
FILE_ENDINGS = (".csv", ".jsonl", ".json", ".txt")
DECLARERS = {"forehand": 0, "middlehand": 1, "rearhand": 2, "0": 0, "1": 1, "2": 2}


def solve(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DEAL|POSITION|FILE|-",
            help="A deal number; a deal 'AKQ.T9.J.A | … | … | talon'; a position 'hand | hand | "
            "hand; leader 1; trump H; table KS'; a CSV or JSONL file of many; - for stdin.",
        ),
    ],
    declarer: Annotated[
        str,
        typer.Option(
            "--declarer",
            metavar="SEAT",
            help="forehand, middlehand or rearhand; in a position seat 0, 1 or 2.",
        ),
    ] = "forehand",
    gifts: Annotated[
        str | None,
        typer.Option(
            "--gifts",
            metavar="CARDS",
            help="Of a deal: the cards given to the left and right, as 'QH JH'; the best pair if "
            "not given.",
        ),
    ] = None,
    at_least: Annotated[
        str | None,
        typer.Option(
            "--at-least",
            metavar="N",
            help="Only say whether the declarer gets so many points.",
        ),
    ] = None,
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Of a deal: what the 90 pairs of gifts are worth.")
    ] = False,
    all_cards: Annotated[
        bool,
        typer.Option("--all-cards", help="The value of each card at every turn of the best line."),
    ] = False,
    rules: RulesOption = "mil",
    changes: SetOption = None,
    letters: Annotated[
        str,
        typer.Option("--letters", metavar="english|polish|russian", help="Rank letters to read."),
    ] = "english",
    strict: Annotated[
        bool, typer.Option("--strict", help="Of many: stop at the first line that is wrong.")
    ] = False,
    threads: ThreadsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Solve a deal or position exactly, all cards known: what does the declarer get?

    He plays for the most points (cards and marriages), both defenders together against him. Of a
    deal he takes the talon, gives away the best two cards and leads. A file gives a line of CSV for
    each of its lines.
    """
    if declarer not in DECLARERS:
        raise UsageError(f"declarer: {declarer[:40]!r} is not forehand, middlehand or rearhand")
    seat = DECLARERS[declarer]
    need = None if at_least is None else parse_count("at-least", at_least, 0, 10_000)
    n_threads = parse_threads(threads)
    if exchange and (all_cards or gifts is not None):
        raise UsageError("--exchange values all gifts; leave --gifts and --all-cards out")
    chosen = rules_of(rules, changes)
    is_file = _is_file(what)
    announce_compilation(quiet=quiet or json)
    if is_file:
        if exchange or all_cards or gifts is not None:
            raise UsageError("--exchange, --all-cards and --gifts are for a single deal")
        _many(what, seat, chosen, need, strict, letters, n_threads, json, quiet)
        return
    from milsim.cards import parse_card
    from milsim.deals import Deal
    from milsim.solver import best_exchange
    from milsim.solver import solve as solution_of
    from milsim.solver.many import read_position_or_deal

    found = read_position_or_deal(what, rules=chosen, letters=letters)
    if not isinstance(found, Deal):
        if exchange:
            raise UsageError("--exchange is for a deal; a position is after the exchange")
        if gifts is not None:
            raise UsageError("--gifts is for a deal; a position is after the exchange")
        _print_solution(solution_of(found, declarer=seat), None, need, all_cards, json)
        return
    if exchange:
        _print_exchange(best_exchange(found, declarer=seat, rules=chosen), need, json)
        return
    pair = None
    if gifts is not None:
        names = gifts.replace(",", " ").split()
        if len(names) != 2:
            raise UsageError(f"gifts: {gifts[:40]!r} is not two cards; write 'QH JH'")
        left, right = (parse_card(name, letters=letters) for name in names)
        pair = left, right
    solution = solution_of(found, declarer=seat, gifts=pair, rules=chosen)
    _print_solution(solution, found.id, need, all_cards, json)


def _print_solution(
    solution: Solution, deal: int | None, need: int | None, all_cards: bool, json: bool
) -> None:
    from milsim.cards import format_card
    from milsim.deals import SEAT_NAMES

    reached = None if need is None else solution.value >= need
    if json:
        data: dict[str, Any] = {} if deal is None else {"deal": deal}
        data |= solution.to_dict()
        if need is not None:
            data |= {"at_least": need, "reached": reached}
        if all_cards:
            data["turns"] = [
                [{"card": format_card(each.card), "value": each.value} for each in turn]
                for turn in solution.turns
            ]
        print_json(data)
        return
    if need is not None:
        typer.echo("yes" if reached else "no")
        return
    position = solution.position
    if deal is not None:
        typer.echo(f"deal {deal}")
    width = max(len(hand.pretty()) for hand in position.hands)
    for seat, hand in enumerate(position.hands):
        name = SEAT_NAMES[seat] if deal is not None else f"seat {seat}"
        mark = "  declarer" if seat == solution.declarer else ""
        typer.echo(f"{name:<10}  {hand.pretty():<{width}}  {hand}{mark}")
    text = str(solution)
    if deal is not None:
        for seat, name in enumerate(SEAT_NAMES):
            text = text.replace(f"seat {seat}", name)
    typer.echo("")
    typer.echo(text)
    if "!" in text:
        typer.echo("! the card is led and declares")
    typer.echo("(the defenders play as one against the declarer, all cards known)")
    if all_cards:
        typer.echo("")
        for turn, act in zip(solution.turns, solution.line, strict=True):
            typer.echo(f"{format_card(act.card)} of " + ", ".join(map(str, turn)))


def _print_exchange(found: Exchange, need: int | None, json: bool) -> None:
    from milsim.cards import format_card

    pairs = sorted(found.values.items(), key=lambda item: (-item[1], item[0]))
    if json:
        data: dict[str, Any] = {
            "deal": found.deal.id,
            "declarer": found.declarer,
            "points": found.points,
            "count": found.count,
            "gifts": [
                {"left": format_card(left), "right": format_card(right), "points": points}
                for (left, right), points in pairs
            ],
        }
        if need is not None:
            data |= {"at_least": need, "reached": found.points >= need}
        print_json(data)
        return
    if need is not None:
        typer.echo("yes" if found.points >= need else "no")
        return
    typer.echo(found.deal.pretty())
    typer.echo("")
    typer.echo(str(found))
    typer.echo("left  right  points")
    for (left, right), points in pairs[:SHOWN_PAIRS]:
        typer.echo(f"{format_card(left):<4}  {format_card(right):<5}  {points:>6}")
    rest = pairs[SHOWN_PAIRS:]
    typer.echo(f"and {len(rest)} pairs from {rest[0][1]} down to {rest[-1][1]} (--json lists all)")


def _is_file(what: str) -> bool:
    """Whether the argument names many deals: stdin, a file, a pipe. A missing file is an error."""
    if what == "-":
        return True
    if len(what) > 1000 or "|" in what or "\0" in what:
        return False
    path = Path(what)
    if path.is_dir():
        raise MilsimError(f"{what}: a folder; name a file of deals or positions")
    if path.suffix.lower() in FILE_ENDINGS and not path.exists():
        raise MilsimError(f"{what}: no such file")
    return path.exists()


def _lines(source: str) -> Iterator[str]:
    # What is not UTF-8 makes its own line wrong, not the whole file.
    if source == "-":
        if sys.stdin is None:
            raise MilsimError("stdin is closed; name a file, or send lines")
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        yield from _cut(sys.stdin)
        return
    try:
        with Path(source).open(encoding="utf-8", errors="surrogateescape") as file:
            yield from _cut(file)
    except OSError as error:
        raise MilsimError(f"{source}: cannot read, {(error.strerror or '').lower()}") from None


def _cut(file: TextIO) -> Iterator[str]:
    """Its lines, without what stands behind the longest that any reader takes: they stay small."""
    while line := file.readline(LONGEST_LINE):
        yield line
        while line and not line.endswith("\n"):
            line = file.readline(LONGEST_LINE)


def _many(
    source: str,
    declarer: int,
    rules: Rules,
    need: int | None,
    strict: bool,
    letters: str,
    threads: int | None,
    json: bool,
    quiet: bool,
) -> None:
    from milsim.solver.many import solve_lines

    started = time.monotonic()
    done = wrong = 0
    if not json:
        typer.echo("line,points,gift_left,gift_right,count" if need is None else "line,reached")
    with _progress(_count_lines(source), quiet=quiet or json) as progress:
        for answer in solve_lines(
            _lines(source),
            declarer=declarer,
            rules=rules,
            at_least=need,
            strict=strict,
            letters=letters,
            threads=threads,
        ):
            if answer.error is not None:
                wrong += 1
                if progress.is_shown:
                    typer.echo(CLEAR_LINE, err=True, nl=False)
                say(f"line {answer.line}: {answer.error}")
            else:
                done += 1
                _print_answer(answer, need, json, sys.stdout)
            progress.show(answer.line, done)
    skipped = f", {wrong:,} lines skipped" if wrong else ""
    if wrong and not done:
        raise MilsimError(f"{source}: nothing could be solved, {wrong:,} lines skipped")
    say(f"{done:,} solved in {time.monotonic() - started:.1f} s{skipped}", quiet=quiet or json)


def _count_lines(source: str) -> int | None:
    """How many lines a file has; None for what can be read once only."""
    if source == "-" or not Path(source).is_file():
        return None
    try:
        with Path(source).open("rb") as file:
            blocks = iter(lambda: file.read(1 << 20), b"")
            last, found = b"", 0
            for last in blocks:
                found += last.count(b"\n")
            return found + (not last.endswith(b"\n") and last != b"")
    except OSError:
        return None  # told when it is read


class _Progress:
    """How far a file is: a bar with rate and time left on a terminal, else a line now and then."""

    def __init__(self, total: int | None, bar: Any, *, quiet: bool) -> None:
        self.total, self.bar, self.quiet = total, bar, quiet
        self.started = self.last = time.monotonic()
        self.rate = ""

    @property
    def is_shown(self) -> bool:
        """Whether the last line of the terminal is a bar."""
        return self.bar is not None

    def show(self, line: int, done: int) -> None:
        """Tell that all lines up to this one are answered, ``done`` of them with a value."""
        now = time.monotonic()
        if self.quiet or now - self.last < (0.1 if self.is_shown else SECONDS_BETWEEN_LINES):
            return
        self.last = now
        speed = line / (now - self.started)
        if self.bar is not None:
            self.rate = f"{speed:,.0f}/s"
            self.bar.update(line - self.bar.pos)
        elif self.total is None:
            say(f"{done:,} solved, {speed:,.0f}/s")
        else:
            far = f"{line:,} of {self.total:,} lines, {speed:,.0f}/s"
            say(f"{done:,} solved, {far}, {(self.total - line) / speed:,.0f} s left")


@contextmanager
def _progress(total: int | None, *, quiet: bool) -> Iterator[_Progress]:
    # Where the answers appear on the terminal, they are progress enough, and no bar fits between.
    if quiet or not total or not sys.stderr.isatty() or sys.stdout.isatty():
        yield _Progress(total, None, quiet=quiet)
        return
    progress = _Progress(total, None, quiet=False)
    shown: Any = typer.progressbar(
        length=total,
        label="lines",
        file=sys.stderr,
        show_pos=True,
        show_eta=True,
        item_show_func=lambda _: progress.rate,
    )
    with shown as progress.bar:
        yield progress
        progress.bar.update(total - progress.bar.pos)


def _print_answer(answer: Answer, need: int | None, json: bool, out: TextIO) -> None:
    from milsim.cards import format_card

    gifts = None if answer.gifts is None else [format_card(card) for card in answer.gifts]
    if json:
        import json as writer

        data: dict[str, Any] = {"line": answer.line}
        data |= {"points": answer.points} if need is None else {"reached": answer.reached}
        if gifts is not None and need is None:
            data |= {"gift_left": gifts[0], "gift_right": gifts[1], "count": answer.count}
        out.write(writer.dumps(data) + "\n")
    elif need is not None:
        out.write(f"{answer.line},{int(bool(answer.reached))}\n")
    else:
        left, right = gifts or ("", "")
        count = "" if answer.count is None else answer.count
        out.write(f"{answer.line},{answer.points},{left},{right},{count}\n")


__all__ = ["solve"]
