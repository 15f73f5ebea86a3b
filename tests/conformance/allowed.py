"""Where answers and webhooks of the sandbox differ from GitHub's description on purpose: GitHub itself does too.

Requests have no such list. An entry that nothing needs any more fails the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

Where = tuple[str, str, str]
"""(operation or webhook, place, problem)."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """One kind of difference. All three are shell patterns."""

    name: str
    """The operation or the webhook."""
    where: str
    problem: str
    reason: str

    def covers(self, name: str, where: str, problem: str) -> bool:
        """Whether this is that difference."""
        pairs = ((name, self.name), (where, self.where), (problem, self.problem))
        return all(fnmatchcase(text, pattern) for text, pattern in pairs)


def beyond(found: Sequence[Where], allowed: Sequence[Allowed]) -> list[Where]:
    """The differences that nothing allows."""
    return [one for one in found if not any(entry.covers(*one) for entry in allowed)]


def unused(found: Sequence[Where], allowed: Sequence[Allowed]) -> list[str]:
    """The allowances that nothing needs."""
    return [f"{entry.name} {entry.where}" for entry in allowed if not any(entry.covers(*one) for one in found)]


NULL = "type: None *"
UNDECLARED = "undeclared field"

ANSWERS = (
    Allowed(
        "GET /app/installations",
        "200/*/account",
        "required: *",
        "the list wants an account to be a user and an enterprise at once; the single installation says either",
    ),
    Allowed(
        "GET /app/installations",
        "200/*/account/user_view_type",
        UNDECLARED,
        "the list has a copy of the user of its own, from before this field; every other operation declares it",
    ),
    Allowed(
        "GET /app/installations",
        "200/*/client_id",
        UNDECLARED,
        "the list has a copy of the installation of its own; the single installation declares this field",
    ),
    Allowed(
        "* /*",
        "4??/status",
        UNDECLARED,
        "GitHub repeats the status in the body of every refusal; `basic-error` declares it, the others were forgotten",
    ),
    Allowed(
        "GET /*",
        "status 304",
        "undocumented status",
        "every read with an ETag can be answered so, as the prose on conditional requests says; few operations list it",
    ),
    Allowed(
        "GET /repos/{owner}/{repo}/issues/{issue_number}/events",
        "200/*/state_reason",
        UNDECLARED,
        "closing and reopening carry it; the timeline declares it, the events were forgotten",
    ),
    Allowed(
        "* /repos/{owner}/{repo}/pulls*/comments*",
        "20?*/line",
        NULL,
        "null on outdated comments and on comments on a file, as the prose says; the schema has a plain integer",
    ),
    Allowed(
        "* /repos/{owner}/{repo}/pulls*/comments*",
        "20?*/original_line",
        NULL,
        "null on comments on a file",
    ),
    Allowed(
        "GET /repos/{owner}/{repo}/pulls*/comments*",
        "200*/position",
        NULL,
        "null on outdated comments; the field is on its way out, and its schema was never made nullable",
    ),
)

WEBHOOKS = (
    Allowed(
        "issues-*",
        "payload/issue/assignee*/user_view_type",
        UNDECLARED,
        "some of the many copies of a user in the description are from before this field",
    ),
    Allowed(
        "pull-request-review-edited",
        "payload/pull_request/*/repo/*",
        UNDECLARED,
        "this webhook's copy of a repository lacks two fields which those of the other webhooks have",
    ),
)

MODELS = (
    Allowed(
        "issues-*labeled",
        "payload",
        "*archived_*",
        "the models are of a later version of the API, in which labels can be archived",
    ),
)
