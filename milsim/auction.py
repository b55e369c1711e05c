"""The auction and the contract, as kernels.

An auction is one int64 array of shape (AUCTION_SIZE,), read by the named places below. Seats are 0
forehand, 1 middlehand, 2 rearhand; hands are masks. `auction_start` makes it, `may_bid_dark` says
whether forehand may now bid in the dark, `legal_bids` gives the turn's range, `bid_dark`, `bid` and
`pass_turn` step it, until ``state[TURN]`` is NOBODY: then ``state[DECLARER]`` plays for
``state[BID]``, or is NOBODY, and there is a new deal. Nothing is validated here.

What a match does to an auction comes as plain numbers: the minimum in force (120 in golden deals of
some rules, else `minimum_of`), and the seats that are silent (`is_silent`).

Where RULES.md leaves a choice open: a forced opening is made by `auction_start` itself, at exactly
the minimum. With ``exact_step`` the first bid is the minimum. "No limit" is the most points that a
deal can hold. A cap that is no multiple of the step is rounded down. Under ``dealer_plays``
rearhand is not asked after two passes. Who bid the bare minimum as the last one left is asked
once more where ``final_last_may_raise`` lets the last one raise. A dark bid is 120 whatever the cap
and the way to raise are, as nobody has looked; it must only be above what is bid or held.

Sources: RULES.md §2 (auction, talon and contract) and §4, 15, 17, 18; docs/match.md,
"Before the cards"; `rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import DECK_POINTS, QUEEN, RANK_MASKS
from milsim.rules import OFF, place_of, word_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOBODY = -1

DARK_BID = 120
"""The one bid in the dark, and what golden deals are played for, in points."""

# Places in an auction.
BID = 0  # the highest bid so far; 0 for none
HOLDER = 1  # who made it, or NOBODY
TURN = 2  # who is to bid or pass; NOBODY when the auction is over
PASSED = 3  # seats that passed, a mask of three bits
DECLARER = 4  # at the end; NOBODY means a new deal
LAST_RAISE = 5  # 1 while the last one left is asked whether he raises
SILENT = 6  # seats that may bid nothing but what is compulsory, a mask
MINIMUM = 7  # the lowest bid in force
DARK = 8  # 1 while the highest bid is one in the dark
AUCTION_SIZE = 9

_OPENER = place_of("auction.opener")
_MINIMUM = place_of("auction.minimum")
_STEP = place_of("auction.step")
_RAISE_BY = place_of("auction.raise_by")
_CAP = place_of("auction.cap")
_CAP_POINTS = place_of("auction.cap_points")
_PASSING = place_of("auction.passing")
_ALL_PASS = place_of("auction.all_pass")
_SILENCE_BELOW = place_of("auction.silence_below")
_DARK_BIDS = place_of("auction.dark")
_RAISE_CONTRACT = place_of("talon.raise_contract")
_CAP_BASIS = place_of("talon.cap_basis")
_MARRIAGE_VALUES = place_of("deal.marriage_values.spades")
_ACE_MARRIAGE = place_of("play.ace_marriage")
_LAST_TRICK_BONUS = place_of("play.last_trick_bonus")
_GOLDEN = place_of("match.golden")

_FORCED = word_of("auction.opener", "forehand_forced")
_DEALER_HOLDS = word_of("auction.opener", "dealer_holds")
_EXACT_STEP = word_of("auction.raise_by", "exact_step")
_NO_CAP = word_of("auction.cap", "none")
_GATE = word_of("auction.cap", "gate")
_CAP_MARRIAGES = word_of("auction.cap", "marriages")
_LAST_MAY_RAISE = word_of("auction.passing", "final_last_may_raise")
_DEALER_PLAYS = word_of("auction.all_pass", "dealer_plays")
_HAND10 = word_of("talon.cap_basis", "hand10")
_NOT_GOLDEN = word_of("match.golden", "off")

_QUEENS = RANK_MASKS[QUEEN]

# ------------------------------------------------------------------------------------------- caps


@kernel(inline=True)
def steps_in(points: int, step: int) -> int:
    """How many whole steps (of 5 or 10) some points hold; divided by a constant, as that is quick.

    >>> steps_in(119, 10), steps_in(119, 5)
    (11, 23)
    """
    return points // 10 if step == 10 else points // 5


@kernel(inline=True)
def queens_with_king(hand: int) -> int:
    """The queens of the marriages in a hand, as a mask.

    >>> queens_with_king(0b001100_001000_000100)
    16384
    """
    return hand & hand >> 1 & _QUEENS


@kernel
def marriage_points(hand: int, rules: NDArray[np.int64]) -> int:
    """The values of all marriages in a hand, added up.

    >>> from milsim.rules import load, packed
    >>> marriage_points(0b001100 << 18 | 0b001100, packed(load("mil")))
    140
    """
    queens = queens_with_king(hand)
    points = 0
    while queens != 0:
        points += int(rules[_MARRIAGE_VALUES + lowest_bit_index(queens) // 6])
        queens &= queens - 1
    return points


@kernel
def most_points(rules: NDArray[np.int64]) -> int:
    """The most points that one deal can hold: all cards, marriages, four aces, the last trick.

    >>> from milsim.rules import load, packed
    >>> most_points(packed(load("mil")))
    400
    """
    points = DECK_POINTS + int(rules[_ACE_MARRIAGE]) + int(rules[_LAST_TRICK_BONUS])
    for suit in range(4):
        points += int(rules[_MARRIAGE_VALUES + suit])
    return points


@kernel
def minimum_of(golden: int, rules: NDArray[np.int64]) -> int:
    """The lowest bid of a deal; ``golden`` is 1 in the first deals of a match, one a player.

    >>> from milsim.rules import load, packed
    >>> minimum_of(1, packed(load("mil")))
    100
    """
    return DARK_BID if golden != 0 and rules[_GOLDEN] != _NOT_GOLDEN else int(rules[_MINIMUM])


@kernel
def highest_allowed(hand: int, minimum: int, rules: NDArray[np.int64]) -> int:
    """The highest bid that the rules let somebody with this hand make, a multiple of the step.

    The minimum in force may always be bid.

    >>> from milsim.rules import load, packed
    >>> [highest_allowed(0b1100, 100, packed(load(name))) for name in ("mil", "gamerules")]
    [160, 400]
    """
    cap = int(rules[_CAP])
    highest = int(rules[_CAP_POINTS])
    if cap == _CAP_MARRIAGES:
        highest += marriage_points(hand, rules)
    elif cap == _NO_CAP:
        highest = most_points(rules)
    elif cap == _GATE and queens_with_king(hand) != 0:
        highest = max(highest, most_points(rules))
    step = int(rules[_STEP])
    return max(steps_in(highest, step) * step, minimum)


@kernel
def contract_range(
    made_bid: int, kept: int, ten: int, minimum: int, rules: NDArray[np.int64]
) -> tuple[int, int]:
    """The lowest and the highest contract, both allowed with every multiple of the step between.

    ``kept`` are the declarer's 8 cards after the gifts, ``ten`` those before. A bid already made
    stays allowed whatever was given away (RULES.md §4, case 15).

    >>> from milsim.rules import load, packed
    >>> contract_range(130, 0b1001, 0b1101, 100, packed(load("mil")))
    (130, 130)
    >>> contract_range(110, 0b1001, 0b1101, 100, packed(load("mil")))
    (110, 120)
    """
    if rules[_RAISE_CONTRACT] == 0:
        return made_bid, made_bid
    basis = ten if rules[_CAP_BASIS] == _HAND10 else kept
    return made_bid, max(made_bid, highest_allowed(basis, minimum, rules))


# ---------------------------------------------------------------------------------------- bidding


@kernel
def is_silent(score: int, rules: NDArray[np.int64]) -> bool:
    """Whether a player with this score in the match may bid nothing but what is compulsory.

    >>> from milsim.rules import load, packed
    >>> is_silent(-120, packed(load("mil")))
    False
    """
    threshold = int(rules[_SILENCE_BELOW])
    return threshold != OFF and score <= threshold


@kernel
def auction_start(
    state: NDArray[np.int64], minimum: int, silent: int, rules: NDArray[np.int64]
) -> None:
    """Make ``state`` the beginning of an auction; a forced opening has been made.

    ``minimum`` is the lowest bid in force, ``silent`` a mask of the seats that are silent.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, 100, 0, packed(load("mil")))
    >>> int(state[BID]), int(state[HOLDER]), int(state[TURN])
    (100, 0, 1)
    """
    state[BID] = 0
    state[HOLDER] = NOBODY
    state[TURN] = 0
    state[PASSED] = 0
    state[DECLARER] = NOBODY
    state[LAST_RAISE] = 0
    state[SILENT] = silent
    state[MINIMUM] = minimum
    state[DARK] = 0
    opener = int(rules[_OPENER])
    if opener == _FORCED:
        state[BID] = minimum
        state[HOLDER] = 0
        state[TURN] = 1
    elif opener == _DEALER_HOLDS:
        state[BID] = minimum
        state[HOLDER] = 2


@kernel
def may_bid_dark(state: NDArray[np.int64], rules: NDArray[np.int64]) -> bool:
    """Whether forehand, before the first call of an auction that has just started, may bid dark.

    A dark bid takes the place of a forced opening; it must be above what the dealer holds.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, 100, 0, packed(load("mil")))
    >>> may_bid_dark(state, packed(load("mil")))
    False
    """
    if rules[_DARK_BIDS] == 0 or state[SILENT] & 1 != 0 or state[MINIMUM] > DARK_BID:
        return False
    return bool(rules[_OPENER] != _DEALER_HOLDS or state[MINIMUM] < DARK_BID)


@kernel
def bid_dark(state: NDArray[np.int64]) -> None:
    """Forehand bids in the dark: the first call of an auction.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, 100, 0, packed(load("mil")))
    >>> bid_dark(state)
    >>> int(state[BID]), int(state[HOLDER]), int(state[TURN]), int(state[DARK])
    (120, 0, 1, 1)
    """
    state[BID] = DARK_BID
    state[HOLDER] = 0
    state[TURN] = 1
    state[DARK] = 1


@kernel
def legal_bids(
    state: NDArray[np.int64], hand: int, rules: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Lowest bid, highest bid and step for the seat in turn, who holds ``hand``; it may also pass.

    If the lowest is above the highest there is nothing but to pass.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, 100, 0, packed(load("mil")))
    >>> legal_bids(state, 0b1100, packed(load("mil")))
    (110, 160, 10)
    """
    step = int(rules[_STEP])
    made = int(state[BID])
    lowest = made + step if made > 0 else int(state[MINIMUM])
    highest = highest_allowed(hand, int(state[MINIMUM]), rules)
    if rules[_RAISE_BY] == _EXACT_STEP:
        highest = min(highest, lowest)
    if state[SILENT] >> state[TURN] & 1 != 0:
        highest = 0
    return lowest, highest, step


