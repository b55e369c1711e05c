"""Perft: the golden counts are those of the reference, and can be made anew by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from milsim.reference import perft
from tests.perft_files import (
    PerftCase,
    perft_cases,
    perft_files,
    read_block,
    read_perft,
    with_counts,
)

CHECKED_UP_TO = 1500  # sequences: deeper counts are for faster engines


@pytest.mark.parametrize("case", perft_cases(), ids=lambda case: case.name)
def test_reference_counts_what_the_files_say(case: PerftCase, update_golden: bool) -> None:
    if update_golden:
        pytest.skip("the files are being written anew")
    assert len(case.counts) == case.depth
    start = case.position()
    for depth, count in enumerate(case.counts, 1):
        if count <= CHECKED_UP_TO:
            assert perft(start, depth) == count


@pytest.mark.parametrize("path", perft_files(), ids=lambda path: path.stem)
def test_files_are_as_written(path: Path, update_golden: bool) -> None:
    """With --update-golden: counts every position to its depth, which takes minutes."""
    text = path.read_text("utf-8")
    cases = read_perft(text)
    counts = {case.name: case.counts for case in cases}
    if update_golden:
        counts = {
            case.name: tuple(perft(case.position(), depth) for depth in range(1, case.depth + 1))
            for case in cases
        }
        path.write_text(with_counts(text, counts), "utf-8")
    else:
        assert text == with_counts(text, counts)


def test_names_are_unique_and_many() -> None:
    names = [case.name for case in perft_cases()]
    assert len(set(names)) == len(names) >= 12


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["position a", "rules mil"], "no hands, leader"),
        (["position a", "colour red"], "colour red"),
        (["position a", "position b"], "position b"),
    ],
)
def test_wrong_blocks(lines: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_block(lines)
