"""Rules of issues, comments, labels, reactions and timelines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from bot.sandbox import pulldiffs, shapes_account, shapes_issue, shapes_pull
from bot.sandbox.errors import ApiError, invalid, not_found
from bot.sandbox.ids import SHORT
from bot.sandbox.state import Account, Comment, Issue, Label, Reaction, Repo, TimelineEvent
from bot.sandbox.world import World

Json = dict[str, Any]
BODY_LIMIT = 65536
_REFERENCE = re.compile(
    r"(?:(?P<web>https?://[\w.:-]{1,80})/)?(?P<repo>[\w-]{1,39}/[\w.-]{1,100})(?:#|/(?:issues|pull)/)(?P<number>\d{1,9})"
    r"|(?<![\w/#&])#(?P<local>\d{1,9})\b"
)


def check_body(resource: str, body: str | None) -> None:
    """GitHub's length limit."""
    if body is not None and len(body) > BODY_LIMIT:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {BODY_LIMIT} characters)")


def find_issue(repo: Repo, number: int) -> Issue:
    """An issue or pull request by number."""
    found = repo.issues.get(number)
    if found is None:
        raise not_found()
    return found


def next_number(repo: Repo) -> int:
    """Issues and pull requests share one sequence."""
    return max(repo.issues, default=0) + 1


def open_issue(
    world: World,
    repo: Repo,
    author: Account,
    title: str,
    body: str | None,
    *,
    labels: Iterable[str] = (),
    assignees: Iterable[str] = (),
) -> Issue:
    """Open an issue."""
    check_body("Issue", body)
    number = next_number(repo)
    now = world.now()
    made = Issue(world.ids.of(SHORT, "issue", repo.full_name, number), repo, number, title, body, author, now, now)
    made.labels = _labels(world, repo, labels)
    made.assignees = [world.accounts[login.lower()] for login in assignees if login.lower() in world.accounts]
    repo.issues[number] = made
    refer(world, made, author, title, body)
    emit_issue(world, "opened", made, author)
    return made


def emit_issue(world: World, action: str, issue: Issue, sender: Account, **extra: Any) -> None:
    """Tell the Apps about an issue or, if it is one, a pull request."""
    if issue.pull:
        body = {"number": issue.number, "pull_request": pull_payload(world, issue), **extra}
        world.emit("pull_request", action, issue.repo, sender, body)
        return
    world.emit("issues", action, issue.repo, sender, {"issue": shapes_issue.hook_issue(world.links, issue), **extra})


def pull_payload(world: World, issue: Issue) -> Json:
    """A pull request as webhooks carry it."""
    assert issue.pull is not None
    return shapes_pull.full(world.links, issue.pull, pulldiffs.size_of(issue.pull))


def ensure_label(world: World, repo: Repo, name: str) -> Label:
    """The label of that name, made where it is missing."""
    key = name.lower()
    if key not in repo.labels:
        repo.labels[key] = Label(world.ids.of(SHORT, "label", repo.full_name, key), name)
    return repo.labels[key]


def _labels(world: World, repo: Repo, names: Iterable[str]) -> list[Label]:
    """Each label once, whatever its spelling."""
    return list({name.lower(): ensure_label(world, repo, name) for name in names}.values())


def add_event(world: World, issue: Issue, event: str, actor: Account, **detail: Any) -> None:
    """Write into the timeline."""
    number = world.ids.next("event", issue.repo.full_name, issue.number, actor.login)
    issue.events.append(TimelineEvent(number, event, actor, world.now(), detail))


def edit_issue(world: World, issue: Issue, editor: Account, *, title: str | None, body: str | None) -> None:
    """Change title or body; None leaves it."""
    check_body("Issue", body)
    changes: Json = {}
    if title is not None and title != issue.title:
        changes["title"] = {"from": issue.title}
        add_event(world, issue, "renamed", editor, rename={"from": issue.title, "to": title})
        issue.title = title
    if body is not None and body != issue.body:
        changes["body"] = {"from": issue.body or ""}
        issue.body = body
        refer(world, issue, editor, body)
    if changes:
        issue.updated_at = world.now()
        emit_issue(world, "edited", issue, editor, changes=changes)


def set_state(
    world: World, issue: Issue, actor: Account, state: Literal["open", "closed"], reason: str | None = None
) -> None:
    """Open or close."""
    if state == issue.state:
        return
    now = world.now()
    issue.state, issue.updated_at = state, now
    closing = state == "closed"
    issue.closed_at, issue.closed_by = (now, actor) if closing else (None, None)
    issue.state_reason = None if issue.pull else (reason or ("completed" if closing else "reopened"))
    action = "closed" if closing else "reopened"
    add_event(world, issue, action, actor, state_reason=issue.state_reason)
    emit_issue(world, action, issue, actor)


