"""A policy as a small spec: who bids, who exchanges, who plays, with which parameters.

A spec is written as a name (``greedy``), a name with settings (``pimc:layouts=64``), or a TOML file
(``bots/deep.toml``) with the same keys::

    policy = "pimc"     # where everything starts
    bid = "greedy"      # another policy for one part: bid, exchange, play
    layouts = 64        # a parameter of the policies named

All three give the same `PolicySpec`, and its text is canonical: same play, same text. That text
stands in plans and manifests, and is read again here. Parts: ``bid`` has the auction, with bids in
the dark; ``exchange`` concessions, gifts and the contract; ``play`` the cards and declarations.

Policies of others come by `register`, or by an entry point of the group ``milsim.policies`` of an
installed package. No kernel is imported until a player is made.
"""

from __future__ import annotations

import functools
import inspect
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milsim.errors import PolicyError, nearest, quote, shown
from milsim.files import read_text, reason_of
from milsim.policies import registry
from milsim.policies.origins import origin_of

if TYPE_CHECKING:
    from milsim.policies.players import Player

ENTRY_POINTS = "milsim.policies"
PARTS = ("bid", "exchange", "play")

_MAX_BYTES = 100_000
_LONGEST_NAME = 60
_LONGEST_PATH = 200
_LONGEST_TEXT = 100
_LARGEST = 2**63 - 1
_FORBIDDEN = frozenset(",:=\n\r\t ")

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Maker:
    """How a policy is made: what it is, its parameters with their defaults, and what makes it."""

    name: str
    summary: str
    parameters: Mapping[str, Value]
    make: Callable[..., Player]
    number: int | None = None
    """The number by which kernels know it, if it is all kernels."""
    origin: str = ""
    """Where its code comes from (`milsim.policies.origins`); empty for milsim's own."""


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """Who decides what; ``settings`` are parameters that differ from the defaults, sorted."""

    bid: str
    exchange: str
    play: str
    settings: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        """The canonical text, which `parse_spec` reads again.

        >>> str(PolicySpec("greedy", "random", "random"))
        'random:bid=greedy'
        """
        parts = {"bid": self.bid, "exchange": self.exchange}
        words = [self.play]
        words += [f"{part}={name}" for part, name in parts.items() if name != self.play]
        words += [f"{key}={_text(value)}" for key, value in self.settings]
        return ":".join(words)

    @property
    def number(self) -> int | None:
        """The number by which kernels know it, if it is one policy and all kernels."""
        if len({self.bid, self.exchange, self.play}) > 1 or self.settings:
            return None
        return maker(self.play).number

    def player(self) -> Player:
        """The player of this spec; raises PolicyError if a policy refuses its parameters."""
        from milsim.policies.players import PartsPlayer

        made = {}
        for name in {self.bid, self.exchange, self.play}:
            known = maker(name)
            settings = {key: value for key, value in self.settings if key in known.parameters}
            try:
                made[name] = known.make(**settings)
            except PolicyError:
                raise
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise PolicyError(f"policy {self}: cannot be made: {reason}") from error
        if len(made) == 1:
            return made[self.play]
        return PartsPlayer(made[self.bid], made[self.exchange], made[self.play])


# -- who there is --------------------------------------------------------------------------------


def _kernel_maker(info: registry.PolicyInfo) -> Maker:
    def make() -> Player:
        from milsim.policies.players import KernelPlayer

        return KernelPlayer(info.number)

    return Maker(info.name, info.summary, {}, make, info.number)


def _later(module: str, name: str) -> Callable[..., Player]:
    def make(**settings: Value) -> Player:
        made: Player = getattr(import_module(module), name)(**settings)
        return made

    return make


_DRIVEN = {
    each.name: each
    for each in (
        Maker(
            "pimc",
            "samples what it cannot see, and plays out or solves every layout for every choice",
            {"layouts": 32, "playouts": 128, "solving": 0},
            _later("milsim.policies.pimc", "PimcPlayer"),
        ),
        Maker(
            "oracle",
            "sees all cards and plays double dummy: no honest player, an upper bound",
            {},
            _later("milsim.policies.oracle", "OraclePlayer"),
        ),
    )
}
_registered: dict[str, Maker] = {}


