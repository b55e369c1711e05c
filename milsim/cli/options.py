"""Options that several verbs share, and how their texts become values."""

from __future__ import annotations

import errno
import re
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milsim.errors import UsageError, quote

if TYPE_CHECKING:
    from milsim.rules import Rules

_COUNT = re.compile(r"(-?)(\d[\d_,]*)(\.\d+)?(e\+?(\d+))?([kMG]?)")
_SCALES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}


def parse_count(name: str, text: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high`` that people write in several ways.

    Raises :class:`~milsim.errors.UsageError` for anything else.

    >>> [parse_count("deals", text, 1, 10**12) for text in ("1e6", "250k", "1_000", "2.5M")]
    [1000000, 250000, 1000, 2500000]
    >>> parse_count("threads", "-5", 1, 1024)
    Traceback (most recent call last):
    ...
    milsim.errors.UsageError: threads: '-5' is out of range; use 1 to 1024
    """
    found = _COUNT.fullmatch(text.strip()) if text.isascii() and len(text) <= 60 else None
    if found is None:
        how = ", such as 1000000, 1_000_000, 1e6 or 1M" if high >= 1_000_000 else ""
        raise UsageError(f"{name}: {quote(text)} is not a whole number from {low} to {high}{how}")
    sign, whole, fraction, _, power, scale = found.groups()
    digits = whole.replace("_", "").replace(",", "") + (fraction or "")
    # Beyond a thousand zeros every number is out of range alike.
    value = Decimal(digits).scaleb(min(int(power or 0), 1000)) * _SCALES[scale]
    if value == value.to_integral_value() and not low <= (-value if sign else value) <= high:
        raise UsageError(f"{name}: {quote(text)} is out of range; use {low} to {high}")
    if value != value.to_integral_value():
        raise UsageError(f"{name}: {quote(text)} is not a whole number; use {low} to {high}")
    return int(value)


def parse_seed(text: str) -> int:
    """A seed, 0 … 2^64 − 1; raises :class:`~milsim.errors.UsageError` for anything else.

    >>> parse_seed("42")
    42
    """
    if text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 2**64:
        return int(text)
    raise UsageError(f"seed: {quote(text)} is not a whole number from 0 to 2^64 - 1")


RulesOption = Annotated[
    str, typer.Option("--rules", metavar="NAME|FILE", help="Rules: a preset or a TOML file.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Set one field of the rules otherwise, such as play.must_beat=no; may be repeated. "
        "milsim rules show lists all fields.",
    ),
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
    return None if text is None else parse_count("threads", text, 1, 1024)


def rules_of(name: str, settings: list[str] | None) -> Rules:
    """The rules of ``--rules``, with the fields of ``--set`` set otherwise.

    >>> rules_of("mil", ["match.target=1001"]).name
    'mil-changed'
    """
    from milsim.rules import load, read_settings, with_fields

    chosen = load(name)
    return with_fields(chosen, read_settings(settings)) if settings else chosen


def say(text: str, *, quiet: bool = False) -> None:
    """Words for people, on stderr."""
    if not quiet:
        typer.echo(text, err=True)


def announce_compilation(*, quiet: bool = False) -> None:
    """Say it, once, if kernels have to be compiled; call before the first kernel."""
    from milsim._jit import on_first_compile

    on_first_compile(
        lambda: say(
            "compiling kernels for this machine, once (up to half a minute) ...", quiet=quiet
        )
    )


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def refuse_on_terminal(format: str, instead: str) -> None:  # noqa: A002
    """Raise :class:`~milsim.errors.UsageError` for a file that would go to a terminal."""
    if format in ("parquet", "html") and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(f"format {format}: not for a terminal; {instead}")


def write_to_stdout(content: bytes) -> None:
    """The bytes of a report to stdout, whole; raises OSError if it is closed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
