"""The union of Ruff and Pylint against its definition, worked out here on its own; and what `static+` adds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.reviewers.choose import choose
from bot.reviewers.means import ReviewMeans
from bot.reviewers.protocol import Change, Review
from scoring.model import Severity
from tests.reviewers.make import change

PLANTED = b"""\
import os
import json, sys


def add(item, items=[]):
    list = items
    list.append(item)
    return list


def read(path):
    try:
        return json.load(open(path))
    except:
        raise ValueError("bad")


def late():
    calls = []
    for number in range(3):
        calls.append(lambda: number)
    return calls, missing


def compare(value):
    assert (value, "told")
    if value is "x":
        return f"nothing"
    for entry in value:
        pass
    print("%s %s" % value)
"""
MANY = b"".join(b"def f%d(a=[]):\n    b%d = undefined%d\n" % (n, n, n) for n in range(15))


def _run(*argv: str, cwd: Path) -> Any:
    done = subprocess.run([sys.executable, "-m", *argv], cwd=cwd, capture_output=True, check=False)
    return json.loads(done.stdout)


def by_the_book(folder: Path, content: bytes) -> list[tuple[int, str, str]]:
    """The published definition: both tools, one entry for a line and rule, by badness and line, at most twenty."""
    (folder / "f.py").write_bytes(content)
    rows: list[tuple[int, str, str]] = []
    for one in _run("ruff", "check", "--isolated", "--no-cache", "--select", "F,E9,B,A", "--output-format", "json",
                    "f.py", cwd=folder):  # fmt: skip
        code = one["code"] or ""
        level = "high" if code.startswith(("F", "E9")) else "medium" if code.startswith("B") else "low"
        rows.append((one["location"]["row"], code, level))
    levels = {"error": "high", "fatal": "high", "warning": "medium"}
    for one in _run("pylint", "--output-format=json", "--rcfile=/dev/null", "--persistent=n",
                    "--disable=C,R,import-error,no-name-in-module", "f.py", cwd=folder):  # fmt: skip
        rows.append((max(1, one["line"]), one["message-id"], levels.get(one["type"], "low")))
    kept = {(line, rule): (line, rule, level) for line, rule, level in reversed(rows)}
    ranks = {"high": 0, "medium": 1, "low": 2}
    return sorted(kept.values(), key=lambda row: (ranks[row[2]], row[0], row[1]))


def _review(spec: str, content: bytes, path: str = "f.py") -> Review:
    reviewer = choose(spec, ReviewMeans())
    return reviewer.review(change({}, {path: content, "other.rb": b"x = 1\n"}))


def _rows(review: Review) -> list[tuple[int, str, str]]:
    return [(one.start_line or 0, one.kind, one.severity.value if one.severity else "") for one in review.remarks]


def test_a_planted_file_gives_the_union_as_it_is_defined(tmp_path: Path) -> None:
    wanted = by_the_book(tmp_path, PLANTED)
    review = _review("static?cap=1000", PLANTED)
    assert not review.failed
    assert sorted(_rows(review)) == sorted(wanted)
    rules = {rule for _, rule, _ in wanted}
    # The same defect under two ids is two remarks, and nothing of convention, refactoring or imports is there.
    assert {"B904", "W0707", "B006", "W0102", "F821", "E0602", "A001", "W0622"} <= rules
    assert not any(rule.startswith(("C", "R", "E5", "SIM")) or rule == "E0401" for rule in rules)


def test_the_worst_come_first_and_twenty_of_a_file_are_kept(tmp_path: Path) -> None:
    wanted = by_the_book(tmp_path, MANY)
    found = _rows(_review("static", MANY))
    assert len(wanted) > 40 and len(found) == 20
    assert [(line, level) for line, _, level in found] == [(line, level) for line, _, level in wanted[:20]]
    assert set(found) <= set(wanted)
    assert found[0][2] == "high"


def test_other_languages_have_no_remark_and_no_failure() -> None:
    review = _review("static", b"eval(x)\n", "f.js")
    assert review.remarks == () and not review.failed and not review.unread


def test_a_file_is_read_alone() -> None:
    """A module of the same tree is not looked up: the definition knows one file."""
    head = {"a.py": b"import b\nb.nothing_there()\n", "b.py": b"def there():\n    return 1\n"}
    review = choose("static", ReviewMeans()).review(change({}, head))
    assert not [one for one in review.remarks if one.kind == "E1101"]


def test_only_changed_lines_where_that_is_asked_for() -> None:
    base = {"f.py": b"import os\n\n\ndef f(a=[]):\n    return a\n"}
    head = {"f.py": base["f.py"] + b"\n\ndef g(b=[]):\n    return b\n"}
    found = choose("static?lines=changed", ReviewMeans()).review(change(base, head))
    assert {one.start_line for one in found.remarks} == {8}


MORE = {
    "a.py": (
        b"import asyncio\nimport subprocess\n\n\nasync def f(db, ids):\n    for i in ids:\n"
        b'        await db.fetch("select a from t where id = $1", i)\n    asyncio.sleep(3)\n'
        b'    await db.fetch("SELECT a FROM orders ORDER BY a")\n    subprocess.run("ls", shell=True)\n'
        b"    try:\n        pass\n    except Exception:\n        pass\n    await asyncio.sleep(1)\n"
        b'    return await db.fetch("select a from t limit 5")\n',
        {
            7: "python-query-in-loop",
            8: "python-missing-await",
            9: "python-unbounded-query",
            13: "python-swallowed-error",
        },
        {15, 16},
    ),
    "a.ts": (
        b"async function f(repo: Repo, ids: string[]) {\n  for (const id of ids) {\n"
        b"    await repo.getOne(id);\n  }\n  repo.save(ids);\n  await repo.save(ids);\n"
        b'  await db.query("select * from a order by b");\n  await db.query("select * from a limit 5");\n'
        b"  work.catch(() => {});\n}\n",
        {
            3: "typescript-query-in-loop",
            5: "typescript-missing-await",
            7: "typescript-unbounded-query",
            9: "typescript-swallowed-rejection",
        },
        {6, 8},
    ),
    "a.go": (
        b"package a\n\nfunc f(db *sql.DB, ids []int) error {\n\tfor _, id := range ids {\n"
        b'\t\trow := db.QueryRow("select a from t where id = $1", id)\n\t\t_ = row\n\t}\n'
        b"\trows, err := db.Query(`SELECT a FROM t`)\n\tdb.Exec(`delete from t`)\n"
        b"\tif _, err := db.Exec(`delete from t`); err != nil {\n\t\treturn err\n\t}\n"
        b"\tfor rows.Next() {\n\t}\n\treturn err\n}\n",
        {5: "go-query-in-loop", 8: "go-unbounded-query", 9: "go-unchecked-error", 13: "go-rows-not-checked"},
        {10},
    ),
    "a.c": (
        b"void f(int n) {\n  for (int i = 0; i < n; i++) {\n"
        b'    rc = sqlite3_exec(db, "select a from t", 0, 0, 0);\n  }\n  fread(buf, 1, 5, file);\n'
        b"  if (fread(buf, 1, 5, file) != 5) return;\n}\n",
        {3: "c-query-in-loop", 5: "c-unchecked-result"},
        {6},
    ),
}


@pytest.mark.parametrize("path", MORE)
def test_the_further_rules_see_what_reviewers_miss(path: str) -> None:
    content, wanted, quiet = MORE[path]
    remarks = _review("static+", content, path).remarks
    said: dict[int, set[str]] = {}
    for one in remarks:
        said.setdefault(one.start_line or 0, set()).add(one.kind)
    assert {line for line, rule in wanted.items() if rule not in said.get(line, set())} == set()
    more = {rule for line in quiet for rule in said.get(line, set()) if "-" in rule}
    assert not {rule for rule in more if any(word in rule for word in ("query", "await", "unchecked"))}


def test_bandit_is_part_of_the_further_analysers() -> None:
    found = {one.kind: one.severity for one in _review("static+", b"import pickle\npickle.loads(b'')\n").remarks}
    assert found["B301"] is Severity.MEDIUM


def test_a_name_that_no_file_may_have_is_said_not_to_be_read() -> None:
    header = "diff --git a/../x.py b/../x.py\nnew file mode 100644\n--- /dev/null\n+++ b/../x.py\n"
    text = f"{header}@@ -0,0 +1 @@\n+import os\n"
    review = choose("static", ReviewMeans()).review(Change("", "", text, {}, {"../x.py": b"import os\n"}))
    assert review.unread and not review.remarks
