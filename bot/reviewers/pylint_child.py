"""The child process that runs Pylint on code nobody trusts. Run as a script in the tree to check.

While Pylint reads a file it puts that file's directory first on `sys.path`, so a module it imports late could come from
the tree and would be executed. No module is ever loaded from below the current directory here.
"""

from __future__ import annotations

import sys
from importlib.abc import PathEntryFinder
from pathlib import Path


class _Nothing(PathEntryFinder):
    """Finds no module."""

    def find_spec(self, fullname: str, target: object = None) -> None:
        """There is nothing to load here."""
        return


def _refuse_tree(tree: Path) -> None:
    """Keep the import system out of `tree`."""

    def hook(entry: str) -> PathEntryFinder:
        if Path(entry or ".").resolve().is_relative_to(tree):
            return _Nothing()
        raise ImportError(entry)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


if __name__ == "__main__":
    _refuse_tree(Path.cwd().resolve())
    from pylint import run_pylint

    run_pylint(sys.argv[1:])
