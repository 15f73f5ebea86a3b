"""Diffs of golden pull requests whose files ship with the package."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from bot.pages.diffing import between
from goldens.load import load_suite, suite_names
from goldens.model import GitPin, GoldenPull
from scoring.model import PullId, SuiteRef


def shipped(suite: SuiteRef, pull: PullId) -> str | None:
    """The diff, if the installed suite is the very one; None otherwise, or where its files do not ship."""
    found = _pulls(suite.id).get((suite.hash, pull))
    return None if found is None else diff_of(found)


def diff_of(pull: GoldenPull) -> str | None:
    """The diff of a golden pull request; None where its trees lie in an upstream repository."""
    if isinstance(pull.source, GitPin):
        return None
    base, head = pull.source
    return between(base.files, head.files)


@functools.lru_cache(maxsize=16)
def _pulls(name: str) -> Mapping[tuple[str, PullId], GoldenPull]:
    """What ships does not change while the process runs."""
    if name not in suite_names():
        return {}
    suite = load_suite(name)
    return {(suite.ref.hash, pull.id): pull for pull in suite.pulls}
