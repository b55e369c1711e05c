"""Pieces: what a run folder holds of its plan, each a range of indices with its parts and digests.

Beside each part stands a small JSON file, written after it: from then on the piece counts. So a
process killed at any moment loses only what it was writing, pieces come in any order and from any
machine, and a folder of ten thousand of them is opened without rewriting a list of them all.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from milsim.files import read_text, reason_of, write_atomically
from milsim.store.parts import Part, name_of

MOST_BYTES = 10_000
"""Of the file beside a part."""
_PART = tuple(field.name for field in fields(Part))


@dataclass(frozen=True, slots=True)
class Piece:
    """Indices ``start … start + count - 1`` of a plan, stored: one part in each of its folders.

    ``plan`` is the plan's digest. In a run of matches the index is that of the match, and
    ``parts[0]`` holds the deals, ``parts[1]`` the matches.
    """

    plan: str
    start: int
    count: int
    parts: tuple[Part, ...]

    @property
    def end(self) -> int:
        """The first index behind it."""
        return self.start + self.count

    def to_json(self) -> str:
        """The text of the file beside the part, the same for the same content."""
        # Not `asdict`, which takes most of the time to open a run of many parts.
        content = {
            "plan": self.plan,
            "start": self.start,
            "count": self.count,
            "parts": [{name: getattr(part, name) for name in _PART} for part in self.parts],
        }
        return json.dumps(content, separators=(", ", ": ")) + "\n"

    def write(self, folder: Path, mark: str = "") -> None:
        """Write the file beside the part in ``folder``: from now on the piece counts."""
        write_atomically(folder / beside(self.start), self.to_json().encode(), mark)

    @classmethod
    def read(cls, path: Path) -> Piece:
        """From the file beside a part; raises OSError, or ValueError for what is none."""
        return cls.of_text(read_text(path, MOST_BYTES), path.name)

    @classmethod
    def of_text(cls, text: str, name: str) -> Piece:
        """From the text of a file of this name; raises ValueError for what is none."""
        try:
            content = json.loads(text)
            piece = cls(
                content["plan"],
                content["start"],
                content["count"],
                tuple(Part(**part) for part in content["parts"]),
            )
        except (TypeError, KeyError, RecursionError):
            raise ValueError(_TORN) from None
        if piece.to_json() != text or not _is_sound(piece, name):
            raise ValueError(_TORN)
        return piece


def beside(start: int) -> str:
    """The name of the file beside the part that begins at an index.

    >>> beside(262144)
    'part-000000262144.json'
    """
    return name_of(start).replace(".parquet", ".json")


def _is_sound(piece: Piece, name: str) -> bool:
    numbers = [piece.start, piece.count]
    for part in piece.parts:
        numbers += [part.start, part.rows, part.size]
        # A name from a file must not lead out of the folder.
        if part.name != name_of(piece.start) or part.start != piece.start:
            return False
        if not isinstance(part.sha256, str) or len(part.sha256) != 64:
            return False
    whole = all(type(n) is int and 0 <= n < 2**63 for n in numbers)
    return whole and piece.count > 0 and bool(piece.parts) and name == beside(piece.start)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a file of a run: ``kind`` in a word, ``words`` in some more."""

    kind: str
    path: Path
    words: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.kind}: {self.path}: {self.words}"


Known = dict[str, tuple[tuple[int, ...], Piece]]
"""Files that were read already, by name: what tells them from others, and their pieces."""


def find_pieces(
    folder: Path, plan: str, first: int, count: int, known: Known | None = None
) -> tuple[tuple[Piece, ...], list[Fault]]:
    """The pieces of a folder of parts, in order, of a plan with this digest and range; and faults.

    A fault is what stands beside a part and is torn, of another plan, outside the plan's range, or
    overlaps the one before it. The parts themselves are not looked at. Files in ``known`` that are
    the same still are not read again; it gets those that are.
    """
    pieces: list[Piece] = []
    faults = []
    end = first
    names = os.listdir(folder) if folder.is_dir() else ()  # noqa: PTH208 (twice as fast)
    for name in sorted(each for each in names if each.endswith(".json")):
        try:
            piece = _found(f"{folder}/{name}", name, known)
        except (OSError, ValueError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else _TORN
            faults.append(Fault("torn", folder / name, reason))
            continue
        if piece.plan != plan:
            faults.append(Fault("foreign", folder / name, "belongs to another plan"))
        elif piece.start < first or piece.end > first + count:
            faults.append(Fault("foreign", folder / name, "lies outside the plan"))
        elif piece.start < end:
            faults.append(Fault("duplicated", folder / name, "overlaps the part before it"))
        else:
            end = piece.end
            pieces.append(piece)
    return tuple(pieces), faults


def _found(path: str, name: str, known: Known | None) -> Piece:
    """The piece of a file, read unless it is known; paths as text are several times as quick."""
    told = os.stat(path)  # noqa: PTH116
    if not stat.S_ISREG(told.st_mode) or told.st_size > MOST_BYTES:
        return Piece.read(Path(path))  # which says why not
    what = (told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
    if known is not None and name in known and known[name][0] == what:
        return known[name][1]
    with open(path, "rb") as file:  # noqa: PTH123
        content = file.read(MOST_BYTES)
    piece = Piece.of_text(content.decode(), name)
    if known is not None:
        known[name] = what, piece
    return piece


def once_more(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """All pieces whose content stands under another name, too: rows hold their index, so one lies.

    >>> part = Part("x", 0, 1, 1, "aa")
    >>> [piece.start for piece in once_more([Piece("", n, 1, (part,)) for n in (0, 1)])]
    [0, 1]
    """
    held = list(pieces)
    counts = Counter(piece.parts[0].sha256 for piece in held)
    return (piece for piece in held if counts[piece.parts[0].sha256] > 1)


_TORN = "is torn, or not as milsim writes it"


def gaps(first: int, count: int, pieces: Iterable[Piece]) -> Iterator[tuple[int, int]]:
    """The ranges (start, count) that pieces, in order, leave of a plan's range.

    >>> list(gaps(0, 10, [Piece("", 2, 3, ()), Piece("", 5, 1, ())]))
    [(0, 2), (6, 4)]
    """
    at = first
    for piece in pieces:
        if piece.start > at:
            yield at, piece.start - at
        at = piece.end
    if at < first + count:
        yield at, first + count - at


def covered(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """The ranges (start, count) that pieces, in order, cover, neighbours joined.

    >>> list(covered([Piece("", 2, 3, ()), Piece("", 5, 1, ()), Piece("", 9, 1, ())]))
    [(2, 4), (9, 1)]
    """
    start = end = None
    for piece in pieces:
        if start is None or piece.start != end:
            if start is not None and end is not None:
                yield start, end - start
            start = piece.start
        end = piece.end
    if start is not None and end is not None:
        yield start, end - start


def spans_of(pieces: Sequence[Piece]) -> str:
    """The indices that pieces cover, for people.

    >>> spans_of([Piece("", 0, 3, ()), Piece("", 5, 1, ())])
    '0–2, 5'
    >>> spans_of([])
    'none yet'
    """
    ranges = list(covered(pieces))
    if not ranges:
        return "none yet"
    shown = [
        f"{start}" if count == 1 else f"{start}–{start + count - 1}" for start, count in ranges[:3]
    ]
    return ", ".join(shown) + (f" and {len(ranges) - 3:,} ranges more" if ranges[3:] else "")


__all__ = [
    "Fault",
    "Known",
    "Piece",
    "beside",
    "covered",
    "find_pieces",
    "gaps",
    "once_more",
    "spans_of",
]
