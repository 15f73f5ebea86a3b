"""At the edges: this machine's own user, pages that are not set up, headers, sizes, proxies, and rights to write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from flask import Blueprint, request
from flask.testing import FlaskClient

from bot.model import RepoName
from bot.settings import SettingsError, load_settings
from bot.web import forms
from bot.web.access import Access, Local, Rights, Unknown, Who
from bot.web.app import Site, create_app
from bot.web.hooks import Intake
from bot.web.wiring import pages_of
from tests.pages.served import MEMBER, SECRET, WRITER, Desk, desk
from tests.pages.world import made_bundle, read


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The pages of a machine with one user."""
    with desk(tmp_path_factory.mktemp("mine"), {"ASSAY_LOCAL_USER": "mira-lund", "ASSAY_PUBLIC_URL": ""}) as made:
        made.add_run("700-1", made_bundle())
        made.add_run("8000-1", made_bundle(), control="other")
        yield made


def bare(site: Site | None = None, proxies: int = 0) -> FlaskClient:
    """The web application alone."""
    app = create_app(
        Intake([SECRET.encode()], 1, lambda: "us", lambda guid, event, told: told(True)),
        ready=lambda: None,
        metrics=lambda: b"assay_runs 2\n",
        site=site,
        trusted_proxies=proxies,
    )
    return app.test_client()


# --- one user ---------------------------------------------------------------------------------------------------


def test_the_user_of_this_machine_sees_every_run_unasked(mine: Desk) -> None:
    page = requests.get(mine.url, timeout=20)
    assert "700-1" in page.text
    assert "8000-1" in page.text
    assert "mira-lund" in read(page.text).text
    assert not read(page.text).all("form"), "there is nothing to sign out of"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example:80"},
        {"Host": "2130706433"},
        {"Host": "0.0.0.0"},
        {"Host": ""},
        {"X-Forwarded-For": "203.0.113.7"},
        {"Forwarded": "for=203.0.113.7"},
        {"X-Real-IP": "127.0.0.1"},
    ],
)
def test_who_may_come_from_elsewhere_is_not_the_user_of_this_machine(mine: Desk, headers: dict[str, str]) -> None:
    answer = requests.get(f"{mine.url}/runs/700-1", headers=headers, timeout=20)
    assert answer.status_code in (400, 403)
    assert "model-x" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "127.0.0.2"])
def test_this_machine_may_be_called_by_its_own_names(mine: Desk, host: str) -> None:
    assert requests.get(mine.url, headers={"Host": f"{host}:80"}, timeout=20).status_code == 200


@pytest.mark.parametrize("bind", ["0.0.0.0:8000", "192.0.2.1:8000", "[::]:8000", "assay.example.com:8000"])
def test_a_local_user_is_refused_where_others_can_connect(bind: str) -> None:
    with pytest.raises(SettingsError, match="ASSAY_LOCAL_USER"):
        load_settings({"ASSAY_LOCAL_USER": "mira", "ASSAY_BIND": bind})


# --- not set up -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/runs/7-1", "/sign-in", "/goldens"])
def test_without_sign_in_there_are_no_pages_and_one_is_told_what_it_takes(path: str) -> None:
    answer = bare().get(path)
    assert answer.status_code == 404
    assert "ASSAY_CLIENT_SECRET" in answer.text


@pytest.mark.parametrize("lacking", ["ASSAY_CLIENT_SECRET", "ASSAY_PUBLIC_URL", "ASSAY_CLIENT_ID"])
def test_half_a_sign_in_is_none(tmp_path: Path, lacking: str) -> None:
    with desk(tmp_path, {lacking: ""}) as made:
        assert requests.get(made.url, timeout=20).status_code == 404
        assert requests.get(f"{made.url}/healthz", timeout=20).text == "ok\n"
        assert requests.get(f"{made.url}/readyz", timeout=20).text == "ready\n"
        assert requests.post(f"{made.url}/webhooks/github", data=b"{}", timeout=20).status_code == 401


# --- machines ---------------------------------------------------------------------------------------------------


def test_metrics_are_for_this_machine_alone() -> None:
    assert bare().get("/metrics").text == "assay_runs 2\n"
    for given in ({"REMOTE_ADDR": "203.0.113.7"}, {"HTTP_X_FORWARDED_FOR": "203.0.113.7"}):
        answer = bare().get("/metrics", environ_overrides=given)
        assert answer.status_code == 403
        assert "assay_runs" not in answer.text