@kernel
def _next_seat(seat: int, passed: int) -> int:
    """The next seat that has not passed; one has not."""
    seat = seat + 1 if seat < 2 else 0
    while passed >> seat & 1 != 0:
        seat = seat + 1 if seat < 2 else 0
    return seat


@kernel
def _one_left(state: NDArray[np.int64], rules: NDArray[np.int64]) -> None:
    """Two have passed and the third holds the bid: the end, or a last question."""
    holder = int(state[HOLDER])
    if rules[_PASSING] == _LAST_MAY_RAISE and state[BID] == state[MINIMUM]:
        state[LAST_RAISE] = 1
        state[TURN] = holder
    else:
        state[DECLARER] = holder
        state[TURN] = NOBODY


@kernel
def bid(state: NDArray[np.int64], points: int, rules: NDArray[np.int64]) -> None:
    """The seat in turn bids.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, 100, 0, packed(load("mil")))
    >>> bid(state, 130, packed(load("mil")))
    >>> int(state[BID]), int(state[HOLDER]), int(state[TURN])
    (130, 1, 2)
    """
    seat = int(state[TURN])
    state[BID] = points
    state[HOLDER] = seat
    state[DARK] = 0
    if state[LAST_RAISE] != 0:
        state[DECLARER] = seat
        state[TURN] = NOBODY
    elif popcount(int(state[PASSED])) == 2:
        _one_left(state, rules)
    else:
        state[TURN] = _next_seat(seat, int(state[PASSED]))


