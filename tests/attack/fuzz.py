"""Fuzz one reader with atheris, guided by coverage: `python -m tests.attack.fuzz NAME --seconds 60`.

`all` takes the readers in turns. What made one fail is written to `crash-*` in the folder given with `--keep`, and
`--again FILE` runs such a file once more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-untyped,unused-ignore]

with atheris.instrument_imports(include=["bot", "goldens", "scoring"]):
    from tests.attack import seeds
    from tests.attack.targets import TARGETS

NAMES = tuple(TARGETS)


def one(name: str, data: bytes) -> None:
    """Give an input to a reader, or to the one that its first byte names."""
    if name == "all":
        if not data:
            return
        name, data = NAMES[data[0] % len(NAMES)], data[1:]
    TARGETS[name].run(data)


def write_corpus(folder: Path, name: str) -> None:
    """Put the inputs to begin with, and the words alone, where the fuzzer looks for them."""
    for number, known in enumerate(NAMES):
        if name in ("all", known):
            mark = bytes([number]) if name == "all" else b""
            for seed in (*TARGETS[known].begin(), *TARGETS[known].words):
                (folder / seeds.digest(mark + seed)).write_bytes(mark + seed)


def main() -> None:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=[*NAMES, "all"])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, help="Stop after so many inputs.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="A folder that keeps what was found interesting.")
    parser.add_argument("--keep", type=Path, default=Path(), help="Where inputs that failed are written.")
    parser.add_argument("--again", type=Path, help="Run this input once more, and nothing else.")
    asked = parser.parse_args()
    if asked.again:
        return one(asked.name, asked.again.read_bytes())
    with tempfile.TemporaryDirectory(prefix="corpus-") as scratch:
        folder = asked.corpus or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        write_corpus(folder, asked.name)
        limits = [f"-max_total_time={asked.seconds}", *([f"-runs={asked.runs}"] if asked.runs else [])]
        flags = ["-timeout=20", "-rss_limit_mb=4096", "-max_len=60000", f"-seed={asked.seed}", "-verbosity=0"]
        keep = f"-artifact_prefix={asked.keep.resolve()}/"
        atheris.Setup([sys.argv[0], *limits, *flags, keep, str(folder)], lambda data: one(asked.name, data))
        # It ends the process itself.
        atheris.Fuzz()


if __name__ == "__main__":
    main()
