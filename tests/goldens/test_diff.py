"""Diffs as tools really print them, and as nobody should."""

from __future__ import annotations

import re
import time

import pytest

from goldens.diff import ChangeKind, DiffError, FileChange, LineKind, as_change, read_diff
from goldens.trees import Reach, reach
from scoring.model import Place, Side
from tests.shared import case, case_file

CASES = ["40", "41", "42", "43", "44", "45", "47", "48", "49", "50", "52", "54"]


def one(text: str | bytes) -> FileChange:
    (change,) = read_diff(text)
    return change


def edit(header: str, old: str = "x", new: str = "y") -> str:
    return f"{header}@@ -1 +1 @@\n-{old}\n+{new}\n"


@pytest.mark.parametrize("as_text", [False, True], ids=["bytes", "text"])
@pytest.mark.parametrize("prefix", CASES)
def test_shared_cases_read_as_git_meant_them(prefix: str, as_text: bool) -> None:
    told = case(prefix)
    data, expected = case_file(told["input_file"]), told["expected"]
    changes = read_diff(data.decode("utf-8") if as_text else data)
    seen = [
        {
            "old_path": c.old_path or c.new_path,
            "new_path": c.new_path or c.old_path,
            "added": c.added,
            "removed": c.removed,
        }
        for c in changes
    ]
    assert sorted(seen, key=str) == sorted(expected["files"], key=str)
    if "new_side_changed_lines" in expected:
        assert {c.path: list(c.added_lines) for c in changes if c.added_lines} == expected["new_side_changed_lines"]
    if "old_side_removed_lines" in expected:
        assert {c.path: list(c.removed_lines) for c in changes} == expected["old_side_removed_lines"]
    named = {
        "binary": [c.path for c in changes if c.binary],
        "mode_only": [c.path for c in changes if c.mode_only],
        "deleted": [c.path for c in changes if c.kind is ChangeKind.DELETED],
        "submodule": [c.path for c in changes if c.submodule],
        "empty_new": [c.path for c in changes if c.kind is ChangeKind.ADDED and not c.hunks and not c.binary],
    }
    for name, paths in named.items():
        assert sorted(paths) == sorted(expected.get(name, paths))


# --- names ------------------------------------------------------------------------------------------------------


def test_a_path_with_b_slash_inside_is_not_cut_there() -> None:
    change = one("diff --git a/x b/y b/x b/y\nold mode 100644\nnew mode 100755\n")
    assert (change.old_path, change.new_path, change.mode_only) == ("x b/y", "x b/y", True)


def test_a_new_binary_with_blanks_in_its_name_is_found_in_the_header_alone() -> None:
    text = "diff --git a/my b/pic .png b/my b/pic .png\nnew file mode 100644\nindex 0000000..49633fe\n"
    change = one(text + "Binary files /dev/null and b/my b/pic .png differ\n")
    assert (change.old_path, change.new_path, change.binary) == (None, "my b/pic .png", True)


def test_octal_and_plain_utf8_name_the_same_file() -> None:
    octal = edit(
        'diff --git "a/caf\\303\\251.py" "b/caf\\303\\251.py"\n--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n'
    )
    plain = edit("diff --git a/café.py b/café.py\n--- a/café.py\n+++ b/café.py\n")
    assert one(octal).path == one(plain).path == one(plain.encode()).path == "café.py"


def test_a_name_that_is_no_utf8_keeps_its_bytes() -> None:
    change = one(edit('diff --git "a/\\377.py" "b/\\377.py"\n--- "a/\\377.py"\n+++ "b/\\377.py"\n'))
    assert change.path.encode("utf-8", "surrogateescape") == b"\xff.py"


def test_a_new_file_in_a_real_directory_b_without_prefixes_keeps_it() -> None:
    text = "diff --git b/x.py b/x.py\nnew file mode 100644\n--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+y\n"
    assert one(text).new_path == "b/x.py"


def test_a_rename_row_proves_that_there_are_no_prefixes() -> None:
    text = "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from a/old.py\nrename to b/new.py\n"
    text += edit("--- a/old.py\n+++ b/new.py\n") + edit("diff --git a/k.py a/k.py\n--- a/k.py\n+++ a/k.py\n")
    renamed, kept = read_diff(text)
    assert (renamed.old_path, renamed.new_path, renamed.similarity) == ("a/old.py", "b/new.py", 90)
    assert kept.path == "a/k.py"


