"""Each reviewer of the sandbox, from the webhook to what stands on the pull request, and how that is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.model import Asks, RepoName, Settled, Snapshot
from bot.registry import load_registry
from bot.sandbox.actors.api import Api
from bot.sandbox.actors.runtime import Actors, Worker
from bot.sandbox.actors.start import ACTORS, start_actors
from bot.sandbox.faults import Fault
from bot.sandbox.server import Sandbox
from bot.scrape import read
from bot.settle import decide
from scoring.candidates import extract
from scoring.model import Candidate, ReviewerId, TrialStatus

REGISTRY = load_registry(
    ("sandbox-reviewers.yaml", (package_files("manifests") / "sandbox-reviewers.yaml").read_text(encoding="utf-8"))
)
OLD = b"""\
import subprocess


def names(rows):
    return [row.name for row in rows]


def old(command):
    eval(command)
"""
NEW = b"""\
import subprocess


def names(rows, seen=[]):
    for row in rows:
        seen.append(lambda: row.name)
    return seen


def run(command):
    return subprocess.run("sh -c " + command, shell=True)


def filler():
    # Keeps the old function out of the diff.
    return 1


def filler_two():
    return 2


def old(command):
    eval(command)
"""
PYTHON = (
    {"src/a b.py": OLD, "README.md": b"x\n"},
    {"src/a b.py": NEW, "-rf.py": b"import os\nprint(1)\n", "README.md": b"y\n"},
)
SCRIPT = b"""\
export {};
export async function f(rows: string[]) {
  rows.forEach(async (r) => { await g(r); });
}
"""
WEB = ({"web/app.ts": b"export {};\n"}, {"web/app.ts": SCRIPT})
CLEAN = ({"a.py": b"X = 1\n"}, {"a.py": b"X = 1\nY = 2\n"})
TEXT = ({"a.md": b"x\n"}, {"a.md": b"y\n"})


@dataclass
class World:
    hub: Sandbox
    actors: Actors
    token: str

    def call(self, method: str, address: str, body: Mapping[str, Any] | None = None) -> Any:
        url = address if "://" in address else f"{self.hub.url}{address}"
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json"}
        answer = requests.request(method, url, json=body, headers=headers, timeout=20)
        answer.raise_for_status()
        return answer.json()

    def open(self, name: str, trees: tuple[Mapping[str, bytes], Mapping[str, bytes]]) -> str:
        """A pull request in a new repository; gives back `owner/name`."""
        repo = self.hub.create_repo("acme", name, private=True, files=trees[0], collaborators={"ann": "write"})
        self.hub.commit(repo, "topic", trees[1], "Change", by="ann")
        self.call("POST", f"/repos/{repo}/pulls", {"title": "Change", "head": "topic", "base": "main", "body": ""})
        self.settle()
        return repo

    def settle(self) -> None:
        assert self.hub.deliveries.wait_idle(30)
        assert self.actors.wait_idle(60)
        assert self.hub.deliveries.wait_idle(30)
        assert self.actors.failures == ()
        assert self.hub.deliveries.failures == []

    def snapshot(self, repo: str) -> Snapshot:
        at = f"/repos/{repo}"
        pull = self.call("GET", f"{at}/pulls/1")
        head = pull["head"]["sha"]
        return Snapshot(
            RepoName.parse(repo),
            1,
            head,
            datetime.now(UTC),
            pull,
            reviews=tuple(self.call("GET", f"{at}/pulls/1/reviews?per_page=100")),
            review_comments=tuple(self.call("GET", f"{at}/pulls/1/comments?per_page=100")),
            issue_comments=tuple(self.call("GET", f"{at}/issues/1/comments?per_page=100")),
            check_runs=tuple(self.call("GET", f"{at}/commits/{head}/check-runs")["check_runs"]),
        )

    def status(self, repo: str, who: str, after: float = 30) -> Settled:
        snapshot = self.snapshot(repo)
        asks = Asks((datetime.fromisoformat(snapshot.pull_request["created_at"]),))
        reviewer = REGISTRY.get(who)
        assert reviewer is not None
        decision = decide(snapshot, reviewer, asks, snapshot.read_started + timedelta(seconds=after))
        assert isinstance(decision, Settled), decision
        return decision

    def claims(self, repo: str, who: str) -> tuple[Candidate, ...]:
        scraped = read(self.snapshot(repo), REGISTRY, our_logins=frozenset({"ann"}))
        assert scraped.unknown_bots == ()
        reviewer = REGISTRY.get(who)
        assert reviewer is not None
        return extract(scraped.by_reviewer[ReviewerId(who)], not_findings=reviewer.signals.not_findings)


@contextmanager
def running(folder: Path, *only: str) -> Iterator[World]:
    with Sandbox(folder) as hub:
        token = hub.create_user("ann")
        hub.create_org("acme", owner="ann")
        with start_actors(hub, "acme", gap=0.02, only=only) as actors:
            yield World(hub, actors, token)


def places(claims: tuple[Candidate, ...]) -> list[tuple[str, int]]:
    return sorted((claim.place.path, claim.place.lines[0]) for claim in claims if claim.place and claim.place.lines)


def test_lintwarden_reviews_the_changed_lines_once(tmp_path: Path) -> None:
    with running(tmp_path, "lintwarden") as world:
        repo = world.open("shop", PYTHON)
        snapshot = world.snapshot(repo)
        assert [(row["user"]["login"], row["state"]) for row in snapshot.reviews] == [("lintwarden[bot]", "COMMENTED")]
        assert snapshot.issue_comments == ()
        assert world.status(repo, "lintwarden") == Settled(TrialStatus.REVIEWED_FINDINGS, True, "done signal")
        claims = world.claims(repo, "lintwarden")
    found = places(claims)
    assert {("-rf.py", 1), ("src/a b.py", 4), ("src/a b.py", 6), ("src/a b.py", 11)} <= set(found)
    assert len(claims) == len(snapshot.review_comments) == len(found)
    assert ("src/a b.py", 24) not in found


def test_lintwarden_says_clean_only_of_python_it_read(tmp_path: Path) -> None:
    with running(tmp_path, "lintwarden") as world:
        clean, text = world.open("clean", CLEAN), world.open("text", TEXT)
        assert world.status(clean, "lintwarden").status is TrialStatus.REVIEWED_CLEAN
        assert world.status(text, "lintwarden").status is TrialStatus.SKIPPED
        assert world.claims(clean, "lintwarden") == world.claims(text, "lintwarden") == ()


def test_gatewatch_answers_a_human_and_no_bot(tmp_path: Path) -> None:
    with running(tmp_path, "gatewatch") as world:
        world.hub.create_app("loud", permissions={"issues": "write", "pull_requests": "write"}, events=[])
        world.hub.install("loud", "acme", "all")
        repo = world.open("shop", PYTHON)
        human, world.token = world.token, world.hub.installation_token("loud", "acme")
        world.call("POST", f"/repos/{repo}/issues/1/comments", {"body": "@gatewatch review"})
        world.settle()
        world.token = human
        assert world.snapshot(repo).reviews == ()
        for _ in range(2):
            world.call("POST", f"/repos/{repo}/issues/1/comments", {"body": "@gatewatch review"})
            world.settle()
        snapshot = world.snapshot(repo)
        assert world.status(repo, "gatewatch") == Settled(TrialStatus.REVIEWED_FINDINGS, True, "done signal")
        assert places(world.claims(repo, "gatewatch")) == [("src/a b.py", 11)]
    assert len(snapshot.reviews) == 1
    assert "**Severity:** High · **Confidence:** High" in snapshot.review_comments[0]["body"]
    assert [(run["name"], run["conclusion"]) for run in snapshot.check_runs] == [("gatewatch / security", "neutral")]


def test_gatewatch_skips_aloud_and_is_clean_aloud(tmp_path: Path) -> None:
    with running(tmp_path, "gatewatch") as world:
        repos = [world.open("web", WEB), world.open("clean", CLEAN)]
        for repo in repos:
            world.call("POST", f"/repos/{repo}/issues/1/comments", {"body": "@gatewatch review"})
        world.settle()
        assert [world.status(repo, "gatewatch").status for repo in repos] == [
            TrialStatus.SKIPPED,
            TrialStatus.REVIEWED_CLEAN,
        ]
        assert [run["conclusion"] for run in world.snapshot(repos[0]).check_runs] == ["skipped"]


def test_quillreview_edits_its_placeholder_and_loses_no_finding(tmp_path: Path) -> None:
    with running(tmp_path, "quillreview") as world:
        repo = world.open("shop", PYTHON)
        snapshot = world.snapshot(repo)
        claims = world.claims(repo, "quillreview")
        assert world.status(repo, "quillreview") == Settled(TrialStatus.REVIEWED_FINDINGS, True, "done signal")
    (summary,) = snapshot.issue_comments
    assert "Review in progress" not in summary["body"]
    assert f"**Actionable comments posted: {len(snapshot.review_comments)}**" in snapshot.reviews[0]["body"]
    assert [(run["name"], run["status"], run["conclusion"]) for run in snapshot.check_runs] == [
        ("Quillreview", "completed", "neutral")
    ]
    assert [(row["path"], row["line"]) for row in snapshot.review_comments] == [
        ("src/a b.py", 4),
        ("src/a b.py", 6),
        ("src/a b.py", 11),
    ]
    aside = [claim for claim in claims if claim.comment_id.startswith("issue_comment/")]
    assert any("eval" in claim.text for claim in aside)
    assert len(claims) == len(snapshot.review_comments) + len(aside)


def test_quillreview_reads_typescript_and_skips_text(tmp_path: Path) -> None:
    with running(tmp_path, "quillreview") as world:
        web, text, clean = world.open("web", WEB), world.open("text", TEXT), world.open("clean", CLEAN)
        assert places(world.claims(web, "quillreview")) == [("web/app.ts", 3)]
        assert world.status(text, "quillreview").status is TrialStatus.SKIPPED
        assert world.status(clean, "quillreview") == Settled(TrialStatus.REVIEWED_CLEAN, True, "done signal")


def test_meterbot_names_a_window_and_answers_each_request_once(tmp_path: Path) -> None:
    with running(tmp_path, "meterbot") as world:
        repo = world.open("shop", CLEAN)
        assert world.status(repo, "meterbot", after=5).status is TrialStatus.RATE_LIMITED
        world.call("POST", f"/repos/{repo}/issues/1/comments", {"body": "@meterbot review"})
        world.settle()
        authors = [row["user"]["login"] for row in world.snapshot(repo).issue_comments]
    assert authors == ["meterbot[bot]", "ann", "meterbot[bot]"]


def test_mutebot_is_installed_and_silent(tmp_path: Path) -> None:
    with running(tmp_path, "mutebot") as world:
        repo = world.open("shop", PYTHON)
        snapshot = world.snapshot(repo)
        assert world.status(repo, "mutebot", after=16).status is TrialStatus.TIMEOUT
        assert "mutebot" in world.hub.world.apps
    assert (snapshot.reviews, snapshot.issue_comments, snapshot.check_runs) == ((), (), ())


def test_lost_answers_double_nothing(tmp_path: Path) -> None:
    with running(tmp_path, "lintwarden", "quillreview", "meterbot") as world:
        for path in ("/repos/*/comments", "/repos/*/reviews", "/repos/*/check-runs"):
            world.hub.faults.add(Fault("error_after", "POST", path, times=1, status=502))
        world.hub.faults.add(Fault("refuse", "GET", "/repos/*/files", times=1, status=502))
        snapshot = world.snapshot(world.open("shop", PYTHON))
        assert world.hub.faults.left() == 0
    assert_said_once(snapshot)


def test_an_event_that_comes_again_after_a_restart_doubles_nothing(tmp_path: Path) -> None:
    with running(tmp_path, "lintwarden", "quillreview", "meterbot") as world:
        events: list[tuple[str, dict[str, Any]]] = []
        world.hub.subscribe("meterbot", lambda event, payload: events.append((event, payload)))
        repo = world.open("shop", PYTHON)
        before = world.snapshot(repo)
        again = tuple(
            Worker(actor, Api(world.hub.url, f"{slug}[bot]", Held(world.hub, slug)), nullcontext(), 0.0)
            for slug, actor in ACTORS.items()
            if actor is not None and slug != "gatewatch"
        )
        with Actors(again) as restarted:
            for worker in again:
                worker.start()
                for event, payload in events:
                    worker.receive(event, payload)
            assert restarted.wait_idle(60)
            assert restarted.failures == ()
        after = world.snapshot(repo)
    assert "opened" in {payload.get("action") for _, payload in events}
    assert_said_once(after)
    assert [row["body"] for row in after.issue_comments] == [row["body"] for row in before.issue_comments]


def assert_said_once(snapshot: Snapshot) -> None:
    assert sorted(row["user"]["login"] for row in snapshot.reviews) == ["lintwarden[bot]", "quillreview[bot]"]
    assert sorted(row["user"]["login"] for row in snapshot.issue_comments) == ["meterbot[bot]", "quillreview[bot]"]
    assert len(snapshot.check_runs) == 1


@dataclass
class Held:
    """Installation tokens straight from the sandbox."""

    hub: Sandbox
    slug: str

    def token(self) -> str:
        return self.renew()

    def renew(self) -> str:
        return self.hub.installation_token(self.slug, "acme")


def said(world: World, repo: str) -> list[tuple[str, str, Any, str]]:
    snapshot = world.snapshot(repo)
    rows = [*snapshot.reviews, *snapshot.review_comments, *snapshot.issue_comments]
    return [(row["user"]["login"], row.get("path", ""), row.get("line"), row["body"]) for row in rows]


def test_two_forks_of_one_change_are_told_the_same(tmp_path: Path) -> None:
    with running(tmp_path, "lintwarden") as world:
        first, second = world.open("one", PYTHON), world.open("two", PYTHON)
        assert said(world, first) == said(world, second) != []


def test_a_new_head_is_reviewed_anew(tmp_path: Path) -> None:
    with running(tmp_path, "lintwarden", "quillreview") as world:
        repo = world.open("shop", CLEAN)
        world.hub.commit(repo, "topic", {"a.py": b"X = 1\nY = 2\nZ = Q\n"}, "More", by="ann")
        world.settle()
        snapshot = world.snapshot(repo)
    assert [row["user"]["login"] for row in snapshot.reviews].count("lintwarden[bot]") == 2
    assert [row["user"]["login"] for row in snapshot.issue_comments] == ["quillreview[bot]"]
    assert {row["line"] for row in snapshot.review_comments if row["commit_id"] == snapshot.head_sha} == {3}


def test_an_unknown_reviewer_is_refused(tmp_path: Path) -> None:
    with Sandbox(tmp_path) as hub, pytest.raises(ValueError, match="lintwarden, gatewatch"):
        start_actors(hub, "acme", only=["lintwarde"])
