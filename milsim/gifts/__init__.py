"""Which two cards the declarer gives away, and which contract he names, from his ten cards alone.

All 3,432 layouts of the 14 cards he does not see are equally likely here: what the auction told is
left out. With all cards known to all, each of the 90 pairs of gifts has a value in each layout.

- `race`: the best pairs, proved by bounds without all 308,880 values;
- `advice`: the public function and what it finds; `honest`: the same gifts played by policies;
- `text`: the answer for people.
"""

from milsim.gifts.advice import ExchangeAdvice, GiftPair, exchange
from milsim.gifts.honest import HonestResult

__all__ = ["ExchangeAdvice", "GiftPair", "HonestResult", "exchange"]
