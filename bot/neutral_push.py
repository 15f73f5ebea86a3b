"""Why a remote refused us, and what to do about it: git's stderr -> `PushProblem`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_SAID_LIMIT: Final = 300
_SCANNED: Final = 64 * 1024


class PushKind(StrEnum):
    """What kind of refusal it was."""

    WORKFLOW_PERMISSION = "workflow_permission"
    PUSH_PROTECTION = "push_protection"
    RULE = "repository_rule"
    FILE_TOO_LARGE = "file_too_large"
    LFS = "lfs"
    HIDDEN_REF = "hidden_ref"
    SHALLOW = "shallow"
    READ_ONLY = "read_only"
    CONFLICT = "conflict"
    NOT_FOUND = "not_found"
    AUTH = "auth"
    NETWORK = "network"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PushProblem:
    """One refusal, explained. Nothing of it concerns the other forks of a run."""

    kind: PushKind
    message: str
    """What happened, where (as far as the remote said), and what to do."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later. A repository made a moment ago can be missing for a while."""
        return self.kind in (PushKind.NETWORK, PushKind.NOT_FOUND)


_RULES: Final[tuple[tuple[PushKind, str, str], ...]] = (
    (
        PushKind.WORKFLOW_PERMISSION,
        r"without [`'\"]?workflows?[`'\"]? (?:permission|scope)",
        "the token may not write workflow files: grant the App `workflows: write`, or remove .github/workflows from "
        "both the base and the head tree and record it",
    ),
    (
        PushKind.PUSH_PROTECTION,
        r"push cannot contain secrets|push protection",
        "the host found what looks like a secret: push while the repository is private and make it public afterwards, "
        "or leave the file out of the golden pull request",
    ),
    (
        PushKind.FILE_TOO_LARGE,
        r"exceeds GitHub'?s file size limit|\bGH001\b|exceeds maximum allowed size|exceeds the (?:maximum )?file size",
        "a file is over the host's size limit: skip this golden pull request (large-file storage is not copied)",
    ),
    (
        PushKind.LFS,
        r"\bGH008\b|unknown Git LFS objects",
        "a tree holds pointers to large files that are not in the fork's storage: skip this golden pull request",
    ),
    (
        PushKind.HIDDEN_REF,
        r"deny updating a hidden ref",
        "a ref of the host's own was pushed: push the fork's two branches only, never --mirror or --all",
    ),
    (
        PushKind.SHALLOW,
        r"shallow update not allowed",
        "a commit with cut-off history was pushed: push the fork's fresh root commits, or fetch the full history",
    ),
    (
        PushKind.READ_ONLY,
        r"archived so it is read-only|repository is read-only|has been locked",
        "the repository takes no pushes any more: unarchive it, or let the run make a new fork",
    ),
    (
        PushKind.RULE,
        r"\bGH0(?:06|13)\b|repository rule violations|protected branch hook declined|pre-receive hook declined",
        "a rule of the organisation forbids the push: exempt the App or the new repositories from it",
    ),
    (
        PushKind.CONFLICT,
        r"stale info|non-fast-forward|\(fetch first\)|reference already exists|cannot lock ref",
        "the branch is there already with other commits: it is not overwritten; use the next repository name",
    ),
    (
        PushKind.NOT_FOUND,
        r"repository not found|repository [`'\"].{0,300}?[`'\"] not found|does not appear to be a git repository"
        r"|returned error: 404|does not exist",
        "the repository is not there, or the token may not see it: a new one can need a moment; otherwise check that "
        "the App is installed on it",
    ),
    (
        PushKind.AUTH,
        r"authentication failed|could not read (?:username|password)|invalid (?:username|credentials)"
        r"|returned error: 40[13]|permission to \S{1,200} denied|write access to repository not granted|access denied",
        "the token was refused: it expired, was revoked, or lacks `contents: write` on this repository",
    ),
    (
        PushKind.NETWORK,
        r"could not resolve|connection (?:refused|reset|timed out|was reset)|failed to connect|timed? ?out|early eof"
        r"|rpc failed|unexpected disconnect|hung up|returned error: (?:5\d\d|429)|internal server error|empty reply"
        r"|\b(?:ssl|tls|gnutls)\b|couldn't connect|recv failure|operation too slow|curl \d{1,3}|protocol error",
        "the connection failed: try again",
    ),
)
_COMPILED: Final = tuple((kind, re.compile(pattern, re.IGNORECASE), advice) for kind, pattern, advice in _RULES)
_WHERE: Final = {
    PushKind.WORKFLOW_PERMISSION: re.compile(r"workflow [`'\"]([^`'\"\n]{1,300})[`'\"]"),
    PushKind.FILE_TOO_LARGE: re.compile(r"File (.{1,300}?) is \d"),
    PushKind.PUSH_PROTECTION: re.compile(r"(?:commit|path): ?([^\n]{1,300})"),
}


def _plain(text: str) -> str:
    """One line without control characters, cut."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _SAID_LIMIT else line[: _SAID_LIMIT - 1] + "…"


def _places(kind: PushKind, stderr: str) -> str:
    found = _WHERE[kind].findall(stderr) if kind in _WHERE else []
    return _plain(", ".join(dict.fromkeys(place.strip() for place in found[:10])))


def push_problem(stderr: str) -> PushProblem:
    """Classify what git printed when a remote refused a push, a fetch or a listing.

    The remote's words are hostile text: they are cut, stripped of control characters and only quoted.
    """
    scanned = stderr[:_SCANNED]
    for kind, pattern, advice in _COMPILED:
        if pattern.search(scanned):
            places = _places(kind, scanned)
            return PushProblem(kind, f"{advice} ({places})" if places else advice)
    said = _plain(scanned)
    return PushProblem(PushKind.UNKNOWN, f"git failed: {said}" if said else "git failed and said nothing")
