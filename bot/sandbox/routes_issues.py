"""Routes of issues, their comments, labels, reactions and timelines."""

from __future__ import annotations

from bot.sandbox import conversation, shapes_account, shapes_issue
from bot.sandbox.errors import forbidden, invalid, unreadable
from bot.sandbox.roles import at_least, role_of
from bot.sandbox.routing import Answer, Call, changed_since, created, page, route, sorted_by
from bot.sandbox.state import Account, Comment, Issue, Reaction

_READ = "issues:read|pull_requests:read"
_WRITE = "issues:write|pull_requests:write"


def may_edit(call: Call, author: Account) -> None:
    """Authors edit what is theirs; others need push access.

    Raises:
        ApiError: 403.
    """
    own = author is call.actor
    if call.caller.installation is None and not own and not at_least(role_of(call.repo, call.actor), "write"):
        raise forbidden("Must have push access to view or edit this resource.")


def _pushes(call: Call) -> bool:
    return call.caller.installation is not None or at_least(role_of(call.repo, call.actor), "triage")


def _issue(call: Call) -> Issue:
    return conversation.find_issue(call.repo, call.params["number"])


@route("POST", "/repos/<owner>/<repo>/issues", "issues:write")
def create_issue(call: Call) -> Answer:
    """A new issue. Labels and assignees of people without push access are dropped in silence."""
    title, body = call.text("title", resource="Issue"), call.optional_text("body")
    labels, people = (call.names("labels"), call.names("assignees")) if _pushes(call) else ([], [])
    made = conversation.open_issue(call.world, call.repo, call.actor, title, body, labels=labels, assignees=people)
    return created(shapes_issue.issue(call.links, made))


@route("GET", "/repos/<owner>/<repo>/issues", _READ)
def list_issues(call: Call) -> Answer:
    """Issues and pull requests."""
    state = call.choice("state", "open", "closed", "all")
    labels = {name.lower() for name in call.query.get("labels", "").split(",") if name}
    creator = call.query.get("creator", "").lower()
    found = [
        issue
        for issue in call.repo.issues.values()
        if state in {"all", issue.state}
        and labels <= {label.name.lower() for label in issue.labels}
        and creator in {"", issue.user.login.lower()}
    ]
    ordered = sorted_by(
        call,
        changed_since(call, found, lambda issue: issue.updated_at),
        {
            "created": lambda issue: (issue.created_at, issue.number),
            "updated": lambda issue: (issue.updated_at, issue.number),
            "comments": lambda issue: (len(issue.comments), issue.number),
        },
    )
    return page(call, ordered, lambda issue: shapes_issue.issue(call.links, issue))


@route("GET", "/repos/<owner>/<repo>/issues/<int:number>", _READ)
def get_issue(call: Call) -> Answer:
    """One issue or pull request."""
    return Answer(shapes_issue.issue(call.links, _issue(call)))


@route("PATCH", "/repos/<owner>/<repo>/issues/<int:number>", _WRITE)
def edit_issue(call: Call) -> Answer:
    """Change it, close it, reopen it, label it."""
    issue = _issue(call)
    may_edit(call, issue.user)
    conversation.edit_issue(
        call.world, issue, call.actor, title=call.optional_text("title"), body=call.optional_text("body")
    )
    if "labels" in call.body and _pushes(call):
        conversation.set_labels(call.world, issue, call.actor, call.names("labels"))
    change_state(call, issue)
    return Answer(shapes_issue.issue(call.links, issue))


def change_state(call: Call, issue: Issue) -> None:
    """Apply `state` of the body."""
    state = call.optional_text("state")
    if state is None:
        return
    if state not in {"open", "closed"}:
        raise invalid("Issue", "state")
    reason = call.optional_text("state_reason")
    conversation.set_state(call.world, issue, call.actor, "closed" if state == "closed" else "open", reason)


@route("GET", "/repos/<owner>/<repo>/issues/<int:number>/timeline", _READ)
def get_timeline(call: Call) -> Answer:
    """Everything that happened, in order."""
    return page(call, conversation.timeline(call.world, _issue(call)), lambda row: row)


@route("GET", "/repos/<owner>/<repo>/issues/<int:number>/events", _READ)
def get_events(call: Call) -> Answer:
    """What happened apart from comments and references."""
    issue = _issue(call)
    shown = [event for event in issue.events if event.event != "cross-referenced"]
    return page(call, shown, lambda event: shapes_issue.timeline_event(call.links, issue, event))


# --- labels -----------------------------------------------------------------------------------------------------


def _labels(call: Call, issue: Issue) -> Answer:
    return page(call, issue.labels, lambda one: shapes_account.label(call.links, one, call.repo))


@route("GET", "/repos/<owner>/<repo>/issues/<int:number>/labels", _READ)
def issue_labels(call: Call) -> Answer:
    """Its labels."""
    return _labels(call, _issue(call))


