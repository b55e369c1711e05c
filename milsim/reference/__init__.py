"""The specification: the game of Thousand, slow and obvious, in plain Python.

Written from the rule texts: seed 000 (Welsh) and seed 002 (Galician), which describe one game, with
steps 1 to 10 ("Cam", "Paso"); seed 001 (Welsh), with headings; RULES.md and the meanings in
`milsim.rules.model` for what varies. Kernels are tested against it. `Game` is one deal from the
cards to the deal scores; `Position`, `legal_cards`, `trick_winner` and `perft` are its play alone;
`Auction` its auction; `deal_scores` its count. `Match` is a whole match, `MatchState` and
`score_match_deal` are it from deal to deal, in the order and the readings of docs/match.md.

Where the texts are silent, this is decided here:

Rights to a new deal
- A seat with several rights decides once. Who waives is not asked again in that phase.
- The declarer's low-talon right is looked at as soon as the talon is taken, before a concession.
- A new deal asked for scores nothing at all, not even a bonus; nor does a deal passed out.
- The bonus for four nines goes to the seat that was *dealt* them (7 cards), whatever
  ``four_nines_when`` says; it is paid in conceded deals too, belongs to step 1 of the count and so
  is doubled by step 2.

Auction
- The forced opening is exactly the minimum. With ``exact_step`` any first bid is the minimum.
- A rearhand who holds the minimum (``dealer_holds``) passes like anybody once overbid.
- "No limit" ends at the most points that one deal can hold: 120, the four marriages, four aces and
  the last trick (400 under ``mil`` values); a cap that is no multiple of the step is rounded down;
  the minimum in force may always be bid. ``gate`` with a marriage never allows less than without.
- ``dealer_plays``: after two passes rearhand is declarer at the minimum without being asked.
- ``final_last_may_raise``: the last one left is asked once, to raise by the usual rules or to pass,
  which keeps the bid; so also the holder of a compulsory bid.
- ``silence_below`` silences dark bids and that last raise too, and leaves the opening of a forced
  forehand, held minimums and the contract alone.
- A dark bid is exactly 120, forehand's first act of the deal (who has waived a right to a new deal
  has looked), higher than a minimum that rearhand holds; cap and exact step do not bind it. Any
  higher bid cancels it, forehand's own as well; a higher contract does not.

Talon, contract, concession
- A contract may be raised by any multiple of the step, whatever ``raise_by`` says.
- ``before_gifts``: from the taking of the talon to the first gift; ``before_first_lead``: from
  there to the first lead, whenever the declarer is the one to act. The price goes by the bid, not
  by a contract named since. Half a bid is rounded to the nearest step, half a step down.

Play
- "The highest so far" is the highest card of the suit led in the trick.
- ``trump`` is the trump in force in the trick: under ``next_trick`` the old one throughout.
- Four aces are declared in the same tricks and in the same way (automatic, optional) as marriages,
  by leading any ace; ``marriage_card`` does not concern them.
- The last trick is the one that empties the hands.

Count
- ``made_test = rounded`` and ``success = actual`` round as ``defender_rounding`` says.
- Dark doubles the declarer's score, made or failed or conceded; golden doubles everybody's. In a
  golden deal the minimum in force is 120, above a lower cap too.
"""

from milsim.reference.auction import DARK_BID, Auction, highest_bid, most_points
from milsim.reference.game import Game, Phase
from milsim.reference.match import Match, MatchDeal, after_game
from milsim.reference.match_scoring import redealt, score_match_deal, talon_score
from milsim.reference.match_state import Event, MatchState
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
    Declaration,
    Position,
    card_points,
    legal_cards,
    marriages_in,
    perft,
    trick_winner,
)
from milsim.reference.replaying import replay
from milsim.reference.rights import (
    rights_after_exchange,
    rights_before_auction,
    rights_of_declarer,
)
from milsim.reference.scoring import (
    DealResult,
    concession_scores,
    deal_scores,
    half_bid,
    is_made,
    rounded,
)

__all__ = [
    "DARK_BID",
    "Auction",
    "Bid",
    "Concession",
    "Contract",
    "DealResult",
    "Declaration",
    "Event",
    "Game",
    "Gift",
    "Match",
    "MatchDeal",
    "MatchState",
    "Operation",
    "Pass",
    "Phase",
    "Play",
    "Position",
    "RedealRequest",
    "RedealWaiver",
    "TalonTaken",
    "after_game",
    "card_points",
    "concession_scores",
    "deal_scores",
    "half_bid",
    "highest_bid",
    "is_made",
    "legal_cards",
    "marriages_in",
    "most_points",
    "perft",
    "redealt",
    "replay",
    "rights_after_exchange",
    "rights_before_auction",
    "rights_of_declarer",
    "rounded",
    "score_match_deal",
    "talon_score",
    "trick_winner",
]
