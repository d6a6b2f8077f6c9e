"""Let Atheris look for bytes that crash one of our readers: `fuzz_coverage.py KIND [LIBFUZZER'S OPTIONS]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
with atheris.instrument_imports(include=["tfgitops", "ruamel"]):
    from bytereaders import Readers, seeds


def main() -> None:
    """Start from the committed files of a kind; libFuzzer keeps what reaches new branches, and what crashes."""
    kind = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(Path(folder))
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, data in enumerate(seeds(kind)):
            (corpus / str(number)).write_bytes(data)
        atheris.Setup([*sys.argv, str(corpus)], lambda data: readers.read(kind, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
