"""JSON of check runs, suites, statuses, commits and files."""

from __future__ import annotations

from bot.sandbox import shapes_pull
from bot.sandbox.diffs import FileDiff
from bot.sandbox.gitstore import Commit
from bot.sandbox.ids import node_id
from bot.sandbox.links import Links, maybe, stamp
from bot.sandbox.shapes_account import Json, app, minimal_repo, user
from bot.sandbox.state import CheckRun, CheckSuite, Pull, Repo, Status


def pulls_at(repo: Repo, sha: str) -> list[Pull]:
    """The open pull requests whose head this is."""
    pulls = [issue.pull for issue in repo.issues.values() if issue.pull and issue.state == "open"]
    return [pull for pull in pulls if pull.head_sha == sha]


def check_run(links: Links, record: CheckRun) -> Json:
    """`check-run`."""
    repo = record.suite.repo
    url = links.repo(repo, f"/check-runs/{record.id}")
    return {
        "id": record.id,
        "node_id": node_id("CR", record.id),
        "name": record.name,
        "head_sha": record.suite.head_sha,
        "external_id": record.external_id,
        "url": url,
        "html_url": links.repo_page(repo, f"/runs/{record.id}"),
        "details_url": record.details_url,
        "status": record.status,
        "conclusion": record.conclusion,
        "started_at": stamp(record.started_at),
        "completed_at": maybe(record.completed_at),
        "output": {
            "title": record.title,
            "summary": record.summary,
            "text": record.text,
            "annotations_count": len(record.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": record.suite.id},
        "app": app(links, record.suite.app),
        "pull_requests": [shapes_pull.minimal(links, pull) for pull in pulls_at(repo, record.suite.head_sha)],
    }


def annotation(links: Links, record: CheckRun, kept: Json) -> Json:
    """`check-annotation`."""
    names = ("path", "start_line", "end_line", "start_column", "end_column", "annotation_level", "title", "message")
    href = links.repo_page(record.suite.repo, f"/blob/{record.suite.head_sha}/{kept['path']}")
    return {
        **{name: kept.get(name) for name in names},
        "raw_details": kept.get("raw_details"),
        "blob_href": href,
    }


def suite_core(links: Links, record: CheckSuite) -> Json:
    """What every form of a check suite tells."""
    return {
        "id": record.id,
        "node_id": node_id("CS", record.id),
        "head_branch": record.head_branch,
        "head_sha": record.head_sha,
        "status": record.status,
        "conclusion": record.conclusion,
        "url": links.repo(record.repo, f"/check-suites/{record.id}"),
        "before": record.before,
        "after": record.head_sha,
        "pull_requests": [shapes_pull.minimal(links, pull) for pull in pulls_at(record.repo, record.head_sha)],
        "app": app(links, record.app),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
    }


def check_suite(links: Links, record: CheckSuite, head: Commit) -> Json:
    """`check-suite`."""
    return {
        **suite_core(links, record),
        "repository": minimal_repo(links, record.repo),
        "head_commit": simple_commit(head),
        "latest_check_runs_count": len(record.runs),
        "check_runs_url": links.repo(record.repo, f"/check-suites/{record.id}/check-runs"),
        "rerequestable": True,
        "runs_rerequestable": True,
    }


def simple_commit(record: Commit) -> Json:
    """`simple-commit`."""
    return {
        "id": record.sha,
        "tree_id": record.tree,
        "message": record.message,
        "timestamp": record.committer[2],
        "author": {"name": record.author[0], "email": record.author[1]},
        "committer": {"name": record.committer[0], "email": record.committer[1]},
    }


def _git_user(who: tuple[str, str, str]) -> Json:
    return {"name": who[0], "email": who[1], "date": who[2]}


def commit(links: Links, repo: Repo, record: Commit) -> Json:
    """`commit`. Authors are not matched to accounts."""
    url = links.repo(repo, f"/commits/{record.sha}")
    tree = {"sha": record.tree, "url": links.repo(repo, f"/git/trees/{record.tree}")}
    verification = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}
    return {
        "sha": record.sha,
        "node_id": node_id("C", int(record.sha[:15], 16)),
        "url": url,
        "html_url": links.repo_page(repo, f"/commit/{record.sha}"),
        "comments_url": f"{url}/comments",
        "commit": {
            "url": links.repo(repo, f"/git/commits/{record.sha}"),
            "author": _git_user(record.author),
            "committer": _git_user(record.committer),
            "message": record.message,
            "comment_count": 0,
            "tree": tree,
            "verification": verification,
        },
        "author": None,
        "committer": None,
        "parents": [_parent(links, repo, sha) for sha in record.parents],
    }


def _parent(links: Links, repo: Repo, sha: str) -> Json:
    page = links.repo_page(repo, f"/commit/{sha}")
    return {"sha": sha, "url": links.repo(repo, f"/commits/{sha}"), "html_url": page}


def file(links: Links, repo: Repo, head: str, blob: str, record: FileDiff) -> Json:
    """`diff-entry`."""
    told: Json = {
        "sha": blob,
        "filename": record.filename,
        "status": record.status,
        "additions": record.additions,
        "deletions": record.deletions,
        "changes": record.additions + record.deletions,
        "blob_url": links.repo_page(repo, f"/blob/{head}/{record.filename}"),
        "raw_url": links.repo_page(repo, f"/raw/{head}/{record.filename}"),
        "contents_url": links.repo(repo, f"/contents/{record.filename}?ref={head}"),
    }
    if record.patch is not None:
        told["patch"] = record.patch
    if record.previous is not None:
        told["previous_filename"] = record.previous
    return told


def status(links: Links, repo: Repo, record: Status, *, with_creator: bool = True) -> Json:
    """`status`, or without its creator `simple-commit-status`."""
    told: Json = {
        "id": record.id,
        "node_id": node_id("SC", record.id),
        "url": links.repo(repo, f"/statuses/{record.sha}"),
        "avatar_url": f"{links.web}/avatars/{record.creator.id}",
        "state": record.state,
        "context": record.context,
        "description": record.description,
        "target_url": record.target_url,
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
    }
    if with_creator:
        told["creator"] = user(links, record.creator)
    return told
