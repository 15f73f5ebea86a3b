"""What an actor asks of GitHub's REST API and does through it, under its own login."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import requests

from bot.model import Raw
from bot.sandbox.actors.identity import Tokens

T = TypeVar("T")
_SECONDS = 30.0
_PAUSES = (0.2, 0.5, 1.0, 2.0)
_LONGEST_PAUSE = 10.0


class Refused(Exception):
    """The API will not do it, and asking again will not help."""


class Unclear(Exception):
    """The API did not say whether it did it: look again, then maybe try again."""

    def __init__(self, text: str, pause: float = 0.0) -> None:
        super().__init__(text)
        self.pause = pause


class Api:
    """One actor's session. Belongs to one thread."""

    def __init__(self, api_url: str, login: str, tokens: Tokens) -> None:
        self._base = api_url.rstrip("/")
        self._tokens = tokens
        self._session = requests.Session()
        # No proxy and no netrc of the machine: the sandbox is on loopback.
        self._session.trust_env = False
        self.login = login

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def pull(self, repo: str, number: int) -> Raw:
        """One pull request."""
        return self._get(f"/repos/{repo}/pulls/{number}")

    def files(self, repo: str, number: int) -> list[Raw]:
        """The changed files, all pages."""
        return list(self._pages(f"/repos/{repo}/pulls/{number}/files"))

    def contents(self, repo: str, path: str, ref: str) -> Raw:
        """One file at a commit. The caller has made sure that the path is plain."""
        return self._get(f"/repos/{repo}/contents/{quote(path, safe='/')}", {"ref": ref})

    def own_comments(self, repo: str, number: int) -> list[Raw]:
        """This actor's comments in the conversation, oldest first."""
        return [row for row in self._pages(f"/repos/{repo}/issues/{number}/comments") if self._is_own(row)]

    def comments(self, repo: str, number: int) -> list[Raw]:
        """Everybody's comments in the conversation, oldest first."""
        return list(self._pages(f"/repos/{repo}/issues/{number}/comments"))

    def own_review(self, repo: str, number: int, head: str) -> Raw | None:
        """This actor's review of that head, if there is one."""
        rows = self._pages(f"/repos/{repo}/pulls/{number}/reviews")
        return next((row for row in rows if self._is_own(row) and row["commit_id"] == head), None)

    def check_run(self, repo: str, head: str, name: str) -> Raw | None:
        """The check run of that name on that head, if there is one."""
        answer = self._get(f"/repos/{repo}/commits/{head}/check-runs", {"check_name": name})
        return next((row for row in answer["check_runs"] if row["name"] == name), None)

    def comment_once(self, repo: str, number: int, body: str, marker: str) -> Raw:
        """A comment in the conversation, unless this actor already has one that holds the marker."""

        def find() -> Raw | None:
            return next((row for row in self.own_comments(repo, number) if marker in row["body"]), None)

        return self.once(find, lambda: self._send("POST", f"/repos/{repo}/issues/{number}/comments", {"body": body}))

    def nth_comment_once(self, repo: str, number: int, nth: int, body: str) -> Raw:
        """The n-th comment of exactly this text, unless this actor already has so many."""

        def find() -> Raw | None:
            same = [row for row in self.own_comments(repo, number) if row["body"] == body]
            return same[nth - 1] if len(same) >= nth else None

        return self.once(find, lambda: self._send("POST", f"/repos/{repo}/issues/{number}/comments", {"body": body}))

    def edit_comment(self, repo: str, comment: int, body: str) -> None:
        """Give a comment another body. Saying it twice changes nothing."""
        address = f"/repos/{repo}/issues/comments/{comment}"
        self.once(lambda: None, lambda: self._send("PATCH", address, {"body": body}))

    def review_once(self, repo: str, number: int, head: str, body: str, remarks: Sequence[Mapping[str, Any]]) -> Raw:
        """One review of that head with inline comments, unless this actor already has one."""
        review = {"commit_id": head, "body": body, "event": "COMMENT", "comments": list(remarks)}
        return self.once(
            lambda: self.own_review(repo, number, head),
            lambda: self._send("POST", f"/repos/{repo}/pulls/{number}/reviews", review),
        )

    def check_once(self, repo: str, head: str, name: str, conclusion: str, title: str, summary: str) -> Raw:
        """One completed check run on that head, unless there is one of that name."""
        output = {"title": title, "summary": summary}
        run = {"name": name, "head_sha": head, "status": "completed", "conclusion": conclusion, "output": output}
        return self.once(
            lambda: self.check_run(repo, head, name), lambda: self._send("POST", f"/repos/{repo}/check-runs", run)
        )

    def once(self, find: Callable[[], T | None], make: Callable[[], T]) -> T:
        """Look, and make it only if it is not there; the same again after every unclear answer.

        Raises:
            Refused: the API will not do it.
            Unclear: it stayed unclear.
        """
        for pause in (*_PAUSES, None):
            try:
                found = find()
                return make() if found is None else found
            except Unclear as problem:
                if pause is None:
                    raise
                time.sleep(min(_LONGEST_PAUSE, max(pause, problem.pause)))
        raise AssertionError("the last turn returns or raises")

    def _is_own(self, row: Raw) -> bool:
        user = row.get("user") or {}
        return str(user.get("login", "")).lower() == self.login.lower()

    def _get(self, address: str, query: Mapping[str, str] | None = None) -> Raw:
        answer: Raw = self.once(lambda: None, lambda: self._call("GET", address, params=query).json())
        return answer

    def _pages(self, address: str) -> Iterator[Raw]:
        url: str | None = f"{address}?per_page=100"
        while url:
            page = url
            answer = self.once(lambda: None, lambda page=page: self._call("GET", page))  # type: ignore[misc]
            yield from answer.json()
            url = answer.links.get("next", {}).get("url")

    def _send(self, method: str, address: str, body: Mapping[str, Any]) -> Raw:
        answer: Raw = self._call(method, address, body=body).json()
        return answer

    def _call(
        self,
        method: str,
        address: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> requests.Response:
        url = address if "://" in address else self._base + address
        if not url.startswith(f"{self._base}/"):
            raise Refused(f"{method} {url}: the address leads away from {self._base}, which alone may see the token")
        answer = self._try(method, url, params, body, self._tokens.token())
        if answer.status_code == 401:
            answer = self._try(method, url, params, body, self._tokens.renew())
        return _judged(method, address, answer)

    def _try(
        self,
        method: str,
        url: str,
        params: Mapping[str, str] | None,
        body: Mapping[str, Any] | None,
        token: str,
    ) -> requests.Response:
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": self.login,
        }
        try:
            return self._session.request(
                method, url, params=params, json=body, headers=headers, timeout=_SECONDS, allow_redirects=True
            )
        except (requests.ConnectionError, requests.Timeout) as problem:
            raise Unclear(f"{method} {url}: no answer") from problem


def _judged(method: str, address: str, answer: requests.Response) -> requests.Response:
    """The answer itself if it is good; else the exception that says whether to try again."""
    if answer.ok:
        return answer
    wait = answer.headers.get("Retry-After", "")
    text = f"{method} {address}: {answer.status_code} {answer.text[:300]}"
    if answer.status_code >= 500 or answer.status_code == 429 or wait:
        raise Unclear(text, float(wait) if wait.isdecimal() else 0.0)
    raise Refused(text)
