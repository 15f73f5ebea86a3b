"""What people do on the pages: sort, filter, compare, overrule a judge and take it back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.web.counting import Counting
from scoring.bundle import Bundle, JudgementSet
from scoring.model import Verdict
from tests.browser import axe
from tests.browser.test_sign_in import sign_in
from tests.browser.watching import PHONE, tab
from tests.pages.served import MEMBER, WRITER, Desk, desk
from tests.pages.world import made_bundle, reviewer_names


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk(tmp_path_factory.mktemp("acme")) as made:
        made.add_run("700-1", made_bundle(6, reviewer_names(10)))
        made.add_run("7000-1", disagreed())
        yield made


def disagreed() -> Bundle:
    """The run's judge finds nothing matched, the other everything: whatever a person decides matters."""
    made = made_bundle(2, reviewer_names(3), judges=("model-x", "model-y"), plan={"judge": "model-x"})
    sets = zip(made.judgements, (Verdict.NO_MATCH, Verdict.MATCH), strict=True)
    return replace(made, judgements=tuple(_all(one, verdict) for one, verdict in sets))


def _all(judged: JudgementSet, verdict: Verdict) -> JudgementSet:
    trials = tuple(
        replace(trial, judgements=tuple(replace(said, verdict=verdict) for said in trial.judgements))
        for trial in judged.trials
    )
    return replace(judged, trials=trials)


def names(page: Page) -> list[str]:
    return [one.strip() for one in page.locator("#leaderboard tbody th[scope=row]").all_inner_texts()]


def numbers(page: Page, title: str) -> list[float]:
    heads = [one.strip() for one in page.locator("#leaderboard thead th").all_inner_texts()]
    cells = page.locator(f"#leaderboard tbody tr > :nth-child({heads.index(title) + 1})").all_inner_texts()
    return [float(one.split()[0]) for one in cells if one[:1].isdigit()]


def test_a_leaderboard_is_sorted_and_filtered(browser: Browser, acme: Desk) -> None:
    with tab(browser) as shown:
        page = sign_in(shown, f"{acme.url}/runs/700-1/leaderboard", MEMBER)
        expect(page.locator("#leaderboard tbody tr")).to_have_count(10)
        before = names(page)
        for title, falls in (("recall", True), ("false alarms (FP)", False)):
            page.locator("#leaderboard thead").get_by_role("link", name=title, exact=True).click()
            expect(page.locator("#leaderboard thead th[aria-sort]")).to_have_text(title)
            shown_in_order = numbers(page, title)
            assert len(set(shown_in_order)) > 1
            assert shown_in_order == sorted(shown_in_order, reverse=falls)
        assert sorted(names(page)) == sorted(before)
        page.get_by_label("reviewer", exact=True).fill("-ac")
        page.keyboard.press("Enter")
        expect(page.locator("#leaderboard tbody tr")).to_have_count(1)
        assert names(page) == ["The revbot-ac"] or names(page) == ["revbot-ac"]
        # What it was sorted by is kept.
        expect(page.locator("#leaderboard thead th[aria-sort]")).to_have_text("false alarms (FP)")
        page.get_by_role("link", name="all", exact=True).click()
        expect(page.locator("#leaderboard tbody tr")).to_have_count(10)


def test_the_matrix_is_filtered_and_a_cell_leads_to_what_was_said(browser: Browser, acme: Desk) -> None:
    with tab(browser, PHONE) as shown:
        page = sign_in(shown, f"{acme.url}/runs/700-1", MEMBER)
        rows = page.locator("table.matrix tbody tr")
        expect(rows).to_have_count(6)
        page.goto(f"{acme.url}/runs/700-1?language=go")
        assert 0 < rows.count() < 6
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        page.locator("table.matrix td.spot a").first.click()
        expect(page.locator(":target")).to_be_visible()


def test_what_is_being_counted_comes_by_itself(
    browser: Browser, acme: Desk, checker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tab(browser) as shown, monkeypatch.context() as patch:
        patch.setattr(Counting, "ready", lambda *_: False)
        page = sign_in(shown, f"{acme.url}/runs/700-1/overlap", MEMBER)
        expect(page.get_by_role("heading", name="Being counted")).to_be_visible()
        assert axe.grave(page, checker) == []
        patch.undo()
        expect(page.get_by_role("heading", name="Being counted")).to_be_hidden()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert "Being counted" not in page.title()


def record(page: Page) -> list[str]:
    return page.locator("[aria-label='Record of rulings'] tbody tr").all_inner_texts()


def test_a_verdict_is_overturned_and_undone_with_keys_alone(browser: Browser, acme: Desk) -> None:
    with tab(browser) as shown:
        page = sign_in(shown, f"{acme.url}/runs/7000-1/adjudicate", WRITER)
        question = page.locator("section.question")
        expect(question).to_be_visible()
        # Nobody is named before it is decided.
        assert "revbot-" not in question.inner_text()
        assert record(page) == []
        judged = page.locator(".effect tbody tr")
        page.keyboard.press("1")
        expect(page.locator(".effect")).to_contain_text("Decided")
        told = page.locator(".effect").inner_text()
        assert "revbot-" in told
        before, after = judged.all_inner_texts()
        assert before.removeprefix("before").split() != after.removeprefix("now").split(), "the score says what changed"
        assert len(record(page)) == 1
        assert WRITER in record(page)[0]
        page.keyboard.press("u")
        expect(page.locator(".effect")).to_contain_text("Taken back")
        back = judged.all_inner_texts()
        assert back[1].removeprefix("now").split() == before.removeprefix("before").split()
        trail = record(page)
        assert len(trail) == 2
        assert "took back no. 1" in trail[0]
        assert "taken back by" in trail[1]
        page.reload()
        assert len(record(page)) == 2


def test_who_may_only_read_can_look_and_decide_nothing(browser: Browser, acme: Desk) -> None:
    with tab(browser) as shown:
        page = sign_in(shown, f"{acme.url}/runs/7000-1/adjudicate", MEMBER)
        expect(page.get_by_text("Deciding needs write permission")).to_be_visible()
        page.keyboard.press("1")
        assert page.locator("form.verdict").count() == 0
        expect(page).to_have_url(f"{acme.url}/runs/7000-1/adjudicate")
