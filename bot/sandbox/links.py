"""Addresses of things, and the two formats of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.sandbox.state import Comment, Issue, Repo, Review, ReviewComment


@dataclass(frozen=True, slots=True)
class Links:
    """Builds every URL of an answer from where the sandbox is reached."""

    web: str
    """Where pages and git are, without a slash at the end."""
    prefix: str = ""
    """What stands before the API's paths: nothing, or `/api/v3`."""

    def api(self, path: str) -> str:
        """The API address of a path that begins with a slash."""
        return f"{self.web}{self.prefix}{path}"

    def repo(self, repo: Repo, rest: str = "") -> str:
        """The API address of something in a repository."""
        return self.api(f"/repos/{repo.full_name}{rest}")

    def repo_page(self, repo: Repo, rest: str = "") -> str:
        """The page of something in a repository."""
        return f"{self.web}/{repo.full_name}{rest}"

    def issue_page(self, issue: Issue) -> str:
        """The page of an issue or pull request."""
        return self.repo_page(issue.repo, f"/{'pull' if issue.pull else 'issues'}/{issue.number}")

    def comment_page(self, comment: Comment) -> str:
        """A comment on its page."""
        return f"{self.issue_page(comment.issue)}#issuecomment-{comment.id}"

    def review_page(self, review: Review) -> str:
        """A review on its page."""
        return f"{self.issue_page(review.pull.issue)}#pullrequestreview-{review.id}"

    def review_comment_page(self, comment: ReviewComment) -> str:
        """An inline comment on its page."""
        return f"{self.issue_page(comment.review.pull.issue)}#discussion_r{comment.id}"


def stamp(moment: datetime) -> str:
    """GitHub's timestamp: UTC, whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def maybe(moment: datetime | None) -> str | None:
    """A timestamp or null."""
    return None if moment is None else stamp(moment)
