"""The static site, opened from the file system: pages are found from one another, and nothing is asked of anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from bot.cli import cli
from tests.browser import axe
from tests.browser.watching import DESKTOP, PHONE, Scheme, tab
from tests.pages.world import made_bundle, write


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("site")
    bundle = write(made_bundle(4), folder / "bundle")
    made = CliRunner().invoke(cli, ["site", str(bundle), "-o", str(folder / "out")])
    assert made.exit_code == 0, made.output
    yield folder / "out"


def test_one_can_go_through_the_site_without_a_server(browser: Browser, site: Path) -> None:
    with tab(browser) as shown:
        page = shown.go((site / "index.html").as_uri())
        page.locator(".card a").first.click()
        expect(page.locator("table.matrix, .empty").first).to_be_visible()
        page.get_by_role("link", name="Leaderboard").first.click()
        expect(page.locator("#leaderboard tbody tr").first).to_be_visible()
        for picture in page.locator("main img").all():
            picture.scroll_into_view_if_needed()
            assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 0
            assert picture.get_attribute("alt")
        page.go_back()
        page.locator("table.matrix tbody th a").first.click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.locator("form").count() == 0
        assert page.locator("script").count() == 0


def test_the_site_works_without_scripts_and_on_a_phone(browser: Browser, site: Path) -> None:
    with tab(browser, PHONE, "dark", java_script_enabled=False) as shown:
        page = shown.go((site / "index.html").as_uri())
        page.locator(".card a").first.click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_no_page_of_the_site_is_closed_to_anybody(
    browser: Browser, site: Path, checker: str, size: tuple[int, int], scheme: Scheme
) -> None:
    found: list[str] = []
    with tab(browser, size, scheme) as shown:
        for path in _one_of_each(site):
            page = shown.go(path.as_uri())
            found += [f"{path.relative_to(site)}: {one}" for one in axe.grave(page, checker)]
    assert found == []


def _one_of_each(site: Path) -> list[Path]:
    """The first page of every folder and kind: variants beside it are the same page with other rows."""
    plain = [path for path in sorted(site.rglob("*.html")) if "_" not in path.name]
    kinds: dict[tuple[int, str], Path] = {}
    for path in plain:
        parts = path.relative_to(site).parts
        fixed = parts[-1] if len(parts) == 3 else "-".join(parts[:1] + parts[2:-1])
        kinds.setdefault((len(parts), fixed), path)
    assert len(kinds) >= 4
    return list(kinds.values())
