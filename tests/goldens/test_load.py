"""Suites are found by name, read with their trees, and known by a hash that only their content decides."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import goldens
from goldens.load import content_hash, load_suite, shipped_suite, suite_names
from goldens.located import SuiteError
from goldens.model import AuthoredBy, Direction, GitPin, Origin, SourceSignal, TreeFiles
from goldens.schema import parse_suite
from scoring.model import (
    Category,
    Discoverability,
    Golden,
    GoldenId,
    GoldenStatus,
    Impact,
    Place,
    PullId,
    Severity,
    Side,
)
from tests.goldens.written import BASE, HEAD, PINNED, YAML, changed, write_suite


def problems(which: str | Path) -> str:
    with pytest.raises(SuiteError) as raised:
        load_suite(which)
    return str(raised.value)


def test_a_suite_is_read_with_its_trees(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    suite = load_suite(path)
    assert (suite.ref.id, suite.ref.version, suite.title, suite.licence) == (
        "tiny",
        "0.1.0",
        "A suite for tests",
        "MIT",
    )
    assert suite.provenance == "Written for the tests."
    assert suite.path == path
    pull = suite.pulls[0]
    assert not pull.clean
    assert pull.source == (
        TreeFiles({"shop/prices.py": BASE.encode()}),
        TreeFiles({"shop/prices.py": HEAD.encode()}),
    )
    assert pull.goldens == (
        Golden(
            GoldenId("divisor"),
            "The divisor is one short, so every result is too large and a single price divides by zero.",
            Category.CORRECTNESS,
            Severity.HIGH,
            Place("shop/prices.py", (5, 6)),
            "return total(prices) / (len(prices) - 1)",
        ),
    )


def test_the_directory_of_a_suite_will_do(tmp_path: Path) -> None:
    write_suite(tmp_path)
    assert load_suite(tmp_path).ref == load_suite(tmp_path / "suite.yaml").ref


def test_a_pinned_pull_needs_no_trees(tmp_path: Path) -> None:
    pin = (
        f"source:\n      upstream: acme/shop\n      number: 7\n"
        f"      base_sha: {PINNED}\n      head_sha: {PINNED[::-1]}\n"
    )
    (tmp_path / "suite.yaml").write_text(changed("source: files\n", pin), encoding="utf-8")
    suite = load_suite(tmp_path)
    assert suite.pulls[0].source == GitPin("acme/shop", 7, PINNED, PINNED[::-1])
    (tmp_path / "suite.yaml").write_text(changed("source: files\n", pin.replace(PINNED, "f" * 40, 1)), encoding="utf-8")
    assert load_suite(tmp_path).ref.hash != suite.ref.hash


# --- names ------------------------------------------------------------------------------------------------------


def test_the_packaged_suites_are_listed() -> None:
    assert "smoke" in suite_names()
    for name in suite_names():
        assert load_suite(name).ref.id == name


def test_a_shipped_suite_is_read_once_and_never_from_a_path_in_an_issue() -> None:
    assert shipped_suite("smoke") is shipped_suite("smoke")
    assert shipped_suite("smoke") == load_suite("smoke")
    with pytest.raises(SuiteError):
        shipped_suite("../smoke")


def test_a_misspelt_name_is_put_right() -> None:
    expected = f"suite.yaml:1: suite: no suite 'smokey'; allowed: {', '.join(suite_names())}; did you mean 'smoke'?"
    assert problems("smokey") == expected


@pytest.mark.parametrize("name", ["../../tests", "smoke/../smoke", "/etc/passwd", "", ".", "smoke\0"])
def test_a_name_from_an_issue_cannot_reach_other_files(name: str) -> None:
    assert problems(name).startswith(f"suite.yaml:1: suite: no suite {name!r}; allowed: ")


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    assert problems(path) == f"{path}:1: cannot be read: No such file or directory"


# --- trees ------------------------------------------------------------------------------------------------------


def test_a_line_beyond_the_file_is_told_with_its_line(tmp_path: Path) -> None:
    path = write_suite(tmp_path, changed("lines: [5, 6]", "lines: [5, 7]"))
    assert problems(path) == (
        f"{path}:15: pulls[0].goldens[0].lines: line 7 is beyond the end of shop/prices.py in the head tree (6 lines)"
    )


def test_lines_of_the_left_side_are_those_of_the_base(tmp_path: Path) -> None:
    path = write_suite(tmp_path, changed("severity: high", "severity: high\n        side: LEFT"))
    assert problems(path) == (
        f"{path}:15: pulls[0].goldens[0].lines: line 6 is beyond the end of shop/prices.py in the base tree (2 lines)"
    )


def test_a_misspelt_path_is_put_right(tmp_path: Path) -> None:
    path = write_suite(tmp_path, changed("path: shop/prices.py", "path: shop/price.py"))
    assert problems(path) == (
        f"{path}:14: pulls[0].goldens[0].path: no file 'shop/price.py' in the head tree; "
        "allowed: shop/prices.py; did you mean 'shop/prices.py'?"
    )


def test_a_golden_may_still_use_the_old_name_of_a_renamed_file(tmp_path: Path) -> None:
    path = write_suite(tmp_path, changed("lines: [5, 6]", "lines: [2, 2]"), head=BASE.replace("sum", "max"))
    (tmp_path / "mean-price" / "head" / "shop" / "prices.py").rename(tmp_path / "mean-price" / "head" / "moved.py")
    place = load_suite(path).pulls[0].goldens[0].place
    assert place == Place("shop/prices.py", (2, 2), Side.RIGHT)


def test_missing_trees_are_told(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    shutil.rmtree(tmp_path / "mean-price" / "base")
    assert problems(path) == (f"{path}:11: pulls[0].source: no directory mean-price/base beside the suite file")


def test_a_link_out_of_the_tree_is_refused(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    (tmp_path / "mean-price" / "head" / "shop" / "key").symlink_to("/etc/hostname")
    assert problems(path) == f"{path}:11: pulls[0].source: head/shop/key is not a regular file"


def test_a_linked_directory_is_refused(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    (tmp_path / "mean-price" / "head" / "etc").symlink_to("/etc", target_is_directory=True)
    assert "head/etc is not a regular file" in problems(path)


def test_files_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    (tmp_path / "mean-price" / "head" / "shop" / "Prices.py").write_text("x = 1\n", encoding="utf-8")
    if len(list((tmp_path / "mean-price" / "head" / "shop").iterdir())) == 1:
        pytest.skip("this file system ignores case")
    assert problems(path) == (
        f"{path}:11: pulls[0].source: head: shop/Prices.py and shop/prices.py are one file where case is ignored"
    )


# --- the hash ---------------------------------------------------------------------------------------------------


def test_the_hash_is_pinned_across_machines(tmp_path: Path) -> None:
    expected = "d59e94ccad0dd4f35657c375442e38d15422211162a7d188ecc2d5653b7213d6"
    assert load_suite(write_suite(tmp_path)).ref.hash == expected


def test_the_hash_does_not_see_where_when_or_how_the_files_lie(tmp_path: Path) -> None:
    one = load_suite(write_suite(tmp_path / "one"))
    yaml = changed("title: A suite for tests", "title: Another name").replace("version: 0.1.0", "version: 0.1.1")
    other_path = write_suite(tmp_path / "two", "# a comment\r\n" + yaml.replace("\n", "\r\n"))
    for file in (tmp_path / "two").rglob("*.py"):
        file.chmod(0o755)
        os.utime(file, (0, 0))
    other = load_suite(other_path)
    assert other.ref.hash == one.ref.hash
    assert other.ref.version == "0.1.1"


def test_what_installers_leave_behind_is_not_in_the_hash(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    before = load_suite(path)
    cache = tmp_path / "mean-price" / "head" / "shop" / "__pycache__"
    cache.mkdir()
    (cache / "prices.cpython-311.pyc").write_bytes(b"\0")
    (tmp_path / "mean-price" / "base" / ".DS_Store").write_bytes(b"\0")
    assert load_suite(path).pulls == before.pulls


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("finding: The divisor is one short", "finding: The divisor is one  short"),
        ("severity: high", "severity: low"),
        ("category: correctness", "category: api"),
        ("lines: [5, 6]", "lines: [6, 6]"),
        ("id: divisor", "id: divider"),
        ("title: Show what", "title: Tell what"),
        ("body: Adds a figure", "body: Adds figures"),
        ("severity: high", "severity: high\n        group: sums"),
        ("language: python", "language: text"),
    ],
)
def test_the_hash_changes_with_every_word_that_matters(tmp_path: Path, old: str, new: str) -> None:
    one, other = load_suite(write_suite(tmp_path / "a")), load_suite(write_suite(tmp_path / "b", changed(old, new)))
    assert one.ref.hash != other.ref.hash


def test_the_hash_changes_with_one_byte_or_name_of_a_tree(tmp_path: Path) -> None:
    hashes = {
        load_suite(write_suite(tmp_path / "a")).ref.hash,
        load_suite(write_suite(tmp_path / "b", head=HEAD + "\n")).ref.hash,
        load_suite(write_suite(tmp_path / "c", base=BASE.replace("\n", "\r\n"))).ref.hash,
    }
    more = write_suite(tmp_path / "d")
    (tmp_path / "d" / "mean-price" / "head" / "empty").write_bytes(b"")
    assert len(hashes | {load_suite(more).ref.hash}) == 4


def test_the_hash_does_not_depend_on_order() -> None:
    suite = load_suite("smoke")
    assert content_hash(tuple(reversed(suite.pulls))) == suite.ref.hash


def test_reading_twice_is_reading_the_same(tmp_path: Path) -> None:
    path = write_suite(tmp_path, YAML)
    assert load_suite(path) == load_suite(path)
    assert load_suite(path).pulls[0].id == PullId("mean-price")


def test_the_example_in_the_documentation_is_valid() -> None:
    text = (Path(goldens.__file__).parent / "README.md").read_text(encoding="utf-8")
    suite, _ = parse_suite(text.split("```yaml\n")[1].split("```")[0].encode(), "README.md")
    assert [pull.clean for pull in suite.pulls] == [False, True]


def test_the_documentation_names_every_word_and_rule() -> None:
    folder = Path(goldens.__file__).parent
    text = (folder / "README.md").read_text(encoding="utf-8")
    code = (folder / "verify.py").read_text("utf-8") + (folder / "pins.py").read_text("utf-8")
    rules = set(re.findall(r'Level\.[A-Z]+, "([a-z-]+)"|level, "([a-z-]+)"', code))
    words = {*Category, *Severity, *(name for pair in rules for name in pair if name)}
    assert len(words) > 30
    words |= {*Impact, *Discoverability, *GoldenStatus, *AuthoredBy, *Direction, *Origin, *SourceSignal}
    words |= {
        "smoke",
        "recognition27",
        "cpp16",
        "synthetic",
        "cold",
        "audit",
        "date",
        "size",
        "confirmed_by",
        "unverified",
        "label",
        "fix",
    }
    assert [word for word in sorted(words) if f"`{word}`" not in text] == []


@pytest.mark.parametrize("which", ["mean-price", "mean-price/head", "mean-price/base"])
def test_a_directory_that_is_a_link_would_show_what_is_no_part_of_the_suite(which: str, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    secret = tmp_path / "elsewhere"
    (tmp_path / "suite" / which).rename(secret)
    (tmp_path / "suite" / which).symlink_to(secret)
    with pytest.raises(SuiteError, match="is a symbolic link; a suite holds its files itself"):
        load_suite(suite)


def test_a_tree_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    with (tmp_path / "mean-price" / "head" / "huge").open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(SuiteError, match="head holds more than"):
        load_suite(suite)
