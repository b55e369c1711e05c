"""One deal from the cards to the deal scores: the phases and the acts in them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from enum import StrEnum

from milsim.cards import format_card, format_hand, mask_of
from milsim.deals import SEAT_NAMES, Deal
from milsim.errors import IllegalActError, quote
from milsim.reference.auction import DARK_BID, Auction, highest_bid, verify_amount, why_capped
from milsim.reference.operations import (
    Bid,
    Concession,
    Contract,
    Gift,
    Operation,
    Pass,
    Play,
    RedealRequest,
    RedealWaiver,
    TalonTaken,
)
from milsim.reference.play import (
    SEATS,
    Position,
    accepts,
    has_four_nines,
    verify_card,
)
from milsim.reference.rights import (
    rights_after_exchange,
    rights_before_auction,
    rights_of_declarer,
)
from milsim.reference.scoring import (
    DealResult,
    concession_scores,
    deal_scores,
    is_made,
)
from milsim.rules import Rules, load

FOREHAND = 0
GOLDEN_BID = 120


class Phase(StrEnum):
    """The phases of a deal, in their order; one without a decision is passed over."""

    REDEAL = "redeal rights"
    AUCTION = "auction"
    TALON = "talon"
    LOW_TALON = "low talon right"
    GIFTS = "gifts"
    NINES = "four nines after the exchange"
    CONTRACT = "contract"
    PLAY = "play"
    OVER = "over"


class Game:
    """One deal under a rule set, played by acts, each as ``verify_x``, ``can_x`` and ``x``.

    ``verify_x`` raises IllegalActError with the rule, ``x`` does the act and returns its record,
    which is also appended to ``operations``. Every act takes ``seat``: give it to make sure who
    acts; the one to act is ``actor``. ``legal_acts()`` lists the records of all acts possible now,
    and ``apply`` does one.

    What one deal needs to know of the match, by seat: ``scores``, ``concessions`` (how often each
    has conceded), ``on_barrel``; and ``golden``, whether it is one of the first deals, one a player
    (``match.golden``).

    >>> game = Game(Deal.from_id(688_907_321_587))
    >>> [game.bid(100), game.pass_(), game.pass_()]
    [Bid(seat=0, amount=100, dark=False), Pass(seat=1), Pass(seat=2)]
    >>> game.take_talon(), game.phase.value, len(game.hands[0])
    (TalonTaken(seat=0), 'gifts', 10)
    >>> game.name_contract(100)
    Traceback (most recent call last):
    ...
    milsim.errors.IllegalActError: contract 100: not now, this is the phase of gifts
    """

    def __init__(
        self,
        deal: Deal,
        rules: str | Rules = "mil",
        *,
        scores: tuple[int, int, int] = (0, 0, 0),
        concessions: tuple[int, int, int] = (0, 0, 0),
        on_barrel: tuple[bool, bool, bool] = (False, False, False),
        golden: bool = False,
    ) -> None:
        """Deal the cards; the first phase with a decision is reached at once."""
        self.deal = deal
        self.rules = load(rules)
        self.match_scores = scores
        self.concessions = concessions
        self.on_barrel = on_barrel
        self.golden = golden

        self.operations: tuple[Operation, ...] = ()
        self.hands: list[frozenset[int]] = [frozenset(hand) for hand in deal.hands]
        self.talon = frozenset(deal.talon)
        self.phase = Phase.REDEAL
        self.waived: frozenset[int] = frozenset()  # who did not use a right in this phase
        self.declarer: int | None = None
        self.bid_won: int | None = None
        self.dark = False
        self.gifts: tuple[Gift, ...] = ()
        self.contract: int | None = None
        self.position: Position | None = None
        self.result: DealResult | None = None

        forehand, middlehand, rearhand = self.hands
        is_golden = golden and self.rules.match.golden != "off"
        self.minimum = GOLDEN_BID if is_golden else self.rules.auction.minimum
        self.auction = Auction(
            self.rules, (forehand, middlehand, rearhand), scores, minimum=self.minimum
        )
        self._advance()

    def __eq__(self, other: object) -> bool:
        """Whether two games are in the same state."""
        return isinstance(other, Game) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    # -- the order of the phases -----------------------------------------------------------------

    def _advance(self) -> None:
        """Go on to the next phase while the one reached asks for no decision."""
        while self.phase is not Phase.OVER and self.actor is None:
            if self.phase is Phase.AUCTION:
                self._end_auction()
            elif self.phase is Phase.PLAY:
                self._end_play()
            else:
                self._enter(list(Phase)[list(Phase).index(self.phase) + 1])

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.waived = frozenset()
        if phase is Phase.AUCTION and self._is_golden_120:
            # match.golden: "forehand plays 120 without auction"
            self.declarer, self.bid_won = FOREHAND, GOLDEN_BID
            self.phase = Phase.TALON
        elif phase is Phase.PLAY:
            # seeds 000/002 step 7, seed 001 Y CHWARAE: "the declarer leads to the first trick"
            assert self.declarer is not None
            self.position = Position.start(self.hands, self.declarer, rules=self.rules)

    @property
    def _is_golden_120(self) -> bool:
        return self.golden and self.rules.match.golden == "forehand_plays_120"

    def _end_auction(self) -> None:
        if self.auction.is_passed_out:
            next_dealer = self.rules.auction.all_pass == "redeal_next"
            self._end(DealResult("passed_out", next_dealer=next_dealer))
            return
        self.declarer = self.auction.declarer
        self.bid_won = self.auction.highest
        self.dark = self.auction.is_dark
        self._enter(Phase.TALON)

    def _end_play(self) -> None:
        assert self.position is not None
        assert self.declarer is not None
        assert self.contract is not None
        points = self.position.points
        scores = deal_scores(
            points,
            self.declarer,
            self.contract,
            self.rules,
            four_nines=self.dealt_four_nines,
            dark=self.dark,
            golden=self.golden,
        )
        made = is_made(points[self.declarer], self.contract, self.rules)
        bid, contract = self.bid_won, self.contract
        self._end(
            DealResult("played", self.declarer, bid, contract, points, made, self.dark, scores)
        )

    def _end(self, result: DealResult) -> None:
        self.result = result
        self.phase = Phase.OVER

    # -- who acts --------------------------------------------------------------------------------

    @property
    def actor(self) -> int | None:
        """The seat to act; None when the deal is over."""
        if self.phase in (Phase.REDEAL, Phase.LOW_TALON, Phase.NINES):
            # RULES.md §2 deal: "redeal rights are looked at in seat order from forehand"
            return next((s for s in SEATS if s not in self.waived and self.redeal_rights(s)), None)
        if self.phase is Phase.AUCTION:
            return self.auction.actor
        if self.phase is Phase.TALON:
            return self.declarer if len(self.hands[self._declarer]) == 7 else None
        if self.phase is Phase.GIFTS:
            return self.declarer if len(self.gifts) < 2 else None
        if self.phase is Phase.CONTRACT:
            return self.declarer if self.contract is None else None
        if self.phase is Phase.PLAY and self.position is not None:
            return self.position.actor
        return None

    @property
    def _declarer(self) -> int:
        assert self.declarer is not None
        return self.declarer

    def _verify_turn(self, phases: Sequence[Phase], seat: int | None, act: str) -> int:
        """The seat to act; raises IllegalActError when the phase or the seat is another."""
        actor = self.actor
        if actor is None:
            raise IllegalActError(f"{act}: the deal is over")
        if self.phase not in phases:
            raise IllegalActError(f"{act}: not now, this is the phase of {self.phase.value}")
        if seat is not None and seat != actor:
            if self.phase is Phase.AUCTION and seat in self.auction.passed:
                raise IllegalActError(f"{act}: {SEAT_NAMES[seat]} has passed and stays out")
            who = SEAT_NAMES[seat] if seat in SEATS else f"seat {quote(seat)}"
            raise IllegalActError(f"{act}: {who} is not to act, {SEAT_NAMES[actor]} is")
        return actor

    # -- rights to a new deal --------------------------------------------------------------------

    @property
    def dealt_four_nines(self) -> int | None:
        """The seat that was dealt four nines in its 7 cards, if any."""
        return next((seat for seat in SEATS if has_four_nines(self.deal.hands[seat])), None)

    def redeal_rights(self, seat: int) -> tuple[str, ...]:
        """The names of the rights to a new deal that a seat holds in this phase."""
        if self.phase is Phase.REDEAL:
            return rights_before_auction(self.hands[seat], self.rules)
        if self.phase is Phase.NINES:
            return rights_after_exchange(self.hands[seat], self.rules)
        if self.phase is Phase.LOW_TALON and seat == self.declarer and self.bid_won is not None:
            return rights_of_declarer(self.talon, self.bid_won, self.minimum, self.rules)
        return ()

    _RIGHTS = (Phase.REDEAL, Phase.LOW_TALON, Phase.NINES)

    def verify_request_redeal(self, *, seat: int | None = None) -> None:
        """Raise IllegalActError unless who is to act has a right to a new deal."""
        self._verify_turn(self._RIGHTS, seat, "request of a new deal")

    def can_request_redeal(self, *, seat: int | None = None) -> bool:
        """Whether who is to act has a right to a new deal."""
        return accepts(self.verify_request_redeal, seat=seat)

    def request_redeal(self, *, seat: int | None = None) -> RedealRequest:
        """Use the right: the deal ends and scores nothing; raises IllegalActError."""
        self.verify_request_redeal(seat=seat)
        act = RedealRequest(self._acting())
        next_dealer = self.rules.deal.redeal_dealer == "next"
        self._end(DealResult("redeal", self.declarer, self.bid_won, next_dealer=next_dealer))
        self._log(act)
        return act

    def verify_waive_redeal(self, *, seat: int | None = None) -> None:
        """Raise IllegalActError unless who is to act has a right to waive."""
        actor = self._verify_turn(self._RIGHTS, seat, "waiving a new deal")
        mandatory = self.rules.deal.four_nines == "mandatory"
        if mandatory and "four nines" in self.redeal_rights(actor):
            raise IllegalActError("waiving a new deal: with four nines a new deal is mandatory")

    def can_waive_redeal(self, *, seat: int | None = None) -> bool:
        """Whether who is to act may play on in spite of a right."""
        return accepts(self.verify_waive_redeal, seat=seat)

    def waive_redeal(self, *, seat: int | None = None) -> RedealWaiver:
        """Play on in spite of a right to a new deal; raises IllegalActError."""
        self.verify_waive_redeal(seat=seat)
        act = RedealWaiver(self._acting())
        if self.phase is Phase.REDEAL and act.seat == FOREHAND:
            self.auction.forehand_looked = True
        self.waived |= {act.seat}
        self._log(act)
        return act

    # -- auction ---------------------------------------------------------------------------------

    def legal_bids(self) -> tuple[int, ...]:
        """The amounts that may be bid now, not in the dark, in points; ascending."""
        return self.auction.legal_bids() if self.phase is Phase.AUCTION else ()

    def verify_bid(self, amount: int, *, dark: bool = False, seat: int | None = None) -> None:
        """Raise IllegalActError, naming the rule, unless who is to act may bid so."""
        self._verify_turn([Phase.AUCTION], seat, f"bid {quote(amount)}")
        self.auction.verify_bid(amount, dark=dark)

    def can_bid(self, amount: int, *, dark: bool = False, seat: int | None = None) -> bool:
        """Whether who is to act may bid so."""
        return accepts(self.verify_bid, amount, dark=dark, seat=seat)

    def bid(self, amount: int, *, dark: bool = False, seat: int | None = None) -> Bid:
        """Bid (seeds 000/002 step 4, seed 001 Y CYNNIG); raises IllegalActError."""
        self.verify_bid(amount, dark=dark, seat=seat)
        act = self.auction.bid(amount, dark=dark)
        self._log(act)
        return act

    def verify_pass(self, *, seat: int | None = None) -> None:
        """Raise IllegalActError unless who is to act may pass."""
        self._verify_turn([Phase.AUCTION], seat, "pass")
        self.auction.verify_pass()

    def can_pass(self, *, seat: int | None = None) -> bool:
        """Whether who is to act may pass."""
        return accepts(self.verify_pass, seat=seat)

    def pass_(self, *, seat: int | None = None) -> Pass:
        """Pass and stay out of the auction; raises IllegalActError."""
        self.verify_pass(seat=seat)
        act = self.auction.pass_()
        self._log(act)
        return act

    # -- talon and gifts -------------------------------------------------------------------------

    def verify_take_talon(self, *, seat: int | None = None) -> None:
        """Raise IllegalActError unless the declarer is to take the talon."""
        self._verify_turn([Phase.TALON], seat, "taking the talon")

    def can_take_talon(self, *, seat: int | None = None) -> bool:
        """Whether the talon is to be taken now."""
        return accepts(self.verify_take_talon, seat=seat)

    def take_talon(self, *, seat: int | None = None) -> TalonTaken:
        """The declarer takes the talon and holds 10 cards (seeds 000/002 step 5)."""
        self.verify_take_talon(seat=seat)
        act = TalonTaken(self._acting())
        self.hands[act.seat] |= self.talon
        self._log(act)
        return act

    def sees_talon(self, seat: int) -> bool:
        """Whether the seat has seen the three cards of the talon (seeds 000/002 step 5: all do)."""
        if not any(isinstance(act, TalonTaken) for act in self.operations):
            return False
        if seat == self.declarer:
            return True
        if self.dark or self.rules.talon.shown == "never":
            return False
        bare_minimum = self.declarer == FOREHAND and self.bid_won == self.minimum
        return self.rules.talon.shown == "always" or not bare_minimum

    def sees_gift(self, seat: int, gift: Gift) -> bool:
        """Whether the seat has seen a gift: giver, receiver, and all when gifts lie face up."""
        face_up = self.rules.talon.gifts == "face_up"
        return gift in self.gifts and (face_up or seat in (gift.seat, gift.receiver))

    def legal_gifts(self) -> set[int]:
        """The cards that may be given now: any in the declarer's hand."""
        return set(self.hands[self._declarer]) if self.phase is Phase.GIFTS else set()

    def _receiver(self) -> int:
        """Seeds 000/002 step 5: "first to the player on the left, then to the one on the right"."""
        return (self._declarer + 1 + len(self.gifts)) % 3

    def verify_give(
        self, card: int, *, receiver: int | None = None, seat: int | None = None
    ) -> None:
        """Raise IllegalActError unless the declarer is to give a card and holds this one."""
        giver = self._verify_turn([Phase.GIFTS], seat, f"gift {quote(card)}")
        verify_card(card, "gift")
        if receiver is not None and receiver != self._receiver():
            raise IllegalActError(
                f"gift {format_card(card)}: first to the left, then to the right; "
                f"{SEAT_NAMES[self._receiver()]} is next"
            )
        if card not in self.hands[giver]:
            raise IllegalActError(
                f"gift {format_card(card)}: not in the hand of {SEAT_NAMES[giver]} "
                f"{format_hand(mask_of(self.hands[giver]))}"
            )

    def can_give(self, card: int, *, receiver: int | None = None, seat: int | None = None) -> bool:
        """Whether the card may be given now."""
        return accepts(self.verify_give, card, receiver=receiver, seat=seat)

    def give(self, card: int, *, receiver: int | None = None, seat: int | None = None) -> Gift:
        """Give a card, first to the left, then to the right; raises IllegalActError."""
        self.verify_give(card, receiver=receiver, seat=seat)
        act = Gift(self._acting(), self._receiver(), card)
        self.hands[act.seat] -= {card}
        self.hands[act.receiver] |= {card}
        self.gifts = (*self.gifts, act)
        self._log(act)
        return act

    # -- contract --------------------------------------------------------------------------------

    def _contract_basis(self) -> frozenset[int]:
        """The cards whose marriages set the cap: the 8 kept, or the 10 before the gifts."""
        kept = self.hands[self._declarer]
        if self.rules.talon.cap_basis == "hand10":
            return kept | {gift.card for gift in self.gifts}
        return kept

    def legal_contracts(self) -> tuple[int, ...]:
        """The contracts that may be named now, in points; ascending."""
        if self.phase is not Phase.CONTRACT or self.bid_won is None:
            return ()
        cap = highest_bid(self._contract_basis(), self.rules, self.minimum)
        amounts = range(self.bid_won, max(cap, self.bid_won) + 1, self.rules.auction.step)
        return tuple(amount for amount in amounts if self.can_name_contract(amount))

    def verify_name_contract(self, amount: int, *, seat: int | None = None) -> None:
        """Raise IllegalActError, naming the rule, unless the declarer may name this contract."""
        self._verify_turn([Phase.CONTRACT], seat, f"contract {quote(amount)}")
        verify_amount(amount, "contract", self.rules.auction.step)
        assert self.bid_won is not None
        # seeds 000/002 step 6: "at least the bid, or more … the limit here too is 120 without a
        # marriage, and 120 and their value with marriages"; a bid already made stays allowed
        if amount == self.bid_won:
            return
        if not self.rules.talon.raise_contract:
            raise IllegalActError(f"contract {amount}: it is the bid, {self.bid_won}")
        if amount < self.bid_won:
            raise IllegalActError(f"contract {amount}: at least the bid, {self.bid_won}")
        if amount > highest_bid(self._contract_basis(), self.rules, self.minimum):
            reason = why_capped(self._contract_basis(), self.rules, self.minimum)
            raise IllegalActError(f"contract {amount}: {reason}")

    def can_name_contract(self, amount: int, *, seat: int | None = None) -> bool:
        """Whether the contract may be named now."""
        return accepts(self.verify_name_contract, amount, seat=seat)

    def name_contract(self, amount: int, *, seat: int | None = None) -> Contract:
        """Say for how many points the deal is played; raises IllegalActError."""
        self.verify_name_contract(amount, seat=seat)
        act = Contract(self._acting(), amount)
        self.contract = amount
        self._log(act)
        return act

    # -- concession ------------------------------------------------------------------------------

    def verify_concede(self, *, seat: int | None = None) -> None:
        """Raise IllegalActError, naming the rule, unless the declarer may give the deal up now."""
        how = self.rules.talon
        if how.concede == "off":
            raise IllegalActError("concession: these rules have none")
        actor = self._verify_turn([Phase.GIFTS, Phase.CONTRACT, Phase.PLAY], seat, "concession")
        if how.concede == "before_gifts" and (self.phase is not Phase.GIFTS or self.gifts):
            raise IllegalActError("concession: only before the first gift")
        if any(isinstance(earlier, Play) for earlier in self.operations):
            raise IllegalActError("concession: only before the first lead")
        if how.concede_limit and self.concessions[actor] >= how.concede_limit:
            raise IllegalActError(
                f"concession: {SEAT_NAMES[actor]} has conceded {self.concessions[actor]} times, "
                f"the limit is {how.concede_limit}"
            )
        if self.on_barrel[actor] and not how.concede_on_barrel:
            raise IllegalActError(f"concession: {SEAT_NAMES[actor]} is on the barrel")

    def can_concede(self, *, seat: int | None = None) -> bool:
        """Whether the declarer may give the deal up now."""
        return accepts(self.verify_concede, seat=seat)

    def concede(self, *, seat: int | None = None) -> Concession:
        """Give the deal up for its price; raises IllegalActError."""
        self.verify_concede(seat=seat)
        act = Concession(self._acting())
        assert self.bid_won is not None
        scores = concession_scores(
            act.seat,
            self.bid_won,
            self.rules,
            earlier=self.concessions[act.seat],
            four_nines=self.dealt_four_nines,
            dark=self.dark,
            golden=self.golden,
        )
        self._end(
            DealResult(
                "conceded", act.seat, self.bid_won, self.contract, dark=self.dark, scores=scores
            )
        )
        self._log(act)
        return act

    # -- play ------------------------------------------------------------------------------------

    def legal_cards(self) -> set[int]:
        """The cards that may be played now."""
        playing = self.phase is Phase.PLAY and self.position is not None
        return self.position.legal_cards() if playing and self.position else set()

    def verify_play(
        self, card: int, declare: bool | None = None, *, seat: int | None = None
    ) -> None:
        """Raise IllegalActError, naming the rule, unless the card may be played so."""
        self._verify_turn([Phase.PLAY], seat, f"play {quote(card)}")
        assert self.position is not None
        self.position.verify_play(card, declare)

    def can_play(self, card: int, declare: bool | None = None, *, seat: int | None = None) -> bool:
        """Whether the card may be played so now."""
        return accepts(self.verify_play, card, declare, seat=seat)

    def play(self, card: int, declare: bool | None = None, *, seat: int | None = None) -> Play:
        """Play a card, declaring or not (None: as the rules have it); raises IllegalActError."""
        self.verify_play(card, declare, seat=seat)
        assert self.position is not None
        act = self.position.as_play(card, declare)
        self.position = self.position.play(act.card, act.declares)
        self.hands = list(self.position.hands)
        self._log(act)
        return act

    # -- acts as records -------------------------------------------------------------------------

    def _acting(self) -> int:
        assert self.actor is not None
        return self.actor

    def _log(self, act: Operation) -> None:
        self.operations = (*self.operations, act)
        self._advance()

    def copy(self) -> Game:
        """A game in the same state that goes its own way."""
        other = copy(self)
        other.hands = list(self.hands)
        other.auction = copy(self.auction)
        return other

    def apply(self, act: Operation) -> Operation:
        """Do the act of a record; raises IllegalActError.

        >>> game = Game(Deal.from_id(688_907_321_587))
        >>> game.apply(Pass(0))
        Traceback (most recent call last):
        ...
        milsim.errors.IllegalActError: pass: forehand must open at 100
        """
        match act:
            case RedealRequest(seat):
                return self.request_redeal(seat=seat)
            case RedealWaiver(seat):
                return self.waive_redeal(seat=seat)
            case Bid(seat, amount, dark):
                return self.bid(amount, dark=dark, seat=seat)
            case Pass(seat):
                return self.pass_(seat=seat)
            case TalonTaken(seat):
                return self.take_talon(seat=seat)
            case Gift(seat, receiver, card):
                return self.give(card, receiver=receiver, seat=seat)
            case Contract(seat, amount):
                return self.name_contract(amount, seat=seat)
            case Concession(seat):
                return self.concede(seat=seat)
            case Play(seat, card, declares):
                return self.play(card, declares, seat=seat)

    def verify(self, act: Operation) -> None:
        """Raise IllegalActError unless the act of this record is possible now."""
        self.copy().apply(act)

    def can(self, act: Operation) -> bool:
        """Whether the act of this record is possible now.

        >>> game = Game(Deal.from_id(0))
        >>> game.can(Bid(0, 100)), game.can(Bid(1, 110))
        (True, False)
        """
        return accepts(self.verify, act)

    def legal_acts(self) -> tuple[Operation, ...]:
        """The records of all acts possible now; none when the deal is over.

        >>> Game(Deal.from_id(688_907_321_587)).legal_acts()
        (Bid(seat=0, amount=100, dark=False),)
        """
        seat = self.actor
        if seat is None:
            return ()
        acts: list[Operation] = []
        if self.can_request_redeal():
            acts.append(RedealRequest(seat))
        if self.can_waive_redeal():
            acts.append(RedealWaiver(seat))
        acts += [Bid(seat, amount) for amount in self.legal_bids()]
        if self.can_bid(DARK_BID, dark=True):
            acts.append(Bid(seat, DARK_BID, dark=True))
        if self.can_pass():
            acts.append(Pass(seat))
        if self.can_take_talon():
            acts.append(TalonTaken(seat))
        acts += [Gift(seat, self._receiver(), card) for card in sorted(self.legal_gifts())]
        acts += [Contract(seat, amount) for amount in self.legal_contracts()]
        if self.can_concede():
            acts.append(Concession(seat))
        if self.phase is Phase.PLAY and self.position is not None:
            acts += self.position.legal_plays()
        return tuple(acts)
