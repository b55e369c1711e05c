"""The page of all hands: its bytes, and what it shows in a real browser beside milsim.hand."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from milsim.answers.hand import HandAnswer, hand
from milsim.cards import CardSet, cards_of, format_card
from milsim.dealing import hand_masks_table
from milsim.dealing.tables import N_HANDS
from milsim.errors import RunError
from milsim.pages.explorer import _json, explorer, words
from milsim.reports.statistics import Interval
from milsim.rules import Rules, digest, load, with_fields
from milsim.tables.compact import CompactTable, read_compact, shipped_headers
from milsim.tables.corrections import Corrections, shipped_corrections
from milsim.tables.folder import manifest_of
from milsim.tables.plan import TablePlan
from tests.browser import Browser, needs_browser
from tests.command_line import Shell
from tests.test_bid_table import made_up_rows

STRONG, WEAK = "AKQ..KQ.AK", "K9.9J.9J.9"
HANDS = [STRONG, WEAK, "AKQ.T9.J.A", "KQ.KQ.KQ.A", ".AKQJT9..9", "9.9.9.AKQJ", "AK.T..", "...K"]
RULE_SETS = {
    "mil": load("mil"),
    "actual": with_fields("pagat", {"scoring.success": "actual"}),
}


def made_up_table(rules: Rules, path: Path) -> Path:
    """A packed table of made-up numbers, said to be by greedy; hands without any point, and every
    fiftieth, never pass."""
    plan = TablePlan.make(policy="greedy", rules=rules)
    rows = made_up_rows(plan)
    never = (pl.col("hand") % 50 == 7) | (pl.col("hand") == rank_of(WEAK))
    rows = rows.with_columns(
        pl.when(never).then(0).otherwise(pl.col(name)).cast(rows.schema[name]).alias(name)
        for name in ("pass_deals", "pass_score", "pass_score_squared")
    )
    packed = CompactTable.of_rows(rows, plan, manifest_of(plan))
    path.write_bytes(packed.to_bytes(effort=1))
    return path


def rank_of(cards: str) -> int:
    return int(np.searchsorted(hand_masks_table(), CardSet.parse(cards).mask))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explore")


@pytest.fixture(scope="module")
def tables(folder: Path) -> dict[str, Path]:
    """By the name of the rules."""
    return {
        name: made_up_table(rules, folder / f"{name}.hands") for name, rules in RULE_SETS.items()
    }


@pytest.fixture(scope="module")
def table(tables: dict[str, Path]) -> Path:
    return tables["mil"]


@pytest.fixture(scope="module")
def corrections(folder: Path) -> dict[str, Path]:
    """By the name of the rules."""
    return {
        name: made_up_corrections(rules, folder / f"{name}.models.json")
        for name, rules in RULE_SETS.items()
    }


@pytest.fixture(scope="module")
def page(table: Path) -> Path:
    path = table.with_suffix(".html")
    path.write_text(explorer(table=table), "utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


# -- without a browser ---------------------------------------------------------------------------


def test_the_command_writes_the_same_page_each_time(
    table: Path, page: Path, tmp_path: Path, shell: Shell
) -> None:
    out = tmp_path / "a.html"
    done = shell("explore", "--table", table, "-o", out)
    assert (done.code, done.out) == (0, "")
    assert re.fullmatch(r"[\d,]+ bytes in .*a\.html; open it in a browser\n", done.err)
    assert out.read_bytes() == page.read_bytes()


def test_the_page_holds_the_table_as_it_is_and_needs_nothing_else(table: Path, page: Path) -> None:
    text = page.read_text("utf-8")
    held = re.search(r'<script type="text/plain" id="table">([^<]*)</script>', text)
    assert held is not None
    assert base64.b64decode(held[1]) == table.read_bytes()
    assert len(text.encode()) < 8_000_000
    assert set(re.findall(r"\bhttps?://[^\"' <]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|img|iframe)[^>]*\bsrc=|@import|\burl\(", text)
    assert "default-src 'none'" in text
    header = read_compact(table).header
    footer = text[text.index("<footer>") : text.index("</footer>")]
    for part in (header["rules"][:12], "greedy", header["plan_digest"][:12], header["kernels"]):
        assert part in footer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rules", "russian"], "rules russian: no table of them comes with milsim; give --table"),
        (["--table", "nowhere"], "table nowhere: cannot read, no such file or directory"),
        (["--table", "."], "table .: cannot read, is a directory"),
        (["--table", "{table}", "--rules", "gamerules"], "is of rules mil, not of gamerules"),
        (["--table", "{table}", "-o", "{table}/x"], "cannot write, not a directory"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(
    arguments: list[str], message: str, table: Path, shell: Shell
) -> None:
    done = shell("explore", *(each.format(table=table) for each in arguments))
    assert done.code == 3
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_torn_table_is_refused(table: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.hands"
    torn.write_bytes(table.read_bytes()[:-5])
    with pytest.raises(RunError, match="is torn or changed"):
        explorer(table=torn)


def test_data_cannot_end_its_script() -> None:
    text = _json({"name": "</script><b>&"})
    assert "<" not in text
    assert json.loads(text) == {"name": "</script><b>&"}


def test_every_language_has_every_word() -> None:
    english, *others = words()
    assert [each["code"] for each in others] == ["pl", "ru", "cy", "gl"]
    for each in others:
        assert list(each["words"]) == list(english["words"])
        assert [len(each[many]) for many in ("letters", "ranks", "suits", "of_suits")] == [
            6,
            6,
            4,
            4,
        ]
        assert len(set(each["ranks"])) == 6
        assert len(set(each["suits"])) == 4


def test_letters_of_cards_are_those_that_milsim_reads() -> None:
    for each, letters in zip(words()[:3], ("english", "polish", "russian"), strict=True):
        down = "".join(reversed(each["letters"])) + "..."
        assert CardSet.parse(down, letters=letters) == CardSet.parse("AKQJT9...")


@pytest.mark.parametrize("name", shipped_headers())
def test_a_table_that_comes_with_milsim_makes_a_page_small_enough_to_send(name: str) -> None:
    rules = shipped_headers()[name]["rules_name"]
    assert len(explorer(rules=rules).encode()) < 8_000_000


# -- in a browser: numbers -----------------------------------------------------------------------


def array(browser: Browser, expression: str, dtype: str) -> np.ndarray:
    """A typed array of the page, whole."""
    text = browser.value(
        f"(() => {{ const a = {expression}; const b = new Uint8Array(a.buffer, a.byteOffset, "
        "a.byteLength); let s = ''; for (let i = 0; i < b.length; i += 8192) "
        "s += String.fromCharCode(...b.subarray(i, i + 8192)); return btoa(s); })()"
    )
    return np.frombuffer(base64.b64decode(text), dtype)


def python_answer(cards: str, table: Path, rules: Rules) -> HandAnswer:
    return hand(cards, rules=rules, models=["greedy"], seconds=0, table=table)


def made_up_corrections(rules: Rules, path: Path) -> Path:
    """Those of mil's table, said to be of greedy and of these rules."""
    shipped = shipped_corrections(load("mil"))
    assert shipped is not None
    header = {**shipped.header, "policy": "greedy", "rules": digest(rules)}
    path.write_bytes(Corrections(header, shipped.models).to_bytes())
    return path


