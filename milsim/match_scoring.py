"""A match: scores, barrels, bolts and the winner, as kernels over one array.

A match is one int64 array of shape (MATCH_SIZE,), read by the named places below; a place "by
player" and the next three belong to players 0 to 3. Players are numbered clockwise for the whole
match; what belongs to player 3 stays as it is where three play. `match_start` makes a match,
`score_deal_of_match` takes it from deal to deal, `redealt` over a deal that was thrown in, until
``match[WINNER]`` is a player or the caller has had enough deals. Nothing is validated here.

The numbered steps are those of docs/match.md, "After a deal that counts"; step 1 and the doubling
of step 2 are in `milsim.scoring`.

Sources: docs/match.md; RULES.md §2 (match) and §4, cases 11, 12, 13, 16 and 21; `rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.rules import OFF, place_of, word_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_PLAYERS = 4
NO_PLAYER = -1
NOT_ON_BARREL = -1

# Places in a match.
SCORE = 0  # by player
BARREL = 4  # by player: deals spent on the barrel, or NOT_ON_BARREL
FALLS = 8  # by player: falls from the barrel since they last set the score to 0
BOLTS = 12  # by player: bolts since they were last paid for (or broken off, in a row)
CONCEDED = 16  # by player: concessions
EVENTS = 20  # by player: what happened in the last deal, bits of the words below
DEALER = 24  # who deals next, a player
DEALS = 25  # deals that counted
WINNER = 26  # a player, or NO_PLAYER
# What the caller tells of the deal that ends, before `score_deal_of_match`.
DEAL_SCORE = 27  # by player: doubled where it counts double; 0 for a sitter who gets nothing
TRICKS = 31  # by player: tricks taken
POINTS = 35  # by player: card points and marriages taken
# Room to work in: the scores before the deal, and whether on the barrel then, by player.
_BEFORE = 39
_WAS_ON_BARREL = 43
MATCH_SIZE = 47

# Events, bits that may be added (docs/match.md, "What is remembered").
LOCKED_OUT = 1
CAPPED = 2
MOUNTED = 4
FELL = 8
BOLT = 16
BOLT_PENALTY = 32
DUMPED = 64
RESET = 128
JUMPED = 256
WON = 512

DUMP_TRUCK = 555
"""The score that the dump truck empties, in points."""

_PLAYERS = place_of("deal.players")
_REDEAL_DEALER = place_of("deal.redeal_dealer")
_ALL_PASS = place_of("auction.all_pass")
_TARGET = place_of("match.target")
_LOCK = place_of("match.lock")
_DEFENDER_CAP = place_of("match.defender_cap")
_BARREL = place_of("match.barrel")
_BARREL_DEALS = place_of("match.barrel_deals")
_BARREL_COUNTS = place_of("match.barrel_counts")
_BARREL_FAILED = place_of("match.barrel_failed")
_BARREL_PENALTY = place_of("match.barrel_penalty")
_BARREL_NEWCOMER = place_of("match.barrel_newcomer")
_BARREL_FALLS = place_of("match.barrel_falls")
_JUMP_OVER = place_of("match.jump_over")
_BOLTS = place_of("match.bolts")
_BOLTS_COUNTED = place_of("match.bolts_counted")
_BOLTS_LIMIT = place_of("match.bolts_limit")
_BOLTS_PENALTY = place_of("match.bolts_penalty")
_SPARE_DECLARER = place_of("match.bolts_spare_declarer")
_SPARE_BARREL = place_of("match.bolts_spare_barrel")
_SPARE_CONCEDED = place_of("match.bolts_spare_conceded")
_DUMP_TRUCK = place_of("match.dump_truck")

_NEXT_DEALER = word_of("deal.redeal_dealer", "next")
_REDEAL_NEXT = word_of("auction.all_pass", "redeal_next")
_EVERY_DEAL = word_of("match.barrel_counts", "every_deal")
_ATTEMPT = word_of("match.barrel_failed", "attempt")
_KNOCKS_OFF = word_of("match.barrel_newcomer", "knocks_off")
_ALL_FALL = word_of("match.barrel_newcomer", "all_fall")
_JUMP_WINS = word_of("match.jump_over", "wins")
_NO_BOLTS = word_of("match.bolts", "off")
_ZERO_TRICKS = word_of("match.bolts", "zero_tricks")
_IN_A_ROW = word_of("match.bolts_counted", "in_a_row")
_NO_DUMP = word_of("match.dump_truck", "off")
_DUMPS_BOTH = word_of("match.dump_truck", "plus_and_minus")

# ------------------------------------------------------------------------------- before the cards


@kernel
def match_start(match: NDArray[np.int64], first_dealer: int) -> None:
    """Make ``match`` the beginning of a match; ``first_dealer`` is a player.

    >>> import numpy as np
    >>> match = np.empty(MATCH_SIZE, np.int64)
    >>> match_start(match, 2)
    >>> int(match[SCORE]), int(match[BARREL]), int(match[DEALER]), int(match[WINNER])
    (0, -1, 2, -1)
    """
    match[:] = 0
    for player in range(MAX_PLAYERS):
        match[BARREL + player] = NOT_ON_BARREL
    match[DEALER] = first_dealer
    match[WINNER] = NO_PLAYER


@kernel(inline=True)
def player_at(seat: int, dealer: int, rules: NDArray[np.int64]) -> int:
    """The player who sits at a seat (0 forehand, 1 middlehand, 2 rearhand) of a deal.

    >>> from milsim.rules import load, packed
    >>> [player_at(seat, 2, packed(load("mil"))) for seat in range(3)]
    [0, 1, 2]
    """
    player = dealer + 1 + seat
    players = int(rules[_PLAYERS])
    return player - players if player >= players else player  # quicker than a division


@kernel(inline=True)
def sitter_of(dealer: int, rules: NDArray[np.int64]) -> int:
    """The player who sits a deal out: the dealer of four, or NO_PLAYER.

    >>> from milsim.rules import load, packed
    >>> sitter_of(2, packed(load("mil")))
    -1
    """
    return dealer if rules[_PLAYERS] == MAX_PLAYERS else NO_PLAYER


@kernel(inline=True)
def is_golden(match: NDArray[np.int64], rules: NDArray[np.int64]) -> int:
    """1 if the next deal is one of the first of the match, one a player; else 0.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> match = np.empty(MATCH_SIZE, np.int64)
    >>> match_start(match, 2)
    >>> is_golden(match, packed(load("mil")))
    1
    """
    return 1 if match[DEALS] < rules[_PLAYERS] else 0


@kernel
def redealt(match: NDArray[np.int64], all_passed: int, rules: NDArray[np.int64]) -> None:
    """A deal is thrown in, by a right or (1) because all passed: who deals next. Nothing counts.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> match = np.empty(MATCH_SIZE, np.int64)
    >>> match_start(match, 2)
    >>> redealt(match, 0, packed(load("mil")))
    >>> int(match[DEALER])
    2
    """
    if all_passed != 0:
        moves_on = rules[_ALL_PASS] == _REDEAL_NEXT
    else:
        moves_on = rules[_REDEAL_DEALER] == _NEXT_DEALER
    for player in range(MAX_PLAYERS):
        match[EVENTS + player] = 0
    if moves_on:
        match[DEALER] = player_at(0, int(match[DEALER]), rules)


# ------------------------------------------------------------------------------- after the cards


@kernel
def _add_deal_scores(
    match: NDArray[np.int64], declarer: int, success: int, rules: NDArray[np.int64]
) -> None:
    """Steps 3 and 4: who may score, and the scores."""
    lock = int(rules[_LOCK])
    for player in range(int(rules[_PLAYERS])):
        score = match[SCORE + player]
        gain = match[DEAL_SCORE + player]
        on_barrel = match[BARREL + player] != NOT_ON_BARREL
        if player != declarer:
            counts = not on_barrel and (lock == OFF or score < lock)
        elif not on_barrel:
            counts = True
        elif success != 0:
            counts = score + gain >= rules[_TARGET]
        else:
            counts = rules[_BARREL_FAILED] != _ATTEMPT
        if counts:
            match[SCORE + player] = score + gain
        elif gain != 0:
            match[EVENTS + player] |= LOCKED_OUT


@kernel
def _count_bolts(
    match: NDArray[np.int64], declarer: int, sitter: int, conceded: int, rules: NDArray[np.int64]
) -> None:
    """Step 5: bolts of the active players, and their penalty."""
    if rules[_BOLTS] == _NO_BOLTS or (conceded != 0 and rules[_SPARE_CONCEDED] != 0):
        return
    taken = TRICKS if rules[_BOLTS] == _ZERO_TRICKS else POINTS
    for player in range(int(rules[_PLAYERS])):
        if (
            player == sitter
            or (player == declarer and rules[_SPARE_DECLARER] != 0)
            or (match[_WAS_ON_BARREL + player] != 0 and rules[_SPARE_BARREL] != 0)
        ):
            continue
        if match[taken + player] == 0:
            match[EVENTS + player] |= BOLT
            match[BOLTS + player] += 1
            if match[BOLTS + player] >= rules[_BOLTS_LIMIT]:
                match[EVENTS + player] |= BOLT_PENALTY
                match[SCORE + player] -= rules[_BOLTS_PENALTY]
                match[BOLTS + player] = 0
        elif rules[_BOLTS_COUNTED] == _IN_A_ROW:
            match[BOLTS + player] = 0


@kernel
def _cap_defenders(match: NDArray[np.int64], declarer: int, rules: NDArray[np.int64]) -> None:
    """Step 6.1: who is not the declarer does not pass the cap."""
    cap = int(rules[_DEFENDER_CAP])
    if cap == OFF:
        return
    for player in range(int(rules[_PLAYERS])):
        highest = max(cap, match[_BEFORE + player])
        if player != declarer and match[SCORE + player] > highest:
            match[SCORE + player] = highest
            match[EVENTS + player] |= CAPPED


@kernel
def _fall(match: NDArray[np.int64], player: int, penalty: int) -> None:
    """A player on the barrel leaves it, other than by winning."""
    match[BARREL + player] = NOT_ON_BARREL
    match[SCORE + player] -= penalty
    match[FALLS + player] += 1
    match[EVENTS + player] |= FELL


@kernel
def _stay_on_barrel(
    match: NDArray[np.int64], declarer: int, sitter: int, success: int, rules: NDArray[np.int64]
) -> None:
    """Steps 6.2 to 6.4: leaving the barrel, winning from it, attempts that run out."""
    for player in range(int(rules[_PLAYERS])):
        if match[_WAS_ON_BARREL + player] == 0:
            continue
        is_declarer = player == declarer
        if match[SCORE + player] < rules[_BARREL]:
            _fall(match, player, 0)
            continue
        if is_declarer and success != 0 and match[SCORE + player] >= rules[_TARGET]:
            match[BARREL + player] = NOT_ON_BARREL
            continue
        # A bonus above a failed contract, or a bolt beside a made one, changes nothing.
        match[SCORE + player] = rules[_BARREL]
        if player != sitter and (is_declarer or rules[_BARREL_COUNTS] == _EVERY_DEAL):
            match[BARREL + player] += 1
            if match[BARREL + player] >= rules[_BARREL_DEALS]:
                _fall(match, player, int(rules[_BARREL_PENALTY]))


@kernel
def _mount_barrel(match: NDArray[np.int64], rules: NDArray[np.int64]) -> None:
    """Steps 6.5 and 6.6: who mounts the barrel, and what that does to others on it."""
    newcomers = 0
    on_barrel = 0
    for player in range(int(rules[_PLAYERS])):
        score = match[SCORE + player]
        if match[_WAS_ON_BARREL + player] == 0 and score >= rules[_BARREL]:
            if score >= rules[_TARGET] and rules[_JUMP_OVER] == _JUMP_WINS:
                match[EVENTS + player] |= JUMPED
            else:
                match[SCORE + player] = rules[_BARREL]
                match[BARREL + player] = 0
                match[EVENTS + player] |= MOUNTED
                newcomers += 1
        if match[BARREL + player] != NOT_ON_BARREL:
            on_barrel += 1
    if newcomers == 0:
        return
    penalty = int(rules[_BARREL_PENALTY])
    for player in range(int(rules[_PLAYERS])):
        if match[BARREL + player] == NOT_ON_BARREL:
            continue
        was_there = match[_WAS_ON_BARREL + player] != 0
        knocked_off = rules[_BARREL_NEWCOMER] == _KNOCKS_OFF and was_there
        crowded = rules[_BARREL_NEWCOMER] == _ALL_FALL and on_barrel > 1
        if knocked_off or crowded:
            _fall(match, player, penalty)


@kernel
def _reset_after_falls(match: NDArray[np.int64], rules: NDArray[np.int64]) -> None:
    """Step 6.7: the last of so many falls sets the score to 0."""
    limit = int(rules[_BARREL_FALLS])
    if limit == 0:
        return
    for player in range(int(rules[_PLAYERS])):
        if match[EVENTS + player] & FELL != 0 and match[FALLS + player] >= limit:
            match[SCORE + player] = 0
            match[FALLS + player] = 0
            match[EVENTS + player] |= RESET


@kernel
def _dump(match: NDArray[np.int64], rules: NDArray[np.int64]) -> None:
    """Step 7: a score of 555 that was reached in this deal becomes 0."""
    kind = rules[_DUMP_TRUCK]
    if kind == _NO_DUMP:
        return
    for player in range(int(rules[_PLAYERS])):
        score = match[SCORE + player]
        is_dumped = score == DUMP_TRUCK or (score == -DUMP_TRUCK and kind == _DUMPS_BOTH)
        if is_dumped and score != match[_BEFORE + player]:
            match[SCORE + player] = 0
            match[EVENTS + player] |= DUMPED


@kernel
def _find_winner(
    match: NDArray[np.int64], declarer: int, success: int, rules: NDArray[np.int64]
) -> int:
    """Step 8: the winner, or NO_PLAYER."""
    target = int(rules[_TARGET])
    if success != 0 and match[SCORE + declarer] >= target:
        return declarer
    best = NO_PLAYER
    highest = target - 1
    for player in range(int(rules[_PLAYERS])):
        score = int(match[SCORE + player])
        if score > highest:
            best = player
            highest = score
        elif score == highest and best != NO_PLAYER:
            best = NO_PLAYER  # level; somebody higher may still come
    return best


@kernel
def score_deal_of_match(
    match: NDArray[np.int64],
    declarer: int,
    success: int,
    conceded: int,
    rules: NDArray[np.int64],
) -> None:
    """Steps 3 to 8 of a deal that counts; its numbers by player lie in the match.

    ``match`` int64[MATCH_SIZE] has them at DEAL_SCORE, TRICKS and POINTS. ``declarer`` is a player,
    ``success`` 1 if his contract was made, ``conceded`` 1 if he gave the deal up. The scores, the
    events and everything else that is remembered change, and the next player is to deal.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> match = np.empty(MATCH_SIZE, np.int64)
    >>> match_start(match, 2)
    >>> match[SCORE + 0], match[SCORE + 1], match[SCORE + 2] = 900, 780, 985
    >>> match[DEAL_SCORE + 0], match[DEAL_SCORE + 1], match[DEAL_SCORE + 2] = 120, 240, 20
    >>> score_deal_of_match(match, 0, 1, 0, packed(load("mil")))
    >>> match[SCORE : SCORE + 3].tolist(), match[EVENTS : EVENTS + 3].tolist(), int(match[WINNER])
    ([1020, 990, 985], [512, 2, 1], 0)
    """
    sitter = sitter_of(int(match[DEALER]), rules)
    for player in range(MAX_PLAYERS):
        match[EVENTS + player] = 0
        match[_BEFORE + player] = match[SCORE + player]
        match[_WAS_ON_BARREL + player] = 0 if match[BARREL + player] == NOT_ON_BARREL else 1
    _add_deal_scores(match, declarer, success, rules)
    _count_bolts(match, declarer, sitter, conceded, rules)
    _cap_defenders(match, declarer, rules)
    if rules[_BARREL] != OFF:
        _stay_on_barrel(match, declarer, sitter, success, rules)
        _mount_barrel(match, rules)
        _reset_after_falls(match, rules)
    _dump(match, rules)
    match[CONCEDED + declarer] += conceded
    match[DEALS] += 1
    match[DEALER] = player_at(0, int(match[DEALER]), rules)
    winner = _find_winner(match, declarer, success, rules)
    match[WINNER] = winner
    if winner != NO_PLAYER:
        match[EVENTS + winner] |= WON


__all__ = [
    "BARREL",
    "BOLT",
    "BOLTS",
    "BOLT_PENALTY",
    "CAPPED",
    "CONCEDED",
    "DEALER",
    "DEALS",
    "DEAL_SCORE",
    "DUMPED",
    "DUMP_TRUCK",
    "EVENTS",
    "FALLS",
    "FELL",
    "JUMPED",
    "LOCKED_OUT",
    "MATCH_SIZE",
    "MAX_PLAYERS",
    "MOUNTED",
    "NOT_ON_BARREL",
    "NO_PLAYER",
    "POINTS",
    "RESET",
    "SCORE",
    "TRICKS",
    "WINNER",
    "WON",
    "is_golden",
    "match_start",
    "player_at",
    "redealt",
    "score_deal_of_match",
    "sitter_of",
]
