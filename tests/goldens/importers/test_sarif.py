"""SARIF in and out: what is a claim, where it is, how bad; and what a log says about a run that did not happen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens.importers import FORMATS, ImportProblem, Options, detect
from scoring.bundle import Bundle, BundlePull, JudgementSet, TrialJudgements
from scoring.model import (
    Category,
    Golden,
    GoldenId,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Severity,
    TrialStatus,
    Verdict,
)
from tests.goldens.importers.material import contents, form, log, put, result

SARIF = FORMATS["sarif"]


def read(tmp_path: Path, value: Any, **options: str) -> Bundle:
    return SARIF.read(put(tmp_path, {"scan.sarif": value}) / "scan.sarif", Options(**options))


def claim(tmp_path: Path, one: Any, **run: Any) -> Any:
    claims = read(tmp_path, log(one, **run)).trials[0].candidates
    assert claims is not None and len(claims) == 1
    return claims[0]


def test_a_result_is_a_claim_at_its_place(tmp_path: Path) -> None:
    bundle = read(tmp_path, log(result()))
    trial = bundle.trials[0]
    assert (trial.pull, trial.reviewer, trial.status) == ("scan", "wart-finder", TrialStatus.REVIEWED_FINDINGS)
    one = (trial.candidates or ())[0]
    assert (one.text, one.category_said, one.place) == ("a wart", "W1", Place("src/a.c", (3, 3)))
    assert trial.comments[0].id == one.comment_id
    assert bundle.reviewers[0].name == "Wart Finder"


def test_the_pull_request_may_be_named(tmp_path: Path) -> None:
    url = "https://github.com/acme/widgets/pull/7"
    bundle = read(tmp_path, log(result()), pull=url, reviewer="linter")
    assert (bundle.pulls[0].url, bundle.trials[0].reviewer) == (url, "linter")


PATHS = [
    ({"uri": "src/a%20b.c"}, {}, "src/a b.c"),
    ({"uri": "./src/a.c"}, {}, "src/a.c"),
    ({"uri": "a.c", "uriBaseId": "SRC"}, {"SRC": {"uri": "file:///srv/tree/"}}, "a.c"),
    ({"uri": "a.c", "uriBaseId": "SUB"}, {"SUB": {"uri": "src/"}}, "src/a.c"),
    ({"uri": "file:///srv/tree/src/a.c"}, {"SRC": {"uri": "file:///srv/tree/"}}, "src/a.c"),
    ({"uri": "file:///elsewhere/a.c"}, {}, "elsewhere/a.c"),
]


@pytest.mark.parametrize(("location", "bases", "path"), PATHS)
def test_a_path_is_relative_to_the_tree(location: Any, bases: Any, path: str, tmp_path: Path) -> None:
    one = result()
    one["locations"][0]["physicalLocation"]["artifactLocation"] = location
    place = claim(tmp_path, one, originalUriBaseIds=bases).place
    assert place is not None and place.path == path


def test_a_path_may_stand_in_the_list_of_artifacts(tmp_path: Path) -> None:
    one = result()
    one["locations"][0]["physicalLocation"]["artifactLocation"] = {"index": 1}
    artifacts = [{"location": {"uri": "x.c"}}, {"location": {"uri": "src/b.c"}}]
    assert claim(tmp_path, one, artifacts=artifacts).place == Place("src/b.c", (3, 3))


def test_no_region_is_a_remark_on_the_file_and_no_location_one_on_the_whole(tmp_path: Path) -> None:
    one = result()
    del one["locations"][0]["physicalLocation"]["region"]
    assert claim(tmp_path, one).place == Place("src/a.c", None)
    assert claim(tmp_path, {"message": {"text": "all of it"}}).place is None


RULES = [
    {"id": "W1", "defaultConfiguration": {"level": "note"}, "messageStrings": {"m": {"text": "{0} in {{{1}}} {7}"}}},
    {"id": "W2", "properties": {"security-severity": "9.1"}},
]
LEVELS = [
    ({"level": "error"}, Severity.HIGH),
    ({"level": "warning"}, Severity.MEDIUM),
    ({}, Severity.LOW),
    ({"ruleId": "W1/sub"}, Severity.LOW),
    ({"ruleId": "W2"}, Severity.CRITICAL),
    ({"ruleId": None, "ruleIndex": 1}, Severity.CRITICAL),
    ({"ruleId": "unknown"}, Severity.MEDIUM),
]


@pytest.mark.parametrize(("change", "level"), LEVELS)
def test_how_bad_is_said_by_result_or_rule(change: Any, level: Severity, tmp_path: Path) -> None:
    assert claim(tmp_path, result(**change), rules=RULES).severity is level


def test_a_message_may_be_the_rules_with_arguments(tmp_path: Path) -> None:
    one = result(message={"id": "m", "arguments": ["{1}{0.__class__}", "braces"]})
    assert claim(tmp_path, one, rules=RULES).text == "{1}{0.__class__} in {braces} {7}"


NO_CLAIMS = [
    {"kind": "pass"},
    {"kind": "informational", "level": "none"},
    {"suppressions": [{"kind": "inSource"}]},
    {"suppressions": [{"kind": "external", "status": "accepted"}]},
    {"baselineState": "absent"},
]


@pytest.mark.parametrize("change", NO_CLAIMS)
def test_what_is_suppressed_gone_or_no_failure_is_no_claim(change: Any, tmp_path: Path) -> None:
    bundle = read(tmp_path, log(result(**change)))
    assert bundle.trials[0].candidates == ()
    assert bundle.card.notes == ("1 results are suppressed, gone or no failures: no claims",)


def test_a_suppression_under_review_does_not_silence(tmp_path: Path) -> None:
    assert claim(tmp_path, result(suppressions=[{"kind": "external", "status": "underReview"}]))


def test_an_empty_list_is_a_clean_scan_and_no_list_is_no_scan(tmp_path: Path) -> None:
    clean, none = read(tmp_path, log()).trials[0], read(tmp_path, log(results=None)).trials[0]
    assert clean.status is TrialStatus.REVIEWED_CLEAN
    assert none.status is TrialStatus.UNABLE and "nothing was scanned" in none.reason


def test_a_tool_that_fell_over_is_an_error_whatever_it_found(tmp_path: Path) -> None:
    run = {"executionSuccessful": False, "toolExecutionNotifications": [{"message": {"text": "out of memory"}}]}
    trial = read(tmp_path, log(result(), invocations=[run])).trials[0]
    assert (trial.status, trial.complete, trial.reason) == (TrialStatus.ERROR, False, "out of memory")
    assert len(trial.candidates or ()) == 1


def test_nobody_may_take_a_log_for_proof_of_clean_code(tmp_path: Path) -> None:
    assert "not known to be clean" in read(tmp_path, log()).card.not_proven[0]


def test_logs_come_back_byte_for_byte(tmp_path: Path) -> None:
    files = {"one.sarif": log(result()), "two.sarif.json": log(result("b"), results=None)}
    bundle = SARIF.read(put(tmp_path / "in", files))
    assert detect(tmp_path / "in") == ("sarif",)
    assert [pull.id for pull in bundle.pulls] == ["one", "two"]
    SARIF.write(bundle, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "in")


def judged(bundle: Bundle) -> Bundle:
    """The bundle with two goldens, one of which a judge says was found."""
    goldens = tuple(
        Golden(GoldenId(name), f"defect {name}", Category.SECURITY, Severity.HIGH, Place("src/ä b.c", (3, 4)))
        for name in ("g1", "g2", "g3")
    )
    trial = bundle.trials[0]
    first = (trial.candidates or ())[0].id
    said = (
        Judgement(first, GoldenId("g1"), Verdict.MATCH, "judge", "same"),
        Judgement(first, GoldenId("g2"), Verdict.NO_MATCH, "judge", "other"),
        Judgement(first, GoldenId("g3"), Verdict.UNDECIDED, "judge", "timed out"),
    )
    judgements = (JudgementSet("judge", (TrialJudgements(trial.pull, trial.reviewer, said),)),)
    return replace(bundle, pulls=(replace(bundle.pulls[0], goldens=goldens),), judgements=judgements)


def test_findings_and_misses_go_out_and_only_findings_come_in_again(tmp_path: Path) -> None:
    bundle = judged(read(tmp_path, log(result(), result("b"))))
    SARIF.write(bundle, tmp_path / "out.sarif")
    made = json.loads((tmp_path / "out.sarif").read_text())
    found, other, miss = made["runs"][0]["results"]
    assert found["properties"]["assay"]["matches"] == {"judge": ["g1"]}
    assert "matches" not in other["properties"]["assay"]
    assert (miss["kind"], miss["ruleId"], miss["message"]["text"]) == (
        "informational",
        "missed/security",
        "Missed: defect g2",
    )
    assert miss["properties"]["assay"]["missed_by"] == ["judge"]
    assert miss["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/%C3%A4%20b.c"
    again = SARIF.read(tmp_path / "out.sarif")
    assert [one.text for one in again.trials[0].candidates or ()] == ["a wart", "b"]
    assert again.trials[0].reviewer == bundle.trials[0].reviewer and again.pulls[0].id == bundle.pulls[0].id


def test_a_golden_whose_only_pair_is_undecided_is_no_miss(tmp_path: Path) -> None:
    documents = form("sarif").documents(judged(read(tmp_path, log(result()))))
    texts = [one["message"]["text"] for one in json.loads(documents["scan.sarif"])["runs"][0]["results"]]
    assert "Missed: defect g3" not in texts


def test_a_trial_that_did_not_run_is_exported_as_such(tmp_path: Path) -> None:
    bundle = read(tmp_path, log())
    refused = replace(bundle.trials[0], status=TrialStatus.RATE_LIMITED, reason="come back later", candidates=None)
    documents = form("sarif").generate(replace(bundle, trials=(refused,)), {})
    run = json.loads(documents["scan.sarif"])["runs"][0]
    assert "results" not in run
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "rate_limited: come back later"


def test_every_reviewer_of_a_live_run_gets_a_run_of_its_own(tmp_path: Path) -> None:
    bundle = read(tmp_path, log(result()))
    other = replace(bundle.trials[0], reviewer=ReviewerId("another"))
    live = replace(bundle, trials=(*bundle.trials, other), pulls=(BundlePull(PullId("scan"), ()),), extra={})
    runs = json.loads(form("sarif").documents(live)["scan.sarif"])["runs"]
    assert [run["properties"]["assay"]["reviewer"] for run in runs] == ["wart-finder", "another"]


MALFORMED: dict[str, tuple[Any, str]] = {
    "another version": ({**log(), "version": "2.0.0"}, "scan.sarif: $.version: expected one of 2.1.0, found '2.0.0'"),
    "no version": ({"runs": []}, "$: expected a key 'version', found 'runs'"),
    "no runs": ({"version": "2.1.0", "run": []}, "$: expected a key 'runs', found 'run'; did you mean 'runs'?"),
    "no tool": ({"version": "2.1.0", "runs": [{"results": []}]}, "$.runs[0]: expected a key 'tool'"),
    "a level": (
        log(result(level="errror")),
        "results[0].level: expected one of error, warning, note, none, found 'errror'; did you mean 'error'?",
    ),
    "no message": (log({"ruleId": "W1"}), "results[0]: expected a key 'message'"),
    "an empty message": (log(result(message={})), "results[0].message: expected a `text`, a `markdown`"),
    "line zero": (log(result(line=0)), "region.startLine: expected a whole number from 1, or null, found the number 0"),
    "no uri": (log(result(path="http://[bad")), "artifactLocation.uri: expected a URI, found 'http://[bad'"),
    "results that are an object": (log(results={}), "$.runs[0].results: expected a list, found an object"),
}


@pytest.mark.parametrize(("value", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_log_is_named_with_place_and_expectation(value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ImportProblem) as error:
        read(tmp_path, value)
    assert says in str(error.value)


WORDS = """
    runs tool driver name results message text rules locations ruleIndex rule physicalLocation artifactLocation uri
    index region startLine invocations version properties assay suppressions
"""
KEYS = WORDS.split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["2.1.0", "error", "x", "{0}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(JSON, JSON)
def test_whatever_a_log_holds_it_is_read_or_refused(run: Any, one: Any) -> None:
    value = {"version": "2.1.0", "runs": [run, {"tool": {"driver": {"name": "t"}}, "results": [one]}]}
    try:
        form("sarif").build({"x.sarif": json.dumps(value).encode()}, Options())
    except ImportProblem as problem:
        assert "x.sarif: $" in str(problem)
