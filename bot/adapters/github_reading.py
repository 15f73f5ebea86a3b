"""Questions about a repository and its conversations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.adapters.github_hands import Hands, login_of, stamp
from bot.adapters.github_permissions import Step
from bot.adapters.github_tokens import server_time
from bot.model import Raw, RepoName, Sha, Snapshot


class Reading(Hands):
    """What is asked of one repository."""

    def permission(self, repo: RepoName, login: str) -> str:
        raw = self._of(Step.LOOK, repo).find(f"/repos/{repo}/collaborators/{login}/permission")
        return "none" if raw is None else str(raw["permission"])

    def issue(self, repo: RepoName, number: int) -> Raw:
        raw: Raw = self._of(Step.LOOK, repo).get(f"/repos/{repo}/issues/{number}")
        return raw

    def issues_since(self, repo: RepoName, since: datetime) -> tuple[Raw, ...]:
        client, path = self._of(Step.LOOK, repo), f"/repos/{repo}/issues"
        found = client.pages(path, conditional=True, since=stamp(since), state="open", sort="created")
        return tuple(raw for raw in found if "pull_request" not in raw)

    def comments_since(self, repo: RepoName, since: datetime) -> tuple[Raw, ...]:
        path = f"/repos/{repo}/issues/comments"
        return self._of(Step.LOOK, repo).pages(path, conditional=True, since=stamp(since), sort="created")

    def issue_comments(self, repo: RepoName, number: int) -> tuple[Raw, ...]:
        return self._of(Step.LOOK, repo).pages(f"/repos/{repo}/issues/{number}/comments")

    def repository(self, repo: RepoName) -> Raw | None:
        # With a token of the whole account: one that is narrowed to a name is refused while nothing has that name.
        raw: Raw | None = self._of(Step.CREATE).find(f"/repos/{repo}")
        return raw

    def pulls_by_head(self, repo: RepoName, branch: str) -> tuple[Raw, ...]:
        path = f"/repos/{repo}/pulls"
        found = self._of(Step.LOOK, repo).pages(path, head=f"{repo.owner}:{branch}", state="all")
        # A server that does not know the filter gives every pull request.
        return tuple(raw for raw in found if raw["head"]["ref"] == branch)

    def review_asks(self, repo: RepoName, pull: int, login: str) -> int:
        client, wanted = self._of(Step.LOOK, repo), login.lower()
        timeline = client.pages(f"/repos/{repo}/issues/{pull}/timeline", optional="timeline of issues")
        asked: int = sum(
            raw.get("event") == "review_requested" and login_of(raw.get("requested_reviewer")) == wanted
            for raw in timeline
        )
        if asked:
            return asked
        reviews = client.pages(f"/repos/{repo}/pulls/{pull}/reviews")
        return int(any(login_of(raw.get("user")) == wanted for raw in reviews))

    def check_runs(self, repo: RepoName, sha: Sha, name: str) -> tuple[Raw, ...]:
        client, ours = self._of(Step.LOOK, repo), self._means.identity().app_id
        path = f"/repos/{repo}/commits/{sha}/check-runs"
        found = client.pages(path, "check_runs", check_name=name, app_id=ours, filter="all")
        return tuple(raw for raw in found if raw["name"] == name and _app_id(raw) in (None, ours))

    def issue_by_us(self, repo: RepoName, text: str) -> Raw | None:
        ours = self._means.identity().login
        found = self._of(Step.LOOK, repo).pages(f"/repos/{repo}/issues", creator=ours, state="all")
        return next((raw for raw in found if text in (raw.get("body") or "") and _by(raw, ours)), None)

    # --- everything that was said on a fork ---------------------------------------------------------------------

    def snapshot(self, repo: RepoName, pull: int) -> Snapshot:
        root, client = f"/repos/{repo}", self._of(Step.LOOK, repo)

        def every(path: str, key: str | None = None, optional: str | None = None, **query: Any) -> tuple[Raw, ...]:
            return client.pages(f"{root}{path}", key, optional=optional, conditional=True, **query)

        headers, pull_request = client.call("GET", f"{root}/pulls/{pull}", conditional=True)
        started = server_time(headers) or self._means.clock()
        sha = pull_request["head"]["sha"]
        return Snapshot(
            repo=repo,
            pull=pull,
            head_sha=sha,
            read_started=started,
            pull_request=pull_request,
            reviews=every(f"/pulls/{pull}/reviews"),
            review_comments=every(f"/pulls/{pull}/comments"),
            issue_comments=every(f"/issues/{pull}/comments"),
            check_runs=self._annotated_checks(repo, sha),
            statuses=every(f"/commits/{sha}/status", "statuses", "combined status of commits"),
            reactions=every(f"/issues/{pull}/reactions", None, "reactions to issues"),
            requested_reviewers=self._requested(repo, pull),
        )

    def _requested(self, repo: RepoName, pull: int) -> tuple[str, ...]:
        asked = self._of(Step.LOOK, repo).find(f"/repos/{repo}/pulls/{pull}/requested_reviewers", conditional=True)
        if asked is None:
            self._means.transport.note_absent("list of requested reviewers")
            return ()
        return tuple(user["login"] for user in asked["users"])

    def _annotated_checks(self, repo: RepoName, sha: str) -> tuple[Raw, ...]:
        path, client = f"/repos/{repo}/commits/{sha}/check-runs", self._of(Step.LOOK, repo)
        checks = client.pages(path, "check_runs", conditional=True, filter="latest")
        return tuple({**check, "annotations": self._annotations(repo, check)} for check in checks)

    def _annotations(self, repo: RepoName, check: Raw) -> list[Raw]:
        # Where a server does not count them, they have to be asked for.
        if (check.get("output") or {}).get("annotations_count") == 0:
            return []
        path = f"/repos/{repo}/check-runs/{check['id']}/annotations"
        return list(self._of(Step.LOOK, repo).pages(path, optional="annotations of check runs", conditional=True))


def _app_id(check: Raw) -> int | None:
    app = check.get("app")
    return int(app["id"]) if app and "id" in app else None


def _by(raw: Raw, login: str) -> bool:
    return login_of(raw.get("user")) == login.lower()