@pytest.mark.parametrize(("old", "new"), [("a/", "b/"), ("b/", "a/"), ("c/", "w/"), ("before/", "after/"), ("", "")])
def test_prefixes_are_decided_for_the_whole_diff(old: str, new: str) -> None:
    names = ["a/m.py", "b/m.py", "src/m one.py"]
    text = "".join(
        edit(f"diff --git {old}{name} {new}{name}\n--- {old}{name}{tab}\n+++ {new}{name}{tab}\n")
        for name in names
        for tab in ["\t" if " " in name else ""]
    )
    text += f"diff --git {old}run it.sh {new}run it.sh\nold mode 100644\nnew mode 100755\n"
    assert [change.path for change in read_diff(text)] == [*names, "run it.sh"]
    assert {change.kind for change in read_diff(text)} == {ChangeKind.MODIFIED}


def test_a_copy_leaves_its_source_where_it_is() -> None:
    text = "diff --git a/x.py b/y.py\nsimilarity index 100%\ncopy from x.py\ncopy to y.py\n"
    change = one(text)
    assert (change.kind, change.old_path, change.new_path) == (ChangeKind.COPIED, "x.py", "y.py")


def test_a_plain_diff_without_git_is_read_and_its_times_are_no_names() -> None:
    change = one(edit("--- src/a.py\t2024-01-01 10:00:00 +0000\n+++ src/a.py\t2024-01-02 10:00:00 +0000\n"))
    assert (change.old_path, change.new_path) == ("src/a.py", "src/a.py")
    assert one(edit("--- a/src/a.py\n+++ b/src/a.py\n")).path == "src/a.py"


# --- content ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["\x0c", "\x0b", "\x1c", "\x85", "\u2028", "\u2029", "a\rb", "\r"])
def test_only_a_newline_ends_a_line(odd: str) -> None:
    text = f"diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1,2 +1,3 @@\n {odd}\n+new{odd}\n tail{odd}\n"
    for data in (text, text.encode()):
        change = one(data)
        assert change.added_lines == (2,)
        assert [line.text for line in change.hunks[0].lines] == [odd, f"new{odd}", f"tail{odd}"]


def test_latin_1_content_survives_to_the_byte() -> None:
    change = one(b"diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n-caf\xe9\n+caf\xc3\xa9\n")
    assert [line.text.encode("utf-8", "surrogateescape") for line in change.hunks[0].lines] == [
        b"caf\xe9",
        b"caf\xc3\xa9",
    ]


def test_content_that_looks_like_headers_stays_content() -> None:
    rows = ["--- a/z", "+++ b/z", "@@ -1 +1 @@", "diff --git a/z b/z", "rename from q", "\\ No newline at end of file"]
    body = "".join(f"-{row}\n+{row}!\n" for row in rows)
    text = f"diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1,{len(rows)} +1,{len(rows)} @@\n{body}"
    change = one(text)
    assert (change.added, change.removed, change.path) == (len(rows), len(rows), "t")


def test_a_whole_diff_sent_with_carriage_returns_is_undone_but_content_with_them_is_not() -> None:
    text = edit("diff --git a/t b/t\n--- a/t\n+++ b/t\n")
    assert read_diff(text.replace("\n", "\r\n")) == read_diff(text)
    assert one(edit("diff --git a/t b/t\n--- a/t\n+++ b/t\n", new="y\r")).hunks[0].lines[1].text == "y\r"


def test_a_missing_newline_belongs_to_the_line_before_it() -> None:
    text = "diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"
    old, new = one(text).hunks[0].lines
    assert (old.kind, old.newline, new.kind, new.newline) == (LineKind.REMOVED, False, LineKind.ADDED, True)


def test_an_empty_context_line_whose_blank_a_mailer_took_still_counts() -> None:
    text = "diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1,3 +1,3 @@\n x\n\n-y\n+z\n"
    assert one(text).added_lines == (3,)


def test_a_mailed_series_is_read_file_by_file() -> None:
    mail = "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n t | 2 +-\n 1 file changed\n\n"
    patch = mail + edit("diff --git a/t b/t\nindex 1..2 100644\n--- a/t\n+++ b/t\n") + "-- \n2.39.5\n\n"
    assert [change.path for change in read_diff(patch + patch)] == ["t", "t"]


