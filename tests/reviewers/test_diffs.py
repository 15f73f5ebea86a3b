"""Diffs that are written: every reader gives the trees back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.reviewers.diffs import between, hunks, numbered, part_of, written
from goldens.diff import ChangeKind, LineKind, read_diff
from goldens.patching import applied
from goldens.trees import changes

_LINES = st.lists(st.sampled_from(["a", "b", "", "\tx", "@@ -1 +1 @@", "--- a/x", "+y", "\\ No newline"]), max_size=25)
_TEXT = st.builds(
    lambda lines, end: ("\n".join(lines) + ("\n" if end and lines else "")).encode(), _LINES, st.booleans()
)


@given(before=_TEXT, after=_TEXT)
@settings(max_examples=150, deadline=None)
def test_a_written_diff_gives_the_new_file_back(before: bytes, after: bytes) -> None:
    base, head = {"x.txt": before}, {"x.txt": after}
    text = written(between(base, head))
    assert applied(base, read_diff(text)) == head
    if before.endswith(b"\n") and after.endswith(b"\n"):
        assert sum(one.added or 0 for one in read_diff(text)) == sum(one.added for one in changes(base, head))


ODD = {
    "plain.py": (b"a\nb\n", b"a\nc\n"),
    "with blank.py": (b"a\n", b"a\nb"),
    'quo"te\\.py': (b"a", b"a\n"),
    "tab\tname.py": (b"1\n2\n3\n", b"1\n3\n"),
    "new.py": (None, b"x\n"),
    "gone.py": (b"x\ny\n", None),
    "empty.py": (None, b""),
    "crlf.py": (b"a\r\nb\r\n", b"a\r\nc\r\n"),
}


def _trees() -> tuple[dict[str, bytes], dict[str, bytes]]:
    base = {path: pair[0] for path, pair in ODD.items() if pair[0] is not None}
    head = {path: pair[1] for path, pair in ODD.items() if pair[1] is not None}
    moved = b"".join(b"line %d\n" % number for number in range(20))
    return base | {"old/name.py": moved}, head | {"new/name.py": moved + b"more\n"}


def test_git_applies_what_is_written(tmp_path: Path) -> None:
    base, head = _trees()
    for path, content in base.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / ".gitignore").write_bytes(b"")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    text = written(between(base, head))
    subprocess.run(["git", "apply", "--whitespace=nowarn"], cwd=tmp_path, input=text.encode(), check=True)
    found = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    there = {name: path.read_bytes() for name, path in found.items() if not name.startswith(".git")}
    assert there == head


def test_a_renamed_file_is_one_file_of_the_diff() -> None:
    told = {one.path: one for one in read_diff(written(between(*_trees())))}
    assert told["new/name.py"].kind is ChangeKind.RENAMED
    assert told["new/name.py"].old_path == "old/name.py"
    assert told["new/name.py"].added == 1


def test_a_binary_file_has_no_lines() -> None:
    (one,) = read_diff(written(between({"a.bin": b"\0a"}, {"a.bin": b"\0b"})))
    assert one.binary and not one.hunks


@pytest.mark.parametrize("span", [(1, 4), (5, 8), (1, 8)])
def test_a_part_of_a_hunk_keeps_the_numbers_of_its_lines(span: tuple[int, int]) -> None:
    before = b"".join(b"%d\n" % n for n in range(1, 9))
    after = before.replace(b"2\n", b"two\n").replace(b"6\n", b"six\nsix and a half\n")
    (whole,) = hunks(before, after, context=100)
    part = part_of(whole, *span)
    assert part is not None
    lines = after.decode().splitlines()
    for line in part.lines:
        if line.new is not None:
            assert span[0] <= line.new <= span[1]
            assert lines[line.new - 1] == line.text
    assert part.new_start == span[0]
    assert part.new_count == sum(line.kind is not LineKind.REMOVED for line in part.lines)


def test_a_part_without_a_change_is_none() -> None:
    (whole,) = hunks(b"a\nb\nc\n", b"a\nb\nd\n", context=100)
    assert part_of(whole, 1, 2) is None


def test_a_listing_names_the_lines_of_the_new_file() -> None:
    (one,) = between({"x.py": b"a\nb\nc\n"}, {"x.py": b"a\nB\nc\n"})
    rows = numbered(one).splitlines()
    assert "1  a" in rows and "  -b" in rows and "2 +B" in rows and "3  c" in rows
