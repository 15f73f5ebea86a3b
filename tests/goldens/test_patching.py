"""Patches applied strictly: what git makes of them, we make of them; what does not fit is refused."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from goldens.diff import read_diff
from goldens.patching import PatchError, applied


def git(at: Path, *args: str) -> bytes:
    return subprocess.run(["git", *args], cwd=at, check=True, capture_output=True).stdout


def difference(at: Path, old: dict[str, bytes], new: dict[str, bytes], *flags: str) -> bytes:
    for side, files in (("a", old), ("b", new)):
        for path, data in files.items():
            target = at / side / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        (at / side).mkdir(exist_ok=True)
    git(at, "init", "-q")
    trees = []
    for side in ("a", "b"):
        git(at, "--work-tree", str(at / side), "add", "-A")
        trees.append(git(at, "write-tree").decode().strip())
    return git(at, "diff-tree", "-r", "-p", "--full-index", *flags, *trees)


CASES: dict[str, tuple[dict[str, bytes], dict[str, bytes]]] = {
    "edit": ({"x.py": b"a\nb\nc\nd\n"}, {"x.py": b"a\nB\nc\nd\ne\n"}),
    "crlf": ({"x.py": b"a\r\nb\r\nc\r\n"}, {"x.py": b"a\r\nB\r\nc\r\n"}),
    "mixed ends": ({"x.py": b"a\r\nb\nc\r\n"}, {"x.py": b"a\r\nb\r\nc\r\n"}),
    "no newline at the end": ({"x.py": b"a\nb"}, {"x.py": b"a\nB"}),
    "newline added at the end": ({"x.py": b"a\nb"}, {"x.py": b"a\nb\n"}),
    "new file": ({"y": b"1\n"}, {"y": b"1\n", "x.py": b"a\nb\n"}),
    "deleted file": ({"y": b"1\n", "x.py": b"a\n"}, {"y": b"1\n"}),
    "empty lines": ({"x.py": b"\n\n\n"}, {"x.py": b"\n\n\n\n"}),
    "form feeds": ({"x.py": b"a\x0cb\nc\x85d\n"}, {"x.py": b"a\x0cb\nc\x85e\n"}),
    "undecodable": ({"x.py": b"\xff\xfe\nb\n"}, {"x.py": b"\xff\xfe\nB\n"}),
    "lookalikes": ({"x.py": b"-- a\n++ b\n@@ -1 +1 @@\n"}, {"x.py": b"-- A\n++ b\n@@ -1 +1 @@\n"}),
}


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("context", ["-U0", "-U3"])
def test_the_result_is_what_git_compared_with(name: str, context: str, tmp_path: Path) -> None:
    old, new = CASES[name]
    assert applied(old, read_diff(difference(tmp_path, old, new, context))) == new


def test_a_renamed_file_moves(tmp_path: Path) -> None:
    body = b"".join(b"line %d\n" % at for at in range(30))
    old, new = {"x.py": body}, {"y.py": body.replace(b"line 3\n", b"three\n")}
    assert applied(old, read_diff(difference(tmp_path, old, new, "-M"))) == new


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_come_out_as_they_went_in(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    before = [rng.choice(["a", "b", "", "  c"]) for _ in range(60)]
    after = [line for line in before if rng.randrange(5)]
    for _ in range(8):
        after.insert(rng.randrange(len(after) + 1), rng.choice(["new", "b", ""]))
    old, new = ({"x": "\n".join(lines).encode()} for lines in (before, after))
    assert applied(old, read_diff(difference(tmp_path, old, new))) == new


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"a\nx\nc\nd\n", "line 2"), (b"a\n", "line 2"), (b"", "line 1"), (b"a\nb\nc\nd", "line 4")],
)
def test_a_file_that_is_not_the_patched_one_is_refused(content: bytes, told: str, tmp_path: Path) -> None:
    old, new = CASES["edit"]
    changes = read_diff(difference(tmp_path, old, new))
    with pytest.raises(PatchError, match=told):
        applied({"x.py": content}, changes)


def test_files_that_are_missing_or_in_the_way_are_told(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    with pytest.raises(PatchError, match=r"x\.py: not there"):
        applied({}, read_diff(difference(tmp_path / "1", *CASES["edit"])))
    (tmp_path / "2").mkdir()
    with pytest.raises(PatchError, match=r"x\.py: there already"):
        applied({"x.py": b"mine"}, read_diff(difference(tmp_path / "2", *CASES["new file"])))
    with pytest.raises(PatchError, match="not a plain text change"):
        applied({"x": b"\0"}, read_diff(b"diff --git a/x b/x\nBinary files a/x and b/x differ\n"))
