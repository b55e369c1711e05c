"""The explorer: one page with the value of every hand, to click cards, look and guess.

The page is joined from files of ``data/``: a template, a style sheet and four scripts, with the
packed table of a rule set (:mod:`milsim.tables.compact`) in base64, and what corrects it to
stronger models (:mod:`milsim.tables.corrections`). It needs no network and no server. Its numbers
are those of :func:`milsim.hand` with ``seconds=0``.
"""

from __future__ import annotations

import json
import tomllib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from milsim.answers.estimates import QUANTISED
from milsim.answers.from_table import corrections_for
from milsim.cards import MARRIAGE_MASKS, SUITS, cards_of
from milsim.errors import RunError
from milsim.files import reason_of
from milsim.reference.auction import highest_bid
from milsim.reports.statistics import Z
from milsim.rules import Rules, digest, load
from milsim.tables.compact import CONTRACT_STEP, CompactTable, shipped_headers
from milsim.tables.corrections import QUANTISED_CHANCE, QUANTISED_MEAN, SHARED, Corrections
from milsim.tables.plan import contracts_of
from milsim.tables.playing import N_TALONS

_LINE = 4096  # of base64: editors choke on a line of millions of characters
_PASS_ZERO, _NEVER_PASSES = 64, 255  # bytes of the format: see milsim.tables.compact
_SHOWN = {"double-dummy": "double dummy (all see all cards)", "pimc": "pimc (thinks longer)"}
_MOST_BYTES = 20_000_000  # of a table, as for milsim hand


def explorer(
    *,
    rules: str | Path | Rules = "mil",
    table: str | Path | None = None,
    corrections: str | Path | None = None,
) -> str:
    """The page, HTML: the same text for the same table.

    ``table`` is a file of ``milsim table pack``; without it the one of these rules that comes with
    milsim. ``corrections`` is such a file of a sample of models, or what comes with milsim, if
    anything. Raises :class:`~milsim.errors.RunError` if there is none, or if it is of other rules.
    """
    chosen = load(rules)
    content = _shipped_file(chosen) if table is None else _file(table)
    if content is None:
        raise RunError(
            f"rules {chosen.name}: no table of them comes with milsim; give --table FILE of "
            "milsim table pack"
        )
    known = CompactTable.from_bytes(content, str(table or "shipped"))
    if known.header["rules"] != digest(chosen):
        raise RunError(
            f"table {table}: is of rules {known.header['rules_name']}, not of {chosen.name}"
        )
    return _page(content, known, chosen, corrections_for(corrections, chosen, known))


def _file(path: str | Path) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        raise RunError(f"table {path}: cannot read, {reason_of(error)}") from None


def _shipped_file(rules: Rules) -> bytes | None:
    """The packed table of these rules that comes with milsim, as it is."""
    wanted = digest(rules)
    names = [name for name, header in shipped_headers().items() if header["rules"] == wanted]
    return (files("milsim.tables") / "data" / names[0]).read_bytes() if names else None


def _page(content: bytes, table: CompactTable, rules: Rules, models: Corrections | None) -> str:
    packed = b64encode(content).decode()
    languages = words()
    parts = {
        "style": _data("explorer.css"),
        "table_script": _data("table.js"),
        "models_script": _data("models.js"),
        "answer_script": _data("answer.js"),
        "page_script": _data("explorer.js"),
        "settings": _json(settings_of(rules)),
        "words": _json(languages),
        "word_table": _word_table(languages),
        "languages": "".join(
            f'<option value="{escape(each["code"])}">{escape(each["name"])}'
            f"{'' if place else ' only'}</option>"
            for place, each in enumerate(languages)
        ),
        "table": "\n".join(packed[at : at + _LINE] for at in range(0, len(packed), _LINE)),
        "provenance": _provenance(table, models),
        "corrections": _json(None if models is None else models.for_page()),
        "models": _options(table, models),
        "who": " hidden" if models is None else "",
        "models_help": "" if models is None else _help(table, models),
        "rules": escape(rules.name),
        "score": _score_words(rules),
        "policy": escape(table.policy),
        "deals": f"{table.deals:,}",
    }
    return Template(_data("explorer.html")).substitute(parts)


@cache
def _data(name: str) -> str:
    return (files("milsim.pages") / "data" / name).read_text("utf-8")


