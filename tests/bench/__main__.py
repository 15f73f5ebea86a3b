"""Run the benchmarks and print one Markdown table.

    python -m tests.bench [NAME...]

Each module `bench_NAME.py` here with `run() -> list[Row]` is one. All run in one process, one after another, so that
their figures can be compared. A limit that is exceeded is marked and fails nothing: a busy machine is no defect. Only a
benchmark that crashes, or a name that is none, ends with an error.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.table import Row, markdown

HERE = Path(__file__).parent


def known() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def measure(names: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for name in names:
        sys.stderr.write(f"measuring {name}\n")
        rows += importlib.import_module(f"tests.bench.bench_{name}").run()
    return rows


def main(arguments: Sequence[str]) -> int:
    if wrong := [name for name in arguments if name not in known()]:
        sys.stderr.write(f"no benchmark is called {', '.join(wrong)}; there are {', '.join(known())}\n")
        return 2
    sys.stdout.write(markdown(measure(arguments or known())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
