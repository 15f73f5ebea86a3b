"""The stand-in's web flow, as GitHub documents it: a code is used once, soon, and by the App it was made for."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from bot.sandbox.server import AppKeys, Sandbox

BACK = "http://127.0.0.1:9/back"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class Town:
    def __init__(self, gh: Sandbox, keys: AppKeys, clock: list[datetime]) -> None:
        self.gh, self.keys, self.clock = gh, keys, clock

    def authorize(self, **asked: str) -> requests.Response:
        given = {"client_id": self.keys.client_id, "login_as": "mel", **asked}
        return requests.get(f"{self.gh.url}/login/oauth/authorize", params=given, allow_redirects=False, timeout=20)

    def code(self, **asked: str) -> str:
        answer = self.authorize(**asked)
        assert answer.status_code == 302
        return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]

    def exchange(self, code: str, **sent: str) -> dict[str, str]:
        given = {"client_id": self.keys.client_id, "client_secret": self.keys.client_secret, "code": code, **sent}
        headers = {"Accept": "application/json"}
        answer = requests.post(f"{self.gh.url}/login/oauth/access_token", data=given, headers=headers, timeout=20)
        assert answer.status_code == 200
        told: dict[str, str] = answer.json()
        return told


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    clock = [datetime(2026, 1, 2, 10, tzinfo=UTC)]
    with Sandbox(tmp_path, clock=lambda: clock[0]) as gh:
        gh.create_user("mel")
        keys = gh.create_app("acme-app", permissions={}, events=[], callback_urls=[BACK])
        yield Town(gh, keys, clock)


def test_who_says_yes_comes_back_with_a_code_that_tells_who_they_are(town: Town) -> None:
    answer = town.authorize(state="a b&c", redirect_uri=BACK)
    back = urlsplit(answer.headers["Location"])
    assert f"{back.scheme}://{back.netloc}{back.path}" == BACK
    assert parse_qs(back.query)["state"] == ["a b&c"]
    told = town.exchange(parse_qs(back.query)["code"][0], redirect_uri=BACK)
    assert (told["token_type"], told["scope"], told["expires_in"]) == ("bearer", "", "28800")
    headers = {"Authorization": f"Bearer {told['access_token']}"}
    user = requests.get(f"{town.gh.url}/user", headers=headers, timeout=20).json()
    assert (user["login"], user["type"]) == ("mel", "User")
    town.clock[0] += timedelta(hours=8, seconds=1)
    assert requests.get(f"{town.gh.url}/user", headers=headers, timeout=20).status_code == 401


def test_a_code_works_once(town: Town) -> None:
    code = town.code()
    assert "access_token" in town.exchange(code)
    assert town.exchange(code)["error"] == "bad_verification_code"


def test_a_code_is_good_for_ten_minutes(town: Town) -> None:
    code = town.code()
    town.clock[0] += timedelta(minutes=10)
    assert town.exchange(code)["error"] == "bad_verification_code"


@pytest.mark.parametrize("sent", [{"client_secret": "wrong"}, {"client_id": "Iv23linobody"}, {"client_secret": ""}])
def test_only_the_app_can_exchange_its_codes(town: Town, sent: dict[str, str]) -> None:
    assert town.exchange(town.code(), **sent)["error"] == "incorrect_client_credentials"


def test_the_code_of_one_app_is_of_no_use_to_another(town: Town) -> None:
    rival = town.gh.create_app("rival", permissions={}, events=[], callback_urls=[BACK])
    sent = {"client_id": rival.client_id, "client_secret": rival.client_secret}
    assert town.exchange(town.code(), **sent)["error"] == "bad_verification_code"


@pytest.mark.parametrize("verifier", ["", "w" * 43])
def test_a_challenge_has_to_be_met(town: Town, verifier: str) -> None:
    code = town.code(code_challenge=CHALLENGE, code_challenge_method="S256")
    assert town.exchange(code, code_verifier=verifier)["error"] == "bad_verification_code"


def test_a_challenge_that_is_met_opens(town: Town) -> None:
    code = town.code(code_challenge=CHALLENGE, code_challenge_method="S256")
    assert "access_token" in town.exchange(code, code_verifier=VERIFIER)


@pytest.mark.parametrize("asked", [{"code_challenge": CHALLENGE}, {"code_challenge_method": "S256"},
                                   {"code_challenge": "short", "code_challenge_method": "S256"},
                                   {"code_challenge": CHALLENGE, "code_challenge_method": "plain"}])  # fmt: skip
def test_half_a_challenge_is_none(town: Town, asked: dict[str, str]) -> None:
    assert town.authorize(**asked).status_code == 400


@pytest.mark.parametrize("where", ["https://evil.example/", f"{BACK}/more", f"{BACK}?x=1", "javascript:alert(1)"])
def test_nobody_is_led_to_an_address_the_app_did_not_register(town: Town, where: str) -> None:
    location = town.authorize(redirect_uri=where, state="s").headers["Location"]
    assert location.startswith(f"{BACK}?")
    assert parse_qs(urlsplit(location).query)["error"] == ["redirect_uri_mismatch"]
    assert "code=" not in location


def test_another_address_at_the_exchange_is_refused(town: Town) -> None:
    code = town.code(redirect_uri=BACK)
    assert town.exchange(code, redirect_uri="https://evil.example/")["error"] == "redirect_uri_mismatch"


@pytest.mark.parametrize("login", ["", "nobody", "acme-app[bot]"])
def test_who_is_nobody_is_asked_who_they_are(town: Town, login: str) -> None:
    answer = town.authorize(login_as=login, state="<s>")
    assert answer.status_code == 200
    assert "Continue as <bdi>mel</bdi>" in answer.text
    assert "acme-app[bot]" not in answer.text
    assert "<s>" not in answer.text


def test_an_unknown_app_gets_no_page(town: Town) -> None:
    assert town.authorize(client_id="Iv23linobody").status_code == 404
