"""What a seat may know: its view of a deal, and the layouts of the hidden cards that are possible.

`view` gives a `View`, all that a seat may see. `Knowledge` is made from one: how many layouts of
the hidden cards it allows, all of them in order, uniform samples. For simulations the kernels in
`state` (an array a seat, and one for all seats with an O(1) step a card) and `layouts` (how many,
the n-th, a random one).

A layout is possible if the deal could have gone as it was seen to go, with these hands, by the
rules of the exchange and of the play:

- cards: own, given, received, shown, played are where they are;
- the talon: a defender who saw it knows that its cards are with the declarer, save at most one
  given to the other defender unseen; without having seen it he knows nothing of this;
- every card played was legal: who did not follow suit is void; who did not beat, trump or overtrump
  where the rules ask it could not. Exactly so in all rule sets: `state.better_cards` has the proof;
- declarations: who declared a marriage (four aces) held all its cards; who led one of them when
  leading it would have declared by itself, and did not, held not all.

What the auction and the contract prove is left out: that a bid over the cap takes a marriage, or
that a hand without a claim to a new deal has not four nines. They are facts about the cards dealt,
before the gifts; like what bids, gifts and discards make *likely*, they belong to whoever models
the other players. So a layout that no auction of this deal could lead to may be counted here, and
the true layout always is. Uniform means uniform over layouts, not over the ways they came about.
"""

from milsim.knowledge.value import Hands, Knowledge
from milsim.knowledge.view import SeenGift, SeenTrick, View, view

__all__ = ["Hands", "Knowledge", "SeenGift", "SeenTrick", "View", "view"]
