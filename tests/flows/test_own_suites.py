"""An organisation's own suite, from the push of its file to a run on a private upstream."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from bot.demo.world import AUTHOR, CONTROL, MAINTAINER, ORG, Asked
from bot.sandbox import gitstore
from tests.bot.test_org_suites import text
from tests.flows.world import Bench, bench

BASE = {"rates.py": b"def rate(tenant, name):\n    return CACHE[tenant, name]\n"}
HEAD = {"rates.py": b"import os\n\n\ndef rate(tenant, name):\n    return CACHE[name]\n"}
PATH = ".assay/suites/house.yaml"


def upstream(here: Bench) -> tuple[str, str]:
    """A private repository of the organisation; its base and head commit."""
    gh = here.world.sandbox
    gh.create_repo(ORG, "rates", private=True, files=BASE, collaborators={MAINTAINER: "admin"})
    gh.commit(f"{ORG}/rates", "topic", HEAD, "Share the cache", by=AUTHOR)
    with gh.world.lock:
        refs = gitstore.refs(gh.world.repo(ORG, "rates").path, "refs/heads/")
    return refs["refs/heads/main"], refs["refs/heads/topic"]


def put(here: Bench, content: bytes, before: str | None = None, path: str = PATH) -> tuple[str, str]:
    """Push a file to the control repository's default branch; the commit and the file's own sha."""
    body = {"message": "A suite", "content": base64.b64encode(content).decode()} | ({"sha": before} if before else {})
    raw = here.world.get("PUT", f"/repos/{CONTROL}/contents/{path}", body=body)
    return raw["commit"]["sha"], raw["content"]["sha"]


def checks(here: Bench, sha: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = here.world.get("GET", f"/repos/{CONTROL}/commits/{sha}/check-runs")["check_runs"]
    return [one for one in found if one["name"] == "Assay suites"]


def notes(here: Bench, check: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = here.world.get("GET", f"/repos/{CONTROL}/check-runs/{check['id']}/annotations")
    return found


def asked(suite: str, **changes: Any) -> Asked:
    return Asked(suite=suite, reviewers=("lintwarden",), pulls="cache-keys", **changes)


def test_a_suite_is_checked_where_it_is_pushed_and_run_on_what_only_the_organisation_may_read(tmp_path: Path) -> None:
    with bench(tmp_path, extra={"ASSAY_UPSTREAM_URL": "{github}"}) as here:
        here.wait_for(lambda: "takes deliveries" in here.app.tail(40))
        base, head = upstream(here)
        suite = text(base=base, head=head, upstream=f"{ORG}/rates")
        blob = _told_what_is_wrong(here, suite.replace(b"severity: high", b"severity: hgh"))
        own = b"version: 1\nreviewers:\n  - {id: lintwarden, wait: {grace: 2}}\n"
        put(here, own, path=".assay/reviewers.yaml")
        mended, _ = put(here, suite, blob)
        here.wait_for(lambda: bool(checks(here, mended)))
        (check,) = checks(here, mended)
        assert check["conclusion"] == "success"
        assert "org/house" in check["output"]["summary"]
        here.ask(asked("house"))
        here.wait_for(lambda: bool(here.ours("progress") or here.ours("problems") or here.ours("refusal")))
        assert here.ours("progress"), here.comments()[-1]["body"]
        outcome = here.finish()
        assert outcome.stage == "done", outcome
        _check_bundle(next((here.data / "bundles").glob("*-1")), mended)


def _told_what_is_wrong(here: Bench, broken: bytes) -> str:
    """A broken suite is told at its line where it was pushed, and to whoever asks for it."""
    pushed, blob = put(here, broken)
    here.wait_for(lambda: bool(checks(here, pushed)))
    (check,) = checks(here, pushed)
    assert check["conclusion"] == "action_required"
    (note,) = notes(here, check)
    assert (note["path"], note["start_line"]) == (PATH, 21)
    assert "did you mean" in note["message"]
    here.ask(asked("house"))
    here.wait_for(lambda: bool(here.ours("problems")))
    assert "house.yaml:21" in here.ours("problems")[0]
    return blob


def _check_bundle(folder: Path, commit: str) -> None:
    assert json.loads((folder / "suite.json").read_text())["id"] == "org/house"
    card = json.loads((folder / "card.json").read_text())
    assert card["notes"][0].startswith("Private: the suite is an organisation's own.")
    plan = json.loads((folder / "evidence" / "plan.json").read_text())
    assert (plan["frozen"]["suite_file"], plan["frozen"]["commit"]) == (PATH, commit)
    (entry,) = json.loads((folder / "evidence" / "registry.json").read_text())
    assert entry["wait"]["grace"] == 2