def expected(answer: HandAnswer) -> dict[str, Any]:
    """An answer of Python in the page's shape."""
    data = answer.to_dict()
    model = data["models"][0]
    talon = data["talon"]
    if talon is not None:

        def counts(shares: dict[str, str]) -> dict[str, int]:
            return {suit: int(680 * Fraction(share)) for suit, share in shares.items()}

        talon = {
            "talons": 680,
            "completes": counts(talon["completes"]),
            "brings": counts(talon["brings"]),
            "any_marriage": int(680 * Fraction(talon["any_marriage"])),
        }
    return {
        "cards": data["cards"],
        "hands": data["hands"],
        "percentile": data["percentile"],
        "model": {
            "model": model["model"],
            "deals": model["deals"],
            "points": model["points"],
            "contracts": model["contracts"],
            "best_contract": model["best_contract"],
        },
        "passing": {key: data["passing"][key] for key in ("value", "low", "high")},
        "highest_allowed": data["highest_allowed"],
        "bid_up_to": data["bid_up_to"],
        "talon": talon,
    }


def same(found: Any, wanted: Any) -> bool:
    """Equal in shape and words, numbers but for the last digits of a float (some of 32 bits)."""
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float):
        return found == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    return bool(found == wanted)


@needs_browser
@pytest.mark.browser
def test_the_page_ranks_all_hands_as_python_does(browser: Browser, page: Path) -> None:
    browser.open(page)
    masks = hand_masks_table()
    assert np.array_equal(array(browser, "state.table.hands", "<u4"), masks)
    ranks = "Uint32Array.from(state.table.hands, (mask) => cards.rankOf(mask))"
    assert np.array_equal(array(browser, ranks, "<u4"), np.arange(N_HANDS))
    hands = f"Uint32Array.from({{ length: {N_HANDS} }}, (_, rank) => cards.handAt(rank))"
    assert np.array_equal(array(browser, hands, "<u4"), masks)


