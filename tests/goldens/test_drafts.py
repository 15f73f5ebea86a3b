"""Drafts are on record and count for nothing: in no score, in no hash, in no run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from goldens.keeping import drafts, promoted
from goldens.load import load_suite
from goldens.located import SuiteError
from goldens.verify import by_golden, verify
from scoring.judges.lexical import LexicalJudge
from scoring.model import Comment, GoldenStatus, ReviewerId, Shape, Trial, TrialStatus
from scoring.profiles.assay import score_run
from tests.goldens.written import YAML, changed, write_suite

OTHER = (
    "      - id: other\n        path: shop/prices.py\n        lines: [2, 2]\n        category: performance\n"
    "        severity: low\n        finding: The sum walks the whole list again on every call of total.\n"
)
DRAFT = "        status: draft\n        reason: Two reviewers said so.\n"
ALONE = changed("        severity: high\n", "        severity: high\n" + DRAFT)


def test_a_draft_changes_neither_hash_nor_score(tmp_path: Path) -> None:
    plain = load_suite(write_suite(tmp_path / "plain", YAML))
    more = load_suite(write_suite(tmp_path / "more", YAML + OTHER + DRAFT))
    assert more.ref.hash == plain.ref.hash
    assert [golden.id for golden in more.pulls[0].goldens] == ["divisor"]
    assert [golden.id for golden in more.pulls[0].drafts] == ["other"]


def test_a_draft_in_stored_evidence_is_no_miss_and_no_judge_sees_it(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, YAML + OTHER))
    one, other = suite.pulls[0].goldens
    goldens = (one, replace(other, status=GoldenStatus.DRAFT, reason="mined"))
    comment = Comment("c/1", Shape.INLINE, "acme[bot]", one.finding, "", one.place)
    trial = Trial("p", ReviewerId("acme"), TrialStatus.REVIEWED_FINDINGS, True, "", goldens, (comment,))  # type: ignore[arg-type]
    report = score_run([trial], LexicalJudge(), suite.ref)
    assert (report.reviewers[0].counts.tp, report.reviewers[0].counts.fn) == (1, 0)
    assert {judgement.golden for judgement in report.trials[0].judgements} == {"divisor"}


def test_a_pull_request_of_drafts_only_is_in_no_run_and_never_clean(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, ALONE))
    assert suite.pulls == () and [pull.id for pull in suite.unconfirmed] == ["mean-price"]
    rules = {finding.rule: finding.level for finding in verify(suite)}
    assert rules == {"unconfirmed": "note", "nothing-confirmed": "error", "draft": "note"}


def test_a_clean_pull_request_stays_clean_while_a_draft_waits(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, ALONE.replace("    language", "    clean: true\n    language")))
    assert suite.unconfirmed == () and suite.pulls[0].clean
    assert [finding.rule for finding in verify(suite)] == ["draft"]


def test_a_draft_must_say_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="status draft needs a reason: where does the draft come from"):
        load_suite(write_suite(tmp_path, ALONE.replace("        reason: Two reviewers said so.\n", "")))


def test_verification_can_look_at_drafts_as_if_they_were_confirmed(tmp_path: Path) -> None:
    wrong = ALONE.replace("len(prices) - 1", "len(prices) - 2")
    suite = load_suite(write_suite(tmp_path, wrong))
    assert [golden.id for _, golden in drafts(suite)] == ["divisor"]
    assert [finding.rule for finding in verify(promoted(suite))] == ["evidence-missing"]
    (report,) = by_golden(suite, verify(suite))
    assert (report.status, report.checked) == (GoldenStatus.DRAFT, False)


def test_a_suite_made_by_code_must_not_score_a_draft(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, YAML))
    pull = suite.pulls[0]
    scored = replace(pull, goldens=(replace(pull.goldens[0], status=GoldenStatus.DRAFT, reason="mined"),))
    assert [finding.rule for finding in verify(replace(suite, pulls=(scored,)))] == ["draft-but-scored"]
