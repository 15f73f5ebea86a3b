"""`assay fork`: everything about a fork is shown, nothing is sent, and what is wrong decides the exit code."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from bot import cli_forks
from bot.cli_common import Failure
from bot.forking.asking import body_of, is_preflight, smallest, title_of
from bot.forking.preflight import PreflightError, Watch
from bot.issue_form import LABELS
from bot.model import RepoName
from bot.registry import Login, Reviewer
from goldens.load import load_suite
from goldens.model import GitPin
from tests.bot.test_git_adapter_pins import FILES, HEAD, Upstream, pin_of, upstream

__all__ = ["upstream"]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting of this machine takes part."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("ASSAY_"):
            monkeypatch.delenv(name)
    yield


def fork(*args: str) -> Result:
    return CliRunner().invoke(cli_forks.fork, list(args))


def told(*args: str) -> dict[str, Any]:
    done = fork(*args, "--json")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def suite_of(folder: Path, pin: GitPin, title: str = "Double the value") -> str:
    """A suite with one pinned pull request."""
    source = {"upstream": pin.upstream, "number": pin.number, "base_sha": pin.base_sha, "head_sha": pin.head_sha}
    pull = {"id": "one", "language": "python", "title": title, "body": "It was too small.", "source": source}
    about = {"suite": "mine", "version": "1.0.0", "title": "Mine", "licence": "MIT", "provenance": "made for a test"}
    whole = about | {"pulls": [pull | {"clean": True}]}
    (folder / "suite").mkdir()
    (folder / "suite" / "suite.yaml").write_text(yaml.safe_dump(whole))
    return str(folder / "suite")


def test_a_rehearsal_shows_names_texts_commits_proof_and_leaks_and_the_seed_decides() -> None:
    (one,) = told("smoke/order-totals", "--dry-run", "--seed", "a")["forks"]
    assert one["status"] == "ready" and one["leaks"] == [] and one["problem"] == ""
    assert {"repository_names", "base_branch", "head_branch", "title", "body", "author", "dates", "messages"} <= set(
        one
    )
    assert {"commits", "trees", "patch_id", "stripped", "kept", "injected", "findings", "residual"} <= set(one)
    assert told("smoke/order-totals", "--dry-run", "--seed", "a")["forks"] == [one]
    (other,) = told("smoke/order-totals", "--dry-run", "--seed", "b")["forks"]
    assert not set(other["repository_names"]) & set(one["repository_names"])
    assert other["commits"] != one["commits"] and other["trees"] == one["trees"]
    assert other["patch_id"] == one["patch_id"]


def test_people_see_the_same() -> None:
    done = fork("smoke/order-totals", "--dry-run")
    assert done.exit_code == 0
    for word in ("repository", "branches", "title", "author", "base", "head", "patch", "residual", "leaks", "1 ready"):
        assert word in done.stdout, word


def test_without_saying_what_is_wanted_nothing_happens() -> None:
    for args in ((), ("--dry-run", "-o", "x")):
        done = fork("smoke", *args)
        assert done.exit_code == 2 and "--dry-run" in done.stderr and "benchmark issue" in done.stderr


def test_kept_forks_are_bare_repositories_with_two_branches_and_a_manifest(tmp_path: Path) -> None:
    target = tmp_path / "kept"
    found = told("smoke/order-totals", "-o", str(target))
    assert json.loads((target / "forks.json").read_text()) == found
    (one,) = found["forks"]
    path = target / f"{one['repository_names'][0]}.git"
    refs = subprocess.run(["git", "-C", path, "for-each-ref", "--format=%(objectname) %(refname)"], capture_output=True)
    assert sorted(refs.stdout.decode().split("\n")[:-1]) == sorted(
        [f"{one['commits']['base']} refs/heads/main", f"{one['commits']['head']} refs/heads/{one['head_branch']}"]
    )
    assert subprocess.run(["git", "-C", path, "fsck", "--strict"], check=True, capture_output=True).stdout == b""
    with pytest.raises(Failure, match="is not empty"):
        cli_forks.fork.main(["smoke/order-totals", "-o", str(target)], standalone_mode=False)


def test_a_local_mirror_is_enough(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    suite = suite_of(tmp_path, pin)
    (one,) = told(suite, "--dry-run", "--mirror", str(upstream.root))["forks"]
    assert one["status"] == "ready" and one["base_is"] == "the merge base, as pinned"
    assert one["stripped"] == [".cursor/rules.md", "x/.github/workflows/ci.yml"]
    (same,) = told(suite, "--dry-run", "--upstream", upstream.url)["forks"]
    assert same["trees"] == one["trees"]


def test_each_way_of_failing_has_its_status_and_exit_code(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD | {"vendor": ("160000", b"3" * 40)})
    suite = suite_of(tmp_path, pin)
    done = fork(suite, "--dry-run", "--mirror", str(upstream.root), "--json")
    (one,) = json.loads(done.stdout)["forks"]
    assert (done.exit_code, one["status"]) == (1, "refused")
    assert [(found["path"], found["verdict"]) for found in one["findings"]] == [("vendor", "refuse")]
    empty = tmp_path / "empty"
    empty.mkdir()
    done = fork(suite, "--dry-run", "--mirror", str(empty), "--json")
    (one,) = json.loads(done.stdout)["forks"]
    assert (done.exit_code, one["status"]) == (3, "failed") and "acme/widgets" in one["problem"]


def test_a_title_that_tells_is_a_leak_and_is_not_kept(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    suite = suite_of(tmp_path, pin, title="Double the widgets")
    done = fork(suite, "-o", str(tmp_path / "kept"), "--mirror", str(upstream.root), "--json")
    (one,) = json.loads(done.stdout)["forks"]
    assert (done.exit_code, one["status"]) == (1, "leaks")
    assert one["leaks"] == ["the title names the upstream", "a commit message names the upstream"]
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["forks.json"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("smoke/order-total", "--dry-run"), "did you mean order-totals?"),
        (("smoke", "--dry-run", "--reviewer", "coderabit"), "did you mean coderabbit?"),
    ],
)
def test_a_slip_is_one_line_with_the_nearest_name(args: tuple[str, ...], said: str) -> None:
    with pytest.raises(Failure) as caught:
        cli_forks.fork.main(list(args), standalone_mode=False)
    assert caught.value.exit_code == 2 and said in caught.value.message


# --- preflight --------------------------------------------------------------------------------------------------


def test_the_preflights_issue_is_the_form_and_only_its_title_is_ours() -> None:
    suite = load_suite("smoke")
    who = Reviewer(id="acme", name="Acme", logins=(Login(login="acme[bot]"),))
    body = body_of("smoke", smallest(suite).id, [who], 5)
    assert [line[4:] for line in body.splitlines() if line.startswith("### ")] == list(LABELS)
    assert "Acme (acme)" in body and "per-reviewer" in body and "@" not in body
    assert is_preflight(title_of("0123abcd"))
    assert not any(map(is_preflight, ("Preflight", "Preflight 0123abcd x", "Benchmark", "preflight 0123abcd")))


class _Nobody:
    """A control repository in which a request was refused, or in which nothing happens."""

    login = "checks[bot]"

    def __init__(self, said: str | None) -> None:
        self.said = said

    def runs_of_issue(self, issue: int) -> tuple[()]:
        return ()

    def identity(self) -> _Nobody:
        return self

    def issue_comments(self, repo: RepoName, number: int) -> tuple[dict[str, Any], ...]:
        other = {"user": {"login": "someone"}, "body": "hello"}
        return (other, *([{"user": {"login": "Checks[bot]"}, "body": self.said}] if self.said else []))


@pytest.mark.parametrize(
    ("said", "told"), [("<!-- assay:problems 1 -->\nno such suite", "no such suite"), (None, "nobody took up")]
)
def test_a_preflight_that_was_refused_or_not_taken_up_ends_with_the_reason(said: str | None, told: str) -> None:
    clock = iter(range(1000))
    world: Any = _Nobody(said)
    issue = {"id": 1, "number": 2}
    watch = Watch(
        world, world, RepoName("a", "b"), issue, print, sleep=lambda _seconds: None, clock=lambda: float(next(clock))
    )
    with pytest.raises(PreflightError, match=told):
        watch.begun(30)