@needs_browser
@pytest.mark.browser
def test_the_page_unpacks_the_table_as_python_does(
    browser: Browser, page: Path, table: Path
) -> None:
    browser.open(page)
    packed = read_compact(table)
    assert np.array_equal(array(browser, "state.table.halves", "<u2"), packed.means * 2)
    assert np.array_equal(array(browser, "state.table.spreads", "u1"), packed.spreads)
    passing = array(browser, "state.table.passing", "u1")
    assert np.array_equal(passing == 255, np.isnan(packed.passing))
    assert 0 < (passing == 255).sum() < N_HANDS / 10
    for place, level in enumerate(packed.levels):
        assert np.array_equal(array(browser, f"state.table.levels[{place}]", "u1"), level)


@needs_browser
@pytest.mark.browser
@pytest.mark.parametrize("name", RULE_SETS)
def test_answers_are_those_of_milsim_hand(
    name: str, browser: Browser, folder: Path, tables: dict[str, Path]
) -> None:
    rules, own = RULE_SETS[name], tables[name]
    page = folder / f"{name}.html"
    page.write_text(explorer(rules=rules, table=own), "utf-8")
    browser.open(page)
    drawn = np.random.default_rng(5).choice(hand_masks_table(), 8, replace=False)
    for cards in [*HANDS, *(str(CardSet(int(mask))) for mask in drawn)]:
        wanted = expected(python_answer(cards, own, rules))
        found = browser.value(f"state.table.answer(cards.parse({json.dumps(cards)}))")
        assert same(found, wanted), (cards, found, wanted)


@needs_browser
@pytest.mark.browser
@pytest.mark.parametrize("name", RULE_SETS)
def test_answers_of_stronger_models_are_those_of_milsim_hand(
    name: str,
    browser: Browser,
    folder: Path,
    tables: dict[str, Path],
    corrections: dict[str, Path],
) -> None:
    rules, own, moved = RULE_SETS[name], tables[name], corrections[name]
    page = folder / f"{name}-models.html"
    page.write_text(explorer(rules=rules, table=own, corrections=moved), "utf-8")
    browser.open(page)
    drawn = np.random.default_rng(6).choice(hand_masks_table(), 4, replace=False)
    for model in ("double-dummy", "pimc"):
        for cards in [*HANDS, *(str(CardSet(int(mask))) for mask in drawn)]:
            answer = hand(
                cards,
                rules=rules,
                models=[model, "greedy"],
                seconds=0,
                table=own,
                corrections=moved,
            )
            assert answer.model.source == "table, corrected"
            call = f"state.table.answer(cards.parse({json.dumps(cards)}), {json.dumps(model)})"
            found, wanted = browser.value(call), expected(answer)
            assert same(found, wanted), (cards, found, wanted)


