"""Rule sets: what varies between homes, as frozen data (RULES.md §2 and §3)."""

from milsim.rules.fields import FieldKind, field_kinds, values_of
from milsim.rules.files import (
    Difference,
    canonical_json,
    diff,
    digest,
    load,
    parse,
    preset_names,
    save,
    template,
    to_toml,
)
from milsim.rules.model import (
    AuctionRules,
    DealRules,
    MarriageValues,
    MatchRules,
    PlayRules,
    Rules,
    ScoringRules,
    TalonRules,
)
from milsim.rules.overrides import read_settings, with_fields
from milsim.rules.packing import OFF, packed, place_of, word_of

__all__ = [
    "OFF",
    "AuctionRules",
    "DealRules",
    "Difference",
    "FieldKind",
    "MarriageValues",
    "MatchRules",
    "PlayRules",
    "Rules",
    "ScoringRules",
    "TalonRules",
    "canonical_json",
    "diff",
    "digest",
    "field_kinds",
    "load",
    "packed",
    "parse",
    "place_of",
    "preset_names",
    "read_settings",
    "save",
    "template",
    "to_toml",
    "values_of",
    "with_fields",
    "word_of",
]
