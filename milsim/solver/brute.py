"""Plain full-width minimax, without bounds, ordering or table: what the search must agree with.

Card by card with the kernels of `milsim.tricks`, so it shares no trick of the search: not the
encoding, not the bounds, not even the shape of the recursion. Good for endings of up to four or
five cards a hand; a full deal would take years. Tests check it against `milsim.reference`.
"""

from __future__ import annotations

from milsim._jit import kernel
from milsim.bits import word_of
from milsim.tricks import (
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    NOTHING,
    OPTIONAL_DECLARATION,
    can_declare,
    declared_points,
    last_trick_points,
    legal_follow,
    points_in,
    suit_mask,
    winning_place,
)

_SIGNATURE = f"int64({', '.join(['int64'] * 11)})"
_LIMIT = 1 << 40


@kernel(signature=_SIGNATURE)
def brute_value(
    first: int,
    second: int,
    third: int,
    declarer: int,
    lead: int,
    follow: int,
    trumps: int,
    coming: int,
    trick: int,
    flags: int,
    values: int,
) -> int:
    """The declarer's future points with best play by both sides, as plain minimax finds them.

    Hands in the order of play of the trick on the table, without the cards on it; ``declarer`` is
    his place 0–2 in that order; ``lead`` and ``follow`` the cards on the table, or 0; ``trumps``
    the mask of the trump suit of this trick, ``coming`` of the next; ``trick`` its number 1–8;
    ``flags`` and ``values`` from `milsim.tricks`.

    >>> brute_value(0b100000, 0b010000, 0b001000, 0, 0, 0, 0, 0, 8, 0, 0)
    25
    """
    place = 0 if lead == 0 else (1 if follow == 0 else 2)
    hand = first if place == 0 else (second if place == 1 else third)
    if hand == 0:
        return 0
    none = word_of(0)  # a literal 0 would be another type for numba, and the recursion two kernels
    maximises = place == declarer
    best = -_LIMIT if maximises else _LIMIT
    cards = legal_follow(hand, lead, follow, trumps, flags)
    while cards != 0:
        card = cards & -cards
        cards ^= card
        value = 0
        if place == 0:
            kind = can_declare(hand, card, trick, flags)
            value = -_LIMIT if maximises else _LIMIT
            for declares in range(2):
                if declares == 0 and kind != NOTHING and flags & OPTIONAL_DECLARATION == 0:
                    continue
                if declares == 1 and kind == NOTHING:
                    continue
                now, then, gain = trumps, coming, 0
                if declares == 1:
                    gain = declared_points(kind, card, values) if declarer == 0 else 0
                    if kind == MARRIAGE:
                        then = suit_mask(card)
                        now = trumps if flags & NEXT_TRICK_TRUMP != 0 else then
                found = gain + brute_value(
                    first ^ card, second, third, declarer, card, none, now, then, trick, flags,
                    values,
                )  # fmt: skip
                value = max(value, found) if maximises else min(value, found)
        elif place == 1:
            value = brute_value(
                first, second ^ card, third, declarer, lead, card, trumps, coming, trick, flags,
                values,
            )  # fmt: skip
        else:
            rest = third ^ card
            winner = winning_place(lead, follow, card, trumps)
            if winner == declarer:
                value = points_in(lead | follow | card)
                if first | second | rest == 0:
                    value += last_trick_points(values)
            a = first if winner == 0 else (second if winner == 1 else rest)
            b = second if winner == 0 else (rest if winner == 1 else first)
            c = rest if winner == 0 else (first if winner == 1 else second)
            seat = declarer - winner
            seat = seat + 3 if seat < 0 else seat
            value += brute_value(
                a, b, c, seat, none, none, coming, coming, trick + 1, flags, values
            )
        best = max(best, value) if maximises else min(best, value)
    return best


__all__ = ["brute_value"]
