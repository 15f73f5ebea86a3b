"""What happens in the world when refs change, whether by git or by REST."""

from __future__ import annotations

from dataclasses import dataclass

from bot.sandbox import checking, conversation, gitstore, reviewing, shapes_checks
from bot.sandbox.state import Account, Pull, Repo
from bot.sandbox.world import Json, World

ZERO = gitstore.ZERO
_SHOWN = 20
"""As many commits as GitHub lists at most in a push event, in kind."""


@dataclass(frozen=True, slots=True)
class RefChange:
    """One ref that moved. `ZERO` stands for not being there."""

    ref: str
    old: str
    new: str


def apply(world: World, repo: Repo, pusher: Account, changes: list[RefChange]) -> None:
    """Let pull requests follow their branches and tell the Apps."""
    if not changes:
        return
    repo.pushed_at = world.now()
    _choose_default(repo, changes)
    for change in changes:
        _emit_push(world, repo, pusher, change)
        if change.ref.startswith("refs/heads/"):
            _follow(world, repo, pusher, change)


def _choose_default(repo: Repo, changes: list[RefChange]) -> None:
    """The first branch ever pushed becomes the default one, unless the default one exists."""
    heads = gitstore.refs(repo.path, "refs/heads/")
    if f"refs/heads/{repo.default_branch}" in heads or not heads:
        return
    pushed = [change.ref for change in changes if change.new != ZERO and change.ref in heads]
    if pushed:
        repo.default_branch = pushed[0].removeprefix("refs/heads/")
        gitstore.set_head(repo.path, repo.default_branch)


def _follow(world: World, repo: Repo, pusher: Account, change: RefChange) -> None:
    branch = change.ref.removeprefix("refs/heads/")
    if change.new != ZERO:
        checking.request_suites(world, repo, change.new, None if change.old == ZERO else change.old, pusher)
    for issue in list(repo.issues.values()):
        pull = issue.pull
        if pull is None or issue.state != "open":
            continue
        if pull.head_ref == branch:
            _move_head(world, pull, pusher, change)
        elif pull.base_ref == branch and change.new != ZERO:
            pull.base_sha = change.new


def _move_head(world: World, pull: Pull, pusher: Account, change: RefChange) -> None:
    if change.new == ZERO:
        conversation.set_state(world, pull.issue, pusher, "closed")
        return
    pull.head_sha = change.new
    gitstore.set_ref(pull.issue.repo.path, f"refs/pull/{pull.issue.number}/head", change.new)
    pull.issue.updated_at = world.now()
    reviewing.follow_push(pull)
    conversation.emit_issue(world, "synchronize", pull.issue, pusher, before=change.old, after=change.new)


def _emit_push(world: World, repo: Repo, pusher: Account, change: RefChange) -> None:
    commits = _commits(world, repo, change)
    gone, made = change.new == ZERO, change.old == ZERO
    forced = not gone and not made and not gitstore.is_ancestor(repo.path, change.old, change.new)
    body: Json = {
        "ref": change.ref,
        "before": change.old,
        "after": change.new,
        "created": made,
        "deleted": gone,
        "forced": forced,
        "base_ref": None,
        "compare": world.links.repo_page(repo, f"/compare/{change.old[:12]}...{change.new[:12]}"),
        "commits": commits,
        "head_commit": commits[-1] if commits else None,
        "pusher": {"name": pusher.login, "email": None},
    }
    world.emit("push", None, repo, pusher, body)


def _commits(world: World, repo: Repo, change: RefChange) -> list[Json]:
    if change.new == ZERO:
        return []
    span = [change.new] if change.old == ZERO else [change.new, f"^{change.old}"]
    found = gitstore.log(repo.path, *span, limit=_SHOWN)
    return [_payload_commit(world, repo, commit) for commit in reversed(found)]


def _payload_commit(world: World, repo: Repo, commit: gitstore.Commit) -> Json:
    return {
        **shapes_checks.simple_commit(commit),
        "distinct": True,
        "url": world.links.repo_page(repo, f"/commit/{commit.sha}"),
        "added": [],
        "removed": [],
        "modified": [],
    }
