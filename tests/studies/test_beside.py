"""Bots that were run elsewhere, beside a study's own reviewers; and what else a bundle remembers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.studies.plan import bundle_pull, open_study
from goldens.importers.folder import write_bundle
from goldens.load import load_suite
from goldens.model import Audit, AuditVerdict
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card
from scoring.model import Comment, Place, PullId, ReviewerId, Shape, TrialStatus
from tests.judging.test_commands import Done, assay, environment

STUDY = """study: beside
title: A bot beside a linter
suites:
- smoke
- suite: recognition27
  pulls: [py-order-lookup]
reviewers:
- name: careful
  spec: single-shot:scripted/careful
bundles:
- bundle: run
judges:
- lexical
- deterministic
tables: [leaderboard, output, head_to_head, judge_to_judge]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A study beside the bundle of a run in which one bot found one defect, and another was never installed."""
    suite = load_suite("smoke")
    pull = next(one for one in suite.pulls if one.id == "order-totals")
    golden = pull.goldens[0]
    place = golden.place or Place("src/a.py")
    comment = Comment("review_comment/1", Shape.INLINE, "acme[bot]", golden.finding, "https://example.test/1", place)
    trials = (
        BundleTrial(pull.id, ReviewerId("acme"), TrialStatus.REVIEWED_FINDINGS, comments=(comment,)),
        BundleTrial(pull.id, ReviewerId("gone"), TrialStatus.NOT_INSTALLED),
    )
    pulls = (BundlePull(pull.id, pull.goldens, pull.language),)
    write_bundle(Bundle(suite.ref, Card("c", "l", "u"), pulls, trials), tmp_path / "run")
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def run(file: Path, *more: str) -> Done:
    place = file.parent / "out"
    return assay(place, "study", str(file), "-o", str(place), *more, env=environment())


def test_a_bot_of_a_run_is_judged_and_counted_like_a_reviewer_of_the_study(file: Path) -> None:
    done = run(file, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    rows = {row["reviewer"]: row for row in report["tables"]["leaderboard"]["rows"]}
    assert (rows["acme"]["tp"], rows["acme"]["coverage"]) == (1, "1 of 1")
    assert rows["gone"]["coverage"].startswith("0 of 1")
    pairs = report["tables"]["head_to_head"]["rows"]
    assert next(row for row in pairs if {row["first"], row["second"]} == {"acme", "careful"})["shared"] == 1
    assert {row["reviewer"] for row in report["tables"]["output"]["rows"]} == {"careful", "acme", "gone"}


def test_the_tables_come_out_of_the_bundle_again(file: Path) -> None:
    first = run(file, "--json")
    place = file.parent / "out" / "bundle"
    again = assay(place, "study", str(place), "--table", "leaderboard", "--json", env=environment())
    assert json.loads(again.stdout)["tables"]["leaderboard"] == json.loads(first.stdout)["tables"]["leaderboard"]
    whole = assay(place, "study", str(place), "--json", env=environment())
    tables = json.loads(first.stdout)["tables"]
    assert {key: json.loads(whole.stdout)["tables"][key] for key in tables} == tables
    wrong = assay(place, "study", str(place), "--table", "leaderbord", env=environment())
    assert wrong.returncode == 2
    assert "Did you mean leaderboard?" in wrong.stderr


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("bundle: run", "bundle: runs", "study.yaml:11: bundles[0]: "),
        ("bundle: run", "bundle: run\n  reviewers: [acmee]", "did you mean 'acme'?"),
        ("name: careful", "name: acme", "study.yaml:11: bundles[0]: there is a reviewer acme already"),
        ("- smoke\n", "", "run is of suite smoke 1.0.0, the study has recognition27 1.0.0"),
    ],
)
def test_a_bundle_that_does_not_fit_is_told_with_its_line(good: str, bad: str, told: str, file: Path) -> None:
    file.write_text(STUDY.replace(good, bad, 1), encoding="utf-8")
    done = run(file)
    assert done.returncode == 2
    assert told in done.stderr


def test_what_an_audit_found_goes_into_the_bundle(file: Path) -> None:
    study = open_study(str(file))
    suite = study.parts[0].suite
    pull = suite.pulls[0]
    audits = {
        golden.id: Audit(AuditVerdict.BUG if at else AuditVerdict.RELATED, "one", "another")
        for at, golden in enumerate(pull.goldens)
    }
    made = bundle_pull(study, suite, replace(pull, audits=audits))
    assert made.id == PullId(f"smoke/{pull.id}")
    assert made.tags["suite"] == "smoke"
    assert made.tags["audit"] == ("bug" if len(pull.goldens) > 1 else "no_bug")
    assert made.tags[f"audit:{pull.goldens[0].id}"] == "related"
    assert "audit" not in bundle_pull(study, suite, pull).tags
