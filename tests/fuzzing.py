"""Bad input in bulk: every parser of milsim, examples of what it reads, and how to spoil them.

A parser answers, or raises a MilsimError of one line; anything else is a fault. Cases are a pure
function of the target, the seed and their number. docs/reliability.md says how many were run.
"""

from __future__ import annotations

import json
import random
import shutil
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import milsim
from milsim import rules
from milsim.cards import parse_card, parse_hand
from milsim.cli.options import parse_count, parse_seed
from milsim.cli.running import parse_seconds
from milsim.deals import Deal
from milsim.errors import MilsimError, RunError
from milsim.policies.spec import canonical
from milsim.position import Position
from milsim.reports.bias_table import BiasTable
from milsim.simulation.grid import grid_of, read_grid
from milsim.simulation.plan import Plan
from milsim.solver.many import _Reader, read_position_or_deal
from milsim.store.collect import collect
from milsim.store.manifest import read_identity, read_manifest, stored_manifest
from milsim.store.parts import Part, name_of
from milsim.store.pieces import Piece
from milsim.store.planned import runs_in
from milsim.tables.compact import _header
from milsim.tables.corrections import Corrections
from milsim.tables.folder import Table, manifest_of, text_of
from milsim.tables.plan import TablePlan, hands_of, shard_of
from milsim.tables.sample_plan import SamplePlan, models_of
from milsim.tables.sampling import KIND as SAMPLE_KIND
from milsim.tables.sampling import SCHEMA_VERSION as SAMPLE_SCHEMA
from milsim.tables.sampling import ModelSample
from milsim.where import Where

SEED = 20261130
DATA = Path(milsim.__file__).parent / "tables" / "data"

# -- spoiling ------------------------------------------------------------------------------------

NASTY = (
    "", " ", "\0", "\n", "\r\n", "\t", "\x1b[2J", "\u202e", "\ufeff", "\ud800", "é", "♠", "В", "𝟙",
    "²", "٣", "-", "-1", "0", "1", "00", "1e400", "1e999999999", "nan", "inf", "-inf", "0x10",
    "9" * 30, "9" * 5000, "1_000", "+1", "1.5", "[", "]", "{", "}", '"', "'", '"""', "\\",
    "\\u0000", "#", "=", ":", ";", ",", "|", "||", "/", "..", "../../x", "/etc/passwd", "~", "*",
    "%s", "{0}", "<script>", "null", "None", "true",
    "[" * 3000, '{"a":' * 3000, "a." * 500, "A" * 4000,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, float("nan"), float("inf"), 10**30, -(2**63), 2**64, "",
    "x", "../x", "<b>", "\0", "é" * 300, [], {}, [[]], [None], {"": 0}, ["x", 1], 10**400,
)  # fmt: skip


def spoiled(text: str, draw: random.Random, others: Sequence[str]) -> str:
    """A text with one to four small changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        a, b = sorted(draw.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + draw.choice((0, 1, 1, 2, 8, 100)))
        way = draw.randrange(7)
        if way == 0:
            text = text[:a] + text[b:]
        elif way == 1:
            text = text[:a] + draw.choice(NASTY) + text[a:]
        elif way == 2:
            text = text[:a] + draw.choice(NASTY) + text[b:]
        elif way == 3:
            text = text[:b] + text[a:b] * draw.choice((1, 1, 5, 50)) + text[b:]
        elif way == 4:
            other = draw.choice(others)
            text = text[:a] + other[draw.randrange(len(other) + 1) :]
        elif way == 5:
            text = (
                text[:a]
                + chr(draw.choice((draw.randrange(128), draw.randrange(0x3000))))
                + text[a + 1 :]
            )
        else:
            text = text[:a]
    return text


def any_text(draw: random.Random) -> str:
    """Random letters, of the alphabet of cards and files more often than others."""
    letters = "AKQJT9SHDC. |;:=<>[]{}\"',-+0123456789aeiou\n\t" if draw.random() < 0.8 else NASTY
    return "".join(draw.choice(letters) for _ in range(draw.choice((1, 3, 10, 40, 200))))


def spoiled_value(value: Any, draw: random.Random) -> Any:
    """A JSON value with one entry somewhere taken away, exchanged, doubled or of another type."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    copy = json.loads(json.dumps(value))
    if isinstance(copy, dict | list):
        walk(copy)
    if not places or draw.random() < 0.02:
        return draw.choice(VALUES)
    node, key = draw.choice(places)
    way = draw.randrange(4)
    if way == 0:
        node.pop(key)
    elif way == 1:
        node[key] = draw.choice(VALUES)
    elif way == 2:
        other, name = draw.choice(places)
        node[key] = json.loads(json.dumps(other[name])) if name in _keys(other) else None
    elif isinstance(node, dict):
        node[draw.choice(("x", "", "../x", "kind", "\0"))] = draw.choice(VALUES)
    else:
        node.append(draw.choice(VALUES))
    return copy


