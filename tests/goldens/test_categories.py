"""One table for all vocabularies: every label of the reference material maps, and a label nobody knows does not."""

from __future__ import annotations

import csv
import json
from collections import Counter
from typing import Any

import pytest

from goldens.categories import OURS, from_ours, read_table, systems, to_ours, vocabulary
from goldens.located import SuiteError
from scoring.model import Category
from tests.shared import SHARED


def data(name: str) -> str:
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    return path.read_text(encoding="utf-8")


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(data(name).splitlines()))


def unmapped(system: str, labels: set[str]) -> list[str]:
    assert labels
    return sorted(label for label in labels if to_ours(system, label) is None)


def test_every_label_of_cloudaeye_maps() -> None:
    facts: list[dict[str, Any]] = json.loads(data("cpp16/facts.json"))
    labels = {golden["category"] for pull in facts for golden in pull["goldens"]}
    assert len(labels) == 7
    assert unmapped("cloudaeye", labels) == []


def test_every_label_of_codevetter_maps_and_its_category_comes_back() -> None:
    cases = json.loads(data("codevetter/codevetter-benchmark-v1.json"))["cases"]
    assert unmapped("codevetter", {case["category"] for case in cases}) == []
    for case in cases:
        for finding in case["expected_findings"]:
            ours = to_ours("codevetter", finding["type"])
            assert ours is not None, finding["type"]
            assert from_ours("codevetter", ours) == case["category"], case["id"]


def test_every_label_of_vibeops_maps() -> None:
    mix = {row["label"] for row in rows("vibeops/distribution.csv") if row["axis"] == "category"}
    operators = {row["operator"] for row in rows("vibeops/operators.csv")}
    assert len(operators) == 13
    said_by_reviewers = {"security", "bug", "architecture", "performance", "best practice"}
    assert unmapped("vibeops", mix | operators | said_by_reviewers) == []


def test_every_label_of_beizer_maps_by_name_and_by_abbreviation() -> None:
    found = [row for row in rows("crbench/taxonomy.csv") if row["axis"] == "category"]
    assert len(found) == 8
    assert unmapped("beizer", {row[key] for row in found for key in ("label", "abbrev") if row[key]}) == []


def test_every_label_of_martian_maps() -> None:
    labels = "bug security concurrency data api perf test_gap doc_defect style speculative"
    assert unmapped("martian", set(labels.split())) == []


@pytest.mark.parametrize("system", systems())
def test_what_we_say_to_a_system_is_a_word_it_knows(system: str) -> None:
    known = vocabulary(system)
    assert set(known.gives.values()) <= set(known.takes)


@pytest.mark.parametrize("system", systems())
def test_a_category_with_a_word_of_its_own_survives_the_way_there_and_back(system: str) -> None:
    known = vocabulary(system)
    own = set(known.takes.values())
    kept = {category for category, label in known.gives.items() if known.takes[label] is category}
    assert kept >= {Category.CORRECTNESS} | (own & {Category.SECURITY, Category.CONCURRENCY, Category.MAINTAINABILITY})


def test_our_own_words_map_to_themselves() -> None:
    for category in Category:
        assert to_ours(OURS, category.value) is category
        assert from_ours(OURS, category) == category.value


@pytest.mark.parametrize(
    "label", ["Edge Case Handling", " edge-case-handling ", "EDGE_CASE_HANDLING", "edge/case handling"]
)
def test_case_spaces_and_dashes_do_not_matter(label: str) -> None:
    assert to_ours("cloudaeye", label) is Category.CORRECTNESS


def test_a_label_nobody_knows_is_none_and_counted() -> None:
    unknown: Counter[tuple[str, str]] = Counter()
    assert to_ours("cloudaeye", "use after free", unknown) is None
    assert to_ours("cloudaeye", "use after free", unknown) is None
    assert to_ours("cloudaeye", "logic_error", unknown) is Category.CORRECTNESS
    assert to_ours("martian", "", unknown) is None
    assert from_ours("cloudaeye", Category.PERFORMANCE, unknown) is None
    assert from_ours("codevetter", Category.RESOURCES, unknown) == "bug"
    assert unknown == {
        ("cloudaeye", "use after free"): 2,
        ("martian", ""): 1,
        ("cloudaeye", "performance"): 1,
    }


def test_a_word_of_one_system_is_not_taken_for_anothers() -> None:
    assert to_ours("martian", "perf") is Category.PERFORMANCE
    assert to_ours("vibeops", "perf") is None


def test_a_misspelt_system_is_an_error_and_put_right() -> None:
    with pytest.raises(ValueError, match=r"no system 'vibeop'; known: assay, beizer, .*; did you mean 'vibeops'\?"):
        to_ours("vibeop", "logic")


# --- the table itself -------------------------------------------------------------------------------------------

ROWS = "".join(f"  {category}: {{}}\n" for category in Category if category is not Category.API)


def table(api: str, listed: str = "one: The one.") -> bytes:
    return f"systems:\n  {listed}\ncategories:\n  api: {api}\n{ROWS}".encode()


def test_a_small_table_is_read() -> None:
    found = read_table(table("{one: {takes: [contract, iface]}}"), "t.yaml")["one"]
    assert found.takes == {"contract": Category.API, "iface": Category.API}
    assert found.gives == {Category.API: "contract"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (table("{one: {takes: [contract]}}").replace(b"  security: {}\n", b""), "no row for security"),
        (
            table("{one: {takes: [contract]}}").replace(b"security: {}", b"security: {one: {takes: [contract]}}"),
            "one: 'contract' is both api and security",
        ),
        (table("{one: {takes: [Contract]}}"), "one: write 'Contract' as 'contract'"),
        (table("{one: {gives: contract}}"), "one: gives contract, which it does not take"),
        (table("{two: {takes: [contract]}}"), "listed or used, but not both: one, two"),
        (table("{one: {take: [contract]}}"), "take"),
        (table("{}").replace(b"api:", b"apis:"), "apis"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(data: bytes, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read_table(data, "t.yaml")


def test_a_table_that_is_no_yaml_is_told_with_its_line() -> None:
    with pytest.raises(SuiteError, match=r"t.yaml:2: "):
        read_table(b"systems: {}\n  x: [", "t.yaml")
