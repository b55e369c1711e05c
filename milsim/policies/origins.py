"""Where the code of people's own policies comes from, so that a changed policy is seen.

A name says who played, not which code it was. Beside it a run keeps the package and version that
brought the policy, its class, and a digest of the files the class and its bases stand in. Code that
those files import is not in the digest: the version of the package stands for it.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DIGITS = 16
_MOST = 400
_OURS = "milsim."


def origin_of(factory: Any, distribution: str = "") -> str:
    """Where a policy's code comes from, in one line: package and version, class, digest.

    ``distribution`` is the installed package that named it, with its version, if one did.

    >>> from milsim.policies.user import Policy
    >>> class Mine(Policy):
    ...     pass
    >>> origin_of(Mine, "my-bots 1.2").rpartition(" ")[0]
    'my-bots 1.2, milsim.policies.origins:Mine, sha256'
    """
    code = getattr(factory, "func", factory)  # of functools.partial
    if not isinstance(code, type) and not hasattr(code, "__qualname__"):
        code = type(code)
    place = f"{getattr(code, '__module__', '?')}:{getattr(code, '__qualname__', '?')}"
    words = [distribution] if distribution else []
    text = ", ".join([*words, place, f"sha256 {digest_of_source(code)}"])
    return "".join(letter if letter.isprintable() else "?" for letter in text)[-_MOST:]


def digest_of_source(code: Any) -> str:
    """SHA-256, shortened, of the files that a class and its bases, or a function, stand in.

    Where there is no file (a class typed at a prompt) its text is taken, or else its byte code.

    >>> len(digest_of_source(origin_of))
    16
    """
    parts = [each for each in inspect.getmro(code) if _is_theirs(each)] if _is_class(code) else []
    found: dict[bytes, None] = {}
    for each in parts or [code]:
        found[_source(each)] = None
    return hashlib.sha256(b"\0".join(found)).hexdigest()[:DIGITS]


def _is_class(code: Any) -> bool:
    return isinstance(code, type)


def _is_theirs(each: type) -> bool:
    return each is not object and each.__module__ != f"{_OURS}policies.user"


def _source(each: Any) -> bytes:
    try:
        return Path(inspect.getsourcefile(each) or "").read_bytes()
    except (OSError, TypeError):
        pass
    try:
        return inspect.getsource(each).encode()
    except (OSError, TypeError):
        pass
    functions = vars(each).values() if _is_class(each) else [each]
    codes = [one.__code__ for one in functions if hasattr(one, "__code__")]
    return b"".join(code.co_code + repr((code.co_consts, code.co_names)).encode() for code in codes)


def origins(policies: Iterable[str]) -> dict[str, str]:
    """By name, the origin of every policy in some specs that is not milsim's own.

    >>> origins(["greedy", "pimc:layouts=4:bid=expert"])
    {}
    """
    from milsim.policies.spec import maker, parse_spec

    specs = [parse_spec(text) for text in dict.fromkeys(policies)]
    names = sorted({name for spec in specs for name in (spec.bid, spec.exchange, spec.play)})
    return {name: maker(name).origin for name in names if maker(name).origin}


def told(found: dict[str, str]) -> str:
    """Origins as the end of a line of provenance; empty if there are none.

    >>> told({"mine": "my-bots 1.2, my_bots:Mine, sha256 0123456789abcdef"})
    ' · mine: my-bots 1.2, my_bots:Mine, sha256 01234567'
    """
    return "".join(f" · {name}: {text[: len(text) - DIGITS + 8]}" for name, text in found.items())


__all__ = ["digest_of_source", "origin_of", "origins", "told"]