def _keys(node: Any) -> Any:
    return node if isinstance(node, dict) else range(len(node))


def as_toml(value: dict[str, Any]) -> str:
    """Tables, and values as JSON writes them, which TOML often reads."""
    plain = [f"{_word(k)} = {_shown(v)}" for k, v in value.items() if not isinstance(v, dict)]
    tables = [
        "\n".join([f"[{_word(key)}]", *(f"{_word(k)} = {_shown(v)}" for k, v in table.items())])
        for key, table in value.items()
        if isinstance(table, dict)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _word(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else json.dumps(key)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(k)} = {_shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, float):
        return str(value)
    return "[]" if value is None else json.dumps(value, ensure_ascii=False)


# -- what is read --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A parser, valid examples, their form (text, json or toml), and its share of all cases."""

    read: Callable[[str], object]
    examples: Sequence[str]
    form: str = "text"
    share: float = 1.0

    def case(self, name: str, number: int) -> str:
        """Case of a number."""
        draw = random.Random(f"{SEED}/{name}/{number}")
        chance = draw.random()
        if chance < 0.1:
            return any_text(draw)
        example = draw.choice(self.examples)
        if chance < 0.6 and self.form != "text":
            read = json.loads if self.form == "json" else tomllib.loads
            value = read(example)
            for _ in range(draw.choice((1, 1, 2, 3))):
                value = spoiled_value(value, draw)
            if self.form == "json" or not isinstance(value, dict):
                return json.dumps(value)
            return as_toml(value)
        return spoiled(example, draw, self.examples)


def _written(path: Path, read: Callable[[Path], object]) -> Callable[[str], object]:
    """A reader of files as a reader of texts."""

    def of_text(text: str) -> object:
        path.write_bytes(
            text.encode(
                "utf-8",
                "surrogateescape" if "\udc80" <= max(text, default="") <= "\udcff" else "replace",
            )
        )
        return read(path)

    return of_text


def targets(scratch: Path) -> dict[str, Target]:
    """All of them; files are written into a scratch folder."""
    cards = ["AS", "TH", "10♦", "9C", "kd", "♠A"]
    hands = ["AKQ.T9.J.A", "AS KS QS TH 9H JD AC", "...", "AKQJT9..."]
    deals = [
        "0",
        "123456789",
        "399072959",
        str(Deal.from_id(123456)),
    ]
    positions = [
        "KQ... | .A.T. | .9.A.", "KQ... | .A.T. | .9.A.; leader 0; trump H; trick 7",
        ".A.. | ..A. | ...; leader 2; table AS; trump none",
    ]  # fmt: skip
    rows = [
        json.dumps({"deal": 12345}), json.dumps(Deal.from_id(99).to_dict()),
        json.dumps({"position": positions[0]}), "hand0,hand1,hand2,leader,trump\n1,2,4,0,4",
    ]  # fmt: skip
    tomls = [rules.to_toml(rules.load(name), comments=False) for name in ("mil", "gamerules")]
    run = scratch / "run"
    collect(Plan.make(deals=20, seed=3, where="marriages=H"), run)
    beside = next((run / "parts").glob("*.json"))
    match = scratch / "match"
    milsim.play_matches(2, out=match)
    table = scratch / "table"
    (table / "parts").mkdir(parents=True)
    hand_plan = TablePlan.make(hands=(0, 8))
    corrections = [path.read_text() for path in DATA.iterdir() if path.suffix == ".json"][:1]
    bias = {
        "correction": {
            "about": {"rules": "x", "mode": "auction", "where": "", "double_dummy": "gifts",
                      "model": "greedy", "deals": 5},
            "knots": [{"marriages": m, "aces": a, "tens": a, "n": 5, "dd": 1.0, "played": 2.0}
                      for m, a in ((None, None), (1, 1))],
        }
    }  # fmt: skip
    from milsim.reports.bias_points import KEYS

    for row in bias["correction"]["knots"]:  # type: ignore[index]
        for key, old in zip(KEYS, ("marriages", "aces", "tens"), strict=True):
            row[key] = row.pop(old)  # type: ignore[attr-defined]

    def manifest_in(folder: Path) -> Callable[[str], object]:
        copy = Path(shutil.copytree(folder, scratch / f"{folder.name}-spoiled"))
        return _written(copy / "manifest.json", lambda path: read_manifest(path.parent))

    def numbers(text: str) -> None:
        for read in (
            parse_seed, shard_of, hands_of, models_of, parse_seconds,
            lambda text: parse_count("deals", text, 1, 10**12),
        ):  # fmt: skip
            try:
                read(text)
            except MilsimError as error:
                one_line(error)

    def settings(text: str) -> object:
        return rules.with_fields("mil", rules.read_settings([text]))

    def lines(text: str) -> None:
        reader = _Reader("mil", "english")
        for line in text.splitlines()[:3]:
            try:
                reader.task(line.strip())
            except MilsimError as error:
                one_line(error)

    def piece(path: Path) -> object:
        from milsim.store.pieces import find_pieces

        return find_pieces(path.parent, json.loads(beside.read_text())["plan"], 0, 20)

    plans = [
        'deals = 10\nseed = [1, 2]\npolicy = ["greedy", ["expert", "greedy", "greedy"]]\n',
        'kind = "matches"\nmatches = 5\nrules = ["mil", "gamerules"]\n',
        'deals = 1e3\nwhere = ["", "marriages=H"]\nmode = "declarer"\n[[grid]]\nseed = 3\n',
        'deals = 100\nrules = {base = "mil", set = {play.must_beat = "no"}, name = "free"}\n',
        "deals = 1_000_000\nci_width = 0.01\n",
    ]
    for_pieces = scratch / "pieces"
    for_pieces.mkdir()
    of_rules = _written(scratch / "rules.toml", rules.load)
    of_policies = _written(scratch / "policy.toml", lambda path: canonical(str(path)))
    of_plans = _written(scratch / "plan.toml", read_grid)
    of_tables = _written(table / "manifest.json", lambda path: Table.open(path.parent))
    table_manifest = text_of(manifest_of(hand_plan))
    (table / "manifest.json").write_text(table_manifest)
    copied = Path(shutil.copytree(table, scratch / "table-parts"))
    opened, content = Table.open(copied), b"PAR1" * 100
    (copied / "parts" / name_of(0)).write_bytes(content)
    piece_of_table = Piece(hand_plan.digest(), 0, 8, (Part.of(0, 8, content),))
    of_table_parts = _written(copied / "parts" / "part-000000000000.json", lambda _: opened.parts)
    sample_plan = SamplePlan.make(hands=3, models={"double-dummy": 2})
    sample_manifest = text_of(manifest_of(sample_plan, SAMPLE_KIND, SAMPLE_SCHEMA))
    (scratch / "sample").mkdir()
    of_samples = _written(
        scratch / "sample" / "manifest.json", lambda path: ModelSample.open(path.parent)
    )
    headers = [
        path.read_bytes().partition(b"\n")[0].decode() for path in sorted(DATA.glob("*.hands"))
    ]
    stopped = Plan.make(deals=20, seed=3, ci_width=0.4)
    collect(stopped, scratch / "stopped")
    ending_file = scratch / "stopped" / "ending.json"
    ending_text = ending_file.read_text()
    endings = _written(ending_file, lambda path: faults_in(path.parent))
    (scratch / "plan").mkdir()
    identity = grid_of({"deals": 10, "seed": [1, 2]}).to_json()
    identities = _written(scratch / "plan" / "plan.json", lambda path: runs_in([path.parent]))
    match_manifest = (match / "manifest.json").read_text()
    wheres = ["marriages=H", "aces>=2 points<40", "four_nines", "marriages=SH tens=2"]
    settings_given = ["play.must_beat=no", "match.target=1001", "auction.minimum=120"]
    specs = ["greedy", "pimc:layouts=64:bid=greedy", "expert:play=greedy"]
    counts = ["1000", "1e6", "2.5M", "1/3", "0:2000", "double-dummy=32,pimc=10", "90.5"]
    return {
        "cards": Target(cards_of, cards),
        "hands": Target(parse_hand, hands),
        "deals": Target(Deal.parse, deals),
        "deals as JSON": Target(lambda text: Deal.from_dict(_json(text)), [rows[1]], "json"),
        "positions": Target(Position.parse, positions),
        "positions or deals": Target(read_position_or_deal, [*positions, *deals]),
        "lines of solve": Target(lines, rows),
        "JSON lines of solve": Target(lines, rows[:3], "json"),
        "where": Target(Where.parse, wheres),
        "rules": Target(rules.parse, tomls, "toml"),
        "rules files": Target(of_rules, tomls, "toml", 0.5),
        "settings": Target(settings, settings_given),
        "policies": Target(canonical, specs),
        "policy files": Target(of_policies, ['policy = "pimc"\nlayouts = 64\n'], "toml"),
        "numbers": Target(numbers, counts),
        "plans": Target(of_plans, plans, "toml"),
        "manifests": Target(manifest_in(run), [(run / "manifest.json").read_text()], "json"),
        "manifests of matches": Target(manifest_in(match), [match_manifest], "json", 0.5),
        "pieces": Target(_written(for_pieces / beside.name, piece), [beside.read_text()], "json"),
        "manifests of tables": Target(of_tables, [table_manifest], "json", 0.5),
        "corrections": Target(of_corrections, corrections, "json", 0.02),
        "packed tables": Target(of_header, headers, "json", 0.5),
        "parts of tables": Target(of_table_parts, [piece_of_table.to_json()], "json", 0.5),
        "manifests of samples": Target(of_samples, [sample_manifest], "json", 0.5),
        "endings": Target(endings, [ending_text], "json", 0.2),
        "identities of plans": Target(identities, [identity], "json", 0.5),
        "bias tables": Target(
            _written(scratch / "bias.json", BiasTable.read), [json.dumps(bias)], "json", 0.5
        ),
    }


def of_header(text: str) -> object:
    return _header(text.encode("utf-8", "replace"), "x")


def faults_in(folder: Path) -> object:
    """What is wrong with what a run folder holds, or the run."""
    manifest, faults = stored_manifest(folder, read_identity(folder))
    for fault in faults:
        one_line(RunError(str(fault)))
    return manifest


def of_corrections(text: str) -> object:
    return Corrections.from_text(text, "x")


def cards_of(text: str) -> object:
    for letters in ("polish", "russian"):
        try:
            parse_card(text, letters=letters)
        except MilsimError as error:
            one_line(error)
    return parse_card(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MilsimError("no JSON") from None


def one_line(error: MilsimError) -> None:
    """A message is short and one line, whatever was read."""
    text = str(error)
    assert text, repr(error)
    assert "\n" not in text, text
    assert "\r" not in text, text
    assert len(text) < 1500, text[:3000]


def run(name: str, target: Target, first: int, count: int) -> Iterator[str]:
    """Cases of a target; what is wrong with each that is."""
    for number in range(first, first + count):
        text = target.case(name, number)
        try:
            target.read(text)
        except MilsimError as error:
            try:
                one_line(error)
            except AssertionError as wrong:
                yield f"{name}, case {number}: {text[:300]!r}: {wrong}"
        except Exception as error:
            kind = type(error).__name__
            yield f"{name}, case {number}: {text[:300]!r}: {kind}: {str(error)[:200]}"
