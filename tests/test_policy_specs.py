"""Specs of policies: one canonical text for all ways to write one, and errors that help."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module

import numpy as np
import pytest

import milsim
from milsim.errors import PolicyError
from milsim.policies import Policy, legal_bids, legal_cards, register
from milsim.policies.origins import origin_of
from milsim.policies.spec import PolicySpec, canonical, maker, parse_spec, spec_names
from milsim.policies.user import UserPlayer
from milsim.rules import preset_names
from milsim.simulation.engine import play
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from tests.command_line import Shell


class Cheapest(Policy):
    """Plays its cheapest card."""

    def __init__(self, depth=1, brave=False, boldness=0.5, word="x"):
        self.depth, self.brave, self.boldness, self.word = depth, brave, boldness, word

    def bid(self, view):
        bids = legal_bids(view)
        return bids[0] if bids and self.brave else 0

    def card(self, view):
        return min(legal_cards(view), key=lambda card: card % 6)


@pytest.fixture
def cheapest():
    register("cheapest", Cheapest)


def rows_of(plan, threads=1):
    chunks = list(play(plan, threads=threads))
    return np.concatenate([chunk.values for chunk in chunks], axis=1)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("greedy", "greedy"),
        (" greedy:play=greedy ", "greedy"),
        ("greedy:bid=random", "greedy:bid=random"),
        ("random:play=greedy", "greedy:bid=random:exchange=random"),
        ("pimc:layouts=64:bid=greedy", "pimc:bid=greedy:layouts=64"),
        ("pimc:layouts=32", "pimc"),
        ("cheapest:brave=true:depth=3", "cheapest:brave=true:depth=3"),
        ("cheapest:brave=False:depth=1", "cheapest"),
    ],
)
def test_the_same_play_has_the_same_text(cheapest, text, spec):
    assert canonical(text) == spec
    assert canonical(spec) == spec
    assert str(parse_spec(spec)) == spec


def test_a_file_is_a_spec(tmp_path, cheapest):
    path = tmp_path / "deep.toml"
    path.write_text('policy = "pimc"\nbid = "greedy"\nlayouts = 64\n')
    assert canonical(str(path)) == "pimc:bid=greedy:layouts=64"
    plan = Plan.make(deals=1, policy=f"greedy,{path},random")
    assert plan.policies == ("greedy", "pimc:bid=greedy:layouts=64", "random")
    path.write_text('policy = "cheapest"\ndepth = 2\nbrave = true')
    assert canonical(str(path)) == "cheapest:brave=true:depth=2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gredy", "unknown policy 'gredy': did you mean greedy?"),
        ("greedy:bid=randum", "policy 'greedy:bid=randum': unknown policy 'randum': did you mean"),
        ("pimc:layout=3", "no parameter 'layout': did you mean layouts?"),
        ("greedy:layouts=3", "no parameter 'layouts'"),
        ("pimc:layouts=x", "layouts: 'x' is no whole number"),
        ("pimc:layouts=0", "layouts: 0 is out of range; use 1 to"),
        ("pimc:layouts", "'layouts' is not key=value"),
        ("pimc:layouts=3:layouts=4", "layouts is given twice"),
        ("cheapest:brave=perhaps", "brave: 'perhaps'; true or false"),
        ("", "unknown policy ''"),
        ("nowhere.toml", "policy file nowhere.toml: no such file"),
    ],
)
def test_a_mistake_is_one_line_with_the_right_name(cheapest, text, words):
    with pytest.raises(PolicyError) as caught:
        parse_spec(text).player()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("layouts = 3", "no key policy"),
        ('policy = "pimc"\nlayouts = "many"', "layouts: 'many' is not like 32"),
        ('policy = "pimc"\nlayouts = true', "layouts: True is not like 32"),
        ("policy = 3", "policy is a policy's name, not 3"),
        ('policy = "pimc', "policy file"),
        ('policy = "cheapest"\ndepth = 1.5', "depth: 1.5 is not like 1"),
    ],
)
def test_a_mistake_in_a_file_names_the_file(tmp_path, cheapest, content, words):
    path = tmp_path / "bad.toml"
    path.write_text(content)
    with pytest.raises(PolicyError) as caught:
        parse_spec(str(path))
    assert words in str(caught.value)
    assert "bad.toml" in str(caught.value)


ODD_TEXTS = {
    "nothing": "",
    "spaces": "  ",
    "a colon": ":",
    "nothing after a colon": "greedy:",
    "no key": "greedy:=random",
    "no value": "greedy:bid=",
    "a part twice": "greedy:bid=random:bid=greedy",
    "the policy twice": "greedy:policy=random",
    "an unknown key": "greedy:colour=red",
    "negative": "pimc:layouts=-1",
    "huge": "pimc:layouts=99999999999999999999",
    "longer than Python reads": "pimc:layouts=" + "9" * 5000,
    "not whole": "pimc:layouts=1.5",
    "digits of another script": "pimc:layouts=\u0663",
    "not a number": "cheapest:boldness=nan",
    "endless": "cheapest:boldness=inf",
    "another name in a part": "greedy:play=gr\u00fcn",
    "letters of a terminal": "\x1b[31mgreedy",
    "a letter of no width": "greedy\u200b",
    "very long": "x" * 100_000,
    "a long word": "cheapest:word=" + "x" * 1000,
    "a word of a terminal": "cheapest:word=\x1b[31m",
    "a very long file": "x" * 5000 + ".toml",
    "a file and settings": "deep.toml:bid=random",
}

ODD_FILES = {
    "empty": b"",
    "binary": b"\xff\xfe\x00",
    "null": b"\x00",
    "huge": b"# " + b"x" * 300_000,
    "a list": b'policy = "pimc"\nlayouts = [1]',
    "a table": b'policy = "greedy"\n[play]\nx = 1',
    "a date": b'policy = "pimc"\nlayouts = 2026-01-01',
    "text for a number": b'policy = "pimc"\nlayouts = "many"',
    "a truth value for a number": b'policy = "pimc"\nlayouts = true',
    "a number too large": b'policy = "cheapest"\ndepth = 0x1' + b"0" * 5000,
    "endless": b'policy = "cheapest"\nboldness = inf',
    "a key twice": b'policy = "pimc"\nlayouts = 1\nlayouts = 2',
    "an unknown key": b'policy = "pimc"\nlayout = 3',
    "a word with a comma": b'policy = "cheapest"\nword = "a,b"',
    "letters of a terminal": b'policy = "gr\\u001beedy"',
    "a list of policies": b'policy = ["greedy"]',
    "deep": b"policy = " + b"[" * 50_000,
    "a list of nothing": b"[[policy]]",
}


@pytest.mark.parametrize("kind", ODD_TEXTS)
def test_an_odd_text_is_one_line_and_exit_code_3(monkeypatch, capfd, cheapest, kind):
    outcome = Shell(monkeypatch, capfd)("arena", "greedy", ODD_TEXTS[kind], "--deals", 1)
    check_refusal(outcome)


@pytest.mark.parametrize("kind", [*ODD_FILES, "a folder", "a loop", "no letters of a line"])
def test_an_odd_file_is_one_line_and_exit_code_3(monkeypatch, capfd, cheapest, tmp_path, kind):
    path = tmp_path / ("a\nb.toml" if kind == "no letters of a line" else "odd.toml")
    if kind == "a folder":
        path.mkdir()
    elif kind == "a loop":
        path.symlink_to(path)
    else:
        path.write_bytes(ODD_FILES.get(kind, b""))
    outcome = Shell(monkeypatch, capfd)("simulate", "--deals", 1, "--policy", path)
    check_refusal(outcome)
    assert "policy file " in outcome.err


def check_refusal(outcome):
    assert (outcome.code, outcome.out) == (3, "")
    (line,) = outcome.err.splitlines()
    assert line.isprintable()
    assert len(line) < 400
    assert "policy" in line
    assert "Error:" not in line


def test_names_that_cannot_be_taken():
    for name in ("greedy", "a,b", "a:b", "", "x.toml", "bid", 3, "x" * 100, "a\x1bb", "a b"):
        with pytest.raises(PolicyError):
            register(name, Policy)
    with pytest.raises(PolicyError, match="parameter depth has no default"):
        register("needs", type("Needs", (), {"__init__": lambda self, depth: None}))


def test_an_entry_point_is_a_name(monkeypatch):
    class Point:
        name, value = "theirs", "their_bots:Cheapest"

        def load(self):
            return Cheapest

    class Broken(Point):
        name, value = "broken", "nothing:Here"

        def load(self):
            raise ModuleNotFoundError("no module\nnamed nothing")

    points = {"theirs": Point(), "broken": Broken()}
    monkeypatch.setattr("milsim.policies.spec._entry_points", lambda: points)

    class Package:
        name, version = "their-bots", "1.2"

    points["theirs"].dist = Package
    assert {"theirs", "broken", "greedy", "pimc", "oracle"} <= set(spec_names())
    assert canonical("theirs:depth=2") == "theirs:depth=2"
    assert maker("theirs").origin.startswith("their-bots 1.2, tests.test_policy_specs:Cheapest, ")
    with pytest.raises(PolicyError, match="policy broken: nothing:Here cannot be loaded"):
        maker("broken")


@pytest.mark.parametrize("rules", preset_names())
def test_the_base_of_users_policies_is_greedy(rules):
    register("plain", Policy)
    for mode in ("auction", "declarer"):
        mine = Plan.make(deals=30, seed=5, rules=rules, policy="plain", mode=mode)
        greedy = Plan.make(deals=30, seed=5, rules=rules, policy="greedy", mode=mode)
        assert (rows_of(mine, 2) == rows_of(greedy)).all()


def test_parts_are_those_of_their_policies():
    whole = rows_of(Plan.make(deals=40, policy="greedy"))
    parts = PolicySpec("greedy", "greedy", "greedy")
    assert parts.number == 1
    mixed = rows_of(Plan.make(deals=40, policy="random:bid=greedy:exchange=greedy"))
    auction = slice(1, 9)  # declarer to gifts
    assert (whole[auction] == mixed[auction]).all()
    assert (whole != mixed).any()


def test_a_match_with_a_user_policy(cheapest):
    plan = MatchPlan.make(matches=3, policy="cheapest:brave=true,greedy,greedy", seed=3)
    one = [chunk.results.tolist() for chunk in play_match_plan(plan, threads=1)]
    two = [chunk.results.tolist() for chunk in play_match_plan(plan, threads=2)]
    assert one == two


def test_a_run_says_who_played_and_reads_without_them(tmp_path, monkeypatch, cheapest):
    run = milsim.simulate(40, policy="cheapest:depth=3,greedy,random", seed=2, out=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["plan"]["policies"] == ["cheapest:depth=3", "greedy", "random"]
    monkeypatch.setattr("milsim.policies.spec._registered", {})
    again = milsim.open_run(tmp_path / "run")
    assert again.plan == run.plan
    assert "cheapest:depth=3" in again.play


BOT = """from milsim.policies import Policy

