"""A whole match: deal after deal with the scores, seats and rights that the match gives them.

Sources: seeds 000 and 002 step 10, seed 001 Y FARGEN ("the deal goes clockwise") and Y SGORIO;
RULES.md §2 match; docs/match.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milsim.deals import Deal
from milsim.errors import IllegalActError
from milsim.reference.game import Game
from milsim.reference.match_scoring import redealt, score_match_deal
from milsim.reference.match_state import MatchState
from milsim.rules import Rules, load


@dataclass(frozen=True, slots=True)
class MatchDeal:
    """One deal of a match, counted or not: where the match stood, the game, where it stands now."""

    before: MatchState
    game: Game
    after: MatchState


class Match:
    """A match under a rule set; ``state`` is where it stands, ``history`` its deals so far.

    ``first_dealer`` is the player who deals first, by default the last one, so that player 0 is
    forehand. With four players the dealer sits out. Raises RulesError for unknown rules, DealError
    for a wrong player.

    >>> match = Match("mil")
    >>> game = match.game(Deal.from_id(688_907_321_587))
    >>> _ = game.bid(100), game.pass_(), game.pass_(), game.take_talon()
    >>> while game.actor is not None:
    ...     _ = game.apply(game.legal_acts()[0])
    >>> match.finish(game).scores, match.state.dealer, match.state.deals
    ((-100, 60, 120), 0, 1)
    """

    def __init__(self, rules: str | Path | Rules = "mil", first_dealer: int | None = None) -> None:
        """A match in which nothing has been dealt."""
        self.rules = load(rules)
        self.state = MatchState.start(self.rules, first_dealer)
        self.history: tuple[MatchDeal, ...] = ()

    @property
    def max_deals(self) -> int:
        """The match ends without a winner after this many deals that count (``max_deals``)."""
        return self.rules.match.max_deals

    @property
    def winner(self) -> int | None:
        """The player who has won; None before, and in a match that ends without a winner."""
        return self.state.winner

    @property
    def is_over(self) -> bool:
        """Whether somebody has won or `max_deals` deals have counted."""
        return self.state.is_over(self.rules)

    def verify_game(self) -> None:
        """Raise IllegalActError when the match is over."""
        if self.winner is not None:
            raise IllegalActError(f"deal: the match is over, player {self.winner} has won")
        if self.is_over:
            raise IllegalActError(f"deal: the match is over after {self.state.deals} deals")

    def game(self, deal: Deal) -> Game:
        """The next deal as a game that knows what the match stands at, by seat.

        Nothing changes before `finish`. Raises IllegalActError when the match is over.

        >>> Match("mil").game(Deal.from_id(0)).legal_bids()
        (100,)
        """
        self.verify_game()
        state = self.state
        return Game(
            deal,
            self.rules,
            scores=state.by_seat(state.scores),
            concessions=state.by_seat(state.concessions),
            on_barrel=state.by_seat(state.on_barrel),
            golden=state.is_golden(self.rules),
        )

    def verify_finish(self, game: Game) -> None:
        """Raise IllegalActError unless the game is over and is one of this moment of the match."""
        self.verify_game()
        if game.result is None:
            raise IllegalActError(f"finish: the deal is not over, it is in {game.phase.value}")
        fresh = self.game(game.deal)
        for name in ("rules", "match_scores", "concessions", "on_barrel", "golden"):
            if getattr(game, name) != getattr(fresh, name):
                raise IllegalActError(
                    f"finish: {name} of the game are not those of the match now; start it by game()"
                )

    def finish(self, game: Game) -> MatchState:
        """Score a game that is over, or have it dealt again; the new state.

        A deal that was played or conceded counts; after a new deal by a right, or when all have
        passed, only the dealer may change. Raises IllegalActError as `verify_finish`.

        >>> from milsim.rules import parse
        >>> match = Match(
        ...     parse(
        ...         '[auction]\\nopener = "forehand_may_pass"\\nall_pass = "redeal_next"'
        ...     )
        ... )
        >>> game = match.game(Deal.from_id(688_907_321_587))
        >>> _ = game.pass_(), game.pass_(), game.pass_()
        >>> match.finish(game).dealer, match.state.deals
        (0, 0)
        """
        self.verify_finish(game)
        after = after_game(self.rules, self.state, game)
        self.history = (*self.history, MatchDeal(self.state, game, after))
        self.state = after
        return after


def after_game(rules: str | Path | Rules, state: MatchState, game: Game) -> MatchState:
    """The match after a game that is over and was begun with this state; `Match.finish` checks it.

    >>> match = Match("mil")
    >>> game = match.game(Deal.from_id(688_907_321_587))
    >>> _ = game.bid(100), game.pass_(), game.pass_(), game.take_talon()
    >>> while game.actor is not None:
    ...     _ = game.apply(game.legal_acts()[0])
    >>> after_game("mil", match.state, game).scores
    (-100, 60, 120)
    """
    result = game.result
    assert result is not None
    if result.ended in ("redeal", "passed_out"):
        return redealt(rules, state, result.next_dealer)
    assert result.declarer is not None
    nines = game.dealt_four_nines
    played = result.ended == "played"
    assert game.position is not None or not played
    contract = result.contract if played else result.bid
    assert contract is not None
    return score_match_deal(
        rules,
        state,
        declarer=state.player_at(result.declarer),
        contract=contract,
        points=_by_player(result.points, state) if played else None,
        tricks=_by_player(game.position.tricks_won, state) if game.position and played else None,
        conceded=not played,
        dark=result.dark,
        four_nines=None if nines is None else state.player_at(nines),
        talon=game.deal.talon,
    )


def _by_player(values: tuple[int, int, int], state: MatchState) -> tuple[int, ...]:
    """Values by seat as values by player, 0 for the sitter."""
    found = [0] * state.players
    for player, value in zip(state.active, values, strict=True):
        found[player] = value
    return tuple(found)
