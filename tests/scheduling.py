"""In which order tests go to the test processes: what takes long goes first, what shares a fixture stays together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadScopeScheduling

FIRST = (
    "tests/flows/test_killed.py",
    "tests/flows/",
    "tests/chaos/",
    "tests/browser/",
    "tests/studies/test_running.py",
    "tests/conformance/",
    "tests/attack/",
    "tests/goldens/synth/",
    "tests/deploy/",
    "tests/judging/",
    "tests/pages/test_site.py",
    "tests/bot/",
)
"""Whole runs mostly wait, so something else has to be there beside them; what is quick fills the end."""

APART = (
    "tests/flows/",
    "tests/attack/",
    "tests/goldens/synth/",
    "tests/studies/test_running.py",
    "tests/bot/test_cli.py",
)
"""Where each test is slow enough, and alone enough, to go to a process of its own; elsewhere a file stays together."""

TOGETHER = ("tests/flows/test_asked.py", "tests/flows/test_commands_run.py", "tests/flows/test_finished.py")
"""Whole runs that the tests of a file share."""

FOLDERS = ("tests/conformance/",)
"""Folders whose files share what takes long to make."""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out files, or single tests where these are slow, in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """What is handed out together with a test."""
    for folder in FOLDERS:
        if nodeid.startswith(folder):
            return folder
    alone = nodeid.startswith(APART) and not nodeid.startswith(TOGETHER)
    return nodeid if alone else nodeid.partition("::")[0]


def order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Slowest kinds first, otherwise as they were.

    Of the whole runs those that are compared with the undisturbed one come last: while one process makes that, the
    others would only wait for it.
    """
    return sorted(items, key=_place)


def _place(item: pytest.Item) -> tuple[int, bool]:
    kind = next((at for at, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))
    return kind, "reference" in getattr(item, "fixturenames", ())
