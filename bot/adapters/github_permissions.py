"""What the App may do, by step: each step's tokens are narrowed to this. `app.yml` asks for what stands here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Step(StrEnum):
    """What a token is for."""

    LOOK = "look"
    """Read one repository: its conversation, checks, files."""
    TALK = "talk"
    """Comment, open issues and pull requests, ask for reviews, in one repository."""
    CHECK = "check"
    """Write check runs, in one repository."""
    PUSH = "push"
    """Push commits and write files, in one repository."""
    ADMINISTER = "administer"
    """Archive, delete or hide one repository."""
    CREATE = "create"
    """Make and find repositories: of the whole account, because a narrowed token never sees one made after it."""
    CENSUS = "census"
    """See which Apps an organisation has: of the whole account."""


_USES: Mapping[Step, Mapping[str, tuple[str, ...]]] = {
    Step.LOOK: {
        "checks:read": (
            "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
            "GET /repos/{owner}/{repo}/check-runs/{run_id}/annotations",
        ),
        "contents:read": (
            "GET /repos/{owner}/{repo}/contents/{path}",
            "GET /repos/{owner}/{repo}/branches",
            "GET /repos/{owner}/{repo}/commits/{ref}",
        ),
        "issues:read": (
            "GET /repos/{owner}/{repo}/issues",
            "GET /repos/{owner}/{repo}/issues/{number}",
            "GET /repos/{owner}/{repo}/issues/comments",
            "GET /repos/{owner}/{repo}/issues/{number}/comments",
            "GET /repos/{owner}/{repo}/issues/{number}/reactions",
            "GET /repos/{owner}/{repo}/issues/{number}/timeline",
            "GET /repos/{owner}/{repo}/labels/{name}",
        ),
        "metadata:read": ("GET /repos/{owner}/{repo}/collaborators/{username}/permission",),
        "pull_requests:read": (
            "GET /repos/{owner}/{repo}/pulls",
            "GET /repos/{owner}/{repo}/pulls/{number}",
            "GET /repos/{owner}/{repo}/pulls/{number}/comments",
            "GET /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
            "GET /repos/{owner}/{repo}/pulls/{number}/reviews",
        ),
        "statuses:read": ("GET /repos/{owner}/{repo}/commits/{ref}/status",),
    },
    Step.TALK: {
        "issues:write": (
            "POST /repos/{owner}/{repo}/issues",
            "POST /repos/{owner}/{repo}/issues/{number}/comments",
            "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
            "POST /repos/{owner}/{repo}/labels",
        ),
        "pull_requests:write": (
            "POST /repos/{owner}/{repo}/pulls",
            "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
        ),
    },
    Step.CHECK: {
        "checks:write": (
            "POST /repos/{owner}/{repo}/check-runs",
            "PATCH /repos/{owner}/{repo}/check-runs/{run_id}",
        )
    },
    Step.PUSH: {"contents:write": ("PUT /repos/{owner}/{repo}/contents/{path}", "git push")},
    Step.ADMINISTER: {
        "administration:write": ("PATCH /repos/{owner}/{repo}", "DELETE /repos/{owner}/{repo}"),
    },
    Step.CREATE: {
        "administration:write": ("POST /orgs/{org}/repos",),
        "metadata:read": ("GET /repos/{owner}/{repo}",),
    },
    Step.CENSUS: {"organization_administration:read": ("GET /orgs/{org}/installations",)},
}

USES: Mapping[Step, Mapping[str, tuple[str, ...]]] = MappingProxyType(_USES)
"""Step -> `permission:access` -> the calls that need it."""

OPTIONAL = frozenset({"organization_administration"})
"""Without these the App works: what they would tell is then said to be unknown."""

WITH_WORKFLOWS: Mapping[Step, Mapping[str, str]] = MappingProxyType({Step.PUSH: {"workflows": "write"}})
"""What comes on top where an operator grants it: reviewers that are Actions then get their workflow file."""

_LEVELS = ("read", "write")


def of_step(step: Step) -> dict[str, str]:
    """The permissions of a step's token, as GitHub's token request takes them."""
    return {name: access for name, _, access in (use.partition(":") for use in USES[step])}


def needed() -> dict[str, str]:
    """Every permission that some step needs, with the most access that one needs, by name."""
    found: dict[str, str] = {}
    for step in Step:
        for name, access in of_step(step).items():
            found[name] = max(found.get(name, access), access, key=_LEVELS.index)
    return dict(sorted(found.items()))
