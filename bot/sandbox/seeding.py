"""Commits that the sandbox makes itself."""

from __future__ import annotations

from collections.abc import Mapping

from bot.sandbox import gitstore, pushing
from bot.sandbox.state import Account, Repo
from bot.sandbox.world import World


def commit_to_branch(
    world: World, repo: Repo, author: Account, files: Mapping[str, bytes], message: str, branch: str | None = None
) -> str:
    """Commit exactly these files on a branch, as if pushed. The same files and parent give the same sha."""
    ref = f"refs/heads/{branch or repo.default_branch}"
    old = gitstore.refs(repo.path, ref).get(ref)
    start = old or gitstore.refs(repo.path, "refs/heads/").get(f"refs/heads/{repo.default_branch}")
    sha = gitstore.commit_files(repo.path, files, message=message, parents=[start] if start else [])
    gitstore.set_ref(repo.path, ref, sha)
    pushing.apply(world, repo, author, [pushing.RefChange(ref, old or gitstore.ZERO, sha)])
    return sha
