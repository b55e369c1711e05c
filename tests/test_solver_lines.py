"""Many lines at once, and ``milsim solve``."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import milsim.cli.solve as command
from milsim.cli.solve import solve as verb
from milsim.errors import DealError, MilsimError, NotationError, UsageError
from milsim.position import Position
from milsim.solver import best_exchange, solve
from milsim.solver.many import Answer, solve_lines

GOLDEN = Path(__file__).parent / "golden"
NUMBER = 688_907_321_587
ENDING = "KQ... | .A.T. | .9.A."
Run = Callable[..., str]


def answers(*lines: str, **options: Any) -> list[Answer]:
    return list(solve_lines(lines, **options))


def test_a_csv_of_masks_is_answered_line_by_line() -> None:
    lines = (GOLDEN / "dd_endings_mil.csv").read_text().splitlines()
    found = answers(*lines)
    assert [each.line for each in found] == list(range(2, len(lines) + 1))
    assert [each.points for each in found] == [int(line.split(",")[-1]) for line in lines[1:]]
    reached = answers(*lines, at_least=50)
    assert [each.reached for each in reached] == [(each.points or 0) >= 50 for each in found]


def test_all_kinds_of_lines() -> None:
    best = best_exchange(NUMBER)
    deal = Answer(1, best.points, None, (best.gift_left, best.gift_right), best.count)
    ending = Position.parse(ENDING)
    on_table = ending.play("KS")
    found = answers(
        str(NUMBER),
        str(best.deal),
        json.dumps(best.deal.to_dict()),
        json.dumps({"deal_id": NUMBER}),
        "",
        ENDING,
        str(on_table),
        json.dumps({"position": str(on_table)}),
        json.dumps({"declarer_mask": 12, "left_mask": 17, "right_mask": 34}),
    )
    assert [each.points for each in found[:4]] == [85] * 4
    assert found[0] == deal
    assert found[4] == Answer(6, solve(ending).value)
    assert found[5].points == found[6].points == solve(on_table).value
    assert found[7] == Answer(9, 46)


def test_the_declarer_of_a_position_is_a_seat() -> None:
    text = "9... | A... | K...; leader 2"
    assert [answers(text, declarer=seat)[0].points for seat in range(3)] == [0, 15, 0]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x", "no deal in 'x'"),
        ("-1", "deal number"),
        ("{", "no JSON"),
        ('{"deal": 1.5}', "deal number must be an integer"),
        ('{"declarer_mask": 1, "left_mask": 1, "right_mask": 2}', "9S is in the hands of declarer"),
        ('{"declarer_mask": 1, "left_mask": 2}', "no right_mask"),
        ('{"declarer_mask": true, "left_mask": 2, "right_mask": 4}', "must be an integer"),
        ('{"declarer_mask": 1, "left_mask": 2, "right_mask": 4, "trump": 7}', "trump must be"),
        ('{"position": 3}', "position"),
        ("KQ... | KA... | ...", "no position|no deal"),
        ("A" * 20_000, "too long"),
    ],
)
def test_a_bad_line_is_told_and_skipped_or_ends_all(line: str, why: str) -> None:
    first, bad, last = answers(str(NUMBER), line, ENDING)
    assert (first.points, last.points) == (85, 79)
    assert bad.points is None
    assert bad.error is not None
    strict = solve_lines([str(NUMBER), line, ENDING], strict=True)
    assert next(strict) == first
    with pytest.raises(MilsimError, match=f"line 2: .*({why})"):
        next(strict)


def test_bad_rows_and_headers() -> None:
    header = "declarer_mask,left_mask,right_mask,leader,trump"
    rows = ("1,2,4,0,4", "1,2,4,0", "1,2,x,0,4", "1,2,4,9,4", f"1,2,{10**25},0,4")
    good, *bad = answers(header, *rows)
    assert good.points == 0  # 9 J Q of spades
    assert [str(each.error).split(":")[0] for each in bad] == [
        "4 cells under 5 columns",
        "right_mask must be a whole number, got 'x'",
        "no position",
        "no position",
    ]
    assert "none says what to solve" in str(answers("name,value")[0].error)


def test_blocks_keep_the_order() -> None:
    lines = [ENDING, "x"] * 2500
    found = answers(*lines)
    assert [each.line for each in found] == list(range(1, 5001))
    assert {each.points for each in found} == {79, None}


# -------------------------------------------------------------------------------- the command line


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(verb)

    def call(*arguments: object) -> str:
        capsys.readouterr()
        app([*map(str, arguments)], standalone_mode=False)
        return capsys.readouterr().out

    return call


def test_a_deal_is_shown_with_its_line(run: Run) -> None:
    out = run(NUMBER)
    assert out.startswith(f"deal {NUMBER}\nforehand    ♠ A  ♥ A 9  ♦ A 10 J  ♣ 10 K ")
    assert out.splitlines()[1].endswith("  A.A9.ATJ.TK  declarer")
    assert "gets 85 points double dummy\ngifts: QH to his left, JH to his right\n" in out
    assert "8. rearhand: KH AH KS, trump none, forehand wins" in out
    assert "the defenders play as one against the declarer" in out
    assert len(run(NUMBER, "--all-cards").splitlines()) == len(out.splitlines()) + 25
    assert run(NUMBER, "--at-least", 85) == "yes\n"
    assert run(NUMBER, "--at-least", 86) == "no\n"


def test_a_deal_as_json(run: Run) -> None:
    data = json.loads(run(NUMBER, "--json", "--gifts", "JH QH", "--at-least", 80, "--all-cards"))
    assert (data["deal"], data["gifts"], data["at_least"]) == (NUMBER, ["JH", "QH"], 80)
    assert data["reached"] == (data["value"] >= 80)
    assert len(data["turns"]) == 24
    assert data["turns"][0][0]["value"] == data["cards"][0]["value"]


def test_the_exchange_is_shown(run: Run) -> None:
    out = run(NUMBER, "--exchange")
    assert "forehand gives QH to his left and JH to his right: 85 points" in out
    assert "and 80 pairs from" in out
    data = json.loads(run(NUMBER, "--exchange", "--json", "--rules", "gamerules"))
    assert len(data["gifts"]) == 90
    assert data["points"] == best_exchange(NUMBER, rules="gamerules").points


def test_a_position_is_shown(run: Run) -> None:
    out = run(ENDING + "; leader 1", "--declarer", "0")
    assert "seat 0      ♠ K Q" in out
    assert "KQ...  declarer\n" in out
    value = solve(Position.parse(ENDING + "; leader 1")).value
    assert f"gets {value} points double dummy\n" in out
    out = run(ENDING + "; leader 1; points 40 7 60", "--declarer", "0")
    assert f"gets {value} points double dummy, with the 40 he has {40 + value}\n" in out
    assert json.loads(run(ENDING, "--json"))["value"] == 79


def test_a_file_streams(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    path.write_text(f'{{"deal": {NUMBER}}}\nx\n{ENDING}\n', encoding="utf-8")
    assert run(path).splitlines() == [
        "line,points,gift_left,gift_right,count",
        "1,85,QH,JH,1",
        "3,79,,,",
    ]
    assert run(path, "--at-least", 80).splitlines() == ["line,reached", "1,1", "3,0"]
    rows = [json.loads(line) for line in run(path, "--json").splitlines()]
    assert rows[0] == {"line": 1, "points": 85, "gift_left": "QH", "gift_right": "JH", "count": 1}
    with pytest.raises(NotationError, match="line 2: no deal in 'x'"):
        run(path, "--strict")


def test_a_bar_on_a_terminal_a_line_now_and_then_elsewhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "positions.txt"
    path.write_text(f"{ENDING}\n" * 5 + "x\n" + f"{ENDING}\n" * 2, encoding="utf-8")
    monkeypatch.setattr("milsim.cli.solve.SECONDS_BETWEEN_LINES", -1.0)
    arguments = {"seat": 0, "rules": "mil", "need": None, "strict": False, "letters": "english"}
    how = [*arguments.values(), 1, False]
    command._many(str(path), *how, False)  # type: ignore[arg-type]
    told = capsys.readouterr()
    assert told.out.count("79") == 7
    assert "7 solved, 8 of 8 lines" in told.err
    assert "s left" in told.err
    monkeypatch.setattr("sys.stdin", io.StringIO(path.read_text(encoding="utf-8")))
    command._many("-", *how, False)  # type: ignore[arg-type]
    told = capsys.readouterr()
    assert "7 solved, " in told.err
    assert "left" not in told.err

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    command._many(str(path), *how, False)  # type: ignore[arg-type]
    shown = terminal.getvalue()
    assert "lines" in shown
    assert "8/8" in shown
    assert f"{command.CLEAR_LINE}line 6: no deal" in shown
    assert capsys.readouterr().out == told.out
    terminal.truncate(0)
    command._many(str(path), *how, True)  # type: ignore[arg-type]
    assert "8/8" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        (("1", "--declarer", "west"), UsageError, "not forehand, middlehand or rearhand"),
        (("1", "--gifts", "QH"), UsageError, "not two cards"),
        (("1", "--gifts", "QH QH"), DealError, "gift QH is given twice"),
        ((ENDING, "--exchange"), UsageError, "--exchange is for a deal"),
        ((ENDING, "--gifts", "QH JH"), UsageError, "--gifts is for a deal"),
        (("nonsense",), NotationError, "no deal in 'nonsense'"),
        (("KQ... | KA... | ...; trump H",), DealError, "no position"),
        (("KQ... | .A.T. | .9.A.; trump 7",), NotationError, "trump of a position"),
    ],
)
def test_what_the_command_refuses(
    run: Run, arguments: tuple[str, ...], error: type[MilsimError], why: str
) -> None:
    with pytest.raises(error, match=why):
        run(*arguments)


def test_a_file_takes_no_option_of_a_single_deal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "deals"
    path.write_bytes(b"\xff\n")
    with pytest.raises(UsageError, match="for a single deal"):
        run(path, "--exchange")
    with pytest.raises(MilsimError, match="nothing could be solved, 1 lines skipped"):
        run(path)


@pytest.mark.parametrize("number", ["x", "-1", "1.5"])
def test_a_threshold_is_a_number(run: Run, number: str) -> None:
    with pytest.raises(UsageError, match="0 to 10000"):
        run("1", "--at-least", number)
