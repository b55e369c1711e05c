"""What tests of folders compare: every byte of every file."""

from __future__ import annotations

from pathlib import Path


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All files by name: also hidden ones, so that nothing is left behind."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