def register(name: str, factory: Callable[..., Any], summary: str = "") -> None:
    """Make a policy known by a name, for this process.

    ``factory`` is a class derived from `milsim.policies.Policy` (or what makes one); its keyword
    arguments with a default, a number, a text or a truth value, are the parameters of the policy.
    Registering a name again replaces it; a name of milsim's own cannot be taken. Raises PolicyError
    for a name that is taken, too long, or has a comma, colon, equals sign or space in it, and for
    parameters that no spec can name.

    >>> from milsim.policies.user import Policy
    >>> register("mine", Policy)
    >>> str(parse_spec("mine"))
    'mine'
    """
    _check_name(name)
    if name in _built_in() or name in PARTS:
        raise PolicyError(f"policy name {name}: is milsim's own; choose another")
    _registered[name] = _user_maker(name, factory, summary)


def _check_name(name: object) -> None:
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= _LONGEST_NAME
        or not all(letter.isalnum() or letter in "-_" for letter in name)
        or not any(letter.isalnum() for letter in name)
    ):
        raise PolicyError(f"policy name {quote(name)}: letters, digits, - and _ make a name")


def _user_maker(
    name: str, factory: Callable[..., Any], summary: str, distribution: str = ""
) -> Maker:
    if not callable(factory):
        raise PolicyError(f"policy {name}: {quote(factory)} is no class; derive one from Policy")
    parameters = {}
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy {name}: its parameters cannot be read: {error}") from None
    for key, parameter in signature.parameters.items():
        if key == "policy" or key in PARTS:
            raise PolicyError(f"policy {name}: parameter {key} is a word of specs; rename it")
        if isinstance(parameter.default, bool | int | float | str):
            parameters[key] = parameter.default
        elif parameter.default is inspect.Parameter.empty and parameter.kind not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            raise PolicyError(f"policy {name}: parameter {key} has no default; give it one")

    def make(**settings: Value) -> Player:
        from milsim.policies.user import UserPlayer

        return UserPlayer(factory(**settings))

    words = summary or (inspect.getdoc(factory) or "").partition("\n")[0]
    origin = origin_of(factory, distribution)
    return Maker(name, words, parameters, make, origin=origin)


def _built_in() -> dict[str, Maker]:
    return {name: _kernel_maker(registry.get(name)) for name in registry.names()} | _DRIVEN


@functools.cache
def _entry_points() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=ENTRY_POINTS)}


def _distribution(point: Any) -> str:
    """The package that named an entry point, with its version; empty if it does not say."""
    package = getattr(point, "dist", None)
    try:
        return "" if package is None else f"{package.name} {package.version}"
    except Exception:  # metadata that are missing or broken say nothing
        return ""


def spec_names() -> tuple[str, ...]:
    """The names of all policies: milsim's, those registered, those of installed packages.

    >>> spec_names()[:2]
    ('random', 'greedy')
    """
    return tuple({**_built_in(), **_registered, **_entry_points()})


def maker(name: str) -> Maker:
    """How the policy of a name is made; raises PolicyError with the nearest right name."""
    found = _built_in().get(name) or _registered.get(name)
    if found is not None:
        return found
    if name in _entry_points():
        point = _entry_points()[name]
        try:
            factory = point.load()
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise PolicyError(f"policy {name}: {point.value} cannot be loaded: {reason}") from error
        _check_name(name)
        _registered[name] = _user_maker(name, factory, "", _distribution(point))
        return _registered[name]
    if ":" in name:
        raise PolicyError(
            f"policy {quote(name)}: a name alone is needed here; parameters have keys of their own"
        )
    raise PolicyError(f"unknown policy {quote(name)}: {nearest(name, spec_names())}")


# -- reading -------------------------------------------------------------------------------------


def parse_spec(text: str) -> PolicySpec:
    """The spec of a name, a name with settings, or a TOML file.

    Raises PolicyError, one line, for an unknown policy, part or parameter (with the nearest right
    name), for a value of another type, and for a file that cannot be read.

    >>> parse_spec("random:bid=greedy")
    PolicySpec(bid='greedy', exchange='random', play='random', settings=())
    >>> str(parse_spec("pimc:layouts=32"))  # the default
    'pimc'
    >>> parse_spec("pimc:layout=64")
    Traceback (most recent call last):
    ...
    milsim.errors.PolicyError: policy 'pimc:layout=64': no parameter 'layout': did you mean layouts?
    """
    if not isinstance(text, str):
        raise PolicyError(
            f"policy {quote(text)}: a name, a name:key=value or a TOML file is needed"
        )
    text = text.strip()
    if text.endswith(".toml"):
        where = f"policy file {_shown(text)}"
        return _spec_of(_read(Path(text), where), where)
    name, *settings = text.split(":")
    if settings and not (name.strip() and settings[-1].strip()):
        raise PolicyError(f"policy {quote(text)}: write it NAME or NAME:key=value")
    if name.endswith(".toml") and settings:
        raise PolicyError(
            f"policy {quote(text)}: a file takes no {quote(settings[0])}; write it in the file"
        )
    given: dict[str, Any] = {"policy": name}
    for setting in settings:
        key, sign, value = setting.partition("=")
        key = key.strip()
        if not sign or not key:
            raise PolicyError(f"policy {quote(text)}: {quote(setting)} is not key=value")
        if key in given:
            raise PolicyError(f"policy {quote(text)}: {shown(key)} is given twice")
        given[key] = value.strip()
    return _spec_of(given, f"policy {quote(text)}", from_text=True)