def test_a_proxy_is_believed_only_where_the_settings_name_one() -> None:
    seen: list[str | None] = []
    part = Blueprint("part", __name__)

    @part.get("/who")
    def who() -> str:
        seen.append(request.remote_addr)
        return "ok"

    site = Site((part,), b"k" * 32, secure=False)
    headers = {"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}
    for proxies in (0, 1, 2):
        assert bare(site, proxies).get("/who", headers=headers).status_code == 200
    assert seen == ["127.0.0.1", "203.0.113.7", "198.51.100.1"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/static/app.css", 200),
        ("GET", "/static/../app.py", 404),
        ("GET", "/nowhere", 404),
        ("GET", "/webhooks/github", 405),
        ("POST", "/healthz", 405),
        ("TRACE", "/healthz", 405),
    ],
)
def test_every_answer_is_hardened(method: str, path: str, status: int) -> None:
    answer = bare().open(path, method=method)
    assert answer.status_code == status
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    if status == 405:
        assert answer.headers["Allow"]


def test_an_error_page_does_not_repeat_what_was_asked() -> None:
    answer = bare().get("/<script>alert(1)</script>?x=<img/src/onerror=alert(1)>")
    assert answer.status_code == 404
    assert "alert(1)" not in answer.text


def test_a_failure_is_told_without_its_reason() -> None:
    part = Blueprint("part", __name__)

    @part.get("/broken")
    def broken() -> str:
        raise RuntimeError("the password is hunter2")

    answer = bare(Site((part,), b"k" * 32, secure=False)).get("/broken")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "stands in the log" in answer.text
    assert "Content-Security-Policy" in answer.headers


# --- changing ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The real pages with one more, which takes a form."""
    with desk(tmp_path_factory.mktemp("writable")) as made:
        made.add_run("700-1", made_bundle())
        made.add_run("8000-1", made_bundle(), control="other")
        yield made


class Form:
    """Pages with one form, seen by somebody with a right."""

    def __init__(self, made: Desk, right: str, silent: bool = False) -> None:
        self.done: list[str] = []
        self._local = Local("somebody")
        self.right, self.silent = right, silent
        control = RepoName("acme", "control")
        self.access = Access(self._who, Rights(self._ask), lambda: "http://localhost", control)
        part = pages_of(made.services, self.access)
        part.post("/runs/<name>/note")(self._note)
        self.client = bare(Site((part,), b"k" * 32, secure=False))

    def _who(self) -> Who | None:
        found = self._local.who()
        return None if found is None else Who(found.login, found.secret)

    def _ask(self, repo: RepoName, login: str) -> str:
        if self.silent:
            raise Unknown("GitHub answered 502")
        return self.right if repo == RepoName("acme", "control") else "none"

    def _note(self, name: str) -> str:
        self.done.append(f"{name}: {request.form['text']}")
        return "noted"

    def send(
        self,
        run: str = "700-1",
        *,
        token: str | None = None,
        origin: str | None = "http://localhost",
        text: str = "x",
    ) -> int:
        with self.client.application.test_request_context("/", environ_overrides={"REMOTE_ADDR": "127.0.0.1"}):
            given = self.access.signed_in().csrf if token is None else token
        headers = {} if origin is None else {"Origin": origin}
        return self.client.post(f"/runs/{run}/note", data={"csrf": given, "text": text}, headers=headers).status_code


@pytest.mark.parametrize(("right", "status"), [("admin", 200), ("write", 200), ("read", 403), ("none", 403)])
def test_changing_takes_the_right_to_write(writable: Desk, right: str, status: int) -> None:
    form = Form(writable, right)
    assert form.send() == status
    assert form.done == (["700-1: x"] if status == 200 else [])


def test_the_right_to_write_elsewhere_is_no_right_here(writable: Desk) -> None:
    form = Form(writable, "admin")
    assert form.send("8000-1") in (403, 404)
    assert form.done == []


def test_a_form_of_ours_needs_its_token_and_its_origin(writable: Desk) -> None:
    form = Form(writable, "admin")
    assert [form.send(token=""), form.send(token="0" * 64), form.send(origin=None), form.send(origin="null")] == [
        403
    ] * 4
    assert form.send(origin="http://localhost.evil.example") == 403
    assert form.done == []


def test_nothing_is_changed_while_github_is_silent(writable: Desk) -> None:
    form = Form(writable, "admin", silent=True)
    assert form.send() == 503
    assert form.done == []


def test_a_form_is_small_and_a_larger_one_is_not_read(writable: Desk) -> None:
    form = Form(writable, "admin")
    assert form.send(text="x" * (forms.LARGEST - 10_000)) == 200
    assert form.send(text="x" * forms.LARGEST) == 413
    assert len(form.done) == 1


def test_who_may_read_sees_no_form_that_writes(writable: Desk) -> None:
    made = writable
    for login in (MEMBER, WRITER):
        page = read(made.signed_in(login).get(f"{made.url}/runs/700-1", timeout=20).text)
        posting = [form["action"] for form in page.all("form") if form.get("method") == "post"]
        assert posting == ["/sign-out"]


def test_an_application_without_pages_keeps_no_session() -> None:
    assert bare().application.config["SECRET_KEY"] is None
