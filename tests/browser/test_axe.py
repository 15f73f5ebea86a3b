"""No page is closed to anybody: axe-core finds nothing serious on any of them, light and dark, large and small."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
import requests
from playwright.sync_api import Browser

from scoring.model import TrialStatus
from tests.browser import axe
from tests.browser.test_looking import disagreed
from tests.browser.watching import DESKTOP, PHONE, Scheme, tab
from tests.pages.served import MEMBER, Desk, desk
from tests.pages.world import made_bundle, read, reviewer_names

_NAMES = re.compile(r"(?<=^/runs/)[^/]+|(?<=/pulls/)[^/]+|(?<=^/reviewers/)[^/]+|(?<=^/goldens/).+")
MOST = 60
"""Addresses that are looked at; more would be one page with other rows."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The pages of a desk."""

    desk: Desk
    plain: tuple[str, ...]
    """One address of each kind of page."""
    asked: tuple[str, ...]
    """One more for each thing that can be asked of it."""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looked]:
    with desk(tmp_path_factory.mktemp("mine"), {"ASSAY_LOCAL_USER": "mira-lund"}) as made:
        made.add_run("700-1", made_bundle(5, reviewer_names(4), judges=("model-x", "model-y"), disputed=True))
        made.add_run("7000-1", disagreed())
        row = made.add_run("70000-1", stage="waiting")
        fork, reviewer = row.plan.forks[0].id, row.plan.request.reviewers[0]
        from bot.model import Settled
        from tests.pages.served import NOW

        made.store.settle(row.id, fork, reviewer, Settled(TrialStatus.TIMEOUT, False, "no answer"), NOW, 1)
        addresses = list(dict.fromkeys(_crawled(made.url)))
        plain: dict[str, str] = {}
        asked: dict[str, str] = {}
        for one in addresses:
            kind = _NAMES.sub("*", urlsplit(one).path)
            plain.setdefault(kind, one)
            asked.setdefault(" ".join([kind, *sorted(name for name, _ in parse_qsl(urlsplit(one).query))]), one)
        yield Looked(made, tuple(plain.values()), tuple(asked.values())[:MOST])


def _crawled(start: str) -> Iterator[str]:
    """Every page of ours that links lead to: of each kind, and of what can be asked of it, the first two."""
    left, seen, kinds = [start + "/"], {start + "/"}, dict[str, int]()
    while left:
        address = left.pop(0)
        parts = urlsplit(address)
        kind = " ".join([_NAMES.sub("*", parts.path), *sorted(name for name, _ in parse_qsl(parts.query))])
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > 2:
            continue
        answer = counted(address)
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue
        assert answer.status_code == 200, f"a link leads to {address}, which answers {answer.status_code}"
        yield address
        for tag in read(answer.text).all("a"):
            found = urljoin(address, tag.get("href", "")).partition("#")[0]
            if found.startswith(start + "/") and found not in seen:
                seen.add(found)
                left.append(found)


def counted(address: str) -> requests.Response:
    """What an address answers once its figures have been worked out."""
    answer = requests.get(address, timeout=60)
    while "<title>Being counted" in answer.text:
        time.sleep(0.2)
        answer = requests.get(address, timeout=60)
    return answer


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark")])
def test_no_page_is_closed_to_anybody(
    browser: Browser, mine: Looked, checker: str, size: tuple[int, int], scheme: Scheme
) -> None:
    found: list[str] = []
    everything = (size, scheme) == (DESKTOP, "light")
    with tab(browser, size, scheme) as shown:
        for address in mine.asked if everything else mine.plain:
            counted(address)
            page = shown.go(address)
            assert "Being counted" not in page.title()
            where = address.removeprefix(mine.desk.url)
            found += [f"{where}: {one}" for one in axe.grave(page, checker)]
            wide = page.evaluate("document.documentElement.scrollWidth")
            found += [f"{where}: is {wide} wide on a screen of {size[0]}"] if wide > size[0] else []
        address = f"{mine.desk.url}/runs/none"
        found += [f"an error: {one}" for one in axe.grave(shown.go(address, 404), checker)]
    assert found == []


def test_the_checker_finds_what_is_wrong(browser: Browser, checker: str) -> None:
    with tab(browser) as shown:
        shown.page.set_content("<html lang=en><title>x</title><main><input><p style='color:#ccc'>pale</p></main>")
        assert len(axe.grave(shown.page, checker)) == 2


def test_every_kind_of_page_was_looked_at(mine: Looked) -> None:
    kinds = {_NAMES.sub("*", urlsplit(one).path) for one in mine.plain}
    assert kinds >= {
        "/",
        "/goldens",
        "/reviewers",
        "/reviewers/*",
        "/runs/*",
        "/runs/*/adjudicate",
        "/runs/*/compare",
        "/runs/*/leaderboard",
        "/runs/*/overlap",
        "/runs/*/pulls/*",
    }


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_the_way_in_is_closed_to_nobody(
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
    checker: str,
    size: tuple[int, int],
    scheme: Scheme,
) -> None:
    with desk(tmp_path_factory.mktemp("acme")) as made, tab(browser, size, scheme) as shown:
        found = axe.grave(shown.go(made.url + "/", 401), checker)
        found += axe.grave(shown.go(f"{made.url}/signed-out"), checker)
        found += axe.grave(shown.go(f"{made.url}/sign-in/callback?state=x", 403), checker)
        shown.go(made.url + "/", 401).get_by_role("link", name="Sign in with GitHub").click()
        shown.page.get_by_role("link", name=f"Continue as {MEMBER}").click()
        # A list of runs with nothing in it.
        shown.page.locator(".empty").wait_for()
        found += axe.grave(shown.page, checker)
    assert found == []
