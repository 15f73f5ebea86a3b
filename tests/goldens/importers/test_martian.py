"""Judgements rebuilt from stored evaluations count what the source counted, its order effects included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldens.importers import FORMATS, ImportProblem, Options
from goldens.importers.martian_walk import walk
from scoring.bundle import Bundle
from scoring.model import Category, Judgement, Severity, TrialStatus, Verdict
from tests.goldens.importers.material import (
    ODD,
    URL,
    candidates,
    data,
    evaluation,
    form,
    golden_file,
    martian,
    put,
)

MARTIAN = FORMATS["martian"]


def recount(bundle: Bundle, at: int = 0) -> dict[str, tuple[int, int, int]]:
    """TP, FP, FN by reviewer, walked anew from what the bundle holds."""
    pulls = {pull.id: pull for pull in bundle.pulls}
    claims = {(trial.pull, trial.reviewer): trial.candidates or () for trial in bundle.trials}
    judged = bundle.judgements[at]
    sums: dict[str, list[int]] = {}
    for trial in judged.trials:
        groups = trial.groups if judged.details["dedup"] == "propagate" else ()
        own = sums.setdefault(trial.reviewer, [0, 0, 0])
        if trial.failed:
            continue
        names = judged.details.get("goldens", {}).get(f"{trial.pull}|{trial.reviewer}")
        goldens = [one for one in pulls[trial.pull].goldens if names is None or one.id in names]
        found = walk(goldens, claims[trial.pull, trial.reviewer], trial.judgements, groups)
        sums[trial.reviewer] = [own[0] + found.tp, own[1] + found.fp, own[2] + found.fn]
    return {reviewer: (own[0], own[1], own[2]) for reviewer, own in sums.items()}


@pytest.mark.parametrize("judge", ["anthropic_claude-opus-4-5-20251101", "anthropic_claude-sonnet-4-5-20250929"])
def test_the_published_totals_are_counted_again(judge: str) -> None:
    expected = json.loads(data("martian", "expected_totals.json").read_text())[judge]
    bundle = MARTIAN.read(data("martian", judge))
    assert {tool: dict(zip(("tp", "fp", "fn"), own, strict=True)) for tool, own in recount(bundle).items()} == expected
    details = bundle.judgements[0].details
    assert "inconsistent" not in details
    assert len(details["published"]) == 360


def test_two_judges_with_lists_of_their_own_are_counted_apart() -> None:
    expected = json.loads(data("martian", "expected_totals.json").read_text())
    bundle = MARTIAN.read(data("martian"))
    assert [one.judge for one in bundle.judgements] == sorted(expected)
    for at, judged in enumerate(bundle.judgements):
        totals = {tool: dict(zip(("tp", "fp", "fn"), own, strict=True)) for tool, own in recount(bundle, at).items()}
        assert totals == expected[judged.judge]
    for trial in bundle.trials:
        key = f"{trial.pull}|{trial.reviewer}"
        ids = {one.id for one in trial.candidates or ()}
        lists = [judged.details["candidates"][key] for judged in bundle.judgements]
        assert ids == {one for own in lists for one in own}


def test_stored_precision_is_kept_and_is_over_all_candidates_listed() -> None:
    bundle = MARTIAN.read(data("martian", "anthropic_claude-opus-4-5-20251101"))
    claims = {f"{t.pull}|{t.reviewer}": len(t.candidates or ()) for t in bundle.trials}
    for key, one in bundle.judgements[0].details["published"].items():
        assert one["total_candidates"] == claims[key]
        assert one["precision"] == (one["tp"] / claims[key] if claims[key] else 0.0)


def one_trial(folder: Path) -> tuple[Bundle, tuple[Judgement, ...], dict[str, str]]:
    """The bundle, the judgements of its only trial, and the texts behind ids."""
    bundle = MARTIAN.read(folder)
    texts = {str(one.id): one.text for trial in bundle.trials for one in trial.candidates or ()}
    texts |= {str(one.id): one.finding for one in bundle.pulls[0].goldens}
    return bundle, bundle.judgements[0].trials[0].judgements, texts


def test_a_text_in_neither_list_was_matched_first_and_beaten_later(tmp_path: Path) -> None:
    one = evaluation([("g", "strong", 0.9)], ["noise"], [], total_candidates=3)
    bundle, judged, text = one_trial(martian(tmp_path, ["g"], ["weak", "strong", "noise"], one))
    said = [(text[j.candidate], j.verdict.value, j.confidence, dict(j.evidence)) for j in judged]
    assert said == [
        ("weak", "match", None, {"weight": 0.45, "inferred": 1.0}),
        ("strong", "match", 0.9, {}),
        ("noise", "no_match", None, {}),
    ]
    assert recount(bundle) == {"bot": (1, 1, 0)}


def test_a_beaten_text_that_stands_after_its_winner_is_walked_before_it(tmp_path: Path) -> None:
    one = evaluation([("g", "strong", 0.9)], [], [], total_candidates=3)
    bundle, judged, text = one_trial(martian(tmp_path, ["g"], ["strong", "late", "later"], one))
    assert [text[j.candidate] for j in judged] == ["late", "later", "strong"]
    assert recount(bundle) == {"bot": (1, 0, 0)}


def test_a_text_that_nothing_can_have_beaten_is_not_judged_at_all(tmp_path: Path) -> None:
    one = evaluation([], ["noise"], ["g"], total_candidates=2)
    bundle, judged, text = one_trial(martian(tmp_path, ["g"], ["stray", "noise"], one))
    assert {text[j.candidate] for j in judged} == {"noise"}
    assert recount(bundle) == {"bot": (0, 1, 1)}


def test_siblings_of_a_match_were_flagged_with_it(tmp_path: Path) -> None:
    one = evaluation([("g", "a", 0.8)], ["c"], [], total_candidates=3)
    folder = martian(tmp_path, ["g"], ["a", "b", "c"], one, judge__dedup_groups={URL: {"bot": [[0, 1], [2]]}})
    bundle, judged, text = one_trial(folder)
    assert bundle.judgements[0].details["dedup"] == "propagate"
    assert [(text[j.candidate], j.verdict.value) for j in judged] == [
        ("a", "match"),
        ("b", "no_match"),
        ("c", "no_match"),
    ]
    assert [[text[one] for one in group] for group in bundle.judgements[0].trials[0].groups] == [["a", "b"], ["c"]]
    assert recount(bundle) == {"bot": (1, 1, 0)}


def test_groups_that_the_evaluation_did_not_use_are_kept_and_not_applied(tmp_path: Path) -> None:
    one = evaluation([("g", "a", 0.8)], ["b", "c"], [])
    folder = martian(tmp_path, ["g"], ["a", "b", "c"], one, judge__dedup_groups={URL: {"bot": [[0, 1], [2]]}})
    bundle, _, _ = one_trial(folder)
    assert bundle.judgements[0].details["dedup"] == "none"
    assert recount(bundle) == {"bot": (1, 2, 0)}


def test_stale_groups_are_cut_to_what_is_there_and_named(tmp_path: Path) -> None:
    one = evaluation([("g", "a", 0.8)], ["b"], [])
    folder = martian(tmp_path, ["g"], ["a", "b"], one, judge__dedup_groups={URL: {"bot": [[0, 9], [1]]}})
    bundle, _, _ = one_trial(folder)
    key = f"{bundle.pulls[0].id}|bot"
    assert bundle.judgements[0].details["stale_groups"] == {key: [9]}
    assert [len(group) for group in bundle.judgements[0].trials[0].groups] == [1, 1]


def test_one_candidate_may_have_found_several_goldens(tmp_path: Path) -> None:
    one = evaluation([("g1", "a", 0.8), ("g2", "a", 0.7)], ["b"], [])
    bundle, _, _ = one_trial(martian(tmp_path, ["g1", "g2"], ["a", "b"], one))
    assert recount(bundle) == {"bot": (2, 1, 0)}


def test_equal_texts_are_two_things_with_two_ids_and_count_once(tmp_path: Path) -> None:
    one = evaluation([("g", "a", 0.8)], ["b"], [], total_candidates=4)
    bundle, _, _ = one_trial(martian(tmp_path, ["g", "g"], ["a", "a", "b", "b"], one))
    assert len({golden.id for golden in bundle.pulls[0].goldens}) == 2
    claims = bundle.trials[0].candidates
    assert claims is not None and len({claim.id for claim in claims}) == 4
    assert recount(bundle) == {"bot": (1, 1, 0)}


@pytest.mark.parametrize("odd", ["high", None, 0, 0.0, 1.5, 95, -0.2, True, [0.9]])
def test_a_confidence_that_is_none_still_counts_and_is_named(odd: Any, tmp_path: Path) -> None:
    one = evaluation([("g", "a", odd)], ["b"], [])
    bundle, judged, _ = one_trial(martian(tmp_path, ["g"], ["a", "b"], one))
    assert judged[0].confidence is None
    assert dict(judged[0].evidence) == {"weight": 1.0}
    assert bundle.judgements[0].details["odd_confidence"] == {f"{bundle.pulls[0].id}|bot": [odd]}
    assert recount(bundle) == {"bot": (1, 1, 0)}


def test_a_pair_that_failed_is_undecided(tmp_path: Path) -> None:
    errors = [{"golden": "g", "candidate": "b", "error": "timed out"}]
    one = evaluation([], ["a", "b"], ["g"], errors=errors, errors_count=1)
    bundle, judged, text = one_trial(martian(tmp_path, ["g"], ["a", "b"], one))
    said = {text[j.candidate]: (j.verdict, j.reason) for j in judged}
    assert said["b"] == (Verdict.UNDECIDED, "timed out")
    assert said["a"][0] is Verdict.NO_MATCH
    assert recount(bundle) == {"bot": (0, 2, 1)}


def test_an_empty_list_is_a_review_and_an_absent_one_is_said_to_be_unknown(tmp_path: Path) -> None:
    one = evaluation([], [], ["g"])
    folder = martian(tmp_path, ["g"], [], one)
    bundle = MARTIAN.read(folder)
    assert bundle.trials[0].status is TrialStatus.REVIEWED_CLEAN
    assert "does not say whether the reviewer ran" in bundle.trials[0].reason
    assert bundle.judgements[0].details["published"][f"{bundle.pulls[0].id}|bot"]["fn"] == 1


def test_a_skipped_review_has_no_judgements_and_says_why(tmp_path: Path) -> None:
    folder = martian(tmp_path, [], ["a"], {"skipped": True, "reason": "no golden comments"})
    bundle = MARTIAN.read(folder)
    assert bundle.judgements[0].trials[0].failed == "skipped: no golden comments"
    assert not bundle.judgements[0].trials[0].judgements


def test_counts_without_lists_are_kept_as_counts(tmp_path: Path) -> None:
    one = {"skipped": False, "true_positives": 2, "false_positives": 3, "false_negatives": 1, "precision": 0.4}
    bundle = MARTIAN.read(martian(tmp_path, ["g1", "g2", "g3"], ["a"], one))
    details = bundle.judgements[0].details
    key = f"{bundle.pulls[0].id}|bot"
    assert details["counts_only"] == [key]
    assert details["published"][key] == {"precision": 0.4, "tp": 2, "fp": 3, "fn": 1}
    assert bundle.judgements[0].trials[0].failed == "only counts are stored"


def test_false_positives_may_be_plain_texts_and_matches_stand_elsewhere(tmp_path: Path) -> None:
    one = {
        "true_positives": 1,
        "matches": [{"golden": "g1", "candidate": "a", "confidence": "high"}],
        "false_positives": ["b"],
        "false_negatives": 1,
        "false_negatives_detail": [{"golden_comment": "g2"}],
    }
    bundle = MARTIAN.read(martian(tmp_path, ["g1", "g2"], ["a", "b"], one))
    assert recount(bundle) == {"bot": (1, 1, 1)}


def test_texts_that_only_an_evaluation_names_become_candidates(tmp_path: Path) -> None:
    one = evaluation([("g", "raw body", 0.7)], ["another body"], [])
    folder = martian(tmp_path, ["g"], [], one)
    (folder / "candidates.json").unlink()
    bundle = MARTIAN.read(folder)
    claims = bundle.trials[0].candidates
    assert claims is not None
    assert [(claim.text, claim.flags) for claim in claims] == [
        ("raw body", ("from_evaluation",)),
        ("another body", ("from_evaluation",)),
    ]
    assert recount(bundle) == {"bot": (1, 1, 0)}


def test_a_golden_that_left_the_golden_file_is_kept_and_marked(tmp_path: Path) -> None:
    one = evaluation([("old", "a", 0.7)], [], ["g"])
    bundle = MARTIAN.read(martian(tmp_path, ["g"], ["a"], one))
    old = next(golden for golden in bundle.pulls[0].goldens if golden.finding == "old")
    assert f"stale:{old.id}" in bundle.pulls[0].tags
    assert recount(bundle) == {"bot": (1, 0, 1)}


def test_without_golden_files_no_golden_is_stale(tmp_path: Path) -> None:
    skipped, one = {"skipped": True, "reason": "timeout"}, evaluation([("g1", "a", 0.7)], [], ["g2"])
    bundle = MARTIAN.read(put(tmp_path, {"evaluations.json": {URL: {"first": skipped, "bot": one}}}))
    assert [golden.finding for golden in bundle.pulls[0].goldens] == ["g1", "g2"]
    assert not [tag for tag in bundle.pulls[0].tags if tag.startswith("stale:")]
    assert recount(bundle) == {"first": (0, 0, 0), "bot": (1, 0, 1)}


def test_a_golden_that_came_later_is_not_missed_by_who_was_never_asked(tmp_path: Path) -> None:
    one = evaluation([("g", "a", 0.7)], [], [])
    bundle = MARTIAN.read(martian(tmp_path, ["g", "new"], ["a"], one))
    key = f"{bundle.pulls[0].id}|bot"
    assert bundle.judgements[0].details["goldens"] == {key: [bundle.pulls[0].goldens[0].id]}
    assert recount(bundle) == {"bot": (1, 0, 0)}


def test_counts_that_disagree_with_their_lists_are_named(tmp_path: Path) -> None:
    one = evaluation([("g", "a", 0.7)], ["b"], [], fp=5)
    bundle = MARTIAN.read(martian(tmp_path, ["g"], ["a", "b"], one))
    said = bundle.judgements[0].details["inconsistent"][f"{bundle.pulls[0].id}|bot"]
    assert said == "stored tp, fp, fn are (1, 5, 0), its lists give (1, 1, 0)"


def test_raw_bodies_are_the_claims_where_nothing_was_extracted(tmp_path: Path) -> None:
    said = [
        {"path": "a.py", "line": 3, "body": "**Bug**: `x` is null here", "created_at": "2026-01-02T03:04:05Z"},
        {"path": None, "line": None, "body": None, "created_at": None, "author": "bot[bot]"},
    ]
    reviews = [
        {"tool": "bot", "repo_name": "r", "pr_url": "https://github.com/o/r/pull/1", "review_comments": said},
        {"tool": "silent", "repo_name": "r", "pr_url": None, "review_comments": []},
    ]
    entry: dict[str, Any] = {
        "pr_title": None,
        "original_url": None,
        "source_repo": "o/r",
        "golden_source_file": "grafana.json",
    }
    entry |= {"golden_comments": [{"comment": "g", "severity": "Low", "category": "perf"}], "reviews": reviews}
    put(tmp_path, {"benchmark_data.json": {URL: entry}})
    bundle = MARTIAN.read(tmp_path)
    talking, silent = bundle.trials
    assert talking.candidates is None
    assert [(c.author, c.place is not None, c.body) for c in talking.comments] == [
        ("bot", True, "**Bug**: `x` is null here"),
        ("bot[bot]", False, ""),
    ]
    assert (silent.status, silent.comments) == (TrialStatus.REVIEWED_CLEAN, ())
    golden = bundle.pulls[0].goldens[0]
    assert (golden.category, golden.label, golden.severity) == (Category.PERFORMANCE, "perf", Severity.LOW)
    assert bundle.pulls[0].language == "go"


def test_urls_that_are_no_pull_requests_get_ids_of_their_own(tmp_path: Path) -> None:
    other = "https://github.com/acme/widgets/pull/70"
    files = golden_file("g") + golden_file("g", url=ODD) + golden_file("g", url=other)
    put(tmp_path, {"golden_comments/acme.json": files})
    ids = [pull.id for pull in MARTIAN.read(tmp_path / "golden_comments").pulls]
    assert len(set(ids)) == 3
    assert not any("#" in one or "/" in one for one in ids)
    goldens = [golden.id for pull in MARTIAN.read(tmp_path / "golden_comments").pulls for golden in pull.goldens]
    assert len(set(goldens)) == 3


def test_a_category_or_severity_nobody_stated_is_marked(tmp_path: Path) -> None:
    put(tmp_path, {"golden_comments/acme.json": golden_file("g")})
    golden = MARTIAN.read(tmp_path / "golden_comments").pulls[0].goldens[0]
    assert golden.unverified == ("category",)
    assert golden.label == ""


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "a misspelt key": (
        {"golden_comments/acme.json": [{"url": URL, "coments": []}]},
        "golden_comments/acme.json: $[0]: expected a key 'comments', found 'coments'; did you mean 'comments'?",
    ),
    "a severity nobody knows": (
        {"golden_comments/acme.json": [{"url": URL, "comments": [{"comment": "x", "severity": "Hihg"}]}]},
        "$[0].comments[0].severity: expected one of critical, high, medium, low, found 'Hihg'; did you mean 'high'?",
    ),
    "a url twice": (
        {"golden_comments/a.json": golden_file("g"), "golden_comments/b.json": golden_file("h")},
        f"golden_comments/b.json: $: expected each pull request once, found {URL} again (see golden_comments/a.json)",
    ),
    "candidates as texts": (
        {"judge/candidates.json": {URL: {"bot": ["text"]}}},
        f"judge/candidates.json: $[\"{URL}\"].bot[0]: expected an object, found 'text'",
    ),
    "a list where tools are": (
        {"judge/candidates.json": {URL: []}},
        f'judge/candidates.json: $["{URL}"]: expected an object, found a list',
    ),
    "a line that is a text": (
        {"judge/candidates.json": {URL: {"bot": [{"text": "x", "line": "7"}]}}},
        "bot[0].line: expected a whole number from 0, or null, found '7'",
    ),
    "no false positives": (
        {"judge/evaluations.json": {URL: {"bot": {"true_positives": [], "false_positivs": [], "false_negatives": []}}}},
        "expected a key 'false_positives', found 'false_positivs'; did you mean 'false_positives'?",
    ),
    "a hit without a golden": (
        {
            "judge/evaluations.json": {
                URL: {"bot": {"true_positives": [{"golden_coment": "g"}], "false_positives": [], "false_negatives": []}}
            }
        },
        "true_positives[0]: expected a text, or an object with the key 'golden_comment', found 'golden_coment';"
        " did you mean 'golden_comment'?",
    ),
    "groups of texts": (
        {"judge/candidates.json": candidates("a"), "judge/dedup_groups.json": {URL: {"bot": [["a"]]}}},
        "bot[0][0]: expected a whole number from 0, or null, found 'a'",
    ),
    "no utf-8": (
        {"judge/evaluations.json": b"\xff"},
        "judge/evaluations.json: $: expected UTF-8 text, found byte 0xff",
    ),
}


@pytest.mark.parametrize(("files", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_named_with_place_and_expectation(files: dict[str, Any], says: str, tmp_path: Path) -> None:
    put(tmp_path, files)
    where = tmp_path / "judge" if (tmp_path / "judge").is_dir() else tmp_path
    with pytest.raises(ImportProblem) as error:
        MARTIAN.read(where)
    assert says in str(error.value)


def test_problems_of_several_files_are_told_together(tmp_path: Path) -> None:
    put(tmp_path, {"golden_comments/a.json": [{"url": 3, "comments": []}], "judge/candidates.json": {URL: {"bot": 1}}})
    with pytest.raises(ImportProblem) as error:
        MARTIAN.read(tmp_path / "judge")
    assert {one.file for one in error.value.problems} == {"golden_comments/a.json", "judge/candidates.json"}


def test_nothing_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="expected a file or folder in the format martian, found nothing"):
        MARTIAN.read(tmp_path / "nowhere")
    with pytest.raises(ImportProblem, match="expected files of the format martian, found none"):
        MARTIAN.read(tmp_path)


def test_an_export_counts_as_the_walk_counts(tmp_path: Path) -> None:
    """A judge that nothing was imported from: its evaluations are made by the source's own rule."""
    one = evaluation([("g", "strong", 0.9)], ["noise"], [], total_candidates=3)
    bundle = MARTIAN.read(martian(tmp_path, ["g"], ["weak", "strong", "noise"], one), Options(judge="vendor/model-1"))
    documents = form("martian").generate(bundle, {})
    assert set(documents) == {
        "golden_comments/acme.json",
        "vendor_model-1/candidates.json",
        "vendor_model-1/evaluations.json",
    }
    made = json.loads(documents["vendor_model-1/evaluations.json"])[URL]["bot"]
    assert (made["tp"], made["fp"], made["fn"]) == (1, 1, 0)
    assert made["precision"] == 1 / 3
