"""GitHub's answers as they come: what has moved, what is not accepted any more, and what is not asked at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from bot.adapters.github import AppGitHub
from bot.model import RepoName
from bot.ports import GitHubError
from bot.sandbox.registration import new_key

REPO = RepoName("acme", "control")


class Remote:
    """A server that answers from a list, and mints a new token each time it is asked for one."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, object]] = []
        self.seen: list[tuple[str, str, str]] = []
        self.minted = 0
        remote = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                remote.seen.append((self.command, self.path, self.headers["Authorization"]))
                if self.path.endswith("/access_tokens"):
                    remote.minted += 1
                    status, body = 201, {"token": f"token-{remote.minted}", "expires_at": "2999-01-01T00:00:00Z"}
                else:
                    status, body = remote.answers.pop(0)  # type: ignore[assignment]
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def remote() -> Iterator[Remote]:
    made = Remote()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def app(remote: Remote, author: str | None = None) -> AppGitHub:
    def now() -> datetime:
        return datetime.now(UTC)

    return AppGitHub(remote.url, app_id="7", private_key=new_key(), author_token=author, clock=now)


def test_what_workflows_ask_between_steps_asks_nobody(remote: Remote) -> None:
    github = app(remote)
    assert github.slug == ""
    assert github.installation(5).account() == github.installation(5).account(author=True) == "installation 5"
    assert app(remote, "ghp_author").installation(5).account(author=True) == "author"
    assert remote.seen == []


def test_a_token_that_is_not_accepted_is_not_used_again(remote: Remote) -> None:
    remote.answers = [(200, {"number": 1}), (401, {"message": "Bad credentials"}), (200, {"number": 2})]
    github = app(remote).installation(5)
    github.issue(REPO, 1)
    with pytest.raises(GitHubError, match="Bad credentials"):
        github.issue(REPO, 1)
    assert github.issue(REPO, 1)["number"] == 2
    used = [token for _, path, token in remote.seen if not path.endswith("/access_tokens")]
    assert [token.rpartition(" ")[2] for token in used] == ["token-1", "token-1", "token-2"]


@pytest.mark.parametrize("status", [307, 308])
def test_a_write_to_a_repository_that_has_moved_is_no_success(remote: Remote, status: int) -> None:
    said = {307: "Temporary Redirect", 308: "Permanent Redirect"}[status]
    remote.answers = [(status, {"message": said, "url": f"{remote.url}/repositories/9"})]
    with pytest.raises(GitHubError) as error:
        app(remote).installation(5).comment(REPO, 1, "hello")
    assert error.value.status == status
    assert not error.value.outcome_unknown
