"""Signing in as a person does it: with clicks, at GitHub and back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.watching import Tab, tab
from tests.pages.served import MEMBER, OUTSIDER, Desk, desk
from tests.pages.world import made_bundle


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk(tmp_path_factory.mktemp("acme")) as made:
        made.add_run("700-1", made_bundle())
        made.add_run("8000-1", made_bundle(), control="other")
        yield made


def sign_in(shown: Tab, address: str, login: str) -> Page:
    """From a page that is closed to strangers to wherever one is let."""
    shown.go(address, 401).get_by_role("link", name="Sign in with GitHub").click()
    shown.page.get_by_role("link", name=f"Continue as {login}").click()
    return shown.page


def test_a_member_is_let_in_and_lands_where_they_were_going(browser: Browser, acme: Desk) -> None:
    with tab(browser) as shown:
        page = sign_in(shown, f"{acme.url}/runs/700-1?language=python", MEMBER)
        expect(page).to_have_url(f"{acme.url}/runs/700-1?language=python")
        expect(page.get_by_role("heading", name="700-1", level=1)).to_be_visible()
        expect(page.locator(".who")).to_contain_text(MEMBER)
        page.get_by_role("link", name="Assay").click()
        expect(page.locator(".card")).to_have_count(1)
        shown.go(f"{acme.url}/runs/8000-1", 404)


def test_an_outsider_is_refused_and_sees_nothing(browser: Browser, acme: Desk) -> None:
    with tab(browser) as shown:
        shown.page.on("response", lambda answer: shown.refused.add(answer.url) if answer.status == 403 else None)
        page = sign_in(shown, f"{acme.url}/runs/700-1", OUTSIDER)
        expect(page.get_by_role("heading", name="Refused")).to_be_visible()
        assert "700-1" not in page.content()
        shown.go(f"{acme.url}/runs/700-1", 401)


def test_signing_out_closes_the_pages_and_scripts_never_see_the_cookie(browser: Browser, acme: Desk) -> None:
    with tab(browser) as shown:
        page = sign_in(shown, acme.url + "/", MEMBER)
        expect(page.locator(".card")).to_have_count(1)
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
        shown.go(acme.url + "/", 401)
