"""What leaves both trees of a fork, and what happens when the golden pull request itself changes it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import manifests
from bot.neutral import Decided, StripRules, parse_strip_rules, strip
from tests.shared import SHARED

MANIFEST = Path(manifests.__file__).with_name("strip_paths.yaml")


def shipped() -> StripRules:
    return parse_strip_rules(MANIFEST.read_text(encoding="utf-8"))


def removed(*paths: str) -> list[str]:
    return [one.path for one in strip(paths, frozenset(), shipped()).removed]


def test_every_documented_file_that_steers_a_reviewer_is_stripped() -> None:
    source = SHARED / "facts" / "review_bots.yaml"
    if not source.exists():
        pytest.skip(f"no {source}: the shared reference material is not here")
    documented = yaml.safe_load(source.read_text(encoding="utf-8"))["strip_paths"]
    paths = [path.replace("**/", "deep/er/") + ("x/y.md" if path.endswith("/") else "") for path in documented]
    assert removed(*paths) == paths


@pytest.mark.parametrize(
    "path",
    [".github/workflows/ci.yml", "pkg/.github/workflows/x/y.yml", "a/b/AGENTS.md", "Claude.md",
     ".GITHUB/Workflows/a.yml", "docs/CODEOWNERS", ".cursor/rules/a.mdc", "x/.cursorrules", ".aider.conf.yml",
     "web/.coderabbit.yaml", ".github/PULL_REQUEST_TEMPLATE.md", "a\nb/.semgrep/\u00e9.yml", "-x/.snyk"],
)  # fmt: skip
def test_nested_and_differently_spelled_copies_go_too(path: str) -> None:
    assert removed(path) == [path]


@pytest.mark.parametrize(
    "path",
    ["src/agents.py", "AGENTS.md.tmpl", "myAGENTS.md", "docs/best_practices.md", ".github/ISSUE_TEMPLATE/bug.yml",
     ".gitattributes", "workflows/ci.yml", "x.github/workflows/a", "claude/md", ".cursor", "src/.cursorrulesx",
     "renovate.js", "greptileXjson"],
)  # fmt: skip
def test_what_only_looks_alike_stays(path: str) -> None:
    assert removed(path) == []


def test_what_the_golden_change_itself_touches_is_kept_on_both_sides_or_refused_with_the_reason() -> None:
    paths = [".github/workflows/ci.yml", ".github/workflows/other.yml", ".coderabbit.yaml", "src/a.py"]
    result = strip(paths, frozenset({paths[0], paths[2], paths[3]}), shipped())
    assert result.removed == (Decided(paths[1], "workflows"),)
    (kept,) = result.kept_both
    (refused,) = result.refused
    assert kept.path == paths[0] and "permission to write workflows" in kept.reason
    assert kept.reason.startswith("the golden pull request changes it; workflows: ")
    assert refused.path == paths[2] and "configures a reviewer" in refused.reason


def test_each_path_is_decided_once_however_often_it_is_listed() -> None:
    assert [one.path for one in strip(["AGENTS.md"] * 3, frozenset(), shipped()).removed] == ["AGENTS.md"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version: 1\ngroups: [", "not YAML"),
        ("version: 2\ngroups: []", "version"),
        ("version: 1\ngroups: [{id: a, edited: drop, why: w, paths: [x]}]", "groups.0.edited"),
        ("version: 1\ngroups: [{id: a, edited: keep, why: w, paths: [x], extra: 1}]", "groups.0.extra"),
        ("version: 1\ngroups: [{id: a, edited: keep, why: w, paths: ['**/x']}]", "group a: '**/x' is no pattern"),
        ("version: 1\ngroups: [{id: a, edited: keep, why: w, paths: ['a/../x']}]", "is no pattern"),
        ("version: 1\ngroups: [{id: a, edited: keep, why: w, paths: ['/']}]", "is no pattern"),
        ("version: 1\ngroups: [{id: a, edited: keep, why: w, paths: ['']}]", "is no pattern"),
        ("just text", "dict"),
    ],
)
def test_a_broken_manifest_says_where_it_is_broken(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"strip\.yaml") as caught:
        parse_strip_rules(text, "strip.yaml")
    assert told in str(caught.value)


def test_every_fault_of_a_broken_manifest_is_told_and_where_nobody_named_it_the_shipped_one_is_meant() -> None:
    with pytest.raises(ValueError, match=r"\Astrip_paths\.yaml: version: .{1,80}; groups: .{1,80}\Z"):
        parse_strip_rules("version: 2\ngroups: []")


def test_a_pattern_is_text_and_no_expression() -> None:
    rules = parse_strip_rules(
        "version: 1\ngroups: [{id: a, edited: keep, why: w, paths: ['a.(b|c)*d/', '/top*.x', '/MAX']}]"
    )
    names = ["a.(b|c)zzd/f", "n/a.(b|c)d/f", "axb/f", "topp.x", "n/top.x", "a.(b|c)/d/f", "MAX"]
    assert [one.path for one in strip(names, frozenset(), rules).removed] == [names[0], names[1], names[3], "MAX"]
