"""An organisation's own suites and reviewers: what is refused, where it is told, and that nothing of it leaves."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import resources

import pytest

from bot.model import Isolation, Publish, RunRequest, Visibility
from bot.org_suites import (
    OwnFiles,
    as_problems,
    check,
    freeze,
    frozen_registry,
    frozen_suite,
    is_own,
    read_suites,
    wanted,
    would_leave,
)
from bot.registry import Registry, RegistryError, load_registry
from bot.workflows.suites import request_of
from goldens.load import suite_names
from scoring.model import ReviewerId
from tests.bot.test_registry import ENTRY, file

SUITE = """\
suite: {name}
version: 1.0.0
title: Our own
licence: proprietary
provenance: our own reviews
pulls:
  - id: cache-keys
    language: python
    title: Keep what was looked up
    body: A lookup is made once.
    source:
      upstream: {upstream}
      number: 7
      base_sha: {base}
      head_sha: {head}
    goldens:
      - id: tenant-missing
        path: rates.py
        lines: [3, 3]
        category: correctness
        severity: high
        finding: The cache key lacks the tenant.
        evidence: key = rate
"""


def text(name: str = "house", base: str = "a" * 40, head: str = "b" * 40, upstream: str = "acme/rates") -> bytes:
    return SUITE.format(name=name, base=base, head=head, upstream=upstream).encode()


def own(reviewers: str | None = None, /, **suites: bytes | None) -> OwnFiles:
    files: dict[str, bytes | None] = {f".assay/suites/{name}.yaml": data for name, data in suites.items()}
    if reviewers is not None:
        files[".assay/reviewers.yaml"] = reviewers.encode()
    return OwnFiles("c" * 40, files)


@cache
def shipped() -> Registry:
    manifest = resources.files("manifests").joinpath("reviewers.yaml").read_text(encoding="utf-8")
    return load_registry(("reviewers.yaml", manifest))


def request(**changes: object) -> RunRequest:
    asked = RunRequest("org/house", (ReviewerId("coderabbit"),), "lexical")
    return replace(asked, **changes)  # type: ignore[arg-type]


def told(files: OwnFiles, *reserved: str) -> list[str]:
    return [str(problem) for problem in check(files, shipped(), reserved or ("quiet-helper[bot]",))]


def test_an_own_suite_is_called_by_its_organisations_prefix_for_good() -> None:
    found = read_suites(own(house=text()))
    path, suite = found.suites["org/house"]
    assert path == ".assay/suites/house.yaml"
    assert suite.ref.id == "org/house"
    assert is_own(suite.ref.id)
    assert not any(is_own(name) for name in suite_names())
    assert [pull.id for pull in suite.pulls] == ["cache-keys"]


def test_a_broken_suite_is_told_by_line_and_keeps_no_other_from_being_used() -> None:
    broken = text("house").replace(b"severity: high", b"severity: hgh")
    files = own(house=broken, other=text("other"))
    (problem,) = told(files)
    assert problem.startswith(".assay/suites/house.yaml:21: pulls[0].goldens[0].severity: ")
    assert problem.endswith("did you mean 'high'?")
    assert set(read_suites(files).suites) == {"org/other"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (own(house=b""), "the file is empty"),
        (own(house=b"\xff\xfe"), "house.yaml:1"),
        (own(house=None), "larger than"),
        (own(house=text("mouse")), "name it .assay/suites/mouse.yaml"),
        (own(house=text().replace(b"suite: house", b"suite: org/house")), "house.yaml:1"),
        (own("version: 1\nreviewers: ["), "reviewers.yaml:"),
        (own(file(ENTRY % ", signals: {done: ['(a+)+$']}")), "repeats"),
        (own(file(ENTRY % ", max_ask: 3")), "unknown field"),
    ],
)
def test_what_cannot_be_used_is_one_problem_with_its_place(files: OwnFiles, said: str) -> None:
    problems = told(files)
    assert len(problems) == 1
    assert said in problems[0]
    assert problems[0].startswith(".assay/")


def test_trees_beside_the_file_are_not_looked_for() -> None:
    lines = text().decode().splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("    source:"))
    plain = "".join([*lines[:start], "    source: files\n", *lines[start + 5 :]])
    (problem,) = told(own(house=plain.encode()))
    assert "write where the commits are: {upstream, number, base_sha, head_sha}" in problem


def test_what_is_no_suite_is_nobodys_business_and_there_is_an_end_to_them() -> None:
    assert wanted(["README.md", "b.yaml", "a.yml", "drafts/"]) == ("a.yml", "b.yaml")
    many = {f"s{number:03}": text(f"s{number:03}") for number in range(60)}
    kept = {name: data for name, data in many.items() if f"{name}.yaml" in wanted(f"{one}.yaml" for one in many)}
    assert len(kept) == 51
    found = read_suites(own(**kept))
    assert len(found.suites) == 50
    assert "more than 50 suites" in str(next(iter(found.problems.values()))[0])


# --- the registry's own file ------------------------------------------------------------------------------------


def test_an_own_entry_changes_only_what_it_says() -> None:
    changed = shipped().with_own("version: 1\nreviewers:\n  - id: coderabbit\n    wait: {deadline: 3600}\n")
    before, after = shipped().get("coderabbit"), changed.get("coderabbit")
    assert before is not None
    assert after is not None
    assert after.wait.deadline == 3600
    assert after.wait.quiet == before.wait.quiet
    assert after.signals == before.signals
    assert after.logins == before.logins
    assert changed.ids == shipped().ids


def test_an_entry_of_a_change_needs_somebody_to_change() -> None:
    with pytest.raises(RegistryError, match="logins"):
        shipped().with_own("version: 1\nreviewers:\n  - id: coderabit\n    wait: {deadline: 3600}\n")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (ENTRY.replace("acme-reviewer[bot]", "quiet-helper[bot]") % "", "an account that this App acts as"),
        (ENTRY.replace("acme-reviewer[bot]", "Quiet-Helper") % "", "an account that this App acts as"),
        (ENTRY.replace("acme-reviewer[bot]", "coderabbitai[bot]") % "", "claimed by 'acme' and by 'coderabbit'"),
        (
            ENTRY % ", needs_action: true, workflow: {path: .github/workflows/a.yml, content: 'on: push'}",
            "only the operator's registry can have a workflow pushed",
        ),
        (ENTRY % ', trigger: {kind: comment, text: "/assay cancel"}', "a command to this App"),
        (ENTRY % ', trigger: {kind: comment, text: "review\\nplease"}', "one printable line"),
        (ENTRY % f', trigger: {{kind: comment, text: "{"x" * 201}"}}', "at most 200"),
        (ENTRY % ", configs: [../../etc/passwd]", "inside a repository"),
        (ENTRY % ", cost: {least: 2, most: 1}", "most is less than least"),
        (ENTRY % ", workflow: {path: x.yml, content: y}", "workflow"),
    ],
)
def test_an_own_entry_may_not_claim_or_widen_what_is_not_its_own(entry: str, said: str) -> None:
    problems = told(own(file(entry)), "quiet-helper[bot]", "quiet-helper")
    assert problems
    assert any(said in problem for problem in problems)


def test_an_operators_registry_may_hold_a_workflow_and_an_own_file_may_change_the_rest_of_that_entry() -> None:
    action = ", needs_action: true, workflow: {path: .github/workflows/a.yml, content: 'on: push'}"
    base = load_registry(("operator.yaml", file(ENTRY % action)))
    changed = base.with_own("version: 1\nreviewers:\n  - {id: acme, wait: {quiet: 7}}\n").get("acme")
    assert changed is not None
    assert changed.workflow is not None
    assert changed.wait.quiet == 7


# --- asking -----------------------------------------------------------------------------------------------------


def form(suite: str) -> str:
    return f"### Suite\n\n{suite}\n\n### Reviewers\n\ncoderabbit"


def read(suite: str, files: OwnFiles) -> object:
    packaged = {"smoke": ["one"]}
    return request_of(
        form(suite),
        files,
        packaged,  # type: ignore[arg-type]
        reviewers=shipped().reviewers,
        judges=lambda _name: None,
        default_judge="lexical",
    )


def test_a_name_alone_means_the_own_suite_unless_a_suite_that_ships_has_it() -> None:
    files = own(house=text(), smoke=text("smoke"))
    for asked, meant in [
        ("house", "org/house"),
        ("org/house", "org/house"),
        ("smoke", "smoke"),
        ("org/smoke", "org/smoke"),
    ]:
        got = read(asked, files)
        assert isinstance(got, RunRequest), got
        assert got.suite == meant


@pytest.mark.parametrize("asked", ["org/house", "house"])
def test_asking_for_a_broken_suite_is_answered_with_what_is_wrong_with_it(asked: str) -> None:
    got = read(asked, own(house=text().replace(b"severity: high", b"severity: hgh")))
    assert ".assay/suites/house.yaml:21" in str(got)


def test_a_misspelt_own_suite_is_told_what_there_is() -> None:
    assert "org/house" in str(read("org/hause", own(house=text())))


def test_a_request_would_leave_the_organisation_if_anybody_outside_could_see_it() -> None:
    assert would_leave(request(), public_control=True) is None
    assert would_leave(request(visibility=Visibility.PUBLIC), public_control=False) is not None
    for mode in (Publish.NAMED, Publish.ANONYMOUS):
        assert would_leave(request(publish=mode), public_control=True) is not None
        assert would_leave(request(publish=mode), public_control=False) is None
    each = ((ReviewerId("coderabbit"), Publish.NAMED),)
    assert would_leave(request(publish_each=each), public_control=True) is not None
    public = request(suite="smoke", visibility=Visibility.PUBLIC, publish=Publish.NAMED)
    assert would_leave(public, public_control=True) is None
    both = would_leave(request(visibility=Visibility.PUBLIC, publish=Publish.NAMED), public_control=True)
    assert both is not None
    assert [one.field for one in both.items] == ["Fork visibility", "Publish"]


def test_a_run_keeps_to_what_was_frozen_whatever_is_changed_meanwhile() -> None:
    files = own("version: 1\nreviewers:\n  - {id: coderabbit, wait: {quiet: 7}}\n", house=text())
    registry = shipped().with_own(files.reviewers or "")
    frozen = freeze(files, registry, request(isolation=Isolation.SHARED))
    later = frozen_registry(frozen, load_registry(("x.yaml", file(ENTRY % ""))))
    entry = later.get("coderabbit")
    assert entry is not None
    assert entry.wait.quiet == 7
    assert later.get("acme") is not None
    suite = frozen_suite(frozen)
    assert suite is not None
    assert suite.ref == read_suites(files).suites["org/house"][1].ref
    assert frozen.commit == "c" * 40
    assert frozen_suite(freeze(files, registry, request(suite="smoke"))) is None


def test_many_problems_are_cut_and_the_rest_is_counted() -> None:
    bad = "".join(ENTRY.replace("acme", f"acme{number}") % ", nonsense: 1" for number in range(15))
    with pytest.raises(RegistryError) as caught:
        shipped().with_own(file(bad))
    problems = as_problems("Reviewers", caught.value.problems)
    assert len(problems.items) == 11
    assert "and 5 more" in problems.items[-1].message
