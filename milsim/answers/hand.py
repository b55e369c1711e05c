"""What a hand is worth before the talon: strength, chances, the bid, what the talon may bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from milsim.answers.estimates import Estimate, as_plain, of_histogram
from milsim.answers.from_table import (
    corrected_estimates,
    corrections_for,
    curves_of,
    refined_estimate,
    table_estimate,
)
from milsim.answers.live import DOUBLE_DUMMY, play_live, points_live
from milsim.answers.talon import TalonChances, talon_chances, talon_gains
from milsim.cards import CardSet, cards_of, checked_mask, format_card, parse_hand
from milsim.dealing import hand_masks_table
from milsim.deals import HAND_CARDS, combination_rank
from milsim.errors import DealError, RunError, UsageError, quote
from milsim.policies.spec import canonical, parse_spec
from milsim.reference.auction import highest_bid
from milsim.reports.bias_table import CORRECTED, BiasTable
from milsim.reports.contract import Contract
from milsim.reports.hands_scores import passing_of_hands
from milsim.reports.statistics import Interval, Moments
from milsim.rules import Rules, digest, load
from milsim.simulation.engine import in_order
from milsim.simulation.interrupt import Interrupts
from milsim.simulation.plan import whole_number
from milsim.tables.compact import CompactTable, read_compact, shipped_table
from milsim.tables.corrections import Corrections, Curves
from milsim.tables.passing import KEYS
from milsim.tables.plan import contracts_of
from milsim.tables.playing import N_TALONS, HandPlayer, Played
from milsim.threads import checked_threads
from milsim.where import feature

DEFAULT_MODELS = ("expert", DOUBLE_DUMMY)
DEFAULT_SECONDS = 2.0
MAX_SECONDS = 86_400.0
FAST_SHARE = 0.25
"""Of the time, for the fast policy: it plays a thousand deals while one is solved."""


@dataclass(frozen=True, slots=True)
class HandAnswer:
    """The answer to "what is this hand worth?"; all numbers are of the declarer before the talon.

    ``estimates``, the first one leading: what the bid rests on. ``percentile`` is the share of all
    346,104 hands that are worth less on average (None without a table of these rules); ``hands``
    how many hands were averaged: 1, or all with the cards given. ``passing`` is the deal score of
    who passes, ``bid_up_to`` the highest bid whose mean score is at least that, or None to pass.
    ``talon`` and ``gains`` are of whole hands only, ``gains`` of those played live. ``interrupted``
    says that Ctrl-C ended the playing.
    """

    cards: CardSet
    rules: Rules
    seed: int
    hands: int
    percentile: float | None
    estimates: tuple[Estimate, ...]
    passing: Interval
    passing_source: str
    passing_model: str
    highest_allowed: int
    bid_up_to: int | None
    talon: TalonChances | None
    gains: dict[int, Interval] | None
    interrupted: bool = False

    @property
    def model(self) -> Estimate:
        """The leading estimate."""
        return self.estimates[0]

    @property
    def provenance(self) -> str:
        """Rules, seed and version, in one line."""
        from importlib.metadata import version

        return (
            f"rules {self.rules.name} ({digest(self.rules)[:8]}), seed {self.seed}, "
            f"milsim {version('milsim')}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        talon = self.talon
        return {
            "provenance": self.provenance,
            "cards": str(self.cards),
            "rules": self.rules.name,
            "rules_digest": digest(self.rules),
            "seed": self.seed,
            "hands": self.hands,
            "percentile": self.percentile,
            "models": [each.to_dict() for each in self.estimates],
            "passing": {
                **as_plain(self.passing),
                "source": self.passing_source,
                "model": self.passing_model,
            },
            "highest_allowed": self.highest_allowed,
            "bid_up_to": self.bid_up_to,
            "talon": None
            if talon is None
            else {
                "completes": {"SCDH"[suit]: str(each) for suit, each in talon.halves.items()},
                "brings": {"SCDH"[suit]: str(each) for suit, each in talon.pairs.items()},
                "any_marriage": str(talon.any),
            },
            "talon_cards": None
            if self.gains is None
            else {format_card(card): as_plain(each) for card, each in self.gains.items()},
        }

    def __str__(self) -> str:
        """The answer for people, some 25 lines."""
        from milsim.answers.hand_print import hand_text

        return hand_text(self)


def hand(
    cards: str | CardSet | int,
    *,
    rules: str | Path | Rules = "mil",
    models: Sequence[str] = DEFAULT_MODELS,
    seconds: float = DEFAULT_SECONDS,
    per_talon: int | None = None,
    deals: int | None = None,
    table: str | Path | None = None,
    corrections: str | Path | None = None,
    bias: str | Path | None = None,
    threads: int | None = None,
) -> HandAnswer:
    """What a hand of at most seven cards is worth to who declares with it, before the talon.

    ``cards`` is a text such as ``"AKQ.T9.J.A"``, a `CardSet` or a mask. With fewer than seven all
    hands that hold them are averaged, from the table. ``models`` are the fast policy (``expert``),
    ``double-dummy``, ``corrected`` (double dummy moved by ``bias``, a file of ``milsim report
    bias``) and policies such as ``pimc``; the first leads. The numbers come from the table of these
    rules that comes with milsim (or ``table``, a file of ``milsim table pack``), and are refined
    live for some ``seconds``; 0 leaves it at the table. ``per_talon`` (for the fast policy) and
    ``deals`` (for the others) play just so many deals instead: the same answer on any machine.
    Ctrl-C ends the playing: the answer is from what was played by then.

    Raises :class:`~milsim.errors.NotationError` and :class:`~milsim.errors.DealError` for what is
    no such hand, :class:`~milsim.errors.UsageError` for an unknown model or a number out of range,
    :class:`~milsim.errors.RunError` for a table that does not fit.

    >>> answer = hand("AKQ.T9.J.A", models=["greedy"], per_talon=2)
    >>> answer.model.source, answer.model.deals, len(answer.gains)
    ('live', 1360, 17)
    """
    chosen = load(rules)
    held = parse_hand(cards) if isinstance(cards, str) else checked_mask(cards)
    if held.bit_count() > HAND_CARDS:
        raise DealError(
            f"hand {quote(str(cards))}: {held.bit_count()} cards; a hand before the talon has "
            f"{HAND_CARDS}, or fewer to average over the rest"
        )
    request = _Request(
        chosen,
        _checked_models(models),
        _checked_seconds(seconds),
        None if per_talon is None else whole_number("per-talon", per_talon, 1, 100_000),
        None if deals is None else whole_number("deals", deals, 1, 1_000_000),
        _bias_of(bias, models, chosen),
        checked_threads(threads),
        Interrupts(),
    )
    known = shipped_table(chosen) if table is None else read_compact(table)
    if known is not None and known.header["rules"] != digest(chosen):
        raise RunError(
            f"table {table}: is of rules {known.header['rules_name']}, not of {chosen.name}"
        )
    if known is not None and known.policy != request.fast:
        if table is not None:
            raise RunError(
                f"table {table}: is by {known.policy}, not by {request.fast}; ask with --model "
                f"{known.policy}"
            )
        known = None
    moved = corrections_for(corrections, chosen, known)
    if held.bit_count() < HAND_CARDS:
        return _averaged(held, request, known, moved)
    if known is not None and not request.is_live:
        return _of_hand(held, request, known, moved)
    with request.interrupts:
        answer = _of_hand(held, request, known, moved)
    return replace(answer, interrupted=request.interrupts.seen)


# -- what is asked for ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Request:
    rules: Rules
    models: tuple[str, ...]
    seconds: float
    per_talon: int | None
    deals: int | None
    bias: BiasTable | None
    threads: int
    interrupts: Interrupts

    @property
    def fast(self) -> str:
        """The policy that is all kernels: it always plays, and leads unless another does."""
        return next((name for name in self.models if _is_fast(name)), "expert")

    @property
    def is_live(self) -> bool:
        return self.seconds > 0 or self.per_talon is not None or self.deals is not None

    def contracts(self) -> list[Contract]:
        values = contracts_of(self.rules, self.rules.auction.minimum)
        return [Contract.of(value, self.rules) for value in values]


def _is_fast(name: str) -> bool:
    return name not in (DOUBLE_DUMMY, CORRECTED) and parse_spec(name).number is not None


def _checked_models(models: Sequence[str]) -> tuple[str, ...]:
    names = tuple(
        name if name in (DOUBLE_DUMMY, CORRECTED) else canonical(name)
        for name in ([models] if isinstance(models, str) else models)
    )
    if not names or len(set(names)) < len(names):
        raise UsageError(f"model {quote(','.join(names))}: name each model once, at least one")
    if sum(map(_is_fast, names)) > 1:
        raise UsageError(f"model {quote(','.join(names))}: name one of expert, greedy and random")
    return names


def _checked_seconds(seconds: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise UsageError(f"seconds: {quote(seconds)} is no number; use 0 to {MAX_SECONDS:.0f}")
    if not 0 <= seconds <= MAX_SECONDS:
        raise UsageError(f"seconds: {quote(seconds)} is out of range; use 0 to {MAX_SECONDS:.0f}")
    return float(seconds)


def _bias_of(path: str | Path | None, models: Sequence[str], rules: Rules) -> BiasTable | None:
    if CORRECTED not in models:
        if path is not None:
            raise UsageError("--bias: is for --model corrected")
        return None
    if path is None:
        raise UsageError("model corrected: needs --bias FILE, of milsim report bias --format json")
    table = BiasTable.read(path)
    wanted = {"rules": digest(rules), "mode": "declarer", "double_dummy": "exchange"}
    for what, value in wanted.items():
        if table.about[what] != value:
            raise RunError(
                f"bias {path}: measured with {what.replace('_', ' ')} {table.about[what]!s:.12}, "
                f"but {value!s:.12} is needed here"
            )
    return table


# -- a whole hand --------------------------------------------------------------------------------


def _of_hand(
    held: int, request: _Request, known: CompactTable | None, models: Corrections | None
) -> HandAnswer:
    rank = combination_rank(held)
    contracts = request.contracts()
    is_live = request.is_live or known is None
    seed = 1 if known is None else int(known.header["seed"])
    found: dict[str, Estimate] = {}
    gains = None
    if is_live:
        played = _played_live(rank, seed, request)
        found[request.fast] = of_histogram(request.fast, _as_dict(played), contracts)
        gains = talon_gains(held, played)
        passing, source = _passing_of(played), "live"
        found |= _slow_estimates(
            held, seed, request, contracts, curves_of(rank, _as_dict(played), contracts), models
        )
    else:
        assert known is not None
        found[request.fast] = table_estimate(np.array([rank]), known, contracts)
        found |= corrected_estimates(
            np.array([rank]), request.models, request.rules, known, models, contracts
        )
        passing, source = passing_of_hands(known, np.array([rank])), "table"
    mean = found[request.fast].points.value
    # What was not asked for comes last: the fast policy always plays.
    names = dict.fromkeys((*request.models, request.fast))
    estimates = tuple(found[name] for name in names if name in found)
    highest = highest_bid(cards_of(held), request.rules)
    return HandAnswer(
        cards=CardSet(held),
        rules=request.rules,
        seed=seed,
        hands=1,
        percentile=None if known is None or mean is None else known.percentile(_halves(mean)),
        estimates=estimates,
        passing=passing,
        passing_source=source,
        passing_model=request.fast,
        highest_allowed=highest,
        bid_up_to=_bid(estimates[0], passing, highest),
        talon=talon_chances(held),
        gains=gains,
    )


def _halves(mean: float) -> float:
    """A mean as the table has it, in half points."""
    return round(2 * mean) / 2


def _played_live(rank: int, seed: int, request: _Request) -> Played:
    player = HandPlayer(request.rules, request.fast, seed)
    ranks = np.array([rank])
    slow = [name for name in request.models if not _is_fast(name)]
    player(ranks, 0, 1)  # what is compiled, or loaded, counts for no time

    def in_threads(spans: Sequence[tuple[int, int]]) -> list[Played]:
        def one(first: int, count: int) -> Played:
            return player(ranks, first, count)

        if request.threads == 1 or len(spans) < 2:
            return [one(*span) for span in spans if not request.interrupts.asked()]
        return list(in_order(one, spans, request.threads, request.interrupts.asked))

    return play_live(
        player,
        rank,
        seconds=request.seconds * (FAST_SHARE if slow else 1),
        per_talon=request.per_talon,
        in_threads=in_threads,
        stop=request.interrupts.asked,
    )


def _as_dict(played: Played) -> dict[int, int]:
    counts = played.histogram[0]
    return {int(points): int(counts[points]) for points in np.flatnonzero(counts)}


def _passing_of(played: Played) -> Interval:
    n, total, squares = played.passing[0].tolist()
    return Moments(n, total, squares).mean()


def _slow_estimates(
    held: int,
    seed: int,
    request: _Request,
    contracts: list[Contract],
    curves: Curves,
    models: Corrections | None,
) -> dict[str, Estimate]:
    """Double dummy, moved or not, and driven policies, each with its share of the time.

    In some seconds a slow model plays few deals: they refine the corrected curve of the fast policy
    (``curves``). They are none of the table's own, so that both are independent. So many deals as
    are asked for stand for themselves.
    """
    rank = combination_rank(held)
    names = [name for name in request.models if not _is_fast(name)]
    kinds = dict.fromkeys(DOUBLE_DUMMY if name == CORRECTED else name for name in names)
    seconds = request.seconds * (1 - FAST_SHARE) / max(len(kinds), 1)
    played = {
        kind: points_live(
            kind,
            rank,
            seed,
            request.rules,
            seconds=seconds,
            deals=request.deals,
            stop=request.interrupts.asked,
            first=0 if models is None or request.deals is not None else N_TALONS,
            threads=request.threads,
        )
        for kind in kinds
    }
    found: dict[str, Estimate] = {}
    for name in names:
        if name == CORRECTED:
            assert request.bias is not None
            histogram = _moved(played[DOUBLE_DUMMY], held, request.bias)
        else:
            histogram = played[name]
        if models is not None and name in models.models and request.deals is None:
            found[name] = refined_estimate(
                models.of(name), models.hands, histogram, curves, request.rules, contracts
            )
        else:
            found[name] = of_histogram(name, histogram, contracts)
    return found


def _moved(solved: dict[int, int], held: int, bias: BiasTable) -> dict[int, int]:
    hands = np.array([held])
    first, second, third = (int(feature(name, hands)[0]) for name in KEYS)
    points = sorted(solved)
    moved = bias.moved((first, second, third), np.array(points, dtype=np.int64))
    found: dict[int, int] = {}
    for old, new in zip(points, moved.tolist(), strict=True):
        found[new] = found.get(new, 0) + solved[old]
    return found


def _bid(estimate: Estimate, passing: Interval, highest: int) -> int | None:
    """The highest bid allowed whose mean score is at least what passing earns."""
    if passing.value is None:
        return None
    worth = [
        contract
        for contract, score in estimate.scores.items()
        if contract <= highest and score.value is not None and score.value >= passing.value
    ]
    return max(worth, default=None)


# -- from the table ------------------------------------------------------------------------------


def _averaged(
    held: int, request: _Request, known: CompactTable | None, models: Corrections | None
) -> HandAnswer:
    """All hands that hold some cards, weighted equally."""
    if known is None:
        raise DealError(
            f"hand {CardSet(held)}: {held.bit_count()} of {HAND_CARDS} cards, which are averaged "
            f"from a table, and none of rules {request.rules.name} and policy {request.fast} comes "
            "with milsim; give seven cards, or --table FILE of milsim table pack"
        )
    masks = hand_masks_table()
    ranks = np.flatnonzero(masks & held == held)
    contracts = request.contracts()
    found = {request.fast: table_estimate(ranks, known, contracts)}
    found |= corrected_estimates(ranks, request.models, request.rules, known, models, contracts)
    names = dict.fromkeys((*request.models, request.fast))
    estimates = tuple(found[name] for name in names if name in found)
    passing = passing_of_hands(known, ranks)
    highest = highest_bid(cards_of(held), request.rules)
    mean = found[request.fast].points.value
    assert mean is not None
    return HandAnswer(
        cards=CardSet(held),
        rules=request.rules,
        seed=int(known.header["seed"]),
        hands=len(ranks),
        percentile=known.percentile(_halves(mean)),
        estimates=estimates,
        passing=passing,
        passing_source="table",
        passing_model=known.policy,
        highest_allowed=highest,
        bid_up_to=_bid(estimates[0], passing, highest),
        talon=None,
        gains=None,
    )


__all__ = ["DEFAULT_MODELS", "DEFAULT_SECONDS", "HandAnswer", "hand"]
