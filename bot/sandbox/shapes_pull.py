"""JSON of pull requests, reviews and inline comments."""

from __future__ import annotations

from bot.sandbox import shapes_issue
from bot.sandbox.ids import node_id
from bot.sandbox.links import Links, maybe, stamp
from bot.sandbox.roles import association
from bot.sandbox.shapes_account import Json, author, repo, rollup, user
from bot.sandbox.state import Account, Pull, Review, ReviewComment


def _end(links: Links, pull: Pull, ref: str, sha: str) -> Json:
    owner = pull.issue.repo.owner
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(links, owner),
        "repo": repo(links, pull.issue.repo),
    }


def _links(links: Links, pull: Pull) -> dict[str, str]:
    number = pull.issue.number
    of = pull.issue.repo
    return {
        "self": links.repo(of, f"/pulls/{number}"),
        "html": links.issue_page(pull.issue),
        "issue": links.repo(of, f"/issues/{number}"),
        "comments": links.repo(of, f"/issues/{number}/comments"),
        "review_comments": links.repo(of, f"/pulls/{number}/comments"),
        "review_comment": links.repo(of, "/pulls/comments{/number}"),
        "commits": links.repo(of, f"/pulls/{number}/commits"),
        "statuses": links.repo(of, f"/statuses/{pull.head_sha}"),
    }


def simple(links: Links, pull: Pull) -> Json:
    """`pull-request-simple`."""
    targets = _links(links, pull)
    page = targets["html"]
    return {
        "id": pull.id,
        "url": targets["self"],
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        **{f"{name}_url": target for name, target in targets.items() if name not in {"self", "html"}},
        **shapes_issue.common(links, pull.issue),
        "merged_at": maybe(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha,
        "requested_reviewers": [user(links, account) for account in pull.requested],
        "requested_teams": [],
        "head": _end(links, pull, pull.head_ref, pull.head_sha),
        "base": _end(links, pull, pull.base_ref, pull.base_sha),
        "_links": {name: {"href": target} for name, target in targets.items()},
        "auto_merge": None,
        "draft": pull.draft,
    }


def full(links: Links, pull: Pull, size: Json) -> Json:
    """`pull-request`; `size` holds commits, additions, deletions and changed_files."""
    return {
        **simple(links, pull),
        "merged": pull.merged_at is not None,
        "mergeable": True if pull.issue.state == "open" else None,
        "rebaseable": True if pull.issue.state == "open" else None,
        "mergeable_state": "clean" if pull.issue.state == "open" else "unknown",
        "merged_by": None,
        "comments": len(pull.issue.comments),
        "review_comments": len([one for one in pull.review_comments if one.review.state != "PENDING"]),
        "maintainer_can_modify": pull.maintainer_can_modify,
        **size,
    }


def minimal(links: Links, pull: Pull) -> Json:
    """`pull-request-minimal`, as check runs carry it."""
    of = pull.issue.repo
    inner = {"id": of.id, "url": links.repo(of), "name": of.name}
    return {
        "id": pull.id,
        "number": pull.issue.number,
        "url": links.repo(of, f"/pulls/{pull.issue.number}"),
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": inner},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": inner},
    }


def review(links: Links, record: Review) -> Json:
    """`pull-request-review`."""
    issue = record.pull.issue
    page = links.review_page(record)
    url = links.repo(issue.repo, f"/pulls/{issue.number}")
    told: Json = {
        "id": record.id,
        "node_id": node_id("PRR", record.id),
        "user": author(links, record.user),
        "body": record.body,
        "state": record.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": association(issue.repo, record.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": record.commit_id,
    }
    if record.submitted_at is not None:
        told["submitted_at"] = stamp(record.submitted_at)
    return told


def review_comment(links: Links, record: ReviewComment) -> Json:
    """`pull-request-review-comment`."""
    issue = record.review.pull.issue
    url = links.repo(issue.repo, f"/pulls/comments/{record.id}")
    page = links.review_comment_page(record)
    pull_url = links.repo(issue.repo, f"/pulls/{issue.number}")
    told: Json = {
        "id": record.id,
        "node_id": node_id("PRRC", record.id),
        "url": url,
        "html_url": page,
        "pull_request_url": pull_url,
        "pull_request_review_id": record.review.id,
        "path": record.path,
        "diff_hunk": record.diff_hunk,
        "commit_id": record.commit_id,
        "original_commit_id": record.original_commit_id,
        "user": author(links, record.user),
        "body": record.body,
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "author_association": association(issue.repo, record.user),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": rollup(url, record.reactions),
        **_place(record),
    }
    if record.in_reply_to:
        told["in_reply_to_id"] = record.in_reply_to.id
    return told


def _place(record: ReviewComment) -> Json:
    now, then = record.now, record.original
    of_file = record.subject_type == "file"
    return {
        "line": now.line,
        "original_line": then.line,
        "start_line": now.start_line,
        "original_start_line": then.start_line,
        "side": then.side or "RIGHT",
        "start_side": then.start_side,
        "position": 1 if of_file else now.position,
        "original_position": 1 if of_file else then.position,
        "subject_type": record.subject_type,
    }


def requested(links: Links, accounts: list[Account]) -> Json:
    """`pull-request-review-request`."""
    return {"users": [user(links, account) for account in accounts], "teams": []}


def timeline_review(links: Links, record: Review) -> Json:
    """A review as an entry of a timeline."""
    return {**review(links, record), "state": record.state.lower(), "event": "reviewed"}
