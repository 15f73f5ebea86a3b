"""`assay scrape` over the stand-in: all pages, whose texts are whose, and what is said aloud."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner

from bot.cli import cli
from bot.cli_common import Failure
from bot.sandbox.faults import Fault
from bot.sandbox.server import Sandbox
from tests.sandbox.conftest import BASE, HEAD, Clock, new_key

ORG = "acme"
BOTS = ("coderabbitai", "zeta-review", "rival", "mystery")
SUITE = f"""\
suite: house
version: 1.0.0
title: Ours
licence: MIT
provenance: ours
pulls:
  - id: one
    language: python
    title: T
    body: B
    source: {{upstream: up/code, number: 7, base_sha: {"a" * 40}, head_sha: {"b" * 40}}}
    goldens:
      - {{id: g, path: a.py, lines: [10, 10], category: correctness, severity: high, finding: Wrong., evidence: e}}
  - id: two
    language: python
    title: T
    body: B
    source: {{upstream: up/code, number: 8, base_sha: {"a" * 40}, head_sha: {"c" * 40}}}
    clean: true
"""


@dataclass
class Place:
    """Two forks on the stand-in, and the files that name them."""

    gh: Sandbox
    folder: Path
    alice: str
    clock: Clock | None = None

    def bot(self, slug: str, method: str, path: str, /, **body: Any) -> Any:
        if self.clock is not None:
            self.clock.forward(seconds=1)
        return self.call(method, path, self.gh.installation_token(slug, ORG), **body)

    def call(self, method: str, path: str, token: str, /, **body: Any) -> Any:
        answer = requests.request(
            method, self.gh.url + path, headers={"Authorization": f"Bearer {token}"}, json=body or None, timeout=30
        )
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def remark(self, slug: str, repo: str, body: str, line: int = 10) -> Any:
        sha = self.call("GET", f"/repos/{repo}/pulls/1", self.alice)["head"]["sha"]
        spec = {"path": "a.py", "line": line, "side": "RIGHT", "commit_id": sha, "body": body}
        return self.bot(slug, "POST", f"/repos/{repo}/pulls/1/comments", **spec)

    def scrape(self, *arguments: str, code: int = 0, **settings: str) -> tuple[dict[str, Any], str]:
        known = {"ASSAY_GITHUB_API_URL": self.gh.url, "ASSAY_AUTHOR_TOKEN": self.alice} | settings
        forks, suite, out = (str(self.folder / name) for name in ("forks.json", "house.yaml", "out"))
        done = run("scrape", forks, "--suite", suite, "-o", out, "--json", *arguments, **known)
        assert done.code == code, done.err
        return (json.loads(done.out) if done.out else {}), done.err


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


def run(*arguments: str, **settings: str) -> Done:
    """A command in this process, with these settings and no others."""
    env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("ASSAY_")}
    ended = CliRunner().invoke(cli, arguments, env=env | {name: value for name, value in settings.items() if value})
    if isinstance(ended.exception, Failure):
        return Done(ended.exception.code, ended.stdout, ended.stderr + ended.exception.message)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), repr(ended.exception)
    return Done(ended.exit_code, ended.stdout, ended.stderr)


def peer(number: int, repo: str, tool: str = "native") -> dict[str, Any]:
    return {
        "tool": tool,
        "original_pr_url": f"https://github.com/up/code/pull/{number}",
        "new_repo": repo,
        "new_pr_url": f"https://github.com/{repo}/pull/1",
        "base_sha": "a" * 40,
        "head_sha": None,
    }


KEY = new_key()


@contextmanager
def standing(folder: Path, *, private: bool = True, clock: Clock | None = None) -> Iterator[Place]:
    data = folder / "github"
    with Sandbox(data, clock=clock) if clock else Sandbox(data) as gh:
        alice = gh.create_user("alice")
        gh.create_org(ORG, owner="alice")
        rights = dict.fromkeys(("checks", "contents", "issues", "pull_requests", "statuses"), "write")
        for slug in BOTS:
            gh.create_app(slug, permissions=rights, events=[], webhook_secret="x", private_key_pem=KEY)
            gh.install(slug, ORG)
        place = Place(gh, folder, alice, clock)
        for name in ("one-fork", "two-fork"):
            gh.create_repo(ORG, name, private=private, files=BASE)
            gh.commit(f"{ORG}/{name}", "topic", HEAD, "Change", by="alice")
            made = {"title": "T", "body": "B", "head": "topic", "base": "main"}
            place.call("POST", f"/repos/{ORG}/{name}/pulls", alice, **made)
        (folder / "house.yaml").write_text(SUITE, encoding="utf-8")
        entries = [peer(7, f"{ORG}/one-fork"), peer(8, f"{ORG}/two-fork")]
        (folder / "forks.json").write_text(json.dumps(entries), encoding="utf-8")
        yield place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with standing(tmp_path, clock=Clock()) as made:
        yield made


MAP = ("--bot-map", "coderabbitai[bot]=coderabbit,zeta-review[bot]=zeta", "--bot-map", "rival[bot]=zeta")


def test_everything_said_is_read_by_author_and_the_bundle_can_be_scored(place: Place) -> None:
    one, two = f"{ORG}/one-fork", f"{ORG}/two-fork"
    for number in range(45):
        place.remark("zeta-review", one, f"Line ten is wrong in way {number}.")
    place.remark("rival", one, "Line ten was right before.")
    place.bot(
        "coderabbitai",
        "POST",
        f"/repos/{one}/pulls/1/reviews",
        body="**Actionable comments posted: 1**",
        event="COMMENT",
    )
    place.remark("coderabbitai", one, "_Potential issue_ | _Major_\n\n**Line ten is wrong.**")
    place.bot("coderabbitai", "POST", f"/repos/{two}/issues/1/comments", body="> ## Review limit reached\n> Wait.")
    place.bot("mystery", "POST", f"/repos/{two}/issues/1/comments", body="I found a race.")
    place.bot("zeta-review", "POST", f"/repos/{two}/issues/1/comments", body="It is racy.")
    told, said = place.scrape(*MAP)
    assert told["reviewers"]["zeta"]["comments"] == 47
    assert told["reviewers"]["coderabbit"]["statuses"] == {"reviewed_findings": 1, "rate_limited": 1}
    assert told["unknown_bots"] == [{"login": "mystery[bot]", "items": 1, "perhaps": ""}]
    assert "UNKNOWN BOT mystery[bot]: 1 items are nobody's" in said
    (exposed,) = [one for one in told["contamination"] if one["reviewer"] == "coderabbit"]
    assert exposed == {"reviewer": "coderabbit", "forks": 1, "exposed": 1, "findings": 46, "most": 46}
    assert not (place.folder / ".out.reading").exists()
    scored = run("rescore", str(place.folder / "out"), "--json")
    assert scored.code == 0, scored.err
    rows = {row["reviewer"]: row for row in json.loads(scored.out)["reviewers"]}
    assert rows["coderabbit"]["coverage"]["by_status"]["rate_limited"] == 1
    assert run("bundle", "verify", str(place.folder / "out")).code == 0


def test_a_silent_reviewer_has_a_trial_without_an_answer_and_a_misspelt_login_is_told(place: Place) -> None:
    place.remark("zeta-review", f"{ORG}/one-fork", "Line ten is wrong.")
    told, said = place.scrape("--bot-map", "zeta-review[bot]=zeta,code-rabbit[bot]=coderabbit")
    assert told["reviewers"]["coderabbit"]["statuses"] == {"timeout": 2}
    assert told["reviewers"]["zeta"]["statuses"] == {"reviewed_findings": 1, "timeout": 1}
    assert told["silent_logins"] == ["code-rabbit[bot]"]
    assert "code-rabbit[bot] of --bot-map said nothing" in said


def test_without_a_map_the_registry_says_who_spoke(place: Place) -> None:
    place.remark("coderabbitai", f"{ORG}/one-fork", "**Line ten is wrong.**")
    place.remark("zeta-review", f"{ORG}/one-fork", "Line ten is wrong.")
    told, said = place.scrape()
    assert set(told["reviewers"]) == {"coderabbit"}
    assert "UNKNOWN BOT zeta-review[bot]" in said


def test_a_name_of_ones_own_for_a_known_account_keeps_its_words(place: Place) -> None:
    body = "No actionable comments were generated in the recent review."
    place.bot("coderabbitai", "POST", f"/repos/{ORG}/one-fork/issues/1/comments", body=body)
    told, _ = place.scrape("--bot-map", "coderabbitai[bot]=Rabbit Two")
    assert told["reviewers"]["rabbit-two"]["statuses"] == {"reviewed_clean": 1, "timeout": 1}


def test_nobody_anybody_knows_is_no_empty_bundle(place: Place) -> None:
    place.bot("mystery", "POST", f"/repos/{ORG}/one-fork/issues/1/comments", body="A race.")
    _, said = place.scrape(code=3)
    assert "UNKNOWN BOT mystery[bot]" in said
    assert "name some with --bot-map" in said
    assert not (place.folder / "out").exists()


def test_an_interrupted_reading_goes_on_where_it_was(place: Place) -> None:
    place.remark("zeta-review", f"{ORG}/one-fork", "Line ten is wrong.")
    fault = Fault("refuse", "GET", f"/repos/{ORG}/two-fork/pulls/1", status=404, times=99)
    place.gh.faults.add(fault)
    _, said = place.scrape(*MAP, code=3)
    assert "1 of 2 forks are kept: run it again to go on" in said
    assert not (place.folder / "out").exists()
    place.gh.faults.clear()
    before = len(place.gh.api.log)
    told, _ = place.scrape(*MAP)
    assert told["forks"] == 2
    asked = [one.path for one in place.gh.api.log[before:]]
    assert not [path for path in asked if "one-fork" in path]


def test_public_forks_are_read_by_anybody_and_private_ones_say_what_is_missing(tmp_path: Path) -> None:
    with standing(tmp_path, private=False) as place:
        place.remark("zeta-review", f"{ORG}/one-fork", "Line ten is wrong.")
        told, _ = place.scrape(*MAP, ASSAY_AUTHOR_TOKEN="")
        assert told["reviewers"]["zeta"]["comments"] == 1


def test_private_forks_need_somebody_who_may(place: Place) -> None:
    _, said = place.scrape(*MAP, code=3, ASSAY_AUTHOR_TOKEN="")
    assert "acme/one-fork#1 is not there, or may not be read (nobody: 404); set ASSAY_AUTHOR_TOKEN" in said


def test_the_app_reads_where_it_is_installed(tmp_path: Path) -> None:
    with standing(tmp_path) as place:
        place.remark("zeta-review", f"{ORG}/one-fork", "Line ten is wrong.")
        rights = dict.fromkeys(("checks", "contents", "issues", "metadata", "pull_requests", "statuses"), "read")
        keys = place.gh.create_app("assay", permissions=rights, events=[], webhook_secret="x", private_key_pem=KEY)
        place.gh.install("assay", ORG)
        key = place.folder / "key.pem"
        key.write_text(keys.private_key_pem, encoding="ascii")
        app = {"ASSAY_APP_ID": str(keys.app_id), "ASSAY_PRIVATE_KEY_FILE": str(key), "ASSAY_AUTHOR_TOKEN": ""}
        told, _ = place.scrape(*MAP, code=0, **app)
        assert told["reviewers"]["zeta"]["comments"] == 1


def test_our_own_forms_are_read_and_forks_of_one_reviewer_are_flagged_when_others_spoke(place: Place) -> None:
    ours = {
        "schema": "assay.forks/1",
        "forks": [
            {"pull": "one", "repo": f"{ORG}/one-fork", "number": 1, "reviewers": ["zeta"]},
            {"pull": "two", "repo": f"{ORG}/two-fork", "number": 1, "reviewers": ["coderabbit"]},
        ],
    }
    (place.folder / "forks.json").write_text(json.dumps(ours), encoding="utf-8")
    place.remark("zeta-review", f"{ORG}/one-fork", "Line ten is wrong.")
    place.remark("coderabbitai", f"{ORG}/two-fork", "**Line ten is wrong.**")
    told, _ = place.scrape(*MAP)
    assert told["isolated"] is True
    assert told["trials"] == 2
    place.remark("coderabbitai", f"{ORG}/one-fork", "**Line ten is wrong.**")
    told, _ = place.scrape(*MAP, "--force")
    assert told["isolated"] is False
    assert told["isolation_broken"] == ["Fork one~zeta was meant for zeta alone, and coderabbit commented there."]
    kept = place.folder / "out" / "evidence" / "forks.json"
    (place.folder / "forks.json").write_bytes(kept.read_bytes())
    told, _ = place.scrape(*MAP, "--force")
    assert told["trials"] == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("{}", "expected 'assay.forks/1'"),
        ("[]", "names no fork that was made"),
        ('[{"tool": "x"}]', "forks[0].names no golden pull request"),
        ('[{"original_pr_url": "https://github.com/a/b", "new_repo": "a/b"}]', "no pull request's address"),
        ('[{"original_pr_url": "https://github.com/a/b/pull/1", "new_repo": "../etc"}]', "is not a repository"),
        ('[{"pull": "one", "repo": "a/b", "numbr": 1}]', "did you mean number?"),
        ('[{"pull": "one", "repo": "a/b", "number": true}]', "is not a pull request's number"),
        ('[{"pull": "nine", "repo": "a/b", "number": 1}]', "suite house has no pull request nine"),
        (
            '[{"pull": "one", "repo": "a/b", "number": 1}, {"pull": "two", "repo": "A/b", "number": 1}]',
            "is there twice",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_is_told_before_anything_is_read(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "house.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "forks.json").write_text(content, encoding="utf-8")
    known = {"ASSAY_GITHUB_API_URL": "http://127.0.0.1:9"}
    suite, out = str(tmp_path / "house.yaml"), str(tmp_path / "out")
    done = run("scrape", str(tmp_path / "forks.json"), "--suite", suite, "-o", out, **known)
    assert done.code == 2
    assert said in done.err


def test_the_reference_forks_ship_and_fit_the_suite_they_are_of() -> None:
    from importlib import resources

    from bot.fork_manifest import pulls_of, read
    from goldens.load import load_suite
    from goldens.model import GitPin

    data = resources.files("manifests").joinpath("forks-cpp16.json").read_bytes()
    manifest, suite = read(data, "cpp16"), load_suite("cpp16")
    found = pulls_of(manifest, suite)
    assert len(found) == 16 == len(suite.pulls)
    pins = {pull.id: pull.source for pull in suite.pulls if isinstance(pull.source, GitPin)}
    told = {entry["new_repo"]: entry for entry in json.loads(data)}
    for fork, pull in found.items():
        entry = told[str(fork.repo)]
        assert (entry["base_sha"], entry["head_sha"]) == (pins[pull].base_sha, pins[pull].head_sha)


@pytest.mark.parametrize("pairs", ["x", "=y", "x=", "a b=c", "*[bot]=x", "x=a,X[bot]=b"])
def test_a_map_that_is_none_is_told(tmp_path: Path, pairs: str) -> None:
    done = run("scrape", "cpp16", "--bot-map", pairs, "-o", str(tmp_path / "out"))
    assert done.code == 2
    assert "--bot-map: " in done.err


def test_what_is_made_of_an_own_suites_bundle_says_that_it_may_not_leave(tmp_path: Path) -> None:
    from goldens.importers.folder import write_bundle
    from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
    from scoring.model import Comment, PullId, ReviewerId, Shape, SuiteRef, TrialStatus

    said = Comment("issue_comment/1", Shape.ISSUE_COMMENT, "zeta-review[bot]", "It is racy.", "")
    trial = BundleTrial(PullId("one"), ReviewerId("zeta"), TrialStatus.REVIEWED_FINDINGS, comments=(said,))
    pulls = (BundlePull(PullId("one"), ()),)
    judged = (JudgementSet("somebody", (TrialJudgements(PullId("one"), ReviewerId("zeta"), ()),)),)
    for name, told in (("org/house", True), ("house", False)):
        made = Bundle(SuiteRef(name, "1.0.0", "h"), Card("ours", "us", "claims"), pulls, (trial,), judged)
        folder = tmp_path / name.replace("/", "-")
        write_bundle(made, folder)
        done = run("export", "sarif", str(folder), str(tmp_path / f"out-{folder.name}"))
        assert done.code == 0, done.err
        assert ("may not leave the organisation" in done.err) is told
        done = run("site", str(folder), "--publish", "private", "-o", str(tmp_path / f"site-{folder.name}"))
        assert done.code == 0, done.err
        assert ("may not leave the organisation" in done.err) is told
