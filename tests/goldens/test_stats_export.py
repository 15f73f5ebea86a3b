"""Counts are those of the published tables for the same pull requests; a data set says what it cannot show."""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from goldens.export import FORMATS, card, export, row
from goldens.load import load_suite
from goldens.stats import as_text, spread, stats
from tests.goldens.written import YAML, write_suite
from tests.shared import SHARED


def test_the_mix_of_the_c_and_cpp_suite_is_the_published_one() -> None:
    found = stats(load_suite("cpp16"))
    assert (found.pulls, found.goldens, found.root_causes) == (16, 20, 18)
    assert found.pulls_by["language"] == {"cpp": 9, "c": 7}
    assert found.goldens_by["severity"] == {"medium": 10, "high": 8, "low": 2}
    assert found.goldens_by["label"] == {
        "logic_error": 11, "code_signature": 3, "edge_case_handling": 2, "code_clarity": 1, "concurrency_safety": 1,
        "dead_import": 1, "error_handling": 1,
    }  # fmt: skip


def test_the_published_audit_comes_out_again(tmp_path: Path) -> None:
    path = SHARED / "data" / "swe" / "oracle_validity_template.csv"
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    table = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    goldens = list[str]()
    pulls = list[str]()
    for at, one in enumerate(table):
        if at == 0 or table[at - 1]["instance_id"] != one["instance_id"]:
            pulls.append(PIN.format(at=at, base=f"{at:040x}", head=f"{at + 1000:040x}"))
        golden = f"      - id: g{at}\n        category: api\n        severity: low\n        finding: It.\n"
        pulls[-1] += f"{golden}        audit: {{verdict: {one['verdict']}, drafted_by: a, confirmed_by: b}}\n"
        goldens.append(one["verdict"])
    head = YAML.partition("pulls:\n")[0] + "pulls:\n"
    found = stats(load_suite(write_suite(tmp_path, head + "".join(pulls)))).audit
    assert found is not None
    assert (found.audited, found.confirmed, found.pulls, found.pulls_with_bug) == (48, 48, 30, 20)
    assert found.by_verdict == {"bug": 24, "related": 7, "unrelated": 17}
    assert found.bug.low == pytest.approx(0.364, abs=5e-4) and found.bug.high == pytest.approx(0.636, abs=5e-4)


PIN = (
    "  - id: p{at}\n    language: python\n    title: Title\n    body: Body\n    source: {{upstream: a/b, number: 1,"
    " base_sha: '{base}', head_sha: '{head}'}}\n    goldens:\n"
)


def test_nothing_known_is_undefined_and_not_zero() -> None:
    assert spread([]).mean is None
    assert spread([1, 2, 6]) == spread(iter([6, 1, 2]))
    assert (spread([1, 2, 6]).mean, spread([1, 2, 6]).median) == (3, 2)
    found = stats(load_suite("recognition27"))
    assert found.audit is None and "unconfirmed" in found.record()


def test_a_waiting_pull_request_is_in_no_figure_but_told(tmp_path: Path) -> None:
    draft = YAML.replace("severity: high", "severity: high\n        status: draft\n        reason: mined")
    found = stats(load_suite(write_suite(tmp_path, draft)))
    assert (found.pulls, found.goldens, found.unconfirmed, found.by_status["draft"]) == (0, 0, 1, 1)
    assert "1 pull requests wait" in as_text(found) and "undefined" in as_text(found)


def read(form: str, data: bytes) -> list[dict[str, Any]]:
    if form == "parquet":
        table = import_module("pyarrow.parquet").read_table(io.BytesIO(data))
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
    return list(json.loads(data)) if form == "json" else [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["smoke", "cpp16"])
def test_every_format_holds_the_same(form: Any, name: str) -> None:
    suite = load_suite(name)
    files = export(suite, form)
    assert read(form, files[f"data.{form}"]) == [row(suite, pull) for pull in suite.pulls]
    assert suite.ref.hash in files["README.md"].decode()
    assert export(suite, form) == files


def test_columns_have_one_type_whatever_a_suite_leaves_out() -> None:
    parquet = import_module("pyarrow.parquet")
    schemas = [
        parquet.read_schema(io.BytesIO(export(load_suite(name), "parquet")["data.parquet"]))
        for name in ("smoke", "cpp16", "cold")
    ]
    assert schemas[0].equals(schemas[1]) and schemas[1].equals(schemas[2])


def test_the_card_names_what_is_doubted_and_unchecked(tmp_path: Path) -> None:
    text = card(load_suite("cpp16"))
    assert "7 goldens are disputed, and scored" in text and "need not be wrong" in text
    suite = load_suite(write_suite(tmp_path, YAML))
    assert "do not say who confirmed" in card(suite)