@cache
def words() -> tuple[Mapping[str, Any], ...]:
    """The words of the game by language, English first.

    >>> [language["words"]["talon"] for language in words()]
    ['talon', 'musik', 'прикуп', 'citi', 'monte']
    """
    return tuple(tomllib.loads(_data("words.toml"))["language"])


def settings_of(rules: Rules) -> dict[str, Any]:
    """What the page must know of the rules, and of the numbers in :mod:`milsim.answers`.

    ``caps`` are the highest bids by the set of marriages held, bit *i* for suit *i*.

    >>> settings_of(load("mil"))["caps"][:4]
    [120, 160, 180, 220]
    """
    every = contracts_of(rules, rules.auction.minimum)
    contracts = [each for each in every if each % CONTRACT_STEP == 0]
    caps = []
    for held in range(1 << len(SUITS)):
        marriages = sum(MARRIAGE_MASKS[suit] for suit in SUITS if held >> suit & 1)
        caps.append(highest_bid(cards_of(marriages), rules))
    return {
        "rules": rules.name,
        "contracts": contracts,
        "step": contracts[1] - contracts[0],
        "success": rules.scoring.success,
        "forced_opening": rules.auction.opener == "forehand_forced",
        "caps": caps,
        "values": list(rules.deal.marriage_values.by_suit()),
        "z": Z,
        "quantised": QUANTISED,
        "rounded": {"mean": QUANTISED_MEAN, "chance": QUANTISED_CHANCE, "shared": SHARED},
        "never_passes": _NEVER_PASSES,
        "pass_zero": _PASS_ZERO,
    }


def _json(value: object) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _word_table(languages: tuple[Mapping[str, Any], ...]) -> str:
    """All words in all languages, the first one's as row headings."""
    head = "".join(
        f'<th scope="col" lang="{escape(each["code"])}">{escape(each["name"])}</th>'
        for each in languages
    )
    rows = [[each["words"][word] for each in languages] for word in languages[0]["words"]]
    for many in ("suits", "ranks"):
        rows += [[each[many][i] for each in languages] for i in range(len(languages[0][many]))]
    body = []
    for first, *others in rows:
        cells = "".join(
            f'<td lang="{escape(language["code"])}">{escape(word)}</td>'
            for language, word in zip(languages[1:], others, strict=True)
        )
        body.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    return f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"


def _score_words(rules: Rules) -> str:
    """What a declarer writes down."""
    made = "the contract" if rules.scoring.success == "contract" else "your points"
    return f"{made} if you make the contract, minus the contract if you fail"


def _options(table: CompactTable, models: Corrections | None) -> str:
    """Who may play: the table's policy, and what it is corrected to."""
    names = [table.policy, *(models.models if models is not None else ())]
    return "".join(
        f'<option value="{escape(name)}">{escape(_SHOWN.get(name, name))}</option>'
        for name in names
    )


def _help(table: CompactTable, models: Corrections) -> str:
    """How the other models come by their numbers."""
    return (
        f"<p>The other players are slower: {escape(table.policy)} and they played the same deals "
        f"of {models.hands:,} hands, and what that taught is carried over to all hands. "
        "<b>Double dummy</b> is not play but calculation: everybody sees all cards and makes no "
        "mistake.</p>\n"
    )


def _provenance(table: CompactTable, models: Corrections | None) -> str:
    """Where the numbers come from, a definition list."""
    header = table.header
    repeated = table.deals // N_TALONS
    times = "once" if repeated == 1 else f"{repeated} times"
    facts = {
        "rules": f"{header['rules_name']} ({header['rules'][:12]})",
        "who plays": f"{table.policy}, at all three seats",
        "deals": f"{table.deals:,} a hand as declarer, each of the {N_TALONS} talons {times}",
        "seed": str(header["seed"]),
        "random numbers": header["rng"],
        "plan, code": f"{header['plan_digest'][:12]}, {header['kernels']}",
        "versions": ", ".join(f"{name} {version}" for name, version in header["versions"].items()),
    }
    if models is not None:
        each = ", ".join(f"{one.model} {one.deals}" for one in models.models.values())
        facts["other players"] = (
            f"corrected by {models.hands:,} hands ({each} deals of each), plan "
            f"{models.header['plan_digest'][:12]}, {models.header['kernels']}"
        )
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(fact))}</dd></div>"
        for name, fact in facts.items()
    )


__all__ = ["explorer", "settings_of", "words"]
