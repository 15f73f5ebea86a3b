from __future__ import annotations

import json
from dataclasses import replace

import pytest

from scoring.judges.lexical import LexicalJudge
from scoring.model import Report, SuiteRef, TrialStatus
from scoring.profiles.assay import score_run
from scoring.records import BadRecord, dumps, json_schema, loads, to_record
from tests.scoring.make import golden, inline, place, review, text, trial


@pytest.fixture(name="report")
def _report() -> Report:
    known = (
        golden(
            "g2",
            "`Pool.acquire()` returns early when the pool is empty without releasing the lock",
            place("src/pool.c", 12),
        ),
        golden("g1", "The token is compared with ==, so timing reveals it", group="rc1"),
    )
    comments = (
        *(
            inline(
                at, f"[P{at % 4}] The lock is not released in `acquire()` if the pool is empty.", "src/pool.c", at * 40
            )
            for at in range(1, 12)
        ),
        inline(20, "锁未释放 {x} %s \u202egnp\u202c", "src/a.go", 3),
        review(21, "\n".join(f"- `src/c{at}.py:{at}`: wrong operator {at}" for at in range(1, 13))),
        text(22, "LGTM"),
    )
    trials = [
        trial(known, comments),
        trial(known, comments, "p2", status=TrialStatus.TIMEOUT),
        trial((), (), "p3", status=TrialStatus.REVIEWED_CLEAN),
        trial((), (), "p1", "quiet", status=TrialStatus.REVIEWED_CLEAN),
    ]
    return score_run(trials, LexicalJudge(), SuiteRef("demo", "1", "sha256:0"), notes=("one run only",))


def test_the_keys_other_parts_rely_on_are_there(report: Report) -> None:
    record = to_record(report)
    assert {"schema", "profile", "suite", "judge", "reviewers", "trials"} <= set(record)
    assert set(record["suite"]) == {"id", "version", "hash"}
    row = record["reviewers"][0]
    assert {
        "reviewer",
        "tp",
        "fp",
        "fn",
        "valid",
        "duplicate",
        "unscored",
        "precision",
        "recall",
        "f1",
        "coverage",
    } <= set(row)
    for name in ("precision", "recall", "f1"):
        assert set(row[name]) == {"value", "low", "high", "n", "reason"}
    assert set(row["coverage"]) == {"trials", "scored", "by_status"}
    claim = record["trials"][0]["candidates"][0]
    wanted = {
        "id",
        "comment",
        "permalink",
        "revision",
        "path",
        "lines",
        "title",
        "text",
        "outcome",
        "reason",
        "golden",
        "answers",
    }
    assert wanted <= set(claim)
    assert {"id", "outcome", "reason", "candidate"} <= set(record["trials"][0]["goldens"][0])


def test_reading_gives_the_report_back_but_for_the_comments(report: Report) -> None:
    bare = tuple(replace(score, trial=replace(score.trial, comments=())) for score in report.trials)
    assert loads(dumps(report)) == replace(report, trials=bare)
    assert dumps(loads(dumps(report))) == dumps(report)


def test_the_same_report_gives_the_same_bytes_and_every_candidate_is_in_it(report: Report) -> None:
    assert dumps(report) == dumps(report)
    record = json.loads(dumps(report))
    for score, raw in zip(report.trials, record["trials"], strict=True):
        assert [one["id"] for one in raw["candidates"]] == [one.id for one in score.candidates]
        assert all(len(one["answers"]) == len(score.trial.goldens) for one in raw["candidates"])
        counts = raw["counts"]
        sums = ("tp", "fp", "valid", "duplicate", "unscored")
        assert sum(counts[name] for name in sums) == len(raw["candidates"])


def test_a_trial_without_a_score_says_nothing_of_its_goldens(report: Report) -> None:
    raw = next(one for one in to_record(report)["trials"] if one["status"] == "timeout")
    assert (raw["scored"], raw["candidates"]) == (False, [])
    assert [one["outcome"] for one in raw["goldens"]] == [None, None]


def test_unknown_and_wrong_fields_are_refused_with_their_place(report: Report) -> None:
    raw = to_record(report)
    with pytest.raises(BadRecord, match=r"reviewers\.0\.f2: Extra inputs"):
        loads(json.dumps(raw | {"reviewers": [raw["reviewers"][0] | {"f2": 1}]}))
    with pytest.raises(BadRecord, match=r"reviewers\.0\.tp"):
        loads(json.dumps(raw | {"reviewers": [raw["reviewers"][0] | {"tp": -1}]}))
    with pytest.raises(BadRecord, match=r"'assay.report/9' is not supported"):
        loads(json.dumps(raw | {"schema": "assay.report/9"}))
    for text_ in ("", "[]", "null", '{"schema": "assay.report/1"}'):
        with pytest.raises(BadRecord):
            loads(text_)


def test_the_json_schema_covers_the_report_and_forbids_the_rest(report: Report) -> None:
    from openapi_schema_validator import OAS31Validator

    schema = json_schema()
    OAS31Validator.check_schema(schema)
    check = OAS31Validator(schema)
    raw = json.loads(dumps(report))
    assert list(check.iter_errors(raw)) == []
    assert list(check.iter_errors(raw | {"when": "now"}))
