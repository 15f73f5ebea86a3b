"""The packaged suite `recognition27`: the kinds that the reference table lists, in code of our own that parses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from goldens.categories import from_ours
from goldens.load import load_suite
from goldens.model import AuthoredBy, GoldenPull, Origin, Suite, TreeFiles
from goldens.trees import Reach, changes, reach
from goldens.verify import verify
from goldens.wording import comments, staged, telling, words
from tests.shared import SHARED

GRAMMARS: dict[str, Callable[[], object]] = {
    "go": tree_sitter_go.language,
    "java": tree_sitter_java.language,
    "javascript": tree_sitter_javascript.language,
    "python": tree_sitter_python.language,
    "rust": tree_sitter_rust.language,
    "typescript": tree_sitter_typescript.language_typescript,
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("recognition27")


@pytest.fixture(scope="module")
def reference() -> list[dict[str, Any]]:
    path = SHARED / "data" / "codevetter" / "codevetter-benchmark-v1.json"
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


def trees(pull: GoldenPull) -> tuple[TreeFiles, TreeFiles]:
    assert isinstance(pull.source, tuple)
    return pull.source


def files(pull: GoldenPull) -> tuple[str, bytes, bytes]:
    """The one path of a case, and what it holds before and after."""
    base, head = trees(pull)
    ((path, after),) = head.files.items()
    return path, base.files[path], after


def test_nothing_is_to_be_said_against_it(suite: Suite) -> None:
    assert [str(finding) for finding in verify(suite)] == []


def test_its_make_up(suite: Suite) -> None:
    goldens = [golden for pull in suite.pulls for golden in pull.goldens]
    assert (len(suite.pulls), len(goldens)) == (27, 29)
    assert Counter(pull.language for pull in suite.pulls) == {
        "python": 9,
        "typescript": 9,
        "go": 5,
        "javascript": 2,
        "java": 1,
        "rust": 1,
    }
    assert Counter(golden.severity for golden in goldens) == {"high": 21, "medium": 7, "low": 1}
    assert {(pull.origin, pull.authored_by) for pull in suite.pulls} == {(Origin.WRITTEN, AuthoredBy.SYNTHETIC)}
    assert all(golden.impact and golden.discoverability and golden.label for golden in goldens)


def test_kinds_languages_and_severities_are_those_of_the_reference(
    suite: Suite, reference: list[dict[str, Any]]
) -> None:
    ours = [(p.language, sorted((g.label, g.severity.value) for g in p.goldens)) for p in suite.pulls]
    theirs = [(c["language"], sorted((f["type"], f["severity"]) for f in c["expected_findings"])) for c in reference]
    assert sorted(ours) == sorted(theirs)


def test_categories_come_out_as_the_reference_counts_them(suite: Suite) -> None:
    counted = Counter(from_ours("codevetter", pull.goldens[0].category) for pull in suite.pulls)
    assert counted == {"security": 19, "bug": 6, "maintainability": 1, "concurrency": 1}


def test_the_code_is_our_own(suite: Suite, reference: list[dict[str, Any]]) -> None:
    foreign = {line.strip() for case in reference for line in case["source"].splitlines()}
    told = {line for line in foreign if len(line) > 30 and not line.startswith("import")}
    assert len(told) > 100
    for pull in suite.pulls:
        _, before, after = files(pull)
        lines = {line.strip() for line in (before + after).decode("utf-8").splitlines()}
        assert lines & told == set(), pull.id


@pytest.mark.parametrize("at", range(27))
def test_each_case_is_one_realistic_file_and_a_small_change(suite: Suite, at: int) -> None:
    pull = suite.pulls[at]
    _, before, after = files(pull)
    assert 15 <= before.count(b"\n") <= after.count(b"\n") <= 60
    assert pull.size is not None
    assert pull.size.files == 1
    assert 1 <= pull.size.lines <= 30


@pytest.mark.parametrize("at", range(27))
def test_each_case_parses_before_and_after(suite: Suite, at: int) -> None:
    pull = suite.pulls[at]
    parser = Parser(Language(GRAMMARS[pull.language]()))
    for content in files(pull)[1:]:
        tree = parser.parse(content)
        assert broken(tree.root_node) == []
        assert tree.root_node.named_child_count > 2


def broken(node: Node) -> list[str]:
    here = [str(node)] if node.is_error or node.is_missing else []
    return here + [found for child in node.children for found in broken(child)]


def test_a_grammar_does_notice_a_missing_bracket() -> None:
    parser = Parser(Language(GRAMMARS["go"]()))
    assert broken(parser.parse(b"package a\nfunc A() {\n").root_node)


@pytest.mark.parametrize("at", range(27))
def test_no_comment_names_or_hints_at_the_defect(suite: Suite, at: int) -> None:
    pull = suite.pulls[at]
    path, before, after = files(pull)
    for text in (before.decode("utf-8"), after.decode("utf-8")):
        for comment in comments(text, pull.language):
            assert (telling(comment), staged(comment)) == ((), ()), comment
    for golden in pull.goldens:
        kind = words(golden.label.replace("_", " "))
        assert not kind & words(" ".join(comments(after.decode("utf-8"), pull.language)))
        assert not kind <= words(path)


def test_an_inline_comment_can_hit_every_golden(suite: Suite) -> None:
    for pull in suite.pulls:
        base, head = trees(pull)
        diff = changes(base.files, head.files)
        for golden in pull.goldens:
            assert golden.evidence, golden.id
            assert reach(golden.place, diff) is Reach.IN_DIFF, golden.id
            assert golden.place is not None
            assert golden.place.lines is not None
            assert golden.place.lines[1] - golden.place.lines[0] <= 2, golden.id
