"""What is live: streams that end, that are few, and that leave threads to deliveries; counting beside the requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Blueprint, Flask

from bot.pages.analysis import Analysis
from bot.pages.library import RunCard
from bot.pages.links import ServedLinks
from bot.pages.shelf import Shelf, analysis_of
from bot.web import looking as looking_module
from bot.web import streams
from bot.web.counting import Counting
from bot.web.looking import looking
from bot.web.streams import State, stream
from scoring.model import PullId, ReviewerId
from tests.pages.world import made_bundle, read, write


@pytest.fixture
def app() -> Iterator[Flask]:
    made = Flask("tests")
    with made.test_request_context():
        yield made


class Clock:
    """Seconds that pass when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def states(*looks: State) -> Callable[[], State]:
    left = list(looks)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def said(answer: object) -> str:
    return "".join(one if isinstance(one, str) else one.decode() for one in answer.response)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("app")
def test_a_stream_tells_changes_and_ends_with_the_run() -> None:
    clock = Clock()
    look = states(
        State("<p>1</p>", False), State("<p>1</p>", False), State("<p>2\n3</p>", False), State("<p>4</p>", True)
    )
    answer = stream(look, sleep=clock.sleep, clock=clock)
    text = said(answer)
    answer.close()
    assert text.count("event: progress\n") == 3
    assert "data: <p>2\ndata: 3</p>\n" in text
    assert text.endswith("event: over\ndata: over\n\n")
    assert answer.mimetype == "text/event-stream"


@pytest.mark.usefixtures("app")
def test_a_stream_ends_by_itself_and_shows_that_it_lives() -> None:
    clock = Clock()
    answer = stream(lambda: State("<p>same</p>", False), sleep=clock.sleep, clock=clock)
    text = said(answer)
    answer.close()
    assert text.count("event: progress") == 1
    assert text.count(": still here") >= 4
    assert streams.LONGEST <= clock.now <= streams.LONGEST + 1
    assert "event: over" not in text


@pytest.mark.usefixtures("app")
def test_only_a_few_streams_stay_and_the_next_listener_is_told_once_and_when_to_come_again() -> None:
    held = [stream(lambda: State("<p>x</p>", False)) for _ in range(streams.MOST)]
    one_more = said(stream(lambda: State("<p>x</p>", False)))
    assert one_more == f"retry: {streams.AGAIN}\n\nevent: progress\ndata: <p>x</p>\n\n"
    for answer in held:
        answer.close()
    clock = Clock()
    again = stream(lambda: State("<p>x</p>", False), sleep=clock.sleep, clock=clock)
    assert ": still here" in said(again)
    again.close()


def test_the_page_of_a_run_that_is_over_reloads_the_watcher_once(tmp_path: Path) -> None:
    client = served(Shelf([write(made_bundle(2), tmp_path / "made")])).test_client()
    answer = client.get("/runs/made/progress")
    assert answer.headers["HX-Refresh"] == "true"
    events = client.get("/runs/made/events")
    assert events.mimetype == "text/event-stream"
    assert "event: over" in events.text


class UnderWay(Shelf):
    """One run that has only begun."""

    def __init__(self) -> None:
        super().__init__([])

    def card(self, run: str) -> RunCard | None:
        reviewers, pulls = (ReviewerId("revbot-aa"),), (PullId("change-0"),)
        return RunCard("made", "made", "waiting", reviewers, pulls) if run == "made" else None

    def analysis(self, run: str, choice: object = None) -> None:
        return None


def served(shelf: Shelf) -> Flask:
    from bot.pages import views

    app = Flask("tests")
    made = Blueprint("pages", __name__)
    made.register_error_handler(views.NotThere, lambda error: (str(error), 404))
    looking(made, lambda: shelf, ServedLinks())
    app.register_blueprint(made)
    return app


def test_a_run_under_way_asks_nobody_to_reload() -> None:
    client = served(UnderWay()).test_client()
    assert "HX-Refresh" not in client.get("/runs/made/progress").headers
    page = read(client.get("/runs/made").text)
    assert "The matrix appears when every trial is over" in page.text
    assert client.get("/runs/other/events").status_code == 404


@pytest.mark.parametrize("path", ["/?page=0", "/?page=two", "/?page=9999999", "/runs/made?status=" + "x" * 300])
def test_an_address_that_asks_for_nothing_there_is_refused(path: str, tmp_path: Path) -> None:
    client = served(Shelf([write(made_bundle(2), tmp_path / "made")])).test_client()
    assert client.get(path).status_code == 404


def test_pages_and_pictures_are_served(tmp_path: Path) -> None:
    client = served(Shelf([write(made_bundle(4), tmp_path / "made")])).test_client()
    for path in ("/", "/runs/made", "/runs/made/leaderboard", "/runs/made/compare", "/runs/made/overlap", "/reviewers"):
        assert client.get(path).status_code == 200, path
    picture = client.get("/runs/made/forest.svg")
    assert picture.mimetype == "image/svg+xml"
    assert "unsafe-inline" in picture.headers["Content-Security-Policy"]
    assert "script-src" not in picture.headers["Content-Security-Policy"]
    assert client.get("/reviewers/revbot-aa/history.svg").status_code == 200
    assert client.get("/runs/made/pie.svg").status_code == 404


def test_who_asks_for_what_takes_long_is_sent_to_wait_and_finds_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    real = Analysis.count

    def slow(self: Analysis) -> None:
        assert gate.wait(20)
        real(self)

    monkeypatch.setattr(Analysis, "count", slow)
    monkeypatch.setattr(looking_module, "COUNTING", Counting(0.05))
    client = served(Shelf([write(made_bundle(3), tmp_path / "made")])).test_client()
    waiting = client.get("/runs/made/leaderboard")
    assert "Being counted" in waiting.text
    assert [one for one in read(waiting.text).all("meta") if one.get("http-equiv") == "refresh"]
    assert client.get("/runs/made").status_code == 200
    gate.set()
    monkeypatch.setattr(looking_module, "COUNTING", Counting(20))
    assert "Being counted" not in client.get("/runs/made/leaderboard").text


def test_an_analysis_is_counted_once_however_many_ask() -> None:
    analysis, counting = analysis_of(made_bundle(3), "", ""), Counting(20)
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(counting.ready([analysis]))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 6
    assert not counting._under_way