def set_labels(world: World, issue: Issue, actor: Account, names: Iterable[str]) -> None:
    """Make the labels exactly these."""
    wanted = _labels(world, issue.repo, names)
    before, issue.labels = issue.labels, wanted
    for change, records, other in (("labeled", wanted, before), ("unlabeled", before, wanted)):
        for record in records:
            if record not in other:
                add_event(world, issue, change, actor, label=record)
                told = shapes_account.label(world.links, record, issue.repo)
                emit_issue(world, change, issue, actor, label=told)
    issue.updated_at = world.now()


def comment(world: World, issue: Issue, author: Account, body: str) -> Comment:
    """Comment in the conversation."""
    check_body("IssueComment", body)
    now = world.now()
    number = world.ids.next("comment", issue.repo.full_name, issue.number, author.login)
    made = Comment(number, issue, author, body, now, now)
    issue.comments.append(made)
    issue.updated_at = now
    refer(world, issue, author, body)
    emit_comment(world, "created", made, author)
    return made


def emit_comment(world: World, action: str, comment: Comment, sender: Account, **extra: Any) -> None:
    """Tell the Apps about a comment."""
    body = {
        "issue": shapes_issue.hook_issue(world.links, comment.issue),
        "comment": shapes_issue.comment(world.links, comment),
        **extra,
    }
    world.emit("issue_comment", action, comment.issue.repo, sender, body)


def edit_comment(world: World, comment: Comment, editor: Account, body: str) -> None:
    """Rewrite a comment."""
    check_body("IssueComment", body)
    before, comment.body, comment.updated_at = comment.body, body, world.now()
    refer(world, comment.issue, editor, body)
    emit_comment(world, "edited", comment, editor, changes={"body": {"from": before}})


def delete_comment(world: World, comment: Comment, actor: Account) -> None:
    """Remove a comment."""
    comment.issue.comments.remove(comment)
    emit_comment(world, "deleted", comment, actor)


def find_comment(repo: Repo, number: int) -> Comment:
    """A comment by id."""
    found = (one for issue in repo.issues.values() for one in issue.comments if one.id == number)
    comment = next(found, None)
    if comment is None:
        raise not_found()
    return comment


def react(world: World, reactions: list[Reaction], user: Account, content: str, on: object) -> tuple[Reaction, bool]:
    """Add a reaction; the same one twice is one. Tells whether it is new."""
    if content not in shapes_account.EMOJI:
        raise ApiError(
            422, "Validation Failed", errors=[f"{content!r} is not one of {', '.join(shapes_account.EMOJI)}"]
        )
    for old in reactions:
        if old.user is user and old.content == content:
            return old, False
    made = Reaction(world.ids.next("reaction", on, user.login, content), user, content, world.now())
    reactions.append(made)
    return made, True


def refer(world: World, source: Issue, actor: Account, *texts: str | None) -> None:
    """Write `cross-referenced` into the timeline of every issue that a text names."""
    for text in texts:
        for found in _REFERENCE.finditer(text or ""):
            target = _target(world, source, found)
            if target is not None and target is not source and not _already(target, source):
                add_event(world, target, "cross-referenced", actor, source=source)


def _target(world: World, source: Issue, found: re.Match[str]) -> Issue | None:
    if found["local"]:
        return source.repo.issues.get(int(found["local"]))
    if found["web"] and found["web"] != world.links.web:
        return None
    repo = world.repos.get(found["repo"].lower())
    return repo.issues.get(int(found["number"])) if repo else None


def _already(target: Issue, source: Issue) -> bool:
    return any(one.event == "cross-referenced" and one.detail["source"] is source for one in target.events)


def timeline(world: World, issue: Issue) -> list[Json]:
    """Comments, reviews and events in the order of their time."""
    links = world.links
    rows = [(one.created_at, shapes_issue.timeline_comment(links, one)) for one in issue.comments]
    rows += [(one.created_at, shapes_issue.timeline_event(links, issue, one)) for one in issue.events]
    if issue.pull:
        done = (one for one in issue.pull.reviews if one.submitted_at)
        rows += [(one.submitted_at or issue.created_at, shapes_pull.timeline_review(links, one)) for one in done]
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]