@needs_browser
@pytest.mark.browser
def test_who_plays_may_be_chosen(
    browser: Browser, folder: Path, table: Path, corrections: dict[str, Path]
) -> None:
    moved = corrections["mil"]
    page = folder / "who.html"
    page.write_text(explorer(table=table, corrections=moved), "utf-8")
    browser.open(page, f"#hand={STRONG}")
    before = browser.text("#contracts")
    names = browser.value("[...document.querySelectorAll('#by option')].map((e) => e.value)")
    assert names == ["greedy", "double-dummy", "pimc"]
    browser.value(
        "(() => { const by = document.getElementById('by'); by.value = 'pimc'; "
        "by.dispatchEvent(new Event('change')); return true; })()"
    )
    assert browser.value("location.hash") == f"#hand={STRONG}&by=pimc"
    answer = hand(STRONG, models=["pimc", "greedy"], seconds=0, table=table, corrections=moved)
    chance = answer.model.makes[100].value
    assert chance is not None
    assert browser.text("#contracts") != before
    row = browser.text('#contracts [data-contract="100"]')
    assert row.startswith(f"100 {shown_percent(chance)} ±")
    browser.open(page, f"#hand={STRONG}&by=double-dummy")
    assert browser.value("document.getElementById('by').value") == "double-dummy"
    browser.open(page, f"#hand={STRONG}&by=nobody")
    assert browser.text("#contracts") == before
    browser.resize(390, 844, phone=True)
    assert browser.value("document.documentElement.scrollWidth") == 390
    browser.resize(1200, 900)
    assert browser.faults == []


# -- in a browser: hands and keys ----------------------------------------------------------------


def shown_percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.01 or share > 0.99 else f"{100 * share:.0f}%"


@needs_browser
@pytest.mark.browser
def test_seven_clicks_show_what_python_says(browser: Browser, page: Path, table: Path) -> None:
    browser.open(page)
    assert browser.text("#chosen").startswith("Click the seven cards")
    assert browser.value("document.getElementById('answer').hidden")
    held = CardSet.parse(STRONG)
    for card in cards_of(held.mask):
        browser.click(f'[data-card="{card}"]')
    answer = python_answer(STRONG, table, load("mil"))
    assert answer.percentile is not None
    headline = "Pass" if answer.bid_up_to is None else f"Bid up to {answer.bid_up_to}"
    assert browser.text("#advice .bid") == headline
    assert browser.text("#strength p").startswith(
        f"Stronger than {shown_percent(answer.percentile)} of all hands"
    )
    assert browser.text("#chosen").startswith(f"{headline}. Stronger than")
    assert "(60): 18%" in browser.text("#talon")
    assert answer.passing.value is not None
    assert f"passing earns {answer.passing.value:+.0f} ±" in browser.text("#advice")
    row = browser.text('#contracts [data-contract="100"]')
    chance = answer.model.makes[100].value
    assert chance is not None
    assert row.startswith(f"100 {shown_percent(chance)} ±")
    assert browser.value("document.querySelectorAll('#curve circle').length") >= 5
    assert browser.value("location.hash") == f"#hand={STRONG}"
    # An eighth card is refused, and one put back.
    spare = next(card for card in range(24) if card not in cards_of(held.mask))
    browser.click(f'[data-card="{spare}"]')
    assert "put one back first" in browser.text("#problem")
    assert browser.value("state.mask") == held.mask
    browser.click(f'[data-card="{cards_of(held.mask)[0]}"]')
    assert browser.text("#chosen").startswith("6 of 7 cards: 1 to go")
    assert browser.text("#problem") == ""
    browser.click("#clear")
    assert browser.value("state.mask") == 0
    browser.click("#random")
    assert browser.value("cards.count(state.mask)") == 7


