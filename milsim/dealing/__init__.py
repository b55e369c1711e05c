"""Making deals: of a seed, under constraints, from numbers, and all completions of a hand.

For people: `sample_deals`, `DealSpace`, `completions`, `masks_of_deals`, `deals_of_masks`,
`hand_masks_table`. For kernels: `deal_masks`, `deal_number`, `deal_number_of`, `space_deal`,
`fill_completions`, with the tables `kernel_hands()` and `kernel_ranks()` as arguments.
"""

from __future__ import annotations

from milsim.dealing.completions import completion_count, completions, fill_completions
from milsim.dealing.sampling import (
    DealMasks,
    deal_masks,
    deal_number,
    deal_number_of,
    deals_of_masks,
    fill_deal_masks,
    fill_deal_numbers,
    fill_masks_of_numbers,
    fill_numbers_of_masks,
    masks_of_deals,
    rank_of,
    sample_deal_masks,
)
from milsim.dealing.space import (
    DealSpace,
    PackedSpace,
    fill_space_masks,
    fill_space_numbers,
    fill_space_sample,
    sample_deals,
    space_deal,
    space_masks,
)
from milsim.dealing.tables import (
    N_COMPLETIONS,
    N_HANDS,
    hand_masks_table,
    kernel_hands,
    kernel_ranks,
    subset_masks,
)

__all__ = [
    "N_COMPLETIONS",
    "N_HANDS",
    "DealMasks",
    "DealSpace",
    "PackedSpace",
    "completion_count",
    "completions",
    "deal_masks",
    "deal_number",
    "deal_number_of",
    "deals_of_masks",
    "fill_completions",
    "fill_deal_masks",
    "fill_deal_numbers",
    "fill_masks_of_numbers",
    "fill_numbers_of_masks",
    "fill_space_masks",
    "fill_space_numbers",
    "fill_space_sample",
    "hand_masks_table",
    "kernel_hands",
    "kernel_ranks",
    "masks_of_deals",
    "rank_of",
    "sample_deal_masks",
    "sample_deals",
    "space_deal",
    "space_masks",
    "subset_masks",
]
