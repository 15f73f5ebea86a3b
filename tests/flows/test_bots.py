"""Bots that edit what they said, speak up late, or are green without having reviewed anything."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.flows.foreign import Foreign, Json, Repo
from tests.flows.foreign_bots import CENTS, SHELL
from tests.flows.test_foreign import Place, place

pytestmark = pytest.mark.timeout(300)

FORM = "### Suite\n\nsmoke\n\n### Reviewers\n\n{}\n\n### Pull requests\n\norder-totals\n"


def registry(*entries: str) -> str:
    return "version: 1\nreviewers:\n" + "".join(
        f"  - name: Someone\n    {entry}\n    trigger: {{kind: auto}}\n" for entry in entries
    )


def entry(name: str, *, quiet: int, deadline: int = 60, more: str = "") -> str:
    wait = f"wait: {{floor: 1, quiet: {quiet}, grace: 1, deadline: {deadline}}}"
    return f'id: {name}\n    logins: [{{login: "{name}[bot]"}}]\n    {wait}\n    {more}'


def rows(here: Place) -> dict[str, Mapping[str, Any]]:
    """Reviewer -> its trial, once the run is over."""
    return {trial["reviewer"]: trial for trial in here.run()["trials"]}


def notes(here: Place) -> str:
    [bundle] = (here.data / "bundles").glob("[!.]*")
    return json.dumps([json.loads(path.read_text()) for path in bundle.glob("*.json")])


def nobody(*_: object) -> None:
    return


def settled(app: Path, reviewers: Sequence[str]) -> bool:
    """Whether the trials of those reviewers are over."""
    with closing(sqlite3.connect(app / "app.db", timeout=30)) as tables:
        over = {name for (name,) in tables.execute("SELECT reviewer FROM trials WHERE settled_at IS NOT NULL")}
    return over >= set(reviewers)


def test_a_comment_that_is_edited_in_place_is_read_as_it_stands_at_the_end_and_once(tmp_path: Path) -> None:
    def speak(world: Foreign, repo: Repo, issue: Json) -> None:
        first = world.comment(repo, issue["number"], "Reading it.", "redraft[bot]")
        for text in (
            f"`{CENTS[0]}` line 1: something else entirely.",
            f"`{SHELL[0]}` line 38: {SHELL[2]}\n\nThat is all.",
        ):
            time.sleep(2.5)
            world.edit(repo, first, text)

    signals = "signals: {placeholder: ['^Reading it'], done: ['That is all']}"
    known = registry(entry("redraft", quiet=30, more=signals))
    with place(tmp_path, registry=known, bots=(speak, nobody), webhooks=False, first=FORM.format("redraft")) as here:
        trial = rows(here)["redraft"]
        assert trial["complete"]
        assert (trial["counts"]["tp"], trial["counts"]["fp"]) == (1, 0)


def test_what_a_bot_says_after_its_trial_is_over_is_kept_and_flagged_and_never_scored(tmp_path: Path) -> None:
    late = ("billing/totals.py", 52, "Late words: the calendar import makes the interpreter start slower.")

    def speak(world: Foreign, repo: Repo, issue: Json) -> None:
        world.review(repo, issue["number"], "tardy[bot]", "Tardy is done.", [SHELL])
        give_up = time.monotonic() + 90
        while not settled(tmp_path / "app", ["tardy", "overdue"]) and time.monotonic() < give_up:
            time.sleep(0.2)
        world.review(repo, issue["number"], "tardy[bot]", "One more.", [late])
        world.comment(repo, issue["number"], "Overdue: `to_cents` is fine.", "overdue[bot]")
        time.sleep(3)
        world.review(repo, issue["number"], "last[bot]", "Last is done.", [CENTS])

    known = registry(
        entry("tardy", quiet=30, more="signals: {done: ['Tardy is done'], not_findings: ['Tardy is done']}"),
        entry("overdue", quiet=2, deadline=4),
        entry("last", quiet=30, more="signals: {done: ['Last is done'], not_findings: ['Last is done']}"),
    )
    with place(tmp_path, registry=known, bots=(speak, nobody), first=FORM.format("tardy, overdue, last")) as here:
        found = rows(here)
        assert (found["tardy"]["counts"]["tp"], found["tardy"]["counts"]["fp"]) == (1, 0)
        assert found["overdue"]["status"] == "timeout"
        assert found["last"]["counts"]["tp"] == 1
        said = notes(here)
        assert "comments came or changed after their trial was settled: kept, not scored." in said
        [bundle] = (here.data / "bundles").glob("[!.]*")
        snapshots = "".join(path.read_text() for path in (bundle / "evidence" / "snapshots").rglob("*.json"))
        assert "Late words" in snapshots


def test_a_check_that_is_green_without_a_review_is_no_clean_review(tmp_path: Path) -> None:
    def speak(world: Foreign, repo: Repo, issue: Json) -> None:
        done = {"status": "completed", "conclusion": "success"}
        skipped = {"title": "Review skipped", "summary": "This repository has fewer than 10 stars."}
        world.check(repo, issue["sha"], "pike", {"name": "pike", **done, "output": skipped})
        world.check(repo, issue["sha"], "mute", {"name": "mute", **done, "output": {"title": "Completed"}})

    known = registry(
        entry(
            "pike",
            quiet=2,
            deadline=8,
            more="app_slugs: [pike]\n    check_names: [pike]\n    signals: {skipped: ['Review skipped']}",
        ),
        entry("mute", quiet=2, deadline=6, more="app_slugs: [mute]\n    check_names: [mute]"),
    )
    with place(tmp_path, registry=known, bots=(speak, nobody), first=FORM.format("pike, mute")) as here:
        found = rows(here)
        assert (found["pike"]["status"], found["mute"]["status"]) == ("skipped", "timeout")
        assert "its check completed, but it said nothing" in found["mute"]["reason"]
