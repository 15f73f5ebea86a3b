"""Who sees what: nobody unasked, nobody longer than they may, and nothing is changed from elsewhere."""

from __future__ import annotations

import base64
import logging
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from bot.model import RepoName
from bot.sandbox.faults import Fault
from bot.web import access, wiring
from bot.web.sign_in import local_path
from tests.pages.served import ELSEWHERE, MEMBER, OUTSIDER, WRITER, Desk, desk
from tests.pages.world import made_bundle, read


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Two control repositories with a run each. Tests that change rights or time have a desk of their own."""
    with desk(tmp_path_factory.mktemp("acme")) as made:
        _runs(made)
        yield made


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path) as made:
        _runs(made)
        yield made


def _runs(made: Desk) -> None:
    made.add_run("700-1", made_bundle())
    made.add_run("8000-1", made_bundle(), control="other")


def status(person: requests.Session, address: str) -> int:
    return person.get(address, timeout=20, allow_redirects=False).status_code


# --- seeing -----------------------------------------------------------------------------------------------------


def test_a_stranger_learns_nothing_of_which_runs_there_are(acme: Desk) -> None:
    answers = [acme.browser().get(f"{acme.url}/runs/{name}", timeout=20) for name in ("700-1", "123-4")]
    assert [one.status_code for one in answers] == [401, 401]
    first, second = (one.text.replace("700-1", "X").replace("123-4", "X") for one in answers)
    assert first == second


@pytest.mark.parametrize(
    "path", ["/", "/runs/700-1/events", "/runs/700-1/leaderboard", "/reviewers", "/runs/700-1/x.svg"]
)
def test_every_page_is_closed_to_strangers(acme: Desk, path: str) -> None:
    assert status(acme.browser(), acme.url + path) == 401


def test_an_outsider_is_refused_at_sign_in_and_has_no_session(acme: Desk) -> None:
    person = acme.browser()
    answer = acme.sign_in(OUTSIDER, browser=person)
    assert answer.status_code == 403
    assert "may not read a control repository" in read(answer.text).text
    assert "acme/control" not in answer.text
    assert status(person, acme.url + "/runs/700-1") == 401


@pytest.mark.parametrize(("login", "sees", "misses"), [(MEMBER, "700-1", "8000-1"), (ELSEWHERE, "8000-1", "700-1")])
def test_people_see_the_runs_of_their_control_repository_and_no_other(
    acme: Desk, login: str, sees: str, misses: str
) -> None:
    person = acme.signed_in(login)
    listed = person.get(acme.url, timeout=20).text
    assert sees in listed
    assert misses not in listed
    for rest in ("", "/leaderboard", "/progress", "/compare", "/overlap"):
        assert status(person, f"{acme.url}/runs/{sees}{rest}") == 200
        assert status(person, f"{acme.url}/runs/{misses}{rest}") == 404
    assert status(person, f"{acme.url}/runs/{misses}/events") == 404


def test_a_run_that_is_not_ones_own_looks_as_if_it_did_not_exist(acme: Desk) -> None:
    person = acme.signed_in(MEMBER)
    other, none = (person.get(f"{acme.url}/runs/{name}", timeout=20) for name in ("8000-1", "9999-1"))
    assert other.text == none.text


def test_one_lands_where_one_was_going(acme: Desk) -> None:
    person = acme.browser()
    page = person.get(f"{acme.url}/runs/700-1/leaderboard?by=language", timeout=20)
    door = next(one for one in read(page.text).all("a") if "sign-in" in one["href"])["href"]
    github = person.get(acme.url + door, allow_redirects=False, timeout=20).headers["Location"]
    landed = person.get(f"{github}&login_as={MEMBER}", timeout=20)
    assert landed.url == f"{acme.url}/runs/700-1/leaderboard?by=language"
    assert landed.status_code == 200


def test_who_loses_access_loses_sight_when_it_is_asked_again(own: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    person = own.signed_in(MEMBER)
    assert status(person, f"{own.url}/runs/700-1") == 200
    with own.github.world.lock:
        own.github.world.repo("acme", "control").collaborators.pop(MEMBER)
    assert status(person, f"{own.url}/runs/700-1") == 200
    monkeypatch.setattr(access, "KNOWN_FOR", 0.0)
    assert status(person, f"{own.url}/runs/700-1") == 404
    assert "700-1" not in person.get(own.url, timeout=20).text


def test_nothing_is_shown_while_github_is_silent_about_rights(own: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    person = own.signed_in(MEMBER)
    monkeypatch.setattr(access, "KNOWN_FOR", 0.0)
    own.github.faults.add(Fault(kind="refuse", method="GET", path="*/permission", status=502, times=9))
    answer = person.get(f"{own.url}/runs/700-1", timeout=20)
    assert answer.status_code == 503
    assert "Try again" in answer.text


def test_who_may_not_install_the_app_hides_only_their_own_runs(own: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    person = own.signed_in(MEMBER)
    monkeypatch.setattr(access, "KNOWN_FOR", 0.0)
    own.github.uninstall("acme-checks", "acme")
    assert status(person, own.url + "/") == 200
    assert status(person, f"{own.url}/runs/700-1") == 404


def test_rights_are_asked_once_in_a_while_and_not_for_every_page() -> None:
    asked: list[tuple[str, str]] = []
    now = [100.0]

    def ask(repo: object, login: str) -> str:
        asked.append((str(repo), login))
        return "write"

    rights = access.Rights(ask, lambda: now[0])
    repo = RepoName("acme", "control")
    assert all(rights.sees(repo, login) for login in ("Mel", "mel", "MEL"))
    assert len(asked) == 1
    now[0] += access.WRITES_KNOWN_FOR + 1
    assert rights.sees(repo, "mel")
    assert len(asked) == 1
    assert rights.writes(repo, "mel", access.WRITES_KNOWN_FOR)
    assert len(asked) == 2


def test_who_was_just_let_in_at_github_need_not_wait_long() -> None:
    now, right = [100.0], ["none"]
    rights = access.Rights(lambda repo, login: right[0], lambda: now[0])
    repo = RepoName("acme", "control")
    assert not rights.sees(repo, "mel")
    right[0] = "read"
    assert not rights.sees(repo, "mel")
    now[0] += access.WRITES_KNOWN_FOR + 1
    assert rights.sees(repo, "mel")


def token_in(text: str) -> str:
    return next(one["value"] for one in read(text).all("input") if one.get("name") == "csrf")


# --- the way in -------------------------------------------------------------------------------------------------


def begin(acme: Desk, person: requests.Session) -> str:
    """Where GitHub sends somebody back to who began to sign in."""
    there = person.get(f"{acme.url}/sign-in", allow_redirects=False, timeout=20).headers["Location"]
    return person.get(f"{there}&login_as={MEMBER}", allow_redirects=False, timeout=20).headers["Location"]


def test_a_session_is_new_after_signing_in_and_what_was_there_before_opens_nothing(acme: Desk) -> None:
    person = acme.browser()
    back = begin(acme, person)
    before = person.cookies["assay"]
    assert person.get(back, timeout=20).status_code == 200
    assert person.cookies["assay"] != before
    planted = acme.browser()
    planted.cookies.set("assay", before, domain="127.0.0.1")
    assert status(planted, acme.url + "/") == 401


def test_two_sign_ins_of_one_person_are_two_sessions(acme: Desk) -> None:
    first, second = (acme.signed_in(WRITER).get(acme.url, timeout=20).text for _ in range(2))
    tokens = {
        next(one["value"] for one in read(text).all("input") if one["name"] == "csrf") for text in (first, second)
    }
    assert len(tokens) == 2


def test_a_callback_works_once_and_only_in_the_browser_that_began(acme: Desk) -> None:
    person, thief = acme.browser(), acme.browser()
    back = begin(acme, person)
    assert status(thief, back) == 403
    begin(acme, thief)
    assert status(thief, back) == 403
    assert status(person, back) == 303
    assert status(person, back) == 403
    assert status(thief, acme.url + "/") == 401


def test_a_stolen_code_is_of_no_use_in_another_session(acme: Desk) -> None:
    victim, thief = acme.browser(), acme.browser()
    code = parse_qs(urlsplit(begin(acme, victim)).query)["code"][0]
    state = parse_qs(urlsplit(begin(acme, thief)).query)["state"][0]
    answer = thief.get(f"{acme.url}/sign-in/callback", params={"code": code, "state": state}, timeout=20)
    assert answer.status_code == 502
    assert "bad_verification_code" in answer.text
    assert status(thief, acme.url + "/") == 401


@pytest.mark.parametrize("query", ["", "code=x", "error=access_denied&error_description=%3Cscript%3E", "state=&code="])
def test_a_callback_without_what_it_needs_is_refused(acme: Desk, query: str) -> None:
    person = acme.browser()
    state = parse_qs(urlsplit(begin(acme, person)).query)["state"][0]
    answer = person.get(f"{acme.url}/sign-in/callback?{query or f'state={state}'}", timeout=20)
    assert answer.status_code == 403
    assert "<script>" not in answer.text


def test_a_cancelled_sign_in_is_told_so(acme: Desk) -> None:
    person = acme.browser()
    state = parse_qs(urlsplit(begin(acme, person)).query)["state"][0]
    answer = person.get(f"{acme.url}/sign-in/callback", params={"error": "access_denied", "state": state}, timeout=20)
    assert (answer.status_code, "cancelled" in answer.text) == (403, True)


def test_a_sign_in_cannot_be_finished_much_later(own: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    late = datetime.now(UTC) + timedelta(minutes=11)
    person = own.browser()
    back = begin(own, person)
    _at(own, monkeypatch, late)
    assert status(person, back) == 403


def _at(made: Desk, monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    """Let the pages of a desk believe that it is some other time."""
    monkeypatch.setattr(made.clock, "now", moment)


def test_a_session_ends_after_twelve_hours_whatever_one_does(own: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = datetime.now(UTC)
    person = own.signed_in(MEMBER)
    for hours, expected in ((6, 200), (11.9, 200), (12.1, 401)):
        _at(own, monkeypatch, begun + timedelta(hours=hours))
        assert status(person, own.url + "/") == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "",
        "runs",
        "/\t/evil.example",
        "/\n/evil.example",
        "/" + "a" * 600,
        "/sign-out",
        "/\N{FULLWIDTH SOLIDUS}evil.example",
    ],
)
def test_one_is_never_led_elsewhere_after_signing_in(text: str) -> None:
    assert local_path(text) == "/"


def test_a_path_of_ours_is_kept() -> None:
    assert local_path("/runs/700-1?by=language&sort=f1") == "/runs/700-1?by=language&sort=f1"


def test_no_token_of_github_is_kept_or_shown_anywhere(own: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    person = own.browser()
    answer = own.sign_in(MEMBER, browser=person)
    tokens = [value for value in own.github.world.tokens if value.startswith("ghu_")]
    assert len(tokens) == 1
    seen = [one.url + repr(one.headers) + one.text for one in (*answer.history, answer)]
    held = [_opened(cookie.value or "") for cookie in person.cookies]
    assert MEMBER in held[0]
    secrets = [*tokens, own.github.world.apps["acme-checks"].client_secret]
    for text in (*seen, *held, caplog.text, *(repr(one.__dict__) for one in (own.app,))):
        assert not [secret for secret in secrets if secret in text]
    for path in Path(own.services.bundles.parent).rglob("*"):
        assert not path.is_file() or not [one for one in secrets if one.encode() in path.read_bytes()]


def _opened(cookie: str) -> str:
    """What somebody reads in a cookie who has it."""
    text = cookie.lstrip(".").partition(".")[0]
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return (zlib.decompress(data) if cookie.startswith(".") else data).decode()


# --- out --------------------------------------------------------------------------------------------------------


def form_of(person: requests.Session, acme: Desk) -> dict[str, str]:
    return {"csrf": token_in(person.get(acme.url + "/", timeout=20).text)}


def test_signing_out_ends_the_session_also_where_its_cookie_was_copied(own: Desk) -> None:
    person, thief, neighbour = own.signed_in(MEMBER), own.browser(), own.signed_in(WRITER)
    thief.cookies.set("assay", person.cookies["assay"], domain="127.0.0.1")
    assert status(thief, own.url + "/") == 200
    sent = form_of(person, own)
    answer = person.post(f"{own.url}/sign-out", data=sent, headers={"Origin": own.url}, timeout=20)
    assert answer.url == f"{own.url}/signed-out"
    assert [status(one, own.url + "/") for one in (person, thief, neighbour)] == [401, 401, 200]
    assert status(own.signed_in(MEMBER), own.url + "/") == 200


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:1"])
def test_a_form_from_elsewhere_does_nothing(acme: Desk, origin: str | None) -> None:
    person = acme.signed_in(WRITER)
    headers = {} if origin is None else {"Origin": origin}
    answer = person.post(f"{acme.url}/sign-out", data=form_of(person, acme), headers=headers, timeout=20)
    assert answer.status_code == 403
    assert status(person, acme.url + "/") == 200


@pytest.mark.parametrize("token", ["", "0" * 64, "\N{SNOWMAN}"])
def test_a_form_without_its_token_does_nothing(acme: Desk, token: str) -> None:
    person = acme.signed_in(WRITER)
    answer = person.post(f"{acme.url}/sign-out", data={"csrf": token}, headers={"Origin": acme.url}, timeout=20)
    assert answer.status_code == 403
    assert status(person, acme.url + "/") == 200


def test_the_token_of_one_person_is_of_no_use_to_another(acme: Desk) -> None:
    person, other = acme.signed_in(WRITER), acme.signed_in(MEMBER)
    sent = form_of(other, acme)
    assert person.post(f"{acme.url}/sign-out", data=sent, headers={"Origin": acme.url}, timeout=20).status_code == 403


def test_nobody_is_signed_out_by_a_link(acme: Desk) -> None:
    person = acme.signed_in(WRITER)
    assert status(person, f"{acme.url}/sign-out") == 405
    assert status(person, acme.url + "/") == 200


def test_a_cookie_that_was_changed_is_no_session(acme: Desk) -> None:
    person = acme.signed_in(MEMBER)
    value = person.cookies["assay"]
    head, _, rest = value.partition(".")
    forged = base64.urlsafe_b64encode(_opened(value).replace(MEMBER, WRITER).encode()).rstrip(b"=").decode()
    assert forged != head
    thief = acme.browser()
    thief.cookies.set("assay", f"{forged}.{rest}", domain="127.0.0.1")
    assert status(thief, acme.url + "/") == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(acme: Desk) -> None:
    answer = acme.browser().get(f"{acme.url}/sign-in", allow_redirects=False, timeout=20)
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(answer.headers["Set-Cookie"].split("; "))


def test_behind_https_the_cookie_goes_by_https_alone(tmp_path: Path) -> None:
    with desk(tmp_path, {"ASSAY_PUBLIC_URL": "https://assay.example.com"}) as made:
        answer = made.browser().get(f"{made.url}/sign-in", allow_redirects=False, timeout=20)
        assert answer.headers["Set-Cookie"].startswith("__Host-assay=")
        assert "Secure" in answer.headers["Set-Cookie"].split("; ")
        asked = parse_qs(urlsplit(answer.headers["Location"]).query)
        assert asked["redirect_uri"] == ["https://assay.example.com/sign-in/callback"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://assay.example.com", "https://assay.example.com"),
        ("https://Assay.example.com:443/x", "https://assay.example.com"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_origin_is_written_as_browsers_do(url: str, expected: str) -> None:
    assert wiring.origin(url) == expected
