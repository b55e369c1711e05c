"""What can be wrong with what was declared before: no play of cards leads to such a position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from milsim.cards import ACE, KING, QUEEN, SUIT_LETTERS, format_card
from milsim.position.faults import PositionFault
from milsim.rules import PlayRules

FOUR_ACES_DECLARED = 4
"""The `suit` of a declaration of four aces."""

_TRUMPS = (*SUIT_LETTERS, "none")


def _cards_of(suit: int, play: PlayRules) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cards that a declaration needs, and those of them whose lead declares it."""
    if suit == FOUR_ACES_DECLARED:
        aces = tuple(6 * each + ACE for each in range(4))
        return aces, aces
    queen, king = 6 * suit + QUEEN, 6 * suit + KING
    return (queen, king), (queen,) if play.marriage_card == "queen" else (queen, king)


def _fault(
    found: tuple[int, int, int],
    masks: Sequence[int],
    leader: int,
    table: Sequence[int],
    trick_number: int,
    play: PlayRules,
) -> str:
    """Why a declaration cannot have been made; empty if it can."""
    seat, suit, trick = found
    if trick > trick_number or (trick == trick_number and not table):
        return f"trick {trick} has not begun"
    if not play.marriage_from_trick <= trick <= play.marriage_until_trick:
        window = f"{play.marriage_from_trick} to {play.marriage_until_trick}"
        return f"these rules let declare in tricks {window}"
    if suit == FOUR_ACES_DECLARED and not play.ace_marriage:
        return "these rules know no four aces"
    needed, leads = _cards_of(suit, play)
    holders = {
        card: holder for holder, mask in enumerate(masks) for card in needed if mask >> card & 1
    }
    holders |= {card: (leader + place) % 3 for place, card in enumerate(table) if card in needed}
    names = " or ".join(map(format_card, leads))
    if trick == trick_number:
        if leader != seat or table[0] not in leads:
            return f"seat {leader} led {format_card(table[0])} to trick {trick}, not {names}"
        others = [card for card in needed if holders.get(card) != seat]
        if others:
            return f"seat {seat} had no {format_card(others[0])}"
        return ""
    if all(card in holders for card in leads):
        return f"no {names} has gone: one was led to declare"
    for card, holder in holders.items():
        if holder != seat:
            return f"{format_card(card)} is seat {holder}'s"
    return ""


def history_faults(
    masks: Sequence[int],
    leader: int,
    trump: int,
    table: Sequence[int],
    trick_number: int,
    next_trump: int,
    declared: Sequence[tuple[int, int, int]],
    play: PlayRules,
) -> Iterator[tuple[PositionFault, str]]:
    """What is wrong with declarations (seat, suit, trick) and trumps, in a position without faults.

    >>> hands = [0b001100, 0b010001, 0b100010]
    >>> list(history_faults(hands, 0, 0, [], 7, 0, [(0, 0, 2)], PlayRules()))
    [(<PositionFault.BAD_DECLARATION: 256>, '0S2: no QS or KS has gone: one was led to declare')]
    """
    suits: dict[int, str] = {}
    tricks: dict[int, str] = {}
    names = {}
    fine = True
    for seat, suit, trick in declared:
        name = names[seat, suit, trick] = f"{seat}{(SUIT_LETTERS + 'A')[suit]}{trick}"
        why = _fault((seat, suit, trick), masks, leader, table, trick_number, play)
        if suit in suits:
            why = f"{suits[suit]} has declared the same"
        elif trick in tricks:
            why = f"{tricks[trick]} is of the same trick, and one lead declares once"
        suits[suit] = tricks[trick] = name
        if why:
            fine = False
            yield PositionFault.BAD_DECLARATION, f"{name}: {why}"
    if not fine:
        return
    marriages = sorted(
        (trick, suit, seat) for seat, suit, trick in declared if suit != FOUR_ACES_DECLARED
    )
    now = [each for each in marriages if each[0] == trick_number]
    if next_trump != trump and not now:
        yield (
            PositionFault.BAD_NEXT_TRUMP,
            f"next_trump {_TRUMPS[next_trump]} is not trump {_TRUMPS[trump]}, "
            "and no marriage was declared in this trick",
        )
        return
    if marriages and next_trump != marriages[-1][1]:
        trick, suit, seat = marriages[-1]
        yield (
            PositionFault.BAD_NEXT_TRUMP if now else PositionFault.BAD_TRUMP,
            f"{'next_trump' if now else 'trump'} is {_TRUMPS[next_trump]}, "
            f"but {names[seat, suit, trick]} made it {SUIT_LETTERS[suit]}",
        )
    elif now and play.trump_effect == "immediate" and trump != next_trump:
        yield (
            PositionFault.BAD_TRUMP,
            f"trump is {_TRUMPS[trump]}, but under these rules "
            f"{SUIT_LETTERS[next_trump]} is trump at once",
        )
    elif now and play.trump_effect == "next_trick" and len(marriages) > 1:
        trick, suit, seat = marriages[-2]
        if trump != suit:
            yield (
                PositionFault.BAD_TRUMP,
                f"trump is {_TRUMPS[trump]}, but {names[seat, suit, trick]} "
                f"made it {SUIT_LETTERS[suit]}",
            )


__all__ = ["FOUR_ACES_DECLARED", "history_faults"]
