"""The packaged suite `smoke`: fit to measure with, and its defects are real where they can be run."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from goldens.load import load_suite
from goldens.model import GoldenPull, Suite, TreeFiles
from goldens.trees import Reach, changes, reach, split_lines
from goldens.verify import verify
from scoring.model import Category, Severity


@pytest.fixture(scope="module")
def smoke() -> Suite:
    return load_suite("smoke")


def trees(pull: GoldenPull) -> tuple[TreeFiles, TreeFiles]:
    assert isinstance(pull.source, tuple)
    return pull.source


def test_nothing_is_to_be_said_against_it(smoke: Suite) -> None:
    assert [str(finding) for finding in verify(smoke)] == []


def test_its_make_up(smoke: Suite) -> None:
    assert sorted(pull.language for pull in smoke.pulls) == ["c", "go", "go", *["python"] * 3, *["typescript"] * 2]
    assert sorted(pull.language for pull in smoke.pulls if pull.clean) == ["go", "python"]
    goldens = [golden for pull in smoke.pulls for golden in pull.goldens]
    assert all(len(pull.goldens) in (1, 2) for pull in smoke.pulls if not pull.clean)
    assert {golden.severity for golden in goldens} == set(Severity)
    assert {golden.category for golden in goldens} == set(Category) - {Category.API, Category.MAINTAINABILITY}


def test_each_change_is_small(smoke: Suite) -> None:
    for pull in smoke.pulls:
        base, head = trees(pull)
        diff = changes(base.files, head.files)
        assert 1 <= len(diff) <= 3, pull.id
        assert 10 <= sum(change.added + change.removed for change in diff) <= 62, pull.id


def test_an_inline_comment_can_hit_every_golden(smoke: Suite) -> None:
    for pull in smoke.pulls:
        base, head = trees(pull)
        diff = changes(base.files, head.files)
        for golden in pull.goldens:
            assert golden.evidence, golden.id
            assert reach(golden.place, diff) is Reach.IN_DIFF, golden.id


def test_every_evidence_is_in_place(smoke: Suite) -> None:
    for pull in smoke.pulls:
        for golden in pull.goldens:
            assert golden.place is not None
            assert golden.place.lines is not None
            first, last = golden.place.lines
            lines = split_lines(trees(pull)[1].files[golden.place.path])[first - 1 : last]
            at_hand = [line.strip() for line in lines]
            for line in golden.evidence.splitlines():
                assert any(line.strip() in shown for shown in at_hand), golden.id


def test_a_changed_byte_is_a_different_suite(smoke: Suite, tmp_path: Path) -> None:
    copy = tmp_path / "smoke"
    shutil.copytree(smoke.path.parent, copy)
    assert load_suite(copy).ref == smoke.ref
    file = copy / "rate-limit" / "base" / "api" / "server.go"
    file.write_bytes(file.read_bytes() + b"\n")
    assert load_suite(copy).ref.hash != smoke.ref.hash


# --- the defects, run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["base", "head"])
def test_python_files_compile(smoke: Suite, tmp_path: Path, side: str) -> None:
    for file in smoke.path.parent.glob(f"*/{side}/**/*.py"):
        py_compile.compile(str(file), cfile=str(tmp_path / "out.pyc"), doraise=True)


def run_python(smoke: Suite, tree: str, code: str, folder: Path) -> object:
    """What a script prints as JSON, with a tree of the suite on its path."""
    environment = {**os.environ, "PYTHONPATH": str(smoke.path.parent / tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


TOTALS = """
import json
from datetime import date
from decimal import Decimal
from billing.models import Line, Order, Voucher
from billing.totals import order_totals, voucher_discount
day = date(2026, 1, 1)
spring = Voucher("SPRING", 15, day)
order = Order("1", [Line("tea", 999, Decimal(1))])
first, second = (order_totals(order, [spring], day) for _ in range(2))
print(json.dumps([voucher_discount(999, spring), first.discount, second.discount, second.vouchers]))
"""


def test_a_voucher_loses_a_cent_and_works_once_per_process(smoke: Suite, tmp_path: Path) -> None:
    assert run_python(smoke, "order-totals/head", TOTALS, tmp_path) == [149, 149, 0, ["SPRING"]]


ARCHIVE = """
import json
from pathlib import Path
from reports.export import ExportError
from reports.jobs import Job, run
said = []
for title in ("x; touch reached #", "x; exit 3 #"):
    try:
        run(Job(7, ["a"], archive=True, title=title), [{"a": "1"}], Path("."))
    except Exception as error:
        said.append(type(error).__name__)
print(json.dumps([Path("reached").exists(), said[-1]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_title_runs_commands_and_a_failure_is_hidden(smoke: Suite, tmp_path: Path) -> None:
    assert run_python(smoke, "report-archive/head", ARCHIVE, tmp_path) == [True, "NameError"]


SEARCH = """
import json, sqlite3
from audit.cursor import CursorError, decode
from audit.query import search
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE audit (id INTEGER PRIMARY KEY, account, at, actor, action, target)")
db.executemany("INSERT INTO audit VALUES (?, ?, '', ?, '', '')", [(n, n % 2, "ab"[n % 3 == 0]) for n in range(1, 12)])
def walk(**wanted):
    seen, after = [], None
    while True:
        page = search(db, 1, after=after, **wanted)
        seen.append([entry.id for entry in page.entries])
        after = page.after
        if after is None:
            return seen
def refused(cursor):
    try:
        decode(cursor)
    except CursorError:
        return True
hostile = ["", "x", "%", "\\u00e9", "MQ", "LTE=", "MA==", "9" * 9000, "JyBPUiAx"]
print(json.dumps([walk(limit=2), walk(limit=6), walk(limit=0), walk(actor="b"), walk(actor="' OR 1=1 --"),
                  all(map(refused, hostile))]))
"""


def test_the_clean_search_is_right(smoke: Suite, tmp_path: Path) -> None:
    assert run_python(smoke, "audit-cursor/head", SEARCH, tmp_path) == [
        [[11, 9], [7, 5], [3, 1]],
        [[11, 9, 7, 5, 3, 1]],
        [[11], [9], [7], [5], [3], [1]],
        [[9, 3]],
        [[]],
        True,
    ]


RING = """
#include "ring.h"
#include <stdio.h>
int main(void)
{
    struct ring ring;
    uint8_t byte = 0;
    ring_init(&ring, 2);
    ring_put(&ring, 1);
    ring_put(&ring, 2);
    ring_get(&ring, &byte);
    printf("%d ", ring_peek(&ring, 1, &byte));
    ring_put(&ring, 3);
    printf("%d ", ring_grow(&ring, 4));
    while (ring_get(&ring, &byte))
        printf("%d ", byte);
    ring_free(&ring);
    return 0;
}
"""


def test_the_ring_peeks_past_its_end_and_keeps_its_order(smoke: Suite, tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = smoke.path.parent / "ring-buffer" / "head" / "src"
    (tmp_path / "main.c").write_text(RING, encoding="utf-8")
    command = [compiler, "-Wall", "-Wextra", "-Werror", f"-I{source}", "main.c", str(source / "ring.c"), "-o", "ring"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    shown = subprocess.run([str(tmp_path / "ring")], capture_output=True, check=True, timeout=10).stdout
    assert shown == b"1 1 2 3 "
