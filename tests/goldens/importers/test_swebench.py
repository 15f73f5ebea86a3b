"""SWE-bench rows become a suite that shows the code before each fix: nothing leaks, and nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from goldens.cold import cold_files, is_cold, withheld_of
from goldens.importers.landing import land
from goldens.importers.problems import ImportProblem
from goldens.importers.swebench import Imported, Read, Row, build, read_rows
from goldens.leakage import Leak
from goldens.load import load_suite
from goldens.model import Direction, Suite
from goldens.verify import Level, verify

LINES = [f"line_{at} = {at}" for at in range(1, 41)]
FILE = "".join(f"{line}\n" for line in LINES).encode()
PATCH = """\
diff --git a/pkg/core.py b/pkg/core.py
--- a/pkg/core.py
+++ b/pkg/core.py
@@ -8,7 +8,7 @@
 line_8 = 8
 line_9 = 9
 line_10 = 10
-line_11 = 11
+line_11 = 12
 line_12 = 12
 line_13 = 13
 line_14 = 14
@@ -28,6 +28,7 @@
 line_28 = 28
 line_29 = 29
 line_30 = 30
+added = True
 line_31 = 31
 line_32 = 32
 line_33 = 33
"""
ADDS_ONLY = """\
diff --git a/pkg/new.py b/pkg/new.py
new file mode 100644
--- /dev/null
+++ b/pkg/new.py
@@ -0,0 +1 @@
+new = 1
"""
ROW = Row(
    "acme__shop-7",
    "acme/shop",
    "a" * 40,
    PATCH,
    "",
    "The eleventh line says eleven where twelve was meant.",
    "",
    "2019-05-01",
)


def read(repository: str, commit: str, paths: Sequence[str]) -> Sequence[bytes | None] | None:
    files = {"pkg/core.py": FILE}
    return [files.get(path) for path in paths] if repository == "acme/shop" else None


def made(tmp_path: Path, *rows: Row, reader: Read = read, **options: Any) -> tuple[Suite, Imported]:
    found = build(rows, reader, suite="pilot", licence="MIT", **options)
    land(tmp_path / "pilot", found.files)
    return load_suite(tmp_path / "pilot"), found


def test_the_reviewer_gets_the_file_as_it_was_before_the_fix(tmp_path: Path) -> None:
    suite, _ = made(tmp_path, ROW)
    (pull,) = suite.pulls
    assert isinstance(pull.source, tuple)
    assert pull.source[1].files == {"pkg/core.py": FILE}
    assert (
        b"line_11 = 12\n" in pull.source[0].files["pkg/core.py"]
        and b"added = True" in pull.source[0].files["pkg/core.py"]
    )
    assert [file.text for file in cold_files(pull)] == [FILE.decode()]
    assert is_cold(suite) and pull.direction is Direction.INVERTED and pull.date == "2019-05-01"
    assert [finding for finding in verify(suite) if finding.level is Level.ERROR] == []
    assert withheld_of(suite)[pull.id].statement == ROW.statement


@pytest.mark.parametrize(("oracle", "sites"), [("hunk", [(8, 14), (28, 33)]), ("strict", [(11, 11), (28, 28)])])
def test_places_are_those_of_the_published_oracle(oracle: Any, sites: list[tuple[int, int]], tmp_path: Path) -> None:
    suite, _ = made(tmp_path, ROW, oracle=oracle)
    goldens = suite.pulls[0].goldens
    assert [golden.place.lines for golden in goldens if golden.place] == sites
    assert {golden.group for golden in goldens} == {"acme-shop-7"}
    assert all({"category", "severity", "finding"} <= set(golden.unverified) for golden in goldens)
    assert ROW.statement not in suite.path.read_text("utf-8")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (replace(ROW, instance="x-1", patch=ADDS_ONLY), "the fix only adds, so it names no place"),
        (replace(ROW, instance="x-1", repository="acme/other"), "no clone in the mirror"),
        (replace(ROW, instance="x-1", patch=PATCH.replace("core", "gone")), "a file is not in the clone at the commit"),
        (
            replace(ROW, instance="x-1", patch=PATCH.replace(" line_9 = 9", " line_9 = 8")),
            "the fix does not fit the clone",
        ),
    ],
)
def test_what_cannot_be_shown_is_skipped_and_counted(row: Row, reason: str, tmp_path: Path) -> None:
    suite, found = made(tmp_path, ROW, row)
    assert len(suite.pulls) == 1 and found.by_reason() == {reason: 1}
    with pytest.raises(ImportProblem, match="x-1"):
        build([row], read, suite="pilot", licence="MIT")


def test_a_leak_ends_the_import_instead_of_lowering_a_score() -> None:
    told = f"# {ROW.statement}\n".encode()

    def telling(repository: str, commit: str, paths: Sequence[str]) -> Sequence[bytes | None]:
        return [FILE + told for _ in paths]

    with pytest.raises(Leak, match="acme__shop-7: the reviewer would be shown the report"):
        build([ROW], telling, suite="pilot", licence="MIT")


def test_the_same_rows_give_the_same_bytes() -> None:
    one, other = (build([ROW], read, suite="pilot", licence="MIT").files for _ in range(2))
    assert one == other


RAW = {
    "instance_id": "acme__shop-7",
    "repo": "acme/shop",
    "base_commit": "a" * 40,
    "patch": PATCH,
    "test_patch": "",
    "problem_statement": ROW.statement,
    "hints_text": None,
    "created_at": "2019-05-01T10:00:00Z",
    "version": "3.0",
    "FAIL_TO_PASS": "[]",
}


def test_rows_are_read_alike_from_parquet_and_json_lines(tmp_path: Path) -> None:
    pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist([RAW]), tmp_path / "rows.parquet")
    (tmp_path / "rows.jsonl").write_text(json.dumps(RAW) + "\n\n", encoding="utf-8")
    (tmp_path / "rows.json").write_text(json.dumps([RAW]), encoding="utf-8")
    for name in ("rows.parquet", "rows.jsonl", "rows.json"):
        assert read_rows(tmp_path / name) == (ROW,)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({**RAW, "base_commit": "main"}, r"row 0\.base_commit: expected a commit id"),
        ({**RAW, "repo": "shop"}, r"row 0\.repo: expected owner/name"),
        ({key: RAW[key] for key in RAW if key != "patch"}, "expected a key 'patch'"),
        ({**RAW, "patch": 3}, r"row 0\.patch: expected a text"),
    ],
)
def test_a_bad_row_is_told_with_its_place(raw: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(ImportProblem, match=told):
        read_rows(path)


def test_files_that_are_no_rows_are_refused(tmp_path: Path) -> None:
    for name, data in (("a.parquet", b"PAR1 not"), ("b.jsonl", b"{"), ("c.jsonl", b""), ("d.jsonl", b"\xff")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ImportProblem):
            read_rows(tmp_path / name)
    twice = tmp_path / "twice.jsonl"
    twice.write_text((json.dumps(RAW) + "\n") * 2, encoding="utf-8")
    with pytest.raises(ImportProblem, match="each instance once"):
        read_rows(twice)