@kernel
def pass_turn(state: NDArray[np.int64], rules: NDArray[np.int64]) -> None:
    """The seat in turn passes, and does not bid again.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, 100, 0, packed(load("mil")))
    >>> pass_turn(state, packed(load("mil")))
    >>> pass_turn(state, packed(load("mil")))
    >>> int(state[BID]), int(state[DECLARER]), int(state[TURN])
    (100, 0, -1)
    """
    seat = int(state[TURN])
    if state[LAST_RAISE] != 0:
        state[DECLARER] = seat
        state[TURN] = NOBODY
        return
    passed = int(state[PASSED]) | 1 << seat
    state[PASSED] = passed
    if passed == 7:
        state[TURN] = NOBODY
        return
    following = _next_seat(seat, passed)
    state[TURN] = following
    if popcount(passed) == 2:
        if state[BID] == 0 and rules[_ALL_PASS] == _DEALER_PLAYS:
            state[BID] = state[MINIMUM]
            state[HOLDER] = following
        if state[BID] != 0:
            _one_left(state, rules)


__all__ = [
    "AUCTION_SIZE",
    "BID",
    "DARK",
    "DARK_BID",
    "DECLARER",
    "HOLDER",
    "LAST_RAISE",
    "MINIMUM",
    "NOBODY",
    "PASSED",
    "SILENT",
    "TURN",
    "auction_start",
    "bid",
    "bid_dark",
    "contract_range",
    "highest_allowed",
    "is_silent",
    "legal_bids",
    "marriage_points",
    "may_bid_dark",
    "minimum_of",
    "most_points",
    "pass_turn",
    "queens_with_king",
    "steps_in",
]
