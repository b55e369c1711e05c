"""The fields of a rule set, grouped by the phase of the game in which they act (RULES.md §2).

A rule set is data. Each field is declared once, here, with its type, its allowed values and one
line of meaning; loading, checking, comparing, printing and packing for kernels are all derived from
these declarations. The defaults are the game of the seeds 000 and 002, preset ``mil``.

Where the published rules leave a choice open, the meaning line says which reading is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

SUIT_NAMES = ("spades", "clubs", "diamonds", "hearts")


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of an integer field, both inclusive; ``unit`` is for messages and tables."""

    low: int
    high: int
    unit: str = "points"


def rule(default: Any, meaning: str) -> Any:
    """A field of a rules table with its default and its meaning in one line."""
    return field(default=default, metadata={"meaning": meaning})


Points = Annotated[int, Range(0, 1000)]
Off = Literal["off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarriageValues:
    """What the king and queen of a suit in one hand are worth when declared."""

    spades: Points = rule(40, "marriage of spades")
    clubs: Points = rule(60, "marriage of clubs")
    diamonds: Points = rule(80, "marriage of diamonds")
    hearts: Points = rule(100, "marriage of hearts")

    def by_suit(self) -> tuple[int, int, int, int]:
        """The four values in suit order: spades, clubs, diamonds, hearts.

        >>> MarriageValues().by_suit()
        (40, 60, 80, 100)
        """
        return (self.spades, self.clubs, self.diamonds, self.hearts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DealRules:
    """Who plays, what marriages are worth, and who may ask for a new deal."""

    players: Annotated[int, Range(3, 4, "players")] = rule(
        3, "players at the table; with 4 the dealer sits out and the other three are active"
    )
    marriage_values: MarriageValues = rule(MarriageValues(), "points of the four marriages")
    four_nines: Literal["off", "optional", "mandatory"] = rule(
        "optional", "a hand with all four nines: no right, may ask for, or must have a new deal"
    )
    four_nines_when: Literal["before_auction", "after_exchange"] = rule(
        "before_auction", "looked for in the 7 cards dealt, or in the 8 cards after the gifts"
    )
    low_hand: Annotated[int, Range(0, 75)] = rule(
        10, "may ask for a new deal with fewer card points than this in 7 cards; 0 = no such right"
    )
    low_hand_marriage: Literal["only_without_marriage", "any_hand"] = rule(
        "only_without_marriage", "whether a marriage in the hand takes the low-hand right away"
    )
    low_talon_points: Annotated[int, Range(0, 33)] = rule(
        0,
        "the declarer may ask for a new deal with fewer talon points than this; 0 = no such right",
    )
    low_talon_nines: Annotated[int, Range(0, 3, "nines")] = rule(
        0,
        "the declarer may ask for a new deal with this many nines in the talon; 0 = no such right",
    )
    low_talon_at: Literal["any_bid", "minimum_only"] = rule(
        "any_bid", "whether the low-talon rights hold at any bid or at the minimum in force only"
    )
    redeal_dealer: Literal["same", "next"] = rule(
        "same", "who deals after a redeal: matters in a match only"
    )
    four_nines_bonus: Points = rule(
        0, "points added to the deal score of who is dealt four nines, instead of a new deal"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuctionRules:
    """Who opens, how bids rise, and where they end."""

    opener: Literal["forehand_forced", "forehand_may_pass", "dealer_holds"] = rule(
        "forehand_forced",
        "forehand must open at the minimum / may pass / rearhand (the dealer) holds a compulsory "
        "bid of the minimum from the start and the others must bid above it",
    )
    minimum: Annotated[int, Range(10, 400)] = rule(100, "the lowest bid")
    step: Literal[5, 10] = rule(10, "bids and contracts are multiples of this")
    raise_by: Literal["any_multiple", "exact_step"] = rule(
        "any_multiple", "a raise is any multiple of the step, or exactly one step"
    )
    cap: Literal["none", "gate", "marriages", "fixed"] = rule(
        "marriages",
        "highest bid: no limit / cap_points without a marriage and no limit with one / cap_points "
        "plus the values of the marriages held / cap_points",
    )
    cap_points: Annotated[int, Range(10, 600)] = rule(120, "the base of the cap")
    passing: Literal["final", "final_last_may_raise"] = rule(
        "final",
        "who passed stays out and the auction ends when one is left / as before, but the last "
        "one left with the bare minimum, nobody else having bid, may raise it once",
    )
    all_pass: Literal["redeal_same", "redeal_next", "dealer_plays"] = rule(
        "dealer_plays",
        "all pass where forehand may pass: new deal by the same or the next dealer / after two "
        "passes rearhand is declarer at the minimum",
    )
    silence_below: Annotated[int, Range(-5000, 0)] | Off = rule(
        "off", "a player whose score is this or lower may make no bid but a compulsory one"
    )
    dark: bool = rule(
        False,
        "forehand may bid 120 before looking: his result counts double, the talon stays hidden, "
        "any overbid cancels it",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TalonRules:
    """The talon, the two gifts, the contract and its concession."""

    shown: Literal["always", "if_contested", "never"] = rule(
        "always",
        "whether the defenders see the talon; if_contested = not when forehand plays "
        "the bare minimum in force",
    )
    gifts: Literal["face_down", "face_up"] = rule(
        "face_down", "whether the other defender sees a gift"
    )
    raise_contract: bool = rule(True, "the declarer may raise his bid when naming the contract")
    cap_basis: Literal["kept8", "hand10"] = rule(
        "kept8", "the cards whose marriages set the cap of the contract: the 8 kept or all 10"
    )
    concede: Literal["off", "before_gifts", "before_first_lead"] = rule(
        "off", "when the declarer may give the deal up"
    )
    concede_cost: Literal["every_third_120", "first_free_then_bid", "bid", "always_120"] = rule(
        "bid",
        "what conceding costs: 120 every third time, else nothing / first nothing, then "
        "the bid / the bid / 120",
    )
    concede_gain: Annotated[int, Range(0, 400)] | Literal["half_bid"] = rule(
        60, "what each defender gets for a conceded deal; half_bid is rounded to the step"
    )
    concede_limit: Annotated[int, Range(0, 100, "times")] = rule(
        0, "how often one player may concede in a match; 0 = no limit"
    )
    concede_on_barrel: bool = rule(False, "whether a player on the barrel may concede")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRules:
    """Which cards may be played, and what a marriage does."""

    must_beat: Literal["no", "if_can_win", "always", "second_hand_only"] = rule(
        "if_can_win",
        "following suit, a card higher than the highest of that suit so far, if held: never / "
        "unless the trick is already trumped / even then / as if_can_win, second hand only",
    )
    must_trump: bool = rule(True, "void in the suit led, a trump if held")
    must_overtrump: bool = rule(
        True,
        "void and bound to trump a trumped trick: a trump higher than the winning one, if held",
    )
    cannot_overtrump: Literal["any_trump", "anything"] = rule(
        "any_trump",
        "void and bound to overtrump but holding lower trumps only: one of them / any card",
    )
    marriage_from_trick: Annotated[int, Range(1, 8, "tricks")] = rule(
        2, "first trick in which a marriage may be declared"
    )
    marriage_until_trick: Annotated[int, Range(1, 8, "tricks")] = rule(
        8, "last trick in which a marriage may be declared"
    )
    marriage_card: Literal["king_or_queen", "queen"] = rule(
        "king_or_queen", "the card to lead in order to declare"
    )
    marriage_declaration: Literal["automatic", "optional"] = rule(
        "automatic", "leading the card declares, or declares if the player says so"
    )
    trump_effect: Literal["immediate", "next_trick"] = rule(
        "immediate", "whether the trick of the declaration already has the new trump"
    )
    ace_marriage: Points = rule(
        0,
        "points for four aces in hand, declared like a marriage by leading an ace; trump stays, "
        "and no cap counts them as a marriage",
    )
    last_trick_bonus: Annotated[int, Range(0, 100)] = rule(
        0, "points for the winner of the last trick, on top of its cards"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRules:
    """What a deal earns, from the points taken in it."""

    made_test: Literal["raw", "rounded"] = rule(
        "raw", "the points compared with the contract: as taken, or rounded first"
    )
    success: Literal["contract", "actual"] = rule(
        "contract", "a made contract scores the contract, or the points taken, rounded"
    )
    failure: Literal["minus_contract"] = rule("minus_contract", "what a failed contract scores")
    defender_rounding: Literal[
        "none", "nearest_5", "down_5", "nearest_10_half_down", "nearest_10_half_up", "down_10"
    ] = rule("nearest_10_half_down", "how a player's total of a deal is rounded")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """The race to the target: locks, barrels, bolts and other brakes."""

    target: Annotated[int, Range(100, 10000)] = rule(1000, "the score that wins the match")
    lock: Annotated[int, Range(1, 10000)] | Off = rule(
        800, "who starts a deal at or above this score scores only as declarer"
    )
    defender_cap: Annotated[int, Range(1, 10000)] | Off = rule(
        990, "the score that a player who is not the declarer never passes"
    )
    barrel: Annotated[int, Range(1, 10000)] | Off = rule(
        "off", "reaching this score mounts the barrel: the score is set to it"
    )
    barrel_deals: Annotated[int, Range(1, 20, "deals")] = rule(
        3, "deals in which a player on the barrel must win by an own contract"
    )
    barrel_counts: Literal["every_deal", "own_contracts"] = rule(
        "every_deal", "the deals that count as attempts on the barrel"
    )
    barrel_failed: Literal["leaves", "attempt"] = rule(
        "leaves", "a failed own contract on the barrel costs it and leaves, or is an attempt"
    )
    barrel_penalty: Points = rule(120, "points lost when the attempts run out")
    barrel_newcomer: Literal["knocks_off", "coexists", "all_fall"] = rule(
        "knocks_off", "what a second player reaching the barrel does to the first"
    )
    barrel_falls: Annotated[int, Range(0, 20, "falls")] = rule(
        0, "this many falls from the barrel set the score to 0; 0 = never"
    )
    jump_over: Literal["wins", "mounts"] = rule(
        "wins", "what reaching the target in one deal from below the barrel does, for any player"
    )
    bolts: Literal["off", "zero_tricks", "zero_points"] = rule(
        "off", "a deal without tricks, or without points, is a bolt"
    )
    bolts_counted: Literal["cumulative", "in_a_row"] = rule("cumulative", "how bolts are counted")
    bolts_limit: Annotated[int, Range(1, 10, "bolts")] = rule(3, "the bolt that costs the penalty")
    bolts_penalty: Points = rule(120, "points lost with it")
    bolts_spare_declarer: bool = rule(True, "the declarer gets no bolt")
    bolts_spare_barrel: bool = rule(True, "a player on the barrel gets no bolt")
    bolts_spare_conceded: bool = rule(True, "a conceded deal gives no bolt")
    dump_truck: Literal["off", "plus", "plus_and_minus"] = rule(
        "off", "a score of exactly 555 becomes 0; plus_and_minus: -555 too"
    )
    golden: Literal["off", "minimum_120", "forehand_plays_120"] = rule(
        "off",
        "the first deals, one a player: minimum bid 120 / forehand plays 120 without "
        "auction and all counts double",
    )
    sitter: Literal["nothing", "talon_points", "aces_and_marriages"] = rule(
        "nothing", "what the sitting dealer of four scores from the talon"
    )
    sitter_ace: Annotated[int, Range(0, 100)] = rule(
        50, "points of an ace in the talon for the sitting dealer (aces_and_marriages)"
    )
    ties: Literal["declarer_then_highest"] = rule(
        "declarer_then_highest",
        "several at the target: the successful declarer, then the highest, then play on",
    )
    max_deals: Annotated[int, Range(1, 100000, "deals")] = rule(
        200, "a simulated match ends without a winner after this many deals, and says so"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A whole rule set: six tables, a name and the source it was taken from.

    Name and source say where the rules come from; they do not change the game and so are not part
    of :func:`milsim.rules.digest`. Use :func:`milsim.rules.load` to get a preset or a file.
    """

    name: str = "mil"
    source: str = ""
    deal: DealRules = field(default_factory=DealRules)
    auction: AuctionRules = field(default_factory=AuctionRules)
    talon: TalonRules = field(default_factory=TalonRules)
    play: PlayRules = field(default_factory=PlayRules)
    scoring: ScoringRules = field(default_factory=ScoringRules)
    match: MatchRules = field(default_factory=MatchRules)


TABLES: dict[str, type[Any]] = {
    "deal": DealRules,
    "auction": AuctionRules,
    "talon": TalonRules,
    "play": PlayRules,
    "scoring": ScoringRules,
    "match": MatchRules,
}


def meaning_of(table: str, name: str) -> str:
    """The one-line meaning of a field.

    >>> meaning_of("auction", "minimum")
    'the lowest bid'
    """
    for declared in fields(TABLES[table]):
        if declared.name == name:
            return str(declared.metadata["meaning"])
    raise KeyError(f"{table}.{name}")
