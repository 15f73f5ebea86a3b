"""Bytes and headers in, one `Event`, `Ignored` or `Rejected` out: the only place that knows webhook JSON.

The signature is checked over the raw bytes before anything is read, because re-serialised JSON is other bytes and
an unsigned body is anybody's. Fields are read one by one and leniently: GitHub adds, nulls and drops fields, so
nothing but what an `Event` needs may make a delivery unreadable. Nothing here raises on any input.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import pydantic_core

from bot.model import (
    Actor,
    ButtonPressed,
    Event,
    Ignored,
    Installed,
    IssueCommented,
    IssueEdited,
    IssueOpened,
    PullActivity,
    Pushed,
    Rejected,
    RepoName,
)

EVENTS: tuple[str, ...] = (
    "check_run",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "status",
)
"""What the App subscribes to. `installation` is always delivered and must not be listed."""

GHOST = Actor("ghost", "User")
"""Stands where GitHub sends no user: the account was deleted. It may never start anything."""

MAX_BODY = 25 * 1024 * 1024
"""GitHub delivers nothing larger."""

_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}", re.ASCII)
_GUID = re.compile(r"[0-9a-f][0-9a-f-]{0,63}", re.ASCII)
_OWNER = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
_LOGIN = re.compile(r"[A-Za-z0-9._-]{1,100}(?:\[bot\])?", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_ACTION = re.compile(r"[a-z_]{1,40}", re.ASCII)
_IDENTIFIER = re.compile(r"[a-z-]{1,20}", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_ID = 2**63 - 1

Parsed = Event | Ignored | Rejected


def verify(secrets: Sequence[bytes], body: bytes, signature: str | None) -> bool:
    """Whether `signature` is the `X-Hub-Signature-256` of these bytes under one of the secrets.

    All secrets are tried whatever comes out, so that the time tells nothing; two are in use while one is rotated.
    An empty secret never matches: it would let everybody in.
    """
    if signature is None or not _SIGNATURE.fullmatch(signature):
        return False
    given = signature.encode("ascii")
    matches = [hmac.compare_digest(_signature(secret, body), given) for secret in secrets if secret]
    return any(matches)


def delivery_id(headers: Mapping[str, str]) -> str | None:
    """The delivery's GUID, lower-case; None where it is missing or not one.

    A redelivery carries the same GUID, so it is the durable id of the work.
    """
    guid = (_header(headers, "X-GitHub-Delivery") or "").strip().lower()
    return guid if _GUID.fullmatch(guid) else None


def parse(headers: Mapping[str, str], body: bytes, *, secrets: Sequence[bytes], app_id: int, app_slug: str) -> Parsed:
    """Verify, then read one delivery. Never raises."""
    refused = _refusal(headers, body, secrets, app_id)
    if refused is not None:
        return refused
    name = (_header(headers, "X-GitHub-Event") or "").strip()
    if not name:
        return Rejected(400, "the X-GitHub-Event header is missing")
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(f"{_cut(name)} is not an event we use")
    payload = _decode(headers, body)
    if isinstance(payload, Rejected):
        return payload
    return _read(_Fields(payload), reader, app_slug)


def read(event: str, payload: Mapping[str, Any], *, app_slug: str) -> Parsed:
    """Read a payload of which it is known that GitHub made it. Never raises."""
    reader = _READERS.get(event)
    if reader is None:
        return Ignored(f"{_cut(event)} is not an event we use")
    return _read(_Fields(payload), reader, app_slug)


def _signature(secret: bytes, body: bytes) -> bytes:
    return b"sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest().encode("ascii")


def _header(headers: Mapping[str, str], name: str) -> str | None:
    wanted = name.lower()
    if wanted in headers:
        return headers[wanted]
    return next((value for key, value in headers.items() if key.lower() == wanted), None)


def _refusal(headers: Mapping[str, str], body: bytes, secrets: Sequence[bytes], app_id: int) -> Rejected | None:
    if len(body) > MAX_BODY:
        return Rejected(413, f"the body is larger than {MAX_BODY} bytes")
    if not verify(secrets, body, _header(headers, "X-Hub-Signature-256")):
        return Rejected(401, "the signature is missing or does not match")
    target = _header(headers, "X-GitHub-Hook-Installation-Target-ID")
    if target is not None and target.strip() != str(app_id):
        return Rejected(403, "the delivery is for another App or for a repository's own webhook")
    return None


def _decode(headers: Mapping[str, str], body: bytes) -> dict[str, Any] | Rejected:
    if "x-www-form-urlencoded" in (_header(headers, "Content-Type") or "").lower():
        return Rejected(400, "the webhook sends forms; set its content type to application/json")
    try:
        payload = _json(body)
    except RecursionError:
        return Rejected(400, "the body is nested too deeply")
    except ValueError:
        return Rejected(400, "the body is not JSON")
    return payload if isinstance(payload, dict) else Rejected(400, "the body is not a JSON object")


def _json(body: bytes) -> Any:
    try:
        return pydantic_core.from_json(body, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        # Half the time, but stricter: it takes no half of a surrogate pair, which people's texts do have.
        return json.loads(body, parse_constant=_not_json)


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _read(fields: _Fields, reader: Callable[[_Fields, str], Parsed], app_slug: str) -> Parsed:
    own = f"{app_slug}[bot]".lower()
    sender = fields.actor("sender")
    if sender is not None and sender.login.lower() == own:
        return Ignored("our own event")
    action = fields.text("action")
    try:
        return reader(fields, action if _ACTION.fullmatch(action) else "")
    except _UnreadableError as problem:
        return Rejected(400, str(problem))


class _UnreadableError(Exception):
    """A field that the event cannot do without is missing or of the wrong kind."""


class _Fields:
    """One JSON object read by dotted paths; a null or a value of another kind on the way is a missing field."""

    def __init__(self, payload: Mapping[str, Any]) -> None:
        self._payload = payload

    def get(self, path: str) -> object:
        found: object = self._payload
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def text(self, path: str) -> str:
        """The text there, without what no database stores; empty where there is none."""
        found = self.get(path)
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", found) if isinstance(found, str) else ""

    def number(self, path: str) -> int | None:
        found = self.get(path)
        whole = isinstance(found, int) and not isinstance(found, bool)
        return found if whole and isinstance(found, int) and 0 < found <= _MAX_ID else None

    def needed(self, path: str) -> int:
        found = self.number(path)
        if found is None:
            raise _UnreadableError(f"{path} is missing or not a positive whole number")
        return found

    def actor(self, path: str) -> Actor | None:
        """The user there; None for null, which is how GitHub shows a deleted account."""
        login = self.text(f"{path}.login")
        if not _LOGIN.fullmatch(login):
            return None
        kind = self.text(f"{path}.type")
        return Actor(login, kind if kind.isalpha() and len(kind) <= 20 else _kind(login))

    def repo(self) -> RepoName:
        owner, _, name = self.text("repository.full_name").partition("/")
        owner, name = owner or self.text("repository.owner.login"), name or self.text("repository.name")
        if not (_OWNER.fullmatch(owner) and _NAME.fullmatch(name)) or name in (".", ".."):
            raise _UnreadableError("repository.full_name is missing or not owner/name")
        return RepoName(owner, name)

    def sha(self, path: str) -> str | None:
        found = self.text(path)
        return found if _SHA.fullmatch(found) else None

    def has(self, path: str) -> bool:
        return self.get(path) is not None


def _kind(login: str) -> str:
    return "Bot" if login.endswith("[bot]") else "User"


def _cut(text: str) -> str:
    return repr(text[:40])


_NO_INSTALLATION = Ignored("not sent for an installation of the App")


_NOT_OURS = {
    "closed": "a closed issue changes nothing: its run goes on, and can still be commanded",
    "reopened": "a reopened issue changes nothing: its run is what it was",
    "deleted": "the issue is gone: its run goes on, and nobody is left to tell",
    "transferred": "the issue was transferred: the people of its new place are not asked, and its run goes on",
}


def _issues(fields: _Fields, action: str) -> Parsed:
    if action not in ("opened", "edited"):
        return Ignored(_NOT_OURS.get(action, "only an issue's opening and its text are of use"))
    if fields.has("issue.pull_request"):
        return Ignored("the issue is a pull request")
    if action == "edited" and not fields.has("changes.body"):
        return Ignored("the issue's text is what it was")
    if not fields.has("installation.id"):
        return _NO_INSTALLATION
    return _opened(fields) if action == "opened" else _edited(fields)


def _opened(fields: _Fields) -> Parsed:
    return IssueOpened(
        installation=fields.needed("installation.id"),
        repo=fields.repo(),
        issue=fields.needed("issue.number"),
        issue_id=fields.needed("issue.id"),
        title=fields.text("issue.title"),
        body=fields.text("issue.body"),
        author=fields.actor("issue.user") or GHOST,
        sender=fields.actor("sender") or GHOST,
    )


def _edited(fields: _Fields) -> Parsed:
    return IssueEdited(
        installation=fields.needed("installation.id"),
        repo=fields.repo(),
        issue=fields.needed("issue.number"),
        issue_id=fields.needed("issue.id"),
        body=fields.text("issue.body"),
        sender=fields.actor("sender") or GHOST,
    )


def _issue_comment(fields: _Fields, action: str) -> Parsed:
    if fields.has("issue.pull_request"):
        number = fields.number("issue.number")
        return _activity(fields, "issue_comment", action, ("created", "edited", "deleted"), number, None)
    if action != "created":
        return Ignored("only a new comment is a command")
    if not fields.has("installation.id"):
        return _NO_INSTALLATION
    return IssueCommented(
        installation=fields.needed("installation.id"),
        repo=fields.repo(),
        issue=fields.needed("issue.number"),
        issue_id=fields.needed("issue.id"),
        comment_id=fields.needed("comment.id"),
        body=fields.text("comment.body"),
        sender=fields.actor("sender") or GHOST,
    )


def _pull_reader(event: str, *actions: str) -> Callable[[_Fields, str], Parsed]:
    def read(fields: _Fields, action: str) -> Parsed:
        number = fields.number("pull_request.number") or fields.number("number")
        return _activity(fields, event, action, actions, number, fields.sha("pull_request.head.sha"))

    return read


def _check_run(fields: _Fields, action: str) -> Parsed:
    if action == "requested_action":
        return _button(fields)
    pulls = fields.get("check_run.pull_requests")
    only = pulls[0] if isinstance(pulls, list) and len(pulls) == 1 and isinstance(pulls[0], dict) else {}
    number = _Fields(only).number("number")
    sha = fields.sha("check_run.head_sha")
    return _activity(fields, "check_run", action, ("created", "completed"), number, sha)


def _button(fields: _Fields) -> Parsed:
    if not fields.has("installation.id"):
        return _NO_INSTALLATION
    identifier = fields.text("requested_action.identifier")
    if not _IDENTIFIER.fullmatch(identifier):
        return Ignored("the button is none of ours")
    sha = fields.sha("check_run.head_sha")
    if sha is None:
        raise _UnreadableError("check_run.head_sha is missing or not a commit")
    return ButtonPressed(
        installation=fields.needed("installation.id"),
        repo=fields.repo(),
        check=fields.needed("check_run.id"),
        head_sha=sha,
        identifier=identifier,
        sender=fields.actor("sender") or GHOST,
    )


def _status(fields: _Fields, _action: str) -> Parsed:
    state = fields.text("state")
    return _activity(fields, "status", state, ("error", "failure", "pending", "success"), None, fields.sha("sha"))


def _push(fields: _Fields, _action: str) -> Parsed:
    branch = fields.text("repository.default_branch")
    sha = fields.sha("after")
    if not branch or fields.text("ref") != f"refs/heads/{branch}":
        return Ignored("only a push to the default branch is of use")
    if fields.get("deleted") is True or sha is None or not sha.strip("0"):
        return Ignored("the branch is gone")
    if not fields.has("installation.id"):
        return _NO_INSTALLATION
    return Pushed(fields.needed("installation.id"), fields.repo(), sha, fields.actor("sender") or GHOST)


def _activity(
    fields: _Fields, event: str, action: str, used: Sequence[str], pull: int | None, head_sha: str | None
) -> Parsed:
    if action not in used:
        return Ignored(f"{event} is of use only when {', '.join(used)}")
    if not fields.has("installation.id"):
        return _NO_INSTALLATION
    if pull is None and head_sha is None:
        raise _UnreadableError(f"{event} names neither a pull request nor a commit")
    return PullActivity(
        installation=fields.needed("installation.id"),
        repo=fields.repo(),
        pull=pull,
        head_sha=head_sha,
        sender=fields.actor("sender"),
        what=f"{event}.{action}",
    )


def _installation(fields: _Fields, action: str) -> Parsed:
    if action != "created":
        return Ignored("only a new installation is of use")
    account = fields.text("installation.account.login")
    if not _LOGIN.fullmatch(account):
        raise _UnreadableError("installation.account.login is missing or not a login")
    number = fields.needed("installation.id")
    return Installed(installation=number, account=account, sender=fields.actor("sender") or GHOST)


_READERS: Mapping[str, Callable[[_Fields, str], Parsed]] = {
    "check_run": _check_run,
    "installation": _installation,
    "issue_comment": _issue_comment,
    "issues": _issues,
    "pull_request": _pull_reader("pull_request", "opened", "synchronize", "closed", "reopened", "edited"),
    "pull_request_review": _pull_reader("pull_request_review", "submitted", "edited", "dismissed"),
    "pull_request_review_comment": _pull_reader("pull_request_review_comment", "created", "edited", "deleted"),
    "push": _push,
    "status": _status,
}
