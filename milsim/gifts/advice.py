"""The exchange of ten cards: `exchange` and what it finds."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsIndex

from milsim.cards import NINE, RANK_MASKS, CardSet, checked_int, checked_mask, format_card
from milsim.errors import DealError, UsageError, quote
from milsim.gifts.honest import HonestResult, play_honestly
from milsim.gifts.race import N_CARDS, Race
from milsim.policies.spec import parse_spec
from milsim.reports.statistics import Interval
from milsim.rights import kept_rights
from milsim.rules import Rules, digest, load, packed
from milsim.scoring import concession_price, declarer_score, highest_contract, is_made
from milsim.threads import checked_threads

WAYS = ("score", "points")
MAX_TOP = 20
MAX_SECONDS = 3600.0
CHECKED = 3
"""So many of the best gifts are played by the slow policy."""


@dataclass(frozen=True, slots=True)
class GiftPair:
    """One pair of gifts, its values known in all layouts."""

    left: int
    """The card for his left, an index 0–23."""
    right: int
    made: int
    """In how many layouts the contract is made."""
    score: float
    """The declarer's expected score with the contract."""
    points: dict[int, int] = field(repr=False)
    """In how many layouts he gets so many points."""
    highest: int
    """The highest contract that may be named after these gifts."""

    @property
    def gifts(self) -> tuple[int, int]:
        """Both cards, left and right."""
        return self.left, self.right

    @property
    def mean(self) -> float:
        """The declarer's mean points."""
        n = sum(self.points.values())
        return sum(points * count for points, count in self.points.items()) / n

    def reach(self, need: int) -> int:
        """In how many layouts he gets so many points or more."""
        return sum(count for points, count in self.points.items() if points >= need)


@dataclass(frozen=True, slots=True)
class ExchangeAdvice:
    """The best gifts of ten cards, exact over all layouts, double dummy."""

    hand: CardSet
    rules: Rules
    bid: int
    contract: int
    """What was asked for, or the contract of the highest expected score."""
    is_asked: bool
    by: str
    layouts: int
    gifts: tuple[GiftPair, ...]
    """Best first."""
    nodes: int
    """Positions searched."""
    honest: tuple[HonestResult, ...] = ()
    seed: int = 1

    @property
    def best(self) -> GiftPair:
        """The best gifts."""
        return self.gifts[0]

    def curve(self, pair: GiftPair) -> list[tuple[int, int, float]]:
        """Contract, layouts in which it is made, expected score: for all he may name."""
        fields, n = packed(self.rules), self.layouts
        found = []
        for contract in range(self.bid, pair.highest + 1, self.rules.auction.step):
            made = sum(k for p, k in pair.points.items() if is_made(p, contract, fields))
            total = sum(
                k * int(declarer_score(p, contract, fields)) for p, k in pair.points.items()
            )
            found.append((contract, made, total / n))
        return found

    @property
    def nines(self) -> str | None:
        """Who may ask for a new deal after the best gifts, holding four nines; None for nobody."""
        fields = packed(self.rules)
        kept = int(self.hand) & ~(1 << self.best.left | 1 << self.best.right)
        if kept_rights(kept, fields):
            return "declarer"
        if kept & RANK_MASKS[NINE] == 0 and kept_rights(RANK_MASKS[NINE], fields):
            return "defender"
        return None

    @property
    def concession(self) -> int | None:
        """What it costs to give the deal up, if the rules have that, the first time in a match."""
        if self.rules.talon.concede == "off":
            return None
        return int(concession_price(self.bid, 0, packed(self.rules)))

    def provenance(self) -> str:
        """Rules, versions and seed, in one line."""
        from importlib.metadata import version

        return (
            f"milsim {version('milsim')}, rules {self.rules.name} ({digest(self.rules)[:8]}), "
            f"seed {self.seed}"
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "hand": str(self.hand),
            "rules": self.rules.name,
            "rules_digest": digest(self.rules),
            "bid": self.bid,
            "contract": self.contract,
            "contract_is_asked": self.is_asked,
            "by": self.by,
            "kind": "exact",
            "model": "double-dummy",
            "layouts": self.layouts,
            "gifts": [
                {
                    "left": format_card(pair.left),
                    "right": format_card(pair.right),
                    "made": pair.made,
                    "chance": pair.made / self.layouts,
                    "score": pair.score,
                    "mean_points": pair.mean,
                    "highest_contract": pair.highest,
                    "points": {str(points): n for points, n in sorted(pair.points.items())},
                    "contracts": [
                        {"contract": contract, "made": made, "score": score}
                        for contract, made, score in self.curve(pair)
                    ],
                    "honest": [
                        {
                            "policy": result.policy,
                            "layouts": result.layouts,
                            "made": _plain(result.chance(pair.gifts)),
                            "points": _plain(result.mean(pair.gifts)),
                        }
                        for result in self.honest
                        if pair.gifts in result.points
                    ],
                }
                for pair in self.gifts
            ],
            "four_nines": self.nines,
            "concession_price": self.concession,
            "nodes": self.nodes,
            "provenance": self.provenance(),
        }

    def __str__(self) -> str:
        """For people, in 80 columns."""
        from milsim.gifts.text import advice_text

        return advice_text(self)


def _plain(interval: Interval) -> dict[str, float | None]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def _checked_hand(hand: object, letters: str) -> CardSet:
    if isinstance(hand, str):
        cards = CardSet.parse(hand, letters=letters)
    else:
        cards = CardSet(checked_mask(hand))  # type: ignore[arg-type]
    if len(cards) == N_CARDS:
        return cards
    count = "1 card" if len(cards) == 1 else f"{len(cards)} cards"
    if len(cards) == 7:
        help_ = "a hand before the talon is for milsim hand"
    else:
        help_ = "give all he holds with the talon"
    raise DealError(f"hand {cards} has {count}, not the 10 of a declarer; {help_}")