@route("POST", "/repos/<owner>/<repo>/issues/<int:number>/labels", _WRITE, role="triage", bare="labels")
def add_labels(call: Call) -> Answer:
    """More labels."""
    issue = _issue(call)
    have = [label.name for label in issue.labels]
    conversation.set_labels(call.world, issue, call.actor, [*have, *call.names("labels")])
    return _labels(call, issue)


@route("DELETE", "/repos/<owner>/<repo>/issues/<int:number>/labels/<name>", _WRITE, role="triage")
def remove_label(call: Call) -> Answer:
    """One label less."""
    issue = _issue(call)
    keep = [label.name for label in issue.labels if label.name.lower() != call.params["name"].lower()]
    if len(keep) == len(issue.labels):
        raise invalid("Label", "name", "missing")
    conversation.set_labels(call.world, issue, call.actor, keep)
    return _labels(call, issue)


# --- comments ---------------------------------------------------------------------------------------------------


def _comment(call: Call) -> Comment:
    return conversation.find_comment(call.repo, call.params["comment_id"])


@route("POST", "/repos/<owner>/<repo>/issues/<int:number>/comments", _WRITE)
def create_comment(call: Call) -> Answer:
    """Comment."""
    body = call.text("body", resource="IssueComment")
    made = conversation.comment(call.world, _issue(call), call.actor, body)
    return created(shapes_issue.comment(call.links, made))


@route("GET", "/repos/<owner>/<repo>/issues/<int:number>/comments", _READ)
def list_comments(call: Call) -> Answer:
    """The conversation, oldest first."""
    found = changed_since(call, _issue(call).comments, lambda one: one.updated_at)
    return page(call, found, lambda one: shapes_issue.comment(call.links, one))


@route("GET", "/repos/<owner>/<repo>/issues/comments", _READ)
def list_all_comments(call: Call) -> Answer:
    """Every comment of the repository."""
    every = [one for issue in call.repo.issues.values() for one in issue.comments]
    keys = {"created": lambda one: one.created_at, "updated": lambda one: one.updated_at}
    found = changed_since(call, every, lambda one: one.updated_at)
    ordered = sorted_by(call, found, keys, default_direction="asc")
    return page(call, ordered, lambda one: shapes_issue.comment(call.links, one))


@route("GET", "/repos/<owner>/<repo>/issues/comments/<int:comment_id>", _READ)
def get_comment(call: Call) -> Answer:
    """One comment."""
    return Answer(shapes_issue.comment(call.links, _comment(call)))


@route("PATCH", "/repos/<owner>/<repo>/issues/comments/<int:comment_id>", _WRITE)
def edit_comment(call: Call) -> Answer:
    """Rewrite it."""
    comment = _comment(call)
    may_edit(call, comment.user)
    conversation.edit_comment(call.world, comment, call.actor, call.text("body", resource="IssueComment"))
    return Answer(shapes_issue.comment(call.links, comment))


@route("DELETE", "/repos/<owner>/<repo>/issues/comments/<int:comment_id>", _WRITE)
def delete_comment(call: Call) -> Answer:
    """Remove it."""
    comment = _comment(call)
    may_edit(call, comment.user)
    conversation.delete_comment(call.world, comment, call.actor)
    return Answer(status=204)


# --- reactions --------------------------------------------------------------------------------------------------


def react(call: Call, reactions: list[Reaction], on: object) -> Answer:
    """201 for a new reaction, 200 for one that was there."""
    content = call.optional_text("content")
    if content is None:
        raise unreadable('"content" wasn\'t supplied.')
    made, new = conversation.react(call.world, reactions, call.actor, content, on)
    return Answer(shapes_account.reaction(call.links, made), 201 if new else 200)


def list_reactions(call: Call, reactions: list[Reaction]) -> Answer:
    """The reactions on something."""
    wanted = call.query.get("content")
    found = [one for one in reactions if wanted in {None, one.content}]
    return page(call, found, lambda one: shapes_account.reaction(call.links, one))


@route("GET", "/repos/<owner>/<repo>/issues/<int:number>/reactions", _READ)
def issue_reactions(call: Call) -> Answer:
    """On an issue."""
    return list_reactions(call, _issue(call).reactions)


@route("POST", "/repos/<owner>/<repo>/issues/<int:number>/reactions", _WRITE)
def react_to_issue(call: Call) -> Answer:
    """On an issue."""
    return react(call, _issue(call).reactions, _issue(call).id)


@route("GET", "/repos/<owner>/<repo>/issues/comments/<int:comment_id>/reactions", _READ)
def comment_reactions(call: Call) -> Answer:
    """On a comment."""
    return list_reactions(call, _comment(call).reactions)


@route("POST", "/repos/<owner>/<repo>/issues/comments/<int:comment_id>/reactions", _WRITE)
def react_to_comment(call: Call) -> Answer:
    """On a comment."""
    return react(call, _comment(call).reactions, _comment(call).id)
