"""The specification, tested clause by clause and on whole random games.

Of the cases of RULES.md §4, numbers 11, 12, 13 and 21 are about the match and stand in
`tests.test_match_scoring`; 20 is in `tests.test_reference_games`. The cases that are data stand in
`tests.rule_cases`, where every engine can find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from milsim.cards import cards_of, parse_card, parse_hand
from milsim.deals import Deal
from milsim.errors import DealError, IllegalActError
from milsim.reference import (
    Auction,
    Bid,
    Concession,
    Game,
    Gift,
    Pass,
    Phase,
    Play,
    Position,
    RedealRequest,
    RedealWaiver,
    TalonTaken,
    concession_scores,
    deal_scores,
    is_made,
    legal_cards,
    perft,
    replay,
    rights_after_exchange,
    rights_before_auction,
    rights_of_declarer,
    trick_winner,
)
from milsim.rules import Rules, load, preset_names
from tests import rule_cases as cases


def table(rows: Sequence[cases.Case]) -> pytest.MarkDecorator:
    """One test for each case in each preset it applies to, named after the case and its clause."""
    found = list(cases.by_preset(rows))
    return pytest.mark.parametrize(
        ("case", "rules"),
        [(case, rules) for _, case, rules in found],
        ids=[name for name, _, _ in found],
    )


def hand(text: str) -> frozenset[int]:
    return frozenset(cards_of(parse_hand(text)))


def three(texts: tuple[str, str, str]) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
    first, second, third = texts
    return (hand(first), hand(second), hand(third))


# -- cases that are data -------------------------------------------------------------------------


@table(cases.WINNERS)
def test_winner(case: cases.WinnerCase, rules: Rules) -> None:
    assert trick_winner(cases.read_cards(case.trick), case.trump) == case.winner


@table(cases.LEGAL)
def test_legal_cards(case: cases.LegalCase, rules: Rules) -> None:
    found = legal_cards(hand(case.hand), cases.read_cards(case.trick), case.trump, rules)
    assert found == hand(case.legal)


@table(cases.PLAYS)
def test_play(case: cases.PlayCase, rules: Rules) -> None:
    now = Position.start(
        three(case.hands),
        case.leader,
        trump=case.trump,
        trick_number=case.trick_number,
        rules=rules,
    )
    for word in case.plays.split():
        now = now.play(parse_card(word.rstrip("!")), True if word.endswith("!") else None)
    if case.after_trump is not None:
        assert now.trump == case.after_trump
    if case.points is not None:
        assert now.points == case.points
    if case.tricks is not None:
        assert now.tricks_won == case.tricks
    if case.actor is not None:
        assert now.actor == case.actor
    if case.legal is not None:
        assert now.legal_cards() == hand(case.legal)


@table(cases.RIGHTS)
def test_rights(case: cases.RightsCase, rules: Rules) -> None:
    if case.moment == "before_auction":
        assert rights_before_auction(hand(case.cards), rules) == case.rights
    elif case.moment == "after_exchange":
        assert rights_after_exchange(hand(case.cards), rules) == case.rights
    else:
        minimum = rules.auction.minimum
        assert rights_of_declarer(hand(case.cards), case.bid, minimum, rules) == case.rights


def called(auction: Auction, calls: tuple[int | str, ...]) -> Auction:
    for each in calls:
        call(auction, each)
    return auction


def call(auction: Auction, what: object) -> None:
    if what == "pass":
        auction.pass_()
    elif what == "dark":
        auction.bid(120, dark=True)
    else:
        auction.bid(what)  # type: ignore[arg-type]


@table(cases.AUCTIONS)
def test_auction(case: cases.AuctionCase, rules: Rules) -> None:
    auction = called(Auction(rules, three(case.hands), case.scores), case.calls)
    assert auction.actor == case.actor
    assert auction.legal_bids() == case.bids
    if case.actor is None:
        assert (auction.declarer, auction.highest) == (case.declarer, case.highest)
        assert auction.is_passed_out == (case.declarer is None)
    else:
        assert auction.can_pass() == case.may_pass


@table(cases.REFUSED_BIDS)
def test_refused_bid(case: cases.RefusedBidCase, rules: Rules) -> None:
    auction = called(Auction(rules, three(case.hands)), case.calls)
    with pytest.raises(IllegalActError) as error:
        call(auction, case.refused)
    assert case.words in str(error.value)
    assert "\n" not in str(error.value)


@table(cases.CONTRACTS)
def test_contract(case: cases.ContractCase, rules: Rules) -> None:
    game = at_contract(hand(case.kept), cases.read_cards(case.given), case.bid, rules)
    assert game.legal_contracts() == case.contracts
    for amount in range(0, 405, 5):
        assert game.can_name_contract(amount) == (amount in case.contracts)


def at_contract(kept: frozenset[int], given: tuple[int, ...], bid: int, rules: Rules) -> Game:
    """A game in which forehand has won the auction with this bid and given these cards."""
    ten = sorted(kept) + list(given)
    rest = [card for card in range(24) if card not in ten]
    game = Game(Deal.from_id(0), rules)
    game.phase, game.declarer, game.bid_won = Phase.GIFTS, 0, bid
    game.hands = [frozenset(ten), frozenset(rest[:7]), frozenset(rest[7:])]
    for card in given:
        game.give(card)
    assert game.phase is Phase.CONTRACT
    return game


@table(cases.SCORES)
def test_deal_scores(case: cases.ScoreCase, rules: Rules) -> None:
    found = deal_scores(
        case.points,
        case.declarer,
        case.contract,
        rules,
        four_nines=case.four_nines,
        dark=case.dark,
        golden=case.golden,
    )
    assert found == case.scores
    assert is_made(case.points[case.declarer], case.contract, rules) == case.made


@table(cases.CONCESSIONS)
def test_concession_scores(case: cases.ConcessionCase, rules: Rules) -> None:
    found = concession_scores(case.declarer, case.bid, rules, earlier=case.earlier)
    assert found == case.scores


# -- cases that need a whole deal ----------------------------------------------------------------

PLAIN = Deal.parse("AT.AT.AT.A / KQ.K.Q.KQ9 / J9.QJ9.K.T / *")  # talon: JD 9D JC
NINES = Deal.parse("9.9.9.9AKQ / AKQ.AKQ.A. / JT.JT.QJ.T / *")  # talon: TD KD, JC


def auctioned(deal: Deal, rules: str | Rules, **match: object) -> Game:
    """Forehand has won the auction at 100."""
    game = Game(deal, rules, **match)  # type: ignore[arg-type]
    while game.phase is Phase.REDEAL:
        game.waive_redeal()
    game.bid(100)
    game.pass_()
    game.pass_()
    return game


def exchanged(deal: Deal, rules: str | Rules, left: str, right: str) -> Game:
    game = auctioned(deal, rules)
    game.take_talon()
    while game.phase is Phase.LOW_TALON:
        game.waive_redeal()
    game.give(parse_card(left))
    game.give(parse_card(right))
    return game


def changed(preset: str, **changes: object) -> Rules:
    """``changed("mil", talon__shown="never")``: a preset with single fields set otherwise."""
    named = {path.replace("__", "."): value for path, value in changes.items()}
    return cases.rules_with(preset, named)  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", preset_names())
def test_seven_cards_each_and_three_in_the_talon__seed_000_cam_1(preset: str) -> None:
    game = Game(PLAIN, preset)
    assert [len(each) for each in game.hands] == [7, 7, 7]
    assert len(game.talon) == 3


@pytest.mark.parametrize("preset", preset_names())
def test_talon_shown_to_all_and_taken__seed_000_cam_5(preset: str) -> None:
    game = auctioned(PLAIN, preset)
    assert not any(game.sees_talon(seat) for seat in range(3))
    game.take_talon()
    assert len(game.hands[0]) == 10
    assert all(game.sees_talon(seat) for seat in range(3))


def test_talon_once_seen_stays_seen_when_the_declarer_holds_seven_cards_again() -> None:
    game = exchanged(PLAIN, "mil", "JD", "JC")
    game.name_contract(100)
    while len(game.hands[0]) != 7:
        game.play(min(game.legal_cards()))
    assert all(game.sees_talon(seat) for seat in range(3))


@pytest.mark.parametrize("preset", preset_names())
def test_gifts_first_to_the_left_then_to_the_right__seed_000_cam_5(preset: str) -> None:
    game = exchanged(PLAIN, preset, "JD", "JC")
    assert game.gifts == (Gift(0, 1, parse_card("JD")), Gift(0, 2, parse_card("JC")))
    assert [len(each) for each in game.hands] == [8, 8, 8]
    assert parse_card("JD") in game.hands[1]
    assert parse_card("JC") in game.hands[2]
    assert game.phase is Phase.CONTRACT


def test_left_of_middlehand_is_rearhand__rules_1() -> None:
    game = Game(PLAIN)
    for act in (Bid(0, 100), Bid(1, 110), Pass(2), Pass(0), TalonTaken(1)):
        game.apply(act)
    with pytest.raises(IllegalActError, match="rearhand is next"):
        game.apply(Gift(1, 0, parse_card("9C")))
    game.apply(Gift(1, 2, parse_card("9C")))
    game.apply(Gift(1, 0, parse_card("JC")))
    assert game.phase is Phase.CONTRACT


@pytest.mark.parametrize("preset", preset_names())
def test_a_gift_must_be_held__seed_000_cam_5(preset: str) -> None:
    game = auctioned(PLAIN, preset)
    game.take_talon()
    while game.phase is Phase.LOW_TALON:
        game.waive_redeal()
    with pytest.raises(IllegalActError, match="gift KS: not in the hand of forehand"):
        game.give(parse_card("KS"))
    assert game.can_give(parse_card("AS"))
    game.give(parse_card("AS"))
    assert not game.can_give(parse_card("AS"))
    with pytest.raises(IllegalActError, match="gift AS: not in the hand"):
        game.give(parse_card("AS"))


@pytest.mark.parametrize("preset", preset_names())
def test_declarer_leads_and_an_eight_trick_deal_is_counted__seed_000_cam_9(preset: str) -> None:
    game = exchanged(PLAIN, preset, "JD", "JC")
    game.name_contract(game.legal_contracts()[-1])
    assert game.actor == 0
    while game.legal_cards():
        assert {card for card in range(24) if game.can_play(card)} == game.legal_cards()
        game.play(min(game.legal_cards()))
    assert game.legal_cards() == set()
    assert game.position is not None
    assert sum(game.position.tricks_won) == 8
    assert game.result is not None
    assert game.result.ended == "played"
    assert game.result.contract == 120


@pytest.mark.parametrize("preset", cases.FORCED)
def test_case_18_forced_opener_at_the_minimum_raises_the_contract__seed_000_cam_6(
    preset: str,
) -> None:
    game = exchanged(PLAIN, preset, "JD", "JC")
    assert game.bid_won == 100
    assert game.legal_contracts() == tuple(range(100, 121, game.rules.auction.step))


@pytest.mark.parametrize("preset", [*cases.MIL, "polish", "russian"])
def test_case_14_four_nines_before_the_auction__seed_000_y_rheolau(preset: str) -> None:
    game = Game(NINES, preset)
    assert (game.phase, game.actor) == (Phase.REDEAL, 0)
    assert game.legal_acts() == (RedealRequest(0), RedealWaiver(0))
    waived = game.copy()
    waived.waive_redeal()
    assert waived.phase is Phase.AUCTION
    game.request_redeal()
    assert game.result is not None
    assert (game.result.ended, game.result.scores) == ("redeal", (0, 0, 0))
    assert not game.result.next_dealer


@pytest.mark.parametrize("preset", ["gamerules", "pagat"])
def test_case_14_four_nines_after_the_exchange__seed_001_y_cyfnewid(preset: str) -> None:
    game = Game(NINES, preset)
    assert game.phase is Phase.AUCTION
    kept = exchanged(NINES, preset, "KC", "QC")
    assert (kept.phase, kept.actor) == (Phase.NINES, 0)
    kept.waive_redeal()
    assert kept.phase is Phase.CONTRACT
    assert exchanged(NINES, preset, "9C", "QC").phase is Phase.CONTRACT


def test_case_14_four_nines_are_no_right_in_clubs_100__rules_3() -> None:
    assert Game(NINES, "clubs-100").phase is Phase.AUCTION
    assert exchanged(NINES, "clubs-100", "KC", "QC").phase is Phase.CONTRACT


@pytest.mark.parametrize("preset", ["mil", "polish-900"])
def test_case_14_mandatory_four_nines__rules_2_deal(preset: str) -> None:
    rules = changed(preset, deal__four_nines="mandatory", deal__redeal_dealer="next")
    assert load("polish-900").deal.four_nines == "mandatory"
    game = Game(NINES, rules)
    with pytest.raises(IllegalActError, match="mandatory"):
        game.waive_redeal()
    assert game.legal_acts() == (RedealRequest(0),)
    game.request_redeal()
    assert game.result is not None
    assert game.result.next_dealer


def test_rights_in_seat_order_from_forehand__rules_2_deal() -> None:
    rules = changed("mil", deal__low_hand=75, deal__low_hand_marriage="any_hand")
    game = Game(PLAIN, rules)
    with pytest.raises(IllegalActError, match="middlehand is not to act, forehand is"):
        game.request_redeal(seat=1)
    for seat in (0, 1, 2):
        assert game.actor == seat
        game.waive_redeal(seat=seat)
    assert game.phase is Phase.AUCTION


def test_low_talon__rules_2_deal() -> None:
    deal = Deal.parse("AT.AT.AT.A / KQ.K.KQ.KQ / J9.QJ9.J.9 / *")  # talon: 9D JC TC
    assert deal.talon.points == 12
    game = auctioned(deal, changed("mil", deal__low_talon_points=13))
    game.take_talon()
    assert (game.phase, game.actor) == (Phase.LOW_TALON, 0)
    game.waive_redeal()
    assert game.phase is Phase.GIFTS


@pytest.mark.parametrize("preset", preset_names())
def test_case_08_half_given_away_is_no_marriage__seed_001_y_chwarae(preset: str) -> None:
    deal = Deal.parse("AKQT..AT.A / J9.AKQ.Q.9 / .J9.J9.QKJ / *")
    game = exchanged(deal, preset, "QS", "TH")
    game.name_contract(100)
    for card in ("AS", "9S"):
        game.play(parse_card(card))
    game.play(min(game.legal_cards()))
    assert game.actor == 0
    game.play(parse_card("KS"))
    assert game.position is not None
    assert (game.position.trump, game.position.marriage_points) == (4, (0, 0, 0))


JUMPING = [name for name in preset_names() if load(name).auction.raise_by == "any_multiple"]


@pytest.mark.parametrize("preset", JUMPING)
def test_case_15_bid_with_a_marriage_then_half_of_it_given__seed_000_cam_6(preset: str) -> None:
    game = Game(PLAIN, preset)
    for act in (Bid(0, 100), Bid(1, 140), Pass(2), Pass(0), TalonTaken(1)):
        game.apply(act)
    game.give(parse_card("KS"))
    game.give(parse_card("QC"))
    assert game.legal_contracts() == (140,)
    with pytest.raises(IllegalActError, match="contract 150: cap is 120 without a marriage"):
        game.name_contract(150)


@pytest.mark.parametrize("preset", preset_names())
def test_case_17_who_passed_is_refused__seed_000_cam_4(preset: str) -> None:
    game = Game(PLAIN, preset)
    game.bid(100)
    game.bid(110)
    game.pass_()
    game.pass_()
    assert game.declarer == 1
    again = Game(PLAIN, preset)
    for act in (Bid(0, 100), Pass(1), Bid(2, 110)):
        again.apply(act)
    with pytest.raises(IllegalActError, match="middlehand has passed and stays out"):
        again.apply(Bid(1, 120))


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("wrong", [0, -100, float("nan"), 100.0, "100", None, True])
def test_case_22_not_a_contract__rules_4(preset: str, wrong: object) -> None:
    game = exchanged(PLAIN, preset, "JD", "JC")
    with pytest.raises(IllegalActError, match=r"^contract "):
        game.name_contract(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [24, -1, 2.0, "AS", None, True, float("nan")])
def test_case_22_not_a_card__rules_4(wrong: object) -> None:
    game = exchanged(PLAIN, "mil", "JD", "JC")
    game.name_contract(100)
    with pytest.raises(IllegalActError, match="a card is an index from 0 to 23"):
        game.play(wrong)  # type: ignore[arg-type]
    early = auctioned(PLAIN, "mil")
    early.take_talon()
    with pytest.raises(IllegalActError, match=r"^gift .* a card is an index from 0 to 23"):
        early.give(wrong)  # type: ignore[arg-type]


# -- what is seen --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "bid", "seen"),
    [
        ("always", 100, True),
        ("if_contested", 100, False),
        ("if_contested", 110, True),
        ("never", 110, False),
    ],
)
def test_who_sees_the_talon__rules_2_talon(shown: str, bid: int, seen: bool) -> None:
    game = Game(PLAIN, changed("gamerules", talon__shown=shown))
    game.bid(bid)
    game.pass_()
    game.pass_()
    game.take_talon()
    assert [game.sees_talon(seat) for seat in range(3)] == [True, seen, seen]


def test_talon_of_a_dark_bid_is_hidden__rules_2_auction() -> None:
    game = Game(PLAIN, changed("mil", auction__dark=True))
    with pytest.raises(IllegalActError, match="a dark bid is 120"):
        game.bid(130, dark=True)
    game.bid(120, dark=True)
    overbid = game.copy()
    game.pass_()
    game.pass_()
    game.take_talon()
    assert game.dark
    assert [game.sees_talon(seat) for seat in range(3)] == [True, False, False]
    overbid.bid(130)
    overbid.pass_()
    overbid.pass_()
    overbid.take_talon()
    assert not overbid.dark
    assert all(overbid.sees_talon(seat) for seat in range(3))


def test_who_has_looked_cannot_bid_in_the_dark__rules_2_auction() -> None:
    game = Game(NINES, changed("mil", auction__dark=True))
    game.waive_redeal()
    assert game.legal_acts() == (Bid(0, 100),)


@pytest.mark.parametrize("preset", preset_names())
def test_a_gift_is_seen_by_giver_and_receiver_only__seed_000_cam_5(preset: str) -> None:
    game = exchanged(PLAIN, preset, "JD", "JC")
    left, right = game.gifts
    assert [game.sees_gift(seat, left) for seat in range(3)] == [True, True, False]
    assert [game.sees_gift(seat, right) for seat in range(3)] == [True, False, True]


@pytest.mark.parametrize(("gifts", "seen"), [("face_down", False), ("face_up", True)])
def test_who_sees_a_gift__rules_2_talon(gifts: str, seen: bool) -> None:
    game = exchanged(PLAIN, changed("mil", talon__gifts=gifts), "JD", "JC")
    left, right = game.gifts
    assert [game.sees_gift(seat, left) for seat in range(3)] == [True, True, seen]
    assert [game.sees_gift(seat, right) for seat in range(3)] == [True, seen, True]


# -- concession ----------------------------------------------------------------------------------


def test_no_concession__seed_000_cam_6() -> None:
    game = auctioned(PLAIN, "mil")
    game.take_talon()
    with pytest.raises(IllegalActError, match="concession: these rules have none"):
        game.concede()


def test_concession_before_the_gifts__rules_2_talon() -> None:
    game = auctioned(PLAIN, changed("mil", talon__concede="before_gifts"))
    assert not game.can_concede()
    game.take_talon()
    assert Concession(0) in game.legal_acts()
    given = game.copy()
    given.give(parse_card("JD"))
    assert not given.can_concede()
    game.concede()
    assert game.result is not None
    assert (game.result.ended, game.result.scores) == ("conceded", (-100, 60, 60))


def test_concession_before_the_first_lead__rules_2_talon() -> None:
    game = exchanged(PLAIN, changed("mil", talon__concede="before_first_lead"), "JD", "JC")
    assert game.can_concede()
    game.name_contract(120)
    assert game.can_concede()
    led = game.copy()
    led.play(parse_card("AS"))
    assert not led.can_concede()
    game.concede()
    assert game.result is not None
    assert game.result.scores == (-100, 60, 60)


@pytest.mark.parametrize(
    ("earlier", "on_barrel", "allowed"), [(2, False, True), (3, False, False), (0, True, False)]
)
def test_limit_of_concessions_and_the_barrel__rules_2_talon(
    earlier: int, on_barrel: bool, allowed: bool
) -> None:
    rules = changed("mil", talon__concede="before_gifts", talon__concede_limit=3)
    game = auctioned(PLAIN, rules, concessions=(earlier, 0, 0), on_barrel=(on_barrel, False, False))
    game.take_talon()
    assert game.can_concede() == allowed


# -- golden deals, bonus -------------------------------------------------------------------------


def test_golden_deal_without_auction__rules_2_match() -> None:
    rules = changed("mil", match__golden="forehand_plays_120")
    assert Game(PLAIN, rules).phase is Phase.AUCTION
    game = Game(PLAIN, rules, golden=True)
    assert (game.phase, game.declarer, game.bid_won) == (Phase.TALON, 0, 120)
    assert game.minimum == 120


def test_golden_deal_without_auction_is_not_contested__rules_2_talon() -> None:
    golden = {"match__golden": "forehand_plays_120"}
    game = Game(PLAIN, changed("mil", talon__shown="if_contested", **golden), golden=True)
    game.take_talon()
    assert [game.sees_talon(seat) for seat in range(3)] == [True, False, False]


def test_golden_deal_at_least_120__rules_2_match() -> None:
    rules = changed("mil", match__golden="minimum_120")
    assert Game(PLAIN, rules, golden=True).legal_bids() == (120,)
    assert Game(PLAIN, rules).legal_bids() == (100,)


def test_four_nines_bonus_is_paid_to_the_hand_dealt__rules_2_deal() -> None:
    rules = changed("mil", deal__four_nines="off", deal__four_nines_bonus=100)
    game = exchanged(NINES, rules, "9C", "9D")
    game.name_contract(100)
    while game.actor is not None:
        game.play(min(game.legal_cards()))
    assert game.result is not None
    without = deal_scores(game.result.points, 0, 100, "mil")
    assert game.result.scores == (without[0] + 100, without[1], without[2])


# -- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hands", "named", "words"),
    [
        (("A...", "K...", "AT..."), {}, "two hands"),
        (("A...", "K...", "TQ..."), {}, "equally many"),
        (("...", "...", "..."), {}, "equally many"),
        (("A...", "K...", "T..."), {"leader": 3}, "leader 3"),
        (("A...", "K...", "T..."), {"trump": 5}, "trump 5"),
        (("A...", "K...", "T..."), {"trick_number": 9}, "trick 9"),
        (("AQ...", "KJ...", "T9..."), {"trick_number": 8}, "trick 8 with 2 cards"),
        (("A...", "K..."), {}, "2 hands given"),
    ],
)
def test_impossible_positions(hands: tuple[str, ...], named: dict[str, int], words: str) -> None:
    options: dict[str, Any] = {"leader": 0, **named}
    with pytest.raises(DealError, match=words):
        Position.start([hand(each) for each in hands], **options)


def test_the_end_of_a_position() -> None:
    now = Position.start([{0}, {6}, {1}], 0)
    for card in (0, 6, 1):
        now = now.play(card)
    assert now.is_over
    assert (now.actor, now.legal_plays(), now.legal_cards()) == (None, (), set())
    assert now.why_not_declared(0) == "the play is over"
    assert (perft(now, 0), perft(now, 1)) == (1, 0)
    assert not now.can_play(0)
    with pytest.raises(DealError, match="index from 0 to 23"):
        Position.start([{0}, {24}, {1}], 0)
    with pytest.raises(DealError, match="trick without cards"):
        trick_winner((), 4)


def test_optional_declaration_makes_two_acts_of_a_card() -> None:
    rules = changed("mil", play__marriage_declaration="optional")
    start = Position.start(three(("KQ...", "A9...", "...J9")), 0, trick_number=7, rules=rules)
    king = parse_card("KS")
    assert start.legal_plays()[2:] == (Play(0, king, False), Play(0, king, True))
    assert start.play(king) == start.play(king, False)
    assert perft(start, 1) == 4


def test_automatic_declaration_cannot_be_left_out__seed_000_y_rheolau() -> None:
    start = Position.start(three(("KQ...", "A9...", "...J9")), 0, trick_number=7)
    with pytest.raises(IllegalActError, match="leading it declares"):
        start.play(parse_card("KS"), False)
    with pytest.raises(IllegalActError, match="no declaration: only the leader"):
        start.play(parse_card("KS")).play(parse_card("AS"), True)


@pytest.mark.parametrize(
    ("hand_", "trick", "trump", "card", "words"),
    [
        ("A9.K..", "KS", 3, "KH", "play KH: spades are led; follow suit, higher than the highest"),
        ("A9.K..", "KS", 3, "9S", "play 9S: spades are led; follow suit, higher than the highest"),
        ("Q9.K..", "KS", 3, "KH", "play KH: spades are led; follow suit: 9S QS"),
        (".K9..A", "KS", 3, "AC", r"play AC: void in spades; play a trump \(hearts\): 9H KH"),
        (".K9..A", "KS QH", 3, "9H", "play 9H: void in spades; trump higher than the trump there"),
        (".K9..A", "KS", 3, "AD", "play AD: not in the hand of"),
    ],
)
def test_refused_cards_name_the_rule(
    hand_: str, trick: str, trump: int, card: str, words: str
) -> None:
    cards = hand(hand_)
    played = cases.read_cards(trick)
    seat = len(played)
    empty: frozenset[int] = frozenset()
    first, second, third = (cards if each == seat else empty for each in range(3))
    now = replace(
        Position.start([{0}, {1}, {2}], 0), hands=(first, second, third), trick=played, trump=trump
    )
    with pytest.raises(IllegalActError, match=words):
        now.play(parse_card(card))


# -- the rest ------------------------------------------------------------------------------------


def test_a_log_of_another_deal_is_refused() -> None:
    game = Game(PLAIN)
    game.bid(100)
    game.pass_()
    with pytest.raises(IllegalActError):
        replay(PLAIN, "mil", [*game.operations, Pass(0)])
    with pytest.raises(IllegalActError):
        replay(NINES, "mil", game.operations)


def test_presets_named_in_the_cases_are_those_that_ship() -> None:
    named = {
        preset
        for rows in (cases.WINNERS, cases.LEGAL, cases.PLAYS, cases.AUCTIONS, cases.SCORES)
        for case in rows
        for preset in case.presets
    }
    assert named == set(cases.EVERY) == set(preset_names())
    assert load("mil").name == "mil"
