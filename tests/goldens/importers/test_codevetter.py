"""CodeVetter: labels, reviews that somebody matched to labels, and results that are counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goldens.importers import FORMATS, ImportProblem
from scoring.model import Category, Severity, TrialStatus, Verdict
from tests.goldens.importers.material import contents, data, form, put

CODEVETTER = FORMATS["codevetter"]
LABEL = {
    "id": "raw-sql",
    "type": "sql_injection",
    "severity": "critical",
    "location": {"file": "db.py", "lines": [3, 5]},
    "description": "the name is pasted into the statement",
    "evidence": "line 4",
}
CASE = {
    "id": "py-sql",
    "title": "SQL",
    "language": "python",
    "source_file": "db.py",
    "category": "security",
    "ground_truth": [LABEL, {**LABEL, "id": "second", "type": "brand_new_kind"}],
}
FINDING = {
    "id": "f1",
    "type": "sql_injection",
    "severity": "high",
    "file": "db.py",
    "lines": [4, 4],
    "title": "SQL built by hand",
    "matched_ground_truth": ["raw-sql", "unheard-of", "raw-sql"],
    "rationale": "same statement",
}
REVIEW = {
    "case_id": "py-sql",
    "reviewer": "bot",
    "findings": [FINDING, {**FINDING, "id": "f2", "matched_ground_truth": []}],
}


def test_labels_and_reviews_are_read_as_matched(tmp_path: Path) -> None:
    files = {"cases/py-sql/label.json": CASE, "reviews/py-sql.bot.json": REVIEW}
    bundle = CODEVETTER.read(put(tmp_path / "in", files))
    pull = bundle.pulls[0]
    assert [golden.id for golden in pull.goldens] == ["raw-sql", "second"]
    assert [(golden.category, golden.severity) for golden in pull.goldens] == [
        (Category.SECURITY, Severity.CRITICAL)
    ] * 2
    assert [golden.label for golden in pull.goldens] == ["sql_injection", "brand_new_kind"]
    judged = bundle.judgements[0].trials[0].judgements
    assert [(one.golden, one.verdict) for one in judged] == [
        ("raw-sql", Verdict.MATCH),
        ("unheard-of", Verdict.MATCH),
        ("raw-sql", Verdict.MATCH),
        ("raw-sql", Verdict.NO_MATCH),
        ("second", Verdict.NO_MATCH),
    ]
    CODEVETTER.write(bundle, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "in")


def test_without_originals_reviews_are_written_from_judgements(tmp_path: Path) -> None:
    files = {"cases/py-sql/label.json": CASE, "reviews/py-sql.bot.json": REVIEW}
    bundle = CODEVETTER.read(put(tmp_path, files))
    made = {name: json.loads(value) for name, value in form("codevetter").generate(bundle, {}).items()}
    assert set(made) == {"codevetter-benchmark.json", "reviews/py-sql.bot.json"}
    findings = made["reviews/py-sql.bot.json"]["findings"]
    assert [one["matched_ground_truth"] for one in findings] == [["raw-sql", "unheard-of", "raw-sql"], []]
    assert [(one["title"], one["file"], one["lines"]) for one in findings] == [
        ("SQL built by hand", "db.py", [4, 4])
    ] * 2
    again = CODEVETTER.read(put(tmp_path / "again", made))
    assert again.pulls[0].goldens == bundle.pulls[0].goldens


def test_two_review_files_of_one_case_are_one_review_and_said(tmp_path: Path) -> None:
    files = {"a/label.json": CASE, "reviews/1.json": REVIEW, "reviews/2.json": REVIEW}
    bundle = CODEVETTER.read(put(tmp_path, files))
    assert len(bundle.trials[0].candidates or ()) == 4
    assert bundle.card.notes == ("bot has more than one review file for py-sql; they are taken as one",)


def test_published_results_are_kept_as_counts() -> None:
    source = data("codevetter")
    stored = json.loads((source / "benchmark-results.json").read_text())
    bundle = CODEVETTER.read(source)
    details = bundle.judgements[0].details
    assert {name: own["overall"] for name, own in stored.items()} == details["published_totals"]
    for reviewer, own in stored.items():
        for case in own["cases"]:
            kept = details["published"][f"{case['id']}|{reviewer}"]
            assert kept == {key: case[key] for key in kept}
    assert len(details["counts_only"]) == 54
    assert {trial.status for trial in bundle.trials} <= {TrialStatus.REVIEWED_FINDINGS, TrialStatus.REVIEWED_CLEAN}
    assert sum(len(pull.goldens) for pull in bundle.pulls) == 29


def dataset(**change: Any) -> dict[str, Any]:
    case = {key: value for key, value in CASE.items() if key != "ground_truth"}
    return {"name": "d", "cases": [{**case, "expected_findings": [{**LABEL, **change}]}]}


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "a label twice": (
        {"d.json": dataset(), "x/label.json": {**CASE, "ground_truth": [LABEL, LABEL]}},
        "$.ground_truth: expected each label once, found 'raw-sql' again",
    ),
    "a case twice": (
        {"d.json": dataset(), "x/label.json": CASE},
        "x/label.json: $: expected each case once, found case 'py-sql' again",
    ),
    "lines the wrong way": (
        {"d.json": dataset(location={"file": "a", "lines": [5, 3]})},
        "lines: expected two line numbers, first and last",
    ),
    "one line": ({"d.json": dataset(location={"file": "a", "lines": [5]})}, "lines: expected two line numbers"),
    "a review of no case": (
        {"d.json": dataset(), "reviews/r.json": {**REVIEW, "case_id": "py-sqll"}},
        "reviews/r.json: $.case_id: expected a case that is labelled, found 'py-sqll'; did you mean 'py-sql'?",
    ),
    "an id that is no text": (
        {"d.json": dataset(), "reviews/r.json": {**REVIEW, "findings": [{**FINDING, "matched_ground_truth": [1]}]}},
        "$.findings[0].matched_ground_truth[0]: expected a text, found the number 1",
    ),
    "something else": (
        {"d.json": {"what": 1}},
        "d.json: $: expected labelled cases, a label, a review with `findings`",
    ),
    "no cases in results": (
        {"d.json": dataset(), "r.json": {"bot": {"overall": {}, "case": []}}},
        "found 'case'; did you mean 'cases'?",
    ),
}


@pytest.mark.parametrize(("files", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_named_with_place_and_expectation(files: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(ImportProblem) as error:
        CODEVETTER.read(put(tmp_path, files))
    assert says in str(error.value)


def test_the_judgements_of_several_judges_cannot_be_written_as_one(tmp_path: Path) -> None:
    files = {"cases/py-sql/label.json": CASE, "reviews/py-sql.bot.json": REVIEW}
    bundle = CODEVETTER.read(put(tmp_path, files))
    twice = replace(bundle, judgements=(*bundle.judgements, replace(bundle.judgements[0], judge="another")))
    with pytest.raises(
        ImportProblem, match="expected the judgements of one judge, found several: adjudication, another"
    ):
        CODEVETTER.write(twice, tmp_path / "out")
    assert not (tmp_path / "out").exists()
