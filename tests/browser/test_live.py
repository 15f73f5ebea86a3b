"""A run of the demo, watched in the browser from before it begins to its end, without ever loading a page by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.watching import tab
from tests.flows.world import TINY, bench

_TELL_STATES = """addEventListener("DOMContentLoaded", () => {
  let last = "";
  const note = () => {
    const shown = document.querySelector("#progress");
    const text = shown ? shown.innerText.replace(/\\s+/g, " ") : "";
    if (text && text !== last) window.tell(last = text);
  };
  new MutationObserver(note).observe(document.body, {childList: true, subtree: true, characterData: true});
  note();
});"""


@pytest.mark.timeout(180)
def test_a_run_is_watched_live_to_its_end(browser: Browser, tmp_path: Path) -> None:
    with bench(tmp_path) as made, tab(browser) as shown:
        made.wait_for(lambda: made.app.exited is None and _answers(made.world.pages))
        seen: list[str] = []
        loaded: list[str] = []
        shown.page.expose_function("tell", lambda text: seen.append(text))
        shown.page.add_init_script(_TELL_STATES)
        page = shown.go(made.world.pages)
        expect(page.get_by_text("No run yet.")).to_be_visible()
        made.ask(TINY)
        made.wait_for(lambda: _lists_a_run(made.world.pages))
        page.reload()
        page.locator(".card a").first.click()
        expect(page.locator("#progress")).to_be_visible()
        page.wait_for_load_state("load")
        page.wait_for_function("document.readyState === 'complete'")
        page.on("load", lambda where: loaded.append(where.url))
        # The page loads itself once, at the end, when there is a matrix to show.
        expect(page.locator("table.matrix")).to_be_visible(timeout=110_000)
        page.wait_for_function("document.readyState === 'complete'")
        page.wait_for_timeout(500)
        assert len(loaded) == 1
        assert len(set(seen)) >= 3, seen
        assert made.finish().stage == "done"
        assert page.locator("table.matrix tbody tr").count() == 2
        page.get_by_role("link", name="Leaderboard").first.click()
        expect(page.locator("#leaderboard tbody tr")).to_have_count(2)


def _answers(address: str) -> bool:
    import requests

    try:
        return requests.get(f"{address}readyz", timeout=5).status_code == 200
    except requests.ConnectionError:
        return False


def _lists_a_run(address: str) -> bool:
    import requests

    return "No run yet." not in requests.get(address, timeout=5).text
