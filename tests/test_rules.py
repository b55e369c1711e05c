"""Rule sets: presets, files, refusals, digests and the packed form."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milsim.errors import RulesError
from milsim.rules import (
    OFF,
    Rules,
    diff,
    digest,
    field_kinds,
    load,
    packed,
    parse,
    place_of,
    preset_names,
    read_settings,
    save,
    template,
    to_toml,
    values_of,
    with_fields,
    word_of,
)
from milsim.rules.fields import build
from tests.command_line import Shell
from tests.strategies import any_rules

# RULES.md §2: the fields of each table, and what is bold there.
MIL = {
    "deal.players": 3,
    "deal.marriage_values.spades": 40,
    "deal.marriage_values.clubs": 60,
    "deal.marriage_values.diamonds": 80,
    "deal.marriage_values.hearts": 100,
    "deal.four_nines": "optional",
    "deal.four_nines_when": "before_auction",
    "deal.low_hand": 10,
    "deal.low_hand_marriage": "only_without_marriage",
    "deal.low_talon_points": 0,
    "deal.low_talon_nines": 0,
    "deal.redeal_dealer": "same",
    "deal.four_nines_bonus": 0,
    "auction.opener": "forehand_forced",
    "auction.minimum": 100,
    "auction.step": 10,
    "auction.raise_by": "any_multiple",
    "auction.cap": "marriages",
    "auction.cap_points": 120,
    "auction.passing": "final",
    "auction.silence_below": "off",
    "auction.dark": False,
    "talon.shown": "always",
    "talon.gifts": "face_down",
    "talon.raise_contract": True,
    "talon.cap_basis": "kept8",
    "talon.concede": "off",
    "play.must_beat": "if_can_win",
    "play.must_trump": True,
    "play.must_overtrump": True,
    "play.cannot_overtrump": "any_trump",
    "play.marriage_from_trick": 2,
    "play.marriage_until_trick": 8,
    "play.marriage_card": "king_or_queen",
    "play.marriage_declaration": "automatic",
    "play.trump_effect": "immediate",
    "play.ace_marriage": 0,
    "play.last_trick_bonus": 0,
    "scoring.made_test": "raw",
    "scoring.success": "contract",
    "scoring.failure": "minus_contract",
    "scoring.defender_rounding": "nearest_10_half_down",
    "match.target": 1000,
    "match.lock": 800,
    "match.defender_cap": 990,
    "match.barrel": "off",
    "match.bolts": "off",
    "match.dump_truck": "off",
    "match.golden": "off",
    "match.sitter": "nothing",
    "match.ties": "declarer_then_highest",
}

DIFFERENCES = {
    "mil-500": {"match.target": 500, "match.lock": 400, "match.defender_cap": 490},
    "gamerules": {
        "deal.four_nines_when": "after_exchange",
        "deal.low_hand": 0,
        "auction.opener": "forehand_may_pass",
        "auction.step": 5,
        "auction.cap": "gate",
        "play.must_beat": "no",
        "play.must_overtrump": False,
        "scoring.defender_rounding": "nearest_5",
        "match.lock": "off",
        "match.defender_cap": "off",
    },
    "pagat": {
        "deal.four_nines_when": "after_exchange",
        "deal.low_hand": 0,
        "auction.step": 5,
        "auction.cap": "gate",
        "talon.concede": "before_gifts",
        "talon.concede_cost": "every_third_120",
        "play.must_beat": "no",
        "play.must_overtrump": False,
        "scoring.defender_rounding": "nearest_5",
        "match.lock": "off",
        "match.defender_cap": "off",
        "match.barrel": 880,
        "match.bolts": "zero_points",
    },
    "polish": {
        "deal.low_hand": 0,
        "auction.cap": "gate",
        "scoring.defender_rounding": "nearest_10_half_up",
        "match.defender_cap": "off",
    },
    "polish-900": {
        "deal.four_nines": "mandatory",
        "auction.raise_by": "exact_step",
        "talon.concede": "before_gifts",
        "talon.concede_cost": "first_free_then_bid",
        "play.must_trump": False,
        "play.must_overtrump": False,
        "play.marriage_from_trick": 1,
        "scoring.defender_rounding": "nearest_10_half_up",
        "match.lock": 900,
        "match.defender_cap": "off",
    },
    "russian": {
        "deal.low_hand": 14,
        "deal.low_talon_points": 5,
        "deal.low_talon_at": "minimum_only",
        "auction.step": 5,
        "auction.silence_below": -120,
        "auction.dark": True,
        "talon.concede": "before_gifts",
        "talon.concede_limit": 3,
        "play.must_beat": "no",
        "play.must_overtrump": False,
        "scoring.defender_rounding": "nearest_5",
        "match.target": 1005,
        "match.lock": "off",
        "match.defender_cap": "off",
        "match.barrel": 880,
        "match.barrel_failed": "attempt",
        "match.barrel_newcomer": "coexists",
        "match.jump_over": "mounts",
        "match.bolts": "zero_tricks",
        "match.bolts_counted": "in_a_row",
        "match.dump_truck": "plus",
    },
    "clubs-100": {
        "deal.marriage_values.spades": 80,
        "deal.marriage_values.clubs": 100,
        "deal.marriage_values.diamonds": 40,
        "deal.marriage_values.hearts": 60,
        "deal.four_nines": "off",
        "deal.four_nines_bonus": 100,
        "play.must_beat": "no",
        "scoring.defender_rounding": "none",
        "match.lock": "off",
        "match.defender_cap": "off",
        "match.barrel": 880,
    },
}


def test_mil_is_what_the_seeds_say() -> None:
    values = values_of(load("mil"))
    assert {path: values[path] for path in MIL} == MIL


def test_all_presets_ship() -> None:
    assert set(preset_names()) == {"mil", *DIFFERENCES}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_presets_differ_from_mil_where_they_should(name: str) -> None:
    found = {d.path: d.second for d in diff(load("mil"), load(name))}
    assert found == DIFFERENCES[name]


def test_the_file_of_mil_writes_out_every_field() -> None:
    import milsim.rules as package

    text = (Path(package.__file__).parent / "presets" / "mil.toml").read_text()
    for path in field_kinds():
        assert f"{'.'.join(path.split('.')[1:])} = " in text, path


@pytest.mark.parametrize("name", preset_names())
def test_presets_name_their_source(name: str) -> None:
    assert load(name).name == name
    assert len(load(name).source) > 5


@given(any_rules())
def test_toml_round_trip(rules: Rules) -> None:
    assert parse(to_toml(rules)) == rules
    assert parse(to_toml(rules, comments=False)) == rules


@given(any_rules())
def test_packed_holds_every_field(rules: Rules) -> None:
    array = packed(rules)
    assert array.shape == (len(field_kinds()),)
    assert not array.flags.writeable
    for path, value in values_of(rules).items():
        found = int(array[place_of(path)])
        if isinstance(value, str):
            assert found == (OFF if field_kinds()[path].bounds else word_of(path, value))
        else:
            assert found == int(value)


def test_saved_and_loaded(tmp_path: Path) -> None:
    rules = load("gamerules")
    save(rules, tmp_path / "mine.toml")
    assert load(tmp_path / "mine.toml") == rules
    assert load(str(tmp_path / "mine.toml")) == rules


def test_based_on_takes_the_rest_from_a_preset() -> None:
    rules = parse('based_on = "gamerules"\n[play]\nmust_trump = false')
    assert {d.path for d in diff(load("gamerules"), rules)} == {"play.must_trump"}


def test_digest_is_of_the_game_only() -> None:
    rules = load("mil")
    assert digest(dataclasses.replace(rules, name="other", source="me")) == digest(rules)
    assert digest(parse("[play]\nlast_trick_bonus = 10")) != digest(rules)
    # Pinned: stored runs name their rules by it.
    assert digest(rules)[:16] == "ecbf939f2408f9e3"


# Text, and what the error must say: table and field, the value, and what is right.
REFUSED = {
    "unknown table": ("[plays]\nmust_trump = true", ["plays", "did you mean play?"]),
    "unknown field": ("[play]\nmust_bet = 'no'", ["play.must_bet", "did you mean must_beat?"]),
    "unknown suit": (
        "[deal.marriage_values]\nheart = 1",
        ["deal.marriage_values.heart", "did you mean hearts?"],
    ),
    "unknown word": ("[play]\nmust_beat = 'alway'", ["play.must_beat", "alway", "always?"]),
    "switch for a word": ("[play]\nmust_beat = true", ["play.must_beat", "true", "if_can_win"]),
    "word for a switch": (
        "[play]\nmust_trump = 'yes'",
        ["play.must_trump", "yes", "true or false"],
    ),
    "number for a switch": ("[play]\nmust_trump = 1", ["play.must_trump", "true or false"]),
    "switch for a number": ("[auction]\nminimum = true", ["auction.minimum", "whole number"]),
    "fraction": ("[auction]\nminimum = 100.5", ["auction.minimum", "100.5", "whole number"]),
    "nan": ("[auction]\nminimum = nan", ["auction.minimum", "nan", "whole number"]),
    "text for a number": ("[auction]\nminimum = '100'", ["auction.minimum", "'100'"]),
    "zero minimum": ("[auction]\nminimum = 0", ["auction.minimum", "from 10 to 400"]),
    "step": ("[auction]\nstep = 7", ["auction.step", "7", "one of: 5, 10"]),
    "step and minimum": ("[auction]\nstep = 6\nminimum = 102", ["auction.step: 6", "5, 10"]),
    "list": ("[auction]\nminimum = [100]", ["auction.minimum", "a table or list"]),
    "table for a field": ("[auction.minimum]\nx = 1", ["auction.minimum"]),
    "value for a table": ("play = 5", ["play", "table [play]"]),
    "date": ("[auction]\nminimum = 2020-01-01", ["auction.minimum", "2020-01-01"]),
    "base that is a file": ("based_on = 'mine.toml'", ["mine.toml", "no preset"]),
    "number of 5000 digits": ("[auction]\nminimum = " + "1" * 5000, ["not valid toml"]),
    "value for the marriages": ("[deal]\nmarriage_values = 40", ["a table [deal.marriage_values]"]),
    "empty name": ("name = ''", ["name", "1 to 500"]),
    "base": ("based_on = 'mill'", ["mill", "did you mean mil?"]),
    "name": ("name = 5", ["name"]),
    "broken toml": ("[play\n", ["not valid toml"]),
    "off for a word": ("[auction]\ncap = 'off'", ["auction.cap", "off"]),
    # Contradictions.
    "minimum off the step": ("[auction]\nminimum = 105", ["auction.minimum", "105", "step", "100"]),
    "cap off the step": ("[auction]\ncap_points = 125", ["auction.cap_points", "125"]),
    "cap below minimum": ("[auction]\ncap_points = 90", ["auction.cap_points", "90", "100"]),
    "marriage window": (
        "[play]\nmarriage_from_trick = 5\nmarriage_until_trick = 4",
        ["play.marriage_from_trick", "5", "4"],
    ),
    "bonus and redeal": ("[deal]\nfour_nines_bonus = 100", ["deal.four_nines_bonus", "off"]),
    "lock": ("[match]\nlock = 1000", ["match.lock", "1000", "800"]),
    "defender's cap": ("[match]\ntarget = 900\nlock = 700", ["match.defender_cap", "990", "890"]),
    "barrel": ("[match]\nbarrel = 1000", ["match.barrel", "880"]),
    "dark": ("[auction]\ndark = true\nminimum = 130\ncap_points = 130", ["auction.dark", "130"]),
    "dark above the cap": (
        "[auction]\ndark = true\ncap = 'fixed'\ncap_points = 110",
        ["auction.dark", "auction.cap_points 110"],
    ),
    "golden": (
        "[auction]\nminimum = 130\ncap_points = 130\n[match]\ngolden = 'minimum_120'",
        ["match.golden", "130"],
    ),
    "minimum nobody can make": (
        "[auction]\nminimum = 200\ncap_points = 200\n[deal.marriage_values]\nspades = 0\n"
        "clubs = 0\ndiamonds = 0\nhearts = 0",
        ["auction.minimum: 200", "120"],
    ),
    "all silent in the end": (
        "[auction]\nsilence_below = -120\nopener = 'forehand_may_pass'\nall_pass = 'redeal_next'",
        ["auction.silence_below", "-120", "dealer_plays"],
    ),
    "a number too long for decimals": ("[match]\ntarget = 0x" + "f" * 4000, ["match.target: 0xff"]),
    "sitter of three": (
        "[match]\nsitter = 'talon_points'",
        ["match.sitter: talon_points", "deal.players = 4"],
    ),
    "barrel and lock": ("[match]\nbarrel = 880", ["match.lock: 800", "match.barrel 880", "off"]),
    "barrel too far down": (
        "[match]\nlock = 'off'\nbarrel = 500",
        ["match.barrel: 500", "500 below match.target 1000", "400", "600 or more"],
    ),
    "barrel too far down for a fixed cap": (
        "based_on = 'pagat'\n[auction]\ncap = 'fixed'\ncap_points = 100",
        ["match.barrel: 880", "100", "900 or more"],
    ),
    "barrel on the dump truck": (
        "[match]\nlock = 'off'\ndefender_cap = 'off'\ntarget = 800\nbarrel = 555\n"
        "dump_truck = 'plus'",
        ["match.barrel", "555", "match.dump_truck"],
    ),
    "dump truck past the target": (
        "based_on = 'mil-500'\n[match]\ndump_truck = 'plus'",
        ["match.dump_truck: 555", "match.target 500"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_field_value_and_the_right_one(name: str) -> None:
    text, words = REFUSED[name]
    with pytest.raises(RulesError) as caught:
        parse(text)
    message = str(caught.value)
    assert "\n" not in message
    assert message[0].islower()
    for word in words:
        assert word in message


# What looks odd and is played somewhere, or simply has nothing to do.
ODD = {
    "prices of a barrel that is off": "[match]\nbarrel_penalty = 60\nbarrel_falls = 3",
    "a low talon's moment without the right": "[deal]\nlow_talon_at = 'minimum_only'",
    "overtrumping without trumping": "[play]\nmust_trump = false\nmust_overtrump = true",
    "the game to 1001": "[match]\ntarget = 1001\nlock = 900",
    "a cap below the lock": "[match]\ndefender_cap = 790",
    "no marriages in the last trick": "[play]\nmarriage_from_trick = 8",
    "all silent, but forehand must open": "[auction]\nsilence_below = 0",
    "barrel and defenders' cap": "[match]\nlock = 'off'\nbarrel = 880",
    "four at the table": "[deal]\nplayers = 4\n[match]\nsitter = 'aces_and_marriages'",
    "a dark bid at the minimum of 120": "[auction]\nminimum = 120\ndark = true",
    "golden deals with a low cap": ("[auction]\ncap_points = 100\n[match]\ngolden = 'minimum_120'"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_some_home_plays_is_not_refused(name: str) -> None:
    assert parse(ODD[name]) != load("mil")


def test_rules_put_together_in_python_are_checked_too() -> None:
    mil = load("mil")
    with pytest.raises(RulesError, match=r"match\.lock: 1000"):
        load(dataclasses.replace(mil, match=dataclasses.replace(mil.match, lock=1000)))
    wrong = dataclasses.replace(mil.play, must_beat="alway")  # type: ignore[arg-type]
    with pytest.raises(RulesError, match=r"play\.must_beat: 'alway' is not allowed; did you mean"):
        load(dataclasses.replace(mil, play=wrong))
    with pytest.raises(RulesError, match="rules: not made of"):
        load(dataclasses.replace(mil, play=None))  # type: ignore[arg-type]
    wrong = dataclasses.replace(mil.play, must_beat=["no"])  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="rules: not made of"):
        load(dataclasses.replace(mil, play=wrong))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.toml").write_bytes(b"#" * 200_000)
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    for name, words in {
        "binary": "not utf-8",
        "large": "more than 100000 bytes",
        "folder": "is a directory",
        "pipe": "not a regular file",
        "missing": "no such file",
    }.items():
        with pytest.raises(RulesError, match=words):
            load(tmp_path / f"{name}.toml")
    with pytest.raises(RulesError, match="int given"):
        load(5)  # type: ignore[arg-type]


@given(st.text(max_size=200))
def test_garbage_is_refused_or_rules(text: str) -> None:
    try:
        parse(text)
    except RulesError as error:
        assert "\n" not in str(error)  # noqa: PT017


@given(st.dictionaries(st.sampled_from(sorted(field_kinds())), st.integers() | st.text()))
def test_drawn_values_are_refused_or_kept(values: dict[str, int | str]) -> None:
    try:
        rules = build(dict(values), name="drawn", source="")
    except RulesError:
        return
    assert {path: values_of(rules)[path] for path in values} == values


def test_a_changed_preset_does_not_keep_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(load("mil")))
    assert load(path).name == "mil"
    path.write_text(to_toml(load("mil")).replace("must_trump = true", "must_trump = false"))
    assert load(path).name == "mil-changed"


# -- single fields set otherwise -----------------------------------------------------------------


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def test_fields_set_otherwise_change_name_source_and_digest() -> None:
    rules = with_fields("gamerules", {"play.must_trump": False, "auction.cap": "none"})
    assert rules.name == "gamerules-changed"
    assert rules.source == (
        "seed 001 (Welsh); changed: auction.cap = none, play.must_trump = false"
    )
    assert {d.path for d in diff(load("gamerules"), rules)} == {"auction.cap", "play.must_trump"}
    assert digest(rules) != digest(load("gamerules"))
    assert parse(to_toml(rules)) == rules
    again = with_fields(rules, {"auction.step": 10})
    assert again.name == "gamerules-changed"
    assert len(again.source) <= 500


def test_what_changes_nothing_leaves_the_rules_alone() -> None:
    assert with_fields("mil", {}) is load("mil")
    assert with_fields("mil", {"match.lock": 800}) is load("mil")


def test_many_changes_still_make_a_file_that_loads() -> None:
    fields = read_settings(
        f"{path}={kind.words[-1]}" for path, kind in field_kinds().items() if len(kind.words) > 1
    )
    fields |= {"deal.players": 4, "talon.concede_gain": 50}
    rules = with_fields("mil", fields)
    assert parse(to_toml(rules)) == rules


@given(any_rules(), any_rules())
def test_any_rules_can_be_reached_from_any_others(first: Rules, second: Rules) -> None:
    texts = [
        f"{path}={str(value).lower() if isinstance(value, bool) else value}"
        for path, value in values_of(second).items()
    ]
    assert digest(with_fields(first, read_settings(texts))) == digest(second)


REFUSED_SETTINGS = {
    "play.must_beat": (2, ["set: 'play.must_beat'", "FIELD=VALUE", "play.must_beat=no"]),
    "": (2, ["set: ''"]),
    "play.must_bet=no": (3, ["play.must_bet", "did you mean play.must_beat?"]),
    "must_beat=no": (3, ["must_beat", "did you mean play.must_beat?"]),
    "lock=off": (3, ["lock", "did you mean match.lock?"]),
    "play=no": (3, ["play", "unknown field"]),
    "=no": (3, ["unknown field"]),
    "a\nb=no": (3, ["unknown field"]),
    "play.must_beat=": (3, ["play.must_beat: ''", "if_can_win"]),
    "play.must_beat=alway": (3, ["play.must_beat: 'alway'", "did you mean always?"]),
    "play.must_trump=maybe": (3, ["play.must_trump: 'maybe'", "true or false"]),
    "auction.minimum=1e2": (3, ["auction.minimum: '1e2'", "from 10 to 400"]),
    "auction.minimum=4000": (3, ["auction.minimum: 4000", "from 10 to 400"]),
    "auction.step=7": (3, ["auction.step: 7", "5, 10"]),
    "match.lock=1000": (3, ["match.lock: 1000", "match.target 1000"]),
    "match.lock=no": (3, ["match.lock: 'no'", "one of: off"]),
}


@pytest.mark.parametrize("setting", REFUSED_SETTINGS)
@pytest.mark.parametrize(
    "verb", ["rules show", "rules check mil", "rules diff mil", "simulate", "solve 1"]
)
def test_a_bad_setting_is_one_line(shell: Shell, setting: str, verb: str) -> None:
    code, words = REFUSED_SETTINGS[setting]
    outcome = shell(*verb.split(), "--set", setting)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err


def test_set_on_the_command_line(shell: Shell) -> None:
    changes = ("--set", "play.must_beat=no", "--set", "play.must_trump=no")
    shown = shell("rules", "show", "mil", *changes)
    assert parse(shown.out).play == dataclasses.replace(
        load("mil").play, must_beat="no", must_trump=False
    )
    assert shell("rules", "check", "mil", *changes).out.startswith("mil: ok, mil-changed, digest ")
    lines = shell("rules", "diff", "mil", *changes).out.splitlines()
    assert [line.split() for line in lines] == [
        ["field", "mil", "mil-changed"],
        ["play.must_beat", "if_can_win", "no"],
        ["play.must_trump", "yes", "no"],
    ]
    assert shell("rules", "diff", "mil").code == 2
    same = shell("rules", "diff", "mil-500", "mil", "--set", "match.target=500", "--set",
                 "match.lock=400", "--set", "match.defender_cap=490")  # fmt: skip
    assert (same.code, same.out) == (0, "")


def test_a_run_keeps_what_was_set(shell: Shell, tmp_path: Path) -> None:
    outcome = shell("simulate", "-n", 50, "--mode", "declarer", "--rules", "gamerules", "--set",
                    "play.must_trump=no", "--out", tmp_path / "run", "--quiet")  # fmt: skip
    assert outcome.code == 0
    assert "rules gamerules-changed" in outcome.out
    from milsim.store.run import Run

    stored = Run.open(tmp_path / "run").plan.rules
    assert stored == with_fields("gamerules", {"play.must_trump": False})
    assert stored.source.endswith("changed: play.must_trump = false")


# -- a file to begin with ------------------------------------------------------------------------


@pytest.mark.parametrize("base", preset_names())
def test_a_new_file_loads_at_once_and_names_every_field(
    shell: Shell, tmp_path: Path, base: str
) -> None:
    out = tmp_path / "home.toml"
    written = shell("rules", "new", "--from", base, "--out", out)
    assert (written.code, written.out) == (0, "")
    assert "milsim rules check" in written.err
    rules = load(out)
    assert (rules.name, digest(rules)) == ("home", digest(load(base)))
    assert shell("rules", "check", out).code == 0
    text = out.read_text()
    assert f'based_on = "{base}"' in text
    plain = " ".join(text.replace("#", " ").split())
    for path, kind in field_kinds().items():
        assert f"{'.'.join(path.split('.')[1:])} = " in text
        assert " ".join(f"{kind.meaning} ({kind.allowed})".split()) in plain
    assert all(len(line) <= 100 for line in text.splitlines())


def test_a_line_taken_out_of_a_new_file_stays_as_in_its_base() -> None:
    text = template("gamerules", name="home")
    lines = [line for line in text.splitlines() if not line.startswith(("step", "must_trump"))]
    assert digest(parse("\n".join(lines))) == digest(load("gamerules"))


def test_a_new_file_from_a_file(shell: Shell, tmp_path: Path) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    shell("rules", "new", "--from", "pagat", "--set", "auction.step=10", "--out", first)
    assert load(first).name == "first"
    assert 'based_on = "pagat"' in first.read_text()
    printed = shell("rules", "new", "--from", first, "--name", "Домашние")
    second.write_text(printed.out)
    assert load(second).name == "Домашние"
    assert digest(load(second)) == digest(load(first)) != digest(load("pagat"))


def test_a_new_file_takes_no_preset_name_and_no_file_that_is_there(
    shell: Shell, tmp_path: Path
) -> None:
    out = tmp_path / "mil.toml"
    assert shell("rules", "new", "--out", out).code == 0
    assert load(out).name == "my-mil"
    for arguments, code, words in (
        (["--out", out], 3, "exists already"),
        (["--out", tmp_path / "home.txt"], 2, "ends in .toml"),
        (["--out", tmp_path / "no" / "home.toml"], 3, "cannot write"),
        (["--name", "a\nb"], 3, "printable"),
        (["--name", ""], 3, "printable"),
        (["--from", "mill"], 3, "did you mean mil?"),
    ):
        outcome = shell("rules", "new", *arguments)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (code, "", 1)
        assert words in outcome.err


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "mark.toml").write_bytes(b"\xef\xbb\xbf" + to_toml(load("gamerules")).encode())
    assert load(tmp_path / "mark.toml") == load("gamerules")


def test_values_are_json() -> None:
    assert json.loads(json.dumps(values_of(load("mil")))) == values_of(load("mil"))
