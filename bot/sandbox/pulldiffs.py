"""What a pull request changes: the diff from the merge base to the head."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from bot.sandbox import gitstore
from bot.sandbox.diffs import FileDiff, parse
from bot.sandbox.state import Pull

Json = dict[str, Any]


@lru_cache(maxsize=256)
def _three_dot(path: Path, base: str, head: str) -> tuple[str, str]:
    start = gitstore.merge_base(path, base, head) or base
    return start, gitstore.diff(path, start, head)


def diff_text(pull: Pull) -> str:
    """From the merge base to the head, as GitHub shows it."""
    return _three_dot(pull.issue.repo.path, pull.base_sha, pull.head_sha)[1]


def merge_base(pull: Pull) -> str:
    """Where the head left the base."""
    return _three_dot(pull.issue.repo.path, pull.base_sha, pull.head_sha)[0]


@lru_cache(maxsize=256)
def _files(path: Path, base: str, head: str) -> tuple[FileDiff, ...]:
    return tuple(parse(_three_dot(path, base, head)[1]))


def files(pull: Pull) -> Sequence[FileDiff]:
    """The changed files."""
    return _files(pull.issue.repo.path, pull.base_sha, pull.head_sha)


def size_of(pull: Pull) -> Json:
    """How much it changes."""
    changed = files(pull)
    return {
        "commits": gitstore.count(pull.issue.repo.path, merge_base(pull), pull.head_sha),
        "additions": sum(file.additions for file in changed),
        "deletions": sum(file.deletions for file in changed),
        "changed_files": len(changed),
    }
