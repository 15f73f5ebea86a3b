"""Lines through differences, and the places of a defect by its fix."""

from __future__ import annotations

import random

import pytest

from goldens.diff import read_diff
from goldens.mine.draft import Reason, Rejected
from goldens.mine.lines import Carry, excerpt, oracle_sites, read, runs, sites, text_at
from tests.goldens.mine.planted import rows
from tests.goldens.test_diff_git import commit, git, repository

__all__ = ["repository"]
HEAD = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n"


def test_context_is_inside_a_site_unless_strict() -> None:
    diff = read_diff(HEAD + "@@ -10,5 +10,4 @@\n a\n-b\n-c\n+d\n e\n f\n@@ -30,2 +29,3 @@\n g\n+h\n i\n")
    assert oracle_sites(diff) == (("m.py", (10, 14)), ("m.py", (30, 31)))
    assert oracle_sites(diff, strict=True) == (("m.py", (11, 12)), ("m.py", (30, 30)))


def test_new_files_binaries_and_insertions_without_context_are_no_sites() -> None:
    new = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n"
    binary = "diff --git a/b.py b/b.py\nindex 1..2 100644\nBinary files a/b.py and b/b.py differ\n"
    insertion = HEAD + "@@ -3,0 +4 @@\n+x\n"
    assert oracle_sites(read_diff(new + binary + insertion)) == ()
    assert oracle_sites(read_diff(insertion), strict=True) == (("m.py", (3, 3)),)
    assert oracle_sites(read_diff(HEAD + "@@ -0,0 +1 @@\n+x\n"), strict=True) == ()
    renamed = (
        "diff --git a/o.py b/p.py\nsimilarity index 90%\nrename from o.py\nrename to p.py\n--- a/o.py\n+++ b/p.py\n"
    )
    assert oracle_sites(read_diff(renamed + "@@ -1 +1 @@\n-x\n+y\n")) == (("o.py", (1, 1)),)


def test_braces_blanks_and_tests_say_nothing() -> None:
    text = HEAD + "@@ -1,4 +1,1 @@\n-}\n-\n a\n-  );\n"
    assert list(sites(read_diff(text))) == []
    assert list(sites(read_diff(text.replace("-}", "-return x")))) == [("m.py", (1, 2))]
    assert list(sites(read_diff(text.replace("-}", "-return x").replace("m.py", "tests/m.py")))) == []


def test_carried_lines_are_where_git_put_them(repository: object) -> None:
    rng = random.Random(4)
    for context in (0, 3):
        for _ in range(15):
            old = [f"{number} {rng.random()}" for number in range(rng.randrange(1, 40))]
            new = [line for line in old if rng.random() > 0.2]
            for _ in range(rng.randrange(6)):
                new.insert(rng.randrange(len(new) + 1), f"new {rng.random()}")
            commit(repository, {"a.py": rows(*old).encode()}, {"a.py": rows(*new).encode()})  # type: ignore[arg-type]
            diff = git(repository, "diff-tree", "-r", "-p", f"-U{context}", "old", "new", "--")  # type: ignore[arg-type]
            carry = Carry(read(diff, "it"))
            for number, line in enumerate(old, 1):
                expected = ("a.py", new.index(line) + 1) if line in new else None
                assert carry.line("a.py", number) == expected
            assert carry.line("other.py", 5) == ("other.py", 5)


def test_a_deleted_file_carries_nothing_and_a_renamed_one_its_lines() -> None:
    gone = "diff --git a/m.py b/m.py\ndeleted file mode 100644\n--- a/m.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert Carry(read_diff(gone)).line("m.py", 1) is None
    moved = "diff --git a/m.py b/n.py\nsimilarity index 100%\nrename from m.py\nrename to n.py\n"
    assert Carry(read_diff(moved)).line("m.py", 7) == ("n.py", 7)


def test_an_excerpt_shows_the_hunks_of_the_places_only() -> None:
    diff = read_diff(HEAD + "@@ -1,2 +1,3 @@\n a\n+b\n c\n@@ -30,2 +31,1 @@\n d\n-e\n")
    assert excerpt(diff, [("m.py", (2, 2))]) == "m.py, from line 1:\n a\n+b\n c"
    assert excerpt(diff, [("other.py", (2, 2)), ("m.py", (9, 20))]) == ""


def test_small_parts() -> None:
    assert runs([5, 1, 2, 2, 6]) == ((1, 2), (5, 6)) and runs([]) == ()
    assert text_at(b"a\r\n\xff\x0cb\r\nc", (2, 3)) == "\ufffd\x0cb\nc"
    with pytest.raises(Rejected) as error:
        read(b"no diff", "#1")
    assert error.value.reason is Reason.UNREADABLE