# --- merges -----------------------------------------------------------------------------------------------------


def test_a_combined_diff_says_so_and_counts_only_what_no_parent_has() -> None:
    text = (
        "diff --cc dir/m.txt\nindex 1234567,2345678..3456789\nmode 100644,100644..100755\n"
        "--- a/dir/m.txt\n+++ b/dir/m.txt\n@@@ -1,3 -1,3 +1,4 @@@ def f\n  a\n+ from side\n- gone\n++new\n  z\n"
    )
    change = one(text)
    assert (change.combined, change.path, change.added_lines, change.removed) == (True, "dir/m.txt", (3,), None)
    assert (change.hunks[0].heading, change.new_mode) == ("def f", "100755")


def test_an_octopus_has_one_column_for_each_parent() -> None:
    text = "diff --combined m\nindex 1,2,3..4\n--- a/m\n+++ b/m\n@@@@ -1,1 -1,1 -1,1 +1,2 @@@@\n   a\n+++b\n"
    with pytest.raises(DiffError):
        read_diff(text.replace("+++b", "++-b"))
    assert one(text).added_lines == (2,)


# --- what a comment can hit -------------------------------------------------------------------------------------


def test_goldens_outside_the_diff_are_told_from_those_a_comment_can_hit() -> None:
    told = case("95")
    diff = tuple(map(as_change, read_diff(case_file(told["input"]["diff_file"]))))
    words = {Reach.IN_DIFF: "in_diff", Reach.LINES_NOT_SHOWN: "file_in_diff_line_outside_hunks"}
    words |= {Reach.FILE_NOT_IN_DIFF: "file_not_in_diff", Reach.NO_PLACE: "no place"}
    for golden in told["input"]["goldens"]:
        expected = told["expected"]["status"][golden["id"]]
        if expected.startswith("error"):  # told by the trees or the schema
            continue
        place = golden["path"] and Place(golden["path"], (golden["line"],) * 2, Side(golden.get("side", "RIGHT")))
        assert expected.startswith(words[reach(place, diff)]), golden["id"]


def test_a_deleted_line_can_be_hit_on_its_own_side_only() -> None:
    diff = tuple(map(as_change, read_diff("diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -5,2 +4,0 @@\n-a\n-b\n")))
    assert reach(Place("z", (6, 6), Side.LEFT), diff) is Reach.IN_DIFF
    assert reach(Place("z", (6, 6), Side.RIGHT), diff) is Reach.LINES_NOT_SHOWN


# --- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "row", "what"),
    [
        ("hello\nworld\n", 1, "no file of a diff"),
        ("diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1,2 +1 @@\n-x\n", 5, "shorter"),
        ("diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n-x\n+y\n+z\n", 7, "goes on"),
        ("diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n-x\nnonsense\n", 6, "no line of this hunk"),
        ("diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ what @@\n", 4, "header of a hunk"),
        ("diff --git a/t b/t\n--- a/t\n@@ -1 +1 @@\n", 3, "expected '+++ '"),
        ("diff --git a/t b/u\nold mode 100644\nnew mode 100755\n", 1, "cannot be told apart"),
        ('diff --git "a/t b/t\n', 1, "closing quote"),
        ('diff --git "a/\\q" "b/\\q"\n', 1, "unknown escape"),
        ("diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n\\ No newline at end of file\n", 5, "no line before it"),
        ("diff --cc m\n--- a/m\n+++ b/m\n@@@ -1 -1 -1 +1 @@@\n++a\n", 4, "2 parents"),
    ],
)
def test_a_broken_diff_is_refused_with_its_row(text: str, row: int, what: str) -> None:
    with pytest.raises(DiffError, match=re.escape(what)) as error:
        read_diff(text)
    assert error.value.row == row


def test_no_diff_is_no_change() -> None:
    assert read_diff("") == read_diff(b"\n") == ()


def test_a_header_of_many_blanks_takes_no_time() -> None:
    name = " ".join("x" * 2000)
    started = time.process_time()
    for header in (f"diff --git a/{name} b/{name}\n", f"diff --git a/{name} b/{name}y\n" * 20):
        text = header + "old mode 100644\nnew mode 100755\n"
        try:
            read_diff(text)
        except DiffError as error:
            assert "told apart" in str(error)
    assert time.process_time() - started < 20
