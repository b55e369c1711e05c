"""The auction, the contract and the rights to a new deal, as kernels.

An auction is one int64 array of shape (AUCTION_SIZE,), read by the named places below. Seats are 0
forehand, 1 middlehand, 2 rearhand; hands are masks. `auction_start` makes it, `legal_bids` gives
the turn's range, `bid` and `pass_turn` step it, until ``state[TURN]`` is NOBODY: then
``state[DECLARER]`` plays for ``state[BID]``, or is NOBODY, and there is a new deal. Nothing is
validated here.

Where RULES.md leaves a choice open: a forced opening is made by `auction_start` itself, at exactly
the minimum. With ``exact_step`` the first bid is the minimum. "No limit" is the most points that a
deal can hold. A cap that is no multiple of the step is rounded down. Under ``dealer_plays``
rearhand is not asked after two passes. Who bid the bare minimum as the last one left is asked
once more where ``final_last_may_raise`` lets the last one raise.

Sources: RULES.md §2 (deal, auction, talon and contract) and §4, 14, 15, 17, 18; `rules.model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from milsim._jit import kernel
from milsim.bits import lowest_bit_index, popcount
from milsim.cards import DECK_POINTS, NINE, QUEEN, RANK_MASKS
from milsim.rules import Rules, place_of, word_of
from milsim.tricks import points_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOBODY = -1

# Places in an auction.
BID = 0  # the highest bid so far; 0 for none
HOLDER = 1  # who made it, or NOBODY
TURN = 2  # who is to bid or pass; NOBODY when the auction is over
PASSED = 3  # seats that passed, a mask of three bits
DECLARER = 4  # at the end; NOBODY means a new deal
LAST_RAISE = 5  # 1 while the last one left is asked whether he raises
SILENT = 6  # seats that may bid nothing (silence_below), a mask: set it after auction_start
AUCTION_SIZE = 7

# Rights to a new deal, bits of a word.
FOUR_NINES = 1
MUST_REDEAL = 2  # not a right: a new deal
LOW_HAND = 4
LOW_TALON_POINTS = 8
LOW_TALON_NINES = 16

_OPENER = place_of("auction.opener")
_MINIMUM = place_of("auction.minimum")
_STEP = place_of("auction.step")
_RAISE_BY = place_of("auction.raise_by")
_CAP = place_of("auction.cap")
_CAP_POINTS = place_of("auction.cap_points")
_PASSING = place_of("auction.passing")
_ALL_PASS = place_of("auction.all_pass")
_RAISE_CONTRACT = place_of("talon.raise_contract")
_CAP_BASIS = place_of("talon.cap_basis")
_MARRIAGE_VALUES = place_of("deal.marriage_values.spades")
_ACE_MARRIAGE = place_of("play.ace_marriage")
_LAST_TRICK_BONUS = place_of("play.last_trick_bonus")
_FOUR_NINES = place_of("deal.four_nines")
_FOUR_NINES_WHEN = place_of("deal.four_nines_when")
_LOW_HAND = place_of("deal.low_hand")
_LOW_HAND_MARRIAGE = place_of("deal.low_hand_marriage")
_LOW_TALON_POINTS = place_of("deal.low_talon_points")
_LOW_TALON_NINES = place_of("deal.low_talon_nines")
_LOW_TALON_AT = place_of("deal.low_talon_at")

_FORCED = word_of("auction.opener", "forehand_forced")
_DEALER_HOLDS = word_of("auction.opener", "dealer_holds")
_EXACT_STEP = word_of("auction.raise_by", "exact_step")
_NO_CAP = word_of("auction.cap", "none")
_GATE = word_of("auction.cap", "gate")
_CAP_MARRIAGES = word_of("auction.cap", "marriages")
_LAST_MAY_RAISE = word_of("auction.passing", "final_last_may_raise")
_DEALER_PLAYS = word_of("auction.all_pass", "dealer_plays")
_HAND10 = word_of("talon.cap_basis", "hand10")
_NINES_OFF = word_of("deal.four_nines", "off")
_NINES_MANDATORY = word_of("deal.four_nines", "mandatory")
_BEFORE_AUCTION = word_of("deal.four_nines_when", "before_auction")
_AFTER_EXCHANGE = word_of("deal.four_nines_when", "after_exchange")
_ONLY_WITHOUT_MARRIAGE = word_of("deal.low_hand_marriage", "only_without_marriage")
_MINIMUM_ONLY = word_of("deal.low_talon_at", "minimum_only")

_NINES = RANK_MASKS[NINE]
_QUEENS = RANK_MASKS[QUEEN]

# ------------------------------------------------------------------------------------------- caps


@kernel
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
def highest_allowed(hand: int, rules: NDArray[np.int64]) -> int:
    """The highest bid that the rules let somebody with this hand make, a multiple of the step.

    >>> from milsim.rules import load, packed
    >>> [highest_allowed(0b1100, packed(load(name))) for name in ("mil", "gamerules")]
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
    return max(highest // step * step, int(rules[_MINIMUM]))


@kernel
def contract_range(made_bid: int, kept: int, ten: int, rules: NDArray[np.int64]) -> tuple[int, int]:
    """The lowest and the highest contract, both allowed with every multiple of the step between.

    ``kept`` are the declarer's 8 cards after the gifts, ``ten`` those before. A bid already made
    stays allowed whatever was given away (RULES.md §4, case 15).

    >>> from milsim.rules import load, packed
    >>> contract_range(130, 0b1001, 0b1101, packed(load("mil")))
    (130, 130)
    >>> contract_range(110, 0b1001, 0b1101, packed(load("mil")))
    (110, 120)
    """
    if rules[_RAISE_CONTRACT] == 0:
        return made_bid, made_bid
    basis = ten if rules[_CAP_BASIS] == _HAND10 else kept
    return made_bid, max(made_bid, highest_allowed(basis, rules))


# ---------------------------------------------------------------------------------------- bidding


@kernel
def auction_start(state: NDArray[np.int64], rules: NDArray[np.int64]) -> None:
    """Make ``state`` the beginning of an auction; a forced opening has been made.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, packed(load("mil")))
    >>> int(state[BID]), int(state[HOLDER]), int(state[TURN])
    (100, 0, 1)
    """
    state[BID] = 0
    state[HOLDER] = NOBODY
    state[TURN] = 0
    state[PASSED] = 0
    state[DECLARER] = NOBODY
    state[LAST_RAISE] = 0
    state[SILENT] = 0
    opener = int(rules[_OPENER])
    if opener == _FORCED:
        state[BID] = rules[_MINIMUM]
        state[HOLDER] = 0
        state[TURN] = 1
    elif opener == _DEALER_HOLDS:
        state[BID] = rules[_MINIMUM]
        state[HOLDER] = 2


@kernel
def legal_bids(
    state: NDArray[np.int64], hand: int, rules: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Lowest bid, highest bid and step for the seat in turn, who holds ``hand``; it may also pass.

    If the lowest is above the highest there is nothing but to pass.

    >>> import numpy as np
    >>> from milsim.rules import load, packed
    >>> state = np.empty(AUCTION_SIZE, np.int64)
    >>> auction_start(state, packed(load("mil")))
    >>> legal_bids(state, 0b1100, packed(load("mil")))
    (110, 160, 10)
    """
    step = int(rules[_STEP])
    made = int(state[BID])
    lowest = made + step if made > 0 else int(rules[_MINIMUM])
    highest = highest_allowed(hand, rules)
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
    if rules[_PASSING] == _LAST_MAY_RAISE and state[BID] == rules[_MINIMUM]:
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
    >>> auction_start(state, packed(load("mil")))
    >>> bid(state, 130, packed(load("mil")))
    >>> int(state[BID]), int(state[HOLDER]), int(state[TURN])
    (130, 1, 2)
    """
    seat = int(state[TURN])
    state[BID] = points
    state[HOLDER] = seat
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
    >>> auction_start(state, packed(load("mil")))
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
            state[BID] = rules[_MINIMUM]
            state[HOLDER] = following
        if state[BID] != 0:
            _one_left(state, rules)


# ----------------------------------------------------------------------------- rights to a new deal


@kernel
def _four_nines_rights(hand: int, when: int, rules: NDArray[np.int64]) -> int:
    kind = int(rules[_FOUR_NINES])
    if kind == _NINES_OFF or rules[_FOUR_NINES_WHEN] != when or hand & _NINES != _NINES:
        return 0
    return FOUR_NINES | MUST_REDEAL if kind == _NINES_MANDATORY else FOUR_NINES


@kernel
def hand_rights(hand: int, rules: NDArray[np.int64]) -> int:
    """The rights to a new deal of seven cards before the auction: FOUR_NINES, LOW_HAND, bits.

    With MUST_REDEAL there is a new deal whether it is wanted or not. Ask the seats in order from
    forehand. Source: RULES.md §2, deal; §4, case 14.

    >>> from milsim.rules import load, packed
    >>> hand_rights(0b000001_000001_000001_001111, packed(load("mil"))) == FOUR_NINES
    True
    """
    rights = _four_nines_rights(hand, _BEFORE_AUCTION, rules)
    barred = rules[_LOW_HAND_MARRIAGE] == _ONLY_WITHOUT_MARRIAGE and queens_with_king(hand) != 0
    if points_in(hand) < rules[_LOW_HAND] and not barred:
        rights |= LOW_HAND
    return rights


@kernel
def kept_rights(hand: int, rules: NDArray[np.int64]) -> int:
    """The rights to a new deal of eight cards after the gifts: FOUR_NINES, MUST_REDEAL, bits.

    >>> from milsim.rules import load, packed
    >>> kept_rights(0b000001_000001_000001_011111, packed(load("gamerules"))) == FOUR_NINES
    True
    """
    return _four_nines_rights(hand, _AFTER_EXCHANGE, rules)


@kernel
def talon_rights(talon: int, made_bid: int, rules: NDArray[np.int64]) -> int:
    """The declarer's rights to a new deal over the talon: LOW_TALON_POINTS, LOW_TALON_NINES, bits.

    >>> from milsim.rules import load, packed
    >>> talon_rights(0b000001_000001_000001, 100, packed(load("mil")))
    0
    """
    if rules[_LOW_TALON_AT] == _MINIMUM_ONLY and made_bid != rules[_MINIMUM]:
        return 0
    rights = 0
    if points_in(talon) < rules[_LOW_TALON_POINTS]:
        rights |= LOW_TALON_POINTS
    nines = int(rules[_LOW_TALON_NINES])
    if nines > 0 and popcount(talon & _NINES) >= nines:
        rights |= LOW_TALON_NINES
    return rights


def unsupported_in_kernels(rules: Rules) -> list[str]:
    """The fields, set in these rules, that the kernels of a deal do not play: refuse, don't ignore.

    They look at the scores of a match or are choices that come with a later step: a player silent
    below a score (the seam is SILENT), bidding in the dark, giving a deal up, golden deals.

    >>> from milsim.rules import load
    >>> unsupported_in_kernels(load("mil"))
    []
    """
    found = [
        ("auction.silence_below", rules.auction.silence_below != "off"),
        ("auction.dark", rules.auction.dark),
        ("talon.concede", rules.talon.concede != "off"),
        ("match.golden", rules.match.golden != "off"),
    ]
    return [path for path, is_set in found if is_set]


__all__ = [
    "AUCTION_SIZE",
    "BID",
    "DECLARER",
    "FOUR_NINES",
    "HOLDER",
    "LAST_RAISE",
    "LOW_HAND",
    "LOW_TALON_NINES",
    "LOW_TALON_POINTS",
    "MUST_REDEAL",
    "NOBODY",
    "PASSED",
    "SILENT",
    "TURN",
    "auction_start",
    "bid",
    "contract_range",
    "hand_rights",
    "highest_allowed",
    "kept_rights",
    "legal_bids",
    "marriage_points",
    "most_points",
    "pass_turn",
    "queens_with_king",
    "talon_rights",
    "unsupported_in_kernels",
]
