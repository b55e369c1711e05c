"""A deal that counts scored in its match: the eight steps of docs/match.md, one function each.

Sources: seeds 000 and 002 steps 9 and 10, seed 001 Y SGORIO; RULES.md §2 "Order at the end of a
deal" and §4 cases 11 to 13, 16, 21; docs/match.md for the order in each step and for the readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, SupportsIndex

from milsim.cards import ACE, CardSet, cards_of, checked_int, checked_mask, mask_of
from milsim.errors import DealError, IllegalActError, quote
from milsim.reference.auction import DARK_BID, highest_bid
from milsim.reference.match_state import Event, MatchState, by_player, checked_player, listed
from milsim.reference.play import card_points, marriages_in, rank
from milsim.reference.scoring import concession_scores, deal_scores, is_made, rounded
from milsim.rules import Rules, load

GOLDEN_BID = 120
TRICKS = 8
DECK = 120
DUMP_TRUCK = 555

Talon = CardSet | SupportsIndex | Iterable[int]


@dataclass(frozen=True, slots=True)
class _Deal:
    """A checked deal that counts; by player, a sitter with 0 points and 0 tricks."""

    declarer: int
    contract: int
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    conceded: bool
    dark: bool
    four_nines: int | None
    talon: tuple[int, ...]


class _Count:
    """The count of one deal: what the match stood at before, and what it stands at now."""

    def __init__(self, rules: Rules, state: MatchState, deal: _Deal) -> None:
        self.rules, self.how, self.state, self.deal = rules, rules.match, state, deal
        self.players = range(state.players)
        self.made = not deal.conceded and is_made(deal.points[deal.declarer], deal.contract, rules)
        self.earned = [0] * state.players  # steps 1 to 3: what the deal adds
        self.scores = list(state.scores)
        self.on_barrel = list(state.on_barrel)
        self.barrel_deals = list(state.barrel_deals)
        self.falls = list(state.falls)
        self.bolts = list(state.bolts)
        self.events = [Event(0)] * state.players
        self.winner: int | None = None

    # -- steps 1 and 2: deal scores, doubling ------------------------------------------------------

    def score_deal(self) -> None:
        """Declarer and defenders as in `milsim.reference.scoring`, which doubles; the sitter."""
        state, deal, rules = self.state, self.deal, self.rules
        declarer = state.seat_of(deal.declarer)
        nines = None if deal.four_nines is None else state.seat_of(deal.four_nines)
        golden = state.is_golden(rules)
        assert declarer is not None
        if deal.conceded:
            by_seat = concession_scores(
                declarer,
                deal.contract,
                rules,
                earlier=state.concessions[deal.declarer],
                four_nines=nines,
                dark=deal.dark,
                golden=golden,
            )
        else:
            by_seat = deal_scores(
                state.by_seat(deal.points),
                declarer,
                deal.contract,
                rules,
                four_nines=nines,
                dark=deal.dark,
                golden=golden,
            )
        for player, score in zip(state.active, by_seat, strict=True):
            self.earned[player] = score
        if state.sitter is not None:
            double = 2 if _is_golden_120(rules, state) else 1
            self.earned[state.sitter] = double * talon_score(deal.talon, rules)

    # -- step 3: who may score ---------------------------------------------------------------------

    def lock(self) -> None:
        """Locked players and those on the barrel score as declarer only (seeds step 10)."""
        for player in self.players:
            counted = self._counted(player)
            if counted != self.earned[player]:
                self.events[player] |= Event.LOCKED
            self.earned[player] = counted

    def _counted(self, player: int) -> int:
        start, earned = self.state.scores[player], self.earned[player]
        was_on_barrel = self.state.on_barrel[player]
        if player != self.deal.declarer:
            locked = self.how.lock != "off" and start >= self.how.lock
            return 0 if locked or was_on_barrel else earned
        if was_on_barrel and self.made and start + earned < self.how.target:
            return 0
        if was_on_barrel and not self.made and self.how.barrel_failed == "attempt":
            return 0
        return earned

    # -- step 4: add -------------------------------------------------------------------------------

    def add(self) -> None:
        """What was earned is added to the scores."""
        for player in self.players:
            self.scores[player] += self.earned[player]

    # -- step 5: bolts -----------------------------------------------------------------------------

    def give_bolts(self) -> None:
        """A deal without tricks, or without points, is a bolt; the last of some has a price."""
        if self.how.bolts == "off":
            return
        for player in self.state.active:
            if self._is_spared(player):
                continue
            if not self._took_nothing(player):
                if self.how.bolts_counted == "in_a_row":
                    self.bolts[player] = 0
                continue
            self.events[player] |= Event.BOLT
            self.bolts[player] += 1
            if self.bolts[player] == self.how.bolts_limit:
                self.events[player] |= Event.BOLT_PENALTY
                self.scores[player] -= self.how.bolts_penalty
                self.bolts[player] = 0

    def _is_spared(self, player: int) -> bool:
        return (
            (self.how.bolts_spare_declarer and player == self.deal.declarer)
            or (self.how.bolts_spare_barrel and self.state.on_barrel[player])
            or (self.how.bolts_spare_conceded and self.deal.conceded)
        )

    def _took_nothing(self, player: int) -> bool:
        counted = self.deal.tricks if self.how.bolts == "zero_tricks" else self.deal.points
        return counted[player] == 0

    # -- step 6: caps and the barrel ---------------------------------------------------------------

    def cap(self) -> None:
        """Seeds step 10: "a player who is not declarer never passes 990"."""
        if self.how.defender_cap == "off":
            return
        for player in self.players:
            most = max(self.how.defender_cap, self.state.scores[player])
            if player != self.deal.declarer and self.scores[player] > most:
                self.scores[player] = most
                self.events[player] |= Event.CAPPED

    def settle_barrel(self) -> None:
        """Leaving, winning, attempts, mounting, company, falls: each for all, then the next."""
        if self.how.barrel == "off":
            return
        self._leave(self.how.barrel)
        self._win_from_barrel()
        self._count_attempts(self.how.barrel)
        mounted = self._mount(self.how.barrel)
        if mounted:
            self._meet_company(mounted)
        self._reset_after_falls()

    def _on_barrel_still(self) -> list[int]:
        """Who was on the barrel when the deal began and has not left it."""
        return [p for p in self.players if self.state.on_barrel[p] and self.on_barrel[p]]

    def _fall(self, player: int, penalty: int = 0) -> None:
        self.scores[player] -= penalty
        self.on_barrel[player] = False
        self.barrel_deals[player] = 0
        self.falls[player] += 1
        self.events[player] |= Event.FELL

    def _leave(self, barrel: int) -> None:
        for player in self._on_barrel_still():
            if self.scores[player] < barrel:
                self._fall(player)

    def _win_from_barrel(self) -> None:
        for player in self._on_barrel_still():
            if self._is_own_success(player) and self.scores[player] >= self.how.target:
                self.on_barrel[player] = False
                self.barrel_deals[player] = 0

    def _is_own_success(self, player: int) -> bool:
        return player == self.deal.declarer and self.made

    def _count_attempts(self, barrel: int) -> None:
        for player in self._on_barrel_still():
            self.scores[player] = barrel
            every_deal = self.how.barrel_counts == "every_deal"
            if player in self.state.active and (every_deal or player == self.deal.declarer):
                self.barrel_deals[player] += 1
            if self.barrel_deals[player] == self.how.barrel_deals:
                self._fall(player, self.how.barrel_penalty)

    def _mount(self, barrel: int) -> list[int]:
        mounted = []
        for player in self.players:
            if self.state.on_barrel[player] or self.scores[player] < barrel:
                continue
            if self.how.jump_over == "wins" and self.scores[player] >= self.how.target:
                self.events[player] |= Event.JUMPED
                continue
            self.scores[player] = barrel
            self.on_barrel[player] = True
            self.events[player] |= Event.MOUNTED
            mounted.append(player)
        return mounted

    def _meet_company(self, mounted: Sequence[int]) -> None:
        """What newcomers do to who was there before, and to each other."""
        there = [player for player in self.players if self.on_barrel[player]]
        if self.how.barrel_newcomer == "knocks_off":
            for player in there:
                if player not in mounted:
                    self._fall(player, self.how.barrel_penalty)
        elif self.how.barrel_newcomer == "all_fall" and len(there) > 1:
            for player in there:
                self._fall(player, self.how.barrel_penalty)

    def _reset_after_falls(self) -> None:
        for player in self.players:
            if self.how.barrel_falls and self.falls[player] == self.how.barrel_falls:
                self.scores[player] = 0
                self.falls[player] = 0
                self.events[player] |= Event.RESET

    # -- steps 7 and 8: dump truck, winner ---------------------------------------------------------

    def dump(self) -> None:
        """Exactly 555, and −555 by some rules, becomes 0 if the score has just come there."""
        dumped = {"off": (), "plus": (DUMP_TRUCK,), "plus_and_minus": (DUMP_TRUCK, -DUMP_TRUCK)}
        for player in self.players:
            changed = self.scores[player] != self.state.scores[player]
            if changed and self.scores[player] in dumped[self.how.dump_truck]:
                self.scores[player] = 0
                self.events[player] |= Event.DUMPED

    def find_winner(self) -> None:
        """Seeds step 10: "the first to reach 1000 wins"; the successful declarer before others."""
        declarer, target = self.deal.declarer, self.how.target
        highest = max(self.scores)
        if highest < target:
            return
        if self.made and self.scores[declarer] >= target:
            self.winner = declarer
        elif self.scores.count(highest) == 1:
            self.winner = self.scores.index(highest)
        if self.winner is not None:
            self.events[self.winner] |= Event.WON

    def result(self) -> MatchState:
        """The state after the deal; the next player deals."""
        concessions = list(self.state.concessions)
        if self.deal.conceded:
            concessions[self.deal.declarer] += 1
        return MatchState(
            scores=tuple(self.scores),
            on_barrel=tuple(self.on_barrel),
            barrel_deals=tuple(self.barrel_deals),
            falls=tuple(self.falls),
            bolts=tuple(self.bolts),
            concessions=tuple(concessions),
            events=tuple(self.events),
            dealer=(self.state.dealer + 1) % self.state.players,
            deals=self.state.deals + 1,
            winner=self.winner,
        )


def score_match_deal(
    rules: str | Path | Rules,
    state: MatchState | Sequence[int] | None,
    *,
    declarer: int,
    contract: int,
    points: Sequence[int] | None = None,
    tricks: Sequence[int] | None = None,
    conceded: bool = False,
    dark: bool = False,
    four_nines: int | None = None,
    talon: Talon | None = None,
) -> MatchState:
    """The match after one more deal that counts, played or conceded: docs/match.md as one function.

    ``state``: where the match stands; None is its start, a list of scores is these scores and
    nothing else remembered (`MatchState.of_scores`). By player, the sitter of four with 0:
    ``points`` (card points, declared marriages, the bonus of the last trick) and ``tricks``; both
    may be left out of a conceded deal. ``declarer`` and ``four_nines`` (who was dealt them) are
    players, ``contract`` is in points: the contract played or, conceded, the bid. ``dark``: the
    contract goes back to a dark bid that stood. ``talon``: its three cards, as a mask, a CardSet or
    card indices, needed only where a sitter scores from them.

    Raises RulesError for unknown rules; DealError, naming the argument, for a number of another
    type or out of its range, points or tricks that do not add up, a state that these rules cannot
    stand at or a match that is over; IllegalActError for a dark contract or a concession that these
    rules, or this state, do not allow. Source: seeds 000 and 002 steps 9 and 10; docs/match.md.

    >>> after = score_match_deal(
    ...     "mil", (880, 790, 300), declarer=0, contract=120, points=(138, 18, 24), tricks=(6, 1, 1)
    ... )
    >>> after.scores, after.winner
    ((1000, 810, 320), 0)
    >>> after = score_match_deal(
    ...     "mil", (700, 790, 800), declarer=0, contract=120, points=(0, 240, 20), tricks=(0, 6, 2)
    ... )
    >>> after.scores, after.events[1:]
    ((580, 990, 800), (<Event.CAPPED: 2>, <Event.LOCKED: 1>))
    """
    chosen = load(rules)
    before = _checked_state(chosen, state)
    deal = _checked_deal(
        chosen, before, declarer, contract, points, tricks, conceded, dark, four_nines, talon
    )
    count = _Count(chosen, before, deal)
    count.score_deal()  # steps 1 and 2
    count.lock()  # step 3
    count.add()  # step 4
    count.give_bolts()  # step 5
    count.cap()  # step 6
    count.settle_barrel()
    count.dump()  # step 7
    count.find_winner()  # step 8
    return count.result()


def redealt(
    rules: str | Path | Rules, state: MatchState | Sequence[int] | None, next_dealer: bool
) -> MatchState:
    """The match after a deal that does not count: a new deal by a right, or all passed.

    Nothing changes but, with ``next_dealer``, who deals (`DealResult.next_dealer` says it as
    ``redeal_dealer`` or ``all_pass`` have it). Raises DealError as `score_match_deal`.

    >>> redealt("mil", None, True).dealer, redealt("mil", None, False).dealer
    (0, 2)
    """
    before = _checked_state(load(rules), state)
    moves = _checked_switch(next_dealer, "next_dealer")
    return replace(
        before,
        dealer=(before.dealer + moves) % before.players,
        events=(Event(0),) * before.players,
    )


def talon_score(talon: Iterable[int], rules: str | Path | Rules = "mil") -> int:
    """What the sitting dealer of four scores for the three cards of the talon (``match.sitter``).

    >>> from milsim.rules import parse
    >>> rules = parse('[deal]\\nplayers = 4\\n[match]\\nsitter = "aces_and_marriages"')
    >>> talon_score([2, 3, 11], rules)  # the marriage of spades and the ace of clubs
    90
    """
    chosen, cards = load(rules), list(talon)
    how = chosen.match
    if how.sitter == "talon_points":
        return rounded(card_points(cards), chosen.scoring.defender_rounding)
    if how.sitter == "aces_and_marriages":
        values = chosen.deal.marriage_values.by_suit()
        aces = sum(1 for card in cards if rank(card) == ACE)
        return how.sitter_ace * aces + sum(values[suit] for suit in marriages_in(cards))
    return 0


# -- at the border -------------------------------------------------------------------------------


def _checked_state(rules: Rules, state: MatchState | Sequence[int] | None) -> MatchState:
    if state is None:
        return MatchState.start(rules)
    if not isinstance(state, MatchState):
        return MatchState.of_scores(rules, state)
    state.check(rules)
    if state.winner is not None:
        raise DealError(f"state: the match is over, player {state.winner} has won")
    if state.is_over(rules):
        raise DealError(f"state: the match is over after {state.deals} deals (match.max_deals)")
    return state


def _checked_deal(
    rules: Rules,
    state: MatchState,
    declarer: object,
    contract: object,
    points: object,
    tricks: object,
    conceded: object,
    dark: object,
    four_nines: object,
    talon: Any,
) -> _Deal:
    player = _checked_active(declarer, "declarer", state)
    is_conceded = _checked_switch(conceded, "conceded")
    is_dark = _checked_switch(dark, "dark")
    nines = None if four_nines is None else _checked_active(four_nines, "four_nines", state)
    cards = _checked_talon(talon, rules, nines)
    if is_conceded:
        _check_concession(rules, state, player)
    if is_dark:
        _check_dark(rules, state, player)
    if _is_golden_120(rules, state) and player != state.forehand:
        raise DealError(
            f"declarer must be forehand, player {state.forehand}, in this golden deal, got {player}"
        )
    amount = _checked_contract(contract, rules, state, is_conceded, is_dark)
    if is_conceded:
        none = (0,) * state.players
        for value, what in ((points, "points"), (tricks, "tricks")):
            if value is not None and by_player(value, what, state.players) != none:
                raise DealError(f"{what} must be 0 in a conceded deal, got {quote(value)}")
        return _Deal(player, amount, none, none, True, is_dark, nines, cards)
    won = _checked_tricks(tricks, state)
    taken = _checked_points(points, won, player, rules, state)
    return _Deal(player, amount, taken, won, False, is_dark, nines, cards)


def _is_golden_120(rules: Rules, state: MatchState) -> bool:
    """Whether the deal is golden and forehand plays 120 without an auction."""
    return state.is_golden(rules) and rules.match.golden == "forehand_plays_120"


def _checked_switch(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise DealError(f"{what} must be true or false, got {quote(value)}")
    return value


def _checked_active(value: object, what: str, state: MatchState) -> int:
    player = checked_player(value, what, state.players)
    if player == state.sitter:
        raise DealError(
            f"{what} must be one of the active players {state.active}, got the sitter {player}"
        )
    return player


def _checked_contract(
    contract: object, rules: Rules, state: MatchState, conceded: bool, dark: bool
) -> int:
    what = "contract (the bid)" if conceded else "contract"
    amount, step = checked_int(contract, what), rules.auction.step
    lowest = rules.auction.minimum
    golden = state.is_golden(rules)
    if golden or dark:  # a golden minimum, or a compulsory or dark bid of 120
        lowest = max(GOLDEN_BID, lowest) if golden else DARK_BID
    highest = max(lowest, highest_bid(range(24), rules))
    as_bid = dark or _is_golden_120(rules, state)
    if as_bid and (conceded or not rules.talon.raise_contract):
        highest = lowest
    if not lowest <= amount <= highest or amount % step:
        raise DealError(
            f"{what} must be a multiple of {step} from {lowest} to {highest}, got {quote(amount)}"
        )
    return amount


def _checked_tricks(tricks: object, state: MatchState) -> tuple[int, ...]:
    won = by_player(tricks, "tricks", state.players)
    if sum(won) != TRICKS:
        raise DealError(f"tricks must sum to {TRICKS}, got {won} with sum {quote(sum(won))}")
    if state.sitter is not None and won[state.sitter]:
        raise DealError(f"tricks of the sitter, player {state.sitter}, must be 0, got {won}")
    return won


def _checked_points(
    points: object, tricks: tuple[int, ...], declarer: int, rules: Rules, state: MatchState
) -> tuple[int, ...]:
    taken = by_player(points, "points", state.players)
    total, possible = sum(taken), _possible_totals(rules)
    if total not in possible:
        near = [max((t for t in possible if t < total), default=None)]
        near += [min((t for t in possible if t > total), default=None)]
        hint = " or ".join(str(t) for t in near if t is not None)
        raise DealError(
            f"points {taken} sum to {quote(total)}, not {DECK} and marriages: try {hint}"
        )
    if state.sitter is not None and taken[state.sitter]:
        raise DealError(f"points of the sitter, player {state.sitter}, must be 0, got {taken}")
    values = {0, *rules.deal.marriage_values.by_suit(), rules.play.ace_marriage}
    for player in state.active:
        # who has won no trick has led at most the first one, as declarer
        led = player == declarer and rules.play.marriage_from_trick == 1
        if tricks[player] == 0 and taken[player] not in (values if led else {0}):
            raise DealError(
                f"points of player {player} must be {'a marriage or ' if led else ''}0 without "
                f"a trick, got {taken[player]}"
            )
    return taken


def _possible_totals(rules: Rules) -> set[int]:
    """All that the points of a finished deal can sum to (RULES.md §4, case 20)."""
    base = DECK + rules.play.last_trick_bonus
    worth = (*rules.deal.marriage_values.by_suit(), rules.play.ace_marriage)
    some = chain.from_iterable(combinations(worth, size) for size in range(len(worth) + 1))
    return {base + sum(each) for each in some}


def _check_concession(rules: Rules, state: MatchState, player: int) -> None:
    how = rules.talon
    if how.concede == "off":
        raise IllegalActError("conceded: these rules have no concession (talon.concede is off)")
    if how.concede_limit and state.concessions[player] >= how.concede_limit:
        raise IllegalActError(
            f"conceded: player {player} has conceded {state.concessions[player]} times, the limit "
            f"is {how.concede_limit}"
        )
    if state.on_barrel[player] and not how.concede_on_barrel:
        raise IllegalActError(f"conceded: player {player} is on the barrel and may not concede")


def _check_dark(rules: Rules, state: MatchState, player: int) -> None:
    how = rules.auction
    if not how.dark:
        raise IllegalActError("dark: these rules have no dark bid (auction.dark is false)")
    if how.minimum > DARK_BID:
        raise IllegalActError(f"dark: a dark bid is {DARK_BID}, the minimum is {how.minimum}")
    if _is_golden_120(rules, state):
        raise IllegalActError("dark: a golden deal without auction has no dark bid")
    if player != state.forehand:
        raise IllegalActError(
            f"dark: only forehand, player {state.forehand}, may bid so, not player {player}"
        )
    if how.silence_below != "off" and state.scores[player] <= how.silence_below:
        raise IllegalActError(
            f"dark: player {player} has {state.scores[player]} points and may not bid at "
            f"{how.silence_below} or below"
        )


def _checked_talon(talon: Any, rules: Rules, four_nines: int | None) -> tuple[int, ...]:
    if talon is None:
        if rules.deal.players == 4 and rules.match.sitter != "nothing":
            raise DealError(
                f"talon: its three cards are needed, the sitter scores {rules.match.sitter}"
            )
        return ()
    if isinstance(talon, CardSet) or not isinstance(talon, Iterable):
        mask = checked_mask(talon)
    else:
        mask = mask_of(listed(talon, "talon"))
    found = tuple(cards_of(mask))
    if len(found) != 3:
        raise DealError(f"talon must be three cards, got {len(found)}: {quote(talon)}")
    if four_nines is not None and any(rank(card) == 0 for card in found):
        raise DealError(f"four_nines: player {four_nines} cannot have them, a nine is in the talon")
    return found


__all__ = ["Event", "MatchState", "redealt", "score_match_deal", "talon_score"]
