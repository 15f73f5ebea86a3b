"""A browser that watches what pages do: whatever they ask of elsewhere, or complain about, fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Route, sync_playwright

REQUIRED = "REQUIRE_ORACLES"
"""Set to 1 where a missing browser is a failure and not a reason to skip."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
)
DESKTOP, PHONE = (1280, 900), (360, 740)
Scheme = Literal["light", "dark"]
_HERE = frozenset({"127.0.0.1", "localhost"})


def program() -> str:
    """The system's Chromium; the test is skipped aloud where there is none, or fails where it is required."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is not None:
        return found
    told = f"no browser: none of {', '.join(NAMES)} is installed"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(told, pytrace=False)
    pytest.skip(told)


@contextmanager
def launched() -> Iterator[Browser]:
    """One headless browser."""
    path = program()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Tab:
    """A page with everything that went wrong in it. Not slotted: the driver keeps its wrappers of methods here."""

    page: Page
    problems: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Addresses whose answer is meant to be a refusal; the browser calls that an error."""

    def go(self, address: str, status: int = 200) -> Page:
        """Open an address; what it answers is as told."""
        if status >= 400:
            self.refused.add(address)
        answer = self.page.goto(address)
        if answer is not None and address.startswith("http"):
            assert answer.status == status, f"{address} answered {answer.status}"
        return self.page

    def watch(self) -> None:
        """Begin to watch."""
        self.page.context.route("**/*", self._route)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(f"a script failed: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("requestfailed", self._failed)

    def _route(self, route: Route) -> None:
        parts = urlsplit(route.request.url)
        if parts.scheme in ("file", "data", "blob", "about") or parts.hostname in _HERE:
            route.continue_()
            return
        self.problems.append(f"asked for {route.request.url}")
        route.abort()

    def _said(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        where = str(message.location.get("url", ""))
        if message.text.startswith("Failed to load resource") and where in self.refused:
            return
        self.problems.append(f"{message.type} at {where}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self.problems.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _failed(self, request: Request) -> None:
        # What is still under way when its page is left is cut off, as is every stream of events; the rest has to come.
        if request.failure != "net::ERR_ABORTED" and not request.url.endswith("/events"):
            self.problems.append(f"did not come: {request.url} ({request.failure})")

    def end(self) -> None:
        """Close it, and fail if anything went wrong in it."""
        self.page.context.close()
        assert self.problems == []


@contextmanager
def tab(browser: Browser, size: tuple[int, int] = DESKTOP, scheme: Scheme = "light", **more: Any) -> Iterator[Tab]:
    """A window of a person of their own: no cookie of anybody else is in it."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **more)
    context.set_default_timeout(20_000)
    made = Tab(context.new_page())
    made.watch()
    try:
        yield made
    except BaseException:
        context.close()
        raise
    made.end()