def _checked_contract(value: object, what: str, lowest: int, highest: int, step: int) -> int:
    points = checked_int(value, what)
    if not lowest <= points <= highest or points % step:
        raise DealError(
            f"{what} must be a multiple of {step} from {lowest} to {highest}, got {quote(points)}"
        )
    return points


def exchange(
    hand: str | CardSet | SupportsIndex,
    *,
    rules: str | Path | Rules = "mil",
    bid: int | None = None,
    contract: int | None = None,
    by: str = "score",
    top: int = 5,
    policy: str = "pimc",
    seconds: float = 0.0,
    seed: int = 1,
    threads: int | None = None,
    letters: str = "english",
) -> ExchangeAdvice:
    """Which two of ten cards the declarer gives away, and to whom, and which contract he names.

    ``hand`` are his ten cards, the talon among them: text, a `CardSet` or a mask; ``bid`` is what
    made him declarer (the minimum if not given). Each of the 90 pairs of gifts has a double-dummy
    value in each of the 3,432 layouts of the other cards, all taken to be equally likely: what the
    auction told is left out. ``by`` "score": the ``top`` pairs (1 to 20) of the highest expected
    score with ``contract``, or with the contract whose best gifts score most; no pair left out
    scores more than the last of them. ``by`` "points": those of the most points on average. The
    counts of the pairs told are exact. Rights to a new deal of who holds four nines after the gifts
    are not taken: all layouts are played.

    With ``seconds`` above 0 the best pairs are also played: by ``expert`` in all layouts, and
    the best three by ``policy`` in as many as the time allows.

    Raises NotationError for what is no hand, DealError for not ten cards or a bid or contract that
    the rules do not have, RulesError, PolicyError, and UsageError for an option out of range.

    >>> exchange("AKQ.AT.AK9.K")
    Traceback (most recent call last):
    ...
    milsim.errors.DealError: hand AKQ.AT.AK9.K has 9 cards, not the 10 of a declarer; give all he \
holds with the talon
    """
    cards = _checked_hand(hand, letters)
    chosen = load(rules)
    if by not in WAYS:
        raise UsageError(f"by must be score or points, got {quote(by)}")
    number = checked_int(top, "top")
    if not 1 <= number <= MAX_TOP:
        raise UsageError(f"top must be 1 to {MAX_TOP}, got {quote(number)}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise UsageError(f"seconds must be a number, got {quote(seconds)}")
    if not 0 <= seconds <= MAX_SECONDS or not math.isfinite(seconds):
        raise UsageError(f"seconds must be 0 to {MAX_SECONDS:.0f}, got {quote(seconds)}")
    n_threads = checked_threads(threads)
    parse_spec(policy)
    step, minimum, highest = chosen.auction.step, chosen.auction.minimum, highest_contract(chosen)
    made_bid = minimum if bid is None else _checked_contract(bid, "bid", minimum, highest, step)
    race = Race(int(cards), chosen, made_bid, threads=n_threads)
    if contract is None:
        aim = race.best_contract()
    else:
        most = int(race.highest[race.pairs].max())
        aim = _checked_contract(contract, "contract", made_bid, most, step)
    if by == "score":
        found = race.best_by_score(aim, number)
    else:
        found = race.best_by_points(race.pairs, number)
    advice = advice_of(race, cards, found, aim, contract is not None, by, seed)
    if seconds <= 0:
        return advice
    return _with_honest_play(advice, race, policy, float(seconds))


def advice_of(
    race: Race,
    cards: CardSet,
    pairs: Any,
    contract: int,
    is_asked: bool,
    by: str,
    seed: int = 1,
) -> ExchangeAdvice:
    """What a finished race says of some pairs, whose values are known in all its layouts."""
    told = []
    scores = race.scores(race.lower, contract)
    need = race.need_of(contract)
    for pair in pairs:
        values = race.lower[pair]
        left, right = race.gifts(pair)
        told.append(
            GiftPair(
                left=left,
                right=right,
                made=int((values >= need).sum()),
                score=int(scores[pair]) / race.n,
                points=dict(sorted(Counter(values.tolist()).items())),
                highest=int(race.highest[pair]),
            )
        )
    return ExchangeAdvice(
        hand=cards,
        rules=race.rules,
        bid=race.bid,
        contract=contract,
        is_asked=is_asked,
        by=by,
        layouts=race.n,
        gifts=tuple(told),
        nodes=race.nodes,
        seed=seed,
    )


def _with_honest_play(
    advice: ExchangeAdvice, race: Race, policy: str, seconds: float
) -> ExchangeAdvice:
    from dataclasses import replace

    # What may be named after the gifts, may be played for.
    able = [pair.gifts for pair in advice.gifts if pair.highest >= advice.contract]
    results: list[HonestResult] = []
    for name, pairs, limit in (("expert", able, None), (policy, able[:CHECKED], seconds)):
        if not pairs or (results and name == results[0].policy):
            continue
        results.append(
            play_honestly(
                name,
                pairs,
                ten=race.ten,
                lefts=race.lefts,
                order=race.order,
                bid=race.bid,
                contract=advice.contract,
                need=race.need_of(advice.contract),
                rules=race.rules,
                seed=advice.seed,
                seconds=limit,
                threads=race.threads,
            )
        )
    return replace(advice, honest=tuple(results))


__all__ = ["ExchangeAdvice", "GiftPair", "advice_of", "exchange"]
