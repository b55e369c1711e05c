"""milsim: simulation and analytics for the card game of Thousand (Mil, Tysiąc, Тысяча).

What is here is the public, stable interface. Each name is loaded when first used, so that
``import milsim`` stays cheap:

- :class:`Deal`, :class:`CardSet`, :class:`Position`: cards as values;
- :func:`legal_mask`, :func:`trick_winner`, :func:`score_deal`: the rules as plain functions;
- :class:`MatchState`, :func:`score_match_deal`: a match from deal to deal;
- :func:`solve`, :func:`solve_batch`, :func:`best_exchange`, :func:`best_exchange_batch`: exact
  double-dummy values;
- :func:`exchange`: which two of ten cards to give away, and which contract to name;
- :func:`sample_deals`, :func:`simulate`, :func:`simulate_plan`, :func:`open_run`: deals and
  runs;
- :func:`play_matches`, :func:`open_matches`: whole matches;
- :func:`hand`: what seven cards are worth, and how high to bid them;
- :func:`explorer`: the page to click seven cards, as HTML;
- :func:`arena`: which policy is stronger;
- :mod:`milsim.report` (tables) and :mod:`milsim.rules` (rule sets).

>>> import milsim
>>> milsim.Deal.from_id(688907321587).forehand
CardSet.parse('A.AQ9.AJ.K')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milsim import reports as report
    from milsim import rules
    from milsim.answers.hand import HandAnswer, hand
    from milsim.api import open_matches, open_run, play_matches, simulate, simulate_plan
    from milsim.cards import CardSet
    from milsim.dealing import DealSpace, sample_deals
    from milsim.deals import Deal, DealFault
    from milsim.errors import MilsimError
    from milsim.gifts import ExchangeAdvice, exchange
    from milsim.pages.explorer import explorer
    from milsim.position import Position
    from milsim.reference import MatchState, score_match_deal
    from milsim.reports.arena import Contest, arena
    from milsim.scoring import DealScore, score_deal
    from milsim.simulation.policy_check import check_policy
    from milsim.solver import (
        Exchange,
        Exchanges,
        Solution,
        best_exchange,
        best_exchange_batch,
        solve,
        solve_batch,
    )
    from milsim.store.match_run import MatchRun
    from milsim.store.run import Run
    from milsim.tricks import legal_mask, trick_winner
    from milsim.where import Where

_HOMES = {
    "CardSet": "milsim.cards",
    "Contest": "milsim.reports.arena",
    "Deal": "milsim.deals",
    "DealFault": "milsim.deals",
    "DealScore": "milsim.scoring",
    "DealSpace": "milsim.dealing",
    "Exchange": "milsim.solver",
    "ExchangeAdvice": "milsim.gifts",
    "Exchanges": "milsim.solver",
    "HandAnswer": "milsim.answers.hand",
    "MatchState": "milsim.reference",
    "MatchRun": "milsim.store.match_run",
    "MilsimError": "milsim.errors",
    "Position": "milsim.position",
    "Run": "milsim.store.run",
    "Solution": "milsim.solver",
    "Where": "milsim.where",
    "arena": "milsim.reports.arena",
    "best_exchange": "milsim.solver",
    "best_exchange_batch": "milsim.solver",
    "check_policy": "milsim.simulation.policy_check",
    "exchange": "milsim.gifts",
    "explorer": "milsim.pages.explorer",
    "hand": "milsim.answers.hand",
    "legal_mask": "milsim.tricks",
    "open_matches": "milsim.api",
    "open_run": "milsim.api",
    "play_matches": "milsim.api",
    "report": "milsim.reports",
    "rules": "milsim.rules",
    "sample_deals": "milsim.dealing",
    "score_deal": "milsim.scoring",
    "score_match_deal": "milsim.reference",
    "simulate": "milsim.api",
    "simulate_plan": "milsim.api",
    "solve": "milsim.solver",
    "solve_batch": "milsim.solver",
    "trick_winner": "milsim.tricks",
}

__all__ = [
    "CardSet",
    "Contest",
    "Deal",
    "DealFault",
    "DealScore",
    "DealSpace",
    "Exchange",
    "ExchangeAdvice",
    "Exchanges",
    "HandAnswer",
    "MatchRun",
    "MatchState",
    "MilsimError",
    "Position",
    "Run",
    "Solution",
    "Where",
    "arena",
    "best_exchange",
    "best_exchange_batch",
    "check_policy",
    "exchange",
    "explorer",
    "hand",
    "legal_mask",
    "open_matches",
    "open_run",
    "play_matches",
    "report",
    "rules",
    "sample_deals",
    "score_deal",
    "score_match_deal",
    "simulate",
    "simulate_plan",
    "solve",
    "solve_batch",
    "trick_winner",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("milsim")
    if name not in _HOMES:
        raise AttributeError(f"module 'milsim' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    value = module if name in ("report", "rules") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "__version__"})
