"""The same deals once more under other rules: the paired half of a counterfactual."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from milsim._jit import kernel
from milsim.dealing import kernel_hands
from milsim.dealing.sampling import checked_seed, deal_masks
from milsim.policies.expert_parameters import parameters_for
from milsim.rng import policy_key
from milsim.rules import Rules, packed
from milsim.simulation.deal_kernel import exchange, shown_talon
from milsim.simulation.engine import policy_numbers
from milsim.simulation.plan import Plan
from milsim.simulation.tricks_kernel import (
    CONTRACT,
    MARRIAGES,
    POINTS,
    SHOWN,
    WORK_SIZE,
    play_tricks,
)
from milsim.threads import checked_threads
from milsim.tricks import play_flags, without_marriages

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK_DEALS = 1 << 13


@kernel
def _replay(
    seed: int,
    index: NDArray[np.int64],
    deal: NDArray[np.int64],
    redeals: NDArray[np.int64],
    declarer: NDArray[np.int64],
    bid: NDArray[np.int64],
    minimum: int,
    contract: NDArray[np.int64],
    dark: NDArray[np.int64],
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    flags: int,
    policies: NDArray[np.int64],
    hands_table: NDArray[np.int32],
    points: NDArray[np.int16],
) -> None:
    dealt = np.empty(4, np.int64)
    work = np.empty(WORK_SIZE, np.int64)
    for i in range(len(index)):
        key = policy_key(seed, index[i], redeals[i])
        dealt[0], dealt[1], dealt[2], dealt[3] = deal_masks(deal[i], hands_table)
        seat = declarer[i]
        exchange(work, dealt, seat, parameters, rules, policies, key)
        work[CONTRACT] = contract[i]
        work[SHOWN] = shown_talon(dealt[3], seat, bid[i], minimum, dark[i], rules)
        play_tricks(work, parameters, rules, flags, policies, key, seat)
        points[i] = work[POINTS] + work[MARRIAGES]


@kernel
def _give_again(
    seed: int,
    index: NDArray[np.int64],
    deal: NDArray[np.int64],
    redeals: NDArray[np.int64],
    declarer: NDArray[np.int64],
    parameters: NDArray[np.int16] | None,
    rules: NDArray[np.int64],
    policies: NDArray[np.int64],
    hands_table: NDArray[np.int32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> None:
    dealt = np.empty(4, np.int64)
    work = np.empty(WORK_SIZE, np.int64)
    for i in range(len(index)):
        key = policy_key(seed, index[i], redeals[i])
        dealt[0], dealt[1], dealt[2], dealt[3] = deal_masks(deal[i], hands_table)
        gifts = exchange(work, dealt, declarer[i], parameters, rules, policies, key)
        left[i] = gifts & 31
        right[i] = gifts >> 5


def replay_declarer_points(
    plan: Plan,
    index: NDArray[np.uint64],
    deal: NDArray[np.uint64],
    redeals: NDArray[np.uint16],
    declarer: NDArray[np.uint8],
    *,
    bid: NDArray[np.uint16],
    contract: NDArray[np.uint16],
    dark: NDArray[np.bool_],
    rules: Rules,
    undeclarable: int = 0,
    threads: int | None = None,
) -> NDArray[np.int16]:
    """Declarer points, int16, of stored deals whose gifts and tricks are played anew.

    ``index``, ``deal``, ``redeals``, ``declarer``, ``bid``, ``contract`` and ``dark`` are columns
    of a run of ``plan``, one entry a deal. The declarer and the draws of the policies stay as they
    were; the gifts and the play follow the same policies under ``rules``. Under the plan's own
    rules the result is the column ``declarer_points``. ``undeclarable`` is a mask of suits whose
    marriages nobody can declare (`milsim.tricks.without_marriages`): the players know it when they
    play, but give as ever.
    """
    n_threads = checked_threads(threads)
    points = np.empty(len(index), dtype=np.int16)
    indices, deals, attempts, declarers, bids, contracts, darks = (
        np.ascontiguousarray(column, dtype=np.int64)
        for column in (index, deal, redeals, declarer, bid, contract, dark)
    )
    numbers, table, fields = policy_numbers(plan), kernel_hands(), packed(rules)
    # The same parameters whatever the rules: the players are the same.
    parameters = parameters_for(plan.rules, numbers.tolist())
    seed = checked_seed(plan.seed)
    flags = without_marriages(play_flags(fields), undeclarable)

    def part(begin: int) -> None:
        cut = slice(begin, begin + _CHUNK_DEALS)
        _replay(
            seed,
            indices[cut],
            deals[cut],
            attempts[cut],
            declarers[cut],
            bids[cut],
            plan.rules.auction.minimum,  # that of the auction that was held
            contracts[cut],
            darks[cut],
            parameters,
            fields,
            flags,
            numbers,
            table,
            points[cut],
        )

    begins = range(0, len(index), _CHUNK_DEALS)
    if len(begins) > 1:
        part(0)  # compiled once, before the threads start
    with ThreadPoolExecutor(n_threads) as pool:
        for future in [pool.submit(part, begin) for begin in begins]:
            future.result()
    return points


def replay_gifts(
    plan: Plan,
    index: NDArray[np.uint64],
    deal: NDArray[np.uint64],
    redeals: NDArray[np.uint16],
    declarer: NDArray[np.uint8],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The gifts, card indices for the left and the right, that the plan's policies give in deals.

    The arguments are columns as of a run; ``deal`` may be other deals than those of the seed.
    """
    left, right = np.empty(len(index), np.int64), np.empty(len(index), np.int64)
    numbers = policy_numbers(plan)
    indices, deals, attempts, declarers = (
        np.ascontiguousarray(column, np.int64) for column in (index, deal, redeals, declarer)
    )
    _give_again(
        checked_seed(plan.seed),
        indices,
        deals,
        attempts,
        declarers,
        parameters_for(plan.rules, numbers.tolist()),
        packed(plan.rules),
        numbers,
        kernel_hands(),
        left,
        right,
    )
    return left, right
