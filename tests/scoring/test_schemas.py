"""The schemas that ship are those of the types, and what we write fits them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import scoring.schemas
from scoring import schemas
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements, parts
from scoring.model import PullId, ReviewerId, SuiteRef, TrialStatus, Verdict
from scoring.profiles import replay
from scoring.records import dumps, loads
from tests.scoring.make import candidate, golden, inline, judged, place

FOLDER = Path(scoring.schemas.__file__).parent


def made() -> Bundle:
    known = golden("g1", "a defect", place("a.py", 3), group="cause")
    claims = (candidate("c1", "it leaks", place("a.py", 3)), candidate("c2", "it is slow"))
    who, pull = ReviewerId("acme"), PullId("p1")
    said = (judged("c1", "g1", Verdict.MATCH, 0.9), judged("c2", "g1", Verdict.NO_MATCH))
    return Bundle(
        suite=SuiteRef("demo", "1", "0" * 64),
        card=Card("planted", "the test", "claim x golden", ("anything",), ("seen on the way",)),
        pulls=(BundlePull(pull, (known,), "python", changed_lines=3, tags={"domain": "shop"}),),
        trials=(
            BundleTrial(pull, who, TrialStatus.REVIEWED_FINDINGS, True, "", (inline(1, "it leaks"),), claims, 0.1, 2.0),
        ),
        judgements=(
            JudgementSet("a/b", (TrialJudgements(pull, who, said, (("c1",),), valid=("c2",)),), {"model": "m"}),
        ),
    )


@pytest.mark.parametrize("name", list(schemas.ALL))
def test_the_file_is_what_the_types_give(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == schemas.text(name), (
        f"the types changed: write it anew with `assay bundle schema {name} > scoring/schemas/{name}.json`"
    )


@pytest.mark.parametrize("name", list(schemas.ALL))
def test_every_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def test_a_bundle_fits_its_schema_and_a_spoilt_one_does_not() -> None:
    check = Draft202012Validator(schemas.bundle())
    whole = {name: json.loads(data) for name, data in parts(made()).items()}
    assert list(check.iter_errors(whole)) == []
    for name, value in (("pulls.json", {}), ("index.json", {"schema": "other", "parts": {}}), ("strange.json", 1)):
        assert list(check.iter_errors({**whole, name: value}))
    whole["trials.json"][0]["status"] = "asleep"
    assert list(check.iter_errors(whole))


def test_a_report_says_by_what_it_was_made_and_fits_its_schema() -> None:
    report = replay.report(made())
    record = json.loads(dumps(report))
    assert list(Draft202012Validator(schemas.report()).iter_errors(record)) == []
    assert record["card"]["not_proven"] == ["anything"]
    assert record["unit"]
    assert "groups stored" in record["dedup"]
    assert record["judges"] == ["a/b", "test"]
    assert dumps(loads(dumps(report))) == dumps(report)
