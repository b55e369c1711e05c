"""All that one seat may see of a deal, as a plain value: what a policy written by a user gets.

A `View` holds no game, no hand of another seat and no card that the seat has not seen: only the
seat's own cards, what lay open, and what was said. So nothing that a decision takes from it can
depend on hidden cards, and what `milsim.knowledge.Knowledge` infers it infers from here.

Who sees the talon and the gifts: RULES.md §2, talon, as `milsim.reference.Game` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from milsim.cards import NO_TRUMP, CardSet
from milsim.errors import UsageError, quote
from milsim.reference import (
    Bid,
    DealResult,
    Declaration,
    Game,
    Gift,
    Operation,
    Pass,
    Phase,
    Play,
    Position,
    RedealRequest,
    RedealWaiver,
    TalonTaken,
    trick_winner,
)
from milsim.rules import Rules

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SeenGift:
    """A gift as a seat saw it: who gave to whom, and the card, None if it lay face down."""

    giver: int
    receiver: int
    card: int | None


@dataclass(frozen=True, slots=True)
class SeenTrick:
    """A trick, finished or on the table: its cards in the order played, from the leader on.

    ``trump`` is in force in it (4: none), after what its lead declared; ``declares``: whether the
    lead declared a marriage or four aces; ``winner`` is a seat, None for a trick not finished.
    """

    number: int
    leader: int
    cards: tuple[int, ...]
    trump: int
    declares: bool
    winner: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a seat may see, hear and remember of a deal at one moment.

    Seats are 0 forehand, 1 middlehand, 2 rearhand. ``hand`` is the seat's cards now, ``dealt`` its
    first seven. ``calls`` and ``rights`` are the auction and the uses of redeal rights in order.
    ``talon`` is None unless the seat has seen it; ``gifts`` are in order, ``tricks`` too, the last
    perhaps unfinished. ``trump`` is in force now, ``coming_trump`` from the next trick. ``points``
    are all points taken so far by seat, declarations with them. ``legal_acts`` are the acts open
    to the seat, none unless it is ``actor``. What the match stands at comes last.
    """

    rules: Rules
    seat: int
    phase: Phase
    actor: int | None
    dealt: CardSet
    hand: CardSet
    hand_sizes: Triple
    rights: tuple[RedealRequest | RedealWaiver, ...] = ()
    calls: tuple[Bid | Pass, ...] = ()
    minimum: int = 100
    declarer: int | None = None
    bid: int | None = None
    dark: bool = False
    talon_taken: bool = False
    talon: CardSet | None = None
    gifts: tuple[SeenGift, ...] = ()
    contract: int | None = None
    tricks: tuple[SeenTrick, ...] = ()
    trump: int = NO_TRUMP
    coming_trump: int = NO_TRUMP
    declarations: tuple[Declaration, ...] = ()
    points: Triple = (0, 0, 0)
    tricks_won: Triple = (0, 0, 0)
    legal_acts: tuple[Operation, ...] = ()
    result: DealResult | None = None
    scores: Triple = (0, 0, 0)
    concessions: Triple = (0, 0, 0)
    on_barrel: tuple[bool, bool, bool] = (False, False, False)
    golden: bool = False


def checked_seat(seat: object) -> int:
    """A seat 0, 1 or 2; raises UsageError for anything else.

    >>> checked_seat(2)
    2
    """
    if isinstance(seat, bool) or not isinstance(seat, int) or seat not in (0, 1, 2):
        raise UsageError(f"seat must be 0, 1 or 2 (forehand, middlehand, rearhand): {quote(seat)}")
    return seat


def _tricks(game: Game) -> tuple[SeenTrick, ...]:
    """The tricks of the log, each with the trump in force and the seat that won it."""
    plays = [act for act in game.operations if isinstance(act, Play)]
    at_once = game.rules.play.trump_effect == "immediate"
    trump = coming = NO_TRUMP
    tricks = []
    for begin in range(0, len(plays), 3):
        trick = plays[begin : begin + 3]
        lead = trick[0]
        suit, rank = divmod(lead.card, 6)
        if lead.declares and rank != 5:  # four aces change no trump
            coming = suit
            trump = suit if at_once else trump
        cards = tuple(act.card for act in trick)
        winner = trick[trick_winner(cards, trump)].seat if len(trick) == 3 else None
        number = begin // 3 + 1
        tricks.append(SeenTrick(number, lead.seat, cards, trump, lead.declares, winner))
        if winner is not None:
            trump = coming
    return tuple(tricks)


def view(game: Game, seat: int) -> View:
    """What a seat may see of a game now. Raises UsageError for what is no game or no seat.

    >>> from milsim.deals import Deal
    >>> game = Game(Deal.from_id(688_907_321_587))
    >>> for act in (Bid(0, 100), Pass(1), Pass(2), TalonTaken(0)):
    ...     _ = game.apply(act)
    >>> seen = view(game, 1)
    >>> seen.talon, seen.legal_acts, seen.hand_sizes
    (CardSet.parse('.J.T.T'), (), (10, 7, 7))
    >>> str(seen.hand) == str(game.deal.middlehand)
    True
    """
    if not isinstance(game, Game):
        raise UsageError(f"a view is of a milsim.reference.Game, got {quote(game)}")
    seat = checked_seat(seat)
    acts = game.operations
    taken = any(isinstance(act, TalonTaken) for act in acts)
    position: Position | None = game.position
    first, second, third = (len(hand) for hand in game.hands)
    return View(
        rules=game.rules,
        seat=seat,
        phase=game.phase,
        actor=game.actor,
        dealt=CardSet.of(game.deal.hands[seat]),
        hand=CardSet.of(game.hands[seat]),
        hand_sizes=(first, second, third),
        rights=tuple(act for act in acts if isinstance(act, RedealRequest | RedealWaiver)),
        calls=tuple(act for act in acts if isinstance(act, Bid | Pass)),
        minimum=game.minimum,
        declarer=game.declarer,
        bid=game.bid_won,
        dark=game.dark,
        talon_taken=taken,
        talon=CardSet.of(game.talon) if taken and _is_shown(game, seat) else None,
        gifts=tuple(_seen_gift(game, seat, gift) for gift in game.gifts),
        contract=game.contract,
        tricks=_tricks(game),
        trump=NO_TRUMP if position is None else position.trump,
        coming_trump=NO_TRUMP if position is None else position.coming_trump,
        declarations=() if position is None else position.declarations,
        points=(0, 0, 0) if position is None else position.points,
        tricks_won=(0, 0, 0) if position is None else position.tricks_won,
        legal_acts=game.legal_acts() if game.actor == seat else (),
        result=game.result,
        scores=game.match_scores,
        concessions=game.concessions,
        on_barrel=game.on_barrel,
        golden=game.golden,
    )


def _is_shown(game: Game, seat: int) -> bool:
    """Whether the seat sees the talon as it is taken; what was seen is not forgotten later."""
    if seat == game.declarer:
        return True
    bare_minimum = game.declarer == 0 and game.bid_won == game.minimum
    shown = game.rules.talon.shown
    return not game.dark and (shown == "always" or (shown == "if_contested" and not bare_minimum))


def _seen_gift(game: Game, seat: int, gift: Gift) -> SeenGift:
    card = gift.card if game.sees_gift(seat, gift) else None
    return SeenGift(gift.seat, gift.receiver, card)


__all__ = ["SeenGift", "SeenTrick", "Triple", "View", "checked_seat", "view"]
