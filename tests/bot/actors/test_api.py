"""An actor's REST session: it looks before it posts, and gives its token to nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.sandbox.actors.api import Api, Refused, Unclear
from tests.bot.actors.loopback import Asked, Loopback, Reply, loopback

LOGIN = "lintwarden[bot]"


@dataclass
class Fixed:
    """Tokens that count how often they were renewed."""

    renewed: int = 0

    def token(self) -> str:
        return f"t{self.renewed}"

    def renew(self) -> str:
        self.renewed += 1
        return self.token()


@dataclass
class Conversation:
    """The comments of one pull request, and failures to play before or after the deed."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    after: list[Reply] = field(default_factory=list)
    before: list[Reply] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            return Reply(200, self.rows)
        if self.before:
            return self.before.pop(0)
        row = {"id": len(self.rows) + 1, "body": asked.body["body"], "user": {"login": LOGIN}}
        self.rows.append(row)
        return self.after.pop(0) if self.after else Reply(201, row)


@contextmanager
def session(server: Loopback) -> Iterator[Api]:
    with closing(Api(server.url, LOGIN, Fixed())) as api:
        yield api


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.sandbox.actors.api._PAUSES", (0.01, 0.01))
    monkeypatch.setattr("bot.sandbox.actors.api._LONGEST_PAUSE", 0.05)


@pytest.mark.parametrize("lost", [Reply(502, {}), Reply(500, {}), Reply(0, hang_up=True)])
def test_a_comment_whose_answer_was_lost_is_not_posted_twice(lost: Reply) -> None:
    talk = Conversation(after=[lost])
    with loopback(talk) as server, session(server) as api:
        assert api.comment_once("o/r", 1, "hello <!-- m -->", "<!-- m -->")["id"] == 1
    assert len(talk.rows) == 1


@pytest.mark.parametrize("refusal", [Reply(502, {}), Reply(403, {}, {"Retry-After": "60"}), Reply(429, {})])
def test_a_comment_that_was_not_taken_is_posted_again(refusal: Reply) -> None:
    talk = Conversation(before=[refusal])
    with loopback(talk) as server, session(server) as api:
        api.comment_once("o/r", 1, "hello", "hello")
    assert len(talk.rows) == 1


def test_saying_the_same_twice_posts_once() -> None:
    talk = Conversation()
    with loopback(talk) as server, session(server) as api:
        assert api.comment_once("o/r", 1, "hello", "hello") == api.comment_once("o/r", 1, "hello again", "hello")
    assert len(talk.rows) == 1


def test_the_nth_comment_of_a_text_is_posted_until_there_are_n() -> None:
    talk = Conversation()
    with loopback(talk) as server, session(server) as api:
        for _ in range(2):
            assert [api.nth_comment_once("o/r", 1, number, "wait")["id"] for number in (1, 2)] == [1, 2]
    assert len(talk.rows) == 2


def test_somebody_elses_comment_with_our_marker_is_not_ours() -> None:
    talk = Conversation(
        rows=[{"id": 9, "body": "hello", "user": {"login": "other"}}, {"id": 8, "body": "hello", "user": None}]
    )
    with loopback(talk) as server, session(server) as api:
        assert api.comment_once("o/r", 1, "hello", "hello")["id"] == 3


def test_a_refusal_is_not_repeated() -> None:
    talk = Conversation(before=[Reply(422, {"message": "no"}), Reply(500, {})])
    with loopback(talk) as server, session(server) as api, pytest.raises(Refused, match="422"):
        api.comment_once("o/r", 1, "hello", "hello")
    assert [asked.method for asked in server.asked] == ["GET", "POST"]


def test_a_server_that_stays_down_is_given_up_on() -> None:
    with loopback(lambda _: Reply(503, {})) as server, session(server) as api, pytest.raises(Unclear, match="503"):
        api.pull("o/r", 1)
    assert len(server.asked) == 3


def test_an_expired_token_is_renewed_once() -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(200, {"number": 1}) if asked.token == "t1" else Reply(401, {})

    with loopback(answer) as server, session(server) as api:
        assert api.pull("o/r", 1)["number"] == 1
    assert [asked.token for asked in server.asked] == ["t0", "t1"]


def test_all_pages_are_read() -> None:
    def answer(asked: Asked) -> Reply:
        if "page=2" in asked.path:
            return Reply(200, [{"filename": "b"}])
        return Reply(200, [{"filename": "a"}], {"Link": f'<{server.url}/repos/o/r/pulls/1/files?page=2>; rel="next"'})

    with loopback(answer) as server, session(server) as api:
        assert [row["filename"] for row in api.files("o/r", 1)] == ["a", "b"]


def test_the_token_is_not_sent_where_a_link_leads_away() -> None:
    def lure(asked: Asked) -> Reply:
        return Reply(200, [], {"Link": f'<{thief.url}/repos/o/r/pulls/1/files?page=2>; rel="next"'})

    with loopback(lambda _: Reply(200, [])) as thief, loopback(lure) as server, session(server) as api:
        with pytest.raises(Refused, match="leads away"):
            api.files("o/r", 1)
        assert thief.asked == []


def test_an_odd_file_name_stays_inside_its_address() -> None:
    with loopback(lambda _: Reply(200, {})) as server, session(server) as api:
        api.contents("o/r", "-a b/x?#%.py", "c0ffee")
    assert server.asked[0].path == "/repos/o/r/contents/-a%20b/x%3F%23%25.py?ref=c0ffee"
