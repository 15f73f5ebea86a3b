"""Tokens that are new, refused, narrowed or not; and servers that know less than GitHub does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from bot.adapters.github import AppGitHub
from bot.adapters.github_seen import MOST_OF_ONE, Seen
from bot.model import RepoName
from bot.ports_github import GitHubError
from tests.bot.hub import key

REPO, OTHER = RepoName("acme", "control"), RepoName("acme", "other")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SHA = "a" * 40


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    token: str
    headers: Mapping[str, str]
    body: Any


Answer = tuple[int, Any] | tuple[int, Any, Mapping[str, str]]


class Server:
    """Answers what its routes say; everything else is not found. It has neither `Date` nor `ETag` nor `Link`."""

    def __init__(self) -> None:
        self.routes: dict[str, Callable[[Asked], Answer]] = {}
        self.seen: list[Asked] = []
        self.minted: list[Any] = []
        self.life = timedelta(hours=1)
        self.narrows = True
        self.token = "t" * 480
        self.date: datetime | None = None
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length)) if length else None
                parts = urlsplit(self.path)
                token = self.headers.get("Authorization", "").rpartition(" ")[2]
                asked = Asked(
                    self.command, parts.path, dict(parse_qsl(parts.query)), token, dict(self.headers.items()), body
                )
                status, told, *more = server.answer(asked)
                data = json.dumps(told).encode() if status not in (204, 304) else b""
                self.send_response_only(status)
                for name, value in {**(more[0] if more else {}), "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                if server.date is not None:
                    self.send_header("Date", format_datetime(server.date, usegmt=True))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

            def log_message(self, *_: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, asked: Asked) -> Answer:
        if asked.path.endswith("/access_tokens"):
            return self._mint(asked)
        self.seen.append(asked)
        route = self.routes.get(asked.path)
        return (404, {"message": "Not Found"}) if route is None else route(asked)

    def _mint(self, asked: Asked) -> Answer:
        if asked.body and not self.narrows:
            return 422, {"message": "The permissions requested are not granted to this installation."}
        self.minted.append(asked.body)
        expires = (self.date or datetime.now(UTC)) + self.life
        return 201, {"token": f"ghs_{self.token}{len(self.minted)}", "expires_at": expires.isoformat()}

    def has(self, path: str, *answers: Answer | Callable[[Asked], Answer]) -> None:
        """Give these in turn, the last of them for ever."""
        left = list(answers)

        def route(asked: Asked) -> Answer:
            one = left.pop(0) if len(left) > 1 else left[0]
            return one(asked) if callable(one) else one

        self.routes[path] = route


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.http.shutdown()
    thread.join()
    made.http.server_close()


def app(server: Server, *, off: timedelta = timedelta(), waits: list[float] | None = None) -> AppGitHub:
    def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        time.sleep(seconds / 10)

    return AppGitHub(
        server.url,
        app_id="Iv1.x",
        private_key=key(),
        author_token=None,
        clock=lambda: datetime.now(UTC) + off,
        sleep=sleep,
    )


ISSUE = f"/repos/{REPO}/issues/1"
NO: Answer = (403, {"message": "Resource not accessible by integration"})


# --- tokens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_no_to_a_token_that_was_just_minted_is_asked_about_again(server: Server, status: int) -> None:
    refusal: Answer = (status, {"message": "not yet"})
    server.has(ISSUE, refusal, refusal, (200, {"number": 1}))
    waits: list[float] = []
    assert app(server, waits=waits).installation(5).issue(REPO, 1)["number"] == 1
    assert (len(waits), len(server.minted)) == (2, 1)


def test_a_write_that_is_refused_for_a_new_token_is_made_once(server: Server) -> None:
    server.has(f"{ISSUE}/comments", NO, (201, {"id": 3}))
    assert app(server).installation(5).comment(REPO, 1, "hello")["id"] == 3
    assert [one.body for one in server.seen] == [{"body": "hello"}] * 2


def test_a_no_to_a_token_that_has_worked_is_meant(server: Server) -> None:
    server.has(ISSUE, (200, {"number": 1}), NO)
    waits: list[float] = []
    github = app(server, waits=waits).installation(5)
    github.issue(REPO, 1)
    with pytest.raises(GitHubError, match="not accessible"):
        github.issue(REPO, 1)
    assert waits == []


@pytest.mark.parametrize(
    ("message", "headers"),
    [("You have exceeded a secondary rate limit", {}), ("wait", {"Retry-After": "60"})],
)
def test_a_limit_is_not_taken_for_a_new_token(server: Server, message: str, headers: dict[str, str]) -> None:
    server.has(ISSUE, (403, {"message": message}, headers))
    waits: list[float] = []
    with pytest.raises(GitHubError) as error:
        app(server, waits=waits).installation(5).issue(REPO, 1)
    assert (error.value.status, waits) == (403, [])


def test_a_failure_of_the_server_is_never_sent_again(server: Server) -> None:
    server.has(f"{ISSUE}/comments", (502, {"message": "Server Error"}))
    with pytest.raises(GitHubError) as error:
        app(server).installation(5).comment(REPO, 1, "hello")
    assert (error.value.outcome_unknown, len(server.seen)) == (True, 1)


def test_what_is_not_there_is_believed_soon(server: Server) -> None:
    begun = time.monotonic()
    assert app(server).installation(5).permission(REPO, "alice") == "none"
    assert time.monotonic() - begun < 5


def test_a_server_that_does_not_narrow_is_used_with_wider_tokens_and_one_warning(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.narrows = False
    for repo in (REPO, OTHER):
        server.has(f"/repos/{repo}/issues/1", (200, {"number": 1}))
    github = app(server).installation(5)
    github.issue(REPO, 1)
    github.issue(OTHER, 1)
    assert [len(caplog.messages), server.minted] == [1, [{}]]
    assert "'look' could not be narrowed" in caplog.text
    assert "ghs_" not in caplog.text


def test_each_repository_has_a_token_of_its_own(server: Server) -> None:
    for repo in (REPO, OTHER):
        server.has(f"/repos/{repo}/issues/1", (200, {"number": 1}))
    github = app(server).installation(5)
    for _ in range(3):
        github.issue(REPO, 1)
        github.issue(OTHER, 1)
    assert [one["repositories"] for one in server.minted] == [["control"], ["other"]]
    assert all(one["permissions"]["issues"] == "read" for one in server.minted)
    assert {len(one.token) for one in server.seen} == {485}


def test_workflows_are_asked_for_only_where_they_were_granted(server: Server) -> None:
    plain = app(server)
    plain.installation(5).git_token(REPO)
    granted = AppGitHub(
        server.url, app_id="7", private_key=key(), author_token=None, clock=lambda: datetime.now(UTC), workflows=True
    )
    granted.installation(5).git_token(REPO)
    assert [one["permissions"] for one in server.minted] == [
        {"contents": "write"},
        {"contents": "write", "workflows": "write"},
    ]


def test_a_token_is_renewed_before_it_ends_and_not_at_every_call(server: Server) -> None:
    server.has(ISSUE, (200, {"number": 1}))
    server.life = timedelta(seconds=2)
    github = app(server).installation(5)
    for _ in range(5):
        github.issue(REPO, 1)
    assert len(server.minted) == 1
    time.sleep(1.6)
    github.issue(REPO, 1)
    assert len(server.minted) == 2


def test_a_clock_that_is_hours_off_does_not_wear_tokens_out(server: Server) -> None:
    server.has(ISSUE, (200, {"number": 1}))
    server.date = datetime.now(UTC)
    github = app(server, off=timedelta(hours=5)).installation(5)
    for _ in range(3):
        github.issue(REPO, 1)
    assert len(server.minted) == 1


# --- what was said before ---------------------------------------------------------------------------------------


def _tagged(body: Any) -> Callable[[Asked], Answer]:
    def route(asked: Asked) -> Answer:
        tag = f'"{asked.token[-1]}"'
        return (304, None) if asked.headers.get("If-None-Match") == tag else (200, body, {"ETag": tag})

    return route


def test_what_has_not_changed_is_not_sent_again(server: Server) -> None:
    server.has(f"/repos/{REPO}/issues", _tagged([{"id": 1, "number": 1}]))
    github = app(server).installation(5)
    first, second = github.issues_since(REPO, LONG_AGO), github.issues_since(REPO, LONG_AGO)
    assert first == second == ({"id": 1, "number": 1},)
    assert ["If-None-Match" in one.headers for one in server.seen] == [False, True]


def test_a_new_token_gets_the_whole_answer(server: Server) -> None:
    server.has(f"/repos/{REPO}/issues", _tagged([{"id": 1, "number": 1}]))
    server.life = timedelta(seconds=1)
    github = app(server).installation(5)
    github.issues_since(REPO, LONG_AGO)
    time.sleep(0.9)
    assert github.issues_since(REPO, LONG_AGO) == ({"id": 1, "number": 1},)
    assert ["If-None-Match" in one.headers for one in server.seen] == [False, False]


def test_what_is_kept_is_bounded() -> None:
    seen = Seen(most_bytes=50_000)
    for number in range(100):
        seen.put("t", f"/{number}", {"etag": "x"}, "0" * 3000)
    assert 0 < seen.bytes <= 50_000
    assert seen.get("t", "/99") is not None
    assert seen.get("t", "/0") is None
    assert seen.get("other", "/99") is None
    seen.put("t", "/long", {"etag": "x"}, "0" * (MOST_OF_ONE + 1))
    seen.put("t", "/untagged", {}, "0")
    assert (seen.get("t", "/long"), seen.get("t", "/untagged")) == (None, None)


# --- servers that know less -------------------------------------------------------------------------------------


def bare(server: Server) -> None:
    """A pull request with what every server has, and with nothing that some have."""
    root = f"/repos/{REPO}"
    server.has(f"{root}/pulls/4", (200, {"number": 4, "head": {"sha": SHA}}))
    server.has(f"{root}/pulls/4/reviews", (200, [{"id": 1}]))
    server.has(f"{root}/pulls/4/comments", (200, [{"id": 2}]))
    server.has(f"{root}/issues/4/comments", (200, [{"id": 3}]))
    checks = [{"id": 5, "name": "lint", "output": {"title": "t"}}, {"id": 6, "name": "old", "output": None}]
    server.has(f"{root}/commits/{SHA}/check-runs", (200, {"total_count": 2, "check_runs": checks}))
    server.has(f"{root}/check-runs/5/annotations", (200, [{"path": "a.py"}, {"path": "a.py"}]))


def test_a_fork_is_read_from_a_server_without_the_rest(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    bare(server)
    github = app(server).installation(5)
    before = datetime.now(UTC)
    first, snapshot = github.snapshot(REPO, 4), github.snapshot(REPO, 4)
    assert first.reviews == snapshot.reviews
    assert before <= snapshot.read_started <= datetime.now(UTC)
    assert [len(one["annotations"]) for one in snapshot.check_runs] == [2, 0]
    lists = (snapshot.reviews, snapshot.review_comments, snapshot.issue_comments)
    assert [[item["id"] for item in one] for one in lists] == [[1], [2], [3]]
    assert (snapshot.statuses, snapshot.reactions, snapshot.requested_reviewers) == ((), (), ())
    assert len(caplog.messages) == len(set(caplog.messages)) == 4
    assert github.review_asks(REPO, 4, "somebot[bot]") == 0


@pytest.mark.parametrize(
    "path", ["pulls/4", "pulls/4/reviews", "pulls/4/comments", "issues/4/comments", f"commits/{SHA}/check-runs"]
)
def test_a_fork_without_its_conversation_is_never_taken_for_a_silent_one(server: Server, path: str) -> None:
    bare(server)
    del server.routes[f"/repos/{REPO}/{path}"]
    with pytest.raises(GitHubError) as error:
        app(server).installation(5).snapshot(REPO, 4)
    assert error.value.status == 404


@pytest.mark.parametrize(
    "path", ["commits/{sha}/status", "issues/4/reactions", "pulls/4/requested_reviewers", "check-runs/5/annotations"]
)
def test_a_list_that_is_there_and_fails_is_never_taken_for_an_empty_one(server: Server, path: str) -> None:
    bare(server)
    server.has(f"/repos/{REPO}/{path.replace('{sha}', SHA)}", (500, {"message": "Server Error"}))
    with pytest.raises(GitHubError):
        app(server).installation(5).snapshot(REPO, 4)


@pytest.mark.parametrize("size", [100, 30])
def test_pages_are_read_to_the_end_without_a_link(server: Server, size: int) -> None:
    def route(asked: Asked) -> Answer:
        begin = (int(asked.query["page"]) - 1) * size
        return 200, [{"id": number} for number in range(min(begin, 250), min(begin + size, 250))]

    server.has(f"{ISSUE}/comments", route)
    found = app(server).installation(5).issue_comments(REPO, 1)
    assert [one["id"] for one in found] == list(range(250))


@pytest.mark.parametrize("count", [0, 1, 30, 100, 101])
def test_a_server_without_pages_gives_all_of_it_once(server: Server, count: int) -> None:
    server.has(f"{ISSUE}/comments", (200, [{"id": number} for number in range(count)]))
    assert len(app(server).installation(5).issue_comments(REPO, 1)) == count


def test_a_server_without_deliveries_orgs_or_limits_is_no_failure(server: Server) -> None:
    github = app(server)
    assert github.deliveries(LONG_AGO) == ()
    assert github.hook_config() is None
    installation = github.installation(5)
    assert installation.org_installations("acme") is None
    assert installation.rate() == {}
    assert installation.owner_is_user() is False
    assert installation.content(REPO, "a.py") is None
    assert installation.content_names(REPO, "folder") == ()


def test_an_answer_that_is_no_json_is_said_and_not_swallowed(server: Server) -> None:
    server.has(ISSUE, (200, {"number": 1}))
    github = app(server).installation(5)
    github.issue(REPO, 1)
    server.has(ISSUE, (503, "<html>"))
    with pytest.raises(GitHubError) as error:
        github.issue(REPO, 1)
    assert error.value.outcome_unknown


def test_an_enterprise_address_keeps_its_path(server: Server) -> None:
    server.has(f"/api/v3{ISSUE}", (200, {"number": 1}))
    server.url += "/api/v3/"
    assert app(server).installation(5).issue(REPO, 1)["number"] == 1
    assert [one.path for one in server.seen] == [f"/api/v3{ISSUE}"]