def _read(path: Path, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path, _MAX_BYTES))
    except FileNotFoundError:
        raise PolicyError(f"{where}: no such file") from None
    except RecursionError:
        raise PolicyError(f"{where}: nested too deeply") from None
    except (OSError, ValueError) as error:
        raise PolicyError(f"{where}: {reason_of(error)}") from None


def _shown(path: str) -> str:
    """A path as people wrote it, if it can be shown on a line."""
    return path if path.isprintable() and len(path) <= _LONGEST_PATH else quote(path)


def _spec_of(given: dict[str, Any], where: str, from_text: bool = False) -> PolicySpec:
    if "policy" not in given:
        raise PolicyError(f'{where}: no key policy; begin with policy = "greedy"')
    base = _name(given["policy"], where, "policy")
    parts = {part: _name(given.get(part, base), where, part) for part in PARTS}
    known: dict[str, Value] = {}
    for name in parts.values():
        known |= maker(name).parameters
    settings = []
    for key, value in given.items():
        if key == "policy" or key in PARTS:
            continue
        if key not in known:
            right = nearest(key, (*known, *PARTS))
            raise PolicyError(f"{where}: no parameter {quote(key)}: {right}")
        read = _value(value, known[key], f"{where}: {key}", from_text)
        if read != known[key]:
            settings.append((key, read))
    return PolicySpec(**parts, settings=tuple(sorted(settings)))


def _name(value: object, where: str, key: str) -> str:
    if not isinstance(value, str):
        raise PolicyError(f"{where}: {key} is a policy's name, not {quote(value)}")
    try:
        return maker(value.strip()).name
    except PolicyError as error:
        raise error if where == f"policy {value!r}" else PolicyError(f"{where}: {error}") from None


def _value(value: object, default: Value, where: str, from_text: bool) -> Value:
    """The value in the type of the default."""
    kind = type(default)
    if from_text and isinstance(value, str) and kind is not str:
        value = _read_as(kind, value, where)
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) <= _LARGEST else value
    if type(value) is not kind:
        raise PolicyError(f"{where}: {quote(value)} is not like {quote(default)}, the default")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise PolicyError(f"{where}: {quote(value)} is out of range")
    if isinstance(value, float) and not math.isfinite(value):
        raise PolicyError(f"{where}: {value} is no number")
    if isinstance(value, str) and (
        _FORBIDDEN & set(value) or not value.isprintable() or len(value) > _LONGEST_TEXT
    ):
        raise PolicyError(
            f"{where}: {quote(value)}: no comma, colon, equals sign or space, and not more than "
            f"{_LONGEST_TEXT} letters"
        )
    return value


def _read_as(kind: type, text: str, where: str) -> Value:
    if kind is bool:
        words = {"true": True, "false": False}
        if text.lower() not in words:
            raise PolicyError(f"{where}: {quote(text)}; true or false")
        return words[text.lower()]
    try:
        if text.isascii() and len(text) <= _LONGEST_TEXT:
            return int(text) if kind is int else float(text)
    except ValueError:
        pass
    name = "whole number" if kind is int else "number"
    raise PolicyError(f"{where}: {quote(text)} is no {name}")


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def canonical(text: str) -> str:
    """The canonical text of a spec's text; raises what `parse_spec` does.

    >>> canonical(" greedy:play=random ")
    'random:bid=greedy:exchange=greedy'
    """
    return str(parse_spec(text))


__all__ = [
    "ENTRY_POINTS",
    "PARTS",
    "Maker",
    "PolicySpec",
    "canonical",
    "maker",
    "parse_spec",
    "register",
    "spec_names",
]
