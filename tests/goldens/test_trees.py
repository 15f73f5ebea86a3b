"""Which lines of a change a reviewer is shown, held against git itself."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from goldens.load import load_suite
from goldens.trees import Reach, changes, reach, resolve, split_lines
from scoring.model import Place, Side
from tests.shared import case

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def numbered(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


OLD = [f"line {number}" for number in range(1, 21)]
NEW = [*OLD[:6], "line seven", *OLD[7:19], "line 19b", OLD[19]]
RENAMED = changes(
    {"lib/old_name.py": numbered(*OLD), "other/untouched.py": b"a\nb\nc\n"},
    {"lib/new_name.py": numbered(*NEW), "other/untouched.py": b"a\nb\nc\n"},
)


def test_goldens_outside_the_diff_are_marked_as_the_shared_case_says() -> None:
    words = {
        "in_diff": Reach.IN_DIFF,
        "file_in_diff_line_outside_hunks": Reach.LINES_NOT_SHOWN,
        "file_not_in_diff": Reach.FILE_NOT_IN_DIFF,
        "no place": Reach.NO_PLACE,
    }
    shared = case("95")
    checked = 0
    for golden in shared["input"]["goldens"]:
        expected = shared["expected"]["status"][golden["id"]]
        if expected.startswith("error"):
            continue
        line = golden["line"]
        place = Place(golden["path"], (line, line), Side(golden.get("side", "RIGHT"))) if golden["path"] else None
        assert reach(place, RENAMED) is next(reached for word, reached in words.items() if expected.startswith(word))
        checked += 1
    assert checked == 6


def test_a_rename_is_one_change_and_maps_old_places_to_the_new_name() -> None:
    (change,) = RENAMED
    assert (change.old, change.new, change.added, change.removed) == ("lib/old_name.py", "lib/new_name.py", 2, 1)
    assert resolve(Place("lib/old_name.py", (7, 7)), RENAMED).path == "lib/new_name.py"
    assert resolve(Place("lib/old_name.py", (7, 7), Side.LEFT), RENAMED).path == "lib/old_name.py"
    assert resolve(Place("lib/new_name.py", (7, 7), Side.LEFT), RENAMED).path == "lib/old_name.py"


def test_two_unlike_files_are_no_rename() -> None:
    diff = changes({"a.py": numbered("x", "y")}, {"b.py": numbered("p", "q")})
    assert [(change.old, change.new) for change in diff] == [("a.py", None), (None, "b.py")]


def test_each_old_file_is_renamed_once_only_to_the_closest() -> None:
    base = {"old.py": numbered(*OLD)}
    head = {"close.py": numbered(*OLD[1:]), "far.py": numbered(*OLD[8:])}
    diff = changes(base, head)
    assert [(change.old, change.new) for change in diff] == [("old.py", "close.py"), (None, "far.py")]


def test_a_file_without_lines_is_shown_by_its_name() -> None:
    diff = changes({}, {"logo.png": b"\x89PNG\0\0", "new.py": b"x\n"})
    assert reach(Place("logo.png"), diff) is Reach.IN_DIFF
    assert reach(Place("logo.png", (1, 1)), diff) is Reach.LINES_NOT_SHOWN
    assert reach(Place("new.py", (1, 1)), diff) is Reach.IN_DIFF


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\r\n", ["a\r", "b\r"]),
        ("a\u2028b\x0cc\x85d\n".encode(), ["a\u2028b\x0cc\x85d"]),
        (b"\xff\n", ["\ufffd"]),
    ],
)
def test_only_newlines_end_lines(data: bytes, lines: list[str]) -> None:
    assert split_lines(data) == lines


def git_diff(folder: Path, *options: str) -> str:
    """What git says of the trees in base/ and head/."""
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", *options, "base", "head"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout.decode()


def test_every_line_git_calls_changed_is_shown() -> None:
    """Git and we may cut a change differently where lines repeat; nothing that changed may count as out of reach."""
    suite = load_suite("smoke")
    for pull in suite.pulls:
        assert isinstance(pull.source, tuple)
        diff = changes(pull.source[0].files, pull.source[1].files)
        parts = git_diff(suite.path.parent / pull.id, "--unified=0").split("diff --git ")[1:]
        assert len(parts) == len(diff), pull.id
        for part in parts:
            path = re.split(r" b/(?:head|base)/", part.splitlines()[0])[1]
            for a, n, c, m in ([int(number or 1) for number in match] for match in HUNK.findall(part)):
                assert not n or reach(Place(path, (a, a + n - 1), Side.LEFT), diff) is Reach.IN_DIFF
                assert not m or reach(Place(path, (c, c + m - 1)), diff) is Reach.IN_DIFF


@pytest.mark.parametrize("seed", range(12))
def test_shown_lines_are_the_ones_git_shows(tmp_path: Path, seed: int) -> None:
    """Lines are all different, so there is only one shortest diff."""
    rng = random.Random(seed)
    old = [f"old {number}" for number in range(rng.randrange(1, 60))]
    new = [line for line in old if rng.random() > 0.1]
    for number in range(rng.randrange(1, 6)):
        new.insert(rng.randrange(len(new) + 1), f"new {number}")
    for side, lines in (("base", old), ("head", new)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_bytes(numbered(*lines))
    (change,) = changes({"a.txt": numbered(*old)}, {"a.txt": numbered(*new)})
    hunks = [[int(number or 1) for number in match] for match in HUNK.findall(git_diff(tmp_path))]
    assert list(change.left) == [(a, a + n - 1) for a, n, _, _ in hunks if n]
    assert list(change.right) == [(c, c + m - 1) for _, _, c, m in hunks if m]
