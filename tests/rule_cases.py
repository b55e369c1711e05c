"""What the rule texts say, as data that every engine can be tested against.

Each case has a name that ends in the clause it was read from: ``seed_000_cam_7`` is step 7 of seed
000 (seed 002 says the same in its ``paso`` 7), ``seed_001_y_chwarae`` a heading of seed 001,
``rules_2_play`` a table of RULES.md §2, where the seeds are silent, ``rules_3`` its presets.
``case_07`` is a number of RULES.md §4. A case holds for the presets it names; with ``changes`` for
these presets with single fields set otherwise (by dotted path).

Cards and hands are text: hands in PBN order spades.hearts.diamonds.clubs; ``read_cards`` and
`milsim.cards.parse_hand` read them. Seats: 0 forehand, 1 middlehand, 2 rearhand. Trump: 0 to 3 for
spades, clubs, diamonds, hearts, 4 for none: the trump in force in the trick.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from milsim.cards import parse_card
from milsim.rules import Rules, load, values_of
from milsim.rules.fields import Value, build

ALL = ("mil", "mil-500", "gamerules")
MIL = ("mil", "mil-500")
GAMERULES = ("gamerules",)
# What the cases of RULES.md §4 hold in; the seeds' own presets first.
EVERY = (*ALL, "pagat", "polish", "polish-900", "russian", "clubs-100")
FREE_TO_RUFF = ("polish-900",)
MARRIAGE_FIRST = ("polish-900",)
CLUBS_100 = ("clubs-100",)  # other values of marriages, nothing rounded
FORCED = tuple(name for name in EVERY if name not in GAMERULES)
IN_FIVES = ("gamerules", "pagat", "russian")
BOUND_TO_BEAT = ("mil", "mil-500", "polish", "polish-900")


def but(*others: tuple[str, ...]) -> tuple[str, ...]:
    """Every preset but these."""
    return tuple(name for name in EVERY if not any(name in some for some in others))


SPADES, CLUBS, DIAMONDS, HEARTS, NONE = range(5)
Changes = dict[str, Value]


def rules_with(preset: str, changes: Changes) -> Rules:
    """A preset with some fields set otherwise."""
    if not changes:
        return load(preset)
    return build({**values_of(load(preset)), **changes}, name=f"{preset}+", source="a test")


def read_cards(text: str) -> tuple[int, ...]:
    """Card indices in the order written, as in a trick: ``"9C AH"``; nothing is no card.

    >>> read_cards("9S AH"), read_cards("")
    ((0, 23), ())
    """
    return tuple(parse_card(word) for word in text.split())


class Case(Protocol):
    """What all kinds of cases have."""

    @property
    def name(self) -> str: ...
    @property
    def presets(self) -> tuple[str, ...]: ...
    @property
    def changes(self) -> Changes: ...


def by_preset(cases: Sequence[Case]) -> Iterator[tuple[str, Case, Rules]]:
    """Test id, case and rules for every case in every preset it applies to."""
    for case in cases:
        for preset in case.presets:
            yield f"{case.name}[{preset}]", case, rules_with(preset, case.changes)


# -- who wins a trick ----------------------------------------------------------------------------


@dataclass(frozen=True)
class WinnerCase:
    """A full trick, the trump in force, and the place (0 the lead) of the card that wins."""

    name: str
    trick: str
    trump: int
    winner: int
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)


WINNERS = (
    WinnerCase("case_01_trump_nine_beats_led_ace__seed_000_cam_8", "AS 9H TS", HEARTS, 1, EVERY),
    WinnerCase(
        "case_01_trump_nine_beats_led_ace_from_third__seed_002_paso_8", "AC TC 9D", 2, 2, EVERY
    ),
    WinnerCase(
        "case_02_ace_of_another_suit_never_wins__seed_001_y_chwarae", "9S AH AD", NONE, 0, EVERY
    ),
    WinnerCase(
        "case_02_ace_of_another_suit_never_wins__seed_000_cam_8", "JC AS QC", HEARTS, 2, EVERY
    ),
    WinnerCase("ten_beats_king__seed_000_cam_3", "KD TD QD", NONE, 1),
    WinnerCase("only_ace_beats_ten__seed_000_cam_3", "TD KD AD", NONE, 2),
    WinnerCase("king_beats_queen_beats_jack__seed_000_cam_3", "JH KH QH", NONE, 1),
    WinnerCase("highest_of_two_trumps__seed_001_y_chwarae", "AS JC QC", CLUBS, 2),
    WinnerCase("ten_of_trumps_beats_king_of_trumps__seed_000_cam_3", "KC TC 9C", CLUBS, 1),
    WinnerCase("highest_is_not_the_last__seed_000_cam_2", "TS AS JS", NONE, 1),
)


# -- which cards may be played -------------------------------------------------------------------


@dataclass(frozen=True)
class LegalCase:
    """A hand, the cards played so far to the trick, the trump in force: the cards allowed."""

    name: str
    hand: str
    trick: str
    trump: int
    legal: str
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)


NO_MUST: Changes = {"play.must_beat": "no", "play.must_trump": False, "play.must_overtrump": False}

LEGAL = (
    LegalCase("any_card_is_led__seed_000_cam_2", "A9.K.Q.J", "", HEARTS, "A9.K.Q.J"),
    # following suit
    LegalCase("follow_suit__seed_001_y_chwarae", "J9.A.A.A", "KS", NONE, "J9..."),
    LegalCase("follow_suit_though_a_trump_is_held__seed_000_cam_7", "9.A..A", "KS", HEARTS, "9..."),
    LegalCase("higher_if_held__seed_000_cam_7", "ATQ9.A..", "KS", NONE, "AT...", MIL),
    LegalCase("higher_not_needed__seed_001_y_chwarae", "ATQ9.A..", "KS", NONE, "ATQ9...",
              GAMERULES),
    LegalCase("ten_is_higher_than_king__seed_000_cam_3", "TQ...", "KS", NONE, "T...", MIL),
    LegalCase("no_higher_any_of_the_suit__seed_000_cam_7", "QJ9.A..", "KS", NONE, "QJ9..."),
    LegalCase("higher_than_the_highest_so_far_not_than_the_lead__seed_000_cam_7", "AKQ...",
              "JS TS", NONE, "A...", MIL),
    LegalCase("a_discard_is_not_the_highest__seed_000_cam_7", "KQ9...", "JS AH", NONE, "KQ...",
              MIL),
    LegalCase("higher_when_trump_is_led__seed_000_cam_7", ".ATJ..", "KH", HEARTS, ".AT..", MIL),
    LegalCase("higher_than_second_when_trump_is_led__seed_000_cam_7", ".AKJ..", "QH TH", HEARTS,
              ".A..", MIL),
    LegalCase("case_03_third_hand_after_a_ruff_any_height__rules_2_play", "A9.A..", "KS 9H",
              HEARTS, "A9...", BOUND_TO_BEAT),
    LegalCase("case_03_after_a_ruff_higher_all_the_same__rules_2_play", "AT9.A..", "KS 9H", HEARTS,
              "AT...", ALL, {"play.must_beat": "always"}),
    LegalCase("always_beats_before_a_ruff_too__rules_2_play", "AT9.A..", "KS", HEARTS, "AT...",
              ALL, {"play.must_beat": "always"}),
    LegalCase("second_hand_only_binds_second_hand__rules_2_play", "AT9.A..", "KS", HEARTS,
              "AT...", ALL, {"play.must_beat": "second_hand_only"}),
    LegalCase("second_hand_only_leaves_third_hand_free__rules_2_play", "AT9.A..", "QS KS", HEARTS,
              "AT9...", ALL, {"play.must_beat": "second_hand_only"}),
    LegalCase("second_hand_only_third_hand_after_a_ruff__rules_2_play", "AT9.A..", "QS 9H", HEARTS,
              "AT9...", ALL, {"play.must_beat": "second_hand_only"}),
    # void in the suit led
    LegalCase("void_a_trump__seed_000_cam_7", ".A9.K.A", "KS", HEARTS, ".A9.."),
    LegalCase("void_a_trump_to_a_trick_of_two__seed_001_y_chwarae", ".A9.K.A", "KS AS", HEARTS,
              ".A9.."),
    LegalCase("void_without_trump_anything__seed_000_cam_7", "..K.A", "KS", HEARTS, "..K.A"),
    LegalCase("void_and_no_trump_in_force_anything__seed_000_cam_7", ".A9.K.A", "KS", NONE,
              ".A9.K.A"),
    LegalCase("void_when_trump_is_led_anything__seed_000_cam_7", "A9..K.", "KH", HEARTS, "A9..K."),
    LegalCase("void_and_free__rules_2_play", ".A9.K.A", "KS", HEARTS, ".A9.K.A", ALL,
              {"play.must_trump": False}),
    LegalCase("overtrump__seed_000_y_rheolau", ".ATJ9.K.", "KS QH", HEARTS, ".AT..", MIL),
    LegalCase("overtrump_the_trump_there_not_the_suit_led__seed_002_as_regras", ".K9.K.", "AS QH",
              HEARTS, ".K..", MIL),
    LegalCase("any_trump_without_overtrumping__seed_001_y_chwarae", ".ATJ9.K.", "KS QH", HEARTS,
              ".ATJ9..", GAMERULES),
    LegalCase("case_04_only_lower_trumps_a_trump_still__rules_2_play", ".J9.A.A", "KS QH", HEARTS,
              ".J9..", but(FREE_TO_RUFF)),
    LegalCase("case_04_only_lower_trumps_and_free__rules_3", ".J9.A.A", "KS QH", HEARTS,
              ".J9.A.A", FREE_TO_RUFF),
    LegalCase("case_04_only_lower_trumps_anything__rules_2_play", ".J9.A.A", "KS QH", HEARTS,
              ".J9.A.A", MIL, {"play.cannot_overtrump": "anything"}),
    LegalCase("anything_only_if_bound_to_overtrump__rules_2_play", ".J9.A.A", "KS QH", HEARTS,
              ".J9..", GAMERULES, {"play.cannot_overtrump": "anything"}),
    LegalCase("anything_but_a_higher_trump_is_held__rules_2_play", ".K9.A.A", "KS QH", HEARTS,
              ".K..", MIL, {"play.cannot_overtrump": "anything"}),
    LegalCase("no_overtrumping_without_trumping__rules_2_play", ".ATJ9.K.", "KS QH", HEARTS,
              ".ATJ9.K.", ALL, {"play.must_trump": False, "play.must_overtrump": True}),
    LegalCase("follow_suit_under_no_duty__rules_2_play", "A9.A..", "KS", HEARTS, "A9...", ALL,
              NO_MUST),
    LegalCase("anything_void_under_no_duty__rules_2_play", ".A9.K.", "KS 9C", HEARTS, ".A9.K.", ALL,
              NO_MUST),
)  # fmt: skip


# -- the play: marriages, trumps, points ---------------------------------------------------------


@dataclass(frozen=True)
class PlayCase:
    """Hands at the start of a trick and cards played from there; what is true after the last.

    Under optional declaration ``!`` behind a card declares with it. ``None`` is not tested.
    ``trump`` is the one in force then, ``legal`` the cards that the next to play may play,
    ``points`` all points by seat, ``tricks`` tricks by seat, ``actor`` who plays next.
    """

    name: str
    hands: tuple[str, str, str]
    leader: int
    trump: int
    trick_number: int
    plays: str
    after_trump: int | None = None
    points: tuple[int, int, int] | None = None
    tricks: tuple[int, int, int] | None = None
    actor: int | None = None
    legal: str | None = None
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)


FULL = ("KQJ9.KQ9.A.", "AT.AT.KQ.A9", ".J.TJ9.KQJT")
TWO = ("KQ...", "A9...", "...J9")  # forehand holds the marriage of spades
SECOND = ("KQ...A", "9J.A..", ".9.AK.")  # spades are declared while hearts are trump
ACES = ("A.A.A.AT", "KT.K.K.K", "Q9.Q.Q.Q")
OPTIONAL: Changes = {"play.marriage_declaration": "optional"}
FOUR_ACES: Changes = {"play.ace_marriage": 200}

PLAYS = (
    PlayCase("marriage_of_spades_40__seed_000_cam_8", ("KQ...", "J9...", "...J9"), 0, NONE, 7,
             "KS", SPADES, (40, 0, 0), actor=1),
    PlayCase("marriage_of_clubs_60__seed_000_cam_8", ("...KQ", "...J9", "J9..."), 0, NONE, 7,
             "QC", CLUBS, (60, 0, 0)),
    PlayCase("marriage_of_diamonds_80__seed_001_y_cardiau", ("..KQ.", "..J9.", "J9..."), 0, NONE,
             7, "KD", DIAMONDS, (80, 0, 0)),
    PlayCase("marriage_of_hearts_100__seed_002_paso_8", (".KQ..", ".J9..", "J9..."), 0, NONE, 7,
             "QH", HEARTS, (100, 0, 0)),
    PlayCase("winner_leads_the_next_trick__seed_000_cam_2", FULL, 0, NONE, 1, "JS AS 9D",
             NONE, (0, 13, 0), (0, 1, 0), actor=1),
    PlayCase("play_goes_to_the_left__seed_001_y_fargen", FULL, 2, NONE, 1, "KC", actor=0),
    PlayCase("case_05_second_marriage_changes_trump_at_once__seed_000_cam_8", SECOND, 0, HEARTS, 6,
             "KS 9S", SPADES, (40, 0, 0), actor=2, legal=".9.AK.", presets=but(CLUBS_100)),
    PlayCase("case_05_second_marriage_changes_trump_at_once__rules_3", SECOND, 0, HEARTS, 6,
             "KS 9S", SPADES, (80, 0, 0), actor=2, legal=".9.AK.", presets=CLUBS_100),
    PlayCase("case_05_second_marriage_ruff_with_the_new_trump__seed_000_cam_8", SECOND, 0, HEARTS,
             6, "KS 9S KD AC", SPADES, (48, 0, 0), (1, 0, 0), actor=1, legal="J...",
             presets=but(CLUBS_100, FREE_TO_RUFF)),
    PlayCase("case_05_second_marriage_ruff_with_the_new_trump__rules_3", SECOND, 0, HEARTS,
             6, "KS 9S KD AC", SPADES, (88, 0, 0), (1, 0, 0), actor=1, legal="J...",
             presets=CLUBS_100),
    PlayCase("case_05_second_marriage_and_free_to_ruff__rules_3", SECOND, 0, HEARTS, 6,
             "KS 9S KD AC", SPADES, (48, 0, 0), (1, 0, 0), actor=1, legal="J.A..",
             presets=FREE_TO_RUFF),
    PlayCase("case_05_old_trump_in_the_trick_of_the_marriage__rules_2_play", SECOND, 0, HEARTS, 6,
             "KS 9S", HEARTS, (40, 0, 0), actor=2, legal=".9..", changes={
                 "play.trump_effect": "next_trick"}),
    PlayCase("case_05_new_trump_from_the_next_trick__rules_2_play", SECOND, 0, HEARTS, 6,
             "KS 9S 9H", SPADES, (40, 0, 4), (0, 0, 1), actor=2, legal="..AK.", changes={
                 "play.trump_effect": "next_trick"}),
    PlayCase("case_06_king_led_and_queen_kept__seed_000_cam_3", TWO, 0, NONE, 7,
             "KS AS 9C 9S JC QS", SPADES, (45, 15, 0), (1, 1, 0), presets=but(CLUBS_100)),
    PlayCase("case_06_king_led_and_queen_kept__rules_3", TWO, 0, NONE, 7,
             "KS AS 9C 9S JC QS", SPADES, (85, 15, 0), (1, 1, 0), presets=CLUBS_100),
    PlayCase("case_06_queen_led_and_king_kept__seed_000_cam_3", TWO, 0, NONE, 7,
             "QS AS 9C 9S JC KS", SPADES, (46, 14, 0), (1, 1, 0), presets=but(CLUBS_100)),
    PlayCase("case_06_queen_led_and_king_kept__rules_3", TWO, 0, NONE, 7,
             "QS AS 9C 9S JC KS", SPADES, (86, 14, 0), (1, 1, 0), presets=CLUBS_100),
    PlayCase("marriage_points_stay_though_the_trick_is_lost__rules_1", TWO, 0, NONE, 7,
             "KS AS 9C", SPADES, (40, 15, 0), (0, 1, 0), actor=1),
    PlayCase("case_07_marriage_in_first_trick_counts_nothing__seed_000_cam_8", FULL, 0, NONE, 1,
             "KS", NONE, (0, 0, 0), actor=1, presets=but(MARRIAGE_FIRST)),
    PlayCase("case_07_marriage_in_first_trick_counts__rules_3", FULL, 0, NONE, 1,
             "KS", SPADES, (40, 0, 0), actor=1, presets=MARRIAGE_FIRST),
    PlayCase("case_07_marriage_in_first_trick_sets_no_trump__seed_001_y_chwarae", FULL, 0, NONE, 1,
             "QH AH JH", NONE, (0, 16, 0), (0, 1, 0), actor=1, presets=but(MARRIAGE_FIRST)),
    PlayCase("case_07_marriage_in_first_trick_sets_trump__rules_3", FULL, 0, NONE, 1,
             "QH AH JH", HEARTS, (100, 16, 0), (0, 1, 0), actor=1, presets=MARRIAGE_FIRST),
    PlayCase("case_07_nor_is_it_declared_later_with_what_is_left__seed_000_cam_8", FULL, 0, NONE, 1,
             "KS AS 9D KD TD AD QS", DIAMONDS, (25, 95, 0), (1, 1, 0), actor=1,
             presets=but(MARRIAGE_FIRST, CLUBS_100)),
    PlayCase("case_07_nor_is_it_declared_later_with_what_is_left__rules_3", FULL, 0, NONE, 1,
             "KS AS 9D KD TD AD QS", DIAMONDS, (25, 55, 0), (1, 1, 0), actor=1, presets=CLUBS_100),
    PlayCase("case_07_declared_at_once_and_not_again__rules_3", FULL, 0, NONE, 1,
             "KS AS 9D KD TD AD QS", DIAMONDS, (65, 95, 0), (1, 1, 0), actor=1,
             presets=MARRIAGE_FIRST),
    PlayCase("marriage_in_first_trick_where_allowed__rules_2_play", FULL, 0, NONE, 1, "KS", SPADES,
             (40, 0, 0), changes={"play.marriage_from_trick": 1}),
    PlayCase("marriage_after_the_last_trick_allowed__rules_2_play", TWO, 0, NONE, 7, "KS", NONE,
             (0, 0, 0), changes={"play.marriage_until_trick": 6}),
    PlayCase("marriage_in_the_last_trick_allowed__rules_2_play", TWO, 0, NONE, 7, "KS", SPADES,
             (40, 0, 0), changes={"play.marriage_until_trick": 7}),
    PlayCase("case_08_half_a_marriage_held_by_another__seed_001_y_chwarae",
             ("K9...", "Q...A", "...J9"), 0, HEARTS, 7, "KS", HEARTS, (0, 0, 0), actor=1),
    PlayCase("case_08_half_won_from_another_is_no_marriage__seed_001_y_chwarae",
             ("AK..K.", "Q9...A", "J...J9"), 0, NONE, 6, "AS QS JS KS", NONE, (16, 0, 0),
             (1, 0, 0), actor=1),
    PlayCase("king_played_to_a_trick_declares_nothing__seed_000_cam_8",
             ("J9...", "KQ...", "...J9"), 0, NONE, 7, "9S KS", NONE, (0, 0, 0), actor=2),
    PlayCase("a_defender_declares_too__seed_001_y_chwarae", ("J9...", "KQ...", "...J9"), 1, NONE, 7,
             "QS", SPADES, (0, 40, 0), actor=2),
    PlayCase("the_next_marriage_changes_the_trump__seed_000_cam_8",
             ("KQ.KQ..", "J9...J9", "..J9.QT"), 0, NONE, 5, "KS 9S 9D KH", HEARTS, (144, 0, 0),
             (1, 0, 0), actor=1),
    PlayCase("case_16_three_nines_are_a_trick__seed_000_cam_2", ("9...", "...9", "..9."), 0, NONE,
             8, "9S 9C 9D", NONE, (0, 0, 0), (1, 0, 0)),
    # fields that the seeds leave as they are
    PlayCase("king_does_not_declare_where_the_queen_must__rules_2_play", TWO, 0, NONE, 7, "KS",
             NONE, (0, 0, 0), changes={"play.marriage_card": "queen"}),
    PlayCase("queen_declares_where_she_must__rules_2_play", TWO, 0, NONE, 7, "QS", SPADES,
             (40, 0, 0), changes={"play.marriage_card": "queen"}),
    PlayCase("optional_and_declared__rules_2_play", TWO, 0, NONE, 7, "KS!", SPADES, (40, 0, 0),
             changes=OPTIONAL),
    PlayCase("optional_and_not_declared__rules_2_play", TWO, 0, NONE, 7, "KS", NONE, (0, 0, 0),
             changes=OPTIONAL),
    PlayCase("four_aces__rules_2_play", ACES, 0, HEARTS, 4, "AS", HEARTS, (200, 0, 0),
             changes=FOUR_ACES),
    PlayCase("four_aces_once_only__rules_2_play", ACES, 0, HEARTS, 4, "AS TS QS AD", HEARTS,
             (224, 0, 0), changes=FOUR_ACES),
    PlayCase("four_aces_not_in_the_first_trick__rules_2_play",
             ("A9.A9.A9.A9", "KT.KT.KT.KT", "QJ.QJ.QJ.QJ"), 0, NONE, 1, "AS", NONE, (0, 0, 0),
             changes=FOUR_ACES),
    PlayCase("four_aces_are_nothing_by_themselves__seed_000_cam_8", ACES, 0, HEARTS, 4, "AS",
             HEARTS, (0, 0, 0)),
    PlayCase("bonus_of_the_last_trick__rules_2_play", TWO, 0, NONE, 7, "KS AS 9C 9S JC QS", SPADES,
             (55, 15, 0), changes={"play.last_trick_bonus": 10}),
    PlayCase("no_bonus_of_an_earlier_trick__rules_2_play", TWO, 0, NONE, 7, "KS AS 9C", SPADES,
             (40, 15, 0), changes={"play.last_trick_bonus": 10}),
    PlayCase("other_values_of_marriages__rules_2_deal", ("...KQ", "...J9", "J9..."), 0, NONE, 7,
             "QC", CLUBS, (100, 0, 0), changes={"deal.marriage_values.clubs": 100}),
)  # fmt: skip


# -- rights to a new deal ------------------------------------------------------------------------


@dataclass(frozen=True)
class RightsCase:
    """Cards and the moment: the 7 cards dealt, the 8 after the gifts, the 3 of the talon.

    ``rights``: the names of the rights they give.
    """

    name: str
    moment: str  # before_auction, after_exchange, talon
    cards: str
    rights: tuple[str, ...]
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)
    bid: int = 100


AFTER: Changes = {"deal.four_nines": "optional", "deal.four_nines_when": "after_exchange"}
POOR_TALON: Changes = {"deal.low_talon_points": 5}
NINE_TALON: Changes = {"deal.low_talon_nines": 2}

RIGHTS = (
    RightsCase("case_14_four_nines_in_7_cards__seed_000_y_rheolau", "before_auction",
               "A9.A9.A9.9", ("four nines",), (*MIL, "polish", "polish-900", "russian")),
    RightsCase("case_14_four_nines_in_7_cards_are_no_right__seed_001_y_cyfnewid", "before_auction",
               "A9.A9.A9.9", (), ("gamerules", "pagat", "clubs-100")),
    RightsCase("case_14_four_nines_in_8_cards__seed_001_y_cyfnewid", "after_exchange",
               "A9.A9.A9.A9", ("four nines",), ("gamerules", "pagat")),
    RightsCase("case_14_four_nines_in_8_cards_are_no_right__seed_000_y_rheolau", "after_exchange",
               "A9.A9.A9.A9", (), but(("gamerules", "pagat"))),
    RightsCase("three_nines_are_no_right__seed_000_y_rheolau", "before_auction", "A9.A9.A9.A", ()),
    RightsCase("four_nines_off__rules_2_deal", "before_auction", "A9.A9.A9.9", (), ALL,
               {"deal.four_nines": "off"}),
    RightsCase("fewer_than_10_points_and_no_marriage__seed_000_y_rheolau", "before_auction",
               "J9.J9.J9.Q", ("low hand",), MIL),
    RightsCase("ten_points_are_too_many__seed_000_y_rheolau", "before_auction", "J9.J9.KJ.9", (),
               MIL),
    RightsCase("low_hand_with_a_marriage__seed_000_y_rheolau", "before_auction", "KQ9.J9.9.9", (),
               MIL, {"deal.four_nines": "off"}),
    RightsCase("low_hand_with_a_marriage_in_any_hand__rules_2_deal", "before_auction",
               "KQ9.J9.9.9", ("four nines", "low hand"), MIL,
               {"deal.low_hand_marriage": "any_hand"}),
    RightsCase("low_hand_below_14__rules_2_deal", "before_auction", "KQJ.J9.J9.", ("low hand",),
               ALL, {"deal.low_hand": 14, "deal.low_hand_marriage": "any_hand"}),
    RightsCase("no_low_hand_right__seed_001_y_cyfnewid", "before_auction", "J9.J9.J9.Q", (),
               GAMERULES),
    RightsCase("no_right_from_the_talon__seed_000_cam_5", "talon", "9.9.9.", ()),
    RightsCase("low_talon__rules_2_deal", "talon", "J9.J..", ("low talon",), ALL, POOR_TALON),
    RightsCase("low_talon_not_so_low__rules_2_deal", "talon", "Q9.J..", (), ALL, POOR_TALON),
    RightsCase("low_talon_at_any_bid__rules_2_deal", "talon", "J9.J..", ("low talon",), ALL,
               POOR_TALON, bid=120),
    RightsCase("low_talon_not_above_the_minimum__rules_2_deal", "talon", "J9.J..", (), ALL,
               {**POOR_TALON, "deal.low_talon_at": "minimum_only"}, bid=110),
    RightsCase("low_talon_at_the_minimum__rules_2_deal", "talon", "J9.J..", ("low talon",), ALL,
               {**POOR_TALON, "deal.low_talon_at": "minimum_only"}),
    RightsCase("nines_in_the_talon__rules_2_deal", "talon", "A9.9..", ("low talon",), ALL,
               NINE_TALON),
    RightsCase("one_nine_in_the_talon__rules_2_deal", "talon", "A9.A..", (), ALL, NINE_TALON),
)  # fmt: skip


# -- the auction ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class AuctionCase:
    """Hands of 7 cards and the calls made: a number, ``"dark"`` (120, unseen), or ``"pass"``.

    After them: who is to call (None: it is over), the bids open to him, whether he may pass, and
    when it is over the declarer (None: all passed) and the highest bid.
    """

    name: str
    calls: tuple[int | str, ...]
    actor: int | None = None
    bids: tuple[int, ...] = ()
    may_pass: bool = True
    declarer: int | None = None
    highest: int = 0
    hands: tuple[str, str, str] = ("AT.AT.AT.A", "KQ.K.Q.KQ9", "J9.QJ9.J9.")
    scores: tuple[int, int, int] = (0, 0, 0)
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)


def steps(first: int, last: int, step: int) -> tuple[int, ...]:
    """Bids from first to last, both possible."""
    return tuple(range(first, last + 1, step))


DEALER: Changes = {"auction.opener": "dealer_holds"}
REDEAL: Changes = {"auction.opener": "forehand_may_pass", "auction.all_pass": "redeal_same"}
LAST: Changes = {"auction.passing": "final_last_may_raise"}
DARK: Changes = {"auction.dark": True}
SILENT: Changes = {"auction.silence_below": -120}
FIXED: Changes = {"auction.cap": "fixed", "auction.cap_points": 150}
EXACT: Changes = {"auction.raise_by": "exact_step"}

AUCTIONS = (
    AuctionCase("forehand_begins_at_100__seed_000_cam_4", (), 0, (100,), False, presets=MIL),
    AuctionCase("forehand_may_pass__seed_001_y_cynnig", (), 0, steps(100, 120, 5), True,
                presets=GAMERULES),
    AuctionCase("raise_by_10_no_marriage_120__seed_000_cam_4", (100, "pass"), 2, (110, 120),
                presets=MIL),
    AuctionCase("raise_by_5_no_marriage_120__seed_001_y_cynnig", (100, "pass"), 2,
                steps(105, 120, 5), presets=GAMERULES),
    AuctionCase("marriages_raise_the_cap_by_their_value__seed_000_cam_6", (100,), 1,
                steps(110, 220, 10), presets=MIL),
    AuctionCase("over_120_with_a_marriage__seed_001_y_cynnig", (100,), 1, steps(105, 400, 5),
                presets=GAMERULES),
    AuctionCase("case_17_an_equal_bid_is_refused__seed_001_y_cynnig", (100, 120), 2, ()),
    AuctionCase("case_17_passed_players_stay_out__seed_000_cam_4", (100, "pass", 110), 0, (120,),
                presets=MIL),
    AuctionCase("case_17_passed_player_is_skipped__seed_000_cam_4", (100, "pass", 110, 120), 2, (),
                presets=MIL),
    AuctionCase("case_17_passed_player_is_skipped__seed_001_y_cynnig", (100, "pass", 105, 110), 2,
                (115, 120), presets=GAMERULES),
    AuctionCase("last_one_left_is_declarer__seed_000_cam_4", (100, 110, "pass", "pass"),
                declarer=1, highest=110),
    AuctionCase("case_18_both_others_pass__seed_000_cam_4", (100, "pass", "pass"), declarer=0,
                highest=100, presets=EVERY),
    AuctionCase("after_two_passes_the_dealer_plays_100__seed_001_y_cynnig", ("pass", "pass"),
                declarer=2, highest=100, presets=GAMERULES),
    AuctionCase("one_pass_and_the_next_speaks__seed_001_y_cynnig", ("pass",), 1,
                steps(100, 400, 5), presets=GAMERULES),
    AuctionCase("a_bid_after_two_voices__seed_001_y_cynnig", ("pass", 100), 2, steps(105, 120, 5),
                presets=GAMERULES),
    # fields that the seeds leave as they are
    AuctionCase("all_may_pass__rules_2_auction", ("pass", "pass"), 2, (100, 110, 120), presets=MIL,
                changes=REDEAL),
    AuctionCase("all_passed__rules_2_auction", ("pass", "pass", "pass"), changes=REDEAL),
    AuctionCase("third_bids_after_two_passes__rules_2_auction", ("pass", "pass", 110), declarer=2,
                highest=110, changes=REDEAL),
    AuctionCase("dealer_holds_the_minimum__rules_2_auction", (), 0, (110, 120), presets=MIL,
                changes=DEALER),
    AuctionCase("dealer_plays_what_he_holds__rules_2_auction", ("pass", "pass"), declarer=2,
                highest=100, changes=DEALER),
    AuctionCase("dealer_is_overbid__rules_2_auction", (110, "pass"), 2, (120,), presets=MIL,
                changes=DEALER),
    AuctionCase("dealer_passes_when_overbid__rules_2_auction", (110, "pass", "pass"), declarer=0,
                highest=110, changes=DEALER),
    AuctionCase("last_with_the_minimum_may_raise__rules_2_auction", (100, "pass", "pass"), 0,
                (110, 120), presets=MIL, changes=LAST),
    AuctionCase("last_keeps_the_minimum__rules_2_auction", (100, "pass", "pass", "pass"),
                declarer=0, highest=100, changes=LAST),
    AuctionCase("last_raises_once__rules_2_auction", (100, "pass", "pass", 110), declarer=0,
                highest=110, changes=LAST),
    AuctionCase("last_may_not_raise_a_raise__rules_2_auction", (100, 110, "pass", "pass"),
                declarer=1, highest=110, changes=LAST),
    AuctionCase("exact_step__rules_2_auction", (100,), 1, (110,), presets=MIL, changes=EXACT),
    AuctionCase("exact_step_opens_at_the_minimum__rules_2_auction", (), 0, (100,),
                presets=GAMERULES, changes=EXACT),
    AuctionCase("exact_step_of_5__rules_2_auction", (100, "pass", 105), 0, (110,),
                presets=GAMERULES, changes=EXACT),
    AuctionCase("no_cap__rules_2_auction", (100, "pass"), 2, steps(110, 400, 10), presets=MIL,
                changes={"auction.cap": "none"}),
    AuctionCase("fixed_cap__rules_2_auction", (100,), 1, (110, 120, 130, 140, 150), presets=MIL,
                changes=FIXED),
    AuctionCase("gate_without_a_marriage__rules_2_auction", (100, "pass"), 2, (110, 120),
                presets=MIL, changes={"auction.cap": "gate"}),
    AuctionCase("another_minimum__rules_2_auction", (), 0, (60,), False, presets=MIL,
                changes={"auction.minimum": 60}),
    AuctionCase("silenced__rules_2_auction", (100,), 1, (), scores=(0, -120, 0), changes=SILENT),
    AuctionCase("not_yet_silenced__rules_2_auction", (100, "pass"), 2, (110, 120),
                scores=(-500, -500, -119), presets=MIL, changes=SILENT),
    AuctionCase("compulsory_bid_of_the_silenced__rules_2_auction", (), 0, (100,), False,
                scores=(-500, 0, 0), presets=MIL, changes=SILENT),
    AuctionCase("dark_bid_wins__rules_2_auction", ("dark", "pass", "pass"), declarer=0, highest=120,
                changes=DARK),
    AuctionCase("dark_bid_is_overbid__rules_2_auction", ("dark",), 1, steps(130, 220, 10),
                presets=MIL, changes=DARK),
)  # fmt: skip


@dataclass(frozen=True)
class RefusedBidCase:
    """A call that must be refused after these calls, and words that the error must hold."""

    name: str
    calls: tuple[int | str, ...]
    refused: object
    words: str
    presets: tuple[str, ...] = ALL
    hands: tuple[str, str, str] = ("AT.AT.AT.A", "KQ.K.Q.KQ9", "J9.QJ9.J9.")
    changes: Changes = field(default_factory=dict)


REFUSED_BIDS = (
    RefusedBidCase("case_17_equal__seed_001_y_cynnig", (100,), 100, "bid 100: 100 is bid"),
    RefusedBidCase("case_17_lower__seed_001_y_cynnig", (100, 120), 110, "bid 110: 120 is bid"),
    RefusedBidCase("case_18_forced_forehand_passes__seed_000_cam_4", (), "pass",
                   "forehand must open at 100", FORCED),
    RefusedBidCase("case_18_forced_forehand_opens_higher__seed_000_cam_4", (), 110,
                   "forehand opens at 100", FORCED),
    RefusedBidCase("case_18_no_raise_when_both_passed__seed_000_cam_4", (100, "pass", "pass"), 110,
                   "auction is over", EVERY),
    RefusedBidCase("below_the_minimum__seed_001_y_cynnig", (), 95, "minimum is 100", GAMERULES),
    RefusedBidCase("no_multiple_of_10__seed_000_cam_4", (100,), 115, "multiples of 10", MIL),
    RefusedBidCase("no_multiple_of_5__seed_001_y_cynnig", (100,), 112, "multiples of 5", GAMERULES),
    RefusedBidCase("over_120_without_a_marriage__seed_000_cam_4", (100, "pass"), 130,
                   "bid 130: cap is 120 without a marriage"),
    RefusedBidCase("over_120_and_the_marriages__seed_000_cam_6", (100,), 230,
                   "bid 230: cap is 220 with the marriages of spades, clubs", MIL),
    RefusedBidCase("case_22_zero__rules_4", (100,), 0, "bid 0"),
    RefusedBidCase("case_22_negative__rules_4", (100,), -110, "bid -110"),
    RefusedBidCase("case_22_nan__rules_4", (100,), float("nan"), "bid nan"),
    RefusedBidCase("case_22_float__rules_4", (100,), 110.0, "bid 110.0"),
    RefusedBidCase("case_22_string__rules_4", (100,), "110", "bid '110'"),
    RefusedBidCase("case_22_true__rules_4", (100,), True, "bid True"),
    RefusedBidCase("case_22_nothing__rules_4", (100,), None, "bid None"),
    RefusedBidCase("no_dark_bid__rules_2_auction", (), "dark", "dark bid 120: these rules"),
    RefusedBidCase("dark_bid_of_middlehand__rules_2_auction", (100,), "dark", "only forehand",
                   changes=DARK),
    RefusedBidCase("dark_bid_not_above_what_the_dealer_holds__rules_2_auction", (), "dark",
                   "not above the 120 in force", changes={
                       **DARK, **DEALER, "auction.minimum": 120}),
    RefusedBidCase("over_the_fixed_cap__rules_2_auction", (100,), 160, "bid 160: cap is 150", MIL,
                   changes=FIXED),
    RefusedBidCase("more_than_a_deal_can_hold__seed_001_y_cynnig", (100,), 405,
                   "cap is 400, the most points that a deal can hold", GAMERULES),
    RefusedBidCase("no_pass_after_the_end__seed_000_cam_4", (100, "pass", "pass"), "pass",
                   "auction is over"),
)  # fmt: skip


# -- the contract --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ContractCase:
    """The bid, the 8 cards kept, the 2 given away: the contracts that may be named."""

    name: str
    bid: int
    kept: str
    given: str
    contracts: tuple[int, ...]
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)


NO_PAIR = "KJ9.KJ9.A.A"
CONTRACTS = (
    ContractCase("at_least_the_bid_at_most_120__seed_000_cam_6", 100, NO_PAIR, "9D 9C",
                 (100, 110, 120), MIL),
    ContractCase("raise_by_5__seed_001_y_cyfnewid", 100, NO_PAIR, "9D 9C", steps(100, 120, 5),
                 GAMERULES),
    ContractCase("marriages_raise_the_cap__seed_000_cam_6", 110, "KQ9.KJ9.A.A", "9D 9C",
                 steps(110, 160, 10), MIL),
    ContractCase("two_marriages_raise_the_cap__seed_002_paso_6", 210, "KQ9.KQ9.A.A", "9D 9C",
                 steps(210, 260, 10), MIL),
    ContractCase("over_120_with_a_marriage__seed_001_y_cynnig", 380, "KQ9.KJ9.A.A", "9D 9C",
                 steps(380, 400, 5), GAMERULES),
    ContractCase("case_15_bid_with_a_marriage_half_given_away__seed_000_cam_6", 130, NO_PAIR,
                 "QS 9C", (130,)),
    ContractCase("case_15_no_raise_above_the_cap_of_the_cards_kept__seed_000_cam_6", 110, NO_PAIR,
                 "QS 9C", (110, 120), MIL),
    ContractCase("cap_by_all_ten_cards__rules_2_talon", 130, NO_PAIR, "QS 9C", (130, 140, 150, 160),
                 MIL, {"talon.cap_basis": "hand10"}),
    ContractCase("no_raise__rules_2_talon", 100, NO_PAIR, "9D 9C", (100,), ALL,
                 {"talon.raise_contract": False}),
    ContractCase("a_raise_of_the_contract_is_any_multiple__rules_2_talon", 100, NO_PAIR, "9D 9C",
                 (100, 110, 120), MIL, {"auction.raise_by": "exact_step"}),
)  # fmt: skip


# -- the count -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreCase:
    """Points of the three seats, declarer, contract: whether it is made, and the deal scores."""

    name: str
    points: tuple[int, int, int]
    declarer: int
    contract: int
    made: bool
    scores: tuple[int, int, int]
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)
    dark: bool = False
    golden: bool = False
    four_nines: int | None = None


def _rounding(kind: str) -> Changes:
    return {"scoring.defender_rounding": kind}


GOLDEN: Changes = {"match.golden": "forehand_plays_120"}
BONUS: Changes = {"deal.four_nines": "off", "deal.four_nines_bonus": 100}

SCORES = (
    ScoreCase("case_19_the_example__seed_000_cam_9", (138, 24, 18), 0, 120, True, (120, 20, 20),
              but(IN_FIVES, CLUBS_100)),
    ScoreCase("case_19_the_example_at_another_seat__seed_002_paso_9", (18, 24, 138), 2, 120, True,
              (20, 20, 120), but(IN_FIVES, CLUBS_100)),
    ScoreCase("case_19_the_example_rounded_to_5__seed_001_y_sgorio", (138, 24, 18), 0, 120, True,
              (120, 25, 20), IN_FIVES),
    ScoreCase("case_19_the_example_not_rounded__rules_3", (138, 24, 18), 0, 120, True,
              (120, 24, 18), CLUBS_100),
    ScoreCase("case_09_118_points_for_120_are_lost__seed_000_cam_9", (118, 2, 0), 0, 120, False,
              (-120, 0, 0), but(CLUBS_100)),
    ScoreCase("case_09_118_points_for_120_are_lost__rules_3", (118, 2, 0), 0, 120, False,
              (-120, 2, 0), CLUBS_100),
    ScoreCase("case_09_119_points_for_120_are_lost__seed_001_y_sgorio", (1, 119, 0), 1, 120, False,
              (0, -120, 0), but(CLUBS_100)),
    ScoreCase("case_09_119_points_for_120_are_lost__rules_3", (1, 119, 0), 1, 120, False,
              (1, -120, 0), CLUBS_100),
    ScoreCase("exactly_the_contract_is_made__seed_000_cam_9", (120, 0, 0), 0, 120, True,
              (120, 0, 0)),
    ScoreCase("more_than_the_contract_scores_the_contract__seed_001_y_sgorio", (220, 0, 0), 0, 100,
              True, (100, 0, 0)),
    ScoreCase("far_too_few_lose_the_contract__seed_000_cam_9", (0, 60, 60), 0, 200, False,
              (-200, 60, 60)),
    ScoreCase("case_10_5_is_rounded_down_to_the_ten__seed_000_cam_9", (45, 75, 0), 1, 100, False,
              (40, -100, 0), MIL),
    ScoreCase("case_10_6_is_rounded_up_to_the_ten__seed_000_cam_9", (46, 26, 48), 2, 100, False,
              (50, 30, -100), MIL),
    ScoreCase("case_10_45_stays_in_fives__seed_001_y_sgorio", (45, 75, 0), 1, 100, False,
              (45, -100, 0), IN_FIVES),
    ScoreCase("case_10_45_is_not_rounded__rules_3", (45, 75, 0), 1, 100, False, (45, -100, 0),
              CLUBS_100),
    ScoreCase("case_10_5_is_rounded_up_to_the_ten__rules_3", (45, 75, 0), 1, 100, False,
              (50, -100, 0), ("polish", "polish-900")),
    ScoreCase("case_10_to_the_nearest_five__seed_001_y_sgorio", (22, 23, 75), 2, 100, False,
              (20, 25, -100), GAMERULES),
    ScoreCase("case_10_to_the_nearest_five_2_and_3_up_to_5__seed_001_y_sgorio", (42, 0, 78), 2,
              100, False, (40, 0, -100), GAMERULES),
    ScoreCase("case_10_half_up__rules_2_scoring", (45, 75, 0), 1, 100, False, (50, -100, 0), ALL,
              _rounding("nearest_10_half_up")),
    ScoreCase("case_10_half_up_4_is_down__rules_2_scoring", (44, 75, 1), 1, 100, False,
              (40, -100, 0), ALL, _rounding("nearest_10_half_up")),
    ScoreCase("case_10_down_to_5__rules_2_scoring", (49, 67, 4), 1, 100, False, (45, -100, 0), ALL,
              _rounding("down_5")),
    ScoreCase("case_10_down_to_10__rules_2_scoring", (49, 62, 9), 1, 100, False, (40, -100, 0), ALL,
              _rounding("down_10")),
    ScoreCase("case_10_not_rounded__rules_2_scoring", (49, 62, 9), 1, 100, False, (49, -100, 9),
              ALL, _rounding("none")),
    ScoreCase("made_after_rounding__rules_2_scoring", (118, 2, 0), 0, 120, True, (120, 0, 0), ALL,
              {"scoring.made_test": "rounded"}),
    ScoreCase("failed_after_rounding__rules_2_scoring", (115, 5, 0), 0, 120, False, (-120, 0, 0),
              MIL, {"scoring.made_test": "rounded"}),
    ScoreCase("made_as_taken_though_rounding_lowers_it__rules_2_scoring", (121, 0, 0), 0, 120, True,
              (120, 0, 0)),
    ScoreCase("actual_points_are_scored__rules_2_scoring", (138, 24, 18), 0, 120, True,
              (140, 20, 20), MIL, {"scoring.success": "actual"}),
    ScoreCase("failed_actual_points_lose_the_contract__rules_2_scoring", (78, 24, 18), 0, 120,
              False, (-120, 20, 20), MIL, {"scoring.success": "actual"}),
    ScoreCase("dark_counts_double__rules_2_auction", (138, 24, 18), 0, 120, True, (240, 20, 20),
              MIL, {"auction.dark": True}, dark=True),
    ScoreCase("dark_and_failed_counts_double__rules_2_auction", (78, 24, 18), 0, 120, False,
              (-240, 20, 20), MIL, {"auction.dark": True}, dark=True),
    ScoreCase("golden_counts_double_for_all__rules_2_match", (138, 24, 18), 0, 120, True,
              (240, 40, 40), MIL, GOLDEN, golden=True),
    ScoreCase("four_nines_bonus__rules_2_deal", (138, 24, 18), 0, 120, True, (120, 120, 20), MIL,
              BONUS, four_nines=1),
    ScoreCase("four_nines_bonus_of_a_failed_declarer__rules_2_deal", (78, 24, 18), 0, 120, False,
              (-20, 20, 20), MIL, BONUS, four_nines=0),
)  # fmt: skip


# -- concessions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConcessionCase:
    """Declarer, bid, and how often he conceded before in the match: the deal scores."""

    name: str
    declarer: int
    bid: int
    earlier: int
    scores: tuple[int, int, int]
    presets: tuple[str, ...] = ALL
    changes: Changes = field(default_factory=dict)


def _price(cost: str, gain: Value = 60) -> Changes:
    return {
        "talon.concede": "before_gifts",
        "talon.concede_cost": cost,
        "talon.concede_gain": gain,
    }


CONCESSIONS = (
    ConcessionCase("costs_the_bid__rules_2_talon", 0, 130, 0, (-130, 60, 60), ALL, _price("bid")),
    ConcessionCase("costs_120__rules_2_talon", 1, 150, 5, (60, -120, 60), ALL,
                   _price("always_120")),
    ConcessionCase("first_is_free__rules_2_talon", 2, 150, 0, (60, 60, 0), ALL,
                   _price("first_free_then_bid")),
    ConcessionCase("then_the_bid__rules_2_talon", 2, 150, 1, (60, 60, -150), ALL,
                   _price("first_free_then_bid")),
    ConcessionCase("second_of_three_is_free__rules_2_talon", 0, 150, 1, (0, 60, 60), ALL,
                   _price("every_third_120")),
    ConcessionCase("every_third_costs_120__rules_2_talon", 0, 150, 2, (-120, 60, 60), ALL,
                   _price("every_third_120")),
    ConcessionCase("the_sixth_costs_120__rules_2_talon", 0, 150, 5, (-120, 60, 60), ALL,
                   _price("every_third_120")),
    ConcessionCase("half_the_bid_for_each__rules_2_talon", 0, 120, 0, (-120, 60, 60), ALL,
                   _price("bid", "half_bid")),
    ConcessionCase("half_the_bid_half_a_step_down__rules_2_talon", 0, 130, 0, (-130, 60, 60), MIL,
                   _price("bid", "half_bid")),
    ConcessionCase("half_the_bid_in_fives__rules_2_talon", 0, 130, 0, (-130, 65, 65), GAMERULES,
                   _price("bid", "half_bid")),
)  # fmt: skip
