"""Exact double-dummy values: what the declarer gets when all cards are known to all.

The declarer plays to get the most points (cards and marriages), **both defenders together** play to
give him the fewest: they are a coalition here, though each scores for himself in the game.

- `solve`: one position or deal, with the value of each card and one best line;
- `solve_batch`: arrays of positions, exact or "at least so many?";
- `best_exchange`, `best_exchange_batch`: the best of the 90 ways to give two cards away;
- `signature`: nodes over fixed deals, the fingerprint of the search.

Inside: `search` (one kernel, a node a trick) with `ordering`, `bounds` and `table`, in cards by
rank (`ranked`); `root` asks it about positions; `brute` is the plain minimax it is tested against.
"""

from milsim.solver.batch import solve_batch
from milsim.solver.exchange import Exchange, Exchanges, best_exchange, best_exchange_batch
from milsim.solver.signature import signature
from milsim.solver.solution import CardValue, Solution, Trick, solve

__all__ = [
    "CardValue",
    "Exchange",
    "Exchanges",
    "Solution",
    "Trick",
    "best_exchange",
    "best_exchange_batch",
    "signature",
    "solve",
    "solve_batch",
]
