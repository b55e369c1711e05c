"""Policies in plain Python: derive a class from `Policy`, and override what you know better.

Each decision gets a `milsim.knowledge.View`, all that the seat may see, and answers with plain
numbers: a bid in points (0 to pass), cards as indices 0–23. What is not overridden is played by
`greedy`. docs/policies.md has an example, and says how others can use the policy by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from milsim.errors import PolicyError, quote
from milsim.knowledge import View
from milsim.policies import greedy_bidding, greedy_play
from milsim.policies.players import Hands
from milsim.policies.seen import Seen
from milsim.reference import Bid, Contract, Play
from milsim.rules import packed
from milsim.scoring import concession_gain, concession_price
from milsim.tricks import play_flags, trump_mask

DECISIONS = ("dark", "bid", "concede", "gifts", "contract", "card", "declares")


class Policy:
    """A player who sees a view and decides; as it stands, the policy `greedy`.

    One object plays all deals of a run, in several threads: it must keep nothing of a deal, and
    answer by the view alone. That makes a run the same again, and one deal checkable by itself.
    Keyword arguments of ``__init__`` with a default are parameters: ``name:key=value``.
    """

    # -- what to override ------------------------------------------------------------------------

    def dark(self, view: View) -> bool:  # noqa: ARG002
        """Whether to bid 120 in the dark, where the rules let forehand; the view shows no cards."""
        return False

    def bid(self, view: View) -> int:
        """One of `legal_bids`, or 0 to pass."""
        bids = legal_bids(view)
        if not bids:
            return 0
        fields = packed(view.rules)
        return int(greedy_bidding.greedy_bid(fields, view.hand.mask, bids[0], bids[-1], 1))

    def concede(self, view: View) -> bool:
        """Whether to give the deal up before the gifts, where the rules let the declarer."""
        fields, bid = packed(view.rules), view.bid or 0
        price = int(concession_price(bid, view.concessions[view.seat], fields))
        gain = int(concession_gain(bid, fields))
        return bool(greedy_bidding.greedy_concession(fields, view.hand.mask, bid, price, gain))

    def gifts(self, view: View) -> tuple[int, int]:
        """Two of the ten cards in ``view.hand``: one for the left, one for the right."""
        both = int(greedy_bidding.greedy_gifts(packed(view.rules), view.hand.mask))
        return both & 31, both >> 5

    def contract(self, view: View) -> int:
        """One of `legal_contracts`; asked only if there is a choice."""
        fields, amounts = packed(view.rules), legal_contracts(view)
        step = view.rules.auction.step
        return int(
            greedy_bidding.greedy_contract(fields, view.hand.mask, amounts[0], amounts[-1], step)
        )

    def card(self, view: View) -> int:
        """One of `legal_cards`; asked only if there is a choice."""
        fields, declarer = packed(view.rules), view.declarer or 0
        trick = view.tricks[-1] if view.tricks and view.tricks[-1].winner is None else None
        table = trick.cards if trick is not None else ()
        lead, second = (*(1 << card for card in table), 0, 0)[:2]
        played = sum(1 << card for one in view.tricks for card in one.cards)
        card = greedy_play.greedy_card(
            fields,
            play_flags(fields),
            view.hand.mask,
            sum(1 << card for card in legal_cards(view)),
            lead,
            second,
            trump_mask(view.trump if trick is not None else view.coming_trump),
            len(view.tricks) + (1 if trick is None else 0),
            played,
            (view.seat - declarer) % 3,
            ((trick.leader if trick is not None else view.seat) - declarer) % 3,
        )
        return int(card).bit_length() - 1

    def declares(self, view: View, card: int) -> bool:  # noqa: ARG002
        """Whether leading the card declares its marriage, where the rules leave that open."""
        return True


def legal_bids(view: View) -> tuple[int, ...]:
    """The bids open to the seat, ascending, in points; a pass is always open too."""
    return tuple(act.amount for act in view.legal_acts if isinstance(act, Bid) and not act.dark)


def legal_contracts(view: View) -> tuple[int, ...]:
    """The contracts that the declarer may name, ascending, in points."""
    return tuple(act.amount for act in view.legal_acts if isinstance(act, Contract))


def legal_cards(view: View) -> tuple[int, ...]:
    """The cards that the seat may play, ascending."""
    return tuple(sorted({act.card for act in view.legal_acts if isinstance(act, Play)}))


def _check_spelling(policy: Any) -> None:
    """Raise PolicyError for ``def cards``, which would leave the cards to `greedy` unsaid."""
    kind = type(policy)
    own = {name for name in DECISIONS if getattr(kind, name, None) not in (None, _default(name))}
    others = [
        name
        for name in dir(policy)
        if not name.startswith("_") and name not in DECISIONS and callable(getattr(policy, name))
    ]
    for name in others:
        for meant in get_close_matches(name.lower(), DECISIONS, n=1, cutoff=0.75):
            if meant not in own:
                raise PolicyError(
                    f"policy {kind.__name__}: {name} is no decision; did you mean {meant}?"
                )
    if others and not own and isinstance(policy, Policy):
        raise PolicyError(
            f"policy {kind.__name__}: {others[0]} is no decision, and it has none of its own; "
            f"they are {', '.join(DECISIONS)}"
        )


def _default(name: str) -> Any:
    return getattr(Policy, name)


class UserPlayer:
    """A `Policy` at a driven table."""

    sees_all = False

    def __init__(self, policy: Any) -> None:
        """The object is asked by the names of `Policy`; what it lacks, `Policy` answers.

        Raises PolicyError for an object without any of them, with one that is no method, with a
        method whose name is nearly one of them, or with methods none of which is one of them.
        """
        default = Policy()
        own = [name for name in DECISIONS if hasattr(policy, name)]
        if not own:
            raise PolicyError(
                f"policy {quote(policy)}: a name, a class or an object like milsim.policies.Policy "
                "is needed"
            )
        self._ask: dict[str, Callable[..., Any]] = {
            name: getattr(policy if name in own else default, name) for name in DECISIONS
        }
        _check_spelling(policy)
        for name, ask in self._ask.items():
            if not callable(ask):
                raise PolicyError(
                    f"policy {type(policy).__name__}: {name} is {quote(ask)}, not a method"
                )

    def dark(self, seen: Seen) -> bool:
        """The policy's answer to a view without cards."""
        answer: bool = self._ask["dark"](seen.view())
        return answer

    def bid(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """The policy's answer to its view."""
        answer: int = self._ask["bid"](seen.view())
        return answer

    def concedes(self, seen: Seen, hands: Hands | None) -> bool:  # noqa: ARG002
        """The policy's answer to its view."""
        answer: bool = self._ask["concede"](seen.view())
        return answer

    def gifts(self, seen: Seen, hands: Hands | None) -> tuple[int, int]:  # noqa: ARG002
        """The policy's answer to its view."""
        answer: tuple[int, int] = self._ask["gifts"](seen.view())
        return answer

    def name_contract(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """The policy's answer to its view."""
        answer: int = self._ask["contract"](seen.view())
        return answer

    def card(self, seen: Seen, hands: Hands | None) -> int:  # noqa: ARG002
        """The policy's answer to its view."""
        answer: int = self._ask["card"](seen.view())
        return answer

    def declares(self, seen: Seen, card: int) -> bool:
        """The policy's answer to its view."""
        answer: bool = self._ask["declares"](seen.view(), card)
        return answer


__all__ = ["Policy", "UserPlayer", "legal_bids", "legal_cards", "legal_contracts"]
