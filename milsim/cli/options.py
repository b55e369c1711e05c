"""Options that several verbs share, and how their texts become values."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from milsim.errors import MilsimError, UsageError

_COUNT = re.compile(r"(\d[\d_,]*)(\.\d+)?(e\+?(\d{1,2}))?([kMG]?)")
_SCALES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}
MAX_COUNT = 10**18


def parse_count(name: str, text: str) -> int:
    """A whole number that people write in several ways.

    Raises :class:`~milsim.errors.UsageError` for anything else.

    >>> parse_count("deals", "1e6"), parse_count("deals", "250k"), parse_count("deals", "1_000")
    (1000000, 250000, 1000)
    >>> parse_count("deals", "-5")
    Traceback (most recent call last):
    ...
    milsim.errors.UsageError: deals: '-5' is not a whole number; write 1000000, 1_000_000, 1e6 or 1M
    """
    found = _COUNT.fullmatch(text.strip()[:60]) if text.isascii() else None
    value = Decimal(-1)
    if found:
        whole, fraction, _, power, scale = found.groups()
        digits = whole.replace("_", "").replace(",", "") + (fraction or "")
        value = Decimal(digits).scaleb(int(power or 0)) * _SCALES[scale]
    if value < 0 or value != value.to_integral_value():
        raise UsageError(
            f"{name}: {text[:40]!r} is not a whole number; write 1000000, 1_000_000, 1e6 or 1M"
        )
    if value > MAX_COUNT:
        raise UsageError(f"{name}: {text[:40]!r} is more than {MAX_COUNT:.0e}; use less")
    return int(value)


def parse_seed(text: str) -> int:
    """A seed, 0 … 2^64 − 1; raises :class:`~milsim.errors.UsageError` for anything else.

    >>> parse_seed("42")
    42
    """
    if text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 2**64:
        return int(text)
    raise UsageError(f"seed: {text[:40]!r} is not a whole number from 0 to 2^64 - 1")


RulesOption = Annotated[
    str, typer.Option("--rules", metavar="NAME|FILE", help="Rules: a preset or a TOML file.")
]
SeedOption = Annotated[
    str, typer.Option("--seed", metavar="N", help="Seed: the same seed gives the same deals.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the answer as JSON, and nothing else.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no words.")]
ThreadsOption = Annotated[
    str | None,
    typer.Option("--threads", metavar="N", help="Threads; all cores if not given."),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="TERMS",
        help="Only deals in which forehand's seven cards meet all terms, e.g. 'marriages=H', "
        "'aces>=2 points<40', 'four_nines'.",
    ),
]


def parse_threads(text: str | None) -> int | None:
    """A number of threads, or None for all cores.

    >>> parse_threads("2")
    2
    """
    if text is None:
        return None
    count = parse_count("threads", text)
    if not 1 <= count <= 1024:
        raise UsageError(f"threads: {count} is out of range; use 1 to 1024")
    return count


def say(text: str, *, quiet: bool = False) -> None:
    """Words for people, on stderr."""
    if not quiet:
        typer.echo(text, err=True)


def announce_compilation(*, quiet: bool = False) -> None:
    """Say that the kernels are about to be compiled, if they are."""
    from milsim._jit import cache_is_warm, jit_enabled

    if jit_enabled() and not cache_is_warm():
        say("compiling the kernels for this machine, once (about half a minute) ...", quiet=quiet)


def write_text(path: Path, text: str) -> None:
    """Write an answer to a file; raises :class:`MilsimError` in one line if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise MilsimError(f"out {path}: cannot write, {reason}") from None


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))
