"""One deal by policies of any kind: the driver, for those that are not pure kernels.

The same deal as `milsim.simulation.deal_kernel.play_dealt`, act by act in Python on masks, with the
same kernels for legal cards, the auction and the scores, and the same arrays at its end: so
`write_row` makes the very same rows. It asks each seat's `Player` with what that seat may see, and
checks the answer: a mistake is a PolicyError that names the policy, the deal and the decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from milsim.auction import (
    AUCTION_SIZE,
    BID,
    DARK,
    DARK_BID,
    DECLARER,
    HOLDER,
    NOBODY,
    TURN,
    auction_start,
    bid,
    bid_dark,
    contract_range,
    legal_bids,
    may_bid_dark,
    pass_turn,
)
from milsim.cards import format_card
from milsim.deals import SEAT_NAMES
from milsim.errors import PolicyError, quote
from milsim.policies.players import Hands, Player
from milsim.policies.seen import PlayedCard, Seen, Table, TableRules
from milsim.reference import Bid, Declaration, Pass, Phase
from milsim.rights import hand_rights, kept_rights, talon_rights
from milsim.rules import word_of
from milsim.scoring import concession_gain, concession_price, is_made
from milsim.simulation.columns import NO_CARD
from milsim.simulation.deal_kernel import (
    ALL_PASSED,
    AS_DEALT,
    AUCTION,
    BEST_BIDS,
    BIDDING,
    CONCEDERS,
    CONTRACT,
    COUNTS,
    DEAL_SIZE,
    DEALT,
    EARLIER,
    FOREHAND_PLAYS_120,
    GIFTS,
    GOLDEN,
    IS_CONCEDED,
    IS_DARK,
    IS_MADE,
    MADE_BID,
    MINIMUM_IN_FORCE,
    PLAYER_OF_CONTRACT,
    SILENT_SEATS,
    SITUATION_SIZE,
    THROWN_IN,
    settle,
    shown_talon,
)
from milsim.simulation.tricks_kernel import (
    DECLARED_BY,
    DECLARED_IN,
    HANDS,
    MARRIAGES,
    N_TRICKS,
    POINTS,
    TRICKS,
    WORK_SIZE,
)
from milsim.tricks import (
    MARRIAGE,
    NEXT_TRICK_TRUMP,
    NOTHING,
    OPTIONAL_DECLARATION,
    can_declare,
    declared_points,
    last_trick_points,
    legal_second,
    legal_third,
    points_in,
    suit_mask,
    winning_place,
)

if TYPE_CHECKING:
    pass

_FORCED = word_of("auction.opener", "forehand_forced")
_NO_SCORES = (0, 0, 0)
_ON_NO_BARREL = (False, False, False)


class DrivenDeal:
    """A deal that is played, again and again with other cards; the arrays are those of the kernel.

    ``deal`` int64[DEAL_SIZE] and ``work`` int64[WORK_SIZE] tell what happened; ``situation``
    int64[SITUATION_SIZE] is given, and ``scores`` and ``on_barrel``, which no kernel asks for.
    """

    def __init__(self, by: TableRules, names: Sequence[str]) -> None:
        """Ready for deals under the rules; ``names`` of the policies by seat, for messages."""
        self.by = by
        self.names = tuple(names)
        self.where = ""
        self.deal = np.zeros(DEAL_SIZE, np.int64)
        self.work = np.zeros(WORK_SIZE, np.int64)
        self.auction = np.zeros(AUCTION_SIZE, np.int64)
        self.situation = np.zeros(SITUATION_SIZE, np.int64)
        self.scores: tuple[int, int, int] = _NO_SCORES
        self.on_barrel: tuple[bool, bool, bool] = _ON_NO_BARREL
        self.hands = [0, 0, 0]
        self.talon = 0

    # -- asking ----------------------------------------------------------------------------------

    def _refuse(self, seat: int, decision: str, reason: str) -> NoReturn:
        raise PolicyError(
            f"policy {self.names[seat]}: {self.where}, {SEAT_NAMES[seat]}, {decision}: {reason}"
        )

    def _all(self, player: Player) -> Hands | None:
        if not player.sees_all:
            return None
        first, second, third = self.hands
        return first, second, third, self.talon

    def _number(self, seat: int, decision: str, answer: object) -> int:
        if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
            self._refuse(seat, decision, f"{quote(answer)} is no whole number")
        return int(answer)

    def _ask(self, seat: int, decision: str, ask: object, *arguments: object) -> object:
        try:
            return ask(*arguments)  # type: ignore[operator]
        except PolicyError:
            raise
        except (Exception, SystemExit) as error:  # a policy must not end the run by exit()
            kind = type(error).__name__
            message = " ".join(str(error).split())
            raise PolicyError(
                f"policy {self.names[seat]}: {self.where}, {SEAT_NAMES[seat]}, {decision}: "
                f"{kind}: {message}"
            ) from error

    # -- the deal --------------------------------------------------------------------------------

    def play(self, dealt: tuple[int, int, int, int], players: Sequence[Player], key: int) -> int:
        """Play the three hands and the talon to the deal scores; COUNTS, THROWN_IN or ALL_PASSED.

        ``players`` by seat, ``key`` the deal's `policy_key`.
        """
        deal, situation, fields = self.deal, self.situation, self.by.fields
        for place in range(4):
            deal[DEALT + place] = dealt[place]
        self.hands, self.talon = list(dealt[:3]), dealt[3]
        bidding = int(situation[BIDDING])
        if bidding != AS_DEALT and any(hand_rights(hand, fields) for hand in dealt[:3]):
            return THROWN_IN
        deal[BEST_BIDS : BEST_BIDS + 3] = 0
        deal[IS_DARK] = deal[IS_CONCEDED] = 0
        minimum = int(situation[MINIMUM_IN_FORCE])
        first, second, third = (int(n) for n in situation[EARLIER : EARLIER + 3])
        self.table = table = Table(
            self.by,
            key,
            minimum,
            golden=bool(situation[GOLDEN]),
            scores=self.scores,
            concessions=(first, second, third),
            on_barrel=self.on_barrel,
        )
        self.seats = [Seen(table, seat, dealt[seat], dealt[seat]) for seat in range(3)]
        if bidding == AUCTION:
            self._hold_auction(players)
            if self.auction[DECLARER] == NOBODY:
                return ALL_PASSED
            declarer, made_bid = int(self.auction[DECLARER]), int(self.auction[BID])
            deal[IS_DARK] = self.auction[DARK]
        else:
            declarer = 0
            made_bid = DARK_BID if bidding == FOREHAND_PLAYS_120 else minimum
            deal[BEST_BIDS] = made_bid
        deal[PLAYER_OF_CONTRACT] = declarer
        deal[MADE_BID] = made_bid
        table.declarer, table.bid, table.dark = declarer, made_bid, bool(deal[IS_DARK])
        if bidding != AS_DEALT and talon_rights(self.talon, made_bid, minimum, fields):
            return THROWN_IN
        self._take_talon(declarer)
        player, seen = players[declarer], self.seats[declarer]
        if bidding != AS_DEALT and self._concedes(player, seen):
            return self._give_up(int(situation[EARLIER + declarer]))
        self._give(player, seen)
        if bidding != AS_DEALT and any(kept_rights(hand, fields) for hand in self.hands):
            return THROWN_IN
        self._name_contract(player, seen)
        self._play_tricks(players)
        points = int(self.work[POINTS] + self.work[MARRIAGES])
        deal[IS_MADE] = int(is_made(points, table.contract, fields))
        settle(deal, self.work, int(situation[EARLIER + declarer]), int(situation[GOLDEN]), fields)
        return COUNTS

    def _hold_auction(self, players: Sequence[Player]) -> None:
        auction, deal, fields = self.auction, self.deal, self.by.fields
        table = self.table
        auction_start(auction, table.minimum, int(self.situation[SILENT_SEATS]), fields)
        if may_bid_dark(auction, fields):
            table.actor = 0
            blind = Seen(table, 0, 0, 0, lowest=DARK_BID, highest=DARK_BID)
            answer = self._ask(0, "bid in the dark", players[0].dark, blind)
            if not isinstance(answer, bool):
                self._refuse(0, "bid in the dark", f"{quote(answer)} is not True or False")
            if answer:
                bid_dark(auction)
        if auction[BID] > 0:
            deal[BEST_BIDS + auction[HOLDER]] = auction[BID]
            if auction[HOLDER] == 0:  # what rearhand holds is no bid
                table.calls.append(Bid(0, int(auction[BID]), bool(auction[DARK])))
        call = 0
        while auction[TURN] != NOBODY:
            seat = int(auction[TURN])
            seen = self.seats[seat]
            lowest, highest, step = legal_bids(auction, seen.hand, fields)
            seen.lowest, seen.highest, seen.call, table.actor = lowest, highest, call, seat
            player = players[seat]
            asked = self._ask(seat, f"call {call + 1}", player.bid, seen, self._all(player))
            points = self._number(seat, f"call {call + 1}", asked)
            if points == 0:
                table.calls.append(Pass(seat))
                pass_turn(auction, fields)
            else:
                if not lowest <= points <= highest or (points - lowest) % step:
                    only = f"{lowest} to {highest} in steps of {step}, or 0 to pass"
                    only = only if lowest <= highest else "only 0, to pass"
                    self._refuse(seat, f"call {call + 1}", f"bid {quote(points)}; {only}")
                table.calls.append(Bid(seat, points))
                deal[BEST_BIDS + seat] = points
                bid(auction, points, fields)
            call += 1
        if auction[DECLARER] != NOBODY:
            # The compulsory minimum of a dealer who was left alone is his bid too.
            deal[BEST_BIDS + auction[DECLARER]] = auction[BID]

    def _take_talon(self, declarer: int) -> None:
        table, talon = self.table, self.talon
        self.hands[declarer] |= talon
        self.talon = 0
        table.talon_taken, table.actor, table.phase = True, declarer, Phase.GIFTS
        shown = shown_talon(
            talon, declarer, table.bid, table.minimum, int(table.dark), self.by.fields
        )
        for seen in self.seats:
            if seen.seat == declarer:
                seen.hand |= talon
                seen.talon = talon
            else:
                seen.talon = int(shown)

    def _concedes(self, player: Player, seen: Seen) -> bool:
        seat, fields = seen.seat, self.by.fields
        if not int(self.situation[CONCEDERS]) >> seat & 1:
            return False
        seen.may_concede = True
        earlier = int(self.situation[EARLIER + seat])
        seen.price = int(concession_price(self.table.bid, earlier, fields))
        seen.gain = int(concession_gain(self.table.bid, fields))
        answer = self._ask(seat, "concession", player.concedes, seen, self._all(player))
        if not isinstance(answer, bool):
            self._refuse(seat, "concession", f"{quote(answer)} is not True or False")
        return answer

    def _give_up(self, earlier: int) -> int:
        deal, work = self.deal, self.work
        work[POINTS:DECLARED_BY] = 0
        work[DECLARED_BY : DECLARED_BY + 4] = -1
        work[DECLARED_IN : DECLARED_IN + 4] = 0
        deal[IS_CONCEDED] = 1
        deal[CONTRACT] = self.table.bid
        deal[GIFTS] = NO_CARD + 32 * NO_CARD
        deal[IS_MADE] = 0
        settle(deal, work, earlier, int(self.situation[GOLDEN]), self.by.fields)
        return COUNTS

    def _give(self, player: Player, seen: Seen) -> None:
        seat = seen.seat
        given = self._ask(seat, "gifts", player.gifts, seen, self._all(player))
        if not isinstance(given, tuple | list) or len(given) != 2:
            self._refuse(seat, "gifts", f"{quote(given)} is not two cards")
        left, right = (self._number(seat, "gifts", card) for card in given)
        for card in (left, right):
            if not 0 <= card < 24 or not seen.hand >> card & 1:
                name = format_card(card) if 0 <= card < 24 else quote(card)
                self._refuse(seat, "gifts", f"{name} is not in his hand")
        if left == right:
            self._refuse(seat, "gifts", f"{format_card(left)} is given twice")
        self.deal[GIFTS] = left + 32 * right
        face_up = self.by.rules.talon.gifts == "face_up"
        for turn, card in ((1, 1 << left), (2, 1 << right)):
            receiver = (seat + turn) % 3
            self.hands[seat] ^= card
            self.hands[receiver] |= card
            seen.hand ^= card
            self.seats[receiver].hand |= card
            for each in self.seats:
                sees = face_up or each.seat in (seat, receiver)
                each.gifts.append((seat, receiver, card if sees else 0))

    def _name_contract(self, player: Player, seen: Seen) -> None:
        table, seat = self.table, seen.seat
        ten = int(self.deal[DEALT + seat] | self.deal[DEALT + 3])
        lowest, highest = contract_range(table.bid, seen.hand, ten, table.minimum, self.by.fields)
        table.phase = Phase.CONTRACT
        seen.lowest, seen.highest = lowest, highest
        contract = lowest
        if highest > lowest:
            asked = self._ask(seat, "contract", player.name_contract, seen, self._all(player))
            contract = self._number(seat, "contract", asked)
            step = self.by.step
            if not lowest <= contract <= highest or (contract - lowest) % step:
                only = f"use {lowest} to {highest} in steps of {step}"
                self._refuse(seat, "contract", f"{quote(contract)}; {only}")
        table.contract = contract
        self.deal[CONTRACT] = contract

    # -- the tricks ------------------------------------------------------------------------------

    def _card(self, players: Sequence[Player], seat: int, legal: int) -> int:
        """The card that a seat plays, a mask; where only one is legal nobody is asked."""
        self.table.actor = seat
        seen = self.seats[seat]
        seen.legal = legal
        if legal & (legal - 1) == 0:
            return legal
        player = players[seat]
        decision = f"card of trick {self.table.trick_number}"
        asked = self._ask(seat, decision, player.card, seen, self._all(player))
        card = self._number(seat, decision, asked)
        if not 0 <= card < 24 or not legal >> card & 1:
            name = format_card(card) if 0 <= card < 24 else quote(card)
            names = " ".join(format_card(one) for one in range(24) if legal >> one & 1)
            self._refuse(seat, decision, f"{name} is not legal; legal are {names}")
        return 1 << card

    def _put(self, seat: int, card: int, trumps: int, declares: bool) -> None:
        table = self.table
        self.hands[seat] ^= card
        self.seats[seat].hand ^= card
        table.played |= card
        table.cards.append(
            PlayedCard(seat, card, table.lead, table.second, trumps, table.trick_number, declares)
        )

    def _declares(self, players: Sequence[Player], seat: int, lead: int, can: int) -> bool:
        if can == NOTHING or not self.by.flags & OPTIONAL_DECLARATION:
            return can != NOTHING
        seen = self.seats[seat]
        decision = f"declaration in trick {self.table.trick_number}"
        answer = self._ask(seat, decision, players[seat].declares, seen, lead.bit_length() - 1)
        if not isinstance(answer, bool):
            self._refuse(seat, decision, f"{quote(answer)} is not True or False")
        return answer

    def _lead(self, players: Sequence[Player], seat: int) -> int:
        table, work, by = self.table, self.work, self.by
        hand = self.hands[seat]
        lead = self._card(players, seat, hand)
        can = int(can_declare(hand, lead, table.trick_number, by.flags))
        declares = self._declares(players, seat, lead, can)
        if declares:
            points = int(declared_points(can, lead, by.values))
            work[MARRIAGES + table.role(seat)] += points
            table.points[seat] += points
            suit = (lead.bit_length() - 1) // 6 if can == MARRIAGE else None
            table.declarations.append(Declaration(seat, suit, points, table.trick_number))
            if suit is not None:
                work[DECLARED_BY + suit] = table.role(seat)
                work[DECLARED_IN + suit] = table.trick_number
                table.coming = int(suit_mask(lead))
                if not by.flags & NEXT_TRICK_TRUMP:
                    table.trumps = table.coming
        self._put(seat, lead, table.trumps, declares)
        table.lead = lead
        return lead

    def _play_tricks(self, players: Sequence[Player]) -> None:
        """Eight tricks; the account by role goes to ``work``."""
        table, work, flags = self.table, self.work, self.by.flags
        declarer = table.declarer
        work[:] = 0
        work[DECLARED_BY : DECLARED_BY + 4] = -1
        for role in range(3):
            work[HANDS + role] = self.hands[(declarer + role) % 3]
        table.phase = Phase.PLAY
        leader = declarer
        for trick_number in range(1, N_TRICKS + 1):
            table.trick_number, table.leader = trick_number, leader
            table.lead = table.second = 0
            table.trumps = table.coming
            lead = self._lead(players, leader)
            seat = (leader + 1) % 3
            legal = int(legal_second(self.hands[seat], lead, table.trumps, flags))
            second = self._card(players, seat, legal)
            self._put(seat, second, table.trumps, False)
            table.second = second
            seat = (leader + 2) % 3
            legal = int(legal_third(self.hands[seat], lead, second, table.trumps, flags))
            third = self._card(players, seat, legal)
            self._put(seat, third, table.trumps, False)
            leader = (leader + int(winning_place(lead, second, third, table.trumps))) % 3
            taken = int(points_in(lead | second | third))
            if trick_number == N_TRICKS:
                taken += int(last_trick_points(self.by.values))
            table.winners.append(leader)
            table.points[leader] += taken
            table.tricks_won[leader] += 1
            work[POINTS + table.role(leader)] += taken
            work[TRICKS + table.role(leader)] += 1


__all__ = ["DrivenDeal"]
