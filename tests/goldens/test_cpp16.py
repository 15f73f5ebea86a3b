"""The packaged suite `cpp16` says what the reference facts say, and no more."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from bot import goldens_desk
from goldens.categories import to_ours
from goldens.load import load_suite
from goldens.model import GitPin, GoldenPull, SourceSignal, Suite
from goldens.trees import Size
from goldens.verify import Level, by_golden, verify
from goldens.wording import words
from scoring.model import GoldenStatus, Place
from tests.shared import SHARED


@pytest.fixture(scope="module")
def cpp16() -> Suite:
    return load_suite("cpp16")


@pytest.fixture(scope="module")
def facts() -> list[dict[str, Any]]:
    path = SHARED / "data" / "cpp16" / "facts.json"
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def pin(pull: GoldenPull) -> GitPin:
    assert isinstance(pull.source, GitPin)
    return pull.source


def test_its_make_up(cpp16: Suite) -> None:
    goldens = [golden for pull in cpp16.pulls for golden in pull.goldens]
    assert (len(cpp16.pulls), len(goldens)) == (16, 20)
    assert Counter(pull.language for pull in cpp16.pulls) == {"c": 7, "cpp": 9}
    assert Counter(golden.severity for golden in goldens) == {"high": 8, "medium": 10, "low": 2}
    assert Counter(golden.discoverability for golden in goldens) == {"diff": 15, "diff_plus_repo": 5}
    assert Counter(pull.source_signal for pull in cpp16.pulls) == {
        SourceSignal.RESOLVED_IN_REVIEW: 11,
        SourceSignal.REJECTED: 5,
    }
    sizes = [pull.size or Size(0, 0) for pull in cpp16.pulls]
    assert (sum(size.files for size in sizes), sum(size.lines for size in sizes)) == (73, 2383)


def test_pins_and_sizes_are_those_of_the_facts(cpp16: Suite, facts: list[dict[str, Any]]) -> None:
    for pull, fact in zip(cpp16.pulls, facts, strict=True):
        assert pin(pull) == GitPin(fact["repo"], fact["pr"], fact["base_sha"], fact["head_sha"])
        assert pull.size == Size(fact["surface_files"], fact["surface_loc"])
        assert pull.source_signal == fact["source_signal"]


def test_goldens_are_those_of_the_facts_word_for_word(cpp16: Suite, facts: list[dict[str, Any]]) -> None:
    for pull, fact in zip(cpp16.pulls, facts, strict=True):
        for golden, said in zip(pull.goldens, fact["goldens"], strict=True):
            assert golden.place == Place(said["path"], (said["line"], said["line"]))
            assert (golden.finding, golden.evidence) == (said["finding"], said["evidence"])
            assert golden.severity == said["severity"].lower()
            assert (golden.label, golden.category) == (said["category"], to_ours("cloudaeye", said["category"]))
            assert golden.discoverability == said["discoverability"]
            assert golden.fix == said["fix_evidence"]


def test_what_the_facts_do_not_say_is_left_out_and_marked(cpp16: Suite) -> None:
    for pull in cpp16.pulls:
        assert (pull.authored_by, pull.date, pull.confirmed_by) == (None, "", ())
        assert {"source", "size", "authored_by", "date", "confirmed_by"} == set(pull.unverified)
        for golden in pull.goldens:
            assert golden.impact is None
            assert {"path", "lines", "evidence", "impact"} == set(golden.unverified)


def test_goldens_with_one_root_cause_share_a_group_and_no_others_do(cpp16: Suite, facts: list[dict[str, Any]]) -> None:
    for pull, fact in zip(cpp16.pulls, facts, strict=True):
        causes = Counter(said["root_cause_group"] for said in fact["goldens"])
        groups = {said["root_cause_group"]: set[str | None]() for said in fact["goldens"]}
        for golden, said in zip(pull.goldens, fact["goldens"], strict=True):
            groups[said["root_cause_group"]].add(golden.group)
        for cause, found in groups.items():
            assert len(found) == 1
            assert (found == {None}) == (causes[cause] == 1)
    assert sum(golden.group is not None for pull in cpp16.pulls for golden in pull.goldens) == 4


def test_goldens_of_rejected_pull_requests_are_disputed_and_only_those(cpp16: Suite) -> None:
    for pull in cpp16.pulls:
        doubted = {golden.status is GoldenStatus.DISPUTED for golden in pull.goldens}
        assert doubted == {pull.source_signal is SourceSignal.REJECTED}, pull.id
    assert sum(golden.status is GoldenStatus.DISPUTED for pull in cpp16.pulls for golden in pull.goldens) == 7


def test_titles_and_bodies_share_no_content_word_with_a_golden_of_theirs(cpp16: Suite) -> None:
    for pull in cpp16.pulls:
        text = words(f"{pull.title}\n{pull.body}")
        assert text
        for golden in pull.goldens:
            assert text & words(f"{golden.finding} {golden.evidence}") == frozenset(), golden.id


def test_it_is_sound_as_far_as_can_be_said_without_the_trees(cpp16: Suite) -> None:
    findings = verify(cpp16)
    assert Counter(finding.rule for finding in findings) == {"not-checked": 16, "disputed": 7}
    assert {finding.level for finding in findings} == {Level.NOTE}
    reports = by_golden(cpp16, findings)
    assert len(reports) == 20
    assert all(report.sound and not report.checked for report in reports)
    assert goldens_desk.findings(goldens_desk.find_suite("cpp16"), None) == findings
