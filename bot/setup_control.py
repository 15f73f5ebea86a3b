"""Preparing a control repository: the issue form, and the label that the form sets."""

from __future__ import annotations

from bot.model import RepoName
from bot.ports_github import GitHub, GitHubApp

LABEL = ("assay", "5319e7", "Asks for a run")
"""GitHub leaves a label of a form out where the repository has none of that name."""
MESSAGE = "Add the form that asks for a run"


class NoInstallation(Exception):
    """The App is not installed where the repository is, or not on it."""


def github_for(app: GitHubApp, owner: str) -> GitHub:
    """GitHub as the App's installation on an account sees it.

    Raises:
        NoInstallation: there is none.
    """
    found = {login.lower(): number for number, login in app.installations()}
    if owner.lower() not in found:
        others = f"; it is on {', '.join(sorted(found))}" if found else " anywhere"
        raise NoInstallation(f"the App is not installed on {owner}{others}: install it there first")
    return app.installation(found[owner.lower()])


def prepare(app: GitHubApp, repo: RepoName, path: str, form: bytes) -> tuple[str, ...]:
    """Put form and label there; what was done, in words.

    Raises:
        NoInstallation: the App is not there.
        GitHubError: GitHub says no.
    """
    github = github_for(app, repo.owner)
    if github.repository(repo) is None:
        raise NoInstallation(f"{repo} does not exist, or the App may not see it: make it, and let the App have it")
    before = github.content(repo, path)
    done = ["the form is there already" if before == form else "the form was put in place of another"]
    if before is None:
        done = ["the form was added"]
    if before != form:
        github.put_content(repo, path, form, MESSAGE)
    github.ensure_label(repo, *LABEL)
    return (*done, f"the label {LABEL[0]} is there")
