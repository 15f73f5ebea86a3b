"""Bug fixes run backwards: the sites are what the fix removed, and the sizes are held."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldens.located import SuiteError
from goldens.mine.bugfix import mine_bugfix
from goldens.mine.config import config_names, load_config, read_config
from goldens.mine.draft import Reason
from goldens.mine.labels import is_bug, is_code, is_test, language_of
from goldens.model import Direction, SourceSignal
from tests.goldens.mine.world import AVERAGE, World

CONFIG = load_config("vibeops")


def test_only_fixes_of_the_wanted_size_become_drafts(world: World) -> None:
    with world.quarry() as quarry:
        result = mine_bugfix(quarry, CONFIG)
    assert result.kept == ("#10",)
    why = {discard.subject: discard.reason for discard in result.discards}
    assert why["#22"] is Reason.FILE_COUNT and why["#23"] is Reason.CHANGED_LINES
    assert why["#15"] is Reason.NO_SITE and why["#13"] is Reason.CHANGED_LINES
    assert (why["#17"], why["#18"]) == (Reason.NOT_MERGED, Reason.NO_BUG_LABEL)
    assert result.considered == len(quarry.answers.listed)


def test_a_fix_runs_backwards_and_its_removed_lines_are_at_the_head(world: World) -> None:
    with world.quarry() as quarry:
        draft = mine_bugfix(quarry, CONFIG).drafts[0]
        contents = quarry.git.blobs([(draft.head_sha, "app/core.py"), (draft.base_sha, "app/core.py")])
    assert (draft.direction, draft.signal) == (Direction.INVERTED, SourceSignal.BUG_FIX)
    assert (draft.base_sha, draft.head_sha) == (world.ids["fix10"], world.ids["r50b"])
    (golden,) = draft.goldens
    assert (golden.lines, golden.evidence) == ((13, 13), AVERAGE[1])
    assert AVERAGE[1].encode() in (contents[0] or b"") and AVERAGE[1].encode() not in (contents[1] or b"")
    assert (draft.size.files, draft.size.lines) == (2, 32)


@pytest.mark.parametrize("labels", [("bug",), ("kind/bug",), ("type: Bug",), ("Bug: crash",), ("x", "regression")])
def test_labels_that_name_a_bug(labels: tuple[str, ...]) -> None:
    assert is_bug(labels, CONFIG.labels)


@pytest.mark.parametrize(
    "labels", [(), ("not a bug",), ("debugging",), ("needs bug report",), ("possible bug",), ("bugle",)]
)
def test_labels_that_do_not(labels: tuple[str, ...]) -> None:
    assert not is_bug(labels, CONFIG.labels)


def test_what_is_code_and_what_is_a_test() -> None:
    code = [
        "src/cart.py",
        "packages/next/index.tsx",
        "internal/testing_mode.go",
        "latest/contest.rs",
        "src/Protest.java",
    ]
    tests = [
        "tests/cart.py",
        "src/cart.test.ts",
        "a/cart_test.go",
        "test_cart.py",
        "src/CartTest.java",
        "__tests__/a.jsx",
    ]
    assert all(map(is_code, code)) and all(map(is_test, tests)) and not any(map(is_code, tests))
    assert not any(map(is_code, ["README.md", "package.json", "yarn.lock", "docs/a.rst", "Makefile"]))
    assert language_of(["a.ts", "b.ts", "c.py"]) == "typescript" and language_of(["a.md"]) == "other"


def test_the_packaged_configuration_names_the_eight_repositories() -> None:
    assert config_names() == ("vibeops",)
    assert len(CONFIG.repositories) == 8 and "vercel/next.js" in CONFIG.repositories
    assert (CONFIG.files, CONFIG.changed_lines) == ((1, 10), (20, 500))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("mine: x\nrepositories: [a/b]\nfile: [1, 2]\n", 3, "did you mean 'files'"),
        ("mine: x\n", 1, "repositories: missing"),
        ("mine: x\nrepositories: [a]\n", 2, "owner/name"),
        ("mine: x\nrepositories: [a/b]\nfiles: [3, 2]\n", 3, "not a range"),
        ("mine: x\nrepositories: [a/b]\nlabels: [Not A Word]\n", 3, "one word"),
    ],
)
def test_a_wrong_configuration_is_told_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(SuiteError, match=what) as error:
        read_config(text.encode(), "mine.yaml")
    assert error.value.problems[0].line == line


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="did you mean 'vibeops'"):
        load_config("vibops")
    with pytest.raises(SuiteError, match="cannot be read"):
        load_config(tmp_path / "none.yaml")