class Mine(Policy):
    def bid(self, view):
        return {bid}
"""


def test_a_run_says_which_code_played(tmp_path, monkeypatch):
    """The same name with other code is seen in manifest and provenance; old runs still read."""
    monkeypatch.syspath_prepend(tmp_path)
    told = []
    for number, bid in enumerate(("0", "0", "int(0)")):
        (tmp_path / f"bots_{number}.py").write_text(BOT.format(bid=bid))
        register("changing", import_module(f"bots_{number}").Mine)
        folder = tmp_path / f"run{number}"
        run = milsim.simulate(3, policy="greedy,changing:play=random,changing", out=folder)
        (origin,) = run.manifest.origins.values()
        place, _, digest = origin.partition(", sha256 ")
        assert place == f"bots_{number}:Mine"
        assert f" · changing: {place}, sha256 {digest[:8]}" in run.provenance()
        assert milsim.open_run(folder).provenance() == run.provenance()
        told.append(digest)
    assert told[0] == told[1] != told[2]
    manifest = milsim.simulate(3, out=tmp_path / "plain").manifest
    assert manifest.origins == {}
    assert not any("policy" in key for key in manifest.versions)


def test_origins_of_odd_makers():
    def maker(depth=1):
        return Policy()

    made = type("Typed", (Policy,), {"card": lambda self, view: 0, "__module__": "nowhere"})
    for factory, place in (
        (maker, ":test_origins_of_odd_makers.<locals>.maker, sha256 "),
        (partial(maker, depth=2), ".<locals>.maker, sha256 "),
        (made, "nowhere:Typed, sha256 "),
        (Policy, "milsim.policies.user:Policy, sha256 "),
    ):
        assert place in origin_of(factory, "bots 1.0")
        assert origin_of(factory, "bots 1.0").startswith("bots 1.0, ")
        assert origin_of(factory) == origin_of(factory)
    other = type("Typed", (Policy,), {"card": lambda self, view: 1, "__module__": "nowhere"})
    assert origin_of(made) != origin_of(other)


def test_a_decision_nearly_spelt_is_refused():
    class Misspelt(Policy):
        def cards(self, view):
            return legal_cards(view)[0]

    class Helped(Policy):
        def card(self, view):
            return self.cards(view)[0]

        def cards(self, view):
            return legal_cards(view)

    class Named(Policy):
        def choose_card(self, view):
            return legal_cards(view)[0]

    class Loud(Policy):
        def Card(self, view):  # noqa: N802
            return legal_cards(view)[0]

    with pytest.raises(PolicyError, match="choose_card is no decision, and it has none of its own"):
        milsim.check_policy(Named, deals=1)
    with pytest.raises(PolicyError, match="did you mean card"):
        milsim.check_policy(Loud, deals=1)
    with pytest.raises(PolicyError, match=r"^policy Misspelt: cards is no decision; .* card\?$"):
        milsim.check_policy(Misspelt, deals=1)
    assert milsim.check_policy(Helped, deals=1) > 0


@pytest.mark.parametrize("name", ["../x", "a/b", "a.b", "-", "a=b", "x y", "x.toml", "", "_"])
def test_a_name_is_letters_digits_and_two_signs(name):
    with pytest.raises(PolicyError, match="letters, digits, - and _ make a name"):
        milsim.policies.register(name, Policy)


@pytest.mark.parametrize("text", ["pimc:", ":pimc", ":", "pimc:layouts=4:"])
def test_a_spec_with_nothing_at_an_end_is_told_how_to_write_it(text):
    with pytest.raises(PolicyError, match="write it NAME or NAME:key=value"):
        parse_spec(text)


def test_a_part_is_a_name_alone(tmp_path):
    (tmp_path / "p.toml").write_text('policy = "greedy"\nplay = "pimc:playouts=4"\n')
    with pytest.raises(PolicyError, match="a name alone is needed here"):
        parse_spec(str(tmp_path / "p.toml"))


def test_check_policy_finds_what_is_wrong():
    class Moody(Policy):
        def __init__(self):
            self.asked = 0

        def card(self, view):
            self.asked += 1
            return legal_cards(view)[self.asked % 2]

    class Wordy(Policy):
        def gifts(self, view):
            return "AS"

    class Lazy:
        def bid(self, view):
            return 1 / 0

    class Fair(Policy):
        pass

    for policy, words in (
        (Moody, "must depend on the view alone"),
        (Wordy, "gifts: 'AS' is not two cards"),
        (Lazy, "ZeroDivisionError: division by zero"),
        ("gredy", "did you mean greedy?"),
    ):
        with pytest.raises(PolicyError, match=words):
            milsim.check_policy(policy, deals=3)
    for rules in preset_names():
        assert milsim.check_policy(Fair, rules=rules, deals=8) > 8 * 15
    assert not UserPlayer(Fair()).sees_all
