"""`python -m tests.mutation.again`: mutants that survived `mutmut run`, each once more in a process of its own.

mutmut forks after the tests have imported everything, so a mutant of a function that runs at import cannot act there
and is called a survivor whatever the tests hold. Here it acts. Give a pattern (`bot.neutral*`) for some of them.
"""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MUTANTS = Path("mutants")
_SURVIVED = 0
_LIMIT_SECONDS = 300


def survivors() -> Iterator[str]:
    """The names of all mutants that the last runs did not notice."""
    for path in sorted(MUTANTS.rglob("*.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        yield from (name for name, code in codes.items() if code == _SURVIVED)


def files_for(mutant: str) -> tuple[str, ...]:
    """The test files that reach the mutant's module."""
    stats = json.loads((MUTANTS / "mutmut-stats.json").read_text(encoding="utf-8"))
    module = f"{mutant.rpartition('.')[0]}."
    reached = stats["tests_by_mangled_function_name"].items()
    return tuple(
        sorted({test.partition("::")[0] for name, tests in reached if name.startswith(module) for test in tests})
    )


@cache
def passes(files: tuple[str, ...], mutant: str) -> bool:
    """Whether the tests pass while the mutant, if any, stands in for the original."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
    done = subprocess.run(
        [*command, "--rootdir=.", *files],
        cwd=MUTANTS,
        env={**os.environ, "MUTANT_UNDER_TEST": mutant, "PY_IGNORE_IMPORTMISMATCH": "1"},
        capture_output=True,
        timeout=_LIMIT_SECONDS,
        check=False,
    )
    return done.returncode == 0


def main(patterns: list[str]) -> None:
    """Print a line for each survivor: whether it is noticed after all."""
    for mutant in survivors():
        if patterns and not any(fnmatch.fnmatch(mutant, pattern) for pattern in patterns):
            continue
        files = files_for(mutant)
        if not passes(files, ""):
            sys.exit(f"the tests fail without any mutant: {' '.join(files)}")
        sys.stdout.write(f"{mutant}: {'survived' if passes(files, mutant) else 'noticed at import'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
