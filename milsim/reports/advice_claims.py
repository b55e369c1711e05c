"""The claims of report ``advice``, one function each: what is said, and what deals say to it.

Sources of the claims: the four tips at the end of seeds 000 and 002, and figures that players and
bots report (folklore). What is measured of each is said in its rows; all is sampled, and by which
play stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milsim.cards import CLUBS, N_RANKS, N_SUITS, NO_TRUMP, SUIT_MASKS
from milsim.reports.advice_play import (
    AlwaysSmears,
    Habit,
    NeverSmears,
    Played,
    RandomGifts,
    Smears,
    TipGifts,
    driven,
    played,
    tip_gifts,
)
from milsim.reports.contract import Contract
from milsim.reports.statistics import Interval, Moments, Z, difference, spread, wilson
from milsim.simulation import columns, match_columns
from milsim.simulation.match_engine import play_match_plan
from milsim.simulation.match_plan import MatchPlan
from milsim.simulation.plan import Plan
from milsim.tricks import winning_place
from milsim.where import feature, suit_set

SEEDS = "seeds 000, 002, tips"
FOLKLORE = "folklore"
SEVERAL = 3
DOUBLE_DUMMY = "double dummy"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Study:
    """What is played: the plan of forehand declaring every deal, and of how much else."""

    plan: Plan
    few: int
    matches: int
    threads: int | None

    @property
    def policy(self) -> str:
        """Who plays all seats."""
        return self.plan.policies[0]

    @property
    def model(self) -> str:
        """The name of the play."""
        return f"policy {self.policy}"

    def some(self, **changes: Any) -> Plan:
        """A plan of the same rules and seed with other numbers."""
        given = {"deals": self.few, "mode": "declarer", **changes}
        return Plan.make(seed=self.plan.seed, rules=self.plan.rules, policy=[self.policy], **given)


def row(
    claim: str,
    source: str,
    measured: str,
    interval: Interval,
    unit: str,
    n: int,
    verdict: str,
    model: str,
) -> Row:
    """One line of the report."""
    return {
        "claim": claim,
        "source": source,
        "measured": measured,
        "unit": unit,
        **spread("value", interval),
        "n": n,
        "verdict": verdict,
        "model": model,
    }


def sign_word(interval: Interval, above: str, below: str, between: str = "undecided") -> str:
    """A word for where an interval lies: above 0, below 0, or over it.

    >>> sign_word(Interval(2.0, 1.0, 3.0), "gains", "loses")
    'gains'
    """
    if interval.low is None or interval.high is None:
        return between
    return above if interval.low > 0 else below if interval.high < 0 else between


def mean_of(values: NDArray[np.int64]) -> Interval:
    """The mean of whole numbers with its interval."""
    return moments_of(values).mean()


def moments_of(values: NDArray[np.int64]) -> Moments:
    """Their moments."""
    wide = values.astype(np.int64)
    return Moments(len(wide), int(wide.sum()), int((wide * wide).sum()))


# -- what a hand is worth ------------------------------------------------------------------------


def bidding_claims(study: Study, deals: Played) -> Iterator[Row]:
    """Tip 1, the opening table, and what an ace and a guarded ten are worth."""
    rules, hand = deals.rules, deals.hands[0]
    points = deals[columns.DECLARER_POINTS]
    marriages, aces = feature("marriages", hand), feature("aces", hand)
    high = aces + feature("tens", hand)
    red = suit_set("marriages", hand) >> (CLUBS + 1) > 0
    first = rules.auction.minimum

    def scores(chosen: NDArray[np.bool_], value: int) -> Interval:
        contract = Contract.of(value, rules)
        won, lost = contract._score(contract.needs), contract._score(0)
        made = points[chosen] >= contract.needs
        return mean_of(np.where(made, won, lost))

    claim = "bid above 100 only with a marriage or several aces and tens"
    above = first + rules.auction.step
    for who, chosen, says in (
        ("with a marriage", marriages > 0, True),
        ("with a marriage but no ace", (marriages > 0) & (aces == 0), True),
        (
            f"no marriage, {SEVERAL} or more aces and tens",
            (marriages == 0) & (high >= SEVERAL),
            True,
        ),
        (f"no marriage, fewer than {SEVERAL} of them", (marriages == 0) & (high < SEVERAL), False),
    ):
        found = scores(chosen, above)
        if says:
            verdict = sign_word(found, "holds", "not so: loses")
        else:
            verdict = sign_word(found, "not so: gains", "holds: loses")
        measured = f"mean score at {above}, {who}"
        n = int(chosen.sum())
        yield row(claim, SEEDS, measured, found, "points", n, verdict, study.model)

    table = "opening table: one marriage or two aces 100"
    for claim, who, chosen, value in (
        (table, "one marriage", marriages == 1, first),
        (table, "two aces, no marriage", (marriages == 0) & (aces == 2), first),
        (
            "opening table: ♥/♦ marriage and an ace 110–120",
            "one marriage, ♥ or ♦, and an ace",
            (marriages == 1) & red & (aces >= 1),
            first + 20,
        ),
        ("opening table: two marriages 120", "two marriages", marriages == 2, first + 20),
    ):
        found = scores(chosen, value)
        verdict = sign_word(found, "holds", "too bold: loses")
        if verdict == "holds":
            more = value
            while more < 400 and (scores(chosen, more + 10).low or -1) > 0:
                more += 10
            verdict += f", and up to {more}" if more > value else ""
        measured = f"mean score at {value}, {who}"
        yield row(
            claim, FOLKLORE, measured, found, "points", int(chosen.sum()), verdict, study.model
        )
    yield from _worths(study, hand, points)


def _worths(study: Study, hand: NDArray[np.int64], points: NDArray[np.int64]) -> Iterator[Row]:
    """Least squares on aces, guarded tens and the marriage of each suit; robust errors (HC0)."""
    held = suit_set("marriages", hand)
    parts = [
        np.ones(len(hand)),
        feature("aces", hand),
        feature("guarded_tens", hand),
        *(held >> suit & 1 for suit in range(N_SUITS)),
    ]
    design = np.column_stack(parts).astype(np.float64)
    inverse = np.linalg.pinv(design.T @ design)
    weights = inverse @ (design.T @ points)
    scaled = design * (points - design @ weights)[:, np.newaxis]
    errors = np.sqrt(np.diag(inverse @ (scaled.T @ scaled) @ inverse))
    for claim, place, said in (
        ("an ace is worth about 25 points", 1, 25),
        ("a guarded ten is worth about 15 points", 2, 15),
    ):
        value, half = float(weights[place]), Z * float(errors[place])
        found = Interval(value, value - half, value + half)
        near = abs(value - said) <= said / 5
        verdict = "holds" if near else f"not so: {'more' if value > said else 'less'}"
        measured = "points for one more in 7 cards (least squares)"
        yield row(claim, FOLKLORE, measured, found, "points", len(hand), verdict, study.model)


# -- gifts ---------------------------------------------------------------------------------------


def gift_claims(study: Study) -> Iterator[Row]:
    """Tip 2: against the best pair double dummy, and against random gifts in play."""
    from milsim.solver import best_exchange_batch, solve_batch

    claim = "give nines and jacks from the suits you hold fewest of"
    plan = study.some()
    tip = driven(plan, [TipGifts(study.policy), *_others(study)])
    habits = {
        "random gifts": driven(plan, [RandomGifts(study.policy), *_others(study)]),
        "the policy's own": driven(plan, [Habit(study.policy), *_others(study)]),
    }
    points = tip[columns.DECLARER_POINTS].astype(np.int64)
    for name, values in habits.items():
        found = mean_of(points - values[columns.DECLARER_POINTS])
        verdict = sign_word(found, "holds: gains", "not so: loses", "no difference seen")
        measured = f"points, the tip's gifts minus {name}"
        yield row(claim, SEEDS, measured, found, "points", len(points), verdict, study.model)
    solved = min(study.few, max(study.few // 4, 50))
    deals = played(study.some(deals=solved), study.threads)
    numbers = _numbers(study, solved)
    best = best_exchange_batch(numbers, rules=plan.rules, threads=study.threads)
    hands = np.array(
        [
            _after(int(a) | int(t), int(b), int(c))
            for a, b, c, t in zip(*deals.hands, deals.talon, strict=True)
        ]
    )
    declarer, left, right = hands.T
    values = solve_batch(declarer, left, right, rules=plan.rules, threads=study.threads)
    lost = best.points.astype(np.int64) - values
    share = wilson(int((lost == 0).sum()), solved)
    verdict = "often best" if (share.value or 0) > 0.5 else "mostly not the best"
    measured = "no other pair is better, DD"
    yield row(claim, SEEDS, measured, share, "share", solved, verdict, DOUBLE_DUMMY)
    found = mean_of(lost)
    measured = "points lost against the best pair, DD"
    yield row(claim, SEEDS, measured, found, "points", solved, "the price of a rule", DOUBLE_DUMMY)


def _after(hand10: int, left: int, right: int) -> tuple[int, int, int]:
    one, other = tip_gifts(hand10)
    return hand10 & ~(1 << one) & ~(1 << other), left | 1 << one, right | 1 << other


def _numbers(study: Study, deals: int) -> NDArray[np.uint64]:
    from milsim.dealing import sample_deals

    return sample_deals(deals, seed=study.plan.seed, start=study.plan.start)


def _others(study: Study) -> list[Habit]:
    return [Habit(study.policy) for _ in range(2)]


# -- declaring -----------------------------------------------------------------------------------


def ace_claims(study: Study, deals: Played) -> Iterator[Row]:
    """Tip 3: hands of ten with exactly one marriage, with an ace and without."""
    claim = "take a trick with an ace before declaring: only then can you lead the pair"
    hand10 = deals.hands[0] | deals.talon
    held, aces = suit_set("marriages", hand10), feature("aces", hand10)
    one = (held > 0) & (held & (held - 1) == 0)
    declared = np.zeros(len(held), np.bool_)
    for suit in range(N_SUITS):
        by_forehand = deals.values[columns.DECLARED_SEAT + suit] == 0
        declared |= (held >> suit & 1 == 1) & by_forehand
    points = deals[columns.DECLARER_POINTS]
    with_ace, without = one & (aces > 0), one & (aces == 0)
    for who, chosen in (("with an ace", with_ace), ("without", without)):
        n = int(chosen.sum())
        share = wilson(int(declared[chosen].sum()), n)
        verdict = "mostly declared" if (share.value or 0) > 0.5 else "mostly not declared"
        if chosen is without:
            verdict = "fails: other cards win too" if (share.low or 0) > 0.05 else "holds"
        measured = f"one marriage in ten cards, {who}: declared"
        yield row(claim, SEEDS, measured, share, "share", n, verdict, study.model)
    found = difference(moments_of(points[with_ace]), moments_of(points[without]))
    verdict = sign_word(found, "holds", "not so")
    n = int(one.sum())
    measured = "points, with an ace minus without"
    yield row(claim, SEEDS, measured, found, "points", n, verdict, study.model)


# -- smearing ------------------------------------------------------------------------------------


def smear_claims(study: Study) -> Iterator[Row]:
    """Tip 4: always against never, in play; and what it costs with all cards known."""
    claim = "smear a ten or ace when the other defender takes the trick"
    plan, notes = study.some(), Smears()
    declarer = Habit(study.policy)
    always = [declarer, *(AlwaysSmears(study.policy, notes) for _ in range(2))]
    never = [declarer, *(NeverSmears(study.policy) for _ in range(2))]
    smeared, kept = driven(plan, always), driven(plan, never)
    apart = kept[columns.DECLARER_POINTS].astype(np.int64) - smeared[columns.DECLARER_POINTS]
    found = mean_of(apart)
    verdict = sign_word(found, "holds: gains", "not so: loses", "no difference seen")
    measured = "defenders' gain a deal, always minus never"
    yield row(claim, SEEDS, measured, found, "points", plan.deals, verdict, study.model)
    gains = smear_gains(notes, plan, study.threads)
    sure = sure_winners(notes)
    for who, chosen in (("that could be beaten later", ~sure), ("sure to win later", sure)):
        mine = gains[chosen]
        found = mean_of(mine)
        verdict = sign_word(found, "holds: gains", "fails: loses", "no difference seen")
        measured = f"defenders' gain by a card {who}, DD"
        yield row(claim, SEEDS, measured, found, "points", len(mine), verdict, DOUBLE_DUMMY)
    share = wilson(int((gains < 0).sum()), len(gains))
    measured = "choices in which smearing costs points, DD"
    verdict = "has exceptions"
    yield row(claim, SEEDS, measured, share, "share", len(gains), verdict, DOUBLE_DUMMY)


def sure_winners(notes: Smears) -> NDArray[np.bool_]:
    """Whether nobody else holds a higher card of its suit than the dearer card of each choice."""
    found = []
    for hands, rich, role in zip(notes.hands, notes.rich, notes.role, strict=True):
        others = sum(hands) - hands[role]
        suit = SUIT_MASKS[rich // N_RANKS]
        found.append(others & suit & -(2 << rich) == 0)
    return np.array(found, dtype=np.bool_)


def smear_gains(notes: Smears, plan: Plan, threads: int | None) -> NDArray[np.int64]:
    """Declarer points saved, double dummy, by the dearer card of each choice; int64 (choices,)."""
    from milsim.solver import solve_batch

    if not notes.hands:
        return np.zeros(0, np.int64)
    values = []
    for cards in (notes.rich, notes.poor):
        hands = np.array(notes.hands, dtype=np.int64)
        leaders, trumps = [], []
        for i, card in enumerate(cards):
            hands[i, notes.role[i]] ^= 1 << card
            lead, second = notes.lead[i], notes.second[i]
            place = int(winning_place(lead, second, 1 << card, notes.trumps[i]))
            leaders.append((notes.leader[i] + place) % 3)
            coming = notes.coming[i]
            trumps.append(SUIT_MASKS.index(coming) if coming else NO_TRUMP)
        declarer, left, right = hands.T
        points = solve_batch(
            declarer, left, right, leaders, trumps, rules=plan.rules, threads=threads
        )
        values.append(points.astype(np.int64))
    gained: NDArray[np.int64] = values[1] - values[0]
    return gained


# -- what bots and players report ----------------------------------------------------------------


def auction_claims(study: Study) -> Iterator[Row]:
    """Make rates and winning bids with bidding."""
    deals = played(study.some(deals=study.plan.deals, mode="auction"), study.threads)
    played_out = deals[columns.CONCEDED] == 0
    n = int(played_out.sum())
    rate = wilson(int(deals[columns.MADE][played_out].sum()), n)
    claim = "bots make 67–74 % of contracts at mean winning bids of 121–125"
    value = rate.value or 0.0
    verdict = "holds" if 0.67 <= value <= 0.74 else f"not so: {'more' if value > 0.74 else 'fewer'}"
    yield row(claim, FOLKLORE, "contracts made", rate, "share", n, verdict, study.model)
    bid = mean_of(deals[columns.BID])
    value = bid.value or 0.0
    verdict = "holds" if 121 <= value <= 125 else f"not so: {'higher' if value > 125 else 'lower'}"
    yield row(claim, FOLKLORE, "mean winning bid", bid, "points", n, verdict, study.model)


def match_claims(study: Study) -> Iterator[Row]:
    """How many deals a match takes."""
    if study.matches == 0:
        return
    policy, rules = study.policy, study.plan.rules
    plan = MatchPlan.make(matches=study.matches, seed=study.plan.seed, rules=rules, policy=[policy])
    chunks = play_match_plan(plan, threads=study.threads)
    lengths = np.concatenate([chunk.results[match_columns.DEALS] for chunk in chunks])
    claim = "a game to 1000 takes 15–23 deals"
    found = mean_of(lengths)
    value = found.value or 0.0
    verdict = "holds on average" if 15 <= value <= 23 else "not so on average"
    n = len(lengths)
    yield row(claim, FOLKLORE, "mean deals a match", found, "deals", n, verdict, study.model)
    inside = int(((lengths >= 15) & (lengths <= 23)).sum())
    share = wilson(inside, n)
    verdict = "holds for most" if inside > n / 2 else "fails for most"
    measured = "matches of 15 to 23 deals"
    yield row(claim, FOLKLORE, measured, share, "share", n, verdict, study.model)


CLAIMS: tuple[tuple[str, Callable[[Study, Played], Iterator[Row]]], ...] = (
    ("hands", bidding_claims),
    ("gifts", lambda study, _: gift_claims(study)),
    ("declaring", ace_claims),
    ("smearing", lambda study, _: smear_claims(study)),
    ("auctions", lambda study, _: auction_claims(study)),
    ("matches", lambda study, _: match_claims(study)),
)
"""The groups of claims, in the order of the report."""

__all__ = ["CLAIMS", "Row", "Study", "smear_gains", "sure_winners"]
