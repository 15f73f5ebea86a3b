"""JSON of issues, comments and timelines."""

from __future__ import annotations

from typing import Any

from bot.sandbox.ids import node_id
from bot.sandbox.links import Links, maybe, stamp
from bot.sandbox.roles import association
from bot.sandbox.shapes_account import Json, app, author, label, repo, rollup, user
from bot.sandbox.state import Comment, Issue, TimelineEvent


def _assigned(links: Links, issue: Issue) -> Json:
    people = [user(links, account) for account in issue.assignees]
    return {"assignee": people[0] if people else None, "assignees": people}


def common(links: Links, issue: Issue) -> Json:
    """What issues and pull requests have in common."""
    return {
        "node_id": node_id("PR" if issue.pull else "I", issue.id),
        "number": issue.number,
        "state": issue.state,
        "title": issue.title,
        "body": issue.body,
        "user": author(links, issue.user),
        "labels": [label(links, one, issue.repo) for one in issue.labels],
        **_assigned(links, issue),
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "created_at": stamp(issue.created_at),
        "updated_at": stamp(issue.updated_at),
        "closed_at": maybe(issue.closed_at),
        "author_association": association(issue.repo, issue.user),
    }


def issue(links: Links, record: Issue, *, with_repo: bool = False) -> Json:
    """`issue`."""
    url = links.repo(record.repo, f"/issues/{record.number}")
    told = {
        "id": record.id,
        "url": url,
        "repository_url": links.repo(record.repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": links.issue_page(record),
        **common(links, record),
        "state_reason": record.state_reason,
        "comments": len(record.comments),
        "closed_by": user(links, record.closed_by) if record.closed_by else None,
        "reactions": rollup(url, record.reactions),
        "performed_via_github_app": _via(links, record.user),
    }
    if record.pull:
        told |= {"draft": record.pull.draft, "pull_request": _pull_half(links, record)}
    if with_repo:
        told["repository"] = repo(links, record.repo)
    return told


def hook_issue(links: Links, record: Issue) -> Json:
    """An issue as webhooks carry it: without who closed it."""
    return {name: value for name, value in issue(links, record).items() if name != "closed_by"}


def _via(links: Links, account: Any) -> Json | None:
    return app(links, account.app) if account.app else None


def _pull_half(links: Links, record: Issue) -> Json:
    page = links.issue_page(record)
    return {
        "url": links.repo(record.repo, f"/pulls/{record.number}"),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": maybe(record.pull.merged_at) if record.pull else None,
    }


def comment(links: Links, record: Comment) -> Json:
    """`issue-comment`."""
    url = links.repo(record.issue.repo, f"/issues/comments/{record.id}")
    return {
        "id": record.id,
        "node_id": node_id("IC", record.id),
        "url": url,
        "html_url": links.comment_page(record),
        "issue_url": links.repo(record.issue.repo, f"/issues/{record.issue.number}"),
        "body": record.body,
        "user": author(links, record.user),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "author_association": association(record.issue.repo, record.user),
        "reactions": rollup(url, record.reactions),
        "performed_via_github_app": _via(links, record.user),
    }


def timeline_comment(links: Links, record: Comment) -> Json:
    """A comment as an entry of a timeline."""
    return {**comment(links, record), "event": "commented", "actor": user(links, record.user)}


def timeline_event(links: Links, where: Issue, record: TimelineEvent) -> Json:
    """Any other entry of a timeline."""
    if record.event == "cross-referenced":
        return _cross_reference(links, record)
    told: Json = {
        "id": record.id,
        "node_id": node_id("EV", record.id),
        "url": links.repo(where.repo, f"/issues/events/{record.id}"),
        "event": record.event,
        "actor": user(links, record.actor),
        "commit_id": record.detail.get("commit_id"),
        "commit_url": None,
        "created_at": stamp(record.created_at),
        "performed_via_github_app": _via(links, record.actor),
    }
    if "reviewer" in record.detail:
        told["review_requester"] = user(links, record.actor)
        told["requested_reviewer"] = user(links, record.detail["reviewer"])
    if "label" in record.detail:
        told["label"] = {"name": record.detail["label"].name, "color": record.detail["label"].color}
    if record.event in {"closed", "reopened"}:
        told["state_reason"] = record.detail.get("state_reason")
    if "rename" in record.detail:
        told["rename"] = record.detail["rename"]
    return told


def _cross_reference(links: Links, record: TimelineEvent) -> Json:
    return {
        "event": record.event,
        "actor": user(links, record.actor),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
        "source": {"type": "issue", "issue": issue(links, record.detail["source"], with_repo=True)},
    }
