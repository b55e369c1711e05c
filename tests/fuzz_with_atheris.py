"""The parsers of text, fuzzed by their coverage: ``python -m tests.fuzz_with_atheris SECONDS``.

It needs atheris, which milsim does not depend on: install it beside milsim into an environment of
your own. pytest does not collect this file. Inputs begin as the examples of `tests.fuzzing`, each
behind a byte that chooses its parser. What is found is printed once a kind, and the search goes on;
at the end libFuzzer says how many inputs it ran. docs/reliability.md has the last figures.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

INSTRUMENTED = [
    "csv", "json.decoder", "tomllib", "milsim.cards", "milsim.cli.options", "milsim.cli.running",
    "milsim.deals", "milsim.errors", "milsim.files", "milsim.policies.spec",
    "milsim.position.text", "milsim.position.value", "milsim.reports.bias_table",
    "milsim.rules", "milsim.simulation.grid", "milsim.simulation.match_plan",
    "milsim.simulation.plan", "milsim.simulation.stopping", "milsim.solver.many",
    "milsim.store.ending", "milsim.store.manifest", "milsim.store.pieces", "milsim.tables.folder",
    "milsim.tables.compact", "milsim.tables.corrections", "milsim.tables.plan",
    "milsim.tables.sample_plan", "milsim.where",
]  # fmt: skip
"""Modules that read text."""
MOST_LETTERS = 4096


def fuzz(seconds: int) -> None:
    """Run all parsers in turn, as libFuzzer chooses, for so many seconds."""
    try:
        import atheris  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        sys.exit("atheris is not installed: nothing was fuzzed")
    # Kernels must be compiled before: numba does not know what atheris makes of them.
    with tempfile.TemporaryDirectory() as folder:
        compiled = "import sys, pathlib; from tests import fuzzing; "
        compiled += "fuzzing.targets(pathlib.Path(sys.argv[1]))"
        subprocess.run([sys.executable, "-c", compiled, folder], check=True)
    with atheris.instrument_imports(include=INSTRUMENTED):
        from tests import fuzzing
    from milsim.errors import MilsimError

    scratch = Path(tempfile.mkdtemp())
    parsers = list(fuzzing.targets(scratch).items())
    corpus = scratch / "corpus"
    corpus.mkdir()
    for place, (_, target) in enumerate(parsers):
        for number, example in enumerate(target.examples):
            content = bytes([place]) + example.encode()[:MOST_LETTERS]
            (corpus / f"{place}-{number}").write_bytes(content)
    found: set[Any] = set()

    def one(data: bytes) -> None:
        if not data:
            return
        name, target = parsers[data[0] % len(parsers)]
        text = data[1:].decode("utf-8", "surrogateescape")
        try:
            target.read(text)
        except Exception as error:
            if isinstance(error, MilsimError) and is_one_line(error):
                return
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = (name, type(error), last.filename, last.lineno)
            if kind not in found:
                found.add(kind)
                print(f"FOUND {len(found)}: {name}: {text[:300]!r}", file=sys.stderr)
                traceback.print_exc()

    options = [f"-max_total_time={seconds}", f"-max_len={MOST_LETTERS}", "-timeout=30"]
    atheris.Setup([sys.argv[0], str(corpus), *options], one)
    atheris.Fuzz()


def is_one_line(error: Exception) -> bool:
    """Whether a message is as it should be."""
    return "\n" not in str(error) and 0 < len(str(error)) < 1500


if __name__ == "__main__":
    fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
