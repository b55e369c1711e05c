"""What `milsim doctor` knows: the versions and the machine, and a self-test of a few seconds."""

from __future__ import annotations

import os
import platform
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import llvmlite.binding  # type: ignore[import-untyped]

from milsim import _jit, rng
from milsim.cards import mask_of
from milsim.dealing import sample_deals
from milsim.deals import Deal
from milsim.reference import Game, Phase
from milsim.rules import digest, load, preset_names
from milsim.threads import default_threads
from milsim.tricks import legal_mask


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one part of the self-test."""

    name: str
    ok: bool
    detail: str


def facts() -> dict[str, str]:
    """Versions, processor and kernel cache, as texts by name."""
    folder = _jit.cache_directory()
    files = list(folder.rglob("*.nb?")) if folder.is_dir() else []
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    return {
        "milsim": version("milsim"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(name) for name in ("numba", "llvmlite", "numpy", "polars", "matplotlib")},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": f"{llvmlite.binding.get_host_cpu_name()}, {os.cpu_count()} cores, "
        f"{default_threads()} usable",
        "bit deposit": "one instruction (BMI2)" if _jit.has_fast_deposit() else "portable loop",
        "compiled kernels": "yes" if _jit.jit_enabled() else "no (NUMBA_DISABLE_JIT)",
        "kernel digest": _jit.kernel_digest(),
        "kernel cache": f"{folder} ({len(files)} files, {megabytes:.1f} MB)",
        "random numbers": rng.RNG_SCHEME,
    }


def self_test() -> list[Check]:
    """Run all checks; an exception in one is its fault, not the end."""
    parts: dict[str, Callable[[], str]] = {
        "rules": _rules,
        "random numbers": _random_numbers,
        "deal numbers": _deal_numbers,
        "legal cards": _legal_cards,
        "charts": _charts,
    }
    checks = []
    for name, work in parts.items():
        try:
            checks.append(Check(name, True, work()))
        except Exception as error:
            checks.append(Check(name, False, " ".join(str(error).split())[:200]))
    return checks


def _expect(found: object, right: object, what: str) -> None:
    if found != right:
        raise RuntimeError(f"{what}: {found!r:.80}, but {right!r:.80} is right")


def _rules() -> str:
    loaded = [f"{name} {digest(load(name))[:8]}" for name in preset_names()]
    return ", ".join(loaded)


def _random_numbers() -> str:
    # Random123's known answer for philox2x64-10 with key and counter zero.
    words = tuple(int(word) % 2**64 for word in rng.philox(0, 0, 0))
    _expect(words, (0xCA00A0459843D731, 0x66C24222C9A845B5), "philox of zeros")
    return "Philox2x64-10 gives its published answers"


def _deal_numbers() -> str:
    numbers = sample_deals(200, seed=1)
    for number in numbers:
        _expect(Deal.from_id(int(number)).id, int(number), "number of a deal")
    return f"{len(numbers)} deals have their numbers back"


def _legal_cards() -> str:
    generator = random.Random(1)
    compared = 0
    for name in preset_names():
        for number in sample_deals(5, seed=2):
            compared += _compare_play(Deal.from_id(int(number)), name, generator)
    return f"{compared} decisions agree with the reference game"


def _compare_play(deal: Deal, rules: str, generator: random.Random) -> int:
    """Play the deal at random in the reference game; returns the plays compared with the kernel."""
    game = Game(deal, rules)
    compared = 0
    while acts := game.legal_acts():
        position, seat = game.position, game.actor
        if position is not None and seat is not None and game.phase == Phase.PLAY:
            hand, table, trump = mask_of(position.hands[seat]), position.trick, position.trump
            found = legal_mask(hand, table, trump, rules=rules)
            _expect(found, mask_of(game.legal_cards()), "legal cards")
            compared += 1
        game.apply(generator.choice(acts))
    return compared


def _charts() -> str:
    import io

    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    figure.text(0.5, 0.5, "♠ ♥ ♦ ♣")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return f"matplotlib draws ({len(picture.getvalue()):,} bytes)"
