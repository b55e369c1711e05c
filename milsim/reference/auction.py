"""The auction: a state machine whose only memory is the list of calls made so far.

Sources: seeds 000 and 002 step 4, seed 001 Y CYNNIG, RULES.md §2 auction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from milsim.cards import SUIT_NAMES
from milsim.deals import SEAT_NAMES
from milsim.errors import IllegalActError, quote
from milsim.reference.operations import Bid, Pass
from milsim.reference.play import SEATS, accepts, marriages_in
from milsim.rules import Rules

FOREHAND, MIDDLEHAND, REARHAND = SEATS
DARK_BID = 120


def most_points(rules: Rules) -> int:
    """The most points that one deal can hold: 120, four marriages, four aces, the last trick.

    >>> from milsim.rules import load
    >>> most_points(load("mil"))
    400
    """
    marriages = sum(rules.deal.marriage_values.by_suit())
    return 120 + marriages + rules.play.ace_marriage + rules.play.last_trick_bonus


def highest_bid(cards: Collection[int], rules: Rules, minimum: int | None = None) -> int:
    """The cap: the highest bid or contract that these cards allow, in points.

    Seeds 000/002 steps 4 and 6: 120 without a marriage, else 120 and their values; seed 001
    Y CYNNIG: over 120 only with a marriage. Where the rules set no limit, it is the most points
    that a deal can hold. The minimum in force may always be bid.

    >>> from milsim.rules import load
    >>> highest_bid({2, 3}, load("mil")), highest_bid({2, 3}, load("gamerules"))
    (160, 400)
    """
    how = rules.auction
    held = marriages_in(cards)
    if how.cap == "fixed" or (how.cap == "gate" and not held):
        cap = how.cap_points
    elif how.cap == "marriages":
        values = rules.deal.marriage_values.by_suit()
        cap = how.cap_points + sum(values[suit] for suit in held)
    elif how.cap == "gate":
        cap = max(how.cap_points, most_points(rules))
    else:
        cap = most_points(rules)
    return max(cap - cap % how.step, how.minimum if minimum is None else minimum)


def why_capped(cards: Collection[int], rules: Rules, minimum: int | None = None) -> str:
    """The cap in words.

    >>> from milsim.rules import load
    >>> why_capped(set(), load("mil"))
    'cap is 120 without a marriage'
    """
    cap, held = highest_bid(cards, rules, minimum), marriages_in(cards)
    if rules.auction.cap == "fixed":
        return f"cap is {cap}"
    if rules.auction.cap == "none" or (rules.auction.cap == "gate" and held):
        return f"cap is {cap}, the most points that a deal can hold"
    if held:
        return f"cap is {cap} with the marriages of " + ", ".join(SUIT_NAMES[s] for s in held)
    return f"cap is {cap} without a marriage"


def verify_amount(amount: object, what: str, step: int) -> None:
    """Raise IllegalActError unless a bid or contract is a whole number and a multiple of the step.

    >>> verify_amount(float("nan"), "bid", 10)
    Traceback (most recent call last):
    ...
    milsim.errors.IllegalActError: bid nan: a whole number of points is needed
    """
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise IllegalActError(f"{what} {quote(amount)}: a whole number of points is needed")
    if amount <= 0 or amount % step:
        raise IllegalActError(f"{what} {quote(amount)}: bids are multiples of {step} above 0")


@dataclass
class Auction:
    """An auction over three hands of 7 cards; ``calls`` is all that happened in it.

    ``minimum`` is the lowest bid in force, ``scores`` what the match stands at (for
    ``silence_below``), ``forehand_looked``: whether forehand has shown to know his cards, after
    which he cannot bid in the dark.

    >>> from milsim.rules import load
    >>> auction = Auction(load("mil"), (frozenset(), frozenset(), frozenset()))
    >>> auction.legal_bids(), auction.can_pass()
    ((100,), False)
    >>> _ = auction.bid(100), auction.pass_(), auction.pass_()
    >>> auction.declarer, auction.highest
    (0, 100)
    """

    rules: Rules
    hands: tuple[frozenset[int], frozenset[int], frozenset[int]]
    scores: tuple[int, int, int] = (0, 0, 0)
    minimum: int = 0
    forehand_looked: bool = False
    calls: tuple[Bid | Pass, ...] = field(default=())

    def __post_init__(self) -> None:
        """Without another minimum in force, that of the rules."""
        self.minimum = self.minimum or self.rules.auction.minimum

    # -- what is true now ------------------------------------------------------------------------

    @property
    def bids(self) -> tuple[Bid, ...]:
        """The bids made, in order; a bid held without being made is not among them."""
        return tuple(call for call in self.calls if isinstance(call, Bid))

    @property
    def passed(self) -> frozenset[int]:
        """The seats that have passed."""
        return frozenset(call.seat for call in self.calls if isinstance(call, Pass))

    @property
    def _holding(self) -> tuple[int | None, int]:
        """Who holds the highest bid, and how high it is; (None, 0) before any."""
        how = self.rules.auction
        if self.bids:
            return self.bids[-1].seat, self.bids[-1].amount
        if how.opener == "dealer_holds":
            return REARHAND, self.minimum
        # seed 001 Y CYNNIG: bidding goes on "until all but one have passed, who is declarer"
        if (
            how.opener == "forehand_may_pass"
            and how.all_pass == "dealer_plays"
            and {FOREHAND, MIDDLEHAND} <= self.passed
        ):
            return REARHAND, self.minimum
        return None, 0

    @property
    def holder(self) -> int | None:
        """Who holds the highest bid."""
        return self._holding[0]

    @property
    def highest(self) -> int:
        """The highest bid so far, in points; 0 before any."""
        return self._holding[1]

    @property
    def _last_may_raise(self) -> bool:
        """``passing = final_last_may_raise``: alone with the bare minimum, no other having bid."""
        return (
            self.rules.auction.passing == "final_last_may_raise"
            and self.holder not in self.passed
            and self.highest == self.minimum
            and all(bid.seat == self.holder for bid in self.bids)
        )

    @property
    def actor(self) -> int | None:
        """The seat to call; None when the auction is over. Who passed is never asked again."""
        left = [seat for seat in SEATS if seat not in self.passed]
        if not left:
            return None
        # seeds 000/002 step 4: "the last one left is the declarer"
        if left == [self.holder] and not self._last_may_raise:
            return None
        last = self.calls[-1].seat if self.calls else REARHAND
        return next(seat % 3 for seat in range(last + 1, last + 4) if seat % 3 in left)

    @property
    def is_over(self) -> bool:
        """Whether nobody is left to call."""
        return self.actor is None

    @property
    def declarer(self) -> int | None:
        """Who won the auction; None while it goes on and when all passed."""
        return self.holder if self.is_over else None

    @property
    def is_passed_out(self) -> bool:
        """Whether all passed and nobody holds a bid."""
        return self.is_over and self.holder is None

    @property
    def is_dark(self) -> bool:
        """Whether a dark bid is the highest; any higher bid has cancelled it."""
        return bool(self.bids) and self.bids[-1].dark

    @property
    def is_forced_opening(self) -> bool:
        """Whether forehand now has to open (seeds 000/002 step 4: "begins at 100")."""
        return self.rules.auction.opener == "forehand_forced" and not self.calls

    def _is_silent(self, seat: int) -> bool:
        threshold = self.rules.auction.silence_below
        return threshold != "off" and self.scores[seat] <= threshold

    # -- legal calls -----------------------------------------------------------------------------

    def legal_bids(self) -> tuple[int, ...]:
        """The amounts that may be bid now (not in the dark), ascending, in points."""
        if self.actor is None:
            return ()
        step, cap = (
            self.rules.auction.step,
            highest_bid(self.hands[self.actor], self.rules, self.minimum),
        )
        return tuple(amount for amount in range(step, cap + 1, step) if self.can_bid(amount))

    def verify_bid(self, amount: int, *, dark: bool = False) -> None:
        """Raise IllegalActError, naming the rule, unless the bid may be made now."""
        how, seat = self.rules.auction, self.actor
        if seat is None:
            raise IllegalActError(f"bid {quote(amount)}: the auction is over")
        verify_amount(amount, "bid", how.step)
        if dark:
            self._verify_dark(amount)
            return
        if self.is_forced_opening:
            if amount != self.minimum:
                raise IllegalActError(f"bid {amount}: forehand opens at {self.minimum}")
            return
        if self._is_silent(seat):
            raise IllegalActError(
                f"bid {amount}: {SEAT_NAMES[seat]} has {self.scores[seat]} points and may not bid "
                f"at {how.silence_below} or below"
            )
        # seed 001 Y CYNNIG: "every bid must be more than the one before it"
        if amount <= self.highest:
            raise IllegalActError(
                f"bid {amount}: {self.highest} is bid; {self.highest + how.step} or more is needed"
            )
        if amount < self.minimum:
            raise IllegalActError(f"bid {amount}: the minimum is {self.minimum}")
        if how.raise_by == "exact_step":
            right = self.highest + how.step if self.highest else self.minimum
            if amount != right:
                raise IllegalActError(f"bid {amount}: bids rise by {how.step}, to {right}")
        if amount > highest_bid(self.hands[seat], self.rules, self.minimum):
            reason = why_capped(self.hands[seat], self.rules, self.minimum)
            raise IllegalActError(f"bid {amount}: {reason}")

    def _verify_dark(self, amount: int) -> None:
        if not self.rules.auction.dark:
            raise IllegalActError(f"dark bid {amount}: these rules have none")
        if self.calls or self.forehand_looked:
            raise IllegalActError(
                f"dark bid {amount}: only forehand, as the first act, before looking"
            )
        if amount != DARK_BID:
            raise IllegalActError(f"dark bid {amount}: a dark bid is {DARK_BID}")
        if self._is_silent(FOREHAND):
            raise IllegalActError(
                f"dark bid {amount}: forehand may not bid at {self.scores[FOREHAND]} points"
            )
        if amount <= self.highest or amount < self.minimum:
            raise IllegalActError(
                f"dark bid {amount}: not above the {max(self.highest, self.minimum)} in force"
            )

    def can_bid(self, amount: int, *, dark: bool = False) -> bool:
        """Whether the bid may be made now."""
        return accepts(self.verify_bid, amount, dark=dark)

    def verify_pass(self) -> None:
        """Raise IllegalActError unless who is to call may pass."""
        if self.actor is None:
            raise IllegalActError("pass: the auction is over")
        if self.is_forced_opening:
            raise IllegalActError(f"pass: forehand must open at {self.minimum}")

    def can_pass(self) -> bool:
        """Whether who is to call may pass."""
        return accepts(self.verify_pass)

    # -- the acts --------------------------------------------------------------------------------

    def bid(self, amount: int, *, dark: bool = False) -> Bid:
        """Bid; raises IllegalActError as `verify_bid`."""
        self.verify_bid(amount, dark=dark)
        assert self.actor is not None
        call = Bid(self.actor, amount, dark)
        self.calls = (*self.calls, call)
        return call

    def pass_(self) -> Pass:
        """Pass; raises IllegalActError as `verify_pass`."""
        self.verify_pass()
        assert self.actor is not None
        call = Pass(self.actor)
        self.calls = (*self.calls, call)
        return call
