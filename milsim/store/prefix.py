"""The deals of a run from the first on, without gaps, and the rule that may end it there.

A rule is asked at checkpoints alone: the ends of parts, in order from the first, with all deals
before them. So where it holds is a function of the rows, and a run that several threads, shards or
machines played ends where one that was played deal by deal does. Rows behind it are not kept.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right, insort
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from milsim.errors import RunError
from milsim.simulation.engine import chunk_ranges
from milsim.simulation.plan import Plan
from milsim.store.ending import COUNTED_NAME, Counted, Ending, counted_of
from milsim.store.engines import Making
from milsim.store.parts import source_of
from milsim.store.pieces import Piece

_AT_ONCE = 256
_KEPT = 64
_PART = re.compile(r"part-(\d{12,19})\.(json|parquet)", re.ASCII)


class Prefix:
    """What is stored of a run with a rule, from its first deal to the first that is missing.

    ``ending`` is where the run ends, or None if that is not known yet.
    """

    def __init__(self, making: Making[Any], folder: Path, pieces: Sequence[Piece]) -> None:
        """From the pieces of a run folder, in order; nothing is read before :meth:`look`."""
        plan = making.plan
        if not isinstance(plan, Plan) or plan.stop is None:
            raise AssertionError("a plan without a rule")
        self.plan, self.rule = plan, plan.stop
        self.run, self.folder = folder, (folder / making.folders[0]).resolve()
        self.pieces = {piece.start: piece for piece in pieces}
        self.starts = sorted(self.pieces)
        self.spans = chunk_ranges(making.first, making.count, making.part)
        self.span = next(self.spans, None)
        self.deals = self.made = 0
        self.ending: Ending | None = None
        self.first, self.end, self.part = making.first, making.first + making.count, making.part
        self._read: tuple[Piece, pl.DataFrame] | None = None
        self._counted: dict[int, int] = {}
        self._kept = 0

    def go_on(self) -> None:
        """Begin where it was counted up to before, if the parts before are the same still."""
        said = counted_of(self.run)
        if (
            said is None
            or (said.plan, said.checkpoint) != (self.plan.digest(), self.part)
            or not self.first < said.end < self.end
            or said.end % self.part
            or said.parts != self._digest(said.end)
        ):
            return
        self.deals, self.made = said.end - self.first, said.made
        self.spans = chunk_ranges(said.end, self.end - said.end, self.part)
        self.span = next(self.spans, None)
        self._kept = self.deals

    def keep(self, *, now: bool = True) -> None:
        """Write down how far it was counted, so that it need not be again; or only now and then."""
        least = 1 if now else max(_KEPT * self.part, self.deals // 8)
        if self.ending is not None or self.deals - self._kept < least:
            return
        end = self.first + self.deals
        parts = self._digest(end)
        if parts is not None:
            Counted(self.plan.digest(), self.part, end, self.made, parts).write(self.run)
            self._kept = self.deals

    def _digest(self, end: int) -> str | None:
        """The digest of the parts up to an index; None if they do not cover just that."""
        told = hashlib.sha256()
        at = self.first
        for start in self.starts:
            if at >= end or start != at:
                break
            piece = self.pieces[start]
            told.update(f"{start} {piece.count} {piece.parts[0].sha256}\n".encode())
            at = piece.end
        return told.hexdigest() if at == end else None

    def take(self, piece: Piece) -> Ending | None:
        """A piece more that is stored; where the run ends with it, if it does."""
        if piece.start not in self.pieces:
            insort(self.starts, piece.start)
        self.pieces[piece.start] = piece
        self._counted.pop(piece.start // self.part, None)
        return self.look()

    def look(self) -> Ending | None:
        """Go from checkpoint to checkpoint as far as there are deals, or until the rule holds."""
        while self.ending is None and self.span is not None:
            made = self._made(*self.span)
            if made is None:
                return None
            self.deals += self.span[1]
            self.made += made
            end = sum(self.span)
            self.span = next(self.spans, None)
            held = self.rule.holds(self.deals, self.made)
            if held or self.span is None:
                self.ending = Ending(self.plan.digest(), end, self.deals, self.made, held)
        return self.ending

    def _made(self, start: int, count: int) -> int | None:
        """Contracts made in a range; None if it is not all there."""
        piece = self.pieces.get(start)
        if piece is not None and self._is_whole(piece):
            self._count_from(start)
            counted = self._counted.get(start // self.part)
            if counted is not None:
                return counted
        at, made = start, 0
        while at < start + count:
            place = bisect_right(self.starts, at) - 1
            piece = self.pieces[self.starts[place]] if place >= 0 else None
            if piece is None or piece.end <= at:
                return None
            until = min(piece.end, start + count)
            inside = pl.col("index").is_between(at, until, closed="left")
            made += int(self._rows(piece).filter(inside)["made"].sum())
            at = until
        return made

    def _is_whole(self, piece: Piece) -> bool:
        """Whether a piece begins and ends at checkpoints, or with the plan."""
        begins = piece.start == self.first or piece.start % self.part == 0
        return begins and (piece.end == self.end or piece.end % self.part == 0)

    def _count_from(self, start: int) -> None:
        """Count the contracts made of this piece and many behind it at once: that is far faster."""
        if start // self.part in self._counted:
            return
        place = bisect_right(self.starts, start) - 1
        some = [self.pieces[each] for each in self.starts[place : place + _AT_ONCE]]
        some = [each for each in some if self._is_whole(each)]
        paths = [source_of(self.folder / each.parts[0].name) for each in some]
        if not all(isinstance(path, Path) for path in paths):
            return
        checkpoint = (pl.col("index") // self.part).alias("checkpoint")
        made = pl.col("made").sum()
        try:
            scanned = pl.scan_parquet(paths, glob=False)  # type: ignore[arg-type]
            rows = scanned.group_by(checkpoint).agg(made).collect()
        except (pl.exceptions.PolarsError, OSError):
            return  # one by one, so that the file that cannot be read is named
        self._counted.update(rows.iter_rows())

    def _rows(self, piece: Piece) -> pl.DataFrame:
        if self._read is None or self._read[0] != piece:
            path = self.folder / piece.parts[0].name
            try:
                rows = pl.read_parquet(source_of(path), columns=["index", "made"], glob=False)
            except (pl.exceptions.PolarsError, OSError) as error:
                reason = " ".join(str(error).split())[:100]
                raise RunError(f"part {path}: cannot be read, {reason}") from None
            self._read = piece, rows
        return self._read[1]


def settle(making: Making[Any], folder: Path, ending: Ending) -> None:
    """End a run: take away its parts behind the end, then write down where that is."""
    for place in making.folders:
        behind = [
            (found[2], path)
            for path in (folder / place).iterdir()
            if (found := _PART.fullmatch(path.name)) and int(found[1]) >= ending.end
        ]
        # First what stands beside a part: without it the part does not count.
        for _, path in sorted(behind):
            path.unlink(missing_ok=True)
    (folder / COUNTED_NAME).unlink(missing_ok=True)
    ending.write(folder)


def apply_rule(making: Making[Any], folder: Path, pieces: Sequence[Piece]) -> Ending | None:
    """Where a run ends whose pieces are these, if they tell; it is cut there."""
    ending = Prefix(making, folder, pieces).look()
    if ending is not None:
        settle(making, folder, ending)
    return ending


__all__ = ["Prefix", "apply_rule", "settle"]
