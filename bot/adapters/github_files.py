"""Files, branches, commits and labels of a repository; the Apps of an organisation; what is left of the limits."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bot.adapters.github_hands import Hands
from bot.adapters.github_permissions import Step
from bot.model import Raw, RepoName
from bot.ports_github import GitHubError

MOST_BYTES = 1024 * 1024


class Files(Hands):
    """What is in a repository, apart from what is said."""

    def content(self, repo: RepoName, path: str, ref: str | None = None) -> bytes | None:
        raw = self._content(repo, path, ref)
        if not isinstance(raw, dict) or raw.get("type") != "file":
            return None
        size = int(raw.get("size") or 0)
        if size > MOST_BYTES or raw.get("encoding") != "base64":
            raise GitHubError(413, f"{path} has {size} bytes; files up to {MOST_BYTES} are read", {}, "GET")
        return base64.b64decode(raw["content"])

    def content_names(self, repo: RepoName, path: str, ref: str | None = None) -> tuple[str, ...]:
        raw = self._content(repo, path, ref)
        if not isinstance(raw, list):
            return ()
        return tuple(str(one["name"]) + ("/" if one.get("type") == "dir" else "") for one in raw)

    def _content(self, repo: RepoName, path: str, ref: str | None) -> Any:
        place = _place(repo, path)
        client = self._of(Step.LOOK, repo)
        return client.find(place) if ref is None else client.find(place, ref=ref)

    def put_content(self, repo: RepoName, path: str, content: bytes, message: str) -> None:
        before = self._of(Step.LOOK, repo).find(_place(repo, path))
        if isinstance(before, dict) and base64.b64decode(before.get("content") or "") == content:
            return
        body: dict[str, Any] = {"message": message, "content": base64.b64encode(content).decode()}
        if isinstance(before, dict):
            body["sha"] = before["sha"]
        self._of(Step.PUSH, repo).send("PUT", _place(repo, path), body)

    def read_token(self, repo: RepoName) -> str | None:
        try:
            return self._of(Step.LOOK, repo).token()
        except GitHubError as error:
            # 422: the repository is not there, or not among those that the App was installed on.
            if error.status in (403, 404, 422):
                return None
            raise

    def branches(self, repo: RepoName) -> tuple[Raw, ...]:
        return self._of(Step.LOOK, repo).pages(f"/repos/{repo}/branches")

    def commit(self, repo: RepoName, sha: str) -> Raw | None:
        try:
            raw: Raw = self._of(Step.LOOK, repo).get(f"/repos/{repo}/commits/{sha}")
        except GitHubError as error:
            # 422: nothing has that sha; 409: the repository is empty.
            if error.status in (404, 409, 422):
                return None
            raise
        return raw

    def ensure_label(self, repo: RepoName, name: str, color: str, description: str) -> None:
        if self._of(Step.LOOK, repo).find(f"/repos/{repo}/labels/{quote(name, safe='')}") is not None:
            return
        try:
            body = {"name": name, "color": color, "description": description}
            self._of(Step.TALK, repo).send("POST", f"/repos/{repo}/labels", body)
        except GitHubError as error:
            if error.status != 422 or "already" not in error.message:
                raise

    def org_installations(self, org: str) -> tuple[Raw, ...] | None:
        try:
            return self._of(Step.CENSUS).pages(f"/orgs/{org}/installations", "installations", patient=False)
        except GitHubError as error:
            if error.status in (403, 404):
                return None
            raise

    def rate(self) -> Mapping[str, Any]:
        raw = self._of(Step.CREATE).find("/rate_limit")
        resources = raw.get("resources") if isinstance(raw, dict) else None
        return resources if isinstance(resources, dict) else {}


def _place(repo: RepoName, path: str) -> str:
    # Not as it comes: a path with dots or a question mark in it would be another address.
    parts = [part for part in path.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise ValueError(f"{path!r} is no path in a repository")
    return f"/repos/{repo}/contents/{'/'.join(quote(part, safe='') for part in parts)}"
