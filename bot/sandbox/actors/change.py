"""What an actor reads of a fork: the changed files at head, and which of their lines are new."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from bot.model import Raw
from bot.reviewers.child import is_plain
from bot.reviewers.finding import Finding
from bot.reviewers.patch import Patch, PatchError, read_patch
from bot.sandbox.actors.api import Api, Refused
from bot.sandbox.actors.jobs import Job


@dataclass(frozen=True, slots=True)
class Change:
    """The part of a pull request that an analyser can read."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """Path -> content at head, for changed files of the wanted languages."""
    patches: Mapping[str, Patch] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """Files of the wanted languages that could not be read; for these the actor may not say that they are fine."""

    @property
    def touched(self) -> bool:
        """Whether there is any file of the wanted languages."""
        return bool(self.files or self.unread)


def read_change(api: Api, job: Job, suffixes: tuple[str, ...]) -> Change:
    """The changed files with one of the suffixes, at the job's head."""
    files: dict[str, bytes] = {}
    patches: dict[str, Patch] = {}
    unread: list[str] = []
    for row in sorted(api.files(job.repo, job.pull), key=lambda row: str(row["filename"])):
        path = str(row["filename"])
        if row["status"] == "removed" or PurePosixPath(path).suffix not in suffixes:
            continue
        patch = _patch(row)
        content = _content(api, job, path) if patch is not None else None
        if patch is None or content is None:
            unread.append(path)
        else:
            files[path], patches[path] = content, patch
    return Change(files, patches, tuple(unread))


def _patch(row: Raw) -> Patch | None:
    """The file's patch. GitHub leaves it out of files that are too large, and of those that were only renamed."""
    if row.get("patch") is None:
        return Patch() if row["changes"] == 0 else None
    try:
        return read_patch(row["patch"])
    except PatchError:
        return None


def _content(api: Api, job: Job, path: str) -> bytes | None:
    if not is_plain(path):
        return None
    try:
        row = api.contents(job.repo, path, job.head)
    except Refused:
        return None
    if row.get("type") != "file" or row.get("encoding") != "base64":
        return None
    return base64.b64decode(row["content"])


def remark(finding: Finding, patch: Patch, body: Callable[[Finding], str]) -> dict[str, Any]:
    """An inline comment where GitHub accepts it: on the whole range if one hunk shows it, else on the first line."""
    place: dict[str, Any] = {"path": finding.path, "body": body(finding), "line": finding.line, "side": "RIGHT"}
    if finding.end_line > finding.line and patch.shows(finding.line, finding.end_line):
        place |= {"start_line": finding.line, "start_side": "RIGHT", "line": finding.end_line}
    return place
