"""Deeds in an account and its repositories. The author identity opens pull requests and posts triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.adapters.github_hands import Hands, login_of
from bot.adapters.github_permissions import Step
from bot.model import Annotation, CheckRun, Raw, RepoName
from bot.ports_github import GitHubError


class Writing(Hands):
    """What is done."""

    # --- repositories -------------------------------------------------------------------------------------------

    def owner_is_user(self) -> bool:
        return self._means.owner_type() == "User"

    def create_repository(self, repo: RepoName, *, private: bool) -> Raw:
        body = {"name": repo.name, "private": private, "has_issues": True, "has_projects": False, "has_wiki": False}
        if not self.owner_is_user():
            raw: Raw = self._of(Step.CREATE).send("POST", f"/orgs/{repo.owner}/repos", body)
            return raw
        author, name = self._means.author, self._means.author_name()
        if author is None or (name or "").lower() != repo.owner.lower():
            message = (
                f"{repo.owner} is a personal account, where no App may make repositories: "
                "ASSAY_AUTHOR_TOKEN has to be a token of that account"
            )
            raise GitHubError(403, message, {}, "POST")
        own: Raw = author.send("POST", "/user/repos", body)
        return own

    def set_private(self, repo: RepoName, private: bool) -> Raw:
        raw: Raw = self._of(Step.ADMINISTER, repo).send("PATCH", f"/repos/{repo}", {"private": private})
        return raw

    def archive_repository(self, repo: RepoName) -> None:
        try:
            self._of(Step.ADMINISTER, repo).send("PATCH", f"/repos/{repo}", {"archived": True})
        except GitHubError as error:
            # Whoever archives it a second time is told that it is read-only.
            if error.status != 403 or "archived" not in error.message:
                raise

    def delete_repository(self, repo: RepoName) -> None:
        try:
            self._of(Step.ADMINISTER, repo).send("DELETE", f"/repos/{repo}")
        except GitHubError as error:
            if error.status != 404:
                raise

    # --- conversations ------------------------------------------------------------------------------------------

    def open_issue(self, repo: RepoName, title: str, body: str) -> Raw:
        raw: Raw = self._of(Step.TALK, repo).send("POST", f"/repos/{repo}/issues", {"title": title, "body": body})
        return raw

    def open_pull(self, repo: RepoName, *, title: str, body: str, head: str, base: str) -> Raw:
        wanted = {"title": title, "body": body, "head": head, "base": base}
        raw: Raw = self._author_of(Step.TALK, repo).send("POST", f"/repos/{repo}/pulls", wanted)
        return raw

    def comment(self, repo: RepoName, number: int, body: str, *, as_author: bool = False) -> Raw:
        client = self._author_of(Step.TALK, repo) if as_author else self._of(Step.TALK, repo)
        raw: Raw = client.send("POST", f"/repos/{repo}/issues/{number}/comments", {"body": body})
        return raw

    def edit_comment(self, repo: RepoName, comment_id: int, body: str) -> Raw:
        path = f"/repos/{repo}/issues/comments/{comment_id}"
        raw: Raw = self._of(Step.TALK, repo).send("PATCH", path, {"body": body})
        return raw

    def request_review(self, repo: RepoName, pull: int, login: str) -> tuple[str, ...]:
        path = f"/repos/{repo}/pulls/{pull}/requested_reviewers"
        raw = self._author_of(Step.TALK, repo).send("POST", path, {"reviewers": [login]})
        return tuple(user["login"] for user in raw["requested_reviewers"] if login_of(user))

    # --- check runs ---------------------------------------------------------------------------------------------

    def create_check(self, repo: RepoName, check: CheckRun, first: Sequence[Annotation]) -> Raw:
        body = {
            "name": check.name,
            "head_sha": check.head_sha,
            "external_id": check.external_id,
            "status": "completed",
            "conclusion": check.conclusion,
            "output": _output(check, first),
            **_actions(check),
        }
        raw: Raw = self._of(Step.CHECK, repo).send("POST", f"/repos/{repo}/check-runs", body)
        return raw

    def add_annotations(self, repo: RepoName, check_id: int, check: CheckRun, more: Sequence[Annotation]) -> Raw:
        path = f"/repos/{repo}/check-runs/{check_id}"
        raw: Raw = self._of(Step.CHECK, repo).send("PATCH", path, {"output": _output(check, more), **_actions(check)})
        return raw

    def update_check(self, repo: RepoName, check_id: int, check: CheckRun) -> Raw:
        path, body = f"/repos/{repo}/check-runs/{check_id}", {"conclusion": check.conclusion}
        # Sent without annotations: those that are sent with a PATCH come on top of those that are there.
        output = {name: value for name, value in _output(check, ()).items() if name != "annotations"}
        raw: Raw = self._of(Step.CHECK, repo).send("PATCH", path, {**body, "output": output, **_actions(check)})
        return raw

    def git_token(self, repo: RepoName) -> str:
        # The author's, so that the push is the author's too.
        return self._author_of(Step.PUSH, repo).token()


def _actions(check: CheckRun) -> dict[str, Any]:
    buttons = [
        {"label": button.label, "description": button.description, "identifier": button.identifier}
        for button in check.buttons
    ]
    return {"actions": buttons} if buttons else {}


def _output(check: CheckRun, annotations: Sequence[Annotation]) -> dict[str, Any]:
    output: dict[str, Any] = {
        "title": check.title,
        "summary": check.summary,
        "annotations": [
            {
                "path": note.path,
                "start_line": note.start_line,
                "end_line": note.end_line,
                "annotation_level": note.level,
                "title": note.title,
                "message": note.message,
            }
            for note in annotations
        ],
    }
    return output | ({"text": check.text} if check.text else {})
