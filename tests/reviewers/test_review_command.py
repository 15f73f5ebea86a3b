"""`assay review`, as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldens.importers.folder import read_bundle
from goldens.load import load_suite
from scoring.model import TrialStatus
from tests.judging import server
from tests.judging.server import Models, serving
from tests.judging.test_commands import Done, assay, environment
from tests.reviewers.make import AFTER, BEFORE, finding, findings

SINGLE = "single-shot:openai/scripted"


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    def answer(prompt: str, odd: int) -> str:
        paths = [line.split(" b/")[1] for line in prompt.splitlines() if line.startswith("diff --git ")]
        return findings(finding(path=paths[0], start_line=1, end_line=1), finding(path="made/up.py"))

    monkeypatch.setitem(server._CHARACTERS, "scripted", answer)
    with serving() as found:
        yield found


def review(folder: Path, *arguments: str, models: Models | None = None) -> Done:
    return assay(folder / "x", "review", *arguments, env=environment(models))


def test_a_suite_becomes_a_bundle_that_is_scored_like_any_other(tmp_path: Path, models: Models) -> None:
    done = review(tmp_path, "smoke", "--with", SINGLE, "--with", f"{SINGLE}?context=yes", "-o", "out", models=models)
    assert done.returncode == 0, done.stderr
    suite = load_suite("smoke")
    bundle = read_bundle(tmp_path / "out")
    assert bundle.suite == suite.ref
    assert {(trial.pull, str(trial.reviewer)) for trial in bundle.trials} == {
        (pull.id, name) for pull in suite.pulls for name in (SINGLE, f"{SINGLE}?context=yes")
    }
    for trial in bundle.trials:
        assert trial.status is TrialStatus.REVIEWED_FINDINGS and trial.complete
        assert len(trial.comments) == len(trial.candidates or ()) == 1
        assert trial.seconds is not None
    assert any("16 items" in note for note in bundle.card.notes)
    raw = [json.loads(data) for name, data in bundle.extra.items() if name.startswith("extra/reviews/")]
    assert all("made/up.py" in one["review"]["invalid"][0] for one in raw) and len(raw) == 16
    board = assay(tmp_path / "x", "leaderboard", "out", "--judge", "lexical", "--json", env=environment())
    assert board.returncode == 0, board.stderr
    assert SINGLE in board.stdout
    assert "16 calls to make" in done.stderr


def test_what_was_answered_is_not_paid_for_again(tmp_path: Path, models: Models) -> None:
    first = review(
        tmp_path, "smoke", "--with", SINGLE, "--max-calls", "3", "--cache", "c.db", "-o", "one", models=models
    )
    assert first.returncode == 1 and models.answered == 3
    bundle = read_bundle(tmp_path / "one")
    stopped = [trial for trial in bundle.trials if trial.status is TrialStatus.UNABLE]
    assert len(stopped) == 5 and all("budget" in trial.reason for trial in stopped)
    again = review(tmp_path, "smoke", "--with", SINGLE, "--cache", "c.db", "-o", "two", models=models)
    assert again.returncode == 0 and models.answered == 8
    assert "5 calls to make" in again.stderr
    third = review(tmp_path, "smoke", "--with", SINGLE, "--cache", "c.db", "-o", "three", models=models)
    assert third.returncode == 0 and models.answered == 8
    names = [path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*") if path.is_file()]
    assert all((tmp_path / "two" / name).read_bytes() == (tmp_path / "three" / name).read_bytes() for name in names)


def test_a_review_that_is_killed_goes_on_without_paying_twice(tmp_path: Path, models: Models) -> None:
    models.pause = 0.4
    words = [sys.executable, "-m", "bot", "review", "smoke", "--with", SINGLE, "--cache", "c.db", "--concurrency", "1"]
    process = subprocess.Popen(
        [*words, "-o", "out"],
        cwd=tmp_path,
        env=environment(models),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while models.answered < 3 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out").exists()
    models.pause = 0.0
    done = review(tmp_path, "smoke", "--with", SINGLE, "--cache", "c.db", "-o", "out", models=models)
    assert done.returncode == 0, done.stderr
    prompts = [one.prompt for one in models.seen]
    # What was under way when the process died may have been answered to nobody; nothing else is asked twice.
    assert len(set(prompts)) == 8 and len(prompts) <= 9


def _folders(tmp_path: Path) -> list[str]:
    for name, content in (("base", BEFORE), ("head", AFTER)):
        (tmp_path / name / "pay").mkdir(parents=True)
        (tmp_path / name / "pay" / "split.py").write_bytes(content + b"import os\n" * (name == "head"))
    return ["--base", "base", "--head", "head"]


def test_two_folders_are_reviewed_without_a_suite(tmp_path: Path) -> None:
    done = review(tmp_path, *_folders(tmp_path), "--with", "static", "--json")
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)
    assert told["status"] == "reviewed_findings" and told["complete"]
    assert {one["kind"] for one in told["review"]["remarks"]} >= {"F401"}
    plain = review(tmp_path, "--base", "base", "--head", "head", "--with", "static", "-o", "out")
    assert plain.returncode == 0 and "static: 1 reviews" in plain.stdout
    assert "not known to be clean" in read_bundle(tmp_path / "out").card.labelled_by


def test_a_diff_may_be_given(tmp_path: Path) -> None:
    folders = _folders(tmp_path)
    done = subprocess.run(["git", "diff", "--no-index", "base", "head"], cwd=tmp_path, capture_output=True, check=False)
    text = done.stdout.replace(b"a/base/", b"a/").replace(b"b/head/", b"b/")
    (tmp_path / "c.diff").write_bytes(text)
    told = json.loads(review(tmp_path, *folders, "--diff", "c.diff", "--with", "static", "--json").stdout)
    assert told[0]["status"] == "reviewed_findings"
    (tmp_path / "c.diff").write_bytes(text.replace(b"split.py", b"other.py"))
    wrong = review(tmp_path, "--base", "base", "--head", "head", "--diff", "c.diff", "--with", "static")
    assert wrong.returncode == 2 and "pay/other.py, which is not in head" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["smoke", "--with", "statik"], "did you mean static?"),
        (["smok", "--with", "static"], "smoke"),
        (["smoke/audit-curser", "--with", "static"], "did you mean audit-cursor?"),
        (["smoke", "--with", "static", "--with", "static"], "named twice"),
        (["--with", "static"], "name a suite to review, or two folders"),
        (["cpp16", "--with", "static"], "--mirror DIR"),
        (["smoke", "--with", SINGLE, "--max-cost", "1"], "no price of openai/scripted is known"),
        (["smoke", "--with", "single-shot:openai/gpt-4o"], "OPENAI_API_KEY"),
        (["smoke", "--with", "static", "-o", "."], "is there already"),
    ],
)
def test_wrong_input_is_one_line_with_the_fix(tmp_path: Path, arguments: list[str], why: str) -> None:
    env = environment() if "openai/gpt-4o" in arguments[-1] else environment() | {"OPENAI_API_KEY": "x"}
    done = assay(tmp_path / "x", "review", *arguments, env=env)
    assert done.returncode == 2 and why in done.stderr
    assert "Traceback" not in done.stderr


def test_one_pull_request_of_a_suite_and_what_it_would_take(tmp_path: Path, models: Models) -> None:
    done = review(tmp_path, "smoke/audit-cursor", "--with", SINGLE, "--dry-run", models=models)
    assert done.returncode == 0 and "1 reviews; 1 calls to make" in done.stderr and not models.seen


def test_the_help_names_every_reviewer_and_every_option(tmp_path: Path) -> None:
    from bot.reviewers.choose import FORMS

    told = review(tmp_path, "--help").stdout
    assert all(f"  {kind}" in told for kind in FORMS)
    words = ("lines=", "cap=", "context=", "rounds=", "stop=", "prompt=", "by=", "most=", "seconds=", "memory=")
    more = ("output=", "pass=", "keep=", "temperature=", "tokens=", "window=", "Example: ")
    assert all(word in told for word in (*words, *more))