@needs_browser
@pytest.mark.browser
def test_the_keyboard_alone_is_enough(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.value("document.querySelector('#deck button').focus()")
    focused = "Number(document.activeElement.dataset.card)"
    for key, name in [("ArrowRight", "TS"), ("End", "9S"), ("ArrowDown", "9H"), ("Home", "AH"),
                      ("ArrowUp", "AS"), ("ArrowLeft", "AS")]:  # fmt: skip
        browser.press(key)
        assert format_card(browser.value(focused)) == name
    browser.press(" ")
    browser.press("ArrowDown")
    browser.press("Enter")
    assert browser.value("cards.format(state.mask)") == "A.A.."
    # One card can be reached by Tab, then comes the next button.
    browser.press("Tab")
    assert browser.value("document.activeElement.id") == "random"
    browser.value("document.getElementById('text').focus()")
    browser.type(STRONG)
    browser.press("Enter")
    assert browser.value("cards.format(state.mask)") == STRONG


@needs_browser
@pytest.mark.browser
def test_a_hand_may_be_typed(browser: Browser, page: Path) -> None:
    cases = {
        "akq..kq.ak": STRONG,
        "AS KS QS, DK QD CA KC": STRONG,
        "10...": "T...",
        "AA...": "“A” is there twice.",
        "AKX...": "“X” is no card.",
        "AS XH": "“XH” is no card.",
        "A.K": "Write four suits with three dots between",
        "AKQJT9.AK..": "That is 8 cards; a hand before the talon has seven.",
    }
    browser.open(page)
    for typed, answer in cases.items():
        browser.click("#clear")
        browser.value(f"document.getElementById('text').value = {json.dumps(typed)}")
        browser.click("#typed button")
        said = browser.text("#problem") or browser.value("cards.format(state.mask)")
        assert said.startswith(answer)
    browser.open(page, "#words=pl")
    browser.value("document.getElementById('text').value = 'DW...'")
    browser.click("#typed button")
    assert browser.value("cards.format(state.mask)") == "QJ..."


def is_close(score: Interval, passing: Interval) -> bool:
    """Whether chance alone may have put a score above or below what passing earns."""
    numbers = score.value, score.low, score.high, passing.value, passing.low, passing.high
    mean, low, high, earns, least, most = (float(each or 0) for each in numbers)
    return abs(mean - earns) < np.hypot((high - low) / 2, (most - least) / 2)


@needs_browser
@pytest.mark.browser
@pytest.mark.parametrize("cards", [STRONG, "AKQ.T9.J.A", "KQ.KQ.KQ.A"])
def test_the_quiz_tells_the_truth_after_the_guess(
    cards: str, browser: Browser, page: Path, table: Path
) -> None:
    browser.open(page, f"#quiz={cards}")
    assert browser.value("document.getElementById('answer').hidden")
    answer = python_answer(cards, table, load("mil"))
    bids = browser.value("[...document.querySelectorAll('#guesses button')].map(e => e.innerText)")
    assert bids == ["Pass", *map(str, range(100, answer.highest_allowed + 1, 10))]
    right = "Pass" if answer.bid_up_to is None else str(answer.bid_up_to)
    guess = bids[3]
    browser.click('#guesses [data-bid="120"]')
    off = 3 - bids.index(right)
    said = browser.text("#verdict")
    steps = "One step" if abs(off) == 1 else f"{abs(off)} steps"
    truth = "pass" if answer.bid_up_to is None else f"bid up to {right}"
    assert guess == "120"
    if off == 0:
        assert said == f"Exactly: {truth}."
    else:
        assert said.startswith(f"{steps} too {'high' if off > 0 else 'low'}: {truth}.")
        score = answer.model.scores[120 if off > 0 else int(right)]
        assert said.endswith("But it is close.") == is_close(score, answer.passing)
    assert browser.text("#guesses .right") == right
    assert browser.text("#advice .bid").lower() == truth
    tally = browser.text("#tally")
    assert (
        tally == f"So far {int(off == 0)} of 1 exactly right, {abs(off):.1f} steps off on average."
    )
    # A second click counts no more, on this bid or another; the next hand is one that may pass.
    browser.click('#guesses [data-bid="120"]')
    browser.click('#guesses [data-bid="100"]')
    assert browser.text("#tally") == tally
    browser.click("#next")
    assert browser.value("cards.count(state.quiz)") == 7
    assert browser.value("state.table.answer(state.quiz).passing.value") is not None
    assert browser.value("document.activeElement.dataset.bid") == "pass"
    browser.press("ArrowRight")
    assert browser.value("document.activeElement.dataset.bid") == "100"


@needs_browser
@pytest.mark.browser
@pytest.mark.parametrize(
    ("code", "letters", "ace", "talon"),
    [
        ("en", "A10KQJ9", "ace of spades", "talon"),
        ("pl", "A10KDW9", "ace of spades, as pik", "talon (musik)"),
        ("ru", "Т10КДВ9", "ace of spades, туз пик", "talon (прикуп)"),
        ("cy", "A10KQJ9", "ace of spades, as rhawiau", "talon (citi)"),
        ("gl", "A10KQJ9", "ace of spades, ás de picas", "talon (monte)"),
    ],
)
def test_cards_and_words_in_every_language(
    code: str, letters: str, ace: str, talon: str, browser: Browser, page: Path
) -> None:
    """Also: nothing is wider than a phone, every control has a name, and nothing is fetched."""
    browser.resize(390, 844, phone=True)
    browser.requests.clear()
    browser.open(page, f"#hand={STRONG}&words={code}")
    assert browser.text(".row").replace(" ", "") == letters
    assert browser.value("document.querySelector('[data-card=\"5\"]').ariaLabel") == ace
    assert browser.text("header [data-word=talon]") == talon
    assert browser.text("#talon").count("marriage") == 2
    assert browser.value("document.querySelectorAll('#contracts .best').length") == 1
    room = "document.querySelector('#contracts').parentElement"
    assert browser.value(f"{room}.scrollWidth - {room}.clientWidth") == 0
    assert browser.value("document.documentElement.scrollWidth") == 390
    browser.value("document.querySelectorAll('details').forEach((each) => each.open = true)")
    assert browser.value("document.documentElement.scrollWidth") == 390
    browser.click("#mode-quiz")
    assert browser.value("document.documentElement.scrollWidth") == 390
    tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    controls = [
        node for node in tree
        if node.get("role", {}).get("value") in ("button", "combobox", "textbox", "image", "img")
        and not node.get("ignored")
    ]  # fmt: skip
    assert len(controls) > 10
    assert all(node["name"]["value"].strip() for node in controls)
    assert {each.partition("#")[0] for each in browser.requests} <= {
        "about:blank", "data:,", page.resolve().as_uri(),
    }  # fmt: skip
    assert browser.faults == []
    browser.resize(1200, 900)


@needs_browser
@pytest.mark.browser
def test_a_hand_that_asks_for_a_new_deal_says_so(browser: Browser, page: Path) -> None:
    browser.open(page, f"#quiz={WEAK}")  # no question for the quiz
    assert browser.value("cards.format(state.quiz)") != WEAK
    browser.open(page, f"#hand={WEAK}")
    assert browser.text("#advice .bid") == "You may ask for a new deal"
    assert "What passing would earn is not known" in browser.text("#advice")
    browser.value("location.hash = '#hand=AKQ.T9.J.A'")
    browser.wait_for("cards.format(state.mask) === 'AKQ.T9.J.A'")
    assert browser.text("#answer-title") == "Worth of A K Q 10 9 J A"


@needs_browser
@pytest.mark.browser
def test_a_picture_of_the_page_has_its_colours(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    """Cards chosen, suits in four colours and the curve can be seen, not only found."""
    from matplotlib.image import imread

    browser.open(page, f"#hand={STRONG}")
    pixels = (imread(browser.picture(tmp_path / "a.png"))[..., :3] * 255).round().astype(int)
    colours = set(np.unique(pixels @ [1 << 16, 1 << 8, 1]).tolist())
    chosen, spades, clubs, diamonds, curve = 0xFFE9A8, 0x1C1C1C, 0x00664F, 0x0B62A8, 0x0B5394
    assert {chosen, spades, clubs, diamonds, curve} <= colours
